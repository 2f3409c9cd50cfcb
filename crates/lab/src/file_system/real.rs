//! A file system as Linux makes and mounts it: the commands, with what they are told of the volume.

use crate::error::Result;

/// What a file system can be told of its volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// The chunk of a striped volume.
    pub chunk_bytes: Option<u64>,
    /// How many chunks of a row are data.
    pub data_members: u64,
    /// btrfs's own profile, where it is the volume.
    pub profile: Option<&'static str>,
}

/// How a file system is made and mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Making {
    /// mkfs and its options; the devices come behind.
    pub mkfs: Vec<String>,
    /// Debian's package that has mkfs.
    pub package: &'static str,
    /// What `mount -t` takes.
    pub kind: &'static str,
    /// What `mount -o` takes; empty for the kernel's defaults.
    pub options: String,
}

impl Making {
    /// The same where mkfs leaves what the drives hold: it discards all of a device where it may, and a drive that was
    /// filled would be empty.
    #[must_use]
    pub(crate) fn without_discards(mut self) -> Self {
        match self.kind {
            "ext4" => {
                let at = self.mkfs.iter().position(|word| word == "-E").map(|at| at + 1);
                match at.and_then(|at| self.mkfs.get_mut(at)) {
                    Some(extended) => extended.push_str(",nodiscard"),
                    None => self.mkfs.extend(words("-E nodiscard")),
                }
            }
            "xfs" | "btrfs" => self.mkfs.insert(1, "-K".into()),
            "f2fs" => self.mkfs.extend(words("-t 0")),
            // zpool create discards nothing.
            _ => {}
        }
        self
    }
}

/// The words of a command line.
pub(super) fn words(line: &str) -> Vec<String> {
    line.split(' ').map(String::from).collect()
}

/// Whether `profile` is no volume for this file system, which is one device's.
pub(super) fn one_device(kind: &str, volume: &Geometry) -> Result<()> {
    match volume.profile {
        None => Ok(()),
        Some(profile) => Err(crate::Error::input(format!(
            "`volume.level` = btrfs-{profile} is a volume of btrfs's own, and `fs.kind` = {kind}; take \
             `fs.kind` = btrfs, or `volume.level` = single"
        ))),
    }
}
