//! What is asked of a verdict by who picks a layout among those that tie: that may be another than the fastest.

use crate::judge::asked::constraints;
use crate::judge::layouts::Layouts;
use crate::judge::{Point, Ranked, Verdict, Wishes};
use crate::stats::noise::Difference;
use serde_json::{Map, Value as Json};
use store::error::Result;
use store::record::Record;
use store::{Happened, Manifest};

impl Verdict {
    /// How much better one layout is than another, as standings are judged: over trials of the same seeds where there are such.
    pub fn difference(&self, of: &Ranked, other: &Ranked) -> Difference {
        self.difference_as_of(of, other, 0)
    }

    /// The same, as sure as it would be if both had at least so many trials.
    pub fn difference_as_of(&self, of: &Ranked, other: &Ranked, trials_min: usize) -> Difference {
        self.noise.difference_as_of(self.better, &of.samples, &other.samples, trials_min)
    }

    /// What is said of the layout `at` as the one that is recommended, which may be another than the fastest: what it has of what
    /// `wishes` limit, and how its trials went.
    ///
    /// # Errors
    ///
    /// As [`Verdict::new`].
    pub fn points_for(
        &self,
        at: &Map<String, Json>,
        manifest: &Manifest,
        records: &[Record],
        wishes: &Wishes,
    ) -> Result<Vec<Point>> {
        let layouts = Layouts::new(&manifest.asked(&wishes.choose)?, records);
        let mut about = self.clone();
        if let Some(place) = about.ranked.iter().position(|ranked| ranked.at == *at) {
            about.ranked[..=place].rotate_right(1);
        }
        let of = |verdict: &Verdict| -> Result<Vec<Point>> {
            let mut own = constraints::told(verdict, &layouts, wishes)?;
            own.extend(verdict.points_of_trials(manifest, records, &Happened::default()));
            Ok(own)
        };
        let of_fastest = of(self)?;
        let kept = self.points.iter().filter(|point| !of_fastest.contains(point)).cloned();
        Ok(kept.chain(of(&about)?).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::judge::{Standing, Verdict, Wishes};
    use store::record::Record;

    fn of(repeats: u64, rate: impl Fn(&Record) -> Option<f64>) -> Verdict {
        let (manifest, mut records) = modelled(&format!(
            "[run]\nrepeats = {repeats}\n[volume]\ndrives = '2xwd740gd'\nlevel = ['stripe', 'concat']\n\
             interleave = '64KiB'\n[workload.take]\nkind = 'random'\ncount = 20\n"
        ));
        for record in &mut records {
            if let Some(rate) = rate(record) {
                record.samples.insert("requests_per_s", rate);
                record.samples.insert("mb_per_s", rate);
            }
        }
        Verdict::new(&manifest, &records, &Wishes::default()).unwrap()
    }

    /// Luck that both had is no noise of their difference, whoever asks: rates that swing by 2 together, 40 % apart.
    #[test]
    fn two_layouts_differ_as_their_standings_say() {
        let swing = |record: &Record| {
            let luck = [100.0, 200.0, 70.0, 140.0][record.repeat as usize];
            Some(if record.at["volume.level"] == "stripe" { luck * 1.4 } else { luck })
        };
        let verdict = of(4, swing);
        let [first, second] = &verdict.ranked[..] else { panic!("two layouts") };
        assert_eq!(second.standing, Standing::Behind, "{:?}", verdict.ranked);
        let found = verdict.difference(first, second);
        assert!(!found.is_tie() && (found.ratio() - 1.4).abs() < 1e-9, "{found:?}");
        // By the noise of each for itself they would tie.
        assert!(found.ahead < verdict.noise.half_width(4, 4));
        assert!(verdict.difference(second, first).is_tie());
        // With more trials it would be surer.
        let surer = verdict.difference_as_of(first, second, 20);
        assert!(surer.half <= found.half);
    }

    /// The lines about spindles and limits were of the fastest, also where another layout was recommended.
    #[test]
    fn what_is_picked_is_what_the_lines_are_about() {
        let (manifest, mut records) = modelled(
            "[run]\nrepeats = 5\n[volume]\ndrives = '4xst18000nm000j'\nlevel = 'md-raid10'\ninterleave = ['16KiB', '512KiB']\n\
             [drive]\nwrite_cache = false\n[workload.log]\nkind = 'sequential'\nop = 'write'\nblock = '16KiB'\ncount = 50\n",
        );
        for record in &mut records {
            let rate = 100.0 + 20.0 * record.repeat as f64;
            let is_fast = record.at["volume.interleave"] == 32;
            record.samples.insert("mb_per_s", if is_fast { rate * 1.01 } else { rate });
            record.samples.insert("requests_per_s", if is_fast { rate * 1.01 } else { rate });
        }
        let wishes = Wishes { subject_to: vec!["mb_per_s >= 10".into()], ..Wishes::default() };
        let verdict = Verdict::new(&manifest, &records, &wishes).unwrap();
        let about = |place: usize| {
            let at = &verdict.ranked[place].at;
            let points = verdict.points_for(at, &manifest, &records, &wishes).unwrap();
            let abouts: Vec<String> = points.iter().map(|point| point.about.clone()).collect();
            let text =
                |about| points.iter().find(|point| point.about == about).unwrap().text.clone();
            (text("spindles"), abouts, text("limit"))
        };
        let [(fastest, of_fastest, limit), (other, of_other, limit_of_other)] =
            [about(0), about(1)];
        assert!(limit.ends_with(": 141.4 MB/s"), "{limit}");
        assert!(limit_of_other.ends_with(": 140.0 MB/s"), "{limit_of_other}");
        assert!(fastest.contains(" in 5 repeats interleave 32 (16 KiB) made 101"), "{fastest}");
        assert!(other.contains(" in 5 repeats interleave 1024 (512 KiB) made 100"), "{other}");
        assert_eq!(of_fastest, of_other);
        let own: Vec<String> = verdict.points.iter().map(|point| point.about.clone()).collect();
        assert_eq!(own.len(), of_fastest.len());
    }
}
