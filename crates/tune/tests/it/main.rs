//! The library as the command uses it.

mod answers;
mod confirm;
#[cfg(target_os = "linux")]
mod explore;
mod race;
