//! The disk through which the guest is told its job and answers: the last disk of every machine, which takes no time.
//!
//! ```text
//! sector 0         the job: its bytes as a number of eight bytes, then they
//! sector ANSWER    the answer, likewise, written by the guest
//! sector BEGIN     a write here begins the window that is measured
//! sector END       a write here ends it
//! sector NOTE + n  a write here notes the number n
//! sector HELD      how many bytes write caches held at END, as a number of eight bytes, written by the host
//! ```

use crate::medium::Medium;
use crate::{Error, Result};
use block::{Op, SECTOR_BYTES};

/// Where the guest's answer is.
const ANSWER: u64 = 1 << 18;
/// Where a write begins what is measured, and where it ends.
const BEGIN: u64 = 1 << 19;
const END: u64 = BEGIN + 8;
/// Where a write notes a number: as many sectors behind, in pages.
const NOTE: u64 = END + 8;
/// Numbers that can be noted.
pub(crate) const NOTES_MAX: u64 = 1 << 20;
const PAGE_SECTORS: u64 = 8;
/// Where the host says what write caches held when what is measured ended.
const HELD: u64 = NOTE + NOTES_MAX * PAGE_SECTORS;
/// The size of the disk.
pub(crate) const CONTROL_SECTORS: u64 = HELD + PAGE_SECTORS;
/// The bytes of a job or an answer at most.
const TEXT_BYTES_MAX: u64 = (ANSWER - 8) * SECTOR_BYTES;

/// What a write to the disk says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// What is measured begins.
    Begin,
    /// It ends.
    End,
    /// The guest notes a number.
    Note(u64),
}

/// What a request to the disk says.
pub(crate) fn mark(op: Op, sector: u64) -> Option<Mark> {
    match (op, sector) {
        (Op::Write { .. }, BEGIN) => Some(Mark::Begin),
        (Op::Write { .. }, END) => Some(Mark::End),
        (Op::Write { .. }, NOTE..HELD) => Some(Mark::Note((sector - NOTE) / PAGE_SECTORS)),
        _ => None,
    }
}

/// Puts the guest's job on the disk.
pub(crate) fn put_job(medium: &mut Medium, job: &[u8]) -> Result<()> {
    if job.len() as u64 > TEXT_BYTES_MAX {
        return Err(Error::new(format!("a guest's job of {} bytes is too long", job.len())));
    }
    medium.write(0, &padded(job));
    Ok(())
}

/// Says how much write caches hold.
pub(crate) fn put_held(medium: &mut Medium, bytes: u64) {
    medium.write(HELD, &padded_to_page(bytes));
}

fn padded_to_page(number: u64) -> Vec<u8> {
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.resize((PAGE_SECTORS * SECTOR_BYTES) as usize, 0);
    bytes
}

/// Puts an answer there, as a guest does.
#[cfg(test)]
pub(crate) fn put_answer(medium: &mut Medium, answer: &[u8]) {
    medium.write(ANSWER, &padded(answer));
}

/// The guest's answer, if it gave one.
pub(crate) fn answer(medium: &Medium) -> Option<Vec<u8>> {
    let mut sector = [0; SECTOR_BYTES as usize];
    medium.read(ANSWER, &mut sector);
    let bytes = text_bytes(&sector)?;
    let mut text = vec![0; padded_bytes(bytes)];
    medium.read(ANSWER, &mut text);
    Some(text[8..8 + bytes as usize].to_vec())
}

/// A text with its length before it, in whole pages.
fn padded(text: &[u8]) -> Vec<u8> {
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text);
    bytes.resize(padded_bytes(text.len() as u64), 0);
    bytes
}

fn padded_bytes(text_bytes: u64) -> usize {
    (text_bytes + 8).next_multiple_of(4096) as usize
}

fn text_bytes(first: &[u8]) -> Option<u64> {
    let bytes = u64::from_le_bytes(first[..8].try_into().expect("eight bytes"));
    (1..=TEXT_BYTES_MAX).contains(&bytes).then_some(bytes)
}

/// The guest's side of the disk.
pub(crate) mod guest {
    use super::{
        ANSWER, BEGIN, END, HELD, NOTE, NOTES_MAX, PAGE_SECTORS, SECTOR_BYTES, TEXT_BYTES_MAX,
        padded, padded_bytes, text_bytes,
    };
    use std::fs::{File, OpenOptions};
    use std::io::{Error, Result};
    use std::os::unix::fs::FileExt as _;
    use std::path::Path;

