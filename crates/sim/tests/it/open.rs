//! Open arrivals obey the laws of queues: M/D/1, D/D/1, Little's law; and what comes too fast never ends.

use block::Op;
use sim::workload::{Arrivals, Jobs, Pattern, RunningStream, Stream};
use sim::{Nanos, Outcome, Processor, Server, run, run_until};

const SERVICE_NS: Nanos = 100_000;

/// Random reads that come by themselves, at a share of what the server can do, in percent.
fn reads(arrivals: Arrivals, load_percent: u64, count: u64) -> Stream {
    Stream {
        pattern: Pattern::Random,
        span_sectors: 8000,
        arrivals,
        requests_per_s: Some(load_percent * 100),
        count,
        ..Stream::default()
    }
}

fn outcome(stream: Stream) -> Outcome {
    run(&mut Server::new(8000, SERVICE_NS), &mut RunningStream::new(stream, 11))
}

fn mean_ns(outcome: &Outcome) -> f64 {
    outcome.spent_ns.iter().sum::<u128>() as f64 / outcome.requests as f64
}

/// Poisson arrivals at a server of fixed service time wait rho / (2 (1 - rho)) services on average (Pollaczek and
/// Khinchine): half a service at rho = 0.5, 4.5 at 0.9.
#[test]
fn poisson_arrivals_wait_as_in_m_d_1() {
    for (load_percent, tolerance) in [(10, 0.02), (50, 0.02), (80, 0.03), (90, 0.05)] {
        let measured = mean_ns(&outcome(reads(Arrivals::Poisson, load_percent, 1_000_000)));
        let rho = load_percent as f64 / 100.0;
        let waits = (measured / SERVICE_NS as f64) - 1.0;
        let expected = rho / (2.0 * (1.0 - rho));
        assert!((waits / expected - 1.0).abs() < tolerance, "{rho}: {waits}, not {expected}");
    }
}

/// Equal distances and equal services: nobody ever waits, up to the last percent.
#[test]
fn fixed_arrivals_below_the_limit_do_not_wait() {
    let measured = outcome(reads(Arrivals::Fixed, 99, 10_000));
    assert!((mean_ns(&measured) - SERVICE_NS as f64).abs() < 1.0);
}

/// A burst of k has the i-th wait for i - 1 services: (k + 1) / 2 services on average.
#[test]
fn a_burst_waits_for_itself() {
    let bursts = Stream { burst: 9, ..reads(Arrivals::Fixed, 50, 9000) };
    assert!((mean_ns(&outcome(bursts)) / SERVICE_NS as f64 - 5.0).abs() < 1e-9);
}

/// Little's law holds of arrivals, too: what is in flight on average is the rate times the mean latency. The server is
/// busy for the share of the time that is asked for.
#[test]
fn littles_law_holds_of_open_arrivals() {
    let measured = outcome(reads(Arrivals::Poisson, 70, 200_000));
    let rate = measured.requests as f64 / measured.elapsed_ns as f64;
    assert!((rate * 1e9 / 7000.0 - 1.0).abs() < 0.01, "{rate}");
    let in_flight = rate * mean_ns(&measured);
    let expected = 0.7 + 0.7 * 0.7 / (2.0 * 0.3);
    assert!((in_flight / expected - 1.0).abs() < 0.03, "{in_flight}, not {expected}");
    let busy = measured.counters.targets[0].busy_ns as f64 / measured.elapsed_ns as f64;
    assert!((busy - 0.7).abs() < 0.01, "{busy}");
}

/// At a load of 125 % a fifth of what came still waits at the end, and it is longer the longer it lasts.
#[test]
fn what_comes_too_fast_waits_ever_longer() {
    let [short, long] = [10_000, 40_000]
        .map(|count| mean_ns(&outcome(reads(Arrivals::Fixed, 125, count))) / SERVICE_NS as f64);
    assert!(
        (short / 1000.0 - 1.0).abs() < 0.01 && (long / 4000.0 - 1.0).abs() < 0.01,
        "{short}, {long}"
    );
}

