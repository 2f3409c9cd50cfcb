//! Keys of `drive` that are set and change nothing.

use crate::catalogue::{Drive, DriveKeys, QueueDiscipline};
use crate::keys::Value;
use std::collections::BTreeMap;

/// What was set, and whether it changed something in any cell: what is without effect in some cells of a sweep is
/// what the sweep is for; what has none in any is a mistake.
#[derive(Clone, Debug, Default)]
pub(super) struct IdleKeys {
    /// Of each drive and key that it does not take: the class of the drive.
    foreign: BTreeMap<(String, &'static str), &'static str>,
    /// Of each drive and discipline: whether it had commands to choose among.
    disciplines: BTreeMap<(String, &'static str), bool>,
}

impl IdleKeys {
    /// Takes down what is set of `drive` in a cell with these values, which `keys` were read from.
    pub(super) fn note(
        &mut self,
        drive: &Drive,
        keys: &DriveKeys,
        values: &BTreeMap<String, Value>,
    ) {
        for key in DriveKeys::KEYS.iter().map(|key| key.name) {
            if values.contains_key(&format!("drive.{key}")) && !drive.takes(key) {
                self.foreign.insert((drive.name.clone(), key), drive.class());
            }
        }
        let chosen = keys.queue_discipline.filter(|&chosen| chosen != QueueDiscipline::Fcfs);
        if let Some(chosen) = chosen.filter(|_| drive.takes("queue_discipline")) {
            let of_drive = (drive.name.clone(), chosen.word());
            // A drive that holds one command has nothing to choose among.
            *self.disciplines.entry(of_drive).or_default() |= drive.queue_depth() > 1;
        }
    }

    /// A warning for each drive and key.
    pub(super) fn warnings(&self, origin: &str) -> Vec<String> {
        let foreign = self.foreign.iter().map(|((drive, key), class)| {
            format!(
                "{origin}: `drive.{key}` has no effect on {drive}, whose class `{class}` does not model it; \
                 remove it, or take another drive"
            )
        });
        let idle = self.disciplines.iter().filter(|(_, has_effect)| !**has_effect);
        let idle = idle.map(|((drive, discipline), _)| {
            format!(
                "{origin}: `drive.queue_discipline` = {discipline} has no effect on {drive}, which queues no \
                 commands; set `drive.queue_depth`, too"
            )
        });
        foreign.chain(idle).collect()
    }
}
