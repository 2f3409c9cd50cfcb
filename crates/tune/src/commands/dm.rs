//! The device mapper by itself: `dmsetup create` with its table, in sectors.

use super::{Command, build, check};
use lab::experiment::Volume;

/// Where it is.
pub(super) const DEVICE: &str = "/dev/mapper/data";

/// What builds such a level of `$disks`, and what checks it; nothing for other levels.
pub(super) fn commands(volume: &Volume) -> Option<[Vec<Command>; 2]> {
    let sectors = volume.member_sectors().ok()?;
    let (table, like) = match volume.level.name {
        "dm-stripe" => (striped(&sectors, volume.interleave_sectors)?, "--type striped"),
        "dm-concat" => (linear(&sectors), "--type linear"),
        _ => return None,
    };
    let known = sectors.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    Some([
        vec![
            build(
                &format!("the table counts on drives of {known} sectors: yours"),
                "for disk in $disks; do blockdev --getsz $disk; done".into(),
            ),
            build(
                &format!(
                    "the volume; it is gone after a restart, so let a unit of systemd do this, or take LVM's `{like}`, which \
                     lays out the same"
                ),
                format!("set -- $disks; dmsetup create data --table \"{table}\""),
            ),
        ],
        vec![check("its table", "dmsetup table data".into())],
    ])
}

/// The place of a member: `${1}` is the first of them.
fn place(member: usize) -> String {
    format!("${{{}}}", member + 1)
}

/// Whole chunks of the smallest, of each.
fn striped(sectors: &[u64], interleave_sectors: u64) -> Option<String> {
    let each = sectors.iter().min()? / interleave_sectors * interleave_sectors;
    let places: Vec<String> =
        (0..sectors.len()).map(|member| format!("{} 0", place(member))).collect();
    let all = each * sectors.len() as u64;
    Some(format!("0 {all} striped {} {interleave_sectors} {}", sectors.len(), places.join(" ")))
}

/// One after the other, a line for each.
fn linear(sectors: &[u64]) -> String {
    let mut start = 0;
    let line = |(member, length): (usize, &u64)| {
        let line = format!("{start} {length} linear {} 0", place(member));
        start += length;
        line
    };
    sectors.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}
