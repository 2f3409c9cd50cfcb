//! Latencies of reads that come by the clock, with and without writes beside them: the charts of diskplorer.
//!
//! Its jobs are fio's: reads at random times (`rate_process=poisson`) over the whole device, and writes of 128 KiB in
//! order, up to 64 in flight, at a rate. They are measured for 30 s after 5 s.

use super::device::device;
use super::judge::{ALL, Group, errors_of};
use super::read::{each_once, leave_out, one_device};
use super::rows::{self, Row};
use crate::catalogue::Drive;
use crate::error::{Error, Result};
use block::{Op, SECTOR_BYTES};
use sim::Nanos;
use sim::latency::quantile_ns;
use sim::workload::{Arrivals, Came, Jobs, Name, Next, Pattern, RunningStream, Stream, Workload};
use std::collections::BTreeMap;

/// A measured latency of reads at a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The device, as the file names it.
    pub device: String,
    /// Size of a read, in bytes.
    pub bytes: u32,
    /// Reads a second that were offered.
    pub reads_per_s: u64,
    /// Bytes a second that were written beside them; 0 for none.
    pub written_per_s: u64,
    /// How many of a hundred reads were faster, as in 50.
    pub percent: f64,
    /// Than this, in us.
    pub us: f64,
    /// Whether the source says that the device reached the load.
    pub is_reached: bool,
}

/// The latencies of a file, and what was left out of it.
#[derive(Clone, Debug, Default)]
pub struct Loads {
    /// The latencies.
    pub loads: Vec<Load>,
    /// The device of each row that was left out, with the reason.
    passed_over: Vec<(String, String)>,
}

/// Columns of such a file.
pub(super) const NEEDED: [&str; 6] =
    ["device", "read_bs", "write_bw_Bps", "read_iops_offered", "quantile", "read_clat_us"];

impl Loads {
    /// The devices that they are of.
    pub fn devices(&self) -> Vec<&str> {
        each_once(self.loads.iter().map(|load| load.device.as_str()))
    }

    /// Rows that were left out, with the reason and how many there were.
    pub fn left_out(&self) -> Vec<(String, usize)> {
        let mut counted = Vec::new();
        self.passed_over.iter().for_each(|(_, why)| leave_out(&mut counted, why));
        counted
    }

    /// How many are used though the source does not say whether the device reached the load.
    pub fn unsure(&self) -> usize {
        self.loads.iter().filter(|load| !load.is_reached).count()
    }

    /// Only those of the device that has `wanted` in its name; of the only one, where nothing is wanted.
    ///
    /// # Errors
    ///
    /// Where none or several have, or no latency is left.
    pub fn of_device(mut self, wanted: Option<&str>) -> Result<Self> {
        if self.loads.is_empty() {
            return Err(Error::input(match self.passed_over.first() {
                Some((_, why)) => format!("the file has no latency to use: {why}"),
                None => "the file has no row; give latencies of a device at loads".into(),
            }));
        }
        let device = one_device(&self.devices(), wanted)?;
        self.loads.retain(|load| load.device == device);
        self.passed_over.retain(|(of, _)| *of == device);
        Ok(self)
    }
}

/// The latencies in `text`, of the file called `label`.
///
/// # Errors
///
/// Where a column is missing or a number is none; the message names the line.
pub fn read_loads(label: &str, text: &str) -> Result<Loads> {
    let mut loads = Loads::default();
    rows::each(label, text, ("a file of loads", &NEEDED), &mut |row| take(&mut loads, row))?;
    Ok(loads)
}

/// More than any device does: as experiments take it.
const PER_S_MAX: f64 = 1e9;

