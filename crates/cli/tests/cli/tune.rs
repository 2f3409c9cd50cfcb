//! `ileave tune`, and every case of docs/guide.md.

use super::{ileave, json, project, scratch, stdout};

const QUICK: [&str; 5] = ["tune", "--drives", "4x 980 pro 1tb", "--workload", "postgres"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    QUICK.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn the_json_has_the_keys_that_were_promised() {
    let found = json(scratch().path(), &with(&["--json"]));
    let keys: Vec<&str> = found.as_object().unwrap().keys().map(String::as_str).collect();
    let promised = [
        "best",
        "runner_up",
        "difference",
        "verdict",
        "factors",
        "front",
        "risk",
        "reasons",
        "rules",
        "commands",
        "assumed",
        "evaluations",
        "exhaustive_evaluations",
    ];
    assert_eq!(keys, promised);
    for key in ["estimate", "low", "high"] {
        assert!(found["difference"].get(key).is_some(), "{key}");
    }
    for (list, keys) in [
        ("factors", &["name", "variance_share"][..]),
        ("reasons", &["mechanism", "best", "other", "sentence"]),
        ("rules", &["name", "says", "agrees"]),
    ] {
        let rows = found[list].as_array().unwrap();
        assert!(!rows.is_empty(), "{list}");
        assert!(rows.iter().all(|row| keys.iter().all(|key| row.get(key).is_some())), "{list}");
    }
    // Each row of the front is beaten by none: the fastest comes first, and what follows has more room or survives more.
    let front = found["front"].as_array().unwrap();
    let speed = |row: &serde_json::Value| row["value"].as_f64().unwrap();
    assert!(front.windows(2).all(|rows| speed(&rows[0]) >= speed(&rows[1])));
    assert!(found["evaluations"].as_u64() < found["exhaustive_evaluations"].as_u64());
}

/// What is saved is an experiment that runs, and what it has is what was asked.
#[test]
fn what_is_saved_runs() {
    let scratch = scratch();
    let arguments = with(&["--level", "md-raid10", "--save", "mine.toml"]);
    let said = stdout(scratch.path(), &arguments);
    assert!(
        said.contains("mdadm --create /dev/md0 --level=10 --layout=n2 --raid-devices=4"),
        "{said}"
    );
    let ran = stdout(scratch.path(), &["run", "mine.toml"]);
    assert!(ran.contains("tune-postgres on sim"), "{ran}");
    // An existing file is kept.
    let again = ileave(scratch.path(), &arguments);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("it is kept"));
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let error = |arguments: &[&str]| {
        let output = ileave(scratch().path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(
        error(&["tune", "--drives", "980 pro 1tb", "--workload", "postgres"])
            .contains("how many and which")
    );
    assert!(
        error(&["tune", "--drives", "2x wd740gd", "--workload", "postgre"])
            .contains("did you mean `postgres`?")
    );
    assert!(error(&with(&["--survive", "4"])).contains("no level of md survives 4"));
    assert!(
        error(&with(&["--capacity", "60TB"])).contains("4.0 TB is the most")
            || error(&with(&["--capacity", "60TB"])).contains("is the most")
    );
    assert!(error(&with(&["--level", "raidz"])).contains("raidz"));
    assert!(
        error(&with(&["--subject-to", "nonsense <= 5"])).contains("`nonsense` is not measured")
    );
}

/// Each command of the guide, and the sentence that it says there.
#[test]
#[expect(clippy::print_stderr, reason = "what is not run is said")]
fn the_guide_says_what_the_program_says() {
    let guide = std::fs::read_to_string(project("docs/guide.md")).unwrap();
    let mut cases = 0;
    let mut lines = guide.lines();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("ileave tune ") else { continue };
        let said = lines.by_ref().find_map(|line| line.strip_prefix("> ")).unwrap();
        cases += 1;
        // A minute of two processors.
        if command.contains("--workload backup") && std::env::var_os("ILEAVE_REQUIRE").is_none() {
            eprintln!("SKIPPED: {command}");
            continue;
        }
        // Words between quotation marks are one.
        let parts = command.split('\'').enumerate();
        let words: Vec<&str> =
            parts
                .flat_map(|(place, part)| {
                    if place % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
                })
                .collect();
        let mut arguments = vec!["tune"];
        arguments.extend(words);
        arguments.push("--json");
        let found = json(scratch().path(), &arguments);
        assert_eq!(found["verdict"].as_str().unwrap(), said, "{command}");
    }
    assert_eq!(cases, 5);
}
