//! What stands between a program and its drives: the kernel's cutting and sorting, and the processor's
//! time.

mod elevator;
mod physio;
mod processor;

pub use elevator::{Deadline, Elevator, Order};
pub use physio::Physio;
pub use processor::Processor;
