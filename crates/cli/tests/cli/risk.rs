//! `ileave risk`.

use super::golden::check;
use super::{ileave, json, scratch, stdout};

const EIGHT: [&str; 7] = ["risk", "--level", "raid6", "--members", "8", "--drive", "st18000nm000j"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    EIGHT.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn the_text() {
    check("risk-raid6.txt", &stdout(scratch().path(), &EIGHT));
}

/// None of 40,000 groups was "below 1 in 100,000", beside 0.0050 % by formula.
#[test]
fn what_no_simulated_group_had_may_be_as_often_as_three_in_all() {
    let one = ["risk", "--level", "single", "--members", "1", "--drive", "io2"];
    let said = stdout(scratch().path(), &one).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("simulated all data lost in none of 40000 (below 0.0075 %): "), "{said}");
}

#[test]
fn what_is_given_takes_the_place_of_a_range() {
    let given = [
        "--afr",
        "1.4%",
        "--ure",
        "1e-15",
        "--scrub",
        "14d",
        "--rebuild",
        "30h",
        "--spares",
        "1",
        "--json",
    ];
    let found = json(scratch().path(), &with(&given));
    let assumed = &found["assumed"];
    for end in ["low", "high"] {
        assert!((assumed["afr"][end].as_f64().unwrap() - 0.014).abs() < 1e-12);
    }
    assert_eq!(
        (assumed["rebuild_h"]["high"].as_f64(), assumed["scrub_h"].as_f64()),
        (Some(30.0), Some(336.0))
    );
    assert_eq!(assumed["delay_h"]["high"].as_f64(), Some(0.0));
    // Still a range: shelf-mates and read errors are not known better.
    for loss in ["gone", "unreadable", "torn_by_crash"] {
        let [low, high] = ["low", "high"].map(|end| found[loss][end].as_f64().unwrap());
        assert!(low < high, "{loss}: {low} {high}");
    }
    // Without a memory the simulation says what the closed form says.
    let gone = &found["simulated"]["memoryless"]["gone"];
    let [probability, error] =
        ["probability", "standard_error"].map(|of| gone[of].as_f64().unwrap());
    assert!((probability - found["gone"]["middle"].as_f64().unwrap()).abs() < 4.0 * error);
}

/// Their provider repairs the copies of a cloud volume, as `tune` assumes, too: it said "below 1 in 100,000" where this
/// said 0.017 %.
#[test]
fn cloud_volumes_have_no_unreadable_bits_unless_asked() {
    let mirror = ["risk", "--level", "md-mirror", "--members", "2", "--drive", "ebs-gp3", "--json"];
    let worst = |more: &[&str]| {
        let found = json(scratch().path(), &[&mirror[..], more].concat());
        found["unreadable"]["high"].as_f64().unwrap()
    };
    assert!(worst(&[]) < 1e-9);
    assert!(worst(&["--ure", "1e-15"]) > 1e-4);
}

#[test]
fn what_cannot_be_is_refused() {
    let error = |more: &[&str]| {
        let output = ileave(scratch().path(), more);
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(error(&with(&["--afr", "1.4"])).contains("--afr 1.4: write a percentage"));
    assert!(error(&with(&["--afr", "140%"])).contains("above 0 and up to 100"));
    assert!(error(&with(&["--scrub", "often"])).contains("--scrub often"));
    assert!(error(&with(&["--scrub", "nver"])).contains("or write `never`"));
    assert!(error(&with(&["--ure", "2"])).contains("--ure 2: write a rate per bit"));
    assert!(error(&with(&["--years", "0"])).contains("--years 0: write a number above 0 and"));
    assert!(error(&with(&["--years", "-1"])).contains("--years -1: write a number above 0"));
    assert!(error(&with(&["--seed", "-1"])).contains("invalid value '-1' for '--seed <S>'"));
    let nested = ["risk", "--level", "md-raid50-3", "--members", "12", "--drive", "st18000nm000j"];
    let own = error(&[&nested[..], &["--groups", "4"]].concat());
    assert!(own.contains("md-raid50-3 has 3 arrays of its own; leave out `--groups`"), "{own}");
    let one = stdout(scratch().path(), &with(&["--years", "1", "--ure", "0"]));
    assert!(one.contains(", 1 year: ") && one.contains("can be read (`--ure 0`)"), "{one}");
    assert!(!one.contains("inf"), "{one}");
    assert!(error(&with(&["--groups", "3"])).contains("do not make 3 equal groups"));
    let sizes = ["risk", "--level", "raid5", "--members", "4TB,8TB", "--drive", "st18000nm000j"];
    let said = error(&sizes);
    assert!(said.contains("write how many there are, as in `--members 8`"), "{said}");
    let raid7 = ["risk", "--level", "raid7", "--members", "8", "--drive", "st18000nm000j"];
    assert!(error(&raid7).contains("no level is called `raid7`"));
    let raid10 = ["risk", "--level", "raid10", "--members", "5", "--drive", "st18000nm000j"];
    assert!(
        error(&raid10).contains("--level raid10: ") && error(&raid10).contains("multiple of 2")
    );
}

/// Groups that are asked for are said; and md's limit is none of ZFS.
#[test]
fn groups_are_said_and_zfs_resilvers() {
    let raidz = ["risk", "--level", "raidz3", "--members", "16", "--groups", "2"];
    let raidz = [&raidz[..], &["--drive", "980-pro-1tb"]].concat();
    let text = stdout(scratch().path(), &raidz);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.starts_with("raidz3 in 2 groups on 16 × "), "{text}");
    assert!(plain.contains("ZFS's resilver") && !plain.contains("speed_limit_m"), "{text}");
}

