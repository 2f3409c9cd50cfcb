//! The command line: one definition of every flag, from which help comes too.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// How should these disks be laid out for this work, and why?
#[derive(Debug, Parser)]
#[command(name = "ileave", version, max_term_width = 100)]
#[command(after_help = "Examples:
  ileave run experiments/fair-2006.toml
  ileave run experiments/fair-2006.toml --set volume.interleave=16,48,96 --repeat 5
  ileave reproduce fair-2006
  ileave drives wd740gd")]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment, print its table, and say what to choose and why
    Run(RunFlags),
    /// Print the table and the reasons of a results directory again
    Report(ReportFlags),
    /// Put published numbers beside simulated ones
    Reproduce(ReproduceFlags),
    /// List the drives that can be modelled, or every figure of one with its source
    Drives(DrivesFlags),
    /// List the hosts that can be modelled, or every figure of one with its source
    Hosts(HostsFlags),
    /// List the keys of an experiment file
    Keys(KeysFlags),
}

#[derive(Debug, Args)]
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
    /// Where the trials run
    #[arg(long, value_enum, default_value_t = Rig::Sim)]
    pub(crate) on: Rig,
    /// Set a key, or vary it over a list; may be given several times
    #[arg(long, value_name = "KEY=VALUE[,VALUE…]")]
    pub(crate) set: Vec<String>,
    /// Try each cell so many times [key run.repeats]
    #[arg(long, value_name = "N")]
    pub(crate) repeat: Option<u64>,
    /// Everything random follows from it [key run.seed]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Keep the results in this directory, which must be new or empty [default:
    /// ileave-results/NAME-1, or the next number that is free]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with an interrupted run of the same experiment
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Rig {
    /// Modelled drives in virtual time
    Sim,
}

#[derive(Debug, Args)]
pub(crate) struct ReportFlags {
    /// A results directory, finished or not
    pub(crate) directory: PathBuf,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceFlags {
    /// A published table; without a name, all of them are listed
    pub(crate) name: Option<String>,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
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
    Import(ImportFlags),
}

#[derive(Debug, Args)]
#[command(
    after_help = "The JSON has an object `drives`: for each drive its rpm, heads, cylinders, sectors,
head_switch_ms, segments, overheads, zones and seek_ms points. Times are milliseconds, sizes sectors
of 512 bytes. A catalogue file can then be named wherever a drive can: 2x./my-drive.toml.

Example:
  ileave drives import measured-drives.json --out my-drives"
)]
pub(crate) struct ImportFlags {
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
pub(crate) struct KeysFlags {
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
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
