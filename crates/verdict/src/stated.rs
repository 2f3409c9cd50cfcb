//! What results say of one workload on a layout: its keys, whether they are varied or the same in all of them.

use block::units::parse_sectors;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use store::factor::{DEFAULT_INTERLEAVE, DEFAULT_LEVEL};
use store::members::stated_failed;
use store::record::plain;

/// What results say of one workload on a layout.
pub(crate) struct Stated<'a> {
    /// The layout's factors.
    at: &'a Map<String, Json>,
    pub(crate) workload: Cow<'a, str>,
    /// What is the same in all layouts, or in all of one workload.
    pub(crate) settings: &'a toml::Table,
}

impl<'a> Stated<'a> {
    /// What is said of a workload where the factors have these values.
    pub(crate) fn new(
        at: &'a Map<String, Json>,
        workload: &'a str,
        settings: &'a toml::Table,
    ) -> Self {
        Stated { at, workload: workload.into(), settings }
    }

    /// A key of the workload itself.
    pub(crate) fn own(&self, key: &str) -> Option<String> {
        let path = format!("workload.{}.{key}", self.workload);
        self.at.get(&path).map(plain).or_else(|| self.setting(&path))
    }

    /// The keys that are set of the workload itself; those of what it runs on have a section of their own.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        let own = |path: &'a String| {
            path.strip_prefix("workload.")?.strip_prefix(&*self.workload)?.strip_prefix('.')
        };
        let all = self.settings.keys().chain(self.at.keys()).filter_map(own);
        all.filter(|key| !key.contains('.'))
    }

    /// The workloads that run side by side as this one, with their names; none where it is one by itself.
    pub(crate) fn streams(&self) -> Vec<(String, Stated<'a>)> {
        let stream = |path: &str| {
            let name = path.strip_prefix("workload.")?.strip_suffix(".group")?.to_string();
            Some((name.clone(), Stated { workload: Cow::Owned(name), ..*self }))
        };
        let of_it =
            self.settings.iter().filter(|(_, group)| group.as_str() == Some(&self.workload));
        of_it.filter_map(|(path, _)| stream(path)).collect()
    }

    /// A key of what it runs on.
    pub(crate) fn value(&self, path: &str) -> Option<String> {
        let factor = self.at.get(path).map(plain).filter(|text| !text.is_empty());
        let own = || self.setting(&format!("workload.{}.{path}", self.workload));
        factor.or_else(own).or_else(|| self.setting(path)).or_else(|| self.default_level(path))
    }

    fn setting(&self, path: &str) -> Option<String> {
        match self.settings.get(path)? {
            toml::Value::String(text) => Some(text.clone()),
            toml::Value::Array(_) => None,
            other => Some(other.to_string()),
        }
    }

    /// How many members are down: in every trial, and in some.
    pub(crate) fn down(&self) -> [usize; 2] {
        let count = |text: &str| stated_failed(text).len();
        let always = self.value("volume.failed").as_deref().map_or(0, count);
        let paths =
            ["volume.failed".to_string(), format!("workload.{}.volume.failed", self.workload)];
        let lists = paths.iter().filter_map(|path| self.settings.get(path)?.as_array());
        let varied = lists.flatten().filter_map(toml::Value::as_str).map(count).max();
        [always, varied.unwrap_or(0).max(always)]
    }

    /// The interleave; where none is said, or none that is a size, that of an experiment that names none.
    pub(crate) fn interleave_sectors(&self) -> Option<u64> {
        let said = self.value("volume.interleave").and_then(|text| parse_sectors(&text).ok());
        said.or_else(|| parse_sectors(DEFAULT_INTERLEAVE).ok())
    }

    /// Whether it works on files. Results of old keep `program`.
    pub(crate) fn runs_program(&self) -> bool {
        let own = |key: &str| format!("workload.{}.{key}", self.workload);
        let made = ["fs.newfs", "fs.kind"];
        let paths = made.map(|key| [key.to_string(), own(key)]).concat();
        let mut paths = paths.into_iter().chain([own("program")]);
        paths.any(|path| self.settings.contains_key(&path))
    }

    /// Whether it, or a workload of its group, flushes what it writes (`flush_every`): a flush keeps all that was done before
    /// it, whoever wrote it.
    pub(crate) fn commits(&self) -> bool {
        let is_of_it = |name: &str| {
            let group = self.settings.get(&format!("workload.{name}.group"));
            name == self.workload || group.and_then(toml::Value::as_str) == Some(&self.workload)
        };
        let named = |path: &str| {
            path.strip_prefix("workload.")?.strip_suffix(".flush_every").map(String::from)
        };
        self.settings.keys().filter_map(|path| named(path)).any(|name| is_of_it(&name))
    }

    /// Whether a trace is replayed.
    pub(crate) fn is_trace(&self) -> bool {
        self.setting(&format!("workload.{}.kind", self.workload)).as_deref() == Some("trace")
    }

    /// The level of an experiment that names none. What was imported follows from no experiment.
    fn default_level(&self, path: &str) -> Option<String> {
        let is_level = path == "volume.level" && !self.settings.is_empty();
        is_level.then(|| DEFAULT_LEVEL.into())
    }
}
