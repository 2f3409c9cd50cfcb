//! How unsure one run is, as it says itself.

use super::luck::is_in_order;
use crate::early;
use crate::judge::drives;
use crate::stated::Stated;
use store::Manifest;
use store::record::Record;
use store::sample::{self, Scope};

/// Of a record whose rate over time is known: the standard deviation of that rate as a share of the mean, and how many intervals
/// it is from.
pub fn spread(record: &Record) -> Option<(f64, f64)> {
    let of = |name: &str| record.sample(name);
    let share = of("sd_mb_per_s")? / of("mb_per_s").filter(|rate| *rate > 0.0)?;
    Some((share, of("rates").filter(|rates| *rates >= 2.0)?))
}

/// How unsure what a modelled trial is judged by is: the standard deviation as a share. None of a trial that says nothing of it,
/// as programs on files.
pub fn of_trial(manifest: &Manifest, record: &Record, samples: &[&str]) -> Option<f64> {
    if !manifest.modelled() {
        return None;
    }
    let has_phases = is_job_into_slc(manifest, record);
    let shares = samples.iter().filter_map(|sample| of_sample(record, sample, has_phases));
    shares.reduce(f64::max)
}

/// Whether it is a job that writes in order to its end, to drives with an SLC cache. It takes as long as it takes: what its rate
/// does meanwhile, as that fills, is no chance of the whole.
fn is_job_into_slc(manifest: &Manifest, record: &Record) -> bool {
    let settings = manifest.settings();
    let members = manifest.members(&record.workload);
    let is_one = |name: &String| {
        let stated = Stated::new(&record.at, name, &settings);
        let only_writes = stated.own("op").is_some_and(|op| op == "write")
            && stated.own("reads_percent").is_none();
        only_writes && is_in_order(&stated) && !early::lengths(manifest, name).is_empty()
    };
    has_slc(manifest, record) && !members.is_empty() && members.iter().all(is_one)
}

/// Whether a record's drives have SLC caches.
fn has_slc(manifest: &Manifest, record: &Record) -> bool {
    let mut drives = drives::of_record(manifest, record).peekable();
    drives.peek().is_some() && drives.all(|drive| drive.slc.is_some())
}

/// How unsure a record's sample is, as a share; `None` where nothing says. Where the rate `has_phases`, its interval says nothing of
/// the whole; few requests leave a percentile as unsure as ever.
fn of_sample(record: &Record, name: &str, has_phases: bool) -> Option<f64> {
    let own = name.rsplit_once('.').map_or(name, |(_, own)| own);
    let half = |name: &str| {
        let percent = record.sample(name).filter(|_| !has_phases);
        percent.map(|percent| percent / 100.0 / NORMAL_95)
    };
    record.sample(name)?;
    let Some(known) = sample::find(own).filter(|known| known.is_latency()) else {
        return half("interval_percent");
    };
    let paced = half("latency_interval_percent");
    let mean = paced.or_else(|| half("interval_percent"));
    let tail = known.quantile.and_then(|quantile| {
        let each = if known.scope == Scope::Flush { "commits_per_s" } else { "requests_per_s" };
        let stream = name.strip_suffix(own).unwrap_or("");
        let of_stream = record.sample(&format!("{stream}{each}"));
        let seconds = record.requests as f64 / record.sample("requests_per_s")?;
        let requests = of_stream.map_or(record.requests as f64, |rate| rate * seconds);
        Some(of_quantile(quantile, requests))
    });
    match (mean, tail) {
        (Some(mean), Some(tail)) => Some(mean.hypot(tail)),
        (mean, tail) => mean.or(tail),
    }
}

/// A 95 % interval reaches so many standard deviations to each side.
const NORMAL_95: f64 = 1.96;

