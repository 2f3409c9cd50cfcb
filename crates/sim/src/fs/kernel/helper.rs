//! A task of the kernel that sleeps until it is called, or until a time.

use crate::Nanos;
use crate::fs::clock::{Clock, TaskId};
use std::cell::Cell;

/// When a task runs again.
#[derive(Debug, Default)]
pub(super) struct Helper {
    asleep: Cell<Option<TaskId>>,
    at: Cell<Option<Nanos>>,
    is_called: Cell<bool>,
    is_working: Cell<bool>,
}

impl Helper {
    /// Waits until it is called.
    pub(super) async fn sleep(&self, clock: &Clock) {
        self.is_working.set(false);
        if !self.is_called.get() {
            self.asleep.set(Some(clock.current()));
            clock.parked().await;
        }
        self.is_called.set(false);
        self.is_working.set(true);
    }

    /// Calls it: there is work.
    pub(super) fn call(&self, clock: &Clock) {
        self.is_called.set(true);
        if let Some(task) = self.asleep.take() {
            clock.wake(task);
        }
    }

    /// Sets the one time at which it is called.
    pub(super) fn call_at(&self, at: Option<Nanos>) {
        self.at.set(at);
    }

    /// Whether it is at work, or about to be.
    pub(super) fn is_busy(&self) -> bool {
        self.is_called.get() || self.is_working.get()
    }

    /// When it will be called, while it sleeps.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.asleep.get().and(self.at.get())
    }

    /// The time is `now`.
    pub(super) fn pass(&self, now: Nanos, clock: &Clock) {
        if self.next().is_some_and(|at| at <= now) {
            self.at.set(None);
            self.call(clock);
        }
    }
}
