//! What decided: for each workload which layout is best, and what holds the others up. One short line a mechanism.
//!
//! If a request's time was measured by part, the reasons are the parts. If not, as for programs on a file system,
//! they are what was busy. Where neither is known there is no reason to
//! give, and nothing is said.
//!
//! Layouts are held against each other under the load in which they differ most.

use crate::cells::row_order;
use crate::cells::{CellSummary, judged_by, workloads};
use crate::evidence::Evidence;
use crate::stats::noise::Noise;
use crate::tables::{figure, listed, times};
use crate::unsteady::is_left_out;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use store::Manifest;
use store::factor::Role;
use store::quantity::{Better, Quantity};
use store::record::Record;
use store::sample;
use store::words::{counted, whole_percent};

/// One line: what a layout does, or does otherwise than the best.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The workload, and the load where it was varied: `read, depth 64`.
    pub workload: String,
    /// The layout, by what was varied: `64 (32 KiB)`.
    pub label: String,
    /// What it does.
    pub text: String,
}

/// The reasons, those of the first workload first.
pub fn reasons(manifest: &Manifest, cells: &[CellSummary<'_>]) -> Vec<Reason> {
    // What was not steady is no rate that anything decided.
    let left_out = |record: &Record| is_left_out(manifest, record);
    let steady = cells.iter().filter(|cell| !cell.records.iter().any(|record| left_out(record)));
    let steady: Vec<CellSummary<'_>> = steady.cloned().collect();
    reasons_of(manifest, &steady)
}

fn reasons_of(manifest: &Manifest, cells: &[CellSummary<'_>]) -> Vec<Reason> {
    let of = |workload| Judged::new(manifest, workload, cells);
    workloads(cells).into_iter().filter_map(of).flat_map(|judged| judged.reasons()).collect()
}

/// The same as sentences.
pub fn sentences(manifest: &Manifest, cells: &[CellSummary<'_>]) -> Vec<String> {
    let reasons = reasons(manifest, cells).into_iter();
    reasons
        .map(|Reason { workload, label, text }| format!("{workload}: {label}: {text}."))
        .collect()
}

/// The cells of a workload under one load, the best first, by what the workload is judged by.
struct Judged<'a> {
    /// The workload, and the load.
    name: String,
    sample: &'a str,
    quantity: Quantity,
    ranked: Vec<&'a CellSummary<'a>>,
    /// The factors that tell the cells apart.
    varied: Vec<&'a String>,
    noise: Noise,
}

impl<'a> Judged<'a> {
    /// `None` where there is nothing to compare, or no reason to give.
    fn new(
        manifest: &'a Manifest,
        workload: &'a str,
        cells: &'a [CellSummary<'a>],
    ) -> Option<Self> {
        let all: Vec<&CellSummary<'_>> =
            cells.iter().filter(|cell| cell.workload == workload).collect();
        let (sample, quantity) = judged_by(manifest, workload, &all)?;
        let value = |cell: &CellSummary<'_>| cell.median(sample);
        let told = |cell: &&CellSummary<'_>| {
            value(cell) > 0.0 && (tells_parts(cell) || Load::of(cell).is_some())
        };
        if quantity.better == Better::Neither || !all.iter().all(told) {
            return None;
        }
        let mut ranked = most_different(&all, &value);
        if ranked.len() < 2 {
            return None;
        }
        ranked.sort_by(|a, b| quantity.better.ahead(value(b), value(a)).total_cmp(&0.0));
        let samples: Vec<Vec<f64>> = ranked.iter().map(|cell| cell.samples(sample)).collect();
        let records = all.iter().flat_map(|cell| cell.records.iter().copied());
        let error = Evidence::of(manifest, records, &[sample]).difference();
        let mut noise = Noise::of(&samples, None, error);
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
        let differs = |path: &&String| {
            ranked.iter().any(|cell| cell.at.get(*path) != ranked[0].at.get(*path))
        };
        let varied: Vec<&String> = ranked[0].at.keys().filter(differs).collect();
        let common: Map<String, Json> = ranked[0]
            .at
            .iter()
            .filter(|(path, _)| {
                manifest.factors.role(path) != Role::Choice && !varied.contains(path)
            })
            .map(|(path, value)| (path.clone(), value.clone()))
            .collect();
        let name = if common.is_empty() {
            workload.to_string()
        } else {
            format!("{workload}, {}", manifest.factors.label(&common))
        };
        Some(Judged { name, sample, quantity, ranked, varied, noise })
    }

    /// What the best does, and why not the next and the last.
    fn reasons(&self) -> Vec<Reason> {
        let (best, others) = self.ranked.split_first().expect("there are two cells or more");
        let is_behind = |other: &&&CellSummary<'_>| {
            let (best, other) = (best.samples(self.sample), other.samples(self.sample));
            !self.noise.difference(self.quantity.better, &best, &other).is_tie()
        };
        let behind: Vec<&CellSummary<'_>> = others.iter().filter(is_behind).copied().collect();
        let (Some(next), Some(last)) = (behind.first(), behind.last()) else {
            return Vec::new();
        };
        let mut reasons = vec![self.reason(&[best], does(best))];
        reasons.push(self.reason(&[next], otherwise(best, next)));
        if last.at != next.at {
            let alike = |cell: &&&CellSummary<'_>| {
                (cell.median(self.sample) / last.median(self.sample) - 1.0).abs() < 0.001
            };
            let mut same: Vec<&CellSummary<'_>> = behind.iter().filter(alike).copied().collect();
            same.sort_by(|a, b| row_order(a.at, b.at));
            reasons.push(self.reason(&same, otherwise(best, last)));
        }
        reasons.into_iter().flatten().collect()
    }

    fn reason(&self, cells: &[&CellSummary<'_>], text: Option<String>) -> Option<Reason> {
        let labels: Vec<String> = cells.iter().map(|cell| self.label(cell)).collect();
        Some(Reason { workload: self.name.clone(), label: listed(&labels), text: text? })
    }

    /// A cell by what was varied; its value alone where that is one factor.
    fn label(&self, cell: &CellSummary<'_>) -> String {
        if let [path] = self.varied.as_slice()
            && let Some(value) = cell.at.get(*path)
        {
            return cell.factors.with_unit(path, value);
        }
        let at = self
            .varied
            .iter()
            .filter_map(|path| Some(((*path).clone(), cell.at.get(*path)?.clone())));
        cell.factors.label(&at.collect())
    }
}

