//! What Linux puts between a volume and its members: a queue for each, and md's stripe cache.

use crate::catalogue::Host;
use crate::error::{Error, Result};
use crate::experiment::{InUse, Member, REGION_SECTORS, Scheduling, Setup, Volume};
use crate::workload::Engine;
use block::bios::{Cut, Rests};
use block::layout::{Spread, System};
use block::units::format_bytes;
use block::{Place, SECTOR_BYTES};
use sim::linux::alone::Alone;
use sim::linux::bitmap::{BitSizes, BitmapSpec};
use sim::linux::block_layer::BlockLayer;
use sim::linux::in_use::MarksInUse;
use sim::linux::intent::WriteIntents;
use sim::linux::md::{Md, MdSpec};
use sim::linux::queue::{QueueSpec, Scheduler};
use sim::linux::read_ahead::{PageCache, ReadAheadSpec};
use sim::{Barrier, BlocksAhead, CopyChoice, Device, Driver, FailWhole, MemberKind, Plugs};

/// The largest request (`max_sectors_kb` 1280, `max_segments` 168), as on the kernel that the model is held to.
pub const REQUEST_SECTORS: u32 = 2560;
const MAX_SEGMENTS: u32 = 168;
/// The most that libata sends a disk at once (`ATA_MAX_SECTORS_LBA48`).
const DISK_SECTORS_MAX: u64 = 65_535;
/// Commands that a drive with one hardware queue takes at most (SATA's NCQ); one that turns has one, too.
const ONE_QUEUE_TAGS: usize = 32;
/// The most members over which what is read ahead is held to a kernel (docs/md.md).
pub const READ_AHEAD_MEMBERS_MAX: usize = 24;
/// What Linux reads ahead of a device that says no best size (`VM_READAHEAD_PAGES`).
const READ_AHEAD_SECTORS: u64 = 256;
/// What a queue with a scheduler holds at most for each two of its requests (`BLKDEV_DEFAULT_RQ`).
const REQUESTS_MAX: usize = 128;

/// md's RAID 4, 5 or 6 over the drives `below`.
pub(super) fn md(
    volume: &Volume,
    below: Box<dyn Device>,
    driver: Driver,
) -> Result<Md<Box<dyn Device>>> {
    let is_by_dm = volume.level.is_run_by_dm();
    // `rs_set_raid456_stripe_cache` of dm-raid.c: a row for each two sectors of a chunk at least.
    let rows_min = if is_by_dm { volume.interleave_sectors as usize / 2 } else { 0 };
    let spec = MdSpec {
        stripe_cache_rows: rows_min.max(volume.stripe_cache_rows as usize),
        queue: queue(volume, &volume.members[0]),
        // What is written back has no `REQ_SYNC` unless somebody waits for it, and md delays rows of it that are not whole
        // (`make_stripe_request`).
        is_written_back: volume.page_cache.is_written || driver.plugs.are_of_threads(),
        bitmap: bitmap(volume)?,
        is_cut_at_chunks: is_by_dm,
    };
    let md = Md::new(volume.layout()?, below, driver, spec).map_err(Error::input)?;
    let md = md.queued(&queues(volume));
    let md = if volume.in_use == InUse::Always { md.kept_in_use() } else { md };
    Ok(md)
}

