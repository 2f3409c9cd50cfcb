//! Whether it rotates, and the time of a revolution.

use super::reader::{Reader, median};
use crate::error::Result;
use sim::Nanos;
use std::f64::consts::TAU;

/// Reads at random places that tell whether anything moves.
const PLACES: usize = 100;
/// A disk takes longer than this in the median, in ns; flash and memory do not.
const MOVES_NS: f64 = 1_500_000.0;
/// How often one sector is read.
const ANCHORS: usize = 24;
/// Revolutions that are looked for: 3000 to 20,000 a minute, in Hz.
const HERTZ: [f64; 2] = [49.0, 340.0];
/// How well the times must agree with a period: 1 is exactly, 0.2 is what 24 random times have.
const AGREES: f64 = 0.9;
/// Periods that agree as well as the best but for this are as good: two in one revolution are as good as one.
const NEARLY: f64 = 0.03;

/// The median time of a read at a random place, if that is the time of an arm.
pub(super) fn moves(reader: &mut Reader) -> Result<Nanos> {
    reader.begin("moves");
    let mut times = Vec::with_capacity(PLACES);
    for _ in 0..PLACES {
        let lba = reader.anywhere();
        times.push(reader.service(lba)? as f64);
    }
    let middle = median(&mut times);
    if middle < MOVES_NS {
        let (us, most) = (middle / 1e3, times[PLACES - 1] / 1e3);
        return Err(reader.failure(&format!(
            "it does not rotate: reads at random places take {us:.0} us (median; {most:.0} at most), and an \
             arm and a revolution take milliseconds. For flash, `ileave drives probe` prints the job"
        )));
    }
    Ok(middle as Nanos)
}

/// The time of a revolution: one sector is read again and again, always from the medium, and is always done
/// a whole number of revolutions later.
pub(super) fn revolution(reader: &mut Reader) -> Result<f64> {
    reader.begin("revolution");
    let lba = reader.sectors / 2 / reader.unit * reader.unit;
    let mut done = Vec::with_capacity(ANCHORS);
    for _ in 0..ANCHORS {
        let before = reader.now;
        for _ in 0..=reader.forgets_after {
            reader.go_far(lba)?;
        }
        // Times that differ little between one read and the next would agree with other periods, too.
        reader.now += reader.below(2 * (reader.now - before));
        if reader.service(lba)? >= reader.hit_below {
            done.push(reader.now as f64);
        }
    }
    let none = "it does not rotate: one sector read again and again is done at no period of 3 to 20 ms. For \
                flash, `ileave drives probe` prints the job; behind a controller with memory, name the disk itself";
    if done.len() < ANCHORS / 2 {
        return Err(reader.failure(
            "its buffer answers again what was read long before, so no period shows; \
             it may be the memory of a host or a controller: name the disk itself",
        ));
    }
    let Some(hertz) = frequency(&done) else { return Err(reader.failure(none)) };
    let turn = period(&undisturbed(&done, 1e9 / hertz), 1e9 / hertz);
    reader.turn = turn;
    Ok(turn)
}

/// The lowest frequency of which all times are at the same phase. Half of the true one is not: the number of
/// revolutions between is as often odd as even.
fn frequency(done: &[f64]) -> Option<f64> {
    let seconds: Vec<f64> = done.iter().map(|at| (at - done[0]) / 1e9).collect();
    let step = 1.0 / (8.0 * seconds.last()?);
    let agreement = |hertz: f64| {
        let turned = seconds.iter().map(|at| (TAU * (at * hertz).fract()).sin_cos());
        let (sin, cos) = turned.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        f64::hypot(sin, cos) / seconds.len() as f64
    };
    let count = ((HERTZ[1] - HERTZ[0]) / step) as u64;
    let all: Vec<(f64, f64)> = (0..count)
        .map(|index| HERTZ[0] + index as f64 * step)
        .map(|hertz| (hertz, agreement(hertz)))
        .collect();
    let best = all.iter().map(|(_, agrees)| *agrees).fold(AGREES, f64::max);
    let first = all.iter().position(|(_, agrees)| *agrees > best - NEARLY)?;
    // The top of that hill.
    let hill = all[first..].iter().take_while(|(_, agrees)| *agrees > best - 3.0 * NEARLY);
    hill.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(hertz, _)| *hertz)
}

/// The times without those that something held up: further from the period than others by far.
fn undisturbed(done: &[f64], nearly: f64) -> Vec<f64> {
    let turn = period(done, nearly);
    let off = |at: &f64| (at - done[0] + turn / 2.0).rem_euclid(turn) - turn / 2.0;
    let middle = median(&mut done.iter().map(off).collect::<Vec<_>>());
    let far = |at: &f64| (off(at) - middle).abs();
    let usual = median(&mut done.iter().map(far).collect::<Vec<_>>());
    done.iter().copied().filter(|at| far(at) <= 4.0 * usual + 1e3).collect()
}

/// The period by least squares, from one that is nearly right.
///
/// Times 0, 21, 30 and 49 with a period of about 10 are 0, 2, 3 and 5 revolutions: by least squares 9.77.
fn period(done: &[f64], nearly: f64) -> f64 {
    let turns: Vec<f64> = done.iter().map(|at| ((at - done[0]) / nearly).round()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let since: Vec<f64> = done.iter().map(|at| at - done[0]).collect();
    let (mean_turns, mean_since) = (mean(&turns), mean(&since));
    let pairs = || turns.iter().zip(&since);
    let both: f64 = pairs().map(|(n, at)| (n - mean_turns) * (at - mean_since)).sum();
    both / turns.iter().map(|n| (n - mean_turns).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_found_in_jitter_and_not_in_random_times() {
        let turns = [0, 7, 9, 18, 25, 26, 40, 47, 59, 64, 77, 83, 90, 101];
        let jitter = [3.0, -9.0, 12.0, 0.0, -20.0, 7.0];
        let done: Vec<f64> = turns
            .iter()
            .zip(jitter.iter().cycle())
            .map(|(&n, us)| 8.3e6 * f64::from(n) + us * 1e3)
            .collect();
        let found = period(&done, 1e9 / frequency(&done).unwrap());
        assert!((found / 8.3e6 - 1.0).abs() < 1e-4, "{found}");
        let scattered: Vec<f64> =
            (0..24_u64).map(|n| (n * 9_000_000 + n * n * 7_654_321 % 8_000_000) as f64).collect();
        assert_eq!(frequency(&scattered), None);
        assert!((period(&[0.0, 21.0, 30.0, 49.0], 10.0) - 9.77).abs() < 0.005);
    }
}
