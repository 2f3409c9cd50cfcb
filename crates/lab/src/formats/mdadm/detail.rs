//! `mdadm --detail /dev/md0`.

use super::listing::Report;
use super::{Md, MdMember, Shape, common};
use crate::error::Result;
use crate::text::{Source, Word, shown};

/// The array of a report.
pub(super) fn array(source: Source<'_>, report: &Report<'_>) -> Result<Md> {
    let common = common(source, report)?;
    let size = |key| report.find(key).map(|entry| entry.size_sectors(source, 2)).transpose();
    let used_sectors = match size("Used Dev Size")? {
        None => size("Device Size")?,
        used => used,
    };
    let used_sectors = used_sectors.filter(|&sectors| sectors > 0);
    let array_sectors = size("Array Size")?;
    let (mut names, mut notes) = (vec![None; common.devices], Vec::new());
    for row in &report.rows {
        take_row(source, row, &mut names, &mut notes)?;
    }
    let members = names.into_iter().enumerate().map(|(role, name)| {
        let name = name.unwrap_or_else(|| {
            notes.push(format!("member {role} is missing"));
            "missing".into()
        });
        let data_sectors = used_sectors.filter(|_| common.shape.is_uniform());
        MdMember { name, data_offset_sectors: at_the_front(&common.metadata), data_sectors }
    });
    let members = members.collect();
    Ok(Md {
        name: report.device.map(|device| device.text.to_string()),
        metadata: common.metadata,
        shape: common.shape,
        interleave_sectors: common.interleave_sectors,
        used_sectors: used_sectors.filter(|_| !matches!(common.shape, Shape::Linear)),
        array_sectors,
        members,
        notes,
    })
}

/// Metadata 0.90 and 1.0 is at the end of the members, so their data starts at the front.
pub(super) fn at_the_front(metadata: &str) -> Option<u64> {
    matches!(metadata, "0.90" | "1.0").then_some(0)
}

/// `Number Major Minor RaidDevice State…  device`; the state is words such as `active sync set-A`, and
/// a member that is gone has no device.
pub(super) fn take_row(
    source: Source<'_>,
    row: &[Word<'_>],
    names: &mut [Option<String>],
    notes: &mut Vec<String>,
) -> Result<()> {
    let [_, _, _, role, state @ ..] = row else {
        let text: Vec<&str> = row.iter().map(|word| word.text).collect();
        let line = row.first().map_or(1, |word| word.line);
        let message = format!(
            "{} is not a device row; write it as `0 8 1 0 active sync /dev/sda1`",
            shown(&text.join(" "))
        );
        return Err(source.wrong(line, message));
    };
    let device = state.last().filter(|word| word.text.contains('/')).map(|word| word.text);
    let name = || device.unwrap_or("one").to_string();
    let is = |word: &str| state.iter().any(|found| found.text.trim_end_matches(',') == word);
    if is("removed") || is("faulty") {
        if is("faulty") {
            notes.push(format!("{} is faulty", name()));
        }
        return Ok(());
    }
    let active = is("active") || is("sync") || is("rebuilding");
    if is("spare") && !active {
        notes.push(format!("{} is a spare", name()));
        return Ok(());
    }
    let of = names.len() as u64;
    let role = role.count(source, "RaidDevice of the array", &(0..=of - 1))?;
    if is("rebuilding") {
        notes.push(format!("{} is being rebuilt", name()));
    }
    let place = &mut names[role as usize];
    if place.is_none() {
        *place = Some(name());
    } else {
        // While a member is being replaced, two rows have its role.
        notes.push(format!("{} is the replacement of member {role}", name()));
    }
    Ok(())
}
