//! What the answer depends on, each as a range with its source.

use crate::Copied;
use crate::afr;
use crate::events::Scrub;
use crate::members::Own;
use serde::Serialize;

/// The best of it, the middle and the worst.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// As things go well.
    pub low: f64,
    /// Between.
    pub middle: f64,
    /// As they go badly.
    pub high: f64,
}

impl Range {
    /// The same throughout.
    pub fn fixed(value: f64) -> Self {
        Range { low: value, middle: value, high: value }
    }

    /// Multiples of `value`.
    pub fn of(value: f64, low: f64, middle: f64, high: f64) -> Self {
        Range { low: low * value, middle: middle * value, high: high * value }
    }

    /// The values, the best first.
    pub fn values(&self) -> [f64; 3] {
        [self.low, self.middle, self.high]
    }
}

/// A range, and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sourced {
    /// The range.
    #[serde(flatten)]
    pub range: Range,
    /// Where it comes from.
    pub source: String,
}

impl Sourced {
    /// What the person asked for.
    pub fn given(value: f64) -> Self {
        Sourced { range: Range::fixed(value), source: "as given".into() }
    }
}

/// What the answer is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// Failures of a drive in a year.
    pub afr: Sourced,
    /// From the start of a rebuild to its end, in hours.
    pub rebuild_h: Sourced,
    /// From a failure to the start of the rebuild, in hours, where no spare is ready.
    pub delay_h: Sourced,
    /// Episodes of bad sectors of a drive in a year, as fleets see them.
    pub bad_sectors: Sourced,
    /// Unreadable bits per bit read, as data sheets have them.
    pub per_bit: f64,
    /// Hours between scrubs; `None` for none.
    pub scrub_h: Option<f64>,
    /// How much likelier a failure is while a shelf-mate is down.
    pub correlation: Sourced,
    /// Crashes and power cuts in a year.
    pub crashes: Sourced,
    /// Spares that are ready.
    pub spares: usize,
    /// Hours until another is, once one was used.
    pub reordered_h: f64,
    /// Whether a member is flash, which may keep two copies of a block in one place.
    pub is_flash: bool,
    /// Bytes of a drive.
    pub drive_bytes: f64,
    /// For so many years.
    pub years: f64,
    /// What each member has, where they are not all alike; [`afr`](Self::afr) and
    /// [`bad_sectors`](Self::bad_sectors) are then their means.
    pub members: Vec<Own>,
    /// Whether a write-intent bitmap says where parity may be wrong after a crash, as md's default is for arrays of such sizes.
    pub has_bitmap: bool,
    /// What limits the rebuild, in words, where that is the host.
    pub limited_by_host: Option<String>,
}

/// A drive as failures see it.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveFacts {
    /// All that people call it.
    pub names: Vec<String>,
    /// What it holds.
    pub bytes: u64,
    /// At what it is copied, in bytes a second: at its start and at its end, in equal steps of time between them.
    pub copied: Copied,
    /// Whether it is flash.
    pub is_flash: bool,
    /// Whether it is a disk whose tracks overlap, and that rewrites bands of them.
    pub is_shingled: bool,
    /// What of a provider it is; nothing where it is one's own.
    pub rented: Option<Rented>,
}

/// What of a provider a drive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rented {
    /// A volume, of which the provider keeps copies.
    Volume,
    /// A disk of a machine, which nobody can replace alone.
    OfInstance,
}

/// md's `speed_limit_max` as Linux comes, in bytes a second: 200,000 KiB.
pub const MD_BYTES_PER_S: f64 = 204_800_000.0;

/// Where that is the limit; and what is said in its place of ZFS, which has no such limit but restores in no order.
const AT_MD_LIMIT: &str = ", md's speed_limit_max";
const OF_RESILVER: &str = "; ZFS's resilver copies what is in use only, but not in order";

/// What a load that never pauses makes of either: the ranges are those of loads that do.
const STARVED: &str =
    "; a load that never pauses can hold it down to md's speed_limit_min, 1 MB/s by default";
const STARVED_RESILVER: &str = "; a load that never pauses can make it longer still";

/// What data sheets say of nearline disks and flash drives: one unreadable bit in 10^15.
const PER_BIT: f64 = 1e-15;

/// Hours between two scrubs where nothing is said: once a month, as distributions set it up.
const SCRUB_H: f64 = 720.0;

/// Time from a failure to the start of the rebuild where somebody has to come: other calculators take 6, 24 and 48 h.
fn delay() -> Sourced {
    Sourced {
        range: Range { low: 6.0, middle: 24.0, high: 48.0 },
        source: "before the rebuild, without a spare: somebody must replace the drive; 6 h (ceph-tools), 24 h, 48 h (wintelguy)"
            .into(),
    }
}

