//! Which copy of a mirror serves a read.
//!
//! The layout only lists the copies ([`block::Plan::others`]). Which is best depends on what each member
//! is doing, so the run decides, by the rule of the driver that is modelled.

use block::{Op, Place, Plan, Request, Step};

/// The rule by which a driver chooses among the copies that are up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyChoice {
    /// The member with the fewest commands in flight; among equals the one whose last command ended nearest to the copy
    /// (RAIDframe's `rf_SelectMirrorDiskIdle`).
    #[default]
    Idlest,
    /// The first: Linux's btrfs has each process read one copy (`find_live_mirror` of `fs/btrfs/volumes.c`).
    First,
    /// Linux's md RAID 1 (`read_balance` of `drivers/md/raid1.c`): who goes on where a copy was read last stays there. Else
    /// the fewest commands in flight where a member is idle or one of them does not turn; the nearest where all turn and are busy,
    /// as they are while a piece is restored. A member that is written mostly is read only where there is no other.
    MdMirror,
    /// md's RAID 10 with near copies (`read_balance` of `drivers/md/raid10.c`): the first that is idle, else the nearest;
    /// where some do not turn, of these the one with the fewest commands in flight.
    MdNear,
    /// md's RAID 10 with far or offset copies: the lowest sector, so that what is read in order comes from all members
    /// as from a stripe; where some do not turn, of these the one with the fewest commands in flight.
    MdFar,
}

/// What Linux knows of a member as it chooses a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberKind {
    /// It does not turn (`rotational` of its queue is 0).
    pub is_flash: bool,
    /// It is read only where there is no other (`mdadm --write-mostly`).
    pub is_write_mostly: bool,
}

/// What a member is doing, as far as a choice needs it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Member {
    pub(super) kind: MemberKind,
    pub(super) in_flight: u32,
    /// Where its last command ended.
    pub(super) position: u64,
    /// Where the last read or write that it has finished ended (md's `head_position`, set by `find_bio_disk`, too).
    pub(super) head: u64,
    /// Where the last read that was sent to it ends (md's `next_seq_sect`).
    pub(super) next_sector: u64,
}

impl Member {
    /// `request` is sent to it.
    #[inline]
    pub(super) fn sent(&mut self, request: &Request) {
        self.in_flight += 1;
        self.position = request.end();
        if request.op == Op::Read {
            self.next_sector = request.end();
        }
    }
}

/// The members, and what holds all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Members<'a> {
    pub(super) each: &'a [Member],
    /// md's RAID 1 restores a piece: that counts as a command in flight of every member, also of those from which it is not read
    /// (`raid1_sync_request` takes `nr_pending` of all, `put_buf` gives it back once the piece is written).
    pub(super) are_held: bool,
    /// The member that md restores, and the sector from which on it is not read yet (`recovery_offset`).
    pub(super) unread: Option<(u32, u64)>,
}

/// What md's rules see of the copies of a step.
struct Copies<'a> {
    members: Members<'a>,
    sectors: u64,
}

impl Copies<'_> {
    fn of(&self, copy: Place) -> &Member {
        &self.members.each[copy.member as usize]
    }

    fn in_flight(&self, copy: Place) -> u64 {
        self.of(copy).in_flight.into()
    }

    fn head_distance(&self, copy: Place) -> u64 {
        self.of(copy).head.abs_diff(copy.sector)
    }

    fn is_flash(&self, copy: Place) -> bool {
        self.of(copy).kind.is_flash
    }

    fn is_write_mostly(&self, copy: Place) -> bool {
        self.of(copy).kind.is_write_mostly
    }

    /// Whether the member has it: what is not restored yet is passed over.
    fn is_there(&self, copy: Place) -> bool {
        let unread = self.members.unread;
        !unread.is_some_and(|(member, from)| {
            copy.member == member && copy.sector + self.sectors > from
        })
    }
}

impl CopyChoice {
    /// Whether what is restored counts as [`Members::are_held`] says, and not where it is read.
    pub(super) fn holds_all(self) -> bool {
        self == CopyChoice::MdMirror
    }

