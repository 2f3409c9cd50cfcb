//! The drive against a second, slow telling of the same mechanics, written only for this test.
//!
//! It shares no code with the model: time is a fraction of ms in f64, the platter is a list of every
//! sector's cylinder, head and angle, each sector is waited for and sent by itself, read-ahead is a
//! list of when each sector arrives, and a buffer holds sectors one by one. What the two have in common
//! is what docs/drives.md says. The requests are synthetic and made here.

use block::{Op, Request};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use sim::bus::Bus;
use sim::drive::{
    ControllerSpec, Drive, DriveSpec, Firmware, Keeps, OnWrite, Overheads, PlatterSpec, SeekSpec,
    Sending, Taking, Zone,
};
use sim::{Advance, Device, Event, Shelf};
use std::cmp::Ordering;
use std::collections::BTreeMap;

const TURN_MS: f64 = 8.0;
const HEADS: u32 = 3;
const SEEKS_MS: [(f64, f64); 3] = [(1.0, 1.5), (10.0, 3.0), (199.0, 12.0)];

/// How the drive under test decides.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one of two choices, and all are tried")]
struct Choices {
    keeps_ahead_only: bool,
    keeps_behind_write: bool,
    whole: bool,
    write_behind: bool,
    /// ms a sector on the bus.
    bus_ms: f64,
    settle_ms: f64,
}

/// Where each sector lies: cylinder, head, angle in turns, and sectors on its track.
struct Sector {
    cylinder: u32,
    head: u32,
    angle: f64,
    on_track: u32,
}

/// Two zones; 4 sectors at the end of each cylinder and 30 at the end of the first zone hold nothing,
/// and 50 at the start are the drive's own.
fn platter() -> Vec<Sector> {
    let mut sectors = vec![];
    for (first, last, slots, track_skew, cylinder_skew, spare, offset) in
        [(0, 99, 100, 20, 30, 30, 0), (102, 199, 80, 16, 24, 0, 7)]
    {
        let mut zone = vec![];
        for cylinder in first..=last {
            for slot in 0..HEADS * slots - 4 {
                let (head, nth) = (slot / slots, slot % slots);
                let skews = (cylinder - first) * ((HEADS - 1) * track_skew + cylinder_skew)
                    + head * track_skew;
                let angle = f64::from((nth + skews + offset) % slots) / f64::from(slots);
                zone.push(Sector { cylinder, head, angle, on_track: slots });
            }
        }
        zone.truncate(zone.len() - spare);
        sectors.extend(zone);
    }
    sectors.split_off(50)
}

struct Reference {
    platter: Vec<Sector>,
    choices: Choices,
    arm: (u32, u32),
    /// Since when the arm is free.
    free: f64,
    /// Each segment: when each of its sectors is there; the first is the one used last.
    segments: Vec<BTreeMap<usize, f64>>,
    /// The segment, as a place in that list, that is being read into, or was until it was full.
    reading: Option<usize>,
    after_write: bool,
}

fn seek_ms(distance: u32) -> f64 {
    let far = f64::from(distance);
    let points = SEEKS_MS.windows(2).find(|pair| far <= pair[1].0).unwrap();
    let [(d0, t0), (d1, t1)] = [points[0], points[1]];
    t0 + (far - d0) / (d1 - d0) * (t1 - t0)
}

impl Reference {
    /// Lets `count` sectors pass from `first` on, the arm free at `now`; none may pass before `ready`.
    /// Gives when each has passed.
    fn pass(
        &mut self,
        now: f64,
        first: usize,
        count: usize,
        command: bool,
        write: bool,
        ready: f64,
    ) -> Vec<f64> {
        let mut now = now;
        let mut passed = vec![];
        for index in first..first + count {
            let sector = &self.platter[index];
            let mut moved = if sector.cylinder != self.arm.0 {
                seek_ms(sector.cylinder.abs_diff(self.arm.0))
            } else if sector.head != self.arm.1 {
                0.75
            } else {
                0.0
            };
            if command && index == first {
                moved = moved.max(self.choices.settle_ms);
            }
            if write && moved > 0.0 {
                moved += 0.25;
            }
            now = (now + moved).max(ready);
            let mut wait = (sector.angle - now / TURN_MS).rem_euclid(1.0) * TURN_MS;
            if wait > TURN_MS - 2e-6 {
                wait = 0.0;
            }
            now += wait + TURN_MS / f64::from(sector.on_track);
            self.arm = (sector.cylinder, sector.head);
            passed.push(now);
        }
        passed
    }

