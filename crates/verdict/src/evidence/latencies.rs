//! How long requests take that come by the clock, on the real kernel and ours: cells, and pairs of layouts under one load.

use super::Pair;
use super::loads::{self, Cell};
use super::pair::Devices;

/// What they are called among the tables.
pub(super) const TABLE: &str = "md-latencies";

/// Every cell whose requests come by the clock that the model is held to; a test of `lab` writes it, and holds the model to it.
const FILE: &str = include_str!("../../data/md_latencies.csv");

/// The classes: of means, and of percentiles.
pub(super) const MEANS: &str = "latencies:mean";
pub(super) const PERCENTILES: &str = "latencies:p99";
/// Of what nothing tests: percentiles beyond these, or of other requests.
pub(super) const RARE: &str = "latencies:rare";

/// The columns of either class: measured, and ours.
const COLUMNS: [(&str, [&str; 2]); 2] =
    [(MEANS, ["kernel_mean_ms", "mean_ms"]), (PERCENTILES, ["kernel_p99_ms", "p99_ms"])];

/// Every cell as a level, and every two cells of one load as a pair.
pub(super) fn all() -> Vec<Pair> {
    pairs(FILE)
}

/// The class of what these samples are, where all are how long requests take: of percentiles, where there are any.
pub(super) fn class<'a>(samples: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    let class = |sample: &str| {
        let of_requests = ["latency_", "read_", "write_", "commit_"];
        match of_requests.iter().find_map(|start| sample.strip_prefix(start))? {
            "mean_ms" => Some(MEANS),
            "p50_ms" | "p99_ms" => Some(PERCENTILES),
            "p999_ms" => Some(RARE),
            _ => None,
        }
    };
    let classes: Option<Vec<&str>> = samples.into_iter().map(class).collect();
    classes?.into_iter().max()
}

fn pairs(text: &str) -> Vec<Pair> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    // Where more come than are done, no time is known.
    let known = lines.filter(|line| !line.contains(",-"));
    let cells: Vec<Vec<&str>> = known.map(|line| line.split(',').collect()).collect();
    let column = |name: &str| header.iter().position(|of| *of == name).expect("a column");
    let (load, level, devices) = (column("load"), column("level"), column("devices"));
    let of_class = |(class, names): (&'static str, [&str; 2])| {
        let places = names.map(column);
        let mut found = Vec::new();
        for cell in &cells {
            let [kernel, ours] = places.map(|place| cell[place].parse().expect("a number"));
            let devices = Devices::parse(cell[devices]).expect("disks or flash");
            found.push(Cell { load: cell[load], class, devices, level: cell[level], kernel, ours });
        }
        loads::pairs(TABLE, &found)
    };
    COLUMNS.into_iter().flat_map(of_class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_count_where_both_are_asked() {
        assert_eq!(class(["latency_mean_ms"]), Some(MEANS));
        assert_eq!(class(["commit_p99_ms", "read_mean_ms"]), Some(PERCENTILES));
        assert_eq!(class(["commit_p999_ms", "read_p99_ms"]), Some(RARE));
        assert_eq!(class(["mb_per_s", "read_mean_ms"]), None, "a rate is tested by rates");
        assert_eq!(class(["rotation_ms"]), None);
    }

    #[test]
    fn layouts_of_one_load_are_pairs_and_of_two_are_none() {
        let text = "# about\nload,devices,level,kernel_mean_ms,mean_ms,kernel_p99_ms,p99_ms\n\
                    w0,disks,md-raid5,2,3,10,9\nw0,disks,md-raid10,1,1,5,6\nw0,disks,md-raid6,-,-,-,-\n\
                    w1,flash,md-raid5,7,7,8,8\nw1,flash,md-raid5,7,14,8,8\n";
        let all = pairs(text);
        let of = |class: &str, factor: &str| -> Vec<(f64, f64)> {
            let is = |pair: &&Pair| pair.class == class && pair.factor == factor;
            all.iter().filter(is).map(|pair| (pair.published, pair.simulated)).collect()
        };
        assert_eq!(of(MEANS, "volume.level"), [(0.5, 1.0 / 3.0)]);
        assert_eq!(of(PERCENTILES, "volume.level"), [(0.5, 6.0 / 9.0)]);
        assert_eq!(of(MEANS, "volume.interleave of md-raid5"), [(1.0, 2.0)]);
        // Of each class a pair and two levels.
        assert_eq!(all.iter().filter(|pair| pair.devices == Devices::Flash).count(), 6);
        assert_eq!(of(PERCENTILES, "level"), [(10.0, 9.0), (5.0, 6.0), (8.0, 8.0), (8.0, 8.0)]);
    }
}
