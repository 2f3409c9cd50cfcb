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
