//! Drive models against measured traces: how far the service times of the model are from those of the drive.

pub use crate::demerit::{demerit_ns, distribution, mean_ns, noise_ns, rms_ns};

use serde::Serialize;
use store::played::{Played, Served};

type Nanos = u64;

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
    /// The whole trace, replayed several times with the gaps moved by up to half a revolution.
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
    /// The reads alone; `None` without reads.
    pub reads: Option<Part>,
    /// The writes alone; `None` without writes.
    pub writes: Option<Part>,
    /// The root mean square difference request by request, in ms.
    pub per_request_rms_ms: f64,
}

/// Some requests of a validation, in numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
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
}

impl Figures {
    fn part(&self) -> Option<Part> {
        let &Figures { requests, measured_mean_ms, modelled_mean_ms, demerit_ms } = self;
        self.demerit_percent().map(|demerit_percent| Part {
            requests,
            measured_mean_ms,
            modelled_mean_ms,
            demerit_ms,
            demerit_percent,
        })
    }

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
    /// `requests` beside what the model took for each of its requests.
    pub fn new(requests: &[Served], modelled_ns: &[Nanos]) -> Self {
        let figures = |wanted: &dyn Fn(&Served) -> bool| {
            let (measured, modelled) = times(requests, modelled_ns, wanted);
            Figures::new(&measured, &modelled)
        };
        let (measured, modelled) = times(requests, modelled_ns, &|_| true);
        Comparison {
            all: Figures::new(&measured, &modelled),
            reads: figures(&|served| !served.writes),
            writes: figures(&|served| served.writes),
            rms_ms: rms_ns(&measured, &modelled) / 1e6,
        }
    }
}

/// What the wanted requests took, measured and modelled.
fn times(
    requests: &[Served],
    modelled_ns: &[Nanos],
    wanted: &dyn Fn(&Served) -> bool,
) -> (Vec<Nanos>, Vec<Nanos>) {
    let both = requests.iter().zip(modelled_ns).filter(|(served, _)| wanted(served));
    both.map(|(served, &modelled)| (served.measured_ns, modelled)).unzip()
}

impl Validation {
    /// What a trace and its replays show.
    pub fn new(played: &Played) -> Self {
        let Played { trace, drive, requests, exact_ns: exact, moved_ns } = played;
        let (first, second) = requests.split_at(requests.len() / 2);
        let (exact_first, exact_second) = exact.split_at(first.len());
        let moved = moved_ns.iter().map(|moved| Comparison::new(requests, moved));
        let measured_ns: Vec<Nanos> = requests.iter().map(|served| served.measured_ns).collect();
        let whole = Comparison::new(requests, exact);
        let curve = |of, figures: Figures, wanted: &dyn Fn(&Served) -> bool| {
            let (measured, modelled) = times(requests, exact, wanted);
            let (measured_ns, modelled_ns) = (distribution(&measured), distribution(&modelled));
            (figures.requests > 0).then_some(Curve { of, figures, measured_ns, modelled_ns })
        };
        let curves = [
            curve("all requests", whole.all, &|_| true),
            curve("reads", whole.reads, &|served| !served.writes),
            curve("writes", whole.writes, &|served| served.writes),
        ];
        Validation {
            trace: trace.clone(),
            drive: drive.clone(),
            whole,
            halves: [Comparison::new(first, exact_first), Comparison::new(second, exact_second)],
            moved: moved.collect(),
            noise_ms: noise_ns(&measured_ns) / 1e6,
            curves: curves.into_iter().flatten().collect(),
        }
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
            reads: reads.part(),
            writes: writes.part(),
            per_request_rms_ms: *rms_ms,
        }
    }
}
