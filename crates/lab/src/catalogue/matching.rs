//! The drive of the catalogue that a device means by the model that it states.

use super::family::{Family, is_other_series};
use super::naming::{few, stands_in, words};
use super::{DRIVES, Kind, Model, Named, rented};
use block::units::format_decimal;
use std::cmp::Reverse;

/// What a model is in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// A drive of this name.
    Drive(String),
    /// A volume or a disk of a cloud, of which the device does not say the kind; the name is that of the commonest, with its size
    /// where that is provisioned.
    Rented {
        /// The name.
        name: String,
    },
    /// No drive.
    None {
        /// The drive whose name is nearest, if one is near.
        nearest: Option<String>,
        /// The drives of its size, where that is known; those of its sort first.
        of_size: Vec<String>,
        /// The bytes of the device and of the nearest drive, where they alone tell these apart.
        sizes: Option<[u64; 2]>,
        /// Whether it goes with an instance of a cloud, and does not say which.
        of_instance: bool,
    },
}

/// Words that say nothing of one drive rather than another.
pub(super) const COMMON: [&str; 6] = ["samsung", "seagate", "wd", "ssd", "nvme", "sata"];

/// Fewer letters and digits are no model.
const MODEL_MIN: usize = 5;

impl Match {
    /// Why it is none of the catalogue, and what may stand for it: the nearest by name, or some of its size.
    pub fn why_none(&self) -> String {
        match self {
            Match::None { nearest: Some(name), sizes: Some([own, other]), .. } => {
                let [own, other] = [own, other].map(|bytes| format_decimal(*bytes));
                format!("reports {own}, and {name} of the catalogue has {other}")
            }
            Match::None { nearest: Some(name), .. } => {
                format!("is not in the catalogue; the nearest name there is {name}")
            }
            Match::None { of_size, of_instance: true, .. } if !of_size.is_empty() => {
                let few = few(of_size.iter().map(String::as_str));
                format!("does not say its type of instance; of its size the catalogue has {few}")
            }
            Match::None { of_size, .. } if !of_size.is_empty() => {
                let recorded = |name: &String| {
                    let how = if is_shingled(name) { " (shingled)" } else { "" };
                    format!("{name}{how}")
                };
                let named: Vec<String> = of_size.iter().map(recorded).collect();
                let few = few(named.iter().map(String::as_str));
                format!("is not in the catalogue, which has {few} of its size")
            }
            _ => "is not in the catalogue".into(),
        }
    }
}

/// The drive that calls itself `model` and has this many bytes, if that is known. `is_flash` says whether nothing turns
/// in it, if that is known: what may stand for one that is not in the catalogue is of its sort.
///
/// A name of the catalogue is meant where all of its words stand in the model, or all words of the model in it. Of
/// several one of its size is meant, to a tenth, then the longest without what is said of every drive, then the one of
/// which most is known.
pub fn matching(model: &str, bytes: Option<u64>, is_flash: Option<bool>) -> Match {
    let plain = plain(model);
    if let Some(volume) = rented::volume(&plain, bytes) {
        return volume;
    }
    let known = DRIVES.named().unwrap_or_default();
    let mut best: Option<(bool, usize, Reverse<usize>, String)> = None;
    for file in known {
        for name in &file.names {
            let Some(letters) = meant(&plain, model, name) else { continue };
            let fits = bytes.is_none_or(|bytes| has_size(file.key, bytes, 0.1));
            let rank = (fits, letters, Reverse(estimates(file.key)), file.key.to_string());
            let of = |(fits, letters, guessed, _): &(bool, usize, Reverse<usize>, String)| {
                (*fits, *letters, *guessed)
            };
            if best.as_ref().is_none_or(|known| of(known) < of(&rank)) {
                best = Some(rank);
            }
        }
    }
    if let Some((true, .., name)) = best {
        return Match::Drive(name);
    }
    let sizes = best.as_ref().zip(bytes).and_then(|((.., name), bytes)| {
        let drive = super::drive(name).ok()?;
        Some([bytes, drive.sectors() * block::SECTOR_BYTES])
    });
    if let Some(disk) = rented::of_instance(&plain, bytes, &known.iter().map(|file| file.key)) {
        return disk;
    }
    if let Some(name) = bytes.and_then(|bytes| cut_off(model, bytes, known)) {
        return Match::Drive(name);
    }
    let nearest = best.map(|(.., name)| name).or_else(|| near((model, bytes), known, is_flash));
    let of_size = bytes.map_or_else(Vec::new, |bytes| {
        let is_like = |name: &str| {
            let is_of_sort = is_flash != Some(false) || !is_flash_drive(name);
            is_of_sort && !is_cloud(name) && !is_ideal(name)
        };
        let drives =
            known.iter().filter(|file| has_size(file.key, bytes, OF_SIZE) && is_like(file.key));
        let mut drives: Vec<String> = drives.map(|file| file.key.to_string()).collect();
        disks_first(&mut drives);
        if is_flash == Some(true) {
            drives.sort_by_cached_key(|name| !is_flash_drive(name));
        }
        drives
    });
    Match::None { nearest, of_size, sizes, of_instance: false }
}

