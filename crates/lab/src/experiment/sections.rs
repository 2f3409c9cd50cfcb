//! The sections of an experiment file, each with the keys of whoever reads it.

use super::about::{AboutKeys, AskKeys, RunKeys};
use super::fault::FaultKeys;
use super::volume::VolumeKeys;
use crate::catalogue::{DriveKeys, HostKeys};
use crate::error::{Error, Result, nearest};
use crate::file_system::{self, FsKeys};
use crate::keys::Key;
use crate::workload::{Common, KINDS};
use std::sync::LazyLock;
use store::factor::{Factors, Written as Shown};

/// A table of an experiment file.
#[derive(Debug)]
pub struct SectionKeys {
    /// Its path: `volume`, or `workload.*` for that of any workload; empty for the file's own keys.
    pub path: &'static str,
    /// What it describes.
    pub about: &'static str,
    /// The keys that it has whatever its kind.
    pub keys: &'static [Key],
    /// Its kinds, which its key `kind` chooses among; none where it has but one.
    pub kinds: Vec<KindKeys>,
}

/// A kind of what a section describes, with the keys that it has besides.
#[derive(Clone, Copy, Debug)]
pub struct KindKeys {
    /// The word that `kind` takes.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [&'static [Key]],
    /// The names of its samples; none where they depend on what is asked.
    pub samples: &'static [&'static str],
}

/// All sections, in the order in which they are listed.
pub static SECTIONS: LazyLock<Vec<SectionKeys>> = LazyLock::new(|| {
    let one = |path, about, keys| SectionKeys { path, about, keys, kinds: Vec::new() };
    let kinds = KINDS.iter().map(|kind| KindKeys {
        name: kind.name,
        about: kind.about,
        keys: kind.keys,
        samples: kind.samples,
    });
    let file_systems = file_system::KINDS.iter().map(|kind| KindKeys {
        name: kind.name,
        about: kind.about,
        keys: kind.keys,
        samples: &[],
    });
    let workload = SectionKeys {
        path: "workload.*",
        about: "A workload",
        keys: Common::KEYS,
        kinds: kinds.collect(),
    };
    vec![
        one("", "The experiment", AboutKeys::KEYS),
        one("ask", "What is asked", AskKeys::KEYS),
        one("run", "Repeats and random seed", RunKeys::KEYS),
        one("host", "The host", HostKeys::KEYS),
        one("volume", "The volume", VolumeKeys::KEYS),
        one("drive", "Settings of all drives; without them each drive's own", DriveKeys::KEYS),
        one(
            "fault",
            "What goes wrong with a member while a trial is measured, on the kernel rig",
            FaultKeys::KEYS,
        ),
        SectionKeys {
            path: "fs",
            about: "The file system",
            keys: FsKeys::KEYS,
            kinds: file_systems.collect(),
        },
        workload,
    ]
});

/// The sections that a workload may have a copy of for itself.
pub(super) const OF_A_WORKLOAD: [&str; 5] = ["host", "volume", "drive", "fault", "fs"];

/// Keys that have another name now.
const RENAMED: [(&str, &str); 2] =
    [("volume.box", "volume.controller"), ("workload.*.program", "workload.*.kind")];

impl SectionKeys {
    /// The generic path of one of its keys.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    /// All its keys, those of its kinds included; a key that several kinds have comes again for each.
    pub fn all(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().chain(self.kinds.iter().flat_map(KindKeys::all))
    }
}

impl KindKeys {
    /// Its keys.
    pub fn all(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.keys.iter().copied().flatten()
    }
}

/// The key with this path. Of a workload's keys, that of the first kind that has it.
///
/// # Errors
///
/// Where there is none, saying which may have been meant.
pub fn find(path: &str) -> Result<&'static Key> {
    key_at(path).ok_or_else(|| unknown(path))
}

/// The same; nothing where there is none.
fn key_at(path: &str) -> Option<&'static Key> {
    let (section, name) = split(path);
    let section = SECTIONS.iter().find(|known| known.path == section)?;
    section.all().find(|key| key.name == name)
}

/// What reports need to know of the factors at these key paths. Paths that are not keys, as results of other programs have,
/// nothing is known.
pub fn factors<'a>(paths: impl IntoIterator<Item = &'a String>) -> Factors {
    let known = |path: &String| Some((path.clone(), find(path).ok()?.factor_kind()));
    Factors(paths.into_iter().filter_map(known).collect())
}

/// The same, with sizes in bytes where `is_in_bytes` says that the person wrote them so.
pub fn factors_as_written<'a>(
    paths: impl IntoIterator<Item = &'a String>,
    is_in_bytes: impl Fn(&str) -> bool,
) -> Factors {
    let Factors(mut known) = factors(paths);
    for (path, kind) in &mut known {
        if kind.written == Shown::Sectors && is_in_bytes(path) {
            kind.written = Shown::BytesOfSectors;
        }
    }
    Factors(known)
}

