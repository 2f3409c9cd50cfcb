//! How much of the variance between layouts each factor explains.

use crate::search::trials::Tried;
use lab::Result;
use serde::Serialize;
use store::words::whole_percent;
use verdict::Verdict;

/// The share of the variance that a factor explains.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactorShare {
    /// Which.
    pub name: String,
    /// How much of all.
    pub variance_share: f64,
}

/// Below so many degrees of freedom a fit follows whatever it is given.
const DEGREES_MIN: f64 = 4.0;

/// What decides between layouts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Decides {
    /// What each factor explains.
    pub factors: Vec<FactorShare>,
    /// What they do not; nothing where no two layouts were compared.
    pub interaction_and_noise: Option<f64>,
    /// Whether there are cells enough for that to be said.
    #[serde(skip)]
    is_sound: bool,
    /// Whether no two of the layouts differ by more than what the verdict calls a tie.
    #[serde(skip)]
    all_tie: bool,
}

impl Decides {
    /// What the layouts of a verdict say.
    pub(crate) fn of(verdict: &Verdict) -> Decides {
        Decides::judged_by(verdict, verdict)
    }

    /// The same, of which `judge` says what a tie is.
    fn judged_by(verdict: &Verdict, judge: &Verdict) -> Decides {
        let Some(effects) = verdict.effects.first() else { return Decides::default() };
        let share = |of: &verdict::judge::factors::effects::FactorEffect| FactorShare {
            name: of.factor.clone(),
            variance_share: of.variance_share,
        };
        let ends = verdict.ranked.first().zip(verdict.ranked.last());
        let apart = ends.map(|(first, last)| verdict.better.ahead(first.value, last.value).exp());
        Decides {
            all_tie: apart.is_some_and(|apart| apart <= judge.tie_ratio()),
            factors: effects.factors.iter().map(share).collect(),
            interaction_and_noise: Some(effects.unexplained),
            is_sound: effects.degrees >= DEGREES_MIN,
        }
    }

    /// What the short trials of a question say, which are of all its layouts; where there are none, its `verdict`.
    pub(crate) fn of_question(tried: &Tried<'_>, verdict: &Verdict) -> Result<Decides> {
        Ok(match tried.short.as_slice() {
            [] => Decides::of(verdict),
            _ => Decides::judged_by(&tried.short_verdict()?, verdict),
        })
    }

    /// The same in words, where there are factors to compare; `name` is what a factor is called.
    pub(crate) fn line(&self, name: impl Fn(&str) -> String) -> Option<(String, String)> {
        let rest =
            self.interaction_and_noise.filter(|_| self.is_sound && self.factors.len() > 1)?;
        let mut factors: Vec<&FactorShare> = self.factors.iter().collect();
        factors.sort_by(|one, other| other.variance_share.total_cmp(&one.variance_share));
        let percent = |share: f64| {
            if share < 0.005 { "below 1 %".into() } else { whole_percent(share) }
        };
        let said = |of: &FactorShare| format!("{} {}", name(&of.name), percent(of.variance_share));
        let said: Vec<String> = factors.into_iter().map(said).collect();
        let text = format!(
            "{}{} of the variance between layouts; interaction and noise {}",
            if self.all_tie { "by the model alone, as all layouts tie: " } else { "" },
            said.join(", "),
            percent(rest)
        );
        Some(("decides".into(), text))
    }
}

/// What a question's factors are called.
pub(crate) fn of_md(name: &str) -> String {
    let named = |part: &str| match part {
        "interleave" => "chunk".to_string(),
        part => part.replace('_', " "),
    };
    name.split('/').map(named).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_says_what_decides() {
        let share = |name: &str, variance_share| FactorShare { name: name.into(), variance_share };
        let decides = Decides {
            factors: vec![share("interleave", 0.001), share("level/stripe_cache", 0.93)],
            interaction_and_noise: Some(0.069),
            is_sound: true,
            all_tie: false,
        };
        let said = decides.line(of_md).unwrap();
        let text = "level and stripe cache 93 %, chunk below 1 % of the variance between layouts; \
                    interaction and noise 7 %";
        assert_eq!(said, ("decides".into(), text.into()));
        // "Chunk 100 %, noise below 1 %" stood under "differences below 35 % are ties".
        let ties = Decides { all_tie: true, ..decides.clone() };
        let said = format!("by the model alone, as all layouts tie: {text}");
        assert_eq!(ties.line(of_md), Some(("decides".into(), said)));
        // One factor decides all, and too few cells say nothing.
        let few = Decides { is_sound: false, ..decides.clone() };
        let one = Decides { factors: vec![share("level", 0.9)], ..decides };
        assert_eq!((few.line(of_md), one.line(of_md)), (None, None));
    }
}
