//! How large chunks are, and on which devices: mkfs.btrfs's rule, and then the kernel's.
//!
//! ```text
//!                     mkfs.btrfs (6.2)                     the kernel (6.1)
//! devices             from the last one on that was added  by their largest hole, then by free space
//! largest chunk       16 MiB system, 256 MiB metadata,     10 GiB of data
//!                     10 GiB data
//! never more than     a tenth of the file system, for all  a tenth of the file system, for its data,
//!                     its stripes                          but whole 16 MiB of each stripe
//! a stripe            8 MiB; 32 MiB to 256 MiB;            up to 1 GiB, or what the smallest hole has
//!                     64 MiB to 1 GiB
//! ```
//!
//! Before that, mkfs.btrfs makes a small file system on the first device: 4 MiB of system from 1 MiB
//! on, 8 MiB of metadata, 8 MiB of data. It later frees what the requested profiles do not use.
//!
//! Sources: btrfs-progs `kernel-shared/volumes.c` (`btrfs_alloc_chunk`) and `mkfs/main.c`; Linux
//! `fs/btrfs/volumes.c` (`gather_device_info`, `decide_stripe_size_regular`) and `lib/sort.c`, whose
//! heapsort orders devices with equal room.

use super::{Chunk, Chunks, Profile, Shape};
use std::cmp::Ordering;

/// The most stripes that a chunk item can describe, in nodes of 16 KiB.
const CHUNK_STRIPES_MAX: usize = 506;
/// The most that the superblock's copy of a system chunk can describe.
const SYSTEM_STRIPES_MAX: usize = 58;

/// Sizes of btrfs's in bytes, which scale with the length of a stripe.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    stripe: u64,
}

impl Sizes {
    fn mib(self, count: u64) -> u64 {
        count * 16 * self.stripe
    }

    fn gib(self, count: u64) -> u64 {
        self.mib(count * 1024)
    }

    fn whole_stripes(self, bytes: u64) -> u64 {
        bytes / self.stripe * self.stripe
    }
}

/// The smallest device that mkfs.btrfs takes.
pub(super) fn device_bytes_min(data: Profile, metadata: Profile, stripe_bytes: u64) -> u64 {
    let sizes = Sizes { stripe: stripe_bytes };
    let of = |profile: Profile, mib: u64| match profile {
        Profile::Single => 0,
        _ => profile.shape().device_stripes * sizes.mib(mib),
    };
    // The small file system on the first device; then 8 of system and 32 of metadata; then data.
    sizes.mib(21) + of(metadata, 40) + of(data, 64)
}

/// A run of free bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hole {
    start: u64,
    bytes: u64,
}

/// A device and its free space.
#[derive(Clone, Debug)]
struct Device {
    bytes: u64,
    /// In ascending order; no two touch.
    holes: Vec<Hole>,
}

impl Device {
    fn free(&self) -> u64 {
        self.holes.iter().map(|hole| hole.bytes).sum()
    }

    /// The first hole of at least this many bytes, or else the largest.
    fn find(&self, bytes: u64) -> Option<Hole> {
        let large = self.holes.iter().find(|hole| hole.bytes >= bytes);
        // The first of equals.
        large.or_else(|| self.holes.iter().rev().max_by_key(|hole| hole.bytes)).copied()
    }

    /// Allocates bytes at the start of a hole.
    fn take(&mut self, start: u64, bytes: u64) {
        let index = self.holes.iter().position(|hole| hole.start == start);
        let index = index.expect("what is taken is the start of a hole");
        let hole = &mut self.holes[index];
        *hole = Hole { start: start + bytes, bytes: hole.bytes - bytes };
        self.holes.retain(|hole| hole.bytes > 0);
    }

    fn give_back(&mut self, start: u64, bytes: u64) {
        self.holes.push(Hole { start, bytes });
        self.holes.sort_unstable_by_key(|hole| hole.start);
        self.holes.dedup_by(|next, hole| {
            let touches = hole.start + hole.bytes == next.start;
            hole.bytes += if touches { next.bytes } else { 0 };
            touches
        });
    }
}

/// The parameters of mkfs.btrfs for one kind of chunk.
#[derive(Clone, Copy, Debug)]
struct Limits {
    stripe: u64,
    stripe_min: u64,
    chunk_max: u64,
    stripes_max: usize,
}

/// Devices and the chunks allocated on them.
pub(super) struct Allocator {
    sizes: Sizes,
    devices: Vec<Device>,
    /// mkfs.btrfs's list of devices; the one added or used last is first.
    order: Vec<usize>,
    next_logical: u64,
}

