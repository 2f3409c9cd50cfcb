//! `command`: any command of the reader's own on a mounted file system, timed. On real systems only.

#[cfg(unix)]
use super::live_stage::LiveStage;
use super::stage::{Program, Stage, Toll};
use super::{Build, Kind};
use crate::catalogue::Host;
use crate::error::{Error, Result};
use crate::keys::{Section, Takes, YEAR_NS, keys, load};
#[cfg(unix)]
use crate::rig::site::Step;
use std::sync::Arc;
use std::time::Duration;

/// What stands for the place where the file system is mounted.
const MOUNT: &str = "{mount}";

keys! {
    /// The keys of `command`.
    struct CommandKeys {
        /// Command for a shell; `{mount}` is where the file system is mounted
        command: Option<String> = load("command", Takes::Text),
        /// Command that runs before it and is not timed, as one that unpacks what the other builds
        before: Option<String> = load("before", Takes::Text),
        /// Longest time that each may take
        limit_ns: u64 = load("limit", Takes::Time(1_000_000, YEAR_NS)).default("1h"),
    }
}

pub(super) static KIND: Kind = Kind {
    name: "command",
    about: "Runs `command` in a shell and times it; on real systems only",
    keys: &[CommandKeys::KEYS],
    samples: SAMPLES,
    build: Build::Program(|section, _| {
        let keys = CommandKeys::read(section);
        keys.check(section)?;
        Ok(Arc::new(keys))
    }),
};

const SAMPLES: &[&str] =
    &["elapsed_s", "user_s", "system_s", "mb_per_s", "cpu_busy", "busiest_share"];

impl CommandKeys {
    fn check(&self, section: &Section<'_>) -> Result<()> {
        match &self.command {
            Some(command) if command.contains(MOUNT) => Ok(()),
            Some(command) => Err(Error::input(format!(
                "`{}` = `{command}` does not say {MOUNT}, where the file system is mounted; write it where the \
                 command shall work",
                section.path("command")
            ))),
            None => Err(Error::input(format!(
                "`{}` is missing; give the command, as in \"tar xf /root/linux.tar -C {MOUNT}\"",
                section.path("command")
            ))),
        }
    }

    #[cfg(unix)]
    fn step(&self, command: &str, on: &LiveStage<'_>) -> Step {
        let mount = on.mount_point().display().to_string();
        let command = command.replace(MOUNT, &mount);
        Step::new(["sh".to_string(), "-c".into(), command])
            .within(Duration::from_nanos(self.limit_ns))
    }
}

impl Program for CommandKeys {
    fn admit(&self, path: &str, _: &Host) -> Result<()> {
        Err(Error::input(format!(
            "`{path}` is a command, which has no model; measure it with `--on disks` or `--on kernel`"
        )))
    }

    fn run(&self, _: &mut Stage<'_>) -> Result<Vec<f64>> {
        Err(Error::input("a command has no model; measure it with `--on disks` or `--on kernel`"))
    }

    fn live_samples(&self) -> &'static [&'static str] {
        &["user_s", "system_s"]
    }
    fn live_toll(&self) -> Option<Toll> {
        let limit_s = self.limit_ns as f64 / 1e9;
        Some(Toll { command_max_s: Some(limit_s), ..Toll::default() })
    }

    #[cfg(unix)]
    fn run_live(&self, on: &mut LiveStage<'_>) -> Result<Vec<f64>> {
        if let Some(before) = &self.before {
            on.prepare(&self.step(before, on))?;
            on.empty_caches()?;
        }
        let step = self.step(self.command.as_deref().unwrap_or_default(), on);
        let ran = on.command(&step)?;
        on.keep("output", ran.output);
        Ok(vec![ran.user_s, ran.system_s])
    }
}
