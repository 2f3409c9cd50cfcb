//! What a cloud lets the volumes do, and who chose that: rates follow from it more than from any layout.

use crate::question::Question;
use crate::turns::Line;
use lab::Result;
use lab::catalogue::{self, Drive, Kind};
use lab::experiment::{Member, Trial};
use toml::Value;
use verdict::tables::listed;

/// What an answer about cloud volumes says of their limits; nothing of other drives.
pub(crate) fn of_question(question: &Question) -> Result<Option<Line>> {
    line(&question.drives.drive, question.members(), has_host_limit(question))
}

/// The same of the volumes that a trial of an experiment ran on; each kind has its own line.
pub(crate) fn of_trial(trial: &Trial) -> Result<Vec<Line>> {
    let mut kinds: Vec<(&Drive, usize)> = Vec::new();
    for drive in trial.setup.volume.members.iter().filter_map(Member::drive) {
        match kinds.iter_mut().find(|(known, _)| known.name == drive.name) {
            Some((_, count)) => *count += 1,
            None => kinds.push((drive, 1)),
        }
    }
    let is_limited = trial.setup.host.storage_per_s.iter().any(Option::is_some);
    let lines = kinds.into_iter().map(|(drive, count)| line(drive, count, is_limited));
    Ok(lines.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// What a cloud lets so many volumes do, where the machine's own limits are stated or not.
fn line(drive: &Drive, count: usize, is_limited: bool) -> Result<Option<Line>> {
    let Ok(cloud) = drive.cloud() else { return Ok(None) };
    let members = count as f64;
    let limits = [
        ("iops", cloud.iops(), "I/Os a second", cloud.figures.iops.and(cloud.figures.iops_most)),
        (
            "mb_per_s",
            cloud.bytes_per_s().map(|rate| rate / 1e6),
            "MB/s",
            cloud.figures.mb_per_s.and(cloud.figures.mb_per_s_most),
        ),
    ];
    let described = catalogue::describe(&drive.name)?;
    let (own, all) = drive.name.split_once('[').unwrap_or((&drive.name, ""));
    let (mut each, mut together, mut more) = (Vec::new(), Vec::new(), Vec::new());
    for (key, limit, unit, most) in limits {
        let Some(limit) = limit else { continue };
        let is_example =
            described.figures.iter().any(|of| of.key == key && of.kind == Kind::Estimate);
        let is_named = all.contains(&format!("{key}="));
        let whose = if is_example && !is_named { " (an example of ours)" } else { "" };
        each.push(format!("{limit:.0} {unit}{whose}"));
        together.push(format!("{:.0}", members * limit));
        if most.is_some() && !is_named {
            more.push(format!("{key}=…"));
        }
    }
    if each.is_empty() {
        return Ok(None);
    }
    let mut text =
        format!("each has {}; the {count} in use {} together", listed(&each), listed(&together));
    if !more.is_empty() {
        text = format!("{text}; for more ask about `{own}[{}]`", more.join(","));
    }
    if !is_limited {
        text += "; the instance's own limits are not counted (`--set host.storage_iops=…`, `--set host.storage_rate=…`; docs/cloud.md)";
    }
    Ok(Some(("volumes".into(), text)))
}

/// Whether the question says what the machine lets pass.
fn has_host_limit(question: &Question) -> bool {
    let host = question.work.tables.get("host").and_then(Value::as_table);
    let of_ios = host.is_some_and(|host| host.contains_key("storage_iops"));
    of_ios || question.host_limit().0.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;

    /// Eight P30 under `restore` make 1600 MB/s, which is eight times what each may have; nothing said so. The rates of io2
    /// followed from 3000 I/Os that the catalogue had chosen.
    #[test]
    fn what_volumes_may_do_is_said() {
        let said = |drives: &str| {
            of_question(&question(drives, "restore", 1)).unwrap().map(|(_, text)| text)
        };
        let unset = "; the instance's own limits are not counted (`--set host.storage_iops=…`, `--set host.storage_rate=…`; \
                     docs/cloud.md)";
        assert_eq!(
            said("8x azure-p30").unwrap(),
            format!(
                "each has 5000 I/Os a second and 200 MB/s; the 8 in use 40000 and 1600 together{unset}"
            )
        );
        assert_eq!(
            said("4x gp3[size=500GiB]").unwrap(),
            format!(
                "each has 3000 I/Os a second and 131 MB/s; the 4 in use 12000 and 524 together; for more ask about \
                 `ebs-gp3[iops=…,mb_per_s=…]`{unset}"
            )
        );
        let example = said("4x io2[size=500GiB]").unwrap();
        assert!(
            example.starts_with("each has 3000 I/Os a second (an example of ours) and "),
            "{example}"
        );
        let named = said("4x io2[size=500GiB,iops=9000]").unwrap();
        assert!(named.starts_with("each has 9000 I/Os a second and "), "{named}");
        assert!(!named.contains("iops=…]"), "{named}");
        assert_eq!(said("4x i3en"), None);
        let mut limited = question("4x gp3", "restore", 1);
        limited.work.set("host.storage_iops=20000").unwrap();
        assert!(!of_question(&limited).unwrap().unwrap().1.contains("not counted"));
    }

    /// An experiment's answer about volumes said nothing of what limits them.
    #[test]
    fn an_experiment_says_what_its_volumes_may_do() {
        let said = |more: &str| {
            let text = format!(
                "run.repeats = 1\nvolume.drives = '2xgp3[size=500GiB,iops=4000]+1xazure-p30'\nvolume.level = 'stripe'\n{more}\
                 [workload.w]\nkind = 'random'\ncount = 10\n"
            );
            let (_, space, _) = crate::posed::tests::asked(&text);
            let lines = of_trial(&space.trials[0]).unwrap();
            lines.into_iter().map(|(_, text)| text).collect::<Vec<String>>()
        };
        let open = said("");
        assert!(open[0].starts_with("each has 4000 I/Os a second and "), "{open:?}");
        assert!(open[0].contains("; the 2 in use 8000 and ") && open[0].contains("not counted"));
        assert!(open[1].contains("; the 1 in use 5000 and 200 together"), "{open:?}");
        let limited = said("host.storage_iops = 20000\n");
        assert!(limited.iter().all(|line| !line.contains("not counted")), "{limited:?}");
    }
}
