//! What decided: for each workload which cell is best, and what holds the others up.
//!
//! Where the time of a request was taken apart, it is told by its parts. Where it was not, as with
//! programs on a file system, it is told by what was busy. Where neither is known there is no reason to
//! give, and nothing is said.

use super::judged_by;
use super::{CellSummary, workloads};
use crate::stats::noise::Noise;
use crate::tables::{figure, percent};
use store::Manifest;
use store::quantity::{Better, Quantity};
use store::record::PART_SAMPLES;

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
        if ranked.len() < 2 || quantity.better == Better::Neither || !ranked.iter().all(told) {
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
        if manifest.modelled() && ranked.windows(2).all(|pair| repeats(pair[0]) == repeats(pair[1]))
        {
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
            "{workload}: {} is best at {}{}, {} than {} at {}{}",
            best.label(),
            self.amount(best),
            beside(&equal),
            self.by_how_much(best, next),
            next.label(),
            figure(self.value(next)),
            because(best, next, true),
        )];
        if let Some(last) = behind.last().filter(|last| last.at != next.at) {
            let alike = |cell: &&&&CellSummary<'_>| {
                (self.value(cell) / self.value(last) - 1.0).abs() < 0.001
            };
            let same: Vec<String> = behind.iter().filter(alike).map(|cell| cell.label()).collect();
            let comes = if same.len() == 1 { "comes" } else { "come" };
            sentences.push(format!(
                "{workload}: {} {comes} last at {}{}",
                some(&same, " and "),
                self.amount(last),
                because(best, last, false),
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
            Better::Lower | Better::Neither => format!("{} less", percent(1.0 - best / next)),
        }
    }
}

/// The cells that are as good as the best, in a parenthesis.
fn beside(equal: &[&&CellSummary<'_>]) -> String {
    let labels: Vec<String> = equal.iter().map(|cell| cell.label()).collect();
    match labels.len() {
        0 => String::new(),
        1 => format!(" (and {}, which makes no difference you could rely on)", labels[0]),
        _ => format!(" (and {}, which make no difference you could rely on)", some(&labels, "; ")),
    }
}

/// As many as are worth reading, and how many more there are.
fn some(labels: &[String], between: &str) -> String {
    const NAMED: usize = 3;
    if labels.len() <= NAMED + 1 {
        return labels.join(between);
    }
    let (named, others) = labels.split_at(NAMED);
    format!("{} and {} others", named.join(between), others.len())
}

/// What the worse of two cells does otherwise, behind a colon; what the best does is said where `both`.
fn because(best: &CellSummary<'_>, other: &CellSummary<'_>, both: bool) -> String {
    if request_ms(best) > 0.0 && request_ms(other) > 0.0 {
        let best_does = if both { format!("{}, ", does(best)) } else { String::new() };
        return format!(": {best_does}{}; {}.", does(other), longer(best, other));
    }
    let sends = |cell: &CellSummary<'_>| {
        if let Some(told) = does_program(cell) {
            return Some(format!("{} {told}", cell.label()));
        }
        let (label, commands) = (cell.label(), commands(cell));
        Some(format!("{label} sends {commands} to its members, and {}", Load::of(cell)?.words()))
    };
    let told = if both { vec![sends(best), sends(other)] } else { vec![sends(other)] };
    match told.into_iter().collect::<Option<Vec<String>>>() {
        Some(told) => format!(": {}.", told.join("; ")),
        None => ".".into(),
    }
}

/// What a program does that has a reason of its own to tell.
fn does_program(cell: &CellSummary<'_>) -> Option<String> {
    if let Some(inode_mib) = cell.measured("fsck_inode_mib") {
        let busy = cell.median("fsck_cpu_s") / cell.median("fsck_s");
        return Some(format!(
            "has {} MiB of inodes read, and takes {} in all (phase 1 takes {} s, phase 2 {} s and phase 5 {} \
             s; the processor is busy {})",
            figure(inode_mib),
            counted_as(cell.median("fsck_reads"), 0, "read"),
            figure(cell.median("fsck_phase_1_s")),
            figure(cell.median("fsck_phase_2_s")),
            figure(cell.median("fsck_phase_5_s")),
            whole_percent(busy),
        ));
    }
    let busy = cell.measured("rewrite_mb_per_s").and(cell.measured("write_cpu"))? / 100.0;
    Some(if busy >= DECIDES {
        format!("is copied while it is written (the processor is busy {})", whole_percent(busy))
    } else {
        format!(
            "waits for the disk while it is written (the processor is busy {})",
            whole_percent(busy)
        )
    })
}