/// The standard deviation of the quantile of so many times, as a share of it, where they are distributed like those of a
/// queue, with a tail that falls exponentially: √(q / (1−q) / n) / ln(1 / (1−q)) (David & Nagaraja, Order statistics,
/// 2003, §10.2). The 99th percentile of 1000 requests: 9.95 / 31.6 / 4.61 = 6.8 %; of 100, 22 %.
fn of_quantile(quantile: f64, requests: f64) -> f64 {
    let beyond = 1.0 - quantile;
    (quantile / beyond / requests).sqrt() / -beyond.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Standing;
    use crate::judge::tests::modelled;
    use crate::stats::noise::NoiseSource;
    use crate::{Verdict, Wishes};

    fn judged(seed: u64, keys: &str) -> Verdict {
        let (manifest, records) = modelled(&format!(
            "[run]\nseed = {seed}\n[volume]\ndrives = '4xwd740gd'\nlevel = 'md-raid0'\n\
             interleave = ['64KiB', '128KiB', '256KiB', '512KiB']\n[host]\nname = 'linux-6.1'\n\
             [workload.r]\nkind = 'random'\nblock = '4KiB'\n{keys}\n"
        ));
        Verdict::new(&manifest, &records, &Wishes::default()).unwrap()
    }

    /// Small random reads do not care for these chunks. Of 150 of them, and of 99th percentiles that come by the clock,
    /// another chunk was 9 to 17 % ahead with each seed.
    #[test]
    fn luck_of_one_seed_makes_no_choice() {
        for keys in
            ["depth = 8\ncount = 150", "arrivals = 'poisson'\nrequests_per_s = 300", "depth = 8"]
        {
            for seed in [1, 3, 4] {
                let verdict = judged(seed, keys);
                let behind = verdict.ranked.iter().filter(|of| of.standing == Standing::Behind);
                assert_eq!(behind.count(), 0, "{keys}, {seed}: {}", verdict.answer);
                assert_eq!(verdict.noise.source, NoiseSource::Trials);
            }
        }
    }

    /// Both rates are known to 10 % of their own, so that 18 % between them may be luck, and 24 % are not. (The model itself may err
    /// by 14 % here.)
    #[test]
    fn what_ran_until_it_was_steady_is_as_sure_as_it_says() {
        let (manifest, records) = modelled(
            "[volume]\ndrives = '2xwd740gd'\nlevel = 'md-raid0'\ninterleave = ['64KiB', '128KiB']\n\
             [host]\nname = 'linux-6.1'\n[workload.r]\nkind = 'random'\nblock = '4KiB'\ndepth = 8\n",
        );
        let standing = |slower: f64, interval_percent: f64| {
            let mut records = records.clone();
            for (record, rate) in records.iter_mut().zip([1.0, 1.0 / slower]) {
                record.samples.insert("mb_per_s", rate);
                record.samples.insert("interval_percent", interval_percent);
            }
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.ranked[1].standing
        };
        assert_eq!([1.18, 1.24].map(|by| standing(by, 10.0)), [Standing::Tie, Standing::Behind]);
        assert_eq!(standing(1.18, 0.1), Standing::Behind);
    }

    /// The stripe was 2.2 times as fast as the mirror, and "all within a factor of 2.9": its SLC caches filled and emptied by turns.
    #[test]
    fn phases_of_a_job_are_no_chance_of_its_duration() {
        let (manifest, mut records) = modelled(
            "[volume]\ndrives = '2xsabrent-rocket-4-plus-2tb'\nlevel = ['md-mirror', 'md-stripe']\n\
             [workload.a]\nkind = 'sequential'\nop = 'write'\nblock = '1MiB'\ndepth = 4\namount = '1GiB'\n",
        );
        // As 100 GiB of it were, which take minutes to compute.
        for record in &mut records {
            let is_striped = record.at["volume.level"] == "md-stripe";
            record.samples.insert("mb_per_s", if is_striped { 926.0 } else { 430.0 });
            record.samples.insert("interval_percent", 65.0);
            record.samples.insert("steady", 1.0);
        }
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        assert!(verdict.answer.starts_with("Use level md-stripe: "), "{}", verdict.answer);
        assert_eq!(verdict.ranked[1].standing, Standing::Behind);
    }

    /// The 99th percentile of 400 reads in order was "sure within 5.1 %", and differed by 46 % from seed to seed.
    #[test]
    fn other_jobs_in_order_are_as_unsure_as_they_say() {
        let unsure = |drives: &str, keys: &str, sample: &str| {
            let (manifest, mut records) = modelled(&format!(
                "[volume]\ndrives = '2x{drives}'\nlevel = 'md-stripe'\n[workload.a]\nkind = 'sequential'\nblock = '64KiB'\n\
                 depth = 4\ncount = 400\n{keys}\n"
            ));
            records[0].samples.insert("interval_percent", 19.6);
            of_trial(&manifest, &records[0], &[sample])
        };
        let (disk, slc) = ("wd740gd", "sabrent-rocket-4-plus-2tb");
        for (drives, keys) in [
            (disk, "op = 'read'"),
            (disk, "op = 'write'"),
            (slc, "op = 'read'"),
            (slc, "reads_percent = 30"),
        ] {
            let share = unsure(drives, keys, "mb_per_s").unwrap();
            assert!((share - 0.1).abs() < 1e-9, "{drives} {keys}: {share}");
        }
        assert_eq!(unsure(slc, "op = 'write'", "mb_per_s"), None);
        let tail = unsure(slc, "op = 'write'", "latency_p99_ms").unwrap();
        assert!((tail / of_quantile(0.99, 400.0) - 1.0).abs() < 0.01, "{tail}");
    }

    /// By draws: the quantile of times from an exponential distribution, over 2000 samples of 1000 each.
    #[test]
    fn few_requests_leave_a_percentile_unsure() {
        assert!((of_quantile(0.99, 1000.0) - 0.0683).abs() < 1e-4);
        assert!((of_quantile(0.999, 1000.0) / of_quantile(0.99, 1000.0) - 2.12).abs() < 0.01);
        let mut state = 1_u64;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            -(((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64).ln()
        };
        let quantiles: Vec<f64> = (0..2000)
            .map(|_| {
                let mut times: Vec<f64> = (0..1000).map(|_| draw()).collect();
                times.sort_by(f64::total_cmp);
                times[989]
            })
            .collect();
        let (mean, sd) = crate::stats::compare::mean_sd(&quantiles);
        assert!((sd / mean / of_quantile(0.99, 1000.0) - 1.0).abs() < 0.05, "{sd} {mean}");
    }
}
