//! The models against measured traces of the real drives.
//!
//! The traces may not be carried here. Where `ILEAVE_VALIDATION` names the folder that holds them, the
//! errors that docs/drives.md states are asserted; else the test says that it was skipped, and fails where
//! everything is required (`ILEAVE_REQUIRE`), unless the variable is empty: then the folder is known to be missing.

use lab::validate::replay;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use store::played::Served;
use verdict::validation::{Comparison, Figures, Validation};

/// What the traces in `folder` show.
fn validate(folder: &Path, measured_drives: Option<&Path>) -> lab::Result<Vec<Validation>> {
    let played = lab::validate::validate(folder, measured_drives)?;
    Ok(played.iter().map(Validation::new).collect())
}

/// For each trace: `DiskSim`'s demerit in ms, and the most that ours may be: over the replays with
/// moved gaps as a share of the mean, and of reads and writes in the exact one.
const TOLERANCES: [(&str, f64, f64, f64, f64); 5] = [
    ("atlas_III", 0.378, 2.5, 2.5, 6.0),
    ("barracuda", 0.349, 2.0, 2.5, 3.0),
    // One write of 3,406 takes 12.3 ms and is the whole of this error: see the test below.
    ("cheetah9LP", 0.107, 2.2, 2.5, 12.0),
    ("hp_c3323a", 0.306, 1.5, 2.0, 2.0),
    ("ibm18es", 0.135, 1.6, 1.5, 2.5),
];

#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
pub(crate) fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("ILEAVE_VALIDATION");
    let required = std::env::var_os("ILEAVE_REQUIRE").is_some();
    assert!(
        named.is_some() || !required,
        "required, but ILEAVE_VALIDATION does not name the folder of traces"
    );
    let folder = named.filter(|folder| !folder.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        eprintln!("SKIPPED: ILEAVE_VALIDATION does not name the folder of measured traces");
    }
    folder
}

/// Whether the folder has this too. Where everything is required, what it has not fails the test.
fn has(path: &Path) -> bool {
    let required = std::env::var_os("ILEAVE_REQUIRE").is_some();
    assert!(path.exists() || !required, "required, but there is no {}", path.display());
    path.exists()
}

fn percent(figures: &Figures) -> f64 {
    figures.demerit_percent().unwrap()
}

fn find<'a>(validations: &'a [Validation], trace: &str) -> &'a Validation {
    validations.iter().find(|validation| validation.trace == trace).unwrap()
}

#[test]
fn every_drive_is_nearer_than_disksim() {
    let Some(folder) = folder() else { return };
    let validations = validate(&folder, None).unwrap();
    for (trace, disksim_ms, moved_percent, read_percent, write_percent) in TOLERANCES {
        let validation = find(&validations, trace);
        let Comparison { all, reads, writes, .. } = &validation.whole;
        let (moved_ms, _, moved_most_ms) = validation.moved_demerit_ms();
        assert!(all.demerit_ms < disksim_ms && moved_most_ms < disksim_ms, "{trace}: {all:?}");
        assert!(moved_ms / all.measured_mean_ms < moved_percent / 100.0, "{trace}: {moved_ms} ms");
        assert!(percent(reads) < read_percent, "{trace}: {reads:?}");
        assert!(percent(writes) < write_percent, "{trace}: {writes:?}");
        let mean_off = all.modelled_mean_ms / all.measured_mean_ms - 1.0;
        assert!(mean_off.abs() < 0.012, "{trace}: the mean is off by {mean_off}");
        // What was adjusted on the first half holds on the second.
        let second = &validation.halves[1];
        assert!(percent(&second.all) < 2.6, "{trace}: {second:?}");
        assert!(
            percent(&second.reads) < 2.5 && percent(&second.writes) < 5.5,
            "{trace}: {second:?}"
        );
    }
}

/// Line 312 of the Cheetah's trace.
const OUTLIER: usize = 311;

/// The write error of the Cheetah is one request: line 312, a write of 4 sectors in the only burst of
/// the trace, took two revolutions. Nothing in the model is bent to it.
#[test]
fn one_request_is_the_write_error_of_the_cheetah() {
    let Some(folder) = folder() else { return };
    let text = std::fs::read_to_string(folder.join("cheetah9LP.trace")).unwrap();
    let trace = lab::validate::read_trace("cheetah9LP", &text).unwrap();
    let drive = lab::catalogue::drive("st39102lw").unwrap();
    let disk = drive.disk().unwrap();
    let bus = disk.measured_bus_bytes_per_s().unwrap();
    let mut modelled = replay(&disk.spec().unwrap(), bus, &trace, None).unwrap();
    assert!(trace[OUTLIER].writes() && trace[OUTLIER].service_ns > 12_000_000);
    let mut others: Vec<Served> = trace.iter().map(Served::from).collect();
    others.remove(OUTLIER);
    modelled.remove(OUTLIER);
    let figures = Comparison::new(&others, &modelled).writes;
    assert!(percent(&figures) < 4.0, "{figures:?}");
}

