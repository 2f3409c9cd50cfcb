//! Objectives and constraints: `min tar + rm`, `write >= 0.8*best`.
//!
//! ```text
//! objective  = ("min" | "max") sum
//! constraint = sum (">=" | "<=") sum
//! sum        = product (("+" | "-") product)*
//! product    = factor (("*" | "/") factor)*
//! factor     = "-" factor | "(" sum ")" | number [unit] | "best" | quantity
//! quantity   = (name | quoted) ["[" … "]"] ["." sample]
//! quoted     = '"' … '"' | "'" … "'"
//! ```
//!
//! A unit follows its number, in a constraint: `commit_p99 <= 5ms` or `5 ms`. `1e-4` is a number.
//! A name with blanks or other signs stands in quotes: `max "read one".p99`. `p99.9` in a name is `p999`, as `commit_p999`. A name may have hyphens: `random-16` is one, `tar - rm` a difference.
//! `best` is the best that the left side of a constraint reaches in any layout.

use crate::error::{Error, Result};
use crate::quantity::Better;
use crate::unit::Unit;

/// An arithmetic expression over quantities.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// A number of a unit, and the column at which it stands.
    Given(f64, &'static Unit, usize),
    /// A quantity, and the column at which it is named.
    Quantity(String, usize),
    /// What the left side of the constraint reaches at best.
    Best(usize),
    /// Two expressions and what is done with them.
    Pair(Box<Expression>, char, Box<Expression>),
}

/// What is to be made small or large.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// As it was written.
    pub text: String,
    /// Which way is better.
    pub better: Better,
    /// Of what.
    pub of: Expression,
}

/// What must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// As it was written.
    pub text: String,
    /// The left side.
    pub left: Expression,
    /// Whether the left side must be the larger one.
    pub at_least: bool,
    /// The right side.
    pub right: Expression,
}

/// Deeper nesting is not a formula that a person wrote.
const DEPTH_MAX: usize = 100;

impl Objective {
    /// Reads `min …` or `max …`.
    ///
    /// # Errors
    ///
    /// Where it is none; the message names the column.
    pub fn parse(text: &str) -> Result<Self> {
        let trimmed = text.trim_start();
        let (better, rest) = if let Some(rest) = trimmed.strip_prefix("min ") {
            (Better::Lower, rest)
        } else if let Some(rest) = trimmed.strip_prefix("max ") {
            (Better::Higher, rest)
        } else {
            let next = "begin it with `min` or `max`, as in `min tar + rm` or `max read`";
            return Err(Error::input(format!("`{text}` needs a direction; {next}")));
        };
        let mut parser = Parser::new(text, text.len() - rest.len());
        let of = parser.sum(0)?;
        parser.end()?;
        if of.quantities().is_empty() && best_in(&of).is_none() {
            let next = "name what was measured, as in `min tar + rm`";
            return Err(Error::input(format!("`{text}` is the same for every layout; {next}")));
        }
        if let Some(column) = best_in(&of) {
            let next = "`best` has a meaning in --subject-to only";
            return Err(Error::input(format!("`{text}`, column {column}: {next}")));
        }
        if let Some((_, unit, column)) = of.given() {
            let next = format!("`{}` has a meaning in --subject-to only; leave it out", unit.name);
            return Err(Error::input(format!("`{text}`, column {column}: {next}")));
        }
        Ok(Objective { text: text.trim().into(), better, of })
    }
}

