//! `/etc/ccd.conf`, as ccd.conf(5) of NetBSD and ccdconfig(8) of FreeBSD describe it.
//!
//! ```text
//! # ccd   ileave  flags         component devices
//! ccd0    64      none          /dev/sd2e /dev/sd3e
//! ccd1    128     CCDF_UNIFORM  /dev/sd4e /dev/sd5e \
//!                               /dev/sd6e
//! ```
//!
//! The interleave counts 512-byte sectors; 0 puts one member after another. Flags are names joined by
//! commas, a decimal or hexadecimal number, or `none`. The two systems give one bit two meanings: 0x04
//! is `CCDF_MIRROR` on FreeBSD and `CCDF_NOLABEL` on NetBSD.

use crate::error::{Error, Result, nearest};
use crate::text::{Source, Word, words};

/// Whose bits the flags are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// NetBSD: 0x04 is `CCDF_NOLABEL`.
    NetBsd,
    /// FreeBSD: 0x04 is `CCDF_MIRROR`.
    FreeBsd,
}

/// One ccd of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ccd {
    /// What it is called, as written.
    pub name: String,
    /// The line it starts in.
    pub line: usize,
    /// The interleave; 0 for a concatenation.
    pub interleave_sectors: u64,
    /// Whether all members are cut to the smallest.
    pub uniform: bool,
    /// Whether the second half of the members are copies of the first.
    pub mirror: bool,
    /// The component devices, in order.
    pub members: Vec<String>,
}

impl Ccd {
    /// What it is called among the layouts.
    pub fn level(&self) -> &'static str {
        match (self.interleave_sectors, self.mirror, self.uniform) {
            (0, _, true) => "ccd-concat-uniform",
            (0, _, false) => "ccd-concat",
            (_, true, _) => "ccd-mirror",
            (_, _, true) => "ccd-uniform",
            _ => "ccd-stripe",
        }
    }
}

/// More sectors than an interleave can have (512 GiB).
const INTERLEAVE_MAX_SECTORS: u64 = 1 << 30;
/// More members than anyone has.
const MEMBERS_MAX: usize = 4096;

const UNIFORM: u64 = 0x02;
const MIRROR: u64 = 0x04;
const PARITY: u64 = 0x08;

/// The flags by name: their bit, and whose they are.
const NAMES: &[(&str, Meaning)] = &[
    ("CCDF_SWAP", Meaning::Nothing),
    ("CCDF_UNIFORM", Meaning::Uniform),
    ("uniform", Meaning::Uniform),
    ("CCDF_NOLABEL", Meaning::Nothing),
    ("CCDF_MIRROR", Meaning::Mirror),
    ("mirror", Meaning::Mirror),
    ("CCDF_PARITY", Meaning::Parity),
    ("none", Meaning::Nothing),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Nothing,
    Uniform,
    Mirror,
    Parity,
}

/// Reads a file; `label` is its name, for messages. `system` says whose bits its numbers are.
///
/// # Errors
///
/// Where a line is not `ccd interleave flags device…`, or a flag is unknown, ambiguous without
/// `system`, or one that was never finished.
pub fn parse(label: &str, text: &str, system: Option<System>) -> Result<Vec<Ccd>> {
    let source = Source { label, text };
    let mut ccds: Vec<Ccd> = Vec::new();
    for line in logical_lines(source) {
        let ccd = parse_line(source, &line, system)?;
        if let Some(earlier) = ccds.iter().find(|earlier| earlier.name == ccd.name) {
            let message = format!(
                "`{}` appears twice, first in line {}; remove one of them",
                ccd.name, earlier.line
            );
            return Err(source.wrong(ccd.line, message));
        }
        ccds.push(ccd);
    }
    if ccds.is_empty() {
        return Err(
            source.wrong_file("it has no ccd; write one as `ccd0 64 none /dev/sd2e /dev/sd3e`")
        );
    }
    Ok(ccds)
}

/// The ccd called `name`, or the only one.
///
/// # Errors
///
/// Where none is called that, or none is named and there are several.
pub fn choose<'a>(label: &str, ccds: &'a [Ccd], name: Option<&str>) -> Result<&'a Ccd> {
    let names = || ccds.iter().map(|ccd| ccd.name.as_str()).collect::<Vec<_>>().join(", ");
    match (name, ccds) {
        (None, [only]) => Ok(only),
        (None, _) => Err(Error::input(format!(
            "{label} has {}; choose one with --unit, as in `--unit {}`",
            names(),
            ccds.first().map_or("ccd0", |first| &first.name)
        ))),
        (Some(name), _) => ccds.iter().find(|ccd| ccd.name == name).ok_or_else(|| {
            Error::input(format!(
                "--unit {name}: {label} has no ccd of that name; it has {}",
                names()
            ))
        }),
    }
}

