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
            "ext4" => self.extend("nodiscard"),
            "xfs" | "btrfs" => self.mkfs.insert(1, "-K".into()),
            "f2fs" => self.mkfs.extend(words("-t 0")),
            // zpool create discards nothing.
            _ => {}
        }
        self
    }

    /// The same where names are hashed from `seed` on, as the model of ext4 hashes them, and not from a random number of
    /// mkfs's: directories lie where the model puts them, and elsewhere with another seed.
    #[must_use]
    pub(crate) fn hashing_from(mut self, seed: u64) -> Self {
        if self.kind == "ext4" {
            self.extend(&format!("hash_seed={}", uuid(sim::fs::ext4::hash_seed(seed))));
        }
        self
    }

    /// Adds to what `mkfs.ext4 -E` takes.
    fn extend(&mut self, option: &str) {
        let at = self.mkfs.iter().position(|word| word == "-E").map(|at| at + 1);
        match at.and_then(|at| self.mkfs.get_mut(at)) {
            Some(extended) => {
                extended.push(',');
                extended.push_str(option);
            }
            None => self.mkfs.extend(["-E", option].map(String::from)),
        }
    }
}

/// The UUID whose bytes are these little-endian words.
fn uuid(words: [u32; 4]) -> String {
    let [time, middle, clock, node] = words.map(u32::swap_bytes);
    let halves = |word: u32| (word >> 16, word & 0xffff);
    let ((a, b), (c, d)) = (halves(middle), halves(clock));
    format!("{time:08x}-{a:04x}-{b:04x}-{c:04x}-{d:04x}{node:08x}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_the_bytes_of_its_words_in_order() {
        let words = [0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c];
        assert_eq!(uuid(words), "00010203-0405-0607-0809-0a0b0c0d0e0f");
    }

    #[test]
    fn ext4_alone_hashes_from_the_seed() {
        let making =
            |kind, mkfs| Making { mkfs: words(mkfs), package: "", kind, options: String::new() };
        let ext4 = |seed| making("ext4", "mkfs.ext4 -E stride=16").hashing_from(seed).mkfs;
        assert_eq!(ext4(1), ext4(1));
        assert_ne!(ext4(1), ext4(2));
        assert!(ext4(1)[2].starts_with("stride=16,hash_seed="), "{:?}", ext4(1));
        let xfs = making("xfs", "mkfs.xfs");
        assert_eq!(xfs.clone().hashing_from(1), xfs);
    }
}
