//! Reading an experiment file, and what `--set` makes of it.

use super::about::RunKeys;
use super::assigned::values_of;
use super::inline;
use super::sections::find;
use crate::error::{Error, Result, nearest};
use crate::keys::{Section, Value, Written};
use crate::text::{Item, Source, Table};
use block::units::{in_binary, parse_bytes};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use store::ask::SAFE;
use store::factor::Role;
use toml::Spanned;
use toml::de::DeValue;

/// An experiment: its settings, checked one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// Where it came from, for messages.
    pub origin: String,
    /// What it is called.
    pub name: String,
    /// The names of its workloads, in the order of the file.
    pub workloads: Vec<String>,
    /// What it sets, by path.
    settings: BTreeMap<String, Setting>,
    /// The line of the file where each stands, unless the command line has set it.
    lines: BTreeMap<String, usize>,
    /// The paths of those whose sizes the person has written in bytes.
    in_bytes: BTreeSet<String>,
    /// Whether whoever runs it takes one seed after the other.
    runs_seed_by_seed: bool,
}

/// The values of one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// One value, or those that a factor takes.
    pub values: Vec<Value>,
    /// Whether it is a factor: a list in the file, or several values on the command line.
    pub factor: bool,
}

impl Experiment {
    /// Reads the text of an experiment file; `origin` is its name, for messages.
    ///
    /// # Errors
    ///
    /// Where it is not TOML, has a key that is none, or a value that its key does not take; the message
    /// names the file, the line, the key, the value and the next step.
    pub fn parse(origin: &str, text: &str) -> Result<Self> {
        let source = Source { label: origin, text };
        let parsed = source.parse()?;
        let table = Table::whole(source, &parsed);
        check_names(source, &table)?;
        let mut written = Vec::new();
        flatten(&table, &mut written)?;
        written.sort_by_key(|(item, _)| item.start());
        let mut experiment = Experiment {
            origin: origin.into(),
            name: file_stem(origin),
            workloads: Vec::new(),
            settings: BTreeMap::new(),
            lines: BTreeMap::new(),
            in_bytes: BTreeSet::new(),
            runs_seed_by_seed: false,
        };
        for (item, value) in written {
            let at = format!("{origin}:{}", item.line());
            experiment.write(item.path(), &value).map_err(|error| error.context(at))?;
            experiment.lines.insert(item.path().into(), item.line());
        }
        if experiment.workloads.is_empty() {
            return Err(Error::input(format!(
                "{origin} has no workload; add one, for example\n\n[workload.read]\nkind = \"dd\"\n\
                 op = \"read\"\nblock = \"1MiB\"\ncount = 1000"
            )));
        }
        Ok(experiment)
    }

    /// An experiment of settings that were another's, which has checked them.
    pub(crate) fn of_settings(
        origin: &str,
        name: &str,
        workloads: Vec<String>,
        settings: BTreeMap<String, Setting>,
    ) -> Self {
        Experiment {
            origin: origin.into(),
            name: name.into(),
            workloads,
            settings,
            lines: BTreeMap::new(),
            in_bytes: BTreeSet::new(),
            runs_seed_by_seed: false,
        }
    }

    /// Takes in `key=value,value,…` from the command line.
    ///
    /// # Errors
    ///
    /// Where that is not its form, or the key or a value is wrong.
    pub fn set(&mut self, assignment: &str) -> Result<()> {
        let said = format!("--set {assignment}");
        match assignment.split_once('=') {
            Some((path, values)) if !path.is_empty() => self.set_values(path, values),
            _ => Err(Error::input("write it as KEY=VALUE[,VALUE…]")),
        }
        .map_err(|error| error.context(said))
    }

