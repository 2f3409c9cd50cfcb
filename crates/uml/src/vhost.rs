//! The vhost-user protocol, as far as the kernel's `virtio_uml` driver speaks it (`arch/um/drivers/vhost_user.h`):
//! a header of 12 bytes, a payload, and file descriptors beside them.

use crate::calendar::is_end;
use crate::{Error, Result};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::io::{IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// The protocol features that the disks have: replies on demand, a channel back, a configuration space, and kicks
/// and calls in the messages themselves, which virtual time needs.
pub const PROTOCOL_FEATURES: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;

/// The version of the protocol, in the flags of every header.
const VERSION: u32 = 1;
const IS_REPLY: u32 = 1 << 2;
const NEEDS_REPLY: u32 = 1 << 3;
/// No message of the kernel's is near this long.
const PAYLOAD_BYTES_MAX: usize = 4096;
/// The regions of memory that a message can hold.
const REGIONS_MAX: usize = 8;

/// What the kernel's driver says to a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Which features has it?
    GetFeatures,
    /// These are used.
    SetFeatures(u64),
    /// This driver owns it now.
    SetOwner,
    /// Where the guest's memory is: a region for each descriptor that came along.
    SetMemory(Vec<Region>),
    /// The entries of a queue.
    SetQueueSize {
        /// Which.
        queue: u32,
        /// How many.
        entries: u32,
    },
    /// Where a queue is in the guest's memory.
    SetQueueAddresses {
        /// Which.
        queue: u32,
        /// The descriptors.
        descriptors: u64,
        /// The ring of what is used.
        used: u64,
        /// The ring of what is available.
        available: u64,
    },
    /// From which entry on a queue is read.
    SetQueueBase {
        /// Which.
        queue: u32,
        /// The entry.
        index: u32,
    },
    /// Which features has the protocol?
    GetProtocolFeatures,
    /// These are used.
    SetProtocolFeatures(u64),
    /// Whether a queue is in use.
    EnableQueue {
        /// Which.
        queue: u32,
        /// Whether.
        on: bool,
    },
    /// The descriptor beside it is the channel back.
    SetBackChannel,
    /// A part of the configuration space.
    GetConfiguration {
        /// From which byte.
        offset: u32,
        /// How many.
        bytes: u32,
        /// What the reply repeats.
        flags: u32,
    },
    /// A write to the configuration space.
    SetConfiguration,
    /// There is something in a queue.
    Kick {
        /// Which.
        queue: u32,
    },
}

/// A part of the guest's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its guest-physical address.
    pub guest_address: u64,
    /// Its size.
    pub bytes: u64,
    /// Where it begins in the file that backs it.
    pub file_offset: u64,
}

/// Reads numbers out of a payload.
struct Payload<'a>(&'a [u8]);

impl Payload<'_> {
    fn u32(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*first))
    }

    fn u64(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }
}

impl Request {
    /// Reads the payload of the message with this number.
    ///
    /// # Errors
    ///
    /// Where there is no such message, or it is too short.
    pub fn parse(number: u32, payload: &[u8]) -> Result<Self> {
        let read = read(number, &mut Payload(payload));
        let read = read.ok_or_else(|| {
            Error::new(format!(
                "the kernel's vhost-user message {number} has only {} bytes",
                payload.len()
            ))
        })?;
        read.ok_or_else(|| {
            Error::new(format!("the kernel sent the unknown vhost-user message {number}"))
        })
    }
}

/// None where the payload is too short, none within where the number is unknown.
#[expect(clippy::option_option, reason = "two things can be missing, and each has its own error")]
fn read(number: u32, payload: &mut Payload<'_>) -> Option<Option<Request>> {
    Some(Some(match number {
        1 => Request::GetFeatures,
        2 => Request::SetFeatures(payload.u64()?),
        3 => Request::SetOwner,
        5 => Request::SetMemory(regions(payload)?),
        8 => Request::SetQueueSize { queue: payload.u32()?, entries: payload.u32()? },
        9 => {
            let (queue, _flags) = (payload.u32()?, payload.u32()?);
            let (descriptors, used, available) = (payload.u64()?, payload.u64()?, payload.u64()?);
            Request::SetQueueAddresses { queue, descriptors, used, available }
        }
        10 => Request::SetQueueBase { queue: payload.u32()?, index: payload.u32()? },
        15 => Request::GetProtocolFeatures,
        16 => Request::SetProtocolFeatures(payload.u64()?),
        18 => Request::EnableQueue { queue: payload.u32()?, on: payload.u32()? != 0 },
        21 => Request::SetBackChannel,
        24 => {
            let (offset, bytes, flags) = (payload.u32()?, payload.u32()?, payload.u32()?);
            Request::GetConfiguration { offset, bytes, flags }
        }
        25 => Request::SetConfiguration,
        35 => Request::Kick { queue: payload.u32()? },
        _ => return Some(None),
    }))
}

fn regions(payload: &mut Payload<'_>) -> Option<Vec<Region>> {
    let (count, _padding) = (payload.u32()? as usize, payload.u32()?);
    if count > REGIONS_MAX {
        return None;
    }
    let mut regions = Vec::with_capacity(count);
    for _ in 0..count {
        let (guest_address, bytes) = (payload.u64()?, payload.u64()?);
        let (_user_address, file_offset) = (payload.u64()?, payload.u64()?);
        regions.push(Region { guest_address, bytes, file_offset });
    }
    Some(regions)
}

