//! What of the host holds layouts up: the processor of md's thread for parity, those of the programs, or what no model has,
//! the buses that drives share. Of a real kernel on modelled drives, what was charged for its processor.

pub mod full_queues;
pub(crate) mod sent_by_the_clock;

use super::Ranked;
use super::answer::{Point, point};
use super::layouts::split;
use crate::tables::{figure, listed, percent};
use block::layout::Level;
use std::collections::BTreeSet;
use store::Manifest;
use store::known::IDEAL_HOST;
use store::record::Record;

/// A thread that is busy for so much of the time has a part in the rate.
const BUSY: f64 = 0.5;

/// The hosts whose figures were measured, by default: later kernels have those of the first.
pub(crate) const MEASURED: [&str; 3] = ["linux-6.1", "linux-6.12", "linux-6.17"];

/// Whose processor it is: `measured` for that host as it is, else who says how fast it is.
fn speed(manifest: &Manifest, measured: &str) -> String {
    let settings = manifest.settings();
    if settings.contains_key("host.cpu_percent") {
        return "as `host.cpu_percent` says".into();
    }
    match settings.get("host.name").and_then(|name| name.as_str()) {
        Some(host) if MEASURED.contains(&host) => measured.into(),
        Some(host) => format!("as the figures of {host} say"),
        None => "as the figures of each host say".into(),
    }
}

/// All that is said of a modelled host.
pub(crate) fn told(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Vec<Point> {
    if !manifest.modelled() {
        return Vec::new();
    }
    let all =
        [of_guest, of_programs, sent_by_the_clock::told, of_locks, of_ideal, of_buses, of_thread];
    all.iter().filter_map(|of| of(ranked, manifest, records)).collect()
}

/// What a real kernel's processor was charged in virtual time, in which it takes none by itself.
fn of_guest(_: &[Ranked], manifest: &Manifest, _: &[Record]) -> Option<Point> {
    let cost = manifest.machine.get("cpu_cost").filter(|_| manifest.host_is_real())?;
    let said = if cost.starts_with("none") {
        "the guest's takes no time: where a real one is the limit, these rates are too high (`--cpu linux-6.1` charges each command \
         to a drive)"
    } else {
        cost
    };
    Some(point("processor", said.to_string()))
}

/// What a request takes the program that sends it.
const BY_DEFAULT: &str = "a direct request takes it 2.8 us, and each command beyond the first that the volume makes of it about 1 us \
                          (docs/md.md)";
const BY_ENGINE: &str = "a direct request takes it as long as was measured by its engine, and each command beyond the first that the \
                         volume makes of it about 1 us (docs/md.md)";

/// Whether workloads say by which engine their programs send.
fn names_engines(manifest: &Manifest) -> bool {
    let is_it = |path: &String| path.starts_with("workload.") && path.ends_with(".engine");
    manifest.settings().keys().any(is_it)
}

/// Programs that are so busy with sending decide the rate.
const DECIDES: f64 = 0.9;

/// That the programs send no faster, and layouts hardly differ by that.
fn of_programs(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let own: Vec<&Record> = ranked_alone(ranked, manifest, records).collect();
    let decides =
        |record: &&&Record| record.sample("program_busy").is_some_and(|busy| busy >= DECIDES);
    let limited = own.iter().filter(decides).count();
    let how_many = match limited {
        0 => return None,
        all if all == own.len() => "every layout".to_string(),
        some => format!("{some} of {} trials", own.len()),
    };
    Some(point(
        "program",
        format!(
            "its processor holds up {how_many}: {}; more programs (`jobs`, or `programs` of one job) are faster, and may tell \
             layouts apart",
            speed(manifest, if names_engines(manifest) { BY_ENGINE } else { BY_DEFAULT })
        ),
    ))
}

/// Programs that wait so long for locks lose by it.
const WAITS: f64 = 0.05;

/// That programs wait for the locks of the drives' schedulers, which no scheduler has not.
fn of_locks(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let waits = ranked_alone(ranked, manifest, records).filter_map(|of| of.sample("lock_wait"));
    let most = waits.fold(0.0, f64::max);
    (most >= WAITS).then(|| {
        point(
            "lock",
            format!(
                "in the model programs wait for up to {} of the time for the locks of the drives' schedulers, which are held for as \
                 long as was measured on one drive (docs/md.md); without a scheduler (`volume.scheduler = \"none\"`) there are none",
                percent(most.min(1.0)),
            ),
        )
    })
}

/// What one program sends a second, and what md's thread writes with parity in order, in MB/s, on the host whose figures
/// were measured (docs/md.md, The processor).
const PROGRAM_PER_S: f64 = 355e3;
const PARITY_MB: f64 = 4000.0;

/// That the ideal host takes no processor time, where one would decide.
fn of_ideal(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let settings = manifest.settings();
    let host = settings.get("host.name");
    let is_ideal = host.is_none_or(|name| name.as_str() == Some(IDEAL_HOST));
    // Below a real kernel no host is modelled.
    if !is_ideal || manifest.host_is_real() {
        return None;
    }
    let writes = |record: &Record| !manifest.only_read.contains(&record.workload);
    // Of mixed work only the writes are parity's.
    let written = |record: &Record| {
        let own = record.sample("write_mb_per_s").or_else(|| record.sample("mb_per_s"));
        own.unwrap_or(0.0)
    };
    let is_beyond = |record: &Record| {
        let level = level_of(ranked, manifest, record);
        let sample = |name| record.sample(name).unwrap_or(0.0);
        let has_thread = level.is_some_and(|level| level.has_stripe_cache());
        sample("requests_per_s") > PROGRAM_PER_S
            || (has_thread && writes(record) && written(record) > PARITY_MB)
    };
    records.iter().any(is_beyond).then(|| {
        point(
            "host",
            "the host `ideal` takes no processor time; with `host.name = \"linux-6.1\"` one program sends 355,000 requests a second to \
             flash drives, and md's thread writes parity at about 4 GB/s (docs/md.md)"
                .to_string(),
        )
    })
}

/// What was measured of layouts that are ranked.
pub(crate) fn ranked_alone<'a>(
    ranked: &'a [Ranked],
    manifest: &'a Manifest,
    records: &'a [Record],
) -> impl Iterator<Item = &'a Record> {
    records.iter().filter(|record| {
        let at = split(manifest, record).1;
        ranked.iter().any(|ranked| ranked.at == at)
    })
}

