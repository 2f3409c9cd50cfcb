//! Programs side by side on one file system, with so little memory that each takes what the others have
//! just read or changed: they all end, and nothing is lost, left over or left to chance.

use super::common::drives;
use block::layout::{Layout, Stripe};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use sim::fs::ffs::geometry::{Cylinders, Geometry, Newfs, Options, Version};
use sim::fs::ffs::mount::{Mode, Mount, System};
use sim::fs::ffs::{Ffs, Placement};
use sim::fs::filesystem::Survey;
use sim::fs::kernel::{Cleaning, Delays, Extent, PageDaemon, Pool, Replacement, Spec, Traffic};
use sim::fs::mounted::{Costs, Mounted, Streaming};
use sim::fs::program::{fsck, tree};
use sim::fs::{Files, FsError, Session};
use sim::{Array, Counters, Device, Driver, Order, Processor, Scheduler};
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

/// 32 MiB on each of two drives.
const MEMBER_SECTORS: u64 = 65_536;
/// Four of the largest blocks.
const BUFFER_BYTES: u64 = 256 << 10;
/// Longer than any of these runs may take.
const PATIENCE_S: f64 = 10_000.0;

/// What is the same for all programs of a run.
#[derive(Clone, Copy, Debug)]
struct Case {
    system: System,
    version: Version,
    mode: Mode,
    block_bytes: u64,
    page_daemon: bool,
    seed: u64,
}

const CASE: Case = Case {
    system: System::Bsd44,
    version: Version::Ufs1,
    mode: Mode::Sync,
    block_bytes: 65_536,
    page_daemon: false,
    seed: 1,
};

impl Case {
    fn mount(self) -> Mount {
        Mount { system: self.system, mode: self.mode, access_times: true }
    }

    fn is_old(self) -> bool {
        self.system == System::Bsd44
    }

    fn options(self) -> Options {
        Options {
            newfs: if self.is_old() { Newfs::Bsd44(Cylinders::CCD) } else { Newfs::NetBsd2 },
            version: self.version,
            block_bytes: self.block_bytes,
            frag_bytes: self.block_bytes / 8,
            density_bytes: None,
        }
    }

    fn spec(self) -> Spec {
        let daemon = PageDaemon { free_bytes: 32 << 10, least_buffer_bytes: BUFFER_BYTES / 4 };
        Spec {
            close_flushes: false,
            buffer_bytes: BUFFER_BYTES,
            page_bytes: (!self.is_old()).then_some(2 * BUFFER_BYTES),
            replacement: Replacement::LeastRecentlyUsed,
            cleaning: if self.page_daemon {
                Cleaning::PageDaemon(daemon)
            } else {
                Cleaning::Limit(BUFFER_BYTES / 2)
            },
            cluster_sectors: 128,
            delays: if self.is_old() { Delays::UPDATE } else { Delays::SYNCER },
        }
    }

    fn session(self) -> Session {
        let layout = Stripe::new(32, &[MEMBER_SECTORS; 2]).unwrap();
        let sectors = layout.sectors();
        let mut drive = drives::spec();
        drive.platters.sectors = MEMBER_SECTORS;
        let drives: Box<dyn Device> = Box::new(drives::shelf(2, &drive, 20_000_000));
        let sorted: Box<dyn Device> = Scheduler::new(drives, Order::CLook, 2).into();
        let placement = if self.is_old() { Placement::BSD44 } else { Placement::NETBSD2 };
        let geometry = Geometry::new(self.options(), sectors).unwrap();
        Session::new(
            Processor::default(),
            Array::new(Box::new(layout), sorted, Driver::default()).into(),
            self.spec(),
            Ffs::new(geometry, sectors, placement, self.mount(), self.seed).unwrap(),
            Costs { call_ns: 50_000, entry_ns: 1000, write_ns_per_kib: 10_000, ..Costs::default() },
            Streaming { ahead_bytes: 64 << 10, push_bytes: 64 << 10 },
        )
    }
}

/// A tree under `name`: files from none to some blocks, in a few directories.
fn small_tree(name: &str, seed: u64) -> tree::Tree {
    let mut random = Pcg64Mcg::new(u128::from(seed) << 1 | 1);
    let mut tree = tree::Tree::default();
    let top = tree.add_directory(None, name);
    for directory in 0..6 {
        let here = tree.add_directory(Some(top), &format!("directory{directory}"));
        for file in 0..12 {
            let bytes = 1 << (8 + random.next_u64() % 9);
            tree.add_file(Some(here), &format!("file{file}"), bytes + random.next_u64() % bytes);
        }
    }
    // One that needs indirect blocks.
    tree.add_file(Some(top), "large", 500_000);
    tree
}

async fn untar(files: Mounted, tree: tree::Tree) -> Result<(), FsError> {
    let archive = tree::Unpacking { files: files.clone(), work_ns_per_kib: 1000 };
    tree::extract(files, tree.into(), archive).await
}

/// Removes all that is in a directory of the root, and the directory.
async fn remove(files: Mounted, name: &'static str) -> Result<(), FsError> {
    let top = files.open_directory(files.root(), name).await?;
    for entry in files.readdir(top).await? {
        if entry.is_directory {
            let below = files.open_directory(top, &entry.name).await?;
            for file in files.readdir(below).await? {
                files.stat(below, &file.name).await?;
                files.unlink(below, &file.name).await?;
            }
            files.rmdir(top, &entry.name).await?;
        } else {
            files.unlink(top, &entry.name).await?;
        }
    }
    files.rmdir(files.root(), name).await
}