/// The queues of the members alone, for a driver that sends with `plugs`, and of md's copies what marks them as in use
/// and the bitmap in front of them.
pub(super) fn block_layer(
    volume: &Volume,
    below: Box<dyn Device>,
    plugs: &Plugs,
) -> Result<Box<dyn Device>> {
    let queues =
        BlockLayer::new(below, queue(volume, &volume.members[0]), plugs).queued(&queues(volume));
    // RAID 5 and 6 come here only for a stretch of a rebuild, which follows general rules.
    let has_copies = !volume.level.has_stripe_cache() && volume.level.nested().is_none();
    let survives = volume.level.losses_survived(volume.members.len()) > 0;
    if !(has_copies && survives && volume.level.is_run_by_md()) {
        return Ok(queues.into());
    }
    let has_cache = volume.members.iter().any(Member::has_write_cache);
    let is_kept = volume.in_use == InUse::Always;
    let layout = volume.layout()?;
    // RAID 10 keeps its bitmap of the array, and RAID 1 of what a member holds (`resync_max_sectors`), which is the array.
    let sectors = layout.sectors();
    let bitmap = bitmap(volume)?;
    let header = bitmap.map(|spec| (spec, sectors));
    let marked = MarksInUse::new(queues, has_cache, &volume.failed, is_kept, header);
    let begins = volume.rebuild_bytes_per_s.is_some() && volume.restored_sectors == 0;
    let marked = match volume.failed.first() {
        Some(&spare) if begins => marked.restoring(spare),
        _ => marked,
    };
    let Some(bitmap) = bitmap else { return Ok(marked.into()) };
    let sector_of = move |member, sector| {
        layout.holds(Place { member, sector }).0.expect("mirrors have no parity")
    };
    let absent = &volume.failed;
    Ok(WriteIntents::new(marked, bitmap, sectors, Box::new(sector_of), absent).into())
}

/// The queue of the one drive of `volume`, which nothing maps, for who sends with `plugs`.
pub(super) fn alone(
    volume: &Volume,
    below: Box<dyn Device>,
    plugs: Plugs,
) -> Result<Box<dyn Device>> {
    let queue = BlockLayer::new(below, queue(volume, &volume.members[0]), &plugs);
    Ok(Alone::new(queue, volume.layout()?.sectors(), plugs).into())
}

/// The page cache before `volume`, for what is read in order.
pub(super) fn page_cache(volume: &Volume, below: Box<dyn Device>) -> Box<dyn Device> {
    let request_sectors = cut(volume).bio_sectors.into();
    let ahead_sectors = read_ahead_sectors(volume);
    PageCache::new(below, ReadAheadSpec { ahead_sectors, request_sectors }).into()
}

/// The bios that md takes whole: of what its members take, and to a stripe of a chunk at most (`raid0_run`).
pub(super) fn cut(volume: &Volume) -> Cut {
    let is_stripe = volume.level.is_raid_0_of_md() || volume.level.nested().is_some();
    let (chunk, rests) = if is_stripe {
        (volume.interleave_sectors, Rests::AtOnce)
    } else {
        (u64::MAX, Rests::Anew)
    };
    Cut { bio_sectors: chunk.min(volume.bio_sectors.into()) as u32, rests }
}

/// The largest request to `volume` that a Linux as `host` does not cut first. Later kernels let an array with copies
/// take its best size, a whole stripe, where that is more than any device's (`blk_validate_limits`); RAID 0 takes a
/// chunk and RAID 5 and 6 take 1 MiB whatever that is (`max_hw_sectors`), and what `NVMe` drives take at most is not
/// known of them.
pub fn bio_sectors(host: &Host, volume: &Volume) -> u32 {
    if !host.follows_io_opt || !volume.members.iter().all(Member::is_rotational) {
        return REQUEST_SECTORS;
    }
    if host.is_max_transfer_said {
        return host.max_transfer_sectors.clamp(REQUEST_SECTORS, DISK_SECTORS_MAX as u32);
    }
    let io_opt = match volume.level.spread().filter(|_| volume.level.is_run_by_md()) {
        Some(_) => {
            volume.interleave_sectors * volume.level.stripe_chunks(volume.members.len()) as u64
        }
        None => 0,
    };
    io_opt.max(host.max_transfer_sectors.into()).min(DISK_SECTORS_MAX) as u32
}

/// The largest request that `host` lets pass to `volume`.
pub(super) fn largest_sectors(host: &Host, volume: &Volume) -> u32 {
    let follows = host.follows_io_opt && !host.is_max_transfer_said;
    host.max_transfer_sectors.max(if follows { volume.bio_sectors } else { 0 })
}

