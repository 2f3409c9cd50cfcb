//! `--on kernel` and its flags.

use super::{Cpu, KernelRig, Processors};
use crate::capabilities::{Capabilities, Members, Uses};
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Setting, parse_size};
use crate::rig::{Given, Opening, Rig, RigFlag, RigKind, Takes};
use block::SECTOR_BYTES;
use rustix::thread::sched_getaffinity;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use uml::build;

/// What `--on kernel` is.
pub(in crate::rig) const KIND: RigKind = RigKind {
    name: "kernel",
    about: "A real Linux kernel in virtual time, on modelled drives; make it by `ileave kernel build`",
    capabilities: || Capabilities {
        members: Members::Modelled,
        host_is_modelled: false,
        uses: Uses::BlocksAndFiles,
        lanes: 1,
        repeats: 1,
        durable_starts: false,
    },
    flags: &[GUEST_MEMORY, TRIAL_LIMIT, KEEP_TRACE, CPU],
    open,
};

const GUEST_MEMORY: RigFlag = RigFlag {
    name: "guest-memory",
    about: "Memory of the guest, most of it page cache [default: 512MiB; 2GiB where requests are written through the page cache]",
    takes: Takes::Value("SIZE"),
    needs: None,
    for_results: false,
};
const TRIAL_LIMIT: RigFlag = RigFlag {
    name: "trial-limit",
    about: "How long a trial may take by the clock on the wall [default: 1800]",
    takes: Takes::Value("SECONDS"),
    needs: None,
    for_results: false,
};
const KEEP_TRACE: RigFlag = RigFlag {
    name: "keep-trace",
    about: "Keep every command of the drives with the results: CSV, blkparse's text and fio's iolog 3",
    takes: Takes::Nothing,
    needs: None,
    for_results: true,
};

const CPU: RigFlag = RigFlag {
    name: "cpu",
    about: "Host whose processor each command to a drive takes for as long as its file says (`volume_command_us`), as in \
            linux-6.1 [default: none, the processor takes no time]",
    takes: Takes::Value("HOST"),
    needs: None,
    for_results: false,
};

const MEMORY_MIB: u64 = 512;
/// With less, buffered writes to fast disks wait for memory, and what is read ahead may be gone before it is read.
const BUFFERED_MIB: u64 = 2048;
/// Less does not boot; more than the largest machine has is a typo.
const MEMORY_MIB_RANGE: std::ops::RangeInclusive<u64> = 64..=1 << 20;
const LIMIT_S: u64 = 1800;

fn open(given: &Given, opening: &mut Opening<'_>) -> Result<Box<dyn Rig>> {
    let mib = |text: &str| {
        let mib = parse_size(text)?.saturating_mul(SECTOR_BYTES) >> 20;
        let is_sound = MEMORY_MIB_RANGE.contains(&mib);
        is_sound.then_some(mib).ok_or_else(|| Error::input("take 64MiB or more, as in 1GiB"))
    };
    let seconds = |text: &str| {
        let seconds = text.parse().ok().filter(|seconds| *seconds > 0);
        seconds.ok_or_else(|| Error::input("not a number of seconds; write one, as in 600"))
    };
    let is_buffered = buffered(opening.experiment).next().is_some();
    let usual_mib = if is_buffered { BUFFERED_MIB } else { MEMORY_MIB };
    let memory_mib = given.read(GUEST_MEMORY.name, mib)?.pop().unwrap_or(usual_mib);
    let limit_s = given.read(TRIAL_LIMIT.name, seconds)?.pop().unwrap_or(LIMIT_S);
    let cpu = given.read(CPU.name, Cpu::of)?.pop();
    let cache = build::cache().map_err(Error::input)?;
    let kernel = build::newest(&cache).map_err(Error::input)?;
    let program = std::env::current_exe()
        .map_err(|error| Error::failure(format!("cannot find this program: {error}")))?;
    check_path(&program)?;
    let stopped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stopped);
    opening.undo.add(move || flag.store(true, Ordering::SeqCst));
    Ok(Box::new(KernelRig {
        kernel,
        program,
        memory_mib,
        limit: Duration::from_secs(limit_s),
        experiment: opening.experiment.clone(),
        warnings: shortness(opening.experiment, memory_mib).into_iter().collect(),
        refused: Mutex::default(),
        keeps_trace: given.has(KEEP_TRACE.name),
        cpu,
        processors: PROCESSORS.get_or_init(|| Processors::new(processors(), cache)),
        stopped,
    }))
}

/// Workloads of the experiment that use the page cache, by the start of their keys.
fn buffered(experiment: &Experiment) -> impl Iterator<Item = &str> {
    let settings = experiment.settings().iter();
    let off = settings.filter(|(_, setting)| may_be(setting, "false"));
    off.filter_map(|(path, _)| path.strip_suffix(".direct"))
}

fn may_be(setting: &Setting, text: &str) -> bool {
    setting.values.iter().any(|value| value.to_string() == text)
}

/// Whether anything is written through the page cache.
fn writes_buffered(experiment: &Experiment) -> bool {
    let key = |work: &str, key: &str| experiment.settings().get(&format!("{work}.{key}"));
    buffered(experiment).any(|work| {
        key(work, "reads_percent").is_some()
            || key(work, "op").is_some_and(|op| may_be(op, "write"))
    })
}

/// What may hold up buffered writes in a guest with so much memory: docs/md.md has what they make with how much.
fn shortness(experiment: &Experiment, memory_mib: u64) -> Option<String> {
    (memory_mib < BUFFERED_MIB && writes_buffered(experiment)).then(|| {
        format!(
            "writes through the page cache of a guest with {memory_mib} MiB stay below 1 to 2 GB/s for want of memory, whatever the \
             disks can do; where they come near that, give `--{} {}GiB`",
            GUEST_MEMORY.name,
            BUFFERED_MIB / 1024
        )
    })
}

/// A kernel's command line is cut at spaces.
fn check_path(program: &Path) -> Result<()> {
    let said = program.display().to_string();
    if said.contains(char::is_whitespace) {
        return Err(Error::input(format!(
            "{said}: a guest cannot run a program whose path has a space; move it to another directory"
        )));
    }
    // Within the guest, the memory of the host is not there.
    if program.starts_with(PathBuf::from("/dev")) || program.starts_with("/run") {
        return Err(Error::input(format!(
            "{said}: a guest has directories of its own at /dev and /run; move the program to another"
        )));
    }
    Ok(())
}

/// Those of this program: rigs that are open at the same time, of one experiment each, take none from each other.
static PROCESSORS: OnceLock<Processors> = OnceLock::new();

/// The processors that this program may run on.
fn processors() -> Vec<usize> {
    let Ok(allowed) = sched_getaffinity(None) else { return vec![0] };
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_guest_is_said_to_hold_up_buffered_writes() {
        let said = |direct: &str, op: &str, memory_mib| {
            let text =
                format!("[workload.w]\nkind = \"sequential\"\nop = \"{op}\"\ndirect = {direct}");
            shortness(&Experiment::parse("some.toml", &text).unwrap(), memory_mib)
        };
        let short = said("[true, false]", "write", 512).unwrap();
        assert!(short.contains("512 MiB") && short.contains("`--guest-memory 2GiB`"), "{short}");
        assert_eq!([said("true", "write", 512), said("false", "write", 2048)], [None, None]);
        assert_eq!(said("false", "read", 512), None);
    }
}
