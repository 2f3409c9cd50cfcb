//! A question as the file that `--save` writes of it, and the question of such a file: `ileave tune FILE` asks the same.

use crate::danger::hours;
use crate::question::as_experiment::HOST;
use crate::question::drives::Drives;
use crate::question::files::of_files;
use crate::question::work::{NAMED, ON_FILES, Work};
use crate::question::{Question, capacity};
use lab::Result;
use std::path::Path;
use store::ask::is_beforehand;
use store::input;
use toml::{Table, Value};
use verdict::tables::listed;

/// What begins the name of an experiment that was made of a question.
const NAME: &str = "tune-";

/// The keys of the volume that the question chooses, and that say nothing of the work.
const CHOSEN: [&str; 4] = ["drives", "level", "interleave", "stripe_cache"];

/// Wishes of `[ask]` that only a question has: an experiment's own layouts are chosen among without them.
const OF_QUESTIONS: [&str; 7] =
    ["survive", "capacity", "spares", "replace_after", "price", "budget", "levels"];

/// The question that a file was written of, and the file systems of `--fs`, where there are some.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The question.
    pub question: Question,
    /// The file systems that it chooses among.
    pub file_systems: Vec<String>,
}

impl Question {
    /// Its wishes, as `[ask]` has them. The trials need none of them, and who reads the file is to ask the same.
    pub(super) fn asked(&self) -> Table {
        let mut ask = Table::new();
        let texts = |texts: &[String]| {
            Value::Array(texts.iter().map(|text| Value::from(text.trim())).collect())
        };
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                ask.insert(key.into(), value);
            }
        };
        let count = |count: usize| Value::from(i64::try_from(count).unwrap_or(i64::MAX));
        put("all_drives", Some(format!("{}x{}", self.drives.count, self.drives.drive.name).into()));
        put("work", Some(self.work_asked().into()));
        let says_survive = !(self.is_survive_assumed && self.survive == 1);
        put("survive", says_survive.then(|| count(self.survive)));
        put("capacity", (self.capacity_bytes > 0).then(|| bytes(self.capacity_bytes).into()));
        let says_spares = !self.are_spares_open && self.spares_because.is_none();
        put("spares", says_spares.then(|| count(self.spares)));
        put("replace_after", self.replaced_after_h.map(|hours| format!("{hours}h").into()));
        put("price", self.price_usd.map(|usd| usd.to_string().into()));
        put("budget", self.budget_usd.map(|usd| usd.to_string().into()));
        put("levels", (!self.levels.is_empty()).then(|| texts(&self.levels)));
        put("subject_to", (!self.subject_to.is_empty()).then(|| texts(&self.subject_to)));
        let beforehand = self.objective.as_deref().filter(|of| is_beforehand(of));
        put("objective", beforehand.map(|objective| objective.trim().into()));
        put("safe", self.safe.then(|| true.into()));
        ask
    }

    /// The name of its work, or the file that it is of.
    fn work_asked(&self) -> String {
        let mut names = NAMED.iter().chain(&ON_FILES).map(|(name, _)| *name);
        let is_named = names.any(|name| name == self.work.name);
        if is_named { self.work.name.clone() } else { self.work.origin.clone() }
    }
}

/// A size, exactly, in the unit that people use of drives.
fn bytes(bytes: u64) -> String {
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1, "B")];
    let (each, unit) =
        units.into_iter().find(|(each, _)| bytes.is_multiple_of(*each)).unwrap_or((1, "B"));
    format!("{}{unit}", bytes / each)
}

impl Saved {
    /// The question of a file that `--save` wrote. None where it is another's, or where something else in it was changed since:
    /// then its own layouts are what is chosen among.
    pub fn open(file: &Path) -> Option<Saved> {
        let text = input::read_text(file, input::TEXT_BYTES).ok()?;
        let tables: Table = text.parse().ok()?;
        Saved::read(&file.display().to_string(), &tables)
    }

