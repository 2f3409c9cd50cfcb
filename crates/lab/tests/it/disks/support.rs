//! Image files for a test, and a loud word where rings are not allowed.

use lab::rig::disks::Noise;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Image files in a directory that goes with them.
pub(crate) struct Images {
    pub(crate) directory: TempDir,
    pub(crate) paths: Vec<PathBuf>,
}

impl Images {
    /// Files of noise, of so many sectors each.
    pub(crate) fn new(sectors: &[u64]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let paths = (0..sectors.len()).map(|n| directory.path().join(format!("{n}.img")));
        let images = Images { paths: paths.collect(), directory };
        for (path, &sectors) in images.paths.iter().zip(sectors) {
            let mut bytes = vec![0; sectors as usize * 512];
            Noise::new(sectors).fill(&mut bytes);
            fs::write(path, bytes).expect("an image can be written");
        }
        images
    }

    /// What they hold.
    pub(crate) fn bytes(&self) -> Vec<Vec<u8>> {
        self.paths.iter().map(|path| fs::read(path).expect("an image can be read")).collect()
    }
}

/// Whether rings are allowed; where they are not, that is said, and an error if they are required.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) fn rings_allowed() -> bool {
    match uring::Ring::new(vec![], 8) {
        Err(error) if uring::is_forbidden(&error) => {
            let required = std::env::var_os("ILEAVE_REQUIRE").is_some();
            assert!(!required, "required, but io_uring is not allowed here: {error}");
            eprintln!("SKIPPED: io_uring is not allowed here: {error}");
            false
        }
        _ => true,
    }
}
