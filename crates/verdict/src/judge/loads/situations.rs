//! The best for each workload, load and condition, and where it changes.

use crate::cells::{compare, row_order};
use crate::judge::answer::{amount, point};
use crate::judge::asked::aim::{Aim, Part};
use crate::judge::layouts::{Layouts, sorted_words};
use crate::judge::{Point, Verdict};
use crate::stats;
use crate::stats::noise::Noise;
use crate::tables::slower;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};
use store::factor::Factors;
use store::quantity::Better;
use store::record::short_key;

/// The best for one workload under one load and condition.
#[derive(Clone, Debug, Serialize)]
pub struct Situation {
    /// The workload, or the objective.
    pub of: String,
    /// The loads and conditions, by key path.
    pub given: Map<String, Json>,
    /// The unit of the value.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The factors' values of the best.
    pub at: Map<String, Json>,
    /// The best in words.
    pub label: String,
    /// Its value.
    pub value: f64,
    /// The layouts that no reliable difference keeps from the best, which is the first of them.
    pub tied: Vec<Map<String, Json>>,
    /// The layouts that were measured here.
    pub layouts: usize,
    /// How many times better the best is than the best that is behind it; nothing where none is.
    pub ahead: Option<f64>,
    /// How far each layout that may be chosen is behind, as a logarithm, by its place.
    #[serde(skip)]
    pub(crate) behind: Vec<Option<f64>>,
    /// The same of each of those, by its factors' values.
    #[serde(skip)]
    each: Vec<(Map<String, Json>, f64)>,
    /// The places of the layouts that are tied.
    #[serde(skip)]
    places: Vec<usize>,
    /// Whether what ties may be a difference that nobody can know yet.
    #[serde(skip)]
    is_open: bool,
    /// What the best and the first that is behind must differ by, or else the next, as a logarithm; nothing of one alone.
    #[serde(skip)]
    pub(crate) tie_half: Option<f64>,
    /// How far trials of one layout lie apart here, as [`Noise::log_sd`].
    #[serde(skip)]
    pub(crate) log_sd: f64,
}

impl Situation {
    /// Whether every layout that was measured is as good as the best.
    pub fn is_level(&self) -> bool {
        self.tied.len() == self.layouts
    }

    /// How far this layout is behind the best here, as a logarithm, where it may be chosen.
    pub fn behind(&self, layout: &Map<String, Json>) -> Option<f64> {
        self.each.iter().find(|(at, _)| at == layout).map(|(_, behind)| *behind)
    }

    /// What this layout makes here, where it may be chosen.
    pub fn value_of(&self, layout: &Map<String, Json>) -> Option<f64> {
        let times = self.behind(layout)?.exp();
        Some(if self.better == Better::Lower { self.value * times } else { self.value / times })
    }

    /// Whether this layout is the best here, or tied with it.
    pub fn suits(&self, at: &Map<String, Json>) -> bool {
        self.tied.contains(at)
    }

    fn new(layouts: &Layouts, part: &Part, may: &[bool], noise: &Noise) -> Option<Self> {
        let values: Vec<Vec<f64>> =
            (0..layouts.layouts.len()).map(|index| part.values(index)).collect();
        let mut order: Vec<usize> =
            (0..values.len()).filter(|&index| may[index] && !values[index].is_empty()).collect();
        let medians: Vec<Option<f64>> = values.iter().map(|values| stats::median(values)).collect();
        let median = |index: usize| medians[index].expect("it was measured");
        let at = |index: usize| &layouts.layouts[index].at;
        order.sort_by(|&a, &b| {
            let by_value = part.better.ahead(median(b), median(a)).total_cmp(&0.0);
            by_value.then_with(|| row_order(at(a), at(b)))
        });
        let (&best, others) = order.split_first()?;
        let value = median(best);
        let difference =
            |other: usize| noise.difference(part.better, &values[best], &values[other]);
        let is_tie = |&other: &usize| !noise.is_known() || difference(other).is_tie();
        let (tied, behind): (Vec<usize>, Vec<usize>) = others.iter().copied().partition(is_tie);
        let compared = behind.first().or(tied.first());
        let tie_half = compared
            .map(|&other| if noise.is_known() { difference(other).half } else { f64::INFINITY });
        let places: Vec<usize> = std::iter::once(best).chain(tied).collect();
        let ahead =
            behind.into_iter().map(|other| part.better.ahead(median(best), median(other)).exp());
        let is_behind = |(median, &may): (&Option<f64>, &bool)| {
            median.filter(|_| may).map(|median| part.better.ahead(value, median))
        };
        let behind_best: Vec<Option<f64>> = medians.iter().zip(may).map(is_behind).collect();
        let each = behind_best.iter().enumerate();
        let each = each.filter_map(|(index, of)| Some((at(index).clone(), (*of)?))).collect();
        Some(Situation {
            each,
            of: part.of.clone(),
            given: part.given.clone(),
            unit: part.unit.clone(),
            better: part.better,
            at: at(best).clone(),
            label: layouts.label(at(best)),
            value,
            tied: places.iter().map(|&index| at(index).clone()).collect(),
            layouts: order.len(),
            ahead: ahead.reduce(f64::min),
            behind: behind_best,
            places,
            is_open: noise.luck > 0.0 || !noise.is_known(),
            tie_half,
            log_sd: noise.log_sd,
        })
    }
}

