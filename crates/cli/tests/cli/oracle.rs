//! The kernel is the judge of the layouts: what it reads for each sector of a volume is where they say.

use super::kernel::{has_kernel, write};
use super::{scratch, skipped, stdout, takes_long};
use block::layout::btrfs::{self, Chunk, Chunks, Profile};
use block::layout::{Layout as _, Segments};
use block::{Health, Op, Place, Plan, Request};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// How many places each of them is asked.
const READS: u64 = 500;

/// The levels whose maps are held to the kernel.
const HELD: [&str; 19] = [
    "md-stripe",
    "md-raid4",
    "md-raid5",
    "md-raid5-left-asymmetric",
    "md-raid5-right-symmetric",
    "md-raid5-right-asymmetric",
    "md-raid6",
    "md-raid6-left-asymmetric",
    "md-raid6-right-asymmetric",
    "md-raid50-2",
    "md-raid60-2",
    "md-raid10",
    "md-raid10-n3",
    "md-raid10-f2",
    "md-raid10-o2",
    "dm-stripe",
    "lvm-stripe",
    "lvm-raid5",
    "lvm-raid10",
];

/// Seeds that geometries are drawn from: one, or as many as `ILEAVE_ORACLE_SEEDS` says.
fn seeds() -> u64 {
    std::env::var("ILEAVE_ORACLE_SEEDS").map_or(1, |text| text.parse().expect("a number of seeds"))
}

/// Draws numbers below a bound.
fn drawing(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = 0x0139_408d_cbbf_7a44 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move |bound| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % bound
    }
}

/// Runs an experiment and gives the traces and what the guest's programs said, by workload.
fn traced(text: &str) -> BTreeMap<String, (String, String)> {
    let here = scratch();
    let file = write(here.path(), text);
    stdout(here.path(), &["run", &file, "--on", "kernel", "--keep-trace", "--out", "k"]);
    let trials = fs::read_to_string(here.path().join("k/trials.jsonl")).unwrap();
    let of_trial = trials.lines().map(|trial| {
        let trial: Json = serde_json::from_str(trial).unwrap();
        let kept = |name: &str| here.path().join(format!("k/kept/trial-{}-{name}", trial["trial"]));
        let trace = fs::read_to_string(kept("blocks.csv")).unwrap();
        let said = fs::read_to_string(kept("output")).unwrap_or_default();
        (trial["workload"].as_str().unwrap().to_string(), (trace, said))
    });
    of_trial.collect()
}

/// Each level is asked of a geometry that each seed draws.
#[test]
fn sectors_are_where_the_layouts_say() {
    if takes_long() {
        return;
    }
    if !has_kernel() {
        return;
    }
    let has_lvm = Path::new("/usr/sbin/lvcreate").exists();
    if !has_lvm {
        skipped("levels of LVM: there is no lvcreate; install the package lvm2");
    }
    let levels = HELD.iter().filter(|name| !name.starts_with("lvm-") || has_lvm);
    let levels: Vec<&str> = levels.copied().collect();
    for seed in 0..seeds() {
        let mut draw = drawing(seed);
        let (mut text, mut geometries) = (String::new(), Vec::new());
        for (number, name) in levels.iter().enumerate() {
            let level = name.parse::<block::Level>().unwrap();
            let least = level.members_min().max(3) as u64;
            let mut drives = least + draw(8_u64.saturating_sub(least).max(1));
            // Groups have as many members each.
            drives += if level.nested().is_some() { drives % 2 } else { 0 };
            // LVM pairs its members.
            drives += if *name == "lvm-raid10" { drives % 2 } else { 0 };
            let chunk_kib = 4 << draw(4);
            // A stripe of md need not be a power of two.
            let chunk_kib = if *name == "md-stripe" { 4 * (1 + draw(10)) } else { chunk_kib };
            geometries.push((chunk_kib * 2, drives as usize));
            // Each goes through all rotations of parity.
            writeln!(
                text,
                "workload.w{number} = {{ kind = \"sequential\", block = \"4KiB\", count = {READS}, volume.level = \"{name}\", \
                 volume.drives = \"{drives}xmd-hdd:1GiB\", volume.interleave = \"{chunk_kib}KiB\" }}"
            )
            .unwrap();
        }
        let traces = traced(&text);
        for (number, (level, (interleave, drives))) in levels.iter().zip(geometries).enumerate() {
            let (trace, _) = &traces[&format!("w{number}")];
            let agree = compared(level, interleave, drives, trace);
            assert_eq!(agree, READS, "seed {seed}: {level} {interleave} {drives}");
        }
    }
}

