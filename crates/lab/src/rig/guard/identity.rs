//! The names by which a person means one device and no other: any path that leads to it, the kernel's name,
//! the serial number of a whole disk.

use super::{Number, System, same_file};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether one of `names` means the device or file at `path`.
pub fn is_meant(system: &System, path: &Path, names: &[String]) -> bool {
    let is_path = |name: &String| name.contains('/') && same_file(Path::new(name), path);
    if names.iter().any(is_path) {
        return true;
    }
    let Ok(metadata) = std::fs::metadata(path) else { return false };
    if metadata.rdev() == 0 {
        return names.iter().any(|name| Path::new(name) == path);
    }
    is_number_meant(system, Number::new(metadata.rdev()), names)
}

/// Whether one of `names` is the kernel's name of the device, or its serial number.
pub fn is_number_meant(system: &System, number: Number, names: &[String]) -> bool {
    let mut own = vec![number.name(system)];
    own.extend(serials(system, number));
    names.iter().any(|name| own.contains(name))
}

/// The serial numbers of a whole disk. A partition has none: the number is that of all its neighbours, too.
pub(super) fn serials(system: &System, number: Number) -> Vec<String> {
    if number.disk(system).is_some() {
        return Vec::new();
    }
    let directory = number.directory();
    let mut serials: Vec<String> = ["device/serial", "serial", "device/wwid", "wwid"]
        .iter()
        .map(|file| system.text(directory.join(file)))
        .collect();
    // What udev has asked the drive for: `E:ID_SERIAL_SHORT=WD-WMC123`.
    let numbers = system.text(directory.join("dev"));
    for line in system.text(format!("/run/udev/data/b{numbers}")).lines() {
        let keys = ["E:ID_SERIAL=", "E:ID_SERIAL_SHORT=", "E:ID_WWN="];
        serials.extend(keys.iter().filter_map(|key| line.strip_prefix(key)).map(String::from));
    }
    serials.retain(|serial| !serial.trim().is_empty());
    for serial in &mut serials {
        *serial = serial.trim().to_string();
    }
    serials
}
