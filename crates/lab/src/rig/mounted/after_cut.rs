//! What is there after a power cut: the volume is assembled of what its members hold, mounted, and looked at.

use super::{Mounted, trial};
use crate::error::{Error, Result};
use crate::experiment::Trial;
use crate::workload::Work;
use serde::{Deserialize, Serialize};

/// A power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Cut {
    /// The files that were durable: they are to be looked for.
    pub(in crate::rig) durable: u64,
    /// The member that was lost with the power, if one was.
    pub(in crate::rig) lost: Option<usize>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Found {
    /// Why the volume could not be assembled or mounted, if it could not.
    pub(in crate::rig) unmounted: Option<String>,
    /// Of the files that were durable, those that are not whole.
    pub(in crate::rig) lost: u64,
}

impl Mounted {
    /// Looks after a cut of the power.
    ///
    /// # Errors
    ///
    /// Where nothing can be looked at; that nothing can be mounted is a finding.
    pub(in crate::rig) fn after_cut(&self, trial: &Trial, cut: Cut) -> Result<Found> {
        let Work::Program { program, .. } = &trial.work else {
            return Err(Error::failure("requests have no files to look for"));
        };
        let site = self.site.as_ref().ok_or_else(|| Error::failure("nothing was set up"))?;
        let planned = self.plan_of(trial)?;
        let (mut shell, at) = (site.shell(), site.mount_point());
        let durable = cut.durable;
        let mut steps = planned.build.assemble.clone();
        if let Some(lost) = cut.lost {
            let volume = &trial.setup.volume;
            steps = vec![planned.build.assemble_without(&self.devices[lost], volume)?];
        }
        steps.extend(trial::mount(&planned, &at));
        for step in &steps {
            if let Err(error) = shell.run(step) {
                return Ok(Found { unmounted: Some(error.to_string()), lost: durable });
            }
        }
        Ok(Found { unmounted: None, lost: program.lost(&at, durable) })
    }
}
