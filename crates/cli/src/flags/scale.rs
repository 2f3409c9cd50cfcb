//! The flags of commands for runs on many machines.

use super::ExperimentFlags;
use crate::engines::{ENGINES, Engine};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use store::SHARDS_MAX;

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
// No shard has the cells that it compares.
#[command(mut_arg("within", |within| within.hide(true)))]
#[command(
    after_help = "The machines share the directory that this is run in. What is finished is read from the results. \
The same command continues what was interrupted, and repeats only tasks that were lost. docs/scale.md has an \
example for each engine.

Examples:
  ileave submit sweep.toml --engine parallel
  ileave submit sweep.toml --engine parallel --workers 8 -- --sshlogin one,two
  ileave submit sweep.toml --engine slurm --shards 500 --workers 100 -- --partition short
  ileave submit sweep.toml --engine kubernetes --plan -- --image IMAGE --claim CLAIM"
)]
pub(crate) struct SubmitFlags {
    #[command(flatten)]
    pub(crate) experiment: ExperimentFlags,
    /// Engine that hands out the shards
    #[arg(long, value_name = "ENGINE", value_parser = engine())]
    pub(crate) engine: &'static Engine,
    /// Parts that the trials are divided into [default: 8 for each worker]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=SHARDS_MAX))]
    pub(crate) shards: Option<u64>,
    /// Shards that run at a time [default: the processors of this machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=SHARDS_MAX))]
    pub(crate) workers: Option<u64>,
    /// Directory for the results; one that is there is continued [default: ileave-results/NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How tasks start ileave [default: this program's path; `ileave` in containers]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) ileave: Option<PathBuf>,
    /// Print the files and the command, and run nothing
    #[arg(long, conflicts_with = "json")]
    pub(crate) plan: bool,
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Options for the engine
    #[arg(last = true, value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
}

/// The engines by name.
fn engine() -> impl TypedValueParser<Value = &'static Engine> {
    let values = ENGINES.iter().map(|engine| PossibleValue::new(engine.name).help(engine.about));
    PossibleValuesParser::new(values).map(|name| {
        let mut engines = ENGINES.iter();
        engines.find(|engine| engine.name == name).expect("the parser takes no other")
    })
}

#[derive(Debug, Args)]
#[command(
    after_help = "The directories are of the same experiment, version and machine. What --out holds \
already stays, so merging again changes nothing, and shards that come later can be added.

Examples:
  ileave merge ileave-results/sweep-*-of-7 --out ileave-results/sweep
  ileave merge first second --out all --partial"
)]
pub(crate) struct MergeFlags {
    /// Results directories of shards
    #[arg(value_name = "DIR", required = true)]
    pub(crate) directories: Vec<PathBuf>,
    /// Directory for all results
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Merge what is there, although trials are missing
    #[arg(long)]
    pub(crate) partial: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
