//! Requests at random times, whatever has come back.

use block::Request;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use sim::Nanos;
use sim::workload::{Name, Next, Workload};

/// A Poisson process: gaps between requests are exponential.
pub(crate) struct Poisson<F> {
    random: Pcg64Mcg,
    mean_gap_ns: f64,
    at: f64,
    left: u64,
    request: F,
}

impl<F: FnMut(&mut Pcg64Mcg) -> Request> Poisson<F> {
    /// `count` requests, each as `request` says, so far apart on average.
    pub(crate) fn new(seed: u128, mean_gap_ns: f64, count: u64, request: F) -> Self {
        Poisson { random: Pcg64Mcg::new(seed), mean_gap_ns, at: 0.0, left: count, request }
    }
}

impl<F: FnMut(&mut Pcg64Mcg) -> Request> Workload for Poisson<F> {
    fn next(&mut self, now: Nanos) -> Next {
        if self.left == 0 {
            return Next::Nothing;
        }
        if self.at as Nanos > now {
            return Next::At(self.at as Nanos);
        }
        self.left -= 1;
        let uniform = (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        self.at -= (1.0 - uniform).ln() * self.mean_gap_ns;
        Next::Issue(0, (self.request)(&mut self.random))
    }

    fn done(&mut self, _now: Nanos, _name: Name) {}
}
