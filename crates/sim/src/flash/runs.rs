//! Which bytes are written together: runs of neighbouring ones, in whatever commands, whatever order and beside however
//! many others they come.
//!
//! A drive appends what it is sent to blocks of many MiB. What is in one block and is overwritten together later leaves
//! nothing to copy when the block is erased: that is so of long runs, and of no short ones, however few commands they
//! are. How long a run becomes is known only at its end. So there is an account for each, which is settled then:
//!
//! ```text
//! its first write           pays garbage collection for its bytes at once
//! each further one          gets back what the run paid (so much of what others pay is free), and owes that and its own;
//!                           while it is no longer than the last ones that ended short, it pays at once instead
//! when it is long           what it paid is given back, what it owes is forgotten
//! when it ends before       what it owes is paid
//! ```
//!
//! Over a while garbage collection takes as long as the short runs cost, whichever way each byte was paid for.

use super::drain::Cost;
use crate::Nanos;
use block::{Request, SECTOR_BYTES};

/// So many runs are known at a time; the one that was longest without a write makes room.
const RUNS: usize = 256;
/// A run of so many bytes fills blocks alone.
const LONG_BYTES: u64 = 32 << 20;
/// A run that is not long ends when other such runs have so many bytes since its last write: as many as all runs that
/// are known have in commands of 1 MiB.
const END_BYTES: u64 = (RUNS as u64) << 20;
/// What is overwritten so shortly before the end of a run lies with what the run writes now, and dies with that. This is so
/// in whichever order and however often: so much does not outlive the blocks that it fills.
const RECENT_SECTORS: u64 = LONG_BYTES / SECTOR_BYTES;
/// No slot, or the end of a list.
const NONE: u16 = u16::MAX;

/// The runs that are known.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    slots: Vec<Run>,
    /// Slots by the first sector of their runs, and by the one after their last write.
    by_start: Index,
    by_end: Index,
    /// And by the stretch of `RECENT_SECTORS` in which that one lies.
    by_stretch: Index,
    newest: u16,
    oldest: u16,
    free: u16,
    /// Bytes of writes to runs that were not long then.
    short_bytes: u64,
    /// What is to be given back.
    credit_ns: Nanos,
    /// How long the runs became that ended short: one that is longer goes on, as a log does beside small writes at random.
    /// 0 where none did, or the last one that was settled became long.
    end_bytes: u64,
}

/// A run, and its account.
#[derive(Clone, Copy, Debug)]
struct Run {
    bytes: u64,
    paid_ns: Nanos,
    owed_ns: Nanos,
    /// `short_bytes` at its last write.
    written_at: u64,
    /// Its neighbours in the order of last writes. In a free slot `older` is the next free one.
    newer: u16,
    older: u16,
}

/// How a write lies to a run.
#[derive(Clone, Copy, Debug)]
enum Lies {
    /// It goes on at its end, at its beginning, or between two.
    Beside { before: u16, after: u16 },
    /// It overwrites what was written last: the last block of a log, or parity of a row that was filled in parts. It may go
    /// on beyond its end.
    Again(u16),
    /// It overwrites it from its beginning, as a log does that goes round.
    Over(u16),
    /// There is none near it.
    Apart,
}

impl Runs {
    pub(super) fn new() -> Self {
        let slot = |number: usize| Run {
            bytes: 0,
            paid_ns: 0,
            owed_ns: 0,
            written_at: 0,
            newer: NONE,
            older: if number + 1 == RUNS { NONE } else { number as u16 + 1 },
        };
        Runs {
            slots: (0..RUNS).map(slot).collect(),
            by_start: Index::new(),
            by_end: Index::new(),
            by_stretch: Index::new(),
            newest: NONE,
            oldest: NONE,
            free: 0,
            short_bytes: 0,
            credit_ns: 0,
            end_bytes: 0,
        }
    }

    /// What flash takes for `request` besides moving its bytes: `alone` where it belongs to no run, of which garbage
    /// collection is a part.
    pub(super) fn write(&mut self, request: &Request, alone: Cost) -> Cost {
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        let garbage_ns = alone.garbage_ns;
        match self.lies(request) {
            Lies::Beside { before, after } => {
                let slot = self.join(before, after, request);
                Cost::of_garbage(self.go_on(slot, bytes, garbage_ns))
            }
            Lies::Over(slot) => {
                self.end_at(slot, request.end());
                alone.with_garbage(self.go_on(slot, bytes, garbage_ns))
            }
            Lies::Again(slot) => {
                let end = self.by_end.keys[usize::from(slot)];
                self.end_at(slot, end.max(request.end()));
                alone.with_garbage(self.go_on(slot, bytes, garbage_ns))
            }
            Lies::Apart => {
                self.short_bytes += bytes;
                let debts_ns = self.end_old();
                self.begin(request, bytes, alone.whole_ns);
                let whole_ns = self.pay(alone.whole_ns + debts_ns);
                Cost { whole_ns, garbage_ns: whole_ns.min(garbage_ns + debts_ns) }
            }
        }
    }

