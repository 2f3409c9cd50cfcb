//! What the best layout risks, and what the safe choice would be and cost.

pub(crate) mod bitmap;
pub(crate) mod rebuild;
pub(crate) mod small_volume;

use super::answer::point;
use super::layouts::facts::Facts;
use super::loads::situations::Situation;
use super::{LeftOut, Point, Ranked, Standing, Verdict, Wishes};
use crate::tables::{listed, slower};
use serde_json::Value as Json;

/// The risk of the best, and what is safer. Where no layout is better than another, what the safest is.
pub(super) fn points(verdict: &Verdict, best: &Ranked, others: &[Ranked]) -> Vec<Point> {
    let mut risks = best.facts.risks();
    risks.extend(tied(best, others, "fewer", |losses, own| losses < own));
    risks.extend(tied(best, others, "more", |losses, own| losses > own));
    risks.extend(tied_in_a_crash(best, others));
    let mut points = Vec::new();
    if !risks.is_empty() {
        points.push(point("risk", risks.join("; ")));
    }
    let unsafe_because = best.facts.unsafe_because();
    if !unsafe_because.is_empty() {
        points.extend(safe_choice(verdict, best, others));
    }
    points
}

/// That what is tied with the best survives `fewer` failures or `more`: who keeps it because it is as fast should know.
fn tied(
    best: &Ranked,
    others: &[Ranked],
    fewer: &str,
    counts: fn(usize, usize) -> bool,
) -> Option<String> {
    let own = best.facts.losses_survived?;
    let is_so = |other: &&Ranked| {
        other.standing == Standing::Tie
            && other.facts.losses_survived.is_some_and(|losses| counts(losses, own))
    };
    let labels: Vec<String> =
        others.iter().filter(is_so).map(|other| other.label.clone()).collect();
    let (first, more) = labels.split_first()?;
    Some(match more.len() {
        0 => format!("{first} is tied and survives {fewer} failures"),
        count => format!("{first} and {count} more are tied and survive {fewer} failures"),
    })
}

/// That what is tied with the best can lose in a crash what the best keeps: who keeps it because it is as fast should know.
fn tied_in_a_crash(best: &Ranked, others: &[Ranked]) -> Vec<String> {
    let in_a_crash = |facts: &Facts| [facts.lost_by_crash.clone(), facts.torn_by_crash.clone()];
    let own = in_a_crash(&best.facts);
    let said = [0, 1].into_iter().filter(|&kind| own[kind].is_none()).filter_map(|kind| {
        let tied = others.iter().filter(|other| other.standing == Standing::Tie);
        let mut at_risk =
            tied.filter_map(|other| Some((&other.label, in_a_crash(&other.facts)[kind].clone()?)));
        let (first, why) = at_risk.next()?;
        Some(match at_risk.count() {
            0 => format!("{first} ties, but carries another risk: {why}"),
            more => format!("{first} and {more} more tie, but carry another risk: {why}"),
        })
    });
    said.collect()
}

/// What `--safe` does not leave out although a power cut can damage it.
pub(super) fn left_by_safe(verdict: &Verdict, wishes: &Wishes) -> Option<Point> {
    let is_torn = |of: &&Ranked| of.facts.torn_by_crash.is_some();
    let first = verdict.ranked.iter().find(is_torn).filter(|_| wishes.safe)?;
    let more = verdict.ranked.iter().filter(is_torn).count() - 1;
    let which = match more {
        0 => first.label.clone(),
        more => format!("{} and {more} more", first.label),
    };
    let text = format!(
        "`--safe` leaves out what one failed disk loses, or a crash alone; {which} may have a write hole, which loses data when a \
         disk fails after a power cut and before parity is checked. A journal or a partial parity log closes it"
    );
    Some(point("write hole", text))
}

/// What one can lose that another cannot.
fn dangers(facts: &Facts) -> [bool; 2] {
    [facts.losses_survived.is_none_or(|losses| losses == 0), facts.lost_by_crash.is_some()]
}

/// Whether `other` has none of the dangers that some layout does without, and is known to survive what it says.
fn is_safer(other: &Facts, avoidable: [bool; 2]) -> bool {
    dangers(other).iter().zip(avoidable).all(|(has, avoidable)| !(*has && avoidable))
}

