//! The engine by which the programs of a trial send: whether it can reach the volume, and the host as it is for them.

use super::trial::Setup;
use super::volume::{Member, Scheduling, Volume};
use crate::error::{Error, Result};
use crate::keys::Value;
use crate::machine;
use crate::workload::{Engine, Requests, Work};
use std::sync::Arc;

/// The levels that are no driver of a system: an engine on drives alone can have them.
const BARE: [&str; 3] = ["single", "concat", "stripe"];

/// The same setup, told by what `works` send; `warnings` say, once, where that changes nothing.
///
/// # Errors
///
/// Where they send by several engines, or by one that cannot reach the volume; the message names the key.
pub(super) fn sent_by(
    origin: &str,
    setup: Arc<Setup>,
    works: &[Work],
    warnings: &mut Vec<String>,
) -> Result<Arc<Setup>> {
    let mut warn = |told: String| {
        if !warnings.contains(&told) {
            warnings.push(told);
        }
    };
    // Advice to name an engine is for those that take one.
    let mut named = works.iter().filter_map(Work::requests).filter(|work| work.takes_engine());
    let Some(engine) = named.clone().find_map(|work| work.keys.engine) else { return Ok(setup) };
    let key = |work: &Requests| format!("`workload.{}.engine`", work.name);
    let first = named.clone().find(|work| work.keys.engine.is_some()).expect("it names one");
    if let Some(other) = named.find(|work| work.keys.engine != Some(engine)) {
        return Err(Error::input(format!(
            "{origin}: {} = {} and {} differ, and these workloads run together: the model has one engine for all; name the same \
             for each, or give them `group`s of their own",
            key(first),
            engine.word(),
            key(other),
        )));
    }
    let volumes = || std::iter::once(&setup.volume).chain(&setup.log);
    let at = format!("{origin}: {}", key(first));
    let beyond = volumes().find_map(|volume| unreachable(engine, volume));
    if let Some(why) = beyond.as_ref().filter(|_| engine == Engine::Spdk) {
        return Err(Error::input(format!("{at} = spdk: {why}, or another engine")));
    }
    let setup = Arc::new(Setup { engine: Some(engine), ..Setup::clone(&setup) });
    // On disks alone no program's time decides.
    if volumes().flat_map(|volume| &volume.members).all(Member::is_rotational) {
        return Ok(setup);
    }
    let mut taken = engine;
    if let Some(why) = beyond {
        // `submit_bio_noacct` clears what asks for it where a device has no queues to poll.
        warn(format!("{at} = {}: {why}; taken as io_uring-plain", engine.word()));
        taken = Engine::IoUringPlain;
    }
    let Some(host) = setup.host.sending_by(taken) else {
        let next = "set `host.name = \"linux-6.1\"`, which does";
        let host = &setup.host.name;
        warn(format!(
            "{at} changes no processor time: the host `{host}` does not say what engines take; {next}"
        ));
        return Ok(setup);
    };
    let is_spdk = engine == Engine::Spdk;
    let without_queues = |volume: &Volume| {
        let is_on_linux = volume.is_on_linux && !is_spdk;
        Volume { is_on_linux, ..volume.clone() }
    };
    let log = setup.log.as_ref().map(without_queues);
    Ok(Arc::new(Setup { host, volume: without_queues(&setup.volume), log, ..Setup::clone(&setup) }))
}

/// What is said where a real kernel has the requests, which the key at `path` names engines for: there `io_uring` sends.
///
/// # Errors
///
/// Where that is no answer: several engines are compared, or the kernel is not asked.
pub(super) fn on_a_real_kernel(origin: &str, path: &str, engines: &[Value]) -> Result<String> {
    if let [one] = engines
        && one.to_string() != Engine::Spdk.word()
    {
        return Ok(format!(
            "{origin}: `{path}` = {one} is ignored here: requests are sent by ileave's own io_uring; engines differ in the simulator only"
        ));
    }
    let what = if engines.len() > 1 { "is varied" } else { "= spdk goes past the kernel" };
    Err(Error::input(format!(
        "{origin}: `{path}` {what}, but here ileave's own io_uring sends all requests; leave `--on` out, or take the key out"
    )))
}

