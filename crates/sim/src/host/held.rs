//! Requests that wait for their times.

use crate::wrapper::Io;
use crate::{Device, Nanos};
use std::collections::VecDeque;

/// Requests, each with the time at which it is sent below, in the order of those times.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(VecDeque<(Nanos, usize)>);

impl Held {
    /// Holds the request in `slot` until `at`; few that are held come after it.
    pub(super) fn hold(&mut self, at: Nanos, slot: usize) {
        let later = self.0.iter().rev().take_while(|&&(other, _)| other > at).count();
        self.0.insert(self.0.len() - later, (at, slot));
    }

    /// When the next one is sent.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        self.0.front().map(|&(at, _)| at)
    }

    /// Sends what is due by `now`.
    pub(super) fn send_due<N, D: Device>(&mut self, now: Nanos, io: &mut Io<'_, N, D>) {
        while let Some(&(at, slot)) = self.0.front()
            && at <= now
        {
            self.0.pop_front();
            let request = io.request(slot);
            io.send(at, slot, 0, request);
        }
    }

    /// Holds nothing any more.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
