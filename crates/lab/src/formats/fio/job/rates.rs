//! The rates that a job is held to, those of reads and those of writes.

use super::{Job, Rates};
use crate::error::{Error, Result};

impl Job {
    /// Whether a rate is one of its reads and one of its writes. fio holds each direction to it, and goes on with the other
    /// where one is ahead, whatever the mix (fio 3.33: 100 reads and 100 writes a second at `rate_iops=100` and 50, 70 and
    /// 90 % of reads). A program that thinks seldom reaches a rate, and keeps its mix.
    pub(in crate::formats::fio) fn has_two_rates(&self) -> bool {
        self.does_both() && self.has_a_rate() && self.think_ns == 0
    }

    /// Whether its reads or its writes have a rate.
    fn has_a_rate(&self) -> bool {
        let sides = [&self.rate, &self.rate_iops].map(|rates| rates.reads.or(rates.writes));
        sides.iter().any(Option::is_some)
    }

    /// The rates that fio holds reads and writes to.
    pub(in crate::formats::fio) fn rates(&self) -> &Rates {
        if self.rate.written.is_empty() { &self.rate_iops } else { &self.rate }
    }

    /// Whether it reads and writes.
    pub(super) fn does_both(&self) -> bool {
        self.mixed && (1..100).contains(&self.mix_percent)
    }

    /// The rate of reads and writes together, where it does both: where its mix is kept, that at which the first of them
    /// reaches its own.
    fn together(&self, reads: u64, writes: u64) -> u64 {
        if self.has_two_rates() {
            return reads.saturating_add(writes);
        }
        let share = u64::from(self.mix_percent);
        let of_all = |rate: u64, percent: u64| rate.saturating_mul(100) / percent;
        of_all(reads, share).min(of_all(writes, 100 - share)).max(1)
    }

    /// What `rates` let reads and writes do together; of what does one alone, its own.
    pub(super) fn all_of(&self, rates: &Rates) -> Option<u64> {
        if self.does_both() {
            return Some(self.together(rates.reads?, rates.writes?));
        }
        let reads = if self.mixed { self.mix_percent } else { self.reads_percent };
        if reads == 0 { rates.writes } else { rates.reads }
    }

    /// Whether it has rates of one sort only (`fixup_options` in fio's init.c), and no direction of a mix goes as fast as it
    /// can beside one that has a rate.
    pub(super) fn check_rates(&self, label: &str) -> Result<()> {
        if !self.rate.written.is_empty() && !self.rate_iops.written.is_empty() {
            return Err(Error::input(format!(
                "{label}:{}: [{}]: fio takes `{}` or `{}`, not both; leave one out",
                self.line, self.name, self.rate.written, self.rate_iops.written
            )));
        }
        for rates in [&self.rate, &self.rate_iops] {
            let lacks = match (rates.reads, rates.writes) {
                (None, Some(_)) => "reads",
                (Some(_), None) => "writes",
                _ => continue,
            };
            if self.does_both() {
                let written = &rates.written;
                let (option, value) = written.split_once('=').unwrap_or((written, ""));
                let rate = value.trim_matches(',');
                return Err(Error::input(format!(
                    "{label}:{}: [{}]: `{written}` has no rate of its {lacks}, and it reads and writes; give both rates, as in \
                     `{option}={rate},{rate}`",
                    self.line, self.name
                )));
            }
        }
        Ok(())
    }

    /// The share of reads in percent: where both directions have a rate, as these are.
    pub(in crate::formats::fio) fn share_of_reads(&self) -> u64 {
        let rates = self.rates();
        match (self.has_two_rates(), rates.reads, rates.writes) {
            (true, Some(reads), Some(writes)) => {
                let both = u128::from(reads) + u128::from(writes);
                let percent = (100 * u128::from(reads) + both / 2) / both;
                percent.clamp(1, 99) as u64
            }
            (true, ..) => 50,
            (false, ..) => self.mix_percent.into(),
        }
    }
}
