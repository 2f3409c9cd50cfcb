//! The drives: how many and which, in words, for so much money, or out of what a system prints.

use block::units::parse_sectors;
use lab::catalogue::{self, Drive, Match, OWN_FILE, matching, stand_ins};
use lab::inventory::{HeldDisk, Inventory};
use lab::{Error, Result};

/// Drives of one kind.
#[derive(Clone, Debug)]
pub struct Drives {
    /// How many.
    pub count: usize,
    /// Which.
    pub drive: Drive,
}

/// Drives as they are asked for: perhaps without saying how many.
#[derive(Clone, Debug)]
pub struct Asked {
    /// How many, where it is said.
    pub count: Option<usize>,
    /// Which.
    pub drive: Drive,
}

/// More drives than this are a slip of the hand.
const DRIVES_MAX: usize = 64;

/// How drives are written.
const FORM: &str =
    "write how many and which, as in '8x ST18000NM000J' (`ileave drives` lists them)";

impl Asked {
    /// Reads `8x ST18000NM000J`, `4x 980 pro 1tb`, or a name alone.
    ///
    /// # Errors
    ///
    /// Where no such drive is known.
    pub fn read(text: &str) -> Result<Self> {
        let digits = text.trim_start().chars().take_while(char::is_ascii_digit).count();
        let (count, rest) = text.trim_start().split_at(digits);
        let (count, name) = match rest.trim_start().strip_prefix(['x', 'X', '×', '*']) {
            Some(name) if digits > 0 => (count.parse().ok(), name.trim()),
            _ => (None, text.trim()),
        };
        if name.is_empty() {
            return Err(Error::input(format!("--drives {text}: {FORM}")));
        }
        let drive = catalogue::drive(name)
            .map_err(|error| no_one_drive(name).unwrap_or(error).context("--drives"))?;
        Ok(Asked { count, drive })
    }

    /// So many, or as many as `budget_usd` pays for at `price_usd` each, if those are fewer or nothing was said.
    ///
    /// # Errors
    ///
    /// Where neither says how many, or the budget pays for none.
    pub fn within(self, budget_usd: Option<f64>, price_usd: Option<f64>) -> Result<Drives> {
        let Some(budget) = budget_usd else {
            let count = self.count.ok_or_else(|| Error::input(format!("--drives: {FORM}")))?;
            return Drives::new(count, self.drive).map_err(|error| error.context("--drives"));
        };
        let name = &self.drive.name;
        let price = price_usd.filter(|price| *price > 0.0).ok_or_else(|| {
            Error::input(format!(
                "--budget: the price of {name} is not known; add `--price`, in US$ for one drive"
            ))
        })?;
        let paid = ((budget / price).floor() as usize).min(DRIVES_MAX);
        if paid == 0 {
            return Err(Error::input(format!(
                "--budget {budget}: one {name} costs {price}; take a larger budget, or a cheaper drive"
            )));
        }
        let count = self.count.map_or(paid, |count| count.min(paid));
        Drives::new(count, self.drive).map_err(|error| error.context("--drives"))
    }
}

/// Why a name that no drive has is none, where that is not for the letters of it.
fn no_one_drive(name: &str) -> Option<Error> {
    if name.matches('[').count() > name.matches(']').count() {
        return Some(Error::input(format!(
            "`{name}`: a bracket is not closed; write what is provisioned as in `gp3[size=1TiB,iops=3000]`"
        )));
    }
    if name.contains('+') {
        return Some(Error::input(format!(
            "`{name}`: tune is about drives of one kind; for several, give your own layouts over them, with \
             `volume.drives = \"1x…+1x…\"` in an experiment (`ileave tune FILE`)"
        )));
    }
    part_of_drive(name)
}

/// Why `wd740gd:8GiB`, which an experiment takes, is none here: the size of a volume stands in brackets, and of a disk the
/// whole is asked about.
fn part_of_drive(name: &str) -> Option<Error> {
    let (model, part) = name.rsplit_once(':')?;
    parse_sectors(part).ok()?;
    let drive = catalogue::drive(model).ok()?;
    let next = if drive.is_remote() {
        format!("write its size as `{}[size={part}]`", drive.name)
    } else {
        format!(
            "tune is about whole drives; for a part of each, give your own layouts over it, with \
             `volume.drives = \"…x{}:{part}\"` in an experiment (`ileave tune FILE`)",
            drive.name
        )
    };
    Some(Error::input(format!("`{name}`: {next}")))
}