    /// What to say of a file that `--save` wrote, where its own layouts are chosen among: that some of its wishes count for nothing.
    pub fn unused(file: &Path) -> Option<String> {
        let text = input::read_text(file, input::TEXT_BYTES).ok()?;
        let tables: Table = text.parse().ok()?;
        let ask = tables.get("ask")?.as_table().filter(|ask| ask.contains_key("all_drives"))?;
        let unused = OF_QUESTIONS.iter().filter(|key| ask.contains_key(**key));
        let unused: Vec<String> = unused.map(|key| format!("`ask.{key}`")).collect();
        (!unused.is_empty()).then(|| {
            format!(
                "{} is no longer what `--save` wrote, or flags change it: the layouts that it lists are compared, and {} {} not used. Ask \
                 for these by `ileave tune --drives`",
                file.display(),
                listed(&unused),
                if unused.len() == 1 { "is" } else { "are" }
            )
        })
    }

    pub(crate) fn read(origin: &str, tables: &Table) -> Option<Saved> {
        let of = OfFile { origin, tables, ask: tables.get("ask")?.as_table()? };
        let drives = Drives::read(of.text("all_drives")?).ok()?;
        let file_systems = of.file_systems();
        let works = of.works(&drives, !file_systems.is_empty());
        let questions = works.into_iter().filter_map(|work| of.question(drives.clone(), work).ok());
        let mut all =
            questions.map(|question| Saved { question, file_systems: file_systems.clone() });
        all.find(|saved| {
            saved.text().is_ok_and(|text| text.parse::<Table>().is_ok_and(|own| own == *tables))
        })
    }

    /// What `--save` writes of it.
    fn text(&self) -> Result<String> {
        if self.file_systems.is_empty() {
            self.question.experiment_text()
        } else {
            Ok(of_files(&self.question, &self.file_systems)?.text)
        }
    }
}

/// The file of a question.
struct OfFile<'a> {
    origin: &'a str,
    tables: &'a Table,
    ask: &'a Table,
}

/// Whether work has a host of its own.
fn names_host(tables: &Table) -> bool {
    tables.get("host").is_some_and(|host| host.get("name").is_some())
}