/// How many reads of 4 KiB in order, as the drives saw them, are where the layout says; panics at the first that is not.
/// Where md's data begin on a member is taken from the first.
fn compared(level: &str, interleave: u64, drives: usize, trace: &str) -> u64 {
    let layout = level.parse::<block::Level>().unwrap();
    let layout = layout.lay_out(interleave, &vec![2 << 20; drives]).unwrap();
    let mut data_offset = None;
    let reads = trace.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let mut number = 0;
    for read in reads.filter(|words| words[2] == "R" && words[4] == "8") {
        let (drive, sector): (u32, u64) = (read[1].parse().unwrap(), read[3].parse().unwrap());
        let mut places = Vec::new();
        layout.places(8 * number, &mut places);
        let own = places.iter().find(|place| place.member == drive);
        let own = own.unwrap_or_else(|| {
            panic!(
                "{level} {interleave}: sector {} is read from drive {drive}, not {places:?}",
                8 * number
            )
        });
        let offset = sector.checked_sub(own.sector).expect("md's data are behind its superblock");
        assert!(offset == 0 || level.starts_with("md-"), "{level}: {offset} sectors too far");
        assert_eq!(
            *data_offset.get_or_insert(offset),
            offset,
            "{level} {interleave}: sector {}",
            8 * number
        );
        number += 1;
    }
    number
}

/// Makes a btrfs, writes a file, writes on behind it, reads it page by page and takes space until data has more chunks, each at a
/// time of its own.
/// Says where the file is, and what chunks there are.
const BTRFS: &str = r#"
set -e
mount=$1; data=$2; metadata=$3; pages=$4; more=$5; shift 5
began=$(date +%s); until_s() { sleep $(($1 + began - $(date +%s))); }
umount $mount
mkfs.btrfs -q -f -d $data -m $metadata "$@"
mount -t btrfs $1 $mount
until_s 20
seq -f '%-4095.0f' $pages | dd of=$mount/numbered bs=${pages}x4k iflag=fullblock 2> /run/said
sync
until_s 25
seq -f '%-4095.0f' $more | dd of=$mount/numbered bs=${more}x4k iflag=fullblock oflag=append conv=notrunc 2> /run/said
sync; filefrag -e -b4096 $mount/numbered
echo 3 > /proc/sys/vm/drop_caches
until_s 40
dd if=$mount/numbered of=/dev/null bs=4k iflag=direct 2> /run/said
until_s 60
for n in 1 2 3 4; do fallocate -l 96M $mount/space$n 2> /run/said || break; done
sync
btrfs inspect-internal dump-tree -t chunk $1
"#;

