//! Laws that every modelled cell must keep, whatever its layout, drives and work; and the search for cells
//! that break one.
//!
//! ```text
//! laws       the search: cells at random or of an experiment, the laws in turn, what was found
//! subject    one cell, and the cells beside it that a law asks for
//! draw       a cell at random
//! shrink     the simplest cell that still breaks the law
//! bounds     laws of one cell: no rate above what drives and buses carry, times that add up
//! relations  laws of a cell and another: depth, members, copies, parity, a failed member
//! ```
//!
//! A law is no measurement: it cannot say that a figure is right. It says that one of two figures is wrong,
//! without anybody having measured either.

mod bounds;
mod draw;
mod relations;
mod shrink;
mod subject;

pub use subject::Subject;

use crate::caught::caught;
use crate::error::Result;
use crate::experiment::{Experiment, Trial};
use crate::record::Measured;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// What must hold of a cell.
pub struct Law {
    /// Its name.
    pub name: &'static str,
    /// What it says, as a sentence without a full stop.
    pub about: &'static str,
    /// The cells to compare with, each as what to change; `None` where it says nothing of this cell.
    others: fn(&Trial) -> Option<Vec<Change>>,
    /// Whether it is about rates alone, of which a short trial leaves too much to chance: it is broken where trials of
    /// [`LONG`] times the requests break it, too, and by the mean of [`OTHERS`] of other seeds.
    in_the_long_run: bool,
    /// What is known to break it, and is documented.
    limit: Option<&'static Limit>,
    /// Whether it holds of the cell, which comes first, and of the others; or what was measured instead.
    holds: fn(&Trial, &[Measured]) -> std::result::Result<(), String>,
}

/// What breaks a law and is no fault. A cell is one of its kind only if the law holds without the cause, and if the cause explains as
/// much as was measured.
struct Limit {
    /// What it is, in words.
    about: &'static str,
    /// What takes the cause away, of the cell and of those that it is compared with; `None` where it is not there.
    without: fn(&Trial) -> Option<Change>,
    /// Whether it makes so much of a difference.
    explains: fn(&Trial, &[Measured]) -> bool,
}

/// Keys and the values that they get. `work.` stands for the workload.
type Change = Vec<(&'static str, String)>;

/// All laws.
pub fn laws() -> impl Iterator<Item = &'static Law> {
    std::iter::once(&NO_PANIC).chain(bounds::LAWS).chain(relations::LAWS)
}

/// The first law: without it nothing is known of a cell. What breaks it is caught where cells are simulated.
static NO_PANIC: Law = Law {
    name: "no panic",
    about: "a cell is simulated to its end, without a fault of ileave itself",
    others: |_| Some(Vec::new()),
    in_the_long_run: false,
    limit: None,
    holds: |_, _| Ok(()),
};

/// Which of the cells drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Drawn {
    /// The seed of the search.
    pub seed: u64,
    /// Its number.
    pub index: u64,
}

/// A cell that breaks a law.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The law.
    pub law: &'static str,
    /// The cell, as it was drawn; none of an experiment's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Drawn>,
    /// What was measured.
    pub measured: String,
    /// The cell, as an experiment file.
    pub experiment: String,
}

/// What a search came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Findings {
    /// Cells that were simulated.
    pub cells: u64,
    /// How often each law was asked.
    pub asked: BTreeMap<&'static str, u64>,
    /// How often each was broken.
    pub broken: BTreeMap<&'static str, u64>,
    /// How often a law was broken by what is documented, by what that is.
    pub known_limits: BTreeMap<&'static str, u64>,
    /// The cells that break a law, the simplest found for each; the first few of each law.
    pub findings: Vec<Finding>,
}

/// A cell that was drawn makes a few hundred requests: too few to be steady, or to tell two rates apart closely. So many
/// times as many are enough for most.
const LONG: u64 = 8;

/// How the spindles of drives stand to each other is luck of the seed, however long the trial: members that lose a turn with
/// each request stay in step. RAID 5 of five 94601-12g with one down, 1 KiB in order, 8 in flight: 0.097 to 0.110 MB/s over
/// 30 seeds, 16 in flight: 0.100 to 0.102.
const OTHERS: u64 = 8;
/// Their seeds are these and above; those of cells drawn at random are below.
const OTHERS_FROM: u64 = 1000;

/// As many cells of each law are described.
const DESCRIBED_MAX: u64 = 3;
/// As many subjects are looked at between two looks at the number of cells. It does not depend on the
/// machine, so that the same search looks at the same cells everywhere.
const BATCH: u64 = 64;

