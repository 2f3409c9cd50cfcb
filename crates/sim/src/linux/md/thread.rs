//! The thread (raid5d): handles rows, eight at a time, and sends what they need to the members.

use super::restoring::Restores;
use super::row::{Next, Units, View};
use super::{Md, RowStep, RowWrite, Settling, Thread};
use crate::linux::queue::PAGE_SECTORS;
use crate::{Device, Fault, Nanos, Spent};
use block::{Op, Place};

/// Rows handled between two looks at what else there is (`MAX_STRIPE_BATCH`).
const ROWS_AT_A_TIME: usize = 8;

impl<D: Device> Md<D> {
    /// The processor's next piece of work: the writer's, until it has nothing to do or must sleep, then the
    /// thread's. The writer goes on between two pieces of a pass where rows have come free.
    pub(super) fn run(&mut self, now: Nanos) {
        self.runs_at = None;
        if self.thread_is_idle() {
            // Of two that wait for rows, who sends is first; what it sends next is behind the kernel's threads.
            self.fill_rows(now);
            self.restore_rows(now);
            self.admit(now);
            self.work(now);
            self.let_writer_go(now);
        }
        self.take_unplugged();
        if self.thread_is_wanted() {
            self.thread = Thread::Runs;
        }
        let ran = self.thread == Thread::Runs;
        if ran {
            let worked_ns = self.go_on(now);
            self.busy_to = self.driver.processor.work(now, worked_ns).1;
        }
        // A writer that sleeps for rows is woken by those that the thread has let go of, and goes on when that sleeps
        // (`release_inactive_stripe_list`).
        let wakes = ran && !self.bios.is_empty();
        let may_begin = !self.arrived.is_empty() && !self.marks.are_written();
        let writer_goes_on = (may_begin && self.bios.is_empty()) || wakes;
        let workers_go_on = self.workers.go_on(self.cache.has_freed());
        let goes_on = writer_goes_on || workers_go_on || (ran && self.restores_later());
        let more = self.thread == Thread::Runs
            || self.thread_is_wanted()
            || (self.thread_is_idle() && goes_on);
        if more {
            self.wake(now);
        }
    }

    /// A piece of a pass; gives the time it takes.
    fn go_on(&mut self, now: Nanos) -> Nanos {
        let mut worked_ns = 0;
        while let Some(&step) = self.steps.front() {
            let merged = self.merge_step(step);
            if merged > 0 {
                self.rows_sent(merged);
                worked_ns += self.sent_ns(false) * u64::from(merged);
                continue;
            }
            let has_room = self.members.has_room(step.member);
            if !has_room || self.members.is_full(&self.plug) {
                // The plug is sent on at the time that the work so far has taken.
                if worked_ns > 0 {
                    return worked_ns;
                }
                self.unplug(now);
            }
            if !self.members.has_room(step.member) {
                self.thread = Thread::WaitsFor(step.member);
                self.freed = 0;
                return worked_ns;
            }
            self.hold_step(now, step);
            self.rows_sent(1);
            worked_ns += self.sent_ns(true);
        }
        if worked_ns > 0 {
            return worked_ns;
        }
        if !self.released.is_empty() {
            self.take_released(now);
            if self.thread == Thread::WaitsForBitmap {
                return std::mem::take(&mut self.worked_ns);
            }
        }
        self.activate_delayed();
        if self.retry_read(now) {
            return std::mem::take(&mut self.worked_ns);
        }
        for handled in 0..ROWS_AT_A_TIME {
            let Some(slot) = self.next_to_handle() else {
                if handled == 0 {
                    self.unplug(now);
                    self.cache.grow_if_wanted();
                    self.thread = Thread::Sleeps;
                }
                break;
            };
            self.cache.rows[slot].queued = false;
            self.worked_ns += self.costs.row_ns;
            self.handle_row(now, slot);
            self.retries.row_released();
        }
        std::mem::take(&mut self.worked_ns)
    }

    /// What the thread takes to send 4 KiB, with which a request is `begun` or not.
    fn sent_ns(&self, begun: bool) -> Nanos {
        self.driver.rows.map_or(self.driver.command_ns, |costs| costs.sent(begun))
    }

    pub(super) fn handle_row(&mut self, now: Nanos, slot: usize) {
        self.cache.rows[slot].joinable = false;
        for other in self.cache.rows[slot].batch.clone() {
            self.cache.rows[other].joinable = false;
        }
        let row = &self.cache.rows[slot];
        if row.steps > 0 || row.head.is_some() || row.restores == Restores::Held {
            // What is in flight, or who has it, brings it here again.
            return;
        }
        self.begin_to_restore(slot);
        let row = &self.cache.rows[slot];
        if let Some(write) = row.write {
            if !self.writes[write].is_sent {
                return self.send_write(slot, write);
            }
            self.end_write(now, slot, write);
            if self.cache.rows[slot].restores == Restores::Asked {
                // The head of rows that were written as one comes here again (`handle_stripe_clean_event`).
                self.release(slot);
            }
        }
        self.answer_known(now, slot);
        if self.read_to_restore(now, slot) {
            return;
        }
        self.answer_readers(now, slot);
        if !self.is_busy(slot) && !self.cache.rows[slot].waiting.is_empty() {
            self.advance_write(now, slot);
        }
        if !self.is_busy(slot) {
            self.write_restored(now, slot);
        }
        self.cache.release_if_idle(slot);
    }

