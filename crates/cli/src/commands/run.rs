//! `ileave run`.

mod beside;

use super::report::unmet;
use super::written::PAGE;
use super::{print, print_json, run_text};
use crate::flags::{ExperimentFlags, RunFlags};
use crate::interrupt;
use crate::progress::Bar;
use crate::terminal::{Colour, harmless, message};
use lab::capabilities::Members;
use lab::experiment::{Experiment, Plan};
use lab::rig::{Opening, RigKind, Undo};
use lab::run::{Ran, Run, check_rig};
use lab::runner::{Finished, Progress};
use lab::{Error, Keep, Result, published, read_results};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;
use store::record::Record;
use store::{Failed, Happened, Manifest, Results, Shard, Trials, windows};
use verdict::judge::trials::{enough_repeats, unfinished};
use verdict::report::{html, json as as_json, reasons};
use verdict::{Verdict, Wishes};

/// The rig that `--on` names, or that the experiment is for; real disks are used only where `--on` says so.
fn kind_of(experiment: &Experiment, flags: &RunFlags) -> Result<&'static RigKind> {
    let own = experiment.run().on.filter(|_| !flags.rig.is_named);
    let own = own.map(|name| RigKind::find(&name)).transpose()?;
    let is_modelled = |kind: &&RigKind| (kind.capabilities)().members == Members::Modelled;
    let kind = own.filter(is_modelled).unwrap_or(flags.rig.kind);
    // Before the flags: another rig's flag is no mistake where the experiment is for that rig.
    check_rig(experiment, kind.name)?;
    kind.check(&flags.rig.given)?;
    Ok(kind)
}

/// Runs an experiment. Where it cannot be run at all, whoever handed out a shard is told in a file, and not only in what is
/// printed: a shard that is being written ends with the same status, and may be handed out again.
pub(crate) fn run(flags: &RunFlags) -> Result<String> {
    let mut is_begun = false;
    let said = run_here(flags, &mut is_begun);
    if let (Err(Error::Input(words)), Some(file), false) = (&said, &flags.refusal, is_begun) {
        let shard = flags.shard.map(|shard| format!("shard {shard}: ")).unwrap_or_default();
        // Whole or not at all. Where it cannot be written, the engine's rounds end by themselves.
        let part = file.with_extension(format!("{}.part", std::process::id()));
        let _ = std::fs::write(&part, format!("{shard}{words}\n"))
            .and_then(|()| std::fs::rename(&part, file));
    }
    said
}

fn run_here(flags: &RunFlags, is_begun: &mut bool) -> Result<String> {
    let experiment = read_experiment(&flags.experiment)?;
    let kind = kind_of(&experiment, flags)?;
    PAGE.can_be_asked_for(flags.html.as_deref())?;
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
    let mut opening = Opening { ask: &mut ask, experiment: &experiment, uses_files, undo };
    let rig = kind.open(&flags.rig.given, &mut opening)?;
    let rig = &*rig;
    let run = Run::plan(&experiment, rig)?;
    // What the command line asks for must be varied.
    run.manifest().asked(&flags.experiment.choose).map_err(|error| error.context("--choose"))?;
    run.warnings().iter().for_each(|warning| warn(warning));
    let run = part(run, flags)?;
    // From here on what is refused may be a matter of this machine and moment, as its memory is.
    *is_begun = true;
    run.admit()?;
    if flags.rig.given.has("plan") {
        return planned(&run, flags);
    }
    if let Some(words) = run.beforehand() {
        note(&words);
    }
    if let Some(words) = long(&run) {
        note(&words);
    }
    let beforehand = run.manifest().asked_beforehand();
    if !beforehand.is_empty() {
        let formulas = beforehand.join("`, `");
        note(&format!("a run does not check `{formulas}`; `ileave tune` with the file does"));
    }
    published::of(run.manifest()).map_err(|error| error.context(&experiment.origin))?;
    // A shard says no verdict, and is one of many that would each ask about all trials.
    if flags.shard.is_none() {
        verdict::check_objective(run.manifest(), &run.expected())
            .map_err(|error| error.context(&experiment.origin))?;
    }
    let directory = directory_of(flags, &experiment.name);
    let prediction = match flags.rig.prediction {
        Some(_) => Some(beside::predict(&experiment, rig, &directory)?),
        None => None,
    };
    let opened = run.open(match (&flags.resume, flags.shard) {
        (Some(_), _) => Keep::Resume(&directory),
        // Whoever hands out shards may hand one out again.
        (None, Some(_)) => Keep::Continue(&directory),
        (None, None) => Keep::In(&directory),
    })?;
    opened.suspects().iter().for_each(|suspect| warn(suspect));
    let directory = directory.display();
    let go_on =
        interrupt::this_command(&["--out", "--resume"], &["--resume", &directory.to_string()]);
    last.say(format!("\nInterrupted; finished trials are kept.\nContinue: {go_on}"));
    let ran = opened.finish(&mut |progress| {
        bar.update(&progress);
        if let Progress::Failed(failed) = progress {
            let words = format!("{}; its cell is left out, and the run goes on", failed.words);
            bar.aside(|| warn(&words));
        }
    });
    bar.finish();
    let said = told(flags, ran?, &directory.to_string(), &go_on)?;
    match prediction {
        Some(prediction) => beside::told(&said, &prediction, &directory.to_string(), flags.json),
        None => Ok(said),
    }
}

