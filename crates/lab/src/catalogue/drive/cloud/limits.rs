//! The limits of a volume: what its size and what is provisioned make of the figures.

use super::{Cloud, Credit};
use crate::catalogue::sheet::wrong;
use crate::error::Result;
use block::SECTOR_BYTES;
use sim::Nanos;
use sim::cloud::{Counts, Limit};

pub(super) const GIB: f64 = 1_073_741_824.0;
const MIB: f64 = 1_048_576.0;

/// What floating-point numbers may be off by.
const ROUNDING: f64 = 1e-9;

/// How a rate in MB/s is provisioned: in MiB/s where it is a whole number of them, as those of most providers are.
fn written(mb_per_s: f64) -> String {
    let in_mib = mb_per_s * 1e6 / MIB;
    let whole = in_mib.round();
    if (in_mib - whole).abs() < ROUNDING * whole {
        format!("`mb_per_s={whole}MiB`")
    } else {
        format!("`mb_per_s={mb_per_s}`")
    }
}

impl Cloud {
    /// I/Os a second that last.
    pub fn iops(&self) -> Option<f64> {
        let figures = &self.figures;
        let of_rate = figures.iops_per_mb_per_s * figures.mb_per_s.unwrap_or(0.0);
        let scaled = figures.iops.unwrap_or(0.0) + figures.iops_per_gib * self.gib() + of_rate;
        let most = figures.iops_most.unwrap_or(f64::INFINITY);
        let iops = scaled.max(figures.iops_least.unwrap_or(0.0)).min(most);
        (iops > 0.0).then_some(iops)
    }

    /// Bytes a second that last.
    pub fn bytes_per_s(&self) -> Option<f64> {
        let figures = &self.figures;
        let scaled = figures.mb_per_s.unwrap_or(0.0) + figures.mb_per_s_per_gib * self.gib();
        let of_ios = figures.mb_per_s_most_per_iops.zip(self.iops());
        let of_ios = of_ios.map_or(f64::INFINITY, |(each, iops)| each * iops);
        let most = figures.mb_per_s_most.unwrap_or(f64::INFINITY).min(of_ios);
        let rate = scaled.max(figures.mb_per_s_least.unwrap_or(0.0)).min(most);
        (rate > 0.0).then_some(rate * 1e6)
    }

    fn gib(&self) -> f64 {
        (self.sectors * SECTOR_BYTES) as f64 / GIB
    }

    pub(super) fn limits_of_ios(&self) -> Vec<Limit> {
        let figures = &self.figures;
        let Some(iops) = self.iops() else { return Vec::new() };
        let credit = figures.burst_iops.zip(figures.burst_ios);
        self.buckets(Counts::Ios, iops, figures.write_iops_ratio, credit)
    }

    pub(super) fn limits_of_bytes(&self) -> Vec<Limit> {
        let figures = &self.figures;
        let Some(rate) = self.bytes_per_s() else { return Vec::new() };
        let counts = if figures.charges_units { Counts::UnitBytes } else { Counts::Bytes };
        let share = figures.burst_bytes_share.map(|share| share * self.gib() * GIB);
        let credit = figures.burst_bytes.map(|bytes| bytes as f64).or(share);
        let scaled = figures.burst_mb_per_s_per_gib.map(|rate| rate * self.gib());
        let burst = [scaled, figures.burst_mb_per_s].into_iter().flatten().reduce(f64::min);
        let least = figures.burst_mb_per_s_above.unwrap_or(0);
        let burst = burst.filter(|_| self.sectors * SECTOR_BYTES > least);
        let credit = burst.map(|rate| rate * 1e6).zip(credit);
        self.buckets(counts, rate, figures.write_mb_per_s_ratio, credit)
    }

    /// The bucket of a base rate; with burst credit, that of the burst rate and a deep one of the base rate. A
    /// volume whose base is no slower than its burst has none.
    fn buckets(
        &self,
        counts: Counts,
        base: f64,
        write_ratio: f64,
        credit: Option<(f64, f64)>,
    ) -> Vec<Limit> {
        let kept_ns = (self.figures.kept_ms * 1e6) as Nanos;
        let bucket = |rate: f64, kept_ns: Nanos| Limit {
            counts,
            reads_per_s: (rate.round() as u64).max(1),
            writes_per_s: ((rate * write_ratio).round() as u64).max(1),
            kept_ns,
            is_credit: false,
            starts_full: true,
        };
        let Some((burst, credit)) = credit.filter(|&(burst, _)| burst > base) else {
            return vec![bucket(base, kept_ns)];
        };
        let deep_ns = (credit * 1e9 / base.round().max(1.0)) as Nanos;
        let starts_full = self.credit == Credit::Full;
        vec![
            bucket(burst, kept_ns),
            Limit { is_credit: true, starts_full, ..bucket(base, deep_ns.max(kept_ns)) },
        ]
    }

