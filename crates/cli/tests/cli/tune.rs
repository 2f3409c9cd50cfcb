//! `ileave tune`, and every case of docs/guide.md.

use super::{experiment, ileave, is_required, json, project, scratch, stdout, takes_long};
use std::process::Command;
use std::sync::LazyLock;

/// The price was lost, without which there was no answer.
#[test]
fn what_is_saved_with_its_price_is_asked_again() {
    let scratch = scratch();
    let asked =
        ["--objective", "min usd_per_tb", "--price", "250", "--subject-to", "loss_5y <= 1%"];
    let asked = [&asked[..], &["--what-if", "0s", "--save", "mine.toml"]].concat();
    let said = stdout(scratch.path(), &with(&asked));
    assert_eq!(stdout(scratch.path(), &["tune", "mine.toml", "--what-if", "0s"]), said);
}

/// Somebody took a chunk out of a saved file with `survive = 2`: layouts that survive one failure were advised without a
/// word.
#[test]
fn wishes_of_a_saved_file_that_was_changed_are_said_to_be_lost() {
    let scratch = scratch();
    let asked = ["--survive", "2", "--level", "md-raid6", "--what-if", "0s", "--save", "mine.toml"];
    stdout(scratch.path(), &with(&asked));
    let path = scratch.path().join("mine.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = text.replace("[\"16KiB\", ", "[");
    assert_ne!(changed, text);
    std::fs::write(&path, changed).unwrap();
    let lost = ileave(scratch.path(), &["tune", "mine.toml", "--what-if", "0s"]);
    let said = String::from_utf8_lossy(&lost.stderr);
    assert!(said.contains("`ask.survive` and `ask.levels` are not used"), "{said}");
}

const QUICK: [&str; 5] = ["tune", "--drives", "4x 980 pro 1tb", "--workload", "postgres"];

/// Its answer, read by several tests.
pub(super) static QUICK_TEXT: LazyLock<String> = LazyLock::new(|| stdout(scratch().path(), &QUICK));

/// The same as data.
static QUICK_JSON: LazyLock<serde_json::Value> =
    LazyLock::new(|| json(scratch().path(), &with(&["--json"])));

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    QUICK.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn the_json_has_the_keys_that_were_promised() {
    let found = &*QUICK_JSON;
    let keys: Vec<&str> = found.as_object().unwrap().keys().map(String::as_str).collect();
    let promised = [
        "best",
        "runner_up",
        "difference",
        "verdict",
        "factors",
        "interaction_and_noise",
        "front",
        "risk",
        "reasons",
        "sensitivity",
        "not_tried",
        "bitmap",
        "scheduler",
        "read_ahead",
        "blocks",
        "mount",
        "align",
        "without_copies",
        "rules",
        "commands",
        "assumed",
        "confirmed",
        "evaluations",
        "evaluations_left",
        "short_evaluations",
        "short_evaluations_left",
        "exhaustive_evaluations",
    ];
    assert_eq!(keys, promised);
    // Linux has none before such drives.
    assert!(found["scheduler"].is_null());
    // Nothing goes through the page cache.
    assert!(found["read_ahead"].is_null());
    // No file system is chosen, and these are no cloud volumes.
    for key in ["blocks", "mount", "align", "without_copies"] {
        assert!(found[key].is_null(), "{key}");
    }
    for key in ["estimate", "low", "high"] {
        assert!(found["difference"].get(key).is_some(), "{key}");
    }
    for (list, keys) in [
        ("factors", &["name", "variance_share"][..]),
        ("reasons", &["mechanism", "best", "other", "sentence"]),
        (
            "sensitivity",
            &[
                "what",
                "assumed",
                "otherwise",
                "holds",
                "ahead",
                "ahead_as_assumed",
                "error",
                "rival",
            ],
        ),
        ("rules", &["name", "says", "agrees"]),
    ] {
        let rows = found[list].as_array().unwrap();
        assert!(!rows.is_empty(), "{list}");
        assert!(rows.iter().all(|row| keys.iter().all(|key| row.get(key).is_some())), "{list}");
    }
    // What the factors explain, and the rest, are all of it.
    let share = |of: &serde_json::Value| of["variance_share"].as_f64().unwrap();
    let explained: f64 = found["factors"].as_array().unwrap().iter().map(share).sum();
    let rest = found["interaction_and_noise"].as_f64().unwrap();
    assert!(rest >= 0.0 && (explained + rest - 1.0).abs() < 1e-9, "{explained} and {rest}");
    // Each row of the front is beaten by none: the fastest comes first, and what follows has more room or survives more.
    let front = found["front"].as_array().unwrap();
    let speed = |row: &serde_json::Value| row["value"].as_f64().unwrap();
    assert!(front.windows(2).all(|rows| speed(&rows[0]) >= speed(&rows[1])));
    assert!(found["evaluations"].as_u64() < found["exhaustive_evaluations"].as_u64());
}

/// One command gives the answer and the page; the page has the answer, and a file of another kind is kept.
#[test]
fn the_page_comes_with_the_answer() {
    let here = scratch();
    let of = |name: &str| std::fs::read_to_string(here.path().join(name)).unwrap();
    let fair = experiment("fair-2006.toml");
    let said = stdout(here.path(), &["run", &fair, "--html", "run.html"]);
    assert!(said.ends_with("\nPage: run.html\n"), "{said}");
    stdout(here.path(), &["report", "ileave-results/fair-2006-1", "--html", "report.html"]);
    assert_eq!(of("run.html"), of("report.html"));
    let said = stdout(here.path(), &["tune", &fair, "--html", "tune.html"]);
    assert!(said.ends_with("\nPage: tune.html\n"), "{said}");
    assert!(of("tune.html").contains("Use interleave 64 (32 KiB): fastest for read and write."));
    let drives = "tune --drives 2xwd740gd --workload restore --level md-mirror --what-if 0s --html drives.html --json";
    let found = json(here.path(), &drives.split(' ').collect::<Vec<_>>());
    assert!(of("drives.html").contains(found["verdict"].as_str().unwrap()));
    std::fs::write(here.path().join("mine.txt"), "mine").unwrap();
    let kept = ileave(here.path(), &["run", &fair, "--html", "mine.txt"]);
    assert!(!kept.status.success());
    assert_eq!(of("mine.txt"), "mine");
    assert!(!here.path().join("ileave-results/fair-2006-2").exists(), "asked before the work");
}

/// With a price, room has its own in the front; drives that differ in cost are held against each other by it.
#[test]
fn cost_is_a_column_and_a_criterion() {
    let said = stdout(scratch().path(), &with(&["--price", "90", "--what-if", "0s"]));
    assert!(said.contains("  room  US$ per TB  survives  "), "{said}");
    assert!(
        said.contains("in speed, room, survival and risk at once"),
        "all cost the same: {said}"
    );
    let here = scratch();
    let two = "objective = \"max r\"\n[host]\nname = \"linux-6.1\"\n[volume]\ndrives = [\"4xst18000nm000j\", \"6xst18000nm000j\"]\n\
               level = [\"md-raid5\", \"md-raid6\"]\n[workload.r]\nkind = \"random\"\nop = \"read\"\ndepth = 8\n";
    std::fs::write(here.path().join("two.toml"), two).unwrap();
    let front = |more: &[&str]| {
        let found =
            json(here.path(), &[&["tune", "two.toml", "--json", "--what-if", "0s"], more].concat());
        found["front"].as_array().unwrap().clone()
    };
    let has_four = |rows: &[serde_json::Value]| {
        rows.iter().any(|row| row["at"]["volume.drives"].as_str().unwrap().starts_with('4'))
    };
    let (free, priced) = (front(&[]), front(&["--price", "280"]));
    assert!(!has_four(&free), "six are faster and hold more: {free:?}");
    assert!(has_four(&priced), "four cost less: {priced:?}");
    assert!(priced.iter().all(|row| row["usd_per_tb"].is_f64() && row["cost_usd"].is_f64()));
    let said = stdout(here.path(), &["tune", "two.toml", "--price", "280", "--what-if", "0s"]);
    assert!(said.contains("in speed, room, survival, risk and cost at once"), "{said}");
}

/// The price of a write-intent bitmap is said where it costs, and the commands leave it out there; writes that keep to a
/// small part of the disks set its bits once, and the commands build it.
#[test]
fn a_bitmap_has_its_price() {
    let here = scratch();
    let asked = |op: &str, size: &str| {
        let job =
            format!("[job]\nrw={op}\nbs=16k\niodepth=16\nioengine=libaio\ndirect=1\nsize={size}\n");
        std::fs::write(here.path().join("job.fio"), job).unwrap();
        let drives = ["tune", "--drives", "2x ST18000NM000J", "--level", "md-mirror"];
        let more = ["--workload", "job.fio", "--what-if", "0s", "--json"];
        let found = json(here.path(), &[&drives[..], &more].concat());
        // A queue of 16 is the disk's own.
        assert_eq!(found["scheduler"]["take"], "mq-deadline");
        let costs_times = found["bitmap"]["times"].as_f64();
        let says = |option: &str| found["commands"].to_string().contains(option);
        (costs_times, says("--bitmap=none"), says("--bitmap=internal"))
    };
    let (scattered, without, _) = asked("randwrite", "8000g");
    assert!(scattered.is_some_and(|times| times > 1.2) && without, "{scattered:?}");
    let (kept_together, without, with) = asked("randwrite", "2g");
    assert!(kept_together.is_some_and(|times| times < 1.1), "{kept_together:?}");
    assert!(with && !without);
    // Nothing is written: nothing is measured.
    assert_eq!(asked("randread", "8000g").0, None);
}

/// On small chunks Linux reads less ahead by itself than 16 viewers need, as the kernel confirms (docs/md.md); what a mirror
/// gains, a tenth, is less than the model errs by.
#[test]
fn read_ahead_is_set_where_it_gains() {
    let here = scratch();
    let viewers = "objective = \"max media\"\n[volume]\ndrives = \"8xst18000nm000j\"\nlevel = \"md-raid6\"\n\
                   interleave = [\"32KiB\", \"64KiB\"]\n[workload.media]\nkind = \"sequential\"\nop = \"read\"\n\
                   block = \"512KiB\"\njobs = 16\ndirect = false\n";
    std::fs::write(here.path().join("viewers.toml"), viewers).unwrap();
    let said = stdout(here.path(), &["tune", "viewers.toml", "--what-if", "0s"]);
    let line = "  read-ahead  set 4MiB for the array: Linux's default, 768KiB, is ";
    assert!(said.contains(line), "{said}");
    assert!(said.contains("echo 4096 > /sys/block/md0/queue/read_ahead_kb"), "{said}");
    let two =
        ["tune", "--drives", "2x ST18000NM000J", "--workload", "media", "--level", "md-mirror"];
    let found = json(here.path(), &[&two[..], &["--json", "--what-if", "0s"]].concat());
    assert_eq!(found["read_ahead"]["by_itself_kib"], 128);
    assert!(found["read_ahead"]["take"].is_null(), "{}", found["read_ahead"]);
    assert!(!found["commands"].to_string().contains("read_ahead_kb"));
}

/// Two parities are no slower than one where many disks are read in order, and lose far less.
#[test]
fn of_what_is_as_fast_the_safer_is_taken() {
    let ask = [
        "tune",
        "--what-if",
        "0s",
        "--drives",
        "10x exos x18",
        "--workload",
        "media",
        "--level",
        "md-raid5,md-raid6",
    ];
    let said = stdout(scratch().path(), &ask);
    assert!(
        said.starts_with("Use md-raid6, 1MiB chunk (not reliably slower than md-raid5, "),
        "{said}"
    );
    let room = said.split("\n  more room ").nth(1).expect(&said);
    let room = room.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        room.starts_with("md-raid5, ") && room.contains("all data lost 17 % at worst"),
        "{said}"
    );
}

