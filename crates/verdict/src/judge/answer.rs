//! The answer, and the few lines that stand below it: margin, certainty, risk, what the safe choice costs.

pub(crate) mod all_alike;
pub(crate) mod details;
pub(crate) mod no_layout;

use super::layouts::names::varied;
use super::loads::situations::{self, Situation};
use super::ranking::margin::{next_best, open, tied};
use super::ranking::ties::{certainty, of_loads, within};
use super::{LeftOut, Ranked, Standing, Verdict, Wishes, risk};
use crate::evidence::Evidence;
use crate::tables::{SHARE_OF_BEST, figure, listed, slower};
use no_layout::{nothing_ranked, nothing_to_choose};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use store::expression::Objective;
use store::factor::{Role, applies};
use store::record::short_key;
use store::{Manifest, sample};

/// One line below the answer: `next best`, and what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// What the line is about, in a word or two.
    pub about: String,
    /// What there is to say.
    pub text: String,
}

pub(super) fn point(about: &str, text: String) -> Point {
    Point { about: about.into(), text }
}

/// What to do, in one sentence.
pub(super) fn answer(verdict: &Verdict, manifest: &Manifest, wishes: &Wishes) -> String {
    let Some((best, others)) = verdict.ranked.split_first() else {
        return nothing_ranked(verdict, manifest, wishes);
    };
    let value = amount(best.value, &verdict.unit);
    if others.is_empty() {
        return match verdict.left_out.len() {
            0 if over_loads(verdict).is_some() => verdict.of_one(),
            0 => nothing_to_choose(&manifest.factors),
            _ if verdict.left_out.iter().all(LeftOut::is_unfinished) => {
                format!(
                    "No answer yet: only {} was measured under every load that has results{}.",
                    best.label,
                    in_brackets(verdict, best)
                )
            }
            _ => format!(
                "Use {}: the only layout that meets every condition{}.",
                best.label,
                in_brackets(verdict, best)
            ),
        };
    }
    let is_alike = |a: f64, b: f64| a.to_bits() == b.to_bits();
    if others.iter().all(|of| is_alike(of.behind, 1.0) && is_alike(of.value, best.value)) {
        return all_alike::answer(verdict, "No difference at all", &format!("{value} each"));
    }
    let is_unknown = others.iter().any(|other| other.standing == Standing::Unknown);
    // More repeats would show no more of a division that somebody guessed.
    if verdict.noise.buffers > 0.0 && !verdict.chosen() && (is_unknown || verdict.is_level()) {
        return format!("No answer: {} {}, {GUESSED}", best.label, verdict.was_best(best));
    }
    if is_unknown {
        return verdict.not_yet(best, verdict.why_unknown());
    }
    if verdict.is_level() {
        return all_alike::answer(verdict, "No reliable difference", &within(verdict));
    }
    if verdict.unit != SHARE_OF_BEST {
        let amount = with_name(&verdict.objective, &value);
        return format!(
            "Use {}: {amount}.{}",
            verdict.of_what_matters(best),
            verdict.of_the_rest()
        );
    }
    if verdict.situations.iter().all(|situation| situation.suits(&best.at)) {
        let (what, rest) = (verdict.of_what_matters(best), verdict.of_the_rest());
        return format!("Use {what}: {} for {}.{rest}", praise(verdict, best), over(verdict));
    }
    if others.iter().all(|other| other.standing == Standing::Tie) {
        return all_lose_alike(verdict, best, others);
    }
    format!(
        "No single winner. {} loses least: at most {} than the best for each {}.{}",
        verdict.of_what_matters(best),
        slower(1.0 / best.value, verdict.better, &verdict.unit),
        each(verdict),
        verdict.of_the_rest()
    )
}

/// ` (12 MB/s)`, of one layout alone; a share of the best says nothing where there is no other.
pub(crate) fn in_brackets(verdict: &Verdict, of: &Ranked) -> String {
    let value = (verdict.unit != SHARE_OF_BEST).then(|| amount(of.value, &verdict.unit));
    value.map_or_else(String::new, |value| format!(" ({value})"))
}

/// That none is the best everywhere, and none loses less than the others where it loses most.
fn all_lose_alike(verdict: &Verdict, best: &Ranked, others: &[Ranked]) -> String {
    let all = others.len() + 1;
    let which = if all == 2 { "the two".into() } else { format!("all {all}") };
    let last = others.last().unwrap_or(best);
    format!(
        "No single winner, and no reliable difference between {which}: each is at most {} than the best for each {1}. \
         Choose by the {1} that matters most.",
        slower(1.0 / last.value, verdict.better, &verdict.unit),
        each(verdict)
    )
}

