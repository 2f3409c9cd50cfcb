//! One results directory of several: of the shards of a run, or of parts of it that were run by hand.

use super::missing::named;
use super::{
    ATTEMPTS, Attempt, AttemptEvent, Complete, KEPT, MANIFEST, Store, TRIALS, read_attempts,
    read_records, writing,
};
use crate::error::{Error, Result};
use crate::manifest::{FORMAT, Manifest};
use crate::record::Record;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What a merge has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Trials in the plan.
    pub trials: usize,
    /// Trials that no directory has, in plan order.
    pub missing: Vec<usize>,
    /// The same by the cells that they are of, in words.
    pub cells: String,
}

/// A results directory whose trials are taken.
struct Part {
    directory: PathBuf,
    manifest: Manifest,
    /// The format that it is in.
    format: u64,
    records: Vec<Record>,
}

/// Makes one results directory, `out`, of several of the same run. What `out` holds already stays, so merging again
/// changes nothing, and trials that come later can be added.
///
/// The manifest and the trials are those that one run of all trials would have written, in whatever order the directories are
/// given.
///
/// # Errors
///
/// Where a directory is of another experiment, version or machine, or has another result for the same trial; where
/// trials are missing, unless `partial`; or where `out` cannot be written.
pub fn merge(
    directories: &[PathBuf],
    out: &Path,
    partial: bool,
    complete: Complete,
) -> Result<Merged> {
    let mut parts = Vec::new();
    // What is there already comes first: its trials are kept.
    if out.join(MANIFEST).exists() {
        parts.push(Part::read(out, complete)?);
    }
    parts.extend(read_others(directories, out, complete)?);
    let manifest = common_manifest(&mut parts)?;
    let all = union(&parts)?;
    let missing = missing(&manifest, &all);
    if !missing.is_empty() && !partial {
        return Err(Error::input(lacks(&manifest, &missing, &all)));
    }
    let (store, _) = if out.join(MANIFEST).exists() {
        Store::resume(out, &manifest, complete)?
    } else {
        (Store::create(out, &manifest)?, Vec::new())
    };
    // Read again, now that nobody else writes there.
    if let Some(own) = parts.iter_mut().find(|part| part.directory == out) {
        *own = Part::read(out, complete)?;
    }
    write(store, out, &manifest, &parts)
}

impl Store {
    /// Takes the trials of other results directories of the same run into this one, as [`merge`] does.
    ///
    /// # Errors
    ///
    /// As [`merge`], but missing trials are no error.
    pub fn take(
        self,
        directories: &[PathBuf],
        manifest: &Manifest,
        complete: Complete,
    ) -> Result<Merged> {
        let out = self.directory.clone();
        let mut parts = vec![Part::read(&out, complete)?];
        parts.extend(read_others(directories, &out, complete)?);
        common_manifest(&mut parts)?;
        write(self, &out, manifest, &parts)
    }
}

impl Part {
    fn read(directory: &Path, complete: Complete) -> Result<Self> {
        let mut manifest = Manifest::read(directory)?;
        let records = read_records(&directory.join(TRIALS), &manifest)?;
        let format = manifest.format;
        complete(&mut manifest, &records);
        manifest.format = FORMAT;
        Ok(Part { directory: directory.into(), manifest, format, records })
    }
}

/// What the directories have that are not `out`, in an order that is not the caller's: that of the first trial of each, then
/// of what they say of themselves. What they do not agree in, as how sizes are written, is that of the first.
fn read_others(directories: &[PathBuf], out: &Path, complete: Complete) -> Result<Vec<Part>> {
    let parts =
        others(directories, out).into_iter().map(|directory| Part::read(directory, complete));
    let mut parts: Vec<Part> = parts.collect::<Result<_>>()?;
    parts.sort_by_cached_key(|part| {
        let first = part.records.first().map_or(usize::MAX, |record| record.trial);
        (first, toml::to_string(&part.manifest).unwrap_or_default(), part.directory.clone())
    });
    Ok(parts)
}