/// What is set beside the best of an experiment is tried, too, but for what the experiment says itself.
#[test]
fn an_experiment_has_its_bitmap_and_scheduler() {
    let here = scratch();
    let ask = |more: &str| {
        let text = format!(
            "objective = \"max w\"\n[volume]\ndrives = \"4xst18000nm000j\"\nlevel = [\"md-raid10\", \"md-raid5\"]\n\
             interleave = \"512KiB\"\n{more}[workload.w]\nkind = \"random\"\nop = \"write\"\nblock = \"16KiB\"\n\
             depth = 16\n[drive]\nwrite_cache = false\n"
        );
        std::fs::write(here.path().join("mine.toml"), text).unwrap();
        json(here.path(), &["tune", "mine.toml", "--what-if", "0s", "--json"])
    };
    let found = ask("");
    assert!(found["bitmap"]["times"].as_f64().is_some_and(|times| times > 1.5), "{found}");
    assert_eq!(found["scheduler"]["take"], "mq-deadline");
    assert!(found["commands"].to_string().contains("--bitmap=none"));
    let stated = ask("bitmap = \"none\"\nscheduler = \"none\"\n");
    assert!(stated["bitmap"].is_null() && stated["scheduler"].is_null(), "{stated}");
}

/// Layouts are told apart by the rate that a job settles at: one that would write for weeks is answered in seconds, and
/// how long it takes is not asked.
#[test]
fn a_job_is_judged_by_its_steady_rate() {
    let here = scratch();
    let job = "[job]\nrw=randwrite\nbs=16k\niodepth=16\nioengine=libaio\ndirect=1\nsize=8000g\n";
    std::fs::write(here.path().join("job.fio"), job).unwrap();
    let question =
        ["tune", "--drives", "2x ST18000NM000J", "--level", "md-mirror", "--workload", "job.fio"];
    let answered = ileave(here.path(), &[&question[..], &["--what-if", "0s"]].concat());
    let warned = String::from_utf8(answered.stderr).unwrap();
    assert!(answered.status.success(), "{warned}");
    assert!(
        warned.contains("job.fio: not run to its end; each trial runs until its rate is steady"),
        "{warned}"
    );
    // Nor are caches filled first, and the commands turn them off.
    assert!(warned.contains("disks run with their write caches off"), "{warned}");
    let answer = String::from_utf8(answered.stdout).unwrap();
    assert!(
        answer.contains("hdparm -W0") && answer.contains("--rw=randwrite --bs=16k"),
        "{answer}"
    );
    let asked = [&question[..], &["--objective", "min job.elapsed_s"]].concat();
    let refused = ileave(here.path(), &asked);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("`min job.elapsed_s`: a trial runs until its rate is steady"), "{said}");
}

