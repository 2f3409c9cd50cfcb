//! The margin of the best: what ties with it, what may be better, and what comes next.

use crate::cells::compare_all;
use crate::judge::answer::{Point, point};
use crate::judge::{Ranked, Standing, Verdict};
use crate::tables::{listed, slower};
use serde_json::{Map, Value as Json};

/// A layout.
pub(crate) type At = Map<String, Json>;

/// What ties with the best, without the layouts `named` in another line.
pub(crate) fn tied(verdict: &Verdict, named: &[At]) -> Option<Point> {
    let ties = verdict.ranked.iter().filter(|other| other.standing == Standing::Tie);
    let best = &verdict.ranked.first()?.at;
    let ties =
        ties.filter(|other| !named.contains(&other.at) && !verdict.is_the_same(&other.at, best));
    let labels = verdict.names_of_what_matters(ties);
    let plainer = verdict
        .plainer_than_best()
        .filter(|of| !named.contains(&of.at) && !verdict.is_the_same(&of.at, best));
    let plainer = plainer.map_or_else(String::new, |plainer| {
        let label = verdict.names_of_what_matters(std::iter::once(plainer)).concat();
        format!("; of the layouts that tie, {label} is nearest to md's default")
    });
    (!labels.is_empty()).then(|| {
        let all = semicolons(&labels);
        point("tied", format!("{all}; keep yours if it is among them{plainer}"))
    })
}

/// Those that may be as good as the best or better, where others are not.
pub(crate) fn open(verdict: &Verdict) -> Option<Point> {
    let unknown = verdict.ranked.iter().filter(|other| other.standing == Standing::Unknown);
    let labels = verdict.names(unknown);
    (!labels.is_empty()).then(|| {
        let text =
            format!("{}: may be better: one run of each cell cannot tell", semicolons(&labels));
        point("open", text)
    })
}

/// Labels of several factors have commas of their own.
fn semicolons(labels: &[String]) -> String {
    const NAMED: usize = 2;
    if labels.iter().all(|label| !label.contains(',')) {
        return listed(labels);
    }
    match labels.len().saturating_sub(NAMED) {
        0 => labels.join("; "),
        more => format!("{}; {more} more", labels[..NAMED].join("; ")),
    }
}

/// The first that is behind, and the last.
pub(crate) fn next_best(verdict: &Verdict, others: &[Ranked]) -> Option<Point> {
    let behind: Vec<&Ranked> =
        others.iter().filter(|other| other.standing == Standing::Behind).collect();
    let by = |other: &Ranked| slower(other.behind, verdict.better, &verdict.unit);
    let (next, last) = (behind.first()?, behind.last()?);
    let called = |of: &Ranked| verdict.names_of_what_matters(std::iter::once(of)).concat();
    let mut in_order = behind.clone();
    in_order.sort_by(|a, b| compare_all(a.at.values(), b.at.values()));
    let distinct = verdict.names_of_what_matters(in_order.into_iter());
    // Those that are as far behind in words are one group: "64, 37 % slower; last 128 and 256, 37 % slower".
    if by(next) == by(last) && distinct.len() > 1 {
        return Some(point("next best", format!("{}, {}", semicolons(&distinct), by(next))));
    }
    let mut text = format!("{}, {}", called(next), by(next));
    if !verdict.is_the_same(&last.at, &next.at) {
        let is_last = |other: &Ranked| other.at == last.at;
        let alike =
            |other: &&&Ranked| is_last(other) || (other.behind / last.behind - 1.0).abs() < 0.001;
        let mut same: Vec<&Ranked> = behind[1..].iter().filter(alike).copied().collect();
        same.sort_by(|a, b| compare_all(a.at.values(), b.at.values()));
        let labels = verdict.names_of_what_matters(same.into_iter());
        text = format!("{text}; last {}, {}", semicolons(&labels), by(last));
    }
    Some(point("next best", text))
}

#[cfg(test)]
mod tests {
    use super::semicolons;
    use crate::judge::{Verdict, Wishes};
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use lab::{Keep, run};

    /// Lists are cut where they are written. Cut before, fifteen became "3 more".
    #[test]
    fn who_is_not_named_is_counted() {
        let labels = |count: u32, end: &str| -> Vec<String> {
            (1..=count).map(|number| format!("{number}{end}")).collect()
        };
        assert_eq!(semicolons(&labels(15, ", x")), "1, x; 2, x; 13 more");
        assert_eq!(semicolons(&labels(15, "")), "1, 2, 3 and 12 more");
    }

    /// "64, 37 % slower; last 128 and 256, 37 % slower": three that are alike were two groups.
    #[test]
    fn layouts_that_are_as_far_behind_are_one_group() {
        let text = "[host]\nname = 'ultra2-netbsd-3'\nmax_transfer = '32KiB'\n[volume]\ndrives = '2xst118273lc'\nlevel = 'stripe'\n\
                    interleave = [32, 64, 128, 256]\n[drive]\nwrite_cache = true\n[run]\nrepeats = 1\n[workload.r]\nkind = 'dd'\n\
                    op = 'read'\nblock = '1MiB'\ncount = 60\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        let verdict = Verdict::new(&ran.manifest, &ran.records(), &Wishes::default()).unwrap();
        let next = verdict.points.iter().find(|point| point.about == "next best").unwrap();
        let begins = "64 (32 KiB), 128 (64 KiB) and 256 (128 KiB), ";
        assert!(next.text.starts_with(begins) && !next.text.contains("last"), "{}", next.text);
    }
}
