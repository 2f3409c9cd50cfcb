//! Every command that stands on a page is one: the parser takes its commands and flags.

use super::Flags;
use clap::Parser;
use clap::error::ErrorKind;
use std::fs;
use std::path::{Path, PathBuf};

/// README.md, ARCHITECTURE.md and docs/, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let mut paths: Vec<PathBuf> =
        docs.chain(["README.md", "ARCHITECTURE.md"].map(|name| root.join(name))).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// A line's words as a shell takes them, up to a comment, a pipe or a redirection.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            ('|' | '>' | ';', None) => break,
            ('#', None) if word.is_none() => break,
            (' ', None) => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// The lines of fenced `sh` and `console` blocks that start this command.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut kind = None;
    for line in page.replace("\\\n", " ").lines() {
        match (line.strip_prefix("```"), kind.is_some()) {
            (Some(name), false) => kind = Some(name.to_string()),
            (Some(_), true) => kind = None,
            (None, _) => {
                let line = line.strip_prefix("$ ").unwrap_or(line);
                let is_shell = matches!(kind.as_deref(), Some("sh" | "console" | ""));
                found.extend(
                    Some(line.to_string()).filter(|l| is_shell && l.starts_with("ileave ")),
                );
            }
        }
    }
    found
}

fn wrong(line: &str) -> Option<clap::Error> {
    Flags::try_parse_from(words(line)).err().filter(|error| error.kind() != ErrorKind::DisplayHelp)
}

#[test]
fn every_command_line_of_a_page_parses() {
    let mut count = 0;
    for (path, page) in pages() {
        for line in commands(&page) {
            count += 1;
            assert!(
                wrong(&line).is_none(),
                "{}: `{line}`: {}",
                path.display(),
                wrong(&line).unwrap()
            );
        }
    }
    assert!(count > 50, "only {count} were found");
}

/// In a sentence a command may stand without what it needs, and its values may be names for any.
#[test]
fn every_command_in_a_sentence_is_one() {
    let mut count = 0;
    for (path, page) in pages() {
        let spans = page.split('`').skip(1).step_by(2).filter(|span| span.starts_with("ileave "));
        for span in spans.filter(|span| !span.contains('\n')) {
            count += 1;
            let known: String = span.chars().filter(|letter| !"…[]".contains(*letter)).collect();
            let wrong = wrong(&known).filter(|error| {
                !matches!(
                    error.kind(),
                    ErrorKind::MissingRequiredArgument
                        | ErrorKind::InvalidValue
                        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                )
            });
            assert!(wrong.is_none(), "{}: `{span}`: {}", path.display(), wrong.unwrap());
        }
    }
    assert!(count > 50, "only {count} were found");
}

#[test]
fn words_are_split_as_a_shell_does() {
    let line = "ileave tune --drives '4x 980 pro' --name \"a b\"  x > out # ileave";
    assert_eq!(words(line), ["ileave", "tune", "--drives", "4x 980 pro", "--name", "a b", "x"]);
    assert!(wrong("ileave run x.toml --sett volume.level=raid5").is_some());
    assert!(wrong("ileave runn x.toml").is_some());
    assert_eq!(
        commands("```sh\n$ ileave keys\n```\nileave none\n```toml\nileave no\n```\n"),
        ["ileave keys"]
    );
}
