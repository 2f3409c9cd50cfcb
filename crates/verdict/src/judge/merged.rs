//! What the verdict says where requests merged on their way through Linux.

use super::answer::{Point, point};
use super::facts::Stated;
use block::Level;
use store::Manifest;
use store::record::Record;

/// With fewer commands a request than this, many were merged.
const MERGED: f64 = 0.9;

/// Direct requests of which many merged: the model takes all that become free at one moment for sent together, in one
/// plug of Linux's, and then they go on in step. Parity's direct writes are left out: measurements hold those.
pub(super) fn told(manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let settings = manifest.settings();
    let is_doubtful = |record: &&Record| {
        let stated = Stated::new(&record.at, &record.workload, &settings);
        let level: Option<Level> = stated.value("volume.level").and_then(|name| name.parse().ok());
        let reads = manifest.only_read.contains(&record.workload);
        let on_linux = level
            .is_some_and(|level| level.runs_on_linux() && (reads || !level.has_stripe_cache()));
        on_linux
            && stated.own("direct").is_none_or(|direct| direct == "true")
            && !stated.runs_program()
    };
    let commands = records.iter().filter(is_doubtful).filter_map(|record| record.sample(COMMANDS));
    let fewest = commands.filter(|&commands| commands > 0.0).fold(f64::INFINITY, f64::min);
    let is_modelled = manifest.rig == "sim";
    (is_modelled && fewest < MERGED).then(|| {
        let text = format!(
            "up to {:.0} requests merge into one command, as if the program sent them together; one that sends each by \
             itself, as fio does unless told otherwise, merges few. That can double a rate or halve it, and another \
             layout may then be best (docs/laws.md)",
            (1.0 / fewest).ceil()
        );
        point("doubt", text)
    })
}

/// The sample that counts them.
const COMMANDS: &str = "commands_per_request";
