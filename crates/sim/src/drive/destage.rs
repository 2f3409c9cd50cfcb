//! In which order the write buffer empties.

use super::dirty::Extent;
use super::mechanics::{Start, Transfer};
use super::{Bus, Drive, Ledger, Phase};
use crate::{Event, Nanos, Part};

/// A write in flight from the buffer to the medium.
#[derive(Clone, Debug)]
pub(super) struct Destage {
    pub(super) extent: Extent,
    pub(super) end: Nanos,
}

impl Drive {
    /// Starts to write the next extent from the buffer, if there is one and nothing else moves the arm.
    /// An extent that continues the last one, which has just ended, costs no lost revolution.
    #[inline]
    pub(super) fn destage_next(&mut self, now: Nanos) {
        if !self.dirty.is_empty() && self.destage.is_none() && self.arm_free_at <= now {
            self.begin_destage(now);
        }
    }

    #[inline(never)]
    fn begin_destage(&mut self, now: Nanos) {
        // The arm is where the read-ahead has come to.
        self.stop_ahead(now);
        let physical = self.physical_sectors();
        let extent = if self.dirty.starts().is_some() {
            let start = self.soonest_start(now).expect("what waits has a run");
            self.dirty.take_at(start, physical)
        } else {
            self.dirty.take_next(physical)
        };
        let extent = extent.expect("what waits can be taken");
        let goes_on = self.written_to == (extent.sector, now);
        let transfer = Transfer {
            sector: extent.sector,
            sectors: extent.sectors,
            write: true,
            start: if goes_on { Start::On } else { Start::Command },
            data_at: now,
        };
        let mut ledger = Ledger::start(now);
        self.write_medium(transfer, &mut ledger);
        let end = ledger.charged_to();
        self.arm_free_at = end;
        self.destage = Some(Destage { extent, end });
    }

    /// An extent is on the medium.
    #[inline(never)]
    pub(super) fn end_destage(&mut self, bus: &mut Bus, out: &mut Vec<Event>) {
        let Some(Destage { extent, end }) = self.destage.take() else { return };
        self.written_to = (extent.end(), end);
        self.damage.repair(extent.sector, extent.end());
        for tag in extent.tags.iter() {
            out.push(Event::Durable { tag, at: end });
        }
        self.dirty.forget(extent);
        self.destage_next(end);
        let request = self.current.request;
        let ready = end.max(self.ledger.charged_to());
        let phase = match self.phase {
            Phase::Room => self.after_room(ready, &request),
            Phase::Drain => self.is_clean().then_some(Phase::Finish { at: ready }),
            _ => None,
        };
        if let Some(phase) = phase {
            self.ledger.charge(Part::CACHE, end);
            self.ask_bus(phase, &request, bus);
        }
    }

    /// Which write in the buffer is next: what goes on where the head has just written, else the run that it reaches
    /// soonest. `None` where the drive takes them in ascending order.
    fn soonest_start(&self, now: Nanos) -> Option<u64> {
        let starts = self.dirty.starts()?;
        let (at, ended) = self.written_to;
        if ended == now && self.dirty.starts_at(at) {
            return Some(at);
        }
        let mut soonest = None;
        let aimed = |sector| (self.mechanics.aim(sector), sector);
        let split = self.mechanics.sector();
        let (above, below) = (starts.above(split).map(aimed), starts.below(split).map(aimed));
        for (distance, aim, sector) in self.mechanics.outwards(above, below) {
            // Nothing from here on is reached sooner than this.
            let floor = self.mechanics.least_reach_ns(distance, true);
            if soonest.is_some_and(|(least, _)| floor > least) {
                break;
            }
            let reached = self.mechanics.positioning_ns(now, aim, true);
            if soonest.is_none_or(|least| (reached, sector) < least) {
                soonest = Some((reached, sector));
            }
        }
        #[cfg(test)]
        assert_eq!(soonest, self.plain_soonest(now), "a plain scan chooses another");
        soonest.map(|(_, sector)| sector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Drive {
        /// The choice of [`Drive::soonest_start`] where it looks at each.
        pub(super) fn plain_soonest(&self, now: Nanos) -> Option<(Nanos, u64)> {
            let reached = |sector| {
                (self.mechanics.positioning_ns(now, self.mechanics.aim(sector), true), sector)
            };
            self.dirty.starts()?.above(0).map(reached).min()
        }
    }
}
