//! Sizes and times as people write them: `64KiB`, `1m`, `32` sectors, `2.5ms`.
//!
//! The powers of two carry an `i` or a single letter, as in dd(1) and ccdconfig(8): `64k` = `64KiB` =
//! 65,536 bytes. The powers of ten carry a `B` and no `i`: `64kB` = 64,000 bytes. Rates are always
//! powers of ten: 1 MB/s = 10^6 B/s.

use std::fmt;

/// Bytes in a sector.
pub const SECTOR_BYTES: u64 = 512;

/// Why a size or a time cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitError {
    /// It does not start with a number.
    NoNumber {
        /// What was written.
        text: String,
        /// How it may be written.
        like: &'static str,
    },
    /// The word after the number is not a unit of what is measured.
    NoSuchUnit {
        /// The word.
        unit: String,
        /// The units that there are, for people.
        units: &'static str,
    },
    /// The number is too large for what it measures.
    TooLarge(String),
    /// The size is not a whole number of bytes, sectors or nanoseconds.
    NotWhole {
        /// What was written.
        text: String,
        /// The unit of which it must be a whole number.
        of: &'static str,
    },
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnitError::NoNumber { text, like } => {
                let is_negative =
                    text.strip_prefix('-').is_some_and(|rest| split(rest, "").is_ok());
                let wrong = if is_negative { "is below 0" } else { "does not start with a number" };
                write!(f, "`{text}` {wrong}; write it like {like}")
            }
            UnitError::NoSuchUnit { unit, units } if unit.is_empty() => {
                write!(f, "the unit is missing; write one of {units}")
            }
            UnitError::NoSuchUnit { unit, units }
                if *units == TIMES && ["m", "mins", "minutes"].contains(&unit.as_str()) =>
            {
                write!(f, "`{unit}` is not a unit of times; write `min` for minutes")
            }
            UnitError::NoSuchUnit { unit, units } => {
                write!(f, "`{unit}` is not a unit; write one of {units}")
            }
            UnitError::TooLarge(text) => write!(f, "`{text}` is too large"),
            UnitError::NotWhole { text, of } => {
                write!(f, "`{text}` is not a whole number of {of}")?;
                in_binary(text).map_or(Ok(()), |meant| write!(f, "; did you mean `{meant}`?"))
            }
        }
    }
}

impl std::error::Error for UnitError {}

/// The units of sizes, of times and of rates.
const SIZES: &str = "KiB (or k), MiB (m), GiB (g), TiB (t), kB, MB, GB, TB, B, sectors";
const TIMES: &str = "ns, us, ms, s, min, h, d";
const RATES: &str = "KiB/s, MiB/s, GiB/s, kB/s, MB/s, GB/s, B/s";

/// How they are written.
const LIKE_A_SIZE: &str = "`64KiB`";
const LIKE_SECTORS: &str = "`64KiB`, or `128` for sectors";
const LIKE_A_TIME: &str = "`10ms`";
const LIKE_A_RATE: &str = "`2MB/s`";

/// What is written of a size in powers of ten that powers of two are more likely meant by: `64KiB` for `64KB`.
pub fn in_binary(text: &str) -> Option<String> {
    let (number, unit) = split(text, LIKE_A_SIZE).ok()?;
    let meant = match unit.to_ascii_lowercase().as_str() {
        "kb" => "KiB",
        "mb" => "MiB",
        "gb" => "GiB",
        "tb" => "TiB",
        _ => return None,
    };
    Some(format!("{number}{meant}"))
}

/// Reads a size in bytes. A bare number counts bytes.
///
/// # Errors
///
/// Where `text` is no size.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split(text, LIKE_A_SIZE)?;
    scale(text, number, if unit.is_empty() { 1 } else { bytes_per(unit)? }, "bytes")
}

/// Reads a size in bytes that something has at least: of a part of a byte the whole, for `43.6TiB` is no whole number of them.
///
/// # Errors
///
/// Where `text` is no size.
pub fn parse_bytes_at_least(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split(text, LIKE_A_SIZE)?;
    let each = if unit.is_empty() { 1 } else { bytes_per(unit)? };
    match scale(text, number, each, "bytes") {
        Err(UnitError::NotWhole { .. }) => {
            // A fraction was read, so there is a point; and it was not whole, so one byte more is the next.
            let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
            let whole = scale(text, if whole.is_empty() { "0" } else { whole }, each, "bytes")?;
            let too_large = || UnitError::TooLarge(text.into());
            let numerator = fraction.parse::<u128>().map_err(|_| too_large())? * u128::from(each);
            let tenths =
                u32::try_from(fraction.len()).ok().and_then(|digits| 10_u128.checked_pow(digits));
            let part = numerator.div_ceil(tenths.ok_or_else(too_large)?);
            let part = u64::try_from(part).map_err(|_| too_large())?;
            whole.checked_add(part).ok_or_else(too_large)
        }
        read => read,
    }
}

