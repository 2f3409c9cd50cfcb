//! Members one after another: ccd(4) with interleave 0, md's and dm's linear.
//!
//! ```text
//! members of 1000 and 2000 sectors
//! volume sector   0 .. 999   1000 .. 2999
//! lives on        member 0   member 1
//! ```
//!
//! A read of 16 sectors at 992 is 8 sectors of member 0 from 992 and 8 of member 1 from 0.

use super::{Layout, LayoutError, check_members};
use crate::{Content, Health, Op, Place, Plan, Request, Unservable};

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
}

impl Layout for Concat {
    fn members(&self) -> usize {
        self.ends.len()
    }

    fn sectors(&self) -> u64 {
        *self.ends.last().expect("there is at least one member")
    }

    fn plan(&self, request: Request, health: &Health, plan: &mut Plan) -> Result<(), Unservable> {
        plan.clear();
        if request.op == Op::Flush {
            plan.flush_all(self.members(), health);
        }
        let mut sector = request.sector;
        let mut member = self.ends.partition_point(|&end| end <= sector);
        while sector < request.end() {
            let start = if member == 0 { 0 } else { self.ends[member - 1] };
            let end = request.end().min(self.ends[member]);
            let place = Place { member: member as u32, sector: sector - start };
            if !health.is_up(place.member) {
                return Err(Unservable { member: place.member });
            }
            plan.step(request.op, place, (end - sector) as u32, Content::Data(sector));
            sector = end;
            member += 1;
        }
        plan.end_stage();
        Ok(())
    }
}
