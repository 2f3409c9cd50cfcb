//! What writes and reads under parity cost, healthy and not.

use super::*;
use crate::Step;

fn raid5(rule: WriteRule) -> Parity {
    Parity::new(Code::P, Rotation::LeftSymmetric, rule, 32, &[320; 5]).unwrap()
}

fn raid6() -> Parity {
    let rule = WriteRule::FewestRequests;
    Parity::new(Code::PQ, Rotation::LeftSymmetric, rule, 32, &[320; 6]).unwrap()
}

fn health(members: usize, failed: &[u32]) -> Health {
    let mut health = Health::all_up(members);
    for &member in failed {
        health.fail(member);
    }
    health
}

fn plan(layout: &Parity, request: Request, failed: &[u32]) -> Plan {
    let mut plan = Plan::new();
    layout.plan(request, &health(layout.members(), failed), &mut plan).unwrap();
    plan
}

fn count(plan: &Plan) -> (usize, usize) {
    let reads = plan.steps().iter().filter(|step| step.request.op == Op::Read).count();
    (reads, plan.steps().len() - reads)
}

fn shown(steps: &[Step]) -> Vec<(u32, u64, u32, Content)> {
    let shown = |step: &Step| {
        (step.request.target, step.request.sector, step.request.sectors, step.content)
    };
    steps.iter().map(shown).collect()
}

#[test]
fn a_small_write_is_two_reads_and_then_two_writes() {
    let plan = plan(&raid5(WriteRule::FewestRequests), Request::write(40, 16), &[]);
    let steps = [(1, 8, 16, Content::Data(40)), (4, 8, 16, Content::P(8))];
    assert_eq!(plan.stages(), 2);
    assert_eq!(shown(plan.stage(0)), steps);
    assert_eq!(shown(plan.stage(1)), steps);
    assert_eq!(plan.rows(), [0]);
}

#[test]
fn the_way_with_the_fewest_requests_is_taken() {
    let raid5 = raid5(WriteRule::FewestRequests);
    // Of four units: one and two by modification or its equal, three by reconstruction.
    for (units, reads) in [(1, 2), (2, 2), (3, 1), (4, 0)] {
        let plan = plan(&raid5, Request::write(0, units * 32), &[]);
        assert_eq!(count(&plan), (reads, units as usize + 1), "{units} units");
    }
    // Two units at a draw are reconstructed: units 2 and 3 are read, not 0, 1 and P.
    let drawn = plan(&raid5, Request::write(0, 64), &[]);
    assert_eq!(drawn.stage(0)[0].content, Content::Data(64));
    let raid6 = raid6();
    for (units, reads) in [(1, 3), (2, 2), (3, 1), (4, 0)] {
        let plan = plan(&raid6, Request::write(0, units * 32), &[]);
        assert_eq!(count(&plan), (reads, units as usize + 2), "{units} units");
    }
}

#[test]
fn raidframe_modifies_up_to_half_a_row() {
    let raid5 = raid5(WriteRule::HalfOfRow);
    for (units, reads) in [(1, 2), (2, 3), (3, 1), (4, 0)] {
        let plan = plan(&raid5, Request::write(0, units * 32), &[]);
        assert_eq!(count(&plan), (reads, units as usize + 1), "{units} units");
    }
    let rule = WriteRule::HalfOfRow;
    let three = Parity::new(Code::P, Rotation::LeftSymmetric, rule, 32, &[320; 3]).unwrap();
    assert_eq!(count(&plan(&three, Request::write(0, 8), &[])), (2, 2));
    // The end of one unit and the start of the next change two parts of the parity.
    let apart = plan(&three, Request::write(24, 16), &[]);
    assert_eq!(count(&apart), (4, 4));
    // One failed unit elsewhere in the row: reconstruction could not, modification can.
    let elsewhere = plan(&raid5, Request::write(0, 96), &[3]);
    assert_eq!(count(&elsewhere), (4, 4));
}

#[test]
fn whole_rows_do_not_wait_for_the_reads_of_others() {
    let plan = plan(&raid5(WriteRule::FewestRequests), Request::write(120, 136 + 16), &[]);
    assert_eq!(plan.rows(), [0, 1, 2]);
    let row_1_writes = plan.stage(0).iter().filter(|step| step.request.op == Op::WRITE);
    assert_eq!(row_1_writes.count(), 5);
    assert!(plan.stage(1).iter().all(|step| step.request.op == Op::WRITE));
    assert_eq!(count(&plan), (4, 9));
}

#[test]
fn parity_ranges_are_no_longer_than_what_changes() {
    // Sectors 24 to 31 of unit 0 and 0 to 7 of unit 1: two ranges of P with a gap.
    let plan = plan(&raid5(WriteRule::FewestRequests), Request::write(24, 16), &[]);
    let parity = plan.stage(1).iter().filter(|step| matches!(step.content, Content::P(_)));
    let ranges: Vec<(u64, u32)> =
        parity.map(|step| (step.request.sector, step.request.sectors)).collect();
    assert_eq!(ranges, [(0, 8), (24, 8)]);
}