/// Looks at cells drawn at random until `cells` were simulated; `watch` is told how many were. The same `seed`
/// draws the same cells.
pub fn search(cells: u64, seed: u64, watch: &mut dyn FnMut(u64)) -> Findings {
    let mut all = Findings::default();
    let mut first = 0;
    while all.cells < cells {
        let looked = side_by_side(BATCH, |index| {
            let drawn = Drawn { seed, index: first + index };
            Some((look_at(drawn)?, drawn))
        });
        for (found, drawn) in looked {
            all.add(found, |law, measured| described(drawn, law, measured));
        }
        first += BATCH;
        watch(all.cells);
    }
    all
}

/// Looks at one cell of those that [`search`] draws, and at what its laws compare it with.
pub fn one(drawn: Drawn) -> Findings {
    let mut all = Findings::default();
    if let Some(found) = look_at(drawn) {
        all.add(found, |law, measured| described(drawn, law, measured));
    }
    all
}

fn look_at(Drawn { seed, index }: Drawn) -> Option<Looked> {
    look(&Subject::of_settings(&draw::case(seed, index)).ok()?)
}

/// The simplest cell like the one drawn that breaks the law, too.
fn described(drawn: Drawn, law: &'static str, measured: String) -> Finding {
    let case = draw::case(drawn.seed, drawn.index);
    let simplest = shrink::simplest(case, |case| breaks(case, law));
    let measured = breaks(&simplest, law).unwrap_or(measured);
    Finding { law, drawn: Some(drawn), measured, experiment: subject::as_file(&simplest) }
}

/// Looks at every cell of `experiment`.
///
/// # Errors
///
/// Where the experiment cannot be simulated; the message names the key.
pub fn check(experiment: &Experiment, watch: &mut dyn FnMut(u64)) -> Result<Findings> {
    let subjects = Subject::all_of(experiment)?;
    let mut all = Findings::default();
    for batch in subjects.chunks(BATCH as usize) {
        let looked = side_by_side(batch.len() as u64, |index| {
            let subject = &batch[index as usize];
            Some((look(subject)?, subject))
        });
        for (found, subject) in looked {
            all.add(found, |law, measured| {
                let experiment = subject.label();
                Finding { law, drawn: None, measured, experiment }
            });
        }
        watch(all.cells);
    }
    Ok(all)
}

