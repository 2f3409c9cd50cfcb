//! Which levels that are named can be had of the members, and what is said of those that cannot.

use crate::candidate::level_named;
use crate::front::room;
use crate::question::{LEVELS, Question, nested};
use block::layout::Level;
use lab::Error;

/// Why a level cannot be had.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WhyNot {
    /// The members do not make so many equal arrays.
    Uneven(usize),
    /// It needs so many members.
    Few(usize),
    /// It survives so many failures alone.
    Survives(usize),
}

/// `a, b or c`.
fn one_of(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, [])) => (*last).into(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

impl Question {
    /// Why a level cannot be built of these members, or does not survive enough; nothing where it can, and does.
    pub(crate) fn why_not(&self, level: &Level) -> Option<WhyNot> {
        let members = self.members();
        let groups = level.nested().map(|of| of.groups);
        let survived = level.losses_survived(members);
        match groups {
            Some(groups) if !members.is_multiple_of(groups) => Some(WhyNot::Uneven(groups)),
            _ if members < level.members_min() => Some(WhyNot::Few(level.members_min())),
            _ => (survived < self.survive).then_some(WhyNot::Survives(survived)),
        }
    }

    /// What the person calls a level that they named.
    fn as_written<'a>(&'a self, level: &Level) -> &'a str {
        let all: Vec<&str> = LEVELS.into_iter().chain(nested()).collect();
        let is_it = |name: &&String| level_named(name, &all).is_ok_and(|named| named == *level);
        self.levels.iter().find(is_it).map_or(level.name, String::as_str)
    }

    /// As few spares as leave equal arrays of a level, and how many members those have together.
    fn evened_by_spares(&self, level: &Level, groups: usize) -> Option<(usize, usize)> {
        let spares = self.spares + self.members() % groups;
        let other = Question { spares, ..self.clone() };
        other.why_not(level).is_none().then(|| (spares, other.members()))
    }

    /// The same in words, with the level's name.
    fn in_words(&self, level: &Level, why: WhyNot) -> String {
        let (name, members) = (self.as_written(level), self.members());
        match why {
            WhyNot::Uneven(groups) => {
                format!("--level {name}: {members} members do not make {groups} equal arrays")
            }
            WhyNot::Few(least) => {
                format!("--level {name}: it needs {least} members, and there are {members}")
            }
            WhyNot::Survives(survived) => {
                let failures = match survived {
                    0 => "no drive failure".to_string(),
                    1 => "1 drive failure".into(),
                    many => format!("{many} drive failures"),
                };
                format!(
                    "--level {name}: with {members} members it survives {failures}, and `--survive` is {}",
                    self.survive
                )
            }
        }
    }

    /// Why none of the levels that are named can be had, and how to ask instead.
    pub(crate) fn none_fits(&self, named: &[Level], known: &[&str]) -> Error {
        let why = named.iter().filter_map(|level| Some((level, self.why_not(level)?)));
        let why: Vec<(&Level, WhyNot)> = why.collect();
        let mut text: Vec<String> =
            why.iter().map(|(level, why)| self.in_words(level, *why)).collect();
        let mut next = Vec::new();
        for (level, why) in &why {
            next.push(match why {
                WhyNot::Uneven(groups) => match self.evened_by_spares(level, *groups) {
                    Some((spares, members)) => format!(
                        "write `--spares {spares}`, so that {members} do, or take a multiple of {groups}"
                    ),
                    None => format!("take a multiple of {groups}"),
                },
                WhyNot::Few(_) if self.spares > 0 => "take more drives, or fewer `--spares`".into(),
                WhyNot::Few(_) => "take more drives".into(),
                WhyNot::Survives(survived) => format!("write `--survive {survived}`"),
            });
        }
        next.dedup();
        let others = known.iter().filter_map(|name| name.parse::<Level>().ok());
        let others = others.filter(|of| self.is_worth_trying(of) && self.why_not(of).is_none());
        let others: Vec<&str> = others.map(|level| level.name).collect();
        if !others.is_empty() {
            next.push(format!("take {}", one_of(&others)));
        }
        text.push(next.join(", or "));
        Error::input(text.join("; "))
    }

    /// The levels that are named and not tried, each with why.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let named = self.levels.iter().filter_map(|name| name.parse::<Level>().ok());
        let why = |level: Level| {
            if self.spares > 0 && level.name == "md-stripe" {
                return Some("--level md-stripe: a spare is of no use to it".to_string());
            }
            if let Some(why) = self.why_not(&level) {
                return Some(self.in_words(&level, why));
            }
            let holds = self.usable_bytes(&level);
            (holds < self.capacity_bytes).then(|| {
                format!("--level {}: it holds {}, less than `--capacity`", level.name, room(holds))
            })
        };
        named.filter_map(why).map(|why| format!("{why}; it is not tried")).collect()
    }
}
