//! The answer: three losses that are not the same, each as a range.

use crate::YEAR_H;
use crate::calculators::{self, Group};
use crate::chain::{Chain, bad_when_needed, read_error, within};
use crate::events::{Counted, Life, Scrub, simulate};
use crate::inputs::{Inputs, Range};
use crate::shape::{Crash, Shape};
use crate::spared::Spared;
use crate::wait::Wait;

/// Below this, what is not modelled decides: fires, thieves, firmware, the wrong command.
pub const FLOOR: f64 = 1e-5;

/// The shape of drives' lives within a model (23 models of Backblaze: 1.50 ± 0.15 up to six years).
pub const LIFE_SHAPE: f64 = 1.5;

/// What a volume may lose.
#[derive(Clone, Debug, PartialEq)]
pub struct Risk {
    /// The probability that all of it is gone.
    pub gone: Range,
    /// The probability that some sectors cannot be read, although the volume is there.
    pub unreadable: Range,
    /// The probability that a stripe was torn by a crash, and is then restored wrong; `None` where no parity is kept.
    pub torn: Option<Range>,
    /// For how many hours at each failure a crash tears a stripe, where parity is kept.
    pub torn_window_h: Range,
    /// The first two by a simulation with the middle of every range: drives that wear, scrubs, spares.
    pub simulated: Counted,
    /// The same simulation with lives without memory, as the closed forms have them.
    pub memoryless: Counted,
    /// What other calculators say, by [`calculators::OTHERS`].
    pub others: [f64; 3],
}

/// The chain of one group at the best (0), the middle (1) or the worst (2) of the ranges.
fn chain(shape: &Shape, inputs: &Inputs, place: usize) -> Chain {
    Chain {
        members: shape.members,
        survived: shape.survived,
        failures_per_h: inputs.afr.range.values()[place] / YEAR_H,
        uneven: inputs.uneven(place, shape.groups, shape.survived),
        rebuilds_per_h: 1.0 / inputs.mttr_h().values()[place],
        // Waits overlap, and a rebuild takes its time.
        side_by_side: true,
        acceleration: inputs.correlation.range.values()[place],
        unreadable: 0.0,
    }
}

fn at_each_place(of: impl Fn(usize) -> f64) -> Range {
    Range { low: of(0), middle: of(1), high: of(2) }
}

/// The same with the spares of the array, where there are any that it could use.
fn spared<'a>(shape: &Shape, chain: &'a Chain, inputs: &Inputs) -> Option<Spared<'a>> {
    let (spares, ordered_h) = (inputs.spares, inputs.reordered_h);
    (spares > 0 && chain.survived > 0).then_some(Spared {
        chain,
        spares,
        ordered_h,
        elsewhere: elsewhere(shape),
    })
}

/// Drives of the other groups of the array: a spare is for whichever of all fails first.
fn elsewhere(shape: &Shape) -> usize {
    shape.drives.saturating_sub(shape.members)
}

/// The probability that all is gone: groups in series, nothing unreadable.
fn gone(shape: &Shape, inputs: &Inputs) -> Range {
    let hours = inputs.years * YEAR_H;
    at_each_place(|place| {
        let chain = chain(shape, inputs, place);
        match spared(shape, &chain, inputs) {
            Some(spared) => of_any(shape.groups as f64, spared.within(hours, chain.survived)),
            None => within(hours, chain.end_h() / shape.groups as f64),
        }
    })
}

/// The probability that a group has sectors that cannot be read when nothing is left to spare.
///
/// As fleets see it: an episode comes, and the last chance before a scrub does; 3 % a year and a scrub every 14 days make
/// 0.058 % a drive each time. At the worst as data sheets have it: every bit that is read counts.
fn bad(shape: &Shape, inputs: &Inputs, place: usize) -> f64 {
    let hours = inputs.years * YEAR_H;
    let chain = chain(shape, inputs, place);
    let spared = spared(shape, &chain, inputs);
    let last_chance_h = spared.map_or_else(|| chain.last_chance_h(), |it| it.last_chance_h(hours));
    let chances_per_h = 1.0 / last_chance_h;
    let episodes_per_h = inputs.bad_sectors_of_rest(place) / YEAR_H * shape.at_stake;
    let round_h = inputs.scrub_h.map_or(hours, |round_h| round_h.min(hours));
    let in_a_round = bad_when_needed(round_h, episodes_per_h, chances_per_h);
    let seen = -((-in_a_round).ln_1p() * hours / round_h).exp_m1();
    if place < 2 {
        return seen;
    }
    let error = read_error(shape.at_stake * inputs.drive_bytes, inputs.per_bit);
    seen.max(within(hours, 1.0 / (chances_per_h * error)))
}

