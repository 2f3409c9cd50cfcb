//! What a question asks of its layouts, as the file of an experiment has it: `[ask]`.

use crate::beforehand::{Parted, with_names};
use crate::question::work::{Work, names_its_cache};
use crate::question::{Question, burst_credit};
use lab::rig::Rig;
use lab::run::Run;
use lab::{Error, Result};
use store::ask;
use toml::{Table, Value};
use verdict::Wishes;

impl Question {
    /// The text of an experiment with what must hold, and with an objective that is known beforehand: the trials need
    /// neither, and who reads the file is to ask the same.
    pub(crate) fn with_wishes(&self, text: &str) -> Result<String> {
        let mut tables: Table =
            text.parse().map_err(|error| Error::input(format!("{}: {error}", self.work.origin)))?;
        tables.insert("ask".into(), self.asked().into());
        Ok(tables.to_string())
    }

    /// The same with what the file of its work asks beside it (`[ask]`): whether layouts must be safe, what must hold, and what is
    /// to be best, where the question has no objective of its own.
    ///
    /// # Errors
    ///
    /// Where that is no text, or no list of texts, and where layouts must be safe on drives whose caches were asked to be on.
    pub fn with_wishes_of_work(self) -> Result<Question> {
        let asks_safe = self.work.asks_safe();
        if self.safe || asks_safe {
            let asker = if self.safe { "--safe" } else { "[ask] safe = true" };
            self.caches_may_be_off(asker)?;
        }
        let [mut subject_to, objective] = self.work.asked()?;
        for own in self.subject_to {
            if !subject_to.contains(&own) {
                subject_to.push(own);
            }
        }
        Ok(Question {
            safe: self.safe || asks_safe,
            objective: self.objective.or_else(|| objective.into_iter().next()),
            subject_to,
            ..self
        })
    }

    /// What must be safe has caches off, and nobody has asked for them to be on.
    fn caches_may_be_off(&self, asker: &str) -> Result<()> {
        let drive = &self.drives.drive;
        let on_by_name = names_its_cache(drive) && drive.write_cache();
        let stated = self.work.tables.get("drive").and_then(|of| of.get("write_cache"));
        let is_stated = self.work.names_caches && stated.and_then(Value::as_bool) == Some(true);
        if !drive.takes("write_cache") || !(on_by_name || is_stated) {
            return Ok(());
        }
        let other = if is_stated {
            "drive.write_cache=true".to_string()
        } else {
            format!("--drives {}", drive.name)
        };
        Err(Error::input(format!(
            "`{asker}` and `{other}` contradict each other: what is safe has the drives' write caches off, as a power cut takes what \
             they hold; leave out one of them"
        )))
    }

    /// Whether it can be answered, before anything runs.
    ///
    /// # Errors
    ///
    /// Where a wish names what is not measured, or the drives' state lets nothing be ranked.
    pub fn check(&self, rig: &dyn Rig) -> Result<()> {
        let experiment = self.experiment()?;
        burst_credit::check(&experiment, [&self.drives.drive], false)?;
        let Parted { objectives, subject_to, .. } = self.parted()?;
        let wishes = Wishes { objectives, subject_to, ..Wishes::default() };
        let run = Run::plan(&experiment, rig)?;
        verdict::check_wishes(run.manifest(), &run.expected(), &wishes)
            .map_err(with_names)
            .map_err(|error| error.context(&self.work.origin))
    }
}

impl Work {
    /// Whether layouts must be safe, where the file of an experiment asks that.
    fn asks_safe(&self) -> bool {
        let table = self.tables.get("ask").and_then(Value::as_table);
        table.and_then(|table| table.get("safe")?.as_bool()).unwrap_or(false)
    }

