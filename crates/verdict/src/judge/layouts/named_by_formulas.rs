//! What formulas name.

use super::{Layouts, Measure, NOT_MEASURED};
use std::collections::{BTreeMap, BTreeSet};
use store::Manifest;
use store::error::{Error, Result, nearest};
use store::expression::as_written;

/// The workloads that only read or only write, as far as the experiment says it; each with `read` or `write`.
pub(crate) fn only(manifest: &Manifest) -> BTreeMap<String, &'static str> {
    let settings = manifest.settings();
    let only_read = manifest.only_read.iter().map(|name| (name.clone(), "read"));
    let said = settings.iter().filter_map(|(path, value)| {
        let name = path.strip_prefix("workload.")?.strip_suffix(".op")?;
        let is_mixed = settings.contains_key(&format!("workload.{name}.reads_percent"))
            || manifest.factors.0.contains_key(&format!("workload.{name}.reads_percent"));
        let op = ["read", "write"].into_iter().find(|op| value.as_str() == Some(op))?;
        (!is_mixed).then(|| (name.to_string(), op))
    });
    only_read.chain(said).collect()
}

impl Layouts {
    /// The places of what a name may mean: `tar` or `tar.elapsed_s` is one quantity, or one for each load and
    /// condition; `rm_s` alone, or `rm` without the unit, is that sample of whichever workload a layout has run. A
    /// percentile alone, as in `p99`, is that of latency. `queries.reads` of a stream that only reads are its requests.
    pub fn find(&self, name: &str) -> Vec<usize> {
        let whole = |q: &Measure| q.is_called(name);
        let given = |q: &Measure| q.is_called_whatever_given(name);
        let sample = |q: &Measure| q.sample() == name;
        let unitless = |q: &Measure| q.called_whole().contains(&name.to_string());
        let (workload, percentile) = name.rsplit_once('.').unwrap_or(("", name));
        let of_latency = format!("{workload}.latency_{percentile}");
        let of_latency = of_latency.trim_start_matches('.').to_string();
        let latency = |q: &Measure| q.called_whole().contains(&of_latency);
        let a_second = format!("{name}_per_s");
        let counted = |q: &Measure| {
            q.is_called(&a_second)
                || q.is_called_whatever_given(&a_second)
                || q.sample() == a_second
        };
        let of_both = self.of_both(name);
        let one_way = |q: &Measure| {
            of_both
                .as_ref()
                .is_some_and(|name| q.is_called(name) || q.is_called_whatever_given(name))
        };
        let ways: [&dyn Fn(&Measure) -> bool; 7] =
            [&whole, &given, &sample, &unitless, &latency, &counted, &one_way];
        let mut found = ways.iter().map(|fits| {
            let all = (0..).zip(&self.quantities);
            all.filter(|(_, q)| fits(q)).map(|(place, _)| place).collect::<Vec<usize>>()
        });
        found.find(|places| !places.is_empty()).unwrap_or_default()
    }

    /// Whether every quantity of a formula was measured, and is one on each layout.
    ///
    /// # Errors
    ///
    /// Where one is not; the message says at which column it stands, and what there is.
    pub fn check(&self, text: &str, quantities: &[(&str, usize)]) -> Result<()> {
        for (name, column) in quantities {
            let wrong = |what: String| {
                Err(Error::input(format!("`{text}`, column {column}: `{name}` {what}")))
            };
            let places = self.find(name);
            if places.is_empty() {
                return wrong(format!("{NOT_MEASURED}; {}", self.known(name)));
            }
            if let Some(several) = self.several(&places) {
                return wrong(format!("is of several workloads; say {}", several.join(" or ")));
            }
        }
        Ok(())
    }

    /// What `places` stand for on a layout that has several of them, where one has.
    fn several(&self, places: &[usize]) -> Option<Vec<String>> {
        self.layouts.iter().find_map(|layout| {
            let here = places.iter().filter(|&&place| layout.samples.has(place));
            let mut here: Vec<String> =
                here.map(|&place| format!("`{}`", self.quantities[place].plain_name())).collect();
            here.dedup();
            (here.len() > 1).then_some(here)
        })
    }

    /// The sample of all requests that `name` stands for where its workload only reads or only writes: `requests_per_s` for
    /// `reads` and `reads_per_s`, `latency_p99_ms` for `read_p99_ms`.
    fn of_both(&self, name: &str) -> Option<String> {
        let (under, sample) = name.rsplit_once('.')?;
        let workload = under.split('[').next().unwrap_or(under);
        let rest = sample.strip_prefix(self.only.get(workload)?)?;
        let of_all = match rest {
            "s" | "s_per_s" => "requests_per_s".into(),
            "" | "_mb_per_s" => "mb_per_s".into(),
            rest => {
                let latency = format!("latency{rest}");
                let is_known =
                    |q: &&Measure| q.workload == workload && q.sample().starts_with(&latency);
                self.quantities.iter().find(is_known)?.sample().to_string()
            }
        };
        Some(format!("{under}.{of_all}"))
    }

    /// What can be named, and what may have been meant by `name`.
    fn known(&self, name: &str) -> String {
        let mut samples: Vec<&str> = Vec::new();
        for quantity in &self.quantities {
            if !samples.contains(&quantity.sample()) {
                samples.push(quantity.sample());
            }
        }
        let main: Vec<&str> = self.main().map(|(name, _)| name).collect();
        let names = self.quantities.iter().map(|q| q.name.as_str());
        let near = nearest(name, main.iter().chain(&samples).copied().chain(names));
        let meant =
            near.map_or_else(String::new, |near| format!("did you mean `{}`? ", as_written(near)));
        let under =
            name.rsplit_once('.').map_or("", |(under, _)| under.split('[').next().unwrap_or(under));
        let of = |workload: &str| -> Vec<&str> {
            let has = |sample: &&str| {
                self.quantities.iter().any(|q| q.workload == workload && q.sample() == *sample)
            };
            samples.iter().copied().filter(has).collect()
        };
        let own = of(under);
        if !own.is_empty() {
            return format!("{meant}{under} has {}", own.join(", "));
        }
        let workloads: BTreeSet<&str> =
            self.quantities.iter().map(|q| q.workload.as_str()).collect();
        // Alone, what a layout has of one workload; after each of them, what all have.
        let is_one = |sample: &&str| self.several(&self.find(sample)).is_none();
        let alone: Vec<&str> = samples.iter().copied().filter(is_one).collect();
        let is_common =
            |sample: &&str| workloads.iter().all(|workload| of(workload).contains(sample));
        let common: Vec<&str> = samples.iter().copied().filter(is_common).collect();
        let example = main.first().zip(common.last());
        let example =
            example.map_or_else(String::new, |(m, s)| format!(" (as in `{}.{s}`)", as_written(m)));
        let main = main.into_iter().map(as_written).collect::<Vec<_>>().join(", ");
        if alone == common {
            return format!(
                "{meant}there are {main}, and, alone or after a workload{example}, {}",
                alone.join(", ")
            );
        }
        let mut said = vec![format!("{meant}there are {main}")];
        for (how, samples) in
            [("alone".into(), alone), (format!("after any workload{example}"), common)]
        {
            if !samples.is_empty() {
                said.push(format!("{how}, {}", samples.join(", ")));
            }
        }
        said.join("; ")
    }
}
