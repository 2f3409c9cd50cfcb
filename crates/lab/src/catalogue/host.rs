//! A host of the catalogue: how an operating system cuts and issues I/O, and what that costs.

mod engines;

use super::declare::figures;
use super::figure::{Shape, figure, rate, time_us};
use super::sheet::{Class, Fitted, Sheet, us_as_ns, wrong};
use crate::error::Result;
use crate::keys::{RATE, SIZE, Takes, choice, condition, keys, words};
use crate::workload::Engine;
use block::SECTOR_BYTES;
pub(super) use engines::EngineFigures;
use sim::cloud::{Counts, Limit};
use sim::fs::kernel::{Cleaning, PageDaemon};
use sim::fs::mounted::Costs;
use sim::linux::md::RowCosts;
use sim::{Deadline, Nanos, Order};
use std::num::NonZeroU64;
use store::known::IDEAL_HOST;

figures! {
    /// The figures of a host.
    pub(super) struct HostFigures {
        /// largest request that reaches the volume (MAXPHYS)
        max_transfer_bytes: Option<u64> = figure("max_transfer", "bytes", Shape::Size)
            .or("no limit"),
        /// the best size of a RAID 10 of disks (chunk × data disks), where it is more than `max_transfer`, is its largest request
        max_transfer_follows_io_opt: bool = figure("max_transfer_follows_io_opt", "", Shape::Switch).default("false"),
        /// concurrent pieces per raw request
        physio_concurrency: Option<u32> = figure("physio_concurrency", "", Shape::Count(1..=1_000_000))
            .or("all at once"),
        /// CPU time per request that reaches the volume
        request_cpu_us: f64 = figure("request_cpu_us", "us", time_us()).default("0"),
        /// CPU time per command to a member
        command_cpu_us: f64 = figure("command_cpu_us", "us", time_us()).default("0"),
        /// rate at which a program reads /dev/zero before it writes
        zero_fill_mb_per_s: Option<f64> = figure("zero_fill_mb_per_s", "MB/s", rate())
            .or("takes no time"),
        /// number of buses (drives are assigned round-robin)
        buses: Option<u32> = figure("buses", "", Shape::Count(1..=10_000))
            .or("one for each drive"),
        /// data rate of a bus
        bus_mb_per_s: Option<f64> = figure("bus_mb_per_s", "MB/s", rate())
            .or("only the drives' own interfaces limit it"),
        /// arbitration, selection and messages per transfer on a bus
        bus_overhead_us: f64 = figure("bus_overhead_us", "us", time_us()).default("0"),
        /// I/Os a second to all network volumes together: what the instance allows
        storage_iops: Option<f64> = figure("storage_iops", "1/s", Shape::Number(1.0..=1e9))
            .or("no limit"),
        /// data rate to all network volumes together
        storage_mb_per_s: Option<f64> = figure("storage_mb_per_s", "MB/s", rate()).or("no limit"),
        /// commands in flight per drive; the others wait in the driver, sorted by sector
        queue_outstanding: Option<u32> = figure("queue_outstanding", "", Shape::Count(1..=65_536))
            .or("all at once"),
        /// flush the drive's write cache when the last program closes it; a volume keeps its members open
        close_flushes: bool = figure("close_flushes", "", Shape::Switch).default("false"),
        /// memory for metadata, and for data without a `page_cache`
        buffer_cache_bytes: u64 = figure("buffer_cache", "bytes", Shape::Size).default("16MiB"),
        /// memory for file data
        page_cache_bytes: Option<u64> = figure("page_cache", "bytes", Shape::Size)
            .or("data share the buffer cache"),
        /// part of the page cache for pages that were only read; written pages stay
        page_turns_bytes: Option<u64> = figure("page_turns", "bytes", Shape::Size)
            .or("no separate limit"),
        /// writers wait while more than this is dirty; not with `page_target`
        dirty_limit_bytes: Option<u64> = figure("dirty_limit", "bytes", Shape::Size)
            .or("4MiB"),
        /// NetBSD 1.6 and later: with less free memory than this, the page daemon writes the least recently used
        /// pages; replaces `dirty_limit` and needs `page_cache`, which then includes the buffers
        page_target_bytes: Option<u64> = figure("page_target", "bytes", Shape::Size)
            .or("no page daemon"),
        /// least memory of the buffers when pages are short; only with `page_target`
        buffer_least_bytes: Option<u64> = figure("buffer_least", "bytes", Shape::Size)
            .or("an eighth of `buffer_cache`"),
        /// read-ahead of a file that is read sequentially
        read_ahead_bytes: u64 = figure("read_ahead", "bytes", Shape::Size).default("128KiB"),
        /// CPU time per system call that takes a name
        file_call_us: f64 = figure("file_call_us", "us", time_us()).default("0"),
        /// CPU time added per name created or removed
        file_name_us: f64 = figure("file_name_us", "us", time_us()).default("0"),
        /// CPU time per directory entry compared
        file_entry_us: f64 = figure("file_entry_us", "us", time_us()).default("0"),
        /// CPU time per synchronous write of a system call
        file_request_us: f64 = figure("file_request_us", "us", time_us()).default("0"),
        /// CPU time per block that a file grows by
        file_block_us: f64 = figure("file_block_us", "us", time_us()).default("0"),
        /// CPU time per file system request to the volume's driver
        volume_request_us: f64 = figure("volume_request_us", "us", time_us()).default("0"),
        /// CPU time added per stripe that such a request touches; RAIDframe only
        volume_stripe_us: f64 = figure("volume_stripe_us", "us", time_us()).default("0"),
        /// CPU time per command of that driver to a member
        volume_command_us: f64 = figure("volume_command_us", "us", time_us()).default("0"),
        /// CPU time per direct request of a program, each on a processor of its own, by `io_uring` with registered buffers; not
        /// for those that come by the clock
        program_request_us: f64 = figure("program_request_us", "us", time_us()).default("0"),
        /// CPU time added for each command beyond the first that the volume makes of it
        program_command_us: f64 = figure("program_command_us", "us", time_us()).default("0"),
        /// CPU time added for each command that an I/O scheduler takes before a flash drive
        scheduler_command_us: f64 = figure("scheduler_command_us", "us", time_us()).default("0"),
        /// CPU time per such command under the drive's lock, which one program holds at a time
        scheduler_locked_us: f64 = figure("scheduler_locked_us", "us", time_us()).default("0"),
        /// md's RAID 4, 5 and 6: CPU time of the thread each time it comes to a row
        md_row_us: f64 = figure("md_row_us", "us", time_us()).default("0"),
        /// CPU time of it per 4 KiB copied to or from the stripe cache
        md_copy_us: f64 = figure("md_copy_us", "us", time_us()).default("0"),
        /// CPU time of it per 4 KiB that goes into the parity of RAID 4 and 5
        md_one_parity_us: f64 = figure("md_one_parity_us", "us", time_us()).default("0"),
        /// CPU time of it per 4 KiB that goes into both parities of RAID 6
        md_two_parities_us: f64 = figure("md_two_parities_us", "us", time_us()).default("0"),
        /// CPU time of it per 4 KiB sent to a member
        md_send_us: f64 = figure("md_send_us", "us", time_us()).default("0"),
        /// CPU time added to that where a request to a member begins; with any of these `md_` figures,
        /// `command_cpu_us` and `volume_command_us` are not added for such arrays
        md_command_us: f64 = figure("md_command_us", "us", time_us()).default("0"),
        /// CPU time per KiB read from a file
        file_read_us_per_kib: f64 = figure("file_read_us_per_kib", "us", time_us()).default("0"),
        /// CPU time per KiB written to a file
        file_write_us_per_kib: f64 = figure("file_write_us_per_kib", "us", time_us()).default("0"),
        /// CPU time of fsck(8) per inode
        fsck_inode_us: f64 = figure("fsck_inode_us", "us", time_us()).default("0"),
        /// CPU time of getc(3) per KiB
        stdio_read_us_per_kib: f64 = figure("stdio_read_us_per_kib", "us", time_us()).default("0"),
        /// CPU time of putc(3) per KiB
        stdio_write_us_per_kib: f64 = figure("stdio_write_us_per_kib", "us", time_us()).default("0"),
    }
}

