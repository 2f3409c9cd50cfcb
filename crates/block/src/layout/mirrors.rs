//! Mirrors: a layout whose members are sets of disks with the same content.
//!
//! Around a [`super::Concat`] of one member it is RAID 1; around a [`super::Stripe`] it is the stripe
//! of mirrors that most call RAID 10. There are two ways to pair disks into sets. A stripe of two over
//! four disks, with two copies:
//!
//! ```text
//! interleave    0     1     2     3
//! neighbours   0 1   2 3   0 1   2 3     RAIDframe, btrfs, md's near where it comes out even
//! halves       0 2   1 3   0 2   1 3     ccd's CCDF_MIRROR
//! ```
//!
//! Which copy serves a read is not decided here: the run chooses (`sim`'s `array/copy_choice.rs`).

use super::{Layout, LayoutError};
use crate::Place;

/// Which disks have the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Adjacent disks.
    Neighbours,
    /// Disk k of the first half and disk k of the second.
    Halves,
}

/// A layout whose members are sets of disks with the same content.
#[derive(Clone, Debug)]
pub struct Mirrors<L> {
    over: L,
    copies: u32,
    pairing: Pairing,
}

impl<L: Layout> Mirrors<L> {
    /// `copies` copies of every member of `over`.
    ///
    /// # Errors
    ///
    /// Where there are fewer than two copies.
    pub fn new(over: L, copies: u32, pairing: Pairing) -> Result<Self, LayoutError> {
        assert!(over.parity().is_none(), "only what has no parity is planned by its copies");
        if copies < 2 { Err(LayoutError::NoCopies) } else { Ok(Mirrors { over, copies, pairing }) }
    }

    /// The disk with copy `copy` of member `member`.
    fn disk(&self, member: u32, copy: u32) -> u32 {
        match self.pairing {
            Pairing::Neighbours => member * self.copies + copy,
            Pairing::Halves => copy * self.over.members() as u32 + member,
        }
    }
}

impl<L: Layout> Layout for Mirrors<L> {
    fn members(&self) -> usize {
        self.over.members() * self.copies as usize
    }

    fn sectors(&self) -> u64 {
        self.over.sectors()
    }

    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64 {
        let start = places.len();
        let run = self.over.places(sector, places);
        for index in start..places.len() {
            let place = places[index];
            places[index].member = self.disk(place.member, 0);
            for copy in 1..self.copies {
                places.push(Place { member: self.disk(place.member, copy), ..place });
            }
        }
        run
    }

    fn holds(&self, place: Place) -> (Option<u64>, u64) {
        let member = match self.pairing {
            Pairing::Neighbours => place.member / self.copies,
            Pairing::Halves => place.member % self.over.members() as u32,
        };
        self.over.holds(Place { member, ..place })
    }
}
