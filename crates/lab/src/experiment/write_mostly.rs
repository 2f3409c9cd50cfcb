//! Members of md's RAID 1 that are read only where no other can be.

use super::VolumeKeys;
use super::volume::parse_numbers;
use crate::error::{Error, Result};

impl VolumeKeys {
    /// The members of so many that md reads only where no other can be.
    ///
    /// # Errors
    ///
    /// Where the level has none, or one is not there, or is of those that have `failed`: its spare is added without the mark. The
    /// message names the key.
    pub(super) fn write_mostly(
        &self,
        origin: &str,
        members: usize,
        failed: &[u32],
    ) -> Result<Vec<u32>> {
        let at = || format!("{origin}: `volume.write_mostly`");
        let named =
            parse_numbers(&self.write_mostly, members).map_err(|error| error.context(at()))?;
        if named.is_empty() {
            return Ok(named);
        }
        if !self.level.has_write_mostly() || self.controller().is_some() {
            return Err(Error::input(format!(
                "{}: only md's RAID 1 reads some members last, not `volume.level` = {}{}; leave it out, or take md-mirror",
                at(),
                self.level,
                self.controller().map_or("", |_| " behind a controller"),
            )));
        }
        match named.iter().find(|member| failed.contains(member)) {
            Some(member) => Err(Error::input(format!(
                "{}: member {member} has failed; leave it out of one of both",
                at()
            ))),
            None => Ok(named),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};

    #[test]
    fn only_members_of_mds_raid_1_that_are_there_are_read_last() {
        let named = |level: &str, more: &str| {
            let text = format!(
                "[volume]\ndrives = '1x980-pro-1tb:8GiB+1xst18000nm000j:8GiB'\nlevel = '{level}'\n{more}\n[workload.w]\nkind = 'random'"
            );
            let plan = Plan::new(&Experiment::parse("x.toml", &text).unwrap());
            plan.map(|plan| plan.trials[0].setup.volume.write_mostly.clone())
                .map_err(|error| error.to_string())
        };
        assert_eq!(named("md-mirror", ""), Ok(vec![]));
        assert_eq!(named("md-mirror", "write_mostly = '1'"), Ok(vec![1]));
        assert_eq!(named("md-stripe", "write_mostly = 'none'"), Ok(vec![]));
        for (level, keys, why) in [
            ("md-mirror", "write_mostly = '2'", "numbers from 0 to 1"),
            ("md-raid10", "write_mostly = '1'", "take md-mirror"),
            ("lvm-mirror", "write_mostly = '1'", "take md-mirror"),
            ("md-mirror", "write_mostly = '1'\nfailed = '1'", "member 1 has failed"),
        ] {
            let said = named(level, keys).unwrap_err();
            assert!(
                said.starts_with("x.toml: `volume.write_mostly`: ") && said.contains(why),
                "{said}"
            );
        }
    }
}
