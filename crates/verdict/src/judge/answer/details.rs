//! The details of a verdict in sentences: factors, interactions, cells that are far off.

use super::of;
use crate::judge::factors::effects::{Effects, Interaction, Lone, Paired};
use crate::judge::{SplitFinding, Verdict};
use crate::stats::Interval;
use crate::tables::figure;
use std::fmt::Write as _;
use store::expression::Objective;
use store::record::short_key;

/// What is said of the factors, of what interacts, of cells that are far off.
pub(crate) fn sentences(verdict: &Verdict) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(variance(verdict));
    // Drives differ in everything; what interleaves and levels do is what is asked.
    let asked = verdict.splits.iter().filter(|finding| finding.contrast.path != "volume.drives");
    sentences.extend(asked.map(|finding| split_sentence(verdict, finding)));
    sentences.extend(interactions(verdict));
    sentences.extend(lone(verdict));
    sentences.extend(front(verdict));
    sentences
}

/// Which factors matter for the objective.
fn variance(verdict: &Verdict) -> Option<String> {
    let effects = verdict.effects.first().filter(|e| e.of == verdict.objective)?;
    if effects.factors.len() < 2 || effects.degrees < 4.0 {
        return None;
    }
    let mut factors: Vec<_> = effects.factors.iter().collect();
    factors.sort_by(|a, b| b.variance_share.total_cmp(&a.variance_share));
    let parts: Vec<String> = factors
        .iter()
        .map(|factor| format!("{} {:.0} %", factor.factor, 100.0 * factor.variance_share))
        .collect();
    Some(format!(
        "Variance of {} explained: {}; interaction and noise {:.0} %.",
        of(&verdict.objective),
        parts.join(", "),
        100.0 * effects.unexplained
    ))
}

/// Two values of a factor that matter at one value of another only.
fn split_sentence(verdict: &Verdict, finding: &SplitFinding) -> String {
    let contrast = &finding.contrast;
    let split = contrast.split.as_ref().expect("a finding has a split");
    let (there, elsewhere) = (&split.there, &split.elsewhere);
    let name = short_key(&contrast.path);
    let (first, second) = (&contrast.first, &contrast.second);
    let other = short_key(&split.path);
    let agree = there.first_smaller.max(there.second_smaller);
    let others = match split.others.as_slice() {
        [] => "elsewhere".to_string(),
        [one] => format!("at {one}"),
        [low, .., high] => format!("at {low} to {high}"),
    };
    let rest = |pair: &Paired| {
        if pair.p_wilcoxon > 0.05 {
            format!(
                "no reliable difference ({} of {} pairs, Wilcoxon p = {:.2})",
                pair.second_smaller, pair.pairs, pair.p_wilcoxon
            )
        } else {
            format!(
                "{} times ({}; {} of {} pairs)",
                figure(pair.ratio),
                between(pair.interval),
                pair.first_smaller.max(pair.second_smaller),
                pair.pairs
            )
        }
    };
    let mut text = format!(
        "{}: at {other} {}, {name} {first} is {} times {name} {second} ({}), in {agree} of {} pairs; \
         {others} {}.",
        of(&finding.workload),
        split.value,
        figure(there.ratio),
        between(there.interval),
        there.pairs,
        rest(elsewhere)
    );
    if let Some(objective) =
        finding.objective_elsewhere.filter(|_| finding.workload != verdict.objective)
    {
        write!(text, " For {}, {others}: {}.", of(&verdict.objective), rest(&objective))
            .expect("a string grows");
    }
    text
}

/// Whether a quantity is the objective, or part of it.
fn is_asked(verdict: &Verdict, effects: &Effects) -> bool {
    let Ok(objective) = Objective::parse(&verdict.objective) else { return true };
    let named = objective.of.quantities();
    effects.of == verdict.objective || named.iter().any(|(name, _)| *name == effects.of)
}

/// As many as anyone reads; the others are in the page and in `--json`.
const INTERACTIONS_MAX: usize = 3;

/// The strongest interactions.
fn interactions(verdict: &Verdict) -> Vec<String> {
    let mut found: Vec<(&Effects, &Interaction)> = Vec::new();
    for effects in verdict.effects.iter().filter(|effects| is_asked(verdict, effects)) {
        found.extend(effects.interactions.iter().map(|interaction| (effects, interaction)));
    }
    let strength = |i: &Interaction| i.ratio_high.ln().abs().max(i.ratio_low.ln().abs());
    found.sort_by(|a, b| strength(b.1).total_cmp(&strength(a.1)));
    let more = found.len().saturating_sub(INTERACTIONS_MAX);
    found.truncate(INTERACTIONS_MAX);
    let mut sentences: Vec<String> = found.into_iter().map(|(of, i)| interaction(of, i)).collect();
    if let (Some(last), 1..) = (sentences.last_mut(), more) {
        write!(last, " {more} weaker ones: see `--json`.").expect("a string grows");
    }
    sentences
}

fn interaction(effects: &Effects, found: &Interaction) -> String {
    let mut settings: Vec<String> =
        found.settings.iter().map(|(factor, level)| format!("{factor} {level}")).collect();
    let last = settings.pop().unwrap_or_default();
    let (low, high) = (figure(found.ratio_low), figure(found.ratio_high));
    let range = if low == high { low } else { format!("{low} to {high}") };
    format!(
        "{}: {} together with {last} is {range} times what the two predict separately, in {} of {} such \
         cells: an interaction, not an outlier.",
        of(&effects.of),
        settings.join(", "),
        found.wild,
        found.cells
    )
}

/// Cells that are far off on their own, by more than a model errs.
fn lone(verdict: &Verdict) -> Option<String> {
    let least = verdict.noise.model_error.ln_1p();
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut all: Vec<&Lone> = Vec::new();
    for effects in verdict.effects.iter().filter(|effects| is_asked(verdict, effects)) {
        let far = effects.lone.iter().filter(|lone| lone.ratio.ln().abs() > least);
        let before = all.len();
        all.extend(far);
        let name = of(&effects.of);
        match (counts.iter_mut().find(|(other, _)| *other == name), all.len() - before) {
            (_, 0) => {}
            (Some((_, count)), more) => *count += more,
            (None, count) => counts.push((name, count)),
        }
    }
    let worst = all.iter().max_by(|a, b| a.ratio.ln().abs().total_cmp(&b.ratio.ln().abs()))?;
    let next = if all.iter().all(|lone| lone.trials == 1) && !verdict.can_repeat {
        "each ran once: repeat them to tell whether that is chance"
    } else if all.iter().all(|lone| lone.trials == 1) {
        "each ran once: `--repeat 3` tells whether that is chance"
    } else {
        "look at their trials"
    };
    let counts: Vec<String> =
        counts.into_iter().map(|(name, count)| format!("{count} of {name}")).collect();
    Some(format!(
        "Outliers: {} (the worst is {}, {} times what its factors predict); {next}.",
        counts.join(", "),
        worst.cell,
        figure(worst.ratio)
    ))
}

fn front(verdict: &Verdict) -> Option<String> {
    let labels: Vec<String> = verdict
        .front
        .iter()
        .map(|row| {
            let values: Vec<String> = row.values.iter().map(|value| figure(*value)).collect();
            format!("{} ({})", row.label, values.join(", "))
        })
        .collect();
    (!labels.is_empty()).then(|| {
        format!("Best trade-offs between the objectives (Pareto front): {}.", labels.join("; "))
    })
}

fn between(interval: Interval) -> String {
    format!("{}–{}", figure(interval.low), figure(interval.high))
}
