//! How many requests of a size are split over two members.
//!
//! A request straddles where the members change between its first sector and its last. So it is enough
//! to walk over the places where they change, and to count the requests across each; a request that is
//! across two of them counts once.

use super::pieces::members_of;
use crate::error::{Error, Result};
use block::layout::Layout;
use block::units;

/// Requests of one size, at multiples of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// How it was written.
    pub text: String,
    /// The size of a request.
    pub sectors: u64,
    /// What their starts are multiples of.
    pub align_sectors: u64,
}

/// How many of them straddle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// How many requests there are.
    pub requests: u64,
    /// How many of them are split over two members or more.
    pub split: u64,
    /// How much of the volume was counted over: all of it, unless that is very much.
    pub counted_sectors: u64,
}

/// So many changes of member are walked over at most: as many as 4 TiB have with an interleave of 32 KiB.
const CHANGES_MAX: u64 = 1 << 27;

impl Pattern {
    /// Reads `8k` (at multiples of 8k) or `6k@1k` (at multiples of 1k).
    ///
    /// # Errors
    ///
    /// Where the text is not a pattern, or the size is zero.
    pub fn parse(text: &str) -> Result<Pattern> {
        let wrong = |why: String| {
            Error::input(format!(
                "--straddle {text}: {why}; write requests of 8 KiB as `8k`, and those of 6 KiB at \
                 every 1 KiB as `6k@1k`"
            ))
        };
        let number =
            |part: &str| units::parse_sectors(part).map_err(|error| wrong(error.to_string()));
        let (size, align) = text.split_once('@').unwrap_or((text, text));
        let (sectors, align_sectors) = (number(size)?, number(align)?);
        if sectors == 0 || align_sectors == 0 {
            return Err(wrong("neither size may be zero".into()));
        }
        Ok(Pattern { text: text.trim().into(), sectors, align_sectors })
    }
}

impl Count {
    /// The share that is split.
    pub fn share(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { self.split as f64 / self.requests as f64 }
    }
}

/// Counts the requests of `pattern` that are wholly inside the volume.
pub fn count(layout: &dyn Layout, pattern: &Pattern) -> Count {
    count_changes(layout, pattern, CHANGES_MAX)
}

fn count_changes(layout: &dyn Layout, pattern: &Pattern, changes_max: u64) -> Count {
    let (size, align) = (pattern.sectors, pattern.align_sectors);
    let (mut places, mut before, mut changes) = (Vec::new(), Vec::new(), 0);
    // Of a request at k × align: the first k that is not counted yet, and how many are split.
    let (mut next, mut split, mut sector) = (0, 0, 0);
    let whole = layout.sectors();
    while sector < whole && changes < changes_max {
        places.clear();
        let run = layout.places(sector, &mut places);
        let members = members_of(&places);
        if sector > 0 && members != before {
            changes += 1;
            // Those that start before here and end behind it.
            let first = (sector + 1).saturating_sub(size).div_ceil(align).max(next);
            let last = (sector - 1) / align;
            let fitting = whole.checked_sub(size).map(|start| start / align);
            let last = fitting.map_or(0, |fitting| last.min(fitting));
            if fitting.is_some() && first <= last {
                split += last - first + 1;
                next = last + 1;
            }
        }
        before = members;
        sector += run;
    }
    let counted_sectors = sector.min(whole);
    let requests = counted_sectors.checked_sub(size).map_or(0, |start| start / align + 1);
    Count { requests, split: split.min(requests), counted_sectors }
}

#[cfg(test)]
mod tests {
    use super::*;
    use block::Level;

    fn lay_out(level: &str, interleave: u64, members: &[u64]) -> Box<dyn Layout> {
        level.parse::<Level>().unwrap().lay_out(interleave, members).unwrap()
    }

    /// The table that was computed for the news spool of Rosen (1999), in thousandths.
    #[test]
    fn the_news_spool_splits_as_computed() {
        let columns = ["8k", "6k@1k", "3k@1k", "1k", "4k"];
        for (interleave, expected) in [
            (8, [1000, 1000, 500, 0, 0]),
            (32, [0, 312, 125, 0, 0]),
            (96, [0, 104, 42, 0, 0]),
            (126, [111, 79, 32, 0, 48]),
            (127, [118, 87, 39, 8, 55]),
            (128, [0, 78, 31, 0, 0]),
            (2046, [7, 5, 2, 0, 3]),
            (2048, [0, 5, 2, 0, 0]),
        ] {
            let layout = lay_out("ccd-stripe", interleave, &[1 << 21; 3]);
            for (column, expected) in columns.iter().zip(expected) {
                let counted = count(&layout, &Pattern::parse(column).unwrap());
                let thousandths = counted.share() * 1000.0;
                assert!(
                    (thousandths - f64::from(expected)).abs() < 0.6,
                    "{column} at {interleave}: {thousandths} and not {expected}"
                );
            }
        }
    }

    /// One by one, the slow way.
    #[test]
    fn counting_changes_is_counting_requests() {
        for (level, members) in [
            ("stripe", vec![500, 300, 700]),
            ("concat", vec![500, 300, 700]),
            ("raid5", vec![500; 4]),
            ("raid10", vec![500; 4]),
            ("mirror", vec![500; 2]),
            ("stripe", vec![500]),
        ] {
            for interleave in [3, 8, 16] {
                let layout = lay_out(level, interleave, &members);
                for (sectors, align_sectors) in [(1, 1), (7, 3), (8, 8), (40, 1), (5000, 1)] {
                    let text = format!("{sectors}@{align_sectors}");
                    let pattern = Pattern { text, sectors, align_sectors };
                    let (mut requests, mut split) = (0, 0);
                    let mut start = 0;
                    while start + sectors <= layout.sectors() {
                        let asked = super::super::Asked::Request(start, sectors);
                        let pieces = asked.pieces(&layout).unwrap();
                        requests += 1;
                        split += u64::from(super::super::pieces::spread(&pieces) > 1);
                        start += align_sectors;
                    }
                    let counted_sectors = layout.sectors();
                    let expected = Count { requests, split, counted_sectors };
                    assert_eq!(
                        count(&layout, &pattern),
                        expected,
                        "{level} {interleave} {pattern:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn of_a_very_large_volume_the_front_is_counted() {
        let layout = lay_out("stripe", 8, &[1 << 20; 2]);
        let counted = count_changes(&layout, &Pattern::parse("8k").unwrap(), 100);
        assert_eq!((counted.requests, counted.split), (counted.counted_sectors / 16, 50));
        assert!((counted.share() - 1.0).abs() < 0.02, "{counted:?}");
        assert!(Pattern::parse("0").is_err() && Pattern::parse("8k@").is_err());
    }
}
