//! fio's `--output-format=json` and `json+`, of version 2 (µs) and 3 (ns).
//!
//! A job is a workload. Clones of a job (`numjobs` without `group_reporting`) ran side by side and are one.

mod doubts;
mod percentiles;
mod syncs;

use super::{Row, Table, json};
use crate::error::Result;
use crate::experiment::find;
use crate::keys::Written;
use crate::record::plain;
use crate::text::Source;
use serde_json::{Map, Value as Json};
use store::factor::{FactorKind, Role};
use store::sample::{self, Sample};

/// What an option becomes where a job has several values of it.
#[derive(Clone, Copy)]
enum Becomes {
    /// This key of the workload.
    Key(&'static str),
    /// A factor of the option's own name, with this role.
    Own(Role),
}

use Becomes::{Key, Own};

/// Options that tell cells apart.
const OPTIONS: &[(&str, Becomes)] = &[
    ("rw", Own(Role::Load)),
    ("bs", Key("block")),
    ("iodepth", Key("depth")),
    ("numjobs", Key("jobs")),
    ("size", Own(Role::Load)),
    ("ioengine", Own(Role::Condition)),
    ("direct", Own(Role::Condition)),
    ("filename", Own(Role::Choice)),
    ("directory", Own(Role::Choice)),
];

/// Options that say where a job's files were: between runs they differ with the layout or by chance, and
/// tell cells apart in one run only.
const PLACES: [&str; 2] = ["filename", "directory"];

/// The lists of jobs: that of a run on this machine, and that of `--client`.
const JOBS: &str = "jobs";
const CLIENTS: &str = "client_stats";

/// All directions of a job as one, as `unified_rw_reporting` has them.
const MIXED: &str = "mixed";

/// What a job may have moved.
const DIRECTIONS: [&str; 4] = ["read", "write", "trim", MIXED];

/// Whether it looks like it.
pub(super) fn looks(text: &str) -> bool {
    text.contains("\"fio version\"")
        && [JOBS, CLIENTS].iter().any(|list| text.contains(&format!("\"{list}\"")))
}

/// A row for each job of each run that moved bytes.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let mut table = Table::default();
    let mut runs = json::objects(source)?;
    let written = runs.len();
    runs.dedup_by(|later, earlier| {
        let is_state = is_state_of(earlier, later);
        if is_state {
            std::mem::swap(later, earlier);
        }
        is_state
    });
    if runs.len() < written {
        table.warnings.push(format!(
            "{}: {} of {written} results were left out: states of a run that went on, as `--status-interval` \
             writes them",
            source.label,
            written - runs.len()
        ));
    }
    for run in &runs {
        add_run(source, run, &mut table)?;
    }
    for (name, becomes) in OPTIONS {
        if let Own(role) = *becomes {
            let kind = FactorKind { role, ..FactorKind::default() };
            table.factors.0.insert((*name).into(), kind);
        }
    }
    table.keep_options(|path| !PLACES.contains(&path));
    Ok(table)
}

/// The jobs of a run, of all its clients where it has such. fio's own sum over those is left out.
fn jobs(run: &Json) -> Option<Vec<&Json>> {
    let list = |name: &str| run.get(name).and_then(Json::as_array);
    let is_sum = |job: &&Json| job.get("jobname").and_then(Json::as_str) == Some("All clients");
    let of_clients = || Some(list(CLIENTS)?.iter().filter(|job| !is_sum(job)).collect());
    list(JOBS).map(|jobs| jobs.iter().collect()).or_else(of_clients)
}

