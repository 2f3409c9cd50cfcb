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
    pub(super) traffic: Traffic,
    pub(super) events: Vec<Event>,
}

/// A request that is not back.
pub(super) struct UnderWay {
    pub(super) buffers: Vec<BufferId>,
    pub(super) write: bool,
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
        self.under_way.insert(self.last_tag, UnderWay { buffers, write, waiting: Vec::new() });
        self.device.submit(now, self.last_tag, Request { target: 0, op, sector, sectors });
        self.last_tag
    }

    /// A request is back; gives the tasks that waited for it.
    pub(super) fn done(&mut self, tag: Tag) -> Vec<TaskId> {
        let UnderWay { buffers, write, waiting } =
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
        waiting
    }
}
