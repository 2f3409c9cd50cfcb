//! The real arm of [`Files`]: the programs of `sim::fs::program` on a mounted file system, by system calls.
//!
//! Names are paths from one open directory, as tar(1) and rm(1) use them; so a tree of any size takes no more file
//! descriptors than a program has files open.

use crate::error::{Error, Result};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Timestamps, UTIME_NOW, fsync, mkdirat, openat, renameat,
    statat, syncfs, unlinkat, utimensat,
};
use rustix::io::{Errno, pread, pwrite};
use rustix::time::{ClockId, clock_gettime};
use sim::fs::{Entry, Files, FsError};
use std::cell::RefCell;
use std::path::Path;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// The largest read or write of a program.
const BUFFER_BYTES: usize = 1 << 20;

/// What all programs of a trial share: whether they are to end, and how many bytes they have read.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// A signal has ended the run: every call fails.
    pub stopped: Arc<AtomicBool>,
    /// The trial takes too long: every call fails.
    pub late: Arc<AtomicBool>,
    /// Bytes that programs have read.
    pub read_bytes: Arc<AtomicU64>,
    /// What all of them write, made once: in `--on kernel` the first touch of a page costs some 50 us of real time.
    noise: Arc<OnceLock<Box<[u8]>>>,
}

impl Shared {
    /// What ends with `stopped`.
    pub fn stopped_by(stopped: Arc<AtomicBool>) -> Self {
        Shared { stopped, ..Shared::default() }
    }

    /// Noise, for drives and file systems that compress.
    fn noise(&self) -> &[u8] {
        self.noise.get_or_init(noise)
    }
}

/// A mounted file system, for the programs of one thread.
#[derive(Clone)]
pub struct LiveFiles(Rc<Inner>);

struct Inner {
    root: OwnedFd,
    start: Instant,
    /// The directories that programs have handles to, as paths from the root; the first is the root.
    directories: RefCell<Vec<Box<str>>>,
    path: RefCell<PathTo>,
    buffer: RefCell<Vec<u8>>,
    shared: Shared,
}

/// Where a path is put together. Most calls in a row are of one directory, whose path then stays.
#[derive(Default)]
struct PathTo {
    text: String,
    /// The directory, and how long its path is, with the slash behind it.
    directory: usize,
    prefix: usize,
}

impl PathTo {
    fn set(&mut self, directories: &[Box<str>], parent: usize, name: &str) -> &str {
        if self.directory == parent {
            self.text.truncate(self.prefix);
        } else {
            self.text.clear();
            self.text.push_str(&directories[parent]);
            if !self.text.is_empty() {
                self.text.push('/');
            }
            (self.directory, self.prefix) = (parent, self.text.len());
        }
        self.text.push_str(name);
        &self.text
    }
}

impl LiveFiles {
    /// The file system that is mounted at `root`.
    ///
    /// # Errors
    ///
    /// Where the directory cannot be opened.
    pub fn open(root: &Path, shared: &Shared) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(root, flags, Mode::empty())
            .map_err(|error| Error::failure(format!("cannot open {}: {error}", root.display())))?;
        // Not while a clock runs.
        shared.noise();
        Ok(LiveFiles(Rc::new(Inner {
            root: opened,
            start: Instant::now(),
            directories: RefCell::new(vec!["".into()]),
            path: RefCell::default(),
            buffer: RefCell::new(vec![0; BUFFER_BYTES]),
            shared: shared.clone(),
        })))
    }

    /// Does something with the path of a name in a directory.
    fn at<T>(
        &self,
        parent: usize,
        name: &str,
        call: impl FnOnce(&OwnedFd, &str) -> rustix::io::Result<T>,
    ) -> std::result::Result<T, FsError> {
        self.go_on()?;
        let mut path = self.0.path.borrow_mut();
        let path = path.set(&self.0.directories.borrow(), parent, name);
        call(&self.0.root, path).map_err(failed)
    }

    fn go_on(&self) -> std::result::Result<(), FsError> {
        let Shared { stopped, late, .. } = &self.0.shared;
        let is_over = stopped.load(Ordering::Relaxed) || late.load(Ordering::Relaxed);
        if is_over { Err(FsError::Io) } else { Ok(()) }
    }

    /// A handle to the directory whose path was put together last.
    fn handle(&self) -> usize {
        let mut directories = self.0.directories.borrow_mut();
        directories.push(self.0.path.borrow().text.as_str().into());
        directories.len() - 1
    }
}

/// Noise by a fixed rule: a multiplicative generator's high bytes.
fn noise() -> Box<[u8]> {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..BUFFER_BYTES).map(|_| next()).collect()
}

