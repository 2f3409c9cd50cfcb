//! The guard on a recorded machine that this one need not be: LVM, md, multipath, bcache.

use lab::rig::guard::{Number, System, users_of_device};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// The machine of `tests/data/machines/server.txt`, as its kernel's trees.
struct Machine {
    directory: TempDir,
}

impl Machine {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine { directory };
        let text = include_str!("../../data/machines/server.txt");
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines: Vec<Vec<&str>> = lines.map(|l| l.split_whitespace().collect()).collect();
        machine.write("proc/swaps", "Filename Type Size Used Priority\n");
        for words in &lines {
            match words[0] {
                "mount" => machine.append(
                    "proc/self/mountinfo",
                    &format!("1 1 {} / {} rw - {} {} rw\n", words[1], words[3], words[4], words[2]),
                ),
                "swap" => machine.append("proc/swaps", &format!("{} partition 1 0 -2\n", words[1])),
                "btrfs" => {
                    for member in &words[2..] {
                        let file = format!("sys/fs/btrfs/{}/devices/{member}/dev", words[1]);
                        machine.write(&file, "");
                    }
                }
                "udev" => {
                    let lines: Vec<String> =
                        words[2..].iter().map(|w| format!("E:{w}\n")).collect();
                    machine.write(&format!("run/udev/data/b{}", words[1]), &lines.concat());
                }
                name => machine.device(name, words[1], &words[2..]),
            }
        }
        machine
    }

    fn device(&self, name: &str, number: &str, more: &[&str]) {
        let value = |key| more.iter().find_map(|word| word.strip_prefix(key));
        let below = value("of=").map_or(String::new(), |disk| format!("{disk}/"));
        let home = format!("sys/devices/block/{below}{name}");
        self.write(&format!("{home}/dev"), number);
        if !below.is_empty() {
            self.write(&format!("{home}/partition"), "1");
        }
        for link in [format!("sys/dev/block/{number}"), format!("sys/class/block/{name}")] {
            self.link(&home, &link);
        }
        if below.is_empty() {
            self.link(&home, &format!("sys/block/{name}"));
        }
        for slave in value("on=").into_iter().flat_map(|on| on.split(',')) {
            self.write(&format!("{home}/slaves/{slave}/dev"), "");
            self.write(&format!("sys/class/block/{slave}/holders/{name}/dev"), "");
        }
        for (file, text) in more.iter().filter_map(|word| word.split_once('=')) {
            if file != "of" && file != "on" {
                self.write(&format!("{home}/{file}"), text);
            }
        }
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn append(&self, file: &str, text: &str) {
        let before = fs::read_to_string(self.path().join(file)).unwrap_or_default();
        self.write(file, &(before + text));
    }

    fn link(&self, to: &str, at: &str) {
        let at = self.path().join(at);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(self.path().join(to), at).unwrap();
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn users(&self, name: &str) -> Vec<String> {
        let dev = self.path().join(format!("sys/class/block/{name}/dev"));
        let number = Number::parse(&fs::read_to_string(dev).unwrap()).unwrap();
        users_of_device(&System::recorded(self.path()), number, None)
    }

    /// That a device is in use, and why.
    fn refuses(&self, name: &str, why: &str) {
        let users = self.users(name);
        assert!(users.iter().any(|user| user.contains(why)), "{name}: {users:?}");
    }
}

#[test]
fn the_root_disk_under_a_logical_volume() {
    let machine = Machine::new();
    machine.refuses("nvme0n1", "nvme0n1 is the disk of the root file system");
    machine.refuses("nvme0n1", "nvme0n1p1 is mounted at /boot/efi");
    machine.refuses("nvme0n1", "dm-0 is mounted at /");
}

#[test]
fn a_spare_partition_of_the_root_disk() {
    Machine::new().refuses("nvme0n1p4", "nvme0n1 is the disk of the root file system");
}

#[test]
fn a_spare_logical_volume_on_the_root_disk() {
    Machine::new().refuses("dm-2", "nvme0n1 is the disk of the root file system");
}

#[test]
fn a_physical_volume_whose_logical_volume_is_swap() {
    let machine = Machine::new();
    machine.refuses("nvme0n1p3", "dm-1 is built on nvme0n1p3");
    machine.refuses("nvme0n1p3", "dm-1 is used as swap space");
    machine.refuses("dm-1", "dm-1 is used as swap space");
}

#[test]
fn a_member_of_a_running_md_array() {
    Machine::new().refuses("sdb1", "md0 is built on sdb1");
}

#[test]
fn the_disk_of_a_member_of_a_running_md_array() {
    let machine = Machine::new();
    machine.refuses("sda", "md0 is built on sda1");
    machine.refuses("sda", "md0 is mounted at /srv");
}

#[test]
fn a_mounted_md_array() {
    Machine::new().refuses("md0", "md0 is mounted at /srv");
}

#[test]
fn the_member_of_a_mounted_btrfs_that_no_mount_names() {
    Machine::new().refuses("sdd", "sdd is a member of the mounted btrfs 6ae1");
}

#[test]
fn a_disk_that_bcache_uses() {
    Machine::new().refuses("sde", "sde is used by bcache");
}

#[test]
fn a_path_of_a_multipath_disk() {
    Machine::new().refuses("sdh", "dm-3 is built on sdh");
}

#[test]
fn a_disk_that_a_loop_device_is_a_view_of() {
    let machine = Machine::new();
    machine.refuses("sdi", "/dev/loop0 is a view of sdi");
}

#[test]
fn a_compressed_swap_device() {
    Machine::new().refuses("zram0", "zram0 is used as swap space");
}

#[test]
fn a_disk_with_a_mounted_partition() {
    Machine::new().refuses("sdj", "sdj2 is mounted at /scratch");
}

/// What shares no sector with anything in use is free: the guard that refuses everything is none.
#[test]
fn what_nobody_uses_is_free() {
    let machine = Machine::new();
    for name in ["sdf", "sda2", "sdj1", "dm-3"] {
        assert_eq!(machine.users(name), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_serial_number_means_a_disk_and_none_of_its_partitions() {
    use lab::rig::guard::is_number_meant;
    let machine = Machine::new();
    let system = System::recorded(machine.path());
    let meant = |number: &str, name: &str| {
        is_number_meant(&system, Number::parse(number).unwrap(), &[name.to_string()])
    };
    for name in ["WD-F", "ATA_WDC_WD-F", "0x5000cca", "sdf"] {
        assert!(meant("8:80", name), "{name}");
    }
    assert!(meant("8:0", "WD-A") && !meant("8:2", "WD-A") && meant("8:2", "sda2"));
    for other in ["WD-", "WD-A", "sd", "sdf1", ""] {
        assert!(!meant("8:80", other), "{other}");
    }
}
