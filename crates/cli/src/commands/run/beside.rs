//! `--on sim,disks`: the prediction of a model beside the measurement.

use super::{note, warn};
use crate::commands::{compare, print_json};
use lab::capabilities::Members;
use lab::experiment::Experiment;
use lab::rig::Rig;
use lab::rig::sim::Sim;
use lab::{Error, Keep, Result, read_results};
use serde_json::json;
use std::path::{Path, PathBuf};
use store::Results;
use store::members::parse_members;
use verdict::judge::Standing;
use verdict::tables::slower;
use verdict::{Verdict, Wishes};

/// The key that names the drives' models.
const DRIVES: &str = "volume.drives";

/// Simulates the experiment on the models that it names, cut to the size of the members; gives the results directory,
/// which is `directory` with `-sim` behind its name.
pub(super) fn predict(experiment: &Experiment, rig: &dyn Rig, directory: &Path) -> Result<PathBuf> {
    let mut experiment = experiment.clone();
    if let Members::Real { members, .. } = rig.capabilities().members {
        let sectors: Vec<u64> = members.iter().map(|member| member.sectors).collect();
        let drives = models(&experiment, &sectors)?;
        experiment.set_values(DRIVES, &drives)?;
        if members
            .iter()
            .any(|member| member.about.starts_with("image") || member.about.starts_with("file"))
        {
            warn(
                "the members are images on the disk of a file system, and the prediction is of the drives that \
                 volume.drives names: it holds for those drives, not for these images",
            );
        }
    }
    let mut name = directory.as_os_str().to_os_string();
    name.push("-sim");
    let there = PathBuf::from(name);
    let ran = lab::run(&experiment, &Sim, Keep::Continue(&there), &mut |_| ());
    let ran = ran.map_err(|error| error.context("the prediction"))?;
    note(&format!("simulated {} trials: {}", ran.finished.len(), there.display()));
    Ok(there)
}

/// The models that the experiment names for its members, each cut to its member.
fn models(experiment: &Experiment, sectors: &[u64]) -> Result<String> {
    let next = "`ileave drives probe` measures a drive, `ileave drives fit` makes a model of that; then give `--drives \
                NxFILE.toml`";
    let Some(named) = experiment.value(DRIVES) else {
        return Err(Error::input(format!(
            "--on sim,disks: a prediction needs a model of the members' drive, and `{DRIVES}` names none; name one of \
             `ileave drives`, or have one made: {next}"
        )));
    };
    let models = parse_members(&named.to_string())
        .map_err(|error| Error::input(format!("{DRIVES}: {error}")))?;
    if models.len() != sectors.len() {
        return Err(Error::input(format!(
            "--on sim,disks: `{DRIVES}` = {named} is {} drives, and there are {} members; name a model for each: {next}",
            models.len(),
            sectors.len()
        )));
    }
    let cut = models.iter().zip(sectors).map(|(model, own)| {
        let sectors = model.sectors.unwrap_or(*own).min(*own);
        format!("1x{}:{sectors}", model.drive)
    });
    Ok(cut.collect::<Vec<_>>().join("+"))
}

/// What is said of both, behind what was `said` of the measurement.
pub(super) fn told(
    said: &str,
    prediction: &Path,
    directory: &str,
    is_json: bool,
) -> Result<String> {
    let (predicted, measured) = (read_results(prediction)?, read_results(Path::new(directory))?);
    let compared = compare::beside(&predicted, &measured);
    let agrees = agreement(&predicted, &measured)?;
    if is_json {
        let run: serde_json::Value = serde_json::from_str(said).map_err(Error::failure)?;
        let compared = serde_json::to_value(&compared).map_err(Error::failure)?;
        let all = json!({ "run": run, "prediction": compared, "agreement": agrees });
        return Ok(print_json(&all));
    }
    Ok(format!(
        "{said}\nPrediction (first) beside measurement (second)\n\n{agrees}\n\n{}",
        compared.text()
    ))
}

/// Whether both would choose the same.
fn agreement(predicted: &Results, measured: &Results) -> Result<String> {
    let judge = |results: &Results| {
        let manifest = results.manifest.asked(&[])?;
        let wishes = Wishes::default().and_of(&manifest);
        Verdict::knowing(&manifest, &results.records, &results.happened, &wishes)
    };
    let (predicted, measured) = (judge(predicted)?, judge(measured)?);
    let (Some(ours), Some(best)) = (predicted.ranked.first(), measured.ranked.first()) else {
        return Ok("No choice to compare: nothing was varied that can be chosen.".into());
    };
    if predicted.ranked.len() < 2 || measured.ranked.len() < 2 {
        return Ok("No choice to compare: fewer than two layouts could be ranked by both.".into());
    }
    let found = measured.ranked.iter().find(|ranked| ranked.at == ours.at);
    Ok(match found {
        Some(found) if matches!(found.standing, Standing::Best) => {
            format!("The choice agrees: {}.", best.label)
        }
        Some(found) if matches!(found.standing, Standing::Tie | Standing::Unknown) => {
            format!(
                "The choice agrees within the noise: {} predicted, {} measured best.",
                ours.label, best.label
            )
        }
        Some(found) => format!(
            "The choice differs: {} predicted, {} measured best; the predicted one is {}. Trust the measurement.",
            ours.label,
            best.label,
            slower(found.behind, measured.better, &measured.unit)
        ),
        None => format!(
            "The choice differs: {} was predicted, and is not ranked by the measurement.",
            ours.label
        ),
    })
}
