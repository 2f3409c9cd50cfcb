//! How much of the variance each factor explains, also where the table of cells has gaps.
//!
//! In a table where all factors are varied freely of each other, what a factor explains is the sum of squares of its
//! levels' means (Fisher, Statistical Methods for Research Workers, 1925), and these add up to what all explain
//! together. With gaps they do not: md's stripe cache exists only with parity, so cells with a large one differ from
//! the others in level, too, and the same variance would be counted for both. Then each factor gets what it adds to
//! those before it, in the mean over all orders (Lindeman, Merenda & Gold, Introduction to Bivariate and Multivariate
//! Analysis, 1980). That is never below 0, adds up to what the additive fit explains, and is Fisher's where nothing is
//! missing. A factor that is varied only at some levels of another explains what that one leaves, so it comes after it.

/// Factors at most of which all orders are looked at: of more, one alone is.
const ALL_ORDERS: usize = 8;

/// What is left of a column, beside what it was, below which others say all that it does.
const NOTHING_LEFT: f64 = 1e-9;

/// The share of the variance of `values` that each factor explains; `levels[factor][value]` is the level of each factor at
/// each value. They add up to less than 1 by what interacts and what is noise.
pub fn variance_shares(values: &[f64], levels: &[Vec<usize>]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let total: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    if total <= 0.0 {
        return vec![0.0; levels.len()];
    }
    let fit = Fit::new(values, mean, levels);
    let alone: Vec<f64> = (0..levels.len()).map(|factor| fit.explained(&[factor])).collect();
    let shares = if is_balanced(levels) {
        alone
    } else {
        let after = prerequisites(levels);
        let one_order = || in_one_order(&fit, &alone, &after);
        let all_orders = || in_all_orders(&fit, &after);
        if levels.len() > ALL_ORDERS { one_order() } else { all_orders() }
    };
    shares.into_iter().map(|explained| explained / total).collect()
}

/// The additive fit's normal equations: a column for each level of each factor, all without their means.
struct Fit {
    /// For each factor its columns.
    columns: Vec<Vec<usize>>,
    /// The products of columns.
    products: Vec<Vec<f64>>,
    /// The products of columns and values.
    with_values: Vec<f64>,
}

impl Fit {
    fn new(values: &[f64], mean: f64, levels: &[Vec<usize>]) -> Fit {
        let mut columns = Vec::new();
        let mut count = 0;
        for of in levels {
            let own = of.iter().max().map_or(0, |most| most + 1);
            columns.push((count..count + own).collect::<Vec<usize>>());
            count += own;
        }
        let mut products = vec![vec![0.0; count]; count];
        let mut with_values = vec![0.0; count];
        for (place, value) in values.iter().enumerate() {
            let own: Vec<usize> =
                levels.iter().zip(&columns).map(|(of, columns)| columns[of[place]]).collect();
            for &one in &own {
                with_values[one] += value - mean;
                for &other in &own {
                    products[one][other] += 1.0;
                }
            }
        }
        let cells: Vec<f64> = (0..count).map(|column| products[column][column]).collect();
        for (one, row) in products.iter_mut().enumerate() {
            for (other, product) in row.iter_mut().enumerate() {
                *product -= cells[one] * cells[other] / values.len() as f64;
            }
        }
        Fit { columns, products, with_values }
    }

    /// The sum of squares that these factors explain together, by Gauss's elimination: what a column says that those before
    /// it have said is eliminated before it counts.
    fn explained(&self, factors: &[usize]) -> f64 {
        let columns: Vec<usize> =
            factors.iter().flat_map(|&factor| &self.columns[factor]).copied().collect();
        let of = |&one: &usize| columns.iter().map(|&other| self.products[one][other]).collect();
        let mut products: Vec<Vec<f64>> = columns.iter().map(of).collect();
        let mut rest: Vec<f64> = columns.iter().map(|&column| self.with_values[column]).collect();
        let mut explained = 0.0;
        for pivot in 0..columns.len() {
            let (own, row) = (products[pivot][pivot], products[pivot].clone());
            if own <= NOTHING_LEFT * self.products[columns[pivot]][columns[pivot]].max(1.0) {
                continue;
            }
            explained += rest[pivot] * rest[pivot] / own;
            for below in pivot + 1..columns.len() {
                let times = row[below] / own;
                rest[below] -= times * rest[pivot];
                for (product, of_pivot) in products[below].iter_mut().zip(&row).skip(pivot + 1) {
                    *product -= times * of_pivot;
                }
            }
        }
        explained
    }
}

