//! The configuration file of raidctl(8), RAIDframe's on NetBSD and OpenBSD.
//!
//! ```text
//! START array
//! # numRow numCol numSpare
//! 1 3 0
//! START disks
//! /dev/sd1e
//! /dev/sd2e
//! /dev/sd3e
//! START layout
//! # sectPerSU SUsPerParityUnit SUsPerReconUnit RAID_level
//! 32 1 1 5
//! START queue
//! fifo 100
//! ```
//!
//! Sections come in any order; array, disks and layout must be there, and spare, debug and queue may.
//! Later systems leave out `numRow`, which was always 1.

use crate::error::{Result, nearest};
use crate::text::{Source, Word, words};

/// A RAID set of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raid {
    /// The members, in order.
    pub members: Vec<String>,
    /// Disks that stand by.
    pub spares: Vec<String>,
    /// The interleave: `sectPerSU`.
    pub interleave_sectors: u64,
    /// Which layout.
    pub level: RaidLevel,
    /// The discipline and depth of each member's queue.
    pub queue: (String, u64),
}

/// The levels that have a layout here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaidLevel {
    /// Level 0.
    Stripe,
    /// Level 1.
    Mirror,
    /// Level 4.
    Raid4,
    /// Level 5.
    Raid5,
}

impl RaidLevel {
    /// What it is called among the layouts.
    pub fn level(self) -> &'static str {
        match self {
            RaidLevel::Stripe => "raidframe-stripe",
            RaidLevel::Mirror => "raidframe-mirror",
            RaidLevel::Raid4 => "raidframe-raid4",
            RaidLevel::Raid5 => "raidframe-raid5",
        }
    }
}

/// Levels that RAIDframe has, or had in its sources, and that have no layout here.
const OTHER_LEVELS: &[(&str, &str)] = &[
    ("C", "chained declustering"),
    ("I", "interleaved declustering"),
    ("T", "parity declustering"),
    ("D", "parity declustering with distributed spares"),
    ("R", "RAID 5 with rotated spares"),
    ("E", "EvenOdd"),
    ("e", "EvenOdd"),
    ("L", "parity logging"),
];

const SECTIONS: &[&str] = &["array", "disks", "spare", "debug", "layout", "queue"];
const QUEUES: &[&str] = &["fifo", "cvscan", "sstf", "scan", "cscan"];
/// More members than RAIDframe takes.
const COLUMNS_MAX: u64 = 4096;

/// A line of a section.
type Line<'a> = Vec<Word<'a>>;

struct Section<'a> {
    name: &'a str,
    line: usize,
    lines: Vec<Line<'a>>,
}

/// Reads a file; `label` is its name, for messages.
///
/// # Errors
///
/// Where a section is missing, unknown or there twice, a line is not what its section takes, or the
/// level is one that cannot be laid out.
pub fn parse(label: &str, text: &str) -> Result<Raid> {
    let source = Source { label, text };
    let sections = sections(source)?;
    let find = |name: &str| sections.iter().find(|section| section.name == name);
    let need = |name: &str, example: &str| {
        find(name).ok_or_else(|| {
            source.wrong_file(format!("`START {name}` is missing; add it, followed by `{example}`"))
        })
    };
    let (columns, spares) = array(source, need("array", "1 3 0")?)?;
    let disks = need("disks", "/dev/sd1e")?;
    let members = devices(source, disks, columns, "disk")?;
    let spares = match find("spare") {
        Some(section) => devices(source, section, spares, "spare")?,
        None if spares == 0 => Vec::new(),
        None => {
            let message = format!(
                "`START spare` is missing, but the array has {spares}; name them there, or write 0"
            );
            return Err(source.wrong_file(message));
        }
    };
    let (interleave_sectors, level) = layout(source, need("layout", "32 1 1 5")?)?;
    let queue = find("queue").map_or(Ok(("fifo".into(), 1)), |section| queue(source, section))?;
    Ok(Raid { members, spares, interleave_sectors, level, queue })
}

