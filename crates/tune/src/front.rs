//! The front: of each level what to have of it, where no other level beats it in everything.

pub(crate) mod commits;
pub(crate) mod degraded;
pub(crate) mod groups;
pub(crate) mod more_spares;
pub(crate) mod row;
pub(crate) mod spares;
pub(crate) mod without_copies;
pub(crate) mod worth;

use crate::danger::{Exposed, GONE_MIN, SAFER_BY};
use crate::front::more_spares::Groups;
use crate::front::row::{FrontRow, at_worst, is_tied};
use crate::front::worth::Worth;
use crate::question::candidate::Candidate;
use crate::question::capacity::room;
use crate::question::capacity::{is_more_room, usd_per_tb};
use crate::question::posed::{Posed, risk_of};
use crate::question::{Question, in_use};
use crate::search::layouts::{At, Space};
use crate::search::pick::nearest_of_level;
use crate::search::trials::is_at;
use block::layout::Level;
use lab::Result;
use risk::{Risk, in_words};
use store::quantity::Better;
use store::record::{Record, plain};
use verdict::Verdict;
use verdict::judge::Ranked;

/// What is much safer than the best, where that matters: the fastest of it, and what keeps the most room.
pub(crate) fn safer(front: &[FrontRow], risk: &Risk, best: (f64, Better)) -> Option<String> {
    let is_safer = |row: &&FrontRow| row.gone.high * SAFER_BY <= risk.gone.high;
    let all = || front.iter().filter(is_safer).filter(|_| risk.gone.high >= GONE_MIN);
    // A level that survives more holds without a rebuild; spares are for where there is none.
    let has_level = all().any(|row| !row.has_spares_beside());
    let safer = || all().filter(move |row| !has_level || !row.has_spares_beside());
    let fastest = safer().next()?;
    let roomiest = safer().rev().max_by_key(|row| row.usable_bytes)?;
    let named = |row: &FrontRow| row.with_room(best) + &at_worst(row.gone.high, risk.gone.high);
    Some(if roomiest.usable_bytes > fastest.usable_bytes {
        format!("{}; or {}", named(fastest), named(roomiest))
    } else {
        named(fastest)
    })
}

/// What is much safer than a best that was picked for its room, and what that costs in `room`: of such, the one with most.
pub(crate) fn safer_for_room(
    front: &[FrontRow],
    best_bytes: u64,
    risk: &Risk,
    best: (f64, Better),
) -> Option<String> {
    let is_safer =
        |row: &&FrontRow| row.gone.high * SAFER_BY <= risk.gone.high && !row.has_spares_beside();
    let row = front.iter().filter(is_safer).rev().max_by_key(|row| row.usable_bytes)?;
    let less = best_bytes.saturating_sub(row.usable_bytes);
    let less = format!(", {} less room", room(less));
    Some(row.with_room(best) + &less + &at_worst(row.gone.high, risk.gone.high))
}

/// The fastest layout with more `room`, and its risk where that is much more than `risk`; there also the fastest with more
/// room that is much safer than that one.
pub(crate) fn more_room(
    front: &[FrontRow],
    room: u64,
    risk: &Risk,
    value: (f64, Better),
) -> Option<String> {
    // Spares are for what must be safe, and take room.
    let mut larger =
        front.iter().filter(|row| is_more_room(row.usable_bytes, room) && !row.has_spares_beside());
    let first = larger.next()?;
    let more_risk = first.more_risk(risk);
    let is_safer = |row: &&FrontRow| row.gone.high * SAFER_BY <= first.gone.high;
    let safer = larger.find(is_safer).filter(|_| !more_risk.is_empty());
    let safer = safer.map_or(String::new(), |row| {
        format!("; or {}, and {} at worst", row.with_room(value), in_words(row.gone.high))
    });
    Some(first.with_room(value) + first.write_hole(risk) + &more_risk + &safer)
}

