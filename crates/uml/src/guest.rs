//! The kernel's process: how it is started, and how it ends.

use crate::calendar::Calendar;
use crate::disk::DiskSpec;
use crate::fault::Fault;
use crate::machine::{Machine, Report, disks};
use crate::medium::Medium;
use crate::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use sim::{Device, Nanos};
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The time of day at which every guest begins: 2026-01-01, 00:00 UTC.
const EPOCH_NS: Nanos = 1_767_225_600_000_000_000;

/// What the disks of a kernel begin with, and whether what is written to them is recorded.
#[derive(Clone, Debug, Default)]
pub struct With {
    /// What they hold, in order; those without are blank.
    pub media: Vec<Medium>,
    /// Whether all that is written is recorded.
    pub is_recorded: bool,
    /// What goes wrong with them while the guest measures.
    pub faults: Vec<Fault>,
}

/// A kernel to be run.
#[derive(Clone, Debug)]
pub struct Guest {
    /// The kernel.
    pub kernel: PathBuf,
    /// An empty directory of its own, where its sockets and its console are. Its path does not reach the guest.
    pub directory: PathBuf,
    /// The guest's memory, in MiB.
    pub memory_mib: u64,
    /// The program that the guest runs, and all that it runs, and its arguments.
    pub init: PathBuf,
    /// They.
    pub arguments: Vec<String>,
    /// Commands that a disk takes at a time.
    pub queue_depth: u32,
    /// The processor that the guest and its disks share. On two they are several times slower.
    pub processor: Option<usize>,
    /// How long it may take, by the clock on the wall.
    pub limit: Duration,
}

