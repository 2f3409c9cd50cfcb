//! The best few, asked again of a slower rig: what it says is what counts.

use crate::search::clock::{Clock, For, unless_stopped};
use crate::search::layouts::{At, Open, Space, in_time};
use crate::search::trials::{Settings, Tried, is_at, run_alone};
use lab::capabilities::Members;
use lab::experiment::{Experiment, Member};
use lab::rig::Rig;
use lab::run::Run;
use lab::{Error, Result};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use store::Manifest;
use store::record::Record;
use verdict::judge::{Ranked, Standing};
use verdict::tables::figure;
use verdict::{Verdict, Wishes};

/// A rig that is asked again, and of how many layouts.
pub struct Confirm<'a> {
    /// Its name.
    pub rig: &'a str,
    /// How many layouts.
    pub count: usize,
    /// Opens it.
    pub open: &'a Open<'a>,
}

/// What the slower rig said.
#[derive(Clone, Debug, Serialize)]
pub struct Confirmed {
    /// The rig.
    pub rig: String,
    /// The layouts that it measured, its best first.
    pub cells: Vec<ConfirmedCell>,
    /// Whether what the model chooses is its best, or tied with that here or there.
    pub holds: bool,
    /// A processor decides here and takes no time there, so both say what would be without it, and the answer stays the
    /// model's.
    pub without_processor: bool,
    /// What the model chooses, in words, where it was measured.
    #[serde(skip)]
    choice: Option<String>,
}

/// Ratios of two layouts that lie this near say the same, on a logarithmic scale: repeats of a trial differ by as much.
const SAME_RATIO: f64 = 0.02;

/// The key that scales the time of processors.
const CPU_PERCENT: &str = "host.cpu_percent";

