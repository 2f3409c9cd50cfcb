//! No text that a person can write makes a parser panic, and what is laid out can be asked anything.
//!
//! The same as the fuzz targets, for a second or two: lines of real files, mixed up and changed.

use lab::catalogue::{DiskSim, drive_from, import, import_disksim};
use lab::experiment::{Experiment, Plan, parse_members};
use lab::formats::{ccd, fio, listing, mdadm, raidctl};
use lab::import::{FORMATS, mapped, parse};
use lab::map::{Asked, Sizes, Volume, json};
use proptest::prelude::*;
use std::fmt::Write as _;

const CCD: &[&str] = &[
    include_str!("../../../../fuzz/seeds/ccd/manual"),
    include_str!("../../../../fuzz/seeds/ccd/bits"),
];
const RAIDCTL: &[&str] = &[
    include_str!("../../../../fuzz/seeds/raidctl/raid5"),
    include_str!("../../../../fuzz/seeds/raidctl/short"),
];
const MDADM: &[&str] = &[
    include_str!("../../../../fuzz/seeds/mdadm/detail"),
    include_str!("../../../../fuzz/seeds/mdadm/examine"),
    include_str!("../../../../fuzz/seeds/mdadm/old"),
    include_str!("../../../../fuzz/seeds/mdadm/raid0"),
];
const LISTS: &[&str] = &[
    include_str!("../../../../fuzz/seeds/listing/bsdtar"),
    include_str!("../../../../fuzz/seeds/listing/find"),
    include_str!("../../../../fuzz/seeds/listing/gnutar"),
    include_str!("../../../../fuzz/seeds/listing/old"),
];
const EXPERIMENTS: &[&str] = &[include_str!("../../../../fuzz/seeds/experiment/small")];
const JOBS: &[&str] = &[include_str!("../../../../fuzz/seeds/fio/mix")];
const DRIVES: &[&str] = &[
    include_str!("../../../../fuzz/seeds/drive/c3323a"),
    include_str!("../../../../fuzz/seeds/drive/measured"),
    include_str!("../../../../fuzz/seeds/drive/wd740gd"),
];
const DISKSPECS: &[&str] = &[include_str!("../../../../fuzz/seeds/diskspecs/small")];
const RESULTS: &[&str] = &[
    include_str!("../../../../fuzz/seeds/import/bonnie-csv"),
    include_str!("../../../../fuzz/seeds/import/bonnie-txt"),
    include_str!("../../../../fuzz/seeds/import/csh-time-txt"),
    include_str!("../../../../fuzz/seeds/import/dd-txt"),
    include_str!("../../../../fuzz/seeds/import/fio-json"),
    include_str!("../../../../fuzz/seeds/import/hyperfine-json"),
    include_str!("../../../../fuzz/seeds/import/iozone-2-txt"),
    include_str!("../../../../fuzz/seeds/import/iozone-3-txt"),
];
const MAPPINGS: &[&str] = &[include_str!("../../../../fuzz/seeds/import/mapping")];

/// One of the files, with some words changed for others of it, or for nonsense.
fn changed(files: &'static [&'static str]) -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), "[ -~]{0,6}");
    (prop::sample::select(files), prop::collection::vec(change, 0..4)).prop_map(
        |(file, changes)| {
            let mut words: Vec<String> =
                file.split_inclusive([' ', '\n']).map(String::from).collect();
            for (at, from, nonsense) in changes {
                let other = words[from.index(words.len())].clone();
                let at = at.index(words.len());
                words[at] = if nonsense.len() < 3 { other } else { nonsense };
            }
            words.concat()
        },
    )
}

/// A volume can be drawn, and its ends are somewhere.
fn ask(volume: &Volume) {
    let _ = json::shape(volume);
    let last = volume.layout.sectors() - 1;
    for asked in [Asked::Range(0, 0), Asked::Range(last, last), Asked::Request(last / 2, 1)] {
        let pieces = asked.pieces(&*volume.layout).expect("it is inside");
        for place in &pieces[0].places {
            assert!(place.sector < volume.members[place.member as usize].sectors, "{asked}");
        }
    }
}

fn sizes() -> Sizes<'static> {
    Sizes { given: Vec::new(), of_path: &|name| Some(name.len() as u64 * 997) }
}

/// The drive of a `.diskspecs` file, its model and its seeks, one behind the other.
fn of_disksim(text: &str) -> lab::Result<DiskSim> {
    let mut files = text.split("---\n");
    let specs = files.next().unwrap_or_default();
    let (model, seeks) = (files.next().unwrap_or_default(), files.next().unwrap_or_default());
    let read = |file: &str| {
        let text = if file.contains(".seek") { seeks } else { model };
        Ok((file.to_string(), text.to_string()))
    };
    import_disksim("x.diskspecs", specs, None, &read)
}

/// A disk without surfaces was divided by.
#[test]
fn a_disk_has_a_surface_and_its_tracks_a_block() {
    for name in ["Number of data surfaces", "Blocks per track"] {
        let (before, after) = DISKSPECS[0].split_once(&format!("{name} = ")).unwrap();
        let after = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let error = of_disksim(&format!("{before}{name} = 0{after}")).unwrap_err().to_string();
        assert!(error.contains(&format!("`{name}`: write at least 1")), "{error}");
    }
}

