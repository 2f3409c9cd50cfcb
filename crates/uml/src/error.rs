//! What can go wrong between the kernel and its drives.

use std::fmt;
use std::io;

/// The result of what may go wrong here.
pub type Result<T> = std::result::Result<T, Error>;

/// An error, in words for the user.
#[derive(Debug)]
pub struct Error(String);

impl Error {
    /// An error with these words.
    pub fn new(words: impl Into<String>) -> Self {
        Error(words.into())
    }

    /// The same, after what was being done.
    #[must_use]
    pub fn context(self, doing: impl fmt::Display) -> Self {
        Error(format!("{doing}: {}", self.0))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error(error.to_string())
    }
}

impl From<rustix::io::Errno> for Error {
    fn from(error: rustix::io::Errno) -> Self {
        Error(io::Error::from(error).to_string())
    }
}
