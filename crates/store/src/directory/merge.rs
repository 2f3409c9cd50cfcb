//! One results directory of several: of the shards of a run, or of parts of it that were run by hand.

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
/// The manifest and the trials are those that one run of all trials would have written.
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
    for directory in others(directories, out) {
        parts.push(Part::read(directory, complete)?);
    }
    let manifest = common_manifest(&mut parts)?;
    let missing = missing(&manifest, &union(&parts)?);
    if !missing.is_empty() && !partial {
        return Err(Error::input(lacks(&manifest, &missing)));
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
        for directory in others(directories, &out) {
            parts.push(Part::read(directory, complete)?);
        }
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
            return Err(Error::input(format!(
                "{} and {} are not of the same run ({}); leave one of them out",
                part.directory.display(),
                first.display(),
                part.manifest.difference(&wanted, ["the first", "the second"])
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

fn lacks(manifest: &Manifest, missing: &[usize]) -> String {
    format!(
        "{} of the {} trials of `{}` are missing: {}; finish the shards with `ileave run FILE --shard I/N`, or add \
         `--partial` to merge what is there",
        missing.len(),
        manifest.trials,
        manifest.name,
        ranges(missing)
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
    Ok(Merged { trials: manifest.trials, missing: missing(manifest, &all) })
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
    use super::ranges;

    #[test]
    fn numbers_are_named_as_ranges() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[3, 5, 6, 7, 8, 11]), "3, 5-8, 11");
        let odd: Vec<usize> = (0..60).filter(|number| number % 2 == 1).collect();
        assert_eq!(ranges(&odd), "1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 18 more");
    }
}
