//! `zpool status`.
//!
//! ```text
//!   pool: tank
//! config:
//!         NAME             STATE     READ WRITE CKSUM
//!         tank             DEGRADED     0     0     0
//!           raidz2-0       DEGRADED     0     0     0
//!             sda          ONLINE       0     0     0
//!             sdb          REMOVED      0     0     0
//!             replacing-2  DEGRADED     0     0     0
//!               sdc        OFFLINE      0     0     0
//!               sdg        ONLINE       0     0     0  (resilvering)
//!         spares
//!           sdh            AVAIL
//! ```
//!
//! What stands below `replacing` or `spare` is one member.

use super::{HeldVolume, Inventory};

/// What is not at the top of a pool's data, and what is said of it.
const BESIDE: [(&str, &str, &str); 5] = [
    ("logs", "log", ", where synchronous writes go first"),
    ("cache", "read cache", ""),
    ("spares", "spare", ""),
    ("special", "special vdev", ", where metadata and small blocks go"),
    ("dedup", "table of deduplication", ""),
];

pub(super) fn read(inventory: &mut Inventory, text: &str) {
    let mut pool = Pool::default();
    let mut is_config = false;
    for line in text.lines().chain(["  pool:"]) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["pool:", rest @ ..] => {
                let next = Pool { name: rest.join(" "), ..Pool::default() };
                if let Some(volume) = std::mem::replace(&mut pool, next).volume() {
                    inventory.add_volume(volume);
                }
                is_config = false;
            }
            ["scan:", "resilver", "in", ..] => pool.is_resilvering = true,
            ["config:", ..] => is_config = true,
            ["errors:", ..] => is_config = false,
            [name, rest @ ..] if is_config && *name != "NAME" && *name != pool.name => {
                pool.take_line(line, name, rest);
            }
            _ => {}
        }
    }
}

/// How a device of a pool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Up,
    /// It is there, and what it should hold is being written to it.
    Restored,
    Down,
}

/// A device of a pool.
#[derive(Clone, Debug)]
struct Leaf {
    device: String,
    state: State,
    /// The word for it.
    word: String,
}

impl Leaf {
    /// `sdb  UNAVAIL  0 0 0  was /dev/sdb1`: the name may be a number then.
    fn read(name: &str, rest: &[&str]) -> Self {
        let path = rest.windows(2).find(|pair| pair[0] == "was").map_or(name, |pair| pair[1]);
        let word = rest.first().copied().unwrap_or_default();
        let is_restored = rest.iter().any(|word| word.contains("resilver"));
        let state = match word {
            "OFFLINE" | "REMOVED" | "UNAVAIL" | "FAULTED" => State::Down,
            _ if is_restored => State::Restored,
            _ => State::Up,
        };
        Leaf { device: path.into(), state, word: word.into() }
    }
}

/// A pool as its lines are read.
#[derive(Default)]
struct Pool {
    name: String,
    is_resilvering: bool,
    /// Each vdev of the data, and how many members stand before it.
    groups: Vec<(String, usize)>,
    members: Vec<Leaf>,
    /// The devices that have failed.
    faulty: Vec<String>,
    /// The part beside the data that is being read, and what was found there.
    beside: Option<usize>,
    left_out: Vec<(usize, Vec<String>)>,
    /// How far `replacing` or `spare` is indented, its name, and what stands below it.
    pair: Option<(usize, String, Vec<Leaf>)>,
}

impl Pool {
    fn take_line(&mut self, line: &str, name: &str, rest: &[&str]) {
        let indent = line.len() - line.trim_start().len();
        if self.pair.as_ref().is_some_and(|(above, ..)| indent <= *above) {
            self.end_pair();
        }
        if let Some(at) = BESIDE.iter().position(|(part, ..)| *part == name) {
            self.beside = Some(at);
            self.left_out.push((at, Vec::new()));
            return;
        }
        let is_vdev = is_called(name, &["mirror", "raidz", "raidz1", "raidz2", "raidz3"])
            || name.starts_with("draid");
        let is_pair = is_called(name, &["replacing", "spare"]);
        if self.beside.is_some() {
            // A spare in use stands among the members, too.
            let is_member = rest.first() == Some(&"INUSE");
            let is_group = is_vdev || is_pair || is_member;
            if let Some((_, devices)) = self.left_out.last_mut().filter(|_| !is_group) {
                devices.push(name.rsplit('/').next().unwrap_or(name).to_string());
            }
        } else if is_pair {
            // A replacement of what a spare stands for is below that spare: all of it is one member.
            self.pair.get_or_insert_with(|| (indent, name.to_string(), Vec::new()));
        } else if is_vdev {
            self.groups.push((name.to_string(), self.members.len()));
        } else if let Some((_, _, leaves)) = &mut self.pair {
            leaves.push(Leaf::read(name, rest));
        } else {
            self.take_member(Leaf::read(name, rest));
        }
    }

