//! Requests to the drives: made of bios, merged with neighbours, held back in plugs, dispatched, and what each
//! carries.

use super::queue::{Memory, Plug, Queue, QueueSpec, Queued, Side, Slot, Stage};
use super::sleepers::Sleepers;
use crate::{Advance, Counters, Device, Event, Nanos, Tag};
use block::{Op, Request};
use slab::Slab;

/// What a request carries for a bio.
pub(super) trait Carry: Copy {
    /// How the bio's data lies in memory.
    fn memory(&self) -> Memory;

    /// Whether it is merged with nothing (`REQ_NOMERGE`).
    fn is_alone(&self) -> bool {
        false
    }
}

/// The queues in front of the targets of `D`; each request carries a `C` for each bio that is merged in it.
pub(super) struct Requests<D, C> {
    pub(super) below: D,
    queues: Vec<Queue>,
    all: Slab<Queued>,
    /// What requests carry, in the same slots. Nobody waits for one that carries nothing.
    carried: Slab<Vec<C>>,
    /// What requests carried that are over, to be filled again.
    spare: Vec<Vec<C>>,
    /// Bios whose senders sleep until the target has room for a request.
    sleeping: Vec<Sleepers<(Request, C)>>,
    /// How many they are.
    asleep: usize,
    flushes: Vec<Flushes<C>>,
    events: Vec<Event>,
    /// What a plug held that is sent on, and for which targets; empty in between.
    sent: Vec<(u32, Slot)>,
    targets: Vec<u32>,
}

/// The flushes of a drive, of which one is under way at a time; those that come meanwhile share the next
/// (`blk_kick_flush`).
struct Flushes<C> {
    is_under_way: bool,
    /// What the next is for.
    waiting: Vec<C>,
}

