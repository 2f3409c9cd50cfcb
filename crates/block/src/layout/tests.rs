//! What every layout must do, on every small geometry, and the worked examples of ccd(4).

use super::*;
use crate::{Content, Op, Place};
use std::collections::{BTreeMap, BTreeSet};

const ROTATIONS: [Rotation; 15] = [
    Rotation::LeftSymmetric,
    Rotation::LeftAsymmetric,
    Rotation::RightSymmetric,
    Rotation::RightAsymmetric,
    Rotation::ParityFirst,
    Rotation::ParityLast,
    Rotation::DdfZeroRestart,
    Rotation::DdfNRestart,
    Rotation::DdfNContinue,
    Rotation::LeftSymmetric6,
    Rotation::LeftAsymmetric6,
    Rotation::RightSymmetric6,
    Rotation::RightAsymmetric6,
    Rotation::ParityFirst6,
    Rotation::Btrfs,
];

fn plan_of(layout: &dyn Layout, request: Request) -> Plan {
    let mut plan = Plan::new();
    layout.plan(request, &Health::all_up(layout.members()), &mut plan).unwrap();
    plan
}

fn place(layout: &dyn Layout, sector: u64) -> (u32, u64) {
    let plan = plan_of(layout, Request::read(sector, 1));
    assert_eq!((plan.stages(), plan.steps().len()), (1, 1));
    let step = &plan.steps()[0].request;
    (step.target, step.sector)
}

/// Every sector has places of its own inside its members, `copies` of them on different members;
/// what lives at a place is what was put there; and parity is on the members without the row's data.
pub(super) fn check_map(layout: &dyn Layout, member_sectors: &[u64], copies: usize) {
    for sector in 0..layout.sectors() {
        let (places, _) = places(layout, sector);
        let members: BTreeSet<u32> = places.iter().map(|place| place.member).collect();
        assert_eq!(members.len(), copies, "two copies of sector {sector} are on one member");
    }
    check_places(layout, member_sectors, copies);
}

/// The same, but copies may be on one member.
pub(super) fn check_places(layout: &dyn Layout, member_sectors: &[u64], copies: usize) {
    assert_eq!(layout.members(), member_sectors.len());
    let mut taken = BTreeMap::new();
    for sector in 0..layout.sectors() {
        let (places, run) = places(layout, sector);
        assert_eq!(places.len(), copies);
        for place in &places {
            let end = member_sectors[place.member as usize];
            assert!(place.sector < end, "sector {sector} lies outside its member");
            assert_eq!(taken.insert(*place, sector), None, "sector {sector} shares its place");
            assert_eq!(layout.holds(*place).0, Some(sector));
        }
        if run > 1 && sector + 1 < layout.sectors() {
            let on = places.iter().map(|place| Place { sector: place.sector + 1, ..*place });
            assert_eq!(self::places(layout, sector + 1), (on.collect(), run - 1));
        }
    }
    for (member, &end) in member_sectors.iter().enumerate() {
        for sector in 0..end {
            let place = Place { member: member as u32, sector };
            let (held, run) = layout.holds(place);
            assert_eq!(held, taken.get(&place).copied());
            let next = Place { sector: sector + 1, ..place };
            if run > 1 && next.sector < end {
                assert_eq!(layout.holds(next), (held.map(|held| held + 1), run - 1));
            }
        }
    }
    check_parity(layout, member_sectors);
}

/// A row is one unit on every member (of a segment, where there are several): data, P and Q.
fn check_parity(layout: &dyn Layout, member_sectors: &[u64]) {
    let (mut sector, mut row) = (0, 0);
    while let Some(rows) = layout.rows_at(sector).filter(|_| sector < layout.sectors()) {
        assert_eq!((rows.first_sector, rows.first_row), (sector, row));
        let units = rows.parity.data_units();
        for number in 0..rows.parity.rows() {
            assert_eq!(rows.row_of(sector), (number, sector));
            check_row(layout, &rows, number, member_sectors);
            sector += u64::from(units) * rows.parity.interleave_sectors();
        }
        row += rows.parity.rows();
    }
    assert!(sector == 0 || sector == layout.sectors());
}