/// The front of an experiment's layouts: what none beats in speed, room, survival, what a crash loses or tears, the hours of a rebuild,
/// and cost, where that is known.
///
/// The `answer` stands there whatever ties with it or beats it: a slower rig may have turned it.
pub(crate) fn of_posed(
    space: &Space,
    (verdict, records): (&Verdict, &[Record]),
    posed: &Posed,
    answer: Option<&At>,
) -> Result<Vec<FrontRow>> {
    let mut rows: Vec<FrontRow> = Vec::new();
    let mut worth: Vec<Worth<'_>> = Vec::new();
    // The fastest comes first.
    for ranked in &verdict.ranked {
        let Some(trial) = space.place(&ranked.at).map(|place| &space.trials[place]) else {
            continue;
        };
        let volume = &trial.setup.volume;
        let Some(usable_bytes) = posed.room_bytes(trial) else { continue };
        let survives = volume.level.losses_survived(volume.members.len());
        let cost_usd = posed.cost_usd(trial, ranked.facts.price_usd);
        let exposed = posed.exposed(trial);
        let rebuild_h = exposed.as_ref().filter(|_| survives > 0).and_then(|of| of.as_ref().ok());
        let own = Worth {
            ranked,
            room: usable_bytes,
            survives,
            gone: 0.0,
            // A partial parity log restores what is torn.
            may_be_torn: volume.level.has_parity() && !volume.has_ppl,
            is_kept: ranked.facts.lost_by_crash.is_none(),
            cost_usd,
            rebuild_h: rebuild_h.map(Exposed::rebuild_h),
            spread: None,
            is_answer: answer == Some(&ranked.at),
        };
        // What is behind in speed and no better otherwise is not worth asking what it risks.
        if !own.is_answer && worth.iter().any(|other| other.is_no_worse(&own)) {
            continue;
        }
        let Some(exposed) = exposed else { continue };
        let (risk, inputs) = risk_of(trial, exposed?);
        worth.push(Worth { gone: risk.gone.middle, ..own });
        rows.push(FrontRow {
            value: ranked.value,
            unit: verdict.unit.clone(),
            usable_bytes,
            degraded: None,
            commands: None,
            commits: commits::of_layout(records.iter().filter(|of| space.at_of(of) == ranked.at)),
            cost_usd,
            usd_per_tb: cost_usd.map(|cost| usd_per_tb(cost, usable_bytes)),
            survives,
            rebuild_h: inputs.rebuild_h.range,
            gone: risk.gone,
            unreadable: risk.unreadable,
            torn_by_crash: risk.torn,
            members: volume.members.len(),
            spares: posed.question.as_ref().map_or(0, |question| question.spares),
            in_use: None,
            words: vec![ranked.label.clone()],
            rows: None,
            is_tied: is_tied(ranked),
            samples: ranked.samples.clone(),
            is_faster_degraded: false,
            has_stripe_cache: volume.level.has_stripe_cache(),
            at: ranked.at.clone(),
        });
    }
    let places = Worth::untied(&worth, verdict);
    Ok(places.into_iter().map(|place| rows[place].clone()).collect())
}

/// Whether it is of the level of this name.
fn is_of(ranked: &Ranked, level: &str) -> bool {
    ranked.at.get("volume.level").is_some_and(|own| plain(own) == level)
}

