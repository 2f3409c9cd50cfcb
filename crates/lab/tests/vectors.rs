//! `ileave map --vector` over every map that was read off a real system and is one layout.

use lab::map::vector::{Vector, Verdict};

#[test]
fn every_map_agrees_with_the_layout_it_says_it_is_of() {
    let (mut agreed, mut left_out) = (0, Vec::new());
    for line in include_str!("../../block/tests/vectors/maps.jsonl").lines() {
        let Ok(vector) = Vector::parse("maps.jsonl", line) else { continue };
        match vector.volume("maps.jsonl") {
            Ok(volume) => {
                let verdict = vector.check(&volume);
                assert!(matches!(verdict, Verdict::Agrees(_)), "{verdict:?}");
                agreed += 1;
            }
            Err(_) => left_out.push(vector.name),
        }
    }
    let known = |name: &String| name.starts_with("btrfs-") || name.starts_with("dm-linear");
    assert!(left_out.iter().all(known), "{left_out:?}");
    assert!(agreed >= 60, "only {agreed} maps were compared");
}
