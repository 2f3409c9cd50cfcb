//! Memory that starts where every device can reach it without a copy.

#![expect(unsafe_code, reason = "bytes are seen through pages, so that they start at a page")]

use std::ops::{Deref, DerefMut, Range};
use std::slice;

const PAGE_BYTES: usize = 4096;

#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; PAGE_BYTES]);

/// Bytes that start at a page.
///
/// They live in a `Vec`, not in a `Box`, because a `Vec` may be moved while the kernel has their
/// address.
#[derive(Default)]
pub struct Buffer {
    pages: Vec<Page>,
}

impl Buffer {
    /// At least `bytes` bytes of zeroes.
    pub fn zeroed(bytes: usize) -> Self {
        Buffer { pages: vec![Page([0; PAGE_BYTES]); bytes.div_ceil(PAGE_BYTES)] }
    }

    /// Grows to at least `bytes` bytes.
    pub fn grow(&mut self, bytes: usize) {
        let pages = bytes.div_ceil(PAGE_BYTES);
        if pages > self.pages.len() {
            self.pages.resize(pages, Page([0; PAGE_BYTES]));
        }
    }

    /// Where `part` starts. No byte is borrowed for it: the kernel may be at work on other parts.
    pub(crate) fn start_of(&mut self, part: &Range<usize>) -> *mut u8 {
        let bytes = self.pages.len() * PAGE_BYTES;
        assert!(part.start <= part.end && part.end <= bytes, "{part:?} lies outside the buffer");
        self.pages.as_mut_ptr().cast::<u8>().wrapping_add(part.start)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let bytes = self.pages.len() * PAGE_BYTES;
        // SAFETY: the pages are initialised, contiguous and nothing but bytes, and borrowed as `self` is.
        unsafe { slice::from_raw_parts(self.pages.as_ptr().cast(), bytes) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let bytes = self.pages.len() * PAGE_BYTES;
        // SAFETY: as above, and borrowed alone.
        unsafe { slice::from_raw_parts_mut(self.pages.as_mut_ptr().cast(), bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_starts_at_a_page_and_keeps_its_bytes_when_it_grows() {
        let mut buffer = Buffer::zeroed(1);
        assert_eq!((buffer.len(), buffer.as_ptr().addr() % PAGE_BYTES), (PAGE_BYTES, 0));
        buffer[17] = 3;
        buffer.grow(3 * PAGE_BYTES - 1);
        assert_eq!((buffer.len(), buffer.as_ptr().addr() % PAGE_BYTES), (3 * PAGE_BYTES, 0));
        assert_eq!((buffer[17], buffer[2 * PAGE_BYTES]), (3, 0));
        assert!(Buffer::default().is_empty());
    }
}
