//! The files in which other programs keep or print what they lay out and run, read as their manuals
//! describe them.
//!
//! Each gives a plain struct that says what the file says; [`crate::map`] lays a layout out, and a job
//! file becomes an experiment; what is listed of an archive is a tree to unpack. What a manual does not describe is an error that names the line and the
//! word.

pub mod ccd;
pub mod dm;
pub mod fio;
pub mod listing;
pub mod mdadm;
pub mod raidctl;