/// So many levels are named beside the best.
const LEVELS_MAX: usize = 3;

/// The best that is safe, and what it costs. A danger that every layout has is no reason against one of them.
fn safe_choice(verdict: &Verdict, best: &Ranked, others: &[Ranked]) -> Option<Point> {
    let mut avoidable = [false; 2];
    for ranked in &verdict.ranked {
        for (avoidable, has) in avoidable.iter_mut().zip(dangers(&ranked.facts)) {
            *avoidable |= !has;
        }
    }
    let own = dangers(&best.facts);
    let mends = own.iter().zip(avoidable).any(|(has, avoidable)| *has && avoidable);
    let safer: Vec<&Ranked> =
        others.iter().filter(|other| is_safer(&other.facts, avoidable)).collect();
    if !mends || safer.is_empty() {
        // What is safe and has not all its results yet is there, and need not be added.
        let lacks =
            |out: &LeftOut| own.iter().zip(dangers(&out.facts)).any(|(own, other)| *own && !other);
        let is_tried = verdict.left_out.iter().any(lacks);
        let text = to_try(&best.facts).filter(|_| !is_tried);
        return text.map(|text| point("safe choice", text));
    }
    // The best of each level tells what safety costs in its ways.
    let mut levels: Vec<Option<&Json>> = Vec::new();
    let mut texts = Vec::new();
    for other in safer {
        let level = other.at.get("volume.level");
        if levels.contains(&level) || texts.len() == LEVELS_MAX {
            continue;
        }
        levels.push(level);
        texts.push(format!("{}, {}", other.label, costs(verdict, best, other)));
    }
    Some(point("safe choice", texts.join("; ")))
}

/// What a safer layout costs: speed, and room.
fn costs(verdict: &Verdict, best: &Ranked, other: &Ranked) -> String {
    let mut costs = vec![match other.standing {
        Standing::Tie => "no reliable difference in speed".into(),
        _ => slower(other.behind, verdict.better, &verdict.unit),
    }];
    if let (Some(room), Some(other)) = (best.facts.usable_bytes, other.facts.usable_bytes) {
        let less = 1.0 - other as f64 / room as f64;
        if less >= 0.005 {
            costs.push(format!("{:.0} % less room", 100.0 * less));
        }
    }
    costs.join(", ")
}

/// What was not measured, and what it would leave of the room, which is arithmetic.
fn to_try(facts: &Facts) -> Option<String> {
    if facts.log_is_alone && facts.members_survived.is_some_and(|losses| losses > 0) {
        return Some("give the log a second drive, as in `volume.log_drives = \"2x…\"`".into());
    }
    // Who asks about several levels knows of them.
    let is_asked = dangers(facts)[0] && facts.down == 0 && !facts.has_several_levels;
    let members = facts.members.filter(|_| is_asked)?;
    let share = |kept: usize| format!("{:.0} %", 100.0 * kept as f64 / members as f64);
    let levels = match members {
        0 | 1 => {
            return Some("none here survives a disk failure; a mirror needs a second disk".into());
        }
        2 => vec![("raid1", share(1))],
        3 => vec![("raid5", share(2))],
        4.. if members % 2 == 0 => vec![
            ("raid10", share(members / 2)),
            ("raid5", share(members - 1)),
            ("raid6", share(members - 2)),
        ],
        _ => vec![("raid5", share(members - 1)), ("raid6", share(members - 2))],
    };
    let system = if facts.is_of_md { "md-" } else { "" };
    let rooms: Vec<String> =
        levels.iter().map(|(level, room)| format!("{level} keeps {room} of the room")).collect();
    let names: Vec<String> = levels.iter().map(|(level, _)| format!("{system}{level}")).collect();
    Some(format!(
        "none here survives a disk failure; {}. To measure the cost: `--set volume.level={system}stripe,{}`",
        listed(&rooms),
        names.join(",")
    ))
}