/// A mailbox that is written anew and put in the place of the old one, each time on the disk before.
async fn replace(files: Mounted, name: &'static str, seed: u64) -> Result<(), FsError> {
    let directory = files.mkdir(files.root(), name).await?;
    let mut random = Pcg64Mcg::new(u128::from(seed) << 1 | 1);
    for _ in 0..25 {
        let file = files.create(directory, "new").await?;
        let bytes = 1 + random.next_u64() % 100_000;
        let mut offset = 0;
        while offset < bytes {
            let record = (1 + random.next_u64() % 20_000).min(bytes - offset);
            files.write(&file, offset, record).await?;
            offset += record;
        }
        files.fsync(&file).await?;
        files.close(file).await;
        files.rename((directory, "new"), (directory, "mailbox")).await?;
        let file = files.open(directory, "mailbox").await?;
        assert_eq!(files.read(&file, 0, 1 << 20).await, Ok(bytes));
        files.write(&file, random.next_u64() % bytes, 1).await?;
        files.close(file).await;
    }
    Ok(())
}

type Task = Pin<Box<dyn Future<Output = Result<(), FsError>>>>;
type Watched = Pin<Box<dyn Future<Output = Result<f64, FsError>>>>;

/// Tasks that give when they have ended, and one that loses its patience with them.
fn watched(files: &Mounted, tasks: Vec<Task>) -> Vec<Watched> {
    let left = Rc::new(Cell::new(tasks.len()));
    let watch = |task: Task| -> Watched {
        let (files, left) = (files.clone(), Rc::clone(&left));
        Box::pin(async move {
            task.await?;
            left.set(left.get() - 1);
            Ok(files.seconds())
        })
    };
    let mut all: Vec<Watched> = tasks.into_iter().map(watch).collect();
    let (files, until_s) = (files.clone(), files.seconds() + PATIENCE_S);
    all.push(Box::pin(async move {
        let clock = Rc::clone(files.kernel().clock());
        while left.get() > 0 {
            assert!(files.seconds() < until_s, "{} programs never end", left.get());
            clock.sleep_until(clock.now() + 1_000_000_000).await;
        }
        Ok(0.0)
    }));
    all
}

/// All that can be told of a run.
#[derive(Debug, PartialEq)]
struct Told {
    /// When each program ended, in s.
    ends_s: Vec<f64>,
    traffic: Vec<Traffic>,
    counters: Counters,
    survey: Survey,
}

/// A tree is there, two mailboxes beside it. One program untars another tree while the first is removed
/// and the mailboxes are replaced; then all is written.
fn run(case: Case) -> Told {
    let mut session = case.session();
    let files = session.files().clone();
    let (mut ends_s, mut traffic) = (Vec::new(), Vec::new());
    let mut run = |tasks: Vec<Task>| {
        let (ends, lap) = session.run(watched(&files, tasks));
        ends_s.extend(ends.into_iter().map(|end| end.expect("there is room for all")));
        traffic.push(lap.traffic);
        files.check();
    };
    let tree = |name, seed| small_tree(name, case.seed + seed);
    let mailbox = |name, seed| replace(files.clone(), name, case.seed + seed);
    run(vec![Box::pin(untar(files.clone(), tree("old", 0)))]);
    run(vec![
        Box::pin(untar(files.clone(), tree("new", 100))),
        Box::pin(remove(files.clone(), "old")),
        Box::pin(mailbox("a", 0)),
        Box::pin(mailbox("b", 1)),
    ]);
    let unmounted = files.clone();
    run(vec![Box::pin(fsck::umount(unmounted))]);
    files.kernel().check_written();
    let survey = files.at_once(|fs| fs.survey());
    Told { ends_s, traffic, counters: files.kernel().counters(), survey }
}

/// A block that is held and changed is written, whoever needs its memory while the processor is at work.
#[test]
fn what_is_about_to_be_written_is_not_taken_away_before() {
    let mut session = CASE.session();
    let kernel = || Rc::clone(session.files().kernel());
    let block = |number: u64| Extent { sector: number * 128, sectors: 128 };
    let (writing, reading) = (kernel(), kernel());
    let write: Task = Box::pin(async move {
        writing.hold(block(1), Pool::Metadata, 0, true).await?;
        writing.clock().charge(1_000_000_000);
        writing.write_now(block(1).sector, true).await
    });
    let read: Task = Box::pin(async move {
        for number in 2..12 {
            reading.read(block(number), Pool::Metadata, 0).await?;
        }
        Ok(())
    });
    let tasks = watched(session.files(), vec![write, read]);
    let (_, lap) = session.run(tasks);
    assert_eq!((lap.traffic.reads, lap.traffic.writes), (10, 1));
}

#[test]
fn programs_that_take_each_others_memory_all_end_and_nothing_is_left() {
    let systems = [
        (System::Bsd44, Version::Ufs1, false),
        (System::NetBsd2, Version::Ufs1, false),
        (System::NetBsd2, Version::Ufs1, true),
        (System::NetBsd2, Version::Ufs2, true),
    ];
    for (system, version, page_daemon) in systems {
        for mode in [Mode::Sync, Mode::SoftUpdates, Mode::Async] {
            for block_bytes in [4096, 32_768, 65_536] {
                for seed in [1, 13] {
                    let case = Case { system, version, mode, block_bytes, page_daemon, seed };
                    let told = run(case);
                    assert_eq!(told, run(case), "{case:?}");
                }
            }
        }
    }
}
