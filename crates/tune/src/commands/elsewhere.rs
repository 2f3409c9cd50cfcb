//! What survives as much on other systems; their writes are not modelled, so nothing is said of their speed. Where a
//! system has no such volume, the line says why.

use super::requests::{raidz_kib, record_size};
use super::{Command, Plan, Requests, build, ccd, near_level};
use crate::beside::bitmap::Remembered;
use block::layout::Redundancy;
use lab::file_system::btrfs_profiles;

/// The commands of LVM, ZFS, btrfs, FreeBSD's GEOM, and NetBSD's ccd and RAIDframe.
pub(super) fn commands(plan: &Plan<'_>) -> Vec<Command> {
    let with_files = |line: Line| {
        // Where a file system of Linux was chosen, another one is no answer.
        let files = line.files().filter(|_| plan.file_system.is_none());
        std::iter::once(line).chain(files)
    };
    lines(plan).into_iter().flat_map(with_files).map(Line::command).collect()
}

/// RAIDframe's level of such a name.
pub(super) fn of_raidframe(plan: &Plan<'_>, level: &str) -> Vec<Command> {
    let numbers = [("stripe", 0), ("mirror", 1), ("raid4", 4), ("raid5", 5)];
    let number = numbers.iter().find(|(own, _)| *own == level);
    number.map(|(_, number)| raidframe(plan, *number).command()).into_iter().collect()
}

/// Those of one system.
pub(super) fn of_system(plan: &Plan<'_>, system: &str) -> Vec<Command> {
    let own = lines(plan).into_iter().filter(|line| line.system == system);
    own.map(Line::command).collect()
}

fn lines(plan: &Plan<'_>) -> Vec<Line> {
    if !plan.level.is_of(block::layout::System::Md) {
        return Vec::new();
    }
    let lines = match plan.level.redundancy() {
        _ if plan.level.nested().is_some() => groups(plan),
        Redundancy::Nothing if plan.level.is_raid_0_of_md() => stripe(plan),
        Redundancy::Nothing => return Vec::new(),
        Redundancy::Mirror => mirror(plan),
        // One set of copies is a mirror.
        Redundancy::Copies(copies, _) if copies == plan.members => mirror(plan),
        Redundancy::Copies(copies, _) => stripe_of_mirrors(plan, copies),
        Redundancy::Parity(1) => one_parity(plan),
        Redundancy::Parity(_) => two_parities(plan),
    };
    // Where a file system was chosen, btrfs was measured.
    let is_new = |line: &Line| plan.file_system.is_none() || line.system != "btrfs";
    let near = |line: Line| match near_level(&plan.level, plan.members) {
        Some(near) if line.has_copies() => {
            let known = plan.near.as_ref().map_or(String::new(), |known| format!(": {known}"));
            line.noted(&format!("near copies, as those of {near}{known}"))
        }
        _ => line,
    };
    lines.into_iter().filter(is_new).map(near).collect()
}

/// The commands of one system.
struct Line {
    system: &'static str,
    /// What is to be known of them; nothing where they say it all.
    note: String,
    shell: String,
}

impl Line {
    fn command(self) -> Command {
        let Line { system, note, shell } = self;
        let what = if note.is_empty() { system.into() } else { format!("{system}; {note}") };
        Command { when: "elsewhere", what, line: shell }
    }

    /// Whether it builds copies, as all do beside copies but parity and what says that there is none.
    fn has_copies(&self) -> bool {
        !self.shell.starts_with('#') && !self.shell.contains(" raidz")
    }

    /// What makes a file system on it, and mounts it, where that is BSD's.
    fn files(&self) -> Option<Line> {
        let (note, shell) = match self.shell.split_whitespace().next()? {
            "#" => return None,
            "echo" => of_netbsd("ccd0"),
            _ if self.system == "NetBSD" && self.shell.contains("raidctl") => of_netbsd("raid0"),
            _ if self.system == "FreeBSD" => of_freebsd(&self.shell),
            _ => return None,
        };
        Some(Line { system: self.system, note, shell })
    }

    /// With one note more, which comes first.
    fn noted(self, note: &str) -> Line {
        let note =
            if self.note.is_empty() { note.into() } else { format!("{note}; {}", self.note) };
        Line { note, ..self }
    }
}

/// An FFS on a volume of NetBSD's.
fn of_netbsd(volume: &str) -> (String, String) {
    (
        format!("its file system, on a partition that `disklabel -I -e {volume}` adds"),
        format!("newfs -O 2 /dev/r{volume}a && mount /dev/{volume}a /srv"),
    )
}

