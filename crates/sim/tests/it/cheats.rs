//! Each check of the contract catches a device that breaks it.

use block::layout::Stripe;
use block::{Level, Op, Request};
use sim::{
    Advance, Array, Counters, Device, Disturbance, Driver, Event, Geometry, Nanos, Server, Spent,
    Tag, contract, step_by_step,
};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

const SECTORS: u64 = 5000;

/// What a [`Cheat`] does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// Writes are durable a second after they are done, and flushes do not wait for that.
    FlushesEarly,
    /// Nothing more is heard of these after they are done.
    NeverSettles(Op),
    /// Sectors that cannot be read are read.
    ReadsAnything,
    /// Sectors that were written again still cannot be read.
    NeverRecovers,
    /// What is done when a drive breaks is lost, whatever holds it.
    LosesTheRest,
    /// A read that is served at once takes no time.
    ServesForNothing,
}

/// Serves as `below` does, but for one thing.
struct Cheat<D> {
    below: D,
    wrong: Wrong,
    ops: BTreeMap<Tag, Op>,
    late: Vec<Event>,
    broken: bool,
}

fn cheat<D: Device>(below: D, wrong: Wrong) -> Cheat<D> {
    Cheat { below, wrong, ops: BTreeMap::new(), late: Vec::new(), broken: false }
}

impl<D: Device> Cheat<D> {
    /// Does some of what is due at its next event.
    fn step_to(&mut self, step: Nanos, out: &mut Vec<Event>) {
        let mut events = Vec::new();
        self.below.advance(step, &mut events);
        while self.late.first().is_some_and(|event| event.at() <= step) {
            out.push(self.late.remove(0));
        }
        for event in events {
            match (event, self.wrong) {
                (Event::Durable { tag, at }, Wrong::FlushesEarly) => {
                    self.late.push(Event::Durable { tag, at: at + 1_000_000_000 });
                }
                (Event::Durable { tag, .. }, Wrong::NeverSettles(op)) if self.ops[&tag] == op => {}
                (Event::Durable { tag, at }, Wrong::LosesTheRest) if self.broken => {
                    out.push(Event::Lost { tag, at });
                }
                _ => out.push(event),
            }
        }
    }
}

impl<D: Device> Device for Cheat<D> {
    fn geometry(&self) -> &Geometry {
        self.below.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.ops.insert(tag, request.op);
        self.below.submit(now, tag, request);
        let damage = Disturbance::MediumError { drive: 0, sector: 0, sectors: u32::MAX };
        if self.wrong == Wrong::NeverRecovers && self.broken {
            self.below.disturb(now, damage);
        }
    }

    fn serve(
        &mut self,
        now: Nanos,
        tag: Tag,
        request: Request,
        _: Nanos,
        _: &mut Spent,
    ) -> Option<Nanos> {
        if self.wrong == Wrong::ServesForNothing {
            return Some(now);
        }
        self.submit(now, tag, request);
        None
    }

    fn next_event(&self) -> Option<Nanos> {
        let late = self.late.first().map(Event::at);
        [self.below.next_event(), late].into_iter().flatten().min()
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        step_by_step(self, limit, out, Self::step_to)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        let medium = matches!(what, Disturbance::MediumError { .. });
        self.broken |= medium || matches!(what, Disturbance::FailDrive(_));
        if self.wrong != Wrong::ReadsAnything || !medium {
            self.below.disturb(now, what);
        }
    }

    fn count(&self, counters: &mut Counters) {
        self.below.count(counters);
    }
}

type Make<'a> = &'a dyn Fn() -> Box<dyn Device>;
type Check = fn(Make<'_>);

/// What `check` has to say of such devices; nothing where they pass.
fn said(check: Check, make: Make<'_>) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(make))) else { return String::new() };
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref().cloned()).expect("it panics with a message")
}

fn server(wrong: Wrong) -> Box<dyn Device> {
    Box::new(cheat(Server::new(SECTORS, 1_000_000), wrong))
}

/// Two drives of which each is a server behind a queue of its own.
fn pair(level: &str, wrong: Wrong) -> Box<dyn Device> {
    let layout = level.parse::<Level>().unwrap().lay_out(16, &[SECTORS; 2]).unwrap();
    Box::new(cheat(Array::new(layout, Servers::new(2), Driver::default()), wrong))
}

/// Several servers side by side.
struct Servers(Geometry, Vec<Server>);

impl Servers {
    fn new(count: usize) -> Self {
        let servers = (0..count).map(|_| Server::new(SECTORS, 1_000_000)).collect();
        Servers(Geometry { target_sectors: vec![SECTORS; count] }, servers)
    }
}

impl Servers {
    /// Does some of what is due at its next event.
    fn step_to(&mut self, step: Nanos, out: &mut Vec<Event>) {
        self.1.iter_mut().for_each(|server| server.advance(step, out));
    }
}

impl Device for Servers {
    fn geometry(&self) -> &Geometry {
        &self.0
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.1[request.target as usize].submit(now, tag, request.to(0));
    }

    fn next_event(&self) -> Option<Nanos> {
        self.1.iter().filter_map(Device::next_event).min()
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        step_by_step(self, limit, out, Self::step_to)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        match what {
            Disturbance::Fail(drive)
            | Disturbance::FailDrive(drive)
            | Disturbance::CutDrive(drive)
            | Disturbance::MediumError { drive, .. } => {
                self.1[drive as usize].disturb(now, what);
            }
            _ => self.1.iter_mut().for_each(|server| server.disturb(now, what)),
        }
    }

    fn count(&self, counters: &mut Counters) {
        self.1.iter().for_each(|server| server.count(counters));
    }
}

#[test]
fn honest_devices_pass() {
    let stripe = || -> Box<dyn Device> {
        let layout = Stripe::new(16, &[SECTORS; 2]).unwrap();
        Box::new(Array::new(Box::new(layout), Servers::new(2), Driver::default()))
    };
    assert_eq!(said(contract::check, &|| server(Wrong::Nothing)), "");
    assert_eq!(said(contract::check_medium_errors, &|| server(Wrong::Nothing)), "");
    assert_eq!(said(contract::check_medium_errors, &stripe), "");
    assert_eq!(said(contract::check_redundant, &|| pair("mirror", Wrong::Nothing)), "");
}

#[test]
fn devices_that_cheat_are_caught() {
    let cases: [(Check, Make<'_>, &str); 9] = [
        (contract::check, &|| server(Wrong::FlushesEarly), "a flush is done"),
        (contract::check, &|| server(Wrong::NeverSettles(Op::WRITE)), "neither durable nor lost"),
        (contract::check, &|| server(Wrong::NeverSettles(Op::Discard)), "neither durable nor lost"),
        (contract::check, &|| server(Wrong::NeverSettles(Op::Zeroes)), "neither durable nor lost"),
        (contract::check, &|| server(Wrong::ServesForNothing), "ends in another way"),
        (contract::check_medium_errors, &|| server(Wrong::ReadsAnything), "cannot read is read"),
        (contract::check_medium_errors, &|| server(Wrong::NeverRecovers), "still cannot be read"),
        (contract::check_redundant, &|| pair("stripe", Wrong::Nothing), "a request fails"),
        (contract::check_redundant, &|| pair("mirror", Wrong::LosesTheRest), "a write is lost"),
    ];
    for (check, make, expected) in cases {
        let message = said(check, make);
        assert!(message.contains(expected), "{expected}: {message}");
    }
}
