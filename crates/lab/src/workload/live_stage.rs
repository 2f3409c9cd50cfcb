//! What a program runs on where the file system is real, and how it is measured.

use super::live::{LiveFiles, Shared, process_cpu_s, run_now};
use super::stage::failed;
use crate::error::{Error, Result};
use crate::rig::site::{Ran, Step};
use sim::fs::FsError;
use std::path::PathBuf;
use std::sync::Barrier;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

/// What the members have done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl Moved {
    /// What was done since `before`.
    #[must_use]
    pub fn since(&self, before: &Moved) -> Moved {
        Moved {
            reads: self.reads - before.reads,
            writes: self.writes - before.writes,
            read_bytes: self.read_bytes - before.read_bytes,
            written_bytes: self.written_bytes - before.written_bytes,
        }
    }
}

/// The machine below a program.
pub trait Ground {
    /// Where the file system is mounted.
    fn mount_point(&self) -> PathBuf;

    /// How long it took to make the file system, in s.
    fn made_s(&self) -> f64;

    /// Unmounts, empties the caches and mounts again; gives how long the first took, in s.
    ///
    /// # Errors
    ///
    /// Where that fails.
    fn remount(&mut self) -> Result<f64>;

    /// What the members have done so far.
    fn moved(&self) -> Moved;

    /// Runs a command.
    ///
    /// # Errors
    ///
    /// Where it fails or takes too long.
    fn run(&mut self, step: &Step) -> Result<Ran>;

    /// Keeps a text with the trial's record.
    fn keep(&mut self, name: &str, text: String);

    /// Notes a number, of which somebody outside keeps the time; where nobody does, it is forgotten.
    ///
    /// # Errors
    ///
    /// Where that fails.
    fn note(&mut self, number: u64) -> Result<()> {
        let _ = number;
        Ok(())
    }
}

/// What a program runs on.
pub struct LiveStage<'a> {
    ground: &'a mut dyn Ground,
    shared: Shared,
    /// All that is random follows from it.
    pub seed: u64,
    elapsed_s: f64,
    work_s: f64,
    /// Bytes that were read cold: by programs, and by the members meanwhile.
    cold: (u64, u64),
}

/// Of the bytes that were `asked` for, the share that no member read, in percent; none where nothing was asked for.
pub(crate) fn from_memory_percent(asked: u64, read: u64) -> Option<f64> {
    (asked > 0).then(|| 100.0 * asked.saturating_sub(read) as f64 / asked as f64)
}

/// What happened while programs ran.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveLap {
    /// Time that passed, in s.
    pub elapsed_s: f64,
    /// This process's time on processors, in s.
    pub work_s: f64,
    /// What the members did.
    pub moved: Moved,
}

impl LiveLap {
    /// The processor's share, in percent.
    pub fn cpu_percent(&self) -> f64 {
        100.0 * self.work_s / self.elapsed_s
    }
}

type Called<T> = std::result::Result<T, FsError>;

impl<'a> LiveStage<'a> {
    /// A stage on a machine with a file system mounted.
    pub fn new(ground: &'a mut dyn Ground, shared: Shared, seed: u64) -> Self {
        LiveStage { ground, shared, seed, elapsed_s: 0.0, work_s: 0.0, cold: (0, 0) }
    }

    /// How long all has taken so far, and how much of it processors worked, in s.
    pub fn times_s(&self) -> (f64, f64) {
        (self.elapsed_s, self.work_s)
    }

    /// Of the bytes that programs have read cold, the share that no member read, in percent; none where nothing was
    /// read cold.
    pub fn from_memory_percent(&self) -> Option<f64> {
        let (asked, read) = self.cold;
        from_memory_percent(asked, read)
    }

    /// How long it took to make the file system, in s; the time of all leaves it out.
    pub fn made_s(&self) -> f64 {
        self.ground.made_s()
    }

    /// Where the file system is mounted.
    pub fn mount_point(&self) -> PathBuf {
        self.ground.mount_point()
    }

    /// Runs a program that nobody times.
    ///
    /// # Errors
    ///
    /// Where one of its calls fails.
    pub fn untimed<T>(&mut self, program: impl AsyncFnOnce(LiveFiles) -> Called<T>) -> Result<T> {
        let files = LiveFiles::open(&self.mount_point(), &self.shared)?;
        run_now(program(files)).map_err(failed)
    }

    /// Runs a program to its end.
    ///
    /// # Errors
    ///
    /// Where one of its calls fails.
    pub fn only(&mut self, program: impl AsyncFnOnce(LiveFiles) -> Called<()>) -> Result<LiveLap> {
        self.value(program).map(|((), lap)| lap)
    }

    /// Runs a program to its end; gives its result, too.
    ///
    /// # Errors
    ///
    /// Where one of its calls fails.
    pub fn value<T>(
        &mut self,
        program: impl AsyncFnOnce(LiveFiles) -> Called<T>,
    ) -> Result<(T, LiveLap)> {
        let files = LiveFiles::open(&self.mount_point(), &self.shared)?;
        self.lap(|| run_now(program(files)).map_err(failed))
    }