/// More requests than a steady rate needs, by far.
const MANY_REQUESTS: u64 = 5_000_000;

/// That trials are long, and how they need not be.
fn long(run: &Run<'_>) -> Option<String> {
    let (name, requests) =
        run.most_requests().filter(|(_, requests)| *requests >= MANY_REQUESTS)?;
    let millions = requests as f64 / 1e6;
    Some(format!(
        "each trial of `{name}` makes up to {millions:.0} million requests, which takes a while; without `amount` and `count` \
         it ends once its rate is steady (in a fio job: `time_based` with `runtime`)"
    ))
}

/// All commands, and how long they will take.
fn planned(run: &Run<'_>, flags: &RunFlags) -> Result<String> {
    let earlier = flags.resume.as_ref();
    let earlier = earlier.map(|directory| Results::read(directory, lab::complete)).transpose()?;
    let estimate = run.estimate(earlier.as_ref());
    let estimate = match enough_repeats::within(run.manifest()) {
        Some(_) => estimate.at_most(),
        None => estimate,
    };
    let first = run.beforehand().map(|words| format!("# {words}\n")).unwrap_or_default();
    Ok(format!("{first}{}{estimate}", run.commands()?))
}

/// What is said of a run that is over; an error where trials failed.
fn told(flags: &RunFlags, ran: Ran, directory: &str, go_on: &str) -> Result<String> {
    // What failed in an earlier run is still not there.
    let failed = ran.happened.failed.clone();
    if ran.finished.is_empty() && !failed.is_empty() {
        return Err(lost(&failed, go_on));
    }
    let rest = rest(flags, &ran, go_on);
    let ran = if flags.shard.is_none() { ran.joined()? } else { ran };
    let Ran { manifest, finished, happened, .. } = ran;
    if let Some(rest) = rest {
        if finished.is_empty() {
            return Err(Error::failure(rest));
        }
        note(&rest);
    }
    let mut none_meets = None;
    let said = if let Some(shard) = flags.shard {
        shard_text(flags.json, shard, &manifest, finished.len(), directory)
    } else {
        let finished = finished.into_iter().map(|Finished { record, cpu_s }| (record, cpu_s));
        let (said, unmet) =
            verdict(&manifest, finished.collect(), &happened, flags.json, directory)?;
        let written = PAGE.also(flags.html.as_deref(), || page_of(directory))?;
        none_meets = unmet;
        if flags.json { said } else { said + &written }
    };
    let error = if failed.is_empty() { none_meets } else { Some(lost(&failed, go_on)) };
    printed_before(said, error)
}

/// That trials are left which only a time budget kept from running, and the command that runs them; none of cells that
/// failed, which [`lost`] names.
fn rest(flags: &RunFlags, ran: &Ran, go_on: &str) -> Option<String> {
    let (records, happened) = (ran.records(), &ran.happened);
    let trials = unfinished::trials(&ran.manifest, &records, happened)?;
    let left = unfinished::left_to_run(trials, &ran.manifest, &records, happened);
    if flags.shard.is_some() || left == 0 {
        return None;
    }
    let others = if happened.failed.is_empty() { "the others" } else { "those that did not fail" };
    let Trials { planned, finished } = trials;
    Some(format!("{finished} of {planned} trials are finished; {others}: {go_on}"))
}

