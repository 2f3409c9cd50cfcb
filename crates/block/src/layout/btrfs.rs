//! btrfs: chunks of the address space, each laid out over the devices that had the most free space.
//!
//! RAID 1 on devices of 256, 400 and 700 MiB, as `mkfs.btrfs -d raid1 -m raid1` and then the kernel,
//! as data comes, make its chunks:
//!
//! ```text
//! made by      logical address   for               devices         from byte
//! mkfs.btrfs    22020096         8 MiB of system   1, 2            1 MiB each
//! mkfs.btrfs    30408704         metadata          1, 2            9 MiB each
//! mkfs.btrfs   101449728         data              1, 2            76.75 MiB each
//! the kernel   172490752         144 MiB of data   2, 1            144.5 MiB each
//! the kernel   323485696         144 MiB of data   2, 0            288.5 MiB, 1 MiB
//! ```
//!
//! Within a chunk the stripe length is always 64 KiB, and the stripes go round the devices in the order
//! in which the chunk lists them. The volume is the data chunks, one after another. Metadata belongs to
//! btrfs itself and gets only the chunks that mkfs makes. `allocator.rs` decides how large chunks are
//! and where they go.

mod allocator;

use super::{
    Code, Concat, Layout, LayoutError, Mirrors, Pairing, Parity, Part, Rotation, Segments, Stripe,
    WriteRule,
};
use crate::SECTOR_BYTES;
use allocator::Allocator;

/// How btrfs stores the content of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// One copy, on one device.
    Single,
    /// Two copies, on one device.
    Dup,
    /// One copy, striped over all devices.
    Raid0,
    /// On two devices.
    Raid1,
    /// On three devices.
    Raid1c3,
    /// On four devices.
    Raid1c4,
    /// Striped over pairs of devices.
    Raid10,
    /// Rows under one parity.
    Raid5,
    /// Rows under two parities.
    Raid6,
}

/// A profile in numbers, as `btrfs_raid_array` of the kernel has them.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// How many stripes of a chunk each device has.
    device_stripes: u64,
    /// The most devices in a chunk; 0 for all.
    devices_max: usize,
    devices_min: usize,
    /// The number of devices is a multiple of this.
    devices_step: usize,
    copies: u64,
    parities: u64,
}

impl Profile {
    /// All of them.
    pub const ALL: [Profile; 9] = [
        Profile::Single,
        Profile::Dup,
        Profile::Raid0,
        Profile::Raid1,
        Profile::Raid1c3,
        Profile::Raid1c4,
        Profile::Raid10,
        Profile::Raid5,
        Profile::Raid6,
    ];

    /// The profile by btrfs's name for it.
    pub fn named(name: &str) -> Option<Profile> {
        Self::ALL.into_iter().find(|profile| profile.name().eq_ignore_ascii_case(name))
    }

