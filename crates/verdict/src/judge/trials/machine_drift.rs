//! Whether the machine stayed as it was while trials ran: by its calibrations, by what others did on its disks, by what
//! members told of themselves.

use crate::judge::answer::{Point, point};
use crate::judge::{Ranked, Standing};
use crate::stats::median;
use crate::tables::{figure, percent};
use store::record::Record;
use store::{Happened, Manifest};

/// Fewer calibrations show no drift.
const CALIBRATIONS_MIN: usize = 3;

/// How far the calibrations drifted, as a share: between the medians of their thirds, so that one that met something is
/// not taken for drift. None of too few.
pub fn drift(took_s: &[f64]) -> Option<f64> {
    if took_s.len() < CALIBRATIONS_MIN || took_s.iter().any(|took| *took <= 0.0) {
        return None;
    }
    let at = |third: usize| third * took_s.len() / 3;
    let middles: Vec<f64> =
        (0..3).filter_map(|third| median(&took_s[at(third)..at(third + 1)])).collect();
    let (least, most) =
        middles.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &m| (a.min(m), b.max(m)));
    Some(most / least - 1.0)
}

/// What is said of drift; a warning where it is larger than the smallest difference that the ranking relies on.
pub(crate) fn told(ranked: &[Ranked], happened: &Happened) -> Option<Point> {
    let took_s: Vec<f64> = happened.calibrations.iter().map(|done| done.took_s).collect();
    let drift = drift(&took_s)?;
    let behind = ranked.iter().filter(|other| other.standing == Standing::Behind);
    let least = behind.map(|other| other.behind - 1.0).reduce(f64::min);
    let next = match least.filter(|least| drift > *least) {
        Some(least) => format!(
            ": more than the {} between the best and the next; trials came in random order, but repeat them on a quiet \
             machine",
            percent(least)
        ),
        None => String::new(),
    };
    let (count, apart) = (took_s.len(), percent(drift));
    let text = format!(
        "a fixed job between trials took up to {apart} longer or shorter ({count} runs){next}"
    );
    Some(point("drift", text))
}

/// Of this share of what members moved, what others moved is considerable; and so much, in MB.
const OTHERS_SHARE: f64 = 0.1;
const OTHERS_MIN_MB: f64 = 10.0;

/// Whether others moved much on this machine's disks meanwhile.
pub(crate) fn others(records: &[Record]) -> Option<Point> {
    let much = |record: &Record| {
        let moved = |name: &str| record.sample(name).unwrap_or(0.0);
        let own = moved("members_read_mb") + moved("members_written_mb");
        let others = record.sample("others_mb")?;
        (others > OTHERS_MIN_MB && others > own * OTHERS_SHARE).then_some(others)
    };
    let disturbed: Vec<f64> = records.iter().filter_map(much).collect();
    let most = disturbed.iter().copied().reduce(f64::max)?;
    let (trials, of) = (disturbed.len(), records.len());
    let text = format!(
        "during {trials} of {of} trials other programs moved up to {} MB on this machine's disks; stop them and run again",
        figure(most)
    );
    Some(point("disturbed", text))
}

/// Of more than this share of what was read from memory, in percent, a figure is no disk's.
const MEMORY_MIN_PERCENT: f64 = 10.0;

/// Whether some of what was to be read from real members came from memory.
pub(crate) fn from_memory(records: &[Record]) -> Option<Point> {
    let percent = |record: &Record| record.sample("from_memory_percent");
    let cached: Vec<f64> =
        records.iter().filter_map(percent).filter(|share| *share > MEMORY_MIN_PERCENT).collect();
    let most = cached.iter().copied().reduce(f64::max)?;
    let text = format!(
        "in {} of {} trials up to {} % of what was read came from memory, not from the members: this is not the disks' speed",
        cached.len(),
        records.len(),
        figure(most)
    );
    Some(point("memory", text))
}

/// A rate that still changed by more than this, in percent, had not settled.
const UNSETTLED_PERCENT: f64 = 10.0;

