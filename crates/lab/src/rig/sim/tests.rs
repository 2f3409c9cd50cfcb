//! What the sim rig admits, and what its trials have.

use super::*;
use crate::experiment::{Experiment, Plan, Setup};
use crate::machine;
use crate::rig::{self, admit::admit_volume};
use crate::workload::{KINDS, Kind};
use sim::Processor;

fn setup(text: &str) -> std::sync::Arc<Setup> {
    let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
    std::sync::Arc::clone(&plan.trials[0].setup)
}

/// A part of a drive is all there is of it, whatever the level.
#[test]
fn a_single_drive_has_as_many_sectors_as_are_used_of_it() {
    let sectors = |drives: &str| {
        let text = format!("[volume]\ndrives = \"{drives}\"\nlevel = \"single\"\n[workload.a]\n");
        machine::volume(&setup(&text), 1, &Processor::default())
            .unwrap()
            .geometry()
            .target_sectors
            .clone()
    };
    assert_eq!(sectors("wd740gd:1GiB"), [1 << 21]);
    let whole = crate::catalogue::drive("wd740gd").unwrap().sectors();
    assert_eq!(sectors("wd740gd"), [whole]);
}

/// Behind the smallest member's end a larger one has nothing of the volume to lose.
#[test]
fn a_larger_member_that_cannot_be_missed_may_not_fail() {
    let text = "[volume]\ndrives = \"xp32150w+wd740gd\"\nlevel = \"ccd-uniform\"\nfailed = \"1\"\n\
                [workload.a]\n";
    let setup = setup(text);
    let message = admit_volume(&setup.volume).err().unwrap().to_string();
    assert!(message.contains("cannot do without member 1"), "{message}");
}

/// The model of md's parity has 64 bits for members, and each array of a nested level has its own.
#[test]
fn more_members_of_mds_parity_than_are_modelled_are_refused_beforehand() {
    let admitted = |drives: &str, level: &str| {
        let text = format!(
            "[volume]\ndrives = \"{drives}\"\nlevel = \"{level}\"\n[workload.a]\nkind = \"random\"\n"
        );
        let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
        Sim.admit(&plan.trials[0]).map_err(|error| error.to_string())
    };
    let said = admitted("65xwd740gd", "md-raid5").unwrap_err();
    assert!(said.contains("`volume.drives`: 65 members of `volume.level` = md-raid5"), "{said}");
    assert!(said.contains("up to 64"), "{said}");
    for (drives, level) in
        [("64xwd740gd", "md-raid6"), ("65xwd740gd", "md-stripe"), ("65xwd740gd", "raid5")]
    {
        assert_eq!(admitted(drives, level), Ok(()), "{drives} {level}");
    }
}

#[test]
fn a_workload_that_outlasts_the_clock_is_refused() {
    let message = |keys: &str| {
        let text = format!("[volume]\ndrives = \"wd740gd\"\n[workload.a]\n{keys}");
        let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
        Sim.admit(&plan.trials[0]).map_err(|error| error.to_string())
    };
    for keys in [
        "think = '8784h'\ncount = 200",
        "rate = '1B/s'\ncount = 1_000_000",
        "rate = '1B/s'\namount = '1TiB'",
        "requests_per_s = 1\ncount = 1_000_000_000_000",
        "count = 1_000_000_000_000\nblock = '64MiB'",
        "amount = 14_000_000_000_000_000",
    ] {
        let said = message(keys).unwrap_err();
        assert!(said.contains("`workload.a` would take more than a hundred years"), "{said}");
        message(&format!("{keys}\nruntime = '1s'")).unwrap();
    }
    message("think = '8784h'\ncount = 99").unwrap();
}

#[test]
fn a_rebuild_that_outlasts_the_clock_is_refused() {
    let admit = |rate: &str| {
        let text = format!(
            "[volume]\ndrives = \"2xwd740gd\"\nlevel = \"mirror\"\nfailed = \"1\"\nrebuild = \
             '{rate}B/s'\n[workload.a]\n"
        );
        let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
        Sim.admit(&plan.trials[0]).map_err(|error| error.to_string())
    };
    let said = admit("1").unwrap_err();
    assert!(
        said.contains("`volume.rebuild` of 1 B/s") && said.contains("give 24 B/s or"),
        "{said}"
    );
    admit("24").unwrap();
}

