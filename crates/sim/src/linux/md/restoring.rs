//! md's thread that restores a member: a row at a time, through the stripe cache that the load uses, too.
//!
//! ```text
//! thread   takes rows as long as one is free, and looks at its speed after each 32 of them
//!          none is free: sleeps until less than 3/4 are in use, takes one, sleeps one to two ticks with it, and goes on
//! a row    all other members are read, what is lost is worked out, and written to the spare
//! ```
//!
//! So they share the rows, and no request waits for the rebuild but for a row or for the members. A row that is restored is a row like
//! any other: who comes to it meanwhile waits until what was sent for it is done. What is written goes to the spare wherever it is.
//! It is read from there once md has noted how far it is ([`Noted`]).
//!
//! From `raid5_sync_request`, `handle_stripe` and `analyse_stripe` of `drivers/md/raid5.c` of Linux 6.1.

use super::row::{Next, Units};
use super::{Md, RowWrite};
use crate::linux::queue::PAGE_SECTORS;
use crate::linux::sync_pace::{Noted, SyncPace, after_ticks};
use crate::{Counters, Device, Nanos, Rebuild};
use std::ops::Range;

/// What md's thread has to do with a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Restores {
    /// Nothing.
    #[default]
    Not,
    /// It has taken it, and sleeps.
    Held,
    /// It has asked for it (`STRIPE_SYNC_REQUESTED`).
    Asked,
    /// The row is being restored (`STRIPE_SYNCING`).
    Begun,
    /// What was lost is on its way to the spare (`STRIPE_INSYNC`).
    Written,
}

/// What the thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It comes to its next row.
    Row,
    /// It notes how far it is as soon as nothing is in flight.
    Note,
    /// It sleeps until a row is free.
    Waits,
    /// It has the row in this slot and sleeps a tick.
    Sleeps { slot: usize, until: Nanos },
    /// It looks at its speed.
    Looks,
    /// It was too fast.
    Dozes { until: Nanos },
    /// All rows were asked for.
    IsThrough,
}

/// The thread, and how far it is.
#[derive(Clone, Debug)]
pub(super) struct Restoring {
    rebuild: Rebuild,
    /// What is restored of the member, in sectors and in rows.
    part: Range<u64>,
    first: u64,
    end: u64,
    /// The row that it comes to next, and how many are restored.
    next: u64,
    restored: u64,
    pace: SyncPace,
    noted: Noted,
    stage: Stage,
}

impl Restoring {
    /// From `now` on, `part` of the member is restored, in which these rows are.
    fn new(now: Nanos, rebuild: Rebuild, part: Range<u64>, rows: Range<u64>) -> Self {
        Restoring {
            rebuild,
            part,
            first: rows.start,
            end: rows.end,
            next: rows.start,
            restored: 0,
            pace: SyncPace::new(now, rebuild.bytes_per_s),
            noted: Noted::new(now, rows.start),
            stage: Stage::Row,
        }
    }

    /// The same from the beginning.
    fn again(&self, now: Nanos) -> Self {
        Restoring::new(now, self.rebuild, self.part.clone(), self.first..self.end)
    }

    /// Whether what row `number` has of this member is lost.
    pub(super) fn lacks(&self, member: u32, number: u64) -> bool {
        member == self.rebuild.member && number >= self.noted.so_far()
    }

    fn restored_sectors(&self) -> u64 {
        let sectors = self.restored * u64::from(PAGE_SECTORS);
        let is_over = self.first + self.restored == self.end;
        if is_over { self.part.end - self.part.start } else { sectors }
    }
}

impl<D: Device> Md<D> {
    /// The same array with a spare in the place of a member that is down. From time 0 on, `part` of it is restored.
    ///
    /// # Panics
    ///
    /// Where the speed limit is zero, and where the part is empty.
    #[must_use]
    pub fn restoring(mut self, rebuild: Rebuild, part: Range<u64>) -> Self {
        assert!(rebuild.bytes_per_s != Some(0) && !part.is_empty(), "something is restored");
        let rows = self.layout.sectors() / u64::from(self.data * PAGE_SECTORS);
        self.restoring = Some(Restoring::new(0, rebuild, part, 0..rows));
        self.wake(0);
        self
    }

