//! Devices that fail under a file system: programs hear of it, and everything ends.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use sim::fs::ffs::geometry::{Cylinders, Geometry, Newfs, Options, Version};
use sim::fs::ffs::mount::{Mode, Mount, System};
use sim::fs::ffs::{Ffs, Placement};
use sim::fs::filesystem::Block;
use sim::fs::kernel::{Cleaning, Delays, PageDaemon, Replacement, Spec};
use sim::fs::mounted::{Costs, Mounted, Streaming};
use sim::fs::program::tree;
use sim::fs::{Files, FsError, Session};
use sim::{
    Counters, Device, Disturbance, Event, Fault, Geometry as Targets, Nanos, Processor, Server, Tag,
};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

const MIB: u64 = 1 << 20;
const SECTORS: u64 = 1 << 20;
const SYSTEMS: [System; 2] = [System::Bsd44, System::NetBsd2];
const MODES: [Mode; 3] = [Mode::Sync, Mode::SoftUpdates, Mode::Async];

type Task = Pin<Box<dyn Future<Output = Result<(), FsError>>>>;

/// A server with sectors that can be neither read nor written, as many as the test says at a time.
struct Scratched {
    server: Server,
    bad: Rc<Cell<Range<u64>>>,
    doomed: BTreeSet<Tag>,
}