impl HostFigures {
    /// Nothing where the file has none of these figures.
    fn md_rows(&self) -> Option<RowCosts> {
        let costs = RowCosts {
            row_ns: us_as_ns(self.md_row_us),
            copy_ns: us_as_ns(self.md_copy_us),
            one_parity_ns: us_as_ns(self.md_one_parity_us),
            two_parities_ns: us_as_ns(self.md_two_parities_us),
            send_ns: us_as_ns(self.md_send_us),
            command_ns: us_as_ns(self.md_command_us),
        };
        (costs != RowCosts::default()).then_some(costs)
    }
}

/// Hosts are of one class.
pub(super) const CLASS: Class = ("host", &[HostFigures::FIGURES, EngineFigures::FIGURES]);

keys! {
    /// The keys of `host`: what an experiment changes of its host.
    pub struct HostKeys {
        /// Modelled host: a name from hosts/ or a file; `ideal` splits nothing and costs nothing
        name: String = condition("name", Takes::Text).default(IDEAL_HOST),
        /// Largest request that reaches the volume (MAXPHYS, `max_sectors_kb`) [default: the host's own]
        max_transfer_sectors: Option<u32> = choice("max_transfer", SIZE),
        /// Concurrent pieces per raw request [default: the host's own]
        physio_concurrency: Option<u32> = choice("physio_concurrency", Takes::Count(1, 65_536)),
        /// Number of buses (drives are assigned round-robin) [default: the host's own]
        buses: Option<u32> = choice("buses", Takes::Count(1, 1024)),
        /// Host I/O scheduler: fcfs, c-look (BSD disksort) or deadline (Linux) [default: requests go to the drives at once,
        /// those of a file system by c-look]
        elevator: Option<Elevator> = choice("elevator", Elevator::TAKES),
        /// Requests in flight per drive, the others wait in the I/O scheduler [default: the host's own, or 1]
        queue_outstanding: Option<u32> = choice("queue_outstanding", Takes::Count(1, 65_536)),
        /// Processor time of programs (with what their `engine` adds) and of md's RAID 4, 5 and 6 (the `program_` and `md_` figures of the host), as
        /// a percentage: 200 for a processor half as fast, 0 to leave it out
        cpu_percent: u32 = condition("cpu_percent", Takes::Count(0, 10_000)).default("100"),
        /// I/Os a second to all cloud volumes together, as the instance allows [default: the host's own]
        storage_iops: Option<u64> = condition("storage_iops", Takes::Count(1, 1_000_000_000)),
        /// Data rate to all cloud volumes together [default: the host's own]
        storage_bytes_per_s: Option<u64> = condition("storage_rate", RATE),
    }
}

