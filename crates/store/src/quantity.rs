//! The samples of a workload, as a manifest lists them. Their units stand in the table of [`crate::sample`].

use crate::sample;
use serde::{Deserialize, Serialize};

/// Which way a quantity is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better: times.
    Lower,
    /// More is better: rates.
    Higher,
    /// Neither: it explains a time or a rate, such as a utilization or a number of commands.
    Neither,
}

/// A sample of a workload, as a manifest lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// The workload.
    pub workload: String,
    /// The sample.
    pub sample: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
}

impl Quantity {
    /// What the sample of this name is. One that is not in the table ranks nothing.
    pub fn named(workload: &str, sample: &str) -> Self {
        let (unit, better) =
            sample::find(sample).map_or(("", Better::Neither), |known| (known.unit, known.better));
        Quantity { workload: workload.into(), sample: sample.into(), unit: unit.into(), better }
    }
}

impl Better {
    /// How much better `a` is than `b`, as a natural logarithm; above 0 where it is better, and 0 where
    /// neither way is. Nothing is as good as nothing, and infinitely far from anything else.
    pub fn ahead(self, a: f64, b: f64) -> f64 {
        match self {
            _ if a.total_cmp(&b).is_eq() => 0.0,
            Better::Lower => (b / a).ln(),
            Better::Higher => (a / b).ln(),
            Better::Neither => 0.0,
        }
    }

    /// The better of two; the lower where neither way is.
    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Better::Lower | Better::Neither => a.min(b),
            Better::Higher => a.max(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_of_nothing_is_behind_every_other() {
        assert_eq!(Better::Higher.ahead(0.0, 0.0).to_bits(), 0);
        assert!(Better::Higher.ahead(684.5, 0.0).is_infinite());
        assert!(Better::Lower.ahead(0.0, 3.0) > 0.0 && Better::Lower.ahead(3.0, 0.0) < 0.0);
    }

    #[test]
    fn a_sample_is_what_the_table_says() {
        let of = |name| {
            let quantity = Quantity::named("w", name);
            (quantity.unit, quantity.better)
        };
        assert_eq!(of("mb_per_s"), ("MB/s".into(), Better::Higher));
        assert_eq!(of("putc_kib_per_s"), ("KiB/s".into(), Better::Higher));
        assert_eq!(of("latency_p99_ms"), ("ms".into(), Better::Lower));
        assert_eq!(of("program_ms"), ("ms".into(), Better::Neither));
        assert_eq!(of("lost_writes"), (String::new(), Better::Lower));
        // No suffix says anything.
        assert_eq!(of("of_mine_s"), (String::new(), Better::Neither));
    }
}
