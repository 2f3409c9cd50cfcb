//! What is asked of layouts: objectives, and what must hold.

pub(crate) mod aim;
pub(crate) mod checked_first;
pub(crate) mod constraints;