words! {
    /// An I/O scheduler.
    pub enum Elevator {
        /// In order of arrival.
        Fcfs = "fcfs",
        /// Upwards by sector.
        CLook = "c-look",
        /// As Linux's deadline.
        Deadline = "deadline",
    }
}

impl From<Elevator> for Order {
    fn from(elevator: Elevator) -> Self {
        match elevator {
            Elevator::Fcfs => Order::Fcfs,
            Elevator::CLook => Order::CLook,
            Elevator::Deadline => Order::Deadline(Deadline::default()),
        }
    }
}

/// A host of the catalogue, or of a file in the same format.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name in the catalogue, or the path of its file.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// A hash of its file.
    pub digest: String,
    /// The largest piece that reaches a volume, in sectors; `u32::MAX` where no limit.
    pub max_transfer_sectors: u32,
    /// Whether an array of disks whose best size is larger takes requests of that.
    pub follows_io_opt: bool,
    /// Whether an experiment says `max_transfer`: `max_sectors_kb`, if anybody writes it, is what holds.
    pub is_max_transfer_said: bool,
    /// Pieces of one raw request in flight; `u32::MAX` for all of them.
    pub physio_concurrency: u32,
    /// For each piece that reaches the volume, in ns.
    pub request_cpu_ns: Nanos,
    /// For each command to a member, in ns.
    pub command_cpu_ns: Nanos,
    /// For each request of a file system to the driver of a volume, in ns.
    pub volume_request_ns: Nanos,
    /// For each stripe that such a request touches, in ns; RAIDframe's.
    pub volume_stripe_ns: Nanos,
    /// For each command of that driver to a member, in ns.
    pub volume_command_ns: Nanos,
    /// For each direct request of a program, in ns, on a processor of its own.
    pub program_request_ns: Nanos,
    /// What the way to the drives and back adds to the time of each such request, in ns, where its engine is named; less than
    /// nothing where that takes less than the way by which drives were measured.
    pub program_way_ns: i64,
    /// For each command beyond the first that a volume makes of such a request, in ns.
    pub program_command_ns: Nanos,
    /// For each command of such a request that a scheduler takes, in ns.
    pub scheduler_command_ns: Nanos,
    /// For each of these under the lock of the scheduler's drive, in ns; part of what it takes in all.
    pub scheduler_locked_ns: Nanos,
    /// For the rows of md's stripe cache, where its file has figures of that.
    pub md_rows: Option<RowCosts>,
    /// How fast a program reads /dev/zero, in bytes a second; `None` where that takes no time.
    pub zero_fill_bytes_per_s: Option<f64>,
    /// Number of buses (drives are assigned round-robin); `None` for one per drive.
    pub buses: Option<u32>,
    /// What a bus moves, in bytes a second; `u64::MAX` where only the drives' interfaces limit it.
    pub bus_bytes_per_s: u64,
    /// For each transfer on a bus, in ns.
    pub bus_overhead_ns: Nanos,
    /// Commands in flight per drive; `None` for all of them.
    pub queue_outstanding: Option<u32>,
    /// I/Os and bytes a second to all network volumes together.
    pub storage_per_s: [Option<u64>; 2],
    /// Whether the driver flushes a drive's write cache when it is closed.
    pub close_flushes: bool,
    /// In which order the others go; `None` where a volume's requests go to the drives at once. Only an
    /// experiment says it: the drivers under a file system sort by sector.
    pub elevator: Option<Order>,
    /// What its file systems have and cost.
    pub files: HostFiles,
    engines: EngineFigures,
    /// What keys make of all processor times.
    cpu_percent: u32,
    fitted: Vec<Fitted>,
    pub(super) sheet: Sheet,
}

