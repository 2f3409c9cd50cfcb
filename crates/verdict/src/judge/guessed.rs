//! Drives whose reads, writes or flushes nothing measured: what an answer about them rests on.

use super::answer::{Point, point};
use crate::tables::listed;
use store::Manifest;
use store::record::Record;

/// What is guessed of drives, and how far off such a guess is.
const GUESSES: [(&str, &str); 3] = [
    (
        "writes",
        "estimated (by `drives fit` from the reads; on measured drives the rates were between a sixth and seven times such \
         an estimate); `ileave drives probe --writes` measures them",
    ),
    ("reads", "those of a typical drive; `ileave drives probe` measures them"),
    (
        "flushes",
        "assumed to take the estimated program time of the flash; one measured drive took twice that (docs/flash.md), \
         so they, and commits, may take twice as long",
    ),
];

/// The lines that say whose rates are guesses; none where the work does not ask for them.
pub(super) fn told(manifest: &Manifest, records: &[Record]) -> impl Iterator<Item = Point> {
    let only_reads = manifest.workloads.iter().all(|name| manifest.only_read.contains(name));
    let flushes = flushes(manifest, records);
    let asked = move |what: &str| match what {
        "writes" => !only_reads,
        "flushes" => flushes,
        _ => true,
    };
    let asked = move |what: &str| manifest.modelled() && asked(what);
    GUESSES.into_iter().filter(move |(what, _)| asked(what)).filter_map(|(what, how)| {
        let is_guessed = |guessed: &[String]| guessed.iter().any(|word| word == what);
        let drives = manifest.drives.iter().filter(|(_, drive)| is_guessed(&drive.guessed));
        let names: Vec<String> = drives.map(|(name, _)| name.clone()).collect();
        let of = listed(&names);
        let text = format!("no measurement or data sheet gives the {what} of {of}: they are {how}");
        (!names.is_empty()).then(|| point("doubt", text))
    })
}

/// Whether something flushes: a workload, a trace, a file system, or a bitmap before each new bit.
fn flushes(manifest: &Manifest, records: &[Record]) -> bool {
    let settings = manifest.settings();
    let has_bitmap =
        settings.get("volume.bitmap").is_some_and(|is| is.to_string().contains("internal"));
    let of_files = |path: &String| path.ends_with("fs.kind") || path.ends_with("fs.newfs");
    let does = |path: &String| path.ends_with(".flush_every") || of_files(path);
    let did = |record: &Record| record.sample("flushes").is_some_and(|count| count > 0.0);
    has_bitmap || settings.keys().any(does) || records.iter().any(did)
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

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
}
