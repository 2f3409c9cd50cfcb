//! What a layout is beside fast: how much it holds, what it survives, what it costs.

use super::Layout;
use crate::stated::Stated;
use block::layout::{Level, System, unused};
use block::units::SECTOR_BYTES;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use store::Manifest;
use store::known::KnownDrive;
use store::members::stated_members;

/// What is known of a layout. What the results do not say is not known, and is not guessed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Facts {
    /// Bytes that can be used.
    pub usable_bytes: Option<u64>,
    /// Drives that may be lost, whichever they are, without losing data, beside those that are down in every trial.
    pub losses_survived: Option<usize>,
    /// The same of the members alone, without drives that a log has of its own.
    #[serde(skip)]
    pub members_survived: Option<usize>,
    /// Members, where their number is known.
    pub members: Option<usize>,
    /// Its level, where that is known and the same in all trials.
    #[serde(skip)]
    pub level: Option<String>,
    /// Whether its trials are of several levels: what is lost is then that of the least safe.
    #[serde(skip)]
    pub has_several_levels: bool,
    /// Whether its level is Linux's md's, whose levels have names of their own.
    #[serde(skip)]
    pub is_of_md: bool,
    /// Members that are down in every trial.
    pub down: usize,
    /// Members that are down besides in some trials, at worst.
    pub down_besides: usize,
    /// Whether its log is on one drive beside the members, whose failure takes the log with it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub log_is_alone: bool,
    /// What the members and the log's drives cost together, in US dollars as their files said.
    pub price_usd: Option<f64>,
    /// Why a crash or a power cut loses data that was reported as written, where it does.
    pub lost_by_crash: Option<String>,
    /// What a power cut may damage although it was written long before, where it does.
    pub torn_by_crash: Option<String>,
    /// What a crash costs afterwards, where the results are asked about it.
    pub compared_after_crash: Option<String>,
    /// What erases all drives at once, where they are those of a cloud instance's host.
    pub erased_together: Option<String>,
    /// The part of it at its end that is on fewer drives, which are larger than the others.
    #[serde(skip)]
    pub narrower: Option<Narrower>,
    /// What members of several sizes leave unused, where that is much, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unused: Option<String>,
    /// What else there is to know of a power cut, where what it loses is not known from the results.
    pub unknown_in_crash: Option<String>,
}

/// The part of a volume that is on fewer drives than its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrower {
    /// Where it begins, in bytes.
    pub from_bytes: u64,
    /// How many drives it is on at most.
    pub drives: usize,
}

impl Facts {
    /// What the results say of `layout`, of all workloads that ran on it. `settings` are the manifest's, which take a
    /// while to read.
    pub fn new(manifest: &Manifest, settings: &toml::Table, layout: &Layout) -> Self {
        let of = |workload| {
            let situations = situations(&layout.at, workload, settings);
            let facts = |at| Facts::of(manifest, &Stated::new(at, workload, settings));
            situations.iter().map(facts).reduce(Facts::and).expect("there is one at least")
        };
        let workloads = layout.workloads.iter().map(|workload| of(workload));
        workloads.reduce(Facts::and).unwrap_or_default()
    }

    /// What holds of both: what is the same, and of what may be lost the worse.
    fn and(self, other: Self) -> Self {
        let worse = self.losses_survived.into_iter().chain(other.losses_survived).min();
        let members = self.members_survived.into_iter().chain(other.members_survived).min();
        Facts {
            members_survived: members,
            usable_bytes: self.usable_bytes.filter(|_| self.usable_bytes == other.usable_bytes),
            losses_survived: worse,
            price_usd: self.price_usd.filter(|_| self.price_usd == other.price_usd),
            members: self.members.filter(|_| self.members == other.members),
            has_several_levels: self.has_several_levels
                || other.has_several_levels
                || self.level != other.level,
            level: self.level.filter(|level| Some(level) == other.level.as_ref()),
            is_of_md: self.is_of_md && other.is_of_md,
            log_is_alone: self.log_is_alone || other.log_is_alone,
            down: self.down.max(other.down),
            down_besides: self.down_besides.max(other.down_besides),
            lost_by_crash: self.lost_by_crash.or(other.lost_by_crash),
            torn_by_crash: self.torn_by_crash.or(other.torn_by_crash),
            compared_after_crash: self.compared_after_crash.or(other.compared_after_crash),
            erased_together: self.erased_together.or(other.erased_together),
            unknown_in_crash: self.unknown_in_crash.or(other.unknown_in_crash),
            unused: self.unused.filter(|own| Some(own) == other.unused.as_ref()),
            narrower: self.narrower.filter(|_| self.narrower == other.narrower),
        }
    }

