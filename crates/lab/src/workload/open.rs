//! Requests that come by the clock: when, where to, and how many are wanted of them at which latency.

use super::requests::{Op, RequestKeys, Requests};
use crate::error::{Error, Result};
use crate::keys::{FromValue, Section, Takes, Value, words};
use block::{SECTOR_BYTES, units};
use sim::workload::{Pattern, Skew};
use sim::{StreamOutcome, latency};

words! {
    /// When requests come.
    pub enum Arrivals {
        /// When earlier ones are done.
        Closed = "closed",
        /// At equal distances.
        Fixed = "fixed",
        /// At random, as of many users.
        Poisson = "poisson",
    }
}

impl Arrivals {
    /// The same for the simulator.
    pub(super) fn modelled(self) -> sim::workload::Arrivals {
        match self {
            Arrivals::Closed => sim::workload::Arrivals::Closed,
            Arrivals::Fixed => sim::workload::Arrivals::Fixed,
            Arrivals::Poisson => sim::workload::Arrivals::Poisson,
        }
    }
}

/// Where random requests go, as a key says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access(pub Skew);

impl Access {
    /// What the key takes.
    pub const TAKES: Takes = Takes::Form {
        expects: "uniform, or zipf and an exponent as in \"zipf:1.1\", or fio's pareto as in \"pareto:0.2\", or zones of requests and range in percent as in \
                  \"zones:80/20:20/80\"",
        read: |text| Access::parse(text).map(|_| text.trim().to_string()),
    };

    fn parse(text: &str) -> Result<Skew> {
        let wrong = || {
            Error::input(format!(
                "`{text}` is not uniform, zipf:EXPONENT with 0.01 to 10, pareto:H with 0.001 to 0.999, or zones:REQUESTS/RANGE:… with percentages that \
                 each sum to 100; write it as `zipf:1.1` or `zones:80/20:20/80`"
            ))
        };
        match text.trim().split_once(':') {
            None if text.trim() == "uniform" => Ok(Skew::Uniform),
            Some(("zipf", exponent)) => {
                let exponent: f64 = exponent.trim().parse().map_err(|_| wrong())?;
                let is_possible = (0.01..=10.0).contains(&exponent);
                is_possible
                    .then(|| Skew::Zipf((exponent * 1000.0).round() as u32))
                    .ok_or_else(wrong)
            }
            Some(("pareto", share)) => {
                let share: f64 = share.trim().parse().map_err(|_| wrong())?;
                (0.001..=0.999)
                    .contains(&share)
                    .then(|| Skew::Pareto((share * 1000.0).round() as u32))
                    .ok_or_else(wrong)
            }
            Some(("zones", zones)) => {
                let zone = |zone: &str| {
                    let (requests, range) = zone.split_once('/')?;
                    Some((requests.trim().parse().ok()?, range.trim().parse().ok()?))
                };
                let zones: Option<Vec<(u32, u32)>> = zones.split(':').map(zone).collect();
                let zones = zones.ok_or_else(wrong)?;
                let sum = |of: fn(&(u32, u32)) -> u32| {
                    zones.iter().map(of).try_fold(0_u32, u32::checked_add)
                };
                let is_whole = sum(|zone| zone.0) == Some(100) && sum(|zone| zone.1) == Some(100);
                is_whole.then_some(Skew::Zones(zones)).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }
}

impl FromValue for Access {
    fn from_value(value: &Value) -> Option<Self> {
        Access::parse(&value.to_string()).ok().map(Access)
    }
}

/// A latency that no more than a share of the requests may exceed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Whose latency.
    of: Whose,
    /// At this quantile, in thousandths; none for the mean.
    thousandths: Option<u32>,
    /// No longer than this.
    limit_ns: u64,
}

/// Whose latency is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Requests,
    Reads,
    Writes,
    Commits,
}

impl Capacity {
    /// What the key takes.
    pub const TAKES: Takes = Takes::Form {
        expects: "a latency and its limit, as in \"p99 <= 2ms\", \"read p99.9 <= 10ms\" or \"commit mean <= 500us\"",
        read: |text| Capacity::parse(text).map(|_| text.trim().to_string()),
    };

    fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            Error::input(format!(
                "`{text}` is not a latency and its limit; write `p99 <= 2ms`, with p50, p90, p95, p99, p99.9 or mean, and \
                 read, write or commit before it where only those count"
            ))
        };
        // The whole question, as people say it, means the same.
        let limit = text.trim();
        let limit = limit.strip_prefix("max requests_per_s subject to ").unwrap_or(limit);
        let (latency, limit) = limit.split_once("<=").ok_or_else(wrong)?;
        let words: Vec<&str> = latency.split_whitespace().collect();
        let (of, quantile) = match words.as_slice() {
            [quantile] => (Whose::Requests, *quantile),
            ["read", quantile] => (Whose::Reads, *quantile),
            ["write", quantile] => (Whose::Writes, *quantile),
            ["commit", quantile] => (Whose::Commits, *quantile),
            _ => return Err(wrong()),
        };
        let thousandths = match quantile {
            "mean" => None,
            "p50" => Some(500),
            "p90" => Some(900),
            "p95" => Some(950),
            "p99" => Some(990),
            "p99.9" | "p999" => Some(999),
            _ => return Err(wrong()),
        };
        let limit_ns =
            units::parse_nanos(limit.trim()).map_err(|error| wrong().followed_by(error))?;
        let is_possible = (1..=3_600_000_000_000).contains(&limit_ns);
        is_possible.then_some(Capacity { of, thousandths, limit_ns }).ok_or_else(wrong)
    }

    /// The latency of a stream that is limited, in ns, and the limit; none where there was no such request.
    pub fn held(&self, stream: &StreamOutcome) -> Option<(f64, u64)> {
        let [reads, writes] = &stream.directions;
        let all;
        let latencies = match self.of {
            Whose::Reads => &reads.latency_ns,
            Whose::Writes => &writes.latency_ns,
            Whose::Commits => &stream.commit_ns,
            Whose::Requests => {
                all = latency::of_both(&reads.latency_ns, &writes.latency_ns);
                &all
            }
        };
        let at =
            |thousandths| latency::quantile_ns(latencies, f64::from(thousandths) / 1000.0) as f64;
        (!latencies.is_empty()).then(|| {
            (self.thousandths.map_or_else(|| latency::mean_ns(latencies), at), self.limit_ns)
        })
    }
}

impl FromValue for Capacity {
    fn from_value(value: &Value) -> Option<Self> {
        Capacity::parse(&value.to_string()).ok()
    }
}

impl Requests {
    /// Whether its requests come by the clock, whether or not earlier ones are done.
    pub fn is_open(&self) -> bool {
        self.keys.arrivals != Arrivals::Closed
    }

    /// Whether requests wait for each other, and come no faster than at a rate.
    pub fn is_limited(&self) -> bool {
        !self.is_open() && self.keys.bytes_per_s.or(self.keys.requests_per_s).is_some()
    }

    /// Whether its requests are writes to the page cache that come at a rate: no program waits until they are on the volume.
    pub fn is_unwaited(&self) -> bool {
        let is_cached = !self.keys.direct && self.keys.flush_every.is_none();
        self.is_limited() && is_cached && !self.reads()
    }

    /// Whether it makes commits: writes, and then a flush for which it waits. With several in flight in a closed loop a flush does
    /// not wait for its writes, and says nothing of when these are durable.
    pub fn commits(&self) -> bool {
        let waits = self.is_open() || self.keys.depth == 1;
        self.keys.flush_every.is_some() && self.writes() && waits
    }

    /// Whether `op` and `reads_percent`, where both are there, say the same.
    ///
    /// # Errors
    ///
    /// Where they do not.
    pub(super) fn check_op(keys: &RequestKeys, section: &Section<'_>) -> Result<()> {
        let share = if keys.op == Op::Read { 100 } else { 0 };
        if section.sets("op") && keys.reads_percent.is_some_and(|percent| percent != share) {
            let path = section.path("reads_percent");
            let why = "say different things of the requests; remove one of them";
            return Err(Error::input(format!("`{path}` and `op` {why}")));
        }
        Ok(())
    }

    /// More programs than requests in flight: the others would have none.
    pub(crate) fn idle_programs(&self) -> Option<[u64; 2]> {
        let RequestKeys { programs, depth, .. } = self.keys;
        (!self.is_open() && programs > depth).then_some([programs, depth])
    }

