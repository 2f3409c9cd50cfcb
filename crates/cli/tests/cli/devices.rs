//! `ileave run --on disks` on block devices: loop devices over files of the test's own.
//!
//! Making one takes root, `losetup` and a kernel that knows how. A machine whose kernel or container lets
//! nobody make loop devices skips these tests even where everything is required (`ILEAVE_REQUIRE`), and
//! says so; a missing program is a failure there.

use super::{scratch, skipped};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// `O_EXCL` of asm-generic/fcntl.h: on a block device, nobody else may claim it.
const EXCLUSIVE: i32 = 0o200;

/// `EBUSY` of asm-generic/errno-base.h.
const BUSY: i32 = 16;

const IMAGE_BYTES: u64 = 4 << 20;

/// A loop device over a file, in a directory with experiments that read, write and go on for long.
struct Loop {
    directory: TempDir,
    name: String,
}

impl Loop {
    /// A device with sectors of so many bytes; nothing where none can be made here, which is said.
    fn new(sector_bytes: u32) -> Option<Self> {
        let directory = scratch();
        let image = directory.path().join("backing.img");
        fs::write(&image, vec![0xa5; IMAGE_BYTES as usize]).unwrap();
        let made = Command::new("losetup")
            .args(["--find", "--show", "--sector-size", &sector_bytes.to_string()])
            .arg(&image)
            .output();
        let Ok(made) = made else {
            skipped("there is no losetup (package mount)");
            return None;
        };
        if !made.status.success() {
            cannot_make(&String::from_utf8_lossy(&made.stderr));
            return None;
        }
        let name = String::from_utf8(made.stdout).unwrap().trim().to_string();
        let work = |op: &str, more: &str| {
            format!(
                "[volume]\nlevel = \"single\"\n[workload.{op}]\nkind = \"random\"\nop = \"{op}\"\n\
                 block = \"4KiB\"\ndepth = 4\n{more}\n"
            )
        };
        for (file, text) in [
            ("reads.toml", work("read", "count = 100")),
            ("writes.toml", work("write", "count = 100")),
            ("long.toml", work("read", "runtime = \"1s\"\nrequests_per_s = 200")),
            ("long-writes.toml", work("write", "runtime = \"1s\"\nrequests_per_s = 200")),
        ] {
            fs::write(directory.path().join(file), text).unwrap();
        }
        Some(Loop { directory, name })
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn image(&self) -> PathBuf {
        self.path().join("backing.img")
    }

    /// A run on the device, in the words of a command line.
    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ileave"));
        let arguments = arguments.replace("DEVICE", &self.name);
        command.arg("run").args(arguments.split(' ')).current_dir(self.path());
        command
    }

    /// Runs it; gives its exit status and errors.
    fn run(&self, arguments: &str) -> (i32, String) {
        said(&self.command(arguments).output().unwrap())
    }

    /// Runs it at a terminal, with this typed in.
    fn run_typing(&self, arguments: &str, typed: &str) -> Option<(i32, String)> {
        let command = format!(
            "'{}' run {}",
            env!("CARGO_BIN_EXE_ileave"),
            arguments.replace("DEVICE", &self.name)
        );
        let child = Command::new("script")
            .args(["--quiet", "--return", "--command", &command, "/dev/null"])
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            skipped("there is no script, which lends a terminal (package bsdutils)");
            return None;
        };
        child.stdin.take().unwrap().write_all(format!("{typed}\n").as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let (status, _) = said(&output);
        Some((status, String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    /// What is on the device, past every cache: what its file holds.
    fn bytes(&self) -> Vec<u8> {
        let device = OpenOptions::new().write(true).open(&self.name).unwrap();
        device.sync_all().unwrap();
        fs::read(self.image()).unwrap()
    }

    fn is_untouched(&self) -> bool {
        self.bytes().iter().all(|&byte| byte == 0xa5)
    }

    fn claim(&self) -> std::io::Result<File> {
        OpenOptions::new().read(true).custom_flags(EXCLUSIVE).open(&self.name)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.name]).status();
    }
}

/// Not even where everything is required is this a failure: no package mends it.
#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
fn cannot_make(why: &str) {
    eprintln!(
        "SKIPPED: this machine makes no loop devices (it takes root and the kernel's leave): {why}"
    );
}

fn said(output: &Output) -> (i32, String) {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().expect("nobody kills it"), errors)
}

