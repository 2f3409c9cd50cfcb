//! Planted devices, each of which the guard must refuse: loop devices over files of the test's own.
//!
//! Making one takes root and a kernel that knows how; a machine that lets nobody skips these tests, and says so.

use super::planted::{Planted, Undo, run_or_skip};
use lab::rig::guard::{System, check, look};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

/// What the guard says of a path, whatever may be destroyed: in use is in use.
fn refused(path: &Path) -> String {
    let destroy = [path.display().to_string()];
    match check(&System::here(), path, &destroy) {
        Ok(()) => panic!("{} was not refused", path.display()),
        Err(error) => error.to_string(),
    }
}

/// That the guard refuses what stands on a device, and lets go of it for its owner alone.
fn signed(planted: &Planted, of: &str) {
    let found = look(&System::here(), planted.path()).unwrap();
    assert!(found.users.is_empty(), "{found:?}");
    assert!(found.signatures.iter().any(|sign| sign.of.contains(of)), "{found:?}");
    let name = planted.path().display().to_string();
    for others in [vec![], vec![format!("{name}0")], vec!["/dev".into()]] {
        let said = check(&System::here(), planted.path(), &others).unwrap_err().to_string();
        assert!(said.contains(of) && said.contains(&format!("--destroy={name}")), "{said}");
    }
    check(&System::here(), planted.path(), &[name]).unwrap();
}

/// A device with these bytes at one place.
fn marked(mark: &[u8], at: u64, of: &str) {
    let Some(planted) = Planted::new("marked") else { return };
    planted.write(mark, at);
    signed(&planted, of);
}

/// A device with a file system by its own program.
fn made(program: &str, arguments: &[&str], of: &str) {
    let Some(planted) = Planted::new("made") else { return };
    if run_or_skip(program, &[arguments, &[planted.name()]].concat()) {
        signed(&planted, of);
    }
}

/// A mounted ext4, with what unmounts it.
fn mounted() -> Option<(Planted, Undo)> {
    let planted = Planted::new("mounted")?;
    let at = planted.directory().join("mnt");
    fs::create_dir(&at).unwrap();
    let made = run_or_skip("mkfs.ext4", &["-q", planted.name()])
        && run_or_skip("mount", &[planted.name(), at.to_str().unwrap()]);
    let undo = Undo::new("umount", &[at.to_str().unwrap()]);
    made.then_some((planted, undo))
}

#[test]
fn a_mounted_device_by_its_name() {
    let Some((planted, _undo)) = mounted() else { return };
    assert!(refused(planted.path()).contains("is mounted at"));
}

#[test]
fn a_mounted_device_by_a_symbolic_link() {
    let Some((planted, _undo)) = mounted() else { return };
    let link = planted.directory().join("by-id");
    symlink(planted.path(), &link).unwrap();
    assert!(refused(&link).contains("is mounted at"));
}

#[test]
fn a_mounted_device_by_a_hard_link_of_its_node() {
    let Some((planted, _undo)) = mounted() else { return };
    let link = format!("{}-guard", planted.name());
    fs::hard_link(planted.path(), &link).unwrap();
    let said = refused(Path::new(&link));
    fs::remove_file(link).unwrap();
    assert!(said.contains("is mounted at"), "{said}");
}

#[test]
fn the_image_behind_a_loop_device() {
    let Some((planted, _undo)) = mounted() else { return };
    let said = refused(&planted.image());
    assert!(said.contains(&format!("{} is a view of it", planted.name())), "{said}");
}

#[test]
fn the_image_behind_a_loop_device_by_a_hard_link() {
    let Some((planted, _undo)) = mounted() else { return };
    let link = planted.directory().join("other.img");
    fs::hard_link(planted.image(), &link).unwrap();
    assert!(refused(&link).contains("is a view of it"));
}

