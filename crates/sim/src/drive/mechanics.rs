//! The arm and the spindle: how long it takes to reach sectors, and where the head is afterwards.

use super::geometry::{Platters, Spot};
use crate::spent::Ledger;
use crate::{Nanos, Part, Spent};
use std::sync::Arc;

/// The moving parts and their times.
#[derive(Clone, Debug)]
pub struct Mechanics {
    platters: Arc<Platters>,
    /// Seek time by distance in cylinders, in ns.
    seek_ns: Arc<[u32]>,
    /// The shortest seek of that distance or more, in ns.
    least_seek_ns: Arc<[u32]>,
    /// Extra settle time of a write, in ns.
    write_settle_ns: i64,
    /// The least that a command costs before the wait for its first sector begins, in ns.
    command_settle_ns: Nanos,
    head_switch_ns: Nanos,
    /// Zero-latency access: a transfer may start at any sector of a track.
    zero_latency: bool,
    /// The time at which the index mark passes the head: the spindles of drives are not synchronised.
    phase_ns: Nanos,
    cylinder: u32,
    head: u32,
    /// A sector on that cylinder.
    sector: u64,
    /// The first run of the last transfer, mostly its only one, and the others.
    passed: Passed,
    passed_then: Vec<Passed>,
}

/// How the head reaches the first sector of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// For a command: the arm moves and settles, even on its own cylinder.
    Command,
    /// Continuing from what has just passed: only a change of track costs a move.
    On,
}

/// The sectors that are to pass under the head.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// The first sector.
    pub sector: u64,
    /// How many.
    pub sectors: u32,
    /// Whether they are written.
    pub write: bool,
    /// How the head reaches the first.
    pub start: Start,
    /// For a write, when the data is available: no sector may pass before.
    pub data_at: Nanos,
}

/// A run that has passed.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    /// Sectors of the transfer before it.
    before: u32,
    sectors: u32,
    /// When its first sector had passed.
    first_at: Nanos,
    /// When its last sector had passed.
    last_at: Nanos,
}

/// One stretch of sectors on one track, passing under the head.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// When its first sector starts to pass.
    pub start: Nanos,
    /// Sectors in it.
    pub sectors: u32,
    spot: Spot,
}

/// Where the head must be for a sector, and when it passes there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aim {
    cylinder: u32,
    head: u32,
    /// The sector's angle, as in [`Spot::angle_ns`].
    angle_ns: Nanos,
}

impl From<Spot> for Aim {
    fn from(spot: Spot) -> Self {
        Aim { cylinder: spot.cylinder, head: spot.head, angle_ns: spot.angle_ns }
    }
}

impl Mechanics {
    /// The arm starts at the outermost cylinder, and the index mark passes at `phase_ns`.
    pub fn new(
        platters: Platters,
        seek_ns: Vec<u32>,
        write_settle_ns: i64,
        [command_settle_ns, head_switch_ns]: [Nanos; 2],
        zero_latency: bool,
        phase_ns: Nanos,
    ) -> Self {
        assert_eq!(seek_ns.len(), platters.cylinders() as usize);
        let seek_ns: Arc<[u32]> = seek_ns.into();
        let mechanics = Mechanics {
            platters: Arc::new(platters),
            least_seek_ns: least_from(&seek_ns),
            seek_ns,
            write_settle_ns,
            command_settle_ns,
            head_switch_ns,
            zero_latency,
            phase_ns: 0,
            cylinder: 0,
            head: 0,
            sector: 0,
            passed: Passed::default(),
            passed_then: Vec::new(),
        };
        mechanics.at_phase(phase_ns)
    }

    /// The same with the index mark passing at `phase_ns`.
    #[must_use]
    pub fn at_phase(self, phase_ns: Nanos) -> Self {
        Mechanics { phase_ns: self.platters.turned_ns(phase_ns), ..self }
    }

    /// Other times than those of seeks and of turning.
    pub(super) fn set_times(
        &mut self,
        write_settle_ns: i64,
        [command_settle_ns, head_switch_ns]: [Nanos; 2],
        zero_latency: bool,
    ) {
        self.write_settle_ns = write_settle_ns;
        self.command_settle_ns = command_settle_ns;
        self.head_switch_ns = head_switch_ns;
        self.zero_latency = zero_latency;
    }

