//! How long what-if trials may go on: what is to be built never depends on a clock, and what else might be said of it may.

use std::fmt;
use std::sync::Arc;

/// Until when what-if trials are begun, as the caller's clock says: this crate reads none.
#[derive(Clone, Default)]
pub struct Clock {
    limit: Option<(String, IsLate)>,
}

/// Whether the time is over.
type IsLate = Arc<dyn Fn() -> bool + Send + Sync>;

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.limit.as_ref().map(|(within, _)| within)).finish()
    }
}

impl Clock {
    /// None begins once `is_late` says so, which it does after this time, as its asker wrote it: `30s`.
    pub fn within(time: &str, is_late: impl Fn() -> bool + Send + Sync + 'static) -> Clock {
        Clock { limit: Some((time.into(), Arc::new(is_late))) }
    }

    /// Whether there is a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// Whether nothing more is begun.
    pub(crate) fn is_late(&self) -> bool {
        self.limit.as_ref().is_some_and(|(_, is_late)| is_late())
    }

    /// What was not tried, where that is anything, in a line.
    pub(crate) fn line(&self, left: &[String]) -> Option<(String, String)> {
        let (within, _) = self.limit.as_ref().filter(|_| !left.is_empty())?;
        let text = format!(
            "{}. Time limit: {within} (`--what-if`). The recommendation does not depend on it.",
            left.join("; ")
        );
        Some(("not tried".into(), text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::Question;
    use crate::question::tests::question;
    use lab::rig::sim::Sim;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// What is left out for time is said, and the answer is the same.
    #[test]
    fn what_is_not_tried_is_said_and_turns_nothing() {
        let levels = vec!["md-mirror".to_string(), "md-raid10-f2".to_string()];
        let two = question("2x 980 pro 1tb", "vm", 1);
        let asked = Question { levels, are_spares_open: false, ..two };
        let of = |clock: Clock| {
            let asked = Question { clock, ..asked.clone() };
            crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap()
        };
        let [none, all] = [of(Clock::within("0s", || true)), of(Clock::default())];
        assert_eq!((none.reasons.len(), none.sensitivity.len()), (0, 0));
        assert!(!all.reasons.is_empty() && !all.sensitivity.is_empty());
        let line = none.lines.iter().find(|(about, _)| about == "not tried").unwrap();
        assert!(line.1.starts_with("with one command at a time per drive; "), "{line:?}");
        assert!(
            line.1.contains("estimates of the drive")
                && line.1.ends_with(
                    ". Time limit: 0s (`--what-if`). The recommendation does not depend on it."
                ),
            "{line:?}"
        );
        assert_eq!(none.json()["not_tried"].as_array().unwrap().len(), none.not_tried.len());
        assert!(
            all.not_tried.is_empty() && all.lines.iter().all(|(about, _)| about != "not tried")
        );
        assert_eq!(none.verdict, all.verdict);
        assert_eq!(none.commands, all.commands);
        let later = of(Clock::within("1h", || false));
        assert_eq!((&later.reasons, &later.sensitivity), (&all.reasons, &all.sensitivity));
        // Asked before each trial, not before each group: the time is over within the pair of the second mechanism.
        let (calls, asked_after) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (count, after) = (calls.clone(), asked_after.clone());
        let three = of(Clock::within("500ms", move || {
            let is_late = count.fetch_add(1, Ordering::Relaxed) >= 3;
            after.fetch_add(usize::from(is_late), Ordering::Relaxed);
            is_late
        }));
        assert_eq!(three.reasons.as_slice(), &all.reasons[..1]);
        assert_eq!(three.not_tried.len(), none.not_tried.len() - 1);
        assert!(three.sensitivity.is_empty());
        let line = three.lines.iter().find(|(about, _)| about == "not tried").unwrap();
        assert!(line.1.contains(". Time limit: 500ms ("), "{line:?}");
        assert!(asked_after.load(Ordering::Relaxed) > 0 && three.verdict == all.verdict);
        // In the midst of the trials of other loads: their group says nothing, and is said to be left.
        let until = 2 * all.reasons.len() + 5;
        let count = AtomicUsize::new(0);
        let some =
            of(Clock::within("500ms", move || count.fetch_add(1, Ordering::Relaxed) >= until));
        assert_eq!((some.reasons.len(), some.sensitivity.len()), (all.reasons.len(), 0));
        assert_eq!(some.not_tried.len(), 1);
    }
}
