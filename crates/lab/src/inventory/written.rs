//! An inventory as an experiment, its disks matched with the catalogue.

use super::{HeldDisk, HeldVolume, Inventory, Kind, kinds};
use crate::catalogue::{Match, OWN_FILE, rented};
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Plan};
use crate::rig::Rig as _;
use crate::rig::sim::Sim;
use block::layout::Level;
use block::units;
use std::fmt::Write as _;
use std::path::Path;

/// Bytes as programs print them for people: `512k`, `64.00k`, `1,8T`, `16.4T`.
pub(super) fn rough_bytes(text: &str) -> Option<u64> {
    let text = text.trim().trim_start_matches('<').replace(',', ".");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let shift = match unit.trim().chars().next().map(|unit| unit.to_ascii_lowercase()) {
        None | Some('b') => 0,
        Some('k') => 10,
        Some('m') => 20,
        Some('g') => 30,
        Some('t') => 40,
        Some('p') => 50,
        _ => return None,
    };
    let bytes = number * (1_u64 << shift) as f64;
    (bytes < (1_u64 << 60) as f64).then_some(bytes as u64)
}

impl Inventory {
    /// An experiment on the volume called `unit`, on the only one, or on the disks of one kind where there is none.
    ///
    /// # Errors
    ///
    /// Where there are several volumes and none is chosen, or a member is no disk that is known.
    pub fn experiment(&self, unit: Option<&str>) -> Result<String> {
        let mut text = String::from("\n[volume]\n");
        for sentence in &self.notes {
            comment(&mut text, sentence);
        }
        let missing = match self.chosen(unit)? {
            Some(volume) => self.write_volume(&mut text, volume)?,
            None => self.write_disks(&mut text),
        };
        text.push_str(
            "\n[workload.random]\nkind = \"random\"\nblock = \"4KiB\"\ndepth = 16\n\n[workload.sequential]\n\
             kind = \"sequential\"\nblock = \"1MiB\"\ndepth = 4\n",
        );
        Ok(format!("{}\n{text}", heading(&text, &missing)))
    }

    fn chosen(&self, unit: Option<&str>) -> Result<Option<&HeldVolume>> {
        let names = || -> String {
            let names: Vec<&str> = self.volumes.iter().map(|volume| volume.name.as_str()).collect();
            names.join(", ")
        };
        match (unit, self.volumes.as_slice()) {
            (Some(unit), _) => {
                let found = self.volumes.iter().find(|volume| volume.name == unit);
                let missing = || match self.volumes.as_slice() {
                    [] if self.notes.is_empty() => {
                        format!("there is no volume; leave out --unit {unit}")
                    }
                    [] => format!(
                        "--unit {unit}: no volume is read: {}; give what `lsblk -J -O` prints, too",
                        self.notes.join("; ")
                    ),
                    _ => format!("--unit {unit}: there are {}; choose one", names()),
                };
                found.map(Some).ok_or_else(|| Error::input(missing()))
            }
            (None, []) => Ok(None),
            (None, [one]) => Ok(Some(one)),
            (None, _) => {
                let mut files: Vec<&str> = Vec::new();
                for volume in &self.volumes {
                    let file = self.origins.get(&volume.name).map_or("", String::as_str);
                    if !files.contains(&file) {
                        files.push(file);
                    }
                }
                let (files, have) =
                    (files.join(" and "), if files.len() > 1 { "have" } else { "has" });
                let next = "choose one with --unit";
                Err(Error::input(format!("{files} {have} the volumes {}; {next}", names())))
            }
        }
    }

    /// Writes a volume; returns the files of drives that are named and that the catalogue has not.
    fn write_volume(&self, text: &mut String, volume: &HeldVolume) -> Result<Vec<String>> {
        let unknown = |member: &str| {
            Error::input(format!(
                "{}: nothing is known of its member {member}; give what `lsblk -J -O` prints, too",
                volume.name
            ))
        };
        let found = |(place, member): (usize, &String)| {
            let is_down = volume.failed.contains(&place);
            match self.disk_of(member) {
                None if is_down || member.is_empty() => Ok(None),
                found => found.map(Some).ok_or_else(|| unknown(member)),
            }
        };
        let found = volume.members.iter().enumerate().map(found);
        let found = found.collect::<Result<Vec<Option<&HeldDisk>>>>()?;
        let first = *found.iter().flatten().next().ok_or_else(|| unknown("0"))?;
        let disks: Vec<&HeldDisk> = found.iter().map(|disk| disk.unwrap_or(first)).collect();
        let _ = writeln!(text, "# {}", volume.name);
        let missing = write_drives(text, &disks);
        if let Some(note) = &volume.note {
            let _ = writeln!(text, "# {note}.");
        }
        for sentence in &volume.said {
            let _ = writeln!(text, "# {}.", printable(sentence));
        }
        for (place, member) in volume.members.iter().enumerate() {
            if !member.is_empty() && found[place].is_none() {
                let _ = writeln!(
                    text,
                    "# Nothing is known of {}; a drive like the first stands for it.",
                    printable(member)
                );
            }
        }
        self.write_concerns(text, &disks);
        let _ = writeln!(text, "level = \"{}\"", volume.level);
        if !volume.failed.is_empty() {
            let failed: Vec<String> = volume.failed.iter().map(usize::to_string).collect();
            let _ = writeln!(text, "failed = \"{}\"", failed.join("+"));
        }
        if let Some(rate) = volume.rebuild_bytes_per_s {
            let _ = writeln!(text, "rebuild = \"{}\"", units::format_bytes_per_s(rate));
        }
        let level = volume.level.parse::<Level>().ok();
        match volume.chunk_bytes {
            _ if level.is_some_and(|level| !level.interleaved()) => {}
            Some(bytes) => {
                let _ = writeln!(text, "interleave = \"{}\"", units::format_bytes(bytes));
            }
            None if volume.is_without_chunk => {}
            None => text.push_str("# The chunk is not said: `mdadm --detail` tells it.\n"),
        }
        if volume.has_bitmap && level.is_some_and(|level| level.has_bitmap()) {
            text.push_str("bitmap = \"internal\"\n");
        }
        Ok(missing)
    }

