//! What takes down what a rig has set up, should the program be ended from outside.

use std::sync::{Arc, Mutex, PoisonError};

/// Called by whoever catches a signal, while trials may still run.
type TakeDown = Arc<dyn Fn() + Send + Sync>;

/// Filled by a rig as it sets things up, and run by the command that a signal ends. Clones are the same.
#[derive(Clone, Default)]
pub struct Undo(Arc<Mutex<Vec<TakeDown>>>);

impl Undo {
    /// Adds what is to be taken down, before it is set up.
    pub fn add(&self, take_down: impl Fn() + Send + Sync + 'static) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(take_down));
    }

    /// Takes everything down, the last first.
    pub fn run(&self) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.iter().rev().for_each(|take_down| take_down());
    }
}
