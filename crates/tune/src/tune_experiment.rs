//! From an experiment that asks to the answer.

use crate::answer::lines_of_question::Difference;
use crate::answer::{Page, Tuned, urgent_first};
use crate::beside::mount::Rivals;
use crate::beside::mount::rivals::with_options;
use crate::beside::{Beside, OfExperiment};
use crate::commands::{self, Command};
use crate::danger::{self, Limit, Resync};
use crate::doubt::turns;
use crate::doubt::what_if::{WhatIf, what_if};
use crate::front::row::FrontRow;
use crate::front::{self, degraded, spares};
use crate::question::capacity::price;
use crate::question::posed::{Posed, verdict_of};
use crate::question::{files, mixed_sizes, settings};
use crate::reasons::factors::Decides;
use crate::reasons::published_rules::layouts;
use crate::search::clock::Clock;
use crate::search::confirm::{Confirm, Confirmed};
use crate::search::layouts::{At, Open, Space};
use crate::search::of_experiment::measured;
use crate::search::pick::of_experiment;
use lab::Result;
use lab::catalogue::Drive;
use lab::experiment::{Experiment, Member, Trial};
use lab::rig::Rig;
use risk::inputs::Inputs;
use risk::{Risk, in_words};
use serde_json::{Value as Json, json};
use store::record::Record;
use verdict::Verdict;
use verdict::judge::Ranked;
use verdict::tables::figure;

impl Posed {
    /// How to build what `trial` ran on.
    fn commands(&self, trial: &Trial, beside: &Beside) -> Vec<Command> {
        let own = commands::of_trial(&self.experiment, trial, self.question.as_ref(), beside);
        match &self.question {
            Some(question) => commands::free(own, &question.drives.names_taken),
            None => own,
        }
    }

    fn assumed(&self, verdict: &Verdict) -> Json {
        json!({
            "work": self.question.as_ref().and_then(|question| question.work.about()),
            "objective": verdict.objective,
            "safe": self.wishes.safe,
            "subject_to": self.wishes.subject_to,
            "price_usd": self.price_usd,
            "experiment": settings::json(&self.experiment),
        })
    }

    /// What the volume of a trial may lose, where it is of modelled drives and no controller hides what it does.
    fn risk_of(&self, trial: &Trial) -> Option<Lost> {
        self.risk(trial)?.ok().map(|(risk, inputs)| Lost { risk, inputs })
    }
}

/// Where a question comes from that flags asked.
pub(crate) const ORIGIN_ASSUMED: &str = "Assumed; --save FILE writes it as an experiment";

/// Answers the question of an experiment on the rig that `open` opens; `watch` is told how many cells are measured.
///
/// # Errors
///
/// Where the rig cannot run it, or a wish names what it does not measure.
pub fn tune_experiment(
    posed: &Posed,
    open: &Open<'_>,
    confirm: Option<&Confirm<'_>>,
    watch: &mut dyn FnMut(usize),
) -> Result<Tuned> {
    let clock = posed.clock.anew();
    let in_time = |experiment: &Experiment| -> Result<Box<dyn Rig>> {
        Ok(Box::new(clock.stopping(open(experiment)?)))
    };
    answered(posed, &clock, &in_time, confirm, watch)
}

