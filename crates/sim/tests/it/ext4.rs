//! ext4 in virtual time: every program runs on it, and what it writes is what the real one wrote.
//!
//! The counts are of Linux 6.1.192 on 64 GiB made by mkfs.ext4 1.47.0 with its defaults, requests of at most
//! 672 KiB, and a drive with a write cache and without FUA.

use block::layout::Concat;
use block::{Op, Request};
use sim::fs::ext4::Ext4;
use sim::fs::ext4::geometry::{Geometry, Options};
use sim::fs::ext4::mount::Mount;
use sim::fs::kernel::{Cleaning, Delays, Replacement, Spec};
use sim::fs::mounted::{Costs, Mounted, Streaming};
use sim::fs::program::{bonnie, fsck, iozone, memory, newfs, nfs, spool, touch, tree};
use sim::fs::{Files, FsError, Session};
use sim::linux::block_layer::BlockLayer;
use sim::linux::queue::{QueueSpec, Scheduler};
use sim::{
    Array, BlocksAhead, Counters, Device, Disturbance, Driver, Event, Nanos, Plugs, Processor,
    Server, Tag,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// The seed that the measured file system had.
const HASH_SEED: [u32; 4] = [0x2143_6587, 0x2143_2143, 0xa9cb_2143, 0x2143_6587];
const SECOND_NS: Nanos = 1_000_000_000;

type Log = Rc<RefCell<Vec<Request>>>;

/// A device that writes down what it is asked.
struct Recorder {
    inner: Server,
    log: Log,
}

impl Device for Recorder {
    fn geometry(&self) -> &sim::Geometry {
        self.inner.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.log.borrow_mut().push(request);
        self.inner.submit(now, tag, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.inner.next_event()
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        self.inner.proceed(limit, out)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        self.inner.disturb(now, what);
    }

    fn count(&self, counters: &mut Counters) {
        self.inner.count(counters);
    }
}

struct Machine {
    session: Session,
    log: Log,
    geometry: Geometry,
}

impl Machine {
    /// A file system of `bytes` in `memory` bytes of memory.
    fn new(bytes: u64, memory: u64, options: Options, mount: Mount) -> Self {
        Machine::below(bytes, memory, options, mount, |device, _| device)
    }

    /// The same with Linux's queue in front of a disk that takes 32 commands, and a processor that takes its time for each.
    fn behind_a_queue(bytes: u64) -> Self {
        let spec = QueueSpec {
            scheduler: Scheduler::MqDeadline,
            requests: 64,
            tags: 32,
            max_sectors: 2560,
            max_segments: 168,
            is_write_back: true,
        };
        let plugs = Plugs::of_threads();
        let queue = |device: Box<dyn Device>, processor: &Processor| {
            let one = Concat::new(&device.geometry().target_sectors).unwrap();
            let driver = Driver { plugs: plugs.clone(), ..Driver::new(2000, 3000).on(processor) };
            let queue = BlockLayer::new(device, spec, &plugs);
            Box::new(Array::new(Box::new(one), queue, driver)) as Box<dyn Device>
        };
        let options = Options::for_bytes(bytes);
        let machine = Machine::below(bytes, 1 << 30, options, Mount::DEFAULT, queue);
        Machine { session: machine.session.sending_with(&plugs), ..machine }
    }

    fn below(
        bytes: u64,
        memory: u64,
        options: Options,
        mount: Mount,
        in_front: impl FnOnce(Box<dyn Device>, &Processor) -> Box<dyn Device>,
    ) -> Self {
        let sectors = bytes / 512;
        let geometry = Geometry::new(options, sectors).unwrap();
        let log = Log::default();
        let device = Recorder { inner: Server::new(sectors, 100_000), log: Rc::clone(&log) };
        let spec = Spec {
            close_flushes: false,
            buffer_bytes: memory / 4,
            page_bytes: Some(memory),
            replacement: Replacement::LeastRecentlyUsed,
            cleaning: Cleaning::Limit(memory / 5),
            cluster_sectors: 1344,
            delays: Delays {
                data_ns: 30 * SECOND_NS,
                directory_ns: 30 * SECOND_NS,
                metadata_ns: 30 * SECOND_NS,
                tick_ns: 5 * SECOND_NS,
            },
        };
        let processor = Processor::default();
        let device = in_front(Box::new(device), &processor);
        let session = Session::new(
            processor,
            device,
            spec,
            Ext4::new(geometry.clone(), mount, HASH_SEED),
            Costs { call_ns: 1000, entry_ns: 10, write_ns_per_kib: 100, ..Costs::default() },
            Streaming { ahead_bytes: 128 << 10, push_bytes: 64 << 10 },
        );
        Machine { session, log, geometry }
    }

    fn files(&self) -> Mounted {
        self.session.files().clone()
    }

    fn only<T: 'static>(
        &mut self,
        program: impl Future<Output = Result<T, FsError>> + 'static,
    ) -> T {
        self.session.run([program]).0.pop().unwrap().unwrap()
    }

    /// All that was done is on the device, and right.
    fn check(&mut self) {
        let files = self.files();
        self.only(async move { files.sync().await });
        self.files().check();
        self.files().kernel().check_written();
    }

    /// The requests since the last look.
    fn take_writes(&self) -> Writes {
        let mut writes = Writes::default();
        for request in self.log.take() {
            let block = request.sector / self.geometry.block_sectors();
            let blocks = u64::from(request.sectors) / self.geometry.block_sectors();
            match request.op {
                Op::Flush => writes.flushes += 1,
                Op::Write { .. } => {
                    let counts = &mut writes.of[self.class(block) as usize];
                    counts.0 += 1;
                    counts.1 += blocks;
                }
                _ => {}
            }
        }
        writes
    }

    /// The sectors of some blocks.
    fn extent(&self, blocks: &std::ops::Range<u64>) -> std::ops::Range<u64> {
        let sectors = self.geometry.block_sectors();
        blocks.start * sectors..blocks.end * sectors
    }

    fn class(&self, block: u64) -> Class {
        let within = |run: &std::ops::Range<u64>| run.contains(&block);
        if self.geometry.journal.iter().any(within) {
            Class::Journal
        } else if self.geometry.groups.iter().any(|group| within(&group.inode_table)) {
            Class::InodeTable
        } else if self.geometry.is_free(block) {
            Class::Others
        } else {
            Class::Own
        }
    }
}

/// What a request writes, by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Journal,
    InodeTable,
    /// Superblock, descriptors, bitmaps, the root's block.
    Own,
    /// What files and directories hold.
    Others,
}

