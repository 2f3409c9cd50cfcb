//! Soft updates: which changes of an operation may come to the disk only after which others.
//!
//! | may come | only after |
//! |---|---|
//! | a directory entry | the new inode that it names |
//! | an inode, an indirect block | the bitmaps that say what it takes; what its new blocks hold |
//!
//! The paper of 1999 (Soft Updates, USENIX) keeps this for each inode and entry. Here it is kept for blocks: a block with
//! one change that is too early counts as a whole. What a directory's inode would wait for is left out,
//! for by blocks that would go in a circle.

use crate::fs::ffs::mount::Role;
use crate::fs::ffs::{Block, Step};
use crate::fs::kernel::{Kernel, Pool};

/// Has `kernel` keep the order among the changes of one operation.
pub(super) fn keep(steps: &[Step], kernel: &Kernel) {
    let changed = |is: fn(&Block, Role) -> bool| {
        steps.iter().filter_map(move |step| match step {
            Step::Change { block, role, .. } if is(block, *role) => Some(*block),
            _ => None,
        })
    };
    let starts = |is| changed(is).map(|block: Block| (block.extent.sector, block.owner));
    let is_pointed_to = |block: &Block, role| role == Role::Bitmaps || block.pool == Pool::Data;
    let is_new_inode = |_: &Block, role| role == Role::NewInode;
    let points = |_: &Block, role| matches!(role, Role::NewInode | Role::Size | Role::FilePointer);
    let enters = |_: &Block, role| matches!(role, Role::Entry | Role::NewDirectoryBlock);
    for block in changed(points) {
        kernel.order(block.extent.sector, block.delay, starts(is_pointed_to));
    }
    for block in changed(enters) {
        kernel.order(block.extent.sector, block.delay, starts(is_new_inode));
    }
}
