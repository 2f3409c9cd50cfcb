//! Laws of a cell and others that differ from it in one thing.

use super::bounds::{limits, only, value};
use super::{Change, LONG, Law, Limit};
use crate::experiment::{Member, Trial};
use crate::record::Measured;
use crate::workload::Requests;
use block::layout::System;
use sim::Order;
use sim::workload::Pattern;

/// All of them.
pub(super) static LAWS: &[Law] = &[
    Law {
        name: "depth",
        about: "more requests in flight, in the same order, are never slower",
        others: |trial| {
            let work = only(trial)?;
            let deeper = (work.keys.depth * 2).to_string();
            // In another order where a host cuts requests: the pieces of two that are in flight take turns.
            // Where reads and writes mix or parity is read first, too: what was idle time for read-ahead is
            // none any more, and later reads pass earlier writes. And where there are copies, of which the nearest is
            // read when members have as many requests each, which depends on the remainder of the depth. And for requests in
            // order where the next command is chosen, or at random where it is when its deadline has passed.
            let one_sort = match (work.reads(), work.writes()) {
                (true, false) => true,
                (false, true) => !has_parity(trial),
                _ => false,
            };
            let is_due = matches!(trial.setup.host.elevator, Some(Order::Deadline(_)));
            let kept = if work.pattern == Pattern::Random { !is_due } else { is_fifo(trial) };
            let kept = kept && has_one_copy(trial);
            // Linux's queues merge what waits, so that more depth makes other commands.
            let kept = kept && !trial.setup.volume.is_on_linux;
            // And where random reads hit what drives read ahead while they had nothing else to do.
            let kept = kept && !(work.reads() && hits_read_ahead(trial));
            // The end of a short run waits for the slowest drive.
            let alike = another_member(trial).is_some();
            (work.keys.jobs == 1 && one_sort && kept && alike && uncut(trial))
                .then(|| vec![vec![("work.depth", deeper)]])
        },
        in_the_long_run: true,
        limit: None,
        holds: |_, measured| no_slower(&measured[1], &measured[0], "twice the depth", "this depth"),
    },
    Law {
        name: "length",
        about: "a steady trial twice as long has the same rate, within both intervals and 5 %",
        others: |trial| {
            let count = count(trial)?;
            // One cell in four: these two are most of what a cell costs.
            if !trial.seed.is_multiple_of(4) {
                return None;
            }
            let times = |times: u64| vec![("work.count", (times * count).to_string())];
            Some(vec![times(LONG), times(2 * LONG)])
        },
        in_the_long_run: false,
        limit: None,
        holds: |_, measured| same_rate(&measured[1], &measured[2]),
    },
    Law {
        name: "members",
        about: "another member never slows large sequential reads down",
        others: |trial| {
            let work = only(trial)?;
            let volume = &trial.setup.volume;
            // Enough rows in flight that it matters little which members have one chunk more.
            let large = work.keys.depth >= 4
                && work.keys.block_sectors * work.keys.depth
                    >= 8 * volume.members.len() as u64 * volume.interleave_sectors;
            let reads =
                !work.writes() && work.pattern == Pattern::Sequential && work.keys.jobs == 1;
            let more = another_member(trial)?;
            // Which copy is read is another question, and the number of members changes the answer.
            let suits = large && reads && has_one_copy(trial) && uncut(trial);
            (suits && volume.failed.is_empty()).then(|| vec![vec![("volume.drives", more)]])
        },
        in_the_long_run: true,
        limit: Some(&UNEVEN_BUSES),
        holds: |_, measured| {
            no_slower(&measured[1], &measured[0], "one more member", "these members")
        },
    },
    Law {
        name: "one member",
        about: "a stripe or a concatenation of one member is that member",
        others: |trial| {
            let volume = &trial.setup.volume;
            let alone = volume.members.len() == 1 && volume.level.name == "single";
            // A stripe ends with its last whole chunk; random requests to one that ends sooner go elsewhere.
            let sectors = *volume.member_sectors().ok()?.first()?;
            let even = sectors.is_multiple_of(volume.interleave_sectors);
            let is_linuxs = volume.is_on_linux;
            let same = if is_linuxs { ["dm-stripe", "dm-concat"] } else { ["stripe", "concat"] };
            // Who finds no place in the queue is another over device-mapper: it sends such a request again by a worker.
            let in_flight: u64 = trial.requests().map(Requests::in_flight).sum();
            let fits = !is_linuxs || in_flight <= volume.members.first()?.queue_depth() as u64;
            (alone && even && fits && within_a_chunk(trial)?)
                .then(|| same.map(|level| vec![("volume.level", level.into())]).into())
        },
        in_the_long_run: false,
        limit: None,
        holds: |_, measured| same(measured, "as a stripe or a concatenation"),
    },
    Law {
        name: "repeat",
        about: "the same cell, simulated again, gives the same samples",
        others: |trial| only(trial).map(|_| vec![Vec::new()]),
        in_the_long_run: false,
        limit: None,
        holds: |_, measured| same(measured, "when simulated again"),
    },
    Law {
        name: "degraded",
        about: "random reads are never faster with a failed member",
        others: |trial| {
            let work = only(trial)?;
            let volume = &trial.setup.volume;
            // In order they can be: what is read to make up for the member leaves no gaps on the others.
            let random = work.pattern == Pattern::Random && !work.writes();
            // A member that serves all has twice as much of what is asked in its buffer. btrfs reads the first of its copies,
            // and leaves the other member idle until one fails.
            let random = random && !hits_read_ahead(trial) && !volume.level.is_of(System::Btrfs);
            let survives = volume.level.losses_survived(volume.members.len()) > 0;
            let whole = volume.failed.is_empty() && uncut(trial) && within_a_chunk(trial)?;
            let whole = whole && !overfills_queues(trial);
            (survives && random && whole && another_member(trial).is_some())
                .then(|| vec![vec![("volume.failed", "0".into())]])
        },
        in_the_long_run: true,
        limit: None,
        holds: |_, measured| no_slower(&measured[0], &measured[1], "whole", "degraded"),
    },
    Law {
        name: "mirror reads",
        about: "a mirror is never slower to read than one of its members",
        others: |trial| {
            // Several requests in order are dealt to the copies, and none of them is read in order any more.
            let work = only(trial)?;
            let is_dealt = work.pattern != Pattern::Random && work.depth() * work.keys.jobs > 1;
            let is_sound = !is_dealt && !hits_read_ahead(trial);
            of_mirror(trial, |writes| !writes).filter(|_| is_sound)
        },
        in_the_long_run: true,
        limit: None,
        holds: |_, measured| no_slower(&measured[0], &measured[1], "the mirror", "one member"),
    },
    Law {
        name: "mirror writes",
        about: "a mirror is never faster to write than one of its members",
        others: |trial| of_mirror(trial, |writes| writes),
        in_the_long_run: true,
        limit: None,
        holds: |_, measured| no_slower(&measured[1], &measured[0], "one member", "the mirror"),
    },
    Law {
        name: "parity",
        about: "RAID 5 and 6 are never faster to write than a stripe of the same members",
        others: |trial| {
            let level = trial.setup.volume.level;
            let plain = level.system().is_none() && level.has_parity();
            let work = only(trial)?;
            let whole = trial.setup.volume.failed.is_empty() && !work.reads();
            // Flash is written by pages, which parity may happen to fill and a stripe not.
            let whole = whole && trial.setup.volume.members.iter().all(Member::is_rotational);
            // On unlike drives the stripe reaches further into the larger ones.
            let alike = another_member(trial).is_some();
            (plain && whole && alike && uncut(trial) && !fills_rows(trial))
                .then(|| vec![vec![("volume.level", "stripe".into())]])
        },
        in_the_long_run: true,
        limit: None,
        holds: |_, measured| no_slower(&measured[1], &measured[0], "the stripe", "with parity"),
    },
    Law {
        name: "small writes",
        about: "a RAID 5 write of part of a chunk costs four commands, a RAID 6 one six, on five and six members or more",
        others: |trial| small_write_commands(trial).map(|_| Vec::new()),
        in_the_long_run: false,
        limit: None,
        holds: |trial, measured| {
            let expected = small_write_commands(trial).unwrap_or(0.0);
            let commands = value(&measured[0], "commands_per_request").unwrap_or(0.0);
            if (commands - expected).abs() <= 1e-9 {
                return Ok(());
            }
            Err(format!("{commands:.3} commands a request, not {expected}"))
        },
    },
];

