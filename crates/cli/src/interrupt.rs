//! Ctrl-C and SIGTERM while trials run: the last message says how to go on.
//!
//! There is nothing to save: each finished trial is on disk already. Running trials are dropped, as they may
//! take minutes more and give the same result when they run again.

use crate::progress::Bar;
use crate::terminal::harmless;
use lab::rig::Undo;
use lab::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write as _;
use std::process::exit;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A second signal within this time counts as the first: `timeout` and `cargo run` pass on a signal that
/// the whole process group gets anyway.
const ONE_SIGNAL: Duration = Duration::from_millis(200);

/// The thread that waits for signals.
const THREAD: &str = "signals";

/// What a signal will say.
pub(crate) struct Last(Arc<Mutex<String>>);

impl Last {
    /// From now on it says this.
    pub(crate) fn say(&self, words: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }
}

/// From now on a signal removes the bar, prints `last` on standard error, takes down what `undo` has, and ends the process. A second
/// one ends it at once, in case the terminal blocks the first.
pub(crate) fn watch(bar: &Bar, undo: Undo, last: String) -> Result<Last> {
    let bar = bar.clone();
    let said = Last(Arc::new(Mutex::new(last)));
    let last = said.0.clone();
    let signals = Signals::new([SIGINT, SIGTERM]);
    let mut signals =
        signals.map_err(|error| Error::failure(format!("cannot wait for Ctrl-C: {error}")))?;
    // Its name says that signals are taken from now on: one that came while they were registered is lost.
    let named = thread::Builder::new().name(THREAD.into());
    let waiting = named.spawn(move || {
        let mut signals = signals.forever();
        let Some(first) = signals.next() else { return };
        thread::spawn(move || {
            bar.finish();
            // If standard error is closed, the exit status still tells.
            let last = last.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = writeln!(std::io::stderr(), "{}", harmless(&last));
            undo.run();
            exit(status(first));
        });
        thread::sleep(ONE_SIGNAL);
        if let Some(second) = signals.next() {
            exit(status(second));
        }
    });
    waiting.map_err(|error| Error::failure(format!("cannot wait for Ctrl-C: {error}")))?;
    Ok(said)
}

/// The exit status that shells give a process ended by a signal: 130 after Ctrl-C, 143 after SIGTERM.
fn status(signal: i32) -> i32 {
    128 + signal
}

/// This command again, without the flags `without` and their values, and with `more` at its end; ready to
/// paste into a shell.
pub(crate) fn this_command(without: &[&str], more: &[&str]) -> String {
    let given: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    command(given, without, more)
}

fn command(given: Vec<String>, without: &[&str], more: &[&str]) -> String {
    let mut words = vec!["ileave".to_string()];
    let mut given = given.into_iter();
    while let Some(word) = given.next() {
        if without.contains(&word.as_str()) {
            // Its value goes with it.
            given.next();
        } else if !without.iter().any(|flag| word.starts_with(&format!("{flag}="))) {
            words.push(quoted(&word));
        }
    }
    words.extend(more.iter().map(|word| quoted(word)));
    words.join(" ")
}

/// A word as a shell takes it for one.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_command_goes_on() {
        let again = |given: &[&str]| {
            let given = given.iter().map(|word| (*word).to_string()).collect();
            command(given, &["--out", "--resume"], &["--resume", "my results"])
        };
        let asked = ["run", "a.toml", "--out", "my results", "--set", "volume.level=raid5"];
        let expected = "ileave run a.toml --set volume.level=raid5 --resume 'my results'";
        assert_eq!(again(&asked), expected);
        let asked = ["run", "--resume=my results", "a.toml", "--set=volume.level=raid5"];
        let expected = "ileave run a.toml --set=volume.level=raid5 --resume 'my results'";
        assert_eq!(again(&asked), expected);
        assert_eq!(
            again(&["run", "it's.toml"]),
            r"ileave run 'it'\''s.toml' --resume 'my results'"
        );
    }
}
