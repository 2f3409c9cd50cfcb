//! Reports: pure functions of what the store holds.

pub mod compared;
pub mod csv;
pub mod html;
pub mod json;
mod load;
pub mod markdown;
pub mod ranking;
pub mod text;
pub mod validation;
