//! Reads that an array passes on come back as those that it plans.

use super::common::drives;
use block::layout::Rows;
use block::{Health, Layout, Level, Op, Place, Plan, Request, Unservable};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use sim::{Array, Counters, Device, Disturbance, Driver, Event, Nanos};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A layout that counts what it plans. One that `says` nothing of where reads have their only place plans all of them.
struct Counted {
    inside: Box<dyn Layout>,
    says: bool,
    plans: Arc<AtomicU64>,
}

impl Layout for Counted {
    fn only_place(&self, sector: u64, sectors: u32) -> Option<Place> {
        self.inside.only_place(sector, sectors).filter(|_| self.says)
    }

    fn members(&self) -> usize {
        self.inside.members()
    }

    fn sectors(&self) -> u64 {
        self.inside.sectors()
    }

    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64 {
        self.inside.places(sector, places)
    }

    fn holds(&self, place: Place) -> (Option<u64>, u64) {
        self.inside.holds(place)
    }

    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        self.plans.fetch_add(1, Ordering::Relaxed);
        self.inside.plan(request, health, plan)
    }

    fn rebuild(
        &self,
        lost: Place,
        sectors: u32,
        health: &Health,
        plan: &mut Plan,
    ) -> Result<(), Unservable> {
        self.inside.rebuild(lost, sectors, health, plan)
    }

    fn rows_at(&self, sector: u64) -> Option<Rows<'_>> {
        self.inside.rows_at(sector)
    }

    fn row_parity(&self, row: u64) -> Option<(Place, Option<Place>)> {
        self.inside.row_parity(row)
    }
}

fn array(layout: Box<dyn Layout>) -> Array<sim::Shelf> {
    let mut spec = drives::spec();
    spec.controller.write_buffer_sectors = 256;
    let below = drives::shelf(layout.members() as u64, &spec, 40_000_000);
    Array::new(layout, below, Driver::default())
}

/// What happens to an array at random: mostly requests, and whatever can go wrong.
enum Act {
    Ask(Request),
    Disturb(Disturbance),
    GoOn(Nanos),
}

fn acts(seed: u64, sectors: u64, members: u64) -> Vec<Act> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut below = |bound: u64| random.next_u64() % bound;
    let mut act = || match below(60) {
        0 => Act::Disturb(Disturbance::Reset),
        1 => Act::Disturb(Disturbance::PowerCut),
        2 => Act::Disturb(Disturbance::CutDrive(below(members) as u32)),
        3 if below(20) == 0 => Act::Disturb(Disturbance::FailDrive(below(members) as u32)),
        4 if below(60) == 0 => Act::Disturb(Disturbance::Fail(0)),
        5 | 6 => {
            let sector = below(40) * 8;
            Act::Disturb(Disturbance::MediumError {
                drive: below(members) as u32,
                sector,
                sectors: 8,
            })
        }
        7..30 => Act::GoOn(below(20_000_000)),
        kind => {
            // Few places, so that what is damaged is met.
            let (sector, sectors) = (below(sectors.min(2000)) / 8 * 8, 1 + below(24) as u32);
            let op = match kind {
                30..36 => Op::WRITE,
                36 => Op::Flush,
                _ => Op::Read,
            };
            let sectors = if op == Op::Flush { 0 } else { sectors };
            Act::Ask(Request { target: 0, op, sector, sectors })
        }
    };
    (0..600).map(|_| act()).collect()
}

/// All events of these acts, and what was counted after each.
fn run(device: &mut dyn Device, acts: &[Act]) -> (Vec<Event>, Vec<Counters>) {
    let (mut now, mut events, mut counted) = (0, Vec::new(), Vec::new());
    for (act, tag) in acts.iter().zip(0..) {
        match *act {
            Act::Ask(request) => device.submit(now, tag, request),
            Act::Disturb(what) => {
                device.disturb(now, what);
                // What is lost is said at that time, before anything else happens.
                while device.proceed(now, &mut events).is_some() {}
            }
            Act::GoOn(time) => {
                let end = now + time;
                while device.proceed(end, &mut events).is_some() {}
                now = end;
            }
        }
        let mut counters = Counters::default();
        device.count(&mut counters);
        counted.push(counters);
    }
    while device.proceed(Nanos::MAX - 2, &mut events).is_some() {}
    (events, counted)
}

#[test]
fn reads_that_are_passed_on_are_those_that_are_planned() {
    let mut faults = [0; 2];
    // Of requests that are all planned, and where reads are passed on.
    let plans: [Arc<AtomicU64>; 2] = Default::default();
    for name in ["stripe", "raid5", "raid6"] {
        for seed in 0..60 {
            let level: Level = name.parse().unwrap();
            let lay_out = |says: bool, plans: &Arc<AtomicU64>| {
                let inside = level.lay_out(16, &[4_000_000; 5]).unwrap();
                Box::new(Counted { inside, says, plans: plans.clone() })
            };
            let acts = acts(seed, lay_out(true, &plans[0]).sectors(), 5);
            let (planned, expected) = run(&mut array(lay_out(false, &plans[0])), &acts);
            let (events, counted) = run(&mut array(lay_out(true, &plans[1])), &acts);
            assert_eq!(events, planned, "{name}, seed {seed}");
            assert!(counted == expected, "{name}, seed {seed}: the counters differ");
            let is_done = |event: &&Event| matches!(event, Event::Done { .. });
            for event in events.iter().filter(is_done) {
                let failed = matches!(event, Event::Done { result: Err(_), .. });
                faults[usize::from(failed)] += 1;
            }
        }
    }
    assert!(faults[0] > 1000 && faults[1] > 1000, "too little happened: {faults:?}");
    let [all, some] = plans.map(|plans| plans.load(Ordering::Relaxed));
    assert!(4 * some < 3 * all, "{some} of {all} were planned");
}
