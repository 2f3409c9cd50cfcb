//! Carries plans out on bytes.

use block::layout::{Layout, Rows};
use block::payload::field::{power, times};
use block::{Content, Health, Op, Payload, Place, Plan, Request};

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

/// A volume of one byte a sector, and what it should hold.
pub(crate) struct Volume<'a> {
    layout: &'a dyn Layout,
    pub(crate) members: Vec<Vec<u8>>,
    health: Health,
    expected: Vec<u8>,
    plan: Plan,
    payload: Payload,
    buffer: Vec<u8>,
}

impl<'a> Volume<'a> {
    pub(crate) fn new(layout: &'a dyn Layout, member_sectors: &[u64]) -> Self {
        Volume {
            layout,
            members: member_sectors.iter().map(|&sectors| vec![0; sectors as usize]).collect(),
            health: Health::all_up(layout.members()),
            expected: vec![0; layout.sectors() as usize],
            plan: Plan::new(),
            payload: Payload::default(),
            buffer: Vec::new(),
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
        self.lay_out(Some(request), &plan, &new);
        self.run(&plan, plan.stages(), random);
        match request.op {
            Op::Read => {
                self.payload.after_read(self.layout, &mut self.buffer);
                let read = &self.buffer[self.payload.own()];
                assert!(read == &self.expected[range], "{request:?}, {:?}: {plan:?}", self.health);
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

    /// Deals out a buffer full of nonsense to a plan that writes `new`.
    fn lay_out(&mut self, request: Option<Request>, plan: &Plan, new: &[u8]) {
        self.payload.lay_out(request, plan, 1);
        self.buffer.clear();
        self.buffer.resize(self.payload.len(), 0x55);
        if request.is_some_and(|request| request.op != Op::Read && request.op != Op::Discard) {
            self.buffer[self.payload.own()].copy_from_slice(new);
        }
    }

    /// Carries out the steps of the first `stages` stages, those of a stage in any order.
    fn run(&mut self, plan: &Plan, stages: usize, random: &mut Random) {
        for stage in 0..stages {
            let first = plan.stage_start(stage);
            let mut steps: Vec<usize> = (first..first + plan.stage(stage).len()).collect();
            self.payload.before_stage(self.layout, first..first + steps.len(), &mut self.buffer);
            while !steps.is_empty() {
                let index = steps.swap_remove(random.below(steps.len() as u64) as usize);
                self.carry_out(plan, index, random);
            }
        }
    }

    /// Carries out one step, on any of its copies.
    fn carry_out(&mut self, plan: &Plan, index: usize, random: &mut Random) {
        let step = &plan.steps()[index];
        let Request { target, op, sector, sectors } = step.request;
        let others = plan.others(step);
        let place = match random.below(others.len() as u64 + 1) as usize {
            0 => Place { member: target, sector },
            nth => others[nth - 1],
        };
        assert!(op != Op::Read || self.health.is_up(place.member), "a plan reads only what is up");
        let there = place.sector as usize..place.sector as usize + sectors as usize;
        let member = &mut self.members[place.member as usize][there];
        let buffer = &mut self.buffer[self.payload.part(index, sectors)];
        match op {
            Op::Read => buffer.copy_from_slice(member),
            Op::Write { .. } | Op::Zeroes => member.copy_from_slice(buffer),
            Op::Discard => member.fill(0),
            Op::Flush => {}
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
        self.lay_out(Some(request), &plan, &bytes);
        let ended = 1 + random.below(plan.stages() as u64) as usize;
        self.run(&plan, ended, random);
        self.fail(member, random);
        self.layout.plan(request, &self.health, &mut plan).unwrap();
        self.lay_out(Some(request), &plan, &bytes);
        self.run(&plan, plan.stages(), random);
        self.expected[request.sector as usize..request.end() as usize].copy_from_slice(&bytes);
    }

    /// The sectors of a column and by what Q weighs each.
    fn column(&self, first: u64) -> Vec<(u64, u8)> {
        let rows = self.layout.rows_at(first).expect("only parity has columns");
        let (parity, row) = (rows.parity, rows.row_of(first).0);
        let (interleave, units) = (parity.interleave_sectors(), parity.data_units());
        let weighed =
            |unit| (first + u64::from(unit) * interleave, power(parity.exponent(row, unit)));
        (0..units).map(weighed).collect()
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
            self.lay_out(None, &plan, &[]);
            self.run(&plan, plan.stages(), random);
            sector += sectors;
        }
        self.plan = plan;
        self.health.restore(member);
    }

    /// Every row's P and Q are what its data makes them.
    pub(crate) fn check_parity(&self) {
        let (mut sector, end) = (0, self.expected.len() as u64);
        while let Some(rows) = self.layout.rows_at(sector).filter(|_| sector < end) {
            self.check_rows(&rows);
            let units = u64::from(rows.parity.data_units());
            sector += rows.parity.rows() * units * rows.parity.interleave_sectors();
        }
    }

    fn check_rows(&self, rows: &Rows) {
        let parity = rows.parity;
        let row_sectors = parity.interleave_sectors() * u64::from(parity.data_units());
        for row in 0..parity.rows() {
            let (p, q) = self.layout.row_parity(rows.first_row + row).unwrap();
            for offset in 0..parity.interleave_sectors() {
                let column = self.column(rows.first_sector + row * row_sectors + offset);
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
