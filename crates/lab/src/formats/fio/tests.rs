use super::*;
use crate::experiment::{Experiment, Plan, Trial};
use crate::workload::{Engine, Op, Requests};
use proptest::prelude::*;
use sim::workload::Pattern;

fn trials(text: &str) -> Vec<Trial> {
    let file = read("some.fio", text).unwrap();
    let mut experiment = Experiment::parse("some.fio", &file.experiment).unwrap();
    experiment.set("volume.drives=4xwd740gd").unwrap();
    let mut trials = Plan::new(&experiment).unwrap().trials;
    trials.sort_by_key(|trial| trial.cell.workload_index);
    trials
}

fn error(text: &str) -> String {
    read("some.fio", text).unwrap_err().to_string()
}

fn requests(trial: &Trial) -> &Requests {
    trial.work.requests().unwrap()
}

#[test]
fn a_job_becomes_a_workload() {
    let text = "
; global first
[global]
ioengine=libaio
direct=1
runtime=30
[mixed load]
rw=randrw
rwmixread=70
bssplit=4k/60:64k/
iodepth=16
numjobs=2
filename=/dev/sdx
offset_increment=1g
time_based
rate=2m
thinktime=10
fsync=32
";
    let trials = trials(text);
    let work = requests(&trials[0]);
    let keys = &work.keys;
    assert_eq!((trials.len(), trials[0].cell.workload.as_str()), (1, "mixed-load"));
    assert_eq!((work.pattern, keys.reads_percent, keys.depth), (Pattern::Random, Some(70), 16));
    assert_eq!((keys.block_sectors, work.sizes()), (8, [(8, 60), (128, 40)].as_slice()));
    assert_eq!((keys.jobs, keys.job_step_sectors), (2, Some(1 << 21)));
    assert_eq!((work.runtime_ns(), keys.think_ns), (30_000_000_000, 10_000));
    // It thinks, and keeps its mix: its reads, 70 %, have 2 MiB a second.
    assert_eq!((keys.bytes_per_s, keys.flush_every), (Some((2 << 20) * 10 / 7), Some(32)));
    assert_eq!((work.count(), work.amount_sectors()), (u64::MAX, u64::MAX));
}

/// As fio 3.33 reads it.
#[test]
fn a_comment_may_follow_anything() {
    let trials = trials("  # first\n[a] ; a job\nrw=randread # anywhere\nbs=8k;tight\nsize=1m\n");
    let work = requests(&trials[0]);
    let keys = &work.keys;
    assert_eq!(
        (work.pattern, keys.block_sectors, work.amount_sectors()),
        (Pattern::Random, 16, 2048)
    );
    assert!(error("[a#b]\nrw=read\n").contains("some.fio:1: `[a` is not a section"));
}

