//! How fast md restores a member: it looks at its speed after every 128 KiB, and sleeps where that is too high.
//!
//! Linux counts whole seconds, and those that have begun: in the first one, as much may be restored at once as the limit allows in
//! a second, and then nothing until the second begins. The speed is that since the oldest of ten marks, which are set three
//! seconds apart; so over half a minute it comes to the limit.
//!
//! ```text
//! 20 MB/s    20 MB at once ─ sleeps 0.51 s ─ sleeps 0.51 s ─ 1 s has passed: 20 MB at once ─ …
//! ```
//!
//! From `md_do_sync` of `drivers/md/md.c` of Linux 6.1, where `sync_speed_min` is `sync_speed_max`: then it is never asked whether
//! somebody else uses the array (`is_mddev_idle`).

use crate::Nanos;
use block::SECTOR_BYTES;

/// A tick of the kernel that the model is held to (`CONFIG_HZ` of User-mode Linux is 100).
const TICK_NS: Nanos = 10_000_000;
const TICKS_PER_S: u64 = 1_000_000_000 / TICK_NS;
/// Marks that are kept (`SYNC_MARKS`), and how far apart they are (`SYNC_MARK_STEP`, 3 s).
const MARKS: usize = 10;
const MARK_STEP_TICKS: u64 = 3 * TICKS_PER_S;
/// Sectors that are sent between two looks at the speed (`window` of `md_do_sync`: 32 pages).
const WINDOW_SECTORS: u64 = 256;
/// How long it is at most from one burst to the next at a limit of so many bytes a second: as much as is sent between two looks, or
/// what a second allows, is restored at once, and then nothing.
pub(crate) fn period_ns(bytes_per_s: u64) -> Nanos {
    let window_bytes = u128::from(WINDOW_SECTORS * SECTOR_BYTES);
    let window_ns = window_bytes * 1_000_000_000 / u128::from(bytes_per_s.max(1));
    (window_ns as Nanos).max(TICKS_PER_S * TICK_NS)
}

/// How long it sleeps where it is too fast (`msleep(500)`), in ticks.
const SLEEP_TICKS: u64 = TICKS_PER_S / 2 + 1;

/// When who has slept for so many ticks since `now` goes on. A timer never fires early: it goes on at the tick behind the one that
/// ends the last of them (`calc_wheel_index` of `kernel/time/timer.c`).
pub(crate) fn after_ticks(now: Nanos, ticks: u64) -> Nanos {
    (now / TICK_NS + ticks + 1) * TICK_NS
}

/// How long after the last time md notes how far it has come (`UPDATE_FREQUENCY`, five minutes); it does so after a sixteenth of the
/// member, too. Only then does it read what it has restored.
const NOTED_EVERY_NS: Nanos = 300_000_000_000;
const NOTED_SHARE: u64 = 16;

/// How far a member was restored when md last noted that, and when that was (`curr_resync_completed`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    so_far: u64,
    at: Nanos,
}

impl Noted {
    /// At `now` it has come so far.
    pub(crate) fn new(now: Nanos, so_far: u64) -> Self {
        Noted { so_far, at: now }
    }

    /// Up to where the member is read.
    pub(crate) fn so_far(self) -> u64 {
        self.so_far
    }

    /// Whether it is time to note what has been `started` since, of a member with such an `end`.
    pub(crate) fn is_due(self, now: Nanos, started: u64, end: u64) -> bool {
        let since = started - self.so_far;
        since > 0 && (since > end / NOTED_SHARE || now >= self.at + NOTED_EVERY_NS)
    }
}

/// How far what is restored has come, and how fast.
#[derive(Clone, Debug)]
pub(crate) struct SyncPace {
    /// The limit in KiB a second; `None` for as fast as the drives go.
    limit_kib_s: Option<u64>,
    /// Ticks and sectors at each mark.
    marks: [(u64, u64); MARKS],
    last_mark: usize,
    /// The mark that the speed is measured from: the oldest, which gave its place to the last.
    since: (u64, u64),
    /// Sectors that were sent, those of them that are in flight, and those that had been sent at the last look.
    sent: u64,
    in_flight: u64,
    looked_at: u64,
}