/// An episode of bad sectors hits a few MB of a disk: after one error the next is within 10 MB half of the time
/// (NetApp, SIGMETRICS 2007).
const EPISODE_BYTES: f64 = 1e7;

/// The probability that the other copy, on the same drive, is bad where one has gone bad: another episode has to be where
/// that copy is, and not be found yet. Two of 10 MB on 18 TB meet once in 900,000 times.
///
/// Flash may keep both copies in one place, which fails at once (mkfs.btrfs(8), on DUP profiles): at worst they are one.
fn copy_bad(inputs: &Inputs, place: usize) -> f64 {
    if inputs.is_flash && place == 2 {
        return 1.0;
    }
    let met = (2.0 * EPISODE_BYTES / inputs.drive_bytes).min(1.0);
    inputs.bad_sectors.range.values()[place] / YEAR_H * unseen_h(inputs) * met
}

/// How old bad sectors are in the mean that no scrub has found yet.
fn unseen_h(inputs: &Inputs) -> f64 {
    inputs.scrub_h.unwrap_or(inputs.years * YEAR_H) / 2.0
}

/// The probability that sectors are lost: what is bad when a group has come to its last chance. Without any redundancy
/// every episode loses sectors.
fn unreadable(shape: &Shape, inputs: &Inputs) -> Range {
    let hours = inputs.years * YEAR_H;
    at_each_place(|place| {
        if shape.survived > 0 {
            return of_any(shape.groups_apart(), bad(shape, inputs, place));
        }
        let copy = if shape.is_twice { copy_bad(inputs, place) } else { 1.0 };
        let per_h = shape.members as f64 * inputs.bad_sectors.range.values()[place] / YEAR_H * copy;
        within(hours, 1.0 / (per_h * shape.groups_apart()))
    })
}

/// The probability that any of so many has what one has with this.
fn of_any(count: f64, one: f64) -> f64 {
    -(count * (-one.min(1.0)).ln_1p()).exp_m1()
}

/// For how many hours at each failure a crash tears a stripe: with a drive missing, and while it is waited for; without a bitmap at
/// worst also until all parity is right again after a crash.
fn torn_window_h(shape: &Shape, inputs: &Inputs) -> Range {
    let hours = inputs.years * YEAR_H;
    let degraded = inputs.mttr_h();
    let resync_h = if inputs.has_bitmap { 0.0 } else { inputs.rebuild_h.range.high };
    at_each_place(|place| {
        let chain = chain(shape, inputs, place);
        let wait_h = spared(shape, &chain, inputs).map_or(0.0, |spared| spared.wait_h(hours));
        degraded.values()[place] + wait_h + if place == 2 { resync_h } else { 0.0 }
    })
}

/// The probability that a crash finds the volume degraded, or a drive fails before the parity is made right after one: so many hours
/// at each failure.
///
/// Chen et al. 1994: 107 drives of 200,000 h, one hour each, a crash every 720 h: 154 years to such a loss. A bitmap
/// makes the parity right at once; without one that takes at the worst as long as a rebuild.
fn torn(shape: &Shape, inputs: &Inputs, window_h: Range) -> Option<Range> {
    (shape.crash == Crash::Hole).then(|| {
        let hours = inputs.years * YEAR_H;
        at_each_place(|place| {
            let failures_per_h = shape.drives as f64 * inputs.afr.range.values()[place] / YEAR_H;
            let crashes_per_h = inputs.crashes.range.values()[place] / YEAR_H;
            within(hours, 1.0 / (failures_per_h * window_h.values()[place] * crashes_per_h))
        })
    })
}

impl Risk {
    /// The same of a volume without a bitmap, and what that assumes.
    pub fn without_bitmap(self, shape: &Shape, inputs: Inputs) -> (Risk, Inputs) {
        let inputs = Inputs { has_bitmap: false, ..inputs };
        let torn_window_h = torn_window_h(shape, &inputs);
        // What a log restores is not torn.
        let torn = self.torn.and_then(|_| torn(shape, &inputs, torn_window_h));
        (Risk { torn, torn_window_h, ..self }, inputs)
    }

