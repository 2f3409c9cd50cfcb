//! What is set beside the chosen layout, and is none to choose among: the bitmap, the scheduler, read-ahead, stripes, blocks.

pub(crate) mod bitmap;
pub(crate) mod block_size;
pub(crate) mod mount;
pub(crate) mod pair;
pub(crate) mod read_ahead;
pub(crate) mod scheduler;
pub(crate) mod xfs_stripes;

use crate::answer::lines_of_question::Found;
use crate::beside::bitmap::{Bitmap, Spared};
use crate::beside::block_size::Blocks;
use crate::beside::mount::{Mount, Rivals};
use crate::beside::pair::{Both, Layout, Measured, Pair};
use crate::beside::read_ahead::ReadAhead;
use crate::beside::scheduler::Scheduler;
use crate::beside::xfs_stripes::Align;
use crate::commands::{self, ChosenFileSystem, Plan, Stripes};
use crate::danger::Resync;
use crate::question::candidate::Candidate;
use crate::search::clock::For;
use crate::search::lanes::side_by_side;
use crate::search::layouts::{self, At, Open, Space};
use crate::search::trials::{Settings, Tried};
use lab::experiment::{Experiment, Member, Plan as Trials, Trial};
use lab::run::Run;
use lab::{Error, Result};
use risk::inputs::Inputs;
use store::Manifest;
use store::factor::Role;
use store::record::Record;
use verdict::Wishes;

/// What was found of each, where it means something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    pub(crate) bitmap: Option<Bitmap>,
    pub(crate) scheduler: Option<Scheduler>,
    pub(crate) read_ahead: Option<ReadAhead>,
    pub(crate) blocks: Option<Blocks>,
    pub(crate) mount: Option<Mount>,
    pub(crate) align: Option<Align>,
    /// What other layouts do with options of their own.
    pub(crate) rivals: Rivals,
    pub(crate) sizes: block_size::Asked,
}

