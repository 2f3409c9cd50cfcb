//! `/proc/mdstat`.
//!
//! ```text
//! md0 : active raid6 sdh1[7] sdg1[6] sda1[0]
//!       105470681088 blocks super 1.2 level 6, 512k chunk, algorithm 2 [8/8] [UUUUUUUU]
//! ```

use super::{HeldVolume, Inventory};

/// The level of an experiment for md's word.
pub(super) fn level(word: &str) -> Option<&'static str> {
    Some(match word {
        "raid0" => "md-raid0",
        "raid1" => "mirror",
        "raid4" => "md-raid4",
        "raid5" => "md-raid5",
        "raid6" => "md-raid6",
        "raid10" => "md-raid10",
        "linear" => "concat",
        _ => return None,
    })
}

pub(super) fn read(inventory: &mut Inventory, text: &str) {
    let mut last: Option<HeldVolume> = None;
    for line in text.lines() {
        if let Some((name, rest)) = line.split_once(" : ") {
            if let Some(volume) = last.take() {
                inventory.add_volume(volume);
            }
            last = array(name.trim(), rest);
        } else if let Some(volume) = &mut last {
            volume.chunk_bytes = volume.chunk_bytes.or_else(|| chunk_bytes(line));
        }
    }
    if let Some(volume) = last {
        inventory.add_volume(volume);
    }
}

fn array(name: &str, rest: &str) -> Option<HeldVolume> {
    let mut words = rest.split_whitespace().skip_while(|word| level(word).is_none());
    let level = level(words.next()?)?;
    // Spares and failed members hold nothing.
    let held = words.filter(|word| !word.ends_with("(S)") && !word.ends_with("(F)"));
    let mut members: Vec<(u32, String)> = held
        .filter_map(|word| {
            let (device, slot) = word.split_once('[')?;
            let slot = slot.split(']').next()?.parse().ok()?;
            Some((slot, device.to_string()))
        })
        .collect();
    members.sort();
    let members = members.into_iter().map(|(_, device)| device).collect();
    Some(HeldVolume { name: name.into(), level: level.into(), members, ..HeldVolume::default() })
}

/// `512k chunk` in a line, or `512K chunks` of RAID 10.
fn chunk_bytes(line: &str) -> Option<u64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| word.starts_with("chunk"))?;
    super::written::rough_bytes(words.get(at.checked_sub(1)?)?)
}
