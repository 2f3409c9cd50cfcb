//! `ileave submit` with engines that are here: what they lose is run again, and the results are those of one run.

use super::shards::{SWEEP, bytes};
use super::{ileave, is_required, makes_namespace, scratch, skipped, stdout};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::RwLockWriteGuard;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Whether a program is here; says aloud that a test is skipped where not.
fn is_installed(program: &str, arguments: &[&str]) -> bool {
    let tried = Command::new(program).args(arguments).output();
    let is_here = tried.is_ok_and(|output| output.status.success());
    if !is_here {
        skipped(&format!("this does not work here: {program} {}", arguments.join(" ")));
    }
    is_here
}

/// What no package can give is no failure, even where everything is required.
#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
fn cannot(why: &str) {
    eprintln!("SKIPPED: {why}");
}

fn has_parallel() -> bool {
    is_installed("parallel", &["--version"])
}

fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let given_up = Instant::now() + Duration::from_secs(300);
    while !happened() {
        assert!(Instant::now() < given_up, "it never happens: {what}");
        sleep(Duration::from_millis(2));
    }
}

/// The sweep and its results by one run.
fn sweep(here: &Path, requests: u64) {
    let text = SWEEP.replace("count = 30", &format!("count = {requests}"));
    fs::write(here.join("sweep.toml"), text).unwrap();
    stdout(here, &["run", "sweep.toml", "--out", "whole"]);
}

fn spawn(here: &Path, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(arguments)
        .current_dir(here)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Processes below a directory whose command has these words, by number.
fn processes(here: &Path, words: &[&str]) -> Vec<u32> {
    let here = here.canonicalize().unwrap();
    let here = here.to_str().unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|number: &u32| {
            let command = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            command.contains(here) && words.iter().all(|word| command.contains(word))
        })
        .collect()
}

/// Whether it was there to be killed.
fn kill(process: u32) -> bool {
    Command::new("kill").args(["-9", &process.to_string()]).output().unwrap().status.success()
}

/// The trials that are kept in a results directory, or in the shards in it: how many lines each has.
fn kept(results: &Path) -> BTreeMap<u64, usize> {
    let mut directories: Vec<PathBuf> = vec![results.into()];
    let shards = fs::read_dir(results.join("shards")).into_iter().flatten().flatten();
    directories.extend(shards.map(|entry| entry.path()));
    let mut kept = BTreeMap::new();
    for directory in directories {
        let text = fs::read_to_string(directory.join("trials.jsonl")).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for line in whole.lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            *kept.entry(record["trial"].as_u64().unwrap()).or_default() += 1;
        }
    }
    kept
}

fn assert_whole(here: &Path, results: &str) {
    assert!(bytes(&here.join(results)) == bytes(&here.join("whole")), "{results} differs");
    assert!(!here.join(results).join("shards").exists(), "shards are left");
}

/// How often each trial was started and finished.
fn runs(results: &Path) -> BTreeMap<(u64, String), usize> {
    let mut runs = BTreeMap::new();
    for line in fs::read_to_string(results.join("attempts.jsonl")).unwrap().lines() {
        let attempt: serde_json::Value = serde_json::from_str(line).unwrap();
        let event = attempt["event"].as_str().unwrap().to_string();
        *runs.entry((attempt["trial"].as_u64().unwrap(), event)).or_default() += 1;
    }
    runs
}

