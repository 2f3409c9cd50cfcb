//! `ileave risk`.

use super::print_json;
use crate::flags::RiskFlags;
use block::Level;
use lab::catalogue::{self, Drive};
use lab::{Error, Result};
use risk::events::{Counted, Share};
use risk::inputs::{Inputs, Range, Sourced};
use risk::{Crash, Risk, Shape, assess, calculators, in_words};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use store::known::ERASED_TOGETHER;
use verdict::tables::{STRONG, labelled, marked, paragraphs, table, times};

/// Groups that are simulated: enough for an error of a few percent.
const GROUPS: u64 = 40_000;
/// More members than this, or years, are a slip of the hand.
const MEMBERS_MAX: usize = 1000;
const YEARS_MAX: f64 = 100.0;

/// What a volume may lose.
pub(crate) fn risk(flags: &RiskFlags) -> Result<String> {
    if flags.members == 0 || flags.members > MEMBERS_MAX {
        let text = format!("--members {}: write 1 to {MEMBERS_MAX}", flags.members);
        return Err(Error::input(text));
    }
    let shape = Shape::new(&flags.level, flags.members, flags.groups)
        .map_err(|error| Error::input(format!("--level {}: {error}", flags.level)))?;
    let drive = catalogue::drive(&flags.drive).map_err(|error| error.context("--drive"))?;
    let inputs = inputs(flags, &shape, &drive)?;
    let found = assess(&shape, &inputs, GROUPS, flags.seed);
    let answer = Answer {
        shape,
        groups: flags.groups,
        drive: drive.title.clone(),
        goes_with_instance: drive.figures.goes_with_instance,
        cached: drive.write_cache(),
        inputs,
        found,
    };
    Ok(if flags.json { print_json(&answer.json()) } else { answer.text() })
}

/// What is assumed, with what was given in place of it.
fn inputs(flags: &RiskFlags, shape: &Shape, drive: &Drive) -> Result<Inputs> {
    let mut inputs = Inputs::of(&tune::drive_facts(drive)?, flags.spares);
    if shape.is_raidz() {
        inputs = inputs.resilvered();
    }
    if let Some(afr) = &flags.afr {
        inputs.afr = given_afr(share_of_percent(afr)?);
    }
    if let Some(rebuild) = &flags.rebuild {
        inputs.rebuild_h = Sourced::given(hours("--rebuild", rebuild)?);
    }
    if let Some(after) = &flags.replace_after {
        inputs = inputs.replaced_after(tune::hours("--replace-after", after)?);
    }
    inputs.scrub_h = match flags.scrub.as_str() {
        "never" => None,
        text => {
            let or_never = |error: Error| {
                Error::input(format!("{error}; or write `never`, where nothing is scrubbed"))
            };
            Some(hours("--scrub", text).map_err(or_never)?)
        }
    };
    if let Some(ure) = &flags.ure {
        let rate = ure.parse().ok().filter(|rate| (0.0..=1e-6).contains(rate));
        inputs.per_bit = rate.ok_or_else(|| {
            Error::input(format!(
                "--ure {ure}: write a rate per bit up to 1e-6, as data sheets do: 1e-15"
            ))
        })?;
    }
    if !(flags.years > 0.0 && flags.years <= YEARS_MAX) {
        return Err(Error::input(format!(
            "--years {}: write a number above 0 and up to {YEARS_MAX}",
            flags.years
        )));
    }
    inputs.years = flags.years;
    // LVM always keeps one; of md's nobody has said whether there is one, and the worst case is without.
    inputs.has_bitmap = flags.level.parse::<Level>().is_ok_and(|level| level.has_bitmap_of_lvm());
    Ok(inputs)
}

/// What was given is a rate, as fleets count it: failures in so many drive-years, each failed drive replaced. Of high ones it is
/// said how many drives fail within a year, for that is another figure.
fn given_afr(rate: f64) -> Sourced {
    const HIGH: f64 = 0.5;
    let mut given = Sourced::given(rate);
    if rate >= HIGH {
        let within = -100.0 * (-rate).exp_m1();
        write!(
            given.source,
            ", a rate: failures per drive-year, so that {within:.0} % of drives fail within a year"
        )
        .expect("a string grows");
    }
    given
}

/// `1.4%` as a share.
fn share_of_percent(text: &str) -> Result<f64> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    number
        .filter(|percent| *percent > 0.0 && *percent <= 100.0)
        .map(|percent| percent / 100.0)
        .ok_or_else(|| {
            Error::input(format!(
                "--afr {text}: write a percentage above 0 and up to 100, as in 1.4%"
            ))
        })
}

