//! Units that people write behind a number: `5ms`, `200us`, `1.5GB/s`.

/// A unit, and how much of the first of its kind it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// As it is written.
    pub name: &'static str,
    kind: Kind,
    times: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Seconds.
    Time,
    /// Bytes a second.
    Rate,
    /// Percent.
    Share,
    /// So many a second.
    Often,
    /// Bytes.
    Size,
}

const UNITS: &[Unit] = &[
    Unit { name: "ns", kind: Kind::Time, times: 1e-9 },
    Unit { name: "us", kind: Kind::Time, times: 1e-6 },
    Unit { name: "µs", kind: Kind::Time, times: 1e-6 },
    Unit { name: "ms", kind: Kind::Time, times: 1e-3 },
    Unit { name: "s", kind: Kind::Time, times: 1.0 },
    Unit { name: "min", kind: Kind::Time, times: 60.0 },
    Unit { name: "h", kind: Kind::Time, times: 3600.0 },
    Unit { name: "kB/s", kind: Kind::Rate, times: 1e3 },
    Unit { name: "MB/s", kind: Kind::Rate, times: 1e6 },
    Unit { name: "GB/s", kind: Kind::Rate, times: 1e9 },
    Unit { name: "KiB/s", kind: Kind::Rate, times: 1024.0 },
    Unit { name: "MiB/s", kind: Kind::Rate, times: 1_048_576.0 },
    Unit { name: "GiB/s", kind: Kind::Rate, times: 1_073_741_824.0 },
    Unit { name: "%", kind: Kind::Share, times: 1.0 },
    // Nobody writes it: a chance is a number.
    Unit { name: "of 1", kind: Kind::Share, times: 100.0 },
    Unit { name: "GB", kind: Kind::Size, times: 1e9 },
    Unit { name: "TB", kind: Kind::Size, times: 1e12 },
    Unit { name: "PB", kind: Kind::Size, times: 1e15 },
    Unit { name: "GiB", kind: Kind::Size, times: 1_073_741_824.0 },
    Unit { name: "TiB", kind: Kind::Size, times: 1_099_511_627_776.0 },
    Unit { name: "/s", kind: Kind::Often, times: 1.0 },
    Unit { name: "requests/s", kind: Kind::Often, times: 1.0 },
];

impl Unit {
    /// The unit of this name.
    pub fn find(name: &str) -> Option<&'static Unit> {
        UNITS.iter().find(|unit| unit.name == name)
    }

    /// All names that can be written.
    pub fn names() -> Vec<&'static str> {
        UNITS.iter().map(|unit| unit.name).filter(|name| !name.contains(' ')).collect()
    }

    /// How many of `other` one of these is: 1 ms is 0.001 s. None where they measure different things.
    pub fn in_units_of(&self, other: &Unit) -> Option<f64> {
        (self.kind == other.kind).then(|| self.times / other.times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::SAMPLES;

    #[test]
    fn units_of_one_kind_are_multiples() {
        let times = |a, b| Unit::find(a).unwrap().in_units_of(Unit::find(b).unwrap());
        assert_eq!(times("ms", "s"), Some(1e-3));
        assert_eq!(times("h", "min"), Some(60.0));
        assert_eq!(times("GB/s", "MB/s"), Some(1e3));
        assert_eq!(times("ms", "MB/s"), None);
        for a in UNITS {
            for b in UNITS {
                let there = a.in_units_of(b).zip(b.in_units_of(a));
                assert!(there.is_none_or(|(there, back)| (there * back - 1.0).abs() < 1e-12));
            }
        }
    }

    /// A sample whose unit nobody can write would be compared with plain numbers only.
    #[test]
    fn times_and_rates_of_samples_can_be_written() {
        for unit in ["ms", "s", "MB/s", "%", "/s", "requests/s"] {
            assert!(Unit::find(unit).is_some());
            assert!(SAMPLES.iter().any(|sample| sample.unit == unit), "{unit}");
        }
    }
}