/// The directories that are not `out`, each once, however it is written.
fn others<'a>(directories: &'a [PathBuf], out: &Path) -> Vec<&'a PathBuf> {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    let mut known = vec![whole(out)];
    let mut others = Vec::new();
    for directory in directories {
        let path = whole(directory);
        if !known.contains(&path) {
            known.push(path);
            others.push(directory);
        }
    }
    others
}

/// The manifest of all parts, which are of the same run.
fn common_manifest(parts: &mut [Part]) -> Result<Manifest> {
    // What older formats did not keep follows from the experiment, so the newest knows it.
    let Some(newest) = parts.iter().min_by_key(|part| Reverse(part.format)) else {
        return Err(Error::input("there is nothing to merge; give the directories of the shards"));
    };
    let (first, format) = (newest.directory.clone(), newest.format);
    let mut wanted = newest.manifest.clone();
    for part in parts.iter_mut() {
        part.manifest.factors.clone_from(&wanted.factors);
        part.manifest.take_words_of(&wanted);
        if part.format != format {
            part.manifest.only_read.clone_from(&wanted.only_read);
        }
        // What one machine found doubtful is doubtful of all that it has run.
        let doubts = std::mem::take(&mut part.manifest.doubts);
        let new = doubts.into_iter().filter(|doubt| !wanted.doubts.contains(doubt));
        let new: Vec<String> = new.collect();
        wanted.doubts.extend(new);
        part.manifest.doubts.clone_from(&wanted.doubts);
        if part.manifest != wanted {
            let names = [&part.directory, &first].map(|of| of.display().to_string());
            let [own, other] = names.each_ref().map(String::as_str);
            return Err(Error::input(format!(
                "{own} and {other} are not of the same run ({}); leave one of them out",
                part.manifest.difference(&wanted, [own, other])
            )));
        }
    }
    Ok(wanted)
}

/// The part that has each trial, and its record: the first that has it.
fn union(parts: &[Part]) -> Result<BTreeMap<usize, (&Part, &Record)>> {
    let mut all: BTreeMap<usize, (&Part, &Record)> = BTreeMap::new();
    for part in parts {
        for record in &part.records {
            let (first, known) = *all.entry(record.trial).or_insert((part, record));
            if known != record {
                return Err(Error::input(format!(
                    "trial {} has one result in {} and another in {}; leave out the directory that you do not \
                     trust, or remove the trial's line in its trials.jsonl",
                    record.trial,
                    first.directory.display(),
                    part.directory.display()
                )));
            }
        }
    }
    Ok(all)
}

fn missing(manifest: &Manifest, all: &BTreeMap<usize, (&Part, &Record)>) -> Vec<usize> {
    (0..manifest.trials).filter(|trial| !all.contains_key(trial)).collect()
}

fn lacks(
    manifest: &Manifest,
    missing: &[usize],
    all: &BTreeMap<usize, (&Part, &Record)>,
) -> String {
    let which = named(manifest, all.values().map(|(_, record)| *record), missing);
    format!(
        "{} of the {} trials of `{}` are missing: {which}; finish the shards with `ileave run FILE --shard I/N`, or add \
         `--partial` to merge what is there",
        missing.len(),
        manifest.trials,
        manifest.name,
    )
}

/// How many ranges are named; more are counted.
const RANGES_NAMED_MAX: usize = 12;

/// Numbers in order, as in `3, 5-8, 11`.
pub fn ranges(numbers: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let named = ranges.iter().take(RANGES_NAMED_MAX);
    let words: Vec<String> = named
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            _ => format!("{first}-{last}"),
        })
        .collect();
    let mut text = words.join(", ");
    let rest: usize =
        ranges.iter().skip(RANGES_NAMED_MAX).map(|(first, last)| last - first + 1).sum();
    if rest > 0 {
        let _ = write!(text, " and {rest} more");
    }
    text
}

