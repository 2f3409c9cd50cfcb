//! Each choice of each test is held against a plain scan of all that waits.

use super::super::geometry::{PlatterSpec, Zone};
use super::super::{ControllerSpec, DriveSpec, Firmware, SeekSpec};
use super::*;
use crate::Tag;
use crate::bus::Bus;
use block::Request;

impl Drive {
    /// The command that is next at `now`, found by looking at all that the drive may choose from.
    pub(super) fn plain_choice(&self, now: Nanos) -> Option<Tag> {
        let (queue, firmware) = (&self.queue, &self.controller.firmware);
        let held = queue.held.by_age().map(|(_, waiting)| waiting);
        let mut all = held.chain(&queue.outside).peekable();
        let oldest = all.peek()?.tag;
        if firmware.queue_depth <= 1 {
            return Some(oldest);
        }
        let free = all.take(firmware.queue_depth).take_while(|it| it.request.op != Op::Flush);
        let least = match firmware.discipline {
            Discipline::Fcfs => None,
            Discipline::CLook => {
                let position = self.before.map_or(0, |before| before.end);
                free.min_by_key(|it| (it.request.sector < position, it.request.sector))
            }
            Discipline::Sptf { ageing_us_per_ms } => free.min_by_key(|it| {
                let aged = (now - it.arrived) * u64::from(ageing_us_per_ms) / 1000;
                self.plain_positioning_ns(now, it).cast_signed() - aged.cast_signed()
            }),
        };
        Some(least.map_or(oldest, |least| least.tag))
    }

    /// How long after `now` the arm would be in place for `waiting`; zero for a command that needs no arm.
    fn plain_positioning_ns(&self, now: Nanos, waiting: &Waiting) -> Nanos {
        let request = &waiting.request;
        let (start, end) = (request.sector, request.end());
        let (write, overhead_ns) = match request.op {
            Op::Read if self.segments.hold(start, end) || self.dirty.covers(start, end) => {
                return 0;
            }
            Op::Read if self.goes_on_ahead(start, end) => return 0,
            Op::Read => (false, self.controller.read_miss_overhead_ns),
            Op::Write { .. } if self.goes_on_writing(now, request, waiting.arrived) => return 0,
            Op::Write { fua } if fua || !self.has_room_for(request) => {
                (true, self.controller.write_overhead_ns)
            }
            Op::Write { .. } | Op::Flush | Op::Discard | Op::Zeroes => return 0,
        };
        let from = (now + overhead_ns).max(self.arm_free_at);
        let aim = self.mechanics.aim(start);
        from - now + self.mechanics.positioning_ns(from, aim, write)
    }
}

/// A small generator, so that a failure is the same again.
struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % below
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

const SECTORS: u64 = 24_000;

/// A drive of 24,000 sectors of which everything else is drawn. Its seeks may be shorter over a longer
/// distance, and it may settle sooner before a write than before a read.
fn drive(random: &mut Random) -> Drive {
    let zones = (0..3).map(|zone| Zone {
        first_cylinder: zone * 40 + zone,
        last_cylinder: zone * 40 + zone + 39,
        slots_per_track: 120 - 10 * zone,
        track_skew_slots: 10,
        cylinder_skew_slots: 20,
        ..Zone::default()
    });
    let points = [1, 31, 61, 91].map(|distance| (distance, 300_000 + random.below(3_000_000)));
    let ageing_us_per_ms = random.one_of(&[0, 0, 6, 100, 1000]);
    let sptf = Discipline::Sptf { ageing_us_per_ms };
    let write_buffer_sectors = random.one_of(&[0, 40, 300, 3000]);
    let spec = DriveSpec {
        platters: PlatterSpec {
            sectors: SECTORS,
            heads: 2,
            revolution_ns: 6_000_000,
            zones: zones.collect(),
            ..PlatterSpec::default()
        },
        seek: SeekSpec::Points(points.to_vec()),
        write_settle_ns: random.one_of(&[-200_000, 0, 200_000]),
        command_settle_ns: random.one_of(&[0, 700_000]),
        head_switch_ns: 500_000,
        controller: ControllerSpec {
            read_hit_overhead_ns: 50_000,
            read_miss_overhead_ns: random.one_of(&[0, 100_000]),
            write_overhead_ns: random.one_of(&[0, 300_000]),
            sequential_write_overhead_ns: 50_000,
            segments: random.one_of(&[0, 1, 3, 12]),
            segment_sectors: 128,
            read_ahead_sectors: random.one_of(&[0, 64]),
            write_buffer_sectors,
            zero_latency: false,
            interface_bytes_per_s: 40_000_000,
            firmware: Firmware {
                discipline: random.one_of(&[sptf, sptf, sptf, Discipline::CLook, Discipline::Fcfs]),
                queue_depth: random.one_of(&[1, 2, 40, 65, 200, 400]),
                write_segments: random.one_of(&[0, 0, 1, 4]),
                destage_choices: random.one_of(&[0, 1, 3, 40]),
                ..Firmware::default()
            },
        },
    };
    Drive::new(&spec, random.below(6_000_000)).expect("it is a drive")
}

/// A request; most drives see most of theirs within `span` sectors, so that requests and buffer meet.
fn request(random: &mut Random, span: u64) -> Request {
    let sectors = random.one_of(&[1, 8, 8, 8, 16, 64]);
    let grain = random.one_of(&[1, 8]);
    let sector = random.below((span - u64::from(sectors)) / grain) * grain;
    let op = match random.below(40) {
        0 => Op::Flush,
        1 => Op::Discard,
        2 => Op::Write { fua: true },
        3..=20 => Op::WRITE,
        _ => Op::Read,
    };
    Request { op, ..Request::read(sector, sectors) }
}

/// [`Drive::next_waiting`] compares each choice with a plain scan, and so does the choice of what leaves the buffer; here are
/// drives and loads of all kinds.
#[test]
fn an_ordered_queue_chooses_as_a_plain_scan_does() {
    let mut random = Random(7);
    let (mut chosen, mut in_order, mut picked) = (0, 0, 0);
    for _ in 0..1500 {
        let mut drive = drive(&mut random);
        let mut bus = Bus::new(40_000_000, 0);
        let span = random.one_of(&[300, 2000, SECTORS]);
        let waiting = random.one_of(&[2, 8, 60, 300]);
        let (mut now, mut open, mut events) = (0, 0, Vec::new());
        for tag in 0..400 {
            drive.submit(now, tag, request(&mut random, span), &mut bus);
            open += 1;
            now += random.below(20_000);
            while let Some(at) = drive.next_event()
                && (at <= now || open >= waiting)
            {
                drive.advance(at, &mut bus, &mut events);
                now = now.max(at);
                let done = events.iter().filter(|it| matches!(it, crate::Event::Done { .. }));
                open -= done.count();
                let held = drive.queue.held.len();
                chosen += usize::from(!drive.queue.outside.is_empty() || held > 1);
                in_order += usize::from(held > 1);
                let runs = drive.dirty.starts().map_or(0, |starts| starts.above(0).count());
                picked += usize::from(runs > 1);
                events.clear();
            }
        }
    }
    assert!(chosen > 300_000, "too few choices to say anything: {chosen}");
    assert!(in_order > 100_000, "too few of them from what is kept in order: {in_order}");
    assert!(picked > 50_000, "too few of them with runs to pick from: {picked}");
}
