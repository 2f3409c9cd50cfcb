//! What doubts rates of long requests to flash: data sheets that promise much more than the model makes, mixes that no
//! measurement tests, and garbage collection of large writes.

use crate::judge::answer::{Point, point};
use crate::tables::{listed, times};
use store::Manifest;
use store::record::Record;

/// A model that makes less than this share of what is promised is not of the drive that was bought.
const SHARE: f64 = 2.0 / 3.0;

/// Requests of so many bytes are limited by what moves, smaller ones by how many there are.
const LONG_BYTES: f64 = 65_536.0;

/// From this share of the latency on it counts that garbage collection causes it.
const GARBAGE_SHARE: f64 = 0.05;

/// The lines that say whose rates may be higher, and by how much; none where requests are short.
pub(crate) fn told(manifest: &Manifest, records: &[Record]) -> impl Iterator<Item = Point> {
    let moves = |what: &str| {
        manifest.modelled()
            && records.iter().filter(|record| is_long(record)).any(|record| {
                let only_read = manifest.only_read.contains(&record.workload);
                let is_mixed = record.sample("write_mb_per_s").is_some();
                is_mixed || only_read == (what == "reads")
            })
    };
    let kinds = ["reads", "writes"].into_iter().filter(move |what| moves(what));
    kinds.flat_map(|what| of_kind(manifest, what))
}

/// One line for all drives of the same rates.
fn of_kind(manifest: &Manifest, what: &str) -> Vec<Point> {
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    for (name, drive) in &manifest.drives {
        let below = drive
            .promised
            .iter()
            .find(|of| of.what == what && of.modelled_mb_per_s < SHARE * of.sheet_mb_per_s);
        let Some(below) = below else { continue };
        let state = drive.state.as_deref().unwrap_or("random");
        let more = times(below.sheet_mb_per_s / below.modelled_mb_per_s);
        let faster = match what {
            "reads" => format!(
                "data written in order, or drives in a faster slot, may be read up to {more} as fast"
            ),
            // Its cliff is known, and no slot moves it.
            _ if drive.slc.is_some() => format!(
                "while its SLC cache has room, drives in a faster slot may be up to {more} as fast"
            ),
            _ => format!("short writes, or drives in a faster slot, may be up to {more} as fast"),
        };
        let text = format!(
            "the data sheet promises {:.0} MB/s of {what} in order; the model makes {:.0} at most by commands of 64 KiB \
             and more, as measured in the state {state}: {faster}",
            below.sheet_mb_per_s, below.modelled_mb_per_s
        );
        match told.iter_mut().find(|(other, _)| *other == text) {
            Some((_, names)) => names.push(name.clone()),
            None => told.push((text, vec![name.clone()])),
        }
    }
    let line = |(text, names): (String, Vec<String>)| {
        point("doubt", format!("{}: {text}", listed(&names)))
    };
    told.into_iter().map(line).collect()
}

/// That long reads and writes at once are not tested, where flash does both.
pub(crate) fn mixed(manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let is_mixed = |record: &Record| {
        let moves = |what: &str| record.sample(what).is_some_and(|rate| rate > 0.0);
        is_long(record) && moves("read_mb_per_s") && moves("write_mb_per_s")
    };
    let is_asked = manifest.modelled() && manifest.has_flash() && records.iter().any(is_mixed);
    is_asked.then(|| {
        let text = "large reads and writes at once are tested by no measurement of flash: a drive's model does both, up to 1.7 times what \
                    it does of either alone, which may be too much";
        point("doubt", text.into())
    })
}

/// That garbage collection of large writes is an estimate, where they wait for it.
pub(crate) fn collected(manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let waits = |record: &Record| {
        let times = record.sample("garbage_ms").zip(record.sample("latency_mean_ms"));
        is_long(record) && times.is_some_and(|(garbage, all)| garbage > GARBAGE_SHARE * all)
    };
    (manifest.modelled() && records.iter().any(waits)).then(|| {
        let text = "no measurement tests garbage collection of large writes: the model charges what is written in runs below 32 MiB \
                    like random writes of 4 KiB, however the layout cuts it";
        point("doubt", text.into())
    })
}

