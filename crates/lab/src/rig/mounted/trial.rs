//! One trial on a real file system, from its first command to its last.

use super::{Device, Notes, OF_ALL, Planned, in_order};
use crate::error::{Error, Result};
use crate::experiment::Trial;
use crate::record::{Measured, share};
use crate::rig::Prepared;
use crate::rig::observed::{Count, Seen, Watch, check_cold, counts, moved, since};
use crate::rig::site::{Ran, Shell, Site, Step};
use crate::workload::live::Shared;
use crate::workload::{Ground, Kind, LiveStage, Moved, Program, Work};
use hdrhistogram::Histogram;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// mkfs, with the devices behind it.
fn mkfs(planned: &Planned) -> Step {
    Step::new(planned.making.mkfs.iter().chain(&planned.build.devices).cloned())
}

/// What mounts it. A pool is imported first.
pub(super) fn mount(planned: &Planned, at: &Path) -> Vec<Step> {
    let making = &planned.making;
    let mut words = vec!["mount".to_string(), "-t".into(), making.kind.into()];
    if !making.options.is_empty() {
        words.extend(["-o".into(), making.options.clone()]);
    }
    // Any member of a btrfs leads to all of it; a pool has its name in front of its members.
    words.extend([planned.build.devices[0].clone(), at.display().to_string()]);
    let import = planned.build.pool.iter().map(|[import, _]| import.clone());
    import.chain([Step::new(words)]).collect()
}

/// What unmounts it.
fn umount(planned: &Planned, at: &Path) -> Vec<Step> {
    let umount = Step::new(["umount".to_string(), at.display().to_string()]);
    let export = planned.build.pool.iter().map(|[_, export]| export.clone());
    [umount].into_iter().chain(export).collect()
}

/// All that makes the file system. What makes a pool leaves it imported.
fn make(planned: &Planned) -> Vec<Step> {
    let export = planned.build.pool.iter().map(|[_, export]| export.clone());
    [mkfs(planned)].into_iter().chain(export).collect()
}

/// Takes the signatures of the members away, so that the next trial begins on blank ones.
pub(super) fn wipe(devices: &[Device]) -> Step {
    let paths = devices.iter().map(|device| device.path.clone());
    Step::new(["wipefs", "--all", "--quiet"].map(String::from).into_iter().chain(paths))
}

/// All commands of a trial but the program's own.
pub(super) fn commands(planned: &Planned, at: &Path, devices: &[Device]) -> Vec<String> {
    let build = &planned.build;
    let steps = planned.first.iter().chain(&build.make).cloned();
    let before = steps.chain(make(planned)).chain(mount(planned, at));
    let after = umount(planned, at).into_iter().chain(build.take_down.iter().cloned());
    before.chain(after).chain([wipe(devices)]).map(|step| step.to_string()).collect()
}

/// Builds the volume, makes the file system and mounts it.
pub(super) fn prepare<'a>(
    trial: &'a Trial,
    planned: Planned,
    site: &'a Site,
    devices: &'a [Device],
    notes: Option<Notes>,
) -> Result<Box<dyn Prepared + 'a>> {
    let mut ready = Box::new(Ready {
        trial,
        shell: site.shell(),
        at: site.mount_point(),
        shared: Shared::stopped_by(site.stopped()),
        planned,
        devices,
        is_built: false,
        is_mounted: false,
        made_s: 0.0,
        kept: Vec::new(),
        notes,
    });
    match ready.set_up() {
        Ok(()) => Ok(ready),
        Err(error) => {
            // The error to report is the first.
            let _ = ready.take_down();
            Err(error)
        }
    }
}

/// A mounted file system that a program is about to use.
struct Ready<'a> {
    trial: &'a Trial,
    shell: Shell,
    at: PathBuf,
    shared: Shared,
    planned: Planned,
    devices: &'a [Device],
    is_built: bool,
    is_mounted: bool,
    made_s: f64,
    kept: Vec<(String, String)>,
    notes: Option<Notes>,
}

