//! What the models of drives may err by.

use crate::Manifest;
use crate::known::KnownDrive;

/// The most that `ileave validate` found a drive's model to err by, of the five drives that were held to measured
/// traces of themselves: of a drive that was not held to any, the least that it may err by. A test holds it to the
/// drives' files.
pub const WORST_DRIVE_ERROR: f64 = 0.051;

/// The same of flash, of which the fits of five drives were held to measured cells that they had not seen: the greatest
/// of the median errors (`lab/tests/it/flash.rs`, docs/flash.md).
pub const WORST_FLASH_ERROR: f64 = 0.09;

impl Manifest {
    /// What the models of the drives err by, as a share: what the worst of them was found to err by, where all were
    /// held to measured traces (`model_error_percent` in its file), else [`WORST_DRIVE_ERROR`] at least, and of flash
    /// [`WORST_FLASH_ERROR`]; 0 where nothing is modelled.
    pub fn drive_error(&self) -> f64 {
        if !self.modelled() {
            return 0.0;
        }
        let found = |drive: &KnownDrive| {
            let least = if drive.is_flash() { WORST_FLASH_ERROR } else { WORST_DRIVE_ERROR };
            drive.model_error_percent.map_or(least, |percent| percent / 100.0)
        };
        self.drives.values().map(found).reduce(f64::max).unwrap_or(WORST_DRIVE_ERROR)
    }

    /// Whether each modelled drive was held to a measured trace of it.
    pub fn drives_held(&self) -> bool {
        !self.drives.is_empty()
            && self.drives.values().all(|drive| drive.model_error_percent.is_some())
    }

    /// Whether all of them are behind a network, as a cloud's volumes are.
    pub fn are_remote(&self) -> bool {
        !self.drives.is_empty() && self.drives.values().all(|drive| drive.is_remote)
    }

    /// Whether shingled disks are among them.
    pub fn has_shingled(&self) -> bool {
        self.drives.values().any(KnownDrive::is_shingled)
    }

    /// Whether flash drives are among them that were held to nothing.
    pub fn has_flash(&self) -> bool {
        let is_flash = |drive: &KnownDrive| drive.is_flash() && drive.model_error_percent.is_none();
        self.drives.values().any(is_flash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let text = "format = 3\nileave = ''\nname = ''\nrig = ''\ntrials = 1\nworkloads = []\npublished = ''\n\
                    experiment = ''";
        toml::from_str(text).unwrap()
    }

    fn error(drives: &[f64]) -> (f64, bool) {
        let mut manifest = manifest();
        for &percent in drives {
            let model_error_percent = (percent > 0.0).then_some(percent);
            let known = KnownDrive { model_error_percent, ..KnownDrive::default() };
            manifest.drives.insert(percent.to_string(), known);
        }
        (manifest.drive_error(), manifest.drives_held())
    }

    #[test]
    fn it_is_what_validation_shows() {
        assert_eq!(error(&[3.3]), (0.033, true));
        assert_eq!(error(&[3.3, 4.0]), (0.04, true));
        // Nobody knows of one that was not held to a trace.
        assert_eq!(error(&[3.3, 0.0]), (WORST_DRIVE_ERROR, false));
        assert_eq!(error(&[]), (WORST_DRIVE_ERROR, false));
        let flash = KnownDrive { state: Some("random".into()), ..KnownDrive::default() };
        let volume = KnownDrive { state: Some("spent".into()), ..KnownDrive::default() };
        assert!(flash.is_flash() && !volume.is_flash() && !KnownDrive::default().is_flash());
        let mut manifest = manifest();
        manifest.drives.insert("volume".into(), volume);
        assert_eq!((manifest.drive_error(), manifest.has_flash()), (WORST_DRIVE_ERROR, false));
        assert!(!manifest.has_shingled());
        let shingled = KnownDrive { state: Some("filled".into()), ..KnownDrive::default() };
        manifest.drives.insert("shingled".into(), shingled);
        assert!(manifest.has_shingled() && !manifest.has_flash());
        manifest.drives.insert("flash".into(), flash);
        assert_eq!((manifest.drive_error(), manifest.has_flash()), (WORST_FLASH_ERROR, true));
    }

    #[test]
    fn what_was_measured_has_no_model_to_err() {
        let text = "format = 3\nileave = ''\nname = ''\nrig = ''\ntrials = 1\nworkloads = []\npublished = ''\n\
                    experiment = ''\n[members]\n'0: a' = 'file'";
        let manifest: Manifest = toml::from_str(text).unwrap();
        assert_eq!((manifest.drive_error(), manifest.drives_held()), (0.0, false));
    }
}
