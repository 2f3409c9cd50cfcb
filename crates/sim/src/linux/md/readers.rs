//! Readers: whoever reads sends what is read past the cache to the members itself (`raid5_read_one_chunk`).

use super::{Bio, Carries, Md};
use crate::linux::queue::Plug;
use crate::linux::sender::WORKERS;
use crate::{Device, Nanos, Spent};
use block::Request;
use block::bios::{ONE_BIO_SECTORS, pieces};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// The largest bio: 256 pages, and as many rows (`RAID5_MAX_REQ_STRIPES`).
pub(super) const BIO_SECTORS: u64 = ONE_BIO_SECTORS as u64;

/// Readers that sleep for a place in a member's queue.
#[derive(Debug, Default)]
pub(super) struct Readers {
    /// What each has still to send, by caller.
    asleep: BTreeMap<usize, VecDeque<Range<u64>>>,
    /// Callers whose program has another one's request to send first.
    behind: Vec<(usize, usize)>,
    /// Callers that wait for a worker ([`WORKERS`]).
    for_workers: VecDeque<usize>,
}

impl<D: Device> Md<D> {
    /// Reads go past the cache, cut at chunks; while a member is down all go through its rows (`raid5_make_request`). What finds
    /// no place in a member's queue and may not sleep goes through its rows, too: to md that is an error like any other
    /// (`raid5_align_endio`).
    pub(super) fn begin_read(&mut self, now: Nanos, caller: usize, request: Request) {
        if self.is_degraded() {
            return self.push_bios(caller, request.sector, request.end());
        }
        match self.read_before(&request) {
            Some(earlier) => self.readers.behind.push((earlier, caller)),
            None if self.driver.plugs.may_sleep(&request) && !self.has_free_worker() => {
                self.readers.for_workers.push_back(caller);
            }
            None => self.send_all(now, caller),
        }
    }

    /// Whether one of the workers does not sleep that send what programs leave to them.
    fn has_free_worker(&self) -> bool {
        !self.driver.plugs.have_workers() || self.readers.asleep.len() < WORKERS
    }

    /// Whose request this one goes on behind, where it is read ahead by a program that still sends that one.
    fn read_before(&self, request: &Request) -> Option<usize> {
        if self.driver.plugs.have_workers() {
            return None;
        }
        let Readers { asleep, behind, .. } = &self.readers;
        let mut before = asleep.keys().copied().chain(behind.iter().map(|&(_, caller)| caller));
        before.find(|&caller| self.callers.request(caller).end() == request.sector)
    }

    fn send_all(&mut self, now: Nanos, caller: usize) {
        let request = self.callers.request(caller);
        let most = if self.is_cut_at_chunks {
            // Device-mapper cuts first, and hands over chunk by chunk.
            u64::from(request.sectors)
        } else {
            u64::from(self.members.max_sectors(0)).min(BIO_SECTORS)
        };
        let all = pieces(request.sector..request.end(), most, self.rows.chunk_sectors());
        // A member takes no more at once, however large a chunk is.
        let whole = u64::from(self.members.max_sectors(0));
        let parts = all.into_iter().flat_map(|piece| {
            let starts = piece.clone().step_by(whole as usize);
            starts.map(move |start| start..piece.end.min(start + whole))
        });
        self.send_pieces(now, (caller, parts.collect()), Plug::default());
    }

    /// Sends pieces until there are no more or their reader sleeps.
    fn send_pieces(
        &mut self,
        now: Nanos,
        (caller, mut rest): (usize, VecDeque<Range<u64>>),
        mut plug: Plug,
    ) {
        let request = self.callers.request(caller);
        let is_plugged = self.driver.plugs.hold(&request);
        let is_held = is_plugged || self.members.are_scheduled();
        let may_sleep = self.driver.plugs.may_sleep(&request);
        plug.set_endless(!is_plugged);
        while let Some(piece) = rest.pop_front() {
            self.callers.add_parts(caller, 1);
            if self.health.failures() > 0 {
                // A member has failed meanwhile.
                self.push_bios(caller, piece.start, piece.end);
                self.wake(now);
                continue;
            }
            let mut places = Vec::with_capacity(1);
            self.layout.places(piece.start, &mut places);
            let read = Request::read(places[0].sector, (piece.end - piece.start) as u32)
                .to(places[0].member);
            let carries = Carries::Direct(caller, read);
            if !may_sleep {
                if !self.members.try_send(now, &mut plug, read, carries) {
                    self.retries.push(Bio::new(caller, piece.start, piece.end, true));
                }
            } else if !self.members.send(now, &mut plug, read, carries) {
                self.readers.asleep.insert(caller, rest);
                return;
            }
            if !is_held {
                self.members.unplug(now, &mut plug);
            }
        }
        self.members.unplug(now, &mut plug);
        self.callers.part_done(now, caller, Spent::NONE, None);
        let behind = &mut self.readers.behind;
        let next: Vec<_> = behind.extract_if(.., |&mut (earlier, _)| earlier == caller).collect();
        for (_, caller) in next {
            self.send_all(now, caller);
        }
    }

    /// Who waits for a worker and finds one sends.
    fn send_waiting(&mut self, now: Nanos) {
        while self.has_free_worker()
            && let Some(caller) = self.readers.for_workers.pop_front()
        {
            self.send_all(now, caller);
        }
    }

    /// Who was woken takes a place and goes on, or sleeps again.
    pub(super) fn wake_sleepers(&mut self, now: Nanos) {
        if !self.members.have_sleepers() {
            return;
        }
        for member in 0..self.layout.members() as u32 {
            while let Some((bio, carries)) = self.members.next_woken(member) {
                if !self.members.has_room(member) {
                    self.members.sleep(bio, carries);
                    continue;
                }
                let mut plug = Plug::default();
                self.members.hold(now, &mut plug, bio, carries);
                match carries {
                    Carries::Direct(caller, _) => {
                        let rest = self.readers.asleep.remove(&caller).expect("it sleeps");
                        self.send_pieces(now, (caller, rest), plug);
                        self.send_waiting(now);
                    }
                    Carries::Bitmap | Carries::Mark | Carries::Row(_) => {
                        self.members.unplug(now, &mut plug);
                    }
                }
            }
        }
    }

    /// Everything was aborted.
    pub(super) fn forget_readers(&mut self) {
        self.readers = Readers::default();
    }
}
