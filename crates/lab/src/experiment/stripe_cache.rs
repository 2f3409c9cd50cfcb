//! The rows in the stripe cache of md's RAID 4, 5 and 6, and which levels have one.

use super::{Trial, Volume};
use crate::error::{Error, Result};
use block::LEVELS;
use std::collections::BTreeSet;

/// Rows that md gives a stripe cache by itself (`NR_STRIPES` in `drivers/md/raid5.c`).
pub const STRIPE_CACHE_ROWS: u32 = 256;

/// # Errors
///
/// Where rows are asked for and the level has no stripe cache, or a controller runs it: layouts that are the same would be
/// ranked as several.
pub(crate) fn check_stripe_cache(volume: &Volume) -> Result<()> {
    let (rows, level) = (volume.stripe_cache_rows, volume.level);
    let has_one = level.has_stripe_cache() && volume.controller.is_none();
    if has_one || rows == STRIPE_CACHE_ROWS {
        return Ok(());
    }
    let which = if volume.controller.is_some() { " behind a controller" } else { "" };
    Err(Error::input(format!(
        "`volume.stripe_cache` = {rows}: `volume.level` = {level}{which} has no stripe cache; leave it out, or take {}",
        levels_with_one()
    )))
}

/// That these trials are left out, in a line for all of them: a sweep over levels of which some have a stripe cache has many.
pub(crate) fn told_without_stripe_cache(left_out: &[&Trial]) -> Option<String> {
    let levels: BTreeSet<&str> =
        left_out.iter().map(|trial| trial.setup.volume.level.name).collect();
    let levels: Vec<&str> = levels.into_iter().collect();
    let (cells, are) = match left_out.len() {
        0 => return None,
        1 => ("cell", "is"),
        _ => ("cells", "are"),
    };
    Some(format!(
        "`volume.stripe_cache`: {} {cells} {are} left out, as there is no stripe cache there ({}); these have one: {}",
        left_out.len(),
        levels.join(", "),
        levels_with_one()
    ))
}

/// The levels that have one, each shape once: rotations of it are named like it, and so are stripes over several.
fn levels_with_one() -> String {
    let having = LEVELS.iter().filter(|level| level.has_stripe_cache() && level.nested().is_none());
    let having: Vec<&str> = having.map(|level| level.name).collect();
    let is_rotation = |name: &str| {
        having.iter().any(|of| name.strip_prefix(of).is_some_and(|rest| rest.starts_with('-')))
    };
    let plain: Vec<&str> = having.iter().copied().filter(|name| !is_rotation(name)).collect();
    let (last, others) = plain.split_last().expect("some levels have one");
    format!("{} or {last}", others.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};
    use crate::rig::sim::Sim;
    use crate::run::Run;

    fn said(volume: &str) -> Option<String> {
        let text = format!(
            "[volume]\ndrives = '4xst18000nm000j'\n{volume}\n[workload.w]\nkind = 'random'\ncount = 1"
        );
        let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
        let mut said = plan.trials.iter().map(|trial| check_stripe_cache(&trial.setup.volume));
        said.find_map(Result::err).map(|error| error.to_string())
    }

    /// Three sizes of a stripe's stripe cache were compared, and none was better than the others.
    #[test]
    fn levels_without_a_stripe_cache_are_told_which_have_one() {
        for level in ["stripe", "mirror", "raid5", "md-raid10", "raidframe-raid5", "lvm-stripe"] {
            let of = said(&format!("level = '{level}'\nstripe_cache = 1024")).unwrap();
            let begin = format!(
                "`volume.stripe_cache` = 1024: `volume.level` = {level} has no stripe cache; leave it out, or take "
            );
            assert!(of.starts_with(&begin), "{of}");
            assert!(of.ends_with("take lvm-raid5, md-raid4, md-raid5 or md-raid6"), "{of}");
        }
        let swept = said("level = ['stripe', 'md-raid5']\nstripe_cache = [256, 1024]").unwrap();
        assert!(swept.contains("`volume.level` = stripe has no"), "{swept}");
        let behind = "level = 'md-raid5'\ncontroller = 'crd-5500'\nstripe_cache = 1024";
        assert!(said(behind).unwrap().contains("md-raid5 behind a controller has no"));
        for level in ["md-raid4", "md-raid5", "md-raid6", "lvm-raid5", "md-raid5-left-asymmetric"] {
            assert_eq!(said(&format!("level = '{level}'\nstripe_cache = 1024")), None, "{level}");
        }
        assert_eq!(said("level = 'stripe'\nstripe_cache = 256"), None, "what every level has");
    }

    /// A file that `tune` saved had a warning for each of 21 cells.
    #[test]
    fn a_sweep_leaves_out_what_has_none_in_one_line() {
        let text = "[volume]\ndrives = '4xst18000nm000j'\nlevel = ['md-raid10', 'stripe', 'md-raid5']\nstripe_cache = [256, 1024]\n\
                    interleave = ['64KiB', '128KiB']\n[workload.w]\nkind = 'random'\ncount = 1";
        let run = Run::plan(&Experiment::parse("x.toml", text).unwrap(), &Sim).unwrap();
        let cells = run.trials().iter().filter(|trial| trial.repeat == 0).count();
        assert_eq!(cells, 3 * 2 + 2, "each once, and RAID 5 with both caches");
        let said: Vec<&String> =
            run.warnings().iter().filter(|said| said.contains("stripe_cache")).collect();
        assert_eq!(
            said,
            [
                "`volume.stripe_cache`: 4 cells are left out, as there is no stripe cache there (md-raid10, stripe); these have one: \
                 lvm-raid5, md-raid4, md-raid5 or md-raid6"
            ]
        );
        let none = text.replace(", 'md-raid5']", "]").replace("[256, 1024]", "1024");
        let none = Run::plan(&Experiment::parse("x.toml", &none).unwrap(), &Sim).unwrap();
        assert!(none.admit().unwrap_err().to_string().contains("has no stripe cache"));
    }

    /// A log beside RAID 5 is a mirror.
    #[test]
    fn a_log_beside_has_none_and_is_not_refused() {
        let text = "[volume]\ndrives = '4xst18000nm000j'\nlog_drives = '2xst18000nm000j'\nlevel = 'md-raid5'\nstripe_cache = 1024\n\
                    [workload.w]\nkind = 'random'\ncount = 1";
        let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
        check_stripe_cache(plan.trials[0].setup.log.as_ref().unwrap()).unwrap();
    }
}