/// The classes of GEOM that a line uses, the outermost first: a stripe of mirrors takes both.
fn geom_classes(shell: &str) -> Vec<&'static str> {
    let all = ["stripe", "mirror", "raid3"];
    all.into_iter().filter(|class| shell.contains(&format!("g{class} label"))).collect()
}

/// What has the loader load the modules of such classes, and what that is called.
fn loaded_by_freebsd(classes: &[&str]) -> (String, String) {
    let load = |class: &&str| format!("echo 'geom_{class}_load=\"YES\"' >> /boot/loader.conf");
    let modules = if classes.len() > 1 { "modules" } else { "module" };
    let lines: Vec<String> = classes.iter().map(load).collect();
    (format!("the {modules} when the machine starts"), lines.join("; "))
}

/// An FFS on what GEOM builds, whose modules are to be loaded before it is mounted.
fn of_freebsd(shell: &str) -> (String, String) {
    let classes = geom_classes(shell);
    let class = classes.first().copied().unwrap_or("stripe");
    let (what, load) = loaded_by_freebsd(&classes);
    (
        format!("its file system, and {what}"),
        format!("{load}; newfs -U /dev/{class}/data && mount /dev/{class}/data /srv"),
    )
}

/// What builds the volume on FreeBSD with GEOM, and has it there after a restart.
pub(super) fn of_geom(plan: &Plan<'_>) -> Vec<Command> {
    let mut commands = of_system(plan, "FreeBSD");
    let classes: Vec<&str> =
        commands.iter().flat_map(|command| geom_classes(&command.line)).collect();
    if !classes.is_empty() {
        let (what, line) = loaded_by_freebsd(&classes);
        commands.push(build(&what, line));
    }
    commands
}

fn stripe(plan: &Plan<'_>) -> Vec<Line> {
    let (members, kib) = (plan.members, plan.chunk_kib());
    vec![
        lvm(plan, &format!("--type striped -i {members} -I {kib}k")),
        zfs(plan, &disks(plan)),
        btrfs(plan, "raid0"),
        geom(plan, format!("gstripe label -v -s {} data {}", kib * 1024, disks(plan))),
        Line {
            system: "NetBSD",
            note: left_out(plan, "ccd has no spares"),
            shell: format!("ccdconfig {}", ccd::line(kib * 2, "none", &disks(plan))),
        },
        Line {
            system: "NetBSD",
            note: ccd::KEPT.into(),
            shell: ccd::kept(&ccd::line(kib * 2, "none", &disks(plan))),
        },
    ]
}

fn mirror(plan: &Plan<'_>) -> Vec<Line> {
    let disks = disks(plan);
    let mut lines = vec![
        lvm_raid(plan, &format!("--type raid1 -m {}", plan.members - 1)),
        zfs(plan, &format!("mirror {disks}")),
    ];
    lines.extend(three_parities(plan));
    lines.push(btrfs_copies(plan, plan.members));
    lines.push(geom(plan, format!("gmirror label -v data {disks}")));
    lines.push(if plan.members == 2 {
        raidframe(plan, 1)
    } else {
        without("NetBSD", "RAIDframe keeps two copies at most")
    });
    lines
}

/// btrfs' own parity is not for data that matter: its write hole is open.
fn no_parity_of_btrfs() -> Line {
    without(
        "btrfs",
        "its RAID 5 and 6 may lose data after a crash, and btrfs(5) advises against them",
    )
}

fn one_parity(plan: &Plan<'_>) -> Vec<Line> {
    let (members, kib) = (plan.members, plan.chunk_kib());
    let level = if plan.level.name == "md-raid4" { 4 } else { 5 };
    vec![
        lvm_raid(plan, &format!("--type raid{level} -i {} -I {kib}k", plan.data_members())),
        raidz(plan, &format!("raidz1 {}", disks(plan)), 1, members),
        no_parity_of_btrfs(),
        graid3(plan),
        raidframe(plan, level),
    ]
}

fn two_parities(plan: &Plan<'_>) -> Vec<Line> {
    let (data, kib) = (plan.data_members(), plan.chunk_kib());
    vec![
        if data < 3 {
            without("LVM", "its raid6 takes five disks or more")
        } else {
            lvm_raid(plan, &format!("--type raid6 -i {data} -I {kib}k"))
        },
        raidz(plan, &format!("raidz2 {}", disks(plan)), 2, plan.members),
        no_parity_of_btrfs(),
        without("FreeBSD", "GEOM has no double parity; use ZFS, which FreeBSD has too"),
        without("NetBSD", "RAIDframe has no double parity"),
    ]
}