/// Whether `earlier` says how far the run of `later` had come: the same jobs since the same time, which have moved
/// more since.
fn is_state_of(earlier: &Json, later: &Json) -> bool {
    let figures = |run: &Json| {
        let jobs = jobs(run)?;
        let names: Vec<String> =
            jobs.iter().map(|job| job.get("jobname").map_or_else(String::new, plain)).collect();
        let all = |name: &'static str| {
            let ways =
                jobs.iter().flat_map(|job| DIRECTIONS.iter().filter_map(|way| job.get(*way)));
            ways.filter_map(move |way| way.get(name)?.as_f64()).collect::<Vec<f64>>()
        };
        let lasted_ms = all("runtime").into_iter().fold(0.0, f64::max);
        let number = |name: &str| run.get(name).and_then(Json::as_f64);
        // Whole seconds are cut off.
        let (at_ms, error_ms) = match number("timestamp_ms") {
            Some(ms) => (ms, 100.0),
            None => (number("timestamp")? * 1e3, 1000.0),
        };
        Some((names, at_ms - lasted_ms, error_ms, all("io_bytes").iter().sum::<f64>()))
    };
    let Some((earlier, later)) = figures(earlier).zip(figures(later)) else { return false };
    let apart_ms = (earlier.1 - later.1).abs();
    earlier.0 == later.0 && apart_ms <= later.2 && earlier.3 <= later.3
}

/// Adds a row for each job of a run.
fn add_run(source: Source<'_>, run: &Json, table: &mut Table) -> Result<()> {
    let jobs = jobs(run).ok_or_else(|| {
        let (line, column) = json::place(source.text, "{");
        let what = "no list `jobs`; run fio with --output-format=json";
        source.wrong_at(line, column, what)
    })?;
    let global = run.get("global options");
    let earlier = table.rows.len();
    let mut groups: Vec<Option<u64>> = Vec::new();
    let failed: Vec<_> =
        jobs.iter().filter(|job| error_of(job).is_some()).map(|job| who(job)).collect();
    let mut told = Vec::new();
    for job in jobs {
        let (name, _) = who(job);
        if let Some(error) = error_of(job).filter(|_| !told.contains(&who(job))) {
            told.push(who(job));
            table.warnings.push(format!(
                "job `{name}` was left out: it ended with the error {error}, and what it moved before is no rate; see fio's log"
            ));
        }
        // What its clones moved is a part of it.
        if failed.contains(&who(job)) {
            continue;
        }
        let Some(samples) = measured(source, name, job, global)? else { continue };
        for doubt in doubts::of(name, job, global) {
            if !table.warnings.contains(&doubt) {
                table.warnings.push(doubt);
            }
        }
        let row =
            Row { options: options(name, job, global), ..super::row(name, Map::new(), &samples) };
        let group = job.get("groupid").and_then(Json::as_u64);
        let is_clone = |(of, other): &(&Option<u64>, &mut Row)| {
            let same = other.workload == row.workload && other.options == row.options;
            same && group.is_some() && **of == group
        };
        match groups.iter().zip(&mut table.rows[earlier..]).find(is_clone) {
            Some((_, first)) => {
                add(first, &row);
                let warning = clones(name, job.get("hostname").is_some());
                if !table.warnings.contains(&warning) {
                    table.warnings.push(warning);
                }
            }
            None => {
                table.rows.push(row);
                groups.push(group);
            }
        }
    }
    Ok(())
}

/// A job's name and its group.
fn who(job: &Json) -> (&str, Option<u64>) {
    let name = job.get("jobname").and_then(Json::as_str).unwrap_or("job");
    (name, job.get("groupid").and_then(Json::as_u64))
}

/// The error with which it ended: its number, and what the kernel means by it.
fn error_of(job: &Json) -> Option<String> {
    let number = job.get("error").and_then(Json::as_i64).filter(|error| *error != 0)?;
    let known = i32::try_from(number).ok().map(std::io::Error::from_raw_os_error);
    // Its text ends with the number again.
    let word = known.map(|known| known.to_string().replace(&format!(" (os error {number})"), ""));
    Some(word.map_or_else(|| number.to_string(), |word| format!("{number} ({word})")))
}

