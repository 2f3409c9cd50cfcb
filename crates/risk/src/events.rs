//! A simulation of one group: drives that age, fail and are rebuilt, sectors that go bad, scrubs that find them.
//!
//! Each drive has a budget of hazard, exponential with mean 1, and fails when its age has used it up; so lives of any
//! Weibull shape can be hurried while a shelf-mate is down. What is rare is made frequent: in a degraded group the
//! hazard is `hurry` times as large, and the history's weight corrects for that (failure biasing, Lewis & Böhm 1984).

use crate::wait::{Random, Wait};

/// When a bad sector is found and mended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scrub {
    /// Never.
    Never,
    /// By a scrub that comes this often, at any time of its round.
    Every(f64),
    /// So long after it went bad.
    After(Wait),
}

/// What happens to the drives of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Life {
    /// Members.
    pub members: usize,
    /// How many may be down.
    pub survived: usize,
    /// The age at which a drive fails.
    pub failure: Wait,
    /// The rebuild of one drive.
    pub rebuild: Wait,
    /// Whether all that are down are rebuilt side by side.
    pub side_by_side: bool,
    /// Spares that are ready.
    pub spares: usize,
    /// Drives of other groups, which take the same spares.
    pub elsewhere: usize,
    /// Until a drive that was ordered is there; each failure orders one.
    pub replacement_h: f64,
    /// How much likelier a failure is while another member is down.
    pub acceleration: f64,
    /// Mean time between episodes of bad sectors on a drive; `None` for none.
    pub latent_h: Option<f64>,
    /// What finds them.
    pub scrub: Scrub,
}

impl Life {
    /// What closed forms take: failures and rebuilds without memory, rebuilt one after another, no spare and no wait for
    /// a drive, no bad sectors.
    pub fn textbook(members: usize, survived: usize, failure_h: f64, rebuild_h: f64) -> Life {
        Life {
            members,
            survived,
            failure: Wait::exponential(failure_h),
            rebuild: Wait::exponential(rebuild_h),
            side_by_side: false,
            spares: 0,
            elsewhere: 0,
            replacement_h: 0.0,
            acceleration: 1.0,
            latent_h: None,
            scrub: Scrub::Never,
        }
    }
}

/// What many groups went through.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// Groups simulated.
    pub groups: u64,
    /// Share of them that were lost whole.
    pub gone: Share,
    /// Share of them that lost sectors at least once.
    pub unreadable: Share,
    /// Times that sectors were lost, per group.
    pub unreadable_events: f64,
}

/// A share with its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// The share.
    pub of_all: f64,
    /// Its standard error.
    pub error: f64,
}

/// Simulates groups for `mission_h` hours each, or until they are gone.
pub fn simulate(life: &Life, mission_h: f64, groups: u64, seed: u64) -> Counted {
    let mut random = Random::new(seed);
    let hurry = Hurry::of(life);
    let mut sums = Sums::default();
    for _ in 0..groups {
        let mut group = Group::new(life, hurry, &mut random);
        group.live(mission_h, &mut random);
        sums.add(&group);
    }
    sums.counted(groups)
}

/// How much the hazard of a degraded group is raised, so that about 4 of 10 rebuilds see another failure.
#[derive(Clone, Copy)]
struct Hurry {
    /// While what is down is rebuilt.
    rebuilding: f64,
    /// While a member waits for a drive: waits are long, and a hazard raised for hours would leave weights of nothing.
    waiting: f64,
}

impl Hurry {
    fn of(life: &Life) -> Hurry {
        const WANTED: f64 = 0.5;
        let others = life.members.saturating_sub(1) as f64;
        let raised = |hours: f64| {
            let expected = others * life.acceleration * hours / life.failure.age_at(1.0);
            let is_rare = life.survived > 0 && expected > 0.0;
            if is_rare { (WANTED / expected).max(1.0) } else { 1.0 }
        };
        let rebuild_h = life.rebuild.least_h + life.rebuild.scale_h;
        let waiting = raised(rebuild_h + life.replacement_h);
        // Without a spare each rebuild is waited for.
        Hurry { rebuilding: if life.spares == 0 { waiting } else { raised(rebuild_h) }, waiting }
    }
}

#[derive(Default)]
struct Sums {
    gone: [f64; 2],
    unreadable: [f64; 2],
    events: f64,
}

