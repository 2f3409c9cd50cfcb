//! The `sim` rig: modelled drives on a modelled host, in virtual time.

mod files;
mod moving;

use super::admit::{check_failed, check_work};
use super::jobs::streams;
use super::{Rig, RigKind};
use crate::error::{Error, Result};
use crate::experiment::{Setup, Trial};
use crate::machine::{self, layout, member_sectors};
use crate::record::Measured;
use block::Layout;
use rustix::time::{ClockId, clock_gettime};
use sim::workload::Jobs;
use sim::{Counters, Device, Processor};
use std::thread::available_parallelism;

/// Modelled drives in virtual time.
pub struct SimKind;

impl RigKind for SimKind {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn lanes(&self) -> usize {
        available_parallelism().map_or(1, usize::from)
    }

    fn rig(&self) -> Box<dyn Rig + '_> {
        Box::new(SimRig { machine: None })
    }
}

/// One modelled machine.
struct SimRig {
    machine: Option<(Processor, Box<dyn Device>)>,
}

impl Rig for SimRig {
    fn admit(&self, trial: &Trial) -> Result<()> {
        let layout = layout(&trial.setup)?;
        check_setup_failed(&*layout, &trial.setup)?;
        if let Some(files) = &trial.setup.files {
            if let Some(other) = trial.beside.first() {
                return Err(Error::input(format!(
                    "`workload.{}` and `workload.{}` are of one group, but of programs that use files one \
                     runs at a time; leave out the group",
                    trial.work.name, other.name
                )));
            }
            return files::admit(trial, files, layout.sectors());
        }
        trial.works().try_for_each(|work| check_work(work, layout.sectors()))?;
        moving::check(trial)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        match trial.setup.files {
            Some(_) => files::samples(trial.work.files.program),
            None => Measured::block_samples(trial),
        }
    }

    fn prepare(&mut self, trial: &Trial) -> Result<()> {
        if trial.setup.files.is_none() {
            let processor = Processor::default();
            let device = machine::volume(&trial.setup, trial.seed, &processor)?;
            self.machine = Some((processor, device));
        }
        Ok(())
    }

    fn measure(&mut self, trial: &Trial) -> Result<Measured> {
        if let Some(files) = &trial.setup.files {
            let before = cpu_s();
            let ran = files::run(trial, files)?;
            return Ok(ran.measured(cpu_s() - before));
        }
        let (processor, device) = self.machine.as_mut().expect("prepare comes before measure");
        let sectors = device.geometry().target_sectors[0];
        let mut jobs = Jobs::new(streams(trial, sectors));
        let before = cpu_s();
        let outcome = sim::run_on(processor, &mut **device, &mut jobs);
        let cpu_s = cpu_s() - before;
        let mut measured = Measured::from_sim(&outcome, cpu_s);
        if let Some(lateness) = jobs.lateness() {
            measured.add_lateness(lateness);
        }
        if trial.setup.rebuild_bytes_per_s.is_some() {
            sim::settle(&mut **device);
            let mut counters = Counters::default();
            device.count(&mut counters);
            measured.add_rebuild(&outcome.counters, &counters);
        }
        Ok(measured)
    }

    fn tear_down(&mut self) -> Result<()> {
        self.machine = None;
        Ok(())
    }
}

fn check_setup_failed(layout: &dyn Layout, setup: &Setup) -> Result<()> {
    let names: Vec<String> = setup.failed.iter().map(u32::to_string).collect();
    let said = format!("`volume.failed` = {}", names.join("+"));
    check_failed(layout, &setup.failed, &member_sectors(setup)?, &said, &setup.level)
}

