//! What goes to the members and what comes back from them.

use super::cache::{Cache, Row};
use super::delayed::Delayed;
use super::restoring::Restores;
use super::retries::Retries;
use super::workers::Workers;
use super::{Carries, Md, RowStep, Settling, Thread};
use crate::linux::queue::{Memory, PAGE_SECTORS, Plug, QueueSpec, Slot};
use crate::{Device, Event, Fault, Nanos, Spent};
use block::{Op, Request};

impl<D: Device> Md<D> {
    /// The same array with a queue of its own for each member.
    ///
    /// # Panics
    ///
    /// Where there are not as many.
    #[must_use]
    pub fn queued(self, specs: &[QueueSpec]) -> Self {
        Md { members: self.members.queued(specs), ..self }
    }

    fn as_bio(step: RowStep) -> Request {
        let op = if step.write.is_some() { Op::Write { fua: step.fua } } else { Op::Read };
        let sectors = step.rows * PAGE_SECTORS;
        Request { target: step.member, op, sector: step.sector, sectors }
    }

    /// Adds the first rows of a step to a request that is there already: the thread's last for the member, or one that
    /// waits in the member's queue. Each row is a bio of its own; those that all go on behind the same request are added at
    /// once. Gives how many they are.
    pub(super) fn merge_step(&mut self, step: RowStep) -> u32 {
        let page = Self::as_bio(step.first(1));
        let room = self.members.room_behind(&self.plug, page, Memory::Pages);
        let rows = (room / u64::from(PAGE_SECTORS)).clamp(1, u64::from(step.rows));
        let first = step.first(rows as u32);
        let merged = self.members.merge(&self.plug, Self::as_bio(first), Carries::Row(first));
        if merged { first.rows } else { 0 }
    }

    /// Makes a request of the first row of a step and holds it in the thread's plug.
    pub(super) fn hold_step(&mut self, now: Nanos, step: RowStep) {
        let first = step.first(1);
        self.members.hold(now, &mut self.plug, Self::as_bio(first), Carries::Row(first));
    }

    /// So many rows of the thread's next step are sent.
    pub(super) fn rows_sent(&mut self, rows: u32) {
        let step = self.steps.pop_front().expect("rows of a step were sent");
        if let Some(rest) = step.without_first(rows) {
            self.steps.push_front(rest);
        }
    }

    /// The thread sends on what it has held back.
    pub(super) fn unplug(&mut self, now: Nanos) {
        self.members.unplug(now, &mut self.plug);
    }

    /// Takes what the members have done by `now`.
    pub(super) fn take_events(&mut self, now: Nanos) {
        let mut events = self.members.take_events(now);
        for event in events.drain(..) {
            match event {
                Event::Done { tag, at, result, spent } => {
                    self.member_done(at, tag as Slot, result.err(), spent);
                }
                Event::Durable { tag, at } => self.member_settled(at, tag as Slot, false),
                Event::Lost { tag, at } => self.member_settled(at, tag as Slot, true),
            }
        }
        self.members.give_back(events);
    }

    fn member_done(&mut self, at: Nanos, slot: Slot, fault: Option<Fault>, spent: Spent) {
        let request = self.members.done(at, slot);
        self.wake_sleepers(at);
        if self.thread == Thread::WaitsFor(request.target) && request.op != Op::Flush {
            self.freed += 1;
            if self.freed >= self.members.wake_batch(request.target) {
                self.thread = Thread::Runs;
            }
        }
        if fault == Some(Fault::Failed) {
            self.member_fails(at, request.target);
        }
        let writes = matches!(request.op, Op::Write { .. }) && fault.is_none();
        let carried = self.members.carried(slot, !writes);
        for &carries in &carried {
            match carries {
                Carries::Row(step) => self.step_done(step, fault, spent, writes),
                Carries::Direct(caller, part) => self.direct_done(at, caller, part, fault, spent),
                Carries::Bitmap => self.bitmap_done(at, request),
                Carries::Mark => self.mark_done(at, request),
            }
        }
        self.members.carries_again(slot, !writes, carried);
        self.wake(at);
    }

    fn direct_done(
        &mut self,
        at: Nanos,
        caller: usize,
        request: Request,
        fault: Option<Fault>,
        spent: Spent,
    ) {
        if matches!(fault, Some(Fault::Failed | Fault::Medium)) && request.op == Op::Read {
            // Read again, through the rows (`retry_aligned_read`).
            let place = block::Place { member: request.target, sector: request.sector };
            let (sector, _) = self.layout.holds(place);
            let start = sector.expect("data was read");
            let end = start + u64::from(request.sectors);
            self.retries.push(super::Bio::new(caller, start, end, true));
            return;
        }
        // A flush of a member that is down is done.
        let fault = fault.filter(|&fault| fault != Fault::Failed || request.op == Op::Read);
        self.callers.part_done(at, caller, spent, fault);
    }

    fn step_done(&mut self, step: RowStep, fault: Option<Fault>, spent: Spent, undurable: bool) {
        let row = &mut self.cache.rows[step.row];
        match step.write {
            Some(write) => {
                self.settling[write].undurable += if undurable { step.rows } else { 0 };
                let write = &mut self.writes[write];
                if fault.is_some_and(|fault| fault != Fault::Failed) {
                    write.fault = write.fault.or(fault);
                }
            }
            None => match fault {
                None => row.known |= 1 << step.unit,
                Some(Fault::Medium) => row.unreadable |= 1 << step.unit,
                Some(_) => {}
            },
        }
        row.read = spent;
        row.steps -= step.rows;
        if row.steps == 0 {
            self.release(step.row);
        }
    }

