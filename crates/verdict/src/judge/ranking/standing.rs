//! How the layouts stand to the best: by the noise of each workload under each load and condition, by which the lines about
//! these are judged, too. So what no such line ranks is a tie, and what one of them ranks may decide.

use crate::evidence::Evidence;
use crate::judge::asked::aim::{Aim, Part};
use crate::judge::factors::effects::Effects;
use crate::judge::layouts::{Layouts, sorted_words, split};
use crate::judge::trials::spread_of_run;
use crate::judge::{Standing, Verdict};
use crate::stats::noise::{Difference, Noise};
use std::collections::BTreeMap;
use store::Manifest;
use store::record::Record;

/// What is known of how far trials differ.
pub(crate) struct Known {
    /// What a model may err in differences, and in values.
    error: f64,
    level: Option<f64>,
    /// What trials say of themselves, by workload as it is judged and its loads and conditions.
    own: BTreeMap<(String, String), OfTrials>,
    /// Whether repeats are blocks, none of which lacks a cell.
    is_whole: bool,
}

/// How much rates varied within runs, and how unsure each trial is of what it is judged by.
#[derive(Clone, Default)]
struct OfTrials {
    spreads: Vec<(f64, f64)>,
    unsure: Vec<f64>,
}

impl Known {
    pub(crate) fn new(
        manifest: &Manifest,
        records: &[Record],
        samples: &[&str],
        evidence: &Evidence,
        is_whole: bool,
    ) -> Self {
        let mut own: BTreeMap<(String, String), OfTrials> = BTreeMap::new();
        for record in records {
            let spread = spread_of_run::spread(record);
            let unsure = spread_of_run::of_trial(manifest, record, samples);
            if spread.is_some() || unsure.is_some() {
                let under = sorted_words(&split(manifest, record).0);
                let of = own.entry((manifest.judged_as(&record.workload), under)).or_default();
                of.spreads.extend(spread);
                of.unsure.extend(unsure);
            }
        }
        Known { error: evidence.difference(), level: evidence.level(), own, is_whole }
    }

    /// What differences between these cells are judged by; where nothing was repeated, by the residuals' `(scale, degrees)`, or by
    /// what the trials of such workloads and loads as `is_own` says of themselves.
    fn noise_of(
        &self,
        cells: &[Vec<f64>],
        residuals: Option<(f64, f64)>,
        is_own: impl Fn(&str, &str) -> bool,
    ) -> Noise {
        let own = || self.own.iter().filter(|((workload, under), _)| is_own(workload, under));
        let spreads: Vec<(f64, f64)> = own().flat_map(|(_, of)| of.spreads.clone()).collect();
        let unsure: Vec<f64> = own().flat_map(|(_, of)| of.unsure.clone()).collect();
        let noise = Noise::of(cells, residuals, self.error).or_within(&spreads);
        let noise = noise.or_of_trials(&unsure).with_level(self.level);
        if self.is_whole { noise.in_pairs(cells) } else { noise }
    }

    /// What differences between these cells of all workloads are judged by.
    pub(crate) fn noise(&self, cells: &[Vec<f64>]) -> Noise {
        self.noise_of(cells, None, |_, _| true)
    }

    /// The same for each workload under each load and condition.
    pub(crate) fn noises(&self, aim: &Aim, layouts: &Layouts, effects: &[Effects]) -> Vec<Noise> {
        let of_part = |part: &Part| {
            let places = 0..layouts.layouts.len();
            let values: Vec<Vec<f64>> = places.map(|place| part.values(place)).collect();
            let given = sorted_words(&part.given);
            // A formula is of several workloads, and may be of one load and name it.
            let is_formula = !aim.workloads.contains(&part.of);
            let is_of = |workload: &str| {
                if is_formula {
                    aim.workloads.iter().any(|of| of == workload)
                } else {
                    workload == part.of
                }
            };
            let is_there =
                self.own.keys().any(|(workload, under)| is_of(workload) && *under == given);
            let is_own = |workload: &str, under: &str| {
                is_of(workload) && (under == given || is_formula && !is_there)
            };
            self.noise_of(&values, residuals(effects, aim, layouts, part), is_own)
        };
        aim.parts.iter().map(of_part).collect()
    }
}

/// How far a cell lies from what its settings add up to, under one load and condition or else in the objective: a standard
/// deviation and its degrees of freedom.
fn residuals(effects: &[Effects], aim: &Aim, layouts: &Layouts, part: &Part) -> Option<(f64, f64)> {
    let own = layouts.named_under(&part.of, &part.given);
    let found = |of: &str| effects.iter().find(|effects| effects.of == of);
    found(&own).or_else(|| found(&aim.words)).map(|found| (found.scale, found.degrees))
}

