//! GNU parallel: on this machine, or by ssh on others that have the same files (`-- --sshlogin a,b`).

use super::{Engine, HandOver, Job};
use lab::Result;

pub(super) const ENGINE: Engine = Engine {
    name: "parallel",
    about: "GNU parallel: this machine, or others by ssh",
    install: "install GNU parallel (Debian: apt install parallel)",
    probe: &[],
    in_containers: false,
    hand_over,
};

const TASKS: &str = "parallel-tasks.txt";

#[expect(clippy::unnecessary_wraps, reason = "other engines lack options")]
fn hand_over(job: &Job<'_>) -> Result<HandOver> {
    let (tasks, script) = (job.folder.join(TASKS), job.script());
    let (tasks, script) = (tasks.display().to_string(), script.display().to_string());
    let workers = job.workers.to_string();
    // The script's path is one word to the shell that parallel hands it to.
    let before = ["parallel", "--will-cite", "--quote", "--jobs", &workers];
    let command = job.command(&before, &["--arg-file", &tasks, "sh", &script, "{}"]);
    Ok(HandOver { files: vec![(TASKS, job.list("\n") + "\n")], command })
}
