//! `DiskSim`'s parameter files of a disk, as a catalogue file.
//!
//! A `.diskspecs` file has the controller, and names a `.model` file with the layout and the mechanics, which
//! names a `.seek` file with the measured seeks. What each parameter says is in `DiskSim`'s manual; what follows
//! from them where they do not say it is in [`policies`].
//!
//! Each parameter is used, or named in [`DiskSim::not_modelled`].

mod layout;
mod mechanics;
mod params;
mod policies;

use self::params::Block;
use super::{file_name, quoted};
use crate::catalogue::drive::Drive;
use crate::error::{Error, Result};
use std::fmt::{Display, Write as _};
use std::path::Path;
use store::input;

/// What was made of `DiskSim`'s parameters.
#[derive(Clone, Debug)]
pub struct DiskSim {
    /// A name for the file.
    pub file_name: String,
    /// The catalogue file.
    pub text: String,
    /// Parameters that the model does without, and what it leaves out of others.
    pub not_modelled: Vec<String>,
    /// What may be wrong in the parameters.
    pub warnings: Vec<String>,
}

/// Where a figure is from: its kind and its source in a file.
const MEASURED: [&str; 2] = ["measured", "disksim"];
/// It follows from others.
const COMPUTED: [&str; 2] = ["computed", "ileave"];
/// A rule that held for other drives.
const ESTIMATE: [&str; 2] = ["estimate", "ileave"];

/// The figures of a drive on their way to a file.
#[derive(Debug, Default)]
struct Sheet {
    text: String,
    /// The zones and the seeks, which are tables of their own.
    tables: String,
    not_modelled: Vec<String>,
    warnings: Vec<String>,
}

impl Sheet {
    fn add(&mut self, key: &str, value: impl Display, [kind, source]: [&str; 2], note: &str) {
        let note =
            if note.is_empty() { String::new() } else { format!(", note = {}", quoted(note)) };
        let _ = writeln!(
            self.text,
            "{key} = {{ value = {value}, kind = \"{kind}\", source = \"{source}\"{note} }}"
        );
    }

    fn add_word(&mut self, key: &str, word: &str, note: &str) {
        self.add(key, quoted(word), ESTIMATE, note);
    }

    fn leave_out(&mut self, what: impl Into<String>) {
        self.not_modelled.push(what.into());
    }

