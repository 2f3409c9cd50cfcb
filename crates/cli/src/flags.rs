//! The command line: one definition of every flag, from which help comes too.

mod import;
mod rig;
mod risk;
mod tune;

pub(crate) use import::ImportFiles;
pub(crate) use rig::RigFlags;
pub(crate) use risk::RiskFlags;
pub(crate) use tune::TuneFlags;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// How should these disks be laid out for this work, and why?
#[derive(Debug, Parser)]
#[command(name = "ileave", version, max_term_width = 100)]
#[command(after_help = "Examples:
  ileave run experiments/fair-2006.toml
  ileave run experiments/fair-2006.toml --set volume.interleave=16,48,96 --repeat 5
  ileave import published/brownlee-2005.toml
  ileave report ileave-results/brownlee-2005-1 --safe --html page.html
  ileave reproduce fair-2006
  ileave map --level raid5 --interleave 64KiB --members 4
  ileave drives wd740gd")]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Choose a layout for these drives and this work: what to build, why, the risk, the commands
    Tune(Box<TuneFlags>),
    /// Run an experiment: which layout to choose, and why
    Run(Box<RunFlags>),
    /// Summarize a results directory: table, verdict, HTML page
    Report(ReportFlags),
    /// Compare two results directories, cell by cell
    Compare(CompareFlags),
    /// Import results from fio, bonnie, iozone, dd, hyperfine or CSV
    Import(ImportFlags),
    /// Chance that a volume loses data: all of it, some sectors, a torn stripe
    Risk(RiskFlags),
    /// Look for cells that break a law of storage: a rate above the media's, a deeper queue that is slower
    Check(CheckFlags),
    /// Compare published tables with simulation
    Reproduce(ReproduceFlags),
    /// Compare drive models with measured traces
    Validate(ValidateFlags),
    /// Show where sectors and FFS metadata land, and count split requests
    Map(Box<MapFlags>),
    /// List drives, or show every figure of one with its source
    Drives(DrivesFlags),
    /// List hosts, or show every figure of one with its source
    Hosts(HostsFlags),
    /// List RAID controllers, or show every figure of one with its source
    Controllers(HostsFlags),
    /// List source trees, or describe one (or a `tar tvf` listing)
    Trees(TreesFlags),
    /// List the keys of experiment files, of one kind or of one section
    Keys(KeysFlags),
    /// Print shell completions
    Completions(CompletionsFlags),
    /// Print the manual page of ileave or of one command
    Man(ManFlags),
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "Sizes: a bare number counts 512-byte sectors; 64KiB, 64k, 1m are bytes.
A list varies a key: every combination of values is one cell of the table.

Examples:
  ileave run experiments/fair-2006.toml
  ileave run experiments/fair-2006.toml --set volume.interleave=32KiB,64KiB
  ileave run experiments/fair-2006.toml --set drive.write_cache=off --json
  ileave run job.fio --drives 4xwd740gd --level stripe --interleave 128
  ileave run experiments/fair-2006.toml --resume ileave-results/fair-2006-1")]
pub(crate) struct RunFlags {
    /// Experiment file, or fio job file (NAME.fio)
    pub(crate) file: PathBuf,
    /// Member drives, as in `4xwd740gd` [key volume.drives]
    #[arg(long, value_name = "LIST")]
    pub(crate) drives: Option<String>,
    /// RAID level or other layout [key volume.level]
    #[arg(long, value_name = "LEVEL[,LEVEL…]")]
    pub(crate) level: Option<String>,
    /// Interleave (md chunk, LVM stripe size, XFS su) [key volume.interleave]
    #[arg(long, value_name = "SIZE[,SIZE…]")]
    pub(crate) interleave: Option<String>,
    /// Set a key, or vary it over a list; repeatable
    #[arg(long, value_name = "KEY=VALUE[,VALUE…]")]
    pub(crate) set: Vec<String>,
    /// Repeats per cell [default: 1, or 3 with --on disks] [key run.repeats]
    #[arg(long, value_name = "N")]
    pub(crate) repeat: Option<u64>,
    /// Random seed [key run.seed]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Factor to choose; repeatable. The others become loads and conditions [key ask.choose]
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    pub(crate) choose: Vec<String>,
    /// Directory for the results, without earlier ones [default: ileave-results/NAME-1,
    /// or the next free number]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) out: Option<PathBuf>,
    /// Continue an interrupted run of the same experiment
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) rig: RigFlags,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Formulas use samples: NAME is the main sample of the workload NAME, NAME.SAMPLE any \
other. SAMPLE alone takes it from whichever workload ran. The unit suffix is optional (rm for rm_s). \
`best` is the best value of the left side.