proptest! {
    #[test]
    fn disksim_parameters(text in changed(DISKSPECS)) {
        if let Ok(drive) = of_disksim(&text) {
            prop_assert!(drive_from(&drive.file_name, &drive.text).is_ok());
        }
    }

    #[test]
    fn lists_of_tar_and_find(text in changed(LISTS)) {
        match listing::parse("list.txt", &text) {
            Ok(listed) => {
                let figures = listed.tree.figures();
                prop_assert!(figures.files + figures.directories > 0);
            }
            Err(error) => prop_assert!(error.to_string().starts_with("list.txt:"), "{}", error),
        }
    }

    /// Whatever is in a directory, all three programs list the same tree of it.
    #[test]
    fn three_lists_of_one_tree(paths in prop::collection::vec(
        (prop::collection::vec("[a-z0-9 .:>-]{1,6}", 1..5), prop::option::of(any::<u64>())), 1..20,
    )) {
        let [mut gnu, mut bsd, mut find] = [const { String::new() }; 3];
        for (names, bytes) in paths {
            let path = names.join("/");
            let (mode, kind) = if bytes.is_some() { ("-rw-r--r--", 'f') } else { ("drwxr-xr-x", 'd') };
            let bytes = bytes.unwrap_or(0);
            writeln!(gnu, "{mode} root/wheel {bytes} 2005-08-02 12:34 {path}").unwrap();
            writeln!(bsd, "{mode}  0 root wheel {bytes} Aug  2  2005 {path}").unwrap();
            writeln!(find, "{kind} {bytes} {path}").unwrap();
        }
        let [gnu, bsd, find] = [gnu, bsd, find].map(|text| {
            listing::parse("list.txt", &text).map_err(|_| ())
        });
        prop_assert_eq!(&gnu, &bsd);
        prop_assert_eq!(&gnu, &find);
    }

    #[test]
    fn ccd_conf(text in changed(CCD), freebsd: bool) {
        let system = if freebsd { ccd::System::FreeBsd } else { ccd::System::NetBsd };
        for ccd in ccd::parse("ccd.conf", &text, Some(system)).unwrap_or_default() {
            if let Ok(volume) = Volume::of_ccd("ccd.conf", &ccd, &sizes(), None) {
                ask(&volume);
            }
        }
    }

    #[test]
    fn raidctl_conf(text in changed(RAIDCTL)) {
        if let Ok(raid) = raidctl::parse("raid0.conf", &text)
            && let Ok(volume) = Volume::of_raidctl("raid0.conf", &raid, &sizes(), None)
        {
            ask(&volume);
        }
    }

    #[test]
    fn mdadm_reports(text in changed(MDADM), offset in prop::option::of(0_u64..4096)) {
        if let Ok(md) = mdadm::parse("md0.txt", &text, None)
            && let Ok(volume) = Volume::of_md("md0.txt", &md, &sizes(), offset)
        {
            ask(&volume);
        }
    }

    #[test]
    fn experiments(text in changed(EXPERIMENTS)) {
        let (file, assignments) = text.split_once("---").unwrap_or((&text, ""));
        if let Ok(mut experiment) = Experiment::parse("x.toml", file) {
            for assignment in assignments.lines() {
                let _ = experiment.set(assignment);
            }
        }
    }

    #[test]
    fn job_files(text in changed(JOBS)) {
        if let Ok(file) = fio::read("job.fio", &text) {
            let mut experiment = Experiment::parse("job.fio", &file.experiment).expect("it is one");
            experiment.set("volume.drives=4xwd740gd").expect("it is a key");
            let _ = Plan::new(&experiment);
        }
    }

    #[test]
    fn drive_files(text in changed(DRIVES)) {
        let _ = import(&text);
        if let Ok(drive) = drive_from("x.toml", &text) {
            let _ = drive.check();
        }
    }

    #[test]
    fn results(text in changed(RESULTS)) {
        for name in FORMATS.iter().map(|format| Some(format.name)).chain([None]) {
            if let Ok(table) = parse("results.txt", &text, name) {
                let rows = table.rows.len();
                assert_eq!(table.into_records().1.len(), rows);
            }
        }
    }

    #[test]
    fn mapped_results(text in changed(MAPPINGS)) {
        let (mapping, csv) = text.split_once("---\n").unwrap_or((&text, ""));
        let _ = mapped("x.toml", mapping, |_| Ok(("x.csv".into(), csv.into())));
    }

    #[test]
    fn member_lists(text in "[0-9]{0,3}x?[a-z]{0,4}:?[0-9]{0,4}[kmMGiB]{0,3}[+ ]?[0-9x]{0,9}") {
        let _ = parse_members(&text);
    }

    #[test]
    fn nonsense(text in "[ -~\n]{0,80}") {
        assert!(raidctl::parse("x", &text).is_err());
        let _ = ccd::parse("x", &text, None);
        let _ = mdadm::parse("x", &text, None);
        let _ = Asked::parse(&text);
        let _ = parse_members(&text);
    }
}
