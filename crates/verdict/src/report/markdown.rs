//! What `--markdown` prints: the answer, the reasons and the ranking.

use super::ranking;
use crate::judge::Verdict;
use std::fmt::Write as _;

/// The verdict as Markdown.
pub fn verdict(title: &str, verdict: &Verdict) -> String {
    let mut text = format!("# {title}\n");
    // Of one layout there may be none.
    if !verdict.answer.is_empty() {
        write!(text, "\n**{}**\n", verdict.answer).expect("a string grows");
    }
    if !(verdict.points.is_empty() && verdict.sentences.is_empty()) {
        text.push('\n');
    }
    for point in &verdict.points {
        writeln!(text, "- {}: {}", point.about, point.text).expect("a string grows");
    }
    for sentence in &verdict.sentences {
        writeln!(text, "- {sentence}").expect("a string grows");
    }
    if verdict.ranked.is_empty() {
        return text;
    }
    let ranking = ranking::columns(verdict, false);
    let line = |cells: &[String]| {
        let cells: Vec<String> =
            cells.iter().map(|cell| cell.replace('\n', " ").replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    write!(text, "\nRanked by {}:\n\n{}", ranking::measure(verdict), line(&ranking.header))
        .expect("a string grows");
    let rule = |column| if column < ranking.words { "---" } else { "---:" }.to_string();
    text.push_str(&line(&(0..ranking.header.len()).map(rule).collect::<Vec<_>>()));
    for row in &ranking.rows {
        text.push_str(&line(row));
    }
    text
}
