//! Reasons by counterfactual: one mechanism is switched off, and both layouts are measured again.

use crate::question::Question;
use crate::question::candidate::Candidate;
use crate::question::in_flight::{InFlight, in_flight_of};
use crate::question::work::DIRECT_DEPTH;
use crate::search::clock::Clock;
use crate::search::layouts::Space;
use crate::search::trials::{SHORT_BUDGET, Settings, Tried, is_at, short_trial};
use crate::words::with_figures;
use lab::Result;
use lab::catalogue::{self, Drive};
use lab::experiment::{Experiment, Trial};
use serde::Serialize;
use store::record::Record;
use verdict::Verdict;
use verdict::judge::host::full_queues::is_refused;
use verdict::tables::{SHARE_OF_BEST, figure, listed, slower};

/// What happens to the best and to another without a mechanism.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// What was changed.
    pub mechanism: String,
    /// What the best does then.
    pub best: f64,
    /// What the other does then.
    pub other: f64,
    /// The same in words.
    pub sentence: String,
}

/// A change: what it is called, and the keys that make it.
pub(crate) type Change = (String, Settings);

/// The changes that mean something here.
fn changes(tried: &Tried<'_>, best: &Candidate, other: &Candidate) -> Vec<Change> {
    let drive = &tried.question.drives.drive;
    let mut changes = of_drives(&tried.experiment, &[drive], tried.question.writes());
    changes.extend(of_figures(tried.question));
    changes.extend(of_page_cache(&tried.experiment));
    if tried.question.writes()
        && (best.level.has_stripe_cache() || other.level.has_stripe_cache())
        && best.cache == other.cache
    {
        let rows = if best.cache == "256" { "4096" } else { "256" };
        changes.push((
            format!("with {rows} rows of stripe cache"),
            vec![("volume.stripe_cache".into(), rows.into())],
        ));
    }
    if tried.question.writes() && (best.level.has_stripe_cache() || other.level.has_stripe_cache())
    {
        changes.push(of_processor());
    }
    changes.extend(of_depths(&tried.experiment));
    changes
}

/// What drives do by themselves, switched off: nothing of keys that the experiment varies.
fn of_drives(experiment: &Experiment, drives: &[&Drive], writes: bool) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let is_free = |path: &str| {
        let varied = experiment.settings().iter().filter(|(_, setting)| setting.values.len() > 1);
        varied.into_iter().all(|(known, _)| !known.ends_with(path))
    };
    let takes = |key: &str| drives.iter().all(|drive| drive.takes(key));
    let is_cached = match experiment.value("drive.write_cache") {
        Some(value) => value.to_string() == "true",
        None => drives.iter().any(|drive| drive.write_cache()),
    };
    if takes("write_cache") && is_cached && writes && is_free("drive.write_cache") {
        changes.push((
            "without the drives' write caches".into(),
            vec![("drive.write_cache".into(), "false".into())],
        ));
    }
    let is_queued = drives.iter().any(|drive| drive.queue_depth() > 1);
    if takes("queue_depth") && is_queued && is_free("drive.queue_depth") {
        changes.push((
            "with one command at a time per drive".into(),
            vec![("drive.queue_depth".into(), "1".into())],
        ));
    }
    changes
}

/// What costs a drive time, taken out of its figures.
fn of_figures(question: &Question) -> Vec<Change> {
    // A curve of seeks must rise, so that they take a microsecond.
    const OUT: [(&str, &[&str], f64); 2] = [
        ("without seeks", &["seek_single_ms", "seek_average_ms", "seek_full_ms"], 0.001),
        ("without reads waiting behind writes in the flash", &["program_wait_us"], 0.0),
    ];
    let name = &question.drives.drive.name;
    let Ok(described) = catalogue::describe(name) else { return Vec::new() };
    let has = |key: &&str| described.figures.iter().any(|stated| stated.key == *key);
    let known = OUT.iter().filter(|(_, keys, _)| keys.iter().all(has));
    let changed = known.filter_map(|(mechanism, keys, value)| {
        let figures: Vec<(&str, f64)> = keys.iter().map(|key| (*key, *value)).collect();
        let drive = with_figures(name, &figures);
        // Some drives cannot be without it.
        catalogue::drive(&drive).ok()?;
        let drives = format!("{}x{drive}", question.members());
        Some(((*mechanism).to_string(), vec![("volume.drives".to_string(), drives)]))
    });
    changed.collect()
}