    /// What makes the chance of a torn stripe at worst, in words; of `inputs` this came out.
    pub fn torn_at_worst(&self, inputs: &Inputs) -> String {
        let resync = if inputs.has_bitmap { "" } else { ", or resynced without a bitmap" };
        format!(
            "at worst {} crashes a year, and one while the array is degraded{resync}: {:.0} h at each failure",
            inputs.crashes.range.high, self.torn_window_h.high
        )
    }
}

/// The drives of one group in the middle of the ranges.
fn life(shape: &Shape, inputs: &Inputs, wears: bool) -> Life {
    let hours = inputs.years * YEAR_H;
    let failed = within(hours, YEAR_H / inputs.afr.range.middle);
    // Of all that are left only a part may be at stake.
    let left = (shape.members - shape.survived) as f64;
    let bad_per_h = inputs.bad_sectors.range.middle / YEAR_H * shape.at_stake / left;
    let rebuild_h = inputs.rebuild_h.range.middle;
    Life {
        members: shape.members,
        survived: shape.survived,
        failure: Wait::of_share(if wears { LIFE_SHAPE } else { 1.0 }, failed, hours),
        rebuild: Wait::fixed(rebuild_h),
        side_by_side: false,
        spares: inputs.spares,
        // Without spares each orders its own.
        elsewhere: if inputs.spares > 0 { elsewhere(shape) } else { 0 },
        replacement_h: if inputs.spares > 0 {
            inputs.reordered_h
        } else {
            inputs.delay_h.range.middle
        },
        acceleration: inputs.correlation.range.middle,
        latent_h: (bad_per_h > 0.0).then(|| 1.0 / bad_per_h),
        scrub: if shape.survived == 0 { Scrub::Never } else { inputs.scrub() },
    }
}

/// What a volume may lose. `groups` are simulated, from `seed`.
pub fn assess(shape: &Shape, inputs: &Inputs, groups: u64, seed: u64) -> Risk {
    let hours = inputs.years * YEAR_H;
    let run = |wears| {
        let mut counted = simulate(&life(shape, inputs, wears), hours, groups, seed);
        let groups = [shape.groups as f64, shape.groups_apart()];
        for (share, all) in [&mut counted.gone, &mut counted.unreadable].into_iter().zip(groups) {
            // Of so many groups none may be lost.
            share.error *= all * (1.0 - share.of_all.min(1.0)).powf(all - 1.0);
            share.of_all = of_any(all, share.of_all);
        }
        counted
    };
    let others = Group {
        groups: shape.groups,
        groups_apart: shape.groups_apart(),
        members: shape.members,
        survived: shape.survived,
        at_stake: shape.at_stake,
        afr: inputs.afr.range.middle,
        mttr_h: inputs.mttr_h().middle,
        drive_bytes: inputs.drive_bytes,
        per_bit: inputs.per_bit,
    };
    let torn_window_h = torn_window_h(shape, inputs);
    Risk {
        gone: gone(shape, inputs),
        unreadable: unreadable(shape, inputs),
        torn: torn(shape, inputs, torn_window_h),
        torn_window_h,
        simulated: run(true),
        memoryless: run(false),
        others: calculators::others(&others, hours),
    }
}

