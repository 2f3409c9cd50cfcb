//! Programs that use files, on a modelled file system.

mod fsck;
mod memory;
mod spool;

use super::{KIND, cpu_s, modelled};
use crate::capabilities::{Capabilities, Uses};
use crate::catalogue::Tree;
use crate::error::{Error, Result};
use crate::experiment::{FilesSetup, FilesWork, Program, Trial};
use crate::machine::{file_system, file_system_geometry};
use crate::record::{Measured, share};
use crate::rig::admit::admit_volume;
use crate::rig::{Prepared, Rig};
use hdrhistogram::Histogram;
use sim::Counters;
use sim::fs::ffs::Ffs;
use sim::fs::program::{bonnie, iozone, newfs, nfs, pipe, touch, tree};
use sim::fs::{Files, FsError, Lap, Session};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// iozone's records, as in the published runs.
const RECORD_BYTES: u64 = 65_536;

/// The samples of every program.
const OF_ALL: [&str; 4] = ["elapsed_s", "mb_per_s", "cpu_busy", "busiest_share"];

/// The samples that a program has besides.
fn own_samples(program: Program) -> &'static [&'static str] {
    match program {
        Program::Touch => &TOUCH_SAMPLES,
        Program::Iozone => &IOZONE_SAMPLES,
        Program::Bonnie => &BONNIE_SAMPLES,
        Program::Newfs => &["newfs_s", "writes"],
        Program::Nfs => &["kib_per_s", "writes"],
        Program::Untar => &UNTAR_SAMPLES,
        Program::Spool => &spool::SAMPLES,
        Program::Fsck => &fsck::SAMPLES,
        Program::Memory => &memory::SAMPLES,
    }
}

/// What a program has of its own, and of all it has what `OF_ALL` names, in the order of its samples.
fn in_order<T>(program: Program, own: Vec<T>, of_all: [T; OF_ALL.len()]) -> Vec<T> {
    let [elapsed, rate, cpu, busiest] = of_all;
    let mut all = own;
    // What layouts are judged by comes first: for most programs, what all of it took.
    let own_first = matches!(program, Program::Fsck | Program::Memory);
    all.insert(if own_first { all.len() } else { 0 }, elapsed);
    all.push(rate);
    // The processor is watched while a spool is read, not while it is made.
    if program != Program::Spool {
        all.push(cpu);
    }
    all.push(busiest);
    all
}

/// The names of a program's samples.
fn samples(program: Program) -> Vec<&'static str> {
    in_order(program, own_samples(program).to_vec(), OF_ALL)
}

/// Programs that use files on modelled volumes.
pub struct FilesRig;

impl Rig for FilesRig {
    fn name(&self) -> &'static str {
        KIND.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { uses: Uses::Files, ..modelled() }
    }

    fn admit(&self, trial: &Trial) -> Result<()> {
        let layout = admit_volume(&trial.setup.volume)?;
        if let Some(other) = trial.beside.first() {
            return Err(Error::input(format!(
                "`workload.{}` and `workload.{}` are of one group, but of programs that use files one \
                 runs at a time; leave out the group",
                trial.work.name, other.name
            )));
        }
        admit(trial, setup(trial)?, layout.sectors())
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        samples(trial.work.files.program)
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        let files = setup(trial)?;
        let session = file_system(&trial.setup, files, trial.seed)?;
        Ok(Box::new(Ready { trial, session }))
    }
}

/// The file system that the trial's program uses.
fn setup(trial: &Trial) -> Result<&FilesSetup> {
    trial.setup.files.as_ref().ok_or_else(|| {
        Error::input(format!("`workload.{}` has no file system to use", trial.work.name))
    })
}

/// A mounted file system that a program is about to use.
struct Ready<'a> {
    trial: &'a Trial,
    session: Session,
}

impl Prepared for Ready<'_> {
    fn measure(&mut self) -> Result<Measured> {
        let before = cpu_s();
        let ran = run(&mut self.session, self.trial)?;
        Ok(ran.measured(cpu_s() - before))
    }
}

