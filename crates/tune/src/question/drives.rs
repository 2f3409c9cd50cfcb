//! The drives: how many and which, in words, for so much money, or out of what a system prints.

use crate::question::mixed_sizes;
use block::units::parse_sectors;
use lab::catalogue::{self, Drive, Match, OWN_FILE};
use lab::inventory::{self, HeldDisk, Inventory};
use lab::{Error, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// Drives of one kind.
#[derive(Clone, Debug)]
pub struct Drives {
    /// How many.
    pub count: usize,
    /// Which.
    pub drive: Drive,
    /// What the system calls them, in this order; where it has them, once [`Drives::as_linux_calls_them`]. None where no inventory
    /// says it.
    pub devices: Vec<String>,
    /// Whether they take SCSI's commands, where an inventory says it.
    pub(crate) scsi: Option<bool>,
    /// What the system has by a name already, or mounted: what is built is called otherwise.
    pub names_taken: BTreeSet<String>,
}

/// Drives as they are asked for: perhaps without saying how many.
#[derive(Clone, Debug)]
pub struct Asked {
    /// How many, where it is said.
    pub count: Option<usize>,
    /// Which.
    pub drive: Drive,
    /// What the system calls them, the free ones first; none where no inventory says it.
    pub devices: Vec<String>,
}

/// More drives than this are a slip of the hand.
pub(crate) const DRIVES_MAX: usize = 64;

/// How drives are written.
const FORM: &str =
    "write how many and which, as in '8x ST18000NM000J' (`ileave drives` lists them)";

impl Asked {
    /// Whether a drive of that name is asked for, whatever is set of it.
    fn means(&self, name: &str) -> bool {
        [self.drive.name.as_str(), self.bare_name()].contains(&name)
    }

    /// Its name without what is provisioned or set of it.
    fn bare_name(&self) -> &str {
        self.drive.name.split('[').next().unwrap_or_default()
    }

    /// Whether it is none of the catalogue, but that of a file.
    fn is_file(&self) -> bool {
        Path::new(self.bare_name()).extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"))
    }

    /// Whether it is that of a file which has the `model` for its name.
    fn is_of_own_file(&self, model: &str) -> bool {
        self.is_file() && catalogue::is_called(model, &self.drive.title)
    }

    /// Reads `8x ST18000NM000J`, `4x 980 pro 1tb`, or a name alone.
    ///
    /// # Errors
    ///
    /// Where no such drive is known.
    pub fn read(text: &str) -> Result<Self> {
        let (number, rest) = number(text);
        let (count, name) = match count_and_name(text) {
            Some((count, name)) => (count, name),
            None => (None, text.trim()),
        };
        if name.is_empty() {
            return Err(Error::input(format!("--drives {text}: {FORM}")));
        }
        let drive = catalogue::drive(name).map_err(|error| {
            if let Some(of_kinds) = mixed_sizes::of_kinds(text) {
                return of_kinds;
            }
            let why = without_x(number, rest).or_else(|| no_one_drive(name));
            why.unwrap_or(error).context("--drives")
        })?;
        Ok(Asked { count, drive, devices: Vec::new() })
    }

    /// So many, or as many as `budget_usd` pays for at `price_usd` each, if those are fewer or nothing was said.
    ///
    /// # Errors
    ///
    /// Where neither says how many, or the budget pays for none.
    pub fn within(self, budget_usd: Option<f64>, price_usd: Option<f64>) -> Result<Drives> {
        let Some(budget) = budget_usd else {
            let count = self.count.ok_or_else(|| Error::input(format!("--drives: {FORM}")))?;
            return self.so_many(count);
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
        self.so_many(count)
    }

    fn so_many(self, count: usize) -> Result<Drives> {
        if self.devices.is_empty() {
            check_instance(&self.drive, count)?;
        }
        let drives = Drives::new(count, self.drive).map_err(|error| error.context("--drives"))?;
        let devices = self.devices.into_iter().take(count).collect();
        Ok(Drives { devices, ..drives })
    }
}

/// Whether one instance has so many of a disk that goes with instances: no array is made over several machines' disks.
fn check_instance(drive: &Drive, count: usize) -> Result<()> {
    match drive.most_per_instance().zip(drive.per_instance()) {
        Some((most, counts)) if count > most => Err(Error::input(format!(
            "--drives: no instance has {count} of {}: {counts}; ask for as many as one has, or for a disk of a larger instance (`ileave \
             drives`)",
            drive.name
        ))),
        _ => Ok(()),
    }
}

/// That `4 wd740gd` lacks its `x`.
fn without_x(number: &str, rest: &str) -> Option<Error> {
    let name = rest.trim();
    let is_drive = !number.is_empty() && rest != name && catalogue::drive(name).is_ok();
    is_drive.then(|| Error::input(format!("the `x` is missing; write `{number}x {name}`")))
}

/// Why a name that no drive has is none, where that is not for the letters of it.
fn no_one_drive(name: &str) -> Option<Error> {
    if name.matches('[').count() > name.matches(']').count() {
        return Some(Error::input(format!(
            "`{name}`: a bracket is not closed; write what is provisioned as in `gp3[size=1TiB,iops=3000]`"
        )));
    }
    if name.contains('+') || names_more(name) {
        return Some(Error::input(format!(
            "`{name}`: tune is about drives of one kind; for several, give your own layouts over them, with \
             `volume.drives = \"1x…+1x…\"` in an experiment (`ileave tune FILE`)"
        )));
    }
    part_of_drive(name)
}

/// Whether `980 pro 1tb, 4x exos x20` goes on with drives of another kind: a number and an `x` behind a comma.
fn names_more(name: &str) -> bool {
    name.split(',').skip(1).any(|next| {
        let next = next.trim_start();
        let rest = next.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < next.len() && rest.trim_start().starts_with(['x', 'X', '×', '*'])
    })
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
        Ok(Drives { count, drive, devices: Vec::new(), scsi: None, names_taken: BTreeSet::new() })
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

/// The digits in front, and what stands behind them.
fn number(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.chars().take_while(char::is_ascii_digit).count())
}

/// `8x ST18000NM000J`: how many, if that is a number that there may be, and of what.
pub(crate) fn count_and_name(text: &str) -> Option<(Option<usize>, &str)> {
    let (number, rest) = number(text);
    let name = rest.trim_start().strip_prefix(['x', 'X', '×', '*'])?;
    (!number.is_empty()).then(|| (number.parse().ok(), name.trim()))
}

/// Disks of one model that a system has.
struct Held<'i> {
    /// What they are in the catalogue.
    name: String,
    model: &'i str,
    devices: Vec<&'i str>,
    /// Whether only `--drives` says so.
    is_named: bool,
}

impl Held<'_> {
    /// How many, of which model, and where.
    fn words(&self) -> String {
        format!("{} x {} ({})", self.devices.len(), self.model, self.devices.join(", "))
    }

    /// What it was taken as, and why.
    fn matched(&self, asked: Option<&Asked>) -> String {
        let (words, name) = (self.words(), &self.name);
        if self.is_named {
            return format!("{words} taken as {name}, as --drives says");
        }
        let is_file = asked.is_some_and(Asked::is_file);
        format!("{words} matched {name}{}", if is_file { "" } else { " in the catalogue" })
    }
}

