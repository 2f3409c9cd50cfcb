//! The seed of each trial, and the order in which trials are run.

use super::Trial;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Fisher and Yates: every order is equally likely.
pub(super) fn shuffle(trials: &mut [Trial], seed: u64) {
    let mut random = Pcg64Mcg::new(u128::from(mixed(seed, u64::MAX, 0)) << 1 | 1);
    for last in (1..trials.len()).rev() {
        let other = (u128::from(random.next_u64()) * (last as u128 + 1)) >> 64;
        trials.swap(last, other as usize);
    }
}

/// A seed for each combination (SplitMix64's finaliser over each part in turn).
pub(super) fn mixed(seed: u64, workload: u64, repeat: u64) -> u64 {
    [seed, workload, repeat].into_iter().fold(0, |state: u64, part| {
        let mut z = (state ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}
