//! One disk as the kernel sees it: its connection, its queues, and what it holds.

use crate::durable::{Cached, Change};
use crate::medium::Medium;
use crate::recording::Recording;
use crate::request::{self, Asked, BlockRequest, Buffer, SERIAL_BYTES, Status};
use crate::vhost::{self, PROTOCOL_FEATURES, Received, Region, Request};
use crate::{Error, Result};
use block::{Op, SECTOR_BYTES};
use sim::Tag;
use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use virtio_queue::{Queue, QueueT as _};
use vm_memory::{Bytes as _, FileOffset, GuestAddress, GuestMemoryMmap};

/// What the kernel is told of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpec {
    /// Its size.
    pub sectors: u64,
    /// Whether it has a write cache, so that the kernel flushes it.
    pub has_write_cache: bool,
    /// Whether sectors can be given back to it, and zeroed by a command.
    pub has_discard: bool,
    /// The sectors that it writes at once: 8 for a disk of 4096-byte sectors.
    pub physical_block_sectors: u32,
}

/// Entries of a queue at most.
const QUEUE_ENTRIES_MAX: u16 = 1024;
/// Queues of a disk at most.
const QUEUES_MAX: usize = 1;
/// Segments of a request, as many as SCSI disks take (`SG_ALL` of ahci is 168).
const SEGMENTS_MAX: u32 = 168;
/// The most that is discarded or zeroed at once.
const RANGE_SECTORS_MAX: u32 = 1 << 22;
/// The bytes of the configuration space.
const CONFIGURATION_BYTES: usize = 64;

/// Features of virtio-blk, by their bits.
mod feature {
    pub(super) const SEGMENTS: u64 = 1 << 2;
    pub(super) const BLOCK_SIZE: u64 = 1 << 6;
    pub(super) const FLUSH: u64 = 1 << 9;
    pub(super) const TOPOLOGY: u64 = 1 << 10;
    pub(super) const DISCARD: u64 = 1 << 13;
    pub(super) const WRITE_ZEROES: u64 = 1 << 14;
    pub(super) const INDIRECT: u64 = 1 << 28;
    pub(super) const PROTOCOL: u64 = 1 << 30;
    pub(super) const VERSION_1: u64 = 1 << 32;
}

/// What a message asks of the machine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Served {
    /// Nothing more.
    Answered,
    /// There is something in a queue. The kernel waits until it is told that it was seen.
    Kicked { queue: usize, answer: Option<u32> },
    /// The kernel has closed the connection.
    Ended,
}

/// A request that was taken out of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) queue: usize,
    pub(crate) head: u16,
    pub(crate) request: BlockRequest,
}

/// One disk.
pub(crate) struct Disk {
    pub(crate) spec: DiskSpec,
    pub(crate) medium: Medium,
    /// What would be left of that without power, where it is going to lose it.
    pub(crate) cached: Option<Cached>,
    number: usize,
    listener: UnixListener,
    connection: Option<UnixStream>,
    back_channel: Option<UnixStream>,
    memory: GuestMemoryMmap,
    queues: Vec<Queue>,
    has_ended: bool,
}

impl Disk {
    /// A disk that waits for the kernel at `socket`.
    pub(crate) fn new(number: usize, spec: DiskSpec, socket: &Path) -> Result<Self> {
        let listener = UnixListener::bind(socket)
            .map_err(|error| Error::from(error).context(socket.display()))?;
        Ok(Disk {
            spec,
            medium: Medium::default(),
            cached: None,
            number,
            listener,
            connection: None,
            back_channel: None,
            memory: GuestMemoryMmap::new(),
            queues: Vec::new(),
            has_ended: false,
        })
    }

