//! The least that a simulated request can cost: a step of the generator, one operation of a heap and four cache lines of a drive.
//!
//! `least_work MEMBERS IN_FLIGHT REQUESTS`; `benches/curves.py` draws what it takes beside what the simulator takes.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A drive's state: four cache lines of eight words.
type State = [[u64; 8]; 4];

#[expect(clippy::print_stdout, reason = "so that nothing is left out, its sum is printed")]
fn main() {
    let numbers: Vec<usize> =
        std::env::args().skip(1).map(|word| word.parse().expect("it is a number")).collect();
    let [members, in_flight, requests] = numbers[..] else { panic!("give three numbers") };
    println!("{}", sum(members, in_flight, requests));
}

/// Requests to members at random, each done a random time after it came, when the next one comes.
fn sum(members: usize, in_flight: usize, requests: usize) -> u64 {
    let mut generator = Pcg64Mcg::seed_from_u64(1);
    let mut states: Vec<State> = vec![State::default(); members];
    let mut due: BinaryHeap<Reverse<(u64, usize)>> =
        (0..in_flight).map(|slot| Reverse((slot as u64, slot % members))).collect();
    for _ in 0..requests {
        let random = generator.next_u64();
        let mut first = due.peek_mut().expect("something is in flight");
        let Reverse((at, member)) = &mut *first;
        for line in &mut states[*member] {
            line[0] = line[0].wrapping_add(random);
        }
        *at += random >> 44;
        *member = ((u128::from(random) * members as u128) >> 64) as usize;
    }
    states.iter().flatten().map(|line| line[0]).fold(0, u64::wrapping_add)
}
