//! One row of the stripe cache: 4 KiB of each member, and what has to be read before it can be written.
//!
//! md's `handle_stripe_dirtying` counts the blocks that either way to new parity still needs, and takes the
//! smaller count:
//!
//! ```text
//! read-modify-write   the old content of what is written, and the old parity
//! reconstruct-write   the content of all data that is not written
//! seven data blocks, one written, nothing known      modify 2, reconstruct 6: modify
//! the same, its neighbour written a while ago        modify 1 (parity is known), reconstruct 5
//! four of seven written                              modify 5, reconstruct 3: reconstruct
//! ```
//!
//! What was read or written is known for as long as the row stays in the cache, so a block that goes on
//! where the last one ended often needs to read nothing.

/// Units of a row, a bit each: data from bit 0 on, then P, then Q.
pub(super) type Units = u64;

/// What a row of a healthy or degraded array knows and wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// Data units in a row.
    pub(super) data: u32,
    /// Parity units in a row.
    pub(super) parities: u32,
    /// Units on members that are down.
    pub(super) down: Units,
    /// Units whose content is known.
    pub(super) known: Units,
    /// Data units that are to be written, in part or whole.
    pub(super) written: Units,
    /// Those that are to be written whole.
    pub(super) whole: Units,
}

/// What a row needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing more: it can be written.
    Write,
    /// These units, read.
    Read(Units),
    /// What is down can be worked out from what is known.
    WorkOut,
    /// Too many members are down.
    Lost,
}

impl View {
    fn all_data(&self) -> Units {
        (1 << self.data) - 1
    }

    fn parity(&self) -> Units {
        ((1 << self.parities) - 1) << self.data
    }

    fn all(&self) -> Units {
        self.all_data() | self.parity()
    }

    /// What a unit counts: one read, or more than any number of reads where its member is down.
    fn cost(&self, needed: Units) -> u32 {
        let missing = needed & !self.known;
        (missing & !self.down).count_ones() + 2 * (missing & self.down).count_ones() * self.width()
    }

    fn width(&self) -> u32 {
        self.data + self.parities
    }

    /// Whether a write that lacks nothing works parity out of all data, and not out of what it changes.
    pub(super) fn is_reconstructed(&self) -> bool {
        self.cost(self.all_data() & !self.whole) == 0
    }

    /// What has to happen before the row can be written.
    pub(super) fn before_write(&self) -> Next {
        let modify = self.written | self.parity();
        let reconstruct = self.all_data() & !self.whole;
        let (modify_cost, reconstruct_cost) = (self.cost(modify), self.cost(reconstruct));
        if modify_cost == 0 || reconstruct_cost == 0 {
            return Next::Write;
        }
        // A tie is reconstructed.
        let (needed, cost) = if modify_cost < reconstruct_cost {
            (modify, modify_cost)
        } else {
            (reconstruct, reconstruct_cost)
        };
        if cost >= 2 * self.width() {
            self.before_working_out()
        } else {
            Next::Read(needed & !self.known)
        }
    }

    /// What has to happen before `wanted` is known.
    pub(super) fn before_read(&self, wanted: Units) -> Next {
        let missing = wanted & !self.known;
        if missing & self.down == 0 {
            return if missing == 0 { Next::Write } else { Next::Read(missing) };
        }
        self.before_working_out()
    }

    /// What has to happen before what is down can be restored: all that is up is read, however much of it would do.
    pub(super) fn before_restoring(&self) -> Next {
        if self.down.count_ones() > self.parities {
            return Next::Lost;
        }
        match self.all() & !self.down & !self.known {
            0 if self.down & !self.known == 0 => Next::Write,
            0 => Next::WorkOut,
            up => Next::Read(up),
        }
    }

    /// All that is up is read; then what is down follows from it.
    fn before_working_out(&self) -> Next {
        if self.known.count_ones() >= self.data {
            return Next::WorkOut;
        }
        match self.all() & !self.down & !self.known {
            up if (self.known | up).count_ones() >= self.data => Next::Read(up),
            _ => Next::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_are_as_told() {
        let row = View { data: 7, parities: 1, ..View::default() };
        let one = View { written: 1, whole: 1, ..row };
        assert_eq!(one.before_write(), Next::Read(1 | 1 << 7));
        let neighbour = View { known: 1 | 1 << 7, written: 2, whole: 2, ..row };
        assert_eq!(neighbour.before_write(), Next::Read(2));
        let four = View { written: 15, whole: 15, ..row };
        assert_eq!(four.before_write(), Next::Read(0b111_0000));
        let all = View { written: 127, whole: 127, ..row };
        assert_eq!(all.before_write(), Next::Write);
    }

    /// Every row of up to four data units, whatever is known, written and down: it reads only what is up and
    /// not known, what it reads lets it go on, and it is lost only where more is down than there is parity.
    #[test]
    fn every_small_row_comes_to_its_write() {
        for (data, parities) in [(2, 1), (3, 1), (4, 1), (2, 2), (3, 2)] {
            let (units, width) = (1_u64 << (data + parities), data + parities);
            for (down, known) in
                (0..units).flat_map(|down| (0..units).map(move |known| (down, known)))
            {
                for written in 1..1_u64 << data {
                    for whole in [0, written, written & 1] {
                        let known = known & !down;
                        let view = View { data, parities, down, known, written, whole };
                        assert_comes_to_its_write(view, width);
                    }
                }
            }
        }
    }

    fn assert_comes_to_its_write(mut view: View, width: u32) {
        let first = view;
        for _ in 0..=2 * width {
            match view.before_write() {
                Next::Write => return,
                Next::Read(units) => {
                    assert_ne!(units, 0, "{first:?}");
                    assert_eq!(units & (view.down | view.known), 0, "{first:?}");
                    view.known |= units;
                }
                Next::WorkOut => view.known = view.all(),
                Next::Lost => {
                    assert!(view.down.count_ones() > view.parities, "{first:?}");
                    return;
                }
            }
        }
        panic!("{first:?} never comes to its write");
    }
}
