use super::*;

fn evidence(pairs: &[(f64, bool)]) -> Evidence {
    let mut evidence = Evidence { pairs: pairs.to_vec(), drive_error: 0.05, ..Evidence::default() };
    evidence.asked = Asked::of_test("ffs:untar");
    evidence
}

/// Small differences are a toss-up, large ones are right: ties end where nine in ten are.
#[test]
fn a_difference_counts_from_where_nine_in_ten_are_right() {
    let pairs: Vec<(f64, bool)> = (1..=200)
        .map(|index| {
            let size = 0.005 * f64::from(index);
            (size, size > 0.3 || index % 2 == 0)
        })
        .collect();
    let from = evidence(&pairs).difference().ln_1p();
    assert!((0.25..0.5).contains(&from), "{from}");
    let said = evidence(&pairs).words(Some(2.0)).unwrap();
    assert!(said.contains("untar on FFS") && said.contains("ranks 100 % correctly"), "{said}");
    // A model that is no guide makes ties of everything.
    let coin: Vec<(f64, bool)> =
        pairs.iter().map(|&(size, _)| (size, size.to_bits() % 2 == 0)).collect();
    assert!(evidence(&coin).difference().is_infinite());
    assert_eq!(evidence(&coin).ties(), "no difference here can be relied on");
}

/// Where the pairs of about one size are found side by side, they are those that are found one by one.
#[test]
fn nine_in_ten_of_a_size_are_the_same_however_they_are_found() {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let mut seen = [0, 0];
    for _ in 0..200 {
        let width = 10.0 * random();
        let pairs: Vec<(f64, bool)> = (0..100)
            .map(|_| {
                let size = (width * random()).exp_m1() / 10.0;
                (if random() < 0.1 { 0.1 } else { size }, size > 0.3 || random() < 0.9)
            })
            .collect();
        let found = evidence(&pairs);
        let is_right = |size: f64| {
            let about = found.about(size);
            about.iter().filter(|right| **right).count() as f64 >= RIGHT * about.len() as f64
        };
        let mut sizes: Vec<f64> = pairs.iter().map(|(size, _)| *size).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let sure = sizes.iter().take_while(|size| is_right(**size)).last();
        let expected = sure.copied().unwrap_or(f64::INFINITY);
        assert_eq!(sure_from(&found.pairs).to_bits(), expected.to_bits());
        seen[usize::from(expected.is_finite())] += 1;
    }
    assert!(seen.iter().all(|&times| times > 10), "{seen:?}");
}

/// Of untar and of the spool by level nothing was measured: what was measured of such work is off by more than drives are.
#[test]
fn work_on_files_is_judged_no_finer_than_where_it_was_measured() {
    let difference = |class: &str| {
        let asked = Asked::of_test(class);
        let near = of_files(&asked);
        Evidence { near, asked, drive_error: 0.033, ..Evidence::default() }.difference()
    };
    assert!((0.08..0.10).contains(&difference("ffs:touch")), "{}", difference("ffs:touch"));
    assert!((0.11..0.13).contains(&difference("ffs:spool")), "{}", difference("ffs:spool"));
    assert!((difference("stripes") - 0.033).abs() < 1e-12);
}

#[test]
fn of_few_pairs_the_largest_wrong_one_counts() {
    let few = evidence(&[(0.4, true), (0.2, false), (0.1, true)]);
    assert!((few.difference().ln_1p() - 0.2).abs() < 1e-12);
    assert!(few.words(None).unwrap().starts_with("only 3 measured pairs"));
    // What nothing tests is said to be untested.
    let none = evidence(&[]);
    assert!((none.difference() - 0.05).abs() < 1e-12);
    assert_eq!(none.words(None).unwrap(), "no measurement tests the model here (untar on FFS)");
}