    /// The disk, open in the guest.
    #[derive(Debug)]
    pub struct Control(File);

    impl Control {
        /// Opens the disk at this path.
        ///
        /// # Errors
        ///
        /// Where it cannot be.
        pub fn open(path: &Path) -> Result<Self> {
            OpenOptions::new().read(true).write(true).open(path).map(Control)
        }

        /// The job.
        ///
        /// # Errors
        ///
        /// Where there is none.
        pub fn job(&self) -> Result<Vec<u8>> {
            let mut first = [0; SECTOR_BYTES as usize];
            self.0.read_exact_at(&mut first, 0)?;
            let bytes = text_bytes(&first).ok_or_else(|| Error::other("the disk holds no job"))?;
            let mut text = vec![0; padded_bytes(bytes)];
            self.0.read_exact_at(&mut text, 0)?;
            Ok(text[8..8 + bytes as usize].to_vec())
        }

        /// Gives the answer.
        ///
        /// # Errors
        ///
        /// Where it is too long or cannot be written.
        pub fn answer(&self, text: &[u8]) -> Result<()> {
            if text.is_empty() || text.len() as u64 > TEXT_BYTES_MAX {
                return Err(Error::other(format!("an answer of {} bytes", text.len())));
            }
            self.write(ANSWER, &padded(text))
        }

        /// What is measured begins.
        ///
        /// # Errors
        ///
        /// Where that cannot be said.
        pub fn begin(&self) -> Result<()> {
            self.write(BEGIN, &[1; 4096])
        }

        /// It ends.
        ///
        /// # Errors
        ///
        /// Where that cannot be said.
        pub fn end(&self) -> Result<()> {
            self.write(END, &[1; 4096])
        }

        /// How many bytes the disks' write caches held when what is measured ended.
        ///
        /// # Errors
        ///
        /// Where that cannot be read.
        pub fn held_bytes(&self) -> Result<u64> {
            let mut number = [0; 8];
            self.0.read_exact_at(&mut number, HELD * SECTOR_BYTES)?;
            Ok(u64::from_le_bytes(number))
        }

        /// Notes a number, of which the host keeps the time.
        ///
        /// # Errors
        ///
        /// Where it is too large, or cannot be said.
        pub fn note(&self, number: u64) -> Result<()> {
            if number >= NOTES_MAX {
                return Err(Error::other(format!("the number {number} is too large for a note")));
            }
            self.write(NOTE + number * PAGE_SECTORS, &[1; 4096])
        }

        fn write(&self, sector: u64, bytes: &[u8]) -> Result<()> {
            self.0.write_all_at(bytes, sector * SECTOR_BYTES)?;
            self.0.sync_data()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn what_caches_held_comes_across() {
        let mut medium = Medium::default();
        put_held(&mut medium, 3 << 40);
        let mut page = vec![0; 4096];
        medium.read(HELD, &mut page);
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().write_all_at(&page, HELD * SECTOR_BYTES).unwrap();
        assert_eq!(guest::Control::open(file.path()).unwrap().held_bytes().unwrap(), 3 << 40);
    }

    #[test]
    fn a_job_and_an_answer_come_across() {
        let mut medium = Medium::default();
        assert_eq!(answer(&medium), None);
        put_job(&mut medium, b"count to three").unwrap();
        // The guest sees the disk as a file.
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut bytes = vec![0; 65_536];
        medium.read(0, &mut bytes);
        std::fs::write(file.path(), &bytes).unwrap();
        let guest = guest::Control::open(file.path()).unwrap();
        assert_eq!(guest.job().unwrap(), b"count to three");
        let long = vec![7; 9_000];
        guest.answer(&long).unwrap();
        let written = std::fs::read(file.path()).unwrap();
        medium.write(ANSWER, &written[(ANSWER * SECTOR_BYTES) as usize..]);
        assert_eq!(answer(&medium).unwrap(), long);
        assert_eq!(mark(Op::WRITE, BEGIN), Some(Mark::Begin));
        assert_eq!(mark(Op::WRITE, NOTE + 3 * PAGE_SECTORS), Some(Mark::Note(3)));
        assert_eq!(mark(Op::WRITE, HELD), None);
        assert_eq!(mark(Op::Read, BEGIN), None);
    }
}
