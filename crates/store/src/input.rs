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
    let (file, is_handed_over) = opened(path, most_bytes)?;
    let read = move || {
        let mut bytes = Vec::new();
        file.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes).map(|_| bytes)
    };
    // A pipe takes as long as the program at its other end.
    let bytes = if is_handed_over { read()? } else { in_time(read)? };
    if bytes.len() as u64 > most_bytes { Err(too_large(most_bytes)) } else { Ok(bytes) }
}

/// So many bytes of lines are held at a time.
const BLOCK_BYTES: u64 = 8 << 20;

/// Gives `each` the same in blocks of whole lines, of which the file's last may lack its end: what holds results need not be in
/// memory beside them.
///
/// # Errors
///
/// As [`read_bytes`], where the minute is one block's.
pub fn read_lines(path: &Path, most_bytes: u64, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let (file, is_handed_over) = opened(path, most_bytes)?;
    let mut left_bytes = most_bytes;
    let mut blocks = Blocks { file, rest: Vec::new() };
    loop {
        let read = move || {
            let block = blocks.next()?;
            Ok((blocks, block))
        };
        let (next, block) = if is_handed_over { read()? } else { in_time(read)? };
        blocks = next;
        if block.is_empty() {
            return Ok(());
        }
        let left = left_bytes.checked_sub(block.len() as u64);
        left_bytes = left.ok_or_else(|| too_large(most_bytes))?;
        each(&block);
    }
}

/// A file, and what was read of it beyond the last line that was given.
struct Blocks {
    file: File,
    rest: Vec<u8>,
}

impl Blocks {
    /// The next whole lines, or the last one without its end; nothing at the end of the file.
    fn next(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            if (&mut self.file).take(BLOCK_BYTES).read_to_end(&mut bytes)? == 0 {
                return Ok(bytes);
            }
            if let Some(end) = bytes.iter().rposition(|&byte| byte == b'\n') {
                self.rest = bytes.split_off(end + 1);
                return Ok(bytes);
            }
        }
    }
}

/// A file of at most so many bytes that may be read, and whether it was open already.
fn opened(path: &Path, most_bytes: u64) -> io::Result<(File, bool)> {
    let is_handed_over = is_handed_over(path);
    let there = fs::metadata(path)?;
    if !is_handed_over && !there.is_file() {
        let kind = if there.is_dir() { "a directory" } else { "a device, pipe or socket" };
        return Err(io::Error::other(format!("it is {kind}, not a regular file")));
    }
    if there.is_file() && there.len() > most_bytes {
        return Err(too_large(most_bytes));
    }
    Ok((File::open(path)?, is_handed_over))
}

fn too_large(most_bytes: u64) -> io::Error {
    let most = block::units::format_bytes(most_bytes);
    io::Error::other(format!("it is larger than {most}, the most that is read of such a file"))
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
fn in_time<T: Send + 'static>(
    read: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
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

    /// The results of 100,000 trials were in memory twice, as a text and as records.
    #[test]
    fn lines_come_in_blocks_and_none_is_cut() {
        let directory = std::env::temp_dir().join(format!("ileave-lines-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("lines");
        let line = format!("{}\n", "x".repeat(99_999));
        let text = format!("{}the last", line.repeat(200));
        fs::write(&path, &text).unwrap();
        let mut blocks: Vec<Vec<u8>> = Vec::new();
        read_lines(&path, RESULTS_BYTES, |block| blocks.push(block.to_vec())).unwrap();
        assert!(blocks.len() > 2 && blocks.iter().all(|block| block.len() <= 9 << 20));
        let (last, whole) = blocks.split_last().unwrap();
        assert!(whole.iter().all(|block| block.ends_with(b"\n")) && last.ends_with(b"the last"));
        assert_eq!(blocks.concat(), text.as_bytes());
        let refused = read_lines(&path, 1000, |_| panic!("nothing is read")).unwrap_err();
        assert!(refused.to_string().contains("larger than 1000"), "{refused}");
        fs::remove_dir_all(&directory).unwrap();
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
