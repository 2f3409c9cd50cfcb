//! One ideal disk: where its head is, what it reads ahead, and what it takes of its line and of its write buffer.

use super::{Current, ReadAhead, Spiral, Waiting};
use crate::outbox::earlier;
use crate::{Nanos, Part, Spent};
use block::{Op, Request};

impl Spiral {
    /// The sectors read ahead by `now`: first, and the one after the last.
    fn read_ahead(&self, now: Nanos) -> Option<(u64, u64)> {
        self.ahead.map(|ahead| {
            let passed = now.saturating_sub(self.end_at) / self.spec.sector_ns;
            let end = (self.end_sector + passed).min(ahead.limit);
            (ahead.start.max(ahead.last.saturating_sub(self.spec.behind_sectors)), end)
        })
    }

    /// The write that is on its way from the buffer to the medium.
    pub(super) fn destaged(&self) -> Option<&Waiting> {
        self.current.as_ref().filter(|current| current.destages).map(|current| &current.command)
    }

    /// Whether the buffer holds writes that are done.
    pub(super) fn holds_writes(&self) -> bool {
        !self.dirty.is_empty() || self.destaged().is_some()
    }

    /// How long the head, which reads on, still takes to the end of a read that it is in the middle of.
    fn rest_ns(&self, now: Nanos, request: &Request) -> Option<Nanos> {
        let (start, end) = self.read_ahead(now)?;
        let is_in_it = request.op == Op::Read && (start..=end).contains(&request.sector);
        let reads_on = end < self.ahead?.limit;
        (is_in_it && reads_on && request.end() > end).then(|| {
            (self.end_at + (request.end() - self.end_sector) * self.spec.sector_ns)
                .saturating_sub(now)
        })
    }

    fn holds(&self, now: Nanos, request: &Request) -> bool {
        let within = |(start, end): (u64, u64)| start <= request.sector && request.end() <= end;
        request.op == Op::Read
            && (self.read_ahead(now).is_some_and(within) || self.frozen.iter().copied().any(within))
    }

    /// Seek and rotation to `sector`; where waiting on the spiral is shorter, that wait as rotation.
    fn positioning(&self, now: Nanos, sector: u64) -> (Nanos, Nanos) {
        let here = self.read_ahead(now).map_or(self.end_sector, |(_, end)| end);
        let seek =
            self.spec.seek_ns(here / self.spec.track_sectors, sector / self.spec.track_sectors);
        let angle_ns = sector % self.spec.track_sectors * self.spec.sector_ns;
        let rotation = (angle_ns + self.spec.revolution_ns()
            - (now + seek) % self.spec.revolution_ns())
            % self.spec.revolution_ns();
        let ahead =
            sector.checked_sub(self.end_sector).filter(|&by| by <= 2 * self.spec.track_sectors);
        let by_itself = ahead
            .and_then(|sectors| (self.end_at + sectors * self.spec.sector_ns).checked_sub(now))
            .filter(|&wait| wait < seek + rotation);
        by_itself.map_or((seek, rotation), |wait| (0, wait))
    }

    /// Seek and rotation before a command, or nothing where the read buffer has it.
    fn cost(&self, now: Nanos, command: &Waiting) -> Nanos {
        if matches!(command.request.op, Op::Flush | Op::Discard | Op::Zeroes)
            || self.holds(now, &command.request)
            || self.rest_ns(now, &command.request).is_some()
        {
            return 0;
        }
        let (seek, rotation) = self.positioning(now, command.request.sector);
        seek + rotation
    }

    /// The command in `line` that may be chosen and costs least, the oldest where it has waited too long.
    fn best(&self, now: Nanos, line: &[Waiting]) -> Option<usize> {
        let ready =
            |(_, command): &(usize, &Waiting)| command.arrived + self.spec.command_ns <= now;
        let key = |(index, command): &(usize, &Waiting)| {
            let aged = command.arrived + self.spec.aged_ns <= now;
            (!aged, if aged { 0 } else { self.cost(now, command) }, command.arrived, *index)
        };
        line.iter().enumerate().filter(ready).min_by_key(key).map(|(index, _)| index)
    }

    /// Starts the next command that can be chosen: reads first, but alternating with buffered writes while a
    /// flush or a full buffer waits.
    pub(super) fn choose(&mut self, now: Nanos) {
        self.chooses_at = None;
        if self.current.is_some() {
            return;
        }
        let pressed = !self.flushes.is_empty() || !self.incoming.is_empty();
        let next = self.best(now, &self.waiting);
        if !self.dirty.is_empty() && (next.is_none() || (pressed && !self.has_moved_enough())) {
            return self.begin_destage(now);
        }
        match next {
            Some(index) => self.begin(now, index),
            None => {
                let oldest = self.waiting.iter().map(|command| command.arrived).min();
                self.chooses_at = oldest.map(|arrived| arrived + self.spec.command_ns);
            }
        }
    }

    /// Whether as much was moved to the medium since the last read as goes between two reads.
    fn has_moved_enough(&self) -> bool {
        self.moved_since_read.is_some_and(|sectors| sectors >= self.spec.burst_sectors)
    }

