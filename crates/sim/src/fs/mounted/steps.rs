//! How the steps of an operation are taken: most of them at once.

use super::Mounted;
use crate::fs::files::FsError;
use crate::fs::filesystem::{Block, Step, Taken, Write};
use crate::fs::kernel::Extent;
use crate::{Nanos, Tag};

/// How far an operation has come with its steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    /// The operation's number.
    number: u64,
    /// How many of its steps it has taken.
    taken: usize,
}

impl Mounted {
    /// Takes steps, and those that the file system adds when it is resumed.
    pub(super) async fn take_all(&self, steps: &mut Vec<Step>) -> Result<(), FsError> {
        match self.begin(steps) {
            None => Ok(()),
            Some(begun) => self.take_rest(steps, begun).await,
        }
    }

    /// Takes steps as far as none has to wait, without a future: mostly all. Otherwise returns how far it has come.
    pub(super) fn begin(&self, steps: &mut Vec<Step>) -> Option<Begun> {
        self.0.kernel.has_moved(self.0.file_system.borrow().next_work());
        while !steps.is_empty() {
            let number = self.0.freed.begin(steps);
            let taken = self.take_first_at_once(number, steps);
            if taken < steps.len() {
                return Some(Begun { number, taken });
            }
            if !self.resume(steps, Ok(())) {
                break;
            }
        }
        None
    }

    /// Takes the steps that are left after `begun`, and those that the file system adds when it is resumed.
    pub(super) async fn take_rest(
        &self,
        steps: &mut Vec<Step>,
        mut begun: Begun,
    ) -> Result<(), FsError> {
        let mut submitted = Vec::new();
        let mut all = Ok(());
        loop {
            let result = self.take_batch(steps, begun, &mut submitted).await;
            all = all.and(result);
            if !self.resume(steps, result) || steps.is_empty() {
                break;
            }
            begun = Begun { number: self.0.freed.begin(steps), taken: 0 };
        }
        if !submitted.is_empty() {
            all = all.and(Box::pin(self.0.kernel.drain(&mut submitted)).await);
        }
        all
    }

    /// Resumes the file system if the last of the `steps` says so, when they were taken with this `result`. Returns whether
    /// it did: then they are its next.
    fn resume(&self, steps: &mut Vec<Step>, result: Result<(), FsError>) -> bool {
        let Some(&Step::Resume(job)) = steps.last() else { return false };
        let kernel = &self.0.kernel;
        let now = kernel.clock().now();
        let mut file_system = self.0.file_system.borrow_mut();
        file_system.resume(job, &Taken { now, steps, memory: &**kernel, result });
        file_system.take_steps(now, steps);
        kernel.has_moved(file_system.next_work());
        true
    }

    /// Takes the steps that are left after `begun`. After a failed one, only those that release something or wait for
    /// others.
    async fn take_batch(
        &self,
        steps: &[Step],
        Begun { number, taken }: Begun,
        submitted: &mut Vec<Tag>,
    ) -> Result<(), FsError> {
        let (freed, clock) = (&self.0.freed, self.0.kernel.clock());
        let mut result = Ok(());
        for step in &steps[taken..] {
            if result.is_err() && !lets_go(step) {
                continue;
            }
            if freed.keeps(number, step) {
                Box::pin(freed.wait_for_earlier(number, step, clock)).await;
            }
            // Most steps wait for nothing, and most of the others for a write of what is in memory. The
            // rest is boxed, so that operations do not reserve the memory that a wait needs.
            if let Step::Change {
                block, fresh, write: write @ (Write::Wait | Write::Start), ..
            } = step
                && self.0.kernel.hold_at_once(block, *fresh).is_some()
            {
                result = self.write_held(block, *write == Write::Wait).await;
            } else if !self.take_at_once(step) {
                result = result.and(Box::pin(self.take(*step, submitted)).await);
            }
            if let Step::Forget(extent) = step {
                freed.let_go(number, *extent, clock);
            }
        }
        result
    }

