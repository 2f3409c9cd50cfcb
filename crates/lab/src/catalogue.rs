//! The drives and hosts that ileave knows.
