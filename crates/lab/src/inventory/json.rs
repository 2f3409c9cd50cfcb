//! `lsblk -J -O` and `nvme list -o json`.

use super::paths::{map_of, path_of, transport_of};
use super::{HeldDisk, HeldVolume, Holds, Ids, Inventory, limits};
use crate::error::{Error, Result};
use serde_json::Value as Json;

pub(super) fn read(inventory: &mut Inventory, label: &str, text: &str) -> Result<()> {
    let json: Json = serde_json::from_str(text)
        .map_err(|error| Error::input(format!("{label}: this is no JSON: {error}")))?;
    for device in list(&json, "blockdevices") {
        block_device(inventory, device, None);
    }
    for device in list(&json, "Devices") {
        nvme(inventory, device);
        // Newer versions nest what older ones list.
        for subsystem in list(device, "Subsystems") {
            let controllers = list(subsystem, "Controllers");
            for controller in controllers {
                for namespace in list(controller, "Namespaces") {
                    nvme_of(inventory, controller, namespace);
                }
            }
            // Where one namespace may have several paths, it is the subsystem's: any of its controllers says what it is.
            for namespace in list(subsystem, "Namespaces") {
                if let Some(controller) = controllers.first() {
                    nvme_of(inventory, controller, namespace);
                }
            }
        }
    }
    Ok(())
}

pub(super) fn list<'j>(json: &'j Json, key: &str) -> &'j [Json] {
    json.get(key).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn text(json: &Json, key: &str) -> String {
    json.get(key).and_then(Json::as_str).unwrap_or_default().trim().to_string()
}

/// A size: a number of bytes, or a text as `lsblk` prints without `-b`.
fn size(json: &Json, key: &str) -> Option<u64> {
    let value = json.get(key)?;
    value.as_u64().or_else(|| super::written::rough_bytes(value.as_str()?))
}

/// A whole number, which older versions of lsblk write as a text.
fn count(json: &Json, key: &str) -> Option<u64> {
    let value = json.get(key)?;
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// Whether a disk turns; older versions of lsblk write 0 and 1.
fn turns(device: &Json) -> Option<bool> {
    let said = device.get("rota")?;
    said.as_bool().or_else(|| match said.as_str()? {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    })
}

/// A device of lsblk, and what is on it: partitions, and the volumes that it is a member of. `disk` is the disk or the array that
/// it is on.
fn block_device(inventory: &mut Inventory, device: &Json, disk: Option<&str>) {
    inventory.keep_names(device);
    let name = text(device, "name");
    let kind = text(device, "type");
    let is_array = super::mdstat::level(&kind).is_some();
    let map = map_of(device).map(|map| text(map, "name"));
    let own = map.as_deref().unwrap_or(&name);
    let this_disk = if kind == "disk" { Some(own) } else { disk };
    if kind == "disk" {
        add_disk(inventory, device);
    } else if is_array {
        let number = text(device, "maj:min");
        inventory.aliases.entry(number).or_insert_with(|| name.clone());
    } else if let Some(disk) = disk {
        let number = text(device, "maj:min");
        inventory.aliases.insert(name.clone(), disk.to_string());
        for other in [text(device, "partuuid"), text(device, "kname")] {
            if !other.is_empty() {
                inventory.aliases.insert(other, disk.to_string());
            }
        }
        if !number.is_empty() {
            inventory.aliases.entry(number).or_insert_with(|| disk.to_string());
        }
    }
    if let (Some(level), Some(disk)) = (super::mdstat::level(&kind), disk) {
        array(inventory, device, level, disk);
    }
    let below = if is_array { Some(name.as_str()) } else { this_disk };
    for child in list(device, "children") {
        block_device(inventory, child, below);
    }
}

/// A disk of lsblk, or a path to one.
fn add_disk(inventory: &mut Inventory, device: &Json) {
    let name = text(device, "name");
    let number = Some(text(device, "maj:min")).filter(|number| !number.is_empty());
    let model = super::with_vendor(&text(device, "vendor"), text(device, "model"));
    let bytes = size(device, "size");
    let map = map_of(device);
    let (ids, turns) = (Ids::of(device), turns(device));
    // A path holds what is on the disk that it leads to, and nothing beside.
    let holds = Holds::of(map.unwrap_or(device));
    // A card reader without a card.
    if bytes == Some(0) {
        inventory.seen += 1;
        return;
    }
    let transport = transport_of(device);
    let usb =
        format!("{name} is on USB: its bridge is not modelled, and may be slower than the drive");
    let mut concerns = if transport == "usb" { vec![usb] } else { Vec::new() };
    concerns.extend(limits::of_zones(&name, &text(device, "zoned")));
    let odd_best_bytes = count(device, "opt-io").filter(|&bytes| limits::is_odd(bytes));
    let is_host_managed = text(device, "zoned") == "host-managed";
    let (path, paths) = match map {
        Some(map) => (Some(path_of(map)), vec![name.clone()]),
        None => (None, Vec::new()),
    };
    inventory.add(HeldDisk {
        device: map.map_or(name, |map| text(map, "name")),
        path,
        paths,
        transport,
        model,
        bytes,
        number,
        ids,
        holds,
        turns,
        odd_best_bytes,
        is_host_managed,
        concerns,
        ..HeldDisk::default()
    });
}

/// An array of that level, below one of its disks.
fn array(inventory: &mut Inventory, device: &Json, level: &str, disk: &str) {
    let name = text(device, "name");
    let said = limits::of_read_ahead(&name, count(device, "ra"));
    inventory.notes.extend(said.filter(|said| !inventory.notes.contains(said)));
    let known = inventory.volumes.iter_mut().find(|volume| volume.name == name);
    match known {
        Some(volume) if volume.is_rough && !volume.members.iter().any(|one| one == disk) => {
            volume.members.push(disk.to_string());
        }
        Some(_) => {}
        None => inventory.volumes.push(HeldVolume {
            name: name.clone(),
            level: level.into(),
            members: vec![disk.to_string()],
            is_rough: true,
            ..HeldVolume::default()
        }),
    }
}

/// A device as nvme-cli lists it: one line of its table.
fn nvme(inventory: &mut Inventory, device: &Json) {
    let path = text(device, "DevicePath");
    let device_name = path.rsplit('/').next().unwrap_or_default().to_string();
    if device_name.is_empty() {
        return;
    }
    let (model, bytes) = (text(device, "ModelNumber"), size(device, "PhysicalSize"));
    let ids = Ids::new(&model, &text(device, "SerialNumber"));
    inventory.add(HeldDisk { device: device_name, model, bytes, ids, ..HeldDisk::default() });
}

/// The same of newer versions: a namespace of a controller.
fn nvme_of(inventory: &mut Inventory, controller: &Json, namespace: &Json) {
    let device = text(namespace, "NameSpace");
    if !device.is_empty() {
        let (model, bytes) = (text(controller, "ModelNumber"), size(namespace, "PhysicalSize"));
        let ids = Ids::new(&model, &text(controller, "SerialNumber"));
        inventory.add(HeldDisk { device, model, bytes, ids, ..HeldDisk::default() });
    }
}