/// What is saved is an experiment that runs, and what it has is what was asked.
#[test]
fn what_is_saved_runs() {
    let scratch = scratch();
    let arguments = with(&["--level", "md-raid10", "--what-if", "0s", "--save", "mine.toml"]);
    let said = stdout(scratch.path(), &arguments);
    assert!(
        said.contains("mdadm --create /dev/md0 --level=10 --layout=n2 --raid-devices=4"),
        "{said}"
    );
    let ran = stdout(scratch.path(), &["run", "mine.toml"]);
    assert!(ran.contains("tune-postgres on sim"), "{ran}");
    // An existing file is kept.
    let again = ileave(scratch.path(), &arguments);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("it is kept"));
    // A question that cannot be answered left its file in the way of the right one, and what must hold was lost.
    let level = ["--level", "md-raid10", "--save", "other.toml"];
    let wrong = [&level[..], &["--objective", "max commit_p99"]].concat();
    assert_eq!(ileave(scratch.path(), &with(&wrong)).status.code(), Some(2));
    assert!(!scratch.path().join("other.toml").exists());
    let right = [&level[..], &["--subject-to", "commit_p99 <= 1us"]].concat();
    assert_eq!(ileave(scratch.path(), &with(&right)).status.code(), Some(1));
    let again = ileave(scratch.path(), &["tune", "other.toml", "--what-if", "0s"]);
    assert_eq!(again.status.code(), Some(1), "{}", String::from_utf8_lossy(&again.stdout));
    assert!(
        String::from_utf8_lossy(&again.stderr)
            .contains("no layout meets all that is asked of it (`--subject-to`, `ask.subject_to`)")
    );
    // The file was asked as an experiment, whose ties have other rules: offset copies in place of md's own.
    let file = ["tune", "mine.toml", "--what-if", "0s"];
    assert_eq!(stdout(scratch.path(), &file), said);
    let ran = ileave(scratch.path(), &["run", "other.toml"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("commit_p99 <= 1us"));
}

