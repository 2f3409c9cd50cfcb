//! The wire between drives and host.

use crate::Nanos;
use block::SECTOR_BYTES;

/// A drive's end of a bus. Each transfer runs at the slower of the two rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    picos_per_sector: u64,
}

impl Port {
    /// An end that moves `bytes_per_s`.
    ///
    /// # Panics
    ///
    /// Where the rate is zero.
    pub fn new(bytes_per_s: u64) -> Self {
        assert!(bytes_per_s > 0, "it must move something");
        Port { picos_per_sector: SECTOR_BYTES * 1_000_000_000_000 / bytes_per_s }
    }
}

/// A bus: one transfer at a time, first come first served.
#[derive(Clone, Debug)]
pub struct Bus {
    picos_per_sector: u64,
    overhead_ns: Nanos,
    free_at: Nanos,
    drives: u32,
}

impl Bus {
    /// A bus that moves `bytes_per_s`, with `overhead_ns` of arbitration and messages a transfer.
    ///
    /// # Panics
    ///
    /// Where the rate is zero.
    pub fn new(bytes_per_s: u64, overhead_ns: Nanos) -> Self {
        let picos_per_sector = Port::new(bytes_per_s).picos_per_sector;
        Bus { picos_per_sector, overhead_ns, free_at: 0, drives: 0 }
    }

    /// Attaches one more drive.
    pub(crate) fn attach(&mut self) {
        self.drives += 1;
    }

    /// Aborts the current transfer and those that wait.
    pub(crate) fn release(&mut self, now: Nanos) {
        self.free_at = self.free_at.min(now);
    }

    /// Whether only one drive is attached, so that no other can use the bus first.
    pub(crate) fn is_private(&self) -> bool {
        self.drives == 1
    }

    /// The time to move `sectors` to or from `port`, without the overhead.
    pub(crate) fn transfer_ns(&self, port: Port, sectors: u32) -> Nanos {
        u64::from(sectors) * self.picos_per_sector.max(port.picos_per_sector) / 1000
    }

    /// Reserves the bus from `at`, or as soon as it is free, for `sectors`. Returns the start and the
    /// end of the data. Calls must come in the order of `at`.
    pub(crate) fn reserve(&mut self, at: Nanos, port: Port, sectors: u32) -> (Nanos, Nanos) {
        let start = at.max(self.free_at) + self.overhead_ns;
        self.free_at = start + self.transfer_ns(port, sectors);
        (start, self.free_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_follow_each_other_at_the_slower_rate() {
        let mut bus = Bus::new(20_000_000, 1000);
        let (fast, slow) = (Port::new(40_000_000), Port::new(10_000_000));
        assert_eq!(bus.transfer_ns(fast, 128), 3_276_800);
        assert_eq!(bus.transfer_ns(slow, 128), 6_553_600);
        // The slowest bus of the catalogue with the largest possible request.
        let slowest = Bus::new(100_000, 0).transfer_ns(fast, 1 << 31);
        assert_eq!(slowest, 10_995_116_277_760_000);
        assert_eq!(bus.reserve(0, fast, 128), (1000, 3_277_800));
        assert_eq!(bus.reserve(10, fast, 1), (3_278_800, 3_304_400));
        assert_eq!(bus.reserve(4_000_000, slow, 0), (4_001_000, 4_001_000));
    }
}
