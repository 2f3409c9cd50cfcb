//! Whether another layout is ahead of the chosen one with an option of mount(8) that the search did not have.
//!
//! Each of the nearest is tried once with it. What is ahead then runs with more seeds, beside the chosen layout with the option of
//! its own file system; what is reliably ahead of both is what to build.

use crate::beside::OfExperiment;
use crate::lanes::side_by_side;
use crate::mount::{Mount, TRIED};
use crate::pair::{Both, Measured, Pair};
use crate::posed::search::measure_missing;
use crate::posed::{Posed, verdict_of};
use crate::space::{At, Open, Space, named};
use crate::tried::Settings;
use lab::Result;
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

/// What is ahead with the first seed runs with these, too.
const MORE_SEEDS: Range<u64> = 1..3;

/// What was found of others with an option.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rivals {
    /// How many there were.
    count: usize,
    /// Their options.
    options: Vec<&'static str>,
    /// Where one of them is chosen: what would be chosen without it, and how far behind it that is.
    instead_of: Option<String>,
    /// The same layout without its option and with it.
    pub(crate) mount: Option<Mount>,
    /// How many trials that took.
    pub(crate) trials: usize,
}

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
    let judge = |more: &[Record]| {
        let all = [records.as_slice(), more].concat();
        verdict_of(posed, space, &all)
    };
    let (own, others): (Vec<&With>, Vec<&With>) =
        asked.iter().partition(|of| space.layouts[of.place] == first.at);
    let mut more = measured(posed, space, open, &others, 0)?;
    let judged = judge(&more)?;
    let value = |of: &With| value_of(&judged, &of.at);
    let is_ahead = |of: &&With| {
        let both = value(of).zip(value_of(&judged, &first.at));
        both.is_some_and(|(own, best)| judged.better.ahead(own, best) > 0.0)
    };
    let mut rivals = Rivals::of(others.iter().copied().filter(|of| value(of).is_some()));
    rivals.trials = more.len();
    let ahead: Vec<&With> = others.into_iter().filter(is_ahead).collect();
    if ahead.is_empty() {
        return Ok(rivals);
    }
    more.extend(measured(posed, space, open, &own, 0)?);
    let again: Vec<&With> = own.iter().chain(&ahead).copied().collect();
    let mut plain = of_layout(space, records, &first.at);
    let known = plain.len();
    for seed in MORE_SEEDS {
        more.extend(measured(posed, space, open, &again, seed)?);
        // What they are compared with has as many seeds.
        if let Some(place) = space.place(&first.at).filter(|_| space.experiment.run().repeats == 1)
        {
            measure_missing(space, open, (place, seed), &mut plain)?;
        }
    }
    more.extend(plain.split_off(known));
    rivals.trials = more.len();
    let judged = judge(&more)?;
    let Some(best) = judged.ranked.first() else { return Ok(rivals) };
    let Some(taken) = ahead.iter().find(|of| of.at == best.at) else { return Ok(rivals) };
    let mut chosen = own.iter().map(|of| &of.at).chain([&first.at]);
    let is_behind = |at: &At| {
        let ranked = judged.ranked.iter().find(|of| of.at == *at);
        ranked.is_none_or(|of| of.standing == Standing::Behind)
    };
    if !chosen.all(is_behind) {
        return Ok(rivals);
    }
    let behind = value_of(&judged, &first.at).map_or_else(String::new, |value| {
        let times = judged.better.ahead(best.value, value).exp();
        format!(", which is {}", slower(times, judged.better, &judged.unit))
    });
    let instead = format!("{}{behind}", first.label);
    rivals.instead_of = Some(instead_of(&taken.both, &instead));
    more.retain(|of| of.at == taken.at || space.at_of(of) == first.at);
    rivals.mount = beside_itself(posed, space, open, (taken, records, &more));
    let (place, both) = (taken.place, taken.both);
    space.add(place, (both.key, both.values[1]))?;
    records.extend(more);
    *verdict = verdict_of(posed, space, records)?;
    Ok(rivals)
}

/// What the option does to the layout that is chosen for it, over the same seeds.
fn beside_itself(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    (taken, records, with): (&With, &[Record], &[Record]),
) -> Option<Mount> {
    let (wishes, best) = (&posed.wishes, &space.layouts[taken.place]);
    let layout = OfExperiment { space, open, wishes, best, records };
    let mut measured = Measured::by_search(&layout);
    for seed in 0..MORE_SEEDS.end {
        let repeat = seed * space.experiment.run().repeats;
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

/// What was measured of a layout.
fn of_layout(space: &Space, records: &[Record], at: &At) -> Vec<Record> {
    records.iter().filter(|of| space.at_of(of) == *at).cloned().collect()
}

fn value_of(verdict: &Verdict, at: &At) -> Option<f64> {
    verdict.ranked.iter().find(|of| of.at == *at).map(|of| of.value)
}

/// What each measures with a seed; one that fails is left out.
fn measured(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    asked: &[&With],
    seed: u64,
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
            layout.run(seed, &settings)
        },
    );
    let ran = ran.into_iter().zip(asked);
    let records = ran.filter_map(|(ran, of)| Some(named(ran.ok()?, &of.at))).flatten();
    // Beside the first trial of the others with that seed.
    let repeat = seed * space.experiment.run().repeats;
    Ok(records.map(|record| Record { repeat, ..record }).collect())
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
    use crate::posed::tests::{COPIES, asked as posed};
    use lab::experiment::Experiment;
    use lab::rig::Rig;
    use lab::rig::sim::Sim;

    fn opens() -> impl Fn(&Experiment) -> Result<Box<dyn Rig>> + Sync {
        |_| Ok(Box::new(Sim))
    }

    /// Three layouts, of which parity is tried with other drives, in the place of an option; and what came of it.
    fn with(value: &'static str) -> (Space, Verdict, Vec<Record>, Rivals, Posed) {
        let text = COPIES.replace("p4800x-375gb", "980-pro-1tb").replace("= 50", "= 90");
        let (posed, mut space, mut records) = posed(&text);
        let mut verdict = verdict_of(&posed, &space, &records).unwrap();
        let both = Both { key: "volume.drives", values: ["4x980-pro-1tb", value] };
        let is_parity = |space: &Space, place: usize| {
            space.layouts[place]["volume.level"].as_str() == Some("md-raid5")
        };
        let of = (&verdict, records.as_slice());
        let asked = asked(&posed, &space, &opens(), of, |_, place| {
            is_parity(&space, place).then_some(both)
        });
        assert_eq!(asked.len(), 1);
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

    /// `data=writeback` was chosen with another layout, and its danger went unsaid.
    #[test]
    fn what_an_option_endangers_is_said_of_others_too() {
        let said = |kind: &str| instead_of(&crate::mount::tried(kind).unwrap(), "md-raid6");
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
        let both = crate::mount::tried("ext4").unwrap();
        let taken = With::of(&space, 1, both);
        let with = measured(&posed, &space, &opens(), &[&taken], 0).unwrap();
        assert_eq!(with.len(), 1);
        let mount = beside_itself(&posed, &space, &opens(), (&taken, &records, &with)).unwrap();
        assert_eq!(
            (mount.to_set(), mount.setting()),
            (Some("data=writeback"), Some(("fs.data", "writeback")))
        );
        let json = serde_json::to_value(&mount).unwrap();
        assert_eq!((&json["option"], &json["take"]), (&"data=writeback".into(), &true.into()));
        assert!(json["times"].as_f64().is_some_and(|times| times > 0.0), "{json}");
    }
}
