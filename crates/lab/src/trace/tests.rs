//! Traces from their files to a run: formats, compression, places, what is odd.

use super::*;
use crate::error::Result;
use crate::experiment::{Experiment, Plan, Trial};
use crate::record::{Measured, Record};
use crate::rig::{self, Rig, sim::Sim};
use crate::run::{Keep, run};
use flate2::{Compression, write::GzEncoder};
use std::io::Write as _;
use std::path::Path;
use tempfile::TempDir;

/// A small trace of each format, made by hand, all of the same four requests: two writes of 8 KiB and two reads of 4 KiB
/// within 3 ms, those of whole seconds within one, and of fio's second version with waits.
const SAMPLES: [(&str, &str); 8] = [
    (
        "fio2",
        "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda write 0 8192\n/dev/sda wait 1000 0\n\
         /dev/sda read 1048576 4096\n/dev/sda wait 1000 0\n/dev/sda write 8192 8192\n/dev/sda wait 1000 0\n\
         /dev/sda read 2097152 4096\n/dev/sda close\n",
    ),
    (
        "fio3",
        "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n10 /dev/sda write 0 8192\n1010 /dev/sda read 1048576 4096\n\
         2010 /dev/sda write 8192 8192\n3010 /dev/sda read 2097152 4096\n3020 /dev/sda close\n",
    ),
    (
        "blkparse",
        "  8,0    1        1     0.000000000  2923  Q   W 0 + 16 [fio]\n\
         \x20 8,0    1        2     0.000001000  2923  G   W 0 + 16 [fio]\n\
         \x20 8,0    1        3     0.001000000  2923  Q   R 2048 + 8 [fio]\n\
         \x20 8,0    1        4     0.001500000     0  C   W 0 + 16 [0]\n\
         \x20 8,0    1        5     0.002000000  2923  Q  WS 16 + 16 [fio]\n\
         \x20 8,0    1        6     0.003000000  2923  Q   R 4096 + 8 [fio]\n\
         CPU1 (sda):\n Reads Queued:           2,        8KiB\n",
    ),
    (
        "msr",
        "128166372003061629,usr,0,Write,0,8192,41286\n128166372003071629,usr,0,Read,1048576,4096,1331\n\
         128166372003081629,usr,0,Write,8192,8192,2000\n128166372003091629,usr,0,Read,2097152,4096,2000\n",
    ),
    (
        "alibaba",
        "device_id,opcode,offset,length,timestamp\n7,W,0,8192,1577808000000626\n7,R,1048576,4096,1577808000001626\n\
         7,W,8192,8192,1577808000002626\n7,R,2097152,4096,1577808000003626\n",
    ),
    (
        "tencent",
        "1538323200,0,16,1,1063\n1538323200,2048,8,0,1063\n1538323200,16,16,1,1063\n1538323200,4096,8,0,1063\n",
    ),
    (
        "spc",
        "0,0,8192,W,0.551706\n0,2048,4096,r,0.552706\n0,16,8192,w,0.553706\n0,4096,4096,R,0.554706\n",
    ),
    (
        "systor",
        "Timestamp,Response,IOType,LUN,Offset,Size\n1455592800.000000,0.000125,W,3,0,8192\n\
         1455592800.001000,0.000125,R,3,1048576,4096\n1455592800.002000,,W,3,8192,8192\n\
         1455592800.003000,0.000125,R,3,2097152,4096\n",
    ),
];

