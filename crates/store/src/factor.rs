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
    "inode_ratio",
    "stride",
    "stripe_width",
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

/// What a factor is to whoever reads the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A layout or a tunable, which can be chosen. Only choices are ranked.
    Choice,
    /// What the work asks for: depth, size, rate. Choices are judged over it.
    Load,
    /// How things are: failed members, the machine. Choices are judged under it.
    Condition,
}

/// The role of the factor at this key path. What was imported under a name of its own may be chosen.
pub fn role(path: &str) -> Role {
    match path.split('.').collect::<Vec<_>>().as_slice() {
        ["workload", _, "host" | "volume" | "drive" | "fs", ..] => {
            role(path.splitn(3, '.').last().unwrap_or_default())
        }
        ["workload", ..] => Role::Load,
        ["host", "name"]
        | ["volume", "failed" | "rebuild"]
        | ["drive", "zero_latency" | "queue_discipline"] => Role::Condition,
        _ => Role::Choice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_chosen_is_a_choice() {
        assert_eq!(role("volume.interleave"), Role::Choice);
        assert_eq!(role("workload.read.volume.interleave"), Role::Choice);
        assert_eq!(role("workload.read.depth"), Role::Load);
        assert_eq!(role("workload.read.volume.failed"), Role::Condition);
        assert_eq!(role("machine"), Role::Choice);
    }
}
