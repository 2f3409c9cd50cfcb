//! The thread (raid5d): handles rows, eight at a time, and sends what they need to the members.

use super::row::{Next, Units, View};
use super::{Md, RowStep, RowWrite, Thread};
use crate::linux::queue::PAGE_SECTORS;
use crate::{Device, Fault, Nanos, Spent};
use block::Op;

/// Rows handled between two looks at what else there is (`MAX_STRIPE_BATCH`).
const ROWS_AT_A_TIME: usize = 8;

impl<D: Device> Md<D> {
    /// The processor's next piece of work: the writer's, until it has nothing to do or must sleep, then the
    /// thread's. The writer goes on between two pieces of a pass where rows have come free.
    pub(super) fn run(&mut self, now: Nanos) {
        self.runs_at = None;
        if self.thread_is_idle() {
            self.admit(now);
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
        let writer_goes_on = (!self.arrived.is_empty() && self.bios.is_empty()) || wakes;
        let more = self.thread == Thread::Runs
            || self.thread_is_wanted()
            || (self.thread_is_idle() && writer_goes_on);
        if more {
            self.wake(now);
        }
    }

    /// A piece of a pass; gives the time it takes.
    fn go_on(&mut self, now: Nanos) -> Nanos {
        let mut worked_ns = 0;
        while let Some(&step) = self.steps.front() {
            if self.merge_step(step) {
                self.steps.pop_front();
                worked_ns += self.sent_ns(false);
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
            self.steps.pop_front();
            self.hold_step(now, step);
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
        if row.steps > 0 || row.head.is_some() {
            // What is in flight brings it here again.
            return;
        }
        if let Some(write) = row.write {
            if !self.writes[write].is_sent {
                return self.send_write(slot, write);
            }
            self.end_write(now, slot, write);
        }
        self.answer_readers(now, slot);
        let row = &self.cache.rows[slot];
        if row.steps == 0 && row.write.is_none() && !row.waiting.is_empty() {
            self.advance_write(now, slot);
        }
        self.cache.release_if_idle(slot);
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
    fn work_out(&mut self, slot: usize, view: &View) {
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
        let spent = row.read.map_or(Spent::NONE, |(_, spent)| spent);
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
        let callers: Vec<usize> = if reads {
            std::mem::take(&mut row.readers).into_iter().map(|(_, caller)| caller).collect()
        } else {
            row.covered.fill(0);
            if let Some(intents) = &mut self.intents
                && !row.waiting.is_empty()
            {
                intents.end(now, &[row.number.expect("it stands for a row")]);
            }
            std::mem::take(&mut row.waiting).into_iter().map(|(_, caller)| caller).collect()
        };
        if !reads {
            self.ends_reading(slot);
        }
        for caller in callers {
            self.callers.part_done(now, caller, Spent::NONE, Some(fault));
        }
    }

    fn start_reads(&mut self, slot: usize, units: Units) {
        let number = self.cache.rows[slot].number.expect("it stands for a row");
        let mut steps = self.in_sending_order(&[(slot, number)], units, None, false);
        // While no member is down, who reads from a row has tried past the cache before (`retry_aligned_read`).
        let is_alone = self.health.failures() == 0 && !self.cache.rows[slot].readers.is_empty();
        for step in &mut steps {
            step.is_alone = is_alone;
        }
        let row = &mut self.cache.rows[slot];
        row.in_flight |= units;
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
        let units = self.cache.rows[slot].written() | parity | self.cache.rows[slot].unreadable;
        let write = self.writes.vacant_key();
        let mut callers = Vec::new();
        let mut numbers = Vec::with_capacity(slots.len());
        let mut intended = Vec::new();
        for &slot in &slots {
            self.worked_ns += self.row_written_ns(slot, down);
            let row = &mut self.cache.rows[slot];
            let number = row.number.expect("it stands for a row");
            numbers.push((slot, number));
            if !row.waiting.is_empty() {
                intended.push(number);
            }
            row.is_intended = false;
            for (_, caller) in row.waiting.drain(..) {
                add_part(&mut callers, caller);
            }
            row.covered.fill(0);
            row.unreadable = 0;
            row.in_flight |= units & !down;
            row.write = Some(write);
        }
        let is_forced = |&(caller, _): &(usize, u32)| {
            self.callers.request(caller).op == Op::Write { fua: true }
        };
        let fua = callers.iter().any(is_forced);
        let read = self.cache.rows[slot].read.take();
        let inserted = self.writes.insert(RowWrite {
            callers,
            rows: slots,
            intended,
            units: units & !down,
            is_sent: false,
            fua,
            steps: 0,
            undurable: 0,
            lost: 0,
            numbers: Vec::new(),
            followers: Vec::new(),
            is_done: false,
            fault: None,
            read,
        });
        self.whole_writes += usize::from(self.writes[inserted].is_whole(self.data));
        // What is known of a row that is written: what was written, and what was known before.
        for (slot, number) in numbers {
            self.cache.rows[slot].known |= units;
            if let Some(&earlier) = self.undurable.get(&number) {
                self.writes[earlier].followers.push(write);
                self.writes[write].undurable += 1;
            }
        }
        self.release(slot);
    }

    /// What the thread takes to copy what is written to a row, and for its parity.
    fn row_written_ns(&self, slot: usize, down: Units) -> Nanos {
        let row = &self.cache.rows[slot];
        let sectors = row.covered.iter().map(|covered| covered.count_ones()).sum();
        self.costs.copied(sectors)
            + self.costs.new_parity(&row.view(self.data, self.parities, down))
    }

    /// Sends the writes of rows whose parity is worked out. That is the second time that the thread comes to
    /// them, so what it reads for other rows goes ahead.
    fn send_write(&mut self, slot: usize, write: usize) {
        let record = &mut self.writes[write];
        record.is_sent = true;
        let (units, fua, rows) = (record.units, record.fua, record.rows.clone());
        let number = |slot: usize| self.cache.rows[slot].number.expect("it stands for a row");
        let numbers: Vec<(usize, u64)> =
            rows.into_iter().map(|slot| (slot, number(slot))).collect();
        for &(row, _) in &numbers {
            self.cache.rows[row].has_begun = true;
        }
        let steps = self.in_sending_order(&numbers, units, Some(write), fua);
        self.writes[write].steps = steps.len() as u32;
        self.cache.rows[slot].steps += steps.len() as u32;
        if steps.is_empty() {
            self.release(slot);
        }
        self.steps.extend(steps);
    }

    /// Steps to `units` of each row: member by member from the last one on, and for each all rows
    /// (`ops_run_io`).
    fn in_sending_order(
        &self,
        rows: &[(usize, u64)],
        units: Units,
        write: Option<usize>,
        fua: bool,
    ) -> Vec<RowStep> {
        let page = u64::from(PAGE_SECTORS);
        let first = rows[0].1;
        let units = (0..self.data + self.parities).filter(|unit| units >> unit & 1 == 1);
        let mut places: Vec<_> = units.map(|unit| (self.place(first, unit), unit)).collect();
        places.sort_unstable_by_key(|(place, _)| std::cmp::Reverse(place.member));
        let mut steps = Vec::with_capacity(places.len() * rows.len());
        for (place, unit) in places {
            // Rows that are written as one are of one chunk, so each lies on its member as it does in the chunk.
            steps.extend(rows.iter().map(|&(row, number)| RowStep {
                row,
                unit,
                member: place.member,
                sector: place.sector + (number - first) * page,
                write,
                fua,
                is_alone: false,
            }));
        }
        steps
    }
}

/// One part more for `caller`, who is then the last.
fn add_part(callers: &mut Vec<(usize, u32)>, caller: usize) {
    let parts = match callers.iter().rposition(|&(other, _)| other == caller) {
        Some(place) => callers.remove(place).1,
        None => 0,
    };
    callers.push((caller, parts + 1));
}