/// One task, then the engine itself, and the tasks go on.
#[test]
fn parallel_with_a_task_and_then_itself_killed() {
    if !has_parallel() {
        return;
    }
    let scratch = scratch();
    let here = scratch.path();
    sweep(here, 300);
    let asked = ["submit", "sweep.toml", "--engine", "parallel", "--shards", "4", "--out", "out"];
    let child = spawn(here, &[&asked[..], &["--workers", "2"]].concat());
    let results = here.join("out");
    wait_until("a task has finished a trial", || !kept(&results).is_empty());
    let said = stdout(here, &["report", "out"]);
    assert!(said.starts_with("0 of ") && said.contains(" in out/shards"), "{said}");
    // Of the tasks, whichever runs.
    wait_until("a task is killed", || {
        processes(here, &["ileave run", "--shard"]).into_iter().next().is_some_and(kill)
    });
    let before = kept(&results).len();
    wait_until("there are more trials", || kept(&results).len() > before);
    let engines = processes(here, &["parallel", "--jobs"]);
    let killed = engines.into_iter().filter(|engine| kill(*engine)).count();
    assert!(killed > 0, "it was over before it could be killed");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_whole(here, "out");
    let runs = runs(&results);
    let mut finished = runs.iter().filter(|((_, event), _)| event == "finished");
    assert!(finished.all(|(_, times)| *times == 1), "a trial was finished twice");
}

/// Kill -9 of the command itself, at points from its start to its end: its tasks go on, nothing finished is lost,
/// and nothing is run twice.
#[test]
fn submit_killed_at_fifty_points() {
    let points = if is_required() { 50 } else { 10 };
    if !has_parallel() {
        return;
    }
    let scratch = scratch();
    let here = scratch.path();
    sweep(here, 100);
    let (mut deaths, mut whole) = (0, 0);
    while deaths < points || whole == 0 {
        let out = format!("out-{whole}");
        let results = here.join(&out);
        let asked = ["submit", "sweep.toml", "--engine", "parallel", "--shards", "3"];
        let before = kept(&results);
        let mut child = spawn(here, &[&asked[..], &["--out", &out]].concat());
        // Once there were enough, it may come to its end.
        if deaths < points {
            sleep(Duration::from_millis(deaths * 350 / points));
        } else {
            child.wait().unwrap();
        }
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            assert!(bytes(&results) == bytes(&here.join("whole")), "{out} differs");
            let runs = runs(&results);
            assert_eq!(runs.len(), 2 * 96);
            assert!(runs.values().all(|times| *times == 1), "a trial ran twice: {runs:?}");
            whole += 1;
            continue;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), None, "it failed by itself: {said}");
        deaths += 1;
        let now = kept(&results);
        assert!(before.keys().all(|trial| now.contains_key(trial)), "a finished trial was lost");
    }
    wait_until("what earlier commands started has ended", || processes(here, &[]).is_empty());
    for number in 0..whole {
        // A task that a killed command had started may begin once more when all is done and put away. The next command
        // only reports, and takes away what such a task has left.
        let out = format!("out-{number}");
        stdout(
            here,
            &["submit", "sweep.toml", "--engine", "parallel", "--shards", "3", "--out", &out],
        );
        assert_whole(here, &out);
    }
}

#[test]
fn a_second_submit_is_refused_and_one_that_is_over_only_reports() {
    if !has_parallel() {
        return;
    }
    let scratch = scratch();
    let here = scratch.path();
    sweep(here, 300);
    let asked = ["submit", "sweep.toml", "--engine", "parallel", "--shards", "4", "--out", "out"];
    let child = spawn(here, &asked);
    wait_until("it has begun", || here.join("out/shards/task.sh").exists());
    let second = ileave(here, &asked);
    let said = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains("another ileave is writing to out"), "{said}");
    assert!(child.wait_with_output().unwrap().status.success());
    assert_whole(here, "out");
    let report = stdout(here, &["report", "whole"]);
    assert_eq!(stdout(here, &asked), format!("{report}\nResults: out\n"));
    assert_whole(here, "out");
}

