//! A site: a directory that holds all that a run sets up on this machine, and takes it down again.
//!
//! ```text
//! DIR/.ileave-site-PID/lock      held for as long as the run lives
//!                     /journal   every command, written down before it runs
//!                     /take-down what takes down the array or pool that a trial has built
//!                     /0.img …   the images
//!                     /mnt       where file systems are mounted
//! ```
//!
//! What is to be taken down is asked of the kernel, not of a memory that may be one step behind it: every mount
//! below the site, every loop device over a file in it. What is built on members says beforehand what takes it down. So the next run can do it for one that was killed.

mod images;
mod shell;
mod sweep;

pub use images::{Images, parse_images};
pub use shell::{Ran, Shell, Step};
pub use sweep::sweep;

use super::Undo;
use crate::error::{Error, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the names of sites begin with.
const PREFIX: &str = ".ileave-site-";

/// A directory of a run's own, gone when this is dropped.
pub struct Site {
    directory: PathBuf,
    /// Whether a signal has ended the run: nothing more is set up.
    stopped: Arc<AtomicBool>,
    _lock: File,
}

impl Site {
    /// Makes a site in `parent`, after it has taken down those of runs that are dead. `undo` learns how to
    /// take it down.
    ///
    /// # Errors
    ///
    /// Where a directory cannot be made there, or what a dead run left cannot be taken down.
    pub fn new(parent: &Path, undo: &Undo) -> Result<Self> {
        let parent = parent.canonicalize().map_err(|error| {
            Error::input(format!("{}: {error}; name a directory that is there", parent.display()))
        })?;
        sweep(&parent)?;
        let directory = parent.join(format!("{PREFIX}{}", std::process::id()));
        let failed =
            |error| Error::failure(format!("cannot make {}: {error}", directory.display()));
        fs::create_dir(&directory).map_err(failed)?;
        let lock = File::create(directory.join("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        fs::create_dir(directory.join("mnt")).map_err(failed)?;
        let stopped = Arc::new(AtomicBool::new(false));
        let (site, flag) = (directory.clone(), Arc::clone(&stopped));
        undo.add(move || {
            flag.store(true, Ordering::SeqCst);
            // Whoever was in a program of ours ends it, and its files are closed.
            let _ = sweep::take_down(&site);
        });
        Ok(Site { directory, stopped, _lock: lock })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where file systems are mounted.
    pub fn mount_point(&self) -> PathBuf {
        self.directory.join("mnt")
    }

    /// Whether a signal has ended the run.
    pub fn stopped(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stopped)
    }

    /// Ends the programs that use it, and unmounts what is mounted in it; images and loop devices stay.
    ///
    /// # Errors
    ///
    /// Where something stays mounted.
    pub fn clear(&self) -> Result<()> {
        sweep::clear(&self.directory)
    }

    /// What runs commands here.
    pub fn shell(&self) -> Shell {
        Shell::new(&self.directory, self.stopped())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // What is left is taken down by the next run in this directory.
        let _ = sweep::take_down(&self.directory);
    }
}
