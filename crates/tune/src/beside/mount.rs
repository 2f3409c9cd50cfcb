//! Which option of mount(8) the file system of the chosen layout wants. Only a real kernel is asked, as of blocks.

pub(crate) mod rivals;

use crate::beside::pair::{Both, Pair};
use serde::Serialize;

/// A file system, the option that is tried, and what else there is to know of it.
struct Tried {
    kind: &'static str,
    both: Both,
    /// The option as mount(8) takes it.
    option: &'static str,
    beside: &'static str,
}

/// ext4 writes what files hold before the metadata that names it, or whenever. XFS collects its log in buffers of 32 KiB, or of a
/// stripe unit of the log where that is more, up to 256 KiB.
const TRIED: [Tried; 2] = [
    Tried {
        kind: "ext4",
        both: Both { key: "fs.data", values: ["ordered", "writeback"] },
        option: "data=writeback",
        beside: "; after a crash a file that was not flushed may hold what its blocks held before",
    },
    Tried {
        kind: "xfs",
        both: Both { key: "fs.options", values: ["defaults", "logbsize=256k"] },
        option: "logbsize=256k",
        beside: "",
    },
];

/// What is tried of a kind of file system.
pub(crate) fn tried(kind: &str) -> Option<Both> {
    TRIED.iter().find(|of| of.kind == kind).map(|of| of.both)
}

/// The chosen layout and file system as mount(8) has it by itself, beside itself with an option.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mount {
    /// The option that was tried.
    option: &'static str,
    /// Whether to set it.
    take: bool,
    /// How many times better it is without.
    #[serde(flatten)]
    pair: Pair,
    #[serde(skip)]
    beside: &'static str,
}

impl Mount {
    /// What both say; nothing where the key is none of these.
    pub(crate) fn of(both: Both, pair: Pair) -> Option<Mount> {
        let of = TRIED.iter().find(|of| of.both.key == both.key)?;
        let take = pair.gain().is_some();
        Some(Mount { option: of.option, take, pair, beside: of.beside })
    }

    /// The same of a layout that is chosen for its option: it is part of that layout, whatever it gains there.
    pub(crate) fn of_choice(both: Both, pair: Pair) -> Option<Mount> {
        Mount::of(both, pair).map(|of| Mount { take: true, ..of })
    }

    /// The option to set.
    pub(crate) fn to_set(&self) -> Option<&'static str> {
        self.take.then_some(self.option)
    }

    /// The key and its value, where it is to be set.
    pub(crate) fn setting(&self) -> Option<(&'static str, &'static str)> {
        let of = TRIED.iter().find(|of| of.option == self.option).filter(|_| self.take)?;
        Some((of.both.key, of.both.values[1]))
    }

    /// What to do, in a line.
    pub(crate) fn text(&self) -> String {
        let Mount { option, pair, beside, .. } = self;
        let text = match pair.times {
            None => format!(
                "keep the defaults: the effect of `-o {option}` is unknown, because {}",
                pair.unknown()
            ),
            Some(_) if !pair.keeps_limits => {
                format!("keep the defaults: `--subject-to` does not hold with `-o {option}`")
            }
            Some(times) if self.take => {
                format!("set `-o {option}`: without it {}{beside}", pair.slower(1.0 / times))
            }
            Some(times) if times > 1.0 && !pair.is_within_error(times) => {
                format!("keep the defaults: with `-o {option}` {}", pair.slower(times))
            }
            Some(times) if times < 1.0 && !pair.is_within_error(1.0 / times) => format!(
                "keep the defaults: without `-o {option}` {}, which is too little to set it for",
                pair.slower(1.0 / times)
            ),
            Some(_) => format!("keep the defaults: no reliable difference with `-o {option}`"),
        };
        text + &pair.cut()
    }
}

/// What was found of others with an option.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rivals {
    /// How many there were.
    count: usize,
    /// Their options.
    options: Vec<&'static str>,
    /// Where one of them is chosen: what would be chosen without it, and how far behind it that is.
    instead_of: Option<String>,
    /// The same layout without its option and with it.
    pub(crate) mount: Option<Mount>,
    /// How many trials it took to choose among them.
    pub(crate) trials: usize,
    /// Whether some did not run as often as those that they stand beside: nothing is said of them.
    is_open: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, times: f64) -> Mount {
        Mount::of(tried(kind).unwrap(), Pair::of_test(times, 3.0)).unwrap()
    }

    #[test]
    fn only_what_gains_a_tenth_is_set() {
        let line = |kind, times: f64| of(kind, times).text();
        assert_eq!(line("xfs", 0.8), "set `-o logbsize=256k`: without it 20 % slower");
        assert_eq!(of("xfs", 0.8).to_set(), Some("logbsize=256k"));
        assert_eq!(of("xfs", 0.8).setting(), Some(("fs.options", "logbsize=256k")));
        assert_eq!(
            line("xfs", 0.94),
            "keep the defaults: without `-o logbsize=256k` 6 % slower, which is too little to set it for"
        );
        assert_eq!((of("xfs", 0.94).to_set(), of("xfs", 0.94).setting()), (None, None));
        let even = "keep the defaults: no reliable difference with `-o data=writeback`";
        assert_eq!([line("ext4", 1.0), line("ext4", 0.98), line("ext4", 1.02)], [even; 3]);
        assert_eq!(line("ext4", 1.25), "keep the defaults: with `-o data=writeback` 20 % slower");
        assert!(line("ext4", 0.5).ends_with("may hold what its blocks held before"));
        let failed = Mount::of(tried("xfs").unwrap(), Pair::failed("the guest ended".into()));
        assert!(failed.unwrap().text().contains("because a trial failed: the guest ended"));
        assert!(tried("btrfs").is_none());
    }

    /// What is set beside others' options, and nothing where nothing gains.
    #[test]
    fn the_commands_mount_with_it() {
        use crate::beside::Beside;
        use crate::commands::{ChosenFileSystem, Plan};
        let asked = crate::question::tests::question("4x 980 pro 1tb", "vm", 1);
        let best = asked.candidates().unwrap().0.remove(0);
        let experiment = asked.experiment().unwrap();
        let lines = |times: f64, own: &str| {
            let chosen = ChosenFileSystem {
                kind: "xfs",
                block_bytes: None,
                stripes: crate::commands::Stripes::default(),
                more: String::new(),
                options: own.into(),
            };
            let plan = crate::tune::plan(&asked, &experiment, &best);
            let plan = Plan { file_system: Some(chosen), ..plan };
            let beside = Beside { mount: Some(of("xfs", times)), ..Beside::default() };
            let commands = beside.plan(plan).commands();
            commands.into_iter().map(|command| command.line).collect::<Vec<_>>().join("\n")
        };
        let both = lines(0.8, "noatime");
        assert!(both.contains("mount -o noatime,logbsize=256k /dev/md0 /srv"), "{both}");
        assert!(both.contains(" noatime,logbsize=256k 0 2"), "{both}");
        assert!(lines(0.8, "").contains("mount -o logbsize=256k /dev/md0 /srv"));
        assert!(lines(1.0, "").contains("mount /dev/md0 /srv"));
    }
}
