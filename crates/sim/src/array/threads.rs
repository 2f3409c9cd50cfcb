//! Threads that send the stages of an array, where who sends may sleep for a place in a member's queue.
//!
//! A program sends its requests itself, and while it sleeps it asks for nothing else. Programs that read through the page cache sleep
//! each by itself; what such a one reads next is known by where it begins. What a program leaves to workers ([`Plugs`](crate::Plugs)) waits until
//! one of them does not sleep.

use super::{Array, Command};
use crate::linux::sender::{PROGRAM, Senders, WORKERS};
use crate::{Device, Fault, Nanos, Part};
use block::{Op, Request};
use std::collections::VecDeque;

/// Stages of which something is not sent.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    /// What the program has not asked for yet, since it sleeps.
    unasked: VecDeque<usize>,
    /// What waits for a worker, and which thread that will be.
    for_workers: VecDeque<(u64, usize)>,
    /// Those whose thread sleeps.
    asleep: Vec<Asleep>,
    /// What a program has read ahead next, and the stage that it has to send first.
    behind: Vec<(usize, usize)>,
}

/// A stage whose thread sleeps.
#[derive(Clone, Copy, Debug)]
struct Asleep {
    thread: u64,
    slot: usize,
    /// What the stage is for. Who sleeps with the last of it may have it back already.
    request: Request,
    /// How many of its steps are not sent.
    left: usize,
    is_by_worker: bool,
    is_read_by_md: bool,
}

impl Unsent {
    fn program_sleeps(&self) -> bool {
        self.asleep.iter().any(|asleep| asleep.thread == PROGRAM)
    }

    fn workers_asleep(&self) -> usize {
        self.asleep.iter().filter(|asleep| asleep.is_by_worker).count()
    }
}

impl<D: Device> Array<D> {
    /// Starts a stage as soon as the thread that sends it does not sleep. What restores and repairs has one of its own.
    pub(super) fn start_by_thread(&mut self, now: Nanos, slot: usize) {
        let stage = self.core.stage(slot);
        if stage.owner.is_none() {
            self.driver.plugs.begin_beside(&stage.request);
            let thread = self.driver.plugs.thread();
            self.send(now, thread, slot, None);
        } else if self.unsent.program_sleeps() {
            self.unsent.unasked.push_back(slot);
        } else if let Some(earlier) = self.read_before(slot) {
            self.unsent.behind.push((earlier, slot));
        } else {
            self.hand_over(now, slot);
        }
    }

    /// The stage that this one goes on behind, where it is read ahead by a program that still sends that one.
    fn read_before(&self, slot: usize) -> Option<usize> {
        let Request { op, target, sector, .. } = self.core.stage(slot).request;
        if self.driver.plugs.have_workers() || op != Op::Read {
            return None;
        }
        let is_before =
            |before: &Request| before.op == op && before.target == target && before.end() == sector;
        let Unsent { asleep, behind, .. } = &self.unsent;
        let asleep = asleep.iter().map(|asleep| (asleep.slot, asleep.request));
        let behind = behind.iter().map(|&(_, slot)| (slot, self.core.stage(slot).request));
        asleep.chain(behind).find(|(_, before)| is_before(before)).map(|(slot, _)| slot)
    }

    /// Starts a stage, or has it wait for a worker.
    fn hand_over(&mut self, now: Nanos, slot: usize) {
        let plugs = &self.driver.plugs;
        plugs.begin(&self.core.stage(slot).request);
        let thread = plugs.thread();
        if thread == PROGRAM || self.has_free_worker() {
            self.send(now, thread, slot, None);
        } else {
            self.unsent.for_workers.push_back((thread, slot));
        }
    }

    /// Whether one of the workers does not sleep; what is no program's has a thread of its own.
    fn has_free_worker(&self) -> bool {
        !self.driver.plugs.have_workers() || self.unsent.workers_asleep() < WORKERS
    }

