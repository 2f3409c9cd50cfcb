//! What a descriptor chain of virtio-blk asks for (`include/uapi/linux/virtio_blk.h`): a header of 16 bytes, data, and a
//! byte for the status.

use crate::{Error, Result};
use block::{Op, SECTOR_BYTES};
use virtio_queue::desc::split::Descriptor;
use virtio_queue::{Queue, QueueOwnedT as _, QueueT as _};
use vm_memory::{Bytes as _, GuestAddress, GuestMemory as _, GuestMemoryMmap, Permissions};

/// A part of the guest's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its guest-physical address.
    pub address: u64,
    /// Its size.
    pub bytes: u32,
    /// Whether the disk writes to it.
    pub is_written: bool,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Something that a drive does.
    Of {
        /// What.
        op: Op,
        /// The first sector.
        sector: u64,
        /// How many.
        sectors: u32,
    },
    /// The disk's serial number.
    Serial,
    /// Something that this disk has not offered.
    Unknown,
}

impl Asked {
    /// How many sectors of the disk.
    pub fn sectors(&self) -> u32 {
        match *self {
            Asked::Of { sectors, .. } => sectors,
            Asked::Serial | Asked::Unknown => 0,
        }
    }
}

/// A request with its place in the guest's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRequest {
    /// What is asked for.
    pub asked: Asked,
    /// Where data is or goes.
    pub data: Vec<Buffer>,
    /// Where the status goes.
    pub status: u64,
}

/// The status of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// An error of the medium or the drive.
    Error = 1,
    /// Not offered.
    Unsupported = 2,
}

/// The bytes of a header, of a range to be discarded or zeroed, and of a serial number.
const HEADER_BYTES: u32 = 16;
const RANGE_BYTES: u64 = 16;
/// The bytes of a serial number.
pub const SERIAL_BYTES: usize = 20;

impl BlockRequest {
    /// Reads the request that `chain` is, to a disk of `sectors`.
    ///
    /// # Errors
    ///
    /// Where the chain is no request, or lies outside the disk or the guest's memory: the kernel's driver does not do
    /// that.
    pub fn read(memory: &GuestMemoryMmap, chain: &[Buffer], disk_sectors: u64) -> Result<Self> {
        let [header, data @ .., status] = chain else {
            return Err(Error::new(format!(
                "the kernel sent a request of {} buffers",
                chain.len()
            )));
        };
        let is_request = header.bytes == HEADER_BYTES && !header.is_written;
        if !is_request || status.bytes != 1 || !status.is_written {
            return Err(Error::new(format!(
                "the kernel sent a request without head or end: {chain:?}"
            )));
        }
        for buffer in chain {
            // One of no bytes would be anywhere.
            let is_inside = buffer.bytes > 0
                && memory.check_range(
                    GuestAddress(buffer.address),
                    buffer.bytes as usize,
                    Permissions::ReadWrite,
                );
            if !is_inside {
                return Err(Error::new(format!(
                    "the kernel sent a buffer outside the memory that it has exported: {} bytes at {:#x}",
                    buffer.bytes, buffer.address
                )));
            }
        }
        let mut head = [0; HEADER_BYTES as usize];
        read(memory, header.address, &mut head)?;
        let kind = u32::from_le_bytes(head[..4].try_into().expect("four bytes"));
        let sector = u64::from_le_bytes(head[8..].try_into().expect("eight bytes"));
        let asked = match kind {
            0 => transfer(Op::Read, sector, data)?,
            1 => transfer(Op::WRITE, sector, data)?,
            4 => Asked::Of { op: Op::Flush, sector: 0, sectors: 0 },
            8 => Asked::Serial,
            11 => range(memory, Op::Discard, data)?,
            13 => range(memory, Op::Zeroes, data)?,
            _ => Asked::Unknown,
        };
        if let Asked::Of { sector, sectors, .. } = asked
            && sector.checked_add(sectors.into()).is_none_or(|end| end > disk_sectors)
        {
            return Err(Error::new(format!(
                "the kernel asked for {sectors} sectors from {sector}, of a disk of {disk_sectors}"
            )));
        }
        Ok(BlockRequest { asked, data: data.to_vec(), status: status.address })
    }