/// Streams are recorded apart, add up to the whole, and a commit lasts from its append's coming to its flush's end.
#[test]
fn streams_are_recorded_apart() {
    let log = Stream {
        op: Op::WRITE,
        flush_every: 1,
        count: 500,
        requests_per_s: Some(100),
        arrivals: Arrivals::Poisson,
        span_sectors: 8000,
        ..Stream::default()
    };
    let streams = vec![
        (0, RunningStream::new(reads(Arrivals::Poisson, 30, 10_000), 1)),
        (0, RunningStream::new(reads(Arrivals::Poisson, 30, 10_000), 2)),
        (1, RunningStream::new(log, 3)),
    ];
    let mut device = Server::new(8000, SERVICE_NS);
    let whole =
        run_until(&Processor::default(), &mut device, &mut Jobs::apart(streams), &mut |_| false);
    let outcome = &whole.outcome;
    assert_eq!(outcome.streams[0].directions[0].requests, 20_000);
    assert_eq!(outcome.streams[1].directions[1].requests, 500);
    assert_eq!(outcome.streams[1].commit_ns.len(), 500);
    assert_eq!(outcome.requests, 20_500);
    let of_log = &outcome.streams[1];
    assert!(
        of_log.commit_ns.mean() > of_log.directions[1].latency_ns.mean() + SERVICE_NS as f64 / 2.0
    );
    let batches = &whole.batches;
    let arrived: u64 =
        batches.streams().iter().flat_map(sim::Batches::closed).map(|batch| batch.arrived).sum();
    let done: u64 = batches.closed().iter().map(|batch| batch.requests).sum();
    assert!(arrived >= done && arrived <= 20_500, "{arrived}, {done}");
    // What is left out at the beginning is left out of each stream.
    let start = whole.starts().last().unwrap();
    let rest = whole.from(start);
    let apart: u64 =
        rest.streams.iter().flat_map(|stream| &stream.directions).map(|d| d.requests).sum();
    assert_eq!(apart, rest.requests);
    assert!(rest.requests < 20_000);
}

/// A stream that is done long before the others has a time of its own, which ends with its last request, its last flush among
/// them; and of what is left out at the beginning it keeps none that it did not have.
#[test]
fn a_stream_that_ends_early_has_a_time_of_its_own() {
    let log = Stream {
        op: Op::WRITE,
        flush_every: 1,
        count: 50,
        span_sectors: 8000,
        ..Stream::default()
    };
    let pages = Stream { count: 5000, ..log.clone() };
    let pages = Stream { op: Op::Read, flush_every: 0, ..pages };
    let streams = vec![(0, RunningStream::new(log, 1)), (1, RunningStream::new(pages, 2))];
    let mut device = Server::new(8000, SERVICE_NS);
    let whole =
        run_until(&Processor::default(), &mut device, &mut Jobs::apart(streams), &mut |_| false);
    let [of_log, of_pages] = &whole.outcome.streams[..] else { panic!("two streams") };
    // Each of the 100 takes its turn with a read.
    assert!(of_log.elapsed_ns.abs_diff(200 * SERVICE_NS) <= SERVICE_NS, "{}", of_log.elapsed_ns);
    assert_eq!(of_pages.elapsed_ns, whole.outcome.elapsed_ns);
    assert_eq!(whole.outcome.elapsed_ns, 5100 * SERVICE_NS);
    let start = whole.starts().last().unwrap();
    let rest = whole.from(start);
    assert!(start > of_log.elapsed_ns);
    assert_eq!(
        rest.streams.iter().map(|of| of.elapsed_ns).collect::<Vec<_>>(),
        [0, rest.elapsed_ns]
    );
}

/// The same seed gives the same times.
#[test]
fn the_same_run_twice_is_the_same() {
    let run = || {
        let stream = Stream {
            skew: sim::workload::Skew::Zipf(1100),
            ..reads(Arrivals::Poisson, 85, 20_000)
        };
        let outcome = outcome(stream);
        (outcome.elapsed_ns, outcome.spent_ns, outcome.latency_ns)
    };
    assert!(run() == run());
}