#[test]
fn programs_that_use_files_do_not_run_side_by_side() {
    let text = "[volume]\ndrives = \"wd740gd\"\n[fs]\nnewfs = \"4.4bsd\"\n\
                [workload.a]\nkind = \"touch\"\ngroup = \"g\"\n[workload.b]\nkind = \"touch\"\n\
                group = \"g\"\n";
    let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
    let message = Sim.admit(&plan.trials[0]).unwrap_err().to_string();
    assert!(message.contains("`workload.a` and `workload.b` are of one group"), "{message}");
}

/// Of each program and each sort of blocks: what a trial has is what was said of it beforehand.
#[test]
fn a_trial_has_the_samples_that_are_expected_of_it() {
    let volume = "[volume]\ndrives = '4xwd740gd:256MiB'\nlevel = 'raid10'\n";
    let blocks = "[workload.w]\nkind = 'random'\ncount = 40\n";
    let texts = [
        format!("{volume}{blocks}"),
        format!("{volume}{blocks}op = 'write'\nflush_every = 8\n"),
        // Whether caches took all of so few writes nobody knows, which would be one more sample.
        format!(
            "{volume}{blocks}reads_percent = 50\nrate = '1MB/s'\n[drive]\nwrite_cache = false\n"
        ),
        format!("{volume}failed = '0'\nrebuild = '200MB/s'\n{blocks}"),
    ];
    let small = [
        ("files", "60"),
        ("directories", "4"),
        ("size", "'1MiB'"),
        ("readers", "2"),
        ("files_per_reader", "10"),
    ];
    let program = |kind: &&Kind| {
        let keys = small.iter().filter(|(key, _)| kind.has(key));
        let keys: Vec<String> = keys.map(|(key, value)| format!("{key} = {value}")).collect();
        format!(
            "[host]\nname = 'a8v-netbsd-2'\n{volume}[fs]\nnewfs = 'netbsd2'\n[workload.w]\n\
             kind = '{}'\n{}",
            kind.name,
            keys.join("\n")
        )
    };
    // Those that others run have no model.
    let has_model =
        |kind: &&&Kind| kind.uses_files() && !["command", "fio", "power-cut"].contains(&kind.name);
    let programs = KINDS.iter().filter(has_model);
    for text in texts.into_iter().chain(programs.map(program)) {
        let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
        let trial = &plan.trials[0];
        Sim.admit(trial).unwrap();
        let measured = rig::run(&Sim, trial).unwrap().samples.into_iter().map(|(name, _)| name);
        assert_eq!(measured.collect::<Vec<_>>(), Sim.samples(trial), "{text}");
    }
}

/// Three disks, and a log that is flushed; `more` is for the volume, `log` for the log.
fn with_log(more: &str, log: &str) -> Trial {
    let text = format!(
        "[host]\nname = 'linux-6.1'\n[volume]\ndrives = '3xwd740gd'\nlevel = 'md-raid5'\n{more}\n\
         [workload.log]\nop = 'write'\nblock = '4KiB'\nflush_every = 1\ncount = 50\noffset = '64GiB'\n\
         span = '62GiB'\n{log}\n"
    );
    Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap().trials[0].clone()
}

/// Each of three members of RAID 5 and each of two of the log, busy or not; without drives of its own a log is on the volume.
#[test]
fn a_log_keeps_its_own_drives_busy() {
    let busy = |more: &str, log: &str| {
        let measured = rig::run(&Sim, &with_log(more, log)).unwrap();
        assert_eq!(measured.value("faults"), Some(0.0));
        (measured.member_busy.iter().map(|&share| share > 0.0).collect::<Vec<_>>(), measured)
    };
    let (of_two, _) = busy("log_drives = '2xwd740gd:60GiB'", "to_log = true");
    assert_eq!(of_two, [false, false, false, true, true]);
    let (of_one, _) = busy("log_drives = 'wd740gd:60GiB'", "to_log = true");
    assert_eq!(of_one, [false, false, false, true]);
    let (on_volume, told) = busy("log_drives = 'none'", "to_log = true");
    let (_, plain) = busy("", "");
    assert_eq!((on_volume, told.samples), (vec![true; 3], plain.samples));
}

