//! WHAT TO BUILD: which layout of these drives for this work, and the commands that build it.
//!
//! ```text
//! question     drives, work, wishes → levels, chunks, caches to choose among, as one experiment; or one that asks
//! beforehand   formulas of what is known before anything is measured: room, cost, rebuild, risk · danger  what may be lost
//! search       all cells, or a race, by `lab::run`, never a copy of it; which of what was measured to build; until when trials run
//! front        what no other layout beats in everything, with a failed member, with spares, without copies
//! beside       what is set beside the best, and is no layout: bitmap, scheduler, read-ahead, blocks, mount options
//! reasons      counterfactuals, published rules, how much of the variance each factor explains
//! doubt        what was assumed, otherwise: whether the choice holds, and where it turns
//! commands     how to build it, and how to check that
//! answer       all of it, as data, as text, and as the page of a run · words  what several parts say
//! tune         from a question to its answer · tune_experiment  from an experiment
//! explore      one layout at a time, for a page with sliders
//! ```
//!
//! Of drives only md's levels are chosen among: their writes are modelled; with file systems btrfs's profiles, too, of a
//! real kernel. An experiment brings its own layouts. The verdict's rules hold here, too: what was not steady ranks
//! nothing, and what differs by less than models err is no difference.

mod answer;
mod beforehand;
mod beside;
mod commands;
mod danger;
mod doubt;
pub mod explore;
mod front;
mod question;
mod reasons;
pub mod search;
mod tune_experiment;
mod words;

pub use answer::Tuned;
pub use answer::lines_of_question::Difference;
pub use beside::bitmap::Bitmap;
pub use beside::block_size::Blocks;
pub use beside::mount::Mount;
pub use beside::read_ahead::ReadAhead;
pub use beside::scheduler::Scheduler;
pub use commands::{CacheBy, Command, Fio, Plan};
pub use danger::{drive_facts, hours};
pub use doubt::Doubt;
pub use front::row::FrontRow;
pub use front::without_copies::WithoutCopies;
pub use question::candidate::Candidate;
pub use question::capacity::capacity_bytes;
pub use question::drives::{self, Drives};
pub use question::posed::Posed;
pub use question::saved::Saved;
pub use question::{Question, files, work};
pub use reasons::counterfactual::Reason;
pub use reasons::factors::{Decides, FactorShare};
pub use reasons::published_rules::{Case, Rule, rules};
pub use search::clock::Clock;
pub use search::confirm::{Confirm, Confirmed};
pub use search::layouts::Open;
pub use tune_experiment::tune_experiment;

#[cfg(test)]
mod tests;
mod tune;
pub use tune::tune;