impl Ready<'_> {
    fn set_up(&mut self) -> Result<()> {
        self.is_built = true;
        // Should the run be killed, the next one takes it down.
        self.shell.promise(&self.planned.build.take_down)?;
        for step in
            self.planned.first.iter().chain(&self.planned.build.make).cloned().collect::<Vec<_>>()
        {
            self.shell.run(&step)?;
        }
        self.made_s = 0.0;
        for step in make(&self.planned) {
            self.made_s += self.shell.run(&step)?.elapsed_s;
        }
        self.mount()?;
        empty_caches();
        Ok(())
    }

    fn mount(&mut self) -> Result<()> {
        for step in mount(&self.planned, &self.at) {
            self.shell.run(&step)?;
        }
        self.is_mounted = true;
        Ok(())
    }

    fn umount(&mut self) -> Result<f64> {
        let mut elapsed_s = 0.0;
        for step in umount(&self.planned, &self.at) {
            elapsed_s += self.shell.run(&step)?.elapsed_s;
            // What comes behind is no mount any more.
            self.is_mounted = false;
        }
        Ok(elapsed_s)
    }

    /// Takes down what there is, however far it came.
    fn take_down(&mut self) -> Result<()> {
        if self.is_mounted {
            self.umount()?;
        }
        if self.is_built {
            for step in self.planned.build.take_down.clone() {
                self.shell.run(&step)?;
            }
            self.shell.run(&wipe(self.devices))?;
            self.shell.promise(&[])?;
            self.is_built = false;
        }
        Ok(())
    }

    fn program(&self) -> Result<(&'static Kind, Arc<dyn Program>)> {
        match &self.trial.work {
            Work::Program { kind, program, .. } => Ok((kind, Arc::clone(program))),
            // A plan has no such trial.
            Work::Requests(_) | Work::Trace(_) => {
                Err(Error::failure("requests use no file system"))
            }
        }
    }
}

/// Has the kernel forget what it has read of files and directories.
fn empty_caches() {
    rustix::fs::sync();
    // Where a container forbids it, the bytes that the members read show it.
    let _ = fs::write("/proc/sys/vm/drop_caches", "3");
}

impl Ground for Ready<'_> {
    fn mount_point(&self) -> PathBuf {
        self.at.clone()
    }

    fn made_s(&self) -> f64 {
        self.made_s
    }

    fn remount(&mut self) -> Result<f64> {
        let umount_s = self.umount()?;
        empty_caches();
        self.mount()?;
        Ok(umount_s)
    }

    fn moved(&self) -> Moved {
        moved(self.devices)
    }

    fn run(&mut self, step: &Step) -> Result<Ran> {
        self.shell.run(step)
    }

    fn keep(&mut self, name: &str, text: String) {
        self.kept.push((name.into(), text));
    }

    fn note(&mut self, number: u64) -> Result<()> {
        self.notes.as_ref().map_or(Ok(()), |notes| notes(number))
    }
}

impl Prepared for Ready<'_> {
    fn measure(&mut self) -> Result<Measured> {
        let (kind, program) = self.program()?;
        let before = counts(self.devices);
        let watch = Watch::new(self.devices);
        let (shared, seed) = (self.shared.clone(), self.trial.seed);
        let late = Arc::clone(&shared.late);
        let mut stage = LiveStage::new(self, shared, seed);
        let own = within(PROGRAM_LIMIT, &late, || program.run_live(&mut stage))?;
        let (elapsed_s, work_s) = stage.times_s();
        let from_memory = stage.from_memory_percent();
        check_cold(from_memory, "see that /proc/sys/vm/drop_caches can be written")?;
        // What waits in memory still belongs to the trial; it is counted, and not timed.
        self.umount()?;
        let done = since(&counts(self.devices), &before);
        let samples = Samples { elapsed_s, work_s, from_memory, seen: watch.seen(), done: &done };
        Ok(Measured {
            samples: samples.in_order(kind, &*program, &own),
            member_busy: done.iter().map(|c| share(c.busy_ms as f64 / 1e3, elapsed_s)).collect(),
            requests: done.iter().map(|count| count.reads + count.writes).sum(),
            latency_ns: Histogram::new(3).expect("three digits are within its range"),
            series: None,
            streams: Vec::new(),
            curve: Vec::new(),
            holds: None,
            window: None,
            cpu_s: work_s,
            commands: self.shell.take_ran(),
            kept: std::mem::take(&mut self.kept),
        })
    }

    fn tear_down(mut self: Box<Self>) -> Result<()> {
        self.take_down()
    }
}

