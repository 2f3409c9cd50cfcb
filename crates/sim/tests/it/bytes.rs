//! The array's core over members in memory, with bytes: what was written is read back right at every
//! level, with requests side by side and commands that come back in any order, healthy, while a member
//! fails, degraded, while a spare is restored, and after.
//!
//! A sector is one byte here.

use block::{Health, LEVELS, Layout, Level, Op, Payload, Plan, Request};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use sim::array::{Command, Core};
use sim::{Counters, Event, Fault, Nanos, Rebuild, Spent, Tag};
use std::collections::{BTreeMap, BTreeSet};

const INTERLEAVE_SECTORS: u64 = 16;
const IN_FLIGHT: usize = 6;

/// A member: its bytes, or none once it has failed.
type Member = Option<Vec<u8>>;

/// What a request in a slot of the core has read and is to write.
#[derive(Default)]
struct Job {
    payload: Payload,
    buffer: Vec<u8>,
}

struct Caller {
    request: Request,
    bytes: Vec<u8>,
    /// Where its job is, once a stage of it was started.
    slot: Option<usize>,
}

/// An array in memory, and what its volume should hold.
struct Volume {
    core: Core,
    now: Nanos,
    members: Vec<Member>,
    /// Members and their sectors that cannot be read until they are written again.
    unreadable: BTreeSet<(u32, u64)>,
    member_sectors: u64,
    jobs: BTreeMap<usize, Job>,
    callers: BTreeMap<Tag, Caller>,
    next_tag: Tag,
    /// Commands in flight, each with its request's slot.
    sent: Vec<(usize, Command)>,
    expected: Vec<u8>,
    random: Pcg64Mcg,
}

impl Volume {
    fn new(level: Level, seed: u128) -> Self {
        let member_sectors = member_sectors(level);
        let layout = lay_out(level, member_sectors);
        let mut volume = Volume {
            now: 0,
            members: vec![Some(vec![0; member_sectors as usize]); layout.members()],
            unreadable: BTreeSet::new(),
            member_sectors,
            jobs: BTreeMap::new(),
            callers: BTreeMap::new(),
            next_tag: 0,
            sent: Vec::new(),
            expected: vec![0; layout.sectors() as usize],
            core: Core::new(layout),
            random: Pcg64Mcg::new(seed),
        };
        let all = volume.expected.len() as u32;
        volume.submit(Request::write(0, all));
        volume.drain();
        volume
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random.next_u64() % end
    }

    fn noise(&mut self, bytes: usize) -> Vec<u8> {
        let mut noise = vec![0; bytes];
        self.random.fill_bytes(&mut noise);
        noise
    }

    fn submit(&mut self, request: Request) {
        let range = request.sector as usize..request.end() as usize;
        let bytes = match request.op {
            Op::Write { .. } => self.noise(range.len()),
            _ => vec![0; range.len()],
        };
        if request.op.modifies() {
            self.expected[range].copy_from_slice(&bytes);
        }
        let tag = self.next_tag;
        self.next_tag += 1;
        self.callers.insert(tag, Caller { request, bytes, slot: None });
        self.core.submit(self.now, tag, request);
        self.start_stages();
    }

    fn start_stages(&mut self) {
        while let Some(slot) = self.core.next_ready() {
            let stage = self.core.stage(slot);
            let job = self.jobs.entry(slot).or_default();
            if stage.index == 0 {
                let own = stage.owner.map(|_| stage.request);
                job.payload.lay_out(own, stage.plan, 1);
                job.buffer.clear();
                job.buffer.resize(job.payload.len(), 0x55);
                if let Some(caller) = stage.owner.and_then(|tag| self.callers.get_mut(&tag)) {
                    caller.slot = Some(slot);
                    job.buffer[job.payload.own()].copy_from_slice(&caller.bytes);
                }
            }
            let first = stage.plan.stage_start(stage.index);
            let steps = first..first + stage.plan.stage(stage.index).len();
            job.payload.before_stage(self.core.layout(), steps, &mut job.buffer);
            let sent = &mut self.sent;
            self.core.start(self.now, slot, |command| sent.push((slot, command)));
        }
    }

