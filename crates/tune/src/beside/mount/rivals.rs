//! Whether another layout is ahead of the chosen one with an option of mount(8) that the search did not have.
//!
//! Each of the nearest is tried once with it. What is ahead then runs as often as the chosen layout did, beside that with the option
//! of its own file system; what is reliably ahead of both is what to build. Where one of them ran less often nothing is.

use crate::beside::OfExperiment;
use crate::beside::mount::{Mount, Rivals, TRIED};
use crate::beside::pair::{Both, Measured, Pair};
use crate::question::posed::{Posed, verdict_of};
use crate::search::clock::For;
use crate::search::even_seeds::{Seeds, even_out, first_by_fewer_trials};
use crate::search::lanes::side_by_side;
use crate::search::layouts::{At, Open, Space, named};
use crate::search::of_experiment::OfSpace;
use crate::search::trials::Settings;
use lab::Result;
use std::collections::BTreeSet;
use std::ops::Range;
use store::record::Record;
use verdict::Verdict;
use verdict::judge::{Ranked, Standing};
use verdict::tables::slower;

/// What is farther behind is not tried: the logarithm of how many times. `logbsize=256k` gained up to a half (RAID 6 of four 980 PRO
/// with 512 KiB under `mail`).
const NEAR: f64 = 0.5;

/// So many are tried at most, the nearest first.
const RIVALS_MAX: usize = 8;

/// What is ahead in the first trial has so many, where the experiment asks for one of each layout.
const TRIALS: Range<u64> = 0..3;

/// A layout with the option that is tried with it.
struct With {
    place: usize,
    both: Both,
    at: At,
}

impl With {
    fn of(space: &Space, place: usize, both: Both) -> With {
        let mut at = space.layouts[place].clone();
        at.insert(both.key.into(), both.values[1].into());
        With { place, both, at }
    }
}

/// What others do with the options of their file systems. Where one is chosen for that it is a layout of the `space`, and the
/// `verdict` and the `records` have it.
pub(crate) fn with_options(
    posed: &Posed,
    space: &mut Space,
    open: &Open<'_>,
    (verdict, records): (&mut Verdict, &mut Vec<Record>),
) -> Result<Rivals> {
    // Where results decide how often a layout runs, a seed says nothing of which trials stand beside each other.
    if space.experiment.run().compare_within.is_some() {
        return Ok(Rivals::default());
    }
    let asked = asked(posed, space, open, (verdict, records), |layout, place| {
        layout.mount_option(&space.trials[place])
    });
    among(posed, space, open, (verdict, records), &asked)
}

