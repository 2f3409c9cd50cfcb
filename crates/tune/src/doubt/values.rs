//! What the objective says of short trials, each worked out once.

use crate::tried::Tried;
use lab::Result;
use lab::experiment::Experiment;
use std::cell::OnceCell;
use store::record::Record;

/// What the objective says of each short trial. Each is a whole verdict, and asked for several times: beside every rival,
/// and for what the answer's own figure becomes.
pub(super) struct Values<'a, 'rig> {
    tried: &'a Tried<'rig>,
    trials: Vec<(&'a Experiment, &'a [Record])>,
    known: Vec<OnceCell<Option<f64>>>,
}

impl<'a, 'rig> Values<'a, 'rig> {
    pub(super) fn new(
        tried: &'a Tried<'rig>,
        experiments: &'a [Experiment],
        records: &'a [Vec<Record>],
    ) -> Self {
        let trials = experiments.iter().zip(records.iter().map(Vec::as_slice)).collect();
        let known = experiments.iter().map(|_| OnceCell::new()).collect();
        Values { tried, trials, known }
    }

    pub(super) fn of(&self, place: usize) -> Result<Option<f64>> {
        if let Some(value) = self.known[place].get() {
            return Ok(*value);
        }
        let (experiment, records) = self.trials[place];
        let value = self.tried.value_of(experiment, records)?;
        Ok(*self.known[place].get_or_init(|| value))
    }
}
