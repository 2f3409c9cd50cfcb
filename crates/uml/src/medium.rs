//! What a disk holds: sparse, zeroes where nothing was written.

use std::collections::BTreeMap;

/// The bytes of a page, the unit in which contents are kept.
const PAGE_BYTES: usize = 4096;
const PAGE_SECTORS: u64 = PAGE_BYTES as u64 / block::SECTOR_BYTES;

/// The contents of a disk.
#[derive(Clone, Debug, Default)]
pub struct Medium {
    pages: BTreeMap<u64, Box<[u8]>>,
}

impl Medium {
    /// Bytes that are kept.
    pub fn kept_bytes(&self) -> u64 {
        self.pages.len() as u64 * PAGE_BYTES as u64
    }

    /// The first sectors of all pages of 4096 bytes that hold something but zeroes, in order.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        self.pages.keys().map(|page| page * PAGE_SECTORS)
    }

    /// Reads whole sectors.
    pub fn read(&self, sector: u64, into: &mut [u8]) {
        for (page, within, part) in pieces(sector, into.len()) {
            let into = &mut into[part.clone()];
            match self.pages.get(&page) {
                Some(kept) => into.copy_from_slice(&kept[within..within + part.len()]),
                None => into.fill(0),
            }
        }
    }

    /// Writes whole sectors.
    pub fn write(&mut self, sector: u64, bytes: &[u8]) {
        for (page, within, part) in pieces(sector, bytes.len()) {
            let bytes = &bytes[part];
            let is_zero = bytes.iter().all(|byte| *byte == 0);
            if is_zero && (bytes.len() == PAGE_BYTES || !self.pages.contains_key(&page)) {
                // A page of zeroes takes no place.
                self.pages.remove(&page);
                continue;
            }
            let kept = self.pages.entry(page).or_insert_with(|| vec![0; PAGE_BYTES].into());
            kept[within..within + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Makes sectors read as zeroes.
    pub fn zero(&mut self, sector: u64, sectors: u64) {
        let end = sector + sectors;
        let whole = sector.div_ceil(PAGE_SECTORS)..end / PAGE_SECTORS;
        if whole.start < whole.end {
            let mut behind = self.pages.split_off(&whole.start);
            self.pages.append(&mut behind.split_off(&whole.end));
        }
        // What is left of the pages at both ends.
        for page in [sector / PAGE_SECTORS, end / PAGE_SECTORS] {
            let first = sector.max(page * PAGE_SECTORS);
            let last = end.min((page + 1) * PAGE_SECTORS);
            let Some(kept) = self.pages.get_mut(&page) else { continue };
            if first < last {
                let byte =
                    |sector: u64| ((sector - page * PAGE_SECTORS) * block::SECTOR_BYTES) as usize;
                kept[byte(first)..byte(last)].fill(0);
            }
        }
    }
}

/// A range of bytes from a sector on, page by page: the page, the byte within it, the part of the range.
fn pieces(sector: u64, bytes: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done >= bytes {
            return None;
        }
        let at = sector * block::SECTOR_BYTES + done as u64;
        let within = (at % PAGE_BYTES as u64) as usize;
        let length = (PAGE_BYTES - within).min(bytes - done);
        let part = done..done + length;
        done += length;
        Some((at / PAGE_BYTES as u64, within, part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every two writes and zeroings on four pages' ends, against a plain array.
    #[test]
    fn a_medium_holds_what_was_written_last() {
        let ranges: Vec<(u64, u64)> = (5..20)
            .step_by(3)
            .flat_map(|start| (start + 1..=21).step_by(2).map(move |end| (start, end)))
            .collect();
        for (first, first_end) in &ranges {
            for (second, second_end) in &ranges {
                for is_zeroed in [false, true] {
                    let mut medium = Medium::default();
                    let mut plain = vec![0_u8; 24 * 512];
                    let bytes = |sectors: u64, value: u8| vec![value; sectors as usize * 512];
                    medium.write(*first, &bytes(first_end - first, 1));
                    plain[*first as usize * 512..*first_end as usize * 512].fill(1);
                    let into = &mut plain[*second as usize * 512..*second_end as usize * 512];
                    if is_zeroed {
                        medium.zero(*second, second_end - second);
                        into.fill(0);
                    } else {
                        medium.write(*second, &bytes(second_end - second, 2));
                        into.fill(2);
                    }
                    let mut read = vec![9; plain.len()];
                    medium.read(0, &mut read);
                    assert!(
                        read == plain,
                        "{first}..{first_end}, {second}..{second_end}, {is_zeroed}"
                    );
                }
            }
        }
    }

    #[test]
    fn zeroes_take_no_place() {
        let mut medium = Medium::default();
        medium.write(1 << 40, &vec![0; 65_536]);
        assert_eq!(medium.kept_bytes(), 0);
        medium.write(1 << 40, &vec![1; 65_536]);
        assert_eq!(medium.kept_bytes(), 65_536);
        medium.zero(0, 1 << 41);
        assert_eq!(medium.kept_bytes(), 0);
    }
}