    /// Runs the same program on each of `inputs`, each on a thread of its own. `prepare` is not timed.
    ///
    /// # Errors
    ///
    /// Where a call of one of them fails.
    pub fn side_by_side<T: Send, P>(
        &mut self,
        inputs: Vec<T>,
        prepare: impl AsyncFn(LiveFiles) -> Called<P> + Sync,
        program: impl AsyncFn(LiveFiles, P, T) -> Called<()> + Sync,
    ) -> Result<LiveLap> {
        let (root, shared) = (self.mount_point(), self.shared.clone());
        let ready = Barrier::new(inputs.len() + 1);
        let one = |input: T| {
            let files = LiveFiles::open(&root, &shared);
            let prepared = files
                .and_then(|files| Ok((run_now(prepare(files.clone())).map_err(failed)?, files)));
            // Whoever fails must not keep the others waiting.
            ready.wait();
            let (prepared, files) = prepared?;
            run_now(program(files, prepared, input)).map_err(failed)
        };
        thread::scope(|scope| {
            let one = &one;
            let threads: Vec<_> =
                inputs.into_iter().map(|input| scope.spawn(move || one(input))).collect();
            self.lap_from(
                || ready.wait(),
                || {
                    let ended = threads.into_iter().map(|thread| {
                        thread
                            .join()
                            .unwrap_or_else(|_| Err(Error::failure("a reader has panicked")))
                    });
                    ended.collect::<Vec<_>>().into_iter().collect::<Result<()>>()
                },
            )
            .map(|((), lap)| lap)
        })
    }

    /// Runs a program of this process's own, with the ground to note things on.
    ///
    /// # Errors
    ///
    /// Where it fails.
    pub fn timed(
        &mut self,
        program: impl FnOnce(&mut dyn Ground) -> Result<()>,
    ) -> Result<LiveLap> {
        let (moved, work_s, start) = (self.ground.moved(), process_cpu_s(), Instant::now());
        program(self.ground)?;
        let lap = LiveLap {
            elapsed_s: start.elapsed().as_secs_f64(),
            work_s: process_cpu_s() - work_s,
            moved: self.ground.moved().since(&moved),
        };
        self.elapsed_s += lap.elapsed_s;
        self.work_s += lap.work_s;
        Ok(lap)
    }

    fn lap<T>(&mut self, run: impl FnOnce() -> Result<T>) -> Result<(T, LiveLap)> {
        self.lap_from(|| (), run)
    }

    fn lap_from<T, S>(
        &mut self,
        begin: impl FnOnce() -> S,
        run: impl FnOnce() -> Result<T>,
    ) -> Result<(T, LiveLap)> {
        let (moved, work_s) = (self.ground.moved(), process_cpu_s());
        let read_before = self.shared.read_bytes.load(Ordering::Relaxed);
        begin();
        let start = Instant::now();
        let value = run()?;
        let lap = LiveLap {
            elapsed_s: start.elapsed().as_secs_f64(),
            work_s: process_cpu_s() - work_s,
            moved: self.ground.moved().since(&moved),
        };
        self.elapsed_s += lap.elapsed_s;
        self.work_s += lap.work_s;
        let asked = self.shared.read_bytes.load(Ordering::Relaxed) - read_before;
        if asked > 0 {
            self.cold = (self.cold.0 + asked, self.cold.1 + lap.moved.read_bytes);
        }
        Ok((value, lap))
    }

    /// Unmounts, empties the caches and mounts again; gives how long the unmounting took, in s, which counts.
    ///
    /// # Errors
    ///
    /// Where that fails.
    pub fn remount(&mut self) -> Result<f64> {
        let umount_s = self.ground.remount()?;
        self.elapsed_s += umount_s;
        Ok(umount_s)
    }

    /// Unmounts and mounts without counting it.
    ///
    /// # Errors
    ///
    /// Where that fails.
    pub fn empty_caches(&mut self) -> Result<()> {
        self.ground.remount().map(drop)
    }

    /// Runs a command.
    ///
    /// # Errors
    ///
    /// Where it fails or takes too long.
    pub fn command(&mut self, step: &Step) -> Result<Ran> {
        let ran = self.ground.run(step)?;
        self.elapsed_s += ran.elapsed_s;
        self.work_s += ran.user_s + ran.system_s;
        Ok(ran)
    }

    /// Runs a command that nobody times.
    ///
    /// # Errors
    ///
    /// Where it fails or takes too long.
    pub fn prepare(&mut self, step: &Step) -> Result<()> {
        self.ground.run(step).map(drop)
    }

    /// Writes a file beside the file system, which a command reads; gives its path.
    ///
    /// # Errors
    ///
    /// Where that fails.
    pub fn write(&mut self, name: &str, text: &str) -> Result<String> {
        let path = self.mount_point().with_file_name(name);
        let written = std::fs::write(&path, text);
        written
            .map_err(|error| Error::failure(format!("cannot write {}: {error}", path.display())))?;
        Ok(path.display().to_string())
    }

    /// Keeps a text with the trial's record.
    pub fn keep(&mut self, name: &str, text: String) {
        self.ground.keep(name, text);
    }
}