/// Beside copies that survive three failures: md has no such parity, ZFS does.
fn three_parities(plan: &Plan<'_>) -> Option<Line> {
    let room = plan.raidz3_members()?;
    let raidz3 = raidz(plan, &format!("raidz3 {}", disks(plan)), 3, plan.members);
    let note =
        format!("or raidz3: it survives any 3 failures, and holds what {room} of the disks hold");
    Some(raidz3.noted(&note))
}

/// ZFS stripes over its groups by itself.
fn groups(plan: &Plan<'_>) -> Vec<Line> {
    let of = plan.level.nested().expect("there are groups");
    let (each, parities) = (plan.members / of.groups, plan.level.losses_survived(plan.members));
    let group = |number: usize| {
        let (first, last) = (number * each + 1, (number + 1) * each);
        format!("raidz{parities} $(echo $disks | cut -d' ' -f{first}-{last})")
    };
    let vdevs = (0..of.groups).map(group).collect::<Vec<_>>().join(" ");
    let netbsd = match parities {
        1 => "make a RAID 5 of each group, and a RAID 0 over them (raidctl(8), \"RAID on RAID\")",
        _ => "RAIDframe has no double parity",
    };
    vec![
        without("LVM", "no type of lvcreate stripes over several arrays with parity"),
        raidz(plan, &vdevs, parities as u64, each),
        no_parity_of_btrfs(),
        without("FreeBSD", "GEOM has no RAID 5 or 6; use ZFS, which FreeBSD has too"),
        without("NetBSD", netbsd),
    ]
}

/// A stripe over mirrors of so many disks each, which near and far copies survive as much as.
fn stripe_of_mirrors(plan: &Plan<'_>, copies: usize) -> Vec<Line> {
    let (members, kib) = (plan.members, plan.chunk_kib());
    let mut lines = Vec::new();
    if !members.is_multiple_of(copies) {
        lines.extend(three_parities(plan));
        lines.push(btrfs_copies(plan, copies));
        let why = match copies {
            2 => "pairs need an even number of disks".into(),
            _ => format!("mirrors of {copies} disks need a multiple of {copies}"),
        };
        lines.push(without("LVM, ZFS, FreeBSD and NetBSD", &why));
        return lines;
    }
    // `$1 $2`, the disks of one mirror.
    let one = (1..=copies).map(|disk| format!("${disk}")).collect::<Vec<_>>().join(" ");
    let each = |start: &str, one: &str| {
        let disks = disks(plan);
        format!("set -- {disks}; {start}; while [ $# -gt 0 ]; do {one}; shift {copies}; done")
    };
    lines.push(if copies == 2 {
        lvm_raid(plan, &format!("--type raid10 -m 1 -i {} -I {kib}k", members / 2))
    } else {
        without("LVM", "its raid10 keeps two copies")
    });
    let vdevs = each("vdevs=", &format!("vdevs=\"$vdevs mirror {one}\""));
    let pool = zfs(plan, "$vdevs");
    lines.push(Line { shell: format!("{vdevs}; {}", pool.shell), ..pool });
    lines.extend(three_parities(plan));
    lines.push(btrfs_copies(plan, copies));
    // A mirror of the machine may have such a name, which gmirror need not refuse; nothing is striped then. A shell that
    // the line is pasted into stays.
    let mirror = format!(
        "[ ! -e /dev/mirror/data$n ] || {{ echo data$n is taken; exit 1; }}; gmirror label -v data$n {one}; \
         mirrors=\"$mirrors /dev/mirror/data$n\"; n=$((n+1))"
    );
    let mirrors = each("n=0; mirrors=", &mirror);
    let stripe = format!("gstripe label -v -s {} data $mirrors", kib * 1024);
    lines.push(geom(plan, format!("( set -e; {mirrors}; {stripe} )")));
    // raidctl(8): a set of RAID 1 has two components, neither more nor a stripe of pairs.
    let why = match copies {
        2 => {
            "a RAID 1 of RAIDframe takes two disks; make one of each pair, and a RAID 0 over them (raidctl(8), \"RAID on RAID\")"
        }
        _ => "RAIDframe keeps two copies at most",
    };
    lines.push(without("NetBSD", why));
    lines
}

/// The members, without spares.
fn disks(plan: &Plan<'_>) -> String {
    match plan.spares {
        0 => "$disks".into(),
        _ => format!("$(echo $disks | cut -d' ' -f1-{})", plan.members),
    }
}

/// The spares, which are the last.
fn spares(plan: &Plan<'_>) -> Option<String> {
    (plan.spares > 0).then(|| format!("$(echo $disks | cut -d' ' -f{}-)", plan.members + 1))
}

