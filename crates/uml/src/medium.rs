//! What a disk holds: sparse, zeroes where nothing was written.

use std::collections::BTreeMap;

/// The bytes of a page, the unit in which contents are kept.
const PAGE_BYTES: usize = 4096;
const PAGE_SECTORS: u64 = PAGE_BYTES as u64 / block::SECTOR_BYTES;

const WORD_BYTES: usize = size_of::<u64>();
/// What a page of one word takes: its place in a tree whose leaves are half full.
const ALIKE_BYTES: u64 = 2 * size_of::<(u64, Page)>() as u64;

/// The contents of a disk.
#[derive(Clone, Debug, Default)]
pub struct Medium {
    pages: BTreeMap<u64, Page>,
    /// How many of the pages are kept byte by byte.
    in_full: u64,
}

/// A page that holds something but zeroes.
#[derive(Clone, Debug)]
enum Page {
    /// The same word again and again, as trials write it; the parity of such pages is one, too.
    Alike([u8; WORD_BYTES]),
    InFull(Box<[u8; PAGE_BYTES]>),
}

impl Page {
    /// Copies what it holds from the byte `within` it on.
    fn read(&self, within: usize, into: &mut [u8]) {
        match self {
            Page::InFull(bytes) => into.copy_from_slice(&bytes[within..within + into.len()]),
            // Pieces of sectors begin where a word does.
            Page::Alike(word) => {
                into.chunks_mut(WORD_BYTES)
                    .for_each(|part| part.copy_from_slice(&word[..part.len()]));
            }
        }
    }

    fn in_full(&self) -> Box<[u8; PAGE_BYTES]> {
        let mut bytes = Box::new([0; PAGE_BYTES]);
        self.read(0, &mut bytes[..]);
        bytes
    }
}

/// The word that `bytes` repeat from their first to their last.
fn word_of(bytes: &[u8]) -> Option<[u8; WORD_BYTES]> {
    let (word, rest) = bytes.split_first_chunk()?;
    // A range is as its own shift by a word.
    (bytes[..rest.len()] == *rest).then_some(*word)
}

impl Medium {
    /// Bytes of memory that are taken for what is kept, about.
    pub fn kept_bytes(&self) -> u64 {
        let alike = self.pages.len() as u64 - self.in_full;
        self.in_full * PAGE_BYTES as u64 + alike * ALIKE_BYTES
    }

