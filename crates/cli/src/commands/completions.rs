//! `ileave completions` and `ileave man`: both from the one definition of the flags.

use crate::flags::{CompletionsFlags, Flags, ManFlags};
use clap::CommandFactory;
use lab::{Error, Result};

/// The completions for a shell.
pub(crate) fn completions(flags: &CompletionsFlags) -> Result<String> {
    let mut bytes = Vec::new();
    clap_complete::generate(flags.shell, &mut Flags::command(), "ileave", &mut bytes);
    String::from_utf8(bytes).map_err(Error::failure)
}

/// The manual page of the command, or of one of its commands.
pub(crate) fn man(flags: &ManFlags) -> Result<String> {
    let mut command = Flags::command();
    command.build();
    let page = match &flags.command {
        None => command,
        Some(name) => {
            let found = command.find_subcommand(name).cloned();
            found.ok_or_else(|| {
                Error::input(format!("there is no command `{name}`; `ileave help` lists them"))
            })?
        }
    };
    let mut bytes = Vec::new();
    clap_mangen::Man::new(page).render(&mut bytes).map_err(Error::failure)?;
    String::from_utf8(bytes).map_err(Error::failure)
}
