//! The whole file system without time, held against what the real one did: see the README's source, a
//! run of Linux 6.1.192 on 64 GiB with the defaults of mkfs.ext4 1.47.0.

use super::geometry::{Geometry, Options};
use super::hash::MEASURED_SEED;
use super::mount::Mount;
use super::*;
use crate::fs::filesystem::{Call, FileSystem, Held, Memory, Taken};
use block::Op;

/// Nothing takes time here, and everything is in memory.
struct AtOnce;

impl Memory for AtOnce {
    fn held(&self, _sector: u64) -> Held {
        Held::Clean
    }
}

/// What a commit had in it, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Contents {
    inode_table: u64,
    block_bitmap: u64,
    inode_bitmap: u64,
    super_and_descriptors: u64,
    /// Directories, and blocks of extents.
    others: u64,
}

struct Driver {
    ext4: Ext4,
    commits: Vec<Contents>,
    /// Blocks written to the log, flushes, and blocks of data that were started by commits.
    log_sectors: u64,
    flushes: u64,
}

impl Driver {
    fn new(mount: Mount) -> Self {
        let bytes = 64 << 30;
        let geometry = Geometry::new(Options::for_bytes(bytes), bytes / 512).unwrap();
        let ext4 = Ext4::new(geometry, mount, MEASURED_SEED);
        Driver { ext4, commits: Vec::new(), log_sectors: 0, flushes: 0 }
    }

    fn contents(&self) -> Option<Contents> {
        let journal = self.ext4.journal.as_ref()?;
        let geometry = &self.ext4.geometry;
        let mut contents = Contents::default();
        for &block in &journal.committing.as_ref()?.blocks {
            let is_table = |places: &geometry::GroupPlaces| places.inode_table.contains(&block);
            if geometry.groups.iter().any(is_table) {
                contents.inode_table += 1;
            } else if geometry.groups.iter().any(|places| places.block_bitmap == block) {
                contents.block_bitmap += 1;
            } else if geometry.groups.iter().any(|places| places.inode_bitmap == block) {
                contents.inode_bitmap += 1;
            } else if block <= geometry.descriptor_blocks {
                contents.super_and_descriptors += 1;
            } else {
                contents.others += 1;
            }
        }
        Some(contents)
    }

    /// Takes all steps; what has to be waited for happens.
    fn settle(&mut self) {
        let mut steps = Vec::new();
        self.ext4.take_steps(1_000, &mut steps);
        for step in steps {
            match step {
                Step::Resume(job) => {
                    if job == handle::Next::Log.job() {
                        let contents = self.contents().unwrap();
                        self.commits.push(contents);
                    }
                    let taken = Taken { now: 1_000, steps: &[], memory: &AtOnce, result: Ok(()) };
                    self.ext4.resume(job, &taken);
                    self.settle();
                }
                Step::Until(milestone) if !self.ext4.has_happened(milestone) => {
                    self.ext4.work(Call::Time);
                    self.settle();
                    assert!(self.ext4.has_happened(milestone), "{milestone:?} does not happen");
                }
                Step::Submit(Op::Write { .. }, extent) => {
                    self.log_sectors += u64::from(extent.sectors);
                }
                Step::Submit(Op::Flush, _) => self.flushes += 1,
                Step::Release(block) => {
                    self.ext4.transfer_ends(block.extent.sector);
                }
                _ => {}
            }
        }
    }

    fn call<T>(&mut self, operation: impl FnOnce(&mut Ext4) -> T) -> T {
        let result = operation(&mut self.ext4);
        self.settle();
        result
    }

    /// Places what a file holds, as if it was written to the disk.
    fn place(&mut self, ino: Ino) {
        let runs: Vec<_> = self.ext4.inode(ino).delayed.within(0..u64::MAX).collect();
        for run in runs {
            let extents: Vec<Extent> =
                run.map(|index| self.ext4.file_block(ino, index).extent).collect();
            self.call(|ext4| ext4.place(ino, &extents));
        }
    }

    fn sync(&mut self) -> Contents {
        let inodes: Vec<Ino> = self.ext4.inodes.keys().copied().collect();
        for ino in inodes {
            self.place(ino);
        }
        // What was written is said to be, and then all of it is committed.
        (0..2).for_each(|_| self.call(FileSystem::sync));
        self.ext4.check();
        self.ext4.check_settled();
        self.commits.last().copied().unwrap_or_default()
    }

    fn remount(&mut self) {
        self.call(|ext4| (ext4.unmount(), ext4.mount()));
    }

