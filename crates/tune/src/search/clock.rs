//! Until when trials run: none may take longer than its asker waits. Without a limit no answer depends on a clock.

use crate::search::lanes::side_by_side;
use lab::rig::{Rig, Stoppable};
use lab::{Error, Result};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Until when trials run, as the caller's clock says: this crate reads none. A trial that has begun by then is stopped.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Of all trials.
    all: Option<Limit>,
    /// Of what-if trials alone.
    what_if: Option<Limit>,
    /// What the limit of all left out.
    left: Arc<Left>,
    /// Who is told what to build before all that stands beside it is measured.
    chosen: Option<Chosen>,
}

/// Who is told what to build, as soon as it is known.
#[derive(Clone)]
struct Chosen(Arc<dyn Fn(&str) + Send + Sync>);

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("told")
    }
}

/// A time, as its asker wrote it (`30s`), and the part of it that is over.
#[derive(Clone)]
struct Limit {
    written: String,
    spent: Arc<dyn Fn() -> f64 + Send + Sync>,
    /// Whether a trial that has begun is stopped: tests count how often they are asked before one begins.
    stops: bool,
}

impl Limit {
    fn new(written: &str, spent: impl Fn() -> f64 + Send + Sync + 'static) -> Limit {
        Limit { written: written.into(), spent: Arc::new(spent), stops: true }
    }

    fn is_over(&self) -> bool {
        (self.spent)() >= 1.0
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// Trials that did not begin, or were stopped.
#[derive(Debug, Default)]
struct Left {
    short: AtomicUsize,
    in_full: AtomicUsize,
    options: AtomicUsize,
    there: AtomicUsize,
    beside: AtomicUsize,
}

/// What a trial is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    /// To say which layouts to measure: these may take half of the time, as nothing can be chosen by them.
    Ranking,
    /// To choose among layouts.
    Choice,
    /// To choose another layout for an option of its own.
    Option,
    /// To choose as a slower rig says.
    Confirming,
    /// For what stands beside the answer: a failed drive, spares, settings.
    Beside,
}

/// The part of the time within which trials of each kind begin.
const OF_RANKING: f64 = 0.5;

/// What is said of a trial that did not begin or end, and of a search of which none did, before the flag.
const NO_TIME: &str = "there was no time for it";
const NOTHING_MEASURED: &str = "no layout was measured before the time limit was over";

/// Whether an error says that there was no time: what failed while the time ended says another thing.
pub(crate) fn is_of_time(why: &str) -> bool {
    // What runs trials says which, before it.
    [NO_TIME, NOTHING_MEASURED].iter().any(|of_time| why.contains(of_time))
}

/// What ran, or nothing where it was stopped because the time was over.
pub(crate) fn unless_stopped<T>(ran: Result<T>) -> Option<Result<T>> {
    match ran {
        Err(error) if is_of_time(&error.to_string()) => None,
        ran => Some(ran),
    }
}

impl Clock {
    /// No trial begins or goes on once this time is over: `spent` says which part of it is.
    #[must_use]
    pub fn within(self, time: &str, spent: impl Fn() -> f64 + Send + Sync + 'static) -> Clock {
        Clock { all: Some(Limit::new(time, spent)), ..self }
    }

    /// The same of what-if trials alone.
    #[must_use]
    pub fn what_if(self, time: &str, spent: impl Fn() -> f64 + Send + Sync + 'static) -> Clock {
        Clock { what_if: Some(Limit::new(time, spent)), ..self }
    }

    /// The same, and `tell` is told what to build as soon as that is known: settings beside it and what-if trials, which may
    /// take longer than the search, come after.
    #[must_use]
    pub fn telling(self, tell: impl Fn(&str) + Send + Sync + 'static) -> Clock {
        Clock { chosen: Some(Chosen(Arc::new(tell))), ..self }
    }

    /// Tells what to build.
    pub(crate) fn tell(&self, sentence: &str) {
        if let Some(Chosen(tell)) = &self.chosen {
            tell(sentence);
        }
    }

    /// The same limits, of which nothing is left out yet.
    pub(crate) fn anew(&self) -> Clock {
        Clock { left: Arc::default(), ..self.clone() }
    }

    /// Whether there is a limit to what-if trials.
    pub(crate) fn is_limited(&self) -> bool {
        self.what_if.is_some() || self.all.is_some()
    }

