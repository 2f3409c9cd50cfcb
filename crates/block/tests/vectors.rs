//! Layouts against maps read off real systems; `vectors/README.md` says what they are.

use block::layout::btrfs::{self, Chunk, Chunks, Profile};
use block::layout::{
    Code, Concat, Layout, Level, Mirrors, Pairing, Parity, Part, Rotation, Rows, Segments, Stripe,
    WriteRule,
};
use block::{Health, Place, Plan, Request};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Where the full files are, if somebody has them.
#[expect(clippy::disallowed_methods, reason = "a test may look for its data")]
fn full_files() -> Vec<PathBuf> {
    let Ok(folder) = std::env::var("ILEAVE_LAYOUTS") else {
        let required = std::env::var_os("ILEAVE_REQUIRE").is_some();
        assert!(!required, "required, but ILEAVE_LAYOUTS does not name the folder of vectors");
        return Vec::new();
    };
    if folder.is_empty() {
        // Known to be missing.
        return Vec::new();
    }
    let entries = std::fs::read_dir(&folder).expect("ILEAVE_LAYOUTS names a folder");
    let paths = entries.map(|entry| entry.expect("the folder can be listed").path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    assert!(!files.is_empty(), "ILEAVE_LAYOUTS has JSON files");
    files
}

/// All vectors: those kept with the tests, then the full ones.
fn vectors() -> impl Iterator<Item = Value> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("a vector is JSON");
    let kept = include_str!("vectors/maps.jsonl").lines().map(parse);
    #[expect(clippy::disallowed_methods, reason = "a test may read its data")]
    let read = |path| std::fs::read_to_string(path).expect("a vector can be read");
    kept.chain(full_files().into_iter().map(move |path| parse(&read(path))))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a number"))
}

fn numbers(value: &Value) -> Vec<u64> {
    list(value).iter().map(number).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn place(value: &Value) -> Place {
    Place { member: number(&value[0]) as u32, sector: number(&value[1]) }
}

/// A layout, and where its sectors are in the addresses that a vector counts in.
struct Map {
    layout: Box<dyn Layout>,
    /// For each stretch of the volume, in order: the address it starts at, and the volume's sector.
    starts: Vec<(u64, u64)>,
}

impl Map {
    fn new(layout: impl Layout + 'static) -> Self {
        Map { layout: Box::new(layout), starts: vec![(0, 0)] }
    }

    /// The volume's sector at an address.
    fn sector(&self, address: u64) -> u64 {
        let (start, sector) =
            self.starts[self.starts.partition_point(|&(start, _)| start <= address) - 1];
        sector + (address - start)
    }

    /// The address of a sector of the volume.
    fn address(&self, of_sector: u64) -> u64 {
        let (start, sector) =
            self.starts[self.starts.partition_point(|&(_, sector)| sector <= of_sector) - 1];
        start + (of_sector - sector)
    }
}

fn level(name: &str, vector: &Value) -> Map {
    let (level, interleave) =
        (name.parse::<Level>().unwrap(), number(&vector["interleave_sectors"]));
    let level = level.rounded_to(interleave).unwrap_or(level);
    Map::new(level.lay_out(interleave, &numbers(&vector["members"])).unwrap())
}

/// The layout of a vector.
fn lay_out(vector: &Value) -> Map {
    let (layout, algorithm) = (text(&vector["layout"]), text(&vector["algorithm"]));
    let metadata = text(&vector["metadata"]);
    if metadata == "1.0" || metadata == "0.90" {
        return Map::new(md_at_the_front(layout, algorithm, vector));
    }
    match (layout, algorithm) {
        ("ccd" | "ccd-concat", _) => level(ccd(vector), vector),
        _ if !list(&vector["table"]).is_empty() && layout.starts_with("dm-") => {
            Map::new(dm(vector))
        }
        ("md-raid0", "alternate") => level("md-stripe-alternate", vector),
        ("md-raid10", _) => {
            let name = text(&vector["name"]);
            let spread = name.split('-').nth(2).unwrap();
            level(&format!("md-raid10-{spread}"), vector)
        }
        ("md-raid5" | "md-raid6", _) => level(&format!("{layout}-{algorithm}"), vector),
        _ if layout.starts_with("btrfs-") => btrfs(vector),
        _ => level(layout, vector),
    }
}

/// md arrays whose metadata is at the end of the members: the data starts at the front.
fn md_at_the_front(layout: &str, algorithm: &str, vector: &Value) -> Box<dyn Layout> {
    let members: Vec<u64> =
        numbers(&vector["member_size_kib_sysfs"]).iter().map(|kib| kib * 2).collect();
    let interleave = number(&vector["interleave_sectors"]);
    match (layout, algorithm) {
        ("md-raid1", _) => {
            let one = Concat::new(&[members[0]]).unwrap();
            Box::new(Mirrors::new(one, members.len() as u32, Pairing::Neighbours).unwrap())
        }
        ("md-raid5", "left-symmetric") => Box::new(md_rows(interleave, &members)),
        ("md-raid0", _) => Box::new(Stripe::new(interleave, &members).unwrap()),
        _ => panic!("{layout} {algorithm} at the front of its members"),
    }
}

fn md_rows(interleave: u64, members: &[u64]) -> Parity {
    let (rotation, rule) = (Rotation::LeftSymmetric, WriteRule::FewestRequests);
    Parity::new(Code::P, rotation, rule, interleave, members).unwrap()
}

/// The level of a ccd's interleave and flags.
fn ccd(vector: &Value) -> &'static str {
    match (number(&vector["interleave_sectors"]), vector["uniform"] == true) {
        (0, true) => "ccd-concat-uniform",
        (0, false) => "ccd-concat",
        (_, true) => "ccd-uniform",
        (_, false) => "ccd-stripe",
    }
}