/// The state that real members were brought into.
pub(crate) fn state(manifest: &Manifest, happened: &Happened) -> Option<Point> {
    let state = manifest.machine.get("state")?;
    let told = happened.calibrations.iter().flat_map(|done| &done.told);
    let changes = told.filter(|(name, _)| name.rsplit('.').next() == Some(store::UNSETTLED));
    let most = changes.filter_map(|(_, figure)| figure.parse::<f64>().ok()).reduce(f64::max);
    let text = match (state.as_str(), most) {
        ("fresh", _) => "the members are discarded in full before each trial (fresh)".to_string(),
        (_, Some(most)) if most > UNSETTLED_PERCENT => format!(
            "the members were filled before the first trial ({state}), but their rate still changed by {} % at the end: \
             they may not have been steady",
            figure(most)
        ),
        _ => format!(
            "the members were filled before the first trial until their rate was steady ({state})"
        ),
    };
    Some(point("state", text))
}

/// How warm and how worn members were.
pub(crate) fn health(happened: &Happened) -> Option<Point> {
    let told = |name: &str| {
        let all = happened.calibrations.iter().flat_map(|done| &done.told);
        let own = all.filter(|(path, _)| path.rsplit('.').next() == Some(name));
        let figures: Vec<f64> = own.filter_map(|(_, figure)| figure.parse().ok()).collect();
        let least = figures.iter().copied().reduce(f64::min)?;
        let most = figures.iter().copied().reduce(f64::max)?;
        Some(if least < most { format!("{least} to {most}") } else { format!("{most}") })
    };
    let [temperature, wear, _] = store::OF_THE_MOMENT;
    let parts = [
        told(temperature).map(|range| format!("{range} °C")),
        told(wear).map(|range| format!("{range} % worn")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| point("members", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::Calibration;

    fn happened(took_s: &[f64]) -> Happened {
        let done = |&took_s: &f64| Calibration {
            took_s,
            told: [("member0.temperature_c".to_string(), (took_s * 40.0).to_string())].into(),
        };
        Happened { calibrations: took_s.iter().map(done).collect(), ..Happened::default() }
    }

    #[test]
    fn drift_is_between_the_thirds_and_one_that_met_something_is_none() {
        assert_eq!(drift(&[1.0, 1.0]), None);
        let grows = drift(&[1.0, 1.0, 1.1, 1.1, 1.2, 1.2]).unwrap();
        assert!((grows - 0.2).abs() < 1e-9, "{grows}");
        let once = drift(&[1.0, 1.0, 1.0, 5.0, 1.0, 1.0, 1.0, 1.0, 1.0]).unwrap();
        assert!(once.abs() < 1e-9, "{once}");
        // And back again.
        assert!(drift(&[1.0, 2.0, 1.0]).unwrap() > 0.9);
    }

    #[test]
    fn what_came_from_memory_is_said() {
        let of = |percent: &[f64]| {
            let record = |(trial, percent): (usize, &f64)| Record {
                trial,
                at: serde_json::Map::new(),
                workload: "read".into(),
                repeat: trial as u64,
                samples: store::named::NamedSamples::from_iter([("from_memory_percent", *percent)]),
                member_busy: Vec::new(),
                requests: 0,
                latency_hdr: String::new(),
                series: None,
                commands: Vec::new(),
                curve: Vec::new(),
                window: None,
                note: String::new(),
            };
            from_memory(&percent.iter().enumerate().map(record).collect::<Vec<_>>())
        };
        assert_eq!(of(&[0.0, 3.0]), None);
        let said = of(&[0.0, 97.5, 40.0]).unwrap();
        assert!(said.text.contains("in 2 of 3 trials up to 97.5 %"), "{said:?}");
    }

    #[test]
    fn drift_and_warmth_are_said() {
        let happened = happened(&[1.0, 1.0, 1.25]);
        let said = told(&[], &happened).unwrap();
        assert_eq!(said.about, "drift");
        assert!(said.text.contains("25 %") && said.text.contains("(3 runs)"), "{said:?}");
        assert_eq!(health(&happened).unwrap().text, "40 to 50 °C");
        assert_eq!(health(&Happened::default()), None);
    }
}
