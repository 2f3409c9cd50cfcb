//! The state that real members are in before a trial, by the words of modelled flash drives: `fresh`, everything discarded
//! before each trial; `steady`, written in order once and then at random until the rate stays, before the first.

use super::disks::Noise;
use super::mounted::Device;
use super::observed::queue;
use crate::error::{Error, Result};
use crate::estimate::time_words;
use crate::rig::site::Step;
use block::SECTOR_BYTES;
use block::units::format_bytes;
use rustix::fs::fdatasync;
use rustix::io::pwrite;
use std::fmt;
use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use uring::Buffer;

/// A state that members can be brought into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Fresh,
    Steady,
}

/// How long filling may take.
const LIMIT: Duration = Duration::from_secs(24 * 3600);
/// How long a discard may take, in s.
const DISCARD_LIMIT_S: u64 = 600;
/// What is written at a time, in order and at random.
const IN_ORDER_BYTES: u64 = 1 << 20;
const AT_RANDOM_BYTES: u64 = 4096;
/// Writes at random that are under way on a member at a time.
const WRITERS: u64 = 16;
/// Random writes come in rounds of this part of a member: at least as much as it holds, at most three times as much.
const ROUND_PART: u64 = 4;
const ROUNDS_MIN: usize = 4;
const ROUNDS_MAX: usize = 12;
/// Between two rounds whose rates are so close nothing changes any more.
const SETTLED_SHARE: f64 = 0.1;

/// What members are assumed to write for the estimate: in order and at random, in bytes per s. A flash drive of today that
/// is full, and a disk.
const ASSUMED: [(&str, f64, f64); 2] =
    [("flash", 500e6, 100e6), ("disks", 100e6, 150.0 * AT_RANDOM_BYTES as f64)];

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Fresh => "fresh",
            State::Steady => "steady",
        })
    }
}

/// Reads `fresh` or `steady`.
///
/// # Errors
///
/// Where it is neither.
pub(crate) fn parse(text: &str) -> Result<State> {
    [State::Fresh, State::Steady].into_iter().find(|state| state.to_string() == text).ok_or_else(
        || {
            Error::input(
                "real members can be made fresh (all discarded before each trial) or steady (filled until the rate \
                 is steady); write one of the two",
            )
        },
    )
}

/// Whether a member discards what it is told to; those that nobody can ask are taken for such.
fn discards(device: &Device) -> bool {
    let is_device = !std::path::Path::new(&device.path).is_file();
    is_device && queue(device, "discard_max_bytes") != Some(0)
}

impl State {
    /// What makes figures in this state doubtful on these members.
    pub(crate) fn doubts(self, devices: &[Device]) -> Option<String> {
        if self != State::Fresh {
            return None;
        }
        let kept: Vec<&str> =
            devices.iter().filter(|d| !discards(d)).map(|d| d.path.as_str()).collect();
        (!kept.is_empty()).then(|| {
            format!(
                "state fresh: {} can discard nothing and stays as it was; the others are empty before each trial",
                kept.join(", ")
            )
        })
    }

    /// What makes members fresh, a command for each that can be.
    pub(crate) fn steps(devices: &[Device]) -> Vec<Step> {
        let limit = Duration::from_secs(DISCARD_LIMIT_S);
        let words = |device: &Device| {
            Step::new(["blkdiscard", "--force", &device.path].map(String::from)).within(limit)
        };
        devices.iter().filter(|device| discards(device)).map(words).collect()
    }

    /// Makes members fresh that can be.
    ///
    /// # Errors
    ///
    /// Where one refuses.
    pub(crate) fn discard(devices: &[Device]) -> Result<()> {
        for step in State::steps(devices) {
            let failed = |what: String| Error::failure(format!("`{step}` failed: {what}"));
            let output = Command::new("timeout")
                .arg(DISCARD_LIMIT_S.to_string())
                .args(&step.words)
                .stdin(Stdio::null())
                .output()
                .map_err(|error| failed(error.to_string()))?;
            if !output.status.success() {
                return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_string()));
            }
        }
        Ok(())
    }

    /// Whether members may be brought into it.
    ///
    /// # Errors
    ///
    /// Where they may not be written.
    pub(crate) fn check(state: Option<State>, may_write: bool) -> Result<()> {
        match state {
            Some(state) if !may_write => Err(Error::input(format!(
                "--state {state}: it takes writing to the members, whose data would be lost; give `--write` if that \
                 is meant"
            ))),
            _ => Ok(()),
        }
    }

    /// What will be done to the members, and how long that may take.
    pub(crate) fn words(state: Option<State>, devices: &[Device]) -> Option<String> {
        let bytes = devices.iter().map(|device| device.sectors).max()? * SECTOR_BYTES;
        let members = match devices.len() {
            1 => "the member".to_string(),
            count => format!("each of the {count} members"),
        };
        if state? == State::Fresh {
            return Some(format!(
                "state fresh: before each trial, all of {members} is discarded by blkdiscard, where it has that"
            ));
        }
        let took = ASSUMED.map(|(name, in_order, at_random)| {
            let passes = |at_random_passes: f64| {
                time_words(bytes as f64 / in_order + at_random_passes * bytes as f64 / at_random)
            };
            let rates = format!("{:.0} MB/s and {:.1} MB/s", in_order / 1e6, at_random / 1e6);
            format!("{} to {} on {name} ({rates})", passes(1.0), passes(3.0))
        });
        Some(format!(
            "state steady: before the first trial, {members} is written in order once and then at random until the rate \
             stays the same, {} to {} each. At assumed rates in order and at random that takes {}. It fails after {} h",
            format_bytes(2 * bytes),
            format_bytes(4 * bytes),
            took.join(", "),
            LIMIT.as_secs() / 3600
        ))
    }
}

