//! How many requests a work has in flight: those of all its jobs, and how it has another number of them.

use toml::Table;

/// What a workload has in flight: `depth` requests of each of its jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// Jobs side by side.
    pub(crate) jobs: u64,
    /// Requests of each.
    pub(crate) depth: u64,
}

impl InFlight {
    /// That of a workload's keys, each as text where it is stated.
    pub(crate) fn stated(jobs: Option<&str>, depth: Option<&str>) -> InFlight {
        let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(1);
        InFlight { jobs: number(jobs), depth: number(depth) }
    }

    /// That of a workload.
    pub(crate) fn of(work: &Table) -> InFlight {
        let text = |key: &str| Some(work.get(key)?.as_integer()?.to_string());
        InFlight::stated(text("jobs").as_deref(), text("depth").as_deref())
    }

    /// All of them.
    pub(crate) fn total(self) -> u64 {
        self.jobs * self.depth
    }

    /// As near to so many as whole jobs come. Fewer than there are jobs is one request of each of fewer jobs.
    pub(crate) fn with_total(self, total: u64) -> InFlight {
        let jobs = self.jobs.min(total).max(1);
        let depth = (total + jobs / 2) / jobs;
        InFlight { jobs, depth: depth.max(1) }
    }

    /// The keys that differ from those of `other`.
    pub(crate) fn keys_unlike(self, other: InFlight) -> Vec<(&'static str, u64)> {
        let keys = [("jobs", self.jobs, other.jobs), ("depth", self.depth, other.depth)];
        let differ = keys.into_iter().filter(|(_, own, of_other)| own != of_other);
        differ.map(|(key, own, _)| (key, own)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_than_the_jobs_are_fewer_jobs() {
        let eight = InFlight { jobs: 8, depth: 32 };
        let of = |total| {
            let InFlight { jobs, depth } = eight.with_total(total);
            (jobs, depth)
        };
        assert_eq!([1, 4, 8, 64].map(of), [(1, 1), (4, 1), (8, 1), (8, 8)]);
        let twelve = InFlight { jobs: 12, depth: 1 };
        assert_eq!([16, 64].map(|total| twelve.with_total(total).total()), [12, 60]);
        assert_eq!(eight.with_total(4).keys_unlike(eight), [("jobs", 4), ("depth", 1)]);
        assert_eq!(twelve.with_total(16).keys_unlike(twelve), []);
    }
}
