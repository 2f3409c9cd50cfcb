//! What a results directory holds the results of, and all that reports need to know of that.

use crate::MANIFEST;
use crate::error::{Error, Result};
use crate::factor::{FactorKind, Factors};
use crate::format_1;
use crate::input;
use crate::known::{KnownDrive, KnownHost};
use crate::quantity::Quantity;
use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

/// The version of the files' format. It changes when a field does.
pub const FORMAT: u64 = 3;

/// What a results directory holds the results of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the files' format.
    pub format: u64,
    /// The ileave that started it.
    pub ileave: String,
    /// What the experiment is called.
    pub name: String,
    /// The rig: `sim`, …
    pub rig: String,
    /// Trials in the plan.
    pub trials: usize,
    /// The workloads, in the order of the experiment.
    pub workloads: Vec<String>,
    /// The published table that stands beside the results; empty for none.
    pub published: String,
    /// The experiment as resolved, in TOML.
    pub experiment: String,
    /// The modelled drives that take part, or that imported results are of, by the names that they have
    /// there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drives: BTreeMap<String, KnownDrive>,
    /// The real members that take part, and how each is accessed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub members: BTreeMap<String, String>,
    /// The hosts that take part, by catalogue name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts: BTreeMap<String, KnownHost>,
    /// The RAID controllers that take part, likewise; earlier results call them boxes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", alias = "boxes")]
    pub controllers: BTreeMap<String, KnownHost>,
    /// The trees that are unpacked, likewise, with the digest of each file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub trees: BTreeMap<String, String>,
    /// The traces that are replayed, by their files, with the digest of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub traces: BTreeMap<String, String>,
    /// The workloads that write nothing, which a crash takes nothing from; older results say of none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_read: Vec<String>,
    /// What was varied: of each factor its role, and how its values are written.
    #[serde(default, skip_serializing_if = "Factors::is_empty")]
    pub factors: Factors,
    /// What real results depend on and nobody sees in them, by name: the kernel, models and firmware of drives.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine: BTreeMap<String, String>,
    /// What makes the figures of these members doubtful, as members that share a disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Whether the experiment was a fio job file: whoever wrote that knows fio's options.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fio: bool,
    /// What is known of results that no rig of ileave's has measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What is known of results that no rig of ileave's has measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// Where they are from.
    pub source: String,
    /// What is minimised or maximised, in the words of `--objective`; empty for every workload.
    pub objective: String,
    /// What the samples are, those that matter first.
    pub quantities: Vec<Quantity>,
}

impl Manifest {
    /// Whether a model made the results, so that its error is part of every difference: neither are they
    /// of real members, nor did anybody else measure them.
    pub fn modelled(&self) -> bool {
        self.members.is_empty() && self.imported.is_none()
    }

    /// Whether the drives alone were models, below a real kernel.
    pub fn host_is_real(&self) -> bool {
        self.modelled() && self.machine.contains_key("kernel")
    }

    /// Whether the host was a model, too: neither a kernel nor a disk was there.
    pub fn host_is_modelled(&self) -> bool {
        self.modelled() && !self.host_is_real()
    }

    /// What the results say they are about, in the words of `--objective`.
    pub fn objective(&self) -> Option<String> {
        let own = self.settings().get("objective").and_then(toml::Value::as_str).map(String::from);
        let imported = self.imported.as_ref().map(|imported| imported.objective.clone());
        own.or(imported).filter(|objective| !objective.is_empty())
    }

    /// The experiment's settings by key path; none where there was no experiment.
    pub fn settings(&self) -> toml::Table {
        toml::from_str(&self.experiment).unwrap_or_default()
    }

    /// The workloads of the experiment that run together as this one of the results: its own streams, or itself alone.
    pub fn members(&self, workload: &str) -> Vec<String> {
        let settings = self.settings();
        let all = settings.get("workloads").and_then(toml::Value::as_array).into_iter().flatten();
        let group = |name: &str| settings.get(&format!("workload.{name}.group"));
        let own = all
            .filter_map(toml::Value::as_str)
            .filter(|name| group(name).and_then(toml::Value::as_str).unwrap_or(name) == workload);
        own.map(String::from).collect()
    }

    /// What ran the levels.
    pub fn hosts_and_controllers(&self) -> impl Iterator<Item = &KnownHost> {
        self.hosts.values().chain(self.controllers.values())
    }

