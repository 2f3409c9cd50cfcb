//! The experiment that asks a question.

use crate::question::Question;
use crate::question::candidate::Candidate;
use crate::question::work::names_its_cache;
use lab::Result;
use lab::experiment::{Experiment, check_interleave};
use toml::{Table, Value};

/// Half of the interval at which a trial ends: the search tells apart what differs by more than models err.
const PRECISION: &str = "5%";

/// The host where the work names none.
pub(super) const HOST: &str = "linux-6.1";

impl Question {
    /// The experiment that asks all of it: what `--save` writes and `ileave run` runs.
    ///
    /// # Errors
    ///
    /// Where there is nothing to choose among.
    pub fn experiment_text(&self) -> Result<String> {
        let (candidates, _) = self.candidates()?;
        // An experiment has each chunk on each level; what is for RAID 0 alone is left out beside others.
        let text = self.text(|chunk| {
            let sectors = block::units::parse_sectors(chunk).unwrap_or(0);
            candidates.iter().all(|of| check_interleave(of.level, sectors).is_ok())
        })?;
        self.with_wishes(&text)
    }

    /// The experiment with all that is tried, of chunks those that are so.
    pub(super) fn text(&self, is_kept: impl Fn(&str) -> bool) -> Result<String> {
        self.work.allow(self.objective.iter().chain(&self.subject_to))?;
        let (candidates, _) = self.candidates()?;
        let mut tables = self.work.tables.clone();
        tables.insert("name".into(), format!("tune-{}", self.work.name).into());
        if let Some(objective) = self.as_measured()?.objective {
            tables.insert("objective".into(), objective.into());
        }
        let entry = |tables: &mut Table, name: &str| -> Table {
            tables.remove(name).and_then(|value| value.as_table().cloned()).unwrap_or_default()
        };
        let mut host = entry(&mut tables, "host");
        host.entry("name").or_insert(HOST.into());
        tables.insert("host".into(), host.into());
        let mut run = entry(&mut tables, "run");
        run.insert("seed".into(), self.seed.cast_signed().into());
        run.entry("precision").or_insert(PRECISION.into());
        run.insert("repeats".into(), 1.into());
        tables.insert("run".into(), run.into());
        let mut drive = entry(&mut tables, "drive");
        let disk = &self.drives.drive;
        if disk.takes("write_cache") && self.safe {
            drive.insert("write_cache".into(), false.into());
        } else if !disk.takes("write_cache") || names_its_cache(disk) {
            drive.remove("write_cache");
        }
        if !drive.is_empty() {
            tables.insert("drive".into(), drive.into());
        }
        let mut volume = entry(&mut tables, "volume");
        let distinct = |of: &dyn Fn(&Candidate) -> &'static str, is_kept: &dyn Fn(&str) -> bool| {
            let mut values: Vec<Value> = Vec::new();
            for value in candidates.iter().map(of).filter(|value| is_kept(value)).map(Value::from) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            Value::Array(values)
        };
        volume.insert(
            "drives".into(),
            format!("{}x{}", self.members(), self.drives.drive.name).into(),
        );
        volume.insert("level".into(), distinct(&|candidate| candidate.level.name, &|_| true));
        volume.insert("interleave".into(), distinct(&|candidate| candidate.chunk, &is_kept));
        let caches = candidates.iter().filter_map(|candidate| candidate.cache.parse::<i64>().ok());
        let mut caches: Vec<i64> = caches.collect();
        caches.sort_unstable();
        caches.dedup();
        volume.insert(
            "stripe_cache".into(),
            Value::Array(caches.into_iter().map(Value::from).collect()),
        );
        tables.insert("volume".into(), volume.into());
        Ok(tables.to_string())
    }

    /// What the search takes its cells from, with chunks that only some levels take.
    ///
    /// # Errors
    ///
    /// Where a key of the work's file is wrong.
    pub fn experiment(&self) -> Result<Experiment> {
        Experiment::parse(&self.work.origin, &self.text(|_| true)?)
    }
}