impl SyncPace {
    /// Begins at `now`, and restores at most so many bytes a second.
    pub(crate) fn new(now: Nanos, bytes_per_s: Option<u64>) -> Self {
        SyncPace {
            // What is written to `sync_speed_max` is in KiB.
            limit_kib_s: bytes_per_s.map(|rate| (rate / 1024).max(1)),
            marks: [(now / TICK_NS, 0); MARKS],
            last_mark: 0,
            since: (now / TICK_NS, 0),
            sent: 0,
            in_flight: 0,
            looked_at: 0,
        }
    }

    /// So many sectors are sent.
    pub(crate) fn sends(&mut self, sectors: u64) {
        self.sent += sectors;
        self.in_flight += sectors;
    }

    /// So many of them are restored.
    pub(crate) fn restored(&mut self, sectors: u64) {
        self.in_flight = self.in_flight.saturating_sub(sectors);
    }

    /// Whether nothing is in flight (`recovery_active`).
    pub(crate) fn is_at_rest(&self) -> bool {
        self.in_flight == 0
    }

    /// Until when it sleeps before it sends more, if it is too fast.
    pub(crate) fn sleeps_until(&mut self, now: Nanos) -> Option<Nanos> {
        if self.looked_at + WINDOW_SECTORS > self.sent {
            return None;
        }
        let (tick, done) = (now / TICK_NS, self.sent - self.in_flight);
        if tick >= self.marks[self.last_mark].0 + MARK_STEP_TICKS {
            self.last_mark = (self.last_mark + 1) % MARKS;
            self.since = std::mem::replace(&mut self.marks[self.last_mark], (tick, done));
        }
        let (since, before) = self.since;
        let seconds = (tick - since) / TICKS_PER_S + 1;
        let kib_s = done.saturating_sub(before) * SECTOR_BYTES / 1024 / seconds + 1;
        if self.limit_kib_s.is_some_and(|limit| kib_s > limit) {
            return Some(after_ticks(now, SLEEP_TICKS));
        }
        self.looked_at = self.sent;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    /// What is restored by `end` of what a drive could restore at 100 MB/s, piece after piece of 64 KiB.
    fn restored_by(end: Nanos, bytes_per_s: u64) -> u64 {
        let (mut pace, mut now, mut bytes) = (SyncPace::new(0, Some(bytes_per_s)), 0, 0);
        while now < end {
            match pace.sleeps_until(now) {
                Some(until) => now = until,
                None => {
                    pace.sends(128);
                    now += 655_360;
                    pace.restored(128);
                    bytes += 65_536;
                }
            }
        }
        bytes
    }

    /// In the first second comes all that may be restored in one, then nothing until the second one has begun. Later marks are
    /// left behind, and a minute comes to the limit.
    #[test]
    fn whole_seconds_are_counted_and_the_limit_holds_over_time() {
        let limit = 20_000_000;
        let at = |seconds_percent: u64| {
            restored_by(seconds_percent * SECOND / 100, limit) as f64 / limit as f64
        };
        assert!((at(25) - 1.0).abs() < 0.02, "{}", at(25));
        assert!((at(90) - 1.0).abs() < 0.02, "{}", at(90));
        assert!((at(160) - 2.0).abs() < 0.02, "{}", at(160));
        assert!((at(30_000) / 300.0 - 1.0).abs() < 0.05, "{}", at(30_000));
    }

    #[test]
    fn a_sixteenth_or_five_minutes_are_noted() {
        let noted = Noted::new(7, 100);
        assert!(!noted.is_due(7, 200, 1600) && noted.is_due(7, 201, 1600));
        assert!(!noted.is_due(NOTED_EVERY_NS + 7, 100, 1600));
        assert!(
            noted.is_due(NOTED_EVERY_NS + 7, 101, 1600) && !noted.is_due(NOTED_EVERY_NS, 101, 1600)
        );
    }

    #[test]
    fn who_sleeps_for_a_tick_sleeps_for_one_to_two() {
        let ends = [0, 1, TICK_NS - 1, TICK_NS].map(|now| after_ticks(now, 1));
        assert_eq!(ends, [2, 2, 2, 3].map(|tick| tick * TICK_NS));
    }

    /// Where as much is in flight as may be restored, nothing is done yet: it goes on.
    #[test]
    fn what_is_in_flight_does_not_count() {
        let mut pace = SyncPace::new(0, Some(1_000_000));
        pace.sends(10_000);
        assert!(pace.sleeps_until(0).is_none() && !pace.is_at_rest());
        pace.restored(10_000);
        pace.sends(256);
        assert_eq!(pace.sleeps_until(0), Some(52 * TICK_NS));
    }
}
