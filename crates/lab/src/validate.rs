//! Drive models against measured traces.
//!
//! A folder holds traces, `NAME.trace`, and a `drives.toml` that says which drive each is of:
//!
//! ```toml
//! cheetah9LP = "Seagate ST39102LW Cheetah 9LP"   # a catalogue name
//! mine = "mine.toml"                             # or a file beside it, in the same format
//! ```
//!
//! Each trace is played to the model of its drive, and the distributions of service times are held
//! against each other: over the whole trace, and over its halves. What was adjusted in a drive's file
//! was adjusted on the first half, so that the second is a prediction.

mod demerit;
mod replay;
mod trace;

pub use demerit::{demerit_ns, distribution, mean_ns, noise_ns, rms_ns};
pub use replay::replay;
pub use trace::{Measured, read as read_trace};

use crate::catalogue::{self, Drive};
use crate::error::{Error, Result};
use serde::Serialize;
use sim::Nanos;
use std::path::Path;

/// Replays with the gaps moved, beside the exact one.
const MOVED: u64 = 6;

/// A trace beside its model.
#[derive(Clone, Debug)]
pub struct Validation {
    /// The trace.
    pub trace: String,
    /// The drive.
    pub drive: String,
    /// The whole trace, played exactly.
    pub whole: Comparison,
    /// Its first and its second half.
    pub halves: [Comparison; 2],
    /// The whole trace, played with the gaps moved by up to half a turn, so many times.
    pub moved: Vec<Comparison>,
    /// What chance alone gives for the demerit figure, in ms.
    pub noise_ms: f64,
    /// The distributions of all requests, of the reads and of the writes, as far as there are any.
    pub curves: Vec<Curve>,
}

/// Two cumulative distributions of service times.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Of which requests.
    pub of: &'static str,
    /// Their figures.
    pub figures: Figures,
    /// What was measured, in ascending order, in ns.
    pub measured_ns: Vec<Nanos>,
    /// What the model took.
    pub modelled_ns: Vec<Nanos>,
}

/// Some requests of a trace: measured, and modelled.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// All of them.
    pub all: Figures,
    /// The reads.
    pub reads: Figures,
    /// The writes.
    pub writes: Figures,
    /// The root mean square difference request by request, in ms.
    pub rms_ms: f64,
}

/// Two sets of service times.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// How many requests.
    pub requests: usize,
    /// What they took on average, in ms.
    pub measured_mean_ms: f64,
    /// What the model took on average, in ms.
    pub modelled_mean_ms: f64,
    /// The demerit figure, in ms.
    pub demerit_ms: f64,
}

/// A validation as one line of numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The trace.
    pub trace: String,
    /// The drive.
    pub drive: String,
    /// How many requests.
    pub requests: usize,
    /// What they took on average, in ms.
    pub measured_mean_ms: f64,
    /// What the model took on average, in ms.
    pub modelled_mean_ms: f64,
    /// The demerit figure, in ms.
    pub demerit_ms: f64,
    /// As a share of the measured mean.
    pub demerit_percent: f64,
    /// That of the reads, as a share of their mean; `None` without reads.
    pub read_demerit_percent: Option<f64>,
    /// That of the writes, as a share of their mean; `None` without writes.
    pub write_demerit_percent: Option<f64>,
    /// The root mean square difference request by request, in ms.
    pub per_request_rms_ms: f64,
}

impl Figures {
    fn new(measured_ns: &[Nanos], modelled_ns: &[Nanos]) -> Self {
        Figures {
            requests: measured_ns.len(),
            measured_mean_ms: mean_ns(measured_ns) / 1e6,
            modelled_mean_ms: mean_ns(modelled_ns) / 1e6,
            demerit_ms: demerit_ns(measured_ns, modelled_ns) / 1e6,
        }
    }

    /// The demerit figure as a share of the measured mean; `None` where there is nothing to compare.
    pub fn demerit_percent(&self) -> Option<f64> {
        (self.measured_mean_ms > 0.0).then(|| 100.0 * self.demerit_ms / self.measured_mean_ms)
    }
}

