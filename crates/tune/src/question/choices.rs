//! Among which levels, chunks and caches a question chooses: which can be had of the members, and what is said of those that cannot.

use crate::beforehand::Figures;
use crate::question::candidate::{CACHES, Candidate, DEFAULT_CHUNK, level_named};
use crate::question::capacity::room;
use crate::question::{LEVELS, OTHER_CHUNKS, Question, nested};
use block::layout::{Level, Redundancy, Spread, System};
use lab::{Error, Result, catalogue};
use std::ops::RangeInclusive;
use store::words::{counted, listed};
use toml::Value;

/// Members of each array where md's RAID 5 or 6 are tried side by side: fewer give up much room to parity, and more are
/// hardly safer than one array.
const WIDTHS: [(usize, RangeInclusive<usize>); 2] = [(1, 4..=9), (2, 6..=14)];

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

impl Question {
    /// The levels that may be chosen.
    ///
    /// # Errors
    ///
    /// Where there are none; the message says which wish leaves none.
    pub fn possible(&self) -> Result<Vec<Level>> {
        let known: Vec<&str> = LEVELS.into_iter().chain(nested()).collect();
        self.possible_of(&known)
    }

    /// The levels that survive and hold enough, whatever formulas say.
    pub(crate) fn holding(&self) -> Result<Vec<Level>> {
        let known: Vec<&str> = LEVELS.into_iter().chain(nested()).collect();
        self.holding_of(&known)
    }

