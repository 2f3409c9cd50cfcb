//! fio's `--output-format=json` and `json+`, of version 2 (µs) and 3 (ns).

use super::{Row, Table, json, row};
use crate::error::Result;
use crate::record::plain;
use crate::text::Source;
use serde_json::{Map, Value as Json};

/// Options that are factors where they differ between jobs.
const FACTORS: &[&str] =
    &["rw", "bs", "iodepth", "numjobs", "filename", "directory", "ioengine", "direct", "size"];

/// Whether it looks like it.
pub(super) fn looks(text: &str) -> bool {
    text.contains("\"fio version\"") && text.contains("\"jobs\"")
}

/// A row for each job and direction that moved bytes.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let document = json::object(source)?;
    let jobs = document.get("jobs").and_then(Json::as_array).ok_or_else(|| {
        let (line, column) = json::place(source.text, "{");
        let what = "no list `jobs`; run fio with --output-format=json";
        source.wrong_at(line, column, what)
    })?;
    let global = document.get("global options");
    let option = |job: &Json, name: &str| -> Option<Json> {
        let own = job.get("job options").and_then(|options| options.get(name));
        own.or_else(|| global?.get(name)).map(|value| Json::from(plain(value)))
    };
    let varied: Vec<&str> = FACTORS
        .iter()
        .copied()
        .filter(|name| jobs.windows(2).any(|two| option(&two[0], name) != option(&two[1], name)))
        .collect();
    let mut rows: Vec<(Option<u64>, Row)> = Vec::new();
    let mut warnings = Vec::new();
    for job in jobs {
        let group = job.get("groupid").and_then(Json::as_u64);
        let name = job.get("jobname").and_then(Json::as_str).unwrap_or("job");
        if job.get("error").and_then(Json::as_i64).unwrap_or(0) != 0 {
            warnings.push(format!("job `{name}` ended with an error; see fio's log"));
        }
        let mut at = Map::new();
        for factor in &varied {
            at.insert((*factor).into(), option(job, factor).unwrap_or_else(|| Json::from("")));
        }
        let moved: Vec<(&str, &Json)> = ["read", "write", "trim"]
            .into_iter()
            .filter_map(|way| Some((way, job.get(way)?)))
            .filter(|(_, part)| number(part, &["io_bytes"]).or(number(part, &["bw"])) > Some(0.0))
            .collect();
        for (way, part) in &moved {
            let workload = if moved.len() > 1 { format!("{name}-{way}") } else { name.to_string() };
            let found = direction(&workload, at.clone(), part).ok_or_else(|| {
                let (line, column) = json::place(source.text, &format!("\"{name}\""));
                let what = format!("job `{name}` has no bandwidth under `{way}`");
                source.wrong_at(line, column, &what)
            })?;
            let is_clone = |(other, row): &&mut (Option<u64>, Row)| {
                group.is_some() && *other == group && row.workload == workload && row.at == found.at
            };
            match rows.iter_mut().find(is_clone) {
                Some((_, row)) => {
                    add(row, &found);
                    let warning = format!(
                        "job `{name}` appears several times, in parallel: the rates are summed, and \
                         percentiles left out; run fio with --group_reporting to have those, too"
                    );
                    if !warnings.contains(&warning) {
                        warnings.push(warning);
                    }
                }
                None => rows.push((group, found)),
            }
        }
    }
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    Ok(Table { rows, warnings, ..Table::default() })
}

/// Adds what a clone of a job moved beside it (`numjobs` without `group_reporting`). The mean latency is
/// that of all their requests; no percentile follows from those of either.
fn add(row: &mut Row, clone: &Row) {
    let of = |row: &Row, name: &str| row.samples.get(name).and_then(Json::as_f64);
    let total = |row: &Row| Some(of(row, "latency_mean_ms")? * of(row, "requests_per_s")?);
    let totals = total(row).zip(total(clone)).map(|(a, b)| a + b);
    for name in ["mb_per_s", "requests_per_s"] {
        let sum = of(row, name).zip(of(clone, name)).map(|(a, b)| a + b);
        row.samples.extend(sum.map(|sum| (name.to_string(), Json::from(sum))));
    }
    let mean = totals.zip(of(row, "requests_per_s")).map(|(total, requests)| total / requests);
    row.samples.retain(|name, _| !name.starts_with("latency_"));
    row.samples.extend(mean.map(|mean| ("latency_mean_ms".to_string(), Json::from(mean))));
}

/// One direction of one job.
fn direction(workload: &str, at: Map<String, Json>, part: &Json) -> Option<Row> {
    let bytes_per_s =
        number(part, &["bw_bytes"]).or_else(|| Some(number(part, &["bw"])? * 1024.0))?;
    let mut samples = vec![("mb_per_s", bytes_per_s / 1e6)];
    samples.extend(number(part, &["iops"]).map(|iops| ("requests_per_s", iops)));
    // Version 3 says ns in the name; version 2 has µs.
    let latency = |path: &[&str]| {
        let of = |total: &str, each: f64| {
            let mut path = path.to_vec();
            path[0] = total;
            number(part, &path).map(|value| value * each)
        };
        let (ns, us) = if path[0] == "lat" { ("lat_ns", "lat") } else { ("clat_ns", "clat") };
        of(ns, 1e-6).or_else(|| of(us, 1e-3))
    };
    samples.extend(latency(&["lat", "mean"]).map(|ms| ("latency_mean_ms", ms)));
    for (name, percentile) in [
        ("latency_p50_ms", "50.000000"),
        ("latency_p99_ms", "99.000000"),
        ("latency_p999_ms", "99.900000"),
    ] {
        samples.extend(latency(&["clat", "percentile", percentile]).map(|ms| (name, ms)));
    }
    Some(row(workload, at, &samples))
}

fn number(part: &Json, path: &[&str]) -> Option<f64> {
    path.iter().try_fold(part, |value, key| value.get(key))?.as_f64()
}
