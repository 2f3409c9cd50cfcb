//! File systems as programs see them: what they write, and that nothing is lost on the way.

use sim::fs::ffs::geometry::{Cylinders, Geometry, Newfs, Options, Version};
use sim::fs::ffs::mount::{Mode, Mount, System};
use sim::fs::ffs::{Ffs, Placement};
use sim::fs::filesystem::{Look, Survey};
use sim::fs::kernel::{Cleaning, Delays, PageDaemon, Replacement, Spec};
use sim::fs::mounted::{Costs, Mounted, Streaming};
use sim::fs::program::{fsck, iozone, memory, nfs, touch, tree};
use sim::fs::{Files, Lap, Session};
use sim::{Processor, Server};
use std::sync::Arc;

const MIB: u64 = 1 << 20;

/// 8 KiB blocks on a disk of 2 GiB that takes 1 ms for anything.
fn session(mode: Mode) -> Session {
    session_of(System::Bsd44, Version::Ufs1, mode)
}

fn session_of(system: System, version: Version, mode: Mode) -> Session {
    session_with(system, version, mode, 8192, Cleaning::Limit(4 * MIB))
}

/// Blocks of `block_bytes`, and memory that is cleaned as `cleaning` says.
fn session_with(
    system: System,
    version: Version,
    mode: Mode,
    block_bytes: u64,
    cleaning: Cleaning,
) -> Session {
    let sectors = 4_194_304;
    let old = system == System::Bsd44;
    let options = Options {
        newfs: if old { Newfs::Bsd44(Cylinders::CCD) } else { Newfs::NetBsd2 },
        version,
        block_bytes,
        frag_bytes: block_bytes / 8,
        density_bytes: None,
    };
    let geometry = Geometry::new(options, sectors).unwrap();
    let spec = Spec {
        close_flushes: false,
        buffer_bytes: 8 * MIB,
        page_bytes: (!old).then_some(16 * MIB),
        replacement: Replacement::LeastRecentlyUsed,
        cleaning,
        cluster_sectors: 128,
        delays: if old { Delays::UPDATE } else { Delays::SYNCER },
    };
    let mount = Mount { system, mode, access_times: true };
    let placement = if old { Placement::BSD44 } else { Placement::NETBSD2 };
    Session::new(
        Processor::default(),
        Box::new(Server::new(sectors, 1_000_000)),
        spec,
        Ffs::new(geometry, sectors, placement, mount, 1).unwrap(),
        Costs { call_ns: 10_000, entry_ns: 100, write_ns_per_kib: 10_000, ..Costs::default() },
        Streaming { ahead_bytes: 128 << 10, push_bytes: 64 << 10 },
    )
}

/// An archive that costs nothing to unpack.
fn at_hand(session: &Session) -> tree::Unpacking<Mounted> {
    tree::Unpacking { files: session.files().clone(), work_ns_per_kib: 0 }
}

/// The three steps of Tao's test (1996).
fn touch_retouch_unlink(mode: Mode) -> [Lap; 3] {
    let mut session = session(mode);
    let files = session.files().clone();
    let (directory, _) =
        session.run([async move { files.mkdir(files.root(), "d").await.unwrap() }]);
    let directory = directory[0];
    let count = 10_000;
    let files = || session.files().clone();
    let (touch, retouch, remove) = (
        touch::touch_new(files(), directory, count),
        touch::touch_again(files(), directory, count),
        touch::remove(files(), directory, count),
    );
    let (_, touched) = session.run([touch]);
    session.files().check();
    let (_, retouched) = session.run([retouch]);
    session.files().check();
    let (_, removed) = session.run([remove]);
    session.files().check();
    [touched, retouched, removed]
}

/// The twelve counts that Tao published, from the model's own writes.
#[test]
fn ten_thousand_files_make_the_published_number_of_writes() {
    let writes = |mode| touch_retouch_unlink(mode).map(|lap| lap.traffic.writes);
    assert_eq!(writes(Mode::Sync), [20_314, 10_000, 10_000]);
    assert_eq!(writes(Mode::Async), [314, 0, 305]);
}

#[test]
fn the_same_run_twice_is_the_same_run() {
    assert_eq!(touch_retouch_unlink(Mode::Sync), touch_retouch_unlink(Mode::Sync));
}