    /// Translates sectors to places.
    pub fn platters(&self) -> &Platters {
        &self.platters
    }

    /// Sectors that can be addressed.
    pub fn sectors(&self) -> u64 {
        self.platters.sectors()
    }

    /// Where the head must be for `sector`.
    pub fn aim(&self, sector: u64) -> Aim {
        self.platters.spot(sector).into()
    }

    /// The time to bring the head to `aim`, without the wait for the sector. Every command must
    /// settle, even without a seek. A shorter seek or a head switch hides in the settle time.
    #[inline]
    fn reach_ns(&self, aim: Aim, write: bool, start: Start) -> Nanos {
        let distance = aim.cylinder.abs_diff(self.cylinder);
        let moved = if distance > 0 {
            u64::from(self.seek_ns[distance as usize])
        } else if aim.head != self.head {
            self.head_switch_ns
        } else {
            0
        };
        self.settled_ns(moved, write, start)
    }

    /// The time of a move of `moved` ns with what it takes to settle: no less for a longer move.
    #[inline]
    fn settled_ns(&self, moved: Nanos, write: bool, start: Start) -> Nanos {
        let reached = match start {
            Start::Command => moved.max(self.command_settle_ns),
            Start::On => moved,
        };
        if write && reached > 0 {
            reached.saturating_add_signed(self.write_settle_ns)
        } else {
            reached
        }
    }

    /// A sector on the cylinder of the arm. What lies before it is on the same cylinder or further out,
    /// what lies after it on the same or further in.
    pub fn sector(&self) -> u64 {
        self.sector
    }

    /// Merges what is at the arm's sector and above, upwards, with what is below, downwards: the nearest cylinder first, of
    /// equals what is above.
    #[inline]
    pub fn outwards<T>(
        &self,
        above: impl Iterator<Item = (Aim, T)>,
        below: impl Iterator<Item = (Aim, T)>,
    ) -> impl Iterator<Item = (u32, Aim, T)> {
        let here = self.cylinder;
        let mut above =
            above.map(move |(aim, it)| (aim.cylinder.saturating_sub(here), aim, it)).peekable();
        let mut below =
            below.map(move |(aim, it)| (here.saturating_sub(aim.cylinder), aim, it)).peekable();
        std::iter::from_fn(move || match (above.peek(), below.peek()) {
            (Some((up, ..)), Some((down, ..))) if down < up => below.next(),
            (None, _) => below.next(),
            _ => above.next(),
        })
    }

    /// What [`Mechanics::positioning_ns`] is at least for what is `distance` cylinders away or more.
    #[inline]
    pub fn least_reach_ns(&self, distance: u32, write: bool) -> Nanos {
        let moved = u64::from(self.least_seek_ns[distance as usize]);
        self.settled_ns(moved, write, Start::Command)
    }

    /// The time from `at` until the sector at `aim` could start to pass, if its command began at `at`.
    #[inline]
    pub fn positioning_ns(&self, at: Nanos, aim: Aim, write: bool) -> Nanos {
        let reach = self.reach_ns(aim, write, Start::Command);
        reach + self.wait_ns(at + reach, aim)
    }

    /// The time from `at` until the sector at `aim` comes under the head.
    #[inline]
    fn wait_ns(&self, at: Nanos, aim: Aim) -> Nanos {
        let revolution = self.platters.revolution_ns();
        let now = self.platters.turned_ns(at + revolution - self.phase_ns);
        if aim.angle_ns >= now { aim.angle_ns - now } else { aim.angle_ns + revolution - now }
    }

    /// The time for `sectors` sectors from `sector` to pass, if they were all on one track.
    pub fn passing_ns(&self, sector: u64, sectors: u32) -> Nanos {
        self.platters.pass_ns(self.platters.spot(sector), sectors)
    }

    /// Starts the run at `sector`, at most `limit` sectors of it, with the head free from `at` on.
    pub fn start_run(&mut self, at: Nanos, sector: u64, limit: u64) -> Run {
        let spot = self.platters.spot(sector);
        let reached = at + self.reach_ns(spot.into(), false, Start::On);
        let start = reached + self.wait_ns(reached, spot.into());
        (self.cylinder, self.head, self.sector) = (spot.cylinder, spot.head, sector);
        Run { start, sectors: limit.min(u64::from(spot.run)) as u32, spot }
    }

