//! What can be done where trials run: said once by each rig, and asked by plans, stores and commands.

/// What a rig can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What a volume lies on there.
    pub members: Members,
    /// Whether the host is a model, so that an experiment can say which.
    pub host_is_modelled: bool,
    /// What a trial can use there.
    pub uses: Uses,
    /// How many trials may run at a time without disturbing each other.
    pub lanes: usize,
    /// Repeats of each cell where nobody says how many: what is measured differs from run to run.
    pub repeats: u64,
    /// Whether a trial may take the machine down with it: then each start of a trial is on the disk
    /// before the trial begins.
    pub durable_starts: bool,
}

/// What a trial uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uses {
    /// Requests to the volume itself.
    Blocks,
    /// Programs that use files on it.
    Files,
    /// Either.
    BlocksAndFiles,
}

/// What a volume lies on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// Models of the drives that the experiment names.
    Modelled,
    /// These, whatever drives the experiment names.
    Real {
        /// In the order of the volume.
        members: Vec<RealMember>,
        /// Those of them that count as failed, from 0.
        failed: Vec<u32>,
    },
}

/// A file or device that is a member of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealMember {
    /// Its path.
    pub name: String,
    /// The sectors used of it.
    pub sectors: u64,
    /// What it is and how it is accessed, for the manifest.
    pub about: String,
}

/// The keys of a volume that mean nothing over real members.
const OF_MODELLED_MEMBERS: [&str; 8] = [
    "drives",
    "controller",
    "failed",
    "rebuild",
    "outstanding",
    "member_outstanding",
    "scheduler",
    "read_ahead",
];

impl Capabilities {
    /// Those of a machine that is modelled whole, which any number of trials can have to themselves.
    pub fn modelled(lanes: usize) -> Self {
        Capabilities {
            members: Members::Modelled,
            host_is_modelled: true,
            uses: Uses::BlocksAndFiles,
            lanes,
            repeats: 1,
            durable_starts: false,
        }
    }

    /// Whether a key of an experiment means nothing here, being about what is modelled elsewhere.
    pub fn ignores(&self, path: &str) -> bool {
        let path = match path.split('.').collect::<Vec<_>>().as_slice() {
            ["workload", _, section, key] => &format!("{section}.{key}"),
            _ => path,
        };
        let of_members = path.starts_with("drive.")
            || path.starts_with("fault.")
            || path.strip_prefix("volume.").is_some_and(|key| OF_MODELLED_MEMBERS.contains(&key));
        let of_engines = path.starts_with("workload.") && path.ends_with(".engine");
        of_members && self.members != Members::Modelled
            || (path.starts_with("host.") || of_engines) && !self.host_is_modelled
    }
}