    /// Whether something of a row is in flight, or about to be.
    fn is_busy(&self, slot: usize) -> bool {
        let row = &self.cache.rows[slot];
        row.steps > 0 || row.write.is_some()
    }

    /// Reads what parity needs, or writes.
    fn advance_write(&mut self, now: Nanos, slot: usize) {
        let number = self.cache.rows[slot].number.expect("it stands for a row");
        let down = self.down(number);
        loop {
            let view = self.cache.rows[slot].view(self.data, self.parities, down);
            match view.before_write() {
                Next::Write => return self.start_write(slot, down),
                Next::Read(_) if self.is_delayed(slot) => return,
                Next::Read(units) => return self.start_reads(slot, units),
                Next::WorkOut => self.work_out(slot, &view),
                Next::Lost => return self.lose(now, slot, false),
            }
        }
    }

    /// What is down is known from what is up.
    pub(super) fn work_out(&mut self, slot: usize, view: &View) {
        self.worked_ns += self.costs.worked_out(view);
        self.cache.rows[slot].known |= view.down;
    }

    /// Answers whose units are known (`ops_run_biofill`), and reads what the others need.
    fn answer_readers(&mut self, now: Nanos, slot: usize) {
        if self.cache.rows[slot].readers.is_empty() {
            return;
        }
        let number = self.cache.rows[slot].number.expect("it stands for a row");
        let down = self.down(number);
        loop {
            self.answer_known(now, slot);
            let wanted = self.cache.rows[slot].wanted();
            let view = self.cache.rows[slot].view(self.data, self.parities, down);
            match view.before_read(wanted) {
                Next::Write => break,
                Next::Read(units) => return self.start_reads(slot, units),
                Next::WorkOut => self.work_out(slot, &view),
                Next::Lost => return self.lose(now, slot, true),
            }
        }
        if self.cache.rows[slot].unreadable != 0 && self.cache.rows[slot].waiting.is_empty() {
            // What could not be read is written again (`R5_ReWrite`).
            self.start_write(slot, down);
        }
    }

    /// Answers whose units are known.
    fn answer_known(&mut self, now: Nanos, slot: usize) {
        let row = &mut self.cache.rows[slot];
        let spent = row.read;
        let (known, readers) = (row.known, std::mem::take(&mut row.readers));
        let (answered, others): (Vec<_>, Vec<_>) =
            readers.into_iter().partition(|&(units, _)| units & !known == 0);
        row.readers = others;
        for (units, caller) in answered {
            self.worked_ns += self.costs.copied(units.count_ones() * PAGE_SECTORS);
            self.callers.part_done(now, caller, spent, None);
        }
    }

    /// Too many members are down for what waits to be written or, with `reads`, to be read.
    fn lose(&mut self, now: Nanos, slot: usize, reads: bool) {
        let row = &mut self.cache.rows[slot];
        let fault = if row.unreadable == 0 { Fault::Failed } else { Fault::Medium };
        let callers: Vec<(usize, u32)> = if reads {
            std::mem::take(&mut row.readers).into_iter().map(|(_, caller)| (caller, 1)).collect()
        } else {
            row.covered.clear();
            if let Some(intents) = &mut self.intents
                && !row.waiting.is_empty()
            {
                intents.end(now, &[row.number.expect("it stands for a row")]);
            }
            std::mem::take(&mut row.waiting)
        };
        if !reads {
            self.ends_reading(slot);
        }
        for caller in callers {
            self.callers.parts_done(now, caller, Spent::NONE, Some(fault));
        }
    }

    pub(super) fn start_reads(&mut self, slot: usize, units: Units) {
        let number = self.cache.rows[slot].number.expect("it stands for a row");
        let mut steps = self.in_sending_order(slot, number, 1, units, None);
        // While no member is down, who reads from a row has tried past the cache before (`retry_aligned_read`).
        let is_alone = !self.is_degraded() && !self.cache.rows[slot].readers.is_empty();
        for step in &mut steps {
            step.is_alone = is_alone;
        }
        let row = &mut self.cache.rows[slot];
        row.steps += steps.len() as u32;
        row.has_begun = true;
        self.steps.extend(steps);
    }