    /// `run`, which starts at `sector`, extended to at most `limit` sectors of its track.
    pub fn lengthen(&self, run: &Run, sector: u64, limit: u64) -> Run {
        debug_assert_eq!(self.platters.spot(sector), run.spot);
        Run { sectors: limit.min(u64::from(run.spot.run)) as u32, ..*run }
    }

    /// When the last sector of `run` has passed.
    pub fn run_end(&self, run: &Run) -> Nanos {
        self.passed_at(run, run.sectors)
    }

    /// When the first `sectors` sectors of `run` have passed.
    pub fn passed_at(&self, run: &Run, sectors: u32) -> Nanos {
        run.start + self.platters.pass_ns(run.spot, sectors)
    }

    /// How many sectors of `run` have wholly passed by `at`.
    pub fn passed_by(&self, run: &Run, at: Nanos) -> u32 {
        let since = at.saturating_sub(run.start);
        let revolution = self.platters.revolution_ns();
        let guess = (since * run.spot.slots.get() / revolution).min(u64::from(run.sectors));
        // The boundaries are rounded down one by one, so the quotient can be one too small.
        let guess = guess as u32;
        if guess < run.sectors && self.passed_at(run, guess + 1) <= at { guess + 1 } else { guess }
    }

    /// Reads or writes, with the head free from `at` on. Returns where the time went; the transfer ends
    /// at `at` plus the sum.
    pub fn transfer(&mut self, at: Nanos, transfer: Transfer) -> Spent {
        let mut ledger = Ledger::start(at);
        self.pass(transfer, &mut ledger);
        *ledger.spent()
    }

    /// Reads or writes, with the head free from the end of `ledger` on, to which the time is charged.
    pub(crate) fn pass(&mut self, transfer: Transfer, ledger: &mut Ledger) {
        let Transfer { sector, sectors, write, start, data_at } = transfer;
        debug_assert!(sectors > 0, "a transfer of nothing");
        let spot = self.platters.spot(sector);
        let reached = ledger.charged_to() + self.reach_ns(spot.into(), write, start);
        let arrived = reached.max(data_at);
        let moves = spot.cylinder != self.cylinder;
        ledger.charge(if moves { Part::SEEK } else { Part::HEAD_SWITCH }, reached);
        ledger.charge(Part::BUS, arrived);
        self.passed_then.clear();
        let run = sectors.min(spot.run);
        self.passed = self.pass_run(arrived, spot, (sector, run), Part::ROTATION, ledger);
        if run < sectors {
            self.pass_on(transfer, run, ledger);
        }
    }

    /// The rest of `transfer`, after its first `before` sectors.
    fn pass_on(&mut self, transfer: Transfer, mut before: u32, ledger: &mut Ledger) {
        while before < transfer.sectors {
            let sector = transfer.sector + u64::from(before);
            let spot = self.platters.spot(sector);
            let run = (transfer.sectors - before).min(spot.run);
            let reach = self.reach_ns(spot.into(), transfer.write, Start::On);
            let arrived = (ledger.charged_to() + reach).max(transfer.data_at);
            let passed = self.pass_run(arrived, spot, (sector, run), Part::HEAD_SWITCH, ledger);
            self.passed_then.push(Passed { before, ..passed });
            before += run;
        }
    }

    /// The run of `sectors` from `spot` passes the head, which has `arrived` at its track. The time until it starts
    /// to pass is charged to `until`.
    #[inline]
    fn pass_run(
        &mut self,
        arrived: Nanos,
        spot: Spot,
        (sector, sectors): (u64, u32),
        until: Part,
        ledger: &mut Ledger,
    ) -> Passed {
        let passing = self.platters.pass_ns(spot, sectors);
        let last_at = arrived + self.track_ns(arrived, spot, passing);
        let passes_from = last_at - passing;
        ledger.charge(until, passes_from);
        ledger.charge(Part::MEDIA, last_at);
        (self.cylinder, self.head, self.sector) = (spot.cylinder, spot.head, sector);
        let first_at = passes_from + self.platters.pass_ns(spot, 1);
        Passed { before: 0, sectors, first_at, last_at }
    }