/// The drive whose name a model begins, where one alone has its size: SCSI cuts models off after 16 letters, so that `WDC
/// WUH721818ALE6L4` is `WDC  WUH721818AL`.
fn cut_off(model: &str, bytes: u64, known: &[Named]) -> Option<String> {
    let last = model.split_whitespace().next_back()?.to_ascii_lowercase();
    let is_number = last.len() >= CUT_OFF_MIN && last.contains(|c: char| c.is_ascii_digit());
    let is_cut = is_number && (CUT_AT - 1..=CUT_AT).contains(&model.len());
    let begins = |file: &&Named| {
        has_size(file.key, bytes, CUT_OFF_SIZE)
            && file.names.iter().any(|name| self::plain(name).starts_with(&self::plain(&last)))
    };
    let mut found = known.iter().filter(|_| is_cut).filter(begins);
    let first = found.next()?;
    found.next().is_none().then(|| first.key.to_string())
}

/// How far off the size of a disk may be that stands for another: families go on in steps of a fifth or less, and flash of one
/// name has all sizes.
const FAMILY_SIZE: f64 = 0.25;

/// The drive of its sort, and of disks nearly of its size, where these are known, whose name is nearest to a model.
fn near(
    (model, bytes): (&str, Option<u64>),
    known: &[Named],
    is_flash: Option<bool>,
) -> Option<String> {
    let family = Family::of(model);
    let is_of_class = |name: &str| {
        family.is_none_or(|family| super::drive(name).is_ok_and(|drive| family.has(&drive)))
    };
    let suits = |file: &&Named| {
        is_of_class(file.key)
            && is_flash.is_none_or(|flash| is_flash_drive(file.key) == flash)
            && !is_ideal(file.key)
            && bytes.is_none_or(|bytes| {
                is_flash_drive(file.key) || has_size(file.key, bytes, FAMILY_SIZE)
            })
    };
    let files = known.iter().filter(suits);
    let names = files.flat_map(|file| file.names.iter().map(move |name| (name, file.key)));
    let names: Vec<(&String, &str)> = names.collect();
    let lower = model.to_ascii_lowercase();
    let near = crate::error::nearest(&lower, names.iter().map(|(name, _)| name.as_str()))?;
    names.iter().find(|(name, _)| *name == near).map(|(_, key)| (*key).to_string())
}

/// How a drive that is in no catalogue gets a file of its own.
pub const OWN_FILE: &str = "`ileave drives fit` makes its file, of its data sheet or of what `ileave drives probe` measures";

/// Letters and digits, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a disk that states this `model` is the drive that a file calls `name`: `ST18000NM000J-2TV103` is an `ST18000NM000J`.
pub fn is_called(model: &str, name: &str) -> bool {
    meant(&plain(model), model, name).is_some()
}

/// How many letters and digits of their own a model and a name have in common, where one means the other.
fn meant(plain_model: &str, model: &str, name: &str) -> Option<usize> {
    let plain_name = plain(name);
    if plain_model.len() < MODEL_MIN || plain_name.len() < MODEL_MIN {
        return None;
    }
    let all_in = |text: &str, whole: &str| {
        let (words, whole) = (words(text), whole.to_ascii_lowercase());
        words.len() > 1 && words.iter().all(|word| stands_in(word, &whole))
    };
    let is_meant = plain_model.contains(&plain_name)
        || plain_name.contains(plain_model)
        || all_in(name, model)
        || all_in(model, name);
    let own = |text: &str| {
        words(text)
            .iter()
            .filter(|word| !COMMON.contains(&word.as_str()))
            .map(String::len)
            .sum::<usize>()
    };
    (is_meant && !is_other_series(model, name)).then(|| own(name).min(own(model)))
}

/// How many figures of the drive called `name` are estimates.
fn estimates(name: &str) -> usize {
    let figures = super::describe(name).map(|described| described.figures).unwrap_or_default();
    figures.iter().filter(|stated| stated.kind == Kind::Estimate).count()
}

