//! Links between pages: the file is there, and so is the heading.

use super::project;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The pages, by their paths from the project's root.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "crates/python/README.md"]
            .map(PathBuf::from)
            .to_vec();
    let names =
        |folder: &str| fs::read_dir(project(folder)).unwrap().map(|e| e.unwrap().file_name());
    let docs = names("docs").map(|name| Path::new("docs").join(name));
    pages.extend(docs.filter(|path| path.extension().is_some_and(|end| end == "md")));
    pages
}

fn read(path: &Path) -> String {
    fs::read_to_string(project(path.to_str().unwrap())).unwrap()
}

/// The text without fenced blocks and code, where a bracket is no link.
fn prose(page: &str) -> String {
    let mut is_code = false;
    let mut prose = String::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.extend(line.split('`').step_by(2));
            prose.push('\n');
        }
    }
    prose
}

/// What headings are called in links: `## How far to trust it` is `how-far-to-trust-it`.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut anchors = BTreeSet::new();
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        if is_code || !line.starts_with('#') {
            continue;
        }
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    anchors
}

/// The targets of links.
fn targets(page: &str) -> Vec<String> {
    let prose = prose(page);
    let after = prose.split("](").skip(1);
    after.filter_map(|rest| Some(rest.split_once(')')?.0.to_string())).collect()
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let mut count = 0;
    for page in pages() {
        let text = read(&page);
        for target in targets(&text) {
            if target.contains("://") {
                continue;
            }
            count += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let to = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            let at = format!("{}: ({target})", page.display());
            assert!(project(to.to_str().unwrap()).exists(), "{at}: there is no such file");
            assert!(
                anchor.is_empty() || anchors(&read(&to)).contains(anchor),
                "{at}: no such heading"
            );
        }
    }
    assert!(count > 40, "only {count} were found");
}

/// Code and data name pages of docs/, too.
#[test]
fn every_page_that_code_names_is_there() {
    let mut folders: Vec<PathBuf> =
        ["crates", "drives", "hosts", "controllers", "experiments", "published", "trees"]
            .map(project)
            .to_vec();
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if !path
                .extension()
                .is_some_and(|end| ["rs", "toml", "md", "py"].iter().any(|e| end == *e))
            {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for rest in text.split("docs/").skip(1) {
                let name: String = rest
                    .chars()
                    .take_while(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
                    .collect();
                let Some(stem) = name.trim_end_matches('.').strip_suffix(".md") else { continue };
                count += 1;
                let page = project("docs").join(format!("{stem}.md"));
                assert!(page.exists(), "{}: there is no docs/{stem}.md", path.display());
            }
        }
    }
    assert!(count > 40, "only {count} were found");
}

#[test]
fn anchors_and_targets_are_found() {
    let page = "# A b: `c`\n```sh\n# no [x](y)\n```\nSee [a](b.md#c-d) and `[z](w)`, [e](#f).\n";
    assert_eq!(anchors(page), BTreeSet::from(["a-b-c".to_string()]));
    assert_eq!(targets(page), ["b.md#c-d", "#f"]);
}