impl Beside {
    /// Measures the layout that `trial` is of with each that is `asked`.
    pub(crate) fn measure(
        layout: &dyn Layout,
        trial: &Trial,
        asked: Asked,
        resync: Resync,
    ) -> Beside {
        let measures_bitmap = asked.bitmap == bitmap::Asked::Measured;
        let both = [(bitmap::BOTH, measures_bitmap), (scheduler::BOTH, asked.scheduler)];
        let both = both.into_iter().filter(|(_, is_asked)| *is_asked).map(|(both, _)| both);
        let volume = &trial.setup.volume;
        let ahead = || read_ahead::tried(volume).filter(|_| asked.read_ahead);
        let both: Vec<Both> = both
            .chain(asked.mount)
            .chain(asked.align.then_some(xfs_stripes::BOTH))
            .chain(ahead())
            .collect();
        let measured = &mut Measured::by_search(layout);
        let mut pairs = Pair::measure(layout, &both, &Settings::new(), measured).into_iter();
        let mut next = |is_asked: bool| is_asked.then(|| pairs.next()).flatten();
        let bitmap = next(measures_bitmap).map(|pair| Bitmap::of(pair, Spared::of(trial, resync)));
        let bitmap = bitmap
            .or_else(|| (asked.bitmap == bitmap::Asked::Free).then(|| Bitmap::of_reads(resync)));
        let scheduler = next(asked.scheduler)
            .map(|pair| Scheduler::of(pair, volume.members.iter().any(|of| of.queue_depth() == 1)));
        let mount = asked.mount.and_then(|both| Mount::of(both, next(true)?));
        let align = next(asked.align).map(Align::of);
        let read_ahead = asked.read_ahead.then(|| {
            let alone = one_alone(trial);
            let alone = if alone.is_empty() {
                Vec::new()
            } else {
                Pair::measure(layout, &ahead().collect::<Vec<Both>>(), &alone, measured)
            };
            let by_itself_kib = lab::machine::read_ahead_sectors(volume) / 2;
            ReadAhead::of(by_itself_kib, ahead(), pairs.collect(), alone)
        });
        let read_ahead = read_ahead.filter(ReadAhead::is_tried);
        let bitmap = bitmap.map(|of| of.with_larger(layout, measured));
        let sizes = asked.blocks;
        let (blocks, rivals) = (None, Rivals::default());
        let beside = Beside { bitmap, scheduler, read_ahead, blocks, mount, align, rivals, sizes };
        if asked.blocks != block_size::Asked::Sizes {
            return beside;
        }
        // Gains of different settings do not multiply: blocks are tried with what is set so far.
        let set = beside.set();
        let blocks = Blocks::of(Pair::measure(layout, &block_size::TRIED, &set, measured), set);
        Beside { blocks: Some(blocks), ..beside }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = (String, String)> {
        let bitmap = self.bitmap.as_ref().map(Bitmap::line);
        let scheduler = self.scheduler.as_ref().map(Scheduler::line);
        let read_ahead = self.read_ahead.as_ref().map(ReadAhead::line);
        let not_tried = || match self.sizes {
            block_size::Asked::Not(why) => Some(("blocks".into(), why.into())),
            _ => None,
        };
        let blocks = self.blocks.as_ref().map(Blocks::line).or_else(not_tried);
        let mount = self.mount.as_ref().map(Mount::text).into_iter();
        let mount: Vec<String> = mount.chain(self.rivals.text()).collect();
        let mount = (!mount.is_empty()).then(|| ("mount".into(), mount.join("; ")));
        let align = self.align.as_ref().map(Align::line);
        [bitmap, scheduler, read_ahead, mount, align, blocks].into_iter().flatten()
    }

    /// The keys of what pays.
    pub(crate) fn set(&self) -> Settings {
        let scheduler = self.scheduler.as_ref().and_then(Scheduler::to_set);
        let bitmap = self.bitmap.as_ref().and_then(Bitmap::setting);
        let scheduler = scheduler.map(|name| (scheduler::BOTH.key, name));
        let mount = self.mount.as_ref().and_then(Mount::setting);
        let align = self.align.as_ref().filter(|of| of.ignores());
        let align = align.map(|_| (xfs_stripes::BOTH.key, xfs_stripes::BOTH.values[1]));
        let set = bitmap.into_iter().chain(scheduler).chain(mount).chain(align);
        set.map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    /// How the layout is built, with what pays.
    pub(crate) fn plan<'a>(&self, plan: Plan<'a>) -> Plan<'a> {
        Plan {
            remembered: self.bitmap.as_ref().map_or(plan.remembered, Bitmap::remembered),
            with_bitmap: self.bitmap.as_ref().and_then(Bitmap::instead),
            scheduler: self.scheduler.as_ref().map_or(plan.scheduler, Scheduler::to_set),
            read_ahead_kib: self
                .read_ahead
                .as_ref()
                .map_or(plan.read_ahead_kib, ReadAhead::to_set_kib),
            file_system: plan.file_system.map(|own| {
                let to_set = self.blocks.as_ref().and_then(Blocks::to_set_bytes);
                let more = self.mount.as_ref().and_then(Mount::to_set);
                let options = own.options.split(',').filter(|option| !option.is_empty());
                let options = options.chain(more).collect::<Vec<_>>().join(",");
                let are_ignored =
                    own.stripes.are_ignored || self.align.as_ref().is_some_and(Align::ignores);
                let stripes = Stripes { are_ignored, ..own.stripes };
                let block_bytes = to_set.or(own.block_bytes);
                ChosenFileSystem { block_bytes, stripes, options, ..own }
            }),
            ..plan
        }
    }
}

/// Which of these mean something to a layout.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    bitmap: bitmap::Asked,
    scheduler: bool,
    read_ahead: bool,
    mount: Option<Both>,
    align: bool,
    blocks: block_size::Asked,
}

impl Asked {
    /// Of the layout that `trial` is of, whose work writes or does not.
    pub(crate) fn of(trial: &Trial, writes: bool) -> Asked {
        let volume = &trial.setup.volume;
        Asked {
            bitmap: bitmap::Asked::of(volume, writes),
            scheduler: Scheduler::is_asked(volume),
            read_ahead: volume.page_cache.is_read,
            mount: None,
            align: false,
            blocks: block_size::Asked::Nothing,
        }
    }

