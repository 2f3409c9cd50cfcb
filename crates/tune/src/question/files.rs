//! Which file system, too: the question asked of work on files. A real kernel answers it; of XFS and btrfs there is no
//! model.

use crate::question::candidate::DEFAULT_CHUNK;
use crate::question::posed::Posed;
use crate::question::{LEVELS, Question};
use crate::search::clock::Clock;
use block::SECTOR_BYTES;
use block::layout::{Level, Spread};
use lab::catalogue::Drive;
use lab::experiment::Experiment;
use lab::{Error, Result};
use store::error::did_you_mean;
use toml::Value;
use verdict::Wishes;
use verdict::judge::layouts::facts::Facts;

/// The file systems that may be chosen.
pub const FILE_SYSTEMS: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// btrfs's own profiles, beside md below it. Its RAID 5 and 6 are not for data that anybody needs.
const PROFILES: [&str; 4] = ["btrfs-raid0", "btrfs-raid1", "btrfs-raid1c3", "btrfs-raid10"];

/// The chunks that are tried.
const CHUNKS: [&str; 2] = ["64KiB", DEFAULT_CHUNK];

/// The part of each drive that is used, from its start: a file system is made anew for every trial.
const PART: (&str, u64) = ("64GiB", 64 << 30);

/// The question `asked`, of these file systems.
///
/// # Errors
///
/// Where a file system is not known, or nothing is left to choose among.
pub fn of_files(asked: &Question, file_systems: &[String]) -> Result<Posed> {
    for name in file_systems {
        if !FILE_SYSTEMS.contains(&name.as_str()) {
            let some = || format!("write one or more of {}", FILE_SYSTEMS.join(", "));
            let next = did_you_mean(name, FILE_SYSTEMS, some);
            return Err(Error::input(format!(
                "--fs {name}: not a file system that tune can choose; {next}"
            )));
        }
    }
    if asked.members() < 2 {
        return Err(Error::input(
            "--fs also chooses a volume, and one drive is not one; give more --drives, or fewer --spares",
        ));
    }
    let mut file_systems = file_systems.to_vec();
    file_systems.sort();
    file_systems.dedup();
    // btrfs keeps no hot spares.
    let has_btrfs = asked.spares == 0 && file_systems.iter().any(|name| name == "btrfs");
    let profiles = if has_btrfs { &PROFILES[..] } else { &[] };
    let mut levels = asked.possible_of(&[&LEVELS, profiles].concat())?;
    // Offset copies are ahead of near and far ones in long streams alone, and each level is six trials in the kernel.
    if asked.levels.is_empty() {
        levels.retain(|level| level.spread() != Some(Spread::Offset));
    }
    let text = experiment_text(asked, &levels, &file_systems);
    Ok(Posed {
        experiment: Experiment::parse(&asked.work.origin, &text)?,
        text: asked.with_wishes(&text)?,
        wishes: Wishes {
            safe: asked.safe,
            objectives: asked.objective.iter().cloned().collect(),
            subject_to: asked.subject_to.clone(),
            choose: Vec::new(),
        },
        price_usd: asked.price_usd,
        known: Vec::new(),
        question: Some(asked.clone()),
        clock: Clock::default(),
    })
}

/// The experiment: every level with every chunk under every file system. What cannot be built is left out when it is
/// planned.
fn experiment_text(asked: &Question, levels: &[Level], file_systems: &[String]) -> String {
    let mut tables = asked.work.tables.clone();
    tables.insert("name".into(), format!("tune-{}", asked.work.name).into());
    if let Some(objective) = asked.as_measured().ok().and_then(|asked| asked.objective) {
        tables.insert("objective".into(), objective.into());
    }
    let table = |entries: Vec<(&str, Value)>| {
        let entries = entries.into_iter().map(|(key, value)| (key.to_string(), value));
        Value::Table(entries.collect())
    };
    let list = |values: &mut dyn Iterator<Item = &str>| {
        Value::Array(values.map(|value| Value::from(value.to_string())).collect())
    };
    let drive = &asked.drives.drive;
    let mut volume = vec![
        ("drives", drives(asked).into()),
        ("level", list(&mut levels.iter().map(|level| level.name))),
    ];
    if levels.iter().any(Level::interleaved) {
        volume.push(("interleave", list(&mut CHUNKS.into_iter())));
    }
    tables.insert("volume".into(), table(volume));
    tables.insert(
        "fs".into(),
        table(vec![("kind", list(&mut file_systems.iter().map(String::as_str)))]),
    );
    let seed = asked.seed.cast_signed();
    tables.insert("run".into(), table(vec![("on", "kernel".into()), ("seed", seed.into())]));
    if asked.safe && drive.takes("write_cache") {
        tables.insert("drive".into(), table(vec![("write_cache", false.into())]));
    }
    tables.to_string()
}