    /// Sends a stage, or what is `left` of it, until the thread that sends it sleeps.
    fn send(&mut self, now: Nanos, thread: u64, slot: usize, left: Option<usize>) {
        let request = self.core.stage(slot).request;
        let (plugs, below) = (&self.driver.plugs, &mut self.below);
        let sleeps = || plugs.senders().is_some_and(|senders| senders.is_asleep(thread));
        let send = |Command { tag, request, .. }| {
            below.submit(now, tag, request);
            !sleeps()
        };
        let left = match left {
            None => self.core.start_while(now, slot, send),
            Some(left) => self.core.send_rest(slot, left, send),
        };
        if sleeps() {
            let is_read_by_md = self.core.is_read_by_md(slot);
            if is_read_by_md {
                self.core.md_sleeps(now, true);
            }
            let is_by_worker = thread != PROGRAM && self.core.stage(slot).owner.is_some();
            self.unsent.asleep.push(Asleep {
                thread,
                slot,
                request,
                left,
                is_by_worker,
                is_read_by_md,
            });
        }
    }

    /// Threads that have slept for a place in a queue go on, and then who waits for them.
    pub(super) fn wake(&mut self, now: Nanos) {
        while let Some(thread) =
            self.driver.plugs.senders().and_then(|senders| senders.take_woken(now))
        {
            let asleep = &mut self.unsent.asleep;
            if let Some(at) = asleep.iter().position(|asleep| asleep.thread == thread) {
                let Asleep { slot, left, request, is_read_by_md, .. } = asleep.remove(at);
                if is_read_by_md {
                    self.core.md_sleeps(now, false);
                }
                if left > 0 {
                    self.driver.plugs.resume(thread, &request);
                    self.send(now, thread, slot, Some(left));
                }
                self.go_on_behind(now, slot);
            }
            while self.has_free_worker()
                && let Some((thread, slot)) = self.unsent.for_workers.pop_front()
            {
                self.core.charge(slot, Part::QUEUE, now);
                self.driver.plugs.resume(thread, &self.core.stage(slot).request);
                self.send(now, thread, slot, None);
            }
            while !self.unsent.program_sleeps()
                && let Some(slot) = self.unsent.unasked.pop_front()
            {
                self.core.charge(slot, Part::QUEUE, now);
                self.hand_over(now, slot);
            }
        }
    }

    /// Programs that have sent `earlier` send what they have read ahead next.
    fn go_on_behind(&mut self, now: Nanos, earlier: usize) {
        if self.unsent.asleep.iter().any(|asleep| asleep.slot == earlier) {
            return;
        }
        let next: Vec<_> =
            self.unsent.behind.extract_if(.., |&mut (slot, _)| slot == earlier).collect();
        for (_, slot) in next {
            self.core.charge(slot, Part::QUEUE, now);
            self.hand_over(now, slot);
            self.go_on_behind(now, slot);
        }
    }

    /// When a thread goes on that has slept.
    pub(super) fn goes_on_at(&self) -> Option<Nanos> {
        self.driver.plugs.senders().and_then(Senders::goes_on_at)
    }

    /// When a thread may wake below for which a stage waits, without an event that comes here.
    pub(super) fn may_wake_at(&self) -> Option<Nanos> {
        // Somebody may sleep whom nothing here is known of, with a write that its bitmap held up.
        let are_asleep = self.driver.plugs.senders().is_some_and(Senders::are_asleep);
        if are_asleep || !self.unsent.asleep.is_empty() { self.below.next_event() } else { None }
    }

    /// Everything was aborted by `fault`: nothing more is sent.
    pub(super) fn give_up_unsent(&mut self, now: Nanos, fault: Fault) {
        let Unsent { unasked, for_workers, asleep, behind } = std::mem::take(&mut self.unsent);
        let for_workers = for_workers.into_iter().map(|(_, slot)| slot);
        let behind = behind.into_iter().map(|(_, slot)| slot);
        for slot in unasked.into_iter().chain(for_workers).chain(behind) {
            self.core.start(now, slot, |_| unreachable!("it was aborted"));
        }
        self.core.md_sleeps(now, false);
        for Asleep { slot, left, .. } in asleep.into_iter().filter(|asleep| asleep.left > 0) {
            self.core.give_up(now, slot, left, fault);
        }
    }
}