    /// Those that the question leaves open.
    fn open(self, layout: &dyn Layout) -> Asked {
        Asked {
            bitmap: if layout.leaves_open(bitmap::BOTH.key) {
                self.bitmap
            } else {
                bitmap::Asked::Not
            },
            scheduler: self.scheduler && layout.leaves_open(scheduler::BOTH.key),
            read_ahead: self.read_ahead && layout.leaves_open(read_ahead::KEY),
            mount: self.mount.filter(|both| layout.leaves_open(both.key)),
            ..self
        }
    }
}

/// What makes one program of the work's, where there are more.
fn one_alone(trial: &Trial) -> Settings {
    let several = trial.requests().filter(|work| work.keys.jobs > 1);
    several.map(|work| (format!("workload.{}.jobs", work.name), "1".to_string())).collect()
}

/// A layout of a question.
pub(crate) struct OfQuestion<'a, 't> {
    pub(crate) tried: &'a Tried<'t>,
    pub(crate) best: &'a Candidate,
}

impl OfQuestion<'_, '_> {
    /// The same, and whoever waits is told what was `found`: what is measured from now on stands beside it.
    pub(crate) fn told(self, found: &Found<'_>) -> Self {
        self.tried.clock().tell(&found.sentence(&self.tried.of(self.best)));
        self
    }

    /// What is set beside it; `inputs` are those of its risk.
    pub(crate) fn beside(&self, inputs: &Inputs) -> Result<Beside> {
        let resync = self.tried.question.resync(&self.best.level, inputs)?;
        let experiment = self.with(&Settings::new(), 0)?;
        let trials = Trials::new(&experiment)?.trials;
        let Some(trial) = trials.first() else { return Ok(Beside::default()) };
        let asked = Asked::of(trial, self.tried.question.writes());
        Ok(Beside::measure(self, trial, asked, resync))
    }

    fn with(&self, settings: &Settings, seed: u64) -> Result<Experiment> {
        let settings: Settings = self.best.settings().into_iter().chain(settings.clone()).collect();
        self.tried.with(&settings, seed)
    }
}

impl Layout for OfQuestion<'_, '_> {
    fn known(&self, seed: u64) -> Vec<Record> {
        self.tried.of_seed(self.best, seed)
    }

    fn leaves_open(&self, key: &str) -> bool {
        self.tried.leaves_open(key)
    }

    fn chooses(&self, key: &str) -> bool {
        self.best.settings().iter().any(|(path, _)| path == key)
    }

    fn measure(&self, asked: &[(u64, Settings)]) -> Vec<Result<Vec<Record>>> {
        let with = asked.iter().map(|(seed, settings)| Ok((*seed, self.with(settings, *seed)?)));
        match with.collect::<Result<Vec<(u64, Experiment)>>>() {
            Ok(experiments) => self.tried.run_each(&experiments),
            Err(error) => asked.iter().map(|_| Err(Error::input(&error))).collect(),
        }
    }

    fn manifest(&self, settings: &Settings) -> Result<Manifest> {
        Ok(Run::plan(&self.with(settings, 0)?, self.tried.rig())?.manifest().clone())
    }

    fn wishes(&self) -> Wishes {
        self.tried.wishes()
    }
}

/// A layout of an experiment.
pub(crate) struct OfExperiment<'a> {
    pub(crate) space: &'a Space,
    pub(crate) open: &'a Open<'a>,
    pub(crate) wishes: &'a Wishes,
    pub(crate) best: &'a At,
    /// What the search measured of all.
    pub(crate) records: &'a [Record],
}