    /// What the results say of one workload's layout.
    fn of(manifest: &Manifest, stated: &Stated) -> Self {
        let level = stated.value("volume.level");
        let [down, at_worst] = stated.down();
        let has_controller = stated.value("volume.controller").is_some_and(|name| name != "none");
        let mut facts = Facts {
            level: level.clone(),
            is_of_md: level.as_deref().and_then(System::of) == Some(System::Md),
            lost_by_crash: lost_by_crash(manifest, stated),
            // ZFS writes a stripe elsewhere before it lets go of the old one, and a partial parity log restores what is torn.
            torn_by_crash: level
                .as_deref()
                .filter(|_| !has_controller && stated.value("fs.kind").as_deref() != Some("zfs"))
                .filter(|_| stated.value("volume.ppl").as_deref() != Some("true"))
                .and_then(torn_by_crash),
            compared_after_crash: compared_after_crash(stated),
            unknown_in_crash: has_controller.then(|| MEMORY.into()),
            down,
            down_besides: at_worst - down,
            ..Facts::default()
        };
        let survived = |level: &str, members: usize| {
            Some(losses_survived(level, members)?.saturating_sub(down))
        };
        let members = stated_members(&stated.value("volume.drives").unwrap_or_default());
        if members.is_empty() || !manifest.members.is_empty() {
            let real = manifest.members.len();
            facts.members = (real > 0).then_some(real);
            let count = if real == 0 { 2 } else { real };
            facts.losses_survived = level.and_then(|level| survived(&level, count));
            facts.members_survived = facts.losses_survived;
            return facts;
        }
        let level = level.or_else(|| (members.len() == 1).then(|| "single".into()));
        let of_log = stated.value("volume.log_drives").filter(|drives| drives != "none");
        let of_log = of_log.map_or_else(Vec::new, |drives| stated_members(&drives));
        facts.log_is_alone = of_log.len() == 1;
        facts.members = Some(members.len());
        facts.members_survived = level.as_ref().and_then(|level| survived(level, members.len()));
        // The log's drives are copies of each other.
        let of_log_survived = of_log.len().checked_sub(1).unwrap_or(usize::MAX);
        facts.losses_survived = facts.members_survived.map(|own| own.min(of_log_survived));
        let known: Option<Vec<&KnownDrive>> =
            members.iter().map(|member| manifest.drives.get(&member.drive)).collect();
        let Some(known) = known else { return facts };
        let of_log_known = of_log.iter().filter_map(|member| manifest.drives.get(&member.drive));
        let is_erased =
            known.iter().copied().chain(of_log_known).any(|drive| drive.goes_with_instance);
        facts.erased_together = is_erased.then(|| store::known::ERASED_TOGETHER.into());
        let beside = of_log.iter().map(|member| manifest.drives.get(&member.drive)?.price_usd);
        facts.price_usd = known.iter().map(|drive| drive.price_usd).chain(beside).sum();
        let sectors: Option<Vec<u64>> =
            members.iter().zip(&known).map(|(m, drive)| m.sectors.or(drive.sectors)).collect();
        let level = level.and_then(|level| level.parse::<Level>().ok());
        let (Some(level), Some(sectors), Some(interleave_sectors)) =
            (level, sectors, stated.interleave_sectors())
        else {
            return facts;
        };
        let laid_out = |members: &[u64]| level.lay_out(interleave_sectors, members).ok();
        let volume = |members: &[u64]| Some(laid_out(members)?.sectors());
        facts.usable_bytes = volume(&sectors).map(|sectors| sectors * SECTOR_BYTES);
        facts.unused = laid_out(&sectors).and_then(|layout| unused(&*layout, &sectors));
        facts.narrower = narrower(level, &sectors, volume);
        facts
    }

    /// Why it is not safe, in words; nothing where it is, as far as the results say.
    pub fn unsafe_because(&self) -> Vec<String> {
        let mut reasons: Vec<String> = self.lost_by_crash.iter().cloned().collect();
        if self.survived_in_words() == Some(0) {
            reasons.push(self.when_a_disk_fails().expect("it is known"));
        }
        reasons.extend(self.when_the_log_fails());
        reasons
    }