    /// Gives the key at `path` these values, joined by commas; one with a comma stands in quotes. Several make it a factor;
    /// one leaves it what it is. No published table stands beside an experiment that was changed so, unless only the
    /// values of its factors were.
    ///
    /// # Errors
    ///
    /// Where the key or a value is wrong.
    pub fn set_values(&mut self, path: &str, values: &str) -> Result<()> {
        let key = find(path)?;
        if let ["workload", name, _, ..] = path.split('.').collect::<Vec<_>>().as_slice()
            && !self.workloads.iter().any(|known| known == name)
        {
            let next = nearest(name, self.workloads.iter().map(String::as_str)).map_or_else(
                || format!("it has {}", self.workloads.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(Error::input(format!("unknown workload `{name}`; {next}")));
        }
        let written = values_of(values);
        let values: Result<Vec<Value>> =
            written.iter().map(|value| key.takes.read(value)).collect();
        let values = values?;
        written.iter().try_for_each(|value| check_unit(path, value))?;
        check_distinct(path, &written, &values)?;
        self.note_unit(path, &written);
        let listed = self.settings.get(path).is_some_and(|setting| setting.factor);
        let factor = listed || values.len() > 1;
        self.insert(path, values, factor)?;
        self.lines.remove(path);
        if !listed && factor && key.role == Some(Role::Choice) {
            self.ask_for(path);
        }
        if !listed && key.factor {
            // What was published is of the experiment as it was; of other values of its factors, too.
            self.settings.remove("published");
        }
        Ok(())
    }

    /// Gives a key of `[ask]` these texts, each as it is: formulas may have commas in them.
    ///
    /// # Errors
    ///
    /// Where the key takes none of them.
    pub fn ask(&mut self, path: &str, texts: &[String]) -> Result<()> {
        let key = find(path)?;
        let values = texts.iter().map(|text| key.takes.read(&Written::Bare(text.clone())));
        self.insert(path, values.collect::<Result<_>>()?, false)
    }

    /// The texts of a key of `[ask]`.
    pub fn asked(&self, path: &str) -> Vec<String> {
        let values = self.settings.get(path).map(|setting| setting.values.as_slice());
        values.unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    /// Whether `[ask]` says that layouts must be safe.
    pub fn asks_safe(&self) -> bool {
        self.asked(SAFE) == ["true"]
    }

    /// What the command line varies is asked for, too, where the file says what is.
    fn ask_for(&mut self, path: &str) {
        let Some(asked) = self.settings.get_mut("ask.choose") else { return };
        let path = Value::Text(path.into());
        if !asked.values.contains(&path) {
            asked.values.push(path);
        }
    }

    /// Where the key at `path` is set, for messages: the file and the line, or the file.
    pub fn place(&self, path: &str) -> String {
        match self.lines.get(path) {
            Some(line) => format!("{}:{line}", self.origin),
            None => self.origin.clone(),
        }
    }

    /// How it is run.
    pub fn run(&self) -> RunKeys {
        let of_run = self.settings.iter().filter(|(path, _)| path.starts_with("run."));
        let values = of_run.map(|(path, set)| (path.clone(), set.values[0].clone())).collect();
        RunKeys::read(&Section::new(&values, "run"))
    }

    /// The value of a key that is not a factor, or its default.
    pub fn value(&self, path: &str) -> Option<Value> {
        match self.settings.get(path) {
            Some(setting) => setting.values.first().cloned(),
            None => find(path).ok()?.default_value(),
        }
    }

    /// The same experiment without the settings whose paths `is_left_out` takes.
    pub(super) fn without(&self, is_left_out: impl Fn(&str) -> bool) -> Self {
        let mut experiment = self.clone();
        experiment.settings.retain(|path, _| !is_left_out(path));
        experiment
    }

    /// The same experiment for whoever looks at each seed before the next is run: a plan of it has one seed, unless it says
    /// `run.repeats`.
    #[must_use]
    pub fn seed_by_seed(mut self) -> Self {
        self.runs_seed_by_seed = true;
        self
    }

    /// Whether whoever runs it takes one seed after the other.
    pub(super) fn runs_seed_by_seed(&self) -> bool {
        self.runs_seed_by_seed
    }

    /// What is set, by path.
    pub fn settings(&self) -> &BTreeMap<String, Setting> {
        &self.settings
    }

    /// Whether the highest rate at a latency is looked for (`capacity`).
    pub fn searches_a_rate(&self) -> bool {
        let is_search =
            |path: &String| path.starts_with("workload.") && path.ends_with(".capacity");
        self.settings.keys().any(is_search)
    }

    /// What is run as one, by name: a group of workloads, or a workload without a group; in the order of
    /// the file.
    pub fn groups(&self) -> Vec<(String, Vec<String>)> {
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for workload in &self.workloads {
            let group = self.value(&format!("workload.{workload}.group"));
            let name = group.map_or_else(|| workload.clone(), |name| name.to_string());
            match groups.iter_mut().find(|(known, _)| *known == name) {
                Some((_, workloads)) => workloads.push(workload.clone()),
                None => groups.push((name, vec![workload.clone()])),
            }
        }
        groups
    }

    /// What is set for these workloads, which run as one: their own keys, and those of the host, the
    /// volume and the drives, a workload's own before everybody's.
    ///
    /// # Errors
    ///
    /// Where two of them set one of the latter differently.
    pub fn settings_of(&self, workloads: &[String]) -> Result<BTreeMap<String, &Setting>> {
        let all = self.settings.iter().filter(|(path, _)| !path.starts_with("workload."));
        let mut settings: BTreeMap<String, &Setting> =
            all.map(|(path, setting)| (path.clone(), setting)).collect();
        let mut own: BTreeMap<&str, (&String, &Setting)> = BTreeMap::new();
        for workload in workloads {
            let prefix = format!("workload.{workload}.");
            for (path, setting) in &self.settings {
                let Some(key) = path.strip_prefix(&prefix) else { continue };
                if !key.contains('.') {
                    settings.insert(path.clone(), setting);
                } else if let Some((other, before)) = own.insert(key, (path, setting))
                    && before != setting
                {
                    return Err(Error::input(format!(
                        "{}: `{other}` and `{path}` differ, but the two workloads are of one group, \
                         which runs on one volume; set `{key}` alike or leave out the group",
                        self.origin
                    )));
                }
            }
        }
        settings.extend(own.into_iter().map(|(key, (_, setting))| (key.to_string(), setting)));
        Ok(settings)
    }

    /// The whole experiment as TOML, every setting said: two experiments are the same if this is.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        let mut line = |path: &str, value: String| {
            writeln!(text, "{} = {value}", quoted(path)).expect("a string grows");
        };
        let names: Vec<String> = self.workloads.iter().map(|name| quoted(name)).collect();
        line("workloads", format!("[{}]", names.join(", ")));
        for (path, setting) in &self.settings {
            let values: Vec<String> = setting.values.iter().map(toml_value).collect();
            let is_list = setting.factor || values.len() > 1;
            let list = if is_list { format!("[{}]", values.join(", ")) } else { values[0].clone() };
            line(path, list);
        }
        text
    }

    fn write(&mut self, path: &str, value: &WrittenSetting) -> Result<()> {
        if path.starts_with("workload..") || path == "workload." {
            let next = "write a word, as in `[workload.read]`";
            return Err(Error::input(format!("a workload has no name; {next}")));
        }
        let read = |value: &Written| {
            let takes = find(path)?.takes;
            let read = takes.read(value).and_then(|read| check_unit(path, value).map(|()| read));
            read.map_err(|error| error.context(format!("`{path}`")))
        };
        match value {
            // A workload that says nothing is all defaults.
            WrittenSetting::One(Written::Other(EMPTY_TABLE)) if is_workload(path) => {
                self.workloads.push(path["workload.".len()..].to_string());
                Ok(())
            }
            WrittenSetting::One(one) => {
                let value = read(one)?;
                self.note_unit(path, std::slice::from_ref(one));
                self.insert(path, vec![value], false)
            }
            WrittenSetting::List(list) => {
                self.note_unit(path, list);
                let values = list.iter().map(read).collect::<Result<Vec<Value>>>()?;
                check_distinct(path, list, &values)?;
                self.insert(path, values, true)
            }
        }
    }

    /// Notes whether all sizes were written in bytes, so that they are shown so.
    fn note_unit(&mut self, path: &str, written: &[Written]) {
        if written.iter().all(Written::is_in_bytes) {
            self.in_bytes.insert(path.into());
        } else {
            self.in_bytes.remove(path);
        }
    }

    /// Whether the sizes of the key at `path` were written in bytes, as in `256KiB`.
    pub fn is_in_bytes(&self, path: &str) -> bool {
        self.in_bytes.contains(path)
    }

    fn insert(&mut self, path: &str, values: Vec<Value>, factor: bool) -> Result<()> {
        let key = find(path)?;
        if values.is_empty() {
            return Err(Error::input(format!(
                "`{path}` is an empty list; give it at least one value"
            )));
        }
        if !key.factor && !key.list && (factor || values.len() > 1) {
            return Err(Error::input(format!("`{path}` takes one value, not a list")));
        }
        let mut distinct = Vec::with_capacity(values.len());
        for value in values {
            if distinct.contains(&value) {
                return Err(Error::input(format!("`{path}` has the value {value} twice")));
            }
            distinct.push(value);
        }
        if let ["workload", name, _, ..] = path.split('.').collect::<Vec<_>>().as_slice()
            && !self.workloads.iter().any(|known| known == name)
        {
            self.workloads.push((*name).to_string());
        }
        if let (["workload", name, "group"], [Value::Text(group)]) =
            (path.split('.').collect::<Vec<_>>().as_slice(), distinct.as_slice())
            && group.trim().is_empty()
        {
            return Err(Error::input(format!(
                "`workload.{name}.group` is empty; give it a word, or leave it out"
            )));
        }
        if let ("name", [Value::Text(name)]) = (path, distinct.as_slice()) {
            if name.trim().is_empty() {
                return Err(Error::input("`name` is empty; give it a word, or leave it out"));
            }
            self.name.clone_from(name);
        }
        let factor = factor && key.factor;
        self.settings.insert(path.into(), Setting { values: distinct, factor });
        Ok(())
    }
}

/// What a table without keys is called.
const EMPTY_TABLE: &str = "an empty table";

/// Whether this is the path of a workload itself, not of one of its keys.
fn is_workload(path: &str) -> bool {
    matches!(path.split('.').collect::<Vec<_>>().as_slice(), ["workload", _])
}

/// A setting as it stands in the file.
enum WrittenSetting {
    One(Written),
    List(Vec<Written>),
}

/// All settings of a table and its tables.
fn flatten<'d>(table: &Table<'d>, out: &mut Vec<(Item<'d>, WrittenSetting)>) -> Result<()> {
    for (_, item) in table.items() {
        match item.value() {
            DeValue::Table(inner) if inner.is_empty() => {
                out.push((item, WrittenSetting::One(Written::Other(EMPTY_TABLE))));
            }
            DeValue::Table(_) => flatten(&item.table()?, out)?,
            DeValue::Array(items) => {
                if let Some(members) = inline::members(&item)? {
                    out.push((item, WrittenSetting::One(Written::Text(members))));
                    continue;
                }
                let items = items.iter().map(Spanned::get_ref).map(written).collect();
                out.push((item, WrittenSetting::List(items)));
            }
            other => out.push((item, WrittenSetting::One(written(other)))),
        }
    }
    Ok(())
}

/// Keys whose sizes are written in powers of two.
pub(super) const IN_BINARY: [&str; 2] = ["interleave", "block"];

/// Whether no value is there twice in two ways of writing it.
fn check_distinct(path: &str, written: &[Written], values: &[Value]) -> Result<()> {
    for (place, value) in values.iter().enumerate() {
        let Some(first) = values[..place].iter().position(|before| before == value) else {
            continue;
        };
        let [one, other] = [&written[first], &written[place]].map(Written::shown);
        if one != other {
            return Err(Error::input(format!(
                "`{path}` has one value twice: {one} and {other} are the same; leave one of them out"
            )));
        }
    }
    Ok(())
}

/// Whether an interleave or a block is written in powers of two: 64 kB are 64,000 bytes, and no array has such a chunk.
fn check_unit(path: &str, value: &Written) -> Result<()> {
    let (Written::Text(text) | Written::Bare(text)) = value else { return Ok(()) };
    let key = path.rsplit('.').next().unwrap_or(path);
    let meant = in_binary(text).filter(|_| IN_BINARY.contains(&key));
    match (meant, parse_bytes(text)) {
        (Some(meant), Ok(bytes)) => Err(Error::input(format!(
            "`{text}` is {bytes} bytes; did you mean `{meant}`? Write `{bytes}B` for these bytes"
        ))),
        _ => Ok(()),
    }
}

fn written(value: &DeValue<'_>) -> Written {
    match value {
        DeValue::String(text) => Written::Text(text.to_string()),
        DeValue::Boolean(on) => Written::Switch(*on),
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map_or(Written::Other("a number out of range"), Written::Integer),
        DeValue::Float(number) => Written::Decimal(number.as_str().to_string()),
        DeValue::Datetime(_) => Written::Other("a date"),
        DeValue::Array(_) => Written::Other("a list"),
        DeValue::Table(_) => Written::Other("a table"),
    }
}

fn toml_value(value: &Value) -> String {
    match value {
        // TOML's numbers end at 2^63; a seed may be larger.
        Value::Count(count) => {
            i64::try_from(*count).map_or_else(|_| quoted(&count.to_string()), |n| n.to_string())
        }
        Value::Switch(on) => on.to_string(),
        Value::Text(text) => quoted(text),
    }
}

/// A text as TOML writes it. Of the names of workloads, which have no control characters, that is a key,
/// too.
fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}