#[test]
fn jobs_run_together_until_a_stonewall() {
    let text = "
[global]
size=1m
[a]
rw=write
[b]
rw=read
numjobs=2
[c]
stonewall
rw=randread
[a]
";
    let trials = trials(text);
    let names: Vec<&str> = trials.iter().map(|trial| trial.cell.workload.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
    let works: Vec<(&str, Op, u64)> = trials[0]
        .requests()
        .map(|work| (work.name.as_str(), work.keys.op, work.keys.offset_sectors))
        .collect();
    // Each job has files of its own, one after another.
    assert_eq!(works, [("a", Op::Write, 0), ("b", Op::Read, 2048)]);
    assert_eq!(trials[0].beside[0].requests().unwrap().keys.job_step_sectors, Some(2048));
    let places: Vec<u64> = trials[1].requests().map(|work| work.keys.offset_sectors).collect();
    assert_eq!(places, [3 * 2048, 4 * 2048]);
    assert_eq!(trials[1].beside[0].name(), "a-2");
}

#[test]
fn jobs_of_one_file_share_the_volume() {
    let text = "[global]\nfilename=disk\nruntime=1\n[a]\n[b]\noffset=1m\n";
    let trials = trials(text);
    let places: Vec<u64> = trials[0].requests().map(|work| work.keys.offset_sectors).collect();
    assert_eq!(places, [0, 2048]);
    assert_eq!(requests(&trials[0]).keys.span_sectors, None);
}

/// As fio 3.33 reads them, with its `kb_base` of 1024.
#[test]
fn sizes_are_fios() {
    for (text, sectors) in [
        ("64k", 128),
        ("64kb", 128),
        ("64Ki", 128),
        ("64KiB", 125),
        ("0x10000", 128),
        ("1G", 1 << 21),
    ] {
        let trials = trials(&format!("[a]\nsize=4g\nbs={text}\n"));
        assert_eq!(requests(&trials[0]).keys.block_sectors, sectors, "{text}");
    }
}

#[test]
fn what_is_not_supported_is_named_with_its_line() {
    let job = |line: &str| error(&format!("[job]\nsize=1m\n{line}\n"));
    for (line, words) in [
        ("rw=trim", "some.fio:3: `rw=trim` is not supported"),
        ("rw=trimwrite", "no job trims here; take read"),
        ("latency_target=10ms", "an experiment has `capacity = "),
        ("include more.fio", "another file is not read; write its lines here"),
        ("wait_for=a", "write `stonewall`"),
        ("verify_backlog=8", "would mix with the writes"),
        ("iodepth_batch=8", "requests are sent one by one here; take 1"),
        ("file_service_type=zipf:1.2", "take random, roundrobin or sequential"),
        ("startdelay=soon", "not a time"),
        ("nonsense=1", "is not supported; take it out, or use one of rw, readwrite, bs"),
        ("ioengine=rbd", "`ioengine=rbd` is not supported; take one of sync"),
        ("zonemode=zbd", "zoned devices are not modelled"),
        ("iodepht=4", "did you mean `iodepth`?"),
        ("group_reportin=1", "did you mean `group_reporting`?"),
        ("bs", "`bs` needs a value"),
        ("bs=4x", "`bs=4x` is not a size"),
        ("bs=4k,8x", "`bs=8x` is not a size"),
        ("thinktime_block_type=issue", "did you mean `thinktime_blocks_type`?"),
        ("thinktime_blocks_type=done", "take complete or issue"),
        ("rw_sequencer=identical", "no request goes where the last one was; take sequential"),
        ("rw=randread:4k", "`rw=4k` is not a whole number"),
        ("offset=0%", "`offset=0%` is not a share from 1% to 99%"),
        ("random_distribution=normal:20", "is not modelled; take zoned:"),
        ("random_distribution=zoned_abs:60/1g", "zones are shares here"),
        ("size=150%", "is not a share from 1% to 100%"),
        ("bssplit=4k/60:8k/30", "add up to 90 %"),
        ("numjobs=0", "from 1 to 4096"),
        ("runtime=soon", "not a time"),
        ("rwmixread=101", "not a percentage"),
        ("[broken", "is not a section"),
    ] {
        let error = job(line);
        assert!(error.contains(words) && error.starts_with("some.fio:3: "), "{line}: {error}");
    }
    assert!(error("rw=read\n").contains("some.fio:1: `rw=read` is outside any section"));
    assert!(error("[global]\nrw=read\n").contains("has no job"));
    assert!(error("[a]\nrw=read\n").contains("never ends"));
    assert!(error("[a]\nrw=read\nfilename=/home/file\n").contains("never ends"));
    assert!(error("[a]\nsize=1m\ntime_based\n").contains("no `runtime`"));
    assert!(error("[a]\nruntime=1\n[b]\nruntime=1\n").contains("one of several files"));
    assert!(error("[a]\nsize=1m\nbs=100\n").contains("not a multiple of 512"));
}

/// Only the first one was named, and the next run named the next.
#[test]
fn all_options_that_are_refused_are_named_at_once() {
    let text = "include g.inc\n[a]\nrw=trimwrite\nsize=1m\nqueer=1\nlatency_target=10ms\n[b]\nodd=2\nsize=1m\niodepht=4\n";
    let said = error(text);
    let lines: Vec<&str> = said.lines().collect();
    let starts = [
        "some.fio:1: `include` is not supported",
        "some.fio:3: `rw=trimwrite` is not supported",
        "some.fio:5: the option `queer` is not supported; take it out",
        "some.fio:6: `latency_target` is not supported",
        "some.fio:8: the option `odd` is not supported; take it out, or use one of rw, ",
        "some.fio:10: the option `iodepht` is not supported; did you mean `iodepth`?",
    ];
    assert_eq!(lines.len(), starts.len(), "{said}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
    assert_eq!(said.matches("use one of").count(), 1);
    // All of them were, on ten lines of a screen.
    assert!(lines.iter().all(|line| line.len() < 200), "{said}");
}

/// fio reads them from the environment.
#[test]
fn variables_of_the_environment_are_substituted_and_said() {
    let of = |name: &str| match name {
        "RW" => Some("randread".to_string()),
        "N" => Some("4".to_string()),
        _ => None,
    };
    let file = read_with("some.fio", "[a]\nrw=${RW}\nsize=1m\ndirect=1\nbs=${N}k\n", &of).unwrap();
    assert!(file.experiment.contains("kind = \"random\"\n"), "{}", file.experiment);
    assert_eq!(
        file.warnings,
        [
            "some.fio:2: `rw=${RW}` is `rw=randread`, by the environment",
            "some.fio:5: `bs=${N}k` is `bs=4k`, by the environment"
        ]
    );
    let none = read_with("some.fio", "[a]\nsize=${SIZE}\n", &of).unwrap_err().to_string();
    assert!(
        none.starts_with("some.fio:2: `${SIZE}`: the environment has no such variable; set it"),
        "{none}"
    );
}

/// What fio does otherwise with some values, and with others not.
#[test]
fn options_that_are_had_with_some_values_are_refused_with_others() {
    for (options, note) in [
        ("startdelay=2", "what comes before the first request is not measured"),
        ("verify=crc32c\ndo_verify=0", "what was written is not read again here"),
        ("iodepth_batch_complete_max=8", "makes room for the next one"),
        ("rw=randread\nnrfiles=4\nfile_service_type=roundrobin:8", ""),
        ("rw=read\nnrfiles=4\nfile_service_type=sequential", ""),
        ("rw=randread\nbs=4k\nba=4k", ""),
        ("rw=randrw\nbssplit=4k/50:16k/50\nblockalign=4k", ""),
        ("rw=read\nba=4k\nbs=64k", ""),
        (
            "ioengine=libaio\niodepth=8\niodepth_low=8\niodepth_batch=1\niodepth_batch_complete_min=1",
            "",
        ),
    ] {
        let file = read("some.fio", &format!("[a]\nsize=1m\ndirect=1\n{options}\n"));
        let file = file.unwrap_or_else(|error| panic!("{options}: {error}"));
        let said = file.warnings.join("\n");
        assert!(said.contains(note) && said.is_empty() == note.is_empty(), "{options}: {said}");
    }
    for (options, why) in [
        (
            "rw=read\nnrfiles=4",
            "[a] has 4 files (`nrfiles`), over which sequential requests take turns",
        ),
        (
            "rw=randread\nbs=16k\nba=4k",
            "begins its requests at multiples of 4096 bytes (`blockalign`)",
        ),
        ("ioengine=libaio\niodepth=8\niodepth_low=4", "lets its queue drain to 4"),
        ("[b]\nsize=1m\nstartdelay=5", "starts at another time than [b]"),
    ] {
        let said = error(&format!("[a]\nsize=1m\n{options}\n"));
        assert!(said.starts_with("some.fio:1: [a] ") && said.contains(why), "{options}: {said}");
    }
    // One after the other they start when they start.
    let apart = "[a]\nsize=1m\n[b]\nsize=1m\nstartdelay=5\nstonewall\n";
    assert!(read("some.fio", apart).is_ok());
}

/// "Nothing says when it ends" was said of a job with a `runtime`.
#[test]
fn a_share_of_a_device_ends_with_its_runtime() {
    let text = "[a]\nrw=randread\nsize=100%\nruntime=10s\ndirect=1\nfilename=/dev/sdb\n";
    let file = read("some.fio", text).unwrap();
    assert!(
        file.experiment.contains("span_percent = 100\nruntime = \"10s\"\n"),
        "{}",
        file.experiment
    );
    assert!(file.warnings[0].contains("[a] runs for its `runtime` here"), "{:?}", file.warnings);
    let based = read("some.fio", &format!("{text}time_based\n")).unwrap();
    assert_eq!(based.warnings, Vec::<String>::new());
}

/// `filename=/dev/nvme0n1` without a size "never ends", though fio ends where the device does.
#[test]
fn a_job_of_a_whole_device_needs_no_size() {
    let text =
        "[a]\nfilename=/dev/nvme0n1\nrw=randread\nbs=4k\niodepth=32\ndirect=1\nioengine=libaio\n";
    let warnings = read("some.fio", text).unwrap().warnings;
    let whole = "some.fio:1: [a] has no `size`, so fio goes over the whole device once";
    assert!(warnings.iter().any(|said| said.starts_with(whole)), "{warnings:?}");
    let trials = trials(text);
    assert!(trials[0].work.requests().unwrap().keys.runtime_ns.is_none());
    for end in ["runtime=10\n", "size=1g\n"] {
        let warnings = read("some.fio", &format!("{text}{end}")).unwrap().warnings;
        assert!(!warnings.iter().any(|said| said.starts_with(whole)), "{warnings:?}");
    }
    assert!(error(&format!("{text}time_based\n")).contains("no `runtime`"));
}

#[test]
fn what_changes_nothing_is_a_warning() {
    let file = read("some.fio", "[a]\nsize=1m\ngroup_reporting\ndirect=0\ninvalidate=1\n").unwrap();
    assert_eq!(file.warnings.len(), 3);
    assert!(file.warnings[0].starts_with("some.fio:3: `group_reporting`"));
    assert!(file.warnings[1].contains("as direct requests"));
    // Without a word fio takes the page cache; one job that says nothing is enough.
    let warnings = |text: &str| read("some.fio", text).unwrap().warnings;
    let said = warnings("[a]\nsize=1m\ndirect=1\n[b]\nsize=1m\n");
    assert!(
        said.len() == 1 && said[0].starts_with("some.fio:4: [b] does not say `direct`"),
        "{said:?}"
    );
    assert_eq!(warnings("[global]\ndirect=1\n[a]\nsize=1m\n"), Vec::<String>::new());
    // Each engine waits for a place in a queue in its own way.
    let deep = |engine: &str| {
        warnings(&format!("[a]\nsize=1m\ndirect=1\nioengine={engine}\niodepth=64\nnumjobs=2\n"))
    };
    let said = deep("libaio");
    assert!(
        said.len() == 1 && said[0].contains("[a] has up to 128 requests in flight"),
        "{said:?}"
    );
    assert_eq!(deep("io_uring"), Vec::<String>::new());
    // fio takes no notice of it where each request is waited for, and without a word it waits.
    for said in [deep("psync"), warnings("[a]\nsize=1m\ndirect=1\niodepth=64\n")] {
        assert!(
            said.len() == 1
                && said[0].contains("[a]: `iodepth=64` has no effect with `ioengine=psync`"),
            "{said:?}"
        );
    }
    assert!(warnings("[a]\nsize=1m\ndirect=1\nnumjobs=8\n").is_empty());
    let said = deep("posixaio");
    assert!(
        said.iter().any(|told| told.contains("nothing is known of what `ioengine=posixaio` takes")),
        "{said:?}"
    );
    assert!(warnings("[a]\nsize=1m\ndirect=1\nioengine=libaio\niodepth=64\n").is_empty());
}

#[test]
fn an_engine_is_the_one_whose_time_was_measured() {
    let engines = |text: &str| {
        let each = |trial: &Trial| {
            trial.requests().map(|work| work.keys.engine.map(Engine::word)).collect()
        };
        trials(text).iter().map(each).collect::<Vec<Vec<_>>>()
    };
    for (options, engine) in [
        ("", Some("psync")),
        ("ioengine=pvsync2", Some("psync")),
        ("ioengine=pvsync2\nhipri", None),
        ("ioengine=libaio", Some("libaio")),
        ("ioengine=io_uring", Some("io_uring-plain")),
        ("ioengine=io_uring\nfixedbufs=1", Some("io_uring")),
        ("ioengine=io_uring\nfixedbufs\nhipri", Some("io_uring-polled")),
        ("ioengine=io_uring\nhipri\nsqthread_poll=1", Some("io_uring-sqpoll")),
        ("ioengine=posixaio", None),
        ("ioengine=libaio\nrw=randread\nrate_iops=9\nrate_process=poisson", None),
    ] {
        assert_eq!(engines(&format!("[a]\nsize=1m\n{options}\n")), [[engine]], "{options}");
    }
    // The model has one engine for all that run together.
    let two = "[a]\nsize=1m\ndirect=1\nioengine=libaio\n[b]\nsize=1m\ndirect=1\n";
    assert_eq!(engines(two), [[None, None]]);
    let said = read("some.fio", two).unwrap().warnings;
    assert!(
        said.len() == 1 && said[0].starts_with("some.fio:5: [a] and [b] run together"),
        "{said:?}"
    );
    let apart = two.replace("[b]", "[b]\nstonewall");
    assert_eq!(engines(&apart), [[Some("libaio")], [Some("psync")]]);
    assert!(read("some.fio", &apart).unwrap().warnings.is_empty());
    // What comes by the clock has none, and takes none from the others.
    let clock = "rw=randread\nrate_iops=9\nrate_process=poisson";
    for engine in ["libaio", "posixaio"] {
        let beside = two.replace("[b]", &format!("[b]\nioengine={engine}\n{clock}"));
        let mut all = engines(&beside).concat();
        all.sort_unstable();
        assert_eq!(all, [None, Some("libaio")], "{engine}");
        let said = read("some.fio", &beside).unwrap().warnings.join("\n");
        assert!(!said.contains("engine"), "{said}");
    }
}

#[test]
fn no_option_is_known_twice() {
    let (known, idle) = options::listed();
    let all: Vec<&str> = [known, idle, beside::OPTIONS].concat();
    for (index, option) in all.iter().enumerate() {
        assert!(!all[..index].contains(option), "{option}");
    }
}

/// Words of job files, and what is none.
fn line() -> impl Strategy<Value = String> {
    let option = prop::sample::select(vec![
        "rw",
        "bs",
        "bssplit",
        "iodepth",
        "numjobs",
        "size",
        "offset",
        "io_size",
        "runtime",
        "time_based",
        "rwmixread",
        "rate",
        "thinktime",
        "fsync",
        "direct",
        "ioengine",
        "stonewall",
        "filename",
        "offset_increment",
        "number_ios",
        "bsrange",
        "loops",
        "nonsense",
    ]);
    let value = prop_oneof![
        "[0-9]{1,20}[kmgtp%i]{0,2}",
        "[a-z/:,]{0,8}",
        Just("randrw".to_string()),
        Just("libaio".to_string()),
        Just("4k/50:8k/50".to_string()),
    ];
    prop_oneof![
        Just("[global]".to_string()),
        Just("[job]".to_string()),
        "\\PC{0,20}",
        (option, value).prop_map(|(option, value)| format!("{option}={value}")),
    ]
}

proptest! {
    /// Whatever the text, it is a file or an error that names it; and a file is an experiment.
    #[test]
    fn no_text_breaks_the_parser(lines in prop::collection::vec(line(), 0..12)) {
        match read("some.fio", &lines.join("\n")) {
            Ok(file) => {
                let parsed = Experiment::parse("some.fio", &file.experiment);
                prop_assert!(parsed.is_ok(), "{}: {parsed:?}", file.experiment);
                prop_assert!(file.warnings.iter().all(|warning| warning.starts_with("some.fio:")));
            }
            Err(error) => prop_assert!(error.to_string().starts_with("some.fio"), "{error}"),
        }
    }
}

/// Two rates that make another mix than `rwmixread` took its place without a word.
#[test]
fn a_mix_of_two_rates_is_said() {
    let said = |options: &str| {
        let text = format!("[a]\nrw=randrw\nsize=1m\ndirect=1\n{options}\n");
        read("some.fio", &text).unwrap().warnings
    };
    let mix = "`rate_iops=2000,700`: taken as 74 % reads; where the rate is not reached, fio keeps `rwmixread` (50 %)";
    for options in ["rate_iops=2000,700", "rwmixread=50\nrate_iops=2000,700"] {
        let said = said(options);
        assert!(said.len() == 1 && said[0].ends_with(mix), "{options}: {said:?}");
    }
    let of_bytes = said("rate=5m,10m");
    assert!(of_bytes[0].contains("`rate=5m,10m`: taken as 33 % reads"), "{of_bytes:?}");
    let alike = said("rwmixread=70\nrate=20m,20m");
    assert!(alike[0].contains("`rate=20m,20m`: taken as 50 % reads"), "{alike:?}");
    let alike = said("rwmixread=70\nrate=20m");
    assert!(alike[0].contains("half reads and half writes"), "{alike:?}");
    for options in [
        "rwmixread=33\nrate=5m,10m",
        "rwmixread=74\nrate_iops=2000,700",
        "rate_iops=70,70",
        "rwmixread=100\nrate_iops=9,1",
    ] {
        assert!(said(options).is_empty(), "{options}: {:?}", said(options));
    }
}

/// The keys of the only workload of a job with these options.
fn keys_of(options: &str) -> std::result::Result<String, String> {
    let text = format!("[job]\n{options}\n");
    read("some.fio", &text).map(|file| file.experiment).map_err(|error| error.to_string())
}

/// Whether a job of these options has this key, and is an experiment.
fn becomes(options: &str, key: &str) {
    let keys = keys_of(options).unwrap();
    assert!(keys.contains(key), "{options}: {keys}");
    let experiment = format!("[volume]\ndrives = \"wd740gd\"\n{keys}");
    Plan::new(&Experiment::parse("some.fio", &experiment).unwrap()).unwrap();
}

/// The same of sizes, places and ends.
#[test]
fn sizes_places_and_ends_become_keys() {
    for (options, key) in [
        ("rw=randread\nsize=1g\nrandom_distribution=pareto:0.2", "access = \"pareto:0.2\""),
        // Of sizes of reads and of writes those that the job has.
        ("rw=randread\nsize=1g\nbs=4k,8k", "block = \"4KiB\""),
        ("rw=randwrite\nsize=1g\nbs=4k,8k", "block = \"8KiB\""),
        ("rw=randwrite\nsize=1g\nbs=,8k", "block = \"8KiB\""),
        ("rw=read\nsize=1g\nbs=,8k", "block = \"4KiB\""),
        ("rw=randrw\nsize=1g\nbs=8k,8k,4k", "block = \"8KiB\""),
        (
            "rw=randwrite\nsize=1g\nbssplit=4k/50:8k/50,16k/90:32k/10",
            "sizes = \"16KiB/90:32KiB/10\"",
        ),
        ("rw=randread\nsize=1g\nbsrange=4k-8k,16k-32k", "sizes = \"4KiB/1:8KiB/1\""),
        ("rw=randwrite\nsize=1g\nbsrange=4k-8k,16k-32k", "sizes = \"16KiB/1:32KiB/1\""),
        ("rw=randread:8\nrw_sequencer=sequential\nsize=1g", "in_a_row = 8"),
        ("rw=write:12k\nsize=1g", "kind = \"strided\"\ngap = \"12KiB\""),
        // As fio 3.33 counts: in a file of its own it begins again at its start until all of `size` has moved, and where more
        // lies behind `size` it ends there, having left out three quarters; `io_size` goes before that.
        ("rw=write:12k\nsize=1g", "amount = \"1GiB\""),
        ("rw=write:12k\nsize=1g\nio_size=2g", "amount = \"2GiB\""),
        ("rw=write:12k\nsize=1g\nfilename=/dev/sdb", "amount = \"256MiB\""),
        ("rw=write:12k\nsize=1g\nfilename=/dev/sdb\nloops=2", "amount = \"512MiB\""),
        ("rw=write:12k\nsize=1g\nfilename=/dev/sdb\nio_size=2g", "amount = \"2GiB\""),
        ("rw=write:12k\nsize=1g\nfilename=/dev/sdb\nio_size=50%", "amount = \"512MiB\""),
        ("rw=write:12k\nsize=1g\noffset=1m", "amount = \"256MiB\""),
        ("rw=read\nsize=1g\nnumber_ios=1000\nloops=2", "count = 2000\namount = \"2GiB\""),
        ("rw=read\nsize=1g\nnumber_ios=1000", "count = 1000\namount = \"1GiB\""),
        ("rw=read\nfilename=/dev/sdb\nnumber_ios=1000", "count = 1000"),
        ("rw=read\nsize=1g\nio_size=25%", "amount = \"256MiB\""),
        ("rw=read\nfilename=/dev/sdb\nsize=1g\noffset=20%", "offset_percent = 20"),
        (
            "rw=read\nfilename=/dev/sdb\nsize=1g\nnumjobs=4\noffset_increment=25%",
            "jobs = 4\njob_step_percent = 25",
        ),
        ("rw=read\nsize=1g\nthinktime=10\nthinktime_blocks_type=issue", "think = "),
        ("rw=read\nsize=1g\nthinktime=10\nthinktime_spin=5", "think = "),
    ] {
        becomes(options, key);
    }
}

/// What was refused once, as the keys that it becomes.
#[test]
fn options_become_keys() {
    for (options, key) in [
        ("rw=randread\nsize=1g\nrandom_distribution=zipf:1.2", "access = \"zipf:1.2\""),
        (
            "rw=randread\nsize=1g\nrandom_distribution=zoned:60/10:40/90",
            "access = \"zones:60/10:40/90\"",
        ),
        ("rw=randread\nsize=1g\nbsrange=4k-16k", "sizes = \"4KiB/1:8KiB/1:12KiB/1:16KiB/1\""),
        ("rw=write\nsize=1g\nsync=1", "flush_every = 1"),
        ("rw=write\nsize=1g\nend_fsync=1", "end_fsync = true"),
        ("rw=read\ntime_based\nruntime=9\nsize=50%", "span_percent = 50"),
        ("rw=randread\nsize=1g\nrate_iops=100\nrate_process=poisson", "arrivals = \"poisson\"\n"),
        ("rw=randrw\nrwmixread=70\nsize=1g\nrate_iops=100", "reads_percent = 50\n"),
        ("rw=randrw\nrwmixread=70\nsize=1g\nrate_iops=100", "requests_per_s = 200\n"),
        ("rw=randrw\nsize=1g\nrate_iops=2000,700", "requests_per_s = 2700\n"),
        ("rw=randrw\nsize=1g\nrate_iops=2000,700", "reads_percent = 74\n"),
        ("rw=randrw\nsize=1g\nrate_iops=20,70\nrate_process=poisson", "requests_per_s = 90\n"),
        // Beside a think time the mix is kept: 20 reads a second and 20 writes, or 8 and 70 of them.
        ("rw=randrw\nsize=1g\nrate_iops=20,70\nthinktime=10", "requests_per_s = 40\n"),
        ("rw=randrw\nrwmixread=10\nsize=1g\nrate_iops=20,70\nthinktime=10", "_per_s = 77\n"),
        ("rw=randrw\nrwmixread=10\nsize=1g\nrate_iops=20,70\nthinktime=10", "percent = 10\n"),
        ("rw=randwrite\nsize=1g\nrate_iops=2000,700", "requests_per_s = 700\n"),
        ("rw=randwrite\nsize=1g\nrate_iops=,20", "requests_per_s = 20\n"),
        ("rw=randread\nsize=1g\nrate_iops=100,", "requests_per_s = 100\n"),
        ("rw=randrw\nrwmixread=0\nsize=1g\nrate_iops=,20", "requests_per_s = 20\n"),
        ("rw=randrw\nrwmixread=70\nsize=1g\nrate=2m", "rate = \"4MiB/s\"\n"),
        ("rw=randrw\nsize=1g\nrate=5m,10m", "rate = \"15MiB/s\"\n"),
        ("rw=randrw\nsize=1g\nrate=5m,10m", "reads_percent = 33\n"),
        ("rw=randrw\nsize=1g\nrate=5m,10m\nthinktime=10", "rate = \"10MiB/s\"\n"),
        ("rw=randrw\nsize=1g\nbs=4k\nrate=4m,8m\nrate_process=poisson", "_per_s = 3072\n"),
        ("rw=write\nsize=1g\nrate=5m,10m,1m", "rate = \"10MiB/s\"\n"),
        ("rw=read\nsize=1g\nrate=5m,10m", "rate = \"5MiB/s\"\n"),
        ("rw=write\nsize=1g\nrate=,5m", "rate = \"5MiB/s\"\n"),
        ("rw=randrw\nrwmixread=70\nsize=1g", "reads_percent = 70\n"),
        ("rw=read\nsize=1g\nthinktime=10\nthinktime_blocks=4", "think_every = 4"),
        ("rw=read\nsize=1g\nzonemode=none", "amount = \"1GiB\""),
        ("rw=randread\nsize=1g\nfilename=/dev/sda:/dev/sdb", "amount = \"1GiB\""),
    ] {
        becomes(options, key);
    }
    // A warm-up is found and left out where nothing says where the job ends.
    let ramped = keys_of("rw=randread\ntime_based\nruntime=60\nramp_time=10").unwrap();
    assert!(!ramped.contains("runtime"), "{ramped}");
    // The rate of what it does not do holds nothing back.
    for other in [
        "rw=randread\nsize=1g\nrate_iops=,20",
        "rw=randwrite\nsize=1g\nrate_iops=100,",
        "rw=read\nsize=1g\nrate=,5m",
        "rw=write\nsize=1g\nrate=100m,",
        "rw=randrw\nrwmixread=100\nsize=1g\nrate=,5m",
    ] {
        let keys = keys_of(other).unwrap();
        assert!(!keys.contains("requests_per_s") && !keys.contains("rate"), "{other}: {keys}");
    }
    let reads = keys_of("rw=read\nsize=1g\nsync=1\nend_fsync=1").unwrap();
    let others = reads.replace("engine = \"psync\"\n", "");
    assert!(!others.contains("sync") && !others.contains("flush"), "{reads}");
}

/// Each of several synchronous writes in flight waits for its own flush; a job of that depth waited for one after the other.
#[test]
fn synchronous_writes_in_flight_are_jobs() {
    let deep = "bs=16k\nioengine=libaio\niodepth=16\ndirect=1\nsync=dsync\nsize=16g\n";
    let read = |options: &str| {
        let file = read("some.fio", &format!("[job]\n{deep}{options}\n")).unwrap();
        let experiment = format!("[volume]\ndrives = \"wd740gd\"\n{}", file.experiment);
        Plan::new(&Experiment::parse("some.fio", &experiment).unwrap()).unwrap();
        (file.experiment, file.warnings.join("\n"))
    };
    for (options, jobs) in [
        ("rw=randwrite", 16),
        ("rw=randrw\noffset_increment=1g", 16),
        ("rw=randwrite\nfilename=/dev/md0\nnumjobs=2", 32),
    ] {
        let (keys, said) = read(options);
        for key in [
            "depth = 1\n",
            &format!("jobs = {jobs}\n"),
            "job_step = \"0B\"\n",
            "amount = \"1GiB\"\n",
            "span = \"16GiB\"\n",
        ] {
            assert!(keys.contains(key), "{options}, {key}: {keys}");
        }
        assert!(said.contains("16 synchronous writes in flight are taken as 16 jobs"), "{said}");
        assert!(said.contains("fio's latency of a write includes it"), "{said}");
    }
    for (options, why) in [
        ("rw=write", "they go in order"),
        ("rw=randwrite\nrate_iops=100", "they have a rate"),
        ("rw=randwrite\nrate_iops=100\nrate_process=poisson", "they come by the clock"),
        ("rw=randwrite\nthinktime=10", "the job thinks"),
        ("rw=randwrite\nnumjobs=2", "the jobs lie apart"),
        ("rw=randwrite\nfilename=a\nnumjobs=4000", "more than 4096 are in flight"),
        ("rw=randwrite\nio_size=200k", "there are fewer writes than that"),
    ] {
        let (keys, said) = read(options);
        assert!(keys.contains("flush_every = 1") && !keys.contains("jobs = 16"), "{keys}");
        assert!(said.contains("taken one at a time") && said.contains(why), "{options}: {said}");
    }
    // A rate of the side that it does not have is none.
    assert!(read("rw=randwrite\nrate_iops=100,").0.contains("jobs = 16"));
    for options in [
        "rw=randread",
        "rw=randrw\nrwmixread=100",
        "rw=randwrite\nioengine=psync",
        "rw=randwrite\nsync=0\nfsync=1",
    ] {
        let (keys, said) = read(options);
        assert!(!keys.contains("jobs") && !said.contains("in flight"), "{options}: {keys}{said}");
    }
}

#[test]
fn what_cannot_be_said_is_refused_with_the_next_step() {
    for (options, said) in [
        ("rw=randread\nsize=1g\nrandom_distribution=pareto:2", "take random, zipf:EXPONENT"),
        ("rw=randrw\nsize=1g\nbs=4k,8k", "give reads and writes a job each"),
        ("rw=randrw\nsize=1g\nbssplit=4k/50:8k/50,16k", "give reads and writes a job each"),
        ("rw=read:4k\nsize=1g\nbsrange=4k-8k", "needs one size; take `bs`"),
        (
            "rw=read\ntime_based\nruntime=9\nsize=50%\nio_size=10%",
            "not given in bytes; write bytes",
        ),
        ("rw=read\nsize=1g\noffset=10%", "give all jobs the same device"),
        ("rw=read\nsize=1g\noffset=100%", "`offset=100%` is not a share from 1% to 99%"),
        (
            "rw=read\nsize=1g\noffset_increment=100%",
            "`offset_increment=100%` is not a share from 1% to 99%",
        ),
        ("rw=read:-4k\nsize=1g", "`rw=read:-4k` goes backwards, which is not modelled"),
        ("rw=read\nsize=1g\nnumber_ios=9\ntime_based\nruntime=9", "leave one out"),
        ("rw=read\nnumber_ios=9", "never ends"),
        ("rw=randread\nsize=1g\nrandom_distribution=zoned:60/10:40/80", "each sum to 100"),
        ("rw=randread\nsize=1g\nbsrange=4k", "as in 4k-64k"),
        ("rw=randread\nsize=1g\nrate_process=poisson", "needs `rate_iops`"),
        ("rw=randrw\nsize=1g\nrate_iops=20,", "`rate_iops=20,` has no rate of its writes"),
        ("rw=rw\nsize=1g\nrate_iops=,70", "give both rates, as in `rate_iops=70,70`"),
        ("rw=randread\nsize=1g\nrate_iops=,", "`rate_iops=,` has no rate"),
        ("rw=randread\nsize=1g\nrate_iops=9,x", "`rate_iops=x` is not a whole number"),
        ("rw=randrw\nsize=1g\nrate=,20m", "`rate=,20m` has no rate of its reads"),
        ("rw=rw\nsize=1g\nrate=20m,", "give both rates, as in `rate=20m,20m`"),
        ("rw=read\nsize=1g\nrate=5m,x", "`rate=x` is not a size"),
        (
            "rw=read\nsize=1g\nrate=5m\nrate_iops=9",
            "fio takes `rate=5m` or `rate_iops=9`, not both; leave one out",
        ),
        ("rw=read\nsize=1g\nrate=,", "`rate=,` has no rate"),
        ("rw=read\nsize=50%", "nothing says when it ends"),
        ("rw=read\nsize=1g\nfilename=a:b", "sequential requests take turns"),
        ("rw=read\nsize=1g\nsync=2", "is not one of none, sync, dsync"),
        ("rw=read\nsize=1g\nzonemode=strided", "`kind = \"strided\"`"),
        ("rw=read\nsize=1g\nrate_process=bursty", "take linear or poisson"),
    ] {
        let error = keys_of(options).unwrap_err();
        assert!(error.contains(said) && error.contains("some.fio:"), "{options}: {error}");
    }
}
