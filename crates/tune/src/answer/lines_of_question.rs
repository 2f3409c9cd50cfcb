//! The answer in words: what to build, and the lines below it.

mod outer_tracks;

use crate::answer::worst;
use crate::beforehand::Figures;
use crate::commands::{Plan, near_level};
use crate::danger::{EVEN_RISK, GONE_MIN};
use crate::front;
use crate::front::row::{EVEN, FrontRow, at_worst};
use crate::question::candidate::{Candidate, DEFAULT_CHUNK};
use crate::question::capacity::{price, room, usd_per_tb};
use crate::question::{Question, in_use};
use crate::search::confirm::Confirmed;
use crate::search::pick::Why;
use crate::words::hours;
use block::layout::{Level, Spread};
use block::units::{format_bytes, parse_bytes};
use lab::catalogue::Model;
use lab::formats::fio::AS_DIRECT;
use outer_tracks::outer_tracks;
use risk::in_words;
use risk::inputs::Inputs;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use store::known::ERASED_TOGETHER;
use store::quantity::Better;
use store::record::Record;
use store::sample;
use verdict::Verdict;
use verdict::judge::drives::shingled_disks::{SHINGLED, UNFIT};
use verdict::judge::{Point, Ranked, Standing};
use verdict::stats::{Interval, median};
use verdict::tables::{faster, figure, listed, percent, slower};

/// How many times better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// In the middle.
    pub estimate: f64,
    /// At least.
    pub low: Option<f64>,
    /// At most.
    pub high: Option<f64>,
}

/// What the verdict says of what the answer holds for, in its own words.
const OF_VERDICT: [&str; 18] = [
    "objective",
    "limit",
    "certainty",
    "doubt",
    "spindles",
    "buffers",
    "state",
    "credit",
    "media cache",
    "not steady",
    "overloaded",
    "too slow",
    "program",
    "lock",
    "processor",
    "buses",
    "host",
    "full queues",
];

/// What is said where a job's page cache is left out.
const CACHED_JOB: &str = "the job goes through the page cache, and this answer is about direct requests: writes through the cache make \
                          whole rows of RAID 5 and 6 and need no reads, so these levels may be several times as fast as here, and \
                          ahead; write `direct = false` into an experiment (docs/md.md)";

/// What is said of writes to the page cache that come at a rate.
const UNWAITED: &str = "no program waits for buffered writes that come at a rate, so layouts are ranked by the rate that they reach, and \
                        not by how long the write-back takes";

/// What was found, to be said.
pub(crate) struct Found<'a> {
    pub(crate) question: &'a Question,
    pub(crate) best: &'a Candidate,
    pub(crate) first: &'a Ranked,
    pub(crate) second: Option<&'a Ranked>,
    /// The layout that is second.
    pub(crate) other: Option<&'a Candidate>,
    /// Why that is the best.
    pub(crate) why: Why,
    /// What it is safer than, where it was picked for that.
    pub(crate) than: Option<&'a Candidate>,
    pub(crate) judged: &'a Verdict,
    /// What stands below its answer, of the layout that is picked.
    pub(crate) points: &'a [Point],
    pub(crate) confirmed: Option<&'a Confirmed>,
}

/// What each stream of these records, of one layout, is judged by, where they are judged apart: `wal: commit p99 1.2 ms`.
fn streams(records: &[Record]) -> Vec<String> {
    let Some(first) = records.first() else { return Vec::new() };
    let said = |(stream, name): (&str, &str)| {
        let values: Vec<f64> = records.iter().filter_map(|record| record.sample(name)).collect();
        let of = sample::find(name.rsplit('.').next()?)?;
        let value = figure(median(&values)?);
        let words = [of.before_unit(), value, of.unit.to_string()];
        let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
        Some(format!("{stream}: {}", words.join(" ")))
    };
    first.judged_streams().into_iter().filter_map(said).collect()
}

