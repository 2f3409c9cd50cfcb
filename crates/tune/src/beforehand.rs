//! What is known of a layout before anything is measured, in formulas: `rebuild_h <= 24`, `min usd_per_tb`.
//!
//! ```text
//! usable_tb    what can be used, in TB
//! usd          what all drives cost, spares included
//! usd_per_tb   the same for a TB that can be used
//! rebuild_h    hours of a rebuild, at worst; of what cannot be rebuilt, without end
//! loss_5y      the chance that all data is lost in five years, at worst
//! ```
//!
//! Such a formula leaves layouts out before the search; one of measured things is the verdict's. None is of both: the one is
//! exact, and the other may err. `usd` alone may stand beside measured things: it is one number for all layouts of a question.

mod copies;
mod counts;
mod priced;
mod spared;

use crate::danger::{GONE_MIN, SAFER_BY};
use crate::question::Question;
use crate::question::capacity::{room, usd_per_tb};
use crate::question::drives::DRIVES_MAX;
use crate::question::posed::{Posed, check_credit};
use crate::search::layouts::{Open, Space};
use block::layout::Level;
use lab::{Error, Result};
use risk::inputs::Inputs;
use risk::{FLOOR, Risk};
use std::fmt::Write as _;
use store::expression::{Constraint, Expression, Objective};
use store::quantity::Better;
use verdict::Wishes;
use verdict::judge::layouts::NOT_MEASURED;
use verdict::tables::figure;

/// The names, each with its unit, and which way is better.
const NAMES: [(&str, &str, Better); 5] = [
    ("usable_tb", "TB", Better::Higher),
    ("usd", "", Better::Lower),
    ("usd_per_tb", "", Better::Lower),
    ("rebuild_h", "h", Better::Lower),
    ("loss_5y", "of 1", Better::Lower),
];

/// What is as good as the best of an objective: chunks round off as much room.
const EVEN: f64 = 0.01;

fn find(name: &str) -> Option<&'static (&'static str, &'static str, Better)> {
    NAMES.iter().find(|(own, ..)| *own == name)
}

/// The formulas of a wish, those of layouts alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beforehand {
    constraints: Vec<Constraint>,
    objective: Option<Objective>,
}

/// Formulas, parted: what is known beforehand, and what has to be measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parted {
    pub(crate) beforehand: Beforehand,
    pub(crate) objectives: Vec<String>,
    pub(crate) subject_to: Vec<String>,
}

/// Whether a formula is of what is known beforehand; an error where it is of that and of something else.
fn is_beforehand(text: &str, sides: &[&Expression]) -> Result<bool> {
    let names = sides.iter().flat_map(|side| side.quantities());
    let (known, others): (Vec<_>, Vec<_>) = names.partition(|(name, _)| find(name).is_some());
    match (known.first(), others.first()) {
        (None, _) => Ok(false),
        (Some(_), None) => Ok(true),
        (Some((known, _)), Some((other, _))) => {
            let better = find(known).map(|(.., better)| *better);
            let sign = if better == Some(Better::Higher) { ">=" } else { "<=" };
            Err(Error::input(format!(
                "`{text}`: `{known}` is known before anything is measured, and `{other}` is measured; ask for the best of `{other}` in \
             --objective, and for `{known}` in --subject-to, as in `{known} {sign} …`"
            )))
        }
    }
}

impl Parted {
    /// Parts objectives and constraints.
    pub(crate) fn of(objectives: &[String], subject_to: &[String]) -> Result<Parted> {
        let mut parted = Parted::default();
        for text in objectives {
            let objective = Objective::parse(text)?;
            if !is_beforehand(text, &[&objective.of])? {
                parted.objectives.push(text.clone());
                continue;
            }
            check_way(&objective)?;
            if parted.beforehand.objective.replace(objective).is_some() {
                return Err(Error::input(format!(
                    "`{text}` is the second objective of what is known beforehand; write one"
                )));
            }
        }
        for text in subject_to {
            let constraint = Constraint::parse(text)?;
            if is_beforehand(text, &[&constraint.left, &constraint.right])? {
                let unit = |name: &str| find(name).map(|(_, unit, _)| (*unit).to_string());
                parted.beforehand.constraints.push(constraint.in_unit_of(&unit)?);
            } else {
                parted.subject_to.push(text.clone());
            }
        }
        Ok(parted)
    }
}

