//! The flags of commands for runs on many machines.

use clap::Args;
use std::path::PathBuf;

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