fn failed(error: Errno) -> FsError {
    match error {
        Errno::NOSPC | Errno::DQUOT => FsError::NoSpace,
        Errno::NOENT => FsError::NoEntry,
        Errno::EXIST => FsError::Exists,
        Errno::NOTEMPTY => FsError::NotEmpty,
        Errno::NOTDIR => FsError::NotDirectory,
        Errno::ISDIR => FsError::IsDirectory,
        Errno::FBIG => FsError::TooLarge,
        _ => FsError::Io,
    }
}

/// Runs a program whose calls never wait for another program: each is done when it returns.
pub fn run_now<T>(program: impl Future<Output = T>) -> T {
    let mut program = pin!(program);
    match program.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("no call of LiveFiles is pending"),
    }
}

/// Seconds that this process has spent on processors.
pub fn process_cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

const NEW: OFlags = OFlags::RDWR.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::CLOEXEC);

impl Files for LiveFiles {
    type File = Rc<OwnedFd>;
    type Directory = usize;

    fn root(&self) -> usize {
        0
    }

    fn seconds(&self) -> f64 {
        self.0.start.elapsed().as_secs_f64()
    }

    /// A real program computes by itself.
    async fn compute(&self, _: u64) {}

    async fn mkdir(&self, parent: usize, name: &str) -> std::result::Result<usize, FsError> {
        self.at(parent, name, |root, path| mkdirat(root, path, Mode::from_raw_mode(0o755)))?;
        Ok(self.handle())
    }

    async fn open_directory(
        &self,
        parent: usize,
        name: &str,
    ) -> std::result::Result<usize, FsError> {
        let found = self.at(parent, name, |root, path| statat(root, path, AtFlags::empty()))?;
        if !FileType::from_raw_mode(found.st_mode).is_dir() {
            return Err(FsError::NotDirectory);
        }
        Ok(self.handle())
    }

    async fn create(&self, parent: usize, name: &str) -> std::result::Result<Self::File, FsError> {
        let mode = Mode::from_raw_mode(0o644);
        self.at(parent, name, |root, path| openat(root, path, NEW, mode)).map(Rc::new)
    }

