//! The catalogue as a whole: what is in it is sound, and what is wrong is said.

use super::*;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use sim::bus::Bus;
use sim::drive::{DriveSpec, Platters};
use sim::fs::kernel::{Cleaning, PageDaemon};
use sim::{Advance, Device, Event, Part};

/// Cylinders of a long transfer; enough that its last skew, which is not waited for, hardly counts.
const CYLINDERS: u32 = 12;

fn drives() -> Vec<Drive> {
    drive_names().into_iter().map(|name| drive(name).unwrap()).collect()
}

#[test]
fn every_file_is_built_in_and_sound() {
    for (folder, names) in [
        ("drives", drive_names()),
        ("hosts", host_names()),
        ("controllers", controller_names()),
        ("trees", tree_names()),
    ] {
        let path = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<String> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let mut expected: Vec<String> = names.iter().map(|name| format!("{name}.toml")).collect();
        expected.sort();
        assert_eq!(files, expected, "a stale build? touch crates/lab/src/catalogue.rs");
        assert!(names.iter().all(|name| *name == name.to_ascii_lowercase()));
    }
    let ideal = drives().iter().filter(|drive| drive.class().starts_with("ideal-")).count();
    assert_eq!(list().unwrap().len() + ideal, drives().len());
    for name in host_names() {
        host(name).unwrap();
    }
    for name in tree_names() {
        let tree = tree(name).unwrap();
        let (figures, said) = (tree.tree.figures(), tree::TreeFigures::read(&tree.sheet.unwrap()));
        assert_eq!((figures.files, figures.directories), (said.files, said.directories));
        // The sizes of small files are drawn.
        let bytes = said.bytes as f64;
        assert!((figures.bytes as f64 / bytes - 1.0).abs() < 0.05, "{name}: {figures:?}");
    }
}

#[test]
fn every_source_is_used() {
    let hosts: Vec<Host> = host_names().into_iter().map(|name| host(name).unwrap()).collect();
    let drives = drives();
    let controllers: Vec<RaidController> =
        controller_names().into_iter().map(|name| controller(name).unwrap()).collect();
    let trees: Vec<Tree> = tree_names().into_iter().map(|name| tree(name).unwrap()).collect();
    let sheets = drives.iter().map(|d| &d.sheet).chain(hosts.iter().map(|h| &h.sheet));
    let sheets = sheets.chain(controllers.iter().map(|b| &b.sheet));
    for sheet in sheets.chain(trees.iter().filter_map(|tree| tree.sheet.as_ref())) {
        for (key, _) in &sheet.sources {
            let used = sheet.figures.iter().any(|(_, cited)| cited.source == *key);
            assert!(used, "{}: nothing is cited from {key}", sheet.label);
        }
    }
}

#[test]
fn names_are_told_apart_and_found() {
    let mut names: Vec<String> = drives()
        .into_iter()
        .flat_map(|drive| drive.sheet.also.into_iter().chain([drive.name, drive.title]))
        .map(|name| name.to_ascii_lowercase())
        .collect();
    names.sort();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "two drives share a name: {names:?}");
    assert_eq!(drive("SX118273LC").unwrap().name, "st118273lc");
    assert_eq!(drive("St118273LC").unwrap().title, "Seagate Barracuda 18 ST118273LC");
    let by_path = format!("{}/../../drives/wd740gd.toml", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(drive(&by_path).unwrap().digest, drive("wd740gd").unwrap().digest);
    let error = drive("st118273lx").unwrap_err().to_string();
    assert!(error.contains("did you mean `st118273lc`?") && error.contains("`ileave drives`"));
    // A title was named, which is no plain name.
    for name in ["linux", "Linux"] {
        let error = host(name).unwrap_err().to_string();
        assert!(error.contains("did you mean `linux-6.1`?"), "{error}");
    }
    let error = host("ultra2").unwrap_err().to_string();
    assert!(error.contains("no host is called `ultra2`") && error.contains("`ileave hosts`"));
    assert!(drive("no/such.toml").unwrap_err().to_string().contains("no/such.toml"));
}