/// What a program measured.
struct Ran {
    samples: Vec<(&'static str, f64)>,
    counters: Counters,
    elapsed_s: f64,
}

impl Ran {
    /// As a trial's measurement, which took `cpu_s` to simulate.
    fn measured(self, cpu_s: f64) -> Measured {
        let targets = &self.counters.targets;
        Measured {
            samples: self.samples,
            member_busy: targets
                .iter()
                .map(|target| share(target.busy_ns as f64 / 1e9, self.elapsed_s))
                .collect(),
            requests: targets.iter().map(|target| target.commands).sum(),
            latency_ns: Histogram::new(3).expect("three digits are within its range"),
            cpu_s,
        }
    }
}

/// Whether the file system can be made on a volume of `sectors`, and the program makes sense.
fn admit(trial: &Trial, files: &FilesSetup, sectors: u64) -> Result<()> {
    match trial.work.files.program {
        Program::Spool => spool::admit(&trial.work)?,
        Program::Memory => memory::admit(trial)?,
        _ => {}
    }
    file_system_geometry(files, sectors).map(|_| ())
}

fn failed(error: FsError) -> Error {
    match error {
        FsError::Io => Error::input(format!("the program failed: {error}")),
        _ => {
            Error::input(format!("the program failed: {error}; take a larger volume or less work"))
        }
    }
}

/// Runs the trial's program.
fn run(session: &mut Session, trial: &Trial) -> Result<Ran> {
    let program = trial.work.files.program;
    let own = match program {
        Program::Touch => run_touch(session, trial)?,
        Program::Iozone => run_iozone(session, trial)?,
        Program::Bonnie => run_bonnie(session, trial)?,
        Program::Nfs => {
            let bytes = trial.work.files.bytes;
            let ((), lap) = only(session.run([nfs::serve(session.files().clone(), bytes)]))?;
            vec![bytes as f64 / 1024.0 / lap.elapsed_s, lap.traffic.writes as f64]
        }
        Program::Untar => run_untar(session, trial)?,
        Program::Spool => spool::run(session, trial)?,
        Program::Fsck => fsck::run(session, trial)?,
        Program::Memory => memory::run(session, trial)?,
        Program::Newfs => {
            let lap = only(session.run([newfs::newfs(session.files().clone())]))?.1;
            vec![lap.elapsed_s, lap.traffic.writes as f64]
        }
    };
    let kernel = session.files().kernel();
    let counters = kernel.counters();
    let moved: u64 = counters.targets.iter().map(|t| t.sectors_read + t.sectors_written).sum();
    let elapsed_s = session.files().seconds();
    let of_all = [
        elapsed_s,
        (moved * block::SECTOR_BYTES) as f64 / 1e6 / elapsed_s,
        kernel.clock().work_ns() as f64 / 1e9 / elapsed_s,
        busiest_share(counters.targets.iter().map(|target| target.commands).collect()),
    ];
    let (names, values) = (samples(program), in_order(program, own, of_all));
    assert_eq!(names.len(), values.len(), "{program:?} has the samples that it says");
    Ok(Ran { samples: names.into_iter().zip(values).collect(), counters, elapsed_s })
}

/// Of all commands, the share that went to the member with the most.
fn busiest_share(commands: Vec<u64>) -> f64 {
    let all: u64 = commands.iter().sum();
    commands.into_iter().max().unwrap_or(0) as f64 / all.max(1) as f64
}

/// The one result of the one program of a run.
fn only<T>((results, lap): (Vec<std::result::Result<T, FsError>>, Lap)) -> Result<(T, Lap)> {
    let mut first = Err(FsError::NoEntry);
    for result in results {
        first = Ok(result.map_err(failed)?);
    }
    first.map(|result| (result, lap)).map_err(failed)
}

/// The processor's share of a lap, in percent.
fn cpu_percent(lap: &Lap) -> f64 {
    100.0 * lap.work_s / lap.elapsed_s
}

const TOUCH_SAMPLES: [&str; 12] = [
    "touch_s",
    "touch_cpu",
    "touch_reads",
    "touch_writes",
    "retouch_s",
    "retouch_cpu",
    "retouch_reads",
    "retouch_writes",
    "unlink_s",
    "unlink_cpu",
    "unlink_reads",
    "unlink_writes",
];

fn run_touch(session: &mut Session, trial: &Trial) -> Result<Vec<f64>> {
    let count = trial.work.files.files as u32;
    let files = session.files().clone();
    let (directory, _) = only(session.run([async move { files.mkdir(files.root(), "d").await }]))?;
    let files = || session.files().clone();
    let (touched, retouched, removed) = (
        touch::touch_new(files(), directory, count),
        touch::touch_again(files(), directory, count),
        touch::remove(files(), directory, count),
    );
    let laps = [
        only(session.run([touched]))?.1,
        only(session.run([retouched]))?.1,
        only(session.run([removed]))?.1,
    ];
    let measured = |lap: Lap| {
        let traffic = lap.traffic;
        [lap.elapsed_s, cpu_percent(&lap), traffic.reads as f64, traffic.writes as f64]
    };
    Ok(laps.map(measured).concat())
}

const IOZONE_SAMPLES: [&str; 2] = ["write_mb_per_s", "read_mb_per_s"];

fn run_iozone(session: &mut Session, trial: &Trial) -> Result<Vec<f64>> {
    let bytes = trial.work.files.bytes;
    let write = iozone::write(session.files().clone(), "iozone.tmp", bytes, RECORD_BYTES);
    let ((), written) = only(session.run([write]))?;
    let read = iozone::read(session.files().clone(), "iozone.tmp", RECORD_BYTES);
    let ((), read) = only(session.run([read]))?;
    Ok([written, read].map(|lap| bytes as f64 / 1e6 / lap.elapsed_s).to_vec())
}

const BONNIE_SAMPLES: [&str; 12] = [
    "putc_kib_per_s",
    "putc_cpu",
    "rewrite_kib_per_s",
    "rewrite_cpu",
    "write_kib_per_s",
    "write_cpu",
    "getc_kib_per_s",
    "getc_cpu",
    "read_kib_per_s",
    "read_cpu",
    "seeks_per_s",
    "seeks_cpu",
];

fn run_bonnie(session: &mut Session, trial: &Trial) -> Result<Vec<f64>> {
    let host = &trial.setup.host.files;
    let bytes = trial.work.files.bytes;
    let kib = bytes as f64 / 1024.0;
    let files = || session.files().clone();
    let put = bonnie::put_chars(files(), bytes, host.stdio_write_ns_per_kib);
    let rewrite = bonnie::rewrite(files(), bytes);
    let write = bonnie::write_blocks(files(), bytes);
    let get = bonnie::get_chars(files(), bytes, host.stdio_read_ns_per_kib);
    let read = bonnie::read_blocks(files(), bytes);
    let tickets = bonnie::Tickets::new(trial.seed);
    let seekers: Vec<_> =
        (0..bonnie::SEEKERS).map(|_| bonnie::seek(files(), bytes, tickets.clone())).collect();
    let measured = |lap: Lap, done: f64| [done / lap.elapsed_s, cpu_percent(&lap)];
    let tests = [
        measured(only(session.run([put]))?.1, kib),
        measured(only(session.run([rewrite]))?.1, kib),
        measured(only(session.run([write]))?.1, kib),
        measured(only(session.run([get]))?.1, kib),
        measured(only(session.run([read]))?.1, kib),
        measured(only(session.run(seekers))?.1, bonnie::seeks() as f64),
    ];
    Ok(tests.concat())
}

/// Makes the file system, and unpacks a tree.
fn unpack(session: &mut Session, trial: &Trial) -> Result<[Lap; 2]> {
    let made = only(session.run([newfs::newfs(session.files().clone())]))?.1;
    let unpacked = only(run_extract(session, trial, tree_of(&trial.work.files)))?.1;
    Ok([made, unpacked])
}

const UNTAR_SAMPLES: [&str; 11] = [
    "newfs_s",
    "tar_s",
    "tar_reads",
    "tar_writes",
    "tar_waited_writes",
    "umount_after_tar_s",
    "rm_s",
    "rm_reads",
    "rm_writes",
    "rm_waited_writes",
    "umount_after_rm_s",
];

fn run_untar(session: &mut Session, trial: &Trial) -> Result<Vec<f64>> {
    let measured = |lap: &Lap| {
        let traffic = &lap.traffic;
        let writes = traffic.writes + traffic.daemon_writes;
        let counts = [traffic.reads, writes, traffic.waited_writes].map(|count| count as f64);
        [&[lap.elapsed_s][..], &counts].concat()
    };
    let [made, unpacked] = unpack(session, trial)?;
    let umount_after_tar_s = remount(session)?;
    if let Some(mode) = trial.work.files.remount {
        session.files().at_once_as(|ffs: &mut Ffs| ffs.mount_as(mode));
    }
    let remove = tree::remove_all(session.files().clone());
    let removed = only(session.run([remove]))?.1;
    let umount_after_rm_s = remount(session)?;
    let mut values = vec![made.elapsed_s];
    values.extend(measured(&unpacked));
    values.push(umount_after_tar_s);
    values.extend(measured(&removed));
    values.push(umount_after_rm_s);
    Ok(values)
}

type Laps = (Vec<std::result::Result<(), FsError>>, Lap);
type Task = Pin<Box<dyn Future<Output = std::result::Result<(), FsError>>>>;

/// Unpacks and extracts `tree`, in one program or in two with a pipe between them.
fn run_extract(session: &mut Session, trial: &Trial, tree: Arc<tree::Tree>) -> Laps {
    let files = session.files().clone();
    let work_ns_per_kib = trial.setup.host.files.stdio_write_ns_per_kib;
    let pipe_bytes = trial.work.files.pipe_bytes;
    if pipe_bytes == 0 {
        let archive = tree::Unpacking { files: files.clone(), work_ns_per_kib };
        return session.run([tree::extract(files, tree, archive)]);
    }
    let pipe = pipe::Pipe::new(files.kernel().clock().clone(), pipe_bytes);
    let bytes = tree.figures().bytes;
    let unpack: Task = Box::pin({
        let pipe = pipe.clone();
        async move {
            pipe::unpack(pipe, bytes, work_ns_per_kib).await;
            Ok(())
        }
    });
    session.run([unpack, Box::pin(tree::extract(files, tree, pipe))])
}

/// The tree that is unpacked: the one that is named, or one by the figures.
fn tree_of(work: &FilesWork) -> Arc<tree::Tree> {
    let FilesWork { files, directories, bytes, large_bytes, .. } = *work;
    let by_figures = || Arc::new(Tree::of_keys(files, directories, bytes, large_bytes));
    work.tree.clone().unwrap_or_else(by_figures)
}

fn remount(session: &mut Session) -> Result<f64> {
    let files = session.files().clone();
    Ok(only(session.run([async move { files.remount().await }]))?.1.elapsed_s)
}