    fn lies(&self, request: &Request) -> Lies {
        let before = self.by_end.find(request.sector);
        let after = self.by_start.find(request.end());
        if before != NONE || after != NONE {
            return Lies::Beside { before, after };
        }
        if let Some(slot) = self.recent(request) {
            return Lies::Again(slot);
        }
        let again = self.by_start.find(request.sector);
        let last = if again == NONE { self.by_end.find(request.end()) } else { again };
        if last == NONE { Lies::Apart } else { Lies::Over(last) }
    }

    /// The run that has the beginning of `request` in its last `RECENT_SECTORS`.
    fn recent(&self, request: &Request) -> Option<u16> {
        let first = request.sector;
        let is_recent = |slot: u16| {
            let [start, end] = [&self.by_start, &self.by_end].map(|of| of.keys[usize::from(slot)]);
            (start..end).contains(&first) && end - first <= RECENT_SECTORS
        };
        let stretch = first / RECENT_SECTORS;
        let mut near = [stretch, stretch + 1].into_iter().flat_map(|at| self.by_stretch.all(at));
        near.find(|&slot| is_recent(slot))
    }

    /// From now on `slot` ends at `end`, which was written last.
    fn end_at(&mut self, slot: u16, end: u64) {
        self.by_end.put(slot, end);
        if self.by_stretch.keys[usize::from(slot)] != end / RECENT_SECTORS {
            self.by_stretch.put(slot, end / RECENT_SECTORS);
        }
    }

    /// Puts `request` at the end of `before`, at the beginning of `after`, or makes one run of both.
    fn join(&mut self, before: u16, after: u16, request: &Request) -> u16 {
        if before == NONE {
            self.by_start.put(after, request.sector);
            return after;
        }
        if after == NONE {
            self.end_at(before, request.end());
            return before;
        }
        let end = self.by_end.keys[usize::from(after)];
        let gone = self.slots[usize::from(after)];
        self.remove(after);
        self.end_at(before, end);
        let run = &mut self.slots[usize::from(before)];
        run.bytes += gone.bytes;
        run.paid_ns += gone.paid_ns;
        run.owed_ns += gone.owed_ns;
        before
    }

    /// A further write of `bytes` to a run; gives what it pays.
    fn go_on(&mut self, slot: u16, bytes: u64, garbage_ns: Nanos) -> Nanos {
        self.unlink(slot);
        self.link(slot);
        let run = &mut self.slots[usize::from(slot)];
        run.bytes += bytes;
        let is_long = run.bytes >= LONG_BYTES;
        self.short_bytes += if is_long { 0 } else { bytes };
        run.written_at = self.short_bytes;
        if is_long {
            // What was long already says nothing of those that begin.
            self.end_bytes = if run.paid_ns + run.owed_ns == 0 { self.end_bytes } else { 0 };
        }
        if is_long || run.bytes > self.end_bytes {
            self.credit_ns += run.paid_ns;
            run.owed_ns = if is_long { 0 } else { run.owed_ns + run.paid_ns + garbage_ns };
            run.paid_ns = 0;
            return 0;
        }
        run.paid_ns += garbage_ns;
        self.pay(garbage_ns)
    }

    /// Takes what is given back from what is to be paid.
    fn pay(&mut self, ns: Nanos) -> Nanos {
        let free_ns = self.credit_ns.min(ns);
        self.credit_ns -= free_ns;
        ns - free_ns
    }

    /// Begins a run in a slot that is free.
    fn begin(&mut self, request: &Request, bytes: u64, paid_ns: Nanos) {
        let slot = self.free;
        let run = &mut self.slots[usize::from(slot)];
        self.free = run.older;
        let written_at = self.short_bytes;
        *run = Run { bytes, paid_ns, owed_ns: 0, written_at, newer: NONE, older: NONE };
        self.link(slot);
        self.by_start.insert(slot, request.sector);
        self.by_end.insert(slot, request.end());
        self.by_stretch.insert(slot, request.end() / RECENT_SECTORS);
    }

