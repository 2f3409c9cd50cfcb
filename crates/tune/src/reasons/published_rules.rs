//! Published rules: which chunk each would choose here, and whether the search agrees.
//!
//! With S a share, Tpos the mean time to a position, X the media's rate and L the requests in flight:
//!
//! ```text
//! Chen & Patterson 1990   S · Tpos · X · (L − 1) + one sector, S = 1/4; without knowing L 2/3 · Tpos · X
//! Chen & Lee 1995         RAID 5: reads S = 1/4, writes S = 1/20; a mix 1/2 · Tpos · X
//! ```
//!
//! Their constants are recalled from the papers, not read there. An Exos X18 with 8 in flight: 0.25 · 12.2 ms ·
//! 288 MB/s · 7 = 6.1 MB.

pub(crate) mod layouts;
pub(crate) mod of_question;

use block::SECTOR_BYTES;
use block::units::{format_bytes, parse_sectors};
use lab::Result;
use lab::catalogue::{self, Drive, Model};
use lab::experiment::Experiment;
use serde::Serialize;

/// A rule and its word on this case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
    /// Whose it is.
    pub name: &'static str,
    /// What it says here.
    pub says: String,
    /// Whether the search agrees; nothing where the rule is not about this, or its chunk was not measured.
    pub agrees: Option<bool>,
    /// Why, in words.
    pub why: String,
    /// The chunk that it comes down to among those that md takes, in KiB.
    #[serde(skip)]
    pub chunk_kib: Option<u64>,
}

impl Rule {
    /// Whether it says something of the chunk here.
    pub(crate) fn is_of_chunks(&self) -> bool {
        self.chunk_kib.is_some() || self.agrees.is_some()
    }

    /// Of a mirror it says nothing.
    pub(crate) fn of_mirror(&mut self) {
        self.agrees = None;
        self.why = "a mirror has no chunk".into();
    }
}

/// What rules ask.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What the drives are.
    pub media: Media,
    /// Requests in flight.
    pub in_flight: u64,
    /// Share of reads.
    pub reads: f64,
    /// Bytes of a request, in the mean.
    pub request_bytes: u64,
    /// Whether requests are in order.
    pub in_order: bool,
    /// Whether the level keeps parity.
    pub parity: bool,
    /// The largest chunk that is tried, in KiB.
    pub largest_kib: u64,
    /// The smallest.
    pub smallest_kib: u64,
}

/// So many KiB are more than any rule says.
const NO_LIMIT_KIB: u64 = 1 << 40;

impl Case {
    /// What an experiment's work asks, its first workload before others; chunks of any size can be had. Programs on files,
    /// which are no `requests`, read as often as they write.
    pub(crate) fn of(experiment: &Experiment, media: Media, parity: bool, requests: bool) -> Case {
        let of = |name: &str, key: &str| {
            experiment.value(&format!("workload.{name}.{key}")).map(|value| value.to_string())
        };
        let first = experiment.workloads.first().map_or("", String::as_str);
        let number =
            |key: &str| of(first, key).and_then(|text| text.parse::<u64>().ok()).unwrap_or(1);
        let kind = of(first, "kind");
        let is_kind = |of: &[&str]| kind.as_deref().is_some_and(|kind| of.contains(&kind));
        let readers = if is_kind(&["spool"]) { number("readers") } else { 1 };
        let reads = |name: &String| {
            let percent = of(name, "reads_percent").and_then(|text| text.parse::<f64>().ok());
            match (percent, of(name, "op").as_deref()) {
                _ if !requests => 0.5,
                (Some(percent), _) => percent / 100.0,
                (None, Some("write")) => 0.0,
                _ => 1.0,
            }
        };
        let count = experiment.workloads.len().max(1) as f64;
        let block = of(first, "block").and_then(|block| parse_sectors(&block).ok());
        Case {
            media,
            in_flight: number("depth") * number("jobs") * readers,
            reads: experiment.workloads.iter().map(reads).sum::<f64>() / count,
            request_bytes: block.unwrap_or(128) * SECTOR_BYTES,
            in_order: is_kind(&["sequential", "dd", "strided"]) || requests && kind.is_none(),
            parity,
            largest_kib: NO_LIMIT_KIB,
            smallest_kib: 1,
        }
    }
}

