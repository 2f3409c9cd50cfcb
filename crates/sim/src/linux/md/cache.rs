//! The stripe cache: rows of 4 KiB in eight lists, least recently released first.

use super::delayed::Waits;
use super::restoring::Restores;
use super::row::{Units, View};
use crate::Spent;
use crate::by_number::ByNumber;
use crate::linux::queue::PAGE_SECTORS;
use std::collections::VecDeque;

/// Lists that the rows are dealt to by their number (`NR_STRIPE_HASH_LOCKS`).
const LISTS: usize = 8;

/// A row of the cache, and what it is doing.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "md's row has these flags, each by itself")]
pub(super) struct Row {
    /// Which 4 KiB of each member it stands for; none yet in a fresh row.
    pub(super) number: Option<u64>,
    pub(super) known: Units,
    /// Units that a member could not read; they are worked out, and written again.
    pub(super) unreadable: Units,
    /// What waits to be written.
    pub(super) covered: Covered,
    /// Whose it is, and of how many units.
    pub(super) waiting: Vec<(usize, u32)>,
    /// Who waits to read from units that are down.
    pub(super) readers: Vec<(Units, usize)>,
    /// The write that is being carried out.
    pub(super) write: Option<usize>,
    /// Steps to members that are not done; for the head of a batch, those of all its rows.
    pub(super) steps: u32,
    /// The slots that were found just before and after it the last time: likely those of the rows before and after.
    before: usize,
    after: usize,
    /// Out of the list of free rows.
    pub(super) active: bool,
    /// Whether it waits for the rest of what is written to it.
    pub(super) waits: Waits,
    /// Something was sent to a member since it stands for its number (`STRIPE_IO_STARTED`).
    pub(super) has_begun: bool,
    /// On its way to the thread.
    pub(super) queued: bool,
    /// It was given blocks since the thread last saw to its bit.
    pub(super) is_intended: bool,
    /// Not yet handled since it was taken, so that whole neighbours may join it.
    pub(super) joinable: bool,
    /// The row that is handled for this one too, where several whole rows are written as one.
    pub(super) head: Option<usize>,
    /// The rows that this one is handled for.
    pub(super) batch: Vec<usize>,
    /// Whether it is restored.
    pub(super) restores: Restores,
    /// What its last step cost.
    pub(super) read: Spent,
}

impl Row {
    /// Units that somebody waits to read.
    pub(super) fn wanted(&self) -> Units {
        self.readers.iter().fold(0, |all, &(units, _)| all | units)
    }

    /// Nothing is asked of it and nothing is in flight.
    pub(super) fn is_idle(&self) -> bool {
        !self.queued
            && self.steps == 0
            && self.write.is_none()
            && self.head.is_none()
            && self.batch.is_empty()
            && self.waiting.is_empty()
            && self.readers.is_empty()
            && self.restores == Restores::Not
    }

    /// What decides what it needs next, with `down` the units that are down.
    pub(super) fn view(&self, data: u32, parities: u32, down: Units) -> View {
        View {
            data,
            parities,
            down: down | self.unreadable,
            known: self.known,
            written: self.covered.units(),
            whole: self.covered.whole,
        }
    }
}

/// Which sectors of a row's data units wait to be written.
#[derive(Clone, Debug, Default)]
pub(super) struct Covered {
    /// Units of which all eight do.
    pub(super) whole: Units,
    /// The others: which of their sectors do, a bit each.
    in_part: Vec<(u32, u8)>,
}

impl Covered {
    /// Units of which any do.
    pub(super) fn units(&self) -> Units {
        self.in_part.iter().fold(self.whole, |units, &(unit, _)| units | 1 << unit)
    }

    /// How many sectors do.
    pub(super) fn sectors(&self) -> u32 {
        let in_part: u32 = self.in_part.iter().map(|(_, sectors)| sectors.count_ones()).sum();
        self.whole.count_ones() * PAGE_SECTORS + in_part
    }