/// What is said of the drives that a system has.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// What matched what, and what is left out.
    pub notes: Vec<String>,
}

/// The drives that a system has: the most numerous kind, or the one that is asked for; and what is said of them. Those of
/// the running system are none.
///
/// # Errors
///
/// Where no disk is one of the catalogue, or it has not as many as asked for.
pub fn held(inventory: &Inventory, asked: Option<&Asked>) -> Result<(Asked, Said)> {
    let (kinds, unknown, mut said) = kinds(inventory, asked);
    let wanted = |held: &&Held<'_>| asked.is_none_or(|asked| asked.means(&held.name));
    let is_used =
        |held: &Held<'_>| held.devices.iter().all(|device| !inventory.in_use(&[device]).is_empty());
    // What is the drive itself goes before what is only taken as it, even where that is in use.
    let rank = |held: &&Held<'_>| (!held.is_named, !is_used(held), held.devices.len());
    let most = kinds.iter().filter(wanted).rev().max_by_key(rank);
    // Disks that hold something are not taken in place of free ones that the catalogue does not have.
    let free = unknown.iter().find(|unknown| !is_used(unknown));
    let most = most.filter(|held| asked.is_some() || free.is_none() || !is_used(held));
    let Some(most) = most else { return Err(none_found(inventory, asked, said)) };
    let count = asked.and_then(|asked| asked.count);
    // Others are taken as it where there are not enough of it.
    let is_other = |held: &&Held<'_>| held.name == most.name && held.model != most.model;
    let (mut taken, mut has) = (vec![most], most.devices.len());
    for other in kinds.iter().filter(wanted).filter(is_other) {
        if count.is_some_and(|count| count > has) {
            has += other.devices.len();
            taken.push(other);
        }
    }
    let count = count.unwrap_or(has);
    if count > has {
        let mut why = vec![format!(
            "--from: it has {has} of {}, not {count}; write fewer in --drives",
            most.name
        )];
        why.append(&mut said);
        return Err(Error::input(why.join("; ")));
    }
    let mut notes: Vec<String> = taken.iter().map(|held| held.matched(asked)).collect();
    let is_left = |held: &&Held<'_>| !taken.iter().any(|one| std::ptr::eq(*one, *held));
    notes.extend(kinds.iter().filter(is_left).map(|held| left_out(held, most)));
    notes.append(&mut said);
    // What is free is taken before what is not, of each model.
    let mut devices: Vec<String> = Vec::new();
    for held in &taken {
        let mut own = held.devices.clone();
        own.sort_by_key(|device| !in_use(inventory, &[device]).is_empty());
        devices.extend(own.iter().map(ToString::to_string));
    }
    let drive = match asked {
        Some(asked) => asked.drive.clone(),
        None => catalogue::drive(&most.name)?,
    };
    Ok((Asked { count: Some(count), drive, devices }, Said { notes }))
}

