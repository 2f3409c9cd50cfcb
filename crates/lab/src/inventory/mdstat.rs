//! `/proc/mdstat`.
//!
//! ```text
//! md0 : active raid6 sdh1[7] sdg1[6] sda1[0]
//!       105470681088 blocks super 1.2 level 6, 512k chunk, algorithm 2 [8/8] [UUUUUUUU]
//! ```
//!
//! The numbers behind members say in which order they came; which of them are missed, `[UUU_UUUU]` alone tells. A bitmap
//! has a line of its own, with a chunk that is not the array's.

use super::{HeldVolume, Inventory};
use block::layout::Level;

/// The level of an experiment for md's word.
pub(super) fn level(word: &str) -> Option<&'static str> {
    Some(match word {
        "raid0" => "md-raid0",
        "raid1" => "md-mirror",
        "raid4" => "md-raid4",
        "raid5" => "md-raid5",
        "raid6" => "md-raid6",
        "raid10" => "md-raid10",
        "linear" => "md-concat",
        _ => return None,
    })
}

pub(super) const BITMAP_IN_FILE: &str = "Its bitmap is in a file, which is not modelled";

/// Changes the level to the one that is laid out so; `left-symmetric`, `f2`.
pub(super) fn take_layout(volume: &mut HeldVolume, layout: &str) {
    match format!("{}-{layout}", volume.level).parse::<Level>() {
        Ok(level) => volume.level = level.name.into(),
        Err(_) => volume.said.push(format!(
            "Its layout is {layout}, which is not modelled; that of {} stands for it",
            volume.level
        )),
    }
}

/// What is said of a member that is being restored.
pub(super) fn restored(place: usize, member: &str) -> String {
    format!("Member {place}, {member}, is being restored, and counts as failed")
}

/// What is said of one that is not there.
pub(super) fn gone(place: usize) -> String {
    format!("Member {place} is not there; a drive like the first stands for it")
}

pub(super) fn read(inventory: &mut Inventory, text: &str) {
    let mut last: Option<Array> = None;
    for line in text.lines() {
        if let Some((name, rest)) = line.split_once(" : ") {
            if let Some(array) = last.take() {
                inventory.add_volume(array.volume());
            }
            last = Array::read(name.trim(), rest);
        } else if let Some(array) = &mut last {
            array.take_line(line);
        }
    }
    if let Some(array) = last {
        inventory.add_volume(array.volume());
    }
}

/// An array as its lines are read.
struct Array {
    volume: HeldVolume,
    /// Its members with their numbers.
    members: Vec<(usize, String)>,
    /// Those that have failed.
    faulty: Vec<(usize, String)>,
    /// For each place whether its member is there and whole; empty where that is not said.
    is_up: Vec<bool>,
    /// What it does beside its work.
    action: Option<Action>,
}

/// What an array does beside its work, as the line below it says: `[=>..]  recovery =  7.9% (1/2) finish=9.9min
/// speed=1K/sec`, or `resync=DELAYED`.
struct Action {
    /// md's word.
    word: &'static str,
    /// How far it is and how long it takes, as md writes it; or why it does not run.
    state: String,
    /// At what, in bytes a second.
    bytes_per_s: Option<u64>,
}

/// What md leaves a rebuild at least by default (`speed_limit_min`, 1000 KiB/s): below that it stands still.
const REBUILD_MIN: u64 = 1000 << 10;

/// md's words for what it does, with ours.
const ACTIONS: [(&str, &str); 5] = [
    ("recovery", "is being rebuilt"),
    ("resync", "is being made consistent (resync)"),
    ("reshape", "is being reshaped, and lies partly in its old layout"),
    ("check", "is being checked"),
    ("repair", "is being checked and repaired"),
];

