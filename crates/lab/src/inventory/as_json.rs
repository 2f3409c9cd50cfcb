//! An inventory as data.

use super::{HeldDisk, HeldVolume, Inventory, kinds};
use crate::catalogue::Match;
use crate::error::Result;
use serde_json::{Map, Value as Json, json};

impl Inventory {
    /// Its disks, each with the drive of the catalogue that it is, its volumes, and the experiment on the one called `unit`; where
    /// no volume is chosen of several, why there is none.
    ///
    /// # Errors
    ///
    /// Where there is no volume called `unit`.
    pub fn json(&self, unit: Option<&str>) -> Result<Json> {
        let (experiment, why) = match (self.experiment(unit), unit) {
            (Ok(text), _) => (Some(text), None),
            (Err(error), Some(_)) => return Err(error),
            (Err(error), None) => (None, Some(error.to_string())),
        };
        let left_out = self.left_out();
        let disk = |held: &HeldDisk| self.disk_json(held, &left_out);
        Ok(json!({
            "disks": self.disks.iter().map(disk).collect::<Vec<Json>>(),
            "volumes": self.volumes.iter().map(volume_json).collect::<Vec<Json>>(),
            "notes": self.notes,
            "experiment": experiment,
            "no_experiment_because": why,
        }))
    }

    fn disk_json(&self, held: &HeldDisk, left_out: &[(&HeldDisk, String)]) -> Json {
        let found = kinds([held]).remove(0).found;
        let why_left_out = left_out.iter().find(|(of, _)| *of == held).map(|(_, why)| why);
        let mut json = json!({
            "device": held.device,
            "path": held.path(),
            "paths": held.paths,
            "model": held.model,
            "bytes": held.bytes,
            "holds": held.holds.what,
            "system": held.holds.system,
            "left_out_because": why_left_out,
            "concerns": self.concerns(&[&held.device]),
        });
        if let Some(object) = json.as_object_mut() {
            object.append(&mut drive_json(&found));
        }
        json
    }
}

/// What a disk is in the catalogue: the drive, whether a disk says so, and what else it may be.
fn drive_json(found: &Match) -> Map<String, Json> {
    let (drive, is_certain, others): (Option<String>, bool, &[String]) = match found {
        Match::Drive(name) => (Some(name.clone()), true, &[]),
        Match::Rented { name } => (Some(name.clone()), false, &[]),
        Match::None { of_size, .. } => (None, false, of_size),
    };
    let keys = [
        ("drive", json!(drive)),
        ("is_certain", json!(is_certain)),
        ("of_its_size", json!(others)),
    ];
    keys.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

fn volume_json(volume: &HeldVolume) -> Json {
    json!({
        "name": volume.name,
        "level": volume.level,
        "chunk_bytes": volume.chunk_bytes,
        "has_bitmap": volume.has_bitmap,
        "members": volume.members,
        "failed": volume.failed,
        "note": volume.note,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYSTEM: &str = r#"{"blockdevices":[
        {"name":"sda","type":"disk","model":"ST18000NM000J","size":18000207937536,"fstype":"xfs","mountpoint":"/"},
        {"name":"sdb","type":"disk","model":"ST18000NM000J","size":18000207937536},
        {"name":"nvme1n1","type":"disk","model":"Amazon Elastic Block Store","size":107374182400},
        {"name":"sdc","type":"disk","model":"Nobody's 1TB","size":1000204886016}]}"#;

    #[test]
    fn an_inventory_is_data() {
        let inventory = Inventory::read(&[("lsblk.json".into(), SYSTEM.into())]).unwrap();
        let json = inventory.json(None).unwrap();
        let of = |device: &str, key: &str| {
            let mut disks = json["disks"].as_array().unwrap().iter();
            disks.find(|disk| disk["device"] == device).unwrap()[key].clone()
        };
        assert_eq!(
            (of("sdb", "drive"), of("sdb", "is_certain")),
            ("st18000nm000j".into(), true.into())
        );
        let volume = (of("nvme1n1", "drive"), of("nvme1n1", "is_certain"));
        assert_eq!(volume, ("ebs-gp3[size=100GiB]".into(), false.into()));
        assert_eq!(of("sdc", "drive"), Json::Null);
        assert!(!of("sdc", "of_its_size").as_array().unwrap().is_empty());
        assert_eq!(of("sda", "left_out_because"), "sda holds / of the running system");
        assert_eq!(
            (of("sdb", "left_out_because"), of("sdb", "bytes")),
            (Json::Null, 18_000_207_937_536_u64.into())
        );
        assert_eq!(json["experiment"], inventory.experiment(None).unwrap());
        assert!(inventory.json(Some("md9")).is_err());
    }

    /// Of two volumes none is chosen, and the disks are said nevertheless.
    #[test]
    fn of_several_volumes_the_experiment_alone_is_missing() {
        let text = "Personalities : [raid1]\nmd0 : active raid1 sda1[0] sdb1[1]\n      100 blocks\n\
                    md1 : active raid1 sda2[0] sdb2[1]\n      100 blocks\n";
        let files =
            [("lsblk.json".to_string(), SYSTEM.to_string()), ("mdstat".into(), text.into())];
        let inventory = Inventory::read(&files).unwrap();
        let json = inventory.json(None).unwrap();
        assert_eq!(json["experiment"], Json::Null);
        assert!(json["no_experiment_because"].as_str().unwrap().contains("choose one with --unit"));
        assert_eq!(json["volumes"][1]["name"], "md1");
        assert_eq!(json["volumes"][0]["members"], json!(["sda1", "sdb1"]));
    }
}
