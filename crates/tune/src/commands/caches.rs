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
    pub(super) fn why(self, by: CacheBy) -> String {
        // What hdparm.conf(5) sets is of ATA; an NVMe drive need not keep a feature that was set.
        let kept = match by {
            CacheBy::NvmeOrAta => "for after a restart, let a unit of systemd run this line",
            CacheBy::Ata => "for after a restart, use a udev rule or hdparm.conf",
            CacheBy::Scsi => "the drives keep that (`--save`)",
        };
        match self {
            CachesOff::Asked => format!("write caches off, as was asked; {kept}"),
            CachesOff::Measured if by == CacheBy::NvmeOrAta => format!(
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
pub enum CacheBy {
    /// A disk's on SATA, or older.
    Ata,
    /// A drive's on SAS, or another transport of SCSI: hdparm(8) is of ATA, and fails.
    Scsi,
    /// A flash drive's, whose name tells.
    NvmeOrAta,
}

impl CacheBy {
    /// Of drives that take SCSI's commands or not, and are flash or not.
    pub(crate) fn of(is_scsi: bool, is_flash: bool) -> CacheBy {
        match (is_scsi, is_flash) {
            (true, _) => CacheBy::Scsi,
            (false, true) => CacheBy::NvmeOrAta,
            (false, false) => CacheBy::Ata,
        }
    }

    /// What turns off the cache of `$disk`.
    pub(super) fn command(self) -> &'static str {
        match self {
            CacheBy::NvmeOrAta => {
                "case $disk in /dev/nvme*) nvme set-feature $disk -f 6 -v 0;; *) hdparm -W0 $disk;; esac"
            }
            CacheBy::Ata => "hdparm -W0 $disk",
            CacheBy::Scsi => "sdparm --clear=WCE --save $disk",
        }
    }

    /// The command's name, for a sentence.
    pub(super) fn word(self) -> &'static str {
        match self {
            CacheBy::NvmeOrAta => "`nvme set-feature -f 6`, or `hdparm -W0`",
            CacheBy::Ata => "`hdparm -W0`",
            CacheBy::Scsi => "`sdparm --clear=WCE`",
        }
    }
}
