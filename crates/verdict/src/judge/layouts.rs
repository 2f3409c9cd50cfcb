//! The layouts of a results directory with what was measured on each.

pub mod facts;
pub(crate) mod measured;
pub(crate) mod named_by_formulas;
pub(crate) mod names;

pub use measured::{Measured, Samples};

use crate::stats::median;
use crate::unsteady;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};
use store::ask::of_any_workload;
use store::expression::Expression;
use store::factor::{Factors, Role};
use store::quantity::{Better, Quantity};
use store::record::Record;
use store::{Manifest, sample};

/// What errors say of a name of which the results have nothing.
pub const NOT_MEASURED: &str = "is not measured";

/// All layouts of a results directory.
#[derive(Clone, Debug)]
pub struct Layouts {
    /// The layouts, in the order in which they first appear.
    pub layouts: Vec<Layout>,
    /// What was measured, each workload's main sample first.
    pub quantities: Vec<Measure>,
    /// What is known of the factors.
    pub factors: Factors,
    /// The workloads that only read or only write, with `read` or `write`.
    pub(super) only: BTreeMap<String, &'static str>,
    /// Workloads with loads and conditions under which no layout was steady, or one, beside others that rank some: they say nothing of
    /// any. With how many layouts were steady.
    pub(super) silent: BTreeMap<String, usize>,
    /// What others measured under, the same on all layouts where something else differs: the machine, the size. Nobody chose it.
    pub(super) given: BTreeSet<String>,
}

/// A record that was not steady.
pub(super) struct Unsteady {
    /// The place of its layout.
    layout: usize,
    repeat: u64,
    /// What was not steady.
    reason: String,
    /// The workload with its load and condition.
    pub(super) under: String,
}

/// One layout: a value of each factor that can be chosen.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The factors' values, by key path.
    pub at: Map<String, Json>,
    /// The samples of each quantity, by its place in the list.
    pub samples: Measured,
    /// What was said about its trials.
    pub notes: Vec<String>,
    /// Why trials on it are not among the samples.
    pub unsteady: BTreeSet<String>,
    /// Where more came than was done, although another layout kept up.
    pub overloaded: BTreeSet<String>,
    /// The workloads that ran on it.
    pub workloads: BTreeSet<String>,
}

/// A quantity as formulas name it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// `tar.elapsed_s`; with the loads and conditions that were varied, `files[step=touch].elapsed_s`.
    pub name: String,
    /// The workload, as it is judged.
    pub workload: String,
    /// The loads and conditions under which it was measured, by key path; a key of its workload as that of any.
    pub given: Map<String, Json>,
    /// `tar`, where it is the main sample of its workload.
    pub short: Option<String>,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
}

/// Where what was seen before stands: a run has up to 100,000 cells.
#[derive(Default)]
pub(super) struct Places {
    layouts: BTreeMap<String, usize>,
    /// For each workload with its loads and conditions, a place in the next.
    under: BTreeMap<String, usize>,
    /// The quantities measured under each, by sample.
    quantities: Vec<BTreeMap<String, usize>>,
    /// What each stream is judged as: to find it, the experiment is read.
    judged_as: BTreeMap<String, String>,
}

impl Layouts {
    /// The layouts of these records, with the roles that the manifest has ([`Manifest::asked`]).
    pub fn new(manifest: &Manifest, records: &[Record]) -> Self {
        let mut found = Layouts {
            layouts: Vec::new(),
            quantities: Vec::new(),
            factors: of_any(&manifest.factors),
            only: named_by_formulas::only(manifest),
            silent: BTreeMap::new(),
            given: BTreeSet::new(),
        };
        let mut ordered: Vec<&Record> = records.iter().collect();
        let place = |record: &Record| manifest.workloads.iter().position(|w| *w == record.workload);
        // By workload and repeat, so that the order of quantities and samples is not that of the trials.
        ordered.sort_by_key(|record| (place(record), record.repeat));
        let mut overloaded: Vec<(usize, String, String)> = Vec::new();
        let mut unsteady: Vec<Unsteady> = Vec::new();
        let mut counted: Vec<(usize, u64)> = Vec::new();
        let mut places = Places::default();
        for &record in &ordered {
            let (given, at) = split(manifest, record);
            let layout = found.layout(&mut places, at);
            found.layouts[layout].workloads.insert(record.workload.clone());
            if !record.note.is_empty() && !found.layouts[layout].notes.contains(&record.note) {
                found.layouts[layout].notes.push(record.note.clone());
            }
            let left_out = unsteady::is_left_out(manifest, record);
            let reason = unsteady::reason(record).filter(|_| left_out);
            let under = found.named_under(&record.workload, &given);
            match reason {
                Some(reason) if !record.is_overloaded() => {
                    unsteady.push(Unsteady { layout, repeat: record.repeat, reason, under });
                }
                // A reason that is left is that it was overloaded.
                reason => overloaded.extend(reason.map(|reason| (layout, under, reason))),
            }
            let samples = found.samples(&mut places, manifest, record, &given);
            if !left_out {
                found.layouts[layout].samples.extend(samples);
                counted.push((layout, record.repeat));
            }
        }
        found.layouts.iter_mut().for_each(|layout| layout.samples.sort());
        if !unsteady.is_empty() {
            found.silence(&mut places, manifest, &ordered, &mut unsteady);
        }
        if manifest.imported.is_some() {
            found.given = found.same_on_all();
        }
        found.leave_out_unsteady(&unsteady, &counted);
        found.leave_out_overloaded(&overloaded);
        found
    }

