//! An inventory as an experiment, its disks matched with the catalogue.

use super::{HeldDisk, HeldVolume, Inventory};
use crate::catalogue::{self, Match, OWN_FILE};
use crate::error::{Error, Result};
use block::units;
use std::fmt::Write as _;

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
    /// An experiment on the volume called `unit`, on the only one, or on the disks one by one where there is none.
    ///
    /// # Errors
    ///
    /// Where there are several volumes and none is chosen, or a member is no disk that is known.
    pub fn experiment(&self, unit: Option<&str>) -> Result<String> {
        let volume = self.chosen(unit)?;
        let mut text = String::from("# What was found; `ileave run FILE` runs it.\n\n[volume]\n");
        let mut unknown = Vec::new();
        match volume {
            Some(volume) => self.write_volume(&mut text, volume, &mut unknown)?,
            None => self.write_disks(&mut text, &mut unknown),
        }
        text.push_str(
            "\n[workload.random]\nkind = \"random\"\nblock = \"4KiB\"\ndepth = 16\n\n[workload.sequential]\n\
             kind = \"sequential\"\nblock = \"1MiB\"\ndepth = 4\n",
        );
        Ok(text)
    }

    fn chosen(&self, unit: Option<&str>) -> Result<Option<&HeldVolume>> {
        let names = || -> String {
            let names: Vec<&str> = self.volumes.iter().map(|volume| volume.name.as_str()).collect();
            names.join(", ")
        };
        match (unit, self.volumes.as_slice()) {
            (Some(unit), _) => {
                let found = self.volumes.iter().find(|volume| volume.name == unit);
                let missing =
                    || Error::input(format!("--unit {unit}: there are {}; choose one", names()));
                found.map(Some).ok_or_else(missing)
            }
            (None, []) => Ok(None),
            (None, [one]) => Ok(Some(one)),
            (None, _) => {
                Err(Error::input(format!("there are {}; choose one with --unit", names())))
            }
        }
    }

    fn write_volume<'i>(
        &'i self,
        text: &mut String,
        volume: &'i HeldVolume,
        unknown: &mut Vec<&'i str>,
    ) -> Result<()> {
        let disks = volume.members.iter().map(|member| {
            self.disk_of(member).ok_or_else(|| {
                Error::input(format!(
                    "{}: nothing is known of its member {member}; give what `lsblk -J -O` prints, too",
                    volume.name
                ))
            })
        });
        let disks = disks.collect::<Result<Vec<_>>>()?;
        let _ = writeln!(text, "# {}", volume.name);
        write_drives(text, &disks, unknown);
        if let Some(note) = &volume.note {
            let _ = writeln!(text, "# {note}.");
        }
        let _ = writeln!(text, "level = \"{}\"", volume.level);
        match volume.chunk_bytes {
            Some(bytes) => {
                let _ = writeln!(text, "interleave = \"{}\"", units::format_bytes(bytes));
            }
            None if ["concat", "mirror", "single"].contains(&volume.level.as_str()) => {}
            None => text.push_str("# The chunk is not said: mdadm's and zpool's tools tell it.\n"),
        }
        Ok(())
    }

    fn write_disks<'i>(&'i self, text: &mut String, unknown: &mut Vec<&'i str>) {
        text.push_str("# No volume was found; the disks, as one stripe.\n");
        let disks: Vec<&HeldDisk> = self.disks.iter().collect();
        write_drives(text, &disks, unknown);
        let level = if disks.len() == 1 { "single" } else { "stripe" };
        let _ = writeln!(text, "level = \"{level}\"");
    }
}

/// The members, those beside each other of one model together; and a line for each model that is not known.
fn write_drives<'i>(text: &mut String, disks: &[&'i HeldDisk], unknown: &mut Vec<&'i str>) {
    let mut groups: Vec<(String, usize)> = Vec::new();
    for disk in disks {
        let table = match catalogue::matching(&disk.model, disk.bytes) {
            Match::Drive(name) => format!("model = \"{name}\""),
            Match::Volume { name, gib } => {
                if !unknown.contains(&disk.model.as_str()) {
                    let kinds = "gp2, gp3, io1, io2, st1 or sc1, and what is provisioned";
                    let _ = writeln!(
                        text,
                        "# {}: the device does not say which; write {kinds}.",
                        disk.model
                    );
                    unknown.push(&disk.model);
                }
                format!("model = \"{name}\", size = \"{gib}GiB\"")
            }
            Match::None { nearest, of_size } => {
                if !unknown.contains(&disk.model.as_str()) {
                    let _ = writeln!(
                        text,
                        "# {} ({}) is not in the catalogue{}; {OWN_FILE}.",
                        called(&disk.model),
                        disk.device,
                        catalogue::stand_ins(nearest.as_deref(), &of_size)
                    );
                    unknown.push(&disk.model);
                }
                format!("model = \"{}.toml\"", printable(&disk.device))
            }
        };
        match groups.last_mut() {
            Some((last, count)) if *last == table => *count += 1,
            _ => groups.push((table, 1)),
        }
    }
    let groups: Vec<String> =
        groups.iter().map(|(table, count)| format!("{{ {table}, count = {count} }}")).collect();
    let _ = writeln!(text, "drives = [{}]", groups.join(", "));
}

/// A model in a comment; some disks state none.
fn called(model: &str) -> String {
    if model.is_empty() { "a disk without a name".into() } else { printable(model) }
}

/// Without what would end a line or a text.
fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() && !['"', '\\', '+', '[', ']', '='].contains(c))
        .collect()
}
