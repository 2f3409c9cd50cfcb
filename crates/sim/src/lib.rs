//! WHEN a request is served: drives, arrays and hosts in virtual time.
//!
//! A [`Device`] never asks for the time, never waits and never starts a thread: its driver passes
//! `now`. Driven as fast as possible, it is a simulation; driven by the wall clock, it is a drive. One
//! thread, one seed, integer nanoseconds: the same run twice gives the same bytes.

pub mod array;
pub mod bus;
pub mod cloud;
pub mod contract;
pub mod device;
pub mod drive;
pub mod flash;
pub mod fs;
pub mod host;
pub mod ideal_flash;
pub mod latency;
pub mod linux;
pub mod rack;
pub mod raid_controller;
pub mod run;
pub mod server;
pub mod shelf;
pub mod smr;
pub mod spent;
pub mod spiral;
pub mod workload;
pub mod wrapper;

mod boxed;
mod by_number;
mod damage;
mod due;
mod outbox;
mod progress;

pub use array::{Array, Barrier, CopyChoice, MemberKind, Rebuild};
pub use cloud::CloudVolume;
pub use device::{
    Advance, Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Tag, TargetCounters,
    step_by_step,
};
pub use flash::Flash;
pub use host::{
    BlocksAhead, Charged, Deadline, Delay, Driver, FailWhole, Limiter, Order, PerStripe, Plugs,
    Processor, Programs, Scheduler, Splitter, Throttle, Trace, Traced, Tracer, Turn,
};
pub use rack::Rack;
pub use raid_controller::{RaidController, RaidControllerSpec};
pub use run::{
    Batch, Batches, Direction, Ended, Outcome, Recorded, Recorder, StreamOutcome, run, run_jobs,
    run_on, run_unless, run_until, settle,
};
pub use server::Server;
pub use shelf::Shelf;
pub use smr::Smr;
pub use spent::{Part, PartName, Spent};
