//! A cloud volume: a delay behind limits that depend on its size and on what is provisioned.

mod limits;
mod listed;
pub(super) mod shared;
pub(in crate::catalogue) mod sold;
mod times;

use super::{Built, ClassModel, Drive, DriveClass, DriveFigures, DriveKeys, Limits, Model};
use crate::catalogue::declare::figures;
use crate::catalogue::figure::{Shape, count, figure, rate, time_us};
use crate::catalogue::listing::{Derived, Row};
use crate::catalogue::sheet::Sheet;
use crate::error::{Error, Result};
use crate::keys::words;
use block::SECTOR_BYTES;
use sim::cloud::{CloudSpec, Counts, Limit};
use times::log_normal_ns;

/// The class of cloud volumes.
pub(super) const CLASS: DriveClass = DriveClass {
    name: "cloud",
    title: "Figures of a cloud volume",
    figures: CloudFigures::FIGURES,
    keys: &["credit"],
    provisioned: &[("size", "sectors"), ("iops", "iops"), ("mb_per_s", "mb_per_s")],
    all: &[DriveFigures::FIGURES, CloudFigures::FIGURES],
    read: |sheet, figures| Cloud::read(sheet, figures).map(|cloud| Model::Cloud(Box::new(cloud))),
};

words! {
    /// The burst credit of a cloud volume when a run begins.
    pub enum Credit {
        /// None is left: what lasts.
        Spent = "spent",
        /// All that it can have.
        Full = "full",
    }
}

