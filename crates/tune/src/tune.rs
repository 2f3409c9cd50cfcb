//! From the question to the answer.

use crate::answer::lines_of_question::Found;
use crate::answer::{Page, Tuned, costs, urgent_first};
use crate::beside::bitmap::Remembered;
use crate::beside::{Beside, OfQuestion};
use crate::commands::{
    CacheBy, CachesOff, Fio, Plan, REGION_KIB, Requests, free, is_nvme, near_level, volumes,
};
use crate::danger;
use crate::doubt::{self, Doubt, moved_figures, turns};
use crate::front::degraded;
use crate::front::more_spares::Groups;
use crate::front::row::FrontRow;
use crate::front::without_copies::WithoutCopies;
use crate::question::candidate::Candidate;
use crate::question::work::names_its_cache;
use crate::question::{Question, capacity, provisioned, settings};
use crate::reasons::counterfactual::{self, Reason};
use crate::reasons::factors::{Decides, of_md};
use crate::reasons::published_rules::of_question;
use crate::search::clock::Clock;
use crate::search::confirm::{Confirm, Confirmed};
use crate::search::of_question::{EFFORT, Searched, search};
use crate::search::pick::{Picked, pick};
use crate::search::trials::{Tried, is_at};
use crate::tune_experiment::ORIGIN_ASSUMED;
use crate::words::Line;
use block::SECTOR_BYTES;
use lab::experiment::Experiment;
use lab::rig::Rig;
use lab::run::Run;
use lab::{Error, Result};
use risk::Risk;
use risk::inputs::Inputs;
use serde_json::{Value as Json, json};
use verdict::Verdict;
use verdict::judge::{Point, Ranked};

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
    question.check(rig)?;
    answered(&question, rig, confirm, watch)
}

fn answered(
    question: &Question,
    rig: &dyn Rig,
    confirm: Option<&Confirm<'_>>,
    watch: &mut dyn FnMut(usize),
) -> Result<Tuned> {
    let (clock, (candidates, cells)) = (&question.clock, question.candidates()?);
    let mut tried = Tried::new(question, &candidates, rig, watch)?;
    confirm.map_or(Ok(()), |confirm| confirm.admit(&tried.experiment))?;
    let Searched { verdict, picked: (best, why), count } = search(&mut tried, &candidates, &cells)?;
    let (asked, unconfirmed) = asked(confirm, &tried, &verdict, best)?;
    let there = asked.as_ref().filter(|(confirmed, _)| !confirmed.without_processor);
    let (best, why) = turned(question, &candidates, there)?.unwrap_or((best, why));
    let (rules, verdict) = of_question::by_rules(&mut tried, &candidates, best, verdict)?;
    let (best, than) = (&candidates[best], why.than().map(|place| &candidates[place]));
    // What is measured on a slower rig is what counts.
    let judged = there.map_or(&verdict, |(_, there)| there);
    let first = ranked_of(judged, best)?;
    let second = judged.ranked.iter().find(|ranked| ranked.at != first.at);
    let other = second.and_then(|second| candidates.iter().find(|of| is_at(of, &second.at)));
    let lost = question.risk(&best.level)?;
    let (groups, (mut front, degraded)) = front_of(&tried, &verdict, best)?;
    let decides = Decides::of_question(&tried, &verdict)?;
    let confirmed = asked.as_ref().map(|(confirmed, _)| confirmed);
    let points = &points_of(&tried, first, (&verdict, there.map(|(_, there)| there)))?;
    let found =
        Found { question, best, first, second, other, why, than, judged, points, confirmed };
    let beside = OfQuestion { tried: &tried, best }.told(&found).beside(&lost.1)?;
    let (risk, inputs) = as_built(question, best, lost, (&beside, &mut front))?;
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
    lines.extend(turns::lines(&doubts));
    urgent_first(&mut lines);
    let not_tried = clock.say(&mut lines, unconfirmed.into_iter().chain(not_tried));
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
        commands: free(plan.commands(), &question.drives.names_taken),
        bitmap: beside.bitmap,
        scheduler: beside.scheduler,
        read_ahead: beside.read_ahead,
        align: beside.align,
        blocks: beside.blocks,
        mount: beside.mount,
        without_copies,
        assumed: assumed(question, &tried),
        confirmed: confirmed.cloned(),
        warnings: warnings(&tried, best)?,
        evaluations: count,
        evaluations_left,
        short_evaluations: tried.short.len(),
        short_evaluations_left,
        exhaustive_evaluations: candidates.len() * EFFORT.seeds as usize,
        experiment: question.experiment_text()?,
        origin: ORIGIN_ASSUMED,
    })
}