/// A drive, and its media rate, sustained rate and mean seek, each from least to most.
type Bounds = (&'static str, [f64; 2], [f64; 2], [f64; 2]);

/// The six measured drives are held to what their measurers derive from the same zones and points, and
/// a sustained rate to the published one where there is one: cdc-9720, st18000nm000j, st3200822as,
/// wd740gd. Elsewhere the bounds only say what would be absurd, and the mean seek of a data sheet is read
/// back.
const BOUNDS: [Bounds; 29] = [
    ("0661-371", [1.76, 1.78], [1.3, 1.78], [12.4, 12.6]),
    ("94601-12g", [2.14, 2.15], [1.8, 2.1], [14.9, 15.1]),
    ("c3323a", [5.45, 5.55], [4.75, 4.85], [9.5, 9.6]),
    ("cdc-9720", [2.54, 2.56], [2.2, 2.3], [15.9, 16.1]),
    ("dnes-309170w", [23.9, 24.1], [20.4, 20.6], [7.1, 7.3]),
    ("dors-32160w", [6.5, 7.5], [5.0, 7.0], [8.4, 8.6]),
    ("dt01aca200", [98.0, 197.0], [175.0, 185.0], [8.6, 8.8]),
    ("hus728t8tale6l4", [262.7, 280.5], [249.9, 262.7], [7.9, 8.1]),
    ("mg08aca16te", [282.9, 302.2], [269.2, 282.9], [7.9, 8.1]),
    ("mg09aca18te", [289.4, 309.1], [275.4, 289.4], [7.9, 8.1]),
    ("mg11aca24te", [318.3, 339.9], [302.8, 318.3], [7.9, 8.1]),
    ("qm39100td-sw", [15.6, 15.8], [12.0, 12.2], [8.2, 8.4]),
    ("st118273lc", [15.5, 18.5], [15.0, 17.5], [7.0, 7.2]),
    ("st16000nm001g", [268.8, 287.1], [255.8, 268.8], [7.9, 8.1]),
    ("st18000ne000", [230.0, 245.6], [218.8, 230.0], [7.9, 8.1]),
    ("st18000nm000j", [271.0, 300.0], [269.0, 272.0], [7.9, 8.1]),
    ("st20000nm007d", [293.6, 313.5], [279.3, 293.6], [7.9, 8.1]),
    ("st315320a", [28.0, 45.5], [24.0, 29.0], [8.2, 8.4]),
    ("st3200822as", [58.0, 85.4], [57.0, 59.0], [8.4, 8.6]),
    ("st32171w", [11.3, 11.5], [9.2, 9.5], [9.2, 9.4]),
    ("st39102lw", [21.7, 21.9], [15.5, 15.7], [5.4, 5.5]),
    ("st41601n", [3.85, 3.95], [3.75, 3.85], [11.0, 11.2]),
    ("st91000640ss", [113.0, 163.0], [105.0, 125.0], [7.4, 7.6]),
    ("st9600204ss", [124.0, 202.0], [124.0, 148.0], [3.7, 3.9]),
    ("wd121kryz", [262.7, 280.5], [249.9, 262.7], [7.9, 8.1]),
    ("wd140edfz", [222.5, 237.6], [211.7, 222.5], [9.4, 9.6]),
    ("wd740gd", [72.0, 102.0], [71.0, 73.0], [4.4, 4.6]),
    ("wuh721818ale6l4", [277.1, 295.9], [263.6, 277.1], [7.9, 8.1]),
    ("xp32150w", [8.0, 9.0], [5.8, 8.5], [7.9, 8.1]),
];

#[test]
fn derived_rates_are_within_bounds() {
    let rows = serde_json::to_value(list().unwrap()).unwrap();
    let disks = rows.as_array().unwrap().iter().filter(|row| row.get("heads").is_some());
    assert_eq!(disks.clone().count(), BOUNDS.len());
    for (row, (name, media, sustained, seek)) in disks.zip(BOUNDS) {
        assert_eq!(row["name"], name);
        let [media_outer, media_inner] = ["/media_mb_per_s/0", "/media_mb_per_s/1"]
            .map(|at| row.pointer(at).unwrap().as_f64().unwrap());
        let [sustained_outer, sustained_inner] = ["/sustained_mb_per_s/0", "/sustained_mb_per_s/1"]
            .map(|at| row.pointer(at).unwrap().as_f64().unwrap());
        let within = |what: &str, value: f64, [least, most]: [f64; 2]| {
            assert!((least..=most).contains(&value), "{name}: {what} {value} out of bounds");
        };
        within("media rate", media_outer, media);
        within("sustained rate", sustained_outer, sustained);
        within("mean seek", row["seek_mean_ms"].as_f64().unwrap(), seek);
        assert!(media_inner <= media_outer, "{name}: faster inside");
        assert!(sustained_inner <= media_inner, "{name}: faster than media");
    }
}

/// The rate in bytes a second of one long command, its seek and first rotation not counted.
fn long_transfer(spec: &DriveSpec, op: block::Op, sector: u64, sectors: u32) -> f64 {
    let drive = sim::drive::Drive::new(spec, 0).unwrap();
    let mut shelf = sim::Shelf::new(vec![drive], vec![Bus::new(10_000_000_000, 0)]);
    shelf.submit(0, 1, block::Request { target: 0, op, sector, sectors });
    let mut events = vec![];
    while let Some(at) = shelf.next_event() {
        shelf.advance(at, &mut events);
    }
    let Some(Event::Done { spent, .. }) = events.first() else { panic!("it is done first") };
    let passing_ns = spent[Part::MEDIA] + spent[Part::HEAD_SWITCH];
    f64::from(sectors) * 512.0 * 1e9 / passing_ns as f64
}

/// Skews cover the switches: neither a long read nor a long write loses an extra turn.
#[test]
fn long_transfers_go_at_the_sustained_rate() {
    for drive in drives().into_iter().filter(|drive| drive.disk().is_ok()) {
        let spec = drive.disk().unwrap().spec().unwrap();
        let platters = Platters::new(&spec.platters).unwrap();
        let (outer, inner) = platters.sustained_rates();
        let last_zone = spec.platters.zones.last().unwrap();
        let sectors_in = |track: u32| track * spec.platters.heads * CYLINDERS;
        let far = sectors_in(last_zone.slots_per_track);
        let far_start = platters.sectors() - u64::from(far);
        let near = sectors_in(spec.platters.zones[0].slots_per_track);
        for op in [block::Op::Read, block::Op::Write { fua: true }] {
            let rate = long_transfer(&spec, op, 0, near);
            assert!((rate / outer - 1.0).abs() < 0.02, "{}: {op:?} {rate} {outer}", drive.name);
            // Where more sectors fit than are addressed, none may be left in the innermost zone.
            if platters.spot(far_start).cylinder > last_zone.first_cylinder {
                let rate = long_transfer(&spec, op, far_start, far);
                assert!((rate / inner - 1.0).abs() < 0.02, "{}: {op:?} {rate} {inner}", drive.name);
            }
        }
    }
}

#[test]
fn an_experiment_may_override_the_switches() {
    let mut drive = drive("st118273lc").unwrap();
    let as_used = drive.disk().unwrap().spec().unwrap().controller;
    assert_eq!((as_used.write_buffer_sectors, as_used.read_ahead_sectors), (512, 512));
    drive = drive.with(&DriveKeys {
        write_cache: Some(false),
        read_ahead: Some(false),
        zero_latency: Some(true),
        queue_discipline: None,
        queue_depth: None,
        state: None,
        credit: None,
        media_cache: None,
    });
    let changed = drive.disk().unwrap().spec().unwrap().controller;
    assert_eq!((changed.write_buffer_sectors, changed.read_ahead_sectors), (0, 0));
    assert!(changed.zero_latency && !as_used.zero_latency);
}

/// A class says which keys it takes; what they change of its drives says the same.
#[test]
fn drives_take_the_keys_that_change_them() {
    let none = DriveKeys {
        write_cache: None,
        read_ahead: None,
        zero_latency: None,
        queue_discipline: None,
        queue_depth: None,
        state: None,
        credit: None,
        media_cache: None,
    };
    for name in ["st118273lc", "md-hdd", "980-pro-1tb", "md-flash", "ebs-gp2"] {
        let drive = drive(name).unwrap();
        let model = |keys: &DriveKeys| format!("{:?}", drive.clone().with(keys).model);
        let differs = |one: DriveKeys, other: DriveKeys| model(&one) != model(&other);
        let switched = |set: fn(&mut DriveKeys, bool)| {
            let [mut on, mut off] = [none.clone(), none.clone()];
            set(&mut on, true);
            set(&mut off, false);
            differs(on, off)
        };
        let changes = [
            switched(|keys, on| keys.write_cache = Some(on)),
            switched(|keys, on| keys.read_ahead = Some(on)),
            switched(|keys, on| keys.zero_latency = Some(on)),
            switched(|keys, on| {
                let [sorted, fcfs] = [QueueDiscipline::Sptf, QueueDiscipline::Fcfs];
                keys.queue_discipline = Some(if on { sorted } else { fcfs });
            }),
            switched(|keys, on| keys.queue_depth = Some(if on { 7 } else { 5 })),
            switched(|keys, on| {
                keys.state = Some(if on { FillState::Fresh } else { FillState::Steady });
            }),
            switched(|keys, on| keys.credit = Some(if on { Credit::Full } else { Credit::Spent })),
            switched(|keys, on| {
                keys.media_cache = Some(if on { MediaCache::Filled } else { MediaCache::Clean });
            }),
        ];
        let taken: Vec<bool> = DriveKeys::KEYS.iter().map(|key| drive.takes(key.name)).collect();
        assert_eq!(taken, changes, "{name}");
    }
}

/// What was measured on 6.1 is all that is known of later kernels, but for the largest request.
#[test]
fn later_kernels_differ_by_the_largest_request() {
    let figures = |name: &str| {
        let mut described = describe_host(name).unwrap();
        described.figures.retain(|stated| !stated.key.starts_with("max_transfer"));
        described.figures.iter().map(|stated| (stated.key, format!("{:?}", stated.value))).collect()
    };
    let old: Vec<(&str, String)> = figures("linux-6.1");
    for (name, sectors, follows) in
        [("linux-6.1", 2560, false), ("linux-6.12", 2560, true), ("linux-6.17", 8192, true)]
    {
        let host = host(name).unwrap();
        assert_eq!((host.max_transfer_sectors, host.follows_io_opt), (sectors, follows), "{name}");
        assert_eq!(figures(name), old, "{name}");
    }
}

#[test]
fn hosts_are_as_their_files_say() {
    let ideal = host(IDEAL_HOST).unwrap();
    assert_eq!((ideal.max_transfer_sectors, ideal.physio_concurrency), (u32::MAX, u32::MAX));
    assert_eq!((ideal.request_cpu_ns, ideal.command_cpu_ns, ideal.zero_fill_ns(1)), (0, 0, 0));
    let ultra = host("ultra2-netbsd-3").unwrap();
    assert_eq!((ultra.max_transfer_sectors, ultra.physio_concurrency), (128, 1));
    assert_eq!(ultra.buses, Some(2));
    let mut cells = ultra.fitted().iter().filter(|fitted| fitted.figure == "request_cpu_us");
    assert!(cells.all(|fitted| fitted.cell.table == "fair-2006" && fitted.cell.workload == "read"));
    let at: Vec<&str> = ultra
        .fitted()
        .iter()
        .filter(|fitted| fitted.figure == "command_cpu_us")
        .map(|fitted| fitted.cell.at["volume.interleave"].as_str())
        .collect();
    assert_eq!(at, ["32", "64", "128"]);
}

#[test]
fn tracks_end_with_a_sector_of_the_medium() {
    let exos = drive("st18000nm000j").unwrap().disk().unwrap().spec().unwrap();
    assert_eq!(exos.controller.firmware.physical_sectors, 8);
    assert!(exos.platters.zones.iter().all(|zone| zone.slots_per_track % 8 == 0));
    assert_eq!(
        drive("wd740gd")
            .unwrap()
            .disk()
            .unwrap()
            .spec()
            .unwrap()
            .controller
            .firmware
            .physical_sectors,
        1
    );
}

/// The smallest drive.
const SMALL: &str = r#"name = "Small"
[sources]
me = "myself"
[figures]
sectors = { value = 1000, kind = "measured", source = "me" }
rpm = { value = 6000, kind = "measured", source = "me" }
heads = { value = 2, kind = "measured", source = "me" }
cylinders = { value = 10, kind = "measured", source = "me" }
outer_sectors_per_track = { value = 60, kind = "measured", source = "me" }
inner_sectors_per_track = { value = 50, kind = "measured", source = "me" }
seek_single_ms = { value = 1, kind = "measured", source = "me" }
seek_average_ms = { value = 2.2, kind = "measured", source = "me" }
seek_full_ms = { value = 4.5, kind = "measured", source = "me" }
head_switch_ms = { value = 0.5, kind = "measured", source = "me" }
read_hit_overhead_ms = { value = 0, kind = "measured", source = "me" }
read_miss_overhead_ms = { value = 0, kind = "measured", source = "me" }
write_overhead_ms = { value = 0, kind = "measured", source = "me" }
write_cache = { value = false, kind = "measured", source = "me" }
interface_mb_per_s = { value = 10, kind = "measured", source = "me" }
"#;

/// What is in the file, what stands there instead, and what the error says, after the name.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("value = 6000", "value = 6000.5.5", ":6: "),
    ("rpm =", "rmp =", ":6: `figures.rmp` is unknown; did you mean `rpm`?"),
    ("name =", "nam =", ":1: `nam` is unknown; did you mean `name`?"),
    ("name = \"Small\"", "", ":1: `name` is missing; write `name = \"…\"`"),
    ("value = 2,", "valeu = 2,", ":7: `figures.heads.valeu` is unknown; did you mean `value`?"),
    ("value = 2,", "value = 2.5,", ":7: `figures.heads.value`: 2.5 is not a whole number from 1"),
    ("value = 2,", "value = 0,", ":7: `figures.heads.value`: 0 is not a whole number from 1"),
    (
        "value = 2,",
        "value = 900,",
        "`figures.heads.value`: 900 is not a whole number from 1 to 255",
    ),
    (
        "heads =",
        "physical_sector_bytes = { value = 1000, kind = \"measured\", source = \"me\" }\nheads =",
        "`figures.physical_sector_bytes`: 1000: write a multiple of 512",
    ),
    (
        "heads =",
        "physical_sector_bytes = { value = 8192, kind = \"measured\", source = \"me\" }\nheads =",
        "`figures.sectors`: 1000: with `physical_sector_bytes = 8192` it must be a multiple of 16",
    ),
    (
        "heads =",
        "physical_sector_bytes = { value = 4096, kind = \"measured\", source = \"me\" }\nheads =",
        "`figures.outer_sectors_per_track`: 60: with `physical_sector_bytes = 4096` it must be a",
    ),
    ("value = 2,", "", ":7: `figures.heads.value` is missing; write `value = …`"),
    ("value = 6000,", "value = \"fast\",", "`figures.rpm.value`: \"fast\" is not a number from 60"),
    ("value = 6000,", "value = inf,", "`figures.rpm.value`: inf is not a number from 60"),
    (
        "value = false",
        "value = \"off\"",
        "`figures.write_cache.value`: \"off\" is not true or false",
    ),
    ("value = false", "value = true", "`figures.write_cache`: true, but no `write_buffer_sectors`"),
    ("rpm = {", "price_usd = {", ":4: `figures.rpm` is missing; write `rpm = { value = …"),
    (
        "rpm = { value = 6000, kind = \"measured\", source = \"me\" }",
        "rpm = 6000",
        ":6: `figures.rpm`: 6000 is not a table; write it in { }",
    ),
    (
        "heads = { value = 2, kind = \"measured\"",
        "heads = { value = 2, kind = \"guessed\"",
        ":7: `figures.heads.kind`: `guessed` is not a kind; write one of datasheet, measured",
    ),
    (
        "heads = { value = 2, kind = \"measured\"",
        "heads = { value = 2, kind = \"fitted\"",
        ":7: `figures.heads.fitted_to` is missing; write `fitted_to = [",
    ),
    (
        "heads = { value = 2, kind = \"measured\"",
        "heads = { value = 2, kind = \"fitted\", fitted_to = [{ table = \"t\", workload = \"w\", at = {} }]",
        "`figures.heads`: a drive's figures do not come from the results they are to predict",
    ),
    (
        "heads = { value = 2, kind",
        "heads = { value = 2, fitted_to = [], kind",
        "`figures.heads.fitted_to`: only figures of kind \"fitted\" have it; remove it",
    ),
    (
        "heads = { value = 2, kind = \"measured\", source = \"me\"",
        "heads = { value = 2, kind = \"measured\", source = \"you\"",
        ":7: `figures.heads.source`: `you` is not in [sources] (me); cite it there",
    ),
    ("me = \"myself\"", "me = \"\"", ":3: `sources.me`: \"\" is not a text; write it in quotes"),
    ("cylinders =", "zone_count =", "`figures.cylinders`: is missing, and so is `zones`; add one"),
    (
        "seek_full_ms =",
        "write_settle_ms =",
        "`figures.seek_full_ms`: is missing, and so is `seek_p",
    ),
    (
        "seek_full_ms = { value = 4.5",
        "seek_points_ms = { value = [[1, 2]], kind = \"measured\", source = \"me\" }\n\
         write_settle_ms = { value = 4.5",
        "`figures.seek_single_ms`: `seek_points_ms` says this already; remove one of the two",
    ),
    ("value = 4.5", "value = 2.1", ": no rising seek curve has this"),
    (
        "value = 1000",
        "value = 100000",
        ": the zones hold 1100 sectors, not the 100000 of the drive",
    ),
    ("value = 10, kind", "value = 10, note = 7, kind", "`figures.cylinders.note`: 7 is not a text"),
];

