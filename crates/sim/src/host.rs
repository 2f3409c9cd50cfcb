//! What stands between a program and its drives: the kernel's cutting, and the processor's time.

mod physio;
mod processor;

pub use physio::Physio;
pub use processor::Processor;
