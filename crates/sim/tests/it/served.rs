//! What a device serves at once comes out as if it had been submitted, and had come back.

use super::common::drives;
use block::{Op, Request};
use sim::bus::Bus;
use sim::drive::{Drive, DriveSpec};
use sim::linux::alone::Alone;
use sim::workload::{Jobs, Pattern, RunningStream, Stream};
use sim::{
    Counters, Device, Disturbance, Event, Geometry, Nanos, Plugs, Processor, Shelf, Spent, Tag,
};

/// The same device, which serves nothing at once.
struct Unserved<D>(D);

impl<D: Device> Device for Unserved<D> {
    fn geometry(&self) -> &Geometry {
        self.0.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.0.submit(now, tag, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.0.next_event()
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        self.0.proceed(limit, out)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        self.0.disturb(now, what);
    }

    fn count(&self, counters: &mut Counters) {
        self.0.count(counters);
    }
}

/// A drive with a write buffer, alone on its bus.
fn spec() -> DriveSpec {
    let mut spec = drives::spec();
    spec.controller.write_buffer_sectors = 64;
    spec
}

fn shelf() -> Shelf {
    drives::shelf(1, &spec(), 20_000_000)
}

/// All that is recorded of a run, in words.
fn recorded(device: &mut dyn Device, streams: &[Stream]) -> String {
    let streams = streams.iter().zip(1..).map(|(of, seed)| RunningStream::new(of.clone(), seed));
    let mut jobs = Jobs::new(streams.collect());
    let processor = Processor::default();
    let run = sim::run_jobs(&processor, device, &mut jobs, &mut |_| false, &|| false);
    format!("{:?}", run.expect("nothing stops it"))
}

#[test]
fn what_is_served_at_once_is_recorded_as_if_it_had_come_back() {
    let random = Stream {
        pattern: Pattern::Random,
        span_sectors: 4_000_000,
        count: 2000,
        ..Stream::default()
    };
    let of = |change: &dyn Fn(&mut Stream)| {
        let mut stream = random.clone();
        change(&mut stream);
        stream
    };
    let works = [
        vec![random.clone()],
        vec![of(&|it| it.reads_percent = Some(60))],
        vec![of(&|it| it.pattern = Pattern::Sequential)],
        vec![of(&|it| it.think_ns = 3_000_000)],
        vec![of(&|it| it.depth = 2)],
        vec![of(&|it| it.end_flush = true)],
        vec![of(&|it| it.until_ns = 1_000_000_000)],
        vec![random.clone(), of(&|it| it.op = Op::WRITE)],
    ];
    for streams in &works {
        let plain = recorded(&mut Unserved(shelf()), streams);
        assert_eq!(recorded(&mut shelf(), streams), plain, "{streams:?}");
        let mut alone = Alone::new(shelf(), 4_000_000, Plugs::default());
        assert_eq!(recorded(&mut alone, streams), plain, "{streams:?}");
    }
}

/// When the read of a clone comes back that was submitted at 2 ms, and where its time went.
fn submitted(shelf: &Shelf, read: Request) -> (Nanos, Spent) {
    let (mut shelf, mut events) = (shelf.clone(), Vec::new());
    shelf.submit(2_000_000, 7, read);
    shelf.proceed(Nanos::MAX - 1, &mut events);
    let [Event::Done { at, spent, .. }] = events[..] else { panic!("one is back: {events:?}") };
    (at, spent)
}

#[test]
fn a_lone_read_is_served_at_once_and_nothing_else_is() {
    let read = Request::read(1_000_000, 8);
    let serve = |shelf: &mut Shelf, limit: Nanos| {
        let mut spent = Spent::NONE;
        shelf.serve(2_000_000, 7, read, limit, &mut spent).map(|at| (at, spent))
    };
    let (at, spent) = submitted(&shelf(), read);
    let mut served = shelf();
    assert_eq!(serve(&mut served, at), Some((at, spent)));
    assert_eq!(served.next_event(), None);

    // It would end too late.
    let mut late = shelf();
    assert_eq!((serve(&mut late, at - 1), late.next_event()), (None, Some(at)));
    // Another may take the bus first.
    let drives = (0..2).map(|turned| Drive::new(&spec(), turned).unwrap()).collect();
    let mut shared = Shelf::new(drives, vec![Bus::new(20_000_000, 0)]);
    assert_eq!(serve(&mut shared, Nanos::MAX), None);
    // It fails.
    for what in [
        Disturbance::FailDrive(0),
        Disturbance::MediumError { drive: 0, sector: read.sector, sectors: 1 },
    ] {
        let (mut failing, mut events) = (shelf(), Vec::new());
        failing.disturb(0, what);
        assert_eq!(serve(&mut failing, Nanos::MAX), None);
        failing.proceed(Nanos::MAX - 1, &mut events);
        assert!(matches!(events[..], [Event::Done { tag: 7, result: Err(_), .. }]), "{events:?}");
    }
    // The drive writes from its buffer, which ends first.
    let (mut writing, mut events) = (shelf(), Vec::new());
    writing.submit(0, 1, Request::write(3_000_000, 8));
    writing.proceed(2_000_000, &mut events);
    assert!(matches!(events[..], [Event::Done { tag: 1, .. }]), "{events:?}");
    assert_eq!(serve(&mut writing, Nanos::MAX), None);
    writing.proceed(Nanos::MAX - 1, &mut events);
    assert!(matches!(events[1..], [Event::Durable { tag: 1, .. }]), "{events:?}");
}
