//! What `ileave map --json` prints.

use super::pieces::{Asked, Piece, spread};
use super::straddle::{Count, Pattern};
use super::{Volume, picture};
use crate::error::{Error, Result};
use block::Place;
use block::layout::Part;
use serde_json::{Value as Json, json};

/// More sectors one by one than anyone reads.
const SECTORS_MAX: u64 = 1 << 20;

fn places(places: &[Place], on: u64) -> Json {
    places.iter().map(|place| json!([place.member, place.sector + on])).collect()
}

/// A sector and where it is; of a range, one of these each; of a request, one with its pieces.
///
/// # Errors
///
/// Where a range has too many sectors to list.
pub fn answers(answers: &[(Asked, Vec<Piece>)]) -> Result<Json> {
    let mut rows: Vec<Json> = Vec::new();
    for (asked, pieces) in answers {
        let (sector, sectors) = asked.extent();
        if let Asked::Request(..) = asked {
            let each: Vec<Json> = pieces
                .iter()
                .map(|piece| {
                    json!({
                        "sector": piece.sector,
                        "sectors": piece.sectors,
                        "places": places(&piece.places, 0),
                    })
                })
                .collect();
            rows.push(json!({
                "sector": sector,
                "sectors": sectors,
                "split": spread(pieces) > 1,
                "places": pieces.first().map_or_else(|| json!([]), |p| places(&p.places, 0)),
                "pieces": each,
            }));
            continue;
        }
        if rows.len() as u64 + sectors > SECTORS_MAX {
            return Err(Error::input(format!(
                "`{asked}` has {sectors} sectors, too many to list one by one; ask for it as a \
                 request, `{sector}+{sectors}`"
            )));
        }
        for piece in pieces {
            rows.extend((0..piece.sectors).map(
                |on| json!({ "sector": piece.sector + on, "places": places(&piece.places, on) }),
            ));
        }
    }
    Ok(Json::from(rows))
}

/// The shape of a layout.
pub fn shape(volume: &Volume) -> Json {
    let members: Vec<Json> = volume
        .members
        .iter()
        .map(|member| json!({ "name": member.name, "sectors": member.sectors }))
        .collect();
    let mut shape = json!({
        "level": volume.level,
        "interleave_sectors": volume.interleave_sectors,
        "sectors": volume.layout.sectors(),
        "members": members,
        "notes": volume.notes,
        "picture": picture::picture(volume).lines().collect::<Vec<_>>(),
    });
    if let Some(segments) = volume.layout.segments() {
        let segment = |(sector, sectors, parts): (u64, u64, &[Part])| {
            let part = |part: &Part| json!([part.member, part.start_sector, part.sectors]);
            let parts: Vec<Json> = parts.iter().map(part).collect();
            json!({ "sector": sector, "sectors": sectors, "parts": parts })
        };
        shape["segments"] = segments.list().map(segment).collect();
    }
    shape
}

/// Shares of requests that straddle.
pub fn straddles(counts: &[(Pattern, Count)]) -> Json {
    let row = |(pattern, count): &(Pattern, Count)| {
        json!({
            "request_sectors": pattern.sectors,
            "align_sectors": pattern.align_sectors,
            "requests": count.requests,
            "split": count.split,
            "share": count.share(),
            "counted_sectors": count.counted_sectors,
        })
    };
    counts.iter().map(row).collect()
}