/// What the best of each workload risks, where no layout is the best of all, and which is safer: layouts of the same risks
/// together.
pub(super) fn of_situations(verdict: &Verdict) -> Vec<Point> {
    let mut told: Vec<&LeftOut> = Vec::new();
    let mut risks: Vec<(String, Vec<String>)> = Vec::new();
    let mut safer: Vec<Safer> = Vec::new();
    for situation in verdict.situations.iter().filter(|situation| situation.layouts > 1) {
        let Some(out) = verdict.left_out.iter().find(|out| out.at == situation.at) else {
            continue;
        };
        if dangers(&out.facts) != [false; 2] {
            add_safer(verdict, situation, &mut safer);
        }
        if told.iter().any(|known| known.at == out.at) {
            continue;
        }
        told.push(out);
        let own = out.facts.risks().join("; ");
        match risks.iter_mut().find(|(known, _)| *known == own) {
            Some((_, names)) => names.push(verdict.name(&out.at)),
            None => risks.push((own, vec![verdict.name(&out.at)])),
        }
    }
    let said = risks.iter().filter(|(own, _)| !own.is_empty());
    let mut points: Vec<Point> =
        said.map(|(own, names)| point("risk", format!("{}: {own}", listed(names)))).collect();
    let is_safe = |out: &LeftOut| dangers(&out.facts) == [false; 2];
    let text = match in_words(&safer) {
        text if !text.is_empty() => Some(text),
        _ if verdict.left_out.iter().any(is_safe) => None,
        _ => told.iter().find(|out| !is_safe(out)).and_then(|out| to_try(&out.facts)),
    };
    points.extend(text.map(|text| point("safe choice", text)));
    points
}

/// The best that is safe for a workload, and what it costs there at least and at most, in words, over the loads that it is so
/// under.
struct Safer {
    name: String,
    of: String,
    least: (f64, String),
    most: (f64, String),
}

/// Adds the best that is safe in a situation. Where none is ranked, what is left out stands in the order of the layouts.
fn add_safer(verdict: &Verdict, situation: &Situation, all: &mut Vec<Safer>) {
    let layouts = verdict.left_out.iter().zip(&situation.behind);
    let safe = layouts.filter(|(out, _)| dangers(&out.facts) == [false; 2]);
    let best =
        safe.filter_map(|(out, behind)| Some((out, (*behind)?))).min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((out, behind)) = best else { return };
    let costs = (behind, slower(behind.exp(), situation.better, &situation.unit));
    let (name, of) = (verdict.name(&out.at), super::answer::of(&situation.of).to_string());
    let Some(known) = all.iter_mut().find(|known| known.name == name && known.of == of) else {
        return all.push(Safer { name, of, least: costs.clone(), most: costs });
    };
    if costs.0 < known.least.0 {
        known.least = costs;
    } else if costs.0 > known.most.0 {
        known.most = costs;
    }
}

