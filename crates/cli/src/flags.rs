//! The command line: one definition of every flag, from which help comes too.

#[cfg(test)]
mod documented;
mod drives;
mod explore;
mod import;
#[cfg(target_os = "linux")]
mod kernel;
mod map;
mod rig;
mod risk;
mod scale;
mod tune;

pub(crate) use drives::{
    DriveFitFlags, DriveImportFlags, DriveMatchFlags, DriveProbeFlags, DrivesCommand, DrivesFlags,
};
pub(crate) use explore::ExploreFlags;
pub(crate) use import::ImportFiles;
#[cfg(target_os = "linux")]
pub(crate) use kernel::{GuestFlags, KernelBuildFlags, KernelCommand, KernelFlags};
pub(crate) use map::{MapFlags, NewfsFlag, SystemFlag};
pub(crate) use rig::{ModelledRigFlags, RigFlags};
pub(crate) use risk::RiskFlags;
pub(crate) use scale::{MergeFlags, SubmitFlags};
pub(crate) use tune::{Time, TuneFlags};

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use store::Shard;

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
    /// Try layouts in a browser: sliders, and the results of modelled trials at once
    Explore(ExploreFlags),
    /// Run an experiment: which layout to choose, and why
    Run(Box<RunFlags>),
    /// Run an experiment in parts on many machines: by GNU parallel, Slurm, Dask, Kubernetes and others
    Submit(Box<SubmitFlags>),
    /// Merge the results directories of several shards into one
    Merge(MergeFlags),
    /// Summarize a results directory: table, verdict, HTML page
    Report(ReportFlags),
    /// Write the trials of a results directory as a Parquet file, for data frames and SQL engines
    Export(ExportFlags),
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
    /// Make the kernel that `run --on kernel` boots, or list those that were made
    #[cfg(target_os = "linux")]
    Kernel(KernelFlags),
    /// What a kernel of `--on kernel` runs
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Guest(GuestFlags),
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
  ileave run experiments/fair-2006.toml --resume ileave-results/fair-2006-1
  ileave run experiments/fair-2006.toml --shard 2/7")]
pub(crate) struct RunFlags {
    #[command(flatten)]
    pub(crate) experiment: ExperimentFlags,
    /// Run one of N parts of the trials, as 2/7; `ileave merge` puts the parts together
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Where to write why the shard cannot be run, if it cannot: for `ileave submit`
    #[arg(long, value_name = "FILE", requires = "shard", hide = true)]
    pub(crate) refusal: Option<PathBuf>,
    /// Trials side by side, at most [default: what the rig can]
    #[arg(long, value_name = "N", value_parser = lanes)]
    pub(crate) lanes: Option<u64>,
    /// Directory for the results, without earlier ones [default: ileave-results/NAME-1,
    /// or the next free number; with --shard NAME-I-of-N, which is continued]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) out: Option<PathBuf>,
    /// Continue an interrupted run of the same experiment
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
    /// With --resume: also the cells whose trial failed or took the machine down
    #[arg(long, requires = "resume")]
    pub(crate) retry_suspects: bool,
    /// Time budget, as in 2h: no trial begins after it
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) r#for: Option<Duration>,
    /// Also write one self-contained HTML page, as `ileave report --html` does
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    pub(crate) html: Option<PathBuf>,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) rig: RigFlags,
}

/// A length of time; in none nothing runs.
fn span(text: &str) -> Result<Duration, String> {
    match block::units::parse_nanos(text).map_err(|error| error.to_string())? {
        0 => Err("it must be above 0, as in 2h".into()),
        nanos => Ok(Duration::from_nanos(nanos)),
    }
}

/// What everything random follows from.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("write a whole number from 0 to {}", u64::MAX))
}

/// How many trials run side by side.
fn lanes(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "it must be a whole number from 1".into())
}

/// Which experiment, and what is changed of it.
#[derive(Debug, Args)]
pub(crate) struct ExperimentFlags {
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
    /// Set a key, or vary it over a list; repeatable. A value with a comma needs quotes of its own:
    /// --set 'fs.options="noatime,nodiratime"'
    #[arg(long, value_name = "KEY=VALUE[,VALUE…]")]
    pub(crate) set: Vec<String>,
    /// Repeats per cell [default: 1; 5 in sim with several rotating disks; 3 with --on disks or a capacity] [key run.repeats]
    #[arg(long, value_name = "N")]
    pub(crate) repeat: Option<u64>,
    /// Repeat each cell until its comparison with the best is as narrow as this, or clear (`run.compare_within`)
    #[arg(long, value_name = "PERCENT")]
    pub(crate) within: Option<String>,
    /// Random seed [key run.seed]
    #[arg(long, value_name = "S", value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Factor to choose; repeatable. The others become loads and conditions [key ask.choose]
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    pub(crate) choose: Vec<String>,
}

