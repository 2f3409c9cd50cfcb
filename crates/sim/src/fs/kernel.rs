//! What a file system runs on: a buffer cache, a processor and a device, in virtual time.
//!
//! A block that is read comes from the cache or from the device, and its reader waits. A changed block
//! is written at once synchronously, at once asynchronously, or later: when the syncer finds it old
//! enough, or when its memory is needed. Contiguous dirty blocks of one file go in one request
//! (*clustering*), up to the largest that the host makes. A block whose request is in flight can
//! neither be read nor changed until the request is back, as a buffer with BSD's `B_BUSY`.

use super::cache::{BufferId, Cache, State};
pub use super::cache::{Extent, Pool, Replacement};
use super::clock::{Clock, TaskId};
use super::files::FsError;
use super::filesystem::{FileSystem, Held, Memory, UNPLACED};
use super::window::Window;
use crate::{Counters, Device, Disturbance, Nanos, Tag};
use block::Op;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

mod ahead;
mod at_once;
mod delayed;
mod helper;
mod inner;
mod page_daemon;
mod raw;
mod room;
mod spec;
mod sync;
mod time;

use helper::Helper;
use inner::Inner;
pub use spec::{Cleaning, Delay, Delays, PageDaemon, Spec, Traffic};

/// A cache over a device.
pub struct Kernel {
    clock: Rc<Clock>,
    spec: Spec,
    state: RefCell<Inner>,
    /// The tasks whose writes are not a program's.
    daemons: RefCell<Vec<TaskId>>,
    /// The tasks that will wait for what they write (`WB_SYNC_ALL`), as often as they have begun to.
    syncing: RefCell<Vec<TaskId>>,
    /// Writes blocks that are in memory only, where they take too much of it.
    flusher: Helper,
    /// Does the file system's own work.
    own_work: Helper,
    /// Whether the file system is called because memory is short.
    is_short: Cell<bool>,
    /// Tasks that wait for a milestone of the file system.
    waiting_for_milestones: RefCell<Vec<TaskId>>,
    /// Empty between writes: kept for its memory.
    cluster: RefCell<Vec<BufferId>>,
}

impl Kernel {
    /// A kernel as in `spec` on `device`, of which it uses target 0, for the blocks of `file_system`.
    pub fn new(
        clock: Rc<Clock>,
        spec: Spec,
        device: Box<dyn Device>,
        file_system: Rc<RefCell<dyn FileSystem>>,
    ) -> Self {
        let sectors = |bytes: u64| bytes / block::SECTOR_BYTES;
        let cache =
            Cache::new(sectors(spec.buffer_bytes), sectors(spec.page_bytes.unwrap_or_default()))
                .replacing(spec.replacement)
                .sharing(matches!(spec.cleaning, Cleaning::PageDaemon(_)));
        Kernel {
            clock,
            spec,
            state: RefCell::new(Inner {
                device,
                file_system,
                delays: spec.delays,
                failed: BTreeMap::new(),
                write_errors: BTreeMap::new(),
                cache,
                under_way: Window::default(),
                spare: Vec::new(),
                writing_sectors: [0; 2],
                waiting_for_room: Vec::new(),
                waiting_for_buffer: Vec::new(),
                due: Default::default(),
                traffic: Traffic::default(),
                events: Vec::new(),
                paging_sectors: 0,
            }),
            daemons: RefCell::default(),
            syncing: RefCell::default(),
            flusher: Helper::default(),
            own_work: Helper::default(),
            is_short: Cell::new(false),
            waiting_for_milestones: RefCell::default(),
            cluster: RefCell::default(),
        }
    }

    /// The clock.
    pub fn clock(&self) -> &Rc<Clock> {
        &self.clock
    }

    /// Requests made so far.
    pub fn traffic(&self) -> Traffic {
        self.state.borrow().traffic
    }

