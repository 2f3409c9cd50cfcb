//! Cells from fio's JSON.

use super::Cell;
use super::read::Grid;
use super::rows::{BYTES_MAX, IN_FLIGHT_MAX};
use crate::error::{Error, Result};
use block::SECTOR_BYTES;
use serde_json::Value as Json;

/// Engines that wait for each request, whatever their `iodepth` says: they have one in flight. fio warns of it and goes on.
const SYNCHRONOUS: [&str; 7] = ["psync", "sync", "vsync", "pvsync", "pvsync2", "mmap", "splice"];
/// Engines that reach no page cache.
const WITHOUT_CACHE: [&str; 5] = ["spdk", "io_uring_cmd", "sg", "xnvme", "libblkio"];
/// fio's, where a job says none.
const ENGINE: &str = "psync";

/// A job of fio's, with the options of all jobs.
struct Job<'j> {
    json: &'j Json,
    global: &'j Json,
}

impl Job<'_> {
    fn option(&self, name: &str) -> Option<&str> {
        self.json["job options"][name].as_str().or_else(|| self.global[name].as_str())
    }

    fn engine(&self) -> &str {
        self.option("ioengine").unwrap_or(ENGINE)
    }

    fn is_of(&self, engines: &[&str]) -> bool {
        engines.iter().any(|engine| self.engine().rsplit(['/', ':']).next() == Some(engine))
    }

    /// Whether it went past the page cache, if it says so. Without a value an option is on.
    fn is_direct(&self) -> Option<bool> {
        let is_on = |text: &str| !matches!(text.trim(), "0" | "false");
        if self.is_of(&["mmap"]) {
            return Some(false);
        }
        let direct = self.option("direct").map(is_on);
        direct.or_else(|| self.option("buffered").map(|text| !is_on(text)))
    }

    /// Why it measured nothing of the drive, if so. One that failed may have moved something before.
    fn useless(&self) -> Option<String> {
        let job = self.json;
        let error = job["error"].as_i64().filter(|error| *error != 0);
        let rate = |way: &str| job[way]["iops"].as_f64().unwrap_or(0.0);
        let moved = ["read", "write"].iter().any(|way| rate(way) > 0.0);
        if let Some(error) = error {
            return Some(format!("it ended with the error {error}; see fio's log"));
        }
        if !moved {
            return Some("it has no reads or writes".into());
        }
        let is_cached = self.is_direct() == Some(false) && !self.is_of(&WITHOUT_CACHE);
        is_cached.then(|| {
            let how = if self.is_of(&["mmap"]) { "ioengine=mmap" } else { "direct=0" };
            format!("{how}: it measured the page cache; run it with --direct=1")
        })
    }

    fn count(&self, name: &str) -> u32 {
        let count = self.option(name).and_then(|text| text.parse().ok()).unwrap_or(1);
        u32::clamp(count, 1, IN_FLIGHT_MAX)
    }

    fn bytes(&self, label: &str) -> Result<u32> {
        let wrong = |what: &str| Error::input(format!("{label}: `bs`: {what}"));
        let bytes = block::units::parse_bytes(self.option("bs").unwrap_or("4k"))
            .map_err(|error| wrong(&error.to_string()))?;
        if (SECTOR_BYTES..=BYTES_MAX.into()).contains(&bytes) {
            return Ok(bytes as u32);
        }
        Err(wrong(&format!("{bytes} is not from 512 to {BYTES_MAX} bytes; correct it")))
    }

    /// The cells of its reads and writes.
    fn cells(&self, label: &str) -> Result<Vec<Cell>> {
        let rw = self.option("rw").or_else(|| self.option("readwrite")).unwrap_or("read");
        let bytes = self.bytes(label)?;
        let mixed = matches!(rw, "randrw" | "rw" | "readwrite");
        let depth = if self.is_of(&SYNCHRONOUS) { 1 } else { self.count("iodepth") };
        let mut cells = Vec::new();
        for way in ["read", "write"] {
            let part = &self.json[way];
            let iops = part["iops"].as_f64().unwrap_or(0.0);
            if iops <= 0.0 {
                continue;
            }
            let percentile = |name: &str| part["clat_ns"]["percentile"][name].as_f64();
            let in_us = |ns: Option<f64>| ns.map(|ns| ns / 1e3);
            cells.push(Cell {
                drives: 1,
                device: self.option("filename").unwrap_or("drive").into(),
                run: String::new(),
                writes: way == "write",
                random: rw.starts_with("rand"),
                steady: false,
                mix: mixed.then(|| self.count("rwmixread")),
                bytes,
                depth,
                jobs: self.count("numjobs"),
                engine: self.engine().into(),
                iops,
                mean_us: in_us(part["lat_ns"]["mean"].as_f64()),
                p50_us: in_us(percentile("50.000000")),
                p99_us: in_us(percentile("99.000000")),
            });
        }
        Ok(cells)
    }
}

