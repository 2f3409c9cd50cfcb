//! Programs that use files, on a modelled file system.

use crate::error::{Error, Result};
use crate::experiment::{Setup, Trial};
use crate::file_system::FilesSetup;
use crate::machine::{file_system, file_system_geometry};
use crate::record::{Measured, share};
use crate::workload::{Kind, Program, Stage, Work};
use hdrhistogram::Histogram;
use sim::Counters;
use sim::fs::{Files as _, Session};

/// The program of a trial, and its kind.
fn program(trial: &Trial) -> Result<(&'static Kind, &dyn Program)> {
    match &trial.work {
        Work::Program { kind, program, .. } => Ok((kind, &**program)),
        // A plan has no such trial.
        Work::Requests(requests) => Err(Error::failure(format!(
            "`workload.{}` makes requests to the volume, which has a file system",
            requests.name
        ))),
    }
}

/// The names of the samples of a trial's program.
pub(super) fn samples(trial: &Trial) -> Vec<&'static str> {
    program(trial).map(|(kind, _)| kind.samples.to_vec()).unwrap_or_default()
}

/// What a program measured.
pub(super) struct Ran {
    samples: Vec<(&'static str, f64)>,
    counters: Counters,
    elapsed_s: f64,
}

impl Ran {
    /// As a trial's measurement, which took `cpu_s` to simulate.
    pub(super) fn measured(self, cpu_s: f64) -> Measured {
        let targets = &self.counters.targets;
        Measured {
            samples: self.samples,
            member_busy: targets
                .iter()
                .map(|target| share(target.busy_ns as f64 / 1e9, self.elapsed_s))
                .collect(),
            requests: targets.iter().map(|target| target.commands).sum(),
            latency_ns: Histogram::new(3).expect("three digits are within its range"),
            cpu_s,
        }
    }
}

/// Whether the file system can be made on a volume of `sectors`, and the program makes sense.
pub(super) fn admit(trial: &Trial, files: &FilesSetup, sectors: u64) -> Result<()> {
    let (_, program) = program(trial)?;
    program.admit(&format!("workload.{}", trial.work.name()), &trial.setup.host)?;
    file_system_geometry(files, sectors).map(|_| ())
}

/// Runs the trial's program.
pub(super) fn run(trial: &Trial, files: &FilesSetup) -> Result<Ran> {
    let (kind, program) = program(trial)?;
    let setup: &Setup = &trial.setup;
    let mut session = file_system(setup, files, trial.seed)?;
    let geometry = file_system_geometry(files, session.files().kernel().sectors())?;
    let own = program.run(&mut Stage {
        session: &mut session,
        geometry,
        mount: files.mount,
        host: &setup.host.files,
        seed: trial.seed,
    })?;
    let counters = session.files().kernel().counters();
    let elapsed_s = session.files().seconds();
    let samples = in_order(kind, own, of_all(&session, &counters));
    Ok(Ran { samples, counters, elapsed_s })
}

/// The samples of every program, by name.
fn of_all(session: &Session, counters: &Counters) -> [(&'static str, f64); 4] {
    let moved: u64 = counters.targets.iter().map(|t| t.sectors_read + t.sectors_written).sum();
    let elapsed_s = session.files().seconds();
    let work_ns = session.files().kernel().clock().work_ns();
    let commands = counters.targets.iter().map(|target| target.commands).collect();
    [
        ("elapsed_s", elapsed_s),
        ("mb_per_s", (moved * block::SECTOR_BYTES) as f64 / 1e6 / elapsed_s),
        ("cpu_busy", work_ns as f64 / 1e9 / elapsed_s),
        ("busiest_share", busiest_share(commands)),
    ]
}

/// The samples of a program of this kind, in order: those of every program by name, its own one by one.
fn in_order(kind: &Kind, own: Vec<f64>, of_all: [(&str, f64); 4]) -> Vec<(&'static str, f64)> {
    let mut own = own.into_iter();
    let value = |name: &&'static str| {
        let shared = of_all.iter().find(|(known, _)| known == name).map(|&(_, value)| value);
        let value = shared.or_else(|| own.next());
        (*name, value.unwrap_or_else(|| panic!("{} has the sample {name}", kind.name)))
    };
    let samples = kind.samples.iter().map(value).collect();
    assert_eq!(own.next(), None, "{} has the samples that it says", kind.name);
    samples
}

/// Of all commands, the share that went to the member with the most.
fn busiest_share(commands: Vec<u64>) -> f64 {
    let all: u64 = commands.iter().sum();
    commands.into_iter().max().unwrap_or(0) as f64 / all.max(1) as f64
}
