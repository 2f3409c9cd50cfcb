//! Names for what is built, which the system does not have yet.
//!
//! Commands are written with md0 (of groups md0 to mdN), vg0, tank, data and /srv. Where the listing of --from has one of these,
//! the commands have another: `mdadm --create /dev/md0` would fail, and what follows would work on the array that is there.

use super::Command;
use std::collections::BTreeSet;

/// More arrays than one plan makes.
const ARRAYS_MAX: usize = 64;

/// The same commands, of which none has a name that is `taken`.
pub(crate) fn free(commands: Vec<Command>, taken: &BTreeSet<String>) -> Vec<Command> {
    if taken.is_empty() {
        return commands;
    }
    let changes = changes(&commands, taken);
    let renamed = |text: &str| {
        let step = |text: String, (old, new): &(String, String)| replaced(&text, old, new);
        changes.iter().fold(text.to_string(), step)
    };
    let own = |command: Command| {
        let Command { when, what, line } = command;
        let line = renamed(&line);
        let is_mounted = line.contains("mount ") && changes.iter().any(|(old, _)| old == MOUNT);
        let line = match changes.iter().find(|(old, _)| old == MOUNT) {
            Some((_, place)) if is_mounted => format!("mkdir -p {place} && {line}"),
            _ => line,
        };
        Command { when, what: renamed(&what), line }
    };
    commands.into_iter().map(own).collect()
}

/// Where the volume is mounted.
const MOUNT: &str = "/srv";

/// What is called how in place of its usual name, the later of md's numbers first: md1 is not to become what md0 has become.
fn changes(commands: &[Command], taken: &BTreeSet<String>) -> Vec<(String, String)> {
    let is_used = |name: &str| commands.iter().any(|of| replaced(&of.line, name, "") != of.line);
    let mut changes = Vec::new();
    let arrays: Vec<usize> = (0..ARRAYS_MAX).filter(|n| is_used(&format!("md{n}"))).collect();
    let is_free =
        |start: &usize| arrays.iter().all(|n| !taken.contains(&format!("md{}", n + start)));
    // A name that is taken stands in the way of as many starts as there are arrays.
    let starts = 0..=taken.len() * arrays.len();
    if let Some(start) = starts.into_iter().find(is_free).filter(|start| *start > 0) {
        let moved = |n: &usize| (format!("md{n}"), format!("md{}", n + start));
        changes.extend(arrays.iter().rev().map(moved));
    }
    // What LVM and the device mapper call `data` is in /dev/mapper, and GEOM's is another system's.
    for (name, kin) in
        [("vg0", "vg"), ("tank", "tank"), ("/dev/mapper/data", "/dev/mapper/data"), (MOUNT, MOUNT)]
    {
        let of_listing = name.trim_start_matches("/dev/mapper/");
        // What is mounted below a place would be hidden.
        let is_below =
            |place: &String| place.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
        let is_taken = taken.contains(of_listing) || (name == MOUNT && taken.iter().any(is_below));
        if is_taken && is_used(name) {
            let new = (1..).map(|n| format!("{kin}{n}"));
            let is_free = |name: &String| !taken.contains(name.trim_start_matches("/dev/mapper/"));
            let new = new.into_iter().find(is_free).expect("numbers do not end");
            if name.starts_with("/dev/mapper/") {
                let own = new.trim_start_matches("/dev/mapper/");
                changes.push(("dmsetup create data".into(), format!("dmsetup create {own}")));
                changes.push(("dmsetup table data".into(), format!("dmsetup table {own}")));
                changes.push(("{DM_NAME}==\"data\"".into(), format!("{{DM_NAME}}==\"{own}\"")));
            }
            changes.push((name.into(), new));
        }
    }
    changes
}

/// The same text with `new` where `old` stands as a word of its own.
fn replaced(text: &str, old: &str, new: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut made, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(old) {
        let (before, after) = (&rest[..at], &rest[at + old.len()..]);
        let is_inside =
            before.chars().next_back().or(made.chars().next_back()).is_some_and(is_part)
                || after.chars().next().is_some_and(is_part);
        made += before;
        made += if is_inside { old } else { new };
        rest = after;
    }
    made + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str], taken: &[&str]) -> Vec<String> {
        let command = |line: &&str| Command {
            when: "build",
            what: format!("of {line}"),
            line: (*line).into(),
        };
        let taken = taken.iter().map(ToString::to_string).collect();
        let made = free(lines.iter().map(command).collect(), &taken);
        made.into_iter().map(|command| command.line).collect()
    }

    /// Beside a RAID 5 called md0, all but the first of the commands worked on that.
    #[test]
    fn what_is_built_has_a_name_of_its_own() {
        let md = ["mdadm --create /dev/md0 $disks", "echo 1 > /sys/block/md0/x > 60-md0.rules"];
        assert_eq!(lines(&md, &["sdb", "md1"]), md);
        let other = ["mdadm --create /dev/md1 $disks", "echo 1 > /sys/block/md1/x > 60-md1.rules"];
        assert_eq!(lines(&md, &["md0"]), other);
        // Groups stay side by side.
        let groups = [
            "mdadm --create /dev/md1 a",
            "mdadm --create /dev/md2 b",
            "mdadm --create /dev/md0 /dev/md1 /dev/md2",
        ];
        assert_eq!(
            lines(&groups, &["md0", "md2"]),
            [
                "mdadm --create /dev/md4 a",
                "mdadm --create /dev/md5 b",
                "mdadm --create /dev/md3 /dev/md4 /dev/md5"
            ]
        );
        assert_eq!(
            lines(&["vgcreate vg0 $disks && lvcreate -n data vg0"], &["vg0", "vg1", "data"]),
            ["vgcreate vg2 $disks && lvcreate -n data vg2"]
        );
        assert_eq!(lines(&["zpool create tank $disks"], &["tank"]), ["zpool create tank1 $disks"]);
        assert_eq!(
            lines(&["dmsetup create data --table x", "mkfs.xfs /dev/mapper/data"], &["data"]),
            ["dmsetup create data1 --table x", "mkfs.xfs /dev/mapper/data1"]
        );
        assert_eq!(
            lines(&["mount /dev/md0 /srv && x", "fio --filename=/srv/check"], &["/srv"]),
            ["mkdir -p /srv1 && mount /dev/md0 /srv1 && x", "fio --filename=/srv1/check"]
        );
        // A site below it would be hidden.
        let mount = ["mount /dev/md0 /srv"];
        assert_eq!(lines(&mount, &["/srv/www"]), ["mkdir -p /srv1 && mount /dev/md0 /srv1"]);
        assert_eq!(lines(&mount, &["/srv2"]), mount);
    }
}
