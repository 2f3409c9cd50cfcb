//! What is asked: these drives, this work, these wishes; and the experiment that answers it.

pub(crate) mod as_experiment;
pub(crate) mod ask_section;
pub(crate) mod burst_credit;
pub(crate) mod candidate;
pub(crate) mod capacity;
pub(crate) mod choices;
pub mod drives;
pub(crate) mod engine;
pub mod files;
pub(crate) mod in_flight;
pub(crate) mod mixed_sizes;
pub(crate) mod posed;
pub(crate) mod provisioned;
pub(crate) mod saved;
pub(crate) mod settings;
pub mod work;

use crate::danger::{self, Limit, Repairs, Resync};
use crate::question::drives::Drives;
use crate::question::work::Work;
use crate::search::clock::Clock;
use block::SECTOR_BYTES;
use block::layout::Level;
use block::units::parse_bytes_per_s;
use lab::{Result, catalogue};
use risk::Risk;
use risk::inputs::Inputs;
use store::words::counted;
use toml::{Table, Value};

/// So many at most.
pub(crate) const SPARES_MAX: usize = 2;

/// A question.
#[derive(Clone, Debug)]
pub struct Question {
    /// The drives.
    pub drives: Drives,
    /// The work.
    pub work: Work,
    /// Drives that may fail without losing data.
    pub survive: usize,
    /// Whether nobody said how many: of cloud volumes, a stripe without copies is then measured beside the answer.
    pub is_survive_assumed: bool,
    /// The least that must be usable, in bytes.
    pub capacity_bytes: u64,
    /// Whether a power cut may lose no acknowledged write.
    pub safe: bool,
    /// What to minimise or maximise, where it is not what the work says.
    pub objective: Option<String>,
    /// What must hold.
    pub subject_to: Vec<String>,
    /// Drives that are kept as spares.
    pub spares: usize,
    /// Hours until a failed drive is replaced; the usual range where nobody says.
    pub replaced_after_h: Option<f64>,
    /// Whether nobody said how many: levels of the front are then tried with some, too.
    pub are_spares_open: bool,
    /// Why there are spares that nobody asked for.
    pub spares_because: Option<String>,
    /// What one drive costs, in US dollars, where that is known.
    pub price_usd: Option<f64>,
    /// The most that all of them may cost.
    pub budget_usd: Option<f64>,
    /// Levels to choose among; all that are modelled where none are named.
    pub levels: Vec<String>,
    /// Random seed.
    pub seed: u64,
    /// Until when trials are begun.
    pub clock: Clock,
}

/// The layouts of Linux's md: the levels whose writes are modelled, the plainest first.
pub(crate) const LEVELS: [&str; 11] = [
    "md-stripe",
    "md-mirror",
    "md-raid10",
    "md-raid10-f2",
    "md-raid10-o2",
    "md-raid10-n3",
    "md-raid10-f3",
    "md-raid10-o3",
    "md-raid10-n4",
    "md-raid5",
    "md-raid6",
];

/// Failures at most that a level for any number of drives survives.
pub(crate) const SURVIVE_MAX: usize = 3;

/// Arrays of md side by side under a stripe: RAID 50 and 60.
pub(crate) fn nested() -> impl Iterator<Item = &'static str> {
    block::LEVELS.iter().filter(|level| level.nested().is_some()).map(|level| level.name)
}

/// The chunks that are tried. md's parity levels and RAID 10 take powers of two; the others are for its RAID 0.
pub(crate) const CHUNKS: [&str; 7] =
    ["16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1MiB"];
/// Those that are tried, too, where requests are larger than that: over disks each then keeps fewer of them busy. Eight 18 TB
/// disks, RAID 10, 4 MiB at random, 16 in flight: 498, 597 and 696 MB/s with 1, 2 and 4 MiB in the kernel, 503, 590 and 686
/// in the model.
const LARGE_CHUNKS: [&str; 2] = ["2MiB", "4MiB"];
const OTHER_CHUNKS: [&str; 3] = ["96KiB", "192KiB", "384KiB"];

