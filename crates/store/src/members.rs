//! The members of a volume in one word: `2xst118273lc`, `2xst118273lc:1GiB+1xxp32150w`.

use crate::error::{Error, Result};
use block::units;
use std::ffi::OsStr;
use std::path::Path;

/// One member: a drive, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberSpec {
    /// A name of the catalogue, or a drive file.
    pub drive: String,
    /// How many of its sectors; all of them where it is not said.
    pub sectors: Option<u64>,
}

/// More members than anyone has; it keeps a typo from filling the memory.
const MEMBERS_MAX: usize = 4096;

/// Reads a list of members: groups joined by `+`, each a count, an `x` and a drive, or just a drive,
/// with a size behind a colon where not all of the drive is used.
///
/// # Errors
///
/// Where the text is not such a list, names too many members, or a member of zero sectors.
pub fn parse_members(text: &str) -> Result<Vec<MemberSpec>> {
    let mut members = Vec::new();
    for group in text.split('+').map(str::trim) {
        let (count, rest) = split_count(group);
        // A colon may also stand in the path of a drive's file, which no size looks like.
        let is_toml = |end: &OsStr| end.eq_ignore_ascii_case("toml");
        let is_path =
            |text: &str| text.contains('/') || Path::new(text).extension().is_some_and(is_toml);
        let (drive, sectors) = match rest.rsplit_once(':').filter(|(_, size)| !is_path(size)) {
            None => (rest, None),
            Some((drive, size)) => {
                let sectors = units::parse_sectors(size)
                    .map_err(|error| Error::input(format!("the size of `{group}`: {error}")))?;
                (drive, Some(sectors))
            }
        };
        if text.trim().is_empty() {
            return Err(Error::input("no members are given; write them like `2xst118273lc`"));
        }
        if drive.is_empty() {
            return Err(Error::input(format!(
                "`{text}` is not a list of members; write it like `2xst118273lc` or \
                 `2xst118273lc:1GiB+1xxp32150w`"
            )));
        }
        if count == 0 || count > MEMBERS_MAX - members.len() {
            let many = format!("a volume has 1 to {MEMBERS_MAX} members");
            return Err(Error::input(format!("`{group}` is out of range; {many}")));
        }
        if sectors == Some(0) {
            return Err(Error::input(format!(
                "`{group}` is a member of zero sectors; leave out the `:0` to use the whole drive"
            )));
        }
        members.extend(vec![MemberSpec { drive: drive.into(), sectors }; count]);
    }
    Ok(members)
}

/// Reads a list of members as results state it, where a drive may be told from its like by a word behind its
/// name: `wd740gd (wd0)`. Empty if it is not such a list.
pub fn stated_members(text: &str) -> Vec<MemberSpec> {
    let list = text.split(" (").next().unwrap_or_default();
    parse_members(list).unwrap_or_default()
}

/// `2xname` is 2 and `name`; a name that only starts like a count, as `x25`, is itself.
fn split_count(group: &str) -> (usize, &str) {
    let digits = group.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    match (group[..digits].parse(), group[digits..].strip_prefix('x')) {
        // A space may follow: `4x 980 pro 1tb`.
        (Ok(count), Some(drive)) => (count, drive.trim_start()),
        (Err(_), Some(drive)) if digits > 0 => (usize::MAX, drive),
        _ => (1, group),
    }
}

/// The members that are down, as an experiment names them: `1`, `0+3`; nothing or `none` where none is.
pub fn stated_failed(text: &str) -> Vec<&str> {
    match text {
        "" | "none" => Vec::new(),
        list => list.split('+').map(str::trim).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_members_are_joined_by_plus_or_none() {
        assert_eq!(["", "none"].map(stated_failed), [[""; 0]; 2]);
        assert_eq!(["1", "0 + 3"].map(|text| stated_failed(text).join(" ")), ["1", "0 3"]);
    }

    fn member(drive: &str, sectors: Option<u64>) -> MemberSpec {
        MemberSpec { drive: drive.into(), sectors }
    }

    #[test]
    fn members_are_counted_named_and_sized() {
        assert_eq!(parse_members("2xwd740gd").unwrap(), vec![member("wd740gd", None); 2]);
        assert_eq!(parse_members("wd740gd").unwrap(), [member("wd740gd", None)]);
        let mixed = parse_members("1xa:1000 + 2xxp32150w:1MiB").unwrap();
        let expected = [
            member("a", Some(1000)),
            member("xp32150w", Some(2048)),
            member("xp32150w", Some(2048)),
        ];
        assert_eq!(mixed, expected);
        assert_eq!(parse_members("x25").unwrap(), [member("x25", None)]);
        for path in ["./a:b/c.toml", "d:\\c.toml", "a:b.toml"] {
            assert_eq!(parse_members(path).unwrap(), [member(path, None)]);
            let part = parse_members(&format!("2x{path}:0.5MiB")).unwrap();
            assert_eq!(part, vec![member(path, Some(1024)); 2]);
        }
    }

    #[test]
    fn what_is_no_list_is_an_error() {
        let message = |text| parse_members(text).unwrap_err().to_string();
        assert!(message("2xa:0").contains("member of zero sectors"));
        assert!(message("0xa").contains("1 to 4096"));
        assert!(message("5000xa").contains("1 to 4096"));
        assert!(message("99999999999999999999xa").contains("1 to 4096"));
        assert!(message("1xa+18446744073709551615xa").contains("1 to 4096"));
        assert!(message("2x").contains("is not a list of members"));
        assert!(message("2xa++b").contains("is not a list of members"));
        assert!(message("a:lots").contains("the size of `a:lots`"));
    }
}
