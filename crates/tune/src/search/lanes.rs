//! Jobs side by side, as many as a rig has lanes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does all `jobs` on so many lanes, until one of them is the last; what came of them, in their order.
pub(crate) fn side_by_side<J: Sync, R: Send>(
    lanes: usize,
    jobs: &[J],
    is_last: fn(&R) -> bool,
    run: impl Fn(&J) -> R + Sync,
) -> Vec<R> {
    let lanes = lanes.clamp(1, jobs.len().max(1));
    if lanes == 1 {
        // On this thread: a browser has no other.
        let mut ran = Vec::new();
        for job in jobs {
            ran.push(run(job));
            if ran.last().is_some_and(is_last) {
                break;
            }
        }
        return ran;
    }
    let next = AtomicUsize::new(0);
    let ran = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(place) else { break };
                    let result = run(job);
                    if is_last(&result) {
                        next.store(jobs.len(), Ordering::Relaxed);
                    }
                    ran.lock().unwrap_or_else(PoisonError::into_inner).insert(place, result);
                }
            });
        }
    });
    ran.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_jobs_up_to_the_last() {
        let jobs: Vec<u64> = (0..20).collect();
        for lanes in [0, 1, 3, 50] {
            let all = side_by_side(lanes, &jobs, |_| false, |job| 2 * job);
            assert!(all.iter().eq(&jobs.iter().map(|job| 2 * job).collect::<Vec<_>>()), "{lanes}");
        }
        assert_eq!(side_by_side(1, &jobs, |job| *job == 4, |job| *job), [0, 1, 2, 3, 4]);
        assert_eq!(side_by_side(2, &[], |_: &u64| false, |job: &u64| *job), Vec::<u64>::new());
    }
}