impl Comparison {
    /// `trace` beside what the model took for each of its requests.
    pub fn new(trace: &[Measured], modelled_ns: &[Nanos]) -> Self {
        let figures = |wanted: &dyn Fn(&Measured) -> bool| {
            let (measured, modelled) = times(trace, modelled_ns, wanted);
            Figures::new(&measured, &modelled)
        };
        let (measured, modelled) = times(trace, modelled_ns, &|_| true);
        Comparison {
            all: Figures::new(&measured, &modelled),
            reads: figures(&|measured| !measured.writes()),
            writes: figures(&Measured::writes),
            rms_ms: rms_ns(&measured, &modelled) / 1e6,
        }
    }
}

/// What the wanted requests took, measured and modelled.
fn times(
    trace: &[Measured],
    modelled_ns: &[Nanos],
    wanted: &dyn Fn(&Measured) -> bool,
) -> (Vec<Nanos>, Vec<Nanos>) {
    let both = trace.iter().zip(modelled_ns).filter(|(measured, _)| wanted(measured));
    both.map(|(measured, &modelled)| (measured.service_ns, modelled)).unzip()
}

impl Validation {
    /// Plays `trace`, called `name`, to the model of `drive`.
    ///
    /// # Errors
    ///
    /// Where the trace goes beyond the drive.
    pub fn new(name: &str, trace: &[Measured], drive: &Drive) -> Result<Self> {
        let title = &drive.title;
        let spec = drive.spec()?;
        let sectors = spec.platters.sectors;
        if let Some(far) = trace.iter().position(|measured| measured.request.end() > sectors) {
            let end = trace[far].request.end();
            return Err(Error::input(format!(
                "{name}: request {} goes up to sector {}, but {title} has {sectors} sectors; \
                 is it another drive?",
                far + 1,
                end - 1
            )));
        }
        let bus = drive.measured_bus_bytes_per_s().unwrap_or(spec.controller.interface_bytes_per_s);
        let play = |seed| {
            replay(&spec, bus, trace, seed).map_err(|error| Error::input(error).context(title))
        };
        let exact = play(None)?;
        let (first, second) = trace.split_at(trace.len() / 2);
        let (exact_first, exact_second) = exact.split_at(first.len());
        let moved = (1..=MOVED).map(|seed| Ok(Comparison::new(trace, &play(Some(seed))?)));
        let measured_ns: Vec<Nanos> = trace.iter().map(|measured| measured.service_ns).collect();
        let whole = Comparison::new(trace, &exact);
        let curve = |of, figures: Figures, wanted: &dyn Fn(&Measured) -> bool| {
            let (measured, modelled) = times(trace, &exact, wanted);
            let (measured_ns, modelled_ns) = (distribution(&measured), distribution(&modelled));
            (figures.requests > 0).then_some(Curve { of, figures, measured_ns, modelled_ns })
        };
        let curves = [
            curve("all requests", whole.all, &|_| true),
            curve("reads", whole.reads, &|measured| !measured.writes()),
            curve("writes", whole.writes, &Measured::writes),
        ];
        Ok(Validation {
            trace: name.into(),
            drive: title.clone(),
            whole,
            halves: [Comparison::new(first, exact_first), Comparison::new(second, exact_second)],
            moved: moved.collect::<Result<_>>()?,
            noise_ms: noise_ns(&measured_ns) / 1e6,
            curves: curves.into_iter().flatten().collect(),
        })
    }

    /// The demerit figure over the replays with moved gaps: mean, least and most, in ms.
    pub fn moved_demerit_ms(&self) -> (f64, f64, f64) {
        let figures = self.moved.iter().map(|moved| moved.all.demerit_ms);
        let mean = figures.clone().sum::<f64>() / self.moved.len() as f64;
        (mean, figures.clone().fold(f64::MAX, f64::min), figures.fold(0.0, f64::max))
    }

    /// The exact replay as one line of numbers.
    pub fn row(&self) -> Row {
        let Comparison { all, reads, writes, rms_ms } = &self.whole;
        Row {
            trace: self.trace.clone(),
            drive: self.drive.clone(),
            requests: all.requests,
            measured_mean_ms: all.measured_mean_ms,
            modelled_mean_ms: all.modelled_mean_ms,
            demerit_ms: all.demerit_ms,
            demerit_percent: all.demerit_percent().unwrap_or(0.0),
            read_demerit_percent: reads.demerit_percent(),
            write_demerit_percent: writes.demerit_percent(),
            per_request_rms_ms: *rms_ms,
        }
    }
}

