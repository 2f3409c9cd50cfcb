//! The results of a run: a directory that loses nothing that was finished.
//!
//! ```text
//! manifest.toml    the experiment as resolved, the rig, versions, digests of drive and host files
//! trials.jsonl     one line for each finished trial, in plan order, on the disk before the next
//! attempts.jsonl   wall-clock facts: when trials were started and finished, and what that cost
//! ```
//!
//! The first two follow from the experiment alone: the same seed gives the same bytes.

use crate::error::{Error, Result};
use crate::quantity::Quantity;
use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The version of the files' format. It changes when a field does.
pub const FORMAT: u64 = 1;

const MANIFEST: &str = "manifest.toml";
const TRIALS: &str = "trials.jsonl";
const ATTEMPTS: &str = "attempts.jsonl";

/// What a results directory holds the results of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the files' format.
    pub format: u64,
    /// The ileave that started it.
    pub ileave: String,
    /// What the experiment is called.
    pub name: String,
    /// The rig: `sim`, …
    pub rig: String,
    /// Trials in the plan.
    pub trials: usize,
    /// The workloads, in the order of the experiment.
    pub workloads: Vec<String>,
    /// The published table that stands beside the results; empty for none.
    pub published: String,
    /// The experiment as resolved, in TOML.
    pub experiment: String,
    /// The drives that take part, by catalogue name, with the digest of each file.
    pub drives: BTreeMap<String, String>,
    /// The hosts that take part, likewise.
    pub hosts: BTreeMap<String, String>,
    /// What is known of results that no rig of ileave's has measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
}

/// What is known of results that no rig of ileave's has measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// Where they are from.
    pub source: String,
    /// What is minimised or maximised, in the words of `--objective`; empty for every workload.
    pub objective: String,
    /// What the samples are, those that matter first.
    pub quantities: Vec<Quantity>,
}

impl Manifest {
    /// Whether a model made the results, so that its error is part of every difference.
    pub fn modelled(&self) -> bool {
        matches!(self.rig.as_str(), "sim" | "kernel")
    }
}

/// A results directory that is being written.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    trials: File,
    attempts: File,
}

/// One line of the wall-clock facts.
#[derive(Serialize, Deserialize)]
struct Attempt {
    trial: usize,
    event: AttemptEvent,
    unix_s: f64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    cpu_s: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AttemptEvent {
    Started,
    Finished,
}

/// A results directory that has been read.
#[derive(Clone, Debug)]
pub struct Results {
    /// What it holds the results of.
    pub manifest: Manifest,
    /// The finished trials, in plan order.
    pub records: Vec<Record>,
    /// Trials that were running when a run was interrupted, and may have disturbed what came next.
    pub suspects: BTreeSet<usize>,
}

impl Store {
    /// Starts a results directory, which must not be there or be empty.
    ///
    /// # Errors
    ///
    /// Where it holds something, or cannot be written.
    pub fn create(directory: &Path, manifest: &Manifest) -> Result<Self> {
        let written = |error| writing(directory, &error);
        fs::create_dir_all(directory).map_err(written)?;
        // A run that was killed before it had a manifest leaves an empty list of trials, and nothing
        // is lost by starting again.
        let has_trials = fs::metadata(directory.join(TRIALS)).is_ok_and(|trials| trials.len() > 0);
        if has_trials || directory.join(MANIFEST).exists() {
            return Err(Error::input(format!(
                "{} already holds results; go on with them by `--resume {0}`, or give `--out` another \
                 directory",
                directory.display()
            )));
        }
        // The manifest comes last and whole: a directory with a manifest is a results directory.
        let store = Store::open(directory)?;
        let text = toml::to_string(manifest).map_err(Error::failure)?;
        let draft = directory.join("manifest.toml.new");
        let mut file = File::create(&draft).map_err(written)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(written)?;
        fs::rename(&draft, directory.join(MANIFEST)).map_err(written)?;
        File::open(directory).and_then(|d| d.sync_all()).map_err(written)?;
        Ok(store)
    }