impl Host {
    /// Whether it runs Linux, as its title says.
    pub fn runs_linux(&self) -> bool {
        self.title.contains("Linux")
    }
}

/// The file-system side of a host.
#[derive(Clone, Debug)]
pub struct HostFiles {
    /// Memory for a file system's own blocks, in bytes.
    pub buffer_bytes: u64,
    /// Memory for file data, in bytes; `None` if data share the buffers.
    pub page_bytes: Option<u64>,
    /// The part of it for pages that were only read, in bytes; `None` for no separate limit.
    pub page_turns_bytes: Option<u64>,
    /// How written data leaves memory.
    pub cleaning: Cleaning,
    /// Read-ahead of a file that is read sequentially, in bytes.
    pub ahead_bytes: u64,
    /// CPU time per operation.
    pub costs: Costs,
    /// CPU time of fsck(8) per inode, in ns.
    pub fsck_inode_ns: Nanos,
    /// CPU time of getc(3) per KiB, in ns.
    pub stdio_read_ns_per_kib: Nanos,
    /// CPU time of putc(3) per KiB, in ns.
    pub stdio_write_ns_per_kib: Nanos,
}

/// How long an instance's limits are saved up while they are not used: as long as those of volumes.
const STORAGE_KEPT_NS: Nanos = 10_000_000;

/// What each memory has to hold at least, in bytes: some of the largest blocks and clusters.
const MEMORY_MIN_BYTES: u64 = 1 << 20;

/// Whether a memory has room for the largest blocks.
fn check_memory(label: &str, key: &str, bytes: u64) -> Result<()> {
    if bytes < MEMORY_MIN_BYTES {
        let message = format!("{bytes} bytes are too few for large blocks; give 1 MiB or more");
        return Err(wrong(label, key, message));
    }
    Ok(())
}

/// How written data leaves memory.
fn cleaning(label: &str, figures: &HostFigures) -> Result<Cleaning> {
    let Some(free_bytes) = figures.page_target_bytes else {
        if figures.buffer_least_bytes.is_some() {
            let message = "has no effect without `page_target`; give that, too, or remove this";
            return Err(wrong(label, "buffer_least", message));
        }
        return Ok(Cleaning::Limit(figures.dirty_limit_bytes.unwrap_or(4 << 20)));
    };
    if figures.dirty_limit_bytes.is_some() {
        let message = "has no effect beside `page_target`, whose page daemon decides when writers \
                       wait; remove one of the two";
        return Err(wrong(label, "dirty_limit", message));
    }
    let Some(page_bytes) = figures.page_cache_bytes else {
        let message = "a page daemon needs pages; give `page_cache`, too";
        return Err(wrong(label, "page_target", message));
    };
    let buffer_bytes = figures.buffer_cache_bytes;
    if page_bytes < buffer_bytes + MEMORY_MIN_BYTES {
        let message = "with `page_target` buffers take their part of it; give at least 1 MiB more \
                       than `buffer_cache`";
        return Err(wrong(label, "page_cache", message));
    }
    let least_buffer_bytes = figures.buffer_least_bytes.unwrap_or(buffer_bytes / 8);
    if least_buffer_bytes > buffer_bytes {
        return Err(wrong(label, "buffer_least", "is more than `buffer_cache`; give less"));
    }
    Ok(Cleaning::PageDaemon(PageDaemon { free_bytes, least_buffer_bytes }))
}