/// Writes what `out` lacks. Its trials come last and whole: if this is interrupted, merging again does the rest.
fn write(mut store: Store, out: &Path, manifest: &Manifest, parts: &[Part]) -> Result<Merged> {
    let all = union(parts)?;
    // A merge that was killed may have noted attempts whose trials it did not come to.
    let noted: BTreeSet<Vec<u8>> =
        read_attempts(&out.join(ATTEMPTS))?.iter().map(line).collect::<Result<_>>()?;
    for part in parts.iter().filter(|part| part.directory != out) {
        let taken = |trial: usize| {
            let from = all.get(&trial).map(|(from, _)| &from.directory);
            from == Some(&part.directory)
        };
        let attempts = read_attempts(&part.directory.join(ATTEMPTS))?;
        // What failed and has no result yet is known afterwards, too.
        let failed = |attempt: &Attempt| {
            attempt.event == AttemptEvent::Failed && !all.contains_key(&attempt.trial)
        };
        for attempt in attempts.iter().filter(|own| taken(own.trial) || failed(own)) {
            if !noted.contains(&line(attempt)?) {
                store.attempt(attempt)?;
            }
        }
        copy_kept(&part.directory, out, &taken)?;
    }
    let synced = store.attempts.sync_data();
    synced.map_err(|error| writing(&out.join(ATTEMPTS), &error))?;
    let records: Vec<&Record> = all.values().map(|(_, record)| *record).collect();
    store.finish(&records)?;
    let missing = missing(manifest, &all);
    let cells = named(manifest, records.into_iter(), &missing);
    Ok(Merged { trials: manifest.trials, missing, cells })
}

/// An attempt as it is noted.
fn line(attempt: &Attempt) -> Result<Vec<u8>> {
    serde_json::to_vec(attempt).map_err(Error::failure)
}

