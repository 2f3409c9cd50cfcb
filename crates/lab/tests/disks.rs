//! The disks rig on temporary image files.

#![cfg(target_os = "linux")]

mod disks {
    mod conformance;
    mod patterns;
    mod safety;
    pub(crate) mod support;
    mod suspects;
}