/// The targets of a table: `start sectors linear memberN first_sector`, or `start sectors striped count
/// interleave memberN first_sector …`.
fn dm(vector: &Value) -> Segments {
    let target = |line: &Value| {
        let words: Vec<&str> = text(line).split(' ').collect();
        let number = |word: &str| word.parse::<u64>().unwrap();
        let sectors = number(words[1]);
        let (layout, sectors, members): (Box<dyn Layout>, u64, &[&str]) = match words[2] {
            "linear" => (Box::new(Concat::new(&[sectors]).unwrap()), sectors, &words[3..]),
            "striped" => {
                let (count, interleave) = (number(words[3]), number(words[4]));
                let each = sectors / count;
                let stripe = Stripe::new(interleave, &vec![each; count as usize]).unwrap();
                (Box::new(stripe), each, &words[5..])
            }
            other => panic!("{other} is no target"),
        };
        let part = |pair: &[&str]| Part {
            member: pair[0].strip_prefix("member").unwrap().parse().unwrap(),
            start_sector: number(pair[1]),
            sectors,
        };
        (layout, members.chunks(2).map(part).collect())
    };
    let members = list(&vector["members"]).len();
    Segments::new(members, list(&vector["table"]).iter().map(target).collect()).unwrap()
}

/// The chunks of a btrfs, in the order of their addresses, and their profile.
fn chunks(vector: &Value) -> (Profile, Vec<Chunk>) {
    let chunk = |chunk: &Value| Chunk {
        logical_bytes: number(&chunk["logical_bytes"]),
        length_bytes: number(&chunk["length_bytes"]),
        stripes: list(&chunk["stripes"])
            .iter()
            .map(|stripe| (number(&stripe[0]) as u32, number(&stripe[1])))
            .collect(),
    };
    let mut chunks: Vec<Chunk> = list(&vector["chunks"]).iter().map(chunk).collect();
    chunks.sort_by_key(|chunk| chunk.logical_bytes);
    let profile = text(&vector["layout"]).strip_prefix("btrfs-").and_then(Profile::named);
    (profile.expect("a profile of btrfs"), chunks)
}

/// The chunks that were there, which is where a vector counts from.
fn btrfs(vector: &Value) -> Map {
    let (profile, chunks) = chunks(vector);
    let layout = btrfs::lay_out(profile, &chunks, list(&vector["members"]).len()).unwrap();
    let sectors = layout.list().map(|(first_sector, ..)| first_sector);
    let starts = chunks.iter().map(|chunk| chunk.logical_bytes / 512).zip(sectors).collect();
    Map { layout: Box::new(layout), starts }
}

/// All places of an address, sorted.
fn places(map: &Map, address: u64, places: &mut Vec<Place>) {
    places.clear();
    map.layout.places(map.sector(address), places);
    places.sort_unstable();
}