fn take(loads: &mut Loads, row: &Row<'_>) -> Result<()> {
    let flag = row.text("flag");
    let reached = row.text("throughput_achieved").to_ascii_lowercase();
    let reads_per_s = row.number("read_iops_offered")?.unwrap_or(0.0);
    let why = if !flag.is_empty() {
        Some(format!("`flag` is {flag}: the chart ends there"))
    } else if reached.starts_with("no") && !reached.starts_with("not masked") {
        Some("the device did not reach the load".into())
    } else {
        let too_few =
            if reads_per_s > 0.0 { "less than 1 read a second was" } else { "no reads were" };
        (reads_per_s < 1.0).then(|| format!("{too_few} offered"))
    };
    if let Some(why) = why {
        loads.passed_over.push((row.text("device").into(), why));
        return Ok(());
    }
    let written_per_s = row.number("write_bw_Bps")?.unwrap_or(0.0);
    if reads_per_s > PER_S_MAX || written_per_s > 1e6 * PER_S_MAX {
        return Err(row.wrong("the load is above a thousand million reads or GB a second"));
    }
    loads.loads.push(Load {
        device: row.text("device").into(),
        bytes: row.request_bytes("read_bs")?,
        reads_per_s: reads_per_s as u64,
        written_per_s: written_per_s as u64,
        percent: percentile_named(row.text("quantile")).ok_or_else(|| {
            let found = row.text("quantile");
            row.wrong(format!("`quantile`: {found} is not a percentile; write it as p50 or p99.9"))
        })?,
        us: row.need("read_clat_us")?,
        is_reached: reached.starts_with("yes"),
    });
    Ok(())
}

/// `p95` as 95.
fn percentile_named(text: &str) -> Option<f64> {
    let percent: f64 = text.strip_prefix('p')?.parse().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent)
}

/// A latency as measured and as modelled.
#[derive(Clone, Debug)]
pub struct JudgedLoad {
    /// As measured.
    pub load: Load,
    /// As modelled, in us.
    pub modelled_us: f64,
    /// Whether the model keeps up with the load, its reads and its writes; else its latencies grow for as long as it lasts, or
    /// less is written beside them.
    pub keeps_up: bool,
}

impl JudgedLoad {
    /// The error, as a fraction of the measured latency.
    pub fn error(&self) -> f64 {
        (self.modelled_us / self.load.us - 1.0).abs()
    }
}

/// What of the percentiles is asked with what load.
type Offered = (u32, u64, u64);

/// Plays every load to `drive`, in groups of one size and percentile, with and without writes; all of them together
/// are the last group.
///
/// # Errors
///
/// Where the drive cannot be built, or is smaller than a read.
pub fn judge_loads(drive: &Drive, loads: &[Load]) -> Result<(Vec<JudgedLoad>, Vec<Group>)> {
    let mut offered: BTreeMap<Offered, Vec<f64>> = BTreeMap::new();
    for load in loads {
        let key = (load.bytes, load.reads_per_s, load.written_per_s);
        offered.entry(key).or_default().push(load.percent);
    }
    let mut found: BTreeMap<(Offered, u64), (f64, bool)> = BTreeMap::new();
    for (key, percents) in offered {
        let (latencies_us, keeps_up) = play(drive, key, &percents)?;
        for (percent, us) in percents.iter().zip(latencies_us) {
            found.insert((key, percent.to_bits()), (us, keeps_up));
        }
    }
    let judged = loads.iter().map(|load| {
        let key = (load.bytes, load.reads_per_s, load.written_per_s);
        let (modelled_us, keeps_up) = found[&(key, load.percent.to_bits())];
        JudgedLoad { load: load.clone(), modelled_us, keeps_up }
    });
    let judged: Vec<JudgedLoad> = judged.collect();
    let mut groups: BTreeMap<(u32, u64, bool), Vec<&JudgedLoad>> = BTreeMap::new();
    for one in &judged {
        let load = &one.load;
        // Of numbers above 0 the bits have the order.
        let key = (load.bytes, load.percent.to_bits(), load.written_per_s > 0);
        groups.entry(key).or_default().push(one);
    }
    let mut rows: Vec<Group> = groups
        .into_iter()
        .map(|((bytes, percent, writes), of)| {
            let beside = if writes { " beside writes" } else { "" };
            group(format!("read {bytes} p{}{beside}", f64::from_bits(percent)), &of)
        })
        .collect();
    if rows.len() > 1 {
        rows.push(group(ALL.into(), &judged.iter().collect::<Vec<_>>()));
    }
    Ok((judged, rows))
}

fn group(name: String, judged: &[&JudgedLoad]) -> Group {
    let behind = judged.iter().filter(|one| !one.keeps_up).count();
    Group { behind: Some(behind), ..errors_of(name, judged.iter().map(|one| one.error())) }
}

