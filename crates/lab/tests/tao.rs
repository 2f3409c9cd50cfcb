//! Tao's tables of 1996 beside ours: which rows hold, and how well.

use lab::published;
use lab::record::Record;
use lab::reproduce::{self, Comparison};
use lab::rig::sim::SimKind;
use lab::runner;

fn compared(name: &str) -> Comparison {
    let published = published::find(name).unwrap();
    let plan = reproduce::plan(&published).unwrap();
    let finished = runner::run(&plan, &SimKind, None, Vec::new(), &mut |_| {}).unwrap();
    let records: Vec<Record> = finished.into_iter().map(|finished| finished.record).collect();
    Comparison::new(&published, plan.hosts.keys(), &records)
}

/// The errors, in the order of the table.
fn errors(name: &str) -> Vec<(f64, f64)> {
    let cells = compared(name).cells;
    let published = |cell: &reproduce::ComparedCell| cell.published.middle().unwrap();
    cells
        .iter()
        .map(|cell| (published(cell), cell.simulated.unwrap() / published(cell) - 1.0))
        .collect()
}

/// The error of the cell with this published number.
fn error_of(errors: &[(f64, f64)], published: f64) -> f64 {
    errors.iter().find(|(number, _)| (number - published).abs() < 1e-6).unwrap().1
}

/// One size of memory makes both reads, of twice and of four times as much.
#[test]
fn both_reads_of_iozone_within_five_percent() {
    let errors = errors("tao-1996-ffs-iozone");
    for read in [20.963_842, 17.548_385] {
        let error = error_of(&errors, read);
        assert!(error.abs() < 0.05, "{read}: {error}");
    }
}

#[test]
fn steps_of_touch() {
    let compared = compared("tao-1996-ffs-touch");
    for cell in &compared.cells {
        let theirs = cell.published.middle().unwrap();
        let tolerance = match (cell.unit.as_str(), theirs) {
            ("writes", _) => 0.0,
            // The bare disk's retouch and unlink; touch there, and the processor's part of retouch.
            (_, 109.61 | 112.40) => 0.05,
            (_, 234.02 | 2.61) => 0.10,
            _ => 0.04,
        };
        let ours = cell.simulated.unwrap();
        assert!((ours - theirs).abs() <= tolerance * theirs, "{theirs} {}: {ours}", cell.unit);
    }
}

#[test]
fn rates_of_bonnie_on_ccd_and_its_seeks() {
    let errors = errors("tao-1996-ffs-bonnie");
    // By character on three disks, both ways; blocks written.
    for (published, tolerance) in [(10_965.0, 0.05), (10_302.0, 0.05), (11_356.0, 0.05)] {
        let error = error_of(&errors, published);
        assert!(error.abs() < tolerance, "{published}: {error}");
    }
    let seeks = [105.2, 163.7, 181.0];
    let ours = seeks.map(|published| published * (1.0 + error_of(&errors, published)));
    assert!(ours[0] < ours[1] && ours[1] < ours[2], "{ours:?}");
    for published in seeks {
        let error = error_of(&errors, published);
        assert!(error.abs() < 0.15, "{published}: {error}");
    }
}
