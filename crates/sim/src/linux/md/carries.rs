//! What bios to members are for.

use super::RowStep;
use crate::linux::queue::Memory;
use crate::linux::requests::Carry;
use block::Request;

/// What a bio to a member is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Carries {
    /// A step of a row or of several.
    Row(RowStep),
    /// A read past the cache, or a flush: whose, and which part.
    Direct(usize, Request),
    /// A page of the bitmap, or the flush before it.
    Bitmap,
    /// A superblock, or the flush before it.
    Mark,
}

impl Carries {
    /// The rows that it is a step of.
    pub(super) fn rows(&self) -> u32 {
        match self {
            Carries::Row(step) => step.rows,
            Carries::Direct(..) | Carries::Bitmap | Carries::Mark => 0,
        }
    }

    /// The write of a row that it is a part of.
    pub(super) fn write(&self) -> Option<usize> {
        match self {
            Carries::Row(step) => step.write,
            Carries::Direct(..) | Carries::Bitmap | Carries::Mark => None,
        }
    }
}

impl Carry for Carries {
    fn memory(&self) -> Memory {
        match self {
            Carries::Row(_) => Memory::Pages,
            Carries::Direct(..) | Carries::Bitmap | Carries::Mark => Memory::Whole,
        }
    }

    fn is_alone(&self) -> bool {
        matches!(self, Carries::Row(RowStep { is_alone: true, .. }))
    }
}