    /// The first sectors of all pages of 4096 bytes that hold something but zeroes, in order.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        self.pages.keys().map(|page| page * PAGE_SECTORS)
    }

    /// Reads whole sectors.
    pub fn read(&self, sector: u64, into: &mut [u8]) {
        for (page, within, part) in pieces(sector, into.len()) {
            let into = &mut into[part];
            match self.pages.get(&page) {
                Some(kept) => kept.read(within, into),
                None => into.fill(0),
            }
        }
    }

    /// Writes whole sectors.
    pub fn write(&mut self, sector: u64, bytes: &[u8]) {
        for (page, within, part) in pieces(sector, bytes.len()) {
            let bytes = &bytes[part];
            let word = word_of(bytes);
            let is_whole = bytes.len() == PAGE_BYTES;
            if word == Some([0; WORD_BYTES]) && (is_whole || !self.pages.contains_key(&page)) {
                // A page of zeroes takes no place.
                self.put(page, None);
            } else if let (Some(word), true) = (word, is_whole) {
                self.put(page, Some(Page::Alike(word)));
            } else {
                self.in_full(page)[within..within + bytes.len()].copy_from_slice(bytes);
            }
        }
    }

    /// Replaces what a page holds.
    fn put(&mut self, page: u64, holds: Option<Page>) {
        let before = match holds {
            Some(holds) => self.pages.insert(page, holds),
            None => self.pages.remove(&page),
        };
        self.in_full -= u64::from(matches!(before, Some(Page::InFull(_))));
    }

    /// A page's bytes, to be changed.
    fn in_full(&mut self, page: u64) -> &mut [u8; PAGE_BYTES] {
        let kept = self.pages.entry(page).or_insert(Page::Alike([0; WORD_BYTES]));
        if let Page::Alike(_) = kept {
            *kept = Page::InFull(kept.in_full());
            self.in_full += 1;
        }
        let Page::InFull(bytes) = kept else { unreachable!("it has just been made so") };
        bytes
    }

    /// Makes sectors read as zeroes.
    pub fn zero(&mut self, sector: u64, sectors: u64) {
        let end = sector + sectors;
        let whole = sector.div_ceil(PAGE_SECTORS)..end / PAGE_SECTORS;
        if whole.start < whole.end {
            let mut gone = self.pages.split_off(&whole.start);
            self.pages.append(&mut gone.split_off(&whole.end));
            let in_full = gone.values().filter(|page| matches!(page, Page::InFull(_)));
            self.in_full -= in_full.count() as u64;
        }
        // What is left of the pages at both ends.
        for page in [sector / PAGE_SECTORS, end / PAGE_SECTORS] {
            let first = sector.max(page * PAGE_SECTORS);
            let last = end.min((page + 1) * PAGE_SECTORS);
            if first < last && self.pages.contains_key(&page) {
                let byte =
                    |sector: u64| ((sector - page * PAGE_SECTORS) * block::SECTOR_BYTES) as usize;
                self.in_full(page)[byte(first)..byte(last)].fill(0);
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
                // Bytes of which pages are alike or not, and zeroes.
                for (alike, is_zeroed) in
                    [(true, false), (true, true), (false, false), (false, true)]
                {
                    let mut medium = Medium::default();
                    let mut plain = vec![0_u8; 24 * 512];
                    let bytes = |sectors: u64, value: u8| -> Vec<u8> {
                        let other = |at: usize| if alike { 0 } else { (at / 8 % 64) as u8 };
                        (0..sectors as usize * 512).map(|at| value + other(at)).collect()
                    };
                    medium.write(*first, &bytes(first_end - first, 1));
                    plain[*first as usize * 512..*first_end as usize * 512]
                        .copy_from_slice(&bytes(first_end - first, 1));
                    let into = &mut plain[*second as usize * 512..*second_end as usize * 512];
                    if is_zeroed {
                        medium.zero(*second, second_end - second);
                        into.fill(0);
                    } else {
                        medium.write(*second, &bytes(second_end - second, 2));
                        into.copy_from_slice(&bytes(second_end - second, 2));
                    }
                    let mut read = vec![9; plain.len()];
                    medium.read(0, &mut read);
                    let case = (first, first_end, second, second_end, alike, is_zeroed);
                    assert!(read == plain, "{case:?}");
                    let in_full =
                        medium.pages.values().filter(|page| matches!(page, Page::InFull(_)));
                    assert_eq!(medium.in_full, in_full.count() as u64, "{case:?}");
                }
            }
        }
    }

    #[test]
    fn zeroes_take_no_place() {
        let mut medium = Medium::default();
        medium.write(1 << 40, &vec![0; 65_536]);
        assert_eq!(medium.kept_bytes(), 0);
        let counted: Vec<u8> = (0..65_536_u32).map(|at| (at / 8) as u8).collect();
        medium.write(1 << 40, &counted);
        assert_eq!(medium.kept_bytes(), 65_536);
        medium.zero(0, 1 << 41);
        assert_eq!(medium.kept_bytes(), 0);
    }

    #[test]
    fn a_page_of_one_word_takes_little_place() {
        let mut medium = Medium::default();
        let words: Vec<u8> =
            (0..65_536).map(|at| b"wordword"[at % 8] + (at / 4096) as u8).collect();
        medium.write(0, &words);
        assert_eq!(medium.kept_bytes(), 16 * 48);
        let mut read = vec![0; words.len()];
        medium.read(0, &mut read);
        assert!(read == words);
        medium.write(1, &[0; 512]);
        assert_eq!(medium.kept_bytes(), 4096 + 15 * 48);
    }
}
