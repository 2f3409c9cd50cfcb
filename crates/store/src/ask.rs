//! What is asked: which factors are to be chosen, whatever their keys are for otherwise, and what must hold.

use crate::Manifest;
use crate::error::{Error, Result, nearest};
use crate::expression::{Constraint, Objective};
use crate::factor::Role;
use std::borrow::Cow;

/// The key of an experiment that says what is chosen.
const CHOOSE: &str = "ask.choose";

/// The key of an experiment that says what must hold of a layout.
pub const SUBJECT_TO: &str = "ask.subject_to";

/// The key of an experiment that says what of the things known beforehand is to be best.
pub const OBJECTIVE: &str = "ask.objective";

/// The key of an experiment that says that layouts must be safe, as `--safe` does.
pub const SAFE: &str = "ask.safe";

/// What formulas call the things that are known of a layout before anything is measured. `tune` works them out.
pub const BEFOREHAND: [&str; 5] = ["usable_tb", "usd", "usd_per_tb", "rebuild_h", "loss_5y"];

/// Whether all that an objective or a constraint names is known before anything is measured.
pub fn is_beforehand(text: &str) -> bool {
    let objective = || Objective::parse(text).map(|of| vec![of.of]);
    let sides = Constraint::parse(text).map(|of| vec![of.left, of.right]).or_else(|_| objective());
    let Ok(sides) = sides else { return false };
    let mut names = sides.iter().flat_map(|side| side.quantities()).peekable();
    names.peek().is_some() && names.all(|(name, _)| BEFOREHAND.contains(&name))
}

impl Manifest {
    /// The manifest with the roles that are asked for: `choose` are the factors to choose, else what the experiment
    /// says by `ask.choose`, else the choices as the table of keys has them. What is varied and not chosen is a load
    /// where its key is one, and otherwise a condition. `workload.*.offset` is that key of every workload.
    ///
    /// # Errors
    ///
    /// Where `choose` names what was not varied. What the experiment names may have been given one value since.
    pub fn asked(&self, choose: &[String]) -> Result<Manifest> {
        let mut asked = self.clone();
        for wanted in choose {
            if !self.factors.0.keys().any(|path| is_meant(wanted, path)) {
                return Err(self.not_varied(wanted));
            }
        }
        let said = self.chosen_by_experiment();
        let chosen = if choose.is_empty() { said.as_slice() } else { choose };
        let is_chosen = |path: &str| chosen.iter().any(|wanted| is_meant(wanted, path));
        if !self.factors.0.keys().any(|path| is_chosen(path)) {
            return Ok(asked);
        }
        for (path, kind) in &mut asked.factors.0 {
            kind.role = match kind.role {
                _ if is_chosen(path) => Role::Choice,
                Role::Choice => Role::Condition,
                role => role,
            };
        }
        Ok(asked)
    }

    fn chosen_by_experiment(&self) -> Vec<String> {
        self.asked_by(CHOOSE)
    }

    /// What the experiment says must hold of what is measured.
    pub fn subject_to(&self) -> Vec<String> {
        let mut all = self.asked_by(SUBJECT_TO);
        all.retain(|text| !is_beforehand(text));
        all
    }

    /// Whether the experiment says that a layout must be safe.
    pub fn asks_safe(&self) -> bool {
        self.settings().get(SAFE).and_then(toml::Value::as_bool).unwrap_or(false)
    }

    /// What the experiment asks of what is known beforehand: what must hold, and what is to be best.
    pub fn asked_beforehand(&self) -> Vec<String> {
        let mut all = self.asked_by(SUBJECT_TO);
        all.retain(|text| is_beforehand(text));
        all.extend(self.asked_by(OBJECTIVE));
        all
    }

    /// The texts of a key of the experiment.
    fn asked_by(&self, key: &str) -> Vec<String> {
        match self.settings().get(key) {
            Some(toml::Value::String(one)) => vec![one.clone()],
            Some(toml::Value::Array(all)) => {
                all.iter().filter_map(toml::Value::as_str).map(String::from).collect()
            }
            _ => Vec::new(),
        }
    }

    fn not_varied(&self, wanted: &str) -> Error {
        let paths = || self.factors.0.keys().map(String::as_str);
        let is_short = |path: &&str| path.rsplit('.').next() == Some(wanted);
        let short = paths().find(is_short);
        let next = match short.or_else(|| nearest(wanted, paths())) {
            Some(near) => format!("did you mean `{near}`?"),
            None if self.factors.is_empty() => "nothing was".into(),
            None => format!("varied: {}", paths().collect::<Vec<_>>().join(", ")),
        };
        Error::input(format!("`{wanted}` was not varied, so it cannot be chosen; {next}"))
    }