impl OfFile<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.ask.get(key)?.as_str()
    }

    fn texts(&self, key: &str) -> Vec<String> {
        let list = self.ask.get(key).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).map(String::from).collect()
    }

    fn count(&self, key: &str) -> Option<usize> {
        usize::try_from(self.ask.get(key)?.as_integer()?).ok()
    }

    fn usd(&self, key: &str) -> Option<f64> {
        self.text(key)?.parse().ok()
    }

    /// What `--fs` was given.
    fn file_systems(&self) -> Vec<String> {
        let kinds = self.tables.get("fs").and_then(|fs| fs.get("kind")).and_then(Value::as_array);
        kinds.into_iter().flatten().filter_map(Value::as_str).map(String::from).collect()
    }

    /// The work as its name has it, and as the file does: `--set` may have changed that.
    fn works(&self, drives: &Drives, on_files: bool) -> Vec<Work> {
        let asked = self.text("work").unwrap_or_default();
        let found = if on_files { Work::of_files(asked) } else { Work::find(asked, drives) };
        let found = found.ok();
        let mut tables = self.tables.clone();
        tables.remove("ask");
        if let Some(volume) = tables.get_mut("volume").and_then(Value::as_table_mut) {
            volume.retain(|key, _| !CHOSEN.contains(&key));
        }
        let name = tables.get("name").and_then(Value::as_str).unwrap_or_default();
        let name = name.strip_prefix(NAME).unwrap_or(name).to_string();
        // A host that the work does not name is the usual one, and no condition of its own.
        let own = found.as_ref().is_some_and(|work| names_host(&work.tables));
        let host = tables.get_mut("host").and_then(Value::as_table_mut);
        if let Some(host) = host.filter(|host| !own && host.get("name") == Some(&HOST.into())) {
            host.remove("name");
        }
        if let Some(objective) = found.as_ref().and_then(|work| work.tables.get("objective")) {
            tables.insert("objective".into(), objective.clone());
        }
        let base = found.clone().unwrap_or_else(|| Work {
            name,
            origin: if asked.is_empty() { self.origin.into() } else { asked.into() },
            ..Work::default()
        });
        let cache =
            |tables: &Table| tables.get("drive").and_then(|of| of.get("write_cache")).cloned();
        let names_caches = base.names_caches || cache(&tables) != cache(&base.tables);
        let of_file = Work { tables, names_caches, ..base };
        found.into_iter().chain([of_file]).collect()
    }

    fn question(&self, drives: Drives, work: Work) -> Result<Question> {
        let of_work = work.tables.get("objective").cloned();
        let of_file = self.tables.get("objective").filter(|own| Some(*own) != of_work.as_ref());
        let objective = self.text("objective").or_else(|| of_file?.as_str()).map(String::from);
        let capacity_bytes = self
            .text("capacity")
            .map(|text| capacity::capacity_bytes("capacity", text))
            .transpose()?;
        let replaced_after = self.text("replace_after");
        let seed = self.tables.get("run").and_then(|run| run.get("seed")?.as_integer());
        let question = Question {
            survive: self.count("survive").unwrap_or(1),
            is_survive_assumed: self.count("survive").is_none(),
            capacity_bytes: capacity_bytes.unwrap_or(0),
            safe: self.ask.get("safe").and_then(Value::as_bool).unwrap_or(false),
            objective,
            subject_to: self.texts("subject_to"),
            spares: self.count("spares").unwrap_or(0),
            are_spares_open: self.count("spares").is_none(),
            replaced_after_h: replaced_after
                .map(|text| hours("replace_after", text))
                .transpose()?,
            price_usd: self.usd("price"),
            budget_usd: self.usd("budget"),
            levels: self.texts("levels"),
            seed: seed.unwrap_or(1).cast_unsigned(),
            ..Question::new(drives, work)
        };
        question.with_spares_needed()
    }
}