/// Flash was rebuilt at the rate of random writes beside garbage collection: an MX200 at 7 MB/s.
#[test]
fn flash_is_rebuilt_in_order() {
    let mirror = ["risk", "--level", "mirror", "--members", "2", "--drive", "mx200-250gb"];
    let text = stdout(scratch().path(), &mirror);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rate = "the whole drive at its own 28 MB/s; nobody measured long writes to it;";
    assert!(plain.contains(rate), "{text}");
}

/// The range was said without a word of the loads that it is of; 30 days were simulated beside one that never pauses.
#[test]
fn a_load_that_never_pauses_starves_a_rebuild() {
    let text = stdout(scratch().path(), &EIGHT);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plain.contains("a load that never pauses can hold it down to md's speed_limit_min, 1 MB/s"),
        "{text}"
    );
}

/// A stripe has no rebuild, and what would change one changes nothing.
#[test]
fn a_stripe_is_not_rebuilt() {
    let of = |more: &[&str]| {
        let stripe = ["risk", "--level", "stripe", "--members", "4", "--drive", "st18000nm000j"];
        let all: Vec<&str> = stripe.into_iter().chain(more.iter().copied()).collect();
        stdout(scratch().path(), &all)
    };
    let (_, assumed) =
        of(&[]).split_once("Assumed\n").map(|(a, b)| (a.to_string(), b.to_string())).unwrap();
    assert!(assumed.contains("drives fail") && assumed.contains("bad sectors"), "{assumed}");
    for row in ["\n  rebuild", "\n  delay", "\n  scrub", "\n  shelf-mates", "\n  crashes"] {
        assert!(!assumed.contains(row), "{row}: {assumed}");
    }
    assert_eq!(of(&["--rebuild", "3h", "--scrub", "never", "--ure", "1e-13"]), of(&[]));
}

/// Who has no spare waits for a drive, and `--replace-after` says how long: the closed form and the simulation both have it.
#[test]
fn the_time_until_a_drive_is_replaced_is_asked_for() {
    let of = |after: &str| {
        let five = ["risk", "--level", "raid5", "--members", "8", "--drive", "st18000nm000j"];
        let more = ["--rebuild", "30h", "--replace-after", after, "--json"];
        json(scratch().path(), &five.into_iter().chain(more).collect::<Vec<_>>())
    };
    let [at_once, late] = ["0h", "90h"].map(of);
    assert_eq!(late["assumed"]["delay_h"]["high"], 90.0);
    assert_eq!(at_once["assumed"]["delay_h"]["low"], 0.0);
    let times = |path: &[&str]| {
        let value =
            |of: &serde_json::Value| path.iter().fold(of, |of, key| &of[*key]).as_f64().unwrap();
        value(&late) / value(&at_once)
    };
    assert!((times(&["gone", "middle"]) / 4.0 - 1.0).abs() < 0.05);
    let simulated = times(&["simulated", "memoryless", "gone", "probability"]);
    assert!((simulated / 4.0 - 1.0).abs() < 0.1, "{simulated}");
    let refused = ileave(scratch().path(), &with(&["--replace-after", "soon"]));
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("--replace-after soon: not a time; write it like 30h"), "{said}");
}
