//! The flags of `ileave tune`.

use super::ModelledRigFlags;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    after_help = "WORK is backup, restore, postgres, mysql, mail, news, vm, media, build, object-store, log or surveillance (what each \
stands for is printed under Assumed), or the path of an experiment, a fio job or a block trace. Layouts are those of Linux's md, \
simulated; with --fs also btrfs's, in a real kernel. An experiment as FILE has its own layouts. docs/tune.md says how they are searched.

Examples:
  ileave tune --drives '8x ST18000NM000J' --workload backup --survive 2
  ileave tune --drives '4x 980 pro 1tb' --workload postgres --subject-to 'commit_p99 <= 5ms'
  ileave tune --drives '8x ST18000NM000J' --workload job.fio --capacity 60TB --save mine.toml
  ileave tune --drives '4x 980 pro 1tb' --workload postgres --confirm 3 --on sim,kernel
  ileave tune --drives '4x 980 pro 1tb' --workload backup --set drive.state=steady
  ileave tune --drives '4x 980 pro 1tb' --workload mail --fs ext4,xfs,btrfs
  ileave tune experiments/news-spool.toml --objective 'max reads' --confirm 3 --on sim,kernel
  ileave tune experiments/fair-2006.toml --set host.max_transfer=32KiB
  lsblk -J -O > lsblk.json; ileave tune --from lsblk.json --workload vm
  ileave tune --drives ST18000NM000J --budget 3000 --price 280 --workload backup"
)]
pub(crate) struct TuneFlags {
    /// Experiment or fio job: choose among its own layouts, instead of --drives and --workload
    #[arg(conflicts_with_all = OF_DRIVES)]
    pub(crate) file: Option<PathBuf>,
    /// Set a key of host, drive or workload, as in `host.cpu_percent=50`; with FILE any key, also varied over a list; repeatable
    #[arg(long, value_name = "KEY=VALUE[,VALUE…]")]
    pub(crate) set: Vec<String>,
    /// With FILE: factor to choose; repeatable. The others become loads and conditions [key ask.choose]
    #[arg(long, value_name = "KEY", value_delimiter = ',', requires = "file", conflicts_with_all = ["drives", "from"])]
    pub(crate) choose: Vec<String>,
    /// With FILE: results of `ileave run FILE`; their trials are not run again
    #[arg(long, value_name = "DIR", requires = "file", conflicts_with_all = ["drives", "from"])]
    pub(crate) results: Option<PathBuf>,
    /// Drives, all of one kind: how many and which [default: the most numerous kind of --from]
    #[arg(long, value_name = "NxDRIVE", required_unless_present_any = ["from", "file"])]
    pub(crate) drives: Option<String>,
    /// What this system has: output of `lsblk -J -O`, `nvme list -o json`, dmesg, /proc/mdstat and others,
    /// matched with the catalogue; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Vec<PathBuf>,
    /// Budget for the drives, in US$: takes as many as it pays for, up to the number in --drives
    #[arg(long, value_name = "US$", value_parser = dollars, allow_negative_numbers = true)]
    pub(crate) budget: Option<f64>,
    /// Price of one drive, in US$ [default: from the catalogue]
    #[arg(long, value_name = "US$", value_parser = dollars, allow_negative_numbers = true)]
    pub(crate) price: Option<f64>,
    /// Work: a name from the list, or an experiment, fio job or trace file
    #[arg(long, value_name = "WORK", required_unless_present = "file")]
    pub(crate) workload: Option<String>,
    /// Drives that may fail without losing data [default: 1; cloud volumes also
    /// show a plain stripe]
    #[arg(long, value_name = "N", value_parser = drives, allow_negative_numbers = true)]
    pub(crate) survive: Option<usize>,
    /// Least usable capacity, as in 60TB
    #[arg(long, value_name = "SIZE")]
    pub(crate) capacity: Option<String>,
    /// Hot spares, taken from the drives [default: none, unless a constraint on the risk needs some; levels that
    /// may lose all data more often than 1 in 500 also show some]
    #[arg(long, value_name = "N", value_parser = drives, allow_negative_numbers = true)]
    pub(crate) spares: Option<usize>,
    /// Time until a failed drive is replaced, for the risk: as in `ileave risk`
    #[arg(long, value_name = "TIME")]
    pub(crate) replace_after: Option<String>,
    /// Leave out layouts that lose acknowledged writes in a power cut; turns the drives' write caches off
    #[arg(long)]
    pub(crate) safe: bool,
    /// Level to choose among; repeatable [default: all md levels that fit; with --fs also those of btrfs]
    #[arg(long, value_name = "LEVEL", value_delimiter = ',')]
    pub(crate) level: Vec<String>,
    /// File systems to choose among as well: ext4, xfs, btrfs, each on every layout. WORK is then build, mail or news,
    /// on files, and a real kernel runs it (`ileave kernel build`), which takes about a minute
    #[arg(long, value_name = "FS", value_delimiter = ',')]
    pub(crate) fs: Vec<String>,
    /// Formula to minimise or maximise [default: the work's rate]; also of `usable_tb`, `usd`, `usd_per_tb`, `rebuild_h` and
    /// `loss_5y` (computed, not measured)
    #[arg(long, value_name = "min|max FORMULA")]
    pub(crate) objective: Option<String>,
    /// Constraint on the layouts, as in `rebuild_h <= 24` or `loss_5y <= 1e-3`; repeatable
    #[arg(long, value_name = "FORMULA >= FORMULA")]
    pub(crate) subject_to: Vec<String>,
    /// Measure the best N on a slower rig as well; its result decides
    #[arg(long, value_name = "N", requires = "on", value_parser = clap::value_parser!(u64).range(1..=20))]
    pub(crate) confirm: Option<u64>,
    /// Rig that searches, with an experiment; with --confirm followed by the rig that confirms, as in sim,kernel
    /// [default: sim; kernel with --fs]
    #[arg(long, value_name = "RIG[,RIG]", value_delimiter = ',')]
    pub(crate) on: Vec<String>,
    /// Random seed [default: 1, or that of FILE]
    #[arg(long, value_name = "S", value_parser = super::seed)]
    pub(crate) seed: Option<u64>,
    /// Time limit, counted from the start: starts no trial after TIME (a batch is completed), and the answer says what was
    /// not tried [default: none, so that the same question has the same answer everywhere]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) time_limit: Option<Time>,
    /// The same for what-if trials alone: what to build does not depend on them
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) what_if: Option<Time>,
    /// Write everything assumed as an experiment for `ileave run`; an existing file is kept
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Also write one self-contained HTML page, of what was measured in full
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) rig: ModelledRigFlags,
}

