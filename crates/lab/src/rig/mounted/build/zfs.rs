//! ZFS's commands: the pool is volume and file system in one.
//!
//! It is exported before each mount and imported anew: what ZFS has in memory (the ARC) goes with it, which unmounting and
//! `drop_caches` leave there.

use super::{Build, Device, Need, Step};
use crate::error::{Error, Result};
use crate::file_system::real::Geometry;
use block::Level;

/// ZFS's tools, and the driver.
const ZFS: [Need; 2] =
    [Need::Program("zpool", "zfsutils-linux"), Need::Driver("/sys/module/zfs", "zfs")];

/// A pool of `members`, called `name`. What makes it is mkfs, with what stands in `devices`: the pool and its vdevs.
///
/// # Errors
///
/// Where ZFS has no such pool, or not of so many members.
pub(in crate::rig::mounted) fn build(
    level: Level,
    members: &[Device],
    name: &str,
) -> Result<Build> {
    let paths: Vec<String> = members.iter().map(|member| member.path.clone()).collect();
    if paths.len() < level.members_min() {
        return Err(Error::input(format!(
            "`volume.level` = {level} takes {} members, and there are {}; add some",
            level.members_min(),
            paths.len()
        )));
    }
    let mut vdevs: Vec<String> = vec![name.to_string()];
    match level.name {
        "single" => vdevs.push(paths[0].clone()),
        "stripe" => vdevs.extend(paths.clone()),
        "mirror" | "raid5" | "raid6" => {
            let word = [("mirror", "mirror"), ("raid5", "raidz1"), ("raid6", "raidz2")];
            let word = word.into_iter().find(|(own, _)| *own == level.name);
            vdevs.extend(word.map(|(_, word)| word.to_string()));
            vdevs.extend(paths.clone());
        }
        "raid10" if paths.len().is_multiple_of(2) => {
            for pair in paths.chunks(2) {
                vdevs.push("mirror".into());
                vdevs.extend_from_slice(pair);
            }
        }
        "raid10" => {
            return Err(Error::input(format!(
                "`volume.level` = raid10 takes pairs, and there are {} members; add one",
                paths.len()
            )));
        }
        _ => {
            return Err(Error::input(format!(
                "`volume.level` = {level} is not a layout of a ZFS pool; take single, stripe, mirror, \
                 raid10, raid5 (raidz1) or raid6 (raidz2)"
            )));
        }
    }
    let used = if level.name == "single" { &paths[..1] } else { &paths[..] };
    let clear = used.iter().map(|path| Step::new(["zpool", "labelclear", "-f", path]));
    // A trial that failed may have left it imported.
    let export = format!("! zpool list {name} || zpool export -f {name}");
    Ok(Build {
        make: Vec::new(),
        assemble: Vec::new(),
        devices: vdevs,
        take_down: std::iter::once(Step::new(["sh", "-c", &export])).chain(clear).collect(),
        geometry: Geometry::default(),
        needs: ZFS.to_vec(),
        pool: Some(import(name, used)),
    })
}

/// What imports it: only the members are searched, and nothing is mounted.
fn import(name: &str, paths: &[String]) -> [Step; 2] {
    let mut import = vec!["zpool".to_string(), "import".into(), "-N".into()];
    import.extend(paths.iter().flat_map(|path| ["-d".to_string(), path.clone()]));
    import.push(name.into());
    [Step::new(import), Step::new(["zpool", "export", name])]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(level: &str, members: u32) -> Result<String> {
        let member = |n: u32| Device {
            path: format!("/dev/sd{}", ["a", "b", "c", "d"][n as usize]),
            sectors: 1 << 22,
        };
        let members: Vec<Device> = (0..members).map(member).collect();
        build(level.parse().unwrap(), &members, "ileave").map(|build| build.devices.join(" "))
    }

    #[test]
    fn a_level_is_a_pool_of_vdevs() {
        assert_eq!(devices("single", 2).unwrap(), "ileave /dev/sda");
        assert_eq!(devices("stripe", 2).unwrap(), "ileave /dev/sda /dev/sdb");
        assert_eq!(devices("mirror", 2).unwrap(), "ileave mirror /dev/sda /dev/sdb");
        assert_eq!(devices("raid5", 3).unwrap(), "ileave raidz1 /dev/sda /dev/sdb /dev/sdc");
        assert_eq!(
            devices("raid6", 4).unwrap(),
            "ileave raidz2 /dev/sda /dev/sdb /dev/sdc /dev/sdd"
        );
        assert_eq!(
            devices("raid10", 4).unwrap(),
            "ileave mirror /dev/sda /dev/sdb mirror /dev/sdc /dev/sdd"
        );
    }

    #[test]
    fn what_is_no_pool_is_refused() {
        let said = |level, members| devices(level, members).unwrap_err().to_string();
        assert!(said("md-raid5", 3).contains("is not a layout of a ZFS pool"));
        assert!(said("raid10", 3).contains("takes pairs"));
        assert!(said("raid6", 3).contains("takes 4 members"));
    }
}
