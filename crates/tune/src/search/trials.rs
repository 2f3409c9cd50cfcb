//! Measures layouts: each a cell of the experiment, run by what runs every experiment.

use crate::beforehand::Parted;
use crate::question::Question;
use crate::question::candidate::Candidate;
use crate::search::clock::{Clock, For, unless_stopped};
use crate::search::lanes::side_by_side;
use lab::experiment::Experiment;
use lab::rig::Rig;
use lab::run::Run;
use lab::{Error, Keep, Result};
use std::collections::BTreeMap;
use store::Manifest;
use store::record::Record;
use verdict::judge::layouts::NOT_MEASURED;
use verdict::{Verdict, Wishes};

/// Short trials may be off by so much more.
pub(crate) const SHORT_ERROR: f64 = 0.1;

/// Seeds at most that a default and what may be better are measured with.
pub(crate) const SETTLED_SEEDS: u64 = 5;

/// The key that ends a short trial, whatever it has found.
pub(crate) const SHORT_BUDGET: &str = "run.budget_requests";

/// A short trial of `experiment` ends here: its interval is as narrow, or it has made so many requests. What is read in order
/// through the page cache takes eight times as many: each program has read several of its windows, of some MiB each, only then,
/// and before that the chunk which is slower in the end is often ahead.
pub(crate) fn short_trial(experiment: &Experiment) -> [(&'static str, &'static str); 2] {
    let is = |name: &str, key: &str, text: &str| {
        let value = experiment.value(&format!("workload.{name}.{key}"));
        value.is_some_and(|value| value.to_string() == text)
    };
    let reads_ahead = |name: &String| {
        is(name, "direct", "false") && is(name, "kind", "sequential") && !is(name, "op", "write")
    };
    let most = if experiment.workloads.iter().any(reads_ahead) { "48000" } else { "6000" };
    [("run.precision", "10%"), (SHORT_BUDGET, most)]
}

/// Keys and their values.
pub(crate) type Settings = Vec<(String, String)>;

/// Runs cells, and keeps what they measured.
pub(crate) struct Tried<'a> {
    pub(crate) question: &'a Question,
    /// Its formulas.
    pub(crate) parted: Parted,
    pub(crate) candidates: &'a [Candidate],
    pub(crate) experiment: Experiment,
    pub(crate) manifest: Manifest,
    pub(crate) records: Vec<Record>,
    rig: &'a dyn Rig,
    watch: &'a mut dyn FnMut(usize),
    /// Cells measured.
    pub(crate) count: usize,
    /// Whether all of it stands beside an answer: a time limit then ends no search.
    pub(crate) is_beside: bool,
    /// Short trials of all cells: they rank the cells, and are no part of what is measured.
    pub(crate) short: Vec<Record>,
}

impl<'a> Tried<'a> {
    pub(crate) fn new(
        question: &'a Question,
        candidates: &'a [Candidate],
        rig: &'a dyn Rig,
        watch: &'a mut dyn FnMut(usize),
    ) -> Result<Self> {
        let experiment = question.experiment()?;
        let manifest = Run::plan(&experiment, rig)?.manifest().clone();
        Ok(Tried {
            question,
            parted: question.parted()?,
            candidates,
            experiment,
            manifest,
            records: Vec::new(),
            rig,
            watch,
            count: 0,
            is_beside: false,
            short: Vec::new(),
        })
    }

    /// What runs the cells.
    pub(crate) fn rig(&self) -> &dyn Rig {
        self.rig
    }

    pub(crate) fn wishes(&self) -> Wishes {
        Wishes {
            safe: self.question.safe,
            objectives: self.parted.objectives.clone(),
            subject_to: self.parted.subject_to.clone(),
            choose: Vec::new(),
        }
    }

    /// Runs `which` with a seed.
    pub(crate) fn measure(&mut self, which: &[usize], seed: u64) -> Result<Vec<Option<f64>>> {
        let cells: Vec<Settings> =
            which.iter().map(|&cell| self.candidates[cell].settings()).collect();
        let ran = self.run_for(For::Choice, &cells, seed)?;
        self.count += ran.iter().flatten().count();
        self.records.extend(ran.into_iter().flatten().flatten());
        (self.watch)(self.count + self.short.len());
        if self.count == 0 {
            return self.clock().nothing_measured(self.first_by_short().as_deref());
        }
        Ok(self.scores(&self.verdict()?, which))
    }