/// Where processors make more of a difference than this, on a logarithmic scale, it decides.
const PROCESSOR_DECIDES: f64 = 0.05;

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
    pub(crate) fn admit(&self, experiment: &Experiment) -> Result<()> {
        let admitted =
            (self.open)(experiment).and_then(|rig| Run::plan(experiment, &*rig)?.admit());
        admitted.map_err(|error| {
            let next = "or leave `--confirm` out";
            error.context(format!("--confirm on {}", self.rig)).followed_by(next)
        })
    }

    /// Measures what `verdict` ranks first, and `chosen`; what was said, and the verdict of the rig. Nothing where the time ends
    /// before all are measured.
    pub(crate) fn ask(
        &self,
        tried: &Tried<'_>,
        verdict: &Verdict,
        chosen: usize,
    ) -> Result<Option<(Confirmed, Verdict)>> {
        let candidates = tried.candidates;
        let place = |at: &Map<String, Json>| candidates.iter().position(|of| is_at(of, at));
        let mut which = vec![chosen];
        for other in verdict.ranked.iter().filter_map(|ranked| place(&ranked.at)) {
            if !which.contains(&other) && which.len() < self.count {
                which.push(other);
            }
        }
        let lanes = (self.open)(&tried.experiment)?.capabilities().lanes;
        let of = |&cell: &usize| tried.with(&candidates[cell].settings(), 0);
        let experiments = which.iter().map(of).collect::<Result<Vec<Experiment>>>()?;
        let open = self.open;
        let clock = tried.clock();
        let fails = |ran: &Option<Result<_>>| ran.as_ref().is_none_or(Result::is_err);
        let ran = clock.in_time(For::Confirming, (lanes, &experiments), fails, |experiment| {
            let rig = open(experiment).map(|rig| clock.stopping(rig));
            unless_stopped(rig.and_then(|rig| run_alone(experiment, &rig)))
        });
        let Some(ran) = ran.into_iter().collect::<Option<Result<Vec<_>>>>() else {
            return Ok(None);
        };
        let records = ran?.concat();
        let manifest = self.manifest(&tried.experiment)?;
        let is_fast = !tried.question.drives.drive.is_rotational();
        let has_parity = which.iter().any(|&cell| candidates[cell].level.has_stripe_cache());
        let free = if (is_fast || has_parity) && self.is_virtual(&tried.experiment)? {
            let mut records = Vec::new();
            for &cell in &which {
                let mut settings = candidates[cell].settings();
                settings.extend(without_processor());
                let experiment = tried.with(&settings, 0)?;
                let rig = clock.stopping(tried.rig());
                let run = || unless_stopped(run_alone(&experiment, &rig));
                let Some(ran) = clock.trial(For::Confirming, run) else { return Ok(None) };
                records.extend(ran?);
            }
            Some(Verdict::new(&tried.manifest, &records, &tried.wishes())?)
        } else {
            None
        };
        let is_chosen = |at: &At| is_at(&candidates[chosen], at);
        let (mut confirmed, there) =
            self.said(&manifest, &records, &tried.wishes(), (verdict, free), &is_chosen)?;
        // The answer calls them so, without what all have or a level has not.
        for cell in &mut confirmed.cells {
            let Some(of) = place(&cell.at) else { continue };
            let label = std::mem::replace(&mut cell.label, candidates[of].name());
            if confirmed.choice.as_ref() == Some(&label) {
                confirmed.choice = Some(cell.label.clone());
            }
        }
        Ok(Some((confirmed, there)))
    }

    /// Whether the rig is a real kernel over modelled drives, whose processor takes no time.
    fn is_virtual(&self, experiment: &Experiment) -> Result<bool> {
        let capabilities = (self.open)(experiment)?.capabilities();
        Ok(!capabilities.host_is_modelled && capabilities.members == Members::Modelled)
    }

    /// The same of the layouts of an experiment: what `verdict` ranks first.
    pub(crate) fn ask_space(
        &self,
        space: &Space,
        verdict: &Verdict,
        wishes: &Wishes,
        open: &Open<'_>,
    ) -> Result<Option<(Confirmed, Verdict)>> {
        let best = verdict.ranked.iter().take(self.count);
        let which: Vec<usize> = best.filter_map(|ranked| space.place(&ranked.at)).collect();
        let there = |experiment: &Experiment| -> Result<Box<dyn Rig>> {
            Ok(Box::new(space.clock.stopping((self.open)(experiment)?)))
        };
        let (count, records) = in_time(space, &which, (&there, For::Confirming), 0)?;
        if count < which.len() {
            return Ok(None);
        }
        let manifest = self.manifest(&space.experiment)?.asked(&wishes.choose)?;
        let first = which.first().map(|&first| &space.layouts[first]);
        let counts = |&place: &usize| {
            let volume = &space.trials[place].setup.volume;
            volume.level.has_stripe_cache() || !volume.members.iter().all(Member::is_rotational)
        };
        // Who varies it has said what is to be compared.
        let varied = space.experiment.settings().get(CPU_PERCENT);
        let is_varied = varied.is_some_and(|setting| setting.values.len() > 1);
        let asked = which.iter().any(counts) && !is_varied;
        let free = if asked && self.is_virtual(&space.experiment)? {
            let layouts: Vec<&At> = which.iter().map(|&place| &space.layouts[place]).collect();
            let changes = without_processor();
            let run = || unless_stopped(space.measure_with(&layouts, open, 0, &changes));
            let Some(ran) = space.clock.trial(For::Confirming, run) else { return Ok(None) };
            Some(Verdict::new(&space.manifest, &ran?, wishes)?)
        } else {
            None
        };
        self.said(&manifest, &records, wishes, (verdict, free), &|at| Some(at) == first).map(Some)
    }

    /// What the rig's results are of.
    fn manifest(&self, experiment: &Experiment) -> Result<Manifest> {
        let rig = (self.open)(experiment)?;
        Ok(Run::plan(experiment, &*rig)?.manifest().clone())
    }

    /// What the rig's `records` say beside the model's `verdict`.
    fn said(
        &self,
        manifest: &Manifest,
        records: &[Record],
        wishes: &Wishes,
        (verdict, free): (&Verdict, Option<Verdict>),
        is_chosen: &dyn Fn(&At) -> bool,
    ) -> Result<(Confirmed, Verdict)> {
        let free = free.filter(|free| differs(free, verdict));
        let model = free.as_ref().unwrap_or(verdict);
        let said = Verdict::new(manifest, records, wishes)?;
        if said.ranked.is_empty() {
            return Err(Error::failure(format!(
                "{} ranks none of the layouts that it measured: {}; leave `--confirm` out",
                self.rig, said.answer
            )));
        }
        let modelled = |at: &At| {
            model.ranked.iter().find(|ranked| ranked.at == *at).map(|ranked| ranked.value)
        };
        let cells = said.ranked.iter().map(|ranked| ConfirmedCell {
            at: ranked.at.clone(),
            label: ranked.label.clone(),
            value: ranked.value,
            modelled: modelled(&ranked.at),
            unit: said.unit.clone(),
            standing: ranked.standing,
        });
        // Without the processor another layout may be the model's choice.
        let is_first =
            |at: &At| free.is_some() && model.ranked.first().is_some_and(|of| of.at == *at);
        let is_chosen = |at: &At| if free.is_some() { is_first(at) } else { is_chosen(at) };
        let stands = said.ranked.iter().find(|ranked: &&Ranked| is_chosen(&ranked.at));
        let holds = stands.is_some_and(|ranked| {
            ranked.standing != Standing::Behind || is_the_same_tie(ranked, &said, model)
        });
        let choice = stands.map(|ranked| ranked.label.clone());
        let confirmed = Confirmed {
            rig: self.rig.into(),
            cells: cells.collect(),
            holds,
            without_processor: free.is_some(),
            choice,
        };
        Ok((confirmed, said))
    }
}

