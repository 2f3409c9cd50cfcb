//! Members that are not all of one kind: what they have together, in whatever order they stand.
//!
//! A group of n ends when p + 1 of its members are down, whichever. So what counts of their rates is the mean product
//! of p + 1 different ones. From one state to the next that is a chain with the rate
//!
//! ```text
//! λ(j) = P(j+1) / P(j)      P(k): the mean, over all choices of k members, of the product of their rates
//! ```
//!
//! for each member that is left; alike members have λ(j) = λ. Rates of 1 and 3 under one parity: λ(0) = 2, λ(1) = 1.5.
//! Of several groups P is the mean over all ways to deal the members out, and in the worst case like stands with
//! like: then P(k) is the mean of λ^k, which no way to deal them out exceeds (Maclaurin's inequality).

use crate::inputs::{DriveFacts, Inputs, Range, Sourced};

/// What one member has of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Own {
    /// Its failures in a year.
    pub afr: Range,
    /// Its episodes of bad sectors in a year.
    pub bad_sectors: Range,
}

impl Inputs {
    /// What is assumed of a volume on these drives, with so many spares; `None` of none.
    ///
    /// Failures and bad sectors are those of each. A rebuild takes as long as the fastest of them needs at best, as the
    /// slowest at worst.
    pub fn of_members(drives: &[DriveFacts], spares: usize) -> Option<Self> {
        let mut drives: Vec<&DriveFacts> = drives.iter().collect();
        // Sums of the same numbers in another order differ in their last digit.
        drives.sort_by(|one, other| (&one.names, one.bytes).cmp(&(&other.names, other.bytes)));
        let first = Inputs::of(drives.first()?, spares);
        if drives.iter().all(|drive| *drive == drives[0]) {
            return Some(first);
        }
        let each: Vec<Inputs> = drives.iter().map(|drive| Inputs::of(drive, spares)).collect();
        let over = |of: fn(&Inputs) -> f64, pick: fn(f64, f64) -> f64| {
            each.iter().map(of).fold(of(&first), pick)
        };
        let rebuild_h = Range {
            low: over(|of| of.rebuild_h.range.low, f64::min),
            middle: mean(&each, |of| of.rebuild_h.range.middle),
            high: over(|of| of.rebuild_h.range.high, f64::max),
        };
        let own = |of: &Inputs| Own { afr: of.afr.range, bad_sectors: of.bad_sectors.range };
        Some(Inputs {
            afr: Sourced {
                range: means(&each, |of| of.afr.range),
                source: "the mean of the members, each with its own".into(),
            },
            rebuild_h: Sourced {
                range: rebuild_h,
                source: "the fastest of the members at best, the slowest at worst".into(),
            },
            bad_sectors: Sourced {
                range: means(&each, |of| of.bad_sectors.range),
                source: "the mean of the members, each with its own".into(),
            },
            is_flash: drives.iter().any(|drive| drive.is_flash),
            per_bit: over(|of| of.per_bit, f64::max),
            drive_bytes: over(|of| of.drive_bytes, f64::max),
            members: each.iter().map(own).collect(),
            ..first
        })
    }

    /// Episodes of bad sectors a year on each of the members that are left: the mean, but of members that are not
    /// alike the best may be left in the best case, and the worst in the worst.
    pub(crate) fn bad_sectors_of_rest(&self, place: usize) -> f64 {
        let own = self.members.iter().map(|own| own.bad_sectors.values()[place]);
        match place {
            0 => own.reduce(f64::min),
            1 => None,
            _ => own.reduce(f64::max),
        }
        .unwrap_or(self.bad_sectors.range.values()[place])
    }

    /// λ(j) for each j up to `survived`, as multiples of the mean rate; empty where the members are alike.
    pub(crate) fn uneven(&self, place: usize, groups: usize, survived: usize) -> Vec<f64> {
        if self.members.is_empty() {
            return Vec::new();
        }
        let mean = self.afr.range.values()[place];
        let rates: Vec<f64> =
            self.members.iter().map(|own| own.afr.values()[place] / mean).collect();
        let products = if groups > 1 && place == 2 {
            powers(&rates, survived + 1)
        } else {
            products(&rates, survived + 1)
        };
        products.windows(2).map(|pair| pair[1] / pair[0]).collect()
    }
}

fn mean(each: &[Inputs], of: impl Fn(&Inputs) -> f64) -> f64 {
    each.iter().map(of).sum::<f64>() / each.len() as f64
}

fn means(each: &[Inputs], of: impl Fn(&Inputs) -> Range) -> Range {
    let [low, middle, high] = [0, 1, 2].map(|place| mean(each, |own| of(own).values()[place]));
    Range { low, middle, high }
}

/// P(0) to P(`most`): the mean product of so many different rates, without a binomial that could overflow.
fn products(rates: &[f64], most: usize) -> Vec<f64> {
    let mut mean = vec![0.0; most + 1];
    mean[0] = 1.0;
    for (before, rate) in rates.iter().enumerate() {
        let count = (before + 1) as f64;
        for taken in (1..=most.min(before + 1)).rev() {
            let with = taken as f64 / count;
            mean[taken] = (1.0 - with) * mean[taken] + with * rate * mean[taken - 1];
        }
    }
    mean
}

