//! What people have at hand: other versions, other languages, logs with more in them than the result.

use super::*;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// The samples of the only workload of a file of fio's.
fn of_fio(text: &str, sample: &str) -> Vec<f64> {
    let table = read("f.json", text);
    samples(&table, &table.rows[0].workload.clone(), sample)
}

/// Real fio 3.33: syncs of `fdatasync` are not in `total_ios`, and the latency of the bare write was shown.
#[test]
fn fio_s_fdatasync_makes_commits() {
    let text = include_str!("../fixtures/fio/fdatasync.json");
    close(&of_fio(text, "flushes"), &[31.0]);
    close(&of_fio(text, "flush_mean_ms"), &[52.986_752]);
    close(&of_fio(text, "flush_p99_ms"), &[1_300.234_240]);
    close(&of_fio(text, "commits_per_s"), &[19.464_72]);
    close(&of_fio(text, "commit_mean_ms"), &[52.986_752 + 0.032_471]);
    // Two jobs as one group: the last write of each has no sync behind it.
    let text = include_str!("../fixtures/fio/fdatasync-group.json");
    close(&of_fio(text, "flushes"), &[62.0]);
    close(&of_fio(text, "commits_per_s"), &of_fio(text, "requests_per_s"));
    close(&of_fio(text, "commit_mean_ms"), &[80.622_841 + 0.023_422]);
}

