//! Random reads that the drives' own buffers serve: how many they hold hangs on how each drive divides its buffer, and decides.

use crate::judge::Verdict;
use crate::judge::answer::{Point, point};
use crate::judge::asked::aim::{Aim, Part};
use crate::judge::layouts::{sorted_words, split};
use crate::judge::trials::luck::ranked_or_all;
use crate::stated::Stated;
use crate::stats::noise::Noise;
use crate::tables::{listed, percent};
use std::collections::BTreeMap;
use store::Manifest;
use store::record::Record;

/// From such a share of the commands on, what buffers hold decides much: without it the rate is a fifth less.
const MUCH: f64 = 0.2;

/// Where fewer miss than this, the buffers hold all that is read, whatever is read first.
const MISSES_FEW: f64 = 0.03;

/// From fewer misses than this nothing is concluded.
const MISSES_MIN: f64 = 0.001;

/// Commands of a request: of more, buffers serve those that go on where another of the same request ended.
const COMMANDS_MAX: f64 = 2.0;

/// The share of its commands that buffers served, of random reads in a `span`; those in order are read ahead on any disk.
fn hits(settings: &toml::Table, record: &Record) -> Option<f64> {
    let stated = Stated::new(&record.at, &record.workload, settings);
    let is_random = stated.own("kind").is_some_and(|kind| kind == "random");
    let reads =
        stated.own("op").is_none_or(|op| op == "read") || stated.own("reads_percent").is_some();
    let has_span = ["span", "span_percent"].iter().any(|key| stated.own(key).is_some());
    let is_apart = stated.own("in_a_row").is_none()
        && record.sample("commands_per_request").is_none_or(|count| count <= COMMANDS_MAX);
    record.sample("hits_per_command").filter(|_| is_random && reads && has_span && is_apart)
}

/// Whether it is chance how many a trial's buffers came to hold: each seed of one cell made 4.7 or 25 MB/s, as buffers that
/// hold more serve more, and lose less of it meanwhile.
pub(crate) fn is_chance(manifest: &Manifest, settings: &toml::Table, record: &Record) -> bool {
    let of = hits(settings, record).filter(|_| has_spindles(manifest));
    of.is_some_and(|hits| (MUCH..1.0 - MISSES_FEW).contains(&hits))
}

fn has_spindles(manifest: &Manifest) -> bool {
    let has = |drive: &store::known::KnownDrive| !drive.is_flash() && !drive.is_remote;
    manifest.modelled() && manifest.drives.values().any(has)
}

/// The drives whose buffers are divided as somebody guessed.
fn guessed(manifest: &Manifest) -> Vec<String> {
    let drives = manifest.drives.iter().filter(|(_, drive)| drive.buffer_is_guessed);
    drives.map(|(name, _)| name.clone()).collect()
}

/// A workload as it is judged, its loads and conditions, and what both are called.
type Under = (String, String, String);

/// The mean share of each layout under each.
type Shares = BTreeMap<Under, BTreeMap<String, f64>>;

fn shares(verdict: &Verdict, manifest: &Manifest, records: &[Record]) -> Shares {
    let settings = manifest.settings();
    let mut all: BTreeMap<Under, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for record in ranked_or_all(&verdict.ranked, manifest, records) {
        let Some(hits) = hits(&settings, record) else { continue };
        let (given, at) = split(manifest, record);
        let name = manifest.factors.named_under(&record.workload, &given);
        let under = (manifest.judged_as(&record.workload), sorted_words(&given), name);
        all.entry(under).or_default().entry(sorted_words(&at)).or_default().push(hits);
    }
    let mean = |of: Vec<f64>| of.iter().sum::<f64>() / of.len() as f64;
    let means =
        |of: BTreeMap<String, Vec<f64>>| of.into_iter().map(|(at, of)| (at, mean(of))).collect();
    all.into_iter().map(|(under, of)| (under, means(of))).collect()
}

