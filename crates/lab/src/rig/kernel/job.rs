//! What the guest is told, and what it answers: JSON on the disk between them.

use super::KIND;
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Plan, Setting, Trial};
use crate::record::{LoadPoint, Measured, decode_latencies, encode_latencies};
use crate::rig::mounted::Cut;
use crate::runner::key_of;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use store::steady::Series;

/// A trial of an experiment, of which it is told what the trial's own group of workloads is about: a guest that planned all
/// of a large experiment would take longer for that than for the trial.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// Where the run was begun: paths of an experiment start there, as of a drive's own file.
    directory: PathBuf,
    origin: String,
    name: String,
    workloads: Vec<String>,
    settings: BTreeMap<String, Setting>,
    /// The trial's cell, as results name it, and its repeat. Its place in the plan would not do: what cannot be built is
    /// taken out of the plan outside, and in the guest nobody asks.
    cell: String,
    repeat: u64,
    /// It follows from the group's place among all.
    seed: u64,
    /// The power cut after which it is to look, if it is.
    cut: Option<Cut>,
}

impl Job {
    pub(super) fn new(experiment: &Experiment, trial: &Trial) -> Self {
        let own = experiment.groups().into_iter().find(|(name, _)| *name == trial.cell.workload);
        let (_, workloads) = own.expect("a trial is of a group of its experiment");
        let prefixes: Vec<String> =
            workloads.iter().map(|name| format!("workload.{name}.")).collect();
        let is_own = |path: &str| {
            let is_of = |prefix: &String| path.starts_with(prefix.as_str());
            !path.starts_with("workload.") || prefixes.iter().any(is_of)
        };
        let settings = experiment.settings().iter().filter(|(path, _)| is_own(path));
        Job {
            // Who has none has no path that starts there.
            directory: std::env::current_dir().unwrap_or_else(|_| "/".into()),
            origin: experiment.origin.clone(),
            name: experiment.name.clone(),
            workloads,
            settings: settings.map(|(path, set)| (path.clone(), set.clone())).collect(),
            cell: key_of(trial),
            repeat: trial.repeat,
            seed: trial.seed,
            cut: None,
        }
    }

    /// The same trial after a power cut.
    pub(super) fn after(self, cut: Cut) -> Self {
        Job { cut: Some(cut), ..self }
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(Error::failure)
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes).map_err(Error::failure)
    }

    /// Goes to where the run was begun, if the guest can see that: below /run it cannot, and only paths that start there
    /// are then not found.
    pub(super) fn enter_directory(&self) {
        let _ = std::env::set_current_dir(&self.directory);
    }

    /// The experiment, as far as it is about the trial's group.
    pub(super) fn experiment(&self) -> Experiment {
        let (origin, name) = (&self.origin, &self.name);
        Experiment::of_settings(origin, name, self.workloads.clone(), self.settings.clone())
    }

    /// The power cut after which it is to look, if it is.
    pub(super) fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// The trial, as the guest plans it.
    pub(super) fn trial(&self) -> Result<Trial> {
        self.trial_of(Plan::of_part(&self.experiment(), &(KIND.capabilities)())?.trials)
    }

    /// The trial among those of the experiment.
    fn trial_of(&self, trials: Vec<Trial>) -> Result<Trial> {
        let is_meant = |trial: &Trial| trial.repeat == self.repeat && key_of(trial) == self.cell;
        let trial = trials.into_iter().find(is_meant).ok_or_else(|| {
            let Job { cell, repeat, .. } = self;
            Error::failure(format!("the guest has no trial {cell}, repeat {repeat}"))
        })?;
        Ok(Trial { seed: self.seed, ..trial })
    }
}

/// What a trial has measured in the guest, or why it could not.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Answer {
    error: Option<String>,
    samples: Vec<(String, f64)>,
    /// All requests to the volume, the warm-up's included; none of programs on files.
    all_requests: Option<u64>,
    requests: u64,
    latency_hdr: String,
    series: Option<Series>,
    streams: Vec<(String, Vec<(String, f64)>)>,
    curve: Vec<LoadPoint>,
    holds: Option<bool>,
    commands: Vec<String>,
    kept: Vec<(String, String)>,
}