/// The words of each line, without comments, continued lines joined.
fn logical_lines(source: Source<'_>) -> Vec<Vec<Word<'_>>> {
    let mut lines: Vec<Vec<Word<'_>>> = Vec::new();
    let mut continued = false;
    for (line, text) in source.lines() {
        let text = text.split('#').next().unwrap_or_default().trim_end();
        let (text, goes_on) = match text.strip_suffix('\\') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let found = words(line, text);
        match lines.last_mut() {
            Some(last) if continued => last.extend(found),
            _ => lines.push(found),
        }
        continued = goes_on;
    }
    lines.retain(|words| !words.is_empty());
    lines
}

fn parse_line(source: Source<'_>, line: &[Word<'_>], system: Option<System>) -> Result<Ccd> {
    let [name, interleave, flags, members @ ..] = line else {
        let message = format!(
            "{} is alone on its line; write `ccd0 64 none /dev/sd2e /dev/sd3e`: name, interleave, flags, \
             devices",
            line.last().map_or_else(String::new, Word::shown)
        );
        return Err(source.wrong(line.first().map_or(1, |word| word.line), message));
    };
    let unit = name
        .text
        .rsplit('/')
        .next()
        .and_then(|last| last.trim_start_matches('r').strip_prefix("ccd"));
    if !unit.is_some_and(|unit| unit.starts_with(|c: char| c.is_ascii_digit())) {
        let message = format!("{} is not the name of a ccd; write it as `ccd0`", name.shown());
        return Err(source.wrong(name.line, message));
    }
    let interleave_sectors =
        interleave.count(source, "interleave in sectors", &(0..=INTERLEAVE_MAX_SECTORS))?;
    let (uniform, mirror) = parse_flags(source, *flags, system)?;
    if members.is_empty() || members.len() > MEMBERS_MAX {
        let message = format!(
            "`{}` has {} component devices; name 1 to {MEMBERS_MAX} behind the flags",
            name.text,
            members.len()
        );
        return Err(source.wrong(flags.line, message));
    }
    if mirror && interleave_sectors == 0 {
        let message = "`0`: ccd(4) mirrors need an interleave; write one, for example `128`";
        return Err(source.wrong(interleave.line, message));
    }
    if mirror && !members.len().is_multiple_of(2) {
        let message = format!(
            "{} is the last of {} devices; a mirror needs an even number, so add one",
            members.last().map_or_else(String::new, Word::shown),
            members.len()
        );
        return Err(source.wrong(flags.line, message));
    }
    Ok(Ccd {
        name: name.text.into(),
        line: name.line,
        interleave_sectors,
        uniform: uniform || mirror,
        mirror,
        members: members.iter().map(|member| member.text.into()).collect(),
    })
}

/// Whether the flags say uniform, and whether they say mirror.
fn parse_flags(
    source: Source<'_>,
    flags: Word<'_>,
    system: Option<System>,
) -> Result<(bool, bool)> {
    let meanings = if flags.text.starts_with(|c: char| c.is_ascii_digit()) {
        numbered(source, flags, system)?
    } else {
        flags.text.split(',').map(|name| named(source, flags, name)).collect::<Result<_>>()?
    };
    if meanings.contains(&Meaning::Parity) {
        let message = format!("{}: no ccd(4) implements CCDF_PARITY; remove it", flags.shown());
        return Err(source.wrong(flags.line, message));
    }
    Ok((meanings.contains(&Meaning::Uniform), meanings.contains(&Meaning::Mirror)))
}

fn named(source: Source<'_>, flags: Word<'_>, name: &str) -> Result<Meaning> {
    let found = NAMES.iter().find(|(known, _)| *known == name);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let next = nearest(name, NAMES.iter().map(|(known, _)| *known)).map_or_else(
            || "known are CCDF_UNIFORM, CCDF_MIRROR, CCDF_NOLABEL, CCDF_SWAP and `none`".into(),
            |meant| format!("did you mean `{meant}`?"),
        );
        let word = Word { text: name, ..flags }.shown();
        source.wrong(flags.line, format!("{word} is not a ccd flag; {next}"))
    })
}

