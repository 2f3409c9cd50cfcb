//! `HyperQueue`: a task array in its job file, for the server that `hq` finds.

use super::{Engine, HandOver, Job};
use lab::Result;
use serde::Serialize;

pub(super) const ENGINE: Engine = Engine {
    name: "hyperqueue",
    about: "HyperQueue: its job file, a task array",
    install: "install HyperQueue's `hq` and start a server and workers",
    probe: &["hq", "--version"],
    in_containers: false,
    hand_over,
};

const FILE: &str = "hyperqueue.toml";

/// Its job file.
#[derive(Serialize)]
struct File {
    name: String,
    array: Array,
}

#[derive(Serialize)]
struct Array {
    ids: String,
    command: [String; 3],
    stdout: String,
    stderr: String,
    /// How many workers may be lost under a task before it is given up.
    crash_limit: u64,
}

fn hand_over(job: &Job<'_>) -> Result<HandOver> {
    let output = job.folder.join("hyperqueue-%{TASK_ID}").display().to_string();
    let task = format!("exec sh {} \"$HQ_TASK_ID\"", job.quoted_script());
    let file = File {
        name: job.name.into(),
        array: Array {
            ids: job.list(","),
            command: ["sh".into(), "-c".into(), task],
            stdout: format!("{output}.out"),
            stderr: format!("{output}.err"),
            crash_limit: 5,
        },
    };
    let text = toml::to_string(&file).map_err(lab::Error::failure)?;
    let path = job.folder.join(FILE).display().to_string();
    // `$1` is the file; what follows are the person's options.
    let script = "file=$1; shift; id=$(hq --output-mode quiet \"$@\" job submit-file \"$file\") && \
                  exec hq \"$@\" job wait \"$id\"";
    let command = job.command(&["sh", "-c", script, "hyperqueue", &path], &[]);
    Ok(HandOver { files: vec![(FILE, text)], command })
}
