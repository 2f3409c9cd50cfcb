//! Runs commands: each written down before it runs, with a limit of time, and with its last words where it fails.

use crate::error::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A command and how long it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// How long it may take.
    pub limit: Duration,
}

/// The file with what takes down what a run has built.
pub(super) const PROMISED: &str = "take-down";

/// How long a step may take that says nothing else: mkfs of a large disk zeroes its inode tables.
const LIMIT: Duration = Duration::from_secs(600);

impl Step {
    /// A command, in words.
    pub fn new<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Self {
        Step { words: words.into_iter().map(Into::into).collect(), limit: LIMIT }
    }

    /// The same with another limit.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        Step { limit, ..self }
    }

    /// The same with one more argument.
    #[must_use]
    pub(crate) fn and(mut self, word: &str) -> Self {
        self.words.push(word.into());
        self
    }

    /// The same without an argument.
    #[must_use]
    pub(crate) fn without(&self, word: &str) -> Self {
        let words = self.words.iter().filter(|own| *own != word).cloned().collect();
        Step { words, ..self.clone() }
    }

    /// The program.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// As it is pasted into a shell.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
        let words: Vec<String> = self
            .words
            .iter()
            .map(|word| match word {
                word if !word.is_empty() && word.chars().all(is_plain) => word.clone(),
                word => format!("'{}'", word.replace('\'', r"'\''")),
            })
            .collect();
        f.write_str(&words.join(" "))
    }
}

/// What a command did.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// How long it took.
    pub elapsed_s: f64,
    /// The time that it and its children spent on processors, in their own code and in the kernel.
    pub user_s: f64,
    /// In the kernel.
    pub system_s: f64,
    /// What it printed.
    pub output: String,
}

/// Runs commands in a site.
#[derive(Clone, Debug)]
pub struct Shell {
    site: PathBuf,
    stopped: Arc<AtomicBool>,
    /// Every command that ran, for the trial's record.
    ran: Vec<String>,
    /// Whether it matters how long they take.
    are_timed: bool,
}

impl Shell {
    pub(super) fn new(site: &Path, stopped: Arc<AtomicBool>) -> Self {
        Shell { site: site.into(), stopped, ran: Vec::new(), are_timed: true }
    }

    /// For commands that nobody times. Each is looked for at 0.5 ms, 1.5 ms and so on, at last every 20 ms. What it leaves to the
    /// kernel is mostly over by then: the first requests of a trial that begins as its last command ends wait for that. What the
    /// kernel rig has on record was measured with these pauses.
    #[must_use]
    pub fn untimed(self) -> Self {
        Shell { are_timed: false, ..self }
    }

    /// The commands that ran since they were asked for last.
    pub fn take_ran(&mut self) -> Vec<String> {
        std::mem::take(&mut self.ran)
    }

    /// Runs a step to its end.
    ///
    /// # Errors
    ///
    /// Where it cannot be started, fails, or takes longer than it may; with what it said first
    /// and last, and the last that the kernel said.
    pub fn run(&mut self, step: &Step) -> Result<Ran> {
        self.wait_if_stopped();
        let said = step.to_string();
        self.write_down(&said)?;
        self.ran.push(said.clone());
        let failed = |error| Error::failure(format!("cannot run `{said}`: {error}"));
        let [out, err] = ["out", "err"].map(|name| self.site.join(name));
        let mut child = Command::new(step.program())
            .args(&step.words[1..])
            .current_dir(&self.site)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(File::create(&out).map_err(failed)?)
            .stderr(File::create(&err).map_err(failed)?)
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let start = Instant::now();
        let status = wait(&mut child, step.limit, self.are_timed).map_err(failed)?;
        let elapsed_s = start.elapsed().as_secs_f64();
        let words = fs::read(&err).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        match status {
            Waited::Ended { success: true, user_s, system_s, .. } => {
                let output = fs::read(&out).unwrap_or_default();
                let output = String::from_utf8_lossy(&output).into_owned();
                Ok(Ran { elapsed_s, user_s, system_s, output })
            }
            Waited::Ended { how, .. } => Err(Error::failure(format!(
                "`{said}` failed ({how}): {}{}",
                self::said(&words),
                kernel_said()
            ))),
            Waited::TooLong => Err(Error::failure(format!(
                "`{said}` took longer than {} s and was ended: {}{}",
                step.limit.as_secs(),
                self::said(&words),
                kernel_said()
            ))),
        }
    }

