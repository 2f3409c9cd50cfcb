//! How long what-if trials may go on: what is to be built never depends on a clock, and what else might be said of it may.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Until when what-if trials are begun, as the caller's clock says: this crate reads none.
#[derive(Clone, Default)]
pub struct Clock {
    limit: Option<(Duration, IsLate)>,
}

/// Whether the time is over.
type IsLate = Arc<dyn Fn() -> bool + Send + Sync>;

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.limit.as_ref().map(|(within, _)| within)).finish()
    }
}

impl Clock {
    /// None begins once `is_late` says so, which it does after this time.
    pub fn within(time: Duration, is_late: impl Fn() -> bool + Send + Sync + 'static) -> Clock {
        Clock { limit: Some((time, Arc::new(is_late))) }
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
            "{}, as no what-if trial begins after {} s: without `--what-if` all are tried; what to build does not depend on it",
            left.join("; "),
            within.as_secs()
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

    /// What is left out for time is said, and the answer is the same.
    #[test]
    fn what_is_not_tried_is_said_and_turns_nothing() {
        let levels = vec!["md-raid10".to_string(), "md-raid5".to_string()];
        let asked = Question { levels, ..question("4x 980 pro 1tb", "vm", 1) };
        let of = |clock: Clock| {
            let asked = Question { clock, ..asked.clone() };
            crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap()
        };
        let [none, all] = [of(Clock::within(Duration::ZERO, || true)), of(Clock::default())];
        assert_eq!((none.reasons.len(), none.sensitivity.len()), (0, 0));
        assert!(!all.reasons.is_empty() && !all.sensitivity.is_empty());
        let line = none.lines.iter().find(|(about, _)| about == "not tried").unwrap();
        assert!(line.1.starts_with("with one command at a time per drive; "), "{line:?}");
        assert!(
            line.1.contains("estimates of the drive") && line.1.contains(" after 0 s: "),
            "{line:?}"
        );
        assert_eq!(none.json()["not_tried"].as_array().unwrap().len(), none.not_tried.len());
        assert!(
            all.not_tried.is_empty() && all.lines.iter().all(|(about, _)| about != "not tried")
        );
        assert_eq!(none.verdict, all.verdict);
        assert_eq!(none.commands, all.commands);
        let later = of(Clock::within(Duration::from_secs(3600), || false));
        assert_eq!((later.reasons, later.sensitivity), (all.reasons, all.sensitivity));
    }
}