/// Requests and blocks of each class, and flushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Writes {
    of: [(u64, u64); 4],
    flushes: u64,
}

fn usual(bytes: u64) -> Machine {
    Machine::new(bytes, 1 << 30, Options::for_bytes(bytes), Mount::DEFAULT)
}

/// Runs on a file system with delayed allocation, without that, and without a journal.
fn on_each(program: impl Fn(&mut Machine)) {
    for (has_journal, delayed_allocation) in [(true, true), (true, false), (false, true)] {
        let bytes = 2 * GIB;
        let options = Options { has_journal, ..Options::for_bytes(bytes) };
        let mount = Mount { delayed_allocation, ..Mount::DEFAULT };
        let mut machine = Machine::new(bytes, 64 * MIB, options, mount);
        program(&mut machine);
        machine.check();
    }
}

/// Over several disks each block of the inode table that is read ahead is a bio of its own, and the wanted one is the last
/// (`__ext4_get_inode_loc`): md chooses a copy for each. One disk is asked once.
#[test]
fn inodes_are_read_ahead_one_by_one_over_several_disks() {
    for (ahead, most_sectors) in [(BlocksAhead::Together, 256), (BlocksAhead::Each, 8)] {
        let machine = usual(2 * GIB);
        let plugs = Plugs::of_threads().reading_ahead(ahead);
        let mut machine = Machine { session: machine.session.sending_with(&plugs), ..machine };
        let files = machine.files();
        let directory = machine.only(async move { files.mkdir(files.root(), "d").await });
        machine.only(touch::touch_new(machine.files(), directory, 2000));
        let files = machine.files();
        machine.only(async move { files.remount().await });
        machine.log.take();
        machine.only(touch::touch_again(machine.files(), directory, 2000));
        let log = machine.log.take();
        let first = machine.geometry.block_sectors();
        let is_inode = |request: &&Request| {
            let block = request.sector / first;
            request.op == Op::Read && machine.class(block) == Class::InodeTable
        };
        let reads: Vec<Request> = log.iter().filter(is_inode).copied().collect();
        let most = reads.iter().map(|read| read.sectors).max();
        assert_eq!(most, Some(most_sectors), "{ahead:?}");
        let blocks: u64 = reads.iter().map(|read| u64::from(read.sectors) / first).sum();
        assert!(blocks >= 125, "{ahead:?}: 2000 inodes are in 125 blocks, and {blocks} were read");
    }
}

