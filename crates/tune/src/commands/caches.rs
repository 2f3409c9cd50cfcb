//! The drives' own write caches, and what turns them off.

use crate::question::Question;
use crate::question::work::names_its_cache;

/// Why write caches are to be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachesOff {
    /// Whoever asks wants that, by `--safe`, after a drive's name or by a setting.
    Asked,
    /// What was measured has them off, and nobody asked for it.
    Measured,
}

impl CachesOff {
    /// Why they are off where a question has them off.
    pub(crate) fn of_question(question: &Question) -> CachesOff {
        let is_named = names_its_cache(&question.drives.drive) || question.work.names_caches;
        if question.safe || is_named { CachesOff::Asked } else { CachesOff::Measured }
    }

    /// Why a command turns them off, and what leaving it out would mean.
    pub(super) fn why(self, by: By) -> String {
        // What hdparm.conf(5) sets is of ATA; an NVMe drive need not keep a feature that was set.
        let kept = match by {
            By::NvmeOrAta => "for after a restart, let a unit of systemd run this line",
            By::Ata => "for after a restart, use a udev rule or hdparm.conf",
            By::Scsi => "the drives keep that (`--save`)",
        };
        match self {
            CachesOff::Asked => format!("write caches off, as was asked; {kept}"),
            CachesOff::Measured if by == By::NvmeOrAta => format!(
                "write caches off, as it was measured; {kept}. Leave it out to keep them on: a power cut then loses \
                 acknowledged writes that were not flushed"
            ),
            CachesOff::Measured => format!(
                "write caches off, as it was measured; {kept}. Leave this line out to keep them on: writes alone may be up to \
                 three times as fast, beside reads no faster, and a power cut loses acknowledged writes that were not flushed"
            ),
        }
    }
}

/// Which commands a drive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A disk's on SATA, or older.
    Ata,
    /// A drive's on SAS, or another transport of SCSI: hdparm(8) is of ATA, and fails.
    Scsi,
    /// A flash drive's, whose name tells.
    NvmeOrAta,
}

impl By {
    /// What turns off the cache of `$disk`.
    pub(super) fn command(self) -> &'static str {
        match self {
            By::NvmeOrAta => {
                "case $disk in /dev/nvme*) nvme set-feature $disk -f 6 -v 0;; *) hdparm -W0 $disk;; esac"
            }
            By::Ata => "hdparm -W0 $disk",
            By::Scsi => "sdparm --clear=WCE --save $disk",
        }
    }

    /// The command's name, for a sentence.
    pub(super) fn word(self) -> &'static str {
        match self {
            By::NvmeOrAta => "`nvme set-feature -f 6`, or `hdparm -W0`",
            By::Ata => "`hdparm -W0`",
            By::Scsi => "`sdparm --clear=WCE`",
        }
    }
}
