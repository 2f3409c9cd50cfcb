//! What a sample is: its unit, and which way is better.

use serde::{Deserialize, Serialize};

/// Which way a quantity is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better: times.
    Lower,
    /// More is better: rates.
    Higher,
    /// Neither: it says how a time or a rate came about, as what was busy does, or how many commands there were.
    Neither,
}

/// A sample of a workload, for people.
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

/// Endings of sample names, each with the unit that it says and which way is better. The first that
/// fits counts.
const ENDINGS: &[(&str, &str, Better)] = &[
    ("mb_per_s", "MB/s", Better::Higher),
    ("requests_per_s", "requests/s", Better::Higher),
    ("files_per_s", "files/s", Better::Higher),
    ("_per_s", "/s", Better::Higher),
    ("rebuilt_share", "", Better::Higher),
    ("lost_writes", "", Better::Lower),
    ("hits_per_command", "hits/command", Better::Neither),
    ("commands_per_request", "", Better::Neither),
    ("_busy", "", Better::Neither),
    ("_cpu", "", Better::Neither),
    ("cpu_percent", "%", Better::Neither),
    ("busiest_share", "", Better::Neither),
    ("reads", "", Better::Neither),
    ("writes", "", Better::Neither),
    ("_per_file", "", Better::Neither),
    ("_blocks", "blocks", Better::Neither),
    ("flushes", "", Better::Neither),
    ("_mib", "", Better::Neither),
    // The faster the volume, the more of its time the program is by itself.
    ("program_ms", "ms", Better::Neither),
    ("_ms", "ms", Better::Lower),
    ("_us", "µs", Better::Lower),
    ("_ns", "ns", Better::Lower),
    ("_s", "s", Better::Lower),
    ("_percent", "%", Better::Lower),
];

impl Quantity {
    /// What a sample of this name is, as far as its name says: `elapsed_s` is in s, and less is better.
    pub fn named(workload: &str, sample: &str) -> Self {
        let found = ENDINGS.iter().find(|(ending, ..)| sample.ends_with(ending));
        let &(_, unit, better) = found.unwrap_or(&("", "", Better::Lower));
        Quantity { workload: workload.into(), sample: sample.into(), unit: unit.into(), better }
    }
}

/// A sample's name without the unit in its end: `rm_s` is `rm`, but `rm_reads` is not.
pub fn without_unit(sample: &str) -> &str {
    let units = ENDINGS.iter().filter(|(_, unit, way)| !unit.is_empty() && *way != Better::Neither);
    let mut found = units.filter_map(|(ending, ..)| sample.strip_suffix(ending));
    found.next().unwrap_or(sample).trim_end_matches('_')
}

impl Better {
    /// What a unit says without being told: rates up, times down; of what a share is, `%` does not say.
    pub fn of_unit(unit: &str) -> Self {
        match unit {
            "%" => Better::Neither,
            rate if rate.ends_with("/s") => Better::Higher,
            _ => Better::Lower,
        }
    }

    /// How much better `a` is than `b`, as a natural logarithm; above 0 where it is better, and 0 where
    /// neither way is.
    pub fn ahead(self, a: f64, b: f64) -> f64 {
        match self {
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
    fn a_name_says_its_unit_and_direction() {
        let of = |name| {
            let quantity = Quantity::named("w", name);
            (quantity.unit, quantity.better)
        };
        assert_eq!(of("mb_per_s"), ("MB/s".into(), Better::Higher));
        assert_eq!(of("elapsed_s"), ("s".into(), Better::Lower));
        assert_eq!(of("latency_p99_ms"), ("ms".into(), Better::Lower));
        assert_eq!(of("creates_per_s"), ("/s".into(), Better::Higher));
        assert_eq!(of("rebuilt_share"), (String::new(), Better::Higher));
        for diagnosis in [
            "busiest_share",
            "cpu_busy",
            "members_busy",
            "touch_cpu",
            "cpu_percent",
            "output_blocks",
            "commands_per_request",
            "hits_per_command",
            "tar_reads",
            "tar_waited_writes",
            "writes",
            "writes_per_file",
            "flushes",
            "fsck_inode_mib",
            "program_ms",
        ] {
            assert_eq!(of(diagnosis).1, Better::Neither, "{diagnosis}");
        }
        for fault in ["faults", "lost_writes", "underruns", "seek_ms", "fsck_cpu_s"] {
            assert_eq!(of(fault).1, Better::Lower, "{fault}");
        }
        assert_eq!(of("reads_per_s").1, Better::Higher);
        assert_eq!(
            ["rm_s", "rm_reads", "program_ms", "cpu_percent"].map(without_unit),
            ["rm", "rm_reads", "program", "cpu"]
        );
        let units = ["KiB/s", "/s", "s", "s/seek", "%"].map(Better::of_unit);
        assert_eq!(
            units,
            [Better::Higher, Better::Higher, Better::Lower, Better::Lower, Better::Neither]
        );
    }
}
