//! What an experiment sets, as data and as text.

use lab::experiment::{Experiment, Setting, factors_as_written};
use lab::keys::Value;
use serde_json::{Map, Value as Json};
use std::fmt::Write as _;
use store::record::factor_value;

/// All settings, by path; a factor has the list of its values.
pub(crate) fn json(experiment: &Experiment) -> Map<String, Json> {
    let value = |setting: &Setting| {
        let values: Vec<Json> =
            setting.values.iter().map(|value| factor_value(&value.to_string())).collect();
        if setting.factor { values.into() } else { values.into_iter().next().unwrap_or_default() }
    };
    experiment.settings().iter().map(|(path, setting)| (path.clone(), value(setting))).collect()
}

/// The same, a line each, in the order of their paths, as an experiment's file writes them: sizes, rates and times with units.
pub(crate) fn text(experiment: &Experiment) -> String {
    let settings = experiment.settings();
    let kinds = factors_as_written(settings.keys(), |path| experiment.is_in_bytes(path));
    let mut text = String::new();
    for (path, setting) in settings {
        let shown = |value: &Value| match value {
            Value::Switch(is_on) => is_on.to_string(),
            Value::Text(text) => Json::from(text.as_str()).to_string(),
            Value::Count(count) => {
                let shown = kinds.shown(path, &Json::from(*count));
                let is_bare = shown.bytes().all(|digit| digit.is_ascii_digit());
                if is_bare { shown } else { format!("\"{shown}\"") }
            }
        };
        let values: Vec<String> = setting.values.iter().map(shown).collect();
        let is_list = setting.factor || values.len() > 1;
        let values = values.join(", ");
        let values = if is_list { format!("[{values}]") } else { values };
        writeln!(text, "{path} = {values}").expect("a string grows");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_a_file_writes_them() {
        let written = "[volume]\ndrives = '4xst18000nm000j'\nlevel = 'md-raid5'\ninterleave = ['64KiB', 1024]\n\
                       [workload.wal]\nkind = 'random'\nop = 'write'\ndirect = true\noffset = '500GiB'\nblock = '8KiB'\n\
                       rate = '100MB/s'\nthink = '20us'\ndepth = 4\n";
        let of = |written: &str| text(&Experiment::parse("x.toml", written).unwrap());
        let shown = of(written);
        for line in [
            "volume.interleave = [128, 1024]",
            "workload.wal.offset = \"500GiB\"",
            "workload.wal.block = \"8KiB\"",
            "workload.wal.direct = true",
            "workload.wal.depth = 4",
            "volume.level = \"md-raid5\"",
        ] {
            assert!(shown.lines().any(|own| own == line), "{line} in {shown}");
        }
        let one = of(&written.replace("['64KiB', 1024]", "'64KiB'"));
        assert!(one.contains("volume.interleave = \"64KiB\"\n"), "{one}");
        // It is an experiment, the same one.
        let again = Experiment::parse("x.toml", &shown).unwrap();
        assert_eq!(again.canonical(), Experiment::parse("x.toml", written).unwrap().canonical());
    }
}
