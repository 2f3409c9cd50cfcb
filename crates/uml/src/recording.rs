//! Everything that was written to the disks of a machine, and when a power cut could no longer lose it: enough to say what
//! each disk holds after a cut at any instant.

use crate::durable::{Change, Durable};
use crate::medium::Medium;
use sim::{Nanos, Tag};
use std::collections::BTreeMap;

/// What a command changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Written {
    /// Its place among those that changed something.
    place: u64,
    disk: usize,
    pieces: Vec<(u64, Change)>,
}

/// What was written, and when it was durable.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    written: BTreeMap<Tag, Written>,
    durable_at: BTreeMap<Tag, Nanos>,
    /// What the guest has noted, and when.
    notes: Vec<(Nanos, u64)>,
}

impl Recording {
    pub(crate) fn change(&mut self, tag: Tag, disk: usize, pieces: Vec<(u64, Change)>) {
        let place = self.written.len() as u64;
        self.written.insert(tag, Written { place, disk, pieces });
    }

    pub(crate) fn durable(&mut self, tag: Tag, at: Nanos) {
        self.durable_at.insert(tag, at);
    }

    pub(crate) fn note(&mut self, at: Nanos, number: u64) {
        self.notes.push((at, number));
    }

    /// What the guest has noted, and when, in order.
    pub fn notes(&self) -> &[(Nanos, u64)] {
        &self.notes
    }

    /// The same from an empty machine on, to be taken through its time.
    pub fn replay(&self, disks: usize) -> Replay<'_> {
        let mut order: Vec<(Nanos, Tag)> =
            self.durable_at.iter().map(|(tag, at)| (*at, *tag)).collect();
        order.sort_unstable();
        Replay { of: self, order, next: 0, disks: vec![Durable::default(); disks] }
    }
}

/// What the disks hold as time goes on, if power were cut then.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    of: &'a Recording,
    /// What became durable when, the first first.
    order: Vec<(Nanos, Tag)>,
    next: usize,
    disks: Vec<Durable>,
}

impl Replay<'_> {
    /// What each disk holds after a cut at `instant`: all that was durable by then, and nothing else. Instants come in
    /// order.
    pub fn cut_at(&mut self, instant: Nanos) -> Vec<Medium> {
        while let Some((_, tag)) = self.order.get(self.next).filter(|(at, _)| *at <= instant) {
            if let Some(Written { place, disk, pieces }) = self.of.written.get(tag) {
                self.disks[*disk].change_all(*place, pieces);
            }
            self.next += 1;
        }
        self.disks.iter().map(|disk| disk.medium().clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_leaves_what_was_durable() {
        let mut recording = Recording::default();
        let bytes = |value: u8, sectors: usize| Change::Bytes(vec![value; sectors * 512]);
        // The second replaces a part of the first, and is durable before it; the third never is.
        recording.change(4, 1, vec![(8, bytes(1, 1)), (9, bytes(1, 1))]);
        recording.change(1, 1, vec![(8, bytes(2, 1))]);
        recording.change(2, 0, vec![(0, bytes(3, 1))]);
        recording.durable(1, 100);
        recording.durable(4, 200);
        let mut replay = recording.replay(2);
        let mut held = |instant| {
            let mut sectors = [0; 1024];
            let media = replay.cut_at(instant);
            media[1].read(8, &mut sectors);
            (sectors[0], sectors[512], media[0].kept_bytes())
        };
        assert_eq!(
            [held(99), held(100), held(199), held(200), held(u64::MAX)],
            [(0, 0, 0), (2, 0, 0), (2, 0, 0), (2, 1, 0), (2, 1, 0)]
        );
    }
}
