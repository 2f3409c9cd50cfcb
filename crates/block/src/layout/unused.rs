//! What members of several sizes leave unused.

use super::Layout;
use crate::units::format_decimal;
use crate::{Place, SECTOR_BYTES};

/// What stays unused of members of several sizes, each of which gives as much as the smallest: said where it is a hundredth of
/// them or more.
pub fn unused(layout: &dyn Layout, members: &[u64]) -> Option<String> {
    let least = members.iter().copied().min()?;
    let more: u64 = members.iter().map(|sectors| sectors - least).sum();
    let is_used = |(member, &sectors): (usize, &u64)| {
        let middle = Place { member: member as u32, sector: least + (sectors - least) / 2 };
        sectors > least && layout.holds(middle).0.is_some()
    };
    if more * 100 < members.iter().sum::<u64>() || members.iter().enumerate().any(is_used) {
        return None;
    }
    let [more, least] = [more, least].map(|sectors| format_decimal(sectors * SECTOR_BYTES));
    Some(format!("{more} stay unused: every member gives as much as the smallest, {least}"))
}