impl Question {
    /// The same with what is asked beside the file of it: an objective in place of its own, and more that must hold.
    ///
    /// # Errors
    ///
    /// Where layouts must be safe on drives whose caches were asked to be on, or a formula is none.
    pub fn asked_more(
        self,
        safe: bool,
        objective: Option<String>,
        subject_to: &[String],
        price_usd: Option<f64>,
    ) -> Result<Question> {
        let mut all = self.subject_to.clone();
        all.extend(subject_to.iter().filter(|own| !self.subject_to.contains(own)).cloned());
        let question = Question {
            safe: self.safe || safe,
            objective: objective.or_else(|| self.objective.clone()),
            subject_to: all,
            price_usd: price_usd.or(self.price_usd),
            ..self
        };
        question.with_wishes_of_work()?.with_spares_needed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;

    /// The question of what is saved, and of what is saved of that.
    fn again(asked: &Question) -> Question {
        let text = asked.experiment_text().unwrap();
        let read = |text: &str| Saved::read("saved.toml", &text.parse().unwrap());
        let saved = read(&text).unwrap_or_else(|| panic!("another question: {text}"));
        assert_eq!(saved.question.experiment_text().unwrap(), text);
        assert!(saved.file_systems.is_empty());
        saved.question
    }

    /// All that the answer depends on, beside clocks and names of devices.
    fn all_of(asked: &Question) -> String {
        // Each field is named, so that a new one does not compile until somebody has thought of it here.
        let Question {
            drives,
            work,
            survive,
            is_survive_assumed,
            capacity_bytes,
            safe,
            objective,
            subject_to,
            spares,
            replaced_after_h,
            are_spares_open,
            spares_because,
            price_usd,
            budget_usd,
            levels,
            seed,
            clock: _,
        } = asked;
        let Work {
            name,
            origin: _,
            tables: _,
            warnings: _,
            past_the_page_cache,
            is_without_its_length: _,
            names_caches,
        } = work;
        let layouts: Vec<String> =
            asked.candidates().unwrap().0.iter().map(|of| format!("{of:?}")).collect();
        format!(
            "{} {} {name} {past_the_page_cache:?} {names_caches} {survive} {is_survive_assumed} {capacity_bytes} \
             {safe} {objective:?} {subject_to:?} {spares} {replaced_after_h:?} {are_spares_open} {spares_because:?} \
             {price_usd:?} {budget_usd:?} {levels:?} {seed} {} {layouts:?}",
            drives.count,
            drives.drive.name,
            asked.text(|_| true).unwrap()
        )
    }

    fn same(asked: &Question) {
        assert_eq!(all_of(&again(asked)), all_of(asked));
    }

    /// The file asked for the fastest of its own layouts: other rules for ties, no price, nothing of spares or room.
    #[test]
    fn each_wish_that_is_saved_is_asked_again() {
        let plain = || Question { is_survive_assumed: true, ..question("8x wd121kryz", "vm", 1) };
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        for asked in [
            plain(),
            Question { survive: 2, is_survive_assumed: false, ..plain() },
            Question { survive: 0, is_survive_assumed: false, ..plain() },
            Question { capacity_bytes: 40_000_000_000_000, ..plain() },
            Question { capacity_bytes: (40 << 40) + 1, ..plain() },
            Question { safe: true, ..plain() },
            Question { objective: Some("max usable_tb".into()), ..plain() },
            Question {
                objective: Some("min usd_per_tb".into()),
                price_usd: Some(249.99),
                ..plain()
            },
            Question { objective: Some("min vm_p99".into()), ..plain() },
            Question { subject_to: texts(&["loss_5y <= 0.1%", "vm >= 1MB/s"]), ..plain() },
            Question { spares: 1, are_spares_open: false, ..plain() },
            Question { spares: 0, are_spares_open: false, ..plain() },
            Question { replaced_after_h: Some(72.5), ..plain() },
            Question { price_usd: Some(250.0), budget_usd: Some(2100.0), ..plain() },
            Question { levels: texts(&["raid6", "md-raid10"]), ..plain() },
            Question { seed: 7, ..plain() },
        ] {
            same(&asked);
        }
        let mut set = plain();
        set.work.set("drive.write_cache=true").unwrap();
        set.work.set("workload.depth=64").unwrap();
        set.work.set("host.cpu_percent=50").unwrap();
        same(&set);
    }

    #[test]
    fn each_work_that_is_saved_is_asked_again() {
        for (work, _) in NAMED {
            for drives in ["8x st18000nm000j", "4x 980-pro-1tb", "3x ebs-gp3[size=500GiB]"] {
                same(&question(drives, work, 1));
            }
        }
    }

    #[test]
    fn file_systems_are_asked_about_again() {
        let drives = Drives::read("4x 980-pro-1tb").unwrap();
        let work = Work::of_files("mail").unwrap();
        let asked = Question { survive: 1, price_usd: Some(90.0), ..Question::new(drives, work) };
        let file_systems = ["ext4", "xfs"].map(String::from);
        let text = of_files(&asked, &file_systems).unwrap().text;
        let saved = Saved::read("saved.toml", &text.parse().unwrap()).unwrap();
        assert_eq!(saved.file_systems, file_systems);
        assert_eq!((saved.question.survive, saved.question.price_usd), (1, Some(90.0)));
        assert_eq!(saved.text().unwrap(), text);
    }

    /// Who has changed the file asks about its own layouts.
    #[test]
    fn a_file_that_was_changed_is_an_experiment() {
        let text = question("4x 980-pro-1tb", "vm", 1).experiment_text().unwrap();
        let read = |text: &str| Saved::read("saved.toml", &text.parse().unwrap());
        assert!(read(&text).is_some());
        let changed = text.replace("\"md-raid10-f2\", ", "");
        assert!(changed != text && read(&changed).is_none());
        assert!(read("[workload.a]\ncount = 5\n").is_none());
    }
}