    fn take_member(&mut self, leaf: Leaf) {
        if leaf.state == State::Down && leaf.word != "OFFLINE" {
            self.faulty.push(leaf.device.clone());
        }
        self.members.push(leaf);
    }

    /// Of a member and what takes its place: the one that holds the data, or else the one that is being written.
    fn end_pair(&mut self) {
        let Some((_, name, leaves)) = self.pair.take() else { return };
        let (first, others) = match leaves.split_first() {
            Some((first, others)) if first.state != State::Up => (first.clone(), others),
            Some((first, _)) => return self.take_member(first.clone()),
            None => return,
        };
        let Some(mut other) = others.iter().rfind(|other| other.state != State::Down).cloned()
        else {
            return self.take_member(first);
        };
        if first.state == State::Down && first.word != "OFFLINE" {
            self.faulty.push(first.device);
        }
        // A spare stays beside what it stands for when it is complete; a replacement takes its place.
        if is_called(&name, &["replacing"]) || self.is_resilvering {
            other.state = State::Restored;
        }
        self.take_member(other);
    }

    fn volume(mut self) -> Option<HeldVolume> {
        self.end_pair();
        if self.members.is_empty() {
            return None;
        }
        let (level, note) = self.level();
        let mut volume = HeldVolume {
            name: self.name,
            level: level.into(),
            note: Some(note),
            faulty: self.faulty,
            is_without_chunk: true,
            ..HeldVolume::default()
        };
        for (place, Leaf { device, state, word }) in self.members.into_iter().enumerate() {
            let what = match state {
                State::Up => None,
                State::Restored => Some("is being restored".to_string()),
                State::Down => Some(format!("is {word}")),
            };
            if let Some(what) = what {
                volume.failed.push(place);
                volume.said.push(format!("Member {place}, {device}, {what}, and counts as failed"));
            }
            volume.members.push(device);
        }
        for (at, devices) in self.left_out.into_iter().filter(|(_, devices)| !devices.is_empty()) {
            let (_, what, why) = BESIDE[at];
            let many = if devices.len() > 1 && what == "spare" { "s" } else { "" };
            let devices = devices.join(", ");
            volume.said.push(format!("Left out: its {what}{many} {devices}{why}"));
        }
        Some(volume)
    }

    /// How many members each mirror has, where all have as many.
    fn width(&self) -> Option<usize> {
        let starts = self.groups.iter().map(|(_, before)| *before);
        let ends = starts.clone().skip(1).chain([self.members.len()]);
        let mut widths = starts.zip(ends).map(|(start, end)| end - start);
        let first = widths.next()?;
        widths.all(|width| width == first).then_some(first)
    }

    /// The nearest level, and what it leaves out.
    fn level(&self) -> (&'static str, String) {
        let called =
            |start: &str| self.groups.iter().filter(|(name, _)| name.starts_with(start)).count();
        let raidz = called("raidz");
        let parity = |level: &'static str, nearest: &str| {
            let more = match raidz {
                1 => String::new(),
                many => format!(", and there are {many} vdevs of them"),
            };
            let note = format!(
                "raidz stripes are as long as a block{more}, which is not modelled; {nearest} is the nearest"
            );
            (level, note)
        };
        if called("raidz2") + called("raidz3") > 0 {
            parity("raid6", "RAID 6")
        } else if raidz > 0 {
            parity("raid5", "RAID 5")
        } else if called("draid") > 0 {
            ("raid6", "dRAID is not modelled; RAID 6 is the nearest".into())
        } else if called("mirror") > 1 {
            let level = if self.width() == Some(3) { "md-raid10-n3" } else { "raid10" };
            (level, "ZFS deals blocks to its mirrors by free room; RAID 10 is the nearest".into())
        } else if called("mirror") == 1 {
            ("mirror", "ZFS writes elsewhere what is changed, which is not modelled".into())
        } else {
            ("stripe", "ZFS deals blocks to its disks by free room; a stripe is the nearest".into())
        }
    }
}

/// Whether it is one of these words, with or without a number: `mirror-0`, and `mirror` of older versions.
fn is_called(name: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        let rest = name.strip_prefix(word);
        rest.is_some_and(|rest| {
            let number = rest.strip_prefix('-').unwrap_or(rest);
            rest.is_empty() || (number != rest && number.chars().all(|c| c.is_ascii_digit()))
        })
    })
}
