//! Everything that was written to the disks of a machine, and when a power cut could no longer lose it: enough to say what
//! each disk holds after a cut at any instant.

use crate::medium::Medium;
use sim::{Nanos, Tag};
use std::collections::BTreeMap;

/// Something that changed sectors.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Written {
    disk: usize,
    sector: u64,
    change: Change,
}

/// What it made of them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Bytes(Vec<u8>),
    Zeroes(u64),
}

/// What was written, in the order in which it was done.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    written: BTreeMap<Tag, Vec<Written>>,
    durable_at: BTreeMap<Tag, Nanos>,
    /// What the guest has noted, and when.
    notes: Vec<(Nanos, u64)>,
}

impl Recording {
    pub(crate) fn write(&mut self, tag: Tag, disk: usize, sector: u64, bytes: &[u8]) {
        let change = Change::Bytes(bytes.to_vec());
        self.written.entry(tag).or_default().push(Written { disk, sector, change });
    }

    pub(crate) fn zero(&mut self, tag: Tag, disk: usize, sector: u64, sectors: u64) {
        let change = Change::Zeroes(sectors);
        self.written.entry(tag).or_default().push(Written { disk, sector, change });
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
        Replay { of: self, order, next: 0, media: vec![Medium::default(); disks] }
    }
}

/// What the disks hold as time goes on, if power were cut then.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    of: &'a Recording,
    /// What became durable when, the first first.
    order: Vec<(Nanos, Tag)>,
    next: usize,
    media: Vec<Medium>,
}

impl Replay<'_> {
    /// What each disk holds after a cut at `instant`: all that was durable by then, and nothing else. Instants come in
    /// order.
    pub fn cut_at(&mut self, instant: Nanos) -> &[Medium] {
        while let Some((_, tag)) = self.order.get(self.next).filter(|(at, _)| *at <= instant) {
            for Written { disk, sector, change } in self.of.written.get(tag).into_iter().flatten() {
                match change {
                    Change::Bytes(bytes) => self.media[*disk].write(*sector, bytes),
                    Change::Zeroes(sectors) => self.media[*disk].zero(*sector, *sectors),
                }
            }
            self.next += 1;
        }
        &self.media
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_leaves_what_was_durable() {
        let mut recording = Recording::default();
        // The second is durable before the first; the third never is.
        recording.write(0, 1, 8, &[1; 512]);
        recording.write(1, 1, 8, &[2; 512]);
        recording.write(2, 0, 0, &[3; 512]);
        recording.durable(1, 100);
        recording.durable(0, 200);
        let mut replay = recording.replay(2);
        let mut held = |instant| {
            let mut sector = [0; 512];
            let media = replay.cut_at(instant);
            media[1].read(8, &mut sector);
            (sector[0], media[0].kept_bytes())
        };
        assert_eq!(
            [held(99), held(100), held(199), held(200), held(u64::MAX)],
            [(0, 0), (2, 0), (2, 0), (1, 0), (1, 0)]
        );
    }
}