fn written(at: &TempDir, name: &str, bytes: &[u8]) -> String {
    let path = at.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

fn trace(file: &str) -> Result<(Trace, Survey)> {
    let trace = Trace::open(vec![file.into()], None, Vec::new())?;
    let survey = trace.survey()?;
    Ok((trace, survey))
}

fn experiment(keys: &str) -> Result<Experiment> {
    let text = format!(
        "[volume]\ndrives = '1x980-pro-1tb'\nlevel = 'single'\n[workload.t]\nkind = 'trace'\n{keys}\n"
    );
    Experiment::parse("some.toml", &text)
}

fn measured(keys: &str) -> Result<Measured> {
    let plan = Plan::new(&experiment(keys)?)?;
    Sim.admit(&plan.trials[0])?;
    rig::run(&Sim, &plan.trials[0])
}

#[test]
fn a_trace_of_each_format_is_recognised_read_and_replayed() {
    let at = TempDir::new().unwrap();
    for (format, text) in SAMPLES {
        let file = written(&at, format, text.as_bytes());
        let (trace, survey) = trace(&file).unwrap();
        assert_eq!(trace.formats[0].word(), format);
        let counts = (survey.requests, survey.reads, survey.writes, survey.odd.malformed);
        assert_eq!(counts, (4, 2, 2, 0), "{format}");
        assert_eq!((survey.read_bytes, survey.write_bytes), (8192, 16_384), "{format}");
        assert_eq!((survey.disks.len(), survey.disks[0].1), (1, 4104), "{format}");
        let span_ns = if format == "tencent" { 750_000_000 } else { 3_000_000 };
        assert_eq!(survey.span_ns, span_ns, "{format}");
        let survey = Arc::new(survey);
        let onto = Onto::volume(&survey, 1 << 20).unwrap();
        let requests: Vec<Traced> = trace.replay(&survey, onto, ONCE).unwrap().collect();
        let places: Vec<(u64, u32)> =
            requests.iter().map(|of| (of.request.sector, of.request.sectors)).collect();
        assert_eq!(places, [(0, 16), (2048, 8), (16, 16), (4096, 8)], "{format}");
        assert_eq!((requests[0].at_ns, requests[3].at_ns), (0, span_ns), "{format}");
        let open = measured(&format!("file = '{file}'")).unwrap();
        assert_eq!((open.requests, open.samples[0].0), (4, "latency_p99_ms"), "{format}");
        assert!((open.value("elapsed_s").unwrap() - span_ns as f64 / 1e9).abs() < 2e-3);
    }
}

/// Compressed, a trace is the same, and so is what runs on it; its digest is of the file.
#[test]
fn compressed_traces_are_read_as_they_are() {
    let at = TempDir::new().unwrap();
    let text = SAMPLES[3].1.as_bytes();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(text).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = |text: &[u8]| {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    };
    // Of two members, or frames, as tools that work in parallel write them.
    let half = text.len() / 2;
    let frames = [zstd(&text[..half]), zstd(&text[half..])].concat();
    let plain = trace(&written(&at, "plain", text)).unwrap().1;
    for (name, bytes) in [("a.gz", gzip), ("a.zst", zstd(text)), ("b.zst", frames)] {
        let survey = trace(&written(&at, name, &bytes)).unwrap().1;
        assert_ne!(survey.digest, plain.digest);
        assert_eq!(Survey { digest: plain.digest.clone(), ..survey }, plain, "{name}");
        let cut = written(&at, "cut", &bytes[..bytes.len() - 5]);
        let said = trace(&cut).map(|(_, survey)| survey.requests);
        assert!(said.is_err(), "{name}: {said:?}");
    }
}

/// Windows' programs write a byte order mark in front: it cost the first request.
#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let at = TempDir::new().unwrap();
    let (_, text) = SAMPLES[3];
    let plain = written(&at, "plain.csv", text.as_bytes());
    let marked = written(&at, "marked.csv", format!("\u{feff}{text}").as_bytes());
    let [plain, marked] = [plain, marked].map(|file| trace(&file).unwrap().1);
    assert_eq!(marked.odd, Oddities::default());
    assert_eq!(marked.requests, plain.requests);
}

#[test]
fn malformed_lines_are_counted_and_named_and_too_many_are_an_error() {
    let at = TempDir::new().unwrap();
    let good = "7,R,1048576,4096,1577808000001626\n".repeat(99);
    let few = written(&at, "few", format!("{good}7,R,oops\n{good}").as_bytes());
    let survey = trace(&few).unwrap().1;
    assert_eq!((survey.requests, survey.odd.malformed), (198, 1));
    assert!(survey.odd.first_malformed.unwrap().ends_with("few:100: `7,R,oops`"));
    let plan =
        Plan::new(&experiment(&format!("file = '{few}'\nreplay = 'closed'")).unwrap()).unwrap();
    let warning = &plan.warnings[0];
    assert!(
        warning.contains("1 malformed line of") && warning.ends_with("few:100: `7,R,oops`"),
        "{warning}"
    );
    let many = written(&at, "many", format!("{good}7,R,oops\n7,R,oops\n").as_bytes());
    let said = trace(&many).unwrap_err().to_string();
    assert!(said.contains("2 of 101 lines") && said.contains("many:100"), "{said}");
    for (name, bytes) in
        [("empty", &b""[..]), ("binary", &[0, 1, 255, 10, 13]), ("text", b"hello\n")]
    {
        let said = trace(&written(&at, name, bytes)).unwrap_err().to_string();
        let expected = if bytes.is_empty() { "is empty" } else { "name it by `format`" };
        assert!(said.contains(expected), "{said}");
    }
    let gone = trace("/nowhere/a.csv").unwrap_err().to_string();
    assert!(gone.contains("/nowhere/a.csv"), "{gone}");
}