    /// What a sample is, as the results say or its name does.
    pub fn quantity(&self, workload: &str, sample: &str) -> Quantity {
        let said = self.imported.iter().flat_map(|imported| &imported.quantities);
        let mut said = said.filter(|q| q.workload == workload && q.sample == sample);
        said.next().cloned().unwrap_or_else(|| Quantity::named(workload, sample))
    }

    /// The sample that a workload is judged by: the first that the manifest lists, and otherwise the first
    /// of the record.
    pub fn main_sample<'a>(&'a self, record: &'a Record) -> Option<&'a str> {
        let said = self.imported.iter().flat_map(|imported| &imported.quantities);
        let mut said = said.filter(|q| q.workload == record.workload);
        said.next().map(|q| q.sample.as_str()).or_else(|| record.samples.names().next())
    }

    /// What a record is judged by: the main sample of its workload, or that of each stream where they are judged apart, each
    /// with its workload.
    pub fn judged<'a>(&'a self, record: &'a Record) -> Vec<(&'a str, &'a str)> {
        let streams = record.judged_streams();
        let whole = || self.main_sample(record).map(|sample| (record.workload.as_str(), sample));
        if streams.is_empty() { whole().into_iter().collect() } else { streams }
    }

    /// Reads the manifest of a results directory. One of an older format still lacks what
    /// whoever has a catalogue and the table of keys adds.
    pub(crate) fn read(directory: &Path) -> Result<Self> {
        let path = directory.join(MANIFEST);
        let text = input::read_text(&path, input::TEXT_BYTES).map_err(|error| {
            let at = directory.display();
            let next = if directory.extension().is_some_and(|end| end == "toml") {
                format!("run the experiment: `ileave run {at}`")
            } else {
                "give one that `ileave run` has made".into()
            };
            let why = match error.kind() {
                ErrorKind::NotFound => format!("it has no {MANIFEST}"),
                _ => error.to_string(),
            };
            Error::input(format!("{at} is not a results directory ({why}); {next}"))
        })?;
        let damaged = |error: toml::de::Error| {
            let next = "put it back as it was, or run the experiment again with another `--out`";
            Error::failure(format!("{} is damaged: {}; {next}", path.display(), error.message()))
        };
        // The format comes first: what another one holds need not be what this one does.
        let Made { format, ileave } = toml::from_str(&text).map_err(damaged)?;
        match format {
            // Format 2 kept nothing of factors, and was otherwise the same.
            2 | FORMAT => toml::from_str(&text).map_err(damaged),
            format_1::FORMAT => format_1::read(&text).map_err(damaged),
            _ => Err(Error::input(format!(
                "{} has format {format}, and this ileave reads formats 1 to {FORMAT}; read it with ileave {ileave}",
                path.display(),
            ))),
        }
    }

    /// What tells two manifests apart, for a message; `names` are what these are of.
    pub(crate) fn difference(&self, wanted: &Manifest, names: [&str; 2]) -> String {
        let [own, others] = names;
        if self.name != wanted.name {
            return format!("{own} is of `{}`, {others} of `{}`", self.name, wanted.name);
        }
        if self.rig != wanted.rig {
            return format!("{own} ran on {}, {others} on {}", self.rig, wanted.rig);
        }
        if self.members != wanted.members {
            let said = |manifest: &Manifest| {
                let members = manifest.members.iter().map(|(name, what)| format!("{name}: {what}"));
                members.collect::<Vec<_>>().join("; ")
            };
            return format!("{own} has the members {}, {others} {}", said(self), said(wanted));
        }
        // An option that was given only once changes the drives, too, and no file has.
        let apart = self.settings_apart(wanted);
        let matters = |apart: &&Apart| !apart.is_of_no_trial(self.trials == wanted.trials);
        if let Some(apart) = apart.iter().find(matters).or(apart.first()) {
            // What is varied in one alone is known there.
            let known = [self, wanted].into_iter().find_map(|of| of.factors.0.get(&apart.key));
            return apart.said(names, known.copied().unwrap_or_default());
        }
        let files = |of: &Manifest| {
            (of.drives.clone(), of.hosts.clone(), of.controllers.clone(), of.trees.clone())
        };
        if files(self) != files(wanted) {
            return "a drive, host, controller or tree file has changed since".into();
        }
        if self.traces != wanted.traces {
            return "a trace has changed since".into();
        }
        if self.ileave != wanted.ileave {
            return format!("{own} is of ileave {}, {others} of {}", self.ileave, wanted.ileave);
        }
        let mut of_machine = self.machine.keys().chain(wanted.machine.keys());
        if let Some(what) =
            of_machine.find(|what| self.machine.get(*what) != wanted.machine.get(*what))
        {
            let said = |of: &Manifest| of.machine.get(what).cloned().unwrap_or("unknown".into());
            return format!(
                "{own} ran where {what} is `{}`, {others} where it is `{}`",
                said(self),
                said(wanted)
            );
        }
        "its plan differs".into()
    }

    /// Takes the file of another experiment where that says other things of the same trials; whether it did.
    pub(crate) fn take_words_of(&mut self, wanted: &Manifest) -> bool {
        let is_same_plan = self.trials == wanted.trials;
        let apart = self.settings_apart(wanted);
        let is_reworded = self.experiment != wanted.experiment
            && !apart.is_empty()
            && apart.iter().all(|apart| apart.is_of_no_trial(is_same_plan));
        if is_reworded {
            self.experiment.clone_from(&wanted.experiment);
        }
        is_reworded
    }

    /// The settings that two experiments do not have in common, in order of their keys.
    pub fn settings_apart(&self, other: &Manifest) -> Vec<Apart> {
        let [own, others] = [self.settings(), other.settings()];
        let mut keys: Vec<&String> = own.keys().chain(others.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        let differ = keys.into_iter().filter(|key| own.get(*key) != others.get(*key));
        let apart = differ.map(|key| Apart {
            key: key.clone(),
            first: own.get(key).cloned(),
            second: others.get(key).cloned(),
        });
        apart.collect()
    }
}