/// How often each pair of levels of two factors occurs.
fn counts(one: &[usize], other: &[usize]) -> Vec<Vec<usize>> {
    let levels = |of: &[usize]| of.iter().max().map_or(0, |most| most + 1);
    let mut counts = vec![vec![0; levels(other)]; levels(one)];
    for (&a, &b) in one.iter().zip(other) {
        counts[a][b] += 1;
    }
    counts
}

/// Whether of each two factors every level of one occurs in the same proportions at all levels of the other.
fn is_balanced(levels: &[Vec<usize>]) -> bool {
    let pairs = levels.iter().enumerate().flat_map(|(place, one)| {
        levels[place + 1..].iter().map(move |other| (one.as_slice(), other.as_slice()))
    });
    pairs.into_iter().all(|(one, other)| {
        let counts = counts(one, other);
        let with = |level: usize| counts.iter().map(|row| row[level]).sum::<usize>();
        counts.iter().all(|row| {
            let own: usize = row.iter().sum();
            let in_proportion =
                |(level, count): (usize, &usize)| count * one.len() == own * with(level);
            row.iter().enumerate().all(in_proportion)
        })
    })
}

/// For each factor those that come before it: it is varied only at some of their levels, and they at all of its levels.
fn prerequisites(levels: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let varies_at_all = |of: &[usize], at: &[usize]| {
        let several = |row: &Vec<usize>| row.iter().filter(|count| **count > 0).count() > 1;
        counts(at, of).iter().all(several)
    };
    let before = |own: usize| {
        let is_before = |&other: &usize| {
            other != own
                && varies_at_all(&levels[other], &levels[own])
                && !varies_at_all(&levels[own], &levels[other])
        };
        (0..levels.len()).filter(is_before).collect()
    };
    (0..levels.len()).map(before).collect()
}

/// What each adds to those before it, in the mean over all orders that leave each behind those it comes after. Sets of factors
/// are bits of a number.
fn in_all_orders(fit: &Fit, after: &[Vec<usize>]) -> Vec<f64> {
    let all = (1_usize << after.len()) - 1;
    let may_follow = |factor: usize, set: usize, after: &[Vec<usize>]| {
        set >> factor & 1 == 0 && after[factor].iter().all(|before| set >> before & 1 == 1)
    };
    // In how many orders each set comes first, and in how many the others follow it.
    let orders = |after: &[Vec<usize>]| {
        let (mut first, mut then) = (vec![0.0; all + 1], vec![0.0; all + 1]);
        first[0] = 1.0;
        then[all] = 1.0;
        let next = |set: usize| (0..after.len()).filter(move |&of| may_follow(of, set, after));
        for set in 0..all {
            for factor in next(set) {
                first[set | 1 << factor] += first[set];
            }
        }
        for set in (0..all).rev() {
            then[set] = next(set).map(|factor| then[set | 1 << factor]).sum();
        }
        (first, then)
    };
    let free = vec![Vec::new(); after.len()];
    let (mut after, (mut first, mut then)) = (after, orders(after));
    if then[0] <= 0.0 {
        // Each comes after another: then none does.
        after = &free;
        (first, then) = orders(after);
    }
    let explained: Vec<f64> = (0..=all)
        .map(|set| {
            let own: Vec<usize> =
                (0..after.len()).filter(|factor| set >> factor & 1 == 1).collect();
            if first[set] > 0.0 { fit.explained(&own) } else { 0.0 }
        })
        .collect();
    let share = |factor: usize| {
        let sets = (0..=all).filter(|&set| may_follow(factor, set, after));
        let added = sets.map(|set| {
            let with = set | 1 << factor;
            first[set] * then[with] / then[0] * (explained[with] - explained[set])
        });
        added.sum::<f64>().max(0.0)
    };
    (0..after.len()).map(share).collect()
}

