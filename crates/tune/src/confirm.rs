//! The best few, asked again of a slower rig: what it says is what counts.

use crate::question::Candidate;
use crate::tried::{Tried, is_at, run_alone};
use lab::experiment::Experiment;
use lab::rig::Rig;
use lab::run::Run;
use lab::{Error, Result};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use verdict::Verdict;
use verdict::judge::Standing;
use verdict::tables::figure;

/// A rig that is asked again, and of how many layouts.
pub struct Confirm<'a> {
    /// Its name.
    pub rig: &'a str,
    /// How many layouts.
    pub count: usize,
    /// Opens it for an experiment: some rigs hand that on to a guest.
    pub open: &'a dyn Fn(&Experiment) -> Result<Box<dyn Rig>>,
}

/// What the slower rig said.
#[derive(Clone, Debug, Serialize)]
pub struct Confirmed {
    /// The rig.
    pub rig: String,
    /// The layouts that it measured, its best first.
    pub cells: Vec<ConfirmedCell>,
    /// Whether what the model puts first is its best, or tied with that.
    pub holds: bool,
}

/// A layout there.
#[derive(Clone, Debug, Serialize)]
pub struct ConfirmedCell {
    /// Its factors.
    pub at: Map<String, Json>,
    /// The same in words.
    pub label: String,
    /// What the objective says of it there.
    pub value: f64,
    /// What it says of it in the model.
    pub modelled: Option<f64>,
    /// The unit.
    pub unit: String,
    /// How it stands to the best there.
    pub standing: Standing,
}

impl Confirm<'_> {
    /// Whether the rig can run every layout, before anything is measured.
    ///
    /// # Errors
    ///
    /// Why it cannot, and what to do.
    pub(crate) fn admit(&self, tried: &Tried<'_>) -> Result<()> {
        let admitted = (self.open)(&tried.experiment)
            .and_then(|rig| Run::plan(&tried.experiment, &*rig)?.admit());
        admitted.map_err(|error| {
            let next = "or leave `--confirm` out";
            error.context(format!("--confirm on {}", self.rig)).followed_by(next)
        })
    }

    /// Measures what `verdict` ranks first, and `chosen`; what was said, and the verdict of the rig.
    pub(crate) fn ask(
        &self,
        tried: &Tried<'_>,
        verdict: &Verdict,
        chosen: usize,
    ) -> Result<(Confirmed, Verdict)> {
        let candidates = tried.candidates;
        let place = |at: &Map<String, Json>| candidates.iter().position(|of| is_at(of, at));
        let mut which = vec![chosen];
        for other in verdict.ranked.iter().filter_map(|ranked| place(&ranked.at)) {
            if !which.contains(&other) && which.len() < self.count {
                which.push(other);
            }
        }
        let mut records = Vec::new();
        for &cell in &which {
            let experiment = tried.with(&candidates[cell].settings(), 0)?;
            let rig = (self.open)(&experiment)?;
            records.extend(run_alone(&experiment, &*rig)?);
        }
        let rig = (self.open)(&tried.experiment)?;
        let manifest = Run::plan(&tried.experiment, &*rig)?.manifest().clone();
        let said = Verdict::new(&manifest, &records, &tried.wishes())?;
        if said.ranked.is_empty() {
            return Err(Error::failure(format!(
                "{} ranks none of the {} layouts: {}; leave `--confirm` out",
                self.rig,
                which.len(),
                said.answer
            )));
        }
        let modelled = |at: &Map<String, Json>| {
            verdict.ranked.iter().find(|ranked| ranked.at == *at).map(|ranked| ranked.value)
        };
        let cells = said.ranked.iter().map(|ranked| ConfirmedCell {
            at: ranked.at.clone(),
            label: ranked.label.clone(),
            value: ranked.value,
            modelled: modelled(&ranked.at),
            unit: said.unit.clone(),
            standing: ranked.standing,
        });
        let is_chosen = |ranked: &&verdict::judge::Ranked| is_at(&candidates[chosen], &ranked.at);
        let stands = said.ranked.iter().find(is_chosen).map(|ranked| ranked.standing);
        let holds = stands.is_some_and(|standing| standing != Standing::Behind);
        let confirmed = Confirmed { rig: self.rig.into(), cells: cells.collect(), holds };
        Ok((confirmed, said))
    }
}

impl Confirmed {
    /// In a line.
    pub(crate) fn line(&self, chosen: &Candidate) -> String {
        let cells = self.cells.iter().map(|cell| {
            let modelled = cell
                .modelled
                .map_or_else(String::new, |value| format!(" (modelled {})", figure(value)));
            format!("{} {} {}{modelled}", cell.label, figure(cell.value), cell.unit)
        });
        let cells: Vec<String> = cells.collect();
        let turns = if self.holds {
            "the model's choice holds".to_string()
        } else {
            format!("the model's choice does not hold; this is {}", chosen.name())
        };
        format!("on {}: {turns}; {}", self.rig, cells.join("; "))
    }
}
