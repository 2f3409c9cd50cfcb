//! A table of an experiment, from which a struct of keys is read.

use super::{FromValue, Key, Value};
use std::collections::BTreeMap;

/// The values that a cell has below one path, such as `volume` or `workload.read`.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    values: &'a BTreeMap<String, Value>,
    /// The path, with a dot behind it; empty for the file's own keys.
    prefix: String,
}

impl<'a> Section<'a> {
    /// The section at `path` of these values, which are kept by their whole paths.
    pub fn new(values: &'a BTreeMap<String, Value>, path: &str) -> Self {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        Section { values, prefix }
    }

    /// The whole path of one of its keys.
    pub fn path(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Whether the experiment sets this key.
    pub fn sets(&self, key: &str) -> bool {
        self.values.contains_key(&self.path(key))
    }

    /// The value of `key`, or its default.
    ///
    /// # Panics
    ///
    /// Where the field that it fills is of another type than the key takes.
    pub fn read<T: FromValue>(&self, key: &Key) -> T {
        let set = self.values.get(&self.path(key.name)).cloned();
        match set.or_else(|| key.default_value()) {
            Some(value) => T::from_value(&value),
            None => T::absent(),
        }
        .unwrap_or_else(|| panic!("`{}` and its field are of one type", key.name))
    }
}
