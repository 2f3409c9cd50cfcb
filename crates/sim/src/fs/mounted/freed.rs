//! Space that an operation has freed, and is not done with.
//!
//! Operations change the file system at once and take their time afterwards. While one that has freed
//! blocks is still reading and writing them, another may be given the same. It waits, where it comes to
//! them, until the first has let them go; that never waits for the second, since it began before.

use crate::fs::clock::{Clock, TaskId};
use crate::fs::filesystem::Step;
use crate::fs::kernel::Extent;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// What is still to be let go, by the number of the operation that freed it.
#[derive(Debug, Default)]
pub(super) struct Freed {
    operations: Cell<u64>,
    /// In the order of those numbers.
    extents: RefCell<VecDeque<(u64, Extent)>>,
    waiting: RefCell<Vec<TaskId>>,
}

impl Freed {
    /// An operation that will take `steps` begins; gives its number.
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

    /// Whether an operation before `number` has to let go of what `step` is about.
    pub(super) fn keeps(&self, number: u64, step: &Step) -> bool {
        let extents = self.extents.borrow();
        let is_behind = extents.front().is_some_and(|&(earliest, _)| earliest < number);
        let (Step::Read(block) | Step::Change { block, .. }) = step else { return false };
        is_behind
            && extents.iter().any(|&(earlier, extent)| {
                earlier < number
                    && extent.sector < block.extent.end()
                    && block.extent.sector < extent.end()
            })
    }

    /// Waits until no operation before `number` has to let go of what `step` is about.
    pub(super) async fn wait_for_earlier(&self, number: u64, step: &Step, clock: &Clock) {
        while self.keeps(number, step) {
            clock.settle().await;
            if self.keeps(number, step) {
                self.waiting.borrow_mut().push(clock.current());
                clock.parked().await;
            }
        }
    }

    /// The operation `number` has let go of `extent`.
    pub(super) fn let_go(&self, number: u64, extent: Extent, clock: &Clock) {
        let mut extents = self.extents.borrow_mut();
        let place = extents.iter().position(|&it| it == (number, extent));
        extents.remove(place.expect("it was freed by this operation"));
        for task in self.waiting.borrow_mut().drain(..) {
            clock.wake(task);
        }
    }
}
