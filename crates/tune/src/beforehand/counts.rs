//! Other numbers of the same drives, where these do not meet what must hold.

use crate::question::Question;
use crate::question::drives::{DRIVES_MAX, Drives};

/// So many drives more and fewer are tried where no level meets what must hold.
const COUNTS: usize = 6;

impl Question {
    /// The drives of which some level meets what must hold, as many as is nearest to these, fewer first.
    pub(super) fn count_that_meets(&self) -> Option<String> {
        let own = self.drives.count;
        let mut counts = (1..=COUNTS)
            .flat_map(|step| [own.saturating_sub(step), own + step])
            .filter(|count| (2 + self.spares..=self.drives_max()).contains(count));
        let count = counts.find(|&count| self.meets_with(count))?;
        Some(format!("{count}x {}", self.drives.drive.name))
    }

    /// As many drives as there may be: nobody has more than an inventory has, or than a budget pays for.
    pub(super) fn drives_max(&self) -> usize {
        if !self.drives.devices.is_empty() {
            return self.drives.count;
        }
        let paid = self.budget_usd.zip(self.price_usd.filter(|price| *price > 0.0));
        paid.map_or(DRIVES_MAX, |(budget, price)| {
            ((budget / price).floor() as usize).min(DRIVES_MAX)
        })
    }

    /// Whether some level of so many of these drives meets what must hold.
    pub(super) fn meets_with(&self, count: usize) -> bool {
        let drives = Drives { count, devices: Vec::new(), ..self.drives.clone() };
        Question { drives, ..self.clone() }.possible().is_ok()
    }
}
