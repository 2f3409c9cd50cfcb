//! `ileave tune`.

use super::report::unmet;
use super::run::{note, open, warn};
use super::written::PAGE;
use super::{print, print_json};
use crate::flags::{Time, TuneFlags};
use crate::interrupt;
use crate::progress::{Bar, Pulse};
use lab::capabilities::Members;
use lab::experiment::{Experiment, Plan};
use lab::inventory::Inventory;
use lab::rig::sim::Sim;
use lab::rig::{KINDS, Opening, RigKind, Undo};
use lab::{Error, Result};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use store::expression::Objective;
use store::known::KnownDrive;
use tune::drives::{Asked as AskedDrives, held, warnings};
use tune::files::of_files;
use tune::work::Work;
use tune::{
    Clock, Confirm, Drives, Posed, Question, Saved, capacity_bytes, hours, tune as search,
    tune_experiment,
};
use verdict::Wishes;

/// Which layout to build of these drives for this work, or which of an experiment's to choose.
pub(crate) fn tune(flags: &TuneFlags) -> Result<String> {
    // It becomes a line of an experiment that nobody has seen, and would be blamed there.
    if let Some(objective) = &flags.objective {
        Objective::parse(objective).map_err(|error| error.context("--objective"))?;
    }
    let mut asked = match &flags.file {
        Some(file) => of_file(file, flags)?,
        None => of_drives(flags)?,
    };
    let rigs = Rigs::of(flags, &asked)?;
    PAGE.can_be_asked_for(flags.html.as_deref())?;
    let bar = Bar::new();
    let undo = Undo::default();
    if !rigs.all().all(RigKind::models_host) {
        let again = interrupt::this_command(&["--save"], &[]);
        interrupt::watch(
            &bar,
            undo.clone(),
            format!("\nInterrupted; nothing is kept.\nStart again: {again}"),
        )?;
    }
    let opener = |kind: &'static RigKind| {
        let (undo, given) = (&undo, &flags.rig.given);
        move |experiment: &Experiment| {
            let uses_files = Plan::on(experiment, &(kind.capabilities)())?.uses_files();
            let mut opening =
                Opening { ask: &mut |_| Ok(None), experiment, uses_files, undo: undo.clone() };
            kind.open(&given.of(kind), &mut opening)
        }
    };
    let open = opener(rigs.search);
    if let Some(file) = &flags.save {
        // A question that nobody can answer would leave a file behind, in the way of the right one.
        asked.check(&open)?;
        save(file, &asked.experiment_text()?)?;
    }
    if let (Asked::Experiment(posed), Some(directory)) = (&mut asked, &flags.results) {
        let rig = open(&posed.experiment)?;
        let said = posed.take(directory, &*rig).map_err(|error| error.context("--results"))?;
        if let Some(said) = said {
            warn(&said);
        }
    }
    let open_slower = opener(rigs.confirm.unwrap_or(rigs.search));
    let count = flags.confirm.map_or(0, |count| count as usize);
    let confirm = rigs.confirm.map(|kind| Confirm { rig: kind.name, count, open: &open_slower });
    let all = asked.cells()?;
    let pulse = Pulse::begin(all);
    bar.doing("measuring layouts");
    let mut watch = |cells: usize| {
        pulse.at(cells as u64);
        bar.cells(cells as u64, all.max(cells as u64));
    };
    let found = match &asked {
        Asked::Drives(question) => search(question, &Sim, confirm.as_ref(), &mut watch),
        Asked::Experiment(posed) => tune_experiment(posed, &open, confirm.as_ref(), &mut watch),
    };
    bar.finish();
    drop(pulse);
    let found = found?;
    let is_news = |warning: &&String| !is_expected(flags, warning);
    found.warnings.iter().filter(is_news).for_each(|warning| warn(warning));
    let written = PAGE.also(flags.html.as_deref(), || found.html())?;
    let output = if flags.json { print_json(&found.json()) } else { found.text() + &written };
    // As `ileave report` does: what was measured is printed, and the command fails.
    if found.none_meets()
        && let Some(error) = asked.none_meets(flags)
    {
        print(&output)?;
        return Err(error);
    }
    Ok(output)
}

