//! XFS, btrfs and F2FS: file systems that are made for real only; of none is there a model.

use super::real::{Geometry, Making, one_device, words};
use super::{BLOCK, Bare, FileSystemKind, MakesFiles};
use crate::error::{Error, Result};
use crate::keys::{Takes, choice, keys};
use block::SECTOR_BYTES;
use block::layout::btrfs::Profile;
use block::units::format_bytes;
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

/// A chunk or a stripe: from a page to 64 MiB.
const PART: Takes = Takes::Sectors(8, 131_072);
/// What XFS takes for its log: from a page to 256 KiB.
const LOG_PART: Takes = Takes::Sectors(8, LOG_MOST_SECTORS);
/// The most of it, in sectors.
const LOG_MOST_SECTORS: u64 = 512;

keys! {
    /// The keys of XFS.
    struct XfsKeys {
        /// Block size (mkfs.xfs -b)
        block_sectors: u64 = choice("block", BLOCK).default("4KiB"),
        /// Align what is allocated to the stripes of the volume; false for mkfs.xfs -d noalign
        align: bool = choice("align", Takes::Switch).default("true"),
        /// Chunk of the volume that the allocator knows of (mkfs.xfs -d su=) [default: the volume's own]
        stripe_unit_sectors: Option<u64> = choice("stripe_unit", PART),
        /// Stripe of the volume that it aligns large files to (mkfs.xfs -d sw=, times `stripe_unit`) [default:
        /// `stripe_unit` times the members with data]
        stripe_width_sectors: Option<u64> = choice("stripe_width", PART),
        /// What writes of the log are rounded up to (mkfs.xfs -l su=) [default: as mkfs.xfs has it: `stripe_unit`, or 32
        /// KiB where that is above 256 KiB]
        log_stripe_unit_sectors: Option<u64> = choice("log_stripe_unit", LOG_PART),
        /// Options of mount(8), as in `noatime` [default: the kernel's]
        options: Option<String> = choice("options", Takes::Text),
    }
}

keys! {
    /// The keys of btrfs.
    struct BtrfsKeys {
        /// Options of mount(8), as in `noatime` [default: the kernel's]
        options: Option<String> = choice("options", Takes::Text),
    }
}

