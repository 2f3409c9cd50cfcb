//! Published rules on the layouts of an experiment: what each would choose among its interleaves.

use super::{Case, Media, Rule, rules};
use crate::search::layouts::{At, Space};
use block::SECTOR_BYTES;
use block::units::format_bytes;
use lab::experiment::Trial;
use verdict::Verdict;
use verdict::judge::{Ranked, Standing};
use verdict::tables::slower;

/// The key that rules are about.
const INTERLEAVE: &str = "volume.interleave";

/// A chunk is what a rule says where the one is at most so many times the other: powers of two are no farther apart.
const SAME_TIMES: f64 = std::f64::consts::SQRT_2;

/// What rules say of the best layout, and whether the verdict agrees; where none is best, of the first that has an interleave.
/// Nothing where no interleave is chosen and no such layout has one.
pub(crate) fn of_layouts(space: &Space, verdict: &Verdict) -> Vec<Rule> {
    let best = verdict.ranked.first();
    let trial = match best {
        Some(best) => space.place(&best.at).map(|place| &space.trials[place]),
        None => space.trials.iter().find(|trial| is_interleaved(trial)),
    };
    let Some(trial) = trial else { return Vec::new() };
    let volume = &trial.setup.volume;
    let is_chosen = space.layouts.iter().any(|at| at.contains_key(INTERLEAVE));
    if volume.controller.is_some() || !(is_interleaved(trial) || is_chosen) {
        return Vec::new();
    }
    let drive = volume.members.first().and_then(|member| member.drive());
    let Some(media) = drive.and_then(|drive| Media::of(drive).ok()) else { return Vec::new() };
    let mut rules = rules(&Case::of(
        &space.experiment,
        media,
        volume.level.has_parity(),
        trial.requests().next().is_some(),
    ));
    // Its two numbers are those of the commands for md.
    rules.retain(|rule| rule.name != "XFS");
    for rule in &mut rules {
        if rule.name == "vinum" && !volume.level.is_run_by_md() {
            rule.why = OF_VINUM.into();
        }
        match best {
            Some(best) if is_interleaved(trial) => judge(rule, verdict, best),
            Some(_) if rule.is_of_chunks() => {
                rule.agrees = None;
                let members = volume.members.len();
                rule.why = match volume.level.losses_survived(members) {
                    _ if members == 1 => "one drive has no chunk".into(),
                    0 => "drives one after the other have no chunk".into(),
                    _ => "a mirror has no chunk".into(),
                };
            }
            _ => {}
        }
    }
    rules
}

/// What vinum's manual has for its rule, on systems whose stripes take any chunk.
const OF_VINUM: &str =
    "taken by its size, as 256 KiB: a power of two puts all superblocks of UFS on one disk";

/// Whether a trial's system spreads what it runs on over several drives.
fn is_interleaved(trial: &Trial) -> bool {
    let volume = &trial.setup.volume;
    volume.level.interleaved() && volume.members.len() > 1 && volume.controller.is_none()
}

/// Holds the chunk of a rule, or the nearest that was tried of it, against the best.
fn judge(rule: &mut Rule, verdict: &Verdict, best: &Ranked) {
    let Some(bytes) = rule.chunk_kib.map(|kib| (kib << 10) as f64) else { return };
    let others = verdict.ranked.iter().filter_map(|ranked| {
        let sectors = ranked.at.get(INTERLEAVE)?.as_u64().filter(|sectors| *sectors > 0)?;
        is_alike(&ranked.at, &best.at).then_some(((sectors * SECTOR_BYTES) as f64, ranked))
    });
    let mut tried: Vec<(f64, &Ranked)> = others.collect();
    tried.sort_by(|one, other| one.0.total_cmp(&other.0));
    let times = |of: f64| (of / bytes).ln().abs();
    let nearest = tried.iter().min_by(|one, other| times(one.0).total_cmp(&times(other.0)));
    let (Some((nearest, ranked)), true) = (nearest, tried.len() > 1) else {
        rule.why = format!("no other interleave was tried; {}", rule.why);
        return;
    };
    let said = spaced(*nearest);
    if times(*nearest) > SAME_TIMES.ln() + 1e-9 {
        let [first, last] = [tried.first(), tried.last()].map(|of| of.map(|of| of.0));
        let which = match nearest {
            nearest if Some(*nearest) == first => "smallest",
            nearest if Some(*nearest) == last => "largest",
            _ => "nearest",
        };
        rule.why = format!("judged as {said}, the {which} that was tried; {}", rule.why);
    }
    rule.agrees = match ranked.standing {
        Standing::Unknown => None,
        standing => Some(standing != Standing::Behind),
    };
    if ranked.standing == Standing::Behind {
        let behind = slower(ranked.behind, verdict.better, &verdict.unit);
        rule.why = format!("{said} is {behind} here; {}", rule.why);
    }
}

