//! How often each cell runs where the experiment does not say.

use super::about::RunKeys;
use super::file::Experiment;
use super::trial::{Setup, Trial};
use super::volume::Member;
use crate::capabilities::{Capabilities, Members};
use crate::error::{Error, Result};

/// A plan of more trials than this is a typo in a factor.
pub(super) const TRIALS_MAX: u64 = 1_000_000;

/// Repeats of each cell at most, where comparisons end them and nobody says how many.
const REPEATS_TO_COMPARE_MAX: u64 = 30;

/// Repeats where a rate is searched for: what is found depends on a percentile at one seed, and varies by some percent.
const REPEATS_OF_SEARCHES: u64 = 3;

/// Repeats where a modelled volume has several rotating disks: how their spindles stand to each other is another with each seed,
/// a trial keeps it to its end, and no trial's own interval shows it.
const REPEATS_OF_SPINDLES: u64 = 5;

/// How often each cell of a plan runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeats {
    /// So often, whatever it runs on.
    count: u64,
    /// So often where one of its volumes has several rotating disks.
    of_spindles: u64,
}

impl Repeats {
    /// As the experiment says, or else once.
    pub(super) fn stated(run: &RunKeys) -> Self {
        let count = run.stated_repeats();
        Repeats { count, of_spindles: count }
    }

    /// As the experiment says, or else as is usual where it runs.
    pub(super) fn on(experiment: &Experiment, can: &Capabilities) -> Self {
        let run = experiment.run();
        if experiment.settings().contains_key("run.repeats") {
            return Repeats::stated(&run);
        }
        let count = if run.compare_within.is_some() {
            REPEATS_TO_COMPARE_MAX
        } else if experiment.searches_a_rate() {
            can.repeats.max(REPEATS_OF_SEARCHES)
        } else {
            can.repeats
        };
        let is_modelled = can.host_is_modelled && can.members == Members::Modelled;
        let has_seeds = is_modelled && !experiment.runs_seed_by_seed();
        let of_spindles = if has_seeds { count.max(REPEATS_OF_SPINDLES) } else { count };
        Repeats { count, of_spindles }
    }

    /// The number for these cells, a trial of each: one for all, so that all are compared over the same seeds.
    ///
    /// # Errors
    ///
    /// Where that makes too many trials.
    pub(super) fn of(self, firsts: &[Trial]) -> Result<u64> {
        let has_several = firsts.iter().any(|trial| has_several_spindles(&trial.setup));
        let repeats = if has_several { self.of_spindles } else { self.count };
        if (firsts.len() as u64).saturating_mul(repeats) > TRIALS_MAX {
            return Err(Error::input(format!(
                "with {repeats} repeats of each cell there are more than {TRIALS_MAX} trials; take fewer values of some \
                 factors, or say `run.repeats`"
            )));
        }
        Ok(repeats)
    }
}

/// Whether one of its volumes has several disks that rotate.
fn has_several_spindles(setup: &Setup) -> bool {
    std::iter::once(&setup.volume).chain(&setup.log).any(|volume| {
        let drives = volume.members.iter().filter_map(Member::drive);
        drives.filter(|drive| drive.has_spindle()).count() > 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Plan;
    use crate::rig::{KINDS, Rig as _, sim::Sim};

    /// How often each cell of it runs in the simulator.
    fn repeats(drives: &str, keys: &str) -> usize {
        let experiment = experiment(drives, keys);
        let plan = Plan::on(&experiment, &Sim.capabilities()).unwrap();
        let cells = plan.trials.iter().filter(|trial| trial.repeat == 0).count();
        assert_eq!(plan.trials.len() % cells, 0, "all cells run as often");
        plan.trials.len() / cells
    }

    fn experiment(drives: &str, keys: &str) -> Experiment {
        let text = format!(
            "[volume]\ndrives = {drives}\ninterleave = '64KiB'\n[workload.w]\nkind = 'random'\n{keys}"
        );
        Experiment::parse("some.toml", &text).unwrap()
    }

    /// One seed found 47 requests a second where the next found 50, and 6 % was called a difference.
    #[test]
    fn a_rate_that_is_searched_for_is_found_three_times() {
        let trials =
            |keys: &str| repeats("'980-pro-1tb'", &format!("arrivals = 'poisson'\n{keys}"));
        assert_eq!(trials("requests_per_s = 10"), 1);
        assert_eq!(trials("capacity = 'p99 <= 40ms'"), 3);
        assert_eq!(trials("capacity = 'p99 <= 40ms'\n[run]\nrepeats = 1"), 1);
    }

    /// Six disks under md's RAID 5 made 101 to 122 MB/s by seed, each trial sure to 2 %, and one seed had an answer that was wrong.
    #[test]
    fn several_rotating_disks_are_looked_at_with_several_seeds() {
        assert_eq!(repeats("'4xwd740gd'", ""), 5);
        assert_eq!(repeats("'2xst8000as0002'", ""), 5, "shingled ones turn, too");
        assert_eq!(repeats("['1xwd740gd', '2xwd740gd']", ""), 5, "one number for all cells");
        assert_eq!(repeats("['1xwd740gd', '1xst18000nm000j']", ""), 1, "each has one");
        assert_eq!(repeats("['980-pro-1tb', '4x980-pro-1tb', '4xebs-gp3']", ""), 1);
        assert_eq!(repeats("'4xwd740gd'", "arrivals = 'poisson'\ncapacity = 'p99 <= 40ms'"), 5);
    }

    #[test]
    fn who_says_how_often_is_obeyed() {
        assert_eq!(repeats("'4xwd740gd'", "[run]\nrepeats = 1"), 1);
        assert_eq!(repeats("'4xwd740gd'", "[run]\nrepeats = 7"), 7);
        assert_eq!(repeats("'4xwd740gd'", "[run]\ncompare_within = '5%'"), 30);
    }

    /// A search would pay for seeds that decide nothing, and a real kernel's trial takes seconds.
    #[test]
    fn a_search_and_a_kernel_take_one_seed() {
        let experiment = experiment("'4xwd740gd'", "");
        let trials = |experiment: &Experiment, can: &Capabilities| {
            Plan::on(experiment, can).unwrap().trials.len()
        };
        let kernel = KINDS.iter().find(|kind| kind.name == "kernel").unwrap();
        assert_eq!(trials(&experiment, &(kernel.capabilities)()), 1);
        assert_eq!(trials(&experiment.clone().seed_by_seed(), &Sim.capabilities()), 1);
        assert_eq!(trials(&experiment, &Sim.capabilities()), 5);
    }

    /// A million trials are too many, also where nobody asked for five of each.
    #[test]
    fn too_many_trials_are_refused_with_what_to_say() {
        let all: Vec<String> = (1..=450).map(|count| count.to_string()).collect();
        let all = all.join(", ");
        let experiment = experiment("'2xwd740gd'", &format!("count = [{all}]\ndepth = [{all}]"));
        let refused = Plan::on(&experiment, &Sim.capabilities()).unwrap_err().to_string();
        assert!(refused.contains("some.toml: with 5 repeats of each cell"), "{refused}");
        assert!(refused.ends_with("or say `run.repeats`"), "{refused}");
    }
}