/// Untar on ext4 was said to differ by 2.3 times between chunks, "differences below 6.9 % are ties", where a real
/// kernel has none.
#[test]
fn what_the_kernel_showed_to_be_off_is_no_choice() {
    let mut found = evidence(&[]);
    found.asked = super::class::Asked::of_test("ext4:untar");
    assert!((found.difference() - 0.51).abs() < 1e-12);
    let said = found.words(None).unwrap();
    assert!(
        said.starts_with("against a real kernel the model was up to 1.51 times off (untar on ext4"),
        "{said}"
    );
    assert!(said.contains("--on kernel"), "{said}");
    // docs/filesystems.md has these.
    let document = include_str!("../../../../docs/filesystems.md");
    for (class, times, figure) in [
        ("ext4:untar", 1.51, "takes the model 1.51 of the kernel's time"),
        ("ext4:newfs", 1.37, "0.73 of the kernel's"),
        ("ext4:mail", 1.32, "0.76 of the kernel's"),
    ] {
        assert!(document.contains(figure), "{figure}");
        found.asked = super::class::Asked::of_test(class);
        assert!((found.difference() - (times - 1.0)).abs() < 1e-12, "{class}");
    }
}

/// A value of ours is off by what those that were held are off by, or nobody knows.
#[test]
fn intervals_of_values_are_what_was_found_for_values() {
    let mut found = evidence(&[]);
    assert_eq!(found.level(), None);
    found.levels = (1..=100).map(|index| 0.01 * f64::from(index)).collect();
    assert!((found.level().unwrap().ln_1p() - 0.95).abs() < 1e-12);
    // Values say how far off a value is; of differences they say nothing.
    assert_eq!(
        found.words(None).unwrap(),
        "the model is 66 % off at the median of 100 measured values of such work; no measurement compares layouts like these \
         (untar on FFS), so the ranking itself is untested"
    );
    found.is_levels_of_kernel = true;
    let said = found.words(None).unwrap();
    let linux = "the model of Linux is 66 % off at the median of 100 measured values of such work (a real kernel over modelled \
                 drives, which tests no drive); ";
    assert!(said.starts_with(linux), "{said}");
    found.is_levels_of_kernel = false;
    found.levels.truncate(1);
    let one = found.words(None).unwrap();
    assert!(
        one.starts_with("the model is 1 % off at the one measured value of such work; "),
        "{one}"
    );
}

/// What the kernel rig measured is of Linux, and what was published is of whole systems.
#[test]
fn cells_of_the_kernel_test_no_drive() {
    let of = |kernel: bool| KEPT.iter().filter(move |pair| pair.is_of_kernel() == kernel);
    let classes = |kernel: bool| -> std::collections::BTreeSet<&str> {
        of(kernel).filter_map(|pair| pair.class.split([':', '-']).next()).collect()
    };
    assert!(classes(true).contains("md") && classes(true).contains("streams"));
    assert!(classes(true).is_disjoint(&classes(false)), "{:?}", classes(true));
}

/// md is held by pairs of its cells, of the choice that is asked about, and direct I/O is not buffered.
#[test]
fn md_is_held_by_its_cells() {
    let pairs = md::pairs();
    let of = |class: &str, factor: &str| {
        pairs.iter().filter(|pair| pair.class == class && pair.factor == factor).collect::<Vec<_>>()
    };
    let chunks = of("md-writes", "volume.interleave of md-raid5");
    let right = chunks.iter().filter(|pair| pair.is_right()).count();
    assert!(chunks.len() > 100 && right * 10 > chunks.len() * 7, "{right} of {}", chunks.len());
    assert!(!of("md-writes", "volume.stripe_cache").is_empty());
    assert!(!of("md-writes", "volume.level").is_empty());
    assert!(!of("md-stripe", "volume.interleave of md-stripe").is_empty());
    let buffered = of("md-buffered-writes", "volume.interleave of md-raid5");
    assert!((1..20).contains(&buffered.len()), "{}", buffered.len());
    // What is set by hand is another matter than what Linux takes by itself.
    assert!(of("md-read-ahead:auto", "volume.read_ahead").is_empty());
    assert!(!of("md-read-ahead:set", "volume.read_ahead").is_empty());
    // Three lines are no cells, and two.
    let levels = pairs.iter().filter(|pair| pair.is_level()).count();
    let lines = include_str!("../../data/md_cells.csv").lines().count() - 3;
    assert_eq!(levels, lines + include_str!("../../data/md_read_ahead.csv").lines().count() - 2);
}