/// The seed of an experiment that says none; a test of `lab` holds it to the key's default.
pub const SEED: i64 = 1;

/// A setting that two experiments do not have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Apart {
    /// Its key path.
    pub key: String,
    /// What it is in the first; nothing where that does not say.
    pub first: Option<toml::Value>,
    /// What it is in the second.
    pub second: Option<toml::Value>,
}

impl Apart {
    /// How messages write a value.
    pub fn in_words(value: Option<&toml::Value>) -> String {
        value.map_or("not set".into(), written)
    }

    /// That they differ; `names` are what the first and the second are of, and `kind` says how their values are written.
    fn said(&self, names: [&str; 2], kind: FactorKind) -> String {
        let one = |value: &toml::Value| match value.as_integer() {
            Some(number) => kind.with_unit(&number.into()),
            None => written(value),
        };
        let has = |value: Option<&toml::Value>| match value {
            Some(toml::Value::Array(all)) => {
                format!("has {}", all.iter().map(one).collect::<Vec<_>>().join(", "))
            }
            Some(value) => format!("has {}", one(value)),
            None => "does not set it".into(),
        };
        let [first, second] = [&self.first, &self.second].map(|value| has(value.as_ref()));
        format!("`{}`: {} {first}, {} {second}", self.key, names[0], names[1])
    }

    /// Whether no trial depends on it: what the experiment is about and judged by, and the seed that it has anyway. With as many
    /// trials of the same factors (`is_same_plan`) a number of repeats that one does not say is the other's.
    fn is_of_no_trial(&self, is_same_plan: bool) -> bool {
        let is_said_once = self.first.is_none() || self.second.is_none();
        match self.key.as_str() {
            "about" | "objective" => true,
            "run.seed" => {
                let said = self.first.as_ref().or(self.second.as_ref());
                is_said_once && said.and_then(toml::Value::as_integer) == Some(SEED)
            }
            "run.repeats" => is_said_once && is_same_plan,
            _ => false,
        }
    }

    /// The option that makes the second as the first is, where a single one does.
    pub(crate) fn option(&self) -> Option<String> {
        let value = self.first.as_ref().filter(|value| value.is_str() || value.is_bool())?;
        let value = written(value);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-_.,/".contains(c);
        let quote = if value.chars().all(is_plain) { "" } else { "'" };
        Some(match self.key.as_str() {
            "volume.drives" => format!("--drives {quote}{value}{quote}"),
            key => format!("--set {quote}{key}={value}{quote}"),
        })
    }
}

/// A value without the quotes of TOML.
fn written(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(all) => all.iter().map(written).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What every manifest says, of whatever format.
#[derive(Deserialize)]
struct Made {
    format: u64,
    ileave: String,
}