/// The chosen layout first, and the nearest others, each with its option, where it has one.
fn asked(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    (verdict, records): (&Verdict, &[Record]),
    option: impl Fn(&OfExperiment<'_>, usize) -> Option<Both>,
) -> Vec<With> {
    let Some(first) = verdict.ranked.first() else { return Vec::new() };
    let is_near = |of: &&Ranked| verdict.better.ahead(first.value, of.value) <= NEAR;
    let with = verdict.ranked.iter().filter(is_near).filter_map(|ranked| {
        let place = space.place(&ranked.at)?;
        let layout = OfExperiment { space, open, wishes: &posed.wishes, best: &ranked.at, records };
        Some(With::of(space, place, option(&layout, place)?))
    });
    let with: Vec<With> = with.collect();
    let (own, mut others): (Vec<With>, Vec<With>) =
        with.into_iter().partition(|of| space.layouts[of.place] == first.at);
    others.truncate(RIVALS_MAX);
    // Nothing can turn where there is no other.
    if others.is_empty() { others } else { own.into_iter().chain(others).collect() }
}

/// Measures those `asked` about, and takes the best of them, where it is reliably ahead.
fn among(
    posed: &Posed,
    space: &mut Space,
    open: &Open<'_>,
    (verdict, records): (&mut Verdict, &mut Vec<Record>),
    asked: &[With],
) -> Result<Rivals> {
    let Some(first) = verdict.ranked.first().cloned() else { return Ok(Rivals::default()) };
    let (own, others): (Vec<&With>, Vec<&With>) =
        asked.iter().partition(|of| space.layouts[of.place] == first.at);
    let once = measured(posed, space, open, &others, 0)?;
    let judged = verdict_of(posed, space, &[records.as_slice(), &once].concat())?;
    let value = |of: &With| value_of(&judged, &of.at);
    let is_ahead = |of: &&With| {
        let both = value(of).zip(value_of(&judged, &first.at));
        both.is_some_and(|(own, best)| judged.better.ahead(own, best) > 0.0)
    };
    let mut rivals = Rivals::of(others.iter().copied().filter(|of| value(of).is_some()));
    let ahead: Vec<&With> = others.into_iter().filter(is_ahead).collect();
    rivals.trials = once.len();
    if ahead.is_empty() {
        return Ok(rivals);
    }
    let again = Again { own, ahead, first };
    let before = records.len();
    let (more, are_even) = again.measure(posed, space, open, (records, once))?;
    let judged = verdict_of(posed, space, &[records.as_slice(), &more].concat())?;
    rivals.is_open = !are_even;
    rivals.trials = more.len() + records.len() - before;
    let taken = again.taken(&judged).filter(|_| are_even);
    if let Some(taken) = taken {
        rivals.instead_of = Some(instead_of(&taken.both, &again.instead(space, &judged)));
        let own = more.iter().filter(|of| of.at == taken.at).cloned();
        let own: Vec<Record> = own.collect();
        rivals.mount = beside_itself(posed, space, open, (taken, records, &own));
        let (place, both) = (taken.place, taken.both);
        space.add(place, (both.key, both.values[1]))?;
        records.extend(own);
    } else if records.len() > before {
        let evened = even_again(posed, space, open, records);
        rivals.trials += evened.unwrap_or(0);
        if evened.is_none() {
            // Another layout is first by fewer trials: that is no reason to build it.
            records.truncate(before);
            rivals.is_open = true;
        }
    }
    *verdict = verdict_of(posed, space, records)?;
    Ok(rivals)
}

/// What else the chosen layout measured counts, and may put another first, which is then measured as often: how many trials that
/// took. Nothing where one failed or had no time, and what is first has fewer all the same.
fn even_again(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    records: &mut Vec<Record>,
) -> Option<usize> {
    let (judged, count) =
        even_out(&mut OfSpace { posed, space, open, what: For::Option, records }).ok()?;
    first_by_fewer_trials(&judged).is_none().then_some(count)
}

/// Those that run more often: what is ahead with its option, and the chosen layout without one and with it.
struct Again<'a> {
    own: Vec<&'a With>,
    ahead: Vec<&'a With>,
    first: Ranked,
}

