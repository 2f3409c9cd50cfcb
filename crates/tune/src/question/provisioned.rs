//! What a cloud lets the volumes do, and who chose that: rates follow from it more than from any layout.

use crate::question::Question;
use crate::words::Line;
use lab::Result;
use lab::catalogue::{self, Cloud, Drive, Kind, Shared};
use lab::experiment::{Member, Trial};
use toml::Value;
use verdict::tables::listed;

/// A limit of each volume.
struct Each {
    /// What provisions it.
    key: &'static str,
    limit: Option<f64>,
    unit: &'static str,
    /// What all of them share, where they do.
    shared: Option<f64>,
    /// Whether it follows from the size of the volume.
    is_of_size: bool,
    /// What can be had at most, where more can be.
    most: Option<f64>,
}

/// The limits of a volume, where so many like it are in use.
fn limits(drive: &Drive, count: usize, cloud: &Cloud) -> [Each; 2] {
    let figures = &cloud.figures;
    let drives = vec![drive; count];
    let shared = catalogue::shared(&drives);
    let [shared_ios, shared_bytes] = shared.first().map_or([None; 2], Shared::reads_per_s);
    let of_size = |each: f64, limit: Option<f64>, most: Option<f64>| {
        (each > 0.0).then(|| most.filter(|most| limit.is_some_and(|limit| limit < *most))).flatten()
    };
    let [iops, rate] = [cloud.iops(), cloud.bytes_per_s().map(|rate| rate / 1e6)];
    let [each_ios, each_rate] = [figures.iops_per_gib, figures.mb_per_s_per_gib];
    [
        Each {
            key: "iops",
            limit: iops,
            unit: "I/Os a second",
            shared: shared_ios,
            is_of_size: each_ios > 0.0,
            most: of_size(each_ios, iops, figures.iops_most)
                .or(figures.iops.filter(|_| each_ios <= 0.0).and(figures.iops_most)),
        },
        Each {
            key: "mb_per_s",
            limit: rate,
            unit: "MB/s",
            shared: shared_bytes.map(|rate| rate / 1e6),
            is_of_size: each_rate > 0.0,
            most: of_size(each_rate, rate, figures.mb_per_s_most)
                .or(figures.mb_per_s.filter(|_| each_rate <= 0.0).and(figures.mb_per_s_most)),
        },
    ]
}

/// What is said of volumes that share their limits.
const SHARED: &str =
    "volumes of this kind on one machine share the limits of one volume as large as all of them";

