//! What the data sheet of a flash drive says, and the cells that it stands for.

use super::{BASE_BYTES, DATA_SHEET, Given};
use crate::error::{Error, Result};
use crate::grid::Cell;

/// Each figure is one that a drive can have.
pub(super) fn check(given: &Given) -> Result<()> {
    // What is slower or faster, no figure of the model takes.
    let (rate, moved) = (50.0..=2e7, 2.0..=1e5);
    let (read_us, write_us) = (0.1..=1e6, 0.1..=2e4);
    let figures = [
        ("--read-iops", given.read_iops, &rate, "a second"),
        ("--write-iops", given.write_iops, &rate, "a second"),
        ("--steady-write-iops", given.steady_write_iops, &rate, "a second"),
        ("--read-latency", given.read_latency_us, &read_us, "us"),
        ("--write-latency", given.write_latency_us, &write_us, "us"),
        ("--read-mb", given.read_mb_per_s, &moved, "MB/s"),
        ("--write-mb", given.write_mb_per_s, &moved, "MB/s"),
    ];
    let wrong = figures.iter().find_map(|(flag, value, may_be, unit)| {
        let value = value.filter(|value| !may_be.contains(value))?;
        let (least, most) = (may_be.start(), may_be.end());
        Some(format!("`{flag}`: {value} is not from {least} to {most} {unit}; correct it"))
    });
    wrong.map_or(Ok(()), |wrong| Err(Error::input(wrong)))
}

/// The cells that a data sheet stands for. Its rates are those of many requests in flight, and no host is in them.
pub(super) fn cells(given: &Given) -> Vec<Cell> {
    let cell = |writes, bytes: u32, depth, iops: f64| Cell {
        device: given.name.clone().unwrap_or_else(|| "drive".into()),
        run: DATA_SHEET.into(),
        drives: 1,
        writes,
        random: bytes == BASE_BYTES,
        mix: None,
        bytes,
        depth,
        jobs: 1,
        engine: DATA_SHEET.into(),
        iops,
        mean_us: None,
        p50_us: None,
        p99_us: None,
    };
    let long = 131_072;
    let of = |mb_per_s: f64| mb_per_s * 1e6 / f64::from(long);
    let cells = [
        given.read_latency_us.map(|us| cell(false, BASE_BYTES, 1, 1e6 / us)),
        given.write_latency_us.map(|us| cell(true, BASE_BYTES, 1, 1e6 / us)),
        given.read_iops.map(|iops| cell(false, BASE_BYTES, 256, iops)),
        given.write_iops.map(|iops| cell(true, BASE_BYTES, 256, iops)),
        given.read_mb_per_s.map(|rate| cell(false, long, 32, of(rate))),
        given.write_mb_per_s.map(|rate| cell(true, long, 32, of(rate))),
    ];
    cells.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Judged, drive_file, fit, judge};

    type Set = fn(&mut Given, f64);

    fn sheet(set: Set, value: f64) -> Result<crate::grid::Fit> {
        let mut given = Given { name: Some("My drive 1TB".into()), ..Given::default() };
        set(&mut given, value);
        fit(&[], &given)
    }

    /// Some were dropped, and others made a file that was no TOML.
    #[test]
    fn figures_that_no_drive_has_are_refused_by_name() {
        let figures: [(&str, Set); 7] = [
            ("--read-iops", |given, value| given.read_iops = Some(value)),
            ("--write-iops", |given, value| given.write_iops = Some(value)),
            ("--steady-write-iops", |given, value| given.steady_write_iops = Some(value)),
            ("--read-latency", |given, value| given.read_latency_us = Some(value)),
            ("--write-latency", |given, value| given.write_latency_us = Some(value)),
            ("--read-mb", |given, value| given.read_mb_per_s = Some(value)),
            ("--write-mb", |given, value| given.write_mb_per_s = Some(value)),
        ];
        for (flag, set) in figures {
            for value in [-5.0, 0.0, 1e12, f64::NAN, f64::INFINITY] {
                let said = sheet(set, value).unwrap_err().to_string();
                assert!(said.starts_with(&format!("`{flag}`: {value} is not from ")), "{said}");
            }
        }
        // What may be is fitted, up to the ends.
        let mut refused: Vec<String> = Vec::new();
        for (flag, set) in figures.into_iter().filter(|(flag, _)| !flag.contains("steady")) {
            let ends = match flag {
                "--read-latency" => [0.1, 2000.0],
                "--write-latency" => [0.1, 2e4],
                "--read-mb" | "--write-mb" => [2.0, 1e5],
                _ => [50.0, 2e7],
            };
            for value in ends {
                if let Err(error) = sheet(set, value) {
                    refused.push(format!("{flag} {value}: {error}"));
                }
            }
        }
        assert_eq!(refused, [""; 0]);
    }

    /// 5000 MB/s alone made a file of 620 MB/s, and 7000 beside a million reads one of 4826, without a doubt.
    #[test]
    fn what_a_sheet_says_is_met_or_doubted() {
        let long = |given: Given| {
            let made = fit(&[], &Given { name: Some("F 1TB".into()), ..given }).unwrap();
            let (judged, _) = judge(made.drive.flash().unwrap(), &made.used).unwrap();
            let worst = judged.iter().map(Judged::error).fold(0.0, f64::max);
            (worst, drive_file(&made.fitting).contains("\ndoubt = "))
        };
        let reads = |mb_per_s| Given { read_mb_per_s: Some(mb_per_s), ..Given::default() };
        for mb_per_s in [300.0, 540.0, 3500.0, 5000.0, 7000.0, 14_000.0] {
            let (worst, doubted) = long(reads(mb_per_s));
            assert!(worst < 0.05 && !doubted, "{mb_per_s}: {worst}");
        }
        let all = Given { read_iops: Some(1e6), read_latency_us: Some(60.0), ..reads(7000.0) };
        let (worst, doubted) = long(all);
        assert!(worst < 0.05 && !doubted, "{worst}");
        // 32 reads of 128 KiB that take 2 ms each are 2.1 GB/s.
        let (worst, doubted) = long(Given { read_latency_us: Some(2000.0), ..reads(14_000.0) });
        assert!(worst > 0.14 && doubted, "{worst}");
    }

    #[test]
    fn a_disk_that_turns_is_no_flash() {
        let said = sheet(|given, us| given.read_latency_us = Some(us), 13_900.0);
        let said = said.unwrap_err().to_string();
        for words in ["13.900 ms", "a disk that turns", "--rotating", "--rpm", "cloud volume"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let grid = "device,rw,bs,qd,jobs,iops\nHDD 1TB,randread,4096,16,1,130\nHDD 1TB,randread,4096,1,1,72\n";
        let cells = crate::grid::read("grid.csv", grid).unwrap().cells;
        let said = fit(&cells, &Given::default()).unwrap_err().to_string();
        assert!(said.starts_with("HDD 1TB (randread 4K depth 1: 72/s)"), "{said}");
    }
}