/// Its own layer allocates chunks and lays stripes out in them: both are where `block` has them, of all copies and parities,
/// on devices whose number and sizes each seed draws.
#[test]
fn btrfs_has_its_chunks_and_stripes_where_the_layouts_say() {
    if takes_long() || !has_kernel() {
        return;
    }
    let here = scratch();
    let script = here.path().join("btrfs.sh");
    fs::write(&script, BTRFS).unwrap();
    for seed in 0..seeds() {
        let mut draw = drawing(seed);
        let (mut text, mut cases) = ("fs.kind = \"btrfs\"\n".to_string(), Vec::new());
        for profile in Profile::ALL {
            let data = profile.name();
            let devices = profile.devices_min() as u64 + draw(4);
            let mib: Vec<u64> = (0..devices).map(|_| 300 + 20 * draw(25)).collect();
            let sectors: Vec<u64> = mib.iter().map(|mib| mib << 11).collect();
            let chunks = Chunks::of_blank(profile, &sectors).unwrap();
            let metadata = profile.of_metadata(mib.len()).name();
            // Rows of parity are whole, but for those at both ends and where it is written on.
            let (pages, more) = (READS + draw(40), 1 + draw(40));
            let drives: Vec<String> = mib.iter().map(|mib| format!("1xmd-hdd:{mib}MiB")).collect();
            let names: Vec<String> =
                ('a'..='z').take(mib.len()).map(|letter| format!("/dev/vd{letter}")).collect();
            writeln!(
                text,
                "workload.{data} = {{ kind = \"command\", volume.level = \"btrfs-dup\", volume.drives = \"{}\", \
                 command = \"sh {} {{mount}} {data} {metadata} {pages} {more} {}\" }}",
                drives.join("+"),
                script.display(),
                names.join(" ")
            )
            .unwrap();
            cases.push((data, profile, sectors, chunks, pages));
        }
        let traces = traced(&text);
        for (data, profile, sectors, chunks, pages) in cases {
            let (trace, said) = &traces[data];
            let case = format!("seed {seed}: {data} on {sectors:?}");
            check_btrfs(&case, profile, (&chunks.data, sectors.len()), pages, (trace, said));
        }
    }
}

