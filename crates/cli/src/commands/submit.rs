//! `ileave submit`: an experiment on many machines.
//!
//! ```text
//! OUT/                    the results, locked by this command: a second one is refused
//! OUT/shards/task.sh      runs the shard whose number it is given
//! OUT/shards/I-of-N/      the results of a shard, locked while it runs
//! OUT/shards/task-I.log   what it said
//! OUT/shards/refused      why a task cannot run, however often it is started
//! OUT/shards/engine.log   what the engine said
//! ```
//!
//! All that is known of a shard is what its results say. So this command may be killed and given again, and an engine
//! may lose tasks or run them twice. When all is there, it is merged and `shards/` is removed.

mod rounds;

use super::run::{read_experiment, safe_name, warn};
use crate::engines::{HandOver, Job};
use crate::flags::{ExperimentFlags, SubmitFlags};
use crate::interrupt::{self, quoted};
use crate::progress::Bar;
use lab::capabilities::Members;
use lab::experiment::Experiment;
use lab::rig::{Given, KINDS, Opening, RigKind, Undo};
use lab::run::{Opened, Run};
use lab::{Error, Keep, Result, published, read_results};
use rounds::{Rounds, Task};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use store::{Follower, Results, Shard};
use verdict::judge::trials::enough_repeats;

/// Shards for each worker, where nobody says how many: so many that one that is longer than others does not leave the
/// other workers idle for long, and so few that starting them costs little.
const SHARDS_PER_WORKER: u64 = 8;

/// Where in a results directory the shards are, until they are merged.
pub(super) const SHARDS: &str = "shards";

/// The script of all tasks.
const TASK: &str = "task.sh";

/// Where a task says that it cannot run.
const REFUSED: &str = "refused";

/// Runs an experiment in shards that an engine hands out.
pub(crate) fn submit(flags: &SubmitFlags) -> Result<String> {
    let experiment = read_experiment(&flags.experiment)?;
    let kind = kind_of(&experiment)?;
    let bar = Bar::new();
    let again = interrupt::this_command(&[], &[]);
    let said = format!(
        "\nInterrupted; what is finished is kept, and tasks that run go on.\nContinue: {again}"
    );
    let undo = Undo::default();
    let _last = interrupt::watch(&bar, undo.clone(), said)?;
    let uses_files = lab::experiment::Plan::on(&experiment, &(kind.capabilities)())?.uses_files();
    let mut opening = Opening { ask: &mut |_| Ok(None), experiment: &experiment, uses_files, undo };
    let rig = kind.open(&Given::default(), &mut opening)?;
    let run = Run::plan(&experiment, &*rig)?;
    refuse_comparisons(&run, &experiment.origin)?;
    run.manifest().asked(&flags.experiment.choose).map_err(|error| error.context("--choose"))?;
    run.warnings().iter().for_each(|warning| warn(warning));
    run.admit()?;
    published::of(run.manifest()).map_err(|error| error.context(&experiment.origin))?;
    verdict::check_objective(run.manifest(), &run.expected())
        .map_err(|error| error.context(&experiment.origin))?;
    let out = match &flags.out {
        Some(out) => out.clone(),
        None => Path::new("ileave-results").join(safe_name(&experiment.name)),
    };
    let plan = Plan::new(flags, &run, &out)?;
    if flags.plan {
        return plan.text(flags);
    }
    flags.engine.check()?;
    let opened = run.open(Keep::Continue(&out))?;
    plan.finish(flags, opened, &bar)?;
    bar.finish();
    let Results { manifest, records, happened, .. } = read_results(&out)?;
    let records = records.into_iter().map(|record| (record, None)).collect();
    let out = out.display().to_string();
    let (said, unmet) = super::run::verdict(&manifest, records, &happened, flags.json, &out)?;
    super::run::printed_before(said, unmet)
}

/// The rig of the experiment, whose members any machine can have.
///
/// # Errors
///
/// Where they are real: two trials on the same disks would disturb each other, and no engine knows which disks a trial uses.
fn kind_of(experiment: &Experiment) -> Result<&'static RigKind> {
    let Some(on) = experiment.run().on else { return Ok(&KINDS[0]) };
    let kind = RigKind::find(&on)
        .map_err(|error| error.context(format!("{}: `run.on`", experiment.origin)))?;
    if (kind.capabilities)().members == Members::Modelled {
        return Ok(kind);
    }
    Err(Error::input(format!(
        "{}: `run.on` = {on}: trials on real members are not handed to an engine; run them on the machine that \
         has the members: `ileave run FILE --on {on}`",
        experiment.origin
    )))
}

/// # Errors
///
/// Where comparisons end the repeats: no shard has the cells that are compared.
fn refuse_comparisons(run: &Run<'_>, origin: &str) -> Result<()> {
    match enough_repeats::within(run.manifest()) {
        None => Ok(()),
        Some(_) => Err(Error::input(format!(
            "{origin}: `run.compare_within` (`--within`) compares all cells after each repeat, and no shard has all of them; give \
             `--repeat N` without it, or use `ileave run`"
        ))),
    }
}

/// What is handed over, and where it is.
struct Plan {
    /// What tasks are called in the engine.
    name: String,
    /// The directory that tasks run in.
    directory: PathBuf,
    /// Where shards are; absolute.
    folder: PathBuf,
    /// How many trials each shard has.
    shards: Vec<(Shard, usize)>,
    workers: u64,
    /// The script of all tasks.
    script: String,
}