/// A member that is to be filled.
pub(crate) struct Target<'a> {
    /// Open past the page cache, for writing.
    pub(crate) file: &'a File,
    pub(crate) device: &'a Device,
}

/// Whether members were filled, and how that went.
#[derive(Default)]
pub(crate) struct Filled(Mutex<Option<Vec<Settled>>>);

/// How a member's rate was in the end.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Settled {
    /// Random writes of the last round, in MB/s.
    mb_per_s: f64,
    /// By how much the last round differed from the one before, in percent of that.
    changed_percent: f64,
}

impl Filled {
    /// Fills the members where they are to be steady and are not yet.
    ///
    /// # Errors
    ///
    /// Where one cannot be written, or it takes too long.
    pub(crate) fn fill(&self, state: Option<State>, targets: &[Target<'_>]) -> Result<()> {
        let mut done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state != Some(State::Steady) || done.is_some() {
            return Ok(());
        }
        let until = Instant::now() + LIMIT;
        let settled: Result<Vec<Settled>> = thread::scope(|scope| {
            let of = |target| scope.spawn(move || fill(target, until));
            let threads: Vec<_> = targets.iter().map(of).collect();
            let ended = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(Error::failure("a writer has panicked")))
            });
            ended.collect::<Vec<_>>().into_iter().collect()
        });
        *done = Some(settled?);
        Ok(())
    }

    /// How it went, by name, for whoever judges the results.
    pub(crate) fn told(&self) -> Vec<(String, String)> {
        let done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = done.iter().flatten().enumerate();
        let told = all.flat_map(|(number, settled)| {
            [
                (format!("member{number}.filled_mb_per_s"), format!("{:.1}", settled.mb_per_s)),
                (
                    format!("member{number}.{}", store::UNSETTLED),
                    format!("{:.1}", settled.changed_percent),
                ),
            ]
        });
        told.collect()
    }
}

/// Writes a member in order, then at random until its rate stays.
fn fill(target: &Target<'_>, until: Instant) -> Result<Settled> {
    let bytes = target.device.sectors * SECTOR_BYTES;
    let failed = |error: rustix::io::Errno| {
        Error::failure(format!("{} cannot be written: {error}; replace it", target.device.path))
    };
    let in_time = |done: u64, of: u64| {
        if Instant::now() < until {
            return Ok(());
        }
        Err(Error::failure(format!(
            "--state steady: {} was not filled within {} h ({} of {} written in this pass); give smaller members, or \
             leave out `--state`",
            target.device.path,
            LIMIT.as_secs() / 3600,
            format_bytes(done),
            format_bytes(of)
        )))
    };
    let (mut buffer, mut noise, mut at) =
        (Buffer::zeroed(IN_ORDER_BYTES as usize), Noise::new(bytes), 0);
    while at < bytes {
        let piece = IN_ORDER_BYTES.min(bytes - at) as usize;
        noise.fill(&mut buffer[..piece]);
        at += pwrite(target.file, &buffer[..piece], at).map_err(failed)? as u64;
        in_time(at, bytes)?;
    }
    fdatasync(target.file).map_err(failed)?;
    let mut rates: Vec<f64> = Vec::new();
    // What has room for few blocks only has no state to speak of.
    let blocks = (bytes / AT_RANDOM_BYTES).max(1);
    for round in 0..ROUNDS_MAX {
        let start = Instant::now();
        let count = blocks.div_ceil(ROUND_PART * WRITERS);
        thread::scope(|scope| {
            let writer = |writer: u64| {
                let seed = bytes ^ (round as u64 * WRITERS + writer) << 40;
                scope.spawn(move || write_at_random(target.file, blocks, count, seed, &in_time))
            };
            let threads: Vec<_> = (0..WRITERS).map(writer).collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().unwrap_or_else(|_| Err(Error::failure("a writer has panicked")))
            })
        })
        .map_err(|error| error.context(&target.device.path))?;
        fdatasync(target.file).map_err(failed)?;
        let written = (count * WRITERS * AT_RANDOM_BYTES) as f64;
        rates.push(written / 1e6 / start.elapsed().as_secs_f64());
        if round + 1 >= ROUNDS_MIN && changed(&rates) <= SETTLED_SHARE {
            break;
        }
    }
    let mb_per_s = rates.last().copied().unwrap_or(0.0);
    Ok(Settled { mb_per_s, changed_percent: 100.0 * changed(&rates) })
}

