//! Carries plans out on bytes.

use super::field::{inverse, power, times};
use block::layout::Layout;
use block::{Content, Health, Op, Place, Plan, Request, Step};
use std::collections::BTreeMap;

/// Numbers that look random and are the same in every run (`SplitMix64`).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn bytes(&mut self, count: u32) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
}

/// What the reads of a plan brought.
#[derive(Default)]
struct Known {
    data: BTreeMap<u64, u8>,
    p: BTreeMap<u64, u8>,
    q: BTreeMap<u64, u8>,
}

/// A volume of one byte a sector, and what it should hold.
pub(crate) struct Volume<'a> {
    layout: &'a dyn Layout,
    pub(crate) members: Vec<Vec<u8>>,
    health: Health,
    expected: Vec<u8>,
    plan: Plan,
}

impl<'a> Volume<'a> {
    pub(crate) fn new(layout: &'a dyn Layout, member_sectors: &[u64]) -> Self {
        Volume {
            layout,
            members: member_sectors.iter().map(|&sectors| vec![0; sectors as usize]).collect(),
            health: Health::all_up(layout.members()),
            expected: vec![0; layout.sectors() as usize],
            plan: Plan::new(),
        }
    }

    /// Carries out one request and compares or remembers the data.
    pub(crate) fn execute(&mut self, request: Request, random: &mut Random) {
        let mut plan = std::mem::take(&mut self.plan);
        self.layout.plan(request, &self.health, &mut plan).expect("the volume survives this");
        let range = request.sector as usize..request.end() as usize;
        let new = match request.op {
            Op::Write { .. } => random.bytes(request.sectors),
            _ => vec![0; request.sectors as usize],
        };
        let known = self.run(&plan, Some((request, &new)), random);
        match request.op {
            Op::Read => {
                let read: Vec<u8> = (request.sector..request.end())
                    .map(|sector| known.data.get(&sector).copied())
                    .enumerate()
                    .map(|(index, byte)| {
                        byte.unwrap_or_else(|| self.work_out(&known, request.sector + index as u64))
                    })
                    .collect();
                assert_eq!(read, self.expected[range], "{request:?}, {:?}: {plan:?}", self.health);
            }
            // Whether a discard came to anything is for the layout to say.
            Op::Discard => {
                for step in plan.steps() {
                    if let Content::Data(sector) = step.content {
                        let end = sector as usize + step.request.sectors as usize;
                        self.expected[sector as usize..end].fill(0);
                    }
                }
            }
            _ => self.expected[range].copy_from_slice(&new),
        }
        self.plan = plan;
    }

    /// Carries out the steps in their stages.
    fn run(&mut self, plan: &Plan, new: Option<(Request, &[u8])>, random: &mut Random) -> Known {
        let mut known = Known::default();
        for stage in 0..plan.stages() {
            self.run_stage(plan, stage, new, &mut known, random);
        }
        known
    }

    /// Carries out the steps of one stage in any order.
    fn run_stage(
        &mut self,
        plan: &Plan,
        stage: usize,
        new: Option<(Request, &[u8])>,
        known: &mut Known,
        random: &mut Random,
    ) {
        let mut steps: Vec<&Step> = plan.stage(stage).iter().collect();
        while !steps.is_empty() {
            let step = steps.swap_remove(random.below(steps.len() as u64) as usize);
            if step.request.op == Op::Read {
                self.read(plan, step, known, random);
            } else {
                self.write(step, known, new);
            }
        }
    }

    /// Carries out a write in one of whose stages `member` fails: that stage still ends, with
    /// nonsense on the member, and then the request is planned again.
    pub(crate) fn write_while_failing(
        &mut self,
        request: Request,
        member: u32,
        random: &mut Random,
    ) {
        let mut plan = Plan::new();
        self.layout.plan(request, &self.health, &mut plan).unwrap();
        let bytes = random.bytes(request.sectors);
        let new = Some((request, bytes.as_slice()));
        let mut known = Known::default();
        for stage in 0..=random.below(plan.stages() as u64) as usize {
            self.run_stage(&plan, stage, new, &mut known, random);
        }
        self.fail(member, random);
        self.layout.plan(request, &self.health, &mut plan).unwrap();
        self.run(&plan, new, random);
        self.expected[request.sector as usize..request.end() as usize].copy_from_slice(&bytes);
    }