/// What drives are, to rules that weigh positioning against transfer.
#[derive(Clone, Copy, Debug)]
pub enum Media {
    /// Disks.
    Disk {
        /// Mean seek and half a revolution, in seconds.
        position_s: f64,
        /// The rate of the outermost tracks, in bytes a second.
        bytes_per_s: f64,
    },
    /// Disks with overlapping tracks.
    Shingled,
    /// Disks that are an arm and nothing else.
    Ideal,
    /// Flash drives.
    Flash,
    /// A cloud's volumes.
    Remote,
    /// Those of AWS, which has rules of its own for them.
    Ebs,
}

impl Media {
    /// What a drive is.
    ///
    /// # Errors
    ///
    /// Where its figures make no drive.
    pub fn of(drive: &Drive) -> Result<Media> {
        let derived = catalogue::describe(&drive.name)?.derived;
        let follows = |key: &str| derived.iter().find(|row| row.key == key).map(|row| row.value);
        let figures = ["seek_mean", "rotation_mean", "media_rate_outer"].map(follows);
        Ok(match (&drive.model, figures) {
            (Model::Shingled(_), _) => Media::Shingled,
            (_, [Some(seek_ms), Some(rotation_ms), Some(mb)]) => {
                Media::Disk { position_s: (seek_ms + rotation_ms) / 1e3, bytes_per_s: mb * 1e6 }
            }
            _ if drive.is_remote() && drive.name.starts_with("ebs-") => Media::Ebs,
            _ if drive.is_remote() => Media::Remote,
            _ if drive.is_rotational() => Media::Ideal,
            _ => Media::Flash,
        })
    }

    /// Why rules of position do not apply; nothing of disks.
    fn why_not(self) -> Option<&'static str> {
        match self {
            Media::Disk { .. } => None,
            Media::Shingled => Some("a shingled disk rewrites whole bands of tracks"),
            Media::Ideal => Some("an ideal disk has no tracks"),
            Media::Flash => Some("flash serves many requests at once"),
            Media::Remote | Media::Ebs => Some("a cloud volume serves many requests at once"),
        }
    }
}

/// What the rules of position are about.
const WEIGHS: &str = "it weighs positioning against transfer; it ignores command costs, the stripe cache and the \
                      drives' queues";

/// The smallest chunk that is tried of drives, in KiB.
pub(crate) const SMALLEST_KIB: u64 = 16;

/// All rules on this case.
pub fn rules(case: &Case) -> Vec<Rule> {
    let mut rules = Vec::new();
    rules.push(by_position(
        "Chen & Patterson 1990",
        case,
        if case.parity { None } else { Some(0.25) },
    ));
    let writes = 1.0 - case.reads;
    let lee = match writes {
        writes if writes <= 0.0 => 0.25,
        writes if writes >= 1.0 => 0.05,
        _ => -0.5,
    };
    rules.push(by_position("Chen & Lee 1995", case, case.parity.then_some(lee)));
    rules.push(Rule {
        name: "vinum",
        says: "256 to 512 kB, not a power of two".into(),
        chunk_kib: Some(256),
        agrees: None,
        why: "judged by its size, as 256 KiB: a power of two puts all superblocks of UFS on one disk, but md takes no other \
              chunk except on RAID 0".into(),
    });
    rules.push(Rule {
        name: "md's default",
        says: "512 KiB".into(),
        chunk_kib: Some(512),
        agrees: None,
        why: "\"more appropriate for current (and recent) model drives than 64K\" (2009), without a measurement".into(),
    });
    let large = case.in_order || case.request_bytes > 64 << 10;
    rules.push(Rule {
        name: "Azure",
        says: if large {
            "256 KiB (for large requests, or in order)"
        } else {
            "64 KiB (for small, random requests)"
        }
        .into(),
        chunk_kib: Some(if large { 256 } else { 64 }),
        agrees: None,
        why: "it is about stripes over cloud disks".into(),
    });
    rules.push(of_aws(case));
    rules.push(Rule {
        name: "XFS",
        says: "su = the chunk, sw = the drives that hold data".into(),
        chunk_kib: None,
        agrees: Some(true),
        why: "the commands below do so".into(),
    });
    rules
}

