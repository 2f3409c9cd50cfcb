//! fio's job files: what each job does, as an experiment.
//!
//! A job becomes a workload; jobs that fio runs at the same time become one group. A file or device
//! that a job names stands for the volume; several files lie on it one after another.
//!
//! An option that is not understood is an error. One that cannot change what is simulated is accepted,
//! with a warning. `formats/fio/options.rs` has the list of both, `beside.rs` has those that are taken with some values and
//! refused with others.

mod beside;
mod job;
mod options;
mod sending;
mod sizes;

use crate::error::{Error, Result};
use job::{Job, Place};
use std::fmt::Write as _;

/// A job file, as an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// The text of the experiment, which names no volume.
    pub experiment: String,
    /// What was accepted though it changes nothing here, with file and line.
    pub warnings: Vec<String>,
}

/// More jobs than anyone has; it keeps a typo from filling the memory.
const JOBS_MAX: usize = 1000;

/// Reads the text of a job file; `label` is its name, for messages.
///
/// # Errors
///
/// Where fio would refuse it, or a job needs what ileave does not have; the message names file, line,
/// option and the next step.
pub fn read(label: &str, text: &str) -> Result<JobFile> {
    read_with(label, text, &|name| std::env::var(name).ok())
}

/// The same with these variables of the environment.
fn read_with(
    label: &str,
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<JobFile> {
    let (jobs, mut warnings) = sections(label, text, variable)?;
    if jobs.is_empty() {
        return Err(Error::input(format!("{label} has no job; add one, for example `[job]`")));
    }
    check_together(label, &jobs)?;
    let places = job::places(label, &jobs)?;
    let experiment = experiment(label, &jobs, &places)?;
    warnings.extend(assumed(label, &jobs));
    warnings
        .extend(jobs.iter().zip(&places).filter_map(|(job, place)| of_flushes(label, job, place)));
    Ok(JobFile { experiment, warnings })
}

/// The jobs of a file, and what is said of their options. All options that are refused are in one message.
fn sections(
    label: &str,
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(Vec<Job>, Vec<String>)> {
    let mut warnings = Vec::new();
    let mut refused: Vec<String> = Vec::new();
    let mut global = Job::default();
    let mut jobs: Vec<Job> = Vec::new();
    let mut section: Option<String> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let at_line = |message: String| format!("{label}:{number}: {message}");
        let wrong = |message: String| Error::input(at_line(message));
        // fio ends a line at the first of these, wherever it stands (strip_blank_end in its parse.c).
        let line = line.split(['#', ';']).next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.split_once(']').map(|(name, _)| name.trim()).filter(|n| !n.is_empty());
            let name = name.ok_or_else(|| {
                wrong(format!("`{}` is not a section; write it as `[name]`", shown(line)))
            })?;
            if name != "global" {
                if jobs.len() == JOBS_MAX {
                    return Err(wrong(format!("more than {JOBS_MAX} jobs; take `numjobs`")));
                }
                jobs.push(Job { name: name.into(), line: number, ..global.clone() });
            }
            section = Some(name.into());
            continue;
        }
        if let Some(why) = line.split_whitespace().next().filter(|word| *word == "include") {
            refused.extend(beside::refused(why).map(at_line));
            continue;
        }
        let (option, value) = line.split_once('=').map_or((line, None), |(o, v)| (o, Some(v)));
        let job = match section.as_deref() {
            None => {
                let next = "start with `[global]` or the name of a job in brackets";
                return Err(wrong(format!("`{}` is outside any section; {next}", shown(line))));
            }
            Some("global") => &mut global,
            Some(_) => jobs.last_mut().expect("its section has begun"),
        };
        let (option, value) = (option.trim(), value.map(str::trim));
        match applied(job, option, value, variable) {
            Ok(notes) => warnings.extend(notes.into_iter().map(at_line)),
            Err(why) => refused.push(at_line(why)),
        }
    }
    match beside::all_of(refused) {
        Some(refused) => Err(Error::input(refused)),
        None => Ok((jobs, warnings)),
    }
}