    /// Goes on with a results directory; gives what is finished. A last line that was cut off when the
    /// run was interrupted is taken away.
    ///
    /// # Errors
    ///
    /// Where it holds the results of another experiment, or anything in it is wrong.
    pub fn resume(directory: &Path, manifest: &Manifest) -> Result<(Self, Vec<Record>)> {
        let there = read_manifest(directory)?;
        if there != *manifest {
            let what = difference(&there, manifest);
            return Err(Error::input(format!(
                "{} holds the results of another experiment ({what}); give `--resume` the directory \
                 that this one was started in, or start anew with `--out`",
                directory.display()
            )));
        }
        let mut store = Store::open(directory)?;
        mend_last_line(&mut store.trials, &directory.join(TRIALS), true)?;
        mend_last_line(&mut store.attempts, &directory.join(ATTEMPTS), false)?;
        let records = read_records(&directory.join(TRIALS), manifest.trials)?;
        Ok((store, records))
    }

    fn open(directory: &Path) -> Result<Self> {
        let open = |name: &str| {
            OpenOptions::new()
                .create(true)
                .read(true)
                .append(true)
                .open(directory.join(name))
                .map_err(|error| writing(&directory.join(name), &error))
        };
        let (trials, attempts) = (open(TRIALS)?, open(ATTEMPTS)?);
        Ok(Store { directory: directory.into(), trials, attempts })
    }

    /// Where the results are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Notes that a trial is about to run.
    ///
    /// # Errors
    ///
    /// Where that cannot be written.
    pub fn started(&mut self, trial: usize) -> Result<()> {
        self.attempt(&Attempt {
            trial,
            event: AttemptEvent::Started,
            unix_s: unix_s(),
            cpu_s: None,
        })
    }

    /// Keeps finished trials, each with the CPU time it took; they are on the disk when this returns.
    ///
    /// # Errors
    ///
    /// Where they cannot be written.
    pub fn append(&mut self, finished: &[(Record, f64)]) -> Result<()> {
        let mut lines = Vec::new();
        for (record, _) in finished {
            serde_json::to_writer(&mut lines, record).map_err(Error::failure)?;
            lines.push(b'\n');
        }
        let path = self.directory.join(TRIALS);
        self.trials
            .write_all(&lines)
            .and_then(|()| self.trials.sync_data())
            .map_err(|error| writing(&path, &error))?;
        for (record, cpu_s) in finished {
            self.attempt(&Attempt {
                trial: record.trial,
                event: AttemptEvent::Finished,
                unix_s: unix_s(),
                cpu_s: Some(*cpu_s),
            })?;
        }
        Ok(())
    }

