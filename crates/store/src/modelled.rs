//! What a model may err by.

use crate::Manifest;
use crate::known::{IDEAL_HOST, KnownDrive};

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
        let of_drive = |drive: &KnownDrive| {
            drive.model_error_percent.map_or(MODEL_ERROR, |percent| percent / 100.0)
        };
        let of_drives = self.drives.values().map(of_drive).reduce(f64::max).unwrap_or(MODEL_ERROR);
        let only_drives = self.hosts.keys().all(|host| host == IDEAL_HOST)
            && self.controllers.is_empty()
            && !self.has_files();
        if only_drives { of_drives } else { of_drives.max(MODEL_ERROR) }
    }

    fn has_files(&self) -> bool {
        self.settings()
            .keys()
            .any(|key| key.starts_with("fs.") || key.contains(".fs.") || key.ends_with(".program"))
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these figures are as they are written")]
mod tests {
    use super::*;
    use crate::FORMAT;
    use crate::factor::Factors;
    use crate::known::KnownHost;
    use std::collections::BTreeMap;

    #[test]
    fn it_is_what_validation_shows_where_only_validated_drives_are_modelled() {
        // No catalogue has these drives.
        let known = |&percent: &f64| {
            let model_error_percent = (percent > 0.0).then_some(percent);
            (percent.to_string(), KnownDrive { model_error_percent, ..KnownDrive::default() })
        };
        let named = |names: &[&str]| -> BTreeMap<String, KnownHost> {
            names.iter().map(|name| ((*name).into(), KnownHost::default())).collect()
        };
        let manifest =
            |drives: &[f64], [hosts, controllers]: [&[&str]; 2], experiment: &str| Manifest {
                format: FORMAT,
                ileave: String::new(),
                name: String::new(),
                rig: String::new(),
                trials: 1,
                workloads: Vec::new(),
                published: String::new(),
                experiment: experiment.into(),
                drives: drives.iter().map(known).collect(),
                members: BTreeMap::new(),
                hosts: named(hosts),
                controllers: named(controllers),
                trees: BTreeMap::new(),
                only_read: Vec::new(),
                factors: Factors::default(),
                imported: None,
            };
        let error = |drives: &[f64], named: [&[&str]; 2], experiment: &str| {
            manifest(drives, named, experiment).model_error()
        };
        let ideal: [&[&str]; 2] = [&["ideal"], &[]];
        assert_eq!(error(&[3.3], ideal, ""), 0.033);
        assert_eq!(error(&[3.3, 5.1], ideal, ""), 0.051);
        assert_eq!(error(&[3.3, 0.0], ideal, ""), MODEL_ERROR);
        assert_eq!(error(&[3.3], [&["ultra2-netbsd-3"], &[]], ""), MODEL_ERROR);
        assert_eq!(error(&[3.3], [&["ideal"], &["crd-5500"]], ""), MODEL_ERROR);
        let files = "\"workload.w.program\" = \"newfs\"\n";
        assert_eq!(error(&[3.3], ideal, files), MODEL_ERROR);
        assert_eq!(error(&[3.3, 5.1], ideal, files), 0.051);
        // What was measured has no model to err.
        let mut real = manifest(&[], [&[], &[]], "");
        real.members.insert("0: a.img".into(), "file".into());
        assert_eq!(real.model_error(), 0.0);
        let imported = Some(crate::Imported::default());
        assert_eq!(Manifest { imported, ..manifest(&[3.3], ideal, "") }.model_error(), 0.0);
    }
}
