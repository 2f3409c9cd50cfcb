//! Requests that fail as a whole where a part of them finds no place, and are sent again as a whole.
//!
//! `io_uring` first tries a request without sleeping (`REQ_NOWAIT`). device-mapper sends its parts one by one, each tried likewise
//! (`dm_split_and_process_bio` of `drivers/md/dm.c`, Linux 6.1). Where one finds no place in a drive's queue, the others go on all the
//! same, and when they are done the request has failed (`BLK_STS_AGAIN`, `__dm_io_complete`). Then a worker sends all of it
//! again and sleeps where it must (`io_rw_should_reissue`). So where queues are full, drives do much of the work twice.
//!
//! ```text
//! tried     part 0 → drive 0   part 1: no place   part 2 → drive 2   part 3 → drive 3
//! worker    once 0, 2 and 3 are done: parts 0, 1, 2, 3
//! ```

use crate::Nanos;
use std::collections::BTreeMap;

/// Requests that are tried, each by its thread.
#[derive(Clone, Debug)]
pub(super) struct Whole<P> {
    tried: BTreeMap<u64, Tried<P>>,
    /// Threads whose requests may have come to nothing.
    failed: Vec<u64>,
    /// When those are looked at.
    due_at: Option<Nanos>,
}

#[derive(Clone, Debug)]
struct Tried<P> {
    parts: Vec<P>,
    in_flight: usize,
    has_failed: bool,
}

impl<P> Default for Whole<P> {
    fn default() -> Self {
        Whole { tried: BTreeMap::new(), failed: Vec::new(), due_at: None }
    }
}

impl<P> Whole<P> {
    /// A part of what `thread` tries was sent, or found no place.
    pub(super) fn tried(&mut self, now: Nanos, thread: u64, part: P, is_sent: bool) {
        let new = || Tried { parts: Vec::new(), in_flight: 0, has_failed: false };
        let tried = self.tried.entry(thread).or_insert_with(new);
        tried.parts.push(part);
        if is_sent {
            tried.in_flight += 1;
        } else if !std::mem::replace(&mut tried.has_failed, true) {
            self.look(now, thread);
        }
    }

    /// A part that `thread` has tried is done at `now`. Gives whether it was in vain.
    pub(super) fn done(&mut self, now: Nanos, thread: u64) -> bool {
        let Some(tried) = self.tried.get_mut(&thread) else { return false };
        tried.in_flight -= 1;
        let (has_failed, is_over) = (tried.has_failed, tried.in_flight == 0);
        if is_over && has_failed {
            self.look(now, thread);
        } else if is_over {
            self.tried.remove(&thread);
        }
        has_failed
    }

    fn look(&mut self, now: Nanos, thread: u64) {
        self.failed.push(thread);
        self.due_at = Some(self.due_at.map_or(now, |at| at.min(now)));
    }

    /// When a request is to be sent again.
    pub(super) fn due_at(&self) -> Option<Nanos> {
        self.due_at
    }

    /// The requests of which nothing is under way any more, with all their parts.
    pub(super) fn take_failed(&mut self) -> Vec<(u64, Vec<P>)> {
        self.due_at = None;
        let mut over = Vec::new();
        for thread in std::mem::take(&mut self.failed) {
            if self.tried.get(&thread).is_some_and(|tried| tried.in_flight == 0)
                && let Some(tried) = self.tried.remove(&thread)
            {
                over.push((thread, tried.parts));
            }
        }
        over
    }

    /// Nothing is tried any more.
    pub(super) fn abort(&mut self) {
        self.tried.clear();
        self.failed.clear();
        self.due_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_sent_again_once_what_was_sent_of_it_is_done() {
        let mut whole = Whole::default();
        for part in 0..4 {
            whole.tried(5, 1, part, part != 1);
        }
        whole.tried(5, 2, 9, true);
        assert_eq!(whole.due_at(), Some(5));
        assert!(whole.take_failed().is_empty(), "three parts are under way");
        assert!(whole.done(6, 1) && whole.done(7, 1) && !whole.done(7, 2));
        assert_eq!(whole.due_at(), None);
        assert!(whole.done(8, 1));
        assert_eq!(whole.due_at(), Some(8));
        assert_eq!(whole.take_failed(), [(1, vec![0, 1, 2, 3])]);
        // What finds no place at all is sent again at once.
        whole.tried(9, 3, 7, false);
        assert_eq!((whole.due_at(), whole.take_failed()), (Some(9), vec![(3, vec![7])]));
    }
}
