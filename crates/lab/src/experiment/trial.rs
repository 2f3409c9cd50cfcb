//! A trial: a cell, what it runs on, what it runs.

use super::fault::FaultSetup;
use super::volume::{Member, Volume};
use crate::catalogue::{Drive, Host, Shared, shared};
use crate::file_system::FilesSetup;
use crate::keys::Value;
use crate::workload::{Engine, Replayed, Requests, Work};
use std::sync::Arc;

/// One cell, one repeat.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its place in the plan.
    pub number: usize,
    /// The cell that it belongs to.
    pub cell: Cell,
    /// Which repeat, from 0.
    pub repeat: u64,
    /// All that is random in it follows from this. Trials of a workload's cells with the same repeat have
    /// the same seed, so that cells can be compared in pairs.
    pub seed: u64,
    /// What it runs on.
    pub setup: Arc<Setup>,
    /// What it runs.
    pub work: Work,
    /// What runs beside it, where it is the first of a group.
    pub beside: Vec<Work>,
    /// Half of the interval of throughput at which it ends unless its requests do, as a share of it.
    pub precision: f64,
}

impl Trial {
    /// All that it runs.
    pub fn works(&self) -> impl Iterator<Item = &Work> {
        std::iter::once(&self.work).chain(&self.beside)
    }

    /// All that it asks of the volume itself.
    pub fn requests(&self) -> impl Iterator<Item = &Requests> {
        self.works().filter_map(Work::requests)
    }

    /// The trace that it replays, if it does.
    pub fn trace(&self) -> Option<&Replayed> {
        self.works().find_map(Work::trace)
    }

    /// Which window of a trace it replays, from 1, where it is one of several.
    pub fn window(&self) -> Option<u64> {
        Some(self.trace()?.part?.number)
    }

    /// Whether it is the first of its cell.
    pub fn is_first(&self) -> bool {
        self.repeat == 0 && self.window().is_none_or(|number| number == 1)
    }
}

/// A workload and one value of each factor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The workload's or group's place in the file.
    pub workload_index: usize,
    /// The workload's or group's name.
    pub workload: String,
    /// The factors' values, by key path.
    pub at: Vec<(String, Value)>,
}

/// What a trial runs on.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The host as modelled; the ideal one, which costs nothing, where the host is real.
    pub host: Host,
    /// The volume.
    pub volume: Volume,
    /// The volume that a log has to itself beside it, if it has one.
    pub log: Option<Volume>,
    /// The file system on the volume, if there is one.
    pub files: Option<FilesSetup>,
    /// What goes wrong with a member, if anything does.
    pub fault: Option<FaultSetup>,
    /// By what programs send direct requests, where the experiment says so.
    pub engine: Option<Engine>,
}

impl Setup {
    /// All drives: the volume's, and those of its log.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        let log = self.log.iter().flat_map(|log| &log.members);
        self.volume.members.iter().chain(log)
    }

    /// The limits that its volume's members share because volumes of their kind on one machine do.
    pub fn shared_limits(&self) -> Vec<Shared> {
        let drives = self.volume.members.iter().filter_map(Member::drive);
        let drives: Vec<&Drive> = drives.map(|drive| &**drive).collect();
        // A real member has no limits that are modelled, and there are no others beside it.
        if drives.len() == self.volume.members.len() { shared(&drives) } else { Vec::new() }
    }
}
