//! `ileave map` from the outside.

use crate::project;
use serde_json::{Value as Json, json};
use std::fs;
use std::path::Path;
use std::process::Output;

fn map(arguments: &[&str]) -> Output {
    crate::ileave(&project(""), &[&["map"], arguments].concat())
}

fn stdout(arguments: &[&str]) -> String {
    let output = map(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?} failed: {errors}");
    String::from_utf8(output.stdout).expect("the output is text")
}

/// Standard error of a command that ends with `status`.
fn stderr(arguments: &[&str], status: i32) -> String {
    let output = map(arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}");
    String::from_utf8(output.stderr).expect("the message is text")
}

fn parsed(arguments: &[&str]) -> Json {
    serde_json::from_str(&stdout(arguments)).expect("the output is JSON")
}

fn seed(name: &str) -> String {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    seeds.join(name).display().to_string()
}

/// The second worked example of ccd's map.
const CCD: &[&str] = &["--level", "ccd", "--interleave", "128", "--members", "1000,1300,1300"];

#[test]
fn a_ccd_of_unequal_members_maps_as_its_table_says() {
    let arguments = [CCD, &["--json", "200", "2687", "2688", "2900"]].concat();
    let expected = json!([
        { "sector": 200, "places": [[1, 72]] },
        { "sector": 2687, "places": [[2, 895]] },
        { "sector": 2688, "places": [[1, 896]] },
        { "sector": 2900, "places": [[2, 980]] },
    ]);
    assert_eq!(parsed(&arguments), expected);
}

#[test]
fn a_range_is_listed_and_a_request_falls_into_pieces() {
    let concat = ["--level", "concat", "--members", "1000,2000"];
    let listed = parsed(&[&concat[..], &["--json", "998-1001"]].concat());
    let places: Vec<&Json> = listed.as_array().unwrap().iter().map(|row| &row["places"]).collect();
    assert_eq!(
        places,
        [&json!([[0, 998]]), &json!([[0, 999]]), &json!([[1, 0]]), &json!([[1, 1]])]
    );
    let request = parsed(&[&concat[..], &["--json", "992+16"]].concat());
    assert_eq!(request[0]["split"], json!(true));
    assert_eq!(
        request[0]["pieces"][1],
        json!({ "sector": 1000, "sectors": 8, "places": [[1, 0]] })
    );
    let text = stdout(&[&concat[..], &["992+16", "0+8"]].concat());
    assert!(text.contains("992+16: 16 sectors (8KiB) split over 2 members, in 2 pieces"), "{text}");
    assert!(text.contains("0+8: 8 sectors (4KiB) in one piece"), "{text}");
}

#[test]
fn without_sectors_the_layout_is_drawn() {
    let text = stdout(CCD);
    let first = "ccd-stripe, 3 members, interleave 128 sectors (64KiB): 3456 sectors";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("  7 │       │  21   │  22   │\n"), "{text}");
    let shape = parsed(&[CCD, &["--json"]].concat());
    assert_eq!((&shape["sectors"], &shape["members"][1]["sectors"]), (&json!(3456), &json!(1300)));
}

#[test]
fn straddling_requests_are_counted() {
    let ccd = ["--level", "ccd", "--interleave", "126", "--members", "3"];
    let counts = parsed(&[&ccd[..], &["--straddle", "8k,6k@1k,4k", "--json"]].concat());
    let share = |count: &Json| format!("{:.3}", count["share"].as_f64().unwrap());
    let shares: Vec<String> = counts.as_array().unwrap().iter().map(share).collect();
    assert_eq!(shares, ["0.111", "0.079", "0.048"]);
}

#[test]
fn files_of_other_systems_are_laid_out() {
    let ccd = seed("ccd/manual");
    let whole = ["--ccd", &ccd, "--unit", "ccd2", "--member-size", "2MiB,1MiB,1MiB", "--json"];
    assert_eq!(parsed(&whole)["sectors"], json!(6144));
    let raid = seed("raidctl/raid5");
    let places = parsed(&["--raidctl", &raid, "--member-size", "50003", "--json", "31", "32"]);
    assert_eq!(places[0]["places"], json!([[0, 95]]));
    assert_eq!(places[1]["places"], json!([[1, 64]]));
    let examine = seed("mdadm/examine");
    let places = parsed(&["--md", &examine, "--json", "5000"]);
    assert_eq!(places[0]["places"], json!([[2, 4488], [3, 4488]]));
    let detail = seed("mdadm/detail");
    let text = stdout(&["--md", &detail]);
    assert!(text.contains("note: member 1 is missing"), "{text}");
    assert!(text.contains("assuming that data starts at sector 2048"), "{text}");
    let moved = parsed(&["--md", &detail, "--reserved", "4096", "--json", "0"]);
    assert_eq!(moved[0]["places"], json!([[0, 4096]]));
}

