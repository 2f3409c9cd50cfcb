//! What a flash drive sustains of long reads and writes in order, as a copy of all of it is.

use super::place::Placement;
use super::spec::{Alone, FlashSpec, Slc, WHOLE};
use block::SECTOR_BYTES;

/// The largest command that Linux sends, in bytes.
const COMMAND_BYTES: u32 = 512 * 1024;

impl FlashSpec {
    /// At what all of it is read in order, in bytes a second: as the link, the controller and the units allow.
    pub fn long_read_bytes_per_s(&self) -> f64 {
        let placement = Placement::new(self);
        let (_, share) = Alone::reads(self).of_size(COMMAND_BYTES, Some(&placement));
        let page_bytes = f64::from(self.page_bytes) * 1e9;
        let unit_ns = self.unit_read_ns as f64 * share as f64 / WHOLE as f64;
        // A quotient by 0 is no limit.
        let of_units = f64::from(self.units) * page_bytes / unit_ns;
        let of_controller = page_bytes / self.read_page_ns as f64;
        (self.read_bytes_per_s as f64).min(of_units).min(of_controller)
    }

    /// At what all of it is written in order, in bytes a second, its SLC cache full most of the time where there is
    /// one. Garbage collection has nothing to copy then.
    pub fn long_write_bytes_per_s(&self) -> f64 {
        let link = self.write_bytes_per_s as f64;
        let fast = link.min(self.drain_bytes_per_s as f64);
        self.slc.map_or(fast, |slc| {
            let slow = link.min(slc.full_bytes_per_s as f64);
            let whole = (self.sectors * SECTOR_BYTES) as f64;
            whole / seconds_of(whole, slc, fast, slow)
        })
    }
}

/// How long `whole` bytes take: fast until the cache is full, slow until it is empty again, and so on.
fn seconds_of(whole: f64, slc: Slc, fast: f64, slow: f64) -> f64 {
    let cache = slc.bytes as f64;
    let before = whole.min(slc.left_bytes.min(slc.bytes) as f64);
    let rest = whole - before;
    let folding_s = cache / slc.fold_bytes_per_s as f64;
    let slow_bytes = slow * folding_s;
    if slow_bytes >= rest {
        return before / fast + rest / slow;
    }
    let period = slow_bytes + cache;
    let (periods, left) = ((rest / period).floor(), rest % period);
    let last_s = left.min(slow_bytes) / slow + (left - slow_bytes).max(0.0) / fast;
    before / fast + periods * (folding_s + cache / fast) + last_s
}
