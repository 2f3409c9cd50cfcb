//! What the models of drives may err by.

use crate::Manifest;
use crate::known::KnownDrive;

/// The most that `ileave validate` found a drive's model to err by, of the five drives that were held to measured
/// traces of themselves: of a drive that was not held to any, the least that it may err by. A test holds it to the
/// drives' files.
pub const WORST_DRIVE_ERROR: f64 = 0.051;

impl Manifest {
    /// What the models of the drives err by, as a share: what the worst of them was found to err by, where all were
    /// held to measured traces (`model_error_percent` in its file), else [`WORST_DRIVE_ERROR`] at least; 0 where
    /// nothing is modelled.
    pub fn drive_error(&self) -> f64 {
        if !self.modelled() {
            return 0.0;
        }
        let found = |drive: &KnownDrive| {
            drive.model_error_percent.map_or(WORST_DRIVE_ERROR, |percent| percent / 100.0)
        };
        self.drives.values().map(found).reduce(f64::max).unwrap_or(WORST_DRIVE_ERROR)
    }

    /// Whether each modelled drive was held to a measured trace of it.
    pub fn drives_held(&self) -> bool {
        !self.drives.is_empty()
            && self.drives.values().all(|drive| drive.model_error_percent.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(drives: &[f64]) -> (f64, bool) {
        let text = "format = 3\nileave = ''\nname = ''\nrig = ''\ntrials = 1\nworkloads = []\npublished = ''\n\
                    experiment = ''";
        let mut manifest: Manifest = toml::from_str(text).unwrap();
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
    }

    #[test]
    fn what_was_measured_has_no_model_to_err() {
        let text = "format = 3\nileave = ''\nname = ''\nrig = ''\ntrials = 1\nworkloads = []\npublished = ''\n\
                    experiment = ''\n[members]\n'0: a' = 'file'";
        let manifest: Manifest = toml::from_str(text).unwrap();
        assert_eq!((manifest.drive_error(), manifest.drives_held()), (0.0, false));
    }
}
