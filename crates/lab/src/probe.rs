//! Probes a rotating disk by reads alone: which reads, and what follows from their times.
//!
//! ```text
//! reader     reads, and the angle at which a sector passes the head
//! rotation   whether it rotates, and the time of a revolution
//! buffer     hits: their time, how many segments, what is kept and read ahead, the bus
//! tracks     where tracks start around a place, and their skews
//! zones      the zones, one after the other, and their borders
//! layout     sector → cylinder, track and angle, of what was found
//! seeks      the time to reach a sector by distance
//! check      random and sequential reads that nothing is fitted to
//! result     what was found, with all reads, as JSON
//! fit        what was found → a drive file; the reads of `check` on that drive
//! modelled   a drive of the catalogue in virtual time, to probe and to predict with
//! ```
//!
//! Nothing here knows a clock: a [`Disk`] is told when to read and says when that was, and when it was done. So a
//! modelled drive in virtual time and a real one (`rig::disks`) are probed by the same code. docs/drives.md has the
//! methods, their sources and what they find on modelled drives.

mod buffer;
mod check;
mod fit;
mod layout;
mod modelled;
mod reader;
mod result;
mod rotation;
mod seeks;
mod tracks;
mod zones;

pub use fit::{Check, DiskFit, fit};
pub use modelled::Modelled;
pub use result::{Buffer, Found, Policy, Probed, Seeks, Step, ZoneFound, read};

use crate::error::Result;
use reader::Reader;
use sim::Nanos;

/// Something to probe.
pub trait Disk {
    /// Its name, for messages.
    fn name(&self) -> &str;

    /// Sectors of 512 bytes.
    fn sectors(&self) -> u64;

    /// The sectors that are read together at least.
    fn unit(&self) -> u32;

    /// Reads `sectors` from `lba` on, not before `not_before`, and waits until they are there.
    ///
    /// # Errors
    ///
    /// Where they cannot be read.
    fn read(&mut self, not_before: Nanos, lba: u64, sectors: u32) -> Result<Timed>;
}

/// When a read began and was done, in ns since any moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// When it was sent.
    pub issued: Nanos,
    /// When its data were there.
    pub done: Nanos,
}

impl Timed {
    /// From one to the other.
    pub fn service(self) -> Nanos {
        self.done - self.issued
    }
}

/// Probes `disk`. `tell` is told what comes next.
///
/// # Errors
///
/// Where it cannot be read, does not rotate, or its tracks are not found.
pub fn probe(disk: &mut dyn Disk, tell: &mut dyn FnMut(&str)) -> Result<Probed> {
    let mut reader = Reader::new(disk)?;
    tell("whether it rotates");
    let random_ns = rotation::moves(&mut reader)?;
    tell("hits and segments");
    let kept = buffer::kept(&mut reader, random_ns)?;
    tell("revolution");
    let revolution_ns = rotation::revolution(&mut reader)?;
    tell("zones and skews");
    let zones = zones::find(&mut reader)?;
    let mut layout = layout::Layout::new(&zones, reader.unit, revolution_ns);
    tell("seeks");
    let seeks = seeks::find(&mut reader, &mut layout)?;
    tell("buffer, read-ahead and bus");
    let buffer = buffer::find(&mut reader, &layout, kept, &seeks)?;
    tell("reads to check with");
    check::reads(&mut reader)?;
    let found = Found { revolution_ns, zones, seeks, buffer };
    Ok(reader.into_result(found))
}