impl Action {
    fn read(line: &str) -> Option<Self> {
        let line = line.replace('=', " = ");
        let words: Vec<&str> = line.split_whitespace().collect();
        let behind = |name: &str| {
            let at = words.windows(2).position(|pair| pair == [name, "="])?;
            words.get(at + 2).copied()
        };
        let found = |&(word, _): &(&'static str, &str)| behind(word).map(|state| (word, state));
        let (word, state) = ACTIONS.iter().find_map(found)?;
        let kib = behind("speed").and_then(|speed| speed.strip_suffix("K/sec"));
        let bytes_per_s = kib.and_then(|kib| kib.parse::<u64>().ok()?.checked_mul(1024));
        let state = match (state.strip_suffix('%'), behind("finish")) {
            (Some(percent), Some(left)) => format!("{percent} % is done, {left} are left"),
            (Some(percent), None) => format!("{percent} % is done"),
            (None, _) => format!("md says {state}, so it waits"),
        };
        Some(Action { word, state, bytes_per_s: bytes_per_s.filter(|rate| *rate > 0) })
    }

    /// What is said of it; what an experiment models of it is the rebuild of members that hold nothing.
    fn said(&self, is_modelled: bool) -> String {
        let what = ACTIONS.iter().find(|(word, _)| *word == self.word).map_or("", |(_, own)| own);
        let rate = self.bytes_per_s.map_or_else(String::new, |rate| {
            format!(", at {}", block::units::format_bytes_per_s(rate))
        });
        let state = &self.state;
        let then = match (is_modelled, self.word) {
            (true, _) => "`volume.rebuild` models that for the first member that has failed",
            (false, "reshape") => "that is not modelled; wait until it is done",
            (false, _) => "that is not modelled: the array is faster once it is done",
        };
        format!("It {what}: {state}{rate}; {then}")
    }
}

impl Array {
    fn read(name: &str, rest: &str) -> Option<Self> {
        let mut words = rest.split_whitespace().skip_while(|word| level(word).is_none());
        let level = level(words.next()?)?;
        let (mut members, mut faulty) = (Vec::new(), Vec::new());
        let mut said = Vec::new();
        for word in words {
            let Some((device, behind)) = word.split_once('[') else { continue };
            let Some((number, flags)) = behind.split_once(']') else { continue };
            let Ok(number) = number.parse() else { continue };
            // Spares and what is to replace another hold nothing of their own.
            if flags.contains("(J)") {
                said.push(format!(
                    "Left out: its journal {device}, which is not modelled; it closes the write hole"
                ));
            } else if flags.contains("(F)") {
                faulty.push((number, device.to_string()));
            } else if !["(S)", "(R)"].iter().any(|flag| flags.contains(flag)) {
                members.push((number, device.to_string()));
            }
        }
        members.sort();
        faulty.sort();
        let volume =
            HeldVolume { name: name.into(), level: level.into(), said, ..HeldVolume::default() };
        Some(Array { volume, members, faulty, is_up: Vec::new(), action: None })
    }

    /// A line below the first.
    fn take_line(&mut self, line: &str) {
        let volume = &mut self.volume;
        if let Some(bitmap) = line.trim_start().strip_prefix("bitmap:") {
            if bitmap.contains("file:") {
                volume.said.push(BITMAP_IN_FILE.into());
            } else {
                volume.has_bitmap = true;
            }
            return;
        }
        volume.chunk_bytes = volume.chunk_bytes.or_else(|| chunk_bytes(line));
        if let Some(layout) = layout(line) {
            take_layout(volume, &layout);
        }
        if self.is_up.is_empty() {
            self.is_up = is_up(line);
        }
        self.action = self.action.take().or_else(|| Action::read(line));
    }

    /// Says what it does beside its work, and takes a rebuild for one of the experiment.
    fn tell_action(&mut self) {
        let Some(action) = &self.action else { return };
        let volume = &mut self.volume;
        if action.word == "recovery" && !volume.failed.is_empty() {
            volume.rebuild_bytes_per_s = action.bytes_per_s.filter(|rate| *rate >= REBUILD_MIN);
        }
        volume.said.push(action.said(volume.rebuild_bytes_per_s.is_some()));
    }

