//! A pipe(2) between two programs: one writes into it until it is full, the other reads until it is empty.
//!
//! `bzcat archive | tar xf -` is two programs. While tar waits for the disk the other continues as far
//! as there is room in the pipe.

use super::tree::Archive;
use crate::fs::clock::{Clock, TaskId};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A pipe. Clones are handles to the same.
#[derive(Clone)]
pub struct Pipe(Rc<Shared>);

struct Shared {
    clock: Rc<Clock>,
    capacity_bytes: u64,
    held_bytes: Cell<u64>,
    /// Who waits for room, or for bytes.
    waiting: RefCell<Vec<TaskId>>,
}

impl Pipe {
    /// An empty pipe that holds `capacity_bytes`.
    pub fn new(clock: Rc<Clock>, capacity_bytes: u64) -> Self {
        let waiting = RefCell::default();
        Pipe(Rc::new(Shared { clock, capacity_bytes, held_bytes: Cell::new(0), waiting }))
    }

    fn wake_others(&self) {
        for task in self.0.waiting.borrow_mut().drain(..) {
            self.0.clock.wake(task);
        }
    }

    async fn wait(&self) {
        self.0.waiting.borrow_mut().push(self.0.clock.current());
        self.0.clock.parked().await;
    }

    /// Writes this many bytes, each piece as soon as there is room.
    pub async fn write(&self, bytes: u64) {
        self.0.clock.settle().await;
        let mut left = bytes;
        while left > 0 {
            let held = self.0.held_bytes.get();
            let piece = left.min(self.0.capacity_bytes - held);
            if piece == 0 {
                self.wait().await;
                continue;
            }
            self.0.held_bytes.set(held + piece);
            left -= piece;
            self.wake_others();
        }
    }
}

impl Archive for Pipe {
    async fn read(&self, bytes: u64) {
        let mut left = bytes;
        while left > 0 {
            let held = self.0.held_bytes.get();
            let piece = left.min(held);
            if piece == 0 {
                self.0.clock.settle().await;
                if self.0.held_bytes.get() == 0 {
                    self.wait().await;
                }
                continue;
            }
            self.0.held_bytes.set(held - piece);
            left -= piece;
            self.wake_others();
        }
    }
}

/// The size of an unpacking program's writes.
const PIECE_BYTES: u64 = 8192;

/// Unpacks `bytes` into `pipe`, which costs the processor `work_ns_per_kib`.
pub async fn unpack(pipe: Pipe, bytes: u64, work_ns_per_kib: u64) {
    let mut left = bytes;
    while left > 0 {
        let piece = PIECE_BYTES.min(left);
        pipe.0.clock.charge(piece * work_ns_per_kib / 1024);
        pipe.write(piece).await;
        left -= piece;
    }
}