    /// Ends the runs that were long without a write, and one where no slot is free. Gives what they owe.
    fn end_old(&mut self) -> Nanos {
        let mut debts_ns = 0;
        while self.oldest != NONE {
            let run = self.slots[usize::from(self.oldest)];
            if self.free != NONE && self.short_bytes - run.written_at < END_BYTES {
                break;
            }
            // Up to the longest of the last ones: those that are shorter have it forgotten, each by a part.
            self.end_bytes -= self.end_bytes.saturating_sub(run.bytes) / RUNS as u64;
            if run.owed_ns > 0 {
                self.end_bytes = self.end_bytes.max(run.bytes);
            }
            debts_ns += run.owed_ns;
            self.remove(self.oldest);
        }
        debts_ns
    }

    fn remove(&mut self, slot: u16) {
        self.unlink(slot);
        self.by_start.remove(slot);
        self.by_end.remove(slot);
        self.by_stretch.remove(slot);
        self.slots[usize::from(slot)].older = self.free;
        self.free = slot;
    }

    /// Puts the run at the end of those that were written last.
    fn link(&mut self, slot: u16) {
        let older = self.newest;
        let run = &mut self.slots[usize::from(slot)];
        (run.newer, run.older) = (NONE, older);
        match self.slots.get_mut(usize::from(older)) {
            Some(run) => run.newer = slot,
            None => self.oldest = slot,
        }
        self.newest = slot;
    }

    fn unlink(&mut self, slot: u16) {
        let Run { newer, older, .. } = self.slots[usize::from(slot)];
        match self.slots.get_mut(usize::from(newer)) {
            Some(run) => run.older = older,
            None => self.newest = older,
        }
        match self.slots.get_mut(usize::from(older)) {
            Some(run) => run.newer = newer,
            None => self.oldest = newer,
        }
    }
}

/// Slots by a sector of theirs: lists of those with the same hash.
#[derive(Clone, Debug)]
struct Index {
    keys: Vec<u64>,
    next: Vec<u16>,
    heads: Vec<u16>,
}

/// Lists of an index: a power of two.
const LISTS: usize = 4 * RUNS;

impl Index {
    fn new() -> Self {
        Index { keys: vec![0; RUNS], next: vec![NONE; RUNS], heads: vec![NONE; LISTS] }
    }

