//! The layout of ext4, held against mke2fs itself on sparse files of this machine.

use sim::fs::ext4::geometry::{Geometry, Options};
use std::process::Command;

/// What dumpe2fs says of a file system, as far as we know it too: for each group its bitmaps, its table
/// and how many blocks are free.
fn dumped(options: &Options, kib: u64) -> Option<Vec<[u64; 5]>> {
    let image = format!("{}/mke2fs-{}.image", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    let number = |value: u64| value.to_string();
    let made = Command::new("mke2fs")
        .args(["-q", "-F", "-t", "ext4", "-E", "lazy_itable_init=1,lazy_journal_init=1"])
        .args(["-b", &number(options.block_bytes), "-i", &number(options.inode_ratio_bytes)])
        .args(["-I", &number(options.inode_bytes), "-G", &number(options.flex_groups)])
        // What newer versions turn on by themselves makes a file of its own.
        .args(["-O", "^orphan_file"])
        .args(["-O", if options.has_journal { "has_journal" } else { "^has_journal" }])
        .arg(&image)
        .arg(format!("{kib}k"))
        .output();
    let Ok(made) = made else {
        assert!(std::env::var_os("ILEAVE_REQUIRE").is_none(), "required, but there is no mke2fs");
        return None;
    };
    assert!(made.status.success(), "{kib} KiB: {}", String::from_utf8_lossy(&made.stderr));
    let dump = Command::new("dumpe2fs").arg(&image).output().expect("dumpe2fs comes with mke2fs");
    std::fs::remove_file(&image).expect("mke2fs has made it");
    Some(groups(&String::from_utf8_lossy(&dump.stdout)))
}

fn groups(dump: &str) -> Vec<[u64; 5]> {
    let after = |text: &str, word: &str| -> Option<u64> {
        let text = &text[text.find(word)? + word.len()..];
        text[..text.find(|c: char| !c.is_ascii_digit())?].parse().ok()
    };
    let group = |text: &str| {
        let table = text.find("Inode table at ").map(|at| &text[at..])?;
        Some([
            after(text, "Block bitmap at ")?,
            after(text, "Inode bitmap at ")?,
            after(table, "Inode table at ")?,
            after(table, "-")?,
            text.lines().find_map(|line| line.trim().split_once(" free blocks")?.0.parse().ok())?,
        ])
    };
    let texts =
        dump.split("\nGroup ").filter(|text| text.starts_with(|c: char| c.is_ascii_digit()));
    texts.map(|text| group(text).unwrap_or_else(|| panic!("not as it was: {text}"))).collect()
}

fn ours(options: Options, kib: u64) -> Vec<[u64; 5]> {
    let geometry = Geometry::new(options, kib * 2).expect("mke2fs makes it too");
    let group = |group: u64| {
        let places = &geometry.groups[group as usize];
        [
            places.block_bitmap,
            places.inode_bitmap,
            places.inode_table.start,
            places.inode_table.end - 1,
            geometry.free_blocks(group),
        ]
    };
    (0..geometry.group_count()).map(group).collect()
}

#[test]
fn groups_are_where_mke2fs_puts_them() {
    const GIB: u64 = 1 << 20;
    let usual = |kib: u64| (Options::for_bytes(kib * 1024), kib);
    let with = |kib: u64, change: &dyn Fn(&mut Options)| {
        let mut options = Options::for_bytes(kib * 1024);
        change(&mut options);
        (options, kib)
    };
    let cases = [
        usual(8 << 10),
        usual(100 << 10),
        usual(511 << 10),
        usual(600 << 10),
        usual(3 * GIB),
        usual(10 * GIB + 4 * 77_777),
        usual(100 * GIB),
        usual(200 * GIB),
        with(20 * GIB, &|options| options.inode_ratio_bytes = 4096),
        with(20 * GIB, &|options| options.inode_ratio_bytes = 1 << 20),
        with(20 * GIB, &|options| options.flex_groups = 1),
        with(20 * GIB, &|options| options.flex_groups = 64),
        with(20 * GIB, &|options| options.has_journal = false),
        with(GIB, &|options| options.block_bytes = 2048),
        with(GIB, &|options| options.inode_bytes = 128),
        // The last group is too small for its own blocks, and is left out.
        with(4 * GIB + 400, &|options| options.has_journal = true),
    ];
    for (options, kib) in cases {
        let Some(theirs) = dumped(&options, kib) else { return };
        let ours = ours(options, kib);
        for (group, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(ours, theirs, "group {group} of {kib} KiB with {options:?}");
        }
        assert_eq!(ours.len(), theirs.len(), "groups of {kib} KiB with {options:?}");
    }
}
