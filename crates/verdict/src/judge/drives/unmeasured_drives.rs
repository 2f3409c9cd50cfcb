//! Drives whose reads, writes or flushes nothing measured: what an answer about them rests on.

use super::flash_rates;
use crate::judge::answer::{Point, point};
use crate::judge::asked::aim::Aim;
use crate::tables::listed;
use store::Manifest;
use store::record::Record;

/// Writes that go on when an SLC cache is full.
const LONG_WRITES: &str = "long writes";

/// In MB/s, of all drives: what is written more slowly may be moved out of such a cache meanwhile.
const LONG_WRITES_MB: f64 = 100.0;

/// What is guessed of drives, and how far off such a guess is.
const GUESSES: [(&str, &str); 5] = [
    (
        "writes",
        "estimated (by `drives fit` from the reads; on measured drives the rates were between a sixth and seven times such \
         an estimate); `ileave drives probe --writes` measures them",
    ),
    (
        LONG_WRITES,
        "taken to be as fast as short ones; with a full SLC cache one measured drive wrote at a tenth of that (docs/flash.md)",
    ),
    (
        "latencies",
        "estimated by ileave from what the provider promises or from another volume; below the volume's limits they set rates and \
         latencies; measure yours at a small queue depth",
    ),
    ("reads", "those of a typical drive; `ileave drives probe` measures them"),
    (
        "flushes",
        "assumed to take the estimated program time of the flash; one measured drive took twice that (docs/flash.md), \
         so they, and commits, may take twice as long",
    ),
];

/// What answers say of drives whose files miss their own measurements, and of those whose writes were measured apart,
/// and came out otherwise; nothing of these where nothing is written that is asked about.
pub(crate) fn disputed<'a>(manifest: &'a Manifest, aim: &Aim) -> impl Iterator<Item = Point> + 'a {
    let is_asked = |name: &&String| {
        aim.workloads.is_empty() || aim.workloads.contains(&manifest.judged_as(name))
    };
    let mut asked = manifest.workloads.iter().filter(is_asked);
    let writes = asked.any(|name| !manifest.only_read.contains(name));
    let drives = manifest.drives.iter().filter(|_| manifest.modelled());
    drives.flat_map(move |(name, drive)| {
        let of_writes = drive.doubt_of_writes.as_ref().filter(|_| writes);
        let doubts = [drive.doubt.as_ref(), of_writes].into_iter().flatten();
        doubts.map(move |doubt| point("doubt", format!("{name}: {doubt}")))
    })
}

/// Whether nothing is written.
pub(crate) fn only_reads(manifest: &Manifest) -> bool {
    manifest.workloads.iter().all(|name| manifest.only_read.contains(name))
}

/// What doubts the figures of the drives.
pub(crate) fn of_drives(aim: &Aim, manifest: &Manifest, records: &[Record]) -> Vec<Point> {
    let mut points: Vec<Point> = told(manifest, records).collect();
    points.extend(disputed(manifest, aim));
    points.extend(flash_rates::told(manifest, records));
    points.extend(flash_rates::mixed(manifest, records));
    points.extend(flash_rates::collected(manifest, records));
    points
}

/// The lines that say whose rates are guesses; none where the work does not ask for them.
pub(crate) fn told(manifest: &Manifest, records: &[Record]) -> impl Iterator<Item = Point> {
    let only_reads = only_reads(manifest);
    let flushes = flushes(manifest, records);
    let is_long = records.iter().any(|record| writes_much(manifest, record));
    let asked = move |what: &str| match what {
        "writes" => !only_reads,
        "flushes" => flushes,
        LONG_WRITES => is_long,
        _ => true,
    };
    let asked = move |what: &str| manifest.modelled() && asked(what);
    GUESSES.into_iter().filter(move |(what, _)| asked(what)).filter_map(|(what, how)| {
        // Of writes that are guessed no more need be said.
        let is_said =
            |guessed: &[String]| what == LONG_WRITES && guessed.iter().any(|word| word == "writes");
        let is_guessed =
            |guessed: &[String]| guessed.iter().any(|word| word == what) && !is_said(guessed);
        let drives = manifest.drives.iter().filter(|(_, drive)| is_guessed(&drive.guessed));
        let names: Vec<String> = drives.map(|(name, _)| name.clone()).collect();
        let of = listed(&names);
        let text = format!("no measurement or data sheet gives the {what} of {of}: they are {how}");
        (!names.is_empty()).then(|| point("doubt", text))
    })
}

