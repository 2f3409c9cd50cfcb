//! Bad input: one clear error each, with the file, the key, the value and the next step.

use super::{experiment, ileave, scratch, stdout};
use std::path::Path;

const GOOD: &str = "
[volume]
drives = \"2xst118273lc\"
interleave = 64
[workload.read]
op = \"read\"
count = 10
";

/// The error of a run that must fail with `status`; it must not panic.
fn error(directory: &Path, arguments: &[&str], status: i32) -> String {
    let output = ileave(directory, arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {error}");
    assert!(error.starts_with("error: ") && !error.contains("panicked"), "{error}");
    error
}

/// The error of running this text as an experiment.
fn error_of(text: &str) -> String {
    let scratch = scratch();
    std::fs::write(scratch.path().join("mine.toml"), text).unwrap();
    let error = error(scratch.path(), &["run", "mine.toml"], 2);
    assert!(error.contains("mine.toml"), "the file is not named: {error}");
    assert!(!scratch.path().join("ileave-results").exists(), "it left results behind");
    error
}

/// All of `words` are in the error of `text`.
fn says(text: &str, words: &[&str]) {
    let error = error_of(text);
    for word in words {
        assert!(error.contains(word), "no `{word}` in: {error}");
    }
}

/// Neither a time budget of nothing nor no trial at a time is a run.
#[test]
fn nothing_is_no_time_budget_and_no_number_of_lanes() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("mine.toml"), GOOD).unwrap();
    for (flag, value, words) in [
        ("--for", "0s", "it must be above 0, as in 2h"),
        ("--for", "0ns", "it must be above 0, as in 2h"),
        ("--lanes", "0", "it must be a whole number from 1"),
        ("--lanes", "two", "it must be a whole number from 1"),
    ] {
        let said = error(scratch.path(), &["run", "mine.toml", flag, value], 2);
        assert!(said.contains(words) && !said.contains("18446744073709551615"), "{said}");
    }
}

/// 64 kB ran as 64,000 bytes, an interleave that no array has.
#[test]
fn an_interleave_in_powers_of_ten_is_refused() {
    let of = |interleave: &str| GOOD.replace("interleave = 64", interleave);
    let words = ["mine.toml", "`volume.interleave`", "64000 bytes; did you mean `64KiB`?"];
    says(&of("interleave = [\"64KB\", \"512KB\"]"), &words);
    says(
        &format!("{GOOD}block = \"512kB\"\n"),
        &["`workload.read.block`", "did you mean `512KiB`?"],
    );
    let scratch = scratch();
    std::fs::write(scratch.path().join("mine.toml"), GOOD).unwrap();
    let said = error(scratch.path(), &["run", "mine.toml", "--set", "volume.interleave=64kB"], 2);
    assert!(said.contains("did you mean `64KiB`?"), "{said}");
}

#[test]
fn the_good_file_runs() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("mine.toml"), GOOD).unwrap();
    stdout(scratch.path(), &["run", "mine.toml"]);
}

/// Arrays side by side are equal, share nothing in the model, and are md's.
#[test]
fn arrays_side_by_side_that_cannot_be() {
    let of = |volume: &str, more: &str| {
        format!(
            "[volume]\nlevel = \"md-raid60-2\"\ninterleave = \"64KiB\"\n{volume}\n\
             [workload.read]\nkind = \"random\"\ncount = 10\n{more}"
        )
    };
    let eight = "drives = \"8xwd740gd\"";
    says(&of("drives = \"9xwd740gd\"", ""), &["multiple of 2 members", "not the 9"]);
    says(&of("drives = \"6xwd740gd\"", ""), &["at least 8 members"]);
    says(&of(eight, "[host]\nname = \"ultra2-netbsd-3\""), &["share nothing", "another host"]);
    let controller = format!("{eight}\ncontroller = \"crd-5500\"");
    says(&of(&controller, ""), &["`volume.controller` = crd-5500", "leave the controller out"]);
    let scratch = scratch();
    std::fs::write(scratch.path().join("mine.toml"), of(eight, "")).unwrap();
    let names: Vec<String> = (0..8).map(|n| format!("{n}.img")).collect();
    for name in &names {
        std::fs::File::create(scratch.path().join(name)).unwrap().set_len(64 << 20).unwrap();
    }
    let members = names.join(",");
    let asked = ["run", "mine.toml", "--on", "disks", "--members", &members];
    // It warns of holes in the images first.
    let output = ileave(scratch.path(), &asked);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("own engine runs one array"), "{said}");
}