/// Seconds that this thread has spent on a CPU.
fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    fn setup(text: &str) -> std::sync::Arc<Setup> {
        let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
        std::sync::Arc::clone(&plan.trials[0].setup)
    }

    /// A part of a drive is all there is of it, whatever the level.
    #[test]
    fn a_single_drive_has_as_many_sectors_as_are_used_of_it() {
        let sectors = |drives: &str| {
            let text =
                format!("[volume]\ndrives = \"{drives}\"\nlevel = \"single\"\n[workload.a]\n");
            machine::volume(&setup(&text), 1, &Processor::default())
                .unwrap()
                .geometry()
                .target_sectors
                .clone()
        };
        assert_eq!(sectors("wd740gd:1GiB"), [1 << 21]);
        let whole = crate::catalogue::drive("wd740gd").unwrap().sectors();
        assert_eq!(sectors("wd740gd"), [whole]);
    }

    /// Behind the smallest member's end a larger one has nothing of the volume to lose.
    #[test]
    fn a_larger_member_that_cannot_be_missed_may_not_fail() {
        let text = "[volume]\ndrives = \"xp32150w+wd740gd\"\nlevel = \"ccd-uniform\"\nfailed = \"1\"\n\
                    [workload.a]\n";
        let setup = setup(text);
        let message =
            check_setup_failed(&*layout(&setup).unwrap(), &setup).unwrap_err().to_string();
        assert!(message.contains("cannot do without member 1"), "{message}");
    }

    #[test]
    fn a_workload_that_outlasts_the_clock_is_refused() {
        let message = |keys: &str| {
            let text = format!("[volume]\ndrives = \"wd740gd\"\n[workload.a]\n{keys}");
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            SimKind.rig().admit(&plan.trials[0]).map_err(|error| error.to_string())
        };
        for keys in [
            "think = '8784h'\ncount = 200",
            "rate = 1\ncount = 1_000_000",
            "rate = 1\namount = '1TiB'",
            "requests_per_s = 1\ncount = 1_000_000_000_000",
            "count = 1_000_000_000_000\nblock = '64MiB'",
            "amount = 14_000_000_000_000_000",
        ] {
            let said = message(keys).unwrap_err();
            assert!(said.contains("`workload.a` would take more than a hundred years"), "{said}");
            message(&format!("{keys}\nruntime = '1s'")).unwrap();
        }
        message("think = '8784h'\ncount = 99").unwrap();
    }

    #[test]
    fn a_rebuild_that_outlasts_the_clock_is_refused() {
        let admit = |rate: &str| {
            let text = format!(
                "[volume]\ndrives = \"2xwd740gd\"\nlevel = \"mirror\"\nfailed = \"1\"\nrebuild = \
                 {rate}\n[workload.a]\n"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            SimKind.rig().admit(&plan.trials[0]).map_err(|error| error.to_string())
        };
        let said = admit("1").unwrap_err();
        assert!(
            said.contains("`volume.rebuild` of 1 B/s") && said.contains("give 24 or"),
            "{said}"
        );
        admit("24").unwrap();
    }

    #[test]
    fn programs_that_use_files_do_not_run_side_by_side() {
        let text = "[volume]\ndrives = \"wd740gd\"\n[fs]\nnewfs = \"4.4bsd\"\n\
                    [workload.a]\ngroup = \"g\"\n[workload.b]\ngroup = \"g\"\n";
        let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
        let message = SimKind.rig().admit(&plan.trials[0]).unwrap_err().to_string();
        assert!(message.contains("`workload.a` and `workload.b` are of one group"), "{message}");
    }

    /// Of each program and each sort of blocks: what a trial has is what was said of it beforehand.
    #[test]
    fn a_trial_has_the_samples_that_are_expected_of_it() {
        let volume = "[volume]\ndrives = '4xwd740gd:256MiB'\nlevel = 'raid10'\n";
        let blocks = "[workload.w]\nkind = 'random'\ncount = 40\n";
        let texts = [
            format!("{volume}{blocks}"),
            format!("{volume}{blocks}op = 'write'\nflush_every = 8\n"),
            format!("{volume}{blocks}reads_percent = 50\nrate = '1MB/s'\n"),
            format!("{volume}failed = '0'\nrebuild = '20MB/s'\n{blocks}"),
        ];
        let programs =
            ["touch", "iozone", "bonnie", "newfs", "nfs", "untar", "spool", "fsck", "memory"];
        let program = |name: &str| {
            format!(
                "[host]\nname = 'a8v-netbsd-2'\n{volume}[fs]\nnewfs = 'netbsd2'\n[workload.w]\n\
                 program = '{name}'\nfiles = 60\ndirectories = 4\nsize = '1MiB'\nreaders = 2\n\
                 files_per_reader = 10\n"
            )
        };
        for text in texts.into_iter().chain(programs.map(program)) {
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
            let (trial, mut rig) = (&plan.trials[0], SimKind.rig());
            rig.admit(trial).unwrap();
            rig.prepare(trial).unwrap();
            let measured = rig.measure(trial).unwrap().samples.into_iter().map(|(name, _)| name);
            assert_eq!(measured.collect::<Vec<_>>(), rig.samples(trial), "{text}");
        }
    }
}