/// A time in hours.
fn hours(flag: &str, text: &str) -> Result<f64> {
    let hours = tune::hours(flag, text)?;
    if hours <= 0.0 {
        return Err(Error::input(format!("{flag} {text}: write a time above 0, as in 30h or 14d")));
    }
    Ok(hours)
}

struct Answer {
    shape: Shape,
    drive: String,
    /// The groups that were asked for.
    groups: Option<usize>,
    /// Whether what stops the cloud instance erases all drives.
    goes_with_instance: bool,
    cached: bool,
    inputs: Inputs,
    found: Risk,
}

impl Answer {
    fn volume(&self) -> String {
        let Shape { level, .. } = &self.shape;
        let drives = self.shape.drives;
        let spares = match self.inputs.spares {
            0 => String::new(),
            1 => " and a spare".into(),
            many => format!(" and {many} spares"),
        };
        let groups = match self.groups {
            Some(groups) if groups > 1 => format!(" in {groups} groups"),
            _ => String::new(),
        };
        format!("{level}{groups} on {drives} × {}{spares}", self.drive)
    }

    /// The losses: what each is called, and its range.
    fn losses(&self) -> Vec<(&'static str, Range)> {
        let mut losses = vec![
            ("all data lost", self.found.gone),
            ("some sectors unreadable", self.found.unreadable),
        ];
        losses.extend(self.found.torn.map(|torn| ("a stripe torn by a crash", torn)));
        losses
    }

    fn text(&self) -> String {
        let Inputs { years, .. } = self.inputs;
        let mut text = marked(
            STRONG,
            &paragraphs(&[format!(
                "{}, {years} {}: all data lost {}; some sectors unreadable {}{}.",
                self.volume(),
                if years.to_bits() == 1.0_f64.to_bits() { "year" } else { "years" },
                range_in_words(&self.found.gone),
                range_in_words(&self.found.unreadable),
                self.found.torn.map_or(String::new(), |torn| {
                    format!("; a stripe torn by a crash {}", range_in_words(&torn))
                }),
            )]),
        );
        let heading = ["", "best case", "middle", "worst case"].map(String::from);
        let mut losses = table(&heading, 1);
        for (name, range) in self.losses() {
            let mut row = vec![name.to_string()];
            row.extend(range.values().map(in_words));
            losses.add_row(row);
        }
        write!(text, "\n{losses}\n\n").expect("a string grows");
        text += &labelled(&self.lines());
        text.push_str("\nAssumed\n");
        text += &labelled(&self.assumed());
        text
    }