fn check_row(layout: &dyn Layout, rows: &Rows, number: u64, member_sectors: &[u64]) {
    let parity = rows.parity;
    let (interleave, units) = (parity.interleave_sectors(), parity.data_units());
    let (p, q) = layout.row_parity(rows.first_row + number).unwrap();
    assert_eq!(q.is_some(), parity.parities() == 2);
    let data = (0..u64::from(units)).map(|unit| {
        let sector = rows.first_sector + (number * u64::from(units) + unit) * interleave;
        places(layout, sector).0[0]
    });
    let row_places: Vec<Place> = data.chain([p]).chain(q).collect();
    let members: BTreeSet<u32> = row_places.iter().map(|place| place.member).collect();
    assert_eq!(members.len(), row_places.len(), "row {number} has one unit on each member");
    for place in &row_places {
        assert!(place.sector + interleave <= member_sectors[place.member as usize]);
        if layout.segments().is_none() {
            assert_eq!((place.sector, members.len()), (p.sector, layout.members()));
        }
    }
    assert_eq!(layout.holds(p).0, None);
    let exponents: BTreeSet<u32> = (0..units).map(|unit| parity.exponent(number, unit)).collect();
    assert_eq!(exponents.len(), units as usize, "Q tells the units of a row apart");
}

/// A read of several sectors is the same places, in order, in pieces.
pub(super) fn check_pieces(layout: &dyn Layout) {
    for start in 0..layout.sectors() {
        for sectors in 1..=(layout.sectors() - start).min(9) {
            let plan = plan_of(layout, Request::read(start, sectors as u32));
            let mut at = start;
            for step in plan.steps() {
                assert_eq!(step.content, Content::Data(at));
                for nth in 0..u64::from(step.request.sectors) {
                    let request = step.request;
                    let chosen = Place { member: request.target, sector: request.sector };
                    let copies = [chosen].into_iter().chain(plan.others(step).iter().copied());
                    let copies = copies.map(|copy| Place { sector: copy.sector + nth, ..copy });
                    assert_eq!(copies.collect::<Vec<_>>(), places(layout, at).0);
                    at += 1;
                }
            }
            assert_eq!(at, start + sectors);
        }
    }
}

fn places(layout: &dyn Layout, sector: u64) -> (Vec<Place>, u64) {
    let mut places = Vec::new();
    let run = layout.places(sector, &mut places);
    (places, run)
}

#[test]
fn small_stripes_and_concats_map_one_to_one() {
    for a in 1..8 {
        for b in 1..8 {
            for c in 1..8 {
                let members = [a, b, c];
                let concat = Concat::new(&members).unwrap();
                check_map(&concat, &members, 1);
                check_pieces(&concat);
                for interleave in 1..4 {
                    let stripe = Stripe::new(interleave, &members);
                    if members.iter().all(|&sectors| sectors >= interleave) {
                        let stripe = stripe.unwrap();
                        check_map(&stripe, &members, 1);
                        check_pieces(&stripe);
                        check_map(&Stripe::uniform(interleave, &members).unwrap(), &members, 1);
                        for dealing in [Dealing::Original, Dealing::Alternate] {
                            let raid0 = Raid0::new(dealing, interleave, &members).unwrap();
                            check_map(&raid0, &members, 1);
                        }
                    } else {
                        let error = stripe.unwrap_err();
                        assert!(matches!(error, LayoutError::MemberBelowInterleave { .. }));
                    }
                }
            }
        }
    }
}

#[test]
fn small_mirrors_map_one_to_one() {
    for interleave in 1..4 {
        for sectors in interleave..9 {
            for sets in 1..4 {
                for copies in 2..4 {
                    for pairing in [Pairing::Neighbours, Pairing::Halves] {
                        let stripe = Stripe::new(interleave, &vec![sectors; sets]).unwrap();
                        let mirrors = Mirrors::new(stripe, copies, pairing).unwrap();
                        let members = vec![sectors; sets * copies as usize];
                        check_map(&mirrors, &members, copies as usize);
                        check_pieces(&mirrors);
                    }
                }
            }
        }
    }
}

#[test]
fn small_raid10s_map_one_to_one() {
    for spread in [Spread::Near, Spread::Far, Spread::Offset] {
        for interleave in 1..4 {
            for sectors in interleave * 4..interleave * 4 + 9 {
                for members in 2..6 {
                    for copies in 2..=members.min(4) {
                        let members = vec![sectors; members];
                        let raid10 = Raid10::new(spread, copies as u32, interleave, &members);
                        check_map(&raid10.unwrap(), &members, copies);
                    }
                }
            }
        }
    }
}

