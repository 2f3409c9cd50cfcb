//! Whether the layouts keep the rate that a workload asks for.

use crate::judge::Ranked;
use crate::judge::answer::{Point, point};
use crate::judge::layouts::split;
use crate::pace::{FEW, KEPT, Paced, of_ms, paced, reached};
use crate::tables::percent;
use serde_json::{Map, Value as Json};
use std::fmt;
use store::Manifest;
use store::record::Record;

/// That the best does not keep a rate that was asked for, and what does.
pub(crate) fn told(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let reached = |at: &Map<String, Json>| -> f64 {
        let own = records.iter().filter(|record| split(manifest, record).1 == *at);
        own.filter_map(reached).fold(1.0, f64::min)
    };
    let (best, others) = ranked.split_first()?;
    let of_best = reached(&best.at);
    if of_best >= KEPT {
        return None;
    }
    let share =
        if of_best < 0.01 { "less than 1 %".into() } else { format!("about {}", percent(of_best)) };
    let text = match others.iter().find(|other| reached(&other.at) >= KEPT) {
        Some(other) => {
            format!(
                "{} reaches {share} of the rate asked for; {} keeps it",
                best.label, other.label
            )
        }
        None => format!("no layout keeps the rate asked for: the best reaches {share} of it"),
    };
    Some(point("too slow", text))
}

/// Layouts whose blocks come late more often, or later, than those of others, though the times of the blocks may be alike: a
/// line for each workload.
pub(crate) fn apart(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Vec<Point> {
    let mut rated: Vec<(&str, String)> = Vec::new();
    for record in records {
        let names = paced(record).into_iter().map(|of| (record.workload.as_str(), of.name));
        rated.extend(names);
    }
    rated.sort_unstable();
    rated.dedup();
    let points = rated.into_iter().filter_map(|(workload, stream)| {
        let of = |layout: &Ranked| -> Option<Late> {
            let own = records.iter().filter(|record| {
                record.workload == workload && split(manifest, record).1 == layout.at
            });
            let own = own.flat_map(paced).filter(|of| of.name == stream).map(Late);
            own.max_by(|one, other| one.share().total_cmp(&other.share()))
        };
        let all: Vec<(&Ranked, Late)> =
            ranked.iter().filter_map(|layout| Some((layout, of(layout)?))).collect();
        let (least, at_least) =
            all.iter().min_by(|(_, one), (_, other)| one.share().total_cmp(&other.share()))?;
        let (worst, at_worst) =
            all.iter().max_by(|(_, one), (_, other)| one.share().total_cmp(&other.share()))?;
        // Few late blocks are chance.
        if at_worst.share() <= FEW || at_worst.share() < TIMES * at_least.share() {
            return None;
        }
        let text = format!(
            "{stream}: {} is late with {at_worst}, {} with {at_least}",
            worst.label, least.label
        );
        Some(point("late", text))
    });
    points.collect()
}

/// How often more a layout is late than another where that is said.
const TIMES: f64 = 2.0;

/// The late blocks of a stream, or of a trial.
struct Late(Paced);

impl Late {
    fn share(&self) -> f64 {
        self.0.late / self.0.blocks.max(1.0)
    }
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Paced { late, blocks, late_ms, .. } = &self.0;
        if *late == 0.0 {
            f.write_str("none")
        } else {
            write!(f, "{late:.0} of {blocks:.0} blocks, by up to {}", of_ms(*late_ms))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    #[test]
    fn a_rate_that_is_not_kept_is_said() {
        let of_kind = |[kind, block, rate]: [&str; 3], of_best_alone: bool| -> Option<String> {
            let (manifest, mut records) = modelled(&format!(
                "[volume]\ndrives = '2xwd740gd'\nlevel = ['stripe', 'concat']\ninterleave = '64KiB'\n\
                 [workload.take]\nkind = '{kind}'\nblock = '{block}'\nrate = '{rate}'\ncount = 100\n"
            ));
            if of_best_alone {
                for record in records.iter_mut().filter(|of| of.at["volume.level"] == "concat") {
                    record.samples.insert("late_max_ms", 0.0);
                }
            }
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.into_iter().find(|point| point.about == "too slow").map(|of| of.text)
        };
        let of = |rate: &str, best| of_kind(["sequential", "1MiB", rate], best);
        assert_eq!(of("50MB/s", false), None);
        // Just kept: single requests are late, by milliseconds.
        assert_eq!(of_kind(["random", "4KiB", "0.4MB/s"], false), None);
        let none = of("2GB/s", false).unwrap();
        assert!(
            none.starts_with("no layout keeps the rate asked for: the best reaches about "),
            "{none}"
        );
        let other = of("2GB/s", true).unwrap();
        assert!(
            other.contains("stripe reaches about ") && other.ends_with("concat keeps it"),
            "{other}"
        );
    }

    /// All layouts had the same times, were tied, and one was late with every tenth block.
    #[test]
    fn layouts_that_are_late_more_often_are_said_to_be() {
        let (manifest, mut records) = modelled(
            "[volume]\ndrives = '2xwd740gd'\nlevel = ['stripe', 'concat']\ninterleave = '64KiB'\n\
             [workload.take]\nkind = 'sequential'\nblock = '1MiB'\nrate = '5MB/s'\ndepth = 4\ncount = 100\n",
        );
        let mut said = |blocks: f64| {
            for record in records.iter_mut().filter(|of| of.at["volume.level"] == "concat") {
                record.samples.insert("underruns", blocks);
                record.samples.insert("late_max_ms", 1282.5);
            }
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.into_iter().find(|point| point.about == "late").map(|of| of.text)
        };
        assert_eq!(said(0.0), None);
        let text = said(10.0).unwrap();
        assert_eq!(
            text,
            "take: level concat is late with 10 of 100 blocks, by up to 1.3 s, level stripe with none"
        );
    }

    /// Layouts that all keep the rate are no worse for it because their requests take longer.
    #[test]
    fn a_rate_that_each_keeps_is_said() {
        let said = |rate: &str| -> String {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '2xwd740gd'\nlevel = ['stripe', 'concat']\ninterleave = '64KiB'\n\
                 [workload.take]\nkind = 'sequential'\nblock = '1MiB'\nrate = '{rate}'\ndepth = 4\ncount = 100\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.into_iter().find(|of| of.about == "objective").unwrap().text
        };
        let kept = said("5MB/s");
        assert!(kept.ends_with("; each keeps the rate, and no block is late"), "{kept}");
        assert!(said("2GB/s").ends_with("by how long these take"));
    }
}