/// Amazon's user guide: what to build of its volumes, and what not.
fn of_aws(case: &Case) -> Rule {
    if case.parity && matches!(case.media, Media::Ebs) {
        return Rule {
            name: "AWS",
            says: "advises against parity".into(),
            chunk_kib: None,
            agrees: Some(false),
            why: "its user guide does not recommend RAID 5 and 6 on EBS, where writing parity takes I/Os that are paid \
                  for"
                .into(),
        };
    }
    Rule {
        name: "AWS",
        says: "none (mdadm without --chunk, so 512 KiB)".into(),
        chunk_kib: Some(512),
        agrees: None,
        why: "it is about stripes over cloud disks".into(),
    }
}

/// A rule from the time to a position: a share of it for each request in flight but one, or below 0 of it alone.
fn by_position(name: &'static str, case: &Case, share: Option<f64>) -> Rule {
    let about = if name.contains("Lee") { "RAID 5" } else { "a stripe without parity" };
    let (Media::Disk { position_s, bytes_per_s }, Some(share)) = (case.media, share) else {
        let why = match case.media.why_not() {
            Some(why) => format!("it is about {about} on disks; {why}"),
            None => format!("it is about {about}"),
        };
        return Rule { name, says: "does not apply".into(), agrees: None, why, chunk_kib: None };
    };
    let travelled = position_s * bytes_per_s;
    let bytes = match share {
        share if share < 0.0 => -share * travelled,
        share => share * travelled * case.in_flight.saturating_sub(1) as f64 + 512.0,
    };
    Rule {
        name,
        says: if bytes < 1024.0 {
            "0.5 KiB, one sector".into()
        } else {
            format!("{:.0} KiB", bytes / 1024.0)
        },
        chunk_kib: Some(nearest_chunk_kib(bytes, case)),
        agrees: None,
        why: if case.largest_kib as f64 * 2048.0 < bytes {
            let largest = format_bytes(case.largest_kib << 10);
            let (number, unit) = largest.split_at(largest.find(char::is_alphabetic).unwrap_or(0));
            format!("judged as {number} {unit}, the largest that is tried; {WEIGHS}")
        } else if bytes * 2.0 < (case.smallest_kib << 10) as f64 {
            format!("judged as {} KiB, the smallest that is tried; {WEIGHS}", case.smallest_kib)
        } else {
            WEIGHS.into()
        },
    }
}