/// Why nothing is known where the drives' buffers served much, and their division is a guess; and the way out.
const GUESSED: &str = "but by what the drives' buffers hold, and how they divide these is an estimate. Measure it (`ileave drives probe \
                       --rotating`), or set `buffer_segments` and `segment_sectors` of the drives.";

impl Verdict {
    /// Why it is open how far layouts are apart, and what shows it.
    fn why_unknown(&self) -> &'static str {
        if self.noise.buffers > 0.0 {
            GUESSED
        } else if self.is_chance_of_buffers {
            "but each cell ran once, and chance decides what the drives' buffers hold. Add `--repeat 5`."
        } else if self.luck > 0.0 {
            "but each cell ran once, and results depend on chance alignment of the disks. Add `--repeat 5`."
        } else if self.can_repeat {
            "but each cell ran once and nothing shows how large the noise is. Add `--repeat 3`."
        } else {
            "but each cell ran once and nothing shows how large the noise is. Repeat the runs."
        }
    }

    /// `was best with 12 MB/s`; a share of the best is no figure of its own.
    fn was_best(&self, best: &Ranked) -> String {
        if self.unit == SHARE_OF_BEST {
            return "was best".into();
        }
        format!("was best with {}", amount(best.value, &self.unit))
    }

    /// Whether no layout that was ranked is better than another, under no load or condition either.
    pub(super) fn is_level(&self) -> bool {
        let others = self.ranked.get(1..).unwrap_or_default();
        self.situations.iter().all(Situation::is_level)
            && others.iter().all(|other| other.standing == Standing::Tie)
    }

    /// That it is open which of some is best, and `why`; what all of these share is no longer.
    fn not_yet(&self, best: &Ranked, why: &str) -> String {
        let value = self.was_best(best);
        let open =
            || self.ranked.iter().filter(|of| of.standing != Standing::Behind).map(|of| &of.at);
        let of_open = varied(open());
        let mut settled = varied(self.ranked.iter().map(|of| &of.at));
        settled.retain(|path| !of_open.contains(path));
        if settled.is_empty() || of_open.is_empty() || !self.left_out.is_empty() {
            return format!("No answer yet: {} {value}, {why}", best.label);
        }
        let named = |paths: &BTreeSet<&String>| {
            let of = paths.iter().filter_map(|path| Some((path, best.at.get(*path)?)));
            let words = of.map(|(path, at)| {
                format!("{} {}", short_key(path), self.factors.with_unit(path, at))
            });
            words.collect::<Vec<_>>().join(", ")
        };
        format!("Use {}; the rest is open: {} {value}, {why}", named(&settled), named(&of_open))
    }

    /// What is said where there is one layout alone, and so no answer.
    pub fn of_one(&self) -> String {
        let alone = "One layout alone, nothing to choose";
        if let Some(values) = over_loads(self) {
            return format!("{alone}: {values}.");
        }
        match self.ranked.as_slice() {
            [one] if self.unit != SHARE_OF_BEST => {
                let value = with_name(&self.objective, &amount(one.value, &self.unit));
                format!("{alone}: {value}.")
            }
            [] => format!("{alone}, and it cannot be judged; what follows says why."),
            _ => format!("{alone}."),
        }
    }
}

/// What one layout does under the loads that were varied, and nothing else was: the least and the most of each workload.
fn over_loads(verdict: &Verdict) -> Option<String> {
    let mut of: Vec<&str> = Vec::new();
    for situation in &verdict.situations {
        let are_loads = situation.given.keys().all(|path| verdict.factors.role(path) == Role::Load);
        if !are_loads {
            return None;
        }
        if !of.contains(&situation.of.as_str()) {
            of.push(&situation.of);
        }
    }
    if verdict.situations.iter().all(|situation| situation.given.is_empty()) {
        return None;
    }
    let ranges = of.into_iter().map(|name| {
        let own = verdict.situations.iter().filter(|situation| situation.of == name);
        range(verdict, &own.collect::<Vec<_>>())
    });
    Some(listed(&ranges.collect::<Vec<_>>()))
}

