//! Volumes over unequal drives, of which the end is on the larger ones alone: what was measured at the beginning is not its rate.

use crate::judge::answer::{Point, point};
use crate::judge::layouts::facts::Narrower;
use crate::judge::layouts::{sorted_words, split};
use crate::judge::{Ranked, Verdict};
use crate::stated::Stated;
use crate::tables::listed;
use block::SECTOR_BYTES;
use block::units::{format_decimal, parse_sectors};
use std::collections::BTreeMap;
use store::Manifest;
use store::record::Record;

/// For which layouts the rate holds of their beginning alone, as no work came to the part that is on fewer drives.
pub(crate) fn told(verdict: &Verdict, manifest: &Manifest, records: &[Record]) -> Vec<Point> {
    if !verdict.ranked.iter().any(|ranked| ranked.facts.narrower.is_some()) {
        return Vec::new();
    }
    let reached = reached(verdict, manifest, records);
    let mut found: Vec<(Narrower, u64, Vec<&Ranked>)> = Vec::new();
    for ranked in &verdict.ranked {
        let (Some(narrower), Some(usable_bytes)) =
            (ranked.facts.narrower, ranked.facts.usable_bytes)
        else {
            continue;
        };
        let reach_bytes = reached.get(&sorted_words(&ranked.at)).copied().flatten();
        if reach_bytes.is_none_or(|reach| reach > narrower.from_bytes) {
            continue;
        }
        match found.iter_mut().find(|(of, usable, _)| (*of, *usable) == (narrower, usable_bytes)) {
            Some((.., layouts)) => layouts.push(ranked),
            None => found.push((narrower, usable_bytes, vec![ranked])),
        }
    }
    let line = |(narrower, usable_bytes, layouts): (Narrower, u64, Vec<&Ranked>)| {
        let rest = format_decimal(usable_bytes - narrower.from_bytes);
        let (all, drives) = (format_decimal(usable_bytes), narrower.drives);
        let of = match layouts[0].facts.members {
            Some(members) => format!("{drives} of {members} drives"),
            None => format!("{drives} drives"),
        };
        let names = verdict.names(layouts.into_iter());
        let names =
            if verdict.ranked.len() == 1 { String::new() } else { format!("{}: ", listed(&names)) };
        let text = format!(
            "{names}the last {rest} of {all} are on {of} alone, where no work came here: the rates are of the beginning. To measure the \
             rest, set the work's `offset`"
        );
        point("unequal drives", text)
    };
    found.into_iter().map(line).collect()
}

/// Up to which byte of each layout work came; `None` where that may be its end.
fn reached(
    verdict: &Verdict,
    manifest: &Manifest,
    records: &[Record],
) -> BTreeMap<String, Option<u64>> {
    let settings = manifest.settings();
    let sizes = verdict.ranked.iter().map(|of| (sorted_words(&of.at), of.facts.usable_bytes));
    let sizes: BTreeMap<String, Option<u64>> = sizes.collect();
    let mut reached: BTreeMap<String, Option<u64>> = BTreeMap::new();
    for record in records {
        let at = sorted_words(&split(manifest, record).1);
        let Some(&Some(usable_bytes)) = sizes.get(&at) else { continue };
        let of = reached.entry(at).or_insert(Some(0));
        *of = of.zip(reach_bytes(record, &settings, usable_bytes)).map(|(a, b)| a.max(b));
    }
    reached
}

/// Up to which byte of a volume of this size a workload came; `None` where that may be its end.
fn reach_bytes(record: &Record, settings: &toml::Table, usable_bytes: u64) -> Option<u64> {
    let stated = Stated::new(&record.at, &record.workload, settings);
    // As a size, or as a share of the volume.
    let bytes = |key: &str| {
        let said = stated.own(key).and_then(|text| parse_sectors(&text).ok());
        let share = || stated.own(&format!("{key}_percent"))?.parse::<u64>().ok();
        let of_share = |percent: u64| (u128::from(usable_bytes) * u128::from(percent) / 100) as u64;
        said.map(|sectors| sectors * SECTOR_BYTES).or_else(|| share().map(of_share))
    };
    let from_bytes = bytes("offset").unwrap_or(0);
    if bytes("job_step").is_some() {
        return None;
    }
    if let Some(span_bytes) = bytes("span") {
        return Some(from_bytes + span_bytes);
    }
    // One stream in order comes as far as it moves.
    let is_ordered = match stated.own("kind") {
        Some(kind) => kind == "sequential" || kind == "dd",
        None => stated.streams().is_empty(),
    };
    let is_one = stated.own("jobs").is_none_or(|jobs| jobs == "1");
    // The warm-up moved something, too.
    let took_s = record.sample("elapsed_s")? + record.sample("warm_up_s").unwrap_or(0.0);
    let moved_bytes = record.sample("mb_per_s")? * 1e6 * took_s;
    (is_ordered && is_one).then_some(from_bytes + moved_bytes as u64)
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    fn said(level: &str, work: &str) -> Option<String> {
        let (manifest, records) = modelled(&format!(
            "[volume]\ndrives = '2xst18000nm000j:4TB+2xst18000nm000j:8TB'\nlevel = {level}\n[host]\nname = 'linux-6.1'\n\
             [workload.w]\nblock = '1MiB'\ncount = 20\n{work}\n"
        ));
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        let line = verdict.points.into_iter().find(|point| point.about == "unequal drives");
        line.map(|line| line.text)
    }

    /// Half of the larger drives has nothing beside it; a rate of the beginning is not said of it.
    #[test]
    fn the_end_of_a_stripe_over_unequal_drives_is_told_of() {
        let line = said("['md-stripe', 'md-raid5']", "kind = 'sequential'").unwrap();
        let begin = "md-stripe: the last 8 TB of 24 TB are on 2 of 4 drives alone, where no work came here: ";
        assert!(line.starts_with(begin), "{line}");
        assert_eq!(said("'md-raid5'", "kind = 'sequential'"), None);
        assert_eq!(said("'md-concat'", "kind = 'sequential'"), None);
        assert_eq!(
            said("'md-stripe'", "kind = 'sequential'\noffset = '15900GB'").map(|_| ()),
            Some(())
        );
        assert_eq!(said("'md-stripe'", "kind = 'sequential'\noffset = '20TB'"), None);
        // A share of the volume is a place, too: "no work came here" was said of reads that began at 97 of 100.
        for (keys, is_said) in [
            ("offset_percent = 50", true),
            ("offset_percent = 97", false),
            ("span_percent = 50", true),
            ("span_percent = 80", false),
            ("jobs = 2\nspan = '1GiB'\njob_step_percent = 45", false),
        ] {
            let line = said("'md-stripe'", &format!("kind = 'sequential'\n{keys}"));
            assert_eq!(line.is_some(), is_said, "{keys}");
        }
        // Each job has its own part, the last of them at 16.2 TB.
        let jobs = "kind = 'sequential'\njobs = 4\njob_step = '5400GB'\nspan = '1GiB'";
        assert_eq!(said("'md-stripe'", jobs), None);
        // At random all of the volume is asked.
        assert_eq!(said("'md-stripe'", "kind = 'random'"), None);
    }
}
