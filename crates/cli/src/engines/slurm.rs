//! Slurm: a job array on nodes that share the file system (`-- --partition NAME`).

use super::{Engine, HandOver, Job};
use lab::Result;

pub(super) const ENGINE: Engine = Engine {
    name: "slurm",
    about: "Slurm: a job array",
    install: "run this where `sbatch` is, on a cluster with Slurm",
    probe: &[],
    in_containers: false,
    hand_over,
};

const SCRIPT: &str = "slurm.sh";

#[expect(clippy::unnecessary_wraps, reason = "other engines lack options")]
fn hand_over(job: &Job<'_>) -> Result<HandOver> {
    let name = format!("--job-name={}", job.name);
    let array = format!("--array={}%{}", job.list(","), job.workers);
    let script = job.folder.join(SCRIPT).display().to_string();
    // The task has a log of its own. `--wait` ends with the last task of the array.
    let before = [
        "sbatch",
        "--wait",
        &name,
        &array,
        "--ntasks=1",
        "--cpus-per-task=1",
        "--output=/dev/null",
    ];
    let text = format!("#!/bin/sh\nexec sh {} \"$SLURM_ARRAY_TASK_ID\"\n", job.quoted_script());
    Ok(HandOver { files: vec![(SCRIPT, text)], command: job.command(&before, &[&script]) })
}