/// With --fs some levels cannot be built under some file systems: that is no news.
fn is_expected(flags: &TuneFlags, warning: &str) -> bool {
    !flags.fs.is_empty()
        && (warning.contains("left out `") || warning.contains("`volume.interleave` has"))
}

/// What is asked.
enum Asked {
    /// What to build of drives.
    Drives(Box<Question>),
    /// Which of its layouts to choose.
    Experiment(Box<Posed>),
}

impl Asked {
    /// Whether it can be answered, before anything runs.
    fn check(&self, open: &tune::Open<'_>) -> Result<()> {
        match self {
            Asked::Drives(question) => question.check(&Sim),
            Asked::Experiment(posed) => posed.check(open),
        }
    }

    /// That no layout meets the wishes, where there are any.
    fn none_meets(&self, flags: &TuneFlags) -> Option<Error> {
        let all = match self {
            Asked::Drives(question) => (question.safe, question.subject_to.as_slice()),
            Asked::Experiment(posed) => (posed.wishes.safe, posed.wishes.subject_to.as_slice()),
        };
        unmet((flags.safe, &flags.subject_to), all)
    }

    /// What `--save` writes.
    fn experiment_text(&self) -> Result<String> {
        match self {
            Asked::Drives(question) => question.experiment_text(),
            Asked::Experiment(posed) => Ok(posed.text.clone()),
        }
    }

    /// About how many cells are measured.
    fn cells(&self) -> Result<u64> {
        Ok(match self {
            // Short trials of all of them, and a few in full.
            Asked::Drives(question) => question.candidates()?.0.len() as u64 * 5 / 4,
            Asked::Experiment(posed) => {
                let settings = posed.experiment.settings().values();
                settings.filter(|setting| setting.factor).map(|s| s.values.len() as u64).product()
            }
        })
    }
}

/// The rigs: the one that searches, and the one that confirms, if one does.
struct Rigs {
    search: &'static RigKind,
    confirm: Option<&'static RigKind>,
}

impl Rigs {
    fn all(&self) -> impl Iterator<Item = &'static RigKind> {
        std::iter::once(self.search).chain(self.confirm)
    }

    /// The rigs that `--on` names, or that the question needs.
    fn of(flags: &TuneFlags, asked: &Asked) -> Result<Self> {
        let named: Vec<&'static RigKind> =
            flags.on.iter().map(|name| RigKind::find(name)).collect::<Result<_>>()?;
        let model = KINDS[0].name;
        let needed = match asked {
            Asked::Drives(_) => Some(model.to_string()),
            Asked::Experiment(posed) => posed.experiment.run().on.clone(),
        };
        let (search, confirm) = match (named.as_slice(), flags.confirm) {
            ([], None) => (RigKind::find(needed.as_deref().unwrap_or(model))?, None),
            ([search], None) => (*search, None),
            // What confirms counts more, and may not be the model.
            ([search, confirm], Some(_))
                if !confirm.models_host() && confirm.name != search.name =>
            {
                (*search, Some(*confirm))
            }
            _ => {
                return Err(Error::input(format!(
                    "--on: write the rig that searches, as in {model}; or two with --confirm N, as in {model},kernel"
                )));
            }
        };
        if let Some(needed) = needed.filter(|needed| *needed != search.name) {
            let next = match asked {
                Asked::Drives(_) => format!(
                    "block requests are measured on {model}, and other rigs confirm, as in `--confirm 3 --on {model},kernel`; \
                     files are measured on kernel, with `--fs`"
                ),
                Asked::Experiment(_) => {
                    format!("it is measured on {needed} only; leave `--on` and `--confirm` out")
                }
            };
            return Err(Error::input(format!("--on {}: {next}", search.name)));
        }
        let rigs = Rigs { search, confirm };
        if let Some(real) =
            rigs.all().find(|kind| (kind.capabilities)().members != Members::Modelled)
        {
            return Err(Error::input(format!(
                "{0} measures real disks, which tune does not choose; write the experiment with `--save FILE`, and measure it \
                 with `ileave run FILE --on {0}`",
                real.name
            )));
        }
        rigs.confirm.unwrap_or(rigs.search).check(&flags.rig.given)?;
        Ok(rigs)
    }
}

