//! Members one after another: ccd(4) with interleave 0, md's and dm's linear.
//!
//! ```text
//! members of 1000 and 2000 sectors
//! volume sector   0 .. 999   1000 .. 2999
//! lives on        member 0   member 1
//! ```
//!
//! A read of 16 sectors at 992 is 8 sectors of member 0 from 992 and 8 of member 1 from 0.

use super::{Layout, LayoutError, check_members, whole_interleaves};
use crate::Place;

/// Members one after another.
#[derive(Clone, Debug)]
pub struct Concat {
    /// Where each member ends, in sectors of the volume.
    ends: Vec<u64>,
}

impl Concat {
    /// Members of these sizes, in sectors, in this order.
    ///
    /// # Errors
    ///
    /// Where there is no member, or one has no sectors.
    pub fn new(member_sectors: &[u64]) -> Result<Self, LayoutError> {
        check_members(member_sectors)?;
        let mut end = 0;
        let ends = member_sectors.iter().map(|sectors| {
            end += sectors;
            end
        });
        Ok(Concat { ends: ends.collect() })
    }

    /// The same with every member cut to a multiple of `interleave_sectors`, which is md's
    /// `--rounding`; 0 does not cut.
    ///
    /// # Errors
    ///
    /// As [`Concat::new`], and where a member is smaller than that.
    pub fn rounded(interleave_sectors: u64, member_sectors: &[u64]) -> Result<Self, LayoutError> {
        if interleave_sectors == 0 {
            return Concat::new(member_sectors);
        }
        let whole = whole_interleaves(interleave_sectors, member_sectors)?;
        Concat::new(&whole.iter().map(|count| count * interleave_sectors).collect::<Vec<_>>())
    }

    /// Where a member starts, in sectors of the volume.
    fn start(&self, member: usize) -> u64 {
        if member == 0 { 0 } else { self.ends[member - 1] }
    }
}

impl Layout for Concat {
    fn members(&self) -> usize {
        self.ends.len()
    }

    fn sectors(&self) -> u64 {
        *self.ends.last().expect("there is at least one member")
    }

    fn places(&self, sector: u64, places: &mut Vec<Place>) -> u64 {
        let member = self.ends.partition_point(|&end| end <= sector);
        places.push(Place { member: member as u32, sector: sector - self.start(member) });
        self.ends[member] - sector
    }

    fn holds(&self, place: Place) -> (Option<u64>, u64) {
        let member = place.member as usize;
        let sector = self.start(member) + place.sector;
        if sector < self.ends[member] {
            (Some(sector), self.ends[member] - sector)
        } else {
            (None, u64::MAX - sector)
        }
    }
}
