//! The calls that a program makes on files: one set, in virtual time or on a real system.

use std::fmt;

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FsError {
    /// The file system is full.
    NoSpace,
    /// It has no inode left.
    NoInodes,
    /// There is no such name.
    NoEntry,
    /// The name is taken.
    Exists,
    /// The directory is not empty.
    NotEmpty,
    /// It is no directory.
    NotDirectory,
    /// It is a directory.
    IsDirectory,
    /// A file has more blocks than block numbers reach.
    TooLarge,
    /// The device could not read or write a block that was needed.
    Io,
}

impl fmt::Display for FsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FsError::NoSpace => "the file system is full",
            FsError::NoInodes => "the file system has no inode left",
            FsError::NoEntry => "there is no such name",
            FsError::Exists => "the name is taken",
            FsError::NotEmpty => "the directory is not empty",
            FsError::NotDirectory => "it is not a directory",
            FsError::IsDirectory => "it is a directory",
            FsError::TooLarge => "the file would have more blocks than can be named",
            FsError::Io => "the device failed to read or write (EIO)",
        })
    }
}

impl std::error::Error for FsError {}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: std::rc::Rc<str>,
    /// Whether it is a directory.
    pub is_directory: bool,
}

/// A mounted file system, as programs see it.
///
/// Each program has its own handle, which is cheap to clone. A call takes the time that the system
/// call would. Names are single names in a directory that the program has a handle to, as with
/// openat(2).
#[expect(async_fn_in_trait, reason = "programs run on one thread; no future has to be Send")]
pub trait Files: Clone {
    /// An open file.
    type File: Clone;
    /// An open directory.
    type Directory: Copy;

    /// The root of the file system.
    fn root(&self) -> Self::Directory;

    /// Seconds since some fixed start.
    fn seconds(&self) -> f64;

    /// The program computes for this many nanoseconds.
    async fn compute(&self, work_ns: u64);

    /// Makes a directory.
    ///
    /// # Errors
    ///
    /// As mkdir(2).
    async fn mkdir(&self, parent: Self::Directory, name: &str) -> Result<Self::Directory, FsError>;

    /// Opens a directory.
    ///
    /// # Errors
    ///
    /// As open(2).
    async fn open_directory(
        &self,
        parent: Self::Directory,
        name: &str,
    ) -> Result<Self::Directory, FsError>;

    /// Makes a new file and opens it.
    ///
    /// # Errors
    ///
    /// As open(2) with `O_CREAT | O_EXCL`.
    async fn create(&self, parent: Self::Directory, name: &str) -> Result<Self::File, FsError>;

    /// Opens an existing file.
    ///
    /// # Errors
    ///
    /// As open(2).
    async fn open(&self, parent: Self::Directory, name: &str) -> Result<Self::File, FsError>;

    /// Closes a file.
    async fn close(&self, file: Self::File);

    /// Reads up to `bytes` at `offset`; returns how many there were.
    ///
    /// # Errors
    ///
    /// As pread(2).
    async fn read(&self, file: &Self::File, offset: u64, bytes: u64) -> Result<u64, FsError>;

    /// Writes `bytes` at `offset`.
    ///
    /// # Errors
    ///
    /// As pwrite(2).
    async fn write(&self, file: &Self::File, offset: u64, bytes: u64) -> Result<(), FsError>;

    /// Waits until a file is on the disk.
    ///
    /// # Errors
    ///
    /// As fsync(2): also where a write of the file has failed since it was opened.
    async fn fsync(&self, file: &Self::File) -> Result<(), FsError>;

    /// Whether the name exists.
    ///
    /// # Errors
    ///
    /// As stat(2).
    async fn stat(&self, parent: Self::Directory, name: &str) -> Result<(), FsError>;

    /// Sets a file's times.
    ///
    /// # Errors
    ///
    /// As utimes(2).
    async fn utimes(&self, parent: Self::Directory, name: &str) -> Result<(), FsError>;

    /// Renames a file.
    ///
    /// # Errors
    ///
    /// As rename(2).
    async fn rename(
        &self,
        from: (Self::Directory, &str),
        to: (Self::Directory, &str),
    ) -> Result<(), FsError>;

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// As unlink(2).
    async fn unlink(&self, parent: Self::Directory, name: &str) -> Result<(), FsError>;

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// As rmdir(2).
    async fn rmdir(&self, parent: Self::Directory, name: &str) -> Result<(), FsError>;

    /// Lists a directory.
    ///
    /// # Errors
    ///
    /// As opendir(3).
    async fn readdir(&self, directory: Self::Directory) -> Result<Vec<Entry>, FsError>;

    /// Writes all changes to the device, and waits.
    ///
    /// # Errors
    ///
    /// Where the device fails.
    async fn sync(&self) -> Result<(), FsError>;

    /// Unmounts, and mounts again with nothing in memory.
    ///
    /// # Errors
    ///
    /// Where the device fails.
    async fn remount(&self) -> Result<(), FsError>;
}
