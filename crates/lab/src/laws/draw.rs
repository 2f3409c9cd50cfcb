//! A cell at random: any drives, any level, any host, any requests.

use crate::catalogue::{self, Drive, drive_names, host_names};
use block::layout::{LEVELS, Level};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use store::members::parse_members;

/// Keys and their values, sections together. `work.` stands for the workload.
pub(super) type Case = Vec<(String, String)>;

/// The `index`-th cell of a seed.
pub(super) fn case(seed: u64, index: u64) -> Case {
    let state = u128::from(seed) << 64 | u128::from(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1;
    let mut draw = Draw(Pcg64Mcg::new(state));
    let mut case = Case::new();
    let mut set = |key: &str, value: String| case.push((key.into(), value));
    // The plain levels are few, and most laws are about them.
    let plain: Vec<&str> =
        LEVELS.iter().map(|level| level.name).filter(|name| !name.contains('-')).collect();
    let level = if draw.one_in(2) { *draw.one_of(&plain) } else { draw.one_of(LEVELS).name };
    set("volume.drives", drives(&mut draw, level));
    set("volume.level", level.into());
    set("volume.interleave", format!("{}k", interleave_kib(&mut draw)));
    if draw.one_in(8) {
        set("volume.failed", "0".into());
    }
    set("host.name", (*draw.one_of(&host_names())).into());
    if draw.one_in(4) {
        set("host.elevator", (*draw.one_of(&["fcfs", "c-look", "deadline"])).into());
        set("host.queue_outstanding", draw.power(5).to_string());
    }
    for switch in ["drive.write_cache", "drive.read_ahead"] {
        if draw.one_in(3) {
            set(switch, draw.one_in(2).to_string());
        }
    }
    if draw.one_in(4) {
        set("drive.queue_depth", draw.power(6).to_string());
        set("drive.queue_discipline", (*draw.one_of(&["fcfs", "c-look", "sptf"])).into());
    }
    set("work.kind", (*draw.one_of(&["random", "random", "sequential"])).into());
    match draw.below(5) {
        0 | 1 => set("work.op", "read".into()),
        2 | 3 => set("work.op", "write".into()),
        _ => set("work.reads_percent", (10 + 10 * draw.below(9)).to_string()),
    }
    let block_sectors = draw.power(12);
    set("work.block", block_sectors.to_string());
    set("work.depth", draw.power(6).to_string());
    // Enough to tell cells apart, and no more commands than that takes.
    set("work.count", (100 + (100 + draw.below(400)) / block_sectors.div_ceil(256)).to_string());
    if draw.one_in(6) {
        set("work.jobs", (2 + draw.below(3)).to_string());
    }
    case.push(("run.seed".into(), draw.below(1000).to_string()));
    leave_out_foreign(&mut case);
    case
}

/// Leaves out the keys of `drive` that none of the drives has: the cell would be refused, and asked nothing.
fn leave_out_foreign(case: &mut Case) {
    let of_drives = case.iter().find(|(key, _)| key == "volume.drives");
    let members = of_drives.and_then(|(_, text)| parse_members(text).ok()).unwrap_or_default();
    let drives: Vec<Drive> =
        members.iter().filter_map(|member| catalogue::drive(&member.drive).ok()).collect();
    case.retain(|(path, _)| match path.strip_prefix("drive.") {
        Some(key) => drives.iter().any(|drive| drive.takes(key)),
        None => true,
    });
}

/// Members as `volume.drives` has them: a few of one drive, rarely of two.
fn drives(draw: &mut Draw, level: &str) -> String {
    let names = drive_names();
    let nested = level.parse::<Level>().ok().and_then(|level| level.nested());
    let count = match nested {
        Some(of) => of.groups as u64 * (of.inner.members_min() as u64 + draw.below(3)),
        None if level == "single" => 1,
        None => 1 + draw.below(9),
    };
    let part = ["", "", ":256MiB", ":300MB"];
    let (name, part) = (draw.one_of(&names), draw.one_of(&part));
    // Of a volume whose size nobody says there are no parts.
    let is_example = catalogue::drive(name).is_ok_and(|drive| drive.has_an_examples_limits());
    let first = format!("{count}x{name}{}", if is_example { "" } else { part });
    if count > 1 && nested.is_none() && draw.one_in(10) {
        format!("{first}+1x{}", draw.one_of(&names))
    } else {
        first
    }
}

/// Powers of two from 4 KiB to 1 MiB; one in three any number, which mostly ends within a sector of 4 KiB on the medium.
fn interleave_kib(draw: &mut Draw) -> u64 {
    if draw.one_in(3) { 4 + draw.below(200) } else { 4 << draw.below(9) }
}

struct Draw(Pcg64Mcg);

impl Draw {
    /// A number below `bound`, each equally likely.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn one_of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }

    /// A power of two from 1 to 2 to the power of `most`.
    fn power(&mut self, most: u64) -> u64 {
        1 << self.below(most + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_same_seed_draws_the_same_cells_and_others_differ() {
        let drawn = |seed| (0..50).map(|index| case(seed, index)).collect::<Vec<_>>();
        assert_eq!(drawn(1), drawn(1));
        assert_eq!(drawn(1).into_iter().chain(drawn(2)).collect::<BTreeSet<_>>().len(), 100);
    }
}