/// How far Linux reads ahead on `volume`: as it is said, or twice the stripe (`disk_update_readahead`).
pub fn read_ahead_sectors(volume: &Volume) -> u64 {
    let stripe = if volume.level.interleaved() {
        volume.interleave_sectors * volume.level.stripe_chunks(volume.members.len()) as u64
    } else {
        0
    };
    volume.read_ahead.0.unwrap_or((2 * stripe).max(READ_AHEAD_SECTORS))
}

/// How what is sent to `volume` is held back, and whether who sends it sleeps: who reads through the page cache does,
/// and over copies that md keeps, which are chosen anew when it goes on, everybody. A file system of Linux has several
/// threads, each with a plug.
pub(super) fn plugs(setup: &Setup) -> Plugs {
    let volume = &setup.volume;
    let level = &volume.level;
    let has_copies = level.losses_survived(level.members_min()) > 0 && !level.has_stripe_cache();
    if let Some(files) = &setup.files {
        let is_one = volume.members.len() == 1 || volume.controller.is_some();
        let ahead = if is_one || level.has_stripe_cache() || !volume.is_on_linux {
            BlocksAhead::Together
        } else {
            BlocksAhead::Each
        };
        let is_linuxs = files.is_modelled_on_linux();
        return if is_linuxs { Plugs::of_threads().reading_ahead(ahead) } else { Plugs::default() };
    }
    if volume.page_cache.is_read {
        return Plugs::default().that_sleep();
    }
    let has_workers = setup.engine.is_some_and(Engine::has_workers);
    let plugs = match Plugs::of_programs() {
        plugs if has_workers => plugs,
        plugs => plugs.that_send_large_writes(),
    };
    let chunk_sectors = if level.interleaved() { volume.interleave_sectors } else { u64::MAX };
    let whole = |most_sectors| FailWhole { most_sectors, chunk_sectors };
    match (level.is_run_by_md(), has_copies) {
        (true, true) => plugs.that_sleep(),
        (true, false) if level.is_run_by_dm() => plugs.all_by_workers(),
        _ if level.is_run_by_dm() => plugs.that_fail_whole(whole(u32::MAX)),
        // A request of up to a chunk may cross two, and is cut when it has been tried (`raid0_make_request`).
        _ if level.is_raid_0_of_md() => plugs.that_fail_whole(whole(cut(volume).bio_sectors)),
        _ => plugs,
    }
}

/// The barrier between the load of `volume` and what md restores of it, where it has copies; the data begins at
/// `data_sector` of the member that is restored.
pub(super) fn barrier(volume: &Volume, data_sector: u64) -> Option<Barrier> {
    has_barrier(volume).then(|| match volume.level.spread() {
        Some(spread) => Barrier::Whole {
            chunk_sectors: volume.interleave_sectors,
            goes_on: goes_on(volume, spread),
            data_sector,
        },
        None => Barrier::Units { data_sector },
    })
}

/// Whether the other copies of what a member has in order are in order, too, on one member.
fn goes_on(volume: &Volume, spread: Spread) -> bool {
    let members = volume.members.len();
    match spread {
        Spread::Near => volume.level.groups(members).into_iter().product::<usize>() == members,
        Spread::Far => true,
        Spread::Offset => false,
    }
}

/// Whether requests of the load are on their way before md restores anything of `volume`: it writes superblocks before, and where
/// disks first empty their caches, the load does not wait for that.
pub(super) fn is_load_first(volume: &Volume) -> bool {
    volume.members.iter().any(|member| member.is_rotational() && member.has_write_cache())
}

fn has_barrier(volume: &Volume) -> bool {
    let level = &volume.level;
    level.is_run_by_md() && !level.has_stripe_cache() && level.nested().is_none()
}

/// Whether md restores a member of `volume` behind the barrier of its copies.
pub(crate) fn is_restored_behind_barrier(volume: &Volume) -> bool {
    volume.rebuild_bytes_per_s.is_some() && has_barrier(volume)
}

/// How Linux chooses the copy that serves a read.
pub(super) fn copy_choice(volume: &Volume) -> CopyChoice {
    match volume.level.spread() {
        Some(Spread::Near) => CopyChoice::MdNear,
        Some(Spread::Far | Spread::Offset) => CopyChoice::MdFar,
        None if volume.level.is_of(System::Btrfs) => CopyChoice::First,
        None => CopyChoice::MdMirror,
    }
}

