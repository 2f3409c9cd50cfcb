//! WHAT TO BUILD: which layout of these drives for this work, and the commands that build it.
//!
//! ```text
//! drives     how many and which: in words, for so much money, or of an inventory
//! question   drives, work, wishes → levels, chunks, caches to choose among, as one experiment
//! candidate  one of these layouts · fits  which levels that are named can be had, and why others cannot
//! work       work by name; each is a file of `workloads/`
//! search     all cells, or a race · searched  which of a question's, and how often · clock  until when trials run
//! tried      what runs them: `lab::run`, never a copy of it · lanes  side by side
//! posed      an experiment as the question · space  its layouts, and what measures them
//! files      drives, work on files, wishes → levels and file systems, as such an experiment
//! pick       which of what was measured to build · confirm  the best few on a slower rig
//! beside     what is set beside the best, and is no layout: `bitmap`, what md's costs; `scheduler`, `read_ahead`, `blocks`,
//!            `mount`, which to have
//! pair       the best with two values of such a key
//! costs      what the answer costs where one figure alone was asked for
//! without_copies  cloud volumes as a plain stripe, beside its risk · groups  arrays side by side with more spares
//! spares     levels over fewer members, with spares that nobody asked for
//! provisioned  what a cloud lets its volumes do
//! mixed      drives of several sizes, and what one array leaves unused of them
//! beforehand  formulas of what is known before anything is measured: room, cost, rebuild, risk
//! doubt      what was assumed, otherwise · in_flight  how much of the load · turns  where the choice turns, in words
//! why        reasons by counterfactual · rules  published rules · danger, front  what may be lost · worth  what is on the front
//! degraded   what those do with a failed member · factors  how much of the variance each explains
//! commands   how to build it, and how to check that
//! answer     all of it, as data and as text · page  as the page of a run · explore  one layout at a time, for a page with sliders
//! ```
//!
//! Of drives only md's levels are chosen among: their writes are modelled; with file systems btrfs's profiles, too, of a
//! real kernel. An experiment brings its own layouts. The verdict's rules hold here, too: what was not steady ranks
//! nothing, and what differs by less than models err is no difference.

mod align;
mod answer;
mod ask;
mod beforehand;
mod beside;
mod bitmap;
mod blocks;
mod candidate;
mod capacity;
mod clock;
mod commands;
mod commits;
mod confirm;
mod costs;
mod credit;
mod danger;
mod degraded;
mod doubt;
pub mod drives;
mod engine;
mod estimates;
mod even;
pub mod explore;
mod factors;
pub mod files;
mod fits;
mod found;
mod front;
mod groups;
mod in_flight;
mod lanes;
mod long;
mod mixed;
mod mount;
mod moved;
mod page;
mod pair;
mod pick;
mod posed;
mod provisioned;
mod question;
mod read_ahead;
#[cfg(test)]
mod remembered;
mod rules;
mod scheduler;
pub mod search;
mod searched;
mod settings;
mod space;
mod spares;
mod tried;
mod turns;
mod what_if;
mod why;
mod without_copies;
pub mod work;
mod worth;

pub use answer::{Difference, FactorShare, Tuned};
pub use bitmap::Bitmap;
pub use blocks::Blocks;
pub use candidate::Candidate;
pub use capacity::capacity_bytes;
pub use clock::Clock;
pub use commands::{Command, Fio, Plan};
pub use confirm::{Confirm, Confirmed};
pub use danger::{drive_facts, hours};
pub use doubt::Doubt;
pub use drives::Drives;
pub use factors::Decides;
pub use front::FrontRow;
pub use mount::Mount;
pub use posed::{Posed, tune_experiment};
pub use question::Question;
pub use read_ahead::ReadAhead;
pub use rules::{Case, Rule, rules};
pub use scheduler::Scheduler;
pub use space::Open;
pub use why::Reason;
pub use without_copies::WithoutCopies;

#[cfg(test)]
mod tests;
mod tune;
pub use tune::tune;
