//! Import, report and compare, to the letter.

use super::golden::check;
use super::{experiment, ileave, json, project, scratch, stdout, takes_long};

fn published(name: &str) -> String {
    project("published").join(name).display().to_string()
}

#[test]
fn the_1999_table_is_imported_and_judged_by_its_repeats() {
    let scratch = scratch();
    let shown = stdout(scratch.path(), &["import", "rosen-1999"]);
    check("import-rosen-1999.txt", &shown);
    let report = ["report", "ileave-results/rosen-1999-1", "--markdown"];
    check("report-rosen-1999.md", &stdout(scratch.path(), &report));
    let rows = stdout(scratch.path(), &["report", "ileave-results/rosen-1999-1", "--csv"]);
    let start =
        "workload,repeat,volume.interleave,fs.cylinders,elapsed_s,note\nreaders,0,32,16,1577.0";
    assert!(rows.starts_with(start), "{rows}");
}

/// Of one layout there is no answer, and its place was a bare `****`.
#[test]
fn markdown_of_one_layout_has_no_answer() {
    let scratch = scratch();
    let text = "volume.drives = \"2xwd740gd\"\nvolume.level = \"mirror\"\n\
                workload.r = { kind = \"random\", count = 1000 }\n";
    std::fs::write(scratch.path().join("one.toml"), text).unwrap();
    stdout(scratch.path(), &["run", "one.toml", "--out", "results"]);
    let shown = stdout(scratch.path(), &["report", "results", "--markdown"]);
    assert!(shown.starts_with("# one\n\n") && shown.contains("Ranked by "), "{shown}");
    assert!(!shown.contains("****") && !shown.contains("\n\n\n"), "{shown}");
}

/// A log of 200 commits beside reads of 200 s: "no reliable difference", with 1.00 commits/s on both, though a commit
/// took twice as long on one. `report` by the times and by the rates now say the same.
#[test]
fn a_stream_that_ends_early_has_rates_that_agree_with_its_times() {
    let scratch = scratch();
    let text = "[volume]\ndrives = \"4x ST18000NM000J\"\nlevel = [\"md-raid10\", \"md-raid5\"]\ninterleave = \"64KiB\"\n\
                [drive]\nwrite_cache = false\n[workload.wal]\nkind = \"random\"\nop = \"write\"\nblock = \"8KiB\"\n\
                flush_every = 1\ncount = 200\ngroup = \"oltp\"\n[workload.reads]\nkind = \"random\"\nop = \"read\"\n\
                block = \"16KiB\"\ndepth = 4\nrequests_per_s = 100\nruntime = \"200s\"\ngroup = \"oltp\"\n";
    std::fs::write(scratch.path().join("j.toml"), text).unwrap();
    let shown = stdout(scratch.path(), &["run", "j.toml", "--out", "results"]);
    assert!(
        shown.starts_with("Use level md-raid10: fastest for wal and")
            && shown.contains("ended early"),
        "{shown}"
    );
    assert!(shown.contains("Leave out `workload.wal.count`"), "{shown}");
    assert!(shown.contains("reads, level md-raid10: "), "{shown}");
    for objective in ["min wal.commit_mean_ms", "max wal.commits_per_s"] {
        let report = ["report", "results", "--objective", objective];
        let said = stdout(scratch.path(), &report);
        assert!(said.starts_with("Use level md-raid10"), "{said}");
    }
}

/// It prints trials, and no layouts that wishes could be about.
#[test]
fn csv_takes_no_wishes() {
    let scratch = scratch();
    for wish in [&["--safe"][..], &["--objective", "min tar"], &["--subject-to", "tar <= 5"]] {
        let output = ileave(scratch.path(), &[&["report", "results", "--csv"], wish].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("cannot be used with") && said.contains(wish[0]), "{said}");
    }
}

/// A page takes the place of another whole, and goes into a pipe or through a link as it is.
#[cfg(unix)]
#[test]
fn a_page_is_written_whole_wherever_it_goes() {
    let scratch = scratch();
    let directory = scratch.path();
    stdout(directory, &["import", "fair-2006", "--out", "results"]);
    stdout(directory, &["report", "results", "--html", "page.html"]);
    let before = std::fs::read_to_string(directory.join("page.html")).unwrap() + "<!-- before -->";
    std::fs::write(directory.join("page.html"), &before).unwrap();
    std::fs::hard_link(directory.join("page.html"), directory.join("kept.html")).unwrap();
    std::os::unix::fs::symlink("target.html", directory.join("link.html")).unwrap();
    let page = |file: &str| stdout(directory, &["report", "results", "--html", file]);
    page("page.html");
    page("link.html");
    let read = |file: &str| std::fs::read_to_string(directory.join(file)).unwrap();
    assert_eq!(read("kept.html"), before);
    assert!(read("page.html").contains("</html>") && read("page.html") == read("target.html"));
    assert!(directory.join("link.html").is_symlink());
    let piped = page("/dev/stdout");
    assert!(piped.starts_with(&read("page.html")) && piped.ends_with("Page: /dev/stdout\n"));
    let left = std::fs::read_dir(directory)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".new"));
    assert_eq!(left.count(), 0);
}