    /// Whether it changes what sectors hold.
    pub fn changes(&self) -> bool {
        matches!(self.asked, Asked::Of { op, sectors: 1.., .. } if op.modifies())
    }
}

/// Takes all requests out of a queue of a disk of `sectors`, each with the number of its first descriptor.
///
/// # Errors
///
/// Where the queue is none, or holds a chain that is no request.
pub fn take(
    memory: &GuestMemoryMmap,
    queue: &mut Queue,
    sectors: u64,
) -> Result<Vec<(u16, BlockRequest)>> {
    let mut taken = Vec::new();
    for chain in queue.iter(memory).map_err(broken)? {
        let head = chain.head_index();
        let buffer = |descriptor: Descriptor| Buffer {
            address: descriptor.addr().0,
            bytes: descriptor.len(),
            is_written: descriptor.is_write_only(),
        };
        let buffers: Vec<Buffer> = chain.map(buffer).collect();
        taken.push((head, BlockRequest::read(memory, &buffers, sectors)?));
    }
    Ok(taken)
}

/// The entries of the queue of [`in_memory`], and where its parts are.
const ENTRIES: u16 = 16;
const DESCRIPTORS: u64 = 0;
const AVAILABLE: u64 = 0x100;
const USED: u64 = 0x200;

/// The requests in a guest's memory that holds these bytes and then zeroes, 64 KiB in all, whose first 512 are a queue of 16
/// entries: the descriptors, and from byte 256 on what is available. It is for tests, and takes any bytes.
///
/// # Errors
///
/// As [`take`].
pub fn in_memory(bytes: &[u8], sectors: u64) -> Result<Vec<(u16, BlockRequest)>> {
    let memory = GuestMemoryMmap::from_ranges(&[(GuestAddress(0), IN_MEMORY_BYTES)]);
    let memory = memory.map_err(|error| broken(format!("{error:?}")))?;
    let bytes = &bytes[..bytes.len().min(IN_MEMORY_BYTES)];
    memory.write_slice(bytes, GuestAddress(0)).map_err(broken)?;
    let mut queue = Queue::new(ENTRIES).map_err(broken)?;
    queue.try_set_desc_table_address(GuestAddress(DESCRIPTORS)).map_err(broken)?;
    queue.try_set_avail_ring_address(GuestAddress(AVAILABLE)).map_err(broken)?;
    queue.try_set_used_ring_address(GuestAddress(USED)).map_err(broken)?;
    queue.set_ready(true);
    take(&memory, &mut queue, sectors)
}

/// The bytes of the memory of [`in_memory`].
pub const IN_MEMORY_BYTES: usize = 1 << 16;

fn broken(error: impl std::fmt::Display) -> Error {
    Error::new(format!("the guest's queue or memory: {error}"))
}

/// A read or write of as many sectors as there are in `data`.
fn transfer(op: Op, sector: u64, data: &[Buffer]) -> Result<Asked> {
    let bytes: u64 = data.iter().map(|buffer| u64::from(buffer.bytes)).sum();
    let is_into_guest = op == Op::Read;
    let is_whole = |buffer: &Buffer| u64::from(buffer.bytes).is_multiple_of(SECTOR_BYTES);
    let alike = data.iter().all(|buffer| buffer.is_written == is_into_guest && is_whole(buffer));
    let sectors = u32::try_from(bytes / SECTOR_BYTES).unwrap_or(0);
    if !alike || sectors == 0 {
        return Err(Error::new(format!("the kernel sent a {op:?} of {bytes} bytes in {data:?}")));
    }
    Ok(Asked::Of { op, sector, sectors })
}

/// A discard, or zeroes: one range, in the data.
fn range(memory: &GuestMemoryMmap, op: Op, data: &[Buffer]) -> Result<Asked> {
    let [at] = data else {
        return Err(Error::new(format!("the kernel sent a {op:?} of {} ranges", data.len())));
    };
    if u64::from(at.bytes) != RANGE_BYTES || at.is_written {
        return Err(Error::new(format!("the kernel sent a {op:?} of {} bytes", at.bytes)));
    }
    let mut bytes = [0; RANGE_BYTES as usize];
    read(memory, at.address, &mut bytes)?;
    let sector = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    let sectors = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
    Ok(Asked::Of { op, sector, sectors })
}