#[test]
fn touch_runs_on_it() {
    on_each(|machine| {
        let files = machine.files();
        let directory = machine.only(async move { files.mkdir(files.root(), "d").await });
        machine.only(touch::touch_new(machine.files(), directory, 2000));
        machine.check();
        machine.only(touch::touch_again(machine.files(), directory, 2000));
        machine.only(touch::remove(machine.files(), directory, 2000));
    });
}

#[test]
fn streams_run_on_it() {
    on_each(|machine| {
        machine.only(iozone::write(machine.files(), "f", 100 * MIB, 65_536));
        machine.check();
        machine.only(iozone::read(machine.files(), "f", 65_536));
        machine.only(memory::write(machine.files(), "g", 30 * MIB, 65_536));
        machine.check();
        machine.only(nfs::serve(machine.files(), MIB));
    });
}

#[test]
fn bonnie_runs_on_it() {
    on_each(|machine| {
        let bytes = 80 * MIB;
        machine.only(bonnie::put_chars(machine.files(), bytes, 10));
        machine.only(bonnie::rewrite(machine.files(), bytes));
        machine.only(bonnie::write_blocks(machine.files(), bytes));
        machine.only(bonnie::read_blocks(machine.files(), bytes));
        let tickets = bonnie::Tickets::new(1);
        let seekers: Vec<_> =
            (0..3).map(|_| bonnie::seek(machine.files(), bytes, tickets.clone())).collect();
        assert!(machine.session.run(seekers).0.into_iter().all(|result| result.is_ok()));
    });
}

#[test]
fn trees_are_made_checked_and_removed_on_it() {
    on_each(|machine| {
        machine.only(newfs::newfs(machine.files()));
        let spec = tree::TreeSpec {
            files: 1000,
            directories: 50,
            depth: 2,
            file_bytes: 15_000,
            large_files: 4,
        };
        let archive = tree::Unpacking { files: machine.files(), work_ns_per_kib: 0 };
        let tree = Arc::new(tree::Tree::new(&spec, 1));
        machine.only(tree::extract(machine.files(), tree, archive));
        machine.check();
        let survey = machine.files().at_once(|fs| fs.survey());
        for looks in [survey.inodes, survey.directories, survey.groups] {
            machine.only(fsck::phase(machine.files(), looks, fsck::Work::default()));
        }
        machine.only(fsck::mount(machine.files()));
        machine.only(tree::remove_all(machine.files()));
        machine.check();
        machine.only(fsck::umount(machine.files()));
    });
}

#[test]
fn a_spool_is_read_on_it() {
    on_each(|machine| {
        let spec = spool::SpoolSpec {
            files: 500,
            directories: 5,
            readers: 4,
            files_per_reader: 50,
            sorted: false,
        };
        let directories = machine.files().at_once(|fs| spool::fill(fs, &spec)).unwrap();
        let directories: Rc<[u32]> = directories.into();
        let lists = spec.lists(1).into_iter();
        let readers: Vec<_> = lists
            .map(|list| spool::read(machine.files(), spec, Rc::clone(&directories), list))
            .collect();
        assert!(machine.session.run(readers).0.into_iter().all(|result| result.is_ok()));
    });
}

/// 10 000 files in one directory: requests as they were, and blocks.
#[test]
fn a_sync_writes_the_log_in_the_largest_requests_and_then_all_in_place() {
    let mut machine = usual(64 * GIB);
    let files = machine.files();
    machine.only(async move {
        let directory = files.mkdir(files.root(), "many").await?;
        for number in 0..10_000 {
            let file = files.create(directory, &format!("f{number:05}")).await?;
            files.close(file).await;
        }
        Ok(())
    });
    machine.check();
    let writes = machine.take_writes();
    let [journal, tables, ..] = writes.of;
    // Measured: 7 requests to the journal, 697 blocks; 5 to the tables, 627 blocks; 2 flushes.
    assert_eq!((journal, tables, writes.flushes), ((7, 697), (5, 627), 2));
}

#[test]
fn small_synced_files_take_one_commit_each() {
    let mut machine = usual(64 * GIB);
    let files = machine.files();
    let directory = machine.only(async move { files.mkdir(files.root(), "d").await });
    machine.check();
    machine.take_writes();
    let files = machine.files();
    machine.only(async move {
        for number in 0..200 {
            let file = files.create(directory, &format!("f{number}")).await?;
            files.write(&file, 0, 4096).await?;
            files.fsync(&file).await?;
            files.close(file).await;
        }
        Ok(())
    });
    let writes = machine.take_writes();
    let [journal, tables, _, others] = writes.of;
    // Measured: 400 requests and 1587 blocks to the journal, of which 1187 are metadata; 200 to data;
    // 400 flushes; nothing in its place.
    assert_eq!((journal.0, others, writes.flushes), (400, (200, 200), 400));
    assert_eq!(tables, (0, 0));
    let metadata = journal.1 - 400;
    assert!(metadata.abs_diff(1187) * 100 < 5 * 1187, "{metadata} blocks of metadata");
    machine.check();
}

