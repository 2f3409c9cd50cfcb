//! Flags of `ileave drives`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DrivesFlags {
    #[command(subcommand)]
    pub(crate) command: Option<DrivesCommand>,
    /// Name from the list, or a catalogue file; or a part of several names, a size or a class, to list those
    /// [default: list all]
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DrivesCommand {
    /// Write a catalogue file for each measured drive
    Import(DriveImportFlags),
    /// Probe a rotating disk by reads, or print the fio job that measures a flash drive
    Probe(DriveProbeFlags),
    /// Print what a system has as an experiment, its disks matched with the catalogue
    Match(DriveMatchFlags),
    /// Make a drive file from a probe, fio's JSON, a CSV grid, or figures of a data sheet
    Fit(Box<DriveFitFlags>),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without --rotating it prints a job for fio and reads nothing. With --rotating it only reads the
disk: 20 TB take 5 to 15 minutes. Other load on the disk disturbs it.

Examples:
  ileave drives probe > probe.fio
  ileave drives probe --rotating /dev/sdx --out probe.json"
)]
pub(crate) struct DriveProbeFlags {
    /// Measure writes, too: EVERYTHING ON THE DRIVE IS LOST
    #[arg(long, conflicts_with = "rotating")]
    pub(crate) writes: bool,
    /// Read this rotating disk, or image of one: rotation, zones, seeks, buffer
    #[arg(long, value_name = "DEVICE")]
    pub(crate) rotating: Option<PathBuf>,
    /// Write the result here [default: print it]
    #[arg(long, value_name = "FILE", requires = "rotating")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "At most ten cells are used; the others show how good the file is. A CSV grid has the columns
device, rw, bs, qd, jobs and iops, and may have engine, p50_us and p99_us.

Of a rotating disk it takes the file of `ileave drives probe --rotating` with --name, --out and
--force, or a data sheet: --rpm, --read-mb and what stands under Rotating disks.

Examples:
  ileave drives fit probe.json --name \"Samsung 990 PRO 2TB\" --out 990-pro-2tb.toml
  ileave drives fit grid.csv --device 980 --state random
  ileave drives fit --name \"My drive 1TB\" --read-iops 1000000 --read-latency 60 --read-mb 7000
  ileave drives fit --name \"My disk 12TB\" --rpm 7200 --read-mb 245 --out my-disk.toml"
)]
pub(crate) struct DriveFitFlags {
    /// Results: a probe of a rotating disk; or fio's JSON or CSV grids
    #[arg(value_name = "RESULT")]
    pub(crate) results: Vec<PathBuf>,
    /// Name of the drive [default: as in the results]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Part of the name of the device, where the results are of several
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// Write the drive file here [default: print it]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite a file that ileave did not make
    #[arg(long)]
    pub(crate) force: bool,
    /// How the drive was filled: fresh, sequential, random or steady [default: random; steady where
    /// --steady-write-iops is all that is known of random writes]
    #[arg(long)]
    pub(crate) state: Option<String>,
    /// Capacity [default: from the name]
    #[arg(long, value_name = "SIZE")]
    pub(crate) capacity: Option<String>,
    /// Interface: sata or nvme [default: nvme where a result names such a device or moves more than SATA can];
    /// of a rotating disk sata or sas [default: sata]
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,
    /// Queue depth of the drive [default: 32 for SATA, else 1023]
    #[arg(long, value_name = "N")]
    pub(crate) queue_depth: Option<u32>,
    /// The write buffer survives a power cut
    #[arg(long)]
    pub(crate) power_loss_protection: bool,
    /// Data sheet: random 4 KiB reads per second
    #[arg(long, value_name = "N")]
    pub(crate) read_iops: Option<f64>,
    /// Data sheet: random 4 KiB writes per second
    #[arg(long, value_name = "N")]
    pub(crate) write_iops: Option<f64>,
    /// Data sheet: sustained random 4 KiB writes per second
    #[arg(long, value_name = "N")]
    pub(crate) steady_write_iops: Option<f64>,
    /// Data sheet: latency of a 4 KiB read, in us
    #[arg(long, value_name = "US")]
    pub(crate) read_latency: Option<f64>,
    /// Data sheet: latency of a 4 KiB write, in us
    #[arg(long, value_name = "US")]
    pub(crate) write_latency: Option<f64>,
    /// Data sheet: sequential reads, in MB/s
    #[arg(long, value_name = "MB/S")]
    pub(crate) read_mb: Option<f64>,
    /// Data sheet: sequential writes, in MB/s
    #[arg(long, value_name = "MB/S")]
    pub(crate) write_mb: Option<f64>,
    /// Source of these figures [default: data sheet]
    #[arg(long, value_name = "TEXT")]
    pub(crate) source: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) disk: DiskSheetFlags,
}

