//! The `disks` rig: workloads measured on real files and devices, over any layout.
//!
//! Nothing is touched that was not named, and nothing is written that was not agreed to: see
//! [`members`].

mod engine;
mod in_use;
mod measure;
pub mod members;
mod noise;
mod signatures;

pub use engine::{Ended, Engine};
pub use members::{Access, Member, Options};
pub use noise::Noise;
pub use signatures::{Signature, find as find_signatures};

use super::admit::{check_failed, check_work};
use super::jobs::streams;
use super::{Rig, RigKind};
use crate::error::{Error, Result};
use crate::experiment::{Trial, Work};
use crate::record::{Measured, PART_SAMPLES};
use block::{Layout, Level};
use rustix::time::{ClockId, clock_gettime};
use sim::workload::Jobs;
use std::collections::BTreeMap;
use std::path::Path;
use uring::Ring;

/// Whether only a model knows this sample: a real member does not say what it spent its time on.
pub fn is_model_only(sample: &str) -> bool {
    let measured = ["queue_ms", "cpu_ms"];
    sample == "hits_per_command" || PART_SAMPLES.contains(&sample) && !measured.contains(&sample)
}

/// Real files and devices.
pub struct DisksKind {
    members: Vec<Member>,
    failed: Vec<u32>,
    write: bool,
    warnings: Vec<String>,
}

impl DisksKind {
    /// Looks at the members that `options` name, and opens them; see [`members::open`].
    ///
    /// # Errors
    ///
    /// Where one is not there, in use or signed, or was not confirmed.
    pub fn open(
        options: &Options,
        confirm: &mut dyn FnMut(&Path, u64) -> Result<bool>,
    ) -> Result<Self> {
        if let Some(member) = options.failed.iter().find(|&&m| m as usize >= options.paths.len()) {
            return Err(Error::input(format!(
                "--failed {member}: there are {} members, counted from 0",
                options.paths.len()
            )));
        }
        let (members, warnings) = members::open(options, confirm)?;
        Ok(DisksKind { members, failed: options.failed.clone(), write: options.write, warnings })
    }

    /// What makes the figures doubtful.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The members for the manifest: what each is and how it is accessed.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let describe = |(index, member): (usize, &Member)| {
            let kind = if member.device { "device" } else { "file" };
            let cache = match member.access {
                Access::Direct { .. } => "direct",
                Access::Cold => "cold",
                Access::Warm => "warm",
            };
            let failed = if self.failed.contains(&(index as u32)) { ", failed" } else { "" };
            let sectors = member.sectors;
            (
                format!("{index}: {}", member.path.display()),
                format!("{kind} of {sectors} sectors, cache = {cache}{failed}"),
            )
        };
        self.members.iter().enumerate().map(describe).collect()
    }
}

impl RigKind for DisksKind {
    fn name(&self) -> &'static str {
        "disks"
    }

    fn lanes(&self) -> usize {
        1
    }

    fn rig(&self) -> Box<dyn Rig + '_> {
        Box::new(DisksRig { kind: self, engine: None })
    }

    fn is_real(&self) -> bool {
        true
    }
}

/// The members while trials run on them.
struct DisksRig<'a> {
    kind: &'a DisksKind,
    engine: Option<Engine>,
}

impl DisksRig<'_> {
    fn member_sectors(&self) -> Vec<u64> {
        self.kind.members.iter().map(|member| member.sectors).collect()
    }

    fn layout(&self, trial: &Trial) -> Result<Box<dyn Layout>> {
        let sectors = self.member_sectors();
        let setup = &trial.setup;
        let level = level(trial)?;
        level.lay_out(setup.interleave_sectors, &sectors).map_err(|error| {
            let interleave = setup.interleave_sectors;
            let members = self.kind.members.len();
            Error::input(format!(
                "`volume.level` = {level} and `volume.interleave` = {interleave} over the {members} \
                 of `--members`: {error}"
            ))
        })
    }

    /// Direct I/O needs whole blocks of the member's own.
    fn check_blocks(&self, trial: &Trial) -> Result<()> {
        for member in &self.kind.members {
            let Access::Direct { block_sectors } = member.access else { continue };
            let mut keys = Vec::new();
            // A level that has no interleave ignores what is said of one.
            if level(trial)?.interleaved() {
                keys.push(("volume.interleave".into(), trial.setup.interleave_sectors));
            }
            for work in trial.works() {
                let key = |key: &str| format!("workload.{}.{key}", work.name);
                keys.push((key("block"), work.block_sectors));
                keys.push((key("offset"), work.offset_sectors));
                keys.push((key("gap"), work.gap_sectors));
                keys.push((key("job_step"), work.job_step_sectors.unwrap_or(0)));
                keys.extend(work.sizes.iter().map(|&(sectors, _)| (key("sizes"), sectors.into())));
            }
            for (key, sectors) in keys {
                if !sectors.is_multiple_of(block_sectors) {
                    return Err(Error::input(format!(
                        "`{key}` of {sectors} sectors: {} takes whole blocks of {block_sectors} \
                         sectors; take a multiple, or give `--buffered`",
                        member.path.display()
                    )));
                }
            }
        }
        Ok(())
    }
}

