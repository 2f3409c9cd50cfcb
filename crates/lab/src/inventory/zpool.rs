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
use block::layout::Level;

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
            || Draid::read(name).is_some();
        let is_pair = is_called(name, &["replacing", "spare"]);
        if self.beside.is_some() {
            // A spare in use stands among the members, too.
            let is_member = rest.first() == Some(&"INUSE");
            let is_group = is_vdev || is_pair || is_member;
            let is_room = is_room_of_draid(name);
            if let Some((_, devices)) = self.left_out.last_mut().filter(|_| !is_group && !is_room) {
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
        // Room on the other disks is no disk that could stand for it.
        let is_disk =
            |other: &&Leaf| other.state != State::Down && !is_room_of_draid(&other.device);
        let Some(mut other) = others.iter().rfind(is_disk).cloned() else {
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
        let spares = self.without_spare_room();
        if self.members.is_empty() {
            return None;
        }
        let (level, note) = self.level();
        let mut volume = HeldVolume {
            name: self.name,
            level,
            note: Some(note),
            faulty: self.faulty,
            is_without_chunk: true,
            ..HeldVolume::default()
        };
        if spares > 0 {
            let said = format!(
                "Left out: as many members as dRAID keeps free on all of them, {spares}, its distributed spares"
            );
            volume.said.push(said);
        }
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

    /// Takes from each dRAID as many members that are up as its spare room is worth; returns how many.
    fn without_spare_room(&mut self) -> usize {
        let mut taken = 0;
        for at in (0..self.groups.len()).rev() {
            let Some(draid) = Draid::read(&self.groups[at].0) else { continue };
            let (start, end) = (self.groups[at].1, self.end_of(at));
            let up = (start..end).rev().filter(|&place| self.members[place].state == State::Up);
            let places: Vec<usize> = up.take(draid.spares).collect();
            for &place in &places {
                self.members.remove(place);
            }
            self.groups[at + 1..].iter_mut().for_each(|(_, before)| *before -= places.len());
            taken += places.len();
        }
        taken
    }

    /// Where the members of a vdev end.
    fn end_of(&self, at: usize) -> usize {
        self.groups.get(at + 1).map_or(self.members.len(), |(_, before)| *before)
    }

    /// How many members each vdev has, where all have as many.
    fn width(&self) -> Option<usize> {
        let mut widths = (0..self.groups.len()).map(|at| self.end_of(at) - self.groups[at].1);
        let first = widths.next()?;
        widths.all(|width| width == first).then_some(first)
    }

    /// The arrays with parity that a pool with raidz or dRAID is like: how many of how much parity, and whether they are dRAID's.
    fn parity(&self) -> Option<(usize, u32, bool)> {
        let draids: Vec<Draid> =
            self.groups.iter().filter_map(|(name, _)| Draid::read(name)).collect();
        let raidz = |name: &str| match name.strip_prefix("raidz")?.chars().next() {
            Some('2') => Some(2),
            Some('3') => Some(3),
            _ => Some(1),
        };
        let of_raidz = self.groups.iter().filter_map(|(name, _)| raidz(name)).max();
        let Some(draid) = draids.first() else {
            return of_raidz.map(|parity| (self.groups.len(), parity, false));
        };
        // A group of dRAID is spread over all disks: as many as it would fill are side by side.
        let width = draid.data.saturating_add(draid.parity as usize).max(1);
        let each =
            self.width().map_or(1, |members| members.saturating_add(width / 2) / width).max(1);
        Some((self.groups.len() * each, draid.parity, true))
    }

    /// The nearest level, and what it leaves out.
    fn level(&self) -> (String, String) {
        if let Some((arrays, parity, is_draid)) = self.parity() {
            return self.level_of_parity(arrays, parity, is_draid);
        }
        let mirrors = self.groups.iter().filter(|(name, _)| name.starts_with("mirror")).count();
        let (level, note) = match mirrors {
            0 => ("stripe", "ZFS deals blocks to its disks by free room; a stripe is the nearest"),
            1 => ("mirror", "ZFS writes elsewhere what is changed, which is not modelled"),
            _ => {
                let level = match self.width() {
                    Some(3) => "md-raid10-n3",
                    Some(4) => "md-raid10-n4",
                    _ => "raid10",
                };
                (level, "ZFS deals blocks to its mirrors by free room; RAID 10 is the nearest")
            }
        };
        (level.into(), note.into())
    }

    /// The nearest of the levels with parity: as many arrays side by side as there are, or one of all members.
    fn level_of_parity(&self, arrays: usize, parity: u32, is_draid: bool) -> (String, String) {
        let raid = if parity == 1 { 5 } else { 6 };
        let members = self.members.len();
        let nested = format!("md-raid{raid}0-{arrays}");
        let is_even = self.width().is_some() && members.is_multiple_of(arrays);
        let can = nested.parse::<Level>().is_ok_and(|level| members >= level.members_min());
        let (level, nearest) = match arrays {
            2.. if is_even && can => (nested, format!("RAID {raid}0 of {arrays} arrays")),
            _ => (format!("raid{raid}"), format!("RAID {raid}")),
        };
        let third = if parity == 3 { ", and there is a third parity" } else { "" };
        let is_one = arrays > 1 && !level.starts_with("md-");
        let many =
            if is_one { format!(", and there are {arrays} groups of them") } else { String::new() };
        let how = if is_draid {
            "dRAID spreads its groups over all disks"
        } else {
            "raidz stripes are as long as a block"
        };
        (level, format!("{how}{many}{third}, which is not modelled; {nearest} is the nearest"))
    }
}

/// What the name of a dRAID says: `draid2:8d:24c:2s-0` has groups of 8 and 2 parities, and room for 2 spares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Draid {
    parity: u32,
    data: usize,
    spares: usize,
}

impl Draid {
    fn read(name: &str) -> Option<Self> {
        if is_room_of_draid(name) {
            return None;
        }
        let rest = name.strip_prefix("draid")?;
        let rest = rest.split_once('-').map_or(rest, |(rest, _)| rest);
        let mut parts = rest.split(':');
        let parity = parts.next().and_then(|digit| digit.parse().ok()).unwrap_or(1);
        let parts: Vec<&str> = parts.collect();
        let part = |unit: char| -> Option<usize> {
            parts.iter().find_map(|part| part.strip_suffix(unit)?.parse().ok())
        };
        // Without a width its groups have 8 disks of data (zpoolconcepts(7)).
        Some(Draid { parity, data: part('d').unwrap_or(8), spares: part('s').unwrap_or(0) })
    }
}

/// Whether it is room for a spare on the disks of a dRAID: `draid2-0-1`.
fn is_room_of_draid(name: &str) -> bool {
    name.starts_with("draid") && name.matches('-').count() == 2
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