#[test]
fn the_2005_table_safely() {
    if takes_long() {
        return;
    }
    let scratch = scratch();
    stdout(scratch.path(), &["import", &published("brownlee-2005.toml")]);
    let report = ["report", "ileave-results/brownlee-2005-1", "--safe"];
    check("report-brownlee-2005-safe.txt", &stdout(scratch.path(), &report));
    let report = ["report", "ileave-results/brownlee-2005-1", "--json"];
    let again = ["import", "brownlee-2005", "--json"];
    assert_eq!(json(scratch.path(), &again), json(scratch.path(), &report));
    let report = ["report", "ileave-results/brownlee-2005-1", "--safe", "--json"];
    let best = &json(scratch.path(), &report)["verdict"]["ranked"][0];
    assert_eq!(best["at"]["fs.mount"], "softdep");
}

#[test]
fn published_against_simulated() {
    let scratch = scratch();
    stdout(scratch.path(), &["import", "fair-2006", "--out", "theirs"]);
    stdout(scratch.path(), &["run", &experiment("fair-2006.toml"), "--out", "ours"]);
    check("compare-fair-2006.txt", &stdout(scratch.path(), &["compare", "theirs", "ours"]));
}

/// A factor that only one side varies, and of which the other says nothing, leaves several cells for one: there is
/// nothing to compare with.
#[test]
fn cells_that_could_be_several_are_not_compared() {
    let scratch = scratch();
    let workloads = "workload.read = { kind = \"random\", op = \"read\", count = 20 }\n\
                     workload.write = { kind = \"random\", op = \"write\", count = 20 }\n";
    for (name, interleave) in
        [("varied", ", interleave = [8, 128]"), ("fixed", ", interleave = 128"), ("silent", "")]
    {
        let volume =
            format!("volume = {{ drives = \"2xwd740gd\", level = \"stripe\"{interleave} }}\n");
        let file = scratch.path().join(format!("{name}.toml"));
        std::fs::write(file, format!("name = \"{name}\"\n{volume}{workloads}")).unwrap();
        stdout(scratch.path(), &["run", &format!("{name}.toml"), "--out", name]);
    }
    for (first, second, alone, cells) in
        [("varied", "silent", 6, 0), ("fixed", "varied", 2, 2), ("varied", "varied", 0, 4)]
    {
        let output = ileave(scratch.path(), &["compare", first, second, "--json"]);
        // Nothing in common is a failure, and the parts are said all the same.
        assert_eq!(output.status.code(), Some(i32::from(cells == 0)), "{first} and {second}");
        let compared: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(compared["alone"], alone, "{first} and {second}: {compared}");
        assert_eq!(compared["cells"].as_array().unwrap().len(), cells);
    }
}

#[test]
fn errors_name_place_and_next_step() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("dd.log"), "10 bytes transferred in x secs (1)\n").unwrap();
    let error = |arguments: &[&str]| {
        let output = ileave(scratch.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(error(&["import", "dd.log"]).contains("dd.log:1:25: `x` is not a number"));
    assert!(error(&["import", "nothing"]).contains("cannot read nothing"));
    stdout(scratch.path(), &["import", "rosen-1999", "--out", "r"]);
    let wrong = error(&["report", "r", "--objective", "min reeders"]);
    assert!(
        wrong.contains("column 5: `reeders` is not measured; did you mean `readers`?"),
        "{wrong}"
    );
    assert!(error(&["man", "nonsense"]).contains("`ileave help` lists them"));
}

#[test]
fn completions_and_pages_come_from_the_flags() {
    let scratch = scratch();
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(scratch.path(), &["completions", shell]).contains("subject-to"));
    }
    assert!(stdout(scratch.path(), &["man"]).contains(".TH ileave 1"));
    assert!(stdout(scratch.path(), &["man", "report"]).contains("subject\\-to"));
}