/// Reads a size in sectors. A bare number counts sectors, as ccdconfig(8) does.
///
/// `128`, `64KiB`, `64k` and `128 sectors` are all 128.
///
/// # Errors
///
/// Where `text` is no size, or no whole number of sectors.
pub fn parse_sectors(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split(text, LIKE_SECTORS)?;
    let bytes_each = if unit.is_empty() { SECTOR_BYTES } else { bytes_per(unit)? };
    let bytes = scale(text, number, bytes_each, "bytes")?;
    if !bytes.is_multiple_of(SECTOR_BYTES) {
        return Err(UnitError::NotWhole { text: text.into(), of: "512-byte sectors" });
    }
    Ok(bytes / SECTOR_BYTES)
}

/// Splits a size from its weight among others, `4KiB/60` into 8 sectors and 60; nothing where there is no weight above 0.
pub fn parse_weighted(part: &str) -> Option<(Result<u64, UnitError>, u32)> {
    let (size, weight) = part.split_once('/')?;
    let weight = weight.trim().parse().ok().filter(|weight| *weight > 0)?;
    Some((parse_sectors(size), weight))
}

/// Reads a time in nanoseconds. It must name its unit.
///
/// # Errors
///
/// Where `text` is no time.
pub fn parse_nanos(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split(text, LIKE_A_TIME)?;
    let nanos_each = match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(UnitError::NoSuchUnit { unit: unit.into(), units: TIMES }),
    };
    scale(text, number, nanos_each, "nanoseconds")
}

/// Reads a rate in bytes a second, such as `2MB/s` or `800KiB/s`. It must name its unit.
///
/// # Errors
///
/// Where `text` is no rate.
pub fn parse_bytes_per_s(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split(text, LIKE_A_RATE)?;
    let no_unit = || UnitError::NoSuchUnit { unit: unit.into(), units: RATES };
    let bytes = unit.strip_suffix("/s").map(str::trim).filter(|size| !size.is_empty());
    scale(
        text,
        number,
        bytes_per(bytes.ok_or_else(no_unit)?).map_err(|_| no_unit())?,
        "bytes a second",
    )
}

/// Writes a size the way `parse_bytes` reads it, exactly: 65,536 is `64KiB`, 1,000 is `1000B`.
pub fn format_bytes(bytes: u64) -> String {
    for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes != 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{bytes}B")
}

/// Writes a number of bytes as those who sell drives do, to a tenth: `18 TB`, `1.9 TB`, `480 GB`.
pub fn format_decimal(bytes: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let larger = units.into_iter().find(|(scale, _)| bytes as f64 >= *scale);
    let (scale, unit) = larger.unwrap_or((1.0, "B"));
    format!("{} {unit}", (bytes as f64 / scale * 10.0).round() / 10.0)
}

/// Writes a number of sectors with the size that they are, for whoever wrote either: `128 sectors (64KiB)`. A size that
/// no short number has exactly is rounded: `35156656128 sectors (18.0 TB)`.
pub fn format_sectors(sectors: u64) -> String {
    const DIGITS_MAX: usize = 4;
    let bytes = sectors.saturating_mul(SECTOR_BYTES);
    let exact = format_bytes(bytes);
    let digits = exact.chars().filter(char::is_ascii_digit).count();
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let rounded = units.iter().find(|(unit, _)| bytes as f64 >= *unit);
    let size = match rounded.filter(|_| digits > DIGITS_MAX) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit),
        None => exact,
    };
    let noun = if sectors == 1 { "sector" } else { "sectors" };
    format!("{sectors} {noun} ({size})")
}

/// Writes a time the way `parse_nanos` reads it, exactly: 20,000 is `20us`, 1,500,000 is `1.5ms`.
pub fn format_nanos(nanos: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    in_units(nanos, &units).unwrap_or_else(|| format!("{nanos}ns"))
}

