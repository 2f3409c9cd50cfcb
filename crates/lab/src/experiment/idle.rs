//! Keys that are set and change nothing: of `drive`, and `programs` that have no request.

use super::Trial;
use crate::catalogue::{Drive, DriveKeys, QueueDiscipline, classes_with};
use crate::error::{Error, Result};
use crate::keys::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What was set, and whether it changed something in any cell: what is without effect in some cells of a sweep is
/// what the sweep is for; what has none in any is a mistake.
#[derive(Clone, Debug, Default)]
pub(super) struct IdleKeys {
    /// Of each drive and key that it does not take: the class of the drive.
    foreign: BTreeMap<(String, &'static str), &'static str>,
    /// The keys that some drive takes.
    taken: BTreeSet<&'static str>,
    /// Of each drive and discipline: whether it had commands to choose among.
    disciplines: BTreeMap<(String, &'static str), bool>,
}

impl IdleKeys {
    /// Takes down what is set of `drive` in a cell with these values, which `keys` were read from.
    pub(super) fn note(
        &mut self,
        drive: &Drive,
        keys: &DriveKeys,
        values: &BTreeMap<String, Value>,
    ) {
        for key in DriveKeys::KEYS.iter().map(|key| key.name) {
            if !values.contains_key(&format!("drive.{key}")) {
                continue;
            }
            if drive.takes(key) {
                self.taken.insert(key);
            } else {
                self.foreign.insert((drive.name.clone(), key), drive.class());
            }
        }
        let chosen = keys.queue_discipline.filter(|&chosen| chosen != QueueDiscipline::Fcfs);
        if let Some(chosen) = chosen.filter(|_| drive.takes("queue_discipline")) {
            let of_drive = (drive.name.clone(), chosen.word());
            // A drive that holds one command has nothing to choose among.
            *self.disciplines.entry(of_drive).or_default() |= drive.queue_depth() > 1;
        }
    }

    /// # Errors
    ///
    /// Where a key is set that no drive of any cell takes; the message names those classes that have it. `place` says where
    /// a key is set.
    pub(super) fn check(&self, place: impl Fn(&str) -> String) -> Result<()> {
        let mut foreign = self.foreign.iter().filter(|((_, key), _)| !self.taken.contains(key));
        let Some(((drive, key), class)) = foreign.next() else { return Ok(()) };
        let path = format!("drive.{key}");
        Err(Error::input(format!(
            "{}: `{path}`: {drive} is of the class `{class}`, which has no key `{key}`; these have: {}. Leave it out, or take \
             such a drive",
            place(&path),
            classes_with(key).join(", ")
        )))
    }

    /// A warning for each drive and key, and for each workload of `trials` with programs that have no request.
    pub(super) fn warnings(&self, origin: &str, trials: &[Trial]) -> Vec<String> {
        let foreign = self.foreign.iter().map(|((drive, key), class)| {
            format!(
                "{origin}: `drive.{key}` has no effect on {drive}, of the class `{class}`; these have it: {}",
                classes_with(key).join(", ")
            )
        });
        let idle = self.disciplines.iter().filter(|(_, has_effect)| !**has_effect);
        let idle = idle.map(|((drive, discipline), _)| {
            format!(
                "{origin}: `drive.queue_discipline` = {discipline} has no effect on {drive}, which queues no \
                 commands; set `drive.queue_depth`, too"
            )
        });
        foreign.chain(idle).chain(programs(origin, trials)).collect()
    }
}

/// A warning for each workload whose jobs have more programs than requests in flight in all trials: a sweep of depths may begin
/// below them.
fn programs(origin: &str, trials: &[Trial]) -> Vec<String> {
    let mut all: BTreeMap<&str, Option<[u64; 2]>> = BTreeMap::new();
    for work in trials.iter().flat_map(Trial::requests) {
        let idle = work.idle_programs();
        all.entry(&work.name).and_modify(|of| *of = of.and(idle)).or_insert(idle);
    }
    let idle = all.into_iter().filter_map(|(name, idle)| Some((name, idle?)));
    idle.map(|(name, [programs, depth])| {
        format!(
            "{origin}: `workload.{name}.programs` = {programs} with a `depth` of {depth}: no more than {depth} of these programs \
             have a request; take `jobs = {programs}` for so many streams side by side, or a `depth` of {programs}"
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};

    fn planned(volume: &str, drive: &str) -> crate::error::Result<Vec<String>> {
        let text = format!(
            "[volume]\n{volume}\n[drive]\n{drive}\n[workload.w]\nkind = 'random'\ncount = 1\n"
        );
        Plan::new(&Experiment::parse("some.toml", &text)?).map(|plan| plan.warnings)
    }

    /// A disk that was to be filled as flash is ran on, with a warning that named no class.
    #[test]
    fn a_key_that_no_drive_takes_names_the_classes_that_do() {
        let disk = "drives = 'st118273lc'";
        for (key, having) in [
            ("state = 'steady'", "these have: flash. "),
            ("credit = 'full'", "these have: cloud. "),
            ("media_cache = 'filled'", "these have: smr. "),
        ] {
            let said = planned(disk, key).unwrap_err().to_string();
            let name = key.split(' ').next().unwrap();
            let begin = format!("some.toml:4: `drive.{name}`: st118273lc is of the class `disk`");
            assert!(said.starts_with(&begin) && said.contains(having), "{said}");
        }
        assert_eq!(planned(disk, "write_cache = false").unwrap(), Vec::<String>::new());
        let of_flash = planned("drives = '980-pro-1tb'", "zero_latency = true").unwrap_err();
        assert!(of_flash.to_string().contains("class `flash`"), "{of_flash}");
    }

    /// Eight programs with one request in flight between them were one reader, and nobody said so.
    #[test]
    fn more_programs_than_requests_in_flight_are_told() {
        let warned = |more: &str| {
            let text = format!(
                "[volume]\ndrives = '2xwd740gd'\n[workload.w]\nkind = 'sequential'\nprograms = 8\n{more}"
            );
            Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap().warnings
        };
        let said = warned("");
        assert!(said[0].contains("`workload.w.programs` = 8 with a `depth` of 1"), "{said:?}");
        assert!(said[0].contains("take `jobs = 8`"), "{said:?}");
        assert_eq!(warned("depth = 7").len(), 1);
        for fits in ["depth = 8", "depth = [1, 8]", "arrivals = 'poisson'\nrequests_per_s = 9"] {
            assert_eq!(warned(fits), Vec::<String>::new(), "{fits}");
        }
    }
}
