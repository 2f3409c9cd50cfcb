//! How a layout carries out a request: which members do what, and in which order.
//!
//! A plan is one flat buffer, refilled for every request, so that planning allocates nothing once the
//! buffer has grown. Its steps are in *stages*: all steps of a stage may run at once, and the next
//! stage starts when the last of them is done. A write to RAID 5, for instance, has two stages: read
//! the old data and parity, then write the new.

use crate::bios::{self, Cut};
use crate::{Op, Request};
use std::ops::Range;

/// A sector of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Which member.
    pub member: u32,
    /// The sector, counted from the start of the member.
    pub sector: u64,
}

/// What a step's sectors are to the volume, so that whoever has the bytes knows which to write and what
/// to do with those read.
///
/// The sectors of a row that share a parity sector form one *column*: one sector of each of the row's
/// units, an interleave apart in the volume. A parity sector is named by the first of its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The volume's sectors from this one on.
    Data(u64),
    /// The parity P (exclusive or) of the columns from this volume sector on.
    P(u64),
    /// The parity Q (Reed-Solomon) of the columns from this volume sector on.
    Q(u64),
}

/// A request to one member, or to whichever of several copies the run chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What to ask of the member that `request.target` names. Where there is a choice, this is the
    /// first copy.
    pub request: Request,
    /// What those sectors are to the volume; meaningless for a flush.
    pub content: Content,
    /// The other copies, as a range of the plan's places; empty where there is no choice.
    others: Range<u32>,
}

/// The steps of one request, in stages.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    steps: Vec<Step>,
    stage_ends: Vec<u32>,
    places: Vec<Place>,
    rows: Vec<u64>,
    /// Scratch space for the copies of one piece; empty between calls.
    pub(crate) copies: Vec<Place>,
}

impl Plan {
    /// An empty plan.
    pub fn new() -> Self {
        Plan::default()
    }

