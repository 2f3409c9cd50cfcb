//! What must hold of a layout, as `--subject-to` says.

use crate::judge::answer::point;
use crate::judge::layouts::{Layout, Layouts, Situated};
use crate::judge::{LeftOut, Point, Ranked, Verdict, Wishes, median_of};
use crate::tables::{figure, percent, slower};
use store::error::{Error, Result};
use store::expression::{Constraint, Expression};
use store::quantity::Better;

/// For each layout the constraints that it fails.
pub(crate) fn failing(layouts: &Layouts, constraints: &[Constraint]) -> Result<Vec<Vec<String>>> {
    let mut failing = vec![Vec::new(); layouts.layouts.len()];
    for constraint in constraints {
        let mut names = constraint.left.quantities();
        names.extend(constraint.right.quantities());
        layouts.check(&constraint.text, &names)?;
        let names: Vec<&str> = names.into_iter().map(|(name, _)| name).collect();
        let constraint = &constraint.in_unit_of(&|name| layouts.unit(name))?;
        let meanings = layouts.meanings(&names);
        let mut fails = vec![false; layouts.layouts.len()];
        // It must hold under every load and condition.
        for situation in layouts.situations(&names) {
            let holds = holds(layouts, constraint, &meanings.given(&situation))?;
            fails.iter_mut().zip(holds).for_each(|(fails, holds)| *fails |= !holds);
        }
        for (fails, failing) in fails.into_iter().zip(&mut failing) {
            if fails {
                failing.push(format!("`{}` does not hold", constraint.text));
            }
        }
    }
    Ok(failing)
}

/// For each layout whether it meets a constraint in a situation.
fn holds(layouts: &Layouts, constraint: &Constraint, situated: &Situated<'_>) -> Result<Vec<bool>> {
    let of = |layout: &Layout, name: &str| median_of(&situated.samples(layout, name)?);
    let all = layouts.layouts.iter();
    let lefts: Vec<Option<f64>> =
        all.map(|layout| constraint.left.value(0.0, &|name| of(layout, name))).collect();
    let better = if constraint.at_least { Better::Higher } else { Better::Lower };
    let best = lefts.iter().flatten().copied().reduce(|a, b| better.of(a, b));
    let best = best.ok_or_else(|| {
        Error::input(format!("`{}`: no layout has all that it names", constraint.text))
    })?;
    let holds = layouts.layouts.iter().zip(lefts).map(|(layout, left)| {
        let right = constraint.right.value(best, &|name| of(layout, name));
        match (left, right) {
            (Some(left), Some(right)) if constraint.at_least => left >= right,
            (Some(left), Some(right)) => left <= right,
            _ => false,
        }
    });
    Ok(holds.collect())
}

/// What the best layout has where a limit was asked: one that is met by far and one that is met by a hair are not the
/// same answer. Where no layout meets them all: what the nearest to each limit has.
///
/// # Errors
///
/// Where one is no constraint.
pub(crate) fn told(verdict: &Verdict, layouts: &Layouts, wishes: &Wishes) -> Result<Vec<Point>> {
    let best = verdict.ranked.first();
    if best.is_none() && !verdict.situations.is_empty() {
        return Ok(Vec::new());
    }
    let mut points = Vec::new();
    for text in &wishes.subject_to {
        let constraint = Constraint::parse(text)?.in_unit_of(&|name| layouts.unit(name))?;
        let better = if constraint.at_least { Better::Higher } else { Better::Lower };
        let considered = layouts.layouts.iter();
        let considered = considered.filter(|layout| best.is_none_or(|best| layout.at == best.at));
        let worst =
            considered.filter_map(|layout| Some((worst(layouts, layout, &constraint)?, layout)));
        let nearest =
            worst.reduce(|a, b| if better.of(a.0, b.0).total_cmp(&a.0).is_eq() { a } else { b });
        let Some((value, layout)) = nearest else { continue };
        let unit = match &constraint.left {
            Expression::Quantity(name, _) => layouts.unit(name).unwrap_or_default(),
            _ => String::new(),
        };
        let value = format!("{} {unit}", figure(value));
        let names: Vec<&str> =
            constraint.left.quantities().into_iter().map(|(name, _)| name).collect();
        let at_worst = if layouts.situations(&names).len() > 1 { " at worst" } else { "" };
        let value = value.trim();
        let said = match best {
            Some(best) => {
                let missed = nearly(verdict, layouts, best, &constraint).unwrap_or_default();
                format!("`{}`: {value}{at_worst}{missed}", constraint.text)
            }
            None if failing(layouts, std::slice::from_ref(&constraint))?
                .iter()
                .any(Vec::is_empty) =>
            {
                format!("`{}` can be met, but not together with all the others", constraint.text)
            }
            None => {
                let label = layouts.label(&layout.at);
                format!("`{}`: the closest has {value}{at_worst} ({label})", constraint.text)
            }
        };
        points.push(point("limit", said));
    }
    Ok(points)
}

