//! Whether the choice turns on how the time of a request to a cloud volume grows with its size, of which nobody measured more
//! than one.

use crate::judge::answer::{Point, point};
use crate::judge::asked::aim::Aim;
use crate::judge::{Ranked, Verdict};
use crate::tables::{listed, times};
use block::units::format_bytes;
use store::Manifest;
use store::record::Record;

/// A lead of less is none.
const EVEN: f64 = 1.05;

/// What is said where the best layout is no longer ahead once a command takes as long as its bytes at the volume's own rate.
pub(crate) fn told(
    verdict: &Verdict,
    aim: &Aim,
    manifest: &Manifest,
    records: &[Record],
) -> Option<Point> {
    if !manifest.modelled() {
        return None;
    }
    let (best, others) = verdict.ranked.split_first()?;
    let mut worst: Option<Turn> = None;
    let is_asked = |name: &&String| aim.workloads.contains(&manifest.judged_as(name));
    for workload in manifest.workloads.iter().filter(is_asked) {
        let Some(of_best) = Slower::of(manifest, records, best, workload) else { continue };
        for other in others {
            let Some(of_other) = Slower::of(manifest, records, other, workload) else { continue };
            let change = of_best.times / of_other.times;
            // Of several workloads each has its own lead, and some none.
            let is_alone = aim.workloads.len() == 1;
            let ahead = if is_alone { other.behind } else { of_other.mean_ms / of_best.mean_ms };
            let lead = ahead / change;
            if ahead < 1.0
                || change < EVEN
                || lead >= EVEN
                || worst.as_ref().is_some_and(|of| of.lead <= lead)
            {
                continue;
            }
            worst = Some(Turn { lead, workload, other, bytes: of_best.bytes });
        }
    }
    let Turn { lead, workload, other, bytes } = worst?;
    let names: Vec<String> = manifest
        .drives
        .iter()
        .filter(|(_, drive)| drive.one_size_mb_per_s.is_some())
        .map(|(name, _)| name.clone())
        .collect();
    let then = match lead {
        lead if lead > 1.0 / EVEN => format!("{} would be as fast", other.label),
        lead => format!("{} would be ahead by {}", other.label, times(1.0 / lead)),
    };
    Some(point(
        "doubt",
        format!(
            "{}: nobody measured how the time of a request grows with its size, and the model gives {} that of a small one; if it \
             took as long as the volume takes to move it, {then} ({workload}): measure both",
            listed(&names),
            format_bytes((bytes / 1024.0).round() as u64 * 1024),
        ),
    ))
}

/// Another layout that is no longer behind.
struct Turn<'v> {
    /// How many times as fast the best is then.
    lead: f64,
    workload: &'v str,
    other: &'v Ranked,
    /// A command of the best.
    bytes: f64,
}

/// How much slower a workload is on a layout where a command takes as long as its bytes at the volume's rate.
struct Slower {
    times: f64,
    /// A command, in the mean.
    bytes: f64,
    /// What requests take as it was measured.
    mean_ms: f64,
}

impl Slower {
    /// None where its drives were measured at several sizes, or nothing says how large a command is.
    fn of(
        manifest: &Manifest,
        records: &[Record],
        layout: &Ranked,
        workload: &str,
    ) -> Option<Self> {
        let is_its = |record: &&Record| {
            record.workload == workload
                && layout
                    .at
                    .iter()
                    .all(|(path, value)| record.at.get(path).is_none_or(|is| is == value))
        };
        let found: Vec<Slower> = records
            .iter()
            .filter(is_its)
            .filter_map(|record| Slower::of_record(manifest, record))
            .collect();
        let count = found.len() as f64;
        let mean = |of: fn(&Slower) -> f64| found.iter().map(of).sum::<f64>() / count;
        (count > 0.0).then(|| Slower {
            times: mean(|one| one.times),
            bytes: mean(|one| one.bytes),
            mean_ms: mean(|one| one.mean_ms.ln()).exp(),
        })
    }

