//! The command line: one definition of every flag, from which help comes too.

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
  ileave drives wd740gd")]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment, print its table, and say what to choose and why
    Run(RunFlags),
    /// Say what a results directory comes to: table, verdict and page
    Report(ReportFlags),
    /// Put two results directories side by side, cell by cell
    Compare(CompareFlags),
    /// Make a results directory of other people's results
    Import(ImportFlags),
    /// Put published numbers beside simulated ones
    Reproduce(ReproduceFlags),
    /// List the drives that can be modelled, or every figure of one with its source
    Drives(DrivesFlags),
    /// List the hosts that can be modelled, or every figure of one with its source
    Hosts(DrivesFlags),
    /// List the keys of an experiment file
    Keys(KeysFlags),
    /// Print the completions for a shell
    Completions(CompletionsFlags),
    /// Print the manual page, of all or of one command
    Man(ManFlags),
}

#[derive(Debug, Args)]
#[command(after_help = "Sizes: a bare number counts 512-byte sectors; 64KiB, 64k, 1m are bytes.
A list makes a factor: every combination of all factors is one cell.

Examples:
  ileave run experiments/fair-2006.toml
  ileave run experiments/fair-2006.toml --set volume.interleave=32KiB,64KiB
  ileave run experiments/fair-2006.toml --set drive.write_cache=off --json
  ileave run experiments/fair-2006.toml --resume ileave-results/fair-2006-1")]
pub(crate) struct RunFlags {
    /// The experiment file
    pub(crate) file: PathBuf,
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
#[command(
    after_help = "Objectives and constraints are formulas over what was measured: a workload's name \
is its main figure, NAME.SAMPLE any other. `best` is the best that the left side reaches.

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
    #[arg(long)]
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
    /// Keep the results in this directory, which must be new or empty [default:
    /// ileave-results/NAME-1, or the next number that is free]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
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
pub(crate) struct ReproduceFlags {
    /// A published table; without a name, all of them are listed
    pub(crate) name: Option<String>,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DrivesFlags {
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
