//! XFS, btrfs and F2FS: file systems that are made for real only; of none is there a model.

use super::real::{Geometry, Making, one_device, words};
use super::{BLOCK, Bare, FileSystemKind, MakesFiles};
use crate::error::{Error, Result};
use crate::keys::{Takes, choice, keys};
use block::SECTOR_BYTES;
use sim::fs::Session;
use sim::fs::kernel::Delays;
use std::sync::Arc;

/// XFS, as `fs.kind`.
pub(super) static XFS: FileSystemKind = FileSystemKind {
    name: "xfs",
    about: "Linux's XFS, on real kernels only",
    keys: &[XfsKeys::KEYS],
    read: |section| Arc::new(Real::Xfs(XfsKeys::read(section))),
};

/// btrfs, as `fs.kind`.
pub(super) static BTRFS: FileSystemKind = FileSystemKind {
    name: "btrfs",
    about: "Linux's btrfs, on real kernels only; its profiles are levels (btrfs-raid1)",
    keys: &[BtrfsKeys::KEYS],
    read: |section| Arc::new(Real::Btrfs(BtrfsKeys::read(section))),
};

/// F2FS, as `fs.kind`.
pub(super) static F2FS: FileSystemKind = FileSystemKind {
    name: "f2fs",
    about: "Linux's F2FS, on real kernels only",
    keys: &[F2fsKeys::KEYS],
    read: |section| Arc::new(Real::F2fs(F2fsKeys::read(section))),
};

keys! {
    /// The keys of XFS.
    struct XfsKeys {
        /// Block size (mkfs.xfs -b)
        block_sectors: u64 = choice("block", BLOCK).default("4KiB"),
        /// Options of mount(8), as in `noatime`; without them the kernel's
        options: Option<String> = choice("options", Takes::Text),
    }
}

keys! {
    /// The keys of btrfs.
    struct BtrfsKeys {
        /// Options of mount(8), as in `noatime`; without them the kernel's
        options: Option<String> = choice("options", Takes::Text),
    }
}

keys! {
    /// The keys of F2FS.
    struct F2fsKeys {
        /// Options of mount(8), as in `noatime`; without them the kernel's
        options: Option<String> = choice("options", Takes::Text),
    }
}

#[derive(Debug)]
enum Real {
    Xfs(XfsKeys),
    Btrfs(BtrfsKeys),
    F2fs(F2fsKeys),
}

impl Real {
    fn name(&self) -> &'static str {
        match self {
            Real::Xfs(_) => "xfs",
            Real::Btrfs(_) => "btrfs",
            Real::F2fs(_) => "f2fs",
        }
    }

    fn no_model(&self) -> Error {
        Error::input(format!(
            "`fs.kind` = {} has no model; measure it with `--on disks`, or take ext4",
            self.name()
        ))
    }
}

impl MakesFiles for Real {
    fn admit(&self, _: u64) -> Result<()> {
        Err(self.no_model())
    }

    fn delays(&self) -> Delays {
        Delays::SYNCER
    }

    fn mount(&self, _: Bare, _: u64, _: u64) -> Result<Session> {
        Err(self.no_model())
    }

    fn on_linux(&self, volume: &Geometry) -> Result<Making> {
        let (mkfs, package, options) = match self {
            Real::Xfs(keys) => {
                one_device("xfs", volume)?;
                let block_bytes = keys.block_sectors * SECTOR_BYTES;
                let mut mkfs = words(&format!("mkfs.xfs -q -f -b size={block_bytes}"));
                if let Some(chunk_bytes) = volume.chunk_bytes {
                    let of = format!("su={}k,sw={}", chunk_bytes / 1024, volume.data_members);
                    mkfs.extend(["-d".into(), of]);
                }
                (mkfs, "xfsprogs", &keys.options)
            }
            Real::Btrfs(keys) => {
                // On one device metadata is there twice.
                let (data, meta) =
                    volume.profile.map_or(("single", "dup"), |data| (data, metadata(data)));
                let line = format!("mkfs.btrfs -q -f -d {data} -m {meta}");
                (words(&line), "btrfs-progs", &keys.options)
            }
            Real::F2fs(keys) => {
                one_device("f2fs", volume)?;
                (words("mkfs.f2fs -q -f"), "f2fs-tools", &keys.options)
            }
        };
        let options = options.clone().unwrap_or_default();
        Ok(Making { mkfs, package, kind: self.name(), options })
    }
}

/// The profile of btrfs's metadata beside that of the data: of what is there once, on several devices, metadata are there
/// twice, as mkfs.btrfs has it.
pub fn metadata(profile: &str) -> &str {
    match profile {
        "single" | "raid0" => "raid1",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};
    use crate::file_system::real::Geometry;

    fn mkfs(kind: &str, volume: &Geometry) -> Result<String, String> {
        let text = format!(
            "[volume]\ndrives = \"wd740gd\"\n[fs]\nkind = \"{kind}\"\n[workload.w]\nkind = \"touch\"\n"
        );
        let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
        let files = plan.trials[0].setup.files.clone().unwrap();
        files.on_linux(volume).map(|m| m.mkfs.join(" ")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_system_is_told_of_the_stripes_it_lies_on() {
        let striped =
            Geometry { chunk_bytes: Some(65_536), data_members: 3, ..Geometry::default() };
        let ext4 = mkfs("ext4", &striped).unwrap();
        assert!(ext4.ends_with("lazy_journal_init=0,stride=16,stripe_width=48"), "{ext4}");
        assert_eq!(mkfs("xfs", &striped).unwrap(), "mkfs.xfs -q -f -b size=4096 -d su=64k,sw=3");
        assert_eq!(mkfs("f2fs", &striped).unwrap(), "mkfs.f2fs -q -f");
        let plain = Geometry::default();
        assert!(!mkfs("ext4", &plain).unwrap().contains("stride"));
        assert_eq!(mkfs("xfs", &plain).unwrap(), "mkfs.xfs -q -f -b size=4096");
    }

    #[test]
    fn btrfs_has_its_profile_and_others_none() {
        let raid1 = Geometry { profile: Some("raid1"), ..Geometry::default() };
        assert_eq!(mkfs("btrfs", &raid1).unwrap(), "mkfs.btrfs -q -f -d raid1 -m raid1");
        // What is lost with any device is data alone.
        for once in ["raid0", "single"] {
            let volume = Geometry { profile: Some(once), ..Geometry::default() };
            let made = format!("mkfs.btrfs -q -f -d {once} -m raid1");
            assert_eq!(mkfs("btrfs", &volume).unwrap(), made);
        }
        for kind in ["ext4", "xfs", "f2fs"] {
            let said = mkfs(kind, &raid1).unwrap_err();
            assert!(said.contains("`volume.level` = btrfs-raid1 is a volume of btrfs's own"));
        }
        let ffs = "[volume]\ndrives = \"wd740gd\"\n[fs]\nnewfs = \"netbsd2\"\n[workload.w]\nkind = \"touch\"\n";
        let plan = Plan::new(&Experiment::parse("x.toml", ffs).unwrap()).unwrap();
        let files = plan.trials[0].setup.files.clone().unwrap();
        let said = files.on_linux(&Geometry::default()).unwrap_err().to_string();
        assert!(said.contains("Linux makes no FFS"), "{said}");
    }
}
