//! What the members have done, as the kernel counts it in `/sys/class/block/NAME/stat`, and what they are.

use super::Device;
use crate::error::{Error, Result};
use crate::rig::guard::{Number, System};
use crate::workload::Moved;
use rustix::fs::OFlags;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What one member has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::rig) struct Count {
    pub(in crate::rig) reads: u64,
    pub(in crate::rig) writes: u64,
    pub(in crate::rig) sectors_read: u64,
    pub(in crate::rig) sectors_written: u64,
    /// How long it had something to do.
    pub(in crate::rig) busy_ms: u64,
}

/// The block device that a member is, or of a file the one that its file system is on. None where the kernel counts
/// nothing for it: a file system in memory, over a network, of several devices or of layers.
pub(super) fn number(device: &Device) -> Option<Number> {
    let there = fs::metadata(&device.path).ok()?;
    let is_device = there.file_type().is_block_device();
    let number = Number::new(if is_device { there.rdev() } else { there.dev() });
    number.directory().exists().then_some(number)
}

/// The counts of all members.
pub(in crate::rig) fn counts(devices: &[Device]) -> Vec<Count> {
    let of = |device| count(number(device)?);
    devices.iter().map(|device| of(device).unwrap_or_default()).collect()
}

fn count(number: Number) -> Option<Count> {
    parse(&fs::read_to_string(number.directory().join("stat")).ok()?)
}

/// What was done from one time to another, by member.
pub(in crate::rig) fn since(after: &[Count], before: &[Count]) -> Vec<Count> {
    let each = after.iter().zip(before).map(|(now, then)| Count {
        reads: now.reads - then.reads,
        writes: now.writes - then.writes,
        sectors_read: now.sectors_read - then.sectors_read,
        sectors_written: now.sectors_written - then.sectors_written,
        busy_ms: now.busy_ms - then.busy_ms,
    });
    each.collect()
}

/// `reads merged sectors ms writes merged sectors ms in_flight busy_ms …`
fn parse(text: &str) -> Option<Count> {
    let fields: Vec<u64> =
        text.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>().ok()?;
    let [reads, _, sectors_read, _, writes, _, sectors_written, _, _, busy_ms, ..] = *fields else {
        return None;
    };
    Some(Count { reads, writes, sectors_read, sectors_written, busy_ms })
}

/// All of them together; files on one disk are counted there once.
pub(in crate::rig) fn moved(devices: &[Device]) -> Moved {
    let numbers: BTreeSet<Number> = devices.iter().filter_map(number).collect();
    numbers.into_iter().filter_map(count).fold(Moved::default(), |sum, count| Moved {
        reads: sum.reads + count.reads,
        writes: sum.writes + count.writes,
        read_bytes: sum.read_bytes + count.sectors_read * block::SECTOR_BYTES,
        written_bytes: sum.written_bytes + count.sectors_written * block::SECTOR_BYTES,
    })
}

/// A device open past the page cache.
///
/// # Errors
///
/// Where that fails.
pub(in crate::rig) fn open_direct(device: &Device) -> Result<File> {
    let flags = OFlags::DIRECT.bits().cast_signed();
    let opened = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&device.path);
    opened.map_err(|error| Error::failure(format!("cannot open {}: {error}", device.path)))
}

/// Where the kernel tells of a member's disk: of a partition, the disk that it is a part of.
fn directory(device: &Device) -> Option<PathBuf> {
    let number = number(device)?;
    Some(number.disk(&System::here()).unwrap_or(number).directory())
}

/// A figure of the queue of a member's disk, as `discard_max_bytes`.
pub(in crate::rig) fn queue(device: &Device, name: &str) -> Option<u64> {
    text(directory(device)?.join("queue").join(name)).parse().ok()
}

fn is_file(device: &Device) -> bool {
    fs::metadata(&device.path).is_ok_and(|there| there.is_file())
}

/// A file of the kernel's, without its last line's end.
fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_string()
}

/// What the results depend on and nobody sees in them: the kernel, and of each member its model, firmware, scheduler
/// and limits.
pub(in crate::rig) fn machine(devices: &[Device]) -> Vec<(String, String)> {
    let mut machine = vec![("kernel".to_string(), text("/proc/sys/kernel/osrelease"))];
    let governor = text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if !governor.is_empty() {
        machine.push(("governor".into(), governor));
    }
    for (number, device) in devices.iter().enumerate() {
        let Some(directory) = directory(device) else { continue };
        if is_file(device) {
            let disk = directory.canonicalize().ok();
            let name = disk.as_deref().and_then(Path::file_name);
            let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            machine.push((format!("member{number}.lies_on"), name));
        }
        for (name, file) in [
            ("model", "device/model"),
            ("firmware", "device/firmware_rev"),
            ("serial", "device/serial"),
            ("scheduler", "queue/scheduler"),
            ("write_cache", "queue/write_cache"),
            ("rotational", "queue/rotational"),
            ("queue_requests", "queue/nr_requests"),
            ("request_kib", "queue/max_sectors_kb"),
            ("direct", "loop/dio"),
        ] {
            let value = text(directory.join(file));
            if !value.is_empty() {
                machine.push((format!("member{number}.{name}"), value));
            }
        }
    }
    machine
}

