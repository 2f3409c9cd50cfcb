//! What the rows of the stripe cache cost the processor that md's thread runs on.

use super::row::View;
use crate::Nanos;
use crate::linux::queue::PAGE_SECTORS;

/// What rows cost md's thread, in ns (docs/md.md, "The processor").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCosts {
    /// The thread comes to a row (`handle_stripe`).
    pub row_ns: Nanos,
    /// It copies 4 KiB into the cache or out of it (`async_copy_data`).
    pub copy_ns: Nanos,
    /// It adds 4 KiB to the parity, where there is one (`xor_blocks`).
    pub one_parity_ns: Nanos,
    /// It adds 4 KiB to both parities (`gen_syndrome`).
    pub two_parities_ns: Nanos,
    /// It sends 4 KiB to a member (`ops_run_io`), and hears that it is done.
    pub send_ns: Nanos,
    /// A request to a member begins with that, and is merged with no other.
    pub command_ns: Nanos,
}

impl RowCosts {
    /// The same on a processor that takes so many hundredths of the time.
    #[must_use]
    pub fn times_percent(self, percent: u32) -> Self {
        let of = |ns: Nanos| ns * u64::from(percent) / 100;
        RowCosts {
            row_ns: of(self.row_ns),
            copy_ns: of(self.copy_ns),
            one_parity_ns: of(self.one_parity_ns),
            two_parities_ns: of(self.two_parities_ns),
            send_ns: of(self.send_ns),
            command_ns: of(self.command_ns),
        }
    }

    /// So many sectors are copied.
    pub(super) fn copied(&self, sectors: u32) -> Nanos {
        self.copy_ns * u64::from(sectors) / u64::from(PAGE_SECTORS)
    }

    /// 4 KiB are sent, of which a request is `begun` or not.
    pub(super) fn sent(&self, begun: bool) -> Nanos {
        self.send_ns + u64::from(begun) * self.command_ns
    }

    /// Parity is worked out of so many times 4 KiB.
    fn parity(&self, parities: u32, pages: u32) -> Nanos {
        let page_ns = if parities > 1 { self.two_parities_ns } else { self.one_parity_ns };
        page_ns * u64::from(pages)
    }

    /// New parity of a row: all data go into it, or what is written comes out of the old one and goes into the new. Seven
    /// units of data, one of them written: two times 4 KiB; all written: seven.
    pub(super) fn new_parity(&self, row: &View) -> Nanos {
        let pages = if row.is_reconstructed() { row.data } else { 2 * row.written.count_ones() };
        self.parity(row.parities, pages)
    }

    /// What is down is worked out of as much as there is data.
    pub(super) fn worked_out(&self, row: &View) -> Nanos {
        self.parity(row.parities, row.data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: RowCosts = RowCosts {
        row_ns: 0,
        copy_ns: 800,
        one_parity_ns: 10,
        two_parities_ns: 30,
        send_ns: 100,
        command_ns: 500,
    };

    #[test]
    fn the_examples_are_as_told() {
        let row = View { data: 7, parities: 1, ..View::default() };
        let one = View { written: 1, whole: 1, known: 1 | 1 << 7, ..row };
        assert_eq!(COSTS.new_parity(&one), 2 * 10);
        let all = View { written: 127, whole: 127, ..row };
        assert_eq!(COSTS.new_parity(&all), 7 * 10);
        assert_eq!(COSTS.new_parity(&View { parities: 2, ..all }), 7 * 30);
        assert_eq!([COSTS.copied(1), COSTS.copied(8)], [100, 800]);
        assert_eq!([COSTS.sent(false), COSTS.sent(true)], [100, 600]);
    }
}