/// From the measured figures and what the importer concludes from them: the most that the demerits of
/// all, reads and writes may be, in per cent. (The IBM's writes cost a ninth of what was measured of
/// them alone, and no figure says so.)
const FROM_FIGURES_ALONE: [(&str, f64, f64, f64); 5] = [
    ("atlas_III", 2.6, 2.3, 7.6),
    ("barracuda", 3.4, 2.9, 9.8),
    ("cheetah9LP", 3.4, 2.2, 22.0),
    ("hp_c3323a", 2.4, 2.6, 3.0),
    ("ibm18es", 7.6, 2.0, 94.0),
];

/// Nothing was adjusted to any drive here, but the rules were learnt on all: docs/drives.md has the
/// figures with each left out.
#[test]
fn measured_figures_alone_make_a_fair_model() {
    let Some(folder) = folder() else { return };
    let drives = folder.join("../data/measured-drives.json");
    if !has(&drives) {
        return;
    }
    let validations = validate(&folder, Some(&drives)).unwrap();
    for (trace, most_percent, most_reads, most_writes) in FROM_FIGURES_ALONE {
        let Comparison { all, reads, writes, .. } = find(&validations, trace).whole;
        assert!(percent(&all) < most_percent, "{trace}: {all:?}");
        assert!(percent(&reads) < most_reads, "{trace}: {reads:?}");
        assert!(percent(&writes) < most_writes, "{trace}: {writes:?}");
    }
}

/// From `DiskSim`'s own parameters of the drives: its demerit in ms where it states one, and the most that the
/// demerits of all, reads and writes may be, in per cent.
const FROM_PARAMETERS_ALONE: [(&str, Option<f64>, f64, f64, f64); 6] = [
    // A write after a read that hit takes 0.28 ms longer, which no parameter says.
    ("atlas_III", Some(0.378), 2.5, 2.2, 6.4),
    ("barracuda", Some(0.349), 3.9, 3.4, 5.5),
    // One write of 3,406, as above.
    ("cheetah9LP", Some(0.107), 1.9, 1.8, 11.8),
    ("hp_c3323a", Some(0.306), 1.6, 1.7, 1.9),
    ("ibm18es", Some(0.135), 1.5, 1.3, 3.0),
    ("st41601n", None, 0.8, 0.6, 2.3),
];

/// No figure was set on a drive. The rules were chosen with these six in view; docs/drives.md says what each is worth.
#[test]
fn parameters_alone_make_models_nearer_than_disksim() {
    let Some(folder) = folder() else { return };
    let specs = folder.join("disksim");
    if !has(&specs) {
        return;
    }
    let drives = tempfile::tempdir().unwrap();
    let mut named = String::new();
    for entry in std::fs::read_dir(&specs).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), drives.path().join(entry.file_name())).unwrap();
    }
    for (trace, ..) in FROM_PARAMETERS_ALONE {
        writeln!(named, "{trace} = \"{trace}.diskspecs\"").unwrap();
    }
    std::fs::write(drives.path().join("drives.toml"), named).unwrap();
    let tried = lab::validate::validate_each(&folder, drives.path()).unwrap();
    for (trace, disksim_ms, most_all, most_reads, most_writes) in FROM_PARAMETERS_ALONE {
        let (_, played) = tried.iter().find(|(name, _)| name == trace).unwrap();
        let Comparison { all, reads, writes, .. } = Validation::new(played.as_ref().unwrap()).whole;
        assert!(disksim_ms.is_none_or(|ms| all.demerit_ms < ms), "{trace}: {all:?}");
        assert!(percent(&all) < most_all, "{trace}: {all:?}");
        assert!(percent(&reads) < most_reads, "{trace}: {reads:?}");
        assert!(percent(&writes) < most_writes, "{trace}: {writes:?}");
    }
    // The goal is 6 % of writes, single outliers named: without its one, the Cheetah is within it.
    let (_, cheetah) = tried.iter().find(|(name, _)| name == "cheetah9LP").unwrap();
    let cheetah = cheetah.as_ref().unwrap();
    let (mut others, mut modelled) = (cheetah.requests.clone(), cheetah.exact_ns.clone());
    assert!(others[OUTLIER].writes && others[OUTLIER].measured_ns > 12_000_000);
    others.remove(OUTLIER);
    modelled.remove(OUTLIER);
    let figures = Comparison::new(&others, &modelled).writes;
    assert!(percent(&figures) < 5.0, "{figures:?}");
}

/// What the catalogue says a model errs by is what it errs by: over the second half of the trace, of all
/// requests, reads or writes, whichever is most.
#[test]
fn the_catalogue_says_what_validation_shows() {
    let Some(folder) = folder() else { return };
    let mut checked = 0;
    for validation in validate(&folder, None).unwrap() {
        let half = &validation.halves[1];
        let most =
            [&half.all, &half.reads, &half.writes].map(percent).into_iter().fold(0.0, f64::max);
        let drive = lab::catalogue::drive(&validation.drive).unwrap();
        let said = drive.figures.model_error_percent.unwrap();
        assert!((said - most).abs() < 0.06, "{}: {most}, not {said}", validation.drive);
        checked += 1;
    }
    assert_eq!(checked, 5);
}