    /// A row's write is done: whoever waits for a part of it hears so.
    pub(super) fn end_write(&mut self, now: Nanos, slot: usize, write: usize) {
        let last = std::mem::take(&mut self.cache.rows[slot].read);
        self.settling[write].is_done = true;
        let record = &mut self.writes[write];
        if !record.callers.is_empty() {
            self.marks.write_done(now);
        }
        self.whole_writes -= usize::from(record.is_whole(self.data));
        let mut spent = record.read;
        spent += last;
        let (callers, fault) = (record.callers.clone(), record.fault);
        let rows = std::mem::take(&mut record.rows);
        let undurable = self.settling[write].undurable > 0;
        let is_late = record.fua && undurable;
        if let Some(intents) = &mut self.intents {
            intents.end(now, &std::mem::take(&mut record.intended));
        }
        for &row in &rows {
            self.cache.rows[row].write = None;
            self.cache.rows[row].head = None;
        }
        self.cache.rows[slot].batch.clear();
        for &caller in &callers {
            if undurable {
                self.callers.not_durable_yet(caller);
            }
            if !is_late {
                self.callers.parts_done(now, caller, spent, fault);
            }
        }
        if undurable {
            let number = |&row: &usize| self.cache.rows[row].number.expect("it stands for a row");
            let numbers: Vec<u64> = rows.iter().map(number).collect();
            self.undurable.extend(numbers.iter().map(|&number| (number, write)));
            self.writes[write].numbers = numbers;
        } else {
            self.writes.remove(write);
        }
        for row in rows.into_iter().filter(|&row| row != slot) {
            let Row { waiting, readers, restores, .. } = &self.cache.rows[row];
            if waiting.is_empty() && readers.is_empty() && *restores == Restores::Not {
                self.cache.release_if_idle(row);
            } else {
                self.release(row);
            }
        }
    }

    /// What a member was given is durable, or lost with it.
    fn member_settled(&mut self, at: Nanos, slot: Slot, lost: bool) {
        let member = self.members.target(slot);
        if lost {
            self.member_fails(at, member);
        }
        let carried = self.members.carried(slot, true);
        for parts in carried.chunk_by(|one, next| one.write() == next.write()) {
            let Some(write) = parts[0].write() else { continue };
            self.settling[write].lost |= u64::from(lost) << member;
            self.parts_settled(at, write, parts.iter().map(Carries::rows).sum());
        }
        self.members.carries_again(slot, true, carried);
    }

    /// So many parts of a row's write are durable or lost, or an earlier write of the row is; its callers hear of the last.
    fn parts_settled(&mut self, at: Nanos, write: usize, parts: u32) {
        let settling = &mut self.settling[write];
        settling.undurable -= parts;
        let Settling { undurable, is_done, lost } = *settling;
        if undurable > 0 || !is_done {
            return;
        }
        let record = self.writes.remove(write);
        for number in &record.numbers {
            if self.undurable.get(number) == Some(&write) {
                self.undurable.remove(number);
            }
        }
        // As many members may be lost as there is parity.
        let lost = lost.count_ones() > self.parities;
        for &caller in &record.callers {
            if record.is_late() {
                self.callers.parts_done(at, caller, Spent::NONE, record.fault);
            }
            self.callers.settled(at, caller, lost);
        }
        for follower in record.followers {
            self.parts_settled(at, follower, 1);
        }
    }

    /// A reset, a power cut, or the end of what runs the array: what is in flight comes back with its fault, and
    /// the cache is empty. After a power cut nothing more is heard of what was done and not durable.
    pub(super) fn abort(&mut self, now: Nanos, fault: Fault) {
        let cut = fault == Fault::PowerCut;
        let rows = self.cache.rows.len();
        self.cache = Cache::new(rows);
        self.delayed = self.delayed.take().map(|_| Delayed::default());
        if let Some(intents) = &mut self.intents {
            intents.abort();
            self.callers.have_bitmap(now);
        }
        self.marks.forget(0);
        self.callers.mark.is_over(now);
        self.arrived.clear();
        self.released.clear();
        self.handle.clear();
        self.bios.clear();
        self.workers = Workers::default();
        self.retries = Retries::default();
        self.forget_readers();
        self.plugged.clear();
        self.let_writer_go(now);
        self.steps.clear();
        self.plug = Plug::default();
        self.thread = Thread::Sleeps;
        self.runs_at = None;
        // Nobody waits any more for writes that are not done.
        self.whole_writes = 0;
        let (callers, settling) = (&self.callers, &self.settling);
        self.writes.retain(|slot, write| {
            write.callers.retain(|&(caller, _)| callers.is_done(caller));
            settling[slot].is_done && !cut
        });
        let there: Vec<usize> = self.writes.iter().map(|(write, _)| write).collect();
        for (_, write) in &mut self.writes {
            write.followers.retain(|follower| there.contains(follower));
        }
        let writes = &self.writes;
        self.undurable.retain(|_, write| writes.contains(*write));
        self.members.abort(cut, |carries| match carries {
            Carries::Row(step) => step.write.is_some_and(|write| writes.contains(write)),
            Carries::Direct(..) | Carries::Bitmap | Carries::Mark => false,
        });
        self.callers.abort(now, fault);
        self.restore_again(now);
    }
}
