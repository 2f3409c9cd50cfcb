//! How long a run on real disks will take: from trials that ran before, or else from what each is to do at rates that are
//! assumed.

use crate::experiment::{Plan, Trial};
use crate::runner::key_of;
use crate::workload::{Requests, Toll, Work};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use store::Results;
use store::record::cell_name;

/// What a kind of member is assumed to do.
struct Assumed {
    name: &'static str,
    bytes_per_s: f64,
    waits_per_s: f64,
    calls_per_s: f64,
    /// To build the volume, make the file system, mount it, and take all of it down.
    around_s: f64,
}

/// One disk and one flash drive of today, in round figures: the ends of what a reader may have.
const ASSUMED: [Assumed; 2] = [
    Assumed {
        name: "flash",
        bytes_per_s: 500e6,
        waits_per_s: 10_000.0,
        calls_per_s: 50_000.0,
        around_s: 1.0,
    },
    Assumed {
        name: "disks",
        bytes_per_s: 100e6,
        waits_per_s: 100.0,
        calls_per_s: 10_000.0,
        around_s: 4.0,
    },
];

/// How long a run will take, and what that rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Trials that are left.
    pub trials: usize,
    /// How many of them have a cell or a workload that was measured before.
    pub measured: usize,
    /// How long those take, in s.
    pub measured_s: f64,
    /// How many earlier trials that rests on.
    pub rests_on: usize,
    /// How many have an amount of work that is known.
    pub assumed: usize,
    /// How long those take on flash and on disks, in s.
    pub assumed_s: [f64; 2],
    /// How many are commands, whose time is unknown.
    pub unknown: usize,
    /// The longest that those may take, in s.
    pub unknown_max_s: f64,
    /// Whether comparisons may end the repeats before.
    pub at_most: bool,
}

impl Estimate {
    pub(crate) fn new(plan: &Plan, results: Option<&Results>) -> Self {
        let known = results.map(Known::of).unwrap_or_default();
        let mut estimate = Estimate { rests_on: known.trials, ..Estimate::default() };
        for trial in plan.trials.iter().filter(|trial| !known.finished.contains(&trial.number)) {
            estimate.trials += 1;
            if let Some(took_s) = known.took_s(trial) {
                estimate.measured += 1;
                estimate.measured_s += took_s;
                continue;
            }
            match toll(trial) {
                Some(Toll { command_max_s: Some(most_s), .. }) => {
                    estimate.unknown += 1;
                    estimate.unknown_max_s += most_s;
                }
                Some(toll) => {
                    estimate.assumed += 1;
                    for (sum, assumed) in estimate.assumed_s.iter_mut().zip(&ASSUMED) {
                        *sum += assumed.seconds(&toll);
                    }
                }
                None => estimate.unknown += 1,
            }
        }
        estimate
    }

    /// The same of a run whose comparisons may end the repeats before.
    #[must_use]
    pub fn at_most(self) -> Self {
        Estimate { at_most: true, ..self }
    }
}

impl Assumed {
    fn seconds(&self, toll: &Toll) -> f64 {
        let around_s = if toll.is_bare { 0.0 } else { self.around_s };
        around_s
            + toll.seconds
            + toll.bytes as f64 / self.bytes_per_s
            + toll.waits as f64 / self.waits_per_s
            + toll.calls as f64 / self.calls_per_s
    }
}

/// What a trial's program or requests are to do.
fn toll(trial: &Trial) -> Option<Toll> {
    match &trial.work {
        Work::Program { program, .. } => program.live_toll(),
        Work::Requests(_) => {
            Some(trial.requests().map(Requests::toll).fold(Toll::default(), Toll::and))
        }
        Work::Trace(_) => None,
    }
}

/// What earlier trials took, in s.
#[derive(Default)]
struct Known {
    finished: BTreeSet<usize>,
    trials: usize,
    of_cell: BTreeMap<String, Vec<f64>>,
    of_workload: BTreeMap<String, Vec<f64>>,
}

impl Known {
    fn of(results: &Results) -> Self {
        let mut known = Known::default();
        for record in &results.records {
            known.finished.insert(record.trial);
            let Some(&took_s) = results.happened.took_s.get(&record.trial) else { continue };
            known.trials += 1;
            let cell = cell_name(&record.workload, &record.at);
            known.of_cell.entry(cell).or_default().push(took_s);
            known.of_workload.entry(record.workload.clone()).or_default().push(took_s);
        }
        known
    }

    /// What a trial will take: as its cell, or as other cells of its workload.
    fn took_s(&self, trial: &Trial) -> Option<f64> {
        let of_cell = self.of_cell.get(&key_of(trial));
        let took = of_cell.or_else(|| self.of_workload.get(&trial.cell.workload))?;
        Some(took.iter().sum::<f64>() / took.len() as f64)
    }
}