/// Whether so much is written that it fills an SLC cache.
fn writes_much(manifest: &Manifest, record: &Record) -> bool {
    let only_read = manifest.only_read.contains(&record.workload);
    let written = record.sample("write_mb_per_s").or_else(|| record.sample("mb_per_s"));
    !only_read && written.is_some_and(|rate| rate >= LONG_WRITES_MB)
}

/// Whether something flushes: a workload, a trace, a file system, or a bitmap before each new bit.
fn flushes(manifest: &Manifest, records: &[Record]) -> bool {
    let settings = manifest.settings();
    let says =
        |path: &str, word: &str| settings.get(path).is_some_and(|is| is.to_string().contains(word));
    let of_lvm = block::LEVELS.iter().filter(|level| level.has_bitmap_of_lvm());
    let mut of_lvm = of_lvm.flat_map(|level| level.also.iter().chain([&level.name]));
    // A word, or what a bit stands for.
    let is_kept = |is: &toml::Value| is.as_str() != Some("none");
    let of_mdadm = settings.get("volume.bitmap").is_some_and(|is| match is {
        toml::Value::Array(all) => all.iter().any(is_kept),
        one => is_kept(one),
    });
    let has_bitmap = of_mdadm || of_lvm.any(|level| says("volume.level", level));
    let of_files = |path: &String| path.ends_with("fs.kind") || path.ends_with("fs.newfs");
    let does = |path: &String| path.ends_with(".flush_every") || of_files(path);
    let did = |record: &Record| record.sample("flushes").is_some_and(|count| count > 0.0);
    has_bitmap || settings.keys().any(does) || records.iter().any(did)
}

#[cfg(test)]
mod tests {
    use crate::judge::answer::Point;
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    #[test]
    fn what_measurements_of_writes_disagree_in_is_said_where_something_is_written() {
        let said = |op: &str| {
            let (mut manifest, records) = modelled(&format!(
                "[volume]\ndrives = '2xmx200-250gb'\nlevel = ['md-mirror', 'md-stripe']\n[workload.a]\nkind = 'random'\nop = '{op}'\ncount = 20\n"
            ));
            manifest.only_read.extend((op == "read").then(|| "a".to_string()));
            for drive in manifest.drives.values_mut() {
                drive.doubt_of_writes = Some("who knows".into());
                drive.doubt = Some("it misses them".into());
            }
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let misses = |point: &Point| point.text == "mx200-250gb: it misses them";
            assert!(verdict.points.iter().any(misses));
            verdict.points.iter().any(|point| point.text == "mx200-250gb: who knows")
        };
        assert!(said("write") && !said("read"));
    }

    /// io2 was "18 % ahead" of gp3 by 400 us that nobody has measured.
    #[test]
    fn latencies_of_cloud_volumes_that_are_estimates_are_in_doubt() {
        let (manifest, records) = modelled(
            "[volume]\ndrives = ['4xazure-p30', '4xio2[size=500GiB,iops=5000]', '4xgp3[size=500GiB]']\nlevel = 'md-raid0'\n\
             [workload.a]\nkind = 'random'\nblock = '8KiB'\ncount = 200\n",
        );
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        let is_said = |point: &&Point| {
            point.text.starts_with("no measurement or data sheet gives the latencies of ")
        };
        let said = verdict.points.iter().find(is_said).unwrap();
        assert_eq!(said.about, "doubt");
        let [p30, io2, gp3] = ["azure-p30", "io2", "gp3"].map(|name| said.text.contains(name));
        assert!(p30 && io2 && !gp3, "{}", said.text);
    }

