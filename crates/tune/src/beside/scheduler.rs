//! Whether the drives of the chosen layout want another I/O scheduler than the one that Linux has before disks.

use crate::beside::pair::{Both, Pair};
use lab::experiment::{Scheduling, Volume};
use serde::Serialize;

/// What Linux takes by itself for drives with one queue, and what else is modelled.
pub(crate) const BOTH: Both = Both { key: "volume.scheduler", values: ["mq-deadline", "none"] };

/// The chosen layout with mq-deadline before its drives, beside itself with none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scheduler {
    /// What to have before each drive.
    take: &'static str,
    /// How many times better mq-deadline is than none; whether what must hold does with none.
    #[serde(flatten)]
    pair: Pair,
    /// Whether a drive takes one command at a time.
    #[serde(skip)]
    takes_one: bool,
}

/// What is said of drives that take one command: how much there is to sort is the adapter's doing (`blk_mq_init_sched` takes
/// twice the commands of its tag set, which AHCI has 32 of whatever the drive takes).
const OF_ONE_COMMAND: &str = "; behind an adapter that has one tag, as USB has, there are two requests to sort: with AHCI there are 64, which was not tried";

impl Scheduler {
    /// Whether Linux has mq-deadline before the drives of `volume` by itself.
    pub(crate) fn is_asked(volume: &Volume) -> bool {
        let auto = Volume { scheduler: Scheduling::Auto, ..volume.clone() };
        volume.is_on_linux && lab::machine::scheduler(&auto).name() == BOTH.values[0]
    }

    /// What `best` with each says, whose drives take one command at a time or more.
    pub(crate) fn of(pair: Pair, takes_one: bool) -> Scheduler {
        let take = BOTH.values[usize::from(pair.gain().is_some())];
        Scheduler { take, pair, takes_one }
    }

    /// The scheduler to set, where Linux takes another by itself.
    pub(crate) fn to_set(&self) -> Option<&'static str> {
        (self.take != BOTH.values[0]).then_some(self.take)
    }

    /// What to take, in a line.
    pub(crate) fn line(&self) -> (String, String) {
        let pair = &self.pair;
        let text = match pair.times {
            None => {
                let why = pair.unknown();
                format!("keep mq-deadline: the effect of `none` is unknown, because {why}")
            }
            Some(_) if !pair.keeps_limits => {
                "keep mq-deadline: `--subject-to` does not hold with `none`".into()
            }
            Some(times) if self.to_set().is_some() => {
                format!("set `none`: mq-deadline is {}", pair.slower(1.0 / times))
            }
            Some(times) if times > 1.0 && !pair.is_within_error(times) => {
                format!("keep mq-deadline: `none` is {}", pair.slower(times))
            }
            Some(times) if times < 1.0 && !pair.is_within_error(1.0 / times) => {
                format!(
                    "keep mq-deadline: it is {}, which is too little to change the default for",
                    pair.slower(1.0 / times)
                )
            }
            Some(_) => "keep mq-deadline: no reliable difference with `none`".into(),
        };
        let counts = pair.times.is_some_and(|times| !pair.is_within_error(times.max(1.0 / times)));
        let adapter = if self.takes_one && counts { OF_ONE_COMMAND } else { "" };
        ("scheduler".into(), text + adapter + &pair.cut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_gains_a_tenth_is_set() {
        let of = |times, keeps_limits| {
            Scheduler::of(Pair { times, keeps_limits, ..Pair::of_test(1.0, 3.0) }, false)
        };
        let line = |times| of(times, true).line().1;
        assert_eq!(line(Some(1.25)), "keep mq-deadline: `none` is 20 % slower");
        for within_error in [1.02, 0.98] {
            assert_eq!(
                line(Some(within_error)),
                "keep mq-deadline: no reliable difference with `none`"
            );
        }
        assert_eq!(
            line(Some(0.95)),
            "keep mq-deadline: it is 5 % slower, which is too little to change the default for"
        );
        assert_eq!(line(Some(0.5)), "set `none`: mq-deadline is 50 % slower");
        assert!(line(None).ends_with("unknown, because a trial did not settle"));
        let failed = Scheduler::of(Pair::failed("the guest ended".into()), true);
        let of_one = |times| Scheduler::of(Pair::of_test(times, 3.0), true).line().1;
        assert!(of_one(0.5).ends_with("with AHCI there are 64, which was not tried"));
        assert!(of_one(1.02).ends_with("no reliable difference with `none`"));
        assert!(failed.line().1.ends_with("unknown, because a trial failed: the guest ended"));
        assert_eq!(failed.to_set(), None);
        assert!(of(Some(0.5), false).line().1.contains("does not hold with `none`"));
        assert_eq!(of(Some(0.5), true).to_set(), Some("none"));
        assert_eq!(of(Some(0.5), false).to_set(), None);
        assert_eq!(of(Some(0.95), true).to_set(), None);
    }
}
