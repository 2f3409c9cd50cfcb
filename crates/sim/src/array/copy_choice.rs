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
    /// the fewest commands in flight where a member is idle or none turns; the nearest where all are busy, as they are while a
    /// piece is restored.
    MdMirror {
        /// Whether all members turn.
        on_disks: bool,
    },
    /// md's RAID 10 with near copies (`read_balance` of `drivers/md/raid10.c`): the first that is idle, else the nearest;
    /// where one does not turn, the fewest commands in flight.
    MdNear {
        /// Whether all members turn.
        on_disks: bool,
    },
    /// md's RAID 10 with far or offset copies: the lowest sector, so that what is read in order comes from all members
    /// as from a stripe; where one does not turn, the fewest commands in flight.
    MdFar {
        /// Whether all members turn.
        on_disks: bool,
    },
}

/// What a member is doing, as far as a choice needs it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Member {
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
}

impl CopyChoice {
    /// Whether what is restored counts as [`Members::are_held`] says, and not where it is read.
    pub(super) fn holds_all(self) -> bool {
        matches!(self, CopyChoice::MdMirror { .. })
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
        let Members { each: members, are_held } = members;
        let of = |copy: Place| members[copy.member as usize];
        let from_head = |copy: Place| of(copy).head.abs_diff(copy.sector);
        let in_flight = |copy: Place| u64::from(of(copy).in_flight);
        match self {
            CopyChoice::Idlest => plan.choose(step, |copy| {
                let member = of(copy);
                (member.in_flight, member.position.abs_diff(copy.sector))
            }),
            CopyChoice::First => step.request,
            CopyChoice::MdMirror { on_disks } => {
                let is_one_idle = !are_held && plan.copies(step).any(|copy| in_flight(copy) == 0);
                plan.choose(step, |copy| {
                    let goes_on = of(copy).next_sector == copy.sector || from_head(copy) == 0;
                    let by_load = !on_disks || is_one_idle;
                    (
                        !goes_on,
                        if goes_on {
                            0
                        } else if by_load {
                            in_flight(copy)
                        } else {
                            from_head(copy)
                        },
                    )
                })
            }
            CopyChoice::MdNear { on_disks: true } => {
                plan.choose(step, |copy| if in_flight(copy) == 0 { 0 } else { from_head(copy) })
            }
            CopyChoice::MdFar { on_disks: true } => plan.choose(step, |copy| copy.sector),
            CopyChoice::MdNear { .. } | CopyChoice::MdFar { .. } => plan.choose(step, in_flight),
        }
    }
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
        let mirror = Mirrors::new(Concat::new(&[1000]).unwrap(), 2, Pairing::Neighbours).unwrap();
        let mut plan = Plan::default();
        mirror.plan(Request::read(100, 8), &Health::all_up(2), &mut plan).unwrap();
        rule.choose(Members { each, are_held }, &plan, &plan.stage(0)[0]).target
    }

    fn member(in_flight: u32, head: u64, next_sector: u64) -> Member {
        Member { in_flight, position: head, head, next_sector }
    }

    #[test]
    fn md_stays_where_it_reads_on_and_else_takes_who_is_idle_or_near() {
        let disks = CopyChoice::MdMirror { on_disks: true };
        let flash = CopyChoice::MdMirror { on_disks: false };
        for rule in [disks, flash] {
            assert_eq!(chosen(rule, [member(0, 90, 90), member(9, 50, 100)]), 1, "goes on");
            assert_eq!(
                chosen(rule, [member(3, 100, 7), member(0, 90, 90)]),
                0,
                "where its head is"
            );
            assert_eq!(chosen(rule, [member(1, 99, 99), member(0, 500, 500)]), 1, "idle");
        }
        assert_eq!(chosen(disks, [member(1, 300, 300), member(5, 99, 99)]), 1, "nearer");
        assert_eq!(chosen(flash, [member(1, 300, 300), member(5, 99, 99)]), 0, "fewer in flight");
    }

    /// While a piece is restored nobody is idle: the head that is nearest is moved, also that of the member that the piece is read
    /// from, and where nothing turns, the fewest commands of the load count.
    #[test]
    fn md_counts_a_piece_that_is_restored_on_every_member() {
        let disks = CopyChoice::MdMirror { on_disks: true };
        let flash = CopyChoice::MdMirror { on_disks: false };
        let members = [member(1, 90, 7), member(0, 500, 500)];
        assert_eq!([false, true].map(|are_held| chosen_of(disks, &members, are_held)), [1, 0]);
        assert_eq!([false, true].map(|are_held| chosen_of(flash, &members, are_held)), [1, 1]);
    }

    #[test]
    fn near_copies_are_read_where_somebody_is_idle_and_far_ones_at_the_outside() {
        let near = CopyChoice::MdNear { on_disks: true };
        assert_eq!(chosen(near, [member(1, 300, 0), member(0, 900, 0)]), 1, "idle");
        assert_eq!(chosen(near, [member(0, 300, 0), member(0, 100, 0)]), 0, "the first idle one");
        assert_eq!(chosen(near, [member(1, 300, 0), member(2, 90, 0)]), 1, "nearer");
        let far = CopyChoice::MdFar { on_disks: true };
        assert_eq!(
            chosen(far, [member(9, 900, 0), member(0, 100, 0)]),
            0,
            "both are at sector 100"
        );
        for rule in [CopyChoice::MdNear { on_disks: false }, CopyChoice::MdFar { on_disks: false }]
        {
            assert_eq!(chosen(rule, [member(2, 100, 0), member(1, 900, 0)]), 1, "fewer in flight");
        }
        assert_eq!(chosen(CopyChoice::First, [member(9, 900, 0), member(0, 100, 0)]), 0);
    }
}