    /// The factors that have one value on all layouts, where others have several.
    fn same_on_all(&self) -> BTreeSet<String> {
        let Some((first, others)) = self.layouts.split_first() else { return BTreeSet::new() };
        let is_same =
            |path: &&String| others.iter().all(|other| other.at.get(*path) == first.at.get(*path));
        let same: BTreeSet<String> = first.at.keys().filter(is_same).cloned().collect();
        if same.len() < first.at.len() { same } else { BTreeSet::new() }
    }

    /// What a layout is called: the values of what was chosen.
    pub(crate) fn label(&self, at: &Map<String, Json>) -> String {
        let chosen = at.iter().filter(|(path, _)| !self.given.contains(*path));
        self.factors.label(&chosen.map(|(path, value)| (path.clone(), value.clone())).collect())
    }

    /// What was not steady is left out, and a layout with it unless half of its repeats were steady all through: those count.
    fn leave_out_unsteady(&mut self, unsteady: &[Unsteady], counted: &[(usize, u64)]) {
        let broken: BTreeSet<(usize, u64)> =
            unsteady.iter().map(|of| (of.layout, of.repeat)).collect();
        let steady = counted.iter().filter(|repeat| !broken.contains(repeat));
        // Of each layout, the repeats that were steady less those that were not.
        let mut left: BTreeMap<usize, i64> = BTreeMap::new();
        for (layout, _) in steady.collect::<BTreeSet<_>>() {
            *left.entry(*layout).or_default() += 1;
        }
        for (layout, _) in &broken {
            *left.entry(*layout).or_default() -= 1;
        }
        for of in unsteady.iter().filter(|of| left[&of.layout] < 0) {
            self.layouts[of.layout].unsteady.insert(of.reason.clone());
        }
    }

    /// A load that no layout keeps up with says nothing of any of them, unless there is no other.
    fn leave_out_overloaded(&mut self, overloaded: &[(usize, String, String)]) {
        let mut by_load: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (layout, under, _) in overloaded {
            by_load.entry(under).or_default().insert(*layout);
        }
        let is_all = self.layouts.iter().all(|layout| layout.samples.is_empty());
        for (layout, under, reason) in overloaded {
            let is_kept_up_with = by_load[under.as_str()].len() < self.layouts.len();
            if is_all || is_kept_up_with {
                self.layouts[*layout].overloaded.insert(format!("{reason} ({under})"));
            }
        }
    }

    /// A workload with the loads and conditions under which it ran: `tar[files=100]`.
    pub(super) fn named_under(&self, workload: &str, given: &Map<String, Json>) -> String {
        self.factors.named_under(workload, given)
    }

    pub(super) fn layout(&mut self, places: &mut Places, at: Map<String, Json>) -> usize {
        let key = sorted_words(&at);
        if let Some(&index) = places.layouts.get(&key) {
            return index;
        }
        places.layouts.insert(key, self.layouts.len());
        self.layouts.push(Layout {
            at,
            samples: Measured::default(),
            notes: Vec::new(),
            unsteady: BTreeSet::new(),
            overloaded: BTreeSet::new(),
            workloads: BTreeSet::new(),
        });
        self.layouts.len() - 1
    }