/// The best for each part of what layouts are ranked by, of those that may be chosen, each judged by its own noise.
pub(crate) fn situations(
    layouts: &Layouts,
    aim: &Aim,
    may: &[bool],
    noises: &[Noise],
) -> Vec<Situation> {
    let parts = aim.parts.iter().zip(noises);
    let all = parts.filter_map(|(part, noise)| Situation::new(layouts, part, may, noise));
    let mut all: Vec<Situation> = all.collect();
    let mut of: Vec<String> = all.iter().map(|situation| situation.of.clone()).collect();
    of.dedup();
    let place = |situation: &Situation| of.iter().position(|of| *of == situation.of);
    // Whatever the order of the trials.
    all.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| row_order(&a.given, &b.given)));
    all
}

/// So many lines anyone reads; all are in `--json`.
const LINES_MAX: usize = 6;

/// A line for each workload: what is best for it, and where that changes.
pub(crate) fn points(verdict: &Verdict) -> Vec<Point> {
    let told = verdict.situations.iter().filter(|situation| situation.layouts > 1);
    let told: Vec<&Situation> = told.collect();
    let best = verdict.ranked.first();
    let same = |situation: &&Situation| {
        best.is_some_and(|best| {
            let is_it = |at| verdict.is_the_same(at, &best.at);
            situation.suits(&best.at) && situation.tied.iter().all(is_it)
        })
    };
    // What layouts are ranked by is told of where they stand; of what ranks none, here alone.
    let are_ranked = verdict.situations.len() < 2 && best.is_some();
    if told.is_empty() || are_ranked || told.iter().all(same) {
        return Vec::new();
    }
    let of = &verdict.situations[0].of;
    let several = verdict.situations.iter().any(|other| other.of != *of);
    let mut lines: Vec<Point> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for group in groups(&told) {
        let about = heading(verdict, &group, several);
        let text = line(verdict, &group);
        let place = *places.entry(text.clone()).or_insert(lines.len());
        match lines.get_mut(place) {
            Some(line) => line.about = format!("{}; {about}", line.about.trim_end_matches(';')),
            None => lines.push(point(&about, text)),
        }
    }
    let more = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    if more > 0 {
        lines.push(point("more", format!("the best for {more} others: see `--json`")));
    }
    lines
}

/// Situations along one axis.
struct Group<'a> {
    /// The key path of the axis, if there is one.
    axis: Option<String>,
    /// In the order of the axis.
    along: Vec<&'a Situation>,
}

/// The situations of a workload along the load with the most values; of conditions, one by one.
fn groups<'a>(situations: &[&'a Situation]) -> Vec<Group<'a>> {
    let mut by_name: BTreeMap<&str, Vec<&Situation>> = BTreeMap::new();
    for &situation in situations {
        by_name.entry(&situation.of).or_default().push(situation);
    }
    let longest: BTreeMap<&str, Option<String>> =
        by_name.into_iter().map(|(of, situations)| (of, axis(&situations))).collect();
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut places: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for &situation in situations {
        let of = situation.of.as_str();
        let axis = longest[of].clone();
        let place = match &axis {
            Some(axis) => {
                let rest = sorted_words(&without(&situation.given, Some(axis)));
                *places.entry((of, rest)).or_insert(groups.len())
            }
            None => groups.len(),
        };
        match groups.get_mut(place) {
            Some(group) => group.along.push(situation),
            None => groups.push(Group { axis, along: vec![situation] }),
        }
    }
    for group in &mut groups {
        let Some(axis) = &group.axis else { continue };
        group.along.sort_by(|a, b| compare(&a.given[axis], &b.given[axis]));
    }
    groups
}

