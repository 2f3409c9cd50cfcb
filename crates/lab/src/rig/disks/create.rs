//! Image files that are made for a run: all of them or none, whatever ends the program meanwhile.

use super::noise::Noise;
use crate::error::{Error, Result};
use block::units::format_bytes;
use rustix::fs::{AtFlags, CWD, OFlags, linkat, statvfs};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file that has no name yet, or one that no run takes for a member.
struct Draft<'a> {
    path: &'a Path,
    file: File,
    /// Its name where the file system makes no file without one.
    named: Option<PathBuf>,
}

/// Makes image files of noise, so that reading one is reading a disk, each of `bytes`. They get their names when all
/// are filled: a run that is stopped leaves no part of one that the next would take for a member.
pub(super) fn create(paths: &[&Path], bytes: u64) -> Result<()> {
    check_space(paths, bytes)?;
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    let made = paths.iter().try_for_each(|path| {
        let failed = |error| Error::failure(format!("cannot create {}: {error}", path.display()));
        let draft = Draft::open(path).map_err(failed)?;
        let filled = fill(&draft.file, bytes);
        drafts.push(draft);
        filled.map_err(failed)
    });
    let mut named = Vec::new();
    let all = made.and_then(|()| {
        drafts.iter().try_for_each(|draft| {
            draft.publish().map_err(|error| {
                Error::failure(format!("cannot create {}: {error}", draft.path.display()))
            })?;
            named.push(draft.path);
            Ok(())
        })
    });
    // Best effort: the error to report is the one above.
    for name in drafts.iter().filter_map(|draft| draft.named.as_ref()) {
        let _ = fs::remove_file(name);
    }
    if all.is_err() {
        for name in named {
            let _ = fs::remove_file(name);
        }
    }
    all
}

impl<'a> Draft<'a> {
    fn open(path: &'a Path) -> std::io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true);
        let nameless =
            options.custom_flags(OFlags::TMPFILE.bits().cast_signed()).open(directory(path));
        if let Ok(file) = nameless {
            return Ok(Draft { path, file, named: None });
        }
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".unfinished");
        let name = path.with_file_name(name);
        let file = File::create(&name)?;
        Ok(Draft { path, file, named: Some(name) })
    }

    /// Gives the file its name, which nothing may have by now.
    fn publish(&self) -> std::io::Result<()> {
        match &self.named {
            Some(name) => fs::hard_link(name, self.path),
            None => {
                let open = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                Ok(linkat(CWD, open, CWD, self.path, AtFlags::SYMLINK_FOLLOW)?)
            }
        }
    }
}

/// The directory that a file is in.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether each file system has room for all of its images.
fn check_space(paths: &[&Path], bytes: u64) -> Result<()> {
    let mut on: Vec<(u64, &Path, u64)> = Vec::new();
    for path in paths {
        let directory = directory(path);
        let there = fs::metadata(directory).map_err(|error| {
            let next = "make the directory first";
            Error::input(format!("--create: {}: {error}; {next}", directory.display()))
        })?;
        match on.iter_mut().find(|(device, ..)| *device == there.dev()) {
            Some((.., images)) => *images += 1,
            None => on.push((there.dev(), directory, 1)),
        }
    }
    for (_, directory, images) in on {
        let Ok(free) = statvfs(directory) else { continue };
        let free = free.f_bavail.saturating_mul(free.f_frsize);
        let wanted = bytes.saturating_mul(images);
        if wanted > free {
            return Err(Error::input(format!(
                "--create: {images} × {} do not fit on {}, where {} are free; give a smaller size",
                format_bytes(bytes),
                directory.display(),
                // In whole MiB, as people read it.
                format_bytes(free >> 20 << 20),
            )));
        }
    }
    Ok(())
}

fn fill(mut file: &File, bytes: u64) -> std::io::Result<()> {
    let mut noise = Noise::new(bytes);
    let mut block = vec![0; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let next = left.min(block.len() as u64) as usize;
        noise.fill(&mut block[..next]);
        file.write_all(&block[..next])?;
        left -= next as u64;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_images_are_made_or_none() {
        let directory = tempfile::tempdir().unwrap();
        let names = || {
            let entries = fs::read_dir(directory.path()).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let [a, b] = ["a.img", "b.img"].map(|name| directory.path().join(name));
        let said = create(&[&a, &b], 1 << 60).unwrap_err().to_string();
        assert!(said.contains("--create: 2 × ") && said.contains("are free"), "{said}");
        assert!(names().is_empty());
        // The second cannot get its name, so that the first loses it.
        fs::write(&b, b"mine").unwrap();
        assert!(create(&[&a, &b], 4096).is_err());
        assert_eq!((names(), fs::read(&b).unwrap()), (vec!["b.img".into()], b"mine".to_vec()));
        fs::remove_file(&b).unwrap();
        create(&[&a, &b], 5000).unwrap();
        assert_eq!(names(), ["a.img", "b.img"]);
        assert_eq!([a, b].map(|path| fs::metadata(path).unwrap().len()), [5000; 2]);
    }
}