/// What failed, in this run or before, and how to try it again.
fn lost(failed: &[Failed], go_on: &str) -> Error {
    let words: Vec<&str> = failed.iter().map(|failed| failed.words.as_str()).collect();
    let (count, cells) = match failed.len() {
        1 => ("1 trial failed".to_string(), "its cell is left out"),
        several => (format!("{several} trials failed"), "their cells are left out"),
    };
    Error::failure(format!(
        "{count}, and {cells}:\n  {}\ntry again: {go_on} --retry-suspects",
        words.join("\n  ")
    ))
}

/// The output; where something is to be told as an error, it is printed first.
pub(super) fn printed_before(said: String, error: Option<Error>) -> Result<String> {
    match error {
        None => Ok(said),
        Some(error) => {
            print(&said)?;
            Err(error)
        }
    }
}

/// The verdict on all trials, each with the CPU time that it took, where it ran just now; and the error where no layout meets
/// what the experiment asks for.
pub(super) fn verdict(
    manifest: &Manifest,
    finished: Vec<(Record, Option<f64>)>,
    happened: &Happened,
    json: bool,
    directory: &str,
) -> Result<(String, Option<Error>)> {
    let manifest = manifest.asked(&[])?;
    let (records, cpu): (Vec<Record>, Vec<Option<f64>>) = finished.into_iter().unzip();
    let verdict =
        Verdict::knowing(&manifest, &records, happened, &Wishes::default().and_of(&manifest));
    let beside = published::of(&manifest)?;
    let verdict = verdict.map(|of| of.beside_printed(&manifest, beside.as_ref()));
    let verdict = verdict.map_err(|error| {
        let next = "give another objective: `ileave report";
        error.followed_by(format!("the results are kept; {next} {directory} --objective …`"))
    })?;
    let asked = (manifest.asks_safe(), manifest.subject_to());
    let unmet = unmet((false, &[]), (asked.0, &asked.1)).filter(|_| verdict.none_meets());
    if json {
        let why = reasons(&manifest, &records, &verdict);
        let run = as_json::run(records.iter().zip(cpu), &why);
        return Ok((print_json(&as_json::with_verdict(run, &verdict)), unmet));
    }
    let mut output = run_text(&manifest, &records, &verdict)?;
    writeln!(output, "\nResults: {directory}").expect("a string grows");
    Ok((output, unmet))
}

/// The page of a results directory.
fn page_of(directory: &str) -> Result<String> {
    let mut results = read_results(Path::new(directory))?;
    results.manifest = results.manifest.asked(&[])?;
    let Results { manifest, records, happened, .. } = &results;
    let beside = published::of(manifest)?;
    let verdict =
        Verdict::knowing(manifest, records, happened, &Wishes::default().and_of(manifest))?
            .beside_printed(manifest, beside.as_ref());
    Ok(html::run(&results, &verdict, beside.as_ref()))
}

/// The part of the run that is asked for.
fn part<'a>(run: Run<'a>, flags: &RunFlags) -> Result<Run<'a>> {
    let run = match enough_repeats::within(run.manifest()) {
        Some(_) if flags.shard.is_some() => {
            return Err(Error::input(
                "`run.compare_within` compares all cells after each repeat, and a shard has not all of them; leave \
                 out `--shard`, or give `--repeat N` without it",
            ));
        }
        Some(_) => {
            let manifest = run.manifest().asked(&flags.experiment.choose)?;
            run.until_enough(Rc::new(move |records: &[Record], repeats| {
                // Of windows that cannot be read nothing is settled.
                let records = windows::joined(&mut manifest.clone(), records.to_vec());
                enough_repeats::look(&manifest, &records.unwrap_or_default(), repeats)
            }))
        }
        None => run,
    };
    let mut run = match flags.shard {
        Some(shard) => run.only(shard),
        None => run,
    };
    if flags.retry_suspects {
        run = run.with_suspects();
    }
    if let Some(until) = flags.r#for.and_then(|span| Instant::now().checked_add(span)) {
        run = run.until(until);
    }
    Ok(match flags.lanes.map(usize::try_from) {
        Some(Ok(lanes)) => run.side_by_side(lanes),
        _ => run,
    })
}

