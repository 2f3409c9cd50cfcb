//! A layout among the ranked, and what leaving out the unsafe ones costs.

use crate::judge::layouts::Layout;
use crate::judge::layouts::facts::Facts;
use crate::judge::{PriceOfSafety, Ranked, Standing, Verdict};
use crate::tables::SHARE_OF_BEST;

impl Verdict {
    /// A layout as the best, until it stands beside others.
    pub(crate) fn placed(
        &self,
        layout: &Layout,
        label: String,
        (value, scores): (f64, &[f64]),
        facts: Facts,
    ) -> Ranked {
        Ranked {
            at: layout.at.clone(),
            label,
            value,
            // A share is of two values of one model: what these are off by is in both, and says nothing of it.
            interval: self.noise.interval(scores).filter(|_| self.unit != SHARE_OF_BEST),
            samples: scores.to_vec(),
            trials: scores.len(),
            standing: Standing::Best,
            behind: 1.0,
            behind_interval: None,
            facts,
            notes: layout.notes.clone(),
        }
    }

    /// What the best of the layouts that are left out as unsafe would be faster by.
    pub(crate) fn price_safety(&mut self) {
        let Some(best) = self.ranked.first() else { return };
        let better = self.better;
        let rivals = self.left_out.iter().filter(|out| out.is_unsafe);
        let rival = rivals
            .filter_map(|out| Some((out, out.value?)))
            .max_by(|a, b| better.ahead(a.1, b.1).total_cmp(&0.0));
        self.safety = rival.map(|(out, value)| {
            let ahead = better.ahead(value, best.value);
            // By the medians, which are what is said; as sure as standings are.
            let half = self.noise.difference(better, &out.samples, &best.samples).half;
            PriceOfSafety {
                label: out.label.clone(),
                because: out.because.clone(),
                value,
                ratio: ahead.exp(),
                tie: ahead <= half,
            }
        });
    }
}