    /// Whether there is a limit to all trials.
    pub(crate) fn limits_all(&self) -> bool {
        self.all.is_some()
    }

    /// Whether no more what-if trials are begun.
    pub(crate) fn is_late(&self) -> bool {
        [&self.what_if, &self.all].into_iter().flatten().any(Limit::is_over)
    }

    /// Whether no more trials are begun at all.
    #[cfg(test)]
    pub(crate) fn is_over(&self) -> bool {
        self.is_over_for(For::Choice)
    }

    fn is_over_for(&self, what: For) -> bool {
        let part = if what == For::Ranking { OF_RANKING } else { 1.0 };
        self.all.as_ref().is_some_and(|limit| (limit.spent)() >= part)
    }

    /// A rig whose trials are stopped when the time of all is over.
    pub(crate) fn stopping<R: Deref<Target: Rig> + Sync>(&self, rig: R) -> Stoppable<R> {
        self.stopping_with(rig, &[&self.all])
    }

    /// The same when that of what-ifs is over.
    pub(crate) fn stopping_what_ifs<R: Deref<Target: Rig> + Sync>(&self, rig: R) -> Stoppable<R> {
        self.stopping_with(rig, &[&self.what_if, &self.all])
    }

    fn stopping_with<R: Deref<Target: Rig> + Sync>(
        &self,
        rig: R,
        limits: &[&Option<Limit>],
    ) -> Stoppable<R> {
        let limits = limits.iter().copied().flatten().filter(|limit| limit.stops);
        let limits: Vec<Limit> = limits.cloned().collect();
        let stop = move || limits.iter().any(Limit::is_over);
        Stoppable::when(rig, Arc::new(stop), self.over().to_string())
    }

    /// An error where there is no time for one more trial, which is then left out.
    pub(super) fn has_time(&self, what: For) -> Result<()> {
        if self.is_over_for(what) {
            self.leave_out(what, 1);
            return Err(self.over());
        }
        Ok(())
    }

    /// What `run` says of one more trial, where there is time for it; nothing of one that does not begin, or that `run` says was
    /// stopped, which is then left out.
    pub(crate) fn trial<R>(&self, what: For, run: impl FnOnce() -> Option<R>) -> Option<R> {
        let ran = if self.is_over_for(what) { None } else { run() };
        if ran.is_none() {
            self.leave_out(what, 1);
        }
        ran
    }

    /// The same of a trial that can fail: of one that is left out an error says so.
    pub(crate) fn run<T>(&self, what: For, run: impl FnOnce() -> Result<T>) -> Result<T> {
        self.trial(what, || unless_stopped(run())).unwrap_or_else(|| Err(self.over()))
    }

    /// Notes that so many trials are left out.
    pub(crate) fn leave_out(&self, what: For, count: usize) {
        let of = match what {
            For::Ranking => &self.left.short,
            For::Choice => &self.left.in_full,
            For::Option => &self.left.options,
            For::Confirming => &self.left.there,
            For::Beside => &self.left.beside,
        };
        of.fetch_add(count, Ordering::Relaxed);
    }

    /// Does the `jobs` side by side as [`side_by_side`] does, as long as there is time for what they are for; nothing of those
    /// that do not begin, or that `run` says were stopped.
    pub(crate) fn in_time<J: Sync, R: Send>(
        &self,
        what: For,
        (lanes, jobs): (usize, &[J]),
        is_last: fn(&Option<R>) -> bool,
        run: impl Fn(&J) -> Option<R> + Sync,
    ) -> Vec<Option<R>> {
        side_by_side(lanes, jobs, is_last, |job| self.trial(what, || run(job)))
    }

    /// An error that says that the time is over.
    pub(crate) fn over(&self) -> Error {
        Error::failure(format!("{NO_TIME} ({})", self.flag()))
    }

    /// The same, where nothing could be measured at all.
    pub(crate) fn nothing_measured<T>(&self, first_by_short: Option<&str>) -> Result<T> {
        let short = first_by_short.map_or(String::new(), |name| {
            format!("; short trials, by which nothing is chosen, have {name} first")
        });
        Err(Error::failure(format!(
            "{NOTHING_MEASURED} ({}){short}; give more time, or ask about fewer layouts",
            self.flag()
        )))
    }

