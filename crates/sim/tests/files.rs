//! File systems as programs see them: what they write, and that nothing is lost on the way.

use sim::Server;
use sim::fs::ffs::geometry::{Cylinders, Geometry, Newfs, Options, Version};
use sim::fs::ffs::mount::{Mode, Mount, System};
use sim::fs::ffs::{Ffs, Placement};
use sim::fs::kernel::{Delays, Spec};
use sim::fs::mounted::{Costs, Streaming};
use sim::fs::program::touch;
use sim::fs::{Files, Lap, Session};

const MIB: u64 = 1 << 20;

/// 8 KiB blocks on a disk of 2 GiB that takes 1 ms for anything.
fn session(mode: Mode) -> Session {
    let sectors = 4_194_304;
    let options = Options {
        newfs: Newfs::Bsd44(Cylinders::CCD),
        version: Version::Ufs1,
        block_bytes: 8192,
        frag_bytes: 1024,
        density_bytes: None,
    };
    let geometry = Geometry::new(options, sectors).unwrap();
    let spec = Spec {
        buffer_bytes: 16 * MIB,
        page_bytes: None,
        dirty_max_bytes: 4 * MIB,
        cluster_sectors: 128,
        delays: Delays::UPDATE,
    };
    Session::new(
        Box::new(Server::new(sectors, 1_000_000)),
        spec,
        Ffs::new(geometry, sectors, Placement::BSD44, 1).unwrap(),
        Mount { system: System::Bsd44, mode, access_times: true },
        Costs::default(),
        Streaming { ahead_bytes: 128 << 10, push_bytes: 64 << 10 },
    )
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
