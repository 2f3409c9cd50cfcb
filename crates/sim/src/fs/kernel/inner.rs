//! The state of a kernel: its device, its memory, and the requests in flight.

use super::spec::{Delay, Delays, Traffic};
use crate::fs::cache::{BufferId, Cache, Pool, State};
use crate::fs::clock::{Clock, TaskId};
use crate::fs::files::FsError;
use crate::fs::filesystem::{FileSystem, Held};
use crate::fs::window::Window;
use crate::{Device, Event, Nanos, Tag};
use block::{Op, Request};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// The parts of a kernel that change.
pub(super) struct Inner {
    pub(super) device: Box<dyn Device>,
    pub(super) file_system: Rc<RefCell<dyn FileSystem>>,
    pub(super) delays: Delays,
    pub(super) cache: Cache,
    /// By tag.
    pub(super) under_way: Window<UnderWay>,
    /// Requests that are back, for the memory of their lists.
    pub(super) spare: Vec<UnderWay>,
    pub(super) writing_sectors: [u64; 2],
    /// Tasks that wait for memory: for any, and for that of a buffer.
    pub(super) waiting_for_room: Vec<TaskId>,
    pub(super) waiting_for_buffer: Vec<TaskId>,
    /// Dirty buffers in the order in which they became dirty, for each delay; some are clean again.
    pub(super) due: [VecDeque<(Nanos, u64)>; 3],
    pub(super) traffic: Traffic,
    /// By tag: failed requests, and how many tasks are still to be told.
    pub(super) failed: BTreeMap<Tag, usize>,
    /// By file: how many writes of its blocks have failed.
    pub(super) write_errors: BTreeMap<u32, WriteErrors>,
    pub(super) events: Vec<Event>,
    /// Sectors that the page daemon will have freed when its requests are back.
    pub(super) paging_sectors: u64,
}

/// Writes of one file's blocks that failed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WriteErrors {
    pub(super) all: u64,
    /// Those that have been reported.
    pub(super) told: u64,
}

/// A request in flight.
#[derive(Default)]
pub(super) struct UnderWay {
    pub(super) buffers: Vec<BufferId>,
    pub(super) write: bool,
    pub(super) waiting: Vec<TaskId>,
    /// The task that made it and will wait for it.
    pub(super) awaited_by: Option<TaskId>,
    /// The sectors that the page daemon wants from it; 0 where it is not the daemon's.
    pub(super) paging_sectors: u64,
}

impl Inner {
    pub(super) fn submit(
        &mut self,
        now: Nanos,
        op: Op,
        sector: u64,
        sectors: u32,
        buffers: &[BufferId],
    ) -> Tag {
        let write = op != Op::Read;
        if write {
            let mut file_system = self.file_system.borrow_mut();
            for &id in buffers {
                file_system.write_starts(self.cache.get(id).extent.sector);
            }
        }
        let mut under_way = self.spare.pop().unwrap_or_default();
        under_way.buffers.extend_from_slice(buffers);
        under_way.write = write;
        let tag = self.under_way.push(under_way);
        self.device.submit(now, tag, Request { target: 0, op, sector, sectors });
        tag
    }

    /// Marks the last request as the page daemon's, which wants this many sectors from it.
    pub(super) fn last_is_paging(&mut self, sectors: u64) {
        let request = self.under_way.newest_mut().expect("it was just started");
        request.paging_sectors = sectors;
        self.paging_sectors += sectors;
    }

    /// Notes that `task` will wait for the last request.
    pub(super) fn is_awaited_by(&mut self, task: TaskId) {
        self.under_way.newest_mut().expect("it was just started").awaited_by = Some(task);
    }

    /// The result of a request that a task has waited for.
    pub(super) fn result_of(&mut self, tag: Tag) -> Result<(), FsError> {
        let Some(left) = self.failed.get_mut(&tag) else { return Ok(()) };
        *left -= 1;
        if *left == 0 {
            self.failed.remove(&tag);
        }
        Err(FsError::Io)
    }

