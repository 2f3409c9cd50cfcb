//! From the question to the answer.

use crate::answer::Tuned;
use crate::beforehand;
use crate::beside::OfQuestion;
use crate::candidate::Candidate;
use crate::clock::Clock;
use crate::commands::{
    CachesOff, Fio, Plan, REGION_KIB, Remembered, Requests, near_level, volumes,
};
use crate::confirm::Confirm;
use crate::doubt::Doubt;
use crate::factors::{Decides, of_md};
use crate::found::Found;
use crate::front::FrontRow;
use crate::groups::Groups;
use crate::page::Page;
use crate::pick::{Picked, Why, first_by_fewer_trials, is_alike, is_default, pick};
use crate::posed::ORIGIN_ASSUMED;
use crate::question::Question;
use crate::rules::of_question;
use crate::search::{Effort, Prior, race};
use crate::tried::{Tried, is_at};
use crate::turns::Line;
use crate::why::Reason;
use crate::without_copies::WithoutCopies;
use crate::work::names_its_cache;
use crate::{costs, danger, degraded, doubt, front, provisioned, settings, turns, why};
use block::SECTOR_BYTES;
use lab::experiment::Experiment;
use lab::rig::Rig;
use lab::run::Run;
use lab::{Error, Result};
use serde_json::{Value as Json, json};
use verdict::Verdict;
use verdict::judge::{Point, Ranked};

/// What is measured at once, and how often.
const EFFORT: Effort = Effort { exhaustive: 16, seeds: 3, near: 0.15, at_least: 1 };

/// Up to so many cells are all measured; of more, short trials say which.
const ALL_MAX: usize = 6;

/// Seeds at most that a default and what may be better are measured with.
pub(crate) const SETTLED_SEEDS: u64 = 5;

/// Seeds of what may be chosen where rates hang on how spindles stand to each other: one layout then makes two or three rates, and
/// with ten seeds a choice still turned on which.
const SPINDLE_SEEDS: u64 = 20;

/// Short trials may be off by so much more.
const SHORT_ERROR: f64 = 0.1;

/// Layouts at most that are so, one after the other: what is reliably slower is kept no more, and the next may be.
const KEPT_MAX: usize = 4;

/// The place of the level in a candidate's places.
const LEVEL: usize = 0;

/// Answers a question; `watch` is told how many cells are measured.
///
/// # Errors
///
/// Where nothing can be chosen, or the work cannot be run.
pub fn tune(
    question: &Question,
    rig: &dyn Rig,
    confirm: Option<&Confirm<'_>>,
    watch: &mut dyn FnMut(usize),
) -> Result<Tuned> {
    // What the last answer left out is nothing of this one's.
    let question = Question { clock: question.clock.anew(), ..question.clone() };
    answered(&question, rig, confirm, watch)
}