    /// Whether a member is down or not restored yet (`mddev->degraded`).
    pub(super) fn is_degraded(&self) -> bool {
        self.health.failures() > 0 || self.restoring.is_some()
    }

    /// The units of row `number` that cannot be read: they are on members that are down, or not restored yet.
    pub(super) fn down(&self, number: u64) -> Units {
        let is_lost = |member| {
            let restoring = self.restoring.as_ref();
            !self.health.is_up(member) || restoring.is_some_and(|by| by.lacks(member, number))
        };
        if self.is_degraded() { self.units_where(number, is_lost) } else { 0 }
    }

    /// Those that cannot be written, either.
    pub(super) fn absent(&self, number: u64) -> Units {
        if self.health.failures() == 0 {
            return 0;
        }
        self.units_where(number, |member| !self.health.is_up(member))
    }

    /// The units of row `number` that are on such members.
    fn units_where(&self, number: u64, is: impl Fn(u32) -> bool) -> Units {
        let units = 0..self.data + self.parities;
        units.map(|unit| Units::from(is(self.place(number, unit).member)) << unit).sum()
    }

    /// When md's thread that restores goes on by itself.
    pub(super) fn restores_at(&self) -> Option<Nanos> {
        match self.restoring.as_ref()?.stage {
            Stage::Sleeps { until, .. } | Stage::Dozes { until } => Some(until.max(self.busy_to)),
            _ => None,
        }
    }

    /// Whether that thread goes on behind the one for rows, if it can.
    pub(super) fn restores_later(&self) -> bool {
        let stage = self.restoring.as_ref().map(|restoring| restoring.stage);
        matches!(stage, Some(Stage::Waits | Stage::Note))
    }

    /// That thread runs until it sleeps.
    pub(super) fn restore_rows(&mut self, now: Nanos) {
        while let Some(restoring) = &mut self.restoring {
            let next = restoring.next;
            restoring.stage = match restoring.stage {
                Stage::Row if next == restoring.end => Stage::IsThrough,
                Stage::Row if restoring.noted.is_due(now, next, restoring.end) => Stage::Note,
                Stage::Row => match self.cache.take_awake(next) {
                    Some(slot) => {
                        self.ask_to_restore(slot);
                        continue;
                    }
                    None => {
                        self.cache.sleep();
                        Stage::Waits
                    }
                },
                Stage::Note if restoring.pace.is_at_rest() => {
                    restoring.noted = Noted::new(now, next);
                    Stage::Row
                }
                Stage::Waits => {
                    let Some(slot) = self.cache.take_woken(next) else { return };
                    self.cache.rows[slot].restores = Restores::Held;
                    Stage::Sleeps { slot, until: after_ticks(now, 1) }
                }
                Stage::Sleeps { slot, until } if until <= now => {
                    self.ask_to_restore(slot);
                    continue;
                }
                Stage::Dozes { until } if until <= now => Stage::Looks,
                Stage::Looks => match restoring.pace.sleeps_until(now) {
                    Some(until) => Stage::Dozes { until },
                    None => Stage::Row,
                },
                Stage::Note | Stage::Sleeps { .. } | Stage::Dozes { .. } | Stage::IsThrough => {
                    return;
                }
            };
        }
    }

    /// The thread has the next row in this slot, and asks for it.
    fn ask_to_restore(&mut self, slot: usize) {
        let Some(restoring) = &mut self.restoring else { return };
        restoring.next += 1;
        restoring.pace.sends(PAGE_SECTORS.into());
        restoring.stage = Stage::Looks;
        let row = &mut self.cache.rows[slot];
        row.restores = Restores::Asked;
        if row.steps == 0 {
            self.release(slot);
        }
    }

    /// md's thread for rows comes to one that is to be restored. Rows that are written as one are restored behind that.
    pub(super) fn begin_to_restore(&mut self, slot: usize) {
        let row = &mut self.cache.rows[slot];
        if row.restores == Restores::Asked && row.batch.is_empty() {
            row.restores = Restores::Begun;
        }
    }

