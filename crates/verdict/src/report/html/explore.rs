//! The page of `ileave explore`: choices, sliders, and what the server answers.

use super::{Page, frame};
use serde_json::Value as Json;

const SCRIPT: &str = include_str!("../../../assets/explore.js");
const SECTIONS: &str = include_str!("../../../assets/explore.html");

/// What the page may do: run its own script, ask the server that it came from, and nothing else.
pub const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                          connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page with these choices.
pub fn explore(choices: &Json) -> String {
    frame(&Page {
        title: "explore",
        heading: "Explore: what would this layout do?",
        answer: "…",
        first: "",
        points: &[],
        reasons: &[],
        sections: SECTIONS,
        footer: concat!(
            "Made by ileave ",
            env!("CARGO_PKG_VERSION"),
            ". Everything is modelled; docs/tune.md says how."
        ),
        data: choices,
        scripts: &[SCRIPT],
    })
}