/// What is found of one cell.
struct Looked {
    cells: u64,
    asked: Vec<&'static str>,
    /// Each law that it breaks, and what was measured instead.
    broken: Vec<(&'static str, String)>,
    /// What is documented and breaks one.
    limits: Vec<&'static str>,
}

/// What `law` finds wrong with a cell drawn at random, if anything.
fn breaks(case: &draw::Case, law: &str) -> Option<String> {
    let found = ask(&Subject::of_settings(case).ok()?, laws().filter(|of| of.name == law))?;
    found.broken.into_iter().find(|(of, _)| *of == law).map(|(_, measured)| measured)
}

/// Asks every law about a cell; nothing where it cannot be simulated.
fn look(subject: &Subject) -> Option<Looked> {
    ask(subject, laws())
}

fn ask(subject: &Subject, laws: impl Iterator<Item = &'static Law>) -> Option<Looked> {
    caught(|| asked(subject, laws)).unwrap_or_else(|fault| Some(Looked::stopped_by(fault)))
}

/// The cell with something changed, simulated; nothing where that cannot be, or where a fault of ileave ends it, which is
/// added to `faults`.
fn simulated(subject: &Subject, change: &Change, faults: &mut Vec<String>) -> Option<Measured> {
    match caught(|| subject.with(change).and_then(|other| other.measure())) {
        Ok(measured) => measured.ok(),
        Err(fault) => {
            let with: Vec<String> =
                change.iter().map(|(key, value)| format!(", with {key} = {value}")).collect();
            faults.push(fault + &with.concat());
            None
        }
    }
}

/// The cell with something changed, with each of these seeds, and the mean of their rates; nothing where one cannot be.
fn mean_over(
    subject: &Subject,
    change: &Change,
    seeds: &[Change],
    faults: &mut Vec<String>,
) -> Option<Measured> {
    let all: Option<Vec<Measured>> = seeds
        .iter()
        .map(|seed| simulated(subject, &[change.clone(), seed.clone()].concat(), faults))
        .collect();
    let all = all?;
    let mut mean = all.first()?.clone();
    let rates = all.iter().filter_map(|measured| bounds::value(measured, RATE));
    let rate = rates.sum::<f64>() / all.len() as f64;
    mean.samples.iter_mut().filter(|(name, _)| *name == RATE).for_each(|sample| sample.1 = rate);
    Some(mean)
}

/// What laws about rates compare.
const RATE: &str = "mb_per_s";

fn seed_of(seed: u64) -> [(&'static str, String); 1] {
    [("run.seed", seed.to_string())]
}

fn asked(subject: &Subject, laws: impl Iterator<Item = &'static Law>) -> Option<Looked> {
    let trial = subject.trial().ok()?;
    let mut faults = Vec::new();
    let Some(own) = simulated(subject, &Change::new(), &mut faults) else {
        return faults.pop().map(Looked::stopped_by);
    };
    let mut found = Looked { cells: 1, asked: Vec::new(), broken: Vec::new(), limits: Vec::new() };
    let mut known: BTreeMap<Change, Option<Measured>> = BTreeMap::new();
    for law in laws {
        let Some(changes) = (law.others)(&trial) else { continue };
        let all = 1 + changes.len();
        let mut measured = vec![own.clone()];
        for change in &changes {
            let other = known.entry(change.clone()).or_insert_with_key(|change| {
                found.cells += 1;
                simulated(subject, change, &mut faults)
            });
            measured.extend(other.clone());
        }
        // A cell beside this one may be impossible: a level that takes no such number of members, say.
        if measured.len() < all {
            continue;
        }
        found.asked.push(law.name);
        let mut holds = (law.holds)(&trial, &measured);
        if let (Err(_), true, Some(longer)) = (&holds, law.in_the_long_run, longer(&trial)) {
            let all = std::iter::once(Change::new()).chain(changes.iter().cloned());
            let all: Vec<Change> = all.map(|change| [change, longer.clone()].concat()).collect();
            let others = (OTHERS_FROM..OTHERS_FROM + OTHERS).map(|seed| seed_of(seed).into());
            for seeds in [vec![Change::new()], others.collect()] {
                let mean = |change| mean_over(subject, change, &seeds, &mut faults);
                let over: Option<Vec<Measured>> = all.iter().map(mean).collect();
                let Some(over) = over.filter(|_| holds.is_err()) else { break };
                found.cells += (over.len() * seeds.len()) as u64;
                holds = (law.holds)(&trial, &over);
                measured = over;
            }
        }
        let Err(instead) = holds else { continue };
        match limit(subject, law, &trial, (&changes, &measured), &mut faults) {
            Some(limit) => {
                found.cells += measured.len() as u64;
                found.limits.push(limit);
            }
            None => found.broken.push((law.name, instead)),
        }
    }
    found.broken.extend(faults.pop().map(|fault| (NO_PANIC.name, fault)));
    Some(found)
}

/// What is documented, and why these break the law: nothing where the law is broken without it, too, or more than it explains.
fn limit(
    subject: &Subject,
    law: &Law,
    trial: &Trial,
    (changes, measured): (&[Change], &[Measured]),
    faults: &mut Vec<String>,
) -> Option<&'static str> {
    let limit = law.limit.filter(|limit| (limit.explains)(trial, measured))?;
    let without = [(limit.without)(trial)?, longer(trial).unwrap_or_default()].concat();
    let all = std::iter::once(Change::new()).chain(changes.iter().cloned());
    let others: Option<Vec<Measured>> =
        all.map(|change| simulated(subject, &[change, without.clone()].concat(), faults)).collect();
    (law.holds)(trial, &others?).is_ok().then_some(limit.about)
}

/// The same trial with [`LONG`] times the requests, where it says how many it makes.
fn longer(trial: &Trial) -> Option<Change> {
    let count = relations::count(trial)?;
    Some(vec![("work.count", (LONG * count).to_string())])
}

impl Looked {
    /// A cell of which nothing else is known.
    fn stopped_by(fault: String) -> Self {
        let name = NO_PANIC.name;
        Looked { cells: 1, asked: vec![name], broken: vec![(name, fault)], limits: Vec::new() }
    }
}

impl Findings {
    /// Counts what was found of another cell; the first few that break a law are described.
    fn add(&mut self, other: Looked, describe: impl Fn(&'static str, String) -> Finding) {
        self.cells += other.cells;
        for law in other.asked {
            *self.asked.entry(law).or_default() += 1;
        }
        for limit in other.limits {
            *self.known_limits.entry(limit).or_default() += 1;
        }
        for (law, measured) in other.broken {
            let broken = self.broken.entry(law).or_default();
            *broken += 1;
            if *broken <= DESCRIBED_MAX {
                self.findings.push(describe(law, measured));
            }
        }
    }
}

/// `work` for each number below `count`, on all processors; in the order of the numbers, without those that
/// give nothing.
fn side_by_side<T: Send>(count: u64, work: impl Fn(u64) -> Option<T> + Sync) -> Vec<T> {
    let next = AtomicU64::new(0);
    let lanes = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(u64, T)> = std::thread::scope(|scope| {
        let lane = || {
            let mut own = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return own;
                }
                own.extend(work(index).map(|value| (index, value)));
            }
        };
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().flat_map(|lane| lane.join().expect("a lane does not panic")).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cell whose samples are then made up.
    fn measured(text: &[(&str, &str)]) -> (Trial, Measured) {
        let case = text.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let subject = Subject::of_settings(&case).unwrap();
        (subject.trial().unwrap(), subject.measure().unwrap())
    }

    fn with(measured: &Measured, name: &str, change: impl Fn(f64) -> f64) -> Measured {
        let mut other = measured.clone();
        let sample = other.samples.iter_mut().find(|(known, _)| *known == name).unwrap();
        sample.1 = change(sample.1);
        other
    }

    fn law(name: &str) -> &'static Law {
        laws().find(|law| law.name == name).unwrap()
    }

