//! What drives of one model share.

use super::cache::Segments;
use super::dirty::Dirty;
use super::mechanics::Mechanics;
use super::queue::Queue;
use super::{
    ControllerSpec, Current, Damage, Drive, DriveError, DriveSpec, Ledger, Outbox, Phase, Platters,
    Port, mean_seek_ns, seek_table,
};
use crate::{Nanos, TargetCounters};
use block::Request;
use std::sync::Arc;

/// A model of drive. Its drives share its tables, so that many of them take little memory.
#[derive(Clone, Debug)]
pub struct DriveModel {
    controller: Arc<ControllerSpec>,
    /// The arm and the spindle as every drive starts.
    mechanics: Mechanics,
    mean_seek_ns: f64,
}

impl DriveModel {
    /// The model that `spec` describes.
    ///
    /// # Errors
    ///
    /// Where the description is invalid.
    pub fn new(spec: &DriveSpec) -> Result<Self, DriveError> {
        let platters = Platters::new(&spec.platters)?;
        let seek_ns = seek_table(&spec.seek, platters.cylinders())?;
        let mean_seek_ns = mean_seek_ns(&seek_ns);
        check(&spec.controller)?;
        let mechanics = Mechanics::new(
            platters,
            seek_ns,
            spec.write_settle_ns,
            [spec.command_settle_ns, spec.head_switch_ns],
            spec.controller.zero_latency,
            0,
        );
        Ok(DriveModel { controller: Arc::new(spec.controller.clone()), mechanics, mean_seek_ns })
    }

    /// A model of the same platters and seeks, which is otherwise as `spec` says.
    ///
    /// # Errors
    ///
    /// Where the rest of the description is invalid.
    pub fn otherwise_as(mut self, spec: &DriveSpec) -> Result<Self, DriveError> {
        check(&spec.controller)?;
        self.mechanics.set_times(
            spec.write_settle_ns,
            [spec.command_settle_ns, spec.head_switch_ns],
            spec.controller.zero_latency,
        );
        self.controller = Arc::new(spec.controller.clone());
        Ok(self)
    }

    /// The mean seek over random requests, in ns.
    pub fn mean_seek_ns(&self) -> f64 {
        self.mean_seek_ns
    }

    /// A drive of this model, whose index mark passes the head at `phase_ns`.
    pub fn drive(&self, phase_ns: Nanos) -> Drive {
        let controller = &self.controller;
        Drive {
            segments: Segments::new(controller.segments, controller.segment_sectors),
            port: Port::new(controller.interface_bytes_per_s),
            controller: Arc::clone(controller),
            mechanics: self.mechanics.clone().at_phase(phase_ns),
            arm_free_at: 0,
            ahead: None,
            dirty: Dirty::new(controller.write_buffer_sectors, controller.firmware.destage_choices),
            destage: None,
            written_to: (0, 0),
            before: None,
            queue: Queue::default(),
            current: Current { tag: 0, request: Request::flush(), arrived: 0, result: Ok(()) },
            phase: Phase::Idle,
            ledger: Ledger::start(0),
            outbox: Outbox::default(),
            failed: false,
            damage: Damage::default(),
            counters: TargetCounters::default(),
            busy_since: None,
        }
    }
}

/// Whether there can be such a controller.
fn check(controller: &ControllerSpec) -> Result<(), DriveError> {
    if controller.segments > 0 && controller.read_ahead_sectors > controller.segment_sectors {
        return Err(DriveError::ReadAheadBeyondSegment);
    }
    if controller.interface_bytes_per_s == 0 {
        return Err(DriveError::NoInterface);
    }
    Ok(())
}