impl OfExperiment<'_> {
    /// What is set beside it, of what the experiment does not say; `resync` is one of all.
    pub(crate) fn beside(&self, trial: &Trial, resync: Resync) -> Beside {
        let manifest = &self.space.manifest;
        if !self.is_compared_by_one_figure() {
            return Beside::default();
        }
        let writes = self.writes();
        // A power cut is no measure of speed.
        if trial.works().any(|work| work.cuts().is_some()) {
            return Beside::default();
        }
        // A workload's own `fs` says more than that of the experiment.
        let kind = self.kind_of_files(trial);
        let mount = self.mount_option(trial);
        let asks_stripes = |kind| {
            let is_open = |key: &str| self.leaves_open(key);
            Align::is_asked(kind, &trial.setup.volume, is_open)
        };
        let align = self.asks_the_kernel(trial) && kind.is_some_and(asks_stripes);
        let kind = kind.filter(|kind| block_size::are_taken_by(kind));
        let members = &trial.setup.volume.members;
        let has_large_sectors = members.iter().any(Member::has_large_sectors);
        let is_flash = |of: &Member| of.drive().is_some_and(|drive| !drive.is_remote());
        let are_fast = members.iter().any(|of| !of.is_rotational() && is_flash(of));
        let blocks = match kind {
            Some(_) if !self.leaves_open(block_size::KEY) => block_size::Asked::Nothing,
            Some(_) if has_large_sectors => block_size::Asked::Not(block_size::BELOW_SECTORS),
            Some(_) if are_fast => block_size::Asked::Not(block_size::PROCESSOR),
            Some(_) if !manifest.host_is_real() => {
                block_size::Asked::Not(block_size::NOT_OF_THE_MODEL)
            }
            Some(_) => block_size::Asked::Sizes,
            None => block_size::Asked::Nothing,
        };
        let asked = Asked { mount, align, blocks, ..Asked::of(trial, writes) };
        Beside::measure(self, trial, asked.open(self), resync)
    }

    /// Whether all is modelled below the host, and one figure says how good a layout is: two can be compared by no other.
    fn is_compared_by_one_figure(&self) -> bool {
        let manifest = &self.space.manifest;
        manifest.members.is_empty()
            && manifest.workloads.len() == 1
            && manifest.factors.0.values().all(|kind| kind.role == Role::Choice)
    }

    /// One trial of it with these settings, on a rig of its own: what it runs is what it was opened for. It is that with this
    /// number of all repeats that the search makes; where results decide how many those are, the first with this seed.
    pub(crate) fn run(
        &self,
        what: For,
        number: u64,
        settings: &[(String, String)],
    ) -> Result<Vec<Record>> {
        let mut experiment = layouts::alone(&self.space.experiment, self.best, settings)?;
        if experiment.run().compare_within.is_some() {
            experiment.set_values("run.repeats", "1")?;
        }
        let repeats = experiment.run().stated_repeats();
        let (seed, repeat) = (number / repeats, number % repeats);
        let others = |trial: &Trial| trial.repeat != repeat;
        self.space.clock.run(what, || layouts::run_on(1, experiment, self.open, seed, others))
    }

    /// The number of the first trial with a seed among all repeats of the search.
    fn number(&self, seed: u64) -> u64 {
        let run = self.space.experiment.run();
        if run.compare_within.is_some() { seed } else { seed * run.stated_repeats() }
    }

    fn writes(&self) -> bool {
        let manifest = &self.space.manifest;
        manifest.workloads.iter().any(|name| !manifest.only_read.contains(name))
    }

    /// The option of mount(8) that is tried of the layout that `trial` is of, if one is: no measurement tests a model
    /// on such options.
    pub(crate) fn mount_option(&self, trial: &Trial) -> Option<Both> {
        let is_asked = self.asks_the_kernel(trial);
        let option = self.kind_of_files(trial).and_then(mount::tried).filter(|_| is_asked);
        option.filter(|both| self.leaves_open(both.key))
    }

    /// Whether options of the file system are worth a trial: a real kernel answers by one figure, and something is written.
    fn asks_the_kernel(&self, trial: &Trial) -> bool {
        self.is_compared_by_one_figure()
            && self.space.manifest.host_is_real()
            && self.writes()
            && trial.works().all(|work| work.cuts().is_none())
    }

    /// The kind of Linux's file system that all of the work is on, where the experiment has one for all.
    fn kind_of_files(&self, trial: &Trial) -> Option<&'static str> {
        let experiment = &self.space.experiment;
        let is_own = |path: &String| path.starts_with("workload.") && path.contains(".fs.");
        let has_own = experiment.settings().keys().any(is_own);
        commands::file_system_of(experiment, trial).filter(|_| !has_own).map(|of| of.kind)
    }
}