    /// The earliest time at which sending the last transfer may start without a gap, where sending n
    /// sectors takes `pace(n)`.
    ///
    /// Sector k, counted from 1, can be sent when it has passed, at `m(k)`. So the start is the latest
    /// `m(k) − pace(k − 1)`. On one track both grow linearly: the first or the last sector decides.
    pub fn streams_from(&self, pace: impl Fn(u32) -> Nanos) -> Nanos {
        let from = |run: &Passed, before_ns: Nanos| {
            let first = run.first_at.saturating_sub(before_ns);
            first.max(run.last_at.saturating_sub(pace(run.before + run.sectors - 1)))
        };
        let then = self.passed_then.iter().map(|run| from(run, pace(run.before)));
        then.fold(from(&self.passed, 0), Nanos::max)
    }

    /// The time from the head's arrival at a track until a run on it has passed.
    ///
    /// In order: wait for the first sector, then the run. With zero latency, a head that arrives inside
    /// the run starts at once and transfers the missed part when that comes round again: exactly one
    /// revolution. (It starts with the sector that is passing; the lost fraction is made up at the end
    /// of the revolution.)
    fn track_ns(&self, arrived: Nanos, spot: Spot, passing: Nanos) -> Nanos {
        let in_order = self.wait_ns(arrived, spot.into()) + passing;
        if self.zero_latency { in_order.min(self.platters.revolution_ns()) } else { in_order }
    }
}

/// The least of each entry and all after it. A curve that never falls is that itself.
fn least_from(seek_ns: &Arc<[u32]>) -> Arc<[u32]> {
    if seek_ns.is_sorted() {
        return Arc::clone(seek_ns);
    }
    let mut least: Vec<u32> = seek_ns.to_vec();
    for index in (1..least.len()).rev() {
        least[index - 1] = least[index - 1].min(least[index]);
    }
    least.into()
}

#[cfg(test)]
mod tests {
    use super::super::geometry::{PlatterSpec, Zone};
    use super::*;

    const TURN: Nanos = 8_000_000;

    /// 2 heads, 100 slots of 80 µs, track skew 10 and cylinder skew 20 slots, 500 µs head switch.
    fn mechanics(zero_latency: bool) -> Mechanics {
        let zones = vec![Zone {
            first_cylinder: 0,
            last_cylinder: 99,
            slots_per_track: 100,
            track_skew_slots: 10,
            cylinder_skew_slots: 20,
            ..Zone::default()
        }];
        let platters = Platters::new(&PlatterSpec {
            sectors: 20_000,
            heads: 2,
            revolution_ns: TURN,
            zones,
            ..PlatterSpec::default()
        });
        let seek = (0..100).map(|d| if d == 0 { 0 } else { 1_000_000 + d * 10_000 }).collect();
        Mechanics::new(platters.unwrap(), seek, 200_000, [0, 500_000], zero_latency, 0)
    }

    fn transfer(sector: u64, sectors: u32, write: bool) -> Transfer {
        Transfer { sector, sectors, write, start: Start::Command, data_at: 0 }
    }

    #[test]
    fn a_sequential_transfer_loses_only_the_skews() {
        let spent = mechanics(false).transfer(0, transfer(0, 400, false));
        assert_eq!(spent[Part::ROTATION], 0);
        assert_eq!(spent[Part::MEDIA], 4 * TURN);
        assert_eq!(spent[Part::HEAD_SWITCH], (10 + 20 + 10) * TURN / 100);
        assert_eq!(spent.total(), 4 * TURN + 40 * TURN / 100);
    }

    #[test]
    fn writing_the_next_sector_too_late_costs_a_turn() {
        let mut mechanics = mechanics(false);
        let first = mechanics.transfer(0, transfer(0, 8, true)).total();
        let second = mechanics.transfer(first + 1, transfer(8, 8, true));
        assert_eq!(second[Part::ROTATION], TURN - 1);
        assert_eq!(
            mechanics.transfer(first + 1 + second.total(), transfer(16, 8, true))[Part::ROTATION],
            0
        );
    }

    /// The mean wait for a random sector at a random time is half a revolution.
    #[test]
    fn mean_rotational_latency_is_half_a_turn() {
        let mechanics = mechanics(false);
        let mut total = 0;
        for sector in 0..100 {
            for at in (0..TURN).step_by(TURN as usize / 1000) {
                total += mechanics.wait_ns(at, mechanics.aim(sector));
            }
        }
        let mean = total as f64 / 100_000.0;
        assert!((mean / (TURN as f64 / 2.0) - 1.0).abs() < 0.01, "mean wait {mean} ns");
    }