/// The widest: by it nothing is called a difference that is none.
pub(crate) fn widest(noises: &[Noise]) -> Option<Noise> {
    let half = |noise: &Noise| noise.half_width(1, 1);
    noises.iter().copied().max_by(|a, b| half(a).total_cmp(&half(b)))
}

/// A workload under one load and condition, as the best of all stands there.
struct Scale<'a> {
    part: &'a Part,
    noise: Noise,
    /// What a layout may lose here, as a logarithm, and lose no more in all than the best does.
    slack: f64,
    best: Vec<f64>,
}

impl Scale<'_> {
    /// How far a layout is behind here, less what the best loses elsewhere.
    fn behind(&self, layout: usize) -> Difference {
        let values = self.part.values(layout);
        let found = self.noise.difference(self.part.better, &self.best, &values);
        Difference { ahead: found.ahead - self.slack, ..found }
    }
}

/// How far the best loses under one load and condition, as logarithms: as measured, and at most, where luck had a part.
fn lost(part: &Part, noise: &Noise, best: usize) -> [f64; 2] {
    let Some(own) = part.median(best) else { return [0.0; 2] };
    let others = (0..part.scores.len()).filter(|&layout| layout != best);
    let ahead = others.filter_map(|other| Some(part.better.ahead(part.median(other)?, own)));
    let ahead = ahead.fold(f64::NEG_INFINITY, f64::max);
    [ahead, ahead + noise.luck].map(|lost| if lost.is_nan() { 0.0 } else { lost.max(0.0) })
}

/// For each part what differs there. A layout is behind the best where it loses more than the best loses where that loses most.
fn scales<'a>(aim: &'a Aim, noises: &[Noise], best: usize) -> Vec<Scale<'a>> {
    let own: Vec<[f64; 2]> =
        aim.parts.iter().zip(noises).map(|(part, noise)| lost(part, noise, best)).collect();
    let parts = aim.parts.iter().zip(noises).enumerate();
    let scale = |(place, (part, noise)): (usize, (&'a Part, &Noise))| {
        // The luck of this part is in its own differences.
        let others =
            own.iter().enumerate().map(
                |(other, [as_measured, at_most])| {
                    if other == place { *as_measured } else { *at_most }
                },
            );
        let most = others.fold(0.0, f64::max);
        let slack = most - own[place][0];
        let slack = if slack.is_nan() { 0.0 } else { slack };
        Scale { part, noise: *noise, slack, best: part.values(best) }
    };
    parts.map(scale).collect()
}

impl Verdict {
    /// Says how each stands to the best, which is the first of `places`, and by which noise: that where the first that is behind
    /// loses most, or else the widest.
    pub(crate) fn stand(
        &mut self,
        aim: &Aim,
        noises: &[Noise],
        places: &[usize],
        scores: &[Vec<f64>],
    ) {
        self.noise = widest(noises).unwrap_or(self.noise);
        let (Some((first, others)), Some((&best, rest))) =
            (self.ranked.split_first_mut(), places.split_first())
        else {
            return;
        };
        let scales = scales(aim, noises, best);
        let is_open = noises.iter().any(|noise| noise.luck > 0.0 || !noise.is_known());
        let mut deciding = None;
        for (other, &place) in others.iter_mut().zip(rest) {
            let found = scales.iter().map(|scale| (scale, scale.behind(place)));
            // What is clearly behind decides, by the clearest; where all are ties, that of which least is known.
            let clear = |(scale, of): &(&Scale<'_>, Difference)| {
                let is_clear = scale.noise.is_known() && !of.is_tie();
                (is_clear, if is_clear { of.ahead - of.half } else { of.half })
            };
            let most = found.max_by(|a, b| {
                let (a, b) = (clear(a), clear(b));
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
            });
            let Some((scale, found)) = most else { continue };
            other.standing = match scale.noise.is_known() && !found.is_tie() {
                true => Standing::Behind,
                false if is_open => Standing::Unknown,
                false => Standing::Tie,
            };
            if other.standing == Standing::Behind {
                deciding.get_or_insert(scale.noise);
            }
            let in_all = self.noise.difference(self.better, &scores[best], &scores[place]);
            // In pairs it may even be ahead of what has the best median: then the medians, by which it is behind, say how far.
            let by_medians = self.better.ahead(first.value, other.value).exp();
            let is_ahead = in_all.ahead < 0.0;
            other.behind = if is_ahead { by_medians } else { in_all.ratio().max(1.0) };
            let interval = Difference { half: found.half, ..in_all }.interval();
            other.behind_interval = (other.standing != Standing::Unknown).then_some(interval);
        }
        self.noise = deciding.unwrap_or(self.noise);
    }
}
