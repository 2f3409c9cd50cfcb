//! The form of `DiskSim`'s parameter files: blocks of `name = value`, nested.
//!
//! ```text
//! disksim_disk NAME {
//!    Model = source other.model,          # another file stands here
//!    Number of buffer segments = 6,
//!    Scheduler = disksim_ioqueue { Scheduling policy = 1 },
//!    slips = [ 112508, 113430 ]
//! }
//! ```

use crate::error::{Error, Result};
use crate::text::Source;
use std::cell::Cell;

/// Blocks and lists within one another; a real file has five.
const DEPTH_MAX: usize = 16;

/// A block of parameters.
#[derive(Debug)]
pub(super) struct Block {
    /// What it describes, such as `dm_disk`.
    pub(super) kind: String,
    /// What it is called; empty without a name.
    pub(super) name: String,
    /// The file that it is in.
    pub(super) file: String,
    /// The line where it begins.
    pub(super) line: usize,
    params: Vec<Param>,
}

#[derive(Debug)]
struct Param {
    name: String,
    line: usize,
    value: Value,
    is_used: Cell<bool>,
}

#[derive(Debug)]
enum Value {
    Number(f64),
    Word(String),
    /// `source FILE`
    File(String),
    List(Vec<Value>),
    Block(Block),
}

impl Block {
    fn find(&self, name: &str) -> Option<&Param> {
        let param = self.params.iter().find(|param| param.name == name)?;
        param.is_used.set(true);
        Some(param)
    }

    /// Something at `line` is at fault.
    fn wrong(&self, line: usize, message: impl std::fmt::Display) -> Error {
        Error::input(format!("{}:{line}: {message}", self.file))
    }

    /// The parameter `name` is at fault.
    pub(super) fn wrong_param(&self, name: &str, message: impl std::fmt::Display) -> Error {
        let line = self.find(name).map_or(self.line, |param| param.line);
        self.wrong(line, format!("`{name}`: {message}"))
    }

    /// A number from `least` to `most`, where it is given.
    pub(super) fn number(&self, name: &str, [least, most]: [f64; 2]) -> Result<Option<f64>> {
        let Some(param) = self.find(name) else { return Ok(None) };
        match param.value {
            Value::Number(number) if (least..=most).contains(&number) => Ok(Some(number)),
            _ => {
                let next = format!("write a number from {least} to {most}");
                Err(self.wrong(param.line, format!("`{name}`: {next}")))
            }
        }
    }

    /// A number that must be there.
    pub(super) fn need(&self, name: &str, range: [f64; 2]) -> Result<f64> {
        self.number(name, range)?.ok_or_else(|| self.missing(name))
    }

    /// A whole number that must be there.
    pub(super) fn count(&self, name: &str, most: u64) -> Result<u64> {
        let number = self.need(name, [0.0, most as f64])?;
        if number.fract() == 0.0 {
            return Ok(number as u64);
        }
        Err(self.wrong_param(name, format!("write a whole number, up to {most}")))
    }

    fn missing(&self, name: &str) -> Error {
        let kind = &self.kind;
        self.wrong(self.line, format!("this {kind} has no `{name}`; add one"))
    }

