//! Tao's tables of 1996 beside ours: which rows hold, and how well.

use super::results::compared;
use lab::published;
use std::sync::LazyLock;
use verdict::reproduce::{ComparedCell, Comparison};

pub(super) static COMPARED: LazyLock<Comparison> =
    LazyLock::new(|| compared("tao-1996", |_| true).0);

/// Published and ours of a quantity, in the order of the table, on volumes that `on` takes.
fn pairs(quantity: &str, on: fn(&ComparedCell) -> bool) -> Vec<(f64, f64)> {
    let of = |cell: &&ComparedCell| cell.quantity == quantity && !cell.repeats && on(cell);
    let pair = |cell: &ComparedCell| (cell.published.middle().unwrap(), cell.simulated.unwrap());
    COMPARED.cells.iter().filter(of).map(pair).collect()
}

fn in_a_box(cell: &ComparedCell) -> bool {
    cell.at.contains_key("volume.controller")
}

fn not_in_a_box(cell: &ComparedCell) -> bool {
    !in_a_box(cell)
}

/// Each pair within this share of what was published.
fn assert_within(tolerance: f64, pairs: &[(f64, f64)]) {
    for (theirs, ours) in pairs {
        let error = ours / theirs - 1.0;
        assert!(error.abs() <= tolerance, "{theirs}: {ours}");
    }
}

/// Every number of the four files: 60 of Bonnie, 4 of iozone (each once, not as a rate and a time), 48 of
/// touch without two columns of time, and 5 of the text, two of them said twice.
#[test]
fn every_published_row_is_there() {
    let store::published::Published { cells, .. } = published::find("tao-1996").unwrap();
    let count = |workload: &str| cells.iter().filter(|cell| cell.workload == workload).count();
    let counts = ["bonnie", "iozone", "touch", "untar"].map(count);
    assert_eq!((counts, cells.len()), ([60, 4 + 4, 48, 1], 117));
    let text = include_str!("../../../../../published/tao-1996-prose.csv");
    // All but the heading and the price.
    assert_eq!(
        text.lines().count() - 2,
        cells.iter().filter(|cell| cell.unit == "MB/s").count() + 1
    );
    assert_eq!(COMPARED.summary.cells, 115);
}

/// One time for a command, fitted to retouch alone, makes touch and unlink too; what comes over the bus at
/// most, and what the drives give, make iozone.
#[test]
fn controllers_under_touch_and_iozone() {
    for step in ["touch", "retouch", "unlink"] {
        assert_within(0.0, &pairs(&format!("touch.{step}_writes"), in_a_box));
        assert_within(0.06, &pairs(&format!("touch.{step}_s"), in_a_box));
    }
    assert_within(0.15, &pairs("iozone.write_mb_per_s", in_a_box));
    assert_within(0.05, &pairs("iozone.read_mb_per_s", in_a_box));
    let fitted = |cell: &&ComparedCell| cell.fitted && in_a_box(cell);
    let fitted: Vec<&str> =
        COMPARED.cells.iter().filter(fitted).map(|cell| cell.quantity.as_str()).collect();
    assert_eq!(fitted, ["touch.retouch_s", "touch.retouch_cpu"].repeat(2));
}

/// As RAID 5 of five drives, and of seven with no more than a cluster in memory, which were inferred from
/// these rows: first the RAIDION, then the CMD.
#[test]
fn boxes_under_bonnie() {
    let of = |quantity: &str| pairs(&format!("bonnie.{quantity}"), in_a_box);
    for quantity in ["putc_kib_per_s", "write_kib_per_s"] {
        assert_within(0.10, &of(quantity)[1..]);
        assert_within(0.50, &of(quantity)[..1]);
    }
    for quantity in ["rewrite_kib_per_s", "read_kib_per_s", "getc_kib_per_s"] {
        assert_within(0.25, &of(quantity)[1..]);
        assert_within(0.60, &of(quantity)[..1]);
    }
}

/// One size of memory makes both reads, of twice and of four times as much.
#[test]
fn both_reads_of_iozone_within_five_percent() {
    assert_within(0.05, &pairs("iozone.read_mb_per_s", not_in_a_box));
}

/// 20314, 10000 and 10000 with each change waited for; 314, 0 and 305 with none.
#[test]
fn writes_of_touch_are_exact() {
    let of = |step: &str| pairs(&format!("touch.{step}_writes"), not_in_a_box);
    assert_eq!(of("touch"), [(20314.0, 20314.0), (314.0, 314.0)]);
    assert_eq!(of("retouch"), [(10000.0, 10000.0), (0.0, 0.0)]);
    assert_eq!(of("unlink"), [(10000.0, 10000.0), (305.0, 305.0)]);
    assert_within(0.06, &pairs("touch.touch_reads", not_in_a_box));
}

#[test]
fn times_of_touch() {
    let of = |step: &str| pairs(&format!("touch.{step}_s"), not_in_a_box);
    // The bare disk's touch; its retouch and unlink; and the fitted ones on ccd, of which the processor's
    // part of retouch comes out worst.
    assert_within(0.10, &of("touch"));
    assert_within(0.05, &of("retouch")[..1]);
    assert_within(0.10, &of("retouch")[1..]);
    assert_within(0.05, &of("unlink"));
}

#[test]
fn untar_on_ccd() {
    assert_within(0.15, &pairs("untar", not_in_a_box));
}

#[test]
fn rates_of_bonnie_on_ccd_and_its_seeks() {
    let of = |quantity: &str| pairs(&format!("bonnie.{quantity}"), not_in_a_box);
    // The second is ccd of three disks.
    for quantity in ["putc_kib_per_s", "getc_kib_per_s", "write_kib_per_s"] {
        assert_within(0.05, &of(quantity)[1..2]);
    }
    let seeks = of("seeks_per_s");
    assert!(seeks.is_sorted_by(|a, b| a.1 < b.1), "{seeks:?}");
    assert_within(0.15, &seeks);
}
