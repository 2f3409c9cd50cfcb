//! The time-travel protocol (`include/uapi/linux/um_timetravel.h`): the kernel asks for a time at which it wants to
//! run and waits; the calendar says when it may.
//!
//! Each message is 16 bytes, an operation, a sequence number and a time. Questions are answered by one with the same
//! number, and so is a `FreeUntil` that is said to a running kernel. The protocol has all messages acknowledged;
//! `kernel/fewer-messages.patch` leaves that out where nothing waits for it.

use crate::{Error, Result};
use sim::Nanos;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// What the kernel asks for where it wants nothing: the end of its time.
pub const NEVER: Nanos = i64::MAX as Nanos;

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Operation {
    /// The answer to a message; carries the time where that was asked for.
    Ack = 0,
    /// The kernel is there.
    Start = 1,
    /// It wants to run at a time, earlier than it has said with `Wait`.
    Request = 2,
    /// It has nothing to do until a time.
    Wait = 3,
    /// It asks for the time.
    Get = 4,
    /// It tells the time that it has come to by itself.
    Update = 5,
    /// It may run; the time is this.
    Run = 6,
    /// It may run by itself until then.
    FreeUntil = 7,
    /// It asks for the time of day.
    GetTimeOfDay = 8,
}

impl Operation {
    fn of(number: u32) -> Option<Self> {
        use Operation::{Ack, FreeUntil, Get, GetTimeOfDay, Request, Run, Start, Update, Wait};
        let all = [Ack, Start, Request, Wait, Get, Update, Run, FreeUntil, GetTimeOfDay];
        all.into_iter().find(|operation| *operation as u32 == number)
    }
}

/// A message, either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is about.
    pub operation: Operation,
    /// The number that its acknowledgement repeats.
    pub sequence: u32,
    /// A time, where it has one.
    pub time: Nanos,
}

impl Message {
    /// The bytes of a message.
    pub const BYTES: usize = 16;

    /// Reads a message.
    ///
    /// # Errors
    ///
    /// Where its operation is none.
    pub fn parse(bytes: [u8; Self::BYTES]) -> Result<Self> {
        let number =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let time = u64::from_le_bytes(bytes[8..].try_into().expect("eight bytes"));
        let operation = Operation::of(number(0)).ok_or_else(|| {
            Error::new(format!(
                "the kernel's time-travel message has the unknown operation {}",
                number(0)
            ))
        })?;
        Ok(Message { operation, sequence: number(4), time })
    }

    /// Its bytes.
    pub fn bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&(self.operation as u32).to_le_bytes());
        bytes[4..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..].copy_from_slice(&self.time.to_le_bytes());
        bytes
    }
}

/// Whether the kernel is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Alive {
    /// It is.
    Yes,
    /// It has closed its connection.
    Ended,
}

/// The calendar's side of the connection.
#[derive(Debug)]
pub struct Calendar {
    stream: UnixStream,
    /// The time.
    now: Nanos,
    /// When the kernel wants to run, where it waits for that.
    waiting: bool,
    requested: Nanos,
    /// Until when it may run by itself; 0 while it waits.
    promised: Nanos,
    /// The time of day at time 0.
    epoch: Nanos,
    sequence: u32,
}

impl Calendar {
    /// A calendar at time 0, which was `epoch` by the time of day, in ns since 1970.
    pub fn new(stream: UnixStream, epoch: Nanos) -> Self {
        let requested = NEVER;
        Calendar {
            stream,
            now: 0,
            waiting: false,
            requested,
            promised: 0,
            epoch,
            sequence: 1 << 30,
        }
    }

    /// The time.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// When the kernel wants to run, while it has nothing to do before.
    pub fn waits_until(&self) -> Option<Nanos> {
        self.waiting.then_some(self.requested)
    }

    /// Something happens at this time, while the kernel waits.
    pub fn pass_to(&mut self, at: Nanos) {
        debug_assert!(self.waiting, "a running kernel keeps the time");
        self.now = self.now.max(at);
    }