fn does(cell: &CellSummary<'_>) -> String {
    let commands = cell.median("commands_per_request");
    format!(
        "{} has {:.2} of {} members busy and {} a request",
        cell.label(),
        cell.median("members_busy"),
        cell.records.first().map_or(0, |record| record.member_busy.len()),
        counted(commands, usize::from(commands.fract() >= 0.05))
    )
}

/// By how much a request takes longer, and in which parts, where these are known.
fn longer(best: &CellSummary<'_>, other: &CellSummary<'_>) -> String {
    let (best_ms, other_ms) = (request_ms(best), request_ms(other));
    // Where a request takes next to nothing, ms would all be 0.00.
    let (scale, unit) = if other_ms < 0.1 { (1000.0, "µs") } else { (1.0, "ms") };
    let mut parts: Vec<(f64, &str)> = PART_SAMPLES
        .iter()
        .copied()
        .chain(["program_ms"])
        .filter_map(|part| {
            Some((other.measured(part)? - best.measured(part)?, part.trim_end_matches("_ms")))
        })
        .collect();
    parts.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    parts.truncate(3);
    let all_ms = other_ms - best_ms;
    parts.retain(|(ms, _)| ms.abs() > 0.02 * all_ms.abs());
    // On real disks most of the time cannot be taken apart.
    let known_ms: f64 = parts.iter().map(|(ms, _)| ms).sum();
    let told: Vec<String> = parts
        .iter()
        .filter(|_| known_ms / all_ms > 0.5)
        .map(|(ms, part)| format!("{} {:+.2}", part_words(part), scale * ms))
        .collect();
    let parts =
        if told.is_empty() { String::new() } else { format!(": {} {unit}", told.join(", ")) };
    let (other, best) = (scale * other_ms, scale * best_ms);
    format!("there a request takes {other:.2} {unit} rather than {best:.2}{parts}")
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
    counted_as(commands, digits, "command")
}

