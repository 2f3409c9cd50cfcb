//! A file system that is mounted: its operations take their time.

mod cluster;
mod freed;
mod order;

use super::ffs::mount::{Mode, Mount, Role, System, Write};
use super::ffs::{Block, Ffs, Ino, ROOT, Step};
use super::files::{Entry, Files, FsError};
use super::kernel::{Extent, Kernel, Pool};
use crate::Nanos;
use block::SECTOR_BYTES;
use cluster::Vnode;
use freed::Freed;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What the processor has to do for each thing that a program asks of a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// A call that looks a name up, in ns.
    pub call_ns: Nanos,
    /// Making or removing a name, more than that, in ns.
    pub name_ns: Nanos,
    /// Each directory entry compared, in ns.
    pub entry_ns: Nanos,
    /// Each block that a file grows by, in ns.
    pub block_ns: Nanos,
    /// Reading 1 KiB that is in memory, in ns.
    pub read_ns_per_kib: Nanos,
    /// Writing 1 KiB to memory, in ns.
    pub write_ns_per_kib: Nanos,
    /// Each request that is made of the device, in ns.
    pub request_ns: Nanos,
}

/// How a kernel reads ahead and writes behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streaming {
    /// How far it reads ahead of a program that reads in order, in bytes.
    pub ahead_bytes: u64,
    /// A file that is written is pushed to the disk each time it passes a multiple of this, in bytes.
    pub push_bytes: u64,
}

/// A mounted file system. Clones are handles to the same.
#[derive(Clone)]
pub struct Mounted(Rc<Shared>);

struct Shared {
    kernel: Rc<Kernel>,
    ffs: RefCell<Ffs>,
    mount: Cell<Mount>,
    costs: Costs,
    streaming: Streaming,
    /// The name that was last looked up and found: looking it up again is free.
    last_name: RefCell<(Ino, String)>,
    /// The open files.
    vnodes: RefCell<BTreeMap<Ino, Rc<Vnode>>>,
    /// What operations have freed and are not done with.
    freed: Freed,
    /// A vector for steps that is not in use, kept for its memory.
    spare: RefCell<Vec<Step>>,
}

/// An open file.
#[derive(Clone, Debug)]
pub struct OpenFile {
    ino: Ino,
    /// The block after the one last read: a program that reads it next reads in order.
    next_index: Rc<Cell<u64>>,
    /// Up to which block reads were started.
    ahead_to: Rc<Cell<u64>>,
    accessed: Rc<Cell<bool>>,
    /// Where the run of blocks that is being written started, as index and as sector.
    run: Rc<Cell<(u64, u64)>>,
    vnode: Rc<Vnode>,
}

impl OpenFile {
    fn new(ino: Ino, vnode: Rc<Vnode>) -> Self {
        OpenFile {
            ino,
            vnode,
            next_index: Rc::default(),
            ahead_to: Rc::default(),
            accessed: Rc::default(),
            run: Rc::default(),
        }
    }
}

impl Mounted {
    /// Mounts `ffs` on `kernel`.
    pub fn new(
        kernel: Rc<Kernel>,
        ffs: Ffs,
        mount: Mount,
        costs: Costs,
        streaming: Streaming,
    ) -> Self {
        Mounted(Rc::new(Shared {
            kernel,
            ffs: RefCell::new(ffs),
            mount: Cell::new(mount),
            costs,
            streaming,
            last_name: RefCell::default(),
            vnodes: RefCell::default(),
            freed: Freed::default(),
            spare: RefCell::default(),
        }))
    }

    /// Checks the file system.
    ///
    /// # Panics
    ///
    /// Where anything is wrong with it.
    pub fn check(&self) {
        self.0.ffs.borrow().check();
    }

    /// What it runs on.
    pub fn kernel(&self) -> &Rc<Kernel> {
        &self.0.kernel
    }

    /// How it is mounted from here on; nothing may be left to write, as after [`Files::remount`].
    pub fn mount_as(&self, mode: Mode) {
        self.0.mount.set(Mount { mode, ..self.0.mount.get() });
    }

    /// Works on the file system without taking any time: to fill it before a measurement.
    pub fn at_once<T>(&self, work: impl FnOnce(&mut Ffs) -> T) -> T {
        let mut ffs = self.0.ffs.borrow_mut();
        let result = work(&mut ffs);
        ffs.take_steps(&mut self.0.spare.borrow_mut());
        result
    }

