//! Who wins: the order of layouts, what ties, and by how much the others are behind.

pub(crate) mod any_will_do;
pub(crate) mod beside_published;
pub(crate) mod differences;
pub(crate) mod margin;
pub mod pareto;
pub(crate) mod places;
pub(crate) mod plainest;
pub(crate) mod standing;
pub(crate) mod ties;