/// Ten files a second: commits come every 5 s, and data are written after 30.
#[test]
fn a_commit_comes_every_five_seconds_and_data_after_thirty() {
    let mut machine = usual(64 * GIB);
    let files = machine.files();
    let clock = machine.files().kernel().clock().clone();
    machine.only(async move {
        for number in 0..290_u64 {
            let file = files.create(files.root(), &format!("f{number}")).await?;
            files.write(&file, 0, 4096).await?;
            files.close(file).await;
            clock.sleep_until((number + 1) * SECOND_NS / 10).await;
        }
        Ok(())
    });
    let writes = machine.take_writes();
    let [journal, _, _, others] = writes.of;
    // 29 s are five commits: two requests each, and the journal's superblock before the first.
    assert_eq!((journal.0, writes.flushes, others), (11, 10, (0, 0)), "{writes:?}");
    machine.check();
    let [.., (_, blocks)] = machine.take_writes().of;
    assert!((290..300).contains(&blocks), "{blocks}");
}

/// mkfs.ext4 ends with fsync(2) of the device (`ext2fs_flush2`, `unix_flush`), so that no drive has anything of it in its cache.
#[test]
fn mkfs_leaves_nothing_in_a_cache() {
    let mut machine = usual(2 * GIB);
    machine.only(newfs::newfs(machine.files()));
    assert_eq!(machine.log.borrow().last().map(|request| request.op), Some(Op::Flush));
}

/// The kernel zeroes each table in bios of 256 pages (`__blkdev_issue_zero_pages`), and a run of the journal at once.
#[test]
fn mkfs_has_the_kernel_write_zeros() {
    let mut machine = usual(64 * GIB);
    machine.only(newfs::newfs(machine.files()));
    let log = machine.log.take();
    let table = machine.extent(&machine.geometry.groups[1].inode_table);
    let of_table = log.iter().filter(|request| table.contains(&request.sector));
    let sizes: Vec<u32> = of_table.map(|request| request.sectors).collect();
    // The host's largest request is less than a bio, and 2 MiB are four.
    assert_eq!(sizes, [1344, 1344, 1344, 64]);
    let journal = machine.extent(&machine.geometry.journal[0]);
    let of_journal = log.iter().filter(|request| journal.contains(&request.sector));
    let short = of_journal.filter(|request| request.sectors < 1344).count();
    assert!(short <= 1, "{short} requests end a piece");
}

/// Measured on Linux 6.1 over md's RAID 10 with write caches, a tree unpacked and unmounted: behind the commit and what it
/// changed a flush, then the journal's superblock twice, each behind a flush and with one behind it.
#[test]
fn umount_writes_the_journals_superblock_for_each_transaction_and_once_more() {
    let mut machine = usual(2 * GIB);
    let files = machine.files();
    machine.only(fill(files.clone(), files.root(), 10));
    machine.check();
    machine.log.take();
    machine.only(fsck::umount(machine.files()));
    let first = machine.extent(&machine.geometry.journal[0]).start;
    let log = machine.log.take();
    let supers = log.iter().filter(|request| request.op.modifies() && request.sector == first);
    assert_eq!(supers.count(), 2);
}

/// Until a first directory with a file is on the disk, the real one reads two blocks: the root's, and the bitmap of the first of the
/// groups that the directory is in. What mount(8) has read it keeps, and the bitmap of the next, where the file is, was never
/// written.
#[test]
fn a_first_directory_reads_two_blocks() {
    let mut machine = usual(64 * GIB);
    let files = machine.files();
    machine.only(async move {
        let directory = files.mkdir(files.root(), "d").await?;
        fill(files, directory, 1).await
    });
    let requests = machine.log.take();
    let reads: Vec<u64> = requests
        .iter()
        .filter(|request| request.op == Op::Read)
        .map(|request| request.sector / machine.geometry.block_sectors())
        .collect();
    let flex = machine.geometry.options.flex_groups as usize;
    let bitmaps = machine.geometry.groups.iter().step_by(flex).map(|group| group.block_bitmap);
    assert_eq!((reads.len(), reads[0]), (2, machine.geometry.root_block));
    assert!(bitmaps.clone().any(|bitmap| bitmap == reads[1]), "{reads:?}");
}

