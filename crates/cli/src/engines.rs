//! Programs that run tasks on many machines: what each is given, and how it is started. One file an engine.
//!
//! A task is one shard: `sh FOLDER/task.sh NUMBER`, the same for every engine. An engine says which files it wants and
//! which command hands all tasks over and ends when they have ended. What the tasks have done is read from the results,
//! never from the engine, so an engine may lose tasks, forget them, or run them twice.

mod dask;
mod hyperqueue;
mod kubernetes;
mod parallel;
mod slurm;

use crate::interrupt::quoted;
use lab::{Error, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What an engine is asked to do.
pub(crate) struct Job<'a> {
    /// What it may be called.
    pub(crate) name: &'a str,
    /// Where its files go, and where the tasks' script is; absolute.
    pub(crate) folder: &'a Path,
    /// Where the tasks run.
    pub(crate) directory: &'a Path,
    /// The numbers of the shards.
    pub(crate) tasks: &'a [u64],
    /// How many may run at a time.
    pub(crate) workers: u64,
    /// What the person wants the engine to be told: its own options.
    pub(crate) options: &'a [String],
}

/// What is written and run for it.
pub(crate) struct HandOver {
    /// Files of the job's folder, by name.
    pub(crate) files: Vec<(&'static str, String)>,
    /// The command, word by word.
    pub(crate) command: Vec<String>,
}

/// An engine.
#[derive(Debug)]
pub(crate) struct Engine {
    /// What `--engine` calls it.
    pub(crate) name: &'static str,
    /// What it is, for the help.
    pub(crate) about: &'static str,
    /// How to come by it, for whoever has not got it.
    pub(crate) install: &'static str,
    /// A command that works where the engine is installed; none where starting it says so.
    pub(crate) probe: &'static [&'static str],
    /// Whether tasks run in a container, so that this program's path means nothing there.
    pub(crate) in_containers: bool,
    /// What is written and run for a job.
    pub(crate) hand_over: fn(&Job<'_>) -> Result<HandOver>,
}

/// The engines that there are.
pub(crate) const ENGINES: &[Engine] =
    &[parallel::ENGINE, slurm::ENGINE, dask::ENGINE, kubernetes::ENGINE, hyperqueue::ENGINE];

impl Engine {
    /// # Errors
    ///
    /// Where it is not installed; the message says how to come by it. Where a shell or a script starts it, its tasks would be
    /// handed over in vain, round by round.
    pub(crate) fn check(&self) -> Result<()> {
        let Some((program, arguments)) = self.probe.split_first() else { return Ok(()) };
        let tried = Command::new(program).args(arguments).stdin(Stdio::null()).output();
        let why = match tried {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
                let words = [&[*program], arguments].concat().join(" ");
                format!("`{words}` fails here: {}", last.unwrap_or("it says nothing"))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                format!("there is no `{program}` here")
            }
            Err(error) => format!("`{program}` cannot be started here: {error}"),
        };
        let (name, install) = (self.name, self.install);
        Err(Error::input(format!("`--engine {name}`: {why}; {install}, or take another engine")))
    }
}

impl Job<'_> {
    /// The script that runs the shard whose number it is given.
    fn script(&self) -> PathBuf {
        self.folder.join("task.sh")
    }

    /// It as a shell takes it for one word.
    fn quoted_script(&self) -> String {
        quoted(&self.script().display().to_string())
    }

    /// The numbers of the tasks, with `between` between them.
    fn list(&self, between: &str) -> String {
        self.tasks.iter().map(u64::to_string).collect::<Vec<_>>().join(between)
    }

    /// A command: `before`, the person's options, `after`.
    fn command(&self, before: &[&str], after: &[&str]) -> Vec<String> {
        let before = before.iter().map(|word| (*word).to_string());
        let after = after.iter().map(|word| (*word).to_string());
        before.chain(self.options.iter().cloned()).chain(after).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_is_given_every_task() {
        let options = ["--image".to_string(), "i".into(), "--claim".into(), "c".into()];
        for engine in ENGINES {
            let job = Job {
                name: "sweep",
                folder: Path::new("/here/results/shards"),
                directory: Path::new("/here"),
                tasks: &[3, 1234, 77],
                workers: 5,
                options: &options,
            };
            let HandOver { files, command } = (engine.hand_over)(&job).unwrap();
            let all: String = files.iter().map(|(_, text)| text.as_str()).collect();
            let all = all + &command.join(" ");
            for task in job.tasks {
                assert!(all.contains(&task.to_string()), "{}: {all}", engine.name);
            }
            assert!(all.contains("/here/results/shards/task.sh"), "{}: {all}", engine.name);
        }
    }
}
