//! What decided between cells.

mod reasons;

pub use reasons::{Reason, reasons, sentences};
