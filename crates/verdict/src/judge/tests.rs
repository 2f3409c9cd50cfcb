use super::*;
use crate::stats::noise::NoiseSource;
use Standing::{Behind, Best, Tie};
use lab::experiment::{Experiment, Plan, factors};
use lab::import::{mapped, shipped_mapping};
use lab::rig::sim::Sim;
use lab::runner;
use store::expression::Objective;

fn verdict(name: &str, wishes: &Wishes) -> Verdict {
    let (manifest, records) = shipped_mapping(name).unwrap().unwrap().into_records();
    Verdict::new(&manifest, &records, wishes).unwrap()
}

/// What stands below the answer about this.
fn about<'a>(verdict: &'a Verdict, about: &str) -> &'a str {
    verdict.points.iter().find(|point| point.about == about).map_or("", |point| &point.text)
}

/// What a choice risks stands beside what it wins, and what the safe one costs.
#[test]
fn the_risk_stands_beside_the_answer() {
    let verdict = verdict("brownlee-2005", &Wishes::default());
    assert!(verdict.answer.contains("mount async"), "{}", verdict.answer);
    assert!(about(&verdict, "risk").contains("mounted async"), "{:?}", verdict.points);
    let safe = about(&verdict, "safe choice");
    assert!(
        safe.starts_with("drives 2xwd740gd, level raidframe-mirror") && safe.contains(" slower"),
        "{safe}"
    );
    assert!(about(&verdict, "settings").contains("fs.mount = async"));
}

fn safe() -> Wishes {
    Wishes { safe: true, ..Wishes::default() }
}

fn wishes(objectives: &[&str], subject_to: &[&str]) -> Wishes {
    let texts = |of: &[&str]| of.iter().map(|text| (*text).to_string()).collect();
    Wishes {
        safe: false,
        objectives: texts(objectives),
        subject_to: texts(subject_to),
        ..Wishes::default()
    }
}

/// One that is left out alone is named; of several their number is told.
#[test]
fn what_is_left_out_alone_is_named() {
    let left_out = |limit: &str| {
        let verdict = verdict("fair-2006", &wishes(&["max read"], &[limit]));
        about(&verdict, "left out").to_string()
    };
    assert_eq!(left_out("write >= 22"), "3 layouts: `write >= 22` does not hold");
    assert_eq!(left_out("read <= 26"), "interleave 64 (32 KiB): `read <= 26` does not hold");
}

/// How near the best is to a limit, in the unit of what is limited.
#[test]
fn a_limit_stands_beside_what_the_best_has() {
    let verdict =
        verdict("fair-2006", &wishes(&["max read"], &["write >= 0.02GB/s", "write >= 10"]));
    let limits: Vec<&str> = verdict
        .points
        .iter()
        .filter(|point| point.about == "limit")
        .map(|point| point.text.as_str())
        .collect();
    assert_eq!(limits, ["`write >= 0.02GB/s`: 22.8 MB/s", "`write >= 10`: 22.8 MB/s"]);
}

#[test]
fn brownlee_chose_what_his_table_says_is_best_and_safe() {
    let verdict = verdict("brownlee-2005", &safe());
    let best = &verdict.ranked[0];
    let value = |path: &str| best.at[path].as_str().unwrap_or_default().to_string();
    assert_eq!(value("volume.level"), "raidframe-mirror");
    assert_eq!((value("fs.block"), value("fs.type")), ("16KiB".into(), "ffsv2".into()));
    assert_eq!(value("fs.mount"), "softdep");
    assert!((best.value - 150.6).abs() < 0.01);
    // His interleave is the other one, and a tie.
    let second = &verdict.ranked[1];
    assert_eq!(second.at["volume.interleave"], 128);
    assert!((second.value - 150.8).abs() < 0.01);
    assert_eq!(second.standing, Standing::Tie);
    assert_eq!(second.facts.losses_survived, Some(1));
    assert!(verdict.left_out.iter().all(|out| !out.because.is_empty()));
    assert_eq!(verdict.ranked.len() + verdict.left_out.len(), 180);
    assert!(verdict.safety.unwrap().ratio > 1.4);
    assert!(verdict.answer.starts_with("Use drives 2xwd740gd"), "{}", verdict.answer);
}

