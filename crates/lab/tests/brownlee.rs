//! What Brownlee's table of 2005 says about mounts, mirrors and drives, and the model too: on rows with
//! blocks of 16, 32 and 64 KiB.

use lab::published;
use lab::record::{Record, at_json};
use lab::reproduce;
use lab::rig::sim::SimKind;
use lab::runner;

const OLD: &str = "1xst315320a:8GiB";
const RAPTOR: &str = "1xwd740gd:8GiB";
const SEAGATE: &str = "1xst3200822as:8GiB";
const MIRROR: &str = "2xwd740gd:8GiB";

/// Drives, interleave, blocks in sectors, mount.
type Row = (&'static str, u64, u64, &'static str);

const ROWS: [Row; 14] = [
    (OLD, 0, 32, "sync"),
    (OLD, 0, 32, "softdep"),
    (OLD, 0, 32, "async"),
    (RAPTOR, 0, 32, "sync"),
    (RAPTOR, 0, 32, "softdep"),
    (RAPTOR, 0, 32, "async"),
    (RAPTOR, 0, 64, "async"),
    (RAPTOR, 0, 128, "async"),
    (RAPTOR, 0, 128, "sync"),
    (SEAGATE, 0, 32, "sync"),
    (MIRROR, 64, 32, "sync"),
    (MIRROR, 128, 32, "sync"),
    (MIRROR, 64, 128, "sync"),
    (MIRROR, 128, 128, "sync"),
];

fn row(at: &serde_json::Map<String, serde_json::Value>) -> Option<Row> {
    let number = |key: &str| at.get(key).and_then(serde_json::Value::as_u64);
    let text = |key: &str| at.get(key).and_then(serde_json::Value::as_str);
    ROWS.into_iter().find(|(drives, interleave, block, mount)| {
        number("fs.version") == Some(1)
            && text("volume.drives").unwrap_or(MIRROR) == *drives
            && number("volume.interleave").unwrap_or(0) == *interleave
            && number("fs.block") == Some(*block)
            && text("fs.mount") == Some(mount)
    })
}

/// The records of [`ROWS`].
fn records() -> Vec<(Row, Record)> {
    let published = published::find("brownlee-2005").unwrap();
    let mut plan = reproduce::plan(&published).unwrap();
    plan.trials.retain(|trial| row(&at_json(&trial.cell)).is_some());
    let finished = runner::run(&plan, &SimKind, None, Vec::new(), &mut |_| {}).unwrap();
    let records = finished.into_iter().map(|finished| finished.record);
    records.map(|record| (row(&record.at).unwrap(), record)).collect()
}

#[test]
fn mounts_mirrors_and_drives_come_out_in_the_published_order() {
    let records = records();
    let took = |wanted: Row, sample: &str| {
        let (_, record) = records.iter().find(|(row, _)| *row == wanted).unwrap();
        record.samples[sample].as_f64().unwrap()
    };
    for drive in [RAPTOR, OLD] {
        let mounts = ["async", "softdep", "sync"].map(|mount| (drive, 0, 32, mount));
        let tar = mounts.map(|row| took(row, "tar_s"));
        assert!(tar[0] < tar[1] && tar[1] < tar[2], "async, softdep, sync: {tar:?}");
        // Published: 2.0 to 5.6 s. Without buffers that give way it would be 20.
        let left_s = took((drive, 0, 32, "softdep"), "umount_after_tar_s");
        assert!(left_s < 7.0, "{left_s} s");
    }
    let mounts = ["async", "softdep", "sync"].map(|mount| (OLD, 0, 32, mount));
    // Published: 1.5 to 3.5 times, by drive and version.
    let [half, large] = [64, 128].map(|block| took((RAPTOR, 0, block, "async"), "tar_s"));
    assert!(large > 1.2 * half, "blocks of 64 KiB over 32, mounted async: {large} {half}");
    // The tree is removed on a file system that is mounted anew, without a flag.
    let rm = mounts.map(|row| took(row, "rm_s"));
    assert!(rm.iter().all(|s| (s / rm[0] - 1.0).abs() < 0.03), "{rm:?}");
    let sync = (RAPTOR, 0, 32, "sync");

    for sample in ["tar_s", "rm_s"] {
        let over = took((MIRROR, 128, 32, "sync"), sample) / took(sync, sample);
        assert!((1.05..1.4).contains(&over), "a mirror over one drive, {sample}: {over}");
        let over = took((MIRROR, 64, 32, "sync"), sample) / took((MIRROR, 128, 32, "sync"), sample);
        assert!((over - 1.0).abs() < 0.03, "64 sectors over 128, {sample}: {over}");
        // Published, over all rows: 1.80 and 1.50.
        let over = took((SEAGATE, 0, 32, "sync"), sample) / took(sync, sample);
        assert!((1.2..2.2).contains(&over), "a Seagate over a Raptor, {sample}: {over}");
    }
    let large = |interleave| took((MIRROR, interleave, 128, "sync"), "rm_s");
    assert!(large(64) > 1.08 * large(128), "{} against {}", large(64), large(128));
    assert!(took((RAPTOR, 0, 128, "sync"), "rm_s") > 1.15 * took(sync, "rm_s"));
}
