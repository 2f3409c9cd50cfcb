//! What a trial runs: the kinds of workload, one file each.
//!
//! A kind's file has its keys, the struct that they are read into, what it builds, and the names of its
//! samples. To add one, write that file and name it in [`KINDS`].
//!
//! ```text
//! requests   dd sequential strided random       requests to the volume itself
//! open       when they come by the clock, and where to
//! trace      requests as somebody else made them
//! stage      touch iozone bonnie newfs nfs untar spool fsck memory log mail  programs that use files
//! command fio power_cut          the same, on real systems only
//! live live_stage                the programs on a mounted file system, by system calls
//! trees      what untar and fsck unpack
//! ```

mod bonnie;
mod command;
mod dd;
mod engine;
mod fio;
mod fsck;
mod iozone;
#[cfg(unix)]
pub mod live;
#[cfg(unix)]
mod live_stage;
mod log;
mod mail;
mod memory;
mod newfs;
mod nfs;
mod open;
mod power_cut;
mod random;
mod requests;
mod sequential;
mod spool;
mod stage;
mod strided;
mod touch;
mod trace;
mod trees;
mod untar;

pub use engine::Engine;
pub use fio::Pattern;
#[cfg(target_os = "linux")]
pub(crate) use live_stage::from_memory_percent;
#[cfg(unix)]
pub use live_stage::{Ground, LiveLap, LiveStage, Moved};
pub use open::{Arrivals, Capacity};
pub use requests::{Budget, Op, RequestKeys, Requests, Sizes};
pub use stage::{Cuts, Made, Program, Stage, Toll};
pub use trace::{KnownTraces as Traces, Replay, Replayed, TracePart};
pub use trees::Trees;

use crate::error::Result;
use crate::keys::{Key, Section, Takes, keys, label, load};
use std::sync::Arc;

/// All kinds, in the order in which they are listed.
pub static KINDS: &[&Kind] = &[
    &dd::KIND,
    &sequential::KIND,
    &strided::KIND,
    &random::KIND,
    &touch::KIND,
    &iozone::KIND,
    &bonnie::KIND,
    &newfs::KIND,
    &nfs::KIND,
    &untar::KIND,
    &spool::KIND,
    &fsck::KIND,
    &memory::KIND,
    &log::KIND,
    &mail::KIND,
    &command::KIND,
    &fio::KIND,
    &power_cut::KIND,
    &trace::KIND,
];

/// A kind of workload.
#[derive(Debug)]
pub struct Kind {
    /// The word that `kind` takes.
    pub name: &'static str,
    /// What it does, for people.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [&'static [Key]],
    /// The names of its samples, in order; layouts are judged by the first. None where they depend on what
    /// is asked, as those of requests do.
    pub samples: &'static [&'static str],
    /// What it builds.
    pub build: Build,
}

/// What a kind builds from its keys.
#[derive(Clone, Copy, Debug)]
pub enum Build {
    /// Requests to the volume itself; the text is the workload's name.
    Requests(fn(&str, &Section<'_>) -> Result<Requests>),
    /// A trace of requests to the volume itself.
    Trace(fn(&str, &Section<'_>, &mut Traces) -> Result<Replayed>),
    /// A program that uses files.
    Program(fn(&Section<'_>, &mut Trees) -> Result<Arc<dyn Program>>),
}

impl Kind {
    /// The kind of this name.
    pub fn find(name: &str) -> Option<&'static Kind> {
        KINDS.iter().copied().find(|kind| kind.name == name)
    }

    /// Whether it uses files, and not the volume itself.
    pub fn uses_files(&self) -> bool {
        matches!(self.build, Build::Program(_))
    }

    /// Whether it has a key of this name.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().copied().flatten().any(|known| known.name == key)
    }
}

/// What `kind` takes.
const KIND: Takes = Takes::Name {
    names: || KINDS.iter().map(|kind| kind.name).collect(),
    also: Vec::new,
    read: |text| Kind::find(text).map(|kind| kind.name),
};

keys! {
    /// The keys of every workload.
    pub struct Common {
        /// Kind of workload
        kind: &'static Kind = load("kind", KIND).default("dd"),
        /// Workloads of the same group run side by side as one, which has the group's name
        group: Option<String> = label("group", Takes::Text),
        /// Workload that this one is judged as: the same work on another volume
        same_as: Option<String> = label("same_as", Takes::Text),
    }
}

impl crate::keys::FromValue for &'static Kind {
    fn from_value(value: &crate::keys::Value) -> Option<Self> {
        Kind::find(&value.to_string())
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Kind {}

/// What a workload of an experiment runs.
#[derive(Clone, Debug)]
pub enum Work {
    /// Requests to the volume itself.
    Requests(Box<Requests>),
    /// Requests of a trace.
    Trace(Box<Replayed>),
    /// A program that uses files.
    Program {
        /// The workload's name.
        name: String,
        /// Its kind.
        kind: &'static Kind,
        /// What it runs.
        program: Arc<dyn Program>,
    },
}

impl Work {
    /// What the workload `name` runs, whose keys `section` has.
    ///
    /// # Errors
    ///
    /// Where what its keys say makes no sense together; the message names the keys.
    pub fn read(
        name: &str,
        section: &Section<'_>,
        trees: &mut Trees,
        traces: &mut Traces,
    ) -> Result<Self> {
        let kind = Common::read(section).kind;
        Ok(match kind.build {
            Build::Requests(build) => Work::Requests(Box::new(build(name, section)?)),
            Build::Trace(build) => Work::Trace(Box::new(build(name, section, traces)?)),
            Build::Program(build) => {
                Work::Program { name: name.into(), kind, program: build(section, trees)? }
            }
        })
    }

    /// The parts of it that are trials of their own: windows of a trace, and otherwise itself.
    pub(crate) fn parts(self) -> Vec<Work> {
        match self {
            Work::Trace(trace) => {
                trace.windows().into_iter().map(|window| Work::Trace(Box::new(window))).collect()
            }
            Work::Requests(_) | Work::Program { .. } => vec![self],
        }
    }

    /// Requests without an end of their own go no further than `budget`.
    pub(crate) fn limit(&mut self, budget: Budget) {
        if let Work::Requests(requests) = self {
            requests.budget = budget;
        }
    }

    /// The workload's name.
    pub fn name(&self) -> &str {
        match self {
            Work::Requests(requests) => &requests.name,
            Work::Trace(trace) => &trace.name,
            Work::Program { name, .. } => name,
        }
    }

    /// Its requests, unless it uses files.
    pub fn requests(&self) -> Option<&Requests> {
        match self {
            Work::Requests(requests) => Some(requests),
            Work::Trace(_) | Work::Program { .. } => None,
        }
    }

    /// The trace that it replays, if it does.
    pub fn trace(&self) -> Option<&Replayed> {
        match self {
            Work::Trace(trace) => Some(trace),
            Work::Requests(_) | Work::Program { .. } => None,
        }
    }

    /// How often power is cut while it runs, where it is.
    pub fn cuts(&self) -> Option<Cuts> {
        match self {
            Work::Program { program, .. } => program.cuts(),
            Work::Requests(_) | Work::Trace(_) => None,
        }
    }

    /// Whether it changes what the volume holds.
    pub fn writes(&self) -> bool {
        match self {
            Work::Requests(requests) => requests.writes(),
            Work::Trace(trace) => trace.writes(),
            Work::Program { .. } => true,
        }
    }
}
