//! ccd(4), which NetBSD has and FreeBSD had before its version 5: ccdconfig(8), and the line of ccd.conf(5) that makes it again
//! after a restart.

use super::{Command, build};

/// What ccdconfig(8) calls a level: its interleave is 0 where members follow each other, and its flags.
fn flags(level: &str) -> Option<(bool, &'static str)> {
    Some(match level {
        "ccd-concat" => (false, "none"),
        "ccd-concat-uniform" => (false, "CCDF_UNIFORM"),
        "ccd-stripe" | "md-stripe" => (true, "none"),
        "ccd-uniform" => (true, "CCDF_UNIFORM"),
        // Disk k of the first half, and disk k of the second. NetBSD has dropped it.
        "ccd-mirror" | "md-mirror" | "md-raid10" => (true, "CCDF_MIRROR"),
        _ => return None,
    })
}

/// What builds a level of `$disks` with an interleave of so many sectors; nothing where ccd has none such.
pub(super) fn commands(level: &str, members: usize, interleave_sectors: u64) -> Vec<Command> {
    let Some((is_striped, flags)) = flags(level) else { return Vec::new() };
    if flags == "CCDF_MIRROR" && !members.is_multiple_of(2) || level == "md-mirror" && members > 2 {
        return Vec::new();
    }
    let line = line(if is_striped { interleave_sectors } else { 0 }, flags, "$disks");
    vec![
        build("the volume, of partitions as disklabel(8) makes them", format!("ccdconfig {line}")),
        build(KEPT, kept(&line)),
    ]
}

/// A line of ccd.conf(5), and what stands behind `ccdconfig`.
pub(super) fn line(interleave_sectors: u64, flags: &str, disks: &str) -> String {
    format!("ccd0 {interleave_sectors} {flags} {disks}")
}

/// What [`kept`] is for.
pub(super) const KEPT: &str =
    "the same in ccd.conf, which `ccdconfig -C` reads when the machine starts";

/// What `ccdconfig -C` reads when the machine starts.
pub(super) fn kept(line: &str) -> String {
    format!("echo \"{line}\" >> /etc/ccd.conf")
}