/// What goes through the page cache, past it. Writes in a short trial, for they are small and many then. Reads in a whole
/// one: under `media` the programs have not spread over a mirror's disks when a short one ends.
fn of_page_cache(experiment: &Experiment) -> Vec<Change> {
    let buffered = experiment.workloads.iter().filter(|name| {
        let direct = experiment.value(&format!("workload.{name}.direct"));
        direct.is_some_and(|value| value.to_string() == "false")
    });
    let (mut keys, mut writes): (Settings, bool) = (Vec::new(), false);
    for name in buffered {
        keys.push((format!("workload.{name}.direct"), "true".into()));
        let op = experiment.value(&format!("workload.{name}.op"));
        if op.is_some_and(|op| op.to_string() == "write") {
            keys.push((format!("workload.{name}.depth"), DIRECT_DEPTH.to_string()));
            writes = true;
        }
    }
    let mut direct = experiment.clone();
    if keys.is_empty() || keys.iter().any(|(path, value)| direct.set_values(path, value).is_err()) {
        return Vec::new();
    }
    if !writes {
        return vec![("without the page cache".into(), keys)];
    }
    keys.extend(short_trial(&direct).map(|(key, value)| (key.to_string(), value.to_string())));
    vec![("without the page cache (a short trial)".into(), keys)]
}

/// Requests in flight, of all jobs of a stream, that are tried.
const IN_FLIGHT: [u64; 2] = [1, 64];

/// One request in flight, and many.
fn of_depths(experiment: &Experiment) -> Vec<Change> {
    let text = |name: &str, key: &str| {
        experiment.value(&format!("workload.{name}.{key}")).map(|value| value.to_string())
    };
    let is_deep = |name: &&String| {
        let value = |key: &str| text(name, key);
        // The page cache has its own number in flight.
        let is_buffered = value("direct").is_some_and(|value| value == "false");
        let of_requests =
            value("kind").is_some_and(|kind| ["sequential", "random"].contains(&kind.as_str()));
        // What comes by the clock has as many in flight as come.
        let is_open = value("arrivals").is_some_and(|arrivals| arrivals != "closed");
        of_requests && value("flush_every").is_none() && !is_buffered && !is_open
    };
    let deep: Vec<&String> = experiment.workloads.iter().filter(is_deep).collect();
    let streams: Vec<String> = deep.iter().map(|name| (*name).clone()).collect();
    let stream = match streams.as_slice() {
        _ if experiment.workloads.len() == 1 => None,
        [one] => Some(one.clone()),
        several => Some(format!("each of {}", listed(several))),
    };
    let change = |total: u64| {
        let mut keys = Settings::new();
        let mut totals = Vec::new();
        for name in &deep {
            let assumed = InFlight::stated(|key| text(name, key));
            let to = assumed.with_total(total);
            totals.push(to.total());
            let path = |key: &str| format!("workload.{name}.{key}");
            let unlike = to.keys_unlike(assumed).into_iter();
            keys.extend(unlike.map(|(key, number)| (path(key), number.to_string())));
        }
        totals.dedup();
        let many = match totals.as_slice() {
            [same] => same.to_string(),
            _ => format!("about {total}"),
        };
        let mechanism = format!("with {many} {}", in_flight_of(stream.as_deref()));
        (!keys.is_empty()).then_some((mechanism, keys))
    };
    IN_FLIGHT.into_iter().filter_map(change).collect()
}

/// The changes that mean something to the layouts of an experiment, of which `trial` is one.
pub(crate) fn changes_of(space: &Space, trial: &Trial) -> Vec<Change> {
    let members = trial.setup.volume.members.iter();
    let drives: Vec<&Drive> = members.filter_map(|member| Some(&**member.drive()?)).collect();
    let manifest = &space.manifest;
    let writes = manifest.workloads.iter().any(|name| !manifest.only_read.contains(name));
    if drives.is_empty() {
        return Vec::new();
    }
    let mut changes = of_drives(&space.experiment, &drives, writes);
    let takes = |Trial { setup, .. }: &Trial| {
        setup.volume.level.has_stripe_cache() && setup.host.md_rows.is_some()
    };
    if writes && space.trials.iter().any(takes) {
        changes.push(of_processor());
    }
    changes
}