/// The same of a volume of a provider: another one takes minutes, and who notices counts.
fn delay_of_volume() -> Sourced {
    Sourced {
        range: Range { low: 0.25, middle: 6.0, high: 24.0 },
        source: "before the rebuild, without a spare: another volume takes minutes, but the failure must be noticed; 15 min where a \
                 program does that, 6 h and 24 h where people do; our estimate"
            .into(),
    }
}

/// The same of a disk of a rented machine: the array goes on without it until its data is on another machine.
fn delay_of_instance() -> Sourced {
    Sourced {
        range: delay().range,
        source: "without a spare: nobody can replace one disk of a running instance, and stopping it erases all, so the array goes on \
                 without it until its data is copied to another instance; taken to wait as long as a drive to be replaced; our estimate"
            .into(),
    }
}

/// Hours until a spare that was used is replaced.
const REORDERED_H: f64 = 72.0;

/// Time from a failure to the start of the rebuild where a spare is ready.
fn no_delay() -> Sourced {
    Sourced { range: Range::fixed(0.0), source: "a spare is ready".into() }
}

/// At what a drive is copied whole, in words.
fn copy_source(drive: &DriveFacts, rate: f64) -> String {
    let limit = format!("{:.0} MB/s{AT_MD_LIMIT}", MD_BYTES_PER_S / 1e6);
    let mean = rate / 1e6;
    let source = if rate >= MD_BYTES_PER_S {
        format!("the whole drive at {limit}")
    } else if drive.copied.first > MD_BYTES_PER_S {
        format!("the whole drive at {mean:.0} MB/s on average, nowhere above {limit}")
    } else {
        format!("the whole drive at its own {mean:.0} MB/s")
    };
    source + if drive.copied.is_guessed { "; nobody measured long writes to it" } else { "" }
}

/// Idle copying of the whole drive, and under load.
fn rebuild(idle_h: f64, source: &str) -> Sourced {
    Sourced {
        range: Range::of(idle_h, 1.0, 2.2, 5.0),
        source: format!(
            "{source}; under load 2.2 times (LANL, measured) to 5 times as long (claimed){STARVED}"
        ),
    }
}

/// The same onto a shingled disk: it may take as long as onto any, where it is written in order.
fn rebuild_shingled(idle_h: f64, source: &str) -> Sourced {
    Sourced {
        range: Range::of(idle_h, 1.0, 2.2, 14.0),
        source: format!(
            "{source}; under load 2.2 times as long (LANL, measured); onto a shingled disk, not in order, 14 times \
             (ServeTheHome 2020: ZFS took more than 9 days, where other disks took 16 h){STARVED}"
        ),
    }
}

/// Episodes of bad sectors of a disk in a year.
fn bad_sectors_of_disks() -> Sourced {
    Sourced {
        range: Range { low: 0.01, middle: 0.03, high: 0.09 },
        source: "3 % of nearline disks have bad sectors in a year (NetApp, SIGMETRICS 2007), a third to 3 times that".into(),
    }
}

/// Episodes of uncorrectable errors of a flash drive in a year.
fn bad_sectors_of_flash() -> Sourced {
    Sourced {
        range: Range { low: 0.05, middle: 0.1, high: 0.25 },
        source:
            "20 to 63 % of flash drives had uncorrectable errors in 4 years (Google, FAST 2016)"
                .into(),
    }
}

/// Nothing is known of sectors of a rented volume: what is promised is of whole volumes.
fn bad_sectors_of_rented() -> Sourced {
    Sourced {
        range: Range::fixed(0.0),
        source: "none: a provider keeps and repairs copies of each sector; its promise is about whole volumes".into(),
    }
}

/// How much likelier a second failure is on a shelf.
fn correlation() -> Sourced {
    Sourced {
        range: Range { low: 1.0, middle: 6.0, high: 10.0 },
        source: "a second failure on a shelf: independent, 6 times as likely (NetApp, FAST 2008), 10 times (Chen 1994)".into(),
    }
}

/// How often a machine crashes or loses power.
fn crashes() -> Sourced {
    Sourced {
        range: Range { low: 0.5, middle: 2.0, high: 12.0 },
        source: "crashes a year: our estimate; 12 are Chen's (1994)".into(),
    }
}

