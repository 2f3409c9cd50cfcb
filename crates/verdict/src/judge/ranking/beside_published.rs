//! Ties that a published table does not have: what was measured says more than a model that cannot tell.

use super::margin::{At, tied};
use crate::judge::answer::{of as objective_of, point};
use crate::judge::{Ranked, Standing, Verdict};
use crate::tables::slower;
use store::Manifest;
use store::published::{Published, includes};

impl Verdict {
    /// The same with a line on ties that the experiment's published table has apart, where it has one.
    #[must_use]
    pub fn beside_printed(mut self, manifest: &Manifest, published: Option<&Published>) -> Verdict {
        let found = published.and_then(|published| self.ties_in_print(manifest, published));
        let Some((text, apart)) = found else { return self };
        // Nobody is told to keep what was measured to be another: that stands in one line, and the other ties in theirs, where
        // there is one.
        let tied_at = self.points.iter().position(|point| point.about == "tied");
        let others = tied_at.and_then(|at| {
            self.points.remove(at);
            tied(&self, &apart)
        });
        let place = tied_at.unwrap_or(0);
        self.points.splice(place..place, others.into_iter().chain([point("measured", text)]));
        self
    }

    /// What ties with the best here, and in print is farther from it than what counts here: in words, and which layouts.
    fn ties_in_print(
        &self,
        manifest: &Manifest,
        published: &Published,
    ) -> Option<(String, Vec<At>)> {
        let (best, others) = self.ranked.split_first()?;
        let own = self.in_print(manifest, published, &best.at)?;
        let apart = |of: &Ranked| {
            let value = self.in_print(manifest, published, &of.at)?;
            let behind = self.better.ahead(own, value);
            (of.standing == Standing::Tie && behind.abs().exp() > self.tie_ratio())
                .then_some(behind)
        };
        let apart = others.iter().filter_map(|of| Some((&of.at, apart(of)?)));
        let mut apart: Vec<(&At, f64)> = apart.collect();
        apart.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let said = |(at, behind): &(&At, f64)| {
            let name = self.name(at);
            let by = slower(behind.abs().exp(), self.better, &self.unit);
            if *behind > 0.0 {
                format!("{name} was {by}")
            } else {
                format!("{name} was ahead ({} {by})", self.name(&best.at))
            }
        };
        let named: Vec<String> = apart.iter().map(said).collect();
        let text = format!(
            "{}, beside {} in the published table {}: the model cannot tell them apart, and the measurement did",
            named.join("; "),
            self.name(&best.at),
            published.name
        );
        let layouts = apart.iter().map(|(at, _)| (*at).clone()).collect();
        (!named.is_empty()).then_some((text, layouts))
    }

    /// What a published table has of a layout, where layouts are ranked by one sample of one workload that it has.
    fn in_print(&self, manifest: &Manifest, published: &Published, at: &At) -> Option<f64> {
        let [situation] = self.situations.as_slice() else { return None };
        let is_one = situation.given.is_empty() && situation.unit == self.unit;
        let asked = objective_of(&situation.of);
        let of_workload = |trial: &str| is_one && manifest.judged_as(trial) == asked;
        let is_it =
            |sample: &str, workload: &str| manifest.quantity(workload, sample).unit == self.unit;
        let mut cells = published.cells.iter().filter(|cell| {
            of_workload(&cell.trial) && is_it(&cell.sample, &cell.trial) && includes(at, &cell.at)
        });
        let cell = cells.next()?;
        // Two numbers for one layout say nothing of it alone.
        if cells.any(|other| other.sample != cell.sample || !other.repeats) {
            return None;
        }
        Some(cell.published.middle()? / cell.per_sample)
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::judge::{Verdict, Wishes};
    use serde_json::Value;
    use store::factor::Factors;
    use store::published::{Published, PublishedCell};
    use store::quoted::Quoted;

    /// A table of levels and their rates.
    fn table(rates: [(&Value, f64); 2]) -> Published {
        let cell = |(level, rate): (&Value, f64)| PublishedCell {
            at: [("volume.level".to_string(), level.clone())].into_iter().collect(),
            workload: "take".into(),
            trial: "take".into(),
            group: None,
            sample: "mb_per_s".into(),
            unit: "MB/s".into(),
            per_sample: 1.0,
            published: Quoted::Number(rate),
            computed: None,
            fitted: false,
            apart: false,
            repeats: false,
        };
        Published {
            name: "table".into(),
            source: String::new(),
            experiment: String::new(),
            inferred: Vec::new(),
            not_modelled: Vec::new(),
            factors: Factors::default(),
            cells: rates.map(cell).to_vec(),
        }
    }

    /// The line `tied` named a layout that the table beside it had 37 % behind.
    #[test]
    fn ties_that_were_measured_apart_are_said_to_be() {
        let (manifest, records) = modelled(
            "[run]\nrepeats = 1\n[volume]\ndrives = '2xwd740gd'\nlevel = ['stripe', 'concat', 'mirror']\ninterleave = '64KiB'\n\
             [workload.take]\nkind = 'random'\ncount = 20\n",
        );
        let of = |rates: [(&str, f64); 2], has_line: bool| {
            let mut verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.noise.model_error = 0.1;
            verdict.noise.luck = 0.0;
            for (ranked, standing) in verdict.ranked.iter_mut().zip([
                crate::judge::Standing::Best,
                crate::judge::Standing::Tie,
                crate::judge::Standing::Tie,
            ]) {
                ranked.standing = standing;
            }
            verdict.points.retain(|point| point.about != "tied");
            let line = super::tied(&verdict, &[]).filter(|_| has_line);
            verdict.points.extend(line);
            let best = verdict.ranked[0].at["volume.level"].clone();
            let tied = verdict.ranked[1].at["volume.level"].clone();
            let published = table(
                rates.map(|(which, rate)| (if which == "best" { &best } else { &tied }, rate)),
            );
            let verdict = verdict.beside_printed(&manifest, Some(&published));
            assert!(verdict.tie_ratio() < 1.3, "{}", verdict.tie_ratio());
            let line = |about| {
                let point = verdict.points.iter().find(|point| point.about == about);
                point.map(|point| point.text.clone())
            };
            let (tied, name, text) = (line("tied"), tied.as_str().unwrap(), line("measured"));
            // One line names it. Where all tie there is no line of ties, and none comes to be.
            assert_eq!(tied.is_some(), has_line);
            assert!(!has_line || tied.unwrap().contains(name) == text.is_none());
            (name.to_string(), text)
        };
        let said = |rates| of(rates, true);
        assert!(of([("best", 137.0), ("tied", 100.0)], false).1.is_some());
        let (tied, text) = said([("best", 137.0), ("tied", 100.0)]);
        assert!(
            text.as_ref().is_some_and(|text| text.starts_with(&format!("{tied} was 27 % slower"))),
            "{text:?}"
        );
        let (tied, text) = said([("best", 100.0), ("tied", 137.0)]);
        let is_ahead = |text: &String| {
            text.starts_with(&format!("{tied} was ahead ("))
                && text.contains(" 27 % slower), beside ")
        };
        assert!(text.as_ref().is_some_and(is_ahead), "{text:?}");
        // What was as near in print is a tie there, too.
        assert_eq!(said([("best", 100.0), ("tied", 100.0)]).1, None);
    }
}