    const PLAIN: &[(&str, &str)] = &[
        ("volume.drives", "5xwd740gd"),
        ("volume.level", "raid5"),
        ("work.kind", "random"),
        ("work.op", "write"),
        ("work.block", "8"),
        ("work.count", "100"),
    ];

    /// A law, a sample, and what makes it wrong.
    type Wrong = (&'static str, &'static str, fn(f64) -> f64);

    /// A third disk on two buses of 16.5 MB/s costs 23 %, as docs/laws.md says: that is named, and is no finding. On private buses, and
    /// where it costs more than the fullest bus does, it would be one.
    #[test]
    fn a_documented_limit_is_told_from_a_finding() {
        let case = [
            ("volume.drives", "2xwd740gd"),
            ("volume.level", "stripe"),
            ("volume.interleave", "16k"),
            ("host.name", "ultra2-netbsd-3"),
            ("work.kind", "sequential"),
            ("work.op", "read"),
            ("work.block", "128"),
            ("work.depth", "8"),
            ("work.count", "100"),
        ];
        let case = case.map(|(key, value)| (key.to_string(), value.to_string()));
        let subject = Subject::of_settings(&case.to_vec()).unwrap();
        let found = ask(&subject, std::iter::once(law("members"))).unwrap();
        assert_eq!((found.asked.len(), found.broken.len()), (1, 0), "{:?}", found.broken);
        assert!(found.limits[0].starts_with("a member more on buses"), "{:?}", found.limits);
        let mut all = Findings::default();
        all.add(found, |_, _| panic!("nothing is described"));
        assert_eq!(all.known_limits.values().sum::<u64>(), 1);

        let trial = subject.trial().unwrap();
        let own = subject.measure().unwrap();
        let limit = law("members").limit.unwrap();
        let costs = |share: f64| {
            let more = with(&own, "mb_per_s", |rate| rate * share);
            (limit.explains)(&trial, &[own.clone(), more])
        };
        assert!(costs(0.75) && !costs(0.6));
        let private = subject.with(&vec![("host.buses", "3".into())]).unwrap();
        assert!((limit.without)(&private.trial().unwrap()).is_none());
    }

    /// Each law of one cell says no to a figure that cannot be.
    #[test]
    fn a_law_is_broken_by_a_figure_that_cannot_be() {
        let (trial, sound) = measured(PLAIN);
        let wrong: [Wrong; 6] = [
            ("media", "mb_per_s", |rate| rate * 1e6),
            ("bus", "mb_per_s", |rate| rate * 1e6),
            ("time adds up", "seek_ms", |ms| ms + 0.1),
            ("Little", "latency_mean_ms", |ms| ms * 1.1),
            ("percentiles", "latency_p50_ms", |ms| ms * 100.0),
            ("small writes", "commands_per_request", |commands| commands - 1.0),
        ];
        for (name, sample, change) in wrong {
            let law = law(name);
            assert!((law.others)(&trial).is_some(), "{name} says nothing of this cell");
            assert_eq!((law.holds)(&trial, std::slice::from_ref(&sound)), Ok(()), "{name}");
            assert!((law.holds)(&trial, &[with(&sound, sample, change)]).is_err(), "{name}");
        }
        let mut busy = sound.clone();
        busy.member_busy[0] = 1.2;
        assert!((law("shares").holds)(&trial, &[busy]).is_err());
    }