    /// The measured tree; gives its files.
    fn untar(&mut self) -> Vec<Ino> {
        let sizes = include_str!("../../../tests/fixtures/ext4/tree_sizes.csv");
        let top = self.call(|ext4| ext4.make_directory(ROOT, "src")).unwrap();
        let (mut files, mut parent) = (Vec::new(), top);
        for (number, line) in sizes.lines().filter(|line| !line.starts_with('#')).enumerate() {
            let directory = if number % 10 == 0 {
                parent = self
                    .call(|ext4| ext4.make_directory(top, &format!("p{:02}", number / 10)))
                    .unwrap();
                parent
            } else {
                self.call(|ext4| ext4.make_directory(parent, &format!("q{}", number % 10))).unwrap()
            };
            for bytes in line.split(',').map(|bytes| bytes.parse::<u64>().unwrap()) {
                let name = format!("file{:04}.c", files.len());
                let ino = self.call(|ext4| ext4.create(directory, &name)).unwrap();
                self.call(|ext4| ext4.write(ino, 0, bytes)).unwrap();
                self.call(|ext4| ext4.closed(ino));
                files.push(ino);
            }
        }
        files
    }

    fn remove_tree(&mut self, parent: Ino, name: &str) {
        let ino = self.ext4.find(parent, name).unwrap();
        if self.ext4.inode(ino).directory.is_none() {
            return self.call(|ext4| ext4.unlink(parent, name)).unwrap();
        }
        self.call(|ext4| ext4.read_directory(ino)).unwrap();
        for (name, _) in self.ext4.names(ino).unwrap() {
            self.remove_tree(ino, &name);
        }
        self.call(|ext4| ext4.remove_directory(parent, name)).unwrap();
    }
}

/// Classes as `commit_contents.csv` has them, with directories and extent blocks together.
fn measured(counts: [u64; 5]) -> Contents {
    let [inode_table, block_bitmap, inode_bitmap, super_and_descriptors, others] = counts;
    Contents { inode_table, block_bitmap, inode_bitmap, super_and_descriptors, others }
}

#[test]
fn touching_and_unlinking_ten_thousand_commits_what_it_did() {
    let mut driver = Driver::new(Mount::DEFAULT);
    let many = driver.call(|ext4| ext4.make_directory(ROOT, "many")).unwrap();
    assert_eq!(many, 131_073);
    let names: Vec<String> = (0..10_000).map(|number| format!("f{number:05}")).collect();
    for name in &names {
        driver.call(|ext4| ext4.create(many, name)).unwrap();
    }
    assert_eq!(driver.sync(), measured([627, 2, 2, 2, 59]));
    assert_eq!(driver.log_sectors, 8 * (696 + 1));
    assert_eq!(driver.flushes, 2);
    for name in &names {
        let ino = driver.ext4.find(many, name).unwrap();
        driver.call(|ext4| ext4.set_times(ino));
    }
    assert_eq!(driver.sync(), measured([626, 0, 0, 0, 0]));
    for name in &names {
        driver.call(|ext4| ext4.unlink(many, name)).unwrap();
    }
    assert_eq!(driver.sync(), measured([626, 0, 2, 2, 57]));
}

#[test]
fn a_tree_is_placed_and_committed_as_it_was() {
    let mut driver = Driver::new(Mount::DEFAULT);
    driver.call(|ext4| ext4.make_directory(ROOT, "many")).unwrap();
    for number in 0..32 {
        driver.call(|ext4| ext4.make_directory(ROOT, &format!("top{number:02}"))).unwrap();
    }
    assert_eq!(driver.sync().others, 33 + 1);
    driver.remount();
    let files = driver.untar();
    assert_eq!(driver.sync(), measured([330, 3, 1, 2, 252]));
    let placement = include_str!("../../../tests/fixtures/ext4/tree_placement.csv");
    let mut elsewhere = 0;
    for (ino, line) in files.iter().zip(placement.lines().skip(3)) {
        let numbers: Vec<u64> = line.split(',').map(|number| number.parse().unwrap()).collect();
        assert_eq!(u64::from(*ino), numbers[0]);
        let runs = driver.ext4.inode(*ino).extents.runs();
        assert_eq!((runs.len(), runs[0].blocks), (1, numbers[2]), "{line}");
        elsewhere += usize::from(runs[0].block != numbers[1]);
    }
    assert_eq!(elsewhere, 0, "of 400 files");
    driver.remount();
    driver.remove_tree(ROOT, "src");
    assert_eq!(driver.sync(), measured([330, 3, 1, 2, 1]));
}
