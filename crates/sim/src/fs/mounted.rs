//! A mounted file system: its operations take time.

mod cluster;
mod freed;
mod steps;
mod stream;
mod write_back;

use super::files::{Entry, Files, FsError};
use super::filesystem::{FileSystem, Ino, Step};
use super::kernel::Kernel;
use crate::Nanos;
use crate::by_number::ByNumber;
use cluster::Vnode;
use freed::Freed;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The processor's work for each call and step of a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// A call that looks a name up, in ns.
    pub call_ns: Nanos,
    /// Making or removing a name, in addition, in ns.
    pub name_ns: Nanos,
    /// Each directory entry compared, in ns.
    pub entry_ns: Nanos,
    /// Each block that a file grows by, in ns.
    pub block_ns: Nanos,
    /// Reading 1 KiB that is in memory, in ns.
    pub read_ns_per_kib: Nanos,
    /// Writing 1 KiB to memory, in ns.
    pub write_ns_per_kib: Nanos,
    /// Each request to the device, in ns.
    pub request_ns: Nanos,
}

/// How a kernel reads ahead and writes behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streaming {
    /// How far it reads ahead of a sequential program, in bytes.
    pub ahead_bytes: u64,
    /// While a file is written, its data is sent to the disk at each multiple of this, in bytes.
    pub push_bytes: u64,
}

/// A mounted file system. Clones are handles to the same.
#[derive(Clone)]
pub struct Mounted(Rc<Shared>);

struct Shared {
    kernel: Rc<Kernel>,
    file_system: Rc<RefCell<dyn FileSystem>>,
    costs: Costs,
    streaming: Streaming,
    /// The name that was last looked up and found: looking it up again is free.
    last_name: RefCell<(Ino, String)>,
    /// The open files.
    vnodes: RefCell<ByNumber<Rc<Vnode>>>,
    /// Space that operations have freed and still use.
    freed: Freed,
    /// An unused vector for steps, kept for its memory.
    spare: RefCell<Vec<Step>>,
}

/// An open file.
#[derive(Clone, Debug)]
pub struct OpenFile {
    ino: Ino,
    vnode: Rc<Vnode>,
    progress: Rc<Progress>,
}

/// How far whoever has a file open has come with it.
#[derive(Debug, Default)]
struct Progress {
    /// The block after the last one read: a program that reads it next is sequential.
    next_index: Cell<u64>,
    /// Up to which block reads were started.
    ahead_to: Cell<u64>,
    was_read: Cell<bool>,
    /// How many failed writes of its blocks have been reported through this handle.
    errors_seen: Cell<u64>,
    /// The start of the run of blocks that is being written, as index and as sector.
    run: Cell<(u64, u64)>,
}

impl OpenFile {
    fn new(ino: Ino, vnode: Rc<Vnode>, errors_seen: u64) -> Self {
        let progress = Progress { errors_seen: Cell::new(errors_seen), ..Progress::default() };
        OpenFile { ino, vnode, progress: Rc::new(progress) }
    }
}

