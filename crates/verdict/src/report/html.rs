//! What `--html` writes: one page that needs nothing else, neither network nor files.
//!
//! What is said in words and tables is there without a script; the charts are drawn by Observable Plot
//! and d3, which are in the page (crates/verdict/assets/vendor, ISC). All pages have one frame, one style
//! and one way to draw.

mod curves;
mod explore;
mod latencies;
mod reproduced;
mod run;
mod thin;
mod told;
mod validated;

pub use explore::{POLICY, explore, explore_alone};
pub use reproduced::reproduced;
pub use run::run;
pub use validated::validated;

use crate::judge::Point;
use serde_json::Value as Json;
use std::fmt::Write as _;

/// What every page has near its start, and nothing else.
pub const MARK: &str = "<meta name=\"generator\" content=\"ileave\">";

const FRAME: &str = include_str!("../../assets/page.html");
const STYLE: &str = include_str!("../../assets/page.css");
const COMMON: &str = include_str!("../../assets/common.js");
const D3: &str = include_str!("../../assets/vendor/d3-7.9.0.min.js");
const PLOT: &str = include_str!("../../assets/vendor/plot-0.6.17.min.js");

/// What one page has of its own: words as they are, and markup where it says so.
struct Page<'a> {
    title: &'a str,
    heading: &'a str,
    /// The answer, in a sentence.
    answer: &'a str,
    /// Markup of what is seen first, between the answer and what stands below it.
    first: &'a str,
    /// What stands below it: margin, certainty, risk.
    points: &'a [Point],
    /// Why, in sentences.
    reasons: &'a [String],
    /// Markup.
    sections: &'a str,
    footer: &'a str,
    /// What the script draws.
    data: &'a Json,
    scripts: &'a [&'static str],
}

fn frame(page: &Page<'_>) -> String {
    let reasons = page.reasons.iter().map(|sentence| format!("<li>{}</li>", escaped(sentence)));
    let points = page.points.iter().map(|point| {
        format!("<dt>{}</dt><dd>{}</dd>", escaped(&point.about), escaped(&point.text))
    });
    let parts = [
        ("{{title}}", escaped(page.title)),
        ("{{style}}", STYLE.into()),
        ("{{heading}}", escaped(page.heading)),
        ("{{answer}}", escaped(page.answer)),
        ("{{first}}", page.first.into()),
        ("{{points}}", points.collect()),
        ("{{reasons}}", reasons.collect()),
        ("{{sections}}", page.sections.into()),
        ("{{footer}}", escaped(page.footer)),
        ("{{data}}", page.data.to_string().replace('<', "\\u003c")),
        ("{{d3}}", D3.into()),
        ("{{plot}}", PLOT.into()),
        ("{{common}}", COMMON.into()),
        ("{{script}}", page.scripts.join("\n")),
    ];
    filled(FRAME, &parts)
}

/// The template with each mark replaced once, left to right, so that what is put in is not looked at.
fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    for (mark, text) in parts {
        let (before, after) = rest.split_once(mark).expect("the template has every mark, in order");
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page + rest
}

/// A table. Of its columns the first `words` are words, and further on those that hold letters; the
/// others are numbers. `class` marks a row.
fn html_table(
    header: &[String],
    words: usize,
    rows: &[Vec<String>],
    class: impl Fn(usize) -> Option<&'static str>,
) -> String {
    let is_word = |row: &Vec<String>, index: usize| row[index].contains(char::is_alphabetic);
    let kinds: Vec<&str> = (0..header.len())
        .map(|index| match rows.iter().any(|row| is_word(row, index)) {
            _ if index < words => "",
            true => " class=w",
            false => " class=n",
        })
        .collect();
    let line = |tag: &str, cells: &[String]| {
        let cells = cells.iter().zip(&kinds);
        let marked = cells.map(|(text, kind)| format!("<{tag}{kind}>{}</{tag}>", escaped(text)));
        marked.collect::<Vec<_>>().concat()
    };
    let header = line("th", header).replace("<th", "<th scope=col");
    let mut html = format!("<table><tr>{header}</tr>");
    for (index, row) in rows.iter().enumerate() {
        let class = class(index).map_or_else(String::new, |class| format!(" class={class}"));
        write!(html, "<tr{class}>{}</tr>", line("td", row)).expect("a string grows");
    }
    html + "</table>"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
