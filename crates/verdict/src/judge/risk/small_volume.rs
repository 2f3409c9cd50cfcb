//! Volumes that are small for their drives, and were chosen because they are fast.

use crate::judge::answer::{Point, point};
use crate::judge::{Ranked, Verdict};
use block::units::format_decimal;

/// What the best leaves unused of members of several sizes, and what the next one that holds more has.
///
/// Two SSDs of 1 TB beside four disks of 18 TB in one RAID 10 hold 3 TB of 74; the sentence "use it" had no word of that.
pub(crate) fn told(verdict: &Verdict) -> Option<Point> {
    let (best, others) = verdict.ranked.split_first()?;
    let said = best.facts.unused.as_ref()?;
    let bytes = best.facts.usable_bytes?;
    let holds = |of: &Ranked| of.facts.usable_bytes.filter(|&other| other > bytes);
    let larger = others.iter().find_map(|of| Some((of, holds(of)?)));
    let larger = larger.map_or(String::new(), |(of, other)| {
        format!("; {} holds {}", verdict.name(&of.at), format_decimal(other))
    });
    Some(point("unused", format!("{said}, so that it holds {}{larger}", format_decimal(bytes))))
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    fn said(drives: &str) -> Option<String> {
        let (manifest, records) = modelled(&format!(
            "[volume]\ndrives = {drives}\nlevel = 'md-raid10'\ninterleave = '512KiB'\n[workload.w]\nkind = 'random'\n\
             depth = 4\ncount = 200\n"
        ));
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        verdict.points.into_iter().find(|point| point.about == "unused").map(|point| point.text)
    }

    /// The faster of two volumes held 3 TB of 74, and the answer was "use" it.
    #[test]
    fn a_fast_volume_that_holds_little_says_so() {
        let mixed = "'2x980-pro-1tb+4xst18000nm000j'";
        let alone = said(mixed).unwrap();
        assert_eq!(
            alone,
            "68 TB stay unused: every member gives as much as the smallest, 1 TB, so that it holds 3 TB"
        );
        let beside = said(&format!("[{mixed}, '6xst18000nm000j']")).unwrap();
        assert_eq!(beside, format!("{alone}; 6xst18000nm000j holds 54 TB"));
        assert_eq!(said("'6xst18000nm000j'"), None);
    }
}
