//! The processors that guests run on: each has one to itself, as far as there are some.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};
use store::held::Held;

/// Processors that guests run on, one each.
pub(super) struct Processors {
    free: Mutex<Vec<usize>>,
    freed: Condvar,
    /// How many there are.
    pub(super) count: usize,
    /// Where other runs on this machine say which they have.
    directory: PathBuf,
}

impl Processors {
    pub(super) fn new(mut free: Vec<usize>, directory: PathBuf) -> Self {
        let count = free.len().max(1);
        free.reverse();
        Processors { free: Mutex::new(free), freed: Condvar::new(), count, directory }
    }

    /// Waits for one that is free, and takes it: one that no other run has, if there is one. Shards side by side would all
    /// have their guests on the first.
    pub(super) fn take(&self) -> Taken<'_> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let mut places = (0..free.len()).rev();
            let lone = places.find_map(|place| Some((place, Some(self.lock(free[place])?))));
            if let Some((place, lock)) = lone.or(free.len().checked_sub(1).map(|last| (last, None)))
            {
                let processor = free.remove(place);
                return Taken { of: self, processor, lock };
            }
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self, processor: usize) -> Option<Held> {
        let path = self.directory.join(format!("processor-{processor}.lock"));
        let file = File::options().create(true).append(true).open(path).ok()?;
        Held::alone(file).ok()
    }
}

/// A processor, given back when this is dropped.
pub(super) struct Taken<'a> {
    of: &'a Processors,
    pub(super) processor: usize,
    lock: Option<Held>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // Before another guest may take it: its lock would be refused.
        self.lock = None;
        self.of.free.lock().unwrap_or_else(PoisonError::into_inner).push(self.processor);
        self.of.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shards on one machine had all their kernels on its first processor.
    #[test]
    fn runs_side_by_side_take_processors_apart() {
        let directory = tempfile::tempdir().unwrap();
        let run = || Processors::new(vec![3, 5], directory.path().into());
        let (one, other, third) = (run(), run(), run());
        let (first, second) = (one.take(), other.take());
        assert_eq!([first.processor, second.processor], [3, 5]);
        // Where no other is left, guests share one.
        assert_eq!(third.take().processor, 3);
        drop(first);
        assert_eq!(third.take().processor, 3);
        assert_eq!([one.take(), one.take()].map(|taken| taken.processor), [3, 5]);
    }
}