Examples:
  ileave report ileave-results/brownlee-2005-1 --safe
  ileave report DIR --objective 'min tar + rm' --subject-to 'newfs <= 5'
  ileave report DIR --objective 'max read' --subject-to 'write >= 0.8*best'
  ileave report DIR --objective 'max read' --objective 'min read.latency_p99_ms'
  ileave report DIR --choose volume.interleave
  ileave report DIR --html page.html"
)]
pub(crate) struct ReportFlags {
    /// Results directory, finished or not
    pub(crate) directory: PathBuf,
    /// Leave out layouts that lose data in a crash or when one disk fails; show what that costs
    #[arg(long)]
    pub(crate) safe: bool,
    /// Formula to minimise or maximise; repeat it to get the Pareto set as well [default: the
    /// experiment's objective, or all workloads equally]
    #[arg(long, value_name = "min|max FORMULA")]
    pub(crate) objective: Vec<String>,
    /// Constraint on the layouts; repeatable
    #[arg(long, value_name = "FORMULA >= FORMULA")]
    pub(crate) subject_to: Vec<String>,
    /// Factor to choose, as in `volume.interleave` or `workload.*.offset`; repeatable. The others become
    /// loads and conditions [default: the experiment's `ask.choose`, or every choice]
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    pub(crate) choose: Vec<String>,
    #[command(flatten)]
    pub(crate) form: ReportForm,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ReportForm {
    /// Print JSON instead of the table: every trial and the whole verdict
    #[arg(long)]
    pub(crate) json: bool,
    /// Print CSV, one line per trial
    #[arg(long, conflicts_with_all = ["safe", "objective", "subject_to", "choose"])]
    pub(crate) csv: bool,
    /// Print Markdown: the verdict and the ranking
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Write one self-contained HTML page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  ileave compare ileave-results/before-1 ileave-results/after-1")]
pub(crate) struct CompareFlags {
    /// First results directory
    pub(crate) first: PathBuf,
    /// Second results directory
    pub(crate) second: PathBuf,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A CSV file needs a small mapping file that names its columns; see published/*.toml \
for examples. Formats: fio, hyperfine, bonnie, bonnie-csv, iozone, dd, time.

Jobs of fio are workloads. Runs of the same workload with the same factors are repeats.

Examples:
  ileave import published/brownlee-2005.toml
  ileave import rosen-1999
  ileave import --factor volume.interleave=64k 64k/*.json --factor volume.interleave=128k 128k/*.json
  ileave import --factor-from '{volume.interleave}/run*.json' */run*.json
  ileave import dd.log --as dd --out ileave-results/my-dd"
)]
pub(crate) struct ImportFlags {
    #[command(flatten)]
    pub(crate) files: ImportFiles,
    /// Take factors from the end of each file's path: `{KEY}` is a value, `*` anything
    #[arg(long, value_name = "PATTERN")]
    pub(crate) factor_from: Option<String>,
    /// Format of the files [default: detected]
    #[arg(long = "as", value_name = "KIND")]
    pub(crate) format: Option<String>,
    /// Directory for the results, without earlier ones [default: ileave-results/NAME-1,
    /// or the next free number]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON, as `ileave report --json` does
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  ileave completions bash > /etc/bash_completion.d/ileave")]
pub(crate) struct CompletionsFlags {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  ileave man report | man -l -")]
pub(crate) struct ManFlags {
    /// Command [default: the page of ileave itself]
    pub(crate) command: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each published number is compared with the simulated one. Cells that the model was \
fitted to are marked; they are not predictions. Several tables end with a summary: the number of cells, \
the errors of the predicted ones, whether ranks and winner agree, and what is not reproduced.

Examples:
  ileave reproduce fair-2006
  ileave reproduce tao-1996 --html page.html
  ileave reproduce --all --json"
)]
pub(crate) struct ReproduceFlags {
    /// Published tables, or posts with all their tables [default: list the tables]
    #[arg(value_name = "NAME", group = "tables")]
    pub(crate) names: Vec<String>,
    /// Run every published table that has an experiment
    #[arg(long, group = "tables")]
    pub(crate) all: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Write one self-contained HTML page
    #[arg(long, value_name = "FILE", requires = "tables", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
    /// Write every pair of layouts that differ in one thing, published and simulated, as CSV: what verdicts
    /// take their certainty from
    #[arg(long, value_name = "FILE", requires = "tables")]
    pub(crate) differences: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without FILE, cells are drawn at random: drives, levels, hosts, requests. The same seed draws the \
same cells. Each cell that breaks a law is made as simple as possible and printed as an experiment file. \
docs/laws.md lists the laws and what they do not cover. Exit status 1 where a law is broken.

Examples:
  ileave check --cells 100000
  ileave check experiments/fair-2006.toml"
)]
pub(crate) struct CheckFlags {
    /// Experiment whose cells are looked at [default: cells at random]
    pub(crate) file: Option<PathBuf>,
    /// Cells to simulate
    #[arg(long, value_name = "N", default_value_t = 10_000, conflicts_with = "file")]
    pub(crate) cells: u64,
    /// Random seed
    #[arg(long, value_name = "S", default_value_t = 1, conflicts_with = "file")]
    pub(crate) seed: u64,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "With --drive, GRID.csv or fio's JSON is compared with that flash drive, by operation and size.

Each trace is DIR/NAME.trace. Its requests ran one at a time; each is one line:
  R|W  buffer-action  first-sector  sectors  service-time-us  time-to-next-request-us
DIR/drives.toml names the drive of each trace, by name, title or file in DIR: NAME = \"st39102lw\"

Examples:
  ileave validate traces --html page.html
  ileave validate traces --drives measured-drives.json --json
  ileave validate grid.csv --drive my-drive.toml"
)]
pub(crate) struct ValidateFlags {
    /// Directory with the traces, or a grid
    #[arg(value_name = "DIR|GRID")]
    pub(crate) directory: PathBuf,
    /// Flash drive that the grid is compared with: a name from the list, or a catalogue file
    #[arg(long, value_name = "DRIVE", conflicts_with_all = ["drives", "html"])]
    pub(crate) drive: Option<String>,
    /// Part of the name of the device, where the grid has several
    #[arg(long, requires = "drive")]
    pub(crate) device: Option<String>,
    /// Print every cell of the grid
    #[arg(long, requires = "drive")]
    pub(crate) cells: bool,
    /// Look up drives in this file first (measured drives, as for `ileave drives import`)
    #[arg(long, value_name = "FILE")]
    pub(crate) drives: Option<PathBuf>,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Write one self-contained HTML page with the service time distributions, measured and modelled
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
}

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
    /// Reserved space at the start of each member (md's data offset)
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

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DrivesFlags {
    #[command(subcommand)]
    pub(crate) command: Option<DrivesCommand>,
    /// Name from the list, or a catalogue file [default: list all]
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DrivesCommand {
    /// Write a catalogue file for each measured drive
    Import(DriveImportFlags),
    /// Print the fio job that measures a flash drive for `ileave drives fit`
    Probe(DriveProbeFlags),
    /// Print what a system has as an experiment, its disks matched with the catalogue
    Match(DriveMatchFlags),
    /// Make the file of a flash drive from fio's JSON, a CSV grid, or figures of a data sheet
    Fit(Box<DriveFitFlags>),
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  ileave drives probe > probe.fio")]
pub(crate) struct DriveProbeFlags {
    /// Measure writes, too: EVERYTHING ON THE DRIVE IS LOST
    #[arg(long)]
    pub(crate) writes: bool,
    /// A disk instead of a flash drive
    #[arg(long, conflicts_with = "writes")]
    pub(crate) rotating: bool,
}

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "At most ten cells are used; the others show how good the file is. A CSV grid has the columns device, rw, bs,
qd, jobs and iops, and may have engine, p50_us and p99_us.

Examples:
  ileave drives fit probe.json --name \"Samsung 990 PRO 2TB\" --out 990-pro-2tb.toml
  ileave drives fit grid.csv --device 980 --state random
  ileave drives fit --name \"My drive 1TB\" --read-iops 1000000 --read-latency 60 --read-mb 7000"
)]
pub(crate) struct DriveFitFlags {
    /// Results: fio's JSON or CSV grids
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
    /// How the drive was filled: fresh, sequential, random or steady [default: random]
    #[arg(long)]
    pub(crate) state: Option<String>,
    /// Capacity [default: from the name]
    #[arg(long, value_name = "SIZE")]
    pub(crate) capacity: Option<String>,
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
}