/// md's parity without its time.
fn of_processor() -> Change {
    (
        "without the time that programs and md's parity take of processors".into(),
        vec![("host.cpu_percent".into(), "0".into())],
    )
}

/// What is closer is about equal, whatever the model errs by: the logarithm of a ratio.
const EVEN: f64 = 0.05;

/// Measures both without each mechanism.
pub(crate) fn reasons(
    tried: &Tried<'_>,
    best: &Candidate,
    other: &Candidate,
    (verdict, clock): (&Verdict, &Clock),
) -> Result<(Vec<Reason>, Vec<String>)> {
    let unit = verdict.unit.as_str();
    let is_told = starves(&tried.of(best)) || starves(&tried.of(other));
    let mut changes = changes(tried, best, other);
    if !is_told {
        leave_out_what_starves(tried, [best, other], &mut changes, clock)?;
    }
    let (records, left) = measured_until(tried, [best, other], &changes, clock)?;
    // Each alone: what the change sets may be all that tells them apart. What has not settled, or only filled caches, says
    // nothing of what drives do in the end, however short the trial was to be.
    let measured = |records: &[Record]| -> Result<Option<f64>> {
        let verdict = Verdict::new(&tried.manifest, records, &tried.wishes())?;
        Ok(verdict.ranked.first().map(|ranked| ranked.value))
    };
    let mut reasons = Vec::new();
    for ((mechanism, _), pair) in changes.into_iter().zip(records.chunks(2)) {
        let [ours, theirs] = pair else { continue };
        if ours.is_empty() || theirs.is_empty() {
            continue;
        }
        // Nobody is to choose by such figures; where the answer rests on them it says so.
        if !is_told && (starves(ours) || starves(theirs)) {
            continue;
        }
        let [ours, theirs] = if unit == SHARE_OF_BEST {
            together(tried, [best, other], [ours, theirs])?
        } else {
            [measured(ours)?, measured(theirs)?]
        };
        let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
        let named = [best.told_from(other), other.told_from(best)];
        let sentence = sentence(&mechanism, named, [ours, theirs], verdict);
        reasons.push(Reason { mechanism, best: ours, other: theirs, sentence });
    }
    Ok((reasons, left))
}

/// What both layouts measure with each change, one after the other, and which changes were left for time, the last ones.
fn measured_until(
    tried: &Tried<'_>,
    both: [&Candidate; 2],
    changes: &[Change],
    clock: &Clock,
) -> Result<(Vec<Vec<Record>>, Vec<String>)> {
    let (mut records, mut left) = (Vec::new(), Vec::new());
    let at_once = if clock.is_limited() { 1 } else { changes.len().max(1) };
    for some in changes.chunks(at_once) {
        let cells = some
            .iter()
            .flat_map(|(_, keys)| both.map(|candidate| changed(candidate, keys)))
            .map(|settings| tried.with(&settings, 0));
        match tried.run_in_time(&cells.collect::<Result<Vec<_>>>()?, clock)? {
            Some(ran) => records.extend(ran),
            None => left.extend(some.iter().map(|(mechanism, _)| mechanism.clone())),
        }
    }
    Ok((records, left))
}

/// A layout with these keys changed.
fn changed(candidate: &Candidate, keys: &Settings) -> Settings {
    let mut settings = candidate.settings();
    settings.retain(|(path, _)| keys.iter().all(|(changed, _)| changed != path));
    settings.extend(keys.iter().cloned());
    settings
}

/// The requests that show whether reads find a place.
const PROBE_REQUESTS: &str = "200";

