//! Plans carried out on real bytes: what was written is what is read, in every state that a layout
//! should survive, and a rebuilt member holds what the lost one did.
//!
//! A sector is one byte here. The executor knows nothing of how a plan was made: it runs the steps of a
//! stage in any order, on any of their copies, and has [`block::Payload`] work out the parity to be
//! written and the data that no step brought. A plan that reads too little, or the wrong thing, fails;
//! and what each row then holds is checked by the field's arithmetic alone.

mod payload {
    pub(crate) mod executor;
}

use block::layout::{
    Code, Concat, Dealing, Layout, Level, Mirrors, Offset, Pairing, Parity, Part, Raid0, Raid10,
    Rotation, Segments, Spread, WriteRule,
};
use block::{Health, Op, Place, Plan, Request};
use payload::executor::{Random, Volume};

const P_ROTATIONS: [Rotation; 7] = [
    Rotation::LeftSymmetric,
    Rotation::LeftAsymmetric,
    Rotation::RightSymmetric,
    Rotation::RightAsymmetric,
    Rotation::ParityFirst,
    Rotation::ParityLast,
    Rotation::Btrfs,
];

const PQ_ROTATIONS: [Rotation; 8] = [
    Rotation::DdfZeroRestart,
    Rotation::DdfNRestart,
    Rotation::DdfNContinue,
    Rotation::LeftSymmetric6,
    Rotation::LeftAsymmetric6,
    Rotation::RightSymmetric6,
    Rotation::RightAsymmetric6,
    Rotation::ParityFirst6,
];

const RULES: [WriteRule; 2] = [WriteRule::FewestRequests, WriteRule::HalfOfRow];

/// Every combination of up to `most` members of `members`.
fn failures(members: u32, most: usize) -> Vec<Vec<u32>> {
    let mut sets = vec![vec![]];
    for size in 1..=most {
        let smaller: Vec<Vec<u32>> =
            sets.iter().filter(|set: &&Vec<u32>| set.len() == size - 1).cloned().collect();
        for set in smaller {
            let from = set.last().map_or(0, |last| last + 1);
            sets.extend((from..members).map(|member| [set.as_slice(), &[member]].concat()));
        }
    }
    sets
}

/// Writes and reads at random, healthy, then with `failed` down, then after their rebuild.
fn exercise(layout: &dyn Layout, member_sectors: &[u64], failed: &[u32], random: &mut Random) {
    let mut volume = Volume::new(layout, member_sectors);
    volume.write_all(random);
    volume.churn(40, random);
    for &member in failed {
        volume.fail(member, random);
    }
    volume.read_all(random);
    volume.churn(60, random);
    volume.read_all(random);
    for &member in failed {
        volume.rebuild(member, random);
    }
    volume.check_parity();
    // A member that is up but holds the wrong thing can be rebuilt as well.
    if let Some(&member) = failed.first() {
        volume.scramble(member, random);
        volume.rebuild(member, random);
    }
    volume.churn(20, random);
    volume.read_all(random);
    volume.check_parity();
}

#[test]
fn what_has_no_copies_reads_back() {
    let mut random = Random::new(1);
    for name in ["single", "concat", "stripe", "ccd-uniform"] {
        let level: Level = name.parse().unwrap();
        for members in [[17, 17, 17].as_slice(), &[5, 23, 9], &[31]] {
            if name == "single" && members.len() > 1 {
                continue;
            }
            let layout = level.lay_out(4, members).unwrap();
            exercise(&*layout, members, &[], &mut random);
        }
    }
    for dealing in [Dealing::Original, Dealing::Alternate] {
        let members = [12, 20, 16, 24];
        exercise(&Raid0::new(dealing, 4, &members).unwrap(), &members, &[], &mut random);
    }
}