    /// The end of sending sectors that are there at `there`, from `start` on.
    fn send(&self, start: f64, there: &[f64]) -> f64 {
        there.iter().fold(start, |bus, &at| bus.max(at) + self.choices.bus_ms)
    }

    /// The arm is needed at `now`: what has not passed by then never will.
    fn stop(&mut self, now: f64) {
        let Some(reading) = self.reading.take() else { return };
        let segment = &mut self.segments[reading];
        let last = segment.iter().rfind(|(_, at)| **at <= now + 1e-9);
        let next = segment.iter().find(|(_, at)| **at > now + 1e-9);
        // The arm is on its way to, or at, the next sector.
        if let Some((&sector, _)) = next.or(last) {
            self.arm = (self.platter[sector].cylinder, self.platter[sector].head);
        }
        segment.retain(|_, at| *at <= now + 1e-9);
        self.push_out(now);
    }

    /// Segment `index` is now the one used last.
    fn touch(&mut self, index: usize) {
        let segment = self.segments.remove(index);
        self.segments.insert(0, segment);
        self.reading = self.reading.map(|reading| match reading.cmp(&index) {
            Ordering::Less => reading + 1,
            Ordering::Equal => 0,
            Ordering::Greater => reading,
        });
    }

    /// When the read-ahead under way will be over.
    fn over_at(&self) -> f64 {
        let last = self.reading.and_then(|reading| self.segments[reading].last_key_value());
        last.map_or(0.0, |(_, &at)| at)
    }

    /// Reads on into the first segment, up to 60 sectors beyond `end`.
    fn read_on(&mut self, from: f64, next: usize, end: usize) {
        let count = (end + 60).min(self.platter.len()).saturating_sub(next);
        let there = self.pass(from, next, count, false, false, 0.0);
        self.segments[0].extend((next..).zip(there));
        self.reading = Some(0);
    }

    /// A segment holds 64 sectors: each that has come by `now` has pushed out the one 64 before it.
    fn push_out(&mut self, now: f64) {
        for segment in &mut self.segments {
            if let Some((&newest, _)) = segment.iter().rfind(|(_, at)| **at <= now + 1e-9) {
                segment.retain(|&sector, _| sector + 64 > newest);
            }
        }
    }

    /// A read-ahead that is still under way, and has come up to `first`, goes on to `end`.
    fn go_on(&mut self, now: f64, first: usize, end: usize) {
        let Some(reading) = self.reading else { return };
        let segment = &self.segments[reading];
        let (&last, &last_at) = segment.last_key_value().unwrap();
        let starts_inside = segment.keys().next().is_some_and(|&sector| sector <= first)
            && segment.range(..first).next_back().is_none_or(|(_, &at)| at <= now + 1e-9);
        if last_at > now && last < end && first <= last + 1 && starts_inside {
            self.touch(reading);
            self.read_on(last_at, last + 1, end);
        }
    }

    fn read(&mut self, now: f64, first: usize, count: usize) -> f64 {
        let range = first..first + count;
        let after_write = std::mem::take(&mut self.after_write);
        let hit = now + if after_write { 0.3 } else { 0.1 };
        self.push_out(hit);
        self.go_on(hit, first, range.end);
        let holds =
            |held: &BTreeMap<usize, f64>| range.clone().all(|sector| held.contains_key(&sector));
        let found = self.segments.iter().position(holds);
        // The one that is being read into is looked at first.
        let reading = self.reading.filter(|&reading| holds(&self.segments[reading]));
        if let Some(index) = reading.or(found) {
            let there: Vec<f64> =
                range.clone().map(|sector| self.segments[index][&sector]).collect();
            let over_at = self.over_at();
            let elsewhere = self.reading != Some(index) && over_at > hit;
            self.touch(index);
            let (&last, _) = self.segments[0].last_key_value().unwrap();
            if last + 1 < range.end + 60 && !elsewhere {
                let from = if self.reading == Some(0) { over_at.max(hit) } else { hit };
                self.read_on(from.max(self.free), last + 1, range.end);
            }
            if self.choices.keeps_ahead_only {
                self.segments[0].retain(|&sector, _| sector >= range.end);
            }
            return self.send(hit, &there) + 0.05;
        }
        let ready = now + 0.4;
        self.stop(ready);
        let there = self.pass(ready.max(self.free), first, count, true, false, 0.0);
        self.free = there[count - 1];
        self.segments.insert(0, range.clone().zip(there.iter().copied()).collect());
        self.segments.truncate(3);
        self.read_on(self.free, range.end, range.end);
        if self.choices.keeps_ahead_only {
            self.segments[0].retain(|&sector, _| sector >= range.end);
        }
        let start = if self.choices.whole { self.free } else { ready };
        self.send(start, &there) + 0.05
    }

