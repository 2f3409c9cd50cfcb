//! What an answer about shingled disks rests on, and what they are unfit for.

use super::answer::{Point, point};
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

/// Whether a workload writes at random.
fn is_unfit(manifest: &Manifest) -> bool {
    let settings = manifest.settings();
    manifest.workloads.iter().filter(|name| !manifest.only_read.contains(name)).any(|name| {
        let kind = settings.get(&format!("workload.{name}.kind"));
        kind.is_some_and(|kind| kind.as_str() == Some("random"))
    })
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    #[test]
    fn random_writes_to_shingled_disks_are_advised_against() {
        let said = |drives: &str, kind: &str, op: &str| {
            let (mut manifest, records) = modelled(&format!(
                "[volume]\ndrives = '2x{drives}'\nlevel = ['md-raid0', 'md-mirror']\n[host]\nname = 'linux-6.1'\n\
                 [workload.w]\nkind = '{kind}'\nblock = '16KiB'\nop = '{op}'\ncount = 50\n"
            ));
            if op == "read" {
                manifest.only_read = vec!["w".into()];
            }
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let line = verdict.points.into_iter().find(|point| point.about == "shingled");
            line.map(|line| line.text.starts_with("shingled disks are unfit"))
        };
        assert_eq!(said("wd40efax", "random", "write"), Some(true));
        assert_eq!(said("wd40efax", "random", "read"), Some(false));
        assert_eq!(said("wd40efax", "sequential", "write"), Some(false));
        assert_eq!(said("wd740gd", "random", "write"), None);
    }
}