    /// Whether any of these sectors of a unit do.
    pub(super) fn overlaps(&self, unit: u32, sectors: u8) -> bool {
        let of_it = |&(other, waiting): &(u32, u8)| other == unit && waiting & sectors != 0;
        self.whole >> unit & 1 == 1 || self.in_part.iter().any(of_it)
    }

    /// These sectors of a unit do, too.
    pub(super) fn add(&mut self, unit: u32, sectors: u8) {
        let place = self.in_part.iter().position(|&(other, _)| other == unit);
        let before = place.map_or(0, |place| self.in_part.swap_remove(place).1);
        match before | sectors {
            u8::MAX => self.whole |= 1 << unit,
            _ if self.whole >> unit & 1 == 1 => {}
            sectors => self.in_part.push((unit, sectors)),
        }
    }

    /// None do any more.
    pub(super) fn clear(&mut self) {
        self.whole = 0;
        self.in_part.clear();
    }
}

/// Rows that are cached.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    pub(super) rows: Vec<Row>,
    by_number: ByNumber<usize>,
    /// The slot that was found last.
    last: usize,
    free: [VecDeque<usize>; LISTS],
    active: usize,
    /// A writer sleeps until enough rows are free.
    blocked: bool,
    /// A row was wanted and none was free: the thread adds one.
    wants_more: bool,
    /// Rows have come free since somebody last asked.
    has_freed: bool,
}

impl Cache {
    /// A cache of so many rows.
    pub(super) fn new(rows: usize) -> Self {
        let mut cache = Cache {
            rows: Vec::with_capacity(rows),
            by_number: ByNumber::default(),
            last: 0,
            free: Default::default(),
            active: 0,
            blocked: false,
            wants_more: false,
            has_freed: false,
        };
        for _ in 0..rows {
            cache.grow();
        }
        cache
    }

    fn grow(&mut self) {
        let slot = self.rows.len();
        self.rows.push(Row::default());
        self.free[slot % LISTS].push_back(slot);
    }

    /// Rows that are out of the free lists.
    pub(super) fn active(&self) -> usize {
        self.active
    }

    /// The slot of a row that is in the cache.
    pub(super) fn find(&self, number: u64) -> Option<usize> {
        self.by_number.get(&number).copied()
    }

    /// The same, for who goes through rows in order: the last slot that was found, and the one that was found next after it
    /// the last time, are looked at first.
    fn find_again(&mut self, number: u64) -> Option<usize> {
        let last = self.last;
        if self.rows[last].number == Some(number) {
            return Some(last);
        }
        let after = self.rows[last].after;
        let slot = if self.rows[after].number == Some(number) { after } else { self.find(number)? };
        self.found(slot);
        Some(slot)
    }

    /// This slot was found, or given to a row, next after the last one.
    fn found(&mut self, slot: usize) {
        let last = std::mem::replace(&mut self.last, slot);
        self.rows[last].after = slot;
        self.rows[slot].before = last;
    }

    /// The row before this one, if it is in the cache.
    pub(super) fn before(&self, slot: usize) -> Option<usize> {
        let row = &self.rows[slot];
        let number = row.number?.checked_sub(1)?;
        if self.rows[row.before].number == Some(number) {
            return Some(row.before);
        }
        self.find(number)
    }

    /// The slot for row `number`; none where the caller must sleep until rows are free
    /// (`raid5_get_active_stripe`): once it sleeps, until less than three quarters are in use.
    pub(super) fn take(&mut self, number: u64) -> Option<usize> {
        if let Some(slot) = self.find_again(number) {
            if !self.rows[slot].active {
                let list = &mut self.free[slot % LISTS];
                let place = list.iter().position(|&free| free == slot).expect("it is free");
                list.remove(place);
                self.activate(slot);
            }
            return Some(slot);
        }
        let list = (number % LISTS as u64) as usize;
        if self.blocked {
            if self.free[list].is_empty() || self.active >= self.rows.len() * 3 / 4 {
                return None;
            }
            self.blocked = false;
        }
        let Some(slot) = self.free[list].pop_front() else {
            self.wants_more = true;
            self.blocked = true;
            return None;
        };
        if let Some(old) = self.rows[slot].number.replace(number) {
            self.by_number.remove(&old);
        }
        self.by_number.insert(number, slot);
        self.found(slot);
        self.rows[slot].known = 0;
        self.rows[slot].unreadable = 0;
        self.rows[slot].joinable = true;
        self.rows[slot].has_begun = false;
        self.activate(slot);
        Some(slot)
    }

