//! `ileave map --vector` over every map that was read off a real system.

use lab::map::vector::{Vector, Verdict, check_cases};
use std::path::Path;

/// The vectors kept with the layouts' own tests, and the whole files, if somebody has them.
fn files() -> Vec<(String, String)> {
    let kept = include_str!("../../../block/tests/vectors/maps.jsonl").lines();
    let mut files: Vec<(String, String)> =
        kept.map(|line| ("maps.jsonl".into(), line.into())).collect();
    match std::env::var_os("ILEAVE_LAYOUTS") {
        // Known to be missing.
        Some(folder) if folder.is_empty() => {}
        Some(folder) => {
            for entry in Path::new(&folder).read_dir().expect("ILEAVE_LAYOUTS names a folder") {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|end| end == "json") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    files.push((path.display().to_string(), text));
                }
            }
        }
        None => assert!(
            std::env::var_os("ILEAVE_REQUIRE").is_none(),
            "ILEAVE_REQUIRE is set and ILEAVE_LAYOUTS is not: name the folder of vectors"
        ),
    }
    files
}

#[test]
fn every_map_agrees_with_the_layout_it_says_it_is_of() {
    let mut agreed = 0;
    for (label, text) in files() {
        let verdict = check_cases(&label, &text).unwrap().unwrap_or_else(|| {
            let vector = Vector::parse(&label, &text).unwrap();
            let volume = vector.volume(&label).unwrap_or_else(|error| panic!("{error}"));
            vector.check(&volume)
        });
        assert!(matches!(verdict, Verdict::Agrees(_)), "{verdict:?}");
        agreed += 1;
    }
    assert!(agreed >= 75, "only {agreed} maps were compared");
}