/// Runs a program that the test needs; whether it is there and did what it should.
fn succeeds(program: &str, arguments: &[&str]) -> bool {
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            skipped(&format!("{program} failed: {}", String::from_utf8_lossy(&output.stderr)));
            false
        }
        Err(error) => {
            skipped(&format!("{program}: {error}"));
            false
        }
    }
}

/// Waits until a file of a run says so.
fn wait_for(directory: &Path, file: &str, word: &str) {
    for _ in 0..1000 {
        sleep(Duration::from_millis(10));
        if fs::read_to_string(directory.join(file)).is_ok_and(|text| text.contains(word)) {
            return;
        }
    }
    panic!("{file} never said {word}");
}

fn ends(child: Child) -> (i32, String) {
    said(&child.wait_with_output().unwrap())
}

#[test]
fn a_device_is_read_directly_and_stays_as_it_is() {
    let Some(device) = Loop::new(512) else { return };
    let (status, errors) = device.run("reads.toml --on disks --members DEVICE --out results");
    assert_eq!(status, 0, "{errors}");
    let manifest = fs::read_to_string(device.path().join("results/manifest.toml")).unwrap();
    let sectors = IMAGE_BYTES / 512;
    let expected =
        format!("\"0: {}\" = \"device of {sectors} sectors, cache = direct\"", device.name);
    assert!(manifest.contains(&expected), "{manifest}");
    assert!(device.is_untouched());
    let (status, errors) =
        device.run("reads.toml --on disks --members DEVICE --member-size 1GiB --out large");
    assert_eq!(status, 2);
    assert!(
        errors.contains(&format!("the {sectors} sectors (4MiB) of {}", device.name)),
        "{errors}"
    );
    let beyond =
        "reads.toml --on disks --members DEVICE --set workload.read.span=8MiB --out beyond";
    let (status, errors) = device.run(beyond);
    assert_eq!(status, 2);
    assert!(errors.contains("is more than the volume's 8192"), "{errors}");
}

#[test]
fn a_device_is_written_only_by_its_name() {
    let Some(device) = Loop::new(512) else { return };
    let run = "writes.toml --on disks --members DEVICE --write --out results";
    for arguments in [run.to_string(), format!("{run} --destroy=/dev/loop")] {
        let (status, errors) = device.run(&arguments);
        assert_eq!(status, 2);
        assert!(errors.contains("nothing was written. Type its name back"), "{errors}");
    }
    let Some((status, said)) = device.run_typing(run, &format!("{}0", device.name)) else { return };
    assert_eq!(status, 2, "another name is no consent: {said}");
    assert!(said.contains("block device of 4.2 MB. All data on it will be lost"), "{said}");
    assert!(device.is_untouched() && !device.path().join("results").exists());
    let (status, said) = device.run_typing(run, &device.name).unwrap();
    assert_eq!(status, 0, "{said}");
    assert!(!device.is_untouched());
    let (status, errors) =
        device.run(&format!("{} --destroy=DEVICE", run.replace("results", "second")));
    assert_eq!(status, 0, "{errors}");
}

#[test]
fn a_mounted_or_signed_device_is_refused_and_what_was_found_is_said() {
    let Some(device) = Loop::new(512) else { return };
    if !succeeds("mkfs.ext4", &["-q", &device.name]) {
        return;
    }
    let before = device.bytes();
    let run = "writes.toml --on disks --members DEVICE --write --out results";
    let (status, errors) = device.run(run);
    assert_eq!(status, 2);
    assert!(errors.contains("holds an ext2, ext3 or ext4 file system (at byte 1080)"), "{errors}");
    assert!(errors.contains(&format!("give `--destroy={}`", device.name)), "{errors}");
    let (status, errors) = device.run(&format!("{run} --overwrite-signed"));
    assert_eq!(status, 2, "that lets go of image files only: {errors}");
    let (status, errors) = device.run(&run.replace("DEVICE", "backing.img"));
    assert_eq!(status, 2);
    assert!(errors.contains(&format!("{} is a view of it", device.name)), "{errors}");
    assert!(device.bytes() == before);
    let _mounts = super::mounts();
    let at = device.path().join("mounted");
    fs::create_dir(&at).unwrap();
    if !succeeds("mount", &[&device.name, at.to_str().unwrap()]) {
        return;
    }
    let (status, errors) = device.run(&format!("{run} --destroy=DEVICE"));
    let reads = device.run("reads.toml --on disks --members DEVICE --out reads");
    assert!(succeeds("umount", &[at.to_str().unwrap()]));
    assert_eq!(status, 2);
    assert!(errors.contains(&format!("is mounted at {}", at.display())), "{errors}");
    assert_eq!(reads.0, 0, "{}", reads.1);
    assert!(reads.1.contains("the figures include other programs' I/O"), "{}", reads.1);
}

