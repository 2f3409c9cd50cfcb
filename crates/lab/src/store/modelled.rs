//! What a model may err by.

use super::Manifest;
use crate::catalogue::{self, IDEAL_HOST};

/// What a model that no trace was held against may err by: fair-2006's predicted cells lie within half
/// of it (docs/reproduction.md), so that it is an estimate and no measurement.
pub const MODEL_ERROR: f64 = 0.05;

impl Manifest {
    /// What the model may err by, as a share; 0 where nothing is modelled. Smaller differences are ties,
    /// for a layout that is ahead by less may in truth be behind. Where only drives are modelled, and all
    /// of them were held against traces, it is what the worst of them was found to err by
    /// (`model_error_percent` in its file); where a host's work or a file system is modelled too, it is
    /// [`MODEL_ERROR`] at least.
    pub fn model_error(&self) -> f64 {
        if !self.modelled() {
            return 0.0;
        }
        let of_drive = |name: &String| catalogue::drive(name).ok()?.model_error();
        let of_drives = self.drives.keys().map(|name| of_drive(name).unwrap_or(MODEL_ERROR));
        let of_drives = of_drives.reduce(f64::max).unwrap_or(MODEL_ERROR);
        let only_drives = self.hosts.keys().all(|host| host == IDEAL_HOST) && !self.has_files();
        if only_drives { of_drives } else { of_drives.max(MODEL_ERROR) }
    }

    fn has_files(&self) -> bool {
        let settings: toml::Table = toml::from_str(&self.experiment).unwrap_or_default();
        settings.keys().any(|key| key.starts_with("fs.") || key.ends_with(".program"))
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these figures are as they are written")]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_is_what_validation_shows_where_only_validated_drives_are_modelled() {
        let names = |names: &[&str]| -> BTreeMap<String, String> {
            names.iter().map(|name| ((*name).into(), String::new())).collect()
        };
        let error = |rig: &str, drives: &[&str], hosts: &[&str], experiment: &str| {
            let manifest = Manifest {
                format: 1,
                ileave: String::new(),
                name: String::new(),
                rig: rig.into(),
                trials: 1,
                workloads: Vec::new(),
                published: String::new(),
                experiment: experiment.into(),
                drives: names(drives),
                hosts: names(hosts),
                trees: BTreeMap::new(),
                imported: None,
            };
            manifest.model_error()
        };
        assert_eq!(error("sim", &["st39102lw"], &["ideal"], ""), 0.033);
        assert_eq!(error("sim", &["st39102lw", "qm39100td-sw"], &["ideal"], ""), 0.051);
        assert_eq!(error("sim", &["st39102lw", "wd740gd"], &["ideal"], ""), MODEL_ERROR);
        assert_eq!(error("sim", &["st39102lw"], &["ultra2-netbsd-3"], ""), MODEL_ERROR);
        let files = "\"workload.w.program\" = \"newfs\"\n";
        assert_eq!(error("sim", &["st39102lw"], &["ideal"], files), MODEL_ERROR);
        assert_eq!(error("sim", &["st39102lw", "qm39100td-sw"], &["ideal"], files), 0.051);
        assert_eq!(error("disks", &["0: a.img"], &[], ""), 0.0);
    }
}
