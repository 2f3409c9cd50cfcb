//! What is in an archive or below a directory, as tar(1) and find(1) list it.
//!
//! ```text
//! drwxr-xr-x root/wheel         0 2005-08-02 12:34 src/bin/            tar tvf, GNU
//! -rw-r--r-- root/wheel      1234 2005-08-02 12:34 src/bin/cat.c
//! drwxr-xr-x  0 root   wheel       0 Aug  2  2005 src/bin/             tar tvf, bsdtar; pax -v, ls -l
//! -rw-r--r--  0 root   wheel    1234 Aug  2 12:34 src/bin/cat.c
//! d 4096 src/bin                                                       find src -printf '%y %s %p\n'
//! f 1234 src/bin/cat.c
//! ```
//!
//! Lines may come from any of these, in the order in which they are to be made. Names are taken as tar
//! takes them: without a `/` or `./` in front, and with the directories that they lie in made on the way
//! where the list does not have them. A symbolic link (its target is in the inode), a device and a pipe
//! are a name and an inode, as an empty file is; a hard link is a name and a change to an inode that is
//! there, which is written as often.

use crate::error::Result;
use crate::text::{Source, shown};
use sim::fs::program::tree::{DirectoryId, Tree};
use std::collections::BTreeMap;

/// The longest name that a directory takes (`MAXNAMLEN`).
const NAME_BYTES_MAX: usize = 255;
/// The deepest that a tree goes: `PATH_MAX` of 1024 holds no more names.
const DEPTH_MAX: usize = 512;

/// A tree that was listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What is in it, in the order of the list.
    pub tree: Tree,
    /// What was taken for something else, for people.
    pub notes: Vec<String>,
}

/// What a line lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Directory,
    File(u64),
    SymbolicLink,
    HardLink,
    /// A device, a pipe or a socket.
    Special,
    /// Of the archive and not in it, as the name of its volume.
    Nothing,
}

/// Reads a list.
///
/// # Errors
///
/// Where a line is of none of these forms, a name leads outside or through a file, or nothing is listed;
/// the message names the file, the line, what stands there and what to do.
pub fn parse(label: &str, text: &str) -> Result<Listed> {
    let source = Source { label, text };
    let mut builder = Builder { source, tree: Tree::default(), known: BTreeMap::new() };
    let mut taken = Taken::default();
    for (number, line) in source.lines().filter(|(_, line)| !line.trim().is_empty()) {
        let (entry, path) = read_line(source, number, line)?;
        if taken.count(entry) {
            taken.repeated += u64::from(builder.add(number, entry, path)?);
        }
    }
    if builder.known.is_empty() {
        return Err(source.wrong_file(
            "it lists no files; make the list with `tar tvf ARCHIVE` or `find DIR -printf '%y %s %p\\n'`",
        ));
    }
    Ok(Listed { tree: builder.tree, notes: taken.notes() })
}

/// How many entries were taken for something else.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    symbolic_links: u64,
    hard_links: u64,
    specials: u64,
    repeated: u64,
}

impl Taken {
    /// Counts an entry; whether it is of the tree.
    fn count(&mut self, entry: Entry) -> bool {
        match entry {
            Entry::SymbolicLink => self.symbolic_links += 1,
            Entry::HardLink => self.hard_links += 1,
            Entry::Special => self.specials += 1,
            Entry::Nothing => return false,
            Entry::Directory | Entry::File(_) => {}
        }
        true
    }

    fn notes(&self) -> Vec<String> {
        let empty = "taken as empty files, a name and an inode each";
        let notes = [
            (self.symbolic_links, "symbolic links", empty),
            (self.hard_links, "hard links", empty),
            (self.specials, "devices, pipes and sockets", empty),
            (self.repeated, "repeated names", "ignored"),
        ];
        let told = notes.into_iter().filter(|&(count, ..)| count > 0);
        told.map(|(count, what, how)| format!("{what} are {how} ({count})")).collect()
    }
}

/// What lies at a path, so far.
#[derive(Clone, Copy)]
enum Known {
    Directory(DirectoryId),
    /// No directory, and the line that has it.
    File(usize),
}

struct Builder<'a> {
    source: Source<'a>,
    tree: Tree,
    /// By path.
    known: BTreeMap<String, Known>,
}

impl Builder<'_> {
    /// Adds what a line lists; whether it was there already.
    fn add(&mut self, line: usize, entry: Entry, path: &str) -> Result<bool> {
        let names = self.names(line, path)?;
        // The root of the archive is where it is unpacked.
        let Some((last, above)) = names.split_last() else { return Ok(false) };
        let (mut place, mut parent) = (String::new(), None);
        for name in above {
            parent = Some(self.directory(line, &mut place, parent, name)?);
        }
        if entry == Entry::Directory {
            self.directory(line, &mut place, parent, last)?;
            return Ok(false);
        }
        push(&mut place, last);
        if self.known.contains_key(&place) {
            return Ok(true);
        }
        let bytes = if let Entry::File(bytes) = entry { bytes } else { 0 };
        self.tree.add_file(parent, last, bytes);
        self.known.insert(place, Known::File(line));
        Ok(false)
    }

    /// The names of a path, from the outermost on.
    fn names<'p>(&self, line: usize, path: &'p str) -> Result<Vec<&'p str>> {
        let names: Vec<&str> =
            path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
        let wrong = |what: &str| Err(self.source.wrong(line, format!("{} {what}", shown(path))));
        if names.contains(&"..") {
            return wrong("leads out of the tree, and tar skips it; remove the line");
        }
        if names.iter().any(|name| name.len() > NAME_BYTES_MAX) {
            return wrong("has a name of more than 255 bytes; shorten it");
        }
        if names.len() > DEPTH_MAX {
            return wrong("is more than 512 directories deep; remove the line");
        }
        Ok(names)
    }

    /// The directory of this name at `place`, made if it is not there; `place` becomes its path.
    fn directory(
        &mut self,
        line: usize,
        place: &mut String,
        parent: Option<DirectoryId>,
        name: &str,
    ) -> Result<DirectoryId> {
        push(place, name);
        match self.known.get(place.as_str()) {
            Some(Known::Directory(directory)) => Ok(*directory),
            Some(Known::File(at)) => Err(self.source.wrong(
                line,
                format!("{} is not a directory in line {at}; remove one of the two", shown(place)),
            )),
            None => {
                let directory = self.tree.add_directory(parent, name);
                self.known.insert(place.clone(), Known::Directory(directory));
                Ok(directory)
            }
        }
    }
}

