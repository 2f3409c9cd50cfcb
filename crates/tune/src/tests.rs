//! The library as the command uses it. In one binary with the tests of its parts, so that what both ask for is simulated once.

mod answers;
mod confirm;
#[cfg(target_os = "linux")]
mod explore;
mod race;