    fn read(&self, plan: &Plan, step: &Step, known: &mut Known, random: &mut Random) {
        let own = Place { member: step.request.target, sector: step.request.sector };
        let others = plan.others(step);
        let place = match random.below(others.len() as u64 + 1) as usize {
            0 => own,
            nth => others[nth - 1],
        };
        assert!(self.health.is_up(place.member), "a plan reads only what is up");
        let (known, start) = match step.content {
            Content::Data(start) => (&mut known.data, start),
            Content::P(start) => (&mut known.p, start),
            Content::Q(start) => (&mut known.q, start),
        };
        for nth in 0..u64::from(step.request.sectors) {
            let byte = self.members[place.member as usize][(place.sector + nth) as usize];
            assert_eq!(known.insert(start + nth, byte), None, "nothing is read twice");
        }
    }

    fn write(&mut self, step: &Step, known: &Known, new: Option<(Request, &[u8])>) {
        let fresh = |sector: u64| {
            let (request, bytes) = new?;
            let inside = (request.sector..request.end()).contains(&sector);
            inside.then(|| bytes[(sector - request.sector) as usize])
        };
        for nth in 0..u64::from(step.request.sectors) {
            let byte = match step.content {
                _ if step.request.op == Op::Discard => 0,
                Content::Data(start) => fresh(start + nth).unwrap_or_else(|| {
                    known.data.get(&(start + nth)).copied().unwrap_or_else(|| {
                        assert!(new.is_none(), "a write stays within its request");
                        self.work_out(known, start + nth)
                    })
                }),
                Content::P(start) => self.parity_of(known, start + nth, false, fresh),
                Content::Q(start) => self.parity_of(known, start + nth, true, fresh),
            };
            let place = (step.request.target as usize, (step.request.sector + nth) as usize);
            self.members[place.0][place.1] = byte;
        }
    }

    /// The sectors of a column and by what Q weighs each.
    fn column(&self, first: u64) -> Vec<(u64, u8)> {
        let parity = self.layout.parity().expect("only parity has columns");
        let interleave = parity.interleave_sectors();
        let units = parity.data_units();
        let row = first / (u64::from(units) * interleave);
        let weighed =
            |unit| (first + u64::from(unit) * interleave, power(parity.exponent(row, unit)));
        (0..units).map(weighed).collect()
    }

    /// The new parity of a column, by reconstruction, modification or from what parity tells.
    fn parity_of(
        &self,
        known: &Known,
        first: u64,
        is_q: bool,
        fresh: impl Fn(u64) -> Option<u8>,
    ) -> u8 {
        let column = self.column(first);
        let weight = |weight: u8| if is_q { weight } else { 1 };
        let new = |sector: u64| fresh(sector).or_else(|| known.data.get(&sector).copied());
        if let Some(bytes) = column.iter().map(|&(s, _)| new(s)).collect::<Option<Vec<u8>>>() {
            let terms = column.iter().zip(bytes).map(|(&(_, w), byte)| times(weight(w), byte));
            return terms.fold(0, |sum, term| sum ^ term);
        }
        let old_parity = if is_q { known.q.get(&first) } else { known.p.get(&first) };
        let change = |&(sector, w): &(u64, u8)| match fresh(sector) {
            Some(byte) => known.data.get(&sector).map(|old| times(weight(w), byte ^ old)),
            None => Some(0),
        };
        let changes = column.iter().map(change).collect::<Option<Vec<u8>>>();
        if let (Some(&old), Some(changes)) = (old_parity, changes) {
            return changes.into_iter().fold(old, |sum, change| sum ^ change);
        }
        let solved = self.solve(known, first);
        let terms =
            solved.iter().map(|&(sector, w, old)| times(weight(w), fresh(sector).unwrap_or(old)));
        terms.fold(0, |sum, term| sum ^ term)
    }

    /// The old content of a sector that no step read.
    fn work_out(&self, known: &Known, sector: u64) -> u8 {
        let parity = self.layout.parity().expect("only parity tells what was not read");
        let interleave = parity.interleave_sectors();
        let row_sectors = interleave * u64::from(parity.data_units());
        let first = sector / row_sectors * row_sectors + sector % interleave;
        let solved = self.solve(known, first);
        solved.iter().find(|solved| solved.0 == sector).expect("it is in its own column").2
    }

