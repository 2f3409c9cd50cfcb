//! The library as the command uses it.

mod answers;
mod confirm;
mod explore;
mod race;