    /// What is readable when the kernel has sent something.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Reads one message, and answers it where it is a question.
    ///
    /// # Errors
    ///
    /// Where the message makes no sense, or time would go back.
    pub fn serve(&mut self) -> Result<Alive> {
        self.receive(None).map(|received| received.0)
    }

    /// Lets the kernel run from what it has requested, by itself until `next`, when something else happens.
    ///
    /// # Errors
    ///
    /// Where it cannot be told.
    pub fn run(&mut self, next: Nanos) -> Result<()> {
        self.pass_to(self.requested);
        self.waiting = false;
        self.promised = next;
        let messages = [(Operation::FreeUntil, next), (Operation::Run, self.now)];
        let bytes = messages.map(|(operation, time)| self.message(operation, time).bytes());
        self.send(bytes.as_flattened())
    }

    /// Something happens earlier than was thought: the kernel may run by itself only until `next`.
    ///
    /// # Errors
    ///
    /// As for [`serve`](Self::serve).
    pub fn shorten(&mut self, next: Nanos) -> Result<Alive> {
        if next >= self.promised {
            return Ok(Alive::Yes);
        }
        self.promised = next;
        let message = self.message(Operation::FreeUntil, next);
        self.send(&message.bytes())?;
        // What follows goes another way: the kernel must know it before.
        loop {
            match self.receive(Some(message.sequence))? {
                (Alive::Ended, _) => return Ok(Alive::Ended),
                (Alive::Yes, true) => return Ok(Alive::Yes),
                (Alive::Yes, false) => {}
            }
        }
    }

    /// The next message to the kernel.
    fn message(&mut self, operation: Operation, time: Nanos) -> Message {
        self.sequence = self.sequence.wrapping_add(1);
        Message { operation, sequence: self.sequence, time }
    }

    /// Reads a message; the second is whether it is the acknowledgement that is `awaited`.
    fn receive(&mut self, awaited: Option<u32>) -> Result<(Alive, bool)> {
        let mut bytes = [0; Message::BYTES];
        match self.stream.read_exact(&mut bytes) {
            Ok(()) => {}
            Err(error) if is_end(error.kind()) => return Ok((Alive::Ended, false)),
            Err(error) => return Err(Error::from(error).context("the kernel's time-travel socket")),
        }
        let message = Message::parse(bytes)?;
        let mut answer = None;
        match message.operation {
            Operation::Ack => return Ok((Alive::Yes, awaited == Some(message.sequence))),
            Operation::Start => answer = Some(0),
            Operation::Request => self.requested = message.time,
            Operation::Wait => {
                self.requested = message.time;
                self.waiting = true;
                self.promised = 0;
            }
            Operation::Get => answer = Some(self.now),
            Operation::GetTimeOfDay => answer = Some(self.epoch.saturating_add(self.now)),
            Operation::Update if message.time >= self.now => self.now = message.time,
            Operation::Update => {
                return Err(Error::new(format!(
                    "the kernel's time went back, from {} ns to {} ns",
                    self.now, message.time
                )));
            }
            Operation::Run | Operation::FreeUntil => {
                return Err(Error::new(format!(
                    "the kernel sent the time-travel operation {:?}, which is the calendar's",
                    message.operation
                )));
            }
        }
        if let Some(time) = answer {
            let operation = Operation::Ack;
            self.send(&Message { operation, sequence: message.sequence, time }.bytes())?;
        }
        Ok((Alive::Yes, false))
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        match self.stream.write_all(bytes) {
            // The next read sees the end.
            Err(error) if is_end(error.kind()) => Ok(()),
            sent => {
                sent.map_err(|error| Error::from(error).context("the kernel's time-travel socket"))
            }
        }
    }
}

