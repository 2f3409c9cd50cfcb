//! The commands that build what a trial of an experiment ran on, on the system that it names.

use super::{
    CachesOff, ChosenFileSystem, Command, Plan, REGION_KIB, Remembered, Requests, build, elsewhere,
    volumes,
};
use crate::beside::Beside;
use crate::files::FILE_SYSTEMS;
use crate::question::{LEVELS, Question};
use crate::work::names_its_cache;
use block::SECTOR_BYTES;
use lab::experiment::{Experiment, Member, Scheduling, Trial};
use lab::keys::Value;

/// Levels with names of other systems, and md's that lays out the same.
const LIKE_MD: [(&str, &str); 13] = [
    ("stripe", "md-stripe"),
    ("ccd-stripe", "md-stripe"),
    ("ccd-uniform", "md-stripe"),
    ("raidframe-stripe", "md-stripe"),
    ("mirror", "md-mirror"),
    ("raidframe-mirror", "md-mirror"),
    ("raid5", "md-raid5"),
    ("raidframe-raid5", "md-raid5"),
    ("raid10", "md-raid10"),
    ("lvm-stripe", "md-stripe"),
    ("lvm-mirror", "md-mirror"),
    ("lvm-raid5", "md-raid5"),
    ("lvm-raid10", "md-raid10"),
];

/// What builds levels of LVM's.
const LVM: &str = "LVM";

/// Hosts by a part of their names, and the system whose commands they take.
const SYSTEMS: [(&str, &str); 2] = [("netbsd", "NetBSD"), ("freebsd", "FreeBSD")];

/// How to build what `trial` ran on: the volume, then the file system. Nothing of what a controller's own menu builds. The
/// experiment is that of `question`, or one's own.
pub(crate) fn of_trial(
    experiment: &Experiment,
    trial: &Trial,
    question: Option<&Question>,
    beside: &Beside,
) -> Vec<Command> {
    let system = SYSTEMS.iter().find(|(part, _)| trial.setup.host.name.contains(part));
    let of_lvm = trial.setup.volume.level.name.starts_with("lvm-").then_some(LVM);
    let system = system.map(|(_, system)| *system).or(of_lvm);
    let mut commands = volume(experiment, trial, system, question, beside);
    commands.extend(ffs(experiment, trial));
    commands
}

/// The value of a key of the file system, where the experiment names one.
fn of_file_system(experiment: &Experiment, trial: &Trial, key: &str) -> Option<Value> {
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
    let kind = of_file_system(experiment, trial, "kind")?.to_string();
    let kind = FILE_SYSTEMS.into_iter().find(|known| *known == kind)?;
    let block = of_file_system(experiment, trial, "block");
    let sectors = block.and_then(|block| block::units::parse_sectors(&block.to_string()).ok());
    let options = of_file_system(experiment, trial, "options");
    Some(ChosenFileSystem {
        kind,
        block_bytes: sectors.map(|sectors| sectors * SECTOR_BYTES),
        options: options.map(|options| options.to_string()).unwrap_or_default(),
    })
}

fn volume(
    experiment: &Experiment,
    trial: &Trial,
    system: Option<&str>,
    question: Option<&Question>,
    beside: &Beside,
) -> Vec<Command> {
    let volume = &trial.setup.volume;
    let spares = question.map_or(0, |question| question.spares);
    let name = volume.level.name;
    let like = LIKE_MD.iter().find(|(own, _)| *own == name).map_or(name, |(_, md)| *md);
    let Ok(level) = like.parse() else { return Vec::new() };
    let is_known =
        LEVELS.contains(&like) || like.starts_with("btrfs-") || volume.level.nested().is_some();
    if !is_known || volume.controller.is_some() {
        return Vec::new();
    }
    let chunk = format!("{}KiB", volume.interleave_sectors * SECTOR_BYTES / 1024);
    let cache = volume.stripe_cache_rows.to_string();
    let plan = beside.plan(Plan {
        level,
        chunk: &chunk,
        cache: &cache,
        members: volume.members.len(),
        spares,
        survive: volume.level.losses_survived(volume.members.len()),
        caches_off: caches_off(experiment, trial, question),
        remembered: match (volume.has_bitmap, volume.has_ppl) {
            (true, _) => Remembered::Parts,
            (_, true) => Remembered::Parity,
            _ => Remembered::Nothing,
        },
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
        volumes: rented(&volume.members, spares),
        fio: None,
        file_system: file_system_of(experiment, trial),
    });
    let is_own = name == like;
    match system {
        None if is_own => plan.commands(),
        None => plan.rented().into_iter().chain(elsewhere::commands(&plan)).collect(),
        Some(LVM) => {
            let lines = elsewhere::of_system(&plan, LVM);
            plan.drives()
                .into_iter()
                .chain(lines.into_iter().map(|line| build("the volume", line.line)))
                .collect()
        }
        Some(system) => elsewhere::of_system(&plan, system),
    }
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

/// newfs(8) and mount(8) of an FFS.
fn ffs(experiment: &Experiment, trial: &Trial) -> Vec<Command> {
    let value = |key: &str| of_file_system(experiment, trial, key);
    if trial.setup.files.is_none() || value("newfs").is_none() {
        return Vec::new();
    }
    let bytes = |key: &str| {
        let sectors = value(key)?.to_string();
        block::units::parse_sectors(&sectors).ok().map(|sectors| sectors * SECTOR_BYTES)
    };
    let version = value("version").map(|version| format!(" -O {version}"));
    let block = bytes("block").map(|bytes| format!(" -b {bytes}"));
    let fragment = bytes("frag").map(|bytes| format!(" -f {bytes}"));
    let options: String = [version, block, fragment].into_iter().flatten().collect();
    let mount = match value("mount").map(|mode| mode.to_string()).as_deref() {
        Some(mode @ ("softdep" | "async")) => format!("mount -o {mode} $volume /srv"),
        _ => "mount $volume /srv".into(),
    };
    vec![
        build("its file system; $volume is the device", format!("newfs{options} $volume")),
        build("mount it", mount),
    ]
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

    #[test]
    fn netbsd_builds_by_its_own_commands() {
        let said = lines(
            "host.name = 'a8v-netbsd-2'\n[volume]\ndrives = '2xwd740gd'\nlevel = 'stripe'\ninterleave = 126\n\
             [fs]\nnewfs = 'netbsd2'\nversion = 2\nblock = '16KiB'\nmount = 'softdep'\n[workload.a]\nkind = 'touch'\n",
        );
        assert_eq!(
            said,
            [
                "ccdconfig ccd0 126 none $disks",
                "newfs -O 2 -b 16384 $volume",
                "mount -o softdep $volume /srv"
            ]
        );
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
            lines.last().cloned().unwrap_or_default()
        };
        let made = "vgcreate vg0 $disks && lvcreate --type raid5 -i 3 -I 64k";
        assert_eq!(of_lvm(""), format!("{made} -l 100%FREE -n data vg0"));
        let large = of_lvm("region_size = '16MiB'\n");
        assert_eq!(large, format!("{made} --regionsize 16m -l 100%FREE -n data vg0"));
        assert!(volume("raid5", "").iter().any(|line| line.contains("raidctl -C")));
        assert!(volume("raid5", "controller = 'crd-5500'\n").is_empty());
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
