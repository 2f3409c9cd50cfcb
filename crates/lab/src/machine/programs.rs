//! Programs that send direct requests to flash drives: how many there are, how long a request takes the processor of each, and
//! the locks of the drives' schedulers, which one of them holds at a time while the others spin.

use super::linux;
use crate::experiment::{Member, Setup, Trial};
use crate::workload::Requests;
use block::{Op, Request};
use sim::linux::queue::Scheduler;
use sim::{Device, Nanos, Programs, Turn};
use std::cell::Cell;
use std::rc::Rc;

/// Programs whose processors are counted, and what their requests took.
#[derive(Clone, Debug)]
pub struct Sending {
    programs: u64,
    took: Rc<Cell<Took>>,
}

/// What so many requests took together, in ns.
#[derive(Clone, Copy, Debug, Default)]
struct Took {
    requests: u64,
    busy_ns: Nanos,
    waits_ns: Nanos,
}

impl Sending {
    /// The share of the time that the processor of each is busy, at so many requests a second, and the part of it in which it
    /// waits for locks.
    pub fn busy(&self, requests_per_s: f64) -> [f64; 2] {
        let Took { requests, busy_ns, waits_ns } = self.took.get();
        let share = |ns: Nanos| {
            requests_per_s * ns as f64 / 1e9 / requests.max(1) as f64 / self.programs as f64
        };
        [share(busy_ns), share(waits_ns)]
    }
}

/// The `device` of `trial` as its programs reach it, and these where they are counted.
pub fn for_programs(trial: &Trial, device: Box<dyn Device>) -> (Box<dyn Device>, Option<Sending>) {
    let Some(programs) = programs(trial) else { return (device, None) };
    let sending = Sending { programs, took: Rc::default() };
    let (mut costs, all) = (Costs::of(&trial.setup), sending.took.clone());
    let cost = move |begins: Nanos, request: &Request| {
        let turn = costs.of_request(begins, request);
        let mut took = all.get();
        took.requests += 1;
        took.busy_ns += turn.busy_ns;
        took.waits_ns += turn.waits_ns;
        all.set(took);
        turn
    };
    (Programs::new(device, programs as usize, Box::new(cost)).into(), Some(sending))
}

/// How many programs send direct requests of `trial` as fast as they can, where their processors may decide: disks are slower.
fn programs(trial: &Trial) -> Option<u64> {
    let setup = &trial.setup;
    let host = &setup.host;
    let costs = host.program_request_ns + host.scheduler_command_ns + host.scheduler_locked_ns > 0;
    let is_fast = setup.volume.members.iter().any(|member| !member.is_rotational());
    let send = |work: &Requests| work.keys.direct && !work.is_open();
    let all = costs && is_fast && trial.trace().is_none() && trial.requests().all(send);
    let programs: u64 = trial.requests().map(|work| work.keys.jobs * work.keys.programs).sum();
    (all && programs > 0).then_some(programs)
}

/// What requests cost a program, and into how many commands a volume cuts them.
struct Costs {
    request_ns: Nanos,
    /// Added to the time that a request takes, beside the drive's.
    way_ns: Nanos,
    /// For each command beyond the first.
    command_ns: Nanos,
    interleave_sectors: u64,
    /// After so many sectors the next member, or with copies the next of their groups, begins.
    next_sectors: u64,
    members: u64,
    /// Copies of a chunk, each on a member of its own.
    copies: u64,
    /// Whether md's thread sends what is written.
    has_thread: bool,
    /// Whether pieces of a read that are neighbours on a member become one command: only a scheduler holds them back
    /// (`__blkdev_direct_IO`, docs/md.md).
    are_merged: bool,
    /// What a scheduler takes for each command; none where there is none, or disks have it.
    scheduler: Option<SchedulerCosts>,
    requests: u64,
}

/// What the scheduler of each member takes.
struct SchedulerCosts {
    /// Of the program, for a command.
    command_ns: Nanos,
    /// Of that and of the rest, under the member's lock.
    locked_ns: Nanos,
    /// When the lock of each member is free.
    free_at: Vec<Nanos>,
}

impl Costs {
    fn of(setup: &Setup) -> Self {
        let (host, volume) = (&setup.host, &setup.volume);
        let level = &volume.level;
        let members = volume.members.len();
        let interleave_sectors =
            if level.interleaved() { volume.interleave_sectors } else { u64::MAX };
        let has_thread = level.has_stripe_cache() || level.nested().is_some();
        let copies = if has_thread { 1 } else { 1 + level.losses_survived(members) as u64 };
        let is_concatenation = !level.interleaved() && copies == 1;
        let all_sectors: u64 =
            volume.members.iter().map(|member| member.sectors().unwrap_or(0)).sum();
        let member_sectors = (all_sectors / members.max(1) as u64).max(1);
        let are_merged = linux::scheduler(volume) != Scheduler::None;
        let are_flash = !volume.members.iter().any(Member::is_rotational);
        let scheduler = (are_merged && are_flash).then(|| SchedulerCosts {
            command_ns: host.scheduler_command_ns,
            locked_ns: host.scheduler_locked_ns,
            free_at: vec![0; members],
        });
        Costs {
            request_ns: host.program_request_ns,
            way_ns: host.program_way_ns.max(0) as Nanos,
            command_ns: host.program_command_ns,
            interleave_sectors,
            next_sectors: if is_concatenation { member_sectors } else { interleave_sectors },
            members: members as u64,
            copies,
            has_thread,
            are_merged,
            scheduler,
            requests: 0,
        }
    }

