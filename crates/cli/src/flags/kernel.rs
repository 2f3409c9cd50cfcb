//! `ileave kernel` and its flags.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ileave kernel build
  ileave kernel status
  ileave run experiments/md-chunk.toml --on kernel")]
pub(crate) struct KernelFlags {
    #[command(subcommand)]
    pub(crate) command: KernelCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KernelCommand {
    /// Make the kernel, once: some minutes, from the source in Debian's package linux-source-6.1
    Build(KernelBuildFlags),
    /// List the kernels that were made, and what is lacking
    Status(KernelStatusFlags),
}

#[derive(Debug, Args)]
pub(crate) struct KernelStatusFlags {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KernelBuildFlags {
    /// Kernel source: a tree or a tar file [default: what Debian's package has put into /usr/src]
    #[arg(long, value_name = "DIR|TARBALL")]
    pub(crate) source: Option<PathBuf>,
}

/// What a kernel of `--on kernel` runs.
#[derive(Debug, Args)]
pub(crate) struct GuestFlags {
    /// The disk that holds the job
    pub(crate) control: PathBuf,
}
