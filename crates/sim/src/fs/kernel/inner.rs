//! What a kernel holds: its device, its memory, and the requests that are under way.

use super::orders::{ChangeId, Orders};
use super::spec::Traffic;
use super::window::Window;
use crate::fs::cache::{BufferId, Cache, Pool, State};
use crate::fs::clock::TaskId;
use crate::{Device, Event, Nanos, Tag};
use block::{Op, Request};
use std::collections::VecDeque;

/// The parts of a kernel that change.
pub(super) struct Inner {
    pub(super) device: Box<dyn Device>,
    pub(super) cache: Cache,
    /// By tag.
    pub(super) under_way: Window<UnderWay>,
    pub(super) writing_sectors: [u64; 2],
    /// Tasks that wait for memory: for any, and for that of a buffer.
    pub(super) waiting_for_room: Vec<TaskId>,
    pub(super) waiting_for_buffer: Vec<TaskId>,
    /// Dirty buffers in the order in which they became so, for each delay; some are no longer.
    pub(super) due: [VecDeque<(Nanos, u64)>; 3],
    /// Soft updates: for blocks by sector, what must be on the disk before all of a block may be.
    pub(super) orders: Orders,
    pub(super) traffic: Traffic,
    pub(super) events: Vec<Event>,
    /// Sectors that the page daemon will have free when its requests are back.
    pub(super) paging_sectors: u64,
}

/// A request that is not back.
pub(super) struct UnderWay {
    pub(super) buffers: Vec<BufferId>,
    pub(super) write: bool,
    /// Buffers, among those, that were written without their last changes.
    pub(super) rolled_back: Vec<BufferId>,
    /// Changes that others wait for and that go with it.
    pub(super) changes: Vec<ChangeId>,
    pub(super) waiting: Vec<TaskId>,
    /// What the page daemon wants it for, in sectors; 0 where it is not the daemon's.
    pub(super) paging_sectors: u64,
}

impl Inner {
    pub(super) fn submit(
        &mut self,
        now: Nanos,
        op: Op,
        sector: u64,
        sectors: u32,
        buffers: Vec<BufferId>,
    ) -> Tag {
        let write = op != Op::Read;
        let (changes, rolled_back) =
            if write { self.go_with(&buffers) } else { (Vec::new(), Vec::new()) };
        let under_way = UnderWay {
            buffers,
            write,
            rolled_back,
            changes,
            waiting: Vec::new(),
            paging_sectors: 0,
        };
        let tag = self.under_way.push(under_way);
        self.device.submit(now, tag, Request { target: 0, op, sector, sectors });
        tag
    }

    /// The request that was started last is the page daemon's, which wants so many sectors of it.
    pub(super) fn last_is_paging(&mut self, sectors: u64) {
        let request = self.under_way.newest_mut().expect("it was just started");
        request.paging_sectors = sectors;
        self.paging_sectors += sectors;
    }

    /// The changes that go with `buffers`, and those of them that go without some.
    fn go_with(&mut self, buffers: &[BufferId]) -> (Vec<ChangeId>, Vec<BufferId>) {
        let (mut changes, mut rolled_back) = (Vec::new(), Vec::new());
        for &id in buffers {
            let sector = self.cache.get(id).extent.sector;
            let (going, rolls_back) = self.orders.go_with(sector);
            changes.extend(going);
            if rolls_back {
                rolled_back.push(id);
            }
        }
        (changes, rolled_back)
    }

    /// A request is back at `now`; gives the tasks that waited for it.
    pub(super) fn done(&mut self, now: Nanos, tag: Tag) -> Vec<TaskId> {
        let request = self.under_way.remove(tag).expect("what comes back was under way");
        let mut waiting = request.waiting;
        self.paging_sectors -= request.paging_sectors;
        self.orders.changes_written(&request.changes);
        for id in request.buffers {
            let buffer = *self.cache.get(id);
            if buffer.pool == Pool::Metadata {
                waiting.append(&mut self.waiting_for_buffer);
            }
            if request.write {
                self.writing_sectors[buffer.pool as usize] -= u64::from(buffer.extent.sectors);
            }
            // Written or read: it is on the disk as it is here.
            self.orders.block_written(buffer.extent.sector);
            if buffer.doomed {
                self.cache.remove(id);
            } else {
                self.cache.set(id, State::Clean);
                if request.write && buffer.aged {
                    self.cache.set_aged(id, false);
                    self.cache.age(id);
                }
            }
        }
        for id in request.rolled_back {
            self.still_dirty(now, id);
        }
        waiting
    }

    /// A buffer that is held has changed, and whoever changed it is about to write it.
    pub(super) fn is_changed(&mut self, now: Nanos, sector: u64) {
        if let Some(id) = self.cache.find(sector)
            && self.cache.get(id).state == State::Clean
        {
            self.cache.set(id, State::Dirty(now));
        }
    }

    /// The last change of the block at `sector` was ordered. Where the operation that made it has waited
    /// for something else since, the block may have been written: without the change, if that is early.
    pub(super) fn was_ordered(&mut self, now: Nanos, sector: u64) {
        let id = self.cache.find(sector);
        match id.map(|id| self.cache.get(id).state) {
            Some(State::Dirty(_)) => {}
            Some(State::Busy(tag)) if self.under_way.get_mut(tag).is_some_and(|it| it.write) => {
                let (changes, rolled_back) = self.go_with(id.as_slice());
                let request = self.under_way.get_mut(tag).expect("it was just there");
                request.changes.extend(changes);
                request.rolled_back.retain(|it| !rolled_back.contains(it));
                request.rolled_back.extend(rolled_back);
            }
            Some(State::Clean) => {
                let (changes, rolled_back) = self.go_with(id.as_slice());
                self.orders.changes_written(&changes);
                for id in rolled_back {
                    self.still_dirty(now, id);
                }
            }
            // It has left memory, and all of it is on the disk.
            Some(State::Busy(_)) | None => self.orders.forget(sector),
        }
    }

    /// Checks that nothing is under way, and that nothing is waited for.
    pub(super) fn check_idle(&self) {
        assert!(self.under_way.is_empty(), "requests are under way");
        assert_eq!((self.writing_sectors, self.paging_sectors), ([0; 2], 0), "sectors under way");
        assert!(self.orders.is_empty(), "changes wait for others: {:?}", self.orders);
        let waiting = [&self.waiting_for_room, &self.waiting_for_buffer];
        assert_eq!(waiting, [&[]; 2], "tasks wait for memory");
    }

    /// A buffer was written without its last changes, which are still to be written.
    fn still_dirty(&mut self, now: Nanos, id: BufferId) {
        let sector = self.cache.get(id).extent.sector;
        let Some(order) = self.orders.get(sector) else { return };
        if self.cache.find(sector) == Some(id) {
            let due = now + order.delay_ns;
            self.cache.set(id, State::Dirty(due));
            self.due[order.delay].push_back((due, sector));
        }
    }
}
