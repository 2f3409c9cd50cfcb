//! The search among an experiment's layouts: all of them, or a race.

use crate::question::posed::Posed;
use crate::search::clock::For;
use crate::search::even_seeds::{Seeds, even_out};
use crate::search::layouts::{At, Open, Space, in_time};
use crate::search::{Effort, race};
use lab::Result;
use store::factor::Role;
use store::record::Record;
use verdict::Verdict;

/// Up to so many layouts are all measured, each as often as the experiment says.
const EFFORT: Effort = Effort { exhaustive: 16, seeds: 1, near: 0.0, at_least: 1 };

/// Of work on files that no experiment says how often to repeat, what is near the best is tried with further seeds, and some
/// of the next: where several programs wait for one journal, a tenth is luck, and on drives that take one command a half.
const OF_FILES: Effort = Effort { seeds: 3, near: 0.5, at_least: 3, ..EFFORT };

impl Posed {
    pub(crate) fn effort(&self) -> Effort {
        if self.question.is_some() { OF_FILES } else { EFFORT }
    }
}

/// Measures what decides; gives that, and how many cells it took.
pub(crate) fn measured(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    watch: &mut dyn FnMut(usize),
) -> Result<(Vec<Record>, usize)> {
    let mut records = posed.known.clone();
    records.retain(|record| space.holds(record));
    let known = space.known(&records);
    let mut measured = 0;
    let effort = effort(posed, space, &known);
    race(&space.places, None, effort, &mut |which, seed| {
        let missing: Vec<usize> =
            which.iter().copied().filter(|place| !known.contains(place)).collect();
        let ran = in_time(space, &missing, (open, For::Choice), seed)?;
        measured += ran.0;
        watch(measured);
        records.extend(ran.1);
        if records.is_empty() && space.clock.limits_all() {
            return space.clock.nothing_measured(None);
        }
        let verdict = Verdict::new(&space.manifest, &records, &posed.wishes)?;
        Ok::<_, lab::Error>(which.iter().map(|&place| score(&verdict, space, place)).collect())
    })?;
    // A race has two runners; how far the figure of one alone is luck is to be said, too.
    let further = 1..if space.layouts.len() == 1 { effort.seeds } else { 1 };
    for seed in further {
        let (count, ran) = in_time(space, &[0], (open, For::Choice), seed)?;
        records.extend(ran);
        measured += count;
    }
    // With one seed for all there is nothing to do.
    if effort.seeds > 1 {
        let records = &mut records;
        let (_, count) = even_out(&mut OfSpace { posed, space, open, what: For::Choice, records })?;
        measured += count;
    }
    Ok((records, measured))
}

/// The layouts of an experiment, and what is measured of them for a purpose.
pub(crate) struct OfSpace<'a> {
    pub(crate) posed: &'a Posed,
    pub(crate) space: &'a Space,
    pub(crate) open: &'a Open<'a>,
    pub(crate) what: For,
    pub(crate) records: &'a mut Vec<Record>,
}

impl Seeds for OfSpace<'_> {
    fn verdict(&self) -> Result<Verdict> {
        Verdict::new(&self.space.manifest, self.records, &self.posed.wishes)
    }

    fn place(&self, at: &At) -> Option<usize> {
        self.space.place(at)
    }

    fn measure_missing(&mut self, place: usize, seed: u64) -> Result<usize> {
        let at = &self.space.layouts[place];
        let repeat = seed * self.space.experiment.run().stated_repeats();
        if self.records.iter().any(|of| of.repeat == repeat && self.space.at_of(of) == *at) {
            return Ok(0);
        }
        let (count, ran) = in_time(self.space, &[place], (self.open, self.what), seed)?;
        self.records.extend(ran);
        Ok(count)
    }
}