    /// What happens when disks fail, in words; nothing where that is not known.
    pub fn when_a_disk_fails(&self) -> Option<String> {
        let survived = self.survived_in_words()?;
        let of_several = self.members.is_some_and(|members| members > 1);
        let disks = |count: usize| if count == 1 { "disk" } else { "disks" };
        let is_by_place = self.is_by_place();
        let alone = match survived {
            0 if of_several && is_by_place && self.down > 0 => {
                "another disk failure may lose everything: it depends on which disk".into()
            }
            0 if of_several => "one disk failure loses everything".into(),
            0 => "one disk failure loses data".into(),
            1 => "survives any one disk failure".into(),
            many => format!("survives any {many} disk failures"),
        };
        // A mount that finds a device missing refuses, which a reboot after a failure shows (btrfs(5), `degraded`).
        let is_of_btrfs = self.level.as_deref().and_then(System::of) == Some(System::Btrfs);
        let alone = if is_of_btrfs && survived > 0 {
            format!("{alone} (and then mounts only with `-o degraded`)")
        } else {
            alone
        };
        let alone = if self.has_several_levels {
            format!("with the least safe of these levels {alone}")
        } else {
            alone
        };
        // Of a condition that was varied the worst is said, too.
        let (down, besides) = (self.down, self.down_besides);
        Some(match (down, besides) {
            (0, 0) => alone,
            (down, 0) => format!("with {down} {} down already: {alone}", disks(down)),
            (_, more) if survived <= more => {
                let loses = if is_by_place { "may lose" } else { "loses" };
                format!("{alone}; with {} down the next one {loses} data", down + more)
            }
            (_, more) => {
                format!("{alone}; with {} down any {} more", down + more, survived - more)
            }
        })
    }

    /// Whether it depends on which members fail how many of them it survives: of pairs, or of arrays side by side.
    fn is_by_place(&self) -> bool {
        let level = self.level.as_ref().and_then(|level| level.parse::<Level>().ok());
        level.zip(self.members).is_some_and(|(level, members)| level.groups(members)[0] > 1)
    }

    /// How many losses are survived, but for that of a log's one drive, of which there is a sentence of its own.
    fn survived_in_words(&self) -> Option<usize> {
        if self.log_is_alone { self.members_survived } else { self.losses_survived }
    }

    /// What happens when the log's drive fails, in words, where it has no copy.
    fn when_the_log_fails(&self) -> Option<String> {
        let alone = "the log is on one drive: if that fails, what only the log held is lost, and a database may have to be restored \
                     from its backup";
        self.log_is_alone.then(|| alone.into())
    }

    /// What the layout risks, in words: failing disks first, then a crash or a power cut.
    pub fn risks(&self) -> Vec<String> {
        let in_a_crash = [
            &self.lost_by_crash,
            &self.torn_by_crash,
            &self.compared_after_crash,
            &self.unknown_in_crash,
        ];
        let in_a_crash = in_a_crash.into_iter().flatten().cloned();
        let of_drives = self.when_a_disk_fails().into_iter().chain(self.when_the_log_fails());
        of_drives.chain(self.erased_together.clone()).chain(in_a_crash).collect()
    }

    /// Dollars for each GB (10^9 bytes) that can be used.
    pub fn usd_per_gb(&self) -> Option<f64> {
        Some(self.price_usd? / (self.usable_bytes? as f64 / 1e9))
    }
}

/// The part that is left of a stripe where its smallest members are full; `volume` says how large one of such members is.
fn narrower(
    level: Level,
    members: &[u64],
    volume: impl Fn(&[u64]) -> Option<u64>,
) -> Option<Narrower> {
    let least = members.iter().copied().min()?;
    let drives = members.iter().filter(|&&sectors| sectors > least).count();
    let equal = volume(&vec![least; members.len()])?;
    let is_longer = level.interleaved() && drives > 0 && volume(members)? > equal;
    is_longer.then_some(Narrower { from_bytes: equal * SECTOR_BYTES, drives })
}

/// What decides what may be lost, and how much room there is.
const DECIDING: [&str; 10] = [
    "volume.level",
    "volume.drives",
    "volume.log_drives",
    "volume.controller",
    "drive.write_cache",
    "fs.kind",
    "fs.mount",
    "fs.options",
    "fs.journal",
    "fs.barrier",
];