figures! {
    /// The figures of a cloud volume.
    pub struct CloudFigures {
        /// smallest volume
        size_least: Option<u64> = figure("size_least", "bytes", Shape::Bytes).or("any"),
        /// largest volume
        size_most: Option<u64> = figure("size_most", "bytes", Shape::Bytes).or("any"),
        /// median time of a read below the limits
        latency_p50_us: f64 = figure("latency_p50_us", "us", time_us()),
        /// 95th percentile of it; in between and beyond as of a log-normal distribution
        latency_p95_us: f64 = figure("latency_p95_us", "us", time_us()),
        /// median time of a write
        write_p50_us: Option<f64> = figure("write_p50_us", "us", time_us()).or("as of a read"),
        /// 95th percentile of it
        write_p95_us: Option<f64> = figure("write_p95_us", "us", time_us()).or("as of a read"),
        /// what counts as one I/O at most; larger commands count as several
        io_unit: u64 = figure("io_unit", "bytes", Shape::Size),
        /// commands that follow each other count as one I/O up to that size
        merges: bool = figure("merges", "", Shape::Switch),
        /// a smaller command counts as a whole unit in the limit on bytes, too
        charges_units: bool = figure("charges_units", "", Shape::Switch).default("false"),
        /// volumes of this kind on one machine share the limits of one volume as large as all of them
        shares_limits: bool = figure("shares_limits", "", Shape::Switch).default("false"),
        /// I/Os a second, of any size of the volume; what is provisioned
        iops: Option<f64> = figure("iops", "1/s", ios()).or("only what follows from the size"),
        /// I/Os a second more for each GiB, unless they are provisioned
        iops_per_gib: f64 = figure("iops_per_gib", "1/s", Shape::Number(0.0..=1e6)).default("0"),
        /// I/Os a second that come with each MB/s that is provisioned
        iops_per_mb_per_s: f64 = figure("iops_per_mb_per_s", "1/s", Shape::Number(0.0..=1e6)).default("0"),
        /// least I/Os a second of a small volume
        iops_least: Option<f64> = figure("iops_least", "1/s", ios()).or("no limit"),
        /// most I/Os a second of a large volume, or that can be provisioned
        iops_most: Option<f64> = figure("iops_most", "1/s", ios()).or("no limit"),
        /// most that can be provisioned for each GiB
        iops_most_per_gib: Option<f64> = figure("iops_most_per_gib", "1/s", ios()).or("no limit"),
        /// how many times as many writes as reads
        write_iops_ratio: f64 = figure("write_iops_ratio", "", Shape::Number(0.01..=100.0)).default("1"),
        /// bytes a second, of any size of the volume; what is provisioned
        mb_per_s: Option<f64> = figure("mb_per_s", "MB/s", rate()).or("only what follows from the size"),
        /// bytes a second more for each GiB, unless they are provisioned
        mb_per_s_per_gib: f64 = figure("mb_per_s_per_gib", "MB/s", Shape::Number(0.0..=1e5)).default("0"),
        /// least bytes a second of a small volume
        mb_per_s_least: Option<f64> = figure("mb_per_s_least", "MB/s", rate()).or("no limit"),
        /// most bytes a second of a large volume, or that can be provisioned
        mb_per_s_most: Option<f64> = figure("mb_per_s_most", "MB/s", rate()).or("no limit"),
        /// most bytes a second for each I/O a second
        mb_per_s_most_per_iops: Option<f64> =
            figure("mb_per_s_most_per_iops", "MB/s", Shape::Number(1e-3..=100.0)).or("no limit"),
        /// how many times as many bytes written as read
        write_mb_per_s_ratio: f64 =
            figure("write_mb_per_s_ratio", "", Shape::Number(0.01..=100.0)).default("1"),
        /// I/Os a second while there is burst credit
        burst_iops: Option<f64> = figure("burst_iops", "1/s", ios()).or("no burst"),
        /// burst credit when it is full: I/Os ahead of the base rate
        burst_ios: Option<f64> = figure("burst_ios", "", Shape::Number(1.0..=1e12)).or("no burst"),
        /// bytes a second while there is burst credit
        burst_mb_per_s: Option<f64> = figure("burst_mb_per_s", "MB/s", rate()).or("no burst"),
        /// the same for each GiB
        burst_mb_per_s_per_gib: Option<f64> =
            figure("burst_mb_per_s_per_gib", "MB/s", Shape::Number(1e-6..=1e5)).or("the same for all sizes"),
        /// up to this size a volume has no more bytes a second for burst credit
        burst_mb_per_s_above: Option<u64> = figure("burst_mb_per_s_above", "bytes", Shape::Bytes).or("any"),
        /// burst credit when it is full: bytes ahead of the base rate
        burst_bytes: Option<u64> = figure("burst_bytes", "bytes", Shape::Bytes).or("no burst"),
        /// the same as a share of the capacity
        burst_bytes_share: Option<f64> =
            figure("burst_bytes_share", "", Shape::Number(1e-6..=1e6)).or("no burst"),
        /// commands that the host's driver has with it at a time
        queue_depth: u32 = figure("queue_depth", "", count(1, 65_536)).default("1023"),
        /// how long a limit that is not used is saved up
        kept_ms: f64 = figure("kept_ms", "ms", Shape::Number(0.0..=10_000.0)).default("10"),
    }
}

const fn ios() -> Shape {
    Shape::Number(1e-3..=1e9)
}

/// A cloud volume, with what an experiment may change of it.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// Its figures.
    pub figures: CloudFigures,
    /// Its burst credit when a run begins.
    pub credit: Credit,
    sectors: u64,
    /// The name of its file in errors.
    label: String,
}

/// The largest command that Linux sends, in bytes.
const COMMAND_BYTES: u32 = 512 * 1024;

/// What makes a volume's limits follow from its size.
pub(super) const OF_THE_SIZE: [&str; 3] =
    ["iops_per_gib", "mb_per_s_per_gib", "burst_mb_per_s_per_gib"];

/// A network that nobody knows the rate of.
const INTERFACE_BYTES_PER_S: f64 = 1e12;

impl Cloud {
    fn read(sheet: &Sheet, of_every_drive: &DriveFigures) -> Result<Self> {
        let cloud = Cloud {
            figures: CloudFigures::read(sheet),
            credit: Credit::Spent,
            sectors: of_every_drive.sectors,
            label: sheet.label.clone(),
        };
        cloud.check_provisioned()?;
        cloud.build(0)?;
        Ok(cloud)
    }

    /// How long a limit that is not used is saved up, in ns.
    pub fn saved_ns(&self) -> u64 {
        (self.figures.kept_ms * 1e6) as u64
    }

    /// Whether it has burst credit.
    pub fn bursts(&self) -> bool {
        self.spec().limits.iter().any(|limit| limit.is_credit)
    }

