//! md on the drives that it was measured on, from an experiment file to a sample: the ways of `ileave run`.

use super::*;
use crate::experiment::{Experiment, Plan};
use crate::machine;
use crate::record::Measured;
use crate::rig::jobs::jobs;
use crate::steady::{self, Bits, Caches};
use sim::{Batches, Processor};

/// The throughput in MB/s of a measured cell as an experiment states it.
fn mb_per_s(volume: &str, workload: &str) -> f64 {
    let text = format!(
        "[host]\nname = \"linux-6.1-virtual\"\n[volume]\n{volume}\n[workload.w]\n{workload}end_fsync = true\n"
    );
    let plan = Plan::new(&Experiment::parse("md.toml", &text).unwrap()).unwrap();
    let trial = &plan.trials[0];
    Sim.admit(trial).unwrap();
    let measured = Sim.prepare(trial).unwrap().measure().unwrap();
    measured.samples.iter().find(|(name, _)| *name == "mb_per_s").unwrap().1
}

fn sequential(op: &str, block: &str, depth: u32, amount: &str) -> String {
    format!(
        "kind = 'sequential'\nop = '{op}'\nblock = '{block}'\ndepth = {depth}\namount = '{amount}'\n"
    )
}

fn assert_near(what: &str, rate: f64, measured: f64) {
    assert!((rate / measured - 1.0).abs() <= 0.15, "{what}: {rate:.1} MB/s, measured {measured}");
}

/// Cells of `crates/sim/tests/it/md_write_path.csv`, each with the rate that stands there.
#[test]
fn measured_cells_come_out_of_an_experiment() {
    let hdd = "drives = '8xmd-hdd'\n";
    let level = |level: &str, chunk: &str| format!("level = '{level}'\ninterleave = '{chunk}'\n");
    let raid5 = format!("{hdd}{}", level("md-raid5", "64KiB"));
    let write = |block, depth, amount| sequential("write", block, depth, amount);
    let cells = [
        ("RAID 5, 64K x 8", raid5.clone(), write("64KiB", 8, "1GiB"), 53.3),
        ("RAID 5, 1M x 8", raid5.clone(), write("1MiB", 8, "1GiB"), 633.0),
        ("RAID 5 of 448K x 8", raid5.clone(), write("448KiB", 8, "1048320KiB"), 1704.0),
        (
            "RAID 6, 512K chunk, 4M x 8",
            format!("{hdd}{}", level("md-raid6", "512KiB")),
            write("4MiB", 8, "1GiB"),
            572.0,
        ),
        (
            "RAID 0, 64K x 64",
            format!("{hdd}{}", level("md-raid0", "64KiB")),
            write("64KiB", 64, "1GiB"),
            1939.7,
        ),
        (
            "RAID 5 of 4096 rows, buffered",
            format!("{raid5}stripe_cache = 4096\n"),
            write("1MiB", 1, "1536MiB") + "direct = false\n",
            1662.0,
        ),
        ("RAID 5, read 1M x 8", raid5, sequential("read", "1MiB", 8, "1GiB"), 1703.4),
        (
            "RAID 5 of flash, 1M x 8",
            format!("drives = '8xmd-flash'\n{}", level("md-raid5", "64KiB")),
            write("1MiB", 8, "1GiB"),
            11675.4,
        ),
        (
            "RAID 5, random",
            format!("{hdd}{}", level("md-raid5", "64KiB")),
            "kind = 'random'\nop = 'write'\nblock = '4KiB'\ndepth = 32\namount = '8MiB'\n".into(),
            0.89,
        ),
    ];
    for (what, volume, workload, measured) in cells {
        assert_near(what, mb_per_s(&volume, &workload), measured);
    }
}

/// LVM's RAID 5 keeps a bitmap, whose bits stand for 2 MiB: nearly each write at random waits for one. md's has one where it is
/// asked for. A kernel makes 0.448 and 1.99 MB/s of this with 1000 writes a job (docs/md.md).
#[test]
fn lvm_pays_for_a_bitmap_with_every_write_at_random() {
    let rate = |level: &str| {
        let volume =
            format!("drives = '3xst18000nm000j:8GiB'\ninterleave = '64KiB'\nlevel = '{level}'");
        mb_per_s(&volume, "kind = 'random'\nop = 'write'\nblock = '8KiB'\njobs = 4\ncount = 200\n")
    };
    assert!(
        rate("lvm-raid5") < 0.3 * rate("md-raid5"),
        "{} {}",
        rate("lvm-raid5"),
        rate("md-raid5")
    );
}