/// What is said of a job that appears several times.
fn clones(name: &str, are_clients: bool) -> String {
    let next = if are_clients {
        "as its clients are several"
    } else {
        "run fio with --group_reporting to have those, too"
    };
    format!(
        "job `{name}` appears several times, in parallel: the rates are summed, and percentiles left out; {next}"
    )
}

/// The samples of the only job of fio's output.
///
/// # Errors
///
/// Where that is not what it is.
pub(crate) fn samples(text: &str) -> Result<Map<String, Json>> {
    // Warnings of fio's may stand in front.
    let text = &text[text.find('{').unwrap_or(0)..];
    let table = parse(Source { label: "fio's output", text })?;
    let only = table.rows.into_iter().next();
    only.map(|row| row.samples).ok_or_else(|| {
        crate::Error::failure(format!("fio measured nothing: {}", table.warnings.join("; ")))
    })
}

/// What a job has as an option, by itself or from `[global]`.
fn option(job: &Json, global: Option<&Json>, name: &str) -> Option<String> {
    let own = job.get("job options").and_then(|options| options.get(name));
    own.or_else(|| global?.get(name)).map(plain)
}

/// The options of a job that may tell its cells apart, as the keys of experiments where there are such.
fn options(workload: &str, job: &Json, global: Option<&Json>) -> Map<String, Json> {
    let of = |name: &str| self::option(job, global, name).unwrap_or_default();
    let option = |&(name, becomes): &(&str, Becomes)| match becomes {
        Key(key) => (format!("workload.{workload}.{key}"), value(key, &of(name))),
        Own(_) => (name.into(), Json::from(of(name))),
    };
    OPTIONS.iter().map(option).collect()
}

/// A value as this key of a workload has it, and as fio does where that is another kind of value.
fn value(key: &str, text: &str) -> Json {
    // To fio a bare number is one of bytes.
    let sized = if key == "block" && text.parse::<u64>().is_ok() {
        format!("{text}B")
    } else {
        text.into()
    };
    let read =
        find(&format!("workload.any.{key}")).and_then(|key| key.takes.read(&Written::Bare(sized)));
    read.ok().and_then(|value| serde_json::to_value(value).ok()).unwrap_or_else(|| Json::from(text))
}

/// What one direction of a job did.
struct Direction {
    name: &'static str,
    bytes_per_s: f64,
    requests_per_s: Option<f64>,
    requests: Option<f64>,
    mean_ms: Option<f64>,
    max_ms: Option<f64>,
    percentiles_ms: [Option<f64>; 3],
    /// How many requests took how many ms, where fio wrote that (`json+`).
    bins: percentiles::Bins,
    /// Standard deviation, lowest, highest and number of the rates over time, in bytes per second.
    over_time: Option<[f64; 4]>,
}

