//! The engine of small files beside a loop of the same system calls, `fs_mark` and fio's filecreate, on tmpfs: the table of
//! docs/disks.md. Run it on a machine that does nothing else:
//!
//! ```sh
//! cargo bench --bench small_files             # or … -- DIR, for another file system in memory
//! ```

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a table is what it is for")]

#[cfg(target_os = "linux")]
fn main() {
    let directory = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    match linux::compare(directory.as_deref().unwrap_or("/dev/shm")) {
        Ok(table) => println!("{table}"),
        Err(why) => eprintln!("SKIPPED: {why}"),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("SKIPPED: programs on real file systems are there on Linux only");
}

#[cfg(target_os = "linux")]
mod linux {
    use lab::workload::live::{LiveFiles, Shared, process_cpu_s, run_now};
    use rustix::fd::OwnedFd;
    use rustix::fs::{
        AtFlags, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, mkdirat, openat, statat, unlinkat,
        utimensat,
    };
    use rustix::io::{pread, pwrite};
    use sim::fs::Files as _;
    use sim::fs::program::{spool, touch, tree};
    use std::fmt::Write as _;
    use std::path::Path;
    use std::process::Command;
    use std::rc::Rc;
    use std::sync::Arc;

    /// Enough that names are no part of it, and few enough for any tmpfs.
    const FILES: u32 = 20_000;
    const TURNS: usize = 5;
    const PHASES: [&str; 5] = ["touch", "retouch", "unlink", "untar", "spool reader"];
    /// What `untar` unpacks: 230 MB.
    const TREE: tree::TreeSpec = tree::TreeSpec {
        files: 20_000,
        directories: 1000,
        depth: 4,
        file_bytes: 10_000,
        large_files: 30,
    };
    /// What a reader of the spool reads: all of it, once, in random order.
    const SPOOL: spool::SpoolSpec = spool::SpoolSpec {
        files: 20_000,
        directories: 100,
        readers: 1,
        files_per_reader: 20_000,
        sorted: false,
    };
    /// The sizes of tar's writes and of the reader's reads.
    const RECORD_BYTES: usize = 10_240;
    const READ_BYTES: usize = 8192;

    type Tried<T> = Result<T, String>;

    fn said<E: std::fmt::Display>(error: E) -> String {
        error.to_string()
    }

    /// The table, or why there is none.
    pub(super) fn compare(parent: &str) -> Tried<String> {
        let directory = tempfile::tempdir_in(parent).map_err(said)?;
        let (mut ours, mut raw) = (Vec::new(), Vec::new());
        // Turn about, so that what drifts falls on both.
        for turn in 0..TURNS {
            ours.push(engine(directory.path(), &format!("engine{turn}"))?);
            raw.push(calls(directory.path(), &format!("calls{turn}"))?);
        }
        let mut table = format!(
            "{FILES} files on {parent}, {TURNS} turns, files per second of processor time (medians)\n\n\
             | phase | system calls | ileave | ratio, median | all ratios |\n|---|---:|---:|---:|---:|\n"
        );
        for (phase, name) in PHASES.iter().enumerate() {
            let of = |all: &[[f64; 5]]| all.iter().map(|turn| turn[phase]).collect::<Vec<_>>();
            let (ours, raw) = (of(&ours), of(&raw));
            let mut ratios: Vec<f64> = ours.iter().zip(&raw).map(|(a, b)| a / b).collect();
            ratios.sort_by(f64::total_cmp);
            let row = format!(
                "| {name} | {:.0} | {:.0} | {:.3} | {:.2}–{:.2} |",
                median(raw),
                median(ours),
                ratios[TURNS / 2],
                ratios[0],
                ratios[TURNS - 1]
            );
            writeln!(table, "{row}").map_err(said)?;
        }
        for (name, rate) in others(directory.path()) {
            writeln!(table, "\n{name}: {rate}").map_err(said)?;
        }
        Ok(table)
    }

    fn median(mut all: Vec<f64>) -> f64 {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    }

    /// Files per second of processor time in each phase, by the programs that trials run.
    fn engine(root: &Path, name: &str) -> Tried<[f64; 5]> {
        let files = LiveFiles::open(root, &Shared::default()).map_err(said)?;
        let directory = run_now(files.mkdir(files.root(), name)).map_err(said)?;
        let new =
            rate(|| run_now(touch::touch_new(files.clone(), directory, FILES)).map_err(said))?;
        let again =
            rate(|| run_now(touch::touch_again(files.clone(), directory, FILES)).map_err(said))?;
        let gone = rate(|| run_now(touch::remove(files.clone(), directory, FILES)).map_err(said))?;
        run_now(files.rmdir(files.root(), name)).map_err(said)?;
        let [at, of_tree] = [root.join(format!("{name}-tree")), root.join("tree")];
        std::fs::create_dir(&at).map_err(said)?;
        let files = LiveFiles::open(&at, &Shared::default()).map_err(said)?;
        let content = Arc::new(tree::Tree::new(&TREE, 1));
        let archive = tree::Unpacking { files: files.clone(), work_ns_per_kib: 0 };
        let untar = rate(|| run_now(tree::extract(files, content, archive)).map_err(said))?;
        // The first stays, for the loop to know what it is to make.
        let keep = !of_tree.exists();
        if keep { std::fs::rename(&at, &of_tree) } else { std::fs::remove_dir_all(&at) }
            .map_err(said)?;
        Ok([new, again, gone, untar, read_spool(root)?])
    }

    /// Articles per second, by the program of a trial.
    fn read_spool(root: &Path) -> Tried<f64> {
        let at = root.join("spool");
        let is_new = std::fs::create_dir(&at).is_ok();
        let files = LiveFiles::open(&at, &Shared::default()).map_err(said)?;
        if is_new {
            run_now(spool::write(files.clone(), &SPOOL)).map_err(said)?;
        }
        let directories = run_now(spool::open_directories(files.clone(), &SPOOL)).map_err(said)?;
        let list = SPOOL.lists(1).remove(0);
        rate(|| run_now(spool::read(files, SPOOL, Rc::from(directories), list)).map_err(said))
    }

    /// The same by a loop.
    fn read_articles(root: &OwnedFd) -> Tried<f64> {
        let path = |article: &u64| {
            let directory = article * SPOOL.directories / SPOOL.files;
            format!("spool/group{directory}/{}", 1_000_000 + article)
        };
        let paths: Vec<String> = SPOOL.lists(1)[0].iter().map(path).collect();
        let mut buffer = vec![0; READ_BYTES];
        rate(|| {
            for path in &paths {
                let file = openat(root, path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
                    .map_err(said)?;
                let mut offset = 0;
                loop {
                    let read = pread(&file, &mut buffer[..], offset).map_err(said)?;
                    offset += read as u64;
                    if read < READ_BYTES {
                        break;
                    }
                }
            }
            Ok(())
        })
    }

    /// Every directory and file of a tree below `at`, with the sizes of files; directories before what is in them.
    fn walk(at: &Path, below: &str, into: &mut Vec<(String, Option<usize>)>) -> Tried<()> {
        for entry in std::fs::read_dir(at).map_err(said)? {
            let entry = entry.map_err(said)?;
            let (name, metadata) = (entry.file_name(), entry.metadata().map_err(said)?);
            let path = format!("{below}/{}", name.to_string_lossy());
            into.push((path.clone(), metadata.is_file().then_some(metadata.len() as usize)));
            if metadata.is_dir() {
                walk(&entry.path(), &path, into)?;
            }
        }
        Ok(())
    }

    /// Unpacks the tree once more by a loop of calls.
    fn unpack(root: &OwnedFd, at: &Path, flags: OFlags, times: &Timestamps) -> Tried<f64> {
        let mut all = vec![("copy".to_string(), None)];
        walk(&at.join("tree"), "copy", &mut all)?;
        let record = vec![0xa5; RECORD_BYTES];
        let rate = rate(|| {
            for (path, bytes) in &all {
                let Some(bytes) = *bytes else {
                    mkdirat(root, path, Mode::from_raw_mode(0o755)).map_err(said)?;
                    continue;
                };
                let file = openat(root, path, flags, Mode::from_raw_mode(0o644)).map_err(said)?;
                let mut offset = 0;
                while offset < bytes {
                    let piece = RECORD_BYTES.min(bytes - offset);
                    offset += pwrite(&file, &record[..piece], offset as u64).map_err(said)?;
                }
                drop(file);
                utimensat(root, path, times, AtFlags::empty()).map_err(said)?;
            }
            Ok(())
        });
        std::fs::remove_dir_all(at.join("copy")).map_err(said)?;
        rate
    }

    /// The same calls in a loop. The names are made beforehand, which the engine is not spared.
    fn calls(at: &Path, name: &str) -> Tried<[f64; 5]> {
        let root = rustix::fs::open(at, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
            .map_err(said)?;
        mkdirat(&root, name, Mode::from_raw_mode(0o755)).map_err(said)?;
        let paths: Vec<String> = (1..=FILES).map(|number| format!("{name}/{number}")).collect();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW as _ };
        let times = Timestamps { last_access: now, last_modification: now };
        let stat = |path: &String| statat(&root, path, AtFlags::SYMLINK_NOFOLLOW);
        let each = |call: &dyn Fn(&String) -> rustix::io::Result<()>| {
            rate(|| paths.iter().try_for_each(call).map_err(said))
        };
        let new = each(&|path| match stat(path) {
            Ok(_) => Ok(()),
            Err(_) => openat(&root, path, flags, Mode::from_raw_mode(0o644)).map(drop),
        })?;
        let again = each(&|path| {
            stat(path)?;
            utimensat(&root, path, &times, AtFlags::empty())
        })?;
        let gone = each(&|path| {
            stat(path)?;
            unlinkat(&root, path, AtFlags::empty())
        })?;
        unlinkat(&root, name, AtFlags::REMOVEDIR).map_err(said)?;
        let untar = unpack(&root, at, flags, &times)?;
        Ok([new, again, gone, untar, read_articles(&root)?])
    }

    /// Files per second of this process's time on processors.
    fn rate(run: impl FnOnce() -> Tried<()>) -> Tried<f64> {
        let before = process_cpu_s();
        run()?;
        Ok(f64::from(FILES) / (process_cpu_s() - before))
    }

    /// What programs of others make of it, by the clock, as they say it.
    fn others(directory: &Path) -> Vec<(&'static str, String)> {
        let at = directory.display();
        let fs_mark = format!(
            "mkdir {at}/fs_mark && fs_mark -d {at}/fs_mark -l {at}/fs_log -n {FILES} -s 0 -S 0 -t 1"
        );
        let fio = format!(
            "fio --name=x --directory={at} --ioengine=filecreate --filesize=4k --nrfiles={FILES} --openfiles=1 \
             --fallocate=none --create_on_open=1 --output-format=terse"
        );
        vec![
            ("fs_mark, files per second by the clock", last_figure(&fs_mark)),
            ("fio filecreate, files per second by the clock", fio_rate(&fio)),
        ]
    }

    fn output(command: &str) -> Option<String> {
        let output = Command::new("sh").args(["-c", command]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The fourth column of the last line of `fs_mark`: files per second.
    fn last_figure(command: &str) -> String {
        let rate = output(command).and_then(|text| {
            let line = text.lines().rev().find(|line| line.split_whitespace().count() >= 5)?;
            Some(line.split_whitespace().nth(3)?.to_string())
        });
        rate.unwrap_or_else(|| "it does not run here".into())
    }

    /// The eighth field of fio's terse line: reads and creations per second.
    fn fio_rate(command: &str) -> String {
        let rate = output(command).and_then(|text| {
            let line = text.lines().find(|line| line.starts_with('3'))?;
            Some(line.split(';').nth(7)?.to_string())
        });
        rate.unwrap_or_else(|| "it does not run here".into())
    }
}
