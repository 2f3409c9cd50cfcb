//! What `ileave tune` prints is run: its commands for Linux, on modelled drives in the kernel's guest, each in a shell of its own.
//!
//! Left out: what turns write caches off (`hdparm`, `nvme`: the guest's disks take neither), `zpool` (this kernel has no ZFS), fio
//! (it measures), Terraform, and other systems. Rules of udev are written, and no daemon reads them there.

use super::kernel::{has_kernel, walk};
use super::{json, scratch, stdout, takes_long};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// An experiment whose layout is built, and what must be read of it then.
struct Case {
    name: &'static str,
    /// How many drives, and the keys below `[volume]` and further ones.
    drives: usize,
    volume: &'static str,
    more: &'static str,
    /// What stands in what the tools say of it.
    expected: &'static [&'static str],
}

const fn of_md(
    name: &'static str,
    drives: usize,
    volume: &'static str,
    expected: &'static [&'static str],
) -> Case {
    Case { name, drives, volume, more: "", expected }
}

const CASES: &[Case] = &[
    of_md(
        "stripe",
        4,
        "level = 'md-stripe'\ninterleave = '64KiB'",
        &[
            "Raid Level : raid0",
            "Chunk Size : 64K",
            "Raid Devices : 4",
            "sunit=16     swidth=64 blks",
            "RAID stride:              16",
            "RAID stripe width:        64",
            "lvs striped|4|64.00k|",
            "Data,RAID0",
            "Metadata,RAID1",
        ],
    ),
    of_md(
        "mirror",
        2,
        "level = 'md-mirror'",
        &[
            "Raid Level : raid1",
            "Consistency Policy : bitmap",
            "sunit=0 ",
            "lvs raid1|2|",
            "Data,RAID1",
        ],
    ),
    of_md(
        "near",
        8,
        "level = 'md-raid10'\ninterleave = '512KiB'",
        &[
            "Raid Level : raid10",
            "Layout : near=2",
            "Chunk Size : 512K",
            "Consistency Policy : bitmap",
            "sunit=128    swidth=512 blks",
            "RAID stripe width:        512",
            "lvs raid10|8|512.00k|64.00m",
            "Data,RAID10",
        ],
    ),
    of_md(
        "near-3",
        6,
        "level = 'md-raid10-n3'\ninterleave = '64KiB'",
        &["Layout : near=3", "sunit=16     swidth=32 blks", "Data,RAID1C3"],
    ),
    of_md(
        "far-3",
        6,
        "level = 'md-raid10-f3'\ninterleave = '64KiB'",
        &["Layout : far=3", "sunit=16     swidth=96 blks"],
    ),
    Case {
        name: "parity",
        drives: 4,
        volume: "level = 'md-raid5'\ninterleave = '64KiB'\nbitmap = 'internal'\nstripe_cache = 4096\nscheduler = 'none'\n\
                 read_ahead = '4MiB'",
        more: "host.max_transfer = ['512KiB', '1MiB']\n",
        expected: &[
            "Raid Level : raid5",
            "Layout : left-symmetric",
            "Intent Bitmap : Internal",
            "sunit=16     swidth=48 blks",
            "RAID stripe width:        48",
            "lvs raid5|4|64.00k|64.00m",
            "said 4096",
            "[none] mq-deadline",
            "ACTION==\"add|change\", KERNEL==\"vdb\", ATTR{queue/scheduler}=\"none\"",
            "TEST==\"md/stripe_cache_size\", ATTR{md/stripe_cache_size}=\"4096\"",
            "ATTR{queue/read_ahead_kb}=\"4096\"",
            "ATTR{queue/max_sectors_kb}=\"",
        ],
    },
    Case {
        name: "parity-log",
        drives: 4,
        volume: "level = 'md-raid5'\ninterleave = '64KiB'\nppl = true",
        more: "run.on = 'kernel'\nfs = { kind = 'ext4', block = '2KiB', journal = false, atime = false }\n",
        expected: &[
            "Consistency Policy : ppl",
            "Block size:               2048",
            "RAID stride:              32",
            "RAID stripe width:        96",
            "/srv ext4 rw,noatime",
        ],
    },
    of_md(
        "two-parities",
        8,
        "level = 'md-raid6'\ninterleave = '128KiB'",
        &[
            "Raid Level : raid6",
            "Chunk Size : 128K",
            "sunit=32     swidth=192 blks",
            "lvs raid6|8|128.00k|",
        ],
    ),
    of_md(
        "nested-6",
        8,
        "level = 'md-raid60-2'\ninterleave = '64KiB'",
        &[
            "Raid Level : raid0",
            "Raid Level : raid6",
            "Raid Devices : 4",
            "sunit=16     swidth=64 blks",
        ],
    ),
    of_md(
        "other-layout",
        5,
        "level = 'md-raid6-ddf-n-restart'\ninterleave = '64KiB'",
        &["Raid Level : raid6", "Layout : ddf-N-restart"],
    ),
    of_md("one-behind-the-other", 2, "level = 'md-linear'", &["Raid Level : linear"]),
    Case {
        name: "lvm",
        drives: 4,
        volume: "level = 'lvm-raid5'\ninterleave = '64KiB'\nregion_size = '16MiB'",
        more: "fs = { kind = 'ext4', atime = false }\n",
        expected: &[
            "lvs raid5|4|64.00k|16.00m",
            "RAID stride:              16",
            "RAID stripe width:        48",
            "/srv ext4 rw,noatime",
        ],
    },
    Case {
        name: "mapper",
        drives: 3,
        volume: "level = 'dm-stripe'\ninterleave = '64KiB'",
        more: "fs = { kind = 'ext4' }\n",
        expected: &["said 0 2457600 striped 3 128 ", "RAID stripe width:        48"],
    },
    of_md(
        "mapper-linear",
        2,
        "level = 'dm-linear'",
        &["said 0 819200 linear ", "said 819200 819200 linear "],
    ),
    Case {
        name: "xfs-not-aligned",
        drives: 4,
        volume: "level = 'md-raid5'\ninterleave = '64KiB'",
        more: "run.on = 'kernel'\nfs = { kind = 'xfs', align = false, log_stripe_unit = '32KiB', options = 'noatime' }\n",
        expected: &["sunit=0      swidth=0 blks", "sunit=8 blks", "/srv xfs rw,noatime"],
    },
    Case {
        name: "f2fs",
        drives: 2,
        volume: "level = 'md-stripe'\ninterleave = '64KiB'",
        more: "run.on = 'kernel'\nfs = { kind = 'f2fs', options = 'noatime' }\n",
        expected: &["/srv f2fs rw,noatime"],
    },
    Case {
        name: "btrfs",
        drives: 4,
        volume: "level = 'btrfs-raid10'",
        more: "run.on = 'kernel'\nfs = { kind = 'btrfs', options = 'compress=zstd' }\n",
        expected: &[
            "Data,RAID10",
            "Metadata,RAID10",
            "no errors found",
            "/srv btrfs rw,relatime,compress=zstd:3,",
        ],
    },
];

