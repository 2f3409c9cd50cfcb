//! The command line: one definition of every flag, from which help comes too.

mod rig;

pub(crate) use rig::RigFlags;

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
    /// Run an experiment, print its table, and say what to choose and why
    Run(Box<RunFlags>),
    /// Say what a results directory comes to: table, verdict and page
    Report(ReportFlags),
    /// Put two results directories side by side, cell by cell
    Compare(CompareFlags),
    /// Make a results directory of other people's results
    Import(ImportFlags),
    /// Put published numbers beside simulated ones
    Reproduce(ReproduceFlags),
    /// Hold drive models against measured traces of the real drives
    Validate(ValidateFlags),
    /// Say where sectors go, which requests straddle, and where a file system's own blocks land
    Map(Box<MapFlags>),
    /// List the drives that can be modelled, or every figure of one with its source
    Drives(DrivesFlags),
    /// List the hosts that can be modelled, or every figure of one with its source
    Hosts(HostsFlags),
    /// List the RAID controllers that can be modelled, or every figure of one with its source
    Controllers(HostsFlags),
    /// List the trees that can be unpacked, or say what one of them, or a list of tar's, comes to
    Trees(TreesFlags),
    /// List the keys of an experiment file, or those of one kind or section
    Keys(KeysFlags),
    /// Print the completions for a shell
    Completions(CompletionsFlags),
    /// Print the manual page, of all or of one command
    Man(ManFlags),
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "Sizes: a bare number counts 512-byte sectors; 64KiB, 64k, 1m are bytes.
A list makes a factor: every combination of all factors is one cell.

Examples:
  ileave run experiments/fair-2006.toml
  ileave run experiments/fair-2006.toml --set volume.interleave=32KiB,64KiB
  ileave run experiments/fair-2006.toml --set drive.write_cache=off --json
  ileave run job.fio --drives 4xwd740gd --level stripe --interleave 128
  ileave run experiments/fair-2006.toml --resume ileave-results/fair-2006-1")]
