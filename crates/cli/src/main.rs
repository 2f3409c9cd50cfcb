//! The `ileave` command: flags and progress only.

mod commands;
mod flags;
mod interrupt;
mod progress;
mod terminal;

use clap::Parser;
use flags::{Command, Flags};
use std::io::Write;
use std::process::ExitCode;
use terminal::Colour;

fn main() -> ExitCode {
    terminal::follow_width();
    let result = match Flags::parse().command {
        Command::Run(flags) => commands::run(&flags),
        Command::Report(flags) => commands::report(&flags),
        Command::Compare(flags) => commands::compare(&flags),
        Command::Import(flags) => commands::import(&flags),
        Command::Completions(flags) => commands::completions(&flags),
        Command::Man(flags) => commands::man(&flags),
        Command::Reproduce(flags) => commands::reproduce(&flags),
        Command::Validate(flags) => commands::validate(&flags),
        Command::Map(flags) => commands::map(&flags),
        Command::Drives(flags) => commands::drives(&flags),
        Command::Hosts(flags) => commands::hosts(&flags),
        Command::Controllers(flags) => commands::controllers(&flags),
        Command::Trees(flags) => commands::trees(&flags),
        Command::Keys(flags) => commands::keys(&flags),
    };
    let printed = result.and_then(|output| {
        // A reader that has seen enough (`| head`) is no failure.
        match std::io::stdout().lock().write_all(terminal::for_stdout(&output).as_bytes()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(lab::Error::failure(format!("cannot write the output: {error}")))
            }
            _ => Ok(()),
        }
    });
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
