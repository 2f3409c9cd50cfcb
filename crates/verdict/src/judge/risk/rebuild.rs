//! How long a failed member takes to be restored while the load goes on.

use crate::cells::compare_all;
use crate::judge::Ranked;
use crate::judge::answer::{Point, point};
use crate::judge::layouts::split;
use crate::stated::Stated;
use crate::tables::listed;
use block::SECTOR_BYTES;
use block::layout::Level;
use serde_json::{Map, Value as Json};
use store::Manifest;
use store::members::stated_members;
use store::record::Record;

/// What each ranked layout needs at the pace of its trials, the best first; nothing where none is restored.
pub(crate) fn told(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let hours_of = |record: &Record| hours(manifest, record);
    let mut has_lists = false;
    let with_label: Vec<String> = ranked
        .iter()
        .filter_map(|layout| {
            let own = records.iter().filter(|record| split(manifest, record).1 == layout.at);
            let words = range(&own.clone().filter_map(hours_of).collect::<Vec<_>>())?;
            // Each condition has its own pace.
            Some(match by_condition(manifest, own) {
                of_each if layout.at.is_empty() => of_each.unwrap_or(words),
                Some(of_each) => {
                    has_lists = true;
                    format!("on {} {of_each}", layout.label)
                }
                None => format!("{words} with {}", layout.label),
            })
        })
        .take(TOLD)
        .collect();
    (!with_label.is_empty()).then(|| {
        let text = format!(
            "if this load goes on, restoring the failed member takes {}; until then the volume survives one failure less",
            if has_lists { with_label.join("; ") } else { listed(&with_label) }
        );
        point("rebuild", text)
    })
}

/// How long it takes, of the least and the most.
fn range(hours: &[Hours]) -> Option<String> {
    let least = hours.iter().map(|of| of.least).reduce(f64::min)?;
    let most = hours.iter().map(|of| of.most).reduce(f64::max)?;
    Some(if most.is_infinite() {
        format!("at least {}", in_words(least))
    } else if in_words(least) == in_words(most) {
        in_words(most)
    } else {
        format!("{} to {}", in_words(least), in_words(most))
    })
}

/// The same of each load and condition, as far as they differ; nothing where they take the same time.
fn by_condition<'r>(manifest: &Manifest, own: impl Iterator<Item = &'r Record>) -> Option<String> {
    let mut each: Vec<(Map<String, Json>, Vec<Hours>)> = Vec::new();
    for (record, hours) in own.filter_map(|record| Some((record, hours(manifest, record)?))) {
        let given = split(manifest, record).0;
        match each.iter_mut().find(|(known, _)| *known == given) {
            Some((_, all)) => all.push(hours),
            None => each.push((given, vec![hours])),
        }
    }
    each.sort_by(|(a, _), (b, _)| compare_all(a.values(), b.values()));
    let first = each.first()?.0.clone();
    let is_varied = |key: &String| each.iter().any(|(given, _)| given.get(key) != first.get(key));
    let times: Vec<String> = each.iter().filter_map(|(_, hours)| range(hours)).collect();
    let words = each.iter().zip(&times).map(|((given, _), time)| {
        let own = given.iter().filter(|(key, _)| is_varied(key));
        let own: Map<String, Json> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        format!("{time} with {}", manifest.factors.label(&own))
    });
    times.iter().any(|time| *time != times[0]).then(|| listed(&words.collect::<Vec<_>>()))
}

/// How near md's RAID 5 and 6, 10 and 1 are while a member is restored, and by which clock.
pub(crate) fn doubt(manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let settings = manifest.settings();
    let is_restored = |is: fn(&Level, usize) -> bool| {
        manifest.host_is_modelled()
            && records.iter().any(|record| {
                let stated = Stated::new(&record.at, &record.workload, &settings);
                let level = stated.value("volume.level").and_then(|level| level.parse().ok());
                let drives = stated.value("volume.drives").unwrap_or_default();
                let members = stated_members(&drives).len();
                stated.value("volume.rebuild").is_some()
                    && level.is_some_and(|of: Level| is(&of, members))
            })
    };
    let of_parity = is_restored(|level, _| level.has_stripe_cache()).then_some(OF_PARITY);
    let of_copies = is_restored(|level, _| is_of_copies(level)).then_some(OF_COPIES);
    let of_two =
        is_restored(|level, members| level.name == "md-mirror" && members < 3).then_some(OF_TWO);
    let of_more =
        is_restored(|level, members| level.name == "md-mirror" && members > 2).then_some(OF_MORE);
    let all = [of_parity, of_copies, of_two, of_more];
    let said: Vec<&str> = all.into_iter().flatten().collect();
    (!said.is_empty()).then(|| point("doubt", said.join("; ")))
}

