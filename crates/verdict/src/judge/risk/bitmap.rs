//! What of the time goes into a write-intent bitmap, and what would make that less.

use crate::judge::Ranked;
use crate::judge::answer::{Point, point};
use crate::judge::layouts::split;
use crate::tables::{listed, percent};
use block::layout::Level;
use block::units::format_bytes;
use std::collections::BTreeSet;
use store::Manifest;
use store::record::Record;

/// From such a share of a request's time on the bitmap decides much.
const MUCH: f64 = 0.1;

/// For which levels requests wait for the bitmap: LVM's, which always keep one, and mdadm's that were given one.
pub(crate) fn told(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Vec<Point> {
    let of_lvm = waits(ranked, manifest, records, Level::has_bitmap_of_lvm);
    let of_mdadm = waits(ranked, manifest, records, Level::has_bitmap);
    // Who asks for regions has them compared.
    let is_asked = manifest.settings().keys().any(|key| key.ends_with("volume.region_size"));
    let lvm = of_lvm.map(|(waits, usable_bytes)| {
        let keeps = format!("{waits} for the bitmap that LVM always keeps");
        if is_asked {
            return keeps;
        }
        let region = format_bytes(region_bytes(usable_bytes));
        format!(
            "{keeps}; where writes stay within a part of the volume, regions larger than its {region} (`lvcreate --regionsize`, \
             `volume.region_size` where all levels are LVM's) have it written less often, and a crash costs a longer resync"
        )
    });
    let mdadm = of_mdadm.map(|(waits, _)| {
        format!(
            "{waits} for the write-intent bitmap; without one (`volume.bitmap = \"none\"`) a crash costs a full resync"
        )
    });
    lvm.into_iter().chain(mdadm).map(|text| point("bitmap", text)).collect()
}

/// That requests of these levels wait, and for how much of their time at most; nothing where it is little.
fn waits(
    ranked: &[Ranked],
    manifest: &Manifest,
    records: &[Record],
    is_about: impl Fn(&Level) -> bool,
) -> Option<(String, u64)> {
    let (mut levels, mut most, mut usable_bytes) = (BTreeSet::new(), 0_f64, 0);
    for record in records {
        let at = split(manifest, record).1;
        let Some(layout) = ranked.iter().find(|ranked| ranked.at == at) else { continue };
        let level = layout.facts.level.as_ref().and_then(|level| level.parse().ok());
        let sample = |name| record.sample(name).unwrap_or(0.0);
        let share = sample("bitmap_ms") / sample("latency_mean_ms");
        if let Some(level) = level.filter(|level| is_about(level) && share >= MUCH) {
            levels.insert(level.to_string());
            most = most.max(share);
            usable_bytes = usable_bytes.max(layout.facts.usable_bytes.unwrap_or(0));
        }
    }
    let levels: Vec<String> = levels.into_iter().collect();
    (!levels.is_empty()).then(|| {
        let share = percent(most);
        (format!("requests of {} wait up to {share} of their time", listed(&levels)), usable_bytes)
    })
}

/// What a bit of LVM's bitmap stands for by default (`raid_region_size`): 2 MiB, or as much more as 2^21 of them need. 54 TB
/// take 32 MiB.
fn region_bytes(usable_bytes: u64) -> u64 {
    let mut region_bytes = 2 << 20;
    while region_bytes < usable_bytes >> 21 {
        region_bytes *= 2;
    }
    region_bytes
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    fn said(volume: &str, op: &str) -> Vec<String> {
        let (manifest, records) = modelled(&format!(
            "[volume]\ninterleave = '64KiB'\n{volume}\n\
             [workload.w]\nkind = 'random'\nop = '{op}'\nblock = '8KiB'\njobs = 4\ncount = 200\n"
        ));
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        let own = verdict.points.into_iter().filter(|point| point.about == "bitmap");
        own.map(|point| point.text).collect()
    }

    #[test]
    fn what_waits_for_lvms_bitmap_is_told_what_makes_it_cheaper() {
        const DRIVES: &str = "drives = '3xst18000nm000j:32GiB'\n";
        let said = |volume: &str, op| said(&format!("{DRIVES}{volume}"), op);
        let levels = "level = ['md-raid5', 'lvm-raid5']";
        let by_default = said(levels, "write");
        assert_eq!(by_default.len(), 1, "{by_default:?}");
        assert!(by_default[0].starts_with("requests of lvm-raid5 wait up to "), "{by_default:?}");
        assert!(
            by_default[0].contains("larger than its 2MiB (`lvcreate --regionsize`"),
            "{by_default:?}"
        );
        let asked = said("level = 'lvm-raid5'\nregion_size = ['2MiB', '4MiB']", "write");
        assert!(asked[0].ends_with("the bitmap that LVM always keeps"), "{asked:?}");
        assert_eq!(said(levels, "read"), [""; 0]);
        assert_eq!(said("level = 'lvm-raid5'\nregion_size = '1GiB'", "write"), [""; 0]);
    }

    #[test]
    fn a_large_volume_has_larger_regions() {
        let mib = |terabytes: u64| super::region_bytes(terabytes * 1_000_000_000_000) >> 20;
        assert_eq!([1, 4, 54, 72].map(mib), [2, 2, 32, 64]);
    }

    #[test]
    fn what_waits_for_mdadms_is_told_what_it_is_for() {
        let both = said(
            "drives = '4xst18000nm000j'\nlevel = 'md-raid10'\nbitmap = ['none', 'internal']",
            "write",
        );
        assert_eq!(both.len(), 1, "{both:?}");
        assert!(both[0].contains("requests of md-raid10 wait") && both[0].contains("full resync"));
    }
}
