//! At what a whole drive is copied, where a disk is faster at its start than at its end.

/// Rates of a copy of a whole drive, in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copied {
    /// At its start: the outermost tracks of a disk.
    pub first: f64,
    /// At its end.
    pub last: f64,
    /// Whether nobody wrote to it for long enough to know.
    pub is_guessed: bool,
}

impl Copied {
    /// The same everywhere, as flash is.
    pub fn at(bytes_per_s: f64) -> Self {
        Copied { first: bytes_per_s, last: bytes_per_s, is_guessed: false }
    }

    /// In the mean of all bytes, where no more than `limit` is copied in a second.
    ///
    /// A track takes one revolution, or longer where it holds more than the limit allows: over the part u of the tracks
    /// the time grows from 1 to ∫ max(1, r(u) / limit) du. From 271 to 130 MB/s, 205 at most: the mean of the rates is
    /// 201; 47 % of the tracks are faster than 205, by 16 % in the mean, so all takes 1.076 times as long: 187 MB/s.
    pub fn mean_below(self, limit: f64) -> f64 {
        let (fast, slow) = (self.first.max(self.last), self.first.min(self.last));
        let mean = f64::midpoint(fast, slow);
        if slow >= limit {
            return limit;
        }
        if fast <= limit {
            return mean;
        }
        let cut = (fast - limit) / (fast - slow);
        let times = cut * f64::midpoint(fast, limit) / limit + (1.0 - cut);
        mean / times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit above all or below all is no question; between, the mean is below both means and rises with the limit.
    #[test]
    fn a_limit_cuts_the_fast_tracks_only() {
        let disk = Copied { first: 271e6, last: 130e6, is_guessed: false };
        assert!((disk.mean_below(300e6) - 200.5e6).abs() < 1.0);
        assert!((disk.mean_below(100e6) - 100e6).abs() < 1.0);
        assert!((disk.mean_below(204.8e6) - 186.5e6).abs() < 1e6, "{}", disk.mean_below(204.8e6));
        let at: Vec<f64> =
            (100..300).map(|limit| disk.mean_below(f64::from(limit) * 1e6)).collect();
        assert!(at.is_sorted());
        assert!(at.iter().zip(100..).all(|(&mean, limit)| mean <= f64::from(limit) * 1e6));
        assert!((Copied::at(166e6).mean_below(204.8e6) - 166e6).abs() < 1.0);
    }

    /// Track by track: the sum of what each holds, over the sum of the times that they take.
    #[test]
    fn the_mean_is_that_of_tracks_counted_one_by_one() {
        for (first, last, limit) in
            [(271.0, 130.0, 204.8), (250.0, 50.0, 60.0), (210.0, 200.0, 204.8)]
        {
            let rates =
                (0..100_000).map(|track| first + (last - first) * (f64::from(track) + 0.5) / 1e5);
            let held: f64 = rates.clone().sum();
            let taken: f64 = rates.map(|rate| f64::max(1.0, rate / limit)).sum();
            let mean = Copied { first, last, is_guessed: false }.mean_below(limit);
            assert!((mean * taken / held - 1.0).abs() < 1e-6, "{first} {last} {limit}: {mean}");
        }
    }
}