impl Verdict {
    /// The noises with what buffers held, where their division is an estimate: a comparison whose shares differ counts as far
    /// as it would if none held anything.
    pub(crate) fn with_buffers(
        &self,
        aim: &Aim,
        noises: Vec<Noise>,
        manifest: &Manifest,
        records: &[Record],
    ) -> Vec<Noise> {
        if !has_spindles(manifest) || guessed(manifest).is_empty() {
            return noises;
        }
        let shares = shares(self, manifest, records);
        let best = self.ranked.first().map(|best| sorted_words(&best.at)).unwrap_or_default();
        let of_part = |part: &Part| {
            let own = shares.iter().filter(|((workload, given, _), _)| {
                *workload == part.of && *given == sorted_words(&part.given)
                    || !aim.workloads.contains(&part.of) && aim.workloads.contains(workload)
            });
            own.map(|(_, shares)| apart(shares, &best)).fold(0.0, f64::max)
        };
        let parts = aim.parts.iter().zip(noises);
        parts.map(|(part, noise)| noise.with_buffers(of_part(part))).collect()
    }
}

/// How far the rate of the best and of another are apart by what buffers held, at most, as a logarithm: what misses takes the
/// time, so a rate is by 1 / (1 - hits) what it would be without.
fn apart(shares: &BTreeMap<String, f64>, best: &str) -> f64 {
    let most = shares.values().copied().fold(0.0, f64::max);
    let Some(own) = shares.get(best).filter(|_| most >= MUCH) else { return 0.0 };
    // What always hits has no rate without; its bus is the limit.
    let misses = |hits: f64| (1.0 - hits).max(MISSES_MIN).ln();
    shares.values().map(|hits| (misses(*hits) - misses(*own)).abs()).fold(0.0, f64::max)
}