/// The cells under the one load and condition in which the best and the worst choice lie farthest apart; where
/// nothing was chosen, conditions under one load. Where only loads were varied no load holds up another: a queue of 16 is not
/// slower for its parts than one of 1. Of programs on files all of them: what such a program waits for changes with its size, and
/// that is where it slows down.
fn most_different<'a>(
    cells: &[&'a CellSummary<'a>],
    value: &dyn Fn(&CellSummary<'_>) -> f64,
) -> Vec<&'a CellSummary<'a>> {
    let given: [&dyn Fn(Role) -> bool; 2] =
        [&|role| role != Role::Choice, &|role| role == Role::Load];
    let mut found = given.iter().map(|is_given| farthest_apart(cells, value, is_given));
    let kind = |path: &String| path.rsplit('.').next() == Some("kind");
    let is_of_files = |cell: &&CellSummary<'_>| !tells_parts(cell) && !cell.at.keys().any(kind);
    let of_files = || if cells.iter().all(is_of_files) { cells.to_vec() } else { Vec::new() };
    found.find(|cells| cells.len() > 1).unwrap_or_else(of_files)
}

/// Of the cells with the same values of the factors that are given, those that lie farthest apart.
fn farthest_apart<'a>(
    cells: &[&'a CellSummary<'a>],
    value: &dyn Fn(&CellSummary<'_>) -> f64,
    is_given: &dyn Fn(Role) -> bool,
) -> Vec<&'a CellSummary<'a>> {
    let mut under: BTreeMap<String, Vec<&CellSummary<'_>>> = BTreeMap::new();
    for cell in cells {
        let given = cell.at.iter().filter(|(path, _)| is_given(cell.factors.role(path)));
        let given: Vec<String> = given.map(|(path, value)| format!("{path}={value}")).collect();
        under.entry(given.join(" ")).or_default().push(cell);
    }
    let spread = |cells: &[&CellSummary<'_>]| {
        let values = cells.iter().map(|cell| value(cell).ln());
        values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min)
    };
    under.into_values().max_by(|a, b| spread(a).total_cmp(&spread(b))).unwrap_or_default()
}