#[test]
fn another_loop_device_over_a_mounted_image() {
    let Some((planted, _undo)) = mounted() else { return };
    let Some(second) = Planted::over(&planted.image()) else { return };
    let said = refused(second.path());
    assert!(said.contains(&format!("{} is a view of", planted.name())), "{said}");
}

#[test]
fn a_device_that_another_loop_device_lies_on() {
    let Some(planted) = Planted::new("below") else { return };
    let Some(second) = Planted::over(planted.path()) else { return };
    let said = refused(planted.path());
    assert!(said.contains(&format!("{} is a view of", second.name())), "{said}");
}

#[test]
fn a_disk_whose_partition_is_mounted() {
    let Some((planted, partition)) = Planted::partitioned() else { return };
    let at = planted.directory().join("mnt");
    fs::create_dir(&at).unwrap();
    if !run_or_skip("mkfs.ext4", &["-q", &partition])
        || !run_or_skip("mount", &[&partition, at.to_str().unwrap()])
    {
        return;
    }
    let _undo = Undo::new("umount", &[at.to_str().unwrap()]);
    assert!(refused(planted.path()).contains("p1 is mounted at"));
    assert!(refused(Path::new(&partition)).contains("p1 is mounted at"));
}

#[test]
fn a_disk_whose_partition_is_held() {
    let Some((planted, partition)) = Planted::partitioned() else { return };
    let _held = OpenOptions::new().read(true).custom_flags(0o200).open(&partition).unwrap();
    assert!(refused(planted.path()).contains("p1 for itself"));
}

#[test]
fn a_held_device() {
    let Some(planted) = Planted::new("held") else { return };
    let _held = OpenOptions::new().read(true).custom_flags(0o200).open(planted.path()).unwrap();
    assert!(refused(planted.path()).contains("another program or the kernel holds"));
}

#[test]
fn a_device_that_another_program_writes() {
    let Some(planted) = Planted::new("written") else { return };
    let mut writer = Command::new("sh")
        .args(["-c", &format!("exec 3<>{}; echo ready; read line", planted.name())])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 5];
    std::io::Read::read_exact(writer.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let said = refused(planted.path());
    drop(writer.stdin.take());
    writer.wait().unwrap();
    assert!(said.contains("has it open for writing"), "{said}");
}

#[test]
fn a_device_that_is_mounted_where_this_program_does_not_see_it() {
    let Some(planted) = Planted::new("elsewhere") else { return };
    if !run_or_skip("mkfs.ext4", &["-q", planted.name()]) {
        return;
    }
    let script = format!("mount {} /mnt && echo ready && read line", planted.name());
    let mut inside = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 5];
    std::io::Read::read_exact(inside.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let said = refused(planted.path());
    drop(inside.stdin.take());
    inside.wait().unwrap();
    assert!(said.contains("another program or the kernel holds"), "{said}");
}

#[test]
fn a_member_of_a_mounted_btrfs_that_no_mount_names() {
    let (Some(first), Some(second)) = (Planted::new("first"), Planted::new("second")) else {
        return;
    };
    let at = first.directory().join("mnt");
    fs::create_dir(&at).unwrap();
    if !run_or_skip("mkfs.btrfs", &["-q", "-f", "-draid1", "-mraid1", first.name(), second.name()])
        || !run_or_skip("btrfs", &["device", "scan", first.name(), second.name()])
        || !run_or_skip("mount", &[first.name(), at.to_str().unwrap()])
    {
        return;
    }
    let _undo = Undo::new("umount", &[at.to_str().unwrap()]);
    assert!(refused(first.path()).contains("is mounted at"));
    assert!(refused(second.path()).contains("is a member of the mounted btrfs"));
}

#[test]
fn a_member_of_a_btrfs_that_is_not_mounted() {
    made("mkfs.btrfs", &["-q", "-f"], "btrfs");
}

