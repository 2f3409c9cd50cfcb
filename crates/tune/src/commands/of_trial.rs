//! The commands that build what a trial of an experiment ran on, on the system that it names.

use super::file_systems::Stripes;
use super::{
    CacheBy, CachesOff, ChosenFileSystem, Command, Plan, Queue, REGION_KIB, Requests, build, ccd,
    check, dm, elsewhere, ffs, volumes,
};
use crate::beside::Beside;
use crate::beside::bitmap::Remembered;
use crate::danger;
use crate::question::Question;
use crate::question::work::names_its_cache;
use block::SECTOR_BYTES;
use block::layout::Level;
use block::layout::btrfs::Profile;
use lab::catalogue::Drive;
use lab::experiment::{Experiment, Member, Scheduling, Trial, Volume};
use lab::file_system::real::Geometry;
use lab::keys::Value;
use lab::machine::has_one_queue;

/// Levels with names of other systems, and md's that lays out the same.
const LIKE_MD: [(&str, &str); 16] = [
    ("stripe", "md-stripe"),
    ("ccd-stripe", "md-stripe"),
    ("ccd-uniform", "md-stripe"),
    ("raidframe-stripe", "md-stripe"),
    ("mirror", "md-mirror"),
    ("raidframe-mirror", "md-mirror"),
    ("raid4", "md-raid4"),
    ("raidframe-raid4", "md-raid4"),
    ("raid5", "md-raid5"),
    ("raidframe-raid5", "md-raid5"),
    ("raid6", "md-raid6"),
    ("raid10", "md-raid10"),
    ("lvm-stripe", "md-stripe"),
    ("lvm-mirror", "md-mirror"),
    ("lvm-raid5", "md-raid5"),
    ("lvm-raid10", "md-raid10"),
];

/// What builds levels of LVM's.
const LVM: &str = "LVM";

/// Where LVM's volume is.
const OF_LVM: &str = "/dev/vg0/data";

/// Where a volume is that nothing here has built.
const ANY: &str = "$volume";

/// File systems of Linux.
const OF_LINUX: [&str; 4] = ["ext4", "xfs", "btrfs", "f2fs"];

/// What no command sets: constants of the system, of its kernel or of the drives' firmware.
const NOT_SET: [&str; 6] = [
    "host.physio_concurrency",
    "host.buses",
    "host.elevator",
    "host.queue_outstanding",
    "volume.outstanding",
    "volume.member_outstanding",
];

/// What only the commands of some volumes set, and by which names.
const SET_BY: [(&str, &[&str]); 2] =
    [(ffs::LARGEST, &["max_sectors_kb", "MAXPHYS"]), ("volume.read_ahead", &["read_ahead_kb"])];

/// The systems whose commands are known, by a part of the names of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    Linux,
    NetBsd,
    /// With GEOM, from version 5.
    FreeBsd,
    /// With ccd, and no RAID of its own.
    OldFreeBsd,
}

impl System {
    fn of(host: &str) -> Self {
        if host.contains("netbsd") {
            return System::NetBsd;
        }
        let Some((_, version)) = host.split_once("freebsd") else { return System::Linux };
        let digits = version.trim_start_matches(['-', '_', ' ']);
        let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
        match digits.parse::<u32>() {
            Ok(version) if version < 5 => System::OldFreeBsd,
            _ => System::FreeBsd,
        }
    }
}

/// How to build what `trial` ran on: the volume, then the file system. Where nothing builds it, that is said. The experiment
/// is that of `question`, or one's own.
pub(crate) fn of_trial(
    experiment: &Experiment,
    trial: &Trial,
    question: Option<&Question>,
    beside: &Beside,
) -> Vec<Command> {
    let system = System::of(&trial.setup.host.name);
    let mut commands = volume(experiment, trial, system, question, beside);
    commands.extend(ffs::commands(experiment, trial));
    if system != System::Linux {
        commands.extend(ffs::largest_request(trial));
    }
    let is_left = |path: &str| {
        let of_drive = path.starts_with("drive.") && path != "drive.write_cache";
        let by = SET_BY.iter().find(|(key, _)| *key == path);
        let is_missing = by.is_some_and(|(_, names)| {
            commands.iter().all(|of| names.iter().all(|name| !of.line.contains(name)))
        });
        NOT_SET.contains(&path) || of_drive || is_missing
    };
    let left = trial.cell.at.iter().filter(|(path, _)| is_left(path));
    let left: Vec<String> = left.map(|(path, value)| format!("{path} = {value}")).collect();
    if !left.is_empty() {
        let line = format!("# {}", left.join(", "));
        commands.push(build("measured so, and set by none of these commands", line));
    }
    commands
}

