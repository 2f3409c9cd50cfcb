//! What is known of blocks by their first sectors, of rows by their numbers, or of files by their names: found by a
//! multiplication, in no order.

#![expect(
    clippy::disallowed_types,
    reason = "this hash is fixed: the order is the same in every run"
)]

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

/// A map from sectors or other numbers. Who goes through all of it puts what was found in order.
pub(crate) type ByNumber<T> = HashMap<u64, T, BuildHasherDefault<Spread>>;

/// The same of names.
pub(crate) type ByName<T> = HashMap<Rc<str>, T, BuildHasherDefault<Spread>>;

/// 2^64 over the golden ratio: multiplied by it, numbers that differ little differ in all bits of the product.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Spreads numbers over a table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<{ size_of::<u64>() }>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            self.write_u64(rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        // A table takes its slots from the last bits, and those of a product say little: blocks are
        // multiples of a power of two. Both halves together say enough.
        let product = u128::from(self.0 ^ number) * u128::from(SPREAD);
        self.0 = (product >> u64::BITS) as u64 ^ product as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::hash::BuildHasher;

    /// Blocks of any size, on a device or in memory only, seldom share a slot of a table as large as they are many.
    #[test]
    fn blocks_are_spread_over_a_table() {
        let build = BuildHasherDefault::<Spread>::default();
        for first in [0, 1 << 62] {
            for sectors in [1, 8, 16, 32, 128] {
                let slot = |block: u64| build.hash_one(first + block * sectors) % (1 << 16);
                let taken: BTreeSet<u64> = (0..1 << 16).map(slot).collect();
                // By chance it were 1 - 1/e: 41,000.
                assert!(taken.len() > 40_000, "{sectors}: {}", taken.len());
            }
        }
    }

    /// So are names that differ in a digit, of any length.
    #[test]
    fn names_are_spread_over_a_table() {
        let build = BuildHasherDefault::<Spread>::default();
        for before in ["", "file", "a longer name, of several words, "] {
            let slot = |number: u32| build.hash_one(format!("{before}{number}")) % (1 << 16);
            let taken: BTreeSet<u64> = (1_000_000..1_000_000 + (1 << 16)).map(slot).collect();
            assert!(taken.len() > 40_000, "{before}: {}", taken.len());
        }
    }
}