pub(crate) struct RunFlags {
    /// The experiment file, or a job file of fio's (NAME.fio)
    pub(crate) file: PathBuf,
    /// The members, as in `4xwd740gd` [key volume.drives]
    #[arg(long, value_name = "LIST")]
    pub(crate) drives: Option<String>,
    /// How they become one volume [key volume.level]
    #[arg(long, value_name = "LEVEL[,LEVEL…]")]
    pub(crate) level: Option<String>,
    /// Sectors on one member before the next one's turn [key volume.interleave]
    #[arg(long, value_name = "SIZE[,SIZE…]")]
    pub(crate) interleave: Option<String>,
    /// Set a key, or vary it over a list; may be given several times
    #[arg(long, value_name = "KEY=VALUE[,VALUE…]")]
    pub(crate) set: Vec<String>,
    /// Try each cell so many times [key run.repeats]
    #[arg(long, value_name = "N")]
    pub(crate) repeat: Option<u64>,
    /// Everything random follows from it [key run.seed]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Keep the results in this directory, which must hold no others [default:
    /// ileave-results/NAME-1, or the next number that is free]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with an interrupted run of the same experiment
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
    after_help = "Objectives and constraints are formulas over what was measured: a workload's name \
is its main figure, NAME.SAMPLE any other, and SAMPLE alone that of whichever workload a layout ran; \
the unit in its end may be left out (rm for rm_s). `best` is the best that the left side reaches.

Examples:
  ileave report ileave-results/brownlee-2005-1 --safe
  ileave report DIR --objective 'min tar + rm' --subject-to 'newfs <= 5'
  ileave report DIR --objective 'max read' --subject-to 'write >= 0.8*best'
  ileave report DIR --objective 'max read' --objective 'min read.latency_p99_ms'
  ileave report DIR --html page.html"
)]
pub(crate) struct ReportFlags {
    /// A results directory, finished or not
    pub(crate) directory: PathBuf,
    /// Leave out what loses data in a crash or with one disk, and say what that costs
    #[arg(long)]
    pub(crate) safe: bool,
    /// What to minimise or maximise; given several times, also the layouts that none beats in all
    /// [default: what the results are about, or every workload alike]
    #[arg(long, value_name = "min|max FORMULA")]
    pub(crate) objective: Vec<String>,
    /// What must hold; may be given several times
    #[arg(long, value_name = "FORMULA >= FORMULA")]
    pub(crate) subject_to: Vec<String>,
    #[command(flatten)]
    pub(crate) form: ReportForm,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ReportForm {
    /// Print JSON instead of the table: every trial and the whole verdict
    #[arg(long)]
    pub(crate) json: bool,
    /// Print CSV: a line for each trial
    #[arg(long, conflicts_with_all = ["safe", "objective", "subject_to"])]
    pub(crate) csv: bool,
    /// Print Markdown: the verdict and the ranking
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Write one self-contained page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  ileave compare ileave-results/before-1 ileave-results/after-1")]
pub(crate) struct CompareFlags {
    /// A results directory
    pub(crate) first: PathBuf,
    /// Another
    pub(crate) second: PathBuf,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A CSV file needs a small mapping file that says what its columns are; published/*.toml \
show how. Formats: fio, hyperfine, bonnie, bonnie-csv, iozone, dd, time.

Examples:
  ileave import published/brownlee-2005.toml
  ileave import rosen-1999
  ileave import fio-64k.json fio-128k.json
  ileave import dd.log --as dd --out ileave-results/my-dd"
)]
pub(crate) struct ImportFlags {
    /// A file of results, a mapping file, or the name of a published table; several files are told apart
    /// by a factor `file`
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Its format [default: what it looks like]
    #[arg(long = "as", value_name = "KIND")]
    pub(crate) format: Option<String>,
    /// Keep the results in this directory, which must hold no others [default:
    /// ileave-results/NAME-1, or the next number that is free]
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
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  ileave man report | man -l -")]
pub(crate) struct ManFlags {
    /// A command; without one, the page of all
    pub(crate) command: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each cell's number is put beside the simulated one. Cells that a constant of the \
model was fitted to are marked, and are no predictions. Of several tables the last thing printed is one \
table of them all: how many cells, the errors of the predicted ones, whether ranks and the best agree, \
and what is not reproduced.

Examples:
  ileave reproduce fair-2006
  ileave reproduce tao-1996 --html page.html
  ileave reproduce --all --json"
)]
pub(crate) struct ReproduceFlags {
    /// Published tables, or posts with all their tables; without a name, the tables are listed
    #[arg(value_name = "NAME", group = "tables")]
    pub(crate) names: Vec<String>,
    /// Run every published table that has an experiment
    #[arg(long, group = "tables")]
    pub(crate) all: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Write one self-contained page
    #[arg(long, value_name = "FILE", requires = "tables", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Each trace is DIR/NAME.trace: requests one at a time, one a line:
  R|W  buffer-action  first-sector  sectors  service-time-us  time-to-next-request-us
DIR/drives.toml says which drive each is of: NAME = \"st39102lw\", a title, or a file in DIR.

Examples:
  ileave validate traces --html page.html
  ileave validate traces --drives measured-drives.json --json")]
pub(crate) struct ValidateFlags {
    /// The directory with the traces
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Look for the drives in this file of measured drives first, as `ileave drives import` reads it
    #[arg(long, value_name = "FILE")]
    pub(crate) drives: Option<PathBuf>,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Write one self-contained page: the distributions of service times, measured and modelled
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Sectors: A is one, A-B a range, A+N a request for N sectors, which may straddle. Without any,
the layout is drawn. A bare number counts 512-byte sectors; 64KiB, 64k, 1m are bytes.

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
    /// A layout by name, such as stripe, raid5, ccd-mirror, md-raid10-f2
    #[arg(long, group = "source", value_name = "LEVEL")]
    pub(crate) level: Option<String>,
    /// Contiguous sectors on one member (chunk, stripe unit, stripe size)
    #[arg(long, requires = "level", value_name = "N")]
    pub(crate) interleave: Option<String>,
    /// How many members there are, or how large each is
    #[arg(long, requires = "level", value_name = "COUNT|SIZE,SIZE…")]
    pub(crate) members: Option<String>,
    /// What members have where nothing else says it: one size for all, or one each
    #[arg(long, value_delimiter = ',', value_name = "SIZE[,SIZE…]")]
    pub(crate) member_size: Vec<String>,
    /// Sectors at the front of each member that are not the volume's; md's data offset
    #[arg(long, value_name = "N")]
    pub(crate) reserved: Option<String>,
    /// Take the layout from an /etc/ccd.conf
    #[arg(long, group = "source", value_name = "FILE")]
    pub(crate) ccd: Option<PathBuf>,
    /// Take the layout from a configuration of raidctl(8)
    #[arg(long, group = "source", value_name = "FILE")]
    pub(crate) raidctl: Option<PathBuf>,
    /// Take the layout from the output of `mdadm --detail` or `mdadm --examine`
    #[arg(long, group = "source", value_name = "FILE")]
    pub(crate) md: Option<PathBuf>,
    /// Take the layout from the output of `dmsetup table`
    #[arg(long, group = "source", value_name = "FILE")]
    pub(crate) dm: Option<PathBuf>,
    /// Which ccd, array or device of the file
    #[arg(long, value_name = "NAME", conflicts_with_all = ["level", "raidctl"])]
    pub(crate) unit: Option<String>,
    /// Whose bits the numbers in a ccd.conf are
    #[arg(long, requires = "ccd", value_enum)]
    pub(crate) system: Option<SystemFlag>,
    /// Count the requests of a size, at multiples of it or of another, that are split
    #[arg(long, value_delimiter = ',', value_name = "SIZE[@ALIGN]")]
    #[arg(conflicts_with_all = ["sectors", "ffs", "vector"])]
    pub(crate) straddle: Vec<String>,
    /// Compare the map with a vector file; the layout is the file's own unless one is given
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sectors", "ffs"])]
    pub(crate) vector: Option<PathBuf>,
    /// Show where a Berkeley fast file system's own blocks land
    #[arg(long, conflicts_with = "sectors")]
    pub(crate) ffs: bool,
    /// The file system's block size (newfs -b)
    #[arg(long, requires = "ffs", default_value = "8k", value_name = "SIZE")]
    pub(crate) block: String,
    /// Its fragment size (newfs -f) [default: an eighth of a block]
    #[arg(long, requires = "ffs", value_name = "SIZE")]
    pub(crate) frag: Option<String>,
    /// Its version (newfs -O): 1 is UFS1, 2 is UFS2
    #[arg(long, requires = "ffs", default_value_t = 1, value_name = "1|2")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) fs_version: u8,
    /// Which newfs makes it [default: 4.4bsd for version 1, netbsd-2 for version 2]
    #[arg(long, requires = "ffs", value_enum)]
    pub(crate) newfs: Option<NewfsFlag>,
    /// Cylinders of 1 MiB in a group (newfs -c) [default: 16]
    #[arg(long, requires = "ffs", value_name = "N")]
    pub(crate) cylinders_per_group: Option<u64>,
    /// File system for each inode (newfs -i) [default: four fragments]
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
    /// As few groups as can be, as in NetBSD 2 and later
    #[value(name = "netbsd-2")]
    Netbsd2,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DrivesFlags {
    #[command(subcommand)]
    pub(crate) import: Option<DrivesCommand>,
    /// A name from the list, or a file
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DrivesCommand {
    /// Turn measured drives into catalogue files, one a drive
    Import(DriveImportFlags),
}

#[derive(Debug, Args)]
#[command(after_help = "The JSON has an object `drives`: for each drive its rpm, heads, sectors,
head_switch_ms, segments, overheads, zones and seek_ms points. Times are milliseconds, sizes sectors
of 512 bytes. A catalogue file can then be named wherever a drive can: 2x./my-drive.toml.

Example:
  ileave drives import measured-drives.json --out my-drives")]
pub(crate) struct DriveImportFlags {
    /// The JSON file
    pub(crate) file: PathBuf,
    /// Where the catalogue files go; none that is there is overwritten
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct HostsFlags {
    /// A name from the list, or a file
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

The file can then be named in an experiment: [workload.untar] tree = \"src.txt\".")]
pub(crate) struct TreesFlags {
    /// A name from the list, a file of figures, or what tar or find lists
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KeysFlags {
    /// A kind of workload, or a section of the file, such as `untar` or `volume`
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a JSON schema of the file, for editors
    #[arg(long, conflicts_with_all = ["name", "json"])]
    pub(crate) schema: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        Flags::command().debug_assert();
    }
}