/// A tree goes in and out again; at each stop the file system is whole, and at the end it is as new.
#[test]
fn a_tree_goes_in_and_out_whatever_the_system_and_the_mount() {
    let spec = tree::TreeSpec {
        files: 3000,
        directories: 300,
        depth: 2,
        file_bytes: 15_000,
        large_files: 15,
    };
    let tree = Arc::new(tree::Tree::new(&spec, 1));
    for (system, version) in [
        (System::Bsd44, Version::Ufs1),
        (System::NetBsd2, Version::Ufs1),
        (System::NetBsd2, Version::Ufs2),
    ] {
        let mut times = Vec::new();
        for mode in [Mode::Async, Mode::SoftUpdates, Mode::Sync] {
            let mut session = session_of(system, version, mode);
            let extract = tree::extract(session.files().clone(), tree.clone(), at_hand(&session));
            let (made, lap) = session.run([extract]);
            assert_eq!(made, [Ok(())]);
            session.files().check();
            times.push(lap.elapsed_s);
            let files = session.files().clone();
            session.run([async move { files.remount().await }]);
            let (_, lap) = session.run([tree::remove_all(session.files().clone())]);
            assert!(lap.traffic.reads > 300, "a cold tree is read to be removed: {lap:?}");
            session.files().check();
            let files = session.files().clone();
            let (left, _) =
                session.run([async move { files.readdir(files.root()).await.unwrap().len() }]);
            assert_eq!(left, [0]);
        }
        let [asynchronous, soft, synchronous] = times[..] else { unreachable!() };
        assert!(soft < synchronous && asynchronous < synchronous, "{system:?}: {times:?}");
    }
}

/// While pages are short, the page daemon has buffers give way, so that soft updates leave little to
/// write at the end; and buffers of 64 KiB, for which pages are free too seldom, are waited for.
#[test]
fn buffers_give_way_while_pages_are_short() {
    let spec = tree::TreeSpec {
        files: 3000,
        directories: 300,
        depth: 2,
        file_bytes: 10_000,
        large_files: 30,
    };
    let tree = Arc::new(tree::Tree::new(&spec, 1));
    let extract = |mode, block_bytes, cleaning| {
        let mut session = session_with(System::NetBsd2, Version::Ufs1, mode, block_bytes, cleaning);
        let archive = tree::Unpacking { files: session.files().clone(), work_ns_per_kib: 20_000 };
        let extract = tree::extract(session.files().clone(), Arc::clone(&tree), archive);
        let (made, made_lap) = session.run([extract]);
        assert_eq!(made, [Ok(())]);
        let files = session.files().clone();
        let (_, left_lap) = session.run([async move { files.remount().await }]);
        session.files().check();
        (made_lap.elapsed_s, left_lap.traffic.writes)
    };
    let limit = Cleaning::Limit(4 * MIB);
    let daemon_with =
        |free_bytes| Cleaning::PageDaemon(PageDaemon { free_bytes, least_buffer_bytes: 512 << 10 });
    let daemon = daemon_with(340 << 10);
    let [(_, limit_left), (_, daemon_left)] =
        [limit, daemon].map(|cleaning| extract(Mode::SoftUpdates, 8192, cleaning));
    assert!(daemon_left * 4 < limit_left * 3, "{daemon_left} against {limit_left}");
    let [small_s, large_s] = [32_768, 65_536]
        .map(|block_bytes| extract(Mode::Async, block_bytes, daemon_with(64 << 10)).0);
    assert!(large_s > 1.1 * small_s, "{large_s} against {small_s} s");
    let [small_s, large_s] =
        [32_768, 65_536].map(|block_bytes| extract(Mode::Async, block_bytes, limit).0);
    assert!(large_s < 1.1 * small_s, "{large_s} against {small_s} s");
}

/// Mounted otherwise, a tree is removed as that mount says, whatever it was made with.
#[test]
fn a_tree_is_removed_as_it_is_mounted_then() {
    let spec =
        tree::TreeSpec { files: 500, directories: 50, depth: 2, file_bytes: 5000, large_files: 0 };
    let tree = Arc::new(tree::Tree::new(&spec, 1));
    let waited = ["async", "sync"].map(|mode| {
        let mut session = session_of(System::NetBsd2, Version::Ufs1, Mode::Async);
        let archive = at_hand(&session);
        session.run([tree::extract(session.files().clone(), Arc::clone(&tree), archive)]);
        let files = session.files().clone();
        session.run([async move { files.remount().await }]);
        assert!(!session.files().at_once(|file_system| file_system.remount("data=ordered")));
        assert!(session.files().at_once(|file_system| file_system.remount(mode)));
        let (_, lap) = session.run([tree::remove_all(session.files().clone())]);
        session.files().check();
        lap.traffic.waited_writes
    });
    // Of each file and directory the entry and the inode; a file without anything in it has no blocks
    // to let go.
    assert_eq!(waited[0], 0);
    assert!((1050..=1100).contains(&waited[1]), "{waited:?}");
}

