//! Blocks on members that are not opened: what a run would do, and how long that would take.

use super::{State, admit, samples};
use crate::capabilities::{Capabilities, Members, RealMember, Uses};
use crate::error::{Error, Result};
use crate::experiment::Trial;
use crate::rig::mounted::Device;
use crate::rig::{Prepared, Rig};

/// Members by name and size alone.
pub(super) struct Planned {
    pub(super) devices: Vec<Device>,
    pub(super) failed: Vec<u32>,
    pub(super) write: bool,
    pub(super) state: Option<State>,
}

impl Rig for Planned {
    fn name(&self) -> &'static str {
        super::KIND.name
    }

    fn capabilities(&self) -> Capabilities {
        let member = |device: &Device| RealMember {
            name: device.path.clone(),
            sectors: device.sectors,
            about: String::new(),
        };
        let members = self.devices.iter().map(member).collect();
        Capabilities {
            members: Members::Real { members, failed: self.failed.clone() },
            uses: Uses::Blocks,
            ..(super::KIND.capabilities)()
        }
    }

    fn beforehand(&self) -> Option<String> {
        State::words(self.state, &self.devices)
    }

    fn commands(&self, _: &Trial) -> Result<Vec<String>> {
        let steps = match self.state {
            Some(State::Fresh) => State::steps(&self.devices),
            _ => Vec::new(),
        };
        let own = "# requests by ileave itself, through io_uring".to_string();
        Ok(steps.iter().map(ToString::to_string).chain([own]).collect())
    }

    fn admit(&self, trial: &Trial) -> Result<()> {
        admit(trial, self.write, &self.devices)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        samples(trial)
    }

    fn prepare<'a>(&'a self, _: &'a Trial) -> Result<Box<dyn Prepared + 'a>> {
        Err(Error::failure("nothing was opened"))
    }
}