/// A hundred pairs of RAID 0's chunks tested nothing: the cells called it `raid0`, and results `md-stripe`.
#[test]
fn pairs_have_the_names_of_levels_that_results_have() {
    for Pair { factor, table, .. } in KEPT.iter() {
        let Some(level) = factor.strip_prefix("volume.interleave of ") else { continue };
        let named = level.parse::<block::Level>().map(|level| level.to_string());
        assert_eq!(named.as_deref(), Ok(level), "{table}");
    }
}

#[test]
fn chunks_of_md_s_raid_0_are_tested_by_its_cells() {
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use lab::{Keep, run};
    let text = "[volume]\ndrives = '4xst18000nm000j'\nlevel = 'md-raid0'\ninterleave = ['64KiB', '512KiB']\n\
                [workload.w]\ncount = 20\nkind = 'sequential'\nblock = '1MiB'\n";
    let experiment = Experiment::parse("some.toml", text).unwrap();
    let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
    let held = Evidence::of(&ran.manifest, &ran.records(), &["mb_per_s"]);
    assert!(held.pairs.len() > 100, "{}", held.pairs.len());
    let said = held.words(Some(2.0)).unwrap();
    assert!(said.contains("(requests to md-stripe)"), "{said}");
}

/// docs/verdict.md says of md's pairs what the cells say.
#[test]
fn the_documentation_has_the_pairs_of_md() {
    let document = include_str!("../../../../docs/verdict.md");
    let all = [md::pairs(), closed::all()].concat();
    let chunk = "volume.interleave of md-raid";
    let (raid5, raid6) = (format!("{chunk}5"), format!("{chunk}6"));
    let of_parity = [&raid5, &raid6, "volume.stripe_cache", "volume.level"];
    let of_mirrors = format!("{chunk}10");
    let of_read_ahead = [&raid5, &raid6, &of_mirrors, "volume.level"];
    let rows = [
        ("md-writes", &of_parity[..]),
        ("md-buffered-writes", &of_parity[..]),
        ("md-stripe", &["volume.interleave of md-stripe"][..]),
        ("md-read-ahead:auto", &of_read_ahead[..]),
        (closed::RANDOM_READS, &["volume.level"][..]),
        (closed::RANDOM_WRITES, &["volume.level"][..]),
        (closed::READS_IN_ORDER, &["volume.level"][..]),
        (closed::WRITES_IN_ORDER, &["volume.level"][..]),
    ];
    for (class, factors) in rows {
        let [mut number, mut right, mut ties] = [const { Vec::new() }; 3];
        for factor in factors {
            let of: Vec<(f64, bool)> = all
                .iter()
                .filter(|pair| pair.class == class && pair.factor == *factor)
                .map(|pair| (pair.ours().abs(), pair.is_right()))
                .collect();
            let are_right = of.iter().filter(|(_, right)| *right).count();
            number.push(of.len().to_string());
            right.push(format!("{:.0}", 100.0 * are_right as f64 / of.len() as f64));
            let held = Evidence { drive_error: store::WORST_DRIVE_ERROR, ..evidence(&of) };
            let percent = 100.0 * held.difference();
            ties.push(if percent < 10.0 {
                format!("{percent:.1}")
            } else {
                format!("{percent:.0}")
            });
        }
        let [number, right, ties] = [number, right, ties].map(|row| row.join("; "));
        let row = format!("| {number} | {right} % | {ties} % |");
        assert!(document.contains(&row), "docs/verdict.md should have of {class}: {row}");
    }
}