    /// Clears the plan, but keeps its memory.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.stage_ends.clear();
        self.places.clear();
        self.rows.clear();
    }

    /// Adds a step to the stage being written: `op` on `sectors` sectors from `place`.
    pub fn step(&mut self, op: Op, place: Place, sectors: u32, content: Content) {
        let request = Request { target: place.member, op, sector: place.sector, sectors };
        self.steps.push(Step { request, content, others: 0..0 });
    }

    /// Adds a step that any one of `copies` can carry out; the run chooses which.
    pub fn step_any_of(&mut self, op: Op, copies: &[Place], sectors: u32, content: Content) {
        if let [only] = copies {
            return self.step(op, *only, sectors, content);
        }
        assert!(!copies.is_empty(), "a step needs somewhere to go");
        self.step(op, copies[0], sectors, content);
        let start = self.places.len() as u32;
        self.places.extend_from_slice(&copies[1..]);
        let last = self.steps.last_mut().expect("one was just pushed");
        last.others = start..self.places.len() as u32;
    }

    /// Adds a flush of every healthy member.
    pub fn flush_all(&mut self, members: usize, health: &Health) {
        for member in (0..members as u32).filter(|&member| health.is_up(member)) {
            self.step(Op::Flush, Place { member, sector: 0 }, 0, Content::Data(0));
        }
    }

    /// Translates the plan of a part to the whole: `place` maps each of the part's places, and the
    /// part's sectors and rows start at `first_sector` and `first_row`.
    pub(crate) fn relocate(
        &mut self,
        place: impl Fn(Place) -> Place,
        first_sector: u64,
        first_row: u64,
    ) {
        let content = |mut content| {
            let (Content::Data(sector) | Content::P(sector) | Content::Q(sector)) = &mut content;
            *sector += first_sector;
            content
        };
        self.translate(place, content, |row| row + first_row);
    }

    /// The same by any rule. The order of rows must not change.
    pub(crate) fn translate(
        &mut self,
        place: impl Fn(Place) -> Place,
        content: impl Fn(Content) -> Content,
        row: impl Fn(u64) -> u64,
    ) {
        for step in self.steps.iter_mut().filter(|step| step.request.op != Op::Flush) {
            let there = place(Place { member: step.request.target, sector: step.request.sector });
            (step.request.target, step.request.sector) = (there.member, there.sector);
            step.content = content(step.content);
        }
        for other in &mut self.places {
            *other = place(*other);
        }
        for locked in &mut self.rows {
            *locked = row(*locked);
        }
    }

    /// Cuts the only stage of a request for data from `first` on, as Linux cuts a request into bios, and has the steps in
    /// md's order ([`bios`]).
    ///
    /// # Panics
    ///
    /// Where there are several stages, or parity.
    pub fn cut_into_bios(&mut self, first: u64, Cut { bio_sectors: most, rests }: Cut) {
        assert!(self.stages() <= 1, "bios are of one stage");
        let mut parts = Vec::with_capacity(self.steps.len() + 1);
        for step in std::mem::take(&mut self.steps) {
            self.cut(step, first, most, &mut parts);
        }
        let sector_of = |step: &Step| match step.content {
            Content::Data(sector) => sector,
            Content::P(_) | Content::Q(_) => panic!("bios are of data"),
        };
        // All copies of a piece are written at once.
        parts.sort_by_key(sector_of);
        let pieces = parts.chunk_by(|step, next| step.content == next.content);
        let bio_of = |copies: &[Step]| (sector_of(&copies[0]) - first) / u64::from(most);
        let pieces = pieces.map(|copies| (bio_of(copies), copies.to_vec()));
        self.steps = bios::in_order(pieces, rests).into_iter().flatten().collect();
        self.stage_ends.clear();
        self.end_stage();
    }

    /// Adds the parts of `step` to `parts`.
    fn cut(&mut self, mut step: Step, first: u64, most: u32, parts: &mut Vec<Step>) {
        let most = u64::from(most);
        while let Content::Data(sector) = step.content
            && let left = most - (sector - first) % most
            && left < u64::from(step.request.sectors)
        {
            let behind = self.places.len() as u32;
            for place in step.others.clone() {
                let Place { member, sector } = self.places[place as usize];
                self.places.push(Place { member, sector: sector + left });
            }
            let mut rest = step.clone();
            rest.content = Content::Data(sector + left);
            rest.others = behind..self.places.len() as u32;
            rest.request.sector += left;
            rest.request.sectors -= left as u32;
            step.request.sectors = left as u32;
            parts.push(std::mem::replace(&mut step, rest));
        }
        parts.push(step);
    }

    /// Adds another plan, stage by stage, so that the two run side by side.
    pub(crate) fn merge(&mut self, other: &Plan) {
        let first = self.places.len() as u32;
        self.places.extend_from_slice(&other.places);
        let (mut steps, mut stage_ends) = (Vec::new(), Vec::new());
        for stage in 0..self.stages().max(other.stages()) {
            if stage < self.stages() {
                steps.extend_from_slice(self.stage(stage));
            }
            if stage < other.stages() {
                steps.extend(other.stage(stage).iter().map(|step| {
                    let others = step.others.start + first..step.others.end + first;
                    Step { others, ..step.clone() }
                }));
            }
            stage_ends.push(steps.len() as u32);
        }
        (self.steps, self.stage_ends) = (steps, stage_ends);
        self.rows.extend_from_slice(&other.rows);
        self.rows.sort_unstable();
        self.rows.dedup();
    }

    /// Ends the stage being written. An empty stage is dropped.
    pub fn end_stage(&mut self) {
        let end = self.steps.len() as u32;
        if self.stage_ends.last().copied().unwrap_or(0) < end {
            self.stage_ends.push(end);
        }
    }

    /// Locks `row` until the request is done: other requests that lock it wait.
    pub fn lock_row(&mut self, row: u64) {
        let last = self.rows.last();
        assert!(last.is_none_or(|&last| last <= row), "rows are locked in ascending order");
        if last != Some(&row) {
            self.rows.push(row);
        }
    }

    /// How many stages there are.
    pub fn stages(&self) -> usize {
        self.stage_ends.len()
    }

    /// The steps of stage `index`.
    pub fn stage(&self, index: usize) -> &[Step] {
        &self.steps[self.stage_range(index)]
    }

    /// Which of all steps are those of stage `index`.
    #[inline]
    pub fn stage_range(&self, index: usize) -> Range<usize> {
        self.stage_start(index)..self.stage_ends[index] as usize
    }

    /// The index of the first step of stage `index` among all steps.
    pub fn stage_start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.stage_ends[index - 1] as usize }
    }

    /// All steps of all stages.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The copies besides `step.request` that could serve it.
    pub fn others(&self, step: &Step) -> &[Place] {
        &self.places[step.others.start as usize..step.others.end as usize]
    }

    /// All copies that could serve `step`, that of `step.request` first.
    pub fn copies(&self, step: &Step) -> impl Iterator<Item = Place> + '_ {
        let first = Place { member: step.request.target, sector: step.request.sector };
        std::iter::once(first).chain(self.others(step).iter().copied())
    }

    /// The request of `step` to the copy with the least `cost`; the first of equals.
    pub fn choose<K: Ord>(&self, step: &Step, cost: impl Fn(Place) -> K) -> Request {
        if self.others(step).is_empty() {
            return step.request;
        }
        let best = self.copies(step).min_by_key(|&copy| cost(copy)).expect("there is the first");
        Request { sector: best.sector, ..step.request.to(best.member) }
    }

    /// The rows that the request locks, in the order in which it must take them (ascending).
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }
}

/// Which members are up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    down: Vec<bool>,
    failures: usize,
}

impl Health {
    /// `members` members, all of them up.
    pub fn all_up(members: usize) -> Self {
        Health { down: vec![false; members], failures: 0 }
    }

    /// Whether `member` serves requests.
    pub fn is_up(&self, member: u32) -> bool {
        !self.down[member as usize]
    }

    /// Takes `member` out of service.
    pub fn fail(&mut self, member: u32) {
        self.set(member, true);
    }