/// What is asked of drives, which an experiment brings along.
const OF_DRIVES: [&str; 11] = [
    "drives",
    "from",
    "budget",
    "workload",
    "survive",
    "capacity",
    "spares",
    "replace_after",
    "level",
    "fs",
    "save",
];

/// A number of drives.
fn drives(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "write how many drives, as in 2".into())
}

/// How long something may take, and as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Time {
    pub(crate) time: Duration,
    pub(crate) written: String,
}

fn time(text: &str) -> Result<Time, String> {
    let nanos = block::units::parse_nanos(text).map_err(|error| error.to_string())?;
    Ok(Time { time: Duration::from_nanos(nanos), written: text.trim().into() })
}

/// An amount of money.
fn dollars(text: &str) -> Result<f64, String> {
    let amount: Option<f64> = text.trim_start_matches(['$', ' ']).parse().ok();
    let amount = amount.filter(|amount| amount.is_finite() && *amount > 0.0 && *amount < 1e9);
    amount.ok_or_else(|| "write an amount above 0, as in 3000".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_work() {
        let command = TuneFlags::augment_args(clap::Command::new("tune"));
        let help = command.get_after_help().unwrap().to_string();
        let works = help.split(" (what each").next().unwrap();
        for (name, _) in ::tune::work::NAMED {
            assert!(works.contains(name), "{name}: {works}");
        }
    }
}