/// What was written reaches the device, each block once where it is written in order.
#[test]
fn a_file_reaches_the_device_in_clusters() {
    let mut session = session(Mode::Sync);
    let files = session.files().clone();
    let program = async move {
        let file = files.create(files.root(), "file").await?;
        for offset in (0..8 * MIB).step_by(8192) {
            files.write(&file, offset, 8192).await?;
        }
        files.close(file).await;
        files.rename((files.root(), "file"), (files.root(), "renamed")).await?;
        files.remount().await?;
        let file = files.open(files.root(), "renamed").await?;
        files.read(&file, 0, 100 * MIB).await
    };
    let (read, _) = session.run([program]);
    assert_eq!(read, [Ok(8 * MIB)]);
    session.files().check();
    let device = session.files().kernel().counters().targets[0];
    assert!((16_384..16_800).contains(&device.sectors_written), "{device:?}");
    assert!((16_384..16_800).contains(&device.sectors_read), "{device:?}");
    assert!(device.commands < 2 * 128 + 60, "{device:?}");
}

/// Three readers of one file wait for each other, as 4.4BSD's vnode lock has it: no faster than one.
#[test]
fn one_call_at_a_time_reads_a_file() {
    let elapsed_s = |readers: u64| {
        let mut session = session(Mode::Sync);
        let size = 8 * MIB;
        let write = iozone::write(session.files().clone(), "f", size, 65_536);
        assert_eq!(session.run([write]).0, [Ok(())]);
        let files = session.files().clone();
        session.run([async move { files.remount().await }]);
        let jumps = |files: sim::fs::Mounted, reader: u64| async move {
            let file = files.open(files.root(), "f").await.unwrap();
            for number in 0..120 / readers {
                // Blocks far apart, each once.
                let block = (number * readers + reader) * 8 % 1021;
                files.read(&file, block * 8192, 8192).await.unwrap();
            }
            files.close(file).await;
        };
        let readers = (0..readers).map(|reader| jumps(session.files().clone(), reader));
        session.run(readers.collect::<Vec<_>>()).1.elapsed_s
    };
    let (one, three) = (elapsed_s(1), elapsed_s(3));
    assert!((three / one - 1.0).abs() < 0.05, "{one} s, {three} s");
}

/// A file that is read in order comes in requests of 64 KiB, by a window that grows to that.
#[test]
fn reading_in_order_grows_into_clusters() {
    let mut session = session(Mode::Sync);
    let write = iozone::write(session.files().clone(), "f", 4 * MIB, 65_536);
    session.run([write]);
    let files = session.files().clone();
    session.run([async move { files.remount().await }]);
    let (_, lap) = session.run([iozone::read(session.files().clone(), "f", 8192)]);
    let clusters = 4 * MIB / 65_536;
    assert!((clusters..clusters + 20).contains(&lap.traffic.reads), "{:?}", lap.traffic);
}

/// Each write of an NFS server is on the disk before the next: two requests, and three once an indirect
/// block names the data.
#[test]
fn an_nfs_server_waits_for_data_map_and_inode() {
    let requests = |blocks: u64| {
        let mut session = session(Mode::Sync);
        let serve = nfs::serve(session.files().clone(), blocks * nfs::WRITE_BYTES);
        let (served, lap) = session.run([serve]);
        assert_eq!(served, [Ok(())]);
        session.files().check();
        lap.traffic.writes
    };
    assert_eq!(requests(12) - requests(2), 10 * 2);
    assert_eq!(requests(40) - requests(20), 20 * 3);
}

/// What fsck does with a file system with `files` files on it, and how long it and a mount take.
fn checked(version: Version, mode: Mode, files: u64) -> (Survey, [f64; 4]) {
    let spec =
        tree::TreeSpec { files, directories: 20, depth: 2, file_bytes: 15_000, large_files: 4 };
    let mut session = session_of(System::NetBsd2, version, mode);
    let tree = Arc::new(tree::Tree::new(&spec, 1));
    let archive = at_hand(&session);
    session.run([tree::extract(session.files().clone(), tree, archive)]);
    session.run([fsck::umount(session.files().clone())]);
    session.files().check();
    let survey = session.files().at_once(|fs| fs.survey());
    let work = fsck::Work { inode_ns: 100, entry_ns: 100 };
    let mut phase = |looks: &[Look]| {
        let files = session.files().clone();
        session.run([fsck::phase(files, looks.to_vec(), work)]).1.elapsed_s
    };
    let phases = [&survey.inodes, &survey.directories, &survey.groups].map(|looks| phase(looks));
    let (_, mounted) = session.run([fsck::mount(session.files().clone())]);
    (survey, [phases[0], phases[1], phases[2], mounted.elapsed_s])
}