/// Files are merged by their times, and their disks lie one behind the other.
#[test]
fn several_disks_and_files_come_onto_one_volume() {
    let at = TempDir::new().unwrap();
    let one = written(&at, "one", b"100,usr,0,Write,0,4096,1\n300,usr,1,Read,512,1024,1\n");
    let two = written(&at, "two", b"200,web,0,Read,1048576,512,1\n150,web,0,Read,0,512,1\n");
    let trace = Trace::open(vec![one.into(), two.into()], Some(Format::Msr), Vec::new()).unwrap();
    let survey = Arc::new(trace.survey().unwrap());
    let names: Vec<&str> = survey.disks.iter().map(|(name, _)| name.as_str()).collect();
    // The two of `two` are out of order, and sorted.
    assert_eq!((names, survey.odd.early), (vec!["usr,0", "web,0", "usr,1"], 0));
    let replay = |sectors| {
        let onto = Onto::volume(&survey, sectors).unwrap();
        let folded = onto.is_folded;
        let requests = trace.replay(&survey, onto, 2 * ONCE).unwrap();
        (folded, requests.map(|of| (of.at_ns, of.request.sector)).collect::<Vec<_>>())
    };
    // 2048 sectors, 4096 and then 2048 again; twice as fast.
    assert_eq!(replay(1 << 20), (false, vec![(0, 0), (2500, 2048), (5000, 4096), (10_000, 6145)]));
    // A quarter of the room: 512 sectors, 1024 and 512. What is at 2048 of 1024 folds to 0.
    assert_eq!(replay(2048), (true, vec![(0, 0), (2500, 512), (5000, 512), (10_000, 1537)]));
    assert!(Onto::volume(&survey, 16).unwrap_err().to_string().contains("usr,0"));
    let wanted = Trace::open(trace.files.clone(), Some(Format::Msr), vec!["usr,1".into()]).unwrap();
    assert_eq!(wanted.survey().unwrap().requests, 1);
}

/// Small writes to one disk and large reads of another: the share of the first has room for its own.
#[test]
fn a_disks_share_has_room_for_its_own_requests() {
    let at = TempDir::new().unwrap();
    let text =
        "100,usr,0,Write,0,4096,1\n200,usr,1,Read,0,2097152,1\n300,usr,0,Write,4096,4096,1\n";
    let (_, survey) = trace(&written(&at, "two", text.as_bytes())).unwrap();
    assert_eq!(survey.largest, [8, 4096]);
    Onto::volume(&survey, 1 << 20).unwrap();
    let said = Onto::volume(&survey, 2048).unwrap_err().to_string();
    assert!(
        said.contains("disk usr,1 of the trace 1360, and its largest request has 4096"),
        "{said}"
    );
}

/// Streams that are written as they are done lie a little out of order: they are sorted. What lies further back is counted, and much of
/// it is no trace that has times.
#[test]
fn a_trace_that_is_out_of_order_is_sorted_or_refused() {
    let at = TempDir::new().unwrap();
    let text = |times: &[u64]| {
        let line = |&at: &u64| format!("{},usr,0,Read,{},4096,1\n", 10_000 * at, 8192 * at);
        times.iter().map(line).collect::<String>()
    };
    let said = |name: &str, times: &[u64]| {
        let file = written(&at, name, text(times).as_bytes());
        let plan = Plan::new(&experiment(&format!("file = '{file}'"))?)?;
        Ok::<_, Error>((rig::run(&Sim, &plan.trials[0])?, plan.warnings))
    };
    let ordered: Vec<u64> = (1..=600).collect();
    let mut swapped = ordered.clone();
    swapped.swap(100, 300);
    let (sorted, warnings) = said("swapped", &swapped).unwrap();
    assert_eq!(
        (&sorted.samples, warnings),
        (&said("ordered", &ordered).unwrap().0.samples, vec![])
    );
    // One that comes 9000 lines late is one that comes with the one before it.
    let mut late: Vec<u64> = (2..10_000).collect();
    late.push(1);
    let (_, warnings) = said("late", &late).unwrap();
    assert!(
        warnings[0].contains("1 request of") && warnings[0].contains("comes with"),
        "{warnings:?}"
    );
    let reversed: Vec<u64> = (1..5000).rev().collect();
    let error = said("reversed", &reversed).unwrap_err().to_string();
    assert!(error.contains("3975 of 4999 requests") && error.contains("1 % may"), "{error}");
    assert!(error.contains("sort the file by time"), "{error}");
}