impl Found<'_> {
    /// How many times better the answer is than the second, which is the fastest where the answer is another.
    pub(crate) fn difference(&self) -> Option<Difference> {
        let second = self.second?;
        // Both are held against the best measured, which is one of them.
        let interval = match self.first.standing {
            Standing::Best => second.behind_interval,
            _ => self.first.behind_interval.map(inverse),
        };
        Some(Difference {
            estimate: second.behind / self.first.behind,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        })
    }

    /// What to build, in one sentence; `records` are those of the best where the model decides.
    pub(crate) fn sentence(&self, records: &[Record]) -> String {
        let Question { work, .. } = self.question;
        let what = self.best.name();
        let room = room(self.question.usable_bytes(&self.best.level));
        let is_ahead = self.second.is_none_or(|second| second.standing == Standing::Behind);
        let survives = match self.best.level.losses_survived(self.question.members()) {
            0 => "one failed drive loses everything".to_string(),
            1 => "survives any one drive failure".into(),
            many => format!("survives any {many} drive failures"),
        };
        let value = format!("{} {}", figure(self.first.value), self.judged.unit);
        let streams = if self.confirmed.is_some() { Vec::new() } else { streams(records) };
        let figures = match self.question.is_ranked_by_rate() {
            false => format!("{}, `{}`, {value}", work.name, self.judged.objective),
            true if streams.is_empty() => format!("{} {value}", work.name),
            true => streams.join(", "),
        };
        let figures = format!("{figures}, {room}, {survives}");
        let because = match self.why {
            Why::Default if self.has_default_copies() => {
                " (the default; nothing tried is reliably better)".into()
            }
            Why::Default => " (md's default chunk; nothing tried is reliably better)".into(),
            Why::Nearest => {
                let why = if self.best.level.has_stripe_cache() && self.best.chunk != DEFAULT_CHUNK {
                    ": a stripe cache is to be set at each boot, a chunk once"
                } else {
                    ""
                };
                format!(" (nothing tried is reliably better; of the layouts that tie, this is nearest to md's default{why})")
            }
            Why::LessRisk => {
                " (nothing tried is reliably better; of the layouts that tie, this loses all data least often)"
                    .into()
            }
            Why::DefaultOfSafest => {
                " (this level's default; another layout is faster, but this level loses all data least often, and none of its chunks is reliably faster)"
                    .into()
            }
            Why::KeepsRate => {
                format!(" (all layouts that tie keep the rate; {}this holds most)", self.of_which())
            }
            Why::Safer { .. } => {
                let than = self.than.map_or_else(String::new, Candidate::name);
                format!(" (not reliably slower than {than}, and safer)")
            }
            Why::Roomier { .. } => {
                let than = self.than.map_or_else(String::new, Candidate::name);
                format!(" (not reliably slower than {than}, and holds more)")
            }
            Why::Fastest if is_ahead => String::new(),
            Why::Fastest => " (no reliable difference to the next best)".into(),
        };
        format!("Use {what}{because}: {figures}.")
    }

    /// Among which of the layouts that keep the rate room decides, as [`crate::search::pick`] has it.
    fn of_which(&self) -> &'static str {
        let gone = self.question.risk(&self.best.level).map_or(0.0, |(risk, _)| risk.gone.high);
        match self.question.survive {
            0 => "",
            _ if gone <= GONE_MIN => {
                "of those that lose all data in 5 years with a chance of less than 1 % at worst, "
            }
            _ => "of those that lose all data least often, ",
        }
    }

    /// Whether copies are where mdadm puts them by itself (`--layout=n2`).
    fn has_default_copies(&self) -> bool {
        !matches!(self.best.level.spread(), Some(Spread::Far | Spread::Offset))
    }

    /// What is second, by name.
    fn second_name(&self) -> String {
        let label = || self.second.map_or_else(String::new, |second| second.label.clone());
        self.other.map_or_else(label, Candidate::name)
    }

    /// That a larger chunk than the best was not tried, where nothing says that it would be worse.
    fn at_the_edge(&self) -> Option<String> {
        let is_last = self.best.chunk == self.question.largest_chunk()
            && !self.question.fits_in(self.best.chunk);
        let is_chosen = self.best.level.interleaved() && self.why != Why::Default;
        (is_last && is_chosen).then(|| {
            let larger = parse_bytes(self.best.chunk).map_or_else(|_| "more".into(), |bytes| format_bytes(2 * bytes));
            format!(
                "{} is the largest that was tried; to try {larger}, use `--save FILE`, add it to `interleave` there, and run `ileave tune FILE`",
                self.best.chunk
            )
        })
    }

    /// How another stands to the best, in words.
    fn against(&self, other: &Ranked) -> String {
        let ahead = self.judged.better.ahead(self.first.value, other.value);
        if ahead.abs() < EVEN {
            "as fast".into()
        } else if ahead > 0.0 {
            slower(ahead.exp(), self.judged.better, &self.judged.unit)
        } else if self.is_tie(other) {
            format!("{} {}, not slower", figure(other.value), self.judged.unit)
        } else {
            let (better, unit) = (self.judged.better, &self.judged.unit);
            format!("{} {unit}, {}", figure(other.value), faster((-ahead).exp(), better, unit))
        }
    }

    /// Whether nothing tells another from the best.
    fn is_tie(&self, other: &Ranked) -> bool {
        [self.first, other].iter().any(|of| of.standing == Standing::Tie)
    }

    /// What the second risks more than the best, where that is faster and much more likely to lose everything.
    fn risked_by_second(&self, second: &Ranked, risk: &risk::Risk) -> String {
        let is_ahead = self.judged.better.ahead(self.first.value, second.value) < 0.0;
        let other = self.other.filter(|_| is_ahead && !self.is_tie(second));
        let gone = other.and_then(|other| self.question.risk(&other.level).ok());
        let gone =
            gone.map(|(risk, _)| risk.gone.high).filter(|gone| *gone > risk.gone.high * EVEN_RISK);
        gone.map_or_else(String::new, |gone| at_worst(gone, risk.gone.high))
    }

    /// A plan of the best; of far copies, which only md has, with what was measured of near ones.
    pub(crate) fn beside_near<'p>(&self, plan: Plan<'p>) -> Plan<'p> {
        let measured = || {
            let near = near_level(&self.best.level, self.question.members())?;
            let is_near = |of: &&Ranked| of.at.get("volume.level").is_some_and(|of| of == near);
            let ranked = self.judged.ranked.iter().find(is_near)?;
            let value = format!("{} {}", figure(ranked.value), self.judged.unit);
            let how = self.against(ranked);
            // What is not slower says its value.
            let how = if how.starts_with(&value) { how } else { format!("{value}, {how}") };
            Some(format!("md's make {how} (`--level {near}`)"))
        };
        Plan { near: measured().or(plan.near), ..plan }
    }

    /// What the best does, and which way is better.
    fn value(&self) -> (f64, Better) {
        (self.first.value, self.judged.better)
    }

    pub(crate) fn lines(
        &self,
        risk: &risk::Risk,
        inputs: &Inputs,
        front: &[FrontRow],
    ) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        if let Some(second) = self.second {
            let tie = if self.is_tie(second) { " (no reliable difference)" } else { "" };
            let (how, risked) = (self.against(second), self.risked_by_second(second, risk));
            lines.push(("next best".into(), format!("{}, {how}{tie}{risked}", self.second_name())));
        }
        let confirmed = self.confirmed.map(Confirmed::line);
        lines.extend(confirmed.map(|line| ("confirmed".to_string(), line)));
        lines.extend(self.at_the_edge().map(|line| ("chunk".into(), line)));
        let room = self.question.usable_bytes(&self.best.level);
        lines.extend(
            front::more_room(front, room, risk, self.value())
                .map(|line| ("more room".into(), line)),
        );
        let safer = front::safer(front, risk, self.value()).or_else(|| {
            let is_for_room = self.why == Why::KeepsRate;
            is_for_room.then(|| front::safer_for_room(front, room, risk, self.value()))?
        });
        lines.extend(safer.map(|line| ("safer".into(), line)));
        lines.extend(self.beforehand().map(|text| ("asked".into(), text)));
        lines.extend(self.spares().map(|text| ("spares".into(), text)));
        lines.extend(self.cost().map(|cost| ("cost".into(), cost)));
        lines.extend(worst::line(self.judged, front).map(|text| ("worst in".into(), text)));
        let holds = self.points.iter().filter(|of| OF_VERDICT.contains(&of.about.as_str()));
        lines.extend(self.alone().map(|text| ("certainty".into(), text)));
        lines.extend(holds.map(|point| (point.about.clone(), self.by_name(&point.text))));
        let unwaited = (self.question.is_unwaited()).then(|| UNWAITED.to_string());
        lines.extend(unwaited.map(|text| ("objective".into(), text)));
        lines.extend(not_compared(self.judged).map(|text| ("not compared".into(), text)));
        let past = self.question.work.past_the_page_cache.clone();
        lines.extend(past.map(|text| ("page cache".into(), text)));
        lines.extend(self.beyond_the_model());
        lines.extend(self.as_direct().into_iter().chain(self.of_an_instance()));
        lines.extend(self.outer_tracks().map(|text| ("tracks".into(), text)));
        lines.extend(never_grows(&self.best.level).map(|text| ("growth".into(), text.into())));
        let range = |range: &risk::inputs::Range| {
            let [low, high] = [range.low, range.high].map(in_words);
            if low == high { low } else { format!("{low} to {high}") }
        };
        let torn = risk.torn.as_ref().map_or(String::new(), |torn| {
            format!("; a stripe torn by a crash {} ({})", range(torn), risk.torn_at_worst(inputs))
        });
        lines.push((
            "risk".into(),
            format!(
                "in 5 years: all data lost {}; some sectors unreadable {}{torn} (docs/risk.md)",
                range(&risk.gone),
                range(&risk.unreadable)
            ),
        ));
        if self.question.drives.drive.figures.goes_with_instance {
            lines.push(("instance".into(), ERASED_TOGETHER.into()));
        }
        if self.best.level.losses_survived(self.question.members()) > 0 {
            lines.push(("rebuild".into(), self.rebuild(inputs)));
        }
        lines.extend(self.crash().map(|crash| ("crash".into(), crash)));
        lines
    }

    /// How long a rebuild takes, and where there is none to have.
    fn rebuild(&self, inputs: &Inputs) -> String {
        let took = inputs.rebuild_h.range;
        let by = inputs.limited_by_host.as_ref().map_or_else(String::new, |by| format!(" ({by})"));
        let took = format!(
            "{} idle, {} to {} under load{by}",
            hours(took.low),
            hours(took.middle),
            hours(took.high)
        );
        let is_of_instance = self.question.drives.drive.figures.goes_with_instance;
        if is_of_instance && self.question.spares == 0 {
            format!(
                "{took}, but only onto a spare (`--spares 1`): nobody replaces one disk of a running instance, and stopping it erases all, so \
                 without one the array goes on degraded until its data is copied to another instance"
            )
        } else {
            took
        }
    }

    /// What the verdict says, with the names that the answer has for the first two.
    fn by_name(&self, text: &str) -> String {
        let text = text.replace(&self.first.label, &self.best.name());
        match (self.second, self.other) {
            (Some(second), Some(other)) => text.replace(&second.label, &other.name()),
            _ => text,
        }
    }

    /// Where there was nothing to compare with, that, and how far the rate itself may be off.
    fn alone(&self) -> Option<String> {
        let is_said = self.points.iter().any(|point| point.about == "certainty");
        if is_said || self.judged.ranked.len() > 1 {
            return None;
        }
        let how = if self.judged.left_out.is_empty() { "was tried" } else { "can be ranked" };
        let off = match self.judged.noise.level_error {
            Some(off) => format!(
                "of the measured values of such work 95 in 100 are within {} of the model's",
                percent(off)
            ),
            None => {
                "too few measurements test the model here to say how far this figure may be off"
                    .into()
            }
        };
        Some(format!("nothing was compared: {} alone {how}; {off}", self.best.name()))
    }

    /// What a power cut loses and damages.
    fn crash(&self) -> Option<String> {
        let facts = &self.first.facts;
        // Work that flushes loses what it has not flushed yet, and knows it.
        let lost = facts.lost_by_crash.as_ref().map(|lost| {
            if self.question.flushes() {
                "loses what was not flushed; what was flushed is safe, if the drives honour flushes"
                    .to_string()
            } else {
                lost.clone()
            }
        });
        let cut: Vec<String> = lost.into_iter().chain(facts.torn_by_crash.clone()).collect();
        (!cut.is_empty()).then(|| cut.join("; "))
    }

    /// What the model has hardly.
    fn beyond_the_model(&self) -> impl Iterator<Item = (String, String)> {
        let shingled = shingled(self.question).map(|text| ("shingled".into(), text));
        let streams = self.points.iter().filter(|point| point.about == "streams");
        shingled.into_iter().chain(streams.map(|of| (of.about.clone(), of.text.clone())))
    }

    /// How many of the disks one instance has, of which alone an array is made.
    fn of_an_instance(&self) -> Option<(String, String)> {
        let several = Some(&self.question.drives.drive).filter(|_| self.question.members() > 1);
        let counts = several?.per_instance()?;
        Some((
            "instance".into(),
            format!("an array is made of the disks of one instance: {counts}"),
        ))
    }

    /// That a job goes through the page cache and is answered as direct requests.
    fn as_direct(&self) -> Option<(String, String)> {
        let is_cached = self.question.work.warnings.iter().any(|told| told.contains(AS_DIRECT));
        is_cached.then(|| ("page cache".into(), CACHED_JOB.into()))
    }

    /// That the rate of a stream on disks is one of the beginning, where their tracks are longest.
    fn outer_tracks(&self) -> Option<String> {
        outer_tracks(self.question, &self.best.level)
    }

    /// Why there are spares that nobody asked for.
    fn spares(&self) -> Option<String> {
        let because = self.question.spares_because.as_ref()?;
        Some(format!("{}; {because}", in_use(self.question)))
    }

    /// What was asked of what is known beforehand.
    fn beforehand(&self) -> Option<String> {
        let beforehand = self.question.parted().ok()?.beforehand;
        let figures = self.question.figures(&self.best.level).ok()?;
        let line = beforehand.line(&figures)?;
        let then =
            if beforehand.has_objective() { "; of such levels the fastest is chosen" } else { "" };
        let others = self.question.holding().unwrap_or_default();
        let others = others.iter().filter_map(|level| self.question.figures(level).ok());
        let safer = beforehand.safer(&figures, &others.collect::<Vec<Figures>>());
        let holds = self.question.holds_little(&self.best.level, &beforehand);
        let roomier = self.question.roomier_with_spares();
        let more = holds.into_iter().chain(safer).chain(roomier);
        Some(more.fold(line + then, |text, more| format!("{text}; {more}")))
    }

    /// What the drives cost, where their price is known.
    fn cost(&self) -> Option<String> {
        let Question { drives, price_usd, budget_usd, .. } = self.question;
        let cost = self.question.cost_usd()?;
        let usable_bytes = self.question.usable_bytes(&self.best.level);
        let budget =
            budget_usd.map_or_else(String::new, |budget| format!("; the budget is US$ {budget}"));
        Some(format!(
            "{} drives at {}: US$ {cost:.0}, {} per TB{budget}",
            drives.count,
            price((*price_usd)?, &drives.drive),
            figure(usd_per_tb(cost, usable_bytes))
        ))
    }
}

