//! Makes the kernel from its source, once, and keeps it under the user's cache directory by version and by what it was
//! made with.

mod source;
mod tools;

pub use source::Source;
pub use tools::check as check_tools;

use crate::{Error, Result};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is merged over `tinyconfig`.
const CONFIGURATION: &str = include_str!("../kernel/config");

/// Changes to the source, by name, in the order in which they are made.
const PATCHES: [(&str, &str); 4] = [
    ("whole-register-state.patch", include_str!("../kernel/whole-register-state.patch")),
    ("same-random-numbers.patch", include_str!("../kernel/same-random-numbers.patch")),
    ("cost-of-the-clock.patch", include_str!("../kernel/cost-of-the-clock.patch")),
    ("fewer-messages.patch", include_str!("../kernel/fewer-messages.patch")),
];

/// A kernel that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its program.
    pub path: PathBuf,
    /// Its version, as in `6.1.176`.
    pub version: String,
    /// What it was made with: the first digits of a SHA-256 of configuration and patches.
    pub digest: String,
}

/// What is being done while a kernel is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A part of the work begins.
    Doing(&'a str),
    /// This many files are compiled, of about so many.
    Compiled {
        /// So far.
        files: u64,
        /// About.
        of_about: u64,
    },
}

/// The files that this configuration compiles of 6.1, counted once.
const FILES_ABOUT: u64 = 645;

/// The digits of a digest that name a kernel.
const DIGEST_DIGITS: usize = 12;

/// The directory of kernels.
///
/// # Errors
///
/// Where neither `XDG_CACHE_HOME` nor `HOME` says where a user's caches are.
pub fn cache() -> Result<PathBuf> {
    let of =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = of("XDG_CACHE_HOME").or_else(|| of("HOME").map(|home| home.join(".cache")));
    let caches =
        caches.ok_or_else(|| Error::new("no cache directory: set HOME or XDG_CACHE_HOME"))?;
    Ok(caches.join("ileave").join("kernels"))
}

/// The digest of what kernels are made with now.
pub fn digest() -> String {
    let mut hash = Sha256::new();
    hash.update(CONFIGURATION);
    for (_, patch) in PATCHES {
        hash.update(patch);
    }
    let mut digits = String::new();
    for byte in hash.finalize() {
        write!(digits, "{byte:02x}").expect("a string grows");
    }
    digits.truncate(DIGEST_DIGITS);
    digits
}

/// All kernels of a cache, by version; those of other configurations too.
///
/// # Errors
///
/// Where the directory is there and cannot be read.
pub fn kept(cache: &Path) -> Result<Vec<Kernel>> {
    let mut kernels = Vec::new();
    if !cache.exists() {
        return Ok(kernels);
    }
    let read = |error: std::io::Error| Error::from(error).context(cache.display());
    for entry in fs::read_dir(cache).map_err(read)? {
        let entry = entry.map_err(read)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path().join("linux");
        let Some((version, digest)) = name.split_once('-') else { continue };
        if path.is_file() && version.starts_with(|c: char| c.is_ascii_digit()) {
            kernels.push(Kernel { path, version: version.into(), digest: digest.into() });
        }
    }
    kernels.sort_by_key(|kernel| (numbers(&kernel.version), kernel.digest.clone()));
    Ok(kernels)
}

/// A version's numbers, so that 6.10 comes behind 6.9.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|number| number.parse().unwrap_or(0)).collect()
}

/// The newest kernel that was made with today's configuration.
///
/// # Errors
///
/// Where there is none; the message says how to make one.
pub fn newest(cache: &Path) -> Result<Kernel> {
    let digest = digest();
    let mut kernels = kept(cache)?;
    kernels.retain(|kernel| kernel.digest == digest);
    kernels.pop().ok_or_else(|| {
        Error::new(format!(
            "there is no kernel in {}; make one with `ileave kernel build`, which takes some minutes once",
            cache.display()
        ))
    })
}