/// The layout's factors, with each value of what decides and is varied as a condition, not as a choice.
fn situations(
    layout: &Map<String, Json>,
    workload: &str,
    settings: &toml::Table,
) -> Vec<Map<String, Json>> {
    let mut situations = vec![layout.clone()];
    for path in DECIDING {
        let own = format!("workload.{workload}.{path}");
        let stated = settings.get(&own).or_else(|| settings.get(path));
        let is_chosen = layout.contains_key(path) || layout.contains_key(&own);
        let Some(values) = stated.and_then(toml::Value::as_array).filter(|_| !is_chosen) else {
            continue;
        };
        let values = values.iter().filter_map(|value| serde_json::to_value(value).ok());
        situations = values
            .flat_map(|value| {
                let with = |at: &Map<String, Json>| {
                    let mut at = at.clone();
                    at.insert(path.into(), value.clone());
                    at
                };
                situations.iter().map(with).collect::<Vec<_>>()
            })
            .collect();
    }
    situations
}

/// How many members a level of this name may lose, whichever they are.
fn losses_survived(level: &str, members: usize) -> Option<usize> {
    if let Ok(level) = level.parse::<Level>() {
        return Some(level.losses_survived(members));
    }
    Some(match foreign(level)? {
        "raid6" | "raid60" => 2,
        _ => 1,
    })
}

/// The redundant level in a name that results of others give it: whole words, in front of or behind the system's name, as in
/// `cmd-raid5` or `raid10-far2`.
fn foreign(level: &str) -> Option<&str> {
    let levels = ["raid10", "raid1+0", "raid4", "raid5", "raid50", "raid6", "raid60"];
    level.split(['-', '_']).take(2).find(|word| levels.contains(word))
}

/// Whether a controller has a battery is not in its file.
const MEMORY: &str =
    "a power cut loses what is in the controller's memory, unless a battery keeps it";

/// Levels with parity write data and parity one after the other.
fn torn_by_crash(level: &str) -> Option<String> {
    let has_parity = foreign(level).is_some_and(|level| !level.starts_with("raid1"));
    let hole = "write hole: a power cut can leave parity wrong, and a disk that fails later is rebuilt with wrong data (no journal)";
    has_parity.then(|| hole.into())
}

/// Where somebody asks about the bitmap, or about levels of LVM's that always have one, what an array without one does
/// after a crash.
fn compared_after_crash(stated: &Stated) -> Option<String> {
    let is = |key: &str, value: &str| stated.value(key).as_deref() == Some(value);
    let is_of_lvm = |level: &toml::Value| {
        let level = level.as_str().and_then(|level| level.parse::<Level>().ok());
        level.is_some_and(|level| level.has_bitmap_of_lvm())
    };
    let levels = stated.settings.get("volume.level").and_then(toml::Value::as_array);
    let is_beside_lvm = levels.is_some_and(|levels| levels.iter().any(is_of_lvm));
    let is_asked =
        is("volume.bitmap", "none") || (is_beside_lvm && stated.value("volume.bitmap").is_none());
    let has_none = is_asked && !is("volume.ppl", "true");
    let is_redundant =
        || stated.value("volume.level")?.parse::<Level>().ok().map(|l| l.has_bitmap());
    (has_none && is_redundant() == Some(true))
        .then(|| "a crash costs a full resync (no bitmap): hours on large disks".into())
}

/// Acknowledged writes are in drives' caches, and stay there until the drives come to them.
pub const CACHED: &str =
    "a power cut loses acknowledged writes (write caches are on, and nothing flushes them)";

/// The same of a trace, which flushes when it did where it was recorded.
pub const SINCE_FLUSH: &str = "a power cut loses writes acknowledged since the trace's last flush, if it has any (write caches are on)";