/// Applies an option, in whose value the environment may have a say; gives what there is to say of it.
fn applied(
    job: &mut Job,
    option: &str,
    value: Option<&str>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> std::result::Result<Vec<String>, String> {
    let own = value.map(|value| beside::substituted(value, variable)).transpose()?;
    let is_other = own.as_deref() != value;
    let told = own.as_ref().zip(value).filter(|_| is_other).map(|(own, written)| {
        format!("`{option}={}` is `{option}={}`, by the environment", shown(written), shown(own))
    });
    let note = options::apply(job, option, own.as_deref().map(str::trim))?;
    Ok(told.into_iter().chain(note).collect())
}

/// What jobs cannot have beside each other, or by themselves, of what no option alone decides.
fn check_together(label: &str, jobs: &[Job]) -> Result<()> {
    let mut refused = Vec::new();
    for group in groups(jobs) {
        for &index in &group {
            let job = &jobs[index];
            let others: Vec<&Job> = group.iter().map(|&other| &jobs[other]).collect();
            let why = beside::check(job, &others).err();
            refused.extend(why.map(|why| format!("{label}:{}: [{}] {why}", job.line, job.name)));
        }
    }
    beside::all_of(refused).map_or(Ok(()), |refused| Err(Error::input(refused)))
}

/// What is said of jobs that go through the page cache.
pub const AS_DIRECT: &str = "taken as direct requests";

/// What is taken of jobs and may not be meant, for whoever wrote them.
fn assumed(label: &str, jobs: &[Job]) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    warnings.extend(jobs.iter().find(|job| !job.says_direct).map(|job| {
        format!(
            "{label}:{}: [{}] does not say `direct`, so fio takes the page cache; {AS_DIRECT}: write \
             `direct=1` if that is meant, or `direct = false` into an experiment for the page cache",
            job.line, job.name
        )
    }));
    warnings.extend(jobs.iter().find(|job| job.goes_over_a_device()).map(|job| {
        format!(
            "{label}:{}: [{}] has no `size`, so fio goes over the whole device once; here a trial runs until its rate is steady",
            job.line, job.name
        )
    }));
    warnings.extend(jobs.iter().find(|job| job.may_end_before_its_time()).map(|job| {
        format!(
            "{label}:{}: [{}] runs for its `runtime` here; fio would end it before that if it had gone over its share of the volume \
             (`size=%`) once",
            job.line, job.name
        )
    }));
    warnings.extend(jobs.iter().find(|job| job.depth > job.in_flight_each()).map(|job| {
        format!(
            "{label}:{}: [{}]: `iodepth={}` has no effect with `ioengine={}`, as in fio, which waits for each request; for several at \
             once write `ioengine=io_uring` or `numjobs`",
            job.line,
            job.name,
            job.depth,
            job.sending.name()
        )
    }));
    let waits = |job: &&Job| !job.sending.is_io_uring() && job.in_flight() > ONE_QUEUE;
    warnings.extend(jobs.iter().find(waits).map(|job| {
        format!(
            "{label}:{}: [{}] has up to {} requests in flight and does not use io_uring; they wait as those of io_uring where a drive's \
             queue is full, which differs (docs/md.md, Full queues)",
            job.line,
            job.name,
            job.in_flight()
        )
    }));
    let together = groups(jobs);
    let unknown =
        |group: &Vec<usize>| sending::unknown(label, group.iter().map(|&index| &jobs[index]));
    warnings.extend(together.iter().filter_map(unknown));
    warnings.extend(jobs.iter().filter_map(|job| of_two_rates(label, job)));
    warnings
}

/// What several synchronous writes in flight become.
fn of_flushes(label: &str, job: &Job, place: &Place) -> Option<String> {
    let (line, name, lanes) = (job.line, &job.name, job.lanes());
    if lanes == 1 {
        return None;
    }
    Some(match job.why_in_line(place) {
        None => format!(
            "{label}:{line}: [{name}]: {lanes} synchronous writes in flight are taken as {lanes} jobs with one in flight, each \
             with a flush of its own and a processor of its own; where the drive takes FUA, fio's writes are cheaper than \
             that, and one processor may limit fio"
        ),
        Some(why) => format!(
            "{label}:{line}: [{name}]: its synchronous writes are taken one at a time, each with its flush, because {why}; \
             fio has up to {lanes} in flight, so it writes faster, and layouts may rank otherwise: only `iodepth=1` is \
             modelled as it is"
        ),
    })
}

/// What a mix becomes whose reads and writes have a rate each.
fn of_two_rates(label: &str, job: &Job) -> Option<String> {
    let (line, name, rates, reads) = (job.line, &job.name, job.rates(), job.share_of_reads());
    if !job.has_two_rates() {
        return None;
    }
    if !rates.written.contains(',') {
        return Some(format!(
            "{label}:{line}: [{name}]: fio applies the rate to reads and to writes separately, so taken as half reads and half \
             writes, together at twice the rate; where the rate is not reached, fio keeps `rwmixread`: leave the rate out to \
             ask for that"
        ));
    }
    (reads != u64::from(job.mix_percent)).then(|| {
        format!(
            "{label}:{line}: [{name}]: `{}`: taken as {reads} % reads; where the rate is not reached, fio keeps `rwmixread` \
             ({} %)",
            rates.written, job.mix_percent
        )
    })
}

/// What the queue of a SATA drive holds with a scheduler: fewer requests fill no queue.
const ONE_QUEUE: u64 = 64;

/// The numbers of `jobs` that run at the same time, group by group.
fn groups(jobs: &[Job]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if !job.stonewall => group.push(index),
            _ => groups.push(vec![index]),
        }
    }
    groups
}

/// The experiment of `jobs`: a workload each, in groups where they run at the same time.
fn experiment(label: &str, jobs: &[Job], places: &[Place]) -> Result<String> {
    let mut text = String::new();
    let mut names: Vec<String> = Vec::new();
    for group in &groups(jobs) {
        let engine = sending::of_all(group.iter().map(|&index| &jobs[index]));
        let first = unique(&jobs[group[0]].name, &mut names);
        for (place, &index) in group.iter().enumerate() {
            let name =
                if place == 0 { first.clone() } else { unique(&jobs[index].name, &mut names) };
            write!(text, "\n[workload.{name}]\n").expect("a string grows");
            if group.len() > 1 {
                writeln!(text, "group = \"{first}\"").expect("a string grows");
            }
            text.push_str(&jobs[index].keys(label, &places[index], engine)?);
        }
    }
    Ok(text)
}

/// `name` as a workload can be called, told apart from the `others`, which it joins.
fn unique(name: &str, others: &mut Vec<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let safe: String = name.chars().take(100).map(plain).collect();
    let numbered = (2..).map(|number: u64| format!("{safe}-{number}"));
    let mut candidates = std::iter::once(safe.clone()).chain(numbered);
    let name = candidates.find(|name| !others.contains(name)).expect("numbers do not run out");
    others.push(name.clone());
    name
}

/// Text cut short where it is long.
fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("{short} …") } else { short }
}

#[cfg(test)]
mod tests;