impl Sums {
    fn add(&mut self, group: &Group<'_>) {
        for (sum, weight) in
            [(&mut self.gone, group.gone), (&mut self.unreadable, group.unreadable)]
        {
            sum[0] += weight;
            sum[1] += weight * weight;
        }
        self.events += group.events;
    }

    fn counted(&self, groups: u64) -> Counted {
        let count = groups as f64;
        let share = |[sum, squares]: [f64; 2]| {
            let mean = sum / count;
            Share { of_all: mean, error: ((squares / count - mean * mean).max(0.0) / count).sqrt() }
        };
        Counted {
            groups,
            gone: share(self.gone),
            unreadable: share(self.unreadable),
            unreadable_events: self.events / count,
        }
    }
}

/// A member.
#[derive(Clone, Copy)]
struct Drive {
    age_h: f64,
    /// Hazard left until it fails.
    budget: f64,
    state: State,
    /// When it failed; then, when its rebuild began, or began to wait for another's end.
    began_h: f64,
    /// When its next bad sectors come up, and when they are found.
    bad_h: f64,
    found_h: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Up,
    /// Down, and no spare is there.
    Waiting,
    /// Down, with so much of its rebuild left.
    Rebuilding(f64),
}

struct Group<'a> {
    life: &'a Life,
    hurry: Hurry,
    drives: Vec<Drive>,
    now_h: f64,
    spares: usize,
    /// When drives that were ordered arrive.
    ordered_h: Vec<f64>,
    /// When a drive of another group fails next.
    elsewhere_h: f64,
    /// When those failed that wait for a spare there.
    waiting_elsewhere: Vec<f64>,
    /// The logarithm of the history's weight.
    log_weight: f64,
    /// The weight with which it was lost, 0 while it was not.
    gone: f64,
    unreadable: f64,
    events: f64,
}

impl<'a> Group<'a> {
    fn new(life: &'a Life, hurry: Hurry, random: &mut Random) -> Self {
        let mut group = Group {
            life,
            hurry,
            drives: Vec::with_capacity(life.members),
            now_h: 0.0,
            spares: life.spares,
            ordered_h: Vec::new(),
            elsewhere_h: f64::INFINITY,
            waiting_elsewhere: Vec::new(),
            log_weight: 0.0,
            gone: 0.0,
            unreadable: 0.0,
            events: 0.0,
        };
        for _ in 0..life.members {
            let drive = group.blank(random);
            group.drives.push(drive);
        }
        group.next_elsewhere(random);
        group
    }

    /// When the next drive of another group fails: at the age of drives that are there from the start.
    fn next_elsewhere(&mut self, random: &mut Random) {
        if self.life.elsewhere > 0 {
            let life = &self.life.failure;
            let share = random.exponential() / self.life.elsewhere as f64;
            self.elsewhere_h = life.age_at(life.gathered(self.now_h) + share);
        }
    }

    fn blank(&self, random: &mut Random) -> Drive {
        let budget = random.exponential();
        let mut drive = Drive {
            age_h: 0.0,
            budget,
            state: State::Up,
            began_h: 0.0,
            bad_h: f64::INFINITY,
            found_h: 0.0,
        };
        self.next_bad(&mut drive, self.now_h, random);
        drive
    }

    /// When the drive's sectors go bad next, and when that is found.
    fn next_bad(&self, drive: &mut Drive, from_h: f64, random: &mut Random) {
        let Some(latent_h) = self.life.latent_h else { return };
        drive.bad_h = from_h + latent_h * random.exponential();
        drive.found_h = match self.life.scrub {
            Scrub::Never => f64::INFINITY,
            Scrub::Every(hours) => drive.bad_h + hours * random.unit(),
            Scrub::After(wait) => drive.bad_h + wait.draw(random),
        };
    }

    /// What happens until the mission is over or the group is gone.
    fn live(&mut self, mission_h: f64, random: &mut Random) {
        while self.gone == 0.0 {
            let (step_h, failing) = self.next_step(mission_h - self.now_h);
            self.pass(step_h);
            if let Some(index) = failing {
                self.fail(index, random);
            } else if self.now_h >= mission_h {
                return;
            } else if self.now_h >= self.elsewhere_h {
                self.fail_elsewhere(random);
            }
            self.settle(random);
        }
    }

    fn down(&self) -> usize {
        self.drives.iter().filter(|drive| drive.state != State::Up).count()
    }