    /// What is provisioned can be.
    pub(super) fn check_provisioned(&self) -> Result<()> {
        let Cloud { figures, label, .. } = self;
        self.check_size()?;
        self.check_ios()?;
        self.check_bytes()?;
        if figures.latency_p95_us < figures.latency_p50_us {
            return Err(wrong(label, "latency_p95_us", "is below the median; give more"));
        }
        if self.iops().is_none() && self.bytes_per_s().is_none() {
            return Err(wrong(label, "iops", "is missing, and there is no other limit; add one"));
        }
        Ok(())
    }

    fn check_size(&self) -> Result<()> {
        let Cloud { figures, label, .. } = self;
        let bytes = self.sectors * SECTOR_BYTES;
        let [least, most] =
            [figures.size_least.unwrap_or(0), figures.size_most.unwrap_or(u64::MAX)];
        if !(least..=most).contains(&bytes) {
            let [least, most] = [least, most].map(|bytes| bytes as f64 / GIB);
            let message =
                format!("{} GiB is not a size that it has; take {least} to {most} GiB", self.gib());
            return Err(wrong(label, "sectors", message));
        }
        Ok(())
    }

    /// The most I/Os a second that a volume of this size can have.
    fn iops_most(&self) -> f64 {
        let figures = &self.figures;
        let per_gib = figures.iops_most_per_gib.map(|each| (each * self.gib()).max(3000.0));
        [figures.iops_most, per_gib].into_iter().flatten().fold(f64::INFINITY, f64::min)
    }

    /// The least GiB of a volume that can have so many I/Os a second, where some size can and sizes tell.
    fn gib_for(&self, iops: f64) -> Option<f64> {
        let figures = &self.figures;
        let each = figures.iops_most_per_gib?;
        figures.iops_most.is_none_or(|most| iops <= most).then(|| (iops / each).ceil())
    }

    fn check_ios(&self) -> Result<()> {
        let Cloud { figures, label, .. } = self;
        let most = self.iops_most();
        if let Some(iops) = figures.iops.filter(|&iops| iops > most) {
            let next = match self.gib_for(iops) {
                Some(gib) => format!(", or a `size` of {gib} GiB or more"),
                None => String::new(),
            };
            let message = format!(
                "{iops} are more than the {most} that a volume of {} GiB can have; write `iops={most}` or less{next}",
                self.gib()
            );
            return Err(wrong(label, "iops", message));
        }
        if let Some((iops, least)) =
            figures.iops.zip(figures.iops_least).filter(|(iops, least)| iops < least)
        {
            return Err(wrong(label, "iops", format!("{iops} is less than the least, {least}")));
        }
        Ok(())
    }

    /// Where bytes are provisioned, there is a most of them; else they are cut to what goes with the I/Os.
    fn check_bytes(&self) -> Result<()> {
        let Cloud { figures, label, .. } = self;
        let Some((rate, most)) = figures.mb_per_s.zip(figures.mb_per_s_most) else {
            return Ok(());
        };
        if rate > most * (1.0 + ROUNDING) {
            let message =
                format!("{rate} is more than the most, {most}; write {} or less", written(most));
            return Err(wrong(label, "mb_per_s", message));
        }
        let is_below = |least: &f64| rate < least * (1.0 - ROUNDING);
        if let Some(least) = figures.mb_per_s_least.filter(is_below) {
            let message =
                format!("{rate} is less than the least, {least}; write {} or more", written(least));
            return Err(wrong(label, "mb_per_s", message));
        }
        if let Some((each, iops)) = figures.mb_per_s_most_per_iops.zip(self.iops()) {
            let most = each * iops;
            if rate > most * (1.0 + ROUNDING) {
                let needed = (rate / each).ceil();
                let next = match self.gib_for(needed) {
                    _ if needed <= self.iops_most() => format!(", or `iops={needed}` or more"),
                    Some(gib) => {
                        format!(", or `iops={needed}` or more and a `size` of {gib} GiB or more")
                    }
                    None => String::new(),
                };
                let message = format!(
                    "{rate} is more than the {most} that go with {iops} I/Os a second; write `mb_per_s={most}` or less{next}"
                );
                return Err(wrong(label, "mb_per_s", message));
            }
        }
        Ok(())
    }
}
