//! Where P, Q and the data are in each row.
//!
//! ```text
//! four members, P alone                                five members, P and Q
//! left-symmetric    left-asymmetric   parity-last      left-symmetric    ddf-n-continue
//! 0  1  2  P        0  1  2  P        0  1  2  P       Q  0  1  2  P     0  1  2  Q  P
//! 4  5  P  3        3  4  P  5        3  4  5  P       3  4  5  P  Q     4  5  Q  P  3
//! 8  P  6  7        6  P  7  8        6  7  8  P       7  8  P  Q  6     8  Q  P  6  7
//! ```
//!
//! *Left* and *right* say in which direction P moves from row to row. *Symmetric* data starts behind
//! the parity and wraps around, so that any N consecutive units of the volume are on N different
//! members (N members in all). *Asymmetric* data fills the remaining members, from the first on.

/// How the places of parity and data change from row to row, under mdadm's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rotation {
    /// P moves left, data starts behind it. The default of md and RAIDframe.
    LeftSymmetric,
    /// P moves left, data fills the remaining members.
    LeftAsymmetric,
    /// P moves right, data starts behind it.
    RightSymmetric,
    /// P moves right, data fills the remaining members.
    RightAsymmetric,
    /// Parity stays on the first members.
    ParityFirst,
    /// Parity stays on the last members: RAID 4.
    ParityLast,
    /// As right-asymmetric, but Q counts members; SNIA's DDF "zero restart".
    DdfZeroRestart,
    /// As left-asymmetric one row on, but Q counts members; DDF "N restart".
    DdfNRestart,
    /// P moves left with Q in front of it, and Q counts members; DDF "N continue".
    DdfNContinue,
    /// Left-symmetric RAID 5 on all members but the last, which has Q.
    LeftSymmetric6,
    /// Left-asymmetric RAID 5 on all members but the last, which has Q.
    LeftAsymmetric6,
    /// Right-symmetric RAID 5 on all members but the last, which has Q.
    RightSymmetric6,
    /// Right-asymmetric RAID 5 on all members but the last, which has Q.
    RightAsymmetric6,
    /// P on the first member and Q on the last.
    ParityFirst6,
    /// btrfs: parity starts on the last members and moves right, data starts behind it.
    Btrfs,
}

/// The direction in which P moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    Left,
    LeftOneOn,
    Right,
    RightFromLast,
    First,
    Last,
}

/// Where data goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Data {
    Behind,
    Rest,
}

/// Where Q is, and what its powers count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// Behind P, counting data from behind Q.
    Next,
    /// Behind P, counting members.
    NextOfMembers,
    /// In front of P, counting members.
    BeforeOfMembers,
    /// On the last member, counting data.
    LastMember,
}

impl Rotation {
    /// The definition of each rotation.
    fn rule(self) -> (Walk, Data, Beside) {
        match self {
            Rotation::LeftSymmetric => (Walk::Left, Data::Behind, Beside::Next),
            Rotation::LeftAsymmetric => (Walk::Left, Data::Rest, Beside::Next),
            Rotation::RightSymmetric => (Walk::Right, Data::Behind, Beside::Next),
            Rotation::RightAsymmetric => (Walk::Right, Data::Rest, Beside::Next),
            Rotation::ParityFirst => (Walk::First, Data::Rest, Beside::Next),
            Rotation::ParityLast => (Walk::Last, Data::Rest, Beside::Next),
            Rotation::DdfZeroRestart => (Walk::Right, Data::Rest, Beside::NextOfMembers),
            Rotation::DdfNRestart => (Walk::LeftOneOn, Data::Rest, Beside::NextOfMembers),
            Rotation::DdfNContinue => (Walk::Left, Data::Behind, Beside::BeforeOfMembers),
            Rotation::LeftSymmetric6 => (Walk::Left, Data::Behind, Beside::LastMember),
            Rotation::LeftAsymmetric6 => (Walk::Left, Data::Rest, Beside::LastMember),
            Rotation::RightSymmetric6 => (Walk::Right, Data::Behind, Beside::LastMember),
            Rotation::RightAsymmetric6 => (Walk::Right, Data::Rest, Beside::LastMember),
            Rotation::ParityFirst6 => (Walk::First, Data::Rest, Beside::LastMember),
            Rotation::Btrfs => (Walk::RightFromLast, Data::Behind, Beside::Next),
        }
    }

    /// Whether it places Q in a way that has no meaning with P alone.
    pub(super) fn needs_q(self) -> bool {
        self.rule().2 != Beside::Next
    }

