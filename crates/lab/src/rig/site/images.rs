//! Images: sparse files, as loop devices where file systems are made on them.

use super::{Site, Step};
use crate::error::{Error, Result};
use crate::experiment::parse_size;
use block::SECTOR_BYTES;
use block::units::format_bytes;
use rustix::fs::statvfs;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Which images a run makes for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// How many.
    pub count: usize,
    /// The size of each.
    pub bytes: u64,
    /// Where; the working directory where it is not said.
    pub parent: PathBuf,
}

/// The most that a run makes.
const IMAGES_MAX: usize = 64;

/// The smallest that it makes.
const IMAGE_BYTES_MIN: u64 = 1 << 20;

/// Reads `3x2GiB` or `3x2GiB:DIR`.
///
/// # Errors
///
/// Where that is not its form.
pub fn parse_images(text: &str) -> Result<Images> {
    let (what, parent) = text.split_once(':').unwrap_or((text, "."));
    let wrong = || Error::input("write it as COUNTxSIZE[:DIR], as in 4x1GiB or 4x1GiB:/scratch");
    let (count, size) = what.split_once('x').ok_or_else(wrong)?;
    let count: usize = count.parse().map_err(|_| wrong())?;
    if !(1..=IMAGES_MAX).contains(&count) {
        return Err(Error::input(format!("{count}: a run makes 1 to {IMAGES_MAX} images")));
    }
    let bytes = parse_size(size)?.saturating_mul(SECTOR_BYTES);
    if bytes < IMAGE_BYTES_MIN {
        let least = format_bytes(IMAGE_BYTES_MIN);
        return Err(Error::input(format!("{size} is too small: an image has {least} or more")));
    }
    if parent.is_empty() {
        return Err(wrong());
    }
    Ok(Images { count, bytes, parent: parent.into() })
}

impl Images {
    /// Whether there is room for all of them: what is sparse at first may be full in the end.
    ///
    /// # Errors
    ///
    /// Where there is not.
    pub fn check_space(&self) -> Result<()> {
        let Ok(there) = statvfs(&self.parent) else { return Ok(()) };
        let free_bytes = there.f_bavail.saturating_mul(there.f_frsize);
        let wanted_bytes = self.bytes.saturating_mul(self.count as u64);
        if wanted_bytes <= free_bytes {
            return Ok(());
        }
        Err(Error::input(format!(
            "--images: {} × {} do not fit on {}, where {} are free; give a smaller size or another directory",
            self.count,
            format_bytes(self.bytes),
            self.parent.display(),
            format_bytes(free_bytes >> 20 << 20)
        )))
    }

    /// Whether they could still grow to their size: what is sparse takes room as it is written.
    ///
    /// # Errors
    ///
    /// Where somebody else has taken it.
    pub fn check_growth(&self, site: &Site) -> Result<()> {
        let Ok(there) = statvfs(site.directory()) else { return Ok(()) };
        let free_bytes = there.f_bavail.saturating_mul(there.f_frsize);
        let taken_bytes = |path: &PathBuf| {
            std::fs::metadata(path).map_or(0, |image| image.blocks() * SECTOR_BYTES)
        };
        let missing_bytes: u64 =
            self.paths(site).iter().map(|path| self.bytes.saturating_sub(taken_bytes(path))).sum();
        if missing_bytes <= free_bytes {
            return Ok(());
        }
        Err(Error::failure(format!(
            "the images may still grow by {}, and {} has {} free; make room",
            format_bytes(missing_bytes >> 20 << 20),
            self.parent.display(),
            format_bytes(free_bytes >> 20 << 20)
        )))
    }

    /// The paths of the images in a site.
    pub fn paths(&self, site: &Site) -> Vec<PathBuf> {
        (0..self.count).map(|number| site.directory().join(format!("{number}.img"))).collect()
    }

    /// Makes them, sparse, with a loop device over each; gives the devices' names.
    ///
    /// # Errors
    ///
    /// Where that fails: it takes root and a kernel that has loop devices.
    pub fn attach(&self, site: &Site) -> Result<Vec<PathBuf>> {
        self.paths(site).iter().map(|path| attach(site, path, self.bytes)).collect()
    }
}

fn attach(site: &Site, path: &Path, bytes: u64) -> Result<PathBuf> {
    let made = File::create_new(path).and_then(|file| file.set_len(bytes));
    made.map_err(|error| Error::failure(format!("cannot make {}: {error}", path.display())))?;
    let name = path.display().to_string();
    let losetup = |more: &[&str]| {
        let words = [&["losetup", "--find", "--show"], more, &[&name]].concat();
        site.shell().run(&Step::new(words))
    };
    // Past the page cache of the file system that the images are on, where that has a way.
    let device = losetup(&["--direct-io=on"]).or_else(|_| losetup(&[])).map_err(|error| {
        error
            .followed_by("loop devices take root; blocks alone are measured on images without them")
    })?;
    Ok(PathBuf::from(device.output.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_read_as_they_are_written() {
        let images = |count, bytes, parent: &str| Images { count, bytes, parent: parent.into() };
        assert_eq!(parse_images("3x2GiB").unwrap(), images(3, 2 << 30, "."));
        assert_eq!(parse_images("4x1GiB:/a:b").unwrap(), images(4, 1 << 30, "/a:b"));
        for wrong in ["2GiB", "0x2GiB", "65x1GiB", "3x", "x2GiB", "3x1KiB", "3x2GiB:", "-1x1GiB"] {
            assert!(parse_images(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_image_that_is_too_small_is_told_the_least() {
        let said = |text| parse_images(text).unwrap_err().to_string();
        assert!(said("1x512KiB").contains("512KiB is too small: an image has 1MiB or more"));
        assert!(said("65x1GiB").contains("1 to 64 images"), "{}", said("65x1GiB"));
        assert!(said("1x1GiB:").contains("COUNTxSIZE[:DIR]"));
    }

    #[test]
    fn images_that_do_not_fit_are_refused() {
        let images = parse_images("64x900GiB:/tmp").unwrap();
        let said = images.check_space().unwrap_err().to_string();
        assert!(said.contains("64 × 900GiB do not fit on /tmp"), "{said}");
    }
}
