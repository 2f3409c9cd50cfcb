//! The verdict in sentences.

use super::effects::{Effects, Interaction, Paired};
use super::{SplitFinding, Standing, Verdict, Wishes};
use crate::stats::Interval;
use crate::stats::noise::NoiseSource;
use crate::tables::{figure, percent};
use serde_json::{Map, Value as Json};
use std::fmt::Write as _;
use store::Manifest;
use store::expression::Objective;
use store::record::{short_key, shown};

/// What is said of the noise, of the factors, of what interacts, of what was left out.
pub(super) fn sentences(verdict: &Verdict, manifest: &Manifest) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(noise(verdict, manifest));
    sentences.extend(variance(verdict));
    // Drives differ in everything; what interleaves and levels do is what is asked.
    let asked = verdict.splits.iter().filter(|finding| finding.contrast.path != "volume.drives");
    sentences.extend(asked.map(|finding| split_sentence(verdict, finding)));
    sentences.extend(interactions(verdict));
    sentences.extend(lone(verdict));
    sentences.extend(left_out(verdict));
    sentences.extend(safety(verdict));
    sentences.extend(front(verdict));
    sentences
}

/// Where the noise is known from, and what it takes to stand out of it.
fn noise(verdict: &Verdict, manifest: &Manifest) -> Option<String> {
    if verdict.ranked.len() < 2 {
        return None;
    }
    let noise = &verdict.noise;
    let few = verdict.ranked.iter().map(|ranked| ranked.trials).min().unwrap_or(1);
    // What two cells of so many trials must differ by: their interval, were they alike.
    let alike = vec![1.0; few];
    let must = || percent(noise.difference(verdict.better, &alike, &alike).half.exp() - 1.0);
    match noise.source {
        NoiseSource::Repeats => {
            let repeated: Vec<&str> = verdict
                .ranked
                .iter()
                .filter(|ranked| ranked.trials > 1)
                .map(|ranked| ranked.label.as_str())
                .take(2)
                .collect();
            let which = match (repeated.as_slice(), few) {
                ([one], 1) => format!("{one} was measured several times: "),
                _ => String::new(),
            };
            let model = if noise.model_error > 0.0 {
                format!(" (of which {} is what the model may err by)", percent(noise.model_error))
            } else {
                String::new()
            };
            let pairs = noise.pairs.map_or_else(String::new, |pairs| {
                format!(
                    "; compared in pairs of the same seed, {} ({:.0} degrees)",
                    percent(pairs.log_sd),
                    pairs.degrees
                )
            });
            let runs = if few == 1 { "two single runs".into() } else { format!("medians of {few}") };
            Some(format!(
                "Noise: {which}trials of one layout lie {} apart ({:.0} degrees of freedom){pairs}, so \
                 {runs} must differ by {}{model} before it is a difference.",
                percent(noise.log_sd),
                noise.degrees,
                must()
            ))
        }
        NoiseSource::Residuals => Some(format!(
            "One run of each cell: it cannot tell noise from interaction, nor an accident from a habit. \
             What the factors leave over spreads by {}, so the noise is at most that, and two runs must \
             differ by {} before it is a difference; repeat what matters.",
            percent(noise.log_sd),
            must()
        )),
        NoiseSource::Unknown if manifest.modelled() => None,
        NoiseSource::Unknown => Some(
            "One run of each cell and too few cells: nothing says how far two runs of the same layout \
             lie apart, so no difference here can be relied on; repeat at least one of them."
                .into(),
        ),
    }
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
        "What explains the variance of {}: {}; {:.0} % no factor explains alone.",
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
                "no difference you could rely on ({} of {} pairs, Wilcoxon p = {:.2})",
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
        "{}: at {other} {}, {name} {first} makes {} times what {second} makes ({}), in {agree} of {} \
         pairs; {others} {}.",
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
        write!(text, " For {} it makes {others} {}.", of(&verdict.objective), rest(&objective))
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
        write!(last, " {more} weaker ones are in --json.").expect("a string grows");
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
        "{}: {} with {last} makes {range} times what each makes by itself, in {} of {} such cells: an \
         interaction, not an outlier.",
        of(&effects.of),
        settings.join(", "),
        found.wild,
        found.cells
    )
}

/// Cells that are far off on their own.
fn lone(verdict: &Verdict) -> Option<String> {
    let counts: Vec<String> = verdict
        .effects
        .iter()
        .filter(|effects| is_asked(verdict, effects) && !effects.lone.is_empty())
        .map(|effects| format!("{} of {}", effects.lone.len(), of(&effects.of)))
        .collect();
    let asked = verdict.effects.iter().filter(|effects| is_asked(verdict, effects));
    let all = asked.flat_map(|effects| &effects.lone);
    let worst = all.clone().max_by(|a, b| a.ratio.ln().abs().total_cmp(&b.ratio.ln().abs()))?;
    let next = if all.clone().all(|lone| lone.trials == 1) {
        "one run cannot say whether they are accidents; run them again"
    } else {
        "look at their trials"
    };
    Some(format!(
        "Far off, each on its own: {} (most of all {}, {} times); {next}.",
        counts.join(", "),
        worst.cell,
        figure(worst.ratio)
    ))
}