impl Guest {
    /// Runs the kernel to its end, with disks that take the times of `device`'s targets and hold what `with` says; `job`
    /// is what its program is told, and `keep_on` is asked now and then.
    ///
    /// # Errors
    ///
    /// Where the kernel cannot be started, breaks off or takes too long; with the last that it said.
    pub fn run(
        &self,
        specs: &[DiskSpec],
        with: With,
        job: &[u8],
        device: &mut dyn Device,
        keep_on: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Report> {
        let before = self.pin()?;
        let mut is_ended = false;
        let ran = self.run_here(specs, with, job, device, keep_on, &mut is_ended);
        if let Some(before) = before {
            // The thread goes on where it was allowed to.
            let _ = sched_setaffinity(None, &before);
        }
        // What it says when it is ended is no cause.
        ran.map_err(|error| if is_ended { error } else { self.with_last_words(&error) })
    }

    fn run_here(
        &self,
        specs: &[DiskSpec],
        with: With,
        job: &[u8],
        device: &mut dyn Device,
        keep_on: &mut dyn FnMut() -> Result<()>,
        is_ended: &mut bool,
    ) -> Result<Report> {
        let listener = UnixListener::bind(self.directory.join("tt"))?;
        let disks = disks(&self.directory, specs, with.media, job)?;
        let mut process = Process::start(self.command(specs.len() + 1)?)?;
        let began = Instant::now();
        let limit = self.limit;
        let mut keep_on = || {
            keep_on()?;
            if began.elapsed() > limit {
                *is_ended = true;
                return Err(Error::new(format!(
                    "the kernel has not ended within {} s of real time, and was ended; allow it more (`--trial-limit`), or \
                     have less done (`count`, `amount`)",
                    limit.as_secs()
                )));
            }
            Ok(())
        };
        let stream = loop {
            let mut waiting = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
            let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
            if poll(&mut waiting, Some(&moment))? > 0 {
                break listener.accept()?.0;
            }
            process.check_alive()?;
            keep_on()?;
        };
        let calendar = Calendar::new(stream, EPOCH_NS);
        let report = Machine::new(calendar, disks, device, with.is_recorded, with.faults)
            .serve(&mut keep_on)?;
        if report.answer.is_some() {
            // However it ends: it is ended with its process.
            let _ = process.wait(Duration::from_secs(1));
            return Ok(report);
        }
        let status = process.wait(Duration::from_secs(10))?;
        if !status.success() {
            return Err(Error::new(format!("the kernel ended with {status} and gave no answer")));
        }
        Ok(report)
    }

    /// The command line. Programs in the guest can read it, so that paths which differ from run to run are kept out of
    /// it: sockets are relative to the directory.
    fn command(&self, disks: usize) -> Result<Command> {
        let console = File::create(self.console())?;
        let mut command = Command::new("setarch");
        // Where its memory is may not differ either.
        command.arg("-R").arg(&self.kernel);
        command.arg(format!("mem={}M", self.memory_mib));
        command.args(["rootfstype=hostfs", "root=none", "rootflags=/", "ro", "norandmaps"]);
        // Without a console named here the kernel names one behind the program's own arguments.
        command.args(["loglevel=4", "panic=-1", "console=tty0", "con=null", "con0=null,fd:2"]);
        // What the kernel does not know goes into its program's environment: nobody but dmsetup makes nodes there.
        command.args(["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DM_DISABLE_UDEV=1", "TMPDIR=/run"]);
        command.arg("time-travel=ext:1:tt");
        // Otherwise the first program that asks for random numbers, mdadm, waits a second for entropy; here they are the
        // same in every run anyway.
        command.arg("random.trust_cpu=on");
        command.arg(format!("virtio_blk.queue_depth={}", self.queue_depth));
        command.args((0..disks).map(|number| format!("virtio_uml.device=d{number}:2:{number}")));
        command.arg(format!("init={}", self.init.display())).arg("--").args(&self.arguments);
        command.current_dir(&self.directory).env_clear();
        command.env("HOME", &self.directory).env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.stdin(Stdio::null()).stdout(console.try_clone()?).stderr(console);
        command.process_group(0);
        Ok(command)
    }

    fn console(&self) -> PathBuf {
        self.directory.join("console")
    }

    /// Keeps this thread, and the kernel that it starts, on one processor; gives those that it had before.
    fn pin(&self) -> Result<Option<CpuSet>> {
        let Some(processor) = self.processor else { return Ok(None) };
        let before = sched_getaffinity(None)?;
        let mut one = CpuSet::new();
        one.set(processor);
        sched_setaffinity(None, &one)?;
        Ok(Some(before))
    }

    fn with_last_words(&self, error: &Error) -> Error {
        let said = last_lines(&self.console(), 6);
        if said.is_empty() {
            return Error::new(error.to_string());
        }
        Error::new(format!("{error}; the kernel's last words: {said}"))
    }
}

/// What a console says of its end, in one line: from the panic on, or the last lines, without traces of calls.
fn last_lines(path: &Path, lines: usize) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let is_of_trace = |line: &str| line.contains("[<") || line.contains("Call Trace");
    let said: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_of_trace(line)).collect();
    let last = said.len().saturating_sub(lines);
    let panic = said.iter().position(|line| line.contains("Kernel panic"));
    let start = panic.map_or(last, |panic| panic.saturating_sub(lines - 1).min(last));
    said[start..].iter().take(lines).copied().collect::<Vec<_>>().join(" | ")
}

/// A kernel that runs; it is ended with this.
struct Process {
    child: Child,
    /// Ends the kernel's group when this program is gone, however it went: it then reads the end of its input. A guest
    /// that computes without end notices nothing of it.
    watch: Child,
}

impl Process {
    fn start(mut command: Command) -> Result<Self> {
        let mut child = command.spawn().map_err(|error| {
            Error::from(error).context("cannot start the kernel by setarch (package util-linux)")
        })?;
        match watch(&child) {
            Ok(watch) => Ok(Process { child, watch }),
            Err(error) => {
                end(&mut child);
                Err(Error::from(error)
                    .context("cannot start `sh`, which ends the kernel with ileave"))
            }
        }
    }

    fn check_alive(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => {
                Err(Error::new(format!("the kernel ended with {status} before it began")))
            }
            None => Ok(()),
        }
    }

    fn wait(&mut self, limit: Duration) -> Result<ExitStatus> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if began.elapsed() > limit {
                return Err(Error::new("the kernel closed its disks but did not exit"));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its guest's processes are in its group, and so is what watches it.
        end(&mut self.child);
        let _ = self.watch.wait();
    }
}

/// Ends a kernel and all of its group.
fn end(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

/// Watches over the group of `child`, from within it.
fn watch(child: &Child) -> std::io::Result<Child> {
    let mut command = Command::new("sh");
    command.args(["-c", "read -r end; kill -KILL 0"]);
    command.process_group(child.id().cast_signed());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn()
}
