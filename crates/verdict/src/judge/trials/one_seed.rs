//! What one seed of several rotating disks leaves open, where no spindle's angle decides the rate (`luck` has those that it does).

use super::luck::{hanging, reads_in_order, writes_in_order};
use crate::judge::answer::{Point, point};
use crate::judge::drives::read_buffers;
use crate::judge::host::ranked_alone;
use crate::judge::ranking::standing::widest;
use crate::judge::{Ranked, Verdict};
use crate::stated::Stated;
use crate::stats::noise::{Noise, NoiseSource};
use block::layout::Level;
use store::Manifest;
use store::record::Record;

/// How far a time of work on files on a stripe of disks is from its median with other seeds, as the standard deviation of its
/// logarithm: pairs of the 12 cells of `experiments/sampson-1999.toml`, with up to 14 seeds, were up to 1.17 times off
/// (docs/verdict.md has the measurement).
const OF_FILES_ON_STRIPES: f64 = 0.035;

/// What is known of how far other seeds are from the one that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Others {
    /// At random places each angle is met: no farther than each trial says of itself.
    AtRandom,
    /// Linux's stripes read in order, and its stripes and copies written in order: hardly anything.
    InOrder,
    /// Files on RAIDframe's mirror of two disks: less than 1 %, in eight cells of `experiments/brownlee-2005.toml` with five seeds.
    FilesOnMirrors,
    /// Files on a stripe.
    FilesOnStripes,
    /// Nobody looked.
    Unknown,
}

impl Others {
    fn of(stated: &Stated<'_>) -> Others {
        let level = stated.value("volume.level").and_then(|level| level.parse::<Level>().ok());
        let level = level.as_ref().map_or("", |level| level.name);
        let kind = stated.own("kind");
        let is_of_files = ["fs.kind", "fs.newfs"].iter().any(|key| stated.value(key).is_some());
        if kind.as_deref().is_some_and(|kind| kind == "random" || kind == "trace") && !is_of_files {
            Others::AtRandom
        } else if is_of_files && level.ends_with("stripe") {
            Others::FilesOnStripes
        } else if is_of_files && level == "raidframe-mirror" {
            Others::FilesOnMirrors
        } else if !is_of_files
            && (level == "md-stripe" && reads_in_order(stated)
                || ["md-stripe", "md-mirror", "md-raid10"].contains(&level)
                    && writes_in_order(stated))
        {
            Others::InOrder
        } else {
            Others::Unknown
        }
    }

    fn words(self) -> &'static str {
        match self {
            Others::AtRandom => {
                "with others, random work varied no more than each trial's interval shows"
            }
            Others::InOrder => "with others, such sequential work varied by up to 5 %",
            Others::FilesOnMirrors => "with others, such work on files varied by up to 1 %",
            Others::FilesOnStripes => {
                "with others, comparisons of such work on files were off by 2 % in half of the cases and by 17 % at most"
            }
            Others::Unknown => "another may differ: by how much is unknown, and not counted",
        }
    }
}

/// Whether what ran was several modelled disks that rotate, each cell with one seed.
fn is_of_one_seed(manifest: &Manifest, records: &[Record]) -> bool {
    let has_platters = manifest.drives.values().any(|drive| !drive.is_flash() && !drive.is_remote);
    manifest.modelled() && has_platters && records.iter().all(|record| record.repeat == 0)
}