#[test]
fn a_device_is_claimed_while_it_is_written_and_not_taken_from_another() {
    let Some(device) = Loop::new(512) else { return };
    let run = "writes.toml --on disks --members DEVICE --write --destroy=DEVICE --out results";
    let claim = device.claim().unwrap();
    let (status, errors) = device.run(run);
    assert_eq!(status, 2);
    assert!(errors.contains("another program or the kernel holds"), "{errors}");
    assert!(device.is_untouched());
    drop(claim);
    let mut long = device.command(&run.replace("writes", "long-writes"));
    let child = long.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(device.path(), "results/attempts.jsonl", "started");
    let refused = device.claim().map(|_| ()).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(BUSY));
    let (status, errors) = ends(child);
    assert_eq!(status, 0, "{errors}");
    device.claim().unwrap();
}

#[test]
fn a_device_of_large_sectors_takes_whole_ones_only() {
    let Some(device) = Loop::new(4096) else { return };
    let run = "reads.toml --on disks --members DEVICE --out";
    let (status, errors) = device.run(&format!("{run} small --set workload.read.block=512B"));
    assert_eq!(status, 2);
    assert!(errors.contains("takes whole blocks of 8 sectors"), "{errors}");
    assert!(errors.contains("`workload.read.block` of 1 sectors"), "{errors}");
    let (status, errors) = device.run(&format!("{run} whole"));
    assert_eq!(status, 0, "{errors}");
    // A part that ends inside a block would make requests that cross from one member to the next start
    // there: only its whole blocks are used.
    let two = device.path().join("two.img");
    fs::write(&two, vec![1; 1 << 20]).unwrap();
    let run = "reads.toml --on disks --members two.img,DEVICE --member-size 1003 --out";
    let (status, errors) = device.run(&format!("{run} odd --set volume.level=concat"));
    assert_eq!(status, 0, "{errors}");
    let manifest = fs::read_to_string(device.path().join("odd/manifest.toml")).unwrap();
    assert!(manifest.contains("device of 1000 sectors"), "{manifest}");
    assert!(manifest.contains("two.img\" = \"file of 1000 sectors"), "{manifest}");
    let (status, errors) =
        device.run("reads.toml --on disks --members DEVICE --buffered --out odd-blocks --set workload.read.block=512B");
    assert_eq!(status, 0, "{errors}");
}

#[test]
fn a_device_that_fails_under_a_run_ends_it_and_loses_no_trial() {
    let Some(device) = Loop::new(512) else { return };
    let run = "long.toml --on disks --members DEVICE --repeat 3";
    let mut command = device.command(&format!("{run} --out results"));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(device.path(), "results/trials.jsonl", "trial");
    // What lies past the end of its file, a loop device cannot read.
    let image = OpenOptions::new().write(true).open(device.image()).unwrap();
    image.set_len(4096).unwrap();
    let (status, errors) = ends(child);
    assert_eq!(status, 1, "{errors}");
    let member = format!("member 0 ({}) failed: Read of 8 sectors", device.name);
    for part in [
        "trial ",
        &member,
        "the level has no redundancy for it",
        "continue with `--resume results`",
    ] {
        assert!(errors.contains(part), "{errors}");
    }
    let trials = || fs::read_to_string(device.path().join("results/trials.jsonl")).unwrap();
    let kept = trials();
    assert!((1..3).contains(&kept.lines().count()), "{kept}");
    image.set_len(IMAGE_BYTES).unwrap();
    let (status, errors) = device.run(&format!("{run} --resume results --retry-suspects"));
    assert_eq!(status, 0, "{errors}");
    assert!(kept.lines().all(|line| trials().contains(line)) && trials().lines().count() == 3);
}