    fn open_file(&self, ino: Ino) -> OpenFile {
        let mut vnodes = self.0.vnodes.borrow_mut();
        OpenFile::new(ino, Rc::clone(vnodes.entry(ino).or_default()))
    }

    fn charge(&self, work_ns: Nanos) {
        self.0.kernel.clock().charge(work_ns);
    }

    /// Does an operation and takes the time for its steps.
    async fn perform<T>(&self, operation: impl FnOnce(&mut Ffs) -> T) -> T {
        let mut steps = self.0.spare.take();
        let result = {
            let mut ffs = self.0.ffs.borrow_mut();
            let result = operation(&mut ffs);
            ffs.take_steps(&mut steps);
            result
        };
        let (freed, clock) = (&self.0.freed, self.0.kernel.clock());
        let number = freed.begin(&steps);
        for step in &steps {
            if freed.is_behind(number) {
                freed.wait_for_earlier(number, step, clock).await;
            }
            self.take(*step).await;
            if let Step::Forget(extent) = step {
                freed.let_go(number, *extent, clock);
            }
        }
        if self.0.mount.get().mode == Mode::SoftUpdates {
            order::keep(&steps, &self.0.kernel);
        }
        self.0.spare.replace(steps);
        self.0.kernel.clock().settle_much().await;
        result
    }

    async fn take(&self, step: Step) {
        let kernel = &self.0.kernel;
        match step {
            Step::Read(block) => kernel.read(block.extent, block.pool, block.owner).await,
            Step::Scan(entries) => self.charge(Nanos::from(entries) * self.0.costs.entry_ns),
            Step::Change { block, fresh, role } => self.change(block, fresh, role).await,
            Step::Forget(extent) => kernel.forget(extent),
        }
    }

    async fn change(&self, block: Block, fresh: bool, role: Role) {
        let Block { extent, pool, delay, owner } = block;
        let kernel = &self.0.kernel;
        kernel.hold(extent, pool, owner, fresh).await;
        match self.0.mount.get().write(role) {
            Write::Later => kernel.write_later(extent.sector, delay),
            how => {
                self.charge(self.0.costs.request_ns);
                kernel.write_now(extent.sector, how == Write::Wait).await;
            }
        }
    }

    /// Looks a name up as for a call that uses it.
    async fn look_up(&self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.charge(self.0.costs.call_ns);
        let again = {
            let last = self.0.last_name.borrow();
            last.0 == parent && last.1 == name
        };
        if again && let Ok(ino) = self.0.ffs.borrow().find(parent, name) {
            return Ok(ino);
        }
        let found = self.perform(|ffs| ffs.look_up(parent, name)).await;
        if found.is_ok() {
            let mut last = self.0.last_name.borrow_mut();
            last.0 = parent;
            last.1.clear();
            last.1.push_str(name);
        }
        found
    }

    /// The blocks of a file from `index` on that lie side by side, as many as one request takes.
    fn run_from(&self, ino: Ino, index: u64, end_index: u64) -> Vec<Extent> {
        let ffs = self.0.ffs.borrow();
        let mut run: Vec<Extent> = Vec::new();
        let mut sectors = 0;
        for index in index..end_index {
            let extent = ffs.file_block(ino, index).extent;
            sectors += extent.sectors;
            let apart = run.last().is_some_and(|last| last.end() != extent.sector);
            if apart || !run.is_empty() && sectors > self.0.kernel.cluster_sectors() {
                break;
            }
            run.push(extent);
        }
        run
    }

    /// Starts reads so that all up to `to` is in memory or on its way.
    async fn read_ahead(&self, file: &OpenFile, to: u64) {
        while file.ahead_to.get() < to {
            let index = file.ahead_to.get();
            self.perform(|ffs| ffs.read_map(file.ino, index)).await;
            let run = self.run_from(file.ino, index, to);
            file.ahead_to.set(index + run.len() as u64);
            self.0.kernel.read_ahead(&run, Pool::Data, file.ino).await;
        }
    }