    /// The volume as the simulator models it.
    pub fn spec(&self) -> CloudSpec {
        let figures = &self.figures;
        let times = |p50_us: f64, p95_us: f64| log_normal_ns(p50_us, p95_us.max(p50_us));
        let [read_p50, read_p95] = [figures.latency_p50_us, figures.latency_p95_us];
        CloudSpec {
            sectors: self.sectors,
            unit_bytes: figures.io_unit as u32,
            merges: figures.merges,
            read_ns: times(read_p50, read_p95),
            write_ns: times(
                figures.write_p50_us.unwrap_or(read_p50),
                figures.write_p95_us.unwrap_or(read_p95),
            ),
            limits: self.limits_of_ios().into_iter().chain(self.limits_of_bytes()).collect(),
        }
    }
}

impl ClassModel for Cloud {
    fn rates(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[("latencies", &["latency_p50_us", "latency_p95_us"])]
    }

    fn change(&mut self, keys: &DriveKeys) {
        self.credit = keys.credit.unwrap_or(self.credit);
    }

    fn build(&self, seed: u64) -> Result<Built> {
        let built = sim::CloudVolume::new(&self.spec(), seed).map_err(|error| {
            Error::input(format!("{}: {error}; check these figures", self.label))
        })?;
        Ok(Built::Alone(Box::new(built)))
    }

    fn limits(&self) -> Result<Limits> {
        let most = |counts: fn(&Limit) -> bool| {
            let rates = self.spec().limits.into_iter().filter(counts);
            rates.map(|limit| limit.reads_per_s.max(limit.writes_per_s) as f64).reduce(f64::min)
        };
        let bytes = most(|limit| limit.counts != Counts::Ios && !limit.is_credit);
        let ios = most(|limit| limit.counts == Counts::Ios && !limit.is_credit);
        let rate = bytes.or(ios.map(|ios| ios * self.figures.io_unit as f64)).unwrap_or(1e11);
        // What of the rate was saved up passes at once, and one command more.
        let saved_bytes = rate * self.figures.kept_ms / 1e3 + self.figures.io_unit as f64;
        Ok(Limits {
            media_bytes_per_s: rate,
            interface_bytes_per_s: INTERFACE_BYTES_PER_S,
            read_cache_sectors: 0,
            write_cache_sectors: saved_bytes as u64 / SECTOR_BYTES,
            reorders: false,
        })
    }

    fn slowest_bytes_per_s(&self) -> Result<Vec<(&'static str, u64)>> {
        let spec = self.spec();
        let slowest = |key, is: fn(&Limit) -> bool, unit_bytes: u64| {
            let rates = spec.limits.iter().filter(|limit| is(limit));
            let rates = rates.map(|limit| limit.reads_per_s.min(limit.writes_per_s) * unit_bytes);
            rates.min().map(|rate| (key, rate))
        };
        let bytes = slowest("mb_per_s", |limit| limit.counts != Counts::Ios, 1);
        let ios = slowest("iops", |limit| limit.counts == Counts::Ios, SECTOR_BYTES);
        let longest_ns = spec.read_ns.iter().chain(&spec.write_ns).max().copied().unwrap_or(1);
        let alone = SECTOR_BYTES * 1_000_000_000 / longest_ns.max(1);
        Ok(bytes.into_iter().chain(ios).chain([("latency_p95_us", alone)]).collect())
    }

    /// By commands as large as Linux sends, without burst credit.
    fn copied_bytes_per_s(&self) -> Result<(f64, f64)> {
        let spec = self.spec();
        let most = if spec.merges { spec.unit_bytes } else { spec.unit_bytes.min(COMMAND_BYTES) };
        let rates = spec.limits.iter().map(|limit| {
            let each = if limit.counts == Counts::Ios { f64::from(most) } else { 1.0 };
            limit.reads_per_s.min(limit.writes_per_s) as f64 * each
        });
        let rate = rates.fold(INTERFACE_BYTES_PER_S, f64::min);
        Ok((rate, rate))
    }

    fn write_cache(&self) -> bool {
        false
    }

    fn queue_depth(&self) -> usize {
        self.figures.queue_depth as usize
    }