/// docs/verdict.md says on what devices the pairs of levels are.
#[test]
fn the_documentation_has_the_pairs_of_each_class_of_device() {
    let document = include_str!("../../../../docs/verdict.md").replace("\n  ", " ");
    for (said, class) in [
        ("random reads", closed::RANDOM_READS),
        ("random writes", closed::RANDOM_WRITES),
        ("reads in order", closed::READS_IN_ORDER),
        ("writes in order", closed::WRITES_IN_ORDER),
        ("means of latencies", latencies::MEANS),
        ("of groups", streams::MEANS),
    ] {
        let on = |devices: Devices| {
            let is = |pair: &&Pair| pair.class == class && pair.factor == "volume.level";
            KEPT.iter().filter(is).filter(|pair| pair.devices == devices).count()
        };
        let row = format!("{said} {} and {}", on(Devices::Disks), on(Devices::Flash));
        assert!(document.contains(&row), "docs/verdict.md should have {row}");
    }
}

#[test]
fn the_data_are_read() {
    let all = kept();
    let of =
        |class: &str| all.iter().filter(|pair| pair.class == class && !pair.is_level()).count();
    assert!(of("ffs:untar") > 500 && of("stripes") > 0);
    assert!(all.iter().all(|pair| pair.published > 0.0 && pair.simulated > 0.0));
}