    /// Starts to write what has become large enough for that, after a write up to `end`: 4.4BSD
    /// counts from where the blocks began to lie side by side, so that its requests keep step with a
    /// stripe; NetBSD from the start of the file.
    async fn push(&self, file: &OpenFile, start: u64, end: u64) {
        let block_bytes = self.0.ffs.borrow().bytes_per_block();
        let push_blocks = (self.0.streaming.push_bytes / block_bytes).max(1);
        if self.0.mount.get().system == System::NetBsd2 {
            // Mounted async, NetBSD leaves it all to the syncer and the page daemon.
            if self.0.mount.get().mode != Mode::Async {
                let blocks = |byte: u64| byte / block_bytes / push_blocks * push_blocks;
                self.push_blocks(file.ino, blocks(start), blocks(end)).await;
            }
            return;
        }
        for index in start / block_bytes..end / block_bytes {
            let sector = self.0.ffs.borrow().file_block(file.ino, index).extent.sector;
            let (first, first_sector) = file.run.get();
            let expected = first_sector + (index - first.min(index)) * block_bytes / SECTOR_BYTES;
            if index < first || sector != expected {
                self.push_blocks(file.ino, first.min(index), index).await;
                file.run.set((index, sector));
            } else if index + 1 - first == push_blocks {
                self.push_blocks(file.ino, first, index + 1).await;
                file.run.set((index + 1, sector + block_bytes / SECTOR_BYTES));
            }
        }
    }

    async fn push_blocks(&self, ino: Ino, from: u64, to: u64) {
        for index in from..to {
            let sector = self.0.ffs.borrow().file_block(ino, index).extent.sector;
            self.0.kernel.push(sector).await;
        }
    }

    async fn write_bytes(&self, file: &OpenFile, offset: u64, end: u64) -> Result<(), FsError> {
        self.charge(copy_ns(end - offset, self.0.costs.write_ns_per_kib));
        let block_bytes = {
            let ffs = self.0.ffs.borrow();
            let (held, block_bytes) = (ffs.file_bytes(file.ino), ffs.bytes_per_block());
            let grown = end.div_ceil(block_bytes).saturating_sub(held.div_ceil(block_bytes));
            self.charge(grown * self.0.costs.block_ns);
            block_bytes
        };
        // A write is done block by block, so that none waits for the memory of all.
        let mut from = offset;
        while from < end {
            let to = ((from / block_bytes + 1) * block_bytes).min(end);
            self.perform(|ffs| ffs.write(file.ino, from, to)).await?;
            self.push(file, from, to).await;
            from = to;
        }
        self.0.kernel.throttle(Pool::Data).await;
        Ok(())
    }
}

/// What copying takes. For a whole file in one call the product is more than 64 bits hold.
fn copy_ns(bytes: u64, ns_per_kib: Nanos) -> Nanos {
    (u128::from(bytes) * u128::from(ns_per_kib) / 1024) as Nanos
}

impl Files for Mounted {
    type File = OpenFile;
    type Directory = Ino;

    fn root(&self) -> Ino {
        ROOT
    }

    fn seconds(&self) -> f64 {
        self.0.kernel.clock().now() as f64 / 1e9
    }

    async fn compute(&self, work_ns: u64) {
        self.charge(work_ns);
        self.0.kernel.clock().settle_much().await;
    }

    async fn mkdir(&self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.charge(self.0.costs.call_ns + self.0.costs.name_ns);
        self.perform(|ffs| ffs.make_directory(parent, name)).await
    }

    async fn open_directory(&self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.look_up(parent, name).await
    }

    async fn create(&self, parent: Ino, name: &str) -> Result<OpenFile, FsError> {
        self.charge(self.0.costs.call_ns + self.0.costs.name_ns);
        Ok(self.open_file(self.perform(|ffs| ffs.create(parent, name)).await?))
    }

    async fn open(&self, parent: Ino, name: &str) -> Result<OpenFile, FsError> {
        Ok(self.open_file(self.look_up(parent, name).await?))
    }

    async fn close(&self, file: OpenFile) {
        if file.accessed.get() && self.0.mount.get().access_times {
            let block = self.0.ffs.borrow().inode_block_of(file.ino);
            self.change(block, false, Role::AccessTime).await;
        }
        drop(file.vnode);
        let mut vnodes = self.0.vnodes.borrow_mut();
        if vnodes.get(&file.ino).is_some_and(|vnode| Rc::strong_count(vnode) == 1) {
            vnodes.remove(&file.ino);
        }
    }

