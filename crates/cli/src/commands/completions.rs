//! `ileave completions` and `ileave man`: both from the one definition of the flags.

use crate::flags::{CompletionsFlags, Flags, ManFlags};
use clap::{Command, CommandFactory};
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
        Some(name) => named(&command, name).cloned().ok_or_else(|| {
            Error::input(format!("there is no command `{name}`; `ileave help` lists them"))
        })?,
    };
    let mut bytes = Vec::new();
    clap_mangen::Man::new(page).render(&mut bytes).map_err(Error::failure)?;
    String::from_utf8(bytes).map_err(Error::failure)
}

/// The command of this name; one of another command has both names, as its page has: `drives-fit`.
fn named<'a>(of: &'a Command, name: &str) -> Option<&'a Command> {
    let names = |command: &&Command| {
        let own = command.get_name();
        name == own || name.strip_prefix(own).is_some_and(|rest| rest.starts_with('-'))
    };
    of.get_subcommands().filter(names).find_map(|command| {
        match name[command.get_name().len()..].strip_prefix('-') {
            None => Some(command),
            Some(rest) => named(command, rest),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages name `ileave-drives-fit(1)`, which was no page.
    #[test]
    fn every_command_that_a_page_names_has_a_page() {
        fn check(command: &Command, name: &str) {
            for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
                let name =
                    format!("{name}{}{}", if name.is_empty() { "" } else { "-" }, inner.get_name());
                let page = man(&ManFlags { command: Some(name.clone()) }).unwrap();
                let title = format!(".TH ileave-{name} 1");
                assert!(
                    page.contains(&title),
                    "{title}: {}",
                    page.lines().nth(3).unwrap_or_default()
                );
                check(inner, &name);
            }
        }
        let command = Flags::command();
        assert!(command.find_subcommand("drives").unwrap().has_subcommands());
        check(&command, "");
        assert!(man(&ManFlags { command: Some("drives-fitt".into()) }).is_err());
    }
}