#[test]
fn what_cannot_be_handed_over_says_why() {
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    fs::create_dir(here.join("empty")).unwrap();
    let submit = |arguments: &[&str], path: Option<&Path>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ileave"));
        command.args(["submit", "sweep.toml"]).args(arguments).current_dir(here);
        if let Some(path) = path {
            command.env("PATH", path);
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let empty = here.join("empty");
    for (engine, program) in
        [("parallel", "parallel"), ("slurm", "sbatch"), ("dask", "python3"), ("hyperqueue", "hq")]
    {
        let (status, said) = submit(&["--engine", engine, "--out", "none"], Some(&empty));
        assert_eq!(status, Some(2), "{said}");
        let expected = format!("`--engine {engine}`: there is no `{program}` here; ");
        assert!(said.contains(&expected), "{said}");
    }
    for (arguments, expected) in [
        (&["--engine", "kubernetes"][..], "needs `--image`; add `-- --image IMAGE"),
        (&["--engine", "kubernetes", "--", "--image", "x"], "needs `--claim`"),
        (
            &[
                "--engine",
                "kubernetes",
                "--out",
                "/elsewhere",
                "--",
                "--image",
                "x",
                "--claim",
                "y",
            ],
            "/elsewhere/shards is outside of",
        ),
        (&["--engine", "condor"], "invalid value 'condor'"),
        (&["--engine", "slurm", "--shards", "0"], "invalid value '0'"),
        (&["--engine", "slurm", "--set", "run.on=disks"], "are not handed to an engine"),
        (&["--engine", "slurm", "--within", "2%"], "no shard has all of them; give `--repeat N`"),
    ] {
        let (status, said) =
            submit(&[arguments[..2].as_ref(), &["--plan"], &arguments[2..]].concat(), None);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    }
    if has_parallel() {
        let failing =
            ["--engine", "parallel", "--shards", "2", "--ileave", "false", "--out", "out"];
        let (status, said) = submit(&failing, None);
        assert_eq!(status, Some(1), "{said}");
        assert!(
            said.contains("`parallel` has run 2 of 2 shards 3 times without finishing a trial"),
            "{said}"
        );
        // Another division is refused while shards of the first are there.
        stdout(here, &["run", "sweep.toml", "--shard", "1/2", "--out", "out/shards/1-of-2"]);
        let (status, said) =
            submit(&["--engine", "parallel", "--shards", "5", "--out", "out"], None);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("out was started with 2 shards, not 5; give `--shards 2`"), "{said}");
    }
}

/// All members of the kernel rig are modelled, and it was refused as if they were real.
#[test]
#[cfg(target_os = "linux")]
fn a_sweep_in_kernels_is_handed_over_where_there_is_a_kernel() {
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    let planned = Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(["submit", "sweep.toml", "--engine", "parallel", "--plan", "--set", "run.on=kernel"])
        .current_dir(here)
        .env("XDG_CACHE_HOME", here)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&planned.stderr);
    assert!(said.contains("make one with `ileave kernel build`"), "{said}");
}

