//! A file that an option asks for: nobody else's is overwritten, and ileave's own is replaced whole or not at all.

use lab::{Error, Result};
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use store::is_own_file;
use verdict::evidence;
use verdict::report::html;

/// How much of a file's start is searched for marks.
const START_BYTES: u64 = 4 << 10;
/// And of its end: a Parquet file says there what it holds.
const END_BYTES: u64 = 1 << 20;

/// A kind of file that ileave writes where an option says, and knows again by its marks.
pub(super) struct Written {
    pub(super) option: &'static str,
    /// What the start and the end of each one hold, together.
    marks: &'static [&'static str],
    /// What it is called, and a name for another.
    is: &'static str,
    example: &'static str,
}

/// What `--html` asks for.
pub(super) const PAGE: Written =
    Written { option: "--html", marks: &[html::MARK], is: "page", example: "page.html" };

/// What `--page` asks for.
pub(super) const ALONE: Written =
    Written { option: "--page", marks: &[html::MARK], is: "page", example: "explore.html" };

/// What `--parquet` writes.
pub(super) const PARQUET: Written = Written {
    option: "--out",
    marks: &["PAR1", "\"ileave\":"],
    is: "Parquet file",
    example: "trials.parquet",
};

/// What `ileave drives probe --out` asks for.
pub(super) const PROBE: Written = Written {
    option: "--out",
    marks: &["\"probe\":\"rotating disk\""],
    is: "probe",
    example: "probe.json",
};

/// What `--differences` asks for.
pub(super) const PAIRS: Written = Written {
    option: "--differences",
    marks: &[evidence::HEADER],
    is: "list of differences",
    example: "differences.csv",
};

impl Written {
    /// Writes it. An existing file is replaced whole or not at all; a pipe or a link is written to directly.
    pub(super) fn write(&self, file: &Path, bytes: &[u8]) -> Result<()> {
        self.refuse_other_file(file)?;
        put(file, bytes).map_err(|error| {
            let next = format!("give `{}` a file that you may write", self.option);
            Error::failure(format!("cannot write {}: {error}; {next}", file.display()))
        })
    }

    /// Whether it can be, where it is asked for: before the work that it is about.
    pub(super) fn can_be_asked_for(&self, file: Option<&Path>) -> Result<()> {
        let Some(file) = file else { return Ok(()) };
        self.refuse_other_file(file)?;
        self.can_be_written(file)
    }

    /// Writes it beside what is printed, where it is asked for, and says where it is.
    pub(super) fn also(
        &self,
        file: Option<&Path>,
        text: impl FnOnce() -> Result<String>,
    ) -> Result<String> {
        let Some(file) = file else { return Ok(String::new()) };
        self.write(file, text()?.as_bytes())?;
        Ok(format!("Page: {}\n", file.display()))
    }

    /// Whether it can be written, asked before work that takes long.
    pub(super) fn can_be_written(&self, file: &Path) -> Result<()> {
        let is_there = file.exists();
        File::options().append(true).create(true).open(file).map_err(|error| {
            let next = format!("give `{}` a file that you may write", self.option);
            Error::failure(format!("cannot write {}: {error}; {next}", file.display()))
        })?;
        if !is_there {
            // It is made anew when there is something to write.
            let _ = fs::remove_file(file);
        }
        Ok(())
    }

    /// Refuses to write over a file of another kind: `--html results/trials.jsonl` would take the results with it.
    /// Ask it before the work is done, too.
    pub(super) fn refuse_other_file(&self, file: &Path) -> Result<()> {
        let next = format!("give `{}` another name, as in {}", self.option, self.example);
        if file == Path::new("-") {
            let what = format!("a {} goes into a file, not to standard output", self.is);
            return Err(Error::input(format!("`{} -`: {what}; {next}", self.option)));
        }
        refuse_results(file, &next)?;
        let Ok(there) = fs::metadata(file) else { return Ok(()) };
        if !there.is_file() || there.len() == 0 {
            return Ok(());
        }
        match ends(file) {
            Ok(text) if !self.marks.iter().all(|mark| text.contains(mark)) => {
                let what = format!("is no {} of ileave's", self.is);
                Err(Error::input(format!(
                    "{} {what} and is not overwritten; {next}",
                    file.display()
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses a file of a results directory, whatever leads to it.
pub(super) fn refuse_results(file: &Path, next: &str) -> Result<()> {
    if file.canonicalize().is_ok_and(|file| is_own_file(&file)) || is_own_file(file) {
        return Err(Error::input(format!(
            "{} belongs to a results directory and is not overwritten; {next}",
            file.display()
        )));
    }
    Ok(())
}

/// The start and the end of a file, as text.
fn ends(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let end_from = file.metadata()?.len().saturating_sub(END_BYTES);
    let mut bytes = Vec::new();
    (&file).take(START_BYTES).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(end_from))?;
    file.take(END_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Replaces a file whole or not at all; writes to a pipe or through a link directly.
pub(super) fn put(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let is_plain = fs::symlink_metadata(file).map_or_else(
        |error| error.kind() == ErrorKind::NotFound,
        |there| there.is_file() && !there.permissions().readonly(),
    );
    if is_plain { replace(file, bytes) } else { fs::write(file, bytes) }
}

/// Writes a temporary file in the same directory and renames it.
fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    let draft = file.with_file_name(name);
    // The file may be writable where its directory is not.
    let Ok(mut opened) = File::create(&draft) else { return fs::write(file, bytes) };
    let written = opened.write_all(bytes).and_then(|()| fs::rename(&draft, file));
    written.inspect_err(|_| {
        // Best effort: the error to report is the one above, not a failed clean-up.
        let _ = fs::remove_file(&draft);
    })
}

#[cfg(test)]
mod tests {
    use super::PARQUET;
    use std::path::Path;

    /// Most programs mean their standard output by it: it was a file of that name.
    #[test]
    fn a_hyphen_is_no_file() {
        let said = PARQUET.refuse_other_file(Path::new("-")).unwrap_err().to_string();
        let words = "`--out -`: a Parquet file goes into a file, not to standard output; give `--out` another name";
        assert!(said.starts_with(words), "{said}");
    }
}
