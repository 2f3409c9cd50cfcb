//! What a service sells of a volume: which of its figures can be provisioned, and what to take instead of the others.

use super::CLASS;
use crate::catalogue::DRIVES;
use crate::catalogue::drive::classes;
use crate::catalogue::figure::Value;
use crate::catalogue::sheet::Sheet;
use block::SECTOR_BYTES;
use store::words::listed;

/// What people and providers call what is provisioned.
const ALSO: [(&str, &[&str]); 3] = [
    ("size", &["capacity", "gb", "gib", "size_gb", "size_gib", "disk_size_gb", "volume_size"]),
    ("iops", &["ios", "io", "ops", "provisioned_iops", "disk_iops_read_write"]),
    (
        "mb_per_s",
        &[
            "throughput",
            "bandwidth",
            "rate",
            "mbps",
            "mib_per_s",
            "mibps",
            "provisioned_throughput",
            "disk_mbps_read_write",
        ],
    ),
];

/// Whether the service sells other values of `key` than the file's. Where the file has a most of it, it does, unless it follows from
/// the size; and it sells other sizes where anything depends on the size or is sold.
fn is_sold(sheet: &Sheet, key: &str) -> bool {
    let has = |key: &str| sheet.figures.iter().any(|(figure, _)| figure.key == key);
    let is_rate_sold =
        |key: &str| has(key) && has(&format!("{key}_most")) && !has(&format!("{key}_per_gib"));
    let of_sizes = ["size_least", "size_most", "iops_per_gib", "mb_per_s_per_gib"];
    match key {
        "size" => {
            of_sizes.into_iter().any(has) || ["iops", "mb_per_s"].into_iter().any(is_rate_sold)
        }
        rate => is_rate_sold(rate),
    }
}

/// What can be provisioned, `first` first.
fn sold(sheet: &Sheet, first: &str) -> Vec<&'static str> {
    let keys = CLASS.provisioned.iter().map(|&(key, _)| key);
    let mut sold: Vec<&str> = keys.filter(|key| is_sold(sheet, key)).collect();
    sold.sort_by_key(|key| *key != first);
    sold
}

/// What to write instead of `key`, which no volume has: what can be provisioned, the nearest meaning first.
pub(in crate::catalogue) fn instead(sheet: &Sheet, key: &str) -> Option<String> {
    let (meant, _) = ALSO.iter().find(|(_, also)| also.contains(&key))?;
    let keys = sold(sheet, meant);
    if keys.is_empty() {
        return None;
    }
    let unit = if keys[0] == "mb_per_s" {
        " (`mb_per_s` counts 10⁶ bytes: 500 MiB/s are 524)"
    } else {
        ""
    };
    Some(format!("write {}{unit}", in_backticks(&keys, "or")))
}

/// Why the service does not sell `value` of `key`, and what to do; none where it may.
pub(in crate::catalogue) fn refusal(sheet: &Sheet, key: &str, value: &Value) -> Option<String> {
    let figure = CLASS.provisioned.iter().find(|(known, _)| *known == key)?.1;
    if is_sold(sheet, key) || number(sheet, figure) == amount(value) {
        return None;
    }
    if is_sold(sheet, "size") {
        let keys = in_backticks(&sold(sheet, key), "and");
        return Some(format!("`{key}` follows from {keys}; provision that instead"));
    }
    Some(match tier(sheet, figure, value) {
        Some(next) => format!("a tier has one size and its own limits; {next}"),
        None => "nothing of it can be provisioned; change the figure in a file of your own".into(),
    })
}

/// The smallest tier of the catalogue that has `value` of `figure`, or the largest. Tiers of one kind differ in the number at the end of
/// their names.
fn tier(sheet: &Sheet, figure: &str, value: &Value) -> Option<String> {
    let stem = |title: &str| title.trim_end_matches(|last: char| last.is_ascii_digit()).to_string();
    let kind = stem(&sheet.title);
    if kind == sheet.title {
        return None;
    }
    let files = DRIVES.all().filter(|(_, text)| text.contains(&kind));
    let sheets = files.filter_map(|(name, text)| {
        Some((name, Sheet::read(name, text, &classes()).ok()?))
            .filter(|(_, of)| stem(&of.title) == kind)
    });
    let mut tiers: Vec<(&str, Sheet)> = sheets.collect();
    tiers.sort_by_key(|(_, tier)| number(tier, "sectors").map(|sectors| sectors as u64));
    let has = |tier: &Sheet| number(tier, figure) >= amount(value);
    let found = tiers.iter().find(|(_, tier)| has(tier));
    let (name, tier) = found.or(tiers.last())?;
    let what = if found.is_some() { "take" } else { "the largest is" };
    let of = |figure| number(tier, figure).unwrap_or(0.0);
    let gib = of("sectors") * SECTOR_BYTES as f64 / super::limits::GIB;
    Some(format!("{what} `{name}`: {gib} GiB, {} I/Os and {} MB/s", of("iops"), of("mb_per_s")))
}

/// The figure of a file, as a number.
fn number(sheet: &Sheet, figure: &str) -> Option<f64> {
    let (_, cited) = sheet.figures.iter().find(|(known, _)| known.key == figure)?;
    amount(&cited.value)
}

fn amount(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Count(count) => Some(*count as f64),
        _ => None,
    }
}

/// Keys as they are written in a sentence.
fn in_backticks(keys: &[&str], word: &str) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    listed(&keys, ", ", word)
}
