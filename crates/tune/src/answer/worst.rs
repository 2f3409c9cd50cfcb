//! Of work with several workloads: in which of them each layout is worst, for that alone is what it is ranked by.

use crate::front::row::FrontRow;
use store::quantity::Better;
use store::sample;
use verdict::Verdict;
use verdict::judge::Situation;
use verdict::tables::{SHARE_OF_BEST, figure, slower};

/// What is less far behind is worst nowhere.
const LEAST_BEHIND: f64 = 1.1;

/// Where the layouts of the front are worst, those that are so in the same workload together.
pub(crate) fn line(judged: &Verdict, front: &[FrontRow]) -> Option<String> {
    let of: Vec<&str> = judged.situations.iter().map(|situation| situation.of.as_str()).collect();
    if judged.unit != SHARE_OF_BEST || of.iter().all(|name| *name == of[0]) {
        return None;
    }
    let said: Vec<String> =
        judged.situations.iter().filter_map(|situation| in_one(judged, situation, front)).collect();
    (!said.is_empty()).then(|| {
        format!(
            "each layout counts by the workload in which it is furthest behind the best: {}",
            said.join("; ")
        )
    })
}

/// The layouts that are worst in this workload.
fn in_one(judged: &Verdict, situation: &Situation, front: &[FrontRow]) -> Option<String> {
    let behind = |of: &Situation, row: &FrontRow| of.behind(&row.at).unwrap_or(0.0);
    let is_worst = |row: &&FrontRow| {
        let own = behind(situation, row);
        own >= LEAST_BEHIND.ln() && judged.situations.iter().all(|other| behind(other, row) <= own)
    };
    let layouts = front.iter().filter(is_worst).filter_map(|row| {
        let how = slower(behind(situation, row).exp(), situation.better, &situation.unit);
        let value = figure(situation.value_of(&row.at)?);
        Some(format!("{} {how} ({value} {})", row.layout(), situation.unit))
    });
    let layouts: Vec<String> = layouts.collect();
    let best = figure(situation.value);
    // Rates are no less for what comes at one, as long as it is kept.
    let is_latency = situation.better == Better::Lower && sample::is_speed(&situation.unit);
    let why = if is_latency {
        "; it comes at a rate, so its latency counts and not its rate"
    } else {
        ""
    };
    (!layouts.is_empty()).then(|| {
        let layouts = layouts.join(", ");
        format!("{}: {layouts}, at best {best} {}{why}", situation.of, situation.unit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front;
    use crate::question::posed::tests::asked;

    /// Layouts were "5.7 times slower" by the latency of one job, at a rate that all of them keep, and no word said so.
    #[test]
    fn the_workload_that_decides_is_named() {
        let text = "run.repeats = 1\nvolume.drives = '4xp4800x-375gb'\nvolume.level = ['md-raid10', 'md-raid5']\n\
                    [workload.reads]\nkind = 'random'\nblock = '8KiB'\ncount = 500\n\
                    [workload.checkpoint]\nkind = 'random'\nop = 'write'\nblock = '8KiB'\nrate = '20MB/s'\ncount = 500\n";
        let (posed, space, records) = asked(text);
        let verdict = Verdict::new(&space.manifest, &records, &posed.wishes).unwrap();
        let best = verdict.ranked[0].at.clone();
        let rows = front::of_posed(&space, (&verdict, &records), &posed, Some(&best)).unwrap();
        let said = line(&verdict, &rows).unwrap();
        let start = "each layout counts by the workload in which it is furthest behind the best: checkpoint: level md-raid5 ";
        assert!(said.starts_with(start), "{said}");
        assert!(
            said.ends_with("it comes at a rate, so its latency counts and not its rate"),
            "{said}"
        );
    }
}