    /// What a row that is restored needs next: all that is up is read, also of what is written anew. Gives whether it waits for that.
    pub(super) fn read_to_restore(&mut self, now: Nanos, slot: usize) -> bool {
        if self.cache.rows[slot].restores != Restores::Begun {
            return false;
        }
        let number = self.cache.rows[slot].number.expect("it stands for a row");
        let view = self.cache.rows[slot].view(self.data, self.parities, self.down(number));
        match view.before_restoring() {
            Next::Read(units) => {
                self.start_reads(slot, units);
                return true;
            }
            Next::WorkOut => self.work_out(slot, &view),
            Next::Lost => self.give_restoring_up(now),
            Next::Write => {}
        }
        false
    }

    /// All of a row is known: what was lost of it is written, or has been.
    pub(super) fn write_restored(&mut self, now: Nanos, slot: usize) {
        let row = &self.cache.rows[slot];
        match row.restores {
            Restores::Begun => {
                let number = row.number.expect("it stands for a row");
                let units = self.down(number) & !self.absent(number);
                let write = RowWrite { units, rows: vec![slot], ..RowWrite::of_nobody() };
                self.insert_write(slot, write, units);
                self.cache.rows[slot].restores = Restores::Written;
            }
            Restores::Written => self.row_restored(now, slot),
            Restores::Not | Restores::Held | Restores::Asked => {}
        }
    }

    /// A write of a row brings what was lost of it to the spare: nothing else has to (`STRIPE_INSYNC`), unless more is lost.
    pub(super) fn written_anew(&mut self, slot: usize, units: Units) {
        if self.cache.rows[slot].restores != Restores::Begun {
            return;
        }
        let number = self.cache.rows[slot].number.expect("it stands for a row");
        let down = self.down(number);
        if down.is_power_of_two() && down & units != 0 {
            self.cache.rows[slot].restores = Restores::Written;
        }
    }

    fn row_restored(&mut self, now: Nanos, slot: usize) {
        self.cache.rows[slot].restores = Restores::Not;
        let Some(restoring) = &mut self.restoring else { return };
        restoring.pace.restored(PAGE_SECTORS.into());
        restoring.restored += 1;
        if restoring.first + restoring.restored == restoring.end {
            self.restored = (restoring.restored_sectors(), Some(now));
            self.restoring = None;
        }
    }

    /// It cannot be restored: the spare is as lost as what it was to replace.
    pub(super) fn give_restoring_up(&mut self, now: Nanos) {
        if let Some(restoring) = self.restoring.take() {
            self.restored.0 = restoring.restored_sectors();
            self.health.fail(restoring.rebuild.member);
            for slot in 0..self.cache.rows.len() {
                if std::mem::take(&mut self.cache.rows[slot].restores) != Restores::Not {
                    self.release(slot);
                }
            }
            self.wake(now);
        }
    }

    /// Everything was aborted: what the spare's cache held may be lost. Of an array that is down nothing more is restored.
    pub(super) fn restore_again(&mut self, now: Nanos) {
        self.restoring = self.restoring.as_ref().map(|restoring| restoring.again(now));
        if self.down {
            self.restoring = None;
        }
        if self.restoring.is_some() {
            self.wake(now);
        }
    }

    /// A member has failed. The spare may be it, or have nothing left to be restored from.
    pub(super) fn member_fails(&mut self, now: Nanos, member: u32) {
        let is_spare = |restoring: &Restoring| restoring.rebuild.member == member;
        if self.restoring.as_ref().is_some_and(is_spare) {
            self.give_restoring_up(now);
        }
        self.health.fail(member);
    }

    /// What was restored, and when the last of it was.
    pub(super) fn count_restored(&self, counters: &mut Counters) {
        let (before, at) = self.restored;
        let now = self.restoring.as_ref().map_or(before, Restoring::restored_sectors);
        counters.restored_sectors += now;
        counters.restored_at = counters.restored_at.max(at);
    }
}