#[test]
fn small_parity_maps_one_to_one() {
    let least = |code| if code == Code::P { 2 } else { 4 };
    for rotation in ROTATIONS {
        for code in [Code::P, Code::PQ] {
            for count in least(code)..8 {
                for interleave in 1..4 {
                    let members = vec![interleave * 9 + 1; count];
                    let rule = WriteRule::FewestRequests;
                    match Parity::new(code, rotation, rule, interleave, &members) {
                        Ok(parity) => {
                            check_map(&parity, &members, 1);
                            check_pieces(&parity);
                        }
                        Err(error) => assert_eq!(error, LayoutError::RotationNeedsQ),
                    }
                }
            }
        }
    }
}

/// Where the copies divide the members, near is the stripe of mirrors.
#[test]
fn near_copies_are_a_stripe_of_mirrors() {
    for copies in 2..4 {
        for sets in 1..4 {
            let stripe = Stripe::new(3, &vec![14; sets]).unwrap();
            let mirrors = Mirrors::new(stripe, copies, Pairing::Neighbours).unwrap();
            let members = vec![14; sets * copies as usize];
            let near = Raid10::new(Spread::Near, copies, 3, &members).unwrap();
            assert_eq!(mirrors.sectors(), near.sectors());
            for sector in 0..near.sectors() {
                let (of_mirrors, of_near) = (places(&mirrors, sector), places(&near, sector));
                assert_eq!(of_mirrors.0, of_near.0);
                // Where every member is a copy of the whole, nothing cuts requests.
                let left = if sets == 1 { near.sectors() - sector } else { of_mirrors.1 };
                assert_eq!(of_near.1, left);
            }
        }
    }
}

#[test]
fn a_stripe_offers_whole_interleaves_of_every_member() {
    for interleave in 1..6 {
        for a in interleave..12 {
            for b in interleave..12 {
                let stripe = Stripe::new(interleave, &[a, b]).unwrap();
                let whole = |sectors| sectors / interleave * interleave;
                assert_eq!(stripe.sectors(), whole(a) + whole(b));
            }
        }
    }
}

#[test]
fn ccds_worked_examples() {
    let stripe = Stripe::new(1, &[5, 3, 7]).unwrap();
    let expected = [
        (0, 0),
        (1, 0),
        (2, 0),
        (0, 1),
        (1, 1),
        (2, 1),
        (0, 2),
        (1, 2),
        (2, 2),
        (0, 3),
        (2, 3),
        (0, 4),
        (2, 4),
        (2, 5),
        (2, 6),
    ];
    for (sector, expected) in expected.into_iter().enumerate() {
        assert_eq!(place(&stripe, sector as u64), expected);
    }
    let stripe = Stripe::new(128, &[1000, 1300, 1300]).unwrap();
    for (sector, expected) in [(200, (1, 72)), (2687, (2, 895)), (2688, (1, 896)), (2900, (2, 980))]
    {
        assert_eq!(place(&stripe, sector), expected);
    }
    let concat = Concat::new(&[1000, 2000]).unwrap();
    assert_eq!((place(&concat, 999), place(&concat, 1000)), ((0, 999), (1, 0)));
    let plan = plan_of(&concat, Request::read(992, 16));
    let pieces: Vec<(u32, u64, u32)> = plan
        .steps()
        .iter()
        .map(|step| (step.request.target, step.request.sector, step.request.sectors))
        .collect();
    assert_eq!(pieces, [(0, 992, 8), (1, 0, 8)]);
}

/// A 64 KiB piece over two disks at interleave 32 is four commands, though each disk's two meet.
#[test]
fn ccd_does_not_join_neighbours() {
    let stripe = Stripe::new(32, &[4096, 4096]).unwrap();
    assert_eq!(plan_of(&stripe, Request::read(0, 128)).steps().len(), 4);
}

#[test]
fn a_flush_goes_to_every_member_and_a_lost_member_is_said() {
    let stripe = Stripe::new(4, &[16, 16, 16]).unwrap();
    let concat = Concat::new(&[16, 16, 16]).unwrap();
    let mut health = Health::all_up(3);
    health.fail(1);
    for layout in [&stripe as &dyn Layout, &concat] {
        assert_eq!(plan_of(layout, Request::flush()).steps().len(), 3);
        let mut plan = Plan::new();
        let sector = if place(layout, 4).0 == 1 { 4 } else { 16 };
        let lost = layout.plan(Request::read(sector, 1), &health, &mut plan);
        assert_eq!(lost, Err(Unservable { member: 1 }));
        assert_eq!(layout.plan(Request::read(0, 1), &health, &mut plan), Ok(()));
        assert_eq!(plan.steps()[0].request, Request { target: 0, ..Request::read(0, 1) });
    }
}