    /// One of the commands in flight comes back.
    fn step(&mut self) {
        self.advance();
        if !self.sent.is_empty() {
            let index = self.below(self.sent.len() as u64) as usize;
            self.come_back(index);
        }
    }

    /// Only the rebuild goes on, until it has to wait for others.
    fn rebuild_alone(&mut self) {
        self.advance();
        let is_chunk = |core: &Core, slot| core.stage(slot).owner.is_none();
        while let Some(index) = self.sent.iter().position(|&(slot, _)| is_chunk(&self.core, slot)) {
            self.come_back(index);
            self.advance();
        }
    }

    fn advance(&mut self) {
        self.now += 1;
        self.core.advance(self.now);
        self.start_stages();
        self.collect();
    }

    fn come_back(&mut self, index: usize) {
        let (slot, command) = self.sent.swap_remove(index);
        self.carry_out(slot, command);
        self.start_stages();
        self.collect();
    }

    fn collect(&mut self) {
        let mut events = Vec::new();
        self.core.collect(self.now, &mut events);
        for event in events {
            if let Event::Done { tag, result, .. } = event {
                self.done(tag, result);
            }
        }
    }

    fn carry_out(&mut self, slot: usize, Command { tag, step, request }: Command) {
        let mut result = Err(Fault::Failed);
        if let Some(member) = &mut self.members[request.target as usize] {
            result = Ok(());
            let asked = (request.target, request.sector)..(request.target, request.end());
            if request.op == Op::Read && self.unreadable.range(asked.clone()).next().is_some() {
                result = Err(Fault::Medium);
            } else if request.op.modifies() {
                self.unreadable.retain(|place| !asked.contains(place));
            }
            let there = &mut member[request.sector as usize..request.end() as usize];
            let Job { payload, buffer } = self.jobs.get_mut(&slot).unwrap();
            let bytes = &mut buffer[payload.part(step, request.sectors)];
            match request.op {
                Op::Read if result.is_err() => bytes.fill(0x55),
                Op::Read => bytes.copy_from_slice(there),
                Op::Write { .. } | Op::Zeroes => there.copy_from_slice(bytes),
                Op::Flush | Op::Discard => {}
            }
        }
        self.core.done(self.now, tag, result, &Spent::NONE);
        if result.is_ok() && request.op.modifies() {
            self.core.settled(self.now, tag, false);
        }
    }

    fn done(&mut self, tag: Tag, result: Result<(), Fault>) {
        let Caller { request, slot, .. } = self.callers.remove(&tag).expect("it comes back once");
        assert_eq!(result, Ok(()), "{request:?}");
        let Some(Job { payload, buffer }) = slot.and_then(|slot| self.jobs.get_mut(&slot)) else {
            return;
        };
        if request.op == Op::Read {
            payload.after_read(self.core.layout(), buffer);
            let expected = &self.expected[request.sector as usize..request.end() as usize];
            assert!(&buffer[payload.own()] == expected, "{request:?} at {}", self.now);
        }
    }

    /// Lets all that is in flight come back.
    fn drain(&mut self) {
        while !self.callers.is_empty() {
            self.step();
        }
    }