impl<D: Device, C: Carry> Requests<D, C> {
    /// Queues as `spec` says in front of the targets of `below`.
    pub(super) fn new(below: D, spec: QueueSpec) -> Self {
        let targets = below.geometry().target_sectors.len();
        Requests {
            below,
            queues: vec![Queue::new(spec); targets],
            all: Slab::new(),
            carried: Slab::new(),
            spare: Vec::new(),
            sleeping: (0..targets).map(|_| Sleepers::default()).collect(),
            asleep: 0,
            flushes: (0..targets)
                .map(|_| Flushes { is_under_way: false, waiting: Vec::new() })
                .collect(),
            events: Vec::new(),
            sent: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// The same with a queue of its own for each target.
    ///
    /// # Panics
    ///
    /// Where there are not as many.
    pub(super) fn queued(mut self, specs: &[QueueSpec]) -> Self {
        assert_eq!(specs.len(), self.queues.len(), "one queue a target");
        self.queues = specs.iter().map(|&spec| Queue::new(spec)).collect();
        self
    }

    /// The most sectors that a request for `target` may have.
    pub(super) fn max_sectors(&self, target: u32) -> u32 {
        self.queues[target as usize].max_sectors(Memory::Whole)
    }

    /// Whether requests wait for a scheduler, where neighbours of one instant meet.
    pub(super) fn are_scheduled(&self) -> bool {
        self.queues.iter().any(Queue::has_scheduler)
    }

    /// Whether a flush has anything to do.
    pub(super) fn need_flushes(&self) -> bool {
        self.queues.iter().any(Queue::is_write_back)
    }

    /// Whether one more request for `target` may be made.
    pub(super) fn has_room(&self, target: u32) -> bool {
        self.queues[target as usize].has_room()
    }

    /// How many requests must be done before who sleeps for a place is woken.
    pub(super) fn wake_batch(&self, target: u32) -> usize {
        self.queues[target as usize].wake_batch()
    }

    /// Whether `plug` has to be sent on before it takes another request.
    pub(super) fn is_full(&self, plug: &Plug) -> bool {
        plug.is_full(&self.all)
    }

    /// How many sectors from `page` on, brought here page by page, all go on behind one request: behind the last in the
    /// sender's `plug` for the target, or behind one that waits in the target's queue. 0 says nothing of the first page.
    pub(super) fn room_behind(&self, plug: &Plug, page: Request, memory: Memory) -> u64 {
        let queue = &self.queues[page.target as usize];
        let Some(slot) = plug.last_for(page.target) else {
            return queue.room_behind(page, memory, &self.all);
        };
        let last = &self.all[slot];
        if last.request.end() == page.sector {
            let max_sectors = queue.max_sectors(memory);
            let fits = last.has_room_for(&page, max_sectors);
            return if fits { u64::from(max_sectors - last.request.sectors) } else { 0 };
        }
        let room = queue.room_behind(page, memory, &self.all);
        if last.request.sector < page.sector {
            return room;
        }
        // The page that ends where that one begins goes in front of it.
        room.min(last.request.sector.saturating_sub(page.end()))
    }

    /// Adds a bio to a request that is there already: the last in the sender's `plug` for the target, or one that
    /// waits in the target's queue and may then go on in front of or behind another there.
    pub(super) fn merge(&mut self, plug: &Plug, bio: Request, carries: C) -> bool {
        if !is_mergeable(bio.op) || carries.is_alone() {
            return false;
        }
        let memory = carries.memory();
        let queue = &mut self.queues[bio.target as usize];
        let in_plug = plug.last_for(bio.target).filter(|&slot| {
            let last = &mut self.all[slot];
            let touches = last.request.end() == bio.sector || bio.end() == last.request.sector;
            let fits = touches && last.has_room_for(&bio, queue.max_sectors(memory));
            if fits {
                last.request.sector = last.request.sector.min(bio.sector);
                last.request.sectors += bio.sectors;
            }
            fits
        });
        if let Some(slot) = in_plug {
            self.carried[slot].push(carries);
            return true;
        }
        let Some((slot, side)) = queue.merge(bio, memory, &mut self.all) else { return false };
        self.carried[slot].push(carries);
        if let Some((stays, goes)) = queue.join(slot, side, memory, &mut self.all) {
            self.take_in(stays, goes);
        }
        true
    }

    /// Makes a request of a bio and holds it in the sender's `plug`. There must be room for it.
    pub(super) fn hold(&mut self, now: Nanos, plug: &mut Plug, bio: Request, carries: C) {
        let slot = self.make(now, bio, carries);
        plug.push(bio.target, slot);
    }

    /// Merges a bio, or makes a request of it and holds it in the sender's `plug`; where there is no room, the sender
    /// sends its plug on and sleeps. Gives whether the bio is sent.
    pub(super) fn send(&mut self, now: Nanos, plug: &mut Plug, bio: Request, carries: C) -> bool {
        if self.try_send(now, plug, bio, carries) {
            return true;
        }
        self.sleep(bio, carries);
        // Requests that merge as they leave the plug make room, perhaps for this sender (`io_schedule`, `blk_flush_plug`).
        self.unplug(now, plug);
        false
    }

    /// The same, but where there is no room nobody sleeps and nothing is sent (`REQ_NOWAIT`). Gives whether it is sent.
    pub(super) fn try_send(
        &mut self,
        now: Nanos,
        plug: &mut Plug,
        bio: Request,
        carries: C,
    ) -> bool {
        if self.merge(plug, bio, carries) {
            return true;
        }
        if self.is_full(plug) {
            self.unplug(now, plug);
        }
        let has_room = self.has_room(bio.target);
        if has_room {
            self.hold(now, plug, bio, carries);
        }
        has_room
    }

    /// Sends a flush past the queue, or has it wait for the one that is under way.
    pub(super) fn flush(&mut self, now: Nanos, target: u32, carries: C) {
        let flushes = &mut self.flushes[target as usize];
        flushes.waiting.push(carries);
        if !flushes.is_under_way {
            self.send_next_flush(now, target);
        }
    }

    /// Sends one flush for all that wait.
    fn send_next_flush(&mut self, now: Nanos, target: u32) {
        let flushes = &mut self.flushes[target as usize];
        let waiting = std::mem::take(&mut flushes.waiting);
        let Some((&first, others)) = waiting.split_first() else { return };
        flushes.is_under_way = true;
        let flush = Request::flush().to(target);
        let slot = self.send_at_stage(now, flush, Stage::Flushes, first);
        self.carried[slot].extend(others);
    }

    /// Sends what is tried again past the queue: it waits behind nothing there.
    pub(super) fn send_past(&mut self, now: Nanos, request: Request, carries: C) {
        self.send_at_stage(now, request, Stage::Past, carries);
    }

    fn send_at_stage(&mut self, now: Nanos, request: Request, stage: Stage, carries: C) -> Slot {
        let queued = Queued { request, made_at: now, stage, is_alone: carries.is_alone() };
        let slot = self.insert(queued, carries);
        self.below.submit(now, slot as Tag, request);
        slot
    }

    fn insert(&mut self, queued: Queued, carries: C) -> Slot {
        let slot = self.all.insert(queued);
        let mut bios = self.spare.pop().unwrap_or_default();
        bios.push(carries);
        let same = self.carried.insert(bios);
        assert_eq!(slot, same, "requests and what they carry stand side by side");
        slot
    }

    fn make(&mut self, now: Nanos, request: Request, carries: C) -> Slot {
        self.queues[request.target as usize].make();
        let is_alone = carries.is_alone();
        self.insert(Queued { request, made_at: now, stage: Stage::Waits, is_alone }, carries)
    }

    /// A sender sends on what it has held back.
    pub(super) fn unplug(&mut self, now: Nanos, plug: &mut Plug) {
        if plug.is_empty() {
            return;
        }
        let mut sent = std::mem::take(&mut self.sent);
        let mut targets = std::mem::take(&mut self.targets);
        plug.empty_into(&mut sent);
        for (target, slot) in sent.drain(..) {
            self.enqueue(target, slot);
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        targets.sort_unstable();
        for target in targets.drain(..) {
            self.dispatch(now, target);
        }
        (self.sent, self.targets) = (sent, targets);
    }

    /// Whether a bio for `target` that nothing holds back goes to the drive at once, and meets no other request on its way.
    pub(super) fn pass_at_once(&self, target: u32) -> bool {
        let queue = &self.queues[target as usize];
        !queue.has_scheduler() && queue.has_room()
    }

    /// Makes a request of such a bio and sends it.
    pub(super) fn pass(&mut self, now: Nanos, bio: Request, carries: C) {
        self.queues[bio.target as usize].pass();
        let is_alone = carries.is_alone();
        let queued = Queued { request: bio, made_at: now, stage: Stage::InFlight, is_alone };
        let slot = self.insert(queued, carries);
        self.below.submit(now, slot as Tag, bio);
    }

    /// A request joins its target's queue, or one that waits there.
    fn enqueue(&mut self, target: u32, slot: Slot) {
        let request = self.all[slot].request;
        let memory = self.carried[slot][0].memory();
        let queue = &mut self.queues[target as usize];
        let first_tried = queue.last_merged();
        let may_merge = is_mergeable(request.op) && !self.all[slot].is_alone;
        let mergeable = Some(&mut *queue).filter(|_| may_merge);
        let into = mergeable.and_then(|queue| queue.merge_behind(request, memory, &mut self.all));
        let Some(mut into) = into else { return queue.insert(slot, &self.all[slot]) };
        self.take_in(into, slot);
        if first_tried == Some(into) {
            return;
        }
        // Now that may go on behind another (`elv_attempt_insert_merge`).
        while let queue = &mut self.queues[target as usize]
            && let Some((stays, goes)) = queue.join(into, Side::InFront, memory, &mut self.all)
        {
            self.take_in(stays, goes);
            into = stays;
        }
    }

    /// Of two requests that have become one, the one that goes is forgotten; what it carries, the other does.
    fn take_in(&mut self, stays: Slot, goes: Slot) {
        let gone = self.all.remove(goes);
        let target = gone.request.target as usize;
        self.queues[target].unmake();
        self.sleeping[target].freed();
        let mut carried = self.carried.remove(goes);
        self.carried[stays].append(&mut carried);
        self.spare.push(carried);
    }

    fn dispatch(&mut self, now: Nanos, target: u32) {
        while let Some(slot) = self.queues[target as usize].dispatch(now, &self.all) {
            self.all[slot].stage = Stage::InFlight;
            self.below.submit(now, slot as Tag, self.all[slot].request);
        }
    }

    /// When there is something to do.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        self.below.next_event()
    }

    /// Has the drives go on until something comes out of them, no later than at `limit`; gives when that was.
    /// [`Requests::events`] has what came.
    pub(super) fn proceed(&mut self, limit: Nanos) -> Option<Nanos> {
        self.below.proceed(limit, &mut self.events)
    }

    /// What came of [`Requests::proceed`]; to be given back with [`Requests::give_back`].
    pub(super) fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// What the drives have done by `now`; to be given back with [`Requests::give_back`].
    pub(super) fn take_events(&mut self, now: Nanos) -> Vec<Event> {
        let mut events = std::mem::take(&mut self.events);
        self.below.advance(now, &mut events);
        events
    }

    /// The buffer of [`Requests::take_events`], to be filled again.
    pub(super) fn give_back(&mut self, mut events: Vec<Event>) {
        events.clear();
        self.events = events;
    }

    /// A drive is done with a request: its place is free, and the next one goes to the drive. Gives what was asked.
    pub(super) fn done(&mut self, at: Nanos, slot: Slot) -> Request {
        let request = self.all[slot].request;
        match std::mem::replace(&mut self.all[slot].stage, Stage::Done) {
            Stage::Past => return request,
            Stage::Flushes => {
                self.flushes[request.target as usize].is_under_way = false;
                self.send_next_flush(at, request.target);
                return request;
            }
            Stage::Waits | Stage::InFlight | Stage::Done => {}
        }
        self.queues[request.target as usize].done();
        self.sleeping[request.target as usize].freed();
        self.dispatch(at, request.target);
        request
    }

    /// Who sends a bio sleeps for a place.
    pub(super) fn sleep(&mut self, bio: Request, carries: C) {
        self.sleeping[bio.target as usize].push((bio, carries));
        self.asleep += 1;
    }

    /// Whether anybody sleeps for a place.
    pub(super) fn have_sleepers(&self) -> bool {
        self.asleep > 0
    }

    /// What the next one sends who was woken by places that are free now. It sends it again, and may find no place.
    pub(super) fn next_woken(&mut self, target: u32) -> Option<(Request, C)> {
        let batch = self.wake_batch(target);
        let woken = self.sleeping[target as usize].next_woken(batch)?;
        self.asleep -= 1;
        Some(woken)
    }

    /// What a request carries, to be given back with [`Requests::carries_again`]; it is forgotten where nothing more is
    /// heard of it.
    pub(super) fn carried(&mut self, slot: Slot, is_over: bool) -> Vec<C> {
        if is_over {
            self.all.remove(slot);
            return self.carried.remove(slot);
        }
        std::mem::take(&mut self.carried[slot])
    }

    /// Gives back what [`Requests::carried`] gave.
    pub(super) fn carries_again(&mut self, slot: Slot, is_over: bool, mut carried: Vec<C>) {
        if is_over {
            carried.clear();
            self.spare.push(carried);
        } else {
            self.carried[slot] = carried;
        }
    }

    /// The drive of a request.
    pub(super) fn target(&self, slot: Slot) -> u32 {
        self.all[slot].request.target
    }

    /// A reset or a power cut: forgets the requests that no drive has, and of the others what is not `kept`. Where
    /// power is cut, nothing more is heard of what was done.
    pub(super) fn abort(&mut self, cut: bool, kept: impl Fn(&C) -> bool) {
        self.queues.iter_mut().for_each(Queue::abort);
        self.sleeping.iter_mut().for_each(Sleepers::clear);
        self.asleep = 0;
        for flushes in &mut self.flushes {
            flushes.waiting.clear();
        }
        let carried = &mut self.carried;
        self.all.retain(|slot, request| {
            let stays = match request.stage {
                Stage::Waits => false,
                Stage::InFlight | Stage::Past | Stage::Flushes => {
                    carried[slot].clear();
                    true
                }
                Stage::Done => !cut,
            };
            if stays {
                carried[slot].retain(&kept);
            } else {
                carried.remove(slot);
            }
            stays
        });
    }

    /// Adds what is in flight and what the drives have done.
    pub(super) fn count(&self, counters: &mut Counters) {
        counters.kept += self.all.len() as u64;
        self.below.count(counters);
    }
}

/// Whether requests of this kind are merged (`REQ_NOMERGE_FLAGS`).
fn is_mergeable(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write { fua: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ideal_flash::{IdealFlashSpec, IdealFlashes};
    use crate::linux::queue::{PAGE_SECTORS, Scheduler};

    /// What a request carries: so many pages.
    #[derive(Clone, Copy)]
    struct Pages(u32);

    impl Carry for Pages {
        fn memory(&self) -> Memory {
            Memory::Pages
        }
    }

    fn write(page: u64, pages: u32) -> Request {
        Request::write(page * u64::from(PAGE_SECTORS), pages * PAGE_SECTORS)
    }

    /// Six pages from page 10 on are brought one by one, or as many at once as there is room for; gives all requests
    /// then, and how many pages each carries. `waiting` are in the queue, `held` in the plug.
    fn brought(waiting: &[Request], held: &[Request], most: u32, at_once: bool) -> Vec<[u64; 4]> {
        let flash = IdealFlashSpec {
            sectors: 1 << 20,
            read_ns: 1,
            write_ns: 1,
            flush_ns: 1,
            link_bytes_per_s: 1,
        };
        let queue = QueueSpec {
            scheduler: Scheduler::MqDeadline,
            requests: 64,
            tags: 1,
            max_sectors: most * PAGE_SECTORS,
            max_segments: 168,
            is_write_back: false,
        };
        let mut requests = Requests::new(IdealFlashes::new(1, flash), queue);
        // The drive has one request, and the scheduler has given away one more: what comes next waits.
        for request in [write(1000, 1), write(2000, 1)].iter().chain(waiting) {
            let mut plug = Plug::default();
            requests.hold(0, &mut plug, *request, Pages(request.sectors / PAGE_SECTORS));
            requests.unplug(0, &mut plug);
        }
        let mut plug = Plug::default();
        for request in held {
            requests.hold(0, &mut plug, *request, Pages(request.sectors / PAGE_SECTORS));
        }
        let (mut page, end) = (10, 16);
        while page < end {
            let room = requests.room_behind(&plug, write(page, 1), Memory::Pages);
            let room = (room / u64::from(PAGE_SECTORS)).clamp(1, end - page) as u32;
            let pages = if at_once { room } else { 1 };
            if requests.merge(&plug, write(page, pages), Pages(pages)) {
                page += u64::from(pages);
            } else {
                requests.hold(0, &mut plug, write(page, 1), Pages(1));
                page += 1;
            }
        }
        let state = |(slot, queued): (Slot, &Queued)| {
            let pages = requests.carried[slot].iter().map(|pages| pages.0).sum::<u32>();
            let Request { sector, sectors, .. } = queued.request;
            [slot as u64, sector, sectors.into(), pages.into()]
        };
        requests.all.iter().map(state).collect()
    }

    #[test]
    fn pages_brought_at_once_are_where_they_are_brought_one_by_one() {
        let behind = [None, Some(write(8, 2)), Some(write(6, 4)), Some(write(5, 4))];
        let next = || (11..18).map(Some).chain([None]).map(|page| page.map(|page| write(page, 2)));
        let mut differ = 0;
        for (most, first, second) in (4..10).flat_map(|most| {
            behind
                .into_iter()
                .flat_map(move |first| next().map(move |second| (most, first, second)))
        }) {
            let places = [first, second].map(|request| request.into_iter().collect::<Vec<_>>());
            let both: Vec<_> = places.concat();
            for (waiting, held) in [
                (&both, &vec![]),
                (&places[0], &places[1]),
                (&places[1], &places[0]),
                (&vec![], &both),
            ] {
                let one_by_one = brought(waiting, held, most, false);
                assert_eq!(brought(waiting, held, most, true), one_by_one, "{waiting:?} {held:?}");
                differ += usize::from(one_by_one != brought(&[], &[], most, false));
            }
        }
        assert!(differ > 500, "the cases are many: {differ}");
    }
}
