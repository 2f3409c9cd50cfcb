//! Drives of several sizes: what one array leaves unused of the larger ones, and what to do with it.

use crate::question::drives::{DRIVES_MAX, count_and_name};
use block::units::{SECTOR_BYTES, format_decimal};
use lab::experiment::Trial;
use lab::map::unused;
use lab::{Error, catalogue};

/// Says what to do with what stays unused on the volume of a trial, behind what the verdict says of it where it does.
pub(crate) fn say(lines: &mut Vec<(String, String)>, trial: Option<&Trial>) {
    let Some((said, to_do)) = trial.and_then(of_trial) else { return };
    match lines.iter_mut().find(|(about, _)| about == "unused") {
        Some((_, text)) => *text = format!("{text}; {to_do}"),
        None => lines.push(("unused".into(), format!("{said}; {to_do}"))),
    }
}

fn of_trial(trial: &Trial) -> Option<(String, String)> {
    let members = &trial.setup.volume.members;
    let sectors: Option<Vec<u64>> =
        members.iter().map(|member| member.drive().map(|drive| drive.sectors())).collect();
    let sectors = sectors?;
    let layout = trial.setup.volume.layout().ok()?;
    Some((unused(&*layout, &sectors)?, to_do(&sectors)))
}

/// What to do with what stays unused: btrfs puts each chunk of raid1 on the two drives with the most room, so that it uses all
/// as long as no drive is larger than all others together. One drive is no array: each size has one where it has two drives.
///
/// ```text
/// 4 + 4 + 8 + 8 TB: 12 TB of data, twice; 4 + 4 + 12 TB: 8 TB of data, twice, and 4 TB of nothing
/// ```
fn to_do(sectors: &[u64]) -> String {
    let all: u64 = sectors.iter().sum();
    let largest = sectors.iter().copied().max().unwrap_or(0);
    let of_one_size = "take drives of one size";
    if largest > all - largest {
        return of_one_size.into();
    }
    let has_partner = |own: &u64| sectors.iter().filter(|other| *other == own).count() > 1;
    let are_arrays = sectors.iter().all(has_partner);
    let first = if are_arrays { "build an array of each size" } else { of_one_size };
    format!(
        "{first}, or take btrfs raid1, which uses all of it: {} of data, survives one failed drive",
        format_decimal(all / 2 * SECTOR_BYTES)
    )
}

/// Why `2x wd40efrx, 2x wd80efax` is no question of tune, where all of it are known drives: what one array would leave unused,
/// and what to ask instead.
pub(crate) fn of_kinds(text: &str) -> Option<Error> {
    let parts: Vec<(usize, catalogue::Drive)> =
        text.split([',', '+']).map(kind).collect::<Option<_>>()?;
    let [_, _, ..] = parts.as_slice() else { return None };
    let mut kinds: Vec<(usize, catalogue::Drive)> = Vec::new();
    for (count, drive) in parts {
        match kinds.iter_mut().find(|(_, known)| known.name == drive.name) {
            Some((sum, _)) => *sum += count,
            None => kinds.push((count, drive)),
        }
    }
    if let [(count, drive)] = kinds.as_slice() {
        let name = &drive.name;
        return Some(Error::input(format!("--drives {text}: write `{count}x {name}`")));
    }
    let each = kinds.iter().flat_map(|(count, drive)| vec![drive.sectors(); *count]);
    let sectors: Vec<u64> = each.collect();
    let least = sectors.iter().copied().min()?;
    let more: u64 = sectors.iter().map(|own| own - least).sum();
    let [more_text, least_text] = [more, least].map(|of| format_decimal(of * SECTOR_BYTES));
    let said = if more * 100 < sectors.iter().sum::<u64>() {
        String::new()
    } else {
        format!(
            "; one array over all leaves {more_text} unused, because every drive gives as much as the smallest, {least_text}: {}",
            to_do(&sectors)
        )
    };
    // Of one drive there is nothing to choose.
    let several = kinds.iter().filter(|(count, _)| *count > 1);
    let alone: Vec<String> =
        several.map(|(count, drive)| format!("`--drives '{count}x {}'`", drive.name)).collect();
    let alone = match alone.as_slice() {
        [] => String::new(),
        [one] => format!("those of one kind ({one}), or about "),
        alone => format!("each alone ({}), or about ", alone.join(", then ")),
    };
    let all: Vec<String> =
        kinds.iter().map(|(count, drive)| format!("{count}x{}", drive.name)).collect();
    Some(Error::input(format!(
        "--drives {text}: tune is about drives of one kind{said}. Ask about {alone}one array with your own \
         layouts, with `volume.drives = \"{}\"` in an experiment (`ileave tune FILE`)",
        all.join("+")
    )))
}

/// A number and a drive of the catalogue.
fn kind(part: &str) -> Option<(usize, catalogue::Drive)> {
    let (count, name) = count_and_name(part)?;
    let count = count.filter(|count| (1..=DRIVES_MAX).contains(count))?;
    Some((count, catalogue::drive(name).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::posed::tests::asked;

    #[test]
    fn drives_of_several_sizes_are_told_what_stays_unused_and_what_to_do() {
        let told = of_kinds("2x wd40efax, 2x st8000as0002").unwrap().to_string();
        let said = "one array over all leaves 8 TB unused, because every drive gives as much as the smallest, 4 TB: build an \
                    array of each size, or take btrfs raid1, which uses all of it: 12 TB of data, survives one failed drive.";
        assert!(told.contains(said), "{told}");
        assert!(
            told.contains("(`--drives '2x wd40efax'`, then `--drives '2x st8000as0002'`)"),
            "{told}"
        );
        let told = of_kinds("2x wd40efax, 3x WD40EFAX").unwrap().to_string();
        assert!(told.ends_with(": write `5x wd40efax`"), "{told}");
        // What is larger than all others together has no partner for all of it.
        let told = of_kinds("2x 980 pro 1tb, 3x wd40efax, 1x st18000nm000j").unwrap().to_string();
        assert!(told.contains("the smallest, 1 TB: take drives of one size. Ask"), "{told}");
        // An array of one drive was advised, and to ask about one drive, of which there is nothing to choose.
        let told = of_kinds("1x wd40efax, 1x st18000nm000j").unwrap().to_string();
        let next = "the smallest, 4 TB: take drives of one size. Ask about one array with your own layouts";
        assert!(told.contains(next), "{told}");
        let told = of_kinds("4x wd40efax, 1x st8000as0002").unwrap().to_string();
        let said =
            "take drives of one size, or take btrfs raid1, which uses all of it: 12 TB of data";
        assert!(told.contains(said), "{told}");
        assert!(
            told.contains("Ask about those of one kind (`--drives '4x wd40efax'`), or about one"),
            "{told}"
        );
        assert!(of_kinds("4x wd40efax").is_none() && of_kinds("2x wd40efax, 2x nothing").is_none());
    }

    #[test]
    fn an_experiment_over_several_sizes_says_what_stays_unused() {
        let text = |level: &str| {
            format!(
                "volume.drives = '2xwd40efax+2xst8000as0002'\nvolume.level = '{level}'\n\
                 [workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 10\n"
            )
        };
        let said = |level: &str| of_trial(&asked(&text(level)).1.trials[0]);
        let (said_of_raid5, _) = said("md-raid5").unwrap();
        assert!(said_of_raid5.starts_with("8 TB stay unused: "), "{said_of_raid5}");
        assert_eq!(said("md-stripe"), None);
    }
}