/// Whether a record's requests are long, in the mean.
fn is_long(record: &Record) -> bool {
    let rate = record.sample("mb_per_s").zip(record.sample("requests_per_s"));
    rate.is_some_and(|(mb, requests)| mb * 1e6 >= LONG_BYTES * requests && requests > 0.0)
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};
    use store::known::Promise;

    #[test]
    fn long_mixes_on_flash_are_doubted() {
        let doubted = |drive: &str, keys: &str| {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '2x{drive}'\nlevel = ['md-mirror', 'md-stripe']\n[workload.a]\nkind = 'random'\ncount = 50\n{keys}\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.iter().any(|point| point.text.starts_with("large reads and writes"))
        };
        assert!(doubted("p4800x-375gb", "block = '128KiB'\nreads_percent = 50"));
        assert!(!doubted("p4800x-375gb", "block = '4KiB'\nreads_percent = 50"), "short");
        assert!(!doubted("p4800x-375gb", "block = '128KiB'"), "writes or reads alone");
        assert!(!doubted("st18000nm000j", "block = '128KiB'\nreads_percent = 50"), "disks");
    }

    #[test]
    fn garbage_collection_of_large_writes_is_doubted() {
        let doubted = |kind: &str, block: &str, state: &str| {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '2xd3-s4610-480gb'\nlevel = ['md-mirror', 'md-stripe']\n[drive]\nstate = '{state}'\n\
                 [workload.a]\nkind = '{kind}'\nop = 'write'\nblock = '{block}'\ncount = 500\ndepth = 8\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let points = verdict.points.iter();
            points
                .filter(|point| point.text.starts_with("no measurement tests garbage collection"))
                .count()
        };
        assert_eq!(doubted("random", "1MiB", "steady"), 1);
        assert_eq!(doubted("random", "4KiB", "steady"), 0, "a data sheet's");
        assert_eq!(doubted("random", "1MiB", "random"), 0, "blocks are erased");
        assert_eq!(doubted("sequential", "1MiB", "steady"), 0, "in order");
    }

    #[test]
    fn what_a_data_sheet_promises_is_said_of_long_requests() {
        let doubts = |keys: &str, modelled_mb_per_s: f64| -> Vec<String> {
            let (mut manifest, records) = modelled(&format!(
                "[volume]\ndrives = '2xmx200-250gb'\nlevel = ['md-mirror', 'md-raid10']\n[workload.a]\n\
                 kind = 'sequential'\ncount = 20\n{keys}\n"
            ));
            manifest.only_read.extend(keys.contains("read").then(|| "a".to_string()));
            for drive in manifest.drives.values_mut() {
                let promise = |what: &str| Promise {
                    what: what.into(),
                    sheet_mb_per_s: 7000.0,
                    modelled_mb_per_s,
                };
                drive.promised = ["reads", "writes"].map(promise).into();
            }
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let points =
                verdict.points.iter().filter(|point| point.text.contains("data sheet promises"));
            points.map(|point| point.text.clone()).collect()
        };
        assert_eq!(
            doubts("op = 'read'\nblock = '128KiB'", 2019.0),
            [
                "mx200-250gb: the data sheet promises 7000 MB/s of reads in order; the model makes 2019 at most by commands \
              of 64 KiB and more, as measured in the state random: data written in order, or drives in a faster slot, may be read up to 3.5 times as fast"
            ]
        );
        let of_writes = doubts("op = 'write'\nblock = '128KiB'", 2019.0);
        assert!(
            of_writes.len() == 1 && of_writes[0].ends_with("may be up to 3.5 times as fast"),
            "{of_writes:?}"
        );
        assert_eq!(doubts("op = 'read'\nblock = '4KiB'", 2019.0), Vec::<String>::new(), "short");
        assert_eq!(doubts("op = 'read'\nblock = '128KiB'", 6000.0), Vec::<String>::new(), "near");
    }
}
