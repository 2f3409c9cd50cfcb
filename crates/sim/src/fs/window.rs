//! Numbered items that come and go in about the same order, such as requests and changes.

use std::collections::VecDeque;

/// The items that have come and not gone yet. Each has a number, from 0 on.
#[derive(Debug)]
pub(in crate::fs) struct Window<T> {
    /// From the oldest that is left to the newest.
    since: VecDeque<Option<T>>,
    oldest: u64,
}

impl<T> Default for Window<T> {
    fn default() -> Self {
        Window { since: VecDeque::new(), oldest: 0 }
    }
}

impl<T> Window<T> {
    /// The number of the next item.
    pub(in crate::fs) fn next_number(&self) -> u64 {
        self.oldest + self.since.len() as u64
    }

    /// Adds `item`, and returns its number.
    pub(in crate::fs) fn push(&mut self, item: T) -> u64 {
        self.since.push_back(Some(item));
        self.next_number() - 1
    }

    /// The item with this number, if it is still here.
    pub(in crate::fs) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.place(number)?.as_mut()
    }

    /// The newest item, if it is still here.
    pub(in crate::fs) fn newest_mut(&mut self) -> Option<&mut T> {
        self.since.back_mut()?.as_mut()
    }

    /// Removes the item with this number.
    pub(in crate::fs) fn remove(&mut self, number: u64) -> Option<T> {
        let removed = self.place(number)?.take();
        while let Some(None) = self.since.front() {
            self.since.pop_front();
            self.oldest += 1;
        }
        removed
    }

    /// All items with their numbers, the oldest first.
    pub(in crate::fs) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        (self.oldest..).zip(&self.since).filter_map(|(number, item)| Some((number, item.as_ref()?)))
    }

    pub(in crate::fs) fn is_empty(&self) -> bool {
        self.since.is_empty()
    }

    fn place(&mut self, number: u64) -> Option<&mut Option<T>> {
        self.since.get_mut(number.checked_sub(self.oldest)? as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_gone_is_not_found_in_whatever_order_it_went() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut window = Window::default();
            assert_eq!(["a", "b", "c"].map(|item| window.push(item)), [0, 1, 2]);
            assert_eq!((window.next_number(), window.newest_mut()), (3, Some(&mut "c")));
            for (gone, number) in order.into_iter().enumerate() {
                assert!(window.remove(number).is_some() && window.remove(number).is_none());
                let here: Vec<u64> = window.iter().map(|(number, _)| number).collect();
                let expected: Vec<u64> = (0..3).filter(|n| !order[..=gone].contains(n)).collect();
                assert_eq!((here, window.is_empty()), (expected, gone == 2));
            }
            assert_eq!(window.push("d"), 3);
            assert_eq!(window.get_mut(3), Some(&mut "d"));
            assert!(window.get_mut(2).is_none() && window.get_mut(4).is_none());
        }
    }
}