fn answered(
    question: &Question,
    rig: &dyn Rig,
    confirm: Option<&Confirm<'_>>,
    watch: &mut dyn FnMut(usize),
) -> Result<Tuned> {
    let clock = &question.clock;
    let (candidates, places) = question.candidates()?;
    let mut tried = Tried::new(question, &candidates, rig, watch)?;
    confirm.map_or(Ok(()), |confirm| confirm.admit(&tried.experiment))?;
    let Searched { verdict, picked: (best, why) } = search(&mut tried, &candidates, &places)?;
    let evaluations = tried.count;
    let (confirm, unconfirmed) = clock.has_time_for(confirm);
    let asked = confirm.map(|confirm| confirm.ask(&tried, &verdict, best)).transpose()?;
    let there = asked.as_ref().filter(|(confirmed, _)| !confirmed.without_processor);
    let turned = there.filter(|(confirmed, _)| !confirmed.holds);
    let turned = turned.map_or(Ok(None), |(_, there)| pick(&candidates, question, there))?;
    let (best, why) = turned.unwrap_or((best, why));
    let (rules, verdict) = of_question::by_rules(&mut tried, &candidates, best, verdict)?;
    let best = &candidates[best];
    let than = why.than().map(|place| &candidates[place]);
    // What is measured on a slower rig is what counts.
    let judged = there.map_or(&verdict, |(_, there)| there);
    let Some(first) = judged.ranked.iter().find(|ranked| is_at(best, &ranked.at)) else {
        return Err(Error::failure("the best layout is not ranked any more; this is our mistake"));
    };
    let second = judged.ranked.iter().find(|ranked| ranked.at != first.at);
    let other = second.and_then(|second| candidates.iter().find(|of| is_at(of, &second.at)));
    let (risk, inputs) = question.risk(&best.level)?;
    let (groups, (front, degraded)) = front_of(&tried, &verdict, best)?;
    let decides = Decides::of_question(&tried, &verdict)?;
    let confirmed = asked.as_ref().map(|(confirmed, _)| confirmed);
    let points = &points_of(&tried, first, (&verdict, there.map(|(_, there)| there)))?;
    let found =
        Found { question, best, first, second, other, why, than, judged, points, confirmed };
    let beside = OfQuestion { tried: &tried, best }.beside(&inputs)?;
    let without_copies = WithoutCopies::measure(&tried, best)?;
    // What may be cut short comes last.
    let LastTrials { reasons, doubts, not_tried } =
        LastTrials::measure(&tried, (best, other), (&verdict, judged), clock)?;
    let mut lines = found.lines(&risk, &inputs, &front);
    let plan = beside.plan(found.beside_near(plan(question, &tried.experiment, best)));
    lines.extend(plan.caches_line().into_iter().chain(raidz3_line(&plan, question)));
    after_doubts(&mut lines, question, &doubts, (first.value, &judged.unit))?;
    lines.extend(groups.map(|of| of.line(question, &front, (first.value, judged.better))));
    lines.extend(costs::line(&tried, best, &verdict));
    lines.extend(without_copies.as_ref().map(WithoutCopies::line));
    lines.extend(beside.lines().chain(degraded).chain(decides.line(of_md)));
    let not_tried = clock.not_tried(unconfirmed, not_tried);
    lines.extend(turns::lines(&doubts));
    clock.say(&mut lines, &not_tried);
    let [short_evaluations_left, evaluations_left] = clock.left_of_search();
    Ok(Tuned {
        best: first.at.clone(),
        runner_up: second.map(|second| second.at.clone()),
        difference: found.difference(),
        verdict: found.sentence(&tried.of(best)) + clock.caveat(),
        decides,
        page: Page::of(&tried.manifest, tried.records.clone(), verdict.clone()),
        front: front.clone(),
        risk: danger::json(&risk, &inputs),
        lines,
        sensitivity: doubts,
        not_tried,
        reasons,
        rules,
        commands: plan.commands(),
        bitmap: beside.bitmap,
        scheduler: beside.scheduler,
        read_ahead: beside.read_ahead,
        blocks: beside.blocks,
        mount: beside.mount,
        without_copies,
        assumed: assumed(question, &tried),
        confirmed: confirmed.cloned(),
        warnings: warnings(&tried, best)?,
        evaluations,
        evaluations_left,
        short_evaluations: tried.short.len(),
        short_evaluations_left,
        exhaustive_evaluations: candidates.len() * EFFORT.seeds as usize,
        experiment: question.experiment_text()?,
        origin: ORIGIN_ASSUMED,
    })
}

/// Levels that are named and not tried, and what is said of the work where it runs on the layout that is chosen, as that nothing polls
/// through md; what was said of the work before is not said again.
fn warnings(tried: &Tried<'_>, best: &Candidate) -> Result<Vec<String>> {
    let plan = Run::plan(&tried.with(&best.settings(), 0)?, tried.rig())?;
    let is_known =
        |told: &str| tried.question.work.warnings.iter().any(|known| told.contains(known.as_str()));
    let of_work = plan.warnings().iter();
    let of_work = of_work.filter(|told| told.contains("`workload.") && !is_known(told));
    Ok(tried.question.left_out().into_iter().chain(of_work.cloned()).collect())
}

