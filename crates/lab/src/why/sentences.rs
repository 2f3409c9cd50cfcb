//! What decided: for each workload which cell is best, and what holds the others up.
//!
//! Where the time of a request was taken apart, it is told by its parts. Where it was not, as with
//! programs on a file system, it is told by what was busy. Where neither is known there is no reason to
//! give, and nothing is said.

use super::{CellSummary, workloads};
use crate::quantity::{Better, Quantity};
use crate::record::PART_SAMPLES;
use crate::report::text::{figure, judged_by};
use crate::stats::noise::Noise;
use crate::store::Manifest;

/// The sentences, those of the first workload first.
pub fn sentences(manifest: &Manifest, cells: &[CellSummary<'_>]) -> Vec<String> {
    let of = |workload| Judged::new(manifest, workload, cells);
    workloads(cells).into_iter().filter_map(of).flat_map(|judged| judged.sentences()).collect()
}

/// The cells of a workload, the best first, by what the workload is judged by.
struct Judged<'a> {
    workload: &'a str,
    sample: &'a str,
    quantity: Quantity,
    ranked: Vec<&'a CellSummary<'a>>,
    noise: Noise,
}

impl<'a> Judged<'a> {
    /// `None` where there is nothing to compare, or no reason to give.
    fn new(
        manifest: &'a Manifest,
        workload: &'a str,
        cells: &'a [CellSummary<'a>],
    ) -> Option<Self> {
        let mut ranked: Vec<&CellSummary<'_>> =
            cells.iter().filter(|cell| cell.workload == workload).collect();
        let (sample, quantity) = judged_by(manifest, workload, &ranked)?;
        let value = |cell: &CellSummary<'_>| cell.median(sample);
        let told = |cell: &&CellSummary<'_>| {
            value(cell) > 0.0 && (request_ms(cell) > 0.0 || Load::of(cell).is_some())
        };
        if ranked.len() < 2 || !ranked.iter().all(told) {
            return None;
        }
        ranked.sort_by(|a, b| quantity.better.ahead(value(b), value(a)).total_cmp(&0.0));
        let samples: Vec<Vec<f64>> = ranked.iter().map(|cell| cell.samples(sample)).collect();
        let mut noise = Noise::of(&samples, None, manifest.model_error());
        let repeats = |cell: &CellSummary<'_>| {
            let mut repeats: Vec<u64> = cell.records.iter().map(|record| record.repeat).collect();
            repeats.sort_unstable();
            repeats
        };
        // Modelled trials of the same repeat have the same seed.
        if manifest.modelled() && ranked.windows(2).all(|pair| repeats(pair[0]) == repeats(pair[1])) {
            noise = noise.in_pairs(&samples);
        }
        Some(Judged { workload, sample, quantity, ranked, noise })
    }

    /// What is best, and why not the others.
    fn sentences(&self) -> Vec<String> {
        let (best, others) = self.ranked.split_first().expect("there are two cells or more");
        let is_tie = |other: &&&CellSummary<'_>| {
            let (best, other) = (best.samples(self.sample), other.samples(self.sample));
            self.noise.difference(self.quantity.better, &best, &other).is_tie()
        };
        let (equal, behind): (Vec<_>, Vec<_>) = others.iter().partition(is_tie);
        let workload = self.workload;
        let Some(next) = behind.first() else {
            let last = others.last().expect("there are two cells or more");
            return vec![format!(
                "{workload}: no difference you could rely on between its {} cells, from {} to {}.",
                self.ranked.len(),
                figure(self.value(best)),
                self.amount(last),
            )];
        };
        let mut sentences = vec![format!(
            "{workload}: {} is best at {}{}, {} than {} at {}. {}",
            best.label(),
            self.amount(best),
            beside(&equal),
            self.by_how_much(best, next),
            next.label(),
            figure(self.value(next)),
            because(best, next),
        )];
        if let Some(last) = behind.last().filter(|last| last.at != next.at) {
            let alike = |cell: &&&&CellSummary<'_>| {
                (self.value(cell) / self.value(last) - 1.0).abs() < 0.001
            };
            let same: Vec<String> = behind.iter().filter(alike).map(|cell| cell.label()).collect();
            let comes = if same.len() == 1 { "comes" } else { "come" };
            sentences.push(format!(
                "{workload}: {} {comes} last at {}. {}",
                same.join(" and "),
                self.amount(last),
                because(best, last),
            ));
        }
        sentences
    }

    fn value(&self, cell: &CellSummary<'_>) -> f64 {
        cell.median(self.sample)
    }

    fn amount(&self, cell: &CellSummary<'_>) -> String {
        format!("{} {}", figure(self.value(cell)), self.quantity.unit).trim_end().to_string()
    }

    /// `12 % more`, of rates; `75 % less`, of times.
    fn by_how_much(&self, best: &CellSummary<'_>, next: &CellSummary<'_>) -> String {
        let (best, next) = (self.value(best), self.value(next));
        match self.quantity.better {
            Better::Higher => format!("{} more", percent(best / next - 1.0)),
            Better::Lower => format!("{} less", percent(1.0 - best / next)),
        }
    }
}