    /// The samples of a record, each with its quantity.
    pub(super) fn samples(
        &mut self,
        places: &mut Places,
        manifest: &Manifest,
        record: &Record,
        given: &Map<String, Json>,
    ) -> Vec<(usize, u64, f64)> {
        // A stream of a mix goes by its own name, under the same load.
        let mut streams: Vec<(&str, usize)> = Vec::new();
        let mut samples = Vec::new();
        // A group may have the name of one of its streams, as in jobs of fio: the name is that of what is judged.
        let are_apart = !record.judged_streams().is_empty();
        for (name, value) in record.samples.iter() {
            let Some(value) = value else { continue };
            let (stream, sample) = name.rsplit_once('.').unwrap_or((&record.workload, name));
            let is_judged = (sample != name) == are_apart;
            let other = || if are_apart { format!("{stream}.{sample}") } else { sample.into() };
            if stream == record.workload && !is_judged && record.samples.contains(&other()) {
                continue;
            }
            let known = streams.iter().find(|(known, _)| *known == stream).map(|(_, under)| *under);
            let under = known.unwrap_or_else(|| {
                let under = self.under(places, manifest, stream, given);
                streams.push((stream, under));
                under
            });
            let known = places.quantities[under].get(sample).copied();
            let quantity = known.unwrap_or_else(|| {
                let quantity = self.measure(places, manifest, record, given, name);
                places.quantities[under].insert(sample.into(), quantity);
                quantity
            });
            samples.push((quantity, record.repeat, value));
        }
        samples
    }

    /// The place of a stream with its loads and conditions.
    fn under(
        &self,
        places: &mut Places,
        manifest: &Manifest,
        stream: &str,
        given: &Map<String, Json>,
    ) -> usize {
        if !places.judged_as.contains_key(stream) {
            places.judged_as.insert(stream.into(), manifest.judged_as(stream));
        }
        let next = places.quantities.len();
        let named = self.named_under(&places.judged_as[stream], given);
        let place = *places.under.entry(named).or_insert(next);
        if place == next {
            places.quantities.push(BTreeMap::new());
        }
        place
    }

    /// Adds a quantity that was not seen before.
    fn measure(
        &mut self,
        places: &Places,
        manifest: &Manifest,
        record: &Record,
        given: &Map<String, Json>,
        sample: &str,
    ) -> usize {
        let (stream, plain) = sample.rsplit_once('.').unwrap_or((&record.workload, sample));
        let workload = places.judged_as[stream].clone();
        let under = self.named_under(&workload, given);
        let main = manifest.judged(record).iter().any(|(_, main)| *main == sample);
        let quantity = if plain == sample {
            manifest.quantity(&record.workload, sample)
        } else {
            Quantity::named(stream, plain)
        };
        let sample = plain;
        self.quantities.push(Measure {
            name: format!("{under}.{sample}"),
            workload,
            given: given.clone(),
            short: main.then_some(under),
            unit: quantity.unit,
            better: quantity.better,
        });
        self.quantities.len() - 1
    }

    /// The unit of what a name means.
    pub fn unit(&self, name: &str) -> Option<String> {
        self.find(name).first().map(|&place| self.quantities[place].unit.clone())
    }

    /// What each of these names stands for, looked up once.
    pub fn meanings(&self, names: &[&str]) -> Meanings {
        let meaning =
            |name: &&str| ((*name).to_string(), Meaning::of(&self.quantities, self.find(name)));
        Meanings(names.iter().map(meaning).collect())
    }

    /// The loads and conditions under which a formula has a value each; one that is empty where it has but one value.
    pub fn situations(&self, names: &[&str]) -> Vec<Map<String, Json>> {
        let meanings = self.meanings(names);
        let mut found: Vec<Map<String, Json>> = Vec::new();
        let mut known = BTreeSet::new();
        for meaning in names.iter().filter_map(|name| meanings.0.get(*name)) {
            for &place in meaning.places.iter().filter(|_| !meaning.is_constant()) {
                let given = &self.quantities[place].given;
                if known.insert(sorted_words(given)) {
                    found.push(given.clone());
                }
            }
        }
        if found.is_empty() { vec![Map::new()] } else { found }
    }

    /// The value of a formula for each repeat on `layout`, its names as in `situated`; none where a quantity is missing or the
    /// value is below 0 or no number.
    pub fn scores(
        &self,
        layout: &Layout,
        formula: &Expression,
        situated: &Situated<'_>,
    ) -> Samples {
        let names = formula.quantities().into_iter();
        let there = |name| Some((name, situated.samples(layout, name)?));
        let samples: BTreeMap<&str, Samples> = names.filter_map(|(name, _)| there(name)).collect();
        let value = |repeat: u64| {
            let of = |name: &str| samples.get(name)?.get(&repeat).copied();
            let value = formula.value(0.0, &of)?;
            (value.is_finite() && value >= 0.0).then_some((repeat, value))
        };
        let repeats = samples.values().next().into_iter().flat_map(|samples| samples.keys());
        repeats.filter_map(|&repeat| value(repeat)).collect()
    }

