//! What was measured of the same drives with more spares.

use crate::front::row::FrontRow;
use crate::question::Question;
use crate::question::candidate::Candidate;
use crate::search::trials::is_at;
use block::layout::Level;
use lab::experiment::Experiment;
use store::record::Record;
use verdict::Verdict;

/// The same drives with more spares than the question has, and what was measured of them.
pub(crate) struct MoreSpares {
    pub(crate) question: Question,
    /// The experiment that asks it, and its layouts.
    pub(crate) experiment: Experiment,
    pub(crate) candidates: Vec<Candidate>,
    /// What was measured of these layouts.
    pub(crate) records: Vec<Record>,
}

/// The same drives with more spares, and what was measured of them.
pub(crate) struct Groups {
    /// The question that has them, with the levels that then fit.
    pub(crate) with: MoreSpares,
    /// What was measured of it, and of what was asked about.
    pub(crate) verdict: Verdict,
}

impl MoreSpares {
    /// Whether a row of the front is of one of these layouts.
    pub(crate) fn has(&self, row: &FrontRow) -> bool {
        row.spares == self.question.spares && self.candidates.iter().any(|of| is_at(of, &row.at))
    }
}

impl Groups {
    /// Whether a level is one of these.
    pub(crate) fn has(&self, level: &Level) -> bool {
        self.with.question.levels.iter().any(|name| *name == level.name)
    }
}