    /// Trials of the search that were left out: short ones, and others.
    pub(crate) fn left_of_search(&self) -> [usize; 2] {
        [&self.left.short, &self.left.in_full].map(|of| of.load(Ordering::Relaxed))
    }

    /// Whether a trial was left out that could have turned the choice of the search.
    fn may_turn(&self) -> bool {
        let Left { options, there, .. } = &*self.left;
        [options, there].iter().any(|of| of.load(Ordering::Relaxed) > 0)
    }

    /// What is said behind the recommendation, where a trial was left out that it depends on.
    pub(crate) fn caveat(&self) -> &'static str {
        if self.left_of_search() != [0, 0] {
            " The time limit ended the search: a layout that was not measured may be better."
        } else if self.may_turn() {
            " The time limit left out trials that may turn the choice (line `not tried`)."
        } else {
            ""
        }
    }

    /// The flag that limits all trials, as it was written.
    fn flag(&self) -> String {
        let written = self.all.as_ref().map_or("", |limit| limit.written.as_str());
        format!("`--time-limit {written}`")
    }

    /// What was left out, in words: trials of the search first, then what is tried last.
    fn not_tried(&self, last: impl Iterator<Item = String>) -> Vec<String> {
        let count = |of: &AtomicUsize| of.load(Ordering::Relaxed);
        // What a slower rig was not asked is said last.
        let Left { short, in_full, options, there: _, beside } = &*self.left;
        let mut all = Vec::new();
        match count(short) {
            0 => (),
            1 => all.push("a short trial of 1 layout".into()),
            several => all.push(format!("short trials of {several} layouts")),
        }
        match count(in_full) {
            0 => (),
            1 => all.push("at least 1 trial of the search".into()),
            several => all.push(format!("at least {several} trials of the search")),
        }
        match count(options) {
            0 => (),
            1 => all.push("1 trial of layouts with and without mount options".into()),
            several => {
                all.push(format!("{several} trials of layouts with and without mount options"));
            }
        }
        let of_beside = "of what stands beside the answer (a failed drive, spares, settings)";
        match count(beside) {
            0 => (),
            1 => all.push(format!("1 trial {of_beside}")),
            several => all.push(format!("{several} trials {of_beside}")),
        }
        all.extend(last);
        all
    }

    /// Says what was not tried, with what is tried `last`: first of all where the choice depends on it, else last; the same
    /// in parts.
    pub(crate) fn say(
        &self,
        lines: &mut Vec<(String, String)>,
        last: impl Iterator<Item = String>,
    ) -> Vec<String> {
        let left = self.not_tried(last);
        let place = if self.caveat().is_empty() { lines.len() } else { 0 };
        if let Some(line) = self.line(&left) {
            lines.insert(place, line);
        }
        left
    }

    /// What was not tried, where that is anything, in a line.
    fn line(&self, left: &[String]) -> Option<(String, String)> {
        if left.is_empty() || !self.is_limited() {
            return None;
        }
        let depends = if self.left_of_search() != [0, 0] {
            "The recommendation is the best of what was measured."
        } else if self.may_turn() {
            "What was not tried may turn the recommendation."
        } else {
            "The recommendation does not depend on it."
        };
        let text = format!("{}. Time limit: {}. {depends}", left.join("; "), self.limits());
        Some(("not tried".into(), text))
    }