impl Question {
    /// These drives for this work, and nothing else wished.
    pub fn new(drives: Drives, work: Work) -> Question {
        Question {
            drives,
            work,
            survive: 0,
            is_survive_assumed: false,
            capacity_bytes: 0,
            safe: false,
            objective: None,
            subject_to: Vec::new(),
            spares: 0,
            replaced_after_h: None,
            are_spares_open: true,
            spares_because: None,
            price_usd: None,
            budget_usd: None,
            levels: Vec::new(),
            seed: 1,
            clock: Clock::default(),
        }
    }

    /// Members, without spares.
    pub fn members(&self) -> usize {
        self.drives.count.saturating_sub(self.spares)
    }

    /// What all drives cost, spares included.
    pub fn cost_usd(&self) -> Option<f64> {
        self.price_usd.map(|price| price * self.drives.count as f64)
    }

    /// What can be used of a level.
    pub fn usable_bytes(&self, level: &Level) -> u64 {
        let sectors = vec![self.drives.drive.sectors(); self.members()];
        level.lay_out(1024, &sectors).map_or(0, |layout| layout.sectors() * SECTOR_BYTES)
    }

    /// What a level may lose, and what that assumes.
    pub(crate) fn risk(&self, level: &Level) -> Result<(Risk, Inputs)> {
        let (members, drive) = (self.members(), &self.drives.drive);
        danger::of_level(level, members, self.into(), drive, self.host_limit())
    }

    /// How long a resync of all takes at a level.
    pub(crate) fn resync(&self, level: &Level, inputs: &Inputs) -> Result<Resync> {
        let drives = vec![&self.drives.drive; self.members()];
        danger::resync(level, inputs, &drives, self.host_limit())
    }

    /// What the host lets pass to all cloud volumes, where the work or `--set` says it.
    pub(crate) fn host_limit(&self) -> Limit {
        let host = self.work.tables.get("host").and_then(Value::as_table);
        let of = |key: &str| host?.get(key)?.as_str();
        let named = || catalogue::host(of("name")?).ok()?.storage_per_s[1];
        Limit(of("storage_rate").and_then(|rate| parse_bytes_per_s(rate).ok()).or_else(named))
    }

    /// Whether the work writes anything.
    pub(crate) fn writes(&self) -> bool {
        let mut works = self.works().peekable();
        works.peek().is_none()
            || works.any(|work| {
                let text = |key: &str| work.get(key).and_then(Value::as_str);
                let reads = work.get("reads_percent").and_then(Value::as_integer);
                // Programs write something; requests do where they say so.
                let is_program = text("kind")
                    .is_some_and(|kind| !["dd", "sequential", "strided", "random"].contains(&kind));
                reads.map_or(text("op") == Some("write") || is_program, |reads| reads < 100)
            })
    }

    /// Whether the work has small writes at random.
    pub(crate) fn writes_small_at_random(&self) -> bool {
        self.works().any(|of| work::writes(of) && work::is_small_at_random(of))
    }

    /// Whether the work is writes to the page cache alone, at a rate: no program waits until they are on the drives. Direct I/O may
    /// stand for them.
    pub(crate) fn is_unwaited(&self) -> bool {
        let is_past = self.work.past_the_page_cache.is_some();
        let is_so = |of: &Table| work::is_unwaited(of) || is_past && work::stands_for_unwaited(of);
        self.is_ranked_by_rate() && self.works().next().is_some() && self.works().all(is_so)
    }

    /// Whether the work is one stream in order, which a trial measures where the volume begins.
    pub(crate) fn is_one_stream(&self) -> bool {
        let mut works = self.works();
        works.next().is_some_and(|work| {
            let is_sequential = work.get("kind").and_then(Value::as_str) == Some("sequential");
            let jobs = work.get("jobs").and_then(Value::as_integer).unwrap_or(1);
            let others = ["flush_every", "offset", "arrivals", "rate", "requests_per_s"];
            is_sequential && jobs == 1 && others.iter().all(|key| !work.contains_key(*key))
        }) && works.next().is_none()
    }

