//! File systems in virtual time: where they put things, what they write when, and programs on them.
//!
//! Three questions, three parts. [`ffs`] decides *what* is touched: it is pure, and answers each
//! operation with steps (read this block, change that one). The mount's table in [`ffs::mount`] decides
//! *how* each change is written: waited for, started, or left for later. [`kernel`] decides *when*: it
//! has the buffer cache, the processor and the device, and its tasks run on the executor of [`clock`].
//! A program is straight-line code against [`Files`], and can run on a real system as it stands.

pub mod clock;
pub mod ffs;
pub mod files;
pub mod kernel;
pub mod mounted;
pub mod program;
pub mod session;

mod cache;

pub use files::{Entry, Files, FsError};
pub use mounted::Mounted;
pub use session::{Lap, Session};