/// What no task can run is no lost task: it was handed over three times.
#[test]
fn a_task_that_cannot_run_is_told_at_once() {
    use std::os::unix::fs::PermissionsExt as _;
    if !has_parallel() {
        return;
    }
    let scratch = scratch();
    let here = scratch.path();
    fs::write(here.join("sweep.toml"), SWEEP).unwrap();
    let task = "#!/bin/sh\nshift 2\nexec \"$ILEAVE\" run gone.toml \"$@\"\n";
    fs::write(here.join("task"), task).unwrap();
    fs::set_permissions(here.join("task"), fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ileave"))
        .args(["submit", "sweep.toml", "--engine", "parallel", "--shards", "2", "--out", "out"])
        .args(["--workers", "1", "--ileave", "./task"])
        .current_dir(here)
        .env("ILEAVE", env!("CARGO_BIN_EXE_ileave"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`parallel`: shard ") && said.contains("gone.toml"), "{said}");
    let log = fs::read_to_string(here.join("out/shards/task-1.log")).unwrap();
    assert_eq!(log.matches("gone.toml").count(), 1, "{log}");
}

/// The parent of a process.
fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:\t"))?.parse().ok()
}

/// A submit in the middle of which `lost` of a running task is killed.
fn killed_in_the_middle(here: &Path, mut submit: Command, lost: impl Fn(u32) -> u32) {
    sweep(here, 300);
    submit.args(["sweep.toml", "--shards", "4", "--workers", "2", "--out", "out"]);
    let child =
        submit.current_dir(here).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let results = here.join("out");
    let mut killed = false;
    wait_until("a task is killed after a trial", || {
        let tasks = processes(here, &["ileave run", "--shard"]);
        if let Some(task) = tasks.first().filter(|_| !kept(&results).is_empty()) {
            killed = kill(lost(*task));
        }
        killed
    });
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_whole(here, "out");
    let runs = runs(&results);
    let finished = runs.iter().filter(|((_, event), _)| event == "finished");
    assert!(finished.clone().all(|(_, times)| *times == 1), "a trial was finished twice");
    // A kill may fall between a result and the note of when it came.
    assert!(finished.count() >= 95);
}

#[test]
fn dask_with_a_worker_killed() {
    // The system's Python may have what the first of PATH lacks.
    let system = format!("/usr/bin:{}", std::env::var("PATH").unwrap());
    let paths = [std::env::var("PATH").unwrap(), system];
    let path = paths.into_iter().find(|path| {
        let mut python = Command::new("python3");
        let tried = python.args(["-c", "import dask.distributed"]).env("PATH", path).output();
        tried.is_ok_and(|output| output.status.success())
    });
    let Some(path) = path else {
        return skipped("there is no dask.distributed for python3 (package python3-distributed)");
    };
    let scratch = scratch();
    let mut submit = Command::new(env!("CARGO_BIN_EXE_ileave"));
    submit.args(["submit", "--engine", "dask"]).env("PATH", path);
    // The worker is the process that started the task; the task itself goes on.
    killed_in_the_middle(scratch.path(), submit, |task| parent(task).unwrap_or(task));
}

/// A cluster of one node, in namespaces of its own: nobody else can reach it, and all of it ends with it.
struct Cluster {
    node: Child,
    _namespace: RwLockWriteGuard<'static, ()>,
}

impl Cluster {
    fn start(here: &Path) -> Self {
        let namespace = makes_namespace();
        fs::write(here.join("cluster.sh"), CLUSTER).unwrap();
        let log = fs::File::create(here.join("cluster.log")).unwrap();
        let started = Command::new("unshare")
            .args(["--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "cluster.sh"])
            .current_dir(here)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn();
        let cluster = Cluster { node: started.unwrap(), _namespace: namespace };
        wait_until("the node is idle", || {
            let state = cluster.command(here, "sinfo").args(["--noheader", "-o", "%t"]).output();
            String::from_utf8_lossy(&state.unwrap().stdout).trim() == "idle"
        });
        cluster
    }

    /// A command that can reach it.
    fn command(&self, here: &Path, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--net", "--target", &self.node.id().to_string(), "timeout", "200", program]);
        command.env("SLURM_CONF", here.join("slurm.conf"));
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.node.kill().unwrap();
        self.node.wait().unwrap();
    }
}

const CLUSTER: &str = r#"
set -e
here=$(pwd)
host=$(hostname -s)
ip link set lo up
# With 127.0.0.1 alone Slurm takes the machine for one without a network.
ip addr add 10.9.9.9/32 dev lo
mkdir state spool munge
chmod 755 . munge
chmod 700 state
dd if=/dev/urandom of=munge/key bs=128 count=1 2>/dev/null
chmod 400 munge/key
cat >slurm.conf <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$here/munge/socket
CredType=cred/munge
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool
SlurmctldPidFile=$here/slurmctld.pid
SlurmdPidFile=$here/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000
PartitionName=lab Nodes=$host Default=YES State=UP
END
export SLURM_CONF=$here/slurm.conf
munged --foreground --force --key-file=munge/key --socket=munge/socket --pid-file=munge/pid --log-file=munge/log --seed-file=munge/seed &
while [ ! -S munge/socket ]; do sleep 0.1; done
slurmctld -D &
slurmd -D -N "$host" &
wait
"#;

/// The task's script is killed, as by a node that runs out of memory.
#[test]
fn slurm_with_a_task_killed() {
    for program in ["sbatch", "slurmctld", "slurmd"] {
        if !is_installed("sh", &["-c", &format!("command -v {program}")]) {
            return;
        }
    }
    if !Command::new("unshare").args(["--net", "true"]).output().unwrap().status.success() {
        cannot("nobody here may make a network of their own (unshare --net)");
        return;
    }
    let scratch = scratch();
    let here = scratch.path();
    let cluster = Cluster::start(here);
    let mut submit = cluster.command(here, env!("CARGO_BIN_EXE_ileave"));
    submit.args(["submit", "--engine", "slurm"]);
    killed_in_the_middle(here, submit, |task| task);
}

/// A stand-in for kubectl and its cluster: runs the pods of the job that it is given, with what the job says.
const KUBECTL: &str = r#"#!/usr/bin/env python3
import json, os, subprocess, sys
if sys.argv[1] == "create":
    job = json.load(open(sys.argv[3]))
    spec = job["spec"]
    assert spec["completionMode"] == "Indexed" and job["metadata"]["name"] == "ileave-sweep"
    container = spec["template"]["spec"]["containers"][0]
    assert container["volumeMounts"][0]["mountPath"] == os.getcwd(), container
    # The pod of index 1 is lost.
    for index in range(spec["completions"]):
        if index != 1:
            environment = dict(os.environ, JOB_COMPLETION_INDEX=str(index))
            subprocess.run(container["command"], env=environment, cwd="/", check=True)
    with open("rounds", "a") as rounds:
        rounds.write(f"{spec['completions']}\n")
elif sys.argv[1] == "get":
    print("Failed")
"#;

/// The commands of the pods do the work, and a pod that is lost is in the next job. A cluster is not tried.
#[test]
fn kubernetes_by_a_stand_in_that_loses_a_pod() {
    use std::os::unix::fs::PermissionsExt as _;
    if !is_installed("python3", &["--version"]) {
        return;
    }
    let scratch = scratch();
    let here = &scratch.path().canonicalize().unwrap();
    sweep(here, 30);
    let programs = here.join("programs");
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("kubectl"), KUBECTL).unwrap();
    fs::set_permissions(programs.join("kubectl"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let submit = |more: &[&str]| {
        let options = ["--", "--image", "example.org/ileave:1", "--claim", "results"];
        let asked =
            ["submit", "sweep.toml", "--engine", "kubernetes", "--shards", "4", "--out", "out"];
        let output = Command::new(env!("CARGO_BIN_EXE_ileave"))
            .args(
                [&asked[..], &["--ileave", env!("CARGO_BIN_EXE_ileave")], more, &options].concat(),
            )
            .current_dir(here)
            .env("PATH", &path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let plan = submit(&["--plan"]);
    submit(&[]);
    assert_whole(here, "out");
    // Four pods, of which one was lost, and one more: the index 1 is lost no more.
    assert_eq!(fs::read_to_string(here.join("rounds")).unwrap(), "4\n1\n");
    // The schemas of Kubernetes itself.
    let start = plan.split_once("kubernetes.json\n").unwrap().1;
    let manifest = start.split_once("\n# ").unwrap().0;
    fs::write(here.join("job.json"), manifest).unwrap();
    let validate = |file: &str| {
        let mut command = Command::new("kubernetes-validate");
        command.args(["--strict", "-k", "1.33.0", file]).current_dir(here).output()
    };
    let Ok(validated) = validate("job.json") else {
        return cannot("there is no kubernetes-validate (pip install kubernetes-validate)");
    };
    assert!(validated.status.success(), "{}", String::from_utf8_lossy(&validated.stdout));
    fs::write(here.join("wrong.json"), manifest.replace("completions", "completion")).unwrap();
    assert!(!validate("wrong.json").unwrap().status.success(), "it takes anything");
}
