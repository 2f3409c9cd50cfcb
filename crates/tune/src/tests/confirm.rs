//! The best few on a second rig: here the model again, which has to agree with itself.

use crate::question::work::Work;
use crate::search::remembered::Sim;
use crate::{Clock, Confirm, Drives, Posed, Question, tune, tune_experiment};
use lab::capabilities::Capabilities;
use lab::experiment::{Experiment, Trial};
use lab::rig::{Prepared, Rig, sim};
use lab::{Result, catalogue};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use verdict::Wishes;

fn question(levels: &[&str]) -> Question {
    let drives = Drives::new(4, catalogue::drive("st18000nm000j").unwrap()).unwrap();
    let work = Work::find("vm", &drives).unwrap();
    let levels = levels.iter().map(ToString::to_string).collect();
    Question { survive: 1, levels, ..Question::new(drives, work) }
}

#[test]
fn the_model_agrees_with_itself() {
    let clock = Clock::default().what_if("0s", || 1.0);
    let question = Question { clock, ..question(&["md-raid10", "md-raid5"]) };
    let opened = AtomicU32::new(0);
    let open = |_: &Experiment| -> Result<Box<dyn Rig>> {
        opened.fetch_add(1, Ordering::Relaxed);
        // Not what the search has measured: the same trials once more.
        Ok(Box::new(lab::rig::sim::Sim))
    };
    let confirm = Confirm { rig: "sim", count: 3, open: &open };
    let alone = tune(&question, &Sim, None, &mut |_| ()).unwrap();
    let found = tune(&question, &Sim, Some(&confirm), &mut |_| ()).unwrap();
    let confirmed = found.confirmed.clone().unwrap();
    assert!(confirmed.holds);
    assert_eq!(confirmed.cells.len(), 3);
    assert_eq!(found.best, alone.best);
    assert!(alone.confirmed.is_none() && alone.json()["confirmed"].is_null());
    // Once for what it can run, once for how much of it at a time, once a layout, once for what the results are of.
    assert_eq!(opened.load(Ordering::Relaxed), 6);
    // By the names that the answer has, without what all have.
    assert!(
        found.text().contains("on sim: the model's choice holds; md-raid10, "),
        "{}",
        found.text()
    );
}

/// What cannot be opened is said before anything is measured.
#[test]
fn a_rig_that_is_not_there_is_said_first() {
    let open = |_: &Experiment| -> Result<Box<dyn Rig>> { Err(lab::Error::input("no such rig")) };
    let confirm = Confirm { rig: "kernel", count: 3, open: &open };
    let mut measured = 0;
    let error =
        tune(&question(&["md-raid10"]), &Sim, Some(&confirm), &mut |cells| measured = cells);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("--confirm on kernel") && error.contains("no such rig"), "{error}");
    assert_eq!(measured, 0);
}

/// The clock was looked at once, before all of it; and an answer that it could have turned was said not to depend on it.
#[test]
fn a_slower_rig_is_asked_no_more_once_the_time_is_over() {
    let opened = Arc::new(AtomicU32::new(0));
    let open = |_: &Experiment| -> Result<Box<dyn Rig>> {
        opened.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Sim))
    };
    let confirm = Confirm { rig: "sim", count: 20, open: &open };
    // It is admitted, and asked how much it takes at a time: then the time is over.
    let count = opened.clone();
    let clock =
        Clock::default().within("10s", move || f64::from(count.load(Ordering::Relaxed) >= 2));
    let question = Question { clock, ..question(&["md-raid10", "md-raid5"]) };
    let found = tune(&question, &Sim, Some(&confirm), &mut |_| ()).unwrap();
    assert!(found.confirmed.is_none());
    assert!(found.not_tried.contains(&"the best few on sim".into()), "{:?}", found.not_tried);
    let text = found.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("What was not tried may turn the recommendation."), "{text}");
    assert!(found.verdict.ends_with("trials that may turn the choice (line `not tried`)."));
    assert_eq!((found.evaluations_left, found.short_evaluations_left), (0, 0));
}

/// The model, whose time is over within the first trial without the processor's time.
struct Ends {
    is_over: Arc<AtomicBool>,
    /// Whether it is called a kernel, whose processor takes no time.
    is_kernel: bool,
}

impl Rig for Ends {
    fn name(&self) -> &'static str {
        Sim.name()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { host_is_modelled: !self.is_kernel, ..Sim.capabilities() }
    }

    fn admit(&self, trial: &Trial) -> Result<()> {
        Sim.admit(trial)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        Sim.samples(trial)
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        if format!("{:?}", trial.setup.host).contains("cpu_percent: 0,") {
            self.is_over.store(true, Ordering::Relaxed);
        }
        sim::Sim.prepare(trial)
    }
}

/// It was left out without a word that the choice depends on it.
#[test]
fn a_slower_rig_s_trial_that_is_stopped_may_turn_the_choice() {
    let is_over = Arc::new(AtomicBool::new(false));
    let rig = |is_kernel| Ends { is_over: is_over.clone(), is_kernel };
    let clock = || {
        let seen = is_over.clone();
        seen.store(false, Ordering::Relaxed);
        Clock::default().within("10s", move || f64::from(seen.load(Ordering::Relaxed)))
    };
    let kernel = |_: &Experiment| -> Result<Box<dyn Rig>> { Ok(Box::new(rig(true))) };
    let confirm = Confirm { rig: "kernel", count: 2, open: &kernel };
    let drives = Drives::read("4x 980 pro 1tb").unwrap();
    let work = Work::find("vm", &drives).unwrap();
    let levels = vec!["md-raid10".into()];
    let asked = Question { survive: 1, levels, clock: clock(), ..Question::new(drives, work) };
    let of_drives = tune(&asked, &rig(false), Some(&confirm), &mut |_| ()).unwrap();
    let text = crate::question::posed::tests::COPIES.replace("500", "5000");
    let experiment = Experiment::parse("some.toml", &text).unwrap();
    let posed = Posed::new(experiment, Wishes::default(), None).unwrap();
    let posed = Posed { clock: clock(), ..posed };
    let model = |_: &Experiment| -> Result<Box<dyn Rig>> { Ok(Box::new(rig(false))) };
    let of_file = tune_experiment(&posed, &model, Some(&confirm), &mut |_| ()).unwrap();
    for found in [of_drives, of_file] {
        assert!(is_over.load(Ordering::Relaxed) && found.confirmed.is_none());
        assert!(
            found.not_tried.contains(&"the best few on kernel".into()),
            "{:?}",
            found.not_tried
        );
        let said = "trials that may turn the choice (line `not tried`).";
        assert!(found.verdict.ends_with(said), "{}", found.verdict);
    }
}
