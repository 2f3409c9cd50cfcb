//! Bare numbers of sizes that read like bytes: fio, dd and data sheets count in bytes, and a bare number here counts sectors.

use super::Experiment;
use crate::keys::Value;
use block::SECTOR_BYTES;
use block::units::format_bytes;

/// The keys, and from which number on it reads like bytes: md's chunks of 512 to 2048 sectors are as usual as blocks of 512 bytes.
const LIKE_BYTES: [(&str, u64); 2] = [("block", 512), ("interleave", 4096)];

/// A warning for each key all of whose values are such numbers: among smaller ones they are sectors.
pub(super) fn warnings(experiment: &Experiment) -> Vec<String> {
    let warning = |(path, values): (&String, &[Value])| {
        let name = path.rsplit('.').next()?;
        let (_, least) = LIKE_BYTES.into_iter().find(|(key, _)| *key == name)?;
        let number = |value: &Value| match value {
            Value::Count(count) if *count >= least && count.is_power_of_two() => Some(*count),
            _ => None,
        };
        let numbers: Vec<u64> = values.iter().map(number).collect::<Option<_>>()?;
        let first = numbers.first().filter(|_| !experiment.is_in_bytes(path))?;
        let [as_sectors, as_bytes] = [first * SECTOR_BYTES, *first].map(format_bytes);
        Some(format!(
            "{}: `{path}` = {first} is {first} sectors, {as_sectors}; write \"{as_bytes}\" if these are bytes, or \"{as_sectors}\"",
            experiment.place(path)
        ))
    };
    let settings = experiment.settings().iter();
    settings.filter_map(|(path, setting)| warning((path, &setting.values))).collect()
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};

    /// "random 4096" was 2 MiB, and only a table of several values said so.
    #[test]
    fn a_bare_number_that_reads_like_bytes_is_asked_about() {
        let of = |block: &str, interleave: &str| {
            let text = format!(
                "[volume]\ndrives = '4xwd740gd'\nlevel = 'md-raid0'\ninterleave = {interleave}\n[workload.w]\nkind = 'random'\n\
                 block = {block}\n"
            );
            Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap().warnings
        };
        let said = "some.toml:7: `workload.w.block` = 4096 is 4096 sectors, 2MiB; write \"4KiB\" if these are bytes, or \"2MiB\"";
        assert_eq!(of("4096", "128"), [said]);
        assert_eq!(of("[4096, 8192]", "128"), [said]);
        assert_eq!(of("8", "65536").len(), 1);
        for (block, interleave) in
            [("'2MiB'", "'2MiB'"), ("16", "1024"), ("[8, 4096]", "[32, 32768]"), ("3000", "126")]
        {
            assert_eq!(of(block, interleave), [""; 0], "{block} {interleave}");
        }
    }
}