/// What of the machine makes every figure doubtful, as `sys` tells it: a battery, and processors that stay slow.
fn host_warnings(sys: &Path) -> Vec<String> {
    let mut warnings = Vec::new();
    let supplies = fs::read_dir(sys.join("class/power_supply")).into_iter().flatten().flatten();
    let on_battery = supplies.map(|supply| supply.path()).any(|supply| {
        text(supply.join("type")) == "Battery" && text(supply.join("status")) == "Discharging"
    });
    if on_battery {
        warnings.push("the machine runs on its battery and may slow down; plug it in".into());
    }
    let frequency = sys.join("devices/system/cpu/cpu0/cpufreq");
    // With a driver that decides for itself the word means less than it says.
    let driver = text(frequency.join("scaling_driver"));
    let decides = ["intel_pstate", "amd-pstate-epp"].contains(&driver.as_str());
    if text(frequency.join("scaling_governor")) == "powersave" && !decides {
        warnings.push(
            "the processors stay slow (governor powersave); `cpupower frequency-set -g performance` lets them run"
                .into(),
        );
    }
    warnings
}

/// Whether others work on the processors as the run begins, as `/proc/loadavg` tells it. The figure itself would be
/// another each time.
fn busy_warning(loadavg: &str, processors: usize) -> Option<String> {
    let load: f64 = loadavg.split_whitespace().next()?.parse().ok()?;
    (load > processors as f64 / 2.0).then(|| {
        "other programs kept more than half of the processors busy as the run began; stop them and run again".into()
    })
}

/// What makes the figures of these members doubtful.
pub(in crate::rig) fn warnings(devices: &[Device]) -> Vec<String> {
    let mut warnings = host_warnings(Path::new("/sys"));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    warnings.extend(busy_warning(&text("/proc/loadavg"), processors));
    let is_loop = |device: &&Device| {
        let is_over = |directory: PathBuf| directory.join("loop/backing_file").exists();
        !is_file(device) && directory(device).is_some_and(is_over)
    };
    let loops: Vec<&Device> = devices.iter().filter(is_loop).collect();
    if !loops.is_empty() {
        warnings.push(
            "the members are images on one file system: they share its disk, so that what is measured is this \
             machine and no array of disks"
                .into(),
        );
    }
    let cached = loops.iter().any(|device| {
        directory(device).is_some_and(|directory| text(directory.join("loop/dio")) != "1")
    });
    if cached {
        warnings.push(
            "the images are read and written through the page cache: their file system takes no direct I/O, so \
             reads may come from memory"
                .into(),
        );
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_battery_and_slow_processors_are_named() {
        let sys = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = sys.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        };
        assert!(host_warnings(sys.path()).is_empty());
        write("class/power_supply/BAT0/type", "Battery");
        write("class/power_supply/BAT0/status", "Charging");
        write("devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave");
        write("devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate");
        assert!(host_warnings(sys.path()).is_empty());
        write("class/power_supply/BAT0/status", "Discharging");
        write("devices/system/cpu/cpu0/cpufreq/scaling_driver", "acpi-cpufreq");
        let said = host_warnings(sys.path());
        assert!(said[0].contains("battery") && said[1].contains("governor powersave"), "{said:?}");
    }

    #[test]
    fn a_busy_machine_is_named() {
        assert_eq!(busy_warning("0.93 0.50 0.10 1/80 9", 2), None);
        assert!(
            busy_warning("1.10 0.50 0.10 1/80 9", 2).unwrap().contains("half of the processors")
        );
        assert_eq!(busy_warning("", 2), None);
    }

    #[test]
    fn a_line_of_counts_is_read() {
        let line = "  4 1 32 7 8 2 640 9 0 12 16 0 0 0 0 3 1";
        let count =
            Count { reads: 4, writes: 8, sectors_read: 32, sectors_written: 640, busy_ms: 12 };
        assert_eq!(parse(line), Some(count));
        assert_eq!(parse("1 2 3"), None);
    }
}