/// What the guest runs before and between the commands: drives that the array of the trial, a mirror, does without.
const BEGIN: &str = r#"exec 2>&1
array=$(echo /dev/md/ileave-*)
for d in b c d e f g h i; do
    mdadm --fail $array /dev/vd$d; mdadm --remove $array /dev/vd$d
    blkdiscard --zeroout --length 16M /dev/vd$d
done > /dev/null 2>&1
mkdir /run/etc /run/etc/mdadm /run/etc/rules; cp -r /etc/lvm /run/etc/lvm; : > /run/etc/fstab
mount --bind /run/etc/mdadm /etc/mdadm; mount --bind /run/etc/rules /etc/udev/rules.d
mount --bind /run/etc/lvm /etc/lvm; mount --bind /run/etc/fstab /etc/fstab
run() { printf 'y\n' | sh "$1" > /run/said; code=$?; sed 's/^/said /' /run/said; echo "exit $code of $1"; }
begin() { echo "case $1"; : > /etc/fstab; : > /etc/mdadm/mdadm.conf; rm -f /etc/udev/rules.d/*; }
take_down() {
    umount /srv
    # Each of these reads all drives, which takes this kernel long.
    for d in /dev/md0 /dev/vg0/data /dev/mapper/data; do [ ! -e $d ] || wipefs -a $d; done
    [ ! -e /dev/vg0 ] || vgremove -f -y vg0; [ ! -e /dev/mapper/data ] || dmsetup remove data
    for d in /dev/md0 /dev/md1 /dev/md2; do [ ! -e $d ] || mdadm --stop $d; done
    # Signatures, and what else mkfs finds at the beginning of an array: the log of a file system that was there.
    for d in $disks; do blkdiscard --zeroout --length 16M $d; done
} > /dev/null 2>&1
"#;

/// What is read of a volume after its commands: of an array, and of what the machine makes of the configuration after a restart.
const READ: &str = r"
for d in /dev/md0 /dev/md1; do [ ! -e $d ] || mdadm --detail $d; done
findmnt -no TARGET,FSTYPE,OPTIONS /srv
cat /etc/udev/rules.d/* /sys/block/vdb/queue/scheduler
[ ! -e /dev/vg0 ] ||
    lvs --noheadings --separator '|' -o segtype,stripes,stripesize,regionsize vg0/data 2> /dev/null | sed 's/^ */lvs /'
";

/// An array is put together by what was added to mdadm.conf, and mounted by what was added to fstab, with the same options.
const RESTART: &str = r#"
if findmnt /srv > /dev/null && grep -q ' /srv ' /etc/fstab; then
    before=$(findmnt -no FSTYPE,OPTIONS /srv); umount /srv
    if [ -e /dev/md0 ]; then
        for d in /dev/md0 /dev/md1 /dev/md2; do [ ! -e $d ] || mdadm --stop $d; done
        mdadm --assemble --scan; [ -e /dev/md0 ]; echo "exit $? of assembling"
    fi
    mount /srv; echo "exit $? of mounting"
    [ "$(findmnt -no FSTYPE,OPTIONS /srv)" = "$before" ]; echo "exit $? of the same options"
fi
"#;

/// Whether the guest can run a line.
fn runs(when: &str, what: &str, line: &str) -> bool {
    let is_left_out = [
        "disks=",
        "for disk in $disks; do hdparm",
        "for disk in $disks; do case",
        "zpool",
        "fio ",
        "#",
    ];
    let is_linuxs = when != "elsewhere" || what.starts_with("LVM") || what.starts_with("btrfs");
    is_linuxs && !is_left_out.iter().any(|start| line.starts_with(start))
}

/// The commands of a case as files of the shell, and what of the script runs them.
fn script_of(here: &Path, case: &Case) -> String {
    let text = format!(
        "{}volume = {{ drives = '{}xmd-hdd:400MiB', {} }}\nworkload.few = {{ {} }}\n",
        case.more,
        case.drives,
        case.volume.replace('\n', ", "),
        if case.more.contains("fs =") {
            "kind = 'touch', files = 10"
        } else {
            "kind = 'random', count = 20"
        },
    );
    let file = here.join(format!("{}.toml", case.name));
    fs::write(&file, text).unwrap();
    // What is to be built does not depend on what-ifs.
    let answer = json(here, &["tune", &file.display().to_string(), "--json", "--what-if", "0s"]);
    let disks: Vec<String> =
        (b'b'..).take(case.drives).map(|name| format!("/dev/vd{}", char::from(name))).collect();
    let mut script = format!("disks='{}'; begin {}\n", disks.join(" "), case.name);
    let (mut is_elsewhere, mut is_read) = (false, false);
    for (number, command) in answer["commands"].as_array().unwrap().iter().enumerate() {
        let [when, what, line] = ["when", "what", "line"].map(|key| command[key].as_str().unwrap());
        if !runs(when, what, line) {
            continue;
        }
        if when == "elsewhere" {
            // The array makes room, and each system for the next.
            if !is_elsewhere && !is_read {
                script += READ;
            }
            let restart = if is_elsewhere { "" } else { RESTART };
            writeln!(script, "{restart}take_down").unwrap();
            is_elsewhere = true;
        }
        let path = here.join(format!("{}-{number}.sh", case.name));
        fs::write(&path, format!("disks='{}'\n{line}\n", disks.join(" "))).unwrap();
        writeln!(script, "run {}", path.display()).unwrap();
        let device = line.split_whitespace().last().unwrap_or_default();
        if line.starts_with("mkfs.xfs") {
            writeln!(script, "xfs_info {device}").unwrap();
        }
        if line.starts_with("mkfs.ext4") {
            writeln!(script, "dumpe2fs -h {device}").unwrap();
        }
        // Another file system may be made instead.
        let is_first = what == "XFS on it" && answer.to_string().contains("\"or ext4\"");
        if is_first {
            writeln!(script, "wipefs -a {device} > /dev/null").unwrap();
        }
        if when == "elsewhere" && what.starts_with("btrfs") {
            script += "mount /dev/vdb /srv; btrfs filesystem usage /srv\n";
        }
        if what.starts_with("first synchronisation")
            || when == "elsewhere"
            || line.starts_with("lvs")
        {
            script += READ;
            is_read = true;
        }
    }
    if !is_elsewhere {
        script += READ;
        script += RESTART;
    }
    script + "take_down\n"
}

#[test]
fn commands_build_what_they_say() {
    if takes_long() || !has_kernel() {
        return;
    }
    let here = scratch();
    let mut script = BEGIN.to_string();
    for case in CASES {
        script += &script_of(here.path(), case);
    }
    let path = here.path().join("all.sh");
    fs::write(&path, script).unwrap();
    let text = format!(
        "volume = {{ drives = '9xmd-hdd:400MiB', level = 'md-mirror' }}\nfs.kind = 'ext4'\n\
         workload.build = {{ kind = 'command', command = 'sh {} {{mount}}' }}\n",
        path.display()
    );
    let file = here.path().join("build.toml");
    fs::write(&file, text).unwrap();
    stdout(here.path(), &["run", &file.display().to_string(), "--on", "kernel", "--out", "k"]);
    let kept = walk(&here.path().join("k/kept"));
    let output = kept.iter().find(|path| path.to_string_lossy().ends_with("output")).unwrap();
    let said = fs::read_to_string(output).unwrap();
    let missing: Vec<String> = CASES.iter().flat_map(|case| missing(case, &said)).collect();
    assert!(missing.is_empty(), "{}\n{said}", missing.join("\n"));
}

/// What a case lacks of what it should have said, and what ended otherwise than well.
fn missing(case: &Case, said: &str) -> Vec<String> {
    let start = format!("case {}\n", case.name);
    let Some((_, own)) = said.split_once(&start) else {
        return vec![format!("{} was not run", case.name)];
    };
    let own = own.split("\ncase ").next().unwrap_or_default();
    let ended: Vec<&str> = own.lines().filter(|line| line.starts_with("exit ")).collect();
    let failed = ended.iter().filter(|line| !line.starts_with("exit 0 "));
    let mut missing: Vec<String> = failed.map(|line| format!("{}: {line}", case.name)).collect();
    if ended.len() < 2 {
        missing.push(format!("{}: nothing ended", case.name));
    }
    // Tools pad their columns as wide as what stands in them.
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let own = squeezed(own);
    let unsaid = case.expected.iter().filter(|expected| !own.contains(&squeezed(expected)));
    missing.extend(unsaid.map(|expected| format!("{}: no `{expected}`", case.name)));
    missing
}