/// Of blkparse's events only those that are queued are requests of the program's.
#[test]
fn a_trace_of_blkparse_without_queued_requests_is_named() {
    let at = TempDir::new().unwrap();
    let line = "  8,0    1        3    0.001447900  1234  D  WS 2117504 + 16 [fio]\n";
    let said = trace(&written(&at, "d.txt", line.repeat(3).as_bytes())).unwrap_err().to_string();
    assert!(said.contains("it has no requests; of blkparse's events only Q is replayed"), "{said}");
    assert!(said.contains("`-a queue`"), "{said}");
    let none = trace(&written(&at, "none", b"who knows\n")).unwrap_err().to_string();
    assert!(none.contains("none of the first lines is of a format that is known"), "{none}");
}

/// A journal's commit block has its flush before it and is forced: they were dropped, and a commit took 15 µs.
#[test]
fn writes_of_blkparse_have_the_flushes_that_they_had() {
    let at = TempDir::new().unwrap();
    let mean_ms = |flags: &str| {
        let line = |index: u64| {
            format!("8,0 1 3 {}.000000000 9 Q {flags} {} + 8 [jbd2]\n", index, 8 * index)
        };
        let file = written(&at, flags, (1..200).map(line).collect::<String>().as_bytes());
        let measured = measured(&format!("file = '{file}'")).unwrap();
        (measured.value("latency_mean_ms").unwrap(), measured.value("flushes"))
    };
    let of = ["WS", "FWS", "WFS", "FWFS"].map(mean_ms);
    assert_eq!(of.map(|(_, flushes)| flushes), [None, Some(199.0), None, Some(199.0)]);
    let [plain, flushed, forced, both] = of.map(|(mean_ms, _)| mean_ms);
    // A second later nothing is left to flush; what is forced waits for its program.
    assert!(plain * 1.2 < flushed && plain * 10.0 < forced && forced < both, "{of:?}");
}

/// What is not as it was in the trace stands beside the answer: times within a second, and places beyond the volume.
#[test]
fn what_is_invented_of_a_trace_is_doubted() {
    let at = TempDir::new().unwrap();
    let doubts = |name: &str, text: &str, keys: &str| {
        let file = written(&at, name, text.as_bytes());
        let experiment = experiment(&format!("file = '{file}'\n{keys}")).unwrap();
        run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap().manifest.doubts
    };
    let tencent = SAMPLES[5].1;
    let said = doubts("ten", tencent, "");
    assert!(said.len() == 1 && said[0].contains("those within a second are invented"), "{said:?}");
    assert_eq!(doubts("ten", tencent, "replay = 'closed'"), [""; 0]);
    let msr = SAMPLES[3].1;
    assert_eq!(doubts("msr", msr, ""), [""; 0]);
    let far = format!("{msr}128166372003101629,usr,0,Read,8000000000000,4096,2000\n");
    let said = doubts("far", &far, "");
    let words = "1 of its 5 requests lie beyond their disk's share and are folded back";
    assert!(said.len() == 1 && said[0].contains(words), "{said:?}");
}

/// Nothing of it takes a time, and every layout was the best at 0 ms.
#[test]
fn a_trace_of_discards_alone_is_refused() {
    let at = tempfile::tempdir().unwrap();
    let head = "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n";
    let trims = "/dev/sda trim 0 8192\n/dev/sda trim 8192 8192\n/dev/sda sync 0 0\n";
    let refused = trace(&written(&at, "t.log", format!("{head}{trims}").as_bytes()));
    let said = refused.unwrap_err().to_string();
    let only = "t.log: it has only discards (2) and flushes (1); layouts are compared by how long";
    assert!(said.contains(only), "{said}");
    assert!(said.ends_with("give a trace that has some"), "{said}");
    let other = format!("{head}{trims}/dev/sda read 0 4096\n");
    assert!(trace(&written(&at, "r.log", other.as_bytes())).is_ok());
}