    /// Whether what its keys say makes sense together.
    ///
    /// # Errors
    ///
    /// Where it does not; the message names the keys.
    pub(super) fn check(keys: &RequestKeys, section: &Section<'_>, pattern: Pattern) -> Result<()> {
        let wrong =
            |key: &str, why: &str| Err(Error::input(format!("`{}` {why}", section.path(key))));
        if section.sets("span") && section.sets("span_percent") {
            return wrong(
                "span_percent",
                "and `span` both say how much is used; remove one of them",
            );
        }
        let of_random = ["access", "in_a_row"].into_iter().find(|key| section.sets(key));
        if let Some(key) = of_random.filter(|_| pattern != Pattern::Random) {
            let next = "is for random requests; take `kind = \"random\"`, or leave it out";
            return wrong(key, next);
        }
        for (key, share) in [("offset", "offset_percent"), ("job_step", "job_step_percent")] {
            if section.sets(key) && section.sets(share) {
                let why = format!("and `{key}` both say where it is; remove one of them");
                return wrong(share, &why);
            }
        }
        if keys.arrivals == Arrivals::Closed {
            if let Some(key) =
                ["burst", "capacity", "group_commit"].into_iter().find(|key| section.sets(key))
            {
                return wrong(
                    key,
                    "is for requests that come by the clock; set `arrivals = \"poisson\"`, too",
                );
            }
            return Ok(());
        }
        if let Some(rate) = keys.bytes_per_s.filter(|_| section.sets("rate")) {
            let each = keys.block_sectors * SECTOR_BYTES;
            let next = match keys.requests_per_s {
                Some(_) => "leave it out, as there is `requests_per_s`".into(),
                None if keys.sizes.is_some() => "write `requests_per_s` instead".into(),
                None => format!("write `requests_per_s = {}` instead", (rate / each).max(1)),
            };
            let why = format!(
                "is in bytes a second, and requests that come by `arrivals` are counted; {next}"
            );
            return wrong("rate", &why);
        }
        let idle = ["depth", "think", "think_every", "engine"];
        if let Some(key) = idle.into_iter().find(|key| section.sets(key)) {
            let next = "has no effect where requests come by the clock (`arrivals`); leave it out";
            return wrong(key, next);
        }
        if !keys.direct {
            return wrong(
                "direct",
                "= false writes back what is in memory, and nothing comes by the clock; leave out one of both",
            );
        }
        if keys.requests_per_s.is_none() && keys.capacity.is_none() {
            let next =
                "needs to know how many come: set `requests_per_s`, or `capacity` to look for it";
            return wrong("arrivals", next);
        }
        if keys.capacity.as_ref().is_some_and(|c| c.of == Whose::Commits)
            && keys.flush_every.is_none()
        {
            return wrong("capacity", "limits commits, and there are none; set `flush_every`, too");
        }
        if keys.group_commit && keys.flush_every.is_none() {
            return wrong("group_commit", "has nothing to flush; set `flush_every = 1`, too");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    /// It was said to have no effect.
    #[test]
    fn a_rate_in_bytes_names_the_rate_of_requests() {
        let refused = |more: &str| {
            let text = format!(
                "[volume]\ndrives = '2xwd740gd'\n[workload.w]\nkind = 'random'\narrivals = 'poisson'\nrate = '200MB/s'\n{more}"
            );
            Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap_err().to_string()
        };
        assert!(refused("").contains("write `requests_per_s = 3051` instead"), "{}", refused(""));
        assert!(refused("sizes = '4KiB/1:8KiB/1'").ends_with("write `requests_per_s` instead"));
        assert!(refused("requests_per_s = 9").contains("leave it out, as there is"));
    }

    #[test]
    fn accesses_and_capacities_are_read() {
        assert_eq!(Access::parse("uniform").unwrap(), Skew::Uniform);
        assert_eq!(Access::parse("zipf:1.25").unwrap(), Skew::Zipf(1250));
        assert_eq!(Access::parse("pareto:0.2").unwrap(), Skew::Pareto(200));
        assert!(Access::parse("pareto:1").unwrap_err().to_string().contains("pareto:H"));
        assert_eq!(
            Access::parse("zones:80/20:20/80").unwrap(),
            Skew::Zones(vec![(80, 20), (20, 80)])
        );
        for bad in
            ["zipf", "zipf:", "zipf:0", "zipf:nan", "zones:80/20", "zones:60/50:50/50", "pareto:0"]
        {
            assert!(Access::parse(bad).unwrap_err().to_string().contains("zipf:1.1"), "{bad}");
        }
        let whole = Capacity::parse("max requests_per_s subject to p99 <= 2ms").unwrap();
        assert_eq!(whole, Capacity::parse("p99<=2000us").unwrap());
        assert_eq!(
            whole,
            Capacity { of: Whose::Requests, thousandths: Some(990), limit_ns: 2_000_000 }
        );
        assert_eq!(Capacity::parse("commit p99.9 <= 10ms").unwrap().of, Whose::Commits);
        for bad in ["p99", "p98 <= 1ms", "p99 >= 1ms", "log p99 <= 1ms", "p99 <= 0", "p99 <= 2"] {
            let said = Capacity::parse(bad);
            assert!(bad == "p99 <= 2" || said.is_err(), "{bad}");
        }
    }
}
