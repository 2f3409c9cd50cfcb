//! What is said beforehand of requests that are sorted before the queue that was asked about.

use crate::experiment::{Plan, Trial, Volume};
use crate::machine;
use sim::linux::queue::Scheduler;

/// A warning where a host's elevator, or a driver's own queue, is behind a scheduler of Linux that has sorted before.
pub(crate) fn warning(origin: &str, plan: &Plan) -> Option<String> {
    let key = plan.trials.iter().find_map(sorted_first)?;
    Some(format!(
        "{origin}: `{key}` is behind Linux's mq-deadline, which sorts first; for it alone set `volume.scheduler = \"none\"`"
    ))
}

/// The key of a queue behind Linux's scheduler. Requests of a BSD's file system go through the host's elevator alone.
fn sorted_first(trial: &Trial) -> Option<&'static str> {
    let (volume, host) = (&trial.setup.volume, &trial.setup.host);
    let is_bsds = trial.setup.files.as_ref().is_some_and(|files| !files.is_modelled_on_linux());
    if is_bsds || !has_mq_deadline(volume) {
        return None;
    }
    let keys = [
        ("host.elevator", host.elevator.is_some()),
        ("volume.member_outstanding", volume.member_outstanding.is_some()),
    ];
    keys.into_iter().find(|key| key.1).map(|key| key.0)
}

fn has_mq_deadline(volume: &Volume) -> bool {
    volume.is_on_linux && machine::scheduler(volume) == Scheduler::MqDeadline
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn a_queue_behind_linuxs_scheduler_is_said() {
        let said = |keys: &str| {
            let text = format!(
                "[volume]\ndrives = \"4xst18000nm000j\"\nlevel = \"md-stripe\"\n{keys}\n[workload.w]\nkind = \"random\""
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            warning("x.toml", &plan)
        };
        assert!(said("member_outstanding = 1").unwrap().contains("`volume.member_outstanding` is"));
        assert!(said("[host]\nelevator = \"fcfs\"").unwrap().contains("`host.elevator` is"));
        assert_eq!(said("scheduler = \"none\"\n[host]\nelevator = \"fcfs\""), None);
        assert_eq!(said(""), None);
        let on_files = |kind: &str| {
            let text = format!(
                "[volume]\ndrives = \"4xst18000nm000j:20GiB\"\nlevel = \"md-stripe\"\n[fs]\nkind = \"{kind}\"\n[host]\nelevator = \"c-look\"\n\
                 [workload.w]\nkind = \"touch\"\nfiles = 10\n"
            );
            warning("x.toml", &Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap())
        };
        assert!(on_files("ext4").unwrap().contains("`host.elevator` is"));
    }
}