/// The cells that are as good as the best, in a parenthesis.
fn beside(equal: &[&&CellSummary<'_>]) -> String {
    let labels: Vec<String> = equal.iter().map(|cell| cell.label()).collect();
    match labels.len() {
        0 => String::new(),
        1 => format!(" (and {}, which makes no difference you could rely on)", labels[0]),
        _ => format!(" (and {}, which make no difference you could rely on)", labels.join("; ")),
    }
}

/// What the worse of two cells does otherwise.
fn because(best: &CellSummary<'_>, other: &CellSummary<'_>) -> String {
    if request_ms(best) > 0.0 && request_ms(other) > 0.0 {
        return because_of_requests(best, other);
    }
    let of = |cell| Some((Load::of(cell)?, commands(cell)));
    let (Some((best_load, best_commands)), Some((other_load, other_commands))) =
        (of(best), of(other))
    else {
        return String::new();
    };
    format!(
        "With {} {best_commands} reach the members, and {}; with {} {other_commands}, and {}.",
        best.label(),
        best_load.words(),
        other.label(),
        other_load.words()
    )
}

/// The same where requests were timed: members busy, commands, and where the time of a request went.
fn because_of_requests(best: &CellSummary<'_>, other: &CellSummary<'_>) -> String {
    let does = |cell: &CellSummary<'_>| {
        let commands = cell.median("commands_per_request");
        format!(
            "{} has {:.2} of {} members busy and {} a request",
            cell.label(),
            cell.median("members_busy"),
            cell.records.first().map_or(0, |record| record.member_busy.len()),
            if commands.fract() < 0.05 { counted(commands, 0) } else { counted(commands, 1) }
        )
    };
    let (best_ms, other_ms) = (request_ms(best), request_ms(other));
    // Where a request takes next to nothing, ms would all be 0.00.
    let (scale, unit) = if other_ms < 0.1 { (1000.0, "µs") } else { (1.0, "ms") };
    let mut differences: Vec<(f64, &str)> = PART_SAMPLES
        .iter()
        .copied()
        .chain(["program_ms"])
        .filter_map(|part| {
            Some((other.measured(part)? - best.measured(part)?, part.trim_end_matches("_ms")))
        })
        .collect();
    differences.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let named: Vec<String> = differences
        .iter()
        .take(3)
        .filter(|(ms, _)| ms.abs() > 0.02 * (other_ms - best_ms).abs())
        .map(|(ms, part)| format!("{} {:+.2}", part_words(part), scale * ms))
        .collect();
    let parts =
        if named.is_empty() { String::new() } else { format!(": {} {unit}", named.join(", ")) };
    format!(
        "{}, {}; there a request takes {:.2} {unit} rather than {:.2}{parts}.",
        does(best),
        does(other),
        scale * other_ms,
        scale * best_ms
    )
}

/// Time a request took, what the program did between requests counted; 0 where none was timed.
fn request_ms(cell: &CellSummary<'_>) -> f64 {
    cell.median("latency_mean_ms") + cell.median("program_ms")
}

/// The requests that the members got.
fn commands(cell: &CellSummary<'_>) -> String {
    let counts: Vec<f64> = cell.records.iter().map(|record| record.requests as f64).collect();
    counted(crate::stats::median(&counts).unwrap_or(0.0), 0)
}

fn counted(commands: f64, digits: usize) -> String {
    let number = format!("{commands:.digits$}");
    if number == "1" { "1 command".into() } else { format!("{number} commands") }
}

fn part_words(part: &str) -> &str {
    match part {
        "cpu" => "the host's processor",
        "overhead" => "the drives' controllers",
        "head_switch" => "head switches",
        "bus" => "the bus",
        "cache" => "waiting for a drive's buffer",
        "program" => "the program itself",
        other => other,
    }
}

/// What is busy for less than this share of the time does not alone decide how long it takes.
const DECIDES: f64 = 0.8;
/// Members whose shares lie within this of the busiest one's are as busy.
const ALIKE: f64 = 0.05;

/// How busy the processor and the members were, as shares of the time.
struct Load {
    processor: Option<f64>,
    members: Vec<f64>,
}

impl Load {
    /// `None` where nothing is known of the members.
    fn of(cell: &CellSummary<'_>) -> Option<Self> {
        let count = cell.records.first()?.member_busy.len();
        let member = |index: usize| {
            let shares: Vec<f64> =
                cell.records.iter().filter_map(|r| r.member_busy.get(index).copied()).collect();
            crate::stats::median(&shares)
        };
        let members: Vec<f64> = (0..count).filter_map(member).collect();
        let processor = cell.measured("cpu_busy");
        (!members.is_empty()).then_some(Load { processor, members })
    }

    /// What decides: whatever is busy nearly all the time.
    fn words(&self) -> String {
        let busiest = self.members.iter().copied().fold(0.0, f64::max);
        let processor = self.processor.unwrap_or(0.0);
        let beside = self.processor.map_or_else(String::new, |share| {
            format!("; the processor is for {}", whole_percent(share))
        });
        let one = self.members.len() == 1;
        let busy = whole_percent(busiest);
        if processor >= DECIDES && processor >= busiest {
            let members = if one { "the disk is for" } else { "each member is for at most" };
            return format!(
                "the processor decides: it is busy for {} of the time, {members} {busy}",
                whole_percent(processor)
            );
        }
        if busiest < DECIDES {
            let members = if one { "the disk is busy for" } else { "each member is busy for at most" };
            return format!("nothing is busy all the time: {members} {busy} of it{beside}");
        }
        let idler = self.members.iter().filter(|share| **share < busiest - ALIKE).count();
        match self.members.iter().position(|share| share.total_cmp(&busiest).is_eq()) {
            Some(member) if !one && idler > 0 => {
                format!("member {member} decides: it is busy for {busy} of the time{beside}")
            }
            _ if one => format!("the disk decides: it is busy for {busy} of the time{beside}"),
            _ => format!("the members decide: each is busy for about {busy} of the time{beside}"),
        }
    }
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}