    /// Whether each drive is being rebuilt: all that have a spare, or of these the one that had it first.
    fn rebuilt(&self) -> impl Fn(usize) -> bool + use<> {
        let begun = self.drives.iter().enumerate();
        let begun = begun.filter(|(_, drive)| matches!(drive.state, State::Rebuilding(_)));
        let first = begun.min_by(|(_, one), (_, other)| one.began_h.total_cmp(&other.began_h));
        let (first, all) = (first.map(|(index, _)| index), self.life.side_by_side);
        move |index| all || first == Some(index)
    }

    /// How much the hazard is raised, really and for counting.
    fn raised(&self) -> (f64, f64) {
        if self.down() == 0 {
            return (1.0, 1.0);
        }
        let waits = self.drives.iter().any(|drive| drive.state == State::Waiting);
        let hurry = if waits { self.hurry.waiting } else { self.hurry.rebuilding };
        (self.life.acceleration, hurry)
    }

    /// Until something happens, at most `rest_h`, and which drive fails then.
    fn next_step(&self, rest_h: f64) -> (f64, Option<usize>) {
        let (really, hurry) = self.raised();
        let mut next = (rest_h, None);
        let is_rebuilt = self.rebuilt();
        for (index, drive) in self.drives.iter().enumerate() {
            let (left_h, failing) = match drive.state {
                State::Up => {
                    let life = &self.life.failure;
                    let end = life.gathered(drive.age_h) + drive.budget / (really * hurry);
                    (life.age_at(end) - drive.age_h, Some(index))
                }
                State::Rebuilding(left_h) if is_rebuilt(index) => (left_h, None),
                State::Rebuilding(_) | State::Waiting => continue,
            };
            if left_h < next.0 {
                next = (left_h.max(0.0), failing);
            }
        }
        let from_outside = self.ordered_h.iter().copied().fold(self.elsewhere_h, f64::min);
        let left_h = from_outside - self.now_h;
        if left_h < next.0 { (left_h.max(0.0), None) } else { next }
    }

    /// Lets so much time pass.
    fn pass(&mut self, step_h: f64) {
        let (really, hurry) = self.raised();
        let is_rebuilt = self.rebuilt();
        for (index, drive) in self.drives.iter_mut().enumerate() {
            match &mut drive.state {
                State::Up => {
                    let life = &self.life.failure;
                    let gathered = life.gathered(drive.age_h + step_h) - life.gathered(drive.age_h);
                    drive.age_h += step_h;
                    drive.budget -= gathered * really * hurry;
                    self.log_weight += gathered * really * (hurry - 1.0);
                }
                State::Rebuilding(left_h) if is_rebuilt(index) => *left_h -= step_h,
                State::Rebuilding(_) | State::Waiting => {}
            }
        }
        self.now_h += step_h;
    }

    fn fail(&mut self, index: usize, random: &mut Random) {
        let (_, hurry) = self.raised();
        self.log_weight -= hurry.ln();
        let down = self.down() + 1;
        self.drives[index].state = State::Waiting;
        self.drives[index].began_h = self.now_h;
        self.order();
        if down > self.life.survived {
            self.gone = self.log_weight.exp();
        } else if down == self.life.survived {
            self.read_the_rest(random);
        }
    }

    fn order(&mut self) {
        if self.life.replacement_h.is_finite() {
            self.ordered_h.push(self.now_h + self.life.replacement_h);
        }
    }

    /// A drive of another group fails, if it is not one that waits there.
    fn fail_elsewhere(&mut self, random: &mut Random) {
        // The sum of times may have lost its last digit.
        self.now_h = self.now_h.max(self.elsewhere_h);
        let up = self.life.elsewhere.saturating_sub(self.waiting_elsewhere.len());
        if random.unit() * self.life.elsewhere as f64 <= up as f64 {
            self.waiting_elsewhere.push(self.now_h);
            self.order();
        }
        self.next_elsewhere(random);
    }

    /// Gives other groups the spares for which they have waited longer than any member here that gets none.
    fn give_elsewhere(&mut self) {
        let waits = self.drives.iter().filter(|drive| drive.state == State::Waiting);
        let mut here: Vec<f64> = waits.map(|drive| drive.began_h).collect();
        here.sort_by(f64::total_cmp);
        let mut here = here.into_iter().peekable();
        for _ in 0..self.spares {
            let Some(&there_h) = self.waiting_elsewhere.first() else { return };
            if here.next_if(|&failed_h| failed_h < there_h).is_none() {
                self.waiting_elsewhere.remove(0);
                self.spares -= 1;
            }
        }
    }

