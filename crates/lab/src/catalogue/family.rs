//! What a drive is whose series is known and whose figures are not: which drives of the catalogue are of its class, and how its
//! data sheet makes its file.

use super::matching::{COMMON, OF_SIZE, goes_with_instance, has_size};
use super::model_number::disk_bytes;
use super::naming::{bytes_of, few, is_akin_series, words};
use super::{Drive, DriveFigures, Model, Named, drive};
use std::cmp::Reverse;

/// A class of drives that people have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// An `NVMe` drive for servers.
    ServerNvme,
    /// A SATA flash drive for servers.
    ServerSata,
    /// An `NVMe` drive for one user.
    ClientNvme,
    /// A SATA flash drive for one user.
    ClientSata,
    /// A drive of Intel's memory beside flash, which needs no garbage collection.
    Optane,
    /// A shingled disk.
    Shingled,
    /// Another hard disk, by its model number.
    HardDisk,
}

use Family::{ClientNvme, ClientSata, HardDisk, Optane, ServerNvme, ServerSata, Shingled};

/// Series by what they are called: `#` is a digit. A word of a name is as long as what stands here, or several are together.
const SERIES: [(Family, &[&str]); 6] = [
    (
        ServerNvme,
        &[
            "pm9a3",
            "pm9d3",
            "pm9d3a",
            "pm173#",
            "pm174#",
            "pm172#",
            "pm963",
            "pm983",
            "pm983a",
            "p55##",
            "p56##",
            "p45##",
            "p46##",
            "p41##",
            "p3700",
            "p3600",
            "p3500",
            "d7p5###",
            "d5p5###",
            "micron73##",
            "micron74##",
            "micron75##",
            "micron9200",
            "micron93##",
            "micron94##",
            "micron95##",
            "cd5",
            "cd6",
            "cd7",
            "cd8",
            "cd8p",
            "cm5",
            "cm6",
            "cm7",
            "sn640",
            "sn650",
            "sn655",
            "sn840",
            "sn861",
        ],
    ),
    (
        ServerSata,
        &[
            "pm863",
            "pm863a",
            "pm883",
            "pm893",
            "sm863",
            "sm863a",
            "sm883",
            "s3500",
            "s3510",
            "s3520",
            "s3610",
            "s3700",
            "s3710",
            "s4500",
            "s4510",
            "s4520",
            "s4600",
            "s4610",
            "s4620",
            "micron51##",
            "micron52##",
            "micron53##",
            "micron54##",
            "dc500m",
            "dc500r",
            "dc600m",
            "sa210",
        ],
    ),
    (
        ClientNvme,
        &[
            "pm961",
            "pm9a1",
            "pm981",
            "pm981a",
            "pm991",
            "pm991a",
            "pm9b1",
            "960evo",
            "960pro",
            "970evo",
            "970evoplus",
            "970pro",
            "980",
            "980pro",
            "990evo",
            "990evoplus",
            "990pro",
            "9100pro",
            "sn550",
            "sn570",
            "sn580",
            "sn700",
            "sn740",
            "sn750",
            "sn770",
            "sn850",
            "sn850x",
            "sn7100",
            "sn8100",
            "crucialp2",
            "crucialp3",
            "crucialp5",
            "crucialp3plus",
            "crucialp5plus",
            "p3plus",
            "p5plus",
            "t500",
            "t700",
            "t705",
            "kc2500",
            "kc3000",
            "nv2",
            "nv3",
            "firecuda520",
            "firecuda530",
        ],
    ),
    (
        ClientSata,
        &[
            "mx300", "mx500", "bx500", "840evo", "840pro", "850evo", "850pro", "860evo", "860pro",
            "860qvo", "870evo", "870qvo", "a400", "sa510", "kc600",
        ],
    ),
    (Optane, &["p4800x", "900p", "905p", "p4801x", "p5800x", "p5801x", "p1600x"]),
    // What their makers say is shingled: Western Digital on 2020-04-22 (blocksandfiles.com, wccftech.com), Toshiba on 2020-04-28
    // (tomshardware.com) and in 2022 of the P300 of 2 TB (zdnet.com), each by series and size; Seagate in its data sheets.
    (
        Shingled,
        &[
            "st2000dm008",
            "st3000dm007",
            "st4000dm004",
            "st5000dm000",
            "st6000dm003",
            "st8000dm004",
            "st8000as0002",
            "st8000as0022",
            "st1000lm048",
            "st2000lm015",
            "st4000lm024",
            "st5000lm000",
            "wd20efax",
            "wd30efax",
            "wd40efax",
            "wd60efax",
            "wd20ezaz",
            "wd60ezaz",
            "wd10spzx",
            "wd20spzx",
            "wd20nmzw",
            "st500lm030",
            "st1000lm035",
            "st2000lm007",
            "st2000dm005",
            "wd10spsx",
            "hdwd240",
            "hdwd260",
            "hdwd320",
            "hdwl110",
            "hdwl120",
            "dt02aba400",
            "dt02aba400v",
            "dt02aba600",
            "dt02aba600v",
            "mq04abf100",
            "mq04abd200",
        ],
    ),
];