/// The level of the layout that a record is of.
pub(crate) fn level_of(ranked: &[Ranked], manifest: &Manifest, record: &Record) -> Option<Level> {
    let at = split(manifest, record).1;
    ranked.iter().find(|ranked| ranked.at == at)?.facts.level.as_ref()?.parse().ok()
}

/// What four lanes of `PCIe` 4.0 move at most, as most chipsets have them, in MB/s.
const FOUR_LANES_MB: f64 = 7877.0;

/// That drives which share a bus are slower, where they together are faster than a common one.
fn of_buses(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let settings = manifest.settings();
    let is_counted = settings.contains_key("host.buses");
    // Cloud volumes are reached by a network.
    let is_local = |record: &&Record| record.sample("billed_per_request").is_none();
    let own = ranked_alone(ranked, manifest, records).filter(is_local);
    let rates = own.filter_map(|record| record.sample("mb_per_s"));
    let most = rates.fold(0.0, f64::max);
    (most > FOUR_LANES_MB && !is_counted).then(|| {
        point(
            "buses",
            format!(
                "{} MB/s need lanes of PCIe for each drive; drives that share a chipset's lanes, a switch or a controller are slower, \
                 which is not counted",
                figure(most)
            ),
        )
    })
}

/// For which levels the thread is busy for half of the time and more, in a model of the host.
fn of_thread(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let (mut levels, mut busiest) = (BTreeSet::new(), 0_f64);
    for record in records.iter().filter(|record| record.sample("commands_per_request").is_some()) {
        let busy = record.sample("cpu_busy").unwrap_or(0.0);
        let level = level_of(ranked, manifest, record).filter(|_| busy >= BUSY);
        if let Some(level) = level.filter(Level::has_stripe_cache) {
            busiest = busiest.max(busy);
            levels.insert(level.to_string());
        }
    }
    if levels.is_empty() {
        return None;
    }
    let levels: Vec<String> = levels.into_iter().collect();
    let speed = speed(manifest, "as measured on one core of an AMD EPYC of 2024 (docs/md.md)");
    Some(point(
        "processor",
        format!(
            "md's thread for the parity of {} is busy for up to {} of the time, {speed}; a slower core is slower, more threads \
             (`group_thread_cnt`) may be faster, and rates that it decides may be off by a third",
            listed(&levels),
            percent(busiest.min(1.0)),
        ),
    ))
}

#[cfg(test)]
mod tests {
    use crate::judge::answer::Point;
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    /// What answers say in words is what the host's file has.
    #[test]
    fn the_figures_that_are_said_are_the_hosts() {
        for name in super::MEASURED {
            let host = lab::catalogue::host(name).unwrap();
            assert_eq!((host.program_request_ns, host.program_command_ns), (2820, 1000), "{name}");
            let thousands = (1e6 / host.program_request_ns as f64).round();
            assert_eq!(thousands.to_bits(), (super::PROGRAM_PER_S / 1e3).to_bits());
        }
    }

