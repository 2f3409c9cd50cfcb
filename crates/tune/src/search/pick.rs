//! Which of the layouts that were measured is to be built: the fastest, unless one that is as fast is plainer or safer, or holds much
//! more of what is only read.

use crate::danger::{EVEN_RISK, GONE_MIN, SAFER_BY};
use crate::question::Question;
use crate::question::candidate::{Candidate, DEFAULT_CACHE, DEFAULT_CHUNK};
use crate::question::capacity::is_more_room;
use crate::search::trials::{SETTLED_SEEDS, is_at};
use block::SECTOR_BYTES;
use block::layout::{Level, Spread, System};
use block::units::parse_bytes;
use lab::Result;
use serde_json::Value as Json;
use std::cmp::Ordering;
use store::Manifest;
use store::record::plain;
use verdict::Verdict;
use verdict::judge::{Ranked, Standing, nearest_to_md};

const ROOM_KEPT: f64 = 0.5;

/// What is as fast for work that only reads, and holds so many times as much, is chosen.
const ROOM_TIMES: f64 = 1.5;

/// What is built of an experiment's layouts: the best; where its chunk or its stripe cache makes no reliable difference, what has
/// md's own of these, or the nearest that was tried.
pub(crate) fn of_experiment<'a>(verdict: &'a Verdict, manifest: &Manifest) -> Option<&'a Ranked> {
    let best = verdict.ranked.first()?;
    let settings = manifest.settings();
    let level = best.at.get("volume.level").map(plain);
    let level = level.or_else(|| Some(settings.get("volume.level")?.as_str()?.to_string()));
    if !level.is_some_and(|level| System::of(&level) == Some(System::Md)) {
        return Some(best);
    }
    nearest_to_md(verdict.ranked.iter().filter(|of| verdict.is_the_same(&of.at, &best.at)))
}

/// Why a layout was picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Nothing measured is ahead of it.
    Fastest,
    /// It is md's own, and nothing is reliably better.
    Default,
    /// Nothing is reliably better, and of such it is nearest to md's own.
    Nearest,
    /// It is md's own of a level that loses all less often than the fastest, which is reliably ahead of it: a chunk of that level
    /// ties with the fastest, and no chunk of it is reliably better than this.
    DefaultOfSafest,
    /// Nothing is reliably better, and of such one that is nearer to md's own loses all more often, or has far copies.
    LessRisk,
    /// Nothing is reliably ahead of it, and it is much safer than this candidate, which is the fastest.
    Safer { than: usize },
    /// Nothing is reliably ahead of it, and it holds much more than this candidate, which is the fastest.
    Roomier { than: usize },
    /// It keeps the rate as all that tie do, and no program waits for more; of these it has most room, and is safe.
    KeepsRate,
}

impl Why {
    /// What it is safer than, or roomier.
    pub(crate) fn than(self) -> Option<usize> {
        match self {
            Why::Safer { than } | Why::Roomier { than } => Some(than),
            Why::Fastest
            | Why::Default
            | Why::DefaultOfSafest
            | Why::Nearest
            | Why::LessRisk
            | Why::KeepsRate => None,
        }
    }
}

/// A candidate, by its place, and why.
pub(crate) type Picked = (usize, Why);

/// Whether it has md's own chunk and cache.
pub(crate) fn is_default(candidate: &Candidate) -> bool {
    candidate.chunk == DEFAULT_CHUNK && candidate.cache == DEFAULT_CACHE
}

/// Whether two levels survive and hold as much, but for what chunks round off.
pub(crate) fn is_alike(question: &Question, level: &Level, other: &Level) -> bool {
    let survived = |level: &Level| level.losses_survived(question.members());
    let [own, of_other] = [level, other].map(|level| question.usable_bytes(level));
    level == other
        || survived(level) == survived(other)
            && !is_more_room(own, of_other)
            && !is_more_room(of_other, own)
}