    /// The limits, each with its flag.
    fn limits(&self) -> String {
        let of = |limit: &Option<Limit>, flag: &str| {
            limit.as_ref().map(|limit| format!("{} (`{flag}`)", limit.written))
        };
        let both = [of(&self.all, "--time-limit"), of(&self.what_if, "--what-if")];
        both.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::question::Question;
    use crate::question::tests::question;
    use crate::search::remembered::Sim;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Who asked about a file was told nothing before the answer.
    #[test]
    fn the_answer_of_a_file_is_told_before_what_stands_beside_it() {
        use crate::{Posed, tune_experiment};
        let text = "run.repeats = 1\nvolume.drives = '4xst18000nm000j'\n\
                    volume.level = ['md-raid5', 'md-raid10']\n\
                    [workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 100\n";
        let said = Arc::new(std::sync::Mutex::new(Vec::new()));
        let seen = Arc::clone(&said);
        let clock =
            Clock::default().telling(move |text| seen.lock().unwrap().push(text.to_string()));
        let experiment = lab::experiment::Experiment::parse("some.toml", text).unwrap();
        let posed = Posed::new(experiment, verdict::Wishes::default(), None).unwrap();
        let posed = Posed { clock, ..posed };
        let found = tune_experiment(&posed, &|_| Ok(Box::new(Sim)), None, &mut |_| ()).unwrap();
        assert_eq!(*said.lock().unwrap(), [found.verdict]);
    }

    /// Who ended it during the what-ifs had nothing, although it was known what to build.
    #[test]
    fn what_to_build_is_told_before_what_ifs() {
        let said = Arc::new(std::sync::Mutex::new(Vec::new()));
        let seen = Arc::clone(&said);
        let clock =
            Clock::default().telling(move |text| seen.lock().unwrap().push(text.to_string()));
        let said_by_then = Arc::clone(&said);
        // What-ifs ask whether there is time: something was told by then.
        let clock = clock.what_if("1h", move || {
            assert_eq!(said_by_then.lock().unwrap().len(), 1);
            0.0
        });
        let levels = vec!["md-mirror".to_string(), "md-raid10-f2".to_string()];
        let asked = crate::question::tests::question("2x wd740gd", "restore", 1);
        let asked = crate::Question { levels, clock, ..asked };
        let found =
            crate::tune(&asked, &crate::search::remembered::Sim, None, &mut |_| ()).unwrap();
        assert!(!found.reasons.is_empty());
        let said = said.lock().unwrap();
        assert!(said.len() == 1 && found.verdict.starts_with(&said[0]), "{said:?}");
    }

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
        let [none, all] = [of(Clock::default().what_if("0s", || 1.0)), of(Clock::default())];
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
        let later = of(Clock::default().what_if("1h", || 0.0));
        assert_eq!((&later.reasons, &later.sensitivity), (&all.reasons, &all.sensitivity));
        // Asked before each trial, not before each group: the time is over within the pair of the second mechanism.
        let (calls, asked_after) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (count, after) = (calls.clone(), asked_after.clone());
        let mut clock = Clock::default().what_if("500ms", move || {
            let is_late = count.fetch_add(1, Ordering::Relaxed) >= 3;
            after.fetch_add(usize::from(is_late), Ordering::Relaxed);
            if is_late { 1.0 } else { 0.5 }
        });
        clock.what_if.as_mut().unwrap().stops = false;
        let three = of(clock);
        assert_eq!(three.reasons.as_slice(), &all.reasons[..1]);
        assert_eq!(three.not_tried.len(), none.not_tried.len() - 1);
        assert!(three.sensitivity.is_empty());
        let line = three.lines.iter().find(|(about, _)| about == "not tried").unwrap();
        assert!(line.1.contains(". Time limit: 500ms ("), "{line:?}");
        assert!(asked_after.load(Ordering::Relaxed) > 0 && three.verdict == all.verdict);
        // In the midst of the trials of other loads: their group says nothing, and is said to be left.
        let until = 2 * all.reasons.len() + 5;
        let count = AtomicUsize::new(0);
        let mut clock = Clock::default()
            .what_if("500ms", move || f64::from(count.fetch_add(1, Ordering::Relaxed) >= until));
        clock.what_if.as_mut().unwrap().stops = false;
        let some = of(clock);
        assert_eq!((some.reasons.len(), some.sensitivity.len()), (all.reasons.len(), 0));
        assert_eq!(some.not_tried.len(), 1);
    }

    /// Time that is over after so many looks at the clock.
    pub(crate) fn after(looks: usize) -> Clock {
        let count = AtomicUsize::new(0);
        let mut clock = Clock::default()
            .within("10s", move || f64::from(count.fetch_add(1, Ordering::Relaxed) >= looks));
        clock.all.as_mut().unwrap().stops = false;
        clock
    }

    /// Time that is over once a trial has begun: it is asked for before that, and again and again within.
    pub(crate) fn within_trials() -> Clock {
        let count = AtomicUsize::new(0);
        Clock::default()
            .within("10s", move || f64::from(count.fetch_add(1, Ordering::Relaxed) >= 3))
    }