/// What stands below the answer, of the layout that is recommended; what a slower rig measured is as it was judged there.
fn points_of(
    tried: &Tried<'_>,
    first: &Ranked,
    (verdict, there): (&Verdict, Option<&Verdict>),
) -> Result<Vec<Point>> {
    let own = || verdict.points_for(&first.at, &tried.manifest, &tried.records, &tried.wishes());
    there.map_or_else(own, |there| Ok(there.points.clone()))
}

/// What is tried once it is known what to build.
struct LastTrials {
    reasons: Vec<Reason>,
    doubts: Vec<Doubt>,
    not_tried: Vec<String>,
}

impl LastTrials {
    fn measure(
        tried: &Tried<'_>,
        (best, other): (&Candidate, Option<&Candidate>),
        (verdict, judged): (&Verdict, &Verdict),
        clock: &Clock,
    ) -> Result<LastTrials> {
        let (reasons, mut not_tried) = match other {
            Some(other) => why::reasons(tried, best, other, (verdict, clock))?,
            None => (Vec::new(), Vec::new()),
        };
        let (doubts, left) = doubts(tried, best, judged, (other, &reasons, clock))?;
        not_tried.extend(left);
        Ok(LastTrials { reasons, doubts, not_tried })
    }
}

/// Puts what the answer's `value` rests on behind what is said of how sure the answer is.
fn after_doubts(
    lines: &mut Vec<Line>,
    question: &Question,
    doubts: &[Doubt],
    value: (f64, &str),
) -> Result<()> {
    let more = turns::guesses(doubts, question, value).into_iter();
    turns::put_behind_doubts(lines, more.chain(provisioned::of_question(question)?));
    Ok(())
}

/// The front, with what more spares make of the drives, and what is said of it with a failed drive.
fn front_of(
    tried: &Tried<'_>,
    verdict: &Verdict,
    best: &Candidate,
) -> Result<(Option<Groups>, degraded::Front)> {
    let groups = Groups::measure(tried)?;
    let all = groups.as_ref().map_or(verdict, |groups| &groups.verdict);
    let front = degraded::front(tried, all, best, groups.as_ref())?;
    Ok((groups, front))
}

/// What a search found.
struct Searched {
    verdict: Verdict,
    /// What to build, and why.
    picked: Picked,
}

/// Searches the candidates. What published rules name is measured too, and may be better than what short trials had put first.
fn search(
    tried: &mut Tried<'_>,
    candidates: &[Candidate],
    places: &[Vec<usize>],
) -> Result<Searched> {
    let (verdict, picked) = raced(tried, candidates, places).map_err(beforehand::with_names)?;
    let Some(picked) = picked else {
        return Err(nothing_found(&verdict));
    };
    let (best, _) = picked;
    let (_, more) = of_question::measured(tried, candidates, best)?;
    let (verdict, picked) = if more {
        let (verdict, settled) = settled(tried, candidates)?;
        (verdict, settled.unwrap_or(picked))
    } else {
        (verdict, picked)
    };
    if !measure_defaults_of_front(tried, &verdict, picked.0)? {
        return Ok(Searched { verdict, picked });
    }
    let verdict = tried.verdict()?;
    let picked = pick(candidates, tried.question, &verdict)?.unwrap_or(picked);
    Ok(Searched { verdict, picked })
}