impl HostFiles {
    fn of(label: &str, figures: &HostFigures) -> Result<Self> {
        check_memory(label, "buffer_cache", figures.buffer_cache_bytes)?;
        let cleaning = cleaning(label, figures)?;
        if let Some(bytes) = figures.page_cache_bytes {
            check_memory(label, "page_cache", bytes)?;
        }
        Ok(HostFiles {
            buffer_bytes: figures.buffer_cache_bytes,
            page_bytes: figures.page_cache_bytes,
            page_turns_bytes: figures.page_turns_bytes,
            cleaning,
            ahead_bytes: figures.read_ahead_bytes,
            costs: Costs {
                call_ns: us_as_ns(figures.file_call_us),
                name_ns: us_as_ns(figures.file_name_us),
                block_ns: us_as_ns(figures.file_block_us),
                entry_ns: us_as_ns(figures.file_entry_us),
                read_ns_per_kib: us_as_ns(figures.file_read_us_per_kib),
                write_ns_per_kib: us_as_ns(figures.file_write_us_per_kib),
                request_ns: us_as_ns(figures.file_request_us),
            },
            fsck_inode_ns: us_as_ns(figures.fsck_inode_us),
            stdio_read_ns_per_kib: us_as_ns(figures.stdio_read_us_per_kib),
            stdio_write_ns_per_kib: us_as_ns(figures.stdio_write_us_per_kib),
        })
    }
}

impl Host {
    /// Reads a host from the text of its file.
    pub(super) fn read(name: &str, label: &str, text: &str) -> Result<Self> {
        let sheet = Sheet::read(label, text, &[CLASS])?;
        let figures = HostFigures::read(&sheet);
        let max_transfer_sectors = figures.max_transfer_bytes.map(|bytes| bytes / SECTOR_BYTES);
        let bus_bytes_per_s = figures.bus_mb_per_s.map(|rate| (rate * 1e6) as u64);
        Ok(Host {
            name: name.into(),
            title: sheet.title.clone(),
            digest: sheet.digest.clone(),
            max_transfer_sectors: max_transfer_sectors.map_or(u32::MAX, |sectors| sectors as u32),
            follows_io_opt: figures.max_transfer_follows_io_opt,
            is_max_transfer_said: false,
            physio_concurrency: figures.physio_concurrency.unwrap_or(u32::MAX),
            request_cpu_ns: us_as_ns(figures.request_cpu_us),
            command_cpu_ns: us_as_ns(figures.command_cpu_us),
            volume_request_ns: us_as_ns(figures.volume_request_us),
            volume_stripe_ns: us_as_ns(figures.volume_stripe_us),
            volume_command_ns: us_as_ns(figures.volume_command_us),
            program_request_ns: us_as_ns(figures.program_request_us),
            program_way_ns: 0,
            program_command_ns: us_as_ns(figures.program_command_us),
            scheduler_command_ns: us_as_ns(figures.scheduler_command_us),
            scheduler_locked_ns: us_as_ns(figures.scheduler_locked_us),
            md_rows: figures.md_rows(),
            zero_fill_bytes_per_s: figures.zero_fill_mb_per_s.map(|rate| rate * 1e6),
            buses: figures.buses,
            bus_bytes_per_s: bus_bytes_per_s.unwrap_or(u64::MAX),
            bus_overhead_ns: us_as_ns(figures.bus_overhead_us),
            queue_outstanding: figures.queue_outstanding,
            storage_per_s: [
                figures.storage_iops.map(|iops| iops as u64),
                figures.storage_mb_per_s.map(|rate| (rate * 1e6) as u64),
            ],
            close_flushes: figures.close_flushes,
            elevator: None,
            files: HostFiles::of(label, &figures)?,
            engines: EngineFigures::read(&sheet),
            cpu_percent: 100,
            fitted: sheet.fitted(),
            sheet,
        })
    }

