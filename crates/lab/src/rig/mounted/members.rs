//! What the members have done, as the kernel counts it in `/sys/class/block/NAME/stat`, and what they are.

use super::Device;
use crate::error::{Error, Result};
use crate::rig::guard::Number;
use crate::workload::Moved;
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What one member has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) sectors_read: u64,
    pub(super) sectors_written: u64,
    /// How long it had something to do.
    pub(super) busy_ms: u64,
}

/// The counts of all members.
pub(super) fn counts(devices: &[Device]) -> Vec<Count> {
    devices.iter().map(|device| count(device).unwrap_or_default()).collect()
}

fn count(device: &Device) -> Option<Count> {
    parse(&fs::read_to_string(directory(device)?.join("stat")).ok()?)
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

/// All of them together.
pub(super) fn moved(devices: &[Device]) -> Moved {
    counts(devices).iter().fold(Moved::default(), |sum, count| Moved {
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
pub(super) fn open_direct(device: &Device) -> Result<File> {
    let flags = OFlags::DIRECT.bits().cast_signed();
    let opened = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&device.path);
    opened.map_err(|error| Error::failure(format!("cannot open {}: {error}", device.path)))
}

fn directory(device: &Device) -> Option<PathBuf> {
    let there = fs::metadata(&device.path).ok()?;
    Some(Number::new(there.rdev()).directory())
}

/// A file of the kernel's, without its last line's end.
fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_string()
}

/// What the results depend on and nobody sees in them: the kernel, and of each member its model, firmware, scheduler
/// and limits.
pub(super) fn machine(devices: &[Device]) -> Vec<(String, String)> {
    let mut machine = vec![("kernel".to_string(), text("/proc/sys/kernel/osrelease"))];
    let governor = text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if !governor.is_empty() {
        machine.push(("governor".into(), governor));
    }
    for (number, device) in devices.iter().enumerate() {
        let Some(directory) = directory(device) else { continue };
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
        "other programs kept more than half of the processors busy as the run began; end them and run again".into()
    })
}

/// What makes the figures of these members doubtful.
pub(super) fn warnings(devices: &[Device]) -> Vec<String> {
    let mut warnings = host_warnings(Path::new("/sys"));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    warnings.extend(busy_warning(&text("/proc/loadavg"), processors));
    let is_loop = |device: &&Device| {
        directory(device).is_some_and(|directory| directory.join("loop/backing_file").exists())
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
