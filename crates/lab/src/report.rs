//! Reports: what people and programs read. Pure functions of records; they never reach a rig.

pub mod json;
pub mod text;
pub mod validation;
