//! What results keep of a drive, a host or a RAID box, so that no report of them has to look it up in a
//! catalogue that may have changed since.

use super::{Cell, Drive, Fitted, Host, RaidBox};
use serde::{Deserialize, Serialize};

/// What results keep of a drive: as its file said, whatever an experiment changed of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownDrive {
    /// A hash of its file.
    pub digest: String,
    /// Sectors that can be addressed; `None` where even that is not known, as of a file that was gone.
    pub sectors: Option<u64>,
    /// Whether a write is done once it is in the buffer.
    pub write_cache: Option<bool>,
    /// What one cost, in US dollars.
    pub price_usd: Option<f64>,
    /// What its model was found to err by, if it was held against a trace.
    pub model_error_percent: Option<f64>,
    /// Where that was found.
    pub model_error_source: Option<String>,
}

impl From<&Drive> for KnownDrive {
    fn from(drive: &Drive) -> Self {
        KnownDrive {
            digest: drive.digest.clone(),
            sectors: Some(drive.sectors()),
            write_cache: Some(drive.sheet.switch("write_cache")),
            price_usd: drive.price_usd(),
            model_error_percent: drive.model_error_percent(),
            model_error_source: drive.sheet.source("model_error_percent").map(String::from),
        }
    }
}

/// What results keep of a host or a RAID box.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownHost {
    /// A hash of its file.
    pub digest: String,
    /// The published cells that its figures were fitted to: those are no predictions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fitted: Vec<Cell>,
}

impl KnownHost {
    fn new(digest: &str, by_figure: &[Fitted]) -> Self {
        // Several figures may be fitted to one cell.
        let mut fitted: Vec<Cell> = Vec::new();
        for Fitted { cell, .. } in by_figure {
            if !fitted.contains(cell) {
                fitted.push(cell.clone());
            }
        }
        KnownHost { digest: digest.into(), fitted }
    }
}

impl From<&Host> for KnownHost {
    fn from(host: &Host) -> Self {
        KnownHost::new(&host.digest, host.fitted())
    }
}

impl From<&RaidBox> for KnownHost {
    fn from(raid_box: &RaidBox) -> Self {
        KnownHost::new(&raid_box.digest, &raid_box.fitted())
    }
}
