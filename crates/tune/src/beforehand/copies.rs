//! More copies than must survive, where a wish of the risk may ask for them.

use super::Beforehand;
use crate::question::Question;
use crate::question::capacity::room;
use block::SECTOR_BYTES;
use block::layout::{Level, Redundancy};

impl Question {
    /// Whether a level is worth trying, or a wish of the risk may ask for it.
    pub(crate) fn is_offered(&self, level: &Level, beforehand: &Beforehand) -> bool {
        self.is_worth_trying(level) || self.may_be_safest(level, beforehand)
    }

    /// Whether a level has more copies than must survive, and a wish of the risk may ask for them. A mirror of many members is only
    /// the safest.
    fn may_be_safest(&self, level: &Level, beforehand: &Beforehand) -> bool {
        let members = self.members();
        beforehand.names("loss_5y")
            && match level.redundancy() {
                Redundancy::Copies(..=2, _) | Redundancy::Parity(_) | Redundancy::Nothing => false,
                // btrfs has no mirror of all members.
                Redundancy::Copies(copies, spread) => members > copies || spread.is_none(),
                Redundancy::Mirror => beforehand.is_best_of("loss_5y"),
            }
    }

    /// Without copies that only a wish of the risk offers and that are more than others have: they hold less and are written
    /// slower.
    pub(crate) fn without_idle_copies(&self, mut levels: Vec<Level>) -> Vec<Level> {
        let survived = |level: &Level| level.losses_survived(self.members());
        let is_copies =
            |level: &&Level| survived(level) > 0 && !level.has_parity() && level.nested().is_none();
        let least = levels.iter().filter(is_copies).map(survived).min();
        if self.levels.is_empty() {
            levels.retain(|level| self.is_worth_trying(level) || Some(survived(level)) == least);
        }
        levels
    }

    /// That what is best beforehand holds less than half of what its drives hold.
    pub(crate) fn holds_little(&self, level: &Level, beforehand: &Beforehand) -> Option<String> {
        let Question { drives, .. } = self;
        let usable_bytes = self.usable_bytes(level);
        let all_bytes = drives.count as u64 * drives.drive.sectors() * SECTOR_BYTES;
        (beforehand.has_objective() && usable_bytes * 2 < all_bytes).then(|| {
            format!(
                "it holds {} of the drives' {}; for more, write `--subject-to 'usable_tb >= …'`",
                room(usable_bytes),
                room(all_bytes)
            )
        })
    }
}