/// Opened, a pipe waits for somebody who writes to it, for ever.
#[cfg(unix)]
#[test]
fn a_pipe_is_no_trace() {
    let at = TempDir::new().unwrap();
    let pipe = at.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for file in [pipe.display().to_string(), at.path().display().to_string()] {
        let said = trace(&file).unwrap_err().to_string();
        assert!(said.contains(&file) && said.contains("not a regular file"), "{said}");
    }
}

/// Microsoft's clock counts from 1601 and Alibaba's from 1970: 356 years passed without a word.
#[test]
fn traces_of_different_times_are_said_to_be() {
    let at = TempDir::new().unwrap();
    let [msr, ali] = [3, 4].map(|of| written(&at, SAMPLES[of].0, SAMPLES[of].1.as_bytes()));
    let later = |name: &str, hours: u64| {
        let at_100_ns = 128_166_372_003_061_629 + hours * 36_000_000_000;
        written(&at, name, format!("{at_100_ns},usr,0,Read,0,4096,1\n").as_bytes())
    };
    let warnings = |keys: &str| Plan::new(&experiment(keys).unwrap()).unwrap().warnings;
    let said = warnings(&format!("file = '{msr}+{ali}'"));
    assert_eq!(said.len(), 1, "{said:?}");
    let apart =
        format!("{msr} begins 130079 days after {ali} has ended, and nothing comes in between");
    assert!(said[0].contains("`workload.t.file`: ") && said[0].contains(&apart), "{said:?}");
    assert_eq!(warnings(&format!("file = '{msr}+{ali}'\nreplay = 'closed'")), [""; 0]);
    assert_eq!(warnings(&format!("file = '{msr}+{}'", later("next", 23))), [""; 0]);
    let said = warnings(&format!("file = '{}+{msr}'", later("last", 49)));
    assert!(said[0].contains("last begins 2 days after"), "{said:?}");
}