/// 64 bits of ns went round: 2000 requests of 1 TiB came at 700 MB/s from a bus of 0.1 MB/s.
#[test]
fn more_than_a_century_of_moving() {
    let scratch = scratch();
    let host = "name = \"slow\"\n[sources]\nguess = \"mine\"\n[figures]\nbus_mb_per_s = { value = 0.1, \
                kind = \"estimate\", source = \"guess\" }\n";
    std::fs::write(scratch.path().join("slow.toml"), host).unwrap();
    std::fs::write(scratch.path().join("mine.toml"), GOOD).unwrap();
    let set = ["run", "mine.toml", "--set", "host.name=./slow.toml", "--set"];
    let count = |count: &'static str| [&set[..], &[count]].concat();
    let error = error(scratch.path(), &count("workload.read.count=10_000_000_000"), 2);
    for word in ["`workload.read`", "hundred years", "0.1 MB/s", "`bus_mb_per_s`", "`count`"] {
        assert!(error.contains(word), "no `{word}` in: {error}");
    }
    stdout(scratch.path(), &count("workload.read.count=10"));
}

#[test]
fn a_missing_file() {
    let error = error(scratch().path(), &["run", "no-such.toml"], 2);
    assert!(error.contains("no-such.toml") && error.contains("give the path"), "{error}");
}

#[test]
fn a_file_that_is_not_toml() {
    says("[volume\ndrives = 3", &["mine.toml:1: not valid TOML"]);
    says("\u{0}\u{1}\u{2}", &["not valid TOML"]);
}

#[test]
fn a_file_that_is_not_text() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("mine.toml"), [0xff, 0xfe, 0x80]).unwrap();
    let error = error(scratch.path(), &["run", "mine.toml"], 2);
    assert!(error.contains("mine.toml"), "{error}");
}

#[test]
fn a_member_of_zero_sectors() {
    let text = GOOD.replace("2xst118273lc", "1xst118273lc+1xst118273lc:0");
    says(&text, &["`volume.drives`", "1xst118273lc:0", "zero sectors", "leave out"]);
}

#[test]
fn a_member_larger_than_its_drive() {
    says(
        &GOOD.replace("2xst118273lc", "2xst118273lc:1TiB"),
        &["st118273lc", "35566480", "smaller"],
    );
}

#[test]
fn an_interleave_below_the_sector() {
    says(&GOOD.replace("= 64", "= \"100B\""), &["mine.toml:4", "volume.interleave", "100B", "512"]);
    says(&GOOD.replace("= 64", "= 0"), &["volume.interleave", "below one sector", "concat"]);
}

#[test]
fn an_interleave_beyond_the_member() {
    says(
        &GOOD.replace("= 64", "= \"100GiB\""),
        &["volume.interleave", "35566480", "less than one"],
    );
}

#[test]
fn an_experiment_with_no_workload() {
    says("[volume]\ndrives = \"st118273lc\"\n", &["no workload", "[workload.read]"]);
}

#[test]
fn an_experiment_with_no_drives() {
    says("[workload.read]\n", &["has no drives", "ileave drives"]);
}

#[test]
fn a_typo_in_a_key() {
    let typo = GOOD.replace("interleave", "interleve");
    says(&typo, &["mine.toml:4", "volume.interleve", "did you mean `volume.interleave`?"]);
    says(&GOOD.replace("op =", "opp ="), &["did you mean `workload.read.op`?"]);
}

#[test]
fn a_drive_or_host_that_is_not_there() {
    let error = error_of(&GOOD.replace("st118273lc", "st118273lx"));
    assert!(error.contains("st118273lx") && error.contains("st118273lc"), "{error}");
    says(&format!("{GOOD}[host]\nname = \"ultra3\"\n"), &["host.name", "ultra3"]);
}

#[test]
fn values_of_the_wrong_kind_or_far_out_of_range() {
    says(&GOOD.replace("= 64", "= true"), &["mine.toml:4", "volume.interleave", "true", "a size"]);
    says(&GOOD.replace("= 64", "= -64"), &["volume.interleave", "-64"]);
    says(&GOOD.replace("= 64", "= 1.5"), &["volume.interleave", "`1.5`"]);
    says(&GOOD.replace("= 64", "= 99999999999999999999"), &["volume.interleave"]);
    says(&GOOD.replace("count = 10", "count = 0"), &["workload.read.count", "`0`", "from 1"]);
    says(&GOOD.replace("\"read\"", "\"raed\""), &["workload.read.op", "did you mean `read`?"]);
    says(&format!("{GOOD}[run]\nrepeats = 999999\n"), &["run.repeats", "999999", "10000"]);
    says(&format!("{GOOD}block = \"100GiB\"\n"), &["workload.read.block", "smaller"]);
    says(&format!("{GOOD}block = 4294967296\n"), &["workload.read.block"]);
}