/// What no layout was measured for is no quantity that a page could draw: its charts would be empty.
#[test]
fn workloads_on_volumes_of_their_own_are_looked_at_one_by_one() {
    let scratch = scratch();
    let here = scratch.path();
    let workload = |name: &str, drives: &str| {
        format!(
            "[workload.{name}]\nkind = \"random\"\ncount = 50\n[workload.{name}.volume]\n\
             drives = [{drives}]\nlevel = \"stripe\"\n"
        )
    };
    let text = workload("a", "\"1xst41601n\", \"2xst41601n\"")
        + &workload("b", "\"3xst41601n\", \"4xst41601n\"");
    std::fs::write(here.join("apart.toml"), text).unwrap();
    let said = stdout(here, &["run", "apart.toml", "--out", "results"]);
    assert!(said.contains("No layout ran every workload"), "{said}");
    stdout(here, &["report", "results", "--html", "page.html"]);
    let page = std::fs::read_to_string(here.join("page.html")).unwrap();
    assert!(page.contains("\"name\":\"a\"") && !page.contains("\"name\":\"every workload\""));
}

/// What a log's drives win and risk: one alone is named, with what is safer.
#[test]
fn a_log_on_one_drive_is_named_as_a_risk() {
    let scratch = scratch();
    let file = experiment("mixed-generation.toml");
    let told = |drives: &str| {
        let log = format!("volume.log_drives={drives}");
        let run = ["run", &file, "--set", &log, "--set", "volume.interleave=512KiB,1MiB"];
        stdout(scratch.path(), &run).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let alone = told("1x980-pro-1tb");
    assert!(alone.contains("the log is on one drive: if that fails"), "{alone}");
    assert!(alone.contains("safe choice give the log a second drive"), "{alone}");
    let both = told("1x980-pro-1tb,2x980-pro-1tb");
    assert!(both.contains("safe choice") && both.contains("2x980-pro-1tb, no reliable"), "{both}");
    let copied = told("2x980-pro-1tb");
    assert!(!copied.contains("the log is on") && !copied.contains("safe choice"), "{copied}");
}

/// Where no layout meets what is asked, the report is printed and the status says so, as `ileave tune` has it.
#[test]
fn what_no_layout_meets_is_a_failure() {
    let scratch = scratch();
    let text = "[volume]\ndrives = '2xwd740gd'\nlevel = 'stripe'\ninterleave = [8, 128]\n\
                [workload.seq]\nkind = 'sequential'\ncount = 100\n";
    std::fs::write(scratch.path().join("s.toml"), text).unwrap();
    stdout(scratch.path(), &["run", "s.toml"]);
    let report = ["report", "ileave-results/s-1", "--subject-to"];
    for form in [&[][..], &["--json"], &["--markdown"]] {
        let asked = [&report[..], &["seq >= 99999"], form].concat();
        let output = super::ileave(scratch.path(), &asked);
        assert_eq!(output.status.code(), Some(1), "{form:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("No layout meets all that is asked of it (`--subject-to`"), "{said}");
    }
    stdout(scratch.path(), &[&report[..], &["seq >= 1"]].concat());
    // What the file asks for counts as much.
    let of_file = |least: u64| format!("{text}[ask]\nsubject_to = 'seq >= {least}'\n");
    std::fs::write(scratch.path().join("t.toml"), of_file(99_999)).unwrap();
    let output = super::ileave(scratch.path(), &["run", "t.toml"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no layout meets what `ask.subject_to` asks for"), "{said}");
    // Each by its own name: with `--safe` that was named alone, and the limit of the file as that of a flag.
    let said_of = |arguments: &[&str]| {
        let output = super::ileave(scratch.path(), arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let report = ["report", "ileave-results/t-1"];
    let limit = ["--subject-to", "seq >= 99998"];
    for (flags, asked) in [
        (&[][..], "`ask.subject_to` asks"),
        (&["--safe"], "`ask.subject_to` and `--safe` ask"),
        (&limit, "`--subject-to` and `ask.subject_to` ask"),
        (&["--subject-to", "seq >= 99999"], "`--subject-to` asks"),
    ] {
        for command in [&report[..], &["tune", "t.toml", "--what-if", "0s"]] {
            let said = said_of(&[command, flags].concat());
            assert!(said.contains(&format!("no layout meets what {asked} for")), "{said}");
        }
    }
    let safe = format!("{}safe = true\n", of_file(1));
    std::fs::write(scratch.path().join("u.toml"), safe).unwrap();
    let asks = "no layout meets what `ask.subject_to` and `ask.safe` ask for";
    assert!(said_of(&["run", "u.toml"]).contains(asks));
    assert!(said_of(&["report", "ileave-results/u-1"]).contains(asks));
    std::fs::write(scratch.path().join("t.toml"), of_file(1)).unwrap();
    stdout(scratch.path(), &["run", "t.toml"]);
    for form in [&[][..], &["--json"]] {
        let asked = [&["tune", "s.toml", "--subject-to", "seq >= 99999"][..], form].concat();
        let output = super::ileave(scratch.path(), &asked);
        assert_eq!(output.status.code(), Some(1), "{form:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("No layout meets all that is asked of it (`--subject-to`"), "{said}");
    }
}