/// What an answer about cloud volumes says of their limits; nothing of other drives.
pub(crate) fn of_question(question: &Question) -> Result<Option<Line>> {
    line(&question.drives.drive, question.members(), host_limits(question))
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
    let of_host = trial.setup.host.storage_per_s;
    let lines = kinds.into_iter().map(|(drive, count)| line(drive, count, of_host));
    Ok(lines.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// What a cloud lets so many volumes do; `of_host` is what the machine lets pass, in I/Os and bytes a second, where that is
/// stated.
fn line(drive: &Drive, count: usize, of_host: [Option<u64>; 2]) -> Result<Option<Line>> {
    let Ok(cloud) = drive.cloud() else { return Ok(None) };
    let members = count as f64;
    let described = catalogue::describe(&drive.name)?;
    let (own, all) = drive.name.split_once('[').unwrap_or((&drive.name, ""));
    let (mut each, mut together, mut more) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_shared = false;
    let mut allowed = Vec::new();
    let [host_ios, host_bytes] = of_host.map(|limit| limit.map(|limit| limit as f64));
    let of_host = [host_ios, host_bytes.map(|rate| rate / 1e6)];
    for (own_limits, of_host) in limits(drive, count, cloud).into_iter().zip(of_host) {
        let Each { key, limit, unit, shared, is_of_size, most } = own_limits;
        let Some(limit) = limit else { continue };
        let (figure, asked) = if is_of_size { ("sectors", "size") } else { (key, key) };
        let is_example =
            described.figures.iter().any(|of| of.key == figure && of.kind == Kind::Estimate);
        let is_named = all.contains(&format!("{asked}="));
        let whose = if is_example && !is_named { " (an example of ours)" } else { "" };
        each.push(format!("{limit:.0} {unit}{whose}"));
        let sum = members * limit;
        let sum = shared.map_or(sum, |shared| shared.min(sum));
        together.push(format!("{sum:.0}"));
        if let Some(most) = of_host.filter(|most| *most < sum) {
            allowed.push(format!("{most:.0} {unit}"));
        }
        is_shared |= shared.is_some();
        // Larger volumes have more, unless all have together what there is.
        let has_more = most.is_some_and(|most| shared.is_none_or(|shared| shared < most));
        let asks = format!("{asked}=…");
        if has_more && (is_of_size || !is_named) && !more.contains(&asks) {
            more.push(asks);
        }
    }
    if each.is_empty() {
        return Ok(None);
    }
    let mut text = match count {
        1 => format!("the one of {} has {}", drive.name, listed(&each)),
        _ => {
            format!("each has {}; the {count} in use {} together", listed(&each), listed(&together))
        }
    };
    if is_shared {
        text = format!("{text}: {SHARED}");
    }
    if !allowed.is_empty() {
        text = format!("{text}, but the instance allows {}", listed(&allowed));
    }
    if !more.is_empty() {
        text = format!("{text}; for more ask about `{own}[{}]`", more.join(","));
    }
    if [host_ios, host_bytes].iter().all(Option::is_none) {
        text += "; the instance's own limits are not counted (`--set host.storage_iops=…`, `--set host.storage_rate=…`; docs/cloud.md)";
    }
    Ok(Some(("volumes".into(), text)))
}

/// What the machine of a question lets pass, in I/Os and bytes a second.
fn host_limits(question: &Question) -> [Option<u64>; 2] {
    let host = question.work.tables.get("host").and_then(Value::as_table);
    let of = |key: &str| host.and_then(|host| host.get(key));
    let named = of("name").and_then(Value::as_str).and_then(|name| catalogue::host(name).ok());
    let of_ios = of("storage_iops").and_then(|ios| match ios {
        Value::String(text) => text.parse().ok(),
        value => value.as_integer().and_then(|ios| u64::try_from(ios).ok()),
    });
    let of_named = named.and_then(|host| host.storage_per_s[0]);
    [of_ios.or(of_named), question.host_limit().0]
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
        // The most of an instance was said to hold for each: 10066 MB/s together. Their rates follow from the size.
        let shared = "volumes of this kind on one machine share the limits of one volume as large as all of them";
        assert_eq!(
            said("8x pd-ssd[size=2TiB]").unwrap(),
            format!(
                "each has 67440 I/Os a second and 1258 MB/s; the 8 in use 100000 and 1258 together: {shared}{unset}"
            )
        );
        assert_eq!(
            said("2x pd-ssd[size=100GiB]").unwrap(),
            format!(
                "each has 9000 I/Os a second and 302 MB/s; the 2 in use 12000 and 352 together: {shared}; for more ask about \
                 `gcp-pd-ssd[size=…]`{unset}"
            )
        );
        let example_size = said("2x pd-balanced").unwrap();
        assert!(
            example_size.starts_with("each has 6000 I/Os a second (an example of ours) and "),
            "{example_size}"
        );
        let mut limited = question("4x gp3", "restore", 1);
        limited.work.set("host.storage_iops=20000").unwrap();
        let all = of_question(&limited).unwrap().unwrap().1;
        assert!(!all.contains("not counted") && !all.contains("instance"), "{all}");
        // 64,000 I/Os a second were promised of an instance that lets 20,000 pass.
        let mut limited = question("4x io2[size=500GiB,iops=16000]", "restore", 1);
        limited.work.set("host.storage_iops=20000").unwrap();
        let all = of_question(&limited).unwrap().unwrap().1;
        let own =
            "the 4 in use 64000 and 16777 together, but the instance allows 20000 I/Os a second";
        assert!(all.contains(own), "{all}");
        limited.work.set("host.storage_rate=500MB/s").unwrap();
        let all = of_question(&limited).unwrap().unwrap().1;
        assert!(all.contains("allows 20000 I/Os a second and 500 MB/s"), "{all}");
    }

    /// An experiment's answer about volumes said nothing of what limits them.
    #[test]
    fn an_experiment_says_what_its_volumes_may_do() {
        let said = |more: &str| {
            let text = format!(
                "run.repeats = 1\nvolume.drives = '2xgp3[size=500GiB,iops=4000]+1xazure-p30'\nvolume.level = 'stripe'\n{more}\
                 [workload.w]\nkind = 'random'\ncount = 10\n"
            );
            let (_, space, _) = crate::question::posed::tests::asked(&text);
            let lines = of_trial(&space.trials[0]).unwrap();
            lines.into_iter().map(|(_, text)| text).collect::<Vec<String>>()
        };
        let open = said("");
        assert!(open[0].starts_with("each has 4000 I/Os a second and "), "{open:?}");
        assert!(open[0].contains("; the 2 in use 8000 and ") && open[0].contains("not counted"));
        assert!(
            open[1].starts_with("the one of azure-p30 has 5000 I/Os a second and 200 MB/s"),
            "{open:?}"
        );
        let limited = said("host.storage_iops = 20000\n");
        assert!(limited.iter().all(|line| !line.contains("not counted")), "{limited:?}");
    }
}