/// `max usd` is nobody's wish.
fn check_way(objective: &Objective) -> Result<()> {
    let Expression::Quantity(name, _) = &objective.of else { return Ok(()) };
    let Some((name, _, better)) = find(name) else { return Ok(()) };
    let way = if *better == Better::Lower { "min" } else { "max" };
    if objective.better == *better {
        return Ok(());
    }
    Err(Error::input(format!("`{}`: write `{way} {name}`", objective.text)))
}

/// What is known of a layout.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    /// What it is called.
    pub(crate) name: String,
    pub(crate) usable_bytes: u64,
    pub(crate) cost_usd: Option<f64>,
    /// Nothing where no drive may fail.
    pub(crate) rebuild_h: Option<f64>,
    pub(crate) loss: f64,
}

impl Figures {
    /// Of a layout that survives so many failures.
    pub(crate) fn new(
        name: String,
        usable_bytes: u64,
        cost_usd: Option<f64>,
        survives: usize,
        (risk, inputs): &(Risk, Inputs),
    ) -> Figures {
        let rebuild_h = (survives > 0).then_some(inputs.rebuild_h.range.high);
        Figures { name, usable_bytes, cost_usd, rebuild_h, loss: risk.gone.high }
    }

    fn of(&self, name: &str) -> Option<f64> {
        match name {
            "usable_tb" => Some(self.usable_bytes as f64 / 1e12),
            "usd" => self.cost_usd,
            "usd_per_tb" => Some(usd_per_tb(self.cost_usd?, self.usable_bytes)),
            "rebuild_h" => Some(self.rebuild_h.unwrap_or(f64::INFINITY)),
            "loss_5y" => Some(self.loss),
            _ => None,
        }
    }

    fn value(&self, of: &Expression) -> Option<f64> {
        of.value(0.0, &|name| self.of(name)).filter(|value| !value.is_nan())
    }

    /// What an objective goes by: chances so small that other causes decide are one.
    fn worth(&self, of: &Expression) -> Option<f64> {
        let loss = self.loss.max(FLOOR);
        Figures { loss, ..self.clone() }.value(of)
    }
}

impl Beforehand {
    pub(crate) fn is_empty(&self) -> bool {
        self.constraints.is_empty() && self.objective.is_none()
    }

    /// Whether something must hold.
    pub(crate) fn limits(&self) -> bool {
        !self.constraints.is_empty()
    }

    /// The first formula that names money.
    pub(crate) fn of_money(&self) -> Option<&str> {
        let objective = self.objective.iter().map(|of| (&of.text, vec![&of.of]));
        let constraints = self.constraints.iter().map(|of| (&of.text, vec![&of.left, &of.right]));
        let names_it =
            |side: &&Expression| side.quantities().iter().any(|(name, _)| name.starts_with("usd"));
        let mut all = objective.chain(constraints);
        all.find(|(_, sides)| sides.iter().any(names_it)).map(|(text, _)| text.as_str())
    }

    /// Which of these layouts may be chosen.
    ///
    /// # Errors
    ///
    /// Where none may, or a price is not known; the message has what comes nearest.
    pub(crate) fn kept(&self, all: &[Figures]) -> Result<Vec<bool>> {
        if let Some(text) = self.of_money().filter(|_| all.iter().any(|of| of.cost_usd.is_none())) {
            return Err(unpriced(text));
        }
        let held: Vec<Vec<bool>> = self.constraints.iter().map(|of| holds(of, all)).collect();
        let mut kept: Vec<bool> =
            (0..all.len()).map(|place| held.iter().all(|holds| holds[place])).collect();
        if !all.is_empty() && !kept.contains(&true) {
            return Err(Error::failure(self.missed(all, &held)));
        }
        if let Some(objective) = &self.objective {
            let values: Vec<Option<f64>> = all.iter().map(|of| of.worth(&objective.of)).collect();
            let of_kept = values.iter().zip(&kept).filter(|(_, kept)| **kept);
            let best =
                of_kept.filter_map(|(value, _)| *value).reduce(|a, b| objective.better.of(a, b));
            let is_best =
                |value: &Option<f64>| value.zip(best).is_some_and(|(own, best)| is_even(own, best));
            kept.iter_mut().zip(&values).for_each(|(kept, value)| *kept &= is_best(value));
        }
        Ok(kept)
    }