    /// What a short trial of every cell says: a score each, and nothing where the time is over before any.
    pub(crate) fn rank(&mut self) -> Result<Vec<Option<f64>>> {
        let short =
            short_trial(&self.experiment).map(|(key, value)| (key.to_string(), value.to_string()));
        let order = in_turn(self.candidates);
        let cells = order.iter().map(|&place| {
            let own = self.candidates[place].settings().into_iter();
            own.chain(short.iter().cloned()).collect::<Settings>()
        });
        let ran = self.run_for(For::Ranking, &cells.collect::<Vec<_>>(), 0)?;
        let mut ran: Vec<(usize, Option<Vec<Record>>)> = order.into_iter().zip(ran).collect();
        ran.sort_by_key(|(place, _)| *place);
        let mut records: Vec<Record> =
            ran.into_iter().filter_map(|(_, ran)| ran).flatten().collect();
        if records.is_empty() {
            return Ok(Vec::new());
        }
        take_as_steady(&mut records);
        self.short = records;
        (self.watch)(self.short.len());
        let which: Vec<usize> = (0..self.candidates.len()).collect();
        Ok(self.scores(&self.short_verdict()?, &which))
    }

    /// What short trials have first, by name.
    fn first_by_short(&self) -> Option<String> {
        let verdict = if self.short.is_empty() { None } else { self.short_verdict().ok() };
        let verdict = verdict?;
        let first = verdict.ranked.first()?;
        self.candidates.iter().find(|of| is_at(of, &first.at)).map(Candidate::name)
    }

    /// The verdict on the short trials.
    pub(crate) fn short_verdict(&self) -> Result<Verdict> {
        Verdict::new(&self.manifest, &self.short, &self.wishes())
    }

    /// Until when trials are begun.
    pub(crate) fn clock(&self) -> &Clock {
        &self.question.clock
    }

    /// Runs the experiment with each of these settings, as many side by side as the rig takes; in their order, and nothing of
    /// those for which there is no time. The first that fails ends the others.
    fn run_for(
        &self,
        what: For,
        cells: &[Settings],
        seed: u64,
    ) -> Result<Vec<Option<Vec<Record>>>> {
        let experiments: Vec<Experiment> =
            cells.iter().map(|settings| self.with(settings, seed)).collect::<Result<_>>()?;
        let what = if self.is_beside { For::Beside } else { what };
        let lanes = self.rig.capabilities().lanes;
        let is_last = |ran: &Option<Result<_>>| ran.as_ref().is_some_and(Result::is_err);
        let rig = self.clock().stopping(self.rig);
        let run =
            |experiment: &Experiment| unless_stopped(numbered(run_alone(experiment, &rig), seed));
        let ran = self.clock().in_time(what, (lanes, &experiments), is_last, run);
        ran.into_iter().map(Option::transpose).collect()
    }

    /// Runs experiments of one cell each in their order, where none begins once the clock is late: nothing then, as some are
    /// missing. These are what-ifs: one that is refused has no records, and is no error of the answer.
    pub(crate) fn run_in_time(
        &self,
        experiments: &[Experiment],
        clock: &Clock,
    ) -> Result<Option<Vec<Vec<Record>>>> {
        let lanes = self.rig.capabilities().lanes;
        let rig = clock.stopping_what_ifs(self.rig);
        let run = |experiment: &Experiment| {
            if clock.is_late() {
                return Ok(None);
            }
            match unless_stopped(run_alone(experiment, &rig)) {
                Some(Err(Error::Input(_))) => Ok(Some(Vec::new())),
                ran => ran.transpose(),
            }
        };
        let is_last = |ran: &Result<Option<_>>| !matches!(ran, Ok(Some(_)));
        let ran: Result<Vec<_>> =
            side_by_side(lanes, experiments, is_last, run).into_iter().collect();
        Ok(ran?.into_iter().collect())
    }