/// The size from which on a hard disk is one of today.
const LARGE_SECTORS: u64 = 1_000_000_000_000 / block::SECTOR_BYTES;

/// The size of a drive for servers whose name says none: one in the middle of those that are sold.
const USUAL_BYTES: u64 = 3_840_000_000_000;

/// The class and the longest series that a name has, which says most: `p5` is in `p5 plus`.
fn series(name: &str) -> Option<(Family, &'static str)> {
    let words = words(name);
    let several = (1..=3).flat_map(|count| words.windows(count).map(<[String]>::concat));
    let called: Vec<String> = several.collect();
    let all = SERIES.iter().flat_map(|(family, all)| all.iter().map(|series| (*family, *series)));
    let found = all.filter(|(_, series)| called.iter().any(|word| is_like(word, series)));
    found.max_by_key(|(_, series)| series.len())
}

/// Whether the series of one name is in that of the other: a 980 is no 980 PRO.
pub(super) fn is_other_series(name: &str, other: &str) -> bool {
    let (Some((_, name)), Some((_, other))) = (series(name), series(other)) else { return false };
    name != other && (name.contains(other) || other.contains(name))
}

/// Whether the series of this name is shingled.
pub(crate) fn is_shingled_series(name: &str) -> bool {
    Family::of(name) == Some(Shingled)
}

/// Whether the series of this name writes where its data are, and so has no garbage to collect.
pub(crate) fn writes_in_place(name: &str) -> bool {
    let words = words(name);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    // H10 and H20 are flash with a cache of it.
    Family::of(name) == Some(Optane) || (has("optane") && !has("h10") && !has("h20"))
}

/// What stands for a shingled disk that the catalogue does not have.
pub(crate) fn instead_of_shingled(name: &str) -> String {
    let known = super::DRIVES.named().unwrap_or_default();
    let all = Shingled.nearest(name, known);
    few(all.iter().map(String::as_str))
}

impl Family {
    /// That of a drive that is called so, if its series is known.
    pub(super) fn of(name: &str) -> Option<Family> {
        let is_disk = || words(name).iter().any(|word| disk_bytes(word).is_some());
        series(name).map(|(family, _)| family).or_else(|| is_disk().then_some(HardDisk))
    }