/// What to build; nothing where no candidate may be chosen.
pub(crate) fn pick(
    candidates: &[Candidate],
    question: &Question,
    verdict: &Verdict,
) -> Result<Option<Picked>> {
    let place = |ranked: &Ranked| candidates.iter().position(|of| is_at(of, &ranked.at));
    let Some((first, others)) = verdict.ranked.split_first() else { return Ok(None) };
    let Some(fastest) = place(first) else { return Ok(None) };
    // What chance put behind the first may as well be ahead of it.
    let is_even = |of: &&Ranked| matches!(of.standing, Standing::Tie | Standing::Unknown);
    let ties: Vec<usize> = others.iter().filter(is_even).filter_map(place).collect();
    let levels = |places: &[usize]| -> Vec<Level> {
        places.iter().map(|&place| candidates[place].level).collect()
    };
    let own = candidates[fastest].level;
    let (unwaited, safer) = if question.is_unwaited() {
        (keeps_rate(question, &own, &levels(&ties))?, None)
    } else {
        (None, safer(question, &own, &levels(&ties))?)
    };
    let roomier = match safer {
        Some(_) => None,
        None => roomier(question, &own, &levels(&ties))?,
    };
    let best = unwaited.or(safer).or(roomier).map_or(fastest, |of| ties[of]);
    let alike = alike(candidates, question, best, &ties);
    let safest = least_risk(candidates, question, &alike)?;
    let nearest = plainest(candidates, &safest).unwrap_or(best);
    let is_nearest = plainest(candidates, &alike) == Some(nearest);
    let default = default_of_safest(candidates, verdict, (fastest, nearest), &safest);
    let plainest = default.unwrap_or(nearest);
    let why = match (safer, roomier) {
        (Some(_), _) => Why::Safer { than: fastest },
        (None, Some(_)) => Why::Roomier { than: fastest },
        _ if !ties.is_empty() && question.is_unwaited() => Why::KeepsRate,
        _ if default.is_some() => Why::DefaultOfSafest,
        _ if !ties.is_empty() && is_default(&candidates[plainest]) => Why::Default,
        _ if plainest != fastest && !is_nearest => Why::LessRisk,
        _ if plainest != fastest => Why::Nearest,
        _ => Why::Fastest,
    };
    Ok(Some((plainest, why)))
}

/// md's own of the level of what is `tied` with the fastest, where that level is another, chosen for what it risks, and its own fastest
/// is not reliably better: ties are not transitive, and against the fastest the default may be no tie any more.
fn default_of_safest(
    candidates: &[Candidate],
    verdict: &Verdict,
    (fastest, tied): (usize, usize),
    safest: &[usize],
) -> Option<usize> {
    let level = candidates[tied].level;
    if is_default(&candidates[tied]) || safest.contains(&fastest) {
        return None;
    }
    let own = |of: &&Ranked| {
        candidates.iter().any(|candidate| candidate.level == level && is_at(candidate, &of.at))
    };
    let of_level: Vec<&Ranked> = verdict.ranked.iter().filter(own).collect();
    let nearest = nearest_of_level(verdict, &level, &of_level)?;
    candidates.iter().position(|of| is_default(of) && is_at(of, &nearest.at))
}

/// `best`, and the ties that hold and survive as much.
fn alike(candidates: &[Candidate], question: &Question, best: usize, ties: &[usize]) -> Vec<usize> {
    let is_so =
        |&place: &usize| is_alike(question, &candidates[place].level, &candidates[best].level);
    ties.iter().copied().chain([best]).filter(is_so).collect()
}

