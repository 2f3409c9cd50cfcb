//! Where random requests go: everywhere alike, to some blocks more often than to others, or to hot parts.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// How often each block of a range is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Skew {
    /// All alike.
    #[default]
    Uniform,
    /// The n-th most frequent block with a probability in proportion to 1 / n^theta, theta in thousandths. Blocks
    /// that are about as frequent lie anywhere in the range.
    Zipf(u32),
    /// With n blocks, the block (n - 1) u^(log h / log(1 - h)) of those in order of frequency, u from 0 to 1 and h in
    /// thousandths: fio's `pareto:h` (`pareto_next` in its `lib/zipf.c`). A share h of the blocks has a share 1 - h of the
    /// requests. Blocks that are about as frequent lie anywhere in the range.
    Pareto(u32),
    /// Parts of the range one after the other, each with its share of the requests and its share of the range, both
    /// in percent. Within a part all blocks are alike.
    Zones(Vec<(u32, u32)>),
}

/// Draws blocks.
#[derive(Clone, Debug)]
pub(super) struct Places {
    skew: Skew,
    /// For so many blocks; 0 before the first is drawn.
    blocks: u64,
    zipf: Zipf,
    /// Where blocks are scattered without Zipf.
    step: u64,
}

impl Places {
    pub(super) fn new(skew: Skew) -> Self {
        Places { skew, blocks: 0, zipf: Zipf::default(), step: 1 }
    }

    /// A block of so many.
    #[inline]
    pub(super) fn draw(&mut self, random: &mut Pcg64Mcg, blocks: u64) -> u64 {
        if self.skew == Skew::Uniform {
            below(random, blocks)
        } else {
            self.draw_skewed(random, blocks)
        }
    }

    fn draw_skewed(&mut self, random: &mut Pcg64Mcg, blocks: u64) -> u64 {
        match &self.skew {
            Skew::Uniform => below(random, blocks),
            Skew::Zipf(thousandths) => {
                if self.blocks != blocks {
                    self.blocks = blocks;
                    self.zipf = Zipf::new(blocks, f64::from(*thousandths) / 1000.0);
                }
                self.zipf.scattered(random)
            }
            Skew::Pareto(thousandths) => {
                if self.blocks != blocks {
                    self.blocks = blocks;
                    self.step = golden_step(blocks);
                }
                let share = f64::from(*thousandths) / 1000.0;
                let power = share.ln() / (1.0 - share).ln();
                let rank = ((blocks - 1) as f64 * unit(random).powf(power)) as u64;
                scattered(rank.min(blocks - 1), self.step, blocks)
            }
            Skew::Zones(zones) => zoned(random, zones, blocks),
        }
    }
}

/// A number from 0 up to 1.
fn unit(random: &mut Pcg64Mcg) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// How far apart neighbours in frequency lie, among so many blocks.
fn golden_step(blocks: u64) -> u64 {
    coprime_near(blocks, (blocks as f64 * 0.618_033_988_749_895) as u64)
}

/// Where the block of this rank, from 0, lies.
fn scattered(rank: u64, step: u64, blocks: u64) -> u64 {
    (u128::from(rank) * u128::from(step) % u128::from(blocks)) as u64
}