    /// The workload that this one is judged as: the same work on another volume (`same_as`); else itself.
    pub fn judged_as(&self, workload: &str) -> String {
        let same = self.settings().get(&format!("workload.{workload}.same_as")).cloned();
        same.as_ref().and_then(toml::Value::as_str).map_or_else(|| workload.into(), String::from)
    }
}

/// Whether `wanted` names the factor at `path`.
fn is_meant(wanted: &str, path: &str) -> bool {
    wanted == path || wanted == of_any_workload(path)
}

/// A workload's own key as that of any workload: `workload.*.depth`. Other paths stay as they are.
pub fn of_any_workload(path: &str) -> Cow<'_, str> {
    match path.split('.').collect::<Vec<_>>().as_slice() {
        ["workload", _, key] => format!("workload.*.{key}").into(),
        _ => path.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factor::{FactorKind, Factors, Written};

    fn manifest(ask: &str) -> Manifest {
        let kind = |role| FactorKind { role, written: Written::AsIs };
        let text = "format = 3\nileave = ''\nname = ''\nrig = ''\ntrials = 1\nworkloads = []\npublished = ''\n\
                    experiment = ''";
        let mut manifest: Manifest = toml::from_str(text).unwrap();
        manifest.experiment = ask.into();
        manifest.factors = Factors(
            [
                ("volume.interleave", Role::Choice),
                ("drive.write_cache", Role::Choice),
                ("volume.failed", Role::Condition),
                ("workload.a.offset", Role::Load),
                ("workload.b.offset", Role::Load),
            ]
            .into_iter()
            .map(|(path, role)| (path.to_string(), kind(role)))
            .collect(),
        );
        manifest
    }

    fn chosen(manifest: &Manifest, choose: &[&str]) -> Vec<String> {
        let choose: Vec<String> = choose.iter().map(|path| (*path).into()).collect();
        let asked = manifest.asked(&choose).unwrap();
        // To ask twice is to ask once.
        assert_eq!(asked.asked(&choose).unwrap(), asked);
        let of = asked.factors.0.iter().filter(|(_, kind)| kind.role == Role::Choice);
        of.map(|(path, _)| path.clone()).collect()
    }

    #[test]
    fn what_must_hold_is_of_what_is_measured_or_known_beforehand() {
        let asked = manifest(
            "\"ask.subject_to\" = [\"read >= 5MB/s\", \"usable_tb >= 40\"]\n\"ask.objective\" = \"min usd\"\n\"ask.safe\" = true",
        );
        assert_eq!(asked.subject_to(), ["read >= 5MB/s"]);
        assert_eq!(asked.asked_beforehand(), ["usable_tb >= 40", "min usd"]);
        assert!(asked.asks_safe() && !manifest("").asks_safe());
        assert!(manifest("").subject_to().is_empty());
        assert!(is_beforehand("min usd_per_tb") && is_beforehand("loss_5y <= 0.1%"));
        // Of both kinds, of none, and no formula.
        for text in ["max read / usd", "1 <= 2", "usable_tb"] {
            assert!(!is_beforehand(text), "{text}");
        }
    }

    #[test]
    fn what_is_asked_overrides_what_keys_are_for() {
        let plain = manifest("");
        assert_eq!(chosen(&plain, &[]), ["drive.write_cache", "volume.interleave"]);
        assert_eq!(chosen(&plain, &["volume.interleave"]), ["volume.interleave"]);
        let offsets = manifest("\"ask.choose\" = \"workload.*.offset\"");
        assert_eq!(chosen(&offsets, &[]), ["workload.a.offset", "workload.b.offset"]);
        assert_eq!(chosen(&offsets, &["volume.interleave"]), ["volume.interleave"]);
        let asked = offsets.asked(&[]).unwrap();
        assert_eq!(asked.factors.role("drive.write_cache"), Role::Condition);
        // What it asks for has one value since.
        let other = manifest("\"ask.choose\" = [\"fs.block\", \"fs.mount\"]");
        assert_eq!(chosen(&other, &[]), ["drive.write_cache", "volume.interleave"]);
    }

    #[test]
    fn what_was_not_varied_cannot_be_chosen() {
        let message = |path: &str| manifest("").asked(&[path.into()]).unwrap_err().to_string();
        assert!(message("interleave").contains("did you mean `volume.interleave`?"));
        assert!(message("volume.interleeve").contains("did you mean `volume.interleave`?"));
        assert!(message("host.name").contains("varied: drive.write_cache, "));
    }

    #[test]
    fn the_same_work_on_another_volume_has_one_name() {
        let manifest = manifest("\"workload.box.same_as\" = \"bonnie\"");
        assert_eq!(manifest.judged_as("box"), "bonnie");
        assert_eq!(manifest.judged_as("bonnie"), "bonnie");
    }
}
