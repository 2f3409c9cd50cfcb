//! Nothing is touched that was not named, was not agreed to, or is somebody's.

use super::support::Images;
use lab::rig::disks::Access;
use lab::rig::disks::members::{self, Options};
use lab::rig::guard::find_signatures;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};

/// What opening says; no device is ever confirmed.
fn refusal(options: &Options) -> String {
    match members::open(options, &mut |_, _| Ok(false)) {
        Ok(_) => panic!("{options:?} was opened"),
        Err(error) => error.to_string(),
    }
}

fn writing(paths: &[PathBuf]) -> Options {
    Options { paths: paths.to_vec(), write: true, ..Options::default() }
}

fn opens(options: &Options) -> Vec<members::Member> {
    members::open(options, &mut |_, _| Ok(false)).unwrap().0
}

#[test]
fn a_signed_image_is_refused_for_writing_unless_it_may_be_lost() {
    let images = Images::new(&[4096, 4096]);
    let signed = OpenOptions::new().write(true).open(&images.paths[1]).unwrap();
    signed.write_all_at(&[0x53, 0xef], 1080).unwrap();
    let before = images.bytes();
    let message = refusal(&writing(&images.paths));
    for part in [
        "1.img holds an ext2, ext3 or ext4 file system (at byte 1080)",
        "the first 4096 sectors (2MiB) of",
        "nothing was written",
        "--overwrite-signed",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert!(images.bytes() == before);
    opens(&Options { overwrite_signed: true, ..writing(&images.paths) });
    opens(&Options { write: false, ..writing(&images.paths) });
}

#[test]
fn the_same_disk_by_two_names_is_one_disk() {
    let images = Images::new(&[64]);
    let link = images.directory.path().join("link.img");
    symlink(&images.paths[0], &link).unwrap();
    let hard = images.directory.path().join("hard.img");
    fs::hard_link(&images.paths[0], &hard).unwrap();
    for other in [&images.paths[0], &link, &hard] {
        let options =
            Options { paths: vec![images.paths[0].clone(), other.clone()], ..Options::default() };
        assert!(refusal(&options).contains("overlap; name each disk once"));
    }
}

#[test]
fn two_runs_do_not_share_an_image() {
    let images = Images::new(&[64, 64]);
    let reading = Options { write: false, ..writing(&images.paths) };
    // Of two that read one disk, each measures the other.
    for (first, second) in [
        (&writing(&images.paths), &writing(&images.paths)),
        (&reading, &reading),
        (&reading, &writing(&images.paths[1..])),
    ] {
        let has_it = opens(first);
        let said = refusal(second);
        let own = format!("process {} (`", std::process::id());
        assert!(said.contains(" is used by ") && said.contains("wait for it to end"), "{said}");
        assert!(said.contains(&own) || said.contains("another program"), "{said}");
        drop(has_it);
        opens(second);
    }
}

#[test]
fn files_are_made_only_where_that_was_asked_for_and_hold_no_signature() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new.img");
    let options = Options { paths: vec![path.clone()], ..Options::default() };
    assert!(refusal(&options).contains("`--create SIZE` creates missing image files"));
    assert!(!path.exists());
    opens(&Options { create_bytes: Some(3 << 20), ..options.clone() });
    let file = File::open(&path).unwrap();
    assert_eq!(
        (file.metadata().unwrap().len(), find_signatures(&file, 3 << 20).unwrap()),
        (3 << 20, vec![])
    );
    // What is there stays as it is, and is no member beside new ones of another size.
    fs::write(&path, [0xff; 4096]).unwrap();
    let other = Options { create_bytes: Some(1 << 20), ..options };
    assert!(refusal(&other).contains("has 4KiB, not the 1MiB of `--create`"));
    let members = opens(&Options { member_sectors: Some(8), ..other });
    assert_eq!((members[0].sectors, fs::read(&path).unwrap()), (8, vec![0xff; 4096]));
}

#[test]
fn no_size_but_what_is_there() {
    let images = Images::new(&[64]);
    let options = Options { paths: images.paths.clone(), ..Options::default() };
    let message = refusal(&Options { member_sectors: Some(65), ..options.clone() });
    assert!(message.contains("--member-size of 65 sectors (33.3 kB) is more than"), "{message}");
    assert_eq!(opens(&Options { member_sectors: Some(10), ..options })[0].sectors, 10);
    fs::write(&images.paths[0], b"").unwrap();
    let options = Options { paths: images.paths.clone(), ..Options::default() };
    assert!(refusal(&options).contains("smaller than one sector"));
    let options = Options { paths: vec![Path::new("/dev/null").into()], ..Options::default() };
    assert!(refusal(&options).contains("neither a file nor a block device"));
}

#[test]
fn buffered_and_sparse_members_are_warned_of() {
    let images = Images::new(&[2048]);
    let options = Options { paths: images.paths.clone(), buffered: true, ..Options::default() };
    let (members, warnings) = members::open(&options, &mut |_, _| Ok(false)).unwrap();
    assert!(matches!(members[0].access, Access::Cold | Access::Warm));
    assert!(warnings[0].contains("through the page cache"), "{warnings:?}");
    // One run has an image at a time.
    drop(members);
    File::create(&images.paths[0]).unwrap().set_len(1 << 20).unwrap();
    let (_, warnings) = members::open(&options, &mut |_, _| Ok(false)).unwrap();
    assert!(warnings.iter().any(|warning| warning.contains("has holes")), "{warnings:?}");
}

/// Memory is no disk, and it is said.
#[test]
fn members_in_memory_are_named() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else { return };
    let path = directory.path().join("a.img");
    let options = Options { paths: vec![path], create_bytes: Some(1 << 20), ..Options::default() };
    let (members, warnings) = members::open(&options, &mut |_, _| Ok(false)).unwrap();
    assert_eq!(members[0].in_memory, Some("tmpfs"));
    assert!(warnings.iter().any(|warning| warning.contains("lies in memory")), "{warnings:?}");
}