impl Allocator {
    /// Blank devices of these sizes.
    pub(super) fn new(device_bytes: impl Iterator<Item = u64>, stripe_bytes: u64) -> Self {
        let sizes = Sizes { stripe: stripe_bytes };
        let device = |bytes: u64| {
            // Whole blocks of 4 KiB; the first MiB stays free.
            let bytes = bytes / (stripe_bytes / 16) * (stripe_bytes / 16);
            let start = sizes.mib(1);
            Device { bytes, holes: vec![Hole { start, bytes: bytes.saturating_sub(start) }] }
        };
        let devices: Vec<Device> = device_bytes.map(device).collect();
        let order = (0..devices.len()).rev().collect();
        Allocator { sizes, devices, order, next_logical: sizes.mib(1) }
    }

    fn total(&self) -> u64 {
        self.devices.iter().map(|device| device.bytes).sum()
    }

    /// Allocates stripes of `bytes` and makes a chunk of them.
    fn chunk(&mut self, shape: Shape, bytes: u64, stripes: Vec<(u32, u64)>) -> Chunk {
        let data_stripes = (stripes.len() as u64 - shape.parities) / shape.copies;
        let (logical_bytes, length_bytes) = (self.next_logical, data_stripes * bytes);
        self.next_logical += length_bytes;
        Chunk { logical_bytes, length_bytes, stripes }
    }

    /// What mkfs.btrfs does.
    pub(super) fn make_file_system(&mut self, data: Profile, metadata: Profile) -> Chunks {
        let small = [4, 8, 8].map(|mib| {
            let (bytes, start) = (self.sizes.mib(mib), self.next_logical);
            self.devices[0].take(start, bytes);
            self.chunk(Profile::Single.shape(), bytes, vec![(0, start)])
        });
        let mut chunks = Chunks { own: Vec::new(), data: Vec::new() };
        if metadata != Profile::Single {
            chunks.own.extend(self.make(metadata, self.limits_of_system()));
            chunks.own.extend(self.make(metadata, self.limits_of_metadata()));
        }
        if data != Profile::Single {
            chunks.data.extend(self.make(data, self.limits_of_data()));
        }
        let [system, own, first_data] = small;
        let (metadata_stays, data_stays) = (metadata == Profile::Single, data == Profile::Single);
        for (chunk, stays) in
            [(&system, metadata_stays), (&own, metadata_stays), (&first_data, data_stays)]
        {
            if !stays {
                self.devices[0].give_back(chunk.stripes[0].1, chunk.length_bytes);
            }
        }
        if metadata_stays {
            chunks.own.extend([system, own]);
        }
        chunks.data.extend(data_stays.then_some(first_data));
        chunks
    }

    fn limits_of_system(&self) -> Limits {
        let sizes = self.sizes;
        let (stripe, chunk_max) = (sizes.mib(8), sizes.mib(16));
        Limits { stripe, stripe_min: sizes.mib(1), chunk_max, stripes_max: SYSTEM_STRIPES_MAX }
    }

    fn limits_of_metadata(&self) -> Limits {
        let sizes = self.sizes;
        let large = self.total() > sizes.gib(50);
        let chunk_max = if large { sizes.gib(1) } else { sizes.mib(256) };
        let (stripe, stripe_min) = (chunk_max, sizes.mib(32));
        Limits { stripe, stripe_min, chunk_max, stripes_max: CHUNK_STRIPES_MAX }
    }

    fn limits_of_data(&self) -> Limits {
        let sizes = self.sizes;
        let (stripe, stripe_min, chunk_max) = (sizes.gib(1), sizes.mib(64), sizes.gib(10));
        Limits { stripe, stripe_min, chunk_max, stripes_max: CHUNK_STRIPES_MAX }
    }

