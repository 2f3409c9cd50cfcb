//! The results of a run: a directory that loses nothing that was finished.
//!
//! ```text
//! manifest.toml    the experiment as resolved, the rig, versions, and what reports need of drives, hosts and
//!                  controllers, each with the digest of its file
//! trials.jsonl     one line for each finished trial, on the disk as soon as it has come back
//! attempts.jsonl   wall-clock facts: when trials were started and finished, and what that cost
//! kept/            what real trials wrote and were answered: fio's jobs and their JSON, commands' output
//! ```
//!
//! While a run goes on, trials that ran side by side stand in the order in which they came back; when
//! all are there, they are put in plan order. The first two files of a finished run follow from the
//! experiment alone: the same seed gives the same bytes.

mod follow;
mod happened;
mod merge;
mod missing;
mod read;
mod suspect;

pub use follow::Follower;
pub use happened::{Calibration, Failed, Happened, Trials};
pub use merge::{Merged, merge, ranges};
use read::{read_attempts, read_records};

use crate::error::{Error, Result};
use crate::held::Held;
use crate::manifest::{FORMAT, Manifest};
use crate::record::Record;
use crate::windows;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) const MANIFEST: &str = "manifest.toml";
const TRIALS: &str = "trials.jsonl";
const ATTEMPTS: &str = "attempts.jsonl";
const KEPT: &str = "kept";

/// Adds to a manifest of an older format, with its records, what that format did not keep: from the catalogue
/// and the table of keys, which are no business of the store.
pub type Complete = fn(&mut Manifest, &[Record]);

/// A results directory that is being written.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    trials: File,
    attempts: Held,
}

/// One line of the wall-clock facts.
#[derive(Serialize, Deserialize)]
struct Attempt {
    trial: usize,
    event: AttemptEvent,
    unix_s: f64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    cpu_s: Option<f64>,
    /// The kernel's boot, of a trial whose start was to be on the disk first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    boot: Option<String>,
    /// What a trial that failed said last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    words: Option<String>,
    /// The cell of a trial that failed, which may have no record.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    cell: Option<Cell>,
    /// How long a calibration took, in s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    took_s: Option<f64>,
    /// What members told of themselves then.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    told: BTreeMap<String, String>,
}

impl Attempt {
    /// Something that happens now.
    fn now(trial: usize, event: AttemptEvent) -> Self {
        Attempt {
            trial,
            event,
            unix_s: unix_s(),
            cpu_s: None,
            boot: None,
            words: None,
            cell: None,
            took_s: None,
            told: BTreeMap::new(),
        }
    }
}

/// What tells a cell from others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Cell {
    workload: String,
    at: Map<String, Json>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AttemptEvent {
    Started,
    Finished,
    Failed,
    /// The calibration before this trial, or after the last.
    Calibrated,
}

/// A results directory that has been read.
#[derive(Clone, Debug)]
pub struct Results {
    /// What it holds the results of.
    pub manifest: Manifest,
    /// The finished trials, in plan order.
    pub records: Vec<Record>,
    /// How many trials are finished, each window of a trace one.
    pub finished: usize,
    /// Trials that were running when a run was interrupted, and may have disturbed what came next.
    pub suspects: BTreeSet<usize>,
    /// What happened beside the trials that finished.
    pub happened: Happened,
}

impl Store {
    /// Starts a results directory, which must not be there or hold no results.
    ///
    /// # Errors
    ///
    /// Where it holds results, or cannot be written.
    pub fn create(directory: &Path, manifest: &Manifest) -> Result<Self> {
        let written = |error| writing(directory, &error);
        refuse_other_files(directory)?;
        create_synced(directory).map_err(written)?;
        let mut store = Store::open(directory)?;
        // A run that was killed before it had a manifest leaves an empty list of trials, and nothing
        // is lost by starting again.
        let has_trials = store.trials.metadata().map_err(written)?.len() > 0;
        let name = directory.display();
        if directory.join(MANIFEST).exists() {
            // What is imported is read in one go, and cannot be continued.
            let resume = match manifest.imported {
                Some(_) => String::new(),
                None => format!("continue with `--resume {name}`, or "),
            };
            let of_another = other_experiment(directory, manifest);
            return Err(Error::input(match of_another.filter(|_| manifest.imported.is_none()) {
                Some(what) => format!(
                    "{name} already holds results of another experiment ({what}); give `--out` another directory"
                ),
                None => {
                    format!("{name} already holds results; {resume}give `--out` another directory")
                }
            }));
        }
        if has_trials {
            return Err(lost_manifest(directory));
        }
        // The manifest comes last and whole: a directory with a manifest is a results directory.
        store.replace_manifest(manifest)?;
        Ok(store)
    }

