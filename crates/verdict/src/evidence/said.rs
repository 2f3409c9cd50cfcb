//! The same in words.

use super::{ABOUT, Evidence, FEW};
use crate::tables::{percent, up_to};

/// A median error below this is said as such, and not as 0 %.
const LEAST: f64 = 0.005;

/// What md's rates do not answer.
const DIRECT: &str = "; buffered writes differ less between chunks";

/// Below this share of pairs a model is little better than a coin.
const BETTER_THAN_GUESSES: f64 = 0.65;

/// What a coin has.
const A_GUESS: f64 = 0.5;

fn right(of: &[bool]) -> usize {
    of.iter().filter(|right| **right).count()
}

/// What is added where the model ranks these hardly better than chance would; of very few nothing can be said.
pub(super) fn as_guesses(of: &[bool]) -> &'static str {
    const TELL: usize = 5;
    let share = right(of) as f64 / of.len().max(1) as f64;
    match share {
        _ if of.len() < TELL => "",
        share if share <= A_GUESS => ", no better than a guess",
        share if share < BETTER_THAN_GUESSES => ", little better than a guess",
        _ => "",
    }
}

impl Evidence {
    /// What holds the model for a difference of so many times; nothing of what no model made. Without a ratio it is
    /// about differences of any size.
    pub fn words(&self, ratio: Option<f64>) -> Option<String> {
        if self.asked.is_nothing() {
            return None;
        }
        let what = self.asked.words();
        if self.pairs.is_empty() && self.asked.is_drives_alone() {
            return Some(self.of_drives());
        }
        if self.pairs.is_empty() {
            return Some(self.without_pairs(&what));
        }
        let all = self.pairs.len();
        let ours: Vec<bool> = self.pairs.iter().map(|(_, right)| *right).collect();
        let log = ratio.map(|ratio| ratio.ln().abs()).filter(|log| log.is_finite() && *log > 0.0);
        if all < FEW {
            return Some(self.of_few(&what, &ours, log));
        }
        let (about, such) = match log {
            Some(log) => (self.about(log), " that differ by about as much"),
            None => (ours, ""),
        };
        let direct = if self.asked.has_md_writes() { DIRECT } else { "" };
        Some(format!(
            "of {} measured pairs of layouts{such} ({what}), the model ranks {} correctly{}{direct}",
            about.len(),
            percent(right(&about) as f64 / about.len() as f64),
            as_guesses(&about)
        ))
    }

    /// The same of pairs too few to be a share of.
    fn of_few(&self, what: &str, ours: &[bool], log: Option<f64>) -> String {
        let all = ours.len();
        let (pairs, test) = if all == 1 { ("pair", "tests") } else { ("pairs", "test") };
        let most = self.pairs.iter().map(|(size, _)| *size).fold(0.0, f64::max);
        // That the model is wrong about 2 % says nothing of a difference of 40 %.
        if log.is_some_and(|log| log > most * ABOUT) {
            let differ = if all == 1 { "it differs" } else { "they differ" };
            return format!(
                "only {all} measured {pairs} of layouts {test} the model here ({what}), and {differ} by at most {}: nothing tests \
                 a difference like this one",
                percent(most.exp_m1())
            );
        }
        format!(
            "only {all} measured {pairs} of layouts {test} the model here ({what}); it ranks {} of them correctly{}",
            right(ours),
            as_guesses(ours)
        )
    }

    /// The same where no pairs are like what is asked, `what`: how far off its values are, where that is known.
    fn without_pairs(&self, what: &str) -> String {
        if let Some(times) = self.asked.times_off() {
            return format!(
                "against a real kernel the model was up to {times} times off ({what}; docs/filesystems.md); `--on kernel` \
                 runs such work on one"
            );
        }
        let Some(off) = self.median_level() else {
            return format!("no measurement tests the model here ({what})");
        };
        let off = if off < LEAST { format!("less than {}", percent(LEAST)) } else { percent(off) };
        let of = match self.levels.len() {
            1 => "the one measured value of such work".to_string(),
            many => format!("the median of {many} measured values of such work"),
        };
        let (model, where_held) = if self.is_levels_of_kernel {
            ("model of Linux", " (a real kernel over modelled drives, which tests no drive)")
        } else {
            ("model", "")
        };
        format!(
            "the {model} is {off} off at {of}{where_held}; no measurement compares layouts like these ({what}), so the ranking \
             itself is untested"
        )
    }

    fn of_drives(&self) -> String {
        let error = percent(self.drive_error);
        if self.drives_held {
            return format!(
                "the drive model was tested against a measured trace of the drive: ±{error}"
            );
        }
        let tested = if self.has_flash {
            "of the flash models that were tested, the worst has a median error of"
        } else {
            "the models that were tested are off by up to"
        };
        format!("no measurement tests the model of this drive; {tested} {error}")
    }

    /// Which differences are ties.
    pub fn ties(&self) -> String {
        let from = self.difference();
        if from.is_infinite() {
            return "no difference here can be relied on".into();
        }
        let floor = (from - self.drive_error).abs() < 1e-12;
        let why = if floor && !self.asked.is_drives_alone() {
            " (the error of drive models)"
        } else {
            ""
        };
        format!("differences {}{why} are ties", up_to(from))
    }
}