    /// Writes down what takes down what is about to be built, for whoever comes after this run if it is killed; nothing
    /// where all is down.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    pub fn promise(&self, steps: &[Step]) -> Result<()> {
        let path = self.site.join(PROMISED);
        let lines: Vec<String> = steps.iter().map(Step::to_string).collect();
        fs::write(&path, lines.join("\n"))
            .map_err(|error| Error::failure(format!("cannot write {}: {error}", path.display())))
    }

    /// Where a signal has ended the run, never comes back: the program ends within moments, and an error now would be
    /// mistaken for one of the trial.
    pub fn wait_if_stopped(&self) {
        while self.stopped.load(Ordering::SeqCst) {
            thread::park();
        }
    }

    fn write_down(&self, said: &str) -> Result<()> {
        let path = self.site.join("journal");
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut journal| journal.write_all(format!("{said}\n").as_bytes()));
        written.map_err(|error| Error::failure(format!("cannot write {}: {error}", path.display())))
    }
}

enum Waited {
    Ended { success: bool, how: String, user_s: f64, system_s: f64 },
    TooLong,
}

/// Waits for a child and its times. What takes too long is killed with all that it started.
fn wait(child: &mut Child, limit: Duration, is_timed: bool) -> std::io::Result<Waited> {
    let id = Pid::from_child(child);
    if !ends_within(id, limit, is_timed)? {
        let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        // What the kernel does not let go of stays; nobody waits for it here.
        for _ in 0..100 {
            if child.try_wait()?.is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
        return Ok(Waited::TooLong);
    }
    let (user_s, system_s) = times(child.id());
    let status = child.wait()?;
    Ok(Waited::Ended { success: status.success(), how: status.to_string(), user_s, system_s })
}

/// Whether a child ends within `limit`; it is not waited for yet. If it is timed its end wakes this: who looks every so often
/// measures the time between two looks, too.
fn ends_within(id: Pid, limit: Duration, is_timed: bool) -> std::io::Result<bool> {
    let start = Instant::now();
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    // Kernels before 5.3 have none: then it looks.
    let process = is_timed.then(|| pidfd_open(id, PidfdFlags::empty()).ok()).flatten();
    let mut pause = Duration::from_micros(500);
    while waitid(WaitId::Pid(id), ended)?.is_none() {
        let left = limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok(false);
        }
        let Some(process) = &process else {
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
            continue;
        };
        let left = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(process, PollFlags::IN)], left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// The processor times of a process that has ended and is not waited for, its children's included, from
/// `/proc/PID/stat`: fields 14 to 17, in ticks of 10 ms.
fn times(id: u32) -> (f64, f64) {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default();
    // The third field is the first behind the name.
    let ticks: Vec<f64> =
        fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse().ok()).collect();
    match ticks.as_slice() {
        [user, system, children_user, children_system] => {
            ((user + children_user) / 100.0, (system + children_system) / 100.0)
        }
        _ => (0.0, 0.0),
    }
}

/// Behind a line of this, a program says how it is called, and no more of what is wrong.
const USAGE: &str = "usage:";

/// So many lines of what a program said are told.
const LINES: usize = 4;

/// What a program said of why it failed: the first line, which says why, and the last, without how it is called.
fn said(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_usage =
        |line: &str| line.get(..USAGE.len()).is_some_and(|start| start.eq_ignore_ascii_case(USAGE));
    let all: Vec<&str> = lines.clone().take_while(|line| !is_usage(line)).collect();
    // A program that says nothing but how it is called says that.
    let all = if all.is_empty() { lines.collect() } else { all };
    match all.as_slice() {
        [first, ..] if all.len() > LINES => {
            let last = all[all.len() - (LINES - 1)..].join(" | ");
            format!("{first} | … | {last}")
        }
        few => few.join(" | "),
    }
}

fn last_lines(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    all[all.len().saturating_sub(lines)..].join(" | ")
}

/// The end of the kernel's log, where this user may read it.
fn kernel_said() -> String {
    let log = Command::new("dmesg").stderr(Stdio::null()).output();
    let text = log.map(|log| String::from_utf8_lossy(&log.stdout).into_owned()).unwrap_or_default();
    kernel_words(&text)
}

