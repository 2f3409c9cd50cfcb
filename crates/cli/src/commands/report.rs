//! `ileave report`.

use super::run::printed_before;
use super::submit::SHARDS;
use super::written::PAGE;
use super::{print_json, run_text};
use crate::flags::ReportFlags;
use lab::{Error, Result, published, read_results};
use std::fmt::Write as _;
use std::path::Path;
use store::ask::{SAFE, SUBJECT_TO};
use store::words::listed;
use store::{Follower, Results, Trials};
use verdict::judge::trials::unfinished;
use verdict::report::{csv, html, json, markdown, reasons};
use verdict::{Verdict, Wishes};

/// Prints a results directory again, or writes its page.
pub(crate) fn report(flags: &ReportFlags) -> Result<String> {
    let mut results = read_results(&flags.directory)?;
    let asked = results.manifest.asked(&flags.choose);
    results.manifest = asked.map_err(|error| error.context("--choose"))?;
    let Results { manifest, records, .. } = &results;
    if flags.form.csv {
        return csv::trials(records);
    }
    let wishes = Wishes {
        safe: flags.safe,
        objectives: flags.objective.clone(),
        subject_to: flags.subject_to.clone(),
        choose: flags.choose.clone(),
    }
    .and_of(manifest);
    let beside = published::of(manifest)?;
    let verdict = Verdict::knowing(manifest, records, &results.happened, &wishes)?
        .beside_printed(manifest, beside.as_ref());
    if flags.form.json {
        let why = reasons(manifest, records, &verdict);
        let run = json::run(records.iter().map(|record| (record, None)), &why);
        return said(flags, print_json(&json::with_verdict(run, &verdict)), &verdict, &wishes);
    }
    if flags.form.markdown {
        return said(flags, markdown::verdict(&manifest.name, &verdict), &verdict, &wishes);
    }
    if let Some(file) = &flags.form.html {
        PAGE.write(file, html::run(&results, &verdict, beside.as_ref()).as_bytes())?;
        let unfinished = verdict.points.iter().find(|point| point.about == "unfinished");
        let unfinished =
            unfinished.map_or(String::new(), |point| format!("\n  unfinished  {}", point.text));
        let answer = format!("{}{unfinished}\nPage: {}\n", verdict.answer, file.display());
        return said(flags, answer, &verdict, &wishes);
    }
    let mut output = text(&results, &verdict, &flags.directory)?;
    if !results.suspects.is_empty() {
        let suspects: Vec<String> = results.suspects.iter().map(usize::to_string).collect();
        writeln!(
            output,
            "\nThe run was interrupted during trial {}, which was then repeated from the start. On real disks, \
             check its results.",
            suspects.join(", ")
        )
        .expect("a string grows");
    }
    said(flags, output, &verdict, &wishes)
}

/// That no layout meets what is asked, by the name of each that asks: the `flags`, of what is safe and what must hold, and the
/// file of the experiment, where `all` has more than they. Nothing where there is none.
pub(super) fn unmet(flags: (bool, &[String]), all: (bool, &[String])) -> Option<Error> {
    let is_of_flags = |text: &String| flags.1.iter().any(|own| own.trim() == text.trim());
    let names = [
        (!flags.1.is_empty(), "--subject-to"),
        (!all.1.iter().all(is_of_flags), SUBJECT_TO),
        (flags.0, "--safe"),
        (all.0 && !flags.0, SAFE),
    ];
    let names = names.into_iter().filter(|(asks, _)| *asks);
    let names: Vec<String> = names.map(|(_, name)| format!("`{name}`")).collect();
    let ask = match names.len() {
        0 => return None,
        1 => "asks",
        _ => "ask",
    };
    Some(Error::failure(format!("no layout meets what {} {ask} for", listed(&names, ", ", "and"))))
}

/// The output; where no layout meets what was asked, it is printed, and the command fails, as `ileave tune` does.
fn said(flags: &ReportFlags, output: String, verdict: &Verdict, wishes: &Wishes) -> Result<String> {
    let asked = ((flags.safe, flags.subject_to.as_slice()), (wishes.safe, &*wishes.subject_to));
    let error = unmet(asked.0, asked.1).filter(|_| verdict.none_meets());
    printed_before(output, error)
}

/// What the results say, and how those are had that are missing; of a `submit` that has merged nothing only the latter.
fn text(results: &Results, verdict: &Verdict, directory: &Path) -> Result<String> {
    let rest = rest(results, &directory.display().to_string());
    if results.records.is_empty() && finished_in_shards(directory) > 0 {
        return Ok(rest.trim_start().to_string());
    }
    Ok(run_text(&results.manifest, &results.records, verdict)? + &rest)
}

/// How many trials are finished where some are not, and how the others are run: those of cells that failed only where that is
/// asked for.
fn rest(results: &Results, directory: &str) -> String {
    let Results { manifest, records, happened, .. } = results;
    let trials = unfinished::trials(manifest, records, happened);
    let Some(Trials { planned, finished }) = trials.filter(|trials| trials.missing() > 0) else {
        return String::new();
    };
    // Where `submit` was killed, its shards have finished some that nobody has merged.
    let in_shards = finished_in_shards(Path::new(directory));
    if in_shards > 0 {
        return format!(
            "\n{finished} of {planned} trials finished here, and {in_shards} in {directory}/shards, where `ileave submit` ran them. \
             Give the same `ileave submit` again: it runs the others and merges all.\n"
        );
    }
    let retry = if happened.failed.is_empty() { "" } else { " --retry-suspects" };
    format!(
        "\n{finished} of {planned} trials finished. Run the others: ileave run … --resume {directory}{retry}\n"
    )
}

/// How many trials are finished in the shards of a `submit` into this directory.
fn finished_in_shards(directory: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(directory.join(SHARDS)) else { return 0 };
    let shards = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    shards.map(|shard| Follower::new(&shard).finished()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "No trial has finished", with every one of them in a shard of the directory.
    #[test]
    fn what_shards_have_finished_is_counted() {
        let scratch = tempfile::tempdir().unwrap();
        let out = scratch.path();
        assert_eq!(finished_in_shards(out), 0);
        for (shard, lines) in [("1-of-2", "{}\n{}\n"), ("2-of-2", "{}\n{\"cut")] {
            let shard = out.join(SHARDS).join(shard);
            std::fs::create_dir_all(&shard).unwrap();
            std::fs::write(shard.join("trials.jsonl"), lines).unwrap();
        }
        std::fs::write(out.join(SHARDS).join("task.sh"), "").unwrap();
        assert_eq!(finished_in_shards(out), 3);
    }
}
