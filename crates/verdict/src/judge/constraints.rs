//! What must hold of a layout, as `--subject-to` says.

use super::answer::point;
use super::layouts::{Layout, Layouts, Situated};
use super::{Point, Verdict, Wishes, median_of};
use crate::tables::figure;
use store::error::{Error, Result};
use store::expression::{Constraint, Expression};
use store::quantity::Better;

/// For each layout the constraints that it fails.
pub(super) fn failing(layouts: &Layouts, constraints: &[Constraint]) -> Result<Vec<Vec<String>>> {
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
pub(super) fn told(verdict: &Verdict, layouts: &Layouts, wishes: &Wishes) -> Result<Vec<Point>> {
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
            Some(_) => format!("`{}`: {value}{at_worst}", constraint.text),
            None if failing(layouts, std::slice::from_ref(&constraint))?
                .iter()
                .any(Vec::is_empty) =>
            {
                format!("`{}` can be met, but not together with all the others", constraint.text)
            }
            None => {
                let label = layouts.factors.label(&layout.at);
                format!("`{}`: the closest has {value}{at_worst} ({label})", constraint.text)
            }
        };
        points.push(point("limit", said));
    }
    Ok(points)
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