/// What Linux knows of each member as it chooses.
pub(super) fn member_kinds(volume: &Volume) -> Vec<MemberKind> {
    let kind = |(number, member): (u32, &Member)| MemberKind {
        is_flash: !member.is_rotational(),
        is_write_mostly: volume.write_mostly.contains(&number),
    };
    (0..).zip(&volume.members).map(kind).collect()
}

/// The bitmap that md keeps, if any: of mdadm's arrays where it is asked for, of LVM's always.
pub(crate) fn bitmap(volume: &Volume) -> Result<Option<BitmapSpec>> {
    let flushes = volume.members.iter().any(Member::has_write_cache);
    if volume.level.has_bitmap_of_lvm() {
        // A region is no less than a chunk: lvcreate makes it as large.
        let least = if volume.level.interleaved() { volume.interleave_sectors } else { 0 };
        let region_sectors = volume.region_sectors.unwrap_or(REGION_SECTORS).max(least);
        let array_sectors = volume.layout()?.sectors();
        if volume.region_sectors.is_some_and(|asked| asked > array_sectors) {
            let [asked, whole] =
                [region_sectors, array_sectors].map(|sectors| format_bytes(sectors * SECTOR_BYTES));
            return Err(Error::input(format!(
                "`volume.region_size` of {asked} is more than the volume, which is {whole}; take 64MiB"
            )));
        }
        let bits = BitSizes::Lvm { region_sectors, array_sectors };
        return Ok(Some(BitmapSpec { flushes, bits }));
    }
    let told = volume.region_sectors.map(|chunk_sectors| BitSizes::Told { chunk_sectors });
    let bits = told.unwrap_or(BitSizes::Mdadm);
    Ok(volume.has_bitmap.then_some(BitmapSpec { flushes, bits }))
}

/// The queues that Linux gives the members of `volume`, in order.
fn queues(volume: &Volume) -> Vec<QueueSpec> {
    volume.members.iter().map(|member| queue(volume, member)).collect()
}

/// The queue that Linux gives a `member` of `volume`, with as many requests as is said, or as it chooses by itself.
fn queue(volume: &Volume, member: &Member) -> QueueSpec {
    QueueSpec {
        scheduler: scheduler_of(volume, member),
        requests: volume
            .nr_requests
            .map_or_else(|| requests_of(volume, member), |said| said as usize),
        tags: tags(&volume.members),
        max_sectors: REQUEST_SECTORS,
        max_segments: MAX_SEGMENTS,
        is_write_back: member.has_write_cache(),
    }
}

/// The fewest requests that Linux lets the queue of a member of `volume` hold by itself.
pub fn requests_of_linux(volume: &Volume) -> usize {
    volume.members.iter().map(|member| requests_of(volume, member)).min().unwrap_or(1)
}

/// The requests that Linux lets the queue of a `member` hold by itself: what it takes, and twice that where a scheduler has
/// something to sort (`blk_mq_init_sched`).
fn requests_of(volume: &Volume, member: &Member) -> usize {
    let tags = tags(&volume.members);
    match scheduler_of(volume, member) {
        Scheduler::None => tags,
        Scheduler::MqDeadline => 2 * tags.min(REQUESTS_MAX),
    }
}

/// Commands that each of `members` takes at a time: as many as the one that takes fewest, as in the kernel rig, whose disks have
/// one depth.
fn tags(members: &[Member]) -> usize {
    members.iter().map(Member::queue_depth).min().unwrap_or(1)
}

/// mq-deadline where any member of `volume` has it.
pub fn scheduler(volume: &Volume) -> Scheduler {
    let sorts = |member| scheduler_of(volume, member) == Scheduler::MqDeadline;
    if volume.members.iter().any(sorts) { Scheduler::MqDeadline } else { Scheduler::None }
}

