//! Time that passes in the device, and in the file system's own task.

use super::Kernel;
use crate::fs::clock::World;
use crate::{Device as _, Event, Nanos};

impl World for Kernel {
    fn next_event(&self) -> Option<Nanos> {
        let device = self.state.borrow().device.next_event();
        crate::outbox::earlier(device, self.own_work.next().map(|at| at.max(self.clock.now())))
    }

    fn proceed(&self, limit: Nanos) -> Option<Nanos> {
        let own = self.own_work.next().map(|at| at.max(self.clock.now()));
        let own = own.filter(|&own| own <= limit);
        let inner = &mut *self.state.borrow_mut();
        let mut events = std::mem::take(&mut inner.events);
        let came = inner.device.proceed(own.unwrap_or(limit), &mut events).or(own);
        if let Some(now) = came {
            self.clock.has_come_to(now);
            self.own_work.pass(now, &self.clock);
        }
        for event in events.drain(..) {
            if let Event::Done { tag, result, .. } = event {
                inner.done(&self.clock, tag, result.is_ok());
            }
        }
        inner.events = events;
        came
    }
}