    #[test]
    fn a_doubt_of_writes_is_none_of_reads_that_are_asked_alone() {
        let (mut manifest, records) = modelled(
            "[volume]\ndrives = '2xmx200-250gb'\nlevel = ['md-mirror', 'md-stripe']\n[workload.a]\nkind = 'random'\ncount = 20\n\
             [workload.b]\nkind = 'random'\nop = 'write'\ncount = 20\n",
        );
        manifest.only_read.push("a".into());
        for drive in manifest.drives.values_mut() {
            drive.doubt_of_writes = Some("who knows".into());
        }
        let said = |asked: &[&str]| {
            let objectives = asked.iter().map(ToString::to_string).collect();
            let wishes = Wishes { objectives, ..Wishes::default() };
            let verdict = Verdict::new(&manifest, &records, &wishes).unwrap();
            verdict.points.iter().any(|point| point.text == "mx200-250gb: who knows")
        };
        assert!(said(&[]) && said(&["max b"]) && !said(&["max a"]));
    }

    #[test]
    fn writes_that_nothing_measured_are_named_where_the_work_writes() {
        let with = |op: &str, keys: &str, guessed: &[&str]| -> Vec<String> {
            let (volume, keys) = if keys.contains("bitmap") { (keys, "") } else { ("", keys) };
            let (mut manifest, mut records) = modelled(&format!(
                "[volume]\ndrives = '2xmx200-250gb'\nlevel = ['md-mirror', 'md-raid10']\n{volume}\
                 [workload.a]\nkind = 'random'\nop = '{op}'\ncount = 20\n{keys}"
            ));
            manifest.only_read.extend((op == "read").then(|| "a".to_string()));
            if keys.contains("traced") {
                records[0].samples.insert("flushes", 2.0);
            }
            for drive in manifest.drives.values_mut() {
                drive.guessed = guessed.iter().map(ToString::to_string).collect();
            }
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let doubts = verdict.points.into_iter().filter(|point| point.about == "doubt");
            doubts.map(|point| point.text).collect()
        };
        let doubts = |op: &str, guessed: &[&str]| with(op, "", guessed);
        assert_eq!(doubts("write", &[]), Vec::<String>::new());
        assert_eq!(doubts("read", &["writes"]), Vec::<String>::new());
        let said = doubts("write", &["writes"]);
        let begin =
            "no measurement or data sheet gives the writes of mx200-250gb: they are estimated";
        assert!(said.len() == 1 && said[0].starts_with(begin), "{said:?}");
        assert!(doubts("read", &["reads"])[0].contains("the reads of mx200-250gb"));
        assert_eq!(doubts("write", &["flushes"]), Vec::<String>::new());
        for keys in ["flush_every = 1\n", "bitmap = 'internal'\n", "# traced\n"] {
            let said = with("write", keys, &["flushes"]);
            assert!(said[0].contains("the flushes of mx200-250gb: they are assumed"), "{said:?}");
        }
    }
    #[test]
    fn long_writes_are_doubted_where_an_slc_cache_may_fill() {
        let said = |drives: &str, op: &str, depth: u32| -> bool {
            let (mut manifest, records) = modelled(&format!(
                "[volume]\ndrives = '{drives}'\nlevel = ['md-mirror', 'md-raid10']\n\
                 [workload.a]\nkind = 'random'\nop = '{op}'\nblock = '64KiB'\ndepth = {depth}\ncount = 400\n"
            ));
            manifest.only_read.extend((op == "read").then(|| "a".to_string()));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let doubts = verdict.points.into_iter().filter(|point| point.about == "doubt");
            doubts.filter(|point| point.text.contains("the long writes of")).count() > 0
        };
        assert!(said("2x980-pro-1tb", "write", 16));
        assert!(!said("2x980-pro-1tb", "read", 16));
        // What an SLC cache does to it is known; or it has none; or it writes too little to fill one.
        assert!(!said("2xsabrent-rocket-4-plus-2tb", "write", 16));
        assert!(!said("2x980-pro-1tb[slc=0]", "write", 16));
        assert!(!said("2xd3-s4610-480gb", "write", 16));
        assert!(!said("2xmx200-250gb", "write", 1));
    }
}
