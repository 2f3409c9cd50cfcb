//! Members that are no disks: files and devices whose data lie in memory.

use crate::rig::guard::Number;
use rustix::fs::statfs;
use std::fs;
use std::path::{Path, PathBuf};

/// File systems that keep their files in memory, by the number that they give themselves (statfs(2)).
const IN_MEMORY: [(u64, &str); 3] =
    [(0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs"), (0x9584_58f6, "hugetlbfs")];

/// What in memory a file lies on.
pub(super) fn of_file(path: &Path) -> Option<&'static str> {
    let kind = u64::try_from(statfs(path).ok()?.f_type).ok()?;
    IN_MEMORY.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

/// What in memory a block device lies on.
pub(super) fn of_device(number: Number) -> Option<&'static str> {
    let directory = number.directory().canonicalize().ok()?;
    let name = directory.file_name()?.to_string_lossy().into_owned();
    let is_numbered = |kind: &str| {
        name.strip_prefix(kind)
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    if is_numbered("zram") {
        return Some("zram");
    }
    if is_numbered("ram") {
        return Some("a RAM disk");
    }
    let backing = fs::read_to_string(directory.join("loop/backing_file")).ok()?;
    of_file(&PathBuf::from(backing.trim_end()))
}
