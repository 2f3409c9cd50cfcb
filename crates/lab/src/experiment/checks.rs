//! Whether each key that is set applies: to the kind of its workload, to the kind of file system, and with or
//! without one.

use super::file::{Experiment, Setting};
use crate::error::{Error, Result};
use crate::file_system::{FileSystemKind, KINDS as FILE_SYSTEMS, ffs};
use crate::keys::Section;
use crate::workload::{Common, KINDS, Kind};
use block::Level;
use std::collections::BTreeMap;

/// Checks the keys of `workloads`, which run as one, among `settings`, which hold all that is set for them.
pub(super) fn check_keys_apply(
    experiment: &Experiment,
    workloads: &[String],
    settings: &BTreeMap<String, &Setting>,
) -> Result<()> {
    check_fault(experiment, settings)?;
    let has_files = check_file_systems(experiment, settings)?;
    let named = if settings.contains_key("fs.kind") { "fs.kind" } else { "fs.newfs" };
    let made_by = has_files.then_some(named);
    for workload in workloads {
        for kind in kinds_of(workload, settings) {
            check_files(experiment, workload, kind, made_by, settings)?;
            check_keys(experiment, workload, kind, settings)?;
        }
    }
    match settings.keys().find_map(|path| Some((path, path.strip_prefix("fs.")?))) {
        Some((path, key)) if !has_files => Err(Error::input(format!(
            "{}: `{path}` has no effect without a file system; add one: {} under [fs]",
            experiment.place(path),
            file_system_with(settings, |kind| kind.has(key))
        ))),
        _ => Ok(()),
    }
}

/// Where it is said when something goes wrong, what does is said, too.
fn check_fault(experiment: &Experiment, settings: &BTreeMap<String, &Setting>) -> Result<()> {
    let mut of_fault = settings.keys().filter(|path| path.starts_with("fault."));
    match of_fault.next() {
        Some(path) if !settings.contains_key("fault.kind") => Err(Error::input(format!(
            "{}: `{path}` has no effect without `fault.kind`; set it, as in `fault.kind=fail`, or leave this out",
            experiment.place(path)
        ))),
        _ => Ok(()),
    }
}

/// What to write for a file system of a kind that `suits`: Linux's where Linux runs the level or the host, else the first
/// that there is.
fn file_system_with(
    settings: &BTreeMap<String, &Setting>,
    suits: impl Fn(&FileSystemKind) -> bool,
) -> String {
    let any = |path: &str, is: &dyn Fn(&str) -> bool| {
        settings.get(path).is_some_and(|of| of.values.iter().any(|value| is(&value.to_string())))
    };
    let is_linuxs = |name: &str| name.parse().is_ok_and(|level: Level| level.runs_on_linux());
    let is_linux =
        any("volume.level", &is_linuxs) || any("host.name", &|name| name.starts_with("linux"));
    let mut having: Vec<&str> =
        FILE_SYSTEMS.iter().filter(|kind| suits(kind)).map(|kind| kind.name).collect();
    // What newfs makes has no word of its own for `kind`.
    if is_linux && having.len() > 1 {
        having.retain(|name| *name != ffs::KIND.name);
    }
    match having.first() {
        Some(name) if *name != ffs::KIND.name => format!("`kind = \"{name}\"`"),
        _ => "`newfs = \"netbsd2\"`".into(),
    }
}

/// Whether there is a file system; each that is asked for must have all keys that are set.
fn check_file_systems(
    experiment: &Experiment,
    settings: &BTreeMap<String, &Setting>,
) -> Result<bool> {
    let has_newfs = settings.contains_key("fs.newfs");
    let kinds: Vec<&FileSystemKind> = match settings.get("fs.kind") {
        Some(setting) => setting
            .values
            .iter()
            .filter_map(|kind| FileSystemKind::find(&kind.to_string()))
            .collect(),
        None => FileSystemKind::of(None, has_newfs).into_iter().collect(),
    };
    for kind in &kinds {
        for path in settings.keys() {
            let Some(key) = path.strip_prefix("fs.").filter(|key| *key != "kind") else { continue };
            if !kind.has(key) {
                let having = FILE_SYSTEMS.iter().filter(|kind| kind.has(key)).map(|kind| kind.name);
                let having: Vec<&str> = having.collect();
                // What is set of all kinds must be a key of all: to vary it, each kind has a workload of its own.
                let next = if kinds.len() > 1 {
                    "; to compare kinds of which only some have it, give each a workload of its own with its keys under \
                     `[workload.NAME.fs]`, and `same_as`"
                } else {
                    ""
                };
                return Err(Error::input(format!(
                    "{}: `{path}`: `fs.kind` = {} has no key `{key}`; these have: {}{next}",
                    experiment.place(path),
                    kind.name,
                    having.join(", ")
                )));
            }
        }
    }
    Ok(!kinds.is_empty())
}