/// Writes a rate the way `parse_bytes_per_s` reads it, exactly: 100,000,000 is `100MB/s`, 131,072,000 is `125MiB/s`.
pub fn format_bytes_per_s(bytes_per_s: u64) -> String {
    let decimal = [(1_000_000_000, "GB/s"), (1_000_000, "MB/s"), (1_000, "kB/s")];
    let binary = format!("{}/s", format_bytes(bytes_per_s));
    match in_units(bytes_per_s, &decimal) {
        Some(decimal) if decimal.len() <= binary.len() => decimal,
        _ => binary,
    }
}

/// A number in the largest of `units` of which it has whole tenths.
fn in_units(number: u64, units: &[(u64, &str)]) -> Option<String> {
    let is_whole = |each: u64| number >= each && number.is_multiple_of(each / 10);
    let (each, unit) = units.iter().find(|(each, _)| is_whole(*each))?;
    let (whole, tenths) = (number / each, number % each / (each / 10));
    Some(if tenths == 0 { format!("{whole}{unit}") } else { format!("{whole}.{tenths}{unit}") })
}

/// The number in front and the unit behind it.
fn split<'a>(text: &'a str, like: &'static str) -> Result<(&'a str, &'a str), UnitError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.is_empty() || number == "." || number.matches('.').count() > 1 {
        return Err(UnitError::NoNumber { text: text.into(), like });
    }
    Ok((number, unit.trim()))
}

fn bytes_per(unit: &str) -> Result<u64, UnitError> {
    Ok(match unit.to_ascii_lowercase().as_str() {
        "b" | "byte" | "bytes" => 1,
        "s" | "sector" | "sectors" => SECTOR_BYTES,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(UnitError::NoSuchUnit { unit: unit.into(), units: SIZES }),
    })
}

