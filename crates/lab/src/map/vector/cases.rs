//! Vector files that are no map but a list of cases: sizes that a system made of some members, or members
//! that it refused.

use super::Verdict;
use crate::error::{Error, Result};
use block::layout::{Layout, LayoutError};
use block::{Level, Place};
use serde::Deserialize;

/// A file of cases.
#[derive(Deserialize)]
struct Cases {
    #[serde(default)]
    name: String,
    /// How many members each case has, where they are alike.
    #[serde(default)]
    members: usize,
    rows: Vec<Case>,
}

/// What a system made of some members.
#[derive(Deserialize)]
#[serde(untagged)]
enum Case {
    /// ccd refused them.
    Refused {
        members: Vec<u64>,
        interleave_sectors: u64,
        #[serde(default)]
        uniform: bool,
        errno: i64,
    },
    /// md's offset and capacity; the level is as `raid5-64k`, with its chunk behind it.
    Md { member_sectors: u64, level: String, data_offset_sectors: u64, array_sectors: u64 },
}

/// Compares the levels with a file of cases; none where the file is not one.
///
/// # Errors
///
/// Where it is one, but not as it should be.
pub fn check_cases(label: &str, text: &str) -> Result<Option<Verdict>> {
    let is_cases = serde_json::from_str::<serde_json::Value>(text)
        .is_ok_and(|value| value.get("rows").is_some_and(serde_json::Value::is_array));
    if !is_cases {
        return Ok(None);
    }
    let cases: Cases =
        serde_json::from_str(text).map_err(|error| Error::input(format!("{label}: {error}")))?;
    for (nth, case) in cases.rows.iter().enumerate() {
        let differs = match case {
            Case::Refused { members, interleave_sectors, uniform, errno } => {
                let level = ccd_level(*interleave_sectors, *uniform);
                lay_out(label, level, *interleave_sectors, members)?
                    .is_ok()
                    .then(|| format!("it is refused with error {errno}, but the map accepts it"))
            }
            Case::Md { member_sectors, level, data_offset_sectors, array_sectors } => {
                let members = vec![*member_sectors; cases.members];
                let (level, interleave) = md_level(level);
                match lay_out(label, &level, interleave, &members)? {
                    Ok(layout) => {
                        let expected = (*data_offset_sectors, *array_sectors);
                        size_differs(&*layout, expected)
                    }
                    Err(error) => Some(error.to_string()),
                }
            }
        };
        if let Some(why) = differs {
            let nth = nth + 1;
            return Ok(Some(Verdict::Differs(format!("{}: case {nth}: {why}", cases.name))));
        }
    }
    let count = cases.rows.len();
    Ok(Some(Verdict::Agrees(format!("{} agrees: {count} cases", cases.name))))
}

/// The level of a ccd's interleave and flags.
pub(super) fn ccd_level(interleave_sectors: u64, uniform: bool) -> &'static str {
    match (interleave_sectors, uniform) {
        (0, true) => "ccd-concat-uniform",
        (0, false) => "ccd-concat",
        (_, true) => "ccd-uniform",
        (_, false) => "ccd-stripe",
    }
}

fn md_level(name: &str) -> (String, u64) {
    let (level, interleave) = match name.rsplit_once('-') {
        Some((level, chunk)) => (level, block::units::parse_sectors(chunk).unwrap_or(0)),
        None => (name, 0),
    };
    (format!("md-{level}"), interleave)
}

type Laid = std::result::Result<Box<dyn Layout>, LayoutError>;

fn lay_out(label: &str, level: &str, interleave_sectors: u64, members: &[u64]) -> Result<Laid> {
    let level: Level =
        level.parse().map_err(|error| Error::input(format!("{label}: `{level}`: {error}")))?;
    Ok(level.lay_out(interleave_sectors, members))
}

/// How where the data starts and how much there is differ from what is expected.
fn size_differs(layout: &dyn Layout, expected: (u64, u64)) -> Option<String> {
    let mut places: Vec<Place> = Vec::new();
    layout.places(0, &mut places);
    let ours = (places[0].sector, layout.sectors());
    (ours != expected).then(|| {
        format!(
            "its data start at sector {} and are {} sectors, in the map at {} and {}",
            expected.0, expected.1, ours.0, ours.1
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_agree_or_say_which_differs() {
        let check = |text: &str| check_cases("v.json", text);
        let refused = r#"{"name": "e", "rows": [
            {"members": [100, 5000], "interleave_sectors": 128, "uniform": false, "errno": 19}]}"#;
        let agrees = Verdict::Agrees("e agrees: 1 cases".into());
        assert_eq!(check(refused).unwrap(), Some(agrees));
        let Some(Verdict::Differs(why)) = check(&refused.replace("100,", "200,")).unwrap() else {
            panic!("it agrees")
        };
        assert!(why.contains("case 1: it is refused with error 19"), "{why}");
        let md = r#"{"name": "m", "members": 2, "rows": [{"member_sectors": 16384,
            "level": "raid0-64k", "data_offset_sectors": 2048, "array_sectors": 28672}]}"#;
        assert!(matches!(check(md).unwrap(), Some(Verdict::Agrees(_))));
        let Some(Verdict::Differs(why)) = check(&md.replace("28672", "28673")).unwrap() else {
            panic!("it agrees")
        };
        assert!(why.contains("28673 sectors, in the map at 2048 and 28672"), "{why}");
        assert!(check(&md.replace("raid0-64k", "raid7")).is_err());
        assert_eq!(check(r#"{"members": [1], "samples": []}"#).unwrap(), None);
    }
}