#[test]
fn brownlee_s_interleave_matters_for_64_kib_blocks_only() {
    let verdict = verdict("brownlee-2005", &safe());
    let mut found = verdict.splits.iter().filter(|f| f.contrast.path == "volume.interleave");
    let finding = found.next().unwrap();
    assert!(found.next().is_none());
    let (contrast, split) = (&finding.contrast, finding.contrast.split.as_ref().unwrap());
    assert_eq!((contrast.first.as_str(), contrast.second.as_str()), ("64", "128"));
    assert_eq!((finding.workload.as_str(), split.value.as_str()), ("rm", "64KiB"));
    assert_eq!((split.there.pairs, split.there.second_smaller), (6, 6));
    assert!(split.there.interval.low > 1.3);
    let elsewhere = finding.objective_elsewhere.unwrap();
    assert_eq!((elsewhere.pairs, elsewhere.second_smaller), (24, 12));
    assert!(elsewhere.p_wilcoxon > 0.5);
    let said = verdict.sentences.join("\n");
    assert!(said.contains("in 6 of 6 pairs") && said.contains("12 of 24 pairs"), "{said}");
}

#[test]
fn brownlee_s_wild_cells_are_an_interaction() {
    let verdict = verdict("brownlee-2005", &safe());
    let tar = verdict.effects.iter().find(|effects| effects.of == "tar").unwrap();
    let named = |wanted: &[&str]| {
        tar.interactions.iter().find(|interaction| {
            interaction.settings.iter().map(|(_, level)| level.as_str()).eq(wanted.iter().copied())
        })
    };
    let found = named(&["64KiB", "ffsv2", "softdep"]).unwrap();
    assert_eq!((found.wild, found.cells), (4, 6));
    assert!(found.ratio_low > 2.0 && found.ratio_high > 12.0);
    let said = verdict.sentences.join("\n");
    assert!(said.contains("tar: block 64KiB, type ffsv2 together with mount softdep"), "{said}");
    let certainty = about(&verdict, "certainty");
    assert!(certainty.contains("noise and interaction cannot be separated"), "{certainty}");
    assert_eq!(verdict.noise.source, NoiseSource::Residuals);
}

/// What is 2 % off is no outlier where the model may err by 5 %; of one name all are counted together.
#[test]
fn an_outlier_is_beyond_what_models_err_by() {
    let mut verdict = verdict("brownlee-2005", &safe());
    let mut of_tar = verdict.effects.iter().find(|effects| effects.of == "tar").unwrap().clone();
    of_tar.lone.truncate(1);
    let mut said = |ratio: f64, model_error: f64| {
        of_tar.lone[0].ratio = ratio;
        verdict.effects = vec![of_tar.clone(), of_tar.clone()];
        verdict.noise.model_error = model_error;
        super::answer::details::sentences(&verdict)
            .into_iter()
            .find(|said| said.starts_with("Outliers"))
    };
    assert_eq!(said(1.02, 0.051), None);
    assert!(said(1.02, 0.0).unwrap().starts_with("Outliers: 2 of tar (the worst is "));
    assert!(said(0.9, 0.051).is_some());
}

#[test]
fn rosen_s_repeats_give_the_noise() {
    let verdict = verdict("rosen-1999", &Wishes::default());
    assert_eq!(verdict.noise.source, NoiseSource::Repeats);
    assert!((verdict.noise.degrees - 2.0).abs() < 1e-9);
    assert!((verdict.noise.log_sd - 0.0058).abs() < 1e-4);
    let standing: Vec<(u64, Standing)> = verdict
        .ranked
        .iter()
        .map(|ranked| (ranked.at["volume.interleave"].as_u64().unwrap(), ranked.standing))
        .collect();
    let expected =
        [(2048, Best), (8192, Tie), (32768, Behind), (126, Behind), (128, Behind), (32, Behind)];
    assert_eq!(standing, expected);
    let certainty = about(&verdict, "certainty");
    assert!(
        certainty.contains("repeats of interleave 32768 (16 MiB), cylinders 16 vary by 0.6 %"),
        "{certainty}"
    );
    let note = &verdict.ranked[2].notes;
    assert!(note.iter().any(|note| note.contains("kernel profiling")));
}

#[test]
fn formulas_decide_and_constrain() {
    let asked = wishes(&["min tar + rm"], &["rm <= 1.1*best"]);
    let verdict = verdict("brownlee-2005", &asked);
    assert!(verdict.ranked.len() < 180 && verdict.answer.contains("mount async"));
    assert!(about(&verdict, "left out").contains("`rm <= 1.1*best` does not hold"));
    let several = wishes(&["max read", "max seeks"], &[]);
    let front = super::tests::verdict("tao-1996-bonnie", &several).front;
    let names: Vec<&str> = front.iter().map(|row| row.label.split(',').next().unwrap()).collect();
    assert_eq!(names, ["name ccd5", "name cmd"]);
}