fn named(samples: &[(&'static str, f64)]) -> Vec<(String, f64)> {
    // A share of nothing, as of no commands, is no number, and JSON has no word for it.
    let finite = samples.iter().filter(|(_, value)| value.is_finite());
    finite.map(|&(name, value)| (name.into(), value)).collect()
}

fn known(samples: Vec<(String, f64)>) -> Result<Vec<(&'static str, f64)>> {
    let known = samples.into_iter().map(|(name, value)| {
        let sample = store::sample::find(&name);
        let sample = sample
            .ok_or_else(|| Error::failure(format!("the guest has the unknown sample `{name}`")))?;
        Ok((sample.name, value))
    });
    known.collect()
}

impl Answer {
    /// What was measured, or the error.
    pub(super) fn new(result: Result<(Measured, Option<u64>)>) -> Self {
        let (error, (measured, all_requests)) = match result {
            Ok(result) => (None, result),
            Err(error) => (Some(error.to_string()), (nothing(), None)),
        };
        let streams = measured.streams.iter();
        Answer {
            error,
            samples: named(&measured.samples),
            all_requests,
            requests: measured.requests,
            latency_hdr: encode_latencies(&measured.latency_ns),
            series: measured.series,
            streams: streams.map(|(name, samples)| (name.clone(), named(samples))).collect(),
            curve: measured.curve,
            holds: measured.holds,
            commands: measured.commands,
            kept: measured.kept,
        }
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(Error::failure)
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes)
            .map_err(|error| Error::failure(format!("the guest's answer cannot be read: {error}")))
    }

    /// All requests to the volume, where those are what was measured.
    pub(super) fn all_requests(&self) -> Option<u64> {
        self.all_requests
    }

    /// What was measured.
    pub(super) fn measured(self) -> Result<Measured> {
        if let Some(error) = self.error {
            return Err(Error::failure(error));
        }
        let streams = self.streams.into_iter().map(|(name, samples)| Ok((name, known(samples)?)));
        Ok(Measured {
            samples: known(self.samples)?,
            member_busy: Vec::new(),
            requests: self.requests,
            latency_ns: decode_latencies(&self.latency_hdr)?,
            series: self.series,
            streams: streams.collect::<Result<_>>()?,
            curve: self.curve,
            holds: self.holds,
            window: None,
            cpu_s: 0.0,
            commands: self.commands,
            kept: self.kept,
        })
    }
}

/// No measurement.
fn nothing() -> Measured {
    Measured {
        samples: Vec::new(),
        member_busy: Vec::new(),
        requests: 0,
        latency_ns: Histogram::new(3).expect("three digits are within its range"),
        series: None,
        streams: Vec::new(),
        curve: Vec::new(),
        holds: None,
        window: None,
        cpu_s: 0.0,
        commands: Vec::new(),
        kept: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Cell;

    #[test]
    fn the_guest_plans_the_same_trials() {
        let text = "[volume]\ndrives = '3xwd740gd:1GiB'\nlevel = ['md-raid5', 'md-stripe']\ninterleave = '32KiB'\n\
                    [workload.read]\nkind = 'random'\nblock = ['4KiB', '64KiB']\ncount = 50\n\
                    [workload.write]\nop = 'write'\namount = '16MiB'\n\
                    [workload.log]\nop = 'write'\ngroup = 'both'\n[workload.look]\ngroup = 'both'\nvolume.failed = '1'\n\
                    [run]\nseed = 7\nrepeats = 2\n";
        let experiment = Experiment::parse("mine.toml", text).unwrap();
        let planned = Plan::new(&experiment).unwrap().trials;
        let said = |trial: &Trial| {
            let cell = Cell { workload_index: 0, ..trial.cell.clone() };
            format!("{:?}", Trial { number: 0, cell, ..trial.clone() })
        };
        for meant in &planned {
            let job = Job::from_bytes(&Job::new(&experiment, meant).to_bytes().unwrap()).unwrap();
            let own = Plan::new(&job.experiment()).unwrap().trials;
            let of_group = |trial: &&Trial| trial.cell.workload == meant.cell.workload;
            assert_eq!(own.len(), planned.iter().filter(of_group).count());
            // Another place in the plan is the same trial.
            assert_eq!(said(&job.trial_of(own).unwrap()), said(meant));
            assert_eq!(job.cut(), None);
            let others: Vec<Trial> =
                planned.iter().filter(|other| said(other) != said(meant)).cloned().collect();
            let none = job.trial_of(others).unwrap_err().to_string();
            assert!(none.contains("no trial"), "{none}");
        }
    }

    /// A key that no drive of this cell takes, but one of another does, was a mistake there, and the cell was left out.
    #[test]
    fn the_guest_takes_keys_that_only_other_cells_have() {
        let text = "[volume]\ndrives = '2xst18000nm000j:1GiB'\nlevel = 'md-mirror'\n[drive]\nwrite_cache = false\n\
                    [workload.disks]\nkind = 'random'\ncount = 1\n[workload.flash]\nkind = 'random'\ncount = 1\n\
                    volume.drives = '2x980-pro-1tb:1GiB'\n";
        let experiment = Experiment::parse("mine.toml", text).unwrap();
        let planned = Plan::on(&experiment, &(KIND.capabilities)()).unwrap().trials;
        assert_eq!(planned.len(), 2);
        for meant in &planned {
            let own = Job::new(&experiment, meant).trial().unwrap();
            assert_eq!(own.cell.workload, meant.cell.workload);
        }
    }

    #[test]
    fn an_answer_comes_back_as_it_was() {
        let mut measured = nothing();
        measured.samples = vec![("mb_per_s", 12.5), ("elapsed_s", f64::NAN)];
        measured.streams = vec![("read".into(), vec![("latency_p99_ms", 3.0)])];
        measured.latency_ns.record(5_000).unwrap();
        measured.requests = 1;
        let answer = Answer::new(Ok((measured, Some(2)))).to_bytes().unwrap();
        let back = Answer::from_bytes(&answer).unwrap();
        assert_eq!(back.all_requests(), Some(2));
        let back = back.measured().unwrap();
        assert_eq!(back.samples, [("mb_per_s", 12.5)]);
        assert_eq!(back.streams[0].1, [("latency_p99_ms", 3.0)]);
        assert_eq!((back.latency_ns.len(), back.requests), (1, 1));
        let error = Answer::new(Err(Error::failure("no mdadm"))).to_bytes().unwrap();
        let said = Answer::from_bytes(&error).unwrap().measured().unwrap_err().to_string();
        assert!(said.contains("no mdadm"), "{said}");
    }
}