/// Where the results go.
fn directory_of(flags: &RunFlags, name: &str) -> PathBuf {
    match (&flags.resume, &flags.out, flags.shard) {
        (Some(directory), ..) | (None, Some(directory), _) => directory.clone(),
        (None, None, Some(shard)) => {
            let name = format!("{}-{}-of-{}", safe_name(name), shard.number(), shard.of());
            Path::new("ileave-results").join(name)
        }
        (None, None, None) => free_directory(name),
    }
}

/// What a shard says: there is no verdict on a part.
fn shard_text(
    json: bool,
    shard: Shard,
    manifest: &Manifest,
    finished: usize,
    directory: &str,
) -> String {
    let trials = manifest.trials;
    if json {
        let printed = json!({
            "shard": shard.to_string(), "finished": finished, "trials": trials, "results": directory,
        });
        return print_json(&printed);
    }
    format!(
        "Shard {shard} of `{}`: {finished} of its {trials} trials are in {directory}.\n\
         When all {} shards have run: ileave merge {directory} … --out DIR\n",
        manifest.name,
        shard.of()
    )
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

pub(super) fn read_experiment(flags: &ExperimentFlags) -> Result<Experiment> {
    let mut experiment = open(&flags.file)?;
    set(&mut experiment, "--drives", "volume.drives", flags.drives.as_ref())?;
    set(&mut experiment, "--level", "volume.level", flags.level.as_ref())?;
    set(&mut experiment, "--interleave", "volume.interleave", flags.interleave.as_ref())?;
    for assignment in &flags.set {
        experiment.set(assignment)?;
    }
    set(&mut experiment, "--repeat", "run.repeats", flags.repeat)?;
    let percent = |text: &String| format!("{}%", text.trim_end_matches('%'));
    set(&mut experiment, "--within", "run.compare_within", flags.within.as_ref().map(percent))?;
    set(&mut experiment, "--seed", "run.seed", flags.seed)?;
    let choose = Some(flags.choose.join(",")).filter(|keys| !keys.is_empty());
    set(&mut experiment, "--choose", "ask.choose", choose)?;
    Ok(experiment)
}

/// An experiment as its file has it; warns of what is doubtful.
pub(super) fn open(file: &Path) -> Result<Experiment> {
    let (experiment, warnings) = Experiment::open(file)?;
    for warning in &warnings {
        warn(warning);
    }
    Ok(experiment)
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

/// What is worth knowing, and no doubt.
pub(super) fn note(note: &str) {
    let _ = writeln!(std::io::stderr(), "{}", message("note", Colour::Cyan, note));
}

/// The name of an experiment as a file may have it.
pub(super) fn safe_name(name: &str) -> String {
    let safe = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == '.';
    let mut bytes = 0;
    let fits = |c: &char| {
        bytes += c.len_utf8();
        bytes <= NAME_BYTES_MAX
    };
    name.chars().map(|c| if safe(c) { c } else { '-' }).take_while(fits).collect()
}

/// As much of a name is that of a file: these have 255 bytes, and something stands behind the name.
const NAME_BYTES_MAX: usize = 200;

/// The first of ileave-results/NAME-1, NAME-2, … that does not exist yet.
pub(super) fn free_directory(name: &str) -> PathBuf {
    let safe = safe_name(name);
    (1..u64::MAX)
        .map(|number| Path::new("ileave-results").join(format!("{safe}-{number}")))
        .find(|directory| !directory.exists())
        .expect("there are more numbers than directories")
}

#[cfg(test)]
mod tests {
    use super::safe_name;

    /// A name of 300 letters was no file's: "File name too long".
    #[test]
    fn a_name_fits_into_that_of_a_file() {
        assert_eq!(safe_name("a b/c.d"), "a-b-c.d");
        assert_eq!(safe_name(&"n".repeat(300)).len(), 200);
        assert_eq!(safe_name(&"é".repeat(300)).chars().count(), 100);
    }
}