#[test]
fn swap_space_in_use() {
    let Some(planted) = Planted::new("swap") else { return };
    if !run_or_skip("mkswap", &[planted.name()]) || !run_or_skip("swapon", &[planted.name()]) {
        return;
    }
    let _undo = Undo::new("swapoff", &[planted.name()]);
    assert!(refused(planted.path()).contains("is used as swap space"));
}

#[test]
fn swap_space_that_is_not_in_use() {
    made("mkswap", &[], "swap space");
}

#[test]
fn the_disk_under_the_root() {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let root = mounts.lines().find(|line| line.split(' ').nth(4) == Some("/")).unwrap();
    let source = root.split(" - ").nth(1).and_then(|rest| rest.split(' ').nth(1)).unwrap();
    if !source.starts_with("/dev/") || !Path::new(source).exists() {
        return super::planted::skipped("the root file system is on no disk that can be seen");
    }
    let said = refused(Path::new(source));
    assert!(said.contains("is the disk of the root file system"), "{said}");
}

#[test]
fn an_ext4_file_system() {
    made("mkfs.ext4", &["-q"], "ext4");
}

#[test]
fn an_xfs_file_system() {
    let Some(planted) = Planted::of("xfs", 320 << 20) else { return };
    if run_or_skip("mkfs.xfs", &["-q", planted.name()]) {
        signed(&planted, "XFS");
    }
}

#[test]
fn an_f2fs_file_system() {
    made("mkfs.f2fs", &["-q"], "F2FS");
}

#[test]
fn an_old_md_superblock_at_the_end_alone() {
    let end = Planted::BYTES / 65_536 * 65_536 - 65_536;
    marked(&[0xfc, 0x4e, 0x2b, 0xa9], end, "md member (metadata 0.90)");
}

#[test]
fn a_newer_md_superblock() {
    marked(&[0xfc, 0x4e, 0x2b, 0xa9], 4096, "md member (metadata 1.2)");
}

#[test]
fn a_fake_raid_superblock_at_the_end() {
    marked(b"Intel Raid ISM Cfg Sig. 1.0", Planted::BYTES - 1024, "Intel (IMSM) RAID member");
}

#[test]
fn a_physical_volume_of_lvm() {
    marked(b"LABELONE", 512, "LVM physical volume");
}

#[test]
fn a_zfs_label() {
    marked(&0x00ba_b10c_u64.to_le_bytes(), 128 * 1024 + 4096, "ZFS label");
}

#[test]
fn a_bcache_superblock() {
    let magic = [198, 133, 115, 246, 78, 26, 69, 202, 130, 101, 245, 127, 72, 186, 109, 129];
    marked(&magic, 4096 + 24, "bcache");
}

#[test]
fn a_luks_volume() {
    marked(b"LUKS\xba\xbe", 0, "LUKS volume");
}

#[test]
fn a_partition_table_that_names_no_partition() {
    marked(b"EFI PART", 512, "GPT partition table");
}

#[test]
fn the_copy_of_a_partition_table_at_the_end() {
    marked(b"EFI PART", Planted::BYTES - 512, "GPT partition table's copy");
}

/// A blank device is lost by its own name only, by whatever way that leads to it.
#[test]
fn a_blank_device_is_lost_by_its_own_name_only() {
    let Some(planted) = Planted::new("blank") else { return };
    let Some(other) = Planted::new("other") else { return };
    let check = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        check(&System::here(), planted.path(), &names).map_err(|error| error.to_string())
    };
    let link = planted.directory().join("link");
    symlink(planted.path(), &link).unwrap();
    let kernels = planted.name().strip_prefix("/dev/").unwrap();
    for name in [planted.name(), kernels, link.to_str().unwrap()] {
        assert_eq!(check(&[name]), Ok(()));
    }
    for names in [&[][..], &[other.name()], &["loop"], &["/dev/"], &["*"], &[""]] {
        assert!(check(names).unwrap_err().contains("would lose all its data"), "{names:?}");
    }
}