/// The value of a key of the file system, where the experiment names one.
pub(super) fn of_file_system(experiment: &Experiment, trial: &Trial, key: &str) -> Option<Value> {
    let paths = [format!("workload.{}.fs.{key}", trial.cell.workload), format!("fs.{key}")];
    let value = |path: &String| {
        let own = trial.cell.at.iter().find(|(known, _)| known == path);
        let stated = experiment.settings().contains_key(path);
        own.map(|(_, value)| value.clone()).or_else(|| stated.then(|| experiment.value(path))?)
    };
    paths.iter().find_map(value)
}

/// The file system of Linux that a trial has.
pub(crate) fn file_system_of(experiment: &Experiment, trial: &Trial) -> Option<ChosenFileSystem> {
    let value = |key: &str| of_file_system(experiment, trial, key);
    let kind = value("kind")?.to_string();
    let kind = OF_LINUX.into_iter().find(|known| *known == kind)?;
    let bytes = |key: &str| {
        let sectors = block::units::parse_sectors(&value(key)?.to_string()).ok();
        sectors.map(|sectors| sectors * SECTOR_BYTES)
    };
    let volume = &trial.setup.volume;
    let data = volume.level.stripe_chunks(volume.members.len()) as u64;
    let geometry = Geometry {
        chunk_bytes: volume.level.interleaved().then_some(volume.interleave_sectors * SECTOR_BYTES),
        data_members: data,
        profile: volume.level.btrfs_profile().map(Profile::name),
    };
    let making = trial.setup.files.as_ref()?.on_linux(&geometry).ok();
    Some(ChosenFileSystem {
        kind,
        block_bytes: bytes("block"),
        stripes: Stripes {
            are_ignored: value("align").is_some_and(|align| align.to_string() == "false"),
            unit_bytes: bytes("stride").or_else(|| bytes("stripe_unit")),
            width_bytes: bytes("stripe_width"),
        },
        more: making.as_ref().map_or(String::new(), |making| further(&making.mkfs)),
        options: making.map_or(String::new(), |making| making.options),
    })
}

/// Options of mkfs but those of blocks and stripes, which the plan writes, and those that ask nothing.
fn further(mkfs: &[String]) -> String {
    let mut words = mkfs.iter().skip(1).map(String::as_str);
    let mut more = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "-q" | "-f" | "-F" => {}
            "-b" | "-d" | "-E" | "-m" => drop(words.next()),
            _ => more.push(word),
        }
    }
    more.join(" ")
}

/// What builds the volume, and a file system of Linux on it.
fn volume(
    experiment: &Experiment,
    trial: &Trial,
    system: System,
    question: Option<&Question>,
    beside: &Beside,
) -> Vec<Command> {
    let volume = &trial.setup.volume;
    let (name, members) = (volume.level.name, volume.members.len());
    if let Some(controller) = &volume.controller {
        let line = format!("# none: the menu of the controller ({}) builds it", controller.name);
        return vec![build("the volume", line)];
    }
    let like = match name {
        "ccd-mirror" if members > 2 => "md-raid10",
        "ccd-mirror" => "md-mirror",
        _ => LIKE_MD.iter().find(|(own, _)| *own == name).map_or(name, |(_, md)| *md),
    };
    let Ok(level) = like.parse() else { return Vec::new() };
    let chunk = format!("{}KiB", volume.interleave_sectors * SECTOR_BYTES / 1024);
    let cache = volume.stripe_cache_rows.to_string();
    let plan = plan_of(experiment, trial, question, [&chunk, &cache], level);
    let plan = beside.plan(plan);
    let of_ccd = if name.starts_with("ccd-") { name } else { like };
    let is_of_ccd = name.starts_with("ccd-") || system == System::OldFreeBsd;
    if let Some(level) = name.strip_prefix("raidframe-") {
        return of_bsd(&plan, elsewhere::of_raidframe(&plan, level), name, OF_SD);
    }
    if is_of_ccd || system == System::NetBsd && like == "md-stripe" {
        let lines = ccd::commands(of_ccd, members, volume.interleave_sectors);
        return of_bsd(&plan, lines, name, OF_SD);
    }
    match system {
        System::NetBsd => of_bsd(&plan, elsewhere::of_system(&plan, "NetBSD"), name, OF_SD),
        System::FreeBsd => of_bsd(&plan, elsewhere::of_geom(&plan), name, OF_DA),
        System::OldFreeBsd | System::Linux => {
            of_linux(&plan, volume, like, pool_of(trial).as_deref())
        }
    }
}

