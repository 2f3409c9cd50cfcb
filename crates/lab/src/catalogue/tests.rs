//! The catalogue as a whole: what is in it is sound, and what is wrong is said.
