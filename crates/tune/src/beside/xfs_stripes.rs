//! Whether the file system of the chosen layout is to know the stripes below it: `su` and `sw` of XFS, which mkfs takes from md by
//! itself. Only a real kernel is asked, as of mount options.

use crate::beside::pair::{Both, Pair};
use lab::experiment::Volume;
use serde::Serialize;

/// XFS with the chunk and the stripe that md tells, and without.
pub(crate) const BOTH: Both = Both { key: "fs.align", values: ["true", "false"] };

/// Keys that say another stripe: who names one has decided.
const DECIDED_BY: [&str; 3] = [BOTH.key, "fs.stripe_unit", "fs.stripe_width"];

/// The chosen layout with stripes that XFS aligns to, beside itself without.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Align {
    /// Whether to have mkfs ignore them (`-d noalign`).
    ignore: bool,
    /// How many times better it is with them.
    #[serde(flatten)]
    pair: Pair,
}

impl Align {
    /// Whether it is asked of a file system of this `kind` on a volume, where the question leaves these keys open.
    pub(crate) fn is_asked(
        kind: &str,
        volume: &Volume,
        leaves_open: impl Fn(&str) -> bool,
    ) -> bool {
        kind == "xfs" && volume.level.interleaved() && DECIDED_BY.into_iter().all(leaves_open)
    }

    pub(crate) fn of(pair: Pair) -> Align {
        Align { ignore: pair.gain().is_some(), pair }
    }

    /// Whether mkfs is to ignore the stripes.
    pub(crate) fn ignores(&self) -> bool {
        self.ignore
    }

    /// What to do, in a line.
    pub(crate) fn line(&self) -> (String, String) {
        let pair = &self.pair;
        let text = match pair.times {
            None => format!(
                "keep the stripes that md tells XFS: the effect of `-d noalign` is unknown, because {}",
                pair.unknown()
            ),
            Some(_) if !pair.keeps_limits => {
                "keep the stripes that md tells XFS: `--subject-to` does not hold with `-d noalign`"
                    .into()
            }
            Some(times) if self.ignore => format!(
                "make XFS with `-d noalign`: aligned to md's stripes it is {}",
                pair.slower(1.0 / times)
            ),
            Some(times) if times > 1.0 && !pair.is_within_error(times) => format!(
                "keep the stripes that md tells XFS: with `-d noalign` it is {}",
                pair.slower(times)
            ),
            Some(times) if times < 1.0 && !pair.is_within_error(1.0 / times) => format!(
                "keep the stripes that md tells XFS: aligned to them it is {}, which is too little to set `-d noalign` for",
                pair.slower(1.0 / times)
            ),
            Some(_) => {
                "keep the stripes that md tells XFS: no reliable difference with `-d noalign`"
                    .into()
            }
        };
        ("stripes".into(), text + &pair.cut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beside::Beside;
    use crate::commands::{ChosenFileSystem, Stripes};

    fn of(times: f64) -> Align {
        Align::of(Pair::of_test(times, 3.0))
    }

    #[test]
    fn only_what_gains_a_tenth_is_set() {
        let line = |times: f64| of(times).line().1;
        let set = "make XFS with `-d noalign`: aligned to md's stripes it is 20 % slower";
        assert_eq!((line(0.8).as_str(), of(0.8).ignores()), (set, true));
        let even = "keep the stripes that md tells XFS: no reliable difference with `-d noalign`";
        assert_eq!([line(1.0), line(0.98), line(1.02)], [even; 3]);
        assert!(line(1.25).ends_with(": with `-d noalign` it is 20 % slower"), "{}", line(1.25));
        assert!(
            line(0.94).ends_with("it is 6 % slower, which is too little to set `-d noalign` for")
        );
        let failed = Align::of(Pair::failed("the guest ended".into()));
        assert!(failed.line().1.ends_with("because a trial failed: the guest ended"));
        assert!([1.0, 1.25, 0.94].iter().all(|&times| !of(times).ignores()) && !failed.ignores());
    }

    /// Who names a stripe has decided, a mirror has none, and other file systems have no such option.
    #[test]
    fn only_xfs_on_stripes_is_asked() {
        let text = |level: &str| {
            format!(
                "volume.drives = '4xwd740gd'\nvolume.level = '{level}'\n[workload.w]\nkind = 'random'\ncount = 5\n"
            )
        };
        let is_asked = |kind: &str, level: &str, named: &str| {
            let (_, space, _) = crate::question::posed::tests::asked(&text(level));
            Align::is_asked(kind, &space.trials[0].setup.volume, |key| key != named)
        };
        assert!(is_asked("xfs", "md-raid5", ""));
        assert!(!is_asked("ext4", "md-raid5", "") && !is_asked("xfs", "md-mirror", ""));
        for named in DECIDED_BY {
            assert!(!is_asked("xfs", "md-raid5", named), "{named}");
        }
    }

    /// What pays is part of the commands, and of what blocks are tried with.
    #[test]
    fn the_commands_make_it_so() {
        let asked = crate::question::tests::question("4x 980 pro 1tb", "vm", 1);
        let best = asked.candidates().unwrap().0.remove(0);
        let experiment = asked.experiment().unwrap();
        let made = |times: f64| {
            let chosen = ChosenFileSystem {
                kind: "xfs",
                block_bytes: None,
                stripes: Stripes::default(),
                more: String::new(),
                options: String::new(),
            };
            let plan = crate::tune::plan(&asked, &experiment, &best);
            let plan = crate::commands::Plan { file_system: Some(chosen), ..plan };
            let beside = Beside { align: Some(of(times)), ..Beside::default() };
            let is_set =
                beside.set().iter().any(|(key, value)| key == BOTH.key && value == "false");
            let commands = beside.plan(plan).commands();
            let makes = commands.iter().any(|of| of.line.contains("mkfs.xfs -d noalign"));
            (is_set, makes)
        };
        assert_eq!([made(0.8), made(1.0)], [(true, true), (false, false)]);
    }
}
