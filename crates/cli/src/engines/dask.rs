//! Dask: tasks for a scheduler (`-- tcp://HOST:8786`), or for a cluster of processes on this machine.

use super::{Engine, HandOver, Job};
use lab::Result;

pub(super) const ENGINE: Engine = Engine {
    name: "dask",
    about: "Dask: this machine, or a scheduler with `-- tcp://HOST:PORT`",
    install: "install it for the `python3` of PATH (pip install dask distributed)",
    probe: &["python3", "-c", "import dask.distributed"],
    in_containers: false,
    hand_over,
};

const SCRIPT: &str = "dask_job.py";
const TASKS: &str = "dask-tasks.txt";

const TEXT: &str = r#""""Hands shards to Dask: python3 dask_job.py TASK.sh TASKS.txt WORKERS [SCHEDULER]"""
import subprocess
import sys


def shard(script, number):
    return subprocess.run(["sh", script, number], stdin=subprocess.DEVNULL).returncode


def main(script, tasks, workers, scheduler=None):
    from dask.distributed import Client, LocalCluster, as_completed

    numbers = open(tasks).read().split()
    if scheduler is None:
        cluster = LocalCluster(
            n_workers=int(workers), threads_per_worker=1, dashboard_address=None, memory_limit=0
        )
        client = Client(cluster)
    else:
        client = Client(scheduler)
    # A task has its result in the store, so none is "pure": each runs, whatever ran before.
    futures = [client.submit(shard, script, number, pure=False, retries=3) for number in numbers]
    for future in as_completed(futures):
        if future.status != "finished":
            print("a task was lost:", future.exception(), file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
"#;

#[expect(clippy::unnecessary_wraps, reason = "other engines lack options")]
fn hand_over(job: &Job<'_>) -> Result<HandOver> {
    let [script, tasks] = [SCRIPT, TASKS].map(|file| job.folder.join(file).display().to_string());
    let (shard, workers) = (job.script().display().to_string(), job.workers.to_string());
    let command = job.command(&["python3", &script, &shard, &tasks, &workers], &[]);
    Ok(HandOver { files: vec![(SCRIPT, TEXT.into()), (TASKS, job.list("\n") + "\n")], command })
}