/// Who has waited as long is told what to build before what-if trials are made: Ctrl-C costs that no more.
const LONG: Duration = Duration::from_secs(10);

/// What is said then.
fn early(sentence: &str, skips_what_ifs: bool) -> String {
    let skip = if skips_what_ifs { "" } else { " (`--what-if 0s` skips the what-ifs)" };
    format!("{sentence} Still measuring what stands beside it{skip}")
}

/// Says what it is told, once the `rest` of the time is over; nothing if this is gone by then, for the answer is there.
fn after(rest: impl Fn() -> Duration, say: impl Fn(&str) + Send + 'static) -> impl Fn(&str) {
    let (end, ended) = channel::<()>();
    let waiting = Mutex::new(Some((ended, say)));
    move |sentence| {
        // It ends with this.
        let _end = &end;
        let waiting = waiting.lock().ok().and_then(|mut waiting| waiting.take());
        let Some((ended, say)) = waiting else { return };
        let (sentence, rest) = (sentence.to_string(), rest());
        thread::spawn(move || {
            if ended.recv_timeout(rest) == Err(RecvTimeoutError::Timeout) {
                say(&sentence);
            }
        });
    }
}

/// Until when trials begin, from now on: always, where nothing is said, so that the same question has the same answer.
fn clock(flags: &TuneFlags) -> Clock {
    let start = Instant::now();
    let spent = |time: Duration| {
        // Of no time all is over.
        move || start.elapsed().as_secs_f64() / time.as_secs_f64().max(f64::MIN_POSITIVE)
    };
    let skips = flags.what_if.as_ref().is_some_and(|limit| limit.time.is_zero());
    let say = move |sentence: &str| note(&early(sentence, skips));
    let rest = move || LONG.saturating_sub(start.elapsed());
    let mut clock = Clock::default().telling(after(rest, say));
    if let Some(Time { time, written }) = &flags.time_limit {
        clock = clock.within(written, spent(*time));
    }
    if let Some(Time { time, written }) = &flags.what_if {
        clock = clock.what_if(written, spent(*time));
    }
    clock
}

/// What to build of drives.
fn of_drives(flags: &TuneFlags) -> Result<Asked> {
    asked(question(flags)?, &flags.fs, flags)
}

/// A question: blocks are asked of the model, files of what has the file systems.
fn asked(question: Question, file_systems: &[String], flags: &TuneFlags) -> Result<Asked> {
    Ok(if file_systems.is_empty() {
        Asked::Drives(Box::new(question))
    } else {
        let posed = of_files(&question, file_systems)?;
        Asked::Experiment(Box::new(Posed { clock: clock(flags), ..posed }))
    })
}

/// What a file asks: the question that it was written of, or which of its own layouts to choose. Flags that change its layouts, or
/// bring the results of a run of it, are of an experiment.
fn of_file(file: &Path, flags: &TuneFlags) -> Result<Asked> {
    let is_on_other = !flags.on.is_empty() && flags.confirm.is_none();
    let is_of_layouts =
        flags.results.is_some() || !flags.set.is_empty() || !flags.choose.is_empty() || is_on_other;
    let Some(saved) = Saved::open(file).filter(|_| !is_of_layouts) else {
        if let Some(said) = Saved::unused(file) {
            warn(&said);
        }
        return Ok(Asked::Experiment(Box::new(posed(file, flags)?)));
    };
    let (objective, subject_to) = (flags.objective.clone(), &flags.subject_to);
    let question = saved.question.asked_more(flags.safe, objective, subject_to, flags.price)?;
    let seed = flags.seed.unwrap_or(question.seed);
    asked(Question { seed, clock: clock(flags), ..question }, &saved.file_systems, flags)
}

/// The question of an experiment.
fn posed(file: &Path, flags: &TuneFlags) -> Result<Posed> {
    let mut experiment = open(file)?;
    flags.set.iter().try_for_each(|assignment| experiment.set(assignment))?;
    if let Some(seed) = flags.seed {
        experiment.set_values("run.seed", &seed.to_string())?;
    }
    let wishes = Wishes {
        safe: flags.safe,
        objectives: flags.objective.iter().cloned().collect(),
        subject_to: flags.subject_to.clone(),
        choose: flags.choose.clone(),
    };
    let posed = Posed::new(experiment, wishes, flags.price)?;
    Ok(Posed { clock: clock(flags), ..posed })
}

