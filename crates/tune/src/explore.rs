//! One layout at a time: what `ileave explore` answers while somebody moves a slider.
//!
//! A cell is answered by a short modelled trial, with its interval; `judge` measures those that were kept as
//! `ileave tune` would, and asks the verdict.

use crate::beside::{Beside, OfQuestion};
use crate::commands::printed;
use crate::question::candidate::{CACHES, Candidate, DEFAULT_CACHE, DEFAULT_CHUNK};
use crate::question::work::{Knobs, NAMED, Work};
use crate::question::{CHUNKS, LEVELS};
use crate::search::trials::{Tried, short_trial};
use crate::tune::plan;
use crate::{Drives, Question};
use block::layout::Level;
use lab::catalogue::{self, Drive};
use lab::experiment::Experiment;
use lab::rig::sim::Sim;
use lab::run;
use lab::run::Run;
use lab::{Error, Keep, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use store::known::KnownDrive;
use store::record::Record;
use toml::{Table, Value};
use verdict::{Verdict, Wishes};

/// What a page begins with: what md does where nothing is said.
pub const FIRST_LEVEL: &str = "md-raid6";
/// Its chunk.
pub const FIRST_CHUNK: &str = DEFAULT_CHUNK;
/// Rows of its stripe cache.
pub const FIRST_ROWS: &str = DEFAULT_CACHE;

/// Cells that are judged together.
const JUDGED_MAX: usize = 12;

/// What was chosen: drives, layout and work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The drive.
    pub drive: String,
    /// How many, spares included.
    pub count: usize,
    /// Those kept as spares.
    #[serde(default)]
    pub spares: usize,
    /// The level.
    pub level: String,
    /// Its chunk.
    pub chunk: String,
    /// Rows of its stripe cache.
    pub rows: String,
    /// The work.
    pub work: String,
    /// What of the work is otherwise.
    #[serde(default)]
    pub knobs: Knobs,
    /// What one drive costs, in US dollars, where the catalogue does not know or it is otherwise.
    #[serde(default)]
    pub price_usd: Option<f64>,
}

/// What a page asks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Asked {
    /// What a cell does.
    Ask(Cell),
    /// What the verdict says of several.
    Judge(Vec<Cell>),
}

/// What may be chosen: the named drives and works, and those given on the command line.
#[derive(Clone, Debug, Default)]
pub struct Explore {
    /// Drives beside the catalogue's: files.
    pub drives: Vec<String>,
    /// Works beside the named ones: files.
    pub works: Vec<String>,
}

/// What a cell does.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The layout, in words.
    pub name: String,
    /// What each workload did.
    pub works: Vec<Did>,
    /// Bytes that can be used.
    pub usable_bytes: u64,
    /// Drives that may fail without losing data.
    pub survives: usize,
    /// What the drives cost.
    pub cost_usd: Option<f64>,
    /// What the work's knobs stand at; nothing where it has no such knob.
    pub knobs: Knobs,
    /// The work, in words.
    pub about: String,
    /// What of the work could not be taken over.
    pub warnings: Vec<String>,
    /// The experiment that measures this.
    pub experiment: String,
    /// How it is built, and how to check that.
    pub commands: String,
}

/// What a workload did.
#[derive(Clone, Debug, Serialize)]
pub struct Did {
    /// Which.
    pub workload: String,
    /// Samples that it has: rates and latencies.
    pub mb_per_s: Option<f64>,
    /// Requests per second.
    pub requests_per_s: Option<f64>,
    /// Latencies in ms: the mean, the median, the 99th percentile.
    pub latency_ms: [Option<f64>; 3],
    /// For each member, the share of the time that it was busy.
    pub member_busy: Vec<f64>,
    /// Half of the rate's 95 % interval, in percent.
    pub interval_percent: Option<f64>,
    /// Whether the rate had settled.
    pub settled: bool,
}

/// What the verdict says of several cells.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The verdict, with what stands below it.
    pub verdict: String,
    /// What each cell did in a trial of full length.
    pub cells: Vec<Vec<Did>>,
    /// The experiment that measures all of them.
    pub experiment: String,
    /// How the best of them is built.
    pub commands: String,
}

impl Explore {
    /// What can be chosen, as the page needs it.
    ///
    /// # Errors
    ///
    /// Where a drive or a work that was given cannot be read.
    pub fn choices(&self) -> Result<Json> {
        let known = catalogue::drive_names().into_iter().map(String::from);
        let drives = self.drives.iter().cloned().chain(known).map(|name| {
            let drive = catalogue::drive(&name)?;
            Ok(json!({
                "name": name, "title": drive.title, "class": drive.class(),
                "price_usd": KnownDrive::from(&drive).price_usd,
            }))
        });
        let works = self.works.iter().map(String::as_str).chain(NAMED.map(|(name, _)| name));
        Ok(json!({
            "drives": drives.collect::<Result<Vec<Json>>>()?,
            "works": works.collect::<Vec<_>>(),
            "judged_max": JUDGED_MAX, "levels": LEVELS, "chunks": CHUNKS, "rows": CACHES,
        }))
    }

