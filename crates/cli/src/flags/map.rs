//! Flags of `ileave map`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Sectors: A is one sector, A-B a range, A+N a request for N sectors. Without sectors, the layout is
drawn. A bare number counts 512-byte sectors; 64KiB, 64k, 1m are bytes.

Examples:
  ileave map --level raid5 --interleave 64KiB --members 4
  ileave map --level ccd --interleave 128 --members 1000,1300,1300 200 120+16
  ileave map --ccd /etc/ccd.conf --unit ccd0 --member-size 2GiB 0-1023
  ileave map --md detail.txt --json 3000
  ileave map --level ccd --interleave 126 --members 3 --straddle 8k,6k@1k
  ileave map --level ccd --interleave 128 --members 2 --ffs"
)]
pub(crate) struct MapFlags {
    /// Sectors, ranges and requests
    #[arg(value_name = "SECTOR")]
    pub(crate) sectors: Vec<String>,
    /// RAID level or other layout, as in stripe, raid5, ccd-mirror, md-raid10-f2
    #[arg(long, group = "source", value_name = "LEVEL")]
    pub(crate) level: Option<String>,
    /// Interleave (md chunk, LVM stripe size, XFS su)
    #[arg(long, requires = "level", value_name = "N")]
    pub(crate) interleave: Option<String>,
    /// Number of members, or the size of each
    #[arg(long, requires = "level", value_name = "COUNT|SIZE,SIZE…")]
    pub(crate) members: Option<String>,
    /// Size of members whose size is not known otherwise: one for all, or one per member
    #[arg(long, value_delimiter = ',', value_name = "SIZE[,SIZE…]")]
    pub(crate) member_size: Vec<String>,
    /// Reserved space at the start of each member (md's data offset); not of LVM, btrfs, RAIDframe or nested md, which
    /// have their own
    #[arg(long, value_name = "N")]
    pub(crate) reserved: Option<String>,
    /// Read the layout from a ccd.conf
    #[arg(long, group = "source", value_name = "FILE")]
    pub(crate) ccd: Option<PathBuf>,
    /// Read the layout from a raidctl(8) configuration file
    #[arg(long, group = "source", value_name = "FILE")]
    pub(crate) raidctl: Option<PathBuf>,
    /// Read the layout from the output of `mdadm --detail` or `mdadm --examine`
    #[arg(long, group = "source", value_name = "FILE")]
    pub(crate) md: Option<PathBuf>,
    /// Read the layout from the output of `dmsetup table`
    #[arg(long, group = "source", value_name = "FILE")]
    pub(crate) dm: Option<PathBuf>,
    /// Name of the ccd, array or device in the file
    #[arg(long, value_name = "NAME", conflicts_with_all = ["level", "raidctl"])]
    pub(crate) unit: Option<String>,
    /// System whose flag bits the ccd.conf uses
    #[arg(long, requires = "ccd", value_enum)]
    pub(crate) system: Option<SystemFlag>,
    /// Count the split requests of this size, aligned to it or to ALIGN
    #[arg(long, value_delimiter = ',', value_name = "SIZE[@ALIGN]")]
    #[arg(conflicts_with_all = ["sectors", "ffs", "vector"])]
    pub(crate) straddle: Vec<String>,
    /// Compare the map with a vector file [default: with the layout in the file]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sectors", "ffs"])]
    pub(crate) vector: Option<PathBuf>,
    /// Show where the metadata of a Berkeley fast file system lands
    #[arg(long, conflicts_with = "sectors")]
    pub(crate) ffs: bool,
    /// Block size (newfs -b)
    #[arg(long, requires = "ffs", default_value = "8k", value_name = "SIZE")]
    pub(crate) block: String,
    /// Fragment size (newfs -f) [default: an eighth of a block]
    #[arg(long, requires = "ffs", value_name = "SIZE")]
    pub(crate) frag: Option<String>,
    /// FFS version (newfs -O): 1 is UFS1, 2 is UFS2
    #[arg(long, requires = "ffs", default_value_t = 1, value_name = "1|2")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) fs_version: u8,
    /// Version of newfs [default: 4.4bsd for version 1, netbsd-2 for version 2]
    #[arg(long, requires = "ffs", value_enum)]
    pub(crate) newfs: Option<NewfsFlag>,
    /// Cylinders of 1 MiB per group (newfs -c) [default: 16]
    #[arg(long, requires = "ffs", value_name = "N")]
    pub(crate) cylinders_per_group: Option<u64>,
    /// Bytes per inode (newfs -i) [default: four fragments]
    #[arg(long, requires = "ffs", value_name = "SIZE")]
    pub(crate) density: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SystemFlag {
    /// 0x04 is `CCDF_NOLABEL`
    Netbsd,
    /// 0x04 is `CCDF_MIRROR`
    Freebsd,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum NewfsFlag {
    /// Groups of cylinders, as in NetBSD 1 and FreeBSD 2 to 4
    #[value(name = "4.4bsd")]
    Bsd44,
    /// As few groups as possible, as in NetBSD 2 and later
    #[value(name = "netbsd-2")]
    Netbsd2,
}
