//! `mdadm --detail`.
//!
//! ```text
//! /dev/md127:
//!         Raid Level : raid5
//!      Intent Bitmap : Internal
//!             Layout : left-symmetric
//!         Chunk Size : 512K
//!     Number   Major   Minor   RaidDevice State
//!        0       8        0        0      active sync   /dev/sda
//!        -       0        0        1      removed
//!        4       8       64        2      spare rebuilding   /dev/sde
//!        3       8       32        -      faulty   /dev/sdc
//! ```

use super::{HeldVolume, Inventory, mdstat};

/// Whether a text is one of it.
pub(super) fn is(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("Raid Level :"))
}

pub(super) fn read(inventory: &mut Inventory, text: &str) {
    let mut last: Option<Array> = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [path] if path.starts_with("/dev/") && path.ends_with(':') => {
                end(inventory, last.take());
                let name = path.trim_end_matches(':').rsplit('/').next().unwrap_or_default();
                let volume = HeldVolume { name: name.into(), ..HeldVolume::default() };
                last = Some(Array { volume, places: Vec::new() });
            }
            _ => {
                if let Some(array) = &mut last {
                    array.take_line(line, &words);
                }
            }
        }
    }
    end(inventory, last);
}

fn end(inventory: &mut Inventory, array: Option<Array>) {
    if let Some(volume) = array.and_then(Array::volume) {
        inventory.add_volume(volume);
    }
}

/// How a member is, and its device where it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Gone,
    Restored(String),
    Whole(String),
}

/// More places than md has.
const PLACES_MAX: usize = 4096;

/// An array as its lines are read.
struct Array {
    volume: HeldVolume,
    places: Vec<Place>,
}

impl Array {
    fn take_line(&mut self, line: &str, words: &[&str]) {
        let Some((key, value)) = line.split_once(" : ") else {
            if let [number, _, _, place, state, rest @ ..] = words
                && (*number == "-" || number.parse::<u32>().is_ok())
            {
                self.take_member(place, state, rest);
            }
            return;
        };
        let (value, volume) = (value.trim(), &mut self.volume);
        match key.trim() {
            "Raid Level" => volume.level = mdstat::level(value).unwrap_or_default().into(),
            "Chunk Size" => volume.chunk_bytes = super::written::rough_bytes(value),
            "Raid Devices" => {
                let count: usize = value.parse().unwrap_or(0);
                self.places.resize(count.min(PLACES_MAX), Place::Gone);
            }
            // RAID 4 has a layout, too, and only one.
            "Layout" if !["md-raid4", "md-raid0"].contains(&volume.level.as_str()) => {
                let layout = value.replace(", ", "-");
                let layout = ["near", "far", "offset"].iter().fold(layout, |layout, spread| {
                    layout.replace(&format!("{spread}="), &spread[..1])
                });
                mdstat::take_layout(volume, &layout);
            }
            "Intent Bitmap" if value.starts_with("Internal") => volume.has_bitmap = true,
            "Intent Bitmap" if value != "None" => volume.said.push(mdstat::BITMAP_IN_FILE.into()),
            "Consistency Policy" if ["journal", "ppl"].contains(&value) => {
                volume.said.push(format!("Its consistency policy is {value}, which is not read"));
            }
            _ => {}
        }
    }

    fn take_member(&mut self, place: &str, state: &str, rest: &[&str]) {
        let device = rest.last().filter(|word| word.starts_with("/dev/"));
        let Some(device) = device.map(|path| path.trim_start_matches("/dev/").to_string()) else {
            return;
        };
        if state == "faulty" {
            self.volume.faulty.push(device);
            return;
        }
        let place = place.parse().ok().and_then(|place: usize| self.places.get_mut(place));
        match (place, state) {
            (Some(place), "active") if !matches!(place, Place::Whole(_)) => {
                *place = Place::Whole(device);
            }
            (Some(place), "spare") if *place == Place::Gone => *place = Place::Restored(device),
            (None, "spare") => self.volume.said.push(format!("Left out: its spare {device}")),
            (None, "journal") => self.volume.said.push(format!("Left out: its journal {device}")),
            _ => {}
        }
    }

    fn volume(mut self) -> Option<HeldVolume> {
        if self.volume.level.is_empty() || self.places.is_empty() {
            return None;
        }
        for (at, place) in self.places.into_iter().enumerate() {
            let volume = &mut self.volume;
            let member = match place {
                Place::Whole(device) => device,
                Place::Restored(device) => {
                    volume.failed.push(at);
                    volume.said.push(mdstat::restored(at, &device));
                    device
                }
                Place::Gone => {
                    volume.failed.push(at);
                    volume.said.push(mdstat::gone(at));
                    String::new()
                }
            };
            volume.members.push(member);
        }
        Some(self.volume)
    }
}
