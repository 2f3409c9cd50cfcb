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
         until kubectl get job {name} -o 'jsonpath={{.status.conditions[?(@.status==\"True\")].type}}' |\n\
           grep -qE 'Complete|Failed'; do sleep 2; done\n"
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