    /// Chooses the copy for `step`. No choice among one.
    #[inline]
    pub(super) fn choose(self, members: Members<'_>, plan: &Plan, step: &Step) -> Request {
        if plan.others(step).is_empty() {
            return step.request.parted();
        }
        self.choose_one(members, plan, step)
    }

    fn choose_one(self, members: Members<'_>, plan: &Plan, step: &Step) -> Request {
        let copies = Copies { members, sectors: step.request.sectors.into() };
        match self {
            CopyChoice::Idlest => plan.choose(step, |copy| {
                let member = copies.of(copy);
                (member.in_flight, member.position.abs_diff(copy.sector))
            }),
            CopyChoice::First => step.request,
            CopyChoice::MdMirror => of_mirror(&copies, plan, step),
            CopyChoice::MdNear | CopyChoice::MdFar => {
                let are_near = self == CopyChoice::MdNear;
                plan.choose(step, |copy| {
                    let (is_flash, is_there) = (copies.is_flash(copy), copies.is_there(copy));
                    let cost = match (is_flash, are_near) {
                        (true, _) => copies.in_flight(copy),
                        (false, true) if copies.in_flight(copy) == 0 => 0,
                        (false, true) => copies.head_distance(copy),
                        (false, false) => copy.sector,
                    };
                    (!is_there, !is_flash, cost)
                })
            }
        }
    }
}

/// The choice of md's RAID 1.
fn of_mirror(copies: &Copies<'_>, plan: &Plan, step: &Step) -> Request {
    let is_weighed = |copy: Place| copies.is_there(copy) && !copies.is_write_mostly(copy);
    let any = |is_so: &dyn Fn(Place) -> bool| {
        plan.copies(step).any(|copy| is_weighed(copy) && is_so(copy))
    };
    let is_one_idle = !copies.members.are_held && any(&|copy| copies.in_flight(copy) == 0);
    let by_load = is_one_idle || any(&|copy| copies.is_flash(copy));
    plan.choose(step, |copy| {
        let goes_on = copies.of(copy).next_sector == copy.sector || copies.head_distance(copy) == 0;
        let (rank, cost) = match (is_weighed(copy), goes_on) {
            (true, true) => (0, 0),
            (true, false) if by_load => (1, copies.in_flight(copy)),
            (true, false) => (1, copies.head_distance(copy)),
            // The first of those that are written mostly.
            (false, _) => (2, 0),
        };
        (!copies.is_there(copy), rank, cost)
    })
}