    /// Goes on with a results directory; gives what is finished. A last line that was cut off when the
    /// run was interrupted is taken away, and one of an older format becomes one of this: its digests say
    /// that the files are those of then.
    ///
    /// # Errors
    ///
    /// Where it holds the results of another experiment, or anything in it is wrong.
    pub fn resume(
        directory: &Path,
        manifest: &Manifest,
        complete: Complete,
    ) -> Result<(Self, Vec<Record>)> {
        if !directory.join(MANIFEST).exists() && directory.join(TRIALS).exists() {
            return Err(lost_manifest(directory));
        }
        let mut there = Manifest::read(directory)?;
        let format = there.format;
        complete(&mut there, &[]);
        if format != FORMAT {
            // They follow from the experiment, which is compared.
            there.only_read.clone_from(&manifest.only_read);
        }
        // How values are written is no part of what is run.
        let factors = std::mem::replace(&mut there.factors, manifest.factors.clone());
        // Nor what is known of drives' buffers, which says nothing of what they do.
        for (name, drive) in &mut there.drives {
            if let Some(of) = manifest.drives.get(name) {
                drive.buffer_is_guessed = of.buffer_is_guessed;
            }
        }
        // Neither is what is doubtful of it today: it is added to what was doubtful before.
        let known = std::mem::replace(&mut there.doubts, manifest.doubts.clone());
        // Nor is what members tell of the moment: how warm they are, and how worn.
        let mut told = there.machine.clone();
        told.retain(|name, _| is_of_the_moment(name));
        there.machine.retain(|name, _| !is_of_the_moment(name));
        there.machine.extend(
            manifest.machine.clone().into_iter().filter(|(name, _)| is_of_the_moment(name)),
        );
        // What says nothing of a trial may change; reports are of what it is now.
        let is_reworded = there.take_words_of(manifest);
        if there != *manifest {
            let is_of_it =
                Manifest { ileave: manifest.ileave.clone(), ..there.clone() } == *manifest;
            let what = if is_of_it {
                format!("it is of ileave {}, and this is {}", there.ileave, manifest.ileave)
            } else {
                let as_written = Manifest { factors, ..there.clone() };
                as_written.difference(manifest, ["the store", "your file"])
            };
            let apart = there.settings_apart(manifest);
            let option = match apart.as_slice() {
                [one] => one.option().map(|option| format!("go on with `{option}`, ")),
                _ => None,
            };
            let option = option.unwrap_or_default();
            return Err(Error::input(format!(
                "{} holds the results of another experiment ({what}); {option}give the directory \
                 that this one was started in, or start anew with `--out`",
                directory.display()
            )));
        }
        let mut store = Store::open(directory)?;
        let added = there.doubts.iter().any(|doubt| !known.contains(doubt));
        if format != FORMAT || added || is_reworded {
            there.doubts.retain(|doubt| !known.contains(doubt));
            there.doubts.splice(0..0, known);
            there.machine.retain(|name, _| !is_of_the_moment(name));
            there.machine.extend(told);
            there.format = FORMAT;
            store.replace_manifest(&there)?;
        }
        mend_last_line(&mut store.trials, &directory.join(TRIALS), true)?;
        mend_last_line(&mut store.attempts, &directory.join(ATTEMPTS), false)?;
        let records = read_records(&directory.join(TRIALS), manifest)?;
        Ok((store, records))
    }

