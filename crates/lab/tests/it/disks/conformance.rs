//! One body, two arms: the same experiment on modelled drives and on image files fills the same
//! samples, with the same requests and the same commands.

use super::support::{Images, rings_allowed};
use lab::Result;
use lab::experiment::{Experiment, Plan};
use lab::rig::Rig;
use lab::rig::disks::{Disks, Options, is_model_only};
use lab::rig::sim::Sim;
use lab::runner;
use store::record::Record;

const EXPERIMENT: &str = r#"
[volume]
drives = "4xst118273lc:2048"
level = "stripe"
interleave = [8, 24]

[workload.random-read]
kind = "random"
block = "8KiB"
count = 200
depth = 4

[workload.dd-write]
op = "write"
block = "20KiB"
count = 50
span = 1600

[workload.sequential-read]
kind = "sequential"
block = "3KiB"
count = 300
depth = 2
"#;

fn experiment(level: &str) -> Experiment {
    let mut experiment = Experiment::parse("conformance.toml", EXPERIMENT).unwrap();
    // Real disks would have several.
    experiment.set("run.repeats=1").unwrap();
    experiment.set(&format!("volume.level={level}")).unwrap();
    if level == "single" {
        experiment.set("volume.drives=st118273lc:2048").unwrap();
    }
    experiment
}

fn run(plan: &Plan, rig: &dyn Rig) -> Result<Vec<Record>> {
    runner::admit(plan, rig)?;
    let finished = runner::run(plan, rig, None, Vec::new(), &mut |_| {})?;
    Ok(finished.into_iter().map(|finished| finished.record).collect())
}

fn sim_arm(level: &str) -> Result<Vec<Record>> {
    run(&Plan::new(&experiment(level))?, &Sim)
}

fn real_arm(level: &str) -> Result<Vec<Record>> {
    let images = Images::new(&vec![2048; if level == "single" { 1 } else { 4 }]);
    let options = Options { paths: images.paths.clone(), write: true, ..Options::default() };
    let disks = Disks::open(&options, &mut |_, _| Ok(false))?;
    let plan = Plan::on(&experiment(level), &disks.capabilities())?;
    // A concat has no interleave, and is told so; nothing else means nothing here.
    let idle =
        plan.warnings.iter().all(|warning| warning.contains("`volume.interleave` has 2 values"));
    assert!(idle, "{:?}", plan.warnings);
    run(&plan, &disks)
}

/// What both arms must show.
fn check(records: &[Record]) {
    assert_eq!(records.len(), 6);
    for record in records {
        let sample = |name| record.sample(name).unwrap_or_else(|| panic!("{name} is not there"));
        assert!(sample("mb_per_s") > 0.0 && sample("elapsed_s") > 0.0);
        assert!(sample("latency_p50_ms") <= sample("latency_p99_ms"));
        assert!(sample("faults") == 0.0 && sample("cpu_busy") >= 0.0);
        assert_eq!(record.latencies().unwrap().len(), record.requests);
        assert!(record.member_busy.iter().all(|busy| (0.0..=1.0).contains(busy)));
        // Little's law: requests under way, by their latencies and by their number.
        let under_way = sample("requests_per_s") * sample("latency_mean_ms") / 1e3;
        let most = if record.workload == "random-read" { 4.0 } else { 2.0 };
        assert!(under_way <= most * 1.001, "{under_way} under way");
    }
}

/// What the kernel counts where members are real.
const OF_MACHINE: [&str; 4] =
    ["members_read_mb", "members_written_mb", "from_memory_percent", "others_mb"];

/// The samples that say whether a trial was steady.
const OF_TIME: [&str; 5] =
    ["steady", "warm_up_s", "interval_percent", "cached_share", "needed_mib"];

#[test]
fn both_arms_fill_the_same_samples_with_the_same_requests() {
    for level in ["concat", "stripe", "raid1", "raid5", "raid6", "raid10"] {
        let simulated = sim_arm(level).unwrap();
        check(&simulated);
        if !rings_allowed() {
            continue;
        }
        let real = real_arm(level).unwrap();
        check(&real);
        for (real, simulated) in real.iter().zip(&simulated) {
            let at = format!("{level}, {}, {}", real.workload, lab::record::label(&real.at));
            assert_eq!((&real.at, &real.workload), (&simulated.at, &simulated.workload), "{at}");
            assert_eq!(real.requests, simulated.requests, "{at}");
            assert_eq!(real.member_busy.len(), simulated.member_busy.len(), "{at}");
            let commands = |record: &Record| record.sample("commands_per_request");
            assert_eq!(commands(real), commands(simulated), "{at}");
            // Whether a run was steady, and what is known of it then, is a matter of time.
            let comparable = |name: &&str| {
                !is_model_only(name) && !OF_TIME.contains(name) && !OF_MACHINE.contains(name)
            };
            let both = [real, simulated]
                .map(|of| of.samples.names().filter(comparable).collect::<Vec<_>>());
            assert_eq!(both[0], both[1], "{at}");
        }
    }
}

/// What `runner::admit` says of a level over four small images that are read past the page cache.
fn admitted(level: &str, failed: &[u32]) -> Result<()> {
    let images = Images::new(&[2048; 4]);
    let failed = failed.to_vec();
    let options =
        Options { paths: images.paths.clone(), failed, write: true, ..Options::default() };
    let disks = Disks::open(&options, &mut |_, _| Ok(false))?;
    let mut experiment = experiment(level);
    experiment.set("volume.interleave=9")?;
    for workload in ["random-read", "dd-write", "sequential-read"] {
        experiment.set(&format!("workload.{workload}.block=8KiB"))?;
    }
    runner::admit(&Plan::on(&experiment, &disks.capabilities())?, &disks)
}

/// Before the first trial, not in it.
#[test]
fn a_failed_member_that_nothing_stands_in_for_is_refused() {
    for (level, failed) in [("stripe", &[1][..]), ("concat", &[0]), ("raid5", &[0, 2])] {
        let message = admitted(level, failed).unwrap_err().to_string();
        let named = failed.iter().all(|m| message.contains(&format!("{m} (/")));
        assert!(named && message.contains("cannot do without member"), "{message}");
    }
    admitted("raid1", &[0, 2]).unwrap();
}

#[test]
fn an_interleave_that_means_nothing_need_not_be_whole_blocks() {
    admitted("concat", &[]).unwrap();
    admitted("raid1", &[]).unwrap();
}
