//! Which cells a drive is fitted to.

use super::BASE_BYTES;
use crate::grid::Cell;

/// The cells that say most, best first.
pub(super) fn choose(cells: &[Cell]) -> Vec<usize> {
    let [reads, writes] = [false, true].map(|writes| Choice::of(cells, writes));
    let mut chosen: Vec<usize> = Vec::new();
    let one = |choice: &Option<Choice>, pick: fn(&Choice) -> Option<usize>| {
        choice.as_ref().and_then(pick)
    };
    // What a size takes alone follows from its own cell and from no other; other figures come from ends and knees.
    let firsts = [
        one(&reads, |c| c.alone),
        one(&reads, |c| c.most),
        one(&writes, |c| c.alone),
        one(&writes, |c| c.most),
        one(&reads, |c| c.knee),
        one(&reads, |c| c.long_most),
        one(&writes, |c| c.long_most),
        one(&reads, |c| c.long_alone),
        one(&writes, |c| c.long_alone),
        one(&reads, |c| c.fast),
        one(&reads, |c| c.next_alone),
        one(&writes, |c| c.next_alone),
        one(&reads, |c| c.next_most),
        one(&writes, |c| c.short_most),
        one(&writes, |c| c.scattered_most),
        one(&reads, |c| c.second_knee),
    ];
    let others = [&reads, &writes].into_iter().flatten().flat_map(|c| c.other_alone.clone());
    for index in firsts.into_iter().flatten().chain(others) {
        if !chosen.contains(&index) {
            chosen.push(index);
        }
    }
    chosen
}

/// What one operation offers.
#[derive(Clone, Debug, Default)]
struct Choice {
    alone: Option<usize>,
    most: Option<usize>,
    knee: Option<usize>,
    second_knee: Option<usize>,
    fast: Option<usize>,
    next_alone: Option<usize>,
    next_most: Option<usize>,
    long_alone: Option<usize>,
    long_most: Option<usize>,
    short_most: Option<usize>,
    scattered_most: Option<usize>,
    other_alone: Vec<usize>,
}