/// Four hundred files of 4 KiB are 400 bios. The real one's flusher holds them back in a plug until that is full, and what
/// waits in the queue then grows: no request per file.
#[test]
fn files_that_lie_side_by_side_are_written_together() {
    let mut machine = Machine::behind_a_queue(64 * GIB);
    let files = machine.files();
    machine.only(fill(files.clone(), files.root(), 400));
    let writes = machine.take_writes();
    let (requests, blocks) = writes.of[Class::Others as usize];
    // One or two are of the directory.
    assert!((401..=402).contains(&blocks), "{blocks} blocks");
    assert!(requests <= 8, "{requests} requests");
}

/// Of more than 455 files, which have reserved half a transaction (32768 blocks / 2 / 36), the next one is sent when one of
/// them is on the disk, and by itself. By hand from `add_transaction_credits`; Linux 6.1 in virtual time begins a tree on a disk of
/// 16 GiB with 136 files and sends small requests then.
#[test]
fn files_beyond_half_a_transaction_are_sent_one_by_one() {
    let mut machine = Machine::behind_a_queue(64 * GIB);
    let files = machine.files();
    machine.only(fill(files.clone(), files.root(), 1000));
    let log = machine.log.take();
    let data: Vec<u32> = log
        .iter()
        .filter(|request| {
            let block = request.sector / machine.geometry.block_sectors();
            request.op.modifies() && machine.class(block) == Class::Others
        })
        .map(|request| request.sectors)
        .collect();
    let together: u32 = data.iter().take_while(|&&sectors| sectors > 8).sum();
    assert_eq!(together, 455 * 8, "{data:?}");
    // Later the queue joins what waits there.
    let behind: Vec<u32> = data.iter().copied().skip_while(|&sectors| sectors > 8).collect();
    assert!(behind.len() > 50 && behind[..30] == [8; 30], "{behind:?}");
}

/// Whoever mounts begins the log anew with its first block (`journal_reset`).
#[test]
fn a_mount_begins_the_log_anew() {
    let mut machine = usual(2 * GIB);
    let journal = machine.extent(&machine.geometry.journal[0]).start;
    let first = journal + machine.geometry.block_sectors();
    for name in ["one", "two"] {
        let files = machine.files();
        machine.log.take();
        machine.only(async move {
            let directory = files.mkdir(files.root(), name).await?;
            fill(files, directory, 10).await
        });
        let log = machine.log.take();
        assert!(log.iter().any(|request| request.op.modifies() && request.sector == first));
        machine.only(fsck::umount(machine.files()));
    }
}

/// umount starts a commit before it waits for the data, and what marks their extents is in a second one (`ext4_sync_fs`).
/// sync(2) waits for the data first.
#[test]
fn umount_commits_before_the_data_are_on_the_disk() {
    let commits = |umounts: bool| {
        let mut machine = usual(2 * GIB);
        let files = machine.files();
        machine.only(fill(files.clone(), files.root(), 1));
        machine.log.take();
        let files = machine.files();
        machine.only(async move {
            for number in 0..50 {
                let file = files.create(files.root(), &format!("g{number}")).await?;
                files.write(&file, 0, 1 << 20).await?;
                files.close(file).await;
            }
            if umounts { fsck::umount(files).await } else { files.sync().await }
        });
        let journal = machine.extent(&machine.geometry.journal[0]);
        let log = machine.log.take();
        // Behind the data come the blocks of commits; the journal's superblock is left out.
        let is_data = |request: &Request| {
            let block = request.sector / machine.geometry.block_sectors();
            request.op.modifies() && machine.class(block) == Class::Others
        };
        let last_data = log.iter().rposition(is_data).unwrap();
        let blocks = |requests: &[Request]| {
            let logged = requests.iter().filter(|request| {
                request.op.modifies()
                    && request.sector > journal.start
                    && journal.contains(&request.sector)
            });
            logged.count()
        };
        blocks(&log[last_data..])
    };
    // Each commit is the log's blocks and the commit block.
    assert_eq!((commits(false), commits(true)), (2, 4));
}

/// Makes files of a block in `directory`, and has all written.
async fn fill(files: Mounted, directory: u32, count: u64) -> Result<(), FsError> {
    for number in 0..count {
        let file = files.create(directory, &format!("f{number}")).await?;
        files.write(&file, 0, 4096).await?;
        files.close(file).await;
    }
    files.sync().await
}
