//! Measures layouts: each a cell of the experiment, run by what runs every experiment.

use crate::question::{Candidate, Question};
use lab::Result;
use lab::experiment::Experiment;
use lab::rig::Rig;
use lab::run::Run;
use lab::{Keep, run};
use store::Manifest;
use store::record::Record;
use verdict::{Verdict, Wishes};

/// Runs cells, and keeps what they measured.
pub(crate) struct Tried<'a> {
    pub(crate) question: &'a Question,
    pub(crate) candidates: &'a [Candidate],
    pub(crate) experiment: Experiment,
    pub(crate) manifest: Manifest,
    pub(crate) records: Vec<Record>,
    rig: &'a dyn Rig,
    watch: &'a mut dyn FnMut(usize),
    /// Cells measured.
    pub(crate) count: usize,
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
            candidates,
            experiment,
            manifest,
            records: Vec::new(),
            rig,
            watch,
            count: 0,
        })
    }

    pub(crate) fn wishes(&self) -> Wishes {
        Wishes {
            safe: self.question.safe,
            objectives: self.question.objective.iter().cloned().collect(),
            subject_to: self.question.subject_to.clone(),
            choose: Vec::new(),
        }
    }

    /// Runs `which` with a seed, those of one level and cache side by side.
    pub(crate) fn measure(&mut self, which: &[usize], seed: u64) -> Result<Vec<Option<f64>>> {
        let mut groups: Vec<(&str, &str, Vec<usize>)> = Vec::new();
        for &cell in which {
            let Candidate { level, cache, .. } = &self.candidates[cell];
            match groups.iter_mut().find(|(name, rows, _)| *name == level.name && rows == cache) {
                Some((_, _, cells)) => cells.push(cell),
                None => groups.push((level.name, cache, vec![cell])),
            }
        }
        for (level, cache, cells) in groups {
            let chunks: Vec<&str> = cells.iter().map(|&cell| self.candidates[cell].chunk).collect();
            let settings =
                [("level", level), ("stripe_cache", cache), ("interleave", &chunks.join(","))];
            let volume = settings.map(|(key, value)| (format!("volume.{key}"), value.to_string()));
            let records = self.run(&volume, seed)?;
            self.records.extend(records);
            self.count += cells.len();
            (self.watch)(self.count);
        }
        self.scores(which)
    }

    /// Runs the experiment with these settings and a seed.
    pub(crate) fn run(&self, settings: &[(String, String)], seed: u64) -> Result<Vec<Record>> {
        let mut experiment = self.experiment.clone();
        for (path, value) in settings {
            experiment.set_values(path, value)?;
        }
        experiment.set_values("run.seed", &(self.question.seed + seed).to_string())?;
        let ran = run(&experiment, self.rig, Keep::Nowhere, &mut |_| ())?;
        let mut records = ran.records();
        for record in &mut records {
            record.repeat = seed;
        }
        Ok(records)
    }

    /// The verdict on what was measured so far.
    pub(crate) fn verdict(&self) -> Result<Verdict> {
        Verdict::new(&self.manifest, &self.records, &self.wishes())
    }

    /// What the objective says of each of `which`: greater is better; nothing of a cell that may not be chosen.
    fn scores(&self, which: &[usize]) -> Result<Vec<Option<f64>>> {
        let verdict = self.verdict()?;
        let score = |&cell: &usize| {
            let candidate = &self.candidates[cell];
            let ranked = verdict.ranked.iter().find(|ranked| is_at(candidate, &ranked.at))?;
            Some(verdict.better.ahead(ranked.value, 1.0))
        };
        Ok(which.iter().map(score).collect())
    }
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
