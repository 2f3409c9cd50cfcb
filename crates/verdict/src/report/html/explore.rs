//! The page of `ileave explore`: choices, sliders, and what a server or a module in the page answers.

use super::{Page, frame};
use serde_json::Value as Json;

const SCRIPT: &str = include_str!("../../../assets/explore.js");
const SERVER: &str = include_str!("../../../assets/explore_server.js");
const ALONE: &str = include_str!("../../../assets/explore_alone.js");
const SECTIONS: &str = include_str!("../../../assets/explore.html");

/// What the page may do: run its own script, ask the server that it came from, and nothing else.
pub const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                          connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page with these choices, which asks the server that it came from.
pub fn explore(choices: &Json) -> String {
    page(
        choices,
        SECTIONS,
        concat!(
            "Made by ileave ",
            env!("CARGO_PKG_VERSION"),
            ". Everything is modelled; docs/tune.md says how."
        ),
        SERVER,
    )
}

/// The page with these choices, which needs no server: `module` is the model, compiled to WebAssembly, packed by gzip, in
/// base64.
pub fn explore_alone(choices: &Json, module: &str) -> String {
    let sections = format!("{SECTIONS}<script type=\"text/plain\" id=\"module\">{module}</script>");
    page(
        choices,
        &sections,
        concat!(
            "Made by ileave ",
            env!("CARGO_PKG_VERSION"),
            ". Everything is modelled, in this page itself: nothing is sent. docs/tune.md says how."
        ),
        ALONE,
    )
}

fn page(choices: &Json, sections: &str, footer: &str, asks: &'static str) -> String {
    frame(&Page {
        title: "explore",
        heading: "Explore: what would this layout do?",
        answer: "…",
        first: "",
        points: &[],
        reasons: &[],
        sections,
        footer,
        data: choices,
        scripts: &[asks, SCRIPT],
    })
}