/// Makes the kernel of `source` into `cache`, unless it is there; `tell` is told of each step.
///
/// # Errors
///
/// Where a tool is missing, with the package that has it; where the source does not take the patches or the
/// configuration; or where the compiler fails, with its last lines.
pub fn build(source: &Source, cache: &Path, tell: &mut dyn FnMut(Step<'_>)) -> Result<Kernel> {
    check_tools()?;
    fs::create_dir_all(cache).map_err(|error| Error::from(error).context(cache.display()))?;
    let work = Work::new(cache)?;
    tell(Step::Doing("unpacking the source"));
    let tree = source.unpack(&work.0.join("source"))?;
    let version = source::version(&tree)?;
    let kept = cache.join(format!("{version}-{}", digest()));
    let kernel = Kernel { path: kept.join("linux"), version, digest: digest() };
    if kernel.path.is_file() {
        return Ok(kernel);
    }
    tell(Step::Doing("patching and configuring"));
    patch(&tree)?;
    let made = work.0.join("build");
    configure(&tree, &made)?;
    tell(Step::Doing("compiling"));
    compile(&tree, &made, tell)?;
    // Whole or not at all.
    let draft = work.0.join("kept");
    fs::create_dir(&draft)?;
    fs::copy(made.join("linux"), draft.join("linux"))?;
    fs::copy(made.join(".config"), draft.join("config"))?;
    match fs::rename(&draft, &kept) {
        // Somebody else was quicker.
        Err(_) if kernel.path.is_file() => {}
        renamed => renamed.map_err(|error| Error::from(error).context(kept.display()))?,
    }
    Ok(kernel)
}

/// A directory to work in, gone with this.
struct Work(PathBuf);

impl Work {
    fn new(cache: &Path) -> Result<Self> {
        let directory = cache.join(format!(".build-{}", std::process::id()));
        fs::create_dir_all(&directory)
            .map_err(|error| Error::from(error).context(directory.display()))?;
        Ok(Work(directory))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // What is left takes room and harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn patch(tree: &Path) -> Result<()> {
    for (name, text) in PATCHES {
        let file = tree.join(name);
        fs::write(&file, text)?;
        let mut command = Command::new("patch");
        command.args(["--forward", "--strip=1", "--input", name]).current_dir(tree);
        run(command).map_err(|error| error.context(format!("the source does not take {name}")))?;
    }
    Ok(())
}

/// Writes the configuration, and looks whether all of it came through.
fn configure(tree: &Path, made: &Path) -> Result<()> {
    fs::create_dir_all(made)?;
    run(make(tree, made, &["tinyconfig"]))?;
    let wanted = made.join("ileave.config");
    fs::write(&wanted, CONFIGURATION)?;
    let mut merge = Command::new("scripts/kconfig/merge_config.sh");
    merge.args(["-m", "-O"]).arg(made).arg(made.join(".config")).arg(&wanted).current_dir(tree);
    run(merge)?;
    run(make(tree, made, &["olddefconfig"]))?;
    let got = fs::read_to_string(made.join(".config"))?;
    let lacks = lacking(CONFIGURATION, &got);
    if lacks.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!(
        "this source does not have what a virtual-time kernel needs: {}; take Debian's linux-source-6.1",
        lacks.join(", ")
    )))
}

/// The lines of `wanted` that `got` does not have.
fn lacking<'a>(wanted: &'a str, got: &str) -> Vec<&'a str> {
    let there: std::collections::BTreeSet<&str> = got.lines().collect();
    let is_there = |line: &str| match line.strip_suffix("=n") {
        Some(name) => !there.iter().any(|line| line.starts_with(&format!("{name}="))),
        None => there.contains(line),
    };
    let options = wanted.lines().filter(|line| line.starts_with("CONFIG_"));
    options.filter(|line| !is_there(line)).collect()
}

fn make(tree: &Path, made: &Path, targets: &[&str]) -> Command {
    let mut command = Command::new("make");
    command.arg("ARCH=um").arg(format!("O={}", made.display())).args(targets).current_dir(tree);
    // The same source gives the same kernel, whoever makes it and when.
    command.env("KBUILD_BUILD_TIMESTAMP", "2026-01-01").env("KBUILD_BUILD_USER", "ileave");
    command.env("KBUILD_BUILD_HOST", "ileave").env("KBUILD_BUILD_VERSION", "1").env("LC_ALL", "C");
    command
}

fn compile(tree: &Path, made: &Path, tell: &mut dyn FnMut(Step<'_>)) -> Result<()> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let errors = made.join("errors");
    let mut command = make(tree, made, &["linux", &format!("-j{jobs}")]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(File::create(&errors)?)
        .spawn()?;
    let mut files = 0;
    let output = child.stdout.take().expect("it is piped");
    for line in BufReader::new(output).lines() {
        if line?.trim_start().starts_with("CC ") {
            files += 1;
            tell(Step::Compiled { files, of_about: FILES_ABOUT.max(files) });
        }
    }
    if child.wait()?.success() && made.join("linux").is_file() {
        return Ok(());
    }
    let said = fs::read(&errors).unwrap_or_default();
    Err(Error::new(format!("the kernel does not compile: {}", last_lines(&said))))
}

/// Runs a command to its end.
fn run(mut command: Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Error::from(error).context(&name))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(Error::new(format!("{name} failed: {}", last_lines(&said))))
}

fn last_lines(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(5)..].join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_did_not_come_through_is_named() {
        let wanted = "# words\nCONFIG_A=y\nCONFIG_B=n\nCONFIG_C=\"x\"\n";
        assert!(lacking(wanted, "CONFIG_A=y\nCONFIG_C=\"x\"\n").is_empty());
        assert!(lacking(wanted, "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=\"x\"\n").is_empty());
        assert_eq!(lacking(wanted, "CONFIG_B=y\n"), ["CONFIG_A=y", "CONFIG_B=n", "CONFIG_C=\"x\""]);
        assert!(lacking(CONFIGURATION, "").contains(&"CONFIG_UML_TIME_TRAVEL_SUPPORT=y"));
    }

    #[test]
    fn the_newest_kernel_of_todays_configuration_is_taken() {
        let cache = tempfile::tempdir().unwrap();
        let said = newest(cache.path()).unwrap_err().to_string();
        assert!(said.contains("`ileave kernel build`"), "{said}");
        let digest = digest();
        for name in [format!("6.9.4-{digest}"), format!("6.10.1-{digest}"), "7.3.0-other".into()] {
            fs::create_dir(cache.path().join(&name)).unwrap();
            fs::write(cache.path().join(&name).join("linux"), "").unwrap();
        }
        // One that was broken off.
        fs::create_dir(cache.path().join(".build-7")).unwrap();
        assert_eq!(newest(cache.path()).unwrap().version, "6.10.1");
        assert_eq!(kept(cache.path()).unwrap().len(), 3);
    }
}