    /// Runs each experiment, of one cell, as the repeat of its number; one that fails does not end the others.
    pub(crate) fn run_each(&self, experiments: &[(u64, Experiment)]) -> Vec<Result<Vec<Record>>> {
        let lanes = self.rig.capabilities().lanes;
        let rig = self.clock().stopping(self.rig);
        let run = |(seed, experiment): &(u64, Experiment)| {
            unless_stopped(numbered(run_alone(experiment, &rig), *seed))
        };
        let ran = self.clock().in_time(For::Beside, (lanes, experiments), |_| false, run);
        ran.into_iter().map(|ran| ran.unwrap_or_else(|| Err(self.clock().over()))).collect()
    }

    pub(crate) fn with(&self, settings: &Settings, seed: u64) -> Result<Experiment> {
        self.settled(&self.experiment, settings, seed)
    }

    /// One cell of an experiment such as this one.
    pub(crate) fn settled(
        &self,
        experiment: &Experiment,
        settings: &Settings,
        seed: u64,
    ) -> Result<Experiment> {
        let mut experiment = experiment.clone();
        for (path, value) in settings {
            experiment.set_values(path, value)?;
        }
        experiment.set_values("run.seed", &(self.question.seed + seed).to_string())?;
        Ok(experiment)
    }

    /// What the objective says of a short trial of such an experiment, settled or not.
    pub(crate) fn value_of(
        &self,
        experiment: &Experiment,
        records: &[Record],
    ) -> Result<Option<f64>> {
        let mut records = records.to_vec();
        take_as_steady(&mut records);
        self.value_in_full(experiment, &records)
    }

    /// The same of a trial in full, which says nothing where it has not settled.
    pub(crate) fn value_in_full(
        &self,
        experiment: &Experiment,
        records: &[Record],
    ) -> Result<Option<f64>> {
        let manifest = Run::plan(experiment, self.rig)?.manifest().clone();
        let wishes = Wishes { subject_to: Vec::new(), ..self.wishes() };
        match Verdict::new(&manifest, records, &wishes) {
            Ok(verdict) => Ok(verdict.ranked.first().map(|ranked| ranked.value)),
            // What the objective names was measured in full; a short trial may end before there is any, as of commits.
            Err(error) if error.to_string().contains(NOT_MEASURED) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the question says nothing of a key, so that the search had what it is by itself.
    pub(crate) fn leaves_open(&self, key: &str) -> bool {
        !self.experiment.settings().contains_key(key)
    }

    /// What a cell measured.
    pub(crate) fn of(&self, candidate: &Candidate) -> Vec<Record> {
        self.records.iter().filter(|of| is_at(candidate, &of.at)).cloned().collect()
    }

    /// What a cell measured with so much added to the seed.
    pub(crate) fn of_seed(&self, candidate: &Candidate, seed: u64) -> Vec<Record> {
        let is_it = |of: &&Record| of.repeat == seed && is_at(candidate, &of.at);
        self.records.iter().filter(is_it).cloned().collect()
    }

    /// The verdict on what was measured so far.
    pub(crate) fn verdict(&self) -> Result<Verdict> {
        Verdict::new(&self.manifest, &self.records, &self.wishes())
    }

    /// What the objective says of each of `which`: greater is better; nothing of a cell that may not be chosen.
    fn scores(&self, verdict: &Verdict, which: &[usize]) -> Vec<Option<f64>> {
        let score = |&cell: &usize| {
            let candidate = &self.candidates[cell];
            let ranked = verdict.ranked.iter().find(|ranked| is_at(candidate, &ranked.at))?;
            Some(verdict.better.ahead(ranked.value, 1.0))
        };
        which.iter().map(score).collect()
    }
}

/// The places of layouts of all levels in turn, the first of each first: where the time ends, each level has had some of it.
pub(crate) fn in_turn(candidates: &[Candidate]) -> Vec<usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let nth = |of: &Candidate| {
        let count = counts.entry(of.level.name).or_default();
        *count += 1;
        *count
    };
    let turns: Vec<usize> = candidates.iter().map(nth).collect();
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|&place| (turns[place], place));
    order
}