    /// Ruemmler and Wilkes' zero-latency access: a whole track takes one revolution, wherever the head is;
    /// without it, one and a half on average. For a fraction f of a track the saving is f² T / 2.
    #[test]
    fn zero_latency_saves_half_f_squared_turns() {
        for sectors in [25_u32, 50, 100] {
            let mean = |zero_latency| {
                let total: u64 = (0..TURN)
                    .step_by(1000)
                    .map(|at| {
                        mechanics(zero_latency).transfer(at, transfer(0, sectors, false)).total()
                    })
                    .sum();
                total as f64 / (TURN / 1000) as f64
            };
            let f = f64::from(sectors) / 100.0;
            let saved = (mean(false) - mean(true)) / TURN as f64;
            assert!((saved - f * f / 2.0).abs() < 0.001, "{sectors}: {saved}");
        }
    }

    /// A command on the head's own track still settles, and a head switch hides in that. What follows
    /// within the command, or continues it, does not settle.
    #[test]
    fn a_command_settles_even_where_it_need_not_move() {
        let mut mechanics = mechanics(false);
        mechanics.command_settle_ns = 800_000;
        let spent = mechanics.transfer(0, transfer(20, 10, false));
        assert_eq!((spent[Part::HEAD_SWITCH], spent[Part::ROTATION]), (800_000, 800_000));
        let on = Transfer { start: Start::On, ..transfer(30, 10, false) };
        assert_eq!(mechanics.transfer(30 * TURN / 100, on).total(), 10 * TURN / 100);
        let other_head = mechanics.transfer(0, transfer(100, 1, true));
        assert_eq!(other_head[Part::HEAD_SWITCH], 1_000_000);
        let next_cylinder = mechanics.transfer(0, transfer(200, 1, false));
        assert_eq!(next_cylinder[Part::SEEK], 1_010_000);
    }

    /// The bus may start as soon as it will never have to wait, even across a gap between tracks. Over
    /// a whole revolution, the shortest way to a sector is the move alone, including its settling.
    #[test]
    fn the_head_settles_before_a_write_if_it_has_moved() {
        let drive = mechanics(false);
        let shortest = |sector, write| {
            (0..TURN)
                .step_by(1000)
                .map(|at| drive.positioning_ns(at, drive.aim(sector), write))
                .min()
                .unwrap()
        };
        // The same track, the other head, the next cylinder, and one far away.
        for (sector, move_ns) in [(50, 0), (150, 500_000), (250, 1_010_000), (10_050, 1_500_000)] {
            let settle = if move_ns > 0 { 200_000 } else { 0 };
            assert!(shortest(sector, false).abs_diff(move_ns) < 1000, "{sector}");
            assert!(shortest(sector, true).abs_diff(move_ns + settle) < 1000, "{sector}");
        }
    }

    #[test]
    fn sending_starts_when_it_will_not_run_dry() {
        let mut mechanics = mechanics(false);
        let end = mechanics.transfer(0, transfer(90, 20, false)).total();
        for picos in [1, 40, 79, 80, 81, 200, 1000] {
            let pace = |sectors: u32| u64::from(sectors) * picos * 1000;
            let passed_at = |k: u64| if k <= 10 { (90 + k) * 80_000 } else { (100 + k) * 80_000 };
            let least = (1..=20).map(|k| passed_at(k).saturating_sub(pace(k as u32 - 1))).max();
            assert_eq!(Some(mechanics.streams_from(pace)), least);
        }
        assert_eq!(end, 120 * 80_000);
    }

    #[test]
    fn a_run_is_counted_sector_by_sector() {
        let mut mechanics = mechanics(false);
        let run = mechanics.start_run(0, 50, 1000);
        assert_eq!((run.start, run.sectors), (50 * TURN / 100, 50));
        for sectors in 0..=50 {
            let at = mechanics.passed_at(&run, sectors);
            assert_eq!(mechanics.passed_by(&run, at), sectors);
            if sectors > 0 {
                assert_eq!(mechanics.passed_by(&run, at - 1), sectors - 1);
            }
        }
        assert_eq!(mechanics.passed_by(&run, run.start + 3 * TURN), 50);
    }
}