/// `number` times `each`, exactly: 1.5 × 1024 is 1536, and 0.3 × 1 is no whole number.
fn scale(text: &str, number: &str, each: u64, of: &'static str) -> Result<u64, UnitError> {
    let too_large = || UnitError::TooLarge(text.into());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let whole = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
    let whole = u64::checked_mul(whole, each).ok_or_else(too_large)?;
    if fraction.is_empty() {
        return Ok(whole);
    }
    let tenths = u32::try_from(fraction.len()).ok().and_then(|digits| 10_u64.checked_pow(digits));
    let numerator = fraction.parse::<u64>().ok().and_then(|n| n.checked_mul(each));
    let (Some(tenths), Some(numerator)) = (tenths, numerator) else { return Err(too_large()) };
    if !numerator.is_multiple_of(tenths) {
        return Err(UnitError::NotWhole { text: text.into(), of });
    }
    whole.checked_add(numerator / tenths).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("64KiB", 65_536),
            ("64k", 65_536),
            ("1m", 1 << 20),
            ("1 MiB", 1 << 20),
            ("64kB", 64_000),
            ("1.5k", 1536),
            ("2GB", 2_000_000_000),
            ("3s", 1536),
            (".5k", 512),
            ("2.0", 2),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for (text, sectors) in [("128", 128), ("64KiB", 128), ("1m", 2048), ("0.5k", 1)] {
            assert_eq!(parse_sectors(text), Ok(sectors), "{text}");
        }
        assert_eq!(parse_bytes_at_least("43.6TiB"), Ok(47_938_706_971_034));
        assert_eq!(parse_bytes_at_least("43.6T"), parse_bytes_at_least("43.6TiB"));
        assert_eq!(parse_bytes_at_least(".1k"), Ok(103));
        assert_eq!(parse_bytes_at_least("1.5TB"), Ok(1_500_000_000_000));
        assert!(parse_bytes("43.6TiB").is_err() && parse_bytes_at_least("43.6 rooms").is_err());
        assert_eq!(parse_nanos("2.5ms"), Ok(2_500_000));
        assert_eq!(parse_nanos("1 min"), Ok(60_000_000_000));
        assert_eq!(parse_bytes_per_s("2MB/s"), Ok(2_000_000));
        assert_eq!(parse_bytes_per_s("1.5 KiB/s"), Ok(1536));
    }

    #[test]
    fn what_is_more_likely_meant_is_said() {
        let size = parse_sectors("8KB").unwrap_err().to_string();
        assert!(size.ends_with("512-byte sectors; did you mean `8KiB`?"), "{size}");
        let time = parse_nanos("10m").unwrap_err().to_string();
        assert_eq!(time, "`m` is not a unit of times; write `min` for minutes");
        // Whoever wrote a time as advised for a size was told that its unit is missing.
        let said = |error: UnitError| error.to_string();
        let no_number = "`ten` does not start with a number; write it like ";
        assert_eq!(said(parse_nanos("ten").unwrap_err()), format!("{no_number}`10ms`"));
        assert_eq!(said(parse_bytes_per_s("ten").unwrap_err()), format!("{no_number}`2MB/s`"));
        let below = said(parse_sectors("-5").unwrap_err());
        assert_eq!(below, "`-5` is below 0; write it like `64KiB`, or `128` for sectors");
        assert_eq!(in_binary("1.5 mb").as_deref(), Some("1.5MiB"));
        assert_eq!([in_binary("64k"), in_binary("64KiB"), in_binary("64")], [None, None, None]);
    }

    #[test]
    fn sizes_are_written_as_they_are_sold() {
        let sizes = [18_000_207_937_536, 1_920_383_410_176, 480_103_981_056, 64 << 20, 512];
        let written = sizes.map(format_decimal);
        assert_eq!(written, ["18 TB", "1.9 TB", "480.1 GB", "67.1 MB", "512 B"]);
    }

    #[test]
    fn what_is_no_size_says_why() {
        assert!(matches!(parse_bytes(""), Err(UnitError::NoNumber { .. })));
        assert!(matches!(parse_bytes("KiB"), Err(UnitError::NoNumber { .. })));
        assert!(matches!(parse_bytes("-1"), Err(UnitError::NoNumber { .. })));
        assert!(matches!(parse_bytes("1.2.3k"), Err(UnitError::NoNumber { .. })));
        assert!(matches!(parse_bytes("64KB!"), Err(UnitError::NoSuchUnit { .. })));
        assert!(matches!(parse_bytes("99999999999999999999"), Err(UnitError::TooLarge(_))));
        assert!(matches!(parse_bytes("999999999999TiB"), Err(UnitError::TooLarge(_))));
        assert!(matches!(parse_bytes("0.3"), Err(UnitError::NotWhole { .. })));
        assert!(matches!(parse_sectors("1kB"), Err(UnitError::NotWhole { .. })));
        assert!(matches!(parse_nanos("5"), Err(UnitError::NoSuchUnit { .. })));
        assert!(matches!(parse_bytes_per_s("5MB"), Err(UnitError::NoSuchUnit { .. })));
        assert!(matches!(parse_bytes_per_s("5/s"), Err(UnitError::NoSuchUnit { .. })));
    }

    #[test]
    fn rates_and_times_are_written_as_people_do() {
        for text in ["125MiB/s", "1.5MB/s", "500kB/s", "20MB/s", "1.2GB/s", "64KiB/s", "100MB/s"] {
            assert_eq!(format_bytes_per_s(parse_bytes_per_s(text).unwrap()), text);
        }
        for text in ["1.5ms", "20us", "1ms", "10s", "250us", "300ns"] {
            assert_eq!(format_nanos(parse_nanos(text).unwrap()), text);
        }
    }

    #[test]
    fn sectors_are_said_with_their_size() {
        for (sectors, text) in [
            (128, "128 sectors (64KiB)"),
            (1, "1 sector (512B)"),
            (67_108_864, "67108864 sectors (32GiB)"),
            (35_156_656_128, "35156656128 sectors (18.0 TB)"),
            (u64::MAX, "18446744073709551615 sectors (18446744.1 TB)"),
        ] {
            assert_eq!(format_sectors(sectors), text);
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut sizes: Vec<u64> = (0..5000).collect();
        sizes.extend((0..64).flat_map(|shift| [1 << shift, 3_u64.wrapping_shl(shift)]));
        for bytes in sizes {
            assert_eq!(parse_bytes(&format_bytes(bytes)), Ok(bytes));
            assert_eq!(parse_bytes_per_s(&format_bytes_per_s(bytes)), Ok(bytes));
            assert_eq!(parse_nanos(&format_nanos(bytes)), Ok(bytes));
        }
    }

    #[test]
    fn a_size_has_its_weight_behind_it() {
        let read = |part| parse_weighted(part).map(|(sectors, weight)| (sectors.ok(), weight));
        assert_eq!(read("4KiB/60"), Some((Some(8), 60)));
        assert_eq!(read("16/ 3"), Some((Some(16), 3)), "a bare number is of sectors");
        assert_eq!(read("100B/1"), Some((None, 1)), "no whole sectors");
        assert_eq!(["4KiB", "4KiB/", "4KiB/0", "4KiB/x"].map(read), [None; 4]);
    }
}