#[test]
fn sizes_come_from_images_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let image = |name: &str, sectors: u64| {
        let path = folder.path().join(name);
        fs::File::create(&path).unwrap().set_len(sectors * 512).unwrap();
        path.display().to_string()
    };
    let (a, b) = (image("a.img", 1000), image("b.img", 2000));
    let conf = folder.path().join("ccd.conf").display().to_string();
    fs::write(&conf, format!("ccd0 0 none {a} {b}\n")).unwrap();
    assert_eq!(parsed(&["--ccd", &conf, "--json", "1000"])[0]["places"], json!([[1, 0]]));
}

#[test]
fn metadata_lands_where_sampson_saw_it() {
    let land = |interleave: &str, members: &str| {
        let ccd = ["--level", "ccd", "--interleave", interleave, "--members", members];
        let ffs = ["--member-size", "2GiB", "--ffs", "--block", "8k", "--frag", "1k"];
        stdout(&[ccd.as_slice(), ffs.as_slice()].concat())
    };
    let two = land("128", "2");
    assert!(two.contains("Concentrated: 100 % of group blocks and first inodes"), "{two}");
    assert!(land("126", "2").contains("Spread"), "126 over two");
    let three = land("128", "3");
    let thirds =
        |line: &&str| line.starts_with("group blocks") && line.matches("33.3 %").count() == 3;
    assert!(three.lines().any(|line| thirds(&line)), "{three}");
    let ufs2 = ["--level", "ccd", "--interleave", "128", "--members", "2", "--ffs", "--json"];
    let ufs2 = parsed(&[ufs2.as_slice(), &["--fs-version", "2", "--block", "16k"]].concat());
    assert_eq!(ufs2["first_group"][0], json!(["superblock copy", { "start": 160, "end": 176 }]));
}

#[test]
fn a_vector_agrees_or_says_where_it_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vector.json").display().to_string();
    let vector = json!({
        "name": "two", "layout": "ccd", "members": [256, 256], "interleave_sectors": 128,
        "array_sectors": 512, "samples": [{ "sector": 130, "places": [[1, 2]] }],
    });
    fs::write(&path, vector.to_string()).unwrap();
    assert_eq!(stdout(&["--vector", &path]), "two agrees: its 512 sectors, 1 samples\n");
    let other = ["--level", "ccd", "--interleave", "64", "--members", "256,256", "--vector", &path];
    let message = stderr(&other, 1);
    assert!(
        message.contains("sector 130 is at member 1 sector 2, in the map member 0"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_mapped_says_what_to_do() {
    let conf = seed("ccd/manual");
    for (arguments, expected) in [
        (&[][..], "no layout; give --level"),
        (&["--level", "raid5", "--members", "3"], "needs an interleave"),
        (&["--level", "raid5", "--interleave", "8"], "needs members"),
        (&["--level", "rad5", "--interleave", "8", "--members", "3"], "did you mean `raid5`?"),
        (&["--level", "concat", "--members", "0"], "a volume has 1 to 4096 members"),
        (
            &["--level", "concat", "--members", "9,9", "20"],
            "`20` is past the end; the volume has 18",
        ),
        (&["--level", "concat", "--members", "9,9", "x"], "write a sector as `3000`"),
        (&["--ccd", "nowhere"], "cannot read nowhere"),
        (&["--ccd", &conf, "--unit", "ccd0"], "the size of `/dev/sd2e` is not known"),
        (&["--ccd", &conf], "ccd0, ccd1, ccd2, ccd3; choose one with --unit"),
        (&["--level", "concat", "--members", "9,9", "--ffs"], "18 sectors (9KiB) are too few"),
    ] {
        let message = stderr(arguments, 2);
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}
