//! The layers between a program and its drives: the kernel's splitting and sorting, and the processor's
//! time. Tests add a slow disk or a trace.

mod charge;
mod delay;
mod held;
mod limiter;
mod processor;
mod programs;
mod scheduler;
mod splitter;
mod throttle;
mod tracer;

pub use charge::{Charge, Charged};
pub use delay::{Delay, HoldBack};
pub use limiter::{Limit, Limiter};
pub(crate) use processor::Try;
pub use processor::{BlocksAhead, Driver, FailWhole, PerStripe, Plugs, Processor, Sender};
pub use programs::{Cost, Programs, Turn, Turns};
pub use scheduler::{Deadline, Order, Schedule, Scheduler};
pub use splitter::{Split, Splitter};
pub use throttle::{Allowance, Throttle};
pub use tracer::{Trace, Traced, Tracer};
