//! `ileave kernel`, and what it runs within.

use super::print_json;
use crate::flags::{KernelBuildFlags, KernelCommand, KernelFlags};
use crate::progress::Bar;
use lab::rig::kernel::build::{self, Source, Step};
use lab::rig::kernel::guest;
use lab::{Error, Result};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Makes the kernel, or tells what there is.
pub(crate) fn kernel(flags: &KernelFlags) -> Result<String> {
    match &flags.command {
        KernelCommand::Build(flags) => make(flags),
        KernelCommand::Status(flags) => {
            let status = Status::find()?;
            Ok(if flags.json { print_json(&status.json()) } else { status.text() })
        }
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

/// What there is for `--on kernel`, and what is lacking.
struct Status {
    kernels: Vec<build::Kernel>,
    /// What kernels of this version of ileave are made with.
    today: String,
    /// Of none of this version: why there is none, what one can be made from, and what of the tools is missing.
    missing: Option<String>,
    source: std::result::Result<PathBuf, String>,
    tools: Option<String>,
}

impl Status {
    fn find() -> Result<Status> {
        let cache = build::cache().map_err(Error::input)?;
        let kernels = build::kept(&cache).map_err(Error::failure)?;
        let today = build::digest();
        let has_one = kernels.iter().any(|kernel| kernel.digest == today);
        let newest =
            || build::newest(&cache).map_or_else(|error| error.to_string(), |_| String::new());
        let source = match Source::installed() {
            Ok(Source::Tar(path) | Source::Tree(path)) => Ok(path),
            Err(error) => Err(error.to_string()),
        };
        let tools = build::check_tools().err().map(|error| error.to_string());
        Ok(Status { kernels, today, missing: (!has_one).then(newest), source, tools })
    }

    fn is_of_today(&self, kernel: &build::Kernel) -> bool {
        kernel.digest == self.today
    }

    fn text(&self) -> String {
        let mut output = String::new();
        for kernel in &self.kernels {
            let use_of_it =
                if self.is_of_today(kernel) { "" } else { "  (of another version of ileave)" };
            writeln!(output, "Linux {}  {}{use_of_it}", kernel.version, kernel.path.display())
                .expect("a string grows");
        }
        if let Some(missing) = &self.missing {
            writeln!(output, "{missing}").expect("a string grows");
            match &self.source {
                Ok(path) => writeln!(output, "source: {}", path.display()),
                Err(error) => writeln!(output, "source: {error}"),
            }
            .expect("a string grows");
            if let Some(error) = &self.tools {
                writeln!(output, "tools: {error}").expect("a string grows");
            }
        }
        output
    }

    fn json(&self) -> Json {
        let kernel = |of: &build::Kernel| {
            json!({
                "version": of.version,
                "path": of.path.display().to_string(),
                "is_of_this_version": self.is_of_today(of),
            })
        };
        json!({
            "is_ready": self.missing.is_none(),
            "kernels": self.kernels.iter().map(kernel).collect::<Vec<Json>>(),
            "missing": self.missing,
            "source": self.source.as_ref().ok().map(|path| path.display().to_string()),
            "source_missing": self.source.as_ref().err(),
            "tools_missing": self.tools,
        })
    }
}

/// Runs as the first program of a kernel.
pub(crate) fn guest(disk: &Path) -> Result<String> {
    guest::run(disk).map(|()| String::new())
}
