//! `ileave check`.

use super::run::open;
use super::{print, print_json};
use crate::flags::CheckFlags;
use crate::progress::Bar;
use lab::laws::{self, Drawn, Findings};
use lab::{Error, Result};
use std::fmt::Write as _;
use store::words::counted;

/// Looks for cells that break a law; fails where it finds one.
pub(crate) fn check(flags: &CheckFlags) -> Result<String> {
    let bar = Bar::new();
    let found = match (&flags.file, flags.cell) {
        (None, Some(index)) => laws::one(Drawn { seed: flags.seed, index }),
        (None, None) => {
            laws::search(flags.cells, flags.seed, &mut |cells| bar.cells(cells, flags.cells))
        }
        (Some(file), _) => laws::check(&open(file)?, &mut |cells| bar.cells(cells, cells))?,
    };
    bar.finish();
    let output = if flags.json {
        print_json(&serde_json::to_value(&found).map_err(Error::failure)?)
    } else {
        text(&found)
    };
    if found.findings.is_empty() {
        return Ok(output);
    }
    print(&output)?;
    let count: u64 = found.broken.values().sum();
    Err(Error::failure(format!("{count} cells break a law; the experiments above show it")))
}

/// What was found, the findings first.
fn text(found: &Findings) -> String {
    let mut output = String::new();
    for finding in &found.findings {
        let law = laws::laws().find(|law| law.name == finding.law);
        let about = law.map_or("", |law| law.about);
        let by = finding.drawn.map_or_else(String::new, |Drawn { seed, index }| {
            format!(" by what `--seed {seed} --cell {index}` draws")
        });
        let experiment = finding.experiment.trim_end().replace('\n', "\n  ");
        writeln!(
            output,
            "{} is broken{by}: {about}\n  {}\n  {experiment}\n",
            finding.law, finding.measured
        )
        .expect("a string grows");
    }
    for (limit, count) in &found.known_limits {
        writeln!(output, "{}: {limit}", counted(count, "known limit")).expect("a string grows");
    }
    // A law compares a cell with others, which are simulated for it.
    let checked = found.asked.get("no panic").copied().unwrap_or(0);
    writeln!(output, "{} checked in {} simulations", counted(checked, "cell"), found.cells)
        .expect("a string grows");
    for law in laws::laws() {
        let count =
            |of: &std::collections::BTreeMap<&str, u64>| of.get(law.name).copied().unwrap_or(0);
        let (asked, broken) = (count(&found.asked), count(&found.broken));
        writeln!(output, "{:<14}{asked:>8} asked{broken:>6} broken  {}", law.name, law.about)
            .expect("a string grows");
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Eight cells of a file were "16 cells simulated".
    #[test]
    fn cells_are_told_from_simulations() {
        let asked = BTreeMap::from([("no panic", 8), ("depth", 4)]);
        let said = text(&Findings { cells: 16, asked, ..Findings::default() });
        assert!(said.starts_with("8 cells checked in 16 simulations\n"), "{said}");
    }
}
