//! The `ileave` command: flags and progress only.

mod commands;
mod engines;
mod flags;
mod interrupt;
mod progress;
mod terminal;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use flags::{Command, Flags};
use std::io::Write;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::process::ExitCode;
use terminal::Colour;

/// Commands that have another name now.
const RENAMED: [(&str, &str); 1] = [("boxes", "controllers")];

/// The flags that were given. Ends the program where they are wrong.
fn flags() -> Flags {
    Flags::try_parse().unwrap_or_else(|error| {
        let given = std::env::args().nth(1).unwrap_or_default();
        if let Some((_, now)) = RENAMED.iter().find(|(old, _)| *old == given) {
            let message = format!("`ileave {given}` is now called `ileave {now}`");
            Flags::command().error(ErrorKind::InvalidSubcommand, message).exit()
        }
        with_next_step(without_idle_tip(error)).exit()
    })
}

/// Without clap's tip to pass an unknown option as the value of an argument, behind `--`: no file that ileave takes begins with
/// dashes. What the option may have meant stays.
fn without_idle_tip(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::StyledStrs(tips)) = error.remove(ContextKind::Suggested)
    {
        let is_idle = |tip: &clap::builder::StyledStr| tip.to_string().contains("as a value, use");
        let tips: Vec<clap::builder::StyledStr> =
            tips.into_iter().filter(|tip| !is_idle(tip)).collect();
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    error
}

/// With what to write beside an experiment in place of a least capacity, which is a wish about drives.
fn with_next_step(mut error: clap::Error) -> clap::Error {
    let names_capacity = error.context().any(|(_, value)| value.to_string().contains("--capacity"));
    if error.kind() == ErrorKind::ArgumentConflict && names_capacity {
        let tip = "with an experiment write --subject-to 'usable_tb >= 50', in TB of 10^12 bytes";
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(disk) = disk_of_the_guest() {
        return ended(commands::guest(&disk));
    }
    terminal::follow_width();
    let result = match flags().command {
        Command::Run(flags) => commands::run(&flags),
        Command::Submit(flags) => commands::submit(&flags),
        Command::Merge(flags) => commands::merge(&flags),
        Command::Report(flags) => commands::report(&flags),
        Command::Export(flags) => commands::export(&flags),
        Command::Compare(flags) => commands::compare(&flags),
        Command::Import(flags) => commands::import(&flags),
        Command::Completions(flags) => commands::completions(&flags),
        Command::Man(flags) => commands::man(&flags),
        Command::Reproduce(flags) => commands::reproduce(&flags),
        Command::Explore(flags) => commands::explore(&flags),
        Command::Tune(flags) => commands::tune(&flags),
        Command::Risk(flags) => commands::risk(&flags),
        Command::Check(flags) => commands::check(&flags),
        Command::Validate(flags) => commands::validate(&flags),
        Command::Map(flags) => commands::map(&flags),
        Command::Drives(flags) => commands::drives(&flags),
        Command::Hosts(flags) => commands::hosts(&flags),
        Command::Controllers(flags) => commands::controllers(&flags),
        Command::Trees(flags) => commands::trees(&flags),
        #[cfg(target_os = "linux")]
        Command::Kernel(flags) => commands::kernel(&flags),
        #[cfg(target_os = "linux")]
        Command::Guest(flags) => commands::guest(&flags.control),
        Command::Keys(flags) => commands::keys(&flags),
    };
    ended(result)
}

/// The disk that holds the job, where this program is what a kernel of `--on kernel` runs: it is started for each trial,
/// and to read its two words as flags would take a third of the time of a short one.
#[cfg(target_os = "linux")]
fn disk_of_the_guest() -> Option<PathBuf> {
    if std::process::id() != 1 {
        return None;
    }
    let mut words = std::env::args_os().skip(1);
    (words.next()? == lab::rig::kernel::guest::COMMAND).then(|| words.next().map(PathBuf::from))?
}

/// Prints what a command answers, and gives the status that the program ends with.
fn ended(result: lab::Result<String>) -> ExitCode {
    let printed = result.and_then(|output| commands::print(&output));
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where even standard error cannot be written, the status still says it.
            let said = terminal::message("error", Colour::Red, &error.to_string());
            let _ = writeln!(std::io::stderr(), "{said}");
            ExitCode::from(error.exit_status())
        }
    }
}
