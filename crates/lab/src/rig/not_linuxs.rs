//! What is said beforehand of levels that a Linux host does not have.

use crate::experiment::{Plan, Trial};
use block::Level;
use std::collections::BTreeSet;

/// A warning for levels that are not Linux's on a host that runs Linux: they are arithmetic alone, without md's or dm's way to
/// the members, its merging and its stripe cache, and may rank the other way round than those of the same shape that it has.
pub(crate) fn warning(origin: &str, plan: &Plan) -> Option<String> {
    let named: BTreeSet<&str> = plan.trials.iter().filter_map(not_linuxs).collect();
    let all: Vec<String> = named.iter().map(|name| format!("`{name}`")).collect();
    let verb = match all.len() {
        0 => return None,
        1 => "is not a level",
        _ => "are not levels",
    };
    let of_md = named.iter().map(|name| format!("md-{name}"));
    let (of_md, others): (Vec<_>, Vec<_>) = of_md.partition(|name| name.parse::<Level>().is_ok());
    let of_md = of_md.iter().map(|name| format!("`{name}`"));
    let general = "one of md-…, dm-…, lvm-… or btrfs-…".to_string();
    let write = of_md.chain((!others.is_empty()).then_some(general)).collect::<Vec<_>>().join(", ");
    Some(format!(
        "{origin}: `volume.level`: {} {verb} of Linux, which the host runs: without md's merging and stripe cache the answer may be \
         another one; write {write} for what Linux does",
        all.join(", ")
    ))
}

/// The level of a trial that its host does not have.
fn not_linuxs(trial: &Trial) -> Option<&'static str> {
    let (volume, host) = (&trial.setup.volume, &trial.setup.host);
    let is_other = !volume.level.runs_on_linux() && volume.level.name != "single";
    // What a controller does is no system's.
    (is_other && host.runs_linux() && volume.controller.is_none()).then_some(volume.level.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    /// `raid10` on Linux ranked the other way round than `md-raid10`, and nobody was told.
    #[test]
    fn a_level_that_linux_does_not_have_is_told_of_on_linux() {
        let said = |host: &str, level: &str, more: &str| {
            let text = format!(
                "[host]\nname = '{host}'\n[volume]\ndrives = '4xst18000nm000j'\nlevel = {level}\n{more}[workload.w]\n\
                 kind = 'random'\n"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            warning("x.toml", &plan)
        };
        let both = said("linux-6.1", "['raid10', 'raid5', 'md-raid5']", "").unwrap();
        let begin = "x.toml: `volume.level`: `raid10`, `raid5` are not levels of Linux, which the host runs: ";
        assert!(both.starts_with(begin), "{both}");
        assert!(both.ends_with("write `md-raid10`, `md-raid5` for what Linux does"), "{both}");
        let ccd = said("linux-6.12", "'ccd-stripe'", "").unwrap();
        assert!(
            ccd.ends_with("write one of md-…, dm-…, lvm-… or btrfs-… for what Linux does"),
            "{ccd}"
        );
        for [host, level] in [
            ["linux-6.1", "'md-raid10'"],
            ["linux-6.1", "'lvm-stripe'"],
            ["ideal", "'raid10'"],
            ["ultra2-netbsd-3", "'raid5'"],
        ] {
            assert_eq!(said(host, level, ""), None, "{host} {level}");
        }
        assert_eq!(said("linux-6.1", "'raid10'", "controller = 'crd-5500'\n"), None);
    }
}
