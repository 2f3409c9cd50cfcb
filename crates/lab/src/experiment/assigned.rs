//! The values of `KEY=VALUE[,VALUE…]`, as the command line and Python give them.

use crate::keys::Written;

/// The values that commas part. A text in quotes, as TOML has them, is one value, and so is what stands between brackets:
/// `"noatime,nodiratime"`, `2xgp3[size=1TiB,iops=6000],4xgp3`.
pub fn values_of(text: &str) -> Vec<Written> {
    let mut values = Vec::new();
    let mut rest = text;
    loop {
        let (value, after) = quoted(rest).unwrap_or_else(|| bare(rest));
        values.push(value);
        let Some(after) = after.strip_prefix(',') else { return values };
        rest = after;
    }
}

/// A text in quotes up to a comma or the end, and what follows. What only begins with a quote is none.
fn quoted(text: &str) -> Option<(Written, &str)> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|first| ['"', '\''].contains(first))?;
    let mut is_escaped = false;
    let end = 1 + text[1..].find(|c: char| {
        let is_end = c == quote && !is_escaped;
        is_escaped = c == '\\' && quote == '"' && !is_escaped;
        is_end
    })?;
    let (value, after) = text.split_at(end + 1);
    let after = after.trim_start();
    let is_whole = after.is_empty() || after.starts_with(',');
    let mut table: toml::Table = format!("value = {value}").parse().ok().filter(|_| is_whole)?;
    match table.remove("value") {
        Some(toml::Value::String(value)) => Some((Written::Text(value), after)),
        _ => None,
    }
}

/// What stands before the first comma outside brackets, and what follows.
fn bare(text: &str) -> (Written, &str) {
    let mut open = 0_usize;
    let is_end = |c: char| {
        match c {
            '[' => open += 1,
            ']' => open = open.saturating_sub(1),
            _ => {}
        }
        c == ',' && open == 0
    };
    let (value, after) = text.split_at(text.find(is_end).unwrap_or(text.len()));
    (Written::Bare(value.trim().into()), after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_quotes_and_what_stands_in_brackets_is_one_value() {
        let shown = |text| values_of(text).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(shown("64KiB, 128KiB"), ["64KiB", "128KiB"]);
        assert_eq!(shown(""), [""]);
        assert_eq!(shown("a,"), ["a", ""]);
        assert_eq!(shown("a],b"), ["a]", "b"]);
        assert_eq!(
            shown("2xgp3[size=1TiB,iops=6000],4xgp3"),
            ["2xgp3[size=1TiB,iops=6000]", "4xgp3"]
        );
        let text = |text: &str| Written::Text(text.into());
        assert_eq!(
            values_of(r#""noatime,nodiratime" , 'a\,b',c"#),
            [text("noatime,nodiratime"), text(r"a\,b"), Written::Bare("c".into())]
        );
        assert_eq!(values_of(r#""say \"a, b\"\n""#), [text("say \"a, b\"\n")]);
        // No text in quotes: it has no end, goes on after it, or is no TOML.
        assert_eq!(shown("\"a,b"), ["\"a", "b"]);
        assert_eq!(shown("'a'b,c"), ["'a'b", "c"]);
        assert_eq!(shown(r#""a\q",c"#), [r#""a\q""#, "c"]);
    }
}
