//! How the answer depends on loads and conditions.

pub(crate) mod confounded;
pub(crate) mod situations;
pub(crate) mod too_slow;
