//! `ileave tune`.

use super::catalogue::inventory;
use super::print_json;
use super::run::{note, warn};
use crate::flags::TuneFlags;
use crate::progress::Bar;
use block::units::parse_bytes;
use lab::rig::sim::Sim;
use lab::{Error, Result};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use store::known::KnownDrive;
use tune::drives::{Asked, held};
use tune::work::Work;
use tune::{Drives, Question, tune as search};

/// Which layout to build of these drives for this work.
pub(crate) fn tune(flags: &TuneFlags) -> Result<String> {
    let capacity_bytes = match &flags.capacity {
        None => 0,
        Some(text) => parse_bytes(text)
            .map_err(|error| Error::input(format!("--capacity {text}: {error}")))?,
    };
    let (drives, price_usd) = drives(flags)?;
    let question = Question {
        work: Work::find(&flags.workload, &drives.drive)
            .map_err(|error| error.context("--workload"))?,
        drives,
        survive: flags.survive,
        capacity_bytes,
        safe: flags.safe,
        objective: flags.objective.clone(),
        subject_to: flags.subject_to.clone(),
        spares: flags.spares,
        price_usd,
        budget_usd: flags.budget,
        levels: flags.level.clone(),
        seed: flags.seed,
    };
    question.work.warnings.iter().for_each(|warning| warn(warning));
    let (candidates, _) = question.candidates()?;
    if let Some(file) = &flags.save {
        save(file, &question.experiment_text()?)?;
    }
    let bar = Bar::new();
    // Short trials of all of them, and a few in full.
    let all = candidates.len() as u64 * 5 / 4;
    let found =
        search(&question, &Sim, &mut |cells| bar.cells(cells as u64, all.max(cells as u64)));
    bar.finish();
    let found = found?;
    Ok(if flags.json { print_json(&found.json()) } else { found.text() })
}

/// The drives that are asked for or there, as many as the budget pays for; and what one costs.
fn drives(flags: &TuneFlags) -> Result<(Drives, Option<f64>)> {
    let mut asked = flags.drives.as_deref().map(Asked::read).transpose()?;
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
