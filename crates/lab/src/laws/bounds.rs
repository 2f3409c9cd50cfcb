//! Laws of one cell alone.

use super::Law;
use crate::catalogue::Limits;
use crate::experiment::{Member, Trial};
use crate::record::Measured;
use crate::workload::Requests;
use block::SECTOR_BYTES;
use sim::workload::Pattern;
use store::sample;

/// All of them.
pub(super) static LAWS: &[Law] = &[
    Law {
        name: "media",
        about: "throughput never exceeds media rate plus cache",
        others: |trial| (!comes_again(trial)).then(Vec::new),
        in_the_long_run: false,
        limit: None,
        holds: |trial, measured| {
            let most = media_bytes_per_s(trial) * seconds(&measured[0]) + cache_bytes(trial);
            at_most(moved_bytes(&measured[0]), most * ROUNDING, "MB, but media and caches carry")
        },
    },
    Law {
        name: "bus",
        about: "throughput never exceeds the drives' interfaces or the buses",
        // A controller's memory is above its channels.
        others: |trial| trial.setup.volume.controller.is_none().then(Vec::new),
        in_the_long_run: false,
        limit: None,
        holds: |trial, measured| {
            let most = bus_bytes_per_s(trial) * seconds(&measured[0]) * ROUNDING;
            at_most(moved_bytes(&measured[0]), most, "MB, but buses carry")
        },
    },
    Law {
        name: "time adds up",
        about: "the parts of a request's time sum to its latency",
        others: |_| Some(Vec::new()),
        in_the_long_run: false,
        limit: None,
        holds: |_, measured| {
            let parts: f64 =
                sample::parts().filter_map(|part| value(&measured[0], part.name)).sum();
            let mean = value(&measured[0], "latency_mean_ms").unwrap_or(0.0);
            if (parts - mean).abs() <= 1e-6 * mean.max(1e-3) {
                return Ok(());
            }
            Err(format!("parts of {parts:.6} ms, a mean latency of {mean:.6} ms"))
        },
    },
    Law {
        name: "Little",
        about: "requests in flight are their rate times their latency, thinking counted, and never more than the depth",
        // What comes by the clock is under way whatever the depth.
        others: |trial| (!trial.requests().any(Requests::is_open)).then(Vec::new),
        in_the_long_run: false,
        limit: None,
        holds: |trial, measured| {
            let depth: u64 = trial.requests().map(|work| work.depth() * work.keys.jobs).sum();
            let in_flight = in_flight(&measured[0]);
            if in_flight <= depth as f64 * ROUNDING {
                return Ok(());
            }
            Err(format!("{in_flight:.3} requests in flight at a depth of {depth}"))
        },
    },
    Law {
        name: "shares",
        about: "no member and no processor is busy for more than all of the time",
        others: |_| Some(Vec::new()),
        in_the_long_run: false,
        limit: None,
        holds: |trial, measured| {
            // On Linux a request that is merged is done before its own processor time is over, which is open.
            let is_merged = trial.setup.volume.is_on_linux;
            let cpu = value(&measured[0], "cpu_busy").filter(|_| !is_merged);
            let busiest = measured[0].member_busy.iter().copied().chain(cpu).fold(0.0, f64::max);
            at_most(busiest, ROUNDING, "of the time busy, but there is only")
        },
    },
    Law {
        name: "percentiles",
        about: "higher percentiles of latency are no lower",
        others: |_| Some(Vec::new()),
        in_the_long_run: false,
        limit: None,
        holds: |_, measured| {
            let names = ["latency_p50_ms", "latency_p99_ms", "latency_p999_ms"];
            let values: Vec<f64> =
                names.iter().filter_map(|name| value(&measured[0], name)).collect();
            if values.is_sorted() { Ok(()) } else { Err(format!("{values:?} ms")) }
        },
    },
];

/// Rates of tracks are rounded to ns a sector, histograms to three digits.
const ROUNDING: f64 = 1.005;

