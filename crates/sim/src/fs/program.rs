//! Programs that use files, each written once: against [`crate::fs::Files`], straight through.

pub mod touch;