/// Two disks on two buses have a bus each, and of three two share one, whose rate decides: a stripe's members give the same each.
static UNEVEN_BUSES: Limit = Limit {
    about: "a member more on buses with unequally many disks, the fullest of which decides (docs/laws.md)",
    without: |trial| {
        let members = trial.setup.volume.members.len() + 1;
        uneven_buses(trial).map(|_| vec![("host.buses", members.to_string())])
    },
    explains: |trial, measured| {
        let [own, more] = [0, 1].map(|at| mb_per_s(&measured[at]));
        uneven_buses(trial).is_some_and(|kept| more >= own * kept * (1.0 - NOISE))
    },
};

/// What is kept of the rate at most with one more member, where the buses of the host have unequally many disks then, and are what
/// limits it: of members that give the same each, the fullest bus decides.
fn uneven_buses(trial: &Trial) -> Option<f64> {
    if trial.setup.volume.controller.is_some() {
        return None;
    }
    kept_on(trial.setup.host.buses?, trial.setup.volume.members.len())
}

fn kept_on(buses: u32, members: usize) -> Option<f64> {
    let of_buses = |members: usize| members as f64 / members.div_ceil(buses as usize) as f64;
    let kept = of_buses(members + 1) / of_buses(members);
    (kept < 1.0).then_some(kept)
}