/// Where the copy of `step` on `member` ends.
pub(super) fn end_on(plan: &Plan, step: &Step, member: u32) -> Option<u64> {
    let copy = plan.copies(step).find(|copy| copy.member == member)?;
    Some(copy.sector + u64::from(step.request.sectors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use block::layout::{Concat, Mirrors, Pairing};
    use block::{Health, Layout as _};

    /// The member that a rule chooses for a read of sector 100 of a mirror of two.
    fn chosen(rule: CopyChoice, members: [Member; 2]) -> u32 {
        chosen_of(rule, &members, false)
    }

    fn chosen_of(rule: CopyChoice, each: &[Member], are_held: bool) -> u32 {
        chosen_but(rule, each, are_held, None)
    }

    fn chosen_but(
        rule: CopyChoice,
        each: &[Member],
        are_held: bool,
        unread: Option<(u32, u64)>,
    ) -> u32 {
        let mirror = Mirrors::new(Concat::new(&[1000]).unwrap(), 2, Pairing::Neighbours).unwrap();
        let mut plan = Plan::default();
        mirror.plan(Request::read(100, 8), &Health::all_up(2), &mut plan).unwrap();
        rule.choose(Members { each, are_held, unread }, &plan, &plan.stage(0)[0]).target
    }

    fn flash(mut members: [Member; 2]) -> [Member; 2] {
        for member in &mut members {
            member.kind.is_flash = true;
        }
        members
    }

    fn member(in_flight: u32, head: u64, next_sector: u64) -> Member {
        Member { kind: MemberKind::default(), in_flight, position: head, head, next_sector }
    }

    #[test]
    fn md_stays_where_it_reads_on_and_else_takes_who_is_idle_or_near() {
        let disks = CopyChoice::MdMirror;
        for of in [|members| members, flash] {
            assert_eq!(chosen(disks, of([member(0, 90, 90), member(9, 50, 100)])), 1, "goes on");
            assert_eq!(
                chosen(disks, of([member(3, 100, 7), member(0, 90, 90)])),
                0,
                "where its head is"
            );
            assert_eq!(chosen(disks, of([member(1, 99, 99), member(0, 500, 500)])), 1, "idle");
        }
        let busy = [member(1, 300, 300), member(5, 99, 99)];
        assert_eq!(chosen(disks, busy), 1, "nearer");
        assert_eq!(chosen(disks, flash(busy)), 0, "fewer in flight");
        let mut mixed = busy;
        mixed[1].kind.is_flash = true;
        assert_eq!(chosen(disks, mixed), 0, "fewer in flight where one does not turn");
    }

    /// While a piece is restored nobody is idle: the head that is nearest is moved, also that of the member that the piece is read
    /// from, and where nothing turns, the fewest commands of the load count.
    #[test]
    fn md_counts_a_piece_that_is_restored_on_every_member() {
        let members = [member(1, 90, 7), member(0, 500, 500)];
        let chosen = |members: [Member; 2]| {
            [false, true].map(|are_held| chosen_of(CopyChoice::MdMirror, &members, are_held))
        };
        assert_eq!(chosen(members), [1, 0]);
        assert_eq!(chosen(flash(members)), [1, 1]);
    }

    /// A write-mostly member is read by nobody while there is another, however busy that is and wherever its head.
    #[test]
    fn a_member_that_is_written_mostly_is_read_last() {
        let mut members = [member(0, 100, 100), member(9, 900, 900)];
        assert_eq!(chosen(CopyChoice::MdMirror, members), 0);
        members[0].kind.is_write_mostly = true;
        assert_eq!(chosen(CopyChoice::MdMirror, members), 1);
        members[1].kind.is_write_mostly = true;
        assert_eq!(chosen(CopyChoice::MdMirror, members), 0, "the first of those");
    }

    /// Copies that are not restored yet are passed over one by one: the other copies of the request are chosen as ever.
    #[test]
    fn a_copy_that_is_not_restored_is_not_read() {
        let members = [member(0, 100, 100), member(9, 900, 900)];
        for rule in [CopyChoice::MdMirror, CopyChoice::MdNear, CopyChoice::MdFar] {
            let of = |unread| chosen_but(rule, &members, false, Some((0, unread)));
            assert_eq!([108, 107, 0].map(of), [0, 1, 1], "{rule:?}");
        }
    }

    #[test]
    fn near_copies_are_read_where_somebody_is_idle_and_far_ones_at_the_outside() {
        let (near, far) = (CopyChoice::MdNear, CopyChoice::MdFar);
        assert_eq!(chosen(near, [member(1, 300, 0), member(0, 900, 0)]), 1, "idle");
        assert_eq!(chosen(near, [member(0, 300, 0), member(0, 100, 0)]), 0, "the first idle one");
        assert_eq!(chosen(near, [member(1, 300, 0), member(2, 90, 0)]), 1, "nearer");
        assert_eq!(
            chosen(far, [member(9, 900, 0), member(0, 100, 0)]),
            0,
            "both are at sector 100"
        );
        for rule in [near, far] {
            let busy = [member(2, 100, 0), member(1, 900, 0)];
            assert_eq!(chosen(rule, flash(busy)), 1, "fewer in flight");
            let mut mixed = [member(0, 100, 0), member(9, 900, 0)];
            mixed[1].kind.is_flash = true;
            assert_eq!(chosen(rule, mixed), 1, "only who does not turn, however busy");
        }
        assert_eq!(chosen(CopyChoice::First, [member(9, 900, 0), member(0, 100, 0)]), 0);
    }
}
