//! A disk from the figures of its data sheet.
//!
//! A data sheet says how large a disk is, how fast it turns, and how fast it reads in order. What else the model needs is
//! estimated from disks of its kind, and marked so in the file.

use crate::catalogue::{
    self, CYLINDERS_MAX, Draft, Drive, Kind, SECTORS_PER_TRACK_MAX, ZONES_BY_DEFAULT as ZONES,
};
use crate::error::{Error, Result};
use block::SECTOR_BYTES;

/// What a data sheet says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataSheet {
    /// The name of the disk.
    pub name: String,
    /// Its capacity in bytes, as it is sold: 18 TB are 18 × 10^12.
    pub capacity_bytes: u64,
    /// Revolutions a minute.
    pub rpm: f64,
    /// The most it reads in order, sustained, in MB/s: that of its outermost tracks.
    pub read_mb_per_s: f64,
    /// The mean seek of random reads, in ms.
    pub seek_average_ms: Option<f64>,
    /// The seek to the next cylinder, in ms.
    pub seek_single_ms: Option<f64>,
    /// The seek over all cylinders, in ms.
    pub seek_full_ms: Option<f64>,
    /// Recording surfaces.
    pub heads: Option<u32>,
    /// Its buffer, in bytes.
    pub buffer_bytes: Option<u64>,
    /// Whether a write is done once it is in the buffer.
    pub write_cache: Option<bool>,
    /// Commands that it takes at a time.
    pub queue_depth: Option<u32>,
    /// How it is attached, if that is known.
    pub attachment: Option<Attachment>,
    /// Where the figures are from.
    pub source: Option<String>,
}

/// How a disk is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// Serial ATA, 6 Gbit/s.
    Sata,
    /// Serial attached SCSI, 12 Gbit/s.
    Sas,
}

