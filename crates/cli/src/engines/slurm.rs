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
/// Slurm takes indices below `MaxArraySize`, which is 1001 where nobody set another.
const INDICES_MAX: usize = 1000;

#[expect(clippy::unnecessary_wraps, reason = "other engines lack options")]
fn hand_over(job: &Job<'_>) -> Result<HandOver> {
    let name = format!("--job-name={}", job.name);
    let indices = match job.tasks.len().min(INDICES_MAX) {
        0 | 1 => "0".into(),
        several => format!("0-{}", several - 1),
    };
    let array = format!("--array={indices}%{}", job.workers);
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
    let text = format!(
        "#!/bin/sh\n\
         # The first index runs the first of these shards, and of more than {INDICES_MAX} each so many further on.\n\
         set -- {}\n\
         shift \"$SLURM_ARRAY_TASK_ID\"\n\
         failed=0\n\
         while [ $# -gt 0 ]; do\n  \
           sh {} \"$1\" || failed=$?\n  \
           [ $# -gt {INDICES_MAX} ] || break\n  \
           shift {INDICES_MAX}\n\
         done\n\
         exit $failed\n",
        job.list(" "),
        job.quoted_script()
    );
    Ok(HandOver { files: vec![(SCRIPT, text)], command: job.command(&before, &[&script]) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::Command;

    /// The indices were the shards' numbers, of which Slurm takes none above 1000.
    #[test]
    fn every_shard_is_run_once_by_indices_that_slurm_takes() {
        for (count, last) in [(1, 0), (3, 2), (1000, 999), (2500, 999)] {
            let scratch = tempfile::tempdir().unwrap();
            // What is left of an earlier round begins anywhere.
            let tasks: Vec<u64> = (1..=count).map(|task| 3 * task).collect();
            let job = Job {
                name: "sweep",
                folder: scratch.path(),
                directory: Path::new("/"),
                tasks: &tasks,
                workers: 5,
                options: &[],
            };
            let HandOver { files, command } = hand_over(&job).unwrap();
            let range = if last == 0 { "0".into() } else { format!("0-{last}") };
            assert!(command.contains(&format!("--array={range}%5")), "{command:?}");
            std::fs::write(scratch.path().join("task.sh"), "echo $1\n").unwrap();
            let mut ran: Vec<u64> = Vec::new();
            for index in [0, last / 2, last] {
                let output = Command::new("sh")
                    .args(["-c", &files[0].1])
                    .env("SLURM_ARRAY_TASK_ID", index.to_string())
                    .output()
                    .unwrap();
                assert!(output.status.success(), "{output:?}");
                let text = String::from_utf8(output.stdout).unwrap();
                let said: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
                let expected = (index..tasks.len()).step_by(INDICES_MAX).map(|at| tasks[at]);
                assert_eq!(said, expected.collect::<Vec<u64>>(), "{count} shards, index {index}");
                ran.extend(said);
            }
            assert!(ran.contains(&3) && (count > 1000 || ran.contains(&(3 * count))));
        }
    }
}