#[derive(Debug, Args)]
#[command(after_help = "The JSON has an object `drives`: for each drive its rpm, heads, sectors,
head_switch_ms, segments, overheads, zones and seek_ms points. Times are milliseconds, sizes sectors
of 512 bytes. Use a catalogue file like a drive's name: 2x./my-drive.toml.

Example:
  ileave drives import measured-drives.json --out my-drives")]
pub(crate) struct DriveImportFlags {
    /// JSON file of measured drives
    pub(crate) file: PathBuf,
    /// Directory for the catalogue files; existing files are kept
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Reads what these print: lsblk -J -O, nvme list -o json, dmesg (Linux and BSD), cat /proc/mdstat,
lvs -o +stripes,stripe_size,devices, dmsetup table, zpool status.

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
}

#[derive(Debug, Args)]
pub(crate) struct HostsFlags {
    /// Name from the list, or a catalogue file [default: list all]
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ileave trees openoffice-1.1
  tar tvf src.tar.gz > src.txt; ileave trees src.txt
  find /usr/src -printf '%y %s %p\\n' > src.txt; ileave trees src.txt

Use the file in an experiment: [workload.untar] tree = \"src.txt\".")]
pub(crate) struct TreesFlags {
    /// Name from the list, catalogue file, or a listing by tar or find [default: list all]
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KeysFlags {
    /// Kind of workload or section of the file, as in `untar` or `volume` [default: all keys]
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a JSON schema of experiment files, for editors
    #[arg(long, conflicts_with_all = ["name", "json"])]
    pub(crate) schema: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// What the help says of the default is what rigs do.
    #[test]
    fn the_help_knows_how_often_real_disks_are_tried() {
        let run = Flags::command().find_subcommand("run").unwrap().clone();
        let help = run.get_arguments().find(|flag| flag.get_id() == "repeat").unwrap().get_help();
        let help = help.unwrap().to_string();
        for kind in lab::rig::KINDS.iter().filter(|kind| kind.name != "sim") {
            let repeats = (kind.capabilities)().repeats;
            assert!(help.contains(&format!("{repeats} with --on {}", kind.name)), "{help}");
        }
    }

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        Flags::command().debug_assert();
    }
}
