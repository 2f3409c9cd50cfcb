//! A real Linux kernel in virtual time, on modelled drives.
//!
//! User-mode Linux is a Linux kernel that runs as a process. In its *time-travel* mode it does not read a clock: a
//! calendar outside tells it the time. Here that calendar is told the time by the drives, which are any
//! [`sim::Device`]: while the kernel has nothing to run, the time goes to the next thing that a drive finishes.
//! So an hour on disks takes seconds, and takes the same course each time.
//!
//! ```text
//! build      makes the kernel from Debian's source package, once, and keeps it
//! calendar   the time-travel protocol: who may run, and until when
//! vhost      the vhost-user protocol: what the kernel's driver says to a disk
//! request    what a descriptor chain of virtio-blk asks for
//! medium     what a disk holds, sparse
//! durable    what a disk holds of it when its power is gone
//! disk       one disk as the kernel sees it: a connection, queues, a medium
//! fault      what goes wrong with disks, and when
//! recording  what was written when, and what a power cut would leave of it
//! control    the disk through which the guest is told its job, and answers
//! machine    calendar, disks and the device that gives them their times
//! window     what the disks did while the guest measured
//! guest      the kernel's process: its command line, its end
//! ```

#![cfg(target_os = "linux")]

pub mod build;
pub mod calendar;
mod control;
mod disk;
mod durable;
mod error;
mod fault;
pub mod guest;
mod held;
mod machine;
pub mod medium;
pub mod recording;
pub mod request;
pub mod vhost;
mod window;

pub use control::guest::Control;
pub use disk::DiskSpec;
pub use error::{Error, Result};
pub use fault::{Fault, Happening};
pub use guest::{Guest, With};
pub use machine::Report;
pub use window::{Command, Window};
