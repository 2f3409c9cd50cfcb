//! Which differences are ties: what trials vary by, what holds the model, and by which noise layouts were judged.

use crate::evidence::Evidence;
use crate::judge::answer::{Point, each, point};
use crate::judge::{Standing, Verdict};
use crate::stats::noise::{Noise, NoiseSource};
use crate::tables::{SHARE_OF_BEST, in_percent_or_times, percent, slower, up_to};
use store::quantity::Better;

impl Verdict {
    /// How many times one layout must have what the best has for the difference to count; 1 where any does.
    pub fn tie_ratio(&self) -> f64 {
        tie_half(self).exp()
    }
}

/// From so many times on, what chance may do is no figure.
const NO_FIGURE: f64 = 20.0;

/// What makes all layouts alike, with the difference that [`must`] names in the line `certainty`.
pub(crate) fn within(verdict: &Verdict) -> String {
    let error = verdict.noise.model_error;
    if error.is_infinite() {
        return "the model is no guide here".into();
    }
    let (half, of_error) = (tie_half(verdict), percent(error));
    let all = percent(half.exp_m1());
    // Of so few requests an interval is no figure that says anything.
    if verdict.noise.source == NoiseSource::Trials && half > NO_FIGURE.ln() {
        return "too few requests to tell them apart".into();
    }
    if error <= 0.0 {
        "all within the noise".into()
    } else if half.is_infinite() {
        format!("all within the noise and the model's error, {of_error}")
    } else if all == of_error {
        format!("all within the model's error, {of_error}")
    } else {
        format!("all within {all}: the noise and the model's error of {of_error}")
    }
}

/// How many trials the best has, and the first that is behind; where none is, any two.
fn compared_trials(verdict: &Verdict) -> [usize; 2] {
    let behind = verdict.ranked.iter().find(|ranked| ranked.standing == Standing::Behind);
    let few = verdict.ranked.iter().map(|ranked| ranked.trials).min().unwrap_or(1);
    behind.map_or([few, few], |behind| [verdict.ranked[0].trials, behind.trials])
}

/// The logarithm of what they must differ by: their interval, were they alike.
fn tie_half(verdict: &Verdict) -> f64 {
    let [best, other] = compared_trials(verdict).map(|trials| vec![1.0; trials]);
    verdict.noise.difference(verdict.better, &best, &other).half
}

/// What holds the model, and which differences are ties, where no layout is the best of all.
pub(crate) fn of_loads(verdict: &Verdict, evidence: &Evidence) -> Option<Point> {
    let held = evidence.words(None);
    let of_model = percent(evidence.difference());
    let ties = match (ends(verdict)?.map(|half| percent(half.exp_m1())), &held) {
        ([least, most], Some(_)) if least == most && least == of_model => evidence.ties(),
        _ => in_words(verdict)?,
    };
    Some(point("certainty", held.into_iter().chain([ties]).collect::<Vec<_>>().join("; ")))
}

/// The least and the greatest difference that is a tie under some load, as logarithms.
fn ends(verdict: &Verdict) -> Option<[f64; 2]> {
    let halves = || verdict.situations.iter().filter_map(|situation| situation.tie_half);
    Some([halves().reduce(f64::min)?, halves().reduce(f64::max)?])
}

/// The same in words: the lines about loads are judged by these.
fn in_words(verdict: &Verdict) -> Option<String> {
    let [low, high] = ends(verdict)?;
    let [least, most] = [low, high].map(|half| in_percent_or_times(half.exp_m1()));
    let each = each(verdict);
    Some(if low.is_infinite() {
        "no difference here can be relied on".into()
    } else if high.is_infinite() {
        format!(
            "differences {} are ties; under some {each}s no difference can be relied on",
            up_to(low.exp_m1())
        )
    } else if least == most {
        format!("differences {} are ties", up_to(low.exp_m1()))
    } else {
        format!("differences below {least} to {most}, depending on the {each}, are ties")
    })
}

/// Where the noise is known from, what holds the model, and from which difference on one counts; `by_load` where lines above are
/// judged by the noise of each load.
pub(crate) fn certainty(verdict: &Verdict, evidence: &Evidence, by_load: bool) -> Option<Point> {
    if let [alone] = verdict.ranked.as_slice() {
        let noise =
            noise(verdict, by_load).filter(|_| alone.trials > 1 && verdict.unit != SHARE_OF_BEST);
        let of =
            |noise| point("certainty", format!("the median of {} trials; {noise}", alone.trials));
        return noise.map(of);
    }
    if verdict.ranked.is_empty() {
        return None;
    }
    let behind = verdict.ranked.iter().find(|ranked| ranked.standing == Standing::Behind);
    let held = evidence.words(behind.map(|behind| behind.behind));
    let differs = |[low, high]: &[f64; 2]| percent(low.exp_m1()) != percent(high.exp_m1());
    let is_range = by_load && ends(verdict).is_some_and(|of| differs(&of));
    let ties = in_words(verdict).filter(|_| is_range);
    let text = match (noise(verdict, is_range), held) {
        (_, Some(held)) if verdict.luck.is_infinite() => {
            format!("{held}; by how much chance moves these rates is unknown")
        }
        (_, Some(held)) if verdict.luck > 0.0 => {
            let least = in_percent_or_times(tie_half(verdict).exp_m1());
            format!("{held}; each cell ran once: differences below {least} may be chance")
        }
        (Some(noise), None) => format!("{noise}: {}", ties.unwrap_or_else(|| must(verdict))),
        (Some(noise), Some(held)) => {
            format!("{held}; {noise}: {}", ties.unwrap_or_else(|| must(verdict)))
        }
        (None, Some(held)) => format!("{held}; {}", ties.unwrap_or_else(|| evidence.ties())),
        (None, None) => return None,
    };
    let next = match verdict.noise.source {
        NoiseSource::Residuals if !verdict.can_repeat => ". Repeat the runs",
        NoiseSource::Residuals => ". Add `--repeat 3`",
        NoiseSource::Within => ". Repeat the runs to see how far they differ",
        NoiseSource::Trials if !is_repeated(verdict) => "; `--repeat 5` leaves less to chance",
        _ => "",
    };
    Some(point("certainty", format!("{text}{next}")))
}

