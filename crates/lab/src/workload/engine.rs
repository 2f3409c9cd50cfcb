//! By what programs send direct requests to the kernel, or past it.

use super::open::Arrivals;
use super::requests::{RequestKeys, Requests};
use crate::error::{Error, Result};
use crate::keys::{Section, words};

words! {
    /// By what a program sends direct requests.
    pub enum Engine {
        /// `io_uring` with registered buffers (fio's `fixedbufs`).
        IoUring = "io_uring",
        /// `io_uring` without them.
        IoUringPlain = "io_uring-plain",
        /// `io_uring` that polls for completions (fio's `hipri`).
        IoUringPolled = "io_uring-polled",
        /// `io_uring` with a thread of the kernel that submits (fio's `sqthread_poll`).
        IoUringSqpoll = "io_uring-sqpoll",
        /// `io_submit(2)`.
        Libaio = "libaio",
        /// `pread(2)` and `pwrite(2)`, one request after the other.
        Psync = "psync",
        /// SPDK, which drives `NVMe` devices itself.
        Spdk = "spdk",
    }
}

impl Engine {
    /// Whether the kernel leaves to workers what it cannot take at once.
    pub(crate) fn has_workers(self) -> bool {
        use Engine::{IoUring, IoUringPlain, IoUringPolled, IoUringSqpoll};
        matches!(self, IoUring | IoUringPlain | IoUringPolled | IoUringSqpoll)
    }
}

/// Jobs, and programs of each, that a workload takes at most.
pub(super) const LOADS_MAX: u64 = 4096;

impl Requests {
    /// Whether by any engine these requests could be sent: not those through the page cache, nor those that come by the clock.
    pub(crate) fn takes_engine(&self) -> bool {
        self.keys.direct && self.keys.arrivals == Arrivals::Closed
    }

    /// Whether an engine, where one is named, can send these requests.
    ///
    /// # Errors
    ///
    /// Where it cannot; the message names the key.
    pub(super) fn check_engine(keys: &RequestKeys, section: &Section<'_>) -> Result<()> {
        let Some(engine) = keys.engine else { return Ok(()) };
        if !keys.direct {
            return Err(Error::input(format!(
                "`{}` applies only with direct I/O, and `direct = false` goes through the page cache; leave one of them out",
                section.path("engine")
            )));
        }
        if engine == Engine::Psync && keys.depth > keys.programs {
            let all = keys.depth.saturating_mul(keys.jobs);
            let jobs = if all <= LOADS_MAX {
                format!("write `depth = 1` and `jobs = {all}`, or as many `programs` as `depth`")
            } else {
                format!("give as many `programs` as `depth`, at most {LOADS_MAX}")
            };
            return Err(Error::input(format!(
                "`{}` = {}: a program that uses psync has one request in flight; for {all} of them {jobs}, or take \
                 `engine = \"libaio\"`",
                section.path("depth"),
                keys.depth,
            )));
        }
        Ok(())
    }
}
