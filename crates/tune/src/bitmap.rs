//! What a write-intent bitmap costs the chosen layout. It is no layout to choose among: it is slower or even, and
//! what it buys, a short resync after a crash, is no speed.

use crate::question::Candidate;
use crate::tried::{Settings, Tried, run_alone};
use lab::Result;
use lab::run::Run;
use serde::Serialize;
use store::quantity::Better;
use verdict::judge::{Ranked, Standing};
use verdict::tables::slower;
use verdict::{Verdict, Wishes};

/// The key, and its two values.
const KEY: &str = "volume.bitmap";
const BOTH: &str = "none,internal";

/// Up to so many times better without one, the commands build one: hours of resync are worth more, and the trials'
/// own intervals are not much narrower.
const CHEAP_TIMES: f64 = 1.1;

/// Less than this is nothing.
const NOTHING_TIMES: f64 = 1.01;

/// The chosen layout with a bitmap, beside itself without one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bitmap {
    /// How many times better the layout is without; null where either of the two trials did not settle.
    pub costs_times: Option<f64>,
    /// Whether the verdict calls that a difference between layouts to rely on.
    pub reliable: bool,
    /// Whether it may cost less: on mirrors each of the work's programs waits for the bitmap itself, several share some
    /// of its writes, and the model has one program.
    pub at_most: bool,
    /// Whether what must hold (`--subject-to`) holds with one, too.
    pub keeps_limits: bool,
    /// Hours that a resync of everything takes when nothing else is asked, which a crash costs without a bitmap.
    pub resync_h: f64,
    /// By how much the two trials' own intervals may shift that, in percent.
    pub error_percent: f64,
    #[serde(skip)]
    better: Better,
    #[serde(skip)]
    unit: String,
}

impl Bitmap {
    /// Measures both, where the level may have one and something is written.
    pub(crate) fn measure(
        tried: &Tried<'_>,
        best: &Candidate,
        resync_h: f64,
    ) -> Result<Option<Bitmap>> {
        if !best.level.has_bitmap() || !tried.question.writes() {
            return Ok(None);
        }
        let settings: Settings =
            best.settings().into_iter().chain([(KEY.to_string(), BOTH.to_string())]).collect();
        let experiment = tried.with(&settings, 0)?;
        let manifest = Run::plan(&experiment, tried.rig())?.manifest().clone();
        let records = run_alone(&experiment, tried.rig())?;
        let unlimited = Wishes { subject_to: Vec::new(), ..tried.wishes() };
        let verdict = Verdict::new(&manifest, &records, &unlimited)?;
        let limited = Verdict::new(&manifest, &records, &tried.wishes())?;
        let pair = ranked(&verdict, "none").zip(ranked(&verdict, "internal"));
        Ok(Some(Bitmap {
            costs_times: pair.map(|(none, own)| verdict.better.ahead(none.value, own.value).exp()),
            reliable: pair.is_some_and(|(_, own)| own.standing == Standing::Behind),
            at_most: !best.level.has_stripe_cache(),
            keeps_limits: ranked(&limited, "internal").is_some(),
            resync_h,
            error_percent: records.iter().filter_map(|of| of.samples.get("interval_percent")).sum(),
            better: verdict.better,
            unit: verdict.unit.clone(),
        }))
    }

    /// Whether to build with one: what it costs is next to nothing beside what it spares.
    pub(crate) fn is_cheap(&self) -> bool {
        self.costs_times.is_some_and(|times| times <= CHEAP_TIMES) && self.keeps_limits
    }

    /// What it costs and what it spares, in a line.
    pub(crate) fn line(&self) -> (String, String) {
        let resync = format!("a resync of all after a crash, {:.0} h idle", self.resync_h);
        let by_itself = "mdadm before 2025 makes one by itself";
        let text = match self.costs_times {
            None => format!(
                "what a write-intent bitmap costs is not known: a trial did not settle; without one {resync}"
            ),
            Some(_) if !self.keeps_limits => format!(
                "`--subject-to` does not hold with a write-intent bitmap: {by_itself}; without one {resync}"
            ),
            Some(_) if self.is_cheap() => {
                format!("take a write-intent bitmap: {}, and it spares {resync}", self.price())
            }
            Some(_) => format!(
                "{} for this work with a write-intent bitmap{}: {by_itself}; without one {resync}",
                self.price(),
                if self.at_most { " (less where several programs share its writes)" } else { "" },
            ),
        };
        ("bitmap".into(), text)
    }

    /// What it costs, in words.
    fn price(&self) -> String {
        let times = self.costs_times.unwrap_or(1.0);
        if times < NOTHING_TIMES {
            return "its cost does not show here".into();
        }
        let up_to = if self.at_most { "up to " } else { "" };
        let slower = slower(times, self.better, &self.unit);
        if (times - 1.0) * 100.0 <= self.error_percent {
            return format!("{slower}, which these trials cannot tell from nothing");
        }
        format!("{up_to}{slower}")
    }
}

/// The layout with this value of the key, where it may be chosen.
fn ranked<'a>(verdict: &'a Verdict, value: &str) -> Option<&'a Ranked> {
    let is_it = |ranked: &&Ranked| {
        ranked.at.get(KEY).is_some_and(|stated| store::record::plain(stated) == value)
    };
    verdict.ranked.iter().find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_stands_beside_what_it_spares() {
        let of = |costs_times, reliable, at_most| {
            let (better, unit) = (Better::Higher, "MB/s".to_string());
            Bitmap {
                costs_times,
                reliable,
                at_most,
                keeps_limits: true,
                resync_h: 24.8,
                error_percent: 2.0,
                better,
                unit,
            }
        };
        let spared = "a resync of all after a crash, 25 h idle";
        let rest = format!("mdadm before 2025 makes one by itself; without one {spared}");
        let line = |costs_times, at_most| of(costs_times, false, at_most).line().1;
        assert_eq!(
            line(Some(1.5), false),
            format!("33 % slower for this work with a write-intent bitmap: {rest}")
        );
        assert_eq!(
            line(Some(1.5), true),
            format!(
                "up to 33 % slower for this work with a write-intent bitmap (less where several programs share its writes): {rest}"
            )
        );
        assert_eq!(
            line(Some(1.04), false),
            format!("take a write-intent bitmap: 4 % slower, and it spares {spared}")
        );
        let vague = Bitmap { error_percent: 10.0, ..of(Some(1.04), false, false) };
        assert_eq!(
            vague.line().1,
            format!(
                "take a write-intent bitmap: 4 % slower, which these trials cannot tell from nothing, and it spares {spared}"
            )
        );
        // A trial's noise may have it faster.
        assert_eq!(
            line(Some(0.99), true),
            format!(
                "take a write-intent bitmap: its cost does not show here, and it spares {spared}"
            )
        );
        assert!(line(None, false).starts_with("what a write-intent bitmap costs is not known"));
        let limited = Bitmap { keeps_limits: false, ..of(Some(1.0), false, false) };
        assert!(
            limited.line().1.starts_with("`--subject-to` does not hold with a write-intent bitmap")
        );
        assert!(!limited.is_cheap());
        // What the verdict on layouts calls even is not cheap for that: a layout with a bitmap errs as it does without.
        let is_cheap = |costs_times| of(costs_times, false, false).is_cheap();
        assert_eq!([Some(1.2), Some(1.04), None].map(is_cheap), [false, true, false]);
    }
}