/// Measures the default of each other level on the front as often as its fastest, where short trials do not have it far behind:
/// there it is shown where nothing of its level is reliably better. Whether there were any.
fn measure_defaults_of_front(
    tried: &mut Tried<'_>,
    verdict: &Verdict,
    best: usize,
) -> Result<bool> {
    let candidates = tried.candidates;
    let rows = front::front(tried.question, verdict, &candidates[best], None)?;
    let levels = rows.iter().filter_map(FrontRow::level);
    let short = if tried.short.is_empty() { None } else { Some(tried.short_verdict()?) };
    let value = |place: usize| {
        let ranked = short.as_ref()?.ranked.iter();
        ranked.clone().find(|of| is_at(&candidates[place], &of.at)).map(|of| of.value)
    };
    let mut asked: Vec<(usize, usize)> = Vec::new();
    for level in levels.filter(|level| *level != candidates[best].level) {
        let place = |ranked: &Ranked| candidates.iter().position(|of| is_at(of, &ranked.at));
        let mut measured = verdict.ranked.iter().filter_map(|of| Some((place(of)?, of.trials)));
        let fastest = measured.find(|(place, _)| candidates[*place].level == level);
        let default = candidates.iter().position(|of| of.level == level && is_default(of));
        let (Some((fastest, trials)), Some(default)) = (fastest, default) else { continue };
        let behind = value(fastest).zip(value(default));
        let behind = behind.map_or(0.0, |(own, other)| verdict.better.ahead(own, other));
        if default != fastest && behind <= verdict.noise.half_width(trials, trials) + SHORT_ERROR {
            asked.push((default, trials));
        }
    }
    let before = tried.count;
    for (place, trials) in asked {
        for seed in 0..trials as u64 {
            measure_missing(tried, &[place], seed)?;
        }
    }
    Ok(tried.count > before)
}

/// Measures what decides, and says what to build; nothing where no candidate may be chosen.
pub(crate) fn raced(
    tried: &mut Tried<'_>,
    candidates: &[Candidate],
    places: &[Vec<usize>],
) -> Result<(Verdict, Option<Picked>)> {
    let question = tried.question;
    let ranks = if candidates.len() > ALL_MAX { tried.rank()? } else { Vec::new() };
    let prior = (!ranks.is_empty()).then_some(Prior { scores: &ranks, kinds: LEVEL });
    race(places, prior, EFFORT, &mut |which, seed| tried.measure(which, seed))?;
    measure_default(tried, candidates, question)?;
    settled(tried, candidates)
}

/// What was measured, and what to build. What is kept although another layout is ahead by more than models err gets as many
/// seeds as that one, up to five: few trials make wide intervals, and a default with one would tie with what is 15 % faster.
fn settled(tried: &mut Tried<'_>, candidates: &[Candidate]) -> Result<(Verdict, Option<Picked>)> {
    let question = tried.question;
    even_out(tried)?;
    let mut verdict = tried.verdict()?;
    let mut picked = pick(candidates, question, &verdict)?;
    for _ in 0..KEPT_MAX {
        let Some(both) = unsettled(candidates, &verdict, picked) else { break };
        for seed in 1..SETTLED_SEEDS {
            measure_missing(tried, &both, seed)?;
        }
        verdict = tried.verdict()?;
        let next = pick(candidates, question, &verdict)?;
        if next == picked {
            break;
        }
        picked = next;
    }
    by_spindles(tried, verdict, picked)
}

/// Measures what is first with as many seeds as any other has: differences are those of medians over unlike numbers of seeds, and what is
/// first by one of them may owe that to the seed. Nothing else has to be evened out. Trials of the same seed share some of its luck,
/// so that intervals which take them as independent are too wide, and never too narrow; and fewer trials make them wider still.
fn even_out(tried: &mut Tried<'_>) -> Result<()> {
    for _ in 0..KEPT_MAX {
        let verdict = tried.verdict()?;
        let Some((first, most)) = first_by_fewer_trials(&verdict) else { break };
        let place = tried.candidates.iter().position(|of| is_at(of, &first.at));
        let Some(place) = place else { break };
        let before = tried.count;
        for seed in 0..most as u64 {
            measure_missing(tried, &[place], seed)?;
        }
        if tried.count == before {
            break;
        }
    }
    Ok(())
}