/// That no disk of a system is what is asked for; `said` is what is left out.
fn none_found(inventory: &Inventory, asked: Option<&Asked>, mut said: Vec<String>) -> Error {
    let is_of_volumes = inventory.disks.is_empty();
    let why = match asked {
        // mdstat and its like name what volumes are made of, and not what that is.
        _ if is_of_volumes => {
            "it has volumes, and does not say which models their disks are".into()
        }
        Some(asked) => format!("it has no {} that is free", asked.drive.name),
        None => "none of its free disks is in the catalogue".to_string(),
    };
    let beside = if is_of_volumes { " beside it" } else { "" };
    said.push(format!("give what `lsblk -J -O` prints{beside}, or write --drives without --from"));
    let next = said.join("; ");
    Error::input(format!("--from: {why}; {next}"))
}

/// What is said of disks that are not taken, beside those that are.
fn left_out(held: &Held<'_>, most: &Held<'_>) -> String {
    let count = held.devices.len();
    // One alone has no layouts.
    match count {
        _ if held.name == most.name => format!(
            "left out: {}, another model: taken as {} only where more are asked for than there are of it",
            held.words(),
            most.name
        ),
        1 => format!("left out: 1 x {}", held.model),
        _ => format!(
            "left out: {count} x {}; `--drives '{count}x {}'` takes those",
            held.model, held.name
        ),
    }
}

/// What is on the drives that are taken now, and lost with a new layout, and what is to be known of them: a budget may
/// take fewer than the system has.
pub fn warnings(inventory: &Inventory, drives: &Drives) -> Vec<String> {
    let taken: Vec<&str> = drives.devices.iter().map(String::as_str).collect();
    let mut warnings = in_use(inventory, &taken);
    if !warnings.is_empty() {
        let first = "no command below does this: before them, unmount and stop what is built of these disks, and take its lines out \
                     of /etc/fstab and mdadm.conf";
        warnings.push(match inventory.let_go(&taken) {
            Some(lines) if !lines.is_empty() => format!("{first}: `{}`", lines.join(" && ")),
            _ => first.into(),
        });
    }
    warnings.extend(inventory.concerns(&taken));
    warnings
}

impl Drives {
    /// The same with their paths in Linux: without any where a BSD's names or ports are all that is known, for the commands are
    /// Linux's; and with the names that the commands leave alone.
    #[must_use]
    pub fn as_linux_calls_them(mut self, inventory: &Inventory) -> Drives {
        self.names_taken = inventory.names();
        let disk = |name: &String| inventory.disks.iter().find(|disk| disk.device == *name);
        let disks: Vec<_> = self.devices.iter().filter_map(disk).collect();
        self.scsi =
            disks.iter().filter_map(|disk| disk.is_scsi()).reduce(|one, other| one || other);
        let path = |disk: &&HeldDisk| if disk.is_bsds { None } else { disk.path() };
        self.devices = disks.iter().map(path).collect::<Option<_>>().unwrap_or_default();
        self
    }

    /// Whether they take SCSI's commands.
    pub fn is_scsi(&self) -> bool {
        self.scsi.unwrap_or_else(|| self.drive.is_scsi())
    }
}

/// What these devices hold now.
fn in_use(inventory: &Inventory, devices: &[&str]) -> Vec<String> {
    let arrays = inventory.arrays_of(devices).into_iter();
    let mut warnings: Vec<String> =
        arrays.map(|array| format!("{array} now; a new layout loses what is on it")).collect();
    let used = inventory.in_use(devices);
    if !used.is_empty() {
        warnings.push(format!("in use: {}; the commands destroy what is on them", used.join("; ")));
    }
    warnings
}