impl Device for Scratched {
    fn geometry(&self) -> &Targets {
        self.server.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: block::Request) {
        let bad = self.bad.take();
        if request.sector < bad.end && bad.start < request.end() {
            self.doomed.insert(tag);
        }
        self.bad.set(bad);
        self.server.submit(now, tag, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.server.next_event()
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        let before = out.len();
        let came = self.server.proceed(limit, out);
        for event in &mut out[before..] {
            if let Event::Done { tag, result, .. } = event
                && self.doomed.remove(tag)
            {
                *result = Err(Fault::Failed);
            }
        }
        came
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        self.server.disturb(now, what);
    }

    fn count(&self, counters: &mut Counters) {
        self.server.count(counters);
    }
}

/// A machine with 512 MiB that answer in 1 ms, and little memory; and its bad sectors, none yet.
fn session(system: System, mode: Mode, page_daemon: bool) -> (Session, Rc<Cell<Range<u64>>>) {
    let old = system == System::Bsd44;
    let options = Options {
        newfs: if old { Newfs::Bsd44(Cylinders::CCD) } else { Newfs::NetBsd2 },
        version: Version::Ufs1,
        block_bytes: 8192,
        frag_bytes: 1024,
        density_bytes: None,
    };
    let spec = Spec {
        close_flushes: false,
        buffer_bytes: MIB / 2,
        page_bytes: (!old).then_some(MIB),
        replacement: Replacement::LeastRecentlyUsed,
        cleaning: if page_daemon {
            let least_buffer_bytes = MIB / 8;
            Cleaning::PageDaemon(PageDaemon { free_bytes: MIB / 16, least_buffer_bytes })
        } else {
            Cleaning::Limit(MIB / 4)
        },
        cluster_sectors: 128,
        delays: if old { Delays::UPDATE } else { Delays::SYNCER },
    };
    let placement = if old { Placement::BSD44 } else { Placement::NETBSD2 };
    let mount = Mount { system, mode, access_times: true };
    let geometry = Geometry::new(options, SECTORS).unwrap();
    let bad = Rc::new(Cell::new(0..0));
    let device = Scratched {
        server: Server::new(SECTORS, 1_000_000),
        bad: Rc::clone(&bad),
        doomed: BTreeSet::new(),
    };
    let session = Session::new(
        Processor::default(),
        Box::new(device),
        spec,
        Ffs::new(geometry, SECTORS, placement, mount, 1).unwrap(),
        Costs { call_ns: 10_000, write_ns_per_kib: 10_000, ..Costs::default() },
        Streaming { ahead_bytes: 128 << 10, push_bytes: 64 << 10 },
    );
    (session, bad)
}

/// Every system and mount.
fn all() -> impl Iterator<Item = (System, Mode)> {
    SYSTEMS.into_iter().flat_map(|system| MODES.map(|mode| (system, mode)))
}

async fn sleep(files: &Mounted, seconds: u64) {
    let clock = files.kernel().clock();
    clock.sleep_until(clock.now() + seconds * 1_000_000_000).await;
}

/// Where block `index` of the file "f" in the root is.
fn block_of_f(files: &Mounted, index: u64) -> Block {
    files.at_once(|fs| {
        let ino = fs.find(fs.root(), "f").unwrap();
        fs.file_block(ino, index)
    })
}

/// The syncer could not write a block; whoever has the file open is told by fsync, once.
#[test]
fn a_write_that_is_lost_is_told_once_by_fsync() {
    for (system, mode) in all() {
        let (mut session, bad) = session(system, mode, false);
        let files = session.files().clone();
        let program = async move {
            let file = files.create(files.root(), "f").await.unwrap();
            files.write(&file, 0, 40_000).await.unwrap();
            files.fsync(&file).await.unwrap();
            let other = files.open(files.root(), "f").await.unwrap();
            let scratch = block_of_f(&files, 2).extent;
            bad.set(scratch.sector..scratch.end());
            files.write(&file, 16_384, 8192).await.unwrap();
            // The syncer comes to it, and nobody else.
            sleep(&files, 100).await;
            let later = files.open(files.root(), "f").await.unwrap();
            bad.set(0..0);
            let mut results = Vec::new();
            for file in [&file, &file, &other, &other, &later, &later] {
                results.push(files.fsync(file).await);
            }
            let last = files.open(files.root(), "f").await.unwrap();
            results.push(files.fsync(&last).await);
            results
        };
        let (results, _) = session.run([program]);
        let io = Err(FsError::Io);
        assert_eq!(results, [[io, Ok(()), io, Ok(()), io, Ok(()), Ok(())]], "{system:?} {mode:?}");
        session.files().check();
    }
}

/// A sector that cannot be read is an error of the calls that need it, and of no others.
#[test]
fn what_cannot_be_read_is_an_error_of_the_call() {
    for (system, mode) in all() {
        let (mut session, bad) = session(system, mode, false);
        let files = session.files().clone();
        let program = async move {
            let file = files.create(files.root(), "f").await.unwrap();
            files.write(&file, 0, 400_000).await.unwrap();
            files.close(file).await;
            files.remount().await.unwrap();
            let scratch = block_of_f(&files, 20).extent;
            bad.set(scratch.sector..scratch.sector + 1);
            let file = files.open(files.root(), "f").await.unwrap();
            let read = |index: u64| files.read(&file, index * 8192, 8192);
            let results = [read(3).await, read(20).await, read(40).await, read(20).await];
            // A block that is written over in part has to be read first.
            let part = files.write(&file, 20 * 8192 + 10, 10).await;
            // Written over as a whole, it is as good as new.
            bad.set(0..0);
            files.write(&file, 20 * 8192, 8192).await.unwrap();
            (results, part, read(20).await, files.fsync(&file).await)
        };
        let (results, _) = session.run([program]);
        let io = Err(FsError::Io);
        let expected = ([Ok(8192), io, Ok(8192), io], Err(FsError::Io), Ok(8192), Ok(()));
        assert_eq!(results, [expected], "{system:?} {mode:?}");
    }
}

/// Mounted without a flag, a name that cannot be written is not made well.
#[test]
fn a_change_that_is_waited_for_fails_its_call() {
    for system in SYSTEMS {
        let (mut session, _) = session(system, Mode::Sync, false);
        let files = session.files().clone();
        let program = async move {
            files.create(files.root(), "before").await.map(drop)?;
            files.kernel().disturb(Disturbance::Fail(0));
            files.create(files.root(), "after").await.map(drop)
        };
        assert_eq!(session.run([program]).0, [Err(FsError::Io)], "{system:?}");
    }
}

/// A disk breaks while two programs are at work: both end, in some call that fails or with what was in
/// memory; nothing is left over, and what is not in memory cannot be read.
#[test]
fn a_disk_that_breaks_ends_everything() {
    let spec =
        tree::TreeSpec { files: 300, directories: 30, depth: 2, file_bytes: 9000, large_files: 3 };
    let tree = Arc::new(tree::Tree::new(&spec, 1));
    let mut random = Pcg64Mcg::new(3);
    let mut failed = 0;
    for (system, mode) in all() {
        for page_daemon in [false, system == System::NetBsd2] {
            for _ in 0..4 {
                let (mut session, _) = session(system, mode, page_daemon);
                let files = session.files().clone();
                let at_ns = 1_000_000 + random.next_u64() % 1_500_000_000;
                let archive = tree::Unpacking { files: files.clone(), work_ns_per_kib: 100_000 };
                let unpack = tree::extract(files.clone(), Arc::clone(&tree), archive);
                let breaks = files.clone();
                let break_it: Task = Box::pin(async move {
                    breaks.kernel().clock().sleep_until(at_ns).await;
                    breaks.kernel().disturb(Disturbance::Fail(0));
                    Ok(())
                });
                let (results, _) = session.run([Box::pin(unpack) as Task, break_it]);
                assert!(matches!(results[0], Ok(()) | Err(FsError::Io)), "{results:?}");
                failed += usize::from(results[0].is_err());
                session.files().check();
                let last = files.clone();
                let (unmounted, _) = session.run([async move {
                    let _ = last.remount().await;
                    last.readdir(last.root()).await.map(drop)
                }]);
                assert_eq!(unmounted, [Err(FsError::Io)], "{system:?} {mode:?}");
                files.kernel().check_written();
            }
        }
    }
    assert!(failed > 10, "{failed} of the programs were told");
}
