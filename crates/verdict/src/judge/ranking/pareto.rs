//! Which of several are beaten by none (Pareto, Manuale di economia politica, 1906).

use store::quantity::Better;

/// The places of those for which no other is as good in everything and better in something.
pub fn front(rows: &[&[f64]], better: &[Better]) -> Vec<usize> {
    let beats = |a: &[f64], b: &[f64]| {
        let ahead = || a.iter().zip(b).zip(better).map(|((a, b), way)| way.ahead(*a, *b));
        ahead().all(|ahead| ahead >= 0.0) && ahead().any(|ahead| ahead > 0.0)
    };
    (0..rows.len()).filter(|&own| !rows.iter().any(|other| beats(other, rows[own]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_none_beats() {
        let rows: [&[f64]; 4] = [&[1.0, 5.0], &[2.0, 6.0], &[3.0, 5.0], &[0.5, 1.0]];
        let better = [Better::Lower, Better::Higher];
        assert_eq!(front(&rows, &better), [0, 1, 3]);
    }
}