/// How long a program may take: one that takes longer hangs, or is no work for an experiment.
const PROGRAM_LIMIT: Duration = Duration::from_secs(4 * 3600);

/// Runs a program, and has its calls fail once it takes longer than `limit`.
fn within<T>(limit: Duration, late: &AtomicBool, program: impl FnOnce() -> Result<T>) -> Result<T> {
    late.store(false, Ordering::Relaxed);
    let (ended, has_ended) = mpsc::channel::<()>();
    let result = thread::scope(|scope| {
        scope.spawn(move || {
            if has_ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                late.store(true, Ordering::Relaxed);
            }
        });
        let result = program();
        drop(ended);
        result
    });
    result.map_err(|error| {
        if !late.load(Ordering::Relaxed) {
            return error;
        }
        let limit_s = limit.as_secs();
        Error::failure(format!(
            "the program took longer than {limit_s} s and was ended; give it less work"
        ))
    })
}

/// What the samples of every program are made of.
struct Samples<'a> {
    elapsed_s: f64,
    work_s: f64,
    from_memory: Option<f64>,
    seen: Seen,
    done: &'a [Count],
}

impl Samples<'_> {
    /// The samples of every program by name, its own one by one.
    fn in_order(
        &self,
        kind: &Kind,
        program: &dyn Program,
        own: &[f64],
    ) -> Vec<(&'static str, f64)> {
        let [read_mb, written_mb, from_memory, others_mb] = self.seen.samples(self.from_memory);
        let moved_mb = read_mb.unwrap_or(0.0) + written_mb.unwrap_or(0.0);
        let commands = self.done.iter().map(|count| count.reads + count.writes);
        let (most, all) = (commands.clone().max().unwrap_or(0), commands.sum::<u64>());
        let of_all = [
            Some(self.elapsed_s),
            Some(moved_mb / self.elapsed_s),
            Some(self.work_s / self.elapsed_s),
            Some(most as f64 / all.max(1) as f64),
            read_mb,
            written_mb,
            from_memory,
            others_mb,
        ];
        let own_names = program.live_samples();
        assert_eq!(own.len(), own_names.len(), "{} has the samples that it says", kind.name);
        let value = |name: &'static str| {
            let own = own_names.iter().position(|known| *known == name).map(|place| own[place]);
            let shared = OF_ALL.iter().position(|known| *known == name);
            own.or_else(|| shared.and_then(|place| of_all[place])).map(|value| (name, value))
        };
        in_order(kind.samples, own_names).into_iter().filter_map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_takes_too_long_is_told_to_end() {
        let late = AtomicBool::new(false);
        let wait = || {
            while !late.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            Err::<(), _>(Error::failure("a call failed"))
        };
        let said = within(Duration::from_millis(20), &late, wait).unwrap_err().to_string();
        assert!(said.contains("took longer than 0 s"), "{said}");
        let failed = || Err::<(), _>(Error::failure("a call failed"));
        let said = within(Duration::from_secs(600), &late, failed).unwrap_err().to_string();
        assert_eq!(said, "a call failed");
    }
}