/// What each adds to those before it in one order: that of what they explain `alone`, but each behind those it comes after.
fn in_one_order(fit: &Fit, alone: &[f64], after: &[Vec<usize>]) -> Vec<f64> {
    let mut left: Vec<usize> = (0..alone.len()).collect();
    left.sort_by(|&one, &other| alone[other].total_cmp(&alone[one]));
    let (mut order, mut shares, mut explained) = (Vec::new(), vec![0.0; alone.len()], 0.0);
    while !left.is_empty() {
        let is_next = |factor: &usize| after[*factor].iter().all(|before| order.contains(before));
        let next = left.remove(left.iter().position(is_next).unwrap_or(0));
        order.push(next);
        let together = fit.explained(&order);
        shares[next] = (together - explained).max(0.0);
        explained = together;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &[f64], expected: &[f64]) {
        let is_near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(is_near && found.len() == expected.len(), "{found:?}, not {expected:?}");
    }

    /// Each factor alone: right where nothing is missing.
    fn one_way(values: &[f64], levels: &[Vec<usize>]) -> Vec<f64> {
        levels.iter().flat_map(|of| variance_shares(values, std::slice::from_ref(of))).collect()
    }

    #[test]
    fn shares_of_the_variance_add_up() {
        let levels = vec![vec![0, 0, 1, 1], vec![0, 1, 0, 1]];
        near(&variance_shares(&[0.0, 1.0, 3.0, 4.0], &levels), &[0.9, 0.1]);
        assert_eq!(variance_shares(&[2.0; 4], &levels), [0.0, 0.0]);
    }

    /// A stripe cache exists with two levels of four: what those levels do is not the cache's.
    #[test]
    fn what_only_some_levels_have_explains_what_they_leave() {
        let levels = vec![vec![0, 1, 2, 2, 3, 3], vec![0, 0, 0, 1, 0, 1]];
        let no_matter = [9.0, 9.0, 3.0, 3.0, 2.0, 2.0];
        assert!(one_way(&no_matter, &levels).iter().sum::<f64>() > 1.2);
        near(&variance_shares(&no_matter, &levels), &[1.0, 0.0]);
        let matters = [9.0, 9.0, 3.0, 4.0, 2.0, 3.0];
        let shares = variance_shares(&matters, &levels);
        // The sum of squares is 50; four cells are half of 1 off the mean of their level, which is 1 of it.
        near(&shares, &[0.98, 0.02]);
    }

    /// Of two factors with a cell missing neither comes first; together they explain what the additive fit does.
    #[test]
    fn a_gap_counts_nothing_twice() {
        let levels = vec![vec![0, 0, 1, 1, 2, 2, 2], vec![0, 1, 0, 1, 0, 1, 2]];
        let additive: Vec<f64> =
            (0..7).map(|at| 10.0 * levels[0][at] as f64 + 3.0 * levels[1][at] as f64).collect();
        assert!(one_way(&additive, &levels).iter().sum::<f64>() > 1.0);
        let shares = variance_shares(&additive, &levels);
        assert!(shares.iter().all(|share| *share > 0.0), "{shares:?}");
        near(&[shares.iter().sum()], &[1.0]);
    }

    /// Two factors that are the same share what they explain.
    #[test]
    fn what_cannot_be_told_apart_is_shared() {
        let of = vec![0, 0, 1, 1, 2];
        near(&variance_shares(&[1.0, 1.0, 2.0, 2.0, 5.0], &[of.clone(), of]), &[0.5, 0.5]);
    }

    /// Nine factors in one order count nothing twice either; a full table of as many says the same as one factor at a time.
    #[test]
    fn of_many_factors_one_order_is_taken() {
        let levels: Vec<Vec<usize>> =
            (0..9).map(|factor| (0..512).map(|cell| cell >> factor & 1).collect()).collect();
        let value = |cell: usize| (cell % 7) as f64 + (cell >> 3 & 3) as f64;
        let values: Vec<f64> = (0..512).map(value).collect();
        near(&variance_shares(&values, &levels), &one_way(&values, &levels));
        let gaps: Vec<Vec<usize>> = levels.iter().map(|of| of[..300].to_vec()).collect();
        let shares = variance_shares(&values[..300], &gaps);
        assert!(shares.iter().all(|share| *share >= 0.0) && shares.iter().sum::<f64>() <= 1.0);
    }
}