    /// Writes what is to be known of how these disks are connected and set.
    fn write_concerns(&self, text: &mut String, disks: &[&HeldDisk]) {
        let devices: Vec<&str> = disks.iter().map(|disk| disk.device.as_str()).collect();
        for sentence in self.concerns(&devices) {
            comment(text, &sentence);
        }
    }

    /// Writes the most numerous kind of disk, those of the catalogue first, as a volume; and names the others. Disks of
    /// several kinds are no volume that anybody chooses.
    fn write_disks(&self, text: &mut String) -> Vec<String> {
        let free = self.free();
        // Where the system has all of them, what its own are like is still worth knowing.
        let disks = if free.is_empty() { self.disks.iter().collect() } else { free };
        let kinds = kinds(disks);
        let rank = |kind: &&Kind<'_>| (kind.is_known(), kind.disks.len());
        let Some(most) = kinds.iter().rev().max_by_key(rank) else { return Vec::new() };
        let which = if kinds.len() == 1 { "the disks" } else { "the most numerous kind of disk" };
        let how = if most.disks.len() == 1 { "" } else { ", as one stripe" };
        let _ = writeln!(text, "# No volume was found; {which}{how}.");
        for (_, why) in self.left_out() {
            let _ = writeln!(text, "# {}.", printable(&why));
        }
        for kind in kinds.iter().filter(|kind| kind.devices() != most.devices()) {
            let devices = printable(&kind.devices().join(", "));
            let _ = writeln!(text, "# Left out: {}: {devices}.", printable(kind.model()));
        }
        for used in self.in_use(&most.devices()) {
            let used = printable(&used);
            let _ = writeln!(text, "# In use: {used}; what is built of them anew destroys that.");
        }
        self.write_concerns(text, &most.disks);
        let missing = write_drives(text, &most.disks);
        let level = if most.disks.len() == 1 { "single" } else { "stripe" };
        let _ = writeln!(text, "level = \"{level}\"");
        missing
    }
}

/// What is said first: whether the experiment runs, and what is to be done where it does not.
fn heading(text: &str, missing: &[String]) -> String {
    let lacking: Vec<&str> =
        missing.iter().filter(|file| !Path::new(file).exists()).map(String::as_str).collect();
    if !lacking.is_empty() {
        return format!(
            "# What was found. First make {}, or write a drive of the catalogue instead; then `ileave run FILE` runs it.",
            lacking.join(", ")
        );
    }
    match Experiment::parse("FILE", text).and_then(|experiment| admit(&experiment)) {
        Ok(()) => "# What was found; `ileave run FILE` runs it.".into(),
        Err(error) => {
            let error: String = error.to_string().replace(char::is_control, " ");
            format!("# What was found; `ileave run FILE` refuses it as it is: {error}.")
        }
    }
}

fn admit(experiment: &Experiment) -> Result<()> {
    Plan::new(experiment)?.trials.iter().try_for_each(|trial| Sim.admit(trial))
}

/// The members, those beside each other of one kind together; and a line for each kind that is not known. Returns the
/// files that stand for those.
fn write_drives(text: &mut String, disks: &[&HeldDisk]) -> Vec<String> {
    let kinds = kinds(disks.iter().copied());
    let mut missing = Vec::new();
    let mut tables: Vec<String> = Vec::new();
    for kind in &kinds {
        let device = kind.devices()[0];
        tables.push(match &kind.found {
            Match::Drive(name) => format!("model = \"{name}\""),
            Match::Rented { name } => {
                let (which, model) = (rented::others(name), printable(kind.model()));
                let _ = writeln!(text, "# {model}: the device does not say which; write {which}.");
                match name.strip_suffix(']').and_then(|name| name.split_once("[size=")) {
                    Some((name, size)) => format!("model = \"{name}\", size = \"{size}\""),
                    None => format!("model = \"{name}\""),
                }
            }
            Match::None { .. } => {
                let why = kind.found.why_none();
                let model = printable(kind.model());
                let _ = writeln!(text, "# {model} ({}) {why}; {OWN_FILE}.", printable(device));
                let file = format!("{}.toml", printable(device));
                missing.push(file.clone());
                format!("model = \"{file}\"")
            }
        });
    }
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for disk in disks {
        let has = |kind: &Kind<'_>| kind.disks.contains(disk);
        let table = kinds.iter().position(has).map_or("", |at| tables[at].as_str());
        match groups.last_mut() {
            Some((last, count)) if *last == table => *count += 1,
            _ => groups.push((table, 1)),
        }
    }
    let groups: Vec<String> =
        groups.iter().map(|(table, count)| format!("{{ {table}, count = {count} }}")).collect();
    let _ = writeln!(text, "drives = [{}]", groups.join(", "));
    missing
}

/// Writes a sentence on a line of its own; names in it may have anything.
fn comment(text: &mut String, sentence: &str) {
    let sentence: String = sentence.chars().filter(|c| !c.is_control()).collect();
    let _ = writeln!(text, "# {sentence}.");
}

/// Without what would end a line or a text.
fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() && !['"', '\\', '+', '[', ']', '='].contains(c))
        .collect()
}
