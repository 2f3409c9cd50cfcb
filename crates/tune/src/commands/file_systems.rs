//! The file system on a volume of Linux: mkfs with what it is told of the stripes, and mount(8).

use super::{Command, Plan, build, dm};

/// A file system that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenFileSystem {
    /// Its kind.
    pub kind: &'static str,
    /// Its block size, where the question names one.
    pub block_bytes: Option<u64>,
    /// What it is told of stripes.
    pub stripes: Stripes,
    /// Further options of mkfs, as in `-O ^has_journal`.
    pub more: String,
    /// Options of mount(8) that the question names.
    pub options: String,
}

/// What a file system is told of the stripes below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stripes {
    /// Nothing (`mkfs.xfs -d noalign`).
    pub are_ignored: bool,
    /// The chunk, where it is not the volume's.
    pub unit_bytes: Option<u64>,
    /// Chunks of a row with data, where they are not the volume's.
    pub width_bytes: Option<u64>,
}

/// The block of a file system, ext4's default.
const EXT4_BLOCK: u64 = 4096;

impl Plan<'_> {
    /// Options of mount(8): those that the chosen file system was measured with, none where that has none.
    fn mount_options(&self) -> &str {
        match &self.file_system {
            None => "noatime",
            Some(chosen) => &chosen.options,
        }
    }

    /// What mounts `device`, and has it mounted after a restart.
    pub(super) fn mount(&self, what: &str, device: &str) -> Command {
        let options = self.mount_options();
        let (with, of_table) = match options {
            "" => (String::new(), "defaults".to_string()),
            options => (format!("-o {options} "), options.to_string()),
        };
        // It may be there only after the machine has started, or, in a cloud, no more: the machine is not to wait for it in vain.
        let may_be_gone = device == dm::DEVICE || self.is_of_cloud;
        let of_table = if may_be_gone { of_table + ",nofail" } else { of_table };
        build(
            &format!("{what}, now and after a restart"),
            format!(
                "mount {with}{device} /srv && echo \"UUID=$(blkid -s UUID -o value {device}) /srv \
                 $(findmnt -no FSTYPE /srv) {of_table} 0 2\" >> /etc/fstab"
            ),
        )
    }

    /// What makes the file system on `device`, and mounts it.
    pub(super) fn file_systems(&self, device: &str) -> Vec<Command> {
        let or = if self.file_system.is_none() { "or ext4" } else { "ext4 on it" };
        let all = [
            ("xfs", "XFS on it", format!("mkfs.xfs{} {device}", self.of_xfs())),
            ("ext4", or, format!("mkfs.ext4{} {device}", self.of_ext4())),
            (
                "btrfs",
                "btrfs on it; it then keeps no second copy of data",
                format!("mkfs.btrfs -m dup {device}"),
            ),
            ("f2fs", "F2FS on it", format!("mkfs.f2fs {device}")),
        ];
        // Where none was chosen, those that stripes mean something to.
        let is_meant = |kind: &str| match &self.file_system {
            Some(chosen) => chosen.kind == kind,
            None => ["xfs", "ext4"].contains(&kind),
        };
        let chosen = all.into_iter().filter(|(kind, ..)| is_meant(kind));
        let mut commands: Vec<Command> = chosen.map(|(_, what, line)| build(what, line)).collect();
        commands.push(self.mount("mount it", device));
        commands
    }

    /// The chunk and the data of a row, in bytes: what the question says, or else what the volume has.
    fn stripes(&self) -> (Option<u64>, Option<u64>) {
        let own = self.file_system.as_ref().map_or(Stripes::default(), |chosen| chosen.stripes);
        // Of arrays side by side md tells less than a row of all of them.
        let data = match self.level.nested() {
            Some(_) => self.data_members(),
            None => self.level.stripe_chunks(self.members),
        };
        let of_volume = self.level.interleaved().then(|| self.chunk_kib() * 1024);
        let unit = own.unit_bytes.or(of_volume);
        let wide = match (own.unit_bytes, self.is_of_xfs()) {
            // XFS counts its stripe in its own units.
            (Some(unit), true) => of_volume.map(|_| unit * data as u64).or(Some(unit)),
            _ => of_volume.map(|chunk| chunk * data as u64),
        };
        (unit, own.width_bytes.or(wide))
    }

    fn is_of_xfs(&self) -> bool {
        self.file_system.as_ref().is_some_and(|chosen| chosen.kind == "xfs")
    }

    fn block_and_more(&self) -> (Option<u64>, String) {
        let chosen = self.file_system.as_ref();
        let more = chosen.map(|chosen| &chosen.more).filter(|more| !more.is_empty());
        let block_bytes = chosen.and_then(|chosen| chosen.block_bytes);
        (block_bytes, more.map_or(String::new(), |more| format!(" {more}")))
    }

    /// Options of mkfs.xfs.
    fn of_xfs(&self) -> String {
        let (block, more) = self.block_and_more();
        let block = block.map_or(String::new(), |bytes| format!(" -b size={bytes}"));
        let is_left_out =
            self.file_system.as_ref().is_some_and(|chosen| chosen.stripes.are_ignored);
        let data = match self.stripes() {
            _ if is_left_out => " -d noalign".into(),
            (Some(unit), Some(wide)) => format!(" -d su={}k,sw={}", unit / 1024, wide / unit),
            _ => String::new(),
        };
        format!("{block}{data}{more}")
    }

    /// Options of mkfs.ext4, which counts stripes in blocks.
    fn of_ext4(&self) -> String {
        let (block, more) = self.block_and_more();
        let block_bytes = block.unwrap_or(EXT4_BLOCK);
        let block = block.map_or(String::new(), |bytes| format!(" -b {bytes}"));
        let (unit, wide) = self.stripes();
        let parts = [("stride", unit), ("stripe_width", wide)];
        let parts = parts.iter().filter_map(|(name, bytes)| {
            bytes.map(|bytes| format!("{name}={}", bytes / block_bytes))
        });
        let parts = parts.collect::<Vec<_>>().join(",");
        let extended = if parts.is_empty() { parts } else { format!(" -E {parts}") };
        format!("{block}{more}{extended}")
    }
}