    /// With nothing to spare any more, what is bad on the others is lost.
    fn read_the_rest(&mut self, random: &mut Random) {
        let mut lost = false;
        for index in 0..self.drives.len() {
            let mut drive = self.drives[index];
            if drive.state != State::Up {
                continue;
            }
            while drive.found_h <= self.now_h {
                let from_h = drive.found_h;
                self.next_bad(&mut drive, from_h, random);
                if self.life.latent_h.is_none() {
                    break;
                }
            }
            if drive.bad_h <= self.now_h {
                lost = true;
                let now_h = self.now_h;
                self.next_bad(&mut drive, now_h, random);
            }
            self.drives[index] = drive;
        }
        if lost {
            let weight = self.log_weight.exp();
            self.events += weight;
            if self.unreadable == 0.0 {
                self.unreadable = weight;
            }
        }
    }

    /// Takes in what has arrived, begins rebuilds and ends them.
    fn settle(&mut self, random: &mut Random) {
        // An arrival within a millionth of an hour is here: sums of times differ in their last digit.
        const NOW_H: f64 = 1e-6;
        let now_h = self.now_h;
        let before = self.ordered_h.len();
        self.ordered_h.retain(|&arrival_h| arrival_h > now_h + NOW_H);
        self.spares += before - self.ordered_h.len();
        self.give_elsewhere();
        for index in 0..self.drives.len() {
            if let State::Rebuilding(left_h) = self.drives[index].state
                && left_h <= NOW_H
            {
                self.drives[index] = self.blank(random);
            }
            if self.drives[index].state == State::Waiting && self.spares > 0 {
                self.spares -= 1;
                self.drives[index].state = State::Rebuilding(self.life.rebuild.draw(random));
                self.drives[index].began_h = now_h;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Chain;

    fn textbook(members: usize, survived: usize) -> Life {
        Life::textbook(members, survived, 2000.0, 10.0)
    }

    #[test]
    fn the_same_seed_is_the_same_history() {
        let life = Life { latent_h: Some(500.0), ..textbook(4, 1) };
        let [first, again, other] = [1, 1, 2].map(|seed| simulate(&life, 1e4, 200, seed));
        assert_eq!(first, again);
        assert_ne!(first, other);
    }

    /// A spare that is there takes the wait for another out of the window.
    #[test]
    fn a_spare_saves_the_wait() {
        let slow = Life { replacement_h: 40.0, ..textbook(6, 1) };
        let spared = Life { spares: 2, ..slow };
        let [slow, spared] =
            [slow, spared].map(|life| simulate(&life, 2000.0, 40_000, 3).gone.of_all);
        assert!(slow > 2.5 * spared, "{slow} {spared}");
    }

    /// A second spare cannot harm. Whichever stood first among the members was rebuilt, so that one that failed later took
    /// the place of one that was nearly done: two spares lost 1.5 times as many groups as one.
    #[test]
    fn a_rebuild_is_not_put_off_by_the_next() {
        let lost = |spares: usize| {
            let life =
                Life { spares, replacement_h: 12.0, rebuild: Wait::fixed(10.0), ..textbook(8, 2) };
            simulate(&life, 2000.0, 60_000, 3).gone
        };
        let [one, two] = [1, 2].map(lost);
        assert!((two.of_all / one.of_all - 1.0).abs() < 0.1, "{one:?} {two:?}");
    }

    /// Shelf-mates that fail together: the closed form with the same acceleration.
    #[test]
    fn shelf_mates_hasten_the_end() {
        let life = Life { acceleration: 6.0, failure: Wait::exponential(1e5), ..textbook(8, 1) };
        let chain = Chain {
            members: 8,
            survived: 1,
            failures_per_h: 1e-5,
            uneven: Vec::new(),
            rebuilds_per_h: 0.1,
            side_by_side: false,
            acceleration: 6.0,
            unreadable: 0.0,
        };
        let expected = crate::chain::within(43_800.0, chain.end_h());
        let found = simulate(&life, 43_800.0, 200_000, 5).gone;
        assert!((found.of_all / expected - 1.0).abs() < 0.02, "{found:?} {expected}");
        assert!(found.error < 0.01 * expected);
    }
}