    /// The row, and all that are joined to it, are written: the data that waits, and all parity.
    fn start_write(&mut self, slot: usize, down: Units) {
        self.ends_reading(slot);
        let mut slots = vec![slot];
        slots.extend(&self.cache.rows[slot].batch);
        let data = self.data;
        let parity = ((1 << self.parities) - 1) << data;
        let units =
            self.cache.rows[slot].covered.units() | parity | self.cache.rows[slot].unreadable;
        let mut callers = Vec::new();
        let mut intended = Vec::new();
        for &slot in &slots {
            self.worked_ns += self.row_written_ns(slot, down);
            let row = &mut self.cache.rows[slot];
            if !row.waiting.is_empty() {
                intended.push(row.number.expect("it stands for a row"));
            }
            row.is_intended = false;
            for (caller, parts) in row.waiting.drain(..) {
                add_parts(&mut callers, caller, parts);
            }
            row.covered.clear();
            row.unreadable = 0;
        }
        let is_forced = |&(caller, _): &(usize, u32)| {
            self.callers.request(caller).op == Op::Write { fua: true }
        };
        let fua = callers.iter().any(is_forced);
        let read = std::mem::take(&mut self.cache.rows[slot].read);
        let number = self.cache.rows[slot].number.expect("it stands for a row");
        let write = RowWrite {
            callers,
            rows: slots,
            intended,
            units: units & !self.absent(number),
            fua,
            read,
            ..RowWrite::of_nobody()
        };
        self.insert_write(slot, write, units);
    }

    /// What this row, and all that are written with it, have of these units is known and will be written, but for what is on
    /// members that are down.
    pub(super) fn insert_write(&mut self, slot: usize, record: RowWrite, units: Units) {
        let write = self.writes.insert(record);
        self.settling.resize(self.settling.len().max(write + 1), Settling::default());
        self.settling[write] = Settling::default();
        self.whole_writes += usize::from(self.writes[write].is_whole(self.data));
        // What is known of a row that is written: what was written, and what was known before.
        for at in 0..self.writes[write].rows.len() {
            let row = &mut self.cache.rows[self.writes[write].rows[at]];
            row.write = Some(write);
            row.known |= units;
            let number = row.number.expect("it stands for a row");
            if let Some(&earlier) = self.undurable.get(&number) {
                self.writes[earlier].followers.push(write);
                self.settling[write].undurable += 1;
            }
        }
        self.release(slot);
    }

    /// What the thread takes to copy what is written to a row, and for its parity.
    fn row_written_ns(&self, slot: usize, down: Units) -> Nanos {
        let row = &self.cache.rows[slot];
        self.costs.copied(row.covered.sectors())
            + self.costs.new_parity(&row.view(self.data, self.parities, down))
    }

    /// Sends the writes of rows whose parity is worked out. That is the second time that the thread comes to
    /// them, so what it reads for other rows goes ahead.
    fn send_write(&mut self, slot: usize, write: usize) {
        let record = &mut self.writes[write];
        record.is_sent = true;
        for &row in &record.rows {
            self.cache.rows[row].has_begun = true;
        }
        let (units, rows) = (record.units, record.rows.len() as u32);
        self.written_anew(slot, units);
        let row = &self.cache.rows[slot];
        let number = row.number.expect("it stands for a row");
        let steps = self.in_sending_order(slot, number, rows, units, Some(write));
        let sent = steps.len() as u32 * rows;
        self.cache.rows[slot].steps += sent;
        if steps.is_empty() {
            self.release(slot);
        }
        self.steps.extend(steps);
    }

    /// Steps to `units` of `rows` rows, of which the first is in this slot and has this number: member by member from
    /// the last one on, and for each all rows (`ops_run_io`). Rows that are written as one follow each other in one chunk,
    /// so they do on each member.
    fn in_sending_order(
        &self,
        slot: usize,
        number: u64,
        rows: u32,
        units: Units,
        write: Option<usize>,
    ) -> Vec<RowStep> {
        let fua = write.is_some_and(|write| self.writes[write].fua);
        let step = |unit| {
            let Place { member, sector } = self.place(number, unit);
            RowStep { row: slot, unit, member, sector, rows, write, fua, is_alone: false }
        };
        let units = (0..self.data + self.parities).filter(|unit| units >> unit & 1 == 1);
        let mut steps: Vec<RowStep> = units.map(step).collect();
        steps.sort_unstable_by_key(|step| std::cmp::Reverse(step.member));
        steps
    }
}

/// So many parts more for `caller`, who is then the last.
pub(super) fn add_parts(callers: &mut Vec<(usize, u32)>, caller: usize, parts: u32) {
    match callers.iter().rposition(|&(other, _)| other == caller) {
        Some(place) if place + 1 == callers.len() => callers[place].1 += parts,
        Some(place) => {
            let (_, before) = callers.remove(place);
            callers.push((caller, before + parts));
        }
        None => callers.push((caller, parts)),
    }
}
