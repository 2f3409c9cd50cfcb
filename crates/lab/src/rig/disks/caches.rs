//! How much real members may take before it is on a medium: nobody says, so it is assumed.

use super::{Access, Member};
use crate::experiment::Trial;
use crate::workload::Requests;
use block::SECTOR_BYTES;
use std::fs;

/// A drive's own cache: disks of the 2020s have 256 MiB (Seagate Exos X18, 100865853), and few have more. What an SSD
/// writes as SLC first may be a hundred times that; it shows only as a rate that falls.
const DRIVE_BYTES: u64 = 256 << 20;

/// For how many bytes there may be room in front of `members` for what `trial` writes to a volume of `sectors`.
pub(super) fn bytes(members: &[Member], trial: &Trial, sectors: u64) -> u64 {
    let is_buffered = |member: &Member| !matches!(member.access, Access::Direct { .. });
    let pages = if members.iter().any(is_buffered) { dirty_pages_bytes() } else { 0 };
    let room = pages + DRIVE_BYTES * members.len() as u64;
    // What is written over and over is in a cache once.
    let reached = |work: &Requests| work.parts(sectors).iter().map(|(_, span)| span).sum::<u64>();
    let reached: u64 = trial.requests().filter(|work| work.writes()).map(reached).sum();
    room.min(reached.saturating_mul(SECTOR_BYTES))
}

/// How many bytes Linux's page cache holds before a writer waits: `vm.dirty_bytes`, or `vm.dirty_ratio` percent of the
/// memory that is available.
fn dirty_pages_bytes() -> u64 {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    if let Some(bytes) = number("/proc/sys/vm/dirty_bytes").filter(|&bytes| bytes > 0) {
        return bytes;
    }
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib =
        available.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    let percent = number("/proc/sys/vm/dirty_ratio").unwrap_or(20);
    kib.unwrap_or(0) * 1024 / 100 * percent
}