impl Choice {
    fn of(cells: &[Cell], writes: bool) -> Option<Choice> {
        let mut pool: Vec<usize> = (0..cells.len())
            .filter(|&index| {
                let cell = &cells[index];
                cell.writes == writes && cell.mix.is_none() && cell.drives == 1
            })
            .collect();
        let by_kernel = |&index: &usize| cells[index].engine != "spdk";
        let every = pool.clone();
        if pool.iter().any(by_kernel) {
            pool.retain(by_kernel);
        }
        let base = base_bytes(cells, &pool)?;
        // Several processes may meet limits of the host. Where only they go deep, only they say what the drive does at most.
        let is_of_one = |&index: &usize| cells[index].jobs == 1;
        let is_deep = |&index: &usize| cells[index].bytes == base && cells[index].in_flight() > 1;
        let mut deep = pool.iter().copied().filter(is_deep);
        let goes_deep = deep.clone().next().is_none() || deep.any(|index| is_of_one(&index));
        if goes_deep && pool.iter().any(is_of_one) {
            pool.retain(is_of_one);
        }
        let base = base_bytes(cells, &pool)?;
        let same = main_run(cells, &pool, base);
        let iops = |index: &usize| cells[*index].iops;
        // Where the deepest cell is slower than a latency promises, the maximum is still that cell.
        let is_rate = |index: &usize| !cells[*index].is_sheet_latency();
        let has_rate = same.iter().any(is_rate);
        let rates = || same.iter().copied().filter(|index| !has_rate || is_rate(index));
        let highest = rates().map(|index| cells[index].iops).fold(0.0, f64::max);
        let saturated = rates().filter(|index| iops(index) >= 0.9 * highest);
        let most = saturated.max_by_key(|&index| cells[index].in_flight())?;
        let near = |share: f64, taken: &[Option<usize>]| {
            let off = |index: &usize| (iops(index) / cells[most].iops / share).ln().abs();
            let deepest = cells[most].in_flight();
            let free = same.iter().copied().filter(|index| !taken.contains(&Some(*index)));
            let between = free.filter(|&index| (2..deepest).contains(&cells[index].in_flight()));
            between.min_by(|a, b| off(a).total_cmp(&off(b)))
        };
        let single = alone(cells, &same, base).or(Some(most));
        let knee = near(0.55, &[single, Some(most)]);
        let second_knee = near(0.85, &[single, Some(most), knee]);
        let fast = every.iter().copied().filter(|&index| cells[index].bytes == base);
        let fast = fast.filter(|&index| cells[index].iops > 1.1 * cells[most].iops);
        let mut sizes: Vec<u32> = pool.iter().map(|&index| cells[index].bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let above: Vec<u32> = sizes.iter().copied().filter(|&bytes| bytes > base).collect();
        let below = sizes.iter().copied().find(|&bytes| bytes < base);
        let deepest = |bytes: u32| {
            let of_size = pool.iter().copied().filter(|&index| cells[index].bytes == bytes);
            let is_of_run = |index: &usize| cells[*index].run == cells[most].run;
            of_size.max_by(|a, b| is_of_run(a).cmp(&is_of_run(b)).then(iops(a).total_cmp(&iops(b))))
        };
        let first_alone = |bytes: &u32| alone(cells, &pool, *bytes);
        let scattered = pool.iter().copied().filter(|&index| {
            writes && !cells[most].random && cells[index].random && cells[index].bytes == base
        });
        Some(Choice {
            scattered_most: scattered.max_by_key(|&index| cells[index].in_flight()),
            alone: single,
            most: Some(most),
            knee,
            second_knee,
            fast: fast.max_by(|a, b| iops(a).total_cmp(&iops(b))),
            next_alone: above.first().and_then(first_alone),
            next_most: above.first().filter(|_| !writes).copied().and_then(deepest),
            long_alone: above.last().and_then(first_alone),
            long_most: above.last().copied().and_then(deepest),
            short_most: below.filter(|_| writes).and_then(deepest),
            other_alone: above.iter().filter_map(first_alone).collect(),
        })
    }
}

/// 4 KiB, or the smallest size above, or the largest below.
pub(super) fn base_bytes(cells: &[Cell], pool: &[usize]) -> Option<u32> {
    let sizes = || pool.iter().map(|&index| cells[index].bytes);
    sizes().filter(|&bytes| bytes >= BASE_BYTES).min().or(sizes().max())
}

/// The cells of `bytes` of the run with most depths: other runs may have met the drive in another state.
fn main_run(cells: &[Cell], pool: &[usize], bytes: u32) -> Vec<usize> {
    let of_size: Vec<usize> =
        pool.iter().copied().filter(|&index| cells[index].bytes == bytes).collect();
    let of_run = |index: &usize| {
        let run = &cells[*index].run;
        let mut depths: Vec<u32> = of_size
            .iter()
            .filter(|&&other| cells[other].run == *run)
            .map(|&other| cells[other].depth)
            .collect();
        depths.sort_unstable();
        depths.dedup();
        depths.len()
    };
    let first = of_size.iter().rev().max_by_key(|index| of_run(index));
    let Some(run) = first.map(|&index| cells[index].run.clone()) else { return of_size };
    let is_random = of_size.iter().any(|&index| cells[index].random);
    let mut same: Vec<usize> = of_size.iter().copied().filter(|&i| cells[i].run == run).collect();
    // Where depths and single requests were measured apart, the only choice is to take them together.
    if !same.iter().any(|&index| cells[index].in_flight() == 1) || same.len() < 2 {
        same = of_size.into_iter().filter(|&index| cells[index].random == is_random).collect();
    }
    same
}

/// The cell of `bytes` with one request in flight.
fn alone(cells: &[Cell], among: &[usize], bytes: u32) -> Option<usize> {
    let is_alone = |&index: &usize| cells[index].bytes == bytes && cells[index].in_flight() == 1;
    among.iter().copied().find(is_alone)
}