#[test]
fn what_cannot_be_laid_out_is_an_error() {
    assert_eq!(Stripe::new(8, &[]).unwrap_err(), LayoutError::NoMembers);
    assert_eq!(Concat::new(&[]).unwrap_err(), LayoutError::NoMembers);
    assert_eq!(Stripe::new(8, &[16, 0]).unwrap_err(), LayoutError::EmptyMember { member: 1 });
    assert_eq!(Concat::new(&[0]).unwrap_err(), LayoutError::EmptyMember { member: 0 });
    assert_eq!(Stripe::new(0, &[16]).unwrap_err(), LayoutError::NoInterleave);
    assert_eq!(Concat::new(&[u64::MAX, 2]).unwrap_err(), LayoutError::TooLarge);
    assert_eq!(Concat::new(&[1 << 54, 1]).unwrap_err(), LayoutError::TooLarge);
    assert_eq!(Concat::new(&[1 << 54]).unwrap().sectors(), 1 << 54);
    let far = Raid10::new(Spread::Far, 2, 8, &[64, 15, 64]).unwrap_err();
    let expected =
        LayoutError::MemberBelowCopies { member: 1, sectors: 15, copies: 2, interleave_sectors: 8 };
    assert_eq!(far, expected);
}

#[test]
fn places_order_by_member_then_sector() {
    assert!(Place { member: 0, sector: 9 } < Place { member: 1, sector: 0 });
}

/// A layout with one copy of everything plans without lists of copies, and the same.
#[test]
fn one_copy_is_planned_as_several_are() {
    let sizes = [40, 24, 56, 24];
    let stripe = Stripe::new(8, &sizes).unwrap();
    let raid0 = Raid0::new(Dealing::Original, 8, &sizes).unwrap();
    let layouts: [&dyn Layout; 2] = [&stripe, &raid0];
    let mut failed = 0;
    for layout in layouts {
        for health in [Health::all_up(4), one_down(4, 2)] {
            for op in [Op::Read, Op::WRITE, Op::Discard, Op::Flush] {
                for sector in 0..layout.sectors() {
                    let sectors = (sector % 23 + 1).min(layout.sectors() - sector) as u32;
                    let sectors = if op == Op::Flush { 0 } else { sectors };
                    let request = Request { target: 0, op, sector, sectors };
                    let (mut single, mut general) = (Plan::new(), Plan::new());
                    let result = layout.plan(request, &health, &mut single);
                    assert_eq!(result, copies::plan(layout, request, &health, &mut general));
                    assert_eq!(single.steps(), general.steps(), "{request:?}");
                    assert_eq!(single.stages(), general.stages());
                    failed += u32::from(result.is_err());
                }
            }
        }
    }
    assert!(failed > 0);
}

/// What a layout says of the only place is what it plans for a read, whoever else is down.
#[test]
fn a_read_of_the_only_place_is_planned_as_that_command() {
    let sizes = [72, 64, 80, 64, 72];
    for name in ["stripe", "raid0", "raid4", "raid5", "raid6", "mirror", "concat"] {
        let members = if name == "mirror" { 2 } else { 5 };
        let layout: Box<dyn Layout> = match name {
            // By zones, of members that are not alike.
            "raid0" => Box::new(Raid0::new(Dealing::Original, 8, &sizes).unwrap()),
            _ => name.parse::<Level>().unwrap().lay_out(8, &sizes[..members]).unwrap(),
        };
        let mut said = 0;
        for health in [Health::all_up(members), one_down(members, 1)] {
            for (sector, sectors) in
                (0..layout.sectors()).flat_map(|at| [(at, 1), (at, 5), (at, 8), (at, 9)])
            {
                let is_there = sector + u64::from(sectors) <= layout.sectors();
                let place = layout.only_place(sector, sectors).filter(|_| is_there);
                let Some(place) = place.filter(|place| health.is_up(place.member)) else {
                    continue;
                };
                let mut plan = Plan::new();
                layout.plan(Request::read(sector, sectors), &health, &mut plan).unwrap();
                let mut expected = Plan::new();
                expected.step(Op::Read, place, sectors, Content::Data(sector));
                assert_eq!(plan.steps(), expected.steps(), "{name}, {sector} and {sectors}");
                assert_eq!((plan.stages(), plan.rows().len()), (1, 0));
                said += 1;
            }
        }
        assert_eq!(said > 0, !["mirror", "concat"].contains(&name), "{name}");
    }
}

fn one_down(members: usize, member: u32) -> Health {
    let mut health = Health::all_up(members);
    health.fail(member);
    health
}