fn read(memory: &GuestMemoryMmap, address: u64, into: &mut [u8]) -> Result<()> {
    memory
        .read_slice(into, GuestAddress(address))
        .map_err(|error| Error::new(format!("the guest's memory at {address:#x}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> GuestMemoryMmap {
        GuestMemoryMmap::from_ranges(&[(GuestAddress(0), 1 << 16)]).unwrap()
    }

    fn header(memory: &GuestMemoryMmap, kind: u32, sector: u64) -> Buffer {
        memory.write_slice(&kind.to_le_bytes(), GuestAddress(0)).unwrap();
        memory.write_slice(&sector.to_le_bytes(), GuestAddress(8)).unwrap();
        Buffer { address: 0, bytes: 16, is_written: false }
    }

    const STATUS: Buffer = Buffer { address: 100, bytes: 1, is_written: true };

    fn data(bytes: u32, is_written: bool) -> Buffer {
        Buffer { address: 4096, bytes, is_written }
    }

    #[test]
    fn a_read_is_as_long_as_its_buffers() {
        let memory = memory();
        let chain = [header(&memory, 0, 7), data(4096, true), data(512, true), STATUS];
        let request = BlockRequest::read(&memory, &chain, 16).unwrap();
        assert_eq!(request.asked, Asked::Of { op: Op::Read, sector: 7, sectors: 9 });
        assert_eq!((request.data.len(), request.status), (2, 100));
        let said = BlockRequest::read(&memory, &chain, 15).unwrap_err().to_string();
        assert!(said.contains("9 sectors from 7, of a disk of 15"), "{said}");
    }

    #[test]
    fn what_the_driver_never_sends_is_an_error() {
        let memory = memory();
        let said =
            |chain: &[Buffer]| BlockRequest::read(&memory, chain, 64).unwrap_err().to_string();
        let head = header(&memory, 1, 0);
        assert!(said(&[head]).contains("1 buffers"));
        assert!(said(&[head, data(4096, false)]).contains("without head or end"));
        assert!(said(&[head, data(4096, true), STATUS]).contains("Write"));
        assert!(said(&[head, data(100, false), STATUS]).contains("100 bytes"));
        assert!(said(&[head, STATUS]).contains("0 bytes"));
        let outside = Buffer { address: 1 << 16, bytes: 512, is_written: false };
        assert!(said(&[head, outside, STATUS]).contains("outside the memory"));
        let nowhere = Buffer { address: 1 << 44, bytes: 0, is_written: false };
        assert!(said(&[head, nowhere, data(512, false), STATUS]).contains("0 bytes at 0x1"));
        let past = Buffer { address: u64::MAX - 100, bytes: 512, is_written: false };
        assert!(said(&[head, past, STATUS]).contains("outside the memory"));
    }

    #[test]
    fn ranges_are_in_the_data() {
        let memory = memory();
        for (kind, op) in [(11, Op::Discard), (13, Op::Zeroes)] {
            let head = header(&memory, kind, 0);
            memory.write_slice(&40_u64.to_le_bytes(), GuestAddress(4096)).unwrap();
            memory.write_slice(&8_u32.to_le_bytes(), GuestAddress(4104)).unwrap();
            let request =
                BlockRequest::read(&memory, &[head, data(16, false), STATUS], 64).unwrap();
            assert_eq!(request.asked, Asked::Of { op, sector: 40, sectors: 8 });
        }
        let flush = BlockRequest::read(&memory, &[header(&memory, 4, 0), STATUS], 64).unwrap();
        assert_eq!(flush.asked, Asked::Of { op: Op::Flush, sector: 0, sectors: 0 });
        let other = BlockRequest::read(&memory, &[header(&memory, 99, 0), STATUS], 64).unwrap();
        assert_eq!(other.asked, Asked::Unknown);
    }
}
