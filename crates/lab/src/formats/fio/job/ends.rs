//! When a job ends.

use super::{Job, quoted};
use crate::error::{Error, Result};
use block::SECTOR_BYTES;
use block::units::{format_bytes, format_nanos};

impl Job {
    /// When it ends: after its size, or its time where it is based on that.
    pub(super) fn ends(
        &self,
        label: &str,
        lanes: u64,
        key: &mut dyn FnMut(&str, &dyn std::fmt::Display),
    ) -> Result<()> {
        if self.ramps && self.time_based && self.runtime_ns.is_some() {
            // It runs until its rate is steady.
            return Ok(());
        }
        if let Some(number) = self.number_ios {
            key("count", &(number.saturating_mul(self.loops) / lanes).max(1));
        }
        if let Some(runtime) = self.runtime_ns {
            key("runtime", &quoted(&format_nanos(runtime)));
        }
        if self.size_percent.is_some()
            && self.io_size.is_none()
            && self.number_ios.is_none()
            && self.runtime_ns.is_none()
        {
            return Err(Error::input(format!(
                "{label}:{}: [{}] uses a share of the volume (`size=%`), and nothing says when it ends; add \
                 `runtime`, or `io_size`",
                self.line, self.name
            )));
        }
        match (self.amount(), self.runtime_ns) {
            (_, None) if self.time_based => Err(Error::input(format!(
                "{label}:{}: [{}] is time_based but has no `runtime`; add one",
                self.line, self.name
            ))),
            (Some(amount), _) if !self.time_based => {
                let sectors = (amount / SECTOR_BYTES / lanes).max(1);
                key("amount", &quoted(&format_bytes(sectors * SECTOR_BYTES)));
                Ok(())
            }
            (None, None) if self.goes_over_a_device() || self.is_counted() => Ok(()),
            (None, None) => Err(Error::input(format!(
                "{label}:{}: [{}] never ends; add `size`, `io_size` or `runtime`",
                self.line, self.name
            ))),
            _ => Ok(()),
        }
    }

    /// Whether fio ends it at its time or after a share of the volume, whichever is first: here at its time.
    pub(in crate::formats::fio) fn may_end_before_its_time(&self) -> bool {
        let ends = [self.io_size, self.number_ios].iter().any(Option::is_some);
        self.size_percent.is_some() && self.runtime_ns.is_some() && !self.time_based && !ends
    }

    /// Whether its number of requests alone ends it: those of a device, or of a share of the volume.
    fn is_counted(&self) -> bool {
        let is_device = self.filename.as_deref().is_some_and(|file| file.starts_with("/dev/"));
        self.number_ios.is_some() && (is_device || self.size_percent.is_some())
    }

    /// Whether it has no end of its own but that of the device that it names, which fio goes over once.
    pub(in crate::formats::fio) fn goes_over_a_device(&self) -> bool {
        let is_device = self.filename.as_deref().is_some_and(|file| file.starts_with("/dev/"));
        let has_end = self.amount().or(self.size_percent).or(self.number_ios).is_some();
        is_device && !has_end && self.runtime_ns.is_none() && !self.time_based
    }
}