/// By how much the last rate differs from the one before, as a share of that.
fn changed(rates: &[f64]) -> f64 {
    match rates {
        [.., before, last] => (last / before - 1.0).abs(),
        _ => 0.0,
    }
}

fn write_at_random(
    file: &File,
    blocks: u64,
    count: u64,
    seed: u64,
    in_time: &(dyn Fn(u64, u64) -> Result<()> + Sync),
) -> Result<()> {
    let mut noise = Noise::new(seed);
    let (mut buffer, mut word) = (Buffer::zeroed(AT_RANDOM_BYTES as usize), [0; 8]);
    for done in 0..count {
        noise.fill(&mut buffer[..]);
        noise.fill(&mut word);
        // The top bit of every byte is set, in the lower half too: mixed once more.
        let place = u64::from_le_bytes(word).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        pwrite(file, &buffer[..], place % blocks * AT_RANDOM_BYTES)
            .map_err(|error| Error::failure(format!("cannot be written: {error}; replace it")))?;
        in_time(done * AT_RANDOM_BYTES, count * AT_RANDOM_BYTES)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(path: &std::path::Path, bytes: u64) -> Device {
        Device { path: path.display().to_string(), sectors: bytes / SECTOR_BYTES }
    }

    #[test]
    fn a_steady_member_is_written_all_over_and_says_how_its_rate_was() {
        let bytes = 3 << 20;
        let named = tempfile::NamedTempFile::new().unwrap();
        named.as_file().set_len(bytes).unwrap();
        let device = device(named.path(), bytes);
        let filled = Filled::default();
        let targets = [Target { file: named.as_file(), device: &device }];
        filled.fill(Some(State::Fresh), &targets).unwrap();
        assert_eq!(filled.told(), []);
        filled.fill(Some(State::Steady), &targets).unwrap();
        let all = std::fs::read(named.path()).unwrap();
        assert_eq!(all.len() as u64, bytes);
        assert!(all.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)));
        // The second time nothing is written.
        named.as_file().set_len(0).unwrap();
        filled.fill(Some(State::Steady), &targets).unwrap();
        assert_eq!(named.as_file().metadata().unwrap().len(), 0);
        let told = filled.told();
        assert_eq!(told[0].0, "member0.filled_mb_per_s");
        assert!(told[0].1.parse::<f64>().unwrap() > 0.0, "{told:?}");
    }

    #[test]
    fn what_takes_too_long_says_how_far_it_came() {
        let named = tempfile::NamedTempFile::new().unwrap();
        let device = device(named.path(), 4 << 20);
        let target = Target { file: named.as_file(), device: &device };
        let said = fill(&target, Instant::now()).unwrap_err().to_string();
        assert!(said.contains("1MiB of 4MiB written") && said.contains("within 24 h"), "{said}");
    }

    #[test]
    fn it_is_said_beforehand_what_is_written_and_how_long_it_takes() {
        assert_eq!(State::words(None, &[]), None);
        let members = [device(std::path::Path::new("/dev/none"), 1 << 40)];
        let said = State::words(Some(State::Steady), &members).unwrap();
        assert!(
            said.contains("2TiB to 4TiB each") && said.contains("3.7 h to 9.8 h on flash"),
            "{said}"
        );
        assert!(State::words(Some(State::Fresh), &members).unwrap().contains("blkdiscard"));
        assert!(parse("old").is_err() && parse("steady").unwrap() == State::Steady);
    }

    #[test]
    fn a_file_discards_nothing_and_that_is_said() {
        let named = tempfile::NamedTempFile::new().unwrap();
        let members = [device(named.path(), 1 << 20)];
        assert_eq!(State::steps(&members), []);
        let said = State::Fresh.doubts(&members).unwrap();
        assert!(said.contains("can discard nothing"), "{said}");
        assert_eq!(State::Steady.doubts(&members), None);
    }
}