/// That buffers served much of what was read, by layout; that their division is an estimate; and that chance decides.
pub(crate) fn told(verdict: &Verdict, manifest: &Manifest, records: &[Record]) -> Option<Point> {
    if !has_spindles(manifest) {
        return None;
    }
    let most = |of: &BTreeMap<String, f64>| of.values().copied().fold(0.0, f64::max);
    let shares = shares(verdict, manifest, records);
    let ((.., under), own) = shares.iter().max_by(|a, b| most(a.1).total_cmp(&most(b.1)))?;
    let (high, low) = (most(own), own.values().copied().fold(1.0, f64::min));
    if high < MUCH {
        return None;
    }
    let (range, layouts) = if percent(low) == percent(high) {
        (percent(high), "")
    } else {
        (format!("{} to {}", percent(low), percent(high)), ", depending on the layout,")
    };
    let mut text = format!(
        "the drives' own buffers served {range} of the reads of {under}{layouts} as its span is small: with more data, or other \
         reads beside it, it is slower"
    );
    let guessed = guessed(manifest);
    if !guessed.is_empty() {
        let of = listed(&guessed);
        text += "; how a drive divides its buffer is our estimate (";
        text += &of;
        text += "), so real rates may differ several times";
    }
    let settings = manifest.settings();
    let is_once = records.iter().all(|record| record.repeat == 0);
    if is_once && records.iter().any(|record| is_chance(manifest, &settings, record)) {
        text += "; which of it they come to hold is chance: `--repeat 5` shows how far rates go";
    }
    Some(point("buffers", text))
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    fn verdict(drives: &str, span: &str, repeats: u64) -> Verdict {
        let (mut manifest, mut records) = modelled(&format!(
            "[run]\nrepeats = {repeats}\n[volume]\ndrives = {drives}\nlevel = 'md-raid10'\n[workload.r]\nkind = 'random'\n\
             block = '4KiB'\nop = 'read'\ndepth = 4\nspan = '{span}'\ncount = 20000\n"
        ));
        manifest.only_read.push("r".into());
        // As longer runs are.
        for record in &mut records {
            record.samples.insert("steady", 1.0);
        }
        Verdict::new(&manifest, &records, &Wishes::default()).unwrap()
    }

    fn said(verdict: &Verdict) -> Option<&str> {
        let point = verdict.points.iter().find(|point| point.about == "buffers");
        point.map(|point| point.text.as_str())
    }

    /// Eight disks were "5.7 times" as fast as six, sure: what they read fits their buffers, as we guess that they divide these.
    #[test]
    fn what_drives_buffers_hold_ranks_nothing_where_their_division_is_a_guess() {
        let drives = "['2xwd121kryz', '8xwd121kryz']";
        let small = verdict(drives, "64MiB", 2);
        assert!(small.answer.starts_with("No answer: "), "{}", small.answer);
        assert!(small.answer.contains("drives' buffers"), "{}", small.answer);
        let text = said(&small).unwrap();
        assert!(text.contains("of the reads of r, depending on the layout,"), "{text}");
        assert!(text.contains("our estimate (wd121kryz)"), "{text}");
        let large = verdict(drives, "1TiB", 2);
        assert!(large.answer.starts_with("Use "), "{}", large.answer);
        assert_eq!(said(&large), None);
    }

    /// Its buffer's division is given: there the rates are what such a drive makes.
    #[test]
    fn a_buffer_that_is_known_ranks() {
        let of = |count: u32| format!("{count}xwd121kryz[buffer_segments=64,segment_sectors=4096]");
        let drives = format!("['{}', '{}']", of(2), of(8));
        let known = verdict(&drives, "64MiB", 2);
        assert!(known.answer.starts_with("Use "), "{}", known.answer);
        assert!(said(&known).is_some_and(|text| !text.contains("estimate")));
    }

    /// One seed printed 4.64 MB/s without a word, and others 24.8.
    #[test]
    fn one_seed_of_reads_that_buffers_half_hold_is_chance() {
        let text = |repeats: u64| {
            let verdict = verdict("'4xwd121kryz'", "128MiB", repeats);
            said(&verdict).unwrap().to_string()
        };
        assert!(text(1).ends_with("is chance: `--repeat 5` shows how far rates go"), "{}", text(1));
        assert!(!text(2).contains("chance"));
        // More repeats lead nowhere while the division is a guess, and no other line says that seeds hardly differ.
        let both = verdict("['4xwd121kryz', '6xwd121kryz']", "128MiB", 1);
        assert!(both.answer.starts_with("No answer: "), "{}", both.answer);
        assert!(both.answer.contains("is an estimate. Measure it (`ileave"), "{}", both.answer);
        assert!(both.points.iter().all(|point| point.about != "seeds"), "{:?}", both.points);
    }

    /// Buffers of drives beside, and of what is not asked, are not why it is open.
    #[test]
    fn buffers_are_the_reason_where_they_decide_what_is_asked() {
        let (mut manifest, records) = modelled(
            "[run]\nrepeats = 1\n[host]\nname = 'linux-6.1'\n[volume]\n\
             drives = '4xwd121kryz[buffer_segments=64,segment_sectors=4096]'\nlevel = 'md-raid5'\ninterleave = ['64KiB', '128KiB']\n\
             [drive]\nwrite_cache = false\n[workload.r]\nkind = 'random'\nblock = '4KiB'\nop = 'read'\ndepth = 4\nspan = '64MiB'\n\
             count = 2000\n[workload.w]\nkind = 'sequential'\nop = 'write'\nblock = '64KiB'\ncount = 200\n",
        );
        manifest.only_read.push("r".into());
        let of = |half: f64, asked: &str| {
            let mut records = records.clone();
            for record in &mut records {
                record.samples.insert("steady", 1.0);
                if record.workload == "r" {
                    record.samples.insert("hits_per_command", half);
                }
            }
            let wishes = Wishes { objectives: vec![asked.into()], ..Wishes::default() };
            Verdict::new(&manifest, &records, &wishes).unwrap()
        };
        let why = "chance decides what the drives' buffers hold";
        let read = of(0.5, "max r");
        assert!(read.answer.contains(why), "{}", read.answer);
        assert_eq!(said(&read).map(|text| text.contains("depending on the layout")), Some(false));
        let written = of(0.5, "max w");
        assert!(said(&written).is_some() && written.answer.starts_with("No answer yet"));
        assert!(!written.answer.contains(why), "{}", written.answer);
    }
}