/// The path of the section that a key is of, names of workloads taken out, and the key's name.
fn split(path: &str) -> (&str, &str) {
    match path.split('.').collect::<Vec<_>>().as_slice() {
        ["workload", _, key] => ("workload.*", key),
        ["workload", _, section, key] if OF_A_WORKLOAD.contains(section) => (section, key),
        _ => path.rsplit_once('.').unwrap_or(("", path)),
    }
}

/// The path without the names of workloads, as the sections have it.
pub(super) fn generic(path: &str) -> String {
    match split(path) {
        ("", key) => key.into(),
        (section, key) => format!("{section}.{key}"),
    }
}

fn unknown(path: &str) -> Error {
    let generic = generic(path);
    if let Some((_, now)) = RENAMED.iter().find(|(old, _)| *old == generic) {
        return Error::input(format!("`{path}` is now called `{}`", named_as(now, path)));
    }
    let unnamed = match path.split('.').collect::<Vec<_>>().as_slice() {
        ["workload"] => true,
        ["workload", key] => find(&format!("workload.*.{key}")).is_ok(),
        _ => false,
    };
    if unnamed {
        return Error::input(format!(
            "unknown key `{path}`; a workload has a name: write `[workload.read]`, or another name, above \
             its keys"
        ));
    }
    if let Some((parent, _)) = path.rsplit_once('.')
        && let Some(key) = key_at(parent)
    {
        let expects = key.takes.expects();
        return Error::input(format!("`{parent}` takes {expects}, not a table"));
    }
    if let Some(key) = of_section(path) {
        return Error::input(format!(
            "unknown key `{path}`; it is a section: did you mean `{key}`?"
        ));
    }
    if let Some(meant) = in_a_section(path) {
        return Error::input(format!("unknown key `{path}`; did you mean `{meant}`?"));
    }
    let meant: Vec<String> =
        meant(&generic).iter().map(|known| format!("`{}`", named_as(known, path))).collect();
    let next = if meant.is_empty() {
        "`ileave keys` lists all keys".to_string()
    } else {
        format!("did you mean {}?", meant.join(" or "))
    };
    Error::input(format!("unknown key `{path}`; {next}"))
}

/// The key of a section that says which one it is: `host.name` of `host`, `fs.kind` of `fs`. Of others the first.
fn of_section(path: &str) -> Option<String> {
    let section = SECTIONS.iter().find(|section| section.path == path && !path.is_empty())?;
    let says_which = |key: &&Key| ["name", "kind"].contains(&key.name);
    let key = section.all().find(says_which).or_else(|| section.all().next())?;
    Some(section.path_of(key.name))
}

/// The path with the section's name as it is meant, where with that it is a key: `workload.x.kind` of `wrkload.x.kind`.
fn in_a_section(path: &str) -> Option<String> {
    let (first, rest) = path.split_once('.')?;
    let known = SECTIONS.iter().filter_map(|section| section.path.split('.').next());
    let near = nearest(first, known.filter(|name| !name.is_empty()))?;
    let meant = format!("{near}.{rest}");
    key_at(&meant).map(|_| meant)
}

/// The keys, by generic path, that may be meant by one that there is not: that of another section with the same
/// name, else the nearest of the same section, else the nearest of all.
pub(super) fn meant(generic: &str) -> Vec<String> {
    let (section, name) = generic.rsplit_once('.').unwrap_or(("", generic));
    let mut known: Vec<(&str, String)> = SECTIONS
        .iter()
        .flat_map(|section| section.all().map(|key| (key.name, section.path_of(key.name))))
        .collect();
    known.dedup();
    let mut same: Vec<String> =
        known.iter().filter(|(key, _)| *key == name).map(|(_, path)| path.clone()).collect();
    same.dedup();
    if !same.is_empty() {
        return same;
    }
    if let Some(called) = called_elsewhere(name) {
        let own = known.iter().filter(|(key, _)| *key == called).map(|(_, path)| path);
        let in_section =
            |path: &&String| path.rsplit_once('.').is_some_and(|(of, _)| of == section);
        return own
            .clone()
            .find(in_section)
            .or_else(|| own.clone().next())
            .cloned()
            .into_iter()
            .collect();
    }
    let beside = |path: &&str| path.rsplit_once('.').map_or("", |(section, _)| section) == section;
    let paths = || known.iter().map(|(_, path)| path.as_str());
    if paths().any(|path| beside(&path)) {
        let own = paths().filter(beside).map(|path| path.rsplit('.').next().unwrap_or(path));
        if let Some(near) = nearest(name, own) {
            let dot = if section.is_empty() { "" } else { "." };
            return vec![format!("{section}{dot}{near}")];
        }
        if !section.is_empty() {
            return Vec::new();
        }
    }
    nearest(generic, paths()).map(String::from).into_iter().collect()
}

