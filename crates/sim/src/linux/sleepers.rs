//! Threads that sleep for a place in a queue (`lib/sbitmap.c` of 6.1).
//!
//! They stand in eight lines, which they join in turn. Places that become free are counted, and each batch of them wakes the threads
//! of one line, the lines in turn, too. Whoever comes first takes what is free, also who has not slept: a thread that goes on
//! may take several places, and those that were woken with it sleep again. So where many programs send to a
//! queue without a scheduler, a drive gets a few commands of one of them in a row.

use std::collections::VecDeque;

/// Lines of a queue (`SBQ_WAIT_QUEUES`).
const LINES: usize = 8;

/// Who sleeps for a place in one queue: a `T` for each.
#[derive(Clone, Debug)]
pub(super) struct Sleepers<T> {
    lines: [VecDeque<T>; LINES],
    /// The line that the next one joins, and the one that is woken next (`wait_index`, `wake_index`).
    joins: usize,
    wakes: usize,
    /// Places that have become free since the last batch of them (`completion_cnt`).
    freed: usize,
    /// Who is awake and has not tried again yet.
    woken: VecDeque<T>,
}

impl<T> Default for Sleepers<T> {
    fn default() -> Self {
        Sleepers { lines: Default::default(), joins: 0, wakes: 0, freed: 0, woken: VecDeque::new() }
    }
}

impl<T> Sleepers<T> {
    /// Whether nobody sleeps.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.iter().all(VecDeque::is_empty)
    }

    /// Somebody finds no place.
    pub(super) fn push(&mut self, sleeper: T) {
        self.lines[self.joins].push_back(sleeper);
        self.joins = (self.joins + 1) % LINES;
    }

    /// A place is free.
    pub(super) fn freed(&mut self) {
        if !self.is_empty() {
            self.freed += 1;
        }
    }

    /// The next one who is awake, where each `batch` of free places wakes a line.
    pub(super) fn next_woken(&mut self, batch: usize) -> Option<T> {
        while self.woken.is_empty() && self.freed >= batch && !self.is_empty() {
            self.freed -= batch;
            self.wake(batch);
        }
        self.woken.pop_front()
    }

    /// Wakes so many at most of the next line with anybody in it.
    fn wake(&mut self, most: usize) {
        for _ in 0..LINES {
            let line = &mut self.lines[self.wakes];
            self.wakes = (self.wakes + 1) % LINES;
            if !line.is_empty() {
                self.woken.extend(line.drain(..most.min(line.len())));
                return;
            }
        }
    }

    /// Nobody sleeps any more.
    pub(super) fn clear(&mut self) {
        *self = Sleepers::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleepers(count: usize) -> Sleepers<usize> {
        let mut sleepers = Sleepers::default();
        (0..count).for_each(|number| sleepers.push(number));
        sleepers
    }

    /// By hand from `__sbitmap_queue_wake_up`.
    #[test]
    fn a_batch_of_places_wakes_a_line() {
        let mut twenty = sleepers(20);
        let mut wake = || {
            twenty.freed();
            std::iter::from_fn(|| twenty.next_woken(4)).collect::<Vec<_>>()
        };
        let woken: Vec<Vec<usize>> = (0..12).map(|_| wake()).collect();
        assert!(woken.iter().enumerate().all(|(place, who)| who.is_empty() == (place % 4 != 3)));
        assert_eq!(
            [&woken[3], &woken[7], &woken[11]],
            [&[0, 8, 16][..], &[1, 9, 17], &[2, 10, 18]]
        );
    }

    /// With mq-deadline each place wakes one, in the order in which they came.
    #[test]
    fn one_by_one_the_first_comes_first() {
        let mut twenty = sleepers(20);
        for number in 0..20 {
            twenty.freed();
            assert_eq!((twenty.next_woken(1), twenty.next_woken(1)), (Some(number), None));
        }
    }

    /// What becomes free while nobody sleeps wakes nobody later.
    #[test]
    fn free_places_are_not_counted_before_anybody_sleeps() {
        let mut one = sleepers(0);
        one.freed();
        one.push(7);
        assert_eq!(one.next_woken(1), None);
    }
}
