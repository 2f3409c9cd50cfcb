//! Objectives and constraints: `min tar + rm`, `write >= 0.8*best`.
//!
//! ```text
//! objective  = ("min" | "max") sum
//! constraint = sum (">=" | "<=") sum
//! sum        = product (("+" | "-") product)*
//! product    = factor (("*" | "/") factor)*
//! factor     = "-" factor | "(" sum ")" | number | "best" | quantity
//! quantity   = name ["[" … "]"] ["." sample]
//! ```
//!
//! A name may have hyphens: `random-16` is one, `tar - rm` a difference. `best` is the best that the
//! left side of a constraint reaches in any layout.

use crate::error::{Error, Result};
use crate::quantity::Better;

/// An arithmetic expression over quantities.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(f64),
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
            return Err(Error::input(format!("`{text}` says not which way is better; {next}")));
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
            return Err(parser.wrong(&format!("write {sign}= for {sign}")));
        }
        parser.at += 1;
        let right = parser.sum(0)?;
        parser.end()?;
        if let Some(column) = best_in(&left) {
            let next = "`best` stands on the right side, for the best of the left one";
            return Err(Error::input(format!("`{text}`, column {column}: {next}")));
        }
        Ok(Constraint { text: text.trim().into(), left, at_least, right })
    }
}

/// The column of the first `best`.
fn best_in(expression: &Expression) -> Option<usize> {
    match expression {
        Expression::Best(column) => Some(*column),
        Expression::Pair(left, _, right) => best_in(left).or_else(|| best_in(right)),
        Expression::Number(_) | Expression::Quantity(..) => None,
    }
}

impl Expression {
    /// Its value, where every quantity has one.
    pub fn value(&self, best: f64, of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        match self {
            Expression::Number(number) => Some(*number),
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
            Expression::Number(_) | Expression::Best(_) => Vec::new(),
        }
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

    /// The next character that is not white space.
    fn next_char(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn end(&mut self) -> Result<()> {
        match self.next_char() {
            None => Ok(()),
            Some(_) => Err(self.wrong("expected + - * / or the end")),
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
            _ => Err(self.wrong("expected a quantity or a number")),
        }
    }

    fn number(&mut self) -> Result<Expression> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        match rest[..end].parse() {
            Ok(number) => {
                self.at += end;
                Ok(Expression::Number(number))
            }
            Err(_) => Err(self.wrong("expected a number")),
        }
    }

    /// A name with its brackets and its sample.
    fn quantity(&mut self) -> Expression {
        let column = 1 + self.text[..self.at].chars().count();
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
        match &rest[..end] {
            "best" => Expression::Best(column),
            name => Expression::Quantity(name.into(), column),
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these figures are exact")]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            "`write > read`, column 8: write >= for >; found ` `"
        );
        assert!(constraint("write <").contains("write <= for <"));
        assert!(constraint("best >= write").contains("stands on the right side"));
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