/// Leaves out shorter queues of the drives with which reads over parity find no place: nobody is to choose by such
/// figures, and md's reading again makes their trials long. Of twelve disks with two parities under `object-store` they
/// were four fifths of all the processor's time.
fn leave_out_what_starves(
    tried: &Tried<'_>,
    both: [&Candidate; 2],
    changes: &mut Vec<Change>,
    clock: &Clock,
) -> Result<()> {
    let has_rows = both.iter().any(|of| of.level.has_stripe_cache());
    let is_of_queues =
        |(_, keys): &Change| keys.iter().any(|(path, _)| path == "drive.queue_depth");
    let Some(place) = changes.iter().position(is_of_queues).filter(|_| has_rows) else {
        return Ok(());
    };
    let probe = [("run.precision", "10%"), (SHORT_BUDGET, PROBE_REQUESTS)];
    let cells = both.map(|candidate| {
        let mut settings = changed(candidate, &changes[place].1);
        settings.extend(probe.map(|(key, value)| (key.to_string(), value.to_string())));
        tried.with(&settings, 0)
    });
    let cells: Vec<Experiment> = cells.into_iter().collect::<Result<_>>()?;
    let ran = tried.run_in_time(&cells, clock)?;
    if ran.is_some_and(|ran| ran.iter().any(|of| starves(of))) {
        changes.remove(place);
    }
    Ok(())
}

/// Whether reads over parity found no place in the drives' queues, so that nobody is to choose by these records.
pub(crate) fn starves(records: &[Record]) -> bool {
    records.iter().any(is_refused)
}

/// Both, where the objective is a share of the best: alone, each is its own best.
fn together(
    tried: &Tried<'_>,
    candidates: [&Candidate; 2],
    records: [&Vec<Record>; 2],
) -> Result<[Option<f64>; 2]> {
    let both: Vec<Record> = records.into_iter().flatten().cloned().collect();
    let verdict = Verdict::new(&tried.manifest, &both, &tried.wishes())?;
    let value = |candidate: &Candidate| {
        verdict.ranked.iter().find(|ranked| is_at(candidate, &ranked.at)).map(|of| of.value)
    };
    Ok(candidates.map(value))
}

/// What is closer than this is about equal, as one trial each ties in the verdict: the logarithm of a ratio.
pub(crate) fn even(verdict: &Verdict) -> f64 {
    verdict.noise.half_width(1, 1).max(EVEN)
}