/// Measures what has not run with this seed.
fn measure_missing(tried: &mut Tried<'_>, places: &[usize], seed: u64) -> Result<()> {
    let is_missing = |&place: &usize| tried.of_seed(&tried.candidates[place], seed).is_empty();
    let missing: Vec<usize> = places.iter().copied().filter(is_missing).collect();
    if !missing.is_empty() {
        tried.measure(&missing, seed)?;
    }
    Ok(())
}

/// Where rates hang on how spindles stand, what may be chosen gets many seeds: what is picked, the fastest, the next of
/// another level, and md's own chunk.
fn by_spindles(
    tried: &mut Tried<'_>,
    mut verdict: Verdict,
    mut picked: Option<Picked>,
) -> Result<(Verdict, Option<Picked>)> {
    let candidates = tried.candidates;
    for _ in 0..KEPT_MAX {
        let hangs = verdict.points.iter().any(|point| point.about == "spindles");
        let (true, Some((best, _))) = (hangs, picked) else { break };
        let ranked = verdict.ranked.iter();
        let mut order =
            ranked.filter_map(|ranked| candidates.iter().position(|of| is_at(of, &ranked.at)));
        let measured: Vec<usize> = order.by_ref().collect();
        let of_another = |&place: &usize| candidates[place].level != candidates[best].level;
        let is_default = |&place: &usize| {
            is_default(&candidates[place])
                && is_alike(tried.question, &candidates[place].level, &candidates[best].level)
        };
        let mut contested: Vec<usize> =
            [best].into_iter().chain(measured.first().copied()).collect();
        contested.extend(measured.iter().copied().find(of_another));
        contested.extend(measured.iter().copied().filter(is_default));
        contested.sort_unstable();
        contested.dedup();
        let before = tried.count;
        for seed in 1..SPINDLE_SEEDS {
            measure_missing(tried, &contested, seed)?;
        }
        if tried.count == before {
            break;
        }
        verdict = tried.verdict()?;
        picked = pick(candidates, tried.question, &verdict)?;
    }
    Ok((verdict, picked))
}

/// What is kept for being a default, and the fastest, where that is ahead by more than the model's error.
fn unsettled(
    candidates: &[Candidate],
    verdict: &Verdict,
    picked: Option<Picked>,
) -> Option<[usize; 2]> {
    let (kept, _) = picked.filter(|(_, why)| {
        matches!(why, Why::Default | Why::DefaultOfSafest | Why::Nearest | Why::LessRisk)
    })?;
    let first = verdict.ranked.first()?;
    let fastest = candidates.iter().position(|of| is_at(of, &first.at))?;
    let own = verdict.ranked.iter().find(|ranked| is_at(&candidates[kept], &ranked.at))?;
    let ahead = verdict.better.ahead(first.value, own.value);
    (ahead > verdict.noise.model_error.ln_1p()).then_some([kept, fastest])
}

/// Why nothing is recommended; where a limit is not met, with what the nearest layout has.
fn nothing_found(verdict: &Verdict) -> Error {
    let is_why = |about: &str| ["limit", "not steady", "overloaded"].contains(&about);
    let limits = verdict.points.iter().filter(|point| is_why(&point.about));
    let lines =
        std::iter::once(verdict.answer.as_str()).chain(limits.map(|point| point.text.as_str()));
    let lines: Vec<&str> = lines.collect();
    Error::failure(format!("no layout can be recommended: {}", lines.join("\n")))
}

/// Tries what was assumed otherwise, against what may be ahead then. Trials in full that were made against an `other` count for
/// more.
fn doubts(
    tried: &Tried<'_>,
    best: &Candidate,
    verdict: &Verdict,
    (other, reasons, clock): (Option<&Candidate>, &[Reason], &Clock),
) -> Result<(Vec<Doubt>, Option<String>)> {
    let candidates = tried.candidates;
    let ranked = verdict.ranked.iter().filter_map(|ranked| {
        let candidate = candidates.iter().find(|candidate| is_at(candidate, &ranked.at))?;
        Some((candidate, ranked))
    });
    let ranked: Vec<(&Candidate, &Ranked)> = ranked.collect();
    let Some(own) = ranked.iter().copied().find(|(candidate, _)| *candidate == best) else {
        return Ok((Vec::new(), None));
    };
    let rivals = doubt::rivals(best, &ranked);
    let (mut doubts, left) = doubt::doubts(tried, own, &rivals, (verdict, clock))?;
    if let Some(other) = other {
        let (better, even) = (verdict.better, why::even(verdict));
        doubt::by_full_trials(&mut doubts, other, reasons, (better, even));
    }
    Ok((doubts, left))
}