/// What the best may lose as the commands build it, here and on the front: where no bitmap is, all parity is wrong until it is
/// resynced.
fn as_built(
    question: &Question,
    best: &Candidate,
    lost: (Risk, Inputs),
    (beside, front): (&Beside, &mut [FrontRow]),
) -> Result<(Risk, Inputs)> {
    if beside.bitmap.as_ref().is_none_or(|of| of.instead().is_none()) {
        return Ok(lost);
    }
    // The same work has none on the other levels with parity.
    for row in front.iter_mut().filter(|row| row.torn_by_crash.is_some()) {
        if let Some(level) = row.level() {
            let own = Question { spares: row.spares, ..question.clone() }.risk(&level)?;
            row.torn_by_crash = danger::without_bitmap(&level, row.members, own)?.0.torn;
        }
    }
    danger::without_bitmap(&best.level, question.members(), lost)
}

/// What a slower rig says of the best few, and its verdict.
type There = (Confirmed, Verdict);

/// What a slower rig says, where one is asked; or, in words, that there is no time for it.
fn asked(
    confirm: Option<&Confirm<'_>>,
    tried: &Tried<'_>,
    verdict: &Verdict,
    best: usize,
) -> Result<(Option<There>, Option<String>)> {
    tried.clock().ask(confirm, |confirm| confirm.ask(tried, verdict, best))
}

/// What to build instead, where a slower rig turned the choice.
fn turned(
    question: &Question,
    candidates: &[Candidate],
    there: Option<&There>,
) -> Result<Option<Picked>> {
    match there.filter(|(confirmed, _)| !confirmed.holds) {
        Some((_, there)) => pick(candidates, question, there),
        None => Ok(None),
    }
}

/// How the layout to build is ranked.
fn ranked_of<'v>(judged: &'v Verdict, best: &Candidate) -> Result<&'v Ranked> {
    judged.ranked.iter().find(|ranked| is_at(best, &ranked.at)).ok_or_else(|| {
        Error::failure("the best layout is not ranked any more; this is our mistake")
    })
}

/// Levels that are named and not tried, and what is said of the work where it runs on the layout that is chosen, as
/// that nothing polls through md; what was said of the work before is not said again.
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
    let points = there.map_or_else(own, |there| Ok(there.points.clone()))?;
    Ok(by_name(points, there.unwrap_or(verdict), tried.candidates))
}

/// The same with the names that the answer has for its layouts: `interleave 512KiB, level md-raid10-n3, stripe_cache 256` is
/// what the search called one, and a RAID 10 has no stripe cache.
fn by_name(mut points: Vec<Point>, verdict: &Verdict, candidates: &[Candidate]) -> Vec<Point> {
    let name = |of: &Ranked| {
        let candidate = candidates.iter().find(|candidate| is_at(candidate, &of.at))?;
        Some((of.label.clone(), candidate.name()))
    };
    let mut names: Vec<(String, String)> = verdict.ranked.iter().filter_map(name).collect();
    // A label may begin as another does.
    names.sort_by_key(|(label, _)| std::cmp::Reverse(label.len()));
    for point in &mut points {
        for (label, name) in &names {
            point.text = point.text.replace(label, name);
        }
    }
    points
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
            Some(other) => counterfactual::reasons(tried, best, other, (verdict, clock))?,
            None => (Vec::new(), Vec::new()),
        };
        let (mut doubts, left) = doubts(tried, best, judged, (other, &reasons, clock))?;
        not_tried.extend(left);
        not_tried.extend(moved_figures::in_full(tried, best, &mut doubts, clock)?);
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
        let (better, even) = (verdict.better, counterfactual::even(verdict));
        doubt::by_full_trials(&mut doubts, other, reasons, (better, even));
    }
    Ok((doubts, left))
}

/// That ZFS has a layout that survives three failures and holds more.
pub(crate) fn raidz3_line(plan: &Plan<'_>, question: &Question) -> Option<(String, String)> {
    let (members, drive) = (plan.members, &question.drives.drive);
    let room = plan.raidz3_members()? as u64 * drive.sectors() * SECTOR_BYTES;
    let text = format!(
        "raidz3 over these {members} drives would hold about {} and survive any 3 failures, too; its speed is not modelled \
         (`ileave risk --level raidz3 --members {members} --drive {}`)",
        capacity::room(room),
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
        write_mostly: Vec::new(),
        with_bitmap: None,
        requests: Requests::of(experiment, None),
        near: near_level(&best.level, question.members())
            .map(|near| format!("`--level {near}` asks about them")),
        region_kib: Some(REGION_KIB),
        scheduler: None,
        read_ahead_kib: None,
        max_sectors_kib: None,
        is_nvme: is_nvme(disk),
        cache_by: CacheBy::of(question.drives.is_scsi(), !disk.is_rotational()),
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
        "replaced_after_h": question.replaced_after_h,
        "drives": question.drives.count,
        "price_usd": question.price_usd,
        "budget_usd": question.budget_usd,
        "cost_usd": question.cost_usd(),
        "subject_to": question.subject_to,
        "experiment": settings::json(&tried.experiment),
    })
}
