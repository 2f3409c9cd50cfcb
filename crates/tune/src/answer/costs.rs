//! What the answer costs where an objective asks for one figure alone: a layout that ties by that may be much faster otherwise.

use crate::question::candidate::Candidate;
use crate::search::trials::{Tried, is_at};
use store::quantity::Better;
use store::record::Record;
use verdict::Verdict;
use verdict::judge::Standing;
use verdict::stats::median;
use verdict::tables::slower;

/// The rate of each stream, and of all of them where there is one.
const RATE: &str = "requests_per_s";

/// So many times as fast is worth a line.
const WORTH_TIMES: f64 = 1.1;

/// How many times as fast a layout is, and in which stream; nothing in words is all that there is.
#[derive(Clone, Debug, PartialEq)]
struct Faster {
    stream: String,
    times: f64,
}

/// The stream in which `other` is most ahead of `own`, where that counts: above what models err by.
fn faster(own: &[Record], other: &[Record], model_error: f64) -> Option<Faster> {
    let names: Vec<&str> = own.first()?.samples.names().collect();
    let mut streams: Vec<&str> =
        names.iter().copied().filter(|name| name.ends_with(&format!(".{RATE}"))).collect();
    if streams.is_empty() {
        streams.extend(names.into_iter().filter(|name| *name == RATE));
    }
    let middle = |records: &[Record], name: &str| {
        let values: Vec<f64> = records.iter().filter_map(|of| of.sample(name)).collect();
        median(&values).filter(|value| *value > 0.0)
    };
    let times = streams.into_iter().filter_map(|name| {
        let times = middle(other, name)? / middle(own, name)?;
        let stream = name.strip_suffix(RATE)?.trim_end_matches('.').to_string();
        Some(Faster { stream, times })
    });
    let most = times.max_by(|a, b| a.times.total_cmp(&b.times))?;
    (most.times > WORTH_TIMES.max(1.0 + model_error)).then_some(most)
}

/// What the best costs against layouts of other levels that tie with it, where an objective was asked for.
pub(crate) fn line(
    tried: &Tried<'_>,
    best: &Candidate,
    verdict: &Verdict,
) -> Option<(String, String)> {
    tried.parted.objectives.first()?;
    let own = tried.of(best);
    let ties =
        verdict.ranked.iter().filter(|of| matches!(of.standing, Standing::Best | Standing::Tie));
    let ties = ties.filter_map(|ranked| {
        let is_it = |of: &&Candidate| is_at(of, &ranked.at) && of.level != best.level;
        let candidate = tried.candidates.iter().find(is_it)?;
        Some((candidate, faster(&own, &tried.of(candidate), verdict.noise.model_error)?))
    });
    let (candidate, Faster { stream, times }) =
        ties.max_by(|(_, a), (_, b)| a.times.total_cmp(&b.times))?;
    let what =
        if stream.is_empty() { "the requests".into() } else { format!("the requests of {stream}") };
    let how = slower(times, Better::Higher, "requests/s");
    let text = format!("{what} are {how} than on {}, which ties", candidate.name());
    Some(("costs".into(), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn records(samples: &[(&str, f64)]) -> Vec<Record> {
        let samples: serde_json::Map<_, _> =
            samples.iter().map(|(name, value)| ((*name).to_string(), json!(value))).collect();
        let record = json!({
            "trial": 0, "at": {}, "workload": "w", "repeat": 0, "samples": samples, "member_busy": [],
            "requests": 0, "latency_hdr": ""
        });
        vec![serde_json::from_value(record).unwrap()]
    }

    #[test]
    fn the_stream_that_is_most_behind_is_named() {
        let of = |pages, wal| {
            records(&[(RATE, 50.0), ("pages.requests_per_s", pages), ("wal.requests_per_s", wal)])
        };
        let own = of(70.0, 10.0);
        let found = faster(&own, &of(100.0, 11.5), 0.05).unwrap();
        assert_eq!((found.stream.as_str(), (found.times * 100.0).round()), ("pages", 143.0));
        assert_eq!(faster(&own, &of(74.0, 10.5), 0.05), None, "next to nothing");
        assert_eq!(faster(&own, &of(100.0, 10.0), 0.5), None, "models err by as much");
        let one = |rate| records(&[(RATE, rate)]);
        assert_eq!(faster(&one(10.0), &one(20.0), 0.1).map(|of| of.stream), Some(String::new()));
    }
}
