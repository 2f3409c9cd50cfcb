//! The model for tests, which simulates each trial once: searches in one program ask for many of them again. That a trial
//! is the same each time it is simulated is what `sim`'s tests are for, and the command's.

use hdrhistogram::Histogram;
use lab::capabilities::Capabilities;
use lab::experiment::Trial;
use lab::record::{Measured, decode_latencies, encode_latencies};
use lab::rig::{Prepared, Rig, sim};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// As `lab::rig::sim::Sim`.
pub(crate) struct Sim;

/// What a trial measured, and its latencies as they take little memory; nothing before it has.
type Place = Arc<Mutex<Option<(Measured, String)>>>;

/// What the trials of this program measured, by all that it can hang on.
static ALL: LazyLock<Mutex<BTreeMap<[u64; 2], Place>>> = LazyLock::new(Mutex::default);

/// Of all of a trial but its number, the name of its cell and which repeat it is: these say where its record goes.
fn key(trial: &Trial) -> [u64; 2] {
    let Trial { number: _, cell: _, repeat: _, seed, setup, work, beside, precision } = trial;
    let text = format!("{seed} {setup:?} {work:?} {beside:?} {precision}");
    [0_u8, 1].map(|first| {
        let mut hasher = DefaultHasher::new();
        (first, &text).hash(&mut hasher);
        hasher.finish()
    })
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rig for Sim {
    fn name(&self) -> &'static str {
        sim::Sim.name()
    }

    fn capabilities(&self) -> Capabilities {
        sim::Sim.capabilities()
    }

    fn admit(&self, trial: &Trial) -> lab::Result<()> {
        sim::Sim.admit(trial)
    }

    fn samples(&self, trial: &Trial) -> Vec<&'static str> {
        sim::Sim.samples(trial)
    }

    fn prepare<'a>(&'a self, trial: &'a Trial) -> lab::Result<Box<dyn Prepared + 'a>> {
        Ok(Box::new(Remembered(trial)))
    }
}

struct Remembered<'a>(&'a Trial);

impl Prepared for Remembered<'_> {
    fn measure(&mut self) -> lab::Result<Measured> {
        let place = Arc::clone(lock(&ALL).entry(key(self.0)).or_default());
        // Who asks for the same at the same time waits.
        let mut known = lock(&place);
        if let Some((measured, latencies)) = known.as_ref() {
            let latency_ns = decode_latencies(latencies)?;
            return Ok(Measured { latency_ns, ..measured.clone() });
        }
        let measured = lab::rig::run(&sim::Sim, self.0)?;
        let latencies = encode_latencies(&measured.latency_ns);
        let kept = Measured { latency_ns: Histogram::new(0).unwrap(), ..measured.clone() };
        *known = Some((kept, latencies));
        Ok(measured)
    }
}

/// A trial that is asked for again has the same record, and what differs in anything but its names has its own.
#[test]
fn what_is_remembered_is_what_the_model_measures() {
    let of = |rig: &dyn Rig, change: (&str, &str)| {
        let text = "run = { repeats = 1, seed = 1, precision = '5%' }\nhost.name = 'linux-6.1'\n\
                    volume.drives = '2xwd740gd'\nvolume.level = 'md-mirror'\n\
                    [workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 100\ndepth = 1\n";
        assert!(text.contains(change.0), "{change:?}");
        let text = text.replace(change.0, change.1);
        let experiment = lab::experiment::Experiment::parse("some.toml", &text).unwrap();
        let records = crate::search::trials::run_alone(&experiment, rig).unwrap();
        serde_json::to_value(&records).unwrap()
    };
    let as_it_is = ("depth = 1", "depth = 1");
    for change in [
        as_it_is,
        ("depth = 1", "depth = 2"),
        ("seed = 1", "seed = 2"),
        ("linux-6.1", "ideal"),
        ("md-mirror", "md-stripe"),
        ("2xwd740gd", "2xst18000nm000j"),
        ("count = 100", "runtime = '1s'"),
        ("'5%'", "'1%'"),
        as_it_is,
        ("depth = 1", "depth = 2"),
    ] {
        assert_eq!(of(&Sim, change), of(&sim::Sim, change), "{change:?}");
    }
}