/// The power of two nearest to so many bytes that is tried, in KiB.
fn nearest_chunk_kib(bytes: f64, case: &Case) -> u64 {
    let kib = (bytes / 1024.0).max(1.0).log2().round().exp2() as u64;
    kib.clamp(case.smallest_kib, case.largest_kib)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXOS: Case = Case {
        media: Media::Disk { position_s: 0.0122, bytes_per_s: 288e6 },
        in_flight: 8,
        reads: 1.0,
        request_bytes: 1 << 20,
        in_order: true,
        parity: false,
        largest_kib: 1024,
        smallest_kib: SMALLEST_KIB,
    };

    #[test]
    fn the_worked_example() {
        let rules = rules(&EXOS);
        assert_eq!(rules[0].says, "6005 KiB");
        assert_eq!(rules[0].chunk_kib, Some(1024));
        assert!(rules[1].says.contains("does not apply"));
        let one = Case { in_flight: 1, ..EXOS };
        assert_eq!(
            (super::rules(&one)[0].says.as_str(), super::rules(&one)[0].chunk_kib),
            ("0.5 KiB, one sector", Some(16))
        );
    }

    /// XFS gets neither `su` nor `sw` on a mirror.
    #[test]
    fn on_a_mirror_no_rule_of_chunks_agrees() {
        let mut rules = rules(&EXOS);
        rules.iter_mut().filter(|rule| rule.is_of_chunks()).for_each(Rule::of_mirror);
        let xfs = rules.iter().find(|rule| rule.name == "XFS").unwrap();
        assert_eq!((xfs.agrees, xfs.why.as_str()), (None, "a mirror has no chunk"));
    }

    /// Where larger chunks are tried, a rule is judged by the nearest of them.
    #[test]
    fn a_rule_is_judged_by_the_nearest_chunk_that_is_tried() {
        let of = |largest_kib| rules(&Case { largest_kib, ..EXOS })[0].clone();
        assert_eq!([of(1024), of(4096)].map(|rule| rule.chunk_kib), [Some(1024), Some(4096)]);
        assert!(of(1024).why.starts_with("judged as 1 MiB, the largest that is tried; "));
        assert!(of(4096).why.starts_with("it weighs "), "6005 KiB is nearer to 4 MiB than to 16");
    }

    #[test]
    fn rules_of_disks_say_nothing_of_flash() {
        let flash =
            rules(&Case { media: Media::Flash, in_order: false, request_bytes: 8192, ..EXOS });
        assert_eq!(flash[0].chunk_kib, None);
        let azure = flash.iter().find(|rule| rule.name == "Azure").unwrap();
        assert_eq!(azure.chunk_kib, Some(64));
    }

    #[test]
    fn drives_that_rules_are_not_about_are_called_what_they_are() {
        let why = |name| {
            let media = Media::of(&catalogue::drive(name).unwrap()).unwrap();
            rules(&Case { media, ..EXOS })[0].why.clone()
        };
        let about = "it is about a stripe without parity on disks";
        assert_eq!(why("980-pro-1tb"), format!("{about}; flash serves many requests at once"));
        assert_eq!(
            why("wd40efax"),
            format!("{about}; a shingled disk rewrites whole bands of tracks")
        );
        assert_eq!(
            why("ebs-gp3[size=500GiB]"),
            format!("{about}; a cloud volume serves many requests at once")
        );
        assert!(!why("st18000nm000j").contains("on disks;"));
    }

    /// "AWS: agrees" stood below an answer of RAID 5 over EBS.
    #[test]
    fn aws_advises_against_parity_on_its_volumes() {
        let of = |media, parity| {
            let rules = rules(&Case { media, parity, ..EXOS });
            rules.into_iter().find(|rule| rule.name == "AWS").unwrap()
        };
        let volume = |name: &str| Media::of(&catalogue::drive(name).unwrap()).unwrap();
        let parity = of(volume("gp3[size=500GiB]"), true);
        assert_eq!((parity.says.as_str(), parity.agrees), ("advises against parity", Some(false)));
        // Azure's are not EBS.
        let azure = volume("azure-premium-ssd-v2[size=200GiB]");
        for (media, parity) in [(Media::Ebs, false), (azure, true), (EXOS.media, true)] {
            assert_eq!((of(media, parity).chunk_kib, of(media, parity).agrees), (Some(512), None));
        }
    }

    #[test]
    fn writes_to_parity_want_a_fifth_of_what_reads_do() {
        let of = |reads| rules(&Case { parity: true, reads, ..EXOS })[1].clone();
        assert_eq!(
            [of(1.0).says, of(0.0).says, of(0.5).says],
            ["6005 KiB", "1201 KiB", "1716 KiB"]
        );
    }
}
