//! Percentiles as fio wrote them, or out of the bins of `json+`.

use super::Figures;
use crate::error::Result;

/// The percentiles of a sample, and how fio names them.
const PERCENTS: [(f64, &str); 3] = [(50.0, "50.000000"), (99.0, "99.000000"), (99.9, "99.900000")];

/// How many requests took how many ms, in order.
pub(super) type Bins = Vec<(f64, f64)>;

/// The percentiles of requests of all these bins; none where some are missing.
pub(super) fn of_all<'b>(all: impl Iterator<Item = &'b [(f64, f64)]>) -> [Option<f64>; 3] {
    let mut joined = Vec::new();
    for bins in all {
        if bins.is_empty() {
            return [None; 3];
        }
        joined.extend_from_slice(bins);
    }
    joined.sort_by(|a, b| a.0.total_cmp(&b.0));
    PERCENTS.map(|(percent, _)| of(&joined, percent))
}

/// As fio counts: the first bin up to which there are so many of a hundred. Bins are in order.
fn of(bins: &[(f64, f64)], percent: f64) -> Option<f64> {
    let wanted = bins.iter().map(|bin| bin.1).sum::<f64>() * percent / 100.0;
    let mut so_far = 0.0;
    let reached = bins.iter().find(|(_, count)| {
        so_far += count;
        so_far >= wanted
    });
    reached.map(|bin| bin.0)
}

impl Figures<'_> {
    /// The percentiles of a direction in ms, and the bins that they are of, if it has them. With `lat_percentiles` fio has
    /// those of the whole latency, and perhaps no others.
    pub(super) fn percentiles(&self) -> Result<([Option<f64>; 3], Bins)> {
        let totals = ["clat", "lat"];
        let has_bins = |total: &&&str| !self.bins(total).is_empty();
        let bins = totals.iter().find(has_bins).map_or_else(Vec::new, |total| self.bins(total));
        let mut percentiles_ms = [None; 3];
        for (ms, (percent, name)) in percentiles_ms.iter_mut().zip(PERCENTS) {
            for total in totals {
                *ms =
                    if ms.is_some() { *ms } else { self.latency_ms(total, &["percentile", name])? };
            }
            *ms = ms.or_else(|| of(&bins, percent));
        }
        Ok((percentiles_ms, bins))
    }

    /// How many requests took how many ms, in order. fio calls a bin by the ns in its middle, which its own percentiles
    /// are, too.
    fn bins(&self, total: &str) -> Bins {
        let bins = self.part.get(format!("{total}_ns")).and_then(|all| all.get("bins"));
        let bins = bins.and_then(serde_json::Value::as_object).into_iter().flatten();
        let bin = |(ns, count): (&String, &serde_json::Value)| {
            let (ns, count) = (ns.parse::<f64>().ok()?, count.as_f64()?);
            (ns >= 0.0 && count > 0.0).then_some((ns * 1e-6, count))
        };
        let mut bins: Bins = bins.filter_map(bin).collect();
        bins.sort_by(|a, b| a.0.total_cmp(&b.0));
        bins
    }
}

#[cfg(test)]
mod tests {
    use crate::import::parse;

    /// A job of fio's with these percentiles and bins, in json+.
    fn job(way: &str, latency: &str) -> String {
        format!(
            r#""{way}":{{"io_bytes":409600,"bw_bytes":4096000,"iops":1000.0,"total_ios":100,{latency}}}"#
        )
    }

    fn run(ways: &str) -> String {
        format!(
            r#"{{"fio version":"fio-3.33","jobs":[{{"jobname":"a","groupid":0,"error":0,"job options":{{"rw":"randrw","direct":"1"}},{ways}}}]}}"#
        )
    }

    /// With another `percentile_list` there is no p99 but in the bins.
    #[test]
    fn bins_have_the_percentiles_that_are_not_listed() {
        let latency = r#""clat_ns":{"percentile":{"50.000000":100},"bins":{"5000000":1,"1000000":90,"2000000":9}}"#;
        let table = parse("f.json", &run(&job("read", latency)), None).unwrap();
        let of = |name: &str| table.rows[0].samples.get(name).and_then(serde_json::Value::as_f64);
        let of = |name: &str| of(name).map(|ms| (ms * 1e4).round());
        assert_eq!(of("latency_p50_ms"), Some(1.0), "as fio wrote it");
        assert_eq!((of("latency_p99_ms"), of("latency_p999_ms")), (Some(2e4), Some(5e4)));
    }

    /// No percentile of both follows from those of each, but from their bins.
    #[test]
    fn bins_of_both_directions_are_those_of_all_requests() {
        let reads = job("read", r#""clat_ns":{"bins":{"1000000":99}}"#);
        let writes = job("write", r#""clat_ns":{"bins":{"3000000":99,"9000000":2}}"#);
        let table = parse("f.json", &run(&format!("{reads},{writes}")), None).unwrap();
        let of = |name: &str| table.rows[0].samples.get(name).and_then(serde_json::Value::as_f64);
        assert_eq!((of("latency_p50_ms"), of("latency_p99_ms")), (Some(3.0), Some(3.0)));
        assert_eq!((of("latency_p999_ms"), of("read_p99_ms")), (Some(9.0), Some(1.0)));
        let writes = job("write", r#""clat_ns":{"mean":1.0}"#);
        let table = parse("f.json", &run(&format!("{reads},{writes}")), None).unwrap();
        assert!(!table.rows[0].samples.contains_key("latency_p99_ms"));
    }

    /// It was ranked by what it moved before, beside a warning.
    #[test]
    fn a_job_that_ended_with_an_error_is_named_and_not_ranked() {
        let of = |name: &str, error: u32| {
            let way = job("read", r#""clat_ns":{"mean":1.0}"#);
            format!(r#"{{"jobname":"{name}","groupid":0,"error":{error},{way}}}"#)
        };
        // A clone of what failed is not all of it.
        let jobs = [of("good", 0), of("bad", 5), of("bad", 0)].join(",");
        let text = format!(r#"{{"fio version":"fio-3.33","jobs":[{jobs}]}}"#);
        let table = parse("f.json", &text, None).unwrap();
        let ranked: Vec<&str> = table.rows.iter().map(|row| row.workload.as_str()).collect();
        assert_eq!(ranked, ["good"]);
        let said = &table.warnings[0];
        assert!(said.starts_with("job `bad` was left out: it ended with the error 5"), "{said}");
        let text = format!(r#"{{"fio version":"fio-3.33","jobs":[{}]}}"#, of("bad", 5));
        let none = parse("f.json", &text, None).unwrap_err().to_string();
        assert!(none.contains("job `bad` was left out"), "{none}");
    }
}
