//! What an answer about shingled disks rests on, and what they are unfit for.

use crate::judge::answer::{Point, point};
use block::SECTOR_BYTES;
use block::units::parse_sectors;
use std::collections::BTreeSet;
use store::Manifest;

/// What is said of shingled disks, whose model little but a few published figures holds.
pub const SHINGLED: &str = "these disks are shingled: most of their model is an estimate, and their random writes may be off by up to four \
                            times; each write outside a long stream causes a band of tracks to be rewritten later (docs/smr.md)";

/// What is said of them before that, where the work has small writes at random.
pub const UNFIT: &str = "shingled disks are unfit for small random writes, of which each does a few a second once its media cache is full: take \
                         conventional disks (CMR) for this work";

/// What decides how fast writes in order are, and is a guess: the rule by which a write goes to its band.
pub const STREAMS: &str = "how fast sequential writes are depends on one estimate: how much must come in a row before a stream's writes go straight to \
                           their bands, and how many streams may do so (for most of these disks 128 MiB, and 8 streams). What comes before that, \
                           or in more streams, is written twice. `[stream=1MiB,streams=64]` behind a drive's name asks with other figures";

/// The lines about them, where modelled drives are such.
pub(crate) fn told(manifest: &Manifest) -> Vec<Point> {
    if !manifest.modelled() || !manifest.has_shingled() {
        return Vec::new();
    }
    let text = if is_unfit(manifest) { format!("{UNFIT}; {SHINGLED}") } else { SHINGLED.into() };
    let of_streams = writes_in_order(manifest).then(|| point("streams", STREAMS.into()));
    [point("shingled", text)].into_iter().chain(of_streams).collect()
}

/// Random writes of less are small: write caches of disks (256 MiB) take thousands of them.
pub const SMALL_BYTES: u64 = 128 << 10;

/// Whether a workload has small writes at random.
fn is_unfit(manifest: &Manifest) -> bool {
    let is_small = |text: &String| {
        parse_sectors(text).is_ok_and(|sectors| sectors * SECTOR_BYTES < SMALL_BYTES)
    };
    has_writer(manifest, |values| {
        let blocks = values("block");
        let is_random = values("kind").iter().any(|kind| kind == "random");
        is_random && (blocks.is_empty() || blocks.iter().any(is_small))
    })
}

/// Whether a workload writes in order.
fn writes_in_order(manifest: &Manifest) -> bool {
    has_writer(manifest, |values| {
        let kinds = values("kind");
        let is_ordered = |kind: &String| kind == "sequential" || kind == "dd";
        kinds.is_empty() || kinds.iter().any(is_ordered)
    })
}

/// Whether a workload that writes is such, by the values of its keys.
fn has_writer(manifest: &Manifest, is_so: impl Fn(&dyn Fn(&str) -> Vec<String>) -> bool) -> bool {
    let settings = manifest.settings();
    let values = |path: String| -> Vec<String> {
        match settings.get(&path) {
            Some(toml::Value::Array(all)) => all.iter().map(plain_toml).collect(),
            Some(one) => vec![plain_toml(one)],
            None => Vec::new(),
        }
    };
    // Streams stand by their own names, whatever their group is called.
    let names: BTreeSet<&str> = settings
        .keys()
        .filter_map(|path| Some(path.strip_prefix("workload.")?.split_once('.')?.0))
        .collect();
    names.into_iter().filter(|name| !manifest.only_read.iter().any(|only| only == name)).any(
        |name| {
            let own = |key: &str| values(format!("workload.{name}.{key}"));
            let writes = own("op").iter().any(|op| op == "write")
                || own("reads_percent").iter().any(|share| share != "100");
            writes && is_so(&own)
        },
    )
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

    /// Cameras that write in order reach a tenth of their rate by one rule alone, which is an estimate: it is named.
    #[test]
    fn the_rule_that_decides_of_writes_in_order_is_named() {
        let said = |drives: &str, kind: &str, op: &str| {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '2x{drives}'\nlevel = 'md-raid0'\n[host]\nname = 'linux-6.1'\n\
                 [workload.w]\nkind = '{kind}'\nop = '{op}'\ncount = 50\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.iter().any(|point| {
                point.about == "streams" && point.text.contains("128 MiB, and 8 streams")
            })
        };
        assert!(said("wd40efax", "sequential", "write"));
        assert!(!said("wd40efax", "sequential", "read"));
        assert!(!said("wd40efax", "random", "write"));
        assert!(!said("wd740gd", "sequential", "write"));
    }
}
