//! What meets the kernel: memory that it may write to behind the compiler's back, and the queues through
//! which it is asked to.
//!
//! The only crate that may hold unsafe code. What it shows is safe, whatever its user does.

#![warn(clippy::undocumented_unsafe_blocks)]
#![cfg(target_os = "linux")]

mod buffer;
mod ring;

pub use buffer::Buffer;
pub use ring::{Action, Ended, Ring, Transfer, is_forbidden};