/// Those of `places` that lose all least often; of near, offset and far copies among them the first in this order: others have
/// near copies alone, and md cannot add disks to far ones.
fn least_risk(
    candidates: &[Candidate],
    question: &Question,
    places: &[usize],
) -> Result<Vec<usize>> {
    let mut risks: Vec<(usize, f64)> = Vec::new();
    for &place in places {
        risks.push((place, gone(question, &candidates[place].level)?));
    }
    let least = risks.iter().map(|(_, chance)| *chance).fold(f64::INFINITY, f64::min);
    let is_least = |(_, chance): &&(usize, f64)| *chance <= least * EVEN_RISK;
    let mut safest: Vec<usize> = risks.iter().filter(is_least).map(|(place, _)| *place).collect();
    for spread in [Spread::Far, Spread::Offset] {
        let is_other = |place: usize| candidates[place].level.spread() != Some(spread);
        if safest.iter().any(|&place| is_other(place)) {
            safest.retain(|&place| is_other(place));
        }
    }
    Ok(safest)
}

/// The nearest to md's own chunk and cache, of the plainest level.
fn plainest(candidates: &[Candidate], places: &[usize]) -> Option<usize> {
    // Candidates stand in the order of their levels, the plainest first.
    let unlike = |place: usize| {
        let of = &candidates[place];
        let bytes = parse_bytes(of.chunk).ok().map(|bytes| bytes as f64);
        (Unlike { has_other_cache: of.cache != DEFAULT_CACHE, times: times_default(bytes) }, place)
    };
    places.iter().copied().min_by(|&one, &other| {
        let ((own, place), (other, of_other)) = (unlike(one), unlike(other));
        own.cmp(&other).then(place.cmp(&of_other))
    })
}

/// How unlike md's own a layout's chunk and cache are.
struct Unlike {
    has_other_cache: bool,
    times: f64,
}

impl Unlike {
    fn cmp(&self, other: &Unlike) -> Ordering {
        let caches = self.has_other_cache.cmp(&other.has_other_cache);
        caches.then(self.times.total_cmp(&other.times))
    }

    fn of(ranked: &Ranked, level: &Level) -> Unlike {
        let stated = |key: &str| ranked.at.get(key);
        let rows = stated("volume.stripe_cache").map(plain);
        let sectors = stated("volume.interleave").and_then(Json::as_u64);
        let bytes = sectors.filter(|_| level.interleaved());
        Unlike {
            has_other_cache: level.has_stripe_cache()
                && rows.is_some_and(|rows| rows != DEFAULT_CACHE),
            times: times_default(bytes.map(|sectors| (sectors * SECTOR_BYTES) as f64)),
        }
    }
}

/// How many times larger or smaller a chunk is than md's own; that is itself where there is none.
fn times_default(chunk_bytes: Option<f64>) -> f64 {
    let own = parse_bytes(DEFAULT_CHUNK).unwrap_or(1).max(1) as f64;
    let times = chunk_bytes.unwrap_or(own) / own;
    times.max(1.0 / times)
}

/// What to have of a level: the nearest to md's own of what is as fast as the level's fastest. `of_level` stand in the order of the
/// ranking.
pub(crate) fn nearest_of_level<'v>(
    verdict: &Verdict,
    level: &Level,
    of_level: &[&'v Ranked],
) -> Option<&'v Ranked> {
    let fastest = *of_level.first()?;
    let as_fast = of_level.iter().copied().filter(|of| is_even(verdict, fastest, of));
    as_fast.min_by(|one, other| Unlike::of(one, level).cmp(&Unlike::of(other, level)))
}

/// Whether one is not ahead of another by more than would count if both had as many trials as decide, measured as standings are: few
/// trials make wide intervals, and a default with one would tie with what is 15 % faster.
pub(crate) fn is_even(verdict: &Verdict, fastest: &Ranked, other: &Ranked) -> bool {
    verdict.difference_as_of(fastest, other, SETTLED_SEEDS as usize).is_tie()
}

/// The chance at worst that a level loses everything in five years.
fn gone(question: &Question, level: &Level) -> Result<f64> {
    let (risk, _) = question.risk(level)?;
    Ok(risk.gone.high)
}

