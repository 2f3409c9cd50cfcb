//! A flash drive in the list of drives, and what follows from its figures.

use super::Flash;
use crate::catalogue::Drive;
use crate::catalogue::listing::{Derived, Row};
use serde::Serialize;

/// A flash drive in a line. Rates are the most that the drive does, without a host.
#[derive(Clone, Debug, Serialize)]
struct FlashRow {
    /// Its name in the catalogue.
    name: String,
    /// What people call it.
    title: String,
    /// When it came to market.
    year: Option<u64>,
    /// Capacity, in 10^9 bytes.
    gigabytes: f64,
    /// How it was filled when it was measured.
    state: &'static str,
    /// The time of a read of 4 KiB alone, in us.
    read_alone_us: f64,
    /// Reads of 4 KiB, in thousands a second.
    kilo_reads_per_s: f64,
    /// Long reads, and writes that last as long as the SLC cache does, in MB/s.
    mb_per_s: [f64; 2],
}

impl FlashRow {
    const HEADINGS: [&'static str; 8] =
        ["name", "title", "year", "GB", "filled", "read us", "k reads/s", "read-write MB/s"];

    fn of(drive: &Drive, flash: &Flash) -> Self {
        let figures = &flash.figures;
        let table = &figures.read_alone_us;
        let alone = table.iter().find(|(bytes, _)| *bytes >= 4096).or(table.last());
        let units_us = figures.unit_read_us / f64::from(figures.units);
        let link_us = 4096.0 / figures.read_mb_per_s;
        let least_us = figures.read_command_us.max(units_us).max(link_us).max(1e-3);
        FlashRow {
            name: drive.name.clone(),
            title: drive.title.clone(),
            year: drive.figures.year,
            gigabytes: drive.gigabytes(),
            state: figures.state.word(),
            read_alone_us: alone.map_or(0.0, |&(_, us)| us),
            kilo_reads_per_s: (1e4 / least_us).round() / 10.0,
            mb_per_s: flash.most_mb_per_s(),
        }
    }

    fn cells(&self) -> [String; 8] {
        let [read, write] = self.mb_per_s;
        [
            self.name.clone(),
            self.title.clone(),
            self.year.map(|year| year.to_string()).unwrap_or_default(),
            format!("{:.0}", self.gigabytes),
            self.state.into(),
            format!("{:.0}", self.read_alone_us),
            format!("{:.0}", self.kilo_reads_per_s),
            format!("{read:.0}-{write:.0}"),
        ]
    }
}

/// The line of a flash drive.
pub(super) fn row(drive: &Drive, flash: &Flash) -> Row {
    let row = FlashRow::of(drive, flash);
    Row::new(&FlashRow::HEADINGS, row.cells(), &row)
}

/// What follows from its figures.
pub(super) fn derived(drive: &Drive, flash: &Flash) -> Vec<Derived> {
    let FlashRow { gigabytes, kilo_reads_per_s, .. } = FlashRow::of(drive, flash);
    let figures = &flash.figures;
    let drain_mb = figures.slc_full_mb_per_s.unwrap_or(figures.drain_mb_per_s);
    // As the model has it: garbage collection beside the least time of a random write.
    let moved_us = 4096.0 / drain_mb;
    let garbage_us = moved_us * (figures.write_amplification - 1.0);
    let flash_us = moved_us.max(figures.random_write_us) + garbage_us;
    let small_us = flash_us.max(figures.write_command_us);
    Derived::of([
        ("capacity", gigabytes, "GB"),
        ("reads_4k_max", kilo_reads_per_s * 1e3, "1/s"),
        ("units_read_max", f64::from(figures.units) / figures.unit_read_us.max(1e-3) * 1e6, "1/s"),
        ("random_writes_4k_steady", 4096.0 / small_us, "MB/s"),
        ("random_writes_large_steady", drain_mb / figures.write_amplification, "MB/s"),
    ])
}

#[cfg(test)]
mod tests {
    use crate::catalogue::drive;
    use crate::grid::{self, judge};

    /// The page of a 990 PRO said 1649 MB/s of random writes, and a run of small ones made 265.
    #[test]
    fn the_page_says_what_a_run_makes() {
        let cells =
            "device,rw,bs,qd,jobs,iops\nx,randwrite,4096,256,1,9\nx,randwrite,1048576,32,1,9\n";
        let mut cells = grid::read("grid.csv", cells).unwrap().cells;
        for cell in &mut cells {
            cell.steady = true;
        }
        for name in ["iocost-samsung-ssd-990-pro-2tb", "980-pro-1tb", "mx200-250gb"] {
            let one = drive(name).unwrap();
            let derived = super::derived(&one, one.flash().unwrap());
            let said = |of: &str| derived.iter().find(|row| row.key == of).unwrap().value;
            // On no host.
            let spec = one.flash().unwrap();
            let (judged, _) = judge(spec, &cells).unwrap();
            let made = |at: usize| judged[at].modelled.iops * f64::from(cells[at].bytes) / 1e6;
            for (at, key) in
                ["random_writes_4k_steady", "random_writes_large_steady"].into_iter().enumerate()
            {
                assert!(
                    (made(at) / said(key) - 1.0).abs() < 0.1,
                    "{name} {key}: {} {}",
                    made(at),
                    said(key)
                );
            }
        }
    }

    /// 2019 MB/s at most were said of a 980 PRO of which four read 8270.
    #[test]
    fn long_reads_make_no_more_than_is_said() {
        let cells = "device,rw,bs,qd,jobs,iops\nx,read,65536,128,1,9\nx,read,131072,128,1,9\nx,read,1048576,32,1,9\n";
        let cells = grid::read("grid.csv", cells).unwrap().cells;
        // Where the controller or the link decides, and not the units.
        for name in ["980-pro-1tb", "nvmebenchmarks-nvme-a"] {
            let one = drive(name).unwrap();
            let flash = one.flash().unwrap();
            let [said, _] = flash.most_mb_per_s();
            let (judged, _) = judge(flash, &cells).unwrap();
            let made = judged.iter().map(|one| one.modelled.iops * f64::from(one.cell.bytes) / 1e6);
            let made = made.fold(0.0, f64::max);
            assert!((0.93..=1.005).contains(&(made / said)), "{name}: {made} of {said}");
        }
    }
}