#[test]
fn a_set_that_is_wrong() {
    let file = experiment("fair-2006.toml");
    for (assignment, words) in [
        ("volume.interleave", "KEY=VALUE"),
        ("volume.interleave=x", "`x` is not a size"),
        ("volume.nothing=1", "unknown key"),
        ("volume.interleave=", "not a size"),
    ] {
        let error = error(scratch().path(), &["run", &file, "--set", assignment], 2);
        assert!(error.contains(assignment) && error.contains(words), "{error}");
    }
}

#[test]
fn a_published_table_that_is_not_there() {
    says(&format!("published = \"fair-2007\"\n{GOOD}"), &["fair-2007", "fair-2006"]);
    let error = error(scratch().path(), &["reproduce", "fair-2007"], 2);
    assert!(error.contains("did you mean `fair-2006`?"), "{error}");
}

#[test]
fn results_of_another_experiment() {
    let scratch = scratch();
    let here = scratch.path();
    let file = experiment("fair-2006.toml");
    stdout(here, &["run", &file, "--out", "there"]);
    let message = error(here, &["run", &file, "--out", "there"], 2);
    assert!(message.contains("there") && message.contains("--resume"), "{message}");
    let arguments = ["run", &file, "--set", "volume.interleave=8", "--resume", "there"];
    let message = error(here, &arguments, 2);
    assert!(
        message.contains("another experiment") && message.contains("volume.interleave"),
        "{message}"
    );
    let message = error(here, &["run", &file, "--resume", "elsewhere"], 2);
    assert!(message.contains("elsewhere is not a results directory"), "{message}");
    let message = error(here, &["report", "elsewhere"], 2);
    assert!(message.contains("elsewhere is not a results directory"), "{message}");
}

#[test]
fn a_results_directory_that_cannot_be_written() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("file"), "").unwrap();
    let message =
        error(scratch.path(), &["run", &experiment("fair-2006.toml"), "--out", "file/results"], 1);
    assert!(message.contains("file/results") && message.contains("give `--out`"), "{message}");
}

/// A file system of 64 KiB in a mount namespace of its own.
#[test]
fn a_full_disk_under_the_results() {
    let _namespace = super::makes_namespace();
    let scratch = scratch();
    let here = scratch.path();
    let script = "mkdir small && mount -t tmpfs -o size=64k none small && \
                  exec \"$0\" run \"$1\" --repeat 200 --out small/results";
    let output = std::process::Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script])
        .arg(env!("CARGO_BIN_EXE_ileave"))
        .arg(experiment("fair-2006.toml"))
        .current_dir(here)
        .output();
    let output = match output {
        Ok(output) if !String::from_utf8_lossy(&output.stderr).contains("not permitted") => output,
        _ => {
            super::skipped("a full disk needs a mount namespace, which is not permitted here");
            return;
        }
    };
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    for words in ["cannot write small/results", "the disk is full", "--resume small/results"] {
        assert!(message.contains(words), "no `{words}` in: {message}");
    }
}

#[test]
fn a_workload_without_a_name() {
    says("[workload]\nop = \"read\"\n", &["mine.toml:", "write `[workload.read]`"]);
    says("[workload]\n", &["mine.toml:1", "write `[workload.read]`"]);
    says("[workload.\"\"]\n", &["mine.toml:1", "has no name", "`[workload.read]`"]);
}

#[test]
fn a_flag_out_of_range_is_named_as_it_was_typed() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("mine.toml"), GOOD).unwrap();
    for (arguments, words) in [
        (["--repeat", "0"], "--repeat 0: `0` is not a whole number from 1 to 10000"),
        (["--repeat", "-3"], "invalid value '-3' for '--repeat <N>'"),
        (["--interleave", "wide"], "--interleave wide: `wide` is not a size"),
        (["--level", "raid9"], "--level raid9: "),
        (["--set", "name="], "--set name=: `name` is empty"),
        (
            ["--seed", "99999999999999999999"],
            "'--seed <S>': write a whole number from 0 to 18446744073709551615",
        ),
    ] {
        let error = error(scratch.path(), &[&["run", "mine.toml"][..], &arguments].concat(), 2);
        assert!(error.contains(words), "no `{words}` in: {error}");
    }
    let output =
        stdout(scratch.path(), &["run", "mine.toml", "--set", "name=renamed", "--repeat", "1"]);
    assert!(output.starts_with("renamed on sim: 1 trial"), "{output}");
    assert!(scratch.path().join("ileave-results/renamed-1").is_dir());
}

