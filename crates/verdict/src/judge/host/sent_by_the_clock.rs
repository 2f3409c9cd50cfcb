//! What the verdict says where more requests come by the clock than the programs could send: the clock takes no time of a
//! processor.

use super::{MEASURED, ranked_alone};
use crate::judge::Ranked;
use crate::judge::answer::{Point, point};
use crate::tables::figure;
use store::Manifest;
use store::record::{Record, plain};

/// What a direct request takes a program, and each command beyond the first, in ns, on the host whose figures were measured
/// (docs/md.md, The processor).
const REQUEST_NS: f64 = 2820.0;
const COMMAND_NS: f64 = 1000.0;

/// A rate that programs would not reach.
struct Beyond {
    requests_per_s: f64,
    /// What the programs send at most.
    most_per_s: f64,
    programs: f64,
}

impl Beyond {
    /// That of a record, where its requests come by the clock and its host is the one that was measured.
    fn of(manifest: &Manifest, record: &Record) -> Option<Beyond> {
        let settings = manifest.settings();
        let stated = |path: &str| {
            let setting = settings.get(path)?;
            Some(setting.as_str().map_or_else(|| setting.to_string(), str::to_string))
        };
        let value = |path: &str| record.at.get(path).map(plain).or_else(|| stated(path));
        let number = |path: &str, otherwise: f64| {
            value(path).and_then(|value| value.parse().ok()).unwrap_or(otherwise)
        };
        let of_work = |key: &str| format!("workload.{}.{key}", record.workload);
        let arrivals = value(&of_work("arrivals"))?;
        let host = value("host.name")?;
        if arrivals == "closed" || !MEASURED.contains(&host.as_str()) {
            return None;
        }
        let programs = number(&of_work("jobs"), 1.0) * number(&of_work("programs"), 1.0);
        let commands = record.sample("commands_per_request").unwrap_or(1.0).max(1.0);
        let share = number("host.cpu_percent", 100.0) / 100.0;
        let ns = share * (REQUEST_NS + COMMAND_NS * (commands - 1.0));
        let most_per_s = if ns > 0.0 { programs * 1e9 / ns } else { f64::INFINITY };
        let sought = record.sample("capacity_per_s").or_else(|| record.sample("requests_per_s"));
        let requests_per_s = sought.filter(|rate| *rate > most_per_s)?;
        Some(Beyond { requests_per_s, most_per_s, programs })
    }
}

/// That more requests come by the clock than the programs could send.
pub(crate) fn told(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let beyond = ranked_alone(ranked, manifest, records).filter_map(|of| Beyond::of(manifest, of));
    let most = beyond.max_by(|a, b| a.requests_per_s.total_cmp(&b.requests_per_s))?;
    let each = most.most_per_s / most.programs;
    let (who, needed) = match most.programs {
        programs if programs <= 1.0 => ("one program sends".to_string(), 2.0),
        programs => (format!("{programs} programs send"), programs + 1.0),
    };
    let needed = (most.requests_per_s / each).ceil().max(needed);
    Some(point(
        "program",
        format!(
            "up to {} requests/s are more than {who}: at most {} with the processor that was measured (docs/md.md), and requests that come \
             by the clock take no time of it; it takes {needed} programs or more to send so many",
            figure(most.requests_per_s),
            figure(most.most_per_s),
        ),
    ))
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    /// What is assumed of a program is what the host's file has.
    #[test]
    fn a_request_takes_what_the_host_says() {
        for name in super::MEASURED {
            let host = lab::catalogue::host(name).unwrap();
            let figures = [host.program_request_ns, host.program_command_ns].map(|ns| ns as f64);
            assert_eq!(
                figures.map(f64::to_bits),
                [super::REQUEST_NS, super::COMMAND_NS].map(f64::to_bits),
                "{name}"
            );
        }
    }

    #[test]
    fn more_than_the_programs_send_is_said() {
        let of = |host: &str, work: &str| {
            let (manifest, records) = modelled(&format!(
                "host.name = '{host}'\n[volume]\ndrives = '4x980-pro-1tb'\nlevel = ['md-raid10', 'md-stripe']\n\
                 [workload.w]\nkind = 'random'\nblock = '4KiB'\ncount = 3000\n{work}"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let own = verdict.points.into_iter().filter(|point| point.about == "program");
            own.map(|point| point.text).collect::<Vec<_>>().join("\n")
        };
        let by_clock = "arrivals = 'poisson'\nrequests_per_s = ";
        for host in super::MEASURED {
            let said = of(host, &format!("{by_clock}500000\n"));
            assert!(
                said.contains("requests/s are more than one program sends: at most 354610 with"),
                "{said}"
            );
        }
        let said = of("linux-6.1", &format!("{by_clock}500000\n"));
        assert!(said.ends_with("it takes 2 programs or more to send so many"), "{said}");
        assert_eq!(of("linux-6.1", &format!("{by_clock}300000\n")), "");
        assert_eq!(of("linux-6.1", &format!("{by_clock}250000\njobs = 2\n")), "");
        assert_eq!(of("ideal", &format!("{by_clock}500000\n")), "");
    }
}