    /// Puts `member` back into service.
    pub fn restore(&mut self, member: u32) {
        self.set(member, false);
    }

    fn set(&mut self, member: u32, down: bool) {
        let was = std::mem::replace(&mut self.down[member as usize], down);
        self.failures = self.failures + usize::from(down) - usize::from(was);
    }

    /// How many members are down.
    pub fn failures(&self) -> usize {
        self.failures
    }
}

/// The request needs a member that is down, and the other members cannot replace it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unservable {
    /// The member that is needed.
    pub member: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bios::Rests;

    #[test]
    fn stages_hold_their_steps_and_no_empty_stage_counts() {
        let mut plan = Plan::new();
        plan.end_stage();
        assert_eq!(plan.stages(), 0);
        plan.step(Op::Read, Place { member: 0, sector: 1 }, 2, Content::Data(0));
        plan.step_any_of(
            Op::Read,
            &[Place { member: 1, sector: 3 }, Place { member: 2, sector: 4 }],
            5,
            Content::Data(2),
        );
        plan.end_stage();
        plan.end_stage();
        plan.step(Op::WRITE, Place { member: 0, sector: 1 }, 2, Content::P(0));
        plan.end_stage();
        assert_eq!((plan.stages(), plan.stage(0).len(), plan.stage(1).len()), (2, 2, 1));
        assert_eq!(plan.others(&plan.stage(0)[0]), []);
        assert_eq!(plan.others(&plan.stage(0)[1]), [Place { member: 2, sector: 4 }]);
        let chosen = plan.choose(&plan.stage(0)[1], |copy| copy.member != 2);
        assert_eq!((chosen.target, chosen.sector), (2, 4));
        assert_eq!(plan.choose(&plan.stage(0)[1], |_| 0), plan.stage(0)[1].request);
        plan.clear();
        assert_eq!((plan.stages(), plan.steps().len()), (0, 0));
    }

    #[test]
    fn each_bio_has_its_own_choice_and_what_is_left_of_one_comes_last() {
        let mut plan = Plan::new();
        // Sectors 10 to 130 of two chunks, in bios of 50: up to 60, 110 and 130.
        plan.step(Op::Read, Place { member: 3, sector: 0 }, 90, Content::Data(10));
        let copies = [Place { member: 0, sector: 500 }, Place { member: 1, sector: 700 }];
        plan.step_any_of(Op::Read, &copies, 30, Content::Data(100));
        plan.end_stage();
        plan.cut_into_bios(10, Cut { bio_sectors: 50, rests: Rests::Anew });
        let part = |step: &Step| (step.request.sector, step.request.sectors, step.content);
        let parts: Vec<_> = plan.stage(0).iter().map(part).collect();
        let expected = [
            (0, 50, Content::Data(10)),
            (50, 40, Content::Data(60)),
            (510, 20, Content::Data(110)),
            (500, 10, Content::Data(100)),
        ];
        assert_eq!(parts, expected);
        let others: Vec<&[Place]> = plan.stage(0).iter().map(|step| plan.others(step)).collect();
        let [later, sooner] = [710, 700].map(|sector| [Place { member: 1, sector }]);
        assert_eq!(others, [&[][..], &[], &later, &sooner]);
        assert_eq!((plan.stages(), plan.steps().len()), (1, 4));
    }

    #[test]
    fn copies_of_a_piece_are_written_together() {
        let mut plan = Plan::new();
        // Sectors 0 to 90 of two chunks, each on two members, in bios of 50.
        for (member, sector) in [(0, 0), (1, 0)] {
            plan.step(Op::WRITE, Place { member, sector }, 40, Content::Data(0));
        }
        for (member, sector) in [(2, 0), (3, 0)] {
            plan.step(Op::WRITE, Place { member, sector }, 50, Content::Data(40));
        }
        plan.end_stage();
        plan.cut_into_bios(0, Cut { bio_sectors: 50, rests: Rests::Anew });
        let part = |step: &Step| (step.request.target, step.request.sector, step.request.sectors);
        let parts: Vec<_> = plan.stage(0).iter().map(part).collect();
        let expected = [(0, 0, 40), (1, 0, 40), (2, 10, 40), (3, 10, 40), (2, 0, 10), (3, 0, 10)];
        assert_eq!(parts, expected);
    }

    #[test]
    fn a_row_is_locked_once() {
        let mut plan = Plan::new();
        for row in [4, 4, 5] {
            plan.lock_row(row);
        }
        assert_eq!(plan.rows(), [4, 5]);
    }

    #[test]
    fn flush_leaves_out_members_that_are_down() {
        let mut health = Health::all_up(3);
        health.fail(1);
        health.fail(1);
        let mut plan = Plan::new();
        plan.flush_all(3, &health);
        let members: Vec<u32> = plan.steps().iter().map(|step| step.request.target).collect();
        assert_eq!((members.as_slice(), health.failures()), ([0, 2].as_slice(), 1));
        health.restore(1);
        assert!(health.is_up(1) && health.failures() == 0);
    }
}
