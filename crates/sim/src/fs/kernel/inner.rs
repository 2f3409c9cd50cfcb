//! What a kernel holds: its device, its memory, and the requests that are under way.

use super::spec::Traffic;
use crate::fs::cache::{BufferId, Cache, State};
use crate::fs::clock::TaskId;
use crate::{Device, Event, Nanos, Tag};
use block::{Op, Request};
use std::collections::{BTreeMap, VecDeque};

/// The parts of a kernel that change.
pub(super) struct Inner {
    pub(super) device: Box<dyn Device>,
    pub(super) cache: Cache,
    pub(super) under_way: BTreeMap<Tag, UnderWay>,
    pub(super) last_tag: Tag,
    pub(super) writing_sectors: [u64; 2],
    /// Tasks that wait for memory.
    pub(super) waiting_for_room: Vec<TaskId>,
    /// Dirty buffers in the order in which they became so, for each delay; some are no longer.
    pub(super) due: [VecDeque<(Nanos, u64)>; 3],
    /// Soft updates: for blocks by sector, what must be on the disk before all of a block may be.
    pub(super) orders: BTreeMap<u64, Order>,
    pub(super) traffic: Traffic,
    pub(super) events: Vec<Event>,
}

/// What a block waits for.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The blocks that must be written first: where each starts, and whose it is; once it is another's,
    /// it is not waited for.
    pub(super) first: Vec<(u64, u32)>,
    /// Which delay the block has, and how long that is.
    pub(super) delay: usize,
    pub(super) delay_ns: Nanos,
}

/// A request that is not back.
pub(super) struct UnderWay {
    pub(super) buffers: Vec<BufferId>,
    pub(super) write: bool,
    /// Buffers, among those, that were written without their last changes.
    pub(super) rolled_back: Vec<BufferId>,
    pub(super) waiting: Vec<TaskId>,
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
        self.last_tag += 1;
        let write = op != Op::Read;
        let rolled_back = if write { self.rolled_back(&buffers) } else { Vec::new() };
        let under_way = UnderWay { buffers, write, rolled_back, waiting: Vec::new() };
        self.under_way.insert(self.last_tag, under_way);
        self.device.submit(now, self.last_tag, Request { target: 0, op, sector, sectors });
        self.last_tag
    }

    /// Those of `buffers` that name what is not yet on the disk.
    fn rolled_back(&mut self, buffers: &[BufferId]) -> Vec<BufferId> {
        let mut found = Vec::new();
        if self.orders.is_empty() {
            return found;
        }
        for &id in buffers {
            let sector = self.cache.get(id).extent.sector;
            let Some(order) = self.orders.get_mut(&sector) else { continue };
            let cache = &self.cache;
            let is_late = |&(first, owner): &(u64, u32)| {
                cache.find(first).is_some_and(|first| {
                    let first = cache.get(first);
                    first.owner == owner && first.state != State::Clean
                })
            };
            order.first.retain(is_late);
            if order.first.is_empty() {
                self.orders.remove(&sector);
            } else {
                found.push(id);
            }
        }
        found
    }

    /// A request is back at `now`; gives the tasks that waited for it.
    pub(super) fn done(&mut self, now: Nanos, tag: Tag) -> Vec<TaskId> {
        let UnderWay { buffers, write, rolled_back, waiting } =
            self.under_way.remove(&tag).expect("what comes back was under way");
        for id in buffers {
            let buffer = *self.cache.get(id);
            if write {
                self.writing_sectors[buffer.pool as usize] -= u64::from(buffer.extent.sectors);
            }
            if buffer.doomed {
                self.cache.remove(id);
            } else {
                self.cache.set(id, State::Clean);
                if write && buffer.aged {
                    self.cache.set_aged(id, false);
                    self.cache.age(id);
                }
            }
        }
        for id in rolled_back {
            self.still_dirty(now, id);
        }
        waiting
    }

    /// A buffer was written without its last changes, which are still to be written.
    fn still_dirty(&mut self, now: Nanos, id: BufferId) {
        let sector = self.cache.get(id).extent.sector;
        let Some(order) = self.orders.get(&sector) else { return };
        if self.cache.find(sector) == Some(id) {
            let due = now + order.delay_ns;
            self.cache.set(id, State::Dirty(due));
            self.due[order.delay].push_back((due, sector));
        }
    }
}