/// What a cell does.
fn does(cell: &CellSummary<'_>) -> Option<String> {
    if request_ms(cell) > 0.0 {
        // Of what others have measured, not all may be known.
        let known = [commands_each(cell), disks_busy(cell)].into_iter().flatten();
        let took = format!("{} per request", milliseconds(request_ms(cell)));
        return Some(known.chain([took]).collect::<Vec<_>>().join(", "));
    }
    does_program(cell).or_else(|| Some(format!("{}; {}", commands(cell), Load::of(cell)?.words())))
}

/// What a cell does otherwise than the best.
fn otherwise(best: &CellSummary<'_>, other: &CellSummary<'_>) -> Option<String> {
    if request_ms(best) == 0.0 || request_ms(other) == 0.0 {
        return does(other);
    }
    let mut causes = Vec::new();
    let ratio = other.median("commands_per_request") / best.median("commands_per_request");
    if ratio > 1.1 {
        let many = |each| format!("{each} ({} as many)", times(ratio));
        causes.extend(commands_each(other).map(many));
    }
    let [billed, of_best] = [other, best].map(|cell| cell.median("billed_per_request"));
    if of_best > 0.0 && billed > 1.1 * of_best {
        let each = figure(billed);
        causes.push(format!("{each} I/Os billed per request, not {}", figure(of_best)));
    }
    if other.median("members_busy") < 0.9 * best.median("members_busy") {
        causes.extend(disks_busy(other));
    }
    let [busy, of_best] = [other, best].map(|cell| cell.measured("cpu_busy").unwrap_or(0.0));
    if busy >= DECIDES && of_best < DECIDES {
        causes.push(format!("the processor {} busy", whole_percent(busy)));
    }
    let times = format!(
        "{} per request, not {}{}",
        milliseconds(request_ms(other)),
        milliseconds(request_ms(best)),
        parts(best, other)
    );
    Some(if causes.is_empty() { times } else { format!("{}; {times}", causes.join(", ")) })
}

/// Commands to members for each request, where they were counted.
fn commands_each(cell: &CellSummary<'_>) -> Option<String> {
    let commands = cell.measured("commands_per_request")?;
    let digits = usize::from(commands.fract() >= 0.05);
    let number = counted(format_args!("{commands:.digits$}"), "command");
    Some(format!("{number} per request"))
}

/// How many members were busy, where that was measured of all or of each.
fn disks_busy(cell: &CellSummary<'_>) -> Option<String> {
    let members = cell.records.first().map_or(0, |record| record.member_busy.len());
    let each = || {
        let of_each = cell.records.iter().map(|record| record.member_busy.iter().sum::<f64>());
        (members > 0).then(|| of_each.sum::<f64>() / cell.records.len() as f64)
    };
    let busy = cell.measured("members_busy").or_else(each)?;
    Some(if members == 1 {
        format!("the disk {} busy", whole_percent(busy))
    } else {
        format!("{busy:.2} of {members} disks busy")
    })
}

/// A time in ms; in µs where ms would all be 0.00.
fn milliseconds(ms: f64) -> String {
    if ms < 0.1 { format!("{} µs", figure(1000.0 * ms)) } else { format!("{} ms", figure(ms)) }
}

