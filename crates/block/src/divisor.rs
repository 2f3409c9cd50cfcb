//! Division by numbers that stay the same.

/// A number that others are divided by again and again: two multiplications and a correction take less time than a
/// division, which a processor does bit by bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    by: u64,
    /// What 1 / `by` is in units of 2^-64, rounded down, and less by at most one of them.
    reciprocal: u64,
}

impl Divisor {
    /// Divides by `by`.
    ///
    /// # Panics
    ///
    /// Where that is zero.
    pub const fn new(by: u64) -> Self {
        assert!(by > 0, "nothing can be divided by zero");
        Divisor { by, reciprocal: u64::MAX / by }
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.by
    }

    /// The quotient and the remainder of `number`.
    #[inline]
    pub const fn divide(self, number: u64) -> (u64, u64) {
        // A reciprocal that lacks no more than a unit of 2^-64 makes this the quotient or one less.
        let about = ((number as u128 * self.reciprocal as u128) >> 64) as u64;
        let rest = number - about * self.by;
        if rest >= self.by { (about + 1, rest - self.by) } else { (about, rest) }
    }

    /// The quotient of `number`.
    #[inline]
    pub const fn quotient(self, number: u64) -> u64 {
        self.divide(number).0
    }

    /// The remainder of `number`.
    #[inline]
    pub const fn remainder(self, number: u64) -> u64 {
        self.divide(number).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_divides_as_the_processor_does() {
        let edges = |at: u64| (0..3).flat_map(move |by| [at.wrapping_sub(by), at.wrapping_add(by)]);
        let powers = || (0..64).flat_map(|shift| edges(1 << shift));
        for by in powers().chain([3, 7, 10, 270, 8_333_333, 1_000_000_007]).filter(|&by| by > 0) {
            let divisor = Divisor::new(by);
            let multiples = [1, 2, 1000, u64::MAX / by].map(|times| by.wrapping_mul(times));
            for number in powers().chain(multiples.into_iter().flat_map(edges)) {
                assert_eq!(divisor.divide(number), (number / by, number % by), "{number} / {by}");
            }
        }
    }
}
