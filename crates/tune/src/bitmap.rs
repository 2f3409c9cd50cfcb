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

/// The chosen layout with a bitmap, beside itself without one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bitmap {
    /// How many times better the layout is without; null where either of the two trials did not settle.
    pub costs_times: Option<f64>,
    /// Whether that is a difference to rely on.
    pub reliable: bool,
    /// Whether it may cost less: on mirrors each of the work's programs waits for the bitmap itself, several share some
    /// of its writes, and the model has one program.
    pub at_most: bool,
    /// Whether what must hold (`--subject-to`) holds with one, too.
    pub keeps_limits: bool,
    /// Hours that a resync of everything takes when nothing else is asked, which a crash costs without a bitmap.
    pub resync_h: f64,
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
            better: verdict.better,
            unit: verdict.unit.clone(),
        }))
    }

    /// Whether to build with one: it costs nothing that can be told from nothing.
    pub(crate) fn is_free(&self) -> bool {
        self.costs_times.is_some() && !self.reliable && self.keeps_limits
    }

    /// What it costs and what it spares, in a line.
    pub(crate) fn line(&self) -> (String, String) {
        let resync = format!("a resync of all after a crash, {:.0} h idle", self.resync_h);
        let text = match self.costs_times {
            Some(times) if self.reliable => {
                let (up_to, less) = if self.at_most {
                    ("up to ", " (less where several programs share its writes)")
                } else {
                    ("", "")
                };
                format!(
                    "{up_to}{} for this work with a write-intent bitmap{less}: mdadm before 2025 makes one by itself; without \
                     one {resync}",
                    slower(times, self.better, &self.unit)
                )
            }
            Some(_) if !self.keeps_limits => format!(
                "`--subject-to` does not hold with a write-intent bitmap: mdadm before 2025 makes one by itself; without one {resync}"
            ),
            Some(_) => format!(
                "a write-intent bitmap makes no reliable difference here and spares {resync}: take it"
            ),
            None => format!(
                "what a write-intent bitmap costs is not known: a trial did not settle; without one {resync}"
            ),
        };
        ("bitmap".into(), text)
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
                better,
                unit,
            }
        };
        let said = [(Some(1.5), true), (Some(1.01), false), (None, false)]
            .map(|(times, reliable)| of(times, reliable, false));
        let rest = "mdadm before 2025 makes one by itself; without one a resync of all after a crash, 25 h idle";
        assert_eq!(
            said[0].line().1,
            format!("33 % slower for this work with a write-intent bitmap: {rest}")
        );
        assert_eq!(
            of(Some(1.5), true, true).line().1,
            format!(
                "up to 33 % slower for this work with a write-intent bitmap (less where several programs share its writes): {rest}"
            )
        );
        assert!(said[1].line().1.ends_with("after a crash, 25 h idle: take it"));
        assert!(said[2].line().1.starts_with("what a write-intent bitmap costs is not known"));
        let limited = Bitmap { keeps_limits: false, ..said[1].clone() };
        assert!(
            limited.line().1.starts_with("`--subject-to` does not hold with a write-intent bitmap")
        );
        assert!(!limited.is_free());
        assert_eq!(said.map(|bitmap| bitmap.is_free()), [false, true, false]);
    }
}