/// What takes longer, most of all first, behind a colon; empty where the parts explain too little. A queue only
/// grows because something else takes longer, so it comes last.
fn parts(best: &CellSummary<'_>, other: &CellSummary<'_>) -> String {
    const TOLD: usize = 2;
    let all_ms = request_ms(other) - request_ms(best);
    let parts = sample::parts_and_program().filter_map(|part| {
        let ms = other.measured(part.name)? - best.measured(part.name)?;
        Some((part.words, ms))
    });
    let flushes = ("flushes", flush_ms(other) - flush_ms(best));
    let longer = parts.chain([flushes]).filter(|(_, ms)| ms * all_ms > 0.0);
    let longer = longer.map(|(words, ms)| (words, ms.abs()));
    let (queue, mut causes): (Vec<_>, Vec<_>) = longer.partition(|(words, _)| *words == "queue");
    let caused_ms: f64 = causes.iter().map(|(_, ms)| ms).sum();
    // On real disks most of the time cannot be taken apart.
    let known_ms = caused_ms + queue.iter().map(|(_, ms)| ms).sum::<f64>();
    if known_ms < 0.5 * all_ms.abs() {
        return String::new();
    }
    // What is next to nothing of the difference is no cause of it, though no part else be longer.
    causes.retain(|(_, ms)| *ms > 0.1 * caused_ms && *ms > 0.001 * all_ms.abs());
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    causes.truncate(TOLD);
    let sign = if all_ms > 0.0 { '+' } else { '−' };
    let told: Vec<String> = causes
        .iter()
        .chain(&queue)
        .map(|(words, ms)| format!("{words} {sign}{}", milliseconds(*ms)))
        .collect();
    if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) }
}

/// Time a request took, what the program did between requests and waited for flushes counted; 0 where none was timed.
fn request_ms(cell: &CellSummary<'_>) -> f64 {
    cell.median("latency_mean_ms") + cell.median("program_ms") + flush_ms(cell)
}

/// What flushes took for each request beside them. A hundred of 8 ms beside 900 writes: 0.89 ms.
fn flush_ms(cell: &CellSummary<'_>) -> f64 {
    let [flushes, each_ms] = ["flushes", "flush_mean_ms"].map(|name| cell.median(name));
    let requests = cell.median("requests_per_s") * cell.median("elapsed_s");
    if requests > 0.0 { flushes * each_ms / requests } else { 0.0 }
}

/// Whether it is known what a request was for the members. Programs that are imported time requests, and know
/// nothing of what became of them.
fn tells_parts(cell: &CellSummary<'_>) -> bool {
    request_ms(cell) > 0.0 && cell.measured("commands_per_request").is_some()
}

/// The requests that the members got.
fn commands(cell: &CellSummary<'_>) -> String {
    let counts: Vec<f64> = cell.records.iter().map(|record| record.requests as f64).collect();
    counted(format_args!("{:.0}", crate::stats::median(&counts).unwrap_or(0.0)), "disk command")
}