    /// What it is.
    fn text(self) -> &'static str {
        match self {
            ServerNvme => "an NVMe drive for servers",
            ServerSata => "a SATA flash drive for servers",
            ClientNvme => "an NVMe drive for one user",
            ClientSata => "a SATA flash drive for one user",
            Optane => "an Optane drive",
            Shingled => "a shingled disk (SMR)",
            HardDisk => "a hard disk",
        }
    }

    /// Whether a drive of the catalogue is of the class.
    pub(super) fn has(self, drive: &Drive) -> bool {
        let flash = match &drive.model {
            Model::Flash(flash) => flash,
            Model::Shingled(_) => return self == Shingled,
            // Those of the nineties have none of its capacity.
            Model::Disk(_) => return self == HardDisk && drive.sectors() >= LARGE_SECTORS,
            _ => return false,
        };
        let is_optane = drive.title.contains("Optane");
        let (is_sata, is_protected) =
            (flash.figures.half_duplex, flash.figures.power_loss_protection);
        match self {
            Optane => is_optane,
            ServerNvme => !is_optane && is_protected && !is_sata,
            ServerSata => !is_optane && is_protected && is_sata,
            ClientNvme => !is_protected && !is_sata,
            ClientSata => !is_protected && is_sata,
            Shingled | HardDisk => false,
        }
    }

    /// What to say of a drive of the class that the catalogue does not have.
    pub(super) fn instead(self, name: &str, known: &[Named]) -> String {
        let all = self.nearest(name, known);
        let are = if all.len() == 1 { "is" } else { "are" };
        let few = few(all.iter().map(String::as_str));
        let rented = if all.iter().all(|key| goes_with_instance(key)) {
            ", all of them disks of cloud instances"
        } else {
            ""
        };
        let as_large = match all.first().filter(|key| may_be(name, key, known)) {
            Some(key) => format!("; `{key}` is as large and may be it: write that to take it"),
            None => String::new(),
        };
        let said = format!(
            "; that is {}, and nearest of its class {are} {few}{rented}{as_large}",
            self.text()
        );
        match self.fit_line(name) {
            Some(line) => format!("{said}\nits data sheet makes its file: {line}"),
            None => said,
        }
    }

    /// The drives of the class: those that share most of the name first, then those that one can own, then those of about
    /// its size, then the newest.
    fn nearest(self, name: &str, known: &[Named]) -> Vec<String> {
        let words = words(name);
        let said = words.iter().find_map(|word| bytes_of(word).or_else(|| disk_bytes(word)));
        let bytes = said.or((self == ServerNvme).then_some(USUAL_BYTES));
        let shared = |file: &Named| {
            let titles: Vec<String> =
                file.names.iter().flat_map(|title| self::words(title)).collect();
            let shared = words.iter().filter(|word| bytes_of(word).is_none());
            let shared = shared.filter(|word| titles.contains(word)).count();
            shared + usize::from(is_akin_series(file, name))
        };
        let rank = |file: &Named, drive: &Drive| {
            let own = drive.sectors() as f64 * block::SECTOR_BYTES as f64;
            let apart = bytes.map_or(0, |bytes| ((own / bytes as f64).ln().abs() * 10.0) as u64);
            let DriveFigures { goes_with_instance, year, .. } = &drive.figures;
            let year = Reverse(year.unwrap_or(0));
            (Reverse(shared(file)), *goes_with_instance, apart, year, file.key.to_string())
        };
        let mut all: Vec<_> = known
            .iter()
            .filter_map(|file| Some((file, drive(file.key).ok()?)))
            .filter(|(_, drive)| self.has(drive))
            .map(|(file, drive)| rank(file, &drive))
            .collect();
        all.sort_unstable();
        all.into_iter().map(|(.., key)| key).collect()
    }

    /// The command that makes a file of the drive's data sheet, in which the figures are still to be written. A sheet of a
    /// shingled disk says nothing of what makes it one.
    fn fit_line(self, name: &str) -> Option<String> {
        let (interface, protection, steady) = match self {
            ServerNvme => ("nvme", " --power-loss-protection", " --steady-write-iops N"),
            ServerSata => ("sata", " --power-loss-protection", " --steady-write-iops N"),
            ClientNvme => ("nvme", "", " --write-iops N"),
            ClientSata => ("sata", "", " --write-iops N"),
            Optane => ("nvme", " --power-loss-protection", " --write-iops N"),
            Shingled => return None,
            HardDisk => return Some(Self::fit_line_of_disk(name)),
        };
        let words = words(name);
        let is_sized = words.iter().any(|word| bytes_of(word).is_some());
        let capacity = if is_sized { "" } else { " --capacity SIZE" };
        let name = in_quotes(name);
        Some(format!(
            "`ileave drives fit --name \"{name}\"{capacity} --interface {interface}{protection} --read-iops N{steady} \
             --read-mb N --write-mb N --out {}.toml`",
            words.join("-")
        ))
    }

    /// The same of a hard disk, whose model number has its capacity.
    fn fit_line_of_disk(name: &str) -> String {
        let words = words(name);
        let bytes = words.iter().find_map(|word| bytes_of(word).or_else(|| disk_bytes(word)));
        let terabytes = bytes.unwrap_or_default() as f64 / 1e12;
        format!(
            "`ileave drives fit --name \"{}\" --capacity {terabytes}TB --rpm N --read-mb N --out {}.toml`",
            in_quotes(name),
            words.join("-")
        )
    }
}

