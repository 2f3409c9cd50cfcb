//! Hands tasks over until their results are there.

use super::{Plan, REFUSED};
use crate::engines::HandOver;
use crate::flags::SubmitFlags;
use crate::progress::Bar;
use lab::{Error, Result};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use store::Follower;

/// How often the results are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long an engine may take to end after the last task.
const END_WITHIN: Duration = Duration::from_secs(2);
/// So many rounds in which no trial is finished are enough.
const IDLE_ROUNDS_MAX: u32 = 3;

/// A shard that is to be run.
pub(super) struct Task {
    pub(super) number: u64,
    /// How many trials it has.
    pub(super) trials: usize,
    pub(super) results: Follower,
}

/// A round hands over all tasks that are left, and ends when the engine's command has.
pub(super) struct Rounds<'a> {
    pub(super) plan: &'a Plan,
    pub(super) flags: &'a SubmitFlags,
    pub(super) bar: &'a Bar,
    pub(super) tasks: Vec<Task>,
    /// How the engine's command of the last round ended, where it did.
    pub(super) ended: Option<ExitStatus>,
}

/// The last line that is not blank: what a task ended with.
fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

/// The first line that says something of this run: engines print their usage behind an error, and GNU parallel asks to be cited.
fn telling_line(text: &str) -> Option<&str> {
    const OF_CITATION: [&str; 5] = ["cite", "citing", "citation", "Tange", "GNU Parallel"];
    let is_telling =
        |line: &&str| !line.is_empty() && !OF_CITATION.iter().any(|word| line.contains(word));
    text.lines().map(str::trim).find(is_telling)
}

impl Rounds<'_> {
    /// Until all is there.
    pub(super) fn run(&mut self, trials: usize) -> Result<()> {
        let mut finished = self.finished();
        self.bar.trials(finished, trials);
        let mut idle = 0;
        while finished < trials || self.is_written() {
            let left: Vec<u64> = self
                .left()
                .filter(|task| !task.results.is_written())
                .map(|task| task.number)
                .collect();
            if left.is_empty() {
                // Tasks of an earlier command, or of an engine that has gone, are at work.
                sleep(LOOK_EVERY);
            } else {
                self.round(&left)?;
            }
            let now = self.finished();
            idle = if now > finished || left.is_empty() { 0 } else { idle + 1 };
            finished = now;
            if idle == IDLE_ROUNDS_MAX {
                return Err(self.stuck());
            }
        }
        Ok(())
    }

    /// How many trials are finished, each shard's at most as many as it has.
    fn finished(&mut self) -> usize {
        let finished =
            self.tasks.iter_mut().map(|task| task.results.finished().min(task.trials)).sum();
        self.bar.at(finished);
        finished
    }

    fn is_written(&self) -> bool {
        self.tasks.iter().any(|task| task.results.is_written())
    }

    /// The tasks that lack trials.
    fn left(&mut self) -> impl Iterator<Item = &Task> {
        self.tasks.iter_mut().filter_map(|task| {
            let is_left = task.results.finished() < task.trials;
            is_left.then_some(&*task)
        })
    }

    fn round(&mut self, tasks: &[u64]) -> Result<()> {
        let HandOver { files, command } = self.plan.hand_over(self.flags, tasks)?;
        self.plan.write(&files)?;
        let mut child = self.start(&command)?;
        let mut complete_since = None;
        loop {
            let ended = child.try_wait().map_err(Error::failure)?;
            self.finished();
            if let Some(error) = self.refusal() {
                // The others would say the same.
                let _ = child.kill();
                child.wait().map_err(Error::failure)?;
                return Err(error);
            }
            if ended.is_some() {
                self.ended = ended;
                return Ok(());
            }
            if self.left().next().is_none() {
                let since = *complete_since.get_or_insert_with(Instant::now);
                if since.elapsed() > END_WITHIN && !self.is_written() {
                    // It has nothing left to do, whatever it waits for.
                    let _ = child.kill();
                    child.wait().map_err(Error::failure)?;
                    return Ok(());
                }
            }
            sleep(LOOK_EVERY);
        }
    }

    fn start(&self, command: &[String]) -> Result<Child> {
        let log = self.plan.folder.join("engine.log");
        let opened = File::options().create(true).append(true).open(&log);
        let output = opened.and_then(|file| Ok((file.try_clone()?, file)));
        let (out, err) = output
            .map_err(|error| Error::failure(format!("cannot write {}: {error}", log.display())))?;
        let (program, arguments) = command.split_first().expect("an engine has a command");
        let mut starts = Command::new(program);
        starts.args(arguments).stdin(Stdio::null()).stdout(out).stderr(err);
        starts.spawn().map_err(|error| {
            let engine = self.flags.engine;
            if error.kind() == ErrorKind::NotFound {
                let name = engine.name;
                return Error::input(format!(
                    "`--engine {name}`: there is no `{program}` here; {}, or take another engine",
                    engine.install
                ));
            }
            Error::failure(format!("cannot start `{program}`: {error}"))
        })
    }

    /// Why a task cannot run, where one has said so: to hand it over again does not help.
    fn refusal(&self) -> Option<Error> {
        let said = fs::read_to_string(self.plan.folder.join(REFUSED)).ok()?;
        let (engine, folder) = (self.flags.engine.name, self.plan.folder.display());
        Some(Error::input(format!(
            "`{engine}`: {}; tasks that it has begun go on, and what they finish stays in {folder}",
            said.trim()
        )))
    }

    /// What to say where the engine hands tasks back undone.
    fn stuck(&mut self) -> Error {
        let folder = &self.plan.folder;
        let text = |name: &str| {
            let text = fs::read(folder.join(name)).unwrap_or_default();
            String::from_utf8_lossy(&text).into_owned()
        };
        let left: Vec<u64> = self.left().map(|task| task.number).collect();
        let first = left.first().copied().unwrap_or_default();
        let log = format!("task-{first}.log");
        let of_task = last_line(&text(&log)).map(|line| format!("; {log} ends with: {line}"));
        let of_engine =
            telling_line(&text("engine.log")).map(|line| format!("; engine.log says: {line}"));
        let mut said = of_task.into_iter().chain(of_engine).collect::<String>();
        if said.is_empty() {
            let ended =
                self.ended.map(|ended| format!(", and its last command ended with {ended}"));
            said = format!("; no log says why{}", ended.unwrap_or_default());
        }
        Error::failure(format!(
            "`{}` has run {} of {} shards {IDLE_ROUNDS_MAX} times without finishing a trial{said}; see {}, and give the \
             same command again to continue",
            self.flags.engine.name,
            left.len(),
            self.tasks.len(),
            folder.display()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::telling_line;

    /// The last line of what GNU parallel prints is of how to cite it.
    #[test]
    fn what_an_engine_says_first_is_told() {
        let usage = "\nUnknown option: bogus\nUsage:\n\nparallel [options]\n\nSee 'man parallel' for details\n\nAcademic \
                     tradition requires you to cite works you base your article on.\n";
        assert_eq!(telling_line(usage), Some("Unknown option: bogus"));
        let cites = "Academic tradition requires you to cite works you base your article on.\n\n  Tange, O. (2024).\n\n\
                     parallel: Error: no such host\n";
        assert_eq!(telling_line(cites), Some("parallel: Error: no such host"));
        assert_eq!(telling_line(" \n\n"), None);
    }
}
