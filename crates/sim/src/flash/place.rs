//! Which unit a page lies on, and how long that unit takes to read it.

use super::spec::{Fill, FlashSpec};
use crate::Nanos;

/// Where pages lie. The only chance in it is a hash of the page's number.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    units: u64,
    page_bytes: u64,
    /// The times of the three sorts of pages, fastest first.
    read_ns: [Nanos; 3],
    scattered: bool,
}

/// Mixes the bits of `value`, so that each of them depends on all (the finalizer of `SplitMix64`).
pub(crate) fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Pages from which the time of a command alone is taken: so many commands of one page, fewer of more.
const SAMPLED_PAGES: u64 = 1024;

impl Placement {
    pub(super) fn new(spec: &FlashSpec) -> Self {
        let spread = spec.unit_read_ns * u64::from(spec.unit_spread_percent) / 100;
        Placement {
            units: spec.units.into(),
            page_bytes: spec.page_bytes.into(),
            read_ns: [spec.unit_read_ns - spread, spec.unit_read_ns, spec.unit_read_ns + spread],
            scattered: spec.fill != Fill::Sequential,
        }
    }

    /// The pages from byte `start` up to `end`.
    pub(super) fn pages(&self, start: u64, end: u64) -> std::ops::Range<u64> {
        start / self.page_bytes..end.div_ceil(self.page_bytes)
    }

    /// The unit of `page`, and its time for it.
    pub(super) fn unit_of(&self, page: u64) -> (usize, Nanos) {
        let hash = mixed(page);
        let unit = if self.scattered {
            ((u128::from(hash) * u128::from(self.units)) >> 64) as usize
        } else {
            (page % self.units) as usize
        };
        (unit, self.read_ns[(((hash & 0xffff_ffff) * 3) >> 32) as usize])
    }

    /// The mean time until the last page of a command of `bytes` is read, with all units idle.
    pub(super) fn mean_of_last_ns(&self, bytes: u32) -> Nanos {
        let mut busy = vec![0; self.units as usize];
        let pages = self.pages(0, bytes.into()).end;
        let samples = (SAMPLED_PAGES / pages.max(1)).max(16);
        let sum: Nanos = (0..samples)
            .map(|sample| {
                busy.fill(0);
                let first = mixed(sample) >> 20;
                for (unit, ns) in (first..first + pages).map(|page| self.unit_of(page)) {
                    busy[unit] += ns;
                }
                busy.iter().copied().max().unwrap_or(0)
            })
            .sum();
        sum / samples
    }
}
