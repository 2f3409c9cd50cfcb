//! What an experiment varies, and how its values are written.

/// The level of an experiment that names none.
pub const DEFAULT_LEVEL: &str = "stripe";
/// The interleave of an experiment that names none.
pub const DEFAULT_INTERLEAVE: &str = "64KiB";

/// The keys whose values count sectors, by their last part; an interleave counts them, too, but people write it so.
const SIZES: &[&str] = &[
    "max_transfer",
    "block",
    "frag",
    "cylinder",
    "size",
    "large",
    "pipe",
    "gap",
    "amount",
    "span",
    "offset",
    "job_step",
];

/// Whether the values at this key path are sizes in sectors, which people write in bytes.
pub fn is_size(path: &str) -> bool {
    let sections = ["host.", "volume.", "drive.", "fs.", "workload."];
    let name = path.rsplit('.').next().unwrap_or(path);
    sections.iter().any(|section| path.starts_with(section)) && SIZES.contains(&name)
}
