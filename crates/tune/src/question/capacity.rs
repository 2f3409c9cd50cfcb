//! How much room is asked for, as people write it; how much there is, and what it costs, in words.

use block::units::parse_bytes_at_least;
use lab::catalogue::Drive;
use lab::{Error, Result};

/// The share of a volume that its last stripe may be.
const LAST_STRIPE: f64 = 0.01;

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

/// Bytes as people say them of drives.
pub(crate) fn room(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes >= 1e12 => format!("{:.1} TB", bytes / 1e12),
        bytes => format!("{:.1} GB", bytes / 1e9),
    }
}

/// A price in words; where it is the catalogue's, with when that was paid.
pub(crate) fn price(price_usd: f64, drive: &Drive) -> String {
    let is_of_catalogue =
        drive.figures.price_usd.is_some_and(|known| (known - price_usd).abs() < 0.005);
    let when = drive.price_note().filter(|_| is_of_catalogue);
    format!("US$ {price_usd}{}", when.map_or_else(String::new, |when| format!(" ({when})")))
}

/// What drives that cost so much cost for a terabyte of what can be used.
pub(crate) fn usd_per_tb(cost_usd: f64, usable_bytes: u64) -> f64 {
    cost_usd / (usable_bytes as f64 / 1e12)
}

/// Whether so many bytes are more room than others: what chunks round off is none.
pub(crate) fn is_more_room(bytes: u64, than: u64) -> bool {
    bytes as f64 > than as f64 * (1.0 + LAST_STRIPE)
}