/// Validates every trace in `folder`, in the order of their names. Drives are looked for in the JSON
/// file `measured_drives` first, if there is one; else in the catalogue, or beside the traces.
///
/// # Errors
///
/// Where the folder, its `drives.toml`, a trace or a drive cannot be read, or `measured_drives` holds
/// none of the drives.
pub fn validate(folder: &Path, measured_drives: Option<&Path>) -> Result<Vec<Validation>> {
    let named = drives_of(folder)?;
    let imported = match measured_drives {
        Some(path) => import(path, &named)?,
        None => vec![],
    };
    let mut validations = vec![];
    for (name, drive_name) in named {
        let path = folder.join(format!("{name}.trace"));
        let trace = read_trace(&path.display().to_string(), &read_file(&path)?)?;
        let drive = find_drive(folder, &drive_name, &imported)
            .map_err(|error| error.context(format!("the drive of the trace {name}")))?;
        validations.push(Validation::new(&name, &trace, &drive)?);
    }
    Ok(validations)
}

/// The drives in the JSON file at `path`; `named` are the traces with their drives.
fn import(path: &Path, named: &[(String, String)]) -> Result<Vec<Drive>> {
    let at_path = |error: Error| error.context(path.display());
    let imported = catalogue::import(&read_file(path)?)
        .map_err(at_path)?
        .iter()
        .map(|(name, text)| catalogue::drive_from(name, text))
        .collect::<Result<Vec<Drive>>>()?;
    if named.iter().any(|(_, drive)| imported.iter().any(|it| is_called(it, drive))) {
        return Ok(imported);
    }
    let wanted: Vec<&str> = named.iter().map(|(_, drive)| drive.as_str()).collect();
    let held: Vec<&str> = imported.iter().map(|drive| drive.title.as_str()).collect();
    Err(at_path(Error::input(format!(
        "holds {}, and none of the drives of the traces: {}; give one of both the other's name",
        if held.is_empty() { "no drive".into() } else { held.join(", ") },
        wanted.join(", ")
    ))))
}

/// Whether `drive`, from a file of measured drives, is the one meant by `name`: its title or its model.
fn is_called(drive: &Drive, name: &str) -> bool {
    let model = drive.name.trim_end_matches(".toml");
    drive.title.eq_ignore_ascii_case(name) || model.eq_ignore_ascii_case(name)
}

fn read_file(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| Error::input(format!("cannot read {}: {error}", path.display())))
}

/// Each trace and the name of its drive, in order.
fn drives_of(folder: &Path) -> Result<Vec<(String, String)>> {
    let path = folder.join("drives.toml");
    let label = path.display();
    let example = r#"write a line such as `my-disk = "st39102lw"`"#;
    let text = read_file(&path).map_err(|error| {
        error.followed_by(format!("it says of which drive each trace is: {example}"))
    })?;
    let table: toml::Table =
        toml::from_str(&text).map_err(|error| Error::input(format!("{label}: {error}")))?;
    let mut named = vec![];
    for (trace, drive) in table {
        let Some(drive) = drive.as_str() else {
            return Err(Error::input(format!("{label}: `{trace}` names no drive; {example}")));
        };
        named.push((trace, drive.to_string()));
    }
    named.sort();
    if named.is_empty() {
        return Err(Error::input(format!("{label} names no trace; {example}")));
    }
    for entry in std::fs::read_dir(folder).map_err(Error::failure)? {
        let file = entry.map_err(Error::failure)?.file_name();
        let file = file.to_string_lossy();
        if let Some(trace) = file.strip_suffix(".trace")
            && named.iter().all(|(name, _)| name != trace)
        {
            return Err(Error::input(format!(
                "{label} does not say whose trace {file} is; {example}"
            )));
        }
    }
    Ok(named)
}

fn find_drive(folder: &Path, name: &str, imported: &[Drive]) -> Result<Drive> {
    if let Some(drive) = imported.iter().find(|drive| is_called(drive, name)) {
        return Ok(drive.clone());
    }
    let beside = folder.join(name);
    if beside.is_file() {
        return catalogue::drive(&beside.display().to_string());
    }
    catalogue::drive(name)
}