/// How many times better one is than another, from how many times better that one is.
fn inverse(of: Interval) -> Interval {
    Interval { low: 1.0 / of.high, high: 1.0 / of.low }
}

/// That md adds no disk to this level later (Linux 6.1, raid10.c, `raid10_check_reshape`).
fn never_grows(level: &Level) -> Option<&'static str> {
    (level.spread() == Some(Spread::Far)).then_some(
        "md cannot add disks to far copies later, as it can to near copies, RAID 5 and RAID 6",
    )
}

/// What is said of shingled disks, where the drives are such.
fn shingled(question: &Question) -> Option<String> {
    let is_shingled = matches!(question.drives.drive.model, Model::Shingled(_));
    let is_unfit = question.writes_small_at_random();
    is_shingled.then(|| if is_unfit { format!("{UNFIT}; {SHINGLED}") } else { SHINGLED.into() })
}

/// Levels of which no layout was steady, so that nobody knows whether they are better.
fn not_compared(verdict: &Verdict) -> Option<String> {
    let level = |at: &Map<String, Json>| at.get("volume.level").map(store::record::plain);
    let compared: Vec<_> = verdict.ranked.iter().map(|ranked| level(&ranked.at)).collect();
    let unsteady = verdict.left_out.iter().filter(|out| out.is_unsteady);
    let mut levels: Vec<String> =
        unsteady.map(|out| level(&out.at)).filter(|of| !compared.contains(of)).flatten().collect();
    levels.sort();
    levels.dedup();
    (!levels.is_empty())
        .then(|| format!("{}: no trial was steady, so it may be better", listed(&levels)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::question::tests::without_what_ifs;
    use crate::search::remembered::Sim;
    use lab::experiment::Experiment;
    use lab::{Keep, run};
    use verdict::Wishes;
    use verdict::judge::drives::shingled_disks::STREAMS;

    /// Direct writes of one program cost RAID 5 reads that the page cache spares it.
    #[test]
    fn a_job_through_the_page_cache_is_answered_with_a_doubt() {
        let mut asked = crate::question::tests::question("4x st16000nm001g", "media", 1);
        asked.levels = vec!["md-raid5".into()];
        let says = |asked: crate::Question| {
            let asked = crate::question::tests::without_what_ifs(asked);
            let found = crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap();
            found.lines.iter().any(|(about, text)| about == "page cache" && text == CACHED_JOB)
        };
        asked.work.warnings = vec![format!("nas.fio:2: `direct=0`: {AS_DIRECT}")];
        assert!(says(asked));
        assert!(!says(crate::question::tests::question("2x 980 pro 1tb", "vm", 1)));
    }

    /// Four disks of an instance that has one were an answer without a word.
    #[test]
    fn disks_of_instances_say_how_many_one_has() {
        let said = |drives: &str| {
            let asked = crate::question::tests::question(drives, "vm", 1);
            let asked = crate::question::tests::without_what_ifs(asked);
            let found = crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap();
            let line = found.lines.into_iter().find(|(about, _)| about == "instance");
            line.map(|(_, text)| text)
        };
        assert_eq!(
            said("2x i3.4xlarge").unwrap(),
            "an array is made of the disks of one instance: i3.2xlarge has one; i3.4xlarge has two; i3.8xlarge has four; i3.16xlarge and i3.metal have eight"
        );
        assert_eq!(said("2x 980 pro 1tb"), None);
    }

    #[test]
    fn shingled_disks_are_unfit_for_small_random_writes() {
        let said = |drives, work| shingled(&crate::question::tests::question(drives, work, 1));
        assert!(said("4x wd40efax", "vm").unwrap().starts_with(UNFIT));
        assert_eq!(said("4x wd40efax", "media").as_deref(), Some(SHINGLED));
        assert_eq!(said("4x st18000nm000j", "vm"), None);
    }

    /// `run` named the estimate that decides of writes in order, and `tune` did not.
    #[test]
    fn what_decides_of_writes_in_order_to_shingled_disks_is_named() {
        let said = |drives: &str, work: &str| {
            let levels = vec!["md-mirror".to_string()];
            let asked = crate::question::tests::question(drives, work, 1);
            let asked = without_what_ifs(crate::Question { levels, ..asked });
            let found = crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap();
            let about = |name: &str| found.lines.iter().position(|(about, _)| about == name);
            (
                about("shingled").is_some(),
                about("streams").map(|place| found.lines[place].1.clone()),
            )
        };
        assert_eq!(said("2x wd40efax", "backup"), (true, Some(STREAMS.to_string())));
        assert_eq!(said("2x wd40efax", "vm"), (true, None));
        assert_eq!(said("2x st18000nm000j", "backup"), (false, None));
    }

    #[test]
    fn what_never_grows_says_so() {
        let says = |level: &str| never_grows(&level.parse().unwrap()).is_some();
        assert!(says("md-raid10-f2") && says("md-raid10-f3"));
        assert!(!says("md-raid10") && !says("md-raid10-o2") && !says("md-raid6"));
    }

    /// Far copies are read from the outer half or third alone: the simulator has 79 and 86 % at the end.
    #[test]
    fn far_copies_are_read_from_the_outer_tracks() {
        let share = |work, level: &str| {
            let asked = crate::question::tests::question("9x st18000nm000j", work, 1);
            let said = outer_tracks(&asked, &level.parse().unwrap()).unwrap();
            let (_, share) = said.split_once("at its end disks transfer ").unwrap();
            (share[..2].parse::<u32>().unwrap(), share.ends_with("the outer part of each disk"))
        };
        assert_eq!(share("restore", "md-raid10-f2"), (79, true));
        assert_eq!(share("restore", "md-raid10-f3"), (86, true));
        let near = share("restore", "md-raid10");
        assert_eq!(near, (48, false));
        // Writes go to all parts.
        assert_eq!(share("backup", "md-raid10-f2"), near);
    }

    pub(crate) fn answered(drives: &str, work: &str, levels: &[&str]) -> crate::Tuned {
        let levels = levels.iter().map(ToString::to_string).collect();
        let asked = crate::question::tests::question(drives, work, 1);
        let asked = without_what_ifs(Question { levels, ..asked });
        crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap()
    }

    /// What builds or checks it, and what is said of that.
    fn commands(of: &crate::Tuned) -> String {
        let commands = of.commands.iter();
        let lines = commands.map(|of| format!("{}: {}\n{}\n", of.when, of.what, of.line));
        lines.collect::<Vec<String>>().concat()
    }

    /// One stream reads one disk of a mirror, and both of far copies.
    #[test]
    fn of_two_disks_far_copies_are_tried_beside_a_mirror() {
        let found = answered("2x mg08aca16te", "restore", &[]);
        assert!(found.verdict.starts_with("Use md-raid10-f2, "), "{}", found.verdict);
        let said = commands(&found);
        assert!(said.contains("--level=10 --layout=f2 --raid-devices=2 "), "{said}");
        assert!(
            said.contains("elsewhere: LVM; near copies, as those of md-mirror: md's make 276"),
            "{said}"
        );
        assert!(said.contains("lvcreate --type raid1 -m 1 "), "{said}");
    }

    #[test]
    fn one_layout_alone_says_how_sure_its_rate_is() {
        let found = answered("2x mg08aca16te", "restore", &["md-mirror"]);
        let certainty = found.lines.iter().find(|(about, _)| about == "certainty").unwrap();
        assert!(
            certainty.1.starts_with("nothing was compared: md-mirror alone was tried"),
            "{certainty:?}"
        );
    }

    /// One chunk is ahead wherever the spindles stand, by a quarter or by a half; one seed may show either.
    #[test]
    fn where_spindles_decide_the_choice_is_over_many_seeds() {
        if crate::tests::takes_long() {
            return;
        }
        let asked = crate::question::tests::question("4x wuh721818ale6l4", "log", 1);
        let levels = vec!["md-raid10".into(), "md-raid6".into()];
        let asked = without_what_ifs(Question { safe: true, seed: 3, levels, ..asked });
        let found = crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap();
        assert!(found.verdict.starts_with("Use md-raid10, 16KiB chunk"), "{}", found.verdict);
        let line = found.lines.iter().find(|(about, _)| about == "spindles").unwrap();
        assert!(line.1.contains(": in 20 repeats md-raid10, 16KiB chunk made "), "{line:?}");
    }

    /// What is kept although another is ahead has an interval, too: how far behind that one it may be.
    #[test]
    fn what_is_kept_has_an_interval() {
        let found = answered("4x 980 pro 1tb", "vm", &[]);
        assert!(found.verdict.contains("nothing tried is reliably better"), "{}", found.verdict);
        let difference = found.difference.unwrap();
        let [low, high] = [difference.low.unwrap(), difference.high.unwrap()];
        assert!(low < difference.estimate && difference.estimate < high, "{difference:?}");
        assert!(low < 1.0 && high > 1.0, "it ties: {difference:?}");
    }

    /// Reads set no bit of a bitmap, and do not wait for one.
    #[test]
    fn what_only_reads_has_a_bitmap() {
        let found = answered("2x mg08aca16te", "restore", &["md-mirror"]);
        let line = found.lines.iter().find(|(about, _)| about == "bitmap").unwrap();
        assert!(
            line.1.starts_with(
                "take a write-intent bitmap: it costs reads nothing; without one a crash costs a full resync, "
            ),
            "{line:?}"
        );
        let said = commands(&found);
        assert!(said.contains("--raid-devices=2 --bitmap=internal "), "{said}");
        assert!(!said.contains("full resync"), "{said}");
        let stripe = answered("2x mg08aca16te", "restore", &["md-raid10-f2"]);
        assert!(commands(&stripe).contains("--bitmap=internal"));
    }

    #[test]
    fn the_check_ends_and_says_what_a_small_file_shows() {
        let check = |drives: &str, work| {
            let found = answered(drives, work, &["md-raid10"]);
            let check = found.commands.iter().find(|of| of.line.starts_with("fio ")).unwrap();
            (check.what.clone(), check.line.clone())
        };
        let (what, line) = check("4x st18000nm000j", "vm");
        assert!(line.contains(" --time_based --runtime=60 "), "{line}");
        assert_eq!(
            what,
            "the same work on a file of 64 GiB. On disks it is faster than over the whole volume, which the answer is for: seeks \
             within the file are short"
        );
        assert_eq!(check("4x 980-pro-1tb", "vm").0, "the same work on a file on the array");
        let (what, line) = check("4x st18000nm000j", "backup");
        assert_eq!(what, "the same work on a file on the array");
        assert!(line.contains(" --time_based --runtime=60 "), "{line}");
    }

    /// A share of the best says nothing to a person who asked how long a commit takes.
    #[test]
    fn streams_that_are_judged_apart_are_said_apart() {
        let said = |pages: &str| {
            let text = format!(
                "[volume]\ndrives = '4x980-pro-1tb'\nlevel = 'md-raid10'\n[workload.pages]\nkind = 'random'\ngroup = 'db'\n\
                 {pages}\n[workload.wal]\nkind = 'sequential'\nop = 'write'\nflush_every = 1\ngroup = 'db'\n"
            );
            let experiment = Experiment::parse("some.toml", &text).unwrap();
            let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
            streams(&ran.records())
        };
        let apart = said("arrivals = 'poisson'\nrequests_per_s = 1000");
        assert_eq!(apart.len(), 2, "{apart:?}");
        assert!(apart[0].starts_with("pages: latency p99 0.") && apart[0].ends_with(" ms"));
        assert!(apart[1].starts_with("wal: commits "), "{apart:?}");
        assert_eq!(said("depth = 4"), Vec::<String>::new(), "one rate says all");
    }

    #[test]
    fn a_level_without_a_steady_trial_is_named() {
        let text = "run.repeats = 1\n[volume]\ndrives = '4xwd740gd'\nlevel = ['md-stripe', 'md-mirror']\ninterleave = ['64KiB', '128KiB']\n\
                    [workload.w]\nkind = 'random'\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        let mut records = ran.records();
        let said = |records: &[store::record::Record]| {
            not_compared(&Verdict::new(&ran.manifest, records, &Wishes::default()).unwrap())
        };
        assert_eq!(said(&records), None);
        let is_mirror = |of: &store::record::Record| of.at["volume.level"] == "md-mirror";
        let mut mirrors: Vec<_> = records.iter_mut().filter(|of| is_mirror(of)).collect();
        mirrors[0].samples.insert("steady", 0.0);
        if let Some(last) = mirrors.get_mut(1) {
            last.samples.insert("steady", 0.0);
        }
        assert_eq!(said(&records).unwrap(), "md-mirror: no trial was steady, so it may be better");
    }
}