/// The front of what is ranked: of each level the nearest to md's own of what ties with its fastest; of the level of the answer the
/// answer itself, which may be tied with another. What `groups` has is of its question.
pub(crate) fn front(
    question: &Question,
    verdict: &Verdict,
    answer: &Candidate,
    groups: Option<&Groups>,
) -> Result<Vec<FrontRow>> {
    let own = verdict.ranked.iter().find(|ranked| is_at(answer, &ranked.at));
    let is_asked = |ranked: &&Ranked| {
        let level = ranked.at.get("volume.level").and_then(|name| plain(name).parse().ok());
        groups.zip(level).is_none_or(|(groups, level)| !groups.has(&level))
    };
    let first_asked = verdict.ranked.iter().find(is_asked);
    let mut rows: Vec<FrontRow> = Vec::new();
    // A tie beats nothing: the fastest of each level says what it is worth, and nothing is reliably better than the answer.
    let mut worth: Vec<Worth<'_>> = Vec::new();
    for ranked in &verdict.ranked {
        let name = ranked.at.get("volume.level").map(plain).unwrap_or_default();
        let told = |row: &FrontRow| row.at.get("volume.level").map(plain).as_ref() == Some(&name);
        let Ok(level) = name.parse::<Level>() else { continue };
        if rows.iter().any(told) {
            continue;
        }
        let groups = groups.filter(|groups| groups.has(&level));
        let question = groups.map_or(question, |groups| &groups.with.question);
        let of_answer = own.filter(|_| level == answer.level);
        let fastest = of_answer.and(first_asked).unwrap_or(ranked);
        let of_level: Vec<&Ranked> = verdict.ranked.iter().filter(|of| is_of(of, &name)).collect();
        let nearest = || nearest_of_level(verdict, &level, &of_level);
        let ranked = of_answer.or_else(nearest).unwrap_or(ranked);
        let in_use = groups.map(|_| in_use(question));
        let row = FrontRow::of(question, &verdict.unit, ranked, &level, in_use)?;
        worth.push(Worth {
            ranked: fastest,
            room: row.usable_bytes,
            survives: row.survives,
            gone: row.gone.middle,
            may_be_torn: row.torn_by_crash.is_some(),
            is_kept: true,
            cost_usd: row.cost_usd,
            rebuild_h: (row.survives > 0).then_some(row.rebuild_h.high),
            spread: level.spread(),
            is_answer: of_answer.is_some(),
        });
        rows.push(row);
    }
    let places = Worth::front(&worth, verdict);
    Ok(places.into_iter().map(|place| rows[place].clone()).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::danger::Repairs;
    use crate::front::row::Shown;
    use block::layout::Spread;
    use lab::catalogue;
    use risk::inputs::Range;
    use serde_json::Map;
    use std::collections::BTreeMap;
    use verdict::stats::median;
    use verdict::stats::noise::Noise;

    pub(crate) fn row(level: &str, value: f64, terabytes: u64, gone: f64) -> FrontRow {
        let range = Range { low: 0.0, middle: gone / 10.0, high: gone };
        FrontRow {
            at: Map::new(),
            value,
            unit: "MB/s".into(),
            usable_bytes: terabytes * 1_000_000_000_000,
            degraded: None,
            commands: None,
            commits: BTreeMap::new(),
            cost_usd: None,
            usd_per_tb: None,
            survives: 2,
            rebuild_h: range,
            gone: range,
            unreadable: range,
            torn_by_crash: None,
            members: 8,
            spares: 0,
            in_use: None,
            words: vec![level.into(), "1MiB".into()],
            rows: None,
            is_tied: false,
            samples: vec![value],
            is_faster_degraded: false,
            has_stripe_cache: false,
        }
    }

    /// What a layout is measured with, what ties, and what a crash may tear is said wherever it is named.
    #[test]
    fn a_row_says_all_that_it_is() {
        let best = (1000.0, Better::Higher);
        let torn = Some(Range { low: 0.0001, middle: 0.01, high: 0.14 });
        let parity = FrontRow {
            rows: Some("4096".into()),
            is_tied: true,
            torn_by_crash: torn,
            ..row("md-raid5", 970.0, 264, 0.0005)
        };
        let own = parity.with_room(best);
        let rows = "md-raid5, 1MiB chunk, 4096 rows of stripe cache: 264.0 TB, survives 2, 3 % slower \
                    (no reliable difference)";
        assert_eq!(own, rows);
        assert!(row("md-raid5", 970.0, 264, 0.0005).with_room(best).ends_with("3 % slower"));

        let copies = row("md-raid10", 1000.0, 144, 0.0005);
        let drive = catalogue::drive("st18000nm000j").unwrap();
        let risk = |level: &str| {
            let limit = crate::danger::Limit::default();
            let level = level.parse().unwrap();
            crate::danger::of_level(&level, 12, Repairs::default(), &drive, limit).unwrap().0
        };
        let front = [copies.clone(), parity];
        let said =
            |level: &str| more_room(&front, 144_000_000_000_000, &risk(level), best).unwrap();
        assert!(said("md-raid10").contains("(write hole)"), "{}", said("md-raid10"));
        assert!(!said("md-raid6").contains("write hole"), "it has one itself");

        let last = |rows: &[FrontRow]| FrontRow::heading(rows).0.pop().unwrap();
        assert_eq!(last(&front), "torn by a crash");
        assert_eq!(last(&front[..1]), "all data lost in 5 years");
        let cells = |row: &FrontRow| row.cells(&Shown::of(&front));
        assert_eq!(cells(&front[1])[1], "1MiB, 4096 rows");
        assert_eq!(cells(&front[1]).last().unwrap(), "up to 14 %");
        assert_eq!(cells(&front[0]).last().unwrap(), "–");
    }

    /// A crash may tear RAID 5, and not RAID 5 with a partial parity log: of two that tie only the second stands there, and the slower
    /// one still does where that is certain. Copies that tie with nearer ones do not.
    #[test]
    fn what_ties_and_is_no_better_is_left_out() {
        let verdict = |error: f64| {
            let mut verdict = of_one();
            verdict.noise.model_error = error;
            verdict
        };
        let one = of_one().ranked.remove(0);
        let rates = [95.0, 98.0, 99.0, 100.0, 101.0].map(|value| Ranked {
            value,
            samples: vec![value],
            trials: 1,
            ..one.clone()
        });
        let at = |value: f64| rates.iter().find(|of| of.value.total_cmp(&value).is_eq()).unwrap();
        let parity = parity(at(100.0));
        let logged = Worth { ranked: at(95.0), may_be_torn: false, ..parity };
        let front = |all: &[Worth<'_>], error| Worth::front(all, &verdict(error));
        assert_eq!(front(&[parity, logged], 0.1), [1]);
        assert_eq!(front(&[parity, logged], 0.01), [0, 1]);
        assert_eq!(front(&[parity, Worth { ranked: at(101.0), ..logged }], 0.01), [1]);
        // The answer stands there whatever ties with it.
        assert_eq!(front(&[Worth { is_answer: true, ..parity }, logged], 0.1), [0, 1]);
        let of =
            |spread, value, gone| Worth { spread: Some(spread), ranked: at(value), gone, ..logged };
        let copies = |gone_far| {
            [
                of(Spread::Near, 95.0, 0.01),
                of(Spread::Offset, 98.0, 0.01),
                of(Spread::Far, 100.0, gone_far),
            ]
        };
        assert_eq!(front(&copies(0.01), 0.1), [0]);
        assert_eq!(front(&copies(0.01), 0.01), [2]);
        assert_eq!(front(&copies(0.02), 0.01), [1, 2]);
        let mirror = Worth { ranked: at(99.0), ..logged };
        assert_eq!(front(&[mirror, of(Spread::Far, 100.0, 0.01)], 0.1), [0]);
    }

    /// What a RAID 5 that is kept is worth.
    fn parity(ranked: &Ranked) -> Worth<'_> {
        Worth {
            ranked,
            room: 300,
            survives: 1,
            gone: 0.01,
            may_be_torn: true,
            is_kept: true,
            cost_usd: None,
            rebuild_h: Some(100.0),
            spread: None,
            is_answer: false,
        }
    }

    /// Two that swing together by more than they differ are two, as the standings say: over the same seeds.
    #[test]
    fn trials_of_the_same_seeds_are_paired() {
        let mut verdict = of_one();
        let one = verdict.ranked.remove(0);
        let luck = [100.0, 200.0, 70.0, 140.0];
        let [fast, slow] = [1.4, 1.0].map(|times| luck.map(|rate| times * rate).to_vec());
        verdict.noise = Noise::of(&[fast.clone(), slow.clone()], None, 0.01);
        let ranked = |samples: &Vec<f64>| Ranked {
            value: median(samples).unwrap(),
            samples: samples.clone(),
            trials: samples.len(),
            ..one.clone()
        };
        let both = [ranked(&fast), ranked(&slow)];
        let parity = parity(&both[0]);
        let all = [parity, Worth { ranked: &both[1], may_be_torn: false, ..parity }];
        assert_eq!(Worth::front(&all, &verdict), [1]);
        let is_even = |verdict: &Verdict| crate::search::pick::is_even(verdict, &both[0], &both[1]);
        assert!(is_even(&verdict));
        verdict.noise = verdict.noise.in_pairs(&[fast.clone(), slow.clone()]);
        assert_eq!(Worth::front(&all, &verdict), [0, 1]);
        assert!(!is_even(&verdict));
    }

    /// A verdict on one layout.
    fn of_one() -> Verdict {
        let question = crate::question::tests::question("2x wd740gd", "restore", 1);
        let candidates =
            [Candidate { level: "md-mirror".parse().unwrap(), chunk: "512KiB", cache: "256" }];
        let watch = &mut |_| ();
        let sim = crate::search::remembered::Sim;
        let mut tried =
            crate::search::trials::Tried::new(&question, &candidates, &sim, watch).unwrap();
        tried.measure(&[0], 0).unwrap();
        tried.verdict().unwrap()
    }

    /// Sixty disks as one RAID 6 may be lost with 53 %: what is much safer and still has more room stands beside it.
    #[test]
    fn more_room_is_not_only_a_gamble() {
        let drive = catalogue::drive("st18000nm000j").unwrap();
        let level = "md-raid10-n3".parse().unwrap();
        let limit = crate::danger::Limit::default();
        let (risk, _) =
            crate::danger::of_level(&level, 24, Repairs::default(), &drive, limit).unwrap();
        let said = |gone: f64| {
            let front = [
                row("md-raid10-n3", 1000.0, 144, 0.001),
                row("md-raid6", 900.0, 396, gone),
                row("md-raid60-2", 800.0, 360, 0.05),
                row("md-raid60-4", 700.0, 288, 0.01),
            ];
            let best = (1000.0, Better::Higher);
            more_room(&front, 144_000_000_000_000, &risk, best).unwrap()
        };
        let text = said(0.53);
        assert!(text.starts_with("md-raid6, 1MiB chunk: 396.0 TB"), "{text}");
        assert!(text.contains("53 % at worst") && text.contains("; or md-raid60-2, "), "{text}");
        assert!(text.ends_with("and 5.0 % at worst"), "{text}");
        assert!(!said(0.0005).contains("; or "), "what is safe needs no other");
    }
}
