//! Loop devices over files of a test's own, gone when the test ends.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A loop device over a sparse file.
pub(crate) struct Planted {
    directory: TempDir,
    image: PathBuf,
    name: String,
}

/// A command that undoes something when it is dropped.
pub(crate) struct Undo {
    program: String,
    arguments: Vec<String>,
}

impl Planted {
    /// Large enough for a btrfs.
    pub(crate) const BYTES: u64 = 160 << 20;

    pub(crate) fn new(name: &str) -> Option<Self> {
        Planted::of(name, Self::BYTES)
    }

    /// A device of so many bytes; nothing where none can be made here, which is said.
    pub(crate) fn of(name: &str, bytes: u64) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join(name);
        File::create(&image).unwrap().set_len(bytes).unwrap();
        Planted::attach(directory, image)
    }

    /// One more device over a file or device.
    pub(crate) fn over(path: &Path) -> Option<Self> {
        Planted::attach(tempfile::tempdir().unwrap(), path.into())
    }

    /// One with a partition, and the partition's name.
    pub(crate) fn partitioned() -> Option<(Self, String)> {
        let planted = Planted::new("partitioned")?;
        let script = format!("echo ',,L' | sfdisk --quiet {}", planted.image.display());
        if !run_or_skip("sh", &["-c", &script])
            || !run_or_skip("losetup", &["--detach", &planted.name])
            || !run_or_skip("losetup", &["--partscan", &planted.name, &planted.image_name()])
        {
            return None;
        }
        let partition = format!("{}p1", planted.name);
        (0..100).find(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            Path::new(&partition).exists()
        })?;
        Some((planted, partition))
    }

    fn attach(directory: TempDir, image: PathBuf) -> Option<Self> {
        match run("losetup", &["--find", "--show", image.to_str().unwrap()]) {
            Ok(name) => Some(Planted { directory, image, name: name.trim().into() }),
            Err(why) => {
                skipped(&format!("this machine makes no loop devices: {why}"));
                None
            }
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.name)
    }

    pub(crate) fn image(&self) -> PathBuf {
        self.image.clone()
    }

    fn image_name(&self) -> String {
        self.image.display().to_string()
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Writes to the device.
    pub(crate) fn write(&self, bytes: &[u8], at: u64) {
        let device = OpenOptions::new().write(true).open(&self.name).unwrap();
        device.write_all_at(bytes, at).unwrap();
        device.sync_all().unwrap();
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = run("losetup", &["--detach", &self.name]);
        let _ = fs::remove_file(self.directory.path().join("other.img"));
    }
}

impl Undo {
    pub(crate) fn new(program: &str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Undo { program: program.into(), arguments }
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let _ = run(&self.program, &arguments);
    }
}

/// Runs a program; gives what it printed, or why it failed.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into()),
        Ok(output) => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

/// Runs a program that the test needs; whether it is there and did what it should.
pub(crate) fn run_or_skip(program: &str, arguments: &[&str]) -> bool {
    run(program, arguments).map_err(|why| skipped(&why)).is_ok()
}

/// Says that a test does not run.
#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
pub(crate) fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}