impl Constraint {
    /// Reads `… >= …`.
    ///
    /// # Errors
    ///
    /// Where it is none; the message names the column.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser::new(text, 0);
        let left = parser.sum(0)?;
        let at_least = match parser.next_char() {
            Some('>') => true,
            Some('<') => false,
            _ => return Err(parser.wrong("expected >= or <=, as in `write >= 0.8*best`")),
        };
        parser.at += 1;
        // No measured figure is exact enough to be larger but not equal.
        if !parser.text[parser.at..].starts_with('=') {
            let sign = if at_least { '>' } else { '<' };
            let column = parser.text[..parser.at].chars().count();
            return Err(Error::input(format!(
                "`{text}`, column {column}: write {sign}= for {sign}, as in `write {sign}= 0.8*best`"
            )));
        }
        parser.at += 1;
        let right = parser.sum(0)?;
        parser.end()?;
        if let Some(column) = best_in(&left) {
            let next = "`best` belongs on the right side, for the best value of the left side";
            return Err(Error::input(format!("`{text}`, column {column}: {next}")));
        }
        Ok(Constraint { text: text.trim().into(), left, at_least, right })
    }

    /// The same with its numbers in the unit of its quantities, as `unit_of` gives it.
    ///
    /// # Errors
    ///
    /// Where a number of a unit stands beside quantities of another kind, or of several units; the message names the
    /// column.
    pub fn in_unit_of(&self, unit_of: &dyn Fn(&str) -> Option<String>) -> Result<Constraint> {
        let given = self.left.given().or(self.right.given());
        let Some((number, unit, column)) = given else { return Ok(self.clone()) };
        let names = self.left.quantities().into_iter().chain(self.right.quantities());
        let mut units: Vec<String> = names.filter_map(|(name, _)| unit_of(name)).collect();
        units.sort_unstable();
        units.dedup();
        let (text, name) = (&self.text, unit.name);
        let wrong = |what: String| {
            Error::input(format!("`{text}`, column {column}: `{number}{name}`: {what}"))
        };
        let [only] = units.as_slice() else {
            let units = units.join(" and ");
            return Err(wrong(format!(
                "beside quantities in {units}; write numbers without units"
            )));
        };
        let known = Unit::find(only)
            .ok_or_else(|| wrong(format!("units differ: write the number without {name}")))?;
        let convert = |side: &Expression| {
            side.converted(known).ok_or_else(|| {
                wrong(format!("it is compared with what is in {only}; write a number of {only}"))
            })
        };
        let (left, right) = (convert(&self.left)?, convert(&self.right)?);
        Ok(Constraint { left, right, ..self.clone() })
    }
}

/// The column of the first `best`.
fn best_in(expression: &Expression) -> Option<usize> {
    match expression {
        Expression::Best(column) => Some(*column),
        Expression::Pair(left, _, right) => best_in(left).or_else(|| best_in(right)),
        Expression::Number(_) | Expression::Given(..) | Expression::Quantity(..) => None,
    }
}

impl Expression {
    /// The first number of a unit, and its column.
    fn given(&self) -> Option<(f64, &'static Unit, usize)> {
        match self {
            Expression::Given(number, unit, column) => Some((*number, unit, *column)),
            Expression::Pair(left, _, right) => left.given().or_else(|| right.given()),
            _ => None,
        }
    }

    /// The same with its numbers in `unit`; none where one measures something else.
    fn converted(&self, unit: &Unit) -> Option<Expression> {
        Some(match self {
            Expression::Given(number, of, _) => Expression::Number(number * of.in_units_of(unit)?),
            Expression::Pair(left, operator, right) => {
                let (left, right) = (left.converted(unit)?, right.converted(unit)?);
                Expression::Pair(Box::new(left), *operator, Box::new(right))
            }
            other => other.clone(),
        })
    }

    /// Its value, where every quantity has one, and numbers are in their units.
    pub fn value(&self, best: f64, of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        match self {
            Expression::Number(number) | Expression::Given(number, ..) => Some(*number),
            Expression::Best(_) => Some(best),
            Expression::Quantity(name, _) => of(name),
            Expression::Pair(left, operator, right) => {
                let (left, right) = (left.value(best, of)?, right.value(best, of)?);
                Some(match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right,
                })
            }
        }
    }

    /// The quantities that it names, each with its column.
    pub fn quantities(&self) -> Vec<(&str, usize)> {
        match self {
            Expression::Quantity(name, column) => vec![(name, *column)],
            Expression::Pair(left, _, right) => {
                let mut names = left.quantities();
                names.extend(right.quantities());
                names
            }
            Expression::Number(_) | Expression::Given(..) | Expression::Best(_) => Vec::new(),
        }
    }
}