/// That a system has no use for spares, where there are some.
fn left_out(plan: &Plan<'_>, why: &str) -> String {
    match plan.spares {
        0 => String::new(),
        1 => format!("{why}: the last disk is left out"),
        several => format!("{why}: the last {several} disks are left out"),
    }
}

fn lvm(plan: &Plan<'_>, options: &str) -> Line {
    let (note, room) = match plan.spares {
        0 => (String::new(), "-l 100%FREE -n data vg0".to_string()),
        // Room that is left free takes a failed disk's place, if dmeventd is told so.
        _ => (
            "spares are taken where lvm.conf has `raid_fault_policy = \"allocate\"`".into(),
            format!("-l 100%PVS -n data vg0 {}", disks(plan)),
        ),
    };
    Line { system: "LVM", note, shell: format!("vgcreate vg0 $disks && lvcreate {options} {room}") }
}

/// A type with redundancy, which has a bitmap.
fn lvm_raid(plan: &Plan<'_>, options: &str) -> Line {
    // What larger parts spare md's bitmap they spare this one, too.
    let region_kib = match plan.remembered {
        Remembered::PartsOfKib(kib) => Some(kib),
        _ => plan.region_kib,
    };
    let region = match region_kib {
        Some(kib) if kib.is_multiple_of(1 << 20) => format!(" --regionsize {}g", kib >> 20),
        Some(kib) if kib.is_multiple_of(1024) => format!(" --regionsize {}m", kib / 1024),
        Some(kib) => format!(" --regionsize {kib}k"),
        None => String::new(),
    };
    let line = lvm(plan, &format!("{options}{region}"));
    match &plan.with_bitmap {
        Some(with) => line.noted(&format!("it always keeps a bitmap; with md's, {with}")),
        None => line,
    }
}

/// A pool of mirrors or disks.
fn zfs(plan: &Plan<'_>, vdevs: &str) -> Line {
    let spares = spares(plan).map_or(String::new(), |disks| format!(" spare {disks}"));
    let (kib, note) = plan.requests.record();
    let size = record_size(kib);
    let shell = format!("zpool create -o ashift=12 -O recordsize={size} tank {vdevs}{spares}");
    Line { system: "ZFS", note, shell }
}

/// A pool of raidz, `parities` of each `width` disks: it keeps parity for each record, and of small ones much.
fn raidz(plan: &Plan<'_>, vdevs: &str, parities: u64, width: usize) -> Line {
    let line = zfs(plan, vdevs);
    let (kib, _) = plan.requests.record();
    let (width, across) = (width as u64, width as u64 - parities);
    let filled_kib = raidz_kib(kib, parities, width);
    // A tenth more than whole rows is no matter.
    if 10 * filled_kib * across <= 11 * kib * width {
        return line;
    }
    let note = format!("{}; a record of {kib}K takes {filled_kib}K of raidz{parities}", line.note);
    Line { note, ..line }
}

fn btrfs(plan: &Plan<'_>, data: &str) -> Line {
    let note = left_out(plan, "btrfs has no hot spares");
    let profiles = btrfs_profiles(data, plan.members);
    Line { system: "btrfs", note, shell: format!("mkfs.btrfs {profiles} {}", disks(plan)) }
}

/// So many copies on different disks, of any number of disks.
fn btrfs_copies(plan: &Plan<'_>, copies: usize) -> Line {
    let profile = match copies {
        2 if plan.members < 4 => "raid1",
        2 => "raid10",
        3 => "raid1c3",
        4 => "raid1c4",
        _ => return without("btrfs", "it keeps four copies at most"),
    };
    btrfs(plan, profile)
}

fn geom(plan: &Plan<'_>, shell: String) -> Line {
    Line { system: "FreeBSD", note: left_out(plan, "GEOM has no hot spares"), shell }
}

/// What GEOM has of parity: RAID 3, of whose disks each request uses all.
fn graid3(plan: &Plan<'_>) -> Line {
    let is_taken = (plan.members - 1).is_power_of_two() && plan.members > 2;
    match plan.requests {
        Requests::Random(_) => without(
            "FreeBSD",
            "graid3 is RAID 3: each request uses all disks, so random ones wait for each other; use ZFS, which FreeBSD has too",
        ),
        _ if !is_taken => {
            without("FreeBSD", "graid3 takes 3, 5, 9 or 17 disks; use ZFS, which FreeBSD has too")
        }
        _ => geom(plan, format!("graid3 label -v data {}", disks(plan)))
            .noted("RAID 3, not RAID 5: each request uses all disks"),
    }
}

fn without(system: &'static str, why: &str) -> Line {
    Line { system, note: String::new(), shell: format!("# none: {why}") }
}