fn sections(source: Source<'_>) -> Result<Vec<Section<'_>>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for (line, text) in source.lines() {
        let text = text.split('#').next().unwrap_or_default();
        let found = words(line, text);
        match found.as_slice() {
            [] => {}
            [start, name] if start.text == "START" => {
                let name = *name;
                if !SECTIONS.contains(&name.text) {
                    let next = nearest(name.text, SECTIONS.iter().copied()).map_or_else(
                        || format!("known are {}", SECTIONS.join(", ")),
                        |meant| format!("did you mean `{meant}`?"),
                    );
                    let message = format!("{} is not a section; {next}", name.shown());
                    return Err(source.wrong(line, message));
                }
                if let Some(earlier) = sections.iter().find(|earlier| earlier.name == name.text) {
                    let message = format!(
                        "`START {}` appears twice, first in line {}; remove one of them",
                        name.text, earlier.line
                    );
                    return Err(source.wrong(line, message));
                }
                sections.push(Section { name: name.text, line, lines: Vec::new() });
            }
            [start, ..] if start.text == "START" => {
                let message = format!(
                    "{} does not start a section; write `START` and one of {}",
                    crate::text::shown(text.trim()),
                    SECTIONS.join(", ")
                );
                return Err(source.wrong(line, message));
            }
            [first, ..] => match sections.last_mut() {
                Some(section) => section.lines.push(found),
                None => {
                    let message = format!(
                        "{} is outside any section; begin the file with `START array`",
                        first.shown()
                    );
                    return Err(source.wrong(line, message));
                }
            },
        }
    }
    Ok(sections)
}

/// How many columns and spares there are.
fn array(source: Source<'_>, section: &Section<'_>) -> Result<(u64, u64)> {
    let line = one_line(source, section, "1 3 0")?;
    let (columns, spares) = match line.as_slice() {
        [rows, columns, spares] => {
            rows.count(source, "number of rows (always 1)", &(1..=1))?;
            (columns, spares)
        }
        [columns, spares] => (columns, spares),
        _ => return Err(wrong_line(source, section, line, "1 3 0")),
    };
    Ok((
        columns.count(source, "number of columns", &(1..=COLUMNS_MAX))?,
        spares.count(source, "number of spares", &(0..=COLUMNS_MAX))?,
    ))
}

fn devices(
    source: Source<'_>,
    section: &Section<'_>,
    count: u64,
    what: &str,
) -> Result<Vec<String>> {
    let mut devices = Vec::new();
    for line in &section.lines {
        let [device] = line.as_slice() else {
            return Err(wrong_line(source, section, line, "/dev/sd1e"));
        };
        if devices.len() as u64 == count {
            let message = format!(
                "{} is {what} {} of {count} in `START array`; correct one of the two",
                device.shown(),
                count + 1
            );
            return Err(source.wrong(device.line, message));
        }
        devices.push(device.text.to_string());
    }
    if (devices.len() as u64) < count {
        let message = format!(
            "`START {}` names {} of {count} in `START array`; correct one of the two",
            section.name,
            devices.len()
        );
        return Err(source.wrong(section.line, message));
    }
    Ok(devices)
}

fn layout(source: Source<'_>, section: &Section<'_>) -> Result<(u64, RaidLevel)> {
    let Some(line) = section.lines.first() else {
        return Err(wrong_section(source, section, "32 1 1 5"));
    };
    let [interleave, parity_unit, recon_unit, level] = line.as_slice() else {
        return Err(wrong_line(source, section, line, "32 1 1 5"));
    };
    let level = match level.text {
        "0" => RaidLevel::Stripe,
        "1" => RaidLevel::Mirror,
        "4" => RaidLevel::Raid4,
        "5" => RaidLevel::Raid5,
        other => {
            let message = match OTHER_LEVELS.iter().find(|(letter, _)| *letter == other) {
                Some((_, name)) => format!("`{other}` is {name}, which is not supported"),
                None => format!("{} is not a level", level.shown()),
            };
            return Err(source.wrong(level.line, format!("{message}; take 0, 1, 4 or 5")));
        }
    };
    if let Some(more) = section.lines.get(1) {
        return Err(wrong_line(source, section, more, "32 1 1 5"));
    }
    let interleave_sectors = interleave.count(source, "interleave in sectors", &(1..=1 << 30))?;
    parity_unit.count(source, "number of SUsPerParityUnit", &(1..=1 << 30))?;
    recon_unit.count(source, "number of SUsPerReconUnit", &(1..=1 << 30))?;
    Ok((interleave_sectors, level))
}