/// The first of these, and how many more there are.
fn in_words(safer: &[Safer]) -> String {
    let named = safer.iter().take(LEVELS_MAX).map(|Safer { name, of, least, most }| {
        let up_to = if least.1 == most.1 { "" } else { "up to " };
        format!("{name}, {up_to}{} for {of}", most.1)
    });
    let more = safer.len().saturating_sub(LEVELS_MAX);
    named.chain((more > 0).then(|| format!("{more} more"))).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests::modelled;
    use store::record::Record;

    /// RAID 5 is safe from one failed disk and from a crash, but not from both.
    #[test]
    fn what_safe_leaves_is_said() {
        let (manifest, records) = modelled(
            "[volume]\ndrives = '4xwd740gd'\nlevel = ['raid5', 'raid10']\ninterleave = '64KiB'\n\
             [drive]\nwrite_cache = false\n[workload.r]\nkind = 'random'\nblock = '4KiB'\ncount = 300\n",
        );
        let hole = |safe: bool| {
            let wishes = Wishes { safe, ..Wishes::default() };
            let verdict = Verdict::new(&manifest, &records, &wishes).unwrap();
            verdict.points.iter().find(|of| of.about == "write hole").map(|of| of.text.clone())
        };
        assert!(hole(true).unwrap().contains("raid5 may have a write hole"), "{:?}", hole(true));
        assert_eq!(hole(false), None);
    }

    /// Three layouts of four disks, told apart by `path`, none of which ran at all three depths, with `best` ahead where the depth
    /// is `1`, `4` and `16`: what the best of each depth risk.
    fn of_depths(volume: &str, path: &str, layouts: &[Json; 3], best: [usize; 3]) -> Vec<Point> {
        let (manifest, mut records) = modelled(&format!(
            "[volume]\ndrives = '4xwd740gd'\n{volume}\n[drive]\nwrite_cache = false\n[workload.r]\nkind = 'random'\n\
             block = '4KiB'\ndepth = [1, 4, 16]\ncount = 20\n"
        ));
        let is_at = |of: &Record, depth: usize, layout: usize| {
            of.at["workload.r.depth"] == [1, 4, 16][depth] && of.at[path] == layouts[layout]
        };
        records.retain(|of| !(0..3).any(|depth| is_at(of, depth, 2 - depth)));
        for (depth, layout) in (0..3).zip(best) {
            for record in records.iter_mut().filter(|of| is_at(of, depth, layout)) {
                record.samples.insert("mb_per_s", 500.0);
            }
        }
        of_situations(&Verdict::new(&manifest, &records, &Wishes::default()).unwrap())
    }

    /// Where no layout ran everything there was a line for the best of each load, and none said what would help.
    #[test]
    fn equal_risks_of_the_best_of_each_load_are_one_line() {
        let said = of_depths(
            "level = 'stripe'\ninterleave = [8, 64, 512]",
            "volume.interleave",
            &[8, 64, 512].map(Json::from),
            [0, 2, 1],
        );
        let of = |about: &str| {
            let own = said.iter().filter(|of| of.about == about);
            own.map(|of| of.text.as_str()).collect::<Vec<_>>()
        };
        let all = "8 (4 KiB), 512 (256 KiB) and 64 (32 KiB): one disk failure loses everything";
        assert_eq!(of("risk"), [all]);
        assert_eq!(of("safe choice").len(), 1, "{said:?}");
        assert!(
            of("safe choice")[0].starts_with("none here survives a disk failure; "),
            "{said:?}"
        );
        // Where others are safe, what they cost is one line, too.
        let said = of_depths(
            "level = ['stripe', 'raid10', 'raid5']\ninterleave = 64",
            "volume.level",
            &["stripe", "raid10", "raid5"].map(Json::from),
            [0, 0, 1],
        );
        let safe: Vec<&Point> = said.iter().filter(|of| of.about == "safe choice").collect();
        assert_eq!(safe.len(), 1, "{said:?}");
        assert!(
            safe[0].text.starts_with("raid10, ") && safe[0].text.contains("; raid5, "),
            "{said:?}"
        );
    }

    #[test]
    fn what_is_tied_and_survives_less_or_more_is_named() {
        let (manifest, records) = modelled(
            "[volume]\ndrives = '4xwd740gd'\nlevel = ['raid6', 'stripe']\ninterleave = '64KiB'\n\
             [workload.r]\nkind = 'random'\nblock = '4KiB'\ndepth = 1\ncount = 3000\n",
        );
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        let of = |level: &str| {
            let is_it = |ranked: &&Ranked| ranked.label.ends_with(level);
            verdict.ranked.iter().find(is_it).unwrap().clone()
        };
        let tied_with = |level: &str| Ranked { standing: Standing::Tie, ..of(level) };
        let said = |best: &Ranked, other: Ranked| {
            let risk = points(&verdict, best, &[other]).into_iter().find(|of| of.about == "risk");
            risk.unwrap().text
        };
        let fewer = said(&of("raid6"), tied_with("stripe"));
        assert!(fewer.ends_with("level stripe is tied and survives fewer failures"), "{fewer}");
        let more = said(&of("stripe"), tied_with("raid6"));
        assert!(more.contains("level raid6 is tied and survives more failures; "), "{more}");
        let mut torn = tied_with("stripe");
        torn.facts.torn_by_crash = Some("write hole: some".into());
        let of_both = said(&of("stripe"), torn.clone());
        let hole = "level stripe ties, but carries another risk: write hole: some";
        assert!(of_both.ends_with(hole), "{of_both}");
        let mut both = of("stripe");
        both.facts.torn_by_crash.clone_from(&torn.facts.torn_by_crash);
        assert!(!said(&both, torn).contains("another risk"), "both have it");
        let behind = Ranked { standing: Standing::Behind, ..of("stripe") };
        assert!(!said(&of("raid6"), behind).contains("tied"));
    }
}
