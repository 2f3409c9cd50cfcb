//! What takes long to make, kept for those who ask for it again.

use std::sync::{Mutex, PoisonError};

/// How many are kept of one sort: drives, hosts, and models of disks, whose tables take some megabytes for one of 18 TB.
const KEPT_MAX: usize = 16;

/// The values that were made last, each with all that it was made of. What was asked for last is the last.
pub(super) struct Kept<K, V>(Mutex<Vec<(K, V)>>);

impl<K: PartialEq, V: Clone> Kept<K, V> {
    /// Nothing yet.
    pub(super) const fn new() -> Self {
        Kept(Mutex::new(Vec::new()))
    }

    /// The value of `key`, which `make` makes where it is not kept. Others wait meanwhile: most ask for the same.
    pub(super) fn get<E>(&self, key: K, make: impl FnOnce(&K) -> Result<V, E>) -> Result<V, E> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match kept.iter().position(|(of, _)| *of == key) {
            Some(place) => kept.remove(place),
            None => {
                let value = make(&key)?;
                (key, value)
            }
        };
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        let value = found.1.clone();
        kept.push(found);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_last_is_not_made_again() {
        let kept = Kept::new();
        let mut made = Vec::new();
        let mut ask = |key: usize| {
            let value = kept.get(key, |&key| {
                made.push(key);
                if key == 100 { Err("none") } else { Ok(key + 1) }
            });
            assert_eq!(value, if key == 100 { Err("none") } else { Ok(key + 1) });
        };
        for key in 0..KEPT_MAX {
            ask(key);
        }
        // The first is asked for again, so that the second goes when there is one more. An error is not kept.
        for key in [0, 100, 100, KEPT_MAX, 0, 1] {
            ask(key);
        }
        let again = [100, 100, KEPT_MAX, 1];
        assert_eq!(made, (0..KEPT_MAX).chain(again).collect::<Vec<_>>());
    }
}
