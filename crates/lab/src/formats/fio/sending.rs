//! fio's `ioengine`, with the options that change what a request takes by it.

use super::job::Job;
use crate::workload::Engine;

/// By what a job sends.
#[derive(Clone, Debug, Default)]
pub(super) struct Sending {
    /// `ioengine`, where it says one.
    pub(super) ioengine: Option<String>,
    /// `fixedbufs`: the buffers are registered.
    pub(super) has_fixed_buffers: bool,
    /// `hipri`: it polls for completions.
    pub(super) polls: bool,
    /// `sqthread_poll`: a thread of the kernel submits.
    pub(super) by_thread: bool,
}

impl Sending {
    /// fio's name of it; without a word fio takes psync.
    pub(super) fn name(&self) -> &str {
        self.ioengine.as_deref().unwrap_or("psync")
    }

    /// The engine whose figures are its.
    pub(super) fn engine(&self) -> Option<Engine> {
        match self.name() {
            "io_uring" if self.by_thread => Some(Engine::IoUringSqpoll),
            "io_uring" if self.polls => Some(Engine::IoUringPolled),
            "io_uring" if self.has_fixed_buffers => Some(Engine::IoUring),
            "io_uring" => Some(Engine::IoUringPlain),
            "libaio" => Some(Engine::Libaio),
            // Each is one system call for one request; pvsync2 can poll, of which there is no figure.
            "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" if !self.polls => Some(Engine::Psync),
            "spdk" => Some(Engine::Spdk),
            _ => None,
        }
    }

    /// Whether it is `io_uring`, in whatever way.
    pub(super) fn is_io_uring(&self) -> bool {
        self.ioengine.as_deref() == Some("io_uring")
    }
}

/// Those of `jobs` that have an engine: requests that come by the clock take no program's time.
fn sending<'j>(
    jobs: impl Iterator<Item = &'j Job> + Clone,
) -> impl Iterator<Item = &'j Job> + Clone {
    jobs.filter(|job| !job.poisson)
}

/// The engine of all `jobs`, which run together; none where what one of them takes is not known, or they differ.
pub(super) fn of_all<'j>(jobs: impl Iterator<Item = &'j Job> + Clone) -> Option<Engine> {
    let mut jobs = sending(jobs);
    let first = jobs.clone().next()?.sending.engine();
    let are_alike = jobs.all(|job| job.sending.engine() == first);
    first.filter(|_| are_alike)
}

/// What is said of jobs that run together and have no engine in common, or one that nothing is known of.
pub(super) fn unknown<'j>(
    label: &str,
    jobs: impl Iterator<Item = &'j Job> + Clone,
) -> Option<String> {
    let mut jobs = sending(jobs);
    let taken = "requests are taken as by io_uring with registered buffers (docs/md.md, Programs)";
    let unnamed = jobs.clone().find(|job| job.sending.engine().is_none());
    if let Some(job) = unnamed {
        let (line, name) = (job.line, &job.name);
        let engine = job.sending.name();
        let polls = if job.sending.polls { " with `hipri`" } else { "" };
        return Some(format!(
            "{label}:{line}: [{name}]: nothing is known of what `ioengine={engine}`{polls} takes; {taken}"
        ));
    }
    let first = jobs.next()?;
    let other = jobs.find(|job| job.sending.engine() != first.sending.engine())?;
    Some(format!(
        "{label}:{}: [{}] and [{}] run together and send by different engines, and the model has one for all; {taken}",
        other.line, first.name, other.name
    ))
}
