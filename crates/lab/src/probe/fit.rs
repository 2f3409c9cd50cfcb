//! From what was found to a drive file, and how well that predicts.

mod figures;

use super::check::{Compared, RANDOM, SEQUENTIAL, STARTS};
use super::modelled::Modelled;
use super::result::Probed;
use crate::catalogue::{self, Drive, MADE};
use crate::error::{Error, Result};
use std::fmt::{Display, Write as _};

/// A fitted disk.
#[derive(Clone, Debug)]
pub struct DiskFit {
    /// Its file.
    pub text: String,
    /// The disk.
    pub drive: Drive,
    /// Figure, value and where it is from.
    pub rows: Vec<[String; 3]>,
    /// What the reads do not say, and what stands in its place.
    pub missing: Vec<String>,
    /// Reads that were not used, as measured and as modelled.
    pub checks: Vec<Check>,
}

/// Reads that were not used.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Which.
    pub name: String,
    /// How many.
    pub reads: usize,
    /// Mean times, measured and modelled, in ms.
    pub mean_ms: [f64; 2],
    /// 99th percentiles, measured and modelled, in ms.
    pub p99_ms: [f64; 2],
}

/// Where a figure is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// Reads.
    Measured,
    /// Others of the figures.
    Computed,
    /// Neither.
    Estimate,
}

/// The figures on their way to a file.
#[derive(Debug, Default)]
struct Sheet {
    figures: Vec<(&'static str, String, From, String)>,
    missing: Vec<String>,
}

impl Sheet {
    fn add(&mut self, key: &'static str, value: impl Display, from: From, note: impl Into<String>) {
        self.figures.push((key, value.to_string(), from, note.into()));
    }

    /// A time.
    fn add_ms(&mut self, key: &'static str, ns: f64, from: From, note: impl Into<String>) {
        self.add(key, (ns.max(0.0)).round() / 1e6, from, note);
    }
}

/// Makes a drive of `probed`, called `name` or as the device, and predicts the reads that were not used.
///
/// # Errors
///
/// Where no drive can be built from it.
pub fn fit(label: &str, probed: &Probed, name: Option<&str>) -> Result<DiskFit> {
    let name = name.unwrap_or(&probed.device);
    if name.trim().is_empty() {
        return Err(Error::input("the drive has no name; give it one with `--name`"));
    }
    let mut sheet = Sheet::default();
    figures::all(probed, &mut sheet);
    let text = file(name, probed, &sheet);
    let drive = catalogue::drive_from(label, &text)
        .map_err(|error| error.context(format!("{label}, as a drive file")))?;
    let rows = sheet.figures.iter().map(|(key, value, from, note)| {
        let from = if *from == From::Estimate { format!("estimate: {note}") } else { note.clone() };
        [(*key).to_string(), shortened(value), from]
    });
    let rows = rows.collect();
    let checks = checks(probed, &drive)?;
    Ok(DiskFit { text, drive, rows, missing: sheet.missing, checks })
}

/// A list is as long as it is: its ends will do.
fn shortened(value: &str) -> String {
    let value = value.trim_matches('"');
    let Some(inner) = value.strip_prefix('[') else { return value.into() };
    match inner.matches(['[', '{']).count() {
        1 => "1 entry".into(),
        count => format!("{count} entries"),
    }
}

fn file(name: &str, probed: &Probed, sheet: &Sheet) -> String {
    let mut text = format!("{MADE}\nname = {}\n", quoted(name));
    let missing = quoted(&format!("Not known: {}.", sheet.missing.join("; ")));
    let _ = writeln!(text, "note = {missing}");
    let origin = format!(
        "`ileave drives probe --rotating` of {}: {} reads in {:.0} s",
        probed.device,
        probed.reads(),
        probed.seconds()
    );
    let _ = writeln!(text, "\n[sources]\nprobe = {}", quoted(&origin));
    let _ = writeln!(text, "ileave = \"from the other figures of this file\"");
    let _ = writeln!(text, "guess = \"our estimate\"\n\n[figures]");
    for (key, value, from, note) in &sheet.figures {
        let (kind, source) = match from {
            From::Measured => ("measured", "probe"),
            From::Computed => ("computed", "ileave"),
            From::Estimate => ("estimate", "guess"),
        };
        let _ = writeln!(
            text,
            "{key} = {{ value = {value}, kind = \"{kind}\", source = \"{source}\", note = {} }}",
            quoted(note)
        );
    }
    text
}

/// As a text of TOML.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// The reads that were not used, on the drive.
fn checks(probed: &Probed, drive: &Drive) -> Result<Vec<Check>> {
    let mut disk = Modelled::new(drive, 0)?;
    let random = Compared::of(probed.step(RANDOM), &mut disk)?;
    let mut checks = vec![check("random, one unit".into(), &random)];
    let in_order = probed.step(SEQUENTIAL);
    let places = in_order.chunks(in_order.len().div_ceil(STARTS.len()).max(1));
    for (place, reads) in STARTS.iter().zip(places) {
        let mut compared = Compared::of(reads, &mut disk)?;
        // Where the platter stood before the first is chance.
        compared.measured.remove(0);
        compared.modelled.remove(0);
        checks.push(check(format!("64 KiB in order, {place}"), &compared));
    }
    checks.retain(|check| check.reads > 0);
    Ok(checks)
}

fn check(name: String, compared: &Compared) -> Check {
    Check {
        name,
        reads: compared.measured.len(),
        mean_ms: compared.means(),
        p99_ms: compared.percentiles(99.0),
    }
}