    /// Each law of two cells says no where the wrong one is faster.
    #[test]
    fn a_law_is_broken_by_the_wrong_order() {
        let (trial, sound) = measured(PLAIN);
        let slower = with(&sound, "mb_per_s", |rate| rate / 2.0);
        for (name, pair) in [
            ("depth", [&sound, &slower]),
            ("members", [&sound, &slower]),
            ("degraded", [&slower, &sound]),
            ("mirror reads", [&slower, &sound]),
            ("mirror writes", [&sound, &slower]),
            ("parity", [&sound, &slower]),
            ("repeat", [&sound, &slower]),
        ] {
            let holds = |pair: [&Measured; 2]| (law(name).holds)(&trial, &pair.map(Clone::clone));
            assert!(holds(pair).is_err(), "{name}");
            assert_eq!(holds([&sound, &sound]), Ok(()), "{name}");
        }
        let three = [sound.clone(), sound.clone(), slower];
        assert!((law("one member").holds)(&trial, &three).is_err());
    }

    /// 32 reads in order begin with 16 more for one copy than for the other, which 522 of them do not outweigh.
    #[test]
    fn a_law_of_rates_is_broken_in_the_long_run_only() {
        let case: draw::Case = [
            ("volume.drives", "4xwd740gd"),
            ("volume.level", "stripe"),
            ("work.kind", "sequential"),
            ("work.op", "read"),
            ("work.depth", "32"),
            ("work.count", "40"),
        ]
        .map(|(key, value)| (key.into(), value.into()))
        .into();
        let subject = Subject::of_settings(&case).unwrap();
        let law = law("members");
        let trial = subject.trial().unwrap();
        let others = (law.others)(&trial).unwrap();
        let one = subject.with(&others[0]).unwrap().measure().unwrap();
        assert!((law.holds)(&trial, &[subject.measure().unwrap(), one]).is_err());
        let found = look(&subject).unwrap();
        assert!(found.asked.contains(&"members"));
        assert!(found.broken.is_empty(), "{:?}", found.broken);
    }

    /// It is counted, and the other cells are looked at all the same.
    #[test]
    fn a_fault_of_ileave_breaks_a_law_of_its_cell() {
        static FAULTY: Law = Law {
            name: "faulty",
            about: "",
            others: |_| Some(Vec::new()),
            in_the_long_run: false,
            limit: None,
            holds: |_, _| panic!("it owes requests"),
        };
        let case = PLAIN.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let found = ask(&Subject::of_settings(&case).unwrap(), std::iter::once(&FAULTY)).unwrap();
        let mut all = Findings::default();
        let drawn = Some(Drawn { seed: 13, index: 515 });
        all.add(found, |law, measured| Finding { law, drawn, measured, experiment: String::new() });
        assert_eq!((all.cells, all.asked["no panic"], all.broken["no panic"]), (1, 1, 1));
        assert!(all.findings[0].measured.contains("it owes requests"), "{all:?}");
    }

    /// How the spindles stand to each other makes 8 in flight 8 % faster than 16 with this seed, and 2.5 % over 30 seeds.
    #[test]
    fn a_law_of_rates_is_not_broken_by_the_luck_of_one_seed() {
        let cell = [
            ("volume.drives", "5x94601-12g"),
            ("volume.level", "raid5"),
            ("volume.interleave", "16k"),
            ("volume.failed", "0"),
            ("drive.read_ahead", "false"),
            ("work.kind", "sequential"),
            ("work.op", "read"),
            ("work.block", "2"),
            ("work.depth", "8"),
            ("work.count", "1000"),
            ("run.seed", "1"),
        ];
        let case = cell.map(|(key, value)| (key.into(), value.into())).into();
        let (subject, law) = (Subject::of_settings(&case).unwrap(), law("depth"));
        let trial = subject.trial().unwrap();
        let deeper = &(law.others)(&trial).unwrap()[0];
        let longer = longer(&trial).unwrap();
        let long = |change: &Change| subject.with(&[change.clone(), longer.clone()].concat());
        let pair = [&Change::new(), deeper].map(|it| long(it).unwrap().measure().unwrap());
        assert!((law.holds)(&trial, &pair).is_err(), "with this seed it is");
        let found = look(&subject).unwrap();
        assert!(found.asked.contains(&"depth") && found.cells >= 20, "{}", found.cells);
        assert!(found.broken.is_empty(), "{:?}", found.broken);
    }

    #[test]
    fn the_cells_of_an_experiment_are_looked_at_one_by_one() {
        let text =
            "[volume]\ndrives = '2xwd740gd'\ninterleave = [32, 128]\n[workload.read]\ncount = 50\n";
        let experiment = Experiment::parse("mine.toml", text).unwrap();
        let found = check(&experiment, &mut |_| ()).unwrap();
        assert_eq!(found.asked["media"], 2);
        assert!(found.findings.is_empty(), "{:?}", found.findings);
    }
}