/// Of the `ties`, which stand from the fastest on, the one with most room that is much safer than the fastest level, where that
/// may lose everything; of such the safest, and of equals the fastest. None has not much less room, nor parity that a crash may
/// leave wrong where the fastest has none. Who said that nothing need survive is not asked again.
fn safer(question: &Question, fastest: &Level, ties: &[Level]) -> Result<Option<usize>> {
    let most = gone(question, fastest)?;
    if most < GONE_MIN || question.survive == 0 {
        return Ok(None);
    }
    let least_room = question.usable_bytes(fastest) as f64 * ROOM_KEPT;
    let may_be = |level: &Level| {
        level != fastest
            && question.usable_bytes(level) as f64 >= least_room
            && (fastest.has_parity() || !level.has_parity())
    };
    let mut best: Option<(usize, &Level, f64)> = None;
    for (place, level) in ties.iter().enumerate().filter(|(_, level)| may_be(level)) {
        let chance = gone(question, level)?;
        let room = |level: &Level| question.usable_bytes(level);
        let is_better = best.is_none_or(|(_, other, of_other)| {
            room(level).cmp(&room(other)).then(of_other.total_cmp(&chance)).is_gt()
        });
        if chance * SAFER_BY <= most && is_better {
            best = Some((place, level, chance));
        }
    }
    Ok(best.map(|(place, ..)| place))
}

/// Of the `ties`, where no program waits for more than a rate, which all of them keep: what has most room, of equals what
/// survives most; of what may lose all hardly ever, where there is any, else of what does so least often. Nothing where that is
/// the `first` level. Who said that nothing need survive has most room.
fn keeps_rate(question: &Question, first: &Level, ties: &[Level]) -> Result<Option<usize>> {
    let levels: Vec<&Level> = [first].into_iter().chain(ties).collect();
    let mut chances: Vec<f64> = Vec::new();
    for level in &levels {
        chances.push(gone(question, level)?);
    }
    let least = chances.iter().copied().fold(f64::INFINITY, f64::min);
    let most = if question.survive == 0 { 1.0 } else { GONE_MIN.max(least * EVEN_RISK) };
    let survived = |place: usize| levels[place].losses_survived(question.members());
    let room = |place: usize| question.usable_bytes(levels[place]);
    let mut best: Option<usize> = None;
    for place in (0..levels.len()).filter(|&place| chances[place] <= most) {
        let is_better = best.is_none_or(|of| {
            let is_even = !is_more_room(room(of), room(place));
            is_more_room(room(place), room(of)) || is_even && survived(place) > survived(of)
        });
        if is_better {
            best = Some(place);
        }
    }
    Ok(best.and_then(|place| place.checked_sub(1)))
}

