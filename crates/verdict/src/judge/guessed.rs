//! Drives whose reads, writes or flushes nothing measured: what an answer about them rests on.

use super::answer::{Point, point};
use crate::tables::listed;
use store::Manifest;

/// What is guessed of drives, and how far off such a guess is.
const GUESSES: [(&str, &str); 3] = [
    (
        "writes",
        "guessed from the reads; on measured drives the rates were between a sixth and seven times such a guess; \
         `ileave drives probe --writes` measures them",
    ),
    ("reads", "those of a typical drive; `ileave drives probe` measures them"),
    (
        "flushes",
        "assumed to take the estimated program time of the flash; one measured drive took twice that (docs/flash.md), \
         so commits may take twice as long",
    ),
];

/// The lines that say whose rates are guesses; none where the work does not ask for them.
pub(super) fn told(manifest: &Manifest) -> impl Iterator<Item = Point> {
    let only_reads = manifest.workloads.iter().all(|name| manifest.only_read.contains(name));
    let flushes = flushes(manifest);
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
        (!names.is_empty()).then(|| {
            point(
                "doubt",
                format!("no measurement or data sheet gives the {what} of {of}: they are {how}"),
            )
        })
    })
}

/// Whether something flushes: a workload, a file system, or a bitmap before each new bit.
fn flushes(manifest: &Manifest) -> bool {
    let settings = manifest.settings();
    let has_bitmap =
        settings.get("volume.bitmap").is_some_and(|is| is.to_string().contains("internal"));
    let of_files = |path: &String| path.ends_with("fs.kind") || path.ends_with("fs.newfs");
    has_bitmap || settings.keys().any(|path| path.ends_with(".flush_every") || of_files(path))
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    #[test]
    fn writes_that_nothing_measured_are_named_where_the_work_writes() {
        let with = |op: &str, keys: &str, guessed: &[&str]| -> Vec<String> {
            let (mut manifest, records) = modelled(&format!(
                "[volume]\ndrives = '2xmx200-250gb'\nlevel = ['stripe', 'concat']\n\
                 [workload.a]\nkind = 'random'\nop = '{op}'\ncount = 20\n{keys}"
            ));
            manifest.only_read.extend((op == "read").then(|| "a".to_string()));
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
        let begin = "no measurement or data sheet gives the writes of mx200-250gb: they are guessed from the reads";
        assert!(said.len() == 1 && said[0].starts_with(begin), "{said:?}");
        assert!(doubts("read", &["reads"])[0].contains("the reads of mx200-250gb"));
        assert_eq!(doubts("write", &["flushes"]), Vec::<String>::new());
        let said = with("write", "flush_every = 1\n", &["flushes"]);
        assert!(said[0].contains("the flushes of mx200-250gb: they are assumed"), "{said:?}");
    }
}