/// Whether the other side has gone.
pub(crate) fn is_end(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        for number in 0..9 {
            let operation = Operation::of(number).unwrap();
            assert_eq!(operation as u32, number);
            let message = Message { operation, sequence: 7, time: NEVER };
            assert_eq!(Message::parse(message.bytes()).unwrap(), message);
        }
        let mut bytes = [0; Message::BYTES];
        bytes[0] = 9;
        assert!(Message::parse(bytes).unwrap_err().to_string().contains("unknown operation 9"));
    }

    /// A calendar and a kernel that has said these things to it.
    fn heard(said: &[(Operation, Nanos)]) -> (Calendar, UnixStream) {
        let (ours, mut kernel) = UnixStream::pair().unwrap();
        let mut calendar = Calendar::new(ours, 1_000);
        for &(operation, time) in said {
            kernel.write_all(&Message { operation, sequence: 1, time }.bytes()).unwrap();
            assert_eq!(calendar.serve().unwrap(), Alive::Yes);
        }
        (calendar, kernel)
    }

    /// What the calendar says until it is silent.
    fn said(kernel: &mut UnixStream) -> Vec<(Operation, Nanos)> {
        kernel.set_nonblocking(true).unwrap();
        let mut bytes = Vec::new();
        let silent = kernel.read_to_end(&mut bytes).unwrap_err();
        assert_eq!(silent.kind(), ErrorKind::WouldBlock);
        let (messages, rest) = bytes.as_chunks::<{ Message::BYTES }>();
        assert!(rest.is_empty());
        let message = |bytes: &[u8; Message::BYTES]| Message::parse(*bytes).unwrap();
        messages.iter().map(message).map(|of| (of.operation, of.time)).collect()
    }

    /// A kernel that waits, wants to run earlier after all, and is let run.
    #[test]
    fn a_kernel_runs_when_its_time_has_come() {
        let (mut calendar, mut kernel) =
            heard(&[(Operation::GetTimeOfDay, 0), (Operation::Wait, 600), (Operation::Get, 0)]);
        assert_eq!(calendar.waits_until(), Some(600));
        kernel.write_all(&request(500).bytes()).unwrap();
        assert_eq!(calendar.serve().unwrap(), Alive::Yes);
        assert_eq!(calendar.waits_until(), Some(500));
        calendar.run(800).unwrap();
        assert_eq!((calendar.now(), calendar.waits_until()), (500, None));
        // Questions alone are answered.
        let answers = [(Operation::Ack, 1_000), (Operation::Ack, 0)];
        let runs = [(Operation::FreeUntil, 800), (Operation::Run, 500)];
        assert_eq!(said(&mut kernel), [answers, runs].concat());
        kernel.set_nonblocking(false).unwrap();
        drop(kernel);
        assert_eq!(calendar.serve().unwrap(), Alive::Ended);
    }

    fn request(time: Nanos) -> Message {
        Message { operation: Operation::Request, sequence: 1, time }
    }

    /// A kernel that runs is told of what happens earlier than it was promised, and has acknowledged that.
    #[test]
    fn a_promise_is_shortened_and_not_lengthened() {
        let (mut calendar, mut kernel) = heard(&[(Operation::Wait, 500)]);
        calendar.run(800).unwrap();
        assert_eq!(calendar.shorten(900).unwrap(), Alive::Yes);
        let sequence = (1 << 30) + 3;
        let answer = Message { operation: Operation::Ack, sequence, time: 0 };
        kernel.write_all(&answer.bytes()).unwrap();
        assert_eq!(calendar.shorten(700).unwrap(), Alive::Yes);
        let runs = [(Operation::FreeUntil, 800), (Operation::Run, 500)];
        assert_eq!(said(&mut kernel), [&runs[..], &[(Operation::FreeUntil, 700)]].concat());
    }

    #[test]
    fn time_never_goes_back() {
        let (ours, mut kernel) = UnixStream::pair().unwrap();
        let mut calendar = Calendar::new(ours, 0);
        for time in [9, 8] {
            let message = Message { operation: Operation::Update, sequence: 1, time };
            kernel.write_all(&message.bytes()).unwrap();
        }
        assert_eq!(calendar.serve().unwrap(), Alive::Yes);
        let said = calendar.serve().unwrap_err().to_string();
        assert!(said.contains("went back, from 9 ns to 8 ns"), "{said}");
    }
}