    fn list(key: u64) -> usize {
        // 2^64 over the golden ratio: its multiples of neighbouring sectors differ in the bits in front.
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - LISTS.ilog2())) as usize
    }

    fn find(&self, key: u64) -> u16 {
        let mut slot = self.heads[Self::list(key)];
        while slot != NONE && self.keys[usize::from(slot)] != key {
            slot = self.next[usize::from(slot)];
        }
        slot
    }

    /// All slots of that key.
    fn all(&self, key: u64) -> impl Iterator<Item = u16> {
        let known = |slot: u16| (slot != NONE).then_some(slot);
        let next = move |&slot: &u16| known(self.next[usize::from(slot)]);
        let list = std::iter::successors(known(self.heads[Self::list(key)]), next);
        list.filter(move |&slot| self.keys[usize::from(slot)] == key)
    }

    fn insert(&mut self, slot: u16, key: u64) {
        let head = &mut self.heads[Self::list(key)];
        self.keys[usize::from(slot)] = key;
        self.next[usize::from(slot)] = *head;
        *head = slot;
    }

    fn remove(&mut self, slot: u16) {
        let after = self.next[usize::from(slot)];
        let list = Self::list(self.keys[usize::from(slot)]);
        let mut at = self.heads[list];
        if at == slot {
            self.heads[list] = after;
            return;
        }
        while self.next[usize::from(at)] != slot {
            at = self.next[usize::from(at)];
        }
        self.next[usize::from(at)] = after;
    }

    fn put(&mut self, slot: u16, key: u64) {
        self.remove(slot);
        self.insert(slot, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A write alone costs 10 ns for each 4 KiB, all of it garbage.
    fn write(runs: &mut Runs, page: u64, pages: u32) -> Nanos {
        let ns = 10 * Nanos::from(pages);
        let alone = Cost { whole_ns: ns, garbage_ns: ns };
        runs.write(&Request::write(page * 8, pages * 8), alone).whole_ns
    }

    const LONG_PAGES: u64 = LONG_BYTES / 4096;

    #[test]
    fn a_long_run_gets_back_what_it_paid() {
        let mut runs = Runs::new();
        let paid: Nanos = (0..2 * LONG_PAGES).map(|page| write(&mut runs, page, 1)).sum();
        assert_eq!((paid, runs.credit_ns), (10, 10));
        assert_eq!([1, 2].map(|apart| write(&mut runs, apart << 30, 1)), [0, 10]);
    }

    #[test]
    fn short_runs_pay_for_all_of_their_bytes() {
        let mut runs = Runs::new();
        // Of four pages each: the first ones owe what they cost until they make room.
        let mut paid_by = |from: u64, to: u64| -> Nanos {
            let pages = (from..to).flat_map(|run| (0..4).map(move |page| (run << 20) + page));
            pages.map(|page| write(&mut runs, page, 1)).sum()
        };
        let known = RUNS as u64;
        let first = paid_by(0, known);
        assert_eq!(first, 10);
        assert_eq!(first + paid_by(known, 2 * known), 2 * known * 40);
        assert_eq!(paid_by(2 * known, 3 * known), known * 40);
    }

    #[test]
    fn neighbours_become_one_run_whichever_comes_first() {
        for pages in [[0, 1, 2], [2, 1, 0], [0, 2, 1], [2, 0, 1]] {
            let mut runs = Runs::new();
            let paid: Nanos = pages.iter().map(|&page| write(&mut runs, page, 1)).sum();
            let slot = runs.by_start.find(0);
            assert_eq!(runs.by_end.find(3 * 8), slot, "{pages:?}");
            let Run { bytes, paid_ns, owed_ns, newer, older, .. } = runs.slots[usize::from(slot)];
            assert_eq!((bytes, paid_ns, owed_ns), (3 * 4096, 0, 30));
            assert_eq!(runs.credit_ns, paid, "{pages:?}");
            assert_eq!((newer, older, runs.newest, runs.oldest), (NONE, NONE, slot, slot));
        }
    }

    #[test]
    fn what_is_written_again_belongs_to_its_run() {
        let mut runs = Runs::new();
        // Each page twice, as a log does that fills its last one; then all of it from the beginning.
        let twice = (0..8).flat_map(|page| [page, page]);
        let paid: Vec<Nanos> = twice.chain(0..8).map(|page| write(&mut runs, page, 1)).collect();
        assert_eq!(paid.iter().sum::<Nanos>(), 10);
        assert_eq!(runs.slots[usize::from(runs.newest)].bytes, 24 * 4096);
        assert_eq!(runs.oldest, runs.newest);
    }

    #[test]
    fn a_log_beside_short_runs_goes_on_from_its_beginning() {
        let mut runs = Runs::new();
        // Of two pages each, so many that the first have ended, and then one for each page of the log.
        let two_pages = |runs: &mut Runs, pair: u64| {
            [0, 1].map(|page| write(runs, (pair << 20) + page, 1)).iter().sum::<Nanos>()
        };
        let known = RUNS as u64;
        for before in 1..=2 * known {
            two_pages(&mut runs, before);
        }
        let pages = 0..256;
        let paid = pages
            .clone()
            .map(|page| write(&mut runs, page, 1) + two_pages(&mut runs, 3 * known + page));
        assert_eq!(paid.sum::<Nanos>(), 20 * pages.end, "the pairs alone");
    }

    #[test]
    fn what_was_written_last_is_overwritten_in_any_order() {
        let mut runs = Runs::new();
        let recent = RECENT_SECTORS / 8;
        for page in 0..2 * recent {
            write(&mut runs, page, 1);
        }
        // Of the last 32 MiB, in the middle of it, and across the end of all.
        for (page, pages) in [(recent, 1), (recent + 7, 1), (2 * recent - 1, 2)] {
            assert_eq!(write(&mut runs, page, pages), 0, "{page}");
        }
        assert_ne!(runs.by_end.find((2 * recent + 1) * 8), NONE);
        runs.credit_ns = 0;
        assert_eq!(
            [recent, 7].map(|page| write(&mut runs, page, 1)),
            [10, 10],
            "it is longer by one"
        );
    }

    #[test]
    fn the_run_without_a_write_for_longest_makes_room() {
        let mut runs = Runs::new();
        let writers = RUNS as u64;
        for round in 0..4 {
            for writer in 0..writers {
                assert_eq!(
                    write(&mut runs, (writer << 20) + round, 1),
                    if round == 0 { 10 } else { 0 }
                );
            }
        }
        assert_eq!(runs.credit_ns, 10 * writers);
        // One more: the first of them is forgotten, and what it owes is paid, out of what the others get back.
        assert_eq!(write(&mut runs, 1 << 40, 1), 0);
        assert_eq!(runs.credit_ns, 10 * writers - 40 - 10);
        assert_eq!(runs.by_end.find(4 * 8), NONE);
        assert_ne!(runs.by_end.find(((1 << 20) + 4) * 8), NONE);
    }
}
