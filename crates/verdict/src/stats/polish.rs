//! Median polish: what each level of each factor adds, and what is left (Tukey, Exploratory Data
//! Analysis, 1977, chapter 11). On logarithms an effect is a factor and a residual a ratio.
//!
//! A cell that is wild moves a mean and every effect with it; it leaves medians where they are, and
//! so stays visible in its own residual.

use super::median;

/// An additive fit.
#[derive(Clone, Debug)]
pub struct Polish {
    /// What is common to all.
    pub grand: f64,
    /// For each factor, what each level adds.
    pub effects: Vec<Vec<f64>>,
    /// For each value, what is left.
    pub residuals: Vec<f64>,
    /// The spread of what is left as a standard deviation: 1.4826 times the median of the residuals'
    /// absolute values, which for normal residuals estimates it (Hampel, The influence curve and its
    /// role in robust estimation, JASA 69, 1974).
    pub scale: f64,
    /// Degrees of freedom that the fit leaves.
    pub degrees: f64,
}

const ROUNDS: usize = 100;

/// Fits `values`; `levels[factor][value]` is the level of each factor at each value.
pub fn polish(values: &[f64], levels: &[Vec<usize>]) -> Polish {
    let mut grand = median(values).unwrap_or(0.0);
    let mut residuals: Vec<f64> = values.iter().map(|value| value - grand).collect();
    let counts: Vec<usize> =
        levels.iter().map(|of| of.iter().max().map_or(0, |most| most + 1)).collect();
    let mut effects: Vec<Vec<f64>> = counts.iter().map(|&count| vec![0.0; count]).collect();
    let members: Vec<Vec<Vec<usize>>> =
        levels.iter().zip(&counts).map(|(of, &count)| by_level(of, count)).collect();
    for _ in 0..ROUNDS {
        let mut moved = 0.0_f64;
        for (members, effects) in members.iter().zip(&mut effects) {
            for (members, effect) in members.iter().zip(effects.iter_mut()) {
                let own: Vec<f64> = members.iter().map(|&index| residuals[index]).collect();
                let middle = median(&own).unwrap_or(0.0);
                *effect += middle;
                for &index in members {
                    residuals[index] -= middle;
                }
                moved = moved.max(middle.abs());
            }
            let middle = median(effects).unwrap_or(0.0);
            grand += middle;
            for effect in effects.iter_mut() {
                *effect -= middle;
            }
        }
        if moved < 1e-9 {
            break;
        }
    }
    let sizes: Vec<f64> = residuals.iter().map(|residual| residual.abs()).collect();
    let fitted: usize = 1 + counts.iter().map(|count| count.saturating_sub(1)).sum::<usize>();
    Polish {
        grand,
        effects,
        scale: 1.4826 * median(&sizes).unwrap_or(0.0),
        degrees: values.len().saturating_sub(fitted) as f64,
        residuals,
    }
}

/// For each level the places of its values.
fn by_level(of: &[usize], count: usize) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); count];
    for (index, &level) in of.iter().enumerate() {
        members[level].push(index);
    }
    members
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these figures are exact")]
mod tests {
    use super::*;

    #[test]
    fn an_additive_table_leaves_nothing_and_a_wild_cell_keeps_it_all() {
        // Rows add 0, 10, 20; columns 0, 1, 2.
        let levels = vec![vec![0, 0, 0, 1, 1, 1, 2, 2, 2], vec![0, 1, 2, 0, 1, 2, 0, 1, 2]];
        let mut values = vec![5.0, 6.0, 7.0, 15.0, 16.0, 17.0, 25.0, 26.0, 27.0];
        let fit = polish(&values, &levels);
        assert_eq!(fit.grand, 16.0);
        assert_eq!(fit.effects, [vec![-10.0, 0.0, 10.0], vec![-1.0, 0.0, 1.0]]);
        assert!(fit.residuals.iter().all(|residual| residual.abs() < 1e-12));
        assert_eq!(fit.degrees, 4.0);
        values[8] += 100.0;
        let fit = polish(&values, &levels);
        assert_eq!(fit.residuals[8], 100.0);
        assert_eq!(fit.scale, 0.0);
    }
}