impl ExperimentFlags {
    /// The words of the command line that say the same.
    pub(crate) fn words(&self) -> Vec<String> {
        let numbers = [("--repeat", self.repeat), ("--seed", self.seed)];
        let texts = [
            ("--drives", &self.drives),
            ("--level", &self.level),
            ("--interleave", &self.interleave),
            ("--within", &self.within),
        ];
        let texts = texts.iter().filter_map(|(name, text)| Some((*name, text.as_ref()?.clone())));
        let numbers = numbers.iter().filter_map(|(name, n)| Some((*name, n.as_ref()?.to_string())));
        let set = self.set.iter().map(|value| ("--set", value.clone()));
        let choose = self.choose.iter().map(|key| ("--choose", key.clone()));
        let flags = texts.chain(set).chain(numbers).chain(choose);
        let words = flags.map(|(name, value)| format!("{name}={value}"));
        std::iter::once(self.file.display().to_string()).chain(words).collect()
    }
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
#[command(
    after_help = "One row per trial, every column with its type; docs/export.md has examples in SQL and Python.

Example:
  ileave export ileave-results/fair-2006-1 --parquet --out fair.parquet"
)]
// A flag that must be given stands before the directory, as if it took that.
#[command(override_usage = "ileave export <DIRECTORY> --parquet [--out <FILE>]")]
pub(crate) struct ExportFlags {
    /// Results directory, finished or not
    pub(crate) directory: PathBuf,
    /// What people give as the file; it is refused, with a word about `--out`
    #[arg(hide = true)]
    pub(crate) file: Option<PathBuf>,
    /// As a Parquet file
    #[arg(long, required = true)]
    pub(crate) parquet: bool,
    /// File to write; an earlier export is replaced [default: NAME.parquet]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
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
for examples. Formats: fio, hyperfine, hyperfine-csv, bonnie, bonnie-csv, iozone, dd, time, shell-time.
Files may be packed with gzip.

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
the errors of the predicted ones, whether ranks and winner agree, and what is not reproduced. All tables take \
about two minutes of a processor.

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
docs/laws.md lists the laws and what they do not cover. Exit status 1 if a law is broken. 10,000 cells \
take about five minutes of a processor.

Examples:
  ileave check --cells 100000
  ileave check experiments/fair-2006.toml"
)]
pub(crate) struct CheckFlags {
    /// Experiment whose cells are checked [default: cells at random]
    pub(crate) file: Option<PathBuf>,
    /// Cells to simulate
    #[arg(long, value_name = "N", default_value_t = 10_000, conflicts_with = "file")]
    pub(crate) cells: u64,
    /// Random seed
    #[arg(long, value_name = "S", default_value_t = 1, conflicts_with = "file", value_parser = seed)]
    pub(crate) seed: u64,
    /// Look at this cell of the seed alone, as a finding names it
    #[arg(long, value_name = "N", conflicts_with_all = ["file", "cells"])]
    pub(crate) cell: Option<u64>,
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
    /// Drive that the measurements are compared with, a name from the list or a catalogue file: cells of rates (flash drives),
    /// latencies at loads, or a rate of writes over time
    #[arg(long, value_name = "DRIVE", conflicts_with_all = ["drives", "html"])]
    pub(crate) drive: Option<String>,
    /// Part of the name of the device, where the grid has several
    #[arg(long, requires = "drive")]
    pub(crate) device: Option<String>,
    /// Print every cell
    #[arg(long, requires = "drive")]
    pub(crate) cells: bool,
    /// Look up drives in this JSON file first (as for `ileave drives import`); or a folder of drive files and
    /// .diskspecs, whose drives.toml names trace = file
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) drives: Option<PathBuf>,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Write one self-contained HTML page with the service time distributions, measured and modelled
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
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
    /// Key, kind of workload, section of the file, or kind of file of the catalogue, as in `volume.interleave`, `depth`,
    /// `untar`, `volume` or `flash` [default: all keys]
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
        for kind in lab::rig::KINDS {
            let repeats = (kind.capabilities)().repeats;
            if repeats == 1 {
                assert!(help.contains("[default: 1"), "{help}");
                continue;
            }
            assert!(help.contains(&format!("{repeats} with --on {}", kind.name)), "{help}");
        }
    }

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        Flags::command().debug_assert();
    }
}