    async fn open(&self, parent: usize, name: &str) -> std::result::Result<Self::File, FsError> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        self.at(parent, name, |root, path| openat(root, path, flags, Mode::empty())).map(Rc::new)
    }

    async fn close(&self, file: Self::File) {
        drop(file);
    }

    async fn read(
        &self,
        file: &Self::File,
        offset: u64,
        bytes: u64,
    ) -> std::result::Result<u64, FsError> {
        self.go_on()?;
        let mut buffer = self.0.buffer.borrow_mut();
        let mut done = 0;
        while done < bytes {
            let piece = (bytes - done).min(BUFFER_BYTES as u64) as usize;
            let there = pread(file, &mut buffer[..piece], offset + done).map_err(failed)?;
            done += there as u64;
            if there < piece {
                break;
            }
        }
        self.0.shared.read_bytes.fetch_add(done, Ordering::Relaxed);
        Ok(done)
    }

    async fn write(
        &self,
        file: &Self::File,
        offset: u64,
        bytes: u64,
    ) -> std::result::Result<(), FsError> {
        self.go_on()?;
        let noise = self.0.shared.noise();
        let mut done = 0;
        while done < bytes {
            let piece = (bytes - done).min(BUFFER_BYTES as u64) as usize;
            let written = pwrite(file, &noise[..piece], offset + done).map_err(failed)?;
            done += written as u64;
        }
        Ok(())
    }

    async fn fsync(&self, file: &Self::File) -> std::result::Result<(), FsError> {
        self.go_on()?;
        fsync(file).map_err(failed)
    }

    async fn stat(&self, parent: usize, name: &str) -> std::result::Result<(), FsError> {
        self.at(parent, name, |root, path| statat(root, path, AtFlags::SYMLINK_NOFOLLOW)).map(drop)
    }

    async fn utimes(&self, parent: usize, name: &str) -> std::result::Result<(), FsError> {
        let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: UTIME_NOW as _ };
        let times = Timestamps { last_access: now, last_modification: now };
        self.at(parent, name, |root, path| utimensat(root, path, &times, AtFlags::empty()))
    }

    async fn rename(
        &self,
        from: (usize, &str),
        to: (usize, &str),
    ) -> std::result::Result<(), FsError> {
        let old = self.at(from.0, from.1, |_, path| Ok(path.to_string()))?;
        self.at(to.0, to.1, |root, path| renameat(root, &old, root, path))
    }

    async fn unlink(&self, parent: usize, name: &str) -> std::result::Result<(), FsError> {
        self.at(parent, name, |root, path| unlinkat(root, path, AtFlags::empty()))
    }

    async fn rmdir(&self, parent: usize, name: &str) -> std::result::Result<(), FsError> {
        self.at(parent, name, |root, path| unlinkat(root, path, AtFlags::REMOVEDIR))
    }

    async fn readdir(&self, directory: usize) -> std::result::Result<Vec<Entry>, FsError> {
        self.go_on()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let path = self.0.directories.borrow()[directory].clone();
        let path = if path.is_empty() { ".".into() } else { path };
        let opened = openat(&self.0.root, &*path, flags, Mode::empty()).map_err(failed)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(opened.as_fd()).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy();
            // What ext4 keeps for fsck is no part of a tree.
            if ![".", "..", "lost+found"].contains(&&*name) {
                let is_directory = entry.file_type() == FileType::Directory;
                entries.push(Entry { name: name.as_ref().into(), is_directory });
            }
        }
        Ok(entries)
    }

    async fn sync(&self) -> std::result::Result<(), FsError> {
        self.go_on()?;
        syncfs(&self.0.root).map_err(failed)
    }

    /// No program unmounts what it has open; whoever runs it does.
    async fn remount(&self) -> std::result::Result<(), FsError> {
        Err(FsError::Io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::fs::program::{touch, tree};

    /// What a program of the simulator leaves behind is there, and what it removes is gone.
    #[test]
    fn programs_run_on_real_files() {
        let directory = tempfile::tempdir().unwrap();
        let shared = Shared::default();
        let files = LiveFiles::open(directory.path(), &shared).unwrap();
        let spec = tree::TreeSpec {
            files: 300,
            directories: 40,
            depth: 3,
            file_bytes: 5000,
            large_files: 2,
        };
        let tree = Arc::new(tree::Tree::new(&spec, 1));
        let archive = tree::Unpacking { files: files.clone(), work_ns_per_kib: 0 };
        run_now(tree::extract(files.clone(), Arc::clone(&tree), archive)).unwrap();
        let (mut count, mut bytes, mut left) = (0, 0, vec![directory.path().to_path_buf()]);
        while let Some(next) = left.pop() {
            for entry in std::fs::read_dir(next).unwrap().map(|entry| entry.unwrap()) {
                if entry.file_type().unwrap().is_dir() {
                    left.push(entry.path());
                } else {
                    count += 1;
                    bytes += entry.metadata().unwrap().len();
                }
            }
        }
        assert_eq!((count, bytes), (300, tree.figures().bytes));
        run_now(tree::remove_all(files.clone())).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        let names = run_now(files.mkdir(files.root(), "d")).unwrap();
        run_now(touch::touch_new(files.clone(), names, 50)).unwrap();
        run_now(touch::touch_again(files.clone(), names, 50)).unwrap();
        assert_eq!(run_now(files.readdir(names)).unwrap().len(), 50);
        run_now(touch::remove(files.clone(), names, 50)).unwrap();
        assert_eq!(run_now(files.rmdir(names, "x")), Err(FsError::NoEntry));
        assert_eq!(run_now(files.rmdir(files.root(), "d")), Ok(()));
    }

    #[test]
    fn a_path_follows_its_directory() {
        let directories = ["".into(), "a".into(), "a/b".into()];
        let mut path = PathTo::default();
        let mut set = |parent, name| path.set(&directories, parent, name).to_string();
        assert_eq!(set(0, "x"), "x");
        assert_eq!(set(1, "long name"), "a/long name");
        assert_eq!(set(1, "y"), "a/y");
        assert_eq!(set(2, "z"), "a/b/z");
        assert_eq!(set(0, "x"), "x");
    }

    #[test]
    fn a_call_after_the_end_fails_and_what_was_read_is_counted() {
        let directory = tempfile::tempdir().unwrap();
        let shared = Shared::default();
        let files = LiveFiles::open(directory.path(), &shared).unwrap();
        let file = run_now(files.create(0, "a")).unwrap();
        run_now(files.write(&file, 0, 3_000_000)).unwrap();
        assert_eq!(run_now(files.read(&file, 1_000_000, 5_000_000)), Ok(2_000_000));
        assert_eq!(shared.read_bytes.load(Ordering::Relaxed), 2_000_000);
        shared.stopped.store(true, Ordering::Relaxed);
        assert_eq!(run_now(files.stat(0, "a")), Err(FsError::Io));
    }
}