    fn attempt(&mut self, attempt: &Attempt) -> Result<()> {
        let mut line = serde_json::to_vec(attempt).map_err(Error::failure)?;
        line.push(b'\n');
        let path = self.directory.join(ATTEMPTS);
        self.attempts.write_all(&line).map_err(|error| writing(&path, &error))
    }
}

impl Results {
    /// Reads a results directory, finished or not.
    ///
    /// # Errors
    ///
    /// Where it is none, or anything but a cut-off last line is wrong.
    pub fn read(directory: &Path) -> Result<Self> {
        let manifest = read_manifest(directory)?;
        let records = read_records(&directory.join(TRIALS), manifest.trials)?;
        let suspects = read_suspects(&directory.join(ATTEMPTS))?;
        Ok(Results { manifest, records, suspects })
    }
}

fn read_manifest(directory: &Path) -> Result<Manifest> {
    let path = directory.join(MANIFEST);
    let text = fs::read_to_string(&path).map_err(|error| {
        Error::input(format!(
            "{} is no results directory: {}: {error}; `ileave run` makes one",
            directory.display(),
            path.display()
        ))
    })?;
    let manifest: Manifest = toml::from_str(&text).map_err(|error| {
        Error::failure(format!("{} is damaged: {}", path.display(), error.message()))
    })?;
    if manifest.format != FORMAT {
        return Err(Error::input(format!(
            "{} has format {}, and this ileave reads format {FORMAT}; read it with ileave {}",
            path.display(),
            manifest.format,
            manifest.ileave
        )));
    }
    Ok(manifest)
}

/// The finished trials, in plan order. A last line without its end is left out.
fn read_records(path: &Path, trials: usize) -> Result<Vec<Record>> {
    let text = fs::read_to_string(path)
        .map_err(|error| Error::failure(format!("{}: {error}", path.display())))?;
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let mut records = BTreeMap::new();
    for (number, line) in (1..).zip(whole.lines()) {
        let wrong = |what: String| {
            Error::failure(format!(
                "{}:{number} is damaged: {what}; take the line out to have that trial run again by \
                 `--resume`",
                path.display()
            ))
        };
        let record: Record =
            serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        if record.trial >= trials {
            return Err(wrong(format!("the plan has no trial {}", record.trial)));
        }
        let trial = record.trial;
        if records.insert(trial, record).is_some() {
            return Err(wrong(format!("trial {trial} stands here a second time")));
        }
    }
    Ok(records.into_values().collect())
}

/// Trials that were started more often than they were finished.
fn read_suspects(path: &Path) -> Result<BTreeSet<usize>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(Error::failure(format!("{}: {error}", path.display()))),
    };
    let mut starts: BTreeMap<usize, i64> = BTreeMap::new();
    let mut suspects = BTreeSet::new();
    for attempt in text.lines().filter_map(|line| serde_json::from_str::<Attempt>(line).ok()) {
        let open = starts.entry(attempt.trial).or_default();
        *open += if attempt.event == AttemptEvent::Started { 1 } else { -1 };
        if *open > 1 {
            suspects.insert(attempt.trial);
        }
    }
    Ok(suspects)
}

/// Ends the file with a whole line: a last line without its end is finished if only the end is missing
/// (and `finish` says that lines are JSON records), and otherwise taken away.
fn mend_last_line(file: &mut File, path: &Path, finish: bool) -> Result<()> {
    let failed = |error| writing(path, &error);
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut text)).map_err(failed)?;
    let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    if whole == text.len() {
        return Ok(());
    }
    if finish && serde_json::from_slice::<Record>(&text[whole..]).is_ok() {
        file.write_all(b"\n").map_err(failed)?;
    } else {
        file.set_len(whole as u64).map_err(failed)?;
    }
    file.sync_all().map_err(failed)
}

/// What tells two manifests apart, for a message.
fn difference(there: &Manifest, wanted: &Manifest) -> String {
    if there.name != wanted.name {
        return format!("it is of `{}`, not `{}`", there.name, wanted.name);
    }
    if there.rig != wanted.rig {
        return format!("it ran on {}, not {}", there.rig, wanted.rig);
    }
    if there.drives != wanted.drives || there.hosts != wanted.hosts {
        return "a drive or host file has changed since".into();
    }
    if there.ileave != wanted.ileave {
        return format!("it was started by ileave {}, and this is {}", there.ileave, wanted.ileave);
    }
    let changed = wanted
        .experiment
        .lines()
        .find(|line| !there.experiment.lines().any(|other| other == *line))
        .or_else(|| there.experiment.lines().find(|l| !wanted.experiment.lines().any(|o| o == *l)));
    format!("its {} differs", changed.unwrap_or("plan"))
}

fn writing(path: &Path, error: &std::io::Error) -> Error {
    let next = match error.kind() {
        std::io::ErrorKind::StorageFull => "; the disk is full: make room",
        std::io::ErrorKind::PermissionDenied => "; give `--out` a directory that you may write",
        _ => "",
    };
    Error::failure(format!("cannot write {}: {error}{next}", path.display()))
}

fn unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