    /// The counters of the device.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.state.borrow().device.count(&mut counters);
        counters.close_at(self.clock.now());
        counters
    }

    /// Something happens to the device.
    pub fn disturb(&self, what: Disturbance) {
        self.state.borrow_mut().device.disturb(self.clock.now(), what);
    }

    /// The sectors of the device.
    pub fn sectors(&self) -> u64 {
        self.state.borrow().device.geometry().target_sectors[0]
    }

    /// The largest request, in sectors.
    pub fn cluster_sectors(&self) -> u32 {
        self.spec.cluster_sectors
    }

    fn pool(&self, pool: Pool) -> Pool {
        if self.spec.page_bytes.is_some() { pool } else { Pool::Metadata }
    }

    /// Whether the block that starts at `sector` is in memory, or being read.
    pub fn holds(&self, sector: u64) -> bool {
        self.state.borrow().cache.find(sector).is_some()
    }

    /// Waits until `extent` is in memory and no request for it is in flight.
    ///
    /// # Errors
    ///
    /// Where the device cannot read it.
    pub async fn read(&self, extent: Extent, pool: Pool, owner: u32) -> Result<(), FsError> {
        self.read_cluster(&[extent], pool, owner).await
    }

    /// Waits until the first of `extents` is in memory. If it must be read, the others, which follow it
    /// contiguously, are read with it where they are not in memory either.
    ///
    /// # Errors
    ///
    /// Where the device cannot read them.
    pub async fn read_cluster(
        &self,
        extents: &[Extent],
        pool: Pool,
        owner: u32,
    ) -> Result<(), FsError> {
        let (pool, first) = (self.pool(pool), extents[0]);
        let mut was_read = false;
        loop {
            let found = self.state.borrow().cache.find(first.sector);
            if let Some(id) = found {
                if self.wait_while_busy(id).await.is_some() {
                    continue;
                }
                let inner = &mut *self.state.borrow_mut();
                if was_read {
                    inner.cache.grow(id, first.sectors);
                } else {
                    inner.has_hit(id, first.sectors);
                }
                return Ok(());
            }
            let wanted = self.absent_run(extents);
            if self.make_room(pool, wanted.iter().map(|extent| extent.sectors).sum()).await {
                continue;
            }
            let tag = self.start_read(wanted, pool, owner, true);
            self.clock.settle().await;
            self.wait_for(tag).await?;
            // Where memory is short, a task that was woken before this one may have taken the memory
            // already.
            was_read = true;
        }
    }

    fn start_read(&self, extents: &[Extent], pool: Pool, owner: u32, wait: bool) -> Tag {
        self.clock.sends(true);
        let inner = &mut *self.state.borrow_mut();
        let tag = inner.under_way.next_number();
        let insert = |extent: &Extent| {
            let id = inner.cache.insert(*extent, pool, owner, State::Busy(tag));
            inner.cache.used_for(id, true);
            id
        };
        let buffers: Vec<BufferId> = extents.iter().map(insert).collect();
        let sectors = extents.iter().map(|extent| extent.sectors).sum();
        inner.traffic.reads += 1;
        let tag = inner.submit(self.clock.now(), Op::Read, extents[0].sector, sectors, &buffers);
        if wait {
            inner.is_awaited_by(self.clock.current());
        }
        tag
    }

    /// Waits until `extent` is in memory to be changed. It is read unless it is `fresh`: just
    /// allocated.
    ///
    /// # Errors
    ///
    /// Where the device cannot read it.
    pub async fn hold(
        &self,
        extent: Extent,
        pool: Pool,
        owner: u32,
        fresh: bool,
    ) -> Result<(), FsError> {
        self.wait_for_doomed(extent).await;
        if !fresh {
            return self.read(extent, pool, owner).await;
        }
        let pool = self.pool(pool);
        loop {
            let found = self.state.borrow().cache.find(extent.sector);
            if let Some(id) = found {
                if self.wait_while_busy(id).await.is_some() {
                    continue;
                }
                self.state.borrow_mut().cache.grow(id, extent.sectors);
                return Ok(());
            }
            if !self.make_room(pool, extent.sectors).await {
                self.state.borrow_mut().cache.insert(extent, pool, owner, State::Clean);
                return Ok(());
            }
        }
    }

    /// Waits until no request is in flight for the old content of `extent` that is no longer wanted.
    async fn wait_for_doomed(&self, extent: Extent) {
        loop {
            let doomed = self.state.borrow().cache.doomed_in(extent);
            match doomed {
                Some(id) => self.wait_while_busy(id).await,
                None => return,
            };
        }
    }

    /// A held block has changed, and is to be written later.
    pub fn write_later(&self, sector: u64, delay: Delay) {
        let inner = &mut *self.state.borrow_mut();
        let id = inner.cache.find(sector).expect("what is changed is held");
        inner.is_changed_later(self.clock.now(), id, delay);
    }

    /// A held block has changed, and is written now.
    ///
    /// # Errors
    ///
    /// Where the write is synchronous, and the device cannot do it.
    pub async fn write_now(&self, sector: u64, wait: bool) -> Result<(), FsError> {
        // While the processor works, nobody may drop it unwritten.
        self.state.borrow_mut().is_changed(self.clock.now(), sector);
        self.clock.settle().await;
        loop {
            let found = self.state.borrow().cache.find(sector);
            // Another task may have written and dropped it meanwhile.
            let Some(id) = found else { return Ok(()) };
            if self.wait_while_busy(id).await.is_none() {
                let tag = self.start_write(&[id]);
                if !wait {
                    return Ok(());
                }
                {
                    let inner = &mut *self.state.borrow_mut();
                    inner.traffic.waited_writes += 1;
                    inner.is_awaited_by(self.clock.current());
                }
                return self.wait_for(tag).await;
            }
        }
    }

    /// Starts to write a block and its dirty neighbours of the same file, if it is dirty.
    pub async fn push(&self, sector: u64) {
        self.clock.settle().await;
        self.start_cluster(sector, false);
    }

    /// The first sector of the first dirty block that starts in `extent`.
    pub(super) fn first_dirty(&self, extent: Extent) -> Option<u64> {
        self.state.borrow().cache.first_dirty(extent.sector..extent.end())
    }

    /// The blocks that start in `extent` no longer hold anything: they need not be written.
    pub fn forget(&self, extent: Extent) {
        let inner = &mut *self.state.borrow_mut();
        inner.file_system.borrow_mut().forgotten(extent.sector);
        if let Some(id) = inner.cache.find(extent.sector) {
            match inner.cache.get(id).state {
                State::Busy(_) => inner.cache.doom(id),
                State::Clean | State::Dirty(_) | State::Held => inner.cache.remove(id),
            }
        }
    }

    /// Waits until no request is in flight for the blocks that start in `extent`.
    ///
    /// # Errors
    ///
    /// Where a request in flight has failed.
    pub async fn written(&self, extent: Extent) -> Result<(), FsError> {
        let mut result = Ok(());
        loop {
            let busy = self.state.borrow().cache.first_busy(extent.sector..extent.end());
            match busy {
                Some(id) => result = result.and(self.wait_while_busy(id).await.unwrap_or(Ok(()))),
                None => return result,
            }
        }
    }

    /// How many failed writes of a file's blocks have been reported: whoever opens the file now will be
    /// told of the others.
    pub fn write_errors_told(&self, owner: u32) -> u64 {
        self.state.borrow().write_errors.get(&owner).map_or(0, |errors| errors.told)
    }

    /// Reports the failed writes of a file's blocks: how many there were so far.
    pub fn tell_write_errors(&self, owner: u32) -> u64 {
        let inner = &mut *self.state.borrow_mut();
        let Some(errors) = inner.write_errors.get_mut(&owner) else { return 0 };
        errors.told = errors.all;
        errors.all
    }

    /// From now on the current task does not belong to a program.
    pub(super) fn becomes_daemon(&self) {
        self.daemons.borrow_mut().push(self.clock.current());
    }

    /// The interval of the syncer.
    pub(super) fn tick_ns(&self) -> Nanos {
        self.spec.delays.tick_ns
    }

    /// The syncer goes through the inodes with changes, and frees their buffers.
    pub(super) fn let_buffers_go(&self) {
        let waiting = std::mem::take(&mut self.state.borrow_mut().waiting_for_buffer);
        for task in waiting {
            self.clock.wake(task);
        }
    }

    /// The next block that has waited long enough, among those with the `delay` of this number.
    pub(super) fn next_due(&self, delay: usize) -> Option<u64> {
        let now = self.clock.now();
        let inner = &mut *self.state.borrow_mut();
        while let Some(&(due, sector)) = inner.due[delay].front()
            && due <= now
        {
            inner.due[delay].pop_front();
            let found = inner.cache.find(sector);
            if found.is_some_and(|id| inner.cache.get(id).state == State::Dirty(due)) {
                return Some(sector);
            }
        }
        None
    }

    /// Starts to write the dirty run around a sector; returns whether there was one. A block that is in
    /// memory only must get its place first.
    pub(super) fn start_cluster(&self, sector: u64, aged: bool) -> bool {
        let mut ids = self.cluster.take();
        self.find_cluster(sector, &mut ids);
        let is_dirty = !ids.is_empty();
        if is_dirty {
            {
                let cache = &mut self.state.borrow_mut().cache;
                for &id in &ids {
                    cache.set_aged(id, aged);
                }
            }
            self.start_write(&ids);
            ids.clear();
        }
        self.cluster.replace(ids);
        is_dirty
    }

    /// Finds the dirty run around a sector that goes in one request.
    fn find_cluster(&self, sector: u64, ids: &mut Vec<BufferId>) {
        let inner = self.state.borrow();
        let found = inner.cache.find(sector);
        let is_dirty = |id: &BufferId| matches!(inner.cache.get(*id).state, State::Dirty(_));
        let Some(id) = found.filter(is_dirty) else { return };
        if sector >= UNPLACED {
            self.flusher.call(&self.clock);
        } else if inner.cache.get(id).owner == 0 {
            ids.push(id);
        } else {
            inner.cache.neighbours(id, self.spec.cluster_sectors, ids);
        }
    }

    fn start_write(&self, ids: &[BufferId]) -> Tag {
        self.clock.sends(self.syncing.borrow().contains(&self.clock.current()));
        let inner = &mut *self.state.borrow_mut();
        let tag = inner.under_way.next_number();
        let first = inner.cache.get(ids[0]).extent;
        let end = inner.cache.get(ids[ids.len() - 1]).extent.end();
        let pool = inner.cache.get(ids[0]).pool;
        for &id in ids {
            inner.cache.set(id, State::Busy(tag));
        }
        if self.daemons.borrow().contains(&self.clock.current()) {
            inner.traffic.daemon_writes += 1;
        } else {
            inner.traffic.writes += 1;
        }
        inner.writing_sectors[pool as usize] += end - first.sector;
        let sectors = (end - first.sector) as u32;
        inner.submit(self.clock.now(), Op::WRITE, first.sector, sectors, ids)
    }

    /// Waits for a busy buffer's request, and returns its result; `None` where there was none.
    async fn wait_while_busy(&self, id: BufferId) -> Option<Result<(), FsError>> {
        let State::Busy(tag) = self.state.borrow().cache.get(id).state else { return None };
        self.clock.settle().await;
        Some(self.wait_for(tag).await)
    }

    async fn wait_for(&self, tag: Tag) -> Result<(), FsError> {
        let under_way = match self.state.borrow_mut().under_way.get_mut(tag) {
            Some(request) => {
                request.waiting.push(self.clock.current());
                true
            }
            None => false,
        };
        if under_way {
            self.clock.parked().await;
        }
        self.state.borrow_mut().result_of(tag)
    }
}

impl Memory for Kernel {
    fn held(&self, sector: u64) -> Held {
        self.state.borrow_mut().held(sector)
    }
}