/// What is neither better nor worse has no best, and says nothing of what has one.
#[test]
fn nothing_is_ranked_by_a_diagnosis() {
    let mapping = "name = 'mine'\nsource = ''\ncsv = 'mine.csv'\npublished = false\n\
                   [factors]\ninterleave = 'volume.interleave'\n";
    let column = |name: &str, unit: &str| {
        format!(
            "[[column]]\ncsv = '{name}'\nworkload = '{name}'\nsample = '{name}'\nunit = '{unit}'\n"
        )
    };
    let verdict = |columns: &str, wishes: &Wishes| {
        let csv = "interleave,cpu,hits,time\n16,10,3,7\n64,40,9,1\n16,11,3,7.1\n64,41,9,1.1\n";
        let text = format!("{mapping}{columns}");
        let table = mapped("mine.toml", &text, |name| Ok((name.into(), csv.into()))).unwrap();
        let (manifest, records) = table.into_records();
        Verdict::new(&manifest, &records, wishes).unwrap()
    };
    let shares = column("cpu", "%") + &column("hits", "%");
    for columns in [&column("cpu", "%"), &shares] {
        let none = verdict(columns, &Wishes::default());
        assert_eq!((none.ranked.len(), none.left_out.len()), (0, 2));
        assert!(none.answer.starts_with("No layout can be called best"), "{}", none.answer);
        assert!(none.answer.contains("--objective") && none.sentences.is_empty());
    }
    let asked = verdict(&shares, &wishes(&["min cpu"], &[]));
    assert_eq!(asked.ranked[0].at["volume.interleave"], 16);
    // Beside a time, the time alone counts.
    let beside = verdict(&(shares + &column("time", "s")), &Wishes::default());
    assert_eq!(beside.objective, "min time");
    assert_eq!(beside.ranked[0].at["volume.interleave"], 64);
}

#[test]
fn a_formula_that_names_nothing_measured_says_where() {
    let (manifest, records) = shipped_mapping("brownlee-2005").unwrap().unwrap().into_records();
    let message = |objective: &str| {
        let asked = wishes(&[objective], &[]);
        Verdict::new(&manifest, &records, &asked).unwrap_err().to_string()
    };
    let near = message("min tarr + rm");
    let start =
        "`min tarr + rm`, column 5: `tarr` is not measured; did you mean `tar`? there are newfs, ";
    assert!(near.starts_with(start), "{near}");
    let other = message("min quite-other");
    assert!(other.contains("there are newfs, tar") && other.contains("`newfs."), "{other}");
}

/// Two workloads, each on layouts of its own and with the same samples: a sample alone is of either.
#[test]
fn a_sample_alone_is_that_of_the_workload_that_a_layout_ran() {
    let text = "objective = \"min rm_s + umount_after_rm_s\"\n[host]\nname = \"a8v-netbsd-2\"\n\
                [fs]\nnewfs = \"netbsd2\"\nmount = [\"sync\", \"async\"]\n\
                [workload.one]\nkind = \"untar\"\nfiles = 20\ndirectories = 3\nsize = \"400KiB\"\n\
                volume.level = \"single\"\nvolume.drives = [\"wd740gd:64MiB\"]\n\
                [workload.two]\nkind = \"untar\"\nfiles = 20\ndirectories = 3\nsize = \"400KiB\"\n\
                volume.level = \"mirror\"\nvolume.drives = [\"2xwd740gd:64MiB\"]\n";
    let (manifest, records) = modelled(text);
    let asked = |objective: &str| Verdict::new(&manifest, &records, &wishes(&[objective], &[]));
    let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
    assert_eq!(verdict.objective, "min rm_s + umount_after_rm_s");
    assert_eq!((verdict.unit.as_str(), verdict.ranked.len()), ("s", 4));
    let values = |objective: &str| -> Vec<f64> {
        asked(objective).unwrap().ranked.iter().map(|ranked| ranked.value).collect()
    };
    assert_eq!(values("min rm + umount_after_rm"), values("min rm_s + umount_after_rm_s"));
    assert_eq!(values("min one.rm").len(), 2);
    assert!(values("min rm_s")[0] < values("min rm_s + tar_s")[0]);
    let message = asked("min rmm_s").unwrap_err().to_string();
    assert!(message.contains("did you mean `rm_s`? there are one, two, and, alone"), "{message}");
    assert!(message.contains("umount_after_tar_s"), "{message}");
}

