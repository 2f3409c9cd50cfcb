//! The flags of `ileave risk`.

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Three losses are kept apart: all data lost, some sectors unreadable, a stripe torn by a crash. Each is \
a range over what is known of drives, rebuilds and read errors. A value that is given replaces its range. \
docs/risk.md has the formulas and the sources.

Examples:
  ileave risk --level raid6 --members 8 --drive st18000nm000j
  ileave risk --level raid10 --members 4 --drive '980 pro 1tb' --spares 1
  ileave risk --level raidz2 --members 8 --drive st18000nm000j --afr 1.4% --ure 1e-15 --scrub 14d --rebuild 30h
  ileave risk --level raid6 --members 8 --drive st18000nm000j --replace-after 2d
  ileave risk --level raid60 --members 24 --groups 3 --drive my-drive.toml --json"
)]
pub(crate) struct RiskFlags {
    /// Level: any that `ileave map` takes, raid50, raid60, raidz1, raidz2 or raidz3
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: String,
    /// Members, all groups together, without spares
    #[arg(long, value_name = "N", value_parser = members)]
    pub(crate) members: usize,
    /// Drive: a name from the list, or a catalogue file
    #[arg(long, value_name = "DRIVE")]
    pub(crate) drive: String,
    /// Equal groups side by side [default: 2 for raid50 and raid60, else as the level has them]
    #[arg(long, value_name = "N")]
    pub(crate) groups: Option<usize>,
    /// Failures of a drive in a year, as in 1.4% [default: what is known of the model]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) afr: Option<String>,
    /// Unreadable bits per bit read, for the worst case [default: 1e-15, and none of a cloud volume]
    #[arg(long, value_name = "RATE")]
    pub(crate) ure: Option<String>,
    /// Time between scrubs, or `never`
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub(crate) scrub: String,
    /// Time of a rebuild [default: from the drive's rate, idle and under load]
    #[arg(long, value_name = "TIME")]
    pub(crate) rebuild: Option<String>,
    /// Hot spares
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) spares: usize,
    /// Time until a failed drive is replaced, when the rebuild begins without a spare; with one, the next spare is ready then [default:
    /// 6h, 24h and 48h, of a cloud volume 15min, 6h and 24h; with a spare 72h]
    #[arg(long, value_name = "TIME")]
    pub(crate) replace_after: Option<String>,
    /// Years
    #[arg(long, value_name = "N", default_value_t = 5.0, allow_negative_numbers = true)]
    pub(crate) years: f64,
    /// Random seed of the simulation
    #[arg(long, value_name = "S", default_value_t = 1, allow_negative_numbers = true, value_parser = super::seed)]
    pub(crate) seed: u64,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// How many members there are.
fn members(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        "write how many there are, as in `--members 8`: their size is that of `--drive`; over drives of several \
         kinds or sizes, `ileave tune FILE` tells the risk of an experiment with `volume.drives = \"2xA+4xB\"`"
            .into()
    })
}