/// The members, and how much of each is used.
pub(crate) fn drives(asked: &Question) -> String {
    let drive = &asked.drives.drive;
    let part = if is_part(drive) { format!(":{}", PART.0) } else { String::new() };
    format!("{}x{}{part}", asked.members(), drive.name)
}

/// Whether a part of the drive is used.
fn is_part(drive: &Drive) -> bool {
    drive.sectors() * SECTOR_BYTES > PART.1
}

/// What the answer says of how it was found, and what of it is doubtful.
pub(crate) fn lines(posed: &Posed, question: &Question) -> Vec<(String, String)> {
    let mut lines = of_drive(&question.drives.drive);
    lines.extend(spares(posed, question).map(|text| ("spares".to_string(), text.to_string())));
    lines
}

/// What is not tried of spares, and why.
fn spares(posed: &Posed, question: &Question) -> Option<&'static str> {
    let stated = posed.experiment.settings().get("fs.kind");
    let has_btrfs =
        stated.is_some_and(|setting| setting.values.iter().any(|kind| kind.to_string() == "btrfs"));
    (question.spares > 0 && has_btrfs).then_some(
        "btrfs keeps no hot spares, so that its own profiles were left out; btrfs over md was tried",
    )
}

/// How it was measured, and what the drives make doubtful.
fn of_drive(drive: &Drive) -> Vec<(String, String)> {
    let part =
        if is_part(drive) { format!(", on the first {} of each", PART.0) } else { String::new() };
    let measured = format!("by a real Linux kernel in virtual time on modelled drives{part}");
    let mut lines = vec![("measured".to_string(), measured)];
    let mut doubt = |text: &str| lines.push(("doubt".into(), text.into()));
    if drive.is_rotational() && is_part(drive) {
        doubt(
            "all data lies on the outer tracks: on a full disk seeks are longer, most of all under XFS, which spreads files",
        );
    }
    if !drive.is_rotational() {
        doubt(
            "the kernel's processor takes no time: on drives this fast rates are too high, and between file systems the \
             processor may decide otherwise",
        );
    }
    lines
}