    /// A request is back: wakes the tasks that waited for it.
    pub(super) fn done(&mut self, clock: &Clock, tag: Tag, is_well: bool) {
        let now = clock.now();
        let mut request = self.under_way.remove(tag).expect("what comes back was under way");
        self.paging_sectors -= request.paging_sectors;
        if !is_well {
            let late = request.awaited_by.filter(|task| !request.waiting.contains(task));
            let told = request.waiting.len() + usize::from(late.is_some());
            if told > 0 {
                self.failed.insert(tag, told);
            }
        }
        for id in request.buffers.drain(..) {
            let buffer = *self.cache.get(id);
            if buffer.pool == Pool::Metadata {
                request.waiting.append(&mut self.waiting_for_buffer);
            }
            if request.write {
                self.writing_sectors[buffer.pool as usize] -= u64::from(buffer.extent.sectors);
            }
            if is_well {
                self.arrived(now, id, request.write);
            } else {
                self.was_lost(id, request.write);
            }
        }
        for task in request.waiting.drain(..).chain(self.waiting_for_room.drain(..)) {
            clock.wake(task);
        }
        let UnderWay { buffers, waiting, .. } = request;
        self.spare.push(UnderWay { buffers, waiting, ..UnderWay::default() });
    }

    /// A buffer was written or read: it is the same as on the device.
    fn arrived(&mut self, now: Nanos, id: BufferId, write: bool) {
        let buffer = *self.cache.get(id);
        let still_dirty = self.file_system.borrow_mut().transfer_ends(buffer.extent.sector);
        if buffer.doomed {
            self.cache.remove(id);
            return;
        }
        self.cache.set(id, State::Clean);
        if write && buffer.aged {
            self.cache.set_aged(id, false);
            self.cache.age(id);
        }
        if let Some(delay) = still_dirty {
            self.is_dirty(now, id, delay);
        }
    }

    /// A buffer could not be read or written. It leaves memory, and data that was only there is lost.
    /// NetBSD does the same: it takes errors to be permanent (`uvm_aio_aiodone`: "the data in the page
    /// is lost. bummer"; `brelse` sets `B_INVAL`).
    fn was_lost(&mut self, id: BufferId, write: bool) {
        let buffer = *self.cache.get(id);
        let mut file_system = self.file_system.borrow_mut();
        file_system.transfer_ends(buffer.extent.sector);
        file_system.forgotten(buffer.extent.sector);
        self.cache.remove(id);
        if write && !buffer.doomed {
            self.write_errors.entry(buffer.owner).or_default().all += 1;
        }
    }

    /// A buffer is dirty, from `now` on.
    pub(super) fn is_dirty(&mut self, now: Nanos, id: BufferId, delay: Delay) {
        let due = now + self.delays.of(delay);
        self.cache.set(id, State::Dirty(due));
        self.due[delay as usize].push_back((due, self.cache.get(id).extent.sector));
    }

    /// A program wants this many sectors of a buffer, and finds them in memory.
    #[inline]
    pub(super) fn has_hit(&mut self, id: BufferId, sectors: u32) {
        self.cache.grow(id, sectors);
        self.cache.touch(id);
        self.cache.used_for(id, true);
        self.traffic.hits += 1;
    }

    /// A held buffer has changed at `now`, and is to be written later.
    pub(super) fn is_changed_later(&mut self, now: Nanos, id: BufferId, delay: Delay) {
        self.cache.used_for(id, false);
        if let State::Dirty(_) | State::Held = self.cache.get(id).state {
            self.cache.touch(id);
        } else {
            self.is_dirty(now, id, delay);
        }
    }

    /// The state of the block at `sector`.
    pub(super) fn held(&mut self, sector: u64) -> Held {
        let Some(id) = self.cache.find(sector) else { return Held::Absent };
        match self.cache.get(id).state {
            State::Clean => Held::Clean,
            State::Dirty(_) | State::Held => Held::Dirty,
            State::Busy(tag) => match self.under_way.get_mut(tag) {
                Some(request) if request.write => Held::Writing,
                _ => Held::Reading,
            },
        }
    }

    /// A held buffer has changed, and whoever changed it is about to write it.
    pub(super) fn is_changed(&mut self, now: Nanos, sector: u64) {
        if let Some(id) = self.cache.find(sector)
            && self.cache.get(id).state == State::Clean
        {
            self.cache.set(id, State::Dirty(now));
        }
    }

    /// Checks that no request is in flight, and that no task waits.
    pub(super) fn check_idle(&self) {
        assert!(self.under_way.is_empty(), "requests are under way");
        assert_eq!((self.writing_sectors, self.paging_sectors), ([0; 2], 0), "sectors under way");
        self.file_system.borrow().check_settled();
        let waiting = [&self.waiting_for_room, &self.waiting_for_buffer];
        assert_eq!(waiting, [&[]; 2], "tasks wait for memory");
    }
}
