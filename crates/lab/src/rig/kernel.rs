//! The `kernel` rig: a real Linux kernel in virtual time, on modelled drives.
//!
//! Each trial boots a kernel of its own as a process ([`uml`]), whose disks take the times that the drives of the trial
//! take. In it runs this program once more ([`guest`]): it builds the volume with the system's own tools, and measures as
//! the `disks` rig does. What it measured comes back, and the drives say where the time went.
//!
//! ```text
//! job         what the guest is told, and what it answers
//! block_trace every command of the drives, in three formats
//! cuts        power cuts, and what is there after each
//! drives      the drives of a trial as the kernel's disks
//! flags       `--on kernel` and its flags
//! guest       the other side: what runs in the kernel
//! processors  on which processor each kernel runs
//! restore     a failed member is restored while a trial runs
//! told        what the drives add to what the guest has measured
//! ```

mod block_trace;
mod cuts;
mod drives;
mod flags;
pub mod guest;
mod job;
mod processors;
mod restore;
mod told;

pub(super) use flags::KIND;
pub use uml::build;

use super::admit::{check_no_log, check_no_search};
use super::stoppable::stopped;
use super::{Prepared, Rig, Stop};
use crate::capabilities::Capabilities;
use crate::error::{Error, Result};
use crate::experiment::{Experiment, FaultSetup, Plan, Trial};
use crate::record::Measured;
use crate::workload::{Requests, Work};
use drives::{Drives, check_queues};
use job::{Answer, Job};
use processors::Processors;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use uml::build::Kernel;
use uml::{Guest, Report, With};

/// A real kernel on modelled drives.
pub struct KernelRig {
    kernel: Kernel,
    /// This program, which the guest runs too.
    program: PathBuf,
    memory_mib: u64,
    /// How long a trial may take, by the clock on the wall.
    limit: Duration,
    /// What is told to every guest, but for the trial's number.
    experiment: Experiment,
    /// Whether each trial's block trace is kept.
    keeps_trace: bool,
    /// What each command costs the host, where that is asked for.
    cpu: Option<Cpu>,
    processors: &'static Processors,
    stopped: Arc<AtomicBool>,
    /// What makes its figures doubtful.
    warnings: Vec<String>,
    /// The trials whose guests answered that they cannot be run.
    refused: Mutex<BTreeSet<usize>>,
}

/// What a command to a drive costs a host.
#[derive(Clone, Debug)]
struct Cpu {
    host: String,
    command_ns: u64,
}

impl Cpu {
    /// As the file of a host says.
    fn of(name: &str) -> Result<Self> {
        let host = crate::catalogue::host(name)?;
        if host.volume_command_ns == 0 {
            return Err(Error::input(
                "its file has no `volume_command_us`; take another, as in linux-6.1, or a file with that figure",
            ));
        }
        Ok(Cpu { host: host.name, command_ns: host.volume_command_ns })
    }
}

impl Rig for KernelRig {
    fn name(&self) -> &'static str {
        KIND.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { lanes: self.processors.count, ..(KIND.capabilities)() }
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn doubts(&self, plan: &Plan) -> Vec<String> {
        drives::cut_queues(plan).into_iter().collect()
    }

    fn machine(&self) -> Vec<(String, String)> {
        vec![
            ("kernel".into(), self.kernel.version.clone()),
            ("kernel_configuration".into(), self.kernel.digest.clone()),
            ("guest_memory_mib".into(), self.memory_mib.to_string()),
            (
                "cpu_cost".into(),
                match &self.cpu {
                    None => "none: the guest's processor takes no time".into(),
                    Some(Cpu { host, command_ns }) => {
                        let us = *command_ns as f64 / 1000.0;
                        format!(
                            "{us} us for each command to a drive, of {host}; nothing else takes time"
                        )
                    }
                },
            ),
        ]
    }

    fn admit(&self, trial: &Trial) -> Result<()> {
        check_no_log(&trial.setup)?;
        guest::admit(trial)?;
        if let Some(fault) = &trial.setup.fault {
            fault.check(&trial.setup.volume)?;
        }
        restore::check(trial)?;
        if let Some(trace) = trial.trace() {
            return Err(Error::input(format!(
                "`workload.{}` replays a trace, which works only on sim so far; leave out `--on`",
                trace.name
            )));
        }
        check_no_search(trial)?;
        check_queues(trial)?;
        let is_direct = |work: &Requests| work.keys.direct;
        if trial.requests().any(is_direct) && !trial.requests().all(is_direct) {
            return Err(Error::input(
                "`direct` = false beside a workload that is direct works only on sim so far; give all of the group one",
            ));
        }
        Drives::of(trial).map(drop)
    }

    fn impossible(&self, trial: &Trial) -> Option<String> {
        let of_queues = || check_queues(trial).err().map(|error| error.to_string());
        guest::impossible(trial).or_else(of_queues)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        guest::samples(trial)
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        Ok(Box::new(Ready { rig: self, trial, stop: None }))
    }

    /// What a guest says that it cannot do is the matter of its cell: the next trial has a kernel of its own.
    fn after_failure(&self, trial: &Trial, error: Error) -> Result<Error> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.contains(&trial.number) { Ok(error) } else { Err(error) }
    }
}