/// `w 0.546 MB/s at every depth`, or `w 0.55 MB/s (kind random) to 31 MB/s (kind sequential)`.
fn range(verdict: &Verdict, of: &[&Situation]) -> String {
    let by_value = |a: &&&Situation, b: &&&Situation| a.value.total_cmp(&b.value);
    let ends = [of.iter().min_by(by_value), of.iter().max_by(by_value)];
    let [least, most] = ends.map(|end| end.copied().unwrap_or(of[0]));
    let [low, high] = [least, most].map(|end| amount(end.value, &end.unit));
    let name = with_name(&least.of, &low);
    if of.len() == 1 {
        return name;
    }
    if low == high {
        let keys: Vec<String> =
            least.given.keys().map(|path| short_key(path).to_string()).collect();
        return format!("{name} at every {}", listed(&keys));
    }
    let [at_least, at_most] = [least, most].map(|end| verdict.factors.label(&end.given));
    format!("{name} ({at_least}) to {high} ({at_most})")
}

/// `fastest` of times and rates, and `best` of anything else; where others are as good under some load, that too.
fn praise(verdict: &Verdict, best: &Ranked) -> String {
    let speeds = verdict.situations.iter().all(|situation| sample::is_speed(&situation.unit));
    let word = if speeds { "fastest" } else { "best" };
    let alone = |situation: &Situation| {
        situation.suits(&best.at)
            && situation.tied.iter().all(|at| verdict.is_the_same(at, &best.at))
    };
    if verdict.situations.iter().all(alone) {
        return word.into();
    }
    format!("{word}, or tied with the {word},")
}

/// What layouts were judged under: several workloads, or one under several loads or conditions.
pub(crate) fn each(verdict: &Verdict) -> &'static str {
    let mut names: Vec<&str> =
        verdict.situations.iter().map(|situation| of(&situation.of)).collect();
    names.dedup();
    let mut given = verdict.situations.iter().flat_map(|situation| situation.given.keys());
    match names.as_slice() {
        [_] if given.all(|path| verdict.factors.role(path) == Role::Load) => "load",
        [_] => "condition",
        _ => "workload",
    }
}