    /// The request, each command beyond the first, and the scheduler of each. Chunks of 4 KiB on four drives without one: 128
    /// KiB are 32 commands where they are read and 4 where they are written.
    fn of_request(&mut self, begins: Nanos, request: &Request) -> Turn {
        let commands = self.commands(request);
        let mut turn = Turn { waits_ns: 0, busy_ns: self.request_ns, way_ns: self.way_ns };
        // Copies take turns; md chooses among them by more than that.
        let first = request.sector / self.next_sectors * self.copies + self.requests % self.copies;
        self.requests += 1;
        for command in 0..commands {
            let more_ns = if command == 0 { 0 } else { self.command_ns };
            turn.busy_ns += more_ns;
            let Some(scheduler) = &mut self.scheduler else { continue };
            let member = ((first + command) % self.members) as usize;
            let since_ns = if command == 0 { self.request_ns } else { self.command_ns };
            scheduler.pass(begins, &mut turn, member, since_ns);
        }
        turn
    }

    /// Commands that a program sends for a request.
    fn commands(&self, request: &Request) -> u64 {
        let chunks = if request.sectors == 0 {
            1
        } else {
            (request.end() - 1) / self.interleave_sectors - request.sector / self.interleave_sectors
                + 1
        };
        match request.op {
            Op::Read if !self.are_merged => chunks,
            Op::Read => chunks.min(self.members),
            _ if self.has_thread => 0,
            _ => (chunks * self.copies).min(self.members),
        }
    }
}

impl SchedulerCosts {
    /// Takes a command past the lock of this member, which takes the program `since_ns` without a scheduler; what is done under
    /// the lock is the end of all that it takes. Two programs at once on one drive, 3 us a command, 2 of them under its lock:
    ///
    /// ```text
    /// one     1 own, 2 locked
    /// other   1 own, 2 waits, 2 locked: its request goes to the drive 2 us later
    /// ```
    ///
    /// A request of many commands has its turn at all their locks when it begins: another that comes to one of them before it
    /// waits all the same.
    fn pass(&mut self, begins: Nanos, turn: &mut Turn, member: usize, since_ns: Nanos) {
        let locked_ns = self.locked_ns.min(since_ns + self.command_ns);
        turn.busy_ns += self.command_ns;
        let comes_at = begins + turn.busy_ns - locked_ns;
        let waits_ns = self.free_at[member].saturating_sub(comes_at);
        turn.waits_ns += waits_ns;
        turn.busy_ns += waits_ns;
        self.free_at[member] = begins + turn.busy_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripe() -> Costs {
        Costs {
            request_ns: 3000,
            way_ns: 0,
            command_ns: 1000,
            interleave_sectors: 8,
            next_sectors: 8,
            members: 4,
            copies: 1,
            has_thread: false,
            are_merged: false,
            scheduler: None,
            requests: 0,
        }
    }

    fn busy_ns(costs: Costs, request: Request) -> Nanos {
        let mut costs = costs;
        costs.of_request(0, &request).busy_ns
    }

    #[test]
    fn the_example_is_as_told() {
        assert_eq!(busy_ns(stripe(), Request::read(0, 256)), 3000 + 31 * 1000);
        assert_eq!(busy_ns(stripe(), Request::write(0, 256)), 3000 + 3 * 1000);
        assert_eq!(busy_ns(stripe(), Request::read(4, 8)), 3000 + 1000, "two chunks in part");
        assert_eq!(busy_ns(stripe(), Request::flush()), 3000);
        let mirror = || Costs {
            interleave_sectors: u64::MAX,
            next_sectors: u64::MAX,
            members: 2,
            copies: 2,
            ..stripe()
        };
        assert_eq!(busy_ns(mirror(), Request::read(0, 256)), 3000);
        assert_eq!(busy_ns(mirror(), Request::write(0, 256)), 3000 + 1000);
        let parity = Costs { has_thread: true, ..stripe() };
        assert_eq!(busy_ns(parity, Request::write(0, 256)), 3000, "the thread sends them");
    }

    #[test]
    fn who_comes_while_a_scheduler_is_locked_spins() {
        let scheduled = || {
            let free_at = vec![0; 4];
            let scheduler = SchedulerCosts { command_ns: 500, locked_ns: 2000, free_at };
            Costs { are_merged: true, scheduler: Some(scheduler), ..stripe() }
        };
        let turn = |waits_ns, busy_ns| Turn { waits_ns, busy_ns, way_ns: 0 };
        let mut costs = scheduled();
        let [here, there] = [Request::read(0, 8), Request::read(8, 8)];
        assert_eq!(costs.of_request(0, &here), turn(0, 3500));
        assert_eq!(costs.of_request(0, &here), turn(2000, 5500), "after the first");
        assert_eq!(costs.of_request(0, &there), turn(0, 3500), "another drive");
        assert_eq!(costs.of_request(9000, &here), turn(0, 3500), "it is free again");
        // Four commands, one for each drive: all that one takes after the first is under its lock.
        assert_eq!(scheduled().of_request(0, &Request::read(0, 256)), turn(0, 3500 + 3 * 1500));
        let mut joined = Costs { next_sectors: 1000, ..scheduled() };
        assert_eq!(joined.of_request(0, &Request::read(0, 8)), turn(0, 3500));
        assert_eq!(joined.of_request(0, &Request::read(1000, 8)), turn(0, 3500), "the next drive");
    }
}
