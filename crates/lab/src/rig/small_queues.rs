//! What is said beforehand of queues that hold few requests.

use crate::experiment::{Plan, Trial};
use crate::machine;
use crate::workload::Work;
use sim::workload::Pattern;

/// A warning where requests in order may find no place in queues that hold fewer than Linux's own: what a kernel leaves to its
/// workers then comes out of order. With 4 places a stripe of four disks read at 482 to 680 MB/s there, with 32 at 787 to 1061, and
/// at 1020 to 1042 in the model.
pub(crate) fn warning(origin: &str, plan: &Plan) -> Option<String> {
    plan.trials.iter().any(is_out_of_order).then(|| {
        format!(
            "{origin}: `volume.nr_requests` below Linux's default, with sequential requests: Linux then sends some out of order, which \
             the model does not do, and its rates may be up to 2.2 times too high (docs/md.md); `--on kernel` runs it"
        )
    })
}

fn is_out_of_order(trial: &Trial) -> bool {
    let volume = &trial.setup.volume;
    let is_in_order = |work: &Work| match work {
        Work::Requests(requests) => requests.pattern == Pattern::Sequential,
        _ => false,
    };
    let is_fewer = |requests: u32| (requests as usize) < machine::requests_of_linux(volume);
    let is_small = volume.is_on_linux && volume.nr_requests.is_some_and(is_fewer);
    // Over copies that md keeps the program itself sleeps, and sends the rest in order.
    let has_copies = volume.level.losses_survived(volume.level.members_min()) > 0
        && !volume.level.has_stripe_cache()
        && volume.level.is_run_by_md();
    is_small && !has_copies && trial.works().any(is_in_order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn requests_in_order_through_small_queues_are_doubted() {
        let said = |level: &str, requests: u32, kind: &str| {
            let text = format!(
                "[volume]\ndrives = \"4xst18000nm000j\"\nlevel = \"{level}\"\nnr_requests = {requests}\n[workload.w]\nkind = \"{kind}\"\n\
                 depth = 8"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            warning("x.toml", &plan).is_some()
        };
        assert!(said("md-stripe", 4, "sequential"));
        assert!(!said("md-stripe", 64, "sequential"));
        assert!(!said("md-stripe", 4, "random"));
        assert!(!said("md-raid10", 4, "sequential"));
    }
}
