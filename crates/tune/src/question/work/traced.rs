//! The work of a block trace.

use super::Work;
use lab::trace::Trace;
use lab::{Error, Result};
use std::path::Path;

/// A trace of fewer requests chooses no layout: its 99th percentile would be that of less than ten.
const TRACED_MIN: u64 = 1000;

impl Work {
    /// The requests of a block trace at their own times: what layouts differ in is how long those take.
    pub(crate) fn trace(name: &str, path: &Path) -> Result<Self> {
        let survey = Trace::open(vec![path.into()], None, Vec::new())
            .and_then(|trace| trace.survey())
            .map_err(|error| {
                error
                    .context("as a block trace")
                    .followed_by("an experiment's file ends in .toml, and a fio job's in .fio")
            })?;
        if survey.requests < TRACED_MIN {
            return Err(Error::input(format!(
                "{name} has {} requests, too few: the 99th percentile would rest on fewer than ten. Use a trace of \
                 {TRACED_MIN} or more; `ileave run` replays this one as it is, by `kind = \"trace\"` in an experiment",
                survey.requests
            )));
        }
        let mut tables = toml::Table::new();
        let about = format!(
            "{} requests of {name} at their own times, {} reads and {} writes in {:.0} s",
            survey.requests,
            survey.reads,
            survey.writes,
            survey.span_ns as f64 / 1e9
        );
        tables.insert("about".into(), about.into());
        tables.insert("objective".into(), "min trace.latency_p99_ms".into());
        let mut work = toml::Table::new();
        work.insert("kind".into(), "trace".into());
        work.insert("file".into(), name.into());
        let works = toml::Table::from_iter([("trace".to_string(), toml::Value::from(work))]);
        tables.insert("workload".into(), works.into());
        Ok(Work { name: "trace".into(), origin: name.into(), tables, ..Work::default() })
    }
}