/// A disk at 98 cached writes a second writes for most of the time, though a write has its cache after 0.2 ms.
#[test]
fn a_disk_that_empties_its_cache_is_busy() {
    let busy = |think: &str| {
        let text = format!(
            "[volume]\ndrives = '1xwd740gd'\nlevel = 'single'\n[host]\nname = 'ideal'\n[workload.a]\nkind = 'random'\n\
             op = 'write'\nblock = '4KiB'\ncount = 3000\nthink = '{think}'\n"
        );
        let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
        rig::run(&Sim, &plan.trials[0]).unwrap().member_busy[0]
    };
    let (all, most, some) = (busy("0"), busy("10ms"), busy("40ms"));
    assert!(all > 0.99 && all <= 1.0, "{all}");
    assert!((0.6..0.9).contains(&most), "{most}");
    assert!((0.1..0.3).contains(&some), "{some}");
}

#[test]
fn a_log_that_nothing_goes_to_and_one_where_there_is_one_volume_are_refused() {
    let refused = |trial: &Trial| Sim.admit(trial).unwrap_err().to_string();
    let said = refused(&with_log("log_drives = 'wd740gd'", ""));
    assert!(said.contains("set `to_log = true`"), "{said}");
    // The span is what there is of it; its offset is for the volume.
    Sim.admit(&with_log("log_drives = 'wd740gd:1MiB'", "to_log = true")).unwrap();
    let said = refused(&with_log("log_drives = 'wd740gd:4'", "to_log = true"));
    assert!(said.contains("does not fit in the 4 sectors"), "{said}");
    let files = "[volume]\ndrives = 'wd740gd'\nlog_drives = 'wd740gd'\n[fs]\nkind = 'ext4'\n[workload.w]\nkind = 'untar'\n";
    let plan = Plan::new(&Experiment::parse("x.toml", files).unwrap()).unwrap();
    let said = refused(&plan.trials[0]);
    assert!(said.contains("`volume.log_drives`") && said.contains("without `[fs]`"), "{said}");
}

#[test]
fn a_group_commit_needs_requests_by_the_clock_and_flushes() {
    let refused = |keys: &str| {
        let text =
            format!("[volume]\ndrives = 'wd740gd'\n[workload.w]\ngroup_commit = true\n{keys}");
        Experiment::parse("x.toml", &text)
            .and_then(|experiment| Plan::new(&experiment))
            .err()
            .map(|error| error.to_string())
    };
    let said = refused("flush_every = 1").unwrap();
    assert!(
        said.contains("`workload.w.group_commit` is for requests that come by the clock"),
        "{said}"
    );
    let said = refused("arrivals = 'poisson'\nrequests_per_s = 9").unwrap();
    assert!(said.contains("set `flush_every = 1`, too"), "{said}");
    assert_eq!(
        refused("op = 'write'\narrivals = 'poisson'\nrequests_per_s = 9\nflush_every = 1"),
        None
    );
}

/// mkfs writes all inode tables at once, which on large disks takes minutes, and is no part of unpacking.
#[test]
fn making_the_file_system_is_no_part_of_the_work() {
    let text = "[volume]\ndrives = '2xst18000nm000j'\nlevel = 'md-mirror'\n[fs]\nkind = 'ext4'\n\
                [workload.w]\nkind = 'untar'\nfiles = 50\ndirectories = 5\nsize = '1MiB'\n";
    let plan = Plan::new(&Experiment::parse("x.toml", text).unwrap()).unwrap();
    let measured = rig::run(&Sim, &plan.trials[0]).unwrap();
    let value = |name: &str| measured.value(name).unwrap();
    let parts = ["tar_s", "umount_after_tar_s", "rm_s", "umount_after_rm_s"];
    let work_s: f64 = parts.into_iter().map(value).sum();
    assert!(value("newfs_s") > 10.0 * work_s, "{} {work_s}", value("newfs_s"));
    assert!((value("elapsed_s") / work_s - 1.0).abs() < 0.01, "{} {work_s}", value("elapsed_s"));
    // Nor are its bytes: they would be as many as the media move.
    assert!(value("mb_per_s") * work_s < 100.0, "{}", value("mb_per_s"));
    // Nor are its commands, nor the time that the members were busy with them.
    assert!(measured.requests < 1000, "{} commands for 50 files", measured.requests);
    assert!(measured.member_busy.iter().all(|busy| (0.0..=1.0).contains(busy)));
}
