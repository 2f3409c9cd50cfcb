//! Hands tasks over until their results are there.

use super::{Plan, REFUSED};
use crate::engines::HandOver;
use crate::flags::SubmitFlags;
use crate::progress::Bar;
use lab::{Error, Result};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::process::{Child, Command, Stdio};
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
        let last_line = |name: String| {
            let text = fs::read(folder.join(&name)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let line = text.lines().map(str::trim).rfind(|line| !line.is_empty());
            line.map(|line| format!("; {name} ends with: {line}"))
        };
        let left: Vec<u64> = self.left().map(|task| task.number).collect();
        let first = left.first().copied().unwrap_or_default();
        let said = last_line(format!("task-{first}.log"));
        let said = said.into_iter().chain(last_line("engine.log".into())).collect::<String>();
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
