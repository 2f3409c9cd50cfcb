//! `ileave run`.

use super::{print_json, published_of, reasons, run_text};
use crate::flags::RunFlags;
use crate::interrupt;
use crate::progress::Bar;
use crate::terminal::{Colour, harmless, message};
use lab::experiment::{Experiment, Plan};
use lab::formats::fio;
use lab::rig::{Opening, Undo};
use lab::run::{Ran, Run, check_rig};
use lab::runner::Finished;
use lab::{Error, Keep, Result};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use store::input;
use store::record::Record;
use verdict::report::json;
use verdict::{Verdict, Wishes};

/// Runs an experiment.
pub(crate) fn run(flags: &RunFlags) -> Result<String> {
    let experiment = read_experiment(flags)?;
    let kind = flags.rig.kind;
    kind.check(&flags.rig.given)?;
    check_rig(&experiment, kind.name)?;
    // Errors in the experiment come first, before any disk is opened.
    let uses_files = Plan::on(&experiment, &(kind.capabilities)())?.uses_files();
    let bar = Bar::new();
    let again = interrupt::this_command(&[], &[]);
    let undo = Undo::default();
    let last = interrupt::watch(
        &bar,
        undo.clone(),
        format!("\nInterrupted before the first trial; nothing is kept.\nStart again: {again}"),
    )?;
    let rig = kind.open(&flags.rig.given, &mut Opening { ask: &mut ask, uses_files, undo })?;
    let rig = &*rig;
    let run = Run::plan(&experiment, rig)?;
    // What the command line asks for must be varied.
    run.manifest().asked(&flags.choose).map_err(|error| error.context("--choose"))?;
    run.warnings().iter().for_each(|warning| warn(warning));
    run.admit()?;
    if flags.rig.given.has("plan") {
        return run.commands();
    }
    published_of(run.manifest()).map_err(|error| error.context(&experiment.origin))?;
    verdict::check_objective(run.manifest(), &run.expected())
        .map_err(|error| error.context(&experiment.origin))?;
    let directory = match (&flags.resume, &flags.out) {
        (Some(directory), _) | (None, Some(directory)) => directory.clone(),
        (None, None) => free_directory(&experiment.name),
    };
    let resumes = flags.resume.is_some();
    let opened = run.open(if resumes { Keep::Resume(&directory) } else { Keep::In(&directory) })?;
    let directory = directory.display();
    let go_on =
        interrupt::this_command(&["--out", "--resume"], &["--resume", &directory.to_string()]);
    last.say(format!("\nInterrupted; finished trials are kept.\nContinue: {go_on}"));
    let ran = opened.finish(&mut |progress| bar.update(&progress));
    bar.finish();
    let Ran { manifest, finished } = ran?;
    let manifest = manifest.asked(&[])?;
    let verdict_on = |records: &[Record]| {
        Verdict::new(&manifest, records, &Wishes::default()).map_err(|error| {
            let next = "give another objective: `ileave report";
            error.followed_by(format!("the results are kept; {next} {directory} --objective …`"))
        })
    };
    if flags.json {
        let (records, cpu): (Vec<Record>, Vec<Option<f64>>) =
            finished.into_iter().map(|Finished { record, cpu_s }| (record, cpu_s)).unzip();
        let verdict = verdict_on(&records)?;
        let why = reasons(&manifest, &records, &verdict);
        let run = json::run(records.iter().zip(cpu), &why);
        return Ok(print_json(&json::with_verdict(run, &verdict)));
    }
    let records: Vec<Record> = finished.into_iter().map(|finished| finished.record).collect();
    let verdict = verdict_on(&records)?;
    let mut output = run_text(&manifest, &records, &verdict)?;
    writeln!(output, "\nResults: {directory}").expect("a string grows");
    Ok(output)
}

/// Asks on the terminal; without one there is no answer.
fn ask(question: &str) -> Result<Option<String>> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(None);
    }
    // If standard error is closed too, there is no way left to ask.
    let _ = std::io::stderr().lock().write_all(harmless(question).as_bytes());
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    read.map_err(|error| Error::failure(format!("cannot read your answer: {error}")))?;
    Ok(Some(line.trim_end_matches(['\n', '\r']).to_string()))
}

fn read_experiment(flags: &RunFlags) -> Result<Experiment> {
    let origin = flags.file.display().to_string();
    let text = read_file(&flags.file)?;
    let is_job = flags.file.extension().is_some_and(|end| end.eq_ignore_ascii_case("fio"));
    let mut experiment = if is_job {
        let job = fio::read(&origin, &text)?;
        for warning in job.warnings {
            warn(&warning);
        }
        let name = flags.file.file_stem().map_or("job".into(), |stem| stem.to_string_lossy());
        let mut experiment = Experiment::parse(&origin, &job.experiment)?;
        experiment.name = name.into();
        experiment
    } else {
        Experiment::parse(&origin, &text)?
    };
    set(&mut experiment, "--drives", "volume.drives", flags.drives.as_ref())?;
    set(&mut experiment, "--level", "volume.level", flags.level.as_ref())?;
    set(&mut experiment, "--interleave", "volume.interleave", flags.interleave.as_ref())?;
    for assignment in &flags.set {
        experiment.set(assignment)?;
    }
    set(&mut experiment, "--repeat", "run.repeats", flags.repeat)?;
    set(&mut experiment, "--seed", "run.seed", flags.seed)?;
    let choose = Some(flags.choose.join(",")).filter(|keys| !keys.is_empty());
    set(&mut experiment, "--choose", "ask.choose", choose)?;
    Ok(experiment)
}

/// The text of an experiment file.
pub(super) fn read_file(file: &Path) -> Result<String> {
    input::read_text(file, input::TEXT_BYTES).map_err(|error| {
        Error::input(format!(
            "cannot read the experiment file {}: {error}; give the path of a TOML file, as in \
             experiments/fair-2006.toml",
            file.display()
        ))
    })
}

/// Sets a key that has a flag of its own, if the flag is given.
fn set<T: ToString>(
    experiment: &mut Experiment,
    flag: &str,
    path: &str,
    value: Option<T>,
) -> Result<()> {
    let Some(value) = value.map(|value| value.to_string()) else { return Ok(()) };
    experiment.set_values(path, &value).map_err(|error| error.context(format!("{flag} {value}")))
}

/// Where standard error is closed, nobody wants to know.
pub(super) fn warn(warning: &str) {
    let _ = writeln!(std::io::stderr(), "{}", message("warning", Colour::Yellow, warning));
}

/// The first of ileave-results/NAME-1, NAME-2, … that does not exist yet.
pub(super) fn free_directory(name: &str) -> PathBuf {
    let safe: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '-' || c == '_' || c == '.' { c } else { '-' })
        .collect();
    (1..u64::MAX)
        .map(|number| Path::new("ileave-results").join(format!("{safe}-{number}")))
        .find(|directory| !directory.exists())
        .expect("there are more numbers than directories")
}
