//! `--on` and the flags of each rig, from what the rigs say of themselves.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, ValueHint};
use lab::capabilities::Members;
use lab::rig::{Given, KINDS, RigFlag, RigKind, Takes};

/// Which rig, and what its own flags say.
#[derive(Clone, Debug)]
pub(crate) struct RigFlags {
    pub(crate) kind: &'static RigKind,
    /// Whether `--on` is there, so that `kind` is more than the default.
    pub(crate) is_named: bool,
    /// The rig whose prediction stands beside, in `sim,disks`.
    pub(crate) prediction: Option<&'static RigKind>,
    pub(crate) given: Given,
}

impl Args for RigFlags {
    fn augment_args(command: Command) -> Command {
        let values = KINDS.iter().map(|kind| PossibleValue::new(kind.name).help(kind.about));
        let on = Arg::new("on")
            .long("on")
            .value_name("RIG[,RIG]")
            .help("Rig that runs the trials; sim,disks simulates first and prints the prediction beside")
            .value_delimiter(',')
            .action(ArgAction::Set)
            .num_args(1)
            .value_parser(PossibleValuesParser::new(values))
            .default_value(KINDS[0].name);
        command.arg(on).args(flags(KINDS.iter()).map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// What the flags say that a search has: those of rigs whose disks are modelled, but for what they keep.
#[derive(Clone, Debug)]
pub(crate) struct ModelledRigFlags {
    pub(crate) given: Given,
}

impl ModelledRigFlags {
    fn flags() -> impl Iterator<Item = Flag> {
        let kinds = KINDS.iter().filter(|kind| (kind.capabilities)().members == Members::Modelled);
        flags(kinds).filter(|(_, flag)| !flag.for_results)
    }
}

impl Args for ModelledRigFlags {
    fn augment_args(command: Command) -> Command {
        command.args(Self::flags().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ModelledRigFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(ModelledRigFlags { given: given(Self::flags(), matches) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A flag and the rig that has it.
type Flag = (&'static RigKind, &'static RigFlag);

fn flags(kinds: impl Iterator<Item = &'static RigKind>) -> impl Iterator<Item = Flag> {
    kinds.flat_map(|kind| kind.flags.iter().map(move |flag| (kind, flag)))
}

fn given(flags: impl Iterator<Item = Flag>, matches: &ArgMatches) -> Given {
    let mut given = Given::default();
    for (_, flag) in flags {
        if flag.takes == Takes::Nothing {
            if matches.get_flag(flag.name) {
                given.set(flag.name, Vec::new());
            }
        } else if let Some(values) = matches.get_many(flag.name) {
            given.set(flag.name, values.cloned().collect());
        }
    }
    given
}

fn arg((kind, flag): Flag) -> Arg {
    let heading = format!("With --on {}", kind.name);
    let arg = Arg::new(flag.name).long(flag.name).help(flag.about).help_heading(heading);
    let arg = match flag.takes {
        Takes::Nothing => arg.action(ArgAction::SetTrue),
        Takes::Value(value) => arg.value_name(value),
        Takes::List(value) => arg.value_name(value).action(ArgAction::Append).value_delimiter(','),
        Takes::Paths(value) => {
            let paths = arg.value_name(value).action(ArgAction::Append).value_delimiter(',');
            paths.value_hint(ValueHint::AnyPath)
        }
        Takes::PathEach(value) => {
            arg.value_name(value).action(ArgAction::Append).value_hint(ValueHint::AnyPath)
        }
    };
    let arg = if flag.takes == Takes::Nothing {
        arg
    } else {
        arg.value_parser(clap::value_parser!(std::ffi::OsString))
    };
    match flag.needs {
        Some(other) => arg.requires(other),
        None => arg,
    }
}

impl FromArgMatches for RigFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let kind = |name: &String| {
            KINDS.iter().find(|kind| kind.name == name).expect("the parser takes no other")
        };
        let named: Vec<&RigKind> = matches.get_many("on").into_iter().flatten().map(kind).collect();
        let (prediction, kind) = match named.as_slice() {
            [] => (None, &KINDS[0]),
            [kind] => (None, *kind),
            [first, second] if first.models_host() && !second.models_host() => {
                (Some(*first), *second)
            }
            _ => {
                let message =
                    "--on: of two rigs the first is sim, which predicts; write sim,disks\n";
                return Err(Error::raw(ErrorKind::ValueValidation, message));
            }
        };
        let given = given(flags(KINDS.iter()), matches);
        let is_named = matches.value_source("on").is_some_and(|of| of != ValueSource::DefaultValue);
        Ok(RigFlags { kind, is_named, prediction, given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