    /// btrfs's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Single => "single",
            Profile::Dup => "dup",
            Profile::Raid0 => "raid0",
            Profile::Raid1 => "raid1",
            Profile::Raid1c3 => "raid1c3",
            Profile::Raid1c4 => "raid1c4",
            Profile::Raid10 => "raid10",
            Profile::Raid5 => "raid5",
            Profile::Raid6 => "raid6",
        }
    }

    #[rustfmt::skip]
    fn shape(self) -> Shape {
        let (device_stripes, devices_max, devices_min, devices_step, copies, parities) = match self {
            Profile::Single =>  (1, 1, 1, 1, 1, 0),
            Profile::Dup =>     (2, 1, 1, 1, 2, 0),
            Profile::Raid0 =>   (1, 0, 1, 1, 1, 0),
            Profile::Raid1 =>   (1, 2, 2, 2, 2, 0),
            Profile::Raid1c3 => (1, 3, 3, 3, 3, 0),
            Profile::Raid1c4 => (1, 4, 4, 4, 4, 0),
            Profile::Raid10 =>  (1, 0, 2, 2, 2, 0),
            Profile::Raid5 =>   (1, 0, 2, 1, 1, 1),
            Profile::Raid6 =>   (1, 0, 3, 1, 1, 2),
        };
        Shape { device_stripes, devices_max, devices_min, devices_step, copies, parities }
    }

    /// The profile of metadata beside data of this profile on so many devices: what people are told to take, and what is said
    /// here alone. What is there once has metadata twice, as mkfs.btrfs does by itself (DUP on one device, else RAID 1). Parity
    /// has copies that survive as many devices, as btrfs's documentation has it: beside RAID 6, mkfs's own RAID 1 makes it warn
    /// of "lower redundancy". Copies of data have as many of metadata.
    #[must_use]
    pub fn of_metadata(self, devices: usize) -> Profile {
        match self {
            Profile::Single | Profile::Raid0 if devices == 1 => Profile::Dup,
            Profile::Single | Profile::Raid0 | Profile::Raid5 => Profile::Raid1,
            Profile::Raid6 => Profile::Raid1c3,
            copies => copies,
        }
    }

    /// The fewest devices it takes.
    pub fn devices_min(self) -> usize {
        self.shape().devices_min
    }

    /// How many devices, whichever they are, may fail without losing data.
    pub fn losses_survived(self) -> usize {
        match self {
            Profile::Dup => 0,
            _ => (self.shape().copies - 1 + self.shape().parities) as usize,
        }
    }

    /// Whether a chunk is striped over its devices.
    pub fn is_striped(self) -> bool {
        matches!(self, Profile::Raid0 | Profile::Raid10 | Profile::Raid5 | Profile::Raid6)
    }

    /// The smallest device that mkfs.btrfs takes, however many there are.
    pub fn device_sectors_min(self) -> u64 {
        let metadata = self.of_metadata(self.devices_min());
        allocator::device_bytes_min(self, metadata, STRIPE_BYTES).div_ceil(SECTOR_BYTES)
    }

    /// The layout of a chunk with stripes of this many sectors; `stripes` counts those of all devices.
    fn lay_out(
        self,
        stripes: usize,
        sectors: u64,
        unit_sectors: u64,
    ) -> Result<Box<dyn Layout>, LayoutError> {
        let equal = vec![sectors; stripes];
        let rows = |code| {
            Parity::new(code, Rotation::Btrfs, WriteRule::FewestRequests, unit_sectors, &equal)
        };
        Ok(match self {
            Profile::Single => Box::new(Concat::new(&equal[..1])?),
            Profile::Dup | Profile::Raid1 | Profile::Raid1c3 | Profile::Raid1c4 => {
                let one = Concat::new(&equal[..1])?;
                Box::new(Mirrors::new(one, stripes as u32, Pairing::Neighbours)?)
            }
            Profile::Raid0 => Box::new(Stripe::new(unit_sectors, &equal)?),
            Profile::Raid10 => {
                let stripe = Stripe::new(unit_sectors, &equal[..stripes / 2])?;
                Box::new(Mirrors::new(stripe, 2, Pairing::Neighbours)?)
            }
            Profile::Raid5 => Box::new(rows(Code::P)?),
            Profile::Raid6 => Box::new(rows(Code::PQ)?),
        })
    }
}

/// How much of a stripe is on one device before it goes on with the next.
const STRIPE_BYTES: u64 = 64 << 10;
/// The interleave of every profile that has one, in sectors.
pub const INTERLEAVE_SECTORS: u64 = STRIPE_BYTES / SECTOR_BYTES;
/// A limit on the memory that stripes take; 20 devices of 20 TB have a tenth as many.
const STRIPES_MAX: usize = 1 << 22;

/// A chunk of btrfs's address space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its logical address.
    pub logical_bytes: u64,
    /// How much it holds.
    pub length_bytes: u64,
    /// Its stripes: a device, counted from 0, and the byte that the stripe starts at.
    pub stripes: Vec<(u32, u64)>,
}

/// The chunks of a btrfs file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunks {
    /// Those of the system and of metadata, as mkfs.btrfs leaves them.
    pub own: Vec<Chunk>,
    /// Those of data, in the order of their addresses.
    pub data: Vec<Chunk>,
}

