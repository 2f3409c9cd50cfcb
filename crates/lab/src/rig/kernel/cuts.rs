//! Power cuts: what was written is recorded once, and the media are made again as they were at each instant.

use super::Ready;
use super::job::Job;
use crate::error::{Error, Result};
use crate::experiment::Trial;
use crate::record::Measured;
use crate::rig::mounted::{Cut, Found};
use crate::workload::Cuts;
use block::layout::System;
use std::fmt::Write as _;
use uml::medium::Medium;
use uml::recording::Recording;
use uml::{Window, With};

/// What the cuts of a trial have shown.
#[derive(Clone, Debug, Default)]
struct Shown {
    cuts: u64,
    with_loss: u64,
    failed_mounts: u64,
    lost_most: u64,
    torn: u64,
    /// A line for each cut.
    table: String,
}

/// Cuts the power at instants evenly over `window`, and adds what was found to what was `measured`.
pub(super) fn add(
    ready: &Ready<'_>,
    cuts: Cuts,
    window: &Window,
    recording: &Recording,
    measured: &mut Measured,
) -> Result<()> {
    let disks = ready.trial.setup.volume.members.len();
    let mut replay = recording.replay(disks);
    let mut shown = Shown {
        table: "instant_ms,durable_files,lost_files,torn_pages,lost_member,not_mounted\n".into(),
        ..Shown::default()
    };
    for number in 0..cuts.count {
        let share = u128::from(2 * number + 1) * u128::from(window.elapsed_ns);
        let instant = window.began_at + (share / u128::from(2 * cuts.count)) as u64;
        let durable = recording.notes().iter().filter(|(at, _)| *at <= instant).count() as u64;
        let media = replay.cut_at(instant);
        let torn = torn_pages(ready.trial, &media);
        let lost = cuts.lose_member.then_some((number % disks as u64) as usize);
        let cut = Cut { durable, lost };
        let found = look(ready, cut, media)?;
        shown.count(instant - window.began_at, cut, torn, &found);
    }
    let values = [
        ("cuts_with_loss", shown.with_loss),
        ("failed_mounts", shown.failed_mounts),
        ("lost_files", shown.lost_most),
        ("torn_cuts", shown.torn),
        ("cuts", shown.cuts),
    ];
    for (name, value) in values {
        let place = measured.samples.iter().position(|(known, _)| *known == name);
        measured.samples[place.expect("the program has this sample")].1 = value as f64;
    }
    measured.kept.push(("cuts.csv".into(), shown.table));
    Ok(())
}

impl Shown {
    fn count(&mut self, after_ns: u64, cut: Cut, torn: u64, found: &Found) {
        self.cuts += 1;
        self.with_loss += u64::from(found.lost > 0);
        self.failed_mounts += u64::from(found.unmounted.is_some());
        self.lost_most = self.lost_most.max(found.lost);
        self.torn += u64::from(torn > 0);
        let why = found.unmounted.as_deref().unwrap_or_default().replace(['"', '\n'], " ");
        let at_ms = after_ns as f64 / 1e6;
        let member = cut.lost.map_or(String::new(), |member| member.to_string());
        let (durable, lost) = (cut.durable, found.lost);
        writeln!(self.table, "{at_ms:.3},{durable},{lost},{torn},{member},\"{why}\"")
            .expect("a string grows");
    }
}

/// Boots a kernel over what the disks hold, which assembles, mounts and looks for the files that were durable.
fn look(ready: &Ready<'_>, cut: Cut, media: Vec<Medium>) -> Result<Found> {
    let (rig, trial) = (ready.rig, ready.trial);
    let job = Job::new(&rig.experiment, trial).after(cut).to_bytes()?;
    let report = rig.boot(trial, ready.stop.as_ref(), With { media, ..With::default() }, &job)?;
    let answer =
        report.answer.ok_or_else(|| Error::failure("a guest after a power cut gave no answer"))?;
    let found: std::result::Result<Found, String> =
        serde_json::from_slice(&answer).map_err(Error::failure)?;
    found.map_err(Error::failure)
}