    /// A word, where it is given.
    pub(super) fn word(&self, name: &str) -> Option<&str> {
        match &self.find(name)?.value {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The file that `name` is read from, where it is in one.
    pub(super) fn source_file(&self, name: &str) -> Option<&str> {
        match &self.find(name)?.value {
            Value::File(file) => Some(file),
            _ => None,
        }
    }

    /// A block that must be there.
    pub(super) fn block(&self, name: &str) -> Result<&Block> {
        match &self.find(name).ok_or_else(|| self.missing(name))?.value {
            Value::Block(block) => Ok(block),
            _ => Err(self.wrong_param(name, "write a block: KIND { … }")),
        }
    }

    /// The blocks of a list that must be there.
    pub(super) fn blocks(&self, name: &str) -> Result<Vec<&Block>> {
        let Value::List(values) = &self.find(name).ok_or_else(|| self.missing(name))?.value else {
            return Err(self.wrong_param(name, "write a list: [ … ]"));
        };
        let blocks = values.iter().map(|value| match value {
            Value::Block(block) => Ok(block),
            _ => Err(self.wrong_param(name, "every element must be a block: KIND { … }")),
        });
        blocks.collect()
    }

    /// The numbers of a list; none where it is not given.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f64>> {
        let Some(param) = self.find(name) else { return Ok(vec![]) };
        let Value::List(values) = &param.value else {
            return Err(self.wrong_param(name, "write a list of numbers: [ 1, 2 ]"));
        };
        let numbers = values.iter().map(|value| match value {
            Value::Number(number) => Ok(*number),
            _ => Err(self.wrong_param(name, "every element must be a number")),
        });
        numbers.collect()
    }

    /// Names of parameters that nobody has asked for, with their values where those are short.
    pub(super) fn unused(&self) -> Vec<String> {
        let unused = self.params.iter().filter(|param| !param.is_used.get());
        unused.map(|param| format!("{}{}", param.name, param.value.shown())).collect()
    }
}

impl Value {
    fn shown(&self) -> String {
        match self {
            Value::Number(number) => format!(" = {number}"),
            Value::Word(word) => format!(" = {word}"),
            Value::File(file) => format!(" = source {file}"),
            Value::Block(block) => {
                let within: Vec<String> =
                    block.params.iter().map(|param| param.name.clone()).collect();
                format!(" ({})", within.join(", "))
            }
            Value::List(values) => format!(" ({} elements)", values.len()),
        }
    }
}

/// The blocks of a file called `label`.
///
/// # Errors
///
/// Where it is not in this form.
pub(super) fn parse(label: &str, text: &str) -> Result<Vec<Block>> {
    let mut parser = Parser { source: Source { label, text }, tokens: tokens(text), at: 0 };
    let mut blocks = vec![];
    while parser.peek().is_some() {
        blocks.push(parser.block(0)?);
    }
    if blocks.is_empty() {
        return Err(parser.source.wrong_file("no block of parameters: KIND NAME { … }"));
    }
    Ok(blocks)
}

/// Words and the signs that stand alone, each with its line.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let is_sign = |letter: char| "{}[]=,".contains(letter);
    let mut all = vec![];
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.split('#').next().unwrap_or("");
        for word in content.split_whitespace() {
            let mut rest = word;
            while let Some(at) = rest.find(is_sign) {
                if at > 0 {
                    all.push((line, &rest[..at]));
                }
                all.push((line, &rest[at..=at]));
                rest = &rest[at + 1..];
            }
            if !rest.is_empty() {
                all.push((line, rest));
            }
        }
    }
    all
}