/// The same where only equal ones stand together: the means of λ^0, λ^1 …
fn powers(rates: &[f64], most: usize) -> Vec<f64> {
    let mean = |power: usize| rates.iter().map(|rate| rate.powf(power as f64)).sum::<f64>();
    (0..=most).map(|power| mean(power) / rates.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Copied;
    use crate::{Risk, Shape, assess};

    fn drive(name: &str, bytes_per_s: f64) -> DriveFacts {
        DriveFacts {
            names: vec![name.into()],
            bytes: 16_000_000_000_000,
            copied: Copied::at(bytes_per_s),
            is_flash: false,
            is_shingled: false,
            rented: None,
        }
    }

    fn of(level: &str, drives: &[DriveFacts]) -> (Risk, Inputs) {
        let inputs = Inputs::of_members(drives, 0).unwrap();
        let shape = Shape::new(level, drives.len(), None).unwrap();
        (assess(&shape, &inputs, 200, 1), inputs)
    }

    /// Five drives that hardly fail and one that often does, in both orders: 0.083 % at worst and 6.0 %, as the first was
    /// taken for all.
    #[test]
    fn the_order_of_members_does_not_matter() {
        let [rarely, often] = [("MG11ACA24TE", 180e6), ("ST18000NM000J", 160e6)]
            .map(|(name, rate)| drive(name, rate));
        let mut mixed = vec![rarely.clone(); 5];
        mixed.push(often.clone());
        for level in ["md-raid5", "md-raid10", "md-raid10-f2", "md-raid6", "md-stripe"] {
            let (risk, inputs) = of(level, &mixed);
            let backwards: Vec<DriveFacts> = mixed.iter().rev().cloned().collect();
            assert_eq!(of(level, &backwards), (risk.clone(), inputs.clone()), "{level}");
            let [(good, fast), (bad, slow)] =
                [&rarely, &often].map(|one| of(level, &vec![one.clone(); 6]));
            for place in 0..3 {
                let at = |risk: &Risk| risk.gone.values()[place];
                let [low, own, high] = [&good, &risk, &bad].map(at);
                assert!(low < own && own < high, "{level}: {low} {own} {high}");
            }
            let hours = inputs.rebuild_h.range;
            assert_eq!(hours.low.to_bits(), fast.rebuild_h.range.low.to_bits());
            assert_eq!(hours.high.to_bits(), slow.rebuild_h.range.high.to_bits());
        }
    }

    /// A stripe fails as the sum of its members does.
    #[test]
    fn a_stripe_has_the_sum_of_its_members() {
        let members = [drive("MG11ACA24TE", 2e8), drive("ST18000NM000J", 2e8)];
        let (risk, inputs) = of("md-stripe", &members);
        let alone = members.map(|one| Inputs::of(&one, 0).afr.range);
        for place in 0..3 {
            let expected: f64 = alone.iter().map(|range| range.values()[place]).sum();
            let own = -(-risk.gone.values()[place]).ln_1p() / inputs.years;
            assert!((own / expected - 1.0).abs() < 1e-9, "{own} {expected}");
        }
    }

    /// Pairs of 1, 2 and 4: the mean product is (2 + 4 + 8) / 3, of all three it is 8.
    #[test]
    fn products_are_of_different_members() {
        let found = products(&[1.0, 2.0, 4.0], 3);
        let expected = [1.0, 7.0 / 3.0, 14.0 / 3.0, 8.0];
        for (one, other) in found.iter().zip(expected) {
            assert!((one - other).abs() < 1e-12, "{found:?}");
        }
        assert!(powers(&[1.0, 2.0, 4.0], 2)[2] > found[2]);
    }

    /// RAID 5 of unlike members beside the exact chain, with a state for each member that is down.
    #[test]
    fn the_chain_is_that_of_each_member() {
        let rates = [1e-7, 2e-7, 4e-6, 1e-6];
        let mean: f64 = rates.iter().sum::<f64>() / 4.0;
        let products = products(&rates.map(|rate| rate / mean), 2);
        let chain = crate::chain::Chain {
            members: 4,
            survived: 1,
            failures_per_h: mean,
            uneven: products.windows(2).map(|pair| pair[1] / pair[0]).collect(),
            rebuilds_per_h: 0.02,
            side_by_side: false,
            acceleration: 1.0,
            unreadable: 0.0,
        };
        // T = 1/Σ + Σ λi/Σ (1 + µ T) / (Σ − λi + µ), solved for T.
        let all: f64 = rates.iter().sum();
        let weight = |of: &dyn Fn(f64) -> f64| -> f64 {
            rates.iter().map(|rate| rate / all * of(all - rate + 0.02)).sum()
        };
        let (stays, back) = (weight(&|out| 1.0 / out), weight(&|out| 0.02 / out));
        let exact_h = (1.0 / all + stays) / (1.0 - back);
        assert!((chain.end_h() / exact_h - 1.0).abs() < 1e-4, "{} {exact_h}", chain.end_h());
    }
}