/// The scheduler before a `member` of `volume`: the one that is named, or the one that Linux chooses by itself, mq-deadline
/// where the drive has one hardware queue, else none (`elevator_get_default`).
pub fn scheduler_of(volume: &Volume, member: &Member) -> Scheduler {
    let has_one = has_one_queue(member.queue_depth(), member.is_rotational());
    match volume.scheduler {
        // The last two are not modelled, and refused by who would model them; they merge and sort, too.
        Scheduling::MqDeadline | Scheduling::Bfq | Scheduling::Kyber => Scheduler::MqDeadline,
        Scheduling::Auto if has_one => Scheduler::MqDeadline,
        Scheduling::Auto | Scheduling::Nothing => Scheduler::None,
    }
}

/// Whether a drive that takes so many commands, and that turns or not, has one hardware queue.
pub fn has_one_queue(commands: usize, is_rotational: bool) -> bool {
    commands <= ONE_QUEUE_TAGS || is_rotational
}

#[cfg(test)]
mod tests {
    use super::largest_sectors;
    use crate::experiment::{Experiment, Plan, Setup};
    use std::sync::Arc;

    fn setup(host: &str, volume: &str) -> Arc<Setup> {
        let text = format!(
            "[host]\nname = {host}\n[volume]\n{volume}\n[workload.w]\nkind = 'sequential'\n"
        );
        let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap();
        Arc::clone(&plan.trials[0].setup)
    }

    /// What Linux does not cut before md, and before the volume, in KiB.
    fn largest_kib(host: &str, volume: &str) -> [u64; 2] {
        let setup = setup(&format!("'{host}'"), volume);
        [setup.volume.bio_sectors, largest_sectors(&setup.host, &setup.volume)]
            .map(|sectors| u64::from(sectors) / 2)
    }

    #[test]
    fn the_largest_request_follows_the_kernel_and_the_stripe() {
        let disks = |level: &str| {
            format!("drives = '8xst18000nm000j'\ninterleave = '512KiB'\nlevel = '{level}'")
        };
        let of = |level: &str| {
            ["linux-6.1", "linux-6.12", "linux-6.17"].map(|host| largest_kib(host, &disks(level)))
        };
        // Four pairs: a stripe of 2 MiB, less than what 6.17 lets any device have. Far copies: eight chunks.
        assert_eq!(of("md-raid10"), [[1280; 2], [2048; 2], [4096; 2]]);
        assert_eq!(of("md-raid10-f2"), [[1280; 2], [4096; 2], [4096; 2]]);
        assert_eq!(of("md-mirror"), [[1280; 2], [1280; 2], [4096; 2]]);
        let large = "drives = '8xst18000nm000j'\ninterleave = '2MiB'\nlevel = 'md-raid10'";
        assert_eq!(largest_kib("linux-6.17", large), [8192; 2]);
        // Whoever says `max_sectors_kb` has it, and of NVMe drives it is not known what they take.
        let said = setup("'linux-6.12'\nmax_transfer = '640KiB'", &disks("md-raid10"));
        assert_eq!((said.volume.bio_sectors, said.host.max_transfer_sectors), (2560, 1280));
        assert_eq!(largest_sectors(&said.host, &said.volume), 1280);
        // What is so without a word is the same when it is said.
        let said = setup("'linux-6.17'\nmax_transfer = '4MiB'", &disks("md-raid10"));
        assert_eq!(
            (said.volume.bio_sectors, largest_sectors(&said.host, &said.volume)),
            (8192, 8192)
        );
        let flash = "drives = '8x980-pro-1tb'\ninterleave = '512KiB'\nlevel = 'md-raid10'";
        assert_eq!(largest_kib("linux-6.12", flash), [1280; 2]);
        // A log has its own, and not that of the data beside it.
        let beside = format!("{}\nlog_drives = 'LOG'", disks("md-raid10-f2"));
        let of_log = |drives: &str| {
            let setup = setup("'linux-6.12'", &beside.replace("LOG", drives));
            (setup.volume.bio_sectors, setup.log.as_ref().unwrap().bio_sectors)
        };
        assert_eq!(["1xst18000nm000j", "2x980-pro-1tb"].map(of_log), [(8192, 2560); 2]);
    }
}
