//! Drives written as tables: `drives = [{ model = "gp3", count = 4, iops = 6000 }]`.

use crate::error::Result;
use crate::text::{Item, Table};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

/// The keys that may be a list of tables, in `[volume]`.
pub(super) const KEYS: [&str; 2] = ["drives", "log_drives"];

/// What a schema says of such a list.
pub(super) fn schema() -> Json {
    json!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "required": ["model"],
            "properties": {
                "model": { "type": "string", "description": "Drive: any part of its name, or a file" },
                "count": { "type": "integer", "minimum": 1, "maximum": 4096 },
                "part": { "type": "string", "description": "How much of each is used, as in `10GiB`" },
            },
            "additionalProperties": { "type": ["string", "number", "boolean"] },
        },
    })
}

/// The list of members that `tables` say, as text: `4xgp3[iops=6000]`. None where `item` is no list of
/// tables, or does not name drives.
///
/// # Errors
///
/// Where a table has no model, or a count that is none.
pub(super) fn members(item: &Item) -> Result<Option<String>> {
    let Some(values) = item.value().as_array() else { return Ok(None) };
    if !item.path().strip_prefix("volume.").is_some_and(|key| KEYS.contains(&key)) {
        return Ok(None);
    }
    if values.is_empty() || !values.iter().all(|value| value.get_ref().is_table()) {
        return Ok(None);
    }
    let tables = item.list()?;
    let groups = tables.iter().map(|item| group(&item.table()?)).collect::<Result<Vec<_>>>()?;
    Ok(Some(groups.join("+")))
}

fn group(table: &Table) -> Result<String> {
    let model = table.need("model", "\"gp3\"")?;
    let name = model.text()?;
    if name.contains(['+', '[', ']', '=']) {
        return Err(model.wrong("write a drive's name, and its figures as keys beside it"));
    }
    let count = table.find("count").map_or(Ok(1), |count| count.count(&(1..=4096)))?;
    let mut group = format!("{count}x{name}");
    let mut provisioned = Vec::new();
    for (key, item) in
        table.items().into_iter().filter(|(key, _)| !["model", "count", "part"].contains(key))
    {
        let value = match (item.text(), item.value().as_bool()) {
            (Ok(text), _) => text.to_string(),
            (_, Some(switch)) => switch.to_string(),
            _ => item.number(&(0.0..=1e15))?.to_string(),
        };
        provisioned.push(format!("{key}={value}"));
    }
    if !provisioned.is_empty() {
        let _ = write!(group, "[{}]", provisioned.join(","));
    }
    if let Some(part) = table.find("part") {
        let _ = write!(group, ":{}", part.text()?);
    }
    Ok(group)
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Member, Plan};

    fn members(drives: &str) -> Result<Vec<String>, String> {
        let text = format!("[volume]\ndrives = {drives}\n[workload.w]\nkind = 'random'\n");
        let experiment = Experiment::parse("x.toml", &text).map_err(|error| error.to_string())?;
        let plan = Plan::new(&experiment).map_err(|error| error.to_string())?;
        let members = &plan.trials[0].setup.volume.members;
        let told = |member: &Member| match member {
            Member::Modelled { drive, .. } => {
                format!("{} {}", drive.name, member.sectors().unwrap() >> 21)
            }
            Member::Real { name, .. } => name.clone(),
        };
        Ok(members.iter().map(told).collect())
    }

    #[test]
    fn drives_are_counted_provisioned_and_cut() {
        let two = members("[{ model = 'gp3', count = 2, size = '100GiB', iops = 4000 }]").unwrap();
        assert_eq!(two, vec!["ebs-gp3[size=100GiB,iops=4000] 100"; 2]);
        let mixed =
            members("[{ model = '990 pro 2tb', part = '10GiB' }, { model = 'P10' }]").unwrap();
        assert_eq!(mixed, ["iocost-samsung-ssd-990-pro-2tb 10", "azure-p10 128"]);
        assert_eq!(members("'2xgp3[size=100GiB,iops=4000]'").unwrap().len(), 2);
        let set = members("[{ model = 'wd740gd', write_cache = false, queue_depth = 4 }]").unwrap();
        assert_eq!(set, ["wd740gd[write_cache=false,queue_depth=4] 69"]);
    }

    #[test]
    fn a_log_has_its_drives_in_the_same_words() {
        let text = "[volume]\ndrives = 'wd740gd'\nlog_drives = [{ model = 'gp3', count = 2, size = '100GiB' }]\n\
                    [workload.w]\nkind = 'random'\nto_log = true\n";
        let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
        let log = plan.trials[0].setup.log.as_ref().unwrap();
        assert_eq!((log.members.len(), log.level.name), (2, "mirror"));
    }

    #[test]
    fn what_is_no_list_of_drives_says_what_to_write() {
        let fails = |drives: &str| members(drives).unwrap_err();
        assert!(fails("[{ count = 2 }]").contains("model"));
        assert!(fails("[{ model = 'gp3', count = 0 }]").contains("count"));
        let typo = fails("[{ model = 'gp3', iop = 4000 }]");
        assert!(typo.contains("did you mean `iops`?"), "{typo}");
        assert!(fails("[{ model = 'wd740gd', iops = 4000 }]").contains("nothing is provisioned"));
        assert!(fails("[{ model = 'gp3', size = 'lots' }]").contains("lots"));
    }
}
