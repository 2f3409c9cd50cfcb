//! What uses a disk or an image now: a mount, swap, an array, a volume, a loop device, another program.

use super::device::Number;
use super::system::System;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::fs;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Everything that uses a block device, in words. `node` is a name of it, by which it is asked whether another
/// program holds it.
pub fn users_of_device(system: &System, number: Number, node: Option<&Path>) -> Vec<String> {
    let mut users = root_disk(system, number);
    let mounts = mounts(system);
    let swaps = swaps(system);
    for related in number.related(system) {
        let name = related.name(system);
        // What is built on the rest of the disk has no sector of this partition.
        if Some(related) != number.disk(system) {
            let holders = related.holders(system).into_iter();
            users.extend(holders.map(|h| format!("{} is built on {name}", h.name(system))));
            users.extend(kernel_users(system, related, &name));
        }
        let is_it = |path: &Path| number_of(system, path) == Some(related);
        users.extend(mounts.iter().filter_map(|mount| {
            let is_mounted = mount.number == Some(related) || is_it(Path::new(&mount.source));
            is_mounted.then(|| format!("{name} is mounted at {}", mount.at))
        }));
        let is_swap = swaps.iter().any(|path| is_it(path));
        users.extend(is_swap.then(|| format!("{name} is used as swap space")));
        users.extend(loops_over(system, &name, is_it));
    }
    users.extend(users_of_backing(system, number));
    if users.is_empty() {
        users = openers(system, number, node);
    }
    users
}

/// Who has it open. What is gone within half a second has only looked at it, as udev and `losetup --find` do.
fn openers(system: &System, number: Number, node: Option<&Path>) -> Vec<String> {
    const LOOKS: u32 = 10;
    let mut users = Vec::new();
    for look in 0..LOOKS {
        if look > 0 {
            thread::sleep(Duration::from_millis(50));
        }
        users = held(system, number, node);
        users.extend(writers(system, number));
        if users.is_empty() {
            break;
        }
    }
    users
}

/// Everything that uses a regular file as a disk, in words.
pub fn users_of_file(system: &System, path: &Path) -> Vec<String> {
    let is_it = |other: &Path| same_file(path, other);
    let mut users = loops_over(system, "it", is_it);
    let is_swap = swaps(system).into_iter().any(|swap| is_it(&swap));
    users.extend(is_swap.then(|| "it is used as swap space".to_string()));
    users
}

/// Whether two paths lead to the same file or device, by whatever names.
pub fn same_file(a: &Path, b: &Path) -> bool {
    let (Ok(a), Ok(b)) = (fs::metadata(a), fs::metadata(b)) else { return false };
    let same_node = (a.st_dev(), a.st_ino()) == (b.st_dev(), b.st_ino());
    same_node || (a.st_rdev() != 0 && a.st_rdev() == b.st_rdev())
}

/// Whether it lies on a disk that the root file system lies on.
fn root_disk(system: &System, number: Number) -> Vec<String> {
    let mounts = mounts(system);
    let roots = mounts.iter().filter(|mount| mount.at == "/");
    let numbers = roots.flat_map(|mount| {
        let named = number_of(system, Path::new(&mount.source));
        let of_line = mount.number.filter(|number| number.real_directory(system).is_some());
        of_line.into_iter().chain(named)
    });
    let mut disks: Vec<Number> = numbers.flat_map(|root| root.disks(system)).collect();
    disks.sort_unstable();
    disks.dedup();
    let own = number.disks(system);
    let shared = disks.into_iter().filter(|disk| own.contains(disk));
    let word = |disk: Number| format!("{} is the disk of the root file system", disk.name(system));
    shared.map(word).collect()
}

/// btrfs names one member of a file system where it is mounted, and lists all elsewhere; bcache hangs itself
/// below the device.
fn kernel_users(system: &System, number: Number, name: &str) -> Vec<String> {
    let mut users = Vec::new();
    for uuid in system.names("/sys/fs/btrfs") {
        let members = system.names(format!("/sys/fs/btrfs/{uuid}/devices"));
        if members.iter().any(|member| member == name) {
            users.push(format!("{name} is a member of the mounted btrfs {uuid}"));
        }
    }
    if system.at(number.directory().join("bcache")).exists() {
        users.push(format!("{name} is used by bcache"));
    }
    users
}

/// The loop devices over a file or device that `is_it`, which is called `name`.
fn loops_over(system: &System, name: &str, is_it: impl Fn(&Path) -> bool) -> Vec<String> {
    let loops = system.names("/sys/block").into_iter().filter(|name| {
        let backing = system.text(format!("/sys/block/{name}/loop/backing_file"));
        !backing.is_empty() && is_it(Path::new(&backing))
    });
    loops.map(|view| format!("/dev/{view} is a view of {name}")).collect()
}

/// Who else uses what a loop device is a view of.
fn users_of_backing(system: &System, number: Number) -> Vec<String> {
    let whole = number.disk(system).unwrap_or(number);
    let backing = system.text(whole.directory().join("loop/backing_file"));
    if backing.is_empty() {
        return Vec::new();
    }
    let own = format!("/dev/{} is a view of ", whole.name(system));
    let path = Path::new(&backing);
    let users = match number_of(system, path) {
        Some(below) => users_of_device(system, below, None),
        None => users_of_file(system, path),
    };
    let others = users.into_iter().filter(|user| !user.starts_with(&own));
    others.map(|user| format!("of {backing}, which it is a view of: {user}")).collect()
}