/// The disks by what they are in the catalogue; those that are in none, by the drive that may stand for them; and what is
/// said of these. Who asks for a drive of their size takes them as that.
fn kinds<'i>(
    inventory: &'i Inventory,
    asked: Option<&Asked>,
) -> (Vec<Held<'i>>, Vec<Held<'i>>, Vec<String>) {
    let mut held: Vec<Held<'_>> = Vec::new();
    let mut unknown: Vec<Held<'_>> = Vec::new();
    let left_out = inventory.left_out().into_iter();
    let mut said: Vec<String> = left_out.map(|(_, why)| format!("left out: {why}")).collect();
    let all = inventory::kinds(inventory.free());
    let found: Vec<&str> = all
        .iter()
        .filter_map(|kind| match &kind.found {
            Match::Drive(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    for kind in &all {
        let (model, devices) = (kind.model(), kind.devices());
        let named = devices.join(", ");
        let name = match &kind.found {
            _ if asked.is_some_and(|asked| asked.is_of_own_file(model)) => {
                asked.map_or_else(String::new, |asked| asked.bare_name().to_string())
            }
            Match::Drive(name) => name.clone(),
            Match::Rented { name } => {
                said.push(format!(
                    "{named}: {model} does not say which kind it is; taken as {name}; `--drives` names another"
                ));
                name.clone()
            }
            Match::None { of_size, of_instance, nearest, .. } => {
                let wanted = asked.map(Asked::bare_name);
                if let Some(name) = of_size.iter().find(|name| wanted == Some(name.as_str())) {
                    held.push(Held { name: name.clone(), model, devices, is_named: true });
                    continue;
                }
                let why = kind.found.why_none();
                // Who asks for a drive that is here gets that one, and not what is like it.
                let is_here = |name: &&String| found.contains(&name.as_str());
                let mut may_be = of_size.iter().filter(|name| !is_here(name));
                let nearest = nearest.as_ref().filter(|name| of_size.contains(name));
                let why = match nearest.filter(is_here) {
                    Some(_) => format!("{why}, which is here, too"),
                    None => why,
                };
                let name = nearest.filter(|name| !is_here(name)).or_else(|| may_be.next());
                let name = name.cloned().unwrap_or_default();
                let count = devices.len();
                let next = if name.is_empty() {
                    String::new()
                } else if *of_instance {
                    format!(
                        "name that of your type of instance, as in `--drives '{count}x {name}'`; "
                    )
                } else if nearest == Some(&name) {
                    format!("`--drives '{count}x {name}'` takes them as that; ")
                } else {
                    format!("`--drives '{count}x {name}'` takes them as {name}, of their size; ")
                };
                said.push(format!("left out: {named}: {model} {why}; {next}{OWN_FILE}"));
                unknown.push(Held { name, model, devices, is_named: false });
                continue;
            }
        };
        held.push(Held { name, model, devices, is_named: false });
    }
    (held, unknown, said)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "files of these tests")]
mod tests {
    use super::*;

    /// Six disks: of the system, with a file system, of LVM, encrypted, with partitions, and in an array.
    const SYSTEM: &str = r#"{"blockdevices":[
        {"name":"sda","type":"disk","model":"ST18000NM000J","size":18000207937536,"children":[
            {"name":"sda1","type":"part","fstype":"vfat","mountpoints":["/boot/efi"]},
            {"name":"sda2","type":"part","fstype":"LVM2_member","children":[
                {"name":"vg-root","type":"lvm","fstype":"ext4","mountpoint":"/","mountpoints":["/"]}]}]},
        {"name":"sdb","type":"disk","model":"ST18000NM000J","size":18000207937536,"fstype":"xfs","mountpoint":"/data"},
        {"name":"sdc","type":"disk","model":"ST18000NM000J","size":18000207937536,"fstype":"LVM2_member","mountpoints":[null]},
        {"name":"sdd","type":"disk","model":"ST18000NM000J","size":18000207937536,"fstype":"LVM2_member"},
        {"name":"sde","type":"disk","model":"ST18000NM000J","size":18000207937536,"children":[
            {"name":"sde1","type":"part","fstype":null}]},
        {"name":"sdf","type":"disk","model":"ST18000NM000J","size":18000207937536,"fstype":"linux_raid_member","children":[
            {"name":"md127","type":"raid1"}]},
        {"name":"sdg","type":"disk","model":"ST18000NM000J","size":18000207937536,"fstype":null,"mountpoint":null}]}"#;

    fn inventory(text: &str) -> Inventory {
        Inventory::read(&[("lsblk.json".into(), text.into())]).unwrap()
    }

    /// What is warned of where so many are taken.
    fn warned(inventory: &Inventory, asked: Asked) -> Vec<String> {
        warnings(inventory, &asked.within(None, None).unwrap())
    }

    /// Three disks in a RAID 5 that is mounted, and two of another model, which are free.
    fn in_use_and_free() -> Inventory {
        let disk = |name: &str, model: &str, more: &str| {
            format!(
                r#"{{"name":"{name}","type":"disk","model":"{model}","size":18000207937536,"rota":true{more}}}"#
            )
        };
        let member = |name: &str| {
            let array = r#"{"name":"md0","type":"raid5","fstype":"xfs","mountpoints":["/data"]}"#;
            let part = format!(
                r#","children":[{{"name":"{name}1","type":"part","fstype":"linux_raid_member","children":[{array}]}}]"#
            );
            disk(name, "ST18000NM000J-2TV103", &part)
        };
        let free = |name: &str| disk(name, "ST18000NM004J", "");
        let disks = [member("sdb"), member("sdc"), member("sdd"), free("sde"), free("sdf")];
        inventory(&format!("{{\"blockdevices\":[{}]}}", disks.join(",")))
    }

    /// `3x ST18000NM000J` was refused ("it has 2"), for the two that are only like it, which `2x` took without a word of the others.
    #[test]
    fn what_is_the_drive_goes_before_what_is_like_it() {
        let inventory = in_use_and_free();
        let of = |text: &str| held(&inventory, Some(&Asked::read(text).unwrap()));
        let (asked, said) = of("3x ST18000NM000J").unwrap();
        assert_eq!(asked.devices, ["sdb", "sdc", "sdd"]);
        let left = "left out: 2 x ST18000NM004J (sde, sdf), another model: taken as st18000nm000j only where more are asked for";
        assert!(said.notes.iter().any(|note| note.starts_with(left)), "{said:?}");
        let warned = warned(&inventory, asked);
        assert!(
            warned[0].starts_with("sdb, sdc, sdd are members of md0 (md-raid5) now"),
            "{warned:?}"
        );
        let first = "`umount /data && mdadm --stop /dev/md0 && wipefs -a /dev/sdb1 /dev/sdb /dev/sdc1 /dev/sdc /dev/sdd1 /dev/sdd`";
        assert!(
            warned[2].starts_with("no command below does this") && warned[2].ends_with(first),
            "{warned:?}"
        );
        let two = of("2x ST18000NM000J").unwrap().0.within(None, None).unwrap();
        assert_eq!(two.devices, ["sdb", "sdc"]);
        let (five, said) = of("5x ST18000NM000J").unwrap();
        assert_eq!(five.devices, ["sdb", "sdc", "sdd", "sde", "sdf"]);
        assert!(
            said.notes[1].starts_with("2 x ST18000NM004J (sde, sdf) taken as st18000nm000j"),
            "{said:?}"
        );
        assert!(
            of("6x ST18000NM000J").unwrap_err().to_string().contains("it has 5 of st18000nm000j")
        );
        assert!(of("2x ST18000NM000J[write_cache=true]").is_ok());
    }

    /// The array was built as /dev/md0, which is there, and was then formatted and mounted.
    #[test]
    fn names_of_the_listing_are_taken() {
        let inventory = in_use_and_free();
        let (asked, _) = held(&inventory, Some(&Asked::read("2x mg09aca18te").unwrap())).unwrap();
        assert!(warned(&inventory, asked.clone()).is_empty());
        let drives = asked.within(None, None).unwrap().as_linux_calls_them(&inventory);
        assert_eq!(drives.devices, ["/dev/sde", "/dev/sdf"]);
        assert!(["md0", "/data"].iter().all(|name| drives.names_taken.contains(*name)));
        let lvm = self::inventory(SYSTEM).names();
        assert!(
            ["vg", "vg-root", "md127", "/data"].iter().all(|name| lvm.contains(*name)),
            "{lvm:?}"
        );
    }

    /// It was said that the nearest name is one, and that another takes them.
    #[test]
    fn what_is_offered_is_what_is_nearest() {
        let refused = held(&in_use_and_free(), None).unwrap_err().to_string();
        // Who asks for that gets the disks in use.
        let near = "ST18000NM004J is not in the catalogue; the nearest name there is st18000nm000j, which is here, too; `--drives '2x ";
        assert!(refused.contains(near) && refused.contains("of their size"), "{refused}");
        assert!(!refused.contains("--drives '2x st18000nm000j'"), "{refused}");
        let alone = r#"{"blockdevices":[
            {"name":"sde","type":"disk","model":"ST18000NM004J","size":18000207937536,"rota":true},
            {"name":"sdf","type":"disk","model":"ST18000NM004J","size":18000207937536,"rota":true}]}"#;
        let refused = held(&inventory(alone), None).unwrap_err().to_string();
        let next = "the nearest name there is st18000nm000j; `--drives '2x st18000nm000j'` takes them as that";
        assert!(refused.contains(next), "{refused}");
    }

    /// The file that the error advises to make was refused.
    #[test]
    fn a_file_of_ones_own_is_the_disk_that_it_names() {
        let scratch = std::env::temp_dir().join(format!("ileave-own-{}", std::process::id()));
        std::fs::create_dir_all(&scratch).unwrap();
        let file = scratch.join("mine.toml");
        let known = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/st18000nm000j.toml");
        let known = std::fs::read_to_string(known).unwrap();
        let named = |name: &str| {
            let (first, rest) = known.split_once('\n').unwrap();
            assert!(first.starts_with("name = "), "{first}");
            std::fs::write(&file, format!("name = \"{name}\"\n{rest}")).unwrap();
            let asked = Asked::read(&format!("2x {}", file.display())).unwrap();
            held(&in_use_and_free(), Some(&asked))
        };
        let (asked, said) = named("ST18000NM004J").unwrap();
        assert_eq!(asked.devices, ["sde", "sdf"]);
        let first = format!("2 x ST18000NM004J (sde, sdf) matched {}", file.display());
        assert_eq!(said.notes[0], first);
        assert!(named("ST4000DM000").is_err());
        std::fs::remove_dir_all(&scratch).unwrap();
    }

    /// Two of four WD740GD of NetBSD were /dev/wd0 and /dev/wd1 in the commands, which are Linux's.
    #[test]
    fn a_bsds_names_are_not_linuxs() {
        let taken = |dmesg: &str| {
            let inventory = Inventory::read(&[("dmesg".into(), dmesg.into())]).unwrap();
            let drives = held(&inventory, None).unwrap().0.within(None, None).unwrap();
            assert_eq!(drives.devices.len(), 2);
            drives.as_linux_calls_them(&inventory).devices
        };
        let netbsd = "wd0 at atabus0 drive 0: <WDC WD740GD-00FLA0>\nwd1 at atabus1 drive 0: <WDC WD740GD-00FLA0>\n";
        assert_eq!(taken(netbsd), [""; 0]);
        let linux = "scsi 0:0:0:0: Direct-Access     ATA      WDC WD740GD-00FL 31.0 PQ: 0 ANSI: 5\n\
                     sd 0:0:0:0: [sda] 145226112 512-byte logical blocks: (74.4 GB/69.2 GiB)\n\
                     scsi 1:0:0:0: Direct-Access     ATA      WDC WD740GD-00FL 31.0 PQ: 0 ANSI: 5\n\
                     sd 1:0:0:0: [sdb] 145226112 512-byte logical blocks: (74.4 GB/69.2 GiB)\n";
        assert_eq!(taken(linux), ["/dev/sda", "/dev/sdb"]);
        // A port of SATA is no name of what is behind it.
        let ports = "ata1.00: ATA-6: WDC WD740GD-00FLA0, 31.08F31, max UDMA/133\n\
                     ata2.00: ATA-6: WDC WD740GD-00FLA0, 31.08F31, max UDMA/133\n";
        assert_eq!(taken(ports), [""; 0]);
    }

    /// On two cables of SAS each was two drives, and hdparm was to turn off its cache.
    #[test]
    fn disks_on_two_paths_are_named_by_their_map() {
        let disk = |name: &str, map: &str, more: &str| {
            format!(
                r#"{{"name":"{name}","type":"disk",{more},"model":"ST18000NM000J","size":18000207937536,"children":[
                {{"name":"{map}","path":"/dev/mapper/{map}","type":"mpath"}}]}}"#
            )
        };
        let sas = r#""tran":"sas","vendor":"SEAGATE""#;
        let read = |sas: &str| {
            let disks =
                [("sda", "mpatha"), ("sdb", "mpathb"), ("sdc", "mpatha"), ("sdd", "mpathb")];
            let disks = disks.map(|(name, map)| disk(name, map, sas)).join(",");
            let inventory = inventory(&format!(r#"{{"blockdevices":[{disks}]}}"#));
            let drives = held(&inventory, None).unwrap().0.within(None, None).unwrap();
            drives.as_linux_calls_them(&inventory)
        };
        let drives = read(sas);
        assert_eq!((drives.count, drives.is_scsi()), (2, true));
        assert_eq!(drives.devices, ["/dev/mapper/mpatha", "/dev/mapper/mpathb"]);
        assert!(!read(r#""tran":"sas","vendor":"ATA     ""#).is_scsi());
        assert!(Drives::read("2x st91000640ss").unwrap().is_scsi());
    }

    /// Disks in use were counted as free ones, the system's own among them, and nothing was said.
    #[test]
    fn disks_in_use_are_said_to_be_and_the_systems_own_is_no_drive() {
        let inventory = inventory(SYSTEM);
        let (asked, said) = held(&inventory, None).unwrap();
        assert_eq!(asked.count, Some(6));
        let left_out = "left out: sda holds /boot/efi and / of the running system";
        assert!(said.notes.iter().any(|note| note == left_out), "{said:?}");
        assert!(said.notes[0].contains("(sdb, sdc, sdd, sde, sdf, sdg) matched"), "{said:?}");
        let all = warned(&inventory, asked.clone());
        let [array, used, first] = &all[..] else { panic!("{all:?}") };
        assert!(array.starts_with("sdf is a member of md127 (md-mirror) now"), "{array}");
        let each = "in use: sdb: xfs on /data; sdc, sdd: LVM2_member; sde: partitions; the commands destroy";
        assert!(used.starts_with(each), "{used}");
        let lines = "`umount /data && mdadm --stop /dev/md127 && wipefs -a /dev/sdb /dev/sdc /dev/sdd /dev/sde /dev/sdf`";
        assert!(first.ends_with(lines), "{first}");
        // The free one is taken first, and nothing else is destroyed then; a budget may pay for fewer.
        let one = Asked::read("1x ST18000NM000J").unwrap();
        let one = held(&inventory, Some(&one)).unwrap().0;
        assert!(warned(&inventory, one.clone()).is_empty());
        assert_eq!(one.within(None, None).unwrap().devices, ["sdg"]);
        let paid = asked.clone().within(Some(250.0), Some(100.0)).unwrap();
        assert_eq!(paid.devices, ["sdg", "sdb"]);
        // What is not paid for is not touched, and was warned of.
        let [used, first] = &warnings(&inventory, &paid)[..] else { panic!("two are warned of") };
        assert_eq!(used, "in use: sdb: xfs on /data; the commands destroy what is on them");
        assert!(first.ends_with("`umount /data && wipefs -a /dev/sdb`"), "{first}");
        let seven = Asked::read("7x ST18000NM000J").unwrap();
        let refused = held(&inventory, Some(&seven)).unwrap_err().to_string();
        assert!(refused.contains("it has 6") && refused.contains(left_out), "{refused}");
    }

    /// One disk was offered to `--drives`, which refuses it ("one drive leaves no layout"); and USB was not mentioned.
    #[test]
    fn one_disk_is_no_offer_and_usb_is_said() {
        let disk = |name: &str, model: &str, bytes: u64, tran: &str| {
            format!(
                r#"{{"name":"{name}","type":"disk","model":"{model}","size":{bytes},"tran":"{tran}"}}"#
            )
        };
        let eighteen =
            |name: &str, tran: &str| disk(name, "ST18000NM000J", 18_000_207_937_536, tran);
        let mut disks =
            vec![eighteen("sda", "sata"), eighteen("sdb", "usb"), eighteen("sdc", "sata")];
        disks.push(disk("sdd", "ST16000NM001G", 16_000_900_661_248, "sata"));
        let said = |disks: &[String]| {
            let text = format!("{{\"blockdevices\":[{}]}}", disks.join(","));
            let inventory = inventory(&text);
            let (asked, said) = held(&inventory, None).unwrap();
            (said.notes, warned(&inventory, asked))
        };
        let one = said(&disks);
        assert!(one.0.contains(&"left out: 1 x ST16000NM001G".to_string()), "{one:?}");
        assert!(one.1.iter().any(|said| said.starts_with("sdb is on USB: ")), "{one:?}");
        disks.push(disk("sde", "ST16000NM001G", 16_000_900_661_248, "sata"));
        let two = said(&disks);
        assert!(
            two.0.iter().any(|note| note.ends_with("`--drives '2x st16000nm001g'` takes those")),
            "{two:?}"
        );
    }

    /// A host-managed disk, on which md cannot be, joined the others, and an odd best size went unsaid.
    #[test]
    fn zoned_disks_are_left_out_and_odd_sizes_said() {
        let disk = |name: &str, more: &str| {
            format!(
                r#"{{"name":"{name}","type":"disk","model":"ST18000NM000J","size":18000207937536{more}}}"#
            )
        };
        let odd = r#","opt-io":16776704,"zoned":"none""#;
        let disks = [disk("sda", odd), disk("sdb", odd), disk("sdc", r#","zoned":"host-managed""#)];
        let inventory = inventory(&format!("{{\"blockdevices\":[{}]}}", disks.join(",")));
        let (asked, said) = held(&inventory, None).unwrap();
        assert_eq!(asked.devices.len(), 2);
        let left_out =
            "left out: sdc is a host-managed zoned disk, which arrays cannot be built of";
        assert!(said.notes.iter().any(|note| note == left_out), "{said:?}");
        let warned = warned(&inventory, asked);
        assert!(
            warned
                .iter()
                .any(|said| said.contains("(opt-io) of sda, sdb is said to be 16776704 bytes")),
            "{warned:?}"
        );
    }

    /// Two disks of an i3en, which do not say so, and a volume of EBS with a file system: that was laid out anew, and
    /// `--drives '2x i3en'` refused.
    #[test]
    fn disks_that_do_not_say_what_they_are_can_be_named() {
        let system = r#"{"blockdevices":[
            {"name":"nvme1n1","type":"disk","model":"Amazon EC2 NVMe Instance Storage","size":7500000000000},
            {"name":"nvme2n1","type":"disk","model":"Amazon EC2 NVMe Instance Storage","size":7500000000000},
            {"name":"nvme3n1","type":"disk","model":"Amazon Elastic Block Store","size":1099511627776,"fstype":"xfs"}]}"#;
        let inventory = inventory(system);
        let refused = held(&inventory, None).unwrap_err().to_string();
        let next = "nvme1n1, nvme2n1: Amazon EC2 NVMe Instance Storage does not say its type of instance; of its size the catalogue has \
                    i3en, i7ie-7500gb, im4gn-7500gb; name that of your type of instance, as in `--drives '2x i3en'`";
        assert!(refused.contains("none of its free disks") && refused.contains(next), "{refused}");
        let (asked, said) = held(&inventory, Some(&Asked::read("2x i3en").unwrap())).unwrap();
        assert_eq!((asked.count, asked.drive.name.as_str()), (Some(2), "i3en"));
        assert!(warned(&inventory, asked).is_empty());
        let taken = "2 x Amazon EC2 NVMe Instance Storage (nvme1n1, nvme2n1) taken as i3en, as --drives says";
        assert_eq!(said.notes[0], taken);
        // Other sizes are not taken for it, and who names the volume in use gets it, with the warning.
        assert!(held(&inventory, Some(&Asked::read("2x 980 pro 1tb").unwrap())).is_err());
        let volume = Asked::read("1x ebs-gp3[size=1024GiB]").unwrap();
        let volume = held(&inventory, Some(&volume)).unwrap().0;
        assert!(warned(&inventory, volume)[0].contains("nvme3n1: xfs"));
    }

    /// Of an array in use it was said that its disks are not in the catalogue.
    #[test]
    fn volumes_alone_say_nothing_of_their_disks() {
        let mdstat = inventory(
            "md0 : active raid5 sdc[2] sdb[1] sda[0]\n      100 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/3] [UUU]\n",
        );
        for asked in [None, Some(&Asked::read("3x st18000nm000j").unwrap())] {
            let refused = held(&mdstat, asked).unwrap_err().to_string();
            assert!(
                refused.starts_with(
                    "--from: it has volumes, and does not say which models their disks are; give what `lsblk -J -O` prints beside it, or write \
                     --drives without --from"
                ),
                "{refused}"
            );
        }
    }

    /// Three disks of an instance that has one were laid out, with the commands.
    #[test]
    fn more_disks_than_an_instance_has_are_refused() {
        let read = |text: &str| {
            Drives::read(text).map(|drives| drives.count).map_err(|error| error.to_string())
        };
        let refused = read("3x m5d.large").unwrap_err();
        assert!(refused.contains("no instance has 3 of m5d-75gb: m5d.large, r5d.large, m5ad.large and z1d.large have one; ask for"), "{refused}");
        assert_eq!(read("8x i3.16xlarge"), Ok(8));
        assert!(read("9x i3.16xlarge").is_err());
        assert_eq!(read("9x 980 pro 1tb"), Ok(9));
    }

    /// Swap in use is the system's; where that is all there is, nothing is free.
    #[test]
    fn a_disk_with_the_systems_swap_is_no_drive() {
        let swap = r#"{"blockdevices":[{"name":"sda","type":"disk","model":"ST18000NM000J","size":18000207937536,"children":[
            {"name":"sda1","type":"part","fstype":"swap","mountpoints":["[SWAP]"]}]}]}"#;
        let refused = held(&inventory(swap), None).unwrap_err().to_string();
        assert!(refused.contains("none of its free disks"), "{refused}");
        assert!(refused.contains("sda holds swap of the running system"), "{refused}");
    }
}
