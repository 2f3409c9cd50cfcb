//! The inodes in use: their bodies side by side, found by their places in the groups.

use super::Inode;

/// No body.
const NONE: u32 = u32::MAX;

/// The bodies of the inodes in use.
#[derive(Debug)]
pub(super) struct Bodies {
    /// By group and place in it, the number of the body. A group has none until it is first used.
    numbers: Vec<Vec<u32>>,
    inodes_per_group: usize,
    all: Vec<Inode>,
    /// The numbers of those that no inode has any more, which are kept for the memory of their lists.
    unused: Vec<u32>,
}

impl Bodies {
    /// No inode is in use in any of the `groups`.
    pub(super) fn new(groups: usize, inodes_per_group: u64) -> Self {
        let inodes_per_group = inodes_per_group as usize;
        let numbers = vec![Vec::new(); groups];
        Bodies { numbers, inodes_per_group, all: Vec::new(), unused: Vec::new() }
    }

    /// The body of the inode at this place of the group, if it is in use.
    #[inline]
    pub(super) fn get(&self, (group, within): (usize, usize)) -> Option<&Inode> {
        let number = *self.numbers[group].get(within)?;
        self.all.get(number as usize)
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn get_mut(&mut self, (group, within): (usize, usize)) -> Option<&mut Inode> {
        let number = *self.numbers[group].get(within)?;
        self.all.get_mut(number as usize)
    }

    /// The inode at this place of the group is in use from now on.
    pub(super) fn add(&mut self, (group, within): (usize, usize)) {
        let numbers = &mut self.numbers[group];
        if numbers.is_empty() {
            numbers.resize(self.inodes_per_group, NONE);
        }
        numbers[within] = self.unused.pop().unwrap_or_else(|| {
            self.all.push(Inode::default());
            self.all.len() as u32 - 1
        });
    }

    /// It no longer is.
    pub(super) fn remove(&mut self, (group, within): (usize, usize)) {
        let number = std::mem::replace(&mut self.numbers[group][within], NONE);
        let body = &mut self.all[number as usize];
        let (mut blocks, mut indirects) =
            (std::mem::take(&mut body.blocks), std::mem::take(&mut body.indirects));
        blocks.clear();
        indirects.clear();
        *body = Inode { blocks, indirects, ..Inode::default() };
        self.unused.push(number);
    }

    /// Those in use, with their places, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = ((usize, usize), &Inode)> {
        let groups = self.numbers.iter().enumerate();
        let places = groups
            .flat_map(|(group, numbers)| (0..numbers.len()).map(move |within| (group, within)));
        places.filter_map(|place| Some((place, self.get(place)?)))
    }
}