fn without(given: &Map<String, Json>, axis: Option<&str>) -> Map<String, Json> {
    let rest = given.iter().filter(|(path, _)| axis != Some(path.as_str()));
    rest.map(|(path, value)| (path.clone(), value.clone())).collect()
}

/// The given factor of numbers that takes the most values.
fn axis(situations: &[&Situation]) -> Option<String> {
    let paths = situations.first()?.given.keys();
    let count = |path: &&String| {
        let mut values: Vec<&Json> = situations.iter().filter_map(|s| s.given.get(*path)).collect();
        let numbers = values.iter().all(|value| value.is_number());
        values.dedup_by(|a, b| a == b);
        values.sort_by(|a, b| compare(a, b));
        values.dedup();
        if numbers { values.len() } else { 0 }
    };
    // Of equals the first.
    let best = paths.rev().max_by_key(count)?;
    (count(&best) > 1).then(|| best.clone())
}

/// `for read, queue_discipline sptf`; the workload where there are several, or nothing else tells.
fn heading(verdict: &Verdict, group: &Group<'_>, several: bool) -> String {
    let first = group.along[0];
    let rest = without(&first.given, group.axis.as_deref());
    let mut words = Vec::new();
    if several || rest.is_empty() {
        words.push(crate::judge::answer::of(&first.of).to_string());
    }
    if !rest.is_empty() {
        words.push(verdict.factors.label(&rest));
    }
    format!("for {}", words.join(", "))
}

/// A run of situations with the same best.
struct Segment<'a> {
    along: Vec<&'a Situation>,
    /// The layouts that are best in all of them, by their places; none where no layout is better than another.
    best: Vec<usize>,
}

/// The runs of situations along an axis, as long as one layout is best in all of a run.
fn segments<'a>(group: &Group<'a>) -> Vec<Segment<'a>> {
    let mut segments: Vec<Segment<'a>> = Vec::new();
    for &situation in &group.along {
        let best = if situation.is_level() { Vec::new() } else { situation.places.clone() };
        if let Some(last) = segments.last_mut() {
            let of_this: BTreeSet<usize> = best.iter().copied().collect();
            let both: Vec<usize> =
                last.best.iter().filter(|place| of_this.contains(place)).copied().collect();
            if !both.is_empty() || (last.best.is_empty() && best.is_empty()) {
                last.best = both;
                last.along.push(situation);
                continue;
            }
        }
        segments.push(Segment { along: vec![situation], best });
    }
    segments
}

impl Segment<'_> {
    /// Of the layouts that are best in all, the one that loses least.
    fn pick(&self) -> Option<usize> {
        let lost = |place: usize| -> f64 {
            self.along.iter().filter_map(|situation| situation.behind[place]).fold(0.0, f64::max)
        };
        self.best.iter().copied().min_by(|&a, &b| lost(a).total_cmp(&lost(b)))
    }

    /// Of the layouts that were measured in all and are behind somewhere, the one that is the least behind the `pick` where it is
    /// so most: how far it is at least and at most, as logarithms. That is one layout: the next of each situation may be another
    /// in each.
    fn next_best(&self, pick: usize) -> Option<[f64; 2]> {
        let of = |place: usize| {
            let apart = self.along.iter().map(|situation| {
                Some((situation.behind[place]? - situation.behind[pick]?).max(0.0))
            });
            let apart: Vec<f64> = apart.collect::<Option<_>>()?;
            let low = apart.iter().copied().reduce(f64::min)?;
            let high = apart.iter().copied().reduce(f64::max)?;
            Some([low, high])
        };
        let is_behind =
            |place: &usize| self.along.iter().any(|situation| !situation.places.contains(place));
        let places = 0..self.along[0].behind.len();
        let others = places.filter(|place| !self.best.contains(place)).filter(is_behind);
        others.filter_map(of).min_by(|a, b| a[1].total_cmp(&b[1]))
    }

    fn words(&self, verdict: &Verdict, with_value: bool) -> String {
        let is_open = self.along.iter().any(|situation| situation.is_open);
        let Some(pick) = self.pick() else {
            let unknown = "not known, as each cell ran once";
            return if is_open { unknown } else { "no reliable difference" }.into();
        };
        let first = self.along[0];
        let place = |situation: &&Situation| {
            let tied = situation.places.iter().position(|&place| place == pick);
            situation.tied[tied.expect("it is among the best")].clone()
        };
        let name = verdict.name(&place(&first));
        let value = Some(format!(": {}", amount(first.value, &first.unit)));
        let value = value.filter(|_| with_value).unwrap_or_default();
        let tied = match self.best.len() - 1 {
            0 => String::new(),
            1 if is_open => " or 1 other (each cell ran once)".into(),
            more if is_open => format!(" or one of {more} others (each cell ran once)"),
            more => format!(", tied with {more} more"),
        };
        let by = |ratio: f64| slower(ratio.exp(), first.better, &first.unit);
        let margin = match self.next_best(pick) {
            None => String::new(),
            Some([low, high]) if by(low) == by(high) => format!(", next best {}", by(low)),
            Some([_, high]) => format!(", next best up to {}", by(high)),
        };
        format!("{name}{value}{tied}{margin}")
    }
}