impl<'a> Again<'a> {
    fn all(&self) -> impl Iterator<Item = &'a With> {
        self.own.iter().chain(&self.ahead).copied()
    }

    /// Measures them as often as the chosen layout, and that at least as often as here is usual; that one's trials go to the
    /// `records`. The others', with what ran `once`, and whether all ran as often.
    fn measure(
        &self,
        posed: &Posed,
        space: &Space,
        open: &Open<'_>,
        (records, once): (&mut Vec<Record>, Vec<Record>),
    ) -> Result<(Vec<Record>, bool)> {
        let at = &self.first.at;
        let of_first =
            |records: &[Record]| numbers(records.iter().filter(|of| space.at_of(of) == *at));
        let mut asked = of_first(records);
        if let Some(place) =
            space.place(at).filter(|_| space.experiment.run().stated_repeats() == 1)
        {
            asked.extend(TRIALS);
            let of = &mut OfSpace { posed, space, open, what: For::Option, records };
            // One that fails is missing, as one without time is: what was chosen stays so.
            for &seed in &asked {
                let _ = of.measure_missing(place, seed);
            }
        }
        let mut more = once;
        for &number in &asked {
            let is_missing = |of: &&With| {
                !more.iter().any(|record| record.at == of.at && record.repeat == number)
            };
            let missing: Vec<&With> = self.all().filter(is_missing).collect();
            more.extend(measured(posed, space, open, &missing, number)?);
        }
        let of_with = |of: &With| numbers(more.iter().filter(|record| record.at == of.at));
        let are_even = of_first(records) == asked && self.all().all(|of| of_with(of) == asked);
        Ok((more, are_even))
    }

    /// What is ahead of all, and reliably of the chosen layout, also with its own option.
    fn taken(&self, judged: &Verdict) -> Option<&'a With> {
        let best = judged.ranked.first()?;
        let taken = self.ahead.iter().copied().find(|of| of.at == best.at)?;
        let standing = |at: &At| {
            judged.ranked.iter().find(|of| of.at == *at).map(|of| of.standing == Standing::Behind)
        };
        // What is not ranked any more is not to be chosen; what its option does there must be known.
        let is_behind = standing(&self.first.at).unwrap_or(true)
            && self.own.iter().all(|of| standing(&of.at).is_some_and(|is_behind| is_behind));
        is_behind.then_some(taken)
    }

    /// What would be chosen otherwise, and how far behind that is: more trials of the chosen layout may have put another of the
    /// `space` before it, over as many.
    fn instead(&self, space: &Space, judged: &Verdict) -> String {
        let trials = judged.ranked.iter().find(|of| of.at == self.first.at).map(|of| of.trials);
        let would_be = |of: &&Ranked| {
            space.place(&of.at).is_some() && trials.is_none_or(|trials| of.trials >= trials)
        };
        let Some(instead) = judged.ranked.iter().find(would_be) else {
            return self.first.label.clone();
        };
        let behind = judged.ranked.first().map(|best| {
            let times = judged.better.ahead(best.value, instead.value).exp();
            format!(", which is {}", slower(times, judged.better, &judged.unit))
        });
        format!("{}{}", instead.label, behind.unwrap_or_default())
    }
}

/// The numbers of these trials among all repeats of their layouts.
fn numbers<'a>(records: impl Iterator<Item = &'a Record>) -> BTreeSet<u64> {
    records.map(|record| record.repeat).collect()
}

/// What the option does to the layout that is chosen for it, over the same seeds. These trials choose nothing.
fn beside_itself(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    (taken, records, with): (&With, &[Record], &[Record]),
) -> Option<Mount> {
    let (wishes, best) = (&posed.wishes, &space.layouts[taken.place]);
    let layout = OfExperiment { space, open, wishes, best, records };
    let mut measured = Measured::by_search(&layout);
    for seed in TRIALS {
        let repeat = seed * space.experiment.run().stated_repeats();
        let is_own = |of: &&Record| of.repeat == repeat && of.at == taken.at;
        let own = with.iter().filter(is_own).cloned().collect();
        let option = (taken.both.key.to_string(), taken.both.values[1].to_string());
        measured.know(seed, vec![option], own);
    }
    let pair = Pair::measure(&layout, &[taken.both], &Settings::new(), &mut measured).pop()?;
    Mount::of_choice(taken.both, pair)
}

/// Where another is chosen for its option: what would be otherwise, and what the option endangers.
fn instead_of(both: &Both, instead: &str) -> String {
    let option = option_of(both);
    let beside = TRIED.iter().find(|of| of.both.key == both.key).map_or("", |of| of.beside);
    format!("set `-o {option}`, as the commands do: without it the choice is {instead}{beside}")
}

fn value_of(verdict: &Verdict, at: &At) -> Option<f64> {
    verdict.ranked.iter().find(|of| of.at == *at).map(|of| of.value)
}

/// What each measures as the trial with this number of all repeats; one that fails, or has no time, is left out.
fn measured(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    asked: &[&With],
    number: u64,
) -> Result<Vec<Record>> {
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let lanes = open(&space.experiment)?.capabilities().lanes;
    let ran = side_by_side(
        lanes,
        asked,
        |_| false,
        |of| {
            let best = &space.layouts[of.place];
            let layout = OfExperiment { space, open, wishes: &posed.wishes, best, records: &[] };
            let settings = [(of.both.key.to_string(), of.both.values[1].to_string())];
            layout.run(For::Option, number, &settings)
        },
    );
    let ran = ran.into_iter().zip(asked);
    Ok(ran.filter_map(|(ran, of)| Some(named(ran.ok()?, &of.at))).flatten().collect())
}