/// A quantity's name as a formula says it: in quotes where it could not be read without.
pub fn as_written(name: &str) -> String {
    let is_read = Objective::parse(&format!("min {name}"))
        .is_ok_and(|parsed| parsed.of == Expression::Quantity(name.into(), 5));
    match (is_read, name.contains('"')) {
        (true, _) => name.into(),
        (_, false) => format!("\"{name}\""),
        (_, true) => format!("'{name}'"),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, at: usize) -> Self {
        Parser { text, at }
    }

    fn wrong(&self, what: &str) -> Error {
        let column = 1 + self.text[..self.at].chars().count();
        let found = match self.text[self.at..].chars().next() {
            Some(found) => format!("`{found}`"),
            None => "the end".into(),
        };
        Error::input(format!("`{}`, column {column}: {what}; found {found}", self.text))
    }

    /// The same where what was found may be a part of a name.
    fn unquoted(&self, what: &str) -> Error {
        let next = "put a name with other signs than letters, digits, - and _ in quotes, as in \"read one\"";
        self.wrong(what).followed_by(next)
    }

    /// The next character that is not white space.
    fn next_char(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn end(&mut self) -> Result<()> {
        match self.next_char() {
            None => Ok(()),
            Some(_) => Err(self.unquoted("expected + - * / or the end")),
        }
    }

    fn sum(&mut self, depth: usize) -> Result<Expression> {
        let mut left = self.product(depth)?;
        while let Some(operator @ ('+' | '-')) = self.next_char() {
            self.at += 1;
            left = Expression::Pair(Box::new(left), operator, Box::new(self.product(depth)?));
        }
        Ok(left)
    }

    fn product(&mut self, depth: usize) -> Result<Expression> {
        let mut left = self.factor(depth)?;
        while let Some(operator @ ('*' | '/')) = self.next_char() {
            self.at += 1;
            left = Expression::Pair(Box::new(left), operator, Box::new(self.factor(depth)?));
        }
        Ok(left)
    }

    fn factor(&mut self, depth: usize) -> Result<Expression> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("the formula is nested too deeply"));
        }
        match self.next_char() {
            Some('-') => {
                self.at += 1;
                let inner = self.factor(depth + 1)?;
                let zero = Box::new(Expression::Number(0.0));
                Ok(Expression::Pair(zero, '-', Box::new(inner)))
            }
            Some('(') => {
                self.at += 1;
                let inner = self.sum(depth + 1)?;
                if self.next_char() != Some(')') {
                    return Err(self.wrong("expected )"));
                }
                self.at += 1;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => Ok(self.quantity()),
            Some(quote @ ('"' | '\'')) => self.quoted(quote),
            Some(c) if !"+*/()<>=".contains(c) => {
                Err(self.unquoted("expected a quantity or a number"))
            }
            _ => Err(self.wrong("expected a quantity or a number")),
        }
    }

    fn number(&mut self) -> Result<Expression> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let end = end + exponent_length(&rest[end..]);
        let Ok(number) = rest[..end].parse() else {
            return Err(self.wrong("expected a number"));
        };
        let column = 1 + self.text[..self.at].chars().count();
        self.at += end;
        let rest = &self.text[self.at..];
        let is_of_unit = |c: char| c.is_alphabetic() || c == '%';
        // A rate's unit has a slash within; `20/3` and `20/seek` have none behind their number.
        let end = rest.find(|c: char| !is_of_unit(c)).unwrap_or(rest.len());
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let per_second = rest[end..].strip_prefix("/s").filter(|after| !after.starts_with(is_word));
        let end = if per_second.is_some() { end + 2 } else { end };
        if end == 0 {
            return Ok(self.unit_after_blank(number, column));
        }
        let Some(unit) = Unit::find(&rest[..end]) else {
            let units = Unit::names().join(", ");
            return Err(self.wrong(&format!("expected a unit ({units}) or + - * /")));
        };
        self.at += end;
        Ok(Expression::Given(number, unit, column))
    }

    /// A number with the unit that follows it after a blank; without one where none does. No formula has a name right behind a
    /// number.
    fn unit_after_blank(&mut self, number: f64, column: usize) -> Expression {
        let rest = &self.text[self.at..];
        let word = rest.trim_start();
        let end = word.find(|c: char| !(c.is_alphabetic() || "%/".contains(c)));
        let end = end.unwrap_or(word.len());
        // `20 s/seek` is one of seconds, divided.
        let ends = (1..=end).rev().filter(|end| word.is_char_boundary(*end));
        let is_whole =
            |end: &usize| !word[*end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let known = ends.filter(is_whole).find_map(|end| Some((Unit::find(&word[..end])?, end)));
        let Some((unit, end)) = known else { return Expression::Number(number) };
        self.at += rest.len() - word.len() + end;
        Expression::Given(number, unit, column)
    }

    /// A name in quotes, with its brackets and its sample behind them.
    fn quoted(&mut self, quote: char) -> Result<Expression> {
        let rest = &self.text[self.at + 1..];
        let Some(end) = rest.find(quote) else {
            return Err(self.wrong(&format!("expected a closing {quote}")));
        };
        if end == 0 {
            return Err(self.wrong("expected a name in the quotes"));
        }
        let column = 1 + self.text[..self.at].chars().count();
        self.at += end + 2;
        let has_more = self.text[self.at..].starts_with(['[', '.']);
        let after = if has_more { self.name() } else { "" };
        Ok(Expression::Quantity(format!("{}{}", &rest[..end], with_p999(after)), column))
    }

    /// A name with its brackets and its sample.
    fn quantity(&mut self) -> Expression {
        let column = 1 + self.text[..self.at].chars().count();
        match self.name() {
            "best" => Expression::Best(column),
            name => Expression::Quantity(with_p999(name), column),
        }
    }

    /// The letters of a name, its brackets and its sample, as far as they go.
    fn name(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let mut end = rest.len();
        let mut inside = false;
        let mut characters = rest.char_indices().peekable();
        while let Some((index, c)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            let part = match c {
                '[' | ']' => {
                    inside = c == '[';
                    true
                }
                _ if inside => true,
                '-' | '.' => next.is_some_and(char::is_alphanumeric),
                _ => c.is_alphanumeric() || c == '_',
            };
            if !part {
                end = index;
                break;
            }
        }
        self.at += end;
        &rest[..end]
    }
}