/// What is known of each ranked trial's other seeds.
fn others(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Vec<Others> {
    let settings = manifest.settings();
    let own = ranked_alone(ranked, manifest, records);
    let several = own.filter(|record| record.member_busy.len() > 1);
    several.map(|own| Others::of(&Stated::new(&own.at, &own.workload, &settings))).collect()
}

/// That each cell ran with one seed, and how far others are from it.
pub(crate) fn told(verdict: &Verdict, manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let hangs = !hanging(&verdict.ranked, manifest, records).is_empty();
    // That has a line of its own, and says that seeds differ by more.
    let settings = manifest.settings();
    let is_held = records.iter().any(|record| read_buffers::is_chance(manifest, &settings, record));
    if verdict.ranked.len() < 2 || hangs || is_held || !is_of_one_seed(manifest, records) {
        return None;
    }
    // The least that is known of any of them.
    let others = others(&verdict.ranked, manifest, records).into_iter().max()?;
    let text = format!("each cell ran with one seed: {}; `--repeat 5` shows it", others.words());
    Some(point("seeds", text))
}

impl Verdict {
    /// The noises with that of other seeds, where it was measured and trials say less.
    pub(crate) fn with_other_seeds(
        &mut self,
        noises: Vec<Noise>,
        manifest: &Manifest,
        records: &[Record],
    ) -> Vec<Noise> {
        if !is_of_one_seed(manifest, records)
            || !others(&self.ranked, manifest, records).contains(&Others::FilesOnStripes)
        {
            return noises;
        }
        let counted = |noise: Noise| match noise.source {
            NoiseSource::Unknown => noise.or_of_trials(&[OF_FILES_ON_STRIPES]),
            _ => noise,
        };
        let noises: Vec<Noise> = noises.into_iter().map(counted).collect();
        self.noise = widest(&noises).unwrap_or(self.noise);
        noises
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::stats::noise::NoiseSource;
    use crate::{Verdict, Wishes};

    fn verdict(text: &str) -> Verdict {
        let (manifest, records) = modelled(text);
        Verdict::new(&manifest, &records, &Wishes::default()).unwrap()
    }

    fn said(verdict: &Verdict) -> String {
        let point = verdict.points.iter().find(|point| point.about == "seeds");
        point.map(|point| point.text.clone()).unwrap_or_default()
    }

    /// Who asks for one seed is told what it leaves open, and who has several or one disk is not.
    #[test]
    fn one_seed_says_what_others_may_do() {
        let random = |drives: &str, repeats: u64| {
            said(&verdict(&format!(
                "[run]\nrepeats = {repeats}\n[host]\nname = 'linux-6.1'\n[volume]\ndrives = '{drives}'\nlevel = 'md-stripe'\n\
                 interleave = ['64KiB', '512KiB']\n[workload.w]\nkind = 'random'\nblock = '4KiB'\ncount = 200\n"
            )))
        };
        let once = random("4xst18000nm000j", 1);
        assert!(once.contains("no more than each trial's interval shows"), "{once}");
        assert!(once.ends_with("`--repeat 5` shows it"), "{once}");
        assert_eq!(random("4xst18000nm000j", 2), "");
        assert_eq!(random("4x980-pro-1tb", 1), "");
        let mixed = said(&verdict(
            "[host]\nname = 'linux-6.1'\n[volume]\ndrives = '4xst18000nm000j'\nlevel = 'md-stripe'\n\
             interleave = ['64KiB', '512KiB']\n[workload.w]\nkind = 'sequential'\nblock = '64KiB'\nreads_percent = 50\ncount = 200\n",
        ));
        assert!(mixed.contains("another may differ: by how much is unknown"), "{mixed}");
    }

    /// One seed of a tree unpacked on three stripes had 126 sectors ahead; over twenty none of them was.
    #[test]
    fn files_on_stripes_count_what_other_seeds_do() {
        let untar = |repeats: u64| {
            verdict(&format!(
                "[run]\nrepeats = {repeats}\n[host]\nname = 'p133-netbsd-1.2'\n[volume]\ndrives = '3xdors-32160w'\nlevel = 'stripe'\n\
                 interleave = [32, 126]\n[fs]\nnewfs = '4.4bsd'\n[workload.w]\nkind = 'untar'\nfiles = 200\ndirectories = 20\nsize = '1MiB'\n"
            ))
        };
        let once = untar(1);
        assert_eq!(once.noise.source, NoiseSource::Trials, "{:?}", once.noise);
        assert!(
            once.noise.log_sd > 0.03 && said(&once).contains("off by 2 % in half of the cases")
        );
        assert_eq!(said(&untar(2)), "");
    }
}