#[test]
fn a_sample_of_several_workloads_of_a_layout_must_say_of_which() {
    let text = "[volume]\ndrives = \"2xwd740gd\"\n[workload.read]\ncount = 9\n[workload.scan]\ncount = 9\n";
    let (manifest, records) = modelled(text);
    let asked = |objective: &str| Verdict::new(&manifest, &records, &wishes(&[objective], &[]));
    let message = asked("min latency_p99_ms").unwrap_err().to_string();
    let say =
        "column 5: `latency_p99_ms` is of several workloads; say `read.latency_p99_ms` or `scan.";
    assert!(message.contains(say), "{message}");
    assert_eq!(asked("min scan.latency_p99").unwrap().unit, "ms");
}

/// A stream that only reads had no `reads_per_s`, and an error listed it all the same.
#[test]
fn a_stream_of_one_direction_has_its_requests() {
    let text = "[volume]\ndrives = \"2xwd740gd\"\nlevel = [\"md-stripe\", \"md-mirror\"]\n\
                [workload.log]\ngroup = \"log\"\nop = \"write\"\nkind = \"random\"\ncount = 99\n\
                [workload.queries]\ngroup = \"log\"\nop = \"read\"\nkind = \"random\"\ncount = 99\n";
    let (manifest, records) = modelled(text);
    let asked = |objective: &str| Verdict::new(&manifest, &records, &wishes(&[objective], &[]));
    let value = |objective: &str| asked(objective).unwrap().ranked[0].value.to_bits();
    let requests = value("max queries.requests_per_s");
    for name in ["queries.requests", "queries.reads", "queries.reads_per_s"] {
        assert_eq!(value(&format!("max {name}")), requests, "{name}");
    }
    assert_eq!(value("max queries.read_mb_per_s"), value("max queries.mb_per_s"));
    assert_eq!(value("min queries.read_p99"), value("min queries.latency_p99_ms"));
    // The writes of the group, which has the name of a stream, are its own.
    assert_ne!(value("max log.writes"), value("max log.requests"));
    let refused = |objective: &str| asked(objective).unwrap_err().to_string();
    let own = refused("max queries.writes");
    let list = own.split_once("queries has ").unwrap().1;
    assert!(!list.contains("commit") && !list.contains("reads_per_s"), "{own}");
    for name in list.split(", ") {
        assert!(
            !asked(&format!("max queries.{name}"))
                .is_err_and(|e| e.to_string().contains("not measured")),
            "{name}"
        );
    }
    let all = refused("max nothing");
    let (_, alone) = all.split_once("alone, ").unwrap();
    let (alone, after) = alone.split_once("; after any workload").unwrap();
    for name in alone.split(", ") {
        let said = asked(&format!("max {name}")).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(!said.contains("several") && !said.contains("measured"), "{name}: {said}");
    }
    for name in after.split_once("), ").unwrap().1.split(", ") {
        for workload in ["log", "queries"] {
            let said = asked(&format!("max {workload}.{name}")).err().map(|e| e.to_string());
            assert!(!said.unwrap_or_default().contains("measured"), "{workload}.{name}");
        }
    }
}

/// What an experiment measures.
pub(super) fn modelled(text: &str) -> (Manifest, Vec<Record>) {
    let experiment = Experiment::parse("some.toml", text).unwrap();
    let plan = Plan::new(&experiment).unwrap();
    let finished = runner::run(&plan, &Sim, None, Vec::new(), &mut |_| ()).unwrap();
    let manifest = Manifest {
        format: store::FORMAT,
        ileave: String::new(),
        name: experiment.name.clone(),
        rig: "sim".into(),
        trials: plan.trials.len(),
        workloads: experiment.groups().into_iter().map(|(name, _)| name).collect(),
        published: String::new(),
        experiment: experiment.canonical(),
        drives: plan.drives.clone(),
        members: plan.members.clone(),
        hosts: plan.hosts.clone(),
        controllers: plan.controllers.clone(),
        trees: plan.trees.clone(),
        traces: plan.traces.clone(),
        only_read: Vec::new(),
        factors: factors(
            plan.trials.iter().flat_map(|trial| trial.cell.at.iter().map(|(path, _)| path)),
        ),
        machine: std::collections::BTreeMap::new(),
        doubts: Vec::new(),
        fio: false,
        imported: None,
    };
    (manifest, finished.into_iter().map(|finished| finished.record).collect())
}