    /// The answer to a page, as it reads it. That there is no such layout is an answer, which it shows: `error` says why.
    pub fn reply(&self, asked: &Asked) -> Json {
        let answer = match asked {
            Asked::Ask(cell) => self.answer(cell).map(|answer| json!(answer)),
            Asked::Judge(cells) => self.judge(cells).map(|judged| json!(judged)),
        };
        answer.unwrap_or_else(|error| json!({ "error": error.to_string() }))
    }

    /// What a cell does in a short trial.
    ///
    /// # Errors
    ///
    /// Where there is no such layout, or the model does not have it; the message says what to choose instead.
    pub fn answer(&self, cell: &Cell) -> Result<Answer> {
        let chosen = self.chosen(cell)?;
        let text = chosen.file()?.to_string();
        let mut experiment = Experiment::parse(&chosen.question.work.origin, &text)?;
        for (path, value) in short_trial(&experiment) {
            experiment.set_values(path, value)?;
        }
        let records = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ())?.records();
        let Chosen { question, candidate } = &chosen;
        Ok(Answer {
            name: candidate.name(),
            works: records.iter().map(Did::of).collect(),
            usable_bytes: question.usable_bytes(&candidate.level),
            survives: candidate.level.losses_survived(question.members()),
            cost_usd: question.cost_usd(),
            knobs: question.work.knobs(),
            about: question.work.about().unwrap_or(&question.work.name).into(),
            warnings: {
                let Work { warnings, past_the_page_cache, .. } = &question.work;
                warnings.iter().chain(past_the_page_cache).cloned().collect()
            },
            experiment: text,
            commands: chosen.commands(&experiment, &Beside::default()),
        })
    }

    /// Measures cells of the same work in full, and asks the verdict.
    ///
    /// # Errors
    ///
    /// Where there are none or too many, they have no common experiment, or one cannot be run.
    pub fn judge(&self, cells: &[Cell]) -> Result<Judged> {
        if cells.is_empty() || cells.len() > JUDGED_MAX {
            return Err(Error::input(format!("keep 1 to {JUDGED_MAX} cells to judge them")));
        }
        let chosen: Vec<Chosen> =
            cells.iter().map(|cell| self.chosen(cell)).collect::<Result<_>>()?;
        let files: Vec<Table> = chosen.iter().map(Chosen::file).collect::<Result<_>>()?;
        let (file, varied) = common(&files)?;
        let origin = &chosen[0].question.work.origin;
        let all = Experiment::parse(origin, &file.to_string())?;
        let manifest = Run::plan(&all, &Sim)?.manifest().clone();
        let mut records = Vec::new();
        let mut did = Vec::new();
        for own in files.iter().map(flat) {
            let mut experiment = all.clone();
            for path in &varied {
                let value = &own[path];
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                experiment.set_values(path, &text)?;
            }
            let measured = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ())?.records();
            did.push(measured.iter().map(Did::of).collect());
            records.extend(measured);
        }
        let verdict = Verdict::new(&manifest, &records, &Wishes::default())?;
        let best = verdict.ranked.first().and_then(|best| {
            records.iter().position(|record| record.at == best.at).map(|at| at / all.groups().len())
        });
        let beside =
            best.map(|best| chosen[best].beside(&records)).transpose()?.unwrap_or_default();
        let mut text = format!("{}\n", verdict.answer);
        for point in &verdict.points {
            writeln!(text, "{}: {}", point.about, point.text).expect("a string grows");
        }
        for (about, line) in beside.lines() {
            writeln!(text, "{about}: {line}").expect("a string grows");
        }
        Ok(Judged {
            verdict: text,
            cells: did,
            experiment: file.to_string(),
            commands: best.map_or_else(String::new, |best| chosen[best].commands(&all, &beside)),
        })
    }

    /// The question that a cell is. Only what the page offers can be chosen: no other file is read.
    fn chosen(&self, cell: &Cell) -> Result<Chosen> {
        let is_known = catalogue::drive_names().contains(&cell.drive.as_str());
        if !is_known && !self.drives.contains(&cell.drive) {
            return Err(Error::input(format!("no drive `{}` is offered", cell.drive)));
        }
        let is_named = NAMED.iter().any(|(name, _)| *name == cell.work);
        if !is_named && !self.works.contains(&cell.work) {
            return Err(Error::input(format!("no work `{}` is offered", cell.work)));
        }
        let drive: Drive = catalogue::drive(&cell.drive)?;
        let price_usd = KnownDrive::from(&drive).price_usd;
        let drives = Drives::new(cell.count, drive)?;
        let mut work = Work::find(&cell.work, &drives)?;
        work.turn(&cell.knobs)?;
        let question = Question {
            spares: cell.spares,
            price_usd: cell.price_usd.or(price_usd),
            levels: vec![cell.level.clone()],
            ..Question::new(drives, work)
        };
        let level: Level = cell.level.parse().map_err(Error::input)?;
        let members = question.members();
        if members < level.members_min() {
            return Err(Error::input(format!(
                "{level} needs {} members and has {members}; take more drives",
                level.members_min()
            )));
        }
        let wanted = |candidate: &Candidate| {
            let chunk = if level.interleaved() { &cell.chunk } else { DEFAULT_CHUNK };
            let has_rows = level.has_stripe_cache() && question.writes();
            let rows = if has_rows { &cell.rows } else { DEFAULT_CACHE };
            candidate.chunk == chunk && candidate.cache == rows
        };
        let found = question.candidates()?.0.into_iter().find(wanted);
        let candidate = found.ok_or_else(|| {
            Error::input(format!(
                "no chunk `{}` with {} rows of stripe cache is offered",
                cell.chunk, cell.rows
            ))
        })?;
        Ok(Chosen { question, candidate })
    }
}

