//! What `dmsetup table` prints of device-mapper's linear and striped targets, which is what LVM makes.
//!
//! ```text
//! vg-home: 0 81920 linear 8:16 2048
//! vg-home: 81920 163840 striped 2 128 8:16 83968 8:32 2048
//! ```
//!
//! A line is a target: the first sector of the device and how many, what it is, and where on which
//! devices they are; a striped one says how many there are and its chunk before that.

use crate::error::{Error, Result};
use crate::text::{Source, Word, words};
use block::layout::{Concat, Layout, Part, Segments, Stripe};
use std::collections::BTreeSet;

/// A device-mapper device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dm {
    /// What it is called, where the lines say so.
    pub name: Option<String>,
    /// The devices under it, in the order in which the table first names them.
    pub members: Vec<String>,
    /// Its targets, in order.
    pub targets: Vec<Target>,
}

/// A run of the device's sectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// How many there are.
    pub sectors: u64,
    /// The chunk of a striped target; 0 of a linear one.
    pub interleave_sectors: u64,
    /// For each stripe which member, and the sector that it starts at.
    pub starts: Vec<(u32, u64)>,
}

/// More stripes than anyone has.
const STRIPES_MAX: u64 = 4096;

/// Reads a table; `label` is its name, for messages. `unit` names one of several devices.
///
/// # Errors
///
/// Where there is no target in it, or one that is neither linear nor striped, does not follow the one
/// before, or that the kernel would refuse; and where several devices are there and none is chosen.
pub fn parse(label: &str, text: &str, unit: Option<&str>) -> Result<Dm> {
    let source = Source { label, text };
    let mut lines: Vec<(Option<&str>, Vec<Word<'_>>)> = Vec::new();
    for (number, line) in source.lines().filter(|(_, line)| !line.trim().is_empty()) {
        let words = words(number, line);
        match words[0].text.strip_suffix(':') {
            Some(name) => lines.push((Some(name), words[1..].to_vec())),
            None => lines.push((None, words)),
        }
    }
    let names: BTreeSet<&str> = lines.iter().filter_map(|(name, _)| *name).collect();
    let chosen = match (unit, names.len()) {
        (Some(unit), _) if !names.contains(unit) => {
            let known: Vec<&str> = names.into_iter().collect();
            let known = if known.is_empty() { "no names".into() } else { known.join(", ") };
            return Err(Error::input(format!("--unit {unit}: {label} has {known}; choose one")));
        }
        (None, 2..) => {
            let known: Vec<&str> = names.into_iter().collect();
            let message =
                format!("{label} has the devices {}; choose one with --unit", known.join(", "));
            return Err(Error::input(message));
        }
        (unit, _) => unit,
    };
    lines.retain(|(name, _)| chosen.is_none() || *name == chosen);
    let name = lines.first().and_then(|(name, _)| name.map(String::from));
    let mut dm = Dm { name, members: Vec::new(), targets: Vec::new() };
    let mut end = 0;
    for (_, words) in &lines {
        let target = dm.target(source, words, end)?;
        end += target.sectors;
        dm.targets.push(target);
    }
    if dm.targets.is_empty() {
        return Err(source.wrong_file(
            "it has no target; give the output of `dmsetup table`, as in `0 81920 linear \
             8:16 2048`",
        ));
    }
    Ok(dm)
}

impl Dm {
    /// A target that starts where the one before ended.
    fn target(&mut self, source: Source<'_>, words: &[Word<'_>], end: u64) -> Result<Target> {
        let line = words.first().map_or(1, |word| word.line);
        let [start, sectors, kind, rest @ ..] = words else {
            let message = "this is not a target; write `0 81920 linear 8:16 2048`";
            return Err(source.wrong(line, message));
        };
        let most = (1 << 54) - end;
        if start.count(source, "first sector", &(0..=1 << 54))? != end {
            let message =
                format!("the target starts at {}, and the last one ended at {end}", start.text);
            return Err(source.wrong(line, message));
        }
        let sectors = sectors.count(source, "number of sectors", &(1..=most))?;
        let (interleave_sectors, rest) = match (kind.text, rest) {
            ("linear", [_, _]) => (0, rest),
            ("striped", [count, chunk, rest @ ..]) => {
                let count = count.count(source, "number of stripes", &(1..=STRIPES_MAX))?;
                let chunk = chunk.count(source, "chunk in sectors", &(1..=sectors))?;
                if rest.len() as u64 != 2 * count {
                    let message = format!(
                        "{count} stripes are {} words, each a device and a sector, not {}",
                        2 * count,
                        rest.len()
                    );
                    return Err(source.wrong(line, message));
                }
                if !sectors.is_multiple_of(count * chunk) {
                    let message = format!(
                        "{sectors} sectors are not a multiple of {count} chunks of {chunk} sectors, \
                         which the kernel refuses"
                    );
                    return Err(source.wrong(line, message));
                }
                (chunk, rest)
            }
            ("linear" | "striped", _) => {
                let message = "a linear target is `linear DEVICE SECTOR`, a striped one `striped COUNT \
                               CHUNK DEVICE SECTOR …`";
                return Err(source.wrong(line, message));
            }
            ("raid" | "mirror", _) => {
                let message = format!(
                    "the target {} is not read from a table; describe LVM's RAID instead, as in `--level lvm-raid5 --interleave \
                     64KiB --members 4`",
                    kind.shown()
                );
                return Err(source.wrong(line, message));
            }
            _ => {
                let message =
                    format!("the target {} is not supported; linear and striped are", kind.shown());
                return Err(source.wrong(line, message));
            }
        };
        let mut starts = Vec::new();
        for pair in rest.chunks_exact(2) {
            let start = pair[1].count(source, "sector of a device", &(0..=1 << 54))?;
            starts.push((self.member(pair[0].text), start));
        }
        Ok(Target { sectors, interleave_sectors, starts })
    }

    /// The member of a device's name.
    fn member(&mut self, name: &str) -> u32 {
        let known = self.members.iter().position(|member| member == name);
        known.unwrap_or_else(|| {
            self.members.push(name.into());
            self.members.len() - 1
        }) as u32
    }

    /// What it is called among the layouts.
    pub fn level(&self) -> &'static str {
        let striped = self.targets.iter().any(|target| target.interleave_sectors > 0);
        if striped { "dm-stripe" } else { "dm-concat" }
    }

    /// The chunk, where all targets have the same; else 0.
    pub fn interleave_sectors(&self) -> u64 {
        let first = self.targets[0].interleave_sectors;
        let same = self.targets.iter().all(|target| target.interleave_sectors == first);
        if same { first } else { 0 }
    }

    /// Lays it out.
    ///
    /// # Errors
    ///
    /// Where two targets use the same sectors of a device.
    pub fn lay_out(&self) -> std::result::Result<Segments, block::LayoutError> {
        let segment = |target: &Target| {
            let count = target.starts.len();
            let sectors = target.sectors / count as u64;
            let layout: Box<dyn Layout> = match target.interleave_sectors {
                0 => Box::new(Concat::new(&[sectors])?),
                interleave => Box::new(Stripe::new(interleave, &vec![sectors; count])?),
            };
            let part =
                |&(member, start_sector): &(u32, u64)| Part { member, start_sector, sectors };
            Ok((layout, target.starts.iter().map(part).collect()))
        };
        let segments = self.targets.iter().map(segment).collect::<std::result::Result<_, _>>()?;
        Segments::new(self.members.len(), segments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "vg-home: 0 100 linear 8:16 2048\nvg-home: 100 64 striped 2 8 8:16 4096 8:32 10\n\
                         vg-swap: 0 50 linear 8:32 500\n";

    #[test]
    fn a_table_is_targets_over_devices() {
        let dm = parse("table", TABLE, Some("vg-home")).unwrap();
        assert_eq!(dm.members, ["8:16", "8:32"]);
        assert_eq!((dm.level(), dm.interleave_sectors()), ("dm-stripe", 0));
        let layout = dm.lay_out().unwrap();
        let mut places = Vec::new();
        for sector in [0, 99, 100, 108, 116, 163] {
            layout.places(sector, &mut places);
        }
        let places: Vec<(u32, u64)> = places.iter().map(|at| (at.member, at.sector)).collect();
        assert_eq!(places, [(0, 2048), (0, 2147), (0, 4096), (1, 10), (0, 4104), (1, 41)]);
        assert_eq!(layout.sectors(), 164);
        let swap = parse("table", TABLE, Some("vg-swap")).unwrap();
        assert_eq!((swap.name.as_deref(), swap.level()), (Some("vg-swap"), "dm-concat"));
    }

    #[test]
    fn what_is_no_table_says_which_line() {
        let message = |text: &str| parse("table", text, None).unwrap_err().to_string();
        for (text, expected) in [
            ("", "it has no target"),
            (TABLE, "choose one with --unit"),
            ("0 100 linear 8:16", "table:1: a linear target is"),
            ("0 100 linear 8:16 0\n90 10 linear 8:16 0", "table:2: the target starts at 90"),
            ("0 100 crypt 8:16 0", "the target `crypt` is not supported"),
            (
                "0 100 raid raid5_ls 3 128 region_size 4096 3 8:0 8:1",
                "instead, as in `--level lvm-raid5",
            ),
            ("0 100 striped 2 8 a 0 b 0", "not a multiple of 2 chunks of 8 sectors"),
            ("0 128 striped 3 8 a 0 b 0", "3 stripes are 6 words"),
            ("0 x linear a 0", "`x` is not a valid number of sectors"),
        ] {
            let said = message(text);
            assert!(said.contains(expected), "{said}");
        }
        let unit = parse("table", TABLE, Some("vg-root")).unwrap_err().to_string();
        assert!(unit.contains("table has vg-home, vg-swap"), "{unit}");
        let twice = parse("t", "0 9 linear a 0\n9 9 linear a 8", None).unwrap().lay_out();
        assert!(twice.is_err());
    }
}