/// What tests a rate says nothing of how long requests take.
#[test]
fn times_are_tested_by_times() {
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use lab::{Keep, run};
    let with = |level: &str, work: &str, samples: &[&str]| {
        let text = format!(
            "[volume]\ndrives = '4xst18000nm000j'\nlevel = [{level}]\n[workload.w]\nkind = 'random'\n{work}"
        );
        let experiment = Experiment::parse("some.toml", &text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        Evidence::of(&ran.manifest, &ran.records(), samples)
    };
    let comes = "count = 100\narrivals = 'poisson'\nrequests_per_s = 100\n";
    let of = |level: &str, samples: &[&str]| with(level, comes, samples);
    let linux = "'md-raid10', 'md-raid5'";
    let times = of(linux, &["latency_mean_ms", "latency_p99_ms"]);
    let said = times.words(Some(2.0)).unwrap();
    assert!(said.contains("99th percentiles of random requests that come at a rate"), "{said}");
    assert!(times.difference() < 0.25 && times.pairs.len() > 50, "{}", times.difference());
    let means = of(linux, &["read_mean_ms"]).words(Some(2.0)).unwrap();
    assert!(means.contains("mean times of random requests"), "{means}");
    let rates = of(linux, &["mb_per_s"]).words(Some(2.0)).unwrap();
    assert!(!rates.contains("at a rate"), "{rates}");
    // No other system's times were measured.
    let others = of("'stripe', 'raid5'", &["latency_p99_ms"]).words(Some(2.0)).unwrap();
    assert!(!others.contains("at a rate"), "{others}");
    // Nor any cloud's.
    let text = "[volume]\ndrives = '4xebs-gp3'\nlevel = ['md-raid10', 'md-raid5']\n[workload.w]\nkind = 'random'\ncount = 100\n\
                arrivals = 'poisson'\nrequests_per_s = 100\n";
    let ran = run(&Experiment::parse("some.toml", text).unwrap(), &Sim, Keep::Nowhere, &mut |_| ());
    let ran = ran.unwrap();
    let cloud = Evidence::of(&ran.manifest, &ran.records(), &["latency_p99_ms"]);
    let said = cloud.words(Some(2.0)).unwrap();
    assert_eq!(said, "no measurement tests the model here (how long such requests take)");
    // Nor those of a closed loop, where percentiles are another matter and means are rates.
    let closed = with(linux, "count = 100\ndepth = 8\n", &["latency_p99_ms"]);
    let said = closed.words(Some(2.0)).unwrap();
    assert!(said.starts_with("no measurement tests the model here"), "{said}");
    let means = with(linux, "count = 100\ndepth = 8\n", &["latency_mean_ms"]);
    assert!(!means.words(Some(2.0)).unwrap().contains("at a rate"));
}

/// Streams side by side are tested by such streams. They were a `dd` of their group's name, tested by direct writes in order.
#[test]
fn a_database_is_tested_by_databases() {
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use lab::{Keep, run};
    let with = |drives: &str, pages: &str, log: &str, samples: &[&str]| {
        let text = format!(
            "[volume]\ndrives = '{drives}'\nlevel = ['md-raid10', 'md-raid5']\n[workload.pages]\ngroup = 'db'\nkind = 'random'\n\
             reads_percent = 70\ncount = 100\n{pages}\n[workload.log]\ngroup = 'db'\nkind = 'sequential'\nop = 'write'\n\
             count = 10\n{log}\n"
        );
        let experiment = Experiment::parse("some.toml", &text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        Evidence::of(&ran.manifest, &ran.records(), samples)
    };
    let said = |evidence: &Evidence| evidence.words(Some(2.0)).unwrap();
    let (disks, log) = ("4xst18000nm000j", "flush_every = 1");
    let rates = with(disks, "depth = 4", log, &["mb_per_s"]);
    assert!(
        said(&rates).contains("the rate of small random requests with a flushed log"),
        "{rates:?}"
    );
    let comes = "arrivals = 'poisson'\nrequests_per_s = 100";
    let times = with(disks, comes, log, &["commit_mean_ms", "latency_mean_ms"]);
    assert!(said(&times).contains("mean times of small random requests and of the flushed log"));
    assert!(times.pairs.len() == 47 && times.difference() < 0.25, "{}", times.difference());
    let on_flash = with("4x980-pro-1tb", comes, log, &["commit_mean_ms", "latency_mean_ms"]);
    assert_eq!(on_flash.pairs.len(), 57, "no pair is of both");
    let percentiles = with(disks, comes, log, &["commit_p99_ms", "latency_p99_ms"]);
    assert!(said(&percentiles).contains("99th percentiles of small random requests"));
    // Of other streams, and of a cloud's, nothing was measured.
    for unlike in [
        with(disks, "depth = 4\nblock = '1MiB'", log, &["mb_per_s"]),
        with(disks, "depth = 4", "depth = 8", &["mb_per_s"]),
        with(disks, "depth = 4", "flush_every = 1\ndepth = 8", &["mb_per_s"]),
        with(disks, "depth = 1024", log, &["mb_per_s"]),
        with(disks, "depth = 4\njobs = 16", log, &["mb_per_s"]),
        with(disks, "depth = 4", "flush_every = 1\njobs = 4", &["mb_per_s"]),
        with(disks, "depth = 4\nblock = '8KiB'\nsizes = '8KiB/1:64KiB/1'", log, &["mb_per_s"]),
        with(disks, comes, log, &["latency_p99_ms", "commits_per_s"]),
        with(
            disks,
            "[workload.other]\ngroup = 'db'\nkind = 'random'\nblock = '1MiB'",
            log,
            &["mb_per_s"],
        ),
        with("4xebs-gp3", "depth = 4", log, &["mb_per_s"]),
        with(disks, comes, log, &["latency_p999_ms"]),
    ] {
        let nothing = "no measurement tests the model here (such streams side by side)";
        assert_eq!(said(&unlike), nothing);
    }
}

/// RAID 10 against RAID 5 under requests in a closed loop: "no measurement compares layouts like these", though the
/// kernel's own are on record.
#[test]
fn a_level_under_a_closed_loop_is_tested_by_drawn_cells() {
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use lab::{Keep, run};
    let ran = |volume: &str, work: &str| {
        let text = format!("[volume]\n{volume}\n[workload.w]\ncount = 20\n{work}\n");
        let experiment = Experiment::parse("some.toml", &text).unwrap();
        run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap()
    };
    let with = |volume: &str, work: &str, samples: &[&str]| {
        let ran = ran(volume, work);
        Evidence::of(&ran.manifest, &ran.records(), samples)
    };
    let said = |evidence: &Evidence| evidence.words(Some(2.0)).unwrap();
    let volume = "drives = '4xst18000nm000j'\nlevel = ['md-raid10', 'md-raid5']";
    let writes = with(volume, "kind = 'random'\nop = 'write'", &["mb_per_s"]);
    assert!(said(&writes).contains("(random writes over Linux's layouts)"), "{}", said(&writes));
    assert!(writes.pairs.len() == 34 && writes.difference() < 0.1, "{}", writes.difference());
    let flash = volume.replace("st18000nm000j", "980-pro-1tb");
    let on_flash = with(&flash, "kind = 'random'\nop = 'write'", &["mb_per_s"]);
    assert_eq!(on_flash.pairs.len(), 69, "no pair is of both");
    let reads = with(volume, "kind = 'sequential'\ndepth = 16", &["mb_per_s"]);
    assert!(
        said(&reads).contains("(direct reads in order over Linux's layouts)"),
        "{}",
        said(&reads)
    );
    // A mean in a closed loop is a rate; a percentile is not.
    let mean = with(volume, "kind = 'random'", &["latency_mean_ms"]);
    assert!(said(&mean).contains("(random reads over Linux's layouts)"), "{}", said(&mean));
    // What no cell is like is tested by none.
    let is_tested = |found: &Evidence| said(found).contains("over Linux's layouts");
    let random = "kind = 'random'";
    for unlike in [
        with(volume, random, &["latency_p99_ms"]),
        with(volume, "kind = 'random'\ndepth = 256", &["mb_per_s"]),
        with(volume, "kind = 'random'\nblock = '4MiB'", &["mb_per_s"]),
        with(volume, "kind = 'sequential'\ndirect = false", &["mb_per_s"]),
        with(&format!("{volume}\nfailed = '0'"), random, &["mb_per_s"]),
        with(
            "drives = '4xgp3[size=100GiB]'\nlevel = ['md-raid10', 'md-raid5']",
            random,
            &["mb_per_s"],
        ),
        with(
            "drives = '8xst18000nm000j'\nlevel = ['md-raid10', 'md-raid50']",
            random,
            &["mb_per_s"],
        ),
        with("drives = '4xst18000nm000j'\nlevel = ['raid10', 'raid5']", random, &["mb_per_s"]),
        with(volume, "kind = 'random'\nop = 'write'\nflush_every = 1", &["mb_per_s"]),
        with(volume, "kind = 'random'\naccess = 'zipf:1.1'", &["mb_per_s"]),
        with(volume, "kind = 'random'\nspan = '1GiB'", &["mb_per_s"]),
        with(volume, "kind = 'sequential'\njobs = 4", &["mb_per_s"]),
        with(&format!("{volume}\nbitmap = 'internal'"), random, &["mb_per_s"]),
    ] {
        assert!(!is_tested(&unlike), "{}", said(&unlike));
    }
    // Below a real kernel only the drives are models.
    let mut below = ran(volume, random);
    below.manifest.machine.insert("kernel".into(), "Linux 6.1".into());
    let below = Evidence::of(&below.manifest, &below.records(), &["mb_per_s"]);
    assert!(!is_tested(&below) && below.pairs.is_empty(), "{}", said(&below));
    // Cells that differ in the chunk alone, of which there are many, are closer to a question of chunks.
    let chunks = "drives = '4xst18000nm000j'\nlevel = 'md-raid5'\ninterleave = ['64KiB', '512KiB']";
    let writes = with(chunks, "kind = 'sequential'\nop = 'write'", &["mb_per_s"]);
    assert!(
        said(&writes).contains("direct writes in order to md's RAID 5 and 6"),
        "{}",
        said(&writes)
    );
}

/// No cell is of a shingled disk, whose model is an estimate.
#[test]
fn cells_of_other_disks_say_nothing_of_shingled_ones() {
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use lab::{Keep, run};
    let found = |drive: &str| {
        let text = format!(
            "[volume]\ndrives = '4x{drive}'\nlevel = ['md-raid10', 'md-raid5']\n[workload.w]\nkind = 'random'\n\
             block = '8KiB'\ncount = 20\n"
        );
        let experiment = Experiment::parse("some.toml", &text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        Evidence::of(&ran.manifest, &ran.records(), &["mb_per_s"])
    };
    let said = found("st18000nm000j").words(Some(2.0)).unwrap();
    assert!(!said.starts_with("no measurement"), "{said}");
    let shingled = found("wd40efax");
    let said = shingled.words(Some(2.0)).unwrap();
    assert!(said.starts_with("no measurement tests the model here"), "{said}");
    assert_eq!(shingled.level(), None);
}

/// "only 3 measured pairs of layouts test the model here (raw requests to a stripe or mirror)" was said of EBS and of flash: of two
/// SCSI disks of 1998.
#[test]
fn pairs_of_disks_test_neither_clouds_nor_flash() {
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use lab::{Keep, run};
    let found = |drive: &str, volume: &str, work: &str| {
        let text = format!(
            "[volume]\ndrives = '4x{drive}'\n{volume}\n[workload.w]\nblock = '64KiB'\ncount = 20\n{work}\n"
        );
        let experiment = Experiment::parse("some.toml", &text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        Evidence::of(&ran.manifest, &ran.records(), &["mb_per_s"])
    };
    let stripe = "level = 'stripe'\ninterleave = ['16KiB', '64KiB']";
    let disks = found("st118273lc", stripe, "");
    assert!(disks.words(None).unwrap().starts_with("only 3 measured pairs"), "{disks:?}");
    let nothing = "no measurement tests the model here (raw requests to a stripe or mirror)";
    for drive in ["gp3[size=100GiB]", "980-pro-1tb"] {
        assert_eq!(found(drive, stripe, "").words(None).unwrap(), nothing, "{drive}");
    }
    // md's cells are of both.
    let writes = "kind = 'sequential'\nop = 'write'";
    let raid5 = "level = 'md-raid5'\ninterleave = ['64KiB', '512KiB']";
    let of = |drive: &str| found(drive, raid5, writes);
    let [disk, flash, cloud] = ["st18000nm000j", "980-pro-1tb", "gp3[size=100GiB]"].map(of);
    assert!(disk.pairs.len() > flash.pairs.len() && !flash.pairs.is_empty());
    // What nothing tests is judged no finer than what something does.
    assert!(cloud.pairs.is_empty() && cloud.near.iter().any(|pairs| !pairs.is_empty()));
    assert!(cloud.difference() >= disk.difference(), "{}", cloud.difference());
}

/// Four pairs of 3 % were all wrong, and condemned a difference of 11 times of which they say nothing.
#[test]
fn pairs_that_hardly_differ_say_nothing_of_a_large_difference() {
    let small = evidence(&[(0.03, false), (0.02, false), (0.01, false), (0.01, false)]);
    let said = |ratio: f64| small.words(Some(ratio)).unwrap();
    assert!(
        said(1.11).ends_with("differ by at most 3 %: nothing tests a difference like this one")
    );
    assert!(said(1.02).ends_with("it ranks 0 of them correctly"), "{}", said(1.02));
    let even =
        evidence(&[(0.3, true); 10].into_iter().chain([(0.3, false); 8]).collect::<Vec<_>>());
    let said = even.words(Some(1.2)).unwrap();
    assert!(said.ends_with("it ranks 10 of them correctly, little better than a guess"), "{said}");
    // 3 of 7 is worse than a coin.
    let of = |right: usize| {
        let pairs: Vec<bool> = (0..20).map(|place| place < right).collect();
        super::said::as_guesses(&pairs)
    };
    assert_eq!(
        [11, 10, 14].map(of),
        [", little better than a guess", ", no better than a guess", ""]
    );
}