/// What a power cut loses of files, and what it leaves of the file system.
pub(crate) fn crash(kind: &str, facts: &Facts) -> Option<String> {
    let whole = match kind {
        "ext4" | "xfs" => format!("{kind} is recovered from its journal, which holds no data"),
        "btrfs" => "btrfs returns to its last commit".to_string(),
        _ => return None,
    };
    // A way of mounting that risks more says so.
    let lost = facts.lost_by_crash.clone().unwrap_or_else(|| {
        format!("what was flushed (fsync) is safe, if the drives honour flushes; the rest is lost; {whole}")
    });
    Some(lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::drives::Drives;
    use crate::question::work::Work;

    fn posed(drives: &str, survive: usize, file_systems: &[&str]) -> Result<Posed> {
        let drives = Drives::read(drives).unwrap();
        let question =
            Question { survive, ..Question::new(drives, Work::of_files("mail").unwrap()) };
        let names: Vec<String> = file_systems.iter().map(ToString::to_string).collect();
        of_files(&question, &names)
    }

    #[test]
    fn levels_and_profiles_that_survive_are_asked_about() {
        let levels = |drives, survive, file_systems| {
            let posed = posed(drives, survive, file_systems).unwrap();
            let values = &posed.experiment.settings()["volume.level"].values;
            values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            levels("2x wd740gd", 1, &["ext4", "btrfs"]),
            "md-mirror md-raid10-f2 btrfs-raid1"
        );
        assert_eq!(levels("8x st18000nm000j", 2, &["xfs"]), "md-raid10-n3 md-raid10-f3 md-raid6");
        assert_eq!(levels("9x st18000nm000j", 3, &["xfs"]), "md-mirror md-raid10-n4");
        assert_eq!(
            levels("4x 980-pro-1tb", 1, &["btrfs", "xfs"]),
            "md-raid10 md-raid10-f2 md-raid5 md-raid6 btrfs-raid1 btrfs-raid10"
        );
        assert_eq!(
            levels("8x st18000nm000j", 2, &["btrfs"]),
            "md-raid10-n3 md-raid10-f3 md-raid6 btrfs-raid1c3"
        );
    }

    /// What is wished stands in what is saved, and btrfs keeps no hot spares.
    #[test]
    fn wishes_reach_the_experiment() {
        let drives = Drives::read("5x st18000nm000j").unwrap();
        let question = Question {
            survive: 1,
            spares: 1,
            safe: true,
            objective: Some("max mail.collected_per_s".into()),
            ..Question::new(drives, Work::of_files("mail").unwrap())
        };
        let posed = of_files(&question, &["btrfs".into(), "xfs".into(), "xfs".into()]).unwrap();
        let value = |path: &str| posed.experiment.value(path).unwrap().to_string();
        assert_eq!(value("volume.drives"), "4xst18000nm000j:64GiB");
        assert_eq!(value("drive.write_cache"), "false");
        assert!(posed.text.contains("objective = \"max mail.collected_per_s\""), "{}", posed.text);
        let values = |path: &str| posed.experiment.settings()[path].values.len();
        assert_eq!((values("fs.kind"), values("volume.level")), (2, 4));
        // What is not tried of spares is said, with why.
        let said = |spares, file_system: &str| {
            let asked = Question { spares, ..question.clone() };
            let posed = of_files(&asked, &[file_system.into()]).unwrap();
            let all = lines(&posed, &asked).into_iter();
            all.filter(|(about, _)| about == "spares").map(|(_, text)| text).collect::<String>()
        };
        assert!(said(1, "btrfs").starts_with("btrfs keeps no hot spares"));
        assert_eq!([said(1, "xfs"), said(0, "btrfs")], ["", ""]);
        let large = Question { capacity_bytes: 40_000_000_000_000, ..question };
        let levels = of_files(&large, &["xfs".into()]).unwrap();
        assert_eq!(levels.experiment.value("volume.level").unwrap().to_string(), "md-raid5");
    }

    #[test]
    fn a_file_system_that_is_not_chosen_among_is_named() {
        let said = posed("2x wd740gd", 1, &["ext3"]).unwrap_err().to_string();
        assert!(said.contains("--fs ext3") && said.contains("did you mean `ext4`?"), "{said}");
        let said = Work::of_files("postgres").unwrap_err().to_string();
        assert!(said.contains("build, mail, news"), "{said}");
    }

    /// What is mounted so that more is lost says that alone.
    #[test]
    fn a_power_cut_loses_what_was_not_flushed() {
        let whole = Facts::default();
        let of = |kind| crash(kind, &whole).unwrap();
        assert!(
            of("ext4")
                .starts_with("what was flushed (fsync) is safe, if the drives honour flushes")
        );
        assert!(of("xfs").ends_with("xfs is recovered from its journal, which holds no data"));
        assert!(of("btrfs").contains("returns to its last commit"));
        let lost = Some("without barriers".to_string());
        assert_eq!(crash("xfs", &Facts { lost_by_crash: lost.clone(), ..Facts::default() }), lost);
        assert_eq!(crash("ffs", &whole), None);
    }

    #[test]
    fn large_drives_are_asked_about_in_part_and_small_ones_whole() {
        let drives = |drives| {
            let posed = posed(drives, 1, &["ext4"]).unwrap();
            posed.experiment.value("volume.drives").unwrap().to_string()
        };
        assert_eq!(drives("8x st18000nm000j"), "8xst18000nm000j:64GiB");
        assert!(!drives("2x st39102lw").contains(':'));
    }
}
