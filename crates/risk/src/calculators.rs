//! What other calculators say of the same array, so that two answers can be compared.
//!
//! Each leaves something out or adds what is another thing; [`OTHERS`] says what.

use crate::chain::{read_error, within};

/// Other calculators, by how they count: a name, and what to know of it.
pub const OTHERS: [(&str, &str); 3] = [
    ("MTTDL (SnapRAID)", "no read errors, failures independent"),
    ("MTTDL and read errors (wintelguy)", "any unreadable sector counts as a lost array"),
    ("windows (Backblaze)", "too many failures within one repair time, window by window"),
];

/// Mean time to data loss of one group, in hours: MTBF^(p+1) / (n (n−1) … (n−p) MTTR^p).
///
/// Drives that are rebuilt side by side, each with a spare and a bandwidth of its own, make that p! times as long
/// (wintelguy). Eight drives of 461,386 h, one parity, 12 h: 316,781,311 h.
pub fn mttdl_h(
    members: usize,
    survived: usize,
    mtbf_h: f64,
    mttr_h: f64,
    side_by_side: bool,
) -> f64 {
    let mut time_h = 1.0;
    for down in 0..=survived {
        time_h *= mtbf_h / (members - down) as f64;
    }
    for down in 1..=survived {
        time_h *= if side_by_side { down as f64 } else { 1.0 } / mttr_h;
    }
    time_h
}

/// The same where the rebuild from the last state that is survived meets an unreadable bit with the probability
/// `unreadable`.
///
/// For one parity MTBF / (n · P); for two MTBF² / (n (n−1) MTTR P).
pub fn mttdl_unreadable_h(
    members: usize,
    survived: usize,
    mtbf_h: f64,
    mttr_h: f64,
    unreadable: f64,
) -> f64 {
    match survived {
        0 => f64::INFINITY,
        _ => mttdl_h(members, survived - 1, mtbf_h, mttr_h, true) / unreadable,
    }
}

/// The probability that more than `survived` of the members fail within one window of `window_h`, in any of the
/// windows of a year. Backblaze's durability script.
///
/// 4 + 2 drives of 10 % a year, a day each: 1.49968e-7.
pub fn windows_per_year(members: usize, survived: usize, afr: f64, window_h: f64) -> f64 {
    let days = window_h / 24.0;
    let failed = afr * days / 365.0;
    let mut lost = 0.0;
    // The ways for so many to have failed, times the probability of each.
    let mut ways = (1.0 - failed).powf(members as f64);
    for down in 0..=members {
        lost += if down > survived { ways } else { 0.0 };
        ways *= (members - down) as f64 / (down + 1) as f64 * failed / (1.0 - failed);
    }
    -((365.0 / days) * (-lost).ln_1p()).exp_m1()
}

/// The probability of a first failure within `hours`, and of as many more within one window as are not survived;
/// ceph-tools' model of reliability.
pub fn first_then(
    members: usize,
    survived: usize,
    failures_per_h: f64,
    hours: f64,
    window_h: f64,
) -> f64 {
    let failed = |left: usize, hours: f64| within(hours, 1.0 / (left as f64 * failures_per_h));
    let more = (1..=survived).map(|down| failed(members - down, window_h));
    failed(members, hours) * more.product::<f64>()
}

/// What an array of groups loses within `hours` as each of [`OTHERS`] counts it.
pub fn others(group: &Group, hours: f64) -> [f64; 3] {
    let Group {
        groups,
        groups_apart,
        members,
        survived,
        at_stake,
        afr,
        mttr_h,
        drive_bytes,
        per_bit,
    } = *group;
    let mtbf_h = crate::YEAR_H / afr;
    let read = read_error(at_stake * drive_bytes, per_bit);
    let failures = 1.0 / mttdl_h(members, survived, mtbf_h, mttr_h, false);
    let unreadable = 1.0 / mttdl_unreadable_h(members, survived, mtbf_h, mttr_h, read);
    let window = windows_per_year(members, survived, afr, mttr_h.min(crate::YEAR_H));
    let years = hours / crate::YEAR_H;
    let all = groups as f64;
    [
        within(hours, 1.0 / (all * failures)),
        within(hours, 1.0 / (all * failures + groups_apart * unreadable)),
        -(all * years * (-window).ln_1p()).exp_m1(),
    ]
}

/// What other calculators ask.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Groups side by side.
    pub groups: usize,
    /// The same as if none overlapped.
    pub groups_apart: f64,
    /// Members of each.
    pub members: usize,
    /// How many of a group may be down.
    pub survived: usize,
    /// Of how many drives all has to be read once no more may be down.
    pub at_stake: f64,
    /// Failures of a drive in a year.
    pub afr: f64,
    /// From a failure to the end of its rebuild, in hours.
    pub mttr_h: f64,
    /// Bytes of a drive.
    pub drive_bytes: f64,
    /// Unreadable bits per bit read.
    pub per_bit: f64,
}