    fn lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let mut line = |label: &str, text: String| lines.push((label.to_string(), text));
        if self.goes_with_instance {
            line("instance", ERASED_TOGETHER.into());
        }
        if self.found.gone.middle < risk::FLOOR {
            line("note", "do not rely on a chance below 1 in 100,000: fire, theft, firmware and a wrong command are \
                          more likely. Keep a copy elsewhere".into());
        }
        let [worn, same] = [&self.found.simulated, &self.found.memoryless].map(|of| {
            let unreadable = match self.shape.survived {
                0 => String::new(),
                _ => format!(", sectors unreadable {}", with_error(&of.unreadable, of.groups)),
            };
            format!("all data lost {}{unreadable}", with_error(&of.gone, of.groups))
        });
        let wear = risk::LIFE_SHAPE;
        line(
            "simulated",
            format!(
                "{worn}: the middle case, with drives that wear out (Weibull {wear}); without wear: {same}"
            ),
        );
        if let Some(text) = believe(&self.found, &self.shape, self.inputs.spares) {
            line("believe", text);
        }
        let others: Vec<String> = calculators::OTHERS
            .iter()
            .zip(self.found.others)
            .map(|((name, about), loss)| format!("{} by {name}: {about}", in_words(loss)))
            .collect();
        line("others", others.join("; "));
        if self.found.torn.is_some() {
            line("torn", self.found.torn_at_worst(&self.inputs));
        }
        for cut in self.power_cut() {
            line("power cut", cut);
        }
        lines
    }

    /// What a power cut loses.
    fn power_cut(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.cached {
            lines.push("loses acknowledged writes that were not flushed: the drives' write caches are on. With a file \
                        system that flushes, what fsync has returned for is safe".to_string());
        } else {
            lines.push(
                "loses no acknowledged write, if the drives keep what they acknowledge".to_string(),
            );
        }
        lines.push(match self.shape.crash {
            Crash::None if self.shape.survived == 0 => "data that was written before is not damaged".into(),
            Crash::None => "no write hole: every write goes to a new place".into(),
            Crash::Copies => "copies of writes in flight may differ, and either may be read later; older writes are safe".into(),
            Crash::Hole => "write hole: the parity of writes in flight can be wrong, and a drive that fails later is \
                            then rebuilt with wrong data. A journal closes it (mdadm --write-journal, or --consistency-policy=ppl for RAID 5); \
                            a bitmap does not".into(),
        });
        lines
    }

    fn assumed(&self) -> Vec<(String, String)> {
        let Inputs { afr, rebuild_h, delay_h, bad_sectors, correlation, crashes, .. } =
            &self.inputs;
        let row = |label: &str, of: &Sourced, scale: f64, unit: &str| {
            let [low, middle, high] = of.range.values().map(|value| short(scale * value));
            let range = if low == high { low } else { format!("{low}, {middle}, {high}") };
            (label.to_string(), format!("{range} {unit} ({})", of.source))
        };
        if self.shape.survived == 0 {
            let nothing =
                "nothing: no failure is survived, so nothing is rebuilt, read back or torn";
            return vec![
                row("drives fail", afr, 100.0, "% a year"),
                row("bad sectors", bad_sectors, 100.0, "% of drives a year"),
                (
                    "other inputs".into(),
                    format!(
                        "--rebuild, --replace-after, --scrub, --ure and --spares change {nothing}"
                    ),
                ),
            ];
        }
        let mut rows = vec![
            row("drives fail", afr, 100.0, "% a year"),
            row("rebuild", rebuild_h, 1.0, "h"),
            row("delay", delay_h, 1.0, "h"),
        ];
        if self.inputs.spares > 0 {
            let hours = short(self.inputs.reordered_h);
            let text = format!("{hours} h until one that was used is replaced");
            rows.push(("spares".into(), text));
        }
        rows.extend([row("bad sectors", bad_sectors, 100.0, "% of drives a year")]);
        let scrub = self
            .inputs
            .scrub_h
            .map_or("never".into(), |hours| format!("every {} days", short(hours / 24.0)));
        rows.push((
            "scrub".into(),
            format!(
                "{scrub}; {}",
                match 1.0 / self.inputs.per_bit {
                    bits if bits.is_finite() =>
                        format!("at worst one bit in {bits:.0e} cannot be read"),
                    _ => "every bit that was written can be read (`--ure 0`)".into(),
                }
            ),
        ));
        rows.push(row("shelf-mates", correlation, 1.0, "times"));
        rows.push(row("crashes", crashes, 1.0, "a year"));
        rows
    }

    fn json(&self) -> Json {
        let loss = |range: &Range| {
            let mut json = json!(range);
            json["says"] = json!(range_in_words(range));
            json
        };
        let share =
            |share: &Share| json!({ "probability": share.of_all, "standard_error": share.error });
        let simulated = |of: &Counted| json!({ "groups": of.groups, "gone": share(&of.gone), "unreadable": share(&of.unreadable) });
        let others: Vec<Json> = calculators::OTHERS.iter().zip(self.found.others)
            .map(|((name, about), loss)| json!({ "name": name, "about": about, "probability": loss }))
            .collect();
        let Inputs { afr, rebuild_h, delay_h, bad_sectors, correlation, crashes, .. } =
            &self.inputs;
        json!({
            "volume": self.volume(),
            "shape": self.shape,
            "years": self.inputs.years,
            "gone": loss(&self.found.gone),
            "unreadable": loss(&self.found.unreadable),
            "torn_by_crash": self.found.torn.as_ref().map(loss),
            "power_cut": self.power_cut(),
            "simulated": { "wearing": simulated(&self.found.simulated), "memoryless": simulated(&self.found.memoryless) },
            "believe": believe(&self.found, &self.shape, self.inputs.spares),
            "other_calculators": others,
            "assumed": {
                "afr": afr, "rebuild_h": rebuild_h, "delay_h": delay_h, "bad_sectors_per_year": bad_sectors,
                "unreadable_per_bit": self.inputs.per_bit, "scrub_h": self.inputs.scrub_h,
                "shelf_mates": correlation, "crashes_per_year": crashes, "spares": self.inputs.spares,
                "spare_replaced_h": (self.inputs.spares > 0).then_some(self.inputs.reordered_h),
                "drive_bytes": self.inputs.drive_bytes,
                "goes_with_instance": self.goes_with_instance,
            },
        })
    }
}

/// A range of probabilities: `0.012 to 3.1 %`.
fn range_in_words(range: &Range) -> String {
    let [low, high] = [range.low, range.high].map(in_words);
    match (low, high) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    }
}

/// At 95 %, a share is below this over the number of groups of which none had it.
const NONE_OF: f64 = 3.0;

