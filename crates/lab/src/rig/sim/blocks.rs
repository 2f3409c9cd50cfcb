//! Requests to a modelled volume.

use super::rebuild::{self, Rebuilt};
use super::{KIND, capacity, cpu_s, modelled, moving};
use crate::capabilities::{Capabilities, Uses};
use crate::error::{Error, Result};
use crate::experiment::{Member, PageCache, Trial};
use crate::machine::{self, Sending};
use crate::record::{Measured, encode_latencies};
use crate::rig::admit::{
    admit_volume, check_buses, check_members, check_nested, check_not_real, check_work,
};
use crate::rig::jobs::{jobs, placed};
use crate::rig::stoppable::stopped;
use crate::rig::{Prepared, Rig, Stop};
use crate::steady::{self, Bits, Caches};
use crate::trace::Onto;
use crate::workload::{Replay, Replayed, Requests, TracePart};
use block::layout::{Level, System};
use sim::workload::{Counted, Pacing, Pattern};
use sim::{Batches, Device, Outcome, Processor};
use std::sync::Arc;
use store::windows::Window;

/// Requests to modelled volumes.
pub struct BlocksRig;

impl Rig for BlocksRig {
    fn name(&self) -> &'static str {
        KIND.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { uses: Uses::Blocks, ..modelled() }
    }

    fn admit(&self, trial: &Trial) -> Result<()> {
        let layout = admit_volume(&trial.setup.volume)?;
        check_members(&trial.setup.volume)?;
        check_not_real(&trial.setup)?;
        check_buses(&trial.setup)?;
        check_nested(&trial.setup)?;
        check_works(trial, layout.sectors())?;
        check_buffered(trial)?;
        check_trace(trial, layout.sectors())?;
        moving::check(trial)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        Measured::block_samples(trial)
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        let began_s = cpu_s();
        let processor = Processor::default();
        let (device, sending) = device(trial, &processor)?;
        let stop: Stop = Arc::new(|| false);
        Ok(Box::new(Ready { trial, processor, sending, device, began_s, stop }))
    }
}

/// The most members over which the model of the page cache's writes is held to a kernel (docs/md.md): of md, and of others.
const MD_MAX: usize = 24;
const OTHERS_MAX: usize = 8;

/// The same of what goes through the page cache in either direction.
fn cached_max(level: &Level, are_read: bool) -> usize {
    match are_read {
        true => machine::READ_AHEAD_MEMBERS_MAX,
        false if level.is_of(System::Md) => MD_MAX,
        false => OTHERS_MAX,
    }
}

/// Whether the requests of `trial` fit where they go: on a volume of `sectors`, or on its log's own drives.
fn check_works(trial: &Trial, sectors: u64) -> Result<()> {
    let mut target_sectors = vec![sectors];
    if let Some(log) = &trial.setup.log {
        check_members(log)?;
        target_sectors.push(admit_volume(log)?.sectors());
        if !trial.requests().any(|work| work.keys.to_log) {
            return Err(Error::input(format!(
                "`volume.log_drives`: nothing of `workload.{}` goes to them; set `to_log = true` for the requests that are \
                 the log's, or leave it out (`none`)",
                trial.cell.workload
            )));
        }
    }
    trial.requests().try_for_each(|work| {
        let (target, work) = placed(work, &target_sectors);
        check_work(&work, target_sectors[target])
    })
}

/// Whether what goes through the page cache is what is modelled of it.
fn check_buffered(trial: &Trial) -> Result<()> {
    let Some(work) = trial.requests().find(|work| !work.keys.direct) else { return Ok(()) };
    let volume = &trial.setup.volume;
    let on_linux = volume.level.runs_on_linux() && volume.controller.is_none();
    let is_whole = volume.failed.is_empty();
    let on_disks = volume.members.iter().all(Member::is_rotational);
    let drives = volume.members.iter().map(|member| member.drive().map(AsRef::as_ref));
    let all = |is_so: &dyn Fn(&Requests) -> bool| trial.requests().all(is_so);
    let are_in_order = all(&|of| !of.keys.direct && of.pattern == Pattern::Sequential);
    // A program that reads goes on when it has what it asked for.
    let are_read = all(&|of| !of.writes() && of.keys.depth == 1 && !of.is_open());
    let are_written = all(&|of| !of.reads());
    let is_modelled =
        are_read && on_disks || are_written && PageCache::is_write_back_modelled(drives);
    if !(on_linux && is_whole && are_in_order && is_modelled) {
        return Err(Error::input(format!(
            "`workload.{}.direct` = false: the page cache is modelled for sequential I/O only. All workloads must be buffered; \
             they all write, or all read with a `depth` of 1 (several readers are `jobs`); the volume is whole, of disks, and of a \
             level that Linux runs (md-…, lvm-…, dm-…, btrfs-…). Writes may also go to cloud volumes of up to 1 GB/s together. \
             Leave `direct` out for direct I/O",
            work.name
        )));
    }
    let most = cached_max(&volume.level, are_read);
    if volume.members.len() > most {
        return Err(Error::input(format!(
            "`workload.{}.direct` = false: the page cache was compared with a real kernel on up to {most} members of this \
             level only (docs/md.md); take {most} or fewer instead of {}, leave it out for direct I/O, or ask the kernel, as in `ileave run \
             FILE --on kernel` (`ileave tune` writes its file by `--save`)",
            work.name,
            volume.members.len()
        )));
    }
    Ok(())
}