    /// Whether the work flushes what matters to it.
    pub(crate) fn flushes(&self) -> bool {
        self.works().any(|work| work.contains_key("flush_every"))
    }

    /// The chunks that are tried of such levels, from the smallest.
    fn chunks(&self, levels: &[Level]) -> Vec<&'static str> {
        let mut chunks = CHUNKS.to_vec();
        if levels.iter().any(|level| level.name == "md-stripe") {
            chunks.extend(OTHER_CHUNKS);
        }
        if self.has_large_requests() {
            chunks.extend(LARGE_CHUNKS);
        }
        chunks.sort_by_key(|chunk| block::units::parse_bytes(chunk).unwrap_or(0));
        chunks
    }

    /// The largest chunk that is tried of arrays of one level.
    pub(crate) fn largest_chunk(&self) -> &'static str {
        self.chunks(&[]).last().expect("there are several")
    }

    /// Whether any requests of the work are larger than the largest chunk that is tried of all work.
    fn has_large_requests(&self) -> bool {
        let largest = CHUNKS.last().and_then(|chunk| block::units::parse_sectors(chunk).ok());
        self.works().filter_map(block_sectors).max() > largest
    }

    /// Whether all requests are at random and none is larger than a chunk, so that a larger one changes little.
    pub(crate) fn fits_in(&self, chunk: &str) -> bool {
        let chunk = block::units::parse_sectors(chunk).ok();
        let is_random = |of: &Table| of.get("kind").and_then(Value::as_str) == Some("random");
        self.works().all(|of| is_random(of) && block_sectors(of) <= chunk)
    }

    fn works(&self) -> impl Iterator<Item = &Table> {
        let works = self.work.tables.get("workload").and_then(Value::as_table);
        works.into_iter().flat_map(Table::values).filter_map(Value::as_table)
    }
}

/// The size of a workload's requests, where it says one.
fn block_sectors(work: &Table) -> Option<u64> {
    match work.get("block")? {
        Value::Integer(sectors) => u64::try_from(*sectors).ok(),
        block => block::units::parse_sectors(block.as_str()?).ok(),
    }
}

/// How many drives a question has in use, and how many spares.
pub(crate) fn in_use(question: &Question) -> String {
    format!("{} in use, {}", question.members(), counted(question.spares, "spare"))
}

