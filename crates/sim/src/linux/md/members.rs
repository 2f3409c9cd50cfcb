//! What goes to the members and what comes back from them.

use super::cache::Cache;
use super::{Carried, Md, RowStep, Thread};
use crate::linux::queue::{PAGE_SECTORS, Queue, Queued, Slot, Stage};
use crate::{Device, Event, Fault, Nanos, Part, Spent};
use block::{Op, Request};

impl<D: Device> Md<D> {
    /// Makes a request for a member, which holds a place in its queue from now on.
    pub(super) fn make_request(&mut self, now: Nanos, request: Request, carried: Carried) -> Slot {
        let slot = self.requests.insert(Queued { request, made_at: now, stage: Stage::Waits });
        let same = self.carried.insert(carried);
        assert_eq!(slot, same, "requests and what they carry stand side by side");
        if request.op != Op::Flush {
            self.queues[request.target as usize].make();
        }
        slot
    }

    fn as_request(step: RowStep) -> Request {
        let op = if step.write.is_some() { Op::Write { fua: step.fua } } else { Op::Read };
        Request { target: step.member, op, sector: step.sector, sectors: PAGE_SECTORS }
    }

    /// Adds a step to a request that is there already: the thread's last for the member, or one that waits
    /// in the member's queue.
    pub(super) fn merge_into_plug(&mut self, step: RowStep) -> bool {
        let bio = Self::as_request(step);
        let queue = &mut self.queues[step.member as usize];
        if let Some(slot) = self.plug.last_for(step.member) {
            let last = &mut self.requests[slot].request;
            if last.op == bio.op && queue.may_grow_to(last.sectors + bio.sectors) {
                let behind = last.end() == bio.sector;
                if behind || bio.end() == last.sector {
                    last.sector = last.sector.min(bio.sector);
                    last.sectors += bio.sectors;
                    self.carried[slot].rows.push(step);
                    return true;
                }
            }
        }
        match queue.merge(bio, &mut self.requests) {
            Some(slot) => {
                self.carried[slot].rows.push(step);
                true
            }
            None => false,
        }
    }

    /// Makes a request of a step and holds it in the thread's plug.
    pub(super) fn plug_step(&mut self, now: Nanos, step: RowStep) {
        let slot = self.make_request(
            now,
            Self::as_request(step),
            Carried { rows: vec![step], direct: Vec::new() },
        );
        self.plug.push(step.member, slot);
    }

    /// The thread sends on what it has held back.
    pub(super) fn unplug(&mut self, now: Nanos) {
        let mut members = Vec::new();
        for (member, slot) in self.plug.take() {
            let request = self.requests[slot].request;
            match self.queues[member as usize].merge(request, &mut self.requests) {
                Some(into) => {
                    self.requests.remove(slot);
                    let carried = self.carried.remove(slot);
                    self.carried[into].rows.extend(carried.rows);
                    self.queues[member as usize].unmake();
                }
                None => self.queues[member as usize].insert(slot, request),
            }
            if !members.contains(&member) {
                members.push(member);
            }
        }
        members.sort_unstable();
        for member in members {
            self.dispatch(now, member);
        }
    }

    /// Sends a read or a flush for a caller past the cache. It waits for no place in the member's queue, and
    /// a flush not behind others either.
    pub(super) fn send_directly(&mut self, now: Nanos, caller: usize, request: Request) {
        self.callers[caller].parts += 1;
        let member = request.target;
        if request.op != Op::Flush
            && let Some(into) = self.queues[member as usize].merge(request, &mut self.requests)
        {
            return self.carried[into].direct.push((caller, request));
        }
        let carried = Carried { rows: Vec::new(), direct: vec![(caller, request)] };
        let slot = self.make_request(now, request, carried);
        if request.op == Op::Flush {
            self.requests[slot].stage = Stage::InFlight;
            return self.below.submit(now, slot as u64, request);
        }
        self.queues[member as usize].insert(slot, request);
        self.dispatch(now, member);
    }

    fn dispatch(&mut self, now: Nanos, member: u32) {
        while let Some(slot) = self.queues[member as usize].dispatch(now, &self.requests) {
            self.requests[slot].stage = Stage::InFlight;
            self.below.submit(now, slot as u64, self.requests[slot].request);
        }
    }

    /// Takes what the members have done by `now`.
    pub(super) fn take_events(&mut self, now: Nanos) {
        let mut events = std::mem::take(&mut self.events);
        self.below.advance(now, &mut events);
        for event in events.drain(..) {
            match event {
                Event::Done { tag, at, result, spent } => {
                    self.member_done(at, tag as Slot, result.err(), spent);
                }
                Event::Durable { tag, at } => self.member_settled(at, tag as Slot, false),
                Event::Lost { tag, at } => self.member_settled(at, tag as Slot, true),
            }
        }
        self.events = events;
    }

