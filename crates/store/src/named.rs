//! The samples of a trial: numbers by name, in the order in which they were measured. A sweep keeps millions of them, so
//! that names which the table of samples has are kept there.

use crate::sample::{self, Sample};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value as Json};
use std::borrow::Cow;
use std::fmt;

/// Samples by name. One may be there without a number: a share of nothing.
///
/// A store of 100,000 trials has millions of them: what is catalogued is one pointer, and other names stand apart.
#[derive(Clone, Default)]
pub struct NamedSamples {
    numbers: Vec<(Option<&'static Sample>, Option<Number>)>,
    /// The names of those that are not catalogued, in their order.
    own: Vec<String>,
}

impl NamedSamples {
    fn named(&self) -> impl Iterator<Item = (&str, Option<&Number>)> {
        let mut own = self.own.iter();
        self.numbers.iter().map(move |(known, number)| {
            let name = known.map(|sample| sample.name).or_else(|| own.next().map(String::as_str));
            (name.unwrap_or_default(), number.as_ref())
        })
    }

    /// The number of a name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.named().find(|(known, _)| *known == name)?.1?.as_f64()
    }

    /// The number of a name as text: nothing where there is no such name.
    pub fn text(&self, name: &str) -> String {
        let found = self.named().find(|(known, _)| *known == name);
        let text =
            |number: Option<&Number>| number.map_or_else(|| "null".to_string(), Number::to_string);
        found.map_or_else(String::new, |(_, number)| text(number))
    }

    /// Whether there is one of this name, with a number or without.
    pub fn contains(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.named().map(|(name, _)| name)
    }

    /// The names and their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<f64>)> {
        self.named().map(|(name, number)| (name, number.and_then(Number::as_f64)))
    }

    /// Gives a name this number; none where it is not finite.
    pub fn insert(&mut self, name: &str, value: f64) {
        self.put(name, Number::from_f64(value));
    }

    fn put(&mut self, name: &str, number: Option<Number>) {
        let there = self.names().position(|known| known == name);
        if let Some(there) = there {
            self.numbers[there].1 = number;
            return;
        }
        let known = sample::find(name);
        if known.is_none() {
            self.own.push(name.into());
        }
        self.numbers.push((known, number));
    }
}

impl PartialEq for NamedSamples {
    fn eq(&self, other: &Self) -> bool {
        self.named().eq(other.named())
    }
}

impl fmt::Debug for NamedSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.named()).finish()
    }
}

impl<N: AsRef<str>> FromIterator<(N, f64)> for NamedSamples {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(samples: I) -> Self {
        let mut found = NamedSamples::default();
        samples.into_iter().for_each(|(name, value)| found.insert(name.as_ref(), value));
        found
    }
}

/// What is no number is left without one.
impl From<serde_json::Map<String, Json>> for NamedSamples {
    fn from(map: serde_json::Map<String, Json>) -> Self {
        let mut found = NamedSamples::default();
        for (name, value) in &map {
            found.put(name, value.as_number().cloned());
        }
        found
    }
}

impl Serialize for NamedSamples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.named())
    }
}

impl<'de> Deserialize<'de> for NamedSamples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reading)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = NamedSamples;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "samples by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NamedSamples, A::Error> {
        let mut found = NamedSamples::default();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            match map.next_value::<Json>()? {
                Json::Null => found.put(&name, None),
                Json::Number(number) => found.put(&name, Some(number)),
                other => {
                    let what = format!("`{name}` is {other}, not a number of 0 or more");
                    return Err(A::Error::custom(what));
                }
            }
        }
        found.numbers.shrink_to_fit();
        found.own.shrink_to_fit();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written() {
        for text in [r#"{"mb_per_s":1.5,"own":5,"cpu_busy":null,"commands":5.0}"#, "{}"] {
            let samples: NamedSamples = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&samples).unwrap(), text);
        }
        let samples: NamedSamples = serde_json::from_str(r#"{"own":5,"cpu_busy":null}"#).unwrap();
        assert_eq!((samples.get("own"), samples.get("cpu_busy")), (Some(5.0), None));
        assert!(samples.contains("cpu_busy") && !samples.contains("mb_per_s"));
        let wrong = serde_json::from_str::<NamedSamples>(r#"{"own":"a"}"#).unwrap_err();
        assert!(wrong.to_string().contains("`own` is \"a\", not a number"), "{wrong}");
    }

    #[test]
    fn a_name_has_one_number() {
        let mut samples = NamedSamples::from_iter([("b", 1.0), ("a", 2.0), ("b", 3.0)]);
        samples.insert("c", f64::NAN);
        let all: Vec<_> = samples.iter().collect();
        assert_eq!(all, [("b", Some(3.0)), ("a", Some(2.0)), ("c", None)]);
    }
}