/// A trial that has not settled yet ranks as well as it can.
pub(crate) fn take_as_steady(records: &mut [Record]) {
    for record in records.iter_mut().filter(|record| record.samples.contains("steady")) {
        record.samples.insert("steady", 1.0);
    }
}

/// What ran, as the repeat of this number.
fn numbered(mut ran: Result<Vec<Record>>, seed: u64) -> Result<Vec<Record>> {
    for record in ran.iter_mut().flatten() {
        record.repeat = seed;
    }
    ran
}

/// Runs an experiment whose trials have a lane to themselves.
pub(crate) fn run_alone(experiment: &Experiment, rig: &dyn Rig) -> Result<Vec<Record>> {
    let run = Run::plan(experiment, rig)?.side_by_side(1);
    run.admit()?;
    Ok(run.open(Keep::Nowhere)?.finish(&mut |_| ())?.joined()?.records())
}

/// Whether these factor values are a candidate's.
pub(crate) fn is_at(
    candidate: &Candidate,
    at: &serde_json::Map<String, serde_json::Value>,
) -> bool {
    let says = |key: &str, value: &str| {
        let stated = at.get(&format!("volume.{key}"));
        stated.is_none_or(|stated| store::record::plain(stated) == value)
    };
    let sectors = block::units::parse_sectors(candidate.chunk).unwrap_or(0).to_string();
    says("level", candidate.level.name)
        && says("interleave", &sectors)
        && says("stripe_cache", candidate.cache)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::question::candidate::DEFAULT_CHUNK;
    use crate::search::remembered::Sim;

    /// Where short trials had half of the time beside the answer, too, all layouts were measured in full instead.
    #[test]
    fn what_stands_beside_the_answer_is_ranked_in_the_second_half_of_the_time() {
        let clock = Clock::default().within("10s", || 0.6);
        let levels = vec!["md-raid10".into()];
        let asked = crate::question::tests::question("4x 980 pro 1tb", "vm", 1);
        let asked = Question { levels, clock, ..asked };
        let (candidates, _) = asked.candidates().unwrap();
        let ranked = [false, true].map(|is_beside| {
            let watch = &mut |_| ();
            let mut tried = Tried::new(&asked, &candidates[..2], &Sim, watch).unwrap();
            tried.is_beside = is_beside;
            tried.rank().unwrap().len()
        });
        assert_eq!(ranked, [0, 2]);
    }

    /// A trial that had begun went on to its end, which may be minutes after the limit.
    #[test]
    fn a_trial_that_is_running_when_the_time_ends_is_stopped() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let looks = AtomicUsize::new(0);
        // Asked before a trial and again and again within.
        let spent = move || f64::from(looks.fetch_add(1, Ordering::Relaxed) >= 4);
        let clock = Clock::default().within("10s", spent);
        let levels = vec!["md-raid6".into()];
        let asked = crate::question::tests::question("8x ST18000NM000J", "backup", 2);
        let asked = Question { levels, clock, ..asked };
        let (candidates, _) = asked.candidates().unwrap();
        let watch = &mut |_| ();
        // What is remembered is over at once.
        let mut tried = Tried::new(&asked, &candidates[..1], &lab::rig::sim::Sim, watch).unwrap();
        let why = tried.measure(&[0], 0).unwrap_err().to_string();
        assert!(why.starts_with("no layout was measured before the time limit was over"), "{why}");
        assert_eq!(asked.clock.left_of_search(), [0, 1]);
    }

    /// What one trial of such a level says, to be changed by a test.
    pub(crate) fn verdict_of(drives: &str, work: &str, level: &str) -> Verdict {
        let question = crate::question::tests::question(drives, work, 1);
        let level = level.parse().unwrap();
        let all = [Candidate {
            level,
            chunk: DEFAULT_CHUNK,
            cache: crate::question::candidate::DEFAULT_CACHE,
        }];
        let watch = &mut |_| ();
        let mut tried = Tried::new(&question, &all, &Sim, watch).unwrap();
        tried.measure(&[0], 0).unwrap();
        tried.verdict().unwrap()
    }
}
