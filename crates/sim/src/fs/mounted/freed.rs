//! Space that an operation has freed and still uses.
//!
//! Operations change the file system at once and take their time afterwards. While one that has freed
//! blocks is still reading and writing them, another may allocate the same blocks. The second waits
//! when it reaches them, until the first has released them. The first never waits for the second, since
//! it began earlier.

use crate::fs::clock::{Clock, TaskId};
use crate::fs::filesystem::Step;
use crate::fs::kernel::Extent;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// The extents still to be released, by the number of the operation that freed them.
#[derive(Debug, Default)]
pub(super) struct Freed {
    operations: Cell<u64>,
    /// In ascending order of those numbers.
    extents: RefCell<VecDeque<(u64, Extent)>>,
    waiting: RefCell<Vec<TaskId>>,
}

impl Freed {
    /// An operation that will take `steps` begins; returns its number.
    pub(super) fn begin(&self, steps: &[Step]) -> u64 {
        let number = self.operations.get();
        self.operations.set(number + 1);
        let extents = steps.iter().filter_map(|step| match step {
            Step::Forget(extent) => Some((number, *extent)),
            _ => None,
        });
        self.extents.borrow_mut().extend(extents);
        number
    }

    /// Whether an operation before `number` has yet to release the blocks of `step`.
    #[inline]
    pub(super) fn keeps(&self, number: u64, step: &Step) -> bool {
        let is_behind =
            self.extents.borrow().front().is_some_and(|&(earliest, _)| earliest < number);
        is_behind && self.meets_earlier(number, step)
    }

    #[inline(never)]
    fn meets_earlier(&self, number: u64, step: &Step) -> bool {
        let (Step::Read(block) | Step::Change { block, .. }) = step else { return false };
        self.extents.borrow().iter().any(|&(earlier, extent)| {
            earlier < number
                && extent.sector < block.extent.end()
                && block.extent.sector < extent.end()
        })
    }

    /// Waits until every operation before `number` has released the blocks of `step`.
    pub(super) async fn wait_for_earlier(&self, number: u64, step: &Step, clock: &Clock) {
        while self.keeps(number, step) {
            clock.settle().await;
            if self.keeps(number, step) {
                self.waiting.borrow_mut().push(clock.current());
                clock.parked().await;
            }
        }
    }

    /// The operation `number` has released `extent`.
    pub(super) fn let_go(&self, number: u64, extent: Extent, clock: &Clock) {
        let mut extents = self.extents.borrow_mut();
        let place = extents.iter().position(|&it| it == (number, extent));
        extents.remove(place.expect("it was freed by this operation"));
        for task in self.waiting.borrow_mut().drain(..) {
            clock.wake(task);
        }
    }
}
