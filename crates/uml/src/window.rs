//! What the disks did while the guest measured.

use block::Request;
use sim::{Counters, Nanos, TargetCounters};

/// A command as a disk saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// When it came.
    pub submitted: Nanos,
    /// When it was done.
    pub done: Nanos,
    /// Which disk, what, where; its target is the disk.
    pub request: Request,
}

/// What the disks did while the guest measured.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// When it began.
    pub began_at: Nanos,
    /// How long that was.
    pub elapsed_ns: Nanos,
    /// What each disk did.
    pub targets: Vec<TargetCounters>,
    /// Where the time of all commands went, by part.
    pub spent_ns: Vec<u128>,
    /// Commands done.
    pub commands: u64,
    /// Every command that was done, in that order.
    pub trace: Vec<Command>,
}

/// What each disk has done from one time to another, of what it had done by each.
pub(crate) fn done_between(
    (began, before): (Nanos, &Counters),
    (now, after): (Nanos, &Counters),
) -> Vec<TargetCounters> {
    let pairs = after.targets.iter().zip(&before.targets);
    let done = pairs.map(|(after, before)| TargetCounters {
        commands: after.commands - before.commands,
        sectors_read: after.sectors_read - before.sectors_read,
        sectors_written: after.sectors_written - before.sectors_written,
        read_hits: after.read_hits - before.read_hits,
        billed: after.billed - before.billed,
        on_credit: after.on_credit.saturating_sub(before.on_credit),
        deferred: after.deferred.saturating_sub(before.deferred),
        held_sectors: after.held_sectors,
        busy_ns: busy_by(after, now).saturating_sub(busy_by(before, began)),
        busy_since: None,
    });
    done.collect()
}

/// How long a disk had been busy at `now`.
fn busy_by(target: &TargetCounters, now: Nanos) -> Nanos {
    target.busy_ns + target.busy_since.map_or(0, |since| now.saturating_sub(since))
}