/// Layouts are left out of the search only where one figure of each alone says how good it is: under several workloads,
/// loads or conditions it depends on the others.
fn effort(posed: &Posed, space: &Space, known: &[usize]) -> Effort {
    let is_stated = !posed.wishes.objectives.is_empty() || space.manifest.objective().is_some();
    let is_alone = space.manifest.factors.0.values().all(|kind| kind.role == Role::Choice);
    let is_known = known.len() == space.layouts.len();
    let may_race = is_stated && is_alone && !is_known;
    let effort = posed.effort();
    Effort { exhaustive: if may_race { effort.exhaustive } else { usize::MAX }, ..effort }
}

fn score(verdict: &Verdict, space: &Space, place: usize) -> Option<f64> {
    let ranked = verdict.ranked.iter().find(|ranked| ranked.at == space.layouts[place])?;
    Some(verdict.better.ahead(ranked.value, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::posed::tests::{COPIES, asked};
    use crate::search::clock::Clock;
    use crate::search::clock::tests::after;
    use crate::search::remembered::Sim;
    use lab::capabilities::Capabilities;
    use lab::experiment::{Experiment, Trial};
    use lab::rig::{Prepared, Rig};

    /// The model, one trial at a time.
    struct OneLane;

    impl Rig for OneLane {
        fn name(&self) -> &'static str {
            Sim.name()
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities { lanes: 1, ..Sim.capabilities() }
        }

        fn admit(&self, trial: &Trial) -> Result<()> {
            Sim.admit(trial)
        }

        fn samples(&self, trial: &Trial) -> Vec<&'static str> {
            Sim.samples(trial)
        }

        fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
            static SIM: Sim = Sim;
            SIM.prepare(trial)
        }
    }

    fn opens() -> impl Fn(&Experiment) -> Result<Box<dyn Rig>> + Sync {
        |_| Ok(Box::new(Sim))
    }

    /// As many layouts at a time as the rig has lanes, as long as there is time: on one of one lane, whatever runs this test.
    #[test]
    fn an_experiment_is_measured_as_long_as_there_is_time() {
        let (posed, mut space, _) = asked(COPIES);
        let one = |_: &Experiment| Ok(Box::new(OneLane) as Box<dyn Rig>);
        for begun in 0..=3 {
            space.clock = after(begun);
            let (count, records) = in_time(&space, &[0, 1, 2], (&one, For::Choice), 0).unwrap();
            assert_eq!((count, records.len()), (begun, begun));
            assert_eq!(space.clock.left_of_search(), [0, 3 - begun]);
        }
        space.clock = after(0);
        let none = measured(&posed, &space, &opens(), &mut |_| ()).unwrap_err().to_string();
        assert!(
            none.starts_with("no layout was measured before the time limit was over"),
            "{none}"
        );
        space.clock = Clock::default();
        let (records, count) = measured(&posed, &space, &opens(), &mut |_| ()).unwrap();
        assert_eq!((records.len(), count), (3, 3));
    }

    /// One lucky seed chooses nothing.
    #[test]
    fn what_is_first_by_one_seed_has_as_many_as_the_others() {
        let (posed, space, mut records) = asked(COPIES);
        for seed in 1..3 {
            records.extend(space.measure(&[0], &opens(), seed).unwrap());
        }
        let lucky = records.iter_mut().find(|of| space.at_of(of) == space.layouts[2]).unwrap();
        for metric in ["mb_per_s", "requests_per_s"] {
            let value = lucky.sample(metric).unwrap_or(1.0);
            lucky.samples.insert(metric, 100.0 * value);
        }
        let first = |records: &[Record]| {
            let verdict = Verdict::new(&space.manifest, records, &posed.wishes).unwrap();
            let first = &verdict.ranked[0];
            (space.place(&first.at).unwrap(), first.trials)
        };
        assert_eq!(first(&records), (2, 1));
        let (posed, space, open, what) = (&posed, &space, &opens(), For::Choice);
        let of = &mut OfSpace { posed, space, open, what, records: &mut records };
        let (verdict, count) = even_out(of).unwrap();
        assert_eq!(count, 2, "two more seeds of the lucky one");
        assert_eq!(verdict.ranked[0].trials, 3);
        assert!(first(&records).0 != 2 && first(&records).1 == 3, "{:?}", first(&records));
    }
}