/// Whether the drives' buffers hold a tenth of the volume, so that random requests find there what was read ahead.
fn hits_read_ahead(trial: &Trial) -> bool {
    let held: u64 = limits(trial).map(|of| of.read_cache_sectors).sum();
    let sectors = trial.setup.volume.layout().map_or(0, |layout| layout.sectors());
    10 * held > sectors
}

/// Two runs of a few hundred requests are not told apart closer than this.
const NOISE: f64 = 0.05;

fn mb_per_s(measured: &Measured) -> f64 {
    value(measured, "mb_per_s").unwrap_or(0.0)
}

/// Whether `fast` is at least as fast as `slow`, up to noise.
fn no_slower(fast: &Measured, slow: &Measured, fast_is: &str, slow_is: &str) -> Result<(), String> {
    let (fast, slow) = (mb_per_s(fast), mb_per_s(slow));
    if fast >= slow * (1.0 - NOISE) {
        return Ok(());
    }
    Err(format!("{fast:.3} MB/s with {fast_is}, {slow:.3} MB/s with {slow_is}"))
}

/// How many requests its only workload makes, where that is said.
pub(super) fn count(trial: &Trial) -> Option<u64> {
    only(trial)?.keys.count
}

/// Whether these two, if both say that they are steady, have the same rate as far as their intervals tell.
fn same_rate(short: &Measured, long: &Measured) -> Result<(), String> {
    let half_width = |of| {
        let is_steady = value(of, "steady") == Some(1.0);
        is_steady.then(|| value(of, "interval_percent")).flatten().map(|percent| percent / 100.0)
    };
    let (Some(of_short), Some(of_long)) = (half_width(short), half_width(long)) else {
        return Ok(());
    };
    let change = mb_per_s(long) / mb_per_s(short) - 1.0;
    if change.abs() <= NOISE + of_short.hypot(of_long) {
        return Ok(());
    }
    let (change, of_short, of_long) = (100.0 * change, 100.0 * of_short, 100.0 * of_long);
    Err(format!(
        "{change:+.1} % when twice as long, by intervals of {of_short:.1} and {of_long:.1} %"
    ))
}

/// Whether all of these have the same samples.
fn same(measured: &[Measured], otherwise: &str) -> Result<(), String> {
    for other in &measured[1..] {
        for (here, there) in measured[0].samples.iter().zip(&other.samples) {
            // What is no number in both is the same.
            if here.0 != there.0 || here.1.to_bits() != there.1.to_bits() {
                return Err(format!("{} {}, {} {} {otherwise}", here.0, here.1, there.0, there.1));
            }
        }
    }
    Ok(())
}

/// The members and one more of the same, where all are the same drive. None of cloud volumes: each command takes
/// another time by chance, and sequences that a layout breaks up are billed apart.
fn another_member(trial: &Trial) -> Option<String> {
    let members = &trial.setup.volume.members;
    let name_and_part = |member: &Member| match member {
        Member::Modelled { drive, .. } if drive.is_remote() => None,
        Member::Modelled { drive, sectors } => {
            let part = sectors.map_or(String::new(), |sectors| format!(":{sectors}"));
            Some(format!("{}{part}", drive.name))
        }
        Member::Real { .. } => None,
    };
    let first = name_and_part(members.first()?)?;
    let alike = members.iter().all(|member| name_and_part(member).as_ref() == Some(&first));
    alike.then(|| format!("{}x{first}", members.len() + 1))
}

