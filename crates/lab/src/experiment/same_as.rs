//! Whether the workloads that others are judged as are there.

use super::Experiment;
use crate::error::{Error, Result, nearest};

/// Checks each `same_as`: it names another workload, or a group, which is judged as itself.
pub(super) fn check(experiment: &Experiment) -> Result<()> {
    let names: Vec<String> = experiment.groups().into_iter().map(|(name, _)| name).collect();
    let judged_as = |workload: &str| {
        let path = format!("workload.{workload}.same_as");
        Some((experiment.settings().get(&path)?.values.first()?.to_string(), path))
    };
    for workload in &experiment.workloads {
        let Some((name, path)) = judged_as(workload) else { continue };
        let others: Vec<&str> =
            names.iter().map(String::as_str).filter(|other| other != workload).collect();
        let near = nearest(&name, others.iter().copied()).filter(|_| name != *workload);
        let next = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if others.is_empty() => "there is no other; leave it out".into(),
            None => format!("others are {}", others.join(", ")),
        };
        let wrong = if name == *workload {
            format!("names its own workload; {next}")
        } else if !names.contains(&name) {
            format!("no workload is called `{name}`; {next}")
        } else if let Some((further, _)) = judged_as(&name) {
            format!("`{name}` is itself judged as `{further}`; write `{further}` here, too")
        } else {
            continue;
        };
        return Err(Error::input(format!("{}: `{path}`: {wrong}", experiment.place(&path))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};

    fn said(workloads: &str) -> String {
        let text = format!("[volume]\ndrives = 'wd740gd'\n{workloads}");
        let plan = Experiment::parse("x.toml", &text).and_then(|read| Plan::new(&read).map(|_| ()));
        plan.map_or_else(|error| error.to_string(), |()| String::new())
    }

    /// All three were taken, and the workload was judged alone.
    #[test]
    fn who_it_is_judged_as_is_another_workload() {
        let with =
            |name: &str| said(&format!("[workload.box]\nsame_as = '{name}'\n[workload.bonnie]\n"));
        assert_eq!(with("bonnie"), "");
        assert_eq!(
            with("bonie"),
            "x.toml:4: `workload.box.same_as`: no workload is called `bonie`; did you mean `bonnie`?"
        );
        assert!(
            with("quite-different").ends_with("others are bonnie"),
            "{}",
            with("quite-different")
        );
        assert!(with("box").contains("names its own workload; others are bonnie"));
        let chain =
            said("[workload.a]\nsame_as = 'b'\n[workload.b]\nsame_as = 'c'\n[workload.c]\n");
        assert!(chain.contains("`b` is itself judged as `c`; write `c` here, too"), "{chain}");
        let alone = said("[workload.a]\nsame_as = 'b'\n");
        assert!(alone.ends_with("there is no other; leave it out"), "{alone}");
        let of_group = "[workload.a]\nsame_as = 'db'\n[workload.b]\ngroup = 'db'\n";
        assert_eq!(said(of_group), "");
    }

    #[test]
    fn a_group_has_a_name() {
        let empty = said("[workload.a]\ngroup = ''\n");
        assert_eq!(empty, "x.toml:4: `workload.a.group` is empty; give it a word, or leave it out");
    }
}
