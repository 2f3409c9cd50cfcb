//! `ileave.map`: where the sectors of a volume go.

use crate::raised;
use block::units::parse_sectors;
use lab::map::{Asked, Sizes, Volume, json, parse_member_sizes};
use pyo3::prelude::*;
use store::{Error, Result};

/// A volume of a level over members. It is laid out for each question: a layout stays on its thread, and objects of
/// Python's do not.
#[pyclass(frozen, module = "ileave._ileave")]
pub(crate) struct Map {
    level: String,
    interleave_sectors: Option<u64>,
    members: (usize, Vec<u64>),
    given_sectors: Vec<u64>,
    reserved_sectors: Option<u64>,
}

impl Map {
    fn volume(&self) -> Result<Volume> {
        let (count, each) = &self.members;
        let sizes = Sizes { given: self.given_sectors.clone(), of_path: &|_| None };
        let members = (*count, each.as_slice());
        Volume::of_level(
            &self.level,
            self.interleave_sectors,
            members,
            &sizes,
            self.reserved_sectors,
        )
    }
}

#[pymethods]
impl Map {
    /// Lays `level` out over `members`: their number, or their sizes joined by commas.
    #[new]
    #[pyo3(signature = (level, interleave, members, member_size, reserved))]
    fn new(
        level: String,
        interleave: Option<&str>,
        members: &str,
        member_size: Option<&str>,
        reserved: Option<&str>,
    ) -> PyResult<Self> {
        let read = || {
            Ok(Map {
                level,
                interleave_sectors: sectors("interleave", interleave)?,
                members: parse_member_sizes(members)?,
                given_sectors: sectors("member_size", member_size)?.into_iter().collect(),
                reserved_sectors: sectors("reserved", reserved)?,
            })
        };
        let laid_out = || read().and_then(|map| map.volume().map(|_| map));
        laid_out().map_err(|error| raised(&error))
    }

    /// Its shape as JSON: sectors, members, a picture of the first rows.
    fn shape(&self) -> PyResult<String> {
        let volume = self.volume().map_err(|error| raised(&error))?;
        Ok(json::shape(&volume).to_string())
    }

    /// Where a sector (`7`), a range (`0-127`) or a request (`100+64`) goes, as JSON.
    fn answer(&self, asked: &str) -> PyResult<String> {
        let answer = || {
            let asked = Asked::parse(asked)?;
            let pieces = asked.pieces(&*self.volume()?.layout)?;
            json::answers(&[(asked, pieces)])
        };
        answer().map(|json| json.to_string()).map_err(|error| raised(&error))
    }
}

fn sectors(what: &str, text: Option<&str>) -> Result<Option<u64>> {
    let read = |text: &str| {
        parse_sectors(text).map_err(|error| Error::input(format!("{what} {text}: {error}")))
    };
    text.map(read).transpose()
}