/// A probability in words: a share, or that it is below what can be said.
///
/// 0.0123 is "1.2 %", 0.00042 "0.042 %", 3e-8 "below 1 in 100,000".
pub fn in_words(probability: f64) -> String {
    let percent = 100.0 * probability;
    match probability {
        p if p < FLOOR => "below 1 in 100,000".into(),
        p if p >= 0.995 => "over 99 %".into(),
        p if p >= 0.1 => format!("{percent:.0} %"),
        p if p >= 0.01 => format!("{percent:.1} %"),
        p if p >= 0.001 => format!("{percent:.2} %"),
        p if p >= 0.0001 => format!("{percent:.3} %"),
        _ => format!("{percent:.4} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Copied;
    use crate::inputs::{DriveFacts, Rented, Sourced};

    fn disk() -> DriveFacts {
        DriveFacts {
            names: Vec::new(),
            bytes: 18_000_000_000_000,
            copied: Copied::at(166e6),
            is_flash: false,
            is_shingled: false,
            rented: None,
        }
    }

    fn inputs() -> Inputs {
        Inputs { scrub_h: Some(336.0), ..Inputs::of(&disk(), 0) }
    }

    fn of(level: &str, members: usize) -> Risk {
        assess(&Shape::new(level, members, None).unwrap(), &inputs(), 20_000, 1)
    }

    /// A stripe of rented volumes was said to have unreadable sectors with 63 to 99 %, like four SSDs.
    #[test]
    fn sectors_of_rented_volumes_are_their_providers() {
        let drive = DriveFacts {
            names: vec!["ebs-gp3".into()],
            bytes: 1 << 40,
            copied: Copied::at(125e6),
            is_flash: true,
            is_shingled: false,
            rented: Some(Rented::Volume),
        };
        let risk = assess(&Shape::new("stripe", 4, None).unwrap(), &Inputs::of(&drive, 0), 2000, 1);
        assert_eq!(risk.unreadable.high.to_bits(), 0.0_f64.to_bits());
        assert!(risk.gone.low > 0.001 && risk.gone.high < 0.1, "{:?}", risk.gone);
    }

    /// Copies on both neighbours are lost with either, but what has to be read of them is one drive's worth: 8 × 0.235
    /// failures in five years, 18 TB each, are 22 % at worst; of f2 40 % was said.
    #[test]
    fn what_copies_must_be_read_is_one_drive() {
        let inputs = Inputs { afr: crate::afr::disk(&["ST18000NM000J"]), ..inputs() };
        let of =
            |level, members| assess(&Shape::new(level, members, None).unwrap(), &inputs, 20_000, 1);
        let [near, far] = ["md-raid10", "md-raid10-f2"].map(|level| of(level, 8));
        let close = |one: f64, other: f64| (one / other - 1.0).abs() < 0.02;
        for place in 0..3 {
            let [one, other] = [&near, &far].map(|risk| risk.unreadable.values()[place]);
            assert!(close(one, other), "{one} {other}");
        }
        assert!(close(far.unreadable.high, 0.22), "{:?}", far.unreadable);
        assert!(close(of("md-raid10", 5).unreadable.high, 0.146));
        assert!(close(far.gone.middle, 2.0 * near.gone.middle), "{:?}", far.gone);
        let simulated = [&near, &far].map(|risk| risk.simulated.unreadable.of_all);
        assert!(close(simulated[0], simulated[1]), "{simulated:?}");
    }

    /// Two copies on eight members were said to need all of the other seven, up to 70 % of X18, where four pairs, which
    /// have as much to read, have 22 %.
    #[test]
    fn copies_that_are_spread_need_one_drive() {
        let [spread, pairs, parity] =
            ["btrfs-raid1", "md-raid10", "btrfs-raid5"].map(|level| of(level, 8));
        for place in 0..3 {
            let [one, other] = [&spread, &pairs].map(|risk| risk.unreadable.values()[place]);
            assert!((one / other - 1.0).abs() < 0.02, "{one} {other}");
        }
        assert!(parity.unreadable.high > 3.0 * spread.unreadable.high);
        let simulated = [&spread, &pairs].map(|risk| risk.simulated.unreadable);
        let [one, other] = simulated.map(|share| share.of_all);
        assert!((one - other).abs() < 4.0 * (simulated[0].error + simulated[1].error));
    }

    /// Two copies on one drive were said to be as unreadable as one, 36 % at worst. The drive takes both with it.
    #[test]
    fn two_copies_on_a_drive_are_not_bad_together() {
        let [once, twice] = ["btrfs-single", "btrfs-dup"].map(|level| of(level, 1));
        assert!(once.unreadable.low > 0.04 && twice.unreadable.high < FLOOR);
        assert!(twice.unreadable.low > 0.0);
        assert_eq!(twice.gone, once.gone);
        // Flash may keep both in one place.
        let flash = Inputs { is_flash: true, ..inputs() };
        let shape = Shape::new("btrfs-dup", 1, None).unwrap();
        let found = unreadable(&shape, &flash);
        assert_eq!(found.high.to_bits(), once.unreadable.high.to_bits());
        assert!(found.middle < FLOOR);
    }

    #[test]
    fn a_worse_input_is_a_greater_risk() {
        for risk in [of("raid5", 8), of("raid6", 8), of("raid10", 8), of("stripe", 8)] {
            for range in [Some(risk.gone), Some(risk.unreadable), risk.torn].into_iter().flatten() {
                assert!(range.low <= range.middle && range.middle <= range.high, "{range:?}");
            }
        }
        let [five, six] = [of("raid5", 8), of("raid6", 8)];
        assert!(five.gone.middle > 50.0 * six.gone.middle);
        assert!(of("raid10", 8).torn.is_none() && five.torn.is_some());
    }

    /// Lives without memory are what the closed forms are of. A fixed rebuild, wear and renewal are not.
    #[test]
    fn the_simulation_of_the_same_agrees() {
        for (level, members) in [("raid5", 8), ("mirror", 2), ("raid6", 8), ("raid10", 8)] {
            let shape = Shape::new(level, members, None).unwrap();
            let mut inputs = inputs();
            inputs.delay_h = Sourced::given(0.0);
            let risk = assess(&shape, &inputs, 60_000, 7);
            let found = risk.memoryless.gone;
            let ratio = found.of_all / risk.gone.middle;
            assert!(
                (ratio - 1.0).abs() < 0.02 + 2.0 * found.error / found.of_all,
                "{level}: {ratio} {found:?}"
            );
        }
    }

    /// Who replaces a drive after two days has it in both, and the waits for several overlap in both: the form had them one
    /// after another, two parities 1.9 times and three 5 times too bad with rebuilds of 5 h.
    #[test]
    fn the_wait_for_a_drive_counts_in_both() {
        for (level, members) in
            [("raid5", 8), ("mirror", 2), ("raid10", 8), ("raid6", 8), ("raidz3", 8)]
        {
            let shape = Shape::new(level, members, None).unwrap();
            let of = |inputs: Inputs| assess(&shape, &inputs, 60_000, 7);
            let [at_once, late] = [0.0, 100.0].map(|hours| of(inputs().replaced_after(hours)));
            let rebuild_h = inputs().rebuild_h.range.middle;
            let longer =
                ((rebuild_h + 100.0) / rebuild_h).powi(i32::try_from(shape.survived).unwrap());
            let close = |one: f64, other: f64, error: f64| {
                assert!((one / other - 1.0).abs() < 0.02 + 2.0 * error, "{level}: {one} {other}");
            };
            close(late.gone.middle / at_once.gone.middle, longer, 0.0);
            let found = late.memoryless.gone;
            close(found.of_all, late.gone.middle, found.error / found.of_all);
            assert!(late.unreadable.middle >= at_once.unreadable.middle);
        }
    }

    /// Without a scrub what is bad stays until it is read once: the form let each failure find half of five years' bad
    /// sectors anew, 37 % where 30 % are.
    #[test]
    fn what_no_scrub_finds_is_found_once() {
        let afr = crate::afr::disk(&["ST18000NM000J"]);
        for (level, scrub_h) in
            [("raid5", None), ("raid5", Some(8760.0)), ("raid10", None), ("raid6", None)]
        {
            let inputs = Inputs { afr: afr.clone(), scrub_h, ..inputs() };
            let shape = Shape::new(level, 8, None).unwrap();
            let risk = assess(&shape, &inputs, 60_000, 7);
            let found = risk.memoryless.unreadable;
            let ratio = risk.unreadable.middle / found.of_all;
            assert!(
                (ratio - 1.0).abs() < 0.04 + 2.0 * found.error / found.of_all,
                "{level}: {ratio} {found:?}"
            );
        }
    }

    /// A spare that is there begins at once; what is waited for is the next.
    #[test]
    fn with_a_spare_the_next_one_is_waited_for() {
        let spared = || Inputs::of(&disk(), 1);
        let shape = Shape::new("raid5", 8, None).unwrap();
        let of = |inputs: Inputs| assess(&shape, &inputs, 40_000, 7);
        let [usual, late] = [spared(), spared().replaced_after(2000.0)].map(of);
        assert_eq!(of(spared().replaced_after(72.0)), usual);
        for of in [|risk: &Risk| risk.memoryless.gone.of_all, |risk: &Risk| risk.gone.middle] {
            assert!(of(&late) > 1.05 * of(&usual), "{late:?} {usual:?}");
        }
    }

    /// Twelve drives of which 8 % fail in a year, one spare, the next after 60 days: 8.6 % are lost. The form had a spare at once, and
    /// said 3.6 % at the worst. Spares that nobody replaces are used up by 82 % of groups; the simulation, which hurried what waits
    /// as it hurries rebuilds, had 24 ± 3 %.
    #[test]
    fn a_spare_that_was_used_is_not_there() {
        for (spares, days, groups) in [(1, 60.0, 12_000), (1, 3.0, 4000), (2, f64::INFINITY, 2000)]
        {
            let inputs = Inputs { afr: Sourced::given(0.08), ..Inputs::of(&disk(), spares) };
            let inputs = inputs.replaced_after(24.0 * days);
            let shape = Shape::new("raid6", 12, None).unwrap();
            let expected = gone(&shape, &inputs).middle;
            let found = simulate(&life(&shape, &inputs, false), 5.0 * YEAR_H, groups, 7).gone;
            let apart = (expected / found.of_all - 1.0).abs();
            let said = format!("{spares} {days}: {expected} {found:?}");
            assert!(apart < 0.05 + 2.0 * found.error / found.of_all, "{said}");
            assert!(found.error < 0.15 * found.of_all, "{said}");
        }
    }

    /// Who waits for a drive may crash, too.
    #[test]
    fn a_crash_may_come_while_a_drive_is_on_order() {
        let of = |hours: f64| {
            let inputs = Inputs { afr: Sourced::given(0.08), ..Inputs::of(&disk(), 1) };
            let shape = Shape::new("raid6", 12, None).unwrap();
            let inputs = inputs.replaced_after(hours);
            (assess(&shape, &inputs, 1, 1), inputs)
        };
        let [(late, inputs), (soon, _)] = [1440.0, 1.0].map(of);
        let torn = |risk: &Risk| risk.torn.unwrap();
        assert!(torn(&late).middle > 1.5 * torn(&soon).middle);
        // The hours of the rebuild alone were said, which make less of it.
        let said = late.torn_at_worst(&inputs);
        let hours: f64 = said.split(' ').rev().nth(4).unwrap().parse().unwrap();
        let by_hand = 1.0 - (-12.0 * 0.08 * 5.0 * hours / YEAR_H * 12.0).exp();
        assert!((torn(&late).high - by_hand).abs() < 0.002, "{said} {late:?}");
    }

    /// Twelve 18 TB disks, parity wrong for a whole resync after each crash: 54 %, beside the bitmap that the same answer builds.
    #[test]
    fn a_bitmap_leaves_parity_wrong_only_while_degraded() {
        let inputs =
            Inputs { afr: Sourced::given(0.03), rebuild_h: Sourced::given(134.0), ..inputs() };
        let shape = Shape::new("raid60", 12, None).unwrap();
        let with = assess(&shape, &inputs, 2000, 1);
        // 12 × 3 % failures a year for five years, 48 + 134 h each, and 12 crashes a year.
        let by_hand = 1.0 - (-12.0 * 0.03 * 5.0 * 182.0 / crate::YEAR_H * 12.0_f64).exp();
        let torn = |risk: &Risk| risk.torn.unwrap().high;
        assert!(
            (torn(&with) - by_hand).abs() < 0.002 && (by_hand - 0.36).abs() < 0.005,
            "{by_hand}"
        );
        let (without, inputs) = with.without_bitmap(&shape, inputs);
        assert!((torn(&without) - 0.54).abs() < 0.01, "{:?}", without.torn);
        assert!(without.torn_at_worst(&inputs).starts_with(
            "at worst 12 crashes a year, and one while the array is degraded, or resynced"
        ));
    }

    #[test]
    fn nothing_is_claimed_below_the_floor() {
        assert_eq!(in_words(3e-8), "below 1 in 100,000");
        assert_eq!([0.0123, 0.000_42, 0.42].map(in_words), ["1.2 %", "0.042 %", "42 %"]);
    }

    /// RAID 10 of 24 with one spare gave each pair a spare of its own: replaced after 60 days 0.34 % were lost, after 3000 9.2 %. All 24
    /// drives simulated one by one lose 0.84 ± 0.02 % and 43.5 ± 0.3 % (2.8 % a year, 59 h of rebuild, 6 times as likely beside one).
    #[test]
    fn groups_share_their_spares() {
        let shape = Shape::new("raid10", 24, None).unwrap();
        for (days, drawn) in
            [(3.0, 0.003_73), (60.0, 0.008_4), (365.0, 0.112), (1000.0, 0.338), (3000.0, 0.435)]
        {
            let rebuild_h = Sourced::given(59.0);
            let inputs = Inputs { afr: Sourced::given(0.028), rebuild_h, ..Inputs::of(&disk(), 1) };
            let inputs = inputs.replaced_after(24.0 * days);
            let formed = gone(&shape, &inputs).middle;
            let found = simulate(&life(&shape, &inputs, false), 5.0 * YEAR_H, 20_000, 7).gone;
            let simulated = of_any(12.0, found.of_all);
            for one in [formed, simulated] {
                assert!((one / drawn - 1.0).abs() < 0.15, "{days}: {formed} {simulated}");
            }
        }
    }
}