/// The means of clones are those of all that they did.
#[test]
fn fio_s_clones_commit_together() {
    let sync = |mean: &str| {
        let lat_ns = format!(r#"{{"mean": {mean}, "N": 511, "percentile": {{"99.000000": 9}}}}"#);
        format!(r#"{{"total_ios": 0, "lat_ns": {lat_ns}}}"#)
    };
    let one = syncing(r#""fdatasync": "1""#, &sync("1600000.0"));
    let other = one.replace("1600000.0", "4600000.0").replace("610.0", "305.0");
    let job = |text: &str| text[text.find('[').unwrap() + 1..text.rfind(']').unwrap()].to_string();
    let both = format!(r#"{{"fio version": "3", "jobs": [{}, {}]}}"#, job(&one), job(&other));
    close(&of_fio(&both, "commits_per_s"), &[915.0]);
    close(&of_fio(&both, "flush_mean_ms"), &[2.6]);
    close(&of_fio(&both, "commit_mean_ms"), &[2.621]);
    close(&of_fio(&both, "flushes"), &[1022.0]);
    close(&of_fio(&both, "flush_p99_ms"), &[]);
}

/// `sync_file_range` leaves what it writes in the drive's cache: 10 us are no commit.
#[test]
fn fio_s_sync_file_range_is_no_commit() {
    let sync = r#"{"total_ios": 0, "lat_ns": {"mean": 10235.0, "N": 128}}"#;
    let table = read("f.json", &syncing(r#""sync_file_range": "write:4""#, sync));
    close(&samples(&table, "wal", "flush_mean_ms"), &[]);
    assert!(table.warnings[0].contains("use `fdatasync=1`"), "{:?}", table.warnings);
}

/// Figures that are right and say something else than they seem to.
#[test]
fn fio_s_figures_are_doubted() {
    let none = r#"{"total_ios": 0, "lat_ns": {"mean": 0.0, "N": 0}}"#;
    let warnings = |options: &str| read("f.json", &syncing(options, none)).warnings;
    for (options, said) in [
        (r#""direct": "0""#, "wrote through the page cache"),
        (r#""direct": "1", "rate": "2m""#, "limited by `rate=2m`"),
        (r#""direct": "1", "rate_iops": "0", "thinktime": "100""#, "limited by `thinktime=100`"),
        (r#""direct": "1", "verify": "crc32c""#, "reads of `verify` were left out"),
    ] {
        let found = warnings(options);
        assert!(found.len() == 1 && found[0].contains(said), "{options}: {found:?}");
    }
    for quiet in [r#""direct": "1""#, r#""end_fsync": "1""#, r#""buffered": "0", "rate": "0""#] {
        assert!(warnings(quiet).is_empty(), "{quiet}: {:?}", warnings(quiet));
    }
    let unsteady = syncing(r#""direct": "1""#, none)
        .replace(r#""sync":"#, r#""steadystate": {"ss": "iops:5%", "attained": 0}, "sync":"#);
    let found = read("f.json", &unsteady).warnings;
    assert!(found.len() == 1 && found[0].contains("steady state (iops:5%)"), "{found:?}");
    let reached = unsteady.replace(r#""attained": 0"#, r#""attained": 1"#);
    assert!(read("f.json", &reached).warnings.is_empty());
    let group = syncing(r#""direct": "1""#, none).replace(r#""rw": "write""#, r#""rw": "read""#);
    let found = read("f.json", &group).warnings;
    assert!(found.len() == 1 && found[0].contains("is a group of several jobs"), "{found:?}");
    // The options of another job: fio has those of the last.
    let sync = r#"{"total_ios": 0, "lat_ns": {"mean": 1600000.0, "N": 512}}"#;
    let table = read("f.json", &syncing(r#""fsync": "1", "name": "other""#, sync));
    assert!(table.warnings[0].contains("is a group of several jobs"), "{:?}", table.warnings);
    close(&samples(&table, "wal", "commits_per_s"), &[]);
    close(&samples(&table, "wal", "flush_mean_ms"), &[1.6]);
}

/// The reads of `verify` follow the writes; the sum of both rates is that of nothing.
#[test]
fn fio_s_reads_to_verify_are_no_load() {
    let none = r#"{"total_ios": 0, "lat_ns": {"mean": 0.0, "N": 0}}"#;
    let reads = r#""read": {"io_bytes": 4194304, "bw_bytes": 90000000, "iops": 9000}, "write""#;
    let text = syncing(r#""direct": "1", "verify": "crc32c""#, none)
        .replace(r#""write": {"#, &format!("{reads}: {{"));
    close(&of_fio(&text, "mb_per_s"), &[4.997_12]);
}

/// A run of 6 s, of which 2 s are among the rates: 0.7 MB/s on average, and 2.1 to 2.2 over time.
#[test]
fn fio_s_rates_that_leave_out_a_stall_are_no_range() {
    let over =
        |low: u64| format!(r#", "bw_min": {low}, "bw_max": 2148, "bw_dev": 5.0, "bw_samples": 4"#);
    let of = |low| format!(r#"{{"fio version": "3", "jobs": [{}]}}"#, reading(&over(low)));
    close(&of_fio(&of(900), "low_mb_per_s"), &[0.9216]);
    close(&of_fio(&of(2048), "low_mb_per_s"), &[]);
    close(&of_fio(&of(2048), "sd_mb_per_s"), &[]);
}

/// Progress is joined by returns; split up by an editor it still stands in front of the counts.
#[test]
fn dd_s_progress_is_no_result() {
    let progress = "\r289406976 bytes (289 MB, 276 MiB) copied, 1 s, 289 MB/s\r505413632 bytes (505 MB, 482 MiB) copied, 2 s, \
                    253 MB/s\n";
    let end = "1048576000 bytes (1.0 GB, 1000 MiB) copied, 4.5678 s, 230 MB/s\n";
    let counts = "1000+0 records in\n1000+0 records out\n";
    for text in [
        format!("{progress}{counts}{end}"),
        format!("{}{counts}{end}", progress.replace('\r', "\n")),
        format!("{progress}{end}"),
        format!("  12 bytes (12 B, 12 B) transferred 1.0s, 12 B/s\n{counts}{end}"),
    ] {
        let table = read("a.txt", &text);
        close(&samples(&table, "dd", "elapsed_s"), &[4.5678]);
        assert!(table.warnings.is_empty(), "{:?}", table.warnings);
    }
    let twice = format!("{progress}{counts}{end}{progress}{counts}{end}");
    assert_eq!(read("a.txt", &twice).rows.len(), 2);
    let stopped = parse("a.txt", progress, None).unwrap_err().to_string();
    assert!(stopped.contains("was dd stopped?"), "{stopped}");
}

#[test]
fn dd_of_nothing_measures_nothing() {
    let said = message("a.txt", "0+0 records out\n0 bytes copied, 0.0001 s, 0.0 kB/s\n", "dd");
    assert!(said.starts_with("a.txt:2:1: `0` bytes copied measure nothing"), "{said}");
}

/// A mapping that has these columns as keys of experiments, and what becomes of a CSV file.
fn keyed(keys: &str, csv: &str) -> Result<Table> {
    let mapping = format!(
        "name = \"mine\"\nsource = \"me\"\ncsv = \"mine.csv\"\n[factors]\n{keys}\n[[column]]\ncsv = \"mb\"\n\
         workload = \"read\"\nsample = \"mb_per_s\"\nunit = \"MB/s\"\n"
    );
    mapped("mine.toml", &mapping, |name| Ok((name.into(), csv.into())))
}

/// `64k` is 128 sectors, as an experiment has it, so that `compare` finds the cell.
#[test]
fn a_mapped_column_is_held_against_its_key() {
    let keys = "chunk = \"volume.interleave\"\nlevel = \"volume.level\"\nkernel = \"kernel\"";
    let good = keyed(keys, "chunk,level,kernel,mb\n64k,md-raid5,6.1,9\n,single,6.1,9\n").unwrap();
    assert_eq!(
        (&good.rows[0].at["volume.interleave"], &good.rows[0].at["volume.level"]),
        (&128.into(), &"md-raid5".into())
    );
    assert_eq!(good.rows[0].at["kernel"], "6.1");
    assert_eq!(good.factors.0["volume.interleave"].written, Written::BytesOfSectors);
    let sectors = keyed(keys, "chunk,level,kernel,mb\n128,md-raid5,6.1,9\n").unwrap();
    assert_eq!(sectors.rows[0].at["volume.interleave"], 128);
    assert_eq!(sectors.factors.0["volume.interleave"].written, Written::Sectors);
    for (csv, said) in [
        ("64,raid55,6.1,9", "mine.csv:2:4: column `level`: volume.level: `raid55`"),
        ("-5,md-raid5,6.1,9", "mine.csv:2:1: column `chunk`: volume.interleave: `-5`"),
    ] {
        let error =
            keyed(keys, &format!("chunk,level,kernel,mb\n{csv}\n")).unwrap_err().to_string();
        assert!(error.starts_with(said) && error.contains("[values."), "{error}");
    }
    let error = keyed("level = \"volume.levle\"", "level,mb\nx,9\n").unwrap_err().to_string();
    assert!(
        error.starts_with("mine.toml:5:9: ") && error.contains("did you mean `volume.level`"),
        "{error}"
    );
}

pub(super) const CLASSIC: &str = "srv,4G,46371,94,69880,19,33711,8,,,137264,15,319.6,0,16,+++++,+++,9000,50,+++++,+++,+++++,+++,\
                       +++++,+++,+++++,+++";
pub(super) const CLASSIC_TABLE: &str = "\
Version  1.03       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
srv           4096M 46371  94 69880  19 33711   8 44718  91 137264  15 319.6   0
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16 +++++ +++  9000  50 +++++ +++ +++++ +++ +++++ +++ +++++ +++
";

#[test]
fn the_classic_bonnie_plus_plus_is_read() {
    let line = read("b.csv", CLASSIC);
    let table = read("b.txt", CLASSIC_TABLE);
    for (read, size) in [(&line, "4G"), (&table, "4096M")] {
        close(&samples(read, "read", "mb_per_s"), &[140.558_336]);
        close(&samples(read, "seeks", "seeks_per_s"), &[319.6]);
        close(&samples(read, "stat-sequential", "files_per_s"), &[9000.0]);
        assert_eq!(read.rows[0].at["size"], size);
        assert_eq!(read.warnings.len(), 5, "{:?}", read.warnings);
    }
    assert_eq!((line.rows.len(), table.rows.len()), (6, 7));
    // With both, the line has the exact figures.
    assert_eq!(read("b.txt", &format!("{CLASSIC_TABLE}{CLASSIC}\n")).rows, line.rows);
    // Without file operations, `-n 0`.
    let short = CLASSIC.split(",16,").next().unwrap();
    assert_eq!(read("b.csv", short).rows.len(), 5);
}

pub(super) const THROUGHPUT: &str = "\tRecord Size 64 kB\n\tOutput is in kBytes/sec\n\
        \tEach process writes a 1048576 kByte file in 64 kByte records\n\
        \tChildren see throughput for  4 initial writers \t=  412345.67 kB/sec\n\
        \tParent sees throughput for  4 initial writers \t=  400000.12 kB/sec\n\
        \tMin throughput per process \t\t\t=  100000.00 kB/sec \n\
        \tChildren see throughput for 4 reverse readers \t=  812345.67 kB/sec\n";

#[test]
fn iozone_s_throughput_mode_is_read() {
    let text = THROUGHPUT;
    let table = read("t.txt", text);
    close(&samples(&table, "write", "mb_per_s"), &[422.241_966]);
    close(&samples(&table, "backward-read", "mb_per_s"), &[831.841_966]);
    let at = &table.rows[0].at;
    assert_eq!(
        (&at["processes"], &at["file_kib"], &at["record_kib"]),
        (&4.into(), &1_048_576.into(), &64.into())
    );
    let said = message("t.txt", &text.replace("kB/sec", "ops/sec"), "iozone");
    assert!(said.contains("without -O"), "{said}");
}

/// In every shell.
pub(super) const TIMES: &str = "\
real\t0m12.345s
user\t0m1.234s
sys\t0m2.345s
tar x  1.234s user 2.345s system 29% cpu 12.345 total
Command exited with non-zero status 2
1.234user 2.345system 0:12.345elapsed 29%CPU (0avgtext+0avgdata 3456maxresident)k
";

#[test]
fn what_time_says_in_every_shell() {
    let of = |text: &str, sample: &str| samples(&read("t.txt", text), "command", sample);
    for text in [
        "\nreal\t0m12.345s\nuser\t0m1.234s\nsys\t0m2.345s\n",
        "real 0m12,345s\nuser 0m1,234s\nsys 0m2,345s\n",
        "real 12.345\nuser 1.234\nsys 2.345\n",
        "tar x  1.234s user 2.345s system 29% cpu 12.345 total\n",
        "1.234user 2.345system 0:12.345elapsed 29%CPU (0avgtext+0avgdata 3456maxresident)k\n",
        "\tCommand being timed: \"tar x\"\n\tUser time (seconds): 1.234\n\tSystem time (seconds): 2.345\n\
         \tPercent of CPU this job got: 29%\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:12.345\n",
    ] {
        close(&of(text, "elapsed_s"), &[12.345]);
        let table = read("t.txt", text);
        assert_eq!(table.rows[0].samples.keys().next().unwrap(), "elapsed_s", "{text}");
        close(&of(text, "user_s"), &[1.234]);
        close(&of(text, "system_s"), &[2.345]);
    }
    close(&of("real\t1m2.5s\nuser\t0m1s\nsys\t0m1s\n", "elapsed_s"), &[62.5]);
    let failed = "Command exited with non-zero status 2\n1.2user 2.3system 0:12.34elapsed 29%CPU\n";
    let said = parse("t.txt", failed, None).unwrap_err().to_string();
    assert!(said.contains("no results found") && said.contains("non-zero status 2"), "{said}");
}

pub(super) const MEANS: &str = "command,mean,stddev,median,user,system,min,max,parameter_threads\n\
                \"tar -x, -j 1\",1.5,0.1,1.5,0.2,0.3,1.4,1.6,1\ntar -x -j 2,0.9,0.1,0.9,0.2,0.3,0.8,1.0,2\n";

#[test]
fn hyperfine_s_csv_has_means() {
    let text = MEANS;
    let table = read("h.csv", text);
    close(&samples(&table, "command", "elapsed_s"), &[1.5, 0.9]);
    assert_eq!(table.rows[1].at["threads"], 2);
    assert!(table.warnings[0].contains("--export-json has each run"), "{:?}", table.warnings);
    assert!(
        message("h.csv", &text.replace("0.9,0.1", "x,0.1"), "hyperfine-csv")
            .starts_with("h.csv:3:13: `x`")
    );
}

/// Each is known, and what to do is said.
#[test]
fn what_cannot_be_read_is_known_by_name() {
    for (text, said) in [
        (
            "rr: (groupid=0, jobs=1): err= 0: pid=9465: Mon\n  read: IOPS=37.1k\n",
            "--output-format=json",
        ),
        ("3;fio-3.33;rr;0;0;99896;99796;24949;1001\n", "fio's terse output"),
        ("0, 52000, 0, 4096, 0, 0\n1, 51000, 0, 4096, 4096, 0\n", "log of fio's"),
        ("1048576000 Bytes (1,0 GB, 1000 MiB) kopiert, 4,5678 s, 230 MB/s\n", "LC_ALL=C dd"),
        ("1048576000 octets (1,0 GB, 1000 MiB) copiés, 4,5678 s, 230 MB/s\n", "LC_ALL=C dd"),
        (
            "Version  1.98       ------Sequential Output------ --Sequential\nName:Size etc\n",
            "line with commas",
        ),
        ("Benchmark 1: sleep 1\n  Time (mean ± σ):  1.0 s\n", "--export-json"),
        ("interleave,read\n64,1\n", "looks like a CSV file"),
    ] {
        let error = parse("x.txt", text, None).unwrap_err().to_string();
        assert!(error.starts_with("x.txt: this ") && error.contains(said), "{error}");
    }
    let forced = message("x.txt", "1000 Bytes (1,0 kB) kopiert, 4,5678 s, 230 MB/s\n", "dd");
    assert!(forced.contains("LC_ALL=C dd"), "{forced}");
}

#[test]
fn packed_and_wide_texts_are_texts() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(b"a text").unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(text_of(&packed, 6).unwrap(), "a text");
    assert!(text_of(&packed, 5).unwrap_err().to_string().contains("too large"));
    assert!(text_of(&packed[..12], 6).is_err());
    let wide: Vec<u8> = "\u{feff}ä{".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(text_of(&wide, 100).unwrap(), "ä{");
    assert_eq!(text_of(b"plain", 100).unwrap(), "plain");
    assert_eq!(stem("x/run.json.gz"), "run");
}
