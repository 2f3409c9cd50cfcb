//! What a flash drive is: its figures, and what follows from them.

use super::place::Placement;
use crate::Nanos;
use std::collections::BTreeMap;
use std::fmt;

/// How a drive was filled before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// Nothing is written, or everything was discarded: a read of what was never written touches no flash,
    /// and all blocks are erased.
    Fresh,
    /// Written from end to end once, in order: neighbours lie on neighbouring units. The reserve is erased.
    Sequential,
    /// Written all over in random order: each page lies on a unit of its own chance. The reserve is erased,
    /// as after a rest.
    #[default]
    Random,
    /// Written at random until the rate stayed the same: no block is erased before it is needed.
    Steady,
}

/// A cache of single-level cells in front of slower ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slc {
    /// What it holds when it is empty, in bytes.
    pub bytes: u64,
    /// Room in it when the run begins, in bytes.
    pub left_bytes: u64,
    /// The rate of writes while it is full, in bytes a second.
    pub full_bytes_per_s: u64,
    /// The rate at which it is emptied: after it was full until it is empty again, and while nothing is
    /// written, in bytes a second.
    pub fold_bytes_per_s: u64,
}

/// A flash drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlashSpec {
    /// Sectors that can be addressed.
    pub sectors: u64,
    /// Commands that it takes at a time; the others wait in front of it.
    pub queue_depth: u32,
    /// The controller's time for each read, one after the other: the reciprocal of the most reads a second.
    pub read_command_ns: Nanos,
    /// The same for each page of a read beyond the first.
    pub read_page_ns: Nanos,
    /// The controller's mean time for each write.
    pub write_command_ns: Nanos,
    /// Sizes in bytes, ascending, and the whole time of a read of that size alone.
    pub read_alone_ns: Vec<(u32, Nanos)>,
    /// The same of a write into an empty buffer.
    pub write_alone_ns: Vec<(u32, Nanos)>,
    /// Units that read at the same time: dies, or planes of them.
    pub units: u32,
    /// A unit's mean time for a page.
    pub unit_read_ns: Nanos,
    /// How much longer the slowest third of the pages takes, and how much shorter the fastest, in percent:
    /// the bits of one cell are read with different numbers of steps.
    pub unit_spread_percent: u32,
    /// What is read from one unit at a time, in bytes.
    pub page_bytes: u32,
    /// The link to the host.
    pub read_bytes_per_s: u64,
    /// The same for data to the drive: what the buffer takes.
    pub write_bytes_per_s: u64,
    /// The link carries one direction at a time, as SATA does.
    pub half_duplex: bool,
    /// The write buffer.
    pub buffer_bytes: u64,
    /// What leaves the buffer at a time: a page on every unit that programs together.
    pub stripe_bytes: u64,
    /// The rate at which flash takes it.
    pub drain_bytes_per_s: u64,
    /// Least time in flash of a write that continues no other: the tables of what lies where change, too.
    pub random_write_ns: Nanos,
    /// More time for each 4096 bytes that a write covers only in part: they are read first.
    pub partial_write_ns: Nanos,
    /// Time from the start of a program until power may go.
    pub program_ns: Nanos,
    /// Twice the mean time that a read waits for a unit that programs.
    pub program_wait_ns: Nanos,
    /// The buffer survives a power cut, so that what it holds counts as durable.
    pub power_loss_protection: bool,
    /// The single-level cache, where there is one.
    pub slc: Option<Slc>,
    /// Blocks beyond those that can be addressed, in bytes.
    pub reserve_bytes: u64,
    /// What garbage collection writes for 100 bytes written at random once no block is erased in advance,
    /// those 100 included.
    pub write_amplification_percent: u32,
    /// How it was filled.
    pub fill: Fill,
}

/// Why figures make no flash drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashError {
    /// A count or a rate is zero.
    Zero(&'static str),
    /// A table of times is empty, or its sizes do not rise.
    Table(&'static str),
    /// Times so long that they cannot be added up.
    TooLong(&'static str),
    /// The buffer does not hold two stripes.
    SmallBuffer,
    /// Garbage collection writes less than what is written.
    Amplification,
    /// The spread of the page times is above 100 %.
    Spread,
}

impl fmt::Display for FlashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlashError::Zero(what) => write!(f, "{what} is 0; give at least 1"),
            FlashError::Table(what) => {
                write!(f, "{what} needs at least one size, and sizes that rise")
            }
            FlashError::TooLong(what) => write!(f, "{what} is above a minute; give less"),
            FlashError::SmallBuffer => f.write_str("the buffer must hold at least two stripes"),
            FlashError::Amplification => f.write_str("write amplification is at least 100 %"),
            FlashError::Spread => f.write_str("the spread of the page times is at most 100 %"),
        }
    }
}

impl std::error::Error for FlashError {}

const MINUTE_NS: Nanos = 60_000_000_000;

