//! The files in which other systems keep or print their layouts, or what they run, read as their manuals describe them.
//!
//! Each of a layout gives a plain struct that says what the file says; [`crate::map`] lays it out. What a manual
//! does not describe is an error that names the line and the word.

pub mod ccd;
pub mod fio;
pub mod mdadm;
pub mod raidctl;
mod words;