pub(super) fn read_fio(label: &str, text: &str) -> Result<Grid> {
    let start = text.find('{').unwrap_or(0);
    let json: Json = serde_json::from_str(&text[start..])
        .map_err(|error| Error::input(format!("{label}: {error}; is it fio's JSON?")))?;
    let wrong = |what: &str| Error::input(format!("{label}: {what}"));
    let jobs = json["jobs"]
        .as_array()
        .ok_or_else(|| wrong("there is no list `jobs`; run fio with --output-format=json"))?;
    let mut grid = Grid::default();
    for json_of_job in jobs {
        let job = Job { json: json_of_job, global: &json["global options"] };
        if let Some(why) = job.useless() {
            let name = json_of_job["jobname"].as_str().unwrap_or("?");
            grid.leave_out(&format!("job `{name}`: {why}"));
            continue;
        }
        if job.is_direct().is_none() && !job.is_of(&WITHOUT_CACHE) {
            grid.doubt = Some(format!(
                "{label} does not say `direct=1`, and without it fio measures the page cache, not the drive"
            ));
        }
        grid.cells.extend(job.cells(label)?);
    }
    if grid.cells.is_empty() {
        let why = grid.left_out.first().map_or(String::new(), |(why, _)| format!(": {why}"));
        return Err(wrong(&format!("no job moved anything{why}")));
    }
    Ok(grid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(global: &str, job: &str) -> Result<Grid> {
        let text = format!(
            r#"{{"global options":{{{global}}},"jobs":[{{"jobname":"j","job options":{{"rw":"randread","bs":"4k"{job}}},"read":{{"iops":500000}}}}]}}"#
        );
        read_fio("fio.json", &text)
    }

    /// They were taken for the drive's.
    #[test]
    fn what_measured_the_page_cache_is_left_out() {
        for (global, job) in [
            (r#""direct":"0","ioengine":"libaio""#, ""),
            (r#""direct":"1""#, r#","direct":"0""#),
            (r#""buffered":"1","ioengine":"io_uring""#, ""),
        ] {
            let said = grid(global, job).unwrap_err().to_string();
            assert!(said.contains("job `j`: direct=0: it measured the page cache"), "{said}");
            assert!(said.contains("--direct=1"), "{said}");
        }
        let said = grid(r#""direct":"1","ioengine":"mmap""#, "").unwrap_err().to_string();
        assert!(said.contains("ioengine=mmap: it measured the page cache"), "{said}");
        let silent = grid(r#""ioengine":"libaio""#, "").unwrap();
        assert!(silent.doubt.unwrap().contains("fio.json does not say `direct=1`"));
        for options in [
            r#""direct":"1","ioengine":"libaio""#,
            r#""buffered":"0","ioengine":"libaio""#,
            r#""direct":"","ioengine":"libaio""#,
            r#""ioengine":"/usr/lib/fio/spdk""#,
        ] {
            assert_eq!(grid(options, "").unwrap().doubt, None, "{options}");
        }
    }

    /// A depth of 32 was believed of an engine that waits for each request.
    #[test]
    fn synchronous_engines_have_one_in_flight() {
        let in_flight = |engine: &str| {
            let options = format!(r#""direct":"1"{engine}"#);
            let grid = grid(&options, r#","iodepth":"32","numjobs":"4""#).unwrap();
            (grid.cells[0].depth, grid.cells[0].jobs)
        };
        for engine in ["psync", "sync", "vsync", "pvsync", "pvsync2"] {
            assert_eq!(in_flight(&format!(r#","ioengine":"{engine}""#)), (1, 4), "{engine}");
        }
        assert_eq!(in_flight(""), (1, 4), "fio's own is psync");
        assert_eq!(in_flight(r#","ioengine":"libaio""#), (32, 4));
        assert_eq!(in_flight(r#","ioengine":"io_uring""#), (32, 4));
    }
}
