//! The best few on a second rig: here the model again, which has to agree with itself.

use crate::remembered::Sim;
use crate::work::Work;
use crate::{Clock, Confirm, Drives, Question, tune};
use lab::Result;
use lab::catalogue;
use lab::experiment::Experiment;
use lab::rig::Rig;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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