/// The name without what a shell would take for its own.
fn in_quotes(name: &str) -> String {
    name.replace(['"', '\\', '$', '`', '\n'], "")
}

/// Whether a word is what a series is called.
fn is_like(word: &str, series: &str) -> bool {
    let alike = |(letter, wanted): (char, char)| match wanted {
        '#' => letter.is_ascii_digit(),
        _ => letter == wanted,
    };
    word.len() == series.len() && word.chars().zip(series.chars()).all(alike)
}

/// Whether the drive called `key` may be the one that is meant: as large as `name` says, and `name` has all that one of its own
/// says, as the 870 of which nobody says whether it is an EVO.
fn may_be(name: &str, key: &str, known: &[Named]) -> bool {
    let words = words(name);
    let mut own = known.iter().filter(|file| file.key == key).flat_map(|file| &file.names);
    let says_no_more = |own: &String| {
        let mut own = self::words(own);
        own.retain(|word| !COMMON.contains(&word.as_str()));
        !own.is_empty() && own.iter().all(|word| words.contains(word))
    };
    let is_as_large = |bytes| has_size(key, bytes, OF_SIZE);
    words.iter().find_map(|word| bytes_of(word)).is_some_and(is_as_large) && own.any(says_no_more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> String {
        drive(name).unwrap_err().to_string()
    }

    /// Name, what is said of its class, and the first of those that are named.
    const ANSWERS: [(&str, &str, &str); 19] = [
        (
            "samsung pm9a3",
            "an NVMe drive for servers, and nearest of its class are ",
            "i4g-3750gb, i4i-3750gb",
        ),
        (
            "pm1733",
            "an NVMe drive for servers, and nearest of its class are ",
            "i4g-3750gb, i4i-3750gb",
        ),
        (
            "p5510",
            "an NVMe drive for servers, and nearest of its class are ",
            "i4g-3750gb, i4i-3750gb",
        ),
        (
            "Micron 7450",
            "an NVMe drive for servers, and nearest of its class are ",
            "i4g-3750gb, i4i-3750gb",
        ),
        (
            "kioxia cd8 3.84tb",
            "an NVMe drive for servers, and nearest of its class are ",
            "i4g-3750gb, i4i-3750gb",
        ),
        (
            "crucial mx500",
            "a SATA flash drive for one user, and nearest of its class are ",
            "mx200-250gb, ",
        ),
        (
            "870 evo",
            "a SATA flash drive for one user, and nearest of its class are ",
            "iocost-samsung-ssd-870, ",
        ),
        (
            "970 EVO Plus 1TB",
            "an NVMe drive for one user, and nearest of its class are ",
            "iocost-samsung-ssd-970-evo-500gb, ",
        ),
        (
            "sn850",
            "an NVMe drive for one user, and nearest of its class are ",
            "iocost-wd-black-sn850x-1000gb, ",
        ),
        ("pm9a1", "an NVMe drive for one user, and nearest of its class are ", "980-pro-1tb, "),
        ("pm961", "an NVMe drive for one user, and nearest of its class are ", "980-pro-1tb, "),
        ("pm963", "an NVMe drive for servers, and nearest of its class are ", "i4g-3750gb, "),
        (
            "Samsung SSD 980 1TB",
            "an NVMe drive for one user, and nearest of its class are ",
            "iocost-samsung-ssd-980-pro-1tb, 980-pro-1tb, ",
        ),
        ("optane 905p", "an Optane drive, and nearest of its class is ", "p4800x-375gb\n"),
        ("p5800x", "an Optane drive, and nearest of its class is ", "p4800x-375gb\n"),
        (
            "intel s4520",
            "a SATA flash drive for servers, and nearest of its class is ",
            "d3-s4610-480gb\n",
        ),
        (
            "ST8000DM004-2CX188",
            "a shingled disk (SMR), and nearest of its class are ",
            "st8000as0022, ",
        ),
        ("ST12000VN0008-2YS101", "a hard disk, and nearest of its class are ", "wd121kryz, "),
        ("wd101efbx", "a hard disk, and nearest of its class are ", "wd121kryz, "),
    ];

    /// A PM1733 was answered with a SCSI disk of the nineties, a CD8 with a cloud's disks, a Micron 7450 with a SATA drive.
    #[test]
    fn a_series_that_is_known_is_answered_with_its_class() {
        for (name, text, first) in ANSWERS {
            let said = refused(name);
            let begins = format!("no drive is called `{name}`; that is {text}{first}");
            assert!(said.starts_with(&begins), "{said}");
            assert!(!said.contains("xp32150w") && !said.contains("did you mean"), "{said}");
            assert_eq!(
                said.contains("ileave drives fit --name"),
                !name.starts_with("ST8"),
                "{said}"
            );
        }
    }

    /// A PM961, which is an OEM's drive for one user, got the line of a server's.
    #[test]
    fn series_of_one_letter_more_are_others() {
        for (name, family) in [
            ("SAMSUNG PM961", ClientNvme),
            ("pm981a", ClientNvme),
            ("PM963", ServerNvme),
            ("pm983 960gb", ServerNvme),
        ] {
            assert_eq!(Family::of(name), Some(family), "{name}");
        }
        assert!(is_other_series("Samsung SSD 980 1TB", "Samsung SSD 980 PRO 1TB"));
        assert!(is_other_series("970 EVO Plus", "Samsung SSD 970 EVO 500GB"));
        assert!(!is_other_series("Samsung SSD 980 PRO 1TB", "Samsung 980 PRO 1TB"));
        assert!(!is_other_series("980 pro", "WD_BLACK SN850X 1000GB"));
    }

    /// The count was part of the name of the drive that the line makes, and of its file.
    #[test]
    fn how_many_there_are_is_no_part_of_the_name() {
        let said = refused("4x sn850x 1tb");
        assert!(said.contains("; did you mean `iocost-wd-black-sn850x-1000gb`?"), "{said}");
        let said = refused("4x 980 pro");
        assert!(said.starts_with("`4x 980 pro` may be any of 980-pro-1tb, iocost-"), "{said}");
        let said = refused("4x pm9a3 3.84tb");
        assert!(
            said.starts_with("no drive is called `4x pm9a3 3.84tb`; that is an NVMe"),
            "{said}"
        );
        assert!(said.contains("--name \"pm9a3 3.84tb\" "), "{said}");
        assert!(said.contains("--out pm9a3-3.84tb.toml"), "{said}");
        assert!(said.contains(" and 48 more, all of them disks of cloud instances\n"), "{said}");
    }

    #[test]
    fn the_line_that_makes_its_file_leaves_what_the_sheet_says_to_be_written() {
        assert!(refused("samsung pm9a3").contains(
            "`ileave drives fit --name \"samsung pm9a3\" --capacity SIZE --interface nvme --power-loss-protection \
             --read-iops N --steady-write-iops N --read-mb N --write-mb N --out samsung-pm9a3.toml`"
        ));
        assert!(refused("970 EVO Plus 1TB").contains(
            "--name \"970 EVO Plus 1TB\" --interface nvme --read-iops N --write-iops N --read-mb"
        ));
        assert!(refused("WD101EFBX").contains(
            "`ileave drives fit --name \"WD101EFBX\" --capacity 10TB --rpm N --read-mb N --out wd101efbx.toml`"
        ));
    }

    /// What is in the catalogue is of the class that its name says.
    #[test]
    fn drives_of_the_catalogue_are_of_their_series() {
        let known = super::super::DRIVES.named().unwrap();
        let mut found = 0;
        for file in known {
            let one = drive(file.key).unwrap();
            let said = file.names.iter().find_map(|name| Family::of(name));
            assert!(said.is_none_or(|family| family.has(&one)), "{}: {said:?}", file.key);
            found += usize::from(said.is_some());
        }
        assert_eq!(found, 25);
        assert_eq!(Family::of("frobnicator"), None);
        assert_eq!(Family::of("SAMSUNG MZQL23T8HCLS"), None);
    }
}