    async fn read(&self, file: &OpenFile, offset: u64, bytes: u64) -> u64 {
        let (held, block_bytes) = {
            let ffs = self.0.ffs.borrow();
            (ffs.file_bytes(file.ino), ffs.bytes_per_block())
        };
        let end = (offset + bytes).min(held);
        if offset >= end {
            return 0;
        }
        file.accessed.set(true);
        self.charge(copy_ns(end - offset, self.0.costs.read_ns_per_kib));
        let (first, last) = (offset / block_bytes, (end - 1) / block_bytes);
        let end_index = held.div_ceil(block_bytes);
        if self.0.mount.get().system == System::Bsd44 {
            let clock = self.0.kernel.clock();
            file.vnode.lock(clock).await;
            for index in first..=last {
                self.read_block(file.ino, &file.vnode, index, end_index).await;
            }
            clock.settle_much().await;
            file.vnode.unlock(clock);
            return end - offset;
        }
        let in_order = first == file.next_index.get() || first + 1 == file.next_index.get();
        file.ahead_to.set(if in_order { file.ahead_to.get().max(first) } else { first });
        for index in first..=last {
            let ahead = if in_order { self.0.streaming.ahead_bytes / block_bytes } else { 0 };
            let to = (index + 1 + ahead).max(last + 1).min(end_index);
            self.read_ahead(file, to).await;
            let block = self.0.ffs.borrow().file_block(file.ino, index);
            self.0.kernel.read(block.extent, block.pool, block.owner).await;
        }
        file.next_index.set(last + 1);
        self.0.kernel.clock().settle_much().await;
        end - offset
    }

    async fn write(&self, file: &OpenFile, offset: u64, bytes: u64) -> Result<(), FsError> {
        let clock = self.0.kernel.clock();
        let locks = self.0.mount.get().system == System::Bsd44;
        if locks {
            file.vnode.lock(clock).await;
        }
        let written = self.write_bytes(file, offset, offset + bytes).await;
        if locks {
            clock.settle_much().await;
            file.vnode.unlock(clock);
        }
        written
    }

    async fn fsync(&self, file: &OpenFile) {
        let kernel = &self.0.kernel;
        let (blocks, inode) = {
            let ffs = self.0.ffs.borrow();
            let data = (0..ffs.blocks_of(file.ino)).map(|index| ffs.file_block(file.ino, index));
            let blocks = data.chain(ffs.map_of(file.ino)).map(|block| block.extent.sector);
            (blocks.collect::<Vec<_>>(), ffs.inode_block_of(file.ino).extent.sector)
        };
        for sector in blocks.iter().copied() {
            kernel.push(sector).await;
        }
        for sector in blocks {
            kernel.written(sector).await;
        }
        // Only now may the inode say that they are there.
        kernel.flush(inode).await;
    }

    async fn stat(&self, parent: Ino, name: &str) -> Result<(), FsError> {
        self.look_up(parent, name).await.map(|_| ())
    }

    async fn utimes(&self, parent: Ino, name: &str) -> Result<(), FsError> {
        let ino = self.look_up(parent, name).await?;
        self.perform(|ffs| ffs.set_times(ino)).await;
        Ok(())
    }

    async fn rename(&self, from: (Ino, &str), to: (Ino, &str)) -> Result<(), FsError> {
        self.charge(2 * (self.0.costs.call_ns + self.0.costs.name_ns));
        self.perform(|ffs| ffs.rename(from.0, from.1, to.0, to.1)).await
    }

    async fn unlink(&self, parent: Ino, name: &str) -> Result<(), FsError> {
        self.charge(self.0.costs.call_ns + self.0.costs.name_ns);
        self.perform(|ffs| ffs.unlink(parent, name)).await
    }

    async fn rmdir(&self, parent: Ino, name: &str) -> Result<(), FsError> {
        self.charge(self.0.costs.call_ns + self.0.costs.name_ns);
        self.perform(|ffs| ffs.remove_directory(parent, name)).await
    }

    async fn readdir(&self, directory: Ino) -> Result<Vec<Entry>, FsError> {
        self.charge(self.0.costs.call_ns);
        self.perform(|ffs| ffs.read_directory(directory)).await?;
        let names = self.0.ffs.borrow().names(directory)?;
        Ok(names.into_iter().map(|(name, _, is_directory)| Entry { name, is_directory }).collect())
    }

    async fn remount(&self) {
        self.0.kernel.drop_all().await;
        self.0.last_name.replace(Default::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest file, in one call, on the slowest host that may be described.
    #[test]
    fn the_longest_copy_can_be_counted() {
        assert_eq!(copy_ns(1 << 40, 1_000_000_000), (1 << 30) * 1_000_000_000);
        assert_eq!(copy_ns(1, 10_000), 9);
    }
}