/// Disks in front of flash: most that is not known is one. Shingled ones are the last of them.
pub(super) fn disks_first(names: &mut [impl AsRef<str>]) {
    names.sort_by_cached_key(|name| (is_flash_drive(name.as_ref()), is_shingled(name.as_ref())));
}

/// Whether nothing turns in the drive called `name`.
fn is_flash_drive(name: &str) -> bool {
    super::drive(name).is_ok_and(|drive| !drive.is_rotational())
}

/// Whether the drive called `name` is shingled.
pub(super) fn is_shingled(name: &str) -> bool {
    super::drive(name).is_ok_and(|drive| matches!(drive.model, Model::Shingled(_)))
}

/// Whether the drive called `name` is one that nobody can buy: an ideal one, with which models are compared.
fn is_ideal(name: &str) -> bool {
    super::drive(name).is_ok_and(|drive| drive.class().starts_with("ideal"))
}

/// Whether the drive called `name` is a cloud's, and none that a system has in it.
pub(super) fn is_cloud(name: &str) -> bool {
    super::drive(name).is_ok_and(|drive| drive.class() == "cloud") || goes_with_instance(name)
}

/// Whether the drive called `name` goes with an instance of a cloud.
pub(super) fn goes_with_instance(name: &str) -> bool {
    super::drive(name).is_ok_and(|drive| drive.figures.goes_with_instance)
}

/// The letters of a model that SCSI's inquiry has place for.
const CUT_AT: usize = 16;
/// Fewer letters of a model's number are the beginning of too many.
const CUT_OFF_MIN: usize = 8;
/// Disks with one name of one size differ by less than this share.
const CUT_OFF_SIZE: f64 = 0.002;

/// Drives of one size differ by less than this share: 1000 and 1024 GB.
pub(super) const OF_SIZE: f64 = 0.03;