/// What docs/md.md has of parity that is restored.
const OF_PARITY: &str = "with `volume.rebuild` RAID 5 and 6 share the rows of md's stripe cache with what is restored: beside reads in order the load is \
                         0.86 to 1.20 times as fast as in the kernel with eight in flight, 0.56 to 1.24 times with one (least where each reads whole \
                         stripes), and 0.8 to 3.5 times as much is restored; other work is 0.86 to 1.05 times as fast with write caches off, and writes \
                         in order up to 1.34 times with caches on. A kernel with ticks of 4 or 1 ms, as those of \
                         distributions, should restore more beside a slower load than this one with 10 ms (docs/md.md)";

/// The same of copies that have one barrier.
const OF_COPIES: &str = "with `volume.rebuild` RAID 10 serves and restores in turns, by a kernel with 100 ticks a second: with the 250 or 1000 of \
                         distributions it should be restored faster, beside a slower load. Over five and six disks reads in order are up to 1.17 times as \
                         fast as in the kernel; of far copies up to 1.43 times with one in flight, and with four the kernel has a second rate, 0.2 to 0.4 \
                         times the first, that the model has not; one or three at random on two to five drives are 0.95 to 1.05 times as fast, and \
                         0.88 to 1.10 times as much is restored, with write caches once 0.33 times (docs/md.md)";

/// And of mirrors of two, whose reads pass by the barrier.
const OF_TWO: &str = "with `volume.rebuild` that limits nothing, one read in flight on RAID 1 of two disks is 0.79 times as fast as in the kernel, and \
                      1.57 times as much is restored; of more in flight 0.83 to 1.29 times as much, by seed (docs/md.md)";

/// The same of more, where reads have a choice.
const OF_MORE: &str = "with `volume.rebuild` one or three reads in flight on RAID 1 of three to five drives are 0.92 to 1.05 times as fast as in the \
                       kernel, and 0.91 to 1.17 times as much is restored; of eight in flight up to 1.37 times as much, by seed (docs/md.md)";

/// So many layouts are told of.
const TOLD: usize = 3;

/// A trial that takes less than this restores too few pieces to say at which pace.
const LEAST_S: f64 = 10.0;

/// What md's RAID 10 restores at once before the load holds it back: 512 pieces of 64 KiB (docs/md.md). A trial that restores little
/// has that in its pace, and days of load do not.
const AT_ONCE_BYTES: f64 = 33_554_432.0;

/// Hours to restore all of a member: at the pace of a trial, and without what was restored at once.
#[derive(Clone, Copy, Debug)]
struct Hours {
    least: f64,
    most: f64,
}

/// Hours at the pace of a trial, which has restored a share of the member when its load ends. A fiftieth in two hours: 100 h.
fn hours(manifest: &Manifest, record: &Record) -> Option<Hours> {
    let share = record.sample("rebuilt_share").filter(|&share| share > 0.0 && share < 1.0)?;
    let took_s = record.sample("elapsed_s")? + record.sample("warm_up_s").unwrap_or(0.0);
    let of = |share: f64| if share > 0.0 { took_s / share / 3600.0 } else { f64::INFINITY };
    // Where less was restored in all, the load has come first.
    let at_once = Some(share_at_once(manifest, record)).filter(|&at_once| at_once < share);
    let most = of(share - at_once.unwrap_or(0.0));
    (took_s >= LEAST_S).then_some(Hours { least: of(share), most })
}

/// The share of a member that md restores at once: none but of RAID 10.
fn share_at_once(manifest: &Manifest, record: &Record) -> f64 {
    let settings = manifest.settings();
    let stated = Stated::new(&record.at, &record.workload, &settings);
    let level = stated.value("volume.level").and_then(|level| level.parse().ok());
    if !level.is_some_and(|level| is_of_copies(&level)) {
        return 0.0;
    }
    let members = stated_members(&stated.value("volume.drives").unwrap_or_default());
    let sectors = members.iter().filter_map(|member| {
        member.sectors.or_else(|| manifest.drives.get(&member.drive)?.sectors)
    });
    sectors.min().map_or(0.0, |sectors| AT_ONCE_BYTES / (sectors * SECTOR_BYTES) as f64)
}

