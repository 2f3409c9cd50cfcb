//! `ileave drives probe --rotating`, and `ileave drives fit` of its result.

use super::fitted::{Fitted, finish};
use super::written::PROBE;
use crate::flags::{DriveFitFlags, DriveProbeFlags};
use lab::probe::{self, Check, DiskFit, Probed};
use lab::{Error, Result};
use serde_json::{Map, json};
use std::path::Path;
use store::input;
use verdict::tables::table;

/// Probes a rotating disk.
#[cfg(target_os = "linux")]
pub(crate) fn probe(device: &Path, flags: &DriveProbeFlags) -> Result<String> {
    use super::run::{note, warn};
    use lab::rig::disks::ProbedDisk;
    if let Some(file) = &flags.out {
        PROBE.refuse_other_file(file)?;
        PROBE.can_be_written(file)?;
    }
    let mut disk = ProbedDisk::open(device)?;
    disk.warnings.iter().for_each(|warning| warn(warning));
    let probed = probe::probe(&mut disk, &mut |step| note(&format!("probing: {step}")))?;
    let Some(file) = &flags.out else { return Ok(probed.json()) };
    PROBE.write(file, probed.json().as_bytes())?;
    Ok(summary(&probed, file))
}

/// Only Linux reads past the page cache.
#[cfg(not(target_os = "linux"))]
pub(crate) fn probe(device: &Path, _: &DriveProbeFlags) -> Result<String> {
    let device = device.display();
    Err(Error::failure(format!("--rotating: {device}: only Linux can probe; probe it there")))
}

fn summary(probed: &Probed, file: &Path) -> String {
    let found = &probed.found;
    let seek_ms = |at: Option<&(u64, f64)>| at.map_or(0.0, |(_, ns)| ns / 1e6);
    format!(
        "{} reads in {:.0} s: {:.1} rpm, {} zones, {:.2} to {:.2} ms to reach a sector\n\
         Probe: {}\nNext: ileave drives fit {2} --name \"My disk\" --out my-disk.toml\n",
        probed.reads(),
        probed.seconds(),
        60e9 / found.revolution_ns,
        found.zones.len(),
        seek_ms(found.seeks.cylinders.first()),
        seek_ms(found.seeks.cylinders.last()),
        file.display()
    )
}

/// The fit of a probe, if the results are one.
pub(crate) fn fit(flags: &DriveFitFlags) -> Result<Option<String>> {
    for path in &flags.results {
        let label = path.display().to_string();
        // What cannot be read is said by the reader of grids.
        let Ok(text) = input::read_text(path, input::RESULTS_BYTES) else { return Ok(None) };
        let Some(probed) = probe::read(&label, &text)? else { continue };
        check_alone(&label, flags)?;
        let name = flags.name.as_deref();
        let fit = probe::fit(&label, &probed, name)?;
        return written(fit, flags).map(Some);
    }
    Ok(None)
}

/// A probe is fitted alone, and says itself what the flags for flash drives say.
fn check_alone(label: &str, flags: &DriveFitFlags) -> Result<()> {
    if flags.results.len() > 1 {
        return Err(Error::input(format!(
            "{label} is a probe of a rotating disk; give it alone, not with other results"
        )));
    }
    let given = [
        ("--device", flags.device.is_some()),
        ("--state", flags.state.is_some()),
        ("--capacity", flags.capacity.is_some()),
        ("--interface", flags.interface.is_some()),
        ("--queue-depth", flags.queue_depth.is_some()),
        ("--power-loss-protection", flags.power_loss_protection),
        ("--read-iops", flags.read_iops.is_some()),
        ("--write-iops", flags.write_iops.is_some()),
        ("--steady-write-iops", flags.steady_write_iops.is_some()),
        ("--read-latency", flags.read_latency.is_some()),
        ("--write-latency", flags.write_latency.is_some()),
        ("--read-mb", flags.read_mb.is_some()),
        ("--write-mb", flags.write_mb.is_some()),
        ("--source", flags.source.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((flag, _)) => Err(Error::input(format!(
            "`{flag}` is of flash drives, and {label} is a probe of a rotating disk; leave it out"
        ))),
    }
}

fn written(fit: DiskFit, flags: &DriveFitFlags) -> Result<String> {
    let headings = [
        "reads that were not used",
        "reads",
        "mean ms",
        "modelled",
        "error %",
        "p99 ms",
        "modelled",
        "error %",
    ];
    let mut checks = table(&headings.map(String::from), 1);
    for check in &fit.checks {
        let mut row = vec![check.name.clone(), check.reads.to_string()];
        for [measured, modelled] in [check.mean_ms, check.p99_ms] {
            row.push(format!("{measured:.3}"));
            row.push(format!("{modelled:.3}"));
            row.push(format!("{:+.1}", 100.0 * (modelled / measured - 1.0)));
        }
        checks.add_row(row);
    }
    let as_json = |check: &Check| {
        let [mean_ms, p99_ms] = [check.mean_ms, check.p99_ms]
            .map(|[measured, modelled]| json!({ "measured": measured, "modelled": modelled }));
        json!({ "reads_of": check.name, "reads": check.reads, "mean_ms": mean_ms, "p99_ms": p99_ms })
    };
    let mut checked_json = Map::new();
    checked_json.insert("checks".into(), fit.checks.iter().map(as_json).collect());
    let fitted = Fitted {
        drive: fit.drive.title,
        text: fit.text,
        rows: fit.rows,
        missing: fit.missing,
        checked: format!("{checks}\n"),
        checked_json,
    };
    finish(fitted, flags)
}