    /// A chunk by mkfs.btrfs's rule; none where it does not fit.
    fn make(&mut self, profile: Profile, limits: Limits) -> Option<Chunk> {
        let shape = profile.shape();
        let per_device = shape.device_stripes;
        let all = if shape.devices_max == 0 { self.devices.len() } else { shape.devices_max };
        let mut wanted = all.min(limits.stripes_max) / shape.devices_step * shape.devices_step;
        let chunk_max = limits.chunk_max.min(self.total() / 10);
        let (mut bytes, mut reduced) = (limits.stripe, false);
        loop {
            let stripes = wanted as u64 * per_device;
            if bytes * ((stripes - shape.parities) / shape.copies) > chunk_max {
                bytes = self.sizes.whole_stripes(chunk_max / stripes);
            }
            bytes = self.sizes.whole_stripes(bytes.max(limits.stripe_min));
            let fits = |index: &usize| self.devices[*index].free() >= bytes * per_device;
            let chosen: Vec<usize> = self.order.iter().copied().filter(fits).take(wanted).collect();
            if chosen.len() == wanted {
                return Some(self.make_on(shape, bytes, chosen));
            }
            // Retry with the devices that have the room, or else with the size that the others have.
            let others = self.order.iter().filter(|index| !chosen.contains(index));
            let most = others.map(|&index| self.devices[index].free()).max()?;
            let fewer = chosen.len() / shape.devices_step * shape.devices_step;
            if fewer >= shape.devices_min {
                wanted = fewer;
            } else if reduced || most == 0 {
                return None;
            } else {
                bytes = most / per_device;
            }
            reduced = true;
            self.order.retain(|index| !chosen.contains(index));
            self.order.splice(0..0, chosen.into_iter().rev());
        }
    }

    /// A chunk on these devices of mkfs.btrfs's list; the chunk lists them in reverse.
    fn make_on(&mut self, shape: Shape, bytes: u64, mut chosen: Vec<usize>) -> Chunk {
        self.order.retain(|index| !chosen.contains(index));
        self.order.splice(0..0, chosen.iter().copied());
        chosen.reverse();
        let mut stripes = Vec::new();
        for index in chosen {
            for _ in 0..shape.device_stripes {
                let hole = self.devices[index].find(bytes).expect("the device has a hole");
                self.devices[index].take(hole.start, bytes);
                stripes.push((index as u32, hole.start));
            }
        }
        self.chunk(shape, bytes, stripes)
    }

    /// A chunk of data by the kernel's rule; none where it does not fit.
    pub(super) fn add_data(&mut self, profile: Profile) -> Option<Chunk> {
        let (sizes, shape) = (self.sizes, profile.shape());
        let per_device = shape.device_stripes;
        let mut found: Vec<Found> = (0..self.devices.len())
            .filter_map(|index| {
                let device = &self.devices[index];
                let wanted = sizes.gib(1) * per_device;
                let hole = device.find(wanted)?;
                let largest = hole.bytes.min(wanted);
                let (start, free) = (hole.start, device.free());
                let enough = largest >= sizes.stripe * per_device;
                enough.then_some(Found { index, start, largest, free })
            })
            .collect();
        sort(&mut found, Found::compare);
        let mut count =
            found.len().min(CHUNK_STRIPES_MAX) / shape.devices_step * shape.devices_step;
        if count < shape.devices_min {
            return None;
        }
        if shape.devices_max > 0 {
            count = count.min(shape.devices_max);
        }
        let data_stripes = (count as u64 * per_device - shape.parities) / shape.copies;
        let mut bytes = found[count - 1].largest / per_device;
        let chunk_max = sizes.gib(10).min(self.total() / 10);
        if bytes * data_stripes > chunk_max {
            bytes = bytes.min((chunk_max / data_stripes).next_multiple_of(sizes.mib(16)));
        }
        let bytes = sizes.whole_stripes(bytes.min(sizes.gib(1)));
        let mut stripes = Vec::new();
        for Found { index, start, .. } in found.into_iter().take(count) {
            self.devices[index].take(start, bytes * per_device);
            stripes.extend((0..per_device).map(|nth| (index as u32, start + nth * bytes)));
        }
        Some(self.chunk(shape, bytes, stripes))
    }
}

/// The room that the kernel found on a device.
#[derive(Clone, Copy, Debug)]
struct Found {
    index: usize,
    start: u64,
    largest: u64,
    free: u64,
}

impl Found {
    /// The device with more room comes first.
    fn compare(&self, other: &Found) -> Ordering {
        (other.largest, other.free).cmp(&(self.largest, self.free))
    }
}

/// The kernel's heapsort, because it decides the order of equals.
fn sort<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let (mut heap, mut end) = (items.len() / 2, items.len());
    loop {
        if heap > 0 {
            heap -= 1;
        } else if end > 1 {
            end -= 1;
            items.swap(0, end);
        } else {
            return;
        }
        // Sift down along the larger children, then back up to where the item belongs.
        let mut at = heap;
        while 2 * at + 2 < end {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            at = if compare(&items[left], &items[right]).is_ge() { left } else { right };
        }
        if 2 * at + 2 == end {
            at = 2 * at + 1;
        }
        while at != heap && compare(&items[heap], &items[at]).is_ge() {
            at = (at - 1) / 2;
        }
        let place = at;
        while at != heap {
            at = (at - 1) / 2;
            items.swap(at, place);
        }
    }
}
