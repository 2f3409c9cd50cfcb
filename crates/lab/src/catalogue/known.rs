//! What results keep of a drive, a host or a RAID controller of the catalogue.

use super::{Drive, Fitted, Flash, Host, RaidController};
use store::known::{Cell, KnownDrive, KnownHost};

impl From<&Drive> for KnownDrive {
    fn from(drive: &Drive) -> Self {
        KnownDrive {
            digest: drive.digest.clone(),
            sectors: Some(drive.sectors()),
            write_cache: Some(drive.write_cache()),
            state: drive.state().map(String::from),
            slc: drive.flash().ok().and_then(Flash::known_slc),
            guessed: drive.guessed().map(String::from).collect(),
            buffer_is_guessed: drive.has_guessed_buffer(),
            promised: drive.promised(),
            doubt: drive.sheet.doubt.clone(),
            doubt_of_writes: drive.sheet.doubt_of_writes.clone(),
            price_usd: drive.figures.price_usd,
            goes_with_instance: drive.figures.goes_with_instance,
            is_remote: drive.is_remote(),
            one_size_mb_per_s: drive
                .is_remote()
                .then(|| drive.limits().ok())
                .flatten()
                .map(|limits| limits.media_bytes_per_s / 1e6),
            takes_one: drive.queue_depth() == 1,
            model_error_percent: drive.figures.model_error_percent,
            model_error_source: drive.sheet.source("model_error_percent").map(String::from),
        }
    }
}

fn known(digest: &str, by_figure: &[Fitted]) -> KnownHost {
    // Several figures may be fitted to one cell.
    let mut fitted: Vec<Cell> = Vec::new();
    for Fitted { cell, .. } in by_figure {
        if !fitted.contains(cell) {
            fitted.push(cell.clone());
        }
    }
    KnownHost { digest: digest.into(), fitted }
}

impl From<&Host> for KnownHost {
    fn from(host: &Host) -> Self {
        known(&host.digest, host.fitted())
    }
}

impl From<&RaidController> for KnownHost {
    fn from(controller: &RaidController) -> Self {
        known(&controller.digest, &controller.fitted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{drive, drive_names};

    /// Long reads are limited by the pages of each, not by the link.
    #[test]
    fn what_a_data_sheet_promises_stands_beside_the_most_of_the_model() {
        let promised = KnownDrive::from(&drive("980-pro-1tb").unwrap()).promised;
        let of = |what: &str| promised.iter().find(|of| of.what == what).unwrap();
        let rounded = |what: &str| (of(what).sheet_mb_per_s, of(what).modelled_mb_per_s.round());
        assert_eq!(rounded("reads"), (7000.0, 2067.0));
        assert_eq!(rounded("writes"), (5000.0, 2315.0));
        assert!(KnownDrive::from(&drive("st18000nm000j").unwrap()).promised.is_empty());
    }

    /// Who writes a figure behind the name of a drive knows it.
    #[test]
    fn what_is_written_behind_a_name_is_no_guess() {
        let guessed = |name: &str| KnownDrive::from(&drive(name).unwrap()).guessed;
        assert_eq!(guessed("980-pro-1tb"), ["long writes", "flushes"]);
        assert_eq!(guessed("980-pro-1tb[program_us=400]"), ["long writes"]);
        assert_eq!(guessed("980-pro-1tb[program_us=400,slc=0]"), Vec::<String>::new());
        assert_eq!(guessed("sabrent-rocket-4-plus-2tb"), ["flushes"]);
        assert_eq!(guessed("p4800x-375gb"), Vec::<String>::new());
        assert_eq!(guessed("st18000nm000j"), Vec::<String>::new());
    }

    /// Random reads of a small span hang on it.
    #[test]
    fn a_read_buffer_that_nobody_measured_is_known_as_a_guess() {
        let guessed = |name: &str| KnownDrive::from(&drive(name).unwrap()).buffer_is_guessed;
        assert!(guessed("wd121kryz"));
        // Its division was measured (`drives probe`); flash and cloud volumes have no such buffer.
        assert!(!guessed("wd121kryz[buffer_segments=64,segment_sectors=4096]"));
        assert!(!guessed("980-pro-1tb") && !guessed("gp3"));
    }

    #[test]
    fn measurements_that_disagree_are_kept() {
        let doubt = |name: &str| KnownDrive::from(&drive(name).unwrap()).doubt_of_writes;
        assert!(doubt("p4800x-375gb").unwrap().contains("404,000"));
        assert_eq!(doubt("980-pro-1tb"), None);
    }

    /// Results know flash by its state alone.
    #[test]
    fn only_flash_drives_are_known_as_flash() {
        for name in drive_names() {
            let drive = drive(name).unwrap();
            assert_eq!(KnownDrive::from(&drive).is_flash(), drive.class() == "flash", "{name}");
        }
    }
}