    /// The same of the levels `known`.
    pub(crate) fn possible_of(&self, known: &[&str]) -> Result<Vec<Level>> {
        let levels = self.holding_of(known)?;
        let beforehand = self.parted()?.beforehand;
        if beforehand.is_empty() {
            return Ok(levels);
        }
        let figures: Vec<Figures> =
            levels.iter().map(|level| self.figures(level)).collect::<Result<_>>()?;
        let kept = beforehand.kept(&figures)?;
        let kept = levels.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(level, _)| level);
        Ok(self.without_idle_copies(kept.collect()))
    }

    /// Those of the levels `known` that survive and hold enough, whatever formulas say.
    pub(crate) fn holding_of(&self, known: &[&str]) -> Result<Vec<Level>> {
        let all = self.asked_levels(known)?;
        let members = self.members();
        if members == 1 {
            return Err(Error::input(
                "one drive leaves no layout to choose; take more with --drives, or ask `ileave run` what the one makes of \
                 the work, in an experiment with `level = \"single\"` (docs/questions.md, \"Is one drive enough?\")",
            ));
        }
        let fits = |level: &Level| self.why_not(level).is_none();
        let surviving: Vec<Level> = all.iter().copied().filter(fits).collect();
        if surviving.is_empty() && !self.levels.is_empty() {
            return Err(self.none_fits(&all, known));
        }
        if surviving.is_empty() {
            let failures = counted(self.survive, "drive failure");
            let fewer = if self.spares > 0 { ", fewer `--spares`" } else { "" };
            return Err(Error::failure(format!(
                "no level survives {failures} with {members} members; take more drives{fewer}, or a smaller `--survive`"
            )));
        }
        let large = |level: &&Level| self.usable_bytes(level) >= self.capacity_bytes;
        let all: Vec<Level> = surviving.iter().filter(large).copied().collect();
        // Of levels that hold as much the plainest, which stands first.
        let nearest = surviving.iter().rev().max_by_key(|level| self.usable_bytes(level));
        match nearest.filter(|_| all.is_empty()) {
            Some(nearest) => Err(Error::failure(format!(
                "no layout meets `--capacity` ({}) and survives {}; {} comes nearest, with {}; take more drives",
                room(self.capacity_bytes),
                match self.survive {
                    1 => "a drive failure".into(),
                    several => format!("{several} drive failures"),
                },
                nearest.name,
                room(self.usable_bytes(nearest))
            ))),
            None => Ok(all),
        }
    }

    /// The levels that are named, or all that are worth trying, without those that have no use for spares where there are some.
    fn asked_levels(&self, known: &[&str]) -> Result<Vec<Level>> {
        let named = |name: &String| level_named(name, known);
        let all: Vec<Level> = if self.levels.is_empty() {
            let beforehand = self.parted()?.beforehand;
            let known = known.iter().filter_map(|name| name.parse::<Level>().ok());
            known.filter(|level| self.is_offered(level, &beforehand)).collect()
        } else {
            self.levels.iter().map(named).collect::<Result<_>>()?
        };
        // mdadm refuses `--spare-devices` for it.
        let is_of_use = |level: &Level| self.spares == 0 || level.name != "md-stripe";
        if !all.is_empty() && !all.iter().any(is_of_use) {
            return Err(Error::input(format!(
                "--spares {}: a spare is of no use to md-stripe, which has nothing to rebuild it from; leave out `--spares`, or \
                 take a `--level` with copies or parity",
                self.spares
            )));
        }
        Ok(all.into_iter().filter(is_of_use).collect())
    }

    /// Whether a level is anything that another is not: a mirror of many members is none of a pair's rivals, three
    /// copies are for those who must survive two failures, and arrays side by side for those who have many members.
    pub(crate) fn is_worth_trying(&self, level: &Level) -> bool {
        let members = self.members();
        if let Some(of) = level.nested() {
            let survived = level.losses_survived(members);
            let is_usual = |(losses, widths): &(usize, RangeInclusive<usize>)| {
                *losses == survived && widths.contains(&(members / of.groups))
            };
            // A host of one's own may have buses or limits that they would share.
            let host = self.work.tables.get("host").and_then(Value::as_table);
            let is_modelled = host.is_none_or(|host| host.keys().all(|key| key == "cpu_percent"))
                && catalogue::shared(&vec![&self.drives.drive; members]).is_empty();
            let is_even = members.is_multiple_of(of.groups);
            return is_modelled && is_even && WIDTHS.iter().any(is_usual);
        }
        match level.redundancy() {
            // On three members all copies are three, whoever asks for fewer. A mirror has the same places as near ones, and
            // chooses another copy to read.
            Redundancy::Mirror => members <= 3 || self.survive > 2,
            Redundancy::Copies(3, Some(Spread::Near | Spread::Far)) if members == 3 => {
                self.survive <= 2
            }
            Redundancy::Copies(copies, spread) => {
                // Over as many members as copies near and offset ones all have the same. One stream reads one disk of a
                // mirror, and all of far copies; and btrfs has no other mirror than RAID 1.
                let is_of_btrfs =
                    level.is_of(System::Btrfs) && level.own_interleave_sectors().is_none();
                let is_no_mirror = members > copies || spread == Some(Spread::Far) || is_of_btrfs;
                is_no_mirror && self.survive.max(1) + 1 == copies
            }
            Redundancy::Parity(1) => members > 2,
            Redundancy::Parity(_) | Redundancy::Nothing => true,
        }
    }

    /// The layouts that may be chosen, and the places of their values in the three factors.
    ///
    /// # Errors
    ///
    /// Where there are none.
    pub fn candidates(&self) -> Result<(Vec<Candidate>, Vec<Vec<usize>>)> {
        self.work.refuse_spdk()?;
        let levels = self.possible()?;
        let chunks = self.chunks(&levels);
        let mut candidates = Vec::new();
        let mut places = Vec::new();
        for (level_place, level) in levels.iter().enumerate() {
            for (chunk_place, chunk) in chunks.iter().enumerate() {
                let default = *chunk == DEFAULT_CHUNK;
                let is_other = OTHER_CHUNKS.contains(chunk) && level.name != "md-stripe";
                // Small chunks of arrays side by side are far off in the model where direct writes come in order.
                let is_untried =
                    level.nested().is_some() && ![DEFAULT_CHUNK, "1MiB"].contains(chunk);
                if is_other || is_untried || !(default || level.interleaved()) {
                    continue;
                }
                for (cache_place, cache) in CACHES.iter().enumerate() {
                    let is_tuned = level.has_stripe_cache();
                    if cache_place == 0 || (is_tuned && self.writes()) {
                        candidates.push(Candidate { level: *level, chunk, cache });
                        places.push(vec![level_place, chunk_place, cache_place]);
                    }
                }
            }
        }
        Ok((candidates, places))
    }

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
                    many => counted(many, "drive failure"),
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
            next.push(format!("take {}", listed(&others, ", ", "or")));
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