fn sectors_read(looks: &[Look]) -> u64 {
    let read = looks.iter().map(|look| match look {
        Look::Read(extent) => u64::from(extent.sectors),
        Look::Inodes(_) | Look::Entries(_) => 0,
    });
    read.sum()
}

/// Version 2 has only those inodes read that were ever written, and that is why its fsck is faster; after
/// soft updates only those up to the last in use.
#[test]
fn fsck_reads_what_each_version_makes_it_read() {
    let count = 800;
    let [(first, first_s), (second, second_s), (soft, soft_s)] = [
        checked(Version::Ufs1, Mode::Async, count),
        checked(Version::Ufs2, Mode::Async, count),
        checked(Version::Ufs1, Mode::SoftUpdates, count),
    ];
    // 2 GiB with an inode for each 4 KiB of 128 bytes, and all groups' areas whole.
    let all = 4_194_304 / 8 * 128 / 512;
    assert!((all * 9 / 10..all * 11 / 10).contains(&first.inode_sectors), "{first_s:?}");
    assert!(
        second.inode_sectors < first.inode_sectors / 5,
        "{} {}",
        first.inode_sectors,
        second.inode_sectors
    );
    assert!(second_s[0] < first_s[0] / 3.0, "{first_s:?} {second_s:?}");
    assert!(soft.inode_sectors < first.inode_sectors / 5 && soft_s[0] < first_s[0] / 3.0);
    for survey in [&first, &second, &soft] {
        let inodes = survey.inodes.iter().map(|look| match look {
            Look::Inodes(count) => *count,
            _ => 0,
        });
        assert!(inodes.sum::<u64>() >= count + 20);
        // Each directory's first block at least, and each entry once.
        let entries: u64 = survey
            .directories
            .iter()
            .map(|look| if let Look::Entries(count) = look { *count } else { 0 })
            .sum();
        assert_eq!(entries, count + 20 + 2 * 21);
        assert!(sectors_read(&survey.directories) >= 21);
    }
    // Indirect blocks are whole, and the four large files have one each: 128 blocks of 8 KiB.
    let of_maps = |survey: &Survey| {
        let groups = sectors_read(&survey.groups);
        sectors_read(&survey.inodes) - survey.inode_sectors - groups
    };
    assert!(of_maps(&first) >= 4 * 16 && of_maps(&first).is_multiple_of(16));
    assert_eq!(of_maps(&first), of_maps(&second));
    assert!(
        first_s[3] < 0.1 && first_s[3] > 0.002,
        "a mount reads and writes a few blocks: {first_s:?}"
    );
}

/// Less than may be dirty is written at the rate of copying, much more at the disk's; what does not stay in
/// memory is read at the disk's.
#[test]
fn where_memory_ends_rates_fall_to_the_disks() {
    // 1 ms a request of 64 KiB at most; copying takes 10 µs a KiB.
    let (copy, disk) = (1024.0 / 10e-6 / 1e6, 65_536.0 / 1e-3 / 1e6);
    let rates = |bytes: u64, record: u64| {
        let mut session = session(Mode::Async);
        let rate = |session: &mut Session| {
            let write = memory::write(session.files().clone(), "file", bytes, record);
            let (written, lap) = session.run([write]);
            assert_eq!(written, [Ok(())]);
            session.files().check();
            let files = session.files().clone();
            session.run([async move { files.sync().await }]);
            bytes as f64 / 1e6 / lap.elapsed_s
        };
        let first = rate(&mut session);
        (first, rate(&mut session))
    };
    for record in [512, 1024, 65_536] {
        for mib in [1, 2, 3] {
            let (_, again) = rates(mib * MIB, record);
            assert!((again / copy - 1.0).abs() < 0.02, "{mib} MiB: {again}, copying {copy}");
        }
    }
    for mib in [64, 128] {
        let (first, again) = rates(mib * MIB, 65_536);
        for rate in [first, again] {
            assert!((rate / disk - 1.0).abs() < 0.12, "{mib} MiB: {rate}, the disk {disk}");
        }
    }
}