#[test]
fn degraded_reads_read_the_rest_of_the_row_once() {
    let raid5 = raid5(WriteRule::FewestRequests);
    let read = plan(&raid5, Request::read(0, 32), &[0]);
    assert_eq!((count(&read), read.rows()), ((4, 0), [0].as_slice()));
    assert_eq!(count(&plan(&raid5, Request::read(0, 128), &[0])), (4, 0));
    let healthy = plan(&raid5, Request::read(32, 32), &[0]);
    assert_eq!((count(&healthy), healthy.rows()), ((1, 0), [].as_slice()));
    // Q stands in only where P is not enough. Row 0 of six members is Q 0 1 2 3 P.
    let one = plan(&raid6(), Request::read(0, 32), &[1]);
    assert_eq!(one.steps().last().unwrap().content, Content::P(0));
    assert_eq!(count(&one), (4, 0));
    assert_eq!(count(&plan(&raid6(), Request::read(0, 32), &[1, 2])), (4, 0));
    let without_p = plan(&raid6(), Request::read(0, 32), &[1, 5]);
    assert_eq!(without_p.steps().last().unwrap().content, Content::Q(0));
}

#[test]
fn degraded_writes_keep_what_the_failed_member_should_hold_in_parity() {
    let raid5 = raid5(WriteRule::FewestRequests);
    // To the failed unit: the others are read, only P is written. Row 0 is 0 1 2 3 P.
    let lost_data = plan(&raid5, Request::write(0, 32), &[0]);
    assert_eq!(count(&lost_data), (3, 1));
    assert_eq!(lost_data.stage(1)[0].content, Content::P(0));
    // P failed: just the data, at once.
    let lost_parity = plan(&raid5, Request::write(0, 32), &[4]);
    assert_eq!((count(&lost_parity), lost_parity.stages()), ((0, 1), 1));
    // Two data units failed, one of them written: all that is left tells the other.
    let two = plan(&raid6(), Request::write(0, 32), &[1, 2]);
    assert_eq!(count(&two), (4, 2));
}

#[test]
fn a_rebuild_reads_what_tells_the_lost_unit() {
    let raid5 = raid5(WriteRule::FewestRequests);
    let mut plan = Plan::new();
    let lost = Place { member: 4, sector: 16 };
    raid5.rebuild(lost, 32, &health(5, &[4]), &mut plan).unwrap();
    // The rest of P of row 0, and the start of a data unit of row 1.
    assert_eq!(count(&plan), (8, 2));
    assert_eq!((plan.rows(), plan.stages()), ([0, 1].as_slice(), 2));
    let writes = [(4, 16, 16, Content::P(16)), (4, 32, 16, Content::Data(128))];
    assert_eq!(shown(plan.stage(1)), writes);
    // Behind the last row there is nothing to restore.
    raid5.rebuild(Place { member: 4, sector: 320 }, 32, &health(5, &[4]), &mut plan).unwrap();
    assert_eq!(plan.stages(), 0);
}

#[test]
fn what_cannot_be_laid_out_is_an_error() {
    let rule = WriteRule::FewestRequests;
    let two = Parity::new(Code::P, Rotation::LeftSymmetric, rule, 8, &[16]).unwrap_err();
    assert_eq!(two, LayoutError::TooFewMembers { needed: 2, given: 1 });
    let four = Parity::new(Code::PQ, Rotation::LeftSymmetric, rule, 8, &[16; 3]).unwrap_err();
    assert_eq!(four, LayoutError::TooFewMembers { needed: 4, given: 3 });
    let ddf = Parity::new(Code::P, Rotation::DdfNRestart, rule, 8, &[16; 4]).unwrap_err();
    assert_eq!(ddf, LayoutError::RotationNeedsQ);
}

/// A write within one unit is planned without bands: the same plan as by the general rules, wherever it applies.
#[test]
fn a_small_write_has_the_plan_of_the_general_rules() {
    let mut small = 0;
    for rule in [WriteRule::FewestRequests, WriteRule::HalfOfRow] {
        for (code, members) in [(Code::P, 2..9), (Code::PQ, 4..9)] {
            for members in members {
                let sizes = vec![24; members];
                let layout = Parity::new(code, Rotation::LeftSymmetric, rule, 8, &sizes).unwrap();
                let up = health(members, &[]);
                for (op, sector, sectors) in small_writes(layout.sectors()) {
                    let request = Request { target: 0, op, sector, sectors };
                    let (mut short, mut general) = (Plan::new(), Plan::new());
                    small += u32::from(layout.plan_small_write(request, &up, &mut short));
                    layout.plan(request, &up, &mut short).unwrap();
                    layout.plan_any_write(request, &up, &mut general).unwrap();
                    assert_eq!(short.rows(), general.rows(), "{request:?} {members} {rule:?}");
                    assert_eq!(short.stages(), general.stages());
                    for stage in 0..short.stages() {
                        assert_eq!(short.stage(stage), general.stage(stage), "{request:?}");
                    }
                }
                let one_down = health(members, &[0]);
                let request = Request::write(0, 4);
                assert!(!layout.plan_small_write(request, &one_down, &mut Plan::new()));
            }
        }
    }
    assert!(small > 1000, "{small} of them are small");
}

/// Writes of all lengths up to somewhat more than a unit of 8 sectors, everywhere.
fn small_writes(sectors: u64) -> impl Iterator<Item = (Op, u64, u32)> {
    let ops = [Op::WRITE, Op::Write { fua: true }, Op::Zeroes];
    (0..sectors).flat_map(move |sector| {
        let lengths = 1..=9_u32.min((sectors - sector) as u32);
        lengths.map(move |length| (ops[length as usize % 3], sector, length))
    })
}