/// As a person says it: `40 s`, `12 min`, `3.5 h`.
pub fn time_words(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 100.0 * 60.0 => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// As lines of a shell's comments.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times: Vec<f64> =
            self.assumed_s.iter().map(|assumed_s| self.measured_s + assumed_s).collect();
        let [least, most] = [times[0], times[1]].map(time_words);
        let trials = if self.at_most { "at most " } else { "" };
        write!(f, "# estimate: {trials}{} trials", self.trials)?;
        match (self.measured + self.assumed, least == most) {
            (0, _) => writeln!(f, ", and nothing says how long one takes")?,
            (_, true) => writeln!(f, ", about {least}")?,
            _ => writeln!(f, ", about {least} to {most}")?,
        }
        if self.measured > 0 {
            writeln!(
                f,
                "#   {} of them as the {} trials that the earlier results hold: {}",
                self.measured,
                self.rests_on,
                time_words(self.measured_s)
            )?;
        }
        if self.assumed > 0 {
            writeln!(f, "#   {} of them by the amount of work at assumed rates:", self.assumed)?;
            for (assumed, seconds) in ASSUMED.iter().zip(self.assumed_s) {
                writeln!(
                    f,
                    "#     {}: {} ({:.0} MB/s, {} I/Os/s waited for one by one, {} calls/s, {} s around a file system)",
                    assumed.name,
                    time_words(seconds),
                    assumed.bytes_per_s / 1e6,
                    assumed.waits_per_s,
                    assumed.calls_per_s,
                    assumed.around_s
                )?;
            }
        }
        if self.unknown > 0 {
            let most = match self.unknown_max_s {
                0.0 => String::new(),
                most_s => format!("; their limits add up to {}", time_words(most_s)),
            };
            writeln!(f, "#   not in it: {} trials whose time is unknown{most}", self.unknown)?;
        }
        if self.measured == 0 {
            writeln!(f, "#   `--plan --resume DIR` goes by the trials that DIR holds")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::record::at_json;
    use store::Happened;

    fn plan() -> Plan {
        let text = "[volume]\ndrives = 'wd740gd'\nlevel = 'single'\n[fs]\nkind = 'ext4'\n[run]\nrepeats = 3\n\
                    [workload.write]\nkind = 'nfs'\nsize = '8MiB'\n[workload.touch]\nkind = 'touch'\nfiles = 1000\n";
        Plan::new(&Experiment::parse("e.toml", text).unwrap()).unwrap()
    }

    #[test]
    fn without_earlier_trials_the_amount_of_work_says_it() {
        let plan = plan();
        let estimate = Estimate::new(&plan, None);
        assert_eq!((estimate.trials, estimate.assumed, estimate.measured), (6, 6, 0));
        // On disks: 1024 writes of 8 KiB at 100 a second; 3 x 1000 calls at 10,000; 4 s around each.
        let disks_s = 3.0 * (4.0 + 1024.0 / 100.0) + 3.0 * (4.0 + 0.3);
        assert!((estimate.assumed_s[1] - disks_s).abs() < 0.5, "{estimate:?}");
        let said = estimate.to_string();
        assert!(said.starts_with("# estimate: 6 trials, about "), "{said}");
        assert!(said.contains("--plan --resume DIR"), "{said}");
    }

    #[test]
    fn earlier_trials_say_it_better() {
        let plan = plan();
        let ran = crate::run(
            &Experiment::parse(
                "e.toml",
                "[volume]\ndrives = 'wd740gd'\nlevel = 'single'\n[workload.write]\ncount = 5\n",
            )
            .unwrap(),
            &crate::rig::sim::Sim,
            crate::Keep::Nowhere,
            &mut |_| (),
        )
        .unwrap();
        // The first trial is of `write` and took 10 s; of `touch` there is none.
        let mut record = ran.records().remove(0);
        record.at = at_json(&plan.trials[0].cell);
        assert_eq!(plan.trials[0].cell.workload, "write");
        let happened = Happened { took_s: BTreeMap::from([(0, 10.0)]), ..Happened::default() };
        let results = Results {
            manifest: ran.manifest,
            records: vec![record],
            finished: 0,
            suspects: BTreeSet::new(),
            happened,
        };
        let estimate = Estimate::new(&plan, Some(&results));
        assert_eq!((estimate.trials, estimate.measured, estimate.assumed), (5, 2, 3));
        assert!((estimate.measured_s - 20.0).abs() < 1e-9);
        assert!(estimate.to_string().contains("2 of them as the 1 trials"), "{estimate}");
    }

    #[test]
    fn times_are_said_as_people_say_them() {
        let said: Vec<String> = [0.2, 59.0, 130.0, 7300.0, 300_000.0].map(time_words).into();
        assert_eq!(said, ["1 s", "59 s", "2 min", "2.0 h", "3 days"]);
    }
}
