//! How much room is asked for, as people write it.

use block::units::parse_bytes_at_least;
use lab::{Error, Result};

/// A capacity below this, without a unit, is not meant in bytes.
const BARE_MAX: f64 = 1e6;

/// The bytes of a capacity that was `asked` for by this name: `--capacity`.
///
/// # Errors
///
/// Where it is no size, or a small number without a unit.
pub fn capacity_bytes(asked: &str, text: &str) -> Result<u64> {
    if text.parse().is_ok_and(|bare: f64| (1.0..BARE_MAX).contains(&bare)) {
        let next = format!("write a unit, as in `{asked} {text}TB`");
        return Err(Error::input(format!("{asked} {text}: a size has a unit; {next}")));
    }
    parse_bytes_at_least(text).map_err(|error| Error::input(format!("{asked} {text}: {error}")))
}
