//! What histograms of latencies say. They are generic, so that whoever asks them compiles them; these are compiled in this
//! crate, which is optimized in every profile, as `boxed` does with devices.

use hdrhistogram::Histogram;

/// What `quantile` (0 to 1) of them stay below, in ns, to the histogram's digits.
#[inline(never)]
pub fn quantile_ns(latencies_ns: &Histogram<u64>, quantile: f64) -> u64 {
    latencies_ns.value_at_quantile(quantile)
}

/// Their mean, in ns; 0 of none.
#[inline(never)]
pub fn mean_ns(latencies_ns: &Histogram<u64>) -> f64 {
    latencies_ns.mean()
}

/// Those of both.
///
/// # Panics
///
/// Where a histogram of fixed size cannot hold what the other has; those of [`run`](crate::run()) grow.
#[inline(never)]
pub fn of_both(one: &Histogram<u64>, other: &Histogram<u64>) -> Histogram<u64> {
    let mut both = one.clone();
    both.add(other).expect("the histogram grows as needed");
    both
}
