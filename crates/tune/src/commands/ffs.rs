//! newfs(8) and mount(8) of an FFS, and what a kernel of BSD is built with.

use super::of_trial::of_file_system;
use super::{Command, build};
use block::SECTOR_BYTES;
use block::units::parse_sectors;
use lab::experiment::{Experiment, Trial};

/// What makes and mounts the FFS of a trial; nothing where it has none.
pub(super) fn commands(experiment: &Experiment, trial: &Trial) -> Vec<Command> {
    let value = |key: &str| Some(of_file_system(experiment, trial, key)?.to_string());
    let newfs = value("newfs");
    let is_ffs = newfs.is_some() || value("kind").as_deref() == Some("ffs");
    if trial.setup.files.is_none() || !is_ffs {
        return Vec::new();
    }
    let sectors = |key: &str| parse_sectors(&value(key)?).ok();
    let bytes = |key: &str| sectors(key).map(|sectors| sectors * SECTOR_BYTES);
    let is_old = newfs.as_deref() == Some("4.4bsd");
    let block = bytes("block");
    // What newfs takes by itself follows the volume's size in NetBSD 2, and not what was modelled.
    let block = if is_old { block } else { block.or(Some(BLOCK_BYTES)) };
    let fragment = bytes("frag").or(block.map(|bytes| bytes / 8));
    let words = [
        // `-O` of 4.4BSD is another option: the format of 4.3BSD.
        (!is_old).then(|| format!("-O {}", value("version").unwrap_or_else(|| "1".into()))),
        block.map(|bytes| format!("-b {bytes}")),
        fragment.map(|bytes| format!("-f {bytes}")),
        is_old.then(|| Some(format!("-t 1 -u {}", sectors("cylinder")?))).flatten(),
        is_old.then(|| Some(format!("-c {}", value("cylinders")?))).flatten(),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    let options = if words.is_empty() { String::new() } else { format!(" {}", words.join(" ")) };
    let mode = value("mount").filter(|mode| ["softdep", "async"].contains(&mode.as_str()));
    let is_quiet = value("atime").as_deref() == Some("false");
    let options_of_mount: Vec<String> =
        mode.into_iter().chain(is_quiet.then(|| "noatime".into())).collect();
    let mount = match options_of_mount.join(",") {
        none if none.is_empty() => "mount $volume /srv".into(),
        some => format!("mount -o {some} $volume /srv"),
    };
    vec![
        build("its file system; $volume is the device", format!("newfs{options} $volume")),
        build("mount it", mount),
    ]
}

/// The block where an experiment names none (`fs.block`).
const BLOCK_BYTES: u64 = 8192;

/// The largest request of a kernel of BSD, where the experiment chose it: a constant of its configuration.
pub(super) fn largest_request(trial: &Trial) -> Option<Command> {
    let (_, value) = trial.cell.at.iter().find(|(path, _)| path == LARGEST)?;
    let bytes = parse_sectors(&value.to_string()).ok()? * SECTOR_BYTES;
    Some(build(
        "the largest request, in the configuration of a kernel that is built anew",
        format!("options MAXPHYS=({}*1024)", bytes / 1024),
    ))
}

/// The key of it.
pub(super) const LARGEST: &str = "host.max_transfer";