/// Measures the default of each level that holds and survives as much as the best: it is kept where nothing is better. Where
/// only a rate counts, that of each level.
fn measure_default(
    tried: &mut Tried<'_>,
    candidates: &[Candidate],
    question: &Question,
) -> Result<()> {
    let verdict = tried.verdict()?;
    let is_measured = |of: &Candidate| verdict.ranked.iter().any(|ranked| is_at(of, &ranked.at));
    let best = verdict.ranked.first();
    let best = best.and_then(|best| candidates.iter().find(|of| is_at(of, &best.at)));
    let missing = (0..candidates.len()).filter(|&place| {
        let of = &candidates[place];
        is_default(of)
            && !is_measured(of)
            && best.is_some_and(|best| {
                question.is_unwaited() || is_alike(question, &of.level, &best.level)
            })
    });
    let missing: Vec<usize> = missing.collect();
    if !missing.is_empty() {
        tried.measure(&missing, 0)?;
    }
    Ok(())
}

/// That ZFS has a layout that survives three failures and holds more.
pub(crate) fn raidz3_line(plan: &Plan<'_>, question: &Question) -> Option<(String, String)> {
    let (members, drive) = (plan.members, &question.drives.drive);
    let room = plan.raidz3_members()? as u64 * drive.sectors() * SECTOR_BYTES;
    let text = format!(
        "raidz3 over these {members} drives would hold about {} and survive any 3 failures, too; its speed is not modelled \
         (`ileave risk --level raidz3 --members {members} --drive {}`)",
        front::room(room),
        drive.name
    );
    Some(("ZFS".into(), text))
}

/// How the layout is built.
pub(crate) fn plan<'a>(
    question: &Question,
    experiment: &Experiment,
    best: &'a Candidate,
) -> Plan<'a> {
    let disk = &question.drives.drive;
    let is_off = match experiment.value("drive.write_cache") {
        Some(value) => value.to_string() == "false",
        None => names_its_cache(disk) && !disk.write_cache(),
    };
    let off = CachesOff::of_question(question);
    Plan {
        level: best.level,
        chunk: best.chunk,
        cache: best.cache,
        members: question.members(),
        spares: question.spares,
        devices: question.drives.devices.clone(),
        survive: question.survive,
        caches_off: is_off.then_some(off),
        remembered: Remembered::Nothing,
        with_bitmap: None,
        requests: Requests::of(experiment, None),
        near: near_level(&best.level, question.members())
            .map(|near| format!("`--level {near}` asks about them")),
        region_kib: Some(REGION_KIB),
        scheduler: None,
        read_ahead_kib: None,
        max_sectors_kib: None,
        is_flash: !disk.is_rotational(),
        is_of_cloud: danger::is_of_cloud(disk),
        volumes: volumes(&question.drives.drive, question.members() + question.spares),
        fio: Fio::of(question, &best.level),
        file_system: None,
    }
}

fn assumed(question: &Question, tried: &Tried<'_>) -> Json {
    json!({
        "work": question.work.about(),
        "survive": question.survive,
        "capacity_bytes": question.capacity_bytes,
        "safe": question.safe,
        "spares": question.spares,
        "drives": question.drives.count,
        "price_usd": question.price_usd,
        "budget_usd": question.budget_usd,
        "cost_usd": question.cost_usd(),
        "subject_to": question.subject_to,
        "experiment": settings::json(&tried.experiment),
    })
}