/// The samples of a job; `None` where it moved nothing.
fn measured(
    source: Source<'_>,
    job: &str,
    all: &Json,
    global: Option<&Json>,
) -> Result<Option<Vec<(&'static str, f64)>>> {
    let mut moved = Vec::new();
    for name in DIRECTIONS {
        let Some(part) = all.get(name) else { continue };
        if name == "read" && doubts::reads_to_verify(all, global) {
            continue;
        }
        // Of all ways together, which `unified_rw_reporting=both` has beside them.
        if name == MIXED && !moved.is_empty() {
            continue;
        }
        let figures = Figures { source, job, name, part };
        if figures.number(&["io_bytes"])?.or(figures.number(&["bw"])?) > Some(0.0) {
            moved.push(figures.direction()?);
        }
    }
    let Some(first) = moved.first() else { return Ok(None) };
    let sum = |of: &dyn Fn(&Direction) -> Option<f64>| moved.iter().map(of).sum::<Option<f64>>();
    let requests_per_s = sum(&|way| way.requests_per_s);
    let mut samples = vec![("mb_per_s", sum(&|way| Some(way.bytes_per_s / 1e6)).unwrap_or(0.0))];
    let mut add = |name, value: Option<f64>| samples.extend(value.map(|value| (name, value)));
    add("requests_per_s", requests_per_s);
    let total_ms = sum(&|way| Some(way.mean_ms? * way.requests_per_s?));
    let mean_ms = total_ms.zip(requests_per_s).map(|(total, requests)| total / requests);
    add("latency_mean_ms", if moved.len() == 1 { first.mean_ms } else { mean_ms });
    let max_ms = moved.iter().map(|way| way.max_ms);
    add(
        "latency_max_ms",
        max_ms.collect::<Option<Vec<f64>>>().map(|all| all.into_iter().fold(0.0, f64::max)),
    );
    let percentiles_ms = match moved.as_slice() {
        [only] => only.percentiles_ms,
        several => percentiles::of_all(several.iter().map(|way| way.bins.as_slice())),
    };
    let names = ["latency_p50_ms", "latency_p99_ms", "latency_p999_ms"];
    for (name, ms) in names.into_iter().zip(percentiles_ms) {
        add(name, ms);
    }
    for (name, value) in over_time(&moved) {
        add(name, Some(value));
    }
    if moved.len() > 1 {
        for way in &moved {
            way.samples(&mut add);
        }
    }
    for (name, value) in syncs::samples(source, (job, all, global), &moved)? {
        add(name, Some(value));
    }
    Ok(Some(samples))
}

/// How the rate varied. Of several directions the sums: a deviation of the sum is at most the sum of the
/// deviations, and neither extreme is beyond that of the extremes.
fn over_time(moved: &[Direction]) -> Vec<(&'static str, f64)> {
    let Some(all) = moved.iter().map(|way| way.over_time).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let sum = |place: usize| all.iter().map(|figures| figures[place]).sum::<f64>() / 1e6;
    let fewest = all.iter().map(|figures| figures[3]).fold(f64::INFINITY, f64::min);
    vec![
        ("sd_mb_per_s", sum(0)),
        ("low_mb_per_s", sum(1)),
        ("high_mb_per_s", sum(2)),
        ("rates", fewest),
    ]
}

impl Direction {
    /// Its own samples beside those of the other direction.
    fn samples(&self, add: &mut impl FnMut(&'static str, Option<f64>)) {
        let names = match self.name {
            "read" => [
                "read_mb_per_s",
                "reads_per_s",
                "read_mean_ms",
                "read_p50_ms",
                "read_p99_ms",
                "read_p999_ms",
            ],
            "write" => [
                "write_mb_per_s",
                "writes_per_s",
                "write_mean_ms",
                "write_p50_ms",
                "write_p99_ms",
                "write_p999_ms",
            ],
            // No workload of ileave's trims.
            _ => return,
        };
        let [p50, p99, p999] = self.percentiles_ms;
        let values =
            [Some(self.bytes_per_s / 1e6), self.requests_per_s, self.mean_ms, p50, p99, p999];
        for (name, value) in names.into_iter().zip(values) {
            add(name, value);
        }
    }
}

/// The figures of one direction of a job.
struct Figures<'a> {
    source: Source<'a>,
    job: &'a str,
    name: &'static str,
    part: &'a Json,
}

