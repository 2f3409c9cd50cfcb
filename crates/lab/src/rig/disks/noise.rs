//! What is written where nobody says what: bytes that no disk can shorten, and that are no signature.

/// Numbers that look random (SplitMix64), the top bit of every byte set: nearly every mark of a file
/// system has a byte without, so that what a trial wrote is not taken for one.
#[derive(Clone, Debug)]
pub struct Noise {
    at: u64,
    /// So many bytes in a row are one word again and again.
    alike_bytes: usize,
}

const WORD_BYTES: usize = 8;
const PAGE_BYTES: usize = 4096;

impl Noise {
    /// The same bytes for the same seed.
    pub fn new(seed: u64) -> Self {
        Noise { at: seed, alike_bytes: WORD_BYTES }
    }

    /// The same bytes for the same seed, a word for each page of what is filled: what keeps a modelled disk in memory
    /// keeps such a page, and the parity of several, in as much as a word.
    pub fn of_pages(seed: u64) -> Self {
        Noise { at: seed, alike_bytes: PAGE_BYTES }
    }

    /// Fills `bytes` with the next of it.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        let words_alike = self.alike_bytes / WORD_BYTES;
        let (words, rest) = bytes.as_chunks_mut::<WORD_BYTES>();
        let (mut word, mut left) = ([0; WORD_BYTES], 0);
        for part in words {
            if left == 0 {
                (word, left) = (self.next().to_le_bytes(), words_alike);
            }
            *part = word;
            left -= 1;
        }
        if left == 0 && !rest.is_empty() {
            word = self.next().to_le_bytes();
        }
        rest.copy_from_slice(&word[..rest.len()]);
    }

    fn next(&mut self) -> u64 {
        self.at = self.at.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.at;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) | 0x8080_8080_8080_8080
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each page is a word of its own again and again, also where what is filled ends within one; without pages no word
    /// comes twice.
    #[test]
    fn pages_are_alike_within_and_not_among() {
        let filled = |mut noise: Noise| {
            let mut bytes = vec![0; 3 * PAGE_BYTES + 1000];
            noise.fill(&mut bytes);
            bytes
        };
        let pages = filled(Noise::of_pages(1));
        let mut words = Vec::new();
        for page in pages.chunks(PAGE_BYTES) {
            assert!(page.chunks(WORD_BYTES).all(|word| word == &page[..WORD_BYTES]));
            assert!(!words.contains(&&page[..WORD_BYTES]));
            words.push(&page[..WORD_BYTES]);
        }
        let noise = filled(Noise::new(1));
        assert_eq!(noise[..WORD_BYTES], pages[..WORD_BYTES]);
        assert_ne!(noise[..WORD_BYTES], noise[WORD_BYTES..2 * WORD_BYTES]);
    }
}