/// How long the exponent is that a number goes on with: `e-4` of `1e-4`. None is one that a letter follows.
fn exponent_length(rest: &str) -> usize {
    let Some(digits) = rest.strip_prefix(['e', 'E']) else { return 0 };
    let digits = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    let after = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_one = after.len() < digits.len() && !after.starts_with(char::is_alphabetic);
    if is_one { rest.len() - after.len() } else { 0 }
}

/// The name with `p999` for `p99.9` behind its brackets, as samples are called.
fn with_p999(name: &str) -> String {
    let (brackets, rest) = name.split_at(name.rfind(']').map_or(0, |at| at + 1));
    let is_percentile = |(at, found): (usize, &str)| {
        let (before, after) = (&rest[..at], &rest[at + found.len()..]);
        (before.is_empty() || before.ends_with(['.', '_']))
            && (after.is_empty() || after.starts_with('_'))
    };
    match rest.match_indices("p99.9").find(|&found| is_percentile(found)) {
        Some((at, found)) => {
            format!("{brackets}{}p999{}", &rest[..at], &rest[at + found.len()..])
        }
        None => name.into(),
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these figures are exact")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 5 ms, whatever the unit of what it is compared with.
    #[test]
    fn numbers_have_units_in_constraints() {
        let right = |text: &str, unit: &'static str| {
            let in_unit = Constraint::parse(text)?.in_unit_of(&|_| Some(unit.into()))?;
            Ok::<f64, Error>(in_unit.right.value(0.0, &|_| None).unwrap())
        };
        assert_eq!(right("commit_p99 <= 5ms", "ms").unwrap(), 5.0);
        assert_eq!(right("commit_p99 <= 0.5s", "ms").unwrap(), 500.0);
        assert_eq!(right("tar <= 2 * 1.5min", "s").unwrap(), 180.0);
        assert_eq!(right("read >= 1.5GB/s", "MB/s").unwrap(), 1500.0);
        assert_eq!(right("reads >= 20/s", "/s").unwrap(), 20.0);
        assert_eq!(right("tar <= 20/4", "s").unwrap(), 5.0);
        // A blank before the unit was refused.
        assert_eq!(right("commit_p99 <= 3 ms", "ms").unwrap(), 3.0);
        assert_eq!(right("read >= 1.5 GB/s * 2", "MB/s").unwrap(), 3000.0);
        assert_eq!(right("tar <= 20 s/4", "s").unwrap(), 5.0);
        assert_eq!(right("loss_5y <= 0.01 %", "of 1").unwrap(), 1e-4);
        assert!(right("tar <= 20 seek", "s").unwrap_err().to_string().contains("expected + - * /"));
        assert_eq!(right("usable_tb >= 60000GB", "TB").unwrap(), 60.0);
        assert_eq!(right("loss_5y <= 0.01%", "of 1").unwrap(), 1e-4);
        assert_eq!(right("loss_5y <= 1e-4", "of 1").unwrap(), 1e-4);
        assert_eq!(right("tar <= 2.5E+1 + 1e0", "s").unwrap(), 26.0);
        assert!(right("tar <= 1e", "s").unwrap_err().to_string().contains("expected a unit"));
        assert!(Constraint::parse("tar <= 20/seek").unwrap().right.given().is_none());
        let wrong = |text, unit| right(text, unit).unwrap_err().to_string();
        assert!(
            wrong("read >= 5ms", "MB/s")
                .ends_with("`5ms`: it is compared with what is in MB/s; write a number of MB/s")
        );
        assert!(wrong("faults <= 5ms", "").contains("column 11: `5ms`"));
        assert!(wrong("tar <= 5msec", "s").contains("expected a unit (ns, us,"));
        let objective = Objective::parse("min tar + 5s").unwrap_err().to_string();
        assert!(objective.contains("`s` has a meaning in --subject-to only"), "{objective}");
    }

    fn value(text: &str) -> f64 {
        let of = |name: &str| match name {
            "tar" => Some(10.0),
            "rm" => Some(4.0),
            "random-16" => Some(3.0),
            "files[step=touch].user_s" => Some(7.0),
            _ => None,
        };
        Objective::parse(text).unwrap().of.value(0.0, &of).unwrap()
    }

    #[test]
    fn formulas_mean_what_they_say() {
        assert_eq!(value("min tar+rm"), 14.0);
        assert_eq!(value("min tar - rm*2"), 2.0);
        assert_eq!(value("max (tar - rm)/2"), 3.0);
        assert_eq!(value("min random-16 + 1"), 4.0);
        assert_eq!(value("min -rm + files[step=touch].user_s"), 3.0);
        let constraint = Constraint::parse("tar >= 0.8*best").unwrap();
        assert!(constraint.at_least);
        assert_eq!(constraint.right.value(5.0, &|_| None), Some(4.0));
    }

    /// A workload's name may have any letters, and formulas could say few of them.
    #[test]
    fn names_may_stand_in_quotes() {
        let named = |text: &str| {
            let formula = Objective::parse(text).unwrap().of;
            formula
                .quantities()
                .iter()
                .map(|(name, at)| format!("{at}: {name}"))
                .collect::<Vec<_>>()
        };
        for (text, names) in [
            ("max \"réad one\"", vec!["5: réad one"]),
            ("max 'a \"b\"' + \"it's\"", vec!["5: a \"b\"", "15: it's"]),
            ("min 'read (p99.9)'.p99.9", vec!["5: read (p99.9).p999"]),
            ("min \"a+b\"[depth=2].latency_p99_ms*2", vec!["5: a+b[depth=2].latency_p99_ms"]),
            ("min 'best'", vec!["5: best"]),
        ] {
            assert_eq!(named(text), names, "{text}");
        }
        let constraint = Constraint::parse("'read one' >= 0.8*best").unwrap();
        assert_eq!(constraint.left.quantities(), [("read one", 1)]);
        let wrong = |text| Objective::parse(text).unwrap_err().to_string();
        assert!(
            wrong("min 'read one").ends_with("column 5: expected a closing '; found `'`"),
            "{}",
            wrong("min 'read one")
        );
        assert!(wrong("min ''").contains("column 5: expected a name in the quotes"));
        for (name, written) in [
            ("read", "read"),
            ("réad one", "\"réad one\""),
            ("a\"b", "'a\"b'"),
            ("best", "\"best\""),
        ] {
            assert_eq!(as_written(name), written);
            assert_eq!(named(&format!("max {written}")), [format!("5: {name}")]);
        }
        // Whoever does not know that is told.
        let next = "; put a name with other signs than letters, digits, - and _ in quotes, as in \"read one\"";
        assert!(
            wrong("max réad one").ends_with(&format!("found `o`{next}")),
            "{}",
            wrong("max réad one")
        );
        assert!(wrong("max read#1").ends_with(&format!("found `#`{next}")));
        assert!(wrong("max #1").ends_with(&format!("found `#`{next}")));
        assert!(!wrong("max tar+").contains("quotes"));
    }

    /// As the latencies of `capacity` are written.
    #[test]
    fn p99_9_is_p999() {
        let named = |text: &str| {
            let formula = Objective::parse(&format!("min {text}")).unwrap().of;
            formula.quantities().iter().map(|(name, _)| (*name).to_string()).collect::<Vec<_>>()
        };
        for (text, name) in [
            ("p99.9", "p999"),
            ("pages.p99.9", "pages.p999"),
            ("wal.commit_p99.9", "wal.commit_p999"),
            ("t.latency_p99.9_ms", "t.latency_p999_ms"),
            ("t[x=p99.9].p99.9", "t[x=p99.9].p999"),
            ("t[x=p99.9]", "t[x=p99.9]"),
            ("pages.p99.95", "pages.p99.95"),
            ("stop99.9", "stop99.9"),
        ] {
            assert_eq!(named(text), [name], "{text}");
        }
        assert_eq!(named("p99.9+rm.p99.9*2"), ["p999", "rm.p999"]);
        let constraint = Constraint::parse("commit_p99.9 <= 5ms").unwrap();
        assert_eq!(constraint.left.quantities(), [("commit_p999", 1)]);
    }

    #[test]
    fn errors_name_the_column() {
        let objective = |text| Objective::parse(text).unwrap_err().to_string();
        assert!(objective("tar+rm").contains("begin it with `min` or `max`"));
        assert_eq!(
            objective("min tar+"),
            "`min tar+`, column 9: expected a quantity or a number; found the end"
        );
        assert!(
            objective("min tar rm").contains("column 9: expected + - * / or the end; found `r`")
        );
        assert!(objective("min (tar").contains("expected )"));
        assert!(objective("max 2*3").contains("the same for every layout; name what"));
        assert!(objective("min 2*best").contains("column 7: `best` has a meaning in --subject-to"));
        let constraint = |text| Constraint::parse(text).unwrap_err().to_string();
        assert!(constraint("write").contains("expected >= or <="));
        assert_eq!(
            constraint("write > read"),
            "`write > read`, column 7: write >= for >, as in `write >= 0.8*best`"
        );
        assert!(constraint("write <").contains("write <= for <"));
        assert!(constraint("best >= write").contains("belongs on the right side"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}", formula in "[a-z0-9+*/().<>= -]{0,30}") {
            for text in [text, format!("min {formula}"), formula] {
                let _ = Objective::parse(&text);
                let _ = Constraint::parse(&text);
            }
        }
    }
}