#[test]
fn one_run_of_few_cells_decides_nothing() {
    let verdict = verdict("fair-2006", &Wishes::default());
    assert_eq!(verdict.noise.source, NoiseSource::Unknown);
    assert!(verdict.ranked[1..].iter().all(|ranked| ranked.standing == Standing::Unknown));
    assert!(verdict.answer.contains("Repeat the runs."), "{}", verdict.answer);
}

/// The machine and the size that bonnie++ writes into each line are conditions: nobody is told to use them.
#[test]
fn what_others_measured_under_is_no_choice() {
    let (manifest, mut records) = shipped_mapping("fair-2006").unwrap().unwrap().into_records();
    for record in &mut records {
        record.at.insert("machine".into(), Json::from("nas1"));
    }
    let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
    assert!(verdict.ranked.iter().all(|of| of.label.starts_with("interleave ")), "{verdict:?}");
    let said = format!("{} {:?}", verdict.answer, verdict.points);
    assert!(!said.contains("nas1"), "{said}");
    // Where nothing else differs they are all that there is to name a layout by.
    records.retain(|record| record.at["volume.interleave"] == 64);
    let alone = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
    assert!(alone.ranked[0].label.contains("machine nas1"), "{}", alone.ranked[0].label);
}

#[test]
fn workloads_on_layouts_of_their_own_have_no_best_for_all() {
    let (manifest, mut records) = shipped_mapping("fair-2006").unwrap().unwrap().into_records();
    let is_small = |at: &Map<String, Json>| at["volume.interleave"].as_u64() < Some(100);
    records.retain(|record| is_small(&record.at) == (record.workload == "read"));
    let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
    assert_eq!((verdict.ranked.len(), verdict.left_out.len()), (0, 4));
    assert!(verdict.answer.contains("Below is the best for each"), "{}", verdict.answer);
}

/// The rank of a layout does not depend on the order in which trials are kept, nor on what layouts are called.
#[test]
fn a_rank_depends_on_no_name_and_no_order() {
    for (table, objective) in [
        ("tao-1996-bonnie", "max read"),
        ("rosen-1999", "max spool"),
        ("brownlee-2005", "min tar + rm"),
    ] {
        let (manifest, records) = shipped_mapping(table).unwrap().unwrap().into_records();
        let asked =
            if table == "rosen-1999" { Wishes::default() } else { wishes(&[objective], &[]) };
        let rank = |records: &[Record]| -> Vec<(String, Standing)> {
            let verdict = Verdict::new(&manifest, records, &asked).unwrap();
            let place = |ranked: &Ranked| (format!("{:.6}", ranked.value), ranked.standing);
            verdict.ranked.iter().map(place).collect()
        };
        let expected = rank(&records);
        assert!(expected.len() > 3, "{table}");
        let mut turned = records.clone();
        turned.reverse();
        assert_eq!(rank(&turned), expected, "{table}");
        for record in &mut turned {
            for (path, value) in &mut record.at {
                if let Some(name) = value.as_str().filter(|_| path == "volume.name") {
                    *value = Json::from(name.chars().rev().chain("x".chars()).collect::<String>());
                }
            }
        }
        assert_eq!(rank(&turned), expected, "{table}");
    }
}

/// Trials that had sectors to repair are named: a healthy member is faster.
#[test]
fn repairs_are_told() {
    let (manifest, mut records) = modelled(TWO_LEVELS);
    let told = |records: &[Record]| {
        let verdict = Verdict::new(&manifest, records, &Wishes::default()).unwrap();
        about(&verdict, "repaired").to_string()
    };
    assert_eq!(told(&records), "");
    records[0].samples.insert("repairs", 2.0);
    assert!(told(&records).starts_with("1 of 6 trials rewrote unreadable sectors (2 ranges)"));
}

/// What the rig found doubtful of its members stands beside every answer on them.
#[test]
fn doubts_are_told() {
    let (mut manifest, records) = modelled(TWO_LEVELS);
    manifest.doubts.push("the members share a disk".into());
    let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
    assert_eq!(about(&verdict, "doubt"), "the members share a disk");
}