fn counted_as(count: f64, digits: usize, noun: &str) -> String {
    let number = format!("{count:.digits$}");
    if number == "1" { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn part_words(part: &str) -> &str {
    match part {
        "cpu" => "the host's processor",
        "overhead" => "the drives' controllers",
        "part_sector" => "the drive's sectors that a write covers in part",
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
        let one = self.members.len() == 1;
        let members = if one { "the disk" } else { "each member at most" };
        let members = format!("{members} {}", whole_percent(busiest));
        let beside = self
            .processor
            .map_or_else(String::new, |share| format!(", the processor {}", whole_percent(share)));
        if processor >= DECIDES && processor >= busiest {
            let busy = whole_percent(processor);
            return format!("the processor decides (busy {busy} of the time, {members})");
        }
        if busiest < DECIDES {
            return format!("nothing is busy all the time ({members} of it{beside})");
        }
        let alike = self.members.iter().all(|share| *share >= busiest - ALIKE);
        let member = self.members.iter().position(|share| share.total_cmp(&busiest).is_eq());
        let who = match (one, alike, member) {
            (true, ..) => "the disk decides".into(),
            (_, false, Some(member)) => format!("member {member} decides"),
            _ => "the members decide".into(),
        };
        format!("{who} (busy {} of the time{beside})", whole_percent(busiest))
    }
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why;
    use lab::experiment::{Experiment, Plan};
    use lab::rig::sim::Sim;
    use lab::runner;
    use store::FORMAT;
    use store::record::Record;

    fn said(rig: &str, experiment: &str) -> Vec<String> {
        let plan = Plan::new(&Experiment::parse("e", experiment).unwrap()).unwrap();
        let finished = runner::run(&plan, &Sim, None, Vec::new(), &mut |_| {}).unwrap();
        let records: Vec<Record> = finished.into_iter().map(|finished| finished.record).collect();
        let manifest = Manifest {
            format: FORMAT,
            ileave: String::new(),
            name: "e".into(),
            rig: rig.into(),
            trials: records.len(),
            workloads: vec!["w".into()],
            published: String::new(),
            experiment: experiment.into(),
            drives: plan.drives,
            members: plan.members,
            hosts: plan.hosts,
            controllers: plan.controllers,
            trees: plan.trees,
            imported: None,
        };
        sentences(&manifest, &why::cells(&records, &manifest.workloads))
    }

    const TOUCH: &str = r#"
        name = "e"
        host.name = "ppro200-freebsd-2.2"
        volume.drives = "1xdors-32160w"
        drive.write_cache = false
        fs = { newfs = "4.4bsd", mount = ["sync", "async"] }
        workload.w = { kind = "touch", files = 300 }
    "#;

    /// A program is judged by its time, and told by what was busy: no rates, and no empty parts.
    #[test]
    fn programs_are_told_by_what_was_busy() {
        let said = said("sim", TOUCH);
        assert_eq!(said.len(), 1);
        let sentence = &said[0];
        assert!(sentence.starts_with("w: mount async is best at ") && sentence.contains(" s, "));
        assert!(
            sentence.contains("mount async sends ") && sentence.contains("commands to its members")
        );
        assert!(
            sentence.contains("mount sync sends ") && sentence.contains("the disk decides (busy ")
        );
        assert!(!sentence.contains("MB/s") && !sentence.contains(": ."), "{sentence}");
    }

    const READS: &str = r#"
        name = "e"
        volume = { drives = "2xwd740gd", level = "stripe", interleave = [8, 128] }
        workload.w = { kind = "random", op = "read", block = "64KiB", count = 200, depth = 8 }
    "#;

    #[test]
    fn requests_are_told_by_their_parts() {
        let sentence = said("sim", READS).remove(0);
        assert!(
            sentence.starts_with("w: interleave 128 is best at ")
                && sentence.contains("% more than")
        );
        assert!(sentence.contains("1 command a request, interleave 8 has"), "{sentence}");
        assert!(sentence.contains(" ms rather than ") && sentence.ends_with(" ms."), "{sentence}");
    }

    /// fsck is told by the inodes that it has to read, and a file in memory by who is busy.
    #[test]
    fn programs_with_a_reason_of_their_own_tell_it() {
        let fsck = r#"
            name = "e"
            host.name = "a8v-netbsd-2"
            volume = { drives = "1xwd740gd:1GiB", level = "single" }
            fs = { newfs = "netbsd2", block = "8KiB", version = [1, 2] }
            workload.w = { kind = "fsck", files = 300, directories = 20, size = "3MiB" }
        "#;
        let sentence = said("sim", fsck).remove(0);
        assert!(sentence.starts_with("w: version 2 is best at "), "{sentence}");
        assert!(sentence.contains("version 1 has ") && sentence.contains(" MiB of inodes read"));
        let memory = r#"
            name = "e"
            host.name = "ppro200-freebsd-2.2"
            volume = { drives = "1xdors-32160w", level = "single" }
            fs = { newfs = "4.4bsd", mount = "async" }
            workload.w = { kind = "memory", block = "1KiB", size = ["3MiB", "32MiB"] }
        "#;
        let sentence = said("sim", memory).remove(0);
        assert!(sentence.starts_with("w: size 3MiB is best at "), "{sentence}");
        assert!(
            sentence.contains("size 32MiB waits for the disk while it is written"),
            "{sentence}"
        );
    }

    #[test]
    fn of_many_ties_three_are_named() {
        let labels: Vec<String> = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
        assert_eq!(some(&labels[..4], "; "), "a; b; c; d");
        assert_eq!(some(&labels, "; "), "a; b; c and 2 others");
    }

    /// Where nothing was varied, or the parts are not known, nothing is made up.
    #[test]
    fn what_is_not_known_is_not_said() {
        let one = READS.replace("[8, 128]", "8");
        assert_eq!(said("sim", &one), Vec::<String>::new());
        let load =
            |processor, members: &[f64]| Load { processor, members: members.to_vec() }.words();
        assert_eq!(load(None, &[0.95]), "the disk decides (busy 95 % of the time)");
        assert_eq!(
            load(Some(0.1), &[0.9, 0.3]),
            "member 0 decides (busy 90 % of the time, the processor 10 %)"
        );
        assert_eq!(
            load(Some(0.4), &[0.5, 0.6]),
            "nothing is busy all the time (each member at most 60 % of it, the processor 40 %)"
        );
        assert_eq!(
            load(Some(0.97), &[0.97, 0.1]),
            "the processor decides (busy 97 % of the time, each member at most 97 %)"
        );
    }
}
