//! `mdadm --examine /dev/sda1 /dev/sdb1 …`.

use super::detail::{at_the_front, take_row};
use super::listing::{Entry, Report};
use super::{Common, Md, MdMember, common};
use crate::error::Result;
use crate::text::{Source, Word, shown};

/// What one member says of itself.
enum Role {
    Active(usize),
    StandsBy,
}

/// The array that the reports of its members tell of.
pub(super) fn array(source: Source<'_>, reports: &[Report<'_>]) -> Result<Md> {
    let first = &reports[0];
    let array = common(source, first)?;
    let mut members: Vec<Option<MdMember>> = vec![None; array.devices];
    let (mut notes, mut named) = (Vec::new(), vec![None; array.devices]);
    for report in reports {
        same_array(source, first, report)?;
        let name = report.shown();
        match role(source, report, &array, &mut named)? {
            Role::StandsBy => notes.push(format!("{name} is a spare")),
            Role::Active(role) => {
                if let Some(earlier) = &members[role] {
                    let message = format!(
                        "{name} and {} both claim to be member {role}; remove one of them",
                        earlier.name
                    );
                    return Err(source.wrong(report.device.map_or(1, |word| word.line), message));
                }
                members[role] = Some(member(source, report, &array)?);
            }
        }
    }
    let used_sectors = used(source, first, &array)?;
    let members = members.into_iter().zip(named).enumerate().map(|(role, (member, named))| {
        member.unwrap_or_else(|| {
            notes.push(format!("the report of member {role} is missing"));
            let name = named.unwrap_or_else(|| "missing".into());
            MdMember {
                name,
                data_offset_sectors: at_the_front(&array.metadata),
                data_sectors: None,
            }
        })
    });
    let members = members.collect();
    Ok(Md {
        name: first.find("Name").map(|entry| first_word(entry).to_string()),
        metadata: array.metadata,
        shape: array.shape,
        interleave_sectors: array.interleave_sectors,
        used_sectors,
        array_sectors: None,
        members,
        notes,
    })
}

fn first_word<'a>(entry: &Entry<'a>) -> &'a str {
    entry.value.split_whitespace().next().unwrap_or_default()
}

/// Two arrays in one file are no array.
fn same_array(source: Source<'_>, first: &Report<'_>, other: &Report<'_>) -> Result<()> {
    for key in ["Array UUID", "UUID", "Raid Level", "Raid Devices", "Chunk Size", "Layout"] {
        let (Some(one), Some(two)) = (first.find(key), other.find(key)) else { continue };
        let same = if key.ends_with("UUID") {
            first_word(one) == first_word(two)
        } else {
            one.value == two.value
        };
        if !same {
            let message = format!(
                "`{key}` is {}, and {} in line {}: these are members of two arrays; keep one of them",
                shown(two.value),
                shown(one.value),
                one.line
            );
            return Err(source.wrong(two.line, message));
        }
    }
    Ok(())
}

/// What the array uses of each member: of 1.x in sectors, of 0.90 in KiB, and all of it where nothing
/// is said.
fn used(source: Source<'_>, report: &Report<'_>, array: &Common) -> Result<Option<u64>> {
    if !array.shape.is_uniform() {
        return Ok(None);
    }
    let bare_sectors = if array.metadata == "0.90" { 2 } else { 1 };
    let keys = ["Used Dev Size", "Device Size", "Avail Dev Size"];
    let entry = keys.into_iter().find_map(|key| report.find(key));
    let sectors = entry.map(|entry| entry.size_sectors(source, bare_sectors)).transpose()?;
    Ok(sectors.filter(|&sectors| sectors > 0))
}

fn role(
    source: Source<'_>,
    report: &Report<'_>,
    array: &Common,
    named: &mut [Option<String>],
) -> Result<Role> {
    if let Some(entry) = report.find("Device Role") {
        if let Some(number) = entry.value.strip_prefix("Active device ") {
            let number = Word { line: entry.line, column: 1, text: number.trim() };
            let last = array.devices as u64 - 1;
            let role = number.count(source, "role in the array", &(0..=last))?;
            return Ok(Role::Active(role as usize));
        }
        if entry.value.starts_with("spare") || entry.value.starts_with("Journal") {
            return Ok(Role::StandsBy);
        }
        return Err(entry.wrong(source, "not a role", "`Active device 0`, `spare`"));
    }
    // Metadata 0.90 ends with the table of all, and a row of its own.
    let mut mine = None;
    let mut notes = Vec::new();
    for row in &report.rows {
        let own = row.first().is_some_and(|word| word.text == "this");
        let row = &row[1.min(row.len())..];
        if !own {
            let mut found = vec![None; named.len()];
            take_row(source, row, &mut found, &mut notes)?;
            for (name, found) in named.iter_mut().zip(found) {
                *name = name.take().or(found);
            }
        } else if let [_, _, _, role, state @ ..] = row {
            let active = state.iter().any(|word| word.text == "active");
            mine = Some((*role, active));
        }
    }
    match mine {
        Some((role, true)) => {
            let last = array.devices as u64 - 1;
            Ok(Role::Active(role.count(source, "role in the array", &(0..=last))? as usize))
        }
        Some((_, false)) => Ok(Role::StandsBy),
        None => {
            report.need(source, "Device Role", "Device Role : Active device 0")?;
            Ok(Role::StandsBy)
        }
    }
}

fn member(source: Source<'_>, report: &Report<'_>, array: &Common) -> Result<MdMember> {
    let size = |key| report.find(key).map(|entry| entry.size_sectors(source, 1)).transpose();
    let data_offset_sectors = match at_the_front(&array.metadata) {
        None => size("Data Offset")?,
        front => front,
    };
    let data_sectors = if array.metadata == "0.90" { None } else { size("Avail Dev Size")? };
    Ok(MdMember { name: report.shown(), data_offset_sectors, data_sectors })
}
