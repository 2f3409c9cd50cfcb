//! How the command is linked.

use std::env;

/// Each trial of `--on kernel` starts the command in a guest. There each of the 370 pages that a program changes which may
/// be loaded anywhere (130,000 addresses where it is built for tests) costs some 60 µs, a fifth of a short trial. A build
/// for tests is loaded where it was linked for; releases stay as they are.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|of| of == value);
    if is("PROFILE", "debug")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
