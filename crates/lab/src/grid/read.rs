//! Cells from CSV files and from fio's JSON.

use super::Cell;
use super::fio::read_fio;
use super::rows::{self, IN_FLIGHT_MAX};
use crate::error::{Error, Result};

/// Cells of a file, and what was left out of it.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// The cells.
    pub cells: Vec<Cell>,
    /// Rows that were left out, with the reason and how many there were.
    pub left_out: Vec<(String, usize)>,
    /// What makes the cells doubtful.
    pub doubt: Option<String>,
}

impl Grid {
    pub(super) fn leave_out(&mut self, why: &str) {
        leave_out(&mut self.left_out, why);
    }

    /// Takes in the cells of another file.
    pub fn add(&mut self, other: Grid) {
        self.cells.extend(other.cells);
        self.left_out.extend(other.left_out);
        self.doubt = self.doubt.take().or(other.doubt);
    }

    /// The devices that its cells are of.
    pub fn devices(&self) -> Vec<&str> {
        each_once(self.cells.iter().map(|cell| cell.device.as_str()))
    }

    /// Only the cells of the device that has `wanted` in its name; of the only one, where nothing is wanted.
    ///
    /// # Errors
    ///
    /// Where none or several have.
    pub fn of_device(mut self, wanted: Option<&str>) -> Result<Self> {
        if self.cells.is_empty() {
            let left_out =
                self.left_out.iter().map(|(why, count)| format!("; rows left out: {count}, {why}"));
            let left_out: String = left_out.collect();
            return Err(Error::input(format!(
                "the results have no cell to use{left_out}; give the results of the job of `ileave drives probe`"
            )));
        }
        let device = one_device(&self.devices(), wanted)?;
        self.cells.retain(|cell| cell.device == device);
        Ok(self)
    }
}

/// Counts a row that is left out, with the reason.
pub(super) fn leave_out(left_out: &mut Vec<(String, usize)>, why: &str) {
    match left_out.iter_mut().find(|(known, _)| known == why) {
        Some((_, count)) => *count += 1,
        None => left_out.push((why.into(), 1)),
    }
}

/// These names in order, each once.
pub(super) fn each_once<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The one of `devices` that is called `wanted`, or else has that in its name; the only one, where nothing is wanted.
pub(super) fn one_device(devices: &[&str], wanted: Option<&str>) -> Result<String> {
    let in_name = wanted.map(str::to_lowercase).unwrap_or_default();
    let is_called = |wanted: &str| {
        let same = devices.iter().find(|device| **device == wanted);
        same.or_else(|| devices.iter().find(|device| device.eq_ignore_ascii_case(wanted)))
    };
    if let Some(device) = wanted.and_then(is_called) {
        return Ok((*device).into());
    }
    let mut found = devices.iter().filter(|device| device.to_lowercase().contains(&in_name));
    match (found.next(), found.next()) {
        (Some(device), None) => Ok((*device).into()),
        _ => Err(Error::input(format!(
            "the file has the devices {}; choose one by `--device`, with a part of its name",
            devices.join("; ")
        ))),
    }
}

/// The cells in `text`, of the file called `label`: CSV with a header, or fio's JSON.
///
/// # Errors
///
/// Where it is neither, or a number is none; the message names the line.
pub fn read(label: &str, text: &str) -> Result<Grid> {
    if text.trim_start().starts_with('{') || text.contains("\"fio version\"") {
        return read_fio(label, text);
    }
    read_csv(label, text)
}

/// Columns that a CSV file must have.
pub(super) const NEEDED: [&str; 6] = ["device", "rw", "bs", "qd", "jobs", "iops"];

fn read_csv(label: &str, text: &str) -> Result<Grid> {
    let mut grid = Grid::default();
    rows::each(label, text, ("a grid", &NEEDED), &mut |row| {
        let Some((writes, random, mixed)) = operation(row.text("rw")) else {
            grid.leave_out(&format!("operation `{}`", row.text("rw")));
            return Ok(());
        };
        if !matches!(row.text("sched"), "" | "none") {
            grid.leave_out(&format!("scheduler {}", row.text("sched")));
            return Ok(());
        }
        let source = row.text("source");
        let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
        let drives = row.number("drives")?.map_or_else(|| drives_in(source), |count| count as u32);
        let mix = row.number("mix_read_pct")?.filter(|_| mixed).map(|percent| percent as u32);
        grid.cells.push(Cell {
            device: row.text("device").into(),
            drives: drives.max(1),
            run: format!("{} {} {folder}", row.text("host"), row.text("cond")).trim().into(),
            writes,
            random,
            steady: false,
            mix,
            bytes: row.request_bytes("bs")?,
            depth: row.whole("qd", 1..=IN_FLIGHT_MAX)?,
            jobs: row.whole("jobs", 1..=IN_FLIGHT_MAX)?,
            engine: row.text("engine").into(),
            iops: row.need("iops")?,
            mean_us: row.number("lat_mean_us")?,
            p50_us: row.number("p50_us")?,
            p99_us: row.number("p99_us")?,
        });
        Ok(())
    })?;
    Ok(grid)
}

/// The drives that a source's path speaks of, as in `8_dev` or `8-ssd`; else one.
fn drives_in(source: &str) -> u32 {
    ["_dev", "-ssd"]
        .iter()
        .filter_map(|word| {
            let (before, _) = source.split_once(word)?;
            let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            before[before.len() - digits..].parse().ok()
        })
        .max()
        .unwrap_or(1)
}