/// The measurement of the source, and the least and the most reads of ours.
const MEASURED_S: f64 = 30.0;
const READS: std::ops::RangeInclusive<f64> = 3000.0..=60_000.0;
/// Its writes: their size, and how many are in flight.
const WRITE_BYTES: u64 = 131_072;
const WRITES_IN_FLIGHT: u32 = 64;
/// Reads that are done later than this after the last has come, as a share of the time, have waited for a drive that
/// does not keep up; nor does it where it has written less than its rate by such a share.
const BEHIND: f64 = 0.02;

/// The latencies at these percentiles, in us, and whether the drive keeps up.
fn play(
    drive: &Drive,
    (bytes, reads_per_s, written_per_s): Offered,
    percents: &[f64],
) -> Result<(Vec<f64>, bool)> {
    let sectors = drive.sectors();
    let block_sectors = u64::from(bytes).div_ceil(SECTOR_BYTES);
    if sectors < block_sectors.max(WRITE_BYTES / SECTOR_BYTES) {
        return Err(Error::input(format!("{} is smaller than a request", drive.title)));
    }
    let per_s = reads_per_s as f64;
    let measured_s = (MEASURED_S * per_s).clamp(*READS.start(), *READS.end()) / per_s;
    let warm_s = measured_s / 6.0;
    let until_ns = ((warm_s + measured_s) * 1e9) as Nanos;
    let reads = Stream {
        pattern: Pattern::Random,
        block_sectors: block_sectors as u32,
        span_sectors: sectors,
        arrivals: Arrivals::Poisson,
        requests_per_s: Some(reads_per_s),
        until_ns,
        ..Stream::default()
    };
    let writes = Stream {
        op: Op::WRITE,
        block_sectors: (WRITE_BYTES / SECTOR_BYTES) as u32,
        span_sectors: sectors,
        depth: WRITES_IN_FLIGHT,
        bytes_per_s: Some(written_per_s.max(1)),
        until_ns,
        ..Stream::default()
    };
    let mut streams = vec![(0, RunningStream::new(reads, 1))];
    if written_per_s > 0 {
        streams.push((1, RunningStream::new(writes, 2)));
    }
    let from_ns = (warm_s * 1e9) as Nanos;
    let mut warmed = Warmed { jobs: Jobs::apart(streams), from_ns, now: 0 };
    let outcome = sim::run(&mut *device(drive)?, &mut warmed);
    let of_reads = &outcome.streams[0];
    let latency_ns = &of_reads.directions[0].latency_ns;
    let us = percents
        .iter()
        .map(|&percent| quantile_ns(latency_ns, percent / 100.0) as f64 / 1e3)
        .collect();
    let reads_keep_up = of_reads.elapsed_ns as f64 / 1e9 <= (1.0 + BEHIND) * measured_s;
    // The last one may be due at the end.
    let written = outcome.streams.get(1).map_or(0, |of_writes| of_writes.directions[1].bytes);
    let due = (1.0 - BEHIND) * written_per_s as f64 * measured_s;
    let writes_keep_up = (written + WRITE_BYTES) as f64 >= due;
    Ok((us, reads_keep_up && writes_keep_up))
}

/// Streams, of which only what starts from a time on counts.
struct Warmed {
    jobs: Jobs,
    from_ns: Nanos,
    now: Nanos,
}

impl Workload for Warmed {
    fn next(&mut self, now: Nanos) -> Next {
        self.now = now;
        self.jobs.next(now)
    }

    fn done(&mut self, now: Nanos, name: Name) {
        self.jobs.done(now, name);
    }

    fn streams(&self) -> usize {
        self.jobs.streams()
    }

    fn came(&self, name: Name) -> Came {
        self.jobs.came(name)
    }