    fn of_record(manifest: &Manifest, record: &Record) -> Option<Self> {
        let drives = super::of_record(manifest, record);
        let rates: Vec<f64> = drives.map(|drive| drive.one_size_mb_per_s).collect::<Option<_>>()?;
        let mb_per_s = rates.into_iter().reduce(f64::min)?;
        let sample = |name: &str| record.sample(name).filter(|value| *value > 0.0);
        let bytes = sample("mb_per_s")? * 1e6
            / sample("requests_per_s")?
            / sample("commands_per_request")?.max(1.0);
        let latency_ms = sample("latency_mean_ms")?;
        // While it waits for a limit it could as well be on its way.
        let waits = ["io_limit_ms", "byte_limit_ms"].map(|name| sample(name).unwrap_or(0.0));
        let more_ms = (bytes / mb_per_s / 1e3 - waits.iter().sum::<f64>()).max(0.0);
        Some(Slower { times: 1.0 + more_ms / latency_ms, bytes, mean_ms: latency_ms })
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    fn doubts(volume: &str, workload: &str) -> Vec<String> {
        doubts_of(volume, workload, "")
    }

    fn doubts_of(volume: &str, workload: &str, asked: &str) -> Vec<String> {
        let (manifest, records) = modelled(&format!(
            "[volume]\n{volume}\nlevel = 'md-stripe'\n[workload.b]\nkind = 'sequential'\ncount = 400\n{workload}\n"
        ));
        let objectives = Some(asked.to_string()).filter(|asked| !asked.is_empty());
        let wishes = Wishes { objectives: objectives.into_iter().collect(), ..Wishes::default() };
        let verdict = Verdict::new(&manifest, &records, &wishes).unwrap();
        let points = verdict.points.iter().filter(|point| point.about == "doubt");
        points
            .map(|point| point.text.clone())
            .filter(|text| text.contains("of a small one"))
            .collect()
    }

    /// A chunk of 1 MiB was ahead by 17 %, for certain: it took as long as 512 bytes.
    #[test]
    fn a_lead_by_the_latency_of_sizes_that_nobody_measured_is_doubted() {
        let drives = "drives = '4xgp3[size=500GiB,iops=6000,mb_per_s=500MiB]'\ninterleave = ['256KiB', '1MiB']";
        let said = doubts(drives, "op = 'write'\nblock = '1MiB'");
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].starts_with("gp3[size=500GiB,iops=6000,mb_per_s=500MiB]: nobody measured"),
            "{said:?}"
        );
        assert!(said[0].contains("the model gives 1MiB that of a small one"), "{said:?}");
        assert!(said[0].contains("interleave 512 (256 KiB) would be ahead by"), "{said:?}");
        // Small requests are moved in no time, and those that wait for a limit anyway are as fast.
        assert_eq!(doubts(drives, "block = '4KiB'\ndepth = 64"), [""; 0]);
        assert_eq!(doubts(drives, "block = '1MiB'\ndepth = 64"), [""; 0]);
        let disks = "drives = '4xst18000nm000j'\ninterleave = ['256KiB', '1MiB']";
        assert_eq!(doubts(disks, "op = 'write'\nblock = '1MiB'"), [""; 0]);
    }

    /// Small reads were asked, and the answer doubted by large writes beside them, with the lead of the reads.
    #[test]
    fn only_what_is_asked_is_doubted_and_by_its_own_lead() {
        let drives = "drives = '4xgp3[size=500GiB,iops=6000,mb_per_s=500MiB]'\ninterleave = ['256KiB', '1MiB']";
        let two = "block = '4KiB'\ndepth = 64\n[workload.w]\nkind = 'sequential'\ncount = 400\nop = 'write'\nblock = '1MiB'";
        assert_eq!(doubts_of(drives, two, "max b"), [""; 0]);
        let alone = doubts_of(drives, two, "max w");
        assert!(alone.len() == 1 && alone[0].contains("(w)"), "{alone:?}");
        let both = doubts_of(drives, two, "");
        assert!(both.len() == 1 && both[0].contains("(w)"), "{both:?}");
    }
}