keys! {
    /// The keys of F2FS.
    struct F2fsKeys {
        /// Options of mount(8), as in `noatime` [default: the kernel's]
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
                (keys.mkfs(volume)?, "xfsprogs", &keys.options)
            }
            Real::Btrfs(keys) => {
                // One device, or several.
                let (data, devices) = volume.profile.map_or(("single", 1), |data| (data, 2));
                let line = format!("mkfs.btrfs -q -f {}", btrfs_profiles(data, devices));
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

impl XfsKeys {
    /// `mkfs.xfs`: a chunk of 64 KiB on three members with data is `-d su=64k,sw=3`.
    fn mkfs(&self, volume: &Geometry) -> Result<Vec<String>> {
        let block_bytes = self.block_sectors * SECTOR_BYTES;
        let mut mkfs = words(&format!("mkfs.xfs -q -f -b size={block_bytes}"));
        for (key, sectors) in [
            ("stripe_unit", self.stripe_unit_sectors),
            ("log_stripe_unit", self.log_stripe_unit_sectors),
        ] {
            if sectors.is_some_and(|sectors| !sectors.is_multiple_of(self.block_sectors)) {
                return Err(Error::input(format!(
                    "`fs.{key}` is not a multiple of `fs.block` = {}; correct one of them",
                    format_bytes(block_bytes)
                )));
            }
        }
        let log_sectors = self.log_stripe_unit_sectors.or(self.stripe_unit_sectors);
        if let Some(sectors) = log_sectors.filter(|&sectors| sectors <= LOG_MOST_SECTORS)
            && !sectors.is_power_of_two()
        {
            return Err(Error::input(format!(
                "XFS's log takes powers of two: write {} as `fs.log_stripe_unit`, or another `fs.stripe_unit`",
                format_bytes(sectors.next_power_of_two().min(LOG_MOST_SECTORS) * SECTOR_BYTES)
            )));
        }
        let given = self.stripe_unit_sectors.map(|sectors| sectors * SECTOR_BYTES);
        let unit_bytes = given.or(volume.chunk_bytes);
        let wide = self.stripe_width_sectors.map(|sectors| sectors * SECTOR_BYTES);
        if !self.align {
            if given.is_some() || wide.is_some() {
                let key = if given.is_some() { "stripe_unit" } else { "stripe_width" };
                return Err(Error::input(format!(
                    "`fs.{key}` says what to align to, and `fs.align` is false; leave one out"
                )));
            }
            mkfs.extend(words("-d noalign"));
        } else if let Some(unit_bytes) = unit_bytes {
            let width_bytes = wide.unwrap_or(unit_bytes * volume.data_members.max(1));
            if !width_bytes.is_multiple_of(unit_bytes) {
                return Err(Error::input(format!(
                    "`fs.stripe_width` of {} is not a multiple of a stripe unit of {}; correct one of them",
                    format_bytes(width_bytes),
                    format_bytes(unit_bytes)
                )));
            }
            let of = format!("su={}k,sw={}", unit_bytes / 1024, width_bytes / unit_bytes);
            mkfs.extend(["-d".into(), of]);
        } else if wide.is_some() {
            let what =
                "`fs.stripe_width` of a volume without chunks takes `fs.stripe_unit`, too; add it";
            return Err(Error::input(what));
        }
        if let Some(sectors) = self.log_stripe_unit_sectors {
            mkfs.extend(["-l".into(), format!("su={}k", sectors * SECTOR_BYTES / 1024)]);
        }
        Ok(mkfs)
    }
}

/// What mkfs.btrfs is told for data of a profile on so many devices: that, and the profile of metadata beside it.
///
/// # Panics
///
/// Where btrfs has no such profile: that is a bug of whoever named it.
pub fn btrfs_profiles(data: &str, devices: usize) -> String {
    let profile = Profile::named(data).expect("a profile of btrfs");
    format!("-d {data} -m {}", profile.of_metadata(devices).name())
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};
    use crate::file_system::real::Geometry;

    fn mkfs(kind: &str, volume: &Geometry) -> Result<String, String> {
        mkfs_with(&format!("kind = \"{kind}\""), volume)
    }

    fn mkfs_with(keys: &str, volume: &Geometry) -> Result<String, String> {
        let text = format!(
            "[volume]\ndrives = \"wd740gd\"\n[fs]\n{keys}\n[workload.w]\nkind = \"touch\"\n"
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
    fn xfs_aligns_to_what_it_is_told() {
        let striped =
            Geometry { chunk_bytes: Some(65_536), data_members: 3, ..Geometry::default() };
        let plain = Geometry::default();
        for (keys, volume, made) in [
            ("align = false", &striped, "-d noalign"),
            ("stripe_unit = \"128KiB\"", &striped, "-d su=128k,sw=3"),
            ("stripe_width = \"128KiB\"", &striped, "-d su=64k,sw=2"),
            ("stripe_unit = \"1MiB\"\nstripe_width = \"4MiB\"", &plain, "-d su=1024k,sw=4"),
            ("stripe_unit = \"16KiB\"", &plain, "-d su=16k,sw=1"),
            ("log_stripe_unit = \"32KiB\"", &plain, "-l su=32k"),
            (
                "stripe_unit = \"20KiB\"\nlog_stripe_unit = \"32KiB\"",
                &plain,
                "-d su=20k,sw=1 -l su=32k",
            ),
        ] {
            let made = format!("mkfs.xfs -q -f -b size=4096 {made}");
            assert_eq!(mkfs_with(&format!("kind = \"xfs\"\n{keys}"), volume).unwrap(), made);
        }
        for (keys, volume, said) in [
            ("align = false\nstripe_unit = \"64KiB\"", &striped, "`fs.align` is false"),
            ("stripe_width = \"96KiB\"", &striped, "not a multiple of a stripe unit of 64KiB"),
            ("stripe_width = \"96KiB\"", &plain, "takes `fs.stripe_unit`, too"),
            ("stripe_unit = 9", &plain, "not a multiple of `fs.block` = 4KiB"),
            ("stripe_unit = \"20KiB\"", &plain, "write 32KiB as `fs.log_stripe_unit`"),
            ("log_stripe_unit = \"12KiB\"", &plain, "write 16KiB as `fs.log_stripe_unit`"),
        ] {
            let error = mkfs_with(&format!("kind = \"xfs\"\n{keys}"), volume).unwrap_err();
            assert!(error.contains(said), "{keys}: {error}");
        }
    }

    #[test]
    fn btrfs_has_its_profile_and_others_none() {
        let raid1 = Geometry { profile: Some("raid1"), ..Geometry::default() };
        assert_eq!(mkfs("btrfs", &raid1).unwrap(), "mkfs.btrfs -q -f -d raid1 -m raid1");
        // What is lost with any device is data alone, and parity has copies of metadata.
        for (data, metadata) in
            [("raid0", "raid1"), ("single", "raid1"), ("raid5", "raid1"), ("raid6", "raid1c3")]
        {
            let volume = Geometry { profile: Some(data), ..Geometry::default() };
            let made = format!("mkfs.btrfs -q -f -d {data} -m {metadata}");
            assert_eq!(mkfs("btrfs", &volume).unwrap(), made);
        }
        assert_eq!(
            mkfs("btrfs", &Geometry::default()).unwrap(),
            "mkfs.btrfs -q -f -d single -m dup"
        );
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