/// A simulated probability and its standard error; of what happened to no group, how much it may be all the same.
fn with_error(share: &Share, groups: u64) -> String {
    match share.of_all {
        0.0 => format!("in none of {groups} (below {})", in_words(NONE_OF / groups as f64)),
        p if p < risk::FLOOR || share.error < risk::FLOOR => in_words(p),
        p => format!("{} ± {}", in_words(p), in_words(share.error)),
    }
}

/// Which to believe where the table and the simulation say different things, by more than the simulation's error.
fn believe(found: &Risk, shape: &Shape, spares: usize) -> Option<String> {
    let Risk { gone, unreadable, simulated, memoryless, .. } = found;
    let losses = [
        ("all data lost", gone.middle, simulated.gone, memoryless.gone),
        ("sectors unreadable", unreadable.middle, simulated.unreadable, memoryless.unreadable),
    ];
    // Without redundancy there is nothing to simulate of sectors.
    let count = if shape.survived == 0 { 1 } else { 2 };
    let apart = losses[..count].iter().filter(|(_, table, worn, _)| {
        worn.of_all > 0.0 && in_words(*table) != in_words(worn.of_all) && are_apart(*table, worn)
    });
    let by = apart.map(|(name, table, worn, without_wear)| {
        let ratio = worn.of_all / table;
        let why = if shape.groups > 1 && spares > 0 && ratio > 1.0 {
            "the truth lies between both: groups that share spares are counted as independent of each other"
        } else if !are_apart(*table, without_wear) {
            "drives wear out here, and fail at one rate in the table"
        } else if ratio > 1.0 && spares > 0 {
            "each drive on order is there after its own time here, and the table has their mean"
        } else if ratio < 1.0 {
            "another loss may have come first here, and the table takes each alone"
        } else {
            "the table leaves out what happens to the group meanwhile"
        };
        format!("{name} {} ({why})", beside(ratio))
    });
    let by: Vec<String> = by.collect();
    (!by.is_empty()).then(|| format!("the simulation, not the table's middle: {}", by.join("; ")))
}

/// Whether a figure of the table is not what was simulated: two standard errors, and 5 % for what the table leaves out.
fn are_apart(table: f64, simulated: &Share) -> bool {
    const LEFT_OUT: f64 = 0.05;
    (table - simulated.of_all).abs() > 2.0 * simulated.error + LEFT_OUT * table
}

/// How much more or less, or how many times as much.
fn beside(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 0.5 => format!("{ratio:.2} times"),
        ratio if ratio < 1.0 => format!("{:.0} % less", 100.0 * (1.0 - ratio)),
        ratio if ratio < 2.0 => format!("{:.0} % more", 100.0 * (ratio - 1.0)),
        ratio => times(ratio),
    }
}

/// A figure with two or three digits.
fn short(value: f64) -> String {
    match value {
        value if value >= 10.0 || value.fract().abs() < 1e-9 => format!("{value:.0}"),
        value if value >= 1.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 % a year was taken as a rate in silence: of so many drives 63 % fail within a year.
    #[test]
    fn a_high_rate_of_failures_is_said_to_be_one() {
        let source = |rate: f64| given_afr(rate).source;
        assert_eq!(source(0.014), "as given");
        assert_eq!(
            source(1.0),
            "as given, a rate: failures per drive-year, so that 63 % of drives fail within a year"
        );
        assert_eq!(given_afr(1.0).range, Range::fixed(1.0));
    }

    /// 37 % stood above 29.9 ± 0.3 %, and nothing said which to believe.
    #[test]
    fn where_two_answers_differ_one_is_to_be_believed() {
        let said = |worn: f64, without_wear: f64, spares: usize| {
            let counted = |of_all: f64| Counted {
                groups: GROUPS,
                unreadable: Share { of_all, error: 0.003 },
                ..Counted::default()
            };
            let found = Risk {
                gone: Range::fixed(1e-7),
                unreadable: Range::fixed(0.30),
                torn: None,
                torn_window_h: Range::fixed(0.0),
                simulated: counted(worn),
                memoryless: counted(without_wear),
                others: [0.0; 3],
            };
            believe(&found, &Shape::new("raid5", 8, None).unwrap(), spares)
        };
        assert_eq!(said(0.305, 0.30, 0), None);
        let worn = said(0.34, 0.30, 0).unwrap();
        assert!(worn.contains("sectors unreadable 13 % more (drives wear out here,"), "{worn}");
        let spare = said(0.90, 0.90, 1).unwrap();
        assert!(spare.contains("3.0 times (each drive on order is there"), "{spare}");
        // Fewer are no sign of wear, nor of a spare that was used.
        let fewer = said(0.20, 0.20, 1).unwrap();
        assert!(fewer.contains("33 % less (another loss may have come first"), "{fewer}");
    }
}
