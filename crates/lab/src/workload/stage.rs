//! What a program that uses files runs on, and how it is measured.

#[cfg(unix)]
use super::live_stage::LiveStage;
use crate::catalogue::{Host, HostFiles};
use crate::error::{Error, Result};
use sim::Counters;
use sim::fs::{FsError, Lap, Session};
use std::fmt::Debug;
use std::path::Path;

/// A program that uses files, as the keys of its workload say.
pub trait Program: Debug + Send + Sync {
    /// Whether it makes sense on `host`; `path` is the workload's, for messages.
    ///
    /// # Errors
    ///
    /// Why it does not; the message names the key.
    fn admit(&self, path: &str, host: &Host) -> Result<()> {
        let _ = (path, host);
        Ok(())
    }

    /// Runs it, and gives its own samples: those of its kind that are not of every program, in order.
    ///
    /// # Errors
    ///
    /// Where a call fails.
    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>>;

    /// Its own samples on a real file system, in order; none where it runs on modelled ones only.
    fn live_samples(&self) -> &'static [&'static str] {
        &[]
    }

    /// How often power is cut while it runs, where it is.
    fn cuts(&self) -> Option<Cuts> {
        None
    }

    /// Of its first `durable` files below `root`, how many are not as it made them.
    fn lost(&self, root: &Path, durable: u64) -> u64 {
        let _ = (root, durable);
        0
    }

    /// A program of others that it takes for that, and Debian's package that has it.
    fn live_program(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// What it is to do on a real file system, for an estimate of its time; none where nobody knows.
    fn live_toll(&self) -> Option<Toll> {
        None
    }

    /// Runs it on a real file system, and gives its own samples.
    ///
    /// # Errors
    ///
    /// Where a call or a command fails.
    #[cfg(unix)]
    fn run_live(&self, on: &mut LiveStage<'_>) -> Result<Vec<f64>> {
        let _ = on;
        Err(Error::input("it runs on modelled file systems only; leave out `--on disks`"))
    }
}

/// What a program is to do, roughly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Toll {
    /// Bytes that it moves in order.
    pub bytes: u64,
    /// Reads and writes of which each is waited for.
    pub waits: u64,
    /// Calls that memory answers.
    pub calls: u64,
    /// Time that it takes in any case, in s.
    pub seconds: f64,
    /// For a command, of which nothing is known, the longest that it may take, in s.
    pub command_max_s: Option<f64>,
    /// Whether nothing is built around it: no volume and no file system.
    pub is_bare: bool,
}

impl Toll {
    /// Both, one beside the other.
    #[must_use]
    pub(crate) fn and(self, other: Toll) -> Toll {
        let most_s = self.command_max_s.into_iter().chain(other.command_max_s).reduce(f64::max);
        Toll {
            bytes: self.bytes.saturating_add(other.bytes),
            waits: self.waits.saturating_add(other.waits),
            calls: self.calls.saturating_add(other.calls),
            seconds: self.seconds.max(other.seconds),
            command_max_s: most_s,
            is_bare: self.is_bare || other.is_bare,
        }
    }
}

/// Power cuts, evenly over the time that a program takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cuts {
    /// How many.
    pub count: u64,
    /// Whether a member is lost with each.
    pub lose_member: bool,
}

/// What a program runs on.
pub struct Stage<'a> {
    /// The machine, with a file system mounted.
    pub session: &'a mut Session,
    /// What the host's programs cost.
    pub host: &'a HostFiles,
    /// All that is random follows from it.
    pub seed: u64,
    /// What making a file system took before the work that is asked about: on large disks minutes, as inode tables are
    /// written at once, and no part of the work.
    pub made: Made,
}

/// What making a file system took.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// How long.
    pub elapsed_s: f64,
    /// How long the processor worked on it.
    pub work_ns: u64,
    /// What the drives did for it.
    pub counters: Counters,
}

impl Stage<'_> {
    /// Runs one program to its end; gives what it returned, and how long it took.
    ///
    /// # Errors
    ///
    /// Where one of its calls fails.
    pub(super) fn only<T: 'static>(
        &mut self,
        program: impl Future<Output = std::result::Result<T, FsError>> + 'static,
    ) -> Result<(T, Lap)> {
        let (mut results, lap) = self.session.run([program]);
        let result = results.pop().expect("one program has one result");
        result.map(|result| (result, lap)).map_err(failed)
    }

    /// Runs programs side by side to the end of the last.
    ///
    /// # Errors
    ///
    /// Where a call of one of them fails.
    pub(super) fn all(
        &mut self,
        programs: Vec<impl Future<Output = std::result::Result<(), FsError>> + 'static>,
    ) -> Result<Lap> {
        let (results, lap) = self.session.run(programs);
        results.into_iter().collect::<std::result::Result<(), _>>().map_err(failed)?;
        Ok(lap)
    }
}

/// The program's call failed.
pub(super) fn failed(error: FsError) -> Error {
    match error {
        FsError::Io => Error::input(format!("the program failed: {error}")),
        _ => {
            Error::input(format!("the program failed: {error}; take a larger volume or less work"))
        }
    }
}

/// The processor's share of a lap, in percent.
pub(super) fn cpu_percent(lap: &Lap) -> f64 {
    100.0 * lap.work_s / lap.elapsed_s
}

/// The rate of a lap in which `bytes` were moved, in MB/s.
pub(super) fn mb_per_s(bytes: u64, lap: &Lap) -> f64 {
    bytes as f64 / 1e6 / lap.elapsed_s
}