fn push(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('/');
    }
    path.push_str(name);
}

/// What a line lists, and its path.
fn read_line<'a>(source: Source<'_>, number: usize, line: &'a str) -> Result<(Entry, &'a str)> {
    let wrong = |message: String| source.wrong(number, message);
    let mut words = Words { line, at: 0 };
    let first = words.next().unwrap_or_default();
    let (kind, size, path) = if is_mode(first) {
        let (size, path) = after_mode(words).ok_or_else(|| {
            wrong(format!(
                "{} has no recognisable size, date and name; list the archive with `LC_ALL=C tar \
                 tvf ARCHIVE`",
                shown(line)
            ))
        })?;
        (first.as_bytes()[0], size, path)
    } else if let (&[kind], Some(size)) = (first.as_bytes(), words.next()) {
        (kind, size, words.name())
    } else {
        return Err(wrong(format!(
            "{} is not a line of `tar tvf ARCHIVE` (with the v, for the sizes) or of `find DIR -printf '%y %s \
             %p\\n'`; make the list with one of them",
            shown(line)
        )));
    };
    let entry = match kind {
        b'd' | b'D' => Entry::Directory,
        b'-' | b'f' | b'C' => Entry::File(size.parse().map_err(|_| {
            wrong(format!(
                "{} is not a size in bytes; write a whole number below 2^64",
                shown(size)
            ))
        })?),
        b'l' => Entry::SymbolicLink,
        b'h' => Entry::HardLink,
        b'b' | b'c' | b'p' | b's' => Entry::Special,
        b'V' | b'M' => Entry::Nothing,
        _ => {
            let kind = shown(first);
            let known = "d, -, f, l, h, b, c, p or s";
            return Err(wrong(format!("{kind} does not start with a known file type: {known}")));
        }
    };
    let path = match entry {
        Entry::SymbolicLink => path.split(" -> ").next().unwrap_or(path),
        Entry::HardLink => path.split(" link to ").next().unwrap_or(path),
        _ => path,
    };
    if path.trim().is_empty() {
        return Err(wrong(format!("{} has no name; write one at its end", shown(line))));
    }
    let named_as_directory = path.ends_with('/') && !matches!(entry, Entry::Nothing);
    Ok((if named_as_directory { Entry::Directory } else { entry }, path))
}

/// `drwxr-xr-x`, perhaps with a sign for an access list behind it.
fn is_mode(word: &str) -> bool {
    let bytes = word.as_bytes();
    (10..=11).contains(&bytes.len()) && bytes[1..10].iter().all(|byte| b"rwxsStTlL-".contains(byte))
}

/// The size, which stands before the date, and the name, which stands behind it.
fn after_mode(mut words: Words<'_>) -> Option<(&str, &str)> {
    // The owner may be of several words, so that the date says where they end.
    let slashed = words.clone().next()?.contains('/');
    let mut before = "";
    loop {
        let here = words.clone();
        let word = words.next()?;
        let mut date = here.clone();
        if is_day(word) && is_time(words.clone().next()?) {
            date.next();
            date.next();
            return Some((before, date.name()));
        }
        let mut next = || date.next();
        let (a, b, c) = (next()?, next()?, next().unwrap_or_default());
        let month_day = is_month(a) && is_count(b, 2) || is_count(a, 2) && is_month(b);
        if month_day && (is_time(c) || is_count(c, 4)) && is_size(before) {
            // The tar of 1995 put the year behind the time.
            let mut further = date.clone();
            if slashed && is_time(c) && further.next().is_some_and(|year| is_count(year, 4)) {
                date = further;
            }
            return Some((before, date.name()));
        }
        before = word;
    }
}

/// `1234`, or the two numbers of a device.
fn is_size(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}

fn is_count(word: &str, digits_max: usize) -> bool {
    (1..=digits_max).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// `2005-08-02`
fn is_day(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    matches!(parts[..], [y, m, d] if is_count(y, 6) && y.len() >= 4 && is_count(m, 2) && is_count(d, 2))
}

/// `12:34`, or with seconds and parts of them.
fn is_time(word: &str) -> bool {
    word.contains(':') && word.split([':', '.']).all(|part| is_count(part, 9))
}

fn is_month(word: &str) -> bool {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    MONTHS.contains(&word)
}

/// The words of a line, up to the name, which is what is left of it.
#[derive(Clone)]
struct Words<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let rest = &self.line[self.at..];
        let word = rest.trim_start_matches([' ', '\t']);
        let end = word.find([' ', '\t']).unwrap_or(word.len());
        self.at = self.line.len() - word.len() + end;
        (end > 0).then(|| &word[..end])
    }

    /// What stands behind the blank after the last word: a name, which may itself start with blanks.
    fn name(&self) -> &'a str {
        let rest = &self.line[self.at..];
        rest.strip_prefix([' ', '\t']).unwrap_or(rest)
    }
}

#[cfg(test)]
mod tests;