fn is_repeated(verdict: &Verdict) -> bool {
    verdict.ranked.iter().any(|ranked| ranked.trials > 1)
}

/// What is said of repeats that do not vary.
const ALL_THE_SAME: &str = "all repeats are the same";

/// Whether it is 0 to the digits that are printed.
fn is_none(noise: &Noise) -> bool {
    noise.source == NoiseSource::Repeats && percent(noise.log_sd) == percent(0.0)
}

/// How far trials of one layout lie apart.
///
/// Where `by_load` is judged, each load by its own, at most.
fn noise(verdict: &Verdict, by_load: bool) -> Option<String> {
    let noise = &verdict.noise;
    let own = verdict.situations.iter().map(|situation| situation.log_sd);
    let most = own.filter(|_| by_load).fold(noise.log_sd, f64::max);
    Some(match noise.source {
        NoiseSource::Unknown => return None,
        NoiseSource::Residuals => {
            "each cell ran once, so noise and interaction cannot be separated".into()
        }
        NoiseSource::Within => {
            let varied = percent(noise.log_sd);
            format!("each cell ran once, and throughput varied by {varied} during a run")
        }
        NoiseSource::Trials => {
            let sure = Noise { model_error: 0.0, log_sd: most, ..*noise };
            let chance = percent(sure.half_width(1, 1).exp_m1());
            let ran = if is_repeated(verdict) { ALL_THE_SAME } else { "each cell ran once" };
            let up_to = if most > noise.log_sd { "up to " } else { "" };
            format!("{ran}, so chance may account for {up_to}{chance} of a difference")
        }
        NoiseSource::Repeats => {
            let few = verdict.ranked.iter().map(|ranked| ranked.trials).min().unwrap_or(1);
            let repeated = verdict.ranked.iter().filter(|ranked| ranked.trials > 1);
            let labels: Vec<&str> = repeated.map(|ranked| ranked.label.as_str()).collect();
            let of = match (labels.as_slice(), few) {
                ([one], 1) => format!("repeats of {one}"),
                _ => "repeats of one layout".into(),
            };
            let pairs = noise.pairs.map_or_else(String::new, |pairs| {
                format!(" ({} between pairs with the same seed)", percent(pairs.log_sd))
            });
            if percent(most) != percent(noise.log_sd) {
                return Some(format!("{of} vary by up to {}", percent(most)));
            }
            if is_none(noise) {
                return Some(ALL_THE_SAME.into());
            }
            format!("{of} vary by {}{pairs}", percent(noise.log_sd))
        }
    })
}

/// From so large a difference on, `faster` and `slower` are numbers that nobody takes for each other.
const UNLIKE_BEHIND: f64 = 0.2;

/// What the best and the first that is behind must differ by, or where none is any two: their interval, were they alike.
fn must(verdict: &Verdict) -> String {
    let few = verdict.ranked.iter().map(|ranked| ranked.trials).min().unwrap_or(1);
    let trials = compared_trials(verdict);
    let [best, other] = trials.map(|trials| vec![1.0; trials]);
    let half = tie_half(verdict);
    if half.is_infinite() {
        return "no difference here can be relied on".into();
    }
    let noise = Noise { model_error: 0.0, ..verdict.noise };
    let mostly_noise = noise.difference(verdict.better, &best, &other).half > half / 2.0;
    let why = if trials == [2, 2] && mostly_noise {
        ", mostly because two runs show little of the noise (`--repeat 5` shows more)"
    } else {
        ""
    };
    // What does not vary is no surer with more trials.
    let more = if is_none(&verdict.noise) || trials.iter().all(|&trials| trials == few) {
        ""
    } else {
        " (more for layouts with fewer repeats)"
    };
    let all = half.exp_m1();
    // How many times better is not how much slower: what is 32 % faster has the other 24 % slower.
    let behind = if verdict.better == Better::Higher && all > UNLIKE_BEHIND && all <= 1.0 {
        format!(" ({})", slower(half.exp(), verdict.better, &verdict.unit))
    } else {
        String::new()
    };
    format!("differences {}{behind} are ties{more}{why}", up_to(all))
}