    /// Requests side by side, none of which touches what another writes.
    fn churn(&mut self, requests: usize) {
        for _ in 0..requests {
            let sectors = self.expected.len() as u64;
            let sector = self.below(sectors);
            let count = [4, 40, 150][self.below(3) as usize];
            let count = (1 + self.below(count)).min(sectors - sector) as u32;
            let op = [Op::Read, Op::Read, Op::WRITE, Op::WRITE, Op::WRITE, Op::Zeroes, Op::Flush]
                [self.below(7) as usize];
            let request = match op {
                Op::Flush => Request::flush(),
                op => Request { op, ..Request::read(sector, count) },
            };
            let conflicts = |other: &Request| {
                (request.op.modifies() || other.op.modifies())
                    && request.sector < other.end()
                    && other.sector < request.end()
            };
            while self.callers.len() >= IN_FLIGHT
                || self.callers.values().any(|caller| conflicts(&caller.request))
            {
                self.step();
            }
            self.submit(request);
        }
    }

    fn read_all(&mut self) {
        self.drain();
        let sectors = self.expected.len() as u64;
        for sector in (0..sectors).step_by(311) {
            self.submit(Request::read(sector, (sectors - sector).min(311) as u32));
            self.drain();
        }
    }

    fn fail(&mut self, member: usize) {
        self.members[member] = None;
    }

    /// Puts a spare full of nonsense in a failed member's place, and restores it.
    fn replace(&mut self, member: usize) {
        self.drain();
        self.members[member] = Some(self.noise(self.member_sectors as usize));
        let rebuild = Rebuild { member: member as u32, bytes_per_s: None };
        self.core.rebuild(self.now, rebuild, 0..self.member_sectors);
    }

    fn is_restored(&self) -> bool {
        let mut counters = Counters::default();
        self.core.count(&mut counters);
        counters.restored_at.is_some()
    }

    fn churn_until_restored(&mut self) {
        while !self.is_restored() {
            self.churn(1);
            self.step();
        }
    }
}

/// Enough for each level: md keeps at least 1 MiB at the front of each member, and btrfs takes no small ones.
fn member_sectors(level: Level) -> u64 {
    let front = if level.name.starts_with("md-") { 4096 } else { 0 };
    level.member_sectors_min().max(front + 4000)
}

/// The level over 5 members, or as many as it can have.
fn lay_out(level: Level, member_sectors: u64) -> Box<dyn Layout> {
    let over = |members| level.lay_out(INTERLEAVE_SECTORS, &vec![member_sectors; members]).ok();
    [5, 4, 1].into_iter().find_map(over).expect("every level is there over one of these")
}

/// Levels that survive the loss of any `losses` neighbours.
fn levels(losses: u32) -> impl Iterator<Item = Level> {
    // Arrays side by side are run one by one.
    let run_as_one = LEVELS.iter().copied().filter(|level| level.nested().is_none());
    run_as_one.filter(move |&level| {
        let layout = lay_out(level, member_sectors(level));
        let members = layout.members() as u32;
        let whole = Request::read(0, layout.sectors() as u32);
        (0..members).all(|first| {
            let mut health = Health::all_up(members as usize);
            (first..first + losses).for_each(|member| health.fail(member % members));
            layout.plan(whole, &health, &mut Plan::new()).is_ok()
        })
    })
}

#[test]
fn every_level_reads_back_what_was_written() {
    for level in levels(0) {
        let mut volume = Volume::new(level, 1);
        volume.churn(400);
        volume.read_all();
    }
}

#[test]
fn a_member_fails_under_load_and_is_restored_under_load() {
    let mut tried = 0;
    for level in levels(1) {
        for member in [0, 2] {
            let mut volume = Volume::new(level, 2);
            volume.churn(150);
            volume.fail(member);
            volume.churn(250);
            volume.read_all();
            volume.replace(member);
            volume.churn_until_restored();
            assert!(volume.core.health().is_up(member as u32), "{level}");
            volume.churn(100);
            volume.read_all();
            // What the spare holds is needed now.
            volume.fail(member + 1);
            volume.read_all();
            volume.churn(100);
            volume.read_all();
        }
        tried += 1;
    }
    assert!(tried > 10, "only {tried} levels survive a loss");
}

