//! What the project promises of its main job, in numbers.

use super::{experiment, json, scratch, stdout};
use serde_json::Value as Json;

/// The rate of the first trial of each cell of a run: (workload, interleave) → MB/s.
fn rate(run: &Json, workload: &str, interleave: u64) -> f64 {
    let trials = run["trials"].as_array().unwrap();
    let trial = trials.iter().find(|trial| {
        trial["workload"] == workload && trial["at"]["volume.interleave"] == interleave
    });
    trial.unwrap()["samples"]["mb_per_s"].as_f64().unwrap()
}

fn fair(more: &[&str]) -> Json {
    let file = experiment("fair-2006.toml");
    json(scratch().path(), &[&["run", &file, "--json"], more].concat())
}

#[test]
fn the_2006_order_is_64_then_32_then_128_which_equals_256() {
    let run = fair(&[]);
    for workload in ["read", "write"] {
        let [at_32, at_64, at_128, at_256] = [32, 64, 128, 256].map(|i| rate(&run, workload, i));
        assert!(at_64 > at_32 && at_32 > at_128, "{workload}: {at_64} {at_32} {at_128}");
        assert!((at_128 / at_256 - 1.0).abs() < 0.005, "{workload}: {at_128} and {at_256}");
    }
    let why = run["why"].as_array().unwrap();
    let says = |words: &str| why.iter().any(|line| line.as_str().unwrap().contains(words));
    assert!(says("read: 64 (32 KiB): ") && says("disks busy") && says("commands per request"));
    assert!(says("Use interleave 64 (32 KiB): fastest for read and write"));
}

