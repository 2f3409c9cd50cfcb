//! What is said beforehand of queues that hold few requests.

use crate::experiment::{Plan, Trial};
use crate::machine;
use crate::workload::{Requests, Work};
use block::SECTOR_BYTES;
use sim::workload::Pattern;

/// Requests that a queue must hold for Linux to send nearly all of them in order.
const FEW: usize = 32;

/// A warning where requests in order may find no place in queues that hold few: what Linux leaves to its workers then comes out of
/// order, and rates vary from run to run. Over four disks with 4 places three runs of the kernel made 482 to 631 MB/s and of the model 433
/// to 622, with 64 both 1050. Where Linux itself chooses 2 places, as a disk takes one command at a time, a stripe of three WD740GD
/// made 84 and 60 MB/s, and RAID 5 with 256 in flight 19 and 40.
pub(crate) fn warning(origin: &str, plan: &Plan) -> Option<String> {
    let small = plan.trials.iter().find(|trial| is_out_of_order(trial))?;
    let doubt = "Linux then sends some out of order, and rates vary from run to run: the model's were 0.7 to 2.1 times the kernel's \
                 (docs/md.md)";
    Some(if small.setup.volume.nr_requests.is_some() {
        format!(
            "{origin}: `volume.nr_requests` below Linux's default, with sequential requests: {doubt}; `--on kernel` runs it"
        )
    } else {
        format!(
            "{origin}: Linux's queue of a disk that takes so few commands at a time has {} places, with more sequential requests in \
             flight: {doubt}; a SATA disk on AHCI has 64: `--set volume.nr_requests=64`; `--on kernel` runs both",
            machine::requests_of_linux(&small.setup.volume)
        )
    })
}

fn is_out_of_order(trial: &Trial) -> bool {
    let volume = &trial.setup.volume;
    let of_linux = machine::requests_of_linux(volume);
    let places = volume.nr_requests.map_or(of_linux, |said| said as usize);
    let is_chosen = volume.nr_requests.is_some();
    let is_small = if is_chosen { places < of_linux } else { places < FEW };
    // Each chunk of a request may take a place of its own.
    let chunk_bytes = volume.interleave_sectors.max(1) * SECTOR_BYTES;
    let chunks = |requests: &Requests| (requests.mean_bytes() / chunk_bytes as f64).max(1.0);
    let is_in_order = |work: &Work| match work {
        Work::Requests(requests) => {
            requests.pattern == Pattern::Sequential
                && (is_chosen || requests.in_flight() as f64 * chunks(requests) > places as f64)
        }
        _ => false,
    };
    // Over copies that md keeps the program itself sleeps, and sends the rest in order.
    let has_copies = volume.level.losses_survived(volume.level.members_min()) > 0
        && !volume.level.has_stripe_cache()
        && volume.level.is_run_by_md();
    volume.is_on_linux && is_small && !has_copies && trial.works().any(is_in_order)
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
        assert!(said("md-stripe", 16, "sequential"), "one of 64 KiB may be several");
        assert!(!said("md-stripe", 64, "sequential"));
        assert!(!said("md-stripe", 4, "random"));
        assert!(!said("md-raid10", 4, "sequential"));
    }

    /// A stripe of WD740GD was sure of 285 MB/s, where runs of the kernel made 142 to 286.
    #[test]
    fn disks_that_take_one_command_have_small_queues_by_themselves() {
        let said = |drives: &str, level: &str, depth: u32, more: &str| {
            let text = format!(
                "host.name = \"linux-6.1\"\n[volume]\ndrives = \"{drives}\"\nlevel = \"{level}\"\n{more}\n[workload.w]\n\
                 kind = \"sequential\"\ndepth = {depth}"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            warning("x.toml", &plan)
        };
        let doubt = said("4xwd740gd", "md-stripe", 8, "").unwrap();
        assert!(
            doubt.contains("has 2 places") && doubt.contains("--set volume.nr_requests=64"),
            "{doubt}"
        );
        assert!(said("4xwd740gd", "md-raid5", 8, "").is_some());
        assert_eq!(said("4xwd740gd", "md-stripe", 1, ""), None);
        assert!(said("4xwd740gd", "md-stripe", 2, "interleave = \"4KiB\"").is_some());
        assert_eq!(said("4xwd740gd", "md-stripe", 8, "nr_requests = 64"), None);
        assert_eq!(said("4xwd740gd", "md-raid10", 8, ""), None);
        assert_eq!(said("4xst18000nm000j", "md-stripe", 8, ""), None);
    }
}