    /// The main quantity of each workload, by its short name.
    pub fn main(&self) -> impl Iterator<Item = (&str, usize)> {
        (0..).zip(&self.quantities).filter_map(|(index, q)| Some((q.short.as_deref()?, index)))
    }
}

/// The loads and conditions of a record, and what was chosen: a key of its workload as that of any.
pub(crate) fn split(
    manifest: &Manifest,
    record: &Record,
) -> (Map<String, Json>, Map<String, Json>) {
    let (given, at): (Vec<_>, Vec<_>) =
        record.at.iter().partition(|(path, _)| manifest.factors.role(path) != Role::Choice);
    let generic = |of: Vec<(&String, &Json)>| -> Map<String, Json> {
        let generic =
            |(path, value): (&String, &Json)| (of_any_workload(path).into_owned(), value.clone());
        of.into_iter().map(generic).collect()
    };
    (generic(given), generic(at))
}

/// What the names of a formula stand for.
pub struct Meanings(BTreeMap<String, Meaning>);

struct Meaning {
    places: Vec<usize>,
    /// The same, by the load and condition.
    by_given: BTreeMap<String, Vec<usize>>,
}

/// What they stand for in a situation.
pub struct Situated<'a> {
    meanings: &'a Meanings,
    given: String,
}

impl Meaning {
    fn of(quantities: &[Measure], places: Vec<usize>) -> Self {
        let mut by_given: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for &place in &places {
            by_given.entry(sorted_words(&quantities[place].given)).or_default().push(place);
        }
        Meaning { places, by_given }
    }

    /// Whether it stands for one load and condition: there is but one, or the name says which.
    fn is_constant(&self) -> bool {
        self.by_given.len() <= 1
    }
}

impl Meanings {
    /// In a situation.
    pub fn given(&self, situation: &Map<String, Json>) -> Situated<'_> {
        Situated { meanings: self, given: sorted_words(situation) }
    }
}

impl Situated<'_> {
    /// The samples on `layout` of what a name means.
    pub fn samples(&self, layout: &Layout, name: &str) -> Option<Samples> {
        let meaning = self.meanings.0.get(name)?;
        let places = if meaning.is_constant() {
            &meaning.places
        } else {
            meaning.by_given.get(&self.given)?
        };
        places.iter().find_map(|&place| layout.samples.get(place))
    }
}

/// The same values in another order have the same words.
pub(crate) fn sorted_words(at: &Map<String, Json>) -> String {
    let sorted: BTreeMap<&String, &Json> = at.iter().collect();
    format!("{sorted:?}")
}

/// The factors, and for a workload's own key that of any workload, too.
fn of_any(factors: &Factors) -> Factors {
    let mut all = factors.clone();
    for (path, kind) in &factors.0 {
        all.0.entry(of_any_workload(path).into_owned()).or_insert(*kind);
    }
    all
}

impl Measure {
    /// The shorter of its names.
    pub fn called(&self) -> &str {
        self.short.as_deref().unwrap_or(&self.name)
    }

    /// Its name without loads and conditions.
    pub(super) fn plain_name(&self) -> String {
        format!("{}.{}", self.workload, self.sample())
    }

    pub(super) fn is_called(&self, name: &str) -> bool {
        self.short.as_deref() == Some(name) || self.name == name
    }

    pub(super) fn is_called_whatever_given(&self, name: &str) -> bool {
        (self.short.is_some() && self.workload == name) || self.plain_name() == name
    }

    /// `rm` and `tar.rm` of `tar.rm_s`; none where the sample has no name without its unit.
    pub(super) fn called_whole(&self) -> Vec<String> {
        let called = sample::find(self.sample()).map_or("", |sample| sample.called);
        if called.is_empty() {
            return Vec::new();
        }
        let under = self.name.trim_end_matches(self.sample());
        vec![called.into(), format!("{under}{called}"), format!("{}.{called}", self.workload)]
    }

    /// `elapsed_s`, whichever the workload.
    pub fn sample(&self) -> &str {
        self.name.rsplit_once('.').map_or(&self.name, |(_, sample)| sample)
    }
}

impl Layout {
    /// The median of a quantity.
    pub fn median(&self, quantity: usize) -> Option<f64> {
        median(&self.values(quantity))
    }

    /// All samples of a quantity, in the order of the repeats.
    pub fn values(&self, quantity: usize) -> Vec<f64> {
        self.samples.values(quantity).collect()
    }
}
