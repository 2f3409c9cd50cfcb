//! How long the arm takes, and a revolution.

use super::params::Block;
use super::{MEASURED, Sheet};
use crate::catalogue::figure::{CYLINDERS_MAX, MOVE_MS_MAX};
use crate::error::{Error, Result};
use crate::text::Source;
use std::fmt::Write as _;

/// What the other figures depend on.
pub(super) struct Mechanics {
    pub(super) rpm: f64,
    /// A seek to the next cylinder, in ms.
    pub(super) single_ms: f64,
}

const TIME: [f64; 2] = [0.0, MOVE_MS_MAX];

/// Writes the figures of the mechanics of a disk of so many cylinders.
pub(super) fn mechanics(
    model: &Block,
    cylinders: u64,
    read: &dyn Fn(&str) -> Result<(String, String)>,
    sheet: &mut Sheet,
) -> Result<Mechanics> {
    const NAME: &str = "Mechanical Model";
    let block = model.block(NAME)?;
    if block.kind != "dm_mech_g1" {
        let message = format!("{} is not known; only dm_mech_g1 is", block.kind);
        return Err(model.wrong_param(NAME, message));
    }
    if let Some(access @ ("constant" | "averageRotation")) = block.word("Access time type") {
        sheet.leave_out(format!("Access time type = {access}: seeks and rotation are modelled"));
    }
    let rpm = block.need("Rotation speed (in rpms)", [60.0, 20_000.0])?;
    sheet.add("rpm", rpm, MEASURED, "");
    sheet.only(block, "Percent error in rpms", 0.0)?;
    sheet.add("head_switch_ms", block.need("Head switch time", TIME)?, MEASURED, "");
    let settle_ms = block.need("Add. write settling delay", [-MOVE_MS_MAX, MOVE_MS_MAX])?;
    sheet.add("write_settle_ms", settle_ms, MEASURED, "");
    let points = seeks(block, cylinders, read, sheet)?;
    let table = "\n[figures.seek_points_ms]\nkind = \"measured\"\nsource = \"disksim\"\nvalue = [";
    let _ = writeln!(sheet.tables, "{table}");
    for row in points.chunks(6) {
        let row: Vec<String> = row.iter().map(|(far, ms)| format!("[{far}, {ms}],")).collect();
        let _ = writeln!(sheet.tables, "  {}", row.join(" "));
    }
    sheet.tables.push_str("]\n");
    for unused in block.unused() {
        sheet.leave_out(unused);
    }
    Ok(Mechanics { rpm, single_ms: points.first().map_or(0.0, |&(_, ms)| ms) })
}

const SINGLE: &str = "Single cylinder seek time";
const AVERAGE: &str = "Average seek time";
const FULL: &str = "Full strobe seek time";

/// How far the curve may be from the full stroke that is stated beside it.
const FULL_STROKE_OFF: f64 = 0.1;

/// The times that are stated beside a curve of seeks, which has them already. One that the curve is far from is doubted: a
/// curve that was cut short is constant behind its last point.
fn beside_the_curve(
    block: &Block,
    points: &[(u64, f64)],
    far: u64,
    sheet: &mut Sheet,
) -> Result<()> {
    for name in [SINGLE, FULL, AVERAGE] {
        let Some(ms) = block.number(name, [0.0, 1e6])? else { continue };
        sheet.leave_out(format!("{name} = {ms}: of a seek, besides the curve"));
        let of_curve = if name == FULL { at(points, far) } else { None };
        let is_off = |curve_ms: &f64| (curve_ms - ms).abs() > FULL_STROKE_OFF * ms;
        if let Some(curve_ms) = of_curve.filter(is_off) {
            let label = &block.file;
            sheet.warnings.push(format!(
                "{label}: `{name}` is {ms}, and the seek curve has {curve_ms:.3} ms over {far} cylinders; the curve is taken: check \
                 that its file is whole, or correct the time"
            ));
        }
    }
    Ok(())
}

/// What a seek takes over so many cylinders by these points: in between by a line, beyond the last as long as that.
fn at(points: &[(u64, f64)], distance: u64) -> Option<f64> {
    let place = points.partition_point(|(far, _)| *far < distance);
    let Some(&(next, next_ms)) = points.get(place) else { return points.last().map(|last| last.1) };
    let Some(&(before, before_ms)) = place.checked_sub(1).map(|before| &points[before]) else {
        return Some(next_ms);
    };
    let share = (distance - before) as f64 / (next - before) as f64;
    Some(before_ms + share * (next_ms - before_ms))
}

