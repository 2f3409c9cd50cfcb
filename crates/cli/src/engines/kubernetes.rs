//! Kubernetes: an Indexed Job. All pods have a volume at the directory that this command runs in, so the experiment and
//! the results have the same paths in them.

use super::{Engine, HandOver, Job};
use lab::{Error, Result};
use serde_json::json;

pub(super) const ENGINE: Engine = Engine {
    name: "kubernetes",
    about: "Kubernetes: an Indexed Job; takes `-- --image IMAGE --claim VOLUME-CLAIM`",
    install: "install kubectl and set it up for your cluster",
    probe: &["kubectl", "version", "--client"],
    in_containers: true,
    hand_over,
};

const MANIFEST: &str = "kubernetes.json";
const SCRIPT: &str = "kubernetes.sh";
/// What Kubernetes takes as a label.
const NAME_LENGTH_MAX: usize = 63;
/// So often in a row, every 2 s, `kubectl get` may fail before nobody waits any longer.
const UNANSWERED_MAX: u32 = 150;
/// A pod that is lost is started again so often.
const RETRIES: u64 = 3;

fn hand_over(job: &Job<'_>) -> Result<HandOver> {
    let (image, claim) = (option(job, "--image")?, option(job, "--claim")?);
    if !job.folder.starts_with(job.directory) {
        return Err(Error::input(format!(
            "{} is outside of {}, where the volume of the pods is; give `--out` a directory in it",
            job.folder.display(),
            job.directory.display()
        )));
    }
    let name = label(job.name);
    // The pod of index 0 takes the first of the tasks that are left.
    let task = format!(
        "set -- {}; shift \"$JOB_COMPLETION_INDEX\"; exec sh {} \"$1\"",
        job.list(" "),
        job.quoted_script()
    );
    let container = json!({
        "name": "shard",
        "image": image,
        "command": ["sh", "-c", task],
        "resources": { "requests": { "cpu": "1" } },
        "volumeMounts": [{ "name": "results", "mountPath": job.directory.display().to_string() }],
    });
    let manifest = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": name },
        "spec": {
            "completionMode": "Indexed",
            "completions": job.tasks.len(),
            "parallelism": job.workers.min(job.tasks.len() as u64),
            "backoffLimitPerIndex": RETRIES,
            "template": { "spec": {
                "restartPolicy": "Never",
                "containers": [container],
                "volumes": [{ "name": "results", "persistentVolumeClaim": { "claimName": claim } }],
            }},
        },
    });
    let script = format!(
        "#!/bin/sh\n\
         # A job of this name may be left of an earlier round; what it has done is in the results.\n\
         kubectl delete job {name} --ignore-not-found || exit\n\
         kubectl create -f \"$1\" || exit\n\
         # It ends when the job has ended, whichever way: what is missing is looked up in the results.\n\
         unanswered=0\n\
         while [ $unanswered -lt {UNANSWERED_MAX} ]; do\n  \
           if job=$(kubectl get job {name} --ignore-not-found -o \
         'jsonpath={{.metadata.name}} {{.status.conditions[?(@.status==\"True\")].type}}'); then\n    \
             unanswered=0\n    \
             case $job in\n      \
               *Complete*|*Failed*) exit ;;\n      \
               *{name}*) ;;\n      \
               *) echo 'the job {name} is gone: somebody deleted it' >&2; exit 1 ;;\n    \
             esac\n  \
           else\n    \
             unanswered=$((unanswered + 1))\n  \
           fi\n  \
           sleep 2\n\
         done\n\
         echo 'kubectl does not reach the cluster any more' >&2\n\
         exit 1\n"
    );
    let paths = [SCRIPT, MANIFEST].map(|file| job.folder.join(file).display().to_string());
    let command = vec!["sh".into(), paths[0].clone(), paths[1].clone()];
    Ok(HandOver { files: vec![(MANIFEST, format!("{manifest:#}\n")), (SCRIPT, script)], command })
}

/// What follows an option among the engine's own.
fn option<'a>(job: &'a Job<'_>, name: &str) -> Result<&'a str> {
    let place = job.options.iter().position(|word| word == name);
    let value = place.and_then(|place| job.options.get(place + 1));
    value.map(String::as_str).ok_or_else(|| {
        Error::input(format!(
            "`--engine kubernetes` needs `{name}`; add `-- --image IMAGE --claim VOLUME-CLAIM`: an image that has \
             ileave, and the volume that is mounted here"
        ))
    })
}

/// A name of a job: small letters, digits and dashes.
fn label(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = format!("ileave-{name}").chars().map(plain).take(NAME_LENGTH_MAX).collect();
    name.trim_end_matches('-').into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::process::{Command, Output};

    /// What the script does with a `kubectl` that answers `get` so.
    fn waited(get: &str) -> Output {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let options = ["--image".to_string(), "i".into(), "--claim".into(), "c".into()];
        let job = Job {
            name: "sweep",
            folder,
            directory: Path::new("/"),
            tasks: &[1],
            workers: 1,
            options: &options,
        };
        let HandOver { files, .. } = hand_over(&job).unwrap();
        let text = format!("#!/bin/sh\ncase $1 in get) {get} ;; esac\n");
        for (name, text) in [("kubectl", text.as_str()), ("sleep", "#!/bin/sh\n")] {
            std::fs::write(folder.join(name), text).unwrap();
            let may_run = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(folder.join(name), may_run).unwrap();
        }
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let script = &files.iter().find(|(name, _)| *name == SCRIPT).unwrap().1;
        Command::new("timeout")
            .args(["20", "sh", "-c", script, "sh", "x"])
            .env("PATH", path)
            .output()
            .unwrap()
    }

    /// It asked for ever.
    #[test]
    fn a_job_that_is_deleted_is_waited_for_no_longer() {
        let gone = waited("true");
        assert_eq!(gone.status.code(), Some(1), "{gone:?}");
        assert!(String::from_utf8(gone.stderr).unwrap().contains("the job ileave-sweep is gone"));
        let unreachable = waited("exit 1");
        assert_eq!(unreachable.status.code(), Some(1), "{unreachable:?}");
        for ended in ["Complete", "Failed", "FailureTarget Failed"] {
            let done = waited(&format!("echo 'ileave-sweep {ended}'"));
            assert!(done.status.success(), "{done:?}");
        }
    }
}