    /// A search that the time ends says so first, and how much of it was left; what it names was measured.
    #[test]
    fn a_search_that_has_no_more_time_says_what_it_left_out() {
        let asked = Question {
            levels: vec!["md-raid10".into(), "md-raid5".into()],
            ..question("4x 980 pro 1tb", "vm", 1)
        };
        let of = |clock: Clock| {
            crate::tune(&Question { clock, ..asked.clone() }, &Sim, None, &mut |_| ())
        };
        let all = of(Clock::default()).unwrap();
        assert_eq!((all.evaluations_left, all.short_evaluations_left), (0, 0));
        assert!(all.not_tried.is_empty() && !all.verdict.contains("time limit"));
        // Within a time that is never over the answer is the same.
        let long = of(Clock::default().within("1h", || 0.0)).unwrap();
        assert_eq!((&long.verdict, long.evaluations), (&all.verdict, all.evaluations));
        assert_eq!((&long.best, &long.not_tried), (&all.best, &all.not_tried));
        // All have short trials, and three are measured.
        let some = of(after(all.short_evaluations + 3)).unwrap();
        assert_eq!((some.short_evaluations_left, some.evaluations), (0, 3));
        assert!(some.evaluations_left > 0 && some.evaluations < all.evaluations);
        assert!(some.verdict.ends_with("a layout that was not measured may be better."));
        let (about, text) = &some.lines[0];
        assert_eq!(about, "not tried");
        assert!(
            text.starts_with(&format!("at least {} trials of the search; ", some.evaluations_left))
        );
        assert!(
            text.ends_with(
                "Time limit: 10s (`--time-limit`). The recommendation is the best of what was measured."
            ),
            "{text}"
        );
        // The best of each level by its short trial.
        assert!(some.front.iter().all(|row| row.degraded.is_none()), "there was no time for these");
        // In the midst of short trials each level has had some, and the rest of the time is for what decides.
        let few = of(Clock::default().within("10s", || 0.6)).unwrap();
        assert_eq!((few.short_evaluations, few.short_evaluations_left), (0, all.short_evaluations));
        assert!(few.evaluations > 0 && few.evaluations_left == 0);
        assert!(few.verdict.contains("The time limit ended the search"));
        let none = of(after(0)).unwrap_err().to_string();
        assert!(none.starts_with(
            "no layout was measured before the time limit was over (`--time-limit 10s`); give more time"
        ));
    }

    /// A slower rig and an option of another layout may turn the choice: "does not depend on it" was said of both.
    #[test]
    fn what_may_turn_the_choice_is_said_first() {
        for (what, text) in [
            (For::Option, "2 trials of layouts with and without mount options"),
            (For::Confirming, "the best few on kernel"),
        ] {
            let clock = Clock::default().within("10s", || 1.0);
            clock.leave_out(what, 2);
            let mut lines = vec![("risk".to_string(), String::new())];
            let last = (what == For::Confirming).then(|| "the best few on kernel".to_string());
            assert_eq!(clock.say(&mut lines, last.into_iter()), [text]);
            let said = format!(
                "{text}. Time limit: 10s (`--time-limit`). What was not tried may turn the recommendation."
            );
            assert_eq!(lines[0], ("not tried".to_string(), said));
            assert!(clock.caveat().contains("may turn the choice"));
        }
        let clock = Clock::default().within("10s", || 1.0);
        clock.leave_out(For::Beside, 1);
        let mut lines = vec![("risk".to_string(), String::new())];
        clock.say(&mut lines, std::iter::empty());
        assert!(lines[1].1.ends_with("The recommendation does not depend on it."));
        assert_eq!(clock.caveat(), "");
    }

    /// Short trials in turn: a time that is over in their midst has left no level without.
    #[test]
    fn each_level_has_some_of_the_short_trials() {
        let asked = question("8x 980 pro 1tb", "vm", 1);
        let (candidates, _) = asked.candidates().unwrap();
        let mut levels: Vec<&str> = candidates.iter().map(|of| of.level.name).collect();
        levels.dedup();
        let order = crate::search::trials::in_turn(&candidates);
        let first: Vec<&str> =
            order.iter().take(levels.len()).map(|&place| candidates[place].level.name).collect();
        assert_eq!(first, levels);
        assert_eq!(order.len(), candidates.len());
    }
}