impl Figures<'_> {
    fn direction(&self) -> Result<Direction> {
        let in_kib = |name: &str| Ok(self.number(&[name])?.map(|kib| kib * 1024.0));
        let bytes_per_s = match self.number(&["bw_bytes"])? {
            Some(bytes) => Some(bytes),
            None => in_kib("bw")?,
        };
        let bytes_per_s = bytes_per_s.ok_or_else(|| self.wrong("bw_bytes", "is not there"))?;
        let (percentiles_ms, bins) = self.percentiles()?;
        let rates = self.number(&["bw_samples"])?.filter(|rates| *rates >= 2.0);
        let over_time = [in_kib("bw_dev")?, in_kib("bw_min")?, in_kib("bw_max")?, rates];
        Ok(Direction {
            name: self.name,
            bytes_per_s,
            requests_per_s: self.number(&["iops"])?,
            requests: self.number(&["total_ios"])?,
            mean_ms: self.latency_ms("lat", &["mean"])?,
            max_ms: self.latency_ms("lat", &["max"])?,
            percentiles_ms,
            bins,
            over_time: match over_time {
                // Where a stall is in none of the rates, they are not of the whole run.
                [Some(deviation), Some(low), Some(high), Some(rates)]
                    if (low..=high).contains(&bytes_per_s) =>
                {
                    Some([deviation, low, high, rates])
                }
                _ => None,
            },
        })
    }

    /// Version 3 says ns in the name; version 2 has µs.
    fn latency_ms(&self, total: &str, path: &[&str]) -> Result<Option<f64>> {
        let whole = |name: &str| self.number(&[&[name], path].concat());
        match whole(&format!("{total}_ns"))? {
            Some(ns) => Ok(Some(ns * 1e-6)),
            None => Ok(whole(total)?.map(|us| us * 1e-3)),
        }
    }

    /// A figure; `None` where fio wrote none.
    fn number(&self, path: &[&str]) -> Result<Option<f64>> {
        let Some(found) = path.iter().try_fold(self.part, |value, key| value.get(key)) else {
            return Ok(None);
        };
        let number = found.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
        number.map(Some).ok_or_else(|| {
            let key = path.last().copied().unwrap_or_default();
            self.wrong(key, &format!("is {found}, not a number of 0 or more"))
        })
    }

    fn wrong(&self, key: &str, what: &str) -> crate::error::Error {
        let (line, column) = json::place_of_key(self.source.text, self.job, &[self.name, key]);
        let what =
            format!("job `{}`: `{key}` under `{}` {what}; run fio again", self.job, self.name);
        self.source.wrong_at(line, column, &what)
    }
}

/// Adds what a clone of a job moved beside it. The means are those of all their requests and syncs; no
/// percentile follows from those of either.
fn add(row: &mut Row, clone: &Row) {
    let of = |row: &Row, name: &str| row.samples.get(name).and_then(Json::as_f64);
    // A mean, and the rate of that which it is the mean of. Each clone syncs as often as it commits.
    let means = [
        ("latency_mean_ms", "requests_per_s"),
        ("flush_mean_ms", "commits_per_s"),
        ("commit_mean_ms", "commits_per_s"),
    ];
    let mean = |(mean, rate): (&'static str, &str)| {
        let [one, other] = [&*row, clone].map(|row| Some((of(row, mean)?, of(row, rate)?)));
        let ((a, of_a), (b, of_b)) = one.zip(other)?;
        Some((mean, (a * of_a + b * of_b) / (of_a + of_b)))
    };
    let means: Vec<(&str, f64)> = means.into_iter().filter_map(mean).collect();
    let both = |name: &str| of(row, name).zip(of(clone, name));
    let others = [
        ("latency_max_ms", both("latency_max_ms").map(|(a, b)| a.max(b))),
        // As of several directions; the fewest rates over time are those of both.
        ("rates", both("rates").map(|(a, b)| a.min(b))),
        ("flushes", both("flushes").map(|(a, b)| a + b)),
    ];
    let is_rate = |name: &str| sample::find(name).is_some_and(Sample::is_rate);
    let rates = row.samples.keys().filter(|name| is_rate(name));
    let rates: Vec<(String, f64)> =
        rates.filter_map(|name| Some((name.clone(), of(row, name)? + of(clone, name)?))).collect();
    row.samples = Map::new();
    row.samples.extend(rates.into_iter().map(|(name, rate)| (name, Json::from(rate))));
    let others = others.into_iter().filter_map(|(name, value)| Some((name, value?)));
    row.samples
        .extend(means.into_iter().chain(others).map(|(n, v)| (n.to_string(), Json::from(v))));
}