    /// What leaves no layout, and what comes nearest.
    fn missed(&self, all: &[Figures], held: &[Vec<bool>]) -> String {
        let mut text = "no layout meets all of `--subject-to`".to_string();
        for (constraint, holds) in self.constraints.iter().zip(held) {
            if holds.contains(&true) {
                write!(text, "; `{}` can be met, but not with all the others", constraint.text)
                    .expect("a string grows");
                continue;
            }
            let better = if constraint.at_least { Better::Higher } else { Better::Lower };
            let values = all.iter().filter_map(|of| Some((of.value(&constraint.left)?, of)));
            let nearest = values.reduce(|a, b| if better.ahead(a.0, b.0) >= 0.0 { a } else { b });
            let Some((value, layout)) = nearest else { continue };
            write!(
                text,
                "; `{}`: {} comes nearest, with {}",
                constraint.text,
                layout.name,
                said(&constraint.left, value)
            )
            .expect("a string grows");
        }
        text
    }

    /// Whether a formula that must hold, or is to be best, is of such a name.
    pub(crate) fn names(&self, name: &str) -> bool {
        let of_limits = self.constraints.iter().flat_map(|of| [&of.left, &of.right]);
        let mut all = of_limits.chain(self.objective.iter().map(|of| &of.of));
        all.any(|side| side.quantities().iter().any(|(own, _)| *own == name))
    }

    /// Whether what is to be best is of such a name.
    pub(crate) fn is_best_of(&self, name: &str) -> bool {
        let objective = self.objective.iter();
        objective.flat_map(|of| of.of.quantities()).any(|(own, _)| own == name)
    }

    /// Whether a chance is to be smaller than can be said of one.
    fn asks_below_floor(&self) -> bool {
        self.constraints.iter().any(|of| {
            let is_loss = of.left.quantities().iter().any(|(name, _)| *name == "loss_5y");
            let limit = of.right.value(0.0, &|_| None);
            is_loss && !of.at_least && limit.is_some_and(|limit| limit < FLOOR)
        })
    }

    /// The best of the objective among these layouts: what it goes by, and what is said of it.
    fn best(&self, all: &[Figures]) -> Option<(f64, String)> {
        let objective = self.objective.as_ref()?;
        let valued = all.iter().filter_map(|of| Some((of.worth(&objective.of)?, of)));
        let ahead = |a: f64, b: f64| objective.better.ahead(a, b) >= 0.0;
        let (worth, of) = valued.reduce(|a, b| if ahead(a.0, b.0) { a } else { b })?;
        let value = said(&objective.of, of.value(&objective.of)?);
        Some((worth, format!("`{}` is {value} at best", objective.text)))
    }

    /// What to try instead where no layout meets what must hold.
    fn next_step(&self, of: &Question) -> String {
        let asks = |name: &str| {
            self.constraints
                .iter()
                .any(|of| of.left.quantities().iter().any(|(own, _)| *own == name))
        };
        if asks("usd") {
            return "; `--budget` takes as many drives as so much money pays for".into();
        }
        let has_no_more = of.drives_max() <= of.drives.count;
        match of.count_that_meets() {
            Some(drives) => format!("; `--drives '{drives}'` has what meets them"),
            None if asks("rebuild_h") => {
                "; these are the hours under load, and smaller drives take fewer".into()
            }
            None if self.asks_only_for_room() && of.meets_with(DRIVES_MAX) => {
                let is_paid_for = of.drives.devices.is_empty() && has_no_more;
                let next =
                    if is_paid_for { "take a larger `--budget`" } else { "take more drives" };
                format!("; {next}")
            }
            None if has_no_more => "; fewer of these do not either".into(),
            None => "; a few drives more or fewer do not either".into(),
        }
    }

    /// Whether nothing but so much room must hold, of which more drives have more.
    fn asks_only_for_room(&self) -> bool {
        self.constraints.iter().all(|of| {
            of.at_least
                && of.left.quantities().iter().all(|(name, _)| *name == "usable_tb")
                && of.right.quantities().is_empty()
        })
    }

