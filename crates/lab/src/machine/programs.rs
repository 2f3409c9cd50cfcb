//! Programs that send direct requests to flash drives: how many there are, and how long a request takes the processor of each.

use super::linux;
use crate::experiment::{Setup, Trial, Volume};
use crate::workload::Requests;
use block::Request;
use sim::linux::queue::Scheduler;
use sim::{Device, Nanos, Programs};
use std::cell::Cell;
use std::rc::Rc;

/// Programs whose processors are counted, and how long their requests took.
#[derive(Clone, Debug)]
pub struct Sending {
    programs: u64,
    /// All of them, in ns, and their number.
    took: Rc<Cell<(Nanos, u64)>>,
}

impl Sending {
    /// The share of the time that the processor of each is busy, at so many requests a second.
    pub fn busy(&self, requests_per_s: f64) -> f64 {
        let (took_ns, requests) = self.took.get();
        requests_per_s * took_ns as f64 / 1e9 / requests.max(1) as f64 / self.programs as f64
    }
}

/// The `device` of `trial` as its programs reach it, and these where they are counted.
pub fn for_programs(trial: &Trial, device: Box<dyn Device>) -> (Box<dyn Device>, Option<Sending>) {
    let Some(programs) = programs(trial) else { return (device, None) };
    let sending = Sending { programs, took: Rc::default() };
    let (costs, took) = (Costs::of(&trial.setup), sending.took.clone());
    let cost = move |request: &Request| {
        let request_ns = costs.of_request(request);
        let (took_ns, requests) = took.get();
        took.set((took_ns + request_ns, requests + 1));
        request_ns
    };
    (Programs::new(device, programs as usize, Box::new(cost)).into(), Some(sending))
}

/// How many programs send direct requests of `trial` as fast as they can, where their processors may decide: disks are slower.
fn programs(trial: &Trial) -> Option<u64> {
    let setup = &trial.setup;
    let costs = setup.host.program_request_ns > 0;
    let is_fast = setup.volume.members.iter().any(|member| !member.is_rotational());
    let send = |work: &Requests| work.keys.direct && !work.is_open();
    let all = costs && is_fast && trial.trace().is_none() && trial.requests().all(send);
    let programs: u64 = trial.requests().map(|work| work.keys.jobs * work.keys.programs).sum();
    (all && programs > 0).then_some(programs)
}

/// What requests cost a program, and into how many commands a volume cuts them.
struct Costs {
    request_ns: Nanos,
    /// For each command beyond the first.
    command_ns: Nanos,
    interleave_sectors: u64,
    members: u64,
    /// Commands of a chunk that is written; none where md's thread sends them.
    copies: u64,
    /// Whether the chunks of a member that are read are one command.
    reads_are_merged: bool,
}

impl Costs {
    fn of(setup: &Setup) -> Self {
        let (host, volume) = (&setup.host, &setup.volume);
        let level = &volume.level;
        let members = volume.members.len();
        let interleave_sectors =
            if level.interleaved() { volume.interleave_sectors } else { u64::MAX };
        let copies = if level.has_stripe_cache() || level.nested().is_some() {
            0
        } else {
            1 + level.losses_survived(members) as u64
        };
        Costs {
            request_ns: host.program_request_ns,
            command_ns: host.program_command_ns,
            interleave_sectors,
            members: members as u64,
            copies,
            reads_are_merged: is_merged(volume),
        }
    }

    /// The request, and each command beyond the first. Chunks of 4 KiB on four drives: 128 KiB are 32 commands where they are
    /// read and 4 where they are written.
    fn of_request(&self, request: &Request) -> Nanos {
        let chunks = if request.sectors == 0 {
            1
        } else {
            (request.end() - 1) / self.interleave_sectors - request.sector / self.interleave_sectors
                + 1
        };
        let commands = match request.op {
            block::Op::Read if !self.reads_are_merged => chunks,
            block::Op::Read => chunks.min(self.members),
            _ => (chunks * self.copies).min(self.members),
        };
        self.request_ns + commands.saturating_sub(1) * self.command_ns
    }
}

/// Whether pieces of a read that are neighbours on a member become one command: only a scheduler holds them back
/// (`__blkdev_direct_IO`, docs/md.md).
fn is_merged(volume: &Volume) -> bool {
    linux::scheduler(volume) != Scheduler::None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_as_told() {
        let stripe = Costs {
            request_ns: 3000,
            command_ns: 1000,
            interleave_sectors: 8,
            members: 4,
            copies: 1,
            reads_are_merged: false,
        };
        assert_eq!(stripe.of_request(&Request::read(0, 256)), 3000 + 31 * 1000);
        assert_eq!(stripe.of_request(&Request::write(0, 256)), 3000 + 3 * 1000);
        assert_eq!(stripe.of_request(&Request::read(4, 8)), 3000 + 1000, "two chunks in part");
        assert_eq!(stripe.of_request(&Request::flush()), 3000);
        let mirror = Costs { interleave_sectors: u64::MAX, members: 2, copies: 2, ..stripe };
        assert_eq!(mirror.of_request(&Request::read(0, 256)), 3000);
        assert_eq!(mirror.of_request(&Request::write(0, 256)), 3000 + 1000);
        let parity = Costs { interleave_sectors: 8, copies: 0, ..mirror };
        assert_eq!(parity.of_request(&Request::write(0, 256)), 3000, "the thread sends them");
    }
}