fn answered(
    posed: &Posed,
    clock: &Clock,
    open: &Open<'_>,
    confirm: Option<&Confirm<'_>>,
    watch: &mut dyn FnMut(usize),
) -> Result<Tuned> {
    let (asked_for, (posed, beforehand)) = (posed, &posed.parted()?);
    let mut space = posed.space(open, beforehand)?;
    space.clock = clock.clone();
    confirm.map_or(Ok(()), |confirm| confirm.admit(&space.experiment))?;
    let (mut records, measured) = measured(posed, &space, open, watch)?;
    let mut verdict = verdict_of(posed, &space, &records)?;
    let all = space.layouts.len() * posed.effort().seeds as usize;
    let rivals = with_options(posed, &mut space, open, (&mut verdict, &mut records))?;
    let (asked, unconfirmed) =
        clock.ask(confirm, |of| of.ask_space(&space, &verdict, &posed.wishes, open))?;
    let confirmed = asked.as_ref().map(|(confirmed, _)| confirmed);
    // What is measured on a slower rig is what counts.
    let turned = asked.as_ref().filter(|(of, _)| !of.without_processor && !of.holds);
    let judged = turned.map_or(&verdict, |(_, there)| there);
    let first = of_experiment(judged, &space.manifest);
    let second = judged.ranked.iter().find(|of| first.is_none_or(|first| first.at != of.at));
    let best = first.and_then(|first| space.place(&first.at));
    let answer = first.map(|first| &first.at);
    let (front, is_modelled) = front_of(posed, &space, open, (&verdict, &records), answer)?;
    let risk = best.and_then(|best| posed.risk_of(&space.trials[best]));
    let said = Said { posed, space: &space, verdict: judged, best, confirmed }.told(clock);
    let beside = beside(posed, &space, open, (answer, &records), risk.as_ref())?;
    // What is built is another layout, where a slower rig turned the choice.
    let trials = measured + rivals.trials;
    let rivals = if turned.is_some() { Rivals::default() } else { rivals };
    let beside = Beside { rivals, ..beside };
    let decides = Decides::of(&verdict);
    let what_if = what_if(posed, &space, (open, clock), ([&verdict, judged], &records))?;
    let WhatIf { reasons, in_doubt, sensitivity, not_tried } = what_if;
    let mut lines = said.lines(risk.as_ref(), &front, &beside);
    mixed_sizes::say(&mut lines, best.map(|best| &space.trials[best]));
    lines.extend(posed.known_line(&space, best, beforehand));
    let is_best = |row: &FrontRow| answer == Some(&row.at);
    lines.extend(degraded::lines(&front, is_best, verdict.better, is_modelled));
    lines.extend(decides.line(str::to_string));
    turns::put_behind_doubts(&mut lines, in_doubt);
    lines.extend(turns::lines(&sensitivity));
    urgent_first(&mut lines);
    let not_tried = clock.say(&mut lines, unconfirmed.into_iter().chain(not_tried));
    Ok(Tuned {
        best: first.map(|first| first.at.clone()).unwrap_or_default(),
        runner_up: second.map(|second| second.at.clone()),
        difference: first.zip(second).map(|(first, second)| difference(first, second)),
        verdict: said.sentence() + clock.caveat(),
        lines,
        decides,
        page: Page::of(&space.manifest, records, verdict.clone()),
        front,
        risk: risk.as_ref().map_or(Json::Null, Lost::json),
        reasons,
        sensitivity,
        not_tried,
        rules: layouts::of_layouts(&space, judged),
        commands: best.map_or(Vec::new(), |best| posed.commands(&space.trials[best], &beside)),
        bitmap: beside.bitmap,
        scheduler: beside.scheduler,
        read_ahead: beside.read_ahead,
        align: beside.align,
        blocks: beside.blocks,
        mount: beside.mount.or(beside.rivals.mount),
        without_copies: None,
        assumed: asked_for.assumed(&verdict),
        confirmed: confirmed.cloned(),
        warnings: space.warnings.clone(),
        evaluations: trials,
        evaluations_left: clock.left_of_search()[1],
        short_evaluations: 0,
        short_evaluations_left: 0,
        exhaustive_evaluations: all,
        experiment: posed.text.clone(),
        origin: if posed.question.is_some() { ORIGIN_ASSUMED } else { "The experiment" },
    })
}

/// The front, with what fails and what is kept as a spare; and whether a failed member is modelled.
fn front_of(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    (verdict, records): (&Verdict, &[Record]),
    answer: Option<&At>,
) -> Result<(Vec<FrontRow>, bool)> {
    let mut front = front::of_posed(space, (verdict, records), posed, answer)?;
    let is_modelled = degraded::of_posed(posed, space, open, (records, &mut front));
    for row in spares::of_files(posed, space, open, (verdict, records), &front)? {
        row.stand_among(&mut front, verdict.better);
    }
    Ok((front, is_modelled))
}

/// The price of each drive of a trial in words.
fn price_of(trial: &Trial, price_usd: f64) -> String {
    let drive = trial.setup.volume.members.first().and_then(Member::drive);
    drive.map_or_else(|| format!("US$ {price_usd}"), |drive| price(price_usd, drive))
}

/// How long a resync of what a trial runs on takes.
fn resync(trial: &Trial, inputs: &Inputs) -> Result<Resync> {
    let volume = &trial.setup.volume;
    let members = volume.members.iter();
    let drives: Vec<&Drive> = members.filter_map(|member| Some(&**member.drive()?)).collect();
    danger::resync(&volume.level, inputs, &drives, Limit(trial.setup.host.storage_per_s[1]))
}

/// What is set beside the `best`, if it is one of the layouts; `lost` is what it may lose.
fn beside(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    (best, records): (Option<&At>, &[Record]),
    lost: Option<&Lost>,
) -> Result<Beside> {
    let Some((best, place)) = best.and_then(|best| Some((best, space.place(best)?))) else {
        return Ok(Beside::default());
    };
    let trial = &space.trials[place];
    let resync = lost.map(|lost| resync(trial, &lost.inputs)).transpose()?.unwrap_or_default();
    let layout = OfExperiment { space, open, wishes: &posed.wishes, best, records };
    Ok(layout.beside(trial, resync))
}

