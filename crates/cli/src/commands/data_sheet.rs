//! `ileave drives fit --rpm`: a disk from its data sheet.

use super::fitted::{Fitted, finish};
use super::grid::capacity_bytes;
use crate::flags::DriveFitFlags;
use lab::data_sheet::{self, Attachment, DataSheet};
use lab::grid::capacity_in;
use lab::{Error, Result};
use serde_json::Map;

/// The file of a disk, if the flags are those of one.
pub(super) fn fit(flags: &DriveFitFlags) -> Result<Option<String>> {
    let Some(sheet) = sheet(flags)? else { return Ok(None) };
    let made = data_sheet::disk(&sheet)?;
    let checked = "A data sheet has no zones, seeks by distance, or policies of the firmware; \
                   `ileave drives probe --rotating` finds them on the disk.\n";
    let fitted = Fitted {
        drive: sheet.name,
        text: made.text,
        rows: made.rows,
        missing: vec![],
        checked: checked.into(),
        checked_json: Map::new(),
    };
    finish(fitted, flags).map(Some)
}

fn sheet(flags: &DriveFitFlags) -> Result<Option<DataSheet>> {
    let disk = &flags.disk;
    let (Some(rpm), Some(read_mb_per_s)) = (disk.rpm, flags.read_mb) else { return Ok(None) };
    let Some(name) = flags.name.clone().filter(|name| !name.trim().is_empty()) else {
        return Err(Error::input(
            "the disk has no name; give it one with `--name \"My disk 18TB\"`",
        ));
    };
    let Some(capacity_bytes) = capacity_bytes(flags)?.or_else(|| capacity_in(&name)) else {
        let what = format!("`{name}` does not say how large it is; add `--capacity 18TB`");
        return Err(Error::input(what));
    };
    let attachment = match flags.interface.as_deref() {
        None => None,
        Some(word) => Some(Attachment::of_word(&word.to_ascii_lowercase()).ok_or_else(|| {
            let known = Attachment::WORDS.join(" or ");
            Error::input(format!("`--interface` {word}: a rotating disk has {known}"))
        })?),
    };
    let buffer_bytes = disk.buffer.as_deref().map(|text| {
        block::units::parse_bytes(text).map_err(|_| {
            Error::input(format!("`--buffer` {text} is not a size; write it like 256MiB"))
        })
    });
    Ok(Some(DataSheet {
        name,
        capacity_bytes,
        rpm,
        read_mb_per_s,
        seek_average_ms: disk.seek,
        seek_single_ms: disk.track_seek,
        seek_full_ms: disk.full_seek,
        heads: disk.heads,
        buffer_bytes: buffer_bytes.transpose()?,
        write_cache: disk.write_cache,
        queue_depth: flags.queue_depth,
        attachment,
        source: flags.source.clone(),
    }))
}