/// What is best along the axis, and from where on.
fn line(verdict: &Verdict, group: &Group<'_>) -> String {
    let segments = segments(group);
    let Some(axis) = &group.axis else { return segments[0].words(verdict, true) };
    let factors = &verdict.factors;
    let shown = |situation: &Situation| factors.shown(axis, &situation.given[axis]);
    let mut parts = Vec::new();
    for (index, segment) in segments.iter().enumerate() {
        let (first, last) = (segment.along[0], segment.along[segment.along.len() - 1]);
        let from = match (first.given == last.given, segments.len()) {
            (_, 1) => "at all values".to_string(),
            (true, _) => shown(first),
            (false, _) => format!("{} to {}", shown(first), shown(last)),
        };
        let before = index.checked_sub(1).map(|before| &segments[before]);
        let about = before.and_then(|before| crossing(before, segment, axis, factors));
        let about = about.map_or_else(String::new, |about| format!(" (from about {about} on)"));
        parts.push(format!("{from}{about}: {}", segment.words(verdict, false)));
    }
    format!("{} {}", short_key(axis), parts.join("; "))
}

/// Where the best of one run and of the next are equal: on a straight line between the two loads, all on logarithms.
fn crossing(
    before: &Segment<'_>,
    after: &Segment<'_>,
    axis: &str,
    factors: &Factors,
) -> Option<String> {
    let (one, other) = (before.pick()?, after.pick()?);
    let (low, high) = (before.along.last()?, after.along.first()?);
    let ahead = |situation: &Situation| Some(situation.behind[other]? - situation.behind[one]?);
    let (at_low, at_high) = (ahead(low)?, ahead(high)?);
    let load = |situation: &Situation| situation.given[axis].as_f64().filter(|load| *load > 0.0);
    let (x_low, x_high) = (load(low)?, load(high)?);
    let share = at_low / (at_low - at_high);
    let is_between = at_low > 0.0 && at_high < 0.0 && share.is_finite();
    let x = factors.about(axis, (x_low.ln() + share * (x_high / x_low).ln()).exp());
    // Rounded to one of the two it says no more than they do.
    let says = is_between && x as f64 > x_low && (x as f64) < x_high;
    says.then(|| factors.shown(axis, &Json::from(x)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wishes;
    use crate::judge::Standing;
    use store::Manifest;
    use store::factor::{FactorKind, Role, Written};
    use store::named::NamedSamples;
    use store::record::Record;

    /// Rates of three interleaves by depth, as a rig of its own measured them three times.
    fn verdict(rates: &[(u64, [f64; 3])], role: Role) -> Verdict {
        verdict_of(rates, role, |_, repeat| 1.0 + 0.001 * repeat as f64)
    }

    /// The same with this `noise` of an interleave in a repeat.
    fn verdict_of(
        rates: &[(u64, [f64; 3])],
        role: Role,
        noise: impl Fn(u64, u64) -> f64,
    ) -> Verdict {
        verdict_with(rates, role, |_, interleave, repeat| noise(interleave, repeat))
    }

    /// The same with the `noise` of each load.
    fn verdict_by_load<N: Fn(u64, u64) -> f64>(
        rates: &[(u64, [f64; 3])],
        noise: impl Fn(u64) -> N,
    ) -> Verdict {
        verdict_with(rates, Role::Load, |load, interleave, repeat| noise(load)(interleave, repeat))
    }

    fn verdict_with(
        rates: &[(u64, [f64; 3])],
        role: Role,
        noise: impl Fn(u64, u64, u64) -> f64,
    ) -> Verdict {
        let kind = |role| FactorKind { role, written: Written::AsIs };
        let depth = "workload.read.depth";
        let text = "format = 3\nileave = ''\nname = ''\nrig = ''\ntrials = 0\nworkloads = ['read']\n\
                    published = ''\nexperiment = ''\n[members]\n'0: a' = 'file'\n";
        let mut manifest: Manifest = toml::from_str(text).unwrap();
        manifest.factors.0.insert(depth.into(), kind(role));
        manifest.factors.0.insert("volume.interleave".into(), kind(Role::Choice));
        let mut records = Vec::new();
        for (load, by_interleave) in rates {
            for (interleave, rate) in [8, 64, 512].into_iter().zip(by_interleave) {
                // What is no number was not run.
                for repeat in (0..3_u64).filter(|_| !rate.is_nan()) {
                    let noise = noise(*load, interleave, repeat);
                    let at = [
                        (depth.to_string(), Json::from(*load)),
                        ("volume.interleave".into(), Json::from(interleave)),
                    ];
                    records.push(Record {
                        trial: records.len(),
                        at: Map::from_iter(at),
                        workload: "read".into(),
                        repeat,
                        samples: NamedSamples::from_iter([("mb_per_s", rate * noise)]),
                        member_busy: Vec::new(),
                        requests: 0,
                        latency_hdr: String::new(),
                        series: None,
                        commands: Vec::new(),
                        curve: Vec::new(),
                        window: None,
                        note: String::new(),
                    });
                }
            }
        }
        manifest.trials = records.len();
        Verdict::new(&manifest, &records, &Wishes::default()).unwrap()
    }

    fn told(verdict: &Verdict) -> &str {
        verdict
            .points
            .iter()
            .find(|point| point.about == "for read")
            .map_or("", |point| &point.text)
    }

    #[test]
    fn where_the_best_changes_is_said() {
        let rates = [
            (1, [5.0, 5.0, 5.0]),
            (8, [20.0, 40.0, 10.0]),
            (16, [25.0, 60.0, 30.0]),
            (64, [30.0, 70.0, 140.0]),
        ];
        let found = verdict(&rates, Role::Load);
        // At 16 the one is twice the other and at 64 half of it: equal at 32.
        assert_eq!(
            told(&found),
            "depth 1: no reliable difference; 8 to 16: 64, next best up to 2.4 times slower; 64 (from about 32 on): \
             512, next best 50 % slower"
        );
        assert!(
            found.answer.starts_with("No single winner. interleave 64 loses least"),
            "{}",
            found.answer
        );
        assert_eq!(found.situations.len(), 4);
        // Asked for, a load is a factor like others.
        let chosen = verdict(&rates, Role::Choice);
        assert!(chosen.answer.starts_with("Use depth 64, interleave 512"), "{}", chosen.answer);
    }

    /// The next best is one layout: here 64, which is 20 and 33 % slower, and not at each load whichever is the next there.
    #[test]
    fn the_next_best_of_several_loads_is_one_layout() {
        let rates = [(1, [10.0, 8.0, 5.0]), (8, [10.0, 6.7, 9.5]), (64, [30.0, 70.0, 140.0])];
        let found = verdict(&rates, Role::Load);
        assert!(
            told(&found).starts_with("depth 1 to 8: 8, next best up to 33 % slower; 64"),
            "{}",
            told(&found)
        );
    }

    /// What ties at one load and was not run at the other was "next best 0.0 % slower".
    #[test]
    fn the_next_best_was_measured_under_each_load() {
        let rates = [(1, [10.0, 10.0, 5.0]), (8, [20.0, f64::NAN, 10.0])];
        let found = verdict(&rates, Role::Load);
        assert_eq!(told(&found), "depth at all values: 8, next best 50 % slower");
        let alone = verdict(&[(1, [10.0, 10.0, 5.0]), (8, [20.0, 10.0, f64::NAN])], Role::Load);
        assert_eq!(told(&alone), "depth at all values: 8, next best up to 50 % slower");
    }

    fn certainty(verdict: &Verdict) -> &str {
        let line = verdict.points.iter().find(|point| point.about == "certainty");
        line.map_or("", |point| &point.text)
    }

    /// Lines that judge each load by its own noise stood above one difference for all: "no reliable difference" of 16 % over
    /// "differences below 5.1 % are ties".
    #[test]
    fn which_differences_are_ties_is_said_of_all_loads() {
        let noisy_at_1 = |depth: u64| {
            move |_: u64, repeat: u64| if depth == 1 { 0.8 + 0.2 * repeat as f64 } else { 1.0 }
        };
        let none = f64::NAN;
        let of_some = [(1, [10.0, 9.0, none]), (8, [none, 20.0, 10.0]), (64, [9.0, none, 90.0])];
        for rates in
            [of_some, [(1, [10.0, 9.0, 8.0]), (8, [9.0, 20.0, 10.0]), (64, [9.0, 8.0, 90.0])]]
        {
            let found = verdict_by_load(&rates, noisy_at_1);
            assert!(
                told(&found).starts_with("depth 1: no reliable difference; 8: 64"),
                "{}",
                told(&found)
            );
            let said = certainty(&found);
            assert!(said.ends_with(" %, depending on the load, are ties"), "{said}");
            assert!(said.contains("differences below 0 % to "), "{said}");
            // As noisy everywhere: one difference.
            let alike = verdict_by_load(&rates, |_| |_, repeat| 1.0 + 0.01 * repeat as f64);
            assert!(!certainty(&alike).contains("depending"), "{}", certainty(&alike));
            assert!(certainty(&alike).ends_with(" are ties"), "{}", certainty(&alike));
        }
    }

    /// Each loses a third somewhere: none loses least.
    #[test]
    fn what_ties_in_what_it_loses_is_no_winner() {
        let rates = [(1, [10.0, 6.6, 6.5]), (8, [6.4, 10.0, 6.5]), (64, [6.4, 6.6, 10.0])];
        let noise = |interleave: u64, repeat: u64| 1.0 + 0.05 * ((interleave + repeat) % 3) as f64;
        let found = verdict_of(&rates, Role::Load, noise);
        let start = "No single winner, and no reliable difference between all 3: each is at most 3";
        assert!(found.answer.starts_with(start), "{}", found.answer);
        assert!(found.ranked[1..].iter().all(|of| of.standing == Standing::Tie));
    }

    /// The one swings by a fifth at one load and by nothing at another: there 3 % are a difference, in the ranking as in the line.
    #[test]
    fn what_a_line_ranks_the_ranking_does_not_call_a_tie() {
        let mut rates = vec![(1, [9.0, 10.0, 9.9]), (8, [5.0, 20.0, 19.4])];
        let by_load = |depth: u64| {
            move |interleave: u64, repeat: u64| match (depth, interleave, repeat) {
                (1, 512, 0) => 0.8,
                (1, 512, 1) => 1.2,
                _ => 1.0 + 1e-4 * ((interleave + repeat) % 3) as f64,
            }
        };
        let found = verdict_by_load(&rates, by_load);
        assert_eq!(told(&found), "depth 1: no reliable difference; 8: 64, next best 3 % slower");
        assert_eq!(found.ranked[0].label, "interleave 64");
        let standings = || found.ranked[1..].iter().map(|of| (of.label.as_str(), of.standing));
        assert!(
            standings().all(|(_, standing)| standing == Standing::Behind),
            "{:?}",
            found.ranked
        );
        // What no line ranks is a tie.
        rates[1].1[2] = 20.0;
        let found = verdict_by_load(&rates, by_load);
        let third = found.ranked.iter().find(|of| of.label == "interleave 512").unwrap();
        assert_eq!(third.standing, Standing::Tie, "{}", told(&found));
    }

    #[test]
    fn one_that_is_best_everywhere_needs_no_list() {
        let found = verdict(&[(1, [5.0, 6.0, 3.0]), (8, [20.0, 40.0, 10.0])], Role::Load);
        assert_eq!(found.answer, "Use interleave 64: fastest for read at every load.");
        assert_eq!(told(&found), "");
    }

    /// Nothing is infinitely far from something, and as good as nothing.
    #[test]
    fn a_standstill_is_no_tie() {
        let found = verdict(&[(1, [684.5, 0.0, 684.5])], Role::Load);
        assert!(found.answer.starts_with("Use interleave 8"), "{}", found.answer);
        let behind = found.points.iter().find(|point| point.about == "next best").unwrap();
        assert_eq!(behind.text, "64, at 0 MB/s");
        let found = verdict(&[(1, [0.0; 3])], Role::Load);
        assert_eq!(found.answer, "No difference at all (0.000 MB/s each). Keep what you have.");
        let found = verdict(&[(1, [9.0, 0.0, 3.0]), (2, [0.0, 9.0, 3.0])], Role::Load);
        assert!(found.answer.starts_with("No single winner. interleave 512"), "{}", found.answer);
        let text = serde_json::to_string(&found).unwrap()
            + &found.points.iter().map(|p| p.text.clone()).collect::<String>();
        assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
    }
}
