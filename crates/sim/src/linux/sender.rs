//! Threads that send to the queues of several drives: while one sleeps for a place in one of them, the others get nothing of it.
//!
//! A request to a drive takes one of a few places (`nr_requests`), and who finds none sleeps until one is free
//! (`blk_mq_get_tag`). A program that reads through the page cache sleeps by itself. One that sends by `io_uring` does not: what
//! would sleep, and what is more than one bio, is left to a worker. But md's RAID 1 and 10 do not tell their members that
//! nobody may sleep (`raid10_read_request` keeps `REQ_SYNC` alone), so over them the program does, and with it all that it has
//! not sent yet.

use crate::Nanos;
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// Which threads sleep: the queues that they send to have a copy of this, and the array whose commands they send.
#[derive(Clone, Debug, Default)]
pub struct Senders(Rc<Threads>);

/// The thread of a program that sends all its requests.
pub(crate) const PROGRAM: u64 = 0;

/// Workers that send for programs at a time: four for each processor (`io_init_wq_offload`), and the kernel rig has one (and more
/// workers where more jobs flush or read through the page cache: the model gives those that read a thread each).
pub(crate) const WORKERS: usize = 4;

#[derive(Debug, Default)]
struct Threads {
    asleep: RefCell<BTreeSet<u64>>,
    /// Since when those go on that have slept, the first first.
    woken: RefCell<VecDeque<(Nanos, u64)>>,
}

impl Senders {
    /// `thread` sleeps for a place in a queue.
    pub(super) fn sleeps(&self, thread: u64) {
        self.0.asleep.borrow_mut().insert(thread);
    }

    /// It has the place, and has sent what was left of its command.
    pub(super) fn wakes(&self, now: Nanos, thread: u64) {
        if self.0.asleep.borrow_mut().remove(&thread) {
            self.0.woken.borrow_mut().push_back((now, thread));
        }
    }

    /// Whether `thread` sleeps.
    pub(crate) fn is_asleep(&self, thread: u64) -> bool {
        self.0.asleep.borrow().contains(&thread)
    }

    /// Whether anybody sleeps.
    pub(crate) fn are_asleep(&self) -> bool {
        !self.0.asleep.borrow().is_empty()
    }

    /// Whether `thread` has slept and does not go on yet.
    pub(super) fn is_woken(&self, thread: u64) -> bool {
        self.0.woken.borrow().iter().any(|&(_, woken)| woken == thread)
    }

    /// When the next one goes on that has slept.
    pub(crate) fn goes_on_at(&self) -> Option<Nanos> {
        self.0.woken.borrow().front().map(|&(at, _)| at)
    }

    /// The next one that goes on at `now`.
    pub(crate) fn take_woken(&self, now: Nanos) -> Option<u64> {
        let mut woken = self.0.woken.borrow_mut();
        let is_due = woken.front().is_some_and(|&(at, _)| at <= now);
        if is_due { woken.pop_front().map(|(_, thread)| thread) } else { None }
    }

    /// Nobody sleeps any more, and nobody goes on: all that was sent came to nothing.
    pub(super) fn abort(&self) {
        self.0.asleep.borrow_mut().clear();
        self.0.woken.borrow_mut().clear();
    }
}
