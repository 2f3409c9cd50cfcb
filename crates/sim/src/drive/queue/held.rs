//! The commands that a drive chooses among, in every order that a choice asks for.

use super::super::{Aim, Waiting};
use crate::Nanos;
use block::Op;
use std::collections::{BTreeMap, BTreeSet};

/// A command's rank by age: the older, the lower. No two have the same.
pub(super) type Rank = u64;

/// What a choice needs to know of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Where its first sector is.
    pub(super) aim: Aim,
    /// Whether it reads.
    pub(super) reads: bool,
    /// How many sectors.
    pub(super) sectors: u32,
    /// When it came.
    pub(super) arrived: Nanos,
}

impl From<&Waiting> for Place {
    fn from(waiting: &Waiting) -> Self {
        let &Waiting { request, arrived, aim, .. } = waiting;
        Place { aim, reads: request.op == Op::Read, sectors: request.sectors, arrived }
    }
}

/// Commands by age, by place, and by the room that they take in the write buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    by_age: BTreeMap<Rank, Waiting>,
    /// By first sector, and of equals the older first.
    by_place: BTreeMap<(u64, Rank), Place>,
    /// What the write buffer may accept, by the sectors that it takes there.
    by_room: BTreeSet<(u32, Rank)>,
    /// What met a write in the buffer, or was next to one, when it was last looked at.
    met: BTreeSet<Rank>,
    next_rank: Rank,
    /// The sectors of the longest command that was ever held.
    longest: u32,
}

impl Held {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.by_age.len()
    }

    /// Adds a command, the youngest. `met` says whether it meets a write in the buffer, or is next to one.
    pub(super) fn push(&mut self, waiting: Waiting, met: bool) {
        let rank = self.next_rank;
        self.next_rank += 1;
        self.by_place.insert((waiting.request.sector, rank), Place::from(&waiting));
        if let Some(room) = room(&waiting) {
            self.by_room.insert((room, rank));
        }
        if met {
            self.met.insert(rank);
        }
        self.longest = self.longest.max(waiting.request.sectors);
        self.by_age.insert(rank, waiting);
    }

    /// Takes out the command of `rank`.
    pub(super) fn take(&mut self, rank: Rank) -> Option<Waiting> {
        let waiting = self.by_age.remove(&rank)?;
        self.by_place.remove(&(waiting.request.sector, rank));
        if let Some(room) = room(&waiting) {
            self.by_room.remove(&(room, rank));
        }
        self.met.remove(&rank);
        Some(waiting)
    }

    /// The command of `rank`.
    pub(super) fn get(&self, rank: Rank) -> Option<&Waiting> {
        self.by_age.get(&rank)
    }

    /// All, the oldest first.
    pub(super) fn by_age(&self) -> impl Iterator<Item = (Rank, &Waiting)> {
        self.by_age.iter().map(|(&rank, waiting)| (rank, waiting))
    }

    /// The oldest.
    pub(super) fn oldest(&self) -> Option<Rank> {
        self.by_age.first_key_value().map(|(&rank, _)| rank)
    }

    /// The first at `sector` or beyond; where there is none, the lowest.
    pub(super) fn upwards(&self, sector: u64) -> Option<Rank> {
        let above = self.by_place.range((sector, 0)..).next();
        above.or_else(|| self.by_place.first_key_value()).map(|(&(_, rank), _)| rank)
    }

    /// Those that start at `sector` or beyond, upwards.
    pub(super) fn above(&self, sector: u64) -> impl Iterator<Item = (u64, Rank, Place)> {
        let above = self.by_place.range((sector, 0)..);
        above.map(|(&(sector, rank), &place)| (sector, rank, place))
    }

    /// Those that start before `sector`, downwards.
    pub(super) fn below(&self, sector: u64) -> impl Iterator<Item = (u64, Rank, Place)> {
        let below = self.by_place.range(..(sector, 0)).rev();
        below.map(|(&(sector, rank), &place)| (sector, rank, place))
    }

    /// The oldest that takes at most `sectors` of the buffer and that the buffer `accepts`.
    pub(super) fn oldest_with_room(
        &self,
        sectors: u64,
        accepts: impl Fn(&Waiting) -> bool,
    ) -> Option<Rank> {
        let mut oldest = None;
        let mut least = 0;
        // Of each size the oldest: there are few sizes.
        while let Some(&(size, _)) = self.by_room.range((least, 0)..).next()
            && u64::from(size) <= sectors
        {
            let older = (size, 0)..(size, oldest.unwrap_or(Rank::MAX));
            let mut ranks = self.by_room.range(older).map(|&(_, rank)| rank);
            oldest = ranks.find(|rank| accepts(&self.by_age[rank])).or(oldest);
            least = size + 1;
        }
        oldest
    }

    /// A write of `start..end` has come into the buffer.
    pub(super) fn meet(&mut self, start: u64, end: u64) {
        let from = start.saturating_sub(u64::from(self.longest));
        for (&(sector, rank), place) in self.by_place.range((from, 0)..=(end, Rank::MAX)) {
            if sector + u64::from(place.sectors) >= start {
                self.met.insert(rank);
            }
        }
    }

    /// Of those that meet a write in the buffer, or are next to one, the oldest that the buffer
    /// `accepts`, if it is older than `than`; `still` says whether one still meets anything.
    pub(super) fn oldest_met(
        &mut self,
        than: Rank,
        accepts: impl Fn(&Waiting) -> bool,
        still: impl Fn(&Waiting) -> bool,
    ) -> Option<Rank> {
        let mut from = 0;
        while let Some(&rank) = self.met.range(from..than).next() {
            let waiting = &self.by_age[&rank];
            if accepts(waiting) {
                return Some(rank);
            }
            if !still(waiting) {
                self.met.remove(&rank);
            }
            from = rank + 1;
        }
        None
    }
}

/// The sectors that a command takes in the write buffer; `None` for one that is not put there.
fn room(waiting: &Waiting) -> Option<u32> {
    match waiting.request.op {
        Op::Write { fua: false } => Some(waiting.request.sectors),
        Op::Discard | Op::Zeroes => Some(0),
        Op::Read | Op::Flush | Op::Write { fua: true } => None,
    }
}