impl From<&Question> for Repairs {
    fn from(question: &Question) -> Repairs {
        Repairs { spares: question.spares, replaced_after_h: question.replaced_after_h }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::commands::CachesOff;
    use crate::question::candidate::Candidate;

    pub(crate) fn question(drives: &str, work: &str, survive: usize) -> Question {
        let drives = Drives::read(drives).unwrap();
        let work = Work::find(work, &drives).unwrap();
        Question { survive, ..Question::new(drives, work) }
    }

    /// The same without what-if trials: for tests that look at none of what they say.
    pub(crate) fn without_what_ifs(asked: Question) -> Question {
        Question { clock: crate::Clock::default().what_if("0s", || 1.0), ..asked }
    }

    /// `ileave run` refuses 96 KiB on RAID 5, so that what `--save` writes has it only where RAID 0 is alone.
    #[test]
    fn a_saved_question_has_chunks_that_all_its_levels_take() {
        let chunks = |survive| {
            let question = question("4x wd740gd", "postgres", survive);
            let saved: Table = question.experiment_text().unwrap().parse().unwrap();
            let asked: Table = question.text(|_| true).unwrap().parse().unwrap();
            [saved, asked].map(|of| of["volume"]["interleave"].as_array().unwrap().len())
        };
        assert_eq!(chunks(0), [CHUNKS.len(), CHUNKS.len() + OTHER_CHUNKS.len()]);
        assert_eq!(chunks(1), [CHUNKS.len(); 2]);
    }

    #[test]
    fn large_requests_have_large_chunks_tried() {
        let largest = |work| question("8x st18000nm000j", work, 1).largest_chunk();
        assert_eq!(["object-store", "backup", "vm"].map(largest), ["4MiB", "1MiB", "1MiB"]);
        let fits = |work, chunk| question("8x st18000nm000j", work, 1).fits_in(chunk);
        assert!(fits("object-store", "4MiB") && !fits("object-store", "2MiB"));
        assert!(!fits("media", "1MiB"));
    }

    #[test]
    fn what_a_level_does_not_have_tells_it_from_nothing() {
        let of = |level: &str, cache| {
            let level = level.parse().unwrap();
            Candidate { level, chunk: "1MiB", cache }
        };
        let (copies, parity) = (of("md-raid10-n3", "256"), of("md-raid6", "4096"));
        assert_eq!(copies.told_from(&parity), "md-raid10-n3");
        assert_eq!(parity.told_from(&copies), "md-raid6, 4096 rows");
        assert_eq!(of("md-raid6", "256").told_from(&parity), "256 rows");
        assert_eq!(
            of("md-mirror", "256").told_from(&Candidate { chunk: "16KiB", ..parity }),
            "md-mirror"
        );
    }

    #[test]
    fn drives_are_read_as_people_write_them() {
        let read = |text: &str| Drives::read(text).map(|drives| (drives.count, drives.drive.name));
        assert_eq!(read("8x ST18000NM000J").unwrap(), (8, "st18000nm000j".into()));
        assert_eq!(read("4x 980 pro 1tb").unwrap().0, 4);
        assert!(read("ST18000NM000J").unwrap_err().to_string().contains("how many and which"));
        assert!(read("0x wd740gd").unwrap_err().to_string().contains("0 drives; write 1 to 64"));
        let part = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(part("4 wd740gd"), "--drives: the `x` is missing; write `4x wd740gd`");
        assert!(part("4x gp3:500GiB").contains("write its size as `ebs-gp3[size=500GiB]`"));
        assert!(part("4x wd740gd:8GiB").contains("`volume.drives = \"…xwd740gd:8GiB\"`"));
        assert!(part("4x gp3[size=500GiB").contains("a bracket is not closed"));
        let two = part("1x wd740gd + 1x 980 pro 1tb");
        assert!(two.contains("`volume.drives = \"1xwd740gd+1x980-pro-1tb\"`"), "{two}");
        let two = part("2x 980 pro 1tb, 4x exos x20");
        assert!(two.contains("76 TB unused, because every drive gives as much as"), "{two}");
        assert!(two.contains("`volume.drives = \"2x980-pro-1tb+4xst20000nm007d\"`"), "{two}");
        let two = part("2x 980 pro 1tb, 4x frob");
        assert!(two.contains("`volume.drives = \"1x…+1x…\"`"), "{two}");
        assert!(part("4x frob:8GiB").contains("no drive is called `frob:8GiB`"));
    }

    #[test]
    fn a_write_cache_that_is_named_is_not_turned_off() {
        let cache = |drives: &str| {
            let experiment = question(drives, "vm", 1).experiment().unwrap();
            experiment.value("drive.write_cache").map(|value| value.to_string())
        };
        assert_eq!(cache("4x st18000nm000j").as_deref(), Some("false"));
        assert_eq!(cache("4x st18000nm000j[write_cache=true]"), None);
    }

    #[test]
    fn the_commands_turn_off_what_is_asked_about_as_off() {
        let turns_off = |drives: &str, work: &str, safe| {
            let asked = Question { safe, ..question(drives, work, 1) };
            let best = asked.candidates().unwrap().0.remove(0);
            let plan = crate::tune::plan(&asked, &asked.experiment().unwrap(), &best);
            (plan.caches_off, plan.caches_line())
        };
        let off = |drives: &str, work: &str| turns_off(drives, work, false).0;
        let [asked, measured] = [Some(CachesOff::Asked), Some(CachesOff::Measured)];
        assert_eq!(off("4x st18000nm000j", "vm"), measured);
        assert_eq!(off("4x st18000nm000j[write_cache=false]", "vm"), asked);
        assert_eq!(off("4x st18000nm000j[write_cache=false]", "backup"), asked);
        assert_eq!(off("4x st18000nm000j[write_cache=true]", "vm"), None);
        assert_eq!(off("4x st18000nm000j", "backup"), None);
        let mut set = question("4x st18000nm000j", "vm", 1);
        assert_eq!(CachesOff::of_question(&set), CachesOff::Measured);
        set.work.set("drive.write_cache=false").unwrap();
        assert_eq!(CachesOff::of_question(&set), CachesOff::Asked);
        let line = |safe| turns_off("4x st18000nm000j", "vm", safe).1;
        assert!(line(false).unwrap().1.contains("write [write_cache=true] after the drive's name"));
        assert_eq!(line(true), None);
    }

    #[test]
    fn a_stripe_has_no_spares() {
        let mut asked = Question { spares: 1, ..question("5x st18000nm000j", "backup", 0) };
        let names: Vec<&str> = asked.possible().unwrap().iter().map(|of| of.name).collect();
        assert_eq!(names, ["md-raid10", "md-raid10-f2", "md-raid10-o2", "md-raid5", "md-raid6"]);
        asked.levels = vec!["md-stripe".into()];
        let said = asked.possible().unwrap_err().to_string();
        assert!(said.starts_with("--spares 1: a spare is of no use to md-stripe"), "{said}");
        asked.spares = 0;
        assert_eq!(asked.possible().unwrap()[0].name, "md-stripe");
        // Linux's own name of it is enough.
        asked.levels = vec!["raid6".into()];
        assert_eq!(asked.possible().unwrap()[0].name, "md-raid6");
        for (name, level) in [("RAID1", "md-mirror"), ("raid10", "md-raid10")] {
            assert_eq!(
                candidate::level_named(name, &["md-mirror", "md-raid10"]).unwrap().name,
                level
            );
        }
    }

    #[test]
    fn a_level_that_was_asked_for_says_why_it_cannot_be_had() {
        let said = |drives: &str, survive, levels: &[&str]| {
            let levels = levels.iter().map(ToString::to_string).collect();
            let asked = Question { levels, ..question(drives, "vm", survive) };
            asked.possible().unwrap_err().to_string()
        };
        assert_eq!(
            said("4x st16000nm001g", 1, &["md-stripe"]),
            "--level md-stripe: with 4 members it survives no drive failure, and `--survive` is 1; write `--survive 0`, or take \
             md-raid10, md-raid10-f2, md-raid10-o2, md-raid5 or md-raid6"
        );
        assert_eq!(
            said("3x st16000nm001g", 1, &["md-raid6"]),
            "--level md-raid6: it needs 4 members, and there are 3; take more drives, or take md-mirror, \
             md-raid10, md-raid10-f2, md-raid10-o2, md-raid10-n3, md-raid10-f3 or md-raid5"
        );
        // What the user wrote, and what one spare would make of it.
        assert_eq!(
            said("13x mg08aca16te", 2, &["md-raid60"]),
            "--level md-raid60: 13 members do not make 2 equal arrays; write `--spares 1`, so that 12 do, or take a multiple of 2, or take \
             md-raid10-n3, md-raid10-f3, md-raid10-o3 or md-raid6"
        );
        let both = said("3x st16000nm001g", 2, &["md-raid5", "md-raid6"]);
        assert!(
            both.starts_with("--level md-raid5: with 3 members it survives 1 drive failure, "),
            "{both}"
        );
        assert!(both.contains("; --level md-raid6: it needs 4 members"), "{both}");
        assert!(
            said("2x st16000nm001g", 2, &[])
                .starts_with("no level survives 2 drive failures with 2 members")
        );
    }

    /// Five of eight disks' worth of 12 TB, beside the 24 TB of four copies.
    #[test]
    fn three_failures_have_a_line_on_raidz3() {
        let line = |drives: &str, survive| {
            let asked = question(drives, "backup", survive);
            let best = asked.candidates().unwrap().0.remove(0);
            let plan = crate::tune::plan(&asked, &asked.experiment().unwrap(), &best);
            crate::tune::raidz3_line(&plan, &asked).map(|(_, text)| text)
        };
        let said = line("8x wd121kryz", 3).unwrap();
        assert!(said.contains("would hold about 60.0 TB"), "{said}");
        assert!(
            said.contains("`ileave risk --level raidz3 --members 8 --drive wd121kryz`"),
            "{said}"
        );
        assert_eq!([line("4x wd121kryz", 3), line("8x wd121kryz", 2)], [None, None]);
    }

    #[test]
    fn only_levels_that_survive_and_hold_enough_are_tried() {
        let names = |question: &Question| -> Vec<&str> {
            question.possible().unwrap().iter().map(|level| level.name).collect()
        };
        let mut two = question("8x st18000nm000j", "backup", 2);
        assert_eq!(names(&two), ["md-raid10-n3", "md-raid10-f3", "md-raid10-o3", "md-raid6"]);
        two.capacity_bytes = 60_000_000_000_000;
        assert_eq!(names(&two), ["md-raid6"]);
        two.capacity_bytes = 120_000_000_000_000;
        assert!(
            two.possible()
                .unwrap_err()
                .to_string()
                .contains("md-raid6 comes nearest, with 108.0 TB")
        );
        assert!(question("2x wd740gd", "backup", 2).possible().is_err());
        assert_eq!(names(&question("2x wd740gd", "backup", 1)), ["md-mirror", "md-raid10-f2"]);
        let many = question("24x st18000nm000j", "backup", 2);
        assert_eq!(
            names(&many),
            [
                "md-raid10-n3",
                "md-raid10-f3",
                "md-raid10-o3",
                "md-raid6",
                "md-raid60-2",
                "md-raid60-3",
                "md-raid60-4"
            ]
        );
        // Three drives may have three copies, whoever asks for less: they were the safest and the fastest, and not shown.
        for survive in [0, 1, 2] {
            let of_three = names(&question("3x st18000nm000j", "media", survive));
            for copies in ["md-mirror", "md-raid10-n3", "md-raid10-f3"] {
                assert!(of_three.contains(&copies), "{survive}: {of_three:?}");
            }
        }
        let three = |drives| names(&question(drives, "backup", 3)).join(" ");
        // md puts four copies on any number of members.
        for many in ["5x st18000nm000j", "8x st18000nm000j", "22x st18000nm000j"] {
            assert_eq!(three(many), "md-mirror md-raid10-n4", "{many}");
        }
        assert_eq!(three("4x st18000nm000j"), "md-mirror");
        let nine = question("9x st18000nm000j", "vm", 3);
        let large = Question { capacity_bytes: 30_000_000_000_000, ..nine };
        assert_eq!(names(&large), ["md-raid10-n4"]);
        let of_nested = |candidate: &&Candidate| candidate.level.nested().is_some();
        // Two chunks, each with two sizes of the stripe cache.
        assert_eq!(many.candidates().unwrap().0.iter().filter(of_nested).count(), 3 * 2 * 2);
    }

    /// Every name stands for work that its rig takes.
    #[test]
    fn every_work_is_an_experiment() {
        for (name, _) in crate::question::work::NAMED {
            for drives in ["8x st18000nm000j", "4x 980-pro-1tb"] {
                let question = question(drives, name, 1);
                assert!(question.work.about().is_some_and(|about| !about.is_empty()), "{name}");
                let experiment = question.experiment().unwrap();
                lab::run::Run::plan(&experiment, &crate::search::remembered::Sim)
                    .unwrap()
                    .admit()
                    .unwrap();
            }
        }
    }
}