/// Why `engine`, if it needs drives alone, cannot reach `volume`, and what to take instead.
fn unreachable(engine: Engine, volume: &Volume) -> Option<String> {
    let who = match engine {
        Engine::Spdk => "SPDK drives NVMe devices itself, past the kernel",
        Engine::IoUringPolled => "only NVMe drives by themselves are polled",
        _ => return None,
    };
    let is_nvme = |member: &Member| {
        !member.is_rotational()
            && !member.is_remote()
            && !machine::has_one_queue(member.queue_depth(), false)
    };
    if !volume.members.iter().all(is_nvme) {
        return Some(format!("{who}; take drives with NVMe in `volume.drives`"));
    }
    if volume.controller.is_some() {
        return Some(format!(
            "{who}, and a controller stands before these; leave `volume.controller` out"
        ));
    }
    if !BARE.contains(&volume.level.name) {
        return Some(format!(
            "{who}, so `volume.level` = {} cannot be over them: take {}",
            volume.level,
            BARE.join(", ")
        ));
    }
    let has_scheduler = !matches!(volume.scheduler, Scheduling::Auto | Scheduling::Nothing);
    (engine == Engine::Spdk && (has_scheduler || volume.nr_requests.is_some())).then(|| {
        format!("{who} and its queues; leave `volume.scheduler` and `volume.nr_requests` out")
    })
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};

    fn plan(drives: &str, volume: &str, work: &str) -> Result<Plan, String> {
        let text = format!(
            "host.name = \"linux-6.1\"\n[volume]\ndrives = \"{drives}\"\n{volume}\n[workload.w]\nkind = \"random\"\n{work}\n"
        );
        let experiment =
            Experiment::parse("some.toml", &text).map_err(|error| error.to_string())?;
        Plan::new(&experiment).map_err(|error| error.to_string())
    }

    fn refused(drives: &str, volume: &str, work: &str) -> String {
        plan(drives, volume, work).map(|_| "nothing").unwrap_err()
    }

    #[test]
    fn engines_go_where_they_can() {
        let spdk = "engine = 'spdk'";
        for (drives, volume, words) in [
            (
                "4x980-pro-1tb",
                "level = 'md-raid5'",
                "`volume.level` = md-raid5 cannot be over them: take single",
            ),
            ("4x980-pro-1tb", "level = 'lvm-stripe'", "`volume.level` = lvm-stripe cannot"),
            ("4x980-pro-1tb", "level = 'mirror'", "`volume.level` = mirror cannot"),
            (
                "wd740gd",
                "level = 'single'",
                "take drives with NVMe in `volume.drives`, or another engine",
            ),
            ("gp3", "level = 'single'", "take drives with NVMe"),
            (
                "980-pro-1tb",
                "level = 'single'\nscheduler = 'mq-deadline'",
                "leave `volume.scheduler`",
            ),
        ] {
            let said = refused(drives, volume, spdk);
            assert!(
                said.starts_with("some.toml: `workload.w.engine` = spdk: SPDK drives"),
                "{said}"
            );
            assert!(said.contains(words), "{said}");
        }
        // Nothing polls through md: such requests are those of io_uring.
        let polled = |volume| plan("4x980-pro-1tb", volume, "engine = 'io_uring-polled'").unwrap();
        let over_md = polled("level = 'md-stripe'");
        let way_ns = |plan: &Plan| plan.trials[0].setup.host.program_way_ns;
        assert!(
            over_md.warnings[0].ends_with("take single, concat, stripe; taken as io_uring-plain"),
            "{:?}",
            over_md.warnings
        );
        assert_eq!([way_ns(&over_md), way_ns(&polled("level = 'stripe'"))], [2660, -780]);
        let on_linux = |work| {
            plan("980-pro-1tb", "level = 'single'", work).unwrap().trials[0]
                .setup
                .volume
                .is_on_linux
        };
        assert!(on_linux("engine = 'libaio'") && !on_linux(spdk));
    }

    #[test]
    fn one_request_is_in_flight_by_psync() {
        let said =
            refused("980-pro-1tb", "level = 'single'", "engine = 'psync'\ndepth = 8\njobs = 2");
        assert!(
            said.contains(
                "`workload.w.depth` = 8: a program that uses psync has one request in flight"
            ),
            "{said}"
        );
        assert!(said.contains("for 16 of them write `depth = 1` and `jobs = 16`, or as"), "{said}");
        let many = "engine = 'psync'\ndepth = 4096\njobs = 64";
        let said = refused("980-pro-1tb", "level = 'single'", many);
        assert!(said.contains("for 262144 of them give as many `programs` as `depth`"), "{said}");
        assert!(
            plan("980-pro-1tb", "level = 'single'", "engine = 'psync'\ndepth = 8\nprograms = 8")
                .is_ok()
        );
        let buffered = refused("wd740gd", "level = 'single'", "engine = 'psync'\ndirect = false");
        assert!(
            buffered.contains("`workload.w.engine` applies only with direct I/O"),
            "{buffered}"
        );
        let by_clock = refused(
            "wd740gd",
            "level = 'single'",
            "engine = 'libaio'\narrivals = 'poisson'\nrequests_per_s = 9",
        );
        assert!(
            by_clock.contains("`workload.w.engine` has no effect where requests come by the clock"),
            "{by_clock}"
        );
    }

    #[test]
    fn what_runs_together_sends_alike() {
        let other = |engine: &str| {
            let work =
                format!("engine = 'libaio'\ngroup = 'all'\n[workload.v]\ngroup = 'all'\n{engine}");
            plan("980-pro-1tb", "level = 'single'", &work)
        };
        // What takes none has none to differ in.
        for engine in ["engine = 'libaio'", "arrivals = 'poisson'\nrequests_per_s = 9"] {
            assert!(other(&format!("kind = 'random'\n{engine}")).is_ok(), "{engine}");
        }
        for engine in ["", "engine = 'io_uring'"] {
            let said = other(engine).map(|_| "nothing").unwrap_err();
            assert!(
                said.contains("`workload.w.engine` = libaio and `workload.v.engine` differ"),
                "{said}"
            );
        }
    }

    #[test]
    fn a_host_that_does_not_know_the_engine_is_said() {
        let of = |host: &str, drives: &str| {
            let text = format!(
                "host.name = \"{host}\"\nvolume.drives = \"{drives}\"\n[workload.w]\nkind = 'random'\nengine = 'libaio'\ndepth = [1, 2]"
            );
            Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap().warnings
        };
        let said = of("ideal", "980-pro-1tb");
        assert!(
            said.len() == 1
                && said[0]
                    .contains("`workload.w.engine` changes no processor time: the host `ideal`"),
            "{said:?}"
        );
        assert!(of("linux-6.17", "980-pro-1tb").is_empty() && of("ideal", "wd740gd").is_empty());
    }
}
