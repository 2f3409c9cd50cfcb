//! Sizes of requests as fio writes them, those of reads and those of writes.

use super::options::whole;
use super::shown;

/// Of reads and of writes.
pub(super) type Sides<T> = [T; 2];

/// Sizes with their shares.
pub(super) type Split = Vec<(u64, u32)>;

/// What is said of reads and of writes: `4k` of both, `4k,8k`, or `,8k` where reads have what they had. A third is that of
/// trims, which no job here has.
pub(super) fn sides<T: Clone>(
    value: &str,
    had: &mut Sides<T>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<(), String> {
    let mut parts = value.splitn(3, ',').map(str::trim);
    let (first, second) = (parts.next().unwrap_or_default(), parts.next());
    if let Some(trims) = parts.next().filter(|trims| !trims.is_empty()) {
        read(trims)?;
    }
    if !first.is_empty() || second.is_none() {
        had[0] = read(first)?;
    }
    match second {
        None => had[1] = had[0].clone(),
        Some("") => {}
        Some(second) => had[1] = read(second)?,
    }
    Ok(())
}

/// The size of each request, above zero.
pub(super) fn block(option: &str, value: &str) -> Result<u64, String> {
    match size(option, value)? {
        0 => Err(format!("`{option}={}` is 0; give a larger value", shown(value))),
        bytes => Ok(bytes),
    }
}

/// `4k-64k`: every multiple of the smallest up to the largest is as frequent.
pub(super) fn range(option: &str, value: &str) -> Result<Split, String> {
    const SIZES_MAX: u64 = 4096;
    let wrong = |why: &str| {
        format!("`{option}={}` is not a range of sizes, as in 4k-64k{why}", shown(value))
    };
    let (low, high) = value.split_once('-').ok_or_else(|| wrong(""))?;
    let (low, high) = (size(option, low.trim())?, size(option, high.trim())?);
    if low == 0 || high < low {
        return Err(wrong(""));
    }
    if high / low > SIZES_MAX {
        return Err(wrong(&format!("; it has more than {SIZES_MAX} multiples of the smallest")));
    }
    Ok((1..=high / low).map(|times| (times * low, 1)).collect())
}

/// `4k/60:64k/40`; percentages that are left out share what remains.
pub(super) fn split(value: &str) -> Result<Split, String> {
    let wrong = || {
        let shown = shown(value);
        format!("`bssplit={shown}` is not a list of sizes and percentages, as in `4k/60:64k/40`")
    };
    let mut parts: Vec<(u64, Option<u32>)> = Vec::new();
    for part in value.split(':') {
        let (bytes, percent) = part.split_once('/').unwrap_or((part, ""));
        let percent = match percent.trim() {
            "" => None,
            text => Some(whole(text).filter(|&percent| percent <= 100).ok_or_else(wrong)? as u32),
        };
        let bytes = size("bssplit", bytes.trim())?;
        if bytes == 0 || parts.len() == 64 {
            return Err(wrong());
        }
        parts.push((bytes, percent));
    }
    let said: u32 = parts.iter().filter_map(|part| part.1).sum();
    let open = parts.iter().filter(|part| part.1.is_none()).count() as u32;
    let left = 100_u32.checked_sub(said).ok_or_else(wrong)?;
    if left > 0 && open == 0 {
        return Err(format!("{}: they add up to {said} %, not 100", wrong()));
    }
    let shares =
        parts.into_iter().map(|(bytes, percent)| (bytes, percent.unwrap_or(left / open.max(1))));
    Ok(shares.filter(|&(_, percent)| percent > 0).collect())
}

/// A size above zero, the same for reads, writes and trims.
pub(super) fn one_size(option: &str, value: &str) -> Result<u64, String> {
    let mut sizes = value.split(',').map(str::trim).filter(|part| !part.is_empty());
    let first = size(option, sizes.next().unwrap_or(""))?;
    if sizes.any(|other| size(option, other) != Ok(first)) {
        return Err(format!(
            "`{option}={}`: reads and writes of one job have the same size here; give reads and writes a job each",
            shown(value)
        ));
    }
    if first == 0 {
        return Err(format!("`{option}={}` is 0; give a larger value", shown(value)));
    }
    Ok(first)
}

/// A size as fio writes it: `4k`, `1Mi`, `512`, `0x1000`; as fio 3.33 reads them, k, kb and ki are 1024 and
/// kib is 1000.
pub(super) fn size(option: &str, value: &str) -> Result<u64, String> {
    let wrong =
        |why: &str| format!("`{option}={}` is not a size, as in 64k or 1g{why}", shown(value));
    if value.ends_with('%') {
        return Err(wrong(
            "; only `size`, `io_size`, `offset` and `offset_increment` take a share: write bytes",
        ));
    }
    let hexadecimal = value.strip_prefix("0x").and_then(|text| u64::from_str_radix(text, 16).ok());
    if let Some(bytes) = hexadecimal {
        return limit(bytes).ok_or_else(|| wrong(""));
    }
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(end);
    let unit = unit.trim().to_ascii_lowercase();
    let shift = match unit.as_str() {
        "" | "b" => 0,
        "k" | "kb" | "ki" | "kib" => 10,
        "m" | "mb" | "mi" | "mib" => 20,
        "g" | "gb" | "gi" | "gib" => 30,
        "t" | "tb" | "ti" | "tib" => 40,
        "p" | "pb" | "pi" | "pib" => 50,
        _ => return Err(wrong("")),
    };
    let each = if unit.ends_with("ib") { 1000_u64.pow(shift / 10) } else { 1 << shift };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(each));
    bytes.and_then(limit).ok_or_else(|| wrong(""))
}

/// Sizes beyond this are no sizes; sums of a few cannot overflow.
fn limit(bytes: u64) -> Option<u64> {
    (bytes <= 1 << 60).then_some(bytes)
}