/// A size as people write it, with a space.
fn spaced(bytes: f64) -> String {
    let text = format_bytes(bytes as u64);
    let (number, unit) = text.split_at(text.find(char::is_alphabetic).unwrap_or(0));
    format!("{number} {unit}")
}

/// Whether two layouts are the same but for their interleave.
fn is_alike(one: &At, other: &At) -> bool {
    let rest = |at: &At| at.iter().filter(|(path, _)| *path != INTERLEAVE).count();
    let is_there = |(path, value): (&String, &serde_json::Value)| {
        path == INTERLEAVE || other.get(path) == Some(value)
    };
    rest(one) == rest(other) && one.iter().all(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::remembered::Sim;
    use lab::experiment::Experiment;
    use std::path::Path;
    use verdict::Wishes;

    /// What each rule says of a shipped experiment with these keys, after trials of its layouts, or of none.
    fn said(name: &str, set: &[&str], is_run: bool) -> Vec<Rule> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(name);
        let (mut experiment, _) = Experiment::open(&path).unwrap();
        for assignment in set {
            experiment.set(assignment).unwrap();
        }
        let wishes = Wishes::default();
        let space = Space::new(&experiment, &Sim, &wishes).unwrap();
        let all: Vec<usize> = if is_run { (0..space.layouts.len()).collect() } else { Vec::new() };
        let records = space.measure(&all, &|_| Ok(Box::new(Sim)), 0).unwrap();
        of_layouts(&space, &Verdict::new(&space.manifest, &records, &wishes).unwrap())
    }

    /// One dd has one request in flight: Chen & Patterson take the smallest, and 32 KiB, the largest that is sent at once, wins.
    #[test]
    fn rules_are_held_against_the_interleaves_of_an_experiment() {
        let rules = said("fair-2006.toml", &[], true);
        let of = |name: &str| rules.iter().find(|rule| rule.name == name).unwrap();
        let patterson = of("Chen & Patterson 1990");
        assert_eq!(
            (patterson.says.as_str(), patterson.agrees),
            ("0.5 KiB, one sector", Some(false))
        );
        let judged = "16 KiB is 11 % slower here; judged as 16 KiB, the smallest that was tried; ";
        assert!(patterson.why.starts_with(judged), "{}", patterson.why);
        let vinum = of("vinum");
        assert_eq!(vinum.agrees, Some(false));
        assert!(
            vinum.why.contains("judged as 128 KiB, the largest that was tried; "),
            "{}",
            vinum.why
        );
        assert!(!vinum.why.contains("md takes"), "ccd takes any: {}", vinum.why);
        assert!(rules.iter().all(|rule| rule.name != "XFS"));
    }

    /// Rosen's thirty readers are requests in flight: a quarter of what passes below the head for each but one.
    #[test]
    fn readers_are_requests_in_flight() {
        if crate::tests::takes_long() {
            return;
        }
        let set = ["volume.interleave=32,2048", "fs.cylinders=16"];
        let rules = said("rosen-1999.toml", &set, true);
        assert_eq!((rules[0].says.as_str(), rules[0].agrees), ("707 KiB", Some(true)));
    }

    /// A single drive wins Brownlee's, Tao's layouts did not all run the same, and McVoy has no stripe.
    #[test]
    fn where_there_is_no_chunk_rules_say_so() {
        let set = ["fs.version=1", "fs.block=16KiB", "fs.mount=async"];
        let brownlee = said("brownlee-2005.toml", &set, true);
        assert!(brownlee.iter().all(|rule| rule.agrees.is_none()));
        assert!(brownlee.iter().any(|rule| rule.why == "one drive has no chunk"));
        let tao = said("tao-1996.toml", &[], false);
        assert_eq!(tao[0].says, "0.5 KiB, one sector");
        assert!(tao.iter().all(|rule| rule.agrees.is_none()));
        assert_eq!(said("mcvoy-1990.toml", &[], false), []);
    }
}