impl Mounted {
    /// Mounts `file_system` on `kernel`.
    pub fn new(
        kernel: Rc<Kernel>,
        file_system: Rc<RefCell<dyn FileSystem>>,
        costs: Costs,
        streaming: Streaming,
    ) -> Self {
        kernel.keep(&file_system.borrow().kept_by_mount());
        Mounted(Rc::new(Shared {
            kernel,
            file_system,
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
        self.0.file_system.borrow().check();
    }

    /// The kernel below.
    pub fn kernel(&self) -> &Rc<Kernel> {
        &self.0.kernel
    }

    /// Changes the file system in no time: to fill it before a measurement.
    pub fn at_once<T>(&self, work: impl FnOnce(&mut dyn FileSystem) -> T) -> T {
        let file_system = &mut *self.0.file_system.borrow_mut();
        let result = work(file_system);
        file_system.settle();
        result
    }

    fn open_file(&self, ino: Ino) -> OpenFile {
        let mut vnodes = self.0.vnodes.borrow_mut();
        let vnode = Rc::clone(vnodes.entry(ino.into()).or_default());
        OpenFile::new(ino, vnode, self.0.kernel.write_errors_told(ino))
    }

    fn charge(&self, work_ns: Nanos) {
        self.0.kernel.clock().charge(work_ns);
    }

    /// Does an operation and takes the time for its steps.
    async fn perform<T>(
        &self,
        operation: impl FnOnce(&mut dyn FileSystem) -> Result<T, FsError>,
    ) -> Result<T, FsError> {
        let result = self.perform_part(operation).await;
        self.0.kernel.clock().settle_much().await;
        result
    }

    /// The same for a part of a call, after which the program does not use the processor.
    async fn perform_part<T>(
        &self,
        operation: impl FnOnce(&mut dyn FileSystem) -> Result<T, FsError>,
    ) -> Result<T, FsError> {
        let mut steps = self.0.spare.take();
        let result = {
            let file_system = &mut *self.0.file_system.borrow_mut();
            let result = operation(file_system);
            file_system.take_steps(self.0.kernel.clock().now(), &mut steps);
            result
        };
        let taken = match self.begin(&mut steps) {
            None => Ok(()),
            // Boxed, so that the many calls that wait for nothing do not reserve the memory that a wait needs.
            Some(begun) => Box::pin(self.take_rest(&mut steps, begun)).await,
        };
        self.0.spare.replace(steps);
        result.and_then(|result| taken.map(|()| result))
    }

    /// The same for an operation without a result.
    async fn note(&self, operation: impl FnOnce(&mut dyn FileSystem)) -> Result<(), FsError> {
        let operation = |file_system: &mut dyn FileSystem| {
            operation(file_system);
            Ok(())
        };
        self.perform_part(operation).await
    }

    /// Reads the metadata that locates block `index` of a file.
    async fn read_map(&self, ino: Ino, index: u64) -> Result<(), FsError> {
        self.note(|fs| fs.read_map(ino, index)).await?;
        self.0.kernel.clock().settle_much().await;
        Ok(())
    }

    /// Looks a name up for a call that uses it.
    async fn look_up(&self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.charge(self.0.costs.call_ns);
        let again = {
            let last = self.0.last_name.borrow();
            last.0 == parent && last.1 == name
        };
        if again && let Ok(ino) = self.0.file_system.borrow().find(parent, name) {
            return Ok(ino);
        }
        let found = self.perform(|fs| fs.look_up(parent, name)).await;
        if found.is_ok() {
            let mut last = self.0.last_name.borrow_mut();
            last.0 = parent;
            last.1.clear();
            last.1.push_str(name);
        }
        found
    }
}

/// The time of copying. For a whole file in one call the product exceeds 64 bits.
fn copy_ns(bytes: u64, ns_per_kib: Nanos) -> Nanos {
    (u128::from(bytes) * u128::from(ns_per_kib) / 1024) as Nanos
}

impl Files for Mounted {
    type File = OpenFile;
    type Directory = Ino;

    fn root(&self) -> Ino {
        self.0.file_system.borrow().root()
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
        self.perform(|fs| fs.make_directory(parent, name)).await
    }

    async fn open_directory(&self, parent: Ino, name: &str) -> Result<Ino, FsError> {
        self.look_up(parent, name).await
    }

    async fn create(&self, parent: Ino, name: &str) -> Result<OpenFile, FsError> {
        self.charge(self.0.costs.call_ns + self.0.costs.name_ns);
        let ino = self.perform(|fs| fs.create(parent, name)).await?;
        // Failed writes of an older file with this number do not concern the new one.
        self.0.kernel.tell_write_errors(ino);
        Ok(self.open_file(ino))
    }

    async fn open(&self, parent: Ino, name: &str) -> Result<OpenFile, FsError> {
        Ok(self.open_file(self.look_up(parent, name).await?))
    }

    async fn close(&self, file: OpenFile) {
        if file.progress.was_read.get() {
            let ino = file.ino;
            // As with close(2), nobody can be told that this has failed.
            let _ = self.note(|fs| fs.was_read(ino)).await;
        }
        drop(file.vnode);
        let is_last = {
            let mut vnodes = self.0.vnodes.borrow_mut();
            let is_last = vnodes.get(&file.ino.into()).is_some_and(|it| Rc::strong_count(it) == 1);
            if is_last {
                vnodes.remove(&file.ino.into());
            }
            is_last
        };
        if is_last {
            let _ = self.note(|fs| fs.closed(file.ino)).await;
        }
    }

    async fn read(&self, file: &OpenFile, offset: u64, bytes: u64) -> Result<u64, FsError> {
        let (held, one_at_a_time) = {
            let file_system = self.0.file_system.borrow();
            (file_system.file_bytes(file.ino), file_system.policy().one_call_at_a_time)
        };
        let end = (offset + bytes).min(held);
        if offset >= end {
            return Ok(0);
        }
        file.progress.was_read.set(true);
        self.charge(copy_ns(end - offset, self.0.costs.read_ns_per_kib));
        let clock = self.0.kernel.clock();
        if one_at_a_time {
            file.vnode.lock(clock).await;
        }
        let read = self.read_bytes(file, offset, end, held).await;
        clock.settle_much().await;
        if one_at_a_time {
            file.vnode.unlock(clock);
        }
        read.map(|()| end - offset)
    }

    async fn write(&self, file: &OpenFile, offset: u64, bytes: u64) -> Result<(), FsError> {
        let clock = self.0.kernel.clock();
        let one_at_a_time = self.0.file_system.borrow().policy().one_call_at_a_time;
        if one_at_a_time {
            file.vnode.lock(clock).await;
        }
        let written = self.write_bytes(file, offset, offset + bytes).await;
        if one_at_a_time {
            clock.settle_much().await;
            file.vnode.unlock(clock);
        }
        written
    }

    async fn fsync(&self, file: &OpenFile) -> Result<(), FsError> {
        let result = self.write_file(file.ino).await;
        let result = result.and(self.note(|fs| fs.data_are_written(file.ino)).await);
        let synced = self.note(|fs| fs.sync_file(file.ino)).await;
        // Each open file is told once of failed writes, whoever wrote and whenever. A file opened later
        // is told of those that nobody was told of. Linux does this from 4.13 on (`errseq_t`;
        // Documentation/filesystems/vfs.rst, "Handling errors during writeback"). BSD's fsync(2)
        // reports only what it writes itself.
        let errors = self.0.kernel.tell_write_errors(file.ino);
        if file.progress.errors_seen.replace(errors) != errors {
            return Err(FsError::Io);
        }
        result.and(synced)
    }

    async fn stat(&self, parent: Ino, name: &str) -> Result<(), FsError> {
        self.look_up(parent, name).await.map(|_| ())
    }

    async fn utimes(&self, parent: Ino, name: &str) -> Result<(), FsError> {
        let ino = self.look_up(parent, name).await?;
        self.note(|fs| fs.set_times(ino)).await?;
        self.0.kernel.clock().settle_much().await;
        Ok(())
    }

    async fn rename(&self, from: (Ino, &str), to: (Ino, &str)) -> Result<(), FsError> {
        self.charge(2 * (self.0.costs.call_ns + self.0.costs.name_ns));
        self.perform(|fs| fs.rename(from, to)).await
    }

    async fn unlink(&self, parent: Ino, name: &str) -> Result<(), FsError> {
        self.charge(self.0.costs.call_ns + self.0.costs.name_ns);
        self.perform(|fs| fs.unlink(parent, name)).await
    }

    async fn rmdir(&self, parent: Ino, name: &str) -> Result<(), FsError> {
        self.charge(self.0.costs.call_ns + self.0.costs.name_ns);
        self.perform(|fs| fs.remove_directory(parent, name)).await
    }

    async fn readdir(&self, directory: Ino) -> Result<Vec<Entry>, FsError> {
        self.charge(self.0.costs.call_ns);
        self.perform(|fs| fs.read_directory(directory)).await?;
        let names = self.0.file_system.borrow().names(directory)?;
        Ok(names.into_iter().map(|(name, is_directory)| Entry { name, is_directory }).collect())
    }

    async fn sync(&self) -> Result<(), FsError> {
        self.write_all().await
    }

    async fn remount(&self) -> Result<(), FsError> {
        let ends = self.policy().remount_ends;
        let mut synced =
            if ends { self.write_all_to_unmount().await } else { self.write_all().await };
        if ends {
            let accesses = self.at_once(FileSystem::unmount);
            synced = synced.and(self.access_raw(accesses).await);
        }
        let closed = self.0.kernel.close().await;
        self.0.kernel.drop_clean();
        self.0.kernel.keep(&self.0.file_system.borrow().kept_by_mount());
        self.0.last_name.replace(Default::default());
        synced.and(closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest file, in one call, on the slowest host that can be described.
    #[test]
    fn the_longest_copy_can_be_counted() {
        assert_eq!(copy_ns(1 << 40, 1_000_000_000), (1 << 30) * 1_000_000_000);
        assert_eq!(copy_ns(1, 10_000), 9);
    }
}
