//! A results directory while somebody else writes it.

use super::{ATTEMPTS, TRIALS};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How many trials a results directory has, asked again and again.
#[derive(Debug)]
pub struct Follower {
    directory: PathBuf,
    /// Where the last whole line ended that was counted.
    end: u64,
    finished: usize,
}

impl Follower {
    /// Follows a directory, which need not be there yet.
    pub fn new(directory: &Path) -> Self {
        Follower { directory: directory.into(), end: 0, finished: 0 }
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// How many trials are finished now. Only what is new is read; what cannot be read has none.
    pub fn finished(&mut self) -> usize {
        if self.count().is_err() {
            (self.end, self.finished) = (0, 0);
        }
        self.finished
    }

    fn count(&mut self) -> std::io::Result<()> {
        let mut file = File::open(self.directory.join(TRIALS))?;
        if file.metadata()?.len() < self.end {
            // Put back to an earlier state, or removed and started again.
            (self.end, self.finished) = (0, 0);
        }
        file.seek(SeekFrom::Start(self.end))?;
        let mut new = Vec::new();
        file.read_to_end(&mut new)?;
        let ends = new.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        if let Some((last, _)) = ends.clone().next_back() {
            self.finished += ends.count();
            self.end += last as u64 + 1;
        }
        Ok(())
    }

    /// Whether an ileave has it open, and so may add to it.
    pub fn is_written(&self) -> bool {
        let attempts = File::open(self.directory.join(ATTEMPTS));
        // A lock that is shared keeps nobody from asking the same; it is gone with the file.
        attempts.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn whole_lines_are_counted_as_they_come() {
        let name = format!("ileave-follow-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).unwrap();
        let mut follower = Follower::new(&directory);
        let mut then = |text: &str| {
            fs::write(directory.join(TRIALS), text).unwrap();
            follower.finished()
        };
        assert_eq!(then(""), 0);
        assert_eq!(then("one\n"), 1);
        assert_eq!(then("one\ntw"), 1);
        assert_eq!(then("one\ntwo\nthree\nfo"), 3);
        assert_eq!(then("one\n"), 1);
        assert_eq!(then("one\ntwo\n"), 2);
        assert!(!follower.is_written());
        let attempts = File::create(directory.join(ATTEMPTS)).unwrap();
        assert!(!follower.is_written());
        attempts.try_lock().unwrap();
        assert!(follower.is_written());
        drop(attempts);
        assert!(!follower.is_written());
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(follower.finished(), 0);
    }
}