    /// Takes the next write into the buffer, once the link is free and there is room.
    pub(super) fn take_in(&mut self, now: Nanos) {
        let Some(&command) = self.incoming.front() else { return };
        let sectors = u64::from(command.request.sectors);
        let fits = self.buffered_sectors + sectors <= self.spec.buffer_sectors
            || self.buffered_sectors == 0;
        if self.on_link.is_some() || !fits {
            return;
        }
        self.incoming.pop_front();
        self.buffered_sectors += sectors;
        let start = self.link_free_at.max(now).max(command.arrived + self.spec.command_ns);
        let end = start + self.spec.link_ns(command.request.sectors);
        self.link_free_at = end;
        self.on_link = Some((end, command));
    }

    /// Moves the write to the medium that costs least, of those that replace no older one in the buffer.
    fn begin_destage(&mut self, now: Nanos) {
        let replaces_older = |index: usize| {
            let request = self.dirty[index].request;
            let mut older = self.dirty[..index].iter().map(|older| older.request);
            older.any(|older| older.sector < request.end() && request.sector < older.end())
        };
        // The cheapest nearly always may go; a buffer of 100,000 writes would be slow to compare with itself.
        let mut tried = None;
        let index = loop {
            let costs = self.dirty.iter().enumerate();
            let costs = costs.map(|(index, command)| (self.cost(now, command), index));
            let cheapest = costs.filter(|place| tried.is_none_or(|tried| *place > tried)).min();
            let cheapest = cheapest.expect("the oldest replaces nothing older");
            if !replaces_older(cheapest.1) {
                break cheapest.1;
            }
            tried = Some(cheapest);
        };
        let command = self.dirty.remove(index);
        let (end, moved) = self.move_to(now, &command.request);
        self.moved_since_read =
            Some(self.moved_since_read.unwrap_or(0) + u64::from(command.request.sectors));
        let busy_ns = moved.total();
        self.current = Some(Current { end, command, spent: Spent::NONE, busy_ns, destages: true });
    }

    fn begin(&mut self, now: Nanos, index: usize) {
        let command = self.waiting.remove(index);
        let request = command.request;
        let mut busy_ns = 0;
        let mut spent = Spent::NONE;
        spent.add(Part::QUEUE, now - command.arrived);
        let end = if !matches!(request.op, Op::Read | Op::Write { .. }) {
            now
        } else if self.holds(now, &request) {
            let end = self.link_free_at.max(now) + self.spec.link_ns(request.sectors);
            self.link_free_at = end;
            if let Some(ahead) = &mut self.ahead {
                ahead.last = request.sector;
            }
            self.counters.read_hits += 1;
            spent.add(Part::BUS, end - now);
            end
        } else if let Some(rest) = self.rest_ns(now, &request) {
            self.moved_since_read = None;
            spent.add(Part::MEDIA, rest);
            busy_ns = rest;
            self.turn_to(now, &request, now + rest, true);
            now + rest
        } else {
            if request.op == Op::Read {
                self.moved_since_read = None;
            }
            let (end, moved) = self.move_to(now, &request);
            busy_ns = moved.total();
            spent += moved;
            end
        };
        self.current = Some(Current { end, command, spent, busy_ns, destages: false });
    }

    /// The head goes to `request` and passes over it; gives when that ends, and where the time goes.
    fn move_to(&mut self, now: Nanos, request: &Request) -> (Nanos, Spent) {
        let (seek, rotation) = self.positioning(now, request.sector);
        let media = u64::from(request.sectors) * self.spec.sector_ns;
        let mut spent = Spent::NONE;
        spent.add(Part::SEEK, seek);
        spent.add(Part::ROTATION, rotation);
        spent.add(Part::MEDIA, media);
        let end = now + spent.total();
        self.turn_to(now, request, end, seek == 0);
        (end, spent)
    }

    /// Freezes the read segment that the head leaves. A read starts read-ahead, a write invalidates.
    fn turn_to(&mut self, now: Nanos, request: &Request, end_at: Nanos, by_itself: bool) {
        let reads = request.op == Op::Read;
        if let Some((start, end)) = self.read_ahead(now) {
            let goes_on = reads
                && by_itself
                && (start..=end + 2 * self.spec.track_sectors).contains(&request.sector);
            if !goes_on {
                self.frozen.push_back((start, end));
                self.ahead = None;
            }
        }
        if reads {
            let start = self.ahead.map_or(request.sector, |ahead| ahead.start);
            self.ahead = Some(ReadAhead {
                start,
                last: request.sector,
                limit: request.end() + self.spec.ahead_sectors,
            });
        } else {
            self.ahead = None;
            let (start, end) = (request.sector, request.end());
            let pieces = std::mem::take(&mut self.frozen);
            for (from, to) in pieces {
                let left = [(from, to.min(start)), (from.max(end), to)];
                self.frozen.extend(left.into_iter().filter(|(from, to)| from < to));
            }
        }
        while self.frozen.len() > self.spec.frozen_segments {
            self.frozen.pop_front();
        }
        (self.end_sector, self.end_at) = (request.end(), end_at);
    }

    pub(super) fn next_event(&self) -> Option<Nanos> {
        let head = self.current.as_ref().map(|current| current.end).or(self.chooses_at);
        earlier(head, self.on_link.as_ref().map(|&(end, _)| end))
    }
}
