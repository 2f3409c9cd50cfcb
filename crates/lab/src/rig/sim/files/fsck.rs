//! A tree is unpacked, unmounted, checked as at boot after a crash, and mounted.

use super::{only, unpack};
use crate::error::Result;
use crate::experiment::Trial;
use sim::fs::Session;
use sim::fs::program::fsck::{self, Work};

pub(super) const SAMPLES: [&str; 11] = [
    "fsck_s",
    "fsck_phase_1_s",
    "fsck_phase_2_s",
    "fsck_phase_5_s",
    "fsck_inode_mib",
    "fsck_reads",
    "fsck_cpu_s",
    "umount_s",
    "mount_s",
    "newfs_s",
    "tar_s",
];

/// Runs it.
pub(super) fn run(session: &mut Session, trial: &Trial) -> Result<Vec<f64>> {
    let [made, unpacked] = unpack(session, trial)?;
    let umount = only(session.run([fsck::umount(session.files().clone())]))?.1;
    let host = &trial.setup.host.files;
    let work = Work { inode_ns: host.fsck_inode_ns, entry_ns: host.costs.entry_ns };
    let survey = session.files().at_once(|file_system| file_system.survey());
    let mut phase = |looks| {
        let files = session.files().clone();
        only(session.run([fsck::phase(files, looks, work)])).map(|((), lap)| lap)
    };
    let set_up = phase(survey.set_up)?;
    let phases = [phase(survey.inodes)?, phase(survey.directories)?, phase(survey.groups)?];
    let finish = only(session.run([fsck::finish(session.files().clone(), survey.finish)]))?.1;
    let all = || phases.iter().chain([&set_up, &finish]);
    let mounted = only(session.run([fsck::mount(session.files().clone())]))?.1;
    let inode_bytes = survey.inode_sectors * block::SECTOR_BYTES;
    Ok(vec![
        all().map(|lap| lap.elapsed_s).sum(),
        phases[0].elapsed_s,
        phases[1].elapsed_s,
        phases[2].elapsed_s,
        inode_bytes as f64 / 1_048_576.0,
        all().map(|lap| lap.traffic.reads as f64).sum(),
        all().map(|lap| lap.work_s).sum(),
        umount.elapsed_s,
        mounted.elapsed_s,
        made.elapsed_s,
        unpacked.elapsed_s,
    ])
}
