//! A piece of a request that a writer brings to rows, page by page.

use crate::linux::queue::PAGE_SECTORS;
use std::ops::Range;

/// What is left of a piece of at most 1 MiB of a request: its pages in turn, from one of them to the last, and then those
/// before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bio {
    pub(super) caller: usize,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Pages before the one that is the first in turn.
    pub(super) before: u64,
    /// Pages whose turn is over: their rows have been given their blocks.
    pub(super) over: u64,
    pub(super) last: bool,
    /// Each page is a bio of its own, given to its row by itself: what write-back of a block device sends
    /// (`block_write_full_page`).
    pub(super) is_of_pages: bool,
    /// Somebody waits for it (`REQ_SYNC`): its rows are not delayed.
    pub(super) is_sync: bool,
}

impl Bio {
    pub(super) fn new(caller: usize, start: u64, end: u64, last: bool) -> Self {
        Bio { caller, start, end, before: 0, over: 0, last, is_of_pages: false, is_sync: false }
    }

    /// All of a request, each page of which is a bio.
    pub(super) fn of_pages(caller: usize, start: u64, end: u64) -> Self {
        Bio { is_of_pages: true, ..Bio::new(caller, start, end, true) }
    }

    pub(super) fn first_page(&self) -> u64 {
        self.start / u64::from(PAGE_SECTORS)
    }

    pub(super) fn pages(&self) -> u64 {
        self.end.div_ceil(u64::from(PAGE_SECTORS)) - self.first_page()
    }

    /// The sector of the page whose turn it is.
    pub(super) fn next(&self) -> Option<u64> {
        let pages = self.pages();
        let turn = self.before + self.over;
        let page = if turn < pages { turn } else { turn - pages };
        (self.over < pages).then_some((self.first_page() + page) * u64::from(PAGE_SECTORS))
    }

    /// Whether the turn of the page of `sector` is over.
    pub(super) fn is_over(&self, sector: u64) -> bool {
        let page = sector / u64::from(PAGE_SECTORS) - self.first_page();
        let turn = if page < self.before { page + self.pages() } else { page };
        turn - self.before < self.over
    }

    /// The units, of `all` of a row, that the row is given at once: those in which this has sectors, or `unit` alone where each
    /// page is a bio. `unit` is one of them, and the 4 KiB of the row in a unit begin at its `block`.
    pub(super) fn units(&self, unit: u64, all: u64, block: impl Fn(u64) -> u64) -> Range<u64> {
        let (mut first, mut end) = (unit, unit + 1);
        if self.is_of_pages {
            return first..end;
        }
        while first > 0 && block(first - 1) + u64::from(PAGE_SECTORS) > self.start {
            first -= 1;
        }
        while end < all && block(end) < self.end {
            end += 1;
        }
        first..end
    }
}
