//! Files that are locked against other programs.

use std::fs::{File, TryLockError};
use std::ops::{Deref, DerefMut};

/// A file that is locked for as long as this is kept, and not longer: a child that another thread has just started has
/// all files open, too, until it is another program, and the lock with them.
#[derive(Debug)]
pub struct Held(File);

impl Held {
    /// Locks a file against all others that lock it.
    ///
    /// # Errors
    ///
    /// Where another has it, or it cannot be locked.
    pub fn alone(file: File) -> Result<Self, TryLockError> {
        file.try_lock().map(|()| Held(file))
    }

    /// Locks a file against all others where it can be locked; nothing where another has it. Not every file system has locks.
    pub fn alone_where_it_can_be(file: File) -> Option<Self> {
        let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        (!is_taken).then_some(Held(file))
    }
}

impl Deref for Held {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Where it fails, the kernel lets go of it with the last that has it open.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_it_though_a_child_has_the_file_open() {
        let name = std::env::temp_dir().join(format!("ileave-held-{}", std::process::id()));
        let open = || File::options().create(true).append(true).open(&name).unwrap();
        let held = Held::alone(open()).unwrap();
        let of_child = held.try_clone().unwrap();
        assert!(Held::alone(open()).is_err());
        assert!(Held::alone_where_it_can_be(open()).is_none());
        drop(held);
        let again = Held::alone(open()).expect("it is not locked any more");
        drop((again, of_child));
        std::fs::remove_file(name).unwrap();
    }
}
