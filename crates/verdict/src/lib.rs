//! WHAT IT MEANS: pure functions of what the store holds.
//!
//! Nothing here can reach a rig, an experiment or the catalogue: the store is all that this library depends on.
//!
//! ```text
//! stats        medians, intervals, noise, comparisons
//! why          cells, and what decided between them · pace, lost, unsteady  more things that a run may show
//! judge        which layout to choose
//! reproduce    published numbers beside ours
//! validation   measured traces beside modelled ones
//! tables       figures and tables as text
//! report       all of it, for the terminal, as a page, as data
//! ```

mod demerit;
pub mod evidence;
pub mod judge;
pub mod lost;
pub mod pace;
pub mod report;
pub mod reproduce;
pub mod stats;
pub mod tables;
pub mod unsteady;
pub mod validation;
pub mod why;

pub use judge::settled::Settled;
pub use judge::{Layouts, Samples, Verdict, Wishes, check_objective, check_wishes};