/// With the write cache on, the flush at the end is inside the time.
#[test]
fn a_flush_at_the_end_is_inside_the_time() {
    let volume = "drives = '1xmd-hdd'\nlevel = 'single'\n[drive]\nwrite_cache = true";
    let rate = mb_per_s(volume, &sequential("write", "1MiB", 1, "32MiB"));
    assert!(rate < 260.0, "the medium moves 250 MB/s, the link 550: {rate}");
}

/// Pieces of one request that are neighbours on a member are one command, so that a small chunk costs no more
/// than a large one, as is measured on md RAID 0 (chunks from 4 to 32 KiB differ by less than 1 %).
#[test]
fn a_small_chunk_of_md_raid_0_costs_no_more_commands() {
    let read = |level: &str, chunk: &str| {
        let volume = format!(
            "drives = '4xst91000640ss'\nlevel = '{level}'\ninterleave = '{chunk}'\n[drive]\nqueue_depth = 32"
        );
        mb_per_s(&volume, &sequential("read", "512KiB", 4, "256MiB"))
    };
    let rates = ["4KiB", "8KiB", "16KiB", "32KiB"].map(|chunk| read("md-raid0", chunk));
    let most = rates.iter().copied().fold(0.0, f64::max);
    assert!(rates.iter().all(|rate| rate / most > 0.99), "{rates:?}");
    assert!(read("stripe", "4KiB") < 0.9 * most, "nothing merges what another system cuts");
}

/// What of the page cache is not modelled is refused, not answered as direct I/O.
#[test]
fn buffered_work_that_is_not_modelled_is_refused() {
    let admitted = |volume: &str, work: &str| {
        let text = format!("[volume]\n{volume}\n[workload.w]\ndirect = false\n{work}");
        let plan = Plan::new(&Experiment::parse("md.toml", &text).unwrap()).unwrap();
        Sim.admit(&plan.trials[0]).map_err(|error| error.to_string())
    };
    let raid5 = "drives = '4xmd-hdd'\nlevel = 'md-raid5'";
    assert_eq!(admitted(raid5, "kind = 'sequential'\nop = 'write'\n"), Ok(()));
    assert_eq!(admitted(raid5, "kind = 'sequential'\nop = 'read'\n"), Ok(()));
    for (volume, work) in [
        (raid5, "kind = 'random'\nop = 'write'\n"),
        (raid5, "kind = 'sequential'\nop = 'read'\ndepth = 2\n"),
        (raid5, "kind = 'sequential'\nreads_percent = 50\n"),
        ("drives = '4xmd-hdd'\nlevel = 'raid5'", "kind = 'sequential'\nop = 'write'\n"),
        ("drives = '4xmd-flash'\nlevel = 'md-raid5'", "kind = 'sequential'\nop = 'write'\n"),
    ] {
        let error = admitted(volume, work).unwrap_err();
        assert!(error.contains("workload.w.direct") && error.contains("direct I/O"), "{error}");
    }
}

/// A RAID 5 that was restored meanwhile reads before it writes as before, however large the writes are.
#[test]
fn large_writes_follow_a_rebuild() {
    let volume = "drives = '4xmd-hdd:64MiB'\nlevel = 'md-raid5'\ninterleave = '64KiB'\n";
    let rebuilt = format!("{volume}failed = '1'\nrebuild = '1GB/s'\n");
    let rate = mb_per_s(&rebuilt, &sequential("write", "2MiB", 2, "600MiB"));
    assert!((50.0..500.0).contains(&rate), "{rate}");
}

/// What is restored sets no bit of a bitmap, and parity that is written meanwhile has no sector of the array: what a bitmap does to
/// a rebuild is over when the load has set its own bits. Of the first 300 MiB it is a twentieth (the kernel makes 181 MB/s
/// of them with a bitmap and without).
#[test]
fn a_bitmap_costs_a_rebuild_nothing_that_lasts() {
    let rebuilt = "failed = '1'\nrebuild = '1GB/s'\n";
    let rate = |level: &str, bitmap: &str, amount: &str| {
        let volume = format!(
            "drives = '4xmd-hdd:64MiB'\nlevel = '{level}'\ninterleave = '64KiB'\n{bitmap}{rebuilt}"
        );
        mb_per_s(&volume, &sequential("write", "2MiB", 2, amount))
    };
    let [without, with] =
        ["", "bitmap = 'internal'\n"].map(|bitmap| rate("md-raid5", bitmap, "6GiB"));
    assert!((with / without - 1.0).abs() < 0.02, "{with}, and {without} without");
    let copies = ["", "bitmap = 'internal'\n"].map(|bitmap| rate("md-raid10", bitmap, "300MiB"));
    assert!(copies[1] > 0.8 * copies[0], "{copies:?}");
    assert!(rate("lvm-raid5", "", "300MiB") > 0.5 * without);
}

