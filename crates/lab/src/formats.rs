//! The files in which other programs keep what they run, read as their manuals describe them.

pub mod fio;
