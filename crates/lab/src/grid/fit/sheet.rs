//! What the data sheet of a flash drive says, and the cells that it stands for.

use super::{BASE_BYTES, DATA_SHEET, Given};
use crate::error::{Error, Result};
use crate::grid::Cell;

/// Each figure is one that a drive can have.
pub(super) fn check(given: &Given) -> Result<()> {
    // What is slower or faster, no figure of the model takes.
    let (rate, steady, moved) = (50.0..=2e7, STEADY_MIN..=2e7, 2.0..=1e5);
    let (read_us, write_us) = (0.1..=1e6, 0.1..=2e4);
    let figures = [
        ("--read-iops", given.read_iops, &rate, "a second"),
        ("--write-iops", given.write_iops, &rate, "a second"),
        ("--steady-write-iops", given.steady_write_iops, &steady, "a second"),
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
    if let Some(wrong) = wrong {
        return Err(Error::input(wrong));
    }
    contradiction(given).map_or(Ok(()), |said| Err(Error::input(format!("{said}; correct one"))))
}

/// Two figures of a sheet that no drive has together. A write alone may be faster than the most writes a second say: the buffer
/// answers it.
fn contradiction(given: &Given) -> Option<String> {
    if let Some((most, steady)) = given.write_iops.zip(given.steady_write_iops)
        && steady > most
    {
        return Some(format!(
            "`--steady-write-iops` {steady} is above `--write-iops` {most}, the most that the drive writes"
        ));
    }
    if let Some((long_mb, steady)) = given.write_mb_per_s.zip(given.steady_write_iops) {
        let steady_mb = steady * f64::from(BASE_BYTES) / 1e6;
        if steady_mb > ROUNDED * long_mb {
            return Some(format!(
                "`--steady-write-iops` {steady} are {steady_mb:.0} MB/s, above `--write-mb` {long_mb}, the most that the \
                 drive writes"
            ));
        }
    }
    let (alone_us, most) = given.read_latency_us.zip(given.read_iops)?;
    (1e6 / alone_us > ROUNDED * most).then(|| {
        format!(
            "`--read-latency` {alone_us} is {:.0} reads a second one after the other, above `--read-iops` {most}, the \
             most that the drive reads",
            1e6 / alone_us
        )
    })
}

/// Figures of sheets are rounded, by as much as this.
const ROUNDED: f64 = 1.05;

/// Fewer steady writes a second are not simulated for long enough to be held to the sheet.
const STEADY_MIN: f64 = 200.0;

/// Sheets of drives for servers give the writes that last as the most: nothing is said of others then.
fn most_writes(given: &Given) -> Option<f64> {
    given
        .write_iops
        .filter(|most| given.steady_write_iops.is_none_or(|steady| *most > 1.01 * steady))
}

/// Whether all that is known of random writes is their rate without erased blocks.
pub(super) fn is_steady_alone(given: &Given, used: &[Cell]) -> bool {
    let is_other = |cell: &Cell| cell.writes && cell.is_measured();
    given.steady_write_iops.is_some() && most_writes(given).is_none() && !used.iter().any(is_other)
}

/// The cell that a sheet's steady writes stand for.
pub(super) fn steady(given: &Given) -> Option<Cell> {
    let iops = given.steady_write_iops?;
    Some(Cell { steady: true, ..cell(given, true, BASE_BYTES, 256, iops) })
}

fn cell(given: &Given, writes: bool, bytes: u32, depth: u32, iops: f64) -> Cell {
    Cell {
        device: given.name.clone().unwrap_or_else(|| "drive".into()),
        run: DATA_SHEET.into(),
        drives: 1,
        writes,
        random: bytes == BASE_BYTES,
        steady: false,
        mix: None,
        bytes,
        depth,
        jobs: 1,
        engine: DATA_SHEET.into(),
        iops,
        mean_us: None,
        p50_us: None,
        p99_us: None,
    }
}

/// The cells that a data sheet stands for, without [`steady`]. Its rates are those of many requests in flight, and no host is in them.
pub(super) fn cells(given: &Given) -> Vec<Cell> {
    let cell = |writes, bytes, depth, iops| cell(given, writes, bytes, depth, iops);
    let long = 131_072;
    let of = |mb_per_s: f64| mb_per_s * 1e6 / f64::from(long);
    let cells = [
        given.read_latency_us.map(|us| cell(false, BASE_BYTES, 1, 1e6 / us)),
        given.write_latency_us.map(|us| cell(true, BASE_BYTES, 1, 1e6 / us)),
        given.read_iops.map(|iops| cell(false, BASE_BYTES, 256, iops)),
        most_writes(given).map(|iops| cell(true, BASE_BYTES, 256, iops)),
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
                "--read-iops" => [500.0, 2e7],
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

    /// The line that is printed for an Optane drive made one of TLC flash with garbage collection.
    #[test]
    fn what_writes_in_place_collects_no_garbage() {
        let of = |name: &str, steady| Given {
            name: Some(name.into()),
            capacity_bytes: Some(800_000_000_000),
            power_loss_protection: true,
            read_iops: Some(1.55e6),
            write_iops: Some(1.6e6),
            steady_write_iops: steady,
            read_latency_us: Some(5.0),
            write_latency_us: Some(5.0),
            ..Given::default()
        };
        for steady in [None, Some(1.5e6)] {
            let made = fit(&[], &of("Intel Optane P5800X", steady)).unwrap();
            let figures = &made.drive.flash().unwrap().figures;
            let made_of = (figures.write_amplification, figures.program_wait_us);
            assert_eq!(made_of, (1.0, 0.0));
            assert_eq!((figures.reserve, figures.program_us), (0, 5.0));
            assert!(!drive_file(&made.fitting).contains("TLC"), "{}", drive_file(&made.fitting));
        }
        let made = fit(&[], &of("PM9A3", None)).unwrap();
        assert!(made.drive.flash().unwrap().figures.write_amplification > 1.5);
    }

    /// The sheet of a disk of 18 TB made a flash drive without a word.
    #[test]
    fn the_sheet_of_a_disk_that_turns_makes_no_flash() {
        let of = |read_iops| Given {
            name: Some("hdd 18TB".into()),
            read_iops: Some(read_iops),
            write_iops: Some(550.0),
            ..Given::default()
        };
        let said = fit(&[], &of(170.0)).unwrap_err().to_string();
        assert!(said.contains("170 random reads a second at most, and flash makes 500"), "{said}");
        assert!(
            said.contains("looks like a disk that turns") && said.contains("`--rpm`"),
            "{said}"
        );
        assert!(fit(&[], &of(499.0)).is_err());
        assert!(fit(&[], &of(501.0)).is_ok());
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

    fn rate(drive: &crate::catalogue::Drive, of: Cell) -> f64 {
        let (judged, _) = judge(drive.flash().unwrap(), &[of]).unwrap();
        judged[0].modelled.iops
    }

    fn server() -> Given {
        Given {
            name: Some("PM9A3 3.84TB".into()),
            read_iops: Some(1e6),
            steady_write_iops: Some(180_000.0),
            read_mb_per_s: Some(6800.0),
            write_mb_per_s: Some(4000.0),
            power_loss_protection: true,
            ..Given::default()
        }
    }

    /// Such a drive made 38,000 writes a second, and as many of 16 KiB as of 4 KiB where the sheet gave the rate as the most, too.
    #[test]
    fn steady_writes_of_a_sheet_are_met_and_are_as_many_bytes_in_larger_ones() {
        let both = Given { write_iops: Some(180_000.0), write_latency_us: Some(20.0), ..server() };
        let sata = Given {
            steady_write_iops: Some(60_000.0),
            read_iops: Some(95_000.0),
            read_mb_per_s: Some(540.0),
            write_mb_per_s: Some(520.0),
            ..server()
        };
        let fresh = Given { write_iops: Some(600_000.0), ..server() };
        for given in [server(), both, sata, fresh] {
            let made = fit(&[], &given).unwrap();
            let steady = given.steady_write_iops.unwrap();
            assert!(made.used.iter().any(|cell| cell.steady), "{:?}", made.used);
            let (judged, _) = judge(made.drive.flash().unwrap(), &made.used).unwrap();
            for one in judged {
                assert!(one.error() < 0.05, "{}: {:.0}", one.cell, one.modelled.iops);
            }
            for size in [1, 2, 4] {
                let of =
                    Cell { steady: true, ..cell(&given, true, size * BASE_BYTES, 256, steady) };
                let bytes = rate(&made.drive, Cell { random: true, ..of }) * f64::from(size);
                assert!((bytes / steady - 1.0).abs() < 0.05, "{size}: {bytes:.0} {steady}");
            }
        }
    }

    #[test]
    fn the_state_is_that_of_what_the_sheet_says() {
        let state = |given| fit(&[], &given).unwrap().drive.state().unwrap();
        assert_eq!(state(server()), "steady");
        assert_eq!(state(Given { write_iops: Some(180_000.0), ..server() }), "steady");
        assert_eq!(state(Given { write_iops: Some(600_000.0), ..server() }), "random");
        assert_eq!(state(Given { steady_write_iops: None, ..server() }), "random");
        let said = fit(&[], &Given { write_iops: Some(9000.0), ..server() }).unwrap_err();
        assert!(said.to_string().contains("is above `--write-iops` 9000"), "{said}");
    }

    /// Long writes of a sheet's 3000 MB/s were 3686, since 900,000 small ones would be as many bytes.
    #[test]
    fn no_write_is_faster_than_the_sheets_long_ones() {
        let given = Given {
            name: Some("P3 1TB".into()),
            write_iops: Some(9e5),
            write_mb_per_s: Some(3000.0),
            ..Given::default()
        };
        let made = fit(&[], &given).unwrap();
        let long = rate(&made.drive, cell(&given, true, 131_072, 32, 22_888.0)) * 0.131_072;
        assert!((long / 3000.0 - 1.0).abs() < 0.05, "{long:.0}");
        assert!(drive_file(&made.fitting).contains("\ndoubt = "));
    }

    /// A drive that is sold as 3840 GB has flash of 4096 GiB, and not 28 % to spare.
    #[test]
    fn the_reserve_is_what_its_size_leaves() {
        for (size, percent) in [
            (3840, 14.5),
            (1920, 14.5),
            (3200, 37.4),
            (480, 14.5),
            (1000, 7.0),
            (1200, 40.0),
            (600, 40.0),
            (300, 40.0),
        ] {
            let capacity_bytes = Some(size * 1_000_000_000);
            let given = Given { capacity_bytes, steady_write_iops: None, ..server() };
            let given = Given { power_loss_protection: size != 1000, ..given };
            let made = fit(&[], &given).unwrap().drive;
            let reserve = made.flash().unwrap().figures.reserve as f64 / (size as f64 * 1e7);
            assert!((reserve - percent).abs() < 0.1, "{size}: {reserve}");
        }
    }

    /// 1 TiB left nothing, each byte was written 20 times, and 100,000 writes a second were 20,000.
    #[test]
    fn a_capacity_of_a_power_of_two_has_a_reserve() {
        let given = Given { capacity_bytes: Some(1 << 40), steady_write_iops: None, ..server() };
        let made = fit(&[], &Given { write_iops: Some(100_000.0), ..given }).unwrap();
        let figures = &made.drive.flash().unwrap().figures;
        let reserve = figures.reserve as f64 / (1_u64 << 40) as f64;
        assert!((reserve - 0.07).abs() < 0.001, "{reserve}");
        assert!((figures.write_amplification - 7.643).abs() < 0.01, "{figures:?}");
    }

    fn errors(made: &crate::grid::Fit) -> Vec<(String, f64)> {
        let (judged, _) = judge(made.drive.flash().unwrap(), &made.used).unwrap();
        judged.iter().map(|one| (one.cell.to_string(), one.error())).collect()
    }

    /// A write latency of 15 us is 66,667 writes a second one after the other, and 30,000 at most were left out beside it.
    #[test]
    fn a_write_alone_that_is_faster_than_the_rate_leaves_the_rate() {
        let rates = |write_iops, steady_write_iops, us| Given {
            name: Some("X 1TB".into()),
            read_iops: Some(90_000.0),
            write_iops: Some(write_iops),
            steady_write_iops,
            write_latency_us: Some(us),
            read_mb_per_s: Some(560.0),
            write_mb_per_s: Some(510.0),
            ..Given::default()
        };
        let server = Given { write_iops: Some(200_000.0), write_latency_us: Some(2.0), ..server() };
        let slow_steady = rates(30_000.0, Some(10_000.0), 15.0);
        for given in [rates(30_000.0, None, 15.0), slow_steady, server] {
            let made = fit(&[], &given).unwrap();
            let has = |depth, of: f64| {
                made.used.iter().any(|cell| cell.depth == depth && (cell.iops - of).abs() < 1.0)
            };
            assert!(
                has(256, given.write_iops.unwrap())
                    && has(1, 1e6 / given.write_latency_us.unwrap())
            );
            let errors = errors(&made);
            assert!(errors.iter().all(|(_, error)| *error < 0.05), "{errors:?}");
            assert!(!drive_file(&made.fitting).contains("\ndoubt = "));
        }
    }

    #[test]
    fn figures_that_contradict_each_other_are_refused() {
        let refused = |given: Given| fit(&[], &given).unwrap_err().to_string();
        let said = refused(Given { read_latency_us: Some(10.0), read_iops: Some(5e4), ..server() });
        let words = "`--read-latency` 10 is 100000 reads a second one after the other, above `--read-iops` 50000";
        assert!(said.starts_with(words), "{said}");
        let said = refused(Given { write_mb_per_s: Some(500.0), ..server() });
        let words = "`--steady-write-iops` 180000 are 737 MB/s, above `--write-mb` 500, ";
        assert!(said.starts_with(words), "{said}");
        let said = refused(Given { steady_write_iops: Some(50.0), ..server() });
        assert!(said.starts_with("`--steady-write-iops`: 50 is not from 200 to "), "{said}");
    }

    /// "50 steady writes a second" was said of an amplification that was cut, and they were missed by 34088 %.
    #[test]
    fn an_amplification_that_no_file_takes_is_an_estimate() {
        let made = fit(&[], &Given { steady_write_iops: Some(1000.0), ..server() }).unwrap();
        let text = drive_file(&made.fitting);
        let row = text.lines().find(|line| line.starts_with("write_amplification")).unwrap();
        assert!(row.contains("nearest to 1000 steady writes of 4 KiB a second"), "{row}");
        let doubt = text.lines().find(|line| line.starts_with("doubt")).unwrap();
        assert!(doubt.contains("steady randwrite 4K by "), "{doubt}");
        assert_eq!(super::super::share_or_times(0.3), "30 %");
        assert_eq!(super::super::share_or_times(340.88), "a factor of 342");
    }

    /// 180,000 steady writes are 737 MB/s: the drive was taken as SATA, and its only cell missed by 24 %.
    #[test]
    fn steady_writes_alone_say_how_the_drive_is_attached() {
        let name = Some("X 3.84TB".into());
        let steady = Given { name, steady_write_iops: Some(180_000.0), ..Given::default() };
        let made = fit(&[], &steady).unwrap();
        assert!(!made.drive.flash().unwrap().figures.half_duplex);
        let errors = errors(&made);
        assert!(errors.len() == 1 && errors[0].1 < 0.05, "{errors:?}");
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