struct Parser<'a> {
    source: Source<'a>,
    tokens: Vec<(usize, &'a str)>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).map(|&(_, token)| token)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |&(line, _)| line)
    }

    fn next(&mut self) -> Option<&'a str> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn wrong<T>(&self, expected: &str) -> Result<T> {
        let found = self.peek().map_or("the end of the file".into(), |token| format!("`{token}`"));
        Err(self.source.wrong(self.line(), format!("{found}; expected {expected}")))
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        if self.peek() == Some(sign) {
            self.at += 1;
            return Ok(());
        }
        self.wrong(&format!("`{sign}`"))
    }

    /// Words up to the next sign, and where they begin.
    fn words(&mut self) -> (usize, Vec<&'a str>) {
        let line = self.line();
        let mut words = vec![];
        while let Some(word) = self.peek().filter(|token| !is_sign(token)) {
            words.push(word);
            self.at += 1;
        }
        (line, words)
    }

    /// `KIND NAME { … }`, the name left out within others.
    fn block(&mut self, depth: usize) -> Result<Block> {
        let (line, words) = self.words();
        if !(1..=2).contains(&words.len()) {
            return self.wrong("a block of parameters: KIND NAME { … }");
        }
        self.params(line, &words, depth)
    }

    fn params(&mut self, line: usize, words: &[&str], depth: usize) -> Result<Block> {
        if depth > DEPTH_MAX {
            return Err(self.source.wrong(line, format!("more than {DEPTH_MAX} blocks deep")));
        }
        self.expect("{")?;
        let mut params: Vec<Param> = vec![];
        while self.peek() != Some("}") {
            let (line, words) = self.words();
            if words.is_empty() {
                return self.wrong("the name of a parameter, or `}`");
            }
            let name = words.join(" ");
            self.expect("=")?;
            if params.iter().any(|param| param.name == name) {
                return Err(self
                    .source
                    .wrong(line, format!("`{name}` is given twice; remove one")));
            }
            let value = self.value(depth + 1)?;
            params.push(Param { name, line, value, is_used: Cell::new(false) });
            if self.peek() == Some(",") {
                self.at += 1;
            } else if self.peek() != Some("}") {
                return self.wrong("`,` or `}`");
            }
        }
        self.expect("}")?;
        Ok(Block {
            kind: words.first().map_or(String::new(), ToString::to_string),
            name: words.get(1).map_or(String::new(), ToString::to_string),
            file: self.source.label.into(),
            line,
            params,
        })
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        if depth > DEPTH_MAX {
            return self.wrong(&format!("at most {DEPTH_MAX} blocks and lists within one another"));
        }
        if self.peek() == Some("[") {
            return self.list(depth);
        }
        let (line, words) = self.words();
        if self.peek() == Some("{") && (1..=2).contains(&words.len()) {
            return self.params(line, &words, depth).map(Value::Block);
        }
        match words.as_slice() {
            ["source", file] => Ok(Value::File((*file).into())),
            [word] => Ok(match word.parse::<f64>() {
                Ok(number) if number.is_finite() => Value::Number(number),
                _ => Value::Word((*word).into()),
            }),
            _ => self.wrong("a value: a number, a word, [ … ] or KIND { … }"),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value> {
        self.expect("[")?;
        let mut values = vec![];
        while self.peek() != Some("]") {
            values.push(self.value(depth + 1)?);
            if self.peek() == Some(",") {
                self.next();
            } else if self.peek() != Some("]") {
                return self.wrong("`,` or `]`");
            }
        }
        self.expect("]")?;
        Ok(Value::List(values))
    }
}

fn is_sign(token: &str) -> bool {
    matches!(token, "{" | "}" | "[" | "]" | "=" | ",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lists_and_comments() {
        let text = "a_disk X {  # a comment = 3,\n Long name (x) = 1.5,\n B = b { in = [1, 2,3] },\n M = source x.model\n}";
        let blocks = parse("f", text).unwrap();
        let disk = &blocks[0];
        assert_eq!((disk.kind.as_str(), disk.name.as_str()), ("a_disk", "X"));
        assert_eq!(
            disk.number("Long name (x)", [1.5, 1.5]).unwrap().map(f64::to_bits),
            Some(1.5_f64.to_bits())
        );
        assert_eq!(disk.block("B").unwrap().numbers("in").unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(disk.unused(), ["M = source x.model"]);
        assert_eq!(disk.source_file("M"), Some("x.model"));
        assert!(disk.unused().is_empty());
    }

    #[test]
    fn errors_name_file_line_and_parameter() {
        for (text, expected) in [
            ("", "f: no block"),
            ("a {\n b 1\n}", "f:3: `}`; expected `=`"),
            ("a {\n b = 1 c = 2\n}", "f:2: `=`; expected a value"),
            ("a {\n b = 1,\n b = 2\n}", "f:3: `b` is given twice"),
            ("a {\n b = [1 \n", "f:2: the end of the file; expected `,` or `]`"),
            ("a { b = ", "f:1: the end of the file; expected a value"),
        ] {
            let error = parse("f", text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
        let deep = format!("a {{ b = {}", "[".repeat(1000));
        assert!(parse("f", &deep).unwrap_err().to_string().contains("at most 16"));
        let blocks = parse("f", "a {\n b = x,\n c = 7\n}").unwrap();
        let error = |result: Result<f64>| result.unwrap_err().to_string();
        assert!(error(blocks[0].need("b", [0.0, 5.0])).starts_with("f:2: `b`: write a number"));
        assert!(error(blocks[0].need("c", [0.0, 5.0])).starts_with("f:3: `c`: write a number"));
        assert!(error(blocks[0].need("d", [0.0, 5.0])).starts_with("f:1: this a has no `d`"));
    }
}
