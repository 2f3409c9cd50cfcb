//! What the engines take by which programs send direct requests.

use crate::catalogue::declare::figures;
use crate::catalogue::figure::{Shape, figure, time_us};
use crate::workload::Engine;

/// What is said of an engine that a host's file does not have.
const UNKNOWN: &str = "not known: that engine changes nothing";

/// What a way may add to a request, in us; less than nothing where it is shorter than the one that drives were measured by.
const fn way_us() -> Shape {
    Shape::Number(-1000.0..=1000.0)
}

figures! {
    /// The figures of engines: for each the processor time of a request, and what the way to the drive and back adds to the time
    /// that the drive's file says of a command alone.
    #[expect(clippy::struct_field_names, reason = "all are times")]
    pub(in crate::catalogue) struct EngineFigures {
        /// time that `io_uring` with registered buffers adds to the drive's own time of a request
        io_uring_way_us: Option<f64> = figure("io_uring_way_us", "us", way_us()).or(UNKNOWN),
        /// CPU time per request by `io_uring` without registered buffers, instead of `program_request_us`
        plain_request_us: Option<f64> = figure("io_uring_plain_request_us", "us", time_us()).or(UNKNOWN),
        /// time that `io_uring` without registered buffers adds to the drive's own time of a request
        plain_way_us: Option<f64> = figure("io_uring_plain_way_us", "us", way_us()).or(UNKNOWN),
        /// CPU time per request by `io_uring` that polls for completions (fio's `hipri`), instead of `program_request_us`
        polled_request_us: Option<f64> = figure("io_uring_polled_request_us", "us", time_us()).or(UNKNOWN),
        /// time that `io_uring` that polls for completions (fio's `hipri`) adds to the drive's own time of a request
        polled_way_us: Option<f64> = figure("io_uring_polled_way_us", "us", way_us()).or(UNKNOWN),
        /// CPU time per request by `io_uring` with a thread of the kernel that submits (fio's `sqthread_poll`), instead of `program_request_us`
        sqpoll_request_us: Option<f64> = figure("io_uring_sqpoll_request_us", "us", time_us()).or(UNKNOWN),
        /// time that `io_uring` with a thread of the kernel that submits (fio's `sqthread_poll`) adds to the drive's own time of a request
        sqpoll_way_us: Option<f64> = figure("io_uring_sqpoll_way_us", "us", way_us()).or(UNKNOWN),
        /// CPU time per request by libaio, instead of `program_request_us`
        libaio_request_us: Option<f64> = figure("libaio_request_us", "us", time_us()).or(UNKNOWN),
        /// time that libaio adds to the drive's own time of a request
        libaio_way_us: Option<f64> = figure("libaio_way_us", "us", way_us()).or(UNKNOWN),
        /// CPU time per request by pread(2) and pwrite(2), instead of `program_request_us`
        psync_request_us: Option<f64> = figure("psync_request_us", "us", time_us()).or(UNKNOWN),
        /// time that pread(2) and pwrite(2) add to the drive's own time of a request
        psync_way_us: Option<f64> = figure("psync_way_us", "us", way_us()).or(UNKNOWN),
        /// CPU time per request by SPDK, without the kernel, instead of `program_request_us`
        spdk_request_us: Option<f64> = figure("spdk_request_us", "us", time_us()).or(UNKNOWN),
        /// time that SPDK adds to the drive's own time of a request
        spdk_way_us: Option<f64> = figure("spdk_way_us", "us", way_us()).or(UNKNOWN),
    }
}

impl EngineFigures {
    /// The processor time of a request by `engine`, nothing for the host's own, and what its way adds, in us.
    pub(super) fn of(&self, engine: Engine) -> Option<(Option<f64>, f64)> {
        let (request_us, way_us) = match engine {
            Engine::IoUring => return Some((None, self.io_uring_way_us?)),
            Engine::IoUringPlain => (self.plain_request_us, self.plain_way_us),
            Engine::IoUringPolled => (self.polled_request_us, self.polled_way_us),
            Engine::IoUringSqpoll => (self.sqpoll_request_us, self.sqpoll_way_us),
            Engine::Libaio => (self.libaio_request_us, self.libaio_way_us),
            Engine::Psync => (self.psync_request_us, self.psync_way_us),
            Engine::Spdk => (self.spdk_request_us, self.spdk_way_us),
        };
        Some((Some(request_us?), way_us?))
    }
}
