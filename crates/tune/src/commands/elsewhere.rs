//! What survives as much on other systems; their writes are not modelled, so nothing is said of their speed. Where a
//! system has no such volume, the line says why.

use super::{Command, Plan};

/// The commands of LVM, ZFS, btrfs, FreeBSD's GEOM, and NetBSD's ccd and RAIDframe.
pub(super) fn commands(plan: &Plan<'_>) -> Vec<Command> {
    let lines = match plan.level.name {
        "md-stripe" => stripe(plan),
        "md-mirror" => mirror(plan),
        "md-raid5" => one_parity(plan),
        "md-raid6" => two_parities(plan),
        "md-raid10" | "md-raid10-f2" => pairs(plan),
        _ if plan.level.nested().is_some() => vec![zfs(&groups(plan))],
        _ => return Vec::new(),
    };
    let command =
        |(what, line): (&str, String)| Command { when: "elsewhere", what: what.into(), line };
    // Where a file system was chosen, btrfs was measured.
    let is_new = |(what, _): &Line| plan.file_system.is_none() || *what != "btrfs";
    lines.into_iter().filter(is_new).map(command).collect()
}

type Line = (&'static str, String);

fn stripe(plan: &Plan<'_>) -> Vec<Line> {
    let (members, kib) = (plan.members, plan.chunk_kib());
    vec![
        lvm(&format!("--type striped -i {members} -I {kib}k")),
        zfs("$disks"),
        btrfs("-d raid0 -m raid1"),
        ("FreeBSD", format!("gstripe label -v -s {} data $disks", kib * 1024)),
        ("NetBSD", format!("ccdconfig ccd0 {} none $disks", kib * 2)),
    ]
}

fn mirror(plan: &Plan<'_>) -> Vec<Line> {
    vec![
        lvm_raid(plan, &format!("--type raid1 -m {}", plan.members - 1)),
        zfs("mirror $disks"),
        btrfs("-d raid1 -m raid1"),
        ("FreeBSD", "gmirror label -v data $disks".into()),
        if plan.members == 2 {
            raidframe(plan, 1)
        } else {
            without("NetBSD", "RAIDframe keeps two copies at most")
        },
    ]
}

// btrfs' own parity is not for data that matter: its write hole is open.
fn one_parity(plan: &Plan<'_>) -> Vec<Line> {
    let (members, kib) = (plan.members, plan.chunk_kib());
    vec![
        lvm_raid(plan, &format!("--type raid5 -i {} -I {kib}k", plan.data_members())),
        zfs("raidz1 $disks"),
        if (members - 1).is_power_of_two() && members > 2 {
            ("FreeBSD", "graid3 label -v data $disks".into())
        } else {
            without("FreeBSD", "graid3 takes 3, 5, 9 or 17 disks; use ZFS, which FreeBSD has too")
        },
        raidframe(plan, 5),
    ]
}

fn two_parities(plan: &Plan<'_>) -> Vec<Line> {
    let kib = plan.chunk_kib();
    vec![
        lvm_raid(plan, &format!("--type raid6 -i {} -I {kib}k", plan.data_members())),
        zfs("raidz2 $disks"),
        without("FreeBSD", "GEOM has no double parity; use ZFS, which FreeBSD has too"),
        without("NetBSD", "RAIDframe has no double parity"),
    ]
}

/// ZFS stripes over its groups by itself.
fn groups(plan: &Plan<'_>) -> String {
    let of = plan.level.nested().expect("there are groups");
    let (each, parities) = (plan.members / of.groups, plan.level.losses_survived(plan.members));
    let group = |number: usize| {
        let (first, last) = (number * each + 1, (number + 1) * each);
        format!("raidz{parities} $(echo $disks | cut -d' ' -f{first}-{last})")
    };
    (0..of.groups).map(group).collect::<Vec<_>>().join(" ")
}

fn pairs(plan: &Plan<'_>) -> Vec<Line> {
    let (members, kib) = (plan.members, plan.chunk_kib());
    if !members.is_multiple_of(2) {
        return vec![
            btrfs("-d raid10 -m raid10"),
            without("LVM, ZFS, FreeBSD and NetBSD", "pairs need an even number of disks"),
        ];
    }
    let vdevs = if members > 2 { "mirror A B mirror C D …" } else { "mirror $disks" };
    vec![
        lvm_raid(plan, &format!("--type raid10 -m 1 -i {} -I {kib}k", plan.data_members())),
        zfs(vdevs),
        btrfs("-d raid10 -m raid10"),
        (
            "FreeBSD",
            format!(
                "set -- $disks; n=0; while [ $# -gt 0 ]; do gmirror label -v m$n $1 $2; shift 2; n=$((n+1)); done; \
                 gstripe label -v -s {} data /dev/mirror/m*",
                kib * 1024
            ),
        ),
        raidframe(plan, 1),
    ]
}

fn lvm(options: &str) -> Line {
    ("LVM", format!("vgcreate vg0 $disks; lvcreate {options} -l 100%FREE -n data vg0"))
}

/// A type with redundancy, which has a bitmap.
fn lvm_raid(plan: &Plan<'_>, options: &str) -> Line {
    let region = match plan.region_kib {
        Some(kib) if kib.is_multiple_of(1024) => format!(" --regionsize {}m", kib / 1024),
        Some(kib) => format!(" --regionsize {kib}k"),
        None => String::new(),
    };
    lvm(&format!("{options}{region}"))
}

/// The record size is ZFS's own; a database wants that of its pages, large files 1M.
fn zfs(vdevs: &str) -> Line {
    ("ZFS", format!("zpool create -o ashift=12 -O recordsize=128K tank {vdevs}"))
}

fn btrfs(profiles: &str) -> Line {
    ("btrfs", format!("mkfs.btrfs {profiles} $disks"))
}

fn without(system: &'static str, why: &str) -> Line {
    (system, format!("# none: {why}"))
}

/// raidctl's file for a level, and what takes it. Without an interleave a stripe unit only says where requests are cut.
fn raidframe(plan: &Plan<'_>, level: u8) -> Line {
    let sectors = if plan.level.interleaved() { plan.chunk_kib() * 2 } else { 128 };
    let (members, file) = (plan.members, "raid0.conf");
    let line = format!(
        "{{ printf 'START array\\n1 {members} 0\\nSTART disks\\n'; printf '%s\\n' $disks; \
         printf 'START layout\\n{sectors} 1 1 {level}\\nSTART queue\\nfifo 100\\n'; }} > {file}; \
         raidctl -C {file} raid0; raidctl -I 1 raid0; raidctl -iv raid0"
    );
    ("NetBSD", line)
}

#[cfg(test)]
mod tests {
    use super::super::{REGION_KIB, Remembered};
    use super::*;
    use lab::formats::{ccd, raidctl};
    use std::process::Command as Process;

    fn netbsd(level: &str, members: usize) -> String {
        let plan = Plan {
            level: level.parse().unwrap(),
            chunk: "64KiB",
            cache: "256",
            members,
            spares: 0,
            caches_off: false,
            remembered: Remembered::Nothing,
            region_kib: Some(REGION_KIB),
            scheduler: None,
            read_ahead_kib: None,
            volumes: None,
            fio: None,
            file_system: None,
        };
        let mut commands = commands(&plan).into_iter();
        commands.find(|command| command.what == "NetBSD").unwrap().line
    }

    /// What the shell writes is what raidctl(8) has, as its reader here knows it.
    #[test]
    fn raidctl_is_given_a_file_that_it_reads() {
        for (level, members, expected) in
            [("md-raid5", 4, "raidframe-raid5"), ("md-mirror", 2, "raidframe-mirror")]
        {
            let line = netbsd(level, members);
            let (write, _) = line.split_once(" > ").unwrap();
            let disks = ["/dev/wd0e", "/dev/wd1e", "/dev/wd2e", "/dev/wd3e"][..members].join(" ");
            let shell = format!("disks='{disks}'; {write}");
            let output = Process::new("sh").args(["-c", &shell]).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let raid = raidctl::parse("raid0.conf", &text).unwrap();
            assert_eq!(raid.members.join(" "), disks);
            assert_eq!((raid.interleave_sectors, raid.level.level()), (128, expected));
        }
    }

    #[test]
    fn ccdconfig_is_given_a_line_of_its_configuration() {
        let line = netbsd("md-stripe", 3).replace("$disks", "/dev/wd0e /dev/wd1e /dev/wd2e");
        let text = line.strip_prefix("ccdconfig ").unwrap();
        let volumes = ccd::parse("ccd.conf", text, None).unwrap();
        assert_eq!((volumes[0].members.len(), volumes[0].interleave_sectors), (3, 128));
    }
}