    fn write(&mut self, now: f64, first: usize, count: usize) -> f64 {
        let ready = now + 0.6;
        self.after_write = true;
        let sent = count as f64 * self.choices.bus_ms;
        let done = if self.choices.write_behind {
            let done = ready + sent;
            self.stop(done);
            let passed = self.pass(done.max(self.free), first, count, true, true, 0.0);
            self.free = passed[count - 1];
            done
        } else {
            // The data must be there by the time that each sector passes; it comes faster than that.
            let data_from = now + 0.2;
            let first_at =
                if self.choices.whole { data_from + sent } else { data_from + self.choices.bus_ms };
            self.stop(ready);
            let passed = self.pass(ready.max(self.free), first, count, true, true, first_at);
            self.free = passed[count - 1];
            self.free
        };
        let behind = first + count;
        let overlaps = |held: &BTreeMap<usize, f64>| held.range(first..behind).next().is_some();
        for segment in &mut self.segments {
            if overlaps(segment) {
                let keep = self.choices.keeps_behind_write;
                segment.retain(|&sector, _| keep && sector >= behind);
            }
        }
        // What is empty is used first.
        if self.reading.is_some_and(|reading| self.segments[reading].is_empty()) {
            self.stop(done);
        }
        self.segments.retain(|segment| !segment.is_empty());
        done
    }
}

fn drive(choices: Choices, sectors: usize) -> Shelf {
    let ns = |ms: f64| (ms * 1e6).round() as u64;
    let zone = |(first, last, slots, track, cylinder, spare, offset)| Zone {
        first_cylinder: first,
        last_cylinder: last,
        slots_per_track: slots,
        track_skew_slots: track,
        cylinder_skew_slots: cylinder,
        spare_slots: spare,
        offset_slots: offset,
    };
    let spec = DriveSpec {
        platters: PlatterSpec {
            sectors: sectors as u64,
            heads: HEADS,
            revolution_ns: ns(TURN_MS),
            zones: [(0, 99, 100, 20, 30, 30, 0), (102, 199, 80, 16, 24, 0, 7)].map(zone).into(),
            spare_slots_per_cylinder: 4,
            reserved_slots: 50,
            ..PlatterSpec::default()
        },
        seek: SeekSpec::Points(SEEKS_MS.map(|(far, ms)| (far as u32, ns(ms))).into()),
        write_settle_ns: 250_000,
        command_settle_ns: ns(choices.settle_ms),
        head_switch_ns: ns(0.75),
        controller: ControllerSpec {
            read_hit_overhead_ns: ns(0.1),
            read_miss_overhead_ns: ns(0.4),
            write_overhead_ns: ns(0.6),
            sequential_write_overhead_ns: ns(0.6),
            segments: 3,
            segment_sectors: 64,
            read_ahead_sectors: 60,
            write_buffer_sectors: if choices.write_behind { 64 } else { 0 },
            zero_latency: false,
            interface_bytes_per_s: (512e3 / choices.bus_ms).round() as u64,
            firmware: Firmware {
                keeps: if choices.keeps_ahead_only { Keeps::Ahead } else { Keeps::Everything },
                on_write: if choices.keeps_behind_write {
                    OnWrite::KeepBehind
                } else {
                    OnWrite::DropSegment
                },
                sending: if choices.whole { Sending::Whole } else { Sending::Streamed },
                taking: if choices.whole { Taking::Whole } else { Taking::Streamed },
                overheads: Overheads {
                    read_hit_after_write_ns: Some(ns(0.3)),
                    write_data_ns: Some(ns(0.2)),
                    read_completion_ns: ns(0.05),
                    ..Overheads::default()
                },
                ..Firmware::default()
            },
        },
    };
    Shelf::new(vec![Drive::new(&spec, 0).unwrap()], vec![Bus::new(1_000_000_000, 0)])
}