/// What the change does, in words: what ties by the `verdict` is about equal.
pub(crate) fn sentence(
    mechanism: &str,
    [best, other]: [String; 2],
    [ours, theirs]: [f64; 2],
    verdict: &Verdict,
) -> String {
    let (better, unit) = (verdict.better, verdict.unit.as_str());
    let even = even(verdict);
    let ahead = better.ahead(ours, theirs);
    let values = format!("{} against {} {unit}", figure(ours), figure(theirs));
    if ahead.abs() <= even {
        format!("{mechanism}: about equal ({values})")
    } else if ahead > 0.0 {
        format!(
            "{mechanism}: {best} is still ahead, {other} is {} ({values})",
            slower(ahead.exp(), better, unit)
        )
    } else {
        format!(
            "{mechanism}: {other} would be ahead, {best} is {} ({values})",
            slower((-ahead).exp(), better, unit)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verdict::stats::noise::Noise;

    fn said(works: &str) -> Vec<(String, String)> {
        let text = format!("[volume]\ndrives = '4xi3en'\nlevel = 'md-raid10'\n{works}");
        let changes = of_depths(&Experiment::parse("some.toml", &text).unwrap());
        let keys = |keys: Settings| {
            let keys = keys.into_iter().map(|(key, value)| format!("{key}={value}"));
            keys.collect::<Vec<_>>().join(" ")
        };
        changes.into_iter().map(|(mechanism, of)| (mechanism, keys(of))).collect()
    }

    /// "Differences below 10 % are ties", said an answer, and "would be ahead, … 5 % slower" of its counterfactuals.
    #[test]
    fn what_ties_is_about_equal_without_a_mechanism_too() {
        let mut verdict =
            crate::search::trials::tests::verdict_of("4x 980 pro 1tb", "vm", "md-raid10");
        verdict.noise = Noise { log_sd: 0.03, degrees: 10.0, model_error: 0.01, ..verdict.noise };
        let limit = verdict.noise.half_width(1, 1).exp();
        assert!((1.09..1.12).contains(&limit), "{limit}");
        let said = |theirs| {
            let names = ["A", "B"].map(String::from);
            sentence("with 64 in flight", names, [100.0, theirs], &verdict)
        };
        assert!(said(107.0).starts_with("with 64 in flight: about equal ("), "{}", said(107.0));
        assert!(said(115.0).starts_with("with 64 in flight: B would be ahead, A is "));
    }

    /// One in flight is one of all jobs, and 64 are not 64 of each.
    #[test]
    fn all_jobs_count_in_flight() {
        let of = |mechanism: &str, keys: &str| (mechanism.to_string(), keys.to_string());
        assert_eq!(
            said("[workload.w]\nkind = 'random'\njobs = 8\ndepth = 4\n"),
            [
                of("with 1 in flight", "workload.w.jobs=1 workload.w.depth=1"),
                of("with 64 in flight", "workload.w.depth=8")
            ]
        );
        let log =
            "[workload.log]\nkind = 'sequential'\nop = 'write'\nflush_every = 1\ngroup = 'g'\n";
        let pages = "[workload.pages]\nkind = 'random'\ngroup = 'g'\n";
        assert_eq!(
            said(&format!("{log}{pages}")),
            [of("with 64 in flight for pages", "workload.pages.depth=64")]
        );
        let more = "[workload.more]\nkind = 'random'\njobs = 12\ngroup = 'g'\n";
        assert_eq!(
            said(&format!("{more}{pages}"))[1].0,
            "with about 64 in flight for each of more and pages"
        );
    }

    /// A short trial ended before the programs had spread over the mirror, which was said to be 2.3 times slower (53 against
    /// 124 MB/s); a whole one, as `ileave run` makes it, has 325 against 121, and the kernel 321 against 122.
    #[test]
    fn past_the_page_cache_reads_in_order_settle_first() {
        let of = |op: &str| {
            let text = format!(
                "volume.drives = '2xst18000nm000j'\nvolume.level = 'md-mirror'\n[workload.w]\nkind = 'sequential'\n\
                 direct = false\nop = '{op}'"
            );
            let changes = of_page_cache(&Experiment::parse("some.toml", &text).unwrap());
            changes[0].1.iter().any(|(key, _)| key == SHORT_BUDGET)
        };
        assert_eq!(["read", "write"].map(of), [false, true]);
        let levels = ["md-mirror", "md-raid10-f2"].map(String::from).to_vec();
        let asked = crate::question::tests::question("2x st18000nm000j", "media", 1);
        let asked = Question { levels, ..asked };
        let found =
            crate::tune(&asked, &crate::search::remembered::Sim, None, &mut |_| ()).unwrap();
        let past =
            found.reasons.iter().find(|of| of.mechanism == "without the page cache").unwrap();
        let mirror_times = past.best / past.other;
        assert!((2.4..3.0).contains(&mirror_times), "{past:?}");
    }

    /// What fio sends by default has one request in flight per program: "workload.a.depth = 64: a program that uses
    /// psync …", said the answer. What fills all of its span cannot be twice as large, which only a trial says: that
    /// ended the answer, too.
    #[test]
    fn what_ifs_that_are_refused_are_no_error() {
        let drives = crate::Drives::read("2x wd740gd").unwrap();
        let text = "[workload.w]\nkind = 'random'\nblock = '64KiB'\nspan = '64KiB'\nreads_percent = 100\nengine = 'psync'";
        let tables = text.parse().unwrap();
        let work = crate::question::work::Work {
            name: "w".into(),
            tables,
            ..crate::question::work::Work::default()
        };
        let levels = ["md-mirror", "md-raid10"].map(String::from).to_vec();
        let asked = Question { levels, ..Question::new(drives, work) };
        let found =
            crate::tune(&asked, &crate::search::remembered::Sim, None, &mut |_| ()).unwrap();
        let deep = found.reasons.iter().find(|of| of.mechanism == "with 64 in flight");
        assert!(deep.is_some(), "{:?}", found.reasons);
        let tried = |what: &str| {
            let of = found.sensitivity.iter().filter(|doubt| doubt.what == what);
            of.map(|doubt| doubt.otherwise).collect::<Vec<f64>>()
        };
        assert!(tried("in flight").contains(&64.0), "{:?}", found.sensitivity);
        assert_eq!(tried("KiB a request"), [32.0]);
    }
}