impl Attachment {
    /// What users write.
    pub const WORDS: [&'static str; 2] = ["sata", "sas"];

    /// The attachment that is written so.
    pub fn of_word(word: &str) -> Option<Self> {
        let of = [Attachment::Sata, Attachment::Sas];
        Self::WORDS.iter().position(|known| *known == word).map(|index| of[index])
    }
}

/// A disk made of a data sheet.
#[derive(Clone, Debug)]
pub struct FromSheet {
    /// Its file.
    pub text: String,
    /// The disk.
    pub drive: Drive,
    /// Figure, value and where it is from.
    pub rows: Vec<[String; 3]>,
}

/// From here on disks have sectors of 4096 bytes, in bytes.
const LARGE_SECTORS_FROM: u64 = 2_000_000_000_000;
/// From here on they choose among queued commands, in bytes.
const QUEUES_FROM: u64 = 200_000_000_000;
/// From here on they are taken to pick what leaves a full write cache by where the head is, in bytes: the smallest disk of
/// the catalogue that is.
pub(crate) const PICKS_FROM_BYTES: u64 = 8_000_000_000_000;
/// How many times as fast the outermost zone is as the innermost (Deskstar 7K500, manual).
const OUTER_OVER_INNER: f64 = 2.09;
/// About as many cylinders as large disks have: 448,000 to 590,000 in the catalogue.
const CYLINDERS_ABOUT: f64 = 520_000.0;
/// Surfaces of the disks of today that have the most.
const HEADS_MAX: u32 = 20;
/// The longest read segment that is assumed, in bytes.
const SEGMENT_BYTES: u64 = 2 << 20;

const SHEET: (Kind, &str) = (Kind::Datasheet, "sheet");
const COMPUTED: (Kind, &str) = (Kind::Computed, "ileave");
const ESTIMATE: (Kind, &str) = (Kind::Estimate, "guess");

/// Makes a disk of what `sheet` says.
///
/// # Errors
///
/// Where no disk has such figures.
pub fn disk(sheet: &DataSheet) -> Result<FromSheet> {
    check(sheet)?;
    refuse_shingled(&sheet.name)?;
    let source = sheet.source.clone().unwrap_or_else(|| "data sheet".into());
    let sources = vec![
        ("sheet", source),
        ("ileave", "from the other figures of this file".into()),
        ("guess", "our estimate, of disks of this kind".into()),
    ];
    let mut draft = Draft::new(&sheet.name, sources);
    draft.note = Some(NOTE.into());
    draft.doubt_of_writes = may_be_shingled(sheet).then(|| CONVENTIONAL.into());
    let sectors = sectors(sheet.capacity_bytes);
    draft.add("sectors", sectors, COMPUTED, "as makers count the capacity");
    let physical = physical_bytes(sheet);
    draft.add("physical_sector_bytes", physical, ESTIMATE, "4096 from 2 TB, 512 below");
    draft.add("rpm", sheet.rpm, SHEET, "rpm");
    let moves = Moves::of(sheet);
    moves.check()?;
    platters(sheet, sectors, &moves, &mut draft)?;
    moves.add(&mut draft);
    electronics(sheet, &mut draft);
    let text = draft.text();
    let drive = catalogue::drive_from(&sheet.name, &text).map_err(|error| {
        error.context("the disk of `--rpm`, `--seek`, `--track-seek` and `--full-seek`")
    })?;
    Ok(FromSheet { text, drive, rows: draft.rows() })
}

/// Each figure alone is one that a disk can have.
fn check(sheet: &DataSheet) -> Result<()> {
    let ms = 0.01..=200.0;
    // No disk reads faster than its interface, which needs a tenth for itself.
    let most_mb_per_s = if sheet.attachment == Some(Attachment::Sas) { 1_080.0 } else { 540.0 };
    let given = [
        ("--rpm", Some(sheet.rpm), 60.0..=20_000.0, ""),
        ("--read-mb", Some(sheet.read_mb_per_s), 0.1..=most_mb_per_s, " MB/s"),
        ("--seek", sheet.seek_average_ms, ms.clone(), " ms"),
        ("--track-seek", sheet.seek_single_ms, ms.clone(), " ms"),
        ("--full-seek", sheet.seek_full_ms, ms, " ms"),
        ("--heads", sheet.heads.map(f64::from), 1.0..=255.0, ""),
        ("--queue-depth", sheet.queue_depth.map(f64::from), 1.0..=65_536.0, ""),
        ("--capacity", Some(sheet.capacity_bytes as f64 / 1e9), 0.01..=500_000.0, " GB"),
        (
            "--buffer",
            sheet.buffer_bytes.map(|bytes| bytes as f64 / 1024.0),
            16.0..=16_777_216.0,
            " KiB",
        ),
    ];
    let wrong = given.iter().find_map(|(flag, value, may_be, unit)| {
        let value = value.filter(|value| !may_be.contains(value))?;
        let is_too_fast = *flag == "--read-mb" && value > *may_be.end();
        let next = match sheet.attachment {
            Some(Attachment::Sas) if is_too_fast => "SAS carries no more",
            _ if is_too_fast => "SATA carries no more; for SAS add `--interface sas`",
            _ => "correct it",
        };
        Some(format!(
            "`{flag}`: {value}{unit} is not from {} to {}{unit}; {next}",
            may_be.start(),
            may_be.end()
        ))
    });
    wrong.map_or(Ok(()), |wrong| Err(Error::input(wrong)))
}

const NOTE: &str = "Of a data sheet: what it does not say is estimated, and marked so. Conventional recording is assumed.";

/// What answers say of a disk whose sheet does not say how it records.
const CONVENTIONAL: &str = "assumed conventional (CMR): if it is shingled (SMR), its writes are far slower once its media cache is \
                            full (docs/smr.md)";
/// No shingled disk that was sold is smaller, in bytes.
const SHINGLED_FROM: u64 = 500_000_000_000;
/// Or turns faster.
const SHINGLED_RPM_MAX: f64 = 7_200.0;

fn may_be_shingled(sheet: &DataSheet) -> bool {
    sheet.capacity_bytes >= SHINGLED_FROM && sheet.rpm <= SHINGLED_RPM_MAX
}

/// Refuses a series that is known to be shingled: a sheet says nothing of what makes it so, and the disk would be a conventional one.
fn refuse_shingled(name: &str) -> Result<()> {
    if !catalogue::is_shingled_series(name) {
        return Ok(());
    }
    Err(Error::input(format!(
        "`{name}` is a shingled disk (SMR), and its data sheet does not say how it shingles; take the nearest of the catalogue: {}",
        catalogue::instead_of_shingled(name)
    )))
}

/// Sectors of 512 bytes of a capacity as it is sold.
///
/// More than 8 TB end on 2^21 sectors (SFF-8447): 18 TB are 35,156,250,000 and so 35,156,656,128. Below, down to 80 GB, makers
/// count 97,696,368 sectors for 50 GB and 1,953,504 for each GB more (IDEMA LBA1-03): 4 TB are 7,814,037,168.
fn sectors(capacity_bytes: u64) -> u64 {
    const GB: u64 = 1_000_000_000;
    let gigabytes = capacity_bytes / GB;
    if !capacity_bytes.is_multiple_of(GB) || gigabytes < 80 {
        return capacity_bytes / 4096 * 8;
    }
    if gigabytes > 8_000 {
        return (capacity_bytes / SECTOR_BYTES).next_multiple_of(1 << 21);
    }
    97_696_368 + 1_953_504 * (gigabytes - 50)
}

fn physical_bytes(sheet: &DataSheet) -> u64 {
    if sheet.capacity_bytes >= LARGE_SECTORS_FROM { 4096 } else { SECTOR_BYTES }
}

/// The times of the arm, in ms, each with whether the data sheet says it.
struct Moves {
    single: (f64, bool),
    average: (f64, bool),
    full: (f64, bool),
    head_switch_ms: f64,
    write_settle_ms: f64,
}

impl Moves {
    /// As given, or of disks in the catalogue that turn as fast.
    fn of(sheet: &DataSheet) -> Self {
        let typical_ms = match sheet.rpm {
            rpm if rpm >= 14_000.0 => 3.5,
            rpm if rpm >= 9_000.0 => 4.5,
            rpm if rpm >= 7_000.0 => 8.0,
            _ => 9.5,
        };
        let or = |given: Option<f64>, typical: f64| (given.unwrap_or(typical), given.is_some());
        let average = or(sheet.seek_average_ms, typical_ms);
        let is_narrow = sheet.capacity_bytes >= QUEUES_FROM;
        let single = or(sheet.seek_single_ms, if is_narrow { 0.25 } else { 0.12 * average.0 });
        let full = or(sheet.seek_full_ms, 2.0 * average.0);
        Moves {
            single,
            average,
            full,
            head_switch_ms: 1.8 * single.0,
            write_settle_ms: 0.4 * single.0,
        }
    }

