//! Programs on the modelled file system as tasks, compiled here. A program that is generic over its files is compiled by
//! whoever runs it; this crate is optimized in every profile, so that those which run its programs need not be. The
//! errors are those of the programs.

use super::fsck::{self, Work};
use super::pipe::{self, Pipe};
use super::tree::{self, Tree, Unpacking};
use crate::fs::filesystem::{Access, Look};
use crate::fs::{Files, FsError, Mounted};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A program that was given all it needs.
pub type Task = Pin<Box<dyn Future<Output = Result<(), FsError>>>>;

macro_rules! tasks {
    ($($(#[$doc:meta])* $name:ident = $program:path, ($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        // Inlined, it would be compiled where it is called.
        #[inline(never)]
        pub fn $name(files: Mounted, $($argument: $type),*) -> Task {
            Box::pin($program(files, $($argument),*))
        }
    )*};
}

tasks! {
    /// [`tree::extract`], in one program with the unpacking.
    extract = tree::extract, (tree: Arc<Tree>, archive: Unpacking<Mounted>);
    /// [`tree::extract`], from a pipe.
    extract_piped = tree::extract, (tree: Arc<Tree>, archive: Pipe);
    /// [`tree::remove_all`].
    remove_all = tree::remove_all, ();
    /// [`Files::remount`].
    remount = remounted, ();
    /// [`fsck::phase`].
    phase = fsck::phase, (looks: Vec<Look>, work: Work);
    /// [`fsck::finish`].
    finish = fsck::finish, (accesses: Vec<Access>);
    /// [`fsck::mount`].
    mount = fsck::mount, ();
    /// [`fsck::mount_new`].
    mount_new = fsck::mount_new, ();
    /// [`fsck::umount`].
    umount = fsck::umount, ();
}

async fn remounted(files: Mounted) -> Result<(), FsError> {
    files.remount().await
}

/// [`pipe::unpack`].
#[inline(never)]
pub fn unpack(pipe: Pipe, bytes: u64, work_ns_per_kib: u64) -> Task {
    Box::pin(async move {
        pipe::unpack(pipe, bytes, work_ns_per_kib).await;
        Ok(())
    })
}
