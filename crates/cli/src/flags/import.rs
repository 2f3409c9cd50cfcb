//! Files to import, and the factors that stand in front of them.

use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, ValueHint, value_parser,
};
use std::ffi::OsString;
use std::path::PathBuf;

/// Each file, with the `--factor`s in front of it.
#[derive(Clone, Debug)]
pub(crate) struct ImportFiles {
    pub(crate) files: Vec<(PathBuf, Vec<String>)>,
    /// Those behind the last file, which are for none.
    pub(crate) behind: Vec<String>,
}

impl Args for ImportFiles {
    fn augment_args(command: Command) -> Command {
        let files = Arg::new("files")
            .required(true)
            .action(ArgAction::Append)
            .num_args(1..)
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath)
            .help(
                "Result files, a mapping file, or the name of a published table; several files without \
                 factors become values of the factor `file`",
            );
        let factor = Arg::new("factor")
            .long("factor")
            .action(ArgAction::Append)
            .value_name("KEY=VALUE")
            .value_parser(value_parser!(OsString))
            .help("Value of a factor for the files behind it, up to another value of the same KEY");
        command.arg(files).arg(factor)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ImportFiles {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let places = |name| matches.indices_of(name).into_iter().flatten();
        let files = matches.get_many::<PathBuf>("files").into_iter().flatten();
        let mut files: Vec<(usize, &PathBuf)> = places("files").zip(files).collect();
        files.sort_unstable();
        let factors = matches.get_many::<OsString>("factor").into_iter().flatten();
        let factors: Vec<(usize, String)> =
            places("factor").zip(factors.map(|text| text.to_string_lossy().into_owned())).collect();
        let last = files.last().map_or(0, |(place, _)| *place);
        let before = |place: usize| {
            let before = factors.iter().filter(move |(at, _)| *at < place);
            before.map(|(_, text)| text.clone()).collect()
        };
        let behind = factors.iter().filter(|(at, _)| *at > last).map(|(_, text)| text.clone());
        Ok(ImportFiles {
            behind: behind.collect(),
            files: files.into_iter().map(|(place, file)| (file.clone(), before(place))).collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