/// The kinds that a workload takes, one after the other where it varies them.
fn kinds_of(workload: &str, settings: &BTreeMap<String, &Setting>) -> Vec<&'static Kind> {
    let path = format!("workload.{workload}.kind");
    let Some(setting) = settings.get(&path) else {
        let unset = BTreeMap::new();
        return vec![Common::read(&Section::new(&unset, "")).kind];
    };
    setting.values.iter().filter_map(|value| Kind::find(&value.to_string())).collect()
}

/// Whether this kind can run where there is a file system, which a key makes, or none.
fn check_files(
    experiment: &Experiment,
    workload: &str,
    kind: &Kind,
    made_by: Option<&str>,
    settings: &BTreeMap<String, &Setting>,
) -> Result<()> {
    if kind.uses_files() == made_by.is_some() {
        return Ok(());
    }
    let path = format!("workload.{workload}.kind");
    let (place, name) = (experiment.place(&path), kind.name);
    Err(Error::input(if let Some(key) = made_by {
        let others = names(Kind::uses_files);
        format!(
            "{place}: `{path}` = {name} uses the raw volume, but `{key}` makes a file system on it; \
             take {others}, or leave out `{key}`"
        )
    } else {
        format!(
            "{place}: `{path}` = {name} uses files; add a file system: {} under [fs]",
            file_system_with(settings, |_| true)
        )
    }))
}

/// Whether this kind has all keys that the workload sets.
fn check_keys(
    experiment: &Experiment,
    workload: &str,
    kind: &Kind,
    settings: &BTreeMap<String, &Setting>,
) -> Result<()> {
    let prefix = format!("workload.{workload}.");
    for path in settings.keys() {
        let Some(key) = path.strip_prefix(&prefix).filter(|key| !key.contains('.')) else {
            continue;
        };
        let is_common = Common::KEYS.iter().any(|known| known.name == key);
        if !is_common && !kind.has(key) {
            return Err(Error::input(format!(
                "{}: `{path}`: `kind` = {} has no key `{key}`; these have: {}",
                experiment.place(path),
                kind.name,
                names(|kind| kind.has(key))
            )));
        }
    }
    Ok(())
}

