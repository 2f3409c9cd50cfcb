//! Where the sectors of a volume go: the question behind `ileave map`.
//!
//! Pure: a [`Volume`] is made of what the command line or a file says, and everything else here is
//! counting over its layout. Only sizes of members may come from outside, through [`Sizes`].

pub mod ffs;
pub mod json;
pub mod picture;
pub mod pieces;
pub mod straddle;
pub mod vector;
mod volume;

pub use block::layout::unused;
pub use pieces::{Asked, Piece};
pub use volume::{Member, Sizes, Volume, parse_member_sizes};