    /// Opens the files, and locks them against another ileave for as long as this one has them.
    fn open(directory: &Path) -> Result<Self> {
        let open = |name: &str| {
            let path = directory.join(name);
            if fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
                let next = "remove it, or give `--out` another directory";
                return Err(Error::input(format!(
                    "{} is not a regular file; {next}",
                    path.display()
                )));
            }
            OpenOptions::new()
                .create(true)
                .read(true)
                .append(true)
                .open(directory.join(name))
                .map_err(|error| writing(&directory.join(name), &error))
        };
        let (trials, attempts) = (open(TRIALS)?, open(ATTEMPTS)?);
        let attempts = Held::alone_where_it_can_be(attempts).ok_or_else(|| {
            Error::input(format!(
                "another ileave is writing to {}; wait for it, or give `--out` another directory",
                directory.display()
            ))
        })?;
        Ok(Store { directory: directory.into(), trials, attempts })
    }

    fn replace_manifest(&mut self, manifest: &Manifest) -> Result<()> {
        let text = toml::to_string(manifest).map_err(Error::failure)?;
        self.replace(MANIFEST, text.as_bytes())
    }

    /// Puts a whole file in the place of one of the directory's, or of none.
    fn replace(&mut self, name: &str, text: &[u8]) -> Result<()> {
        let path = self.directory.join(name);
        let draft = self.directory.join(format!("{name}.new"));
        File::create(&draft)
            .and_then(|mut file| file.write_all(text).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&draft, &path))
            .and_then(|()| File::open(&self.directory)?.sync_all())
            .map_err(|error| writing(&path, &error))
    }

    /// Where the results are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Keeps finished trials, each with the CPU time it took, in any order; they are on the disk when
    /// this returns.
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
            let attempt = Attempt::now(record.trial, AttemptEvent::Finished);
            self.attempt(&Attempt { cpu_s: Some(*cpu_s), ..attempt })?;
        }
        Ok(())
    }

    /// Keeps a text of a trial's beside its record, in `kept/`.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    pub fn keep(&mut self, trial: usize, name: &str, text: &str) -> Result<()> {
        let directory = self.directory.join(KEPT);
        let path = directory.join(format!("trial-{trial}-{name}"));
        fs::create_dir_all(&directory)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| writing(&path, &error))
    }

    /// All trials are there: puts them in plan order.
    ///
    /// # Errors
    ///
    /// Where that cannot be written; what was kept is kept.
    pub fn finish(&mut self, records: &[&Record]) -> Result<()> {
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record).map_err(Error::failure)?;
            lines.push(b'\n');
        }
        self.replace(TRIALS, &lines)
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
    pub fn read(directory: &Path, complete: Complete) -> Result<Self> {
        let mut manifest = Manifest::read(directory)?;
        let records = read_records(&directory.join(TRIALS), &manifest)?;
        complete(&mut manifest, &records);
        let suspects = suspect::disturbed(&directory.join(ATTEMPTS))?;
        let finished = records.len();
        let trials = Some(Trials { planned: manifest.trials, finished });
        let happened = Happened { trials, ..Happened::read(directory)? };
        Ok(Results { manifest, records, finished, suspects, happened })
    }

    /// The same with all windows of a trace as one record, as reports have them.
    ///
    /// # Errors
    ///
    /// Where a histogram of a window cannot be read.
    pub fn joined(mut self) -> Result<Self> {
        self.records = windows::joined(&mut self.manifest, self.records)?;
        Ok(self)
    }
}

/// What a calibration tells of a member that was filled first: by how many percent its rate still changed in the end.
pub const UNSETTLED: &str = "unsettled_percent";

/// What a machine's entry is called that differs each time it is asked, behind the name of its member.
pub const OF_THE_MOMENT: [&str; 3] = ["temperature_c", "wear_percent", "power_on_h"];

fn is_of_the_moment(name: &str) -> bool {
    OF_THE_MOMENT.iter().any(|last| name.rsplit('.').next() == Some(last))
}

/// Whether a directory holds results, finished or not.
pub fn is_results(directory: &Path) -> bool {
    directory.join(MANIFEST).exists()
}

/// Whether a file is one that a results directory consists of, which nothing else may write.
pub fn is_own_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| [MANIFEST, TRIALS, ATTEMPTS].contains(&name))
}

/// How the experiment whose results are there differs from this one, where a run could not go on with them.
fn other_experiment(directory: &Path, manifest: &Manifest) -> Option<String> {
    let mut there = Manifest::read(directory).ok()?;
    there.take_words_of(manifest);
    let is_other = there.name != manifest.name || !there.settings_apart(manifest).is_empty();
    is_other.then(|| there.difference(manifest, ["the store", "your file"]))
}

/// Refuses a directory that holds anything but results: a run would scatter its files among them.
fn refuse_other_files(directory: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    let mut names = entries.flatten().map(|entry| entry.file_name());
    let is_results = directory.join(MANIFEST).is_file();
    let is_own = |name: &std::ffi::OsString| {
        let name = name.to_string_lossy();
        is_own_file(Path::new(name.trim_end_matches(".new")))
    };
    match names.find(|name| !is_results && !is_own(name)) {
        None => Ok(()),
        Some(other) => Err(Error::input(format!(
            "{} is neither empty nor a results directory (it has {}); give `--out` a directory that is \
             not there yet, as in `{}`",
            directory.display(),
            other.display(),
            directory.join("results").display()
        ))),
    }
}

/// Trials without a manifest cannot be interpreted, but they must not be lost either.
fn lost_manifest(directory: &Path) -> Error {
    Error::input(format!(
        "{} holds trials but no {MANIFEST}, so their experiment is not known; put the \
         {MANIFEST} back to continue, or give `--out` another directory to start anew",
        directory.display()
    ))
}

/// Makes a directory and what leads to it, each name on the disk before this returns.
fn create_synced(directory: &Path) -> std::io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let parent = match directory.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    create_synced(parent)?;
    match fs::create_dir(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    File::open(parent)?.sync_all()
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

fn writing(path: &Path, error: &std::io::Error) -> Error {
    let next = match error.kind() {
        std::io::ErrorKind::StorageFull => "; the disk is full: make room",
        _ => "; give `--out` a directory that you may write",
    };
    Error::failure(format!("cannot write {}: {error}{next}", path.display()))
}

fn unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