fn kernel_words(log: &str) -> String {
    // That is what ileave does before each trial.
    let lines = log.lines().filter(|line| !line.contains("drop_caches: "));
    let last = last_lines(&lines.collect::<Vec<_>>().join("\n"), 3);
    if last.is_empty() { String::new() } else { format!(" (the kernel's last words: {last})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(directory: &Path) -> Shell {
        Shell::new(directory, Arc::default())
    }

    #[test]
    fn a_step_gives_its_output_and_times_and_is_written_down() {
        let site = tempfile::tempdir().unwrap();
        let mut shell = shell(site.path());
        let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done";
        let ran = shell.run(&Step::new(["sh", "-c", busy])).unwrap();
        assert_eq!(ran.output, "done\n");
        assert!(ran.user_s > 0.0 && ran.elapsed_s > ran.user_s * 0.5, "{ran:?}");
        let journal = fs::read_to_string(site.path().join("journal")).unwrap();
        assert_eq!(journal, format!("sh -c '{busy}'\n"));
        assert_eq!(shell.take_ran(), [journal.trim_end()]);
    }

    /// Looking every 20 ms would see it at 51 ms.
    #[test]
    fn a_step_takes_as_long_as_it_takes() {
        let site = tempfile::tempdir().unwrap();
        let mut shell = shell(site.path());
        let mut took = || shell.run(&Step::new(["sleep", "0.033"])).unwrap().elapsed_s;
        let least = (0..5).map(|_| took()).fold(f64::INFINITY, f64::min);
        // The clock starts when the command has been started, which may be a little late.
        assert!((0.01..0.045).contains(&least), "{least}");
    }

    #[test]
    fn what_was_built_is_taken_down_by_whoever_comes_after() {
        let parent = tempfile::tempdir().unwrap();
        let site = parent.path().join(format!("{}1", super::super::PREFIX));
        fs::create_dir(&site).unwrap();
        let down = parent.path().join("it's down");
        let shell = shell(&site);
        shell.promise(&[Step::new(["touch".to_string(), down.display().to_string()])]).unwrap();
        super::super::sweep(parent.path()).unwrap();
        assert!(down.exists() && !site.exists());
    }

    #[test]
    fn a_step_that_fails_gives_its_last_words() {
        let site = tempfile::tempdir().unwrap();
        let step = Step::new(["sh", "-c", "echo no such thing >&2; exit 3"]);
        let said = shell(site.path()).run(&step).unwrap_err().to_string();
        assert!(said.contains("exit status: 3") && said.contains("no such thing"), "{said}");
        let none = shell(site.path()).run(&Step::new(["no-such-program"])).unwrap_err();
        assert!(none.to_string().contains("cannot run `no-such-program`"), "{none}");
    }

    /// mkfs says why first, and how it is called behind that.
    #[test]
    fn what_a_program_said_first_is_told_and_the_usage_behind_it_is_not() {
        let lines: Vec<String> = (1..20).map(|line| format!("\t<num> is {line}")).collect();
        let usage = format!(
            "Filesystem must be larger than 300MB.\nUsage: mkfs.xfs\n{}\n",
            lines.join("\n")
        );
        assert_eq!(said(&usage), "Filesystem must be larger than 300MB.");
        let warned = format!("warning: old\n{}\nno space\n", lines.join("\n"));
        assert_eq!(said(&warned), "warning: old | … | <num> is 18 | <num> is 19 | no space");
        assert_eq!(said("one\n\n  two\n"), "one | two");
        assert_eq!(said(""), "");
    }

    #[test]
    fn what_this_run_does_to_the_kernel_is_none_of_its_words() {
        let log = "[1.0] a bad block\n[2.0] ileave (17643): drop_caches: 3\n[3.0] sync\n";
        assert_eq!(kernel_words(log), " (the kernel's last words: [1.0] a bad block | [3.0] sync)");
        assert_eq!(kernel_words("[2.0] sh (1): drop_caches: 1\n"), "");
    }

    #[test]
    fn a_step_that_hangs_is_ended_with_all_that_it_started() {
        let site = tempfile::tempdir().unwrap();
        let step =
            Step::new(["sh", "-c", "sleep 61.7 & sleep 61.7"]).within(Duration::from_millis(300));
        let start = Instant::now();
        let said = shell(site.path()).run(&step).unwrap_err().to_string();
        assert!(said.contains("took longer than 0 s"), "{said}");
        assert!(start.elapsed() < Duration::from_secs(5));
        thread::sleep(Duration::from_millis(100));
        let left = Command::new("pgrep").args(["-f", "^sleep 61.7"]).output();
        if let Ok(left) = left {
            assert_eq!(String::from_utf8_lossy(&left.stdout), "");
        }
    }

    #[test]
    fn a_step_is_printed_as_a_shell_takes_it() {
        let step = Step::new(["mkfs.xfs", "-d", "su=64k,sw=4", "/tmp/my images/0.img"]);
        assert_eq!(step.to_string(), "mkfs.xfs -d su=64k,sw=4 '/tmp/my images/0.img'");
    }
}
