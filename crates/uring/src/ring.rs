//! Reads and writes on files, many at a time, through the kernel's submission and completion rings
//! (`io_uring`).
//!
//! The kernel reads and writes memory while the program runs on. What makes that safe is that a buffer
//! is *lent*: it moves into the ring with the transfers that use it, and can be had back only when the
//! last of them has come back. A ring that is dropped waits for what is under way.

#![expect(unsafe_code, reason = "an entry names memory by its address")]

use crate::Buffer;
use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// What is to be done between a file and a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Fill the buffer from the file.
    Read,
    /// Write the buffer to the file.
    Write {
        /// It is done only when the medium holds it.
        durable: bool,
    },
    /// Make durable what was written to the file. Uses no buffer.
    Flush,
}

/// One action on one range of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Which of the ring's files.
    pub file: u32,
    /// What to do.
    pub action: Action,
    /// Where in the file, in bytes.
    pub offset_bytes: u64,
    /// Which part of the buffer.
    pub part: Range<usize>,
}

/// A transfer that came back.
#[derive(Debug)]
pub struct Ended {
    /// The key under which it was started.
    pub key: u32,
    /// Its place among those that were started with it.
    pub index: u32,
    /// How it went.
    pub result: io::Result<()>,
}

/// What becomes of a transfer that has to wait before it can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// The kernel sees to that.
    No,
    /// One of its workers sends it, and waits.
    ByWorker,
}

/// A buffer on loan to the kernel.
#[derive(Default)]
struct Loan {
    buffer: Buffer,
    transfers: Vec<Transfer>,
    under_way: u32,
}

/// Submission and completion rings over some files. It works on the thread that made it.
pub struct Ring {
    uring: IoUring,
    loans: Vec<Loan>,
    /// Entries that the kernel has, or will have, and that have not come back.
    under_way: usize,
    /// The most workers of this thread before more were allowed.
    workers_before: Option<u32>,
    /// Who sends reads.
    read: Wait,
    /// What came back while there was no room for submissions, and was not looked at yet.
    early: VecDeque<cqueue::Entry>,
    /// Open for as long as the kernel may use them.
    _files: Vec<File>,
    _stays_on_its_thread: PhantomData<*const ()>,
}

impl Ring {
    /// A ring over `files` with room for `entries` submissions at a time.
    ///
    /// # Errors
    ///
    /// Where the kernel has no such rings, or forbids them ([`is_forbidden`]).
    pub fn new(files: Vec<File>, entries: u32) -> io::Result<Self> {
        let entries = entries.clamp(8, 4096).next_power_of_two();
        // Completions are worked on when this thread asks for them, which saves interrupts; kernels
        // before 6.1 do not know how.
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(entries)
            .or_else(|_| IoUring::new(entries))?;
        let descriptors: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
        uring.submitter().register_files(&descriptors)?;
        Ok(Ring {
            uring,
            loans: Vec::new(),
            under_way: 0,
            workers_before: None,
            read: Wait::No,
            early: VecDeque::new(),
            _files: files,
            _stays_on_its_thread: PhantomData,
        })
    }

    /// Sends each read by a worker of the kernel's from now on ([`Ring::allow_workers`]). Programs that read through the page cache
    /// at the same time need this if they are to be independent: who reads ahead sleeps where a drive's queue is full, and would
    /// be the thread of this ring, and with it everybody.
    pub fn read_by_workers(&mut self) {
        self.read = Wait::ByWorker;
    }

    /// Lets so many workers of the kernel's be busy at a time, and gives how many may be. A thread has up to four for each
    /// processor unless it asks for more. Each flush takes one, though programs that flush by themselves need none.
    ///
    /// # Errors
    ///
    /// Where the kernel does not let it be set (before 5.15).
    pub fn allow_workers(&mut self, workers: u32) -> io::Result<u32> {
        let usual = self.set_workers(0)?;
        if usual < workers {
            self.set_workers(workers)?;
            // They are the thread's: what it does next has as many as it had.
            self.workers_before = Some(usual);
        }
        self.set_workers(0)
    }

    /// Sets the most workers of this thread, unless to none, and gives how many they were.
    fn set_workers(&self, most: u32) -> io::Result<u32> {
        let mut workers = [most, 0];
        self.uring.submitter().register_iowq_max_workers(&mut workers)?;
        Ok(workers[0])
    }

    /// Starts `transfers` between the files and `buffer`, which is lent under `key` until they are back.
    ///
    /// # Errors
    ///
    /// Where the kernel takes no more submissions.
    ///
    /// # Panics
    ///
    /// Where something is lent under this key, or a transfer lies outside the buffer.
    pub fn start(
        &mut self,
        key: u32,
        buffer: Buffer,
        transfers: impl IntoIterator<Item = Transfer>,
    ) -> io::Result<()> {
        let slot = key as usize;
        if slot >= self.loans.len() {
            self.loans.resize_with(slot + 1, Loan::default);
        }
        let loan = &mut self.loans[slot];
        assert_eq!(loan.under_way, 0, "a key is used for one loan at a time");
        loan.buffer = buffer;
        loan.transfers.clear();
        loan.transfers.extend(transfers);
        for index in 0..self.loans[slot].transfers.len() {
            self.push(key, index as u32, Wait::No)?;
        }
        self.submit()
    }