#[test]
fn copies_read_back_without_all_but_one_of_them() {
    let mut random = Random::new(2);
    for (name, count, sets) in [
        ("mirror", 3, vec![vec![0], vec![1, 2], vec![0, 2]]),
        ("raid10", 4, vec![vec![0, 2], vec![1, 2], vec![3]]),
        ("ccd-mirror", 4, vec![vec![0, 1], vec![1, 2], vec![3]]),
    ] {
        let members = vec![22; count];
        let layout = name.parse::<Level>().unwrap().lay_out(4, &members).unwrap();
        for failed in sets {
            exercise(&*layout, &members, &failed, &mut random);
        }
    }
    for spread in [Spread::Near, Spread::Far, Spread::Offset] {
        for count in 2..6 {
            for copies in 2..=count.min(3) {
                let members = vec![27; count as usize];
                let layout = Raid10::new(spread, copies, 4, &members).unwrap();
                let survivable = failures(count, copies as usize - 1);
                for failed in survivable {
                    exercise(&layout, &members, &failed, &mut random);
                }
            }
        }
    }
}

#[test]
fn one_parity_reads_back_without_any_one_member() {
    let mut random = Random::new(3);
    for rotation in P_ROTATIONS {
        for rule in RULES {
            for count in 2..7 {
                let members = vec![26; count];
                let layout = Parity::new(Code::P, rotation, rule, 4, &members).unwrap();
                for failed in failures(count as u32, 1) {
                    exercise(&layout, &members, &failed, &mut random);
                }
            }
        }
    }
}

#[test]
fn two_parities_read_back_without_any_two_members() {
    let mut random = Random::new(4);
    for rotation in P_ROTATIONS.into_iter().chain(PQ_ROTATIONS) {
        for rule in RULES {
            for count in 4..7 {
                let members = vec![22; count];
                let layout = Parity::new(Code::PQ, rotation, rule, 4, &members).unwrap();
                for failed in failures(count as u32, 2) {
                    exercise(&layout, &members, &failed, &mut random);
                }
            }
        }
    }
}

#[test]
fn what_is_reserved_in_front_is_never_touched() {
    let mut random = Random::new(5);
    let members = [90, 91, 92, 93];
    for name in ["raidframe-stripe", "raidframe-mirror", "raidframe-raid4", "raidframe-raid5"] {
        let layout = name.parse::<Level>().unwrap().lay_out(4, &members).unwrap();
        let mut volume = Volume::new(&*layout, &members);
        volume.write_all(&mut random);
        for (member, bytes) in volume.members.iter().enumerate() {
            assert!(bytes[..64].iter().all(|&byte| byte == 0), "{name} wrote on member {member}");
        }
        if name != "raidframe-stripe" {
            for failed in failures(4, 1) {
                exercise(&*layout, &members, &failed, &mut random);
            }
        }
    }
    let inside = |members: &[u64]| {
        Parity::new(Code::PQ, Rotation::LeftSymmetric, WriteRule::FewestRequests, 4, members)
    };
    let layout = Offset::new(7, &[40; 5], inside).unwrap();
    exercise(&layout, &[40; 5], &[1, 4], &mut random);
}

/// Segments that take parts of the members in another order each, as btrfs's chunks do.
#[test]
fn segments_read_back_without_the_members_that_each_survives() {
    let mut random = Random::new(8);
    let rows = |code, count: usize, sectors: u64| -> Box<dyn Layout> {
        let rule = WriteRule::FewestRequests;
        Box::new(Parity::new(code, Rotation::Btrfs, rule, 4, &vec![sectors; count]).unwrap())
    };
    let mirror = |count: usize, sectors: u64| -> Box<dyn Layout> {
        let one = Concat::new(&[sectors]).unwrap();
        Box::new(Mirrors::new(one, count as u32, Pairing::Neighbours).unwrap())
    };
    let part = |&(member, start_sector): &(u32, u64)| Part { member, start_sector, sectors: 16 };
    // A later segment may lie in front of an earlier one.
    let tables: [&[&[(u32, u64)]]; 3] = [
        &[&[(3, 40), (0, 33), (2, 20), (1, 18)], &[(1, 1), (3, 0), (0, 3), (2, 2)]],
        &[&[(3, 40), (0, 33), (2, 20), (1, 18)], &[(1, 1), (3, 0), (2, 2)]],
        &[&[(0, 5), (1, 50), (2, 7)], &[(3, 20), (2, 40), (1, 0)], &[(0, 21), (3, 4), (1, 18)]],
    ];
    let members = [70; 4];
    for table in tables {
        for (kind, allowed) in [("P", 1), ("PQ", 2), ("mirror", 2)] {
            let segment = |parts: &&[(u32, u64)]| {
                let layout = match kind {
                    "P" => rows(Code::P, parts.len(), 16),
                    "PQ" => rows(Code::PQ, parts.len(), 16),
                    _ => mirror(parts.len(), 16),
                };
                (layout, parts.iter().map(part).collect())
            };
            let layout = Segments::new(4, table.iter().map(segment).collect()).unwrap();
            for failed in failures(4, allowed) {
                exercise(&layout, &members, &failed, &mut random);
            }
        }
    }
}