    /// Longer ways take longer.
    fn check(&self) -> Result<()> {
        let (single, average, full) = (self.single.0, self.average.0, self.full.0);
        if single < average && average < full {
            return Ok(());
        }
        let said = |(ms, is_given): (f64, bool)| {
            if is_given {
                format!("{ms} ms")
            } else {
                format!("{} ms, as it is not given", rounded(ms))
            }
        };
        Err(Error::input(format!(
            "`--track-seek` ({}), `--seek` ({}) and `--full-seek` ({}): a seek to the next track takes less than the average, \
             and that less than the longest; correct them, or give those that are missing",
            said(self.single),
            said(self.average),
            said(self.full)
        )))
    }

    /// What the skews cost a cylinder's read, for each of `heads` tracks, in ms.
    fn skew_ms(&self, heads: u32) -> f64 {
        let between = f64::from(heads - 1) * (self.head_switch_ms + self.write_settle_ms);
        (between + self.single.0 + self.write_settle_ms) / f64::from(heads)
    }

    fn add(&self, draft: &mut Draft) {
        let mut seek = |key, (ms, is_given): (f64, bool), otherwise: &str| {
            let (kind, note) = if is_given { (SHEET, "seek") } else { (ESTIMATE, otherwise) };
            draft.add(key, rounded(ms), kind, note);
        };
        seek("seek_single_ms", self.single, "of disks of this size");
        seek("seek_average_ms", self.average, "of disks that turn as fast");
        seek("seek_full_ms", self.full, "twice the mean");
        let note = "1.8 times a seek to the next cylinder, as of large disks in the catalogue";
        draft.add("head_switch_ms", rounded(self.head_switch_ms), ESTIMATE, note);
        let note = "0.4 times a seek to the next cylinder, as of an Ultrastar DC HC310";
        draft.add("write_settle_ms", rounded(self.write_settle_ms), ESTIMATE, note);
    }
}

/// To a µs.
fn rounded(ms: f64) -> f64 {
    (ms * 1e3).round() / 1e3
}

/// Tracks that read as fast as the data sheet says, and as many cylinders as hold the sectors.
///
/// A track passes in a revolution, and what follows it comes a skew later. 270 MB/s at 7200 rpm, with 18 heads and 0.45 + 0.1 ms
/// between tracks: 270 × (8.333 + 0.53) / 0.512 = 4674 sectors.
fn platters(sheet: &DataSheet, sectors: u64, moves: &Moves, draft: &mut Draft) -> Result<()> {
    let revolution_ms = 60e3 / sheet.rpm;
    let step = physical_bytes(sheet) / SECTOR_BYTES;
    let track = |heads: u32| {
        let passes_ms = revolution_ms + moves.skew_ms(heads);
        whole(sheet.read_mb_per_s * passes_ms * 1e3 / SECTOR_BYTES as f64, step)
    };
    let mean = |outer: u64| outer as f64 * (1.0 + 1.0 / OUTER_OVER_INNER) / 2.0;
    let estimated =
        (sectors as f64 / mean(track(1)) / CYLINDERS_ABOUT).ceil().clamp(1.0, HEADS_MAX.into());
    let heads = sheet.heads.unwrap_or(estimated as u32);
    let outer = track(heads);
    let inner = whole(outer as f64 / OUTER_OVER_INNER, step);
    let cylinders = cylinders(sectors, heads, outer, inner, step);
    if cylinders > CYLINDERS_MAX || outer > SECTORS_PER_TRACK_MAX {
        return Err(Error::input(format!(
            "no disk has {cylinders} cylinders of {heads} tracks with {outer} sectors on the outermost; check `--capacity`, \
             `--rpm`, `--read-mb` and `--heads`"
        )));
    }
    let (kind, note) = match sheet.heads {
        Some(_) => (SHEET, "surfaces"),
        None if heads == HEADS_MAX && cylinders as f64 > CYLINDERS_ABOUT => (
            ESTIMATE,
            "20 surfaces, the most that a disk has; its tracks are then narrower than on disks of 8 to 24 TB",
        ),
        None => (
            ESTIMATE,
            "1 to 20, so that there are at most about 520,000 cylinders, as on disks of 8 to 24 TB",
        ),
    };
    draft.add("heads", heads, kind, note);
    draft.add("cylinders", cylinders, COMPUTED, "so that the zones hold the sectors");
    let note = format!("{} MB/s sustained, and the skews between tracks", sheet.read_mb_per_s);
    draft.add("outer_sectors_per_track", outer, (Kind::Computed, "sheet"), note);
    draft.add(
        "inner_sectors_per_track",
        inner,
        ESTIMATE,
        "the outermost zone is 2.09 times as fast",
    );
    Ok(())
}

/// `sectors` to the nearest multiple of `step`, at least one.
fn whole(sectors: f64, step: u64) -> u64 {
    ((sectors / step as f64).round() as u64).max(1) * step
}

/// The fewest cylinders in zones of equal steps from `outer` to `inner` that hold `sectors`; a cylinder more for each zone,
/// since zones end on whole ones.
fn cylinders(sectors: u64, heads: u32, outer: u64, inner: u64, step: u64) -> u64 {
    let track = |zone: u64| {
        let inwards = zone as f64 / (ZONES - 1) as f64;
        whole(outer as f64 + (inner as f64 - outer as f64) * inwards, step)
    };
    let zones: u64 = (0..ZONES).map(track).sum();
    (sectors * ZONES).div_ceil(zones * u64::from(heads)) + ZONES
}

/// The controller, the buffer and the queue.
fn electronics(sheet: &DataSheet, draft: &mut Draft) {
    let queues = sheet.capacity_bytes >= QUEUES_FROM;
    let [hit_ms, miss_ms, write_ms] = if queues { [0.03, 0.1, 0.1] } else { [0.1, 0.3, 0.3] };
    draft.add("read_hit_overhead_ms", hit_ms, ESTIMATE, "of such disks");
    draft.add("read_miss_overhead_ms", miss_ms, ESTIMATE, "of such disks");
    draft.add("write_overhead_ms", write_ms, ESTIMATE, "of such disks");
    let (bytes, is_given) = match sheet.buffer_bytes {
        Some(bytes) => (bytes, true),
        None => (buffer_bytes(sheet.capacity_bytes), false),
    };
    let whose = if is_given { "of the buffer" } else { "of a buffer as such disks have" };
    let half = bytes / 2;
    let segment = SEGMENT_BYTES.min(half / 4).max(SECTOR_BYTES);
    let note = format!("half {whose}");
    draft.add("buffer_segments", half / segment, ESTIMATE, note.clone());
    draft.add(
        "segment_sectors",
        segment / SECTOR_BYTES,
        ESTIMATE,
        "the buffer in parts of at most 2 MiB",
    );
    let is_sata = sheet.attachment != Some(Attachment::Sas);
    let (word, rate) = if is_sata { ("SATA, 6 Gbit/s", 600) } else { ("SAS, 12 Gbit/s", 1200) };
    let (from, note) = match sheet.write_cache {
        Some(_) => (SHEET, "as given"),
        None if is_sata => (ESTIMATE, "SATA disks come with it on"),
        None => (ESTIMATE, "SAS disks come with it off"),
    };
    draft.add("write_cache", sheet.write_cache.unwrap_or(is_sata), from, note);
    draft.add(
        "write_buffer_sectors",
        half / SECTOR_BYTES,
        ESTIMATE,
        format!("the other half {whose}"),
    );
    if queues || sheet.queue_depth.is_some() {
        let typical = if is_sata { 32 } else { 128 };
        let (kind, note) = match sheet.queue_depth {
            Some(_) => (SHEET, "commands"),
            None => (ESTIMATE, "of such disks"),
        };
        draft.add("queue_discipline", "\"sptf\"", ESTIMATE, "disks of this size reorder");
        draft.add("queue_depth", sheet.queue_depth.unwrap_or(typical), kind, note);
        draft.add("queue_ageing_us_per_ms", 50, ESTIMATE, "of such disks");
    }
    if sheet.capacity_bytes >= PICKS_FROM_BYTES {
        draft.add("destage_choices", 256, ESTIMATE, "of such disks");
    }
    let from = if sheet.attachment.is_some() { SHEET } else { ESTIMATE };
    draft.add("interface_mb_per_s", rate, from, word);
}

/// The buffer of disks of a capacity, in bytes.
fn buffer_bytes(capacity_bytes: u64) -> u64 {
    match capacity_bytes / 1_000_000_000 {
        16_000.. => 512 << 20,
        6_000.. => 256 << 20,
        1_000.. => 64 << 20,
        200.. => 16 << 20,
        _ => 512 << 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_counted_as_makers_do() {
        let gb = 1_000_000_000;
        for (gigabytes, counted) in [
            (80, 156_301_488),
            (500, 976_773_168),
            (4_000, 7_814_037_168),
            (8_000, 15_628_053_168),
            (12_000, 23_437_770_752),
            (18_000, 35_156_656_128),
            (24_000, 46_875_541_504),
        ] {
            assert_eq!(sectors(gigabytes * gb), counted, "{gigabytes} GB");
        }
        assert_eq!(sectors(9_105_018_880), 9_105_018_880 / 512, "exact bytes are kept");
    }

    #[test]
    fn a_capacity_stands_in_the_name() {
        use crate::grid::capacity_in;
        for name in ["My disk 18TB", "My disk 18 TB", "18tb disk", "MY_DISK_18T"] {
            assert_eq!(capacity_in(name), Some(18_000_000_000_000), "{name}");
        }
        assert_eq!(capacity_in("TB"), None);
        assert_eq!(capacity_in("ST18000NM000J"), None);
    }

    /// The message named no option.
    #[test]
    fn seeks_that_do_not_rise_are_refused_by_name() {
        let said = |average, single, full| {
            let sheet = DataSheet {
                name: "My disk 12TB".into(),
                capacity_bytes: 12_000_000_000_000,
                rpm: 7200.0,
                read_mb_per_s: 245.0,
                seek_average_ms: average,
                seek_single_ms: single,
                seek_full_ms: full,
                ..DataSheet::default()
            };
            disk(&sheet).map(|_| ()).map_err(|error| error.to_string())
        };
        let seek = said(Some(0.01), None, None).unwrap_err();
        assert!(
            seek.starts_with("`--track-seek` (0.25 ms, as it is not given), `--seek` (0.01 ms)"),
            "{seek}"
        );
        let full = said(Some(8.0), None, Some(4.0)).unwrap_err();
        assert!(full.contains("`--full-seek` (4 ms)"), "{full}");
        // No curve of this form has these, though they rise.
        let curve = said(Some(8.0), Some(0.3), Some(8.1)).unwrap_err();
        assert!(curve.contains("`--full-seek`") && curve.contains("no rising"), "{curve}");
        assert_eq!(said(Some(8.5), Some(0.3), Some(17.0)), Ok(()));
    }

    /// They were conventional disks, and no answer said so.
    #[test]
    fn a_shingled_series_is_refused_and_others_are_said_to_be_taken_as_conventional() {
        let of = |name: &str, rpm, gigabytes: u64| {
            disk(&DataSheet {
                name: name.into(),
                capacity_bytes: gigabytes * 1_000_000_000,
                rpm,
                read_mb_per_s: 180.0,
                ..DataSheet::default()
            })
        };
        for (name, gigabytes) in [
            ("ST8000DM004", 8000),
            ("WD20EFAX", 2000),
            ("WDC WD60EFAX-68SHWN0", 6000),
            ("TOSHIBA HDWD240", 4000),
            ("MQ04ABF100", 1000),
            ("WD10SPSX", 1000),
        ] {
            let said = of(name, 5400.0, gigabytes).unwrap_err().to_string();
            assert!(said.contains("is a shingled disk (SMR)"), "{said}");
            assert!(said.contains("wd40efax") && said.contains("st8000as0002"), "{said}");
        }
        let doubt = |name, rpm, gigabytes| {
            let text = of(name, rpm, gigabytes).unwrap().text;
            text.contains("\ndoubt_of_writes = \"assumed conventional (CMR)")
        };
        assert!(doubt("WD Red 6TB", 5400.0, 6000));
        assert!(doubt("My disk 18TB", 7200.0, 18_000));
        assert!(!doubt("Cheetah 15K", 15_000.0, 600) && !doubt("My disk 250GB", 7200.0, 250));
    }

    #[test]
    fn zones_hold_the_sectors() {
        for (sectors, heads, outer, inner, step) in [
            (35_156_656_128, 18, 4696, 2248, 8),
            (10_000, 3, 40, 19, 1),
            (781_422_768, 4, 1735, 830, 1),
        ] {
            let cylinders = cylinders(sectors, heads, outer, inner, step);
            // Each zone has a sixteenth of the cylinders, rounded down.
            let least = cylinders / 16 * u64::from(heads);
            let held: u64 = (0..16)
                .map(|zone| {
                    let inwards = f64::from(zone) / 15.0;
                    least * whole(outer as f64 - (outer - inner) as f64 * inwards, step)
                })
                .sum();
            assert!(held >= sectors, "{sectors}: {held}");
            assert!(held < sectors + sectors / 100 + 40 * outer * u64::from(heads));
        }
    }
}