/// What `members` neighbours cannot read is computed from the others and written again, under load.
fn unreadable_sectors_are_repaired(members: u32) {
    let mut tried = 0;
    for level in levels(members) {
        let mut volume = Volume::new(level, 6);
        volume.churn(100);
        let there: Vec<(u32, u64)> = (0..volume.core.layout().sectors())
            .step_by(97)
            .flat_map(|sector| {
                let mut places = Vec::new();
                volume.core.layout().places(sector, &mut places);
                places.into_iter().filter(|place| (2..2 + members).contains(&place.member))
            })
            .map(|place| (place.member, place.sector))
            .collect();
        volume.unreadable.extend(there);
        let before = volume.unreadable.len();
        volume.churn(200);
        volume.read_all();
        assert!(before > 0 && volume.unreadable.len() < before, "{level}");
        assert_eq!(volume.core.health().failures(), 0, "{level}: nothing has failed");
        tried += 1;
    }
    assert!(tried > 2, "only {tried} levels can");
}

#[test]
fn what_a_member_cannot_read_is_repaired() {
    unreadable_sectors_are_repaired(1);
}

#[test]
fn what_two_members_cannot_read_is_repaired() {
    unreadable_sectors_are_repaired(2);
}

#[test]
fn another_member_fails_while_one_is_restored() {
    let mut tried = 0;
    for level in levels(2) {
        let mut volume = Volume::new(level, 3);
        volume.fail(1);
        volume.churn(100);
        volume.replace(1);
        volume.churn(40);
        volume.fail(2);
        volume.churn_until_restored();
        volume.read_all();
        assert_eq!(
            (1..3).map(|m| volume.core.health().is_up(m)).collect::<Vec<_>>(),
            [true, false]
        );
        tried += 1;
    }
    assert!(tried > 2, "only {tried} levels survive two losses");
}

#[test]
fn a_spare_that_fails_leaves_the_array_degraded() {
    for level in levels(1) {
        let mut volume = Volume::new(level, 4);
        volume.fail(2);
        volume.replace(2);
        volume.churn(3);
        volume.step();
        assert!(!volume.is_restored(), "{level}: too late");
        volume.fail(2);
        volume.churn(200);
        volume.read_all();
        assert!(!volume.core.health().is_up(2) && !volume.is_restored(), "{level}");
    }
}

/// A write waits for the last row of one part of a rebuild while the next part, in which it also writes,
/// is restored: what it was to do when it came is no longer right.
#[test]
fn a_write_that_waited_while_its_row_was_restored_is_planned_again() {
    let mut tried = 0;
    for level in levels(1) {
        let mut volume = Volume::new(level, 5);
        let Some(parity) = volume.core.layout().parity() else { continue };
        let row_sectors = parity.interleave_sectors() * u64::from(parity.data_units());
        // A rebuild goes by 1024 sectors of the member, two parts at a time; this is the fourth.
        let mut places = Vec::new();
        let fourth = (0..parity.rows()).map(|row| row * row_sectors).find(|&sector| {
            places.clear();
            volume.core.layout().places(sector, &mut places);
            places[0].sector >= 3 * 1024
        });
        // Where btrfs's first chunk of data or LVM's first extents start, the fourth part is over.
        let fourth = fourth.unwrap();
        if fourth == 0 {
            assert!(["btrfs-", "lvm-"].iter().any(|of| level.name.starts_with(of)), "{level}");
            continue;
        }
        let member = places[0].member as usize;
        volume.fail(member);
        volume.read_all();
        volume.replace(member);
        volume.submit(Request::write(fourth - row_sectors, 2));
        volume.submit(Request::write(fourth - 2, 9));
        volume.rebuild_alone();
        assert!(!volume.callers.is_empty() && !volume.is_restored(), "{level}");
        volume.churn_until_restored();
        volume.read_all();
        volume.fail((member + 1) % volume.members.len());
        volume.read_all();
        tried += 1;
    }
    assert!(tried > 10, "only {tried} levels have rows under parity");
}
