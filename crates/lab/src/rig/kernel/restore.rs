//! A member that is down is restored onto a blank disk by md itself, while the trial runs.

use crate::error::{Error, Result};
use crate::experiment::Trial;
use crate::rig::mounted::Device;
use crate::rig::site::{Shell, Step};
use std::fs;

/// Why a trial cannot have a member restored, if it cannot.
pub(super) fn check(trial: &Trial) -> Result<()> {
    let volume = &trial.setup.volume;
    if volume.rebuild_bytes_per_s.is_none() {
        return Ok(());
    }
    if volume.level.mdadm().is_none() {
        return Err(Error::input(format!(
            "`volume.rebuild` with `volume.level` = {}: the kernel rig restores members of one array of md; take such a level, \
             or leave out `--on`",
            volume.level
        )));
    }
    if trial.setup.files.is_some() {
        return Err(Error::input(
            "`volume.rebuild` with `fs` works only on sim so far; leave out `--on`",
        ));
    }
    Ok(())
}

/// Gives md a blank disk for the first failed member of `trial`, to be restored at the rate that it asks for whether or not somebody
/// else reads and writes (`sync_speed_min` is as high as `sync_speed_max`), but not before [`begin`]. Gives whether there is one.
///
/// # Errors
///
/// Where md does not take the disk.
pub(super) fn add(
    trial: &Trial,
    array: &str,
    devices: &[Device],
    shell: &mut Shell,
) -> Result<bool> {
    let volume = &trial.setup.volume;
    let (Some(rate), Some(&failed)) = (volume.rebuild_bytes_per_s, volume.failed.first()) else {
        return Ok(false);
    };
    let member = &devices[failed as usize].path;
    // A spare knows nothing of the array: otherwise md might take back what it had.
    shell.run(&Step::new(["mdadm", "--remove", array, member]))?;
    shell.run(&Step::new(["mdadm", "--zero-superblock", member]))?;
    let kib_per_s = (rate / 1024).max(1);
    for key in ["sync_speed_max", "sync_speed_min"] {
        set(array, key, &kib_per_s.to_string(), shell)?;
    }
    // Else md would restore as fast as it can until the trial begins, and in a short trial that would be most of it.
    set(array, "sync_action", "frozen", shell)?;
    shell.run(&Step::new(["mdadm", "--add", array, member]))?;
    Ok(true)
}

/// Has md begin.
///
/// # Errors
///
/// Where it does not take the word.
pub(super) fn begin(array: &str, shell: &mut Shell) -> Result<()> {
    set(array, "sync_action", "idle", shell)
}

fn set(array: &str, key: &str, value: &str, shell: &mut Shell) -> Result<()> {
    let write = format!("echo {value} > /sys/block/$(basename $(readlink -f {array}))/md/{key}");
    shell.run(&Step::new(["sh", "-c", &write])).map(|_| ())
}

/// Which share of the first of so many `failed` members md has restored.
///
/// # Errors
///
/// Where `/proc/mdstat` cannot be read.
pub(super) fn share(failed: usize) -> Result<f64> {
    let text = fs::read_to_string("/proc/mdstat")
        .map_err(|error| Error::failure(format!("the guest's /proc/mdstat: {error}")))?;
    Ok(restored(&text, failed))
}

/// The share in what `/proc/mdstat` says. Where it does not say how far md is, that has not begun, was given up, or is over: then
/// fewer members are missing than have failed.
fn restored(mdstat: &str, failed: usize) -> f64 {
    let numbers = |text: &str| {
        let (one, other) = text.split_once('/')?;
        Some((one.trim().parse::<f64>().ok()?, other.trim().parse::<f64>().ok()?))
    };
    let counts = mdstat.split_once("recovery =").and_then(|(_, rest)| {
        let (counts, _) = rest.split_once('(')?.1.split_once(')')?;
        numbers(counts)
    });
    if let Some((done, all)) = counts {
        return done / all.max(1.0);
    }
    let in_brackets = |word: &'_ str| numbers(word.strip_prefix('[')?.strip_suffix(']')?);
    let members = mdstat.split_whitespace().find_map(in_brackets);
    let is_over = members.is_some_and(|(all, working)| all - working < failed as f64);
    f64::from(u8::from(is_over))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    #[test]
    fn mdstat_says_how_far_a_member_is() {
        let text = "md127 : active raid5 vdb[4] vdc[2] vda[0]\n      9420800 blocks level 5 [4/3] [U_UU]\n\
                    \x20     [==>..........]  recovery = 12.5% (392533/3140266) finish=1.2min speed=37040K/sec\n";
        assert!((restored(text, 1) - 0.125).abs() < 1e-6);
        let without = |members: &str, failed| {
            restored(
                &format!("md127 : active raid6 vdb[4]\n      9420800 blocks {members}\n"),
                failed,
            )
        };
        assert!((without("[4/4] [UUUU]", 1) - 1.0).abs() < 1e-9);
        assert!((without("[4/3] [UUU_]", 2) - 1.0).abs() < 1e-9, "the other one is not restored");
        assert!(without("[4/3] [U_UU]", 1).abs() < 1e-9, "it has not begun, or was given up");
    }

    #[test]
    fn what_is_not_one_array_of_md_is_refused() {
        let error = |level: &str| {
            let text = format!(
                "[volume]\ndrives = '6xst18000nm000j'\nlevel = '{level}'\ninterleave = '64KiB'\nfailed = '1'\n\
                 rebuild = '20MB/s'\n[workload.w]\nkind = 'random'\ncount = 10\n"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            check(&plan.trials[0]).err().map(|error| error.to_string())
        };
        assert_eq!([error("md-raid5"), error("md-raid10")], [None, None]);
        assert!(error("md-raid50").unwrap().contains("one array of md"));
        assert!(error("lvm-raid5").unwrap().contains("one array of md"));
    }
}