/// Of the `ties`, which stand from the fastest on, the one with most room, and of equals the fastest, where it holds much more than the
/// fastest level and risks not much more. How many failures all must survive was asked: that the fastest survives more by chance is no
/// reason to have half of the room. Not where anything is written: parity is slower then than speed says as
/// soon as a drive is missing, and may be torn.
fn roomier(question: &Question, fastest: &Level, ties: &[Level]) -> Result<Option<usize>> {
    if question.writes() {
        return Ok(None);
    }
    let room = |level: &Level| question.usable_bytes(level);
    let most = gone(question, fastest)?.max(GONE_MIN / SAFER_BY);
    let mut best: Option<(usize, &Level)> = None;
    for (place, level) in ties.iter().enumerate() {
        let is_larger = room(level) as f64 >= room(fastest) as f64 * ROOM_TIMES;
        let is_better = best.is_none_or(|(_, other)| room(level) > room(other));
        if is_larger && is_better && gone(question, level)? < most * SAFER_BY {
            best = Some((place, level));
        }
    }
    Ok(best.map(|(place, _)| place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;
    use crate::search::even_seeds::first_by_fewer_trials;

    #[test]
    fn what_chunks_round_off_is_no_difference() {
        let question = question("4x 990 pro 2tb", "backup", 1);
        let [near, far, parity] = ["md-raid10", "md-raid10-f2", "md-raid5"].map(level);
        assert_ne!(question.usable_bytes(&near), question.usable_bytes(&far));
        assert!(is_alike(&question, &near, &far));
        assert!(!is_alike(&question, &near, &parity));
    }

    #[test]
    fn of_ties_the_nearest_to_the_default_is_taken() {
        let question = question("24x 980 pro 1tb", "object-store", 1);
        let (candidates, _) = question.candidates().unwrap();
        let place = |name: &str, chunk: &str| {
            let is = |of: &Candidate| {
                of.level == level(name) && of.chunk == chunk && of.cache == DEFAULT_CACHE
            };
            candidates.iter().position(is).unwrap()
        };
        let taken = |best: (&str, &str), ties: &[(&str, &str)]| {
            let ties: Vec<usize> = ties.iter().map(|(name, chunk)| place(name, chunk)).collect();
            let alike = alike(&candidates, &question, place(best.0, best.1), &ties);
            let safest = least_risk(&candidates, &question, &alike).unwrap();
            let of = &candidates[plainest(&candidates, &safest).unwrap()];
            (of.level.name, of.chunk)
        };
        let [near, far, parity] = ["md-raid10", "md-raid10-f2", "md-raid5"];
        let offset = "md-raid10-o2";
        assert_eq!(taken((far, "512KiB"), &[(offset, "64KiB")]), (offset, "64KiB"));
        assert_eq!(taken((offset, "512KiB"), &[(near, "64KiB")]), (near, "64KiB"));
        assert_eq!(taken((near, "16KiB"), &[]), (near, "16KiB"));
        assert_eq!(taken((near, "16KiB"), &[(near, "64KiB"), (near, "256KiB")]), (near, "256KiB"));
        // The plainer of two that are as near, also where one is above the default.
        assert_eq!(taken((far, "1MiB"), &[(near, "256KiB")]), (near, "256KiB"));
        // Far copies lose all more often, and never grow: the chunk of near ones may be another.
        assert_eq!(taken((far, "512KiB"), &[(near, "1MiB")]), (near, "1MiB"));
        assert_eq!(taken((far, "512KiB"), &[]), (far, "512KiB"));
        // A level that holds more is another question.
        assert_eq!(taken((near, "16KiB"), &[(parity, "512KiB")]), (near, "16KiB"));
    }

    fn level(name: &str) -> Level {
        name.parse().unwrap()
    }

    #[test]
    fn what_is_as_fast_and_much_safer_is_taken() {
        let who_says = |survive: usize, drives: &str, fastest: &str, ties: &[&str]| {
            let ties: Vec<Level> = ties.iter().map(|name| level(name)).collect();
            safer(&question(drives, "media", survive), &level(fastest), &ties).unwrap()
        };
        let of = |drives: &str, fastest: &str, ties: &[&str]| who_says(1, drives, fastest, ties);
        // Twelve disks of 18 TB with one parity lose everything with up to 23 %.
        assert_eq!(of("12x exos x18", "md-raid5", &["md-raid5", "md-raid6"]), Some(1));
        // Three copies are safer still, and keep less than half of the room.
        assert_eq!(of("12x exos x18", "md-raid5", &["md-raid10-n3"]), None);
        // What loses next to nothing need not be safer.
        assert_eq!(of("4x 980 pro 1tb", "md-raid5", &["md-raid6"]), None);
        assert_eq!(of("12x exos x18", "md-raid6", &["md-raid5"]), None);
        // Of two the one with more room.
        let both = ["md-raid10", "md-raid6", "md-raid6"];
        assert_eq!(of("12x exos x18", "md-raid5", &both), Some(1));
        // Parity may be torn by a crash, and who wants nothing to survive is not asked again.
        assert_eq!(of("4x exos x18", "md-stripe", &["md-raid5"]), None);
        assert_eq!(of("4x exos x18", "md-stripe", &["md-raid10"]), Some(0));
        assert_eq!(who_says(0, "4x exos x18", "md-stripe", &["md-raid10"]), None);
    }

    #[test]
    fn where_no_program_waits_room_and_risk_decide() {
        let of = |drives: &str, survive: usize, first: &str, ties: &[&str]| {
            let ties: Vec<Level> = ties.iter().map(|name| level(name)).collect();
            keeps_rate(&question(drives, "backup", survive), &level(first), &ties).unwrap()
        };
        // Eight disks of 18 TB lose all with 11 % as RAID 5, 1.8 % as RAID 10, and 0.7 % as RAID 6.
        let ties = ["md-raid10", "md-raid5", "md-raid6"];
        assert_eq!(of("8x exos x18", 1, "md-raid10-f2", &ties), Some(2));
        assert_eq!(of("8x exos x18", 1, "md-raid6", &ties), None);
        assert_eq!(of("8x exos x18", 1, "md-raid10-f2", &ties[..2]), Some(0));
        assert_eq!(of("8x exos x18", 0, "md-raid6", &["md-stripe"]), Some(0));
    }

    #[test]
    fn what_is_read_as_fast_and_holds_much_more_is_taken() {
        let of = |drives: &str, work: &str, survive: usize, fastest: &str, ties: &[&str]| {
            let ties: Vec<Level> = ties.iter().map(|name| level(name)).collect();
            roomier(&question(drives, work, survive), &level(fastest), &ties).unwrap()
        };
        // Eight disks of 20 TB hold 53 TB as three copies, and 120 as RAID 6; sixteen are lost with 1.7 % as that, not with 0.06.
        let both = ["md-raid10-n3", "md-raid6", "md-raid6"];
        assert_eq!(of("8x st20000nm007d", "media", 2, "md-raid10-n3", &both), Some(1));
        assert_eq!(of("16x st20000nm007d", "media", 2, "md-raid10-n3", &both), None);
        // What is written has parity to pay for.
        assert_eq!(of("8x st20000nm007d", "mail", 2, "md-raid10-n3", &both), None);
        // One parity over twelve such disks is too much of a gamble.
        assert_eq!(of("12x exos x18", "media", 1, "md-raid10", &["md-raid5"]), None);
        assert_eq!(of("4x 980 pro 1tb", "restore", 1, "md-raid10", &["md-raid5"]), Some(0));
        assert_eq!(of("4x 980 pro 1tb", "restore", 1, "md-raid5", &["md-raid10"]), None);
        // Three copies that tie by chance held half as much, and survived a second failure that nobody asked about.
        let all = ["md-raid10-f3", "md-raid10", "md-raid5"];
        assert_eq!(of("3x ebs-gp3", "restore", 1, "md-raid10-n3", &all), Some(2));
        assert_eq!(of("3x ebs-gp3", "postgres", 1, "md-raid10-n3", &all), None);
        assert_eq!(of("4x exos x18", "restore", 1, "md-raid6", &["md-raid5"]), None);
    }

    /// A verdict on these layouts, the fastest first, each with its rate and trials.
    fn ranked(all: &[(&Candidate, f64, usize)], model_error: f64) -> Verdict {
        let mut verdict =
            crate::search::trials::tests::verdict_of("2x wd740gd", "restore", "md-mirror");
        verdict.noise.model_error = model_error;
        let first = verdict.ranked[0].clone();
        let rank = |(candidate, value, trials): &(&Candidate, f64, usize)| {
            let settings = candidate.settings().into_iter().map(|(path, value)| {
                let sectors = block::units::parse_sectors(&value).map(Json::from);
                let number = value.parse::<u64>().map(Json::from);
                let is_chunk = path == "volume.interleave";
                let value =
                    if is_chunk { sectors.unwrap() } else { number.unwrap_or(value.into()) };
                (path, value)
            });
            let is_behind = (all[0].1 / value).ln() > model_error.ln_1p();
            let standing = if is_behind { Standing::Behind } else { Standing::Tie };
            Ranked {
                at: settings.collect(),
                value: *value,
                samples: vec![*value; *trials],
                trials: *trials,
                standing,
                ..first.clone()
            }
        };
        verdict.ranked = all.iter().map(rank).collect();
        verdict.ranked[0].standing = Standing::Best;
        verdict
    }

    fn layout(level: &str, chunk: &'static str, cache: &'static str) -> Candidate {
        Candidate { level: level.parse().unwrap(), chunk, cache }
    }

    /// Rows of the front had whatever chunk was the fastest of ties, and another seed had another. What is not reliably better than
    /// the default is not shown in its place, and few trials make no tie.
    #[test]
    fn of_a_level_the_default_is_shown_where_it_ties() {
        let of = |value: f64, trials: usize| {
            let level = "md-raid5".parse().unwrap();
            let all = [
                layout("md-raid5", "32KiB", "4096"),
                layout("md-raid5", "64KiB", "256"),
                layout("md-raid5", "512KiB", "256"),
            ];
            let rows = [(&all[0], 100.0, 3), (&all[1], 99.0, 3), (&all[2], value, trials)];
            let mut verdict = ranked(&rows, 0.05);
            verdict.noise.source = verdict::stats::noise::NoiseSource::Repeats;
            verdict.noise.degrees = 20.0;
            verdict.noise.log_sd = 0.02;
            let of_level: Vec<&Ranked> = verdict.ranked.iter().collect();
            let shown = nearest_of_level(&verdict, &level, &of_level).unwrap();
            all.into_iter().find(|of| is_at(of, &shown.at)).unwrap().chunk
        };
        assert_eq!(of(97.0, 3), "512KiB");
        assert_eq!(of(80.0, 3), "64KiB", "md's own number of rows is nearer than another");
        // One trial alone would have 9 % within its error; five would not.
        assert_eq!([of(91.5, 1), of(91.5, 3)], ["64KiB"; 2]);
    }

    /// Ties are not transitive: near copies with 64KiB tie with far ones, and with their own default, which far ones are ahead of.
    #[test]
    fn the_default_of_a_level_is_kept_where_its_own_chunks_tie() {
        let asked = question("4x 980 pro 1tb", "vm", 1);
        let (candidates, _) = asked.candidates().unwrap();
        let far = layout("md-raid10-f2", "16KiB", "256");
        let [near, default] = ["64KiB", "512KiB"].map(|chunk| layout("md-raid10", chunk, "256"));
        let picked = |of_default: f64| {
            let rows = [(&far, 100.0, 5), (&near, 94.0, 5), (&default, of_default, 5)];
            let (place, why) = pick(&candidates, &asked, &ranked(&rows, 0.08)).unwrap().unwrap();
            (candidates[place].chunk, why)
        };
        assert_eq!(picked(92.0), ("512KiB", Why::DefaultOfSafest));
        assert_eq!(picked(94.0), ("512KiB", Why::Default));
        assert_eq!(picked(80.0).0, "64KiB");
    }

    /// The race leaves what is behind with one seed; where the others' further seeds were slower, that one was first.
    #[test]
    fn what_one_lucky_seed_puts_first_is_tried_again() {
        let [one, other] = ["md-raid10", "md-raid5"].map(|level| layout(level, "512KiB", "256"));
        let first = |trials: [usize; 2]| {
            let verdict = ranked(&[(&one, 105.0, trials[0]), (&other, 100.0, trials[1])], 0.08);
            first_by_fewer_trials(&verdict).map(|(of, most)| (is_at(&one, &of.at), most))
        };
        assert_eq!(first([1, 3]), Some((true, 3)));
        assert_eq!([[3, 3], [3, 1], [1, 1]].map(first), [None; 3]);
    }
}