/// Whether the drive called `name` has this many bytes, to such a share.
pub(super) fn has_size(name: &str, bytes: u64, share: f64) -> bool {
    super::drive(name).is_ok_and(|drive| {
        let own = drive.sectors() as f64 * block::SECTOR_BYTES as f64;
        (own / bytes as f64 - 1.0).abs() < share
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_that_fit_the_better_known_is_meant() {
        let bytes = Some(1_000_204_886_016);
        let found = matching("Samsung SSD 980 PRO 1TB", bytes, None);
        assert_eq!(found, Match::Drive("980-pro-1tb".into()));
        // A number is whole here, too, where nobody says a size.
        assert_eq!(
            matching("Seagate IronWolf Pro 18TB", None, None),
            Match::Drive("st18000ne000".into())
        );
        assert!(matches!(matching("Seagate IronWolf Pro 8TB", None, None), Match::None { .. }));
        let found = matching("WD_BLACK SN850X 1000GB", bytes, None);
        assert_eq!(found, Match::Drive("iocost-wd-black-sn850x-1000gb".into()));
    }

    /// A disk of 20 TB was told that the nearest name is that of a desktop disk of 2 TB.
    #[test]
    fn what_is_near_a_disk_has_nearly_its_size() {
        let found = matching("TOSHIBA MG10ACA20TE", Some(20_000_588_955_648), Some(false));
        let said = "is not in the catalogue, which has st20000nm007d of its size";
        assert_eq!(found.why_none(), said);
        // Nobody says a size.
        let found = matching("TOSHIBA MG10ACA20TE", None, Some(false));
        assert!(matches!(found, Match::None { nearest: Some(_), .. }), "{found:?}");
    }

    /// A 980 without DRAM was answered with the 980 PRO, for certain, and an SN850 with the SN850X.
    #[test]
    fn a_series_that_stands_in_a_longer_one_is_no_certain_match() {
        let bytes = Some(1_000_204_886_016);
        for model in
            ["Samsung SSD 980 1TB", "WD_BLACK SN850 1TB", "WDS100T1X0E WD_BLACK SN850 1000GB"]
        {
            let found = matching(model, bytes, Some(true));
            assert!(matches!(found, Match::None { .. }), "{model}: {found:?}");
            assert!(super::super::drive(model).is_err(), "{model}");
            assert!(DRIVES.like(model).unwrap().is_empty(), "{model}");
        }
        let found = matching("Samsung SSD 970 EVO Plus 500GB", Some(500_107_862_016), Some(true));
        assert!(matches!(found, Match::None { .. }), "{found:?}");
    }

    #[test]
    fn a_disk_that_is_not_known_has_others_of_its_size() {
        let found = matching("ST8000VN004-2M2101", Some(8_001_563_222_016), None);
        assert!(
            found.why_none().starts_with("is not in the catalogue, which has hus728t8tale6l4, ")
        );
        let Match::None { nearest: None, of_size, .. } = found else { panic!("{found:?}") };
        assert!(of_size.contains(&"hus728t8tale6l4".to_string()), "{of_size:?}");
        assert!(!of_size.contains(&"azure-p60".to_string()), "{of_size:?}");
        assert!(is_cloud("i7ie-7500gb") && !is_cloud("980-pro-1tb"));
        let none = |nearest: Option<&str>| Match::None {
            nearest: nearest.map(str::to_string),
            of_size: Vec::new(),
            sizes: None,
            of_instance: false,
        };
        assert_eq!(
            none(Some("x")).why_none(),
            "is not in the catalogue; the nearest name there is x"
        );
        assert_eq!(none(None).why_none(), "is not in the catalogue");
    }

    /// "Nearest is st18000nm000j" was said of one that calls itself so.
    #[test]
    fn another_size_is_the_reason() {
        let found = matching("ST18000NM000J", Some(16_000_900_661_248), None);
        assert_eq!(found.why_none(), "reports 16 TB, and st18000nm000j of the catalogue has 18 TB");
    }

    /// An ideal flash drive and a shingled disk were named for a rotating disk of 4 TB, and nothing said what they are.
    #[test]
    fn what_may_stand_for_a_disk_turns_and_can_be_bought() {
        let found = matching("HUS726040ALE610", Some(4_000_787_030_016), Some(false));
        let Match::None { of_size, .. } = &found else { panic!("{found:?}") };
        assert!(!of_size.is_empty(), "{found:?}");
        assert!(of_size.iter().all(|name| !is_flash_drive(name) && !is_ideal(name)), "{of_size:?}");
        let first_shingled = of_size.iter().position(|name| is_shingled(name));
        assert!(first_shingled.is_none_or(|at| of_size[at..].iter().all(|of| is_shingled(of))));
        let shingled = Match::None {
            nearest: None,
            of_size: vec!["st8000as0002".into()],
            sizes: None,
            of_instance: false,
        };
        assert!(shingled.why_none().ends_with("has st8000as0002 (shingled) of its size"));
    }

    /// A SAS disk was the first that might stand for flash.
    #[test]
    fn what_may_stand_for_flash_is_flash() {
        let found = matching("Samsung SSD 9100 PRO 1TB", Some(1_000_204_886_016), Some(true));
        let Match::None { nearest, of_size, .. } = found else { panic!("{found:?}") };
        assert!(nearest.is_none_or(|name| is_flash_drive(&name)));
        assert!(is_flash_drive(&of_size[0]) && of_size.iter().any(|name| !is_flash_drive(name)));
    }

    /// Azure's disks of 1920 GB were offered for Amazon's of 1875.
    #[test]
    fn disks_of_instances_are_their_provider_s_and_exactly_as_large() {
        let of = |model: &str, bytes: u64| match matching(model, Some(bytes), Some(true)) {
            Match::None { nearest: None, of_size, of_instance: true, .. } => of_size.join(" "),
            other => panic!("{model}: {other:?}"),
        };
        let amazon = "Amazon EC2 NVMe Instance Storage";
        assert_eq!(of(amazon, 1_875_000_000_000), "i4g-1875gb i4i-1875gb i7i-1875gb im4gn-1875gb");
        assert!(of(amazon, 1_900_000_000_000).starts_with("i3-1900gb m6gd-1900gb"));
        // None is exactly as large.
        assert_eq!(of(amazon, 7_530_000_000_000), "i3en i7ie-7500gb im4gn-7500gb");
        let azure = of("Microsoft NVMe Direct Disk v2", 1_920_000_000_000);
        assert!(azure.split(' ').all(|name| name.starts_with("azure-")), "{azure}");
    }

    /// SCSI has place for 16 letters of a model.
    #[test]
    fn a_model_that_is_cut_off_is_known_by_its_size() {
        let of = |model: &str, bytes: u64| matching(model, Some(bytes), Some(false));
        let whole = Match::Drive("wuh721818ale6l4".into());
        assert_eq!(of("WDC  WUH721818AL", 18_000_207_937_536), whole);
        assert_eq!(of("WDC WUH721818AL", 18_000_207_937_536), whole);
        // Of another size, and not cut off.
        let other = of("WDC  WUH721818AL", 16_000_900_661_248);
        assert!(matches!(other, Match::None { .. }), "{other:?}");
        let whole = of("MAKER WUH721818AL DISK", 18_000_207_937_536);
        assert!(matches!(whole, Match::None { .. }), "{whole:?}");
    }
}
