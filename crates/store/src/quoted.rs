//! Numbers as other people publish them: one, a range, or none.

use serde::Serialize;
use std::fmt;

/// A number of a published table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Quoted {
    /// One number.
    Number(f64),
    /// Anything between two.
    Range {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// Nothing was published; ours stands alone.
    Nothing,
}

impl Quoted {
    /// What lies between `low` and `high`.
    pub fn between(low: f64, high: f64) -> Self {
        if low < high { Quoted::Range { low, high } } else { Quoted::Number(low) }
    }

    /// One number for it: the middle of a range.
    pub fn middle(self) -> Option<f64> {
        match self {
            Quoted::Number(number) => Some(number),
            Quoted::Range { low, high } => Some(f64::midpoint(low, high)),
            Quoted::Nothing => None,
        }
    }

    /// The number that `ours` is held against: of a range its nearer end, or `ours` where it lies in it.
    fn nearest(self, ours: f64) -> Option<f64> {
        match self {
            Quoted::Number(number) => Some(number),
            Quoted::Range { low, high } => Some(ours.clamp(low, high)),
            Quoted::Nothing => None,
        }
    }

    /// By how much `ours` is beside it, as a share of its nearer end, with its sign. `None` where it is
    /// The published number is 0 and ours is not, so there is no percentage.
    pub fn error(self, ours: f64) -> Option<f64> {
        let error = ours / self.nearest(ours)? - 1.0;
        if error.is_nan() { Some(0.0) } else { Some(error).filter(|error| error.is_finite()) }
    }

    /// By how much `ours` is beside it, in its unit.
    pub fn difference(self, ours: f64) -> Option<f64> {
        Some(ours - self.nearest(ours)?)
    }

    /// In words, each number written by `figure`.
    pub fn show(self, figure: impl Fn(f64) -> String) -> String {
        match self {
            Quoted::Number(number) => figure(number),
            Quoted::Range { low, high } => format!("{}–{}", figure(low), figure(high)),
            Quoted::Nothing => String::new(),
        }
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(|number| number.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_a_range_is_right() {
        let range = Quoted::between(2200.0, 2300.0);
        assert_eq!([2200.0, 2250.0, 2300.0].map(|ours| range.error(ours)), [Some(0.0); 3]);
        assert!((range.error(2090.0).unwrap() + 0.05).abs() < 1e-12);
        assert!((range.error(2415.0).unwrap() - 0.05).abs() < 1e-12);
        assert_eq!((range.middle(), range.to_string().as_str()), (Some(2250.0), "2200–2300"));
        assert_eq!(Quoted::between(5.0, 5.0), Quoted::Number(5.0));
        assert_eq!(Quoted::Nothing.error(1.0), None);
    }

    #[test]
    fn there_is_no_share_of_nothing() {
        assert_eq!(Quoted::Number(0.0).error(0.0), Some(0.0));
        assert_eq!(Quoted::Number(0.0).error(3.0), None);
        assert_eq!(Quoted::Number(0.0).difference(3.0), Some(3.0));
        assert_eq!(Quoted::between(0.0, 1.0).error(0.5), Some(0.0));
    }

    #[test]
    fn as_json_it_is_a_number_a_range_or_null() {
        let json = |quoted| serde_json::to_string(&quoted).unwrap();
        assert_eq!(json(Quoted::Number(1.5)), "1.5");
        assert_eq!(json(Quoted::between(1.0, 2.0)), r#"{"low":1.0,"high":2.0}"#);
        assert_eq!(json(Quoted::Nothing), "null");
    }
}