/// The question of drives and work.
fn question(flags: &TuneFlags) -> Result<Question> {
    let capacity_bytes = match &flags.capacity {
        None => 0,
        Some(text) => capacity_bytes("--capacity", text)?,
    };
    let (drives, price_usd) = drives(flags)?;
    let work = flags.workload.as_deref().unwrap_or_default();
    let work = if flags.fs.is_empty() { Work::find(work, &drives) } else { Work::of_files(work) };
    let mut work = work.map_err(|error| error.context("--workload"))?;
    flags.set.iter().try_for_each(|assignment| work.set(assignment))?;
    let replaced_after = flags.replace_after.as_deref();
    let replaced_after_h = replaced_after.map(|text| hours("--replace-after", text)).transpose()?;
    let question = Question {
        replaced_after_h,
        survive: flags.survive.unwrap_or(1),
        is_survive_assumed: flags.survive.is_none(),
        capacity_bytes,
        safe: flags.safe,
        objective: flags.objective.clone(),
        subject_to: flags.subject_to.clone(),
        spares: flags.spares.unwrap_or(0),
        are_spares_open: flags.spares.is_none(),
        price_usd,
        budget_usd: flags.budget,
        levels: flags.level.clone(),
        seed: flags.seed.unwrap_or(1),
        clock: clock(flags),
        ..Question::new(drives, work)
    }
    .with_wishes_of_work()?
    .with_spares_needed()?;
    question.work.warnings.iter().for_each(|warning| warn(warning));
    Ok(question)
}

/// The drives that are asked for or there, as many as the budget pays for; and what one costs.
fn drives(flags: &TuneFlags) -> Result<(Drives, Option<f64>)> {
    let asked = flags.drives.as_deref().map(AskedDrives::read).transpose()?;
    let paid = |asked: AskedDrives| -> Result<(Drives, Option<f64>)> {
        let price = flags.price.or(KnownDrive::from(&asked.drive).price_usd);
        Ok((asked.within(flags.budget, price)?, price))
    };
    if flags.from.is_empty() {
        return paid(asked.ok_or_else(|| Error::input("write --drives or --from"))?);
    }
    let inventory = Inventory::open(&flags.from)?;
    let (found, said) = held(&inventory, asked.as_ref())?;
    said.notes.iter().for_each(|sentence| note(&format!("--from: {sentence}")));
    let (drives, price) = paid(found)?;
    for sentence in warnings(&inventory, &drives) {
        warn(&format!("--from: {sentence}"));
    }
    Ok((drives.as_linux_calls_them(&inventory), price))
}

/// Writes the experiment where nothing is yet.
fn save(file: &Path, text: &str) -> Result<()> {
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let next = match error.kind() {
            ErrorKind::AlreadyExists => "it is kept; give `--save` another name",
            _ => "give `--save` a file that you may write",
        };
        Error::failure(format!("cannot write {}: {error}; {next}", file.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was said only where the search alone took so long, and never where the trials after it did.
    #[test]
    fn who_waits_is_told_what_to_build_while_more_is_measured() {
        let (said, heard) = channel();
        let say = move |sentence: &str| said.send(early(sentence, false)).unwrap();
        let tell = after(|| Duration::from_millis(20), say);
        tell("Use md-raid6.");
        assert_eq!(
            heard.recv_timeout(Duration::from_secs(60)).unwrap(),
            "Use md-raid6. Still measuring what stands beside it (`--what-if 0s` skips the what-ifs)"
        );
        assert_eq!(early("Use it.", true), "Use it. Still measuring what stands beside it");
    }

    #[test]
    fn who_has_the_answer_is_told_no_more() {
        let (said, heard) = channel();
        let tell = after(|| Duration::from_secs(60), move |_: &str| said.send(()).unwrap());
        tell("Use md-raid6.");
        drop(tell);
        // The thread ends without a word, and what it would have said it with is gone.
        assert_eq!(
            heard.recv_timeout(Duration::from_secs(30)),
            Err(RecvTimeoutError::Disconnected)
        );
    }
}