    fn state(&self) -> Option<&'static str> {
        self.bursts().then(|| self.credit.word())
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn row(&self, drive: &Drive) -> Result<Option<Row>> {
        Ok(Some(listed::row(drive, self)))
    }

    fn derived(&self, drive: &Drive) -> Result<Vec<Derived>> {
        Ok(listed::derived(drive, self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::drive;
    use std::fmt::Write as _;

    fn cloud(name: &str) -> Cloud {
        drive(name).unwrap().cloud().unwrap().clone()
    }

    /// What the services' tables say of a few sizes.
    #[test]
    fn limits_follow_from_the_size() {
        let rates = |name: &str| {
            let cloud = cloud(name);
            let rates = [cloud.iops().unwrap(), cloud.bytes_per_s().unwrap() / 1_048_576.0];
            rates.map(|rate| rate.round() as u64)
        };
        for (name, expected) in [
            ("gp2[size=10GiB]", [100, 128]),
            ("gp2[size=1000GiB]", [3000, 250]),
            ("gp2[size=16TiB]", [16_000, 250]),
            ("gp3", [3000, 125]),
            ("gp3[iops=16000,mb_per_s=1000]", [16_000, 954]),
            ("st1[size=2TiB]", [500, 80]),
            ("sc1[size=16TiB]", [250, 192]),
            ("P30", [5000, 191]),
        ] {
            assert_eq!(rates(name), expected, "{name}");
        }
    }

    /// AWS: up to 170 GiB a gp2 has 128 MiB/s, above 250 MiB/s while it has credit, and from 334 GiB on in any case. Without
    /// credit it has 3 I/Os of 256 KiB a second for each GiB, up to these: at 171 GiB 128.25 MiB/s. Volumes of 171 to 333 GiB
    /// had as much with full credit.
    #[test]
    fn a_gp2_above_170_gib_bursts_to_250_mib() {
        let sizes = [
            (100, [128.0, 75.0]),
            (170, [128.0, 127.5]),
            (171, [250.0, 128.25]),
            (200, [250.0, 150.0]),
            (300, [250.0, 225.0]),
            (334, [250.0, 250.0]),
            (500, [250.0, 250.0]),
            (1000, [250.0, 250.0]),
        ];
        let mut text = "run.repeats = 1\n[volume]\nlevel = 'single'\n".to_string();
        for (gib, _) in sizes {
            for credit in [Credit::Full, Credit::Spent].map(Credit::word) {
                write!(
                    text,
                    "[workload.w{gib}-{credit}]\nkind = 'random'\nblock = '256KiB'\ndepth = 64\ncount = 4000\n\
                     volume.drives = '1xgp2[size={gib}GiB]'\ndrive.credit = '{credit}'\n"
                )
                .unwrap();
            }
        }
        let experiment = crate::experiment::Experiment::parse("x.toml", &text).unwrap();
        let ran = crate::run(&experiment, &crate::rig::sim::Sim, crate::Keep::Nowhere, &mut |_| ());
        let ran = ran.unwrap();
        let rate = |gib: u64, credit: &str| {
            let name = format!("w{gib}-{credit}");
            let record = ran.records().into_iter().find(|record| record.workload == name).unwrap();
            record.sample("mb_per_s").unwrap() / 1.048_576
        };
        for (gib, by_hand) in sizes {
            for (credit, expected) in ["full", "spent"].into_iter().zip(by_hand) {
                let rate = rate(gib, credit);
                assert!(
                    (rate / expected - 1.0).abs() < 0.01,
                    "{gib} {credit}: {rate} for {expected}"
                );
            }
        }
        // What lasts is what is told of it.
        let lasting = |gib: u64| cloud(&format!("gp2[size={gib}GiB]")).bytes_per_s().unwrap();
        assert!((lasting(200) / 1_048_576.0 - 150.0).abs() < 1e-6, "{}", lasting(200));
    }

    #[test]
    fn what_cannot_be_provisioned_is_refused() {
        let message = |name: &str| drive(name).unwrap_err().to_string();
        let small = message("gp3[size=10GiB,iops=6000]");
        assert!(small.contains("more than the 5000 that a volume of 10 GiB can have"), "{small}");
        assert!(message("gp3[size=70TiB]").contains("1 to 65536 GiB"));
        assert!(message("gp2[size=20TiB]").contains("1 to 16384 GiB"));
        let azure = message("azure-premium-ssd-v2[size=100GiB,iops=80000,mb_per_s=1200]");
        assert!(azure.contains("more than the 50000 that a volume of 100 GiB can have"), "{azure}");
        assert!(azure.contains("a `size` of 160 GiB or more"), "{azure}");
        assert!(message("gp3[mb_per_s=9999]").contains("more than the most"));
        assert!(message("gp3[iops=60]").contains("60 is less than the least, 3000"));
    }

    /// 180 MiB/s come with 720 I/Os a second, not with 2400; 2,400 MiB/s, which were refused, with 9,600.
    #[test]
    fn hyperdisk_throughput_has_four_ios_a_mib() {
        let of = |name: &str| {
            let cloud = cloud(name);
            (cloud.iops().unwrap().round(), (cloud.bytes_per_s().unwrap() / 1_048_576.0).round())
        };
        assert_eq!(of("gcp-hyperdisk-throughput"), (720.0, 180.0));
        assert_eq!(of("hyperdisk-throughput[size=32TiB,mb_per_s=2516.5824]"), (9600.0, 2400.0));
        for (name, says) in [
            (
                "hyperdisk-throughput[size=1TiB]",
                "1024 GiB is not a size that it has; take 2048 to 32768 GiB",
            ),
            ("hyperdisk-throughput[mb_per_s=2600]", "2600 is more than the most, 2516.5824"),
            ("hyperdisk-throughput[mb_per_s=10]", "10 is less than the least, 20.97152"),
            ("hyperdisk-throughput[iops=1000]", "`iops` follows from `size` and `mb_per_s`"),
            (
                "hyperdisk-extreme[size=50GiB]",
                "50 GiB is not a size that it has; take 64 to 65536 GiB",
            ),
            ("pd-ssd[iops=9000]", "`iops` follows from `size`"),
            ("oci-balanced[mb_per_s=400]", "`mb_per_s` follows from `size`"),
        ] {
            let said = drive(name).unwrap_err().to_string();
            assert!(said.contains(says), "{name}: {said}");
        }
    }

    /// More bytes a second than go with the I/Os are refused, and what does go with them is not.
    #[test]
    fn bytes_go_with_ios() {
        let message = |name: &str| drive(name).unwrap_err().to_string();
        let wide = message("gp3[size=500GiB,iops=6000,mb_per_s=2000]");
        assert!(wide.contains("2000 is more than the 1572.864 that go with 6000 I/Os"), "{wide}");
        assert!(
            wide.contains("figures.mb_per_s") && wide.contains("`iops=7630` or more"),
            "{wide}"
        );
        assert!(
            wide.ends_with("; write `mb_per_s=1572.864` or less, or `iops=7630` or more"),
            "{wide}"
        );
        let many = message("gp3[size=500GiB,iops=90000]");
        assert!(many.ends_with("of 500 GiB can have; write `iops=80000` or less"), "{many}");
        // 10 GiB may have 5000.
        let small = message("gp3[size=10GiB,mb_per_s=2000]");
        assert!(small.ends_with("`iops=7630` or more and a `size` of 16 GiB or more"), "{small}");
        let google = message("gcp-hyperdisk-balanced[size=100GiB,iops=3000,mb_per_s=2400]");
        assert!(google.contains("2400 is more than the 786.432"), "{google}");
        let azure = message("azure-premium-ssd-v2[size=100GiB,mb_per_s=760]");
        assert!(azure.contains("760 is more than the 750"), "{azure}");
        let exact = cloud("gp3[size=500GiB,iops=6000,mb_per_s=1572.864]").bytes_per_s().unwrap();
        assert!((exact / 1_572_864_000.0 - 1.0).abs() < 1e-9, "{exact}");
        // What can not be provisioned follows from the I/Os.
        assert!(cloud("io2[size=1TiB,iops=4000]").bytes_per_s().unwrap() < 1.05e9);
    }
}