/// What the data sheet of a rotating disk says, besides what flash drives have, too.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rotating disks")]
pub(crate) struct DiskSheetFlags {
    /// Data sheet of a rotating disk: revolutions per minute; it takes --read-mb, too
    #[arg(long, value_name = "N", requires = "read_mb", conflicts_with_all = [
        "results", "device", "state", "power_loss_protection", "read_iops", "write_iops", "steady_write_iops",
        "read_latency", "write_latency", "write_mb",
    ])]
    pub(crate) rpm: Option<f64>,
    /// Data sheet: average seek of reads, in ms [default: of disks that turn as fast]
    #[arg(long, value_name = "MS", requires = "rpm")]
    pub(crate) seek: Option<f64>,
    /// Data sheet: seek from track to track, in ms [default: of disks of this size]
    #[arg(long, value_name = "MS", requires = "rpm")]
    pub(crate) track_seek: Option<f64>,
    /// Data sheet: longest seek, in ms [default: twice the average]
    #[arg(long, value_name = "MS", requires = "rpm")]
    pub(crate) full_seek: Option<f64>,
    /// Data sheet: heads [default: 1 to 20, by the capacity]
    #[arg(long, value_name = "N", requires = "rpm")]
    pub(crate) heads: Option<u32>,
    /// Data sheet: buffer [default: of disks of this size]
    #[arg(long, value_name = "SIZE", requires = "rpm")]
    pub(crate) buffer: Option<String>,
    /// Whether the write cache is on [default: true for SATA, false for SAS]
    #[arg(long, value_name = "BOOL", requires = "rpm")]
    pub(crate) write_cache: Option<bool>,
}

#[derive(Debug, Args)]
#[command(after_help = "The JSON has an object `drives`: for each drive its rpm, heads, sectors,
head_switch_ms, segments, overheads, zones and seek_ms points. Times are milliseconds, sizes sectors
of 512 bytes. A .diskspecs file is of DiskSim, and names the .model and .seek files beside it. Use a
catalogue file like a drive's name: 2x./my-drive.toml.

Examples:
  ileave drives import measured-drives.json --out my-drives
  ileave drives import cheetah9LP.diskspecs --out cheetah.toml")]
pub(crate) struct DriveImportFlags {
    /// JSON file of measured drives, or a .diskspecs file of DiskSim
    pub(crate) file: PathBuf,
    /// Directory for the catalogue files of a JSON file [default: .]; file of a .diskspecs [default: print it]
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// Name of the drive of a .diskspecs file [default: as in the file]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Overwrite a file that ileave did not make
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Reads what these print: lsblk -J -O, nvme list -o json, dmesg (Linux and BSD), cat /proc/mdstat,
lvs -a -o +segtype,stripes,stripe_size,devices, dmsetup table, zpool status.

Example:
  lsblk -J -O > lsblk.json; ileave drives match lsblk.json /proc/mdstat > mine.toml; ileave run mine.toml"
)]
pub(crate) struct DriveMatchFlags {
    /// What systems print
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The volume, where there are several
    #[arg(long, value_name = "NAME")]
    pub(crate) unit: Option<String>,
    /// Print the disks, the volumes and the experiment as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
