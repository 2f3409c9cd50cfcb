//! What is said beforehand of volumes of the cloud whose size nobody has said.

use crate::experiment::Plan;
use block::SECTOR_BYTES;
use block::units::format_bytes;
use std::collections::BTreeSet;

/// A warning for volumes that are taken as large as their file's example, and whose limits follow from that.
pub(crate) fn warning(origin: &str, plan: &Plan) -> Option<String> {
    let drives = plan.trials.iter().flat_map(|trial| trial.setup.members());
    let drives = drives.filter_map(|member| member.drive());
    let examples = drives.filter(|drive| drive.has_an_examples_limits());
    let sizes: BTreeSet<(&str, u64)> =
        examples.map(|drive| (drive.name.as_str(), drive.sectors())).collect();
    let (name, _) = sizes.first()?;
    let taken: Vec<String> = sizes
        .iter()
        .map(|(name, sectors)| format!("{name} {}", format_bytes(sectors * SECTOR_BYTES)))
        .collect();
    Some(format!(
        "{origin}: `volume.drives`: no size is given, and IOPS and MB/s depend on it; an example is taken: {}; write `{name}[size=…]`",
        taken.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    fn said(drives: &str) -> Option<String> {
        let text = format!(
            "[volume]\ndrives = \"{drives}\"\nlevel = \"md-stripe\"\n[workload.w]\nkind = \"random\""
        );
        warning("x.toml", &Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap())
    }

    #[test]
    fn an_assumed_size_that_sets_the_limits_is_said() {
        let message = said("2xebs-gp2").unwrap();
        assert!(
            message.contains("an example is taken: ebs-gp2 1000GiB; write `ebs-gp2[size=…]`"),
            "{message}"
        );
        for sized in ["2xebs-gp2[size=200GiB]", "2xebs-gp3", "2xazure-p30", "2xwd740gd"] {
            assert_eq!(said(sized), None, "{sized}");
        }
    }

    #[test]
    fn a_part_of_a_volume_without_a_size_is_refused() {
        let planned = |drives: &str| {
            let text = format!(
                "[volume]\ndrives = \"{drives}\"\nlevel = \"md-stripe\"\n[workload.w]\nkind = \"random\""
            );
            Plan::new(&Experiment::parse("x.toml", &text).unwrap())
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        let message = planned("2xst1:200GiB").unwrap_err();
        assert!(message.contains("write `ebs-st1[size=200GiB]`"), "{message}");
        planned("2xst1[size=1TiB]:200GiB").unwrap();
        planned("2xgp3:200GiB").unwrap();
    }
}
