//! LVM's commands: a volume group of the members, and one logical volume that takes all of it.

use super::{Build, Need, Step};
use crate::error::{Error, Result};
use crate::experiment::check_interleave;
use crate::file_system::real::Geometry;
use block::Level;
use block::layout::Redundancy;

/// LVM's tools, and the device mapper that they speak to.
const LVM: [Need; 3] = [
    Need::Program("lvcreate", "lvm2"),
    Need::Program("dmsetup", "dmsetup"),
    Need::Driver("/dev/mapper/control", "dm"),
];

/// What the tools are told instead of the machine's own configuration: nothing is kept below /etc, no daemon watches,
/// and no list of known devices hides the members.
pub(super) const CONFIG: &str =
    "backup{backup=0 archive=0} activation{monitoring=0} devices{use_devicesfile=0}";

/// The commands for a level of `paths`, in a group called `name`.
///
/// # Errors
///
/// Where LVM has no such stripe, or not with so many members; the message says what to take.
pub(super) fn build(
    level: Level,
    interleave_sectors: u64,
    paths: &[String],
    name: &str,
) -> Result<Build> {
    // A hyphen is doubled in the device's name.
    let group = name.replace('-', "_");
    let members = paths.len();
    let mut create = tool(&["lvcreate"], &["-y", "-W", "n", "-Z", "n"]);
    create.extend(kind(level, members)?.split(' ').map(String::from));
    if level.interleaved() {
        check_interleave(level, interleave_sectors)?;
        create
            .extend(["-I".into(), format!("{}k", interleave_sectors * block::SECTOR_BYTES / 1024)]);
    }
    if level.name != "lvm-stripe" {
        // The members are blank or their contents given up: nothing is copied while the trial runs.
        create.push("--nosync".into());
    }
    create.extend(["-l", "100%FREE", "-n", "data", &group].map(String::from));
    let with_paths = |mut words: Vec<String>| {
        words.extend(paths.iter().cloned());
        Step::new(words)
    };
    Ok(Build {
        make: vec![with_paths(tool(&["vgcreate"], &["-y", &group])), Step::new(create)],
        assemble: vec![Step::new(tool(&["vgchange"], &["-a", "y", &group]))],
        devices: vec![format!("/dev/mapper/{group}-data")],
        take_down: vec![
            Step::new(tool(&["vgremove"], &["-f", "-y", &group])),
            with_paths(tool(&["pvremove"], &["-y"])),
        ],
        geometry: Geometry::default(),
        needs: LVM.to_vec(),
        pool: None,
    })
}

fn tool(program: &[&str], arguments: &[&str]) -> Vec<String> {
    let words = program.iter().chain(&["--config", CONFIG]).chain(arguments);
    words.map(ToString::to_string).collect()
}

/// The type of the volume, and over how many members it goes.
fn kind(level: Level, members: usize) -> Result<String> {
    let few = |needed: &str| {
        Err(Error::input(format!(
            "`volume.level` = {level} takes {needed}, and there are {members}; add or leave out some, or take a \
             level of md"
        )))
    };
    match level.redundancy() {
        Redundancy::Nothing | Redundancy::Mirror if members < 2 => few("two members or more"),
        Redundancy::Nothing => Ok(format!("--type striped -i {members}")),
        Redundancy::Mirror => Ok(format!("--type raid1 -m {}", members - 1)),
        Redundancy::Parity(_) if members < 3 => few("three members or more"),
        Redundancy::Parity(_) => Ok(format!("--type raid5 -i {}", members - 1)),
        Redundancy::Copies(..) if members < 4 || !members.is_multiple_of(2) => {
            few("four members, six, or another even number")
        }
        Redundancy::Copies(..) => Ok(format!("--type raid10 -m 1 -i {}", members / 2)),
    }
}
