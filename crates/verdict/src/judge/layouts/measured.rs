//! What was measured on a layout.

use std::collections::{BTreeMap, BTreeSet};

/// Samples by repeat: what is missing in one leaves the others at theirs.
pub type Samples = BTreeMap<u64, f64>;

/// What was measured on a layout: a quantity, the repeat and the sample, in this order. There are millions of them.
#[derive(Clone, Debug, Default)]
pub struct Measured(Vec<(usize, u64, f64)>);

impl Measured {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The samples of a quantity; nothing where there is none.
    pub fn get(&self, quantity: usize) -> Option<Samples> {
        let samples = self.of(quantity);
        (!samples.is_empty()).then(|| samples.iter().map(|&(_, repeat, x)| (repeat, x)).collect())
    }

    /// Whether there is a sample of a quantity.
    pub fn has(&self, quantity: usize) -> bool {
        !self.of(quantity).is_empty()
    }

    /// The samples of a quantity, in the order of the repeats.
    pub fn values(&self, quantity: usize) -> impl Iterator<Item = f64> {
        self.of(quantity).iter().map(|&(.., value)| value)
    }

    /// Adds samples, each with its quantity and repeat; [`Measured::sort`] comes after the last.
    pub(crate) fn extend(&mut self, samples: impl IntoIterator<Item = (usize, u64, f64)>) {
        self.0.extend(samples);
    }

    /// Drops the samples of these quantities.
    pub(crate) fn leave_out(&mut self, quantities: &BTreeSet<usize>) {
        self.0.retain(|(quantity, ..)| !quantities.contains(quantity));
    }

    fn of(&self, quantity: usize) -> &[(usize, u64, f64)] {
        let from = self.0.partition_point(|&(other, ..)| other < quantity);
        let of = self.0[from..].partition_point(|&(other, ..)| other == quantity);
        &self.0[from..from + of]
    }

    /// Puts what was added in order. Of several samples of a repeat the last counts.
    pub(crate) fn sort(&mut self) {
        self.0.sort_by_key(|&(quantity, repeat, _)| (quantity, repeat));
        self.0.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 = next.2;
            }
            same
        });
        self.0.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_found_by_quantity_and_the_last_of_a_repeat_counts() {
        let mut measured = Measured::default();
        measured.extend([(7, 1, 2.0), (3, 0, 5.0), (7, 0, 1.0), (7, 1, 3.0)]);
        measured.sort();
        assert_eq!(measured.get(7), Some(Samples::from([(0, 1.0), (1, 3.0)])));
        assert_eq!(measured.values(3).collect::<Vec<_>>(), [5.0]);
        assert!(measured.get(4).is_none() && !measured.has(9) && measured.has(3));
    }
}
