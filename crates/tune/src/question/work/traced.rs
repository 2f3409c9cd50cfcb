//! The work of a block trace.

use super::Work;
use lab::trace::Trace;
use lab::{Error, Result};
use std::path::Path;

/// A trace of fewer requests chooses no layout: its 99th percentile would be that of less than ten.
const TRACED_MIN: u64 = 1000;

impl Work {
    /// The requests of a block trace at their own times, if it has some: what layouts differ in is how long those take.
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
        let has_times = survey.span_ns > 0;
        let when = if has_times {
            format!("in {:.0} s", survey.span_ns as f64 / 1e9)
        } else {
            "without times: as fast as they are done".into()
        };
        let at = if has_times { " at their own times" } else { "" };
        let about = format!(
            "{} requests of {name}{at}, {} reads and {} writes {when}",
            survey.requests, survey.reads, survey.writes
        );
        tables.insert("about".into(), about.into());
        // Without times the rate is what layouts differ in.
        let objective =
            if has_times { "min trace.latency_p99_ms" } else { "max trace.requests_per_s" };
        tables.insert("objective".into(), objective.into());
        let mut work = toml::Table::new();
        work.insert("kind".into(), "trace".into());
        work.insert("file".into(), name.into());
        let works = toml::Table::from_iter([("trace".to_string(), toml::Value::from(work))]);
        tables.insert("workload".into(), works.into());
        Ok(Work { name: "trace".into(), origin: name.into(), tables, ..Work::default() })
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "files of these tests")]
mod tests {
    use super::*;
    use crate::question::Question;
    use crate::question::drives::Drives;
    use lab::experiment::Plan;
    use std::fmt::Write as _;

    /// fio's iolog of version 2 was refused for a key that a trace's file does not have.
    #[test]
    fn a_trace_without_times_is_replayed_as_fast_as_it_is_done() {
        let mut log = "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n".to_string();
        for request in 0..TRACED_MIN {
            writeln!(log, "/dev/sda read {} 4096", request * 7919 % 100_000 * 4096).unwrap();
        }
        let path = std::env::temp_dir().join(format!("ileave-no-times-{}.log", std::process::id()));
        std::fs::write(&path, log).unwrap();
        let drives = Drives::read("4x 980 pro 1tb").unwrap();
        let work = Work::find(&path.display().to_string(), &drives).unwrap();
        assert_eq!(work.tables["objective"].as_str(), Some("max trace.requests_per_s"));
        let about = work.tables["about"].as_str().unwrap();
        assert!(about.ends_with("0 writes without times: as fast as they are done"), "{about}");
        let experiment = Question::new(drives, work).experiment().unwrap();
        let warnings = Plan::new(&experiment).unwrap().warnings;
        std::fs::remove_file(&path).unwrap();
        let said = |text: &str| warnings.iter().any(|warning| warning.contains(text));
        assert!(
            said("has no times") && said("1 in flight (`workload.trace.depth`)"),
            "{warnings:?}"
        );
    }
}