#[test]
fn an_interleave_that_is_varied_for_nothing_is_a_warning() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("mine.toml"), GOOD).unwrap();
    let run = ["run", "mine.toml", "--level", "concat", "--interleave", "8,16"];
    let output = ileave(scratch.path(), &run);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{error}");
    let words = "warning: mine.toml: `volume.interleave` has 2 values and no effect on";
    assert!(error.contains(words), "{error}");
}

/// A program runs on a file system, and blocks by themselves on none: neither is left out in silence.
#[test]
fn keys_that_would_mean_nothing() {
    let wants = "add one: `newfs = \"netbsd2\"` under [fs]";
    let untar = "[volume]\ndrives = \"wd740gd\"\n[workload.read]\nkind = \"untar\"\n";
    says(untar, &["mine.toml:4: `workload.read.kind` = untar uses files", "`newfs = \"netbsd2\"`"]);
    says(&format!("{GOOD}[fs]\nblock = \"8KiB\"\n"), &["`fs.block` has no effect", wants]);
    let idle = "`workload.read.kind` = dd uses the raw volume";
    says(&format!("{GOOD}[fs]\nnewfs = \"netbsd2\"\n"), &[idle, "take touch, iozone"]);
    says(&format!("{GOOD}gap = 8\n"), &["`kind` = dd has no key `gap`; these have: strided"]);
    says(&format!("{GOOD}program = \"untar\"\n"), &["is now called `workload.read.kind`"]);
}

/// A mix of reads and writes is not all reads or all writes.
#[test]
fn an_op_and_another_share_of_reads() {
    let text = |op: &str, percent: u32| {
        format!(
            "[volume]\ndrives = \"wd740gd\"\n[workload.r]\nkind = \"random\"\nop = \"{op}\"\n\
             reads_percent = {percent}\ncount = 10\n"
        )
    };
    let said = "`workload.r.reads_percent` and `op` say different things of the requests; remove one of them";
    says(&text("write", 30), &[said]);
    says(&text("read", 30), &[said]);
    let scratch = scratch();
    for (op, percent) in [("write", 0), ("read", 100)] {
        std::fs::write(scratch.path().join("mine.toml"), text(op, percent)).unwrap();
        stdout(scratch.path(), &["run", "mine.toml"]);
    }
}

/// Who wrote bytes is answered in bytes.
#[test]
fn sizes_have_the_unit_that_was_written() {
    let text = |keys: &str| {
        format!(
            "[volume]\ndrives = \"wd740gd:1GiB\"\n[workload.r]\nkind = \"random\"\ncount = 10\n{keys}\n"
        )
    };
    let span = "`workload.r.span` of 4194304 sectors (2GiB) is more than the volume's 2097152 sectors (1GiB)";
    says(&text("span = \"2GiB\""), &[span]);
}

#[test]
fn an_objective_that_is_none() {
    says(
        &format!("objective = \"read\"\n{GOOD}"),
        &["mine.toml:1: `objective`", "begin it with `min`"],
    );
    says(&format!("objective = \"min 3\"\n{GOOD}"), &["mine.toml:1", "the same for every layout"]);
    // What no workload measures is found before the first trial.
    let near = "mine.toml: `objective`: `min reed`, column 5: `reed` is not measured; did you mean `read`?";
    says(&format!("objective = \"min reed\"\n{GOOD}"), &[near, "there are read, and, alone"]);
    let late = "late_max_ms";
    says(&format!("objective = \"min {late}\"\n{GOOD}"), &["`late_max_ms` is not measured"]);
    let scratch = scratch();
    let write = |text: String| std::fs::write(scratch.path().join("mine.toml"), text).unwrap();
    write(format!("objective = \"min umount_after_tar_s\"\n{GOOD}"));
    error(scratch.path(), &["run", "mine.toml", "--out", "nowhere"], 2);
    assert!(!scratch.path().join("nowhere").exists(), "nothing was begun");
    write(format!("objective = \"min {late}\"\n{GOOD}rate = \"1MB/s\"\n"));
    stdout(scratch.path(), &["run", "mine.toml", "--out", "paced"]);
    // Nothing in an experiment breaks a member while it runs, not even where it writes and one is down.
    let writing = GOOD.replace("op = \"read\"", "op = \"write\"");
    let degraded = writing.replace("interleave", "level = \"mirror\"\nfailed = \"0\"\ninterleave");
    for text in [&writing, &degraded] {
        write(format!("objective = \"min lost_writes\"\n{text}"));
        let never = error(scratch.path(), &["run", "mine.toml", "--out", "nowhere"], 2);
        assert!(never.contains("mine.toml: `objective`: `min lost_writes`, column 5: "), "{never}");
        assert!(never.contains("is not measured; there are read"), "{never}");
        assert!(!scratch.path().join("nowhere").exists(), "nothing was begun");
    }
    // What there is only after enough writes is no typo, and what was measured is kept.
    write(format!("objective = \"min flush_p99_ms\"\n{writing}kind = \"dd\"\nflush_every = 11\n"));
    // What only fills a cache ranks nothing, whatever the objective.
    let through = ["--set", "drive.write_cache=off"];
    let run = [&["run", "mine.toml", "--out", "there"], &through[..]].concat();
    let late = error(scratch.path(), &run, 2);
    for words in
        ["`flush_p99_ms` is not measured; there are read", "`ileave report there --objective"]
    {
        assert!(late.contains(words), "no `{words}` in: {late}");
    }
    let report = ["report", "there", "--objective"];
    stdout(scratch.path(), &[&report[..], &["max read"]].concat());
    let wrong_way = error(scratch.path(), &[&report[..], &["min read.mb_per_s"]].concat(), 2);
    assert!(wrong_way.contains("is the throughput; write `max read.mb_per_s`"), "{wrong_way}");
    let turned = stdout(scratch.path(), &[&report[..], &["min read"]].concat());
    assert!(
        turned.contains("`min read` is taken as `max read`, because it is measured in MB/s"),
        "{turned}"
    );
    let below = stdout(scratch.path(), &[&report[..], &["min read - 2*read"]].concat());
    let words: Vec<&str> = below.split_whitespace().collect();
    assert!(words.join(" ").contains("the only cell: `min read - 2*read`"), "{below}");
    assert!(words.join(" ").contains("is below 0 or no number"), "{below}");
}

