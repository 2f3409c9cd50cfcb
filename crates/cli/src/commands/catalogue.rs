//! `ileave drives` and `ileave hosts`.

use super::{print_json, to_json};
use crate::flags::DrivesFlags;
use lab::Result;
use lab::catalogue::{self, Description, Host, Row};
use lab::report::text;
use serde_json::{Value as Json, json};

/// Lists the drives, or one in full.
pub(crate) fn drives(flags: &DrivesFlags) -> Result<String> {
    if let Some(name) = &flags.name {
        return describe(&catalogue::describe(name)?, flags.json);
    }
    let rows = catalogue::list()?;
    if flags.json {
        return to_json(&rows);
    }
    let mut table = text::table(&Row::HEADINGS.map(String::from), 2);
    for row in &rows {
        table.add_row(row.cells());
    }
    Ok(format!("{table}\n"))
}

/// Lists the hosts, or one in full.
pub(crate) fn hosts(flags: &DrivesFlags) -> Result<String> {
    if let Some(name) = &flags.name {
        return describe(&catalogue::describe_host(name)?, flags.json);
    }
    let hosts: Result<Vec<Host>> =
        catalogue::host_names().into_iter().map(catalogue::host).collect();
    let hosts = hosts?;
    if flags.json {
        let rows: Vec<Json> =
            hosts.iter().map(|host| json!({ "name": host.name, "title": host.title })).collect();
        return Ok(print_json(&Json::from(rows)));
    }
    let mut table = text::table(&["name", "title"].map(String::from), 2);
    for host in &hosts {
        table.add_row([&host.name, &host.title]);
    }
    Ok(format!("{table}\n"))
}

/// Every figure of a drive or host, with its source.
fn describe(description: &Description, as_json: bool) -> Result<String> {
    if as_json {
        return to_json(description);
    }
    Ok(text::description(description))
}
