//! WHERE a block lives: units, requests, and the layouts that spread one volume over its members.
//!
//! Pure arithmetic. Nothing here knows what time it is, reads a file, or depends on another crate.

pub mod bios;
mod divisor;
pub mod layout;
pub mod payload;
mod plan;
mod request;
pub mod units;

pub use divisor::Divisor;
pub use layout::{LEVELS, Layout, LayoutError, Level};
pub use payload::Payload;
pub use plan::{Content, Health, Place, Plan, Step, Unservable};
pub use request::{Op, Request};
pub use units::{SECTOR_BYTES, UnitError};