/// The cells that nothing was fitted to lie within 5 % of the published ones.
#[test]
fn the_2006_predictions_lie_within_5_percent() {
    let compared = json(scratch().path(), &["reproduce", "fair-2006", "--json"]);
    let cells = compared["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 8);
    let predicted: Vec<&Json> = cells.iter().filter(|cell| cell["fitted"] == false).collect();
    assert_eq!(predicted.len(), 4);
    for cell in predicted {
        let error = cell["simulated"].as_f64().unwrap() / cell["published"].as_f64().unwrap() - 1.0;
        assert!(error.abs() < 0.05, "{cell}");
    }
    let summary = &compared["summary"];
    assert!(summary["max_error"].as_f64().unwrap() < 0.05);
    assert!(summary["rank_correlation"].as_f64().unwrap() > 0.95);
    assert_eq!(summary["best_published"], summary["best_simulated"]);
    assert_eq!(compared["groups"]["read"]["cells"], 4);
    assert_eq!(compared["name"], "fair-2006");
}

/// With 16 pieces under way at a time, as BSD has it since 2006, the interleave hardly matters.
#[test]
fn concurrent_physio_makes_the_sweep_flat() {
    let run = fair(&["--set", "host.physio_concurrency=16"]);
    for workload in ["read", "write"] {
        let rates = [32, 64, 128, 256].map(|interleave| rate(&run, workload, interleave));
        let (low, high) = (
            rates.iter().copied().fold(f64::MAX, f64::min),
            rates.iter().copied().fold(0.0, f64::max),
        );
        assert!(high / low < 1.06, "{workload}: {rates:?}");
    }
}

/// "This has a significant effect on write performance": without the write cache every command waits
/// for the medium, and a write of 64 KiB cannot take less than a turn.
#[test]
fn without_the_write_cache_writes_stay_below_7_9() {
    let run = fair(&["--set", "drive.write_cache=off"]);
    for interleave in [32, 64, 128, 256] {
        let rate = rate(&run, "write", interleave);
        assert!(rate < 7.9, "interleave {interleave}: {rate} MB/s");
    }
}

#[test]
fn the_json_of_a_run_has_the_promised_shape() {
    let run = fair(&["--set", "volume.interleave=64", "--repeat", "2"]);
    let trials = run["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4);
    for trial in trials {
        assert_eq!(trial["at"]["volume.interleave"], 64);
        assert!(trial["repeat"].as_u64().unwrap() < 2);
        assert_eq!(trial["requests"], 1000);
        assert!(trial["cpu_s"].as_f64().unwrap() > 0.0);
        for sample in ["mb_per_s", "latency_p50_ms", "latency_p99_ms", "latency_p999_ms"] {
            assert!(trial["samples"][sample].as_f64().unwrap() > 0.0, "{sample}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_another_order() {
    let scratch = scratch();
    let file = experiment("fair-2006.toml");
    for (out, seed) in [("a", "7"), ("b", "7"), ("c", "8")] {
        stdout(scratch.path(), &["run", &file, "--repeat", "4", "--out", out, "--seed", seed]);
    }
    let bytes = |out: &str, name: &str| std::fs::read(scratch.path().join(out).join(name)).unwrap();
    for name in ["trials.jsonl", "manifest.toml"] {
        assert_eq!(bytes("a", name), bytes("b", name));
        assert_ne!(bytes("a", name), bytes("c", name));
    }
}

/// Every trial is run at least once whatever the factors; a list of one makes a factor too.
#[test]
fn factors_multiply() {
    let run = fair(&[
        "--set",
        "drive.write_cache=on,off",
        "--set",
        "workload.write.depth=1,2",
        "--repeat",
        "1",
    ]);
    let of = |workload: &str| {
        run["trials"].as_array().unwrap().iter().filter(|t| t["workload"] == workload).count()
    };
    assert_eq!((of("read"), of("write")), (8, 16));
}

#[test]
fn every_key_is_listed() {
    let keys = json(scratch().path(), &["keys", "--json"]);
    let named = |name: &str| keys.as_array().unwrap().iter().any(|key| key["key"] == name);
    assert!(named("volume.interleave") && named("workload.*.block"));
    let spool = stdout(scratch().path(), &["keys", "spool"]);
    assert!(spool.contains("workload.*.readers  load") && spool.contains("samples: elapsed_s"));
    assert!(!spool.contains("workload.*.tree"));
    assert!(stdout(scratch().path(), &["keys"]).contains("md chunk"));
}

/// Who knows the angle orders best, who knows the sectors next best; alone, a request has no order.
#[test]
fn queues_are_worth_what_their_owner_knows() {
    let file = experiment("queueing.toml");
    let rates = |key: &str, orders: [&str; 3], more: &[&str]| {
        let run = json(scratch().path(), &[&["run", &file, "--json"], more].concat());
        let trials = run["trials"].as_array().unwrap().clone();
        [1, 4, 16, 64].map(|depth| {
            orders.map(|order| {
                let is_it = |trial: &&Json| {
                    let at = &trial["at"];
                    at[key] == order && at["workload.read.depth"] == depth
                };
                let trial = trials.iter().find(is_it).unwrap();
                trial["samples"]["requests_per_s"].as_f64().unwrap()
            })
        })
    };
    let queue = ["--set", "drive.queue_depth=64"];
    let alike = |rates: &[f64]| rates.iter().all(|rate| rate.total_cmp(&rates[0]).is_eq());
    let [alone, queued @ ..] = rates("drive.queue_discipline", ["fcfs", "c-look", "sptf"], &queue);
    assert!(alike(&alone), "{alone:?}");
    for [fcfs, c_look, sptf] in queued {
        assert!(sptf > 1.05 * c_look && c_look > 1.05 * fcfs, "{fcfs} {c_look} {sptf}");
    }
    let more = [
        ["--set", "host.elevator=fcfs,c-look,deadline"],
        ["--set", "host.queue_outstanding=1"],
        ["--set", "drive.queue_discipline=fcfs"],
        queue,
    ];
    let [alone, queued @ ..] =
        rates("host.elevator", ["fcfs", "c-look", "deadline"], &more.concat());
    assert!(alike(&alone), "{alone:?}");
    for [fcfs, c_look, deadline] in queued {
        assert!(c_look > 1.05 * fcfs && deadline > 1.05 * fcfs, "{fcfs} {c_look} {deadline}");
    }
}