/// What a kernel would have measured: the same machine, and nobody says how long requests wait for bits.
fn timed(text: &str) -> Measured {
    timed_and_told(text, None)
}

/// The same, where it is told how many bytes write caches held when all was done.
fn timed_and_told(text: &str, held_bytes: Option<u64>) -> Measured {
    let plan = Plan::new(&Experiment::parse("md.toml", text).unwrap()).unwrap();
    let trial = &plan.trials[0];
    let processor = Processor::default();
    let device = machine::with_log(&trial.setup, trial.seed, &processor).unwrap();
    let (mut device, _) = machine::for_programs(trial, device);
    let room = machine::write_cache_bytes(&trial.setup).unwrap();
    let caches = Caches::Assumed(room);
    let mut jobs = jobs(trial, &device.geometry().target_sectors);
    let mut enough = |batches: &Batches| steady::enough(trial, caches, Bits::Timed, batches);
    let recorded = sim::run_jobs(&processor, &mut *device, &mut jobs, &mut enough, &|| false);
    let recorded = recorded.unwrap();
    let told = |held| Caches::Told { room, held };
    let caches = held_bytes.map_or(caches, told);
    steady::measured(trial, &recorded, caches, Bits::Timed)
}

/// Commits of which a drive held one page were "26 % held" in the kernel, and ranked nothing.
#[test]
fn what_caches_held_at_the_end_says_whether_a_job_was_steady() {
    let text = "[volume]\ndrives = '2x980-pro-1tb:8GiB'\nlevel = 'md-stripe'\n[workload.w]\nkind = 'sequential'\n\
                op = 'write'\nblock = '16KiB'\nflush_every = 1\ncount = 1000\n";
    let [assumed, told, much] =
        [None, Some(16 << 10), Some(8 << 20)].map(|held| timed_and_told(text, held));
    assert_eq!(
        [&assumed, &told, &much].map(|of| value(of, "steady")),
        [Some(0.0), Some(1.0), Some(0.0)]
    );
    assert!(value(&told, "cached_share").unwrap() < 0.002);
    // Who is to move more is told so by what caches have room for, not by what they happened to hold.
    assert_eq!(value(&much, "needed_mib"), value(&assumed, "needed_mib"));
}

/// Caches that were full when the measured part began counted as filled in it, and no such work was steady in the kernel.
#[test]
fn work_without_an_end_may_have_filled_caches_before_it_was_measured() {
    let text = "[volume]\ndrives = '2xst18000nm000j[write_buffer_sectors=32768]'\nlevel = 'md-stripe'\n[workload.w]\n\
                kind = 'sequential'\nop = 'write'\nblock = '1MiB'\ndepth = 8\n";
    let held = [None, Some(32 << 20)].map(|held| timed_and_told(text, held));
    assert_eq!(held.each_ref().map(|of| value(of, "steady")), [Some(1.0); 2]);
}

/// The value of a sample.
fn value(measured: &Measured, name: &str) -> Option<f64> {
    measured.samples.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// A kernel's trial ended after 0.2 s, at less than half of the rate that lasts.
#[test]
fn where_nobody_counts_waits_for_bits_a_trial_goes_on_until_writes_have_set_them() {
    let random = "[run]\nprecision = '5%'\n[volume]\ndrives = '4xd3-s4610-480gb'\nlevel = 'md-raid10'\n\
                  interleave = '512KiB'\n[workload.w]\nkind = 'random'\nreads_percent = 60\nblock = '8KiB'\n\
                  depth = 32\nprograms = 32\n";
    let text = random.replace("[workload.w]", "bitmap = 'internal'\n[workload.w]");
    let [with, without] = [timed(&text), timed(random)];
    let rates = [&with, &without].map(|measured| value(measured, "mb_per_s").unwrap());
    assert!((rates[0] / rates[1] - 1.0).abs() < 0.05, "{rates:?}");
    assert_eq!(value(&with, "steady"), Some(1.0));
    let [job, job_without] =
        [&text[..], random].map(|text| timed(&format!("{text}count = 5000\n")));
    assert_eq!(value(&job, "steady"), Some(0.0));
    assert_ne!(value(&job_without, "steady"), Some(0.0));
}