/// The number behind a word.
fn number_behind(text: &str, word: &str) -> Option<u64> {
    let rest = text.split_once(word)?.1.trim_start();
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// The chunks of data that `btrfs inspect-internal dump-tree -t chunk` lists, in order.
fn data_chunks(said: &str) -> Vec<Chunk> {
    let items = said.split("CHUNK_ITEM ").skip(1).filter(|item| item.contains("type DATA"));
    let chunk = |item: &str| {
        let stripes = item.split("\t\t\tstripe ").skip(1).map(|stripe| {
            let device = number_behind(stripe, "devid").unwrap() as u32 - 1;
            (device, number_behind(stripe, "offset").unwrap())
        });
        Chunk {
            logical_bytes: number_behind(item, "").unwrap(),
            length_bytes: number_behind(item, "length").unwrap(),
            stripes: stripes.collect(),
        }
    };
    items.map(chunk).collect()
}

/// The pages of a file by `filefrag -e -b4096`: where each run of them begins among btrfs's addresses, and how long it is.
fn runs(said: &str) -> Vec<(u64, u64)> {
    let fields = said.lines().map(|line| line.split(':').map(str::trim).collect::<Vec<_>>());
    let runs = fields.filter(|fields| fields.len() > 4 && fields[0].parse::<u64>().is_ok());
    runs.map(|fields| (number_behind(fields[2], "").unwrap(), fields[3].parse().unwrap())).collect()
}

/// Holds what the kernel did to the predicted chunks; panics where they differ.
fn check_btrfs(
    case: &str,
    profile: Profile,
    (predicted, devices): (&[Chunk], usize),
    first_pages: u64,
    (trace, said): (&str, &str),
) {
    let chunks = data_chunks(said);
    assert!(chunks.len() > 1, "{case}: no chunk was added: {said}");
    assert_eq!(chunks, predicted[..chunks.len()], "{case}");
    let layout = btrfs::lay_out(profile, &chunks, devices).unwrap();
    // The volume is the chunks one after another.
    let of_address = |byte: u64| {
        let mut before = 0;
        for chunk in &chunks {
            match byte.checked_sub(chunk.logical_bytes) {
                Some(within) if within < chunk.length_bytes => return (before + within) / 512,
                _ => before += chunk.length_bytes,
            }
        }
        panic!("{case}: {byte} is in no chunk of data")
    };
    let pages: Vec<u64> = runs(said)
        .iter()
        .flat_map(|&(page, length)| (page..page + length).map(|page| of_address(page * 4096)))
        .collect();
    assert!(pages.len() as u64 > first_pages, "{case}: {said}");
    let (first, more) = pages.split_at(first_pages as usize);
    let commands = trace.lines().skip(1).map(|line| {
        let words: Vec<&str> = line.split(',').collect();
        let at_s = words[0].parse::<f64>().unwrap() / 1e6;
        let number = |place: usize| words[place].parse::<u64>().unwrap();
        (at_s, words[2], number(1) as u32, number(3), number(4))
    });
    let commands: Vec<_> = commands.collect();
    let is_of_data = |drive: u32, sector: u64| {
        let each = |chunk: &Chunk| chunk.length_bytes / data_stripes(profile, chunk.stripes.len());
        chunks.iter().any(|chunk| {
            chunk.stripes.iter().any(|&(device, byte)| {
                device == drive && (byte / 512..(byte + each(chunk)) / 512).contains(&sector)
            })
        })
    };
    for (pages, during_s) in [(first, 10.0..23.0), (more, 23.0..35.0)] {
        let mut written = BTreeSet::new();
        for &(_, _, drive, sector, sectors) in
            commands.iter().filter(|of| of.1 == "W" && during_s.contains(&of.0))
        {
            // Copies of the superblock are at 64 KiB and 64 MiB, wherever chunks are.
            let is_superblock = sectors == 8 && [128, 131_072].contains(&sector);
            if is_of_data(drive, sector) && !is_superblock {
                written.extend(sectors_of(drive, sector, sectors));
            }
        }
        let planned = written_by(&layout, devices, pages);
        let [more, less] =
            [written.difference(&planned).next(), planned.difference(&written).next()];
        assert_eq!(
            (more, less),
            (None, None),
            "{case}, {during_s:?}: written and not planned, planned and not written"
        );
    }
    let reads =
        commands.iter().filter(|of| of.1 == "R" && of.4 == 8 && (35.0..50.0).contains(&of.0));
    let mut read = 0;
    for (page, &(_, _, member, sector, _)) in pages.iter().zip(reads) {
        let mut places = Vec::new();
        layout.places(*page, &mut places);
        assert!(places.contains(&Place { member, sector }), "{case}: {page} in {places:?}");
        read += 1;
    }
    assert_eq!(read, pages.len(), "{case}: each page is read");
}

/// The sectors that are written where these pages of a volume are, whose order is that of their file.
fn written_by(layout: &Segments, devices: usize, pages: &[u64]) -> BTreeSet<(u32, u64)> {
    let (mut written, mut plan) = (BTreeSet::new(), Plan::new());
    for run in pages.chunk_by(|page, next| page + 8 == *next) {
        let (sector, sectors) = (run[0], run.len() as u32 * 8);
        let request = Request { target: 0, op: Op::WRITE, sector, sectors };
        layout.plan(request, &Health::all_up(devices), &mut plan).unwrap();
        let steps = plan.steps().iter().map(|step| step.request);
        for request in steps.filter(|request| request.op != Op::Read) {
            written.extend(sectors_of(request.target, request.sector, request.sectors.into()));
        }
    }
    written
}

/// Sectors of a drive.
fn sectors_of(drive: u32, sector: u64, sectors: u64) -> impl Iterator<Item = (u32, u64)> {
    (sector..sector + sectors).map(move |sector| (drive, sector))
}

/// How many of a chunk's stripes hold data that no other does.
fn data_stripes(profile: Profile, stripes: usize) -> u64 {
    let stripes = stripes as u64;
    match profile {
        Profile::Raid0 => stripes,
        Profile::Raid10 => stripes / 2,
        Profile::Raid5 => stripes - 1,
        Profile::Raid6 => stripes - 2,
        _ => 1,
    }
}
