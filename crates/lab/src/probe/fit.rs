//! From what was found to a drive file, and how well that predicts.

mod figures;

use super::check::{Compared, RANDOM, SEQUENTIAL, STARTS};
use super::modelled::Modelled;
use super::result::Probed;
use crate::catalogue::{self, Draft, Drive, Kind};
use crate::error::{Error, Result};
use std::fmt::Display;

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

impl From {
    /// As a file says it.
    fn cited(self) -> (Kind, &'static str) {
        match self {
            From::Measured => (Kind::Measured, "probe"),
            From::Computed => (Kind::Computed, "ileave"),
            From::Estimate => (Kind::Estimate, "guess"),
        }
    }
}

/// The figures on their way to a file.
#[derive(Debug)]
struct Sheet {
    draft: Draft,
    missing: Vec<String>,
}

impl Sheet {
    fn add(&mut self, key: &'static str, value: impl Display, from: From, note: impl Into<String>) {
        self.draft.add(key, value, from.cited(), note);
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
    let mut sheet = Sheet { draft: Draft::new(name, sources(probed)), missing: vec![] };
    figures::all(probed, &mut sheet);
    let Sheet { mut draft, missing } = sheet;
    draft.note = Some(format!("Not known: {}.", missing.join("; ")));
    let text = draft.text();
    let drive = catalogue::drive_from(label, &text)
        .map_err(|error| error.context(format!("{label}, as a drive file")))?;
    let checks = checks(probed, &drive)?;
    Ok(DiskFit { text, drive, rows: draft.rows(), missing, checks })
}

fn sources(probed: &Probed) -> Vec<(&'static str, String)> {
    let origin = format!(
        "`ileave drives probe --rotating` of {}: {} reads in {:.0} s",
        probed.device,
        probed.reads(),
        probed.seconds()
    );
    vec![
        ("probe", origin),
        ("ileave", "from the other figures of this file".into()),
        ("guess", "our estimate".into()),
    ]
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
