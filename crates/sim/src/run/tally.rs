//! Latencies on their way into a histogram: one step each.

use crate::Nanos;
use hdrhistogram::Histogram;

/// So many binary digits of a latency are kept: those of three decimal ones, as in the histograms.
const DIGITS: u32 = 11;

/// How many requests had which latency, as a histogram of three digits counts them. That does more for each value than to
/// count it; here it is one addition, and a count takes half as much of a processor's cache.
#[derive(Debug, Default)]
pub(super) struct Tally(Vec<u32>);

impl Tally {
    /// One more request with this latency. What is noted here goes into `latencies_ns` later.
    #[inline]
    pub(super) fn note(&mut self, latency_ns: Nanos, latencies_ns: &mut Histogram<u64>) {
        let place = place(latency_ns);
        match self.0.get_mut(place) {
            Some(count) if *count < u32::MAX => *count += 1,
            _ => self.note_rarely(place, latencies_ns),
        }
    }

    /// The same where there is no count yet, or that cannot grow.
    #[cold]
    fn note_rarely(&mut self, place: usize, latencies_ns: &mut Histogram<u64>) {
        if self.0.len() <= place {
            self.0.resize(place + 1, 0);
        } else {
            self.pour_into(latencies_ns);
        }
        self.0[place] = 1;
    }

    /// Puts all that was noted into `latencies_ns`; then there is none here.
    pub(super) fn pour_into(&mut self, latencies_ns: &mut Histogram<u64>) {
        for (place, count) in self.0.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            let count = u64::from(std::mem::take(count));
            latencies_ns.record_n(least_of(place), count).expect("the histogram grows as needed");
        }
    }
}

/// Where latencies like this are counted: those of a power of 2 are in 1024 places.
#[inline]
fn place(latency_ns: Nanos) -> usize {
    let dropped = (Nanos::BITS - DIGITS).saturating_sub(latency_ns.leading_zeros());
    ((dropped as usize) << (DIGITS - 1)) + (latency_ns >> dropped) as usize
}

/// The least latency that is counted in `place`.
fn least_of(place: usize) -> Nanos {
    let dropped = (place >> (DIGITS - 1)).saturating_sub(1);
    ((place - (dropped << (DIGITS - 1))) as Nanos) << dropped
}

#[cfg(test)]
mod tests {
    use super::super::outcome::histogram;
    use super::*;

    /// A histogram that was filled through a tally is the same as one that was filled directly.
    #[test]
    fn what_is_poured_is_what_was_noted() {
        let (mut tally, mut poured, mut direct) = (Tally::default(), histogram(), histogram());
        let mut state = 7_u64;
        for step in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let latency_ns = match step {
                0..4096 => step,
                _ => state >> (1 + (state & 63).min(62)),
            };
            tally.note(latency_ns, &mut poured);
            direct.record(latency_ns).unwrap();
            if step % 5000 == 0 {
                tally.pour_into(&mut poured);
            }
        }
        tally.pour_into(&mut poured);
        // A count that is full is poured out first.
        tally.0[0] = u32::MAX;
        tally.note(0, &mut poured);
        direct.record_n(0, 1 << 32).unwrap();
        tally.pour_into(&mut poured);
        let cells = |of: &Histogram<u64>| {
            of.iter_recorded()
                .map(|it| (it.value_iterated_to(), it.count_at_value()))
                .collect::<Vec<_>>()
        };
        assert_eq!(cells(&poured), cells(&direct));
        assert_eq!(
            (poured.min(), poured.max(), poured.len()),
            (direct.min(), direct.max(), direct.len())
        );
        assert_eq!(poured, direct);
    }
}
