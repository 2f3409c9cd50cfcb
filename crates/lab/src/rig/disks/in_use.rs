//! Whether something else uses a disk or an image: a mount, swap, an array, a volume, a loop device.

use std::fs;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A block device's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    major: u32,
    minor: u32,
}

impl Number {
    /// The number in a `st_rdev`.
    pub(super) fn new(device: u64) -> Self {
        Number { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
    }

    pub(super) fn directory(self) -> PathBuf {
        PathBuf::from(format!("/sys/dev/block/{}:{}", self.major, self.minor))
    }

    /// The devices that share sectors with it: itself, its partitions, and the disk it is a part of.
    pub(super) fn related(self) -> Vec<Number> {
        let Ok(directory) = self.directory().canonicalize() else { return vec![self] };
        let mut related = vec![self];
        let below = fs::read_dir(&directory).into_iter().flatten().flatten().map(|e| e.path());
        let partitions = below.filter(|path| path.join("partition").exists());
        related.extend(partitions.filter_map(|path| Number::read(&path.join("dev"))));
        if directory.join("partition").exists() {
            related.extend(directory.parent().and_then(|disk| Number::read(&disk.join("dev"))));
        }
        related
    }

    fn read(path: &Path) -> Option<Number> {
        let text = fs::read_to_string(path).ok()?;
        Number::parse(text.trim())
    }

    fn parse(text: &str) -> Option<Number> {
        let (major, minor) = text.split_once(':')?;
        Some(Number { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

/// Everything that uses a block device, in words.
pub(super) fn users_of_device(number: Number) -> Vec<String> {
    let mut users = Vec::new();
    for number in number.related() {
        let name = number.directory().canonicalize().ok();
        let name = name.as_deref().and_then(Path::file_name).map(|n| n.to_string_lossy());
        let name = name.unwrap_or_default();
        let holders = fs::read_dir(number.directory().join("holders"));
        for holder in holders.into_iter().flatten().flatten() {
            users.push(format!("{} is built on {name}", holder.file_name().to_string_lossy()));
        }
        let is_it = |path: &Path| {
            fs::metadata(path).is_ok_and(|there| {
                there.st_rdev() != 0
                    && Number::new(there.st_rdev()) == number
                    && path.starts_with("/dev")
            })
        };
        users.extend(mounts().into_iter().filter_map(|mount| {
            let mounted = mount.number == Some(number) || is_it(Path::new(&mount.source));
            mounted.then(|| format!("{name} is mounted at {}", mount.at))
        }));
        let swapped = swaps().into_iter().any(|path| is_it(&path));
        users.extend(swapped.then(|| format!("{name} is used as swap space")));
    }
    users
}

/// Everything that uses a regular file as a disk, in words.
pub(super) fn users_of_file(path: &Path) -> Vec<String> {
    let is_it = |other: &Path| same_file(path, other);
    let mut users = Vec::new();
    for device in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let backing = fs::read_to_string(device.path().join("loop/backing_file"));
        if backing.is_ok_and(|backing| is_it(Path::new(backing.trim_end()))) {
            users.push(format!("/dev/{} is a view of it", device.file_name().to_string_lossy()));
        }
    }
    let swapped = swaps().into_iter().any(|swap| is_it(&swap));
    users.extend(swapped.then(|| "it is used as swap space".to_string()));
    users
}

/// Whether two paths lead to the same file or device, by whatever names.
pub(super) fn same_file(a: &Path, b: &Path) -> bool {
    let (Ok(a), Ok(b)) = (fs::metadata(a), fs::metadata(b)) else { return false };
    let same_node = (a.st_dev(), a.st_ino()) == (b.st_dev(), b.st_ino());
    same_node || (a.st_rdev() != 0 && a.st_rdev() == b.st_rdev())
}

/// A line of mountinfo.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    number: Option<Number>,
    at: String,
    source: String,
}

fn mounts() -> Vec<Mount> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(mount).collect()
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

fn swaps() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/swaps").unwrap_or_default();
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
        let number = Some(Number { major: 98, minor: 0 });
        let expected = Mount { number, at: "/mnt two".into(), source: "/dev/root".into() };
        assert_eq!(mount(line), Some(expected));
        assert_eq!(mount("36 35 98:0 / /mnt"), None);
    }

    #[test]
    fn the_disk_under_the_root_is_in_use() {
        let mounts = mounts();
        let root = mounts.iter().find(|mount| mount.at == "/").and_then(|mount| mount.number);
        let Some(number) = root.filter(|number| number.directory().exists()) else { return };
        let users = users_of_device(number);
        assert!(users.iter().any(|user| user.contains("is mounted at /")), "{users:?}");
    }

    #[test]
    fn a_file_is_the_same_by_any_name() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("a.img"), directory.path().join("link"));
        fs::write(&file, b"x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(same_file(&file, &link) && !same_file(&file, directory.path()));
        assert_eq!(users_of_file(&file), Vec::<String>::new());
    }
}
