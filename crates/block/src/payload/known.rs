//! The known bytes of a request's rows: what the plan's reads brought, and what the request writes. New
//! parity is computed in whichever way these allow. For a column of a, b, c under P and Q, where a
//! becomes A:
//!
//! ```text
//! all data is known           P = A + b + c                Q = A + 2b + 4c
//! the old a and P (Q) are     P = p + (A + a)              Q = q + (A + a)
//! else                        what is missing is worked out of p and q first
//! ```
//!
//! Sums are those of [`super::field`].

use super::field::{add_product, inverse, power, scale};
use crate::Content;
use crate::layout::{Layout, Rows};

/// The bytes that a plan has brought so far.
pub(super) struct Known<'a> {
    layout: &'a dyn Layout,
    sector_bytes: usize,
    read: Vec<(Content, &'a [u8])>,
    written: Option<(u64, &'a [u8])>,
}

/// A data sector of a column, and its weight in Q.
#[derive(Clone, Copy, Debug)]
struct Weighed {
    sector: u64,
    weight: u8,
}

/// What was computed: a sector and its bytes.
type Found = Vec<(u64, Vec<u8>)>;

impl<'a> Known<'a> {
    /// For a plan of `layout`, with nothing read or written yet.
    pub(super) fn new(layout: &'a dyn Layout, sector_bytes: usize) -> Self {
        Known { layout, sector_bytes, read: Vec::new(), written: None }
    }

    /// A step of the plan has read `bytes`, which are `content`.
    pub(super) fn add_read(&mut self, content: Content, bytes: &'a [u8]) {
        self.read.push((content, bytes));
    }

    /// The request writes `bytes` from `sector` of the volume on.
    pub(super) fn set_written(&mut self, sector: u64, bytes: &'a [u8]) {
        self.written = Some((sector, bytes));
    }

    /// Fills `out` with the new sectors of `content`: what the request writes there, what was read, or
    /// what is computed from both.
    ///
    /// # Panics
    ///
    /// Where the plan read too little to compute it: a bug of the layout.
    pub(super) fn fill(&self, content: Content, out: &mut [u8]) {
        assert!(out.len().is_multiple_of(self.sector_bytes), "only whole sectors are filled");
        for (nth, out) in (0_u64..).zip(out.chunks_exact_mut(self.sector_bytes)) {
            match content {
                Content::Data(first) => self.fill_data(first + nth, out),
                Content::P(first) => self.fill_parity(Content::P(first + nth), out),
                Content::Q(first) => self.fill_parity(Content::Q(first + nth), out),
            }
        }
    }

    fn fill_data(&self, sector: u64, out: &mut [u8]) {
        if let Some(bytes) = self.wanted(sector) {
            return out.copy_from_slice(bytes);
        }
        let rows = self.rows_at(sector);
        let row_start = rows.row_of(sector).1;
        let first = row_start + (sector - row_start) % rows.parity.interleave_sectors();
        let found = self.work_out(first);
        let (_, bytes) =
            found.iter().find(|(found, _)| *found == sector).expect("it is in its own column");
        out.copy_from_slice(bytes);
    }

    /// One sector of new parity, by reconstruction, by modification, or from old data computed from
    /// parity.
    fn fill_parity(&self, which: Content, out: &mut [u8]) {
        let (first, is_q) = match which {
            Content::P(first) => (first, false),
            Content::Q(first) => (first, true),
            Content::Data(_) => unreachable!("data is no parity"),
        };
        let weight = |weighed: Weighed| if is_q { weighed.weight } else { 1 };
        let known = self.column(first).all(|weighed| self.wanted(weighed.sector).is_some());
        let changes_known = || {
            self.column(first).all(|weighed| {
                self.fresh(weighed.sector).is_none() || self.old(weighed.sector).is_some()
            })
        };
        match self.find(which) {
            Some(old) if !known && changes_known() => {
                out.copy_from_slice(old);
                for weighed in self.column(first) {
                    if let Some(fresh) = self.fresh(weighed.sector) {
                        add_product(out, weight(weighed), fresh);
                        let old = self.old(weighed.sector).expect("that of all that changes is");
                        add_product(out, weight(weighed), old);
                    }
                }
            }
            _ => {
                let found = if known { Found::new() } else { self.work_out(first) };
                out.fill(0);
                for weighed in self.column(first) {
                    let worked_out = || {
                        let found = found.iter().find(|(sector, _)| *sector == weighed.sector);
                        found.map(|(_, bytes)| bytes.as_slice())
                    };
                    let bytes = self.wanted(weighed.sector).or_else(worked_out);
                    add_product(out, weight(weighed), bytes.expect("all of the column is found"));
                }
            }
        }
    }

    /// The old content of those sectors of a column that no step read.
    fn work_out(&self, first: u64) -> Found {
        let rest = |which: Content, is_q: bool| {
            let mut rest = self.find(which)?.to_vec();
            for Weighed { sector, weight } in self.column(first) {
                if let Some(old) = self.old(sector) {
                    add_product(&mut rest, if is_q { weight } else { 1 }, old);
                }
            }
            Some(rest)
        };
        let unknown: Vec<Weighed> =
            self.column(first).filter(|weighed| self.old(weighed.sector).is_none()).collect();
        match (unknown.as_slice(), rest(Content::P(first), false), rest(Content::Q(first), true)) {
            ([], ..) => Found::new(),
            ([a], Some(p), _) => vec![(a.sector, p)],
            ([a], None, Some(mut q)) => {
                scale(&mut q, inverse(a.weight));
                vec![(a.sector, q)]
            }
            ([a, b], Some(mut p), Some(mut q)) => {
                // a + b = p and wa a + wb b = q, so (wa + wb) a = q + wb p.
                add_product(&mut q, b.weight, &p);
                scale(&mut q, inverse(a.weight ^ b.weight));
                add_product(&mut p, 1, &q);
                vec![(a.sector, q), (b.sector, p)]
            }
            _ => panic!("the plan read too little to tell {unknown:?}"),
        }
    }

    fn rows_at(&self, sector: u64) -> Rows<'a> {
        self.layout.rows_at(sector).expect("only parity has columns, or tells what was not read")
    }

    /// The data sectors of the column whose first is `first`.
    fn column(&self, first: u64) -> impl Iterator<Item = Weighed> {
        let rows = self.rows_at(first);
        let (parity, row) = (rows.parity, rows.row_of(first).0);
        let interleave = parity.interleave_sectors();
        (0..parity.data_units()).map(move |unit| Weighed {
            sector: first + u64::from(unit) * interleave,
            weight: power(parity.exponent(row, unit)),
        })
    }

    /// The new content of a data sector, where it was read or is written.
    fn wanted(&self, sector: u64) -> Option<&'a [u8]> {
        self.fresh(sector).or_else(|| self.old(sector))
    }

    fn fresh(&self, sector: u64) -> Option<&'a [u8]> {
        let (first, bytes) = self.written?;
        self.nth(bytes, sector.checked_sub(first)?)
    }

    fn old(&self, sector: u64) -> Option<&'a [u8]> {
        self.find(Content::Data(sector))
    }

    /// One sector of what was read.
    fn find(&self, wanted: Content) -> Option<&'a [u8]> {
        self.read.iter().find_map(|&(content, bytes)| {
            let nth = match (wanted, content) {
                (Content::Data(wanted), Content::Data(first))
                | (Content::P(wanted), Content::P(first))
                | (Content::Q(wanted), Content::Q(first)) => wanted.checked_sub(first)?,
                _ => return None,
            };
            self.nth(bytes, nth)
        })
    }

    fn nth(&self, bytes: &'a [u8], nth: u64) -> Option<&'a [u8]> {
        let start = (nth as usize).checked_mul(self.sector_bytes)?;
        bytes.get(start..start.checked_add(self.sector_bytes)?)
    }
}