/// The bytes in which copies and parity are compared: md's rows.
const PAGE_BYTES: usize = 4096;
/// md's superblock of version 1.2: where it is, how it begins, and where in it the offset of the data stands.
const SUPERBLOCK_SECTOR: u64 = 8;
const SUPERBLOCK_MAGIC: [u8; 4] = [0xfc, 0x4e, 0x2b, 0xa9];
const DATA_OFFSET_AT: usize = 128;

/// Pages of the members' data that are no copies of each other, or whose sum is not zero; 0 for levels that have
/// neither copies of all nor one parity.
fn torn_pages(trial: &Trial, media: &[Medium]) -> u64 {
    let level = trial.setup.volume.level;
    let is_mirror = level.name == "md-mirror";
    let has_rows = level.is_of(System::Md) && level.parity_members() == 1;
    if !(is_mirror || has_rows) {
        return 0;
    }
    // Members of arrays side by side are added up with those of their own array only.
    let groups = level.nested().map_or(1, |of| of.groups);
    let arrays = media.chunks_exact(media.len() / groups);
    arrays.map(|members| torn_pages_of(members, is_mirror)).sum()
}

/// The same of the members of one array.
fn torn_pages_of(media: &[Medium], is_mirror: bool) -> u64 {
    let Some(start) = data_offset(&media[0]) else { return 0 };
    let mut pages: Vec<u64> =
        media.iter().flat_map(Medium::pages).filter(|page| *page >= start).collect();
    pages.sort_unstable();
    pages.dedup();
    let is_torn = |page: &&u64| {
        let mut held = media.iter().map(|medium| {
            let mut bytes = vec![0; PAGE_BYTES];
            medium.read(**page, &mut bytes);
            bytes
        });
        let first = held.next().unwrap_or_default();
        if is_mirror {
            return held.any(|other| other != first);
        }
        let sum =
            held.fold(first, |sum, other| sum.iter().zip(other).map(|(a, b)| a ^ b).collect());
        sum.iter().any(|byte| *byte != 0)
    };
    pages.iter().filter(is_torn).count() as u64
}

/// The sector from which on a member of md has data; none where it has no superblock yet.
fn data_offset(medium: &Medium) -> Option<u64> {
    let mut superblock = [0; PAGE_BYTES];
    medium.read(SUPERBLOCK_SECTOR, &mut superblock);
    if superblock[..4] != SUPERBLOCK_MAGIC {
        return None;
    }
    let offset = superblock[DATA_OFFSET_AT..DATA_OFFSET_AT + 8].try_into().expect("eight bytes");
    Some(u64::from_le_bytes(offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    fn trial(level: &str) -> Trial {
        let text =
            format!("[volume]\ndrives = '3xmd-hdd'\nlevel = '{level}'\n[workload.r]\ncount = 9\n");
        Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap().trials.remove(0)
    }

    /// Members with a superblock whose data begins at sector 2048.
    fn members() -> Vec<Medium> {
        let mut superblock = [0; 512];
        superblock[..4].copy_from_slice(&SUPERBLOCK_MAGIC);
        superblock[DATA_OFFSET_AT..DATA_OFFSET_AT + 8].copy_from_slice(&2048_u64.to_le_bytes());
        let mut medium = Medium::default();
        medium.write(SUPERBLOCK_SECTOR, &superblock);
        vec![medium; 3]
    }

    #[test]
    fn a_row_whose_parity_is_of_other_data_is_torn() {
        let mut media = members();
        // In front of the data members differ.
        media[2].write(16, &[7; 512]);
        assert_eq!(torn_pages(&trial("md-raid5"), &media), 0);
        media[0].write(4096, &[5; PAGE_BYTES]);
        assert_eq!(torn_pages(&trial("md-raid5"), &media), 1);
        media[2].write(4096, &[5; PAGE_BYTES]);
        assert_eq!(torn_pages(&trial("md-raid5"), &media), 0);
        assert_eq!(torn_pages(&trial("md-mirror"), &media), 1);
        media[1].write(4096, &[5; PAGE_BYTES]);
        assert_eq!(torn_pages(&trial("md-mirror"), &media), 0);
        assert_eq!(torn_pages(&trial("md-stripe"), &media), 0);
    }
}