impl Chunks {
    /// The chunks that btrfs makes on blank devices as they fill with data.
    ///
    /// # Errors
    ///
    /// Where mkfs.btrfs would refuse the devices, or there are more chunks than can be kept.
    pub fn of_blank(profile: Profile, device_sectors: &[u64]) -> Result<Chunks, LayoutError> {
        Self::of_blank_beside(profile, profile.of_metadata(device_sectors.len()), device_sectors)
    }

    /// The same where somebody has given mkfs.btrfs another profile of `metadata`.
    ///
    /// # Errors
    ///
    /// As for [`of_blank`](Self::of_blank).
    pub fn of_blank_beside(
        profile: Profile,
        metadata: Profile,
        device_sectors: &[u64],
    ) -> Result<Chunks, LayoutError> {
        Self::allocated(profile, metadata, device_sectors, STRIPE_BYTES)
    }

    /// The same, with all of btrfs's sizes scaled to another stripe length.
    pub(super) fn allocated(
        profile: Profile,
        metadata: Profile,
        device_sectors: &[u64],
        stripe_bytes: u64,
    ) -> Result<Chunks, LayoutError> {
        super::check_members(device_sectors)?;
        let least_bytes = allocator::device_bytes_min(profile, metadata, stripe_bytes);
        let least_sectors = least_bytes.div_ceil(SECTOR_BYTES);
        let small = device_sectors.iter().position(|&sectors| sectors < least_sectors);
        if let Some(member) = small {
            let sectors = device_sectors[member];
            return Err(LayoutError::MemberBelowLeast { member, sectors, least_sectors });
        }
        let (needed, given) = (profile.devices_min(), device_sectors.len());
        if given < needed {
            return Err(LayoutError::TooFewMembers { needed, given });
        }
        let devices = device_sectors.iter().map(|sectors| sectors * SECTOR_BYTES);
        let mut allocator = Allocator::new(devices, stripe_bytes);
        let mut chunks = allocator.make_file_system(profile, metadata);
        let mut stripes = 0;
        while let Some(chunk) = allocator.add_data(profile) {
            stripes += chunk.stripes.len();
            if stripes > STRIPES_MAX {
                return Err(LayoutError::TooManyChunks);
            }
            chunks.data.push(chunk);
        }
        Ok(chunks)
    }
}

/// Data chunks over `members` devices, one after another.
///
/// # Errors
///
/// Where a chunk does not fit its profile, reaches beyond 64 bits, or overlaps another.
pub fn lay_out(
    profile: Profile,
    chunks: &[Chunk],
    members: usize,
) -> Result<Segments, LayoutError> {
    lay_out_by(profile, chunks, members, INTERLEAVE_SECTORS)
}

pub(super) fn lay_out_by(
    profile: Profile,
    chunks: &[Chunk],
    members: usize,
    unit_sectors: u64,
) -> Result<Segments, LayoutError> {
    let shape = profile.shape();
    let segment = |chunk: &Chunk| {
        let stripes = chunk.stripes.len();
        let needed = shape.devices_min * shape.device_stripes as usize;
        if stripes < needed {
            return Err(LayoutError::TooFewMembers { needed, given: stripes });
        }
        if !stripes.is_multiple_of(shape.copies as usize) {
            let copies = shape.copies as u32;
            return Err(LayoutError::UnevenCopies { copies, given: stripes });
        }
        let data_stripes = (stripes as u64 - shape.parities) / shape.copies;
        let sectors = chunk.length_bytes / data_stripes / SECTOR_BYTES;
        let part = |&(member, byte): &(u32, u64)| Part {
            member,
            start_sector: byte / SECTOR_BYTES,
            sectors,
        };
        let layout = profile.lay_out(stripes, sectors, unit_sectors)?;
        Ok((layout, chunk.stripes.iter().map(part).collect()))
    };
    Segments::new(members, chunks.iter().map(segment).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests;