    /// The host as programs use it that send by `engine`; nothing where its file does not say what that takes.
    pub fn sending_by(&self, engine: Engine) -> Option<Self> {
        let (request_us, way_us) = self.engines.of(engine)?;
        // What is less than nothing is an interrupt that drives were measured with, and no processor time of ours: a slower
        // processor does not make a drive answer sooner.
        let percent = if way_us > 0.0 { i64::from(self.cpu_percent) } else { 100 };
        let own_ns = |us: f64| us_as_ns(us) * u64::from(self.cpu_percent) / 100;
        Some(Host {
            program_request_ns: request_us.map_or(self.program_request_ns, own_ns),
            program_way_ns: (way_us * 1e3).round() as i64 * percent / 100,
            ..self.clone()
        })
    }

    /// The host with what the keys of an experiment change of it.
    #[must_use]
    pub fn with(mut self, keys: &HostKeys) -> Self {
        if let Some(sectors) = keys.max_transfer_sectors {
            self.max_transfer_sectors = sectors;
            self.is_max_transfer_said = true;
        }
        if let Some(pieces) = keys.physio_concurrency {
            self.physio_concurrency = pieces;
        }
        self.buses = keys.buses.or(self.buses);
        self.elevator = keys.elevator.map(Order::from);
        self.queue_outstanding = keys.queue_outstanding.or(self.queue_outstanding);
        let [ios, bytes] = self.storage_per_s;
        self.md_rows = self.md_rows.map(|costs| costs.times_percent(keys.cpu_percent));
        for ns in [
            &mut self.program_request_ns,
            &mut self.program_command_ns,
            &mut self.scheduler_command_ns,
            &mut self.scheduler_locked_ns,
        ] {
            *ns = *ns * u64::from(keys.cpu_percent) / 100;
        }
        self.cpu_percent = keys.cpu_percent;
        self.storage_per_s = [keys.storage_iops.or(ios), keys.storage_bytes_per_s.or(bytes)];
        self
    }

    /// Which figures were fitted, and to which published results: those are no predictions.
    pub fn fitted(&self) -> &[Fitted] {
        &self.fitted
    }

    /// What it lets pass to all network volumes together.
    pub fn storage_limits(&self) -> Vec<Limit> {
        let counted = [Counts::Ios, Counts::Bytes].into_iter().zip(self.storage_per_s);
        let limit = |(counts, per_s): (Counts, Option<u64>)| {
            per_s.map(|per_s| Limit {
                counts,
                reads_per_s: per_s,
                writes_per_s: per_s,
                kept_ns: STORAGE_KEPT_NS,
                is_credit: false,
                starts_full: true,
            })
        };
        counted.filter_map(limit).collect()
    }

    /// What the wire to the network volumes carries, in bytes a second: what the host lets pass, where that is said.
    pub fn storage_wire(&self) -> Option<NonZeroU64> {
        self.storage_per_s[1].and_then(NonZeroU64::new)
    }

    /// The time that a program takes to fill `bytes` from /dev/zero, in ns.
    pub fn zero_fill_ns(&self, bytes: u64) -> Nanos {
        self.zero_fill_bytes_per_s.map_or(0, |rate| (bytes as f64 * 1e9 / rate).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use crate::catalogue;
    use crate::workload::Engine;

    /// A way below nothing was scaled, too: SPDK was the faster the slower its processor.
    #[test]
    fn a_slower_processor_makes_no_engine_faster() {
        let with = |cpu_percent: u32, engine| {
            let host = super::Host { cpu_percent, ..catalogue::host("linux-6.1").unwrap() };
            let host = host.sending_by(engine).unwrap();
            (host.program_way_ns, host.program_request_ns)
        };
        for engine in [Engine::Spdk, Engine::IoUringPolled, Engine::IoUringSqpoll, Engine::Libaio] {
            let all = [0, 50, 100, 200, 1000].map(|percent| with(percent, engine));
            assert!(all.is_sorted_by(|a, b| a.0 <= b.0 && a.1 < b.1), "{engine:?}: {all:?}");
        }
        assert_eq!([0, 100, 200].map(|percent| with(percent, Engine::Spdk).0), [-2440; 3]);
        assert_eq!([0, 200].map(|percent| with(percent, Engine::Libaio)), [(0, 0), (5380, 6820)]);
    }
}