/// The names of the kinds that are so.
fn names(is: impl Fn(&Kind) -> bool) -> String {
    let names: Vec<&str> = KINDS.iter().filter(|kind| is(kind)).map(|kind| kind.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};

    fn error(text: &str) -> String {
        let text = format!("[volume]\ndrives = \"wd740gd\"\n{text}");
        let plan = Experiment::parse("some.toml", &text).and_then(|parsed| Plan::new(&parsed));
        plan.unwrap_err().to_string()
    }

    #[test]
    fn raw_work_on_a_file_system_names_the_key_that_makes_it() {
        let of = |fs: &str| error(&format!("[fs]\n{fs}\n[workload.w]\nkind = \"random\"\n"));
        for (fs, key) in [("kind = \"ext4\"", "fs.kind"), ("newfs = \"netbsd2\"", "fs.newfs")] {
            let said = of(fs);
            let words = [format!("but `{key}` makes"), format!("leave out `{key}`")];
            assert!(words.iter().all(|words| said.contains(words)), "{said}");
        }
    }

    #[test]
    fn a_time_of_nothing_is_told_that_it_must_be_more() {
        let said = error("[workload.w]\nruntime = \"0s\"\n");
        assert!(said.contains("`\"0s\"` is too low: it must be above 0"), "{said}");
        let said =
            error("[fs]\nkind = \"ext4\"\ncommit = \"16min\"\n[workload.w]\nkind = \"touch\"\n");
        assert!(said.contains("`\"16min\"` is too high: it takes at most 900s"), "{said}");
    }

    #[test]
    fn mkfs_ext4_takes_1024_bytes_an_inode_or_more() {
        let of = |ratio: &str| {
            error(&format!(
                "[fs]\nkind = \"ext4\"\ninode_ratio = {ratio}\n[workload.w]\nkind = \"touch\"\n"
            ))
        };
        for ratio in ["\"512B\"", "1", "\"65MiB\""] {
            assert!(of(ratio).contains("1KiB to 64MiB"), "{}", of(ratio));
        }
    }

    #[test]
    fn a_key_that_a_kind_does_not_have_names_those_that_do() {
        assert_eq!(
            error("[workload.w]\nkind = \"random\"\ngap = 8\n"),
            "some.toml:5: `workload.w.gap`: `kind` = random has no key `gap`; these have: strided"
        );
        let files = "[fs]\nnewfs = \"netbsd2\"\n[workload.w]\nkind = \"touch\"\ntree = \"x\"\n";
        assert!(error(files).contains("`kind` = touch has no key `tree`; these have: untar, fsck"));
        let varied = error("[workload.w]\nkind = [\"strided\", \"random\"]\ngap = 8\n");
        assert!(varied.contains("`kind` = random has no key `gap`"), "{varied}");
    }

    /// `newfs` was advised for keys that FFS does not have, and under md.
    #[test]
    fn the_file_system_that_is_advised_has_the_key_and_suits_the_system() {
        let advised = |said: String| {
            let (_, rest) = said.split_once("add ").expect("it says what to add");
            let (_, rest) = rest.split_once(": `").expect("it says how");
            rest.split_once("` under [fs]").expect("and where").0.to_string()
        };
        let raw = "[workload.w]\nkind = \"random\"\n";
        for (keys, kind) in [
            ("journal = false", "kind = \"ext4\""),
            ("stride = 64", "kind = \"ext4\""),
            ("mount = \"async\"", "newfs = \"netbsd2\""),
        ] {
            let said = advised(error(&format!("[fs]\n{keys}\n{raw}")));
            assert_eq!(said, kind, "{keys}");
            // Obeyed, the key is the file system's.
            let obeyed = format!("[fs]\n{kind}\n{keys}\n[workload.w]\nkind = \"touch\"\n");
            let text = format!("[volume]\ndrives = \"wd740gd\"\n{obeyed}");
            Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap();
        }
        let files = |volume: &str| {
            let text = format!(
                "[volume]\ndrives = \"4xwd740gd\"\n{volume}\n[workload.w]\nkind = \"touch\"\n"
            );
            let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap());
            advised(plan.unwrap_err().to_string())
        };
        assert_eq!(files("level = \"md-raid5\""), "kind = \"ext4\"");
        assert_eq!(files("level = \"stripe\"\n[host]\nname = \"linux-6.1\""), "kind = \"ext4\"");
        assert_eq!(files("level = \"stripe\""), "newfs = \"netbsd2\"");
    }

    /// It named who has the key, and no way to vary it.
    #[test]
    fn a_key_of_one_kind_of_several_is_set_for_its_workload() {
        let said = error(
            "[fs]\nkind = [\"ext4\", \"ffs\"]\nstride = 64\n[workload.w]\nkind = \"untar\"\n",
        );
        assert!(said.contains("these have: ext4; to compare kinds"), "{said}");
        assert!(said.ends_with("under `[workload.NAME.fs]`, and `same_as`"), "{said}");
        // Obeyed, it is a plan.
        let text = "[volume]\ndrives = \"wd740gd\"\n[workload.a]\nkind = \"touch\"\n[workload.a.fs]\nkind = \"ext4\"\nstride = 64\n\
                    [workload.b]\nkind = \"touch\"\nsame_as = \"a\"\n[workload.b.fs]\nkind = \"ffs\"\n";
        Plan::new(&Experiment::parse("some.toml", text).unwrap()).unwrap();
    }

    #[test]
    fn a_fault_of_no_kind_is_told() {
        let said = error("[fault]\nat = \"1s\"\n[workload.w]\n");
        assert!(
            said.starts_with("some.toml:4: `fault.at` has no effect without `fault.kind`"),
            "{said}"
        );
        let text =
            "[volume]\ndrives = \"wd740gd\"\n[fault]\nkind = \"none\"\nat = \"1s\"\n[workload.w]\n";
        Plan::new(&Experiment::parse("some.toml", text).unwrap()).unwrap();
    }

    #[test]
    fn a_kind_needs_a_file_system_or_none() {
        let without = error("[workload.w]\nkind = \"untar\"\n");
        assert!(without.starts_with("some.toml:4: `workload.w.kind` = untar uses files"));
        let with = error("[fs]\nnewfs = \"netbsd2\"\n[workload.w]\n");
        assert!(with.contains("= dd uses the raw volume") && with.contains("take touch, iozone"));
        let alone = error("[fs]\nmount = \"async\"\n[workload.w]\n");
        assert!(alone.starts_with("some.toml:4: `fs.mount` has no effect without a file system"));
    }
}