/// What Linux builds the volume by: md, btrfs, the device mapper, LVM, or what lays out as much.
fn of_linux(plan: &Plan<'_>, volume: &Volume, like: &str, pool: Option<&str>) -> Vec<Command> {
    let name = volume.level.name;
    if name == like && (name.starts_with("md-") || name.starts_with("btrfs-")) {
        return plan.commands();
    }
    // What is set of the device, and the file system on it.
    let on = |device: &str, queue: &Queue| {
        let set = plan.of_queue(queue);
        let files = plan.file_system.as_ref().map(|_| plan.file_systems(device));
        set.into_iter().chain(files.into_iter().flatten()).collect::<Vec<Command>>()
    };
    if let Some(options) = pool {
        return of_zfs(plan, options);
    }
    if let Some([built, checked]) = dm::commands(volume) {
        return [
            plan.drives(),
            built,
            on(dm::DEVICE, &Queue::of_mapper("data", dm::DEVICE)),
            checked,
        ]
        .concat();
    }
    if name == "single" {
        return [plan.drives(), vec![of_one_drive()], on("$disks", &Queue::of_drive())].concat();
    }
    if name.starts_with("lvm-") {
        let lines = elsewhere::of_system(plan, LVM);
        let lines = lines.into_iter().map(|line| build("the volume", line.line)).collect();
        let checked =
            "lvs -o lv_name,segtype,stripes,stripesize,regionsize,sync_percent vg0".into();
        let checked = vec![check("type, stripes, their size, and how much is in sync", checked)];
        return [plan.drives(), lines, on(OF_LVM, &Queue::of_mapper("vg0-data", OF_LVM)), checked]
            .concat();
    }
    let rented = plan.rented().into_iter();
    let commands: Vec<Command> = rented.chain(elsewhere::commands(plan)).collect();
    if commands.is_empty() {
        return vec![none_for(name)];
    }
    let files = plan.file_system.as_ref().map(|_| plan.file_systems(ANY));
    commands.into_iter().chain(files.into_iter().flatten()).collect()
}

/// Options of `zpool create`, where the trial is on a pool of ZFS.
fn pool_of(trial: &Trial) -> Option<String> {
    let files = trial.setup.files.as_ref().filter(|files| files.is_its_own_volume())?;
    let words = files.on_linux(&Geometry::default()).ok()?.mkfs;
    let text = words.iter().skip(2).filter(|word| *word != "-f").cloned().collect::<Vec<_>>();
    // A trial mounts it by mount(8).
    Some(text.join(" ").replace("-O mountpoint=legacy ", ""))
}

/// A pool with such options, which is volume and file system in one.
fn of_zfs(plan: &Plan<'_>, options: &str) -> Vec<Command> {
    let line = elsewhere::of_system(plan, "ZFS").into_iter().next().map(|command| command.line);
    let line = line.unwrap_or_else(|| "zpool create tank $disks".into());
    let made = line.find("zpool create").zip(line.find(" tank"));
    let (start, end) = made.unwrap_or((0, 0));
    let line = format!("{}zpool create {options}{}", &line[..start], &line[end..]);
    vec![
        plan.named_drives("/dev/sdb"),
        build("the pool, which is mounted at /tank", line),
        check("vdevs and drives", "zpool status tank".into()),
        check("what was set", "zpool get ashift tank; zfs get -s local all tank".into()),
    ]
}

/// What drives of NetBSD are called, and those of FreeBSD before GEOM: ccd and RAIDframe take partitions.
const OF_SD: &str = "/dev/sd0e";

/// What those of FreeBSD are called since; GEOM takes whole ones.
const OF_DA: &str = "/dev/da0";

/// The drives, which are called as in the `example`, and what a system of BSD builds of them.
fn of_bsd(plan: &Plan<'_>, lines: Vec<Command>, name: &str, example: &str) -> Vec<Command> {
    if name == "single" {
        return vec![of_one_drive()];
    }
    if lines.is_empty() {
        return vec![none_for(name)];
    }
    // It is the system of the experiment, not another one.
    let lines = lines.into_iter().map(|line| Command { when: "build", ..line }).collect();
    [vec![plan.named_drives(example)], lines].concat()
}