#[test]
fn mistakes_are_named_with_the_next_step() {
    Drive::read("small", "drives/small.toml", SMALL).unwrap();
    for (right, wrong, expected) in MISTAKES {
        assert!(SMALL.contains(right), "nothing to spoil: {right}");
        let text = SMALL.replacen(right, wrong, 1);
        let error = Drive::read("small", "drives/small.toml", &text).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        let error = error.to_string();
        assert!(error.starts_with("drives/small.toml:"), "{error}");
        assert!(error.contains(expected), "{wrong}: expected {expected}, got {error}");
    }
}

#[test]
fn mistakes_in_zones_and_points_are_named() {
    let text = |what: &str| {
        let graded = ["cylinders", "outer_sectors_per_track", "inner_sectors_per_track"];
        let lines = SMALL.lines().filter(|line| !graded.iter().any(|key| line.starts_with(key)));
        let lines: Vec<&str> = lines.collect();
        format!(
            "{}\n[figures.zones]\nkind = \"measured\"\nsource = \"me\"\n{what}",
            lines.join("\n")
        )
    };
    let zone = "first_cylinder = 0, last_cylinder = 9";
    Drive::read("z", "z", &text(&format!("value = [{{ {zone}, sectors_per_track = 60 }}]")))
        .unwrap();
    for (value, expected) in [
        ("[]".to_string(), "`figures.zones.value`: a drive has at least one zone; add one"),
        ("7".to_string(), "`figures.zones.value`: 7 is not a list; write it in [ ]"),
        (format!("[{{ {zone} }}]"), "`figures.zones.value[0].sectors_per_track` is missing"),
        (
            format!("[{{ {zone}, sectors_per_track = 60, skew = 3 }}]"),
            "`figures.zones.value[0].skew` is unknown",
        ),
        (
            format!("[{{ {zone}, sectors_per_track = 60 }}, {{ {zone}, sectors_per_track = 50 }}]"),
            "zone 1 does not lie after the zone before it",
        ),
    ] {
        let error = Drive::read("z", "z", &text(&format!("value = {value}"))).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Files with random damage are read or refused, and never make the program stop.
#[test]
fn damaged_files_never_panic() {
    let mut random = Pcg64Mcg::new(1);
    let digits = b"0123456789.-{}[]=\",\n eE";
    let files: Vec<(bool, &str)> = DRIVES
        .all()
        .map(|(_, text)| (true, text))
        .chain(HOSTS.all().map(|(_, text)| (false, text)))
        .filter(|(_, text)| text.len() < 6000)
        .collect();
    let mut read = 0;
    for turn in 0..4000 {
        let (is_drive, text) = files[turn % files.len()];
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=random.next_u64() % 3 {
            let at = random.next_u64() as usize % bytes.len();
            match random.next_u64() % 4 {
                0 => drop(bytes.remove(at)),
                1 => bytes.insert(at, digits[random.next_u64() as usize % digits.len()]),
                2 => bytes[at] = digits[random.next_u64() as usize % digits.len()],
                _ => bytes.truncate(bytes.len() - random.next_u64() as usize % 20),
            }
        }
        let Ok(text) = String::from_utf8(bytes) else { continue };
        read += usize::from(if is_drive {
            Drive::read("damaged", "damaged", &text).is_ok_and(|drive| drive.row().is_ok())
        } else {
            Host::read("damaged", "damaged", &text).is_ok()
        });
    }
    assert!(read > 100, "nearly all were refused: the damage is too rough to test the figures");
}

#[test]
fn a_hosts_memories_have_to_fit_together() {
    let host = |figures: &str| {
        let text = format!("name = \"H\"\n[sources]\ng = \"guess\"\n[figures]\n{figures}");
        let text = text.replace('%', ", kind = \"estimate\", source = \"g\" }\n");
        Host::read("h", "h.toml", &text).map(|host| host.files.cleaning)
    };
    let [buffers, pages] =
        ["buffer_cache = { value = \"8MiB\"%", "page_cache = { value = \"9MiB\"%"];
    let target = "page_target = { value = \"340KiB\"%";
    assert_eq!(host(buffers).unwrap(), Cleaning::Limit(4 << 20));
    let daemon = PageDaemon { free_bytes: 340 << 10, least_buffer_bytes: 1 << 20 };
    let all = [buffers, pages, target].concat();
    assert_eq!(host(&all).unwrap(), Cleaning::PageDaemon(daemon));
    for (figures, expected) in [
        (
            "buffer_cache = { value = \"4KiB\"%",
            "h.toml: `figures.buffer_cache`: 4096 bytes are too few",
        ),
        (&[buffers, target].concat(), "h.toml: `figures.page_target`: a page daemon needs pages"),
        (
            &[pages, target].concat(),
            "h.toml: `figures.page_cache`: with `page_target` buffers take",
        ),
        (
            &(all.clone() + "buffer_least = { value = \"9MiB\"%"),
            "`figures.buffer_least`: is more than",
        ),
        (
            &(all.clone() + "dirty_limit = { value = \"4MiB\"%"),
            "h.toml: `figures.dirty_limit`: has no effect beside `page_target`",
        ),
        (
            &[buffers, "buffer_least = { value = \"1MiB\"%"].concat(),
            "h.toml: `figures.buffer_least`: has no effect without `page_target`",
        ),
    ] {
        let error = host(figures).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// A drive in the format of measured ones.
const MEASURED: &str = r#"{ "source": "a \"bench\"", "drives": { "Maker X1234-Z Fast": { "rpm": 7200.0,
    "heads": 2.0, "sectors": 2000, "head_switch_ms": 0.5, "write_settle_add_ms": 0.1,
    "segments": 3, "segment_blks": 64, "max_readahead_blks": 32, "fast_write_level": 2,
    "read_hit_oh_ms": 0.1, "read_miss_oh_ms": 0.2, "write_miss_oh_ms": 0.3, "other": [],
    "zones": [{ "cyl0": 0, "cyl1": 9, "spt": 110.0, "track_skew": 9, "cyl_skew": 20 }],
    "seek_ms": [[1, 1.25], [9, 3.0]] } } }"#;

#[test]
fn measured_drives_become_files() {
    let files = import(MEASURED).unwrap();
    let [(name, text)] = files.as_slice() else { panic!("one drive, one file") };
    assert_eq!(name, "x1234-z.toml");
    let drive = Drive::read("x1234-z", name, text).unwrap();
    let spec = drive.disk().unwrap().spec().unwrap();
    assert_eq!(drive.title, "Maker X1234-Z Fast");
    assert!(drive.write_cache() && drive.sheet.note.as_ref().unwrap().contains("200 sectors"));
    assert_eq!(spec.controller.write_buffer_sectors, 64);
    assert_eq!(
        (spec.command_settle_ns, drive.disk().unwrap().measured_bus_bytes_per_s()),
        (875_000, Some(3_519_000))
    );
    assert_eq!(spec.controller.interface_bytes_per_s, 20_000_000);
    assert_eq!((spec.platters.zones[0].track_skew_slots, spec.head_switch_ns), (9, 500_000));
    for (right, wrong, expected) in [
        ("\"rpm\"", "\"rmp\"", "drive `Maker X1234-Z Fast`: missing field `rpm`; correct it"),
        ("\"sectors\": 2000", "\"sectors\": 9000", "the zones hold 2200 sectors, not the 9000"),
        ("\"heads\": 2.0", "\"heads\": 2.5", "`figures.heads.value`: 2.5 is not a whole number"),
        ("\"drives\"", "\"discs\"", "not a file of measured drives: missing field `drives`"),
    ] {
        let error = import(&MEASURED.replacen(right, wrong, 1)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// What is concluded of a drive whose file says `right` otherwise.
#[test]
fn what_was_not_measured_is_concluded() {
    use sim::drive::{ReadAheadPolicy, Sending, Taking};
    let drive = |changes: &[(&str, &str)]| {
        let spoil = |text: String, (right, other): &(&str, &str)| {
            assert!(text.contains(right), "nothing to change: {right}");
            text.replacen(right, other, 1)
        };
        let json = changes.iter().fold(MEASURED.to_string(), spoil);
        let (name, text) = import(&json).unwrap().remove(0);
        Drive::read("x", &name, &text).unwrap()
    };
    let controller =
        |changes: &[(&str, &str)]| drive(changes).disk().unwrap().spec().unwrap().controller;
    let as_it_is = controller(&[]);
    assert_eq!(as_it_is.firmware.read_ahead, ReadAheadPolicy::Beyond);
    assert_eq!(as_it_is.firmware.written_segments, 1);
    assert_eq!(as_it_is.firmware.overheads.write_after_write_ns, Some(270_000));
    for ahead in ["\"max_readahead_blks\": 64", "\"max_readahead_blks\": 999", "\"a\": null"] {
        let whole = controller(&[("\"max_readahead_blks\": 32", ahead)]);
        assert_eq!(
            (whole.firmware.read_ahead, whole.read_ahead_sectors),
            (ReadAheadPolicy::Beyond, 64)
        );
    }
    let short = controller(&[("\"segment_blks\": 64", "\"segment_blks\": 54")]);
    assert_eq!(short.firmware.read_ahead, ReadAheadPolicy::SequentialTracks);
    assert_eq!((short.segment_sectors, short.read_ahead_sectors), (220, 220));
    let without = controller(&[("\"max_readahead_blks\": 32", "\"max_readahead_blks\": 0")]);
    assert_eq!(
        (without.firmware.read_ahead, without.read_ahead_sectors),
        (ReadAheadPolicy::Beyond, 0)
    );
    let through = controller(&[("\"fast_write_level\": 2", "\"fast_write_level\": 0")]);
    assert_eq!(
        (through.firmware.sending, through.firmware.taking),
        (Sending::Whole, Taking::Whole)
    );
    assert_eq!(
        (through.write_buffer_sectors, through.firmware.overheads.write_after_write_ns),
        (0, None)
    );
    let bus =
        |more: &str| drive(&[("\"other\": []", more)]).disk().unwrap().measured_bus_bytes_per_s();
    assert_eq!(bus("\"bulk_sector_xfer_ms\": 0"), Some(3_519_000));
    assert_eq!(bus("\"bulk_sector_xfer_ms\": 0.1"), Some(5_120_000));
    assert_eq!(bus("\"interface_mb_per_s\": 20"), None);
    let with_track =
        |track| drive(&[("\"spt\": 110", track)]).disk().unwrap().measured_bus_bytes_per_s();
    assert_eq!(with_track("\"spt\": 500"), Some(4_853_000));
    assert_eq!(with_track("\"spt\": 900"), None);
    let settle_ns =
        |seeks| drive(&[("[[1, 1.25],", seeks)]).disk().unwrap().spec().unwrap().command_settle_ns;
    assert_eq!(settle_ns("[[0, 0], [2, 1.5],"), 1_050_000);
    assert_eq!(settle_ns("[[4, 1.75],"), 1_225_000);
    let skews = drive(&[("\"track_skew\": 9, \"cyl_skew\": 20", "\"track_skew\": null")]);
    assert!(skews.disk().unwrap().spec().unwrap().platters.zones[0].cylinder_skew_slots > 0);
}

/// The drives that md was measured on are those of the simulator, to the nanosecond.
#[test]
fn the_drives_of_the_md_measurements_are_as_stated() {
    let model = |name: &str| drive(name).unwrap().model;
    let Model::IdealDisk(disk) = model("md-hdd") else { panic!("md-hdd is an ideal disk") };
    assert_eq!(disk.spec(), sim::spiral::SpiralSpec::default());
    let Model::IdealDisk(burst) = model("md-hdd-burst2m") else { panic!("and so is this") };
    assert_eq!(burst.spec().burst_sectors, 4096);
    let keys = DriveKeys {
        write_cache: Some(true),
        read_ahead: None,
        zero_latency: None,
        queue_discipline: None,
        queue_depth: None,
        state: None,
        credit: None,
        media_cache: None,
    };
    let Model::IdealDisk(cached) = drive("md-hdd").unwrap().with(&keys).model else { panic!() };
    assert_eq!(cached.spec().buffer_sectors, 64 << 11);
    let Model::IdealFlash(flash) = model("md-flash") else { panic!("md-flash is ideal flash") };
    let spec = flash.spec();
    assert_eq!((spec.read_ns, spec.write_ns, spec.flush_ns), (80_000, 20_000, 20_000));
    assert_eq!((spec.link_bytes_per_s, flash.queue_depth), (2_000_000_000, 256));
    let error = drive("md-flash").unwrap().disk().unwrap_err().to_string();
    assert_eq!(error, "md-flash is of the class `ideal-flash`, and no disk");
}

#[test]
fn the_documentation_has_the_tables_of_figures() {
    let path = format!("{}/../../docs/catalogue.md", env!("CARGO_MANIFEST_DIR"));
    let document = std::fs::read_to_string(path).unwrap();
    let tables = tables();
    assert!(document.contains(tables.trim_end()), "docs/catalogue.md should hold:\n{tables}");
}

/// Each default is a value of its figure, and its field takes what the figure may be.
#[test]
fn fields_take_their_figures() {
    let tables =
        [DRIVES.classes as fn() -> Vec<Class>, HOSTS.classes, CONTROLLERS.classes, TREES.classes];
    for (class, figures) in tables.into_iter().flat_map(|classes| classes()) {
        for figure in figures.iter().copied().flatten() {
            let LeftOut::Default(text) = figure.left_out else { continue };
            let value = figure.shape.parse(text);
            assert!(value.is_some(), "{class}: `{}` is not {text}", figure.key);
        }
    }
    // Everything left out that may be, in a file of each class.
    Drive::read("small", "small", SMALL).unwrap();
    Host::read("h", "h", "name = \"H\"\n[sources]\n[figures]\n").unwrap();
}

#[test]
fn a_class_that_is_none_is_named() {
    let error = Drive::read("x", "x.toml", &format!("class = \"disc\"\n{SMALL}")).unwrap_err();
    assert_eq!(error.to_string(), "x.toml:1: `class`: `disc` is unknown; did you mean `disk`?");
}

/// Caches of disks on SAS were turned off by ATA's command.
#[test]
fn disks_on_sas_take_scsis_commands() {
    let is_scsi = |name: &str| drive(name).unwrap().is_scsi();
    assert!(is_scsi("st91000640ss") && is_scsi("st9600204ss") && is_scsi("st32171w"));
    assert!(!is_scsi("st18000nm000j") && !is_scsi("wd740gd") && !is_scsi("980-pro-1tb"));
}
