//! Acknowledged writes that were lost.

use crate::cells::CellSummary;

/// A sentence for each cell that lost writes.
pub fn sentences(cells: &[CellSummary<'_>]) -> Vec<String> {
    cells.iter().filter_map(sentence).collect()
}

fn sentence(cell: &CellSummary<'_>) -> Option<String> {
    let lost: f64 = cell.records.iter().filter_map(|record| record.sample("lost_writes")).sum();
    (lost > 0.0).then(|| {
        format!(
            "Data loss in {}, {}: {lost:.0} acknowledged writes were lost. They were only in the cache of a disk \
             that failed.",
            cell.workload,
            cell.label()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells;
    use block::Op;
    use lab::experiment::{Experiment, Plan};
    use lab::record::{Measured, of_trial};
    use sim::workload::{RunningStream, Stream};
    use store::factor::Factors;

    /// A device of which every write is lost as soon as it is done.
    struct Forgetful(sim::Server);

    impl sim::Device for Forgetful {
        fn geometry(&self) -> &sim::Geometry {
            self.0.geometry()
        }

        fn submit(&mut self, now: sim::Nanos, tag: sim::Tag, request: block::Request) {
            self.0.submit(now, tag, request);
        }

        fn next_event(&self) -> Option<sim::Nanos> {
            self.0.next_event()
        }

        fn proceed(&mut self, limit: sim::Nanos, out: &mut Vec<sim::Event>) -> Option<sim::Nanos> {
            let came = self.0.proceed(limit, out);
            for event in out {
                if let sim::Event::Durable { tag, at } = *event {
                    *event = sim::Event::Lost { tag, at };
                }
            }
            came
        }

        fn disturb(&mut self, now: sim::Nanos, what: sim::Disturbance) {
            self.0.disturb(now, what);
        }

        fn count(&self, counters: &mut sim::Counters) {
            self.0.count(counters);
        }
    }

    #[test]
    fn lost_writes_are_counted_and_told_and_none_are_no_sample() {
        let text = "[volume]\ndrives = \"wd740gd\"\n[workload.log]\nkind = \"sequential\"\n";
        let plan = Plan::new(&Experiment::parse("some.toml", text).unwrap()).unwrap();
        let told = |op| {
            let stream =
                Stream { op, span_sectors: 800, block_sectors: 8, count: 5, ..Stream::default() };
            let mut device = Forgetful(sim::Server::new(800, 1000));
            let outcome = sim::run(&mut device, &mut RunningStream::new(stream, 1));
            let record = of_trial(&plan.trials[0], &Measured::from_sim(&outcome, 0.0));
            (
                record.sample("lost_writes"),
                sentences(&cells::unordered(&Factors::default(), &[record])),
            )
        };
        let (count, said) = told(Op::WRITE);
        assert_eq!((count, said.len()), (Some(5.0), 1));
        assert!(
            said[0].starts_with("Data loss in log, the only cell: 5 acknowledged writes"),
            "{said:?}"
        );
        assert_eq!(told(Op::Read), (None, Vec::new()));
    }
}