fn queue(source: Source<'_>, section: &Section<'_>) -> Result<(String, u64)> {
    let line = one_line(source, section, "fifo 100")?;
    let [discipline, depth] = line.as_slice() else {
        return Err(wrong_line(source, section, line, "fifo 100"));
    };
    if !QUEUES.contains(&discipline.text) {
        let message =
            format!("{} is not a queue; known are {}", discipline.shown(), QUEUES.join(", "));
        return Err(source.wrong(discipline.line, message));
    }
    let depth = depth.count(source, "number of requests in the queue", &(1..=1 << 30))?;
    Ok((discipline.text.into(), depth))
}

fn one_line<'s, 'a>(
    source: Source<'_>,
    section: &'s Section<'a>,
    example: &str,
) -> Result<&'s Line<'a>> {
    match section.lines.as_slice() {
        [line] => Ok(line),
        [] => Err(wrong_section(source, section, example)),
        [_, more, ..] => Err(wrong_line(source, section, more, example)),
    }
}

fn wrong_section(source: Source<'_>, section: &Section<'_>, example: &str) -> crate::Error {
    let message = format!("`START {}` is empty; add `{example}`", section.name);
    source.wrong(section.line, message)
}

fn wrong_line(
    source: Source<'_>,
    section: &Section<'_>,
    line: &Line<'_>,
    example: &str,
) -> crate::Error {
    let text: Vec<&str> = line.iter().map(|word| word.text).collect();
    let message = format!(
        "{} is not a line of `START {}`; write `{example}`",
        crate::text::shown(&text.join(" ")),
        section.name
    );
    source.wrong(line.first().map_or(section.line, |word| word.line), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAID5: &str = "\
# raid0.conf
START queue
fifo 100
START layout
# sectPerSU SUsPerParityUnit SUsPerReconUnit RAID_level
32 1 1 5
START debug
raidframe_debug
START array
1 3 1
START disks
/dev/sd1e

/dev/sd2e
/dev/sd3e # the last
START spare
/dev/sd4e
";

    #[test]
    fn sections_read_in_any_order() {
        let raid = parse("raid0.conf", RAID5).unwrap();
        assert_eq!(raid.members, ["/dev/sd1e", "/dev/sd2e", "/dev/sd3e"]);
        assert_eq!(raid.spares, ["/dev/sd4e"]);
        assert_eq!((raid.interleave_sectors, raid.level), (32, RaidLevel::Raid5));
        assert_eq!(raid.queue, ("fifo".into(), 100));
        let short = "START array\n2 0\nSTART disks\na\nb\nSTART layout\n128 1 1 0\n";
        let raid = parse("raid1.conf", short).unwrap();
        assert_eq!((raid.level.level(), raid.queue.1), ("raidframe-stripe", 1));
    }

    #[test]
    fn what_the_manual_does_not_describe_names_line_and_word() {
        for (was, is, expected) in [
            (
                "START array",
                "START arry",
                "raid0.conf:9: `arry` is not a section; did you mean `array`?",
            ),
            ("START array\n1 3 1\n", "", "`START array` is missing"),
            ("1 3 1", "2 3 1", ":10: `2` is not a valid number of rows"),
            ("1 3 1", "1 4 1", "`START disks` names 3 of 4"),
            ("1 3 1", "1 2 1", "`/dev/sd3e` is disk 3 of 2"),
            ("1 3 1", "1 3 0", "`/dev/sd4e` is spare 1 of 0"),
            ("1 3 1", "", "`START array` is empty"),
            ("START spare\n/dev/sd4e\n", "", "`START spare` is missing"),
            ("32 1 1 5", "32 1 1 C", ":6: `C` is chained declustering, which is not supported"),
            ("32 1 1 5", "32 1 1 6", "`6` is not a level"),
            ("32 1 1 5", "32 1 5", "`32 1 5` is not a line of `START layout`"),
            ("32 1 1 5", "0 1 1 5", "`0` is not a valid interleave"),
            ("fifo 100", "lifo 100", "`lifo` is not a queue"),
            ("START debug", "START queue", "`START queue` appears twice, first in line 2"),
            ("START debug", "START", "`START` does not start a section"),
            ("# raid0.conf", "raid0", "`raid0` is outside any section"),
        ] {
            let error = parse("raid0.conf", &RAID5.replacen(was, is, 1)).unwrap_err().to_string();
            assert!(error.contains(expected), "{is:?}: {error}");
        }
    }
}
