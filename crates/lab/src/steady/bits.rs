//! A write-intent bitmap has no bit set when a trial begins. Until the writes have come to most parts, nearly each waits
//! for its bit, at a rate that is level and does not last.

use super::{Bits, written_share};
use crate::experiment::Trial;
use crate::machine;
use crate::workload::{Requests, Work};
use sim::{Batches, Outcome, Part};

/// What waits for bits after so long goes on waiting: bits are cleared from 10 s on, and those that are cleared are as
/// many as those that are set soon after. Half of it counts.
const CLEARED_NS: u64 = 20_000_000_000;

/// Waiting for bits takes no more than the precision over this of the time where it is as good as over.
const OVER_TIMES: f64 = 4.0;

/// More than this share of a job's time is much: as much as a job may be biased.
const JOB_MAX: f64 = super::BIAS_MAX;

/// So many times as many writes at random as there are bits set all but one of 400 (e to the power of -6).
const SET_TIMES: f64 = 6.0;

/// Whether the bits are set that `trial` has set most of the time. What goes in order waits for as many from the
/// beginning as later.
pub(super) fn are_set(trial: &Trial, bits: Bits, batches: &Batches) -> bool {
    let took_ns = batches.closed_ns();
    if bits == Bits::Timed {
        let requests: u64 = batches.closed().iter().map(|batch| batch.requests).sum();
        return took_ns >= CLEARED_NS || !are_left(trial, requests as f64 * written_share(trial));
    }
    let half = batches.closed().len() / 2;
    let most = trial.precision / OVER_TIMES;
    let mut all = [batches].into_iter().chain(batches.streams());
    !is_scattered(trial)
        || took_ns >= CLEARED_NS
        || all.all(|batches| batches.bitmap_share(half) <= most)
}

/// Whether `outcome`, of a part of `trial` that ended at `ended_ns`, is of its beginning only: requests waited for bits, and
/// those that the writes set before the first are cleared are enough for others to wait less.
///
/// Where nobody says that requests waited, it is so as long as the writes among all `requests` of the trial may not have set all bits.
pub(super) fn is_beginning(
    trial: &Trial,
    bits: Bits,
    outcome: &Outcome,
    (requests, ended_ns): (u64, u64),
) -> bool {
    let writes = outcome.directions[1].requests as f64;
    let waited = outcome.spent_ns[Part::BITMAP.index()] as f64;
    let all = outcome.spent_ns.iter().sum::<u128>() as f64;
    let may_wait = match bits {
        Bits::Counted => waited > JOB_MAX * all,
        Bits::Timed => are_left(trial, requests as f64 * written_share(trial)),
    };
    if !is_scattered(trial) || ended_ns >= CLEARED_NS || !may_wait {
        return false;
    }
    let until_cleared = writes * (CLEARED_NS / 2) as f64 / outcome.elapsed_ns.max(1) as f64;
    of_bitmap(trial).is_some_and(|bits| until_cleared >= JOB_MAX * bits)
}

/// Whether so many `writes` of `trial` may have left bits unset that later ones wait for.
fn are_left(trial: &Trial, writes: f64) -> bool {
    let may_write = trial.works().any(Work::writes);
    may_write
        && is_scattered(trial)
        && of_bitmap(trial).is_some_and(|bits| writes < SET_TIMES * bits)
}

/// How many bits there are for what `trial` goes to, at most. Of parity they are of what the array uses of each member.
fn of_bitmap(trial: &Trial) -> Option<f64> {
    let volume = &trial.setup.volume;
    let layout = volume.layout().ok()?;
    let sectors = layout.sectors();
    let reached = |work: &Requests| work.parts(sectors).iter().map(|(_, span)| span).sum::<u64>();
    let reached = trial.requests().map(reached).sum::<u64>().min(sectors);
    let data = layout.parity().map_or(1, |parity| u64::from(parity.data_units()));
    let bit_sectors = machine::bitmap(volume).ok()??.bits.bit_sectors(sectors / data);
    Some(reached as f64 / (data * bit_sectors) as f64)
}

/// Whether any of it goes to places at random.
fn is_scattered(trial: &Trial) -> bool {
    trial.requests().any(Requests::are_random)
}