/// Whether another program or the kernel holds it or a partition of it for itself (`O_EXCL`), as a mount in
/// another name space does.
fn held(system: &System, number: Number, node: Option<&Path>) -> Vec<String> {
    let mut nodes: Vec<(String, PathBuf)> =
        node.map(|path| (number.name(system), path.into())).into_iter().collect();
    for partition in number.partitions(system) {
        let name = partition.name(system);
        nodes.push((name.clone(), system.at(format!("/dev/{name}"))));
    }
    let is_held = |path: &Path| {
        open(path, OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty()).err()
            == Some(Errno::BUSY)
    };
    let held = nodes.into_iter().filter(|(_, path)| is_held(path));
    held.map(|(name, _)| format!("another program or the kernel holds {name} for itself")).collect()
}

/// The programs that have it open for writing, as far as this user may see.
fn writers(system: &System, number: Number) -> Vec<String> {
    let own = std::process::id().to_string();
    let is_other = |name: &String| name.bytes().all(|b| b.is_ascii_digit()) && *name != own;
    let mut users = Vec::new();
    for process in system.names("/proc").into_iter().filter(is_other) {
        for file in system.names(format!("/proc/{process}/fd")) {
            let there = fs::metadata(system.at(format!("/proc/{process}/fd/{file}")));
            let is_it = there.is_ok_and(|there| {
                there.st_rdev() != 0
                    && there.st_mode() & 0o170_000 == 0o060_000
                    && Number::new(there.st_rdev()) == number
            });
            if is_it && writes(&system.text(format!("/proc/{process}/fdinfo/{file}"))) {
                let program = system.text(format!("/proc/{process}/comm"));
                users.push(format!("{program} (process {process}) has it open for writing"));
                break;
            }
        }
    }
    users
}

/// Whether a file is open for writing, of which `fdinfo` says `flags: 0100002`, in octal.
fn writes(fdinfo: &str) -> bool {
    let flags = fdinfo.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & 3 != 0)
}

/// The block device that a path of the system leads to: by its node, or where there is none, as for a
/// `/dev/root`, by the kernel's name.
fn number_of(system: &System, path: &Path) -> Option<Number> {
    if !path.is_absolute() {
        return None;
    }
    if let Ok(there) = fs::metadata(system.at(path)) {
        let is_device = there.st_mode() & 0o170_000 == 0o060_000;
        return is_device.then(|| Number::new(there.st_rdev()));
    }
    let name = path.strip_prefix("/dev").ok()?.to_str()?;
    if let Some(mapped) = name.strip_prefix("mapper/") {
        let names = system.names("/sys/class/block");
        let found = names
            .iter()
            .find(|dm| system.text(format!("/sys/class/block/{dm}/dm/name")) == mapped)?;
        return Number::named(system, found);
    }
    Number::named(system, name)
}

/// A line of mountinfo.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    number: Option<Number>,
    at: String,
    source: String,
}

fn mounts(system: &System) -> Vec<Mount> {
    system.text("/proc/self/mountinfo").lines().filter_map(mount).collect()
}

/// `36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw`
fn mount(line: &str) -> Option<Mount> {
    let words: Vec<&str> = line.split(' ').collect();
    let dash = words.iter().position(|&word| word == "-")?;
    Some(Mount {
        number: Number::parse(words.get(2)?),
        at: unescaped(words.get(4)?),
        source: unescaped(words.get(dash + 2)?),
    })
}

fn swaps(system: &System) -> Vec<PathBuf> {
    let text = system.text("/proc/swaps");
    let paths = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    paths.map(|path| PathBuf::from(unescaped(path))).collect()
}

/// The kernel writes a space as `\040`.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_string(), |text, (escape, plain)| text.replace(escape, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_mountinfo_names_device_place_and_source() {
        let line = "36 35 98:0 / /mnt\\040two rw shared:1 master:2 - ext3 /dev/root rw,errors=x";
        let number = Number::parse("98:0");
        let expected = Mount { number, at: "/mnt two".into(), source: "/dev/root".into() };
        assert_eq!(mount(line), Some(expected));
        assert_eq!(mount("36 35 98:0 / /mnt"), None);
    }

    #[test]
    fn the_disk_under_the_root_is_in_use() {
        let system = System::here();
        let mounts = mounts(&system);
        let root = mounts.iter().find(|mount| mount.at == "/").and_then(|mount| mount.number);
        let Some(number) = root.filter(|number| number.directory().exists()) else { return };
        let users = users_of_device(&system, number, None);
        assert!(users.iter().any(|user| user.contains("is mounted at /")), "{users:?}");
        let disk = "is the disk of the root file system";
        assert!(users.iter().any(|user| user.contains(disk)), "{users:?}");
    }

    #[test]
    fn a_file_is_the_same_by_any_name() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("a.img"), directory.path().join("link"));
        fs::write(&file, b"x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(same_file(&file, &link) && !same_file(&file, directory.path()));
        assert_eq!(users_of_file(&System::here(), &file), Vec::<String>::new());
    }

    #[test]
    fn a_file_is_open_for_writing_by_its_flags() {
        let open = |flags: &str| format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t15\n");
        assert!(!writes(&open("0100000")) && writes(&open("0100002")) && writes(&open("01")));
    }
}