    /// What is readable when the kernel has something to say; none where it has gone.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        if self.has_ended {
            return None;
        }
        Some(self.connection.as_ref().map_or(self.listener.as_fd(), |stream| stream.as_fd()))
    }

    /// Takes the connection, or reads one message.
    pub(crate) fn serve(&mut self) -> Result<Served> {
        let served =
            self.serve_one().map_err(|error| error.context(format!("disk {}", self.number)));
        self.has_ended |= matches!(served, Ok(Served::Ended));
        served
    }

    fn serve_one(&mut self) -> Result<Served> {
        let Some(connection) = &mut self.connection else {
            self.connection = Some(self.listener.accept()?.0);
            return Ok(Served::Answered);
        };
        let Some(received) = vhost::receive(connection)? else { return Ok(Served::Ended) };
        let Received { number, request, mut descriptors, needs_reply } = received;
        let answer = match request {
            Request::GetFeatures => Some(self.features().to_le_bytes().to_vec()),
            Request::GetProtocolFeatures => Some(PROTOCOL_FEATURES.to_le_bytes().to_vec()),
            Request::GetConfiguration { offset, bytes, flags } => {
                Some(self.configuration_reply(offset, bytes, flags)?)
            }
            Request::Kick { queue } => {
                let (queue, answer) = (queue as usize, needs_reply.then_some(number));
                return Ok(Served::Kicked { queue, answer });
            }
            Request::SetMemory(regions) => {
                self.map(&regions, descriptors)?;
                None
            }
            Request::SetBackChannel => {
                let channel = descriptors.pop();
                let channel =
                    channel.ok_or_else(|| Error::new("no descriptor came for the channel back"))?;
                self.back_channel = Some(channel.into());
                None
            }
            Request::SetQueueSize { queue, entries } => {
                let entries = u16::try_from(entries).unwrap_or(u16::MAX);
                self.queue(queue)?.try_set_size(entries).map_err(broken)?;
                None
            }
            Request::SetQueueAddresses { queue, descriptors, used, available } => {
                let queue = self.queue(queue)?;
                queue.try_set_desc_table_address(GuestAddress(descriptors)).map_err(broken)?;
                queue.try_set_avail_ring_address(GuestAddress(available)).map_err(broken)?;
                queue.try_set_used_ring_address(GuestAddress(used)).map_err(broken)?;
                queue.set_ready(true);
                None
            }
            Request::SetQueueBase { queue, index } => {
                let queue = self.queue(queue)?;
                queue.set_next_avail(index as u16);
                queue.set_next_used(index as u16);
                None
            }
            Request::SetFeatures(_)
            | Request::SetProtocolFeatures(_)
            | Request::SetOwner
            | Request::EnableQueue { .. }
            | Request::SetConfiguration => None,
        };
        let connection = self.connection.as_mut().expect("it was read from");
        match answer {
            Some(payload) => vhost::reply(connection, number, &payload)?,
            None if needs_reply => vhost::reply(connection, number, &[0; 8])?,
            None => {}
        }
        Ok(Served::Answered)
    }

    /// Tells the kernel that its kick was seen.
    pub(crate) fn answer(&mut self, number: Option<u32>) -> Result<()> {
        match (number, &mut self.connection) {
            (Some(number), Some(connection)) => vhost::reply(connection, number, &[0; 8]),
            _ => Ok(()),
        }
    }

    fn features(&self) -> u64 {
        let flush = if self.spec.has_write_cache { feature::FLUSH } else { 0 };
        let discard =
            if self.spec.has_discard { feature::DISCARD | feature::WRITE_ZEROES } else { 0 };
        feature::VERSION_1
            | feature::PROTOCOL
            | feature::INDIRECT
            | feature::SEGMENTS
            | feature::BLOCK_SIZE
            | feature::TOPOLOGY
            | flush
            | discard
    }

    /// The configuration space (`struct virtio_blk_config`).
    fn configuration(&self) -> [u8; CONFIGURATION_BYTES] {
        let mut space = [0; CONFIGURATION_BYTES];
        let mut put = |at: usize, bytes: &[u8]| space[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.spec.sectors.to_le_bytes());
        put(12, &SEGMENTS_MAX.to_le_bytes());
        put(20, &(SECTOR_BYTES as u32).to_le_bytes());
        put(24, &[self.spec.physical_block_sectors.max(1).ilog2() as u8]);
        put(26, &1_u16.to_le_bytes());
        put(32, &[u8::from(self.spec.has_write_cache)]);
        // Discards: sectors, ranges, alignment; zeroes: sectors, ranges, whether they may unmap.
        put(36, &RANGE_SECTORS_MAX.to_le_bytes());
        put(40, &1_u32.to_le_bytes());
        put(44, &self.spec.physical_block_sectors.max(1).to_le_bytes());
        put(48, &RANGE_SECTORS_MAX.to_le_bytes());
        put(52, &1_u32.to_le_bytes());
        space
    }

    fn configuration_reply(&self, offset: u32, bytes: u32, flags: u32) -> Result<Vec<u8>> {
        let mut space = self.configuration().to_vec();
        let end = offset.checked_add(bytes).filter(|end| *end <= 256);
        let end = end.ok_or_else(|| {
            Error::new(format!("the kernel asked for {bytes} bytes of configuration from {offset}"))
        })?;
        space.resize(end.max(CONFIGURATION_BYTES as u32) as usize, 0);
        let mut payload = Vec::new();
        for word in [offset, bytes, flags] {
            payload.extend(word.to_le_bytes());
        }
        payload.extend(&space[offset as usize..end as usize]);
        Ok(payload)
    }

    fn map(&mut self, regions: &[Region], descriptors: Vec<OwnedFd>) -> Result<()> {
        if regions.len() != descriptors.len() {
            return Err(Error::new(format!(
                "{} regions of memory came with {} descriptors",
                regions.len(),
                descriptors.len()
            )));
        }
        let ranges = regions.iter().zip(descriptors).map(|(region, descriptor)| {
            let file = FileOffset::new(File::from(descriptor), region.file_offset);
            (GuestAddress(region.guest_address), region.bytes as usize, Some(file))
        });
        let ranges: Vec<_> = ranges.collect();
        self.memory = GuestMemoryMmap::from_ranges_with_files(ranges)
            .map_err(|error| Error::new(format!("cannot map the guest's memory: {error}")))?;
        Ok(())
    }

    fn queue(&mut self, queue: u32) -> Result<&mut Queue> {
        let queue = queue as usize;
        if queue >= QUEUES_MAX {
            return Err(Error::new(format!(
                "the kernel uses queue {queue}, and there are {QUEUES_MAX}"
            )));
        }
        while self.queues.len() <= queue {
            self.queues.push(Queue::new(QUEUE_ENTRIES_MAX).map_err(broken)?);
        }
        Ok(&mut self.queues[queue])
    }

    /// Takes all requests out of a queue.
    pub(crate) fn take(&mut self, queue: usize) -> Result<Vec<Taken>> {
        let Disk { memory, queues, spec, .. } = self;
        let of_queue = queues.get_mut(queue);
        let of_queue = of_queue.ok_or_else(|| Error::new(format!("there is no queue {queue}")))?;
        let taken = request::take(memory, of_queue, spec.sectors)?;
        let taken = taken.into_iter().map(|(head, request)| Taken { queue, head, request });
        Ok(taken.collect())
    }

    /// Moves the data of a request that is done, and tells the kernel so in its queue of used requests. Gives
    /// whether the kernel wants to be called. What it changes is noted under its `tag`, in the `recording` if there is one.
    pub(crate) fn finish(
        &mut self,
        taken: &Taken,
        is_good: bool,
        tag: Option<Tag>,
        recording: Option<&mut Recording>,
    ) -> Result<bool> {
        let BlockRequest { asked, data, status } = &taken.request;
        let mut written = 1;
        let mut result = if is_good { Status::Ok } else { Status::Error };
        match *asked {
            Asked::Of { op, sector, sectors } if is_good => {
                written += self.transfer((op, sector, sectors), data, tag, recording)?;
            }
            Asked::Of { .. } => {}
            Asked::Serial => written += self.serial(data)?,
            Asked::Unknown => result = Status::Unsupported,
        }
        self.memory.write_obj(result as u8, GuestAddress(*status)).map_err(broken)?;
        let queue = &mut self.queues[taken.queue];
        queue.add_used(&self.memory, taken.head, written).map_err(broken)?;
        // VRING_AVAIL_F_NO_INTERRUPT: the kernel looks by itself.
        let flags: u16 = self.memory.read_obj(GuestAddress(queue.avail_ring())).map_err(broken)?;
        Ok(flags & 1 == 0)
    }

    /// Moves data; gives the bytes that went into the guest's memory.
    fn transfer(
        &mut self,
        (op, sector, sectors): (Op, u64, u32),
        data: &[Buffer],
        tag: Option<Tag>,
        recording: Option<&mut Recording>,
    ) -> Result<u32> {
        let is_noted = recording.is_some() || self.cached.is_some();
        let (mut pieces, mut at, mut into_guest) = (Vec::new(), sector, 0);
        let mut bytes = Vec::new();
        match op {
            Op::Read | Op::Write { .. } => {
                for buffer in data {
                    bytes.resize(buffer.bytes as usize, 0);
                    let address = GuestAddress(buffer.address);
                    if op == Op::Read {
                        self.medium.read(at, &mut bytes);
                        self.memory.write_slice(&bytes, address).map_err(broken)?;
                        into_guest += buffer.bytes;
                    } else {
                        self.memory.read_slice(&mut bytes, address).map_err(broken)?;
                        self.medium.write(at, &bytes);
                        pieces.extend(is_noted.then(|| (at, Change::Bytes(bytes.clone()))));
                    }
                    at += u64::from(buffer.bytes) / SECTOR_BYTES;
                }
            }
            Op::Discard | Op::Zeroes => {
                self.medium.zero(sector, sectors.into());
                let noted =
                    (is_noted && sectors > 0).then_some((sector, Change::Zeroes(sectors.into())));
                pieces.extend(noted);
            }
            Op::Flush => {}
        }
        if let (Some(tag), false) = (tag, pieces.is_empty()) {
            self.note(tag, pieces, recording);
        }
        Ok(into_guest)
    }

    /// Notes what a command has changed.
    fn note(&mut self, tag: Tag, pieces: Vec<(u64, Change)>, recording: Option<&mut Recording>) {
        if let Some(recording) = recording {
            recording.change(tag, self.number, pieces.clone());
        }
        if let Some(cached) = &mut self.cached {
            cached.change(tag, pieces);
        }
    }

    /// Bytes of memory that its contents take, about.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.medium.kept_bytes() + self.cached.as_ref().map_or(0, Cached::kept_bytes)
    }

    /// Power is cut: what was in the cache alone is lost. Gives the commands that had put it there.
    pub(crate) fn cut(&mut self) -> Vec<Tag> {
        let Some(cached) = &mut self.cached else { return Vec::new() };
        let (lost, left) = cached.cut();
        self.medium = left;
        lost
    }

    fn serial(&self, data: &[Buffer]) -> Result<u32> {
        let mut serial = [0; SERIAL_BYTES];
        let name = format!("ileave-{}", self.number);
        serial[..name.len()].copy_from_slice(name.as_bytes());
        let Some(buffer) = data.first().filter(|buffer| buffer.is_written) else { return Ok(0) };
        let bytes = &serial[..SERIAL_BYTES.min(buffer.bytes as usize)];
        self.memory.write_slice(bytes, GuestAddress(buffer.address)).map_err(broken)?;
        Ok(bytes.len() as u32)
    }

    /// The channel on which the kernel is called.
    pub(crate) fn back_channel(&mut self) -> Result<&mut UnixStream> {
        self.back_channel.as_mut().ok_or_else(|| Error::new("the kernel gave no channel back"))
    }
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::new(format!("the guest's queue or memory: {error}"))
}

#[cfg(test)]
impl Disk {
    /// Where its data and its status go in the memory of [`Disk::with_memory`].
    pub(crate) const DATA: u64 = 0x1_0000;
    pub(crate) const STATUS: u64 = 0x8000;

    /// Gives it a memory and a queue, as a kernel does that asks for no calls.
    pub(crate) fn with_memory(&mut self) {
        self.memory = GuestMemoryMmap::from_ranges(&[(GuestAddress(0), 1 << 17)]).unwrap();
        let queue = self.queue(0).unwrap();
        queue.try_set_size(16).unwrap();
        queue.try_set_desc_table_address(GuestAddress(0x1000)).unwrap();
        queue.try_set_avail_ring_address(GuestAddress(0x2000)).unwrap();
        queue.try_set_used_ring_address(GuestAddress(0x3000)).unwrap();
        queue.set_ready(true);
        self.memory.write_obj(1_u16, GuestAddress(0x2000)).unwrap();
    }

    pub(crate) fn memory(&self) -> &GuestMemoryMmap {
        &self.memory
    }
}
