//! The members of `--on disks`: what the flags say of them, and asking before one is lost.

use crate::flags::DisksFlags;
use lab::experiment::Plan;
use lab::rig::RigKind;
use lab::{Error, Result};

/// Opens the members, notes them in the plan, and prints what makes their figures doubtful.
#[cfg(target_os = "linux")]
pub(super) fn open(flags: &DisksFlags, plan: &mut Plan) -> Result<Box<dyn RigKind>> {
    use lab::rig::disks::{DisksKind, Options};
    let sectors = |flag: &str, text: &Option<String>| {
        let read = |text: &String| lab::experiment::parse_size(text);
        let sectors = text.as_ref().map(read).transpose();
        sectors.map_err(|error| error.context(flag))
    };
    let options = Options {
        paths: flags.members.clone(),
        member_sectors: sectors("--member-size", &flags.member_size)?,
        create_bytes: sectors("--create", &flags.create)?.map(|sectors| sectors * 512),
        write: flags.write,
        overwrite_signed: flags.overwrite_signed,
        buffered: flags.buffered,
        failed: flags.failed.clone(),
    };
    let kind = DisksKind::open(&options, &mut |path, bytes| {
        Ok(flags.yes_destroy.iter().any(|name| name == path) || typed_back(path, bytes)?)
    })?;
    plan.warnings.extend_from_slice(kind.warnings());
    plan.members = kind.describe();
    Ok(Box::new(kind))
}

/// Says that there is none here.
#[cfg(not(target_os = "linux"))]
pub(super) fn open(_: &DisksFlags, _: &mut Plan) -> Result<Box<dyn RigKind>> {
    Err(Error::input("the disks rig measures through io_uring, which only Linux has"))
}

/// Asks on the terminal for the name of a device that is to be written; without one, that is a no.
#[cfg(target_os = "linux")]
fn typed_back(path: &std::path::Path, bytes: u64) -> Result<bool> {
    use std::io::{IsTerminal, stderr, stdin};
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return Ok(false);
    }
    let name = path.display().to_string();
    let (unit_bytes, unit) = if bytes < 1_000_000_000 { (1e6, "MB") } else { (1e9, "GB") };
    let size = bytes as f64 / unit_bytes;
    say(&format!(
        "{name} is a block device of {size:.1} {unit}. Everything on it will be lost, for good.\n\
         Type its name to go on: "
    ));
    let mut line = String::new();
    let read = stdin().read_line(&mut line);
    read.map_err(|error| Error::failure(format!("cannot read your answer: {error}")))?;
    Ok(line.trim_end_matches(['\n', '\r']) == name)
}

/// Where even standard error cannot be written, nothing can be said.
#[cfg(target_os = "linux")]
fn say(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