    /// What must hold, and what is to be best of the things known beforehand, where the file of an experiment asks that.
    fn asked(&self) -> Result<[Vec<String>; 2]> {
        let table = self.tables.get("ask").and_then(Value::as_table);
        let of = |path: &str| -> Result<Vec<String>> {
            let key = path.rsplit('.').next().unwrap_or(path);
            let Some(value) = table.and_then(|table| table.get(key)) else { return Ok(Vec::new()) };
            let texts = match value {
                Value::Array(all) => all.iter().map(Value::as_str).collect(),
                one => one.as_str().map(|one| vec![one]),
            };
            let texts: Vec<&str> = texts.ok_or_else(|| {
                Error::input(format!("{}: `{path}` is not a text; write it in quotes", self.origin))
            })?;
            Ok(texts.into_iter().map(String::from).collect())
        };
        Ok([of(ask::SUBJECT_TO)?, of(ask::OBJECTIVE)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;
    use lab::experiment::Experiment;

    /// `--save` wrote no constraint, and `max usable_tb` as another objective: `run` and `tune` answered another question.
    #[test]
    fn what_is_saved_asks_the_same() {
        use crate::Posed;
        use store::ask::{OBJECTIVE, SUBJECT_TO};
        let subject_to = ["commit_p99 <= 1400us", "loss_5y <= 50%"].map(String::from).to_vec();
        let objective = Some("max usable_tb".to_string());
        let asked = question("4x 980-pro-1tb", "postgres", 1);
        let asked = Question { objective, subject_to, safe: true, ..asked };
        let mut text = asked.experiment_text().unwrap();
        // Of the file, and of what is written of the question that the file asks.
        for _ in 0..2 {
            let saved = Experiment::parse("saved.toml", &text).unwrap();
            assert_eq!(saved.asked(OBJECTIVE), ["max usable_tb"]);
            assert_eq!(saved.value("objective").map(|of| of.to_string()), asked.work_objective());
            let posed = Posed::new(saved, Wishes::default(), None).unwrap();
            assert_eq!(posed.wishes.subject_to, asked.subject_to);
            assert_eq!(posed.wishes.objectives, ["max usable_tb"]);
            assert!(posed.wishes.safe, "an unsafe layout was the answer of the file");
            text = posed.text;
        }
        // The search itself does without.
        let own = asked.experiment().unwrap();
        assert!(own.asked(SUBJECT_TO).is_empty() && !own.asks_safe());
    }

    /// The module for Python dropped them without a word: the command alone took them from the work.
    #[test]
    fn what_the_file_of_the_work_asks_is_asked_of_other_drives_too() {
        let limits = ["commit_p99 <= 1400us", "loss_5y <= 50%"].map(String::from).to_vec();
        let objective = Some("max usable_tb".to_string());
        let saved = Question {
            objective: objective.clone(),
            subject_to: limits.clone(),
            safe: true,
            ..question("4x 980-pro-1tb", "postgres", 1)
        };
        let tables = saved.experiment_text().unwrap().parse().unwrap();
        let work = Work { tables, ..Work::default() };
        let plain = || Question { work: work.clone(), ..question("4x wd740gd", "postgres", 1) };
        let asked = plain().with_wishes_of_work().unwrap();
        assert_eq!((asked.safe, &asked.objective), (true, &objective));
        assert_eq!(asked.subject_to, limits);
        // Beside what is asked already, which is asked once; of two objectives the question's own stays.
        let own = vec!["usd <= 900".to_string(), limits[1].clone()];
        let objective = Some("min usd".to_string());
        let both = Question { subject_to: own, objective: objective.clone(), ..plain() };
        let both = both.with_wishes_of_work().unwrap();
        assert_eq!(both.subject_to, [&limits[0], &limits[1], "usd <= 900"]);
        assert_eq!(both.objective, objective);
        let none = question("4x wd740gd", "postgres", 1).with_wishes_of_work().unwrap();
        assert!(!none.safe && none.subject_to.is_empty() && none.objective.is_none());
    }

    /// `--safe` decided it in silence, and the recipe turned the caches off "as was asked".
    #[test]
    fn safe_and_caches_on_contradict_each_other() {
        let refused = |drives: &str, set: &str| {
            let mut asked = Question { safe: true, ..question(drives, "backup", 1) };
            if !set.is_empty() {
                asked.work.set(set).unwrap();
            }
            asked.with_wishes_of_work().err().map(|error| error.to_string())
        };
        let said = refused("4x st18000nm000j", "drive.write_cache=true").unwrap();
        assert!(said.starts_with("`--safe` and `drive.write_cache=true` contradict"), "{said}");
        let named = "st18000nm000j[write_cache=true]";
        let said = refused(&format!("4x {named}"), "").unwrap();
        assert!(said.contains(&format!("`--drives {named}`")), "{said}");
        assert_eq!(refused("4x st18000nm000j", "drive.write_cache=false"), None);
        assert_eq!(refused("4x st18000nm000j", ""), None);
    }

    impl Question {
        /// What its work is ranked by.
        fn work_objective(&self) -> Option<String> {
            Some(self.work.tables.get("objective")?.as_str()?.to_string())
        }
    }
}