    /// Takes the first of the `steps` of operation `number`, up to one that has to wait; returns how many: mostly all.
    fn take_first_at_once(&self, number: u64, steps: &[Step]) -> usize {
        let freed = &self.0.freed;
        let waits = |step: &Step| {
            if freed.keeps(number, step) || !self.take_at_once(step) {
                return true;
            }
            if let Step::Forget(extent) = step {
                freed.let_go(number, *extent, self.0.kernel.clock());
            }
            false
        };
        steps.iter().position(waits).unwrap_or(steps.len())
    }

    /// Takes a step if it need not wait; returns whether it was taken.
    #[inline]
    fn take_at_once(&self, step: &Step) -> bool {
        let kernel = &self.0.kernel;
        match step {
            Step::Read(block) => return kernel.read_at_once(block.extent),
            Step::Change { block, fresh, write: Write::Later, .. } => {
                return kernel.change_at_once(block, *fresh);
            }
            Step::Scan(entries) => self.charge(Nanos::from(*entries) * self.0.costs.entry_ns),
            Step::Forget(extent) => kernel.forget(*extent),
            Step::Release(block) => kernel.release(*block),
            Step::Resume(_) => {}
            _ => return false,
        }
        true
    }

    /// Takes a step that has to wait.
    async fn take(&self, step: Step, submitted: &mut Vec<Tag>) -> Result<(), FsError> {
        let kernel = &self.0.kernel;
        match step {
            Step::Read(block) => {
                return kernel.read(block.extent, block.pool, block.owner).await;
            }
            Step::Change { block, fresh, write, .. } => {
                return self.change(block, fresh, write).await;
            }
            // Of a journal, or for fsync(2): somebody waits (`WB_SYNC_ALL`).
            Step::Start(extent) => {
                kernel.begins_to_sync();
                let result = self.start(extent).await;
                kernel.ends_to_sync();
                return result;
            }
            Step::Await(extent) => return kernel.written(extent).await,
            Step::Drain => return kernel.drain(submitted).await,
            Step::Submit(op, extent) => kernel.submit(op, extent, submitted).await,
            Step::Until(milestone) => kernel.until(milestone).await,
            Step::Prefetch { first: Block { extent, pool, owner, .. }, blocks, wanted } => {
                let Extent { sector, sectors } = extent;
                let next = |n: u32| sector + u64::from(n) * u64::from(sectors);
                let run = (0..blocks).map(|n| Extent { sector: next(n), sectors });
                let run: Vec<Extent> = run.collect();
                kernel.read_around(&run, wanted as usize, pool, owner).await;
            }
            Step::Scan(_) | Step::Forget(_) | Step::Release(_) | Step::Resume(_) => {
                unreachable!("{step:?} is taken at once")
            }
        }
        Ok(())
    }

    async fn change(&self, block: Block, fresh: bool, write: Write) -> Result<(), FsError> {
        let Block { extent, pool, delay, owner } = block;
        let kernel = &self.0.kernel;
        kernel.hold(extent, pool, owner, fresh).await?;
        match write {
            Write::Later => {
                kernel.write_later(extent.sector, delay);
                Ok(())
            }
            Write::Wait | Write::Start => self.write_held(&block, write == Write::Wait).await,
            Write::Hold => {
                kernel.hold_back(extent.sector);
                Ok(())
            }
        }
    }

    /// Starts to write a changed block that is in memory, and may `wait` for that.
    async fn write_held(&self, block: &Block, wait: bool) -> Result<(), FsError> {
        self.charge(self.0.costs.request_ns);
        self.0.kernel.write_now(block.extent.sector, wait).await
    }
}

/// Whether a step releases something or waits for others: these are taken even after a failed one.
fn lets_go(step: &Step) -> bool {
    matches!(
        step,
        Step::Forget(_)
            | Step::Release(_)
            | Step::Await(_)
            | Step::Drain
            | Step::Until(_)
            | Step::Resume(_)
    )
}
