//! The trace of a real drive, played to the model of that drive.

use super::trace::Measured;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use sim::bus::Bus;
use sim::drive::{Drive, DriveError, DriveSpec};
use sim::{Advance, Device, Event, Nanos, Shelf};

/// The shortest gap between two requests after moving them, in ns: a host needs some time.
const GAP_MIN_NS: Nanos = 50_000;

/// What the model of `spec` takes for each request of `trace`, in ns, each started as long after the
/// end of the one before as in the trace.
///
/// With a seed every gap is moved by up to half a turn either way. A trace does not say where the
/// platter stood; one replay is one throw of the dice, and the spread of some tells what it is worth.
///
/// # Errors
///
/// Where no drive can be built from `spec`.
pub fn replay(
    spec: &DriveSpec,
    bus_bytes_per_s: u64,
    trace: &[Measured],
    seed: Option<u64>,
) -> Result<Vec<Nanos>, DriveError> {
    let turn_ns = spec.platters.revolution_ns;
    let mut random = seed.map(|seed| Pcg64Mcg::new(u128::from(seed) << 1 | 1));
    let bus = Bus::new(bus_bytes_per_s, 0);
    let mut shelf = Shelf::new(vec![Drive::new(spec, 0)?], vec![bus]);
    let mut events = Vec::new();
    let mut now = 1_000_000_000;
    let times = trace.iter().map(|measured| {
        shelf.advance(now, &mut events);
        events.clear();
        shelf.submit(now, 0, measured.request);
        let done = finish(&mut shelf, &mut events);
        let service_ns = done - now;
        let moved = random.as_mut().map_or(measured.gap_ns, |random| {
            let gap = measured.gap_ns + random.next_u64() % turn_ns;
            gap.saturating_sub(turn_ns / 2).max(GAP_MIN_NS)
        });
        now = done + moved;
        service_ns
    });
    Ok(times.collect())
}

/// When the request in flight is done. (A write may become durable before, of an earlier request.)
fn finish(shelf: &mut Shelf, events: &mut Vec<Event>) -> Nanos {
    loop {
        let next = shelf.next_event().expect("a request under way has a next event");
        shelf.advance(next, events);
        for event in events.drain(..) {
            if let Event::Done { at, .. } = event {
                return at;
            }
        }
    }
}