    /// What was asked of what is known, for a line of the answer about a layout of these figures.
    pub(crate) fn line(&self, of: &Figures) -> Option<String> {
        let constraints = self.constraints.iter().map(|known| (&known.text, &known.left));
        let objective = self.objective.iter().map(|known| (&known.text, &known.of));
        let parts = objective.chain(constraints).filter_map(|(text, formula)| {
            Some(format!("`{text}`: {}", said(formula, of.value(formula)?)))
        });
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Where an objective left out what is much safer than the layout of these figures: the best of that.
    pub(crate) fn safer(&self, own: &Figures, all: &[Figures]) -> Option<String> {
        let objective = self.objective.as_ref().filter(|_| own.loss >= GONE_MIN)?;
        let safer = all.iter().filter(|of| of.loss * SAFER_BY <= own.loss);
        let valued = safer.filter_map(|of| Some((of.value(&objective.of)?, of)));
        let (value, of) =
            valued.reduce(|a, b| if objective.better.ahead(a.0, b.0) >= 0.0 { a } else { b })?;
        let [less, more] = [of.loss, own.loss].map(risk::in_words);
        let value = said(&objective.of, value);
        Some(format!(
            "{} has {value}, and loses all data with {less} at worst, not {more}",
            of.name
        ))
    }

    /// Whether layouts are chosen by it, before speed is asked.
    pub(crate) fn has_objective(&self) -> bool {
        self.objective.is_some()
    }
}

impl Question {
    /// The formulas of its wishes: of what is known beforehand, and of what is measured.
    pub(crate) fn parted(&self) -> Result<Parted> {
        let objectives: Vec<String> = self.objective.iter().cloned().collect();
        Parted::of(&objectives, &self.subject_to)
    }

    /// The same without the formulas of what is known beforehand.
    pub(crate) fn as_measured(&self) -> Result<Question> {
        let Parted { objectives, subject_to, .. } = self.parted()?;
        Ok(Question { objective: objectives.into_iter().next(), subject_to, ..self.clone() })
    }

    /// What is known of a level beforehand.
    pub(crate) fn figures(&self, level: &Level) -> Result<Figures> {
        let survives = level.losses_survived(self.members());
        let room = self.usable_bytes(level);
        let name = level.name.to_string();
        Ok(Figures::new(name, room, self.cost_usd(), survives, &self.risk(level)?))
    }

    /// Whether levels may be tried with spares that nobody asked for: not cloud volumes, of which another is there at once.
    pub(crate) fn may_have_spares(&self) -> bool {
        self.are_spares_open && self.spares == 0 && !self.drives.drive.is_remote()
    }

    /// Whether nobody asks for another measured figure than the work's own.
    pub(crate) fn is_ranked_by_rate(&self) -> bool {
        self.as_measured().is_ok_and(|asked| asked.objective.is_none())
    }
}

impl Posed {
    /// Whether it can be answered on the rig that `open` opens, before anything runs.
    ///
    /// # Errors
    ///
    /// Where the rig cannot run it, a wish names what is not measured, or the drives' state lets nothing be ranked.
    pub fn check(&self, open: &Open<'_>) -> Result<()> {
        let (posed, beforehand) = self.parted()?;
        posed.space(open, &beforehand).map(|_| ())
    }

    /// What is known of the layout that a trial is of, before it runs.
    fn figures(&self, space: &Space, place: usize) -> Result<Figures> {
        let trial = &space.trials[place];
        let label = space.manifest.factors.label(&space.layouts[place]);
        let volume = &trial.setup.volume;
        // A log has drives of its own, which cost something, too.
        let of_log = trial.setup.log.iter().flat_map(|log| &log.members);
        let prices = volume.members.iter().chain(of_log).map(|of| of.drive()?.figures.price_usd);
        let cost_usd = self.cost_usd(trial, prices.sum());
        let survives = volume.level.losses_survived(volume.members.len());
        let known = self.room_bytes(trial).zip(self.risk(trial).transpose()?);
        let (room, risk) = known.ok_or_else(|| {
            Error::input(format!(
                "what {label} holds and risks is not known; leave such formulas out"
            ))
        })?;
        Ok(Figures::new(label, room, cost_usd, survives, &risk))
    }

