//! Many reads and writes at a time through the kernel's `io_uring`, and the buffers that it reads and
//! writes meanwhile.
//!
//! The only crate that may hold unsafe code. Its interface is safe, whatever its user does.

#![warn(clippy::undocumented_unsafe_blocks)]
#![cfg(target_os = "linux")]

mod buffer;
mod ring;

pub use buffer::Buffer;
pub use ring::{Action, Ended, Ring, Transfer, is_forbidden};