    /// The columns of row `row` on `members` members, `parities` of them with parity.
    pub(super) fn columns(self, row: u64, members: u32, parities: u32) -> Columns {
        let (walk, data, beside) = self.rule();
        // The members that P moves over.
        let ring = if beside == Beside::LastMember { members - 1 } else { members };
        let turn = (row % u64::from(ring)) as u32;
        let parities_on_ring = if beside == Beside::LastMember { 1 } else { parities };
        let p = match walk {
            Walk::Left => ring - 1 - turn,
            Walk::LeftOneOn => around(2 * ring - 2 - turn, ring),
            Walk::Right => turn,
            Walk::RightFromLast => around(ring - parities_on_ring + turn, ring),
            Walk::First => 0,
            Walk::Last => ring - parities_on_ring,
        };
        let q = (parities == 2).then_some(match beside {
            Beside::Next | Beside::NextOfMembers => around(p + 1, ring),
            Beside::BeforeOfMembers => around(p + ring - 1, ring),
            Beside::LastMember => members - 1,
        });
        let first_data = (data == Data::Behind).then(|| match q {
            Some(q) if beside == Beside::Next => around(q + 1, ring),
            _ => around(p + 1, ring),
        });
        let by_member = matches!(beside, Beside::NextOfMembers | Beside::BeforeOfMembers);
        Columns { members, ring, p, q, first_data, by_member }
    }
}

/// The remainder of `number`, which is below twice `ring`: a division would take longer than the rest.
fn around(number: u32, ring: u32) -> u32 {
    debug_assert!(number < 2 * ring, "{number} goes round {ring} more than once");
    if number < ring { number } else { number - ring }
}

/// What each member has in one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    members: u32,
    ring: u32,
    pub(super) p: u32,
    pub(super) q: Option<u32>,
    /// The member of the first unit, where the others follow it cyclically; otherwise they fill the
    /// remaining members.
    first_data: Option<u32>,
    by_member: bool,
}

impl Columns {
    /// The member that has data unit `unit`.
    pub(super) fn member(&self, unit: u32) -> u32 {
        if let Some(first) = self.first_data {
            return around(first + unit, self.ring);
        }
        let (low, high) = self.parities();
        let member = unit + u32::from(unit >= low);
        member + u32::from(member >= high)
    }

    /// The data unit on `member`; none where the member has parity.
    pub(super) fn unit(&self, member: u32) -> Option<u32> {
        let (low, high) = self.parities();
        if member == low || member == high {
            return None;
        }
        Some(match self.first_data {
            Some(first) => around(member + self.ring - first, self.ring),
            None => member - u32::from(member > low) - u32::from(member > high),
        })
    }

    /// The members with parity, in order. Without Q, no member is named for it.
    fn parities(&self) -> (u32, u32) {
        let q = self.q.unwrap_or(u32::MAX);
        (self.p.min(q), self.p.max(q))
    }

    /// The power of the generator that is the weight of data unit `unit` in Q.
    pub(super) fn exponent(&self, unit: u32) -> u32 {
        let member = self.member(unit);
        let Some(q) = self.q else { return unit };
        if self.by_member {
            return member;
        }
        let behind_q = |other: u32| (other + self.members - q - 1) % self.members;
        behind_q(member) - u32::from(behind_q(self.p) < behind_q(member))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(rotation: Rotation, members: u32, parities: u32, row: u64) -> String {
        let columns = rotation.columns(row, members, parities);
        let data = members - parities;
        let name = |member| match columns.unit(member) {
            Some(unit) => (row as u32 * data + unit).to_string(),
            None if member == columns.p => "P".into(),
            None => "Q".into(),
        };
        (0..members).map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_rotations_are_as_drawn() {
        for (rotation, parities, rows) in [
            (Rotation::LeftSymmetric, 1, ["0 1 2 P", "4 5 P 3", "8 P 6 7", "P 9 10 11"].as_slice()),
            (Rotation::LeftAsymmetric, 1, &["0 1 2 P", "3 4 P 5", "6 P 7 8", "P 9 10 11"]),
            (Rotation::RightSymmetric, 1, &["P 0 1 2", "5 P 3 4"]),
            (Rotation::RightAsymmetric, 1, &["P 0 1 2", "3 P 4 5"]),
            (Rotation::ParityLast, 1, &["0 1 2 P", "3 4 5 P"]),
            (Rotation::ParityFirst, 1, &["P 0 1 2", "P 3 4 5"]),
            (Rotation::Btrfs, 1, &["0 1 2 P", "P 3 4 5", "8 P 6 7"]),
            (Rotation::LeftSymmetric, 2, &["Q 0 1 2 P", "3 4 5 P Q", "7 8 P Q 6"]),
            (Rotation::DdfNContinue, 2, &["0 1 2 Q P", "4 5 Q P 3"]),
            (Rotation::LeftAsymmetric6, 2, &["0 1 2 P Q", "3 4 P 5 Q"]),
            (Rotation::ParityLast, 2, &["0 1 2 P Q", "3 4 5 P Q"]),
        ] {
            for (row, expected) in rows.iter().enumerate() {
                let members = 3 + parities;
                assert_eq!(drawn(rotation, members, parities, row as u64), *expected);
            }
        }
    }
}
