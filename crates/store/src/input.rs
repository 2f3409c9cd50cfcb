//! Files that people name: read whole, within limits of size and time.
//!
//! A name may lead to a device, to a pipe that nobody writes to, or to a file without an end. Only regular files are
//! read, and what the shell hands over as open (`/dev/stdin`, `/dev/fd/63` of `<(command)`).

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The most that is read of a text that somebody wrote, in bytes.
pub const TEXT_BYTES: u64 = 16 << 20;
/// The most that is read of what a program wrote: results, lists, traces.
pub const RESULTS_BYTES: u64 = 1 << 30;

/// How long a regular file may take: a network's that does not answer, or a kernel's that waits, ends here.
const TIME_MAX: Duration = Duration::from_secs(60);

/// The bytes of a file of at most `most_bytes`.
///
/// # Errors
///
/// Where it cannot be read, is no regular file, is larger, or takes longer than a minute. The message says which.
pub fn read_bytes(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let is_handed_over = is_handed_over(path);
    let there = fs::metadata(path)?;
    if !is_handed_over && !there.is_file() {
        let kind = if there.is_dir() { "a directory" } else { "a device, pipe or socket" };
        return Err(io::Error::other(format!("it is {kind}, not a regular file")));
    }
    let too_large = || {
        let most = block::units::format_bytes(most_bytes);
        io::Error::other(format!("it is larger than {most}, the most that is read of such a file"))
    };
    if there.is_file() && there.len() > most_bytes {
        return Err(too_large());
    }
    let file = File::open(path)?;
    let read = move || {
        let mut bytes = Vec::new();
        file.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes).map(|_| bytes)
    };
    // A pipe takes as long as the program at its other end.
    let bytes = if is_handed_over { read()? } else { in_time(read)? };
    if bytes.len() as u64 > most_bytes { Err(too_large()) } else { Ok(bytes) }
}

/// What Windows' programs write in front of a text in UTF-8: it is none of the text.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The same as text, without a byte order mark in front.
///
/// # Errors
///
/// Where it is not UTF-8, too.
pub fn read_text(path: &Path, most_bytes: u64) -> io::Result<String> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not a text in UTF-8");
    String::from_utf8(read_bytes(path, most_bytes)?).map_err(invalid).map(without_mark)
}

fn without_mark(text: String) -> String {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => rest.into(),
        None => text,
    }
}

/// Whether a name stands for what is open already.
fn is_handed_over(path: &Path) -> bool {
    path == Path::new("/dev/stdin")
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd")
}

/// What `read` gives, where it gives it in time. A thread that hangs is left behind.
fn in_time(read: impl FnOnce() -> io::Result<Vec<u8>> + Send + 'static) -> io::Result<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(read()));
    receiver.recv_timeout(TIME_MAX).unwrap_or_else(|_| {
        let seconds = TIME_MAX.as_secs();
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("it gave no end within {seconds} s")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str, most_bytes: u64) -> String {
        read_bytes(Path::new(path), most_bytes).unwrap_err().to_string()
    }

    /// It was taken for a part of the first line: a key, a column or a request that nobody knew.
    #[test]
    fn a_byte_order_mark_is_none_of_the_text() {
        assert_eq!(without_mark("\u{feff}device,rw\n".into()), "device,rw\n");
        assert_eq!(without_mark("device\u{feff}".into()), "device\u{feff}");
    }

    #[test]
    fn only_what_ends_is_read() {
        assert!(said("/dev/zero", 1 << 20).contains("a device, pipe or socket"));
        assert!(said("/", 1 << 20).contains("a directory"));
        assert!(
            said(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), 10).contains("larger than")
        );
        let own =
            read_text(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")), TEXT_BYTES);
        assert!(own.unwrap().contains("[package]"));
        // A regular file by name, that says of itself that it is empty.
        #[cfg(target_os = "linux")]
        assert!(said("/proc/self/environ", 1).contains("larger than"));
    }
}