/// The workloads that layouts are judged by: `read and write`, `read at every load`.
fn over(verdict: &Verdict) -> String {
    let mut names: Vec<String> = Vec::new();
    for situation in &verdict.situations {
        let name = of(&situation.of).to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let names =
        if names.len() > 4 { format!("all {} workloads", names.len()) } else { listed(&names) };
    let role = |role: Role| {
        let mut given = verdict.situations.iter().flat_map(|situation| situation.given.keys());
        given.any(|path| verdict.factors.role(path) == role)
    };
    match (role(Role::Load), role(Role::Condition)) {
        (true, true) => format!("{names} at every load and condition"),
        (true, false) => format!("{names} at every load"),
        (false, true) => format!("{names} under every condition"),
        (false, false) => names,
    }
}

/// Margin, certainty, risk and settings: what stands below the answer.
pub(super) fn points(verdict: &Verdict, evidence: &Evidence) -> Vec<Point> {
    let Some((best, others)) = verdict.ranked.split_first() else {
        let mut points = situations::points(verdict);
        if !points.is_empty() {
            points.extend(of_loads(verdict, evidence));
        }
        points.extend(risk::of_situations(verdict));
        points.extend(left_out(verdict));
        return points;
    };
    // Nothing is chosen where the others could not be judged.
    let is_open = others.is_empty() && verdict.left_out.iter().any(|out| out.is_unsteady);
    let asked = !is_open && (!others.is_empty() || !verdict.left_out.is_empty());
    let mut points = Vec::new();
    if verdict.chosen() {
        points.extend(tied(verdict, &[]));
        points.extend(open(verdict));
        points.extend(next_best(verdict, others));
    }
    let by_load = situations::points(verdict);
    let certainty = certainty(verdict, evidence, !by_load.is_empty());
    points.extend(by_load);
    points.extend(certainty);
    if asked {
        points.extend(risk::points(verdict, best, others));
    }
    if verdict.chosen() || (others.is_empty() && asked) {
        points.extend(settings(verdict, best));
    }
    points.extend(safety(verdict));
    points.extend(left_out(verdict));
    points
}

fn safety(verdict: &Verdict) -> Option<Point> {
    let (price, best) = (verdict.safety.as_ref()?, verdict.ranked.first()?);
    let but = price.because.join("; ");
    let value = amount(price.value, &verdict.unit);
    Some(point(
        "safety",
        if price.ratio <= 1.0 || price.tie {
            let ours = amount(best.value, &verdict.unit);
            format!(
                "costs no reliable difference: the best unsafe layout, {}, has {value} against {ours}",
                price.label
            )
        } else {
            let costs = slower(price.ratio, verdict.better, &verdict.unit);
            format!("{costs} than {} ({value}), which is unsafe: {but}", price.label)
        },
    ))
}

/// How many are left out for each reason, and which it is where it is one.
fn left_out(verdict: &Verdict) -> Option<Point> {
    let mut reasons: Vec<(&String, Vec<&LeftOut>)> = Vec::new();
    let mut places: BTreeMap<&String, usize> = BTreeMap::new();
    // What was not steady has a line of its own.
    for out in verdict.left_out.iter().filter(|out| !out.is_unsteady) {
        for reason in &out.because {
            let place = *places.entry(reason).or_insert(reasons.len());
            match reasons.get_mut(place) {
                Some((_, outs)) => outs.push(out),
                None => reasons.push((reason, vec![out])),
            }
        }
    }
    let named: Vec<String> = reasons
        .iter()
        .map(|(reason, outs)| match outs.as_slice() {
            [one] if !one.label.is_empty() => format!("{}: {reason}", one.label),
            [_] => format!("1 layout: {reason}"),
            several => format!("{} layouts: {reason}", several.len()),
        })
        .collect();
    (!named.is_empty()).then(|| point("left out", named.join("; ")))
}

/// `volume.interleave = 64, fs.block = 16KiB`: as an experiment file has it. One key alone stands in the answer.
fn settings(verdict: &Verdict, best: &Ranked) -> Option<Point> {
    let applies = best
        .at
        .iter()
        .filter(|(path, value)| verdict.matters(path) && applies(&best.at, path, value));
    let keys: Vec<String> =
        applies.map(|(path, v)| format!("{path} = {}", verdict.factors.shown(path, v))).collect();
    (keys.len() > 1).then(|| point("settings", keys.join(", ")))
}

/// A value with its unit.
pub(crate) fn amount(value: f64, unit: &str) -> String {
    if unit == SHARE_OF_BEST {
        return format!("{:.0} % of the best", 100.0 * value);
    }
    format!("{} {unit}", figure(value)).trim_end().to_string()
}

/// A value with its unit behind the name of what it is of, without the unit that the name of a sample ends in.
pub(super) fn with_name(objective: &str, value: &str) -> String {
    let name = of(objective);
    // A formula has no unit of one sample.
    let is_name = Objective::parse(objective)
        .is_ok_and(|parsed| parsed.of.quantities().iter().all(|(own, _)| *own == name));
    let (workload, sample) = name.rsplit_once('.').unwrap_or(("", name));
    let words = match sample::find(sample).filter(|_| is_name) {
        Some(sample) => [workload.to_string(), sample.before_unit(), value.into()],
        None => [name.to_string(), String::new(), value.into()],
    };
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// An objective without its direction, as a thing that is spoken of.
pub(super) fn of(objective: &str) -> &str {
    objective.strip_prefix("min ").or_else(|| objective.strip_prefix("max ")).unwrap_or(objective)
}

#[cfg(test)]
mod tests {
    use super::with_name;
    use crate::judge::tests::modelled;
    use crate::judge::{Verdict, Wishes};

    /// "No answer yet: 4x980-pro-1tb, level md-raid10 was best with 100 % of the best" was said where disks were 200 times slower:
    /// the level alone is open.
    #[test]
    fn what_is_settled_is_said_where_the_rest_is_open() {
        let (manifest, mut records) = modelled(
            "[host]\nname = 'linux-6.1'\n[volume]\ndrives = ['6xst18000nm000j', '4x980-pro-1tb']\nlevel = ['md-raid10', 'md-raid5']\n\
             [workload.web]\nkind = 'random'\nblock = '16KiB'\ndepth = 16\ncount = 200\n\
             [workload.scan]\nkind = 'sequential'\nblock = '1MiB'\ndepth = 4\ncount = 50\n",
        );
        for record in &mut records {
            let is_flash = record.at["volume.drives"] == "4x980-pro-1tb";
            let is_mirrored = record.at["volume.level"] == "md-raid10";
            let rate = if is_flash { 1000.0 } else { 5.0 } * if is_mirrored { 1.2 } else { 1.0 };
            record.samples.insert("mb_per_s", rate);
            record.samples.insert("interval_percent", 1.0);
        }
        let answer = Verdict::new(&manifest, &records, &Wishes::default()).unwrap().answer;
        let begin = "Use drives 4x980-pro-1tb; the rest is open: level md-raid10 was best, but each cell ran once";
        assert!(answer.starts_with(begin), "{answer}");
    }

    /// `(87 % of the best)`: of what, and where?
    #[test]
    fn the_only_one_that_keeps_up_is_no_share_of_a_best() {
        let (manifest, mut records) = modelled(
            "[volume]\ndrives = '6xwd740gd'\nlevel = ['md-raid6', 'md-raid10']\n[workload.a]\nkind = 'random'\nblock = '64KiB'\n\
             arrivals = 'poisson'\nrequests_per_s = [20, 40]\ncount = 400\n",
        );
        for record in &mut records {
            let is_fast = record.at["workload.a.requests_per_s"] == 40;
            if record.at["volume.level"] == "md-raid6" && is_fast {
                record.samples.insert("steady", 0.0);
                record.samples.insert("overloaded", 1.0);
            } else if !is_fast {
                let is_slower = record.at["volume.level"] == "md-raid10";
                record.samples.insert("latency_p99_ms", if is_slower { 30.0 } else { 26.0 });
            }
        }
        let answer = Verdict::new(&manifest, &records, &Wishes::default()).unwrap().answer;
        let said =
            "Use level md-raid10: the only layout that keeps up with the requests at each load.";
        assert_eq!(answer, said);
    }

    /// "All within a factor of about 600": of one request each.
    #[test]
    fn of_one_request_no_factor_is_said() {
        let (manifest, mut records) = modelled(
            "[volume]\ndrives = '4xwd740gd'\nlevel = ['md-raid5', 'md-raid10']\n[workload.a]\nkind = 'random'\narrivals = 'poisson'\n\
             requests_per_s = 20\ncount = 400\n",
        );
        for record in &mut records {
            record.requests = 1;
        }
        let answer = Verdict::new(&manifest, &records, &Wishes::default()).unwrap().answer;
        assert!(answer.contains("(too few requests to tell them apart)"), "{answer}");
    }

    /// A varied depth had no first line, and a varied kind began with "Why", which ranked one load above the other.
    #[test]
    fn one_layout_under_several_loads_is_told_by_its_range() {
        use lab::experiment::Experiment;
        use lab::rig::sim::Sim;
        use lab::{Keep, run};
        let of = |keys: &str| {
            let text = format!(
                "[volume]\ndrives = 'wd740gd'\n[workload.w]\nblock = '4KiB'\ncount = 40\n{keys}\n"
            );
            let experiment = Experiment::parse("some.toml", &text).unwrap();
            let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
            Verdict::new(&ran.manifest, &ran.records(), &Wishes::default()).unwrap()
        };
        let begins = "One layout alone, nothing to choose: w ";
        let kinds = of("kind = ['random', 'sequential']").answer;
        assert!(kinds.starts_with(begins), "{kinds}");
        assert!(kinds.contains(" MB/s (kind random) to "), "{kinds}");
        assert!(kinds.ends_with(" MB/s (kind sequential)."), "{kinds}");
        let depths = of("kind = 'random'\ndepth = [1, 64]").answer;
        assert!(
            depths.contains(" (depth 1) to ") || depths.contains(" at every depth"),
            "{depths}"
        );
        // With nothing varied nothing was asked.
        assert_eq!(of("kind = 'random'").answer, "");
    }

    #[test]
    fn a_unit_is_said_once() {
        for (objective, said) in [
            ("max files_per_s", "1412 u"),
            ("max news.files_per_s", "news 1412 u"),
            ("max commits_per_s", "commits 1412 u"),
            ("min db.commit_p99_ms", "db commit p99 1412 u"),
            ("min tar.elapsed_s", "tar elapsed 1412 u"),
            ("max flushes", "flushes 1412 u"),
            ("min tar", "tar 1412 u"),
            ("max files_per_s * 2", "files_per_s * 2 1412 u"),
            ("max a + news.files_per_s", "a + news.files_per_s 1412 u"),
            ("max files_per_s + 2 * files_per_s", "files_per_s + 2 * files_per_s 1412 u"),
        ] {
            assert_eq!(with_name(objective, "1412 u"), said);
        }
    }
}