/// The option as mount(8) takes it.
fn option_of(both: &Both) -> &'static str {
    TRIED.iter().find(|of| of.both.key == both.key).map_or(both.values[1], |of| of.option)
}

impl Rivals {
    fn of<'a>(with: impl Iterator<Item = &'a With>) -> Rivals {
        let mut rivals = Rivals::default();
        for of in with {
            rivals.count += 1;
            let option = option_of(&of.both);
            if !rivals.options.contains(&option) {
                rivals.options.push(option);
            }
        }
        rivals
    }

    /// What to say of them, in a few words.
    pub(crate) fn text(&self) -> Option<String> {
        if self.instead_of.is_some() {
            return self.instead_of.clone();
        }
        let options: Vec<String> = self.options.iter().map(|of| format!("`-o {of}`")).collect();
        let options = options.join(" or ");
        if self.is_open {
            return Some(format!(
                "whether another layout is ahead with {options} is unknown: a trial failed, or had no time"
            ));
        }
        match self.count {
            0 => None,
            1 => Some(format!("with {options} the nearest other layout is not reliably the best")),
            count => Some(format!(
                "with {options} none of the {count} nearest other layouts is reliably the best"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front;
    use crate::question::posed::tests::{COPIES, asked as posed};
    use crate::search::clock::Clock;
    use crate::search::clock::tests::after;
    use crate::search::remembered::Sim;
    use lab::experiment::Experiment;
    use lab::rig::Rig;

    fn opens() -> impl Fn(&Experiment) -> Result<Box<dyn Rig>> + Sync {
        |_| Ok(Box::new(Sim))
    }

    /// Three layouts, of which parity is tried with other drives, in the place of an option; and what came of it.
    fn with(value: &'static str) -> (Space, Verdict, Vec<Record>, Rivals, Posed) {
        with_own(None, 1, value, Clock::default())
    }

    /// The same with such an option of the chosen layout's own, and so many repeats, within a time.
    fn with_own(
        own: Option<&'static str>,
        repeats: u64,
        value: &'static str,
        clock: Clock,
    ) -> (Space, Verdict, Vec<Record>, Rivals, Posed) {
        let text = COPIES.replace("p4800x-375gb", "980-pro-1tb").replace("= 50", "= 90");
        let text = text.replace("repeats = 1", &format!("repeats = {repeats}"));
        let (posed, mut space, mut records) = posed(&text);
        space.clock = clock;
        let mut verdict = verdict_of(&posed, &space, &records).unwrap();
        let both = Both { key: "volume.drives", values: ["4x980-pro-1tb", value] };
        let is_parity = |space: &Space, place: usize| {
            space.layouts[place]["volume.level"].as_str() == Some("md-raid5")
        };
        let of = (&verdict, records.as_slice());
        let asked = asked(&posed, &space, &opens(), of, |_, place| {
            let own = own.map(|own| Both { key: both.key, values: [both.values[0], own] });
            let is_near = space.layouts[place]["volume.level"].as_str() == Some("md-raid10");
            if is_parity(&space, place) { Some(both) } else { own.filter(|_| !is_near) }
        });
        assert_eq!(asked.len(), 1 + usize::from(own.is_some()));
        let of = (&mut verdict, &mut records);
        let rivals = among(&posed, &mut space, &opens(), of, &asked).unwrap();
        (space, verdict, records, rivals, posed)
    }

    /// What is reliably ahead with its option is what to build: a layout that is ranked, stands on the front, and is measured
    /// with the option wherever it is measured again.
    #[test]
    fn another_layout_is_chosen_where_its_option_puts_it_ahead() {
        let (space, verdict, records, rivals, posed) = with("6xp4800x-375gb");
        let first = &verdict.ranked[0];
        assert_eq!(first.at["volume.level"], "md-raid5");
        assert_eq!(first.at["volume.drives"], "6xp4800x-375gb");
        assert_eq!((space.layouts.len(), first.trials), (4, 3));
        let text = rivals.text().unwrap();
        assert!(text.contains("without it the choice is level md-raid10"), "{text}");
        let rows = front::of_posed(&space, (&verdict, &records), &posed, Some(&first.at)).unwrap();
        assert!(rows.iter().any(|row| row.at == first.at && row.members == 6), "{rows:?}");
        let place = space.place(&first.at).unwrap();
        let again = space.measure(&[0, place], &opens(), 0).unwrap();
        let known = records.iter().find(|of| of.at == first.at && of.repeat == 0).unwrap();
        assert_eq!(again.len(), 2);
        assert_eq!(again[1].at, first.at);
        assert_eq!(again[1].samples.get("mb_per_s"), known.samples.get("mb_per_s"));
    }

    /// What its option does not put ahead changes nothing, and is said to have been tried.
    #[test]
    fn an_option_that_gains_nothing_changes_nothing() {
        let (space, verdict, records, rivals, _) = with("4x980-pro-1tb");
        assert_ne!(verdict.ranked[0].at["volume.level"], "md-raid5");
        assert_eq!((space.layouts.len(), records.len()), (3, 3));
        let text = rivals.text().unwrap();
        let said = "with `-o 4x980-pro-1tb` the nearest other layout is not reliably the best";
        assert_eq!(text, said);
    }

    /// A median of one chose a layout, where there was no time for the others' trials.
    #[test]
    fn no_option_is_chosen_by_fewer_trials() {
        // One trial of parity, and a second one of what was chosen.
        let (space, verdict, records, rivals, _) = with_own(None, 1, "6xp4800x-375gb", after(2));
        assert_ne!(verdict.ranked[0].at["volume.level"], "md-raid5");
        assert_eq!((space.layouts.len(), records.len(), rivals.trials), (3, 4, 2));
        assert_eq!(verdict.ranked.iter().map(|of| of.trials).max(), Some(2), "it counts");
        let text = rivals.text().unwrap();
        assert!(text.contains("is unknown: a trial failed, or had no time"), "{text}");
        assert!(space.clock.caveat().contains("may turn the choice"));
        assert_eq!(space.clock.left_of_search(), [0, 0]);
        // Time for all.
        let (_, verdict, ..) = with_own(None, 1, "6xp4800x-375gb", after(5));
        assert_eq!(verdict.ranked[0].at["volume.level"], "md-raid5");
    }

    /// What the chosen layout does with its own option was taken as behind where its trial failed.
    #[test]
    fn no_option_is_chosen_where_that_of_the_chosen_layout_is_unknown() {
        let of = |own| {
            let (_, verdict, _, rivals, _) =
                with_own(Some(own), 1, "6xp4800x-375gb", Clock::default());
            (verdict.ranked[0].at["volume.level"].clone(), rivals.text().unwrap())
        };
        // Far copies have no layout over one drive.
        let (level, text) = of("1x980-pro-1tb");
        assert!(level == "md-raid10-f2" && text.contains("is unknown"), "{level}: {text}");
        let (level, text) = of("4x980-pro-1tb");
        assert!(
            level == "md-raid5" && text.contains("without it the choice is"),
            "{level}: {text}"
        );
    }

    /// With repeats of its own an experiment had three of what has an option, and shared no seed with them.
    #[test]
    fn what_has_an_option_runs_with_the_same_repeats() {
        let (_, verdict, records, rivals, _) =
            with_own(None, 2, "6xp4800x-375gb", Clock::default());
        let first = &verdict.ranked[0];
        assert_eq!((first.at["volume.drives"].as_str(), first.trials), (Some("6xp4800x-375gb"), 2));
        let own = records.iter().filter(|of| of.at == first.at);
        assert_eq!(numbers(own), BTreeSet::from([0, 1]));
        assert_eq!(rivals.trials, 2, "both repeats of what has an option");
    }

    /// A trial of the chosen layout that failed was an error of the whole answer, and where there was no time a third layout was the
    /// answer by the one trial that it had.
    #[test]
    fn what_is_first_by_one_trial_is_no_answer() {
        let (posed, mut space, records) = posed(COPIES);
        let of = |records: &[Record], seeds: u64| -> Vec<Record> {
            let more = space.measure(&[0], &opens(), 1).unwrap();
            let mut all = records.to_vec();
            all.extend(more.into_iter().filter(|_| seeds > 1));
            let lucky = all.iter_mut().find(|of| space.at_of(of) == space.layouts[2]).unwrap();
            for metric in ["mb_per_s", "requests_per_s"] {
                let value = 100.0 * lucky.sample(metric).unwrap_or(1.0);
                lucky.samples.insert(metric, value);
            }
            all
        };
        let [even, lucky] = [of(&records, 1), of(&records, 2)];
        let fails = |_: &Experiment| Err(lab::Error::failure("the guest ended"));
        let again = |space: &Space, open: &Open<'_>, records: &[Record]| {
            let mut records = records.to_vec();
            let count = even_again(&posed, space, open, &mut records);
            (count, records.len())
        };
        assert_eq!(again(&space, &opens(), &even), (Some(0), 3));
        assert_eq!(again(&space, &opens(), &lucky), (Some(1), 5));
        assert_eq!(again(&space, &fails, &lucky), (None, 4));
        space.clock = after(0);
        assert_eq!(again(&space, &opens(), &lucky), (None, 4));
    }

    /// It named the layout that was first before that ran again.
    #[test]
    fn what_would_be_chosen_otherwise_is_first_over_as_many_trials() {
        let (posed, space, records) = posed(COPIES);
        let judged = verdict_of(&posed, &space, &records).unwrap();
        let again = Again { own: Vec::new(), ahead: Vec::new(), first: judged.ranked[1].clone() };
        let said = again.instead(&space, &judged);
        assert!(said.starts_with(&judged.ranked[0].label), "{said}");
        let more = space.measure(&[space.place(&judged.ranked[1].at).unwrap()], &opens(), 1);
        let judged = verdict_of(&posed, &space, &[records, more.unwrap()].concat()).unwrap();
        let twice = judged.ranked.iter().find(|of| of.trials == 2).unwrap().clone();
        let again = Again { own: Vec::new(), ahead: Vec::new(), first: twice.clone() };
        let said = again.instead(&space, &judged);
        assert!(said.starts_with(&twice.label), "fewer trials choose nothing: {said}");
    }

    /// `data=writeback` was chosen with another layout, and its danger went unsaid.
    #[test]
    fn what_an_option_endangers_is_said_of_others_too() {
        let said = |kind: &str| instead_of(&crate::beside::mount::tried(kind).unwrap(), "md-raid6");
        assert_eq!(
            said("ext4"),
            "set `-o data=writeback`, as the commands do: without it the choice is md-raid6; after a crash a file that was not \
             flushed may hold what its blocks held before"
        );
        assert!(said("xfs").ends_with("without it the choice is md-raid6"));
    }

    /// `mount` was null in `--json` where another layout was chosen for its option: what the option does there went unsaid.
    #[test]
    fn what_the_option_does_to_the_layout_that_is_chosen_for_it_is_known() {
        let text = "run.repeats = 1\nfs.kind = 'ext4'\nvolume.drives = '4xp4800x-375gb'\n\
                    volume.level = ['md-raid10', 'md-raid5']\n\
                    [workload.w]\nkind = 'mail'\nagents = 2\nmessages = 40\nmailboxes = 4\n";
        let (posed, space, records) = posed(text);
        let both = crate::beside::mount::tried("ext4").unwrap();
        let taken = With::of(&space, 1, both);
        let with = measured(&posed, &space, &opens(), &[&taken], 0).unwrap();
        assert_eq!(with.len(), 1);
        let mount = beside_itself(&posed, &space, &opens(), (&taken, &records, &with)).unwrap();
        assert_eq!(mount.pair.seeds.len(), 2, "one more seed of both");
        assert_eq!(
            (mount.to_set(), mount.setting()),
            (Some("data=writeback"), Some(("fs.data", "writeback")))
        );
        let json = serde_json::to_value(&mount).unwrap();
        assert_eq!((&json["option"], &json["take"]), (&"data=writeback".into(), &true.into()));
        assert!(json["times"].as_f64().is_some_and(|times| times > 0.0), "{json}");
    }
}