/// A cell, understood.
struct Chosen {
    question: Question,
    candidate: Candidate,
}

impl Chosen {
    /// The experiment that asks for this cell alone.
    fn file(&self) -> Result<Table> {
        let mut tables: Table = self.question.experiment_text()?.parse().map_err(Error::failure)?;
        // A cell has no wishes, and what it was asked by is nothing that cells vary.
        tables.remove("ask");
        for (path, value) in self.candidate.settings() {
            let value = value.parse::<i64>().map_or_else(|_| value.into(), Value::from);
            set(&mut tables, &path, value);
        }
        Ok(tables)
    }

    /// What is set beside it, of which `records` have the trial without.
    fn beside(&self, records: &[Record]) -> Result<Beside> {
        let Chosen { question, candidate } = self;
        let (watch, candidates) = (&mut |_| (), [candidate.clone()]);
        let mut tried = Tried::new(question, &candidates, &Sim, watch)?;
        tried.records = records.to_vec();
        let (_, inputs) = question.risk(&candidate.level)?;
        OfQuestion { tried: &tried, best: candidate }.beside(&inputs)
    }

    fn commands(&self, experiment: &Experiment, beside: &Beside) -> String {
        let plan = beside.plan(plan(&self.question, experiment, &self.candidate));
        printed(&plan.commands())
    }
}

impl Did {
    fn of(record: &Record) -> Self {
        let sample = |name: &str| record.sample(name);
        Did {
            workload: record.workload.clone(),
            mb_per_s: sample("mb_per_s"),
            requests_per_s: sample("requests_per_s"),
            latency_ms: ["latency_mean_ms", "latency_p50_ms", "latency_p99_ms"].map(sample),
            member_busy: record.member_busy.clone(),
            interval_percent: sample("interval_percent"),
            settled: sample("steady").is_none_or(|steady| steady > 0.0),
        }
    }
}

/// The keys of a file, by path.
fn flat(tables: &Table) -> BTreeMap<String, Value> {
    let mut keys = BTreeMap::new();
    for (name, value) in tables {
        match value {
            Value::Table(table) => {
                let below = flat(table).into_iter();
                keys.extend(below.map(|(path, value)| (format!("{name}.{path}"), value)));
            }
            _ => drop(keys.insert(name.clone(), value.clone())),
        }
    }
    keys
}

/// Sets the key at a path that is there.
fn set(tables: &mut Table, path: &str, to: Value) {
    match path.split_once('.') {
        Some((name, rest)) => {
            if let Some(table) = tables.get_mut(name).and_then(Value::as_table_mut) {
                set(table, rest, to);
            }
        }
        None => drop(tables.insert(path.into(), to)),
    }
}

/// The file in which all of these are cells, and the paths of what is varied in it.
fn common(files: &[Table]) -> Result<(Table, Vec<String>)> {
    let apart = "these are of different work; keep cells of one work, over drives of one class";
    let keys: Vec<BTreeMap<String, Value>> = files.iter().map(flat).collect();
    if keys.iter().any(|other| !other.keys().eq(keys[0].keys())) {
        return Err(Error::input(apart));
    }
    let mut all = files[0].clone();
    let mut varied = Vec::new();
    for path in keys[0].keys() {
        let mut values: Vec<Value> = Vec::new();
        for value in keys.iter().map(|keys| &keys[path]) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        if values.len() > 1 {
            if !path.contains('.') {
                return Err(Error::input(apart));
            }
            set(&mut all, path, Value::Array(values));
            varied.push(path.clone());
        }
    }
    Ok((all, varied))
}
