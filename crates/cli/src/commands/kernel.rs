//! `ileave kernel`, and what it runs within.

use crate::flags::{KernelBuildFlags, KernelCommand, KernelFlags};
use crate::progress::Bar;
use lab::rig::kernel::build::{self, Source, Step};
use lab::rig::kernel::guest;
use lab::{Error, Result};
use std::fmt::Write as _;
use std::path::Path;

/// Makes the kernel, or tells what there is.
pub(crate) fn kernel(flags: &KernelFlags) -> Result<String> {
    match &flags.command {
        KernelCommand::Build(flags) => make(flags),
        KernelCommand::Status => status(),
    }
}

fn make(flags: &KernelBuildFlags) -> Result<String> {
    let source = match &flags.source {
        Some(path) => Source::at(path),
        None => Source::installed(),
    };
    let source = source.map_err(Error::input)?;
    let cache = build::cache().map_err(Error::input)?;
    let bar = Bar::new();
    let mut tell = |step: Step<'_>| match step {
        Step::Doing(what) => bar.doing(what),
        Step::Compiled { files, of_about } => bar.files(files, of_about),
    };
    let kernel = build::build(&source, &cache, &mut tell);
    bar.finish();
    let kernel = kernel.map_err(Error::failure)?;
    Ok(format!("Linux {} for `--on kernel`: {}\n", kernel.version, kernel.path.display()))
}

fn status() -> Result<String> {
    let cache = build::cache().map_err(Error::input)?;
    let kernels = build::kept(&cache).map_err(Error::failure)?;
    let today = build::digest();
    let mut output = String::new();
    for kernel in &kernels {
        let use_of_it =
            if kernel.digest == today { "" } else { "  (of another version of ileave)" };
        writeln!(output, "Linux {}  {}{use_of_it}", kernel.version, kernel.path.display())
            .expect("a string grows");
    }
    if !kernels.iter().any(|kernel| kernel.digest == today) {
        let said = build::newest(&cache).map_or_else(|error| error.to_string(), |_| String::new());
        writeln!(output, "{said}").expect("a string grows");
        match Source::installed() {
            Ok(Source::Tar(path) | Source::Tree(path)) => {
                writeln!(output, "source: {}", path.display()).expect("a string grows");
            }
            Err(error) => writeln!(output, "source: {error}").expect("a string grows"),
        }
        if let Err(error) = build::check_tools() {
            writeln!(output, "tools: {error}").expect("a string grows");
        }
    }
    Ok(output)
}

/// Runs as the first program of a kernel.
pub(crate) fn guest(disk: &Path) -> Result<String> {
    guest::run(disk).map(|()| String::new())
}