/// What leaves the processors out of the model.
fn without_processor() -> Settings {
    vec![(CPU_PERCENT.into(), "0".into())]
}

/// Whether what one verdict says of a layout is not what the other says.
fn differs(one: &Verdict, other: &Verdict) -> bool {
    let value = |at: &At| other.ranked.iter().find(|of| of.at == *at).map(|of| of.value);
    let mut both = one.ranked.iter().filter_map(|of| Some((of.value, value(&of.at)?)));
    both.any(|(one, other)| (one / other).ln().abs() > PROCESSOR_DECIDES)
}

/// Whether `chosen` is as far behind the best of `there` as the model has it, and the model calls that a tie. The other rig
/// runs a trial once and has no noise to count with: 5.2 % in both is no news.
fn is_the_same_tie(chosen: &Ranked, there: &Verdict, model: &Verdict) -> bool {
    let of = |at: &At| model.ranked.iter().find(|ranked| ranked.at == *at);
    let Some((own, best)) = of(&chosen.at).zip(there.ranked.first().and_then(|best| of(&best.at)))
    else {
        return false;
    };
    let is_tie = own.standing != Standing::Behind && best.standing != Standing::Behind;
    is_tie && say_the_same([there.ranked[0].value, chosen.value], [best.value, own.value])
}

/// Whether two layouts stand to each other in one rig as in the other: 9.18 to 8.70 and 9.19 to 8.71 MB/s.
fn say_the_same(there: [f64; 2], here: [f64; 2]) -> bool {
    let ratio = |[one, other]: [f64; 2]| (one / other).ln();
    (ratio(there) - ratio(here)).abs() <= SAME_RATIO
}

impl Confirmed {
    /// In a line.
    pub(crate) fn line(&self) -> String {
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
            let of = self.choice.as_ref().map_or_else(String::new, |choice| format!(", {choice},"));
            let ahead = self.cells.first().map_or("another", |cell| cell.label.as_str());
            format!("the model's choice{of} does not hold; {ahead} is ahead")
        };
        let without = if self.without_processor {
            ", which takes no processor time and is beside the model without it"
        } else {
            ""
        };
        format!("on {}{without}: {turns}; {}", self.rig, cells.join("; "))
    }
}

impl Clock {
    /// What a slower rig says, if one is to `confirm` and `ask` has the time; and, in words, that there was none.
    pub(crate) fn ask<T>(
        &self,
        confirm: Option<&Confirm<'_>>,
        ask: impl FnOnce(&Confirm<'_>) -> Result<Option<T>>,
    ) -> Result<(Option<T>, Option<String>)> {
        let Some(confirm) = confirm else { return Ok((None, None)) };
        let asked = match self.has_time(For::Confirming) {
            Ok(()) => ask(confirm)?,
            Err(_) => None,
        };
        let unconfirmed = asked.is_none().then(|| format!("the best few on {}", confirm.rig));
        Ok((asked, unconfirmed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_rigs_say_the_same_where_the_ratio_is_the_same() {
        assert!(say_the_same([9.18, 8.70], [9.19, 8.71]));
        assert!(say_the_same([918.0, 870.0], [9.19, 8.71]), "not the levels count");
        assert!(!say_the_same([9.18, 8.70], [8.71, 8.71]), "5 % there, none here");
        assert!(!say_the_same([8.70, 9.18], [9.19, 8.71]), "turned round");
    }

    #[test]
    fn a_choice_that_does_not_hold_is_named() {
        let cell = ConfirmedCell {
            at: Map::new(),
            label: "level md-raid10".into(),
            value: 9.18,
            modelled: None,
            unit: "MB/s".into(),
            standing: Standing::Best,
        };
        let confirmed = |holds| Confirmed {
            rig: "kernel".into(),
            cells: vec![cell.clone()],
            holds,
            without_processor: false,
            choice: Some("level md-raid5".into()),
        };
        assert!(confirmed(true).line().contains("the model's choice holds"));
        let said = confirmed(false).line();
        assert!(said.contains("level md-raid5, does not hold; level md-raid10 is ahead"), "{said}");
    }
}