    /// All of a column's old content: sector, weight, byte.
    fn solve(&self, known: &Known, first: u64) -> Vec<(u64, u8, u8)> {
        let column = self.column(first);
        let old = |sector: u64| known.data.get(&sector).copied();
        let sum = |weigh: &dyn Fn(u8) -> u8| {
            let terms = column.iter().map(|&(s, w)| times(weigh(w), old(s).unwrap_or(0)));
            terms.fold(0, |sum, term| sum ^ term)
        };
        let p_rest = known.p.get(&first).map(|p| p ^ sum(&|_| 1));
        let q_rest = known.q.get(&first).map(|q| q ^ sum(&|w| w));
        let unknown: Vec<(u64, u8)> =
            column.iter().copied().filter(|&(s, _)| old(s).is_none()).collect();
        let found = match (unknown.as_slice(), p_rest, q_rest) {
            ([], _, _) => vec![],
            (&[(a, _)], Some(p), _) => vec![(a, p)],
            (&[(a, weight)], None, Some(q)) => vec![(a, times(q, inverse(weight)))],
            (&[(a, wa), (b, wb)], Some(p), Some(q)) => {
                // a + b = p and wa a + wb b = q.
                let byte_a = times(q ^ times(wb, p), inverse(wa ^ wb));
                vec![(a, byte_a), (b, p ^ byte_a)]
            }
            _ => panic!("the plan read too little to tell {unknown:?}: {:?}", self.health),
        };
        let byte = |sector: u64| {
            old(sector).or_else(|| found.iter().find(|found| found.0 == sector).map(|f| f.1))
        };
        column.iter().map(|&(s, w)| (s, w, byte(s).expect("all are found"))).collect()
    }

    pub(crate) fn write_all(&mut self, random: &mut Random) {
        self.execute(Request::write(0, self.expected.len() as u32), random);
    }

    pub(crate) fn read_all(&mut self, random: &mut Random) {
        self.execute(Request::read(0, self.expected.len() as u32), random);
        for sector in 0..self.expected.len() as u64 {
            self.execute(Request::read(sector, 1), random);
        }
    }

    /// A write of some sectors somewhere.
    pub(crate) fn random_request(&self, random: &mut Random) -> Request {
        let sectors = self.expected.len() as u64;
        let sector = random.below(sectors);
        Request::write(sector, 1 + random.below((sectors - sector).min(50)) as u32)
    }

    /// So many random requests, half of them writes.
    pub(crate) fn churn(&mut self, requests: usize, random: &mut Random) {
        for _ in 0..requests {
            let write = self.random_request(random);
            let op = if random.below(2) == 0 { Op::Read } else { write.op };
            self.execute(Request { op, ..write }, random);
        }
    }

    /// Takes a member out of service, and its content with it.
    pub(crate) fn fail(&mut self, member: u32, random: &mut Random) {
        self.scramble(member, random);
        self.health.fail(member);
    }

    /// Puts nonsense on a member.
    pub(crate) fn scramble(&mut self, member: u32, random: &mut Random) {
        let bytes = &mut self.members[member as usize];
        *bytes = random.bytes(bytes.len() as u32);
    }

    /// Restores a member in pieces of odd sizes and puts it back into service.
    pub(crate) fn rebuild(&mut self, member: u32, random: &mut Random) {
        let end = self.members[member as usize].len() as u64;
        let mut plan = std::mem::take(&mut self.plan);
        let mut sector = 0;
        while sector < end {
            let sectors = (1 + random.below(11)).min(end - sector);
            let lost = Place { member, sector };
            self.layout.rebuild(lost, sectors as u32, &self.health, &mut plan).unwrap();
            let writes = plan.steps().iter().filter(|step| step.request.op != Op::Read);
            for step in writes {
                assert_eq!(step.request.target, member, "a rebuild writes only what was lost");
                assert!(step.request.sector >= sector && step.request.end() <= sector + sectors);
            }
            self.run(&plan, None, random);
            sector += sectors;
        }
        self.plan = plan;
        self.health.restore(member);
    }

    /// Every row's P and Q are what its data makes them.
    pub(crate) fn check_parity(&self) {
        let Some(parity) = self.layout.parity() else { return };
        let row_sectors = parity.interleave_sectors() * u64::from(parity.data_units());
        for row in 0..parity.rows() {
            let (p, q) = self.layout.row_parity(row).unwrap();
            for offset in 0..parity.interleave_sectors() {
                let column = self.column(row * row_sectors + offset);
                let byte = |sector: u64| self.expected[sector as usize];
                let at = |place: Place| {
                    self.members[place.member as usize][(place.sector + offset) as usize]
                };
                let sum_p = column.iter().fold(0, |sum, &(s, _)| sum ^ byte(s));
                let sum_q = column.iter().fold(0, |sum, &(s, w)| sum ^ times(w, byte(s)));
                assert_eq!(at(p), sum_p, "P of row {row}");
                q.inspect(|&q| assert_eq!(at(q), sum_q, "Q of row {row}"));
            }
        }
    }
}