#[test]
fn a_drive_or_host_file_that_cannot_be_read() {
    for (command, thing) in [("drives", "drive"), ("hosts", "host")] {
        let error = error(scratch().path(), &[command, "./no-such.toml"], 2);
        let start = format!("cannot read {thing} file ./no-such.toml: ");
        assert!(
            error.contains(&start) && error.contains("lists those that need no file"),
            "{error}"
        );
    }
}

/// What has no end is not read.
#[test]
fn a_device_is_no_grid() {
    let scratch = scratch();
    let error = error(scratch.path(), &["drives", "fit", "/dev/zero"], 2);
    assert!(error.contains("cannot read /dev/zero") && error.contains("device"), "{error}");
}

#[test]
fn results_that_are_damaged() {
    let scratch = scratch();
    let here = scratch.path();
    stdout(here, &["run", &experiment("fair-2006.toml"), "--out", "there"]);
    std::fs::remove_file(here.join("there/trials.jsonl")).unwrap();
    let gone = error(here, &["report", "there"], 1);
    assert!(gone.contains("cannot read there/trials.jsonl") && gone.contains("--resume"), "{gone}");
    std::fs::write(here.join("there/manifest.toml"), "x").unwrap();
    let damaged = error(here, &["report", "there"], 1);
    assert!(
        damaged.contains("there/manifest.toml is damaged") && damaged.contains("--out"),
        "{damaged}"
    );
}

#[test]
fn files_that_hold_no_results_or_drives() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("empty"), "").unwrap();
    let results = error(scratch.path(), &["import", "empty", "--as", "dd"], 2);
    assert!(results.contains("empty:1:1: no results found, reading it as"), "{results}");
    let drives = error(scratch.path(), &["drives", "import", "empty"], 2);
    assert!(
        drives.contains("not a file of measured drives") && drives.contains("--help"),
        "{drives}"
    );
}

/// A job file that is no text was called an experiment, and a TOML file was asked for.
#[test]
fn a_job_file_that_is_no_text_is_called_one() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("job.fio"), [0xff, 0xfe, 0x5b]).unwrap();
    let said = error(scratch.path(), &["run", "job.fio"], 2);
    assert!(said.contains("cannot read the job file job.fio: it is not a text in UTF-8"), "{said}");
    assert!(!said.contains("TOML"), "{said}");
}

/// They were ignored: an argument that needs FILE is not asked for it beside one that FILE excludes.
#[test]
fn what_is_of_an_experiment_is_refused_of_drives() {
    let drives = ["tune", "--drives", "4x 980 pro 1tb", "--workload", "vm"];
    for more in [["--results", "somewhere"], ["--choose", "volume.level"]] {
        let all: Vec<&str> = drives.into_iter().chain(more).collect();
        let message = error(scratch().path(), &all, 2);
        assert!(message.contains(more[0]) && message.contains("cannot be used with"), "{message}");
    }
}
