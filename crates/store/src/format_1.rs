//! Results of format 1: of drives, hosts and controllers it kept digests and nothing else.

use crate::Manifest;
use toml::{Table, Value};

/// The version that is read here.
pub const FORMAT: u64 = 1;

/// Reads the text of a manifest; of drives, hosts and controllers it has the digests alone, those of controllers among the hosts'.
///
/// # Errors
///
/// Where the text is not a manifest.
pub fn read(text: &str) -> Result<Manifest, toml::de::Error> {
    let mut manifest: Table = toml::from_str(text)?;
    // Real members stood where drives do.
    if manifest.get("rig").and_then(Value::as_str) == Some("disks") {
        let members = manifest.remove("drives");
        manifest.extend(members.map(|members| ("members".into(), members)));
    }
    for things in ["drives", "hosts"] {
        let things = manifest.get_mut(things).and_then(Value::as_table_mut);
        for (_, digest) in things.into_iter().flatten() {
            *digest = Value::Table(Table::from_iter([("digest".into(), digest.clone())]));
        }
    }
    manifest.try_into()
}
