//! `fsck`: a tree is unpacked, unmounted, checked as at boot after a crash, and mounted.

use super::stage::{Program, Stage};
use super::trees::TreeKeys;
use super::untar::unpack;
use super::{Build, Kind};
use crate::error::Result;
use sim::fs::program::fsck::Work;
use sim::fs::program::modelled;
use sim::fs::program::tree::Tree;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "fsck",
    about: "Makes a file system, unpacks a tree, unmounts, runs `fsck -p` and mounts it",
    keys: &[TreeKeys::KEYS],
    samples: &[
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
        "elapsed_s",
        "mb_per_s",
        "cpu_busy",
        "busiest_share",
    ],
    build: Build::Program(|keys, trees| Ok(Arc::new(Fsck { tree: trees.read(keys)? }))),
};

#[derive(Debug)]
struct Fsck {
    tree: Arc<Tree>,
}

impl Program for Fsck {
    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>> {
        let [made, unpacked] = unpack(on, &self.tree, 0)?;
        let files = on.session.files().clone();
        let umount = on.only(modelled::umount(files.clone()))?.1;
        let work = Work { inode_ns: on.host.fsck_inode_ns, entry_ns: on.host.costs.entry_ns };
        let survey = files.at_once(|file_system| file_system.survey());
        let mut phase =
            |looks| on.only(modelled::phase(files.clone(), looks, work)).map(|((), lap)| lap);
        let set_up = phase(survey.set_up)?;
        let phases = [phase(survey.inodes)?, phase(survey.directories)?, phase(survey.groups)?];
        let finish = on.only(modelled::finish(files.clone(), survey.finish))?.1;
        let all = || phases.iter().chain([&set_up, &finish]);
        let mounted = on.only(modelled::mount(files.clone()))?.1;
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
}
