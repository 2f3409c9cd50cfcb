//! Soft updates: which changes of an operation may come to the disk only after which others.
//!
//! | may come | only after |
//! |---|---|
//! | a directory entry | the new inode that it names |
//! | an inode, an indirect block | the bitmaps that say what it takes; what its new blocks hold |
//!
//! What a directory's inode would wait for is left out.

use crate::fs::ffs::mount::Role;
use crate::fs::ffs::{Block, Step};
use crate::fs::kernel::{Kernel, Pool};

/// Has `kernel` keep the order among the changes of one operation.
pub(super) fn keep(steps: &[Step], kernel: &Kernel) {
    let changed = |is: fn(&Block, Role) -> bool| {
        steps.iter().filter_map(move |step| match step {
            Step::Change { block, role, .. } if is(block, *role) => Some((*block, *role)),
            _ => None,
        })
    };
    let is_pointed_to = |block: &Block, role| role == Role::Bitmaps || block.pool == Pool::Data;
    let points = |_: &Block, role| matches!(role, Role::NewInode | Role::Size | Role::FilePointer);
    let enters = |_: &Block, role| matches!(role, Role::Entry | Role::NewDirectoryBlock);
    let pointed_to = changed(is_pointed_to).map(|(block, _)| block.extent.sector);
    let mut pointed_to: Vec<u64> = pointed_to.filter(|&it| kernel.is_unwritten(it)).collect();
    pointed_to.sort_unstable();
    pointed_to.dedup();
    let mut new_inode = None;
    for (block, role) in changed(points) {
        if role == Role::NewInode || !pointed_to.is_empty() {
            let id = kernel.order(block.extent.sector, block.delay, &pointed_to, None);
            new_inode = new_inode.or((role == Role::NewInode).then_some(id));
        }
    }
    if new_inode.is_some() {
        for (block, _) in changed(enters) {
            kernel.order(block.extent.sector, block.delay, &[], new_inode);
        }
    }
}