    #[test]
    fn a_thread_that_is_busy_is_said() {
        let of_host = |host: &str| {
            let (manifest, records) = modelled(&format!(
                "host.name = '{host}'\n[volume]\ndrives = '6x980-pro-1tb'\nlevel = ['md-raid5', 'md-raid10']\n\
                 [workload.w]\nkind = 'sequential'\nop = 'write'\nblock = '1MiB'\ndepth = 8\ncount = 3000\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let of_host = |point: &Point| ["processor", "host"].contains(&point.about.as_str());
            verdict.points.into_iter().find(of_host).map(|point| point.text)
        };
        let said = of_host("linux-6.1").unwrap();
        assert!(said.contains("parity of md-raid5 is busy") && said.contains("EPYC"), "{said}");
        assert!(of_host("ideal").is_some_and(|said| said.contains("takes no processor time")));
        assert!(of_host("linux-6.1-virtual").is_some_and(|said| said.contains("the figures of")));
    }

    #[test]
    fn what_a_guests_processor_was_charged_is_said() {
        let (mut manifest, records) = modelled(
            "[volume]\ndrives = '6x980-pro-1tb'\nlevel = ['md-raid5', 'md-raid10']\n\
             [workload.w]\nkind = 'sequential'\nop = 'write'\nblock = '1MiB'\ndepth = 8\ncount = 3000\n",
        );
        let mut said = |machine: &[(&str, &str)]| -> Vec<(String, String)> {
            let own = |&(key, value): &(&str, &str)| (key.to_string(), value.to_string());
            manifest.machine = machine.iter().map(own).collect();
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let of_host = |point: &Point| ["processor", "host"].contains(&point.about.as_str());
            let points = verdict.points.into_iter().filter(of_host);
            points.map(|point| (point.about, point.text)).collect()
        };
        let [(about, _)] = &said(&[])[..] else { panic!("one point of the modelled host") };
        assert_eq!(about, "host");
        let kernel = ("kernel", "6.1");
        let [(about, free)] = &said(&[kernel, ("cpu_cost", "none: it takes no time")])[..] else {
            panic!("one point of the guest")
        };
        assert!(about == "processor" && free.contains("takes no time") && free.contains("--cpu"));
        let charged = said(&[kernel, ("cpu_cost", "3 us for each command to a drive")]);
        assert_eq!(charged, [("processor".into(), "3 us for each command to a drive".into())]);
    }

    #[test]
    fn more_than_a_shared_bus_moves_is_said() {
        let of_drives = |drives: &str| {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '{drives}'\nlevel = ['md-stripe', 'md-raid10']\n\
                 [workload.w]\nkind = 'sequential'\nblock = '1MiB'\ndepth = 16\ncount = 200\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.into_iter().find(|point| point.about == "buses").map(|point| point.text)
        };
        assert!(of_drives("4x990 pro 2tb").is_some_and(|said| said.contains("lanes of PCIe")));
        assert_eq!(of_drives("4xintel-d3-s4610"), None);
    }

    #[test]
    fn a_program_that_sends_as_fast_as_it_can_is_said() {
        let of_jobs = |jobs: u32| {
            let (manifest, records) = modelled(&format!(
                "host.name = 'linux-6.1'\n[volume]\ndrives = '4x980-pro-1tb'\nlevel = ['md-stripe', 'md-raid10']\n\
                 [workload.w]\nkind = 'random'\nblock = '4KiB'\ndepth = 64\njobs = {jobs}\ncount = 1000\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let point = verdict.points.into_iter().find(|point| point.about == "program");
            point.map(|point| point.text)
        };
        assert!(
            of_jobs(1).is_some_and(|said| said.starts_with("its processor holds up every layout"))
        );
        assert_eq!(of_jobs(8), None);
    }
    #[test]
    fn programs_that_wait_for_a_schedulers_lock_are_said() {
        let of_schedulers = |schedulers: &str| {
            let (manifest, records) = modelled(&format!(
                "host.name = 'linux-6.1'\n[volume]\ndrives = '2x980-pro-1tb'\nlevel = ['md-stripe', 'md-raid10']\n\
                 scheduler = {schedulers}\n[workload.w]\nkind = 'random'\nblock = '4KiB'\ndepth = 64\njobs = 8\n\
                 count = 1000\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let point = verdict.points.into_iter().find(|point| point.about == "lock");
            point.map(|point| point.text)
        };
        let said = of_schedulers("['none', 'mq-deadline']");
        assert!(said.is_some_and(|said| said.contains("`volume.scheduler = \"none\"`")));
        assert_eq!(of_schedulers("'none'"), None);
    }
}