    /// A flag or a time that the model has in one state only: in another it is not modelled.
    fn only(&mut self, block: &Block, name: &str, modelled: f64) -> Result<()> {
        match block.number(name, [-1e6, 1e6])? {
            Some(value) if value.total_cmp(&modelled).is_ne() => {
                self.leave_out(format!("{name} = {value}: modelled as {modelled}"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Makes a catalogue file of the parameters in `text`, a file called `label`. `read` gives the files that it
/// names. The drive is called `title`, or as in the file.
///
/// # Errors
///
/// Where a file is not in the format, or no drive can be built from it.
pub fn import_disksim(
    label: &str,
    text: &str,
    title: Option<&str>,
    read: &dyn Fn(&str) -> Result<(String, String)>,
) -> Result<DiskSim> {
    let mut blocks = params::parse(label, text)?;
    let at = blocks.iter().position(|block| block.kind == "disksim_disk");
    let disk = blocks.swap_remove(at.ok_or_else(|| {
        Error::input(format!("{label}: no `disksim_disk NAME {{ … }}`; is it a .diskspecs file?"))
    })?);
    let mut within = vec![];
    let model = match disk.source_file("Model") {
        Some(file) => {
            let (label, text) = read(file).map_err(|error| error.context(label))?;
            within = params::parse(&label, &text)?;
            let is_model = |block: &&Block| block.kind == "dm_disk";
            within.iter().find(is_model).ok_or_else(|| {
                Error::input(format!("{label}: no `dm_disk NAME {{ … }}`; `Model` names this file"))
            })?
        }
        None => disk.block("Model")?,
    };
    let mut sheet = Sheet::default();
    let layout = layout::layout(model, &mut sheet)?;
    let mechanics = mechanics::mechanics(model, layout.cylinders, read, &mut sheet)?;
    policies::policies(&disk, &layout, &mechanics, &mut sheet)?;
    for block in [&disk, model] {
        sheet.not_modelled.extend(block.unused());
    }
    drop(within);
    finish(title.unwrap_or(&disk.name), sheet)
}

/// The same of the file at `path`, whose text this is; what it names is beside it.
///
/// # Errors
///
/// The same, and where a file cannot be read.
pub fn import_disksim_file(path: &Path, text: &str, title: Option<&str>) -> Result<DiskSim> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let read = |file: &str| {
        let path = folder.join(file);
        let label = path.display().to_string();
        let text = input::read_text(&path, input::TEXT_BYTES).map_err(|error| {
            Error::input(format!("cannot read {label}: {error}; put it beside the .diskspecs file"))
        })?;
        Ok((label, text))
    };
    import_disksim(&path.display().to_string(), text, title, &read)
}

/// Writes the file, and reads it as any other.
fn finish(title: &str, sheet: Sheet) -> Result<DiskSim> {
    if title.trim().is_empty() {
        return Err(Error::input("the drive has no name; give it one with `--name`"));
    }
    let Sheet { text: figures, tables, not_modelled, warnings } = sheet;
    let mut text = format!("{}\nname = {}\n", super::MADE, quoted(title));
    text.push_str("\n[sources]\n");
    text.push_str("disksim = \"the parameters of this drive for DiskSim: measured on the real drive by DIXtrac, or by hand\"\n");
    text.push_str("ileave = \"from the other figures of this file, when it was made; docs/drives.md has the rules\"\n");
    let _ = write!(text, "\n[figures]\n{figures}{tables}");
    if !not_modelled.is_empty() {
        text.push_str("\n# Not modelled:\n");
        for what in &not_modelled {
            let _ = writeln!(text, "# {what}");
        }
    }
    if !warnings.is_empty() {
        text.push_str("\n# Doubtful:\n");
        for what in &warnings {
            let _ = writeln!(text, "# {what}");
        }
    }
    let file_name = file_name(title);
    Drive::read(&file_name, &file_name, &text)
        .map_err(|error| error.context(format!("drive `{title}`, as a catalogue file")))?;
    Ok(DiskSim { file_name, text, not_modelled, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::drive_from;

    const SMALL: &str = include_str!("../../../../../fuzz/seeds/diskspecs/small");

    fn imported(text: &str) -> Result<DiskSim> {
        let files: Vec<String> = text.split("---\n").map(String::from).collect();
        let read = |file: &str| {
            Ok((file.to_string(), files[if file.contains(".seek") { 2 } else { 1 }].clone()))
        };
        import_disksim("small.diskspecs", &files[0], None, &read)
    }

    #[test]
    fn each_parameter_is_used_or_named() {
        let drive = imported(SMALL).unwrap();
        assert_eq!(drive.file_name, "small-1.toml");
        let built = drive_from(&drive.file_name, &drive.text).unwrap();
        let spec = built.disk().unwrap().spec().unwrap();
        // 20 cylinders of 200, a cylinder less 2 in front, 10 spares of which 2 are slips; 9 of 160, and 8.
        assert_eq!(spec.platters.sectors, 4000 - 200 - 10 + 9 * 160 - 8);
        assert_eq!(spec.platters.slipped, [300, 301, 3999]);
        assert_eq!(spec.platters.zones[1].first_cylinder, 21);
        assert_eq!((spec.write_settle_ns, spec.command_settle_ns), (-100_000, 700_000));
        let controller = &spec.controller;
        assert_eq!(controller.read_hit_overhead_ns, 300_000);
        assert_eq!((controller.write_overhead_ns, controller.write_buffer_sectors), (600_000, 400));
        assert_eq!(controller.firmware.read_ahead, sim::drive::ReadAheadPolicy::WholeTrack);
        assert_eq!(controller.firmware.sending, sim::drive::Sending::Whole);
        assert_eq!(controller.firmware.taking, sim::drive::Taking::Streamed);
        for named in [
            "Preseeking level = 1",
            "Data preparation overhead = 0.2",
            "Scheduler (Scheduling policy)",
            "zone 1: defects",
            "Single cylinder seek time",
        ] {
            let is_named = drive.not_modelled.iter().any(|what| what.starts_with(named));
            assert!(is_named, "{named}: {:?}", drive.not_modelled);
        }
        let count = drive.not_modelled.len();
        let more = SMALL.replace("Fast write", "New thing = 7,\n Fast write");
        let drive = imported(&more).unwrap();
        assert_eq!(drive.not_modelled.len(), count + 1);
        assert!(drive.not_modelled.contains(&"New thing = 7".into()));
    }

    /// A curve of 28 of its 106 points was taken in silence, and a seek over all cylinders took a fifth of its time.
    #[test]
    fn a_curve_that_is_not_whole_is_refused_or_doubted() {
        let said = |right: &str, wrong: &str| {
            assert!(SMALL.contains(right), "{right}");
            imported(&SMALL.replacen(right, wrong, 1)).unwrap_err().to_string()
        };
        let short = said("29,\t5.0", "");
        assert!(
            short.starts_with(
                "small.seek:1: `Seek distances measured: 3`, and 2 are there; take the whole"
            ),
            "{short}"
        );
        let long = said("measured: 3", "measured: 2");
        assert!(long.contains("measured: 2`, and 3 are there"), "{long}");
        let none = said("measured: 3", "measured: some");
        assert!(none.starts_with("small.seek:1: `some` is no number of seeks"), "{none}");
        let few = said("Number of cylinders = 30", "Number of cylinders = 29");
        assert!(
            few.starts_with("small.model:3: `Number of cylinders`: 29 cylinders, and the zones go up to cylinder 29; write 30"),
            "{few}"
        );
        let stated = |full_ms: &str| {
            let full = format!("Full strobe seek time = {full_ms},\n      Head switch time");
            imported(&SMALL.replacen("Head switch time", &full, 1)).unwrap()
        };
        assert_eq!(stated("5.4").warnings, Vec::<String>::new());
        let doubted = stated("10.627").warnings;
        assert!(
            doubted[0].contains("`Full strobe seek time` is 10.627, and the seek curve has 5.000 ms over 29 cylinders; the curve"),
            "{doubted:?}"
        );
    }

    /// Each of these changed nothing and was named nowhere, or was named though it was used.
    #[test]
    fn a_parameter_that_changes_nothing_is_named_and_one_that_is_used_is_not() {
        let is_named = |text: &str, start: &str| {
            imported(text).unwrap().not_modelled.iter().any(|what| what.starts_with(start))
        };
        let with = |right: &str, other: &str| {
            assert!(SMALL.contains(right), "{right}");
            SMALL.replacen(right, other, 1)
        };
        assert!(is_named(SMALL, "Rangesize for sparing = 1"));
        assert!(!is_named(&with("scheme used = 9", "scheme used = 8"), "Rangesize"));
        let held = with("read xfer = 0", "read xfer = 1");
        assert!(is_named(&held, "Hold bus entire read xfer = 1"));
        let unmeasured = held.replacen("transfer time = 0.1", "transfer time = 0.0", 1);
        assert!(!is_named(&unmeasured, "Hold bus"));
        assert!(!is_named(SMALL, "Set watermark by reqsize"));
        let no_marks = with("water mark = 1.0", "water mark = 0.0");
        assert!(is_named(&no_marks, "Set watermark by reqsize = 1"));
        assert!(!is_named(SMALL, "Seek type") && is_named(SMALL, "Single cylinder seek time"));
        let constant =
            with("Seek type = extracted", "Seek type = constant,\n Constant seek time = 3.0");
        assert!(!is_named(&constant, "Seek type") && is_named(&constant, "Full seek curve"));
        assert!(imported(&constant).unwrap().text.contains("  [1, 3],\n]"));
        let linear = with(
            "Seek type = extracted",
            "Seek type = linear,\n Average seek time = 2.0,\n Full strobe seek time = 4.0",
        );
        assert!(!is_named(&linear, "Single cylinder") && !is_named(&linear, "Seek type"));
        assert!(is_named(&linear, "Full seek curve = small.seek"));
    }

    #[test]
    fn rules_follow_the_parameters() {
        for (parameter, other, expected) in [
            ("Buffer continuous read = 4", "Buffer continuous read = 1", "\"track-end\""),
            ("Buffer continuous read = 4", "Buffer continuous read = 3", "\"until-full\""),
            (
                "Segment size (in blks) = 100",
                "Segment size (in blks) = 30",
                "\"sequential-tracks\"",
            ),
            (
                "Bulk sector transfer time = 0.1,",
                "Bulk sector transfer time = 0.2,",
                "0.1055 ms a sector",
            ),
            (
                "Bulk sector transfer time = 0.1,",
                "Bulk sector transfer time = 0,",
                "0.1024 ms a sector",
            ),
            (
                "Skew for track switch = 20",
                "Skew for track switch = 2",
                "the track skew of the first zone",
            ),
            (
                "High (read) water mark = 1.0",
                "High (read) water mark = 0.5",
                "sectors go as they come",
            ),
        ] {
            assert!(!imported(SMALL).unwrap().text.contains(expected), "{expected}");
            let text = imported(&SMALL.replace(parameter, other)).unwrap().text;
            assert!(text.contains(expected), "{other}: {text}");
        }
    }

    #[test]
    fn errors_name_file_line_and_parameter() {
        for (right, wrong, expected) in [
            (
                "Fast write level = 2",
                "Fast write level = 3",
                "small.diskspecs:21: `Fast write level`: write a number",
            ),
            (
                "Rotation speed (in rpms) = 6000",
                "Rotation speed (in rpms) = fast",
                "small.model:43: `Rotation speed (in rpms)`: ",
            ),
            ("29,\t5.0", "29 5.0", "small.seek:4: `29 5.0` is not a seek"),
            (
                "dm_layout_g1 {",
                "dm_layout_g4 {",
                "small.model:5: `Layout Model`: dm_layout_g4 is not known",
            ),
            ("   Block count = 5000,\n", "", "small.model:1: this dm_disk has no `Block count`"),
            ("disksim_disk", "disk", "small.diskspecs: no `disksim_disk NAME"),
        ] {
            assert!(SMALL.contains(right), "{right}");
            let error = imported(&SMALL.replacen(right, wrong, 1)).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