impl FlashSpec {
    pub(super) fn check(&self) -> Result<(), FlashError> {
        let counts = [
            ("the capacity", self.sectors),
            ("the queue depth", self.queue_depth.into()),
            ("the number of units", self.units.into()),
            ("the page", self.page_bytes.into()),
            ("the read rate", self.read_bytes_per_s),
            ("the write rate", self.write_bytes_per_s),
            ("the stripe", self.stripe_bytes),
            ("the drain rate", self.drain_bytes_per_s),
            ("the rate beyond the SLC cache", self.slc.map_or(1, |slc| slc.full_bytes_per_s)),
            ("the SLC cache", self.slc.map_or(1, |slc| slc.bytes)),
        ];
        if let Some((what, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(FlashError::Zero(what));
        }
        let tables = [("read_alone", &self.read_alone_ns), ("write_alone", &self.write_alone_ns)];
        for (what, table) in tables {
            if table.is_empty() || !table.windows(2).all(|pair| pair[0].0 < pair[1].0) {
                return Err(FlashError::Table(what));
            }
            if table.iter().any(|&(_, ns)| ns > MINUTE_NS) {
                return Err(FlashError::TooLong(what));
            }
        }
        let times = [
            ("the controller's time", self.read_command_ns.max(self.write_command_ns)),
            ("a unit's time", self.unit_read_ns.max(self.read_page_ns)),
            ("a program", self.program_ns.max(self.program_wait_ns)),
            ("a random write", self.random_write_ns.max(self.partial_write_ns)),
        ];
        if let Some((what, _)) = times.iter().find(|(_, ns)| *ns > MINUTE_NS) {
            return Err(FlashError::TooLong(what));
        }
        if self.buffer_bytes < 2 * self.stripe_bytes {
            return Err(FlashError::SmallBuffer);
        }
        if self.write_amplification_percent < 100 {
            return Err(FlashError::Amplification);
        }
        if self.unit_spread_percent > 100 {
            return Err(FlashError::Spread);
        }
        Ok(())
    }
}

/// The time of `bytes` at `bytes_per_s`.
pub(super) fn moving_ns(bytes: u64, bytes_per_s: u64) -> Nanos {
    (u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_s)) as Nanos
}

/// The time of a command alone, by size.
fn alone_ns(table: &[(u32, Nanos)], bytes: u32) -> Nanos {
    let after = table.partition_point(|&(size, _)| size < bytes);
    let Some(&(high, high_ns)) = table.get(after) else {
        return table.last().expect("the table is not empty").1;
    };
    if after == 0 {
        return high_ns;
    }
    let (low, low_ns) = table[after - 1];
    let (from, whole) = (u64::from(bytes - low), u64::from(high - low));
    (low_ns * (whole - from) + high_ns * from) / whole
}

/// What a command takes besides queues: a fixed delay, and the share of a unit's time that a page of it costs.
/// Computed once for each size.
#[derive(Clone, Debug)]
pub(super) struct Alone {
    table: Vec<(u32, Nanos)>,
    /// The controller's time for a command, and for each page beyond the first.
    command_ns: [Nanos; 2],
    page_bytes: u64,
    bytes_per_s: u64,
    known: BTreeMap<u32, (Nanos, u64)>,
    last: (u32, (Nanos, u64)),
}

/// All of a unit's time.
pub(super) const WHOLE: u64 = 1024;

impl Alone {
    pub(super) fn reads(spec: &FlashSpec) -> Self {
        let command_ns = [spec.read_command_ns, spec.read_page_ns];
        Alone::new(&spec.read_alone_ns, command_ns, spec.read_bytes_per_s, spec.page_bytes)
    }

    pub(super) fn writes(spec: &FlashSpec) -> Self {
        let command_ns = [spec.write_command_ns, 0];
        Alone::new(&spec.write_alone_ns, command_ns, spec.write_bytes_per_s, spec.page_bytes)
    }

    fn new(
        table: &[(u32, Nanos)],
        command_ns: [Nanos; 2],
        bytes_per_s: u64,
        page_bytes: u32,
    ) -> Self {
        Alone {
            table: table.to_vec(),
            command_ns,
            page_bytes: page_bytes.into(),
            bytes_per_s,
            known: BTreeMap::new(),
            last: (0, (0, WHOLE)),
        }
    }

    /// The delay of a command of `bytes`, and the share of a unit's time that each of its pages costs. What the
    /// controller, the `units` and the link do not explain is delay. Where they would take longer than was
    /// measured, the pages of one command are read faster: two planes at a time, or from a register. Beyond the
    /// sizes of the table, delay and share stay as they are, and units and link make the difference.
    pub(super) fn of_size(&mut self, bytes: u32, units: Option<&Placement>) -> (Nanos, u64) {
        if self.last.0 != bytes {
            let found = self.known.get(&bytes).copied();
            let [first, last] = [self.table[0].0, self.table[self.table.len() - 1].0];
            let figures = found.unwrap_or_else(|| self.explain(bytes.clamp(first, last), units));
            self.known.insert(bytes, figures);
            self.last = (bytes, figures);
        }
        self.last.1
    }

    fn explain(&self, bytes: u32, units: Option<&Placement>) -> (Nanos, u64) {
        let [first_ns, further_ns] = self.command_ns;
        let pages = u64::from(bytes).div_ceil(self.page_bytes);
        let command_ns = first_ns + pages.saturating_sub(1) * further_ns;
        let moved_ns = command_ns + moving_ns(bytes.into(), self.bytes_per_s);
        let left_ns = alone_ns(&self.table, bytes).saturating_sub(moved_ns);
        let units_ns = units.map_or(0, |units| units.mean_of_last_ns(bytes));
        match left_ns.checked_sub(units_ns) {
            Some(delay_ns) => (delay_ns, WHOLE),
            None => (0, left_ns * WHOLE / units_ns),
        }
    }
}
