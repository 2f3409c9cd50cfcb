//! A measured trace, and what a model took for the same requests.

/// One request of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// Whether it writes.
    pub writes: bool,
    /// What it took on the drive, in ns.
    pub measured_ns: u64,
}

/// A trace, played to the model of its drive.
#[derive(Clone, Debug)]
pub struct Played {
    /// The trace.
    pub trace: String,
    /// The drive.
    pub drive: String,
    /// Its requests.
    pub requests: Vec<Served>,
    /// What the model took for each, in ns.
    pub exact_ns: Vec<u64>,
    /// The same with the gaps between requests moved by up to half a turn, once for each replay.
    pub moved_ns: Vec<Vec<u64>>,
}