fn level(trial: &Trial) -> Result<Level> {
    let name = &trial.setup.level;
    name.parse().map_err(|error| Error::input(format!("`volume.level`: {error}")))
}

impl Rig for DisksRig<'_> {
    fn admit(&self, trial: &Trial) -> Result<()> {
        if trial.setup.files.is_some() {
            return Err(Error::input(
                "file systems are modelled only as yet; take `--on sim`, or leave out [fs]",
            ));
        }
        let layout = self.layout(trial)?;
        if trial.works().any(Work::writes) && !self.kind.write {
            return Err(Error::input(format!(
                "workload `{}` would write on {}; give `--write` if what they hold may be \
                 lost",
                trial.cell.workload,
                self.kind.describe().into_keys().collect::<Vec<_>>().join(", ")
            )));
        }
        let failed = &self.kind.failed;
        let path = |member: u32| self.kind.members[member as usize].path.display();
        let names: Vec<String> = failed.iter().map(|&m| format!("{m} ({})", path(m))).collect();
        let said = format!("--failed {}", names.join(", "));
        check_failed(&*layout, failed, &self.member_sectors(), &said, &trial.setup.level)?;
        trial.works().try_for_each(|work| check_work(work, layout.sectors()))?;
        self.check_blocks(trial)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        let mut samples = Measured::block_samples(trial);
        samples.retain(|name| !is_model_only(name));
        samples
    }

    fn prepare(&mut self, trial: &Trial) -> Result<()> {
        let members = &self.kind.members;
        let layout = self.layout(trial)?;
        let files: std::io::Result<Vec<_>> =
            members.iter().map(|member| member.file.try_clone()).collect();
        let under_way: u64 =
            trial.works().map(|work| work.jobs.saturating_mul(work.depth + 1)).sum();
        let commands = under_way.saturating_mul(2 * members.len() as u64);
        let entries = u32::try_from(commands).unwrap_or(u32::MAX);
        let ring = files.and_then(|files| Ring::new(files, entries)).map_err(|error| {
            let next = if uring::is_forbidden(&error) {
                "; `sysctl kernel.io_uring_disabled` and the container's seccomp filter decide"
            } else {
                ""
            };
            Error::failure(format!("cannot make an io_uring: {error}{next}"))
        })?;
        let names = members.iter().map(|member| member.path.display().to_string()).collect();
        let mut engine = Engine::new(layout, ring, names);
        self.kind.failed.iter().for_each(|&member| engine.fail(member));
        for member in members {
            if !matches!(member.access, Access::Direct { .. }) {
                members::empty_cache(&member.file, member.sectors);
            }
        }
        self.engine = Some(engine);
        Ok(())
    }

    fn measure(&mut self, trial: &Trial) -> Result<Measured> {
        let engine = self.engine.as_mut().expect("prepare comes before measure");
        let mut jobs = Jobs::new(streams(trial, engine.layout().sectors()));
        let before = cpu_ns();
        let mut outcome = measure::run(engine, &mut jobs, Noise::new(trial.seed))?;
        outcome.cpu_busy_ns = cpu_ns() - before;
        let cpu_s = outcome.cpu_busy_ns as f64 / 1e9;
        let mut measured = Measured::from_sim(&outcome, cpu_s);
        if let Some(lateness) = jobs.lateness() {
            measured.add_lateness(lateness);
        }
        measured.samples.retain(|(name, _)| !is_model_only(name));
        Ok(measured)
    }

    fn tear_down(&mut self) -> Result<()> {
        self.engine = None;
        Ok(())
    }
}

/// Nanoseconds that this thread has spent on a CPU.
fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
