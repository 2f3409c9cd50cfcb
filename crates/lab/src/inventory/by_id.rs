//! Names of `/dev/disk/by-id`, as ZFS and careful people use them: `ata-ST18000NM000J-2TV103_ZR50AAA1-part1`,
//! `wwn-0x5000c500d1e2f3a4`.

use super::json::text;
use serde_json::Value as Json;

/// A serial number this short may be part of many names.
const SERIAL_MIN: usize = 4;

/// What the names of a disk end with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// Its name there, where lsblk says it.
    link: String,
    model: String,
    serial: String,
    wwn: String,
}

impl Ids {
    /// Of a disk that lsblk lists.
    pub(super) fn of(disk: &Json) -> Self {
        let named = |key: &str| underscored(&text(disk, key));
        let [link, model, serial, wwn] = ["id-link", "model", "serial", "wwn"].map(named);
        Ids { link, model, serial, wwn }
    }

    /// Of a model and its serial number.
    pub(super) fn new(model: &str, serial: &str) -> Self {
        let [model, serial] = [model, serial].map(underscored);
        Ids { model, serial, ..Ids::default() }
    }

    /// Of its name there.
    pub(super) fn linked(link: &str) -> Self {
        Ids { link: link.into(), ..Ids::default() }
    }

    /// Its serial number; empty where none is said.
    pub(super) fn serial(&self) -> &str {
        &self.serial
    }

    /// Its number of the registry; empty where none is said.
    pub(super) fn wwn(&self) -> &str {
        &self.wwn
    }

    /// Adds what another listing says of the same disk.
    pub(super) fn add(&mut self, other: Ids) {
        let own = [&mut self.link, &mut self.model, &mut self.serial, &mut self.wwn];
        for (known, more) in own.into_iter().zip([other.link, other.model, other.serial, other.wwn])
        {
            if known.is_empty() {
                *known = more;
            }
        }
    }

    /// Whether a name means the disk, or a part of it.
    pub(super) fn means(&self, name: &str) -> bool {
        let whole = without_part(name);
        let Some((bus, rest)) = whole.split_once('-') else { return false };
        if !self.link.is_empty() && self.link == whole {
            return true;
        }
        let number = self.wwn.strip_prefix("0x").unwrap_or(&self.wwn);
        let is_number = !number.is_empty()
            && match bus {
                "wwn" => rest.strip_prefix("0x").unwrap_or(rest) == number,
                "nvme" => rest == number,
                // 3 says that it is a number of the registry.
                "scsi" => rest.strip_prefix('3') == Some(number),
                _ => false,
            };
        // Behind the serial number may stand a namespace, `_1`, or a unit, `-0:0`. SCSI cuts models short.
        let rest = rest.strip_suffix("-0:0").unwrap_or(rest);
        let ends = |rest: &str| {
            let before = rest.strip_suffix(&self.serial).and_then(|rest| rest.strip_suffix('_'));
            before.is_some_and(|model| {
                self.serial.len() >= SERIAL_MIN || (!model.is_empty() && self.model == model)
            })
        };
        let is_serial =
            !self.serial.is_empty() && (ends(rest) || rest.strip_suffix("_1").is_some_and(ends));
        is_number || is_serial
    }
}

/// The model in a name of `ata` or `nvme`: `ST18000NM000J-2TV103` of `ata-ST18000NM000J-2TV103_ZR50AAA1-part1`.
pub(super) fn model_of(name: &str) -> Option<String> {
    let (bus, rest) = without_part(name).split_once('-')?;
    // A namespace may stand behind the serial number of an NVMe drive.
    let rest = match bus {
        "ata" => rest,
        "nvme" => rest.strip_suffix("_1").unwrap_or(rest),
        _ => return None,
    };
    let (model, _serial) = rest.rsplit_once('_')?;
    Some(model.replace('_', " "))
}

/// As udev writes them: each run of spaces is one underscore, and there is none at an end.
fn underscored(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join("_")
}

/// The disk's name of a path there, or of a part of it.
pub(super) fn whole_of(path: &str) -> &str {
    without_part(path.rsplit('/').next().unwrap_or(path))
}

/// Without `-part1`.
fn without_part(name: &str) -> &str {
    match name.rsplit_once("-part") {
        Some((whole, number)) if number.parse::<u32>().is_ok() => whole,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_have_the_model() {
        for (name, model) in [
            ("ata-ST18000NM000J-2TV103_ZR50AAA1-part1", Some("ST18000NM000J-2TV103")),
            ("ata-WDC_WD120EMFZ-11A6JA0_9AGB", Some("WDC WD120EMFZ-11A6JA0")),
            ("nvme-Samsung_SSD_980_PRO_1TB_S5GX_1", Some("Samsung SSD 980 PRO 1TB")),
            ("nvme-eui.0025385b11b2c3d4", None),
            ("wwn-0x5000c500d1e2f3a4", None),
            ("sda1", None),
        ] {
            assert_eq!(model_of(name).as_deref(), model, "{name}");
        }
    }

    #[test]
    fn names_mean_one_disk() {
        let ids = |serial: &str, wwn: &str| {
            let model = "WDC WD120EMFZ-11A6JA0  ";
            Ids::of(&json!({ "model": model, "serial": serial, "wwn": wwn }))
        };
        let (one, other) =
            (ids("ZR50AAA1", "0x5000c500d1e2f3a4"), ids("ZR50AAA2", "0x5000c500d1e2f3a5"));
        for name in [
            "ata-WDC_WD120EMFZ-11A6JA0_ZR50AAA1",
            "ata-WDC_WD120EMFZ-11A6JA0_ZR50AAA1-part1",
            "scsi-SATA_WDC_WD120EMFZ-11_ZR50AAA1",
            "usb-WDC_WD120EMFZ-11A6JA0_ZR50AAA1-0:0-part12",
            "nvme-WDC_WD120EMFZ-11A6JA0_ZR50AAA1_1",
            "wwn-0x5000c500d1e2f3a4",
            "scsi-35000c500d1e2f3a4-part9",
        ] {
            assert!(one.means(name) && !other.means(name), "{name}");
        }
        for name in ["ZR50AAA1", "sda", "ata-", "wwn-0x", "ata-X_ZR50AAA1-party", "md-x_1"] {
            assert!(!one.means(name) && !Ids::default().means(name), "{name}");
        }
        // A short serial number needs its model, too.
        assert!(ids("1", "").means("ata-WDC_WD120EMFZ-11A6JA0_1"));
        assert!(!ids("1", "").means("ata-ST18000NM000J-2TV103_1"));
        assert!(
            Ids::new("Samsung SSD 990 PRO 2TB", "S7KHNJ0W1")
                .means("nvme-Samsung_SSD_990_PRO_2TB_S7KHNJ0W1")
        );
        let eui = Ids::of(&json!({ "wwn": "eui.0025385b21404321" }));
        assert!(eui.means("nvme-eui.0025385b21404321-part3"));
        let link = Ids::of(&json!({ "id-link": "ata-HGST_X_V1" }));
        assert!(link.means("ata-HGST_X_V1-part2") && !link.means("ata-HGST_X_V12"));
    }
}