fn lost_by_crash(manifest: &Manifest, stated: &Stated) -> Option<String> {
    let mount = stated.value("fs.mount").or_else(|| stated.value("fs.options")).unwrap_or_default();
    let words: Vec<&str> = mount.split([',', ' ']).collect();
    if words.contains(&"async") {
        return Some("a crash can destroy a file system that is mounted async".into());
    }
    let says = |path: &str, word: &str| stated.value(path).as_deref() == Some(word);
    if says("fs.journal", "false") {
        return Some("without a journal, a crash can damage the file system".into());
    }
    if words.contains(&"nobarrier") || words.contains(&"barrier=0") || says("fs.barrier", "none") {
        return Some("without barriers, a power cut loses what the drives' caches hold".into());
    }
    let said = stated.value("drive.write_cache").map(|said| said == "true");
    // Where nothing is said, a modelled drive is as it comes, and flash always is: the key changes nothing of it. What others
    // measured is not held against them.
    let is_cached = |drive: &KnownDrive| match said {
        Some(said) if drive.state.is_none() || drive.is_shingled() => said,
        _ => drive.write_cache == Some(true),
    };
    let cached = match said {
        Some(said) if manifest.drives.is_empty() => said,
        None if !manifest.modelled() => false,
        _ => manifest.drives.values().any(is_cached),
    };
    // A workload that works on files flushes through its file system, unless told otherwise.
    let raw = stated.value("fs.type").is_none() && stated.value("fs.mount").is_none();
    let only_reads = manifest.only_read.iter().any(|name| *name == stated.workload);
    (cached && raw && !stated.runs_program() && !stated.commits() && !only_reads)
        .then(|| if stated.is_trace() { SINCE_FLUSH } else { CACHED }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// One drive is of no catalogue, and the other was otherwise when the run was started.
    const MANIFEST: &str = r#"
        format = 3
        ileave = "0"
        name = "some"
        rig = "sim"
        trials = 1
        workloads = ["read"]
        published = ""
        experiment = '''
        "volume.drives" = "./gone.toml+wd740gd:1000000"
        "volume.level" = "concat"
        '''
        [drives."./gone.toml"]
        digest = "0"
        sectors = 2000000
        write_cache = false
        price_usd = 10.5
        model_error_percent = 7.0
        model_error_source = "a trace"
        [drives.wd740gd]
        digest = "1"
        sectors = 3000000
        write_cache = true
        price_usd = 20.0
        model_error_percent = 6.0
        [hosts.ideal]
        digest = "2"
    "#;

    fn layout(workloads: &[&str]) -> Layout {
        Layout {
            at: Map::new(),
            samples: crate::judge::layouts::Measured::default(),
            unsteady: BTreeSet::new(),
            overloaded: BTreeSet::new(),
            notes: Vec::new(),
            workloads: workloads.iter().map(|name| (*name).into()).collect(),
        }
    }

    /// Facts of a layout on which these workloads ran, in an experiment with these settings.
    fn facts(experiment: &str, workloads: &[&str]) -> Facts {
        let mut manifest: Manifest = toml::from_str(MANIFEST).unwrap();
        manifest.experiment = experiment.into();
        Facts::new(&manifest, &manifest.settings(), &layout(workloads))
    }

    #[test]
    fn a_level_that_was_not_named_is_the_default() {
        let default = facts("\"volume.drives\" = \"2xwd740gd:1000000\"", &["read"]);
        assert_eq!((default.losses_survived, default.price_usd), (Some(0), Some(40.0)));
        assert_eq!(default.usable_bytes, Some(2 * (1_000_000 / 128 * 128) * 512));
        assert!(default.unsafe_because().iter().any(|reason| reason.contains("one disk")));
        // What was imported follows from no experiment.
        assert_eq!(facts("", &["read"]).losses_survived, None);
    }

    /// The key's own default, and what the key reads as a size.
    #[test]
    fn an_interleave_is_what_its_key_says() {
        let usable = |interleave: &str| {
            let text = format!("\"volume.drives\" = \"2xwd740gd:1000000\"\n{interleave}");
            facts(&text, &["read"]).usable_bytes
        };
        let default = store::factor::DEFAULT_INTERLEAVE;
        assert_eq!(usable(&format!("\"volume.interleave\" = \"{default}\"")), usable(""));
        let with_1_mib = Some(2 * (1_000_000 / 2048 * 2048) * 512);
        assert_eq!(usable("\"volume.interleave\" = \"1MiB\""), with_1_mib);
        assert_eq!(usable("\"volume.interleave\" = 2048"), with_1_mib);
    }

    #[test]
    fn what_erases_all_disks_of_an_instance_is_said() {
        let of = |more: &str| {
            let text = MANIFEST.replace("price_usd = 20.0", &format!("price_usd = 20.0\n{more}"));
            let mut manifest: Manifest = toml::from_str(&text).unwrap();
            manifest.experiment =
                "\"volume.drives\" = \"2xwd740gd\"\n\"volume.level\" = \"mirror\"".into();
            Facts::new(&manifest, &manifest.settings(), &layout(&["read"])).risks().join("; ")
        };
        assert!(of("goes_with_instance = true").contains("erases all its disks at once"));
        assert!(!of("").contains("erases"));
    }

    #[test]
    fn beside_lvms_bitmap_it_is_said_that_there_is_none() {
        let of = |levels: &str| {
            let text = format!("\"volume.drives\" = \"3xwd740gd\"\n\"volume.level\" = [{levels}]");
            let mut manifest: Manifest = toml::from_str(MANIFEST).unwrap();
            manifest.experiment = text;
            let at = Map::from_iter([("volume.level".to_string(), Json::from("md-raid5"))]);
            let layout = Layout { at, ..layout(&["read"]) };
            Facts::new(&manifest, &manifest.settings(), &layout).compared_after_crash
        };
        assert!(of("'md-raid5', 'lvm-raid5'").is_some_and(|said| said.contains("no bitmap")));
        assert_eq!(of("'md-raid5', 'md-raid10'"), None);
    }

    #[test]
    fn what_is_set_for_one_workload_holds_where_it_alone_ran() {
        let text = "\"volume.drives\" = \"2xwd740gd\"\n\"workload.a.volume.level\" = \"mirror\"\n\
                    \"workload.a.program\" = \"untar\"\n\"workload.b.op\" = \"read\"\n";
        let [a, b, both] = [&["a"][..], &["b"], &["a", "b"]].map(|ran| facts(text, ran));
        assert_eq!((a.losses_survived, b.losses_survived), (Some(1), Some(0)));
        assert_eq!((both.losses_survived, both.usable_bytes), (Some(0), None));
        let said = both.when_a_disk_fails().unwrap();
        assert!(said.starts_with("with the least safe of these levels one disk"), "{said}");
        assert!(!a.has_several_levels && !b.has_several_levels);
        assert_eq!((both.price_usd, both.lost_by_crash.is_some()), (Some(40.0), true));
        // A file system flushes, and a raw device does not.
        assert!(a.lost_by_crash.is_none() && b.lost_by_crash.is_some());
    }

    /// It costs its price, and without a copy it is a danger of its own.
    #[test]
    fn a_log_has_drives_that_fail_and_cost() {
        let of = |log: &str| {
            let level = "\"volume.level\" = \"mirror\"\n\"workload.db.flush_every\" = 1";
            let text = format!(
                "\"volume.drives\" = \"2xwd740gd\"\n{level}\n\"volume.log_drives\" = \"{log}\""
            );
            facts(&text, &["db"])
        };
        let [none, one, two] = ["none", "1xwd740gd", "2xwd740gd"].map(of);
        assert_eq!(
            [none.price_usd, one.price_usd, two.price_usd],
            [Some(40.0), Some(60.0), Some(80.0)]
        );
        let alone = one.unsafe_because();
        assert!(alone.len() == 1 && alone[0].starts_with("the log is on one drive"), "{alone:?}");
        assert!(one.risks().contains(&alone[0]));
        assert_eq!(one.when_a_disk_fails(), none.when_a_disk_fails());
        assert!(none.unsafe_because().is_empty() && two.unsafe_because().is_empty());
        let survived = [none, one, two].map(|facts| facts.losses_survived);
        assert_eq!(survived, [Some(1), Some(0), Some(1)]);
    }

    /// A log that is flushed loses nothing that was acknowledged, nor do those beside it.
    #[test]
    fn what_commits_loses_nothing_in_a_power_cut() {
        let lost = |text: &str| {
            facts(&format!("\"volume.drives\" = \"2xwd740gd\"\n{text}"), &["db"]).lost_by_crash
        };
        assert!(lost("\"workload.wal.group\" = \"db\"").is_some());
        assert_eq!(lost("\"workload.wal.group\" = \"db\"\n\"workload.wal.flush_every\" = 1"), None);
        assert_eq!(lost("\"workload.db.flush_every\" = 8"), None);
        assert!(lost("\"workload.other.flush_every\" = 8").is_some());
    }

    #[test]
    fn one_workload_on_an_async_mount_makes_a_layout_unsafe() {
        let text = "\"volume.drives\" = \"2xwd740gd\"\n\"volume.level\" = \"mirror\"\n\
                    \"workload.a.fs.mount\" = \"sync\"\n\"workload.b.fs.mount\" = \"async\"\n";
        assert!(facts(text, &["a"]).unsafe_because().is_empty());
        assert!(facts(text, &["a", "b"]).unsafe_because()[0].contains("async"));
    }

    #[test]
    fn real_members_count_and_not_the_modelled_drives() {
        let mut manifest: Manifest = toml::from_str(MANIFEST).unwrap();
        manifest.experiment = "\"volume.level\" = \"md-raid10-n3\"".into();
        for member in ["0: a", "1: b", "2: c", "3: d"] {
            manifest.members.insert(member.into(), "file".into());
        }
        let facts = Facts::new(&manifest, &manifest.settings(), &layout(&["read"]));
        assert_eq!((facts.losses_survived, facts.price_usd), (Some(2), None));
    }

    #[test]
    fn what_is_known_of_drives_is_what_the_manifest_says() {
        let mut manifest: Manifest = toml::from_str(MANIFEST).unwrap();
        let facts = Facts::new(&manifest, &manifest.settings(), &layout(&["read"]));
        assert_eq!((facts.price_usd, facts.usable_bytes), (Some(30.5), Some(3_000_000 * 512)));
        assert!(facts.lost_by_crash.unwrap().contains("write caches are on"));
        // A key that changes nothing of flash makes no flash drive safe.
        let mut flash = manifest.clone();
        flash.experiment.push_str("\n\"drive.write_cache\" = false");
        assert_eq!(Facts::new(&flash, &flash.settings(), &layout(&["read"])).lost_by_crash, None);
        flash.drives.get_mut("wd740gd").unwrap().state = Some("random".into());
        assert!(Facts::new(&flash, &flash.settings(), &layout(&["read"])).lost_by_crash.is_some());
        // Who writes nothing loses nothing.
        manifest.only_read = vec!["read".into()];
        assert_eq!(
            Facts::new(&manifest, &manifest.settings(), &layout(&["read"])).lost_by_crash,
            None
        );
        assert!(
            Facts::new(&manifest, &manifest.settings(), &layout(&["read", "write"]))
                .lost_by_crash
                .is_some()
        );
        manifest.only_read.clear();
        // What others measured is not held against them.
        manifest.imported = Some(store::Imported::default());
        assert_eq!(
            Facts::new(&manifest, &manifest.settings(), &layout(&["read"])).lost_by_crash,
            None
        );
        // One drive is not known any more.
        manifest.drives.remove("./gone.toml");
        let facts = Facts::new(&manifest, &manifest.settings(), &layout(&["read"]));
        assert_eq!((facts.price_usd, facts.usable_bytes), (None, None));
        assert_eq!(facts.losses_survived, Some(0));
    }

    /// What is down already is no reserve.
    #[test]
    fn a_degraded_array_may_lose_what_is_left() {
        let with = |text: &str| {
            let text = format!("\"volume.drives\" = \"4xwd740gd\"\n\"volume.level\" = {text}");
            facts(&text, &["read"])
        };
        let said = |text: &str| with(text).when_a_disk_fails().unwrap();
        assert_eq!(said("\"md-raid6\""), "survives any 2 disk failures");
        let one = said("\"md-raid6\"\n\"volume.failed\" = \"3\"");
        assert_eq!(one, "with 1 disk down already: survives any one disk failure");
        let two = with("\"md-raid6\"\n\"volume.failed\" = \"0+1\"");
        assert_eq!(two.losses_survived, Some(0));
        assert!(
            two.unsafe_because()
                .iter()
                .any(|why| why == "with 2 disks down already: one disk failure loses everything")
        );
        let varied = said("\"md-raid6\"\n\"volume.failed\" = [\"none\", \"0\", \"0+1\"]");
        assert_eq!(varied, "survives any 2 disk failures; with 2 down the next one loses data");
        let pairs = said("\"md-raid10\"\n\"volume.failed\" = \"1\"");
        assert_eq!(
            pairs,
            "with 1 disk down already: another disk failure may lose everything: it depends on which disk"
        );
        let varied = said("\"md-raid10\"\n\"volume.failed\" = [\"none\", \"1\"]");
        assert_eq!(varied, "survives any one disk failure; with 1 down the next one may lose data");
        let raid5 = with("\"raid5\"");
        assert!(raid5.torn_by_crash.unwrap().starts_with("write hole: "));
        assert_eq!(with("\"md-raid5\"\n\"volume.ppl\" = true").torn_by_crash, None);
        assert_eq!(said("\"stripe\""), "one disk failure loses everything");
        assert_eq!(
            said("\"btrfs-raid1\""),
            "survives any one disk failure (and then mounts only with `-o degraded`)"
        );
    }

    /// Shingled disks keep what is said of their caches, as other disks; flash is as it comes.
    #[test]
    fn a_shingled_disk_without_its_cache_loses_nothing() {
        let lost = |state: &str| {
            let mut manifest: Manifest = toml::from_str(MANIFEST).unwrap();
            let drive = manifest.drives.get_mut("wd740gd").unwrap();
            drive.state = Some(state.into());
            let settings = toml::from_str("\"drive.write_cache\" = false").unwrap();
            lost_by_crash(&manifest, &Stated::new(&Map::new(), "read", &settings))
        };
        assert_eq!(lost("filled"), None);
        assert_eq!(lost("random").as_deref(), Some(CACHED));
    }

    #[test]
    fn a_trace_flushes_when_it_did() {
        let manifest: Manifest = toml::from_str(MANIFEST).unwrap();
        let lost = |kind: &str| {
            let settings = toml::from_str(&format!("'workload.read.kind' = '{kind}'")).unwrap();
            lost_by_crash(&manifest, &Stated::new(&Map::new(), "read", &settings))
        };
        assert_eq!(lost("trace").as_deref(), Some(SINCE_FLUSH));
        assert_eq!(lost("random").as_deref(), Some(CACHED));
    }

    /// A chunk that is chosen for RAID 5 and 6 survives what the worse of them does, and not nothing.
    #[test]
    fn what_is_varied_and_not_chosen_counts_at_its_worst() {
        let of = |level: &str, more: &str| {
            let text =
                format!("\"volume.drives\" = \"8xwd740gd\"\n\"volume.level\" = {level}\n{more}");
            facts(&text, &["read"])
        };
        let both = of("[\"md-raid6\", \"md-raid5\"]", "");
        assert_eq!((both.losses_survived, both.usable_bytes), (Some(1), None));
        assert!(both.torn_by_crash.is_some() && both.is_of_md);
        assert_eq!(of("[\"md-raid6\", \"md-stripe\"]", "").losses_survived, Some(0));
        let cached = |values: &str| {
            of("\"md-raid6\"", &format!("\"drive.write_cache\" = {values}")).lost_by_crash
        };
        assert!(cached("[false, true]").is_some());
        assert_eq!(cached("[false]"), None);
    }

    #[test]
    fn ext4_is_as_safe_as_its_journal_and_its_barriers() {
        let lost = |text: &str| {
            let text = format!("\"volume.drives\" = \"wd740gd\"\n\"fs.kind\" = \"ext4\"\n{text}");
            facts(&text, &["read"]).lost_by_crash
        };
        assert_eq!(lost(""), None);
        assert!(lost("\"fs.journal\" = false").unwrap().contains("without a journal"));
        assert!(lost("\"fs.barrier\" = \"none\"").unwrap().contains("without barriers"));
    }

    #[test]
    fn levels_say_what_they_survive() {
        assert_eq!(losses_survived("raidframe-mirror", 2), Some(1));
        assert_eq!(losses_survived("md-raid6", 8), Some(2));
        assert_eq!(losses_survived("md-raid10-n3", 4), Some(2));
        assert_eq!(losses_survived("ccd-uniform", 4), Some(0));
        assert_eq!(losses_survived("stripe", 8), Some(0));
        assert_eq!(losses_survived("md-raid10-far2", 4), Some(1));
        assert_eq!(losses_survived("raidion", 4), None);
        // Levels of others, and what is none.
        assert_eq!(losses_survived("cmd-raid5", 4), Some(1));
        assert_eq!(losses_survived("raid10-far2", 4), Some(1));
        assert_eq!(losses_survived("raid55", 4), None);
        assert_eq!(losses_survived("cmd-raid61", 4), None);
        assert_eq!(torn_by_crash("raid55"), None);
        assert!(torn_by_crash("cmd-raid5").is_some() && torn_by_crash("cmd-raid10").is_none());
    }
}
