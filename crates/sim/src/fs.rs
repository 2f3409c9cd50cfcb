//! File systems in virtual time: where they place data, what they write when, and programs on them.
//!
//! A [`FileSystem`] decides *what* is touched and in which order. It is pure, and answers each
//! operation with steps (read this block, change that one). [`ffs`] is one. [`kernel`] decides *when*:
//! it has the buffer cache and the device, and its tasks run on the executor of [`clock`]. A program is
//! straight-line code against [`Files`], and runs on a real system unchanged.

pub mod clock;
pub mod ext4;
pub mod ffs;
pub mod files;
pub mod filesystem;
pub mod kernel;
pub mod mounted;
pub mod program;
pub mod session;

mod cache;
mod window;

pub use files::{Entry, Files, FsError};
pub use filesystem::FileSystem;
pub use mounted::Mounted;
pub use session::{Lap, Session};
