//! Programs that use files, on a modelled file system.

use super::{KIND, cpu_s, modelled};
use crate::capabilities::{Capabilities, Uses};
use crate::error::{Error, Result};
use crate::experiment::{ReadAhead, Trial};
use crate::file_system::FilesSetup;
use crate::machine::file_system;
use crate::record::{Measured, share};
use crate::rig::admit::{
    admit_volume, check_buses, check_members, check_nested, check_no_log, check_not_real,
};
use crate::rig::{Prepared, Rig};
use crate::workload::{Kind, Made, Program, Stage, Work};
use hdrhistogram::Histogram;
use sim::Counters;
use sim::fs::{Files as _, Session};

/// The program of a trial, and its kind.
fn program(trial: &Trial) -> Result<(&'static Kind, &dyn Program)> {
    match &trial.work {
        Work::Program { kind, program, .. } => Ok((kind, &**program)),
        // A plan has no such trial.
        Work::Trace(trace) => Err(Error::failure(format!(
            "`workload.{}` replays a trace, and uses no files",
            trace.name
        ))),
        Work::Requests(requests) => Err(Error::failure(format!(
            "`workload.{}` makes requests to the volume, which has a file system",
            requests.name
        ))),
    }
}

/// Programs that use files on modelled volumes.
pub struct FilesRig;

impl Rig for FilesRig {
    fn name(&self) -> &'static str {
        KIND.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { uses: Uses::Files, ..modelled() }
    }

    fn admit(&self, trial: &Trial) -> Result<()> {
        let layout = admit_volume(&trial.setup.volume)?;
        check_members(&trial.setup.volume)?;
        check_not_real(&trial.setup)?;
        check_no_log(&trial.setup)?;
        check_buses(&trial.setup)?;
        check_nested(&trial.setup)?;
        if trial.setup.volume.read_ahead != ReadAhead(None) {
            return Err(Error::input(
                "`volume.read_ahead`: of a modelled file system it is the host's own; leave it out, or ask the kernel, as in \
                 `ileave run FILE --on kernel`",
            ));
        }
        if let Some(other) = trial.beside.first() {
            return Err(Error::input(format!(
                "`workload.{}` and `workload.{}` are of one group, but of programs that use files one \
                 runs at a time; leave out the group",
                trial.work.name(),
                other.name()
            )));
        }
        let (_, program) = program(trial)?;
        program.admit(&format!("workload.{}", trial.work.name()), &trial.setup.host)?;
        setup(trial)?.admit(layout.sectors())
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        program(trial).map(|(kind, _)| kind.samples.to_vec()).unwrap_or_default()
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        let files = setup(trial)?;
        let session = file_system(&trial.setup, files, trial.seed)?;
        Ok(Box::new(Ready { trial, session }))
    }
}

/// The file system that the trial's program uses.
fn setup(trial: &Trial) -> Result<&FilesSetup> {
    trial.setup.files.as_ref().ok_or_else(|| {
        Error::input(format!("`workload.{}` has no file system to use", trial.work.name()))
    })
}

/// A mounted file system that a program is about to use.
struct Ready<'a> {
    trial: &'a Trial,
    session: Session,
}

impl Prepared for Ready<'_> {
    fn measure(&mut self) -> Result<Measured> {
        let before = cpu_s();
        let ran = run(&mut self.session, self.trial)?;
        Ok(ran.measured(cpu_s() - before))
    }
}

/// What a program measured, without what was spent on making the file system before it.
struct Ran {
    samples: Vec<(&'static str, f64)>,
    counters: Counters,
    elapsed_s: f64,
}

impl Ran {
    /// As a trial's measurement, which took `cpu_s` to simulate.
    fn measured(self, cpu_s: f64) -> Measured {
        let targets = &self.counters.targets;
        Measured {
            samples: self.samples,
            member_busy: targets
                .iter()
                .map(|target| share(target.busy_ns as f64 / 1e9, self.elapsed_s))
                .collect(),
            requests: targets.iter().map(|target| target.commands).sum(),
            latency_ns: Histogram::new(3).expect("three digits are within its range"),
            series: None,
            streams: Vec::new(),
            curve: Vec::new(),
            holds: None,
            window: None,
            cpu_s,
            commands: Vec::new(),
            kept: Vec::new(),
        }
    }
}

/// Runs the trial's program.
fn run(session: &mut Session, trial: &Trial) -> Result<Ran> {
    let (kind, program) = program(trial)?;
    let mut stage = Stage {
        session: &mut *session,
        host: &trial.setup.host.files,
        seed: trial.seed,
        made: Made::default(),
    };
    let own = program.run(&mut stage)?;
    let made = stage.made;
    let mut counters = session.files().kernel().counters();
    counters.take_off(&made.counters);
    let elapsed_s = session.files().seconds() - made.elapsed_s;
    let samples = in_order(kind, own, of_all(session, &counters, elapsed_s, made.work_ns));
    Ok(Ran { samples, counters, elapsed_s })
}

/// The samples of every program, by name, of the work alone: the processor worked `made_ns` on the file system before it.
fn of_all(
    session: &Session,
    counters: &Counters,
    elapsed_s: f64,
    made_ns: u64,
) -> [(&'static str, f64); 4] {
    let moved: u64 = counters.targets.iter().map(|t| t.sectors_read + t.sectors_written).sum();
    let work_ns = session.files().kernel().clock().work_ns() - made_ns;
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