impl Drives {
    /// So many of a drive.
    ///
    /// # Errors
    ///
    /// Where that is none, or more than anybody means.
    pub fn new(count: usize, drive: Drive) -> Result<Self> {
        if count == 0 || count > DRIVES_MAX {
            return Err(Error::input(format!("{count} drives; write 1 to {DRIVES_MAX}")));
        }
        Ok(Drives { count, drive })
    }

    /// Reads `8x ST18000NM000J` or `4x 980 pro 1tb`.
    ///
    /// # Errors
    ///
    /// Where it is not a number and a drive that is known.
    pub fn read(text: &str) -> Result<Self> {
        Asked::read(text)?.within(None, None)
    }
}

/// Disks of one model that a system has.
struct Held<'i> {
    /// What they are in the catalogue.
    name: String,
    model: &'i str,
    devices: Vec<&'i str>,
}

/// The drives that a system has: the most numerous kind, or the one that is asked for; and what is said of them: what
/// matched what, what they are members of, and what is left out.
///
/// # Errors
///
/// Where no disk is one of the catalogue, or it has not as many as asked for.
pub fn held(inventory: &Inventory, asked: Option<&Asked>) -> Result<(Asked, Vec<String>)> {
    let (kinds, mut said) = kinds(inventory);
    let wanted = |held: &&Held<'_>| asked.is_none_or(|asked| asked.drive.name == held.name);
    let most = kinds.iter().filter(wanted).rev().max_by_key(|held| held.devices.len());
    let Some(most) = most else {
        let why = asked.map_or("none of its disks is in the catalogue".to_string(), |asked| {
            format!("it has no {}", asked.drive.name)
        });
        said.push("give what `lsblk -J -O` prints, or write --drives".into());
        let next = said.join("; ");
        return Err(Error::input(format!("--from: {why}; {next}")));
    };
    let has = most.devices.len();
    let count = asked.and_then(|asked| asked.count).unwrap_or(has);
    if count > has {
        return Err(Error::input(format!(
            "--from: it has {has} of {}, not {count}; write fewer in --drives",
            most.name
        )));
    }
    let mut about = vec![format!(
        "{has} x {} ({}) matched {} in the catalogue",
        most.model,
        most.devices.join(", "),
        most.name
    )];
    let own = |member: &String| {
        let disk = inventory.disk_of(member);
        disk.is_some_and(|disk| most.devices.contains(&disk.device.as_str()))
    };
    let used = inventory.volumes.iter().filter(|volume| volume.members.iter().any(own));
    about.extend(used.map(|volume| {
        format!(
            "they are members of {} ({}) now; a new layout loses what is on it",
            volume.name, volume.level
        )
    }));
    let others = kinds.iter().filter(|held| held.name != most.name);
    about.extend(others.map(|held| {
        let count = held.devices.len();
        format!(
            "left out: {count} x {}; `--drives '{count}x {}'` takes those",
            held.model, held.name
        )
    }));
    about.append(&mut said);
    let drive = catalogue::drive(&most.name)?;
    Ok((Asked { count: Some(count), drive }, about))
}

/// The disks by what they are in the catalogue, and what is said of those that are in none.
fn kinds(inventory: &Inventory) -> (Vec<Held<'_>>, Vec<String>) {
    let mut kinds: Vec<Held<'_>> = Vec::new();
    let mut said = Vec::new();
    let mut unknown: Vec<(&str, String, Vec<&str>)> = Vec::new();
    for HeldDisk { device, model, bytes, .. } in &inventory.disks {
        let name = match matching(model, *bytes) {
            Match::Drive(name) => name,
            Match::Volume { name, gib } => {
                said.push(format!(
                    "{device}: {model} does not say which kind it is; taken as {name}; `--drives` names another"
                ));
                format!("{name}[size={gib}GiB]")
            }
            Match::None { nearest, of_size } => {
                let near = stand_ins(nearest.as_deref(), &of_size);
                match unknown.iter_mut().find(|(known, by, _)| known == model && *by == near) {
                    Some((.., devices)) => devices.push(device),
                    None => unknown.push((model, near, vec![device])),
                }
                continue;
            }
        };
        match kinds.iter_mut().find(|held| held.name == name) {
            Some(held) => held.devices.push(device),
            None => kinds.push(Held { name, model, devices: vec![device] }),
        }
    }
    said.extend(unknown.into_iter().map(|(model, near, devices)| {
        let model = if model.is_empty() { "a disk without a model" } else { model };
        let devices = devices.join(", ");
        format!("left out: {devices}: {model} is not in the catalogue{near}; {OWN_FILE}")
    }));
    (kinds, said)
}