    /// The same with the wishes that are of what is measured, and the others.
    pub(crate) fn parted(&self) -> Result<(Posed, Beforehand)> {
        let Parted { beforehand, objectives, subject_to } =
            Parted::of(&self.wishes.objectives, &self.wishes.subject_to)?;
        let wishes = Wishes { objectives, subject_to, ..self.wishes.clone() };
        Ok((Posed { wishes, ..self.clone() }, beforehand))
    }

    /// What was asked `beforehand`, and what the best has.
    pub(crate) fn known_line(
        &self,
        space: &Space,
        best: Option<usize>,
        beforehand: &Beforehand,
    ) -> Option<(String, String)> {
        let figures = self.figures(space, best?).ok()?;
        Some(("asked".into(), beforehand.line(&figures)?))
    }

    /// The layouts, without those that do not meet what must hold `beforehand`.
    pub(crate) fn space(&self, open: &Open<'_>, beforehand: &Beforehand) -> Result<Space> {
        let space = Space::new(&self.experiment, &*open(&self.experiment)?, &self.wishes);
        let mut space = space.map_err(with_names)?;
        check_credit(&space, self.question.is_none())?;
        if beforehand.is_empty() {
            return Ok(space);
        }
        let figures: Vec<Figures> = (0..space.layouts.len())
            .map(|place| self.figures(&space, place))
            .collect::<Result<_>>()?;
        space.keep(&beforehand.kept(&figures)?);
        Ok(space)
    }
}

/// Whether a value is as good as the best.
fn is_even(value: f64, best: f64) -> bool {
    value.total_cmp(&best).is_eq() || (value - best).abs() <= EVEN * best.abs()
}

/// That a formula is of money, and nobody said what the drives cost.
fn unpriced(text: &str) -> Error {
    Error::input(format!(
        "`{text}`: the price of the drives is not known; write what one costs, as in `--price 300`"
    ))
}

/// For each layout whether it meets a constraint.
fn holds(constraint: &Constraint, all: &[Figures]) -> Vec<bool> {
    let better = if constraint.at_least { Better::Higher } else { Better::Lower };
    let lefts: Vec<Option<f64>> = all.iter().map(|of| of.value(&constraint.left)).collect();
    let best = lefts.iter().flatten().copied().reduce(|a, b| better.of(a, b)).unwrap_or(0.0);
    let holds =
        all.iter().zip(lefts).map(|(of, left)| {
            let right = constraint.right.value(best, &|name| of.of(name));
            left.zip(right).is_some_and(|(left, right)| {
                if constraint.at_least { left >= right } else { left <= right }
            })
        });
    holds.collect()
}

/// The value of a formula, with the unit of what it is of where that is one name.
fn said(formula: &Expression, value: f64) -> String {
    match formula {
        Expression::Quantity(name, _) if name == "usable_tb" => room((value * 1e12) as u64),
        Expression::Quantity(name, _) if name == "rebuild_h" && value.is_infinite() => {
            "nothing to rebuild from".into()
        }
        Expression::Quantity(name, _) if name == "rebuild_h" => format!("{} h", figure(value)),
        Expression::Quantity(name, _) if name == "loss_5y" => {
            format!("{value:.2e} ({})", risk::in_words(value))
        }
        Expression::Quantity(name, _) if name.starts_with("usd") => {
            format!("US$ {}", figure(value))
        }
        _ => figure(value),
    }
}

/// What errors on a name that is not measured say, too: the names that need not be.
pub(crate) fn with_names(error: Error) -> Error {
    let text = error.to_string();
    if !text.contains(NOT_MEASURED) {
        return error;
    }
    let names: Vec<&str> = NAMES.iter().map(|(name, ..)| *name).collect();
    Error::input(format!("{text}; known without measuring: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::Question;
    use crate::question::tests::question;

    fn levels(of: &Question) -> std::result::Result<String, String> {
        let of = of.clone().with_spares_needed();
        let of = of.map_err(|error| error.to_string())?;
        let names = |levels: Vec<block::layout::Level>| {
            levels.iter().map(|level| level.name).collect::<Vec<_>>().join(" ")
        };
        of.possible().map(names).map_err(|error| error.to_string())
    }

    fn asked(drives: &str, subject_to: &[&str]) -> Question {
        let subject_to = subject_to.iter().map(ToString::to_string).collect();
        Question { subject_to, price_usd: Some(280.0), ..question(drives, "backup", 1) }
    }

    /// Eight disks of 18 TB: RAID 5 holds 126 TB and is lost with up to 11 %, RAID 6 108 and 0.36 %, two copies 72 and 1.8 %, three
    /// 48 and 0.054 %.
    #[test]
    fn what_must_hold_beforehand_leaves_levels_out() {
        let of = |subject_to: &[&str]| levels(&asked("8x st18000nm000j", subject_to)).unwrap();
        assert_eq!(of(&["usable_tb >= 100"]), "md-raid5 md-raid6 md-raid50-2");
        assert_eq!(of(&["usable_tb >= 100000GB", "loss_5y <= 1e-2"]), "md-raid6");
        // Three copies were for who survives two failures alone, though they are safer than RAID 6 and write at random faster.
        let three = "md-raid10-n3 md-raid10-f3 md-raid10-o3";
        assert_eq!(of(&["loss_5y <= 1%"]), format!("{three} md-raid6"));
        assert_eq!(of(&["loss_5y <= 0.2%"]), three);
        assert_eq!(of(&["loss_5y <= 5e-5"]), "md-raid10-n4");
        // More copies than a limit needs are slower and hold less.
        let plain = "md-raid10 md-raid10-f2 md-raid10-o2 md-raid5 md-raid6 md-raid50-2";
        assert_eq!(of(&["loss_5y <= 50%"]), plain);
        assert_eq!(of(&["usd_per_tb <= 20"]), "md-raid5");
        assert_eq!(of(&["usable_tb >= 0.9*best"]), "md-raid5");
        // A rebuild of 18 TB takes 27 h idle and up to 137 h under load, whatever the level.
        assert!(of(&["rebuild_h <= 200", "usd <= 2240"]).starts_with("md-raid10 "));
        // What is measured is left to the verdict.
        assert!(of(&["backup >= 1000MB/s"]).starts_with("md-raid10 "));
    }

    #[test]
    fn an_objective_known_beforehand_keeps_the_best_levels() {
        let of = |objective: &str, survive| {
            let asked = asked("8x st18000nm000j", &[]);
            levels(&Question { objective: Some(objective.into()), survive, ..asked })
        };
        assert_eq!(of("min usd_per_tb", 1).unwrap(), "md-raid5");
        assert_eq!(of("max usable_tb", 0).unwrap(), "md-stripe");
        assert!(of("min rebuild_h", 1).unwrap().contains("md-raid5 md-raid6"));
        assert_eq!(of("max usd", 1).unwrap_err(), "`max usd`: write `min usd`");
        assert_eq!(
            of("max backup / usable_tb", 1).unwrap_err(),
            "`max backup / usable_tb`: `usable_tb` is known before anything is measured, and `backup` is measured; ask for the best of \
             `backup` in --objective, and for `usable_tb` in --subject-to, as in `usable_tb >= …`"
        );
    }

    /// A rate per dollar was refused. All layouts of the same drives cost the same.
    #[test]
    fn a_rate_per_dollar_is_a_rate() {
        let of = |objective: &str, price_usd| {
            let asked = asked("8x st18000nm000j", &[]);
            let asked = Question { objective: Some(objective.into()), price_usd, ..asked };
            asked.with_spares_needed().map(|asked| asked.objective.unwrap())
        };
        assert_eq!(of("max backup / usd", Some(280.0)).unwrap(), "max backup / 2240");
        assert_eq!(of("min usd / backup", Some(280.5)).unwrap(), "min 2244 / backup");
        let said = of("max backup / usd", None).unwrap_err().to_string();
        assert!(said.ends_with("write what one costs, as in `--price 300`"), "{said}");
        assert_eq!(of("max usable_tb / usd", Some(280.0)).unwrap(), "max usable_tb / usd");
    }

    /// RAID 6 was the answer, 0.36 %, and the front had it with a spare, 0.13 %, and knew three copies, 0.054 %.
    #[test]
    fn the_least_risk_is_of_all_that_is_offered() {
        let of = |drives: &str, named: &[&str]| {
            let objective = Some("min loss_5y".to_string());
            let named = named.iter().map(ToString::to_string).collect();
            let asked = Question { objective, levels: named, ..asked(drives, &[]) };
            let asked = asked.with_spares_needed().unwrap();
            let levels = levels(&asked).unwrap();
            (levels, asked.spares, asked.spares_because)
        };
        // A mirror of all is lost less often still: both so rarely that fires decide, and it writes slower.
        assert_eq!(of("8x st18000nm000j", &[]), ("md-raid10-n4".into(), 0, None));
        assert_eq!(of("11x st18000nm000j", &[]), ("md-raid10-n4".into(), 0, None));
        let (levels, spares, because) = of("8x st18000nm000j", &["md-raid5", "md-raid6"]);
        assert_eq!((levels.as_str(), spares), ("md-raid6", 2));
        let because = because.unwrap();
        assert!(because.starts_with("with one spare `min loss_5y` is 1."), "{because}");
        // A spare makes nothing else better.
        let room =
            Question { objective: Some("max usable_tb".into()), ..asked("8x st18000nm000j", &[]) };
        assert_eq!(room.with_spares_needed().unwrap().spares, 0);
    }

    /// "Fewer drives lose less" was said where five hold too little, and seven do.
    #[test]
    fn another_number_of_drives_is_named_where_it_meets_what_must_hold() {
        let of = |drives: &str, devices: &[&str]| {
            let mut asked = asked(drives, &["loss_5y <= 0.1%"]);
            asked.capacity_bytes = 4 << 40;
            asked.drives.devices = devices.iter().map(ToString::to_string).collect();
            levels(&asked)
        };
        let said = of("6x 980-pro-1tb", &[]).unwrap_err();
        assert!(said.ends_with("; `--drives '7x 980-pro-1tb'` has what meets them"), "{said}");
        assert!(of("7x 980-pro-1tb", &[]).unwrap().contains("md-raid6"));
        // There are six.
        let said = of("6x 980-pro-1tb", &["a", "b", "c", "d", "e", "f"]).unwrap_err();
        assert!(!said.contains("--drives") && !said.contains("lose less"), "{said}");
        // Nobody tried more.
        assert!(said.ends_with("; fewer of these do not either"), "{said}");
    }

    /// Seven were named where the budget pays for six; and that neither more nor fewer do, where eighty would.
    #[test]
    fn another_number_of_drives_is_within_the_budget() {
        let of = |budget_usd| {
            let asked = asked("6x 980-pro-1tb", &["loss_5y <= 0.1%"]);
            levels(&Question { capacity_bytes: 4 << 40, budget_usd, ..asked }).unwrap_err()
        };
        // Each costs 280.
        assert!(
            of(Some(1700.0)).ends_with("; fewer of these do not either"),
            "{}",
            of(Some(1700.0))
        );
        assert!(of(Some(1960.0)).ends_with("; `--drives '7x 980-pro-1tb'` has what meets them"));
        let room = |at_least: &str, budget_usd| {
            let asked = asked("8x st18000nm000j", &[at_least]);
            levels(&Question { budget_usd, ..asked }).unwrap_err()
        };
        let said = room("usable_tb >= 400", None);
        assert!(said.ends_with("; take more drives"), "{said}");
        let said = room("usable_tb >= 400", Some(2300.0));
        assert!(said.ends_with("; take a larger `--budget`"), "{said}");
        // More than anybody may ask about.
        let said = room("usable_tb >= 40000", None);
        assert!(said.ends_with("; a few drives more or fewer do not either"), "{said}");
    }

    #[test]
    fn what_no_level_meets_is_said() {
        let said =
            |subject_to: &[&str]| levels(&asked("8x st18000nm000j", subject_to)).unwrap_err();
        assert_eq!(
            said(&["loss_5y <= 1e-15"]),
            "no layout meets all of `--subject-to`; `loss_5y <= 1e-15`: md-raid10-n4 comes nearest, with 1.75e-6 (below 1 in 100,000); \
             a few drives more or fewer do not either"
        );
        // An eleven-way mirror of 18 TB was advised without a word of what it holds.
        let more = said(&["loss_5y <= 1e-6"]);
        assert!(
            more.ends_with(
                "(below 1 in 100,000); `--survive 3` has what meets them: md-mirror, which holds 18.0 TB; other causes decide below 1e-5 \
                 (docs/risk.md)"
            ),
            "{more}"
        );
        let both = said(&["usable_tb >= 120", "loss_5y <= 0.01"]);
        assert!(
            both.contains("`usable_tb >= 120` can be met, but not with all the others"),
            "{both}"
        );
        let money = said(&["usd <= 2000"]);
        assert!(money.contains("comes nearest, with US$ 2240; `--budget` takes"), "{money}");
        let unknown = Question { price_usd: None, ..asked("8x st18000nm000j", &["usd <= 2000"]) };
        assert!(
            levels(&unknown).unwrap_err().ends_with("write what one costs, as in `--price 300`")
        );
        let unit = said(&["rebuild_h <= 24TB"]);
        assert!(unit.contains("`24TB`: it is compared with what is in h"), "{unit}");
    }

    /// RAID 6 has 0.36 % without a spare, 0.13 % with one, 0.073 % with two.
    #[test]
    fn spares_are_taken_where_the_risk_asks_for_them() {
        let levels = vec!["md-raid5".to_string(), "md-raid6".to_string()];
        let of = |subject_to: &[&str]| {
            let asked =
                Question { levels: levels.clone(), ..asked("8x st18000nm000j", subject_to) };
            let asked = asked.with_spares_needed();
            asked.map_or((0, false), |asked| (asked.spares, asked.spares_because.is_some()))
        };
        assert_eq!(of(&["loss_5y <= 0.004"]), (0, false));
        assert_eq!(of(&["loss_5y <= 0.003"]), (1, true));
        assert_eq!(of(&["loss_5y <= 0.001"]), (2, true));
        // No number of spares makes room, and nobody is given what cannot help.
        assert_eq!(of(&["usable_tb >= 200"]), (0, false));
        assert_eq!(of(&["loss_5y <= 1e-15"]), (0, false));
        let said = Question {
            are_spares_open: false,
            levels: levels.clone(),
            ..asked("8x st18000nm000j", &["loss_5y <= 0.003"])
        };
        assert!(said.with_spares_needed().is_err());
        // What no spare is needed for has none, and what would hold more with some is named.
        let free = asked("8x st18000nm000j", &["loss_5y <= 0.003"]).with_spares_needed().unwrap();
        assert_eq!(free.spares, 0);
        assert_eq!(
            free.roomier_with_spares().unwrap(),
            "md-raid6, 7 in use, 1 spare, meets it, too, and holds 90.0 TB (`--spares 1`)"
        );
        // RAID 6 meets that without any.
        let free = asked("8x st18000nm000j", &["loss_5y <= 0.004"]);
        assert_eq!(free.roomier_with_spares(), None);
    }

    /// Layouts of an experiment are left out before they run, too.
    #[test]
    fn an_experiment_s_layouts_are_left_out_beforehand() {
        use crate::search::remembered::Sim;
        use crate::{Posed, tune_experiment};
        use lab::experiment::Experiment;
        let text = "run.repeats = 1\nvolume.drives = '4xst18000nm000j'\n\
                    volume.level = ['md-stripe', 'md-raid10', 'md-raid5', 'md-raid6']\n\
                    [workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 100\n";
        let of = |subject_to: &str| {
            let wishes = verdict::Wishes {
                subject_to: vec![subject_to.to_string()],
                ..verdict::Wishes::default()
            };
            let posed =
                Posed::new(Experiment::parse("some.toml", text).unwrap(), wishes, None).unwrap();
            tune_experiment(&posed, &|_| Ok(Box::new(Sim)), None, &mut |_| ())
        };
        let found = of("usable_tb >= 40").unwrap();
        assert_eq!(found.evaluations, 2);
        assert!(found.text().contains("`usable_tb >= 40`: "), "{}", found.text());
        assert_eq!(found.json()["assumed"]["subject_to"][0], "usable_tb >= 40");
        // That nothing meets a limit is no mistake of who asks (exit status 1).
        let none = of("rebuild_h <= 1").unwrap_err();
        assert!(matches!(none, lab::Error::Failure(_)), "{none}");
        assert!(none.to_string().contains("comes nearest, with 134"), "{none}");
        let names = of("rebuilds <= 1").unwrap_err().to_string();
        assert!(names.contains("known without measuring: usable_tb, usd,"), "{names}");
    }
}
