//! Commands as a shell is given them.

use super::Command;
use std::fmt::Write as _;

/// What all lines behind the drives' names are in: `mkfs` is not to work on something else where no array was made. A shell reads
/// the whole before it begins, so that no line goes on alone where one has failed. What is pasted behind it at once would answer
/// mdadm's question whether to go on.
const START: &str =
    "# build: paste this block alone; it ends at the first line that fails\n( set -e";

/// What stands in place of the line above it.
const INSTEAD: &str = "or ";

/// The commands, each below what it is for.
pub(crate) fn printed(commands: &[Command]) -> String {
    let is_build = |of: &&Command| of.when == "build";
    let is_named = |of: &Command| of.line.starts_with("disks=");
    let first = commands.iter().position(is_named).map_or(0, |at| at + 1);
    let length = commands[first..].iter().take_while(is_build).count();
    let runs = |of: &&Command| !of.line.starts_with('#');
    let is_block = commands[first..first + length].iter().filter(runs).count() > 1;
    let mut text = String::new();
    for (place, Command { when, what, line }) in commands.iter().enumerate() {
        if is_block && place == first {
            writeln!(text, "{START}").expect("a string grows");
        }
        if is_block && *when == "build" && what.starts_with(INSTEAD) {
            writeln!(text, "# {when}: {what}, in place of the line above\n# {line}")
                .expect("a string grows");
        } else {
            // `set -e` lets a list go on whose first command has failed.
            let ends = if is_block && *when == "build" && line.contains(" && ") {
                " || exit 1"
            } else {
                ""
            };
            writeln!(text, "# {when}: {what}\n{line}{ends}").expect("a string grows");
        }
        if is_block && place + 1 == first + length {
            text += ")\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command as Process;

    fn command(when: &'static str, what: &str, line: &str) -> Command {
        Command { when, what: what.into(), line: line.into() }
    }

    /// After an array that was not made, the file system was made on another one.
    #[test]
    fn a_shell_stops_at_the_first_line_that_fails() {
        let build = |line: &str| command("build", "a line", line);
        let run = |made: &str| {
            let commands = [
                command("build", "your drives", "disks=\"a b\""),
                build(made),
                build("echo files"),
                command("build", "or ext4", "echo other"),
                build("echo mounted"),
                command("check", "drives", "echo $disks"),
            ];
            let output = Process::new("sh").arg("-c").arg(printed(&commands)).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert_eq!(run("true"), "files\nmounted\na b\n");
        assert_eq!(run("false"), "a b\n");
        assert_eq!(run("false && true"), "a b\n");
        assert_eq!(run("true && true"), "files\nmounted\na b\n");
    }

    #[test]
    fn one_line_alone_is_no_block() {
        let none = command("build", "the volume", "# none: it is the drive itself");
        assert_eq!(printed(&[none]), "# build: the volume\n# none: it is the drive itself\n");
        assert_eq!(printed(&[]), "");
    }
}