/// A number below `bound`, all equally likely to within 2^-64 (Lemire's multiplication).
pub(super) fn below(random: &mut Pcg64Mcg, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// A block of the zone that the draw falls into. Of 1000 blocks, 80/20:20/80 has its hot zone at 0 to 199.
fn zoned(random: &mut Pcg64Mcg, zones: &[(u32, u32)], blocks: u64) -> u64 {
    let mut pick = below(random, 100);
    let mut start_percent = 0_u64;
    for &(requests, range) in zones {
        let end_percent = start_percent + u64::from(range);
        if pick < u64::from(requests) {
            let at = |percent: u64| (u128::from(blocks) * u128::from(percent) / 100) as u64;
            let (start, end) = (at(start_percent), at(end_percent));
            // A zone smaller than a block is its first block.
            let start = start.min(blocks - 1);
            return start + below(random, end.saturating_sub(start).max(1));
        }
        pick -= u64::from(requests);
        start_percent = end_percent;
    }
    below(random, blocks)
}

/// Zipf's distribution over 1 to n by rejection-inversion (Hörmann & Derflinger, Rejection-inversion to generate
/// variates from monotone discrete distributions, ACM TOMACS 6, 1996): no table, whatever n.
#[derive(Clone, Debug, Default)]
struct Zipf {
    blocks: u64,
    theta: f64,
    /// The integral of the density at 1.5 less 1, at n + 0.5, and from which distance on a draw is taken at once.
    low: f64,
    high: f64,
    at_once: f64,
    /// Rank r lies at block r * step mod n: the next one is far away.
    step: u64,
}

impl Zipf {
    fn new(blocks: u64, theta: f64) -> Self {
        let mut zipf = Zipf { blocks, theta, ..Zipf::default() };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(blocks as f64 + 0.5);
        zipf.at_once = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf.step = golden_step(blocks);
        zipf
    }

    /// 1 / x^theta.
    fn density(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// Its integral from 1 to x: (x^(1 - theta) - 1) / (1 - theta), which is ln x where theta is 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let power = (1.0 - self.theta) * log;
        if power.abs() < 1e-9 { log } else { power.exp_m1() / power * log }
    }

    fn inverse(&self, integral: f64) -> f64 {
        let power = integral * (1.0 - self.theta);
        if power.abs() < 1e-9 { integral.exp() } else { (power.ln_1p() / power * integral).exp() }
    }

    /// A rank from 1 on.
    fn rank(&self, random: &mut Pcg64Mcg) -> u64 {
        loop {
            let drawn = self.high + unit(random) * (self.low - self.high);
            let x = self.inverse(drawn);
            let rank = (x.round() as u64).clamp(1, self.blocks);
            let (k, is_near) = (rank as f64, rank as f64 - x <= self.at_once);
            if is_near || drawn >= self.integral(k + 0.5) - self.density(k) {
                return rank;
            }
        }
    }

    fn scattered(&self, random: &mut Pcg64Mcg) -> u64 {
        scattered(self.rank(random) - 1, self.step, self.blocks)
    }
}

/// The first number from `near` on that has no divisor in common with `of`.
fn coprime_near(of: u64, near: u64) -> u64 {
    let has_common = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a > 1
    };
    let first = near.max(1);
    (first..=first + of).find(|&step| !has_common(of, step)).expect("a multiple of it and 1 is one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(skew: Skew, blocks: u64, draws: usize) -> Vec<u64> {
        let (mut places, mut random) = (Places::new(skew), Pcg64Mcg::new(5));
        let mut counts = vec![0; blocks as usize];
        for _ in 0..draws {
            counts[places.draw(&mut random, blocks) as usize] += 1;
        }
        counts
    }

    /// The n-th most frequent block is asked for in proportion to 1 / n^theta.
    #[test]
    fn frequencies_are_those_of_zipf() {
        for theta in [0.5, 0.99, 1.0, 1.2, 2.0] {
            let (blocks, draws) = (1000, 400_000);
            let mut counts = counts(Skew::Zipf((theta * 1000.0) as u32), blocks, draws);
            counts.sort_unstable_by(|a, b| b.cmp(a));
            let weight = |rank: usize| (rank as f64).powf(-theta);
            let sum: f64 = (1..=blocks as usize).map(weight).sum();
            for rank in [1, 2, 3, 10] {
                let expected = draws as f64 * weight(rank) / sum;
                let found = counts[rank - 1] as f64;
                assert!(
                    (found - expected).abs() < 5.0 * expected.sqrt() + 0.01 * expected,
                    "theta {theta}, rank {rank}: {found}, not {expected:.0}"
                );
            }
            let top: u64 = counts[..100].iter().sum();
            let expected: f64 = (1..=100).map(weight).sum::<f64>() / sum;
            assert!((top as f64 / draws as f64 - expected).abs() < 0.01, "theta {theta}: {top}");
        }
    }

    /// fio's `pareto:0.2` is the rule of 80 and 20; h = 0.5 is uniform.
    #[test]
    fn a_share_of_pareto_has_the_other_share() {
        for (thousandths, blocks) in [(200, 1000), (100, 1000), (500, 1000)] {
            let share = f64::from(thousandths) / 1000.0;
            let counts = counts(Skew::Pareto(thousandths), blocks, 200_000);
            let of_rank = |rank| counts[scattered(rank, golden_step(blocks), blocks) as usize];
            let most: u64 = (0..u64::from(thousandths)).map(of_rank).sum();
            let found = most as f64 / 200_000.0;
            assert!((found - (1.0 - share)).abs() < 0.02, "{share}: {found}");
        }
    }

    /// Each block has one rank, and the most frequent ones are not neighbours.
    #[test]
    fn what_is_frequent_lies_anywhere() {
        let zipf = Zipf::new(1000, 1.0);
        let place = |rank: u64| rank * zipf.step % 1000;
        let mut all: Vec<u64> = (0..1000).map(place).collect();
        assert!((0..10).all(|rank| place(rank).abs_diff(place(rank + 1)) > 100), "{:?}", &all[..9]);
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1000));
    }

    #[test]
    fn hot_zones_get_their_share() {
        let counts = counts(Skew::Zones(vec![(80, 20), (20, 80)]), 1000, 100_000);
        let hot: u64 = counts[..200].iter().sum();
        assert!(hot.abs_diff(80_000) < 600, "{hot}");
        assert!(counts.iter().all(|&count| count > 0));
        // A zone of no block of its own.
        let tiny = super::tests::counts(Skew::Zones(vec![(50, 1), (50, 99)]), 3, 9000);
        assert!(tiny[0] > 4500 && tiny[2] > 1000, "{tiny:?}");
    }
}