/// A limit that is missed by no more than this is missed by a hair: no model of ours is that sure of a percentile.
const HAIR: f64 = 1.1;

/// What is reliably better than the best, fails nothing but this constraint, and that by a hair.
fn nearly(
    verdict: &Verdict,
    layouts: &Layouts,
    best: &Ranked,
    constraint: &Constraint,
) -> Option<String> {
    let only_it = [format!("`{}` does not hold", constraint.text)];
    let better = verdict.better;
    let ahead = |out: &LeftOut| Some(better.ahead(out.value?, best.value));
    let near = verdict.left_out.iter().filter(|out| out.because == only_it);
    let missed = near.filter_map(|out| {
        let layout = layouts.layouts.iter().find(|layout| layout.at == out.at)?;
        let limit = constraint.right.value(0.0, &|_| None)?;
        let ratio = worst(layouts, layout, constraint)? / limit;
        let missed = if constraint.at_least { 1.0 / ratio } else { ratio };
        let by = ahead(out).filter(|by| missed <= HAIR && by.exp() > verdict.tie_ratio())?;
        Some((out, by, missed))
    });
    let (out, by, missed) = missed.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "; {} misses it by {}, and what is chosen is {}",
        out.label,
        percent(missed - 1.0),
        slower(by.exp(), better, &verdict.unit)
    ))
}

/// The worst that a layout has of what a constraint limits, over all loads and conditions.
fn worst(layouts: &Layouts, layout: &Layout, constraint: &Constraint) -> Option<f64> {
    let names: Vec<&str> = constraint.left.quantities().into_iter().map(|(name, _)| name).collect();
    let meanings = layouts.meanings(&names);
    let situations = layouts.situations(&names);
    let values = situations.iter().filter_map(|situation| {
        let situated = meanings.given(situation);
        constraint.left.value(0.0, &|name| median_of(&situated.samples(layout, name)?))
    });
    values.reduce(if constraint.at_least { f64::min } else { f64::max })
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    /// RAID 5 was chosen over RAID 10, a third faster, for 0.06 of 1.5 ms.
    #[test]
    fn a_limit_that_is_missed_by_a_hair_is_told() {
        let (manifest, mut records) = modelled(
            "[volume]\ndrives = '4xst16000nm001g'\nlevel = ['md-raid10', 'md-raid5']\n[host]\nname = 'linux-6.1'\n[drive]\nwrite_cache = false\n\
             [workload.w]\nkind = 'random'\nop = 'write'\nblock = '4KiB'\ndepth = 8\ncount = 400\n",
        );
        let mut said = |p99_ms: f64| {
            for record in &mut records {
                let is_ten = record.at["volume.level"] == "md-raid10";
                record.samples.insert("latency_p99_ms", if is_ten { p99_ms } else { 1.45 });
            }
            let subject_to = vec!["w.latency_p99_ms <= 1.5".into()];
            let verdict =
                Verdict::new(&manifest, &records, &Wishes { subject_to, ..Wishes::default() });
            let verdict = verdict.unwrap();
            verdict.points.into_iter().find(|point| point.about == "limit").unwrap().text
        };
        let near = said(1.56);
        assert!(near.contains("1.45 ms; level md-raid10 misses it by 4 %, and what is"), "{near}");
        assert!(near.ends_with(" slower"), "{near}");
        assert!(said(1.8).ends_with("1.45 ms") && said(1.5).ends_with("1.50 ms"));
    }
}
