//! A trial on a real rig may take the machine down with it; what was running is known afterwards.

use lab::Result;
use lab::capabilities::{Capabilities, Members};
use lab::experiment::{Experiment, Plan, Trial};
use lab::rig::{Prepared, Rig};
use lab::runner;
use std::fs;
use std::path::{Path, PathBuf};
use store::{FORMAT, Manifest, Store};

/// A rig that finds the note of its own start in the store, and then locks up.
struct LockUp {
    store: PathBuf,
}

impl Rig for LockUp {
    fn name(&self) -> &'static str {
        "lock-up"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            members: Members::Real { members: Vec::new(), failed: Vec::new() },
            host_is_modelled: false,
            durable_starts: true,
            ..Capabilities::modelled(1)
        }
    }

    fn admit(&self, _: &Trial) -> Result<()> {
        Ok(())
    }

    fn samples(&self, _: &Trial) -> Vec<&'static str> {
        Vec::new()
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        let attempts = fs::read_to_string(self.store.join("attempts.jsonl")).unwrap();
        let noted = format!("{{\"trial\":{},\"event\":\"started\"", trial.number);
        assert!(attempts.contains(&noted), "the start of trial {} is noted", trial.number);
        Err(lab::Error::failure("the machine is gone"))
    }
}

fn start(plan: &Plan, manifest: &Manifest, directory: &Path, resume: bool) {
    let (mut store, earlier) = if resume {
        Store::resume(directory, manifest, lab::complete).unwrap()
    } else {
        (Store::create(directory, manifest).unwrap(), Vec::new())
    };
    let rig = LockUp { store: directory.into() };
    let error = runner::run(plan, &rig, Some(&mut store), earlier, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("the machine is gone"), "{error}");
}

#[test]
fn a_trial_is_noted_before_it_runs_and_is_suspect_when_it_runs_again() {
    let experiment = Experiment::parse("x.toml", "[workload.read]\nkind = \"random\"").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let can = LockUp { store: directory.path().into() }.capabilities();
    let plan = Plan::on(&experiment, &can).unwrap();
    let manifest = Manifest {
        format: FORMAT,
        ileave: "0".into(),
        name: "x".into(),
        rig: "lock-up".into(),
        trials: plan.trials.len(),
        workloads: experiment.workloads.clone(),
        published: String::new(),
        experiment: experiment.canonical(),
        drives: plan.drives.clone(),
        members: plan.members.clone(),
        hosts: plan.hosts.clone(),
        controllers: plan.controllers.clone(),
        trees: plan.trees.clone(),
        traces: plan.traces.clone(),
        only_read: Vec::new(),
        factors: store::factor::Factors::default(),
        machine: std::collections::BTreeMap::new(),
        doubts: Vec::new(),
        fio: false,
        imported: None,
    };
    start(&plan, &manifest, directory.path(), false);
    assert!(lab::read_results(directory.path()).unwrap().suspects.is_empty());
    start(&plan, &manifest, directory.path(), true);
    let suspects = lab::read_results(directory.path()).unwrap().suspects;
    assert_eq!(suspects.into_iter().collect::<Vec<_>>(), [0]);
    // A line of it says nothing of a result, and is not asked for again.
    fs::write(directory.path().join("attempts.jsonl"), "{\n").unwrap();
    let error = lab::read_results(directory.path()).unwrap_err().to_string();
    assert!(error.contains("attempts.jsonl:1 is damaged"), "{error}");
    assert!(error.ends_with("no result is lost with it"), "{error}");
}