impl Inputs {
    /// What is assumed of a drive of which only `drive` is known, with so many spares.
    pub fn of(drive: &DriveFacts, spares: usize) -> Self {
        let names: Vec<&str> = drive.names.iter().map(String::as_str).collect();
        let rate = drive.copied.mean_below(MD_BYTES_PER_S);
        let idle_h = drive.bytes as f64 / rate / 3600.0;
        let source = copy_source(drive, rate);
        Inputs {
            afr: match drive {
                DriveFacts { rented: Some(Rented::Volume), .. } => afr::rented(&names),
                DriveFacts { is_flash: true, .. } => afr::flash(),
                _ => afr::disk(&names),
            },
            rebuild_h: if drive.is_shingled {
                rebuild_shingled(idle_h, &source)
            } else {
                rebuild(idle_h, &source)
            },
            delay_h: match drive {
                _ if spares > 0 => no_delay(),
                DriveFacts { rented: Some(Rented::OfInstance), .. } => delay_of_instance(),
                DriveFacts { rented: Some(Rented::Volume), .. } => delay_of_volume(),
                _ => delay(),
            },
            bad_sectors: match drive {
                DriveFacts { rented: Some(Rented::Volume), .. } => bad_sectors_of_rented(),
                DriveFacts { is_flash: true, .. } => bad_sectors_of_flash(),
                _ => bad_sectors_of_disks(),
            },
            per_bit: if drive.rented == Some(Rented::Volume) { 0.0 } else { PER_BIT },
            scrub_h: Some(SCRUB_H),
            correlation: correlation(),
            crashes: crashes(),
            spares,
            reordered_h: REORDERED_H,
            is_flash: drive.is_flash,
            drive_bytes: drive.bytes as f64,
            years: 5.0,
            members: Vec::new(),
            has_bitmap: true,
            limited_by_host: None,
        }
    }

    /// From a failure to the end of the rebuild, in hours.
    pub fn mttr_h(&self) -> Range {
        let [delay, rebuild] = [self.delay_h.range, self.rebuild_h.range];
        Range {
            low: delay.low + rebuild.low,
            middle: delay.middle + rebuild.middle,
            high: delay.high + rebuild.high,
        }
    }

    /// The same of what ZFS lays out, of which md's limits say nothing.
    #[must_use]
    pub fn resilvered(mut self) -> Self {
        let source = self.rebuild_h.source.replace(AT_MD_LIMIT, OF_RESILVER);
        self.rebuild_h.source = source.replace(STARVED, STARVED_RESILVER);
        self
    }

    /// The same where `bytes` pass a limit of so many a second until a member is rebuilt: no faster than that.
    #[must_use]
    pub fn through(mut self, bytes: f64, per_s: f64) -> Self {
        let hours = bytes / per_s / 3600.0;
        let own = self.rebuild_h.range;
        if hours > own.low {
            let by = format!(
                "{:.1} TB in all at a shared limit of {:.0} MB/s",
                bytes / 1e12,
                per_s / 1e6
            );
            let limited = rebuild(hours, &by);
            let least = limited.range;
            let range = Range {
                low: own.low.max(least.low),
                middle: own.middle.max(least.middle),
                high: own.high.max(least.high),
            };
            self.rebuild_h = Sourced { range, ..limited };
            self.limited_by_host = Some(by);
        }
        self
    }

    /// The same where a failed drive is replaced after so many hours. Without a spare the rebuild begins then; with one it begins at
    /// once, and another spare is ready then.
    #[must_use]
    pub fn replaced_after(mut self, hours: f64) -> Self {
        if self.spares == 0 {
            self.delay_h = Sourced::given(hours);
        }
        self.reordered_h = hours;
        self
    }

    /// How the simulation scrubs.
    pub fn scrub(&self) -> Scrub {
        self.scrub_h.map_or(Scrub::Never, Scrub::Every)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody replaces one disk of a running instance, and another volume takes minutes; both had "somebody must replace the drive".
    #[test]
    fn a_cloud_s_drives_wait_for_what_there_is_to_wait_for() {
        let delay = |rented: Option<Rented>, spares: usize| {
            let drive = DriveFacts {
                names: Vec::new(),
                bytes: 1 << 40,
                copied: Copied::at(200e6),
                is_flash: true,
                is_shingled: false,
                rented,
            };
            Inputs::of(&drive, spares).delay_h
        };
        let [disk, volume, of_instance] =
            [None, Some(Rented::Volume), Some(Rented::OfInstance)].map(|rented| delay(rented, 0));
        assert!(disk.source.contains("somebody must replace the drive"));
        assert!(of_instance.source.contains("nobody can replace one disk of a running instance"));
        assert!(volume.source.contains("another volume takes minutes"));
        assert!(volume.range.high < disk.range.high && volume.range.low < 1.0);
        assert_eq!(of_instance.range, disk.range);
        assert_eq!(delay(Some(Rented::OfInstance), 1).range, Range::fixed(0.0));
    }
}