/// Whichever flag asks for the room, no layout has it: that is no wrong input, and the answer is what comes nearest.
#[test]
fn what_no_layout_meets_ends_with_1() {
    let error = |more: &[&str]| {
        let asked = ["tune", "--drives", "4x st18000nm000j", "--workload", "backup"];
        let output = ileave(scratch().path(), &[&asked[..], more].concat());
        assert_eq!(output.status.code(), Some(1), "{more:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let wishes = [
        (["--capacity", "60TB"], "take more drives"),
        (["--subject-to", "usable_tb >= 60"], "`--drives '5x st18000nm000j'` has what meets them"),
    ];
    for (wish, next) in wishes {
        let said = error(&wish);
        let nearest = format!("md-raid5 comes nearest, with 54.0 TB; {next}\n");
        assert!(said.contains("no layout meets ") && said.ends_with(&nearest), "{said}");
    }
    assert!(error(&["--survive", "4"]).contains("no level survives 4"));
}

/// Nothing begins once the time is over; a time that is none is the flag's fault.
#[test]
fn without_time_there_is_no_answer() {
    let output = ileave(scratch().path(), &with(&["--time-limit", "0s"]));
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    let why = "error: no layout was measured before the time limit was over (`--time-limit 0s`); give more time, or ask about fewer layouts\n";
    assert!(said.ends_with(why), "{said}");
    // clap's tip was to pass the option as a file behind `--`.
    let output = ileave(scratch().path(), &with(&["--within", "3s"]));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("'--within'") && !said.contains("as a value, use"), "{said}");
    let output = ileave(scratch().path(), &with(&["--time-limi", "3s"]));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("'--time-limit'"), "{said}");
    let output = ileave(scratch().path(), &with(&["--time-limit", "soon"]));
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--time-limit") && said.contains("soon"), "{said}");
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let error = |arguments: &[&str]| {
        let output = ileave(scratch().path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(
        error(&["tune", "--drives", "980 pro 1tb", "--workload", "postgres"])
            .contains("how many and which")
    );
    assert!(
        error(&["tune", "--drives", "2x wd740gd", "--workload", "postgre"])
            .contains("did you mean `postgres`?")
    );
    assert!(error(&with(&["--level", "raidz"])).contains("raidz"));
    assert!(
        error(&with(&["--guest-memory", "1GiB"]))
            .contains("`--guest-memory` has no effect with sim")
    );
    assert!(error(&with(&["--fs", "xfs"])).contains("with --fs write one of build, mail, news"));
    let files = |drives, more| ["tune", "--drives", drives, "--workload", "mail", "--fs", more];
    assert!(error(&files("2x wd740gd", "ext3")).contains("did you mean `ext4`?"));
    let typed = ["tune", "--drives", "2x wd740gd", "--workload", "mial", "--fs", "xfs"];
    assert!(error(&typed).contains("did you mean `mail`?"));
    let modelled = [&files("2x wd740gd", "xfs")[..], &["--on", "sim"]].concat();
    assert!(error(&modelled).contains("measured on kernel only; leave `--on`"));
    if cfg!(target_os = "linux") {
        let little = [&files("2x wd740gd", "xfs")[..], &["--guest-memory", "1MiB"]].concat();
        assert!(error(&little).contains("--guest-memory 1MiB: take 64MiB or more"));
    }
    let one = [&files("1x wd740gd", "xfs")[..], &["--survive", "0"]].concat();
    assert!(error(&one).contains("one drive is not one; give more --drives"));
    assert!(
        error(&with(&["--subject-to", "nonsense <= 5"])).contains("`nonsense` is not measured")
    );
}

/// Limits on cost, room and risk need no trial to be refused, and the error says what would meet them.
#[test]
fn what_is_known_beforehand_can_be_limited() {
    let here = scratch();
    let asked = |more: &[&str]| {
        let drives = ["tune", "--drives", "8x st18000nm000j", "--workload", "vm"];
        let output = ileave(here.path(), &[&drives[..], more].concat());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = asked(&["--subject-to", "loss_5y <= 1e-6"]);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("`--survive 3` has what meets them: md-mirror, which holds 18.0 TB"),
        "{said}"
    );
    // Whoever says that there are none has none added.
    let of_raid6 = ["--subject-to", "loss_5y <= 0.003", "--level", "md-raid6", "--spares", "0"];
    let (code, said) = asked(&of_raid6);
    assert_eq!(code, Some(1));
    assert!(said.contains("md-raid6 comes nearest, with 3.63e-3"), "{said}");
    let (code, said) = asked(&["--objective", "min usd_per_tb"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("write what one costs, as in `--price 300`"), "{said}");
}

/// A limit that no layout meets is answered with the nearest, and an objective of commits with commits: short trials with many
/// requests in flight end before there is any, which was an error after all had been measured.
#[test]
fn commits_can_be_limited_and_minimised() {
    let here = scratch();
    let drives = [
        "tune",
        "--what-if",
        "0s",
        "--drives",
        "4x wd740gd",
        "--workload",
        "postgres",
        "--level",
        "md-raid10",
    ];
    let limited = [&drives[..], &["--subject-to", "commit_p99 <= 1us"]].concat();
    let output = ileave(here.path(), &limited);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    let nearest = said.split_once("`commit_p99 <= 1us`: the closest has ").expect(&said).1;
    assert!(nearest.contains(" ms (md-raid10, "), "{said}");
    let least = [&drives[..], &["--objective", "min commit_p99"]].concat();
    let text = stdout(here.path(), &least);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("postgres, `min commit_p99`, ") && plain.contains(" load "), "{text}");
}

/// "workload vm:3" was blamed, a text that nobody has written.
#[test]
fn a_wrong_objective_is_the_option_s_fault() {
    let asked = ["tune", "--drives", "4x wd740gd", "--workload", "vm", "--objective", "fast"];
    let output = ileave(scratch().path(), &asked);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: --objective: `fast` needs a direction"), "{said}");
}

/// What a system prints is taken: the most numerous kind of the catalogue, and what matched is said.
#[test]
fn drives_come_from_an_inventory() {
    let scratch = scratch();
    let disk = |name: &str, model: &str, bytes: u64| {
        format!(
            r#"{{"name":"{name}","type":"disk","model":"{model}","size":{bytes},"maj:min":"8:{}"}}"#,
            bytes % 97
        )
    };
    let big = "ST18000NM000J-2TV103";
    let disks: Vec<String> = ["sda", "sdb", "sdc", "sdd"]
        .map(|name| disk(name, big, 18_000_207_937_536))
        .into_iter()
        .chain([disk("nvme0n1", "Samsung SSD 980 PRO 1TB", 1_000_204_886_016)])
        .chain([disk("sdz", "Nobody's Disk 3000", 3_000_000_000_000)])
        .collect();
    let lsblk = format!("{{\"blockdevices\":[{}]}}", disks.join(","));
    std::fs::write(scratch.path().join("lsblk.json"), lsblk).unwrap();
    let mdstat = "Personalities : [raid5]\nmd7 : active raid5 sdd[3] sdc[2] sdb[1] sda[0]\n      52734000 blocks super 1.2 level 5, 512k chunk, algorithm 2 [4/4] [UUUU]\n";
    std::fs::write(scratch.path().join("mdstat"), mdstat).unwrap();
    let from =
        ["tune", "--what-if", "0s", "--from", "lsblk.json", "--from", "mdstat", "--workload", "vm"];
    let ask = |more: &[&str]| {
        let arguments: Vec<&str> = from.into_iter().chain(more.iter().copied()).collect();
        ileave(scratch.path(), &arguments)
    };
    let output = ask(&["--level", "md-raid10", "--json"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["assumed"]["experiment"]["volume.drives"], "4xst18000nm000j");
    // The commands are about these disks.
    let lines = found["commands"].as_array().unwrap().iter().map(|of| of["line"].as_str().unwrap());
    let disks: Vec<&str> = lines.filter(|line| line.starts_with("disks=")).collect();
    assert_eq!(disks, ["disks=\"/dev/sda /dev/sdb /dev/sdc /dev/sdd\""]);
    for part in [
        "4 x ST18000NM000J-2TV103 (sda, sdb, sdc, sdd) matched st18000nm000j",
        "members of md7 (md-raid5) now",
        "left out: 1 x Samsung SSD 980 PRO 1TB",
        "sdz: Nobody's Disk 3000 is not in the catalogue",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let refused = ask(&["--drives", "5x ST18000NM000J"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("it has 4 of st18000nm000j, not 5"));
    let refused = ask(&["--drives", "wd740gd"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("it has no wd740gd"));
}

/// A price has the year in which it was paid, and of what is as fast the safer level is taken. Without time for what-if
/// trials the answer is the same, and says what it lacks.
#[test]
fn prices_are_dated_and_the_safer_of_two_is_taken() {
    let asked = "tune --workload media --level md-raid5,md-raid6 --what-if 0s --drives";
    let output = Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(asked.split(' ').chain(["12x wd740gd"]))
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let safer =
        "Use md-raid6, 1MiB chunk (not reliably slower than md-raid5, 1MiB chunk, and safer): ";
    assert!(flat.starts_with(safer), "{text}");
    let (_, room) = flat.split_once(" more room ").expect(&text);
    assert!(room.starts_with("md-raid5, 1MiB chunk: 817.2 GB, "), "{text}");
    let (room, _) = room.split_once(" cost ").expect(&text);
    assert!(room.ends_with("; all data lost 3.2 % at worst, not 0.027 %"), "{text}");
    assert!(flat.contains(" cost 12 drives at US$ 230 (February 2004): US$ 2760, "), "{text}");
    assert!(flat.contains(" not tried "), "{text}");
    assert!(
        flat.contains(". Time limit: 0s (`--what-if`). The recommendation does not depend on it."),
        "{text}"
    );
    assert!(!flat.contains("What if, against the next best"), "{text}");
    // On a screen of 100 columns each row of the front is one line, of two tables.
    let (_, front) = text.split_once("at once\n").unwrap();
    let (front, _) = front.split_once("\nPublished rules").unwrap();
    let rows: Vec<&str> = front.lines().filter(|line| !line.is_empty()).collect();
    assert!(rows.iter().all(|row| row.starts_with("md-") || row.starts_with("level ")), "{front}");
    assert_eq!(rows.iter().filter(|row| row.starts_with("level ")).count(), 2, "{front}");
}

/// As many drives as the money buys, no more than were named; and what all of it costs.
#[test]
fn a_budget_buys_drives() {
    let scratch = scratch();
    let ask = |drives: &str, more: &[&str]| {
        let first =
            ["tune", "--what-if", "0s", "--drives", drives, "--workload", "media", "--json"];
        let more = ["--level", "md-raid5", "--price", "300"].iter().chain(more);
        json(scratch.path(), &first.iter().chain(more).copied().collect::<Vec<_>>())
    };
    let bought = ask("wd740gd", &["--budget", "1450"]);
    assert_eq!(bought["assumed"]["drives"], 4);
    assert_eq!(bought["assumed"]["cost_usd"], 1200.0);
    // Three of four drives of 74.4 GB hold data.
    let per_tb = bought["front"][0]["usd_per_tb"].as_f64().unwrap();
    assert!((per_tb * 3.0 * 0.074_36 / 1200.0 - 1.0).abs() < 0.005, "{per_tb}");
    assert_eq!(ask("3x wd740gd", &["--budget", "1450"])["assumed"]["drives"], 3);
    let error = |arguments: &[&str]| {
        let output =
            ileave(scratch.path(), &[&["tune", "--workload", "media"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let drive = ["--drives", "ST18000NM000J"];
    assert!(error(&[&drive[..], &["--budget", "1450"]].concat()).contains("add `--price`"));
    let poor = [&drive[..], &["--budget", "100", "--price", "300"]].concat();
    assert!(error(&poor).contains("costs 300"));
    assert!(error(&[&drive[..], &["--budget", "0"]].concat()).contains("above 0"));
    assert!(error(&[]).contains("--drives"));
}

/// Safe: the drives' write caches are off in what is asked and in what is built, and stripes have what keeps them whole.
#[test]
fn safe_turns_the_write_caches_off() {
    if takes_long() {
        return;
    }
    let four = ["tune", "--drives", "4x ST18000NM000J", "--workload", "media", "--json"];
    let ask = |more: &[&str]| json(scratch().path(), &[&four, more].concat());
    let careless = ask(&[]);
    let safe = ask(&["--safe"]);
    assert_eq!(safe["assumed"]["experiment"]["drive.write_cache"], "false");
    assert!(careless["assumed"]["experiment"].get("drive.write_cache").is_none());
    let lines = |of: &serde_json::Value| of["commands"].to_string();
    assert!(lines(&safe).contains("hdparm -W0") && !lines(&careless).contains("hdparm -W0"));
}

/// A flash drive's cache cannot be turned off in the model: it is said that this is why no layout is safe.
#[test]
fn a_cache_that_stays_on_is_why_nothing_is_safe() {
    let ask = ["tune", "--drives", "2x 980-pro-1tb", "--workload", "object-store", "--safe"];
    let refused = ileave(scratch().path(), &ask);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("write caches are on") && said.contains("power-loss protection"),
        "{said}"
    );
    assert!(!said.contains("Try a mirror"), "{said}");
}

/// `--safe` turns off the caches of drives that are given by name; an experiment is left as it is, and told which key does.
#[test]
fn an_experiment_that_caches_make_unsafe_says_how_to_turn_them_off() {
    let here = scratch();
    let unsafe_one = "objective = \"max w\"\n[volume]\ndrives = \"4xwd740gd\"\nlevel = [\"md-raid10\", \"md-mirror\"]\n\
                      interleave = \"512KiB\"\n[workload.w]\nkind = \"random\"\nop = \"write\"\nblock = \"16KiB\"\n";
    std::fs::write(here.path().join("nas.toml"), unsafe_one).unwrap();
    let output = ileave(here.path(), &["tune", "nas.toml", "--safe", "--what-if", "0s"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap().replace("\n ", " ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("turn the drives' write caches off: `--set drive.write_cache=false`."),
        "{said}"
    );
    let off = ["tune", "nas.toml", "--safe", "--what-if", "0s", "--set", "drive.write_cache=false"];
    assert!(stdout(here.path(), &off).starts_with("Use "));
    // A level that is left out is named.
    let three = [
        "tune",
        "--what-if",
        "0s",
        "--drives",
        "3x wd740gd",
        "--workload",
        "vm",
        "--level",
        "md-raid5,md-raid6",
    ];
    let warned = String::from_utf8(ileave(here.path(), &three).stderr).unwrap();
    assert!(
        warned.contains("--level md-raid6: it needs 4 members, and there are 3; it is not tried"),
        "{warned}"
    );
}

/// Arrays side by side have their commands, which take no uneven number of members.
#[test]
fn many_members_are_built_in_groups() {
    let ask = [
        "tune",
        "--what-if",
        "0s",
        "--drives",
        "12x ST18000NM000J",
        "--workload",
        "media",
        "--survive",
        "2",
    ];
    let scratch = scratch();
    let two = [&ask[..], &["--level", "md-raid60-2", "--json"]].concat();
    let commands = json(scratch.path(), &two)["commands"].to_string();
    assert!(commands.contains("--level=6 --raid-devices=6") && commands.contains("-f7-12)"));
    let uneven = ileave(
        scratch.path(),
        &["tune", "--drives", "11x wd740gd", "--workload", "media", "--level", "md-raid60-2"],
    );
    assert_eq!(uneven.status.code(), Some(2));
    // Nothing is said of what the model is not held to.
    let ask = ["tune", "--drives", "36x ST18000NM000J", "--workload", "backup", "--survive", "2"];
    let refused = ileave(scratch.path(), &ask);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("up to 24 members") && said.contains("--on kernel"), "{said}");
}

/// What a work file says of the bitmap is in the search; its price is told all the same.
#[test]
fn a_bitmap_has_its_price_whatever_the_search_had() {
    let scratch = scratch();
    let work = "kind = \"random\"\nop = \"write\"\nblock = \"4KiB\"\ndepth = [1, 4]\n";
    let times = |volume: &str| {
        let text = format!("{volume}[run]\nprecision = \"10%\"\n[workload.w]\n{work}");
        std::fs::write(scratch.path().join("work.toml"), text).unwrap();
        let ask =
            ["tune", "--drives", "2x wd740gd", "--workload", "work.toml", "--level", "md-mirror"];
        let found = json(scratch.path(), &[&ask[..], &["--what-if", "0s", "--json"]].concat());
        found["bitmap"]["times"].as_f64().unwrap()
    };
    let (open, internal) = (times(""), times("[volume]\nbitmap = \"internal\"\n"));
    assert!(open > 1.5, "{open}");
    assert!((internal / open - 1.0).abs() < 0.1, "{internal} and {open}");
}

/// A block trace is work: its requests come at their own times, and the layout with the shortest tail wins.
#[test]
fn a_trace_is_work() {
    let scratch = scratch();
    // MSR's columns: time in 100 ns, host, disk, type, offset, size, response.
    let lines = (0..1500_u64).map(|n| {
        let kind = if n % 3 == 0 { "Write" } else { "Read" };
        let place = n * 7_919_311 % 30_000_000 * 4096;
        format!("{},host,0,{kind},{place},4096,0\n", 128_166_372_000_000_000 + n * 200_000)
    });
    std::fs::write(scratch.path().join("mine.csv"), lines.collect::<String>()).unwrap();
    let ask = [
        "tune",
        "--what-if",
        "0s",
        "--drives",
        "4x ST18000NM000J",
        "--workload",
        "mine.csv",
        "--json",
    ];
    let found = json(scratch.path(), &ask);
    assert_eq!(found["front"][0]["unit"], "ms");
    assert!(found["verdict"].as_str().unwrap().contains("trace"), "{}", found["verdict"]);
    assert!(found["assumed"]["work"].as_str().unwrap().contains("1000 reads and 500 writes"));
    std::fs::write(scratch.path().join("odd.csv"), "a,b\n1,2\n").unwrap();
    let odd = ileave(scratch.path(), &["tune", "--drives", "4x wd740gd", "--workload", "odd.csv"]);
    assert_eq!(odd.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&odd.stderr).contains("as a block trace"));
    // Of three requests, of none, and of a room without a unit nothing can be chosen.
    std::fs::write(scratch.path().join("none.csv"), "").unwrap();
    std::fs::write(scratch.path().join("few.csv"), "1,host,0,Read,0,4096,0\n".repeat(3)).unwrap();
    for (work, room, said) in [
        ("none.csv", "1TB", "none.csv is empty"),
        ("few.csv", "1TB", "few.csv has 3 requests, too few"),
        ("mine.csv", "60", "as in `--capacity 60TB`"),
    ] {
        let asked = ["tune", "--drives", "4x wd740gd", "--workload", work, "--capacity", room];
        let refused = ileave(scratch.path(), &asked);
        let stderr = String::from_utf8_lossy(&refused.stderr).to_string();
        assert!(refused.status.code() == Some(2) && stderr.contains(said), "{stderr}");
    }
}

/// A rig that cannot confirm says so before anything is measured, and what to do.
#[test]
fn who_cannot_confirm_says_so() {
    let scratch = scratch();
    let error = |more: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_ileave"))
            .args(with(more))
            .current_dir(scratch.path())
            .env("XDG_CACHE_HOME", scratch.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    #[cfg(target_os = "linux")]
    {
        let said = error(&["--confirm", "3", "--on", "sim,kernel"]);
        assert!(said.contains("ileave kernel build") && said.contains("--confirm"), "{said}");
        assert!(error(&["--confirm", "3", "--on", "sim,disks"]).contains("run FILE --on disks"));
    }
    let both = "two with --confirm N";
    for wrong in [
        &["--confirm", "3", "--on", "sim"][..],
        &["--on", "sim,kernel"],
        &["--confirm", "3", "--on", "sim,sim"],
    ] {
        assert!(error(wrong).contains(both), "{wrong:?}");
    }
    #[cfg(target_os = "linux")]
    assert!(error(&["--on", "kernel"]).contains("measured on sim, and other rigs confirm"));
    assert!(error(&["--confirm", "3"]).contains("--on"));
    assert!(error(&["--confirm", "3", "--on", "disks,sim"]).contains(both));
    assert!(error(&["--confirm", "3", "--on", "sim,krenel"]).contains("there is no rig"));
}

/// An experiment brings its own layouts; its answer is the verdict of a run.
#[test]
fn an_experiment_is_a_question() {
    let scratch = scratch();
    let file = experiment("fair-2006.toml");
    let found = json(scratch.path(), &["tune", &file, "--json"]);
    assert_eq!(found["best"], serde_json::json!({ "volume.interleave": 64 }));
    assert_eq!(found["runner_up"]["volume.interleave"], 32);
    assert_eq!((&found["evaluations"], &found["exhaustive_evaluations"]), (&4.into(), &4.into()));
    assert!(found["difference"]["estimate"].as_f64().unwrap() > 1.05);
    assert_eq!(found["front"].as_array().unwrap().len(), 1);
    assert!(found["reasons"][0]["sentence"].as_str().unwrap().contains("write caches"));
    assert_eq!(found["commands"][1]["line"], "ccdconfig ccd0 64 none $disks");
    // What was measured before is taken, and nothing else.
    stdout(scratch.path(), &["run", &file, "--out", "fair"]);
    let taken = json(scratch.path(), &["tune", &file, "--results", "fair", "--json"]);
    assert_eq!((&taken["verdict"], &taken["evaluations"]), (&found["verdict"], &0.into()));
    let error = |more: &[&str]| {
        let output = ileave(scratch.path(), &[&["tune", &file], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let other = error(&["--results", "fair", "--set", "volume.interleave=64,128"]);
    assert!(other.contains("--results") && other.contains("another experiment"), "{other}");
    assert!(error(&["--objective", "max reed"]).contains("reed"));
    assert!(error(&["--drives", "2xwd740gd"]).contains("cannot be used with"));
    assert!(error(&["--capacity", "50TB"]).contains("write --subject-to 'usable_tb >= 50'"));
    assert!(error(&["--choose", "volume.level"]).contains("was not varied"));
}

/// With an objective of its own a large experiment is raced, not measured whole.
#[test]
fn a_large_experiment_is_raced() {
    if takes_long() {
        return;
    }
    let scratch = scratch();
    let file = experiment("fair-2006.toml");
    let more = [
        "--set",
        "host.max_transfer=16KiB,32KiB,64KiB,128KiB",
        "--set",
        "volume.interleave=8,16,32,64,128,256,512",
    ];
    let ask = [&["tune", &file, "--objective", "max read", "--json"], &more[..]].concat();
    let found = json(scratch.path(), &ask);
    assert_eq!(found["exhaustive_evaluations"], 28);
    assert!(found["evaluations"].as_u64() < Some(28));
    let whole = json(scratch.path(), &[&["run", &file, "--json"], &more[..]].concat());
    let rates =
        whole["trials"].as_array().unwrap().iter().filter(|trial| trial["workload"] == "read");
    let best =
        rates.map(|trial| trial["samples"]["mb_per_s"].as_f64().unwrap()).fold(0.0, f64::max);
    let ours = found["front"][0]["value"].as_f64().unwrap();
    assert!(ours > 0.99 * best, "{ours} of {best}");
}

/// What a stripe without copies gives on cloud volumes is what it gives where it is asked for.
#[test]
fn cloud_volumes_are_shown_without_copies() {
    if takes_long() {
        return;
    }
    let asked = ["tune", "--what-if", "0s", "--drives", "4x gp3", "--workload", "postgres"];
    let with = |more: &[&'static str]| [&asked[..], more].concat();
    let here = scratch();
    let said = stdout(here.path(), &asked);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = words.split(" without copies ").nth(1).expect(&said);
    assert!(line.starts_with("md-stripe, ") && line.contains(" MB/s, 4.3 TB; "), "{line}");
    assert!(line.contains("; one failed volume loses everything: "), "{line}");
    let without = &json(here.path(), &with(&["--json"]))["without_copies"];
    let stripe = json(here.path(), &with(&["--survive", "0", "--level", "md-stripe", "--json"]));
    assert_eq!(without["at"], stripe["best"]);
    assert_eq!(without["gone"], stripe["risk"]["gone"]);
    let rate = format!("{:.1} MB/s", without["value"].as_f64().unwrap());
    assert!(stripe["verdict"].as_str().unwrap().contains(&rate), "{rate}: {stripe}");
    assert!(stripe["without_copies"].is_null());
    // Who says what must survive has decided.
    let decided = stdout(here.path(), &with(&["--survive", "1"]));
    assert!(!decided.contains("without copies"), "{decided}");
}

/// Each command of the guide, and the sentence that it says there. The slow ones run where everything is required,
/// and take the trials of the shipped experiments from the results that `ILEAVE_RESULTS` names.
#[test]
#[expect(clippy::print_stderr, reason = "what is not run is said")]
fn the_guide_says_what_the_program_says() {
    const SLOW: [&str; 7] = [
        "--workload backup",
        "--workload mail",
        "--workload media",
        "--workload vm",
        "brownlee-2005",
        "rosen-1999",
        "tao-1996",
    ];
    let guide = std::fs::read_to_string(project("docs/guide.md")).unwrap();
    let required = is_required();
    let mut cases = 0;
    let mut lines = guide.lines();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("ileave tune ") else { continue };
        let said = lines.by_ref().find_map(|line| line.strip_prefix("> ")).unwrap();
        cases += 1;
        if !required && SLOW.iter().any(|slow| command.contains(slow)) {
            eprintln!("SKIPPED: {command}");
            continue;
        }
        let mut arguments = vec!["tune".to_string()];
        arguments.extend(words(command));
        if let Some(results) = results_of(&arguments) {
            arguments.extend(["--results".into(), results]);
        }
        arguments.push("--json".into());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let is_quick = arguments == with(&["--json"]);
        let found = if is_quick { QUICK_JSON.clone() } else { json(scratch().path(), &arguments) };
        assert_eq!(found["verdict"].as_str().unwrap(), said, "{command}");
    }
    assert_eq!(cases, 14);
}

/// The guide had "10 measured pairs", all right, for months after there were 13.
#[test]
fn the_guide_counts_the_pairs_that_the_program_counts() {
    let text = QUICK_TEXT.split_whitespace().collect::<Vec<_>>().join(" ");
    let number = |before: &str| {
        let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before}: {text}"));
        rest.split(' ').next().unwrap().to_string()
    };
    let (pairs, percent) = (number("certainty only "), number(", and they differ by at most "));
    let said = format!(
        "only {pairs} measured pairs of layouts test the model for this work on flash, and they differ by at most {percent} %."
    );
    let guide = std::fs::read_to_string(project("docs/guide.md")).unwrap();
    let guide = guide.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(guide.contains(&said), "{said}");
}

/// The words of a command, of which those between quotation marks are one. Experiments are the project's.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('\'').enumerate().flat_map(|(place, part)| {
        if place % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
    });
    parts
        .map(|word| match word.strip_prefix("experiments/") {
            Some(name) => experiment(name),
            None => word.into(),
        })
        .collect()
}

/// Where the trials of a shipped experiment are, if its command changes none of them.
fn results_of(arguments: &[String]) -> Option<String> {
    let folder = std::env::var_os("ILEAVE_RESULTS")?;
    let file = std::path::Path::new(arguments.get(1)?);
    let is_changed = arguments.iter().any(|word| word == "--set");
    let is_experiment = file.extension().is_some_and(|end| end == "toml");
    let directory = std::path::Path::new(&folder).join(file.file_stem()?);
    (is_experiment && !is_changed).then(|| directory.display().to_string())
}