/// That one drive takes nothing to build.
fn of_one_drive() -> Command {
    build("the volume", "# none: it is the drive itself".into())
}

/// That nothing is known to build a level.
fn none_for(name: &str) -> Command {
    build("the volume", format!("# none: no command here builds `volume.level` = {name}"))
}

/// The plan of a trial's volume, with the chunk and the rows of the stripe cache as they are written.
fn plan_of<'a>(
    experiment: &Experiment,
    trial: &Trial,
    question: Option<&Question>,
    [chunk, cache]: [&'a str; 2],
    level: Level,
) -> Plan<'a> {
    let volume = &trial.setup.volume;
    let (members, spares) = (volume.members.len(), question.map_or(0, |question| question.spares));
    let chosen = |key: &str| trial.cell.at.iter().find(|(path, _)| path == key);
    let most = chosen(ffs::LARGEST).and_then(|(_, value)| {
        block::units::parse_sectors(&value.to_string()).ok().map(|sectors| sectors / 2)
    });
    Plan {
        level,
        chunk,
        cache,
        members,
        spares,
        devices: question.map_or_else(Vec::new, |of| of.drives.devices.clone()),
        survive: volume.level.losses_survived(members),
        caches_off: caches_off(experiment, trial, question),
        remembered: match (volume.has_bitmap, volume.has_ppl) {
            (true, _) => volume
                .region_sectors
                .map_or(Remembered::Parts, |sectors| Remembered::PartsOfKib(sectors / 2)),
            (_, true) => Remembered::Parity,
            _ => Remembered::Nothing,
        },
        write_mostly: volume.write_mostly.clone(),
        with_bitmap: None,
        requests: Requests::of(experiment, Some(trial)),
        near: None,
        region_kib: if volume.level.has_bitmap_of_lvm() {
            volume.region_sectors.map(|sectors| sectors / 2)
        } else {
            Some(REGION_KIB)
        },
        scheduler: (volume.scheduler != Scheduling::Auto).then(|| volume.scheduler.word()),
        read_ahead_kib: volume.read_ahead.0.map(|sectors| sectors / 2),
        max_sectors_kib: most,
        cache_by: cache_by(volume, question),
        is_nvme: volume.members.iter().all(|of| of.drive().is_some_and(|drive| is_nvme(drive))),
        is_of_cloud: volume
            .members
            .iter()
            .filter_map(Member::drive)
            .any(|drive| danger::is_of_cloud(drive)),
        volumes: rented(&volume.members, spares),
        fio: None,
        file_system: file_system_of(experiment, trial),
    }
}

/// Whether a drive is on `NVMe`, and no volume that only looks so.
pub(crate) fn is_nvme(drive: &Drive) -> bool {
    let is_rotational = drive.is_rotational();
    !is_rotational && !drive.is_remote() && !has_one_queue(drive.queue_depth(), is_rotational)
}

/// Which commands turn off the caches of a volume's drives.
fn cache_by(volume: &Volume, question: Option<&Question>) -> CacheBy {
    let mut drives = volume.members.iter().filter_map(Member::drive);
    let is_scsi = match question {
        Some(question) => question.drives.is_scsi(),
        None => drives.any(|drive| drive.is_scsi()),
    };
    CacheBy::of(is_scsi, !volume.members.iter().any(Member::is_rotational))
}

/// Why write caches are off, where all are and can be. One's own experiment asks for that by its settings or after a drive's
/// name. Of real drives nothing is known.
fn caches_off(
    experiment: &Experiment,
    trial: &Trial,
    question: Option<&Question>,
) -> Option<CachesOff> {
    let members = &trial.setup.volume.members;
    let can_be = |member: &Member| member.drive().is_some_and(|drive| drive.takes("write_cache"));
    if members.iter().any(Member::has_write_cache) || !members.iter().all(can_be) {
        return None;
    }
    if let Some(question) = question {
        return Some(CachesOff::of_question(question));
    }
    let mut drives = members.iter().filter_map(Member::drive);
    let is_asked = experiment.settings().contains_key("drive.write_cache")
        || drives.any(|drive| names_its_cache(drive));
    Some(if is_asked { CachesOff::Asked } else { CachesOff::Measured })
}