fn hex(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// The digest of the map over the sectors covered.
fn map_digest(map: &Map, covered: &[Value]) -> String {
    let (mut digest, mut lines, mut found) = (Sha256::new(), String::new(), Vec::new());
    for range in covered {
        for sector in number(&range[0])..number(&range[0]) + number(&range[1]) {
            places(map, sector, &mut found);
            write!(lines, "{sector}").unwrap();
            for place in &found {
                write!(lines, " {}:{}", place.member, place.sector).unwrap();
            }
            lines.push('\n');
            if lines.len() > 1 << 16 {
                digest.update(&lines);
                lines.clear();
            }
        }
    }
    digest.update(&lines);
    hex(digest.finalize())
}

#[test]
fn every_sector_is_where_the_real_system_has_it() {
    let mut maps = 0;
    for vector in vectors().filter(|vector| !vector["map_sha256"].is_null()) {
        let name = text(&vector["name"]);
        let map = lay_out(&vector);
        if let Some(sectors) = vector["array_sectors"].as_u64() {
            assert_eq!(map.layout.sectors(), sectors, "capacity of {name}");
        }
        let mut found = Vec::new();
        for sample in list(&vector["samples"]) {
            let sector = number(&sample["sector"]);
            let expected: Vec<Place> = list(&sample["places"]).iter().map(place).collect();
            places(&map, sector, &mut found);
            assert_eq!(found, expected, "sector {sector} of {name}");
        }
        let digest = map_digest(&map, list(&vector["covered"]));
        assert_eq!(digest, text(&vector["map_sha256"]), "{name}");
        maps += 1;
    }
    assert!(maps >= 75, "only {maps} maps were there to compare");
}

/// The chunks that btrfs made of blank devices are those that it is said to make, as far as it got.
#[test]
fn btrfs_places_its_chunks_by_the_rule() {
    let mut tables = 0;
    for vector in vectors().filter(|vector| !list(&vector["chunks"]).is_empty()) {
        let name = text(&vector["name"]);
        let (profile, observed) = chunks(&vector);
        let of_metadata = text(&vector["system_and_metadata_chunks"][0]["type"]);
        let metadata = of_metadata.strip_prefix("SYSTEM|").and_then(Profile::named).unwrap();
        let made =
            Chunks::of_blank_beside(profile, metadata, &numbers(&vector["members"])).unwrap();
        assert_eq!(made.data[..observed.len()], observed, "{name}");
        tables += 1;
    }
    assert!(tables >= 8, "only {tables} tables of chunks were there to compare");
}

/// The rows that are all covered, of a chunk or of the whole; of others the parity was not read.
fn rows_seen(map: &Map, rows: &Rows, covered: &[Value]) -> Vec<u64> {
    let (interleave, units) =
        (rows.parity.interleave_sectors(), u64::from(rows.parity.data_units()));
    let is_covered = |sector: u64| {
        let range_has = |range: &Value| {
            (number(&range[0])..number(&range[0]) + number(&range[1]))
                .contains(&map.address(sector))
        };
        covered.iter().any(range_has)
    };
    let seen = |&row: &u64| {
        (row * units..(row + 1) * units).all(|unit| {
            let start = rows.first_sector + unit * interleave;
            is_covered(start) && is_covered(start + interleave - 1)
        })
    };
    (0..rows.parity.rows()).filter(seen).collect()
}

#[test]
fn parity_is_where_the_real_system_has_it() {
    let mut arrays = 0;
    for vector in vectors().filter(|vector| !vector["parity_sha256"].is_null()) {
        let name = text(&vector["name"]);
        let (mut lines, mut rows) = (String::new(), 0);
        let map = lay_out(&vector);
        for (_, first_sector) in &map.starts {
            let of = map.layout.rows_at(*first_sector).unwrap();
            for row in rows_seen(&map, &of, list(&vector["covered"])) {
                let (p, q) = map.layout.row_parity(of.first_row + row).unwrap();
                write!(lines, "{row}").unwrap();
                for place in [Some(p), q].into_iter().flatten() {
                    write!(lines, " {}:{}", place.member, place.sector).unwrap();
                }
                lines.push('\n');
                rows += 1;
            }
        }
        let start: Vec<&str> = lines.lines().take(3).collect();
        assert_eq!(rows, number(&vector["parity_rows"]), "rows of {name}");
        let digest = hex(Sha256::digest(&lines));
        assert_eq!(digest, text(&vector["parity_sha256"]), "{name}, which starts {start:?}");
        arrays += 1;
    }
    assert!(arrays >= 20, "only {arrays} arrays with parity were there to compare");
}

/// How Q would number the units of a row, were it by this rule.
fn numbered(rule: &str, layout: &dyn Layout, row: u64) -> Vec<u32> {
    let parity = layout.parity().unwrap();
    let units = parity.data_units();
    let members: Vec<u32> = (0..units)
        .map(|unit| {
            let mut places = Vec::new();
            let unit = row * u64::from(units) + u64::from(unit);
            layout.places(unit * parity.interleave_sectors(), &mut places);
            places[0].member
        })
        .collect();
    let q = layout.row_parity(row).unwrap().1.unwrap().member;
    let all = layout.members() as u32;
    let key = |member: u32| match rule {
        "after_q" => (member + all - q - 1) % all,
        _ => member,
    };
    let rank = |member: u32| members.iter().filter(|&&other| key(other) < key(member)).count();
    match rule {
        "logical" => (0..units).collect(),
        "member_index" => members,
        _ => members.iter().map(|&member| rank(member) as u32).collect(),
    }
}

#[test]
fn q_weighs_the_units_as_the_real_system_does() {
    let mut arrays = 0;
    for vector in vectors().filter(|vector| !vector["q_coefficient_order"].is_null()) {
        arrays += 1;
        let name = text(&vector["name"]);
        let fitting: Vec<&str> = list(&vector["q_coefficient_order"]).iter().map(text).collect();
        let layout = lay_out(&vector).layout;
        let parity = layout.parity().unwrap();
        for rule in &fitting {
            for row in 0..64 {
                let ours: Vec<u32> =
                    (0..parity.data_units()).map(|unit| parity.exponent(row, unit)).collect();
                assert_eq!(ours, numbered(rule, &*layout, row), "row {row} of {name} by {rule}");
            }
        }
    }
    assert!(arrays > 0, "no array with Q was there to compare");
}

/// ccd cuts requests into these fragments, in this order.
#[test]
fn ccd_cuts_requests_as_its_code_does() {
    let mut ccds = 0;
    for vector in vectors().filter(|vector| !list(&vector["requests"]).is_empty()) {
        ccds += 1;
        let layout = lay_out(&vector).layout;
        let health = Health::all_up(layout.members());
        let mut plan = Plan::new();
        for request in list(&vector["requests"]) {
            let (sector, sectors) = (number(&request["sector"]), number(&request["sectors"]));
            let expected: Vec<Vec<u64>> = list(&request["fragments"]).iter().map(numbers).collect();
            layout.plan(Request::read(sector, sectors as u32), &health, &mut plan).unwrap();
            let requests = plan.steps().iter().map(|step| step.request);
            let pieces: Vec<Vec<u64>> = requests
                .map(|r| vec![u64::from(r.target), r.sector, u64::from(r.sectors)])
                .collect();
            assert_eq!(pieces, expected, "{sectors} sectors at {sector} of {}", vector["name"]);
        }
        let everything = Request::read(0, layout.sectors() as u32);
        layout.plan(everything, &health, &mut plan).unwrap();
        let fragments = number(&vector["fragments_of_whole_device"]);
        assert_eq!(plan.steps().len() as u64, fragments, "{}", vector["name"]);
    }
    assert!(ccds > 0, "no ccd was there to compare");
}

#[test]
fn ccd_refuses_what_its_code_refuses() {
    let mut refused = 0;
    for vector in vectors().filter(|vector| vector["name"] == "ccd-errors") {
        for row in list(&vector["rows"]) {
            let interleave = number(&row["interleave_sectors"]);
            let name = ccd(row);
            let level: Level = name.parse().unwrap();
            let laid = level.lay_out(interleave, &numbers(&row["members"]));
            assert!(laid.is_err(), "{name} over {}", row["members"]);
            refused += 1;
        }
    }
    assert!(refused > 0, "nothing that ccd refuses was there to compare");
}

#[test]
fn md_leaves_as_much_room_and_offers_as_much_as_mdadm_does() {
    let mut arrays = 0;
    for vector in vectors().filter(|vector| vector["name"] == "md-data-offsets") {
        for row in list(&vector["rows"]) {
            let name = text(&row["level"]);
            let (name, interleave) = match name.rsplit_once('-') {
                Some((name, "64k")) => (name, 128),
                Some((name, "512k")) => (name, 1024),
                _ => (name, 0),
            };
            let level: Level = format!("md-{name}").parse().unwrap();
            let layout = level.lay_out(interleave, &[number(&row["member_sectors"]); 2]).unwrap();
            assert_eq!(layout.sectors(), number(&row["array_sectors"]), "{row}");
            let mut first_row = Vec::new();
            layout.places(0, &mut first_row);
            assert_eq!(first_row[0].sector, number(&row["data_offset_sectors"]), "{row}");
            arrays += 1;
        }
    }
    assert!(arrays > 0, "no array of mdadm's was there to compare");
}
