//! Plans of layouts that store every sector in one or more places, without parity.
//!
//! A read goes to any copy that is up, a write to all of them. Adjacent pieces on a member are not
//! merged: merging is the job of the queue in front of a drive, where there is one.

use super::Layout;
use crate::{Content, Health, Op, Place, Plan, Request, Unservable};
use std::mem;

/// Plans a request over copies.
pub(super) fn plan<L: Layout + ?Sized>(
    layout: &L,
    request: Request,
    health: &Health,
    plan: &mut Plan,
) -> Result<(), Unservable> {
    plan.clear();
    if request.op == Op::Flush {
        plan.flush_all(layout.members(), health);
    }
    let mut copies = mem::take(&mut plan.copies);
    let mut result = Ok(());
    let mut sector = request.sector;
    while sector < request.end() && result.is_ok() {
        copies.clear();
        let run = layout.places(sector, &mut copies).min(request.end() - sector);
        result = piece(request.op, &mut copies, run as u32, Content::Data(sector), health, plan);
        sector += run;
    }
    plan.copies = copies;
    plan.end_stage();
    result
}

/// Plans a request over one copy, where `place` finds each sector and how many from it on are contiguous: the same plan
/// as [`plan`] makes, without lists of copies.
#[inline]
pub(super) fn plan_single(
    members: usize,
    request: Request,
    health: &Health,
    plan: &mut Plan,
    place: impl Fn(u64) -> (Place, u64),
) -> Result<(), Unservable> {
    plan.clear();
    if request.op == Op::Flush {
        plan.flush_all(members, health);
    }
    let mut result = Ok(());
    let mut sector = request.sector;
    while sector < request.end() && result.is_ok() {
        let (place, run) = place(sector);
        let run = run.min(request.end() - sector);
        if health.failures() > 0 && !health.is_up(place.member) {
            result = Err(Unservable { member: place.member });
        } else {
            plan.step(request.op, place, run as u32, Content::Data(sector));
        }
        sector += run;
    }
    plan.end_stage();
    result
}

/// Plans one piece, which each of `copies` holds.
fn piece(
    op: Op,
    copies: &mut Vec<Place>,
    sectors: u32,
    content: Content,
    health: &Health,
    plan: &mut Plan,
) -> Result<(), Unservable> {
    let first = copies[0];
    if health.failures() > 0 {
        copies.retain(|copy| health.is_up(copy.member));
    }
    if copies.is_empty() {
        return Err(Unservable { member: first.member });
    }
    if op == Op::Read {
        plan.step_any_of(op, copies, sectors, content);
    } else {
        for &copy in copies.iter() {
            plan.step(op, copy, sectors, content);
        }
    }
    Ok(())
}

/// Plans how to rebuild a part of a member from the other copies: read them all, then write.
pub(super) fn rebuild<L: Layout + ?Sized>(
    layout: &L,
    lost: Place,
    sectors: u32,
    health: &Health,
    plan: &mut Plan,
) -> Result<(), Unservable> {
    plan.clear();
    let mut copies = mem::take(&mut plan.copies);
    let mut result = Ok(());
    for op in [Op::Read, Op::WRITE] {
        let (mut place, end) = (lost, lost.sector + u64::from(sectors));
        while place.sector < end && result.is_ok() {
            let (held, run) = layout.holds(place);
            let mut run = run.min(end - place.sector);
            if let Some(sector) = held {
                copies.clear();
                run = run.min(layout.places(sector, &mut copies));
                copies.retain(|copy| copy.member != lost.member && health.is_up(copy.member));
                let content = Content::Data(sector);
                match op {
                    _ if copies.is_empty() => result = Err(Unservable { member: lost.member }),
                    Op::Read => plan.step_any_of(op, &copies, run as u32, content),
                    _ => plan.step(op, place, run as u32, content),
                }
            }
            place.sector += run;
        }
        plan.end_stage();
    }
    plan.copies = copies;
    result
}