/// Requests with the pause before each, in ms: anywhere, near the last one, right behind it, a little
/// further on, and again. Pauses are mostly long enough for read-ahead to end, and always for a write to
/// get to the medium: a read would overtake it there, which the slow telling does not know.
fn requests(sectors: usize, seed: u64) -> Vec<(f64, Request)> {
    let mut random = Pcg64Mcg::new(u128::from(seed) * 2 + 1);
    let mut pick = |bound: usize| (random.next_u64() % bound as u64) as usize;
    let mut last = (0, 8);
    let mut wrote = false;
    let one = |_| {
        let count = [1, 4, 8, 16][pick(4)];
        let first = match pick(8) {
            0..=2 => pick(sectors - 700),
            3 => (last.0 + pick(600)).saturating_sub(pick(600)),
            4 | 5 => last.0 + last.1,
            6 => last.0 + last.1 + pick(30),
            _ => last.0,
        };
        let first = first.min(sectors - 200);
        last = (first, count);
        let op = if pick(3) == 0 { Op::WRITE } else { Op::Read };
        let short = pick(4) == 0 && !wrote;
        wrote = op == Op::WRITE;
        let pause = if short { pick(300) as f64 / 100.0 } else { 40.0 + pick(1000) as f64 / 100.0 };
        (pause, Request { target: 0, op, sector: first as u64, sectors: count as u32 })
    };
    (0..1500).map(one).collect()
}

fn modelled(shelf: &mut Shelf, now: u64, request: Request) -> u64 {
    let mut events = vec![];
    shelf.advance(now, &mut events);
    shelf.submit(now, 0, request);
    loop {
        events.clear();
        shelf.advance(shelf.next_event().unwrap(), &mut events);
        let done = events.iter().find_map(|event| match event {
            Event::Done { at, .. } => Some(*at),
            Event::Durable { .. } | Event::Lost { .. } => None,
        });
        if let Some(at) = done {
            return at;
        }
    }
}

/// Every request takes in both the same time, to a µs.
#[test]
fn the_drive_agrees_with_a_slow_telling_of_it() {
    let mut seed = 0;
    for bits in 0..16_u32 {
        for bus_ms in [0.02, 0.15] {
            let is = |bit: u32| bits >> bit & 1 == 1;
            let choices = Choices {
                keeps_ahead_only: is(0),
                keeps_behind_write: is(1),
                whole: is(2),
                write_behind: is(3),
                bus_ms,
                settle_ms: if is(0) { 1.0 } else { 0.0 },
            };
            // A write whose data comes more slowly than the medium takes it is timed by its last
            // sector, which the slow telling leaves out.
            if bus_ms > 0.08 && !choices.whole && !choices.write_behind {
                continue;
            }
            seed += 1;
            compare(choices, seed);
        }
    }
}

fn compare(choices: Choices, seed: u64) {
    let platter = platter();
    let sectors = platter.len();
    let mut shelf = drive(choices, sectors);
    let mut reference = Reference {
        platter,
        choices,
        arm: (0, 0),
        free: 0.0,
        segments: vec![],
        reading: None,
        after_write: false,
    };
    let mut now = 0_u64;
    for (index, (pause, request)) in requests(sectors, seed).into_iter().enumerate() {
        now += (pause * 1e6) as u64;
        let at = now as f64 / 1e6;
        let (first, count) = (request.sector as usize, request.sectors as usize);
        let expected = match request.op {
            Op::Read => reference.read(at, first, count),
            _ => reference.write(at, first, count),
        };
        let done = modelled(&mut shelf, now, request);
        assert!(
            (done as f64 / 1e6 - expected).abs() < 1e-3,
            "{choices:?}\nrequest {index} {request:?} at {at}: {} and not {expected}",
            done as f64 / 1e6
        );
        now = done;
    }
}
