//! What docs/questions.md answers is what the program says.
//!
//! Behind the commands of a question stands a comment, which no reader of the page sees. Each of its lines is words of the
//! answer, an arrow, and words of the report of one of its commands:
//!
//! ```text
//! <!-- held to the reports
//! 1: 256 KiB or more -> Use interleave 256KiB
//! 2: instead of 3000 -> 256KiB 3000
//! -->
//! ```
//!
//! Both are looked for with each run of spaces and line ends as one space. So an answer that changes, here or there, is noticed.

use super::{is_required, project, scratch, skipped, stdout};
use std::path::{Path, PathBuf};

/// A question of the page.
#[derive(Default)]
struct Question {
    heading: String,
    /// The arguments of `ileave run` of each command.
    commands: Vec<Vec<String>>,
    /// The number of a command, from 1; words of the answer; words of the command's report.
    held: Vec<(usize, String, String)>,
    answer: String,
}

pub(super) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn questions(page: &str) -> Vec<Question> {
    let sections = page.split("\n## ").skip(1).map(|section| {
        let (heading, text) = section.split_once('\n').unwrap();
        let mut question = Question { heading: heading.into(), ..Question::default() };
        let mut is_comment = false;
        for line in text.lines() {
            if line.starts_with("<!--") || line == "-->" {
                is_comment = line != "-->";
            } else if is_comment {
                let held = line.split_once(": ").and_then(|(number, rest)| {
                    let (answer, report) = rest.split_once(" -> ")?;
                    Some((number.parse().ok()?, answer.into(), report.into()))
                });
                question.held.push(held.unwrap_or_else(|| panic!("{heading}: {line}")));
            } else if let Some(arguments) = line.strip_prefix("ileave run ") {
                question.commands.push(arguments.split_whitespace().map(String::from).collect());
            } else {
                question.answer += line;
                question.answer.push(' ');
            }
        }
        question.answer = in_one_line(&question.answer);
        question
    });
    sections.filter(|question| !question.commands.is_empty()).collect()
}

/// Experiments that are run where nobody has run them.
const SHORT: [&str; 3] = ["cassandra-azure.toml", "ebs-stripe.toml", "one-drive.toml"];

/// Where the results of the `number`-th command of the page are: those of the continuous integration, or new ones of what
/// takes a few seconds.
fn results(number: usize, command: &[String], here: &Path) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("ILEAVE_RESULTS") {
        return Some(Path::new(&folder).join(format!("questions/{number}")));
    }
    if is_required() || !SHORT.iter().any(|name| command[0].ends_with(name)) {
        skipped("ILEAVE_RESULTS does not name the folder of the questions' results");
        return None;
    }
    let out = here.join(number.to_string());
    let file = project(&command[0]).display().to_string();
    let mut arguments = vec!["run", &file];
    arguments.extend(command[1..].iter().map(String::as_str));
    let directory = out.display().to_string();
    arguments.extend(["--out", &directory]);
    stdout(here, &arguments);
    Some(out)
}

#[test]
fn answers_to_questions_are_what_the_reports_say() {
    let page = std::fs::read_to_string(project("docs/questions.md")).unwrap();
    let here = scratch();
    let (mut number, mut wrong) = (0, Vec::new());
    let questions = questions(&page);
    assert!(questions.len() >= 17, "{} questions", questions.len());
    for Question { heading, commands, held, answer } in questions {
        for (place, command) in (1..).zip(&commands) {
            number += 1;
            let held: Vec<_> = held.iter().filter(|(of, ..)| *of == place).collect();
            assert!(!held.is_empty(), "{heading}: nothing is held of command {place}");
            let Some(results) = results(number, command, here.path()) else { continue };
            let directory = results.display().to_string();
            let mut arguments = vec!["report", &directory];
            if let Some(choose) = command.iter().position(|word| word == "--choose") {
                arguments.extend(command[choose..=choose + 1].iter().map(String::as_str));
            }
            let report = in_one_line(&stdout(here.path(), &arguments));
            for (_, words, said) in held {
                if !answer.contains(words) {
                    wrong.push(format!("{heading}: its answer has no `{words}`"));
                }
                if !report.contains(said) {
                    wrong.push(format!(
                        "{heading}: the report of command {place} has no `{said}`:\n{report}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