const TWO_LEVELS: &str = "[run]\nrepeats = 3\n[volume]\ndrives = '2xwd740gd'\n\
                          level = ['stripe', 'raid1']\n[workload.read]\nkind = 'random'\ncount = 20\n";

/// Trials of two levels, of which the first repeat of one has no number.
#[test]
fn a_missing_sample_shifts_no_other_repeat() {
    let (manifest, mut records) = modelled(TWO_LEVELS);
    let lose = |records: &mut [Record], level: &str, repeat: u64| {
        let wanted = |r: &&mut Record| r.at["volume.level"] == level && r.repeat == repeat;
        for record in records.iter_mut().filter(wanted) {
            record.samples.insert("mb_per_s", f64::NAN);
        }
    };
    let verdict = |manifest: &Manifest, records: &[Record]| {
        Verdict::new(manifest, records, &wishes(&["max read.mb_per_s"], &[])).unwrap()
    };
    assert!(verdict(&manifest, &records).noise.pairs.is_some());
    lose(&mut records, "stripe", 0);
    let layouts = Layouts::new(&manifest, &records);
    let formula = Objective::parse("max read.mb_per_s / read.requests_per_s").unwrap().of;
    for layout in &layouts.layouts {
        let names: Vec<&str> = formula.quantities().into_iter().map(|(name, _)| name).collect();
        let meanings = layouts.meanings(&names);
        let scores = layouts.scores(layout, &formula, &meanings.given(&Map::new()));
        // A request is of 64 KiB in every repeat.
        assert!(scores.values().all(|score| (score - 0.065_536).abs() < 1e-9), "{scores:?}");
        let repeats: Vec<u64> =
            if layout.at["volume.level"] == "stripe" { vec![1, 2] } else { vec![0, 1, 2] };
        assert!(scores.keys().eq(&repeats), "{scores:?}");
    }
    // As many of each, but of other repeats.
    lose(&mut records, "raid1", 2);
    assert_eq!(verdict(&manifest, &records).noise.pairs, None);
}

#[test]
fn what_safety_costs_rests_on_all_trials_of_both() {
    let (manifest, records) = modelled(TWO_LEVELS);
    let verdict = Verdict::new(&manifest, &records, &safe()).unwrap();
    assert!(verdict.left_out.iter().all(|out| out.trials == 3), "{:?}", verdict.left_out);
    assert!(!verdict.left_out.is_empty());
}

#[test]
fn one_layout_alone_says_how_far_its_repeats_differ() {
    let certainty = |repeats: u64| {
        let text = TWO_LEVELS.replace("['stripe', 'raid1']", "'raid1'");
        let (manifest, mut records) =
            modelled(&text.replace("repeats = 3", &format!("repeats = {repeats}")));
        for record in &mut records {
            record.samples.insert("mb_per_s", [100.0, 120.0, 90.0][record.repeat as usize]);
        }
        let verdict =
            Verdict::new(&manifest, &records, &wishes(&["max read.mb_per_s"], &[])).unwrap();
        let point = verdict.points.into_iter().find(|point| point.about == "certainty");
        point.map(|point| point.text)
    };
    assert_eq!(
        certainty(3).as_deref(),
        Some("the median of 3 trials; repeats of one layout vary by 15 %"),
        "the standard deviation of their logarithms is 0.145"
    );
    assert_eq!(certainty(1), None);
}

/// Repeats that differ more than the model errs are why two layouts tie.
#[test]
fn a_tie_for_noise_is_not_said_to_be_the_model_s() {
    let (manifest, mut records) = modelled(TWO_LEVELS);
    for record in &mut records {
        let first = if record.at["volume.level"] == "stripe" { 1.0 } else { 1.05 };
        record.samples.insert("mb_per_s", first * [100.0, 150.0, 80.0][record.repeat as usize]);
        record.repeat = if first > 1.0 { 2 - record.repeat } else { record.repeat };
    }
    let verdict = Verdict::new(&manifest, &records, &wishes(&["max read.mb_per_s"], &[])).unwrap();
    let words = ": the noise and the model's error of ";
    let (within, _) = verdict.answer.split_once(words).expect(&verdict.answer);
    let within = within.strip_prefix("No reliable difference (all within ").expect(within);
    let certainty = verdict.points.iter().find(|point| point.about == "certainty").unwrap();
    let below = format!("differences below {within} ");
    assert!(certainty.text.contains(&below), "{} / {}", verdict.answer, certainty.text);
}
