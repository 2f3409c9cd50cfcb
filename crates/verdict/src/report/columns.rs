//! Results as columns with types: what data frames and columnar files are made of.
//!
//! A row is a trial. Every column may have gaps: a factor that does not apply to a workload, a sample that it lacks.

use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use store::record::{Record, plain};
use store::{Manifest, sample};

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What it is of.
    pub about: About,
    /// A value for each trial.
    pub values: Values,
}

/// What a column is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// Its name: a factor's key path, or a sample's name.
    pub name: String,
    /// What it is to whoever reads the results: `trial`, `choice`, `load`, `condition`, `sample` or `note`.
    pub role: String,
    /// The unit of its values; empty for words, counts and shares.
    pub unit: String,
    /// What it is, where its name does not say.
    pub meaning: &'static str,
}

/// The values of a column, all of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Switches.
    Switches(Vec<Option<bool>>),
    /// Words.
    Texts(Vec<Option<String>>),
}

/// The results' columns: the trials themselves, their factors, their samples.
pub fn columns(manifest: &Manifest, records: &[Record]) -> Vec<Column> {
    let of_trial = |name: &str, meaning, values| {
        let about = About { name: name.into(), role: "trial".into(), unit: String::new(), meaning };
        Column { about, values }
    };
    let count = |number: u64| i64::try_from(number).ok();
    let counts = |of: &dyn Fn(&Record) -> u64| {
        Values::Integers(records.iter().map(|record| count(of(record))).collect())
    };
    let texts = |of: &dyn Fn(&Record) -> &String| {
        let text = |record| Some(of(record).clone()).filter(|text| !text.is_empty());
        Values::Texts(records.iter().map(text).collect())
    };
    let mut columns = vec![
        of_trial("trial", "place in the plan", counts(&|record| record.trial as u64)),
        of_trial("workload", "", texts(&|record| &record.workload)),
        of_trial("repeat", "from 0", counts(&|record| record.repeat)),
    ];
    for path in names(records, |record| record.at.keys().map(String::as_str)) {
        columns.push(factor_column(manifest, records, path));
    }
    columns.push(of_trial("requests", "requests made", counts(&|record| record.requests)));
    for name in names(records, |record| record.samples.names()) {
        columns.push(sample_column(manifest, records, name));
    }
    columns.push(of_trial("note", "", texts(&|record| &record.note)));
    columns
}

/// The names that any record has, in the order in which they come.
pub(super) fn names<'a, K>(records: &'a [Record], of: impl Fn(&'a Record) -> K) -> Vec<&'a str>
where
    K: Iterator<Item = &'a str>,
{
    let mut seen = BTreeSet::new();
    records.iter().flat_map(of).filter(|name| seen.insert(*name)).collect()
}

fn factor_column(manifest: &Manifest, records: &[Record], path: &str) -> Column {
    let kind = manifest.factors.of(path);
    // An empty text is a factor that does not apply.
    let given = |record| -> Option<&Json> {
        let record: &Record = record;
        record.at.get(path).filter(|value| value.as_str() != Some("") && !value.is_null())
    };
    let values = typed(&records.iter().map(given).collect::<Vec<_>>());
    let is_number = matches!(values, Values::Integers(_));
    let about = About {
        name: path.into(),
        role: kind.role.to_string(),
        unit: if is_number { kind.written.kept_in().into() } else { String::new() },
        meaning: "",
    };
    Column { about, values }
}

/// The narrowest type that has all values.
fn typed(values: &[Option<&Json>]) -> Values {
    fn all<T>(values: &[Option<&Json>], of: impl Fn(&Json) -> Option<T>) -> Option<Vec<Option<T>>> {
        values.iter().map(|value| value.map_or(Some(None), |value| of(value).map(Some))).collect()
    }
    let whole = || all(values, Json::as_i64).map(Values::Integers);
    let number = || all(values, Json::as_f64).map(Values::Numbers);
    let switch = || all(values, Json::as_bool).map(Values::Switches);
    let text = || Values::Texts(values.iter().map(|value| value.map(plain)).collect());
    whole().or_else(number).or_else(switch).unwrap_or_else(text)
}

fn sample_column(manifest: &Manifest, records: &[Record], name: &str) -> Column {
    let values = records.iter().map(|record| record.sample(name));
    let workload = records.iter().find(|record| record.samples.contains(name));
    let workload = workload.map_or("", |record| record.workload.as_str());
    let about = About {
        name: name.into(),
        role: "sample".into(),
        unit: manifest.quantity(workload, name).unit,
        meaning: sample::find(name).map_or("", |known| known.words),
    };
    Column { about, values: Values::Numbers(values.collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_column_has_the_narrowest_type_of_its_values() {
        let type_of = |values: &[Json]| {
            let given: Vec<Option<&Json>> = values.iter().map(Some).chain([None]).collect();
            typed(&given)
        };
        assert_eq!(
            type_of(&[json!(8), json!(16)]),
            Values::Integers(vec![Some(8), Some(16), None])
        );
        assert_eq!(
            type_of(&[json!(8), json!(0.5)]),
            Values::Numbers(vec![Some(8.0), Some(0.5), None])
        );
        assert_eq!(type_of(&[json!(true)]), Values::Switches(vec![Some(true), None]));
        let texts = ["8", "auto"].map(|text| Some(text.to_string()));
        assert_eq!(
            type_of(&[json!(8), json!("auto")]),
            Values::Texts([texts.to_vec(), vec![None]].concat())
        );
    }
}