/// Whether it is md's RAID 10, which has one barrier for all of it.
fn is_of_copies(level: &Level) -> bool {
    level.is_run_by_md() && level.spread().is_some()
}

fn in_words(hours: f64) -> String {
    if hours < 1.0 {
        format!("{:.0} min", (60.0 * hours).max(1.0))
    } else if hours < 10.0 {
        // A whole hour may be less than the limit allows.
        format!("{} h", (10.0 * hours).round() / 10.0)
    } else if hours < 72.0 {
        format!("{hours:.0} h")
    } else {
        format!("{:.0} days", hours / 24.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    #[test]
    fn mds_rebuilds_are_others_in_the_model() {
        let of = |members: u32, level: &str, rebuild: &str, by_kernel: bool, words: &str| {
            let (mut manifest, records) = modelled(&format!(
                "[volume]\ndrives = '{members}xwd740gd:1000000'\nlevel = '{level}'\ninterleave = '64KiB'\nfailed = '1'\n{rebuild}\n\
                 [workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 100\n"
            ));
            if by_kernel {
                manifest.machine.insert("kernel".into(), "6.1".into());
            }
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.iter().any(|point| point.text.contains(words))
        };
        let said = |level: &str, rebuild: &str, by_kernel: bool, words: &str| {
            of(4, level, rebuild, by_kernel, words)
        };
        let rebuild = "rebuild = '2MB/s'";
        for (members, words, other) in [
            (2, "RAID 1 of two disks is 0.79 times", "RAID 1 of three"),
            (3, "RAID 1 of three to five drives", "RAID 1 of two"),
        ] {
            assert!(of(members, "md-mirror", rebuild, false, words), "{members}");
            assert!(!of(members, "md-mirror", rebuild, false, other), "{members}");
        }
        for (own, other, words) in [
            ("md-raid5", "md-raid10", "rows of md's stripe cache"),
            ("md-raid6", "md-raid10", "0.56 to 1.24 times with one"),
            ("md-raid10", "md-raid5", "100 ticks a second"),
            ("md-raid10", "md-mirror", "up to 1.17 times as fast as in the kernel"),
            (
                "md-mirror",
                "md-raid10",
                "0.92 to 1.05 times as fast as in the kernel, and 0.91 to 1.17",
            ),
        ] {
            assert!(said(own, rebuild, false, words), "{own}");
            assert!(!said(own, "", false, words) && !said(other, rebuild, false, words), "{own}");
            assert!(!said(own, rebuild, true, words), "{own}: the kernel's own is right");
        }
        for level in ["raid10", "md-mirror"] {
            assert!(!said(level, rebuild, false, "100 ticks a second"), "{level}");
        }
    }

    /// 512 MB at 2 MB/s take 4.3 min; with nothing to restore nothing is said.
    #[test]
    fn a_rebuild_under_load_is_timed() {
        let said = |rebuild: &str, count: u32| {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '4xwd740gd:1000000'\nlevel = ['raid5', 'raid10']\ninterleave = '64KiB'\nfailed = '1'\n{rebuild}\n\
                 [workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = {count}\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let point = verdict.points.into_iter().find(|point| point.about == "rebuild");
            point.map(|point| point.text)
        };
        let text = said("rebuild = '2MB/s'", 3000).unwrap();
        assert!(text.contains("takes 4 min with level "), "{text}");
        assert_eq!(said("", 3000), None);
        assert_eq!(said("rebuild = '2MB/s'", 50), None, "half a second says nothing");
    }

    /// The kernel restores 45 MB of 18 TB in 16 s beside such a load, 34 of them before the load comes: 77 days was what a short trial said,
    /// and 202 what a longer one did.
    #[test]
    fn what_is_restored_at_once_is_no_pace() {
        let of = |drive: &str, level: &str, count: u32| {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '4x{drive}'\nlevel = '{level}'\ninterleave = '64KiB'\nfailed = '1'\n\
                 rebuild = '50MB/s'\n[workload.w]\nkind = 'random'\nblock = '8KiB'\nreads_percent = 70\ndepth = 16\ncount = {count}\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.into_iter().find(|point| point.about == "rebuild").unwrap().text
        };
        let said = |level: &str, count| of("st18000nm000j[write_cache=false]", level, count);
        let text = said("md-raid10", 3000);
        let days = text.split_once("takes ").unwrap().1;
        let days = days.split_once(" days with ").or(days.split_once(" days; ")).expect(&text).0;
        let (least, most) = days.split_once(" days to ").expect(&text);
        let [least, most] = [least, most].map(|days| days.parse::<u32>().unwrap());
        assert!((70..85).contains(&least) && (250..350).contains(&most), "{text}");
        assert!(!said("raid10", 9000).contains(" to "), "it has no barrier");
        // With write caches on, the load comes before that (docs/md.md), and the pace is that of the whole trial.
        let text = of("st18000nm000j", "md-raid10", 3000);
        assert!(!text.contains("at least") && !text.contains(" days to "), "{text}");
        let none = Hours { least: 5.0, most: f64::INFINITY };
        assert_eq!(range(&[none]).unwrap(), "at least 5 h");
    }

    /// Each of two cells was "the only cell", and a run of which one was not steady began with the line that said so.
    #[test]
    fn each_condition_has_its_own_time() {
        let (manifest, mut records) = modelled(
            "[volume]\ndrives = '4xwd740gd:1000000'\nlevel = 'raid5'\ninterleave = '64KiB'\nfailed = '1'\n\
             rebuild = ['2MB/s', '1MB/s']\n[workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 3000\n",
        );
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        let text = verdict.points.into_iter().find(|point| point.about == "rebuild").unwrap().text;
        assert!(
            text.contains("takes 8 min with rebuild 1MB/s and 4 min with rebuild 2MB/s; "),
            "{text}"
        );
        records[0].samples.insert("steady", 0.0);
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        assert_eq!(verdict.answer, "Nothing to choose: rebuild is a condition.");
        records.truncate(1);
        records[0].at.clear();
        records[0].samples.insert("steady", 1.0);
        let alone = store::Manifest { factors: store::factor::Factors::default(), ..manifest };
        let verdict = Verdict::new(&alone, &records, &Wishes::default()).unwrap();
        let text = verdict.points.into_iter().find(|point| point.about == "rebuild").unwrap().text;
        assert!(
            text.starts_with("if this load goes on, restoring the failed member takes 8 min; "),
            "{text}"
        );
    }

    /// "24 min with level md-raid10" was of the higher of two rates.
    #[test]
    fn each_rate_has_its_own_time_on_each_layout() {
        let (manifest, records) = modelled(
            "[volume]\ndrives = '4xwd740gd:1000000'\nlevel = ['raid5', 'raid10']\ninterleave = '64KiB'\nfailed = '1'\n\
             rebuild = ['2MB/s', '1MB/s']\n[workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 3000\n",
        );
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        let text = verdict.points.into_iter().find(|point| point.about == "rebuild").unwrap().text;
        let of_each = "8 min with rebuild 1MB/s and 4 min with rebuild 2MB/s";
        for level in ["raid5", "raid10"] {
            assert!(text.contains(&format!("on level {level} {of_each}; ")), "{text}");
        }
    }

    /// "2 h with failed 1, rebuild 200MB/s and 2 h with failed 1, rebuild 2GB/s": only what differs is said, and one time once.
    #[test]
    fn what_differs_between_conditions_is_said() {
        let (manifest, mut records) = modelled(
            "[volume]\ndrives = '4xwd740gd:1000000'\nlevel = 'raid10'\ninterleave = '64KiB'\nfailed = ['0', '1']\n\
             rebuild = ['2MB/s', '1MB/s']\n[workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 3000\n",
        );
        records.retain(|record| record.at["volume.failed"] == "1");
        let own = || records.iter();
        let of_each = by_condition(&manifest, own()).unwrap();
        assert_eq!(of_each, "8 min with rebuild 1MB/s and 4 min with rebuild 2MB/s");
        records.retain(|record| record.at["volume.rebuild"] == 1_000_000);
        records.push(records[0].clone());
        records[1].at.insert("volume.rebuild".into(), 3_000_000.into());
        assert_eq!(by_condition(&manifest, records.iter()), None);
    }

    #[test]
    fn times_are_said_in_what_people_count_in() {
        assert_eq!([0.5, 30.0, 100.0].map(super::in_words), ["30 min", "30 h", "4 days"]);
        // 1 TB at 200 MB/s: "to 1 h" was below what the limit allows.
        assert_eq!([1.389, 2.0, 9.96].map(super::in_words), ["1.4 h", "2 h", "10 h"]);
    }
}
