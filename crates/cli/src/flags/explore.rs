//! The flags of `ileave explore`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Prints the address of a page on this machine; its token is new each time. The page loads nothing from \
elsewhere. Ctrl-C ends it.

Examples:
  ileave explore
  ileave explore --drives '8x ST18000NM000J' --workload backup
  ileave explore --drives '6x my-drive.toml' --workload job.fio --port 8080
  ileave explore --page explore.html --module page.wasm"
)]
pub(crate) struct ExploreFlags {
    /// Drives to begin with: how many and which, a name from the list or a catalogue file
    #[arg(long, value_name = "NxDRIVE", default_value = "8x st18000nm000j")]
    pub(crate) drives: String,
    /// Work to begin with: a name that `ileave tune` takes, or an experiment or fio job file
    #[arg(long, value_name = "WORK", default_value = "vm")]
    pub(crate) workload: String,
    /// Port on the loopback address [default: any that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Write the page to this file instead, with the model in it: it needs no server
    #[arg(long, value_name = "FILE", requires = "module", conflicts_with = "port")]
    pub(crate) page: Option<PathBuf>,
    /// The model for that page, as WebAssembly: what .ci/page makes
    #[arg(long, value_name = "FILE", requires = "page")]
    pub(crate) module: Option<PathBuf>,
}