/// Distance and time of seeks, by the way in which they are given.
fn seeks(
    block: &Block,
    cylinders: u64,
    read: &dyn Fn(&str) -> Result<(String, String)>,
    sheet: &mut Sheet,
) -> Result<Vec<(u64, f64)>> {
    const CURVE: &str = "Full seek curve";
    let far = cylinders.saturating_sub(1).max(2);
    let kind = block.word("Seek type");
    let curve = || block.source_file(CURVE).or_else(|| block.word(CURVE));
    if let None | Some("extracted") = kind
        && let Some(file) = curve()
    {
        let (label, text) = read(file).map_err(|error| error.context(&block.file))?;
        let points = read_seeks(Source { label: &label, text: &text })?;
        beside_the_curve(block, &points, far, sheet)?;
        return Ok(points);
    }
    let time = |name| block.need(name, TIME);
    match kind {
        Some("constant") => Ok(vec![(1, time("Constant seek time")?)]),
        Some("linear" | "curve") => {
            let mut points = vec![(1, time(SINGLE)?), (far / 3, time(AVERAGE)?), (far, time(FULL)?)];
            points.dedup_by_key(|(distance, _)| *distance);
            Ok(points)
        }
        Some(kind @ ("hpl" | "hplplus10")) => hpl(block, far, kind == "hplplus10"),
        _ => Err(block.wrong_param(
            "Seek type",
            "write extracted, with a `Full seek curve`, or constant, linear, curve, hpl or hplplus10",
        )),
    }
}

/// Ruemmler and Wilkes' curve: a root up to a distance, then a line; the first ten may be given.
fn hpl(block: &Block, far: u64, has_ten: bool) -> Result<Vec<(u64, f64)>> {
    const NAME: &str = "HPL seek equation values";
    let values = block.numbers(NAME)?;
    let &[border, root_a, root_b, line_a, line_b, single] = values.as_slice() else {
        return Err(block.wrong_param(NAME, "write six numbers"));
    };
    let ten = if has_ten { block.numbers("First ten seek times")? } else { vec![] };
    let time = |distance: u64| {
        let d = distance as f64;
        match ten.get(distance as usize - 1) {
            Some(ms) => *ms,
            None if distance == 1 && single >= 0.0 => single,
            None if d < border => root_a + root_b * d.sqrt(),
            None => line_a + line_b * d,
        }
    };
    let mut distances: Vec<u64> = (1..=20).collect();
    while let Some(&last) = distances.last().filter(|last| **last < far) {
        distances.push((last + last / 10).min(far));
    }
    distances.retain(|distance| *distance <= far);
    let points = distances.into_iter().map(|distance| (distance, time(distance)));
    let points: Vec<(u64, f64)> = points.collect();
    match points.iter().find(|(_, ms)| !(0.0..=MOVE_MS_MAX).contains(ms)) {
        Some((distance, ms)) => {
            Err(block.wrong_param(NAME, format!("a seek over {distance} cylinders takes {ms} ms")))
        }
        None => Ok(points),
    }
}

/// A file of lines `distance, ms`, under a line that says how many.
fn read_seeks(source: Source<'_>) -> Result<Vec<(u64, f64)>> {
    const COUNT: &str = "Seek distances measured";
    let mut points: Vec<(u64, f64)> = vec![];
    let (mut stated, mut seeks) = (None, 0);
    for (line, text) in source.lines() {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let wrong = |message: String| -> Error { source.wrong(line, message) };
        if let Some(count) = text.strip_prefix(COUNT) {
            let count = count.trim_start_matches(':').trim();
            let count: u64 = count.parse().map_err(|_| {
                wrong(format!("`{count}` is no number of seeks; write `{COUNT}: 3`"))
            })?;
            stated = Some((line, count));
            continue;
        }
        seeks += 1;
        let fields = text.split_once(',').map(|(far, ms)| (far.trim().parse(), ms.trim().parse()));
        let Some((Ok(distance), Ok(ms))) = fields else {
            return Err(wrong(format!("`{text}` is not a seek; write `cylinders, ms`")));
        };
        if !(0.0..=MOVE_MS_MAX).contains(&ms) || distance > CYLINDERS_MAX {
            let next = format!("write up to {CYLINDERS_MAX} cylinders and {MOVE_MS_MAX} ms");
            return Err(wrong(format!("`{text}` is not a valid seek; {next}")));
        }
        if distance == 0 {
            continue;
        }
        if points.last().is_some_and(|(before, _)| *before >= distance) {
            return Err(wrong(format!(
                "{distance} cylinders are not more than in the line before"
            )));
        }
        points.push((distance, ms));
    }
    if let Some((line, count)) = stated.filter(|(_, count)| *count != seeks) {
        let are = if seeks == 1 { "1 is" } else { &format!("{seeks} are") };
        return Err(source.wrong(
            line,
            format!(
                "`{COUNT}: {count}`, and {are} there; take the whole file, or correct the number"
            ),
        ));
    }
    if points.is_empty() {
        return Err(source.wrong_file("no seek; write lines of `cylinders, ms`"));
    }
    Ok(points)
}
