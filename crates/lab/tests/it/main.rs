//! What is read, laid out and measured, from outside.

/// The disks rig on temporary image files.
#[cfg(target_os = "linux")]
mod disks {
    mod conformance;
    mod guard;
    mod guard_recorded;
    mod patterns;
    pub(crate) mod planted;
    mod safety;
    pub(crate) mod support;
    mod suspects;
}
mod buffered;
mod closed;
mod cloud;
mod data_sheet;
mod drawn;
mod flash;
mod formats;
mod large_disks;
mod latencies;
mod laws;
mod mixed;
mod probing;
mod processor;
mod rebuilds;
mod smr;
mod stored;
mod streams;
/// The published tables beside ours, as far as the documentation says that they agree.
mod tables {
    mod brownlee;
    pub(crate) mod results;
    mod tao;
    mod winners;
}
mod validation;
mod vectors;