    /// The same for who may not sleep: none where it would have to (`R5_GAS_NOBLOCK`).
    pub(super) fn take_awake(&mut self, number: u64) -> Option<usize> {
        let list = (number % LISTS as u64) as usize;
        if self.find(number).is_none() && (self.blocked || self.free[list].is_empty()) {
            self.wants_more |= !self.blocked;
            return None;
        }
        self.take(number)
    }

    /// Somebody who was refused a row sleeps until rows are free.
    pub(super) fn sleep(&mut self) {
        self.wants_more |= !self.blocked;
        self.blocked = true;
    }

    /// The slot for row `number` for who has slept for it: it is woken by rows that are free, also where its own has come into the
    /// cache meanwhile (`is_inactive_blocked`).
    pub(super) fn take_woken(&mut self, number: u64) -> Option<usize> {
        let list = (number % LISTS as u64) as usize;
        let is_full = self.blocked && self.active >= self.rows.len() * 3 / 4;
        if self.free[list].is_empty() || is_full {
            return None;
        }
        self.blocked = false;
        self.take(number)
    }

    fn activate(&mut self, slot: usize) {
        self.rows[slot].active = true;
        self.active += 1;
    }

    /// A row goes back to the free ones, where it is found again until another takes its place.
    pub(super) fn release_if_idle(&mut self, slot: usize) {
        let row = &mut self.rows[slot];
        if row.active && row.is_idle() {
            row.active = false;
            row.read = Spent::NONE;
            self.active -= 1;
            self.free[slot % LISTS].push_back(slot);
            self.has_freed = true;
        }
    }

    /// Whether rows have come free since the last time: who sleeps for one is woken.
    pub(super) fn has_freed(&self) -> bool {
        self.has_freed
    }

    /// The same, and from now on it is the last time.
    pub(super) fn take_freed(&mut self) -> bool {
        std::mem::take(&mut self.has_freed)
    }

    /// At the end of a pass the thread adds a row, where one was wanted (`grow_one_stripe`). It has the thread run again, which
    /// is why the next writer that finds no row gets one, too (`R5_DID_ALLOC`).
    pub(super) fn grow_if_wanted(&mut self) {
        if std::mem::take(&mut self.wants_more) {
            self.grow();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two units, and whatever two sets of sectors are given to them: as a byte for each unit says it.
    #[test]
    fn what_is_covered_is_what_was_given() {
        for (first, second) in
            (1..=u8::MAX).flat_map(|one| (1..=u8::MAX).map(move |two| (one, two)))
        {
            for units in [[0, 0], [0, 1], [1, 0]] {
                let (mut covered, mut bytes) = (Covered::default(), [0_u8; 2]);
                for (unit, sectors) in units.into_iter().zip([first, second]) {
                    covered.add(unit, sectors);
                    bytes[unit as usize] |= sectors;
                }
                let of = |is: &dyn Fn(u8) -> bool| -> Units {
                    (0..2).map(|unit| Units::from(is(bytes[unit])) << unit).sum()
                };
                assert_eq!(covered.units(), of(&|byte| byte != 0));
                assert_eq!(covered.whole, of(&|byte| byte == u8::MAX));
                let sectors: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
                assert_eq!(covered.sectors(), sectors);
                for (unit, byte) in bytes.into_iter().enumerate() {
                    for bit in 0..8 {
                        let is_there = byte >> bit & 1 == 1;
                        assert_eq!(covered.overlaps(unit as u32, 1 << bit), is_there);
                    }
                }
                covered.clear();
                assert_eq!((covered.units(), covered.sectors()), (0, 0));
            }
        }
    }
}