/// With too many members down what is up can still be read, but nothing can be written or rebuilt.
#[test]
fn more_failures_than_parity_are_said() {
    for (code, allowed) in [(Code::P, 1), (Code::PQ, 2)] {
        let members = [16; 6];
        let layout =
            Parity::new(code, Rotation::LeftSymmetric, WriteRule::FewestRequests, 4, &members)
                .unwrap();
        let mut plan = Plan::new();
        for failed in failures(6, allowed + 1).iter().filter(|set| set.len() == allowed + 1) {
            let mut health = Health::all_up(6);
            for &member in failed {
                health.fail(member);
            }
            for sector in 0..layout.sectors() {
                let mut places = Vec::new();
                layout.places(sector, &mut places);
                let read = layout.plan(Request::read(sector, 1), &health, &mut plan);
                assert_eq!(read.is_ok(), health.is_up(places[0].member));
                let write = layout.plan(Request::write(sector, 1), &health, &mut plan);
                assert!(failed.contains(&write.unwrap_err().member));
            }
            let lost = Place { member: failed[0], sector: 0 };
            assert!(layout.rebuild(lost, 1, &health, &mut plan).is_err());
        }
    }
}

/// A write that is planned again because a member failed under it does the same in the end.
#[test]
fn a_member_may_fail_in_the_middle_of_a_write() {
    let mut random = Random::new(7);
    for (code, count, most) in [(Code::P, 5, 1), (Code::PQ, 5, 2), (Code::PQ, 6, 2)] {
        for rule in RULES {
            let members = vec![22; count];
            let layout = Parity::new(code, Rotation::LeftSymmetric, rule, 4, &members).unwrap();
            for failed in failures(count as u32, most) {
                for _ in 0..20 {
                    let mut volume = Volume::new(&layout, &members);
                    volume.write_all(&mut random);
                    for &member in &failed {
                        let request = volume.random_request(&mut random);
                        volume.write_while_failing(request, member, &mut random);
                        volume.read_all(&mut random);
                    }
                }
            }
        }
    }
}

/// Discards leave no part of a row undefined, and zeroes are like any other data.
#[test]
fn zeroes_and_discards_keep_parity_true() {
    let mut random = Random::new(6);
    for code in [Code::P, Code::PQ] {
        let members = [24; 5];
        let layout =
            Parity::new(code, Rotation::LeftSymmetric, WriteRule::FewestRequests, 4, &members)
                .unwrap();
        let mut volume = Volume::new(&layout, &members);
        volume.write_all(&mut random);
        for op in [Op::Zeroes, Op::Discard] {
            for _ in 0..200 {
                let request = Request { op, ..volume.random_request(&mut random) };
                volume.execute(request, &mut random);
                volume.check_parity();
                volume.churn(1, &mut random);
            }
        }
        volume.fail(2, &mut random);
        volume.execute(Request { op: Op::Zeroes, ..Request::write(3, 20) }, &mut random);
        volume.read_all(&mut random);
    }
}
