//! How long trials last, and what is told of them.

use crate::experiment::{Experiment, Plan, Trial};
use crate::record::Measured;
use crate::rig::{self, sim::Sim};
use store::record::LoadState;

fn trial(text: &str) -> Trial {
    Plan::new(&Experiment::parse("some.toml", text).unwrap()).unwrap().trials.remove(0)
}

fn run(text: &str) -> Measured {
    rig::run(&Sim, &trial(text)).unwrap()
}

impl Measured {
    fn sample(&self, name: &str) -> Option<f64> {
        self.samples.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// Four disks of 18 TB, random writes of 4 KiB. A write cache of 32 MiB is full sooner than their own of 128 MiB.
const RANDOM_WRITES: &str = "[volume]\ndrives = '4xst18000nm000j[write_buffer_sectors=65536]'\n\
                             level = 'md-raid0'\n[workload.w]\n\
                             kind = 'random'\nop = 'write'\nblock = '4KiB'\ndepth = 32\n";

/// 1000 requests only filled the caches of 128 MiB and made 150 MB/s.
#[test]
fn random_writes_are_measured_behind_the_caches() {
    let measured = run(RANDOM_WRITES);
    let rate = measured.sample("mb_per_s").unwrap();
    assert!((6.5..7.2).contains(&rate), "{rate}");
    assert_eq!(measured.sample("steady"), Some(1.0));
    assert!(measured.sample("warm_up_s").unwrap() > 1.0);
    assert!(measured.sample("interval_percent").unwrap() <= 2.0);
    assert!(measured.sample("cached_share").unwrap() <= 0.02);
    // Little's law: what is said of latencies is of the same requests.
    let rest =
        measured.sample("requests_per_s").unwrap() * measured.sample("latency_mean_ms").unwrap();
    assert!((rest / 32_000.0 - 1.0).abs() < 0.02, "{rest}");
}

#[test]
fn a_steady_trial_is_the_same_each_time() {
    let text = RANDOM_WRITES.replace("st18000nm000j[write_buffer_sectors=65536]", "wd740gd");
    let (measured, again) = (run(&text), run(&text));
    assert_eq!(measured.sample("steady"), Some(1.0));
    assert_eq!(measured.samples, again.samples);
    assert_eq!(measured.series, again.series);
}

#[test]
fn a_job_that_fills_the_caches_is_kept_whole_and_called_not_steady() {
    for count in [1000, 50_000] {
        let measured = run(&format!("{RANDOM_WRITES}count = {count}\n"));
        assert_eq!(measured.requests, count);
        assert_eq!(measured.sample("steady"), Some(0.0), "{count}");
        assert!(measured.sample("cached_share").unwrap() > 0.6, "{count}");
        // 128 MiB are to be no more than 5 % of it.
        let needed_mib = measured.sample("needed_mib").unwrap();
        assert!((needed_mib / 2560.0 - 1.0).abs() < 0.001, "{needed_mib}");
    }
    let through = run(&format!("{RANDOM_WRITES}count = 2000\n[drive]\nwrite_cache = false\n"));
    assert_eq!(through.sample("steady"), Some(1.0));
}

/// The stripe cache of eight disks grows, and with it the rate: it was taken for steady at 481 MB/s after four seconds. The
/// last 12,000 of 16,000 requests make 639 in the kernel, and as many here.
#[test]
fn a_rate_that_still_rises_slowly_is_not_steady() {
    let measured = run(
        "[run]\nprecision = '5%'\n[volume]\ndrives = '8xst18000nm000j[write_cache=false]'\n\
                        level = 'md-raid6'\ninterleave = '512KiB'\n[workload.w]\nkind = 'sequential'\nop = 'write'\n\
                        block = '1MiB'\ndepth = 32\n",
    );
    assert_eq!(measured.sample("steady"), Some(1.0));
    let rate = measured.sample("mb_per_s").unwrap();
    assert!((rate / 639.0 - 1.0).abs() < 0.05, "the kernel makes 639: {rate}");
}

/// Every first write to 64 MiB of an array with a bitmap waits for a flush, and no later one for seconds: 1500 writes
/// make 28 MB/s, and 1370 are made when all bits are set.
#[test]
fn a_job_whose_rate_rises_to_its_end_is_not_steady() {
    let of = |count: &str| {
        run(&format!(
            "[host]\nname = 'linux-6.1'\n[volume]\ndrives = '4x980-pro-1tb:8GiB'\nlevel = 'md-raid10'\n\
             interleave = '64KiB'\nbitmap = 'internal'\n[workload.w]\nkind = 'random'\nop = 'write'\n\
             block = '8KiB'\ndepth = 32\n{count}"
        ))
    };
    let job = of("count = 1500\n");
    assert!(job.sample("mb_per_s").unwrap() < 100.0);
    assert_eq!(job.sample("steady"), Some(0.0));
    assert!(of("").sample("mb_per_s").unwrap() > 1000.0);
}

/// 4 GiB in order filled a fifth of themselves into caches: a chunk of 64 KiB looked 70 % faster than 512 KiB.
#[test]
fn sequential_writes_to_md_that_end_in_the_caches_are_not_steady() {
    let text = "[host]\nname = 'linux-6.1'\n[volume]\ndrives = '8xst18000nm000j'\nlevel = 'md-raid5'\n\
                interleave = '64KiB'\n[workload.w]\nkind = 'sequential'\nop = 'write'\nblock = '1MiB'\n\
                depth = 64\namount = '1GiB'\n";
    let measured = run(text);
    assert_eq!(measured.sample("steady"), Some(0.0));
    assert!(measured.sample("cached_share").unwrap() > 0.2);
}

/// The volume stalls and catches up by what is under way, so that this is at most as large a part as the interval.
#[test]
fn what_the_page_cache_has_under_way_is_a_small_part() {
    let text = "host.name = 'linux-6.1'\n[run]\nprecision = '10%'\n[volume]\ndrives = '2xwd740gd[write_cache=false]'\n\
                level = 'md-stripe'\n[workload.w]\nkind = 'sequential'\nop = 'write'\nblock = '1MiB'\n";
    let counted = |direct: &str| {
        let measured = run(&format!("{text}direct = {direct}\n"));
        assert_eq!(measured.sample("steady"), Some(1.0));
        measured.sample("requests_per_s").unwrap() * measured.sample("elapsed_s").unwrap()
    };
    let (direct, buffered) = (counted("true"), counted("false"));
    assert!(direct < 2560.0, "{direct}");
    assert!(buffered >= 256.0 / 0.1 - 1.0, "{buffered}");
}

/// With 1024 in flight md lets reads go first: after 2700 requests it had done next to no write, its rate was steady,
/// 38 MB/s, and what lasts is 14 (in the kernel 13.7).
#[test]
fn what_is_in_flight_is_a_small_part() {
    let rate = |seed: u64| {
        let measured = run(&format!(
            "host.name = 'linux-6.1'\n[run]\nprecision = '5%'\nseed = {seed}\n[volume]\ndrives = \
             '8xst18000nm000j[write_cache=false]'\nlevel = 'md-raid6'\ninterleave = '512KiB'\n[workload.w]\n\
             kind = 'random'\nreads_percent = 70\nblock = '8KiB'\ndepth = 64\njobs = 16\njob_step = '100GiB'\n\
             span = '100GiB'\n"
        ));
        assert_eq!(measured.sample("steady"), Some(1.0));
        let sample = |name: &str| measured.sample(name).unwrap();
        let reads = sample("read_mb_per_s") / sample("mb_per_s");
        assert!((reads / 0.7 - 1.0).abs() < 0.03, "{reads}");
        // By Little's law those that come back are fewer: where queues are full the newest read goes first, and others starve
        // (docs/md.md). In the kernel they are 300.
        let in_flight = sample("requests_per_s") * sample("latency_mean_ms") / 1000.0;
        assert!(in_flight < 1024.0 * 0.75, "{in_flight}");
        sample("mb_per_s")
    };
    let (first, second) = (rate(1), rate(2));
    assert!((first / second - 1.0).abs() < 0.05, "{first} {second}");
}

/// With caches just full, writes in order may make for two seconds what they do not make later: one seed of three was called
/// steady at 1490 MB/s.
#[test]
fn what_caches_hold_is_moved_again_and_again() {
    let rate = |repeat: usize| {
        let text = "[run]\nprecision = '5%'\nrepeats = 2\n[volume]\ndrives = '8xst18000nm000j'\nlevel = 'md-raid6'\n\
                    interleave = '16KiB'\n[workload.ws]\nkind = 'sequential'\nop = 'write'\nblock = '1MiB'\n\
                    depth = 32\n";
        let plan = Plan::new(&Experiment::parse("some.toml", text).unwrap()).unwrap();
        let measured = rig::run(&Sim, &plan.trials[repeat]).unwrap();
        assert_eq!(measured.sample("steady"), Some(1.0));
        measured.sample("mb_per_s").unwrap()
    };
    let (first, second) = (rate(0), rate(1));
    assert!((first / second - 1.0).abs() < 0.1, "{first} {second}");
}

/// A write over eight disks was held whole as long as one of them had a part of it to write: up to three times what they have
/// room for, and trials went on until that had been moved again and again.
#[test]
fn a_write_over_many_disks_is_held_as_far_as_they_hold_it() {
    let text = "[volume]\ndrives = '8xst18000nm000j[write_buffer_sectors=65536]'\nlevel = 'md-raid6'\n\
                interleave = '16KiB'\nstripe_cache = 4096\n[workload.w]\nkind = 'sequential'\n\
                op = 'write'\nblock = '1MiB'\ndepth = 16\ncount = 4000\n";
    let held = run(text).series.unwrap().held_bytes.into_iter().max().unwrap();
    // A quarter of what the disks have is parity.
    let most = 8 * (32 << 20) * 6 / 8;
    assert!((most / 2..=most).contains(&held), "{held} of {most}");
}

#[test]
fn reads_are_steady_at_once_and_end_when_their_interval_is_narrow() {
    let reads = |more: &str| {
        run(&format!(
            "[volume]\ndrives = 'wd740gd'\n[workload.r]\nkind = 'random'\nblock = '4KiB'\n{more}"
        ))
    };
    let [coarse, fine] = ["5%", "1%"].map(|precision| {
        let measured = reads(&format!("[run]\nprecision = '{precision}'\n"));
        assert_eq!(measured.sample("steady"), Some(1.0));
        measured
    });
    assert!(coarse.requests >= 1000 && fine.requests > 2 * coarse.requests);
    let [a, b] = [&coarse, &fine].map(|measured| measured.sample("mb_per_s").unwrap());
    assert!((a / b - 1.0).abs() < 0.05, "{a} {b}");
    let short = reads("[run]\nbudget = '1s'\nprecision = '0.1%'\n");
    let elapsed_s = short.sample("elapsed_s").unwrap();
    assert!((0.4..1.2).contains(&elapsed_s), "{elapsed_s}");
    let few = reads("[run]\nbudget_requests = 2000\nprecision = '0.1%'\n");
    assert_eq!(few.requests, 2000);
}

/// What runs side by side ends side by side: the pages had used up their 2000 requests, the log went on alone, and its rate
/// was taken for that of both.
#[test]
fn the_first_that_uses_up_its_budget_ends_all() {
    let measured = run(
        "[run]\nbudget_requests = 2000\nprecision = '1%'\n[volume]\ndrives = '4x980-pro-1tb'\nlevel = 'md-stripe'\n\
         [workload.pages]\nkind = 'random'\nblock = '16KiB'\ndepth = 64\ngroup = 'both'\n\
         [workload.log]\nkind = 'sequential'\nop = 'write'\nblock = '4KiB'\nflush_every = 1\ngroup = 'both'\n",
    );
    // 64 reads in flight make gigabytes a second, and commits one at a time a few megabytes.
    assert!(measured.sample("mb_per_s").unwrap() > 1000.0, "{:?}", measured.samples);
    assert!((1000..2200).contains(&measured.requests), "{}", measured.requests);
}

/// Twice as long a trial has the same rate, within both intervals.
#[test]
fn a_longer_trial_has_the_same_rate() {
    for op in ["read", "write"] {
        let of = |precision: &str| {
            let measured = run(&format!(
                "[volume]\ndrives = '3xwd740gd'\nlevel = 'raid5'\n[workload.w]\nkind = 'random'\nop = '{op}'\n\
                 block = '8KiB'\ndepth = 4\n[run]\nprecision = '{precision}'\n"
            ));
            let half = measured.sample("interval_percent").unwrap() / 100.0;
            (measured.sample("mb_per_s").unwrap(), half)
        };
        let [(short, wide), (long, narrow)] = [of("2%"), of("1%")];
        assert!((short / long - 1.0).abs() < wide + narrow, "{op}: {short} {long}");
    }
}

/// 1 GiB of a larger disk at 5 MB/s takes 215 s. It was 3642, as if all of the disk were restored.
#[test]
fn a_rebuild_restores_the_part_that_is_used() {
    let measured = run(
        "[volume]\ndrives = '2xwd740gd:1GiB'\nlevel = 'mirror'\nfailed = '1'\nrebuild = '5MB/s'\n\
         [workload.r]\ncount = 100\n",
    );
    let rebuild_s = measured.sample("rebuild_s").unwrap();
    assert!((rebuild_s - 214.7).abs() < 0.5, "{rebuild_s}");
}

/// What is left of a rebuild when the work has ended is worked out: 18 TB at 50 MB/s are 100 hours. Simulating them took
/// minutes, and the trial's CPU time did not say so.
#[test]
fn the_rest_of_a_long_rebuild_is_worked_out() {
    let measured = run(
        "[volume]\ndrives = '4xst18000nm000j'\nlevel = 'raid5'\nfailed = '1'\nrebuild = '50MB/s'\n\
         [workload.r]\nkind = 'random'\ncount = 100\n",
    );
    let rebuild_s = measured.sample("rebuild_s").unwrap();
    let at_rate_s = 35_156_656_128.0 * 512.0 / 50e6;
    assert!((rebuild_s / at_rate_s - 1.0).abs() < 0.001, "{rebuild_s}");
    assert!(measured.cpu_s < 30.0, "{}", measured.cpu_s);
    assert!(measured.sample("rebuilt_share").unwrap() < 1e-4);
}

/// As fast as the drives go, too: stretches of a rebuild stand for the whole of it.
#[test]
fn stretches_stand_for_a_rebuild_at_the_drives_pace() {
    let text = |part: &str| {
        format!(
            "[volume]\ndrives = '2xwd740gd{part}'\nlevel = 'mirror'\nfailed = '1'\nrebuild = '1000MB/s'\n\
             [workload.r]\ncount = 10\n"
        )
    };
    // 7 GiB are run to their end, 70 GiB are not.
    let exact = run(&text(":7GiB")).sample("rebuild_s").unwrap();
    let worked_out = run(&text(":9GiB")).sample("rebuild_s").unwrap();
    assert!((worked_out / exact / (9.0 / 7.0) - 1.0).abs() < 0.02, "{exact} {worked_out}");
}

/// What md has in front of the data is not restored: 2 MiB of 1 GiB, 129 MiB of 18 TB.
#[test]
fn what_is_in_front_of_the_data_is_not_restored() {
    for (drives, level, start) in [
        ("2xwd740gd:1GiB", "md-mirror", 4096),
        ("2xst18000nm000j", "md-mirror", 264_192),
        ("4xst18000nm000j", "md-raid5", 264_192),
        ("2xwd740gd:1GiB", "mirror", 0),
    ] {
        let trial = trial(&format!(
            "[volume]\ndrives = '{drives}'\nlevel = '{level}'\n[workload.r]\ncount = 10\n"
        ));
        let part = crate::machine::restored_part(&trial.setup.volume, 1).unwrap();
        assert_eq!(part.start, start, "{drives} {level}");
    }
}

/// md's copies at the limit, too: all but what md has in front of the data, whether it is run to its end or worked out.
#[test]
fn md_restores_what_is_behind_its_superblock_at_the_limit() {
    let rebuild_s = |drives: &str, rate: &str| {
        let measured = run(&format!(
            "[volume]\ndrives = '{drives}'\nlevel = 'md-mirror'\nfailed = '1'\nrebuild = '{rate}'\n\
             [workload.r]\nkind = 'random'\ncount = 10\n"
        ));
        measured.sample("rebuild_s").unwrap()
    };
    // Whole seconds count: over half a minute it is up to 1 s ahead.
    let (short_s, data_sectors) = (rebuild_s("2xwd740gd:1GiB", "5MB/s"), 2_097_152 - 4096);
    let at_rate_s = f64::from(data_sectors) * 512.0 / 5e6;
    assert!((0.95..1.0).contains(&(short_s / at_rate_s)), "{short_s}, {at_rate_s} at the limit");
    let (long_s, data_sectors) =
        (rebuild_s("2xst18000nm000j", "50MB/s"), 35_156_656_128.0 - 264_192.0);
    let at_rate_s = data_sectors * 512.0 / 50e6;
    assert!((long_s / at_rate_s - 1.0).abs() < 1e-3, "{long_s}, {at_rate_s} at the limit");
}

/// Beside a job with an end, requests without one go on until that ends.
#[test]
fn what_has_no_end_ends_with_what_has_one() {
    let measured = run(
        "[volume]\ndrives = 'wd740gd'\n[workload.a]\nkind = 'random'\nruntime = '2s'\ngroup = 'g'\n\
         [workload.b]\nkind = 'random'\ngroup = 'g'\n",
    );
    let elapsed_s = measured.sample("elapsed_s").unwrap();
    assert!((2.0..2.1).contains(&elapsed_s), "{elapsed_s}");
}

/// Random reads of one disk that come by themselves.
const OPEN: &str = "[volume]\ndrives = '1xwd740gd'\nlevel = 'single'\n[workload.w]\nkind = 'random'\n\
                    block = '4KiB'\narrivals = 'poisson'\n";

/// At 40 requests a second a disk that does 120 of them is idle for two thirds of the time; the trial goes on until how
/// many are under way is known, and what is reported is after the warm-up.
#[test]
fn an_open_trial_is_judged_by_its_latency_and_ends_when_that_has_settled() {
    let measured = run(&format!("{OPEN}requests_per_s = 40\n"));
    assert_eq!(measured.samples[0].0, "latency_p99_ms");
    assert_eq!((measured.sample("steady"), measured.sample("overloaded")), (Some(1.0), None));
    assert!((measured.sample("requests_per_s").unwrap() / 40.0 - 1.0).abs() < 0.03);
    assert!((10_000..400_000).contains(&measured.requests), "{}", measured.requests);
    let closed = run(&OPEN.replace("arrivals = 'poisson'\n", ""));
    let [open_ms, alone_ms] = [&measured, &closed].map(|of| of.sample("latency_mean_ms").unwrap());
    assert!(open_ms > 1.1 * alone_ms && open_ms < 1.6 * alone_ms, "{open_ms}, {alone_ms}");
}

/// Twice as many come as the disk can do: there is no steady state, and that is found early.
#[test]
fn an_overloaded_trial_ends_early_and_has_no_steady_state() {
    for arrivals in ["poisson", "fixed"] {
        let text = OPEN.replace("poisson", arrivals);
        let measured = run(&format!("{text}requests_per_s = 300\n"));
        assert_eq!(
            (measured.sample("steady"), measured.sample("overloaded")),
            (Some(0.0), Some(1.0))
        );
        assert!(measured.requests < 50_000, "{}", measured.requests);
    }
    let job = run(&format!("{OPEN}requests_per_s = 300\ncount = 5000\n"));
    assert_eq!((job.sample("steady"), job.sample("overloaded")), (Some(0.0), Some(1.0)));
    assert_eq!(job.requests, 5000);
}

/// At its limit of 129 a second, or half a percent above, a disk has a queue that never empties; how narrow the interval of its
/// length is after a minute is luck.
#[test]
fn a_load_at_the_limit_is_not_steady_whatever_its_seed() {
    for seed in 1..=6 {
        let at_limit = format!(
            "{OPEN}requests_per_s = 130
[drive]
queue_discipline = 'fcfs'
read_ahead = false
"
        );
        let text = format!(
            "{at_limit}[host]
name = 'ideal'
[run]
seed = {seed}
"
        );
        let measured = run(&text);
        assert_eq!(measured.sample("steady"), Some(0.0), "{seed}: {:?}", measured.samples);
        let below = run(&text.replace("= 130", "= 120"));
        assert_eq!(
            (below.sample("steady"), below.sample("overloaded")),
            (Some(1.0), None),
            "{seed}: {:?}",
            below.samples
        );
    }
}

/// A job of 600 requests that ends half a second after they have come has latencies of its length.
#[test]
fn a_job_that_ends_long_after_its_requests_have_come_is_not_steady() {
    // One at a time, in the order in which they came: 129 a second.
    let of = |rate: u32| {
        run(&format!(
            "[host]\nname = 'ideal'\n[drive]\nqueue_discipline = 'fcfs'\nread_ahead = false\n{OPEN}requests_per_s = \
             {rate}\ncount = 600\n"
        ))
    };
    let (late, kept) = (of(150), of(100));
    assert_eq!((late.sample("steady"), late.sample("overloaded")), (Some(0.0), Some(1.0)));
    assert_ne!(kept.sample("steady"), Some(0.0));
}

/// A log that is flushed at each commit is one at a time: what comes meanwhile waits in the program, and its commits are
/// overloaded though no more than one is ever in flight.
#[test]
fn commits_that_come_too_fast_are_overloaded_in_the_program() {
    let log = |rate: u32| {
        run(&format!(
            "[volume]\ndrives = '1xwd740gd'\nlevel = 'single'\n[drive]\nwrite_cache = false\n[workload.log]\nkind = \
             'sequential'\nop = 'write'\nblock = '8KiB'\narrivals = 'poisson'\nflush_every = 1\nrequests_per_s = {rate}\n"
        ))
    };
    let (slow, fast) = (log(20), log(500));
    let commit = |of: &Measured| of.samples[0];
    assert_eq!(commit(&slow).0, "commit_p99_ms");
    assert_eq!((slow.sample("steady"), fast.sample("overloaded")), (Some(1.0), Some(1.0)));
    assert!(commit(&slow).1 > 5.0 && commit(&slow).1 < 60.0, "{:?}", slow.samples);
}

/// A mix is one trial whose streams have samples of their own, which add up.
#[test]
fn streams_of_a_group_are_measured_apart() {
    let measured = run(
        "[volume]\ndrives = '4xwd740gd'\nlevel = 'raid10'\n[drive]\nwrite_cache = false\n[workload.oltp]\nkind = 'random'\n\
         block = '8KiB'\nreads_percent = 70\narrivals = 'poisson'\nrequests_per_s = 60\ngroup = 'db'\n[workload.wal]\n\
         kind = 'sequential'\nop = 'write'\nsizes = '8KiB/3:64KiB/1'\nflush_every = 1\narrivals = 'poisson'\n\
         requests_per_s = 10\noffset = '60GiB'\nspan = '1GiB'\ngroup = 'db'\n",
    );
    let of = |stream: usize, name: &str| {
        measured.streams[stream].1.iter().find(|(known, _)| *known == name).unwrap().1
    };
    assert_eq!(measured.sample("steady"), Some(1.0), "{:?}", measured.samples);
    let sum = of(0, "requests_per_s") + of(1, "requests_per_s");
    assert!((sum / measured.sample("requests_per_s").unwrap() - 1.0).abs() < 1e-9);
    assert!((of(0, "reads_per_s") / 42.0 - 1.0).abs() < 0.1, "{:?}", measured.streams);
    assert!((of(1, "commits_per_s") / 10.0 - 1.0).abs() < 0.1);
    assert!(of(1, "commit_p99_ms") >= of(1, "commit_p50_ms"));
    assert!(of(1, "commit_p999_ms") >= of(1, "commit_p99_ms"));
    assert!(of(0, "read_p999_ms") >= of(0, "read_p99_ms"));
}

/// A log of 200 commits beside reads that go on for much longer made "1.000 commits/s" on every layout: its commits over the
/// reads' time.
#[test]
fn a_stream_that_ends_early_has_its_rates_over_its_own_time() {
    let of = |log: &str, reads: &str| {
        run(&format!(
            "[volume]\ndrives = '4xst18000nm000j'\nlevel = 'md-raid10'\ninterleave = '64KiB'\n[drive]\nwrite_cache = false\n\
             [workload.wal]\nkind = 'random'\nop = 'write'\nblock = '8KiB'\nflush_every = 1\ngroup = 'oltp'\n{log}\n\
             [workload.reads]\nkind = 'random'\nblock = '16KiB'\ndepth = 4\nrequests_per_s = 100\ngroup = 'oltp'\n{reads}\n"
        ))
    };
    let sample = |of: &Measured, stream: &str, name: &str| {
        let (_, samples) = of.streams.iter().find(|(known, _)| known == stream).unwrap();
        samples.iter().find(|(known, _)| *known == name).unwrap().1
    };
    let early = of("count = 200", "runtime = '100s'");
    // One at a time: so many a second as its time goes into a second.
    let times = sample(&early, "wal", "commit_mean_ms") * sample(&early, "wal", "commits_per_s");
    assert!((times / 1000.0 - 1.0).abs() < 1e-3, "{:?}", early.streams);
    let moved = sample(&early, "wal", "mb_per_s") * sample(&early, "wal", "elapsed_s");
    assert!((moved - 200.0 * 8192.0 / 1e6).abs() < 1e-9, "{moved}");
    assert!(sample(&early, "wal", "elapsed_s") < 10.0);
    assert!((sample(&early, "reads", "elapsed_s") - 100.0).abs() < 0.1);
    assert!((sample(&early, "reads", "requests_per_s") - 100.0).abs() < 1.0);
    // All of it is all requests over all of the time.
    let all = early.sample("requests_per_s").unwrap() * early.sample("elapsed_s").unwrap();
    let each = ["wal", "reads"].map(|stream| {
        sample(&early, stream, "requests_per_s") * sample(&early, stream, "elapsed_s")
    });
    assert!((all / each.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{all} {each:?}");
    // What is given a time takes it, though its last request comes before; what has no end goes on as long as the others.
    let seldom = "requests_per_s = 1\nruntime = '10500ms'";
    let given = of(seldom, "runtime = '100s'");
    assert!((sample(&given, "wal", "elapsed_s") - 10.5).abs() < 1e-9, "{:?}", given.streams);
    let endless = of("requests_per_s = 1", "runtime = '20500ms'");
    let whole_s = endless.sample("elapsed_s").unwrap();
    let commits = sample(&endless, "wal", "commits_per_s") * whole_s;
    assert!((commits - 21.0).abs() < 1e-6, "{commits}");
}

/// A flush does not wait for the writes beside it: what ends with it is no commit, and was said to take less than its write.
#[test]
fn writes_side_by_side_have_no_times_of_commits() {
    let of = |depth: u32| {
        run(&format!(
            "[volume]\ndrives = '1xgp3'\nlevel = 'single'\n[workload.w]\nkind = 'random'\nop = 'write'\nblock = '16KiB'\n\
             flush_every = 1\ncount = 2000\ndepth = {depth}\n"
        ))
    };
    let (one, many) = (of(1), of(32));
    assert!(one.sample("commit_p99_ms").unwrap() >= one.sample("write_p99_ms").unwrap_or(0.0));
    assert!(one.sample("commit_mean_ms").unwrap() >= one.sample("latency_mean_ms").unwrap());
    assert_eq!(
        (many.sample("commit_p99_ms"), many.sample("flush_mean_ms").is_some()),
        (None, true)
    );
}

/// The rate at which the 99th percentile is 40 ms: just below it holds, just above it does not.
#[test]
fn a_capacity_is_the_rate_at_which_the_latency_reaches_its_limit() {
    let found = run(&format!("{OPEN}capacity = 'p99 <= 40ms'\n"));
    assert_eq!(found.samples[0].0, "capacity_per_s");
    let rate = found.samples[0].1;
    assert!((20.0..110.0).contains(&rate), "{rate}");
    assert!(found.sample("latency_p99_ms").unwrap() <= 40.0);
    let above = run(&format!("{OPEN}requests_per_s = {}\n", (rate * 1.1) as u64));
    assert!(above.sample("latency_p99_ms").unwrap() > 40.0);
    // The curve rises, and is the same when it is found again.
    let steady: Vec<f64> = found
        .curve
        .iter()
        .filter(|point| point.state != LoadState::Overloaded)
        .map(|point| point.mean_ms)
        .collect();
    assert!(steady.len() >= 6 && steady.windows(2).all(|two| two[0] < two[1] * 1.05), "{steady:?}");
    assert_eq!(run(&format!("{OPEN}capacity = 'p99 <= 40ms'\n")).curve, found.curve);
    // No rate is low enough for what one request alone exceeds.
    let never = run(&format!("{OPEN}capacity = 'p99 <= 1ms'\n"));
    assert_eq!(never.samples[0], ("capacity_per_s", 0.0));
}

/// Four SSDs whose bitmap has 14,300 bits, of which none is set: nearly each write waited for its bit in the 0.2 s of a
/// trial, at a level rate that was less than half of what it is from the next seconds on.
const SETS_BITS: &str = "[run]\nprecision = '5%'\n[volume]\ndrives = '4xd3-s4610-480gb'\nlevel = 'md-raid10'\n\
                         interleave = '512KiB'\n[workload.w]\nkind = 'random'\nreads_percent = 60\n\
                         sizes = '4KiB/60:16KiB/25:64KiB/15'\nblock = '4KiB'\ndepth = 32\nprograms = 32\n";

fn with_bitmap(text: &str) -> Measured {
    run(&text.replace("[workload.w]", "bitmap = 'internal'\n[workload.w]"))
}

#[test]
fn bits_that_most_writes_set_first_are_not_the_steady_state() {
    let rates = [run(SETS_BITS), with_bitmap(SETS_BITS)].map(|measured| {
        assert_eq!(measured.sample("steady"), Some(1.0));
        measured.sample("mb_per_s").unwrap()
    });
    assert!((rates[1] / rates[0] - 1.0).abs() < 0.05, "{rates:?}");
    // A job of the beginning says so.
    let job = with_bitmap(&format!("{SETS_BITS}count = 5000\n"));
    assert_eq!(job.sample("steady"), Some(0.0));
    // Disks set so few before the first are cleared that nearly each write waits for its bit for ever.
    let disks = SETS_BITS.replace("d3-s4610-480gb", "st18000nm000j[write_cache=false]");
    let job = with_bitmap(&format!("{disks}count = 300\n"));
    assert_ne!(job.sample("steady"), Some(0.0));
}

/// Bits of 2 TB that are cleared before all are set cost as much for ever: the trial ends all the same.
#[test]
fn bits_that_are_never_all_set_have_a_steady_state() {
    let text = SETS_BITS.replace("d3-s4610-480gb", "980-pro-1tb").replace("programs = 32\n", "");
    let measured = with_bitmap(&text);
    assert_eq!(measured.sample("steady"), Some(1.0));
    let elapsed_s = measured.sample("elapsed_s").unwrap() + measured.sample("warm_up_s").unwrap();
    assert!((20.0..60.0).contains(&elapsed_s), "{elapsed_s}");
    let share = measured.sample("bitmap_ms").unwrap() / measured.sample("latency_mean_ms").unwrap();
    assert!(share > 0.5, "{share}");
}

/// A trial of half a second ended while md slept, with the latencies of an array that restores nothing: 0.18 ms instead of 16.
#[test]
fn a_trial_beside_a_rebuild_outlasts_bursts_of_its_limit() {
    let of = |level: &str, rate: &str, more: &str| {
        run(&format!(
            "[volume]\ndrives = '6x980-pro-1tb'\nlevel = '{level}'\ninterleave = '512KiB'\nfailed = '1'\n{rate}\n\
             [workload.db]\nkind = 'random'\nblock = '8KiB'\nreads_percent = 70\narrivals = 'poisson'\n\
             requests_per_s = 20000\n{more}\n"
        ))
    };
    let rate = "rebuild = '200MB/s'";
    let [settled, long] = ["", "runtime = '20s'"].map(|more| of("md-raid10", rate, more));
    assert_eq!(settled.sample("steady"), Some(1.0));
    let [own, right] = [&settled, &long].map(|of| of.sample("latency_p99_ms").unwrap());
    assert!((own / right - 1.0).abs() < 0.2, "{own} instead of {right} ms");
    let short = of("md-raid10", rate, "count = 10000");
    assert_eq!(short.sample("steady"), Some(0.0));
    let times = short.sample("rebuild_needs_times").unwrap();
    let elapsed_s = short.sample("elapsed_s").unwrap();
    assert!((times * elapsed_s - 10.0).abs() < 0.01, "{times} times {elapsed_s} s");
    // Chunks of half a megabyte at 200 MB/s come every 3 ms, and where nothing is restored nobody waits for it.
    assert_eq!(of("raid10", rate, "count = 10000").sample("rebuild_needs_times"), None);
    assert_eq!(of("md-raid10", "", "count = 10000").sample("steady"), Some(1.0));
}

/// One or two writes that caches took had no sample at all, and ranked: RAID 10 was "about 100 times" as fast.
#[test]
fn a_job_that_caches_may_have_taken_whole_is_not_steady() {
    let of = |op: &str, more: &str| {
        run(&format!(
            "[volume]\ndrives = '4xst20000nm007d'\nlevel = 'md-raid10'\n{more}\n[workload.w]\nkind = 'random'\nop = '{op}'\n\
             block = '4KiB'\n"
        ))
        .sample("steady")
    };
    for length in ["count = 1", "count = 2", "count = 8", "runtime = '1ms'"] {
        let text = format!("{RANDOM_WRITES}{length}\n");
        assert_eq!(run(&text).sample("steady"), Some(0.0), "{length}");
        // No cache takes reads, nor writes that go through it: nothing is known of these.
        let reads = text.replace("'write'", "'read'");
        let through = format!("{text}[drive]\nwrite_cache = false\n");
        for text in [reads, through] {
            assert_eq!(run(&text).sample("steady"), None, "{length}");
        }
    }
    for budget in ["budget = '1us'", "budget_requests = 1", "budget = '100ms'"] {
        assert_eq!(of("write", &format!("[run]\n{budget}")), Some(0.0), "{budget}");
    }
    assert_eq!(
        run(&format!("{RANDOM_WRITES}count = 1000\n").replace("'write'", "'read'"))
            .sample("steady"),
        Some(1.0)
    );
}
