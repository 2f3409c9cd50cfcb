//! What stands between a program and its drives: the kernel's cutting and sorting, and the processor's
//! time.

mod processor;
mod scheduler;
mod splitter;

pub use processor::{Driver, Processor};
pub use scheduler::{Deadline, Order, Scheduler};
pub use splitter::Splitter;
