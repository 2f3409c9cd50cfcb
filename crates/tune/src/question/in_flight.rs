//! How many requests a work has in flight: those of all its jobs, and how it has another number of them.

use toml::{Table, Value};

/// How [`Doubt::what`] calls the requests in flight, of all jobs; `in flight for pages` where a log stands beside the pages.
pub(crate) const DEPTH: &str = "in flight";

/// The engine of which each program has one request in flight.
const ONE_EACH: &str = "psync";

/// What a workload has in flight: `depth` requests of each of its jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// Jobs side by side.
    pub(crate) jobs: u64,
    /// Requests of each.
    pub(crate) depth: u64,
    /// Programs of each that send them, where each program has one request in flight: as many are needed as requests.
    pub(crate) programs: Option<u64>,
}

impl InFlight {
    /// That of a workload whose keys are such text, where they are stated.
    pub(crate) fn stated(text: impl Fn(&str) -> Option<String>) -> InFlight {
        let number = |key: &str| text(key).and_then(|text| text.parse().ok()).unwrap_or(1);
        let is_one_each = text("engine").is_some_and(|engine| engine == ONE_EACH);
        InFlight {
            jobs: number("jobs"),
            depth: number("depth"),
            programs: is_one_each.then(|| number("programs")),
        }
    }

    /// That of a workload.
    pub(crate) fn of(work: &Table) -> InFlight {
        InFlight::stated(|key| match work.get(key)? {
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        })
    }

    /// All of them.
    pub(crate) fn total(self) -> u64 {
        self.jobs * self.depth
    }

    /// As near to so many as whole jobs come. Fewer than there are jobs is one request of each of fewer jobs.
    pub(crate) fn with_total(self, total: u64) -> InFlight {
        let jobs = self.jobs.min(total).max(1);
        let depth = (total + jobs / 2) / jobs;
        InFlight { jobs, ..self.with_depth(depth.max(1)) }
    }

    /// So many of each job.
    pub(crate) fn with_depth(self, depth: u64) -> InFlight {
        let programs = self.programs.map(|own| own.max(depth));
        InFlight { depth, programs, ..self }
    }

    /// The keys that differ from those of `other`.
    pub(crate) fn keys_unlike(self, other: InFlight) -> Vec<(&'static str, u64)> {
        let keys = [("jobs", self.jobs, other.jobs), ("depth", self.depth, other.depth)];
        let programs = self.programs.zip(other.programs).map(|(own, of)| ("programs", own, of));
        let differ = keys.into_iter().chain(programs).filter(|(_, own, of_other)| own != of_other);
        differ.map(|(key, own, _)| (key, own)).collect()
    }
}

/// The same of a stream that has others beside it.
pub(crate) fn in_flight_of(stream: Option<&str>) -> String {
    stream.map_or_else(|| DEPTH.into(), |stream| format!("{DEPTH} for {stream}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_than_the_jobs_are_fewer_jobs() {
        let eight = InFlight { jobs: 8, depth: 32, programs: None };
        let of = |total| {
            let InFlight { jobs, depth, .. } = eight.with_total(total);
            (jobs, depth)
        };
        assert_eq!([1, 4, 8, 64].map(of), [(1, 1), (4, 1), (8, 1), (8, 8)]);
        let twelve = InFlight { jobs: 12, depth: 1, programs: None };
        assert_eq!([16, 64].map(|total| twelve.with_total(total).total()), [12, 60]);
        assert_eq!(eight.with_total(4).keys_unlike(eight), [("jobs", 4), ("depth", 1)]);
        assert_eq!(twelve.with_total(16).keys_unlike(twelve), []);
    }

    /// A program that uses psync has one request in flight, so more of them are more programs.
    #[test]
    fn what_has_one_each_has_more_programs() {
        let work: Table = "engine = 'psync'\njobs = 8".parse().unwrap();
        let eight = InFlight::of(&work);
        let keys = |total| eight.with_total(total).keys_unlike(eight);
        assert_eq!(keys(64), [("depth", 8), ("programs", 8)]);
        assert_eq!(keys(1), [("jobs", 1)]);
    }
}