    /// The volume: members that are up in the order of their numbers, and in the other places what is restored there, or
    /// has failed.
    fn volume(mut self) -> HeldVolume {
        let devices = |all: &[(usize, String)]| all.iter().map(|(_, name)| name.clone()).collect();
        self.volume.faulty = devices(&self.faulty);
        let up = self.is_up.iter().filter(|is_up| **is_up).count();
        if self.is_up.is_empty() || self.members.len() < up {
            self.volume.members = devices(&self.members);
            self.tell_action();
            return self.volume;
        }
        for place in 0..self.is_up.len() {
            if self.is_up[place] {
                continue;
            }
            let is_more = self.members.len() > up;
            let written = is_more.then(|| self.take_restored(place)).flatten();
            let mut faulty = || (!self.faulty.is_empty()).then(|| self.faulty.remove(0).1);
            let (member, said) = match written {
                Some(name) => (name.clone(), restored(place, &name)),
                None => match faulty() {
                    Some(name) => (name.clone(), format!("Member {place}, {name}, has failed")),
                    None => (String::new(), gone(place)),
                },
            };
            self.volume.failed.push(place);
            self.volume.said.push(said);
            self.volume.members.push(member);
        }
        self.tell_action();
        let mut gone = std::mem::take(&mut self.volume.members).into_iter();
        let mut whole = self.members.into_iter().map(|(_, name)| name);
        let place = |is_up: &bool| if *is_up { whole.next() } else { gone.next() };
        self.volume.members = self.is_up.iter().filter_map(place).collect();
        self.volume
    }

    /// The member that is restored in a place: the one with its number, or the one that came last.
    fn take_restored(&mut self, place: usize) -> Option<String> {
        let own = self.members.iter().position(|(number, _)| *number == place);
        let at = own.or(self.members.len().checked_sub(1))?;
        Some(self.members.remove(at).1)
    }
}

/// `[UUU_UU]` in a line.
fn is_up(line: &str) -> Vec<bool> {
    let places = line.split_whitespace().find_map(|word| {
        let places = word.strip_prefix('[')?.strip_suffix(']')?;
        (!places.is_empty() && places.chars().all(|c| c == 'U' || c == '_')).then_some(places)
    });
    places.unwrap_or_default().chars().map(|c| c == 'U').collect()
}

/// The layouts of RAID 5 and 6 by their numbers (`drivers/md/raid5.h`), as the levels have them.
const ALGORITHMS: &[(u32, &str)] = &[
    (0, "left-asymmetric"),
    (1, "right-asymmetric"),
    (2, "left-symmetric"),
    (3, "right-symmetric"),
    (4, "parity-first"),
    (5, "parity-last"),
    (8, "ddf-zero-restart"),
    (9, "ddf-n-restart"),
    (10, "ddf-n-continue"),
    (16, "left-asymmetric-6"),
    (17, "right-asymmetric-6"),
    (18, "left-symmetric-6"),
    (19, "right-symmetric-6"),
    (20, "parity-first-6"),
];

/// What a line says of the layout, as the levels have it: `left-symmetric` for `level 6, 512k chunk, algorithm 2`, `f2` for
/// `512K chunks 2 far-copies`.
fn layout(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let pairs = || words.windows(2).map(|pair| (pair[0], pair[1]));
    // RAID 4 has a number, too, and one layout.
    let has_rotation = pairs().any(|pair| matches!(pair, ("level", "5," | "6,")));
    if let Some((_, number)) = pairs().find(|(word, _)| has_rotation && *word == "algorithm") {
        let known = ALGORITHMS.iter().find(|(known, _)| number.parse() == Ok(*known));
        return Some(
            known.map_or_else(|| format!("algorithm {number}"), |(_, name)| (*name).into()),
        );
    }
    let copies = pairs().filter_map(|(count, word)| {
        let spread = word.strip_suffix("-copies")?.chars().next()?;
        count.parse::<u32>().ok().map(|count| format!("{spread}{count}"))
    });
    Some(copies.collect::<Vec<_>>().join("-")).filter(|copies| !copies.is_empty())
}

/// `512k chunk` in a line, or `512K chunks` of RAID 10.
fn chunk_bytes(line: &str) -> Option<u64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| word.starts_with("chunk"))?;
    super::written::rough_bytes(words.get(at.checked_sub(1)?)?)
}