/// What a program does that has a reason of its own to tell.
fn does_program(cell: &CellSummary<'_>) -> Option<String> {
    if let Some(inode_mib) = cell.measured("fsck_inode_mib") {
        let busy = cell.median("fsck_cpu_s") / cell.median("fsck_s");
        return Some(format!(
            "{} MiB of inodes read, {} in all; phase 1 {} s, phase 2 {} s, phase 5 {} s; processor {} busy",
            figure(inode_mib),
            counted(format_args!("{:.0}", cell.median("fsck_reads")), "read"),
            figure(cell.median("fsck_phase_1_s")),
            figure(cell.median("fsck_phase_2_s")),
            figure(cell.median("fsck_phase_5_s")),
            whole_percent(busy),
        ));
    }
    let busy = cell.measured("rewrite_mb_per_s").and(cell.measured("write_cpu"))? / 100.0;
    let busy_words = format!("processor {} busy", whole_percent(busy));
    Some(if busy >= DECIDES {
        format!("writes go to memory ({busy_words})")
    } else {
        format!("writes wait for the disk ({busy_words})")
    })
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

    /// The bottleneck: whatever is busy nearly all the time.
    fn words(&self) -> String {
        let busiest = self.members.iter().copied().fold(0.0, f64::max);
        let processor = self.processor.unwrap_or(0.0);
        let alike = self.members.iter().all(|share| *share >= busiest - ALIKE);
        let disks = match (self.members.len(), alike) {
            (1, _) => "the disk".into(),
            (_, true) => "the disks".into(),
            _ => {
                let member =
                    self.members.iter().position(|share| share.total_cmp(&busiest).is_eq());
                format!("disk {}", member.unwrap_or(0))
            }
        };
        let disks_busy = format!("{disks} {} busy", whole_percent(busiest));
        let busy = match self.processor {
            Some(share) => format!("{disks_busy}, processor {}", whole_percent(share)),
            None => disks_busy,
        };
        match (processor >= DECIDES && processor >= busiest, busiest >= DECIDES) {
            (true, _) => format!("bottleneck: the processor ({busy})"),
            (_, true) => format!("bottleneck: {disks} ({busy})"),
            _ => format!("no single bottleneck ({busy})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells;
    use lab::experiment::{Experiment, Plan, factors};
    use lab::rig::sim::Sim;
    use lab::runner;
    use store::FORMAT;
    use store::record::Record;

    fn said(rig: &str, experiment: &str) -> Vec<String> {
        said_without(&[], rig, experiment)
    }

    /// The same where some samples were not measured.
    fn said_without(unknown: &[&str], rig: &str, experiment: &str) -> Vec<String> {
        let plan = Plan::new(&Experiment::parse("e", experiment).unwrap()).unwrap();
        let finished = runner::run(&plan, &Sim, None, Vec::new(), &mut |_| {}).unwrap();
        let mut records: Vec<Record> =
            finished.into_iter().map(|finished| finished.record).collect();
        for record in &mut records {
            let known = record.samples.iter().filter(|(name, _)| !unknown.contains(name));
            let known = known.filter_map(|(name, value)| Some((name.to_string(), value?)));
            record.samples = known.collect();
        }
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
            traces: plan.traces,
            only_read: Vec::new(),
            factors: factors(records.iter().flat_map(|record| record.at.keys())),
            machine: std::collections::BTreeMap::new(),
            doubts: Vec::new(),
            fio: false,
            imported: None,
        };
        sentences(&manifest, &cells::cells(&manifest, &records))
    }

    const TOUCH: &str = r#"
        name = "e"
        host.name = "ppro200-freebsd-2.2"
        volume.drives = "1xdors-32160w"
        drive.write_cache = false
        fs = { newfs = "4.4bsd", mount = ["sync", "async"] }
        workload.w = { kind = "touch", files = 300 }
    "#;

    /// A write into a drive's cache takes a tenth of a millisecond, and its flush most of a turn of the platter.
    #[test]
    fn flushes_are_part_of_a_requests_time() {
        let said = said(
            "sim",
            "name = 'e'\n[volume]\ndrives = ['4xd3-s4610-480gb', '4xst16000nm001g']\nlevel = 'md-raid10'\n\
             [workload.w]\nkind = 'sequential'\nop = 'write'\nblock = '16KiB'\nflush_every = 1\ncount = 1000\n",
        );
        let all = said.join("\n");
        assert!(all.contains("7.85 ms per request, not 87.0 µs: flushes +7.72 ms"), "{all}");
    }

    /// A program is judged by its time, and told by what was busy.
    #[test]
    fn programs_are_told_by_what_was_busy() {
        let said = said("sim", TOUCH);
        assert_eq!(said.len(), 2);
        assert!(
            said[0].starts_with("w: async: ") && said[0].contains(" disk commands; "),
            "{said:?}"
        );
        assert!(
            said[1].starts_with("w: sync: ") && said[1].contains("bottleneck: the disk ("),
            "{said:?}"
        );
    }

    const READS: &str = r#"
        name = "e"
        volume = { drives = "2xwd740gd", level = "stripe", interleave = [8, 128] }
        workload.w = { kind = "random", op = "read", block = "64KiB", count = 200, depth = 8 }
    "#;

    #[test]
    fn requests_are_told_by_their_parts() {
        let said = said("sim", READS);
        assert!(
            said[0].starts_with("w: 128 (64 KiB): ") && said[0].contains("1 command"),
            "{said:?}"
        );
        assert!(
            said[1].starts_with("w: 8 (4 KiB): 16 commands per request (16.0 times as many)"),
            "{said:?}"
        );
        assert!(said[1].contains(" ms per request, not ") && said[1].ends_with(" ms."), "{said:?}");
    }

    /// md's thread holds up parity on `NVMe` drives, and has no part in copies.
    #[test]
    fn a_processor_that_is_busy_is_told() {
        let said = said(
            "sim",
            r#"
                name = "e"
                host.name = "linux-6.1"
                volume = { drives = "4x990 pro 2tb", level = ["md-raid5", "md-raid10"] }
                workload.w = { kind = "sequential", op = "write", block = "1MiB", count = 3000, depth = 8 }
            "#,
        );
        assert!(
            said[0].starts_with("w: md-raid10: ") && !said[0].contains("processor"),
            "{said:?}"
        );
        assert!(said[1].contains("the processor 100 % busy"), "{said:?}");
    }

    /// What fio on a real file system tells: no commands, and of each disk how busy it was.
    #[test]
    fn what_was_not_measured_is_not_said() {
        let known = said("sim", READS);
        let some = said_without(&["commands_per_request", "members_busy"], "sim", READS);
        let busy =
            |line: &str| line.find(" of 2 disks busy").map(|at| line[at - 4..at].to_string());
        assert_eq!(busy(&some[0]), busy(&known[0]));
        assert!(busy(&some[0]).is_some_and(|busy| busy != "0.00"), "{some:?}");
        assert!(some.iter().all(|line| !line.contains("command")), "{some:?}");
    }

    /// A load is not a choice: layouts are compared under one load.
    #[test]
    fn loads_are_not_ranked() {
        let said = said("sim", &READS.replace("depth = 8", "depth = [1, 32]"));
        assert!(said.iter().all(|line| line.starts_with("w, depth ")), "{said:?}");
        assert!(said[0].contains(": 128 (64 KiB): "), "{said:?}");
        // Nor is one held against another: "random: 7.50 ms per request, not 0.134 ms".
        let alone = READS.replace("[8, 128]", "128");
        let kinds = (r#"kind = "random""#, r#"kind = ["random", "sequential"]"#);
        for (one, several) in [("depth = 8", "depth = [1, 32]"), kinds] {
            let varied = alone.replace(one, several);
            assert_ne!(varied, alone);
            assert!(self::said("sim", &varied).is_empty(), "{several}");
        }
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
        let of = said("sim", fsck);
        assert!(of[0].starts_with("w: 2: ") && of[1].starts_with("w: 1: "), "{of:?}");
        assert!(of.iter().all(|line| line.contains(" MiB of inodes read, ")), "{of:?}");
        let memory = r#"
            name = "e"
            host.name = "ppro200-freebsd-2.2"
            volume = { drives = "1xdors-32160w", level = "single" }
            fs = { newfs = "4.4bsd", mount = "async" }
            workload.w = { kind = "memory", block = "1KiB", size = ["3MiB", "32MiB"] }
        "#;
        let of = said("sim", memory);
        assert!(of[0].starts_with("w: 3MiB: writes "), "{of:?}");
        assert!(of[1].starts_with("w: 32MiB: writes wait for the disk"), "{of:?}");
    }

    /// Where nothing was varied, or the parts are not known, nothing is made up.
    #[test]
    fn what_is_not_known_is_not_said() {
        let one = READS.replace("[8, 128]", "8");
        assert_eq!(said("sim", &one), Vec::<String>::new());
        let load =
            |processor, members: &[f64]| Load { processor, members: members.to_vec() }.words();
        assert_eq!(load(None, &[0.95]), "bottleneck: the disk (the disk 95 % busy)");
        assert_eq!(
            load(Some(0.1), &[0.9, 0.3]),
            "bottleneck: disk 0 (disk 0 90 % busy, processor 10 %)"
        );
        assert_eq!(
            load(Some(0.4), &[0.5, 0.6]),
            "no single bottleneck (disk 1 60 % busy, processor 40 %)"
        );
        assert_eq!(
            load(Some(0.97), &[0.97, 0.1]),
            "bottleneck: the processor (disk 0 97 % busy, processor 97 %)"
        );
    }
}
