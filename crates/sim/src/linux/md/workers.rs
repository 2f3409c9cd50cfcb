//! Workers of `io_uring`: they bring to rows what is more than one bio, and each sleeps for rows by itself.
//!
//! A program that sends by `io_uring` tries each request without sleeping. One of more than one bio cannot be tried
//! (`__blkdev_direct_IO`), and is left to a worker. There are four of them for a processor, and the requests of several of them
//! share the rows of the cache:
//!
//! ```text
//! one thread    request 1 has all rows, sleeps, has the next ones, … then request 2
//! four workers  request 1 sleeps with its rows filled in part, 2 gets the rows that become free, sleeps, …
//! ```
//!
//! So where a request has more rows than become free at a time, rows are handled before they are whole. Whoever sleeps is woken as
//! soon as the thread lets go of rows (`release_inactive_stripe_list`), the last first (`prepare_to_wait_event`), and runs when the
//! thread sleeps. Where no row is free for it, or too few are (`is_inactive_blocked`), it sleeps again. Who has brought all of a
//! request takes the next at once (`io_worker_handle_work`), and runs before those that were woken: seen in the kernel rig's rates.

use super::readers::BIO_SECTORS;
use super::submit::Brought;
use super::{Bio, Md};
use crate::linux::sender::WORKERS;
use crate::{Device, Nanos};
use block::Request;
use std::collections::VecDeque;

/// The workers, and what waits for one.
#[derive(Clone, Debug, Default)]
pub(super) struct Workers {
    /// Callers that no worker has begun on.
    waiting: VecDeque<usize>,
    all: Vec<Worker>,
    /// Those that have nothing to do.
    idle: Vec<usize>,
    /// Those that run as soon as the thread sleeps, in order.
    ready: VecDeque<usize>,
    /// Those that sleep; the last of them is woken first.
    asleep: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct Worker {
    /// What it still has to bring to rows.
    bios: VecDeque<Bio>,
    /// It sleeps, or has slept, for a row, and goes on only where one is free.
    lacks_row: bool,
}

impl Workers {
    /// Whether one of them can go on, where rows have or have not become free since it slept.
    pub(super) fn go_on(&self, are_rows_free: bool) -> bool {
        !self.ready.is_empty() || (are_rows_free && !self.asleep.is_empty())
    }

    fn wake(&mut self) {
        self.ready.extend(self.asleep.drain(..).rev());
    }
}

impl<D: Device> Md<D> {
    /// Whether a worker brings what `request` writes to rows. (Device-mapper's RAID leaves all requests to workers; that is not
    /// modelled.)
    pub(super) fn is_left_to_workers(&self, request: &Request) -> bool {
        let is_direct = self.delayed.is_none() && !self.writer.is_plugged();
        let is_large = u64::from(request.sectors) > BIO_SECTORS && !self.is_cut_at_chunks;
        is_direct && is_large && self.driver.plugs.leave_large_writes()
    }

    /// A request waits for a worker (`io_wqe_enqueue`).
    pub(super) fn leave_to_workers(&mut self, caller: usize) {
        self.workers.waiting.push_back(caller);
        self.rouse_worker();
    }

    /// Where a request waits and no worker runs, one that has nothing to do takes it, or a new one (`io_wqe_dec_running`).
    fn rouse_worker(&mut self) {
        let Workers { waiting, all, idle, ready, .. } = &mut self.workers;
        if waiting.is_empty() {
            return;
        }
        let worker = match idle.pop() {
            Some(worker) => worker,
            None if ready.is_empty() && all.len() < WORKERS => {
                all.push(Worker::default());
                all.len() - 1
            }
            None => return,
        };
        if self.give_request(worker) {
            self.workers.ready.push_back(worker);
        }
    }

    /// A worker takes the first request that waits; gives whether there is one.
    fn give_request(&mut self, worker: usize) -> bool {
        let Some(caller) = self.workers.waiting.pop_front() else {
            self.workers.idle.push(worker);
            return false;
        };
        let request = self.callers.request(caller);
        let bios = self.bios_of(caller, request.sector, request.end());
        self.workers.all[worker] = Worker { bios, lacks_row: false };
        true
    }

    /// Workers run, one after the other, until the thread has something to do or all of them sleep.
    pub(super) fn work(&mut self, now: Nanos) {
        if self.cache.take_freed() {
            self.workers.wake();
        }
        while !self.thread_is_wanted()
            && let Some(worker) = self.workers.ready.pop_front()
        {
            let Worker { mut bios, lacks_row } = std::mem::take(&mut self.workers.all[worker]);
            let brought = self.bring(now, &mut bios, lacks_row);
            if brought == Brought::All {
                if self.give_request(worker) {
                    self.workers.ready.push_front(worker);
                }
                continue;
            }
            let lacks_row = brought == Brought::LacksRow;
            self.workers.all[worker] = Worker { bios, lacks_row };
            self.workers.asleep.push(worker);
            self.rouse_worker();
        }
    }
}