/// raidctl's file for a level, and what takes it. Without an interleave a stripe unit only says where requests are cut.
fn raidframe(plan: &Plan<'_>, level: u8) -> Line {
    let sectors = if plan.level.interleaved() { plan.chunk_kib() * 2 } else { 128 };
    // Where it is read when the machine starts.
    let (members, file, disks) = (plan.members, "/etc/raid0.conf", disks(plan));
    let spare = spares(plan).map_or(String::new(), |disks| {
        format!(" printf 'START spare\\n'; printf '%s\\n' {disks};")
    });
    let shell = format!(
        "{{ printf 'START array\\n1 {members} {}\\nSTART disks\\n'; printf '%s\\n' {disks};{spare} \
         printf 'START layout\\n{sectors} 1 1 {level}\\nSTART queue\\nfifo 100\\n'; }} > {file} && \
         raidctl -C {file} raid0 && raidctl -I 1 raid0 && raidctl -iv raid0",
        plan.spares
    );
    Line { system: "NetBSD", note: String::new(), shell }
}

#[cfg(test)]
mod tests {
    use super::super::{CacheBy, REGION_KIB};
    use super::*;
    use crate::beside::bitmap::Remembered;
    use lab::formats::{ccd, raidctl};
    use std::process::Command as Process;

    fn plan(level: &str, members: usize, spares: usize) -> Plan<'static> {
        Plan {
            level: level.parse().unwrap(),
            chunk: "64KiB",
            cache: "256",
            members,
            spares,
            devices: Vec::new(),
            survive: 1,
            caches_off: None,
            remembered: Remembered::Nothing,
            write_mostly: Vec::new(),
            with_bitmap: None,
            requests: Requests::Other,
            near: None,
            region_kib: Some(REGION_KIB),
            scheduler: None,
            read_ahead_kib: None,
            max_sectors_kib: None,
            cache_by: CacheBy::Ata,
            is_nvme: false,
            is_of_cloud: false,
            volumes: None,
            fio: None,
            file_system: None,
        }
    }

    /// What is said of a system, and the first of its lines.
    fn on(system: &str, plan: &Plan<'_>) -> (String, String) {
        let command = of_system(plan, system).remove(0);
        (command.what, command.line)
    }

    fn netbsd(level: &str, members: usize, spares: usize) -> String {
        on("NetBSD", &plan(level, members, spares)).1
    }

    /// What programs a line of shell starts, with which words, of disks `a`, `b` and so on.
    fn started(plan: &Plan<'_>, line: &str) -> String {
        started_until(plan, line, "nothing")
    }

    /// The same where programs fail that are started with words that begin so.
    fn started_until(plan: &Plan<'_>, line: &str, failing: &str) -> String {
        let names =
            (b'a'..).take(plan.members + plan.spares).map(|name| char::from(name).to_string());
        let disks = names.collect::<Vec<_>>().join(" ");
        let programs = [
            "zpool",
            "mkfs.btrfs",
            "gmirror",
            "gstripe",
            "graid3",
            "vgcreate",
            "lvcreate",
            "raidctl",
        ];
        let said = |name: &&str| {
            let function = name.replace('.', "_");
            format!(
                "{function}() {{ echo {name} $*; case \"{name} $*\" in '{failing}'*) return 1;; esac; }}; "
            )
        };
        let shell = format!(
            "{}disks='{disks}'; {}",
            programs.iter().map(said).collect::<String>(),
            line.replace("mkfs.btrfs", "mkfs_btrfs")
        );
        let output = Process::new("sh").args(["-c", &shell]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn copies_survive_as_much_elsewhere() {
        let btrfs = |level, members| {
            let (_, line) = on("btrfs", &plan(level, members, 0));
            line.split_whitespace().nth(2).unwrap_or_default().to_string()
        };
        assert_eq!(
            [2, 3, 4].map(|members| btrfs("md-mirror", members)),
            ["raid1", "raid1c3", "raid1c4"]
        );
        let (_, none) = on("btrfs", &plan("md-mirror", 5, 0));
        assert_eq!(none, "# none: it keeps four copies at most");
        assert_eq!(btrfs("md-raid10-n3", 8), "raid1c3");
        for level in ["md-raid5", "md-raid6", "md-raid50-2", "md-raid60-2"] {
            let (_, line) = on("btrfs", &plan(level, 12, 0));
            assert!(
                line.starts_with("# none: its RAID 5 and 6 may lose data after a crash"),
                "{line}"
            );
        }
        assert_eq!([btrfs("md-raid10", 3), btrfs("md-raid10-f2", 6)], ["raid1", "raid10"]);
    }

    /// Near or far, three copies of six disks are two mirrors of three; of three disks one.
    #[test]
    fn three_copies_are_mirrors_of_three() {
        for level in ["md-raid10-n3", "md-raid10-f3"] {
            let six = plan(level, 6, 0);
            let of = |system| started(&six, &on(system, &six).1);
            assert_eq!(
                of("ZFS"),
                "zpool create -o ashift=12 -O recordsize=128K tank mirror a b c mirror d e f\n"
            );
            assert_eq!(
                of("FreeBSD"),
                "gmirror label -v data0 a b c\ngmirror label -v data1 d e f\n\
                 gstripe label -v -s 65536 data /dev/mirror/data0 /dev/mirror/data1\n"
            );
            let lvm = on("LVM", &six).1;
            assert_eq!(lvm, "# none: its raid10 keeps two copies");
            let three = plan(level, 3, 0);
            assert_eq!(on("FreeBSD", &three).1, "gmirror label -v data $disks");
            assert!(on("LVM", &three).1.contains("--type raid1 -m 2 "), "{level}");
            let eight = plan(level, 8, 0);
            let none = on("LVM, ZFS, FreeBSD and NetBSD", &eight).1;
            assert_eq!(none, "# none: mirrors of 3 disks need a multiple of 3");
        }
    }

    /// What follows would write to volumes that bear the same names.
    #[test]
    fn nothing_goes_on_after_a_failure() {
        let until = |system, level, members, failing| {
            let plan = plan(level, members, 0);
            let line = on(system, &plan).1.replace("> /etc/raid0.conf", "> /dev/null");
            // As if pasted: the shell is there afterwards.
            let said = started_until(&plan, &format!("{line}\necho still here"), failing);
            said.strip_suffix("still here\n").unwrap().to_string()
        };
        let mirrors = |failing| until("FreeBSD", "md-raid10", 6, failing);
        assert_eq!(mirrors("gmirror label -v data0"), "gmirror label -v data0 a b\n");
        assert!(mirrors("gmirror label -v data2").ends_with("gmirror label -v data2 e f\n"));
        assert!(mirrors("nothing").ends_with("/dev/mirror/data1 /dev/mirror/data2\n"));
        for level in ["md-stripe", "md-raid5", "md-raid10"] {
            assert_eq!(until("LVM", level, 4, "vgcreate"), "vgcreate vg0 a b c d\n", "{level}");
        }
        let netbsd = |failing| until("NetBSD", "md-mirror", 2, failing);
        assert_eq!(netbsd("raidctl -C"), "raidctl -C /etc/raid0.conf raid0\n");
        assert!(netbsd("raidctl -I").ends_with("raidctl -I 1 raid0\n"));
        assert!(netbsd("nothing").ends_with("raidctl -iv raid0\n"));
    }

    /// gmirror need not refuse the name of another mirror, and a stripe would take that one.
    #[test]
    fn mirrors_of_the_machine_are_not_striped() {
        let directory = std::env::temp_dir().join(format!("ileave-mirrors-{}", std::process::id()));
        std::fs::create_dir_all(directory.join("data1")).unwrap();
        let four = plan("md-raid10", 4, 0);
        let line = on("FreeBSD", &four).1.replace("/dev/mirror", directory.to_str().unwrap());
        let said = started(&four, &line);
        std::fs::remove_dir_all(&directory).unwrap();
        assert_eq!(said, "gmirror label -v data0 a b\ndata1 is taken\n");
    }

    #[test]
    fn spares_are_no_members_elsewhere() {
        let of = |level, members, system| {
            let plan = plan(level, members, 1);
            let (what, line) = on(system, &plan);
            (what, started(&plan, &line))
        };
        let zfs = |level, members| {
            of(level, members, "ZFS").1.replace("create -o ashift=12 -O recordsize=128K tank ", "")
        };
        assert_eq!(zfs("md-raid6", 6), "zpool raidz2 a b c d e f spare g\n");
        assert_eq!(zfs("md-mirror", 2), "zpool mirror a b spare c\n");
        assert_eq!(zfs("md-raid10", 4), "zpool mirror a b mirror c d spare e\n");
        assert_eq!(zfs("md-raid50-2", 8), "zpool raidz1 a b c d raidz1 e f g h spare i\n");
        let (what, line) = of("md-raid10", 6, "FreeBSD");
        assert_eq!(what, "FreeBSD; GEOM has no hot spares: the last disk is left out");
        assert_eq!(line.matches("gmirror").count(), 3);
        assert!(line.contains("data2 e f\n"), "{line}");
        let (what, line) = of("md-mirror", 2, "btrfs");
        assert_eq!(what, "btrfs; btrfs has no hot spares: the last disk is left out");
        assert_eq!(line, "mkfs.btrfs -d raid1 -m raid1 a b\n");
        let (what, line) = of("md-raid6", 6, "LVM");
        assert_eq!(
            what,
            "LVM; spares are taken where lvm.conf has `raid_fault_policy = \"allocate\"`"
        );
        assert!(line.starts_with("vgcreate vg0 a b c d e f g\n"), "{line}");
        assert!(
            line.ends_with("-i 4 -I 64k --regionsize 64m -l 100%PVS -n data vg0 a b c d e f\n"),
            "{line}"
        );
    }

    #[test]
    fn three_failures_have_raidz3_where_it_holds_more() {
        let raidz3 = |level, members, survive| {
            let plan = Plan { survive, ..plan(level, members, 0) };
            let zfs: Vec<Command> = of_system(&plan, "ZFS");
            zfs.get(1).map(|command| (command.what.clone(), started(&plan, &command.line)))
        };
        let (what, line) = raidz3("md-mirror", 8, 3).unwrap();
        assert!(
            what.starts_with(
                "ZFS; or raidz3: it survives any 3 failures, and holds what 5 of the disks hold; "
            ),
            "{what}"
        );
        assert!(line.ends_with("tank raidz3 a b c d e f g h\n"), "{line}");
        assert!(raidz3("md-raid10-n4", 8, 3).is_some());
        // A page of 8 KiB takes as much of it as four copies do.
        let pages = Requests::Random(8 << 10);
        let small = Plan { survive: 3, requests: pages, ..plan("md-raid10-n4", 22, 0) };
        assert_eq!((of_system(&small, "ZFS").len(), small.raidz3_members()), (0, None));
        let larger = Plan { requests: Requests::Random(16 << 10), ..small };
        assert_eq!(larger.raidz3_members(), Some(11));
        assert_eq!([raidz3("md-mirror", 4, 3), raidz3("md-mirror", 8, 4)], [None, None]);
    }

    /// Each record of raidz has its own parity, and fills whole multiples of its parities and one.
    #[test]
    fn records_of_zfs_are_said_with_what_they_take() {
        let of = |level: &str, requests| on("ZFS", &Plan { requests, ..plan(level, 8, 0) });
        let pages = Requests::Random(8 << 10);
        let (what, line) = of("md-raid6", pages);
        assert!(line.contains(" -O recordsize=8K "), "{line}");
        assert_eq!(
            what,
            "ZFS; recordsize=8K, the largest common request of this work; a record of 8K takes 24K of raidz2"
        );
        let (what, _) = of("md-raid10", pages);
        assert_eq!(what, "ZFS; recordsize=8K, the largest common request of this work");
        let (what, line) = of("md-raid6", Requests::Long);
        assert_eq!(what, "ZFS; recordsize=1M, for large files in order");
        assert!(line.contains(" -O recordsize=1M "), "{line}");
    }

    #[test]
    fn raid3_is_called_so_and_is_not_for_random_work() {
        let of =
            |members, requests| on("FreeBSD", &Plan { requests, ..plan("md-raid5", members, 0) });
        let (what, line) = of(5, Requests::Long);
        assert_eq!(what, "FreeBSD; RAID 3, not RAID 5: each request uses all disks");
        assert_eq!(line, "graid3 label -v data $disks");
        for members in [4, 5] {
            let (_, line) = of(members, Requests::Random(8 << 10));
            assert!(line.starts_with("# none: graid3 is RAID 3: each request uses all"), "{line}");
        }
    }

    /// What md is built without, because it costs much, LVM cannot be built without.
    #[test]
    fn lvm_says_what_its_bitmap_costs() {
        let with_bitmap = Some("this work is 9.1 times slower".to_string());
        let of = |level, spares| {
            on("LVM", &Plan { with_bitmap: with_bitmap.clone(), ..plan(level, 6, spares) }).0
        };
        let said = "LVM; it always keeps a bitmap; with md's, this work is 9.1 times slower";
        for level in ["md-mirror", "md-raid10", "md-raid5", "md-raid6"] {
            assert_eq!(of(level, 0), said, "{level}");
        }
        assert!(of("md-raid10", 1).starts_with(&format!("{said}; spares are taken where ")));
        assert_eq!(of("md-stripe", 0), "LVM");
        assert_eq!(on("LVM", &plan("md-raid10", 6, 0)).0, "LVM");
    }

    /// LVM was given 64 MiB a bit beside md's of 1 GiB, where 64 MiB cost 60 times.
    #[test]
    fn lvm_s_bitmap_has_parts_as_large_as_md_s() {
        let of = |remembered| on("LVM", &Plan { remembered, ..plan("md-raid10", 4, 0) }).1;
        assert!(of(Remembered::PartsOfKib(1 << 20)).contains(" -I 64k --regionsize 1g -l "));
        assert!(of(Remembered::PartsOfKib(1 << 19)).contains(" --regionsize 512m "));
        assert!(of(Remembered::Parts).contains(" --regionsize 64m "));
    }

    /// No other system has far copies.
    #[test]
    fn near_copies_are_said_where_far_ones_were_chosen() {
        let near = Some("md's make 1085 MB/s, 50 % slower (`--level md-raid10`)".to_string());
        let far = Plan { near, ..plan("md-raid10-f2", 8, 0) };
        let said = "near copies, as those of md-raid10: md's make 1085 MB/s, 50 % slower (`--level md-raid10`)";
        for system in ["LVM", "ZFS", "btrfs", "FreeBSD"] {
            let (what, _) = on(system, &far);
            assert!(what.starts_with(&format!("{system}; {said}")), "{what}");
        }
        let (what, _) = on("FreeBSD", &plan("md-raid10-f3", 6, 0));
        assert_eq!(what, "FreeBSD; near copies, as those of md-raid10-n3");
        // What says that there is none has no copies.
        assert_eq!(on("NetBSD", &plan("md-raid10-f3", 6, 0)).0, "NetBSD");
        assert_eq!(on("FreeBSD", &plan("md-raid10", 8, 0)).0, "FreeBSD");
    }

    /// lvcreate(8) refuses fewer than three stripes of raid6, and fewer than two of raid10.
    #[test]
    fn lvm_is_given_as_many_disks_as_it_takes() {
        let lvm = |level, members| on("LVM", &plan(level, members, 0)).1;
        assert_eq!(lvm("md-raid6", 4), "# none: its raid6 takes five disks or more");
        assert!(lvm("md-raid6", 5).contains("--type raid6 -i 3 "));
        assert!(lvm("md-raid10", 2).contains("--type raid1 -m 1 "));
        assert!(lvm("md-raid10", 4).contains("--type raid10 -m 1 -i 2 "));
    }

    /// raidctl(8) takes no more than two components of RAID 1.
    #[test]
    fn mirrors_of_raidframe_have_two_disks() {
        for level in ["md-raid10", "md-raid10-f2"] {
            assert!(netbsd(level, 2, 0).contains("1 2 0\\n"), "{level}");
            for spares in [0, 1] {
                let line = netbsd(level, 4, spares);
                assert!(
                    line.starts_with("# none: a RAID 1 of RAIDframe takes two disks"),
                    "{line}"
                );
            }
        }
        for (level, members) in [("md-mirror", 3), ("md-mirror", 4), ("md-raid10-n3", 6)] {
            assert_eq!(netbsd(level, members, 0), "# none: RAIDframe keeps two copies at most");
        }
    }

    /// What the shell writes is what raidctl(8) has, as its reader here knows it.
    #[test]
    fn raidctl_is_given_a_file_that_it_reads() {
        for (level, members, spares, expected) in [
            ("md-raid5", 4, 0, "raidframe-raid5"),
            ("md-raid5", 3, 1, "raidframe-raid5"),
            ("md-mirror", 2, 0, "raidframe-mirror"),
            ("md-mirror", 2, 2, "raidframe-mirror"),
        ] {
            let line = netbsd(level, members, spares);
            let (write, _) = line.split_once(" > ").unwrap();
            let disks = ["/dev/wd0e", "/dev/wd1e", "/dev/wd2e", "/dev/wd3e"].map(String::from);
            let disks = &disks[..members + spares];
            let shell = format!("disks='{}'; {write}", disks.join(" "));
            let output = Process::new("sh").args(["-c", &shell]).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let raid = raidctl::parse("raid0.conf", &text).unwrap();
            assert_eq!((&raid.members[..], &raid.spares[..]), disks.split_at(members));
            assert_eq!((raid.interleave_sectors, raid.level.level()), (128, expected));
        }
    }

    #[test]
    fn ccdconfig_is_given_a_line_of_its_configuration() {
        let line = netbsd("md-stripe", 3, 0).replace("$disks", "/dev/wd0e /dev/wd1e /dev/wd2e");
        let text = line.strip_prefix("ccdconfig ").unwrap();
        let volumes = ccd::parse("ccd.conf", text, None).unwrap();
        assert_eq!((volumes[0].members.len(), volumes[0].interleave_sectors), (3, 128));
    }
}
