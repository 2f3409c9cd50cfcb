//! The drives that results name.

use super::stated_members;
use crate::catalogue::{self, Drive};
use std::collections::{BTreeMap, BTreeSet};

/// The drives of lists of members that results state, by the names that stand there, as far as the catalogue
/// has them.
pub fn stated_drives(lists: impl Iterator<Item = String>) -> BTreeMap<String, Drive> {
    let lists: BTreeSet<String> = lists.collect();
    let members = lists.iter().flat_map(|list| stated_members(list));
    let names: BTreeSet<String> = members.map(|member| member.drive).collect();
    let drive = |name: String| catalogue::drive(&name).ok().map(|drive| (name, drive));
    names.into_iter().filter_map(drive).collect()
}