/// What others call keys: fio, mdadm, LVM and RAID controllers. Only errors name them.
const CALLED_ELSEWHERE: [(&[&str], &str); 8] = [
    (&["iodepth", "io_depth", "qd"], "depth"),
    (&["chunk", "chunk_size", "stripe_size", "strip", "strip_size", "su"], "interleave"),
    (&["readwrite"], "op"),
    (&["randrw", "rwmixread", "read_percent"], "reads_percent"),
    (&["bs", "blocksize", "block_size"], "block"),
    (&["numjobs", "num_jobs", "threads"], "jobs"),
    (&["iops", "rate_iops"], "requests_per_s"),
    (&["raid", "raid_level"], "level"),
];

/// The key that is called `name` elsewhere.
fn called_elsewhere(name: &str) -> Option<&'static str> {
    CALLED_ELSEWHERE.iter().find(|(words, _)| words.contains(&name)).map(|(_, key)| *key)
}

/// The generic path with the name that `path` has.
fn named_as(generic: &str, path: &str) -> String {
    let name = path.strip_prefix("workload.").and_then(|rest| rest.split('.').next());
    let name = name.unwrap_or("NAME");
    if path.split('.').count() == 4 && !generic.contains('*') {
        return format!("workload.{name}.{generic}");
    }
    generic.replace('*', name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Value, Written};
    use store::factor::Role;

    #[test]
    fn every_default_is_read_and_every_key_stands_once() {
        for section in SECTIONS.iter() {
            let plain = KindKeys { name: "", about: "", keys: &[], samples: &[] };
            for kind in section.kinds.iter().chain([&plain]) {
                let keys: Vec<&Key> = section.keys.iter().chain(kind.all()).collect();
                for (index, key) in keys.iter().enumerate() {
                    let _ = key.default_value();
                    // "[default: 5…; 3…]" stood above "default 1".
                    let says_so = key.meaning().contains("[default:");
                    assert!(key.default.is_none() || !says_so, "{key:?}: two defaults");
                    assert!(!key.meaning().is_empty());
                    assert!(keys[..index].iter().all(|other| other.name != key.name), "{key:?}");
                }
            }
        }
    }

    /// `iodepth` had no nearest name, and is the word of everybody who knows fio.
    #[test]
    fn words_of_other_programs_have_their_keys() {
        for (words, key) in CALLED_ELSEWHERE {
            assert!(
                SECTIONS.iter().flat_map(super::SectionKeys::all).any(|known| known.name == key),
                "{key}"
            );
            for word in words {
                let said = unknown(&format!("workload.w.{word}")).to_string();
                let is_said = said.contains(&format!(".{key}`"));
                assert!(is_said && said.contains("did you mean"), "{said}");
            }
        }
        assert_eq!(meant("volume.chunk"), ["volume.interleave"]);
        assert_eq!(meant("workload.*.iodepth"), ["workload.*.depth"]);
    }

    /// A value is checked before its workload's kind is known.
    #[test]
    fn keys_of_one_name_take_the_same() {
        for section in SECTIONS.iter() {
            for key in section.all() {
                let first = section.all().find(|other| other.name == key.name).unwrap();
                assert_eq!(key.takes.expects(), first.takes.expects(), "{key:?}");
                assert_eq!(key.factor, first.factor);
            }
        }
    }

    /// What no verdict may recommend unless it is asked to.
    #[test]
    fn loads_and_conditions_are_no_choices() {
        let conditions = [
            "host.name",
            "volume.failed",
            "volume.rebuild",
            "drive.zero_latency",
            "drive.queue_discipline",
            "drive.state",
            "drive.credit",
            "drive.media_cache",
            "host.storage_iops",
            "host.storage_rate",
            "host.cpu_percent",
        ];
        for section in SECTIONS.iter() {
            for key in section.all() {
                let path = section.path_of(key.name);
                let role = match section.path {
                    _ if !key.factor => None,
                    "workload.*" => Some(Role::Load),
                    "fault" => Some(Role::Condition),
                    _ if conditions.contains(&path.as_str()) => Some(Role::Condition),
                    _ => Some(Role::Choice),
                };
                assert_eq!(key.role, role, "{path}");
            }
        }
    }

    #[test]
    fn what_is_asked_for_is_a_key_that_can_be_varied() {
        let choose = find("ask.choose").unwrap().takes;
        let read = |path: &str| choose.read(&Written::Text(path.into()));
        assert!(read("volume.interleave").is_ok() && read("workload.*.offset").is_ok());
        let wrong = |path: &str| read(path).unwrap_err().to_string();
        assert!(wrong("volume.interleeve").contains("did you mean `volume.interleave`?"));
        assert!(wrong("run.seed").contains("cannot be varied"));
    }

    #[test]
    fn a_typo_is_answered_with_the_key_that_was_meant() {
        let message = |path| find(path).unwrap_err().to_string();
        assert!(message("volume.interleeve").contains("did you mean `volume.interleave`?"));
        assert!(message("workload.read.blok").contains("did you mean `workload.read.block`?"));
        assert!(message("nothing.like.it").contains("`ileave keys` lists"));
        assert_eq!(
            message("interleave"),
            "unknown key `interleave`; did you mean `volume.interleave`?"
        );
        assert!(message("depth").contains("did you mean `workload.NAME.depth`?"));
        let kinds = "did you mean `fault.kind` or `fs.kind` or `workload.NAME.kind`?";
        assert!(message("kind").contains(kinds), "{}", message("kind"));
        assert!(message("host.level").contains("did you mean `volume.level`?"));
        assert!(message("volum.levle").contains("did you mean `volume.level`?"));
        assert!(message("nme").contains("did you mean `name`?"));
        assert!(message("workload.write.foo").contains("`ileave keys` lists"));
        assert!(message("host").ends_with("it is a section: did you mean `host.name`?"));
        assert!(message("fs").ends_with("did you mean `fs.kind`?"), "{}", message("fs"));
        assert!(message("about.a").contains("`about` takes a text, not a table"));
        assert!(message("wrkload.x.kind").ends_with("did you mean `workload.x.kind`?"));
        assert!(message("hots.name").ends_with("did you mean `host.name`?"));
        assert_eq!(find("workload.anything.op").unwrap().name, "op");
        assert_eq!(find("workload.any.volume.level").unwrap().name, "level");
        assert!(message("workload.a.volume.levle").contains("`workload.a.volume.level`?"));
        assert!(message("workload.a.run.seed").contains("unknown key"));
    }

    #[test]
    fn an_old_name_is_answered_with_the_new_one() {
        let message = |path| find(path).unwrap_err().to_string();
        assert_eq!(message("volume.box"), "`volume.box` is now called `volume.controller`");
        assert_eq!(
            message("workload.a.volume.box"),
            "`workload.a.volume.box` is now called `workload.a.volume.controller`"
        );
        assert_eq!(
            message("workload.a.program"),
            "`workload.a.program` is now called `workload.a.kind`"
        );
    }

    #[test]
    fn values_are_read_by_what_their_key_takes() {
        let interleave = find("volume.interleave").unwrap().takes;
        for (written, sectors) in [
            (Written::Integer(64), 64),
            (Written::Text("32KiB".into()), 64),
            (Written::Bare("32k".into()), 64),
            (Written::Bare("64".into()), 64),
        ] {
            assert_eq!(interleave.read(&written).unwrap(), Value::Count(sectors));
        }
        let wrong =
            |path: &str, written| find(path).unwrap().takes.read(&written).unwrap_err().to_string();
        assert!(wrong("volume.interleave", Written::Switch(true)).contains("`true` is not a size"));
        assert!(
            wrong("volume.interleave", Written::Text("100B".into())).contains("512-byte sectors")
        );
        assert!(wrong("volume.interleave", Written::Integer(-1)).contains("`-1` is not a size"));
        assert!(wrong("run.repeats", Written::Integer(0)).contains("from 1 to 10000"));
        assert!(
            wrong("volume.level", Written::Text("strip".into())).contains("did you mean `stripe`?")
        );
        let level = find("volume.level").unwrap().takes;
        let alias = level.read(&Written::Bare("raid0".into())).unwrap();
        assert_eq!(alias, Value::Text("stripe".into()));
        let rate = find("workload.x.rate").unwrap().takes;
        let two = Value::Count(2_000_000);
        assert_eq!(rate.read(&Written::Text("2MB/s".into())).unwrap(), two);
        assert!(wrong("workload.x.rate", Written::Integer(2_000_000)).contains("2MB/s"));
        assert!(wrong("workload.x.rate", Written::Text("fast".into())).contains("2MB/s"));
        let time = find("workload.x.runtime").unwrap().takes;
        assert_eq!(time.read(&Written::Bare("10ms".into())).unwrap(), Value::Count(10_000_000));
        let think = find("workload.x.think").unwrap().takes;
        assert_eq!(think.read(&Written::Integer(0)).unwrap(), Value::Count(0));
        for written in [Written::Integer(5), Written::Text("5".into()), Written::Bare("5".into())] {
            assert!(
                wrong("workload.x.think", written).contains("as in \"10ms\"; the unit is missing")
            );
        }
        assert!(wrong("workload.x.think", Written::Text("10".repeat(20))).contains("10ms"));
        assert!(wrong("drive.write_cache", Written::Integer(1)).contains("true or false"));
        assert!(wrong("name", Written::Other("a date")).contains("a date is not a text"));
    }
}