fn numbered(source: Source<'_>, flags: Word<'_>, system: Option<System>) -> Result<Vec<Meaning>> {
    let hex = flags.text.strip_prefix("0x").or_else(|| flags.text.strip_prefix("0X"));
    let bits = match hex {
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => flags.text.parse().ok(),
    };
    let Some(bits) = bits else {
        let message = format!(
            "{} is not a set of flags; write a number as in `0x02`, names, or `none`",
            flags.shown()
        );
        return Err(source.wrong(flags.line, message));
    };
    if bits > 0x0f {
        let message =
            format!("{} has unknown bits; ccd's are 0x01, 0x02, 0x04 and 0x08", flags.shown());
        return Err(source.wrong(flags.line, message));
    }
    if bits & MIRROR != 0 && system.is_none() {
        let message = format!(
            "{}: 0x04 is CCDF_MIRROR on FreeBSD and CCDF_NOLABEL on NetBSD; write the name, or give \
             `--system freebsd` or `--system netbsd`",
            flags.shown()
        );
        return Err(source.wrong(flags.line, message));
    }
    let freebsd = system == Some(System::FreeBsd);
    let meanings = [
        (UNIFORM, Meaning::Uniform),
        (MIRROR, if freebsd { Meaning::Mirror } else { Meaning::Nothing }),
        (PARITY, Meaning::Parity),
    ];
    Ok(meanings.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, m)| m).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANUAL: &str = "\
# ccd   ileave  flags           component devices
ccd0    64      none            /dev/sd2e /dev/sd3e
ccd1    0       0x02            /dev/sd4e /dev/sd5e     # concatenate

ccd2    128     CCDF_UNIFORM    /dev/sd0h \\
                                /dev/sd1h \\  # and one more
        /dev/sd2h
ccd3    128     CCDF_UNIFORM,CCDF_MIRROR /dev/da2e /dev/da3e
";

    fn message(text: &str) -> String {
        parse("ccd.conf", text, None).unwrap_err().to_string()
    }

    #[test]
    fn the_examples_of_the_manuals_read() {
        let ccds = parse("ccd.conf", MANUAL, None).unwrap();
        let levels: Vec<&str> = ccds.iter().map(Ccd::level).collect();
        assert_eq!(levels, ["ccd-stripe", "ccd-concat-uniform", "ccd-uniform", "ccd-mirror"]);
        assert_eq!(ccds[2].members, ["/dev/sd0h", "/dev/sd1h", "/dev/sd2h"]);
        assert_eq!((ccds[1].uniform, ccds[2].line, ccds[3].mirror), (true, 5, true));
        assert_eq!(choose("ccd.conf", &ccds, Some("ccd1")).unwrap().interleave_sectors, 0);
        let error = choose("ccd.conf", &ccds, None).unwrap_err().to_string();
        assert!(
            error.contains("ccd0, ccd1, ccd2, ccd3") && error.contains("--unit ccd0"),
            "{error}"
        );
        let error = choose("ccd.conf", &ccds, Some("ccd9")).unwrap_err().to_string();
        assert!(error.contains("`--unit") || error.contains("--unit ccd9"), "{error}");
    }

    #[test]
    fn bit_4_means_what_the_system_says() {
        let line = "ccd0 128 6 /dev/da2e /dev/da3e";
        let mirror = |system| parse("ccd.conf", line, Some(system)).unwrap()[0].mirror;
        assert!(mirror(System::FreeBsd) && !mirror(System::NetBsd));
        let error = message(line);
        assert!(error.starts_with("ccd.conf:1: `6`: 0x04 is CCDF_MIRROR on FreeBSD"), "{error}");
    }

    #[test]
    fn what_the_manuals_do_not_describe_names_line_and_word() {
        for (text, expected) in [
            ("", "it has no ccd"),
            ("\nccd0 64\n", ":2: `64` is alone on its line"),
            ("sd0 64 none a", "`sd0` is not the name of a ccd"),
            ("ccd0 lots none a", "`lots` is not a valid interleave"),
            ("ccd0 -1 none a", "`-1` is not a valid interleave"),
            ("ccd0 64 CCDF_UNIFROM a", "did you mean `CCDF_UNIFORM`?"),
            ("ccd0 64 0x20 a", "`0x20` has unknown bits"),
            ("ccd0 64 2x a", "`2x` is not a set of flags"),
            ("ccd0 64 8 a", "no ccd(4) implements CCDF_PARITY"),
            ("ccd0 64 none", "has 0 component devices"),
            ("ccd0 64 CCDF_MIRROR a b c", "`c` is the last of 3 devices"),
            ("ccd0 0 CCDF_MIRROR a b", "mirrors need an interleave"),
            ("ccd0 64 none a\nccd0 32 none b", ":2: `ccd0` appears twice, first in line 1"),
        ] {
            let error = message(text);
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