/// The members as blocks of Terraform, where all are cloud volumes of one kind.
fn rented(members: &[Member], spares: usize) -> Option<String> {
    let first = members.first()?.drive()?;
    let alike = members.iter().all(|of| of.drive().is_some_and(|own| own.name == first.name));
    alike.then(|| volumes(first, members.len() + spares))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::experiment::Plan as Trials;

    fn lines(text: &str) -> Vec<String> {
        let experiment = Experiment::parse("mine.toml", text).unwrap();
        let plan = Trials::new(&experiment).unwrap();
        of_trial(&experiment, &plan.trials[0], None, &Beside::default())
            .into_iter()
            .map(|command| command.line)
            .collect()
    }

    /// The same without the drives' names.
    fn built(text: &str) -> Vec<String> {
        lines(text).into_iter().filter(|line| !line.starts_with("disks=")).collect()
    }

    #[test]
    fn netbsd_builds_by_its_own_commands() {
        let said = built(
            "host.name = 'a8v-netbsd-2'\n[volume]\ndrives = '2xwd740gd'\nlevel = 'stripe'\ninterleave = 126\n\
             [fs]\nnewfs = 'netbsd2'\nversion = 2\nblock = '16KiB'\nmount = 'softdep'\n[workload.a]\nkind = 'touch'\n",
        );
        assert_eq!(
            said,
            [
                "ccdconfig ccd0 126 none $disks",
                "echo \"ccd0 126 none $disks\" >> /etc/ccd.conf",
                "newfs -O 2 -b 16384 -f 2048 $volume",
                "mount -o softdep $volume /srv"
            ]
        );
    }

    /// Rosen's groups of 16 cylinders, and the cylinder that FreeBSD's newfs is told. Its `-O` was another option.
    #[test]
    fn newfs_of_old_is_told_of_cylinders() {
        let said = built(
            "host.name = 'ppro200-freebsd-2.2'\n[volume]\ndrives = '3xxp32150w'\nlevel = 'stripe'\ninterleave = 128\n\
             [fs]\nnewfs = '4.4bsd'\ncylinder = '2MiB'\ncylinders = 16\natime = false\n[workload.a]\nkind = 'touch'\n",
        );
        assert_eq!(
            said,
            [
                "ccdconfig ccd0 128 none $disks",
                "echo \"ccd0 128 none $disks\" >> /etc/ccd.conf",
                "newfs -t 1 -u 4096 -c 16 $volume",
                "mount -o noatime $volume /srv"
            ]
        );
    }

    /// GEOM is of FreeBSD 5 and later.
    #[test]
    fn freebsd_before_geom_has_ccd() {
        assert_eq!(System::of("ppro200-freebsd-2.2"), System::OldFreeBsd);
        assert_eq!(["mine-freebsd-14", "freebsd"].map(System::of), [System::FreeBsd; 2]);
        let on_old = |level: &str, members: usize| {
            built(&format!(
                "host.name = 'ppro200-freebsd-2.2'\n[volume]\ndrives = '{members}xxp32150w'\nlevel = '{level}'\n\
                 interleave = 64\n[workload.a]\ncount = 5\n"
            ))
        };
        assert_eq!(on_old("mirror", 2)[0], "ccdconfig ccd0 64 CCDF_MIRROR $disks");
        assert_eq!(on_old("raid10", 4)[0], "ccdconfig ccd0 64 CCDF_MIRROR $disks");
        assert_eq!(on_old("raid5", 3), ["# none: no command here builds `volume.level` = raid5"]);
        assert_eq!(on_old("single", 1), ["# none: it is the drive itself"]);
    }

    /// The table has whole chunks of the smallest drive.
    #[test]
    fn the_device_mapper_is_given_a_table() {
        let of = |level: &str| {
            built(&format!(
                "[volume]\ndrives = '2xwd740gd:1GiB+1xwd740gd:1023MiB'\nlevel = '{level}'\ninterleave = '64KiB'\n\
                 [workload.a]\ncount = 5\n"
            ))
        };
        let lines = of("dm-stripe");
        let table = "0 6285312 striped 3 128 ${1} 0 ${2} 0 ${3} 0";
        assert_eq!(lines[1], format!("set -- $disks; dmsetup create data --table \"{table}\""));
        assert_eq!(lines[2], "dmsetup table data");
        let table =
            "0 2097152 linear ${1} 0\n2097152 2097152 linear ${2} 0\n4194304 2095104 linear ${3} 0";
        let lines = of("dm-linear");
        assert_eq!(lines[1], format!("set -- $disks; dmsetup create data --table \"{table}\""));
    }

    /// Whatever level an experiment has, what builds it is said, or that nothing does.
    #[test]
    fn no_level_is_without_a_word() {
        for level in block::LEVELS {
            let members = level
                .members_min()
                .max(2)
                .next_multiple_of(2)
                .max(if level.nested().is_some() { 24 } else { 2 });
            let count =
                if level.name == "single" || level.name == "btrfs-dup" { 1 } else { members };
            let said = lines(&format!(
                "[volume]\ndrives = '{count}xwd740gd'\nlevel = '{}'\ninterleave = '64KiB'\n[workload.a]\ncount = 5\n",
                level.name
            ));
            // The names of the drives alone build nothing.
            let tells = |line: &String| !line.starts_with("disks=") && !line.starts_with("lvs");
            assert!(said.iter().any(tells), "{}: {said:?}", level.name);
        }
        let md = |level: &str, option: &str| {
            let text = format!(
                "[volume]\ndrives = '6xwd740gd'\nlevel = '{level}'\ninterleave = '64KiB'\n[workload.a]\ncount = 5\n"
            );
            let said = built(&text);
            assert!(
                said[0].starts_with(&format!("mdadm --create /dev/md0 {option} --raid-devices=6 ")),
                "{said:?}"
            );
        };
        md("md-linear", "--level=linear");
        md("md-raid0-alternate", "--level=0 --layout=alternate");
        md("md-raid4", "--level=4");
        md("md-raid5-left-asymmetric", "--level=5 --layout=left-asymmetric");
        md("md-raid6-ddf-n-restart", "--level=6 --layout=ddf-N-restart");
        md("md-raid10-o2", "--level=10 --layout=o2");
        // RAIDframe has RAID 4, too.
        let raid4 = lines(
            "host.name = 'a8v-netbsd-2'\n[volume]\ndrives = '4xwd740gd'\nlevel = 'raid4'\ninterleave = '64KiB'\n[workload.a]\ncount = 5\n",
        );
        assert!(raid4.iter().any(|line| line.contains("128 1 1 4\\n")), "{raid4:?}");
    }

    /// What an experiment can choose of a file system changes what is printed: a key that is added has its place here.
    #[test]
    fn every_key_of_a_file_system_is_an_option() {
        let values = [
            ("ffs.newfs", "'4.4bsd'", "newfs $volume"),
            ("ffs.version", "2", "newfs -O 2 "),
            ("ffs.block", "'16KiB'", " -b 16384 -f 2048 "),
            ("ffs.frag", "'2KiB'", " -f 2048 "),
            ("ffs.cylinder", "'2MiB'\nnewfs = '4.4bsd'", " -t 1 -u 4096 "),
            ("ffs.cylinders", "32\nnewfs = '4.4bsd'", " -c 32 "),
            ("ffs.mount", "'async'", "mount -o async "),
            ("ffs.atime", "false", "mount -o noatime "),
            ("ext4.block", "'2KiB'", "mkfs.ext4 -b 2048 -E stride=32,stripe_width=96 "),
            ("ext4.inode_ratio", "'64KiB'", "mkfs.ext4 -i 65536 -E stride=16,"),
            ("ext4.stride", "'128KiB'", " -E stride=32,stripe_width=48 "),
            ("ext4.stripe_width", "'64KiB'", " -E stride=16,stripe_width=16 "),
            ("ext4.journal", "false", "mkfs.ext4 -O ^has_journal "),
            ("ext4.data", "'writeback'", "mount -o data=writeback "),
            ("ext4.delalloc", "false", "mount -o nodelalloc "),
            ("ext4.commit", "'30s'", "mount -o commit=30 "),
            ("ext4.barrier", "'none'", "mount -o nobarrier "),
            ("ext4.atime", "false", "mount -o noatime "),
            ("xfs.block", "'2KiB'", "mkfs.xfs -b size=2048 -d su=64k,sw=3 "),
            ("xfs.align", "false", "mkfs.xfs -d noalign /dev/md0"),
            ("xfs.stripe_unit", "'128KiB'", "mkfs.xfs -d su=128k,sw=3 "),
            ("xfs.stripe_width", "'128KiB'", "mkfs.xfs -d su=64k,sw=2 "),
            ("xfs.log_stripe_unit", "'32KiB'", "mkfs.xfs -d su=64k,sw=3 -l su=32k "),
            ("xfs.options", "'logbsize=256k'", "mount -o logbsize=256k "),
            ("btrfs.options", "'compress'", "mount -o compress "),
            ("f2fs.options", "'noatime'", "mount -o noatime "),
            ("zfs.recordsize", "'16KiB'", "zpool create -O recordsize=16384 tank raidz1 $disks"),
            ("zfs.ashift", "13", "zpool create -o ashift=13 "),
            ("zfs.properties", "'atime=off'", " -O atime=off "),
        ];
        let mut left: Vec<&str> = values.iter().map(|(key, ..)| *key).collect();
        for kind in lab::file_system::KINDS {
            for key in kind.keys.iter().copied().flatten() {
                let path = format!("{}.{}", kind.name, key.name);
                let known = values.iter().find(|(own, ..)| *own == path);
                let (_, value, expected) = known.unwrap_or_else(|| panic!("{path} has no option"));
                let (host, level) = match kind.name {
                    "ffs" => ("a8v-netbsd-2", "stripe"),
                    "zfs" => ("ideal", "raid5"),
                    _ => ("ideal", "md-raid5"),
                };
                let said = lines(&format!(
                    "host.name = '{host}'\n[volume]\ndrives = '4xwd740gd'\nlevel = '{level}'\ninterleave = '64KiB'\n\
                     [fs]\nkind = '{}'\n{} = {value}\n[workload.a]\nkind = 'touch'\n",
                    kind.name, key.name
                ));
                assert!(said.iter().any(|line| line.contains(expected)), "{path}: {said:#?}");
                left.retain(|own| *own != path);
            }
        }
        assert!(left.is_empty(), "{left:?} are no keys");
    }

    /// What was measured with a value that no command sets is not kept quiet.
    #[test]
    fn what_no_command_sets_is_said() {
        let text = "[volume]\ndrives = '4xwd740gd'\nlevel = 'md-raid5'\ninterleave = '64KiB'\n\
                    [host]\nbuses = [1, 2]\nmax_transfer = ['128KiB', '512KiB']\n[workload.a]\ncount = 5\n";
        let said = lines(text);
        assert!(said.iter().any(|line| line.starts_with("# host.buses = ")), "{said:#?}");
        assert!(said.iter().any(|line| line.contains(" > /sys/block/md0/queue/max_sectors_kb; ")));
    }

    /// GEOM's modules are loaded before the volume is mounted, and its drives are called otherwise than those of NetBSD.
    #[test]
    fn freebsd_has_its_volume_after_a_restart() {
        let of = |level: &str, members: usize| {
            let text = format!(
                "[volume]\ndrives = '{members}xwd740gd'\nlevel = '{level}'\ninterleave = 64\n[workload.a]\ncount = 5\n"
            );
            let experiment = Experiment::parse("mine.toml", &text).unwrap();
            let mut trial = Trials::new(&experiment).unwrap().trials.remove(0);
            std::sync::Arc::make_mut(&mut trial.setup).host.name = "mine-freebsd-14".into();
            of_trial(&experiment, &trial, None, &Beside::default())
        };
        let stripe = of("stripe", 2);
        assert!(stripe.iter().all(|command| command.when == "build"), "{stripe:?}");
        assert!(stripe[0].line.ends_with("as in /dev/da0"), "{stripe:?}");
        assert!(stripe[1].line.starts_with("gstripe label "), "{stripe:?}");
        assert_eq!(stripe[2].line, "echo 'geom_stripe_load=\"YES\"' >> /boot/loader.conf");
        assert_eq!(stripe.len(), 3);
        let both = of("raid10", 4).pop().unwrap();
        assert_eq!(both.what, "the modules when the machine starts");
        assert!(both.line.contains("geom_stripe_load") && both.line.contains("geom_mirror_load"));
        // What GEOM does not have has no module.
        let none = of("raid6", 4);
        assert!(none.iter().all(|command| !command.line.contains("loader.conf")), "{none:?}");
    }

    /// What is set of md's arrays is set of other volumes, too, or said to be set by nothing.
    #[test]
    fn every_volume_has_its_largest_request_and_read_ahead() {
        let of = |level: &str, members: usize| {
            // One drive has no such key.
            let ahead = if members > 1 { "read_ahead = ['1MiB', '4MiB']\n" } else { "" };
            lines(&format!(
                "[volume]\ndrives = '{members}xwd740gd'\nlevel = '{level}'\ninterleave = '64KiB'\n{ahead}[host]\nmax_transfer = ['128KiB', '512KiB']\n[workload.a]\ncount = 5\n"
            ))
        };
        let starts = |lines: &[String], with: &str| lines.iter().any(|line| line.starts_with(with));
        for (level, members, block) in [
            ("md-raid5", 4, "md0"),
            ("dm-stripe", 4, "$(basename $(readlink -f /dev/mapper/data))"),
            ("lvm-raid5", 4, "$(basename $(readlink -f /dev/vg0/data))"),
            ("single", 1, "$(basename $(readlink -f $disks))"),
        ] {
            let said = of(level, members);
            let ahead = Some(("read_ahead_kb", 4096)).filter(|_| members > 1);
            for (key, kib) in [("max_sectors_kb", 512)].into_iter().chain(ahead) {
                let line = format!("echo {kib} > /sys/block/{block}/queue/{key}; echo 'SUBSYSTEM");
                assert!(starts(&said, &line), "{level}: {said:#?}");
            }
            assert!(!starts(&said, "# host.max_transfer"), "{level}: {said:#?}");
        }
        let mapper = of("dm-stripe", 4).join("\n");
        assert!(mapper.contains("ENV{DM_NAME}==\"data\", ACTION"), "{mapper}");
        assert!(
            of("single", 1)
                .join("\n")
                .contains("KERNEL==\"'$(basename $(readlink -f $disks))'\", ACTION")
        );
        let said = lines(
            "[volume]\ndrives = '4xwd740gd'\nlevel = 'btrfs-raid1'\n[host]\nmax_transfer = ['128KiB', '512KiB']\n\
             [fs]\nkind = 'btrfs'\n[workload.a]\nkind = 'touch'\n",
        );
        assert!(starts(&said, "# host.max_transfer = "), "{said:#?}");
    }

    /// A volume that nothing makes when the machine starts must not stop it there.
    #[test]
    fn a_machine_does_not_wait_for_what_dmsetup_made() {
        let of = |level: &str| {
            lines(&format!(
                "[volume]\ndrives = '4xwd740gd'\nlevel = '{level}'\ninterleave = '64KiB'\n[fs]\nkind = 'ext4'\n\
                 [workload.a]\nkind = 'touch'\n"
            ))
            .join("\n")
        };
        assert!(of("dm-stripe").contains(" defaults,nofail 0 2"), "{}", of("dm-stripe"));
        assert!(of("md-raid5").contains(" defaults 0 2"), "{}", of("md-raid5"));
    }

    #[test]
    fn md_and_generic_levels_have_their_commands_and_controllers_none() {
        let volume = |level: &str, more: &str| {
            lines(&format!(
                "[volume]\ndrives = '4xwd740gd'\nlevel = '{level}'\ninterleave = '64KiB'\n{more}[workload.a]\ncount = 5\n"
            ))
        };
        assert!(
            volume("md-raid5", "")
                .iter()
                .any(|line| line.contains("--level=5 --raid-devices=4 --chunk=64"))
        );
        let of_lvm = |regions: &str| {
            let lines = volume("lvm-raid5", regions);
            assert!(lines.iter().any(|line| line.starts_with("disks=")), "{lines:?}");
            let made = lines.iter().find(|line| line.starts_with("vgcreate"));
            made.cloned().unwrap_or_default()
        };
        let made = "vgcreate vg0 $disks && lvcreate --type raid5 -i 3 -I 64k";
        assert_eq!(of_lvm(""), format!("{made} -l 100%FREE -n data vg0"));
        let large = of_lvm("region_size = '16MiB'\n");
        assert_eq!(large, format!("{made} --regionsize 16m -l 100%FREE -n data vg0"));
        assert!(volume("raid5", "").iter().any(|line| line.contains("raidctl -C")));
        let none = "# none: the menu of the controller (crd-5500) builds it";
        assert_eq!(volume("raid5", "controller = 'crd-5500'\n"), [none]);
    }

    #[test]
    fn caches_that_an_experiment_has_off_are_off_as_asked() {
        let why = |drives: &str, more: &str| {
            let text = format!(
                "[volume]\ndrives = '{drives}'\nlevel = 'md-raid5'\ninterleave = '64KiB'\n{more}[workload.a]\ncount = 5\n"
            );
            let experiment = Experiment::parse("mine.toml", &text).unwrap();
            caches_off(&experiment, &Trials::new(&experiment).unwrap().trials[0], None)
        };
        let off = "[drive]\nwrite_cache = false\n";
        assert_eq!(why("4xwd740gd", off), Some(CachesOff::Asked));
        assert_eq!(why("4xwd740gd[write_cache=false]", ""), Some(CachesOff::Asked));
        assert_eq!(why("4xwd740gd[write_cache=true]", ""), None);
        // Flash that keeps its buffer in a power cut has no cache to turn off.
        assert_eq!(why("4xp4800x-375gb", ""), None);
    }
}
