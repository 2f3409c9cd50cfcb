//! `ileave tune`.

use super::catalogue::inventory;
use super::print_json;
use super::run::{note, open, warn};
use crate::flags::TuneFlags;
use crate::interrupt;
use crate::progress::Bar;
use block::units::parse_bytes;
use lab::capabilities::Members;
use lab::experiment::{Experiment, Plan};
use lab::rig::sim::Sim;
use lab::rig::{Given, KINDS, Opening, RigKind, Undo};
use lab::{Error, Result};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use store::known::KnownDrive;
use tune::drives::{Asked as AskedDrives, held};
use tune::work::Work;
use tune::{Confirm, Drives, Posed, Question, tune as search, tune_experiment};
use verdict::Wishes;

/// Which layout to build of these drives for this work, or which of an experiment's to choose.
pub(crate) fn tune(flags: &TuneFlags) -> Result<String> {
    let asked = match &flags.file {
        Some(file) => Asked::Experiment(Box::new(posed(file, flags)?)),
        None => Asked::Drives(Box::new(question(flags)?)),
    };
    if let (Asked::Drives(question), Some(file)) = (&asked, &flags.save) {
        save(file, &question.experiment_text()?)?;
    }
    // Short trials of all of them, and a few in full.
    let all = match &asked {
        Asked::Drives(question) => question.candidates()?.0.len() as u64 * 5 / 4,
        Asked::Experiment(posed) => {
            posed.experiment.settings().values().fold(1, |cells, setting| {
                let values = if setting.factor { setting.values.len() as u64 } else { 1 };
                cells * values
            })
        }
    };
    let bar = Bar::new();
    let slower = slower(flags)?;
    let undo = Undo::default();
    if slower.is_some() {
        let again = interrupt::this_command(&[], &[]);
        interrupt::watch(
            &bar,
            undo.clone(),
            format!("\nInterrupted; nothing is kept.\nStart again: {again}"),
        )?;
    }
    let open_slower = |experiment: &Experiment| {
        let kind = slower.unwrap_or(&KINDS[0]);
        let uses_files = Plan::on(experiment, &(kind.capabilities)())?.uses_files();
        let mut opening =
            Opening { ask: &mut |_| Ok(None), experiment, uses_files, undo: undo.clone() };
        kind.open(&Given::default(), &mut opening)
    };
    let count = flags.confirm.map_or(0, |count| count as usize);
    let confirm = slower.map(|kind| Confirm { rig: kind.name, count, open: &open_slower });
    let mut watch = |cells: usize| bar.cells(cells as u64, all.max(cells as u64));
    let found = match &asked {
        Asked::Drives(question) => search(question, &Sim, confirm.as_ref(), &mut watch),
        Asked::Experiment(posed) => tune_experiment(posed, &Sim, confirm.as_ref(), &mut watch),
    };
    bar.finish();
    let found = found?;
    Ok(if flags.json { print_json(&found.json()) } else { found.text() })
}

/// What is asked.
enum Asked {
    /// What to build of drives.
    Drives(Box<Question>),
    /// Which of its layouts to choose.
    Experiment(Box<Posed>),
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
    let mut posed = Posed { experiment, wishes, price_usd: flags.price, known: Vec::new() };
    if let Some(directory) = &flags.results {
        posed.take(directory, &Sim).map_err(|error| error.context("--results"))?;
    }
    Ok(posed)
}

/// The question of drives and work.
fn question(flags: &TuneFlags) -> Result<Question> {
    let capacity_bytes = match &flags.capacity {
        None => 0,
        Some(text) => parse_bytes(text)
            .map_err(|error| Error::input(format!("--capacity {text}: {error}")))?,
    };
    let (drives, price_usd) = drives(flags)?;
    let work = flags.workload.as_deref().unwrap_or_default();
    let work = Work::find(work, &drives.drive).map_err(|error| error.context("--workload"))?;
    let question = Question {
        survive: flags.survive,
        capacity_bytes,
        safe: flags.safe,
        objective: flags.objective.clone(),
        subject_to: flags.subject_to.clone(),
        spares: flags.spares,
        price_usd,
        budget_usd: flags.budget,
        levels: flags.level.clone(),
        seed: flags.seed.unwrap_or(1),
        ..Question::new(drives, work)
    };
    question.work.warnings.iter().for_each(|warning| warn(warning));
    Ok(question)
}

/// The rig that confirms, if one is asked: after the model that searches, one that has modelled drives, too.
fn slower(flags: &TuneFlags) -> Result<Option<&'static RigKind>> {
    let [first, second] = flags.on.as_slice() else {
        return match flags.on.as_slice() {
            [] => Ok(None),
            _ => Err(Error::input("--on: write two rigs, as in sim,kernel")),
        };
    };
    let (first, second) = (RigKind::find(first)?, RigKind::find(second)?);
    if first.name != KINDS[0].name || second.name == first.name {
        let name = KINDS[0].name;
        return Err(Error::input(format!("--on: {name} searches; write {name},kernel")));
    }
    if (second.capabilities)().members != Members::Modelled {
        return Err(Error::input(format!(
            "--on: {0} measures real disks, which tune does not choose; write the question with \
             --save FILE, and measure it by `ileave run FILE --on {0}`",
            second.name
        )));
    }
    Ok(Some(second))
}

/// The drives that are asked for or there, as many as the budget pays for; and what one costs.
fn drives(flags: &TuneFlags) -> Result<(Drives, Option<f64>)> {
    let mut asked = flags.drives.as_deref().map(AskedDrives::read).transpose()?;
    if !flags.from.is_empty() {
        let inventory = inventory(&flags.from)?;
        let (found, said) = held(&inventory, asked.as_ref())?;
        for sentence in said {
            note(&format!("--from: {sentence}"));
        }
        asked = Some(found);
    }
    let asked = asked.ok_or_else(|| Error::input("write --drives or --from"))?;
    let price = flags.price.or(KnownDrive::from(&asked.drive).price_usd);
    Ok((asked.within(flags.budget, price)?, price))
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