/// Whether it writes, goes to random places, and is one direction of a mix.
fn operation(rw: &str) -> Option<(bool, bool, bool)> {
    Some(match rw {
        "read" => (false, false, false),
        "randread" => (false, true, false),
        "write" => (true, false, false),
        "randwrite" => (true, true, false),
        "randrw:read" => (false, true, true),
        "randrw:write" => (true, true, true),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ssd` could not be had beside `ssd2`.
    #[test]
    fn the_device_of_just_that_name_goes_first() {
        let of = |devices: &[&str], wanted: Option<&str>| {
            one_device(devices, wanted).map_err(|error| error.to_string())
        };
        assert_eq!(of(&["SSD", "ssd2"], Some("ssd")), Ok("SSD".into()));
        assert_eq!(of(&["SSD", "ssd"], Some("ssd")), Ok("ssd".into()));
        assert_eq!(of(&["ssd1", "ssd2"], Some("D2")), Ok("ssd2".into()));
        let several = of(&["ssd1", "ssd2"], Some("ssd")).unwrap_err();
        let next = "choose one by `--device`, with a part of its name";
        assert_eq!(several, format!("the file has the devices ssd1; ssd2; {next}"));
        assert!(of(&["ssd1", "ssd2"], None).is_err());
    }

    /// They were counted by records.
    #[test]
    fn lines_are_those_of_the_file() {
        let head = "device,rw,bs,qd,jobs,iops,note\n";
        let line = |rows: &str| {
            let text = format!("{head}{rows}");
            let error = read("grid.csv", &text).unwrap_err().to_string();
            error.split(':').nth(1).unwrap().parse::<usize>().unwrap()
        };
        assert_eq!(line("x,read,4096,1,1,bad,\n"), 2);
        assert_eq!(line("\n\r\nx,read,4096,1,1,bad,\n"), 4);
        assert_eq!(line("x,read,4096,1,1,9,\"two\nlines\"\nx,read,4096,1,1,bad,\n"), 4);
        assert_eq!(line("x,read,4096,1,1,9,\"two\nlines\"\n\nx,read\n"), 5);
    }

    #[test]
    fn a_file_that_lacks_a_column_is_of_the_sort_that_it_has_most_of() {
        let said = |head: &str| {
            crate::grid::measurements("m.csv", &format!("{head}\n")).unwrap_err().to_string()
        };
        for (head, lacks) in [
            (
                "device,read_bs,read_iops_offered,quantile,read_clat_us",
                "`write_bw_Bps`; a file of loads has",
            ),
            ("device,qd,jobs,t_s", "`write_KiBps`; a log of rates has"),
            ("device,rw,bs,qd,jobs", "`iops`; a grid has"),
            ("a,b", "`device`; a grid has"),
        ] {
            assert!(said(head).contains(&format!("no column {lacks}")), "{}", said(head));
        }
    }

    /// They were clamped to what fits.
    #[test]
    fn numbers_that_no_cell_has_are_refused_by_line_and_column() {
        let said = |bs: &str, qd: &str, jobs: &str| {
            let text = format!(
                "device,rw,bs,qd,jobs,iops\nx,read,4096,1,1,9\nx,read,{bs},{qd},{jobs},9\n"
            );
            read("grid.csv", &text).unwrap_err().to_string()
        };
        let bs = said("99999999999999999999", "1", "1");
        assert!(
            bs.starts_with("grid.csv:3: `bs`: 99999999999999999999 is not a whole number"),
            "{bs}"
        );
        let units =
            "device,rw,bs,qd,jobs,iops\nx,read,4k,1,1,9\nx,read,128KiB,1,1,9\nx,read,512,1,1,9\n";
        let bytes: Vec<u32> =
            super::read("grid.csv", units).unwrap().cells.iter().map(|cell| cell.bytes).collect();
        assert_eq!(bytes, [4096, 131_072, 512]);
        assert!(said("8g", "1", "1").starts_with("grid.csv:3: `bs`: 8g is not a whole number"));
        assert!(said("4q", "1", "1").starts_with("grid.csv:3: `bs`: "));
        assert!(said("4096.5", "1", "1").contains("grid.csv:3: `bs`: 4096.5 is no"));
        assert!(said("4096", "65536", "1").contains("grid.csv:3: `qd`: 65536 is no"));
        assert!(said("4096", "1", "1e9").contains("grid.csv:3: `jobs`: 1e9 is no"));
        assert!(said("4096", "1", "-1").contains("grid.csv:3: `jobs`: -1 is not a number"));
        let fio = r#"{"jobs":[{"job options":{"rw":"read","bs":"8g"},"read":{"iops":5}}]}"#;
        let fio = read("fio.json", fio).unwrap_err().to_string();
        assert!(fio.contains("fio.json: `bs`: 8589934592 is not from 512"), "{fio}");
        let job = |name: &str, error: i32, iops: u32| {
            format!(
                r#"{{"jobname":"{name}","error":{error},"job options":{{"rw":"read"}},"read":{{"iops":{iops}}}}}"#
            )
        };
        let jobs = [job("a", 0, 5), job("b", 5, 7), job("c", 0, 0)].join(",");
        let grid = read("fio.json", &format!(r#"{{"jobs":[{jobs}]}}"#)).unwrap();
        let why = [
            "job `b`: it ended with the error 5; see fio's log",
            "job `c`: it has no reads or writes",
        ];
        let left_out: Vec<&str> = grid.left_out.iter().map(|(why, _)| why.as_str()).collect();
        assert_eq!((grid.cells.len(), left_out), (1, why.to_vec()));
        let none = read("fio.json", &format!(r#"{{"jobs":[{}]}}"#, job("b", 5, 7))).unwrap_err();
        assert!(none.to_string().contains("no job moved anything: job `b`"), "{none}");
    }
}