    /// Hands the kernel what was pushed. A disk that has each request as soon as it is known is busier
    /// than one that gets them when completions are gathered: a fifth more random reads at depth 32.
    fn submit(&mut self) -> io::Result<()> {
        match self.uring.submit() {
            Err(error) if !passes(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Has back what was lent under `key`.
    ///
    /// # Panics
    ///
    /// Where a transfer is still under way.
    pub fn take(&mut self, key: u32) -> Buffer {
        let loan = &mut self.loans[key as usize];
        assert_eq!(loan.under_way, 0, "the kernel still has it");
        mem::take(&mut loan.buffer)
    }

    /// Waits until something comes back or `timeout` is over, and appends to `ended` what has.
    ///
    /// # Errors
    ///
    /// Where the ring itself fails; a transfer's own failure comes back with it.
    pub fn wait(&mut self, timeout: Option<Duration>, ended: &mut Vec<Ended>) -> io::Result<()> {
        let idle = self.early.is_empty() && self.uring.completion().is_empty();
        let want = usize::from(idle);
        let entered = match timeout {
            None if self.under_way == 0 => return Ok(()),
            None => self.uring.submit_and_wait(want),
            Some(timeout) => {
                let timespec = Timespec::from(timeout);
                let args = SubmitArgs::new().timespec(&timespec);
                self.uring.submitter().submit_with_args(want, &args)
            }
        };
        match entered {
            Err(error) if !passes(&error) => Err(error),
            _ => self.reap(ended),
        }
    }

    /// Gathers what has come back. What was transferred in part is started again for the rest.
    fn reap(&mut self, ended: &mut Vec<Ended>) -> io::Result<()> {
        while let Some(entry) = self.next_completion() {
            self.under_way -= 1;
            let (key, index) = ((entry.user_data() >> 32) as u32, entry.user_data() as u32);
            let loan = &mut self.loans[key as usize];
            loan.under_way -= 1;
            let transfer = &mut loan.transfers[index as usize];
            let result = match usize::try_from(entry.result()) {
                Err(_) => {
                    let error = io::Error::from_raw_os_error(-entry.result());
                    if passes(&error) {
                        // A volume of device-mapper that found one drive's queue full (6.1): tried again at once, all
                        // of it would be sent for nothing again and again.
                        self.push(key, index, Wait::ByWorker)?;
                        continue;
                    }
                    Err(error)
                }
                Ok(_) if transfer.action == Action::Flush => Ok(()),
                Ok(bytes) if bytes == transfer.part.len() => Ok(()),
                Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => {
                    transfer.part.start += bytes;
                    transfer.offset_bytes += bytes as u64;
                    self.push(key, index, Wait::No)?;
                    continue;
                }
            };
            ended.push(Ended { key, index, result });
        }
        Ok(())
    }

    fn next_completion(&mut self) -> Option<cqueue::Entry> {
        self.early.pop_front().or_else(|| self.uring.completion().next())
    }

    /// Puts a transfer of a loan into the submission ring.
    fn push(&mut self, key: u32, index: u32, wait: Wait) -> io::Result<()> {
        let loan = &mut self.loans[key as usize];
        let Transfer { file, action, offset_bytes, part } = loan.transfers[index as usize].clone();
        let start = loan.buffer.start_of(&part);
        let bytes = u32::try_from(part.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let file = Fixed(file);
        let entry = match action {
            Action::Read => opcode::Read::new(file, start, bytes).offset(offset_bytes).build(),
            Action::Write { durable } => opcode::Write::new(file, start, bytes)
                .offset(offset_bytes)
                .rw_flags(if durable { RWF_DSYNC } else { 0 })
                .build(),
            Action::Flush => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
        };
        let wait = if action == Action::Read && wait == Wait::No { self.read } else { wait };
        let flags = match wait {
            Wait::No => squeue::Flags::empty(),
            Wait::ByWorker => squeue::Flags::ASYNC,
        };
        let entry = entry.flags(flags).user_data(u64::from(key) << 32 | u64::from(index));
        self.push_entry(&entry)?;
        self.loans[key as usize].under_way += 1;
        self.under_way += 1;
        Ok(())
    }

    fn push_entry(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the memory that the entry names is the loan's buffer's, inside its bounds, and stays
        // where it is and is neither touched nor borrowed by anybody else until the entry comes back: the
        // buffer is given out by `take` only, which checks that, and dropped only after `drop` has waited.
        // The files are registered, and the kernel checks their numbers.
        while unsafe { self.uring.submission().push(entry) }.is_err() {
            self.submit()?;
            // A kernel without room for completions may take no submission before it has some.
            self.early.extend(self.uring.completion());
        }
        Ok(())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let mut ended = Vec::new();
        while self.under_way > 0 {
            if self.wait(None, &mut ended).is_err() {
                // What the kernel may still write to must stay allocated for ever.
                mem::forget(mem::take(&mut self.loans));
                return;
            }
            ended.clear();
        }
        if let Some(before) = self.workers_before {
            let _ = self.set_workers(before);
        }
        // Else the kernel would close the files only some time after the ring.
        let _ = self.uring.submitter().unregister_files();
    }
}

/// `RWF_DSYNC` of linux/fs.h.
const RWF_DSYNC: i32 = 2;

/// `EBUSY` of asm-generic/errno-base.h: completions have to be gathered first.
const EBUSY: i32 = 16;

/// `ETIME` of asm-generic/errno.h: the time to wait is over.
const ETIME: i32 = 62;

/// Whether to just go on after an error.
fn passes(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
        || matches!(error.raw_os_error(), Some(EBUSY | ETIME))
}

/// Whether a ring could not be made because this system has none or forbids them to this program.
pub fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
}