/// A sample, if the trial has it.
pub(super) fn value(measured: &Measured, name: &str) -> Option<f64> {
    measured.samples.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// The only requests of a trial, if nothing else runs.
pub(super) fn only(trial: &Trial) -> Option<&Requests> {
    // What comes by the clock has no depth, and its rate is how many come.
    let work = trial.work.requests().filter(|work| !work.is_open())?;
    trial.beside.is_empty().then_some(work)
}

fn seconds(measured: &Measured) -> f64 {
    value(measured, "elapsed_s").unwrap_or(0.0)
}

fn moved_bytes(measured: &Measured) -> f64 {
    value(measured, "mb_per_s").unwrap_or(0.0) * 1e6 * seconds(measured)
}

fn in_flight(measured: &Measured) -> f64 {
    let each_ms = ["latency_mean_ms", "program_ms"].iter().filter_map(|name| value(measured, name));
    value(measured, "requests_per_s").unwrap_or(0.0) * each_ms.sum::<f64>() / 1e3
}

fn at_most(value: f64, most: f64, words: &str) -> Result<(), String> {
    if value <= most {
        return Ok(());
    }
    let scale = if most > 1e5 { 1e6 } else { 1.0 };
    Err(format!("{:.3} {words} {:.3}", value / scale, most / scale))
}

/// What each member's drive cannot exceed.
pub(super) fn limits(trial: &Trial) -> impl Iterator<Item = Limits> {
    trial.setup.volume.members.iter().filter_map(|member| member.drive()?.limits().ok())
}

/// Whether some sectors are asked for more than once, so that a cache serves what it has not to fetch: files do
/// that, and random requests to a volume that is not many times what is asked.
fn comes_again(trial: &Trial) -> bool {
    let sectors = trial.setup.volume.layout().map_or(0, |layout| layout.sectors());
    let again = |work: &Requests| {
        let asked =
            work.count().saturating_mul(work.largest_sectors()).saturating_mul(work.keys.jobs);
        let span = work.keys.span_sectors.unwrap_or(sectors);
        match work.pattern {
            Pattern::Random => asked.saturating_mul(50) > span,
            Pattern::Sequential | Pattern::Strided(_) => asked > span,
        }
    };
    trial.setup.files.is_some() || trial.requests().any(again)
}

/// What all media together move at their outer edges.
fn media_bytes_per_s(trial: &Trial) -> f64 {
    limits(trial).map(|of| of.media_bytes_per_s).sum::<f64>() * both_ways(trial)
}

/// What the drives' buffers and a controller's memory hold.
fn cache_bytes(trial: &Trial) -> f64 {
    let sectors: u64 = limits(trial).map(|of| of.read_cache_sectors + of.write_cache_sectors).sum();
    let memory = trial.setup.volume.controller.as_ref().map_or(0, |of| of.memory_sectors);
    ((sectors + memory + overdrawn_sectors(trial)) * SECTOR_BYTES) as f64
}

/// What passes a limit beyond its rate: the command that overdraws it passes whole.
fn overdrawn_sectors(trial: &Trial) -> u64 {
    let largest = trial.requests().map(Requests::largest_sectors).max().unwrap_or(0);
    let limited = trial.setup.volume.members.iter().filter(|member| member.is_remote());
    largest * limited.count() as u64
}

/// What the drives' interfaces, and the buses that they share, carry.
fn bus_bytes_per_s(trial: &Trial) -> f64 {
    let host = &trial.setup.host;
    let members = trial.setup.volume.members.len();
    let buses = host.buses.map_or(members, |buses| members.min(buses as usize));
    let shared = match host.bus_bytes_per_s {
        u64::MAX => f64::INFINITY,
        rate => rate as f64 * buses as f64,
    };
    limits(trial).map(|of| of.interface_bytes_per_s).sum::<f64>().min(shared) * both_ways(trial)
}

/// How many times its rate a link carries that carries reads and writes at once, as those of flash drives do: 1/0.7 where
/// seven of ten bytes are read.
fn both_ways(trial: &Trial) -> f64 {
    let written = only(trial).map_or(0.5, Requests::written_share);
    let has_link = |member: &Member| !member.is_rotational() && !member.is_remote();
    let is_mixed = 0.0 < written && written < 1.0;
    if !is_mixed || !trial.setup.volume.members.iter().all(has_link) {
        return 1.0;
    }
    // Which requests write is drawn, so that shares of a few hundred are not quite as asked.
    1.05 / written.max(1.0 - written)
}
