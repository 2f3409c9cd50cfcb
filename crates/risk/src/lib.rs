//! WHAT MAY BE LOST: the chance that a volume loses data, as three numbers that are not the same.
//!
//! The whole array gone, some sectors unreadable, a stripe torn by a crash: most calculators add the first two. Each is
//! a range, for drives, rebuilds and read errors are known no better than that.
//!
//! ```text
//! shape        a level as failures see it: groups of members that survive so many losses
//! chain        closed forms · calculators  how others count
//! wait, events a simulation of drives that wear, bad sectors, scrubs, spares
//! afr, inputs  what is known of drives, rebuilds, sectors and crashes, as ranges with their sources
//! members      those that are not all alike
//! assess       the answer
//! ```
//!
//! Nothing here reads a clock, a file or a hash order; the same seed gives the same answer.

pub mod afr;
mod assess;
pub mod calculators;
pub mod chain;
mod copied;
pub mod events;
pub mod inputs;
mod members;
mod shape;
mod spared;
pub mod wait;

pub use assess::{FLOOR, LIFE_SHAPE, Risk, assess, in_words};
pub use copied::Copied;
pub use members::Own;
pub use shape::{Crash, Shape, ShapeError};

/// Hours in a year.
pub const YEAR_H: f64 = 8760.0;