impl Plan {
    fn new(flags: &SubmitFlags, run: &Run<'_>, out: &Path) -> Result<Self> {
        let directory = std::env::current_dir().map_err(|error| {
            Error::failure(format!("cannot tell the current directory: {error}"))
        })?;
        let folder = directory.join(out).join(SHARDS);
        let here = available_parallelism().map_or(1, usize::from) as u64;
        let workers = flags.workers.unwrap_or(here);
        let trials = run.manifest().trials.max(1) as u64;
        let there = shards_there(&folder)?;
        if let (Some(there), Some(asked)) = (there, flags.shards)
            && there != asked
        {
            return Err(Error::input(format!(
                "{} was started with {there} shards, not {asked}; give `--shards {there}`, or another `--out`",
                out.display()
            )));
        }
        let of = there.or(flags.shards).unwrap_or((workers * SHARDS_PER_WORKER).min(trials));
        let shards: Vec<(Shard, usize)> = run.trials_by_shard(of).into_iter().collect();
        let program = match &flags.ileave {
            Some(program) => program.display().to_string(),
            None if flags.engine.in_containers => "ileave".into(),
            None => this_program()?,
        };
        let script = script(&directory, &folder, &program, &flags.experiment, of);
        let name = safe_name(&run.manifest().name);
        Ok(Plan { name, directory, folder, shards, workers, script })
    }

    /// What is written and run for these tasks.
    fn hand_over(&self, flags: &SubmitFlags, tasks: &[u64]) -> Result<HandOver> {
        let job = Job {
            name: &self.name,
            folder: &self.folder,
            directory: &self.directory,
            tasks,
            workers: self.workers,
            options: &flags.options,
        };
        (flags.engine.hand_over)(&job)
    }

    /// The shards that have trials.
    fn numbers(&self) -> Vec<u64> {
        let some = self.shards.iter().filter(|(_, trials)| *trials > 0);
        some.map(|(shard, _)| shard.number()).collect()
    }

    /// What would be written and run.
    fn text(&self, flags: &SubmitFlags) -> Result<String> {
        let HandOver { files, command } = self.hand_over(flags, &self.numbers())?;
        let mut text = String::new();
        for (name, file) in [(TASK, self.script.clone())].into_iter().chain(files) {
            let _ = writeln!(text, "# {}\n{file}", self.folder.join(name).display());
        }
        let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
        let _ = writeln!(text, "# command\n{}", words.join(" "));
        Ok(text)
    }

    fn shard_directory(&self, shard: Shard) -> PathBuf {
        self.folder.join(format!("{}-of-{}", shard.number(), shard.of()))
    }

    /// Has all shards run, and takes what they have.
    fn finish(&self, flags: &SubmitFlags, opened: Opened<'_>, bar: &Bar) -> Result<()> {
        let trials = self.shards.iter().map(|(_, trials)| trials).sum::<usize>();
        if opened.finished() < trials {
            self.write(&[(TASK, self.script.clone())])?;
            // An earlier command's.
            let _ = fs::remove_file(self.folder.join(REFUSED));
            let some = self.shards.iter().filter(|(_, trials)| *trials > 0);
            let tasks = some.map(|(shard, trials)| Task {
                number: shard.number(),
                trials: *trials,
                results: Follower::new(&self.shard_directory(*shard)),
            });
            let mut rounds = Rounds { plan: self, flags, bar, tasks: tasks.collect(), ended: None };
            rounds.run(trials)?;
            let directories: Vec<PathBuf> =
                rounds.tasks.iter().map(|task| task.results.directory().into()).collect();
            let merged = opened.take(&directories)?;
            if !merged.missing.is_empty() {
                return Err(Error::failure(format!(
                    "trials {} are missing although their shards are finished; give the same command again",
                    store::ranges(&merged.missing)
                )));
            }
        }
        // What is left of it is in the way of nobody, and the next run removes it.
        let _ = fs::remove_dir_all(&self.folder);
        Ok(())
    }

    fn write(&self, files: &[(&str, String)]) -> Result<()> {
        for (name, text) in files {
            let path = self.folder.join(name);
            fs::create_dir_all(&self.folder).and_then(|()| fs::write(&path, text)).map_err(
                |error| {
                    let next = "give `--out` a directory that you may write";
                    Error::failure(format!("cannot write {}: {error}; {next}", path.display()))
                },
            )?;
        }
        Ok(())
    }
}

/// How many shards an earlier command made here, if one did.
fn shards_there(folder: &Path) -> Result<Option<u64>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(None) };
    let mut there = None;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let parts = name.to_str().and_then(|name| name.split_once("-of-"));
        let Some(of) = parts.and_then(|(_, of)| of.parse().ok()) else { continue };
        if there.is_some_and(|there| there != of) {
            return Err(Error::input(format!(
                "{} has shards of several divisions; merge them by `ileave merge … --partial`",
                folder.display()
            )));
        }
        there = Some(of);
    }
    Ok(there)
}

fn this_program() -> Result<String> {
    let program = std::env::current_exe();
    let program = program.map(|program| program.display().to_string());
    program.map_err(|error| {
        Error::failure(format!("cannot tell where this program is: {error}; give `--ileave PATH`"))
    })
}

/// The script that runs one shard. An engine may run it again: a shard goes on where it was, and one that runs
/// already is left alone.
fn script(
    directory: &Path,
    folder: &Path,
    program: &str,
    experiment: &ExperimentFlags,
    of: u64,
) -> String {
    let words: Vec<String> = experiment.words().iter().map(|word| quoted(word)).collect();
    let folder = quoted(&folder.display().to_string());
    format!(
        "#!/bin/sh\n\
         # Runs a shard: sh {TASK} NUMBER\n\
         cd {} || exit\n\
         exec {} run {} --lanes 1 --shard \"$1/{of}\" --out {folder}/\"$1-of-{of}\" --refusal {folder}/{REFUSED} \\\n  \
           </dev/null >>{folder}/\"task-$1.log\" 2>&1\n",
        quoted(&directory.display().to_string()),
        quoted(program),
        words.join(" ")
    )
}