/// Whether a trace can be replayed on a volume of `sectors`, and runs alone.
fn check_trace(trial: &Trial, sectors: u64) -> Result<()> {
    let Some(trace) = trial.trace() else { return Ok(()) };
    if trial.works().count() > 1 {
        return Err(Error::input(format!(
            "`workload.{}` replays a trace, which can only run alone so far; take it out of its `group`",
            trace.name
        )));
    }
    let at = |error: Error| error.context(format!("`workload.{}.file`", trace.name));
    Onto::volume(&trace.survey, sectors).map(|_| ()).map_err(at)
}

/// A volume that a trial is about to use.
struct Ready<'a> {
    trial: &'a Trial,
    processor: Processor,
    sending: Option<Sending>,
    device: Box<dyn Device>,
    /// The CPU time of this thread when it began with the trial.
    began_s: f64,
    /// Whether to stop before the end.
    stop: Stop,
}

impl Prepared for Ready<'_> {
    fn stop_when(&mut self, stop: Stop) {
        self.stop = stop;
    }

    fn measure(&mut self) -> Result<Measured> {
        let mut measured = if self.trial.requests().any(|work| work.keys.capacity.is_some()) {
            capacity::found(self.trial, &self.stop)?
        } else {
            self.measure_once()?
        };
        measured.cpu_s = cpu_s() - self.began_s;
        Ok(measured)
    }
}

/// What replaying `trace` on `device` measures.
fn replayed(
    trial: &Trial,
    trace: &Replayed,
    processor: &Processor,
    device: &mut dyn Device,
    (caches, stop): (Caches, &Stop),
) -> Result<Measured> {
    let onto = Onto::volume(&trace.survey, device.geometry().target_sectors[0])?;
    let source = trace.trace.replay(&trace.survey, onto, trace.keys.speed.millionths())?;
    let counted = trace
        .part
        .map_or(Counted::ALL, |part| Counted { warm_up: part.warm_up, requests: part.requests });
    let source = match trace.part {
        Some(part) => source.first(trace.requests()).skipping(part.skipped),
        None => source.first(trace.requests()),
    };
    let pacing = match trace.keys.replay {
        Replay::Open => Pacing::Open,
        Replay::Closed => Pacing::Closed(trace.keys.depth as u32),
    };
    let mut replay = sim::workload::Replay::new(source, pacing).counting(counted);
    let recorded = sim::run_unless(processor, device, &mut replay, &mut |_| false, &**stop);
    let recorded = recorded.ok_or_else(stopped)?;
    let mut measured = steady::measured(trial, &recorded, caches, Bits::Counted);
    measured.window = trace.part.map(|part| window(part, &recorded.outcome));
    if replay.gave_up() && measured.value("overloaded").is_none() {
        measured.add_overloaded();
    }
    match replay.into_source().into_error() {
        Some(error) => Err(error),
        None => Ok(measured),
    }
}

/// What it takes to put a window together with the others.
fn window(part: TracePart, outcome: &Outcome) -> Window {
    let [reads, writes] = &outcome.directions;
    Window {
        number: part.number,
        of: part.of,
        elapsed_ns: outcome.elapsed_ns,
        bytes: [reads.bytes, writes.bytes],
        direction_hdr: [&reads.latency_ns, &writes.latency_ns].map(encode_latencies),
        flush_hdr: encode_latencies(&outcome.flush_ns),
    }
}

/// The volume of `trial`, and the log, as its programs reach them.
fn device(trial: &Trial, processor: &Processor) -> Result<(Box<dyn Device>, Option<Sending>)> {
    let device = machine::with_log(&trial.setup, trial.seed, processor)?;
    Ok(machine::for_programs(trial, device))
}

/// What `trial` measures on a machine of its own.
pub(super) fn measured_once(trial: &Trial, stop: &Stop) -> Result<Measured> {
    let processor = Processor::default();
    let (device, sending) = device(trial, &processor)?;
    Ready { trial, processor, sending, device, began_s: 0.0, stop: Arc::clone(stop) }.measure_once()
}

impl Ready<'_> {
    fn measure_once(&mut self) -> Result<Measured> {
        let (trial, device) = (self.trial, &mut *self.device);
        let caches = Caches::Counted(machine::write_cache_bytes(&trial.setup)?);
        if let Some(trace) = trial.trace() {
            return replayed(trial, trace, &self.processor, device, (caches, &self.stop));
        }
        let mut jobs = jobs(trial, &device.geometry().target_sectors);
        let mut enough = |batches: &Batches| steady::enough(trial, caches, Bits::Counted, batches);
        let recorded = sim::run_jobs(&self.processor, device, &mut jobs, &mut enough, &*self.stop);
        let recorded = recorded.ok_or_else(stopped)?;
        let mut measured = steady::measured(trial, &recorded, caches, Bits::Counted);
        measured.add_lateness(&jobs);
        if let Some(sending) = &self.sending {
            measured.add_programs(|requests_per_s| sending.busy(requests_per_s));
        }
        if trial.setup.volume.rebuild_bytes_per_s.is_some() {
            let ended_ns = recorded.outcome.elapsed_ns;
            let Rebuilt { share, restored_at } =
                rebuild::rest(&trial.setup, trial.seed, device, ended_ns)?;
            measured.add_rebuild(share, restored_at);
        }
        Ok(measured)
    }
}