    fn counts(&self) -> bool {
        self.now >= self.from_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "device,read_bs,write_bw_Bps,read_iops_offered,quantile,read_clat_us,flag,throughput_achieved\n";

    #[test]
    fn rows_that_say_no_latency_of_a_load_are_left_out() {
        let rows = "x,512,0,100,p50,80,,yes (others masked)\nx,512,0,200,p95,4900,clipped>=,yes\n\
                    x,512,0,300,p50,90,,no\nx,512,0,0,p50,70,,yes\n\
                    x,4k,1000,400,p99.9,95,,not masked in this picture\n";
        let read = read_loads("m.csv", &format!("{HEADER}{rows}")).unwrap();
        let kept: Vec<_> = read.loads.iter().map(|one| (one.bytes, one.percent)).collect();
        assert_eq!(kept, [(512, 50.0), (4096, 99.9)]);
        assert_eq!(read.left_out().iter().map(|(_, count)| count).sum::<usize>(), 3);
        assert_eq!(read.unsure(), 1);
        let other = "y,512,0,100,p50,80,,no\ny,512,0,200,p50,80,,\n";
        let read = read_loads("m.csv", &format!("{HEADER}{rows}{other}")).unwrap();
        assert!(read.clone().of_device(None).is_err());
        let of_y = read.of_device(Some("Y")).unwrap();
        assert_eq!((of_y.loads.len(), of_y.left_out().len(), of_y.unsure()), (1, 1, 1));
    }

    #[test]
    fn errors_name_the_line_and_the_column() {
        let said =
            |row: &str| read_loads("m.csv", &format!("{HEADER}{row}\n")).unwrap_err().to_string();
        assert!(said("x,512,0,9,mean,80,,yes").contains("m.csv:2: `quantile`: mean is not a"));
        assert!(said("x,512,0,9,p50,fast,,yes").contains("m.csv:2: `read_clat_us`: fast is"));
        assert!(said("x,500,0,9,p50,80,,yes").contains("m.csv:2: `read_bs`: 500 is not"));
        assert!(read_loads("m.csv", "device\nx\n").unwrap_err().to_string().contains("m.csv:1"));
    }

    /// It looked at reads alone. The disk writes 1.02 GB a second, and none of these reads waits for its writes.
    #[test]
    fn a_rate_of_writes_that_the_drive_does_not_keep_up_with_is_told() {
        let drive = crate::catalogue::drive("i3en").unwrap();
        let load = |written_per_s| Load {
            device: "x".into(),
            bytes: 512,
            reads_per_s: 30_000,
            written_per_s,
            percent: 50.0,
            us: 100.0,
            is_reached: true,
        };
        let loads = [1_000_000, 900_000_000, 1_200_000_000, 20_000_000_000].map(load);
        let (judged, groups) = judge_loads(&drive, &loads).unwrap();
        let keeps_up: Vec<bool> = judged.iter().map(|one| one.keeps_up).collect();
        assert_eq!(keeps_up, [true, true, false, false]);
        assert_eq!(groups[0].behind, Some(2));
    }

    #[test]
    fn a_group_is_called_as_its_percentile_is_written() {
        let drive = crate::catalogue::drive("i3en").unwrap();
        let load = |percent| Load {
            device: "x".into(),
            bytes: 512,
            reads_per_s: 100_000,
            written_per_s: 0,
            percent,
            us: 100.0,
            is_reached: true,
        };
        let (_, groups) = judge_loads(&drive, &[load(99.99999), load(0.00001)]).unwrap();
        let names: Vec<&str> = groups.iter().map(|group| group.group.as_str()).collect();
        assert_eq!(names, ["read 512 p0.00001", "read 512 p99.99999", ALL]);
    }

    #[test]
    fn a_load_that_is_left_out_has_its_own_reason() {
        let why = |row: &str| {
            let loads = read_loads("m.csv", &format!("{HEADER}{row}")).unwrap();
            loads.of_device(None).unwrap_err().to_string()
        };
        assert!(
            why("x,512,0,0.5,p50,80,,yes\n").ends_with("less than 1 read a second was offered")
        );
        assert!(why("x,512,0,0,p50,80,,yes\n").ends_with("no reads were offered"));
        assert_eq!(why(""), "the file has no row; give latencies of a device at loads");
    }

    /// 200 reads a second are more than a disk of 7200 rpm does in any order; 5 are a fraction.
    #[test]
    fn a_load_that_the_drive_does_not_keep_up_with_is_told() {
        let drive = crate::catalogue::drive("dt01aca200").unwrap();
        let load = |reads_per_s| Load {
            device: "x".into(),
            bytes: 512,
            reads_per_s,
            written_per_s: 0,
            percent: 50.0,
            us: 15_000.0,
            is_reached: true,
        };
        let (judged, groups) = judge_loads(&drive, &[load(5), load(500)]).unwrap();
        assert_eq!((judged[0].keeps_up, judged[1].keeps_up), (true, false));
        assert!(judged[1].modelled_us > 100.0 * judged[0].modelled_us);
        assert_eq!((groups[0].group.as_str(), groups[0].behind), ("read 512 p50", Some(1)));
    }
}