/// Whether the workloads have names that paths can be made of.
fn check_names(source: Source<'_>, table: &Table<'_>) -> Result<()> {
    let Some(Ok(workloads)) = table.find("workload").map(|item| item.table()) else {
        return Ok(());
    };
    for (name, item) in workloads.items() {
        if name.contains(|c: char| c == '.' || c.is_control()) {
            let message = format!(
                "{name:?} is not a valid workload name; write one without points and control characters"
            );
            return Err(source.wrong(item.line(), message));
        }
    }
    Ok(())
}

fn file_stem(origin: &str) -> String {
    let name = origin.rsplit('/').next().unwrap_or(origin);
    name.strip_suffix(".toml").unwrap_or(name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::ask::{OBJECTIVE, SUBJECT_TO};

    const GOOD: &str = "
about = \"two disks\"
[volume]
interleave = [32, \"32KiB\"]
drives = \"2xst118273lc\"
[workload.read]
op = \"read\"
[workload.a-write]
op = \"write\"
block = \"1m\"
";

    fn error(text: &str) -> String {
        Experiment::parse("dir/some.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn formulas_of_what_is_asked_are_checked() {
        let ask = |lines: &str| format!("{GOOD}\n[ask]\n{lines}\n");
        let asked =
            ask("subject_to = ['read >= 5 MB/s', 'loss_5y <= 1%']\nobjective = 'max usable_tb'");
        let experiment = Experiment::parse("some.toml", &asked).unwrap();
        assert_eq!(experiment.asked(SUBJECT_TO), ["read >= 5 MB/s", "loss_5y <= 1%"]);
        assert_eq!(experiment.asked(OBJECTIVE), ["max usable_tb"]);
        assert!(error(&ask("subject_to = 'read > 5'")).contains("write >= for >"));
        let measured = error(&ask("objective = 'max read'"));
        assert!(measured.contains("write what is measured as `objective`, outside"), "{measured}");
        assert!(error(&ask("objective = ['min usd']")).contains("takes one value, not a list"));
    }

    #[test]
    fn a_file_is_read_with_its_factors_and_workloads_in_order() {
        let experiment = Experiment::parse("dir/some.toml", GOOD).unwrap();
        assert_eq!(
            (experiment.name.as_str(), experiment.workloads.as_slice()),
            ("some", ["read".to_string(), "a-write".into()].as_slice())
        );
        let interleave = &experiment.settings()["volume.interleave"];
        assert_eq!(
            interleave,
            &Setting { values: vec![Value::Count(32), Value::Count(64)], factor: true }
        );
        assert_eq!(experiment.value("workload.a-write.block"), Some(Value::Count(2048)));
        assert_eq!(experiment.value("workload.read.depth"), Some(Value::Count(1)));
        assert_eq!(experiment.value("drive.write_cache"), None);
    }

    /// What the command line varies is asked for, too; a condition stays one.
    #[test]
    fn what_is_asked_is_a_list_and_no_factor() {
        let text = format!("{GOOD}\n[ask]\nchoose = [\"volume.interleave\", \"fs.block\"]\n");
        let mut experiment = Experiment::parse("some.toml", &text).unwrap();
        assert!(!experiment.settings()["ask.choose"].factor);
        let plan = crate::experiment::Plan::new(&experiment).unwrap();
        assert!(plan.trials.iter().all(|trial| trial.cell.at.len() == 1));
        for set in ["volume.failed=0,1", "drive.write_cache=on,off", "volume.interleave=8,16"] {
            experiment.set(set).unwrap();
        }
        let canonical = experiment.canonical();
        let line =
            "\"ask.choose\" = [\"volume.interleave\", \"fs.block\", \"drive.write_cache\"]\n";
        assert!(canonical.contains(line), "{canonical}");
    }

    #[test]
    fn a_workload_has_its_own_volume_and_a_group_runs_as_one() {
        let text = "
[volume]
level = \"stripe\"
[workload.a]
group = \"both\"
[workload.a.volume]
level = \"raid5\"
[workload.b]
group = \"both\"
[workload.c]
op = \"write\"
";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let both = ["a".to_string(), "b".into()];
        let expected = [("both".to_string(), both.to_vec()), ("c".into(), vec!["c".into()])];
        assert_eq!(experiment.groups(), expected);
        let level = |workloads: &[String]| {
            let settings = experiment.settings_of(workloads).unwrap();
            settings["volume.level"].values[0].to_string()
        };
        assert_eq!((level(&both).as_str(), level(&["c".into()]).as_str()), ("raid5", "stripe"));
        let other = format!("{text}[workload.b.volume]\nlevel = \"raid4\"\n");
        let error = Experiment::parse("some.toml", &other).unwrap().settings_of(&both).unwrap_err();
        assert!(
            error.to_string().contains("`workload.a.volume.level` and `workload.b.volume.level`")
        );
    }

    #[test]
    fn a_workload_may_say_nothing() {
        let experiment = Experiment::parse("some.toml", "[workload.read]\n").unwrap();
        assert_eq!(experiment.workloads, ["read"]);
        assert_eq!(experiment.value("workload.read.depth"), Some(Value::Count(1)));
    }

    #[test]
    fn set_overrides_and_several_values_make_a_factor() {
        let text = format!("published = \"table\"\n{GOOD}");
        let mut experiment = Experiment::parse("some.toml", &text).unwrap();
        experiment.set("volume.interleave=8,16k").unwrap();
        experiment.set("run.repeats=3").unwrap();
        assert_eq!(experiment.value("published"), Some(Value::Text("table".into())));
        experiment.set("workload.read.depth=4").unwrap();
        experiment.set("workload.read.jobs=1,2").unwrap();
        let setting = |experiment: &Experiment, path: &str| experiment.settings()[path].clone();
        let counts = |counts: &[u64], factor| Setting {
            values: counts.iter().map(|&count| Value::Count(count)).collect(),
            factor,
        };
        assert_eq!(setting(&experiment, "volume.interleave"), counts(&[8, 32], true));
        assert_eq!(setting(&experiment, "workload.read.depth"), counts(&[4], false));
        assert_eq!(setting(&experiment, "workload.read.jobs"), counts(&[1, 2], true));
        // What the file lists stays a factor, of one value.
        experiment.set("volume.interleave=16").unwrap();
        assert_eq!(setting(&experiment, "volume.interleave"), counts(&[16], true));
        assert_eq!(experiment.value("published"), Some(Value::Text(String::new())));
        experiment.set("name=other").unwrap();
        assert_eq!(experiment.name, "other");
        // One value with a comma; it was two.
        experiment.set(r#"about="a, b""#).unwrap();
        assert_eq!(experiment.value("about"), Some(Value::Text("a, b".into())));
        let message = |assignment| experiment.clone().set(assignment).unwrap_err().to_string();
        assert!(message("volume.interleeve=8").contains("did you mean `volume.interleave`?"));
        assert!(message("volume.interleave").contains("KEY=VALUE"));
        assert!(message("volume.interleave=wide").contains("`wide` is not a size"));
        assert!(message("workload.reed.depth=1").contains("did you mean `read`?"));
        assert!(message("run.seed=1,2").contains("takes one value"));
        assert!(message("name=").contains("--set name=: `name` is empty"));
    }

    #[test]
    fn errors_name_file_line_key_and_value() {
        assert!(error("[volume\n").starts_with("dir/some.toml:1: not valid TOML: "));
        assert!(error("about = 'x'").contains("dir/some.toml has no workload; add one"));
        let typo = error("[volume]\n\ninterleeve = 3\n");
        assert_eq!(
            typo,
            "dir/some.toml:3: unknown key `volume.interleeve`; did you mean `volume.interleave`?"
        );
        let kind = error("[volume]\ninterleave = true\n");
        assert_eq!(
            kind,
            "dir/some.toml:2: `volume.interleave`: `true` is not a size, as in 64 (sectors) or \"32KiB\""
        );
        assert!(error("[run]\nrepeats = 99999\n").contains("from 1 to 10000"));
        assert!(error("[volume]\ninterleave = []\n").contains("empty list"));
        assert!(error("[volume]\ninterleave = [1, 1]\n").contains("the value 1 twice"));
        let alike = error("[volume]\ninterleave = [\"64KiB\", 128]\n");
        assert!(alike.contains("one value twice: `\"64KiB\"` and `128` are the same"), "{alike}");
        let nested = error("[volume]\ninterleave = [[\"64KiB\"]]\n");
        assert!(nested.contains("`volume.interleave`: a list is not a size"), "{nested}");
        let twice = error("[volume]\ndrives = \"a\"\ndrives = \"b\"\n");
        assert!(twice.ends_with(":3: not valid TOML: duplicate key `drives`"), "{twice}");
        assert!(
            error("[volume]\ninterleave = 99999999999999999999999\n").contains("volume.interleave")
        );
        assert!(error("[volume]\n").contains("unknown key `volume`"));
        for unnamed in ["[workload]\n", "[workload]\nop = \"read\"\n"] {
            assert!(error(unnamed).contains("write `[workload.read]`, or another name"));
        }
        for nameless in ["[workload.\"\"]\n", "[workload.\"\"]\nop = \"read\"\n"] {
            assert!(error(nameless).contains("a workload has no name"), "{}", error(nameless));
        }
        assert!(error("name = \"\"\n").contains("`name` is empty"));
        assert!(error("name = ['a', 'b']\n").contains("takes one value"));
        assert!(error("objective = 'rm'\n").contains("1: `objective`: `rm` needs a direction"));
        assert!(
            error("\nobjective = 3\n").contains("2: `objective`: `3` is not `min` or `max` and")
        );
    }

    #[test]
    fn the_canonical_form_is_toml_whatever_the_names() {
        let text = "about = \"a\\nb\"\n[run]\nseed = 18446744073709551615\n\
                    [workload.'a\"b']\nop = 'read'\n[workload.\"c'd\"]\n[workload.'e\\f']\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let canonical = experiment.canonical();
        let table: toml::Table = toml::from_str(&canonical).unwrap();
        let names: Vec<&str> =
            table["workloads"].as_array().unwrap().iter().filter_map(toml::Value::as_str).collect();
        assert_eq!(names, ["a\"b", "c'd", "e\\f"]);
        assert_eq!(table["workload.a\"b.op"].as_str(), Some("read"));
        assert_eq!(table["about"].as_str(), Some("a\nb"));
        assert_eq!(table["run.seed"].as_str(), Some("18446744073709551615"));
        let dotted = error("\n[workload.\"a.b\"]\nop = 'read'\n");
        assert!(
            dotted.starts_with("dir/some.toml:2: \"a.b\" is not a valid workload name"),
            "{dotted}"
        );
        assert!(error("[workload.\"a\\u0007b\"]\n").contains("is not a valid workload name"));
    }

    #[test]
    fn the_canonical_form_tells_experiments_apart() {
        let experiment = Experiment::parse("some.toml", GOOD).unwrap();
        let mut other = experiment.clone();
        assert_eq!(experiment.canonical(), other.canonical());
        other.set("volume.interleave=32").unwrap();
        assert_ne!(experiment.canonical(), other.canonical());
        assert!(toml::from_str::<toml::Table>(&experiment.canonical()).is_ok());
    }
}