/// Copies what real trials wrote, of the trials that are taken.
fn copy_kept(from: &Path, out: &Path, taken: &dyn Fn(usize) -> bool) -> Result<()> {
    let Ok(entries) = fs::read_dir(from.join(KEPT)) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("trial-")?.split('-').next());
        if !number.and_then(|number| number.parse().ok()).is_some_and(taken) {
            continue;
        }
        let copy = out.join(KEPT).join(&name);
        fs::create_dir_all(out.join(KEPT))
            .and_then(|()| fs::copy(entry.path(), &copy))
            .map_err(|error| writing(&copy, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{merge, ranges};
    use crate::factor::{FactorKind, Role, Written};
    use crate::named::NamedSamples;
    use crate::record::{Record, encode_latencies};
    use crate::{Manifest, Store};
    use hdrhistogram::Histogram;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// A results directory with these trials of four.
    fn part(here: &Path, name: &str, trials: &[usize], change: impl Fn(&mut Manifest)) -> PathBuf {
        let text = "format = 3\nileave = '0.1.0'\nname = 'sweep'\nrig = 'sim'\ntrials = 4\nworkloads = ['read']\n\
                    published = ''\nexperiment = ''\n";
        let mut manifest: Manifest = toml::from_str(text).unwrap();
        change(&mut manifest);
        let directory = here.join(name);
        let mut store = Store::create(&directory, &manifest).unwrap();
        let record = |trial: usize| Record {
            trial,
            at: [("volume.interleave".to_string(), (8 << (trial / 2)).into())]
                .into_iter()
                .collect(),
            workload: "read".into(),
            repeat: trial as u64 % 2,
            samples: NamedSamples::from_iter([("mb_per_s", 10.0 + trial as f64)]),
            member_busy: Vec::new(),
            requests: 0,
            latency_hdr: encode_latencies(&Histogram::new(3).unwrap()),
            series: None,
            commands: Vec::new(),
            curve: Vec::new(),
            window: None,
            note: String::new(),
        };
        let finished: Vec<(Record, f64)> =
            trials.iter().map(|&trial| (record(trial), 0.5)).collect();
        store.append(&finished).unwrap();
        directory
    }

    #[test]
    fn what_is_missing_is_named_by_its_cells() {
        let here = tempfile::tempdir().unwrap();
        let with_factor = |of: &mut Manifest| {
            let kind = FactorKind { role: Role::Choice, written: Written::Sectors };
            of.factors.0.insert("volume.interleave".into(), kind);
            of.experiment = "'workloads' = ['read']\n'volume.interleave' = [8, 16]\n".into();
        };
        let parts = [part(here.path(), "a", &[0, 2], with_factor)];
        let said = |partial| merge(&parts, &here.path().join("out"), partial, |_, _| ());
        let cells = "read at interleave 8 (4 KiB) (1 of 2 trials); read at interleave 16 (8 KiB) (1 of 2 trials)";
        let error = said(false).unwrap_err().to_string();
        assert!(error.contains(&format!("are missing: {cells}; finish")), "{error}");
        assert_eq!(said(true).unwrap().cells, cells);
        // A plan that is not every value with every other has numbers.
        let odd = [part(here.path(), "b", &[0, 2], |_| ())];
        let odd = merge(&odd, &here.path().join("odd"), true, |_, _| ()).unwrap();
        assert_eq!((odd.missing, odd.cells), (vec![1, 3], "1, 3".into()));
    }

    /// Shards of files that write sizes otherwise, or are about other things, gave the manifest of whichever was named first.
    #[test]
    fn the_order_of_the_directories_changes_nothing() {
        let here = tempfile::tempdir().unwrap();
        let here = here.path();
        let written = |written: Written, about: &str| {
            let about = format!("about = '{about}'\n");
            move |manifest: &mut Manifest| {
                let kind = FactorKind { role: Role::Choice, written };
                manifest.factors.0.insert("volume.interleave".into(), kind);
                manifest.experiment.clone_from(&about);
                manifest.doubts.push(about.clone());
            }
        };
        let parts = [
            part(here, "a", &[3], written(Written::Sectors, "disks")),
            part(here, "b", &[0, 2], written(Written::BytesOfSectors, "two disks")),
            part(here, "c", &[0, 1], written(Written::Sectors, "three disks")),
        ];
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let merged = orders.map(|order| {
            let out = here.join(format!("{order:?}"));
            let parts = order.map(|place| parts[place].clone());
            merge(&parts, &out, false, |_, _| ()).unwrap();
            ["manifest.toml", "trials.jsonl", "attempts.jsonl"]
                .map(|name| fs::read_to_string(out.join(name)).unwrap())
        });
        for (order, files) in orders.iter().zip(&merged) {
            assert_eq!(files, &merged[0], "{order:?}");
        }
    }

    /// Both are named: "it was started by 0.0.9, and this is 0.1.0" said of neither directory which.
    #[test]
    fn what_is_of_another_version_is_named() {
        let here = tempfile::tempdir().unwrap();
        let (one, other) = (
            part(here.path(), "one", &[0], |_| ()),
            part(here.path(), "other", &[1], |of| of.ileave = "0.0.9".into()),
        );
        let said = merge(&[one.clone(), other.clone()], &here.path().join("out"), false, |_, _| ());
        let said = said.unwrap_err().to_string();
        let (one, other) = (one.display(), other.display());
        let both = [
            format!("({one} is of ileave 0.1.0, {other} of 0.0.9)"),
            format!("({other} is of ileave 0.0.9, {one} of 0.1.0)"),
        ];
        assert!(both.iter().any(|both| said.contains(both)), "{said}");
    }

    #[test]
    fn numbers_are_named_as_ranges() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[3, 5, 6, 7, 8, 11]), "3, 5-8, 11");
        let odd: Vec<usize> = (0..60).filter(|number| number % 2 == 1).collect();
        assert_eq!(ranges(&odd), "1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 18 more");
    }
}
