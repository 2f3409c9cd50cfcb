//! WHAT IT MEANS: pure functions of what the store holds.
//!
//! Nothing here can reach a rig, an experiment or the catalogue: the store is all that this library depends on.
//!
//! What is lower uses what is higher, and never the other way round; a test reads the sources for it.
//!
//! ```text
//! stats        medians, intervals, noise, comparisons
//! tables       figures and tables as text
//! stated       what results say of a layout's keys · cells  its trials, and their order · early  streams that end before the others
//! unsteady     trials that rank nothing · pace, lost  more things that a run may show · demerit  how far times differ
//! reproduce    published numbers beside ours · validation  measured traces beside modelled ones
//! evidence     how often the models were right
//! why          what decided between cells
//! judge        which layout to choose
//! report       all of it, for the terminal, as a page, as data
//! ```

pub mod cells;
mod demerit;
mod early;
pub mod evidence;
pub mod judge;
pub mod lost;
pub mod pace;
pub mod report;
pub mod reproduce;
mod stated;
pub mod stats;
pub mod tables;
pub mod unsteady;
pub mod validation;
pub mod why;

pub use judge::trials::enough_repeats::Settled;
pub use judge::{Layouts, Samples, Verdict, Wishes, check_objective, check_wishes};

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    /// The floors of this library, the lowest first.
    const FLOORS: [&[&str]; 9] = [
        &["stats"],
        &["tables"],
        &["stated", "cells", "early"],
        &["unsteady", "pace", "lost", "demerit"],
        &["validation", "reproduce"],
        &["evidence"],
        &["why"],
        &["judge"],
        &["report"],
    ];

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    /// The modules of this library that a source names, its tests left out.
    fn named(source: &str) -> Vec<&str> {
        let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let word =
            |at: &str| at.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(at.len());
        let named = source.split("crate::").skip(1).flat_map(|at| match at.strip_prefix('{') {
            None => vec![&at[..word(at)]],
            Some(list) => {
                let list = list.split("};").next().unwrap();
                list.split([',', '\n']).map(str::trim).map(|at| &at[..word(at)]).collect()
            }
        });
        named.filter(|name| floor(name).is_some()).collect()
    }

    fn floor(module: &str) -> Option<usize> {
        FLOORS.iter().position(|floor| floor.contains(&module))
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it reads this library's sources, not results")]
    fn no_module_uses_what_stands_above_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut found = Vec::new();
        sources(&root, &mut found);
        let mut uses = 0;
        for path in found {
            let within = path.strip_prefix(&root).unwrap();
            let module = within.components().next().unwrap().as_os_str().to_str().unwrap();
            let module = module.trim_end_matches(".rs");
            if module == "lib" || within.ends_with("tests.rs") {
                continue;
            }
            let own = floor(module).unwrap_or_else(|| panic!("{module} stands on no floor"));
            for used in named(&std::fs::read_to_string(&path).unwrap()) {
                uses += 1;
                let is_below = used == module || floor(used).unwrap() < own;
                assert!(is_below, "{}: uses {used}, which does not stand below", within.display());
            }
        }
        assert!(uses > 50, "the sources were read: {uses}");
    }
}