/// A message as it came.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) number: u32,
    pub(crate) request: Request,
    pub(crate) descriptors: Vec<OwnedFd>,
    /// Whether the kernel waits for a word that all is well.
    pub(crate) needs_reply: bool,
}

/// Reads one message; none where the kernel has closed the connection.
pub(crate) fn receive(stream: &mut UnixStream) -> Result<Option<Received>> {
    let mut header = [0; 12];
    let Some((first, descriptors)) = receive_first(stream, &mut header)? else { return Ok(None) };
    let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let mut rest = |bytes: &mut [u8]| match stream.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if is_end(error.kind()) => Ok(false),
        Err(error) => Err(Error::from(error)),
    };
    if first < header.len() {
        return Err(Error::new("the kernel sent half of a vhost-user header"));
    }
    let (number, flags, bytes) = (word(0), word(4), word(8) as usize);
    if bytes > PAYLOAD_BYTES_MAX {
        return Err(Error::new(format!(
            "the kernel's vhost-user message {number} claims {bytes} bytes of payload"
        )));
    }
    let mut payload = vec![0; bytes];
    if !rest(&mut payload)? {
        return Ok(None);
    }
    let request = Request::parse(number, &payload)?;
    Ok(Some(Received { number, request, descriptors, needs_reply: flags & NEEDS_REPLY != 0 }))
}

/// Reads the first bytes, beside which descriptors come.
fn receive_first(stream: &UnixStream, header: &mut [u8]) -> Result<Option<(usize, Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(REGIONS_MAX))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut pieces = [IoSliceMut::new(header)];
    let got = match recvmsg(stream, &mut pieces, &mut beside, RecvFlags::CMSG_CLOEXEC) {
        Ok(got) => got.bytes,
        Err(Errno::CONNRESET) => 0,
        Err(error) => return Err(error.into()),
    };
    if got == 0 {
        return Ok(None);
    }
    let descriptors = beside.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    Ok(Some((got, descriptors.flatten().collect())))
}

/// Answers message `number`.
pub(crate) fn reply(stream: &mut UnixStream, number: u32, payload: &[u8]) -> Result<()> {
    send(stream, number, VERSION | IS_REPLY, payload)
}

/// The number of the call back: something is in a queue of used descriptors.
const CALL: u32 = 4;

/// Says on the channel back that something is in a queue; the kernel answers with a message of
/// [`CALL_REPLY_BYTES`].
pub(crate) fn call(stream: &mut UnixStream, queue: u32) -> Result<()> {
    let mut payload = [0; 8];
    payload[..4].copy_from_slice(&queue.to_le_bytes());
    send(stream, CALL, VERSION | NEEDS_REPLY, &payload)
}

/// The bytes of the answer to a call: a header and a number of eight bytes.
pub(crate) const CALL_REPLY_BYTES: usize = 20;

fn send(stream: &mut UnixStream, number: u32, flags: u32, payload: &[u8]) -> Result<()> {
    let mut message = Vec::with_capacity(12 + payload.len());
    for word in [number, flags, payload.len() as u32] {
        message.extend(word.to_le_bytes());
    }
    message.extend(payload);
    match stream.write_all(&message) {
        // The next read sees the end.
        Err(error) if is_end(error.kind()) => Ok(()),
        sent => Ok(sent?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_from_their_payloads() {
        let words =
            |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let kick = Request::parse(35, &words(&[2, 0])).unwrap();
        assert_eq!(kick, Request::Kick { queue: 2 });
        let mut table = words(&[1, 0]);
        table.extend(
            [0x1000_u64, 0x2000, 0x3000, 0x4000].iter().flat_map(|word| word.to_le_bytes()),
        );
        let region = Region { guest_address: 0x1000, bytes: 0x2000, file_offset: 0x4000 };
        assert_eq!(Request::parse(5, &table).unwrap(), Request::SetMemory(vec![region]));
        let said =
            |number, payload: &[u8]| Request::parse(number, payload).unwrap_err().to_string();
        assert!(said(35, &[1]).contains("35 has only 1 bytes"));
        assert!(said(77, &[]).contains("unknown vhost-user message 77"));
        // More regions than a message can hold.
        assert!(said(5, &words(&[9, 0])).contains("only 8 bytes"));
    }

    #[test]
    fn a_message_comes_whole_or_not_at_all() {
        let (mut ours, mut kernel) = UnixStream::pair().unwrap();
        send(&mut kernel, 3, VERSION | NEEDS_REPLY, &[]).unwrap();
        let received = receive(&mut ours).unwrap().unwrap();
        assert_eq!((received.request, received.needs_reply), (Request::SetOwner, true));
        kernel.write_all(&[35, 0, 0, 0, 1, 0, 0, 0, 255, 255, 0, 0]).unwrap();
        let said = receive(&mut ours).unwrap_err().to_string();
        assert!(said.contains("claims 65535 bytes"), "{said}");
        drop(kernel);
        assert!(receive(&mut ours).unwrap().is_none());
    }
}
