//! What members tell of their health, by smartctl where it is installed and answers: how warm, how worn, how old.

use super::Device;
use serde_json::Value as Json;
use std::process::{Command, Stdio};

/// What the members tell, by name: `member0.temperature_c`.
pub(in crate::rig) fn read(devices: &[Device]) -> Vec<(String, String)> {
    let mut told = Vec::new();
    for (number, device) in devices.iter().enumerate() {
        let asked = Command::new("smartctl")
            .args(["-j", "-a", &device.path])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        // Its exit status says what is wrong with the drive; what it prints says whether it is one.
        let Ok(output) = asked else { return Vec::new() };
        let Ok(said) = serde_json::from_slice(&output.stdout) else { continue };
        told.extend(
            figures(&said).map(|(name, n)| (format!("member{number}.{name}"), n.to_string())),
        );
    }
    told
}

/// The figures of smartctl's JSON, of drives on any bus.
fn figures(said: &Json) -> impl Iterator<Item = (&'static str, u64)> + use<> {
    let number = |path: &str| said.pointer(path).and_then(Json::as_u64);
    let worn = number("/endurance_used/current_percent")
        .or_else(|| number("/nvme_smart_health_information_log/percentage_used"))
        .or_else(|| number("/scsi_percentage_used_endurance_indicator"))
        .or_else(|| attribute(said).map(|left| 100_u64.saturating_sub(left)));
    let [temperature, wear, hours] = store::OF_THE_MOMENT;
    let all = [
        (temperature, number("/temperature/current")),
        (wear, worn),
        (hours, number("/power_on_time/hours")),
    ];
    all.into_iter().filter_map(|(name, figure)| Some((name, figure?)))
}

/// How much of its life a SATA drive has left, in percent: the normalised value of `Media_Wearout_Indicator` (233),
/// `SSD_Life_Left` (231) or `Wear_Leveling_Count` (177).
fn attribute(said: &Json) -> Option<u64> {
    let table = said.pointer("/ata_smart_attributes/table")?.as_array()?;
    let of = |id: u64| table.iter().find(|row| row["id"].as_u64() == Some(id))?["value"].as_u64();
    [233, 231, 177].into_iter().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn drives_of_each_kind_say_how_warm_and_worn_they_are() {
        let told = |said: Json| figures(&said).collect::<Vec<_>>();
        let nvme = json!({
            "temperature": { "current": 41 }, "power_on_time": { "hours": 1200 },
            "nvme_smart_health_information_log": { "percentage_used": 3 },
        });
        assert_eq!(told(nvme), [("temperature_c", 41), ("wear_percent", 3), ("power_on_h", 1200)]);
        let sata = json!({
            "temperature": { "current": 30 },
            "ata_smart_attributes": { "table": [{ "id": 5, "value": 100 }, { "id": 177, "value": 96 }] },
        });
        assert_eq!(told(sata), [("temperature_c", 30), ("wear_percent", 4)]);
        // What smartctl says of a loop device.
        assert_eq!(told(json!({ "smartctl": { "exit_status": 1 } })), []);
    }
}