fn left_out(verdict: &Verdict) -> Option<String> {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for reason in verdict.left_out.iter().flat_map(|out| &out.because) {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason.clone(), 1)),
        }
    }
    let named: Vec<String> =
        reasons.iter().map(|(reason, count)| format!("{count} because {reason}")).collect();
    (!named.is_empty()).then(|| format!("Left out: {}.", named.join(", ")))
}

fn safety(verdict: &Verdict) -> Option<String> {
    let (price, best) = (verdict.safety.as_ref()?, verdict.ranked.first()?);
    let but = price.because.join(", and ");
    let value = amount(price.value, &verdict.unit);
    Some(if price.ratio <= 1.0 || price.tie {
        format!(
            "Safety costs nothing that could be relied on: the best that is not safe, {}, \
                 makes {value} against {}.",
            price.label,
            amount(best.value, &verdict.unit)
        )
    } else {
        format!(
            "Safety costs {}: {} makes {value}, but {but}.",
            percent(price.ratio - 1.0),
            price.label
        )
    })
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
    (!labels.is_empty())
        .then(|| format!("No layout is better in every objective than: {}.", labels.join("; ")))
}

/// What to do, in one sentence.
pub(super) fn answer(verdict: &Verdict, wishes: &Wishes) -> String {
    let Some((best, others)) = verdict.ranked.split_first() else {
        return if verdict.objective.is_empty() {
            nothing_to_rank_by(verdict)
        } else if wishes.safe && verdict.left_out.iter().any(|out| out.is_unsafe) {
            "No layout here is safe: try a mirror or a level with parity, and mounts that are not async."
                .into()
        } else if verdict.left_out.is_empty() {
            "There is nothing to choose from: no trial is finished.".into()
        } else if verdict.left_out.iter().all(|out| out.value.is_none()) {
            "No layout was measured under all of what is asked, so that none can be named for it; ask about \
             a part of it by --objective."
                .into()
        } else {
            "No layout here is all that was asked for; ask for less by --subject-to.".into()
        };
    };
    let keys = keys(&best.at);
    let value = amount(best.value, &verdict.unit);
    if others.is_empty() {
        return match verdict.left_out.len() {
            // Nothing was varied, so nothing was asked.
            0 => String::new(),
            _ => format!("Choose {keys}: only it is all that was asked for, with {value}."),
        };
    }
    let ties: Vec<&str> = others
        .iter()
        .filter(|other| other.standing == Standing::Tie)
        .map(|other| other.label.as_str())
        .collect();
    if others[0].standing == Standing::Unknown {
        return format!(
            "{} was best with {value}, {} better than {}, but nothing here says whether that is more than \
             noise: keep what you have until it is repeated.",
            best.label,
            percent(others[0].behind - 1.0),
            others[0].label
        );
    }
    if ties.len() == others.len() {
        let by = if verdict.noise.model_error > 0.0 {
            format!(
                ": no layout is better than another by more than the {:.0} % that the model may err",
                100.0 * verdict.noise.model_error
            )
        } else {
            String::new()
        };
        return format!("No difference you could rely on: keep what you have{by}.");
    }
    if verdict.objective == "every workload" {
        let loses = if best.value > 0.9995 {
            "it is the best of all for every workload".to_string()
        } else {
            format!("it is never more than {} behind the best", percent(1.0 - best.value))
        };
        return format!("Choose {keys}: {loses}.{}", as_good(&ties));
    }
    let next = &others[0];
    if next.standing == Standing::Tie {
        return format!("Choose {keys}, with {value}.{}", as_good(&ties));
    }
    format!(
        "Choose {keys}, with {value}: {} better than {} ({} times).",
        percent(next.behind - 1.0),
        next.label,
        next.behind_interval.map_or_else(String::new, between)
    )
}

/// Where what the workloads are judged by is neither better nor worse.
fn nothing_to_rank_by(verdict: &Verdict) -> String {
    match verdict.left_out.len() {
        // Nothing was varied, so nothing was asked.
        0 | 1 => String::new(),
        _ => "No layout is called the best: what was measured is neither better nor worse by itself. Say \
              what to make small or large by --objective."
            .into(),
    }
}

/// Those that cannot be told from the best.
fn as_good(ties: &[&str]) -> String {
    match ties {
        [] => String::new(),
        [first, ..] if ties.len() > 3 => format!(
            " As good, as far as can be told: {first}, and {} others; keep what you have if it is one of \
             them.",
            ties.len() - 1
        ),
        _ => format!(" As good, as far as can be told: {}.", ties.join("; ")),
    }
}

/// `volume.interleave = 64, fs.block = 16KiB`: as an experiment file has it.
fn keys(at: &Map<String, Json>) -> String {
    let applies = at.iter().filter(|(_, value)| value.as_str() != Some(""));
    let keys: Vec<String> =
        applies.map(|(path, v)| format!("{path} = {}", shown(path, v))).collect();
    if keys.is_empty() { "the only layout".into() } else { keys.join(", ") }
}

/// A value with its unit.
pub(crate) fn amount(value: f64, unit: &str) -> String {
    if unit == "of the best" {
        return format!("{:.0} % of the best", 100.0 * value);
    }
    format!("{} {unit}", figure(value)).trim_end().to_string()
}

/// An objective without its direction, as a thing that is spoken of.
fn of(objective: &str) -> &str {
    objective.strip_prefix("min ").or_else(|| objective.strip_prefix("max ")).unwrap_or(objective)
}

fn between(interval: Interval) -> String {
    format!("{}–{}", figure(interval.low), figure(interval.high))
}