/// `--set` takes a comma for the end of a value, so that Microsoft's disks could not be named.
#[test]
fn disks_are_named_with_a_colon_for_the_comma() {
    let at = TempDir::new().unwrap();
    let text = "100,usr,0,Write,0,4096,1\n300,usr,1,Read,512,1024,1\n400,usr,1,Read,0,512,1\n";
    let file = written(&at, "msr", text.as_bytes());
    let requests = |disks: &str| {
        let mut experiment = experiment(&format!("file = '{file}'\nreplay = 'closed'"))?;
        experiment.set(&format!("workload.t.disks={disks}"))?;
        let plan = Plan::new(&experiment)?;
        rig::run(&Sim, &plan.trials[0]).map(|measured| measured.requests)
    };
    assert_eq!(requests("usr:1").unwrap(), 2);
    assert_eq!(requests("usr:0+usr:1").unwrap(), 3);
    let said = requests("usr,1").unwrap_err().to_string();
    for words in ["name other `disks` than usr", "it has usr,0 + usr,1", "to be: usr:0"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// The same twice, and the manifest knows the files.
#[test]
fn a_replay_is_the_same_twice_and_its_files_are_in_the_manifest() {
    let at = TempDir::new().unwrap();
    let file = written(&at, "msr", SAMPLES[3].1.as_bytes());
    let ran = |keys: &str| {
        let experiment = experiment(&format!("file = '{file}'\n{keys}")).unwrap();
        run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap()
    };
    let (one, two) = (ran(""), ran(""));
    assert_eq!(one.records(), two.records());
    assert_eq!(one.manifest.traces[&file].len(), 16);
    let closed = ran("replay = 'closed'\ndepth = 2\ncount = 3");
    let record = &closed.records()[0];
    assert_eq!((record.requests, record.samples.names().next().unwrap()), (3, "mb_per_s"));
    assert!(record.sample("elapsed_s").unwrap() < 0.002);
}

#[test]
fn keys_of_a_trace_that_mean_nothing_are_refused() {
    let at = TempDir::new().unwrap();
    let file = written(&at, "msr", SAMPLES[3].1.as_bytes());
    let said = |keys: &str| measured(keys).unwrap_err().to_string();
    assert!(said("").contains("`workload.t.file` is not set"));
    assert!(
        said(&format!("file = '{file}'\ndepth = 4")).contains("`workload.t.depth` has no effect")
    );
    let speed = said(&format!("file = '{file}'\nreplay = 'closed'\nspeed = '2'"));
    assert!(speed.contains("`workload.t.speed` has no effect"));
    // A number needs no quotes.
    for speed in ["1000", "0.5", "'2x'"] {
        Plan::new(&experiment(&format!("file = '{file}'\nspeed = {speed}")).unwrap()).unwrap();
    }
    let fast = said(&format!("file = '{file}'\nspeed = 1001"));
    assert!(fast.contains("from 0.001 to 1000"), "{fast}");
    assert!(said(&format!("file = '{file}'\nformat = 'spc'")).contains("not of the format spc"));
    let bare = written(&at, "fio", b"fio version 2 iolog\na read 0 512\na read 512 512\n");
    assert!(said(&format!("file = '{bare}'\nreplay = 'open'")).contains("needs times"));
    for replay in ["", "replay = 'closed'"] {
        measured(&format!("file = '{bare}'\n{replay}")).unwrap();
    }
    assert!(Path::new(&bare).exists());
}

fn a_disk_is_overloaded_and_flash_is_not(file: &str) {
    let of = |drive: &str| {
        let text = format!(
            "[volume]\ndrives = '{drive}'\nlevel = 'single'\n[workload.t]\nkind = 'trace'\nfile = '{file}'\n"
        );
        let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap()).unwrap();
        rig::run(&Sim, &plan.trials[0]).unwrap()
    };
    let (disk, flash) = (of("1xwd740gd"), of("1x980-pro-1tb"));
    assert_eq!((disk.value("overloaded"), disk.value("steady")), (Some(1.0), Some(0.0)));
    assert_eq!(flash.value("overloaded"), None);
}

/// More comes than a disk can do: found, and nothing of its latency is called steady.
#[test]
fn a_trace_that_is_too_fast_is_overloaded() {
    let at = TempDir::new().unwrap();
    let line = |index: u64| {
        let offset = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 10_000_000 * 4096;
        format!("{},usr,0,Read,{offset},4096,1", 128_166_372_003_061_629 + 20_000 * index)
    };
    let text = (0..4000).map(line).collect::<Vec<_>>().join("\n");
    let file = written(&at, "msr", text.as_bytes());
    a_disk_is_overloaded_and_flash_is_not(&file);
}

/// What waits for its flush has come, too: more of them than a disk can do are as much too fast.
#[test]
fn commits_that_come_too_fast_are_overloaded() {
    let at = TempDir::new().unwrap();
    let line = |index: u64| {
        let at_ms = 5 * index;
        let (s, ms) = (at_ms / 1000, at_ms % 1000);
        format!("8,0 1 3 {s}.{ms:03}000000 9 Q FWFS {} + 8 [jbd2]\n", 8 * (index % 1000))
    };
    let file = written(&at, "fwfs", (0..2000).map(line).collect::<String>().as_bytes());
    a_disk_is_overloaded_and_flash_is_not(&file);
}

/// Reads and writes at random on a disk, with a write cache, at 90 a second.
fn disk_trace(at: &TempDir, requests: u64) -> String {
    let mut state = 1_u64;
    let mut draw = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut at_100_ns = 128_166_372_003_061_629;
    let mut line = |_| {
        at_100_ns += 20_000 + draw(180_000);
        let op = if draw(10) < 3 { "Write" } else { "Read" };
        format!("{at_100_ns},usr,0,{op},{},8192,1\n", draw(10_000_000) * 4096)
    };
    written(at, "disk", (0..requests).map(&mut line).collect::<String>().as_bytes())
}

fn record_of(file: &str, keys: &str) -> Record {
    let text = format!(
        "[volume]\ndrives = '1xst18000nm000j'\nlevel = 'single'\n[workload.t]\nkind = 'trace'\nfile = '{file}'\n{keys}\n"
    );
    let experiment = Experiment::parse("some.toml", &text).unwrap();
    let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
    let mut records = ran.joined().unwrap().records();
    assert_eq!(records.len(), 1);
    records.remove(0)
}

/// Each window is a trial, together they are one, and what they measure is what the whole does: docs/scale.md has the
/// errors of longer traces.
#[test]
fn windows_together_are_the_whole_trace() {
    let at = TempDir::new().unwrap();
    let file = disk_trace(&at, 4000);
    let plan = Plan::new(&experiment(&format!("file = '{file}'\nwindows = 7")).unwrap()).unwrap();
    let mut numbers: Vec<u64> = plan.trials.iter().filter_map(Trial::window).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
    // In a closed replay platters are elsewhere, so that what is rare in 4000 requests differs.
    let judged =
        ["mb_per_s", "latency_mean_ms", "latency_p50_ms", "latency_p99_ms", "members_busy"];
    for (replay, most) in [("", 0.001), ("replay = 'closed'\ndepth = 4", 0.03)] {
        let whole = record_of(&file, replay);
        for windows in [2, 7] {
            let keys = format!("{replay}\nwindows = {windows}\nwarm_up = 200");
            let joined = record_of(&file, &keys);
            assert_eq!(joined.requests, 4000);
            assert_eq!(joined.latencies().unwrap().len(), 4000);
            for (name, value) in whole.samples.iter() {
                // Those of steadiness are of each window.
                let value = value.unwrap();
                let is_of_window =
                    ["steady", "cached_share", "interval_percent", "latency_interval_percent"]
                        .contains(&name);
                let is_rare = !replay.is_empty() && !judged.contains(&name);
                if is_of_window || is_rare || value == 0.0 {
                    continue;
                }
                let error = joined.sample(name).unwrap() / value - 1.0;
                assert!(error.abs() <= most, "{windows} windows, {replay}: {name} is {error} off");
            }
        }
    }
}

#[test]
fn windows_that_make_no_sense_are_refused() {
    let at = TempDir::new().unwrap();
    let file = written(&at, "msr", SAMPLES[3].1.as_bytes());
    for (keys, expected) in [
        ("windows = 0", "workload.t.windows"),
        ("windows = 5", "`workload.t.windows` = 5 is more than the 4 requests"),
        ("windows = 2\nwarm_up = 4", "`workload.t.warm_up` = 4 is as long as the trace"),
        ("warm_up = 2", "`workload.t.warm_up` has no effect without `windows`"),
        (
            "windows = 2\nreplay = 'closed'\ndepth = 2",
            "`workload.t.windows` = 2 makes windows of 2 requests, 2 in flight",
        ),
    ] {
        let said = measured(&format!("file = '{file}'\n{keys}")).unwrap_err().to_string();
        assert!(said.contains(expected), "{keys}: {said}");
    }
    let longer = disk_trace(&at, 100);
    let keys = "windows = 4\nwarm_up = 5\nreplay = 'closed'\ndepth = 8";
    let said = measured(&format!("file = '{longer}'\n{keys}")).unwrap_err().to_string();
    assert!(said.contains("`workload.t.warm_up` = 5 is less than the 8 requests"), "{said}");
    let compared = format!(
        "run = {{ compare_within = '5%' }}\n[volume]\ndrives = '1x980-pro-1tb'\n[workload.t]\nkind = 'trace'\n\
         file = '{file}'\nwindows = 2\n"
    );
    let said = Experiment::parse("some.toml", &compared).and_then(|of| Plan::new(&of)).unwrap_err();
    assert!(said.to_string().contains("does not go with `run.compare_within`"), "{said}");
    let other = "[volume]\ndrives = '1x980-pro-1tb'\n[workload.t]\nkind = 'random'\nwindows = 2\n";
    let said = Experiment::parse("some.toml", other).and_then(|of| Plan::new(&of)).unwrap_err();
    assert!(said.to_string().contains("workload.t.windows"), "{said}");
}

/// Whatever a window measures, it is known how it is put together with others.
#[test]
fn every_sample_of_a_window_is_joined() {
    let at = TempDir::new().unwrap();
    let file = written(&at, "msr", SAMPLES[3].1.as_bytes());
    let plan = Plan::new(&experiment(&format!("file = '{file}'\nwindows = 2")).unwrap()).unwrap();
    let of_windows = Measured::block_samples(&plan.trials[0]);
    for name in of_windows.iter().chain(&crate::steady::SAMPLES) {
        assert!(store::windows::is_joined(name), "{name}");
    }
}
