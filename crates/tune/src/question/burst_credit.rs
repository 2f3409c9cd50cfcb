//! Burst credit, which ends: a trial that draws on it is in no steady state and ranks nothing, so that is said before the
//! first one.

use lab::catalogue::Drive;
use lab::experiment::Experiment;
use lab::{Error, Result};

/// The key, of all drives or of those of one workload.
const CREDIT: &str = "drive.credit";

/// The keys by which requests come no faster than somebody says: perhaps no faster than what lasts.
const RATES: [&str; 4] = ["rate", "requests_per_s", "arrivals", "capacity"];

/// Whether layouts on such drives can be ranked with the burst credit that the experiment, which may be that of a file,
/// gives them.
///
/// # Errors
///
/// Where every trial would draw on it.
pub(crate) fn check<'d>(
    experiment: &Experiment,
    drives: impl IntoIterator<Item = &'d Drive>,
    is_of_file: bool,
) -> Result<()> {
    let is_full = |path: &&String| {
        let is_credit = *path == CREDIT || path.ends_with(&format!(".{CREDIT}"));
        let full = || experiment.settings()[*path].values.iter().all(|of| of.to_string() == "full");
        is_credit && full()
    };
    let Some(path) = experiment.settings().keys().find(is_full) else { return Ok(()) };
    let has_a_rate = experiment.workloads.iter().any(|name| {
        let is_set =
            |key: &&str| experiment.settings().contains_key(&format!("workload.{name}.{key}"));
        RATES.iter().any(is_set)
    });
    let bursts = |drive: &Drive| drive.cloud().is_ok_and(lab::catalogue::Cloud::bursts);
    let bursting = drives.into_iter().find(|drive| bursts(drive)).filter(|_| !has_a_rate);
    let Some(drive) = bursting else { return Ok(()) };
    // With a file nothing is saved: it is there.
    let next = if is_of_file {
        format!("`ileave run FILE --set {path}=full` measures the burst")
    } else {
        format!(
            "for the rate of a burst leave out `--set {path}=full`, add `--save mine.toml`, then \
             `ileave run mine.toml --set {path}=full`"
        )
    };
    Err(Error::input(format!(
        "`{path}` = full: burst credit ends, so trials that draw on it rank no layout. Leave it out for what {} does once \
         the credit is spent; {next}",
        drive.name
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;

    /// 53 trials ran for 90 s, and there was no answer.
    #[test]
    fn what_draws_on_burst_credit_is_refused_before_it_runs() {
        let of_any = |drives: &str, work: &str, set: &[&str], is_of_file| {
            let mut asked = question(drives, work, 1);
            for set in set {
                asked.work.set(set).unwrap();
            }
            let said = check(&asked.experiment().unwrap(), [&asked.drives.drive], is_of_file);
            said.map_err(|error| error.to_string())
        };
        let of = |drives: &str, work: &str, set: &[&str]| of_any(drives, work, set, false);
        for (drives, work) in [("8x st1[size=2TiB]", "backup"), ("4x gp2[size=200GiB]", "postgres")]
        {
            assert_eq!(of(drives, work, &[]), Ok(()));
            assert_eq!(of(drives, work, &["drive.credit=spent"]), Ok(()));
            let refused = of(drives, work, &["drive.credit=full"]).unwrap_err();
            let next = "leave out `--set drive.credit=full`, add `--save mine.toml`, then \
                        `ileave run mine.toml --set drive.credit=full`";
            assert!(refused.ends_with(next), "{refused}");
            // `--save` was named there, too, which takes no file beside it.
            let refused = of_any(drives, work, &["drive.credit=full"], true).unwrap_err();
            let next = "; `ileave run FILE --set drive.credit=full` measures the burst";
            assert!(refused.ends_with(next) && !refused.contains("--save"), "{refused}");
        }
        // Some volumes have none, and what comes at a rate may stay below what lasts.
        assert_eq!(of("4x gp3[size=200GiB]", "postgres", &["drive.credit=full"]), Ok(()));
    }
}