fn difference(first: &Ranked, second: &Ranked) -> Difference {
    let interval = second.behind_interval;
    Difference {
        estimate: second.behind / first.behind,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
    }
}

/// What the best may lose in five years.
struct Lost {
    risk: Risk,
    inputs: Inputs,
}

impl Lost {
    fn json(&self) -> Json {
        danger::json(&self.risk, &self.inputs)
    }
}

/// What was found, to be said.
struct Said<'a> {
    posed: &'a Posed,
    space: &'a Space,
    verdict: &'a Verdict,
    best: Option<usize>,
    confirmed: Option<&'a Confirmed>,
}

impl Said<'_> {
    /// The same, and whoever waits is told: what is measured from now on stands beside it.
    fn told(self, clock: &Clock) -> Self {
        if self.best.is_some() {
            clock.tell(&self.sentence());
        }
        self
    }

    /// What to build; where only one layout is asked about, what that does.
    fn sentence(&self) -> String {
        let Verdict { answer, .. } = self.verdict;
        if answer.is_empty() {
            self.verdict.of_one()
        } else if self.is_unsafe_by_caches() {
            format!(
                "{answer} Or turn the drives' write caches off: `--set drive.write_cache=false`."
            )
        } else {
            answer.clone()
        }
    }

    /// Whether nothing is safe, and all drives have caches that are on and can be off: `--safe` leaves an experiment as it is.
    fn is_unsafe_by_caches(&self) -> bool {
        let members = || self.space.trials.iter().flat_map(|trial| &trial.setup.volume.members);
        let can_be_off = |of: &Member| of.drive().is_some_and(|drive| drive.takes("write_cache"));
        self.posed.wishes.safe
            && self.verdict.ranked.is_empty()
            && self.verdict.left_out.iter().any(|out| out.is_unsafe)
            && members().all(can_be_off)
            && members().any(Member::has_write_cache)
    }

    fn lines(
        &self,
        lost: Option<&Lost>,
        front: &[FrontRow],
        beside: &Beside,
    ) -> Vec<(String, String)> {
        let points = self.verdict.points.iter();
        let mut lines: Vec<(String, String)> =
            points.map(|point| (point.about.clone(), point.text.clone())).collect();
        lines.extend(self.crash().map(|crash| ("crash".into(), crash)));
        let confirmed = self.confirmed.map(Confirmed::line);
        lines.extend(confirmed.map(|line| ("confirmed".to_string(), line)));
        if let Some(question) = &self.posed.question {
            lines.extend(files::lines(self.posed, question));
        }
        lines.extend(self.cost().map(|cost| ("cost".into(), cost)));
        if let Some(Lost { risk, .. }) = lost {
            let [low, high] = [risk.gone.low, risk.gone.high].map(in_words);
            let gone = if low == high { low } else { format!("{low} to {high}") };
            lines.push(("in 5 years".into(), format!("all data lost {gone} (docs/risk.md)")));
            let best = self.verdict.ranked.first().map(|best| (best.value, self.verdict.better));
            let safer = best.and_then(|best| front::safer(front, risk, best));
            lines.extend(safer.map(|line| ("safer".into(), line)));
        }
        lines.extend(beside.lines());
        lines
    }

    /// What a power cut loses of files.
    fn crash(&self) -> Option<String> {
        let best = self.best.filter(|_| self.posed.question.is_some())?;
        let kind = self.space.layouts[best].get("fs.kind").map(store::record::plain);
        let kind = kind.or_else(|| Some(self.space.experiment.value("fs.kind")?.to_string()))?;
        files::crash(&kind, &self.verdict.ranked.first()?.facts)
    }

    /// What the drives of the best cost, for what can be used of them.
    fn cost(&self) -> Option<String> {
        let trial = &self.space.trials[self.best?];
        let bytes = self.posed.room_bytes(trial)?;
        let spares = self.posed.question.as_ref().map_or(0, |question| question.spares);
        let count = trial.setup.volume.members.len() + spares;
        let facts = self.verdict.ranked.first().and_then(|best| best.facts.price_usd);
        let price = self.posed.price_usd.or(facts.map(|all| all / (count - spares) as f64))?;
        let gigabytes = bytes as f64 / 1e9;
        Some(format!(
            "{count} drives at {}: US$ {:.0}, {} per usable GB",
            price_of(trial, price),
            price * count as f64,
            figure(price * count as f64 / gigabytes)
        ))
    }
}