    fn member_done(&mut self, at: Nanos, slot: Slot, fault: Option<Fault>, spent: Spent) {
        self.is_fresh = false;
        let Queued { request, .. } = self.requests[slot];
        self.requests[slot].stage = Stage::Done;
        let member = request.target;
        if request.op != Op::Flush {
            self.queues[member as usize].done();
            self.dispatch(at, member);
        }
        if self.thread == Thread::WaitsFor(member) {
            self.thread = Thread::Runs;
        }
        if fault == Some(Fault::Failed) {
            self.health.fail(member);
        }
        let writes = matches!(request.op, Op::Write { .. }) && fault.is_none();
        let carried = std::mem::take(&mut self.carried[slot]);
        for &step in &carried.rows {
            self.step_done(at, step, fault, spent, writes);
        }
        for &(caller, part) in &carried.direct {
            self.direct_done(at, caller, part, fault, spent);
        }
        self.carried[slot] = carried;
        if !writes {
            self.requests.remove(slot);
            self.carried.remove(slot);
        }
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
            self.bios.push_back(super::Bio { caller, start, next: start, end, last: true });
            return;
        }
        // A flush of a member that is down is done.
        let fault = fault.filter(|&fault| fault != Fault::Failed || request.op == Op::Read);
        self.part_done(at, caller, spent, fault);
    }

    fn step_done(
        &mut self,
        at: Nanos,
        step: RowStep,
        fault: Option<Fault>,
        spent: Spent,
        undurable: bool,
    ) {
        let row = &mut self.cache.rows[step.row];
        row.in_flight &= !(1 << step.unit);
        let head = row.head.unwrap_or(step.row);
        match step.write {
            Some(write) => {
                let write = &mut self.writes[write];
                write.steps -= 1;
                write.undurable += u32::from(undurable);
                if fault.is_some_and(|fault| fault != Fault::Failed) {
                    write.fault = write.fault.or(fault);
                }
                row.read = Some((at, spent));
            }
            None => {
                match fault {
                    None => row.known |= 1 << step.unit,
                    Some(Fault::Medium) => row.unreadable |= 1 << step.unit,
                    Some(_) => {}
                }
                row.read = Some((at, spent));
            }
        }
        let head_row = &mut self.cache.rows[head];
        head_row.steps -= 1;
        if head_row.steps == 0 {
            head_row.read = Some((at, spent));
            self.release(head);
        }
    }

    /// A row's write is done: whoever waits for a part of it hears so.
    pub(super) fn end_write(&mut self, now: Nanos, slot: usize, write: usize) {
        let last = self.cache.rows[slot].read.take().map_or(Spent::NONE, |(_, spent)| spent);
        let record = &mut self.writes[write];
        record.is_done = true;
        let mut spent = record.read.map_or(Spent::NONE, |(_, spent)| spent);
        spent += last;
        let (callers, rows, fault) = (record.callers.clone(), record.rows.clone(), record.fault);
        let undurable = record.undurable > 0;
        for &row in &rows {
            self.cache.rows[row].write = None;
            self.cache.rows[row].head = None;
        }
        self.cache.rows[slot].batch.clear();
        for &caller in &callers {
            self.callers[caller].undurable += u32::from(undurable);
            self.part_done(now, caller, spent, fault);
        }
        if !undurable {
            self.writes.remove(write);
        }
        for row in rows.into_iter().filter(|&row| row != slot) {
            if self.cache.rows[row].waiting.is_empty() && self.cache.rows[row].readers.is_empty() {
                self.cache.release_if_idle(row);
            } else {
                self.release(row);
            }
        }
    }

    /// What a member was given is durable, or lost with it.
    fn member_settled(&mut self, at: Nanos, slot: Slot, lost: bool) {
        let member = self.requests.remove(slot).request.target;
        if lost {
            self.health.fail(member);
        }
        for step in self.carried.remove(slot).rows {
            let Some(write) = step.write else { continue };
            let record = &mut self.writes[write];
            record.undurable -= 1;
            record.lost |= u64::from(lost) << member;
            if record.undurable > 0 || !record.is_done {
                continue;
            }
            let record = self.writes.remove(write);
            // As many members may be lost as there is parity.
            let lost = record.lost.count_ones() > self.parities;
            for caller in record.callers {
                self.callers[caller].undurable -= 1;
                self.callers[caller].lost |= lost;
                self.let_go_of(at, caller);
            }
        }
    }

    /// A reset, a power cut, or the end of what runs the array: what is in flight comes back with its fault, and the cache is empty. After a
    /// power cut nothing more is heard of what was done and not durable.
    pub(super) fn abort(&mut self, now: Nanos, fault: Fault) {
        let cut = fault == Fault::PowerCut;
        let rows = self.cache.rows.len();
        self.cache = Cache::new(rows, self.data);
        for line in [&mut self.arrived, &mut self.released, &mut self.handle] {
            line.clear();
        }
        self.bios.clear();
        self.steps.clear();
        self.plug.take();
        self.queues.iter_mut().for_each(Queue::abort);
        self.thread = Thread::Sleeps;
        self.runs_at = None;
        self.abort_requests(cut);
        let mut ended = Vec::new();
        self.callers.retain(|_, caller| {
            if !caller.is_done {
                ended.push((caller.tag, caller.arrived));
            }
            caller.is_done && !cut
        });
        for (tag, arrived) in ended {
            let mut spent = Spent::NONE;
            spent.add(Part::QUEUE, now - arrived);
            self.outbox.push(Event::Done { tag, at: now, result: Err(fault), spent });
        }
    }

    /// Forgets the requests that no member has, and what nobody waits for any more of the others.
    fn abort_requests(&mut self, cut: bool) {
        let callers = &self.callers;
        self.writes.retain(|_, write| {
            write.callers.retain(|&caller| callers[caller].is_done);
            write.is_done && !cut
        });
        let (carried, writes) = (&mut self.carried, &self.writes);
        self.requests.retain(|slot, request| {
            let keeps = match request.stage {
                Stage::Waits => false,
                Stage::InFlight => {
                    carried[slot] = Carried::default();
                    true
                }
                Stage::Done => !cut,
            };
            if keeps {
                let rows = &mut carried[slot].rows;
                rows.retain(|step| step.write.is_some_and(|write| writes.contains(write)));
            } else {
                carried.remove(slot);
            }
            keeps
        });
    }
}