impl Layout for OfExperiment<'_> {
    fn known(&self, seed: u64) -> Vec<Record> {
        // The first trial with each seed; how many repeats of one seed there are is not known where results decide it.
        let is_known = self.space.experiment.run().compare_within.is_none() || seed == 0;
        let number = self.number(seed);
        let is_it = |record: &&Record| {
            is_known && record.repeat == number && self.space.at_of(record) == *self.best
        };
        self.records.iter().filter(is_it).cloned().collect()
    }

    fn leaves_open(&self, key: &str) -> bool {
        !self.space.experiment.settings().contains_key(key) && !self.best.contains_key(key)
    }

    fn chooses(&self, key: &str) -> bool {
        self.space.manifest.factors.role(key) == Role::Choice
    }

    fn measure(&self, asked: &[(u64, Settings)]) -> Vec<Result<Vec<Record>>> {
        let lanes = match (self.open)(&self.space.experiment) {
            Ok(rig) => rig.capabilities().lanes,
            Err(error) => return asked.iter().map(|_| Err(Error::input(&error))).collect(),
        };
        let run = |(seed, settings): &(u64, Settings)| {
            self.run(For::Beside, self.number(*seed), settings)
        };
        side_by_side(lanes, asked, |_| false, run)
    }

    fn manifest(&self, settings: &Settings) -> Result<Manifest> {
        let experiment = layouts::alone(&self.space.experiment, self.best, settings)?;
        Ok(Run::plan(&experiment, &*(self.open)(&experiment)?)?.manifest().clone())
    }

    fn wishes(&self) -> Wishes {
        Wishes { choose: Vec::new(), ..self.wishes.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::posed::tests::{COPIES, asked};
    use crate::search::clock::Clock;
    use crate::search::clock::tests::within_trials;
    use lab::rig::Rig;
    use lab::rig::sim::Sim;

    /// Only a trial that did not begin was left out: of one that was stopped nobody was told, nor that it may turn the choice.
    #[test]
    fn a_trial_that_is_stopped_is_left_out() {
        let (posed, mut space, records) = asked(COPIES);
        let long = [("workload.w.count".to_string(), "100000000".to_string())];
        for (what, turns) in [(For::Option, true), (For::Beside, false)] {
            space.clock = within_trials();
            let space = &space;
            let open = |_: &Experiment| -> Result<Box<dyn Rig>> {
                Ok(Box::new(space.clock.stopping(&Sim)))
            };
            let (wishes, best) = (&posed.wishes, &space.layouts[0]);
            let of = OfExperiment { space, open: &open, wishes, best, records: &records };
            let why = of.run(what, 0, &long).unwrap_err().to_string();
            // It began with which trial that was.
            assert_eq!(why, "there was no time for it (`--time-limit 10s`)");
            assert_eq!(of.space.clock.caveat().contains("may turn the choice"), turns);
            let left = space.clock.say(&mut Vec::new(), std::iter::empty());
            assert!(left.len() == 1 && left[0].starts_with("1 trial of "), "{left:?}");
        }
        // Of what fails for another reason nothing is left out.
        space.clock = Clock::default().within("1h", || 0.0);
        let fails = |_: &Experiment| Err(Error::failure("the guest ended"));
        let (wishes, best) = (&posed.wishes, &space.layouts[0]);
        let of = OfExperiment { space: &space, open: &fails, wishes, best, records: &records };
        assert_eq!(of.run(For::Option, 0, &long).unwrap_err().to_string(), "the guest ended");
        assert_eq!(space.clock.caveat(), "");
    }
}
