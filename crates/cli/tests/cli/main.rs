//! The command end to end.

mod browser;
#[cfg(target_os = "linux")]
mod built;
mod catalogue;
mod crash;
#[cfg(target_os = "linux")]
mod devices;
#[cfg(target_os = "linux")]
mod disks;
mod errors;
mod evidence;
mod explore;
#[cfg(target_os = "linux")]
mod failing;
#[cfg(unix)]
mod files;
mod golden;
mod import;
mod jobs;
#[cfg(target_os = "linux")]
mod kernel;
mod links;
mod map;
#[cfg(target_os = "linux")]
mod mounted;
#[cfg(target_os = "linux")]
mod oracle;
mod page;
mod probe;
mod promises;
mod questions;
mod read_aloud;
#[cfg(target_os = "linux")]
mod real;
mod restored;
mod risk;
mod shards;
mod store;
mod submit;
mod tune;
mod validate;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A mount namespace holds a copy of every mount, and keeps what is unmounted meanwhile busy for as long as it lives.
/// Tests that make one do not run beside those that mount.
static MOUNTS: RwLock<()> = RwLock::new(());

/// Held by a test that mounts file systems on this machine.
fn mounts() -> RwLockReadGuard<'static, ()> {
    MOUNTS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test that makes a mount namespace.
fn makes_namespace() -> RwLockWriteGuard<'static, ()> {
    MOUNTS.write().unwrap_or_else(PoisonError::into_inner)
}

/// The command, in a directory of its own so that it leaves nothing behind.
fn ileave(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("the command starts")
}

/// Its standard output, where it must succeed.
fn stdout(directory: &Path, arguments: &[&str]) -> String {
    let output = ileave(directory, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?} failed: {errors}");
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

fn json(directory: &Path, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(directory, arguments)).expect("it prints JSON")
}

/// A file of the project.
fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn experiment(name: &str) -> String {
    project("experiments").join(name).display().to_string()
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room for a directory")
}

/// Says aloud that a test could not run here; where everything is required, that is a failure.
#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
fn skipped(why: &str) {
    assert!(!is_required(), "required, but: {why}");
    eprintln!("SKIPPED: {why}");
}

/// Whether a test is left for where everything is required, since it takes seconds that who only builds the program
/// need not wait for. Shorter tests fail for the same reasons.
#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
fn takes_long() -> bool {
    let is_left = !is_required();
    if is_left {
        eprintln!("SKIPPED: it takes long; ILEAVE_REQUIRE=1 runs it");
    }
    is_left
}

/// Whether no test may be skipped or shortened.
fn is_required() -> bool {
    std::env::var_os("ILEAVE_REQUIRE").is_some()
}