impl KernelRig {
    /// Boots a kernel with the drives of `trial`, and serves it to its end.
    fn boot(&self, trial: &Trial, stop: Option<&Stop>, with: With, job: &[u8]) -> Result<Report> {
        let mut drives = Drives::of(trial)?;
        if let Some(cpu) = &self.cpu {
            drives = drives.charged(cpu.command_ns);
        }
        let directory = tempfile::tempdir()
            .map_err(|error| Error::failure(format!("cannot make a directory: {error}")))?;
        let taken = self.processors.take();
        let guest = Guest {
            kernel: self.kernel.path.clone(),
            directory: directory.path().into(),
            memory_mib: self.memory_mib,
            init: self.program.clone(),
            arguments: vec![guest::COMMAND.into(), drives.control()],
            queue_depth: drives.queue_depth,
            processor: Some(taken.processor),
            limit: self.limit,
        };
        let mut is_stopped = false;
        let mut keep_on = || {
            is_stopped = stop.is_some_and(|stop| stop());
            if is_stopped {
                return Err(uml::Error::new("the trial was stopped"));
            }
            if self.stopped.load(Ordering::SeqCst) {
                return Err(uml::Error::new("the run was interrupted"));
            }
            Ok(())
        };
        let specs = drives.specs.clone();
        let report = guest.run(&specs, with, job, &mut *drives.device, &mut keep_on);
        if is_stopped && report.is_err() {
            return Err(stopped());
        }
        report.map_err(|error| of_end(&error.to_string(), self.memory_mib))
    }
}

/// What a kernel's end says, and what to do about it where that is known. Results of kernels with more memory and with less
/// are not of one run.
fn of_end(error: &str, memory_mib: u64) -> Error {
    let lacks_memory =
        ["deadlocked on memory", "Out of memory"].iter().any(|is| error.contains(is));
    if !lacks_memory {
        return Error::failure(error);
    }
    Error::Setup(format!(
        "{error}; it had {memory_mib} MiB: run again with more (`--guest-memory {}MiB`) and another directory, or keep less \
         in flight",
        2 * memory_mib
    ))
}

/// A trial whose kernel is about to be booted.
struct Ready<'a> {
    rig: &'a KernelRig,
    trial: &'a Trial,
    /// Whether to stop before the end.
    stop: Option<Stop>,
}

impl Prepared for Ready<'_> {
    fn stop_when(&mut self, stop: Stop) {
        self.stop = Some(stop);
    }

    fn measure(&mut self) -> Result<Measured> {
        let began_s = super::sim::cpu_s();
        let (rig, trial) = (self.rig, self.trial);
        let cuts = trial.works().find_map(Work::cuts);
        let faults = trial.setup.fault.iter().map(FaultSetup::of_disks).collect();
        let with = With { media: Vec::new(), is_recorded: cuts.is_some(), faults };
        let job = Job::new(&rig.experiment, trial).to_bytes()?;
        let report = rig.boot(trial, self.stop.as_ref(), with, &job)?;
        let answer = report.answer.as_deref().ok_or_else(|| {
            Error::Setup(
                "the kernel ended and its guest gave no answer; if it lacked memory, run again with more \
                 (`--guest-memory 2GiB`) and another directory"
                    .into(),
            )
        })?;
        let answer = Answer::from_bytes(answer)?;
        let requests = answer.all_requests();
        let mut measured = answer.measured().inspect_err(|_| {
            rig.refused.lock().unwrap_or_else(PoisonError::into_inner).insert(trial.number);
        })?;
        told::add(&mut measured, &report.window, requests);
        if let (Some(cuts), Some(recording)) = (cuts, &report.recording) {
            cuts::add(self, cuts, &report.window, recording, &mut measured)?;
        }
        if rig.keeps_trace {
            measured.kept.extend(block_trace::texts(&report.window.trace));
        }
        measured.cpu_s = super::sim::cpu_s() - began_s;
        Ok(measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one guest cannot do ended the run; what ends a kernel still does.
    #[test]
    fn what_a_guest_refuses_is_the_matter_of_its_trial() {
        let text = "volume = { drives = \"2xmd-hdd\", level = \"md-stripe\" }\n\
                    workload.w = { kind = \"random\", count = 10 }\n[run]\nrepeats = 2\n";
        let experiment = Experiment::parse("x.toml", text).unwrap();
        let plan = Plan::new(&experiment).unwrap();
        let nowhere = PathBuf::from("nowhere");
        let rig = KernelRig {
            kernel: Kernel { path: nowhere.clone(), version: "6.1".into(), digest: "0".into() },
            program: nowhere.clone(),
            memory_mib: 512,
            limit: Duration::ZERO,
            experiment,
            keeps_trace: false,
            cpu: None,
            processors: Box::leak(Box::new(Processors::new(vec![0], nowhere))),
            stopped: Arc::default(),
            warnings: Vec::new(),
            refused: Mutex::new(BTreeSet::from([1])),
        };
        let after = |trial| rig.after_failure(&plan.trials[trial], Error::failure("said so"));
        assert!(after(0).is_err());
        assert_eq!(after(1).unwrap().to_string(), "said so");
    }

    #[test]
    fn a_kernel_that_lacks_memory_says_what_to_give() {
        let said = of_end("Kernel panic: System is deadlocked on memory", 512);
        assert!(
            matches!(&said, Error::Setup(message) if message.ends_with(
                "it had 512 MiB: run again with more (`--guest-memory 1024MiB`) and another directory, or keep less in flight"
            )),
            "{said}"
        );
        let other = of_end("Kernel panic: something else", 512);
        assert!(
            matches!(&other, Error::Failure(message) if message == "Kernel panic: something else")
        );
    }
}
