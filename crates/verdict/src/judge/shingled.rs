//! What an answer about shingled disks rests on, and what they are unfit for.

use super::answer::{Point, point};
use block::SECTOR_BYTES;
use block::units::parse_sectors;
use store::Manifest;

/// What is said of shingled disks, whose model little but a few published figures holds.
pub const SHINGLED: &str = "these disks are shingled: most of their model is an estimate, and their random writes may be off by up to four \
                            times; each write outside a long stream causes a band of tracks to be rewritten later (docs/smr.md)";

/// What is said of them before that, where the work has small writes at random.
pub const UNFIT: &str = "shingled disks are unfit for small random writes, of which each does a few a second once its media cache is full: take \
                         conventional disks (CMR) for this work";

/// The line about them, where modelled drives are such.
pub(super) fn told(manifest: &Manifest) -> Option<Point> {
    (manifest.modelled() && manifest.has_shingled()).then(|| {
        let text =
            if is_unfit(manifest) { format!("{UNFIT}; {SHINGLED}") } else { SHINGLED.into() };
        point("shingled", text)
    })
}

/// Random writes of less are small: write caches of disks (256 MiB) take thousands of them.
pub const SMALL_BYTES: u64 = 128 << 10;

/// Whether a workload has small writes at random.
fn is_unfit(manifest: &Manifest) -> bool {
    let settings = manifest.settings();
    let values = |path: String| -> Vec<String> {
        match settings.get(&path) {
            Some(toml::Value::Array(all)) => all.iter().map(plain_toml).collect(),
            Some(one) => vec![plain_toml(one)],
            None => Vec::new(),
        }
    };
    let is_small = |text: &String| {
        parse_sectors(text).is_ok_and(|sectors| sectors * SECTOR_BYTES < SMALL_BYTES)
    };
    // Streams stand by their own names, whatever their group is called.
    let kinds =
        settings.keys().filter_map(|path| path.strip_prefix("workload.")?.strip_suffix(".kind"));
    kinds.filter(|name| !manifest.only_read.iter().any(|only| only == name)).any(|name| {
        let is_random = values(format!("workload.{name}.kind")).iter().any(|kind| kind == "random");
        let blocks = values(format!("workload.{name}.block"));
        let ops = values(format!("workload.{name}.op"));
        let shares = values(format!("workload.{name}.reads_percent"));
        let writes =
            ops.iter().any(|op| op == "write") || shares.iter().any(|share| share != "100");
        is_random && writes && (blocks.is_empty() || blocks.iter().any(is_small))
    })
}

/// A value of a setting as text.
fn plain_toml(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    #[test]
    fn random_writes_to_shingled_disks_are_advised_against() {
        let said = |drives: &str, kind: &str, op: &str| {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '2x{drives}'\nlevel = ['md-raid0', 'md-mirror']\n[host]\nname = 'linux-6.1'\n\
                 [workload.w]\nkind = '{kind}'\nop = '{op}'\ncount = 50\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let line = verdict.points.into_iter().find(|point| point.about == "shingled");
            line.map(|line| line.text.starts_with("shingled disks are unfit"))
        };
        assert_eq!(said("wd40efax", "random", "write'\nblock = '16KiB"), Some(true));
        assert_eq!(said("wd40efax", "random", "write'\nblock = '64MiB"), Some(false));
        assert_eq!(said("wd40efax", "random", "read"), Some(false));
        assert_eq!(said("wd40efax", "sequential", "write"), Some(false));
        assert_eq!(said("wd740gd", "random", "write"), None);
    }
}