/// One member instead of a mirror, for work that `suits`, told whether it writes.
fn of_mirror(trial: &Trial, suits: fn(bool) -> bool) -> Option<Vec<Change>> {
    let volume = &trial.setup.volume;
    let work = only(trial)?;
    let (reads, writes) = (work.reads(), work.writes());
    let drives = another_member(trial)?;
    let (_, one) = drives.split_once('x')?;
    let fits = volume.level.name == "mirror" && volume.failed.is_empty() && reads != writes;
    (fits && suits(writes)).then(|| {
        // One that Linux's queues are not in front of, either.
        vec![vec![("volume.level", "concat".into()), ("volume.drives", format!("1x{one}"))]]
    })
}

/// How many commands each small write costs, where that is known without looking: parity by the textbook, a
/// block that stays within a chunk.
fn small_write_commands(trial: &Trial) -> Option<f64> {
    let work = only(trial)?;
    let volume = &trial.setup.volume;
    let inside = within_a_chunk(trial)? && work.sizes().is_empty();
    let apart = work.pattern == Pattern::Random && !work.reads();
    let whole = volume.failed.is_empty() && volume.controller.is_none();
    let commands = match (volume.level.name, volume.members.len()) {
        ("raid5", 5..) => 4.0,
        ("raid6", 6..) => 6.0,
        _ => return None,
    };
    (inside && apart && whole && uncut(trial)).then_some(commands)
}

/// Whether no request crosses the edge of a chunk; requests are aligned to their block.
fn within_a_chunk(trial: &Trial) -> Option<bool> {
    let block_sectors = only(trial)?.keys.block_sectors;
    Some(trial.setup.volume.interleave_sectors.is_multiple_of(block_sectors))
}

/// Whether reads of md's RAID 4, 5 or 6 may find no place in a member's queue: they are read again in rows of 4 KiB, which while a
/// member is down merge. Two WD740GD, 64 KiB at random, 4 in flight, no read-ahead: 1.4 MB/s whole and 7.6 with one down in
/// the kernel.
fn overfills_queues(trial: &Trial) -> bool {
    let volume = &trial.setup.volume;
    let commands = volume.members.iter().map(Member::queue_depth).min().unwrap_or(1);
    let in_flight: u64 = trial.requests().map(|work| work.depth() * work.keys.jobs).sum();
    volume.level.has_stripe_cache() && in_flight > 2 * commands as u64
}

/// Whether requests in order write whole rows of chunks: then parity is one command more, and all members of a row begin
/// and end together, where requests to a stripe of the same members wait for each other.
fn fills_rows(trial: &Trial) -> bool {
    let volume = &trial.setup.volume;
    let members = volume.members.len();
    let data = members - volume.level.losses_survived(members).min(members - 1);
    let row_sectors = volume.interleave_sectors * data as u64;
    let fills = |work: &Requests| {
        work.pattern != Pattern::Random && work.largest_sectors().is_multiple_of(row_sectors)
    };
    trial.requests().any(fills)
}

/// Whether the host hands requests on whole.
fn uncut(trial: &Trial) -> bool {
    let largest = trial.requests().map(Requests::largest_sectors).max().unwrap_or(0);
    u64::from(trial.setup.host.max_transfer_sectors) >= largest
}

/// Whether commands are taken in the order in which they come, everywhere.
fn is_fifo(trial: &Trial) -> bool {
    matches!(trial.setup.host.elevator, None | Some(Order::Fcfs))
        && limits(trial).all(|drive| !drive.reorders)
}

/// Whether everything is there once, parity apart.
fn has_one_copy(trial: &Trial) -> bool {
    has_parity(trial) || trial.setup.volume.level.losses_survived(8) == 0
}

/// Whether the level keeps parity.
fn has_parity(trial: &Trial) -> bool {
    trial.setup.volume.level.has_parity()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three disks on two buses make 3/2 of a bus, and two make two: that is no less, and no other number of buses explains it.
    #[test]
    fn a_bus_explains_as_much_as_it_costs() {
        assert_eq!(kept_on(2, 2), Some(0.75));
        assert!((kept_on(2, 4).unwrap() - 5.0 / 6.0).abs() < 1e-12);
        assert_eq!([kept_on(1, 2), kept_on(2, 3), kept_on(4, 2)], [None; 3]);
    }
}
